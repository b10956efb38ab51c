"""Steps of time under soft contact: kinematics, contacts, accelerations and integration in one program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from bough.algorithms.crba import crba
from bough.algorithms.loops import constraint_terms
from bough.algorithms.passive import passive_forces
from bough.algorithms.rnea import rnea
from bough.algorithms.soft.contacts import Contacts
from bough.algorithms.soft.drives import (
    add_drag,
    damping_of_targets,
    joint_drives,
    step_damping,
    target_rows,
    with_damping,
)
from bough.algorithms.soft.fixed_axes import along_body, along_fixed, chart_rate, moved, turning
from bough.algorithms.soft.joint_rows import depth_of, joint_rows, stop_of
from bough.algorithms.soft.law import Softness, impedance, rate_and_spring
from bough.algorithms.soft.layout import layout_of
from bough.algorithms.soft.loop_joints import loop_joint_rows
from bough.algorithms.soft.newton import SoftProblem, Solved
from bough.algorithms.soft.rows import WideRow
from bough.algorithms.soft.scene import IMPLICIT, SoftScene
from bough.algorithms.soft.states import NOT_SOLVED, RUNNING, Scalars, State, run_states
from bough.algorithms.soft.stiffened import LONG_PATHS, PackedMatrix, articulated_bodies
from bough.algorithms.soft.variational import variational_step
from bough.algorithms.soft.world import world_tree
from bough.factor import ltdl, solve
from bough.model import Mechanism
from bough.scalar import (
    Array,
    Index,
    Scalar,
    Table,
    dot,
    gather,
    indexable,
    minimum,
    minus,
    plus,
    repeat,
    select,
    sqrt,
)

__all__ = [
    "REACH",
    "WEIGHTS",
    "driven",
    "inertial_forces",
    "measured",
    "run_steps",
    "soft_accelerations",
    "soft_problem",
]

Forward: TypeAlias = Callable[[Scalars, Scalars, Scalars], tuple[SoftProblem, Solved]]
"""From q, v and accelerations to start from to accelerations, all along the axes of bodies."""


def soft_accelerations(
    m: Mechanism,
    scene: SoftScene,
    x: Mapping[str, Array],
    q: Array,
    v: Array,
    dt: Scalar,
    start: Sequence[Scalar],
    implicit: bool = False,
) -> tuple[SoftProblem, Solved]:
    """Accelerations under drives, passive forces, forces from outside and soft contact, and the problem they solve.

    They, and those to start from, have ω × v added where joints move along axes that turn (`turning`): the law leaves
    out what the motion of contacts adds to accelerations without forces, and what that is depends on the coordinates.
    `implicit`: the damping of targets is that at the end of a step dt.
    """
    problem = soft_problem(m, scene, x, q, v, dt, implicit)
    return problem, problem.solve(start, scene.scale, scene.tolerance, scene.iterations)


def soft_problem(
    m: Mechanism, scene: SoftScene, x: Mapping[str, Array], q: Array, v: Array, dt: Scalar, implicit: bool = False
) -> SoftProblem:
    """The problem that accelerations solve."""
    n, tree = m.model.nv, m.coupling.dof_tree
    tau, rows, damping = driven(m, scene, x, q, v), joint_rows(m, scene, q, v, dt), []  # type: Any, Any, Any
    if implicit:
        damping, rows = damping_of_targets(scene, x, dt), rows + target_rows(scene, x, q, v, dt)
    M = with_damping(tree, crba(m, q), [(k, k, D) for k, D in damping])

    def lack(a: Sequence[Scalar]) -> list[Scalar]:
        return minus(inertial_forces(m, scene, x, q, v, a, dt if implicit else None), tau)

    world = world_tree(m, q)
    friction = x["friction"][0] if "friction" in x else None
    contacts = Contacts(layout_of(scene), world, [v[k] for k in range(n)], dt, friction)
    wide = _bounds(m, scene, q, v, dt) + _held(m, scene, q, v, dt) + loop_joint_rows(m, scene, q, v, dt)
    long = tree.packed_size > LONG_PATHS * tree.n and m.coupling.trivial and not m.most_modes
    matrix = articulated_bodies(m, world, contacts, damping) if long else PackedMatrix(tree, M, world)
    return SoftProblem(tree, M, matrix, lack, world, contacts, rows, wide)


def inertial_forces(
    m: Mechanism,
    scene: SoftScene,
    x: Mapping[str, Array],
    q: Array,
    v: Array,
    a: Sequence[Scalar],
    dt: Scalar | None = None,
) -> list[Scalar]:
    """The joint forces for accelerations along fixed axes, with dt kd a where the damping of targets is in M."""
    n = m.model.nv
    tau = rnea(m, q, v, indexable(n, minus(a, turning(m, v))), x.get("f_ext"))
    result = [tau[k] for k in range(n)]
    for k, D in damping_of_targets(scene, x, dt) if dt is not None else ():
        result[k] = result[k] + D * a[k]
    return result


def _bounds(m: Mechanism, scene: SoftScene, q: Array, v: Array, dt: Scalar) -> list[WideRow]:
    """Limits of positions whose rates are along axes that do not turn with the body."""
    turned, n = [limit for limit in scene.limits if limit.turned], m.model.nv
    rates = along_fixed(m, q, v) if turned else []
    rows = []
    for limit in turned:
        J = along_body(m, q, [limit.sign if k == limit.v else 0.0 for k in range(n)])
        stop = stop_of(limit, depth_of(limit, q[limit.q]), rates[limit.v] * limit.sign, dt)
        rows.append(WideRow(tuple(J), *stop, one_sided=True))
    return rows


def _held(m: Mechanism, scene: SoftScene, q: Array, v: Array, dt: Scalar) -> list[WideRow]:
    """Loops and laws between coordinates; the impedance of a loop is that of all its rows together.

    Unlike that of contacts, the motion of loops is heeded in full: L a + bias is to be the reference acceleration.
    """
    if not scene.equalities:
        return []
    terms, n, row, held = constraint_terms(m, q, v, rounded=False), m.model.nv, 0, []
    more = turning(m, v)
    for equality in scene.equalities:
        B, K = rate_and_spring(equality.softness, dt)
        places = range(row, row + len(equality.weights))
        square: Scalar = 0.0
        for r, scale in zip(places, equality.scales, strict=True):
            square = square + terms.errors[r] * terms.errors[r] * (scale * scale)
        d = impedance(equality.softness, sqrt(square) if len(places) > 1 else terms.errors[row])
        for r, weight, scale in zip(places, equality.weights, equality.scales, strict=True):
            J = tuple(terms.matrix[r * n + k] for k in range(n))
            reference = -(B * terms.rates[r]) - K * d * terms.errors[r]
            if equality.has_bias:
                reference = reference - terms.bias[r] + dot(J, more)
            held.append(WideRow(J, d * (scale * scale) / ((1.0 - d) * weight), reference))
        row = places.stop
    return held


def driven(m: Mechanism, scene: SoftScene, x: Mapping[str, Array], q: Array, v: Array) -> list[Scalar]:
    """Joint forces and passive forces."""
    passive = passive_forces(m, q, v)
    return [tau + passive[k] for k, tau in enumerate(joint_drives(m, scene, x, q, v))]


def measured(m: Mechanism, scene: SoftScene, x: Mapping[str, Array]) -> dict[str, Any]:
    """Accelerations in a state, what drives the joints, and what is to be told of each contact."""
    n, q, v = m.model.nv, x["q"], x["v"]
    problem, solved = soft_accelerations(m, scene, x, q, v, x["dt"][0], [x["a"][k] for k in range(n)])
    problem.begin(solved.a)
    a = minus(solved.a, turning(m, v))
    return {"acceleration": a, **problem.contacts.told(), "drives": joint_drives(m, scene, x, q, v)}


# ---- steps -----------------------------------------------------------------------------------------------------------


def run_steps(m: Mechanism, scene: SoftScene, x: Mapping[str, Array]) -> dict[str, Any]:
    """As many steps of time as `steps` says, or until something is not finite or has run away."""
    nq, n, dt = m.model.nq, m.model.nv, x["dt"][0]

    def forward(q: Scalars, v: Scalars, warm: Scalars) -> tuple[SoftProblem, Solved]:
        here, rates = indexable(nq, q), indexable(n, v)
        return soft_accelerations(m, scene, x, here, rates, dt, warm, scene.integrator in IMPLICIT)

    def step(state: State) -> State:
        if scene.integrator == "rk4":
            return _runge_kutta(m, scene, state, dt, forward)
        if scene.integrator == "variational":
            return _variational(m, scene, x, state, dt)
        return _euler(m, scene, x, state, dt, forward)

    return run_states(m, x, n, step)


def _euler(m: Mechanism, scene: SoftScene, x: Mapping[str, Array], state: State, dt: Scalar, forward: Forward) -> State:
    """Semi-implicit, and implicit in what damps (`step_damping`) and in targets: (M + dt D) v̇ = all other forces."""
    problem, solved = forward(state.q, state.v, state.a)
    push: Sequence[Scalar] = solved.a
    tree, here, rates = m.coupling.dof_tree, indexable(m.model.nq, state.q), indexable(m.model.nv, state.v)
    damping = step_damping(m, scene, x, here, rates, dt)
    if damping:
        factor = ltdl(tree, with_damping(tree, problem.M, damping))
        drag: list[Scalar] = [0.0] * tree.n  # dt D v̇ of contact, which damping takes from M v̇
        add_drag(drag, damping, solved.a)
        less = solve(tree, factor, indexable(tree.n, drag), unit=True)
        push = [a - less[k] for k, a in enumerate(solved.a)]
    v = along_fixed(m, state.q, [rate + a * dt for rate, a in zip(state.v, push, strict=True)])
    return _arrived(m, state, moved(m, state.q, v, dt), v, along_fixed(m, state.q, solved.a))


def _arrived(m: Mechanism, before: State, q: list[Scalar], v: list[Scalar], a: list[Scalar]) -> State:
    """The state after a step, from velocities and accelerations along fixed axes."""
    v, a = along_body(m, q, v), along_body(m, q, a)
    return State(tuple(q), tuple(v), tuple(a), before.taken + 1.0)


def _variational(m: Mechanism, scene: SoftScene, x: Mapping[str, Array], state: State, dt: Scalar) -> State:
    """By a variational principle, with drives and passive forces of the middle of the step."""

    def force(q: Array, v: Array) -> Scalars:
        return tuple(driven(m, scene, x, q, v))

    new = variational_step(m, state.q, state.v, state.a, dt, force, x.get("f_ext"))
    a = along_body(m, new.q, new.a)
    status = select(new.solved, RUNNING, NOT_SOLVED)
    return State(tuple(new.q), tuple(new.v), tuple(a), state.taken + 1.0, status)


WEIGHTS, REACH = Table("weights", np.array([1, 2, 2, 1]) / 6), Table("reach", np.array([0.5, 0.5, 1.0, 0.0]))
"""Of the four stages of the classical method: their shares in the step, and how far ahead of each the next one lies."""

ONWARD = [[1.0, 1.0, 6.0, 1.0], [-0.5, -1.5, 0.0, 0.0], [0.0, 0.0, -6.0, 0.0], [0.0, 3.0, 0.0, 0.0]]
"""What the next stage starts from: of the accelerations of a stage so much and so much × `_fading`, then so much of the
sum so far and so much × `_fading`.

