"""D₁ and D₂ with each body as root, beside trees that are really hung from it."""

from __future__ import annotations

import numpy as np
import pytest

import bough
from bough.tree import Tree, named
from bough.tree.roots import costs_by_root
from model_strategies import random_model


@pytest.mark.parametrize("seed", range(20))
def test_every_root_of_random_trees(seed: int) -> None:
    model = random_model(np.random.default_rng(seed), 9, mimic=False, floating=True)
    costs = costs_by_root(model.tree, [entry.joint.nv for entry in model.joints])
    for link, cost in zip(model.body_names, costs, strict=True):
        tree = model.rerooted(link).inner.dof_tree
        assert cost == (tree.D1, tree.D2)


def test_other_trees_on_the_base_stay() -> None:
    # 1 - 2 - 3, and 4 - 5 beside it
    assert costs_by_root(Tree((0, 1, 2, 0, 4)), [1] * 5) == [(4, 5), (3, 3), (4, 5), (4, 5), (4, 5)]
    assert costs_by_root(Tree(()), []) == []


@pytest.mark.parametrize("k", [1, 4, 12])
def test_a_chain_hung_from_its_middle(k: int) -> None:
    """A floating end and 2k joints: two branches of k instead of one of 2k."""
    n = 2 * k
    costs = costs_by_root(named.chain(n + 1), [6] + [1] * n)
    ends = (n * (n - 1) // 2 + 6 * n + 15, sum(d * (d - 1) // 2 for d in range(1, 7 + n)))
    middle = (k * (k - 1) + 6 * n + 15, sum(2 * (d * (d - 1) // 2) for d in range(7, 7 + k)) + 35)
    assert costs[0] == costs[-1] == ends
    assert costs[k] == middle == min(costs)


def test_time_grows_with_the_number_of_bodies() -> None:
    n = 10_000
    costs = costs_by_root(named.chain(n), [1] * n)
    assert costs[0] == (bough.trees.Tree(range(n)).D1, bough.trees.Tree(range(n)).D2)
    assert min(range(n), key=lambda i: costs[i]) in (n // 2 - 1, n // 2)
