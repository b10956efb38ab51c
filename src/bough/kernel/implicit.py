"""Derivatives of functions whose results come from conditions, by the implicit function theorem.

A function is a chain of stages with unknowns y that are known to satisfy a residual (`Staged`). Its own program finds
them however it likes; here they are taken as they are. Rates of y are those that keep the residual zero, found with the
factor that the last Newton step would use, and weights go back through its transpose.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from bough.algorithms.soft.linearised import Solver, shares
from bough.kernel.differential import Columns, each_few
from bough.program import Program, pulled_back, pushed_forward, trace
from bough.program.simplify import drop_unused
from bough.scalar import (
    Array,
    Bool,
    Index,
    Part,
    Scalar,
    Table,
    blank,
    gather_index,
    indexable,
    keeping_loops,
    keeps_loops,
    repeat,
    select,
)

__all__ = ["ImplicitLinear", "Staged"]

Scalars: TypeAlias = Sequence[Scalar]
_Two: TypeAlias = tuple[tuple[Scalar, ...], tuple[Scalar, ...]]
_Bars: TypeAlias = dict[str, tuple[Scalar, ...]]


class Staged(Protocol):
    """A function of given arrays by stages: see `bough.algorithms.soft.linearised`."""

    @property
    def stages(self) -> int:
        """How many there are."""

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of z and of y."""

    def start(self) -> list[Scalar]:
        """z of the first stage."""

    def unknowns(self, z: Scalars, warm: Scalars) -> tuple[list[Scalar], tuple[Scalar, ...]]:
        """y of a stage, and what that of the next starts from."""

    def residual(self, z: Scalars, y: Scalars) -> list[Scalar]:
        """Zero where y are the unknowns."""

    def solver(self, z: Scalars, y: Scalars) -> Solver:
        """What solves with the derivative of the residual by y."""

    def stage(self, z: Scalars, y: Scalars, weight: Scalar, reach: Scalar) -> list[Scalar]:
        """z of the next stage."""

    def end(self, z: Scalars) -> dict[str, list[Scalar]]:
        """The outputs after the last, by name."""

    def goes_on(self, after: Mapping[str, Scalars]) -> Bool:
        """Whether these outputs are sound; where they are not, the function gives others, which are constant."""

    def stopped(self) -> dict[str, list[Scalar]]:
        """These others."""


