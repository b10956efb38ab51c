"""What is immutable stays so when it is copied or sent to another process."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bough

COPIES: list[Callable[[Any], Any]] = [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]


@pytest.mark.parametrize("copied", COPIES)
def test_copies_of_matrices_factors_trees_and_models(copied: Callable[[Any], Any]) -> None:
    model = bough.trees.topologies.balanced_tree(3)
    q = bough.random(model, 0, size=3)
    matrix, factor = bough.trees.crba_packed(model, q), bough.factorize(model, q)
    again, other = copied(matrix), copied(factor)
    assert not again.values.flags.writeable
    assert not other.packed.flags.writeable
    np.testing.assert_array_equal(again.dense(), matrix.dense())
    np.testing.assert_array_equal(other.solve(np.ones((3, model.nv))), factor.solve(np.ones((3, model.nv))))
    assert copied(model) == model
    assert copied(model.tree) == model.tree
