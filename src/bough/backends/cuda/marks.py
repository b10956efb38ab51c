"""Loops that do something in some of their turns only, and where a bit for each turn says in which.

Most candidates for contact do not touch. The numbers of a buffer that say which ones do are more than zero there; a bit
beside each, kept when it is written, lets a thread find its next candidate without reading those between.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from bough.program import Apply, Const, Instruction, Load, Loop, Program, Store, walk
from bough.program.ir import defined, until_done, uses
from bough.program.simple_loops import filled_by

__all__ = ["SomeTurns", "cleared_by", "marked_buffers", "some_turns", "turns_of_turns"]


@dataclass(frozen=True)
class SomeTurns:
    """A loop whose turns begin with `head`, which tells by `inner.done` whether nothing else happens in a turn.

    Where `buffer` is given, a turn has nothing to do exactly where an entry of it is not more than zero, or a value in
    `outer` holds. The number of the entry is that of the turn and the sum of `base`, which `before` computes.
    """

    inner: Loop
    head: tuple[Instruction, ...]
    rest: tuple[Instruction, ...]
    buffer: str | None = None
    base: tuple[int, ...] = ()
    before: tuple[Instruction, ...] = ()
    outer: frozenset[int] = frozenset()

    @property
    def asks_first(self) -> bool:
        """Whether all turns can be asked before anything is done in one: nothing that is asked for changes."""
        read = {x.buffer for x in self.head if isinstance(x, Load)}
        written = {x.buffer for x in walk(self.rest) if isinstance(x, Store)}
        return not read & written

    @property
    def needed(self) -> list[Instruction]:
        """What the rest of a turn needs of its head, when it is known that the turn has something to do."""
        wanted = {v for x in self.rest for v in uses(x)} | set(self.inner.initial) | set(self.inner.following)
        wanted -= {self.inner.done}
        kept: list[Instruction] = []
        for x in reversed(self.head):
            if wanted.intersection(defined(x)) and self.inner.done not in defined(x):
                kept.append(x)
                wanted.update(uses(x))
        return kept[::-1]


def some_turns(x: Loop, constants: dict[int, float]) -> SomeTurns | None:
    """What a loop does in some turns, if it does nothing in all others."""
    if not x.body or x.done is not None or x.reverse or constants.get(x.count) == 1:
        return None
    *head, inner = x.body
    if not isinstance(inner, Loop) or inner.done is None or constants.get(inner.count) != 1:
        return None
    handed = dict(zip(inner.results, inner.initial, strict=True))
    kept = all(handed.get(after, after) == before for before, after in zip(x.carried, x.following, strict=True))
    asked, rest = until_done(inner)
    whole = (*head, *asked)
    if not kept or not all(isinstance(y, Const | Apply | Load) for y in whole):
        return None
    carried = {*x.carried, *inner.carried}
    if carried.intersection(v for y in whole for v in uses(y)):
        return SomeTurns(inner, whole, rest)
    return _by_entry(x, SomeTurns(inner, whole, rest), constants)


def turns_of_turns(x: Loop, found: SomeTurns, constants: dict[int, float]) -> tuple[Loop, SomeTurns] | None:
    """The loop inside a loop of which some turns are made, if both are one loop: entries in blocks of equal size."""
    inner, made = found.inner, {v: z for z in walk((x,)) for v in defined(z)}
    loops = [z for z in found.rest if isinstance(z, Loop)]
    within = some_turns(loops[0], constants) if len(loops) == 1 else None
    if within is None or found.buffer is None or within.buffer is None or found.base or len(within.base) != 1:
        return None
    y, scaled = loops[0], made.get(within.base[0])
    handed = dict(zip(y.results, y.initial, strict=True))
    for z in found.rest[found.rest.index(y) + 1 :]:  # what freezes states that are done
        if not isinstance(z, Apply) or z.op != "select" or z.arguments[0] != inner.done:
            return None
        handed[z.result] = handed.get(z.arguments[2], z.arguments[2])
    if not isinstance(scaled, Apply) or scaled.op != "imul" or x.counter not in scaled.arguments:
        return None
    size = next((constants.get(v) for v in scaled.arguments if v != x.counter), None)
    pairs = zip(inner.carried, inner.following, strict=True)
    passed = all(handed.get(after, after) == before for before, after in pairs)
    simple = all(isinstance(z, Const | Apply | Loop) for z in found.rest) and set(y.initial) <= set(inner.carried)
    return (y, within) if passed and simple and size is not None and size == constants.get(y.count) else None


def _by_entry(x: Loop, found: SomeTurns, constants: dict[int, float]) -> SomeTurns:
    """With the buffer that tells which turns have something to do, if there is one."""
    made = {v: y for y in found.head for v in defined(y)}
    entries, outer = [], []
    assert found.inner.done is not None
    for v in _operands(found.inner.done, "or", made):
        y = made.get(v)
        less = made.get(y.arguments[0]) if isinstance(y, Apply) and y.op == "not" else None
        if y is None:
            outer.append(v)
        elif isinstance(less, Apply) and less.op == "lt" and constants.get(less.arguments[0]) == 0.0:
            entries.append(made.get(less.arguments[1]))
        else:
            return found
    if len(entries) != 1 or not isinstance(entries[0], Load):
        return found
    load = entries[0]
    terms = list(_operands(load.index, "iadd", made))
    if terms.count(x.counter) != 1:
        return found
    base = tuple(v for v in terms if v != x.counter)
    before = tuple(y for v in base for y in _makers(v, made))
    if x.counter in {v for y in before for v in uses(y)}:
        return found
    return SomeTurns(found.inner, found.head, found.rest, load.buffer, base, before, frozenset(outer))


def _operands(value: int, op: str, made: dict[int, Instruction]) -> Iterator[int]:
    """The values that some instructions combine by an operation."""
    y = made.get(value)
    if isinstance(y, Apply) and y.op == op:
        for v in y.arguments:
            yield from _operands(v, op, made)
    else:
        yield value


def _makers(value: int, made: dict[int, Instruction]) -> Iterator[Instruction]:
    if value in made:
        for v in uses(made[value]):
            yield from _makers(v, made)
        yield made[value]


def marked_buffers(program: Program, constants: dict[int, float]) -> list[str]:
    """The scratch buffers of which it has to be known where they are more than zero."""
    scratch = {b.name for b in program.of_role("scratch")}
    loops = (some_turns(x, constants) for x in walk(program.body) if isinstance(x, Loop))
    return sorted({x.buffer for x in loops if x is not None and x.buffer in scratch and x.buffer is not None})


def cleared_by(x: Loop, marked: Collection[str], constants: dict[int, float], program: Program) -> str | None:
    """The marked buffer all of which a loop sets to something that is not more than zero."""
    fill = filled_by(x, constants)
    if fill is None or fill.target not in marked or fill.size != program.buffer(fill.target).size:
        return None
    return fill.target if fill.value <= 0.0 else None
