"""Copies of arrays of scalars, so that in-place algorithms leave their arguments alone."""

from __future__ import annotations

from bough.scalar import Array, Index, array, loop

__all__ = ["copied"]


def copied(values: Array, size: int) -> Array:
    """A fresh array with the same scalars."""
    result = array(size)

    def copy(k: Index, carry: tuple[()]) -> tuple[()]:
        result[k] = values[k]
        return carry

    loop(size, copy, ())
    return result