class ImplicitLinear:
    """A staged function at some inputs.

    Parameters
    ----------
    bind
        From arrays by name to the function.
    inputs, sizes
        The arrays, and their sizes.
    warm
        From which unknowns are sought.
    """

    def __init__(
        self,
        bind: Callable[[Mapping[str, Array]], Staged],
        inputs: Mapping[str, Array],
        sizes: Mapping[str, int],
        warm: str,
    ) -> None:
        self._bind, self._inputs, self._sizes = bind, inputs, sizes
        self._step = step = bind(inputs)
        self._nz, self._ny = step.sizes
        begin, first = step.start(), [inputs[warm][k] for k in range(sizes[warm])]
        with keeping_loops():
            self._z, self._y = blank((step.stages + 1) * self._nz), blank(step.stages * self._ny)
        _write(self._z, 0, begin)

        def advance(k: Index, carry: _Two) -> _Two:
            z, warm = carry
            y, warm = step.unknowns(z, warm)
            z = tuple(step.stage(z, y, *shares(k)))
            _write(self._y, k * self._ny, y)
            _write(self._z, (k + 1) * self._nz, z)
            return z, warm

        start: _Two = tuple(begin), tuple(first)
        last, _ = repeat(step.stages, advance, start) if step.stages > 1 else advance(0, start)
        after, stopped = step.end(last), step.stopped()
        self._goes_on, self._ends = step.goes_on(after), {name: len(values) for name, values in after.items()}
        self.outputs: Mapping[str, Array] = {
            name: [select(self._goes_on, new, old) for new, old in zip(values, stopped[name], strict=True)]
            for name, values in after.items()
        }

    def grouped(self, wrt: Sequence[str]) -> list[tuple[str, ...]]:
        """Inputs along which columns are best found by the same code: those that move much of the residual."""
        if self._step.stages > 1:  # where everything moves z
            return [tuple(wrt)]
        moving = tuple(name for name in wrt if name in ("q", "v", "parameters"))
        return [*([moving] if moving else []), *((name,) for name in wrt if name not in moving)]

    # ---- the programs of the parts -------------------------------------------------------------------------------

    def _traced(self, name: str, rule: Callable[..., Mapping[str, Any]], **more: int) -> Program:
        """A part of the function as a program of what is given and more."""

        def run(**x: Array) -> Mapping[str, Any]:
            extra = {key: [x[key][k] for k in range(size)] for key, size in more.items()}
            return rule(self._bind({key: x[key] for key in self._inputs}), **extra)

        sizes = {**{key: self._sizes[key] for key in self._inputs}, **more}
        return drop_unused(trace(name, run, sizes, rolled=keeps_loops()))

    def _start(self) -> Program:
        return self._traced("start", lambda step: {"z_after": step.start()})

    def _residual(self) -> Program:
        return self._traced("residual", lambda step, z, y: {"lack": step.residual(z, y)}, z=self._nz, y=self._ny)

    def _stage(self) -> Program:
        return self._traced(
            "stage", lambda step, z, y, share: {"z_after": step.stage(z, y, *share)}, z=self._nz, y=self._ny, share=2
        )

    def _end(self) -> Program:
        return self._traced("end", lambda step, z: step.end(z), z=self._nz)

    def _moving(self, values: Array, size: int) -> Array:
        """Rates or derivatives, zero where the outputs are constant."""
        return indexable(size, [select(self._goes_on, values[i], 0.0) for i in range(size)])

    def _at(self, k: Index) -> tuple[list[Scalar], list[Scalar], dict[str, Array]]:
        """z and y of a stage, and all that its programs take."""
        z, y = _read(self._z, k * self._nz, self._nz), _read(self._y, k * self._ny, self._ny)
        return z, y, {**self._inputs, "z": z, "y": y, "share": list(shares(k))}

    # ---- forwards ------------------------------------------------------------------------------------------------

    def push(self, groups: Sequence[Columns]) -> None:
        """Find the rates of the outputs along directions."""
        many = self._step.stages > 1
        residual, stage, nz = self._residual(), self._stage(), self._nz
        with keeping_loops():
            memory = [blank(group.count * nz) for group in groups]  # rates of z along each direction

        def begin(group: Columns, kept: Array, start: Program, some: list[Index]) -> None:
            _, found = pushed_forward(start, self._inputs, _several(group, some), ["z_after"])
            for k, rates in zip(some, found["z_after"], strict=True):
                _write(kept, k * nz, [rates[i] for i in range(nz)])

        def follow(group: Columns, kept: Array, inputs: Mapping[str, Array], solver: Solver, some: list[Index]) -> None:
            rates = _several(group, some)
            if many:
                rates["z"] = [_read(kept, k * nz, nz) for k in some]
            _, found = pushed_forward(residual, inputs, rates, ["lack"])
            lacks = ([-lack[i] for i in range(self._ny)] for lack in found["lack"])
            rates["y"] = [list(solver.solution(lack)) for lack in lacks]
            _, found = pushed_forward(stage, inputs, rates, ["z_after"])
            for k, new in zip(some, found["z_after"], strict=True):
                _write(kept, k * nz, [new[i] for i in range(nz)])

        def advance(k: Index, carry: tuple[()]) -> tuple[()]:
            z, y, inputs = self._at(k)
            solver = self._step.solver(z, y)
            for group, kept in zip(groups, memory, strict=True):
                each_few(group.count, lambda some: follow(group, kept, inputs, solver, some))  # noqa: B023
            return carry

        if many:
            start = self._start()
            for group, kept in zip(groups, memory, strict=True):
                each_few(group.count, lambda some: begin(group, kept, start, some))  # noqa: B023
            repeat(self._step.stages, advance, ())
        else:
            advance(0, ())
        self._arrive(groups, memory)

    def _arrive(self, groups: Sequence[Columns], memory: Sequence[Array]) -> None:
        end, nz = self._end(), self._nz
        inputs = {**self._inputs, "z": _read(self._z, self._step.stages * nz, nz)}

        def arrive(group: Columns, kept: Array, some: list[Index]) -> None:
            rates = _several(group, some)
            rates["z"] = [_read(kept, k * nz, nz) for k in some]
            _, found = pushed_forward(end, inputs, rates, list(self.outputs))
            for place, k in enumerate(some):
                group.put(k, {name: self._moving(rates[place], self._ends[name]) for name, rates in found.items()})

        for group, kept in zip(groups, memory, strict=True):
            each_few(group.count, lambda some: arrive(group, kept, some))  # noqa: B023

    # ---- backwards -----------------------------------------------------------------------------------------------

    def pull(self, weights: Mapping[str, Array], wrt: Sequence[str]) -> dict[str, Array]:
        """The derivatives of a weighted sum of outputs by some inputs."""
        stages, nz, ny = self._step.stages, self._nz, self._ny
        residual, stage, sizes = self._residual(), self._stage(), {**self._sizes, "z": nz, "y": ny}
        names = [*wrt, "z"]

        def back(program: Program, inputs: Mapping[str, Array], bars: Mapping[str, Array], by: Sequence[str]) -> _Bars:
            known = {b.name for b in program.of_role("input")}
            found = pulled_back(program, inputs, bars, [name for name in by if name in known])[1]
            return {
                name: tuple(found[name][i] for i in range(sizes[name])) if name in found else (0.0,) * sizes[name]
                for name in by
            }

        def retreat(turn: Index, carry: _Bars) -> _Bars:
            z, y, inputs = self._at(gather_index(Table("backwards", np.arange(stages)[::-1]), turn))
            first = back(stage, inputs, {"z_after": list(carry["z"])}, [*names, "y"])
            bars = [-value for value in self._step.solver(z, y).transposed(first.pop("y"))]
            second = back(residual, inputs, {"lack": bars}, names)
            third = {name: carry[name] for name in wrt}
            return _sum(names, first, second, third)

        last = {**self._inputs, "z": _read(self._z, stages * nz, nz)}
        total = back(self._end(), last, weights, names)
        if stages > 1:
            total = dict(zip(names, _loop(stages, names, retreat, total), strict=True))
            more = back(self._start(), self._inputs, {"z_after": list(total["z"])}, list(wrt))
            total = _sum(wrt, total, more)
        else:
            total = retreat(0, total)
        return {name: self._moving(list(total[name]), self._sizes[name]) for name in wrt}


