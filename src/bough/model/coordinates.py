"""What the entries of q, v, joint forces and controls are called, and the units they are in."""

from __future__ import annotations

from types import MappingProxyType

from bough.model.joints import Joint
from bough.model.model import Model
from bough.model.sensor import SENSORS, Sensor
from bough.scalar import leaves

__all__ = ["Labels", "coordinate_names", "coordinate_units"]

Labels = MappingProxyType[str, tuple[str, ...]]
"""A text for each entry of "q", "v", "tau", "control" and "sensors"."""

PER_SECOND = {"rad": "rad/s", "m": "m/s"}
FORCES = {"rad": "N m", "m": "N"}


def coordinate_names(model: Model, controls: int) -> Labels:
    """Names: the joint's, with a number where it has several; controls are called as the actuators they are for."""
    q: list[str] = []
    for entry in model.joints:
        n = entry.joint.nq
        q += [entry.name] if n == 1 else [f"{entry.name}[{k}]" for k in range(n)]
    actuators = tuple(actuator.name for actuator in model.simulation.actuators)
    control = actuators if len(actuators) == controls else tuple(f"control[{k}]" for k in range(controls))
    readings = [(x.name, SENSORS[x.kind].size) for x in model.simulation.sensors]
    sensors = tuple(name if n == 1 else f"{name}[{k}]" for name, n in readings for k in range(n))
    dofs = model.dof_names
    return MappingProxyType({"q": tuple(q), "v": dofs, "tau": dofs, "control": control, "sensors": sensors})


def coordinate_units(model: Model, controls: int) -> Labels:
    """Units: rad and m, "" for quaternions; those of v and tau go with them; what controls mean is for actuators."""
    q = [unit for entry in model.joints for unit in _units_of_q(entry.joint)]
    v = [unit for entry in model.joints for unit in _units_of_v(entry.joint)]
    per_second, forces = (tuple(units[x] for x in v) for units in (PER_SECOND, FORCES))
    sensors = tuple(unit for x in model.simulation.sensors for unit in _units_of_sensor(model, x))
    nothing = ("",) * controls
    return MappingProxyType({"q": tuple(q), "v": per_second, "tau": forces, "control": nothing, "sensors": sensors})


def _units_of_sensor(model: Model, sensor: Sensor) -> list[str]:
    kind = SENSORS[sensor.kind]
    if kind.size > 1 or kind.unit or kind.on != "joint":
        return [kind.unit] * kind.size
    (unit,) = _units_of_v(model.joint(sensor.of).joint)
    return [{"jointpos": unit, "jointvel": PER_SECOND[unit]}.get(sensor.kind, FORCES[unit])]


def _units_of_q(joint: Joint) -> list[str]:
    """What turns the body is an angle, what only moves it a length; the numbers of quaternions are neither."""
    start = list(joint.neutral())
    without = {first + k for first in joint.quaternions for k in range(4)}
    units = []
    for k in range(joint.nq):
        turned = [leaves(joint.transform(joint.parameters, x).rotation.columns) for x in (start, _raised(start, k))]
        units.append("" if k in without else "m" if turned[0] == turned[1] else "rad")
    return units


def _raised(q: list[float], k: int) -> list[float]:
    return [x + 0.5 if j == k else x for j, x in enumerate(q)]


def _units_of_v(joint: Joint) -> list[str]:
    if not joint.nv:
        return []
    columns = joint.subspace(joint.parameters, joint.neutral())
    return ["rad" if any(leaves(column.angular)) else "m" for column in columns]
