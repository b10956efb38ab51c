"""Trees: worked examples of the papers, laws on random trees, and refused input."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bough.errors import FiniteError, PatternError, ShapeError, TreeError
from bough.tree import Tree
from tree_strategies import trees

TREE_1 = Tree((0, 1, 1, 2, 2, 3, 3))
LARGE = 100_000


@st.composite
def scrambled(draw: st.DrawFn) -> tuple[Tree, list[int]]:
    """A tree, and its parents under another numbering, in general not a regular one."""
    tree = draw(trees())
    name = [0, *draw(st.permutations(range(1, tree.n + 1)))]
    parents = [0] * tree.n
    for body, parent in enumerate(tree.parents, 1):
        parents[name[body] - 1] = name[parent]
    return tree, parents


def same_topology(tree: Tree, parents: Any, permutation: Any) -> bool:
    """Whether renaming body k to permutation[k - 1] turns the tree into the parent array."""
    old = [0, *map(int, permutation)]
    return sorted(old[1:]) == list(range(1, len(parents) + 1)) and all(
        parents[old[k] - 1] == old[tree.parent(k)] for k in range(1, tree.n + 1)
    )


# ---- worked examples ---------------------------------------------------------------------------------------------


def test_tree_1_of_the_2005_paper() -> None:
    assert TREE_1.subtree(1) == (1, 2, 3, 4, 5, 6, 7)
    assert TREE_1.subtree(2) == (2, 4, 5)
    assert TREE_1.ancestors(7) == (3, 1)
    assert TREE_1.path(7) == (1, 3, 7)
    assert TREE_1.depths.tolist() == [1, 2, 2, 3, 3, 3, 3]
    assert (TREE_1.n, len(TREE_1), TREE_1.height) == (7, 7, 3)
    assert (TREE_1.D0, TREE_1.D1, TREE_1.D2) == (6, 10, 14)
    assert TREE_1.roots == (1,)
    assert TREE_1.leaves == (4, 5, 6, 7)
    assert TREE_1.expand((2, 2, 1, 1, 1, 3, 1)).parents == (0, 1, 2, 3, 2, 4, 4, 5, 8, 9, 5)


def test_pattern_of_eq_4() -> None:
    rows = ["xxxxxxx", "xx.xx..", "x.x..xx", "xx.x...", "xx..x..", "x.x..x.", "x.x...x"]
    expected = np.array([[c == "x" for c in row] for row in rows])
    np.testing.assert_array_equal(TREE_1.pattern(), expected)


def test_bordered_form_of_eq_7() -> None:
    rows = ["x.x...x", ".xx...x", "xxx...x", "...x.xx", "....xxx", "...xxxx", "xxxxxxx"]
    expected = np.array([[c == "x" for c in row] for row in rows])
    order = TREE_1.bordered_order()
    assert order.tolist() == [7, 6, 3, 5, 4, 2, 1]
    np.testing.assert_array_equal(TREE_1.pattern()[np.ix_(order - 1, order - 1)], expected)


def test_shimanovsky_expansion() -> None:
    tree = Tree((0, 1, 2, 2, 3, 4, 4)).expand((1, 1, 2, 1, 1, 2, 1))
    assert tree.parents == (0, 1, 2, 3, 2, 4, 5, 7, 5)
    # Row 9 is divided at 3 places and updates 6; a dense row 9 at 8 and 36.
    assert tree.ancestors(9) == (5, 2, 1)
    assert tree.depth(9) * (tree.depth(9) - 1) // 2 == 6


def test_examples_of_the_slides() -> None:
    assert Tree([0, 1, 1, 2, 2, 3]).expand([1, 3, 1, 1, 1, 1]).parents == (0, 1, 2, 3, 1, 4, 4, 5)
    tree = Tree([0, 1, 2, 1, 4, 4])
    assert tree.children(1) == (2, 4)
    assert tree.path(3) == (1, 2, 3)
    assert tree.subtree(4) == (4, 5, 6)


def test_joints_without_freedom_add_nothing() -> None:
    assert Tree((0, 1, 2, 2, 4)).expand((2, 0, 1, 0, 1)).parents == (0, 1, 2, 2)
    assert Tree((0, 1, 1)).expand((0, 1, 2)).parents == (0, 0, 2)
    assert Tree((0, 1)).expand((0, 0)) == Tree(())


def test_empty_tree_and_the_base() -> None:
    empty = Tree(())
    assert (empty.n, empty.height, empty.D0, empty.D1, empty.D2, empty.density) == (0, 0, 0, 0, 0, 1.0)
    assert empty.roots == empty.leaves == empty.subtree(0) == empty.children(0) == ()
    assert empty.packed_starts.tolist() == [0]
    assert empty.packed_paths.size == 0
    assert empty.pattern().shape == (0, 0)
    empty.check(np.zeros((0, 0)))
    assert Tree.regular([])[0] == empty.depth_first()[0] == empty
    forest = Tree((0, 0, 2))
    assert (forest.depth(0), forest.children(0), forest.subtree(0)) == (0, (1, 2), (1, 2, 3))


def test_is_a_value() -> None:
    same = Tree(np.array([0, 1, 1, 2, 2, 3, 3], dtype=np.uint8))
    assert same == TREE_1
    assert hash(same) == hash(TREE_1)
    assert same.parents == TREE_1.parents
    assert all(type(parent) is int for parent in same.parents)
    assert Tree((0, 0)) != Tree((0, 1))
    with pytest.raises(dataclasses.FrozenInstanceError):
        TREE_1.parents = (0,)  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        TREE_1.depths[0] = 5
    for twin in (pickle.loads(pickle.dumps(TREE_1)), copy.deepcopy(TREE_1)):
        assert twin == TREE_1
        assert not twin.depths.flags.writeable
    assert eval(repr(TREE_1)) == TREE_1
    assert len(repr(Tree(range(LARGE)))) < 100


# ---- laws --------------------------------------------------------------------------------------------------------


@given(trees())
def test_relations_agree(tree: Tree) -> None:
    bodies = range(1, tree.n + 1)
    for i in bodies:
        path = tree.path(i)
        assert path == (*tree.ancestors(i)[::-1], i)
        assert len(path) == tree.depth(i) == tree.depths[i - 1]
        assert all(tree.parent(child) == parent for parent, child in zip((0, *path), path, strict=False))
        assert tree.subtree(i) == tuple(j for j in bodies if i in tree.path(j))
        assert tree.subtree_sizes[i - 1] == len(tree.subtree(i))
        assert tree.children(i) == tuple(j for j in bodies if tree.parent(j) == i)
        assert (i in tree.leaves) == (not tree.children(i))
        assert (i in tree.roots) == (tree.parent(i) == 0)


@given(trees())
def test_cost_numbers_and_their_bounds(tree: Tree) -> None:
    n, d = tree.n, tree.height
    assert sum(min(1, parent) for parent in tree.parents) == tree.D0
    assert int(tree.pattern().sum()) == n + 2 * tree.D1
    assert int(tree.subtree_sizes.sum()) - n == tree.D1
    # One update per pair of ancestors, a body with itself included.
    assert sum(sum(range(1, len(tree.ancestors(i)) + 1)) for i in range(1, n + 1)) == tree.D2
    assert 0 <= tree.D1 <= min((n * n - n) // 2, n * max(d - 1, 0))
    assert 0 <= tree.D2 <= min((n**3 - n) // 6, n * d * max(d - 1, 0) // 2)
    assert 0 < tree.density <= 1
    if n:
        assert tree.density == pytest.approx(float(tree.pattern().mean()))


@given(trees())
def test_packed_paths_hold_the_paths(tree: Tree) -> None:
    starts, paths = tree.packed_starts, tree.packed_paths
    assert starts.shape == (tree.n + 1,)
    assert paths.shape == (tree.n + tree.D1,) == (starts[-1],)
    for i in range(1, tree.n + 1):
        assert tuple(paths[starts[i - 1] : starts[i]].tolist()) == tree.path(i)


@given(scrambled())
def test_regular_renumbers_any_order(pair: tuple[Tree, list[int]]) -> None:
    original, parents = pair
    tree, permutation = Tree.regular(parents)
    assert same_topology(tree, parents, permutation)
    assert sorted(tree.depths.tolist()) == sorted(original.depths.tolist())


@given(trees())
def test_regular_keeps_a_regular_numbering(tree: Tree) -> None:
    again, permutation = Tree.regular(tree.parents)
    assert again == tree
    assert permutation.tolist() == list(range(1, tree.n + 1))


def test_regular_moves_only_missing_ancestors() -> None:
    tree, permutation = Tree.regular([4, 0, 2, 5, 0])
    assert permutation.tolist() == [5, 4, 1, 2, 3]
    assert tree.parents == (0, 1, 2, 0, 4)


@given(trees())
def test_depth_first(tree: Tree) -> None:
    renumbered, permutation = tree.depth_first()
    assert same_topology(renumbered, tree.parents, permutation)
    for i in range(1, tree.n + 1):  # subtrees become contiguous, and siblings keep their order
        assert renumbered.subtree(i) == tuple(range(i, i + len(renumbered.subtree(i))))
        old = [int(permutation[c - 1]) for c in renumbered.children(i)]
        assert old == sorted(old)
    assert renumbered.depth_first()[0] == renumbered


@given(trees())
def test_bordered_form_has_no_zero_in_its_envelope(tree: Tree) -> None:
    order = tree.bordered_order() - 1
    matrix = tree.pattern()[np.ix_(order, order)]
    for row in range(tree.n):
        first = int(matrix[row].argmax())
        assert first <= row
        assert matrix[row, first : row + 1].all()


@given(trees(12), st.data())
def test_expansion_adds_up_along_paths(tree: Tree, data: st.DataObject) -> None:
    dofs = data.draw(st.lists(st.integers(0, 3), min_size=tree.n, max_size=tree.n))
    expanded = tree.expand(dofs)
    assert expanded.n == sum(dofs)
    owner = [i for i, count in enumerate(dofs, 1) for _ in range(count)]
    for dof, body in enumerate(owner, 1):
        # The path of a degree of freedom runs through all those of its ancestors, and no others.
        expected = [k for k, b in enumerate(owner, 1) if b in tree.ancestors(body) or (b == body and k <= dof)]
        assert list(expanded.path(dof)) == expected
    assert tree.expand([1] * tree.n) == tree


def test_pattern_admits_no_fill_in() -> None:
    tree = Tree((0, 1, 1, 0, 4, 4, 3))
    matrix = np.where(tree.pattern(), 0.5, 0.0) + 4 * np.eye(7)
    flipped = np.linalg.cholesky(matrix[::-1, ::-1])[::-1, ::-1]  # upper, = transpose of L in H = L^T L
    tree.check(np.where(np.abs(flipped + flipped.T) > 1e-14, 1.0, 0.0))


# ---- checking a matrix -------------------------------------------------------------------------------------------


def test_check_accepts_what_fits() -> None:
    matrix = np.where(TREE_1.pattern(), 2.0, 0.0)
    TREE_1.check(matrix)
    TREE_1.check(np.zeros((0, 7, 7)))
    TREE_1.check(np.broadcast_to(matrix, (3, 2, 7, 7)).astype(np.float32))
    TREE_1.check(TREE_1.pattern())
    matrix[3, 1] += 1e-12
    TREE_1.check(matrix)
    matrix[4, 5] = matrix[5, 4] = -1e-6
    TREE_1.check(matrix, tolerance=1e-6)


@pytest.mark.parametrize("value", [1e-300, -3.0])
def test_check_names_the_entry_outside_the_pattern(value: float) -> None:
    matrix = np.eye(7)
    matrix[4, 3] = value
    with pytest.raises(PatternError, match=f"^row 5, column 4: got {value}, expected 0"):
        TREE_1.check(matrix)
    with pytest.raises(PatternError, match=r"matrix \(0, 1\): row 5, column 4"):
        TREE_1.check(np.stack([np.eye(7), matrix])[None])


def test_check_names_the_asymmetry() -> None:
    matrix = np.eye(7)
    matrix[3, 1] = 1e-8
    with pytest.raises(PatternError, match=r"row 4, column 2: got 1e-08, expected the value across .* 0.0"):
        TREE_1.check(matrix)
    TREE_1.check(matrix, tolerance=1e-8)
    TREE_1.check(matrix.astype(np.float32))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_check_refuses_what_is_not_finite(value: float) -> None:
    matrix = np.eye(7)
    matrix[2, 2] = value
    with pytest.raises(FiniteError, match="row 3, column 3"):
        TREE_1.check(matrix)


@pytest.mark.parametrize(
    "matrix", [np.eye(6), np.zeros(7), np.zeros((7, 6)), 1.0, [[1.0], [1.0, 2.0]], np.eye(7, dtype=complex), "H"]
)
def test_check_refuses_shapes(matrix: Any) -> None:
    with pytest.raises(ShapeError, match="matrix"):
        TREE_1.check(matrix)


@pytest.mark.parametrize("tolerance", [-1.0, float("nan")])
def test_check_refuses_tolerances(tolerance: float) -> None:
    with pytest.raises(PatternError, match="tolerance"):
        TREE_1.check(np.eye(7), tolerance)


# ---- refused input -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ([0, True], r"body 2 has True, a bool; expected an integer 0\.\.1"),
        ([0, 1, 1.0], r"body 3 has 1\.0, a float; expected an integer 0\.\.2"),
        ([0, float("nan")], "body 2 has nan"),
        ([0, None], "body 2 has None"),
        (np.array([0.0, 1.0]), "body 1 has .*0.0"),
        (np.array([False]), "body 1 has"),
        (np.zeros((2, 1), dtype=int), r"shape \(2, 1\)"),
        (np.array(0), r"shape \(\)"),
        ("01", "a str, expected a sequence"),
        (b"\0", "a bytes, expected a sequence"),
        ({0}, "a set, expected a sequence"),
        (3, "an int, expected a sequence"),
        ([0, -1], r"body 2 has parent -1, expected 0\.\.1$"),
        ([0, 1, 9], r"body 3 has parent 9, expected 0\.\.2$"),
        ([2, 0], r"body 1 has parent 2, expected 0\.\.0; .*not regularly numbered.*Tree\.regular"),
        ([2, 7], r"body 2 has parent 7"),
        ([0, 2], r"body 2 has parent 2 .*2 -> 2"),
        ([0, 4, 2, 3], r"2 -> 4 -> 3 -> 2"),
    ],
)
def test_refused_parents(parents: Any, message: str) -> None:
    with pytest.raises(TreeError, match=message):
        Tree(parents)


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ([3, 0, 1], "1 -> 3 -> 1"),
        ([0, 3, 4, 5, 3], "3 -> 4 -> 5 -> 3"),
        ([1], "1 -> 1"),
        ([2, 3], r"body 2 has parent 3, expected 0\.\.2"),
        ([-1], r"body 1 has parent -1, expected 0\.\.1"),
        ([0.0], "body 1 has 0.0"),
        ([*range(2, 41), 1], r"1 -> 2 -> .*… -> 1"),
    ],
)
def test_refused_by_regular(parents: Any, message: str) -> None:
    with pytest.raises(TreeError, match=message):
        Tree.regular(parents)


@pytest.mark.parametrize("method", ["parent", "depth", "ancestors", "path", "children", "subtree"])
@pytest.mark.parametrize("body", [-1, 8, 1.0, True, None, "1"])
def test_refused_bodies(method: str, body: Any) -> None:
    with pytest.raises(TreeError, match=f"no body {body!r}"):
        getattr(TREE_1, method)(body)


@pytest.mark.parametrize("method", ["parent", "ancestors", "path"])
def test_the_base_has_no_parent(method: str) -> None:
    with pytest.raises(TreeError, match=r"no body 0: expected an integer 1\.\.7"):
        getattr(TREE_1, method)(0)
    with pytest.raises(TreeError, match="empty"):
        getattr(Tree(()), method)(1)


@pytest.mark.parametrize(
    ("dofs", "message"),
    [
        ([1] * 6, "6 entries, expected 7"),
        ([1, 1, -1, 1, 1, 1, 1], "joint 3: got -1"),
        ([1, 1, 1.0, 1, 1, 1, 1], r"joint 3 has 1\.0"),
        (1, "expected a sequence"),
    ],
)
def test_refused_dofs(dofs: Any, message: str) -> None:
    with pytest.raises(TreeError, match=message):
        TREE_1.expand(dofs)


# ---- size --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parents", "d0", "d1", "d2", "height"),
    [
        (range(LARGE), LARGE - 1, (LARGE**2 - LARGE) // 2, (LARGE**3 - LARGE) // 6, LARGE),
        ([0] * LARGE, 0, 0, 0, 1),
    ],
    ids=["chain", "star"],
)
def test_large_trees_are_handled(parents: Any, d0: int, d1: int, d2: int, height: int) -> None:
    tree = Tree(parents)
    assert (tree.D0, tree.D1, tree.D2, tree.height) == (d0, d1, d2, height)
    assert tree.packed_starts[-1] == LARGE + d1
    assert int(tree.subtree_sizes.sum()) == LARGE + d1
    assert tree.depth_first()[0] == tree
    assert tree.bordered_order()[0] == LARGE
    assert tree.expand([1] * LARGE) == tree
    assert len(tree.subtree(1)) == (LARGE if height > 1 else 1)
    reverse = [LARGE + 1 - p if p else 0 for p in reversed(parents)]
    assert Tree.regular(reverse)[0] == tree


def test_large_packed_paths_are_handled() -> None:
    tree = Tree([(i - 1) // 2 for i in range(1, LARGE + 1)])
    assert tree.packed_paths[-tree.depth(LARGE) :].tolist() == list(tree.path(LARGE))


def test_a_matrix_that_cannot_be_held_is_refused_with_its_size() -> None:
    deep = Tree(range(100_000))
    with pytest.raises(TreeError, match=r"n \+ D1 = 5000050000 entries, 80 GB"):
        _ = deep.packed_paths
