"""Sensors: what is read of a mechanism that moves, with MuJoCo's names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from bough.errors import ModelError
from bough.model.surface import read_numbers
from bough.reading import known_name, listed, number, shown

__all__ = ["SENSORS", "ZONES", "Sensor"]


class Kind(NamedTuple):
    """How many numbers a sensor reads, their unit, and what it is on: a "frame", "joint" or "actuator"."""

    size: int
    unit: str
    on: str


SENSORS: dict[str, Kind] = {
    "touch": Kind(1, "N", "frame"),
    "accelerometer": Kind(3, "m/s²", "frame"),
    "velocimeter": Kind(3, "m/s", "frame"),
    "gyro": Kind(3, "rad/s", "frame"),
    "force": Kind(3, "N", "frame"),
    "torque": Kind(3, "N m", "frame"),
    "jointpos": Kind(1, "", "joint"),
    "jointvel": Kind(1, "", "joint"),
    "jointactuatorfrc": Kind(1, "", "joint"),
    "ballquat": Kind(4, "", "joint"),
    "ballangvel": Kind(3, "rad/s", "joint"),
    "actuatorpos": Kind(1, "", "actuator"),
    "actuatorvel": Kind(1, "", "actuator"),
    "actuatorfrc": Kind(1, "", "actuator"),
    "framepos": Kind(3, "m", "frame"),
    "framequat": Kind(4, "", "frame"),
    "framexaxis": Kind(3, "", "frame"),
    "frameyaxis": Kind(3, "", "frame"),
    "framezaxis": Kind(3, "", "frame"),
    "framelinvel": Kind(3, "m/s", "frame"),
    "frameangvel": Kind(3, "rad/s", "frame"),
    "framelinacc": Kind(3, "m/s²", "frame"),
    "frameangacc": Kind(3, "rad/s²", "frame"),
}
"""The kinds of sensors."""

ZONES = {"sphere": 1, "capsule": 2, "ellipsoid": 3, "cylinder": 2, "box": 3}
"""Shapes of zones of touch, and how many numbers tell their size."""

RELATIVE = ("framepos", "framequat", "framexaxis", "frameyaxis", "framezaxis", "framelinvel", "frameangvel")


def _put(part: object, name: str, value: Any) -> None:
    object.__setattr__(part, name, value)


@dataclass(frozen=True)
class Sensor:
    """A sensor, which reads the same as MuJoCo's sensor of that kind.

    Sensors of a frame, along its axes: "gyro" (angular velocity), "velocimeter" (velocity of its origin),
    "accelerometer" (acceleration of its origin minus gravity), "force" and "torque" (of the parent joint on the body),
    "touch" (sum of the normal contact forces of its body, within the zone if there is one). Sensors of a frame in the
    world, or relative to `reference` and along its axes: "framepos", "framequat" (scalar last), "framexaxis",
    "frameyaxis", "framezaxis", "framelinvel", "frameangvel"; "framelinacc" (minus gravity) and "frameangacc" only in
    the world. Sensors of a joint with one coordinate: "jointpos", "jointvel", "jointactuatorfrc" (force of actuators,
    tau and targets); of a spherical joint: "ballquat" and "ballangvel". Sensors of an actuator: "actuatorpos",
    "actuatorvel", "actuatorfrc".

    Attributes
    ----------
    name
        Name, unique among sensors.
    kind
        One of those above.
    of
        Name of the frame or body, of the joint, or of the actuator.
    reference
        Reference frame; "": the world.
    zone, size
        For "touch": a shape at the frame, "sphere", "capsule" (radius, length), "ellipsoid" (half axes), "cylinder"
        (radius, length) or "box" (lengths), in metres. A contact counts if a ray from its point along the force hits
        the shape.
    cutoff
        Readings are clamped to ± this number; 0: no clamping.

    Examples
    --------
    >>> import bough
    >>> imu = bough.simulation.Sensor("imu", "gyro", "wrist_roll_link")
    >>> arm = bough.robots.load("arm").with_simulation(sensors=[imu])
    >>> run = bough.Simulation(arm).run([0.1] * 6, duration=0.02)
    >>> run.sensor("imu").shape
    (3, 3)
    """

    name: str
    kind: str
    of: str
    reference: str = ""
    zone: str = ""
    size: tuple[float, ...] = ()
    cutoff: float = 0.0

    def __post_init__(self) -> None:
        what = f"sensor {shown(self.name)}"
        texts = {"name": self.name, "thing it is of": self.of, "reference": self.reference, "zone": self.zone}
        for title, part in texts.items():
            if not isinstance(part, str) or not (part or title in ("reference", "zone")):
                raise ModelError(f"{what}: the {title} is {shown(part)}, expected a string that is not empty")
        known_name(self.kind, "kind of sensor", SENSORS)
        if self.reference and self.kind not in RELATIVE:
            raise ModelError(f"{what}: reference is {shown(self.reference)}, which a {self.kind} sensor does not have")
        if self.zone:
            known_name(self.zone, "shape of a zone", ZONES)
        if self.zone and self.kind != "touch":
            raise ModelError(f"{what}: zone is {shown(self.zone)}, which a {self.kind} sensor does not have")
        size, count = listed(self.size, f"{what}: size", "numbers"), ZONES.get(self.zone, 0)
        _put(self, "size", read_numbers(size, f"{what}: size", count, f"{count} lengths (m)", least=0.0))
        _put(self, "cutoff", number(self.cutoff, f"{what}: cutoff", "0 or more", least=0.0, error=ModelError))
