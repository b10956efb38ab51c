"""Elimination trees: against the tree a pattern came from, and against fill-in found by brute force."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bough.errors import TreeError
from bough.tree import Tree, elimination_tree
from tree_strategies import trees


@given(trees())
def test_elimination_tree_of_a_tree_is_the_tree(tree: Tree) -> None:
    pairs = [(i, j) for i in range(1, tree.n + 1) for j in tree.ancestors(i)]
    assert elimination_tree(tree.n, pairs) == tree
    random.Random(tree.n).shuffle(pairs)
    assert elimination_tree(tree.n, pairs + pairs) == tree


@given(st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.tuples(*[st.integers(1, n)] * 2)))))
def test_elimination_tree_holds_the_fill_in(case: tuple[int, set[tuple[int, int]]]) -> None:
    n, pairs = case
    lower = {(i, j) for i, j in pairs if i > j}
    filled = set(lower)
    for k in range(n, 0, -1):
        columns = [j for i, j in filled if i == k]
        filled |= {(i, j) for i in columns for j in columns if i > j}
    tree = elimination_tree(n, lower)
    assert tree.parents == tuple(max((j for i, j in filled if i == k), default=0) for k in range(1, n + 1))
    pattern = tree.pattern()
    assert all(pattern[i - 1, j - 1] for i, j in filled)


@pytest.mark.parametrize(
    ("n", "entries", "message"),
    [
        (-1, [], "n is -1"),
        (2.0, [], r"n is 2\.0"),
        (3, [(2, 1), (2, 2)], r"entry 2 is \(2, 2\)"),
        (3, [(1, 2)], r"entry 1 is \(1, 2\)"),
        (3, [(4, 1)], r"entry 1 is \(4, 1\)"),
        (3, [(1, 0)], r"entry 1 is \(1, 0\)"),
        (3, [(2, 1.0)], r"entry 1 is \(2, 1\.0\)"),
        (3, [(3, 2, 1)], "expected a pair"),
        (3, [5], "expected a pair"),
    ],
)
def test_refused_by_elimination_tree(n: Any, entries: Any, message: str) -> None:
    with pytest.raises(TreeError, match=message):
        elimination_tree(n, entries)


def test_large_patterns_are_handled() -> None:
    n = 100_000
    assert elimination_tree(n, ((i, i - 1) for i in range(2, n + 1))) == Tree(range(n))
    arrow = elimination_tree(n, ((i, 1) for i in range(2, n + 1)))
    assert arrow.children(1) == tuple(range(2, n + 1))
    assert elimination_tree(n, ((n, j) for j in range(1, n))) == Tree(range(n))
