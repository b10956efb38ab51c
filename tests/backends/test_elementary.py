"""Sine and cosine of the compiled back-end, against numbers of any precision."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

from bough.program import trace
from bough.scalar import cos, sin
from compiled import Compiled


@pytest.fixture(scope="module")
def kernel() -> Compiled:
    program = trace("sines", lambda x: {"y": [sin(x[0]), cos(x[0])]}, {"x": 1})
    return Compiled(program)


def run(kernel: Compiled, x: Any) -> Any:
    y = np.empty((x.size, 2), x.dtype)
    kernel({"x": x[:, None]}, {"y": y})
    return y


def arguments(dtype: type, largest: float) -> Any:
    """Random angles of all sizes, and the numbers nearest to multiples of π/2, where the reduction is hardest."""
    rng = np.random.default_rng(0)
    sizes = 10.0 ** rng.uniform(-20, np.log10(largest), 3000) * rng.choice([-1, 1], 3000)
    multiples = rng.integers(1, int(largest / np.pi * 2), 1500) * (np.pi / 2)
    near = np.concatenate([multiples.astype(dtype), np.nextafter(multiples.astype(dtype), dtype(0))])
    special = np.array([0.0, -0.0, 1e-300 if dtype is np.float64 else 1e-38, np.pi, -np.pi / 2, np.pi / 4, largest])
    return np.concatenate([sizes.astype(dtype), near, special.astype(dtype)])


@pytest.mark.parametrize(("dtype", "largest"), [(np.float64, 1e9), (np.float32, 1e5)])
def test_right_to_two_units_in_the_last_place(kernel: Compiled, dtype: type, largest: float) -> None:
    x = arguments(dtype, largest)
    y = run(kernel, x)
    with mpmath.workdps(60):
        for column, function in enumerate((mpmath.sin, mpmath.cos)):
            exact = [function(mpmath.mpf(float(a))) for a in x]
            spacing = np.spacing(np.abs(np.array([float(e) for e in exact])).astype(dtype))
            errors = [
                abs(mpmath.mpf(float(b)) - e) / float(s) for b, e, s in zip(y[:, column], exact, spacing, strict=True)
            ]
            assert max(errors) <= 2


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_right_beyond_and_not_a_number_where_there_is_none(kernel: Compiled, dtype: type) -> None:
    x = np.array([1e12, 0.5, 1e16, 1e18, -1e30, np.inf, -np.inf, np.nan, 2.5] * 5, dtype)
    y = run(kernel, x).reshape(5, 9, 2)
    with mpmath.workdps(60):
        for k in (0, 1, 2, 3, 4, 8):
            exact = [float(f(mpmath.mpf(float(x[k])))) for f in (mpmath.sin, mpmath.cos)]
            np.testing.assert_allclose(y[:, k], np.tile(exact, (5, 1)), rtol=4 * np.finfo(dtype).eps)
    assert np.isnan(y[:, 5:8]).all()
    np.testing.assert_array_equal(run(kernel, x[1:2])[0], y[0, 1])  # whatever the neighbours are


def test_signs_of_zero_and_symmetry(kernel: Compiled) -> None:
    x = np.random.default_rng(1).normal(size=100) * 50
    y, z = run(kernel, x), run(kernel, -x)
    np.testing.assert_array_equal(y[:, 0], -z[:, 0])
    np.testing.assert_array_equal(y[:, 1], z[:, 1])
