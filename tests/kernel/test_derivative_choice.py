"""The way derivatives are made is the one with fewer operations, whichever it is, and `bough.explain` says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bough
from bough.kernel.choice import weighted
from bough.kernel.derivative_choice import DIFFERENTIATED, cheapest_way, derivatives_of, way_costs
from closeness import assert_close


def chain(*axes: str) -> bough.Model:
    b = bough.Builder("chain")
    for k, axis in enumerate(axes):
        parent = "world" if k == 0 else f"link {k - 1}"
        b.add(f"link {k}", bough.joints.Revolute(axis), parent=parent, at=(0, 0, -0.4), mass=1.0, com=(0, 0, -0.2))
    return b.build()


@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_both_ways_agree_and_the_cheaper_one_is_taken(name: str, rng: np.random.Generator) -> None:
    model = chain("x", "y")
    costs, taken = way_costs(model, name), cheapest_way(model, name)
    assert weighted(costs[taken]) == min(map(weighted, costs.values()))
    state = rng.normal(size=(3, 5, 2))
    results = []
    for way in costs:
        function = derivatives_of(model, ("derivatives", name)) if way == taken else bough.function(name, model)
        assert taken == "recursions" or function.count() == costs[way]
        results.append(function(*state))
    assert_close(results[0], results[1], 1e-12, axes=results[0].ndim - 1)


def test_either_way_may_be_cheaper() -> None:
    assert cheapest_way(chain("x", "y"), "rnea_derivatives") == "automatic"
    assert cheapest_way(chain("y", "y", "y"), "rnea_derivatives") == "recursions"


def test_explain_tells_what_is_taken() -> None:
    rows = _rows(bough.explain(chain("x", "y")))
    assert rows["bough.derivatives.rnea"][-1] == "automatic"
    counted = {name: [int(x) for x in row[:2]] for name, row in rows.items()}
    for name, row in rows.items():
        assert (row[-1] == "automatic") == (counted[name][1] < counted[name][0])
    row = _rows(bough.explain(bough.robots.load("arm")))["bough.derivatives.rnea"]
    assert row[-1] == "recursions"


def _rows(report: Any) -> dict[str, list[str]]:
    lines = (line.split() for line in str(report).splitlines() if line.startswith("  bough.derivatives."))
    return {name: cells for name, *cells in lines}


def test_what_moves_nothing_is_named_by_either_way() -> None:
    b = bough.Builder("light")
    b.add("rod", bough.joints.Revolute("y"))
    with pytest.raises(bough.errors.SingularError, match="'rod'"):
        bough.derivatives.forward_dynamics(b.build(), [0.0], [0.0], [0.0])


def test_a_gradient_costs_at_most_five_times_its_function() -> None:
    """Also of long mechanisms, whose gradient is more code than functions else may have."""
    aba = bough.function("aba", bough.trees.topologies.chain(50))
    assert aba.vjp().count().total < 5 * aba.count().total
