"""Control primitives: `loop`, `switch`, `gather`, `lookup`, and the storage `array` and `rows`.

By default they are plain Python. A tracer that records rolled programs overrides them for as long as it is active, so
the same algorithm source gives numbers, counts, straight-line programs and programs with loops.
"""

from __future__ import annotations

import hashlib
import math
import operator
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, NoReturn, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from bough.errors import ProgramError
from bough.scalar.dual import Dual
from bough.scalar.functions import negation, select
from bough.scalar.lazy import cached_property
from bough.scalar.structure import map_leaves
from bough.scalar.symbolic import Bool, Index, Scalar, Symbolic

__all__ = [
    "Array", "Control", "Filled", "Rows", "Table",
    "activate", "array", "blank", "gather", "gather_index", "handed_on", "indexable", "keeping_loops", "keeps_loops",
    "lookup", "loop", "repeat", "rows", "switch", "unguarded", "unrolling", "when",
]  # fmt: skip

C = TypeVar("C")
R = TypeVar("R")


class Table:
    """Constants a program reads by index: a one-dimensional array of numbers or of integers."""

    def __init__(self, name: str, data: NDArray[Any]) -> None:
        if np.ndim(data) != 1:
            raise ProgramError(f"table {name!r} has shape {np.shape(data)}, expected one dimension")
        self.name = name
        self.data = np.array(data, np.int64 if np.asarray(data).dtype.kind in "iu" else np.float64)
        self.data.setflags(write=False)

    def entry(self, index: int) -> Any:
        """An entry at a place that is known."""
        return self.data.item(index)

    @cached_property
    def contents(self) -> tuple[str, bytes]:
        """Type and hash of the numbers: equal for tables with equal contents, whatever their names."""
        return (self.data.dtype.str, hashlib.sha256(self.data.tobytes()).digest())


class Filled(Table):
    """A table some entries of which are scalars of any sort; it is read at places that are known."""

    def __init__(self, table: Table, scalars: Mapping[int, Scalar]) -> None:
        self.name, self.data, self._scalars = table.name, table.data, scalars

    def entry(self, index: int) -> Any:
        return self._scalars[index] if index in self._scalars else super().entry(index)

    @property
    def contents(self) -> NoReturn:
        raise ProgramError(f"table {self.name!r} has scalars in it: it cannot be read at the index of a loop")


class Array(Protocol):
    """A sequence of scalars that can be read and written at an index."""

    def __getitem__(self, index: Any, /) -> Any: ...
    def __setitem__(self, index: Any, value: Any, /) -> None: ...


class Rows(Protocol):
    """Storage of one structure per row. Rows of one kind hold structures of one shape."""

    def get(self, row: Index, kind: int = 0) -> Any:
        """The structure stored in a row of the given kind."""

    def put(self, row: Index, value: Any, kind: int = 0) -> None:
        """Store a structure in a row of the given kind."""


class PlainRows:
    """Rows as a plain Python list."""

    def __init__(self, count: int) -> None:
        self._rows: list[Any] = [UNWRITTEN] * count

    def is_written(self, row: Index) -> bool:
        """Whether a row holds something."""
        return self._rows[within(row, len(self._rows), "rows")] is not UNWRITTEN

    def get(self, row: Index, kind: int = 0) -> Any:
        if not self.is_written(row):
            raise ProgramError(f"row {row} was read before it was written")
        return self._rows[operator.index(row)]

    def put(self, row: Index, value: Any, kind: int = 0) -> None:
        self._rows[within(row, len(self._rows), "rows")] = value


UNWRITTEN = object()


def within(index: Index, size: int, what: str) -> int:
    """The index as an int; what Python would count from the end is refused, since a program would not."""
    place = index if type(index) is int else operator.index(index)
    if not 0 <= place < size:
        raise IndexError(f"{what}[{place}] is outside 0 … {size - 1}")
    return place


class Control:
    """The primitives in plain Python: indices are ints and everything happens at once."""

    def loop(
        self,
        count: Index,
        body: Callable[[Any, C], C],
        carry: C,
        reverse: bool = False,
        until: Callable[[C], Bool] | None = None,
    ) -> C:
        """See `bough.scalar.loop`."""
        for k in reversed(range(count)) if reverse else range(count):
            done = until(carry) if until is not None else False
            if isinstance(done, Symbolic):
                carry = self.unless(done, k, body, carry)
            elif done:
                break
            else:
                carry = body(k, carry)
        return carry

    def repeat(
        self, count: Index, body: Callable[[Any, C], C], carry: C, until: Callable[[C], Bool] | None = None
    ) -> C:
        """See `bough.scalar.repeat`."""
        return self.loop(count, body, carry, until=until)

    def unless(self, done: Symbolic, k: Any, body: Callable[[Any, C], C], carry: C) -> C:
        """One turn of a loop for the states that are not done."""
        return freeze(done, carry, body(k, carry))

    def switch(self, selector: Index, branches: Sequence[Callable[[], R]]) -> R:
        """See `bough.scalar.switch`."""
        return branches[within(selector, len(branches), "branches")]()

    def gather(self, table: Table, index: Index) -> Any:
        """See `bough.scalar.gather`."""
        return table.entry(within(index, table.data.size, table.name))

    def lookup(self, table: Table, place: Scalar) -> Any:
        """See `bough.scalar.lookup`."""
        if isinstance(place, Symbolic):
            raise ProgramError(f"table {table.name!r} cannot be looked up at a {type(place).__name__}")
        return table.data.item(held_place(place, table.data.size))

    def array(self, size: int) -> Array:
        """See `bough.scalar.array`."""
        return [0.0] * size

    def blank(self, size: int) -> Array:
        """See `bough.scalar.blank`."""
        return self.array(size)

    def unguarded(self, size: int, zeros: bool) -> Array:
        """See `bough.scalar.unguarded`."""
        return self.array(size)

    def rows(self, count: int, kinds: Sequence[int] | None = None, order: Sequence[int] | None = None) -> Rows:
        """See `bough.scalar.rows`."""
        return PlainRows(count)

    @property
    def keeps_loops(self) -> bool:
        """See `bough.scalar.keeps_loops`."""
        return False

    def indexable(self, size: int, values: Any) -> Array:
        """See `bough.scalar.indexable`."""
        return list(values)

    def handed_on(self, size: int, values: Array) -> Array:
        """See `bough.scalar.handed_on`."""
        return values

    def keeping_loops(self) -> AbstractContextManager[None]:
        """See `bough.scalar.keeping_loops`."""
        return nullcontext()

    def unrolling(self) -> AbstractContextManager[None]:
        """See `bough.scalar.unrolling`."""
        return nullcontext()


