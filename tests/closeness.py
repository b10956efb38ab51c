"""Relative errors of results, one state at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["assert_close", "relative_error"]


def relative_error(got: Any, want: Any, axes: int = 1, scale: Any = 0.0) -> float:
    """The largest error of any state: that of its worst entry, relative to its largest one.

    The last `axes` axes belong to one state. `scale` (a number, or one per state) is the size of what the result is the
    small difference of, where there is such a thing.
    """
    a, b = np.asarray(got, dtype=float), np.asarray(want, dtype=float)
    assert a.shape == b.shape, f"shapes {a.shape} and {b.shape}"
    if a.size == 0:
        return 0.0
    last = tuple(range(-axes, 0))
    error, size = np.abs(a - b).max(axis=last), np.maximum(np.abs(b).max(axis=last), scale)
    return float(np.max(np.where(error == 0.0, 0.0, error / np.where(size == 0.0, 1e-300, size))))


def assert_close(got: Any, want: Any, tolerance: float, axes: int = 1, scale: Any = 0.0) -> None:
    """Refuse results whose relative error exceeds the tolerance."""
    error = relative_error(got, want, axes, scale)
    assert error <= tolerance, f"relative error {error:.3g}, expected at most {tolerance:g}"
