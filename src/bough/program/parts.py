"""Long straight-line programs in parts, cut where few values cross from one to a later one.

Processors keep the instructions that they run in small memories of their own. Where a program does not fit, parts that
do are faster, though what crosses has to be written and read again. Sines and cosines of inputs do not cross: whoever
needs them computes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from bough.program.check import check
from bough.program.ir import Apply, Buffer, Const, Instruction, Load, Loop, Program, Store, Switch, uses
from bough.scalar import Kind

__all__ = ["CARRIED", "in_parts", "length_of"]

CARRIED = "carried"
"""With the number of a part behind it: the output of that part that is an input of later ones."""

LENGTHS = {"sin": 20, "cos": 20, "div": 8, "sqrt": 8, "atan2": 60}
"""Instructions of a processor for an operation, where it is more than one."""

COST_OF_A_CUT = 16
"""What a cut costs besides the values that cross it, in values."""

STRIDE = 8
"""Instructions of which only the one with the fewest values alive is a place for a cut."""


def length_of(x: Instruction) -> int:
    """About how many instructions of a processor an instruction is."""
    return LENGTHS.get(x.op, 1) if isinstance(x, Apply) else 0


def in_parts(
    program: Program, longest: int, called: str = CARRIED, stores_anywhere: bool = False
) -> tuple[Program, ...]:
    """The parts of a program, one after the other, each of about so many instructions of a processor at most,
    sines not counted.

    The program alone where it is short enough or cannot be cut. Parts but the last fill an array each, called `called`
    and the number of the part, which later ones read. Unless `stores_anywhere`, they store nothing else, so what
    follows the first store is not cut. Inputs that a part does not read are not among its arrays.
    """
    if any(isinstance(x, Loop | Switch) for x in program.body) or program.of_role("scratch"):
        return (program,)
    cut = _Cut(program, called, stores_anywhere)
    places = cut.places(longest)
    if not places:
        return (program,)
    return tuple(cut.parts([0, *places, len(cut.code)]))


@dataclass(frozen=True)
class _Place:
    """Where a program may be cut: before which instruction, how long what is before it is, and what crosses."""

    at: int
    length: int
    crossing: int


class _Cut:
    """A program that is cut."""

    def __init__(self, program: Program, called: str, stores_anywhere: bool) -> None:
        self._program, self._called, self._stores_anywhere = program, called, stores_anywhere
        constants = {x.result for x in program.body if isinstance(x, Const)}
        inputs = {b.name for b in program.of_role("input")}
        self._read = [  # by whoever needs it
            x for x in program.body
            if isinstance(x, Const) or (isinstance(x, Load) and x.buffer in inputs and x.index in constants)
        ]  # fmt: skip
        known = {x.result for x in self._read}
        self._turns = {
            x.result: x for x in program.body
            if isinstance(x, Apply) and x.op in ("sin", "cos") and x.arguments[0] in known
        }  # fmt: skip
        self._again = known | set(self._turns)
        self.code = [x for x in program.body if isinstance(x, Store) or x.result not in self._again]  # type: ignore[union-attr]

    # ---- where -------------------------------------------------------------------------------------------------------

    def places(self, longest: int) -> list[int]:
        """Before which instructions to cut, so that the fewest values cross and no part is too long, if possible."""
        total, found = sum(map(length_of, self.code)), list(self._places())
        if total <= longest or not found:
            return []
        start = _Place(0, 0, 0)
        cost, before = {start.at: 0}, {start.at: start}
        reached = [start]
        for place in found:
            near = [x for x in reached if place.length - x.length <= longest] or [reached[-1]]
            best = min(near, key=lambda x: cost[x.at])
            cost[place.at], before[place.at] = cost[best.at] + place.crossing + COST_OF_A_CUT, best
            reached.append(place)
        ends = [x for x in reached[1:] if total - x.length <= longest] or [reached[-1]]
        place = min(ends, key=lambda x: cost[x.at])
        chosen = []
        while place.at:
            chosen.append(place.at)
            place = before[place.at]
        return chosen[::-1]

    def _places(self) -> Iterator[_Place]:
        """Places at which only numbers cross, the best of each stride."""
        last: dict[int, int] = {}
        for k, x in enumerate(self.code):
            last |= dict.fromkeys((v for v in uses(x) if v not in self._again), k)
        alive: set[int] = set()
        length, near = 0, []
        for k, x in enumerate(self.code):
            if isinstance(x, Store) and not self._stores_anywhere:
                break
            if k and alive and all(self._program.kinds[v] == "float" for v in alive):
                near.append(_Place(k, length, len(alive)))
            if not k % STRIDE and near:
                yield min(near, key=lambda place: place.crossing)
                near = []
            alive.difference_update([v for v in uses(x) if last.get(v) == k])
            length += length_of(x)
            if not isinstance(x, Store) and x.result in last:  # type: ignore[union-attr]
                alive.add(x.result)  # type: ignore[union-attr]

    # ---- what --------------------------------------------------------------------------------------------------------

    def parts(self, borders: list[int]) -> Iterator[Program]:
        """The programs between borders."""
        bodies = [self.code[a:b] for a, b in pairwise(borders)]
        made = {x.result: k for k, body in enumerate(bodies) for x in body if not isinstance(x, Store)}  # type: ignore[union-attr]
        crossing: list[dict[int, int]] = [{} for _ in bodies]  # by part, the places of values that it hands on
        for k, body in enumerate(bodies):
            for v in (v for x in body for v in uses(x)):
                if made.get(v, k) < k:
                    crossing[made[v]].setdefault(v, len(crossing[made[v]]))
        for k, body in enumerate(bodies):
            yield self._part(k, body, made, crossing)

    def _part(self, k: int, body: list[Instruction], made: dict[int, int], crossing: list[dict[int, int]]) -> Program:
        """One of them: what it hands on is stored when it is made, what others handed on is read when it is used."""
        known: set[int] = set()
        taken: dict[str, int] = {}
        places = [Const(len(self._program.kinds) + j, j) for j in range(max(map(len, crossing)))]
        code: list[Instruction] = []
        for x in body:
            for v in dict.fromkeys(uses(x)):
                if v in self._turns and v not in known:
                    code.append(self._turns[v])
                elif made.get(v, k) < k and v not in known:
                    source = f"{self._called}{made[v]}"
                    taken[source] = len(crossing[made[v]])
                    code.append(Load(v, source, places[crossing[made[v]][v]].result))
                known.add(v)
            code.append(x)
            value = getattr(x, "result", -1)
            if value in crossing[k]:
                code.append(Store(f"{self._called}{k}", places[crossing[k][value]].result, value))
        used = {v for x in code for v in uses(x)}
        loads = [x for x in self._read if isinstance(x, Load) and x.result in used]
        used |= {x.index for x in loads}
        numbers = [x for x in (*self._read, *places) if isinstance(x, Const) and x.result in used]
        touched = {x.buffer for x in (*loads, *code) if isinstance(x, Load | Store)}
        own = [b for b in self._program.buffers if b.name in touched]
        handed = (
            [Buffer(f"{self._called}{k}", "output", "float", len(crossing[k]), cleared=False)] if crossing[k] else []
        )
        buffers = [b for b in own if b.role == "input"]
        buffers += [Buffer(name, "input", "float", size, cleared=False) for name, size in sorted(taken.items())]
        buffers += [*handed, *(b for b in own if b.role != "input")]
        indices: list[Kind] = ["int"] * len(places)
        kinds = (*self._program.kinds, *indices)
        part = replace(self._program, buffers=tuple(buffers), body=(*numbers, *loads, *code), kinds=kinds)
        check(part)
        return part
