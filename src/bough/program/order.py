"""Another order of straight-line code, in which fewer values wait to be used.

Threads of a GPU keep values in registers, of which each has some 250; what does not fit goes to memory. The order in
which an algorithm is written, scan after scan over all bodies, is not the one with the fewest values alive: it is
better to go out along a limb and back before the next limb begins.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from bough.program.check import check
from bough.program.ir import Apply, Const, Instruction, Load, Loop, Program, Store, Switch, uses

__all__ = ["REGISTERS", "few_alive", "most_alive", "read_late"]

REGISTERS = 100
"""Values that a thread keeps close at hand: as many float64 as fit, and half as many float32."""


def few_alive(program: Program, in_order: bool = False, registers: int = REGISTERS) -> Program:
    """The same instructions in the order in which the fewest values find no register, of those that are tried.

    Only the outermost block, and only if it is straight-line code; results have the same bits. If `in_order`, what is
    stored stays in its order. `registers` are those that values find.
    """
    if any(isinstance(x, Loop | Switch) for x in program.body):
        return program
    first, code = _cut(program)
    graph = _Graph(code, in_order)
    tried = [list(range(len(code))), _depth_first(graph)]
    if not in_order:
        tried.insert(1, _by_turns(graph, _turns_of(program, code)))
        tried.append(_depth_first(graph, _by_inputs(graph, first, code)))
    best = min(tried, key=lambda order: (graph.crowding(order, registers), graph.crowding(order, REGISTERS)))
    ordered = replace(program, body=(*first, *(code[k] for k in best)))
    check(ordered)
    return ordered


def read_late(program: Program) -> Program:
    """A straight-line program, its inputs read shortly before they are used, and once more where that is much later."""
    first, body = _cut(program)
    loads = {x.result: x for x in first if isinstance(x, Load)}
    kinds, same, last = list(program.kinds), dict[int, int](), dict[int, int]()
    code: list[Instruction] = []
    reads: dict[int, list[Instruction]] = {}  # by the place before which they are made
    for k, x in enumerate(body):
        for v in dict.fromkeys(uses(x)):
            if v not in loads:
                continue
            if k - last.get(v, -READ_AGAIN) >= READ_AGAIN:
                same[v] = v if v not in last else len(kinds)
                kinds += [kinds[v]] * (v in last)
                reads.setdefault(max(k - READ_AHEAD, 0), []).append(replace(loads[v], result=same[v]))
            last[v] = k
        if isinstance(x, Apply):
            x = replace(x, arguments=tuple(same.get(v, v) for v in x.arguments))
        elif isinstance(x, Store):
            x = replace(x, value=same.get(x.value, x.value))
        code.append(x)
    found: list[Instruction] = [x for x in first if isinstance(x, Const)]
    for k, x in enumerate(code):
        found += [*reads.get(k, ()), x]
    late = replace(program, body=tuple(found), kinds=tuple(kinds))
    check(late)
    return late


READ_AHEAD, READ_AGAIN = 80, 1000
"""Instructions before its use where an input is read; and after which it is read again, rather than that it waits."""

SHORT = 8
"""Values of a turn that stays with the one before it, if that is as short: they do one thing together."""


def most_alive(program: Program) -> int:
    """How many values of the outermost block are alive at once, without what can be read at any time."""
    graph = _Graph(_cut(program)[1])
    return max(graph.alive(range(len(graph.users))), default=0)


def _cut(program: Program) -> tuple[list[Instruction], list[Instruction]]:
    """What can be read at any time, constants and entries of inputs at constant places, and all other instructions."""
    inputs = {b.name for b in program.of_role("input")}
    constants = {x.result for x in program.body if isinstance(x, Const)}
    parts: tuple[list[Instruction], list[Instruction]] = ([], [])
    for x in program.body:
        is_read = isinstance(x, Const) or (isinstance(x, Load) and x.buffer in inputs and x.index in constants)
        parts[not is_read].append(x)
    return parts


class _Graph:
    """What each instruction needs of others, and who needs it; instructions by their place."""

    def __init__(self, code: Sequence[Instruction], in_order: bool = False) -> None:
        made: dict[int, int] = {}
        for k, x in enumerate(code):
            results = () if isinstance(x, Store) else x.results if isinstance(x, Loop | Switch) else (x.result,)
            made |= dict.fromkeys(results, k)
        needs = ([made[v] for v in dict.fromkeys(uses(x)) if v in made] for x in code)
        self.needs = [sorted({j for j in places if j != k}) for k, places in enumerate(needs)]
        if in_order:
            stores = [k for k, x in enumerate(code) if isinstance(x, Store)]
            for before, after in pairwise(stores):
                self.needs[after].insert(0, before)
        self.users: list[list[int]] = [[] for _ in code]
        for k, places in enumerate(self.needs):
            for j in places:
                self.users[j].append(k)

    def alive(self, order: Sequence[int]) -> Iterator[int]:
        """How many results wait for a user, instruction by instruction."""
        left = [len(users) for users in self.users]
        alive = 0
        for k in order:
            alive += bool(left[k])
            yield alive
            for j in self.needs[k]:
                left[j] -= 1
                alive -= not left[j]

    def crowding(self, order: Sequence[int], registers: int) -> int:
        """For how long how many results wait that find none of so many registers."""
        return sum(max(count - registers, 0) for count in self.alive(order))


def _turns_of(program: Program, code: Sequence[Instruction]) -> list[int]:
    """For each instruction the turn of a loop in which it was traced; what passes added is in that of its user."""
    sizes = [b - a for a, b in pairwise((0, *program.turns, program.traced))]
    begins = [
        turn for turn, before, own in zip(program.turns, sizes, sizes[1:], strict=False) if max(before, own) >= SHORT
    ]
    users: dict[int, int] = {}
    turns: list[int | None] = []
    for k, x in enumerate(code):
        value = x.value if isinstance(x, Store) else getattr(x, "result", -1)
        turns.append(bisect_right(begins, value) if value < program.traced else None)
        for v in uses(x):
            users.setdefault(v, k)
    for k in reversed(range(len(code))):
        if turns[k] is None:
            x = code[k]
            value = x.value if isinstance(x, Store) else getattr(x, "result", -1)
            turns[k] = turns[users[value]] if value in users else len(begins)
    return [turn or 0 for turn in turns]


def _by_turns(graph: _Graph, turns: Sequence[int]) -> list[int]:
    """Turn by turn: of those that can be run, one that leaves fewer values alive, else the one that could be last.

    Turns that need each other (by what passes have moved) leave the order as it is.
    """
    members: dict[int, list[int]] = {}
    for k, turn in enumerate(turns):
        members.setdefault(turn, []).append(k)
    waits = {t: {turns[j] for k in ks for j in graph.needs[k]} - {t} for t, ks in members.items()}
    after: dict[int, list[int]] = {t: [] for t in members}
    for t, needed in waits.items():
        for u in needed:
            after[u].append(t)
    left = [len(users) for users in graph.users]

    def grows(turn: int) -> int:
        """By how many more values are alive after a turn."""
        read: dict[int, int] = {}
        for k in members[turn]:
            for j in graph.needs[k]:
                read[j] = read.get(j, 0) + 1
        made = sum(left[k] > read.get(k, 0) for k in members[turn])
        return made - sum(left[j] == times for j, times in read.items() if turns[j] != turn)

    ready = {t: 0 for t, needed in waits.items() if not needed}
    order: list[int] = []
    while ready:
        best = min(ready, key=lambda t: (max(grows(t), 0) > 0, min(grows(t), 0), -ready[t], t))
        del ready[best]
        for k in members[best]:
            order.append(k)
            for j in graph.needs[k]:
                left[j] -= 1
        for t in after[best]:
            waits[t].discard(best)
            if not waits[t]:
                ready[t] = len(order)
    return order if len(order) == len(turns) else list(range(len(turns)))


def _by_inputs(graph: _Graph, first: Sequence[Instruction], code: Sequence[Instruction]) -> list[int]:
    """Results, each time one that needs the fewest inputs that no other has needed before: limb by limb."""
    entries = {x.result: 1 << k for k, x in enumerate(y for y in first if isinstance(y, Load))}
    needed: list[int] = []
    for k, x in enumerate(code):
        own = 0
        for v in uses(x):
            own |= entries.get(v, 0)
        for j in graph.needs[k]:
            own |= needed[j]
        needed.append(own)
    left = [k for k, users in enumerate(graph.users) if not users]
    known, order = 0, list[int]()
    while left:
        best = min(left, key=lambda k: (needed[k] & ~known).bit_count())
        known |= needed[best]
        order += [k for k in left if not needed[k] & ~known]
        left = [k for k in left if needed[k] & ~known]
    return order


def _depth_first(graph: _Graph, results: Sequence[int] | None = None) -> list[int]:
    """From each result back to what it needs; and whatever frees as much as it takes is computed at once."""
    left = [len(users) for users in graph.users]
    missing = [len(needs) for needs in graph.needs]
    done = [False] * len(left)
    order: list[int] = []

    def is_free(k: int) -> bool:
        return sum(left[j] == 1 for j in graph.needs[k]) >= bool(graph.users[k])

    for result in [k for k, users in enumerate(graph.users) if not users] if results is None else results:
        path = [result]
        while path:
            if done[path[-1]]:
                path.pop()
                continue
            needed = next((j for j in graph.needs[path[-1]] if not done[j]), None)
            if needed is not None:
                path.append(needed)
                continue
            _with_followers(path.pop(), graph, (done, left, missing, order), is_free)
    return order


def _with_followers(
    first: int,
    graph: _Graph,
    state: tuple[list[bool], list[int], list[int], list[int]],
    is_free: Callable[[int], bool],
) -> None:
    """Put an instruction in its place, and after it all that can follow without more values alive."""
    done, left, missing, order = state
    todo = [first]
    while todo:
        k = todo.pop()
        if done[k]:
            continue
        done[k] = True
        order.append(k)
        for j in graph.needs[k]:
            left[j] -= 1
        for u in graph.users[k]:
            missing[u] -= 1
        near = {u for u in graph.users[k] if not missing[u] and not done[u]}
        for j in graph.needs[k]:
            if left[j] == 1:
                near |= {u for u in graph.users[j] if not missing[u] and not done[u]}
        todo += sorted(u for u in near if is_free(u))
