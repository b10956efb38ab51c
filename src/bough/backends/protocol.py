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
    """What a plain call must meet: unit quaternions in the first input begin here; the last output holds pivots."""

    quaternions: tuple[int, ...]
    pivots: bool
    smallest: float  # pivot relative to the largest
