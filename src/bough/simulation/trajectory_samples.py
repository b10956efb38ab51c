"""Parts of trajectories: samples, what lies between them, states of a batch, joints; and their energy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.errors import ShapeError
from bough.kernel.arguments import FloatArray, as_floats, read_only, require_finite
from bough.kernel.configuration import interpolate
from bough.kernel.functions import algorithm
from bough.kernel.kinematics import kinetic_energy, potential_energy
from bough.kernel.table import entry
from bough.model import Model
from bough.model.coupling import own_joint
from bough.reading import known_name, number, shown
from bough.scalar.tolerances import SAME_TIME
from bough.simulation.sensors import sensor_parts

SAME_PLACE = 1e-6
"""Samples that differ by such a part of the time between two are at the same time."""

if TYPE_CHECKING:
    from bough.simulation.trajectory import Trajectory

__all__ = [
    "Energy", "Sample", "ends_early", "energy_of", "equal_times", "joined", "joint_part", "sample_at", "sample_number",
    "sensor_part", "states_of",
]  # fmt: skip

MOST_SAMPLES = 10**9
"""Samples of a resampled trajectory: more of them is a mistake of units."""

HELD = ("tau", "control", "contact_forces", "sensors")
"""What stays the same until the next sample."""


@dataclass(frozen=True, eq=False)
class Sample:
    """A trajectory at one time, or at several; the axes of `time` come before those of the batch.

    Attributes
    ----------
    time
        Times in s, (...).
    q, v
        Configurations (..., nq) and velocities (..., nv).
    tau, control, contact_forces, sensors
        As in the `bough.Trajectory`; None if it has none.
    """

    time: FloatArray
    q: FloatArray
    v: FloatArray
    tau: FloatArray | None = None
    control: FloatArray | None = None
    contact_forces: FloatArray | None = None
    sensors: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class Energy:
    """Energies in joules over time, each (T, ...); NaN where a state is not finite.

    Attributes
    ----------
    kinetic
        Kinetic energy, including rotors (armature).
    potential
        Potential energy of gravity, zero if the centre of mass is at the height of the base origin.
    elastic
        Energy of joint springs, zero at rest. On planar, spherical and free joints it is that of the forces if all
        translations have one stiffness, and all rotations have one.
    total
        Sum of the three, which is constant without drives, damping and contact.
    """

    kinetic: FloatArray
    potential: FloatArray
    elastic: FloatArray
    total: FloatArray


def energy_of(model: Model, q: FloatArray, v: FloatArray) -> Energy:
    """The energies of states, some of which may not be finite."""
    with np.errstate(all="ignore"):  # states that ran away overflow
        kinetic = kinetic_energy(model, q, v, check=False)
        potential = potential_energy(model, q, check=False)
        elastic = entry(model, "elastic_energy", algorithm)(q, None, False)
        parts = (kinetic, potential, elastic, kinetic + potential + elastic)
    finite = np.isfinite(q).all(axis=-1) & np.isfinite(v).all(axis=-1)
    return Energy(*(read_only(np.where(finite, part, np.nan)) for part in parts))


def sample_at(trajectory: Trajectory, time: ArrayLike) -> Sample:
    """A trajectory at any times within it."""
    t = _inside(trajectory, time)
    batch, times = trajectory.batch, trajectory.time
    k = np.searchsorted(times, t, side="right") - 1
    after = np.minimum(k + 1, len(times) - 1)
    step = times[after] - times[k]
    part = np.divide(t - times[k], step, out=np.zeros(t.shape), where=step > 0)
    part = part.reshape(part.shape + (1,) * (len(batch) + 1))
    q0, q1, v0, v1 = trajectory.q[k], trajectory.q[after], trajectory.v[k], trajectory.v[after]
    with np.errstate(all="ignore"):  # what is not finite stays so
        q = interpolate(trajectory.model, q0, q1, part[..., 0].astype(q0.dtype), check=False)
        turns = _circles(trajectory.model)
        q[..., turns] = (q0 + part * (q1 - q0))[..., turns]
        v = (v0 + part * (v1 - v0)).astype(v0.dtype)
    found = {"q": np.where(part == 0, q0, q), "v": np.where(part == 0, v0, v)}
    found |= {name: x[k] for name in HELD if (x := getattr(trajectory, name)) is not None}
    return Sample(time=t, **{name: read_only(x) for name, x in found.items()})


def _inside(trajectory: Trajectory, time: ArrayLike) -> FloatArray:
    """Times that lie within a trajectory."""
    t = as_floats("time", time, ()).astype(np.float64, copy=False)
    require_finite("time", t)
    first, last = trajectory.time[0], trajectory.time[-1]
    outside = np.maximum(first - t, t - last) > SAME_TIME * trajectory.duration
    if outside.any():
        raise ShapeError(f"there is no motion at {t[outside].flat[0]} s, expected times from {first} to {last} s")
    return np.clip(t, first, last)


def _circles(model: Model) -> list[int]:
    """The entries of q that are angles without end: as they were recorded, turns are counted."""
    places, start = [], 0
    for item in model.joints:
        places += [start + k for k in item.joint.circles]
        start += item.joint.nq
    return places


def states_of(trajectory: Trajectory, index: tuple[Any, ...]) -> dict[str, Any]:
    """The arrays of some states of a batch, by name."""
    batch = trajectory.batch
    try:
        numbers = np.arange(math.prod(batch)).reshape(batch)[index]
    except (IndexError, TypeError, ValueError) as error:
        raise ShapeError(f"no state {shown(index)} in a batch {batch}: {error}") from None

    def taken(a: NDArray[Any], axis: int) -> NDArray[Any]:
        states = a.reshape(*a.shape[:axis], math.prod(batch), *a.shape[axis + len(batch) :])
        return np.asarray(np.take(states, numbers, axis))

    in_time = {name: taken(x, 1) for name in ("q", "v", *HELD) if (x := getattr(trajectory, name)) is not None}
    of_states = ("status", "taken", "stopped", *(("a_last",) if trajectory.a_last is not None else ()))
    labels = {name: taken(x, 0) for name, x in trajectory.labels.items()}
    return in_time | {name: taken(getattr(trajectory, name), 0) for name in of_states} | {"labels": labels}


def joint_part(trajectory: Trajectory, joint: Any, what: Any) -> FloatArray:
    """The part of q, v or tau (T, ..., n) that is of one joint; where it follows another, what it follows with."""
    model, map_of = trajectory.model, trajectory.model.coupling
    if not isinstance(joint, str):
        sample_number(trajectory, (joint, what))  # which it is none of
    known_name(what, "part of a trajectory with joints", ("q", "v", "tau"))
    place = model.q_slice(joint) if what == "q" else model.v_slice(joint)
    array = getattr(trajectory, what)
    if array is None:
        raise ShapeError(f"the trajectory has no {what}: it was made without")
    if what == "tau" or own_joint(model.joint(joint).joint) is model.joint(joint).joint:
        part: FloatArray = array[..., place]
        return part
    before = [own_joint(entry.joint) for entry in model.joints[: model.joint_names.index(joint)]]
    if what == "q":
        own = sum(other.nq for other in before)
        source, ratio, offset = map_of.q_source[own], map_of.q_ratio[own], map_of.q_offset[own]
    else:
        own = sum(other.nv for other in before)
        source, ratio, offset = map_of.v_source[own], map_of.v_ratio[own], 0.0
    followed: FloatArray = array[..., source : source + 1] * ratio + offset
    return followed


def joined(first: Trajectory, second: Trajectory, spacing: float) -> Trajectory:
    """Two trajectories, the second of which begins where the first ends, as one: samples are so far apart (s).

    A sample where the first ended before its time is left out, as if it had gone on.
    """
    parts: dict[str, Any] = {}
    early = int(ends_early(first.time, spacing))
    for name in ("time", "q", "v", *HELD):
        one, other = getattr(first, name), getattr(second, name)
        if len(second) == 1:  # no step was made
            parts[name] = one
        elif one is not None and other is not None:
            parts[name] = np.concatenate([one[:-1], other[early:]])
    rest = {name: getattr(second, name) for name in ("status", "taken", "stopped", "a_last")} | {"labels": first.labels}
    return type(second)(second.model, **parts, **rest, events=first.events + second.events, scene=second.scene)


def ends_early(time: FloatArray, spacing: float) -> bool:
    """Whether the last sample of a run lies where there would be none, so far apart (s), had it gone on."""
    if len(time) < 2 or abs(math.remainder(time[-1], spacing)) <= SAME_PLACE * spacing:
        return False
    usual = time[1] - time[0] if len(time) > 2 else spacing
    return bool(time[-1] - time[-2] < (1.0 - SAME_PLACE) * usual)


def sample_number(trajectory: Trajectory, key: Any) -> int:
    """The number of a sample, from the end if it is negative."""
    if isinstance(key, bool | np.bool_) or not hasattr(key, "__index__") or np.ndim(key):
        hint = "; a state of the batch is trajectory.state(0)" if isinstance(key, tuple) and trajectory.batch else ""
        raise ShapeError(f"no sample {shown(key)}, expected the name of a joint, a whole number or a slice{hint}")
    try:
        return range(len(trajectory))[int(key.__index__())]
    except IndexError:
        raise ShapeError(f"no sample {shown(key)}: there are {len(trajectory)} of them") from None


def sensor_part(trajectory: Trajectory, name: str) -> FloatArray:
    """What a sensor read."""
    parts = sensor_parts(trajectory.model.simulation.sensors)
    if trajectory.sensors is None:
        raise ShapeError("the trajectory has no sensors: it was made without")
    return trajectory.sensors[..., parts[known_name(name, "sensor", parts)]]


def equal_times(trajectory: Trajectory, dt: float | None, rate: float | None) -> NDArray[np.float64]:
    """Times at equal steps, from the first sample on."""
    if (dt is None) == (rate is None):
        raise ShapeError(f"dt is {shown(dt)} and rate is {shown(rate)}, expected one of them")
    step = number(dt, "dt", "a positive time in s", above=0.0) if rate is None else None
    step = step or 1.0 / number(rate, "rate", "a positive number of samples per second", above=0.0)
    if rate is None and step > trajectory.duration > 0.0:
        raise ShapeError(
            f"dt is {step:g} s, longer than the motion of {trajectory.duration:g} s, expected the time of one sample; "
            f"{step:g} samples per second are rate={step:g}"
        )
    count = trajectory.duration / step * (1 + SAME_TIME)
    if not count < MOST_SAMPLES:
        raise ShapeError(f"{trajectory.duration} s in steps of {step} s are more than {MOST_SAMPLES} samples")
    times = np.minimum(trajectory.time[0] + step * np.arange(math.floor(count) + 1), trajectory.time[-1])
    return np.unique(times)
