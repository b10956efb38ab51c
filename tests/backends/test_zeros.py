"""Results that are zero in every state: they are written without being computed, and nothing else is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bough.backends import ReferenceKernel
from bough.backends.llvm import Real
from bough.backends.llvm import plan as plans
from bough.backends.llvm.zeros import without_zeros
from bough.program import Program, Store, simplify, trace
from bough.scalar import Table, array, gather_index, loop
from compiled import Compiled

SIZE = 1203  # more than a page of squares in any width, and a rest


def sparse(x: Any) -> dict[str, Any]:
    """Products here and there, among them a zero with a sign, beside a result without zeros and one of zeros alone."""
    z = [0.0] * SIZE
    for k in (*range(17), 45, *range(300, 340), *range(701, 1100, 9), SIZE - 1):
        z[k] = x[k % 5] * (k + 1.0)
    z[46] = -0.0
    return {"z": z, "full": [x[k] + 1.0 for k in range(5)], "none": [0.0] * 40}


def looped(x: Any) -> dict[str, Any]:
    """Written in a loop at places from a table, the rest zero; and with a loop that states leave early."""
    places = Table("places", np.array([3, 40, 41, 90]))
    z, full = array(SIZE), array(5)

    def turn(k: Any, carry: Any) -> Any:
        z[gather_index(places, k)] = x[k]
        return carry

    def count(k: Any, total: Any) -> Any:
        full[k] = total
        return total + 0.5

    loop(4, turn, ())
    loop(5, count, x[4], until=lambda total: total > 1.0)
    return {"z": z, "full": full}


def stores(program: Program, buffer: str) -> int:
    return sum(isinstance(x, Store) and x.buffer == buffer for x in program.body)


def test_squares_of_zeros_are_not_stored() -> None:
    program = simplify(trace("sparse", sparse, {"x": 5}))
    less, zeros = without_zeros(program, Real("double", 4))
    assert zeros["none"] == tuple(range(0, 40, 4))
    assert "full" not in zeros
    assert 44 not in zeros["z"]  # a product, and a zero with a sign
    assert {16, 20} & {*zeros["z"]} == {20}
    assert stores(program, "z") - stores(less, "z") == 4 * len(zeros["z"])
    assert without_zeros(program, Real("double", 1)) == (program, {})
    assert without_zeros(simplify(trace("looped", looped, {"x": 5}, rolled=True)), Real("double", 4))[1] == {}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("rule", [sparse, looped])
def test_the_same_bits_in_any_batch(rule: Any, dtype: Any, rng: np.random.Generator) -> None:
    program = simplify(trace("rule", rule, {"x": 5}, rolled=rule is looped))
    kernel, reference = Compiled(program), ReferenceKernel(program)
    x = rng.normal(size=(40, 5)).astype(dtype)
    expected = run(program, reference, x)
    for batch in (1, 2, 3, 4, 9, 16, 40):
        for name, found in run(program, kernel, x[:batch]).items():
            np.testing.assert_array_equal(found, expected[name][:batch])
            np.testing.assert_array_equal(np.signbit(found), np.signbit(expected[name][:batch]))


def run(program: Program, kernel: Any, x: Any) -> dict[str, Any]:
    """Results in rows with something between them, which nobody touches."""
    apart = {b.name: np.full((len(x), b.size + 3), np.nan, x.dtype) for b in program.of_role("output")}
    results = {name: rows[:, :-3] for name, rows in apart.items()}
    kernel({"x": x}, results)
    assert all(np.isnan(rows[:, -3:]).all() for rows in apart.values())
    return results


def test_lengthy_programs_give_the_same_bits(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    """Programs that take long to compile are cut into shorter functions, and compiled more quickly."""
    program = simplify(trace("sparse", sparse, {"x": 5}))
    x = rng.normal(size=(9, 5))
    usual = run(program, Compiled(program), x)
    monkeypatch.setattr(plans, "LENGTHY", 10)
    monkeypatch.setattr(plans, "LONGEST", 20)
    assert plans.make_plan(program, {}).lengthy
    for name, found in run(program, Compiled(program), x).items():
        np.testing.assert_array_equal(found, usual[name])
