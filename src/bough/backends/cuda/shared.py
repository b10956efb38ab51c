"""Which arrays of a program lie in shared memory: those that are used most, in each other's place where they can be.

Memory of threads that fits in no register goes through caches that are too small for it. Shared memory has room for a
few hundred numbers of each thread, and threads that read different entries do not wait for each other there.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from bough.backends.cuda.marks import some_turns
from bough.program import Const, Instruction, Load, Loop, Program, Store, Switch, walk

__all__ = ["Placement", "place_shared"]

SOME, MAYBE = 3.0, 0.7
"""How often loops are assumed to run that end when they are done, or visit some turns; and what may be left out."""


@dataclass(frozen=True)
class Placement:
    """Where arrays begin in the shared memory of a thread, how many numbers it has, and arrays that are read unset."""

    offsets: dict[str, int]
    size: int
    unset: frozenset[str]


@lru_cache(maxsize=4)
def place_shared(program: Program, room: int) -> Placement:
    """Place the scratch arrays that are used most in shared memory for so many numbers per thread.

    One after the other, by uses of an entry; but a large one may do better first, so each is tried as the first.
    """
    life = _Lives(program)
    sizes = {b.name: b.size for b in program.of_role("scratch")}
    fitting = [name for name in sizes if 0 < sizes[name] <= room and name not in life.unset]
    order = sorted(fitting, key=lambda name: -life.uses[name] / sizes[name])
    best: dict[str, int] = {}
    for first in order:
        offsets: dict[str, int] = {}
        for name in (first, *(x for x in order if x != first)):
            taken = [(offsets[other], offsets[other] + sizes[other]) for other in offsets if other in life.beside[name]]
            starts = sorted([0, *(end for _, end in taken)])
            start = next(s for s in starts if all(s + sizes[name] <= begin or end <= s for begin, end in taken))
            if start + sizes[name] <= room:
                offsets[name] = start
        best = max(best, offsets, key=lambda found: sum(life.uses[name] for name in found))
    return Placement(best, max((best[name] + sizes[name] for name in best), default=0), life.unset)


@dataclass
class _Effect:
    """What instructions do to arrays: which they read before they set them, and which they set entirely."""

    read: set[str] = field(default_factory=set)
    set: set[str] = field(default_factory=set)


class _Lives:
    """Which arrays hold something at the same time, how often each is used, and which are read before they are set."""

    def __init__(self, program: Program) -> None:
        self._constants = {x.result: float(x.value) for x in walk(program.body) if isinstance(x, Const)}
        self._sizes = {b.name: b.size for b in program.of_role("scratch")}
        self._effects: dict[int, _Effect] = {}
        self._firsts: dict[int, set[int]] = {}
        self.uses: Counter[str] = Counter()
        self.beside: defaultdict[str, set[str]] = defaultdict(set)
        self.unset = frozenset(self._effect(program.body).read)
        self._visit(program.body, set(), 1.0)

    def _effect(self, block: Sequence[Instruction]) -> _Effect:
        key = id(block)
        if key not in self._effects:
            total = _Effect()
            for own in reversed([self._of(x, block) for x in block if not isinstance(x, Const)]):
                total = _Effect(own.read | (total.read - own.set), total.set | own.set)
            self._effects[key] = total
        return self._effects[key]

    def _of(self, x: Instruction, block: Sequence[Instruction]) -> _Effect:
        """What an instruction of a block does."""
        if isinstance(x, Load) and x.buffer in self._sizes:
            return _Effect({x.buffer})
        if isinstance(x, Store) and x.buffer in self._sizes:
            return _Effect(set(), {x.buffer} if id(x) in self._begins(block) else set())
        if isinstance(x, Switch):
            branches = [self._effect(b) for b in x.branches]
            return _Effect(set().union(*(b.read for b in branches)), set.intersection(*(b.set for b in branches)))
        if not isinstance(x, Loop):
            return _Effect()
        inside, surely = self._effect(x.body), x.done is None and self._constants.get(x.count, 0) >= 1
        if not surely:
            return _Effect(set(inside.read))
        whole = {y.buffer for y in x.body if isinstance(y, Store) and self._writes_all(x, y)}
        return _Effect(set(inside.read), whole | inside.set)

    def _writes_all(self, x: Loop, y: Store) -> bool:
        """Whether a loop, each turn of which writes an entry and nothing else, writes all of a buffer."""
        alone = y.index == x.counter and not any(isinstance(z, Load | Loop | Switch) for z in x.body)
        return alone and self._constants.get(x.count) == self._sizes.get(y.buffer, -1)

    def _begins(self, block: Sequence[Instruction]) -> set[int]:
        """The stores of a block with which a run of stores begins that writes all of a buffer before it is read."""
        key = id(block)
        if key not in self._firsts:
            first: dict[str, tuple[int, set[float]]] = {}
            found = set()
            for x in block:
                if isinstance(x, Store) and x.buffer in self._sizes and x.index in self._constants:
                    start, entries = first.setdefault(x.buffer, (id(x), set()))
                    entries.add(self._constants[x.index])
                    if len(entries) == self._sizes[x.buffer]:
                        found.add(start)
                        del first[x.buffer]
                elif isinstance(x, Load):
                    first.pop(x.buffer, None)
                elif isinstance(x, Loop | Switch):
                    for y in walk((x,)):
                        if isinstance(y, Load):
                            first.pop(y.buffer, None)
            self._firsts[key] = found
        return self._firsts[key]

    def _visit(self, block: Sequence[Instruction], live: set[str], times: float) -> None:
        """Go through a block from its end, behind which some arrays are still needed."""
        for x in reversed(block):
            if isinstance(x, Const):
                continue
            own = self._of(x, block)
            if isinstance(x, Loop):
                self._visit(x.body, live | own.read, times * self._turns(x))
            elif isinstance(x, Switch):
                for branch in x.branches:
                    self._visit(branch, set(live), times / len(x.branches))
            elif isinstance(x, Load | Store) and x.buffer in self._sizes:
                self.uses[x.buffer] += times  # type: ignore[assignment]
                for other in live - {x.buffer}:
                    self.beside[x.buffer].add(other)
                    self.beside[other].add(x.buffer)
            live -= own.set
            live |= own.read

    def _turns(self, x: Loop) -> float:
        count = self._constants.get(x.count, SOME)
        if count == 1:
            return 1.0 if x.done is None else MAYBE
        return min(SOME, count) if x.done is not None or some_turns(x, self._constants) is not None else count
