"""What users pass to a simulation beside arrays of states: models, numbers of steps, precision."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bough.algorithms.soft.states import MOST_STEPS
from bough.errors import ModelError, ShapeError, UnknownNameError
from bough.kernel.arguments import FloatArray, as_floats, is_on_device, out_fits
from bough.kernel.parameters import Packing
from bough.kernel.tensors import is_tensor, known_numbers, library_of, spread
from bough.model import Model, Parameter, Parameters
from bough.model.massless import idle_joints
from bough.model.parameters import PLACED
from bough.reading import instance, known_name, names, number, shown
from bough.simulation.program import FRICTION, OWN, RESTITUTION
from bough.simulation.state import State

__all__ = [
    "ACTING",
    "MOST_SINGLE_STEPS",
    "ONE",
    "are_single",
    "in_single",
    "is_single",
    "per_state",
    "read_acting",
    "read_begin",
    "read_parameters",
    "read_servo",
    "read_start",
    "read_steps",
    "read_times",
    "read_values",
    "require_gains",
    "require_moving",
    "written",
]  # fmt: skip

ACTING = ("tau", "control", "target", "kp", "kd", "f_ext", "parameters")
"""What may act on a mechanism, by name, and the parameters that a simulation was made with."""

MOST_SINGLE_STEPS = 2**24
"""One more than this is the same number in float32."""

UNKNOWN_MEMORY = 2**40
"""Bytes that are taken for the memory of a machine that does not tell."""

ALLOWED = "gravity, friction, restitution, inertial parameters of bodies, armature, losses or stiffness of joints"
"""What may be a parameter of a simulation, in words."""

ONE = np.array(1.0)
"""The number of steps of most calls."""

SINGLE = np.dtype(np.float32)


def read_steps(steps: Any, most: int) -> FloatArray:
    """Numbers of steps, each a whole one."""
    if type(steps) is int and 0 <= steps <= most:
        return ONE if steps == 1 else np.array(steps, np.float64)
    counts = as_floats("steps", steps, ())
    wrong = ~((counts >= 0) & (counts <= most) & (counts == np.floor(counts)))
    if wrong.any():
        place = f"[{', '.join(map(str, np.argwhere(wrong)[0]))}]" if counts.ndim else ""
        raise ShapeError(f"steps{place} is {counts[wrong][0]:.12g}, expected a whole number from 0 to {most}")
    return counts


def read_servo(target: Any, kp: Any, kd: Any, nv: int) -> tuple[Any, Any, Any]:
    """Targets and gains, one for each velocity."""
    if target is None:
        given = "kp" if kp is not None else "kd"
        raise ShapeError(f"{given} is given and target is None, expected a target (..., {nv}) too")
    if kp is None:
        raise ShapeError("target is given and kp is None, expected a stiffness kp")
    return target, _gains(kp, "kp", nv), _gains(kd, "kd", nv)


def _gains(value: Any, name: str, nv: int) -> Any:
    """One for each velocity, from one for all or one for each."""
    if type(value) is np.ndarray and value.ndim and value.dtype.kind in "fiu":  # most often
        require_gains(name, value)
        return value
    several = isinstance(value, list | tuple) or np.ndim(value) > 0
    if several and library_of(value) is np and not is_on_device(value):
        value = as_floats(name, value, ())
        require_gains(name, value)
        return value
    elsewhere = value if several else spread(value, nv)
    if elsewhere is not None:
        numbers = known_numbers(value)
        if numbers is not None:  # what is traced, and what lies on a GPU, is not looked at
            require_gains(name, numbers)
        return elsewhere
    one = (
        0.0
        if value is None
        else number(value, name, "a number that is not negative, or one for each velocity", least=0.0, infinite=True)
    )
    return np.full(nv, one)


def require_gains(name: str, values: FloatArray) -> None:
    """Raise where gains of targets are negative."""
    if values.size and values.item(values.argmin()) < 0.0:
        raise ShapeError(f"{name} is {values.min():g} somewhere, expected gains that are not negative")


def read_acting(given: Mapping[str, Any], kind: str, known: Sequence[str] = ACTING) -> list[Any]:
    """What acts, in the order of the names; None where nothing was given. `kind` is for errors."""
    for name in given:
        known_name(name, kind, known)
    return [given.get(name) for name in known]


def written(out: object, state: State) -> State:
    """A state that was given, with the arrays of another copied to it."""
    if not isinstance(out, State):
        raise ShapeError(f"out is {shown(out)}, expected a bough.simulation.State, as a step returns it")
    for mine, new in zip(out, state, strict=True):
        out_fits(mine, np.shape(new), np.asarray(new).dtype)
    for mine, new in zip(out, state, strict=True):
        mine[...] = new
    return out


def is_single(x: Any) -> bool:
    """Whether something is an array or a tensor of float32, here or on a GPU."""
    if type(x) is np.ndarray:
        return bool(x.dtype == SINGLE)  # not `is`: arrays that were pickled have data types of their own
    return (is_tensor(x) or is_on_device(x)) and str(x.dtype).endswith("float32")


def are_single(*given: Any) -> bool:
    """Whether all that is given, but for lone numbers, are arrays of float32."""
    return all(x is None or is_single(x) or np.ndim(x) == 0 for x in given)


def in_single(values: Sequence[Any]) -> tuple[Any, ...]:
    """Arguments as float32, but for those that are None, tensors or on a GPU."""
    return tuple(x if x is None or is_tensor(x) or is_on_device(x) else np.asarray(x, np.float32) for x in values)


def require_moving(model: Model) -> None:
    """Raise for models in which nothing moves, or something without inertia."""
    if not model.nv:
        raise ShapeError(f"model {model.name!r} has no degrees of freedom, expected a model that moves")
    for joint in idle_joints(model):
        hint = f"bough.load(…, lock=[{joint!r}]) or --lock {joint} fixes it in place"
        raise ModelError(
            f"joint {joint!r} of {model.name!r} moves no inertia, expected bodies with mass or an armature; {hint}"
        )


PARTS = "run it in parts, each with resume=trajectory[-1:] of the one before"
"""What to do with a run that is too long."""


def read_times(duration: Any, rate: Any, dt: float, size: int = 0, instead: str = PARTS) -> tuple[int, int]:
    """How many steps dt (s) a run has, and how many there are between samples, of `size` bytes each: they must fit.

    Where they do not, the message says what to do `instead`.
    """
    length = number(duration, "duration", "a number of seconds that is not negative", least=0.0)
    wanted = min(100.0, 1.0 / dt) if rate is None else number(rate, "rate", "samples per second", above=0.0)
    every = max(1, round(1.0 / max(wanted * dt, 1.0 / MOST_STEPS)))
    total = length / dt
    samples, memory = 1.0 + total / every, memory_here()
    if samples * size > memory:
        raise ShapeError(
            f"duration is {length:g} s: {samples:.3g} samples, one every {every * dt:g} s (dt is {dt:g} s), need "
            f"{samples * size / 1e9:.3g} GB, expected at most the {memory / 1e9:.3g} GB of this machine; keep "
            f"fewer samples per second (a lower rate), or {instead}"
        )
    if total > MOST_STEPS:
        raise ShapeError(f"duration is {total:.3g} steps of {dt:g} s, expected at most {MOST_STEPS}; {PARTS}")
    return round(total), every


def memory_here() -> int:
    """The physical memory of this machine in bytes; more than any has where it is not known."""
    try:
        found = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return UNKNOWN_MEMORY
    return found if found > 0 else UNKNOWN_MEMORY


def read_start(model: Model, q: Any, v: Any) -> tuple[FloatArray, FloatArray]:
    """Configurations and velocities to begin with, of one batch; at rest without v."""
    start = np.array(as_floats("q", q, (model.nq,)))
    velocity = np.zeros((*start.shape[:-1], model.nv), start.dtype)
    if v is not None:
        given = as_floats("v", v, (model.nv,))
        try:
            velocity = velocity + given
        except ValueError:
            shapes = f"q has shape {start.shape} and v {given.shape}"
            raise ShapeError(f"{shapes}, expected batch axes that broadcast") from None
        start = np.broadcast_to(start, (*velocity.shape[:-1], model.nq)).copy()
    return start, velocity


def read_begin(model: Model, q: Any, v: Any, resume: Any) -> tuple[FloatArray, FloatArray]:
    """Where a run begins: with q and v, or where another one ended."""
    from bough.simulation.trajectory import Trajectory
    from bough.simulation.trajectory_files import joints_of, other_joints

    if resume is None:
        if q is None:
            raise ShapeError("q is None, expected a configuration (..., nq) to begin with, or a trajectory to resume")
        return read_start(model, q, v)
    if q is not None or v is not None:
        raise ShapeError(
            "q or v is given with resume, expected only resume: the run continues at the end of that trajectory, for "
            "an additional `duration`"
        )
    last = instance(resume, "resume", Trajectory, ShapeError)
    if what := other_joints(joints_of(last.model), model):
        raise ShapeError(f"resume is a trajectory of another model, {last.model.name!r}: {what}")
    return read_start(model, last.q[-1], last.v[-1])


def per_state(name: str, value: Any, axes: int, batch: tuple[int, ...]) -> FloatArray:
    """What acts, of the last so many axes, one for each state of a batch, which is made flat."""
    array = as_floats(name, value, ())
    try:
        whole = np.broadcast_to(array, (*batch, *array.shape[array.ndim - axes :]))
    except ValueError:
        raise ShapeError(f"{name} has shape {array.shape}, expected ({', '.join(map(str, batch))}, ...)") from None
    return whole.reshape(-1, *whole.shape[len(batch) :])


def read_parameters(model: Model, names_: Any) -> tuple[Parameter, ...]:
    """The numbers that a simulation takes with every state."""
    wanted = names(names_, "parameters")
    try:
        own = Parameters.of(model, [name for name in wanted if not isinstance(name, str) or name not in OWN])
    except UnknownNameError as error:
        raise error.among(OWN) if error.brief.startswith("no parameter ") else error from None
    for p in own:
        if p.what in PLACED or p.what == "rest":
            raise ModelError(f"{p.name!r} cannot be a parameter of a simulation, expected {ALLOWED}")
    found = {p.name: p for p in (*own, FRICTION, RESTITUTION)}
    for name in OWN:
        if wanted.count(name) > 1:
            raise ModelError(f"parameters has {name!r} twice, expected each name once")
    return tuple(found[name] for name in wanted)


def read_values(given: Sequence[Parameter], values: Any) -> FloatArray | None:
    """Values of parameters in one array; None if there are no parameters."""
    if not given:
        if values is not None:
            raise ShapeError(
                "parameters are given, expected a simulation that takes some: bough.Simulation(..., parameters=[...])"
            )
        return None
    packing = Packing(given, "simulation")
    packed = packing(values)
    numbers = known_numbers(packed)
    if numbers is not None:  # what JAX traces, and what lies elsewhere, is looked at by the program alone
        packing.require_physical(numbers)
        if RESTITUTION in given:
            start = sum(p.size for p in given[: given.index(RESTITUTION)])
            most = numbers[..., start].max(initial=0.0)
            if most > 1.0:
                raise ModelError(f"{RESTITUTION.name} is {most:g}, expected a factor from 0 to 1")
    return packed
