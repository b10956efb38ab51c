"""Programs that take long to compile are cut into shorter functions and compiled more quickly: the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bough.backends.llvm import plan as plans
from bough.program import simplify, trace
from bough.scalar import repeat
from compiled import Compiled


def rule(x: Any) -> dict[str, Any]:
    """Sums of products, each of which needs the one before."""
    sums = [x[0]]
    for k in range(60):
        sums.append(sums[-1] * x[k % 5] + x[(k + 1) % 5])
    return {"y": sums}


def test_lengthy_programs_give_the_same_bits(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    program, x = simplify(trace("sums", rule, {"x": 5})), rng.normal(size=(9, 5))
    found = np.full((2, 9, 61), np.nan)
    Compiled(program)({"x": x}, {"y": found[0]})
    assert not plans.make_plan(program, {}).lengthy
    monkeypatch.setattr(plans, "LENGTHY", 10)
    monkeypatch.setattr(plans, "LONGEST", 20)
    plan = plans.make_plan(program, {})
    assert plan.lengthy
    assert len(plan.steps) > 6
    Compiled(program)({"x": x}, {"y": found[1]})
    np.testing.assert_array_equal(found[0], found[1])


def turning(x: Any) -> dict[str, Any]:
    """A loop that goes on with values in all ways: exchanged, kept, made early, late, or by a loop within.

    Some ends are told before anything is made, by each state for itself.
    """

    def inner(_: Any, carry: tuple[Any, ...]) -> tuple[Any, ...]:
        a, b = carry
        for k in range(12):
            a = a * 0.5 + b * x[k % 5]
        return b, a

    def turn(_: Any, carry: tuple[Any, ...]) -> tuple[Any, ...]:
        a, b, c, d, e, count = carry
        early = a * 0.25 + x[0]
        within = repeat(3, inner, (c, d), until=lambda two: two[0] > 2.0)
        late = a
        for k in range(15):
            late = late * 0.5 + x[k % 5] * b
        both = early + e
        return early, late, within[1], within[0] + a, both, count + 1.0

    def exchanged(_: Any, carry: tuple[Any, ...]) -> tuple[Any, ...]:
        a, b, c = carry
        for k in range(15):
            c = c * 0.5 + x[k % 5] * a
        return b, a, c

    none: Any = 0.0
    found = repeat(9, turn, (x[0], x[1], x[2], x[3], x[4], none), until=lambda carry: carry[1] > 1.5 + carry[5])
    return {"y": [*found, *repeat(5, exchanged, found[:3]), *repeat(4, turn, found)]}


def test_loops_in_parts_go_on_with_the_same_values(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    program, x = simplify(trace("turns", turning, {"x": 5})), rng.normal(size=(33, 5))
    found = np.full((3, 33, 15), np.nan)
    for k, longest in enumerate((1000, 20, 8)):
        monkeypatch.setattr(plans, "LONGEST", longest)
        Compiled(program)({"x": x}, {"y": found[k]})
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    one = np.full((1, 15), np.nan)
    Compiled(program)({"x": x[7:8]}, {"y": one})
    np.testing.assert_array_equal(one[0], found[0, 7])
