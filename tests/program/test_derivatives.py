"""Derivatives of programs: both modes on everything a program can hold, against dual numbers and against each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bough.backends import ReferenceKernel
from bough.program import Program, count, pulled_back, pushed_forward, simplify, trace
from bough.scalar import absolute, atan2, derivative, maximum, minimum, repeat, select, sqrt
from compiled import Compiled
from conformance import CASES, sample

Floats = np.ndarray[Any, np.dtype[np.float64]]

EPS = 64 * np.finfo(float).eps


def sizes_of(program: Program, role: str) -> dict[str, int]:
    return {b.name: b.size for b in program.of_role(role)}


def forward(program: Program, rolled: bool, directions: int = 1) -> Program:
    """Takes inputs x and rates dx0, dx1, …; gives outputs y and rates dy0, dy1 and so on."""
    given, wanted = sizes_of(program, "input"), list(sizes_of(program, "output"))

    def rule(**x: Any) -> Any:
        rates = {name: [x[f"d{name}{k}"] for k in range(directions)] for name in given}
        outputs, found = pushed_forward(program, {name: x[name] for name in given}, rates, wanted)
        return {**outputs, **{f"d{name}{k}": found[name][k] for name in wanted for k in range(directions)}}

    rates = {f"d{name}{k}": size for name, size in given.items() for k in range(directions)}
    return simplify(trace(f"rates of {program.name}", rule, {**given, **rates}, rolled=rolled))


def reverse(program: Program, rolled: bool, w: str = "w", g: str = "g") -> Program:
    """Takes inputs x and weights of outputs wy; gives outputs y and gradients gx."""
    given, weighted = sizes_of(program, "input"), sizes_of(program, "output")

    def rule(**x: Any) -> Any:
        weights = {name: x[f"{w}{name}"] for name in weighted}
        outputs, found = pulled_back(program, {name: x[name] for name in given}, weights, list(given))
        return {**outputs, **{f"{g}{name}": found[name] for name in given}}

    weights = {f"{w}{name}": size for name, size in weighted.items()}
    return simplify(trace(f"gradient of {program.name}", rule, {**given, **weights}, rolled=rolled))


def evaluate(program: Program, inputs: dict[str, Any]) -> dict[str, Floats]:
    """Run a program on one state, or on one in each row, on arrays: in those a division by zero is no error."""
    rows = {key: np.atleast_2d(np.asarray(values, dtype=float)) for key, values in inputs.items()}
    states = len(next(iter(rows.values())))
    outputs = {key: np.empty((states, size)) for key, size in sizes_of(program, "output").items()}
    ReferenceKernel(program)(rows, outputs)
    single = np.ndim(next(iter(inputs.values()))) == 1
    return {key: values[0] if single else values for key, values in outputs.items()}


def rate_by_dual_numbers(function: Callable[..., Any], x: Floats, dx: Floats) -> Floats:
    def flat(t: Any) -> Any:
        return tuple(tuple(values[k] for k in range(len(values))) for values in function(x=t).values())

    rates = derivative(flat, tuple(x.tolist()), tuple(dx.tolist()))[1]
    return np.array([rate for part in rates for rate in part], dtype=float)


@pytest.mark.parametrize("rolled", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_both_modes_on_every_control_structure(name: str, rolled: bool, rng: np.random.Generator) -> None:
    function, given = CASES[name]
    program = trace(name, function, given, rolled=rolled)
    weighted = sizes_of(program, "output")
    along, back = forward(program, rolled, 2), reverse(program, rolled)
    for x in sample(rng, 3):
        dx = rng.normal(size=(2, 6))
        w = {f"w{key}": rng.normal(size=size) for key, size in weighted.items()}
        plain = evaluate(program, {"x": x})
        moved = evaluate(along, {"x": x, "dx0": dx[0], "dx1": dx[1]})
        pulled = evaluate(back, {"x": x, **w})
        for key in weighted:
            np.testing.assert_allclose(moved[key], plain[key], rtol=EPS)
            np.testing.assert_allclose(pulled[key], plain[key], rtol=EPS)
        for k in range(2):
            rates = np.concatenate([moved[f"d{key}{k}"] for key in weighted])
            expected = rate_by_dual_numbers(function, x, dx[k])
            np.testing.assert_allclose(rates, expected, rtol=EPS, atol=EPS * (1 + np.abs(expected).max()))
            sums = np.concatenate([w[f"w{key}"] for key in weighted]) @ rates
            np.testing.assert_allclose(dx[k] @ pulled["gx"], sums, rtol=16 * EPS, atol=16 * EPS)


@pytest.mark.parametrize("name", ["carried", "switched", "newton_sqrt", "frozen_storage"])
def test_states_of_a_batch_run_back_by_themselves(name: str, rng: np.random.Generator) -> None:
    """As machine code, lanes whose loops end sooner than others have the gradients they have alone."""
    function, given = CASES[name]
    program = reverse(trace(name, function, given, rolled=True), rolled=True)
    x = {key: rng.uniform(-2.0, 2.0, (11, size)) for key, size in sizes_of(program, "input").items()}
    found = {key: np.empty((11, size)) for key, size in sizes_of(program, "output").items()}
    Compiled(program)(x, found)
    for k in range(11):
        alone = evaluate(program, {key: values[k] for key, values in x.items()})
        np.testing.assert_allclose(found["gx"][k], alone["gx"], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("rolled", [False, True])
@pytest.mark.parametrize("name", ["nested", "switched", "newton_sqrt"])
def test_derivatives_have_derivatives(name: str, rolled: bool, rng: np.random.Generator) -> None:
    """The second derivative of a weighted sum is symmetric, and each mode may be applied to the other."""
    function, given = CASES[name]
    program = trace(name, function, given, rolled=rolled)
    back = reverse(program, rolled)
    twice = forward(back, rolled), reverse(back, rolled, "W", "G")
    x = sample(rng, 1)[0]
    inputs = {"x": x, **{f"w{key}": np.full(size, 0.7) for key, size in sizes_of(program, "output").items()}}
    none = {f"W{key}": np.zeros(size) for key, size in sizes_of(back, "output").items()}
    still = {f"d{key}0": np.zeros(size) for key, size in sizes_of(back, "input").items()}
    units = np.eye(6)
    rows = np.array([evaluate(twice[0], {**inputs, **still, "dx0": unit})["dgx0"] for unit in units])
    columns = np.array([evaluate(twice[1], {**inputs, **none, "Wgx": unit})["Gx"] for unit in units])
    assert np.abs(rows).max() > 0.0
    np.testing.assert_allclose(rows, rows.T, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(rows, columns, rtol=1e-9, atol=1e-9)


def test_a_loop_within_straight_line_code_runs_back() -> None:
    """`repeat` stays a loop, reads values from outside, and its gradient knows them."""

    def rule(x: Any) -> Any:
        scale = x[0] * x[1]
        end, turns = repeat(40, lambda _, c: (c[0] * scale, c[1] + 1.0), (x[2], 0.0), until=lambda c: c[0] > 3.0)
        return {"y": [end * x[3], turns]}

    program = trace("growth", rule, {"x": 4})
    back = reverse(program, rolled=False)
    assert len(str(back).splitlines()) < 200  # the loop is one
    x = np.array([1.1, 1.05, 0.5, 2.0])
    found = evaluate(back, {"x": x, "wy": [1.0, 0.0]})
    n = found["y"][1]
    y = found["y"][0]
    np.testing.assert_allclose(found["gx"], [n * y / x[0], n * y / x[1], y / x[2], y / x[3]], rtol=1e-13)


def test_what_a_loop_hands_on_to_nobody_has_no_rate() -> None:
    """Its other results have."""

    def rule(x: Any) -> Any:
        first, second = repeat(3, lambda _, c: (c[0] * c[1], c[1] + x[1]), (x[0], x[1]))
        return {"y": [first], "z": [second]}

    program = trace("unequal", rule, {"x": 2})

    def rate(x: Any, dx: Any) -> Any:
        return {"dy": pushed_forward(program, {"x": x}, {"x": [dx]}, ["y"])[1]["y"][0]}

    found = evaluate(trace("rate", rate, {"x": 2, "dx": 2}), {"x": [2.0, 0.5], "dx": [1.0, 1.0]})
    np.testing.assert_allclose(found["dy"], [6 * 0.5**3 + 2.0 * 18 * 0.5**2], rtol=1e-14)  # y = x₀ · 6 x₁³


def test_what_does_not_vary_costs_nothing() -> None:
    """Constants fold, and what no input in question enters has no rates."""

    def rule(x: Any, p: Any) -> Any:
        return {"y": [(p[0] * 2.0 + p[1] * p[1]) * x[0] + 3.0]}

    program = trace("linear", rule, {"x": 1, "p": 2})

    def gradient(x: Any, p: Any, w: Any) -> Any:
        return {"g": pulled_back(program, {"x": x, "p": p}, {"y": w}, ["x"])[1]["x"]}

    def by_hand(p: Any, w: Any) -> Any:
        return {"g": [(p[0] * 2.0 + p[1] * p[1]) * w[0]]}

    made = simplify(trace("gradient", gradient, {"x": 1, "p": 2, "w": 1}))
    assert count(made) == count(simplify(trace("by hand", by_hand, {"p": 2, "w": 1})))


CORNERS: dict[str, tuple[Callable[..., Any], list[float], list[float]]] = {
    "magnitude": (lambda x: absolute(x[0]) + 0.0 * x[1], [0.0, 0.0], [1.0, 0.0]),
    "minimum": (lambda x: minimum(x[0], x[1]), [2.0, 2.0], [0.0, 1.0]),
    "maximum": (lambda x: maximum(x[0], x[1]), [2.0, 2.0], [1.0, 0.0]),
    "root of zero": (lambda x: sqrt(x[0]) + x[1], [0.0, 1.0], [0.0, 1.0]),
    "length of zero": (lambda x: sqrt(x[0] * x[0] + x[1] * x[1]), [0.0, 0.0], [0.0, 0.0]),
    "angle of zero": (lambda x: atan2(x[0], x[1]), [0.0, 0.0], [0.0, 0.0]),
    "what is not selected": (lambda x: select(x[0] > 0.0, 1.0 / x[0], x[1]), [0.0, 3.0], [0.0, 1.0]),
}


@pytest.mark.parametrize("name", CORNERS)
def test_corners(name: str) -> None:
    """Where there is no derivative the stated one is taken, by forward mode, and by reverse mode but for what follows.

    Reverse mode gives a branch that is not selected the weight zero, which is not enough where its slope is infinite.
    """
    function, x, expected = CORNERS[name]
    program = trace(name, lambda x: {"y": [function(x)]}, {"x": 2})
    moved = evaluate(forward(program, False, 2), {"x": x, "dx0": [1.0, 0.0], "dx1": [0.0, 1.0]})
    assert [moved["dy0"][0], moved["dy1"][0]] == expected
    if name != "what is not selected":
        assert evaluate(reverse(program, False), {"x": x, "wy": [1.0]})["gx"].tolist() == expected
