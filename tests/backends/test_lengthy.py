"""Programs that take long to compile are cut into shorter functions and compiled more quickly: the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bough.backends.llvm import plan as plans
from bough.program import simplify, trace
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
