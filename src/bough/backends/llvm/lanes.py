"""Moving states between arrays (a row per state) and lanes (a vector per component).

`@to_lanes_n` and `@from_lanes_n` move one block of states with n components. Full blocks are transposed in registers; a
last block that is not full is moved element by element, so that nothing outside the arrays is touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from bough.backends.llvm.types import Lines, Real

__all__ = ["Turning", "ahead", "lanes_source", "one_by_one", "turned"]

SQUARES_AHEAD = 2
"""How far ahead of where rows are written their lines are asked for."""


def lanes_source(real: Real, sizes: Iterable[int]) -> str:
    """The functions @to_lanes_n and @from_lanes_n(rows, stride in bytes, lanes' memory, states) for each size n."""
    parts = [one_by_one(real, "to"), one_by_one(real, "from")]
    tails = {n % real.lanes for n in sizes}
    if any(n >= real.lanes for n in sizes):
        tails.add(real.lanes)
    for way in ("to", "from"):
        parts += [_square(real, way, count) for count in sorted(tails - {0})]
        parts += [_mover(real, way, n) for n in sorted(set(sizes))]
    parts += _masked_declarations(real)
    return "\n".join(parts)


def _mover(real: Real, way: str, n: int) -> str:
    """Whole squares one after the other, then what is left of the components."""
    whole, rest = n - n % real.lanes, n % real.lanes
    tail = f"  call fastcc void @{way}_square_{rest}(ptr %rows, i64 %stride, i64 {whole}, ptr %lanes)" if rest else ""
    squares = f"""
head:
  %k = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %k, {whole}
  br i1 %more, label %body, label %rest
body:
  call fastcc void @{way}_square_{real.lanes}(ptr %rows, i64 %stride, i64 %k, ptr %lanes)
  %next = add i64 %k, {real.lanes}
  br label %head"""
    return f"""define internal fastcc void @{way}_lanes_{n}(ptr %rows, i64 %stride, ptr %lanes, i64 %states) {{
entry:
  %full = icmp eq i64 %states, {real.lanes}
  br i1 %full, label %{"head" if whole else "rest"}, label %some{squares if whole else ""}
rest:
{tail}
  ret void
some:
  call fastcc void @{way}_lanes_part(ptr %rows, i64 %stride, i64 0, i64 {n}, ptr %lanes, i64 %states)
  ret void
}}"""


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
        return _shuffled(self._new, t, a, b, places)

    def _turned(self, names: list[str]) -> list[str]:
        """The squares in both halves, turned over."""
        return turned(self.real, names, self._new)


def turned(real: Real, names: Sequence[str], new: Callable[[str], str]) -> list[str]:
    """As many vectors as fit in one, or half of them, turned over: the square they make, or those in both halves.

    `new` writes a line and returns the name it defines.
    """
    width, stride, result = real.lanes, 1, list(names)
    while stride < len(names):
        low = [j if not j & stride else width + j - stride for j in range(width)]
        high = [j + stride if not j & stride else width + j for j in range(width)]
        for i in (i for i in range(len(names)) if not i & stride):
            pair = (result[i], result[i + stride])
            result[i], result[i + stride] = (_shuffled(new, real.type, *pair, way) for way in (low, high))
        stride *= 2
    return result


def ahead(real: Real, lines: Lines, k: str) -> None:
    """Ask for the lines that rows %row0, … are written to, some squares beyond component `k`.

    More rows than a processor foresees are written side by side, and what is written waits until its line is there, in
    order: a store that misses the first cache holds up all that follow.
    """
    place = lines.new(f"add i64 {k}, {SQUARES_AHEAD * real.lanes}")
    for j in range(real.lanes):
        there = lines.new(f"getelementptr {real.element}, ptr %row{j}, i64 {place}")
        lines.line(f"call void @llvm.prefetch.p0(ptr {there}, i32 1, i32 3, i32 1)")


def _shuffled(new: Callable[[str], str], t: str, a: str, b: str, places: Iterable[int]) -> str:
    indices = [f"i32 {k}" for k in places]
    return new(f"shufflevector {t} {a}, {t} {b}, <{len(indices)} x i32> <{', '.join(indices)}>")


class _Square(Lines):
    """Moves up to `lanes` components of a full block."""

    def __init__(self, real: Real, count: int) -> None:
        super().__init__()
        self.real, self.count = real, count
        self._turning = Turning(real, self.new)
        for j in range(real.lanes):
            self.line(f"%o{j} = mul i64 %stride, {j}")
            self.line(f"%r{j} = getelementptr i8, ptr %rows, i64 %o{j}")
            self.line(f"%p{j} = getelementptr {real.element}, ptr %r{j}, i64 %k")
            self.line(f"%k{j} = add i64 %k, {j}")
            self.line(f"%q{j} = getelementptr {real.type}, ptr %lanes, i64 %k{j}")

    def to_lanes(self) -> None:
        """Rows to lanes."""
        for first, present in self._halves():
            starts = [self._place(j, first) for j in range(self.real.lanes)]
            for k, name in enumerate(self._turning.columns(starts, present)):
                self.line(f"store {self.real.type} {name}, ptr %q{first + k}, align {self.real.bytes}")

    def from_lanes(self) -> None:
        """Lanes to rows, of which full ones are written whole: there is less to write than to turn over."""
        if self.count == self.real.lanes:
            given = [self.new(f"load {self.real.type}, ptr %q{k}, align {self.real.bytes}") for k in range(self.count)]
            for row, name in enumerate(turned(self.real, given, self.new)):
                self.line(f"store {self.real.type} {name}, ptr %p{row}, align {self.real.size}")
            return
        for first, present in self._halves():
            given = [
                self.new(f"load {self.real.type}, ptr %q{first + k}, align {self.real.bytes}") for k in range(present)
            ]
            for row, name in enumerate(self._turning.rows(given)):
                self._write(name, self._place(row, first), present)

    def _halves(self) -> list[tuple[int, int]]:
        """First component and number of components of each half that has any."""
        half = self._turning.half
        parts = [(first, min(half, self.count - first)) for first in (0, half)]
        return [(first, present) for first, present in parts if present > 0]

    def _place(self, row: int, first: int) -> str:
        return self.new(f"getelementptr {self.real.element}, ptr %p{row}, i64 {first}")

    def _write(self, value: str, place: str, present: int) -> None:
        t, size, turning = self._turning.half_type, self.real.size, self._turning
        if present == turning.half:
            self.line(f"store {t} {value}, ptr {place}, align {size}")
            return
        store, mask = turning.masked("store"), turning.mask(present)
        self.line(f"call void {store}({t} {value}, ptr {place}, i32 {size}, {mask})")


def _square(real: Real, way: str, count: int) -> str:
    square = _Square(real, count)
    if way == "to":
        square.to_lanes()
    else:
        square.from_lanes()
    body = "\n".join(square.lines)
    return (
        f"define internal fastcc void @{way}_square_{count}(ptr %rows, i64 %stride, i64 %k, ptr %lanes) {{\n"
        f"{body}\n  ret void\n}}"
    )


def _masked_declarations(real: Real) -> list[str]:
    turning = Turning(real, str)
    t, mask = turning.half_type, f"<{turning.half} x i1>"
    return [
        f"declare {t} {turning.masked('load')}(ptr, i32, {mask}, {t})",
        f"declare void {turning.masked('store')}({t}, ptr, i32, {mask})",
    ]


def one_by_one(real: Real, way: str, table: str = "") -> str:
    """The function @{way}_lanes_part: components from `first` to before `n`, element by element.

    Lanes without a state are given the last one's values. A table tells which vector each component is, if that is not
    the one of its number; the function is called after it then.
    """
    e, width = real.element, real.lanes
    limit = width if way == "to" else "%states"
    source, target = ("%p", "%q") if way == "to" else ("%q", "%p")
    head = f"define internal fastcc void @{way}_lanes_part{table}(ptr %rows, i64 %stride, i64 %first, i64 %n,"
    vector = "%vector = add i64 %k, 0"
    if table:
        vector = f"%entry_of = getelementptr i64, ptr @{table}, i64 %k\n  %vector = load i64, ptr %entry_of"
    return f"""{head} ptr %lanes, i64 %states) {{
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
  %k = phi i64 [ %first, %row ], [ %k1, %one ]
  %left = icmp slt i64 %k, %n
  br i1 %left, label %one, label %done
one:
  %p = getelementptr {e}, ptr %r, i64 %k
  {vector}
  %base = mul i64 %vector, {width}
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
