"""Long straight-line programs in stages, each of which computes anew what is not worth to be handed on.

An algorithm says what later stages are given (`bough.scalar.handed_on`): few values, from which much is computed. What
belongs to a stage is found from its end back to these and to the inputs, so nothing else crosses from one to the next.
Results come last, in the order in which they lie, in as many parts as is cheapest. Where they have too much in common
for that, all are computed first, and what comes last only puts them in their places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product

from bough.program.check import check
from bough.program.ir import VERDICT, Apply, Buffer, Const, Instruction, Load, Loop, Program, Store, Switch, uses
from bough.program.parts import length_of
from bough.scalar import Kind

__all__ = ["HANDED", "in_one", "in_stages"]

HANDED = "handed"
"""With the number of a stage behind it: the output of that stage that is an input of later ones."""

WINDOW = 128
"""Results that lie beside each other and are not in different parts."""

MOVED = 18
"""Instructions of a processor in whose time a number goes to or from memory."""

STORED = 3
"""Instructions for each result: it is put beside its neighbours, and brought to its place with them."""


def in_one(program: Program) -> Program:
    """A straight-line program without the scratch memory through which it hands values on."""
    scratch = {b.name for b in program.of_role("scratch")}
    if not scratch or any(isinstance(x, Loop | Switch) for x in program.body):
        return program
    held: dict[tuple[str, int], int] = {}
    same: dict[int, int] = {}
    body: list[Instruction] = []
    for x in program.body:
        if isinstance(x, Apply):
            body.append(Apply(x.result, x.op, tuple([same.get(v, v) for v in x.arguments])))
        elif isinstance(x, Store) and x.buffer in scratch:
            held[x.buffer, x.index] = same.get(x.value, x.value)
        elif isinstance(x, Load) and x.buffer in scratch:
            same[x.result] = held[x.buffer, x.index]
        else:
            body.append(replace(x, value=same.get(x.value, x.value)) if isinstance(x, Store) else x)
    buffers = tuple(b for b in program.buffers if b.role != "scratch")
    made = replace(program, body=tuple(body), buffers=buffers)
    check(made)
    return made


def in_stages(
    program: Program, longest: int, finite: Collection[str] = (), flag: float = 0.0, in_order: bool = True
) -> tuple[Program, ...]:
    """The stages of a straight-line program, the last ones of about so many instructions of a processor at most.

    Each stage but the last ones fills an array, called `HANDED` and its number. Results are stored by the last ones,
    `in_order` or where they are known; each adds `flag` to the verdict where one that it stores is not finite, of the
    outputs that are to be.
    """
    staged = _Staged(program, longest, finite, flag, in_order)
    parts = [staged.early(level) for level in range(staged.last)]
    return (*parts, *staged.late())


@dataclass(frozen=True)
class _Slice:
    """Instructions by their place, and the places of what was handed on that they load."""

    code: frozenset[int]
    loads: frozenset[int]


class _Staged:
    """A program that is cut into stages."""

    def __init__(self, program: Program, longest: int, finite: Collection[str], flag: float, in_order: bool) -> None:
        self._in_order = in_order
        self._program, self._longest, self._finite, self._flag = program, longest, set(finite), flag
        self._code = [x for x in program.body if not isinstance(x, Const)]
        self._constants = {x.result: x for x in program.body if isinstance(x, Const)}
        self._made = {x.result: k for k, x in enumerate(self._code) if not isinstance(x, Store)}  # type: ignore[union-attr]
        scratch = {b.name for b in program.of_role("scratch")}
        self._held: dict[int, int] = {}  # by the place of a load of what was handed on: the value that was stored
        stored: dict[tuple[str, int], int] = {}
        for k, x in enumerate(self._code):
            if isinstance(x, Store) and x.buffer in scratch:
                stored[x.buffer, x.index] = x.value
            elif isinstance(x, Load) and x.buffer in scratch:
                self._held[k] = stored[x.buffer, x.index]
        stores = [x for x in self._code if isinstance(x, Store) and x.buffer not in scratch]
        order = {b.name: k for k, b in enumerate(program.buffers)}
        self._verdict = [x for x in stores if x.buffer == VERDICT]
        self._results = sorted(
            (x for x in stores if x.buffer != VERDICT),
            key=lambda x: (order[x.buffer], self._constants[x.index].value),
        )
        self._slices = {k: self._slice((v,)) for k, v in self._held.items()}
        needed = self._needed()
        self._levels = self._cheapest_levels(needed)
        self._places = self._placed(needed)
        self.last = 1 + max(self._levels.values(), default=-1)

    def _slice(self, values: Iterable[int]) -> _Slice:
        """What values need, back to inputs and to what was handed on."""
        code, loads = set[int](), set[int]()
        todo = [self._made[v] for v in values if v in self._made]
        while todo:
            k = todo.pop()
            if k in code or k in loads:
                continue
            if k in self._held:
                loads.add(k)
            else:
                code.add(k)
                todo += [self._made[v] for v in uses(self._code[k]) if v in self._made]
        return _Slice(frozenset(code), frozenset(loads))

    def _needed(self) -> list[int]:
        """The places of loads of what was handed on from which a result comes."""
        needed = set(self._slice(x.value for x in (*self._results, *self._verdict)).loads)
        for k in sorted(self._held, reverse=True):
            if k in needed:
                needed |= self._slices[k].loads
        return sorted(needed)

    def _cheapest_levels(self, needed: Sequence[int]) -> dict[int, int]:
        """By the place of a load, the stage that stores it: of those that can, where most is computed already.

        What was handed on together stays together.
        """
        groups: dict[str, list[int]] = {}
        for k in needed:
            groups.setdefault(self._code[k].buffer, []).append(k)  # type: ignore[union-attr]
        group_of = {k: name for name, members in groups.items() for k in members}
        before = {
            name: {group_of[j] for k in members for j in self._slices[k].loads} - {name}
            for name, members in groups.items()
        }
        first: dict[str, int] = {}
        for name in groups:  # in the order in which they are stored
            first[name] = 1 + max((first[x] for x in before[name]), default=-1)
        count = 1 + max(first.values(), default=-1)
        codes = {name: frozenset().union(*(self._slices[k].code for k in members)) for name, members in groups.items()}
        best: tuple[int, dict[str, int]] | None = None
        for levels in product(*(range(first[name], count) for name in groups)):
            chosen = dict(zip(groups, levels, strict=True))
            if any(chosen[x] >= chosen[name] for name in groups for x in before[name]):
                continue
            stages = [frozenset().union(*(codes[n] for n in groups if chosen[n] == k)) for k in range(count)]
            length = sum(self._length(code) for code in stages)
            if best is None or length < best[0]:
                best = length, chosen
        return {} if best is None else {k: best[1][name] for k, name in group_of.items()}

    def _placed(self, needed: Sequence[int]) -> dict[int, tuple[int, int]]:
        """By the place of a load that is needed: the stage that stores it, and where in its array."""
        places: dict[int, tuple[int, int]] = {}
        sizes: dict[int, int] = {}
        for k in needed:
            level = self._levels[k]
            places[k] = level, sizes.get(level, 0)
            sizes[level] = places[k][1] + 1
        return places

    # ---- stages --------------------------------------------------------------------------------------------------

    def early(self, level: int) -> Program:
        """The program that fills the array of a stage."""
        stored = {place: self._held[k] for k, (own, place) in self._places.items() if own == level}
        verdict = [x.value for x in self._verdict] if level == self._level_of_verdict() else []
        return self._part(f"{HANDED}{level}", stored, (), verdict)

    def _level_of_verdict(self) -> int:
        loads = self._slice(x.value for x in self._verdict).loads
        return min(1 + max((self._levels[k] for k in loads), default=-1), self.last)

    def late(self) -> list[Program]:
        """The programs that store the results: each what it needs, or all that are computed before."""
        windows = [self._results[k : k + WINDOW] for k in range(0, len(self._results), WINDOW)]
        cost, cuts = self._cheapest(windows)
        distinct = list(dict.fromkeys(x.value for x in self._results if x.value not in self._constants))
        whole = self._slice(distinct)
        computed = self._cost(whole, 0) + len(distinct) * 2 + STORED * len(self._results) / MOVED
        verdict = [x.value for x in self._verdict] if self.last == self._level_of_verdict() else []
        if cost <= computed:
            groups = [[x for w in windows[a:b] for x in w] for a, b in pairwise(cuts)]
            return [self._part("", {}, group, verdict if not k else []) for k, group in enumerate(groups)]
        name = f"{HANDED}{self.last}"
        first = self._part(name, dict(enumerate(distinct)), (), verdict)
        return [first, self._moving(name, distinct)]

    def _cost(self, part: _Slice, stored: int) -> float:
        """What a part costs, in numbers moved."""
        return len(part.loads) + (self._length(part.code) + STORED * stored) / MOVED

    def _length(self, code: Iterable[int]) -> int:
        return sum(length_of(self._code[k]) for k in code)

    def _cheapest(self, windows: Sequence[Sequence[Store]]) -> tuple[float, list[int]]:
        """Where to cut the windows into parts, and what these cost."""
        slices = [self._slice(x.value for x in window) for window in windows]
        costs, before = [0.0] + [float("inf")] * len(windows), [0] * (len(windows) + 1)
        for a in range(len(windows)):
            code, loads, length, stored = set[int](), set[int](), 0, 0
            for b in range(a, len(windows)):
                length += self._length(slices[b].code - code)
                code |= slices[b].code
                loads |= slices[b].loads
                stored += len(windows[b])
                if length + STORED * stored > self._longest and b > a:
                    break
                inputs = sum(isinstance(self._code[k], Load) for k in code)
                cost = costs[a] + len(loads) + inputs + (length + STORED * stored) / MOVED
                if cost < costs[b + 1]:
                    costs[b + 1], before[b + 1] = cost, a
        cuts = [len(windows)]
        while cuts[-1]:
            cuts.append(before[cuts[-1]])
        return costs[-1], cuts[::-1]

    # ---- programs ------------------------------------------------------------------------------------------------

    def _part(self, name: str, handed: dict[int, int], results: Sequence[Store], verdict: Sequence[int]) -> Program:
        """A program that stores values of these in an array of that name, and results."""
        own = self._slice((*handed.values(), *(x.value for x in results), *verdict))
        new = _Numbers(self._program.kinds)
        stores: dict[int, list[Store]] = {}
        for place, value in handed.items():
            stores.setdefault(value, []).append(Store(name, new.place(place), value))
        for x in () if self._in_order else results:
            stores.setdefault(x.value, []).append(x)
        code: list[Instruction] = []
        for k in sorted(own.code | own.loads):
            made: int = self._code[k].result  # type: ignore[union-attr]
            if k in own.loads:
                level, place = self._places[k]
                code.append(Load(made, f"{HANDED}{level}", new.place(place)))
            else:
                code.append(self._code[k])
            code += stores.pop(made, ())  # at once: few wait
        code += [x for waiting in stores.values() for x in waiting]
        if self._in_order:
            code += _computed_again(results, code, new)
        code += self._judged(results, verdict, new)
        sizes = {f"{HANDED}{level}": place + 1 for level, place in sorted(self._places.values())}
        return self._program_of(name, len(handed), code, new, sizes)

    def _judged(self, results: Sequence[Store], verdict: Sequence[int], new: _Numbers) -> list[Instruction]:
        """What stores a verdict: one that was computed, and whether results are finite."""
        values = dict.fromkeys(x.value for x in results if x.buffer in self._finite)
        code, terms = new.is_not_finite([v for v in values if v not in self._constants], self._flag)
        for v in verdict:
            terms = [v, *terms]
        if not terms:
            return []
        total = terms[0]
        for v in terms[1:]:
            code.append(Apply(new.value("float"), "add", (total, v)))
            total = code[-1].result  # type: ignore[union-attr]
        return [*code, Store(VERDICT, new.place(0), total)]

    def _moving(self, name: str, distinct: Sequence[int]) -> Program:
        """The program that reads all results from an array and stores them where they belong."""
        new, code = _Numbers(self._program.kinds), list[Instruction]()
        for place, value in enumerate(distinct):
            code.append(Load(value, name, new.place(place)))
        code += self._results
        code += self._judged(self._results, (), new)
        return self._program_of("", 0, code, new, {name: len(distinct)})

    def _program_of(
        self, name: str, size: int, code: list[Instruction], new: _Numbers, sizes: dict[str, int]
    ) -> Program:
        used = {v for x in code for v in uses(x)}
        constants = [x for x in self._constants.values() if x.result in used]
        touched = {x.buffer for x in code if isinstance(x, Load | Store)}
        buffers = [b for b in self._program.of_role("input") if b.name in touched]
        given = {b: n for b, n in sizes.items() if b in touched and b != name}
        buffers += [Buffer(b, "input", "float", n, cleared=False) for b, n in given.items()]
        if name:
            buffers.append(Buffer(name, "output", "float", size, cleared=False))
        buffers += [b for role in ("output", "table") for b in self._program.of_role(role) if b.name in touched]
        body = (*constants, *new.constants, *code)
        part = replace(self._program, buffers=tuple(buffers), body=body, kinds=tuple(new.kinds))
        check(part)
        return part


def _computed_again(results: Sequence[Store], code: Sequence[Instruction], new: _Numbers) -> list[Instruction]:
    """Results in order; those that are stored a second time are computed again rather than that they wait for it.

    A matrix is symmetric, and its rows are stored one after the other.
    """
    made = {x.result: x for x in code if isinstance(x, Apply)}
    users = Counter(v for x in code for v in uses(x))
    seen, found = set[int](), list[Instruction]()

    def again(v: int) -> int:
        x = made.get(v)
        if x is None:
            return v
        result = new.value(new.kinds[v])
        arguments = tuple(again(a) if users[a] == 1 else a for a in x.arguments)
        found.append(Apply(result, x.op, arguments))
        return result

    for x in results:
        found.append(replace(x, value=again(x.value)) if x.value in seen else x)
        seen.add(x.value)
    return found


class _Numbers:
    """Values and constants that are added to a program."""

    def __init__(self, kinds: Sequence[Kind]) -> None:
        self.kinds, self.constants = list(kinds), list[Const]()
        self._known: dict[tuple[float | int, Kind], int] = {}

    def value(self, kind: Kind) -> int:
        """A fresh value."""
        self.kinds.append(kind)
        return len(self.kinds) - 1

    def place(self, k: int) -> int:
        """An index."""
        return self._constant(k, "int")

    def _constant(self, x: float | int, kind: Kind) -> int:
        if (key := (x, kind)) not in self._known:
            self._known[key] = self.value(kind)
            self.constants.append(Const(self._known[key], x))
        return self._known[key]

    def is_not_finite(self, values: Sequence[int], flag: float) -> tuple[list[Instruction], list[int]]:
        """A number that is zero where all of some are finite, else a flag; and the code for it."""
        code: list[Instruction] = []
        if not values:
            return code, []

        def apply(op: str, *arguments: int, kind: Kind = "float") -> int:
            result = self.value(kind)
            code.append(Apply(result, op, arguments))
            return result

        total = values[0]
        for v in values[1:]:
            total = apply("add", total, v)
        inside = [
            apply("lt", total, self._constant(float("inf"), "float"), kind="bool"),
            apply("lt", self._constant(float("-inf"), "float"), total, kind="bool"),
        ]
        both = apply("and", *inside, kind="bool")
        return code, [apply("select", both, self._constant(0.0, "float"), self._constant(flag, "float"))]
