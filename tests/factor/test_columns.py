"""The inverse of a sparse matrix and its products with many columns, by branches and by loops."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bough.factor import inverse_and_products, ltdl
from bough.program import evaluate, trace
from bough.tree import Tree
from closeness import assert_close
from tree_strategies import trees


def check(tree: Tree, longest: int, rng: np.random.Generator) -> None:
    """By loops, or by branches, in which columns that are known are not computed."""
    n, pattern = tree.n, tree.pattern() | tree.pattern().T
    H = np.where(pattern, rng.normal(size=(n, n)), 0.0)
    H = H + H.T + 4.0 * n * np.eye(n)
    packed = [H[i - 1, j - 1] for i in range(1, n + 1) for j in tree.path(i)]
    A, B = (np.where(pattern, rng.normal(size=(n, n)), 0.0) for _ in range(2))
    A[:, 0] = 2.0 * H[:, 0]
    factor = ltdl(tree, [float(x) for x in packed])
    matrices = [A.ravel().tolist(), B.ravel().tolist()]
    found = inverse_and_products(tree, factor, matrices, -1.0, {(0, 0): {0: 2.0}}, longest).stacked
    P = np.linalg.inv(H)
    expected = np.stack([-P @ A, -P @ B, P])
    assert_close(np.array([found[k] for k in range(3 * n * n)]).reshape(3, n, n), expected, 1e-12, axes=2)


@pytest.mark.parametrize("longest", [0, 10_000])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_inverse_and_products_on_every_small_tree(n: int, longest: int, rng: np.random.Generator) -> None:
    """Bodies need not be numbered branch by branch."""
    for parents in product(*(range(k + 1) for k in range(n))):
        check(Tree(parents), longest, rng)


@given(tree=trees(most=14).filter(lambda tree: tree.n), seed=st.integers(0, 2**32))
def test_inverse_and_products_on_any_tree(tree: Tree, seed: int) -> None:
    check(tree, 10_000, np.random.default_rng(seed))


def test_every_entry_is_written_and_none_is_cleared_before() -> None:
    """Of columns that are known or zero, too: matrices of large robots are longer to clear than to compute."""
    tree = Tree([0, 1, 1])

    def rule(x: Any) -> dict[str, Any]:
        zeros = [0.0] * tree.n**2
        return {"y": inverse_and_products(tree, x, (zeros, zeros), -1.0, {(0, 0): {0: x[0]}}).stacked}

    program = trace("products", rule, {"x": tree.packed_size})
    assert not any(b.cleared for b in (*program.of_role("output"), *program.of_role("scratch")))
    found = evaluate(program, {"x": [1.0] * tree.packed_size})["y"]
    assert [found[0], *map(abs, found[1 : 2 * tree.n**2])] == [-1.0, *[0.0] * (2 * tree.n**2 - 1)]
    assert not np.signbit(found[1 : 2 * tree.n**2]).any()
