"""Forces that were found from A and b: what the public functions return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bough.kernel.arguments import FloatArray

__all__ = ["Solution", "Swept"]


@dataclass(frozen=True, eq=False)
class Solution:
    """Forces found by `pivoting`; immutable.

    Attributes
    ----------
    f
        Forces, or impulses where a is a velocity, shape (*batch, n); always finite.
    a
        A f + b, shape (*batch, n).
    residual
        By how much each row fails, in the units of a, shape (*batch, n): see `lcp.residual`.
    conflicts
        True for rows that cannot be met together, or were not within bounds on the work (`reasons` tells which), shape
        (*batch, n); False everywhere if all conditions are met.
    pivots
        How many pivots it took: how many times a row began or ceased to be at a bound, shape (*batch,).
    reasons
        What went wrong, in words, by the index of each state that has conflicts; () is the index of a single state.
    """

    f: FloatArray
    a: FloatArray
    residual: FloatArray
    conflicts: NDArray[np.bool_]
    pivots: NDArray[np.int64]
    reasons: Mapping[tuple[int, ...], str]

    @property
    def solved(self) -> NDArray[np.bool_]:
        """Whether all conditions are met, shape (*batch,)."""
        return np.logical_not(self.conflicts.any(axis=-1))


@dataclass(frozen=True, eq=False)
class Swept:
    """Forces found by `gauss_seidel`; immutable.

    Attributes
    ----------
    f
        Forces, or impulses where a is a velocity, shape (*batch, n).
    a
        A f + b, shape (*batch, n).
    residual
        By how much each row fails, in the units of a, shape (*batch, n): see `lcp.residual`.
    iterations
        How many sweeps it took, shape (*batch,).
    """

    f: FloatArray
    a: FloatArray
    residual: FloatArray
    iterations: NDArray[np.int64]
