"""Results that hold values several times, and zeros: the same bits in any batch, with rows that have room between."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bough
from bough.program import Loop, Program, evaluate, simplify, trace, write_once
from bough.scalar import array, loop

SIZE = 37
"""Of the result: not a multiple of the lanes of any processor."""

CONSTANTS = {4: 1.5, 5: -0.0}


def scattered(x: Any) -> dict[str, Any]:
    """Two products in many places, a few constants, and zeros, of which some fill a vector."""
    y: list[Any] = [0.0] * SIZE
    for k in (0, 2, 3, 7, 20, 21, 36):
        y[k] = x[0] * x[1] if k % 2 else x[0] + x[1]
    for k, value in CONSTANTS.items():
        y[k] = value
    return {"y": y}


def made() -> Program:
    return simplify(trace("scattered", scattered, {"x": 2}))


def test_what_is_written_once() -> None:
    program = made()
    once = write_once(program)
    (values,), (places,) = once.of_role("scratch"), once.of_role("table")
    assert values.size == 5  # a sum, a product, zero and the constants, of which one is not quite zero
    assert places.data is not None
    assert places.data.shape == (SIZE,)
    assert len({*places.data[[1, 6, 8, 35]].tolist()}) == 1
    assert places.data[5] != places.data[1]
    x = {"x": [0.3, -0.7]}
    assert evaluate(once, x) == evaluate(program, x)
    different = simplify(trace("different", lambda x: {"y": [x[0], x[1], x[0] + x[1], 0.0]}, {"x": 2}))
    assert write_once(different) is different


def test_results_of_loops_are_left_alone() -> None:
    def rule(x: Any) -> dict[str, Any]:
        y = array(8)

        def turn(k: Any, carry: Any) -> Any:
            y[k] = x[0]
            return carry

        loop(8, turn, ())
        return {"y": y}

    program = simplify(trace("loop", rule, {"x": 1}, rolled=True))
    assert any(isinstance(x, Loop) for x in program.body)
    assert write_once(program) is program


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_same_bits_in_any_batch(compiled: None, rng: np.random.Generator, dtype: Any) -> None:
    from bough.backends import Argument
    from bough.kernel.function import Function

    function = Function("scattered", [Argument("x", (2,))], [Argument("y", (SIZE,))], scattered, size=2)
    x = rng.normal(size=(35, 2)).astype(dtype)
    each = np.array([function(one) for one in x])
    expected = np.zeros((35, SIZE), dtype)
    expected[:, [3, 7, 21]] = (x[:, :1] * x[:, 1:]).astype(dtype)
    expected[:, [0, 2, 20, 36]] = x[:, :1] + x[:, 1:]
    for k, value in CONSTANTS.items():
        expected[:, k] = value
    np.testing.assert_array_equal(each, expected)
    for states in (1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 35):
        around = np.full((states + 2, SIZE), 7.0, dtype)
        function(x[:states], out=around[1:-1])
        np.testing.assert_array_equal(around[1:-1], expected[:states])
        np.testing.assert_array_equal(np.signbit(around[1:-1]), np.signbit(expected[:states]))
        assert (around[[0, -1]] == 7.0).all()


def test_mass_matrices_in_a_batch_are_those_of_one_state(compiled: None) -> None:
    model = bough.robots.load("quadruped")
    q = bough.random(model, 0, size=13)
    for function in (bough.crba, bough.mass_matrix_inverse):
        np.testing.assert_array_equal(function(model, q), [function(model, one) for one in q])


@pytest.mark.parametrize("places", [(40, 41), (0, 79), (0, 16, 17, 50)])
def test_zeros_first_last_and_in_between(compiled: None, rng: np.random.Generator, places: tuple[int, ...]) -> None:
    from bough.backends import Argument
    from bough.kernel.function import Function

    def rule(x: Any) -> dict[str, Any]:
        return {"y": [x[0] if k in places else 0.0 for k in range(80)]}

    function = Function("between_zeros", [Argument("x", (1,))], [Argument("y", (80,))], rule, size=1)
    x, out = rng.normal(size=(18, 1)), np.full((18, 80), 7.0)
    function(x, out=out)
    np.testing.assert_array_equal(out, np.where(np.isin(np.arange(80), places), x, 0.0))
