"""Constraints on frames and joints of a model, as constraints on its bodies in maximal coordinates."""

from __future__ import annotations

from dataclasses import dataclass

from bough.lagrange.constraints.joints import Jointed, placement_of, twist_of
from bough.model import Placement
from bough.model.joints.closing import least_squares
from bough.model.ties.body import WORLD, Scalars
from bough.model.ties.constraint import Constraint, Side, Sides
from bough.model.ties.sides import FRAME, JointOfModel, numbers_of
from bough.spatial import Matrix, Transform, Vector

__all__ = ["Framed"]


@dataclass(frozen=True)
class Framed(Constraint):
    """A constraint on frames that are placed on bodies, and on joints between bodies.

    Parameters
    ----------
    constraint
        What must vanish.
    frames
        For each frame which of the bodies it is on, counted from 0, and where.
    joints
        For each joint what it is, and which bodies it is between.
    most
        The number of bodies.
    """

    constraint: Constraint
    frames: tuple[tuple[int, Placement], ...]
    joints: tuple[tuple[Jointed, tuple[int, int]], ...]
    most: int

    @property
    def fewest(self) -> int:  # type: ignore[override]
        return self.most

    @property
    def rows(self) -> int:
        return self.constraint.rows

    def errors(self, parameters: Scalars, sides: Sides) -> Scalars:
        return self.constraint.errors(self.constraint.parameters, self._held(sides))

    def rates(self, parameters: Scalars, sides: Sides) -> Scalars:
        return self.constraint.rates(self.constraint.parameters, self._held(sides))

    def _held(self, sides: Sides) -> Sides:
        """The sides that the constraint looks at, the world last."""
        found = []
        for k, place in self.frames:
            at = Transform(Matrix.of_rows(place.matrix.tolist()), Vector(*place.origin))
            u = at.to_child(twist_of(sides[k]))
            x, v = numbers_of(placement_of(sides[k]).then(at)), (*u.linear.parts, *u.angular.parts)
            still = sides[k].body is WORLD and place == Placement()
            found.append(sides[-1] if still else Side(FRAME, (), tuple(x), v))
        for joint, (a, b) in self.joints:
            seen = joint.closure(joint.parameters, (sides[a], sides[b]))
            speeds = tuple(least_squares(seen.subspace, seen.V))
            found.append(Side(JointOfModel(seen.joint), joint.joint.parameters, tuple(seen.x), speeds))
        return (*found, sides[-1])
