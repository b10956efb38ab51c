"""Steps of time under hard contact: kinematics, contacts, impulses and integration in one program."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bough.algorithms.crba import crba
from bough.algorithms.hard.contacts import AXES
from bough.algorithms.hard.problem import HardProblem
from bough.algorithms.hard.scene import HardScene
from bough.algorithms.passive import passive_forces
from bough.algorithms.rnea import ZEROS, rnea
from bough.algorithms.soft.drives import joint_drives, pull, step_damping, with_damping
from bough.algorithms.soft.fixed_axes import along_body, along_fixed, moved, turning
from bough.algorithms.soft.states import RUNNING, State, run_states
from bough.algorithms.soft.world import world_tree
from bough.factor import mul_H
from bough.model import Mechanism
from bough.scalar import Array, Scalar, absolute, array, fill, indexable, keeping_loops, select

__all__ = ["OVERFULL", "hard_measured", "run_hard_steps"]

OVERFULL = 8.0
"""What becomes of a state in which more touches than there is room for: it waits before that step for more room."""


def problem_of(m: Mechanism, scene: HardScene, x: Mapping[str, Array], q: Array, v: Array, dt: Scalar) -> HardProblem:
    """The problem of a step from a state."""
    n, tree = m.model.nv, m.coupling.dof_tree
    drives, C = joint_drives(m, scene.common, x, q, v), rnea(m, q, v, ZEROS, x.get("f_ext"))
    passive, M = passive_forces(m, q, v), crba(m, q)
    added = mul_H(tree, M, indexable(n, turning(m, v)))
    force = [drives[k] + passive[k] - C[k] + added[k] for k in range(n)]
    H = _damped_mass(m, scene, x, q, v, dt, M)
    friction = x["friction"][0] if "friction" in x else None
    bounce = x["restitution"][0] if "restitution" in x else None
    return HardProblem(m, scene, q, v, dt, world_tree(m, q), H, force, friction, bounce)


def _damped_mass(
    m: Mechanism, scene: HardScene, x: Mapping[str, Array], q: Array, v: Array, dt: Scalar, M: Array
) -> Array:
    """M, with dt times the damping of joints, targets and actuators added: then they are those at the end of the step.

    The damping of a target whose force is at its bound has no part in it.
    """
    damping = step_damping(m, scene.common, x, q, v, dt)
    for servo in scene.common.servos if "target" in x else ():
        if servo.plain:
            D = x["kd"][servo.v] * dt
            if servo.effort < math.inf:
                D = select(absolute(pull(servo, x, q, v)) < servo.effort, D, 0.0)
            damping.append((servo.v, servo.v, D))
    return with_damping(m.coupling.dof_tree, M, damping)


# ---- steps -----------------------------------------------------------------------------------------------------------


def run_hard_steps(m: Mechanism, scene: HardScene, x: Mapping[str, Array]) -> dict[str, Any]:
    """As many steps of time as `steps` says, or until something is not finite, has run away or has no room."""
    nq, n, dt = m.model.nq, m.model.nv, x["dt"][0]

    def step(state: State) -> State:
        q, v = indexable(nq, state.q), indexable(n, state.v)
        problem = problem_of(m, scene, x, q, v, dt)
        found = problem.solve(problem.impulses_of_before(state.a))
        new = _state_after(m, state, problem.velocities(found), problem.memory(found), found.passed, dt)
        return replace(new, status=select(problem.overfull, OVERFULL, RUNNING))

    return run_states(m, x, scene.memory(m.model), step)


def _state_after(
    m: Mechanism, before: State, v: list[Scalar], impulses: list[Scalar], passed: Scalar, dt: Scalar
) -> State:
    """The state after a step; until something bounced in it, bodies moved as before."""
    way = [after + passed * (rate - after) for rate, after in zip(before.v, v, strict=True)]
    q = moved(m, before.q, along_fixed(m, before.q, way), dt)
    fixed = along_fixed(m, before.q, v)
    return State(tuple(q), tuple(along_body(m, q, fixed)), tuple(impulses), before.taken + 1.0)


# ---- what else is told of a state ------------------------------------------------------------------------------------


def hard_measured(m: Mechanism, scene: HardScene, x: Mapping[str, Array]) -> dict[str, Any]:
    """Accelerations in a step from a state, what drives the joints, and what is to be told of each contact.

    Also the impulses, for a solution that starts from them, and how much it would change.
    """
    n, q, v, dt = m.model.nv, x["q"], x["v"], x["dt"][0]
    problem = problem_of(m, scene, x, q, v, dt)
    start = problem.impulses_of_before(x["a"])
    found = problem.solve(start)
    more, after, touch = turning(m, v), problem.velocities(found), problem.contacts.contacts * AXES
    if touch:
        with keeping_loops():
            impulses = problem.contacts.of_contacts(found.p)
            problem.contacts.take_forces(fill(array(touch), touch, lambda k: impulses[k] / dt))
    a = [(after[k] - v[k]) / dt - more[k] for k in range(n)]
    drives = joint_drives(m, scene.common, x, q, v)
    full = select(problem.overfull, OVERFULL, RUNNING)
    told = {**problem.contacts.told(), "drives": drives, "impulses": problem.memory(found)}
    return {"acceleration": a, **told, "left_over": [problem.left_over(found, start)], "status": [full]}
