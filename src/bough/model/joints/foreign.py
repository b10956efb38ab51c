"""How other libraries lay out the coordinates of a joint, where they differ from ours.

For each library a table from joint type to a layout; a joint that is not in the table is laid out alike. All functions
work on arrays with leading batch axes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.errors import ModelError, UnknownNameError
from bough.model.joints.elastic import Elastic, Station
from bough.model.joints.free import Free
from bough.model.joints.joint import Joint
from bough.model.joints.planar import Planar
from bough.model.joints.reversed import Reversed
from bough.model.joints.revolute import Revolute
from bough.model.joints.spherical import Spherical

__all__ = ["Layout", "foreign_layout"]

Floats = NDArray[np.floating[Any]]


def _same(x: Floats) -> Floats:
    return x


def _same_v(q: Floats, v: Floats) -> Floats:
    return v


@dataclass(frozen=True)
class Layout:
    """Conversions of one joint: q to and from the other library, and v, for which q is given in our layout.

    `circles` says where pairs (cos, sin) begin in the other library's q.
    """

    nq: int
    to_q: Callable[[Floats], Floats] = _same
    from_q: Callable[[Floats], Floats] = _same
    to_v: Callable[[Floats, Floats], Floats] = _same_v
    from_v: Callable[[Floats, Floats], Floats] = _same_v
    circles: tuple[int, ...] = ()


def _turned(quaternion: Floats, x: Floats, back: bool) -> Floats:
    """Rotate vectors by unit quaternions (x y z w), or back."""
    u, w = quaternion[..., :3], quaternion[..., 3:]
    t = 2.0 * np.cross(-u if back else u, x)
    return np.asarray(x + w * t + np.cross(-u if back else u, t))


def _turned_in_plane(angle: Floats, x: Floats, back: bool) -> Floats:
    c, s = np.cos(angle), np.sin(angle) * (-1.0 if back else 1.0)
    return np.stack([c * x[..., 0] - s * x[..., 1], s * x[..., 0] + c * x[..., 1]], axis=-1)


def _join(*parts: Floats) -> Floats:
    return np.concatenate(parts, axis=-1)


def _w_first(q: Floats) -> Floats:
    return np.roll(q, 1, axis=-1)


def _w_last(q: Floats) -> Floats:
    return np.roll(q, -1, axis=-1)


def _angle(c: Floats, s: Floats) -> Floats:
    return np.asarray(np.arctan2(s, c))


_CONTINUOUS = Layout(
    2,
    to_q=lambda q: _join(np.cos(q), np.sin(q)),
    from_q=lambda q: _angle(q[..., :1], q[..., 1:]),
    circles=(0,),
)
_PLANAR_RATES = Layout(  # velocities are the rates of x, y and the angle
    3,
    to_v=lambda q, v: _join(_turned_in_plane(q[..., 2], v[..., :2], back=False), v[..., 2:]),
    from_v=lambda q, v: _join(_turned_in_plane(q[..., 2], v[..., :2], back=True), v[..., 2:]),
)

PINOCCHIO: dict[type[Joint], Layout] = {
    Planar: Layout(
        4,
        to_q=lambda q: _join(q[..., :2], np.cos(q[..., 2:]), np.sin(q[..., 2:])),
        from_q=lambda q: _join(q[..., :2], _angle(q[..., 2:3], q[..., 3:])),
        circles=(2,),
    ),
}

MUJOCO: dict[type[Joint], Layout] = {
    Free: Layout(
        7,
        to_q=lambda q: _join(q[..., :3], _w_first(q[..., 3:])),
        from_q=lambda q: _join(q[..., :3], _w_last(q[..., 3:])),
        to_v=lambda q, v: _join(_turned(q[..., 3:], v[..., :3], back=False), v[..., 3:]),
        from_v=lambda q, v: _join(_turned(q[..., 3:], v[..., :3], back=True), v[..., 3:]),
    ),
    Spherical: Layout(4, to_q=_w_first, from_q=_w_last),
    Planar: _PLANAR_RATES,  # two slides and a hinge
}

DRAKE: dict[type[Joint], Layout] = {
    Free: Layout(
        7,
        to_q=lambda q: _join(_w_first(q[..., 3:]), q[..., :3]),
        from_q=lambda q: _join(q[..., 4:], _w_last(q[..., :4])),
        to_v=lambda q, v: _join(*(_turned(q[..., 3:], part, back=False) for part in (v[..., 3:], v[..., :3]))),
        from_v=lambda q, v: _join(*(_turned(q[..., 3:], part, back=True) for part in (v[..., 3:], v[..., :3]))),
    ),
    Planar: _PLANAR_RATES,
}

LIBRARIES = {"pinocchio": PINOCCHIO, "mujoco": MUJOCO, "drake": DRAKE}


def foreign_layout(library: str, joint: Joint, name: str) -> Layout:
    """The layout of a joint in another library; `name` is that of the joint, for errors."""
    if library not in LIBRARIES:
        raise UnknownNameError("library", library, LIBRARIES)
    if isinstance(joint, Reversed):
        raise ModelError(f"joint {name!r} is {joint!r}: {library} has no joint that is turned round")
    if isinstance(joint, Elastic | Station):
        raise ModelError(f"joint {name!r} is {joint!r}: {library} has no flexible bodies by modes")
    if library == "pinocchio" and isinstance(joint, Revolute) and joint.continuous:
        return _CONTINUOUS
    if library == "drake" and isinstance(joint, Spherical):
        raise ModelError(f"joint {name!r}: Drake has no ball joint with a quaternion, so it cannot be converted")
    return LIBRARIES[library].get(type(joint), Layout(joint.nq))
