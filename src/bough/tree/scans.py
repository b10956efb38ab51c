"""The tree scans: outward, inward, along the ancestors of a body, and along any bodies.

An algorithm gives the rule for *one* body; the scan decides the order and looks after storage. The rule gets a record
of its body (what the structure says of it: constants, joint, whether it is a root or a leaf) and never indexes by body
number, so that the same rule can be run body by body or recorded once per kind of body inside a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from bough.scalar import Index, Rows, Table, gather_index, loop, map_leaves, rows, switch
from bough.scalar.lazy import cached_property
from bough.tree.slots import Slots, slots
from bough.tree.tree import Tree

__all__ = ["Kept", "Record", "Structure", "along", "ancestors", "inward", "outward", "upward"]

S = TypeVar("S")  # what is passed from body to body
K = TypeVar("K")  # what is kept for later scans


class Record(Protocol):
    """What every record of a body tells."""

    @property
    def index(self) -> Index:
        """Body number minus one."""

    @property
    def kind(self) -> int:
        """Number of the kind of body; bodies of one kind run the same code on different constants."""

    @property
    def is_root(self) -> bool:
        """Whether the parent is the base."""

    @property
    def is_leaf(self) -> bool:
        """Whether the body has no children."""


R = TypeVar("R", bound=Record)
R_co = TypeVar("R_co", bound=Record, covariant=True)


class Structure(Protocol[R_co]):
    """A tree with a record for each body."""

    @property
    def tree(self) -> Tree:
        """The tree."""

    @property
    def kinds(self) -> tuple[int, ...]:
        """The kind of each body."""

    def record(self, kind: int, index: Index) -> R_co:
        """The record of a body of the given kind."""


class Kept(Generic[K]):
    """What a scan kept for each body, read with the record of the body."""

    def __init__(self, storage: Rows) -> None:
        self._storage = storage

    def __getitem__(self, body: Record) -> K:
        value: K = self._storage.get(body.index, body.kind)
        return value


def outward(structure: Structure[R], rule: Callable[[R, S], tuple[S, K]], base: S) -> Kept[K]:
    """From the base to the tips: ``state, kept = rule(body, state of its parent)``.

    The parent state of a body on the base is `base`. Returns what the rule kept.
    """
    scan = _Scan(structure)
    states = rows(scan.slots.count)
    kept = rows(structure.tree.n, structure.kinds, scan.order)
    states.put(0, base)

    def visit(body: R) -> None:
        state, keep = rule(body, base if body.is_root else states.get(scan.up(body)))
        if not body.is_leaf:
            states.put(scan.own(body), state)
        kept.put(body.index, keep, body.kind)

    scan.each(visit, reverse=False)
    return Kept(kept)


def inward(structure: Structure[R], rule: Callable[[R, S], tuple[S | None, K]], zero: S) -> Kept[K]:
    """From the tips to the base: ``contribution, kept = rule(body, sum of its children's contributions)``.

    Sums start at `zero`. A body on the base contributes nothing: its rule may return None. Returns what the rule kept.
    """
    scan = _Scan(structure)
    sums = rows(scan.slots.count)
    kept = rows(structure.tree.n, structure.kinds, scan.order)
    sums.put(0, zero)

    def visit(body: R) -> None:
        contribution, keep = rule(body, zero if body.is_leaf else sums.get(scan.own(body)))
        if not body.is_root:
            so_far = sums.get(scan.so_far(body))
            sums.put(scan.up(body), map_leaves(lambda a, b: a + b, so_far, contribution))
        kept.put(body.index, keep, body.kind)

    scan.each(visit, reverse=True)
    return Kept(kept)


def ancestors(
    structure: Structure[R], body: Record, rule: Callable[[R, S], S], carry: S, count: int | None = None
) -> S:
    """From the parent of a body to the root, or over its first `count` ancestors: ``carry = rule(ancestor, carry)``."""
    scan = _Scan(structure)
    depths = Table("depths_above", structure.tree.depths - 1)

    def step(k: Index, carry: tuple[S, Index]) -> tuple[S, Index]:
        state, number = carry
        index = number + -1
        result: S = scan.at(index, lambda ancestor: rule(ancestor, state))
        return result, scan.parent_of(index)

    start = (carry, scan.parent_of(body.index))
    return loop(gather_index(depths, body.index) if count is None else count, step, start)[0]


def upward(structure: Structure[R], number: Index, count: Index, rule: Callable[[R, S], S], carry: S) -> S:
    """Through so many bodies, at least one, from that with a number towards the base: ``carry = rule(body, carry)``."""
    scan = _Scan(structure)

    def step(_: Index, state: tuple[S, Index]) -> tuple[S, Index]:
        index = state[1] + -1
        result: S = scan.at(index, lambda body: rule(body, state[0]))
        return result, scan.parent_of(index)

    return loop(count + -1, step, step(0, (carry, number)))[0]


def along(structure: Structure[R], bodies: Sequence[int], rule: Callable[[R, S], S], carry: S) -> S:
    """Through bodies given by number, in order: ``carry = rule(body, carry)``."""
    indices = np.asarray(bodies, dtype=np.int64) - 1
    met, numbers = np.unique(np.asarray(structure.kinds, dtype=np.int64)[indices], return_inverse=True)
    places, kinds = Table("bodies_along", indices), Table("kinds_along", numbers)

    def step(k: Index, state: S) -> S:
        index = gather_index(places, k)

        def branch(kind: int) -> Callable[[], S]:
            return lambda: rule(structure.record(kind, index), state)

        return switch(gather_index(kinds, k), [branch(int(kind)) for kind in met])

    return loop(len(bodies), step, carry)


class _Scan(Generic[R]):
    """Runs a rule at bodies given by index, by way of their kinds."""

    def __init__(self, structure: Structure[R]) -> None:
        self._structure = structure
        self._kinds = Table("kinds", np.asarray(structure.kinds, dtype=np.int64))
        self._parents = Table("parents", np.asarray(structure.tree.parents, dtype=np.int64))

    @cached_property
    def slots(self) -> Slots:
        """The order of the bodies, and places for what they hand to each other."""
        return slots(self._structure.tree)

    @property
    def order(self) -> list[int]:
        """Indices of the bodies, depth first."""
        return [int(index) for index in self.slots.order]

    @cached_property
    def _places(self) -> tuple[Table, Table, Table]:
        slots = self.slots
        return Table("slots", slots.own), Table("slots_up", slots.up), Table("slots_so_far", slots.so_far)

    def own(self, body: R) -> Index:
        """The slot in which a body keeps what it hands to its children, or the sum of what they hand to it."""
        return gather_index(self._places[0], body.index)

    def up(self, body: R) -> Index:
        """The slot of the parent of a body."""
        return gather_index(self._places[1], body.index)

    def so_far(self, body: R) -> Index:
        """The slot with the sum over those siblings of a body that an inward scan has visited before it."""
        return gather_index(self._places[2], body.index)

    def parent_of(self, index: Index) -> Index:
        """Number of the parent of the body with an index."""
        return gather_index(self._parents, index)

    def at(self, index: Index, rule: Callable[[R], Any]) -> Any:
        """Run the rule at one body."""
        structure = self._structure

        def branch(kind: int) -> Callable[[], Any]:
            return lambda: rule(structure.record(kind, index))

        count = max(structure.kinds, default=-1) + 1
        return switch(gather_index(self._kinds, index), [branch(kind) for kind in range(count)])

    def each(self, rule: Callable[[R], None], reverse: bool) -> None:
        """Run the rule at every body, depth first or against that order."""
        order = self.slots.order
        in_order = bool((order == np.arange(order.size)).all())
        indices = Table("depth_first", order)

        def step(k: Index, carry: tuple[()]) -> tuple[()]:
            self.at(k if in_order else gather_index(indices, k), rule)
            return carry

        loop(self._structure.tree.n, step, (), reverse=reverse)
