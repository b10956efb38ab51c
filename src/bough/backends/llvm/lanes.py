"""Moving states between arrays (a row per state) and lanes (a vector per component).

`@to_lanes_n` and `@from_lanes_n` move one block of states with n components. Full blocks are transposed in registers; a
last block that is not full is moved element by element, so that nothing outside the arrays is touched.
"""

from __future__ import annotations

from collections.abc import Iterable

from bough.backends.llvm.types import Real

__all__ = ["lanes_source"]


def lanes_source(real: Real, sizes: Iterable[int]) -> str:
    """The functions @to_lanes_n and @from_lanes_n(rows, stride in bytes, lanes' memory, states) for each size n."""
    parts = [_part(real, "to"), _part(real, "from")]
    tails = {n % real.lanes for n in sizes}
    if any(n >= real.lanes for n in sizes):
        tails.add(real.lanes)
    for way in ("to", "from"):
        parts += [_square(real, way, count) for count in sorted(tails - {0})]
        parts += [_mover(real, way, n) for n in sorted(set(sizes))]
    parts += _masked_declarations(real, tails)
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
  call fastcc void @{way}_lanes_part(ptr %rows, i64 %stride, i64 {n}, ptr %lanes, i64 %states)
  ret void
}}"""


class _Square:
    """Moves up to `lanes` components of a full block; rows are read and written by halves, which saves shuffles.

    With H half the lanes, the halves of rows i and i + H make one vector. Turning over the H x H squares in both halves
    of H such vectors at once gives H components, or takes them.
    """

    def __init__(self, real: Real, count: int) -> None:
        self.real, self.count, self.half = real, count, real.lanes // 2
        self.lines: list[str] = []
        for j in range(real.lanes):
            self._line(f"%o{j} = mul i64 %stride, {j}")
            self._line(f"%r{j} = getelementptr i8, ptr %rows, i64 %o{j}")
            self._line(f"%p{j} = getelementptr {real.element}, ptr %r{j}, i64 %k")
            self._line(f"%k{j} = add i64 %k, {j}")
            self._line(f"%q{j} = getelementptr {real.type}, ptr %lanes, i64 %k{j}")

    def to_lanes(self) -> None:
        """Rows to lanes."""
        for first, present in self._halves():
            rows = [self._read(j, first, present) for j in range(self.real.lanes)]
            pairs = [self._join(rows[i], rows[i + self.half]) for i in range(self.half)]
            for k, name in enumerate(self._turned(pairs)[:present]):
                self._line(f"store {self.real.type} {name}, ptr %q{first + k}, align {self.real.bytes}")

    def from_lanes(self) -> None:
        """Lanes to rows."""
        for first, present in self._halves():
            given = [
                self._new(f"load {self.real.type}, ptr %q{first + k}, align {self.real.bytes}") for k in range(present)
            ]
            turned = self._turned(given + ["undef"] * (self.half - present))
            for i, name in enumerate(turned):
                for side in (0, 1):
                    self._write(self._part(name, side), i + side * self.half, first, present)

    def _halves(self) -> list[tuple[int, int]]:
        """First component and number of components of each half that has any."""
        parts = [(first, min(self.half, self.count - first)) for first in (0, self.half)]
        return [(first, present) for first, present in parts if present > 0]

    def _line(self, text: str) -> None:
        self.lines.append("  " + text)

    def _new(self, text: str) -> str:
        name = f"%s{len(self.lines)}"
        self._line(f"{name} = {text}")
        return name

    @property
    def _half_type(self) -> str:
        return f"<{self.half} x {self.real.element}>"

    def _place(self, row: int, first: int) -> str:
        return self._new(f"getelementptr {self.real.element}, ptr %p{row}, i64 {first}")

    def _read(self, row: int, first: int, present: int) -> str:
        t, place = self._half_type, self._place(row, first)
        if present == self.half:
            return self._new(f"load {t}, ptr {place}, align {self.real.size}")
        name = f"@llvm.masked.load.v{self.half}{Real(self.real.element, 1).suffix}.p0"
        return self._new(f"call {t} {name}(ptr {place}, i32 {self.real.size}, {self._mask(present)}, {t} undef)")

    def _write(self, value: str, row: int, first: int, present: int) -> None:
        t, place = self._half_type, self._place(row, first)
        if present == self.half:
            self._line(f"store {t} {value}, ptr {place}, align {self.real.size}")
            return
        name = f"@llvm.masked.store.v{self.half}{Real(self.real.element, 1).suffix}.p0"
        self._line(f"call void {name}({t} {value}, ptr {place}, i32 {self.real.size}, {self._mask(present)})")

    def _mask(self, present: int) -> str:
        bits = ", ".join("i1 true" if k < present else "i1 false" for k in range(self.half))
        return f"<{self.half} x i1> <{bits}>"

    def _join(self, low: str, high: str) -> str:
        return self._shuffle(self._half_type, low, high, range(self.real.lanes))

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


def _masked_declarations(real: Real, tails: set[int]) -> list[str]:
    half = real.lanes // 2
    if all(count % half == 0 for count in tails):
        return []
    t, name = f"<{half} x {real.element}>", f"v{half}{Real(real.element, 1).suffix}.p0"
    mask = f"<{half} x i1>"
    return [
        f"declare {t} @llvm.masked.load.{name}(ptr, i32, {mask}, {t})",
        f"declare void @llvm.masked.store.{name}({t}, ptr, i32, {mask})",
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
