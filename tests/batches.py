"""Matrices and vectors of batches of states."""

from __future__ import annotations

import numpy as np

__all__ = ["sizes", "times", "transposed"]


def sizes(*arrays: np.ndarray, axes: int = 1) -> np.ndarray:
    """The largest entry of each state among some arrays whose last `axes` axes belong to one state."""
    last = tuple(range(-axes, 0))
    return np.asarray(np.max([np.abs(a).max(axis=last, initial=0.0) for a in arrays], axis=0))


def times(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A x."""
    return np.asarray((A @ x[..., None])[..., 0])


def transposed(A: np.ndarray) -> np.ndarray:
    """Aᵀ."""
    return np.swapaxes(A, -1, -2)
