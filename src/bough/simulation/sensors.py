"""What sensors read in states of a simulation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.errors import ModelError
from bough.kernel.arguments import FloatArray
from bough.kernel.configuration import difference, neutral
from bough.kernel.kinematics import accelerations, placements, velocities
from bough.model import Model, Sensor
from bough.model.sensor import SENSORS
from bough.model.simulation import UNBOUNDED
from bough.simulation.sensor_inertias import Inertias

__all__ = ["Measured", "readings", "sensor_parts"]

Floats: TypeAlias = NDArray[Any]

LOOKS = 60
"""Thirds by which the nearest point of a ray to the middle of a zone is closed in on."""

GOLDEN = 0.6180339887498949
ALIGNED = "LOCAL_WORLD_ALIGNED"


class Measured(NamedTuple):
    """What the program of contacts gives: of each contact force, moment and normal on the second body, point, depth.

    `drives` (..., nv) are the joint forces of tau, actuators and targets.
    """

    acceleration: FloatArray
    forces: FloatArray
    points: FloatArray
    depths: FloatArray
    normals: FloatArray
    moments: FloatArray
    drives: FloatArray


def sensor_parts(sensors: Sequence[Sensor]) -> dict[str, slice]:
    """Where the numbers of each sensor lie among those of all."""
    ends = np.cumsum([SENSORS[sensor.kind].size for sensor in sensors]).tolist()
    return {x.name: slice(end - SENSORS[x.kind].size, end) for x, end in zip(sensors, ends, strict=True)}


def readings(
    model: Model,
    q: FloatArray,
    v: FloatArray,
    found: Measured,
    bodies: Sequence[tuple[int, int]],
    acting: Mapping[str, Any],
    inertias: Inertias,
) -> FloatArray:
    """The numbers of all sensors of a model (..., n); `bodies` are the two of each contact."""
    here = _Reading(model, q, v, found, bodies, acting, inertias)
    parts = [_clamped(sensor, here.read(sensor)) for sensor in model.simulation.sensors]
    return np.concatenate([np.zeros((*here.batch, 0)), *parts], axis=-1).astype(found.acceleration.dtype, copy=False)


def _clamped(sensor: Sensor, values: Floats) -> Floats:
    return np.clip(values, -sensor.cutoff, sensor.cutoff) if sensor.cutoff else values


class _Reading:
    """States in which sensors are read: frames as they are needed, in the world."""

    def __init__(
        self,
        model: Model,
        q: FloatArray,
        v: FloatArray,
        found: Measured,
        bodies: Sequence[tuple[int, int]],
        acting: Mapping[str, Any],
        inertias: Inertias,
    ) -> None:
        self.batch = found.acceleration.shape[:-1]
        self._model, self._found, self._bodies, self._acting = model, found, bodies, acting
        self._inertias = inertias
        self._q = np.broadcast_to(q, (*self.batch, model.nq)).astype(np.float64)
        self._v = np.broadcast_to(v, (*self.batch, model.nv)).astype(np.float64)
        self._a = np.asarray(found.acceleration, np.float64)
        sensors = model.simulation.sensors
        named = [name for x in sensors if SENSORS[x.kind].on == "frame" for name in (x.of, x.reference) if name]
        wrenches = any(x.kind in ("force", "torque") for x in sensors)
        names = list(dict.fromkeys([*named, *(body.name for body in model.bodies if wrenches)]))
        self._place = {name: k for k, name in enumerate(names)}
        if names:
            self._X: Floats = placements(model, self._q, names)
            self._V: Floats = velocities(model, self._q, self._v, names, ALIGNED)
            a = accelerations(model, self._q, self._v, self._a, names, ALIGNED, classical=True)
            down = np.concatenate([inertias.gravity, np.zeros_like(inertias.gravity)], axis=-1)
            self._A: Floats = a - down[..., np.newaxis, :]

    def read(self, sensor: Sensor) -> Floats:
        """The numbers of one sensor (..., n)."""
        if SENSORS[sensor.kind].on == "frame":
            return FRAMES[sensor.kind](self, sensor)
        return self._of_joint(sensor) if SENSORS[sensor.kind].on == "joint" else self._of_actuator(sensor)

    # ---- joints and actuators ----------------------------------------------------------------------------------------

    def _of_joint(self, sensor: Sensor) -> Floats:
        q, v = self._model.q_slice(sensor.of), self._model.v_slice(sensor.of)
        if sensor.kind in ("jointpos", "ballquat"):
            return self._q[..., q] if sensor.kind == "jointpos" else _upright(self._q[..., q])
        return np.asarray(self._found.drives)[..., v] if sensor.kind == "jointactuatorfrc" else self._v[..., v]

    def _of_actuator(self, sensor: Sensor) -> Floats:
        k = next(k for k, x in enumerate(self._model.actuators) if x.name == sensor.of)
        x = self._model.actuators[k]
        gear = np.array(x.gear)
        q, v = self._model.q_slice(x.joint), self._model.v_slice(x.joint)
        here = self._turns[..., v] if self._model.joint(x.joint).joint.quaternions else self._q[..., q]
        length, rate = ((values * gear).sum(axis=-1, keepdims=True) for values in (here, self._v[..., v]))
        if sensor.kind != "actuatorfrc":
            return np.asarray(length if sensor.kind == "actuatorpos" else rate)
        control, off = self._acting.get("control"), self._model.simulation.switched_off
        if control is None or "actuation" in off:  # no actuator acts
            return np.zeros_like(length)
        (low, high), (least, most) = UNBOUNDED if "clampctrl" in off else x.ctrlrange, x.forcerange
        u = np.clip(np.asarray(control, np.float64)[..., k : k + 1], low, high)
        force = x.gain * u + x.bias[0] + x.bias[1] * length + x.bias[2] * rate
        return np.broadcast_to(np.clip(force, least, most), length.shape)

    @property
    def _turns(self) -> Floats:
        """The motion from the neutral configuration: of a ball, its rotation vector."""
        return difference(self._model, neutral(self._model), self._q)

    # ---- frames ------------------------------------------------------------------------------------------------------

    def _at(self, name: str) -> tuple[Floats, Floats, Floats, Floats]:
        """Rotation, origin, velocity and acceleration, less gravity, of a frame; the world stands still."""
        if not name:
            return np.eye(3), np.zeros(3), np.zeros(6), np.zeros(6)
        k = self._place[name]
        return self._X[..., k, :3, :3], self._X[..., k, :3, 3], self._V[..., k, :], self._A[..., k, :]

    def along_frame(self, sensor: Sensor) -> Floats:
        """Gyro, velocimeter and accelerometer."""
        R, _, V, A = self._at(sensor.of)
        vector = {"gyro": V[..., 3:], "velocimeter": V[..., :3], "accelerometer": A[..., :3]}[sensor.kind]
        return _turned_back(R, vector)

    def in_reference(self, sensor: Sensor) -> Floats:
        """Place, axes and velocity, as seen from a frame."""
        (R, x, V, A), (R0, x0, V0, _) = self._at(sensor.of), self._at(sensor.reference)
        if sensor.kind == "framequat":
            return _quaternion(_turned_back_all(R0, R))
        if sensor.kind in AXES:
            return _turned_back(R0, R[..., :, AXES.index(sensor.kind)])
        away = x - x0
        vector = {
            "framepos": away,
            "framelinvel": V[..., :3] - V0[..., :3] - np.cross(V0[..., 3:], away),
            "frameangvel": V[..., 3:] - V0[..., 3:],
            "framelinacc": A[..., :3],
            "frameangacc": A[..., 3:],
        }[sensor.kind]
        return _turned_back(R0, vector)

    def wrench(self, sensor: Sensor) -> Floats:
        """Force or torque of the joint that carries a body on that body: what moves it and all that it carries."""
        model, (R, x, _, _) = self._model, self._at(sensor.of)
        if model.constraints:
            raise ModelError(
                f"sensor {sensor.name!r}: {sensor.kind} sensors do not support models with loops or couplings"
            )
        force, torque = np.zeros((*self.batch, 3)), np.zeros((*self.batch, 3))
        subtree = {model.frame(sensor.of).body}
        for i in range(1, model.nbodies + 1):
            if i in subtree or model.tree.parents[i - 1] in subtree:
                subtree.add(i)
                f, n = self._moved(i, x)
                force, torque = force + f, torque + n
        for k, (first, second) in enumerate(self._bodies):
            sign = float(second in subtree) - float(first in subtree)
            f = sign * np.asarray(self._found.forces[..., k, :])
            force = force - f
            away = np.asarray(self._found.points[..., k, :]) - x
            torque = torque - np.cross(away, f) - sign * np.asarray(self._found.moments[..., k, :])
        return _turned_back(R, force if sensor.kind == "force" else torque)

    def _moved(self, i: int, x: Floats) -> tuple[Floats, Floats]:
        """The force and the moment about a point that a body needs, less those that act on it from outside."""
        mass, com, about = self._inertias.of(i)
        R, origin, V, A = self._at(self._model.bodies[i - 1].name)
        w, arm = V[..., 3:], (R @ com[..., np.newaxis])[..., 0]
        I = R @ about @ np.swapaxes(R, -1, -2)
        a = A[..., :3] + np.cross(A[..., 3:], arm) + np.cross(w, np.cross(w, arm))
        force = mass[..., np.newaxis] * a
        moment = (I @ A[..., 3:, np.newaxis])[..., 0] + np.cross(w, (I @ w[..., np.newaxis])[..., 0])
        torque = moment + np.cross(origin + arm - x, force)
        if self._acting.get("f_ext") is not None:
            given = np.asarray(self._acting["f_ext"], np.float64)[..., i - 1, :]
            push, turn = ((R @ given[..., part, np.newaxis])[..., 0] for part in (slice(3), slice(3, 6)))
            force, torque = force - push, torque - turn - np.cross(origin - x, push)
        return force, torque

    def touch(self, sensor: Sensor) -> Floats:
        """Normal forces on a body, of contacts from which a ray along the force meets the zone."""
        body, total = self._model.frame(sensor.of).body, np.zeros((*self.batch, 1))
        R, x, _, _ = self._at(sensor.of)
        for k, two in enumerate(self._bodies):
            if body not in two:
                continue
            normal = np.asarray(self._found.normals[..., k, :])
            push = np.maximum((np.asarray(self._found.forces[..., k, :]) * normal).sum(axis=-1), 0.0)
            if sensor.zone:
                # MuJoCo's: out of the first of the two bodies, into the second one
                way = normal if body == two[0] else -normal
                local = _turned_back(R, np.asarray(self._found.points[..., k, :]) - x)
                push = np.where(_meets(sensor, local, _turned_back(R, way)), push, 0.0)
            total[..., 0] += push
        return total


AXES = ("framexaxis", "frameyaxis", "framezaxis")
FRAMES: dict[str, Callable[[_Reading, Sensor], Floats]] = {
    **dict.fromkeys(("gyro", "velocimeter", "accelerometer"), _Reading.along_frame),
    **dict.fromkeys(("framepos", "framequat", *AXES, "framelinvel", "frameangvel"), _Reading.in_reference),
    **dict.fromkeys(("framelinacc", "frameangacc"), _Reading.in_reference),
    **dict.fromkeys(("force", "torque"), _Reading.wrench),
    "touch": _Reading.touch,
}


def _turned_back(R: Floats, vector: Floats) -> Floats:
    """Rᵀ times vectors."""
    return np.asarray((np.swapaxes(R, -1, -2) @ vector[..., np.newaxis])[..., 0])


def _turned_back_all(R0: Floats, R: Floats) -> Floats:
    return np.asarray(np.swapaxes(R0, -1, -2) @ R)


def _quaternion(R: Floats) -> Floats:
    """Of rotations, scalar last and not negative: the largest row of four times q qᵀ."""
    product = np.zeros((*R.shape[:-2], 4, 4))
    product[..., :3, :3] = R + np.swapaxes(R, -1, -2)
    trace = np.trace(R, axis1=-2, axis2=-1)
    for k in range(3):
        product[..., k, k] = 1.0 + 2.0 * R[..., k, k] - trace
        i, j = (k + 1) % 3, (k + 2) % 3
        product[..., k, 3] = product[..., 3, k] = R[..., j, i] - R[..., i, j]
    product[..., 3, 3] = 1.0 + trace
    largest = np.argmax(np.diagonal(product, axis1=-2, axis2=-1), axis=-1)
    row = np.take_along_axis(product, largest[..., np.newaxis, np.newaxis], axis=-2)[..., 0, :]
    row = row / np.linalg.norm(row, axis=-1, keepdims=True)
    return _upright(row)


def _upright(quaternion: Floats) -> Floats:
    """The one of two equal quaternions whose scalar is not negative."""
    return np.asarray(np.where(quaternion[..., 3:] < 0.0, -quaternion, quaternion))


def _meets(sensor: Sensor, point: Floats, way: Floats) -> NDArray[np.bool_]:
    """Whether rays meet a zone about the origin: where they are nearest to its middle, as the zone measures it."""
    far = 2.0 * (np.linalg.norm(point, axis=-1) + sum(sensor.size))
    low, high = np.zeros_like(far), far

    def distance(t: Floats) -> Floats:
        return _gauge(sensor, point + t[..., np.newaxis] * way)

    for _ in range(LOOKS):
        one, other = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        nearer = distance(one) < distance(other)
        low, high = np.where(nearer, low, one), np.where(nearer, other, high)
    return np.minimum(distance(low), distance(np.zeros_like(far))) <= 1.0


def _gauge(sensor: Sensor, x: Floats) -> Floats:
    """A convex function, 1 on the surface of a zone and less inside."""
    size = np.array(sensor.size)
    if sensor.zone == "box":
        return np.asarray((np.abs(x) / (0.5 * size)).max(axis=-1))
    if sensor.zone == "ellipsoid":
        return np.asarray(np.linalg.norm(x / size, axis=-1))
    if sensor.zone == "cylinder":
        return np.asarray(
            np.maximum(np.linalg.norm(x[..., :2], axis=-1) / size[0], np.abs(x[..., 2]) / (0.5 * size[1]))
        )
    if sensor.zone == "capsule":
        x = x - np.clip(x[..., 2:], -0.5 * size[1], 0.5 * size[1]) * np.array([0.0, 0.0, 1.0])
    return np.asarray(np.linalg.norm(x, axis=-1) / size[0])
