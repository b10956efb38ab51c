"""Rows in scratch memory: one structure per row, packed, rows of different kinds of different length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.errors import ProgramError
from bough.program.ir import Buffer
from bough.program.values import Traced, TracedIndex
from bough.scalar import Index, leaves, rebuild, shape
from bough.scalar.control import PlainRows

if TYPE_CHECKING:
    from bough.program.tracer import Tracer

__all__ = ["TracedRows", "UnrolledRows"]


class UnrolledRows(PlainRows):
    """Row storage of an unrolled trace."""

    def __init__(self, tracer: Tracer, count: int) -> None:
        super().__init__(count)
        self._tracer = tracer
        self._level = tracer.level

    def put(self, row: Index, value: Any, kind: int = 0) -> None:
        """Store a structure."""
        if self.is_written(row):
            value = self._tracer.value_to_store(self._level, lambda: self.get(row), value)
        super().put(row, value)


class TracedRows:
    """Row storage of a rolled trace.

    The shape of a kind is learnt when its first row is put. Where rows begin depends on the shapes of all kinds, so the
    table of row starts and the size of the scratch are settled when the trace ends. With kinds given, each kind is put
    at one place of the source only, so leaves that are constants there need no memory.
    """

    def __init__(
        self, tracer: Tracer, count: int, kinds: Sequence[int] | None, order: Sequence[int] | None = None
    ) -> None:
        self._tracer = tracer
        self._level = tracer.level
        self._count = count
        self._kinds = kinds
        self._order = range(count) if order is None else order
        self._shapes: dict[int, Any] = {}
        self._scratch = tracer.declare("rows", "scratch", "float", 0)
        self._starts = None if kinds is None else tracer.declare("row_starts", "table", "int", count)

    def put(self, row: Index, value: Any, kind: int = 0) -> None:
        """Store a structure."""
        if kind not in self._shapes:
            self._shapes[kind] = value
        elif self._kinds is not None:
            raise ProgramError("rows of one kind were put at two places")
        if shape(value) != shape(self._shapes[kind]):
            raise ProgramError("rows of one kind were given structures of different shapes")
        stored = [x for x, known in zip(leaves(value), leaves(self._shapes[kind]), strict=True) if self._varies(known)]
        start = self._start(row)
        for k, x in enumerate(stored):
            self._store(start + k, x)

    def get(self, row: Index, kind: int = 0) -> Any:
        """Load a structure."""
        if kind not in self._shapes:
            raise ProgramError("a row was read before any row of its kind was written")
        shape = self._shapes[kind]
        start, k, values = self._start(row), 0, []
        for x in leaves(shape):
            if self._varies(x):
                values.append(self._tracer.load(self._scratch, start + k))
                k += 1
            else:
                values.append(x)
        return rebuild(shape, iter(values))

    def settle(self) -> None:
        """Fix the size of the scratch and fill in the table of row starts."""
        widths = {kind: sum(map(self._varies, leaves(shape))) for kind, shape in self._shapes.items()}
        if self._kinds is None or self._starts is None:
            size = self._count * widths.get(0, 0)
        else:
            order = np.array(self._order, dtype=np.int64)
            ends = np.cumsum([0, *(widths.get(self._kinds[row], 0) for row in order)], dtype=np.int64)
            starts, size = np.zeros(self._count, dtype=np.int64), int(ends[-1])
            starts[order] = ends[:-1]
            self._tracer.replace(Buffer(self._starts.name, "table", "int", self._count, starts))
        self._tracer.replace(Buffer(self._scratch.name, "scratch", "float", size, cleared=False))

    def _store(self, place: Index, x: Any) -> None:
        new = self._tracer.value_to_store(self._level, lambda: self._tracer.load(self._scratch, place), x)
        self._tracer.store(self._scratch, place, new)

    def _varies(self, leaf: Any) -> bool:
        return self._kinds is None or isinstance(leaf, Traced | TracedIndex)

    def _start(self, row: Index) -> Index:
        if self._starts is not None:
            start: Index = self._tracer.load(self._starts, row)
            return start
        return row * sum(map(self._varies, leaves(self._shapes[0])))
