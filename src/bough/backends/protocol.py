"""What every back-end offers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.errors import ProgramError

__all__ = ["FloatArray", "Kernel", "Limbs", "Place", "Plain", "require_size"]

FloatArray = NDArray[np.floating[Any]]


class Kernel(Protocol):
    """Something that runs one program on arrays of shape (batch, size)."""

    def __call__(self, inputs: Mapping[str, FloatArray], outputs: Mapping[str, FloatArray], /) -> None:
        """Read the inputs and fill the outputs."""


@dataclass(frozen=True)
class Plain:
    """What calls straight from Python must meet, and how their results are judged."""

    shapes: tuple[tuple[int, ...], ...]  # of the inputs and of the first output, for one state
    sound: int = 0  # so many inputs, the first ones, are not looked at: they are finite, or the results tell
    quaternions: tuple[int, ...] = ()  # where unit quaternions begin in the first input
    pivots: bool = False  # whether the last output holds pivots, each larger than `smallest` times the largest
    smallest: float = 0.0


def require_size(name: str, a: FloatArray, size: int) -> None:
    """Raise unless an array (batch, size) has the size that a program has for it."""
    if a.shape[1] != size:
        raise ProgramError(f"{name!r} has {a.shape[1]} numbers for each state, and the program has {size}")


class Place(NamedTuple):
    """Where an entry of an input belongs: which limb, of which group of limbs built alike, and where in it."""

    group: int
    limb: int
    where: Hashable


Limbs: TypeAlias = Mapping[str, Sequence[Place | None]]
"""For inputs by name, the place of each entry; None for what belongs to no limb. It is a hint, and may be empty."""