def _loop(count: int, names: Sequence[str], body: Callable[[Index, _Bars], _Bars], start: _Bars) -> Any:
    """A loop that carries weights by name."""

    def turn(k: Index, carry: tuple[tuple[Scalar, ...], ...]) -> tuple[tuple[Scalar, ...], ...]:
        found = body(k, dict(zip(names, carry, strict=True)))
        return tuple(found[name] for name in names)

    return repeat(count, turn, tuple(start[name] for name in names))


def _sum(names: Sequence[str], *parts: Mapping[str, Sequence[Scalar]]) -> _Bars:
    total: _Bars = {}
    for name in names:
        given = [part[name] for part in parts if name in part]
        total[name] = tuple(sum(values[1:], values[0]) for values in zip(*given, strict=True))
    return total


def _several(group: Columns, some: Sequence[Index]) -> dict[str, list[Array]]:
    """The rates of inputs along some directions."""
    found = [group.rates(k) for k in some]
    return {name: [rates[name] for rates in found] for name in group.wrt}


def _read(values: Array, start: Index, size: int) -> list[Scalar]:
    part = Part(values, start)
    return [part[i] for i in range(size)]


def _write(values: Array, start: Index, entries: Sequence[Scalar]) -> None:
    part = Part(values, start)
    for i, x in enumerate(entries):
        part[i] = x
