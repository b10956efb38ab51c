"""One suite for all back-ends: every operation and every control structure, compared with the evaluator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from bough.backends import ReferenceKernel
from bough.backends.llvm.plan import LargeLoop, LargeSwitch, make_plan
from bough.backends.reference import ARRAY_RULES
from bough.program import Program, evaluate, fuse, simplify, trace, walk
from bough.program.ir import Apply
from bough.scalar import OPS, Table, absolute, array, gather_index, loop, sin, switch
from compiled import Compiled
from conformance import CASES, sample

Function = Callable[..., Mapping[str, Any]]


def long(x: Any) -> dict[str, Any]:
    """More operations than one function holds."""
    values = [x[k] for k in range(4)]
    for k in range(1500):
        values[k % 4] = (
            values[k % 4] * 0.999 + values[(k + 1) % 4] * (0.001 * (k % 7)) - sin(values[(k + 2) % 4]) * 0.01
        )
    return {"y": values}


def long_loop(x: Any) -> dict[str, Any]:
    """A loop and a switch whose insides are longer than one function holds."""
    kinds = Table("kinds", np.array([0, 1, 1, 0, 1]))

    def turn(k: Any, carry: Any) -> Any:
        def branch(scale: float) -> Callable[[], Any]:
            def run() -> Any:
                a, b = carry
                for i in range(600):
                    a, b = b + a * (scale / (i + 7)), a - b * 0.001
                return (a, b * 0.5)

            return run

        return switch(gather_index(kinds, k), [branch(0.1), branch(-0.2)])

    a, b = loop(5, turn, (x[0], x[1]), reverse=True)
    return {"y": [a, b]}


def long_until(x: Any) -> dict[str, Any]:
    """A loop that ends early, state by state, and is longer than one function holds."""
    history = array(9)

    def turn(k: Any, carry: Any) -> Any:
        a, b = carry
        for i in range(600):
            a, b = a * (1.0 - 1e-3 / (i + 1)), b + a * 0.001
        history[k] = history[k] + b
        return a * 0.5, b

    a, b = loop(9, turn, (4.0 * absolute(x[0]), x[1]), until=lambda carry: carry[0] < 0.5)
    return {"y": [a, b], "history": history}


FUNCTIONS: dict[str, Function] = {name: function for name, (function, _) in CASES.items()}
FUNCTIONS |= {"long": long, "long_loop": long_loop, "long_until": long_until}
KERNELS: dict[str, Callable[[Program], Any]] = {
    "reference": ReferenceKernel,
    "llvm": Compiled,
}
functions = pytest.mark.parametrize("name", FUNCTIONS)
backends = pytest.mark.parametrize("backend", KERNELS)


def made(name: str, rolled: bool) -> Program:
    return simplify(trace("test", FUNCTIONS[name], {"x": 6}, rolled=rolled))


def run(kernel: Any, program: Program, x: Any) -> dict[str, Any]:
    outputs = {b.name: np.full((x.shape[0], b.size), np.nan, x.dtype) for b in program.of_role("output")}
    kernel({"x": x}, outputs)
    return outputs


def test_nothing_is_left_out() -> None:
    assert set(ARRAY_RULES) == set(OPS)
    assert {x.op for x in walk(made("every_operation", False).body) if isinstance(x, Apply)} == set(OPS)
    (large,) = (step for step in make_plan(made("long_loop", True), {}).steps if isinstance(step, LargeLoop))
    assert any(isinstance(step, LargeSwitch) for step in large.steps)
    (ending,) = (step for step in make_plan(made("long_until", True), {}).steps if isinstance(step, LargeLoop))
    assert len(ending.asking) == 1
    assert len(make_plan(made("long", False), {}).steps) > 3


@pytest.mark.parametrize("rolled", [False, True])
@functions
@backends
def test_same_as_the_evaluator(backend: str, name: str, rolled: bool) -> None:
    program = made(name, rolled)
    x = sample(np.random.default_rng(0), 37)
    got = run(KERNELS[backend](program), program, x)
    for k in range(0, len(x), 6 if name.startswith("long") else 1):  # the last one too, which fills no vector
        for output, expected in evaluate(program, {"x": x[k]}).items():
            np.testing.assert_allclose(got[output][k], expected, rtol=1e-12, atol=1e-13)


@functions
def test_fused_programs_mean_the_same(name: str) -> None:
    program = made(name, rolled=True)
    x = sample(np.random.default_rng(0), 5)
    for state in x:
        plain, fused = (evaluate(p, {"x": state}) for p in (program, fuse(program)))
        for output, expected in plain.items():
            np.testing.assert_allclose(fused[output], expected, rtol=1e-12, atol=1e-13)


@backends
def test_fusing_computes_the_bits_of_the_fused_program(backend: str) -> None:
    """What is compiled is the fused program, operation by operation, with nothing fused or reordered besides."""
    program = fuse(made("nested", rolled=True))
    x = sample(np.random.default_rng(0), 20)
    got = run(KERNELS[backend](program), program, x)
    for k in range(len(x)):
        for output, expected in evaluate(program, {"x": x[k]}).items():
            np.testing.assert_array_equal(got[output][k], expected)


@pytest.mark.parametrize(
    "name", sorted(FUNCTIONS.keys() - {"newton_sqrt"})
)  # whose tolerance is below float32's precision
@backends
def test_float32(backend: str, name: str) -> None:
    program = made(name, rolled=True)
    x = sample(np.random.default_rng(1), 37).astype(np.float32)
    exact = run(KERNELS["reference"](program), program, x.astype(np.float64))
    got = run(KERNELS[backend](program), program, x)
    for output in exact:
        assert got[output].dtype == np.float32
        np.testing.assert_allclose(got[output], exact[output], rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@functions
@backends
def test_same_bits_for_any_batch_size_and_position(backend: str, name: str, dtype: type) -> None:
    program = made(name, rolled=True)
    kernel = KERNELS[backend](program)
    x = sample(np.random.default_rng(2), 300).astype(dtype)
    whole = run(kernel, program, x)
    for first, last in ((0, 1), (5, 6), (0, 2), (3, 20), (17, 150), (1, 300)):
        part = run(kernel, program, x[first:last])
        for output in whole:
            np.testing.assert_array_equal(part[output], whole[output][first:last])


@backends
def test_nothing_outside_the_arrays_is_touched(backend: str) -> None:
    program = made("nested", rolled=False)
    kernel = KERNELS[backend](program)
    for states in (1, 2, 3, 7, 8, 9, 15, 16, 17, 33):
        y, total = np.full((states + 2, 8), 7.0), np.full((states + 2, 1), 7.0)
        x = sample(np.random.default_rng(3), states)
        kernel({"x": x}, {"y": y[1:-1], "total": total[1:-1]})
        for frame in (y, total):
            assert (frame[[0, -1]] == 7.0).all()
            assert not (frame[1:-1] == 7.0).any()


@backends
def test_strided_and_broadcast_inputs(backend: str) -> None:
    program = made("every_operation", rolled=False)
    kernel = KERNELS[backend](program)
    wide = sample(np.random.default_rng(4), 120).reshape(40, 18)
    for x in (wide[:, 2:8], wide[::2, 2:8], wide[:, 0:18:3], wide[::-1, :6], np.broadcast_to(wide[0, :6], (40, 6))):
        got = run(kernel, program, x)
        expected = run(kernel, program, np.ascontiguousarray(x))
        for output in got:
            np.testing.assert_array_equal(got[output], expected[output])


@backends
def test_an_empty_batch(backend: str) -> None:
    program = made("nested", rolled=False)
    assert run(KERNELS[backend](program), program, np.empty((0, 6)))["y"].shape == (0, 8)
