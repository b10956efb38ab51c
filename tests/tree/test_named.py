"""Named trees: shape, numbering, and the depth counts the papers give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from bough.errors import TreeError
from bough.tree import Tree, named


def depth_counts(tree: Tree) -> dict[int, int]:
    return dict(Counter(tree.depths.tolist()))


def test_small_members_in_full() -> None:
    assert named.chain(4).parents == (0, 1, 2, 3)
    assert named.star(3).parents == (0, 0, 0)
    assert named.side_branch_chain(3).parents == (0, 1, 1, 3, 3, 5)
    assert named.side_branch_chain(2, 2).parents == (0, 1, 2, 1, 4, 5)
    assert named.balanced_tree(3) == Tree((0, 1, 1, 2, 2, 3, 3))
    assert named.balanced_tree(3, 3).parents == (0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4)
    assert named.grid(3).parents == (0, 1, 2, 1, 4, 5, 4, 7, 8)


def test_families_start_empty() -> None:
    empty = Tree(())
    assert named.chain(0) == named.star(0) == named.side_branch_chain(0) == named.balanced_tree(0) == empty
    assert named.grid(0) == empty
    assert named.balanced_tree(1) == named.grid(1) == Tree((0,))


@pytest.mark.parametrize("m", range(1, 9))
def test_depths_of_families(m: int) -> None:
    assert depth_counts(named.balanced_tree(m)) == {k: 2 ** (k - 1) for k in range(1, m + 1)}
    assert depth_counts(named.grid(m)) == {k: m - abs(k - m) for k in range(1, 2 * m)}
    assert named.balanced_tree(m, 1) == named.side_branch_chain(m, 0) == named.chain(m)


@pytest.mark.parametrize("m", range(1, 9))
def test_grid_edges_join_neighbours(m: int) -> None:
    tree = named.grid(m)
    for body in range(2, m * m + 1):
        (row, column), (up, left) = divmod(body - 1, m), divmod(tree.parent(body) - 1, m)
        assert (row - up, column - left) in {(1, 0), (0, 1)}


@pytest.mark.parametrize("length", [1, 2, 5])
def test_side_branches(length: int) -> None:
    tree = named.side_branch_chain(40, length)
    assert tree.n == 40 * (1 + length)
    assert len(tree.leaves) == 40
    assert tree.height == 40 + length
    # Main chain to all bodies: beta of section 4.2, the limit of D1 against the unbranched chain.
    beta = 1 / (1 + length)
    long = named.side_branch_chain(2000, length)
    assert pytest.approx(beta, rel=0.01) == long.D1 / named.chain(long.n).D1
    assert pytest.approx(beta**2, rel=0.01) == long.D2 / named.chain(long.n).D2


def test_humanoid() -> None:
    tree = named.humanoid()
    assert tree.n == 25
    assert tree.children(1) == (2, 8, 14, 20)
    assert tree.subtree(8) == tree.path(13)[1:] == (8, 9, 10, 11, 12, 13)
    assert depth_counts(tree) == {1: 1} | dict.fromkeys(range(2, 8), 4)
    assert (tree.D0, tree.D1) == (24, 84)
    assert len(named.HUMANOID_DOFS) == 25
    assert sum(named.HUMANOID_DOFS) == 30


def test_humanoid_expanded() -> None:
    tree = named.humanoid().expand(named.HUMANOID_DOFS)
    assert (tree.n, tree.D1, tree.D2) == (30, 219, 1039)
    assert int(tree.pattern().sum()) == 468
    assert int((~tree.pattern()).sum()) == 432
    assert round(1 - tree.density, 2) == 0.48


def test_humanoid_chain() -> None:
    tree = named.humanoid_chain()
    assert (tree.n, tree.D0, tree.D1) == (25, 24, 300)
    expanded = tree.expand(named.HUMANOID_DOFS)
    assert (expanded.n, expanded.D1, expanded.D2) == (30, 435, 4495)


@pytest.mark.parametrize(
    ("build", "arguments", "message"),
    [
        (named.chain, (-1,), "n is -1"),
        (named.chain, (2.0,), r"n is 2\.0"),
        (named.star, (True,), "n is True"),
        (named.side_branch_chain, (-1,), "m is -1"),
        (named.side_branch_chain, (1, -2), "length is -2"),
        (named.balanced_tree, (-1,), "levels is -1"),
        (named.balanced_tree, (2, 0), "arity is 0, expected an integer of at least 1"),
        (named.grid, ("3",), "m is '3'"),
    ],
)
def test_refused_parameters(build: Callable[..., Tree], arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(TreeError, match=message):
        build(*arguments)
