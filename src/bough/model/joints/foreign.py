"""How other libraries lay out the coordinates of a joint, where they differ from ours.

For each library a table from joint type to a layout; a joint that is not in the table is laid out alike. All functions
work on arrays with leading batch axes, of NumPy, PyTorch or JAX.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from bough.errors import ModelError, UnknownNameError
from bough.model.joints.elastic import Elastic, Station
from bough.model.joints.free import Free
from bough.model.joints.joint import Joint
from bough.model.joints.planar import Planar
from bough.model.joints.reversed import Reversed
from bough.model.joints.revolute import Revolute
from bough.model.joints.spherical import Spherical

__all__ = ["Layout", "foreign_layout"]

Array: TypeAlias = Any
"""An array of NumPy, PyTorch or JAX, and what computes with it: `numpy`, `torch` or `jax.numpy`."""


def _same(np: Any, x: Array) -> Array:
    return x


def _same_v(np: Any, q: Array, v: Array) -> Array:
    return v


@dataclass(frozen=True)
class Layout:
    """Conversions of one joint: q to and from the other library, and v, for which q is given in our layout.

    All take the library that computes with the arrays first. `circles` says where pairs (cos, sin) begin in the other
    library's q.
    """

    nq: int
    to_q: Callable[[Any, Array], Array] = _same
    from_q: Callable[[Any, Array], Array] = _same
    to_v: Callable[[Any, Array, Array], Array] = _same_v
    from_v: Callable[[Any, Array, Array], Array] = _same_v
    circles: tuple[int, ...] = ()


def _turned(np: Any, quaternion: Array, x: Array, back: bool) -> Array:
    """Rotate vectors by unit quaternions (x y z w), or back."""
    u, w = quaternion[..., :3], quaternion[..., 3:]
    u = -u if back else u
    t = 2.0 * _cross(np, u, x)
    return x + w * t + _cross(np, u, t)


def _cross(np: Any, a: Array, b: Array) -> Array:
    (ax, ay, az), (bx, by, bz) = ([v[..., k : k + 1] for k in range(3)] for v in (a, b))
    return _join(np, ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx)


def _turned_in_plane(np: Any, angle: Array, v: Array, back: bool) -> Array:
    """Turn the first two of three entries by an angle, or back."""
    c, s = np.cos(angle), np.sin(angle) * (-1.0 if back else 1.0)
    x, y = v[..., :1], v[..., 1:2]
    return _join(np, c * x - s * y, s * x + c * y, v[..., 2:])


def _join(np: Any, *parts: Array) -> Array:
    return np.concatenate(parts, -1)


def _w_first(np: Any, q: Array) -> Array:
    return _join(np, q[..., 3:], q[..., :3])


def _w_last(np: Any, q: Array) -> Array:
    return _join(np, q[..., 1:], q[..., :1])


_CONTINUOUS = Layout(
    2,
    to_q=lambda np, q: _join(np, np.cos(q), np.sin(q)),
    from_q=lambda np, q: np.arctan2(q[..., 1:], q[..., :1]),
    circles=(0,),
)
_PLANAR_RATES = Layout(  # velocities are the rates of x, y and the angle
    3,
    to_v=lambda np, q, v: _turned_in_plane(np, q[..., 2:], v, back=False),
    from_v=lambda np, q, v: _turned_in_plane(np, q[..., 2:], v, back=True),
)

PINOCCHIO: dict[type[Joint], Layout] = {
    Planar: Layout(
        4,
        to_q=lambda np, q: _join(np, q[..., :2], np.cos(q[..., 2:]), np.sin(q[..., 2:])),
        from_q=lambda np, q: _join(np, q[..., :2], np.arctan2(q[..., 3:], q[..., 2:3])),
        circles=(2,),
    ),
}

MUJOCO: dict[type[Joint], Layout] = {
    Free: Layout(
        7,
        to_q=lambda np, q: _join(np, q[..., :3], _w_first(np, q[..., 3:])),
        from_q=lambda np, q: _join(np, q[..., :3], _w_last(np, q[..., 3:])),
        to_v=lambda np, q, v: _join(np, _turned(np, q[..., 3:], v[..., :3], back=False), v[..., 3:]),
        from_v=lambda np, q, v: _join(np, _turned(np, q[..., 3:], v[..., :3], back=True), v[..., 3:]),
    ),
    Spherical: Layout(4, to_q=_w_first, from_q=_w_last),
    Planar: _PLANAR_RATES,  # two slides and a hinge
}

DRAKE: dict[type[Joint], Layout] = {
    Free: Layout(
        7,
        to_q=lambda np, q: _join(np, _w_first(np, q[..., 3:]), q[..., :3]),
        from_q=lambda np, q: _join(np, q[..., 4:], _w_last(np, q[..., :4])),
        to_v=lambda np, q, v: _join(np, *(_turned(np, q[..., 3:], x, back=False) for x in (v[..., 3:], v[..., :3]))),
        from_v=lambda np, q, v: _join(np, *(_turned(np, q[..., 3:], x, back=True) for x in (v[..., 3:], v[..., :3]))),
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
