"""One step of time as the conditions that its unknowns satisfy, for derivatives by the implicit function theorem.

With what is given x (q, v, dt and all that acts) a step is

    z₀ = start(x),    0 = residual(x, zₖ, yₖ),    zₖ₊₁ = stage(x, zₖ, yₖ),    q′, v′, a′ = end(x, z_S),

where the unknowns y are the accelerations under soft contact and, for Euler's method with damping, those that damping
leaves of them, and a′ are those that the next step starts from. What they change by where x and z change is -
(∂residual/∂y)⁻¹ times the change of the residual. For accelerations that matrix is H = M + Jᵀ W J, which a Newton
step factorises: rows that press go on pressing, and Newton's method itself is not differentiated. Residuals are
written by inverse dynamics, so that no derivative of M is needed. A state that stops in the step stays what it was, and
counts as a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, TypeAlias

from bough.algorithms.soft.drives import Damping, add_drag, step_damping, with_damping
from bough.algorithms.soft.fixed_axes import along_body, along_fixed, chart_rate, moved
from bough.algorithms.soft.newton import SoftProblem
from bough.algorithms.soft.scene import SoftScene
from bough.algorithms.soft.states import soundness
from bough.algorithms.soft.step import REACH, WEIGHTS, inertial_forces, soft_problem
from bough.factor import ltdl, solve
from bough.model import Mechanism
from bough.scalar import Array, Bool, Index, Scalar, gather, indexable, minus, plus
from bough.scalar.lazy import cached_property

__all__ = ["EulerStep", "RungeKuttaStep", "Solver", "linearised", "shares"]

Scalars: TypeAlias = tuple[Scalar, ...]


@dataclass(frozen=True)
class Solver:
    """What solves (∂residual/∂y) x = b, and with the transposed matrix."""

    solution: Callable[[Sequence[Scalar]], Sequence[Scalar]]
    transposed: Callable[[Sequence[Scalar]], Sequence[Scalar]]


class _Step:
    """What both methods have in common: a mechanism, a scene, and what is given."""

    stages: ClassVar[int]
    implicit: ClassVar[bool]

    def __init__(self, m: Mechanism, scene: SoftScene, x: Mapping[str, Array], accelerations: bool) -> None:
        self.m, self.scene, self.x, self.dt, self.told = m, scene, x, x["dt"][0], accelerations
        self.nq, self.n = m.model.nq, m.model.nv
        self.q, self.v = [x["q"][k] for k in range(self.nq)], [x["v"][k] for k in range(self.n)]

    def problem(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> SoftProblem:
        """The problem that accelerations solve in a state."""
        here, rates = indexable(self.nq, q), indexable(self.n, v)
        return soft_problem(self.m, self.scene, self.x, here, rates, self.dt, self.implicit)

    def accelerations(self, problem: SoftProblem, warm: Sequence[Scalar]) -> Scalars:
        """The accelerations, by Newton's method."""
        scene = self.scene
        return problem.solve(warm, scene.scale, scene.tolerance, scene.iterations).a

    def inertial(self, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar]) -> list[Scalar]:
        """The joint forces for accelerations along fixed axes, with dt kd a where the damping of targets is in M."""
        here, rates = indexable(self.nq, q), indexable(self.n, v)
        return inertial_forces(self.m, self.scene, self.x, here, rates, a, self.dt if self.implicit else None)

    def lack(self, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar]) -> list[Scalar]:
        """M a + C - τ - Jᵀ f: zero at the accelerations of a state."""
        problem = self.problem(q, v)
        return minus(problem.lack(a), problem.pushed(a))

    def goes_on(self, after: Mapping[str, Sequence[Scalar]]) -> Bool:
        """Whether the state after the step is sound, so that it does not stop where it was."""
        return soundness((*after["v_after"], *after["q_after"]))[1]

    def stopped(self) -> dict[str, list[Scalar]]:
        """The outputs of a state that stops: what it was before."""
        before = {"q_after": list(self.q), "v_after": list(self.v)}
        return {**before, "a_after": [self.x["a"][k] for k in range(self.n)]} if self.told else before

    def arrived(self, q: list[Scalar], v: Sequence[Scalar], a: Sequence[Scalar]) -> dict[str, list[Scalar]]:
        """The state after the step, from velocities and accelerations along fixed axes."""
        state = {"q_after": q, "v_after": along_body(self.m, q, v)}
        return {**state, "a_after": along_body(self.m, q, a)} if self.told else state


