"""Trees taken together in rounds: every body once, nothing before what hangs on it, and few rounds."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bough.tree import Tree, named
from bough.tree.contraction import contraction
from tree_strategies import trees

LENGTHS = (4, 1)


def bushy_paths(depth: int, step: int) -> Tree:
    """A path of pieces, each of which carries a smaller tree of the same sort: paths within paths."""
    parents: list[int] = []

    def grow(carrier: int, depth: int) -> None:
        for k in range(depth, 0, -1):
            for _ in range(step):
                parents.append(carrier)
                carrier = len(parents)
            grow(carrier, k - 1)

    grow(0, depth)
    return Tree(parents)


@pytest.mark.parametrize(
    "tree",
    [
        named.chain(5000),
        named.side_branch_chain(1500, 1),
        named.balanced_tree(11),
        named.grid(60),
        named.star(300),
        bushy_paths(8, 20),
        bushy_paths(11, 1),
    ],
)
def test_rounds_are_few(tree: Tree) -> None:
    rounds = contraction(tree, [0] * tree.n, [True] * tree.n, LENGTHS)
    assert len(rounds) <= 1.7 * math.log2(tree.n) + 3


@given(trees(40), st.data())
def test_every_body_is_taken_once_and_nothing_hangs_on_what_is_done(tree: Tree, data: st.DataObject) -> None:
    n = tree.n
    kinds = data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    may_end = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
    taken: list[int] = []
    added: list[int] = []  # first bodies of tips that were added to what carries them
    pieces: dict[int, tuple[int, int]] = {}  # first and last body
    tips: dict[int, int] = {}  # first body
    for turn in contraction(tree, kinds, may_end, LENGTHS):
        new_pieces: dict[int, tuple[int, int]] = {}
        new_tips: dict[int, int] = {}
        for runs in turn.runs:
            for bodies, made in zip(runs.bodies.tolist(), runs.made.tolist(), strict=True):
                assert len(bodies) == runs.length
                assert {kinds[i - 1] for i in bodies} == {runs.kind}
                assert all(tree.parent(b) == a for a, b in pairwise(bodies))
                hanging = [j for i in bodies for j in tree.children(i) if j not in bodies and j not in added]
                assert len(hanging) == runs.open
                assert all(tree.parent(j) == bodies[-1] and may_end[bodies[-1] - 1] for j in hanging)
                taken += bodies
                if runs.open:
                    new_pieces[made] = (bodies[0], bodies[-1])
                else:
                    new_tips[made] = bodies[0]
        for pairs in turn.pairs:
            for k, (upper, lower, made) in enumerate(zip(pairs.upper, pairs.lower, pairs.made, strict=True)):
                first, between = pieces.pop(upper)
                assert (tree.parent(first), between) == (pairs.base[k], pairs.between[k])
                if pairs.open:
                    second, last = pieces.pop(lower)
                    assert last == pairs.last[k]
                    new_pieces[made] = (first, last)
                else:
                    second = tips.pop(lower)
                    new_tips[made] = first
                assert tree.parent(second) == between
        pieces |= new_pieces
        tips |= new_tips
        for tip, carrier in zip(turn.tips.tolist(), turn.carriers.tolist(), strict=True):
            added.append(tips.pop(tip))
            assert tree.parent(added[-1]) == carrier
    assert sorted(taken) == list(range(1, n + 1))
    assert not pieces
    assert all(tree.parent(first) == 0 for first in tips.values())
