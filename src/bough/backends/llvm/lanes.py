"""Moving full blocks of states between arrays (a row per state) and lanes (a vector per component).

Squares of components are turned over in registers. More rows than a processor foresees are written side by side, and
what is written waits until its line is there, in order: a store that misses the first cache holds up all that follow.
So lines are asked for some squares before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

from bough.backends.llvm.types import Lines, Real

__all__ = ["Half", "Moves", "Rows", "columns"]

SQUARES_AHEAD = 2
"""How far ahead of where rows are written their lines are asked for."""

New: TypeAlias = Callable[[str], str]
"""Writes a line and returns the name it defines."""

Place: TypeAlias = str | int
"""The number of a component."""

Way: TypeAlias = Literal["lanes", "rows"]


class Rows(NamedTuple):
    """Where the rows of a block are: the first one, and the bytes from one to the next."""

    first: str
    stride: str

    def __str__(self) -> str:
        """As arguments of a function."""
        return f"ptr {self.first}, i64 {self.stride}"

    def starts(self, real: Real, new: New, k: Place = 0, further: int = 0) -> list[str]:
        """Where component `k` is in each row, or one so many behind it."""
        place = new(f"getelementptr {real.element}, ptr {self.first}, i64 {k}")
        place = new(f"getelementptr {real.element}, ptr {place}, i64 {further}")
        steps = [new(f"mul i64 {self.stride}, {j}") for j in range(real.lanes)]
        return [new(f"getelementptr i8, ptr {place}, i64 {step}") for step in steps]


class Moves:
    """The functions that move blocks to lanes or to rows: each is there once something calls it."""

    def __init__(self, real: Real) -> None:
        self._real = real
        self._sources: dict[str, str] = {}

    def call(self, way: Way, rows: Rows, lanes: str, count: int, places: str = "") -> str:
        """The line that moves so many components, the first ones of rows and lanes.

        Places are the address of a table that tells in which vector of the lanes each component is, if they are not in
        order.
        """
        squares, rest = divmod(count, self._real.lanes)
        squares = min(squares, SQUARES_AHEAD + 1)
        name = f"{'gather' if places else 'move'}_to_{way}_{squares}_{rest}"
        if name not in self._sources:
            self._sources[name] = _Move(self._real, way, squares, rest, bool(places)).source(name)
        return f"call fastcc void @{name}({rows}, ptr {lanes}, i64 {count}, ptr {places or 'null'})"

    def source(self) -> str:
        """All functions that are called."""
        return "\n\n".join(self._sources.values())


class _Move:
    """A function that moves some squares of components and a rest; the largest number of squares stands for more."""

    def __init__(self, real: Real, way: Way, squares: int, rest: int, gathered: bool) -> None:
        self._real, self._squares, self._rest, self._gathered = real, squares, rest, gathered
        self._write = self._to_rows if way == "rows" else self._to_lanes

    def source(self, name: str) -> str:
        """The whole function: one square is straight-line code, several are a loop."""
        square, rest, lanes = Lines("s"), Lines(), self._real.lanes
        self._write(square, 0 if self._squares == 1 else "%k", lanes if self._squares else 0)
        self._write(rest, "%end" if self._squares > 1 else self._squares * lanes, self._rest)
        turns = f"""  %end = sub i64 %count, {self._rest}
  br label %square
square:
  %k = phi i64 [ 0, %entry ], [ %next, %square ]
{square.text()}
  %next = add i64 %k, {lanes}
  %again = icmp slt i64 %next, %end
  br i1 %again, label %square, label %rest
