"""Arrays of which few entries are used lie close together in the memory of a thread: one slot for each marked entry.

Of hundreds of candidates a few touch, others in each state. What is told of them would lie scattered over memory of
which hardly anything is used, and for each thread of a warp elsewhere. Where a mark says which entries are used
(`marks.py`), the slot of one is the number of marks before it: threads that go through theirs use the same slots.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from typing import NamedTuple

from bough.backends.cuda.marks import cleared_by, some_turns
from bough.program import Apply, Load, Loop, Program, Store, walk

__all__ = ["Entry", "Slots", "Sum", "slots_of"]


class Sum(NamedTuple):
    """What an index is made of: values that are no sums of others, each times a number, and a number."""

    terms: tuple[tuple[int, int], ...]
    number: int

    def plus(self, other: Sum, times: int = 1) -> Sum:
        """With a multiple of another one added."""
        total = Counter(dict(self.terms))
        for value, factor in other.terms:
            total[value] += times * factor
        terms = tuple(sorted((value, factor) for value, factor in total.items() if factor))
        return Sum(terms, self.number + times * other.number)


class Entry(NamedTuple):
    """Which entry of an array an index means: number `part` of so many that belong to the marked entry `k`."""

    k: Sum
    stride: int
    part: int


class Slots(NamedTuple):
    """For each array with slots the buffer with the marks, and what its indices mean, by the numbers of values."""

    owners: dict[str, str]
    entries: dict[tuple[str, int], Entry]


def slots_of(program: Program, marked: Collection[str], constants: dict[int, float]) -> Slots:
    """The arrays that can have slots: all they are asked for is what belongs to entries of one buffer with marks.

    Marks of that buffer only come, one after the other, until all are taken away; and nothing is read of an entry but
    where it is marked: others have no slots of their own.
    """
    sums = _Sums(program, constants)
    used: defaultdict[str, set[int]] = defaultdict(set)
    for x in walk(program.body):
        if isinstance(x, Load | Store):
            used[x.buffer].add(x.index)
    changed = _changed_on_the_way(program, constants)
    owners = {name: {sums.of(v) for v in used[name]} for name in marked if name not in changed}
    read = _read_where_marked(program, sums, constants)
    slots = Slots({}, {})
    for b in program.of_role("scratch"):
        for owner, places in owners.items():
            stride, rest = divmod(b.size, max(program.buffer(owner).size, 1))
            if b.cleared or not stride or rest:
                continue
            found = {v: _entry(sums.of(v), stride, places) for v in used[b.name]}
            loads = [x for x in walk(program.body) if isinstance(x, Load) and x.buffer == b.name]
            known = all((entry := found[x.index]) is not None and (x.result, entry.k) in read[owner] for x in loads)
            if known and all(entry is not None for entry in found.values()):
                slots.owners[b.name] = owner
                slots.entries.update({(b.name, v): entry for v, entry in found.items() if entry is not None})
                break
    return slots


class _Sums:
    """What indices of a program are made of."""

    def __init__(self, program: Program, constants: dict[int, float]) -> None:
        self._made = {x.result: x for x in walk(program.body) if isinstance(x, Apply)}
        self._constants = constants

    def of(self, value: int) -> Sum:
        """What an index is made of."""
        if value in self._constants:
            return Sum((), int(self._constants[value]))
        x = self._made.get(value)
        if x is not None and x.op == "iadd":
            return self.of(x.arguments[0]).plus(self.of(x.arguments[1]))
        if x is not None and x.op == "imul":
            one, other = map(self.of, x.arguments)
            if not one.terms or not other.terms:
                return Sum((), 0).plus(*((other, one.number) if not one.terms else (one, other.number)))
        return Sum(((value, 1),), 0)


def _read_where_marked(
    program: Program, sums: _Sums, constants: dict[int, float]
) -> defaultdict[str, set[tuple[int, Sum]]]:
    """By buffer with marks, what is read in turns that are made where an entry is marked alone, and which entry."""
    found: defaultdict[str, set[tuple[int, Sum]]] = defaultdict(set)
    for x in walk(program.body):
        if isinstance(x, Loop) and (turns := some_turns(x, constants)) is not None and turns.buffer is not None:
            k = Sum((), 0)
            for v in (x.counter, *turns.base):
                k = k.plus(sums.of(v))
            found[turns.buffer] |= {(y.result, k) for y in walk(turns.rest) if isinstance(y, Load)}
    return found


def _changed_on_the_way(program: Program, constants: dict[int, float]) -> set[str]:
    """Buffers that are written while their own marks are gone through, and such as nothing clears."""
    loops = [x for x in walk(program.body) if isinstance(x, Loop)]
    changed = {b.name for b in program.of_role("scratch")}
    changed -= {name for x in loops if (name := cleared_by(x, changed, constants, program)) is not None}
    for x in loops:
        found = some_turns(x, constants)
        if found is not None and found.buffer is not None:
            written = {y.buffer for y in walk(found.rest) if isinstance(y, Store)}
            changed |= written & {found.buffer}
    return changed


def _entry(index: Sum, stride: int, whose: Collection[Sum]) -> Entry | None:
    """What an index means, if it is stride * k + part and k is an index of the buffer with the marks."""
    for k in whose:
        rest = index.plus(k, -stride)
        if k.terms and not rest.terms and 0 <= rest.number < stride:
            return Entry(k, stride, rest.number)
    return None
