"""What shapes, limits, dry friction and constraints say of the soft law of contact, with MuJoCo's names and meaning.

No dynamics function takes notice of them: they are data for simulation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bough.errors import ModelError
from bough.model.joints.reading import read_floats
from bough.reading import number, shown, whole_number

__all__ = [
    "CONDIMS", "DEFAULT_SURFACE", "FRICTION", "SOFT", "SOLIMP", "SOLREF", "Softness", "Surface", "read_condim",
    "read_numbers", "read_restitution", "read_softness", "require_softness",
]  # fmt: skip

CONDIMS = (1, 3, 4, 6)
FRICTION = (1.0, 0.005, 0.0001)
SOLREF = (0.02, 1.0)
SOLIMP = (0.9, 0.95, 0.001, 0.5, 2.0)
_RANGES = ((0.0, 1.0), (0.0, 1.0), (0.0, math.inf), (0.0, 1.0), (1.0, math.inf))  # of the numbers of solimp


def read_softness(part: Any, what: str) -> dict[str, Any]:
    """solref, solimp and margin of a part, checked."""
    expected = "(time constant, damping ratio), both positive, or (-stiffness, -damping)"
    solref = read_numbers(part.solref, f"{what}: solref", 2, expected)
    if (solref[0] > 0) != (solref[1] > 0):
        raise ModelError(f"{what}: solref is {shown(part.solref)}, expected {expected}")
    expected = "d0, d1 in [0, 1], width not negative, midpoint in [0, 1], power at least 1"
    solimp = read_numbers(part.solimp, f"{what}: solimp", 5, expected)
    if not all(low <= x <= high for x, (low, high) in zip(solimp, _RANGES, strict=True)):
        raise ModelError(f"{what}: solimp is {shown(part.solimp)}, expected {expected}")
    (margin,) = read_numbers(part.margin, f"{what}: margin", 1, "a finite number (m or rad)")
    return {"solref": solref, "solimp": solimp, "margin": margin}


def read_condim(value: object, what: str) -> int:
    """The dimension of a contact force."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value not in CONDIMS:
        raise ModelError(f"{what}: condim is {shown(value)}, expected one of {CONDIMS}")
    return int(value)


def read_restitution(value: object, what: str) -> float:
    """A coefficient of restitution."""
    expected = "a number from 0 to 1"
    e = number(value, f"{what}: restitution", expected, least=0.0, error=ModelError)
    if e > 1.0:
        raise ModelError(f"{what}: restitution is {shown(value)}, expected {expected}")
    return e


def read_numbers(value: Any, what: str, size: int, expected: str, least: float = -math.inf) -> tuple[float, ...]:
    """So many finite numbers, none below `least`."""
    x = np.atleast_1d(read_floats(value, what, expected))
    if x.shape != (size,) or not (np.isfinite(x) & (x >= least)).all():
        raise ModelError(f"{what} is {shown(value)}, expected {size} finite number{'s'[: size != 1]}: {expected}")
    return tuple(float(a) for a in x)


def _put(part: object, values: dict[str, Any]) -> None:
    for name, value in values.items():
        object.__setattr__(part, name, value)


@dataclass(frozen=True)
class Softness:
    """Softness of a limit, of dry friction, of a loop or of a law between coordinates.

    Attributes
    ----------
    solref
        (time constant (s), damping ratio) of the response, both positive; or (-stiffness, -damping), both not positive,
        per unit of effective mass.
    solimp
        (d₀, d₁, width, midpoint, power): the impedance (the fraction of the ideal force) goes from d₀, where the row
        begins to act, to d₁ at a depth of `width` (m or rad). d₀, d₁ and midpoint are in [0, 1], power is at least 1.
    margin
        Distance (m or rad) before a limit at which it begins to act. Friction and equalities have none.
    torquescale
        For loops: factor of rotational errors and rows relative to translational ones.

    Examples
    --------
    >>> from bough.simulation import Softness
    >>> Softness(solref=(0.01, 1)).solref
    (0.01, 1.0)
    """

    solref: tuple[float, ...] = SOLREF
    solimp: tuple[float, ...] = SOLIMP
    margin: float = 0.0
    torquescale: float = 1.0

    def __post_init__(self) -> None:
        expected = "a number that is not negative"
        scale = number(self.torquescale, "softness: torquescale", expected, least=0.0, error=ModelError)
        _put(self, read_softness(self, "softness") | {"torquescale": scale})


SOFT = Softness()
"""MuJoCo's default."""


@dataclass(frozen=True)
class Surface:
    """Contact properties of a shape. `bough.Scene` combines those of two shapes that touch.

    Attributes
    ----------
    friction
        Friction coefficients (sliding, torsional (m), rolling (m)); missing numbers have their defaults.
    condim
        Dimension of the contact force: 1 normal only, 3 with sliding, 4 with torsional, 6 with rolling friction.
    contype, conaffinity
        32-bit masks. Two shapes may touch if the contype of one and the conaffinity of the other share a bit.
    priority
        If two shapes have different priorities, only the shape with the higher one determines the contact parameters.
    solmix
        Nonnegative weight for averaging solref and solimp if priorities are equal.
    solref, solimp
        Softness of the contact, as in `Softness`.
    margin, gap
        Distance (m) at which the contact begins to act, and the additional distance (m) at which it is reported.
    restitution
        Coefficient of restitution from 0 to 1, for hard contact only. Of two shapes, the larger value counts.

    Examples
    --------
    >>> from bough.simulation import Surface
    >>> Surface(friction=0.6).friction
    (0.6, 0.005, 0.0001)
    """

    friction: tuple[float, ...] = FRICTION
    condim: int = 3
    contype: int = 1
    conaffinity: int = 1
    priority: int = 0
    solmix: float = 1.0
    solref: tuple[float, ...] = SOLREF
    solimp: tuple[float, ...] = SOLIMP
    margin: float = 0.0
    gap: float = 0.0
    restitution: float = 0.0

    def __post_init__(self) -> None:
        what = "surface"
        given = np.atleast_1d(read_floats(self.friction, f"{what}: friction", "one to three numbers"))
        if given.ndim != 1 or not 1 <= given.size <= 3 or not (np.isfinite(given) & (given >= 0)).all():
            raise ModelError(
                f"{what}: friction is {shown(self.friction)}, expected one to three finite numbers that are not "
                "negative: sliding, torsional, rolling"
            )
        friction = (*(float(x) for x in given), *FRICTION[given.size :])
        masks = {
            name: whole_number(getattr(self, name), f"{what}: {name}", most=2**32 - 1, error=ModelError)
            for name in ("contype", "conaffinity")
        }
        priority = whole_number(self.priority, f"{what}: priority", least=-(2**31), error=ModelError)
        (solmix,) = read_numbers(self.solmix, f"{what}: solmix", 1, "one number that is not negative", least=0.0)
        (gap,) = read_numbers(self.gap, f"{what}: gap", 1, "a finite number (m)")
        soft = read_softness(self, what)
        others: dict[str, Any] = {
            "restitution": read_restitution(self.restitution, what),
            "friction": friction,
            "condim": read_condim(self.condim, what),
            "priority": priority,
        }
        _put(self, soft | masks | others | {"solmix": solmix, "gap": gap})


DEFAULT_SURFACE = Surface()
"""MuJoCo's default."""


def require_softness(value: object, what: str) -> Softness:
    """A `Softness`, or an error that tells what it is for."""
    if not isinstance(value, Softness):
        raise ModelError(f"{what} is {shown(value)}, expected a bough.simulation.Softness")
    return value
