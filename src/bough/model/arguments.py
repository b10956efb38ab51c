"""What users give to the builder: names, joints, placements, limits; read, or refused by name."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bough.errors import ModelError, UnknownNameError
from bough.model.constraints import Attachment, Loop
from bough.model.coupling import own_joint
from bough.model.inertia import Inertia, require_inertia
from bough.model.joints import Fixed, Joint, Mimic
from bough.model.joints.contract import check_contract, check_rate, is_from_outside
from bough.model.joints.elastic import Elastic, Station
from bough.model.joints.reading import read_floats
from bough.model.parts import Body, JointEntry
from bough.model.placement import Placement, require_placement, rotation_from_rpy
from bough.model.stations import require_rigid
from bough.model.surface import SOFT, Softness, require_softness

__all__ = [
    "FINITE", "LIMITS", "SOFTNESSES", "read_inertia", "read_limits", "read_loop", "read_placement", "require_joint",
    "require_name", "rotation_from_rpy", "spread",
]  # fmt: skip

LIMITS = ("lower", "upper", "velocity", "effort", "damping", "friction", "stiffness", "rest")
"""What joints of trees and of loops may have."""

SOFTNESSES = ("limit_softness", "friction_softness")
"""How softly limits and dry friction of such joints hold."""

NOT_NEGATIVE = "numbers that are not negative"
FINITE = "finite numbers that are not negative"
_EXPECTED = {
    "lower": ("nq", "no NaN"),
    "upper": ("nq", "no NaN"),
    "velocity": ("nv", NOT_NEGATIVE),
    "effort": ("nv", NOT_NEGATIVE),
    "damping": ("nv", FINITE),
    "friction": ("nv", FINITE),
    "stiffness": ("nv", FINITE),
    "rest": ("nq", "finite numbers"),
}


def require_name(name: object, what: str) -> None:
    """A name is a string that is not empty."""
    if not isinstance(name, str) or not name:
        raise ModelError(f"{what}: expected a name, a string that is not empty")


def read_limits(joint: Joint, what: str, **given: Any) -> dict[str, Any]:
    """The limits and losses of a joint, one number for each entry of q or v, by the names of `LIMITS`.

    Those of `SOFTNESSES` that are given come with them.
    """
    own = own_joint(joint)  # a mimic joint keeps the limits of its own motion
    read: dict[str, Any] = {x: require_softness(given[x], f"{what}: {x}") for x in SOFTNESSES if x in given}
    for name in LIMITS:
        if given[name] is None and name == "rest":
            read[name] = tuple(map(float, own.neutral()))
            continue
        size, expected = _EXPECTED[name]
        read[name] = spread(given[name], getattr(own, size), f"{what}: {name}", expected)
    for low, high in zip(read["lower"], read["upper"], strict=True):
        if low > high or low == math.inf or high == -math.inf:
            raise ModelError(f"{what}: the lower limit {low} is above the upper limit {high}")
    bounded = [k for k in range(own.nq) if math.isfinite(read["lower"][k]) or math.isfinite(read["upper"][k])]
    for k in own.quaternions:
        if any(k <= j < k + 4 for j in bounded):
            raise ModelError(
                f"{what}: lower is {read['lower']} and upper {read['upper']}, expected none (infinity) for entries "
                f"{k} to {k + 3} of its configuration: they are a quaternion, and no number of it bounds a rotation"
            )
        length = math.hypot(*read["rest"][k : k + 4])
        if abs(length - 1.0) > 1e-6:
            raise ModelError(f"{what}: rest has a quaternion of length {length:.9g}, expected 1")
    if bounded and is_from_outside(own):
        check_rate(own, what)
    return read


def require_joint(joint: object, what: str) -> None:
    """A joint moves, or is fixed; one from outside the package keeps the contract."""
    if not isinstance(joint, Joint):
        raise ModelError(f"{what}: the joint is {joint!r}, expected a joint such as bough.joints.Revolute('z')")
    own = own_joint(joint)
    if not isinstance(own, Fixed | Station) and min(own.nq, own.nv) < 1:
        raise ModelError(
            f"{what}: the joint is {joint!r} with nq = {own.nq} and nv = {own.nv}, expected at least one of each; "
            "what does not move is bough.joints.Fixed()"
        )
    if is_from_outside(own):
        check_contract(own, what)
    try:
        hash(joint)
    except TypeError:
        raise ModelError(f"{what}: the joint is {joint!r}, expected one that can be hashed") from None


def read_placement(
    at: ArrayLike | Placement, rpy: ArrayLike | None, rotation: ArrayLike | None, what: str
) -> Placement:
    """A placement, from a whole one or from its parts."""
    if isinstance(at, Placement):
        if rpy is not None or rotation is not None:
            raise ModelError(f"{what}: give a placement, or position and rotation, not both")
        require_placement(at, what)
        return at
    if rpy is not None and rotation is not None:
        raise ModelError(f"{what}: give rpy or rotation, not both")
    if rpy is not None:
        angles = read_floats(rpy, f"{what}: rpy", "three finite angles (rad)")
        if angles.shape != (3,) or not np.isfinite(angles).all():
            raise ModelError(f"{what}: rpy is {rpy!r}, expected three finite angles (rad)")
        rotation = rotation_from_rpy(*(float(a) for a in angles))
    return Placement.of(np.eye(3) if rotation is None else rotation, at, what)


def read_inertia(mass: float, com: ArrayLike, inertia: ArrayLike | Inertia, what: str) -> Inertia:
    """An inertia, from a whole one or from its parts."""
    if not isinstance(inertia, Inertia):
        return Inertia.of(mass, com, inertia, what)
    if mass != 0.0 or np.any(com):
        raise ModelError(f"{what}: give mass and com, or an Inertia, not both")
    require_inertia(inertia, what)
    return inertia


def spread(value: ArrayLike, size: int, what: str, expected: str) -> tuple[float, ...]:
    """A number for each entry, from one or from as many; `expected` says which are allowed, beyond not being NaN."""
    one: object = value
    if isinstance(one, float):  # most are left at their defaults
        unbounded = expected == "no NaN" and one == one
        if unbounded or 0.0 <= one < math.inf or (one == math.inf and expected == NOT_NEGATIVE):
            return (float(one),) * size
    values = read_floats(value, what, f"a number or {size} of them")
    if values.shape not in ((), (size,)):
        raise ModelError(f"{what} is {value!r}, expected a number or {size} of them")
    negative = (values < 0).any() and expected in (NOT_NEGATIVE, FINITE)
    infinite = np.isinf(values).any() and expected in (FINITE, "finite numbers")
    if np.isnan(values).any() or negative or infinite:
        raise ModelError(f"{what} is {value!r}, expected {expected}")
    return tuple(float(x) for x in np.broadcast_to(values, (size,)))


Side = tuple[object, ArrayLike | Placement, ArrayLike | None, ArrayLike | None]
"""Name of a body or frame, and where the side of a joint is placed in it: position, rpy, rotation."""


def read_loop(
    name: str,
    joint: Joint,
    sides: Sequence[Side],
    places: Mapping[str, tuple[int, Placement]],
    parts: tuple[Sequence[Body], Sequence[JointEntry]],
    softness: Softness = SOFT,
    **limits: Any,
) -> Loop:
    """A joint that closes a loop between two sides, given what bodies and frames there are and where, and joints."""
    what = f"constraint {name!r}"
    require_joint(joint, what)
    if isinstance(joint, Mimic | Elastic | Station):
        raise ModelError(f"{what}: the joint is {joint!r}, expected one with a motion of its own")
    ends = []
    for (side, origin, rpy, turn), which in zip(sides, ("predecessor", "successor"), strict=True):
        if not isinstance(side, str) or side not in places:
            raise UnknownNameError(f"body or frame that {what} could join", side, places)
        body, place = places[side]
        require_rigid(*parts, body, what)
        ends.append(Attachment(body, place.then(read_placement(origin, rpy, turn, f"{what}: {which}"))))
    if ends[0].body == ends[1].body:
        whole = next(title for title, (number, _) in places.items() if number == ends[0].body)
        raise ModelError(
            f"{what}: its sides {sides[0][0]!r} and {sides[1][0]!r} are both on body {whole!r}, which never moves "
            "relative to itself: expected two bodies"
        )
    soft = require_softness(softness, f"{what}: softness")
    return Loop(name, joint, ends[0], ends[1], softness=soft, **read_limits(joint, what, **limits))