rest:"""
        return f"""define internal fastcc void @{name}(ptr %first, i64 %stride, ptr %lanes, i64 %count, ptr %places) {{
entry:
{turns if self._squares > 1 else square.text()}
{rest.text()}
  ret void
}}"""

    def _to_lanes(self, lines: Lines, k: Place, count: int) -> None:
        """Read so many components from component `k` on, by halves."""
        t, align = self._real.type, self._real.bytes
        for first, some in self._halves(count):
            for j, value in enumerate(columns(self._real, lines.new, self._starts(lines, k, first), some), first):
                lines.line(f"store {t} {value}, ptr {self._vector(lines, k, j)}, align {align}")

    def _to_rows(self, lines: Lines, k: Place, count: int) -> None:
        """Write so many components from component `k` on: a square whole, what is less by halves."""
        real, whole = self._real, count == self._real.lanes
        if whole and self._squares > SQUARES_AHEAD:
            for place in self._starts(lines, k, SQUARES_AHEAD * real.lanes):
                lines.line(f"call void @llvm.prefetch.p0(ptr {place}, i32 1, i32 3, i32 1)")
        for first, some in [(0, count)] if whole else self._halves(count):
            places = [self._vector(lines, k, first + j) for j in range(some)]
            given = [lines.new(f"load {real.type}, ptr {place}, align {real.bytes}") for place in places]
            starts = self._starts(lines, k, first)
            if whole:
                for start, value in zip(starts, _turned(real, given, lines.new), strict=True):
                    lines.line(f"store {real.type} {value}, ptr {start}, align {real.size}")
            else:
                Half(real).write(lines, given, starts)

    def _halves(self, count: int) -> list[tuple[int, int]]:
        """From where on so many components are moved with half the lanes, and how many at a time."""
        half = self._real.lanes // 2
        return [(first, min(half, count - first)) for first in range(0, count, half)]

    def _starts(self, lines: Lines, k: Place, further: int) -> list[str]:
        return Rows("%first", "%stride").starts(self._real, lines.new, k, further)

    def _vector(self, lines: Lines, k: Place, further: int) -> str:
        """Address of the vector of component `k`, or one so many behind it."""
        t, area = ("i64", "%places") if self._gathered else (self._real.type, "%lanes")
        place = lines.new(f"getelementptr {t}, ptr {area}, i64 {k}")
        place = lines.new(f"getelementptr {t}, ptr {place}, i64 {further}")
        if self._gathered:
            place = lines.new(f"getelementptr {self._real.type}, ptr %lanes, i64 {lines.new(f'load i64, ptr {place}')}")
        return place


class Half:
    """Vectors with half the lanes, which are parts of rows."""

    def __init__(self, real: Real) -> None:
        self._real, self.lanes = real, real.lanes // 2
        self.type, self._bits = f"<{self.lanes} x {real.element}>", f"<{self.lanes} x i1>"
        suffix = f"v{self.lanes}{Real(real.element, 1).suffix}.p0"
        self._load, self._store = f"@llvm.masked.load.{suffix}", f"@llvm.masked.store.{suffix}"

    def read(self, new: New, start: str, count: int) -> str:
        """So many components of a row."""
        given = f"ptr {start}, i32 {self._real.size}, {self._first(count)}, {self.type} undef"
        return new(f"call {self.type} {self._load}({given})")

    def write(self, lines: Lines, given: Sequence[str], starts: Sequence[str]) -> None:
        """Write components, at most half the lanes, to where they begin in each row: `columns` the other way round."""
        turned = _turned(self._real, [*given, *["undef"] * (self.lanes - len(given))], lines.new)
        for row, start in enumerate(starts):
            side = self.lanes * (row // self.lanes)
            places = range(side, side + self.lanes)
            part = _shuffled(lines.new, self._real.type, turned[row % self.lanes], "undef", places)
            to = f"ptr {start}, i32 {self._real.size}, {self._first(len(given))}"
            lines.line(f"call void {self._store}({self.type} {part}, {to})")

    def _first(self, count: int) -> str:
        """A mask of the first lanes."""
        return f"{self._bits} <{', '.join('i1 true' if k < count else 'i1 false' for k in range(self.lanes))}>"

    @property
    def declarations(self) -> list[str]:
        """The functions that move some lanes."""
        given = f"ptr, i32, {self._bits}"
        load = f"declare {self.type} {self._load}({given}, {self.type})"
        return [load, f"declare void {self._store}({self.type}, {given})"]


def columns(real: Real, new: New, starts: Sequence[str], count: int) -> list[str]:
    """So many components of all rows, at most half the lanes, from where they begin in each row.

    Rows are read by halves, to save shuffles: with H half the lanes, what is read of rows i and i + H makes one vector.
    Turning over the H x H squares in both halves of H such vectors at once gives H components.
    """
    half = Half(real)
    rows = [half.read(new, start, count) for start in starts]
    pairs = [_shuffled(new, half.type, rows[i], rows[i + half.lanes], range(real.lanes)) for i in range(half.lanes)]
    return _turned(real, pairs, new)[:count]


def _turned(real: Real, names: Sequence[str], new: New) -> list[str]:
    """As many vectors as fit in one, or half of them, turned over: the square they make, or those in both halves."""
    width, stride, result = real.lanes, 1, list(names)
    while stride < len(names):
        low = [j if not j & stride else width + j - stride for j in range(width)]
        high = [j + stride if not j & stride else width + j for j in range(width)]
        for i in (i for i in range(len(names)) if not i & stride):
            pair = (result[i], result[i + stride])
            result[i], result[i + stride] = (_shuffled(new, real.type, *pair, way) for way in (low, high))
        stride *= 2
    return result


def _shuffled(new: New, t: str, a: str, b: str, places: Iterable[int]) -> str:
    indices = [f"i32 {k}" for k in places]
    return new(f"shufflevector {t} {a}, {t} {b}, <{len(indices)} x i32> <{', '.join(indices)}>")
