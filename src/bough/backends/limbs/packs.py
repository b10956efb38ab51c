"""Programs for one state in which operations of several limbs, or columns, are done in the lanes of a vector.

Some values of such a program are vectors. Three more operations make them and take them apart: `pack` of a value for
each lane, `lane` of a vector and a number, `flip` of a vector and a factor ±1 for each lane. `max` of two vectors is
the first one's number in each lane unless it is smaller. All others work lane by lane, so that every result has the
bits it has in the program as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from bough.backends.limbs.alike import Group, Search
from bough.backends.limbs.columns import ColumnSearch
from bough.backends.protocol import Column, Limbs
from bough.program import Apply, Block, Const, Instruction, Load, Loop, Program, Store, Switch
from bough.program.ir import boundary, uses
from bough.scalar import Kind

__all__ = ["Packed", "pack"]

WORTH = 0.85  # of the instructions must be left for packing to pay
NEEDED_LATER = "what the rest of a program needs"

Item: TypeAlias = Load | Apply | Store | Group


@dataclass(frozen=True, eq=False)
class Packed:
    """A program, the number of lanes of the values that are vectors, and whether these do all that loops do."""

    program: Program
    widths: Mapping[int, int]
    in_all_loops: bool = False


def pack(program: Program, limbs: Limbs, widest: int) -> Packed:
    """Join what is alike in limbs or columns, in vectors of up to `widest` lanes, if the program allows and it pays.

    In a program with loops, that is what does not wait for one.
    """
    places = [place for entries in limbs.values() for place in entries if place is not None]
    if not places:
        return Packed(program, {})
    straight, rest = _parted(program)
    if not _is_straight(straight):
        return Packed(program, {})
    search = ColumnSearch if isinstance(places[0], Column) else Search
    packed = _Rewriter(straight, search(straight, limbs, widest)).result()
    if not _cost(packed.program) < WORTH * _cost(straight):
        return Packed(program, {})
    body = tuple(x for x in packed.program.body if not isinstance(x, Store) or x.buffer != NEEDED_LATER)
    return Packed(replace(packed.program, buffers=program.buffers, body=(*body, *rest)), packed.widths)


def _parted(program: Program) -> tuple[Program, Block]:
    """What does not wait for a loop, with what the rest needs of it stored as if it were a result; and the rest."""
    inputs = {b.name for b in program.of_role("input")}
    first: list[Instruction] = []
    rest: list[Instruction] = []
    waiting: set[int] = set()
    for x in program.body:
        waits = isinstance(x, Loop | Switch) or any(v in waiting for v in boundary(x))
        if waits or (rest and (isinstance(x, Store) or (isinstance(x, Load) and x.buffer not in inputs))):
            rest.append(x)
            waiting.update(x.results if isinstance(x, Loop | Switch) else () if isinstance(x, Store) else (x.result,))
        else:
            first.append(x)
    constants = {x.result: x for x in first if isinstance(x, Const)}
    made = {x.result for x in first if isinstance(x, Load | Apply)}
    needed = {v: None for x in rest for v in uses(x) if v in made}
    place = next((v for v in constants if program.kinds[v] == "int"), -1)
    if not rest or place < 0:
        return program, ()
    return replace(program, body=(*first, *(Store(NEEDED_LATER, place, v) for v in needed))), tuple(rest)


def _is_straight(program: Program) -> bool:
    """Whether instructions may be put in any order that has operands first: nothing that is stored is loaded."""
    inputs = {b.name for b in program.of_role("input")}
    constants = {x.result for x in program.body if isinstance(x, Const)}
    return all(
        isinstance(x, Const | Apply)
        or (isinstance(x, Load) and x.buffer in inputs and x.index in constants)
        or (isinstance(x, Store) and x.index in constants)
        for x in program.body
    )


def _cost(program: Program) -> int:
    """About how many instructions it takes: constants are in memory, and what is packed may lie side by side."""
    constants = {x.result: x.value for x in program.body if isinstance(x, Const)}
    made = {x.result: x for x in program.body if isinstance(x, Load | Apply)}
    total = 0
    for x in program.body:
        if isinstance(x, Apply):
            parts = [made[v] for v in dict.fromkeys(x.arguments) if v in made] if x.op == "pack" else [x]
            entries = [(y.buffer, constants[y.index] - k) for k, y in enumerate(parts) if isinstance(y, Load)]
            whole = len(entries) == len(x.arguments) and len(set(entries)) == 1
            turns = all(isinstance(y, Apply) and y.op in ("sin", "cos") for y in parts)
            total += min(len(parts), 1) if whole or turns else len(parts)
    return total


class _Rewriter:
    """Writes the program anew, with vectors."""

    def __init__(self, program: Program, search: Search | ColumnSearch) -> None:
        self._program, self._search = program, search
        self._kinds = list(program.kinds)
        self._widths: dict[int, int] = {}
        self._constants: dict[tuple[Kind, str], int] = {}
        self._head: list[Instruction] = [x for x in program.body if isinstance(x, Const)]
        self._body: list[Load | Apply | Store] = []
        self._instructions = [x for x in program.body if isinstance(x, Load | Apply | Store)]
        self._made = {x.result: x for x in self._instructions if not isinstance(x, Store)}
        self._joined = {group.results: group for group in (*search.groups, *search.twins)}
        self._place = {v: (group, k) for group in search.groups for k, v in reversed([*enumerate(group.results)])}
        self._place.pop(-1, None)  # lanes that hold anything
        self._vectors: dict[tuple[int, ...], int] = {}  # by what the lanes hold
        self._signed: dict[tuple[int, tuple[int, ...]], int] = {}
        self._taken: set[int] = set()

    def result(self) -> Packed:
        """The program, operands first, without what is not used."""
        items = [x if isinstance(x, Store) else self._maker(x.result) for x in self._instructions]
        for item in _in_order(items, self._needs):
            if isinstance(item, Group):
                self._join(item)
            else:
                self._copy(item)
        used: set[int] = set()
        body: list[Instruction] = []
        for x in reversed(self._body):
            if isinstance(x, Store) or x.result in used:
                used.update(boundary(x))
                body.append(x)
        body += reversed(self._head)
        body.reverse()
        return Packed(Program(self._program.name, self._program.buffers, tuple(body), tuple(self._kinds)), self._widths)

    def _maker(self, value: int) -> Item:
        return self._place[value][0] if value in self._place else self._made[value]

    def _needs(self, item: Item) -> list[Item]:
        if not isinstance(item, Group):
            return [self._maker(v) for v in boundary(item) if v in self._made]
        needs: list[Item] = []
        for values, _ in item.operands:
            if values in self._joined:
                needs.append(self._joined[values])
            else:
                needs += [self._maker(v) for v in values if v in self._made and v not in self._search.constants]
        return needs

    def _copy(self, x: Load | Apply | Store) -> None:
        for value in boundary(x):
            self._take_out(value)
        self._body.append(x)

    def _take_out(self, value: int) -> None:
        """Make a value of a lane a number again."""
        if value not in self._place or value in self._taken:
            return
        self._taken.add(value)
        group, k = self._place[value]
        lane = (self._vectors[group.results], self._constant(k, "int"))
        if value in self._search.negative:
            self._body.append(Apply(value, "neg", (self._apply("lane", lane),)))
        else:
            self._body.append(Apply(value, "lane", lane))

    def _join(self, group: Group) -> None:
        op, operands, width = group.op, group.operands, len(group.results)
        minus = [set(signs) == {-1} for _, signs in operands]
        if op == "add" and any(minus) and not all(minus):
            k = minus.index(True)  # a difference
            operands = [operands[1 - k], (operands[k][0], (1,) * width)]
            op = "sub"
        arguments = tuple(self._vector(*operand) for operand in operands)
        self._vectors[group.results] = self._apply(op, arguments, width)

    def _vector(self, values: tuple[int, ...], signs: tuple[int, ...]) -> int:
        """The vector of some values with signs in front."""
        known = self._search.constants
        if all(v in known for v in values):
            numbers = [s * float(known[v]) for v, s in zip(values, signs, strict=True)]
            return self._apply("pack", tuple(self._constant(x) for x in numbers), len(values))
        if values not in self._joined:
            signs = tuple(-s if v in self._search.negative else s for v, s in zip(values, signs, strict=True))
        if values not in self._vectors:
            for value in values:
                self._take_out(value)
            self._vectors[values] = self._apply("pack", values, len(values))
        vector = self._vectors[values]
        if set(signs) == {1}:
            return vector
        if (vector, signs) not in self._signed:
            if set(signs) == {-1}:
                self._signed[vector, signs] = self._apply("neg", (vector,), len(values))
            else:
                factors = tuple(self._constant(float(s)) for s in signs)
                self._signed[vector, signs] = self._apply("flip", (vector, *factors), len(values))
        return self._signed[vector, signs]

    def _apply(self, op: str, arguments: tuple[int, ...], width: int = 1) -> int:
        value = self._new("float")
        if width > 1:
            self._widths[value] = width
        self._body.append(Apply(value, op, arguments))
        return value

    def _constant(self, value: float, kind: Kind = "float") -> int:
        if (kind, repr(value)) not in self._constants:
            self._constants[kind, repr(value)] = number = self._new(kind)
            self._head.append(Const(number, value))
        return self._constants[kind, repr(value)]

    def _new(self, kind: Kind) -> int:
        self._kinds.append(kind)
        return len(self._kinds) - 1


def _in_order(items: Iterable[Item], needs: Callable[[Item], list[Item]]) -> Iterator[Item]:
    """The items and all they need, each once and after what it needs."""
    done: set[int] = set()
    for item in items:
        stack = [item]
        while stack:
            top = stack[-1]
            if id(top) in done:
                stack.pop()
            elif missing := [x for x in needs(top) if id(x) not in done]:
                stack += missing
            else:
                done.add(id(top))
                yield stack.pop()