class EulerStep(_Step):
    """Semi-implicit: y = (v̇ under contact, v̇ with damping as at the end of the step), z = what v is moved by.

    If accelerations are told, they are behind it in z.
    """

    stages, implicit = 1, True
    _solved: SoftProblem

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of z and of y."""
        return self.n * (2 if self.told else 1), self.n * (2 if self._damping else 1)

    @cached_property
    def _damping(self) -> Damping:
        """What M gets more: dt times what damps."""
        here, rates = indexable(self.nq, self.q), indexable(self.n, self.v)
        return step_damping(self.m, self.scene, self.x, here, rates, self.dt)

    def start(self) -> list[Scalar]:
        """Nothing: what is given tells all."""
        return [0.0] * self.sizes[0]

    def unknowns(self, z: Sequence[Scalar], warm: Sequence[Scalar]) -> tuple[list[Scalar], Scalars]:
        """The unknowns, and accelerations for others to start from."""
        problem = self._solved = self.problem(self.q, self.v)
        a = self.accelerations(problem, warm)
        return [*a, *(self._damped(problem)(problem.times_M(a)) if self._damping else ())], a

    def _damped(self, problem: SoftProblem) -> Callable[[Sequence[Scalar]], list[Scalar]]:
        """What solves (M + dt D) x = b."""
        tree = self.m.coupling.dof_tree
        factor = ltdl(tree, with_damping(tree, problem.M, self._damping))

        def solution(b: Sequence[Scalar]) -> list[Scalar]:
            found = solve(tree, factor, indexable(tree.n, b), unit=True)
            return [found[k] for k in range(tree.n)]

        return solution

    def residual(self, z: Sequence[Scalar], y: Sequence[Scalar]) -> list[Scalar]:
        """M a + C - τ - Jᵀ f, and M (b - a) + dt D b for what damping leaves."""
        a, b = y[: self.n], y[self.n :]
        first = self.lack(self.q, self.v, a)
        if not self._damping:
            return first
        second = minus(self.inertial(self.q, self.v, b), self.inertial(self.q, self.v, a))
        add_drag(second, self._damping, b)
        return [*first, *second]

    def solver(self, z: Sequence[Scalar], y: Sequence[Scalar]) -> Solver:
        """What solves with the matrix (H, 0; -M, M + dt D), once `unknowns` were found."""
        n, problem = self.n, self._solved
        problem.begin(y[:n])
        stiff = problem.stiff(tuple(y[:n]))
        if not self._damping:
            return Solver(stiff, stiff)
        damped = self._damped(problem)

        def solution(b: Sequence[Scalar]) -> list[Scalar]:
            first = stiff(b[:n])
            return [*first, *damped(plus(b[n:], problem.times_M(first)))]

        def transposed(b: Sequence[Scalar]) -> list[Scalar]:
            second = damped(b[n:])
            return [*stiff(plus(b[:n], problem.times_M(second))), *second]

        return Solver(solution, transposed)

    def stage(self, z: Sequence[Scalar], y: Sequence[Scalar], weight: Scalar, reach: Scalar) -> list[Scalar]:
        """What velocities are moved by, and accelerations under contact if they are told."""
        return [*y[-self.n :], *(y[: self.n] if self.told else ())]

    def end(self, z: Sequence[Scalar]) -> dict[str, list[Scalar]]:
        """The state after the step."""
        m, dt, n = self.m, self.dt, self.n
        v = along_fixed(m, self.q, [rate + a * dt for rate, a in zip(self.v, z[:n], strict=True)])
        return self.arrived(moved(m, self.q, v, dt), v, along_fixed(m, self.q, z[-n:]))


class RungeKuttaStep(_Step):
    """The classical method: y = accelerations of a stage, z = (q, the way to it, v, sums of the rates of q and v).

    If accelerations are told, those of the stage before are behind it in z.
    """

    stages, implicit = len(WEIGHTS.data), False

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of z and of y."""
        return self.nq + (5 if self.told else 4) * self.n, self.n

    def _parts(self, z: Sequence[Scalar]) -> list[Sequence[Scalar]]:
        cuts = [0, *(self.nq + k * self.n for k in range(6 if self.told else 5))]
        return [z[a:b] for a, b in pairwise(cuts)]

    def start(self) -> list[Scalar]:
        """The state that is given, with velocities along fixed axes."""
        none = [0.0] * self.n
        return [*self.q, *none, *along_fixed(self.m, self.q, self.v), *none, *none, *(none if self.told else ())]

    def unknowns(self, z: Sequence[Scalar], warm: Sequence[Scalar]) -> tuple[list[Scalar], Scalars]:
        """The accelerations, also for the next stage to start from."""
        q, _, v, *_ = self._parts(z)
        a = self.accelerations(self.problem(q, along_body(self.m, q, v)), warm)
        return list(a), a

    def residual(self, z: Sequence[Scalar], y: Sequence[Scalar]) -> list[Scalar]:
        """M a + C - τ - Jᵀ f."""
        q, _, v, *_ = self._parts(z)
        return self.lack(q, along_body(self.m, q, v), y)

    def solver(self, z: Sequence[Scalar], y: Sequence[Scalar]) -> Solver:
        """What solves with H."""
        q, _, v, *_ = self._parts(z)
        problem = self.problem(q, along_body(self.m, q, v))
        problem.begin(y)
        stiff = problem.stiff(tuple(y))
        return Solver(stiff, stiff)

    def stage(self, z: Sequence[Scalar], y: Sequence[Scalar], weight: Scalar, reach: Scalar) -> list[Scalar]:
        """The state in which the next stage finds accelerations, sums so far, and what is told."""
        m, ahead = self.m, reach * self.dt
        q, way, v, sum_q, sum_v, *_ = self._parts(z)
        a, rate = along_fixed(m, q, y), chart_rate(m, way, v)
        begin = along_fixed(m, self.q, self.v)
        return [
            *moved(m, self.q, rate, ahead),
            *(ahead * u for u in rate),
            *(u + ahead * w for u, w in zip(begin, a, strict=True)),
            *plus(sum_q, [weight * u for u in rate]),
            *plus(sum_v, [weight * u for u in a]),
            *(a if self.told else ()),
        ]

    def end(self, z: Sequence[Scalar]) -> dict[str, list[Scalar]]:
        """The state after the step."""
        m, dt = self.m, self.dt
        _, _, _, sum_q, sum_v, *last = self._parts(z)
        v = [u + dt * s for u, s in zip(along_fixed(m, self.q, self.v), sum_v, strict=True)]
        return self.arrived(moved(m, self.q, sum_q, dt), v, last[0] if last else ())


def linearised(
    m: Mechanism, scene: SoftScene, x: Mapping[str, Array], accelerations: bool = False
) -> EulerStep | RungeKuttaStep:
    """A step of the method of a scene, which may tell the accelerations that the next one starts from."""
    return (RungeKuttaStep if scene.integrator == "rk4" else EulerStep)(m, scene, x, accelerations)


def shares(k: Index) -> tuple[Scalar, Scalar]:
    """The share of a stage in the step, and how far ahead the next one lies."""
    return gather(WEIGHTS, k), gather(REACH, k)
