"""What users pass to a simulation beside arrays of states: models, numbers of steps, precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bough.errors import ModelError, ShapeError
from bough.kernel.arguments import FloatArray, as_floats, is_on_device
from bough.model import Model
from bough.model.massless import idle_joints
from bough.reading import number

__all__ = ["MOST_SINGLE_STEPS", "are_single", "in_single", "is_single", "read_servo", "read_steps", "require_moving"]

MOST_SINGLE_STEPS = 2**24
"""One more than this is the same number in float32."""

ONE = np.array(1.0)
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
    return target, _gains(kp, "kp", nv), _gains(kd, "kd", nv)


def _gains(value: Any, name: str, nv: int) -> Any:
    """One for each velocity, from one for all or one for each."""
    if np.ndim(value):
        return value
    one = 0.0 if value is None else number(value, name, "a number, or one for each velocity", infinite=True)
    return np.full(nv, one)


def is_single(x: Any) -> bool:
    """Whether something is an array of float32, here or on a GPU."""
    return (type(x) is np.ndarray and x.dtype is SINGLE) or (is_on_device(x) and str(x.dtype).endswith("float32"))


def are_single(*given: Any) -> bool:
    """Whether all that is given, but for lone numbers, are arrays of float32."""
    return all(x is None or is_single(x) or np.ndim(x) == 0 for x in given)


def in_single(values: Sequence[Any]) -> tuple[Any, ...]:
    """Arguments, those that are not None, as float32."""
    return tuple(x if x is None or is_on_device(x) else np.asarray(x, np.float32) for x in values)


def require_moving(model: Model) -> None:
    """Raise for models in which nothing moves, or something without inertia."""
    if not model.nv:
        raise ShapeError(f"model {model.name!r} has no degrees of freedom, expected something that moves")
    for joint in idle_joints(model):
        raise ModelError(
            f"joint {joint!r} of {model.name!r} moves no inertia, expected bodies with mass or an armature"
        )
