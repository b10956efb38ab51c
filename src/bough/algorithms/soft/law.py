"""The law of soft contact: how forces of contacts, joint limits and dry friction answer to accelerations.

This is the convex model of MuJoCo (Todorov 2014). Accelerations minimise

    ½ (a - a₀)ᵀ M (a - a₀) + Σ s(x),    x = J a - a_ref,    a_ref = -B (J v) - K d(r) r,

where r is how far a condition is broken, and s a function of the rows of one condition that is zero where they pull
apart and quadratic, with stiffness D = 1/R, where they press. R = (1 - d)/d Â, with the impedance d(r) between 0 and 1
and a rough diagonal Â of J M⁻¹ Jᵀ that is taken once, in the configuration of reference.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bough.scalar import Scalar, absolute, both, either, maximum, minimum, negation, select, sqrt

__all__ = [
    "LEAST_FRICTION",
    "Answer",
    "FrictionLaw",
    "Softness",
    "TouchLaw",
    "impedance",
    "one_sided",
    "rate_and_spring",
    "rubbing",
    "within",
]

LEAST_IMPEDANCE, MOST_IMPEDANCE = 1e-4, 1.0 - 1e-4
LEAST = 1e-15
LEAST_FRICTION = 1e-5
SAFE_STEPS = 2.0
"""A time constant that is kept safe is at least so many time steps."""


@dataclass(frozen=True)
class Softness:
    """How a condition gives way, in the words of MuJoCo.

    Attributes
    ----------
    solref
        Time constant (s) and damping ratio of the motion back to where the condition holds; both negative: stiffness
        (1/s²) and damping (1/s) themselves.
    solimp
        Impedance at the surface, impedance `width` inside it, the width (m or rad), where between them the curve
        bends, and its power.
    safe
        Whether a time constant is at least two time steps, as in MuJoCo unless "refsafe" is disabled.
    friction_solref
        solref of the rows of friction of a contact, of which only the damping acts; zeros: that of the normal.
    """

    solref: tuple[float, float] = (0.02, 1.0)
    solimp: tuple[float, float, float, float, float] = (0.9, 0.95, 0.001, 0.5, 2.0)
    safe: bool = True
    friction_solref: tuple[float, float] = (0.0, 0.0)

    @property
    def of_friction(self) -> Softness | None:
        """That of the rows of friction, if it is another one."""
        return replace(self, solref=self.friction_solref) if any(self.friction_solref) else None


def impedance(s: Softness, r: Scalar) -> Scalar:
    """d(r): 0 gives way at once, 1 not at all. Up to the bend it is a power of r, from there on one of 1 - r."""
    low, high = (min(max(x, LEAST_IMPEDANCE), MOST_IMPEDANCE) for x in s.solimp[:2])
    width, power = max(s.solimp[2], 0.0), max(s.solimp[4], 1.0)
    bend = min(max(s.solimp[3], LEAST_IMPEDANCE), MOST_IMPEDANCE)
    if low == high or width <= LEAST:
        return 0.5 * (low + high)
    x = minimum(absolute(r) * (1.0 / width), 1.0)
    if power == 1:
        return low + x * (high - low)
    is_near = x <= bend
    part = _power(select(is_near, x * (1.0 / bend), (1.0 - x) * (1.0 / (1.0 - bend))), power)
    return low + select(is_near, bend * part, 1.0 - (1.0 - bend) * part) * (high - low)


def rate_and_spring(s: Softness, dt: Scalar) -> tuple[Scalar, Scalar]:
    """B (1/s) and K (1/s²) of the reference acceleration for time steps dt (s)."""
    high = min(max(s.solimp[1], LEAST_IMPEDANCE), MOST_IMPEDANCE)
    constant, ratio = s.solref
    if constant <= 0.0:
        return -ratio / high, -constant / (high * high)
    t = maximum(constant, SAFE_STEPS * dt) if s.safe else constant
    return 2.0 / (high * t), 1.0 / (t * t * (high * high * ratio * ratio))


def _power(x: Scalar, power: float) -> Scalar:
    """x, from 0 to 1, to a power of at least 1: squares for its whole part, and at most 52 roots for the rest."""
    whole, part = int(power), power - int(power)
    result: Scalar = 1.0
    square, root, share = x, x, 0.5
    while whole:
        if whole & 1:
            result = result * square
        whole >>= 1
        square = square * square if whole else square
    while part:
        root = sqrt(root)
        if part >= share:
            result, part = result * root, part - share
        share *= 0.5
    return result


@dataclass(frozen=True)
class Answer:
    """Forces of the rows of a condition, and the lower triangle of their stiffness, minus their derivative."""

    f: tuple[Scalar, ...]
    W: tuple[tuple[Scalar, ...], ...]


def one_sided(x: Scalar, D: Scalar) -> Answer:
    """A row that pushes and does not pull: a joint limit, a contact without friction."""
    stiff = select(x < 0.0, D, 0.0)
    return Answer((-(stiff * x),), ((stiff,),))


def rubbing(x: Scalar, D: Scalar, most: Scalar) -> Answer:
    """Dry friction along a coordinate: a force of at most this size against the motion."""
    f = -(D * x)
    sticks = both(f < most, f > -most)
    return Answer((minimum(maximum(f, -most), most),), ((select(sticks, D, 0.0),),))


@dataclass(frozen=True)
class FrictionLaw:
    """What friction is: the form of its cone, and how much stiffer it is than the normal."""

    cone: Literal["pyramidal", "elliptic"] = "pyramidal"
    impratio: float = 1.0


@dataclass(frozen=True)
class TouchLaw:
    """The law of a contact with so many rows: along the normal and two tangents, then turning about these three.

    1 row is no friction, 3 sliding, 4 torsion too, 6 rolling too.
    """

    rows: int
    friction: FrictionLaw

    def base(self, mu: Sequence[float], weight: float) -> float:
        """What (1 - d)/d is multiplied by for R of the first row: mu of the contact, inverse masses (1/kg) added up."""
        if self.rows > 1 and self.friction.cone == "pyramidal":
            weight *= (1.0 + mu[0] * mu[0]) * 2.0 * mu[0] * mu[0] / max(self.friction.impratio, LEAST)
        return max(weight, LEAST)

    def answer(self, x: Sequence[Scalar], D: Scalar, mu: Sequence[Scalar]) -> Answer:
        """Forces and stiffness of all rows; D is that of the first, mu are coefficients of the others."""
        if self.rows == 1:
            return one_sided(x[0], D)
        return self._pyramid(x, D, mu) if self.friction.cone == "pyramidal" else self._cone(x, D, mu)

    def _pyramid(self, x: Sequence[Scalar], D: Scalar, coefficients: Sequence[Scalar]) -> Answer:
        """Two edges for each direction of friction, x₀ ± μ xₖ, each of which pushes and does not pull."""
        n = self.rows
        f: list[Scalar] = [0.0] * n
        W: list[list[Scalar]] = [[0.0] * (k + 1) for k in range(n)]
        for k, mu in enumerate(coefficients, start=1):
            one, other = one_sided(x[0] + mu * x[k], D), one_sided(x[0] - mu * x[k], D)
            f[0] = f[0] + (one.f[0] + other.f[0])
            f[k] = mu * (one.f[0] - other.f[0])
            both_edges, between = one.W[0][0] + other.W[0][0], one.W[0][0] - other.W[0][0]
            W[0][0] = W[0][0] + both_edges
            W[k][0] = mu * between
            W[k][k] = (mu * mu) * both_edges
        return Answer(tuple(f), tuple(map(tuple, W)))

    def _cone(self, x: Sequence[Scalar], D: Scalar, coefficients: Sequence[Scalar]) -> Answer:
        """An elliptic cone: rows pull apart at its top, press all at its bottom, and slide between."""
        n, ratio = self.rows, max(self.friction.impratio, LEAST)
        mu = coefficients[0] * (1.0 / ratio**0.5)
        scale = (mu, *coefficients)
        first = D * ratio / (coefficients[0] * coefficients[0])
        stiff = [D, *(first * c * c for c in coefficients)]
        u = [c * value for c, value in zip(scale, x, strict=True)]
        squares: Scalar = 0.0
        for value in u[1:]:
            squares = squares + value * value
        moves = squares > LEAST * LEAST
        T = sqrt(select(moves, squares, 1.0))
        T = select(moves, T, 0.0)
        per_T = select(moves, 1.0 / select(moves, T, 1.0), 0.0)
        apart = either(both(moves, u[0] >= mu * T), both(negation(moves), u[0] >= 0.0))
        presses = either(both(moves, mu * u[0] + T <= 0.0), both(negation(moves), u[0] < 0.0))
        D_m = D / (mu * mu * (1.0 + mu * mu))
        depth = u[0] - mu * T
        t = [value * per_T for value in u[1:]]  # the direction of sliding
        push = D_m * depth

        def choose(pressed: Scalar, slid: Scalar) -> Scalar:
            return select(apart, 0.0, select(presses, pressed, slid))

        f = [choose(-(stiff[0] * x[0]), -(push * mu))]
        f += [choose(-(stiff[k] * x[k]), push * mu * t[k - 1] * scale[k]) for k in range(1, n)]
        bending = push * mu * per_T
        W: list[list[Scalar]] = [[choose(stiff[0], D_m * (mu * mu))]]
        for j in range(1, n):
            row = [choose(0.0, -(D_m * (mu * mu * scale[j])) * t[j - 1])]
            for k in range(1, j + 1):
                value = (D_m * (mu * mu) + bending) * (t[j - 1] * t[k - 1])
                if j == k:
                    value = value - bending
                row.append(choose(stiff[j] if j == k else 0.0, value * (scale[j] * scale[k])))
            W.append(row)
        return Answer(tuple(f), tuple(map(tuple, W)))


def within(x: Scalar, bounds: tuple[float, float]) -> Scalar:
    """The nearest number between bounds; what is not a number stays so, and is found out."""
    low, high = bounds
    if low > -math.inf:
        x = select(x < low, low, x)
    return select(x > high, high, x) if high < math.inf else x
