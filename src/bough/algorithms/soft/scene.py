"""What may act on a mechanism under the law of soft contact, as numbers: candidates, limits, dry friction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from bough.algorithms.narrow_phase import GROUNDS, Corners, Heights
from bough.algorithms.soft.law import FrictionLaw, Softness, within
from bough.scalar import Array, Scalar, dot
from bough.spatial import Quaternion

__all__ = [
    "IMPLICIT",
    "Candidate",
    "Drive",
    "EqualityRows",
    "FrictionRow",
    "LimitRow",
    "LoopJointRow",
    "Servo",
    "Side",
    "SoftScene",
    "StepIntegrator",
]

StepIntegrator: TypeAlias = Literal["euler", "implicitfast", "rk4", "variational"]
"""How a step of time is made."""

IMPLICIT = "euler", "implicitfast"
"""Those that are implicit in what damps: in joints and targets, and with "implicitfast" in actuators, too."""


@dataclass(frozen=True)
class Side:
    """One of two shapes that may touch: its kind and sizes, the body that carries it, and where in its inside frame.

    A placement is nine numbers of a rotation, row by row, and an origin (m). Instead of sizes hulls
    have corners, and height fields heights.
    """

    body: int
    kind: str
    size: tuple[float, ...]
    rotation: tuple[float, ...]
    origin: tuple[float, float, float]
    corners: Corners | None = None
    heights: Heights | None = None

    @property
    def radius(self) -> float:
        """Of a sphere about its origin that holds it (m)."""
        s = self.size
        if self.corners is not None:
            return self.corners.radius
        if self.kind == "box":
            return 0.5 * float(np.linalg.norm(s))
        if self.kind == "cylinder":
            return float(np.hypot(s[0], 0.5 * s[1]))
        if self.kind == "capsule":
            return s[0] + 0.5 * s[1]
        return float("inf") if self.kind in GROUNDS else max(s)


@dataclass(frozen=True)
class Candidate:
    """Two shapes that touch where their distance is less than `margin` (m), with so many rows.

    `friction` has five coefficients: along two tangents, and lengths (m) for torsion and rolling. `weight` is the sum
    of the inverse masses (1/kg) of the two bodies, `apart` the distance (m) of the two centres where masses are taken.
    """

    sides: tuple[Side, Side]
    rows: int
    friction: tuple[float, ...]
    softness: Softness
    margin: float
    weight: float
    apart: float = 0.0

    @property
    def between(self) -> bool:
        """Whether both bodies move."""
        return all(side.body for side in self.sides)


@dataclass(frozen=True)
class LimitRow:
    """A side of the limits of a coordinate: sign × (q - bound) must not be negative.

    `turned`: its rate is no velocity itself, but one along an axis that does not turn with the body.
    """

    q: int
    v: int
    sign: float
    bound: float
    margin: float
    softness: Softness
    weight: float
    turned: bool = False


@dataclass(frozen=True)
class FrictionRow:
    """Dry friction along a velocity, up to a force (N or N m): with a `body`, that of its joint, a parameter."""

    v: int
    most: float
    softness: Softness
    weight: float
    body: int = 0
    part: int = 0


@dataclass(frozen=True)
class EqualityRows:
    """The rows of a loop, of a law between coordinates or of a tie: how softly, and inverse masses along each.

    Errors are measured in units of which `scales` says how many make a metre or a radian: half angles in MuJoCo.
    """

    softness: Softness
    weights: tuple[float, ...]
    scales: tuple[float, ...]
    has_bias: bool


@dataclass(frozen=True)
class LoopJointRow:
    """Dry friction of a joint that closes a loop, up to a force (N or N m), or a side of its limits.

    `row` is its velocity among those of all such joints; of a limit, its row among those of `limit_rows`, and `limit`
    has the place of the coordinate among those of all such joints, the sign, the bound and the margin.
    """

    row: int
    softness: Softness
    weight: float
    most: float | None = None
    limit: tuple[int, float, float, float] | None = None


@dataclass(frozen=True)
class Drive:
    """An actuator: clamped control to force, gain × control + bias₀ + bias₁ x + bias₂ ẋ, clamped and geared.

    `gears` has the velocities it acts on and the gear of each, `coordinates` the coordinates whose sum, geared, is x.
    Of a ball it is that of the rotation vector, and `quaternion` is where its coordinates begin.
    """

    gears: tuple[tuple[int, float], ...]
    coordinates: tuple[tuple[int, float], ...]
    gain: float
    bias: tuple[float, float, float]
    control: tuple[float, float]
    range: tuple[float, float]
    quaternion: int | None = None

    def force(self, control: Scalar, q: Array, v: Array) -> Scalar:
        """The force before it is clamped and geared."""
        total = within(control, self.control) * self.gain + self.bias[0]
        for place, gear in self.coordinates if self.bias[1] else ():
            total = total + q[place] * (gear * self.bias[1])
        if self.quaternion is not None and self.bias[1]:
            turn = Quaternion.of([q[self.quaternion + k] for k in range(4)]).log.parts
            total = total + dot(turn, [gear * self.bias[1] for _, gear in self.gears])
        for place, gear in self.gears if self.bias[2] else ():
            total = total + v[place] * (gear * self.bias[2])
        return total


@dataclass(frozen=True)
class Servo:
    """A coordinate that can be drawn to a target, with a force of at most `effort`.

    `plain`: its rate is the velocity itself, not turned with the body.
    """

    q: int
    v: int
    effort: float
    plain: bool


@dataclass(frozen=True)
class SoftScene:
    """All that may act on a mechanism beside joint forces, and how accelerations are found."""

    candidates: tuple[Candidate, ...] = ()
    limits: tuple[LimitRow, ...] = ()
    frictions: tuple[FrictionRow, ...] = ()
    equalities: tuple[EqualityRows, ...] = ()
    loop_joints: tuple[LoopJointRow, ...] = ()
    drives: tuple[Drive, ...] = ()
    bounds: tuple[tuple[int, tuple[float, float]], ...] = ()
    """Velocities along which actuators together do no less and no more than this."""
    servos: tuple[Servo, ...] = ()
    friction: FrictionLaw = FrictionLaw()  # noqa: RUF009 (immutable)
    scale: float = 1.0
    tolerance: float = 1e-8
    iterations: int = 100
    integrator: StepIntegrator = "euler"
    damped: bool = False
    """Whether some joint has damping that steps are implicit in."""
