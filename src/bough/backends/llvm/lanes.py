"""Moving states between arrays (a row per state) and lanes (a vector per component).

A function for each array moves one block of states. Full blocks are transposed in registers, a square of as many
components as there are lanes at a time; a last block that is not full is moved element by element, so that nothing
outside the arrays is touched.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence

from bough.backends.llvm.types import Real

__all__ = ["Turning", "lanes_source", "mover_source"]


def lanes_source(real: Real) -> str:
    """What all functions that move states have in common."""
    return "\n".join([_part(real, "to"), _part(real, "from"), *_masked_declarations(real)])


PAGE = 64
"""Squares after which zeros among them are written: rows of a block are still in the first cache."""


def mover_source(real: Real, way: str, name: str, size: int, zeros: Sequence[int] = ()) -> str:
    """The function @name(rows, stride in bytes, lanes' memory, states) for arrays of `size` components.

    `way` is "to" lanes or "from" lanes. Squares at `zeros` are written as zeros, whatever is in the lanes' memory.
    """
    whole = size - size % real.lanes
    left = _Square(real, size - whole, str(whole), "c")
    (left.to_lanes if way == "to" else left.from_lanes)()
    tables, squares = _squares(real, way, whole) if not zeros else _squares_and_zeros(real, name, whole, zeros)
    forgotten = ""
    if zeros:
        blank = _Square(real, real.lanes, "%kd", "d")
        blank.blank_lanes()
        forgotten = _loop("d", "entry", "part", f"@{name}_zeros", "0", str(len(zeros)), blank.lines)
    return f"""{tables}define internal fastcc void @{name}(ptr %rows, i64 %stride, ptr %lanes, i64 %states) {{
entry:
{_row_addresses(real)}
  %full = icmp eq i64 %states, {real.lanes}
  br i1 %full, label %{"page" if zeros else "a"}, label %{"d" if zeros else "part"}
{squares}
rest:
{_text(left.lines)}
  ret void
{forgotten}
part:
  call fastcc void @{way}_lanes_part(ptr %rows, i64 %stride, i64 {size}, ptr %lanes, i64 %states)
  ret void
}}"""


def _squares(real: Real, way: str, whole: int) -> tuple[str, str]:
    """No tables, and a loop over all squares."""
    square = _Square(real, real.lanes, "%ka", "a")
    (square.to_lanes if way == "to" else square.from_lanes)()
    return "", _loop("a", "entry", "rest", str(real.lanes), "0", str(whole // real.lanes), square.lines)


def _squares_and_zeros(real: Real, name: str, whole: int, zeros: Sequence[int]) -> tuple[str, str]:
    """Tables of squares, of zeros and where they end on each page, and two loops for each page."""
    squares = sorted({*range(0, whole, real.lanes)}.difference(zeros))
    pages = range(0, whole + PAGE * real.lanes, PAGE * real.lanes)
    ends = [bisect_left(places, page) for page in pages for places in (squares, zeros)]
    numbers = {"squares": squares, "zeros": zeros, "ends": ends}
    tables = "".join(_table(f"{name}_{what}", x) for what, x in numbers.items())
    square, blank = _Square(real, real.lanes, "%ka", "a"), _Square(real, real.lanes, "%kb", "b")
    square.from_lanes()
    blank.blank_rows()
    bounds = []
    for k, bound in enumerate(("%s0", "%z0", "%s1", "%z1")):
        bounds += [f"  {bound}p = getelementptr i64, ptr %ends, i64 {k}", f"  {bound} = load i64, ptr {bound}p"]
    loops = f"""page:
  %at = phi i64 [ 0, %entry ], [ %next, %turned ]
  %ends = getelementptr i64, ptr @{name}_ends, i64 %at
{_text(bounds)}
  br label %a
{_loop("a", "page", "b", f"@{name}_squares", "%s0", "%s1", square.lines)}
{_loop("b", "a", "turned", f"@{name}_zeros", "%z0", "%z1", blank.lines)}
turned:
  %next = add i64 %at, 2
  %further = icmp slt i64 %next, {2 * len(pages) - 2}
  br i1 %further, label %page, label %rest"""
    return tables, loops


def _table(name: str, numbers: Sequence[int]) -> str:
    entries = ", ".join(f"i64 {k}" for k in numbers)
    return f"@{name} = private constant [{len(numbers)} x i64] [{entries}]\n"


def _loop(label: str, before: str, following: str, places: str, first: str, end: str, lines: Sequence[str]) -> str:
    """Blocks that run some lines at places %k from a table, or so far apart, and go on elsewhere."""
    place = f"  %k{label} = mul i64 %i{label}, {places}"
    if places.startswith("@"):
        place = f"  %p{label} = getelementptr i64, ptr {places}, i64 %i{label}\n  %k{label} = load i64, ptr %p{label}"
    return f"""{label}:
  %i{label} = phi i64 [ {first}, %{before} ], [ %j{label}, %turn{label} ]
  %more{label} = icmp slt i64 %i{label}, {end}
  br i1 %more{label}, label %turn{label}, label %{following}
turn{label}:
{place}
{_text(lines)}
  %j{label} = add i64 %i{label}, 1
  br label %{label}"""


def _text(lines: Iterable[str]) -> str:
    return "\n".join(lines)


def _row_addresses(real: Real) -> str:
    """%row0 and so on: where the rows of a full block begin."""
    lines = []
    for j in range(real.lanes):
        lines += [f"  %away{j} = mul i64 %stride, {j}", f"  %row{j} = getelementptr i8, ptr %rows, i64 %away{j}"]
    return _text(lines)


class Turning:
    """Turns a few components of all rows into lanes, or back; rows are read and written by halves, to save shuffles.

    With H half the lanes, the halves of rows i and i + H make one vector. Turning over the H x H squares in both halves
    of H such vectors at once gives H components, or takes them. `new` writes a line and returns the name it defines.
    """

    def __init__(self, real: Real, new: Callable[[str], str]) -> None:
        self.real, self.half = real, real.lanes // 2
        self._new = new

    def columns(self, starts: Sequence[str], present: int) -> list[str]:
        """So many components, at most half the lanes, from where they begin in each row."""
        rows = [self._read(start, present) for start in starts]
        pairs = [self._join(rows[i], rows[i + self.half]) for i in range(self.half)]
        return self._turned(pairs)[:present]

    def rows(self, columns: Sequence[str]) -> list[str]:
        """The parts of all rows that some components make; what is missing to half the lanes is undefined."""
        turned = self._turned([*columns, *["undef"] * (self.half - len(columns))])
        return [self._part(name, side) for side in (0, 1) for name in turned]

    @property
    def half_type(self) -> str:
        """Type of a part of a row."""
        return f"<{self.half} x {self.real.element}>"

    def masked(self, way: str) -> str:
        """Name of the function that moves some components of such a part."""
        return f"@llvm.masked.{way}.v{self.half}{Real(self.real.element, 1).suffix}.p0"

    def mask(self, present: int) -> str:
        """The first ones of a part of a row."""
        bits = ", ".join("i1 true" if k < present else "i1 false" for k in range(self.half))
        return f"<{self.half} x i1> <{bits}>"

    def _read(self, place: str, present: int) -> str:
        t, size = self.half_type, self.real.size
        if present == self.half:
            return self._new(f"load {t}, ptr {place}, align {size}")
        return self._new(f"call {t} {self.masked('load')}(ptr {place}, i32 {size}, {self.mask(present)}, {t} undef)")

    def _join(self, low: str, high: str) -> str:
        return self._shuffle(self.half_type, low, high, range(self.real.lanes))

    def _part(self, value: str, side: int) -> str:
        return self._shuffle(self.real.type, value, "undef", range(side * self.half, (side + 1) * self.half))

    def _shuffle(self, t: str, a: str, b: str, places: Iterable[int]) -> str:
        indices = [f"i32 {k}" for k in places]
        return self._new(f"shufflevector {t} {a}, {t} {b}, <{len(indices)} x i32> <{', '.join(indices)}>")

    def _turned(self, names: list[str]) -> list[str]:
        """The squares in both halves, turned over in log2(half) rounds of shuffles."""
        width, stride = self.real.lanes, 1
        while stride < self.half:
            result = list(names)
            low = [j if not j & stride else width + j - stride for j in range(width)]
            high = [j + stride if not j & stride else width + j for j in range(width)]
            for i in (i for i in range(self.half) if not i & stride):
                pair = (names[i], names[i + stride])
                result[i] = self._shuffle(self.real.type, *pair, low)
                result[i + stride] = self._shuffle(self.real.type, *pair, high)
            names, stride = result, 2 * stride
        return names


class _Square:
    """Moves up to `lanes` components of a full block, from component `k` on; names begin with a letter of its own."""

    def __init__(self, real: Real, count: int, k: str, letter: str) -> None:
        self.real, self.count = real, count
        self.lines: list[str] = []
        self._k, self._letter = k, letter
        self._turning = Turning(real, self._new)

    def to_lanes(self) -> None:
        """Rows to lanes."""
        for first, present in self._halves():
            starts = [self._place(j, first) for j in range(self.real.lanes)]
            for k, name in enumerate(self._turning.columns(starts, present)):
                self._line(f"store {self.real.type} {name}, ptr {self._vector(first + k)}, align {self.real.bytes}")

    def from_lanes(self) -> None:
        """Lanes to rows."""
        for first, present in self._halves():
            vectors = [self._vector(first + k) for k in range(present)]
            given = [self._new(f"load {self.real.type}, ptr {v}, align {self.real.bytes}") for v in vectors]
            for row, name in enumerate(self._turning.rows(given)):
                self._write(name, self._place(row, first), present)

    def blank_rows(self) -> None:
        """Zeros to rows."""
        for j in range(self.real.lanes):
            place = self._place(j, 0)
            self._line(f"store {self.real.type} zeroinitializer, ptr {place}, align {self.real.size}")

    def blank_lanes(self) -> None:
        """Zeros to lanes."""
        for j in range(self.real.lanes):
            self._line(f"store {self.real.type} zeroinitializer, ptr {self._vector(j)}, align {self.real.bytes}")

    def _halves(self) -> list[tuple[int, int]]:
        """First component and number of components of each half that has any."""
        half = self._turning.half
        parts = [(first, min(half, self.count - first)) for first in (0, half)]
        return [(first, present) for first, present in parts if present > 0]

    def _line(self, text: str) -> None:
        self.lines.append("  " + text)

    def _new(self, text: str) -> str:
        name = f"%{self._letter}{len(self.lines)}"
        self._line(f"{name} = {text}")
        return name

    def _place(self, row: int, first: int) -> str:
        """Address of a component in a row."""
        start = self._new(f"getelementptr {self.real.element}, ptr %row{row}, i64 {self._k}")
        return self._new(f"getelementptr {self.real.element}, ptr {start}, i64 {first}")

    def _vector(self, component: int) -> str:
        """Address of a component in lanes."""
        start = self._new(f"getelementptr {self.real.type}, ptr %lanes, i64 {self._k}")
        return self._new(f"getelementptr {self.real.type}, ptr {start}, i64 {component}")

    def _write(self, value: str, place: str, present: int) -> None:
        t, size, turning = self._turning.half_type, self.real.size, self._turning
        if present == turning.half:
            self._line(f"store {t} {value}, ptr {place}, align {size}")
            return
        store, mask = turning.masked("store"), turning.mask(present)
        self._line(f"call void {store}({t} {value}, ptr {place}, i32 {size}, {mask})")


def _masked_declarations(real: Real) -> list[str]:
    turning = Turning(real, str)
    t, mask = turning.half_type, f"<{turning.half} x i1>"
    return [
        f"declare {t} {turning.masked('load')}(ptr, i32, {mask}, {t})",
        f"declare void {turning.masked('store')}({t}, ptr, i32, {mask})",
    ]


def _part(real: Real, way: str) -> str:
    """Element by element. Lanes without a state are given the last one's values."""
    e, width = real.element, real.lanes
    limit = width if way == "to" else "%states"
    source, target = ("%p", "%q") if way == "to" else ("%q", "%p")
    return f"""define internal fastcc void @{way}_lanes_part(ptr %rows, i64 %stride, i64 %n, ptr %lanes, i64 %states) {{
entry:
  br label %head
head:
  %j = phi i64 [ 0, %entry ], [ %j1, %done ]
  %more = icmp slt i64 %j, {limit}
  br i1 %more, label %row, label %exit
row:
  %known = icmp slt i64 %j, %states
  %last = sub i64 %states, 1
  %row_of = select i1 %known, i64 %j, i64 %last
  %o = mul i64 %stride, %row_of
  %r = getelementptr i8, ptr %rows, i64 %o
  br label %cols
cols:
  %k = phi i64 [ 0, %row ], [ %k1, %one ]
  %left = icmp slt i64 %k, %n
  br i1 %left, label %one, label %done
one:
  %p = getelementptr {e}, ptr %r, i64 %k
  %base = mul i64 %k, {width}
  %place = add i64 %base, %j
  %q = getelementptr {e}, ptr %lanes, i64 %place
  %x = load {e}, ptr {source}, align {real.size}
  store {e} %x, ptr {target}, align {real.size}
  %k1 = add i64 %k, 1
  br label %cols
done:
  %j1 = add i64 %j, 1
  br label %head
exit:
  ret void
}}"""
