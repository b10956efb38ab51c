"""A step of time by a variational principle, for long motions without contact.

The action of a step is taken as dt L(q, u) in its middle, with a velocity u that is constant along the step:
q₁ = q₀ exp(dt u), and q is half way. What makes the sum over all steps stationary preserves the symplectic form and
every momentum that a symmetry has, and the energy stays near what it was for times that grow exponentially with 1/dt.

For coordinates in which velocities add up, this is the implicit midpoint rule. For rotations, y = dt ω/2, the momentum
p (along the axes of the body) is turned to the middle of the step, pushed there, and turned on:

    P₀ = exp(-y) p₀,    P₁ = P₀ + dt ∂L/∂q,    2 ∂L/∂ω = dexp(y) P₀ + dexp(-y) P₁,    p₁ = exp(-y) P₁

(Bou-Rabee & Marsden 2009, in the middle of the step). Linear velocities are those along axes that do not turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from bough.algorithms.crba import crba
from bough.algorithms.rnea import rnea
from bough.algorithms.soft.fixed_axes import along_body, along_fixed, each_turn, moved, turning
from bough.factor import ltdl, mul_H, solve
from bough.model import Mechanism
from bough.scalar import Array, Bool, Index, Scalar, derivative, dot, indexable, repeat
from bough.spatial import Quaternion, Vector
from bough.spatial.quaternion import left_jacobian

__all__ = ["Moved", "variational_step"]

ITERATIONS = 60
"""Turns until the velocity of a step is found, at most."""

CLOSE, CLOSE_ENOUGH = 1e-14, 1e-8
"""Part of a velocity by which a last turn may change it, where all is well, and where it is still a solution."""

Values: TypeAlias = Sequence[Scalar]


@dataclass(frozen=True)
class Moved:
    """The state after a step: q, v, mean accelerations along fixed axes, and whether the step was solved for."""

    q: list[Scalar]
    v: list[Scalar]
    a: list[Scalar]
    solved: Bool


def variational_step(
    m: Mechanism,
    q: Values,
    v: Values,
    start: Values,
    dt: Scalar,
    force: Callable[[Array, Array], Values],
    f_ext: Array | None,
) -> Moved:
    """A step dt (s) from q and v, the velocity sought from v + dt/2 `start` on, both along the axes of bodies.

    `force` gives joint forces in a configuration at a velocity; they act in the middle of the step.
    """
    u, guess, before = along_fixed(m, q, v), along_fixed(m, q, start), _momentum(m, q, along_fixed(m, q, v))
    half = 0.5 * dt

    def look(_: Index, carry: tuple[tuple[Scalar, ...], ...]) -> tuple[tuple[Scalar, ...], ...]:
        u = carry[0]
        mid, way = moved(m, q, u, half), [half * x for x in u]
        body = along_body(m, mid, u)
        here, rates = indexable(m.model.nq, mid), indexable(m.model.nv, body)
        P = _carried(m, way, before, -1.0)
        pushed = [p + dt * f for p, f in zip(P, _push(m, here, rates, u, force, f_ext), strict=True)]
        first, second = _spread(m, way, P, 1.0), _spread(m, way, pushed, -1.0)
        M = crba(m, here)
        mu = along_fixed(m, mid, _times(m, M, body))
        lacking = [0.5 * (a + b) - x for a, b, x in zip(first, second, mu, strict=True)]
        found = solve(_tree(m), ltdl(_tree(m), M), indexable(m.model.nv, along_body(m, mid, lacking)), unit=True)
        change = along_fixed(m, mid, [found[k] for k in range(m.model.nv)])
        return tuple(x + c for x, c in zip(u, change, strict=True)), tuple(pushed), tuple(change)

    def over(carry: tuple[tuple[Scalar, ...], ...]) -> Bool:
        return _is_small(carry, CLOSE)

    begin = tuple(x + half * a for x, a in zip(u, guess, strict=True))
    first = look(0, (begin, (), ()))
    end, pushed, change = repeat(ITERATIONS, look, first, until=over)
    after = moved(m, q, end, dt)
    p = along_body(m, after, _carried(m, [half * x for x in end], pushed, -1.0))
    here = indexable(m.model.nq, after)
    found = solve(_tree(m), ltdl(_tree(m), crba(m, here)), indexable(m.model.nv, p), unit=True)
    new = [found[k] for k in range(m.model.nv)]
    a = [(one - other) / dt for one, other in zip(along_fixed(m, after, new), u, strict=True)]
    return Moved(after, new, a, _is_small((end, pushed, change), CLOSE_ENOUGH))


def _is_small(carry: tuple[tuple[Scalar, ...], ...], part: float) -> Bool:
    """Whether the last change of a velocity is at most this part of it."""
    u, _, change = carry
    return dot(change, change) <= dot(u, u) * (part * part)


def _push(
    m: Mechanism, q: Array, v: Array, u: Values, force: Callable[[Array, Array], Values], f_ext: Array | None
) -> list[Scalar]:
    """∂L/∂q and the forces, along fixed axes: d/dt ∂L/∂u less what the equations of motion would have to add."""
    n, configuration = m.model.nv, [q[k] for k in range(m.model.nq)]
    zero: Scalar = 0.0
    mu, growth = derivative(lambda s: tuple(_momentum(m, moved(m, configuration, u, s), u)), zero, 1.0)
    gyroscopic = each_turn(m, u, mu, lambda w, p: w.cross(p), others=0.0)
    no_change = indexable(n, [-x for x in turning(m, v)])  # of velocities along fixed axes
    C, acting = rnea(m, q, v, no_change, f_ext), force(q, v)
    rest = along_fixed(m, q, [acting[k] - C[k] for k in range(n)])
    return [x + y + z for x, y, z in zip(growth, gyroscopic, rest, strict=True)]


def _momentum(m: Mechanism, q: Values, u: Values) -> list[Scalar]:
    """∂L/∂u, both along fixed axes."""
    return along_fixed(m, q, _times(m, crba(m, indexable(m.model.nq, q)), along_body(m, q, u)))


def _times(m: Mechanism, M: Array, v: Values) -> list[Scalar]:
    product = mul_H(_tree(m), M, indexable(m.model.nv, v))
    return [product[k] for k in range(m.model.nv)]


def _tree(m: Mechanism) -> Any:
    return m.coupling.dof_tree


def _carried(m: Mechanism, way: Values, p: Values, sign: float) -> list[Scalar]:
    """exp(± way) p of rotations."""

    def turn(y: Vector, x: Vector) -> Vector:
        R = Quaternion.exp(y).rotation
        return R.times(x) if sign > 0.0 else R.transposed_times(x)

    return each_turn(m, way, p, turn)


def _spread(m: Mechanism, way: Values, p: Values, sign: float) -> list[Scalar]:
    """dexp(± way) p of rotations."""
    return each_turn(m, way, p, lambda y, x: left_jacobian(y * sign, x))
