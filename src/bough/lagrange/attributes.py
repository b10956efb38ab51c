"""Attributes of kinds of bodies and constraints: fields that say how they are read, numbers read or refused by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bough.errors import ModelError, ShapeError
from bough.model import Inertia
from bough.model.joints.axis import read_axis
from bough.model.joints.reading import read_floats
from bough.reading import shown, whole_number

__all__ = [
    "ORIGIN", "ReadFields", "Vec3", "is_solid", "moments_at_origin", "read_by", "read_direction", "read_function",
    "read_inertia", "read_mass", "read_number", "read_place", "read_space",
]  # fmt: skip

Vec3 = tuple[float, float, float]

ORIGIN = (0.0, 0.0, 0.0)


class ReadFields:
    """A frozen dataclass whose fields are read, or refused by name, as their metadata say: see `read_by`."""

    def __post_init__(self) -> None:
        for one in fields(self):  # type: ignore[arg-type]
            if "read" in one.metadata:
                object.__setattr__(self, one.name, one.metadata["read"](getattr(self, one.name)))


def read_by(read: Callable[..., object], what: str, **further: Any) -> dict[str, Any]:
    """The metadata of a field: the function that reads it, and what errors call it."""
    return {"read": partial(read, what=what, **further)}


def read_place(place: ArrayLike, what: str) -> Vec3:
    """A point of a body: three numbers, or two in a plane."""
    p = read_floats(place, what, "two or three finite numbers (metres)")
    if p.shape not in ((2,), (3,)) or not np.isfinite(p).all():
        raise ModelError(f"{what} is {place!r}, expected two or three finite numbers (metres)")
    x, y, z = (*p.tolist(), 0.0)[:3]
    return (x, y, z)


def read_direction(direction: str | ArrayLike, what: str) -> Vec3:
    """A unit vector, from a name or from two or three numbers."""
    if not isinstance(direction, str):
        a = read_floats(direction, what, "two or three finite numbers")
        direction = [*a.tolist(), 0.0] if a.shape == (2,) else a
    return read_axis(direction, what)


def read_number(
    value: float, what: str, expected: str = "a finite number", above: float = -math.inf, least: float = -math.inf
) -> float:
    """A finite number above one bound, and at or above another."""
    a = read_floats(value, what, expected)
    if a.shape != () or not math.isfinite(a) or not a > above or a < least:
        raise ModelError(f"{what} is {value!r}, expected {expected}")
    return float(a)


def read_function(function: Callable[..., object], what: str) -> Callable[..., object]:
    """A function, or a refusal."""
    if not callable(function):
        raise ModelError(f"{what} is {function!r}, expected a function of scalars")
    return function


def read_mass(mass: float, what: str) -> float:
    """A positive mass."""
    return read_number(mass, f"the mass of {what}", "a positive number (kg)", above=0.0)


def read_inertia(mass: float, com: ArrayLike, inertia: ArrayLike, what: str) -> tuple[float, ...]:
    """Mass, first moment and inertia about the origin of a body with three moments."""
    read_mass(mass, what)
    read = Inertia.of(mass, com, inertia, what)
    if not is_solid(read):
        moments = np.linalg.eigvalsh(read.matrix).tolist()
        raise ModelError(
            f"{what} has the central moments of inertia {moments} kg m², expected three positive ones: "
            "in maximal coordinates every body moves by itself"
        )
    return moments_at_origin(read)


def is_solid(inertia: Inertia) -> bool:
    """Whether there are a mass and three moments of inertia, none of them rounding."""
    central = np.linalg.eigvalsh(inertia.matrix)
    return bool(inertia.mass > 0.0 and central[0] > 64 * np.finfo(np.float64).eps * central[2])


def moments_at_origin(inertia: Inertia) -> tuple[float, ...]:
    """Mass, first moment m c, and inertia about the origin (xx yx yy zx zy zz): 10 numbers."""
    c = np.array(inertia.com)
    J = inertia.matrix + inertia.mass * (c @ c * np.eye(3) - np.outer(c, c))
    lower = [J[r, k] for r in range(3) for k in range(r + 1)]
    return tuple(float(x) + 0.0 for x in (inertia.mass, *(inertia.mass * c), *lower))


def read_space(space: int, what: str) -> int:
    """Two or three dimensions."""
    try:
        return whole_number(space, "space", least=2, most=3)
    except ShapeError:
        raise ModelError(f"the space of {what} has {shown(space)} dimensions, expected 2 or 3") from None
