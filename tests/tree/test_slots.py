"""Places that bodies of a tree take in turn: never one that is in use, and few."""

from __future__ import annotations

import pytest
from hypothesis import given

from bough.tree import Tree, named
from bough.tree.slots import slots
from tree_strategies import trees


@given(trees(12))
def test_a_place_holds_one_sum_at_a_time_on_the_way_in(tree: Tree) -> None:
    made = slots(tree)
    holds: dict[int, tuple[int, set[int]]] = {}  # whose sum a place holds, and which children are in it
    for index in reversed(made.order.tolist()):
        body, parent = index + 1, tree.parents[index]
        if tree.children(body):
            owner, added = holds.pop(int(made.own[index]))
            assert owner == body
            assert added == set(tree.children(body))
        if parent:
            place, so_far = int(made.up[index]), int(made.so_far[index])
            assert 0 < place < made.count
            assert place != made.own[index]
            assert so_far == (place if place in holds else 0)
            owner, added = holds.setdefault(place, (parent, set()))
            assert owner == parent
            added.add(body)
    assert not holds


@given(trees(12))
def test_a_place_is_kept_until_the_last_child_has_read_it_on_the_way_out(tree: Tree) -> None:
    made = slots(tree)
    holds: dict[int, int] = {}
    for index in made.order.tolist():
        if tree.parents[index]:
            assert holds[int(made.up[index])] == tree.parents[index]
        if tree.children(index + 1):
            holds[int(made.own[index])] = index + 1


@pytest.mark.parametrize(
    ("tree", "places"),
    [(named.chain(1000), 2), (named.star(1000), 0), (named.balanced_tree(10), 10), (named.grid(30), 3)],
    ids=["chain", "star", "binary tree", "grid"],
)
def test_few_places_are_enough(tree: Tree, places: int) -> None:
    assert slots(tree).count - 1 <= places