Where contacts brake, accelerations fade as velocities change: a - B Δv presses where the stage before did. The last
stage lies as far behind the middle as the first before it: accelerations there are extrapolated.
"""

Stage: TypeAlias = tuple[Scalars, Scalars, Scalars, Scalars, Scalars, Scalars]
"""q, the way to it, v, the last accelerations, and sums of the rates of q and v so far; all along fixed axes."""


def _runge_kutta(m: Mechanism, scene: SoftScene, state: State, dt: Scalar, forward: Forward) -> State:
    """The classical method of fourth order, for rotations that of Munthe-Kaas."""
    start, warm = (tuple(along_fixed(m, state.q, values)) for values in (state.v, state.a))
    fading = _fading(scene, dt)

    def stage(k: Index, carry: Stage) -> Stage:
        q, way, v, warm, sum_q, sum_v = carry
        here = (tuple(along_body(m, q, values)) for values in (v, warm))
        a = tuple(along_fixed(m, q, forward(q, *here)[1].a))
        weight, ahead = gather(WEIGHTS, k), gather(REACH, k) * dt
        rate = chart_rate(m, way, v)
        so_far = tuple(plus(sum_v, [weight * x for x in a]))
        parts = [gather(Table("onward", np.array(numbers)), k) for numbers in ONWARD]
        own, of_sum = parts[0] + fading * parts[1], parts[2] + fading * parts[3]
        return (
            tuple(moved(m, state.q, rate, ahead)),
            tuple(ahead * x for x in rate),
            tuple(x + ahead * y for x, y in zip(start, a, strict=True)),
            tuple(own * x + of_sum * y for x, y in zip(a, so_far, strict=True)),
            tuple(plus(sum_q, [weight * x for x in rate])),
            so_far,
        )

    none: Scalars = (0.0,) * m.model.nv
    *_, a, sum_q, sum_v = repeat(4, stage, (state.q, none, start, warm, none, none))
    v = [x + dt * s for x, s in zip(start, sum_v, strict=True)]
    return _arrived(m, state, moved(m, state.q, sum_q, dt), v, list(a))


def _fading(scene: SoftScene, dt: Scalar) -> Scalar:
    """B dt of contacts or limits: the part of an acceleration that is lost within a step in which they brake."""
    soft = [*(c.softness for c in scene.candidates), *(limit.softness for limit in scene.limits), Softness()]
    return minimum(rate_and_spring(soft[0], dt)[0] * dt, 1.0)
