"""Forward mode: what a program computes, and how fast that changes along some directions, all of them at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bough.program.active import active
from bough.program.ir import Apply, Instruction, Load, Program, Store
from bough.program.partials import is_zero, partials
from bough.program.replay import Replay, keeping_loops_of
from bough.scalar import Array, Scalar, array, select, unguarded

__all__ = ["pushed_forward"]


def pushed_forward(
    program: Program, inputs: Mapping[str, Array], rates: Mapping[str, Sequence[Array]], outputs: Sequence[str]
) -> tuple[dict[str, Array], dict[str, list[Array]]]:
    """The outputs of a program, and the rates of some of them along directions.

    Parameters
    ----------
    program
        What is differentiated.
    inputs
        An array of scalars for each input.
    rates
        For some inputs, their rates: an array along each direction. All other inputs are constant.
    outputs
        Names of the outputs whose rates are wanted.
    """
    with keeping_loops_of(program):
        replay = _Forward(program, inputs, rates, outputs)
        results = replay.run()
        return results, {name: replay.rates_of(name) for name in outputs}


class _Forward(Replay):
    """A replay in which active values have rates."""

    def __init__(
        self,
        program: Program,
        inputs: Mapping[str, Array],
        rates: Mapping[str, Sequence[Array]],
        outputs: Sequence[str],
    ) -> None:
        super().__init__(program, inputs)
        self.active = active(program, tuple(rates), outputs)
        self.directions = len(next(iter(rates.values()))) if rates else 0
        self.rates: dict[int, tuple[Scalar, ...]] = {}
        self.rate_memory: dict[str, list[Array]] = {}
        for b in program.buffers:
            if b.name not in self.active.buffers:
                continue
            if b.role == "input":
                self.rate_memory[b.name] = [self.readable(b, x) for x in rates[b.name]]
            else:
                self.rate_memory[b.name] = [unguarded(b.size, b.cleared) for _ in range(self.directions)]

    def rates_of(self, name: str) -> list[Array]:
        """The rates of an output along each direction."""
        size = self.program.buffer(name).size
        return self.rate_memory.get(name) or [array(size) for _ in range(self.directions)]

    def rate(self, value: int) -> tuple[Scalar, ...]:
        """The rates of a value."""
        return self.rates.get(value, (0.0,) * self.directions) if value in self.active.values else self._none

    @property
    def _none(self) -> tuple[Scalar, ...]:
        return (0.0,) * self.directions

    def step(self, x: Instruction) -> None:
        super().step(x)
        if isinstance(x, Apply) and x.result in self.active.values:
            self.rates[x.result] = self._applied(x)
        elif isinstance(x, Load) and x.result in self.active.values:
            place = self.values[x.index]
            self.rates[x.result] = tuple(rates[place] for rates in self.rate_memory[x.buffer])
        elif isinstance(x, Store) and x.buffer in self.active.buffers:
            place = self.values[x.index]
            for rates, rate in zip(self.rate_memory[x.buffer], self.rate(x.value), strict=True):
                rates[place] = rate

    def _applied(self, x: Apply) -> tuple[Scalar, ...]:
        arguments, result = tuple(self.values[a] for a in x.arguments), self.values[x.result]
        moving = [self.rate(a) for a in x.arguments]
        if x.op == "select":  # the rate of what is not selected need not even be finite
            return tuple(select(arguments[0], a, b) for a, b in zip(*moving[1:], strict=True))
        if x.op == "div":
            return tuple((a - result * b) / arguments[1] for a, b in zip(*moving, strict=True))
        found = partials(x.op, arguments, result)
        return tuple(self._sum(found, [rates[k] for rates in moving]) for k in range(self.directions))

    @staticmethod
    def _sum(found: tuple[Any, ...], rates: list[Scalar]) -> Scalar:
        total: Scalar = 0.0
        for partial, rate in zip(found, rates, strict=True):
            if partial is not None and not is_zero(rate):
                total = total + partial * rate
        return total

    def handed(self, value: int, like: int) -> Any:
        if like not in self.active.values:
            return super().handed(value, like)
        return (super().handed(value, like), self.rate(value))

    def take(self, value: int, like: int, handed: Any) -> None:
        if like in self.active.values:
            handed, self.rates[value] = handed
        super().take(value, like, handed)