def freeze(done: Bool, old: C, new: C) -> C:
    """Keep the old carry in the lanes that are done."""
    return map_leaves(lambda a, b: select(done, a, b), old, new)


class _Active(threading.local):
    """What answers the primitives in a thread; threads that are started meanwhile have plain Python."""

    control: Control = Control()


_active = _Active()


@contextmanager
def activate(control: Control) -> Iterator[None]:
    """Let `control` answer the primitives within this block, in this thread."""
    before, _active.control = _active.control, control
    try:
        yield
    finally:
        _active.control = before


def loop(
    count: Index,
    body: Callable[[Any, C], C],
    carry: C,
    *,
    reverse: bool = False,
    until: Callable[[C], Bool] | None = None,
) -> C:
    """Run ``carry = body(k, carry)`` for k = 0 … count-1 (or downwards) and return the last carry.

    With `until`, a state for which ``until(carry)`` holds keeps its carry from then on, and what its arrays and rows
    hold, and the loop ends early when that is so for every state.
    """
    return _active.control.loop(count, body, carry, reverse, until)


def repeat(count: Index, body: Callable[[Any, C], C], carry: C, *, until: Callable[[C], Bool] | None = None) -> C:
    """As `loop`, but a straight-line program too keeps it a loop, around straight-line code.

    What turns hand on to each other is in the carry: arrays made before are read in the body, not written.
    """
    return _active.control.repeat(count, body, carry, until)


def when(condition: Bool, rule: Callable[[C], C], carry: C) -> C:
    """Run ``carry = rule(carry)`` for the states in which a condition holds; if it holds in none, nothing is run."""
    return loop(1, lambda _, state: rule(state), carry, until=lambda _: negation(condition))


def switch(selector: Index, branches: Sequence[Callable[[], R]]) -> R:
    """Run the branch with the number `selector`; all branches return structures of one shape."""
    return _active.control.switch(selector, branches)


def gather(table: Table, index: Index) -> Scalar:
    """Entry of a table of numbers."""
    value: Scalar = _active.control.gather(table, index)
    return value


def gather_index(table: Table, index: Index) -> Index:
    """Entry of a table of integers."""
    value: Index = _active.control.gather(table, index)
    return value


def lookup(table: Table, place: Scalar) -> Scalar:
    """Entry of a table of numbers at a place that each state has for itself.

    The place is a number that is rounded down, and held between the first entry and the last; what is not a number
    stands for the first. Derivatives take the entry for a constant.
    """
    while isinstance(place, Dual):
        place = place.value
    value: Scalar = _active.control.lookup(table, place)
    return value


def held_place(place: float, size: int) -> int:
    """The entry of a table of that size that a number stands for, see `lookup`."""
    return math.floor(min(place, size - 1.0)) if place > 0.0 else 0


def array(size: int) -> Array:
    """A new array of scalars, all zero."""
    return _active.control.array(size)


def blank(size: int) -> Array:
    """A new array of scalars whose entries are written before they are read, and all of them if it is a result."""
    return _active.control.blank(size)


def unguarded(size: int, zeros: bool) -> Array:
    """A new array that states which are done with a loop may write too: for who has seen to them already."""
    return _active.control.unguarded(size, zeros)


def keeps_loops() -> bool:
    """Whether loops stay loops in what is being traced."""
    return _active.control.keeps_loops


def rows(count: int, kinds: Sequence[int] | None = None, order: Sequence[int] | None = None) -> Rows:
    """Storage for one structure per row; with `kinds`, the kind of each row, else all rows are of kind 0.

    Rows with kinds lie in memory in the given order, one after the other: that in which they are visited is best.
    """
    return _active.control.rows(count, kinds, order)


def keeping_loops() -> AbstractContextManager[None]:
    """Within this context loops of a program stay loops, and arrays are memory, even where the rest is straight-line.

    Arrays made outside have to be made `indexable` before they are read at the index of a loop.
    """
    return _active.control.keeping_loops()


def unrolling() -> AbstractContextManager[None]:
    """Within this context programs are straight-line code, even in a loop that stays one.

    It is the opposite of `keeping_loops`. Arrays made outside are still memory, and those made inside must not be
    handed out of the loop.
    """
    return _active.control.unrolling()


def indexable(size: int, values: Any) -> Array:
    """Scalars as an array to be read at the index of a loop, within `keeping_loops`."""
    return _active.control.indexable(size, values)


def handed_on(size: int, values: Array) -> Array:
    """So many scalars, as they are: a few, from which much is computed.

    A long straight-line program can be run in stages, which hand these on to later ones. Whoever needs anything else
    that was computed before computes it again.
    """
    return _active.control.handed_on(size, values)
