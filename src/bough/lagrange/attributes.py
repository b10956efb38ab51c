"""Attributes of kinds of bodies and constraints: fields that say how they are read, numbers read or refused by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bough.errors import ModelError
from bough.model import Inertia
from bough.model.joints.axis import read_axis
from bough.model.joints.reading import read_floats
from bough.reading import shown, whole_number

__all__ = [
    "ORIGIN", "ReadFields", "Vec3", "a_direction", "a_function", "a_number", "a_place", "a_space", "is_solid",
    "moments_at_origin", "read_by", "read_direction", "read_inertia", "read_mass", "read_number", "read_space",
    "read_vector",
]  # fmt: skip

Vec3 = tuple[float, float, float]

ORIGIN = (0.0, 0.0, 0.0)


class ReadFields:
    """A frozen dataclass whose fields are read, or refused by name, as their metadata say: see `read_by`.

    None stays if it is the default.
    """

    def __post_init__(self) -> None:
        for one in fields(self):  # type: ignore[arg-type]
            value = getattr(self, one.name)
            if "read" in one.metadata and not (value is None and one.default is None):
                object.__setattr__(self, one.name, one.metadata["read"](value))


def read_by(read: Callable[..., object], what: str, **further: Any) -> dict[str, Any]:
    """The metadata of a field: the function that reads it, and what errors call it."""
    return {"read": partial(read, what=what, **further)}


def read_vector(
    value: ArrayLike, what: str, expected: str = "two or three finite numbers (metres)", sizes: tuple[int, ...] = (2, 3)
) -> Vec3:
    """Three finite numbers, of which two are enough in a plane; by default a point of a body."""
    a = read_floats(value, what, expected)
    if a.ndim != 1 or a.size not in sizes or not np.isfinite(a).all():
        raise ModelError(f"{what} is {value!r}, expected {expected}")
    x, y, z = (*a.tolist(), 0.0)[:3]
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


def read_space(space: int, what: str) -> int:
    """Two or three dimensions."""
    try:
        return whole_number(space, "space", least=2, most=3, error=ModelError)
    except ModelError:
        raise ModelError(f"the space of {what} has {shown(space)} dimensions, expected 2 or 3") from None


# what fields are read as
a_direction, a_function, a_number = (partial(read_by, read) for read in (read_direction, read_function, read_number))
a_place, a_space = partial(read_by, read_vector), partial(read_by, read_space)


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
    lower = inertia.about_origin()[np.tril_indices(3)]
    return tuple(float(x) + 0.0 for x in (inertia.mass, *(inertia.mass * np.array(inertia.com)), *lower))
