"""What every back-end offers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["FloatArray", "Kernel"]

FloatArray = NDArray[np.floating[Any]]


class Kernel(Protocol):
    """Something that runs one program on arrays of shape (batch, size)."""

    def __call__(self, inputs: Mapping[str, FloatArray], outputs: Mapping[str, FloatArray], /) -> None:
        """Read the inputs and fill the outputs."""
