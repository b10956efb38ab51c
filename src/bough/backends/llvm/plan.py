"""Cutting a program into functions of bounded size, so that compile time stays linear in its length.

A block becomes steps. Straight-line code, and loops and switches small enough, are gathered into chunks of bounded
length, one function each. A loop or switch that is too large stays a step of its own, with steps inside. Values that
leave the chunk they are made in live in slots of a scratch array, but entries of inputs are loaded where they are used.

Sines and cosines of inputs come first, in a step of their own. A call takes all vector registers, so that it is best
made while nothing is in them; and for one state, many angles fill the lanes of a vector.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from bough.backends.llvm.fills import zeros_of
from bough.program import Block, Const, Instruction, Loop, Program, Switch, walk
from bough.program.ir import Apply, Load, boundary, defined, inside, until_done
from bough.scalar import INDEX_OPS

__all__ = ["Chunk", "LargeLoop", "LargeSwitch", "Plan", "Step", "made_by", "make_plan"]

LONGEST = 1000  # instructions in one function; LLVM needs more than linear time beyond
LENGTHY = 5000  # instructions beyond which functions are half as long: as fast, and sooner there
WIDEST = 16  # lanes of the widest vector there is
MARKED_FROM = 32  # entries of an array from which on it is known which parts of it were written since it was all zeros


@dataclass(eq=False)
class Chunk:
    """Instructions that become one function."""

    number: int
    body: list[Instruction] = field(default_factory=list)

    def gains_from_passes(self, constants: Mapping[int, float | bool | int]) -> bool:
        """Whether loops in it may become vector code: over numbers in a row, and without sines, which are functions."""
        found = [x for x in walk(tuple(self.body)) if not isinstance(x, Apply) or x.op in ("sin", "cos")]
        flat = (x for x in found if isinstance(x, Loop) and x.done is None and not any(map(inside, x.body)))
        return not any(isinstance(x, Apply) for x in found) and any(zeros_of(x, constants) is None for x in flat)


@dataclass(eq=False)
class Turns:
    """Sines and cosines of entries of inputs: angle k has its sine in slot k, its cosine in slot `cosines` + k."""

    angles: list[Load]
    cosines: int


@dataclass(eq=False)
class LargeLoop:
    """A loop whose body has steps of its own: what tells whether all states are done, and what is done for others."""

    loop: Loop
    asking: list[Step]
    rest: list[Step]

    @property
    def steps(self) -> list[Step]:
        """All steps of the body."""
        return self.asking + self.rest


@dataclass(eq=False)
class LargeSwitch:
    """A switch whose branches have steps of their own."""

    switch: Switch
    branches: list[list[Step]]


Step = Chunk | Turns | LargeLoop | LargeSwitch


@dataclass(eq=False)
class Plan:
    """The steps of a program, its constants and entries of inputs, and the slot of each value that needs one.

    A program is `lengthy` if compiling it takes long enough to be felt. `written` has an index slot for each long array
    that is filled with zeros again and again: a bit for each part of it tells whether it was written since.
    """

    steps: list[Step]
    chunks: list[Chunk]
    lengthy: bool
    constants: dict[int, float | bool | int]
    given: dict[int, Load]
    slots: dict[int, int]
    float_slots: int
    int_slots: int
    widths: Mapping[int, int]
    written: Mapping[str, int]


def make_plan(program: Program, widths: Mapping[int, int]) -> Plan:
    """Cut a program into steps and give slots to the values that cross between them; `widths` are those of vectors."""
    constants = {x.result: x.value for x in walk(program.body) if isinstance(x, Const)}
    inputs = {b.name for b in program.of_role("input")}
    given = {x.result: x for x in program.body if isinstance(x, Load) and x.buffer in inputs and x.index in constants}
    turns, slots = _turns(program.body, given)
    chunks: list[Chunk] = []
    first = given.keys() | slots.keys()
    rest = tuple(x for x in program.body if not isinstance(x, Load | Apply) or x.result not in first)
    lengthy = sum(map(_weight, rest)) > LENGTHY
    steps = _steps(rest, chunks, LONGEST // 2 if lengthy else LONGEST)
    home: dict[int, int] = {}
    crossing: dict[int, None] = {}  # in order of first need

    def need(value: int, place: int) -> None:
        if not (value in constants or value in given or value in slots) and home.get(value) != place:
            crossing[value] = None

    listed = [_all(chunk.body) for chunk in chunks]
    for chunk, inner in zip(chunks, listed, strict=True):
        home |= {value: chunk.number for x in inner for value in made_by(x)}
    for chunk, inner in zip(chunks, listed, strict=True):
        for x in inner:
            for value in boundary(x):
                need(value, chunk.number)
    for step in _large(steps):
        x = step.loop if isinstance(step, LargeLoop) else step.switch
        for value in (*boundary(x), *made_by(x)):
            need(value, -1)
    sizes = {"float": 2 * turns.cosines, "int": 0}
    slots |= _Lives(steps).slots_of(crossing, program, sizes, widths)
    if turns.angles:
        steps.insert(0, turns)
    cleared = _cleared(program, constants)
    written = {name: sizes["int"] + k for k, name in enumerate(cleared)}
    ints = sizes["int"] + len(cleared)
    return Plan(steps, chunks, lengthy, constants, given, slots, sizes["float"], ints, widths, written)


def _cleared(program: Program, constants: Mapping[int, float | bool | int]) -> list[str]:
    """Long arrays that are zeros when the program starts, and all of which loops fill with zeros."""
    sizes = {b.name: b.size for b in program.of_role("scratch") if b.cleared and b.size >= MARKED_FROM}
    found = (zeros_of(x, constants) for x in walk(program.body) if isinstance(x, Loop))
    return list(dict.fromkeys(fill.target for fill in found if fill and sizes.get(fill.target) == fill.size))


def _turns(body: Block, given: dict[int, Load]) -> tuple[Turns, dict[int, int]]:
    """The turns of the outermost block, and the slots of their results; there is room for full vectors.

    Those that are packed lie side by side.
    """
    applied = [x for x in body if isinstance(x, Apply) and x.op in ("sin", "cos") and x.arguments[0] in given]
    angles = {x.result: x.arguments[0] for x in applied}
    packed = [v for x in body if isinstance(x, Apply) and x.op == "pack" for v in x.arguments if v in angles]
    numbers = {value: k for k, value in enumerate(dict.fromkeys(angles[v] for v in (*packed, *angles)))}
    turns = Turns([given[value] for value in numbers], -(-len(numbers) // WIDEST) * WIDEST)
    return turns, {x.result: numbers[x.arguments[0]] + turns.cosines * (x.op == "cos") for x in applied}


class _Lives:
    """From when to when each value is needed, in steps of the program; a loop is over when its last turn is.

    What a loop carries, what it begins with if that is needed no longer, and what it results in are one in `same`.
    """

    def __init__(self, steps: list[Step]) -> None:
        self._begin: dict[int, int] = {}
        self._end: dict[int, int] = {}
        self._loops: dict[int, tuple[int, ...]] = {}  # around the place where a value is made
        self._ends: list[int] = []  # of loops
        self._uses: list[tuple[Iterable[int], int, int, tuple[int, ...]]] = []
        self._made: dict[int, tuple[int, int]] = {}  # step and place in its chunk, of what is made in no loop there
        self._asked: dict[int, tuple[int, int]] = {}  # by the counter of a loop: itself, and when it may end
        self._now = 0
        self._walk(steps, ())
        loops = [step.loop for step in _large(steps) if isinstance(step, LargeLoop)]
        needed: dict[int, list[tuple[int, int, tuple[int, ...]]]] = {value: [] for x in loops for value in x.carried}
        for values, time, place, around in self._uses:
            for value in values:
                if value in needed:
                    needed[value].append((time, place, around))
                if value in self._begin:
                    self._last(value, time, around)
        self.same: dict[int, int] = {}
        for x in loops:
            for carried, result in zip(x.carried, x.results, strict=True):
                self._join(carried, result)
            for initial, carried in zip(x.initial, x.carried, strict=True):
                ends_here = self._end.get(initial) == self._begin[carried] and x.initial.count(initial) == 1
                if ends_here and initial not in self.same and self._loops[initial] == self._loops[carried]:
                    self._join(initial, carried)
            for carried, following in zip(x.carried, x.following, strict=True):
                once = x.following.count(following) == 1 and carried not in x.following
                if once and self._replaces(x, following, needed[carried]):
                    self._join(carried, following)

    def _last(self, value: int, time: int, around: tuple[int, ...]) -> None:
        """A value is needed at a time: at the end of the first loop around that it is not made in."""
        made = self._loops[value]
        if around != made:
            time = next((max(time, self._ends[k]) for k in around if k not in made), time)
        if time > self._end[value]:
            self._end[value] = time

    def _replaces(self, x: Loop, following: int, needed: Iterable[tuple[int, int, tuple[int, ...]]]) -> bool:
        """Whether what a loop goes on with is made once the loop cannot end and what it replaces is needed no more."""
        made, (number, asked), inside = self._made.get(following), self._asked[x.counter], self._loops.get(following)
        if made is None or not inside or inside[-1] != number or following in self.same or made[0] <= asked:
            return False
        end, depth = self._ends[number], len(inside)
        for time, place, around in needed:
            if time < end and (self._ends[around[depth]] if len(around) > depth else time, place) > made:
                return False
        return True

    def _first_of(self, value: int) -> int:
        """The value in whose slot it is."""
        while value in self.same:
            value = self.same[value]
        return value

    def _join(self, earlier: int, later: int) -> None:
        """Let a value be in the slot of an earlier one."""
        first = self._first_of(earlier)
        self.same[later] = first
        self._end[first] = max(self._end[first], self._end[later])

    def _make(self, values: Iterable[int], around: tuple[int, ...]) -> None:
        for value in values:
            self._begin[value] = self._end[value] = self._now
            self._loops[value] = around

    def _use(self, values: Iterable[int], around: tuple[int, ...], place: int = 0) -> None:
        self._uses.append((values, self._now, place, around))

    def _walk(self, steps: list[Step], around: tuple[int, ...]) -> None:
        for step in steps:
            self._now += 1
            if isinstance(step, Chunk):
                for place, top in enumerate(step.body):
                    if isinstance(top, (Apply, Load)):
                        self._made[top.result] = self._now, place
                    for x in _all([top]) if isinstance(top, (Loop, Switch)) else (top,):
                        self._make(made_by(x), around)
                        self._use(boundary(x), around, place)
            elif isinstance(step, LargeLoop):
                self._loop(step, around)
            elif isinstance(step, LargeSwitch):
                self._switch(step, around)

    def _loop(self, step: LargeLoop, around: tuple[int, ...]) -> None:
        x, inside = step.loop, (*around, len(self._ends))
        self._ends.append(0)
        self._use((*x.initial, x.count), around)
        self._make((x.counter, *x.carried), around)
        self._walk(step.asking, inside)
        self._now += 1
        self._use(() if x.done is None else (x.done,), inside)
        self._asked[x.counter] = inside[-1], self._now
        self._walk(step.rest, inside)
        self._now += 1
        self._ends[inside[-1]] = self._now
        self._use((*x.following, *x.carried, x.counter), inside)
        self._make(x.results, around)

    def _switch(self, step: LargeSwitch, around: tuple[int, ...]) -> None:
        self._use((step.switch.selector,), around)
        self._make(step.switch.results, around)
        for branch, values in zip(step.branches, step.switch.yields, strict=True):
            self._walk(branch, around)
            self._now += 1
            self._use((*values, *step.switch.results), around)

    def slots_of(
        self, crossing: Iterable[int], program: Program, sizes: dict[str, int], widths: Mapping[int, int]
    ) -> dict[int, int]:
        """A slot for each of these values; it is used again once its value is dead. The areas of slots grow in size."""
        slots: dict[int, int] = {}
        free: dict[tuple[str, int], list[int]] = {}  # by sort and width
        ending: list[tuple[int, int, tuple[str, int]]] = []
        for value in sorted({self._first_of(value) for value in crossing}, key=self._begin.__getitem__):
            while ending and ending[0][0] < self._begin[value]:
                _, slot, sort = heappop(ending)
                free.setdefault(sort, []).append(slot)
            area, width = "int" if program.kinds[value] == "int" else "float", widths.get(value, 1)
            if free.get((area, width)):
                slot = free[area, width].pop()
            else:
                slot = -(-sizes[area] // width) * width
                sizes[area] = slot + width
            heappush(ending, (self._end[value], slot, (area, width)))
            slots[value] = slot
        return slots | {value: slots[self._first_of(value)] for value in crossing}


def made_by(x: Instruction) -> tuple[int, ...]:
    """The values an instruction defines, those by which the turns of a loop go on included."""
    return (x.counter, *x.carried, *x.results) if isinstance(x, Loop) else defined(x)


def _weight(x: Instruction) -> int:
    """Number of instructions, those inside blocks included; constants and indices become parts of others."""
    return _counts(x) + sum(_counts(y) for block in inside(x) for y in walk(block))


def _counts(x: Instruction) -> bool:
    return not (isinstance(x, Const) or (isinstance(x, Apply) and x.op in INDEX_OPS))


def _steps(block: Block, chunks: list[Chunk], longest: int) -> list[Step]:
    steps: list[Step] = []
    current: Chunk | None = None
    weight = 0
    for x in block:
        if isinstance(x, Const):
            continue
        own = _weight(x)
        if own > longest:
            current = None
            if isinstance(x, Loop):
                asked, rest = until_done(x)
                steps.append(LargeLoop(x, _steps(asked, chunks, longest), _steps(rest, chunks, longest)))
            else:
                assert isinstance(x, Switch)
                steps.append(LargeSwitch(x, [_steps(branch, chunks, longest) for branch in x.branches]))
            continue
        if current is None or weight + own > longest:
            current, weight = Chunk(len(chunks)), 0
            chunks.append(current)
            steps.append(current)
        current.body.append(x)
        weight += own
    return steps


def _all(body: Sequence[Instruction]) -> Sequence[Instruction]:
    return [x for x in walk(tuple(body)) if not isinstance(x, Const)]


def _large(steps: list[Step]) -> Iterator[LargeLoop | LargeSwitch]:
    for step in steps:
        if isinstance(step, LargeLoop):
            yield step
            yield from _large(step.steps)
        elif isinstance(step, LargeSwitch):
            yield step
            for branch in step.branches:
                yield from _large(branch)
