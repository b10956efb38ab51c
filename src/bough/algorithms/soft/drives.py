"""What drives joints, actuators and springs and dampers to targets, and how their forces change with velocities."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from bough.algorithms.soft.fixed_axes import along_body, along_fixed
from bough.algorithms.soft.law import within
from bough.algorithms.soft.rows import JointRow, ServoRow
from bough.algorithms.soft.scene import Drive, Servo, SoftScene
from bough.model import Mechanism
from bough.scalar import Array, Bool, Scalar, array, both, plus, select
from bough.tree import Tree

__all__ = [
    "Damping",
    "add_drag",
    "damping_of_targets",
    "joint_drives",
    "pull",
    "step_damping",
    "target_rows",
    "with_damping",
]

Damping: TypeAlias = list[tuple[int, int, Scalar]]
"""Entries of a symmetric matrix on velocities: row, column on the path from the root to it, and number."""


def joint_drives(m: Mechanism, scene: SoftScene, x: Mapping[str, Array], q: Array, v: Array) -> list[Scalar]:
    """Joint forces: those given, those of actuators, and those of springs and dampers to targets, within bounds."""
    n, bounds = m.model.nv, dict(scene.bounds)
    total: list[Scalar] = [x["tau"][k] if "tau" in x else 0.0 for k in range(n)]
    forces = _forces(scene, x, q, v)
    for drive, force in zip(scene.drives, forces, strict=False):
        for place, gear in drive.gears:
            if place not in bounds:
                total[place] = total[place] + within(force, drive.range) * gear
    for place, force in _together(scene, forces).items():
        total[place] = total[place] + within(force, bounds[place])
    if "target" in x:
        rates, pulled = along_fixed(m, q, v), [0.0] * n  # type: list[Scalar], list[Scalar]
        for servo in scene.servos:
            k = servo.v
            pulled[k] = within(pull(servo, x, q, rates), (-servo.effort, servo.effort))
        total = plus(total, along_body(m, q, pulled))
    return total


def _forces(scene: SoftScene, x: Mapping[str, Array], q: Array, v: Array) -> list[Scalar]:
    """The force of each actuator before its bounds and gear; none without controls."""
    return [drive.force(x["control"][k], q, v) for k, drive in enumerate(scene.drives)] if "control" in x else []


def _together(scene: SoftScene, forces: Sequence[Scalar]) -> dict[int, Scalar]:
    """What actuators do together along the velocities where that has bounds."""
    found: dict[int, Scalar] = {place: 0.0 for place, _ in scene.bounds if forces}
    for drive, force in zip(scene.drives, forces, strict=False):
        for place, gear in drive.gears:
            if place in found:
                found[place] = found[place] + within(force, drive.range) * gear
    return found


def pull(servo: Servo, x: Mapping[str, Array], q: Array, rates: Sequence[Scalar] | Array) -> Scalar:
    """The force of spring and damper to the target of a coordinate, without bounds."""
    force: Scalar = x["kp"][servo.v] * (x["target"][servo.v] - q[servo.q]) - x["kd"][servo.v] * rates[servo.v]
    return force


# ---- what changes with velocities ------------------------------------------------------------------------------------


def damping_of_targets(scene: SoftScene, x: Mapping[str, Array], dt: Scalar) -> list[tuple[int, Scalar]]:
    """dt kd where targets draw without bounds: with it in M, their damping is that at the end of a step."""
    if "target" not in x:
        return []
    return [(s.v, x["kd"][s.v] * dt) for s in scene.servos if s.plain and s.effort == math.inf]


def target_rows(scene: SoftScene, x: Mapping[str, Array], q: Array, v: Array, dt: Scalar) -> list[JointRow]:
    """What does the same where their forces have bounds."""
    if "target" not in x:
        return []
    return [
        ServoRow(s.v, 1.0, x["kd"][s.v] * dt, 0.0, pull=pull(s, x, q, v), most=s.effort)
        for s in scene.servos
        if s.plain and s.effort < math.inf
    ]


def step_damping(m: Mechanism, scene: SoftScene, x: Mapping[str, Array], q: Array, v: Array, dt: Scalar) -> Damping:
    """dt times what forces lose per velocity: of joint damping, and with "implicitfast" of actuators, too."""
    found: Damping = []
    if scene.damped:
        own = [value for i in range(1, m.tree.n + 1) for value in m.at(i).damping]
        sources = zip(m.coupling.v_source.tolist(), m.coupling.v_ratio.tolist(), own, strict=True)
        found = [(k, k, damping * (ratio * ratio) * dt) for k, ratio, damping in sources]
    if scene.integrator == "implicitfast" and any(drive.bias[2] for drive in scene.drives):
        forces = _forces(scene, x, q, v)
        bounds = dict(scene.bounds)
        inside = {place: _inside(force, bounds[place]) for place, force in _together(scene, forces).items()}
        for drive, force in zip(scene.drives, forces, strict=False):
            if drive.bias[2]:
                found += _drive_damping(drive, force, inside, dt)
    return found


def _drive_damping(drive: Drive, force: Scalar, inside: Mapping[int, Bool], dt: Scalar) -> Damping:
    """dt times what an actuator loses per velocity: nothing where its force, or that of the joint, is at a bound."""
    free = [_inside(force, drive.range), *(inside[place] for place, _ in drive.gears if place in inside)]
    loss: Scalar = dt * -drive.bias[2]
    for condition in free:
        loss = select(condition, loss, 0.0)
    return [
        (row, column, loss * (gear * other))
        for i, (row, gear) in enumerate(drive.gears)
        for column, other in drive.gears[: i + 1]
    ]


def _inside(x: Scalar, bounds: tuple[float, float]) -> Bool:
    """Whether a number is between bounds."""
    low, high = (bound if math.isfinite(bound) else None for bound in bounds)
    return both(True if low is None else x > low, True if high is None else x < high)


def with_damping(tree: Tree, M: Array, damping: Damping) -> Array:
    """A matrix in packed path rows with entries added."""
    if not damping:
        return M
    H = array(tree.packed_size)
    for k in range(tree.packed_size):
        H[k] = M[k]
    for row, column, value in damping:
        place = int(tree.packed_starts[row]) + int(tree.depths[column]) - 1
        H[place] = H[place] + value
    return H


def add_drag(total: list[Scalar], damping: Damping, a: Sequence[Scalar]) -> None:
    """Add the symmetric matrix times accelerations."""
    for row, column, value in damping:
        total[row] = total[row] + value * a[column]
        if row != column:
            total[column] = total[column] + value * a[row]
