"""Joints as constraints between two rigid bodies in space, as those that close loops (`algorithms/loops.py`).

Also laws between the coordinates of such joints (gears, belts, fingers), and constraints on them and on frames.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from operator import attrgetter
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from bough.errors import ModelError
from bough.lagrange.attributes import ORIGIN, ReadFields, a_number, read_by
from bough.model import Joint, Mimic, Placement
from bough.model.arguments import FINITE, read_placement, require_joint, spread
from bough.model.joints.closing import Closure, least_squares
from bough.model.joints.reading import read_floats
from bough.model.ties.body import WORLD, Body, Scalars, World
from bough.model.ties.constraint import Constraint, Side, Sides, polynomial_at
from bough.model.ties.sides import FRAME, JointOfModel, RigidKind, numbers_of
from bough.scalar import Scalar, atan2, cos, sin
from bough.spatial import REST, STAY, Motion, Transform

__all__ = ["Coupled", "Framed", "Jointed"]


@dataclass(frozen=True, init=False)
class Jointed(Constraint):
    """The second body moves relative to the first as a joint allows; both are rigid bodies in space, or the world.

    Rows are along the axes of the joint's moving side: translations (m), then rotations (rad), less those it allows.

    Parameters
    ----------
    joint
        Any joint of bough but `Mimic`, or one of your own; `bough.joints.Fixed()` is a weld.
    at, rotation
        Placement of the joint's fixed side in the first body: position (m) and (3, 3) rotation.
    to, to_rotation
        Placement of the joint's moving side in the second body.
    armature
        Inertia that moves with each coordinate of the joint (kg m² or kg), such as that of geared rotors: one number,
        or one for each. There is one more row for each then, the multiplier of which is the force that the armature
        takes, divided by the root of the armature.
    """

    joint: Joint
    at: Placement
    to: Placement
    armature: tuple[float, ...]

    def __init__(
        self,
        joint: Joint,
        at: ArrayLike | Placement = ORIGIN,
        rotation: ArrayLike | None = None,
        to: ArrayLike | Placement = ORIGIN,
        to_rotation: ArrayLike | None = None,
        armature: ArrayLike = 0.0,
    ) -> None:
        require_joint(joint, "a joint between bodies")
        if isinstance(joint, Mimic):
            raise ModelError(f"the joint between bodies is {joint!r}, expected one with a motion of its own")
        object.__setattr__(self, "joint", joint)
        object.__setattr__(self, "at", read_placement(at, None, rotation, "the joint's fixed side"))
        object.__setattr__(self, "to", read_placement(to, None, to_rotation, "the joint's moving side"))
        rotors = spread(armature, joint.nv, "the armature of a joint between bodies", FINITE)
        object.__setattr__(self, "armature", rotors if any(rotors) else ())

    fewest = 2

    @property
    def rows(self) -> int:
        return 6 - self.joint.nv + self.inertial

    @property
    def inertial(self) -> int:  # type: ignore[override]
        return len(self.armature)

    @property
    def canonical(self) -> Jointed:
        return _canonical(self.joint.canonical, bool(self.armature))

    @property
    def parameters(self) -> tuple[float, ...]:
        numbers = [k for end in (self.at, self.to) for k in _numbers_of(end.then(_turn(self.joint)))]
        return (*self.joint.parameters, *numbers, *(math.sqrt(rotor) for rotor in self.armature))

    def accepts(self, bodies: Sequence[Body]) -> str | None:
        unfit = [body for body in bodies if not isinstance(body, RigidKind | World)]
        return f"a joint on {unfit[0]!r}, expected rigid bodies in space, or the world" if unfit else None

    def errors(self, parameters: Scalars, sides: Sides) -> Scalars:
        seen = self.closure(parameters, sides)
        return [seen.error.dot(force) for force in seen.reactions]

    def rates(self, parameters: Scalars, sides: Sides) -> Scalars:
        seen = self.closure(parameters, sides)
        return self._rows(parameters, seen, seen.V)

    def bias(self, parameters: Scalars, sides: Sides) -> Scalars:
        seen = self.closure(parameters, sides)
        return self._rows(parameters, seen, seen.turning)

    def _rows(self, parameters: Scalars, seen: Closure, motion: Motion) -> Scalars:
        """What of a motion the joint resists, then what its coordinates say of it, times the roots of the armature."""
        roots = parameters[len(parameters) - self.inertial :]
        along = least_squares(seen.subspace, motion) if self.armature else []
        return [motion.dot(force) for force in seen.reactions] + [a * b for a, b in zip(roots, along, strict=True)]

    def coordinates(self, parameters: Scalars, sides: Sides) -> Scalars:
        """The coordinates of the joint."""
        return self.closure(parameters, sides).x

    def closure(self, parameters: Scalars, sides: Sides) -> Closure:
        """The joint where the two bodies are."""
        count = len(parameters) - 24 - self.inertial
        first, second = (FRAME.placement(parameters[k : k + 12]) for k in (count, count + 12))
        (one, v), (two, w) = map(_seen, sides[:2])
        X = one.then(first).inverse.then(two.then(second))
        carried = X.to_child(first.to_child(v))
        return Closure.of(self.joint.canonical, parameters[:count], X, carried, second.to_child(w))


@lru_cache(maxsize=256)
def _canonical(joint: Joint, geared: bool) -> Jointed:
    return Jointed(joint, armature=1.0 if geared else 0.0)


@lru_cache(maxsize=256)
def _turn(joint: Joint) -> Placement:
    """Where the axes of a canonical joint are in those of a joint."""
    return Placement.of(joint.alignment, ORIGIN, "the axes of a joint")


def _numbers_of(place: Placement) -> list[float]:
    """The x of a frame at a placement."""
    return [*place.matrix.T.ravel().tolist(), *place.origin]


def _seen(side: Side) -> tuple[Transform, Motion]:
    """Where a rigid body, or the world, is in the world, and its velocity in its own frame."""
    rigid = side.body
    return (rigid.placement(side.x), rigid.twist(side.v)) if isinstance(rigid, RigidKind) else (STAY, REST)


def _read_turning(joint: object, what: str) -> Jointed:
    if not isinstance(joint, Jointed) or (joint.joint.nq, joint.joint.nv) != (1, 1):
        raise ModelError(f"{what} is {joint!r}, expected a Jointed with one degree of freedom")
    return joint


def _read_law(polynomial: ArrayLike, what: str) -> tuple[float, ...]:
    c = np.atleast_1d(read_floats(polynomial, what, "finite numbers"))
    if c.ndim != 1 or not c.size or not np.isfinite(c).all():
        raise ModelError(f"{what} is {polynomial!r}, expected finite numbers c₀, c₁, …")
    return tuple(c.tolist())


def _read_pair(pair: Any, what: str) -> Pair:
    try:
        first, second = map(int, () if isinstance(pair, str) else pair)
    except (TypeError, ValueError, OverflowError):
        first = second = -1
    if min(first, second) < 0 or first == second:
        raise ModelError(f"{what} is on bodies {pair!r}, expected two different numbers from 0 on")
    return first, second


Pair = tuple[int, int]
COUPLED = "a joint that is coupled"


@dataclass(frozen=True)
class Coupled(ReadFields, Constraint):
    """A joint follows another one: q - zero = c₀ + c₁ x + c₂ x² + …, where x = q(other) - other_zero.

    It holds coordinates only: the joints themselves are constraints of their own. An angle of a joint that turns round
    and round is between -π and π; q may be off by whole turns, x may not, unless the law allows for it.

    Parameters
    ----------
    joint
        The joint that is held, with one degree of freedom.
    other
        The joint it follows, with one degree of freedom too; None if it is held where it is, at zero + c₀.
    polynomial
        c₀, c₁, …
    zero, other_zero
        The coordinates (rad or m) from which the two are measured.
    on, other_on
        Which of the bodies of this constraint, counted from 0, are the first and the second one of each joint:
        ``other_on=(1, 2)`` if the first body of the other joint is the second one of this.
    """

    joint: Jointed = field(metadata=read_by(_read_turning, COUPLED))
    other: Jointed | None = field(default=None, metadata=read_by(_read_turning, COUPLED))
    polynomial: ArrayLike = field(default=(0.0, 1.0), metadata=read_by(_read_law, "the polynomial of a coupling"))
    zero: float = field(default=0.0, metadata=a_number("the zero of a coupling"))
    other_zero: float = field(default=0.0, metadata=a_number("the other zero of a coupling"))
    on: Pair = field(default=(0, 1), metadata=read_by(_read_pair, "a coupled joint"))
    other_on: Pair = field(default=(2, 3), metadata=read_by(_read_pair, "a coupled joint"))

    numbers = ("zero", "other_zero", "polynomial")
    fewest = 2
    most = 4
    rows = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.other is None:
            object.__setattr__(self, "polynomial", cast(Any, self.polynomial)[:1])
            object.__setattr__(self, "other_on", self.on)

    @property
    def canonical(self) -> Constraint:
        other = None if self.other is None else self.other.canonical
        same: Constraint = replace(super().canonical, joint=self.joint.canonical, other=other)
        return same

    @property
    def parameters(self) -> tuple[float, ...]:
        others = () if self.other is None else self.other.parameters
        return (*super().parameters, *self.joint.parameters, *others)

    def accepts(self, bodies: Sequence[Body]) -> str | None:
        named, wanted = len(bodies) - 1, 1 + max(*self.on, *self.other_on)
        if named != wanted:
            return f"a coupling of joints on bodies {self.on} and {self.other_on} given {named}, expected {wanted}"
        return self.joint.accepts(bodies)

    def errors(self, parameters: Scalars, sides: Sides) -> Scalars:
        start = 2 + np.size(self.polynomial)
        end = start + len(self.joint.parameters)
        law: Scalar = parameters[2]
        if self.other is not None:
            x = self.other.coordinates(parameters[end:], tuple(sides[k] for k in self.other_on))[0]
            law = polynomial_at(parameters[2:start], x - parameters[1])
        held = self.joint.coordinates(parameters[start:end], tuple(sides[k] for k in self.on))[0]
        error = held - parameters[0] - law
        return [atan2(sin(error), cos(error)) if _comes_round(self.joint.joint) else error]


@lru_cache(maxsize=256)
def _comes_round(joint: Joint) -> bool:
    """Whether a whole turn brings a joint back to where it was."""
    own, one = joint.parameters, joint.canonical
    return abs(float(one.nearest(own, one.transform(own, (2.0 * math.pi,)))[0])) < 1.0


@dataclass(frozen=True)
class Framed(Constraint):
    """A constraint on frames that are placed on bodies, and on joints between bodies, counted from 0."""

    constraint: Constraint
    frames: tuple[tuple[int, Placement], ...]
    joints: tuple[tuple[Jointed, Pair], ...]
    most: int

    fewest = property(attrgetter("most"))
    rows = property(attrgetter("constraint.rows"))

    def errors(self, parameters: Scalars, sides: Sides) -> Scalars:
        return self.constraint.errors(self.constraint.parameters, self._held(sides))

    def rates(self, parameters: Scalars, sides: Sides) -> Scalars:
        return self.constraint.rates(self.constraint.parameters, self._held(sides))

    def _held(self, sides: Sides) -> Sides:
        """The sides that the constraint looks at, the world last."""
        found = []
        for k, place in self.frames:
            at, (X, twist) = FRAME.placement(_numbers_of(place)), _seen(sides[k])
            u = at.to_child(twist)
            x, v = numbers_of(X.then(at)), (*u.linear.parts, *u.angular.parts)
            still = sides[k].body is WORLD and place == Placement()
            found.append(sides[-1] if still else Side(FRAME, (), tuple(x), v))
        for joint, (a, b) in self.joints:
            seen = joint.closure(joint.parameters, (sides[a], sides[b]))
            speeds = tuple(least_squares(seen.subspace, seen.V))
            found.append(Side(JointOfModel(seen.joint), joint.joint.parameters, tuple(seen.x), speeds))
        return (*found, sides[-1])
