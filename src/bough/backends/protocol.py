"""What every back-end offers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["FloatArray", "Kernel", "Plain"]

FloatArray = NDArray[np.floating[Any]]


class Kernel(Protocol):
    """Something that runs one program on arrays of shape (batch, size)."""

    def __call__(self, inputs: Mapping[str, FloatArray], outputs: Mapping[str, FloatArray], /) -> None:
        """Read the inputs and fill the outputs."""


@dataclass(frozen=True)
class Plain:
    """What calls straight from Python must meet, and how their results are judged."""

    shapes: tuple[tuple[int, ...], ...]  # of the inputs and of the first output, for one state
    sound: int = 0  # so many inputs, the first ones, are known to be finite
    quaternions: tuple[int, ...] = ()  # where unit quaternions begin in the first input
    pivots: bool = False  # whether the last output holds pivots, each larger than `smallest` times the largest
    smallest: float = 0.0
