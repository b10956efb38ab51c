"""Couplings of mimic joints: the tree of the reduced matrix, chains of followers, and sizes beyond a few joints."""

from __future__ import annotations

import numpy as np
import pytest

import bough
from bough.tree import elimination_tree
from model_strategies import random_model

JOINTS = ["revolute", "prismatic", "spherical", "planar"]


@pytest.mark.parametrize("seed", range(40))
def test_the_reduced_tree_is_that_of_all_entries(seed: int) -> None:
    """The pattern in full: every body with each of its ancestors."""
    model = random_model(np.random.default_rng(seed), 12, JOINTS, mimic=True)
    full, row = model.coupling.full_tree, [int(s) + 1 for s in model.coupling.v_source]
    pairs = [(row[i - 1], row[j - 1]) for i in range(1, full.n + 1) for j in full.ancestors(i)]
    entries = [(max(pair), min(pair)) for pair in pairs if pair[0] != pair[1]]
    assert model.dof_tree == elimination_tree(model.nv, entries)


def chain(length: int, source: dict[int, int]) -> bough.Model:
    """A chain of hinges, some of which follow others."""
    builder = bough.Builder("chain")
    for k in range(length):
        joint = bough.joints.Revolute("x")
        followed = bough.joints.Mimic(joint, f"b{source[k]}", 0.5, 1.0) if k in source else joint
        builder.add(f"b{k}", followed, f"b{k - 1}" if k else "world", mass=1.0, inertia=1.0)
    return builder.build()


def test_long_chains_with_followers() -> None:
    n = 1500
    assert chain(n, {n - 1: 0}).nv == n - 1
    assert chain(n, {k: 0 for k in range(1, n)}).nv == 1
    followers = chain(n, {k: k - 1 for k in range(1, n)})
    assert followers.nv == 1
    assert np.allclose(followers.coupling.q_ratio[:4], [1.0, 0.5, 0.25, 0.125])
    assert np.allclose(followers.coupling.q_offset[:4], [0.0, 1.0, 1.5, 1.75])
