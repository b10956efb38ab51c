"""Reverse mode: what a program computes, and the gradient of a weighted sum of its outputs by all inputs at once.

The program is run forwards, then its instructions are gone through backwards, each adding to the *weights* of what it
read: the derivatives of the sum by these values. A store hands the weight of its place to the value and leaves none
there; a load adds its weight to that of the place. So memory may be written over, as rolled programs do.

Loops run backwards. What a turn read from memory, was given or cost much is kept, a row for each turn; all else of it
is computed again. A turn in which a state was done already, or that was not run, is skipped.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from bough.errors import ProgramError
from bough.program.active import active, free_values
from bough.program.bounds import Bounds, HandedIndices
from bough.program.ir import Apply, Block, Const, Instruction, Load, Loop, Program, Store, Switch, walk
from bough.program.partials import is_zero, partials
from bough.program.replay import Replay, keeping_loops_of
from bough.scalar import Array, Index, Scalar, Symbolic, array, blank, each, gather_index, loop, select, switch
from bough.scalar.lazy import cached_property

__all__ = ["pulled_back", "runs_back"]

COSTLY = ("div", "sqrt", "sin", "cos", "atan2")
"""Operations whose results are kept, and not computed again."""

MOST_TURNS = 2**20
"""Turns of a loop, in all, for which numbers may be kept."""


def runs_back(program: Program) -> bool:
    """Whether a program can be run back: whether what its loops would have to keep is not too much."""
    return _most_turns(Bounds(program)) <= MOST_TURNS


def _most_turns(bounds: Bounds) -> int:
    return max((rows for _, rows in bounds.rows()), default=0)


def pulled_back(
    program: Program, inputs: Mapping[str, Array], weights: Mapping[str, Array], wrt: Sequence[str]
) -> tuple[dict[str, Array], dict[str, Array]]:
    """The outputs of a program, and the derivatives of a weighted sum of them by some inputs.

    Parameters
    ----------
    program
        What is differentiated.
    inputs
        An array of scalars for each input.
    weights
        For some outputs, the weight of each of their entries. All other outputs have none.
    wrt
        Names of the inputs by which the sum is differentiated.
    """
    with keeping_loops_of(program):
        replay = _Reverse(program, inputs, weights, wrt)
        results = replay.run()
        replay.reverse(program.body)
        return results, {name: replay.weights_of(name) for name in wrt}


class _Reverse(Replay):
    """A replay that keeps what the way back needs, and the way back."""

    def __init__(
        self, program: Program, inputs: Mapping[str, Array], weights: Mapping[str, Array], wrt: Sequence[str]
    ) -> None:
        super().__init__(program, inputs)
        self.active = active(program, wrt, tuple(weights))
        self.weights: dict[int, Scalar] = {}
        self.weight_memory: dict[str, Array] = {}
        self._bounds = Bounds(program)
        self._rows: list[tuple[Index, int]] = []  # where in what is kept the blocks being run belong, of how many
        self._kept: dict[int, Array] = {}
        turns = _most_turns(self._bounds)
        if turns > MOST_TURNS:
            raise ProgramError(
                f"program {program.name!r} cannot be run back: a loop takes up to {turns} turns, all to be kept; "
                f"expected at most {MOST_TURNS}. Forward mode (jvp) keeps nothing"
            )
        self._ran = {x.counter: array(rows) for x, rows in self._bounds.rows() if x.done is not None}
        for b in program.buffers:
            if b.name in self.active.buffers:
                memory = self.weight_memory[b.name] = array(b.size)
                if b.name in weights:
                    _copy(memory, b.size, weights[b.name])

    def weights_of(self, name: str) -> Array:
        """The derivatives by an input."""
        return self.weight_memory[name] if name in self.weight_memory else array(self.program.buffer(name).size)

    # ---- forwards ------------------------------------------------------------------------------------------------

    def step(self, x: Instruction) -> None:
        super().step(x)
        if self._rows:
            self._keep_of(x)

    def begin_turn(self, x: Loop, counter: Any, before: Block) -> None:
        self._enter_turn(x, counter)
        for value in x.carried:
            self._keep(value)
        for y in before:
            self._keep_of(y)
        if x.done is not None:
            self._ran[x.counter][self._rows[-1][0]] = 1.0

    def begin_branch(self, x: Switch) -> None:
        self._rows.append(self._rows[-1] if self._rows else (0, 1))

    def end_block(self) -> None:
        self._rows.pop()

    def _enter_turn(self, x: Loop, counter: Any) -> None:
        most = self._bounds.most(x.count)
        row, rows = self._rows[-1] if self._rows else (0, 1)
        self._rows.append((counter + row * most if self._rows else counter, rows * most))

    def _keep_of(self, x: Instruction) -> None:
        """Keep the results of an instruction that cannot be had again, or not cheaply."""
        if isinstance(x, Load):
            if x.buffer not in self.tables and self.program.buffer(x.buffer).role != "input":
                self._keep(x.result)
        elif isinstance(x, Loop | Switch):
            for value in x.results:
                self._keep(value)
        elif isinstance(x, Apply) and x.op in COSTLY and isinstance(self.values[x.result], Symbolic):
            self._keep(x.result)

    def _keep(self, value: int) -> None:
        x, kind = self.values[value], self.program.kinds[value]
        if kind == "int":
            return  # known without being kept
        row, rows = self._rows[-1]
        if value not in self._kept:
            self._kept[value] = blank(rows)
        self._kept[value][row] = select(x, 1.0, 0.0) if kind == "bool" else x

    @cached_property
    def _indices(self) -> HandedIndices:
        return HandedIndices(self.program, self._bounds)

    def _kept_value(self, value: int) -> Any:
        row = self._rows[-1][0]
        if self.program.kinds[value] == "int":
            return gather_index(self._indices.table(value), row)
        x = self._kept[value][row]
        return x > 0.5 if self.program.kinds[value] == "bool" else x

    def _restore(self, block: Block) -> None:
        """Make the values of a block visible again."""
        for x in block:
            if isinstance(x, Loop | Switch):
                for value in x.results:
                    self.values[value] = self._kept_value(value)
            elif isinstance(x, Const | Apply | Load):
                if x.result in self._kept:
                    self.values[x.result] = self._kept_value(x.result)
                else:
                    Replay.step(self, x)

    # ---- backwards -----------------------------------------------------------------------------------------------

    def reverse(self, block: Block) -> None:
        """Go through a block backwards."""
        for x in reversed(block):
            if isinstance(x, Apply):
                self._reverse_apply(x)
            elif isinstance(x, Load):
                self._reverse_load(x)
            elif isinstance(x, Store):
                self._reverse_store(x)
            elif isinstance(x, Loop):
                self._reverse_loop(x)
            elif isinstance(x, Switch):
                self._reverse_switch(x)

    def _add(self, value: int, weight: Scalar) -> None:
        if value in self.active.values and not is_zero(weight):
            known = self.weights.get(value)
            self.weights[value] = weight if known is None else known + weight

    def _reverse_apply(self, x: Apply) -> None:
        weight = self.weights.pop(x.result, 0.0)
        if is_zero(weight):
            return
        arguments, result = tuple(self.values[a] for a in x.arguments), self.values[x.result]
        if x.op == "select":
            self._add(x.arguments[1], select(arguments[0], weight, 0.0))
            self._add(x.arguments[2], select(arguments[0], 0.0, weight))
        elif x.op == "div":
            part = weight / arguments[1]
            self._add(x.arguments[0], part)
            self._add(x.arguments[1], -(part * result))
        else:
            found = partials(x.op, arguments, result)
            for argument, slope in zip(x.arguments, found, strict=True):
                if slope is not None and argument in self.active.values:
                    self._add(argument, slope * weight)

    def _reverse_load(self, x: Load) -> None:
        weight = self.weights.pop(x.result, 0.0)
        if not is_zero(weight) and x.buffer in self.weight_memory:
            memory, place = self.weight_memory[x.buffer], self.values[x.index]
            memory[place] = memory[place] + weight

    def _reverse_store(self, x: Store) -> None:
        if x.buffer in self.weight_memory:
            memory, place = self.weight_memory[x.buffer], self.values[x.index]
            self._add(x.value, memory[place])
            memory[place] = 0.0

    def _reverse_loop(self, x: Loop) -> None:
        outer = self._outer((x.body,), x.following, x.carried)
        kept = [k for k, v in enumerate(x.carried) if v in self.active.values]
        if not outer and not kept and self._is_idle((x.body,)):
            return

        def turn(counter: Any, carry: tuple[Any, ...]) -> tuple[Any, ...]:
            self._enter_turn(x, counter)
            self.values[x.counter] = counter

            def back(carry: tuple[Any, ...]) -> tuple[Any, ...]:
                for value in x.carried:
                    self.values[value] = self._kept_value(value)
                given = [(x.following[k], weight) for k, weight in zip(kept, carry[0], strict=True)]
                return self._back(x.body, outer, carry[1], given, [x.carried[k] for k in kept])

            if x.done is not None:
                ran = self._ran[x.counter][self._rows[-1][0]]
                following = loop(1, lambda _, state: back(state), carry, until=lambda _: ran < 0.5)
            else:
                following = back(carry)
            self._rows.pop()
            return following

        ends = tuple(self.weights.pop(x.results[k], 0.0) for k in kept)
        carry = (ends, tuple(self.weights.get(v, 0.0) for v in outer))
        starts, totals = loop(self.values[x.count], turn, carry, reverse=not x.reverse)
        self.weights.update(zip(outer, totals, strict=True))
        for k, weight in zip(kept, starts, strict=True):
            self._add(x.initial[k], weight)

    def _reverse_switch(self, x: Switch) -> None:
        outer = self._outer(x.branches, [v for values in x.yields for v in values], ())
        kept = [k for k, v in enumerate(x.results) if v in self.active.values]
        if not outer and not kept and self._is_idle(x.branches):
            return
        before = tuple(self.weights.get(v, 0.0) for v in outer)
        ends = [self.weights.pop(x.results[k], 0.0) for k in kept]

        def branch(number: int) -> tuple[Any, ...]:
            self.begin_branch(x)
            given = [(x.yields[number][k], weight) for k, weight in zip(kept, ends, strict=True)]
            _, totals = self._back(x.branches[number], outer, before, given, [])
            self._rows.pop()
            return totals

        branches = [partial(branch, k) for k in range(len(x.branches))]
        self.weights.update(zip(outer, switch(self.values[x.selector], branches), strict=True))

    def _outer(self, blocks: Sequence[Block], handed: Collection[int], own: Collection[int]) -> list[int]:
        """Active values from outside that blocks use or hand on; `own` are those that a loop gives them."""
        return sorted((free_values(blocks, handed) & self.active.values) - set(own))

    def _is_idle(self, blocks: Sequence[Block]) -> bool:
        """Whether blocks leave all memory alone that has weights."""
        touched = {x.buffer for block in blocks for x in walk(block) if isinstance(x, Load | Store)}
        return touched.isdisjoint(self.weight_memory)

    def _back(
        self,
        block: Block,
        outer: list[int],
        totals: tuple[Scalar, ...],
        given: list[tuple[int, Scalar]],
        wanted: list[int],
    ) -> tuple[tuple[Scalar, ...], tuple[Scalar, ...]]:
        """Go through the block of a turn or branch: weights of `wanted`, and those of values from outside, added up."""
        surrounding, self.weights = self.weights, dict(zip(outer, totals, strict=True))
        self._restore(block)
        for value, weight in given:
            self._add(value, weight)
        self.reverse(block)
        found, self.weights = self.weights, surrounding
        return tuple(found.get(v, 0.0) for v in wanted), tuple(found.get(v, 0.0) for v in outer)


def _copy(to: Array, size: int, values: Array) -> None:
    def put(k: Any) -> None:
        to[k] = values[k]

    if isinstance(values, list):
        for k in range(size):
            put(k)
    else:
        each(size, put)
