"""Steps of time under soft contact: kinematics, contacts, accelerations and integration in one program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bough.algorithms.crba import crba
from bough.algorithms.passive import passive_forces
from bough.algorithms.rnea import ZEROS, rnea
from bough.algorithms.soft.fixed_axes import along_body, along_fixed, chart_rate, moved, turning
from bough.algorithms.soft.contacts import Contacts
from bough.algorithms.soft.law import impedance, rate_and_spring
from bough.algorithms.soft.newton import JointRow, SoftProblem, Solved
from bough.algorithms.soft.scene import SoftScene, layout_of
from bough.algorithms.soft.world import world_tree
from bough.factor import ltdl, mul_H, solve
from bough.model import Mechanism
from bough.scalar import Array, Bool, Index, Scalar, Table, array, both, either, gather, indexable, map_leaves, maximum, minimum, repeat, select

__all__ = ["accelerations", "run_steps"]

MOST_STEPS = 2**40
FASTEST = 1e10
"""Velocities (m/s, rad/s) beyond which a state has run away."""

RUNNING, NOT_FINITE, RAN_AWAY = 0.0, 1.0, 2.0

def accelerations(
    m: Mechanism, scene: SoftScene, q: Array, v: Array, tau: Sequence[Scalar], dt: Scalar, start: Sequence[Scalar]
) -> tuple[SoftProblem, Solved]:
    """Accelerations under joint forces, passive forces and soft contact, and the problem they solve.

    They, and those to start from, have ω × v added where joints move along axes that turn (`turning`): the law leaves
    out what the motion of contacts adds to accelerations without forces, and what that is depends on the coordinates.
    """
    n, tree = m.model.nv, m.coupling.dof_tree
    C, passive, M = rnea(m, q, v, ZEROS), passive_forces(m, q, v), crba(m, q)
    smooth = [tau[k] + passive[k] - C[k] for k in range(n)]
    more = indexable(n, turning(m, v))
    added = mul_H(tree, M, more)
    smooth = [smooth[k] + added[k] for k in range(n)]
    world = world_tree(m, q)
    contacts = Contacts(layout_of(scene), world, [v[k] for k in range(n)], dt)
    problem = SoftProblem(tree, M, smooth, world, contacts, _rows(scene, q, v, dt))
    return problem, problem.solve(start, scene.scale, scene.tolerance, scene.iterations)


def _rows(scene: SoftScene, q: Array, v: Array, dt: Scalar) -> list[JointRow]:
    rows = []
    for limit in scene.limits:
        B, K = rate_and_spring(limit.softness, dt)
        depth = (q[limit.q] - limit.bound) * limit.sign - limit.margin
        d = impedance(limit.softness, depth)
        D = select(depth < 0.0, d / ((1.0 - d) * limit.weight), 0.0)
        rows.append(JointRow(limit.v, limit.sign, D, -(B * (v[limit.v] * limit.sign)) - K * d * depth))
    for rub in scene.frictions:
        B, _ = rate_and_spring(rub.softness, dt)
        d = impedance(rub.softness, 0.0)
        rows.append(JointRow(rub.v, 1.0, d / ((1.0 - d) * rub.weight), -(B * v[rub.v]), rub.most))
    return rows


# ---- steps -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _State:
    """A state on its way: configuration, velocity, the last accelerations, steps done, and what became of it."""

    q: tuple[Scalar, ...]
    v: tuple[Scalar, ...]
    a: tuple[Scalar, ...]
    taken: Scalar
    status: Scalar


def run_steps(m: Mechanism, scene: SoftScene, x: Mapping[str, Array]) -> dict[str, Sequence[Scalar]]:
    """As many steps of time as `steps` says, or until something is not finite or has run away."""
    nq, n, none = m.model.nq, m.model.nv, 0.0  # type: int, int, Scalar
    dt, steps = x["dt"][0], x["steps"][0]

    def forward(q: Array, rate: Array, warm: Sequence[Scalar]) -> tuple[SoftProblem, Solved]:
        q = indexable(nq, q)
        v = indexable(n, along_body(m, q, rate))
        return accelerations(m, scene, q, v, _drives(m, x, q, v), dt, along_body(m, q, warm))

    def step(_: Index, state: _State) -> _State:
        if scene.integrator == "rk4":
            q, v, a = _runge_kutta(m, state, dt, forward)
        else:
            q, v, a = _euler(m, scene, state, dt, forward)
        total: Scalar = 0.0
        for value in (*v, *q):
            total = total + value * value
        sound, slow = total - total >= 0.0, total < FASTEST * FASTEST  # what is not finite compares as false
        keep = both(sound, slow)
        status = select(sound, select(slow, RUNNING, RAN_AWAY), NOT_FINITE)
        new = _State(tuple(q), tuple(v), tuple(a), state.taken + 1.0, status)
        kept = map_leaves(lambda one, other: select(keep, one, other), new, state)
        return replace(kept, status=status)

    def over(state: _State) -> Bool:
        return either(state.taken >= steps, state.status > 0.0)

    q = x["q"]
    start = _State(
        tuple(q[k] for k in range(nq)), tuple(along_fixed(m, q, x["v"])), tuple(along_fixed(m, q, x["warm"])), none, none
    )
    end = repeat(MOST_STEPS, step, start, until=over)
    v, a = (along_body(m, end.q, values) for values in (end.v, end.a))
    return {"q": end.q, "v": v, "a": a, "taken": [end.taken], "status": [end.status]}


def _drives(m: Mechanism, x: Mapping[str, Array], q: Array, v: Array) -> list[Scalar]:
    """Joint forces: those given, and those of springs and dampers to targets, within bounds."""
    n = m.model.nv
    return [x["tau"][k] for k in range(n)]


def _euler(m, scene, state, dt, forward):  # type: ignore[no-untyped-def]
    """Semi-implicit, and implicit in joint damping."""
    n = m.model.nv
    q, v = list(state.q), list(state.v)
    problem, solved = forward(q, v, state.a)
    push: Sequence[Scalar] = solved.a
    if scene.damped:
        tree, damping = m.coupling.dof_tree, _damping(m)
        H = array(tree.packed_size)
        for k in range(tree.packed_size):
            H[k] = problem.M[k]
        Ma = problem.times_M(solved.a)
        for k in range(n):
            place = int(tree.packed_starts[k]) + int(tree.depths[k]) - 1
            H[place] = H[place] + damping[k] * dt
        right = array(n)
        for k in range(n):
            right[k] = Ma[k]
        push = solve(tree, ltdl(tree, H), right, unit=True)
    push = along_fixed(m, q, push)
    new_v = [v[k] + push[k] * dt for k in range(n)]
    return moved(m, q, new_v, dt), new_v, along_fixed(m, q, solved.a)


def _damping(m: Mechanism) -> list[Scalar]:
    result: list[Scalar] = []
    for i in range(1, m.tree.n + 1):
        result += m.at(i).damping
    return result


WEIGHTS, REACH = (1 / 6, 1 / 3, 1 / 3, 1 / 6), (0.5, 0.5, 1.0, 0.0)


def _runge_kutta(m, state, dt, forward):  # type: ignore[no-untyped-def]
    """The classical method of fourth order, on the manifold of configurations: increments of q are velocities."""
    n, none = m.model.nv, 0.0  # type: int, Scalar
    weights, reach = Table("weights", _floats(WEIGHTS)), Table("reach", _floats(REACH))

    def stage(k, carry):  # type: ignore[no-untyped-def]
        q, way, v, warm, sum_v, sum_a = carry
        a = along_fixed(m, q, forward(q, v, warm)[1].a)
        w, c = gather(weights, k), gather(reach, k) * dt
        rate = chart_rate(m, way, v)
        sum_v = tuple(s + w * x for s, x in zip(sum_v, rate, strict=True))
        sum_a = tuple(s + w * x for s, x in zip(sum_a, a, strict=True))
        following = tuple(x + c * y for x, y in zip(state.v, a, strict=True))
        return tuple(moved(m, state.q, rate, c)), tuple(c * x for x in rate), following, tuple(a), sum_v, sum_a

    zeros = tuple(none + 0.0 for _ in range(n))
    begin = (state.q, zeros, state.v, state.a, zeros, zeros)
    *_, a, sum_v, sum_a = repeat(4, stage, begin)
    v = [x + dt * s for x, s in zip(state.v, sum_a, strict=True)]
    return moved(m, state.q, sum_v, dt), v, a


def _floats(values: Sequence[float]):  # type: ignore[no-untyped-def]
    import numpy as np

    return np.array(values)


assert maximum and minimum
