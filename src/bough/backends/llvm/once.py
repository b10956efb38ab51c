"""Results that hold a number in several places, or zeros: a block of states has each number once in its lanes.

A mass matrix is symmetric, and between limbs it is zero. Of such a result the program writes each value to lanes once;
a table says which of them each component is, and zeros that lie side by side are written straight to the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from bough.backends.llvm.lanes import ahead, one_by_one, turned
from bough.backends.llvm.types import Lines, Real
from bough.program import Apply, Const, Instruction, Load, Program, Store
from bough.scalar import Kind

__all__ = ["Once", "once_source", "write_once"]

MOST_VALUES = 0.75
"""Part of the components of a result that may be different values at most for it to be treated so."""


@dataclass(frozen=True)
class Once:
    """A program whose results have their values once, and for these results by name where each component is."""

    program: Program
    places: Mapping[str, Sequence[int]]
    zeros: Mapping[str, int]  # the place of zero, -1 where there is none


def write_once(program: Program, real: Real) -> Once:
    """Have results of many states written once, if they are straight-line code and it pays."""
    constants = {x.result: x.value for x in program.body if isinstance(x, Const)}
    straight = all(isinstance(x, Const | Apply | Load | Store) for x in program.body)
    read = {x.buffer for x in program.body if isinstance(x, Load)}
    places: dict[str, Sequence[int]] = {}
    zeros: dict[str, int] = {}
    kept: dict[tuple[str, int], int] = {}  # where a component is written, of those that are
    sizes: dict[str, int] = {}
    for b in program.of_role("output") if real.lanes > 1 and straight else ():
        stores = [x for x in program.body if isinstance(x, Store) and x.buffer == b.name]
        values = {int(constants[x.index]): _same(x.value, constants) for x in stores if x.index in constants}
        numbers = {value: k for k, value in enumerate(dict.fromkeys(values.values()))}
        if len(values) == len(stores) == b.size and b.name not in read and len(numbers) < MOST_VALUES * b.size:
            places[b.name] = [numbers[values[k]] for k in range(b.size)]
            zeros[b.name] = numbers.get("0.0", -1)
            first = {place: k for k, place in reversed([*enumerate(places[b.name])])}
            kept |= {(b.name, k): place for place, k in first.items()}
            sizes[b.name] = len(numbers)
    kinds: list[Kind] = list(program.kinds)
    body: list[Instruction] = []
    for x in program.body:
        if not isinstance(x, Store) or x.buffer not in places:
            body.append(x)
        elif (x.buffer, int(constants[x.index])) in kept:
            body += [Const(len(kinds), kept[x.buffer, int(constants[x.index])]), replace(x, index=len(kinds))]
            kinds.append("int")
    buffers = tuple(replace(b, size=sizes.get(b.name, b.size)) for b in program.buffers)
    return Once(Program(program.name, buffers, tuple(body), tuple(kinds)), places, zeros)


def _same(value: int, constants: Mapping[int, object]) -> int | str:
    """What equal values have in common: constants may be written down more than once."""
    return repr(constants[value]) if value in constants else value


def once_source(real: Real, k: int, places: Sequence[int], zero: int) -> str:
    """The function @from_lanes_once_k(rows, stride in bytes, lanes' memory, states) for buffer k.

    Rows are gone through once, since most are longer than the first cache has room for: components that are turned over
    and zeros by turns, up to the ends that a table tells.
    """
    width, n = real.lanes, len(places)
    whole = n - n % width
    ends = _ends([set(places[start : start + width]) == {zero} for start in range(0, whole, width)], width)
    rows = "\n".join(
        f"  %offset{j} = mul i64 %stride, {j}\n  %row{j} = getelementptr i8, ptr %rows, i64 %offset{j}"
        for j in range(width)
    )
    return f"""{_table(f"places{k}", places)}
{_table(f"ends{k}", ends)}
define internal fastcc void @from_lanes_once_{k}(ptr %rows, i64 %stride, ptr %lanes, i64 %states) {{
entry:
{rows}
  %full = icmp eq i64 %states, {width}
  %begin = select i1 %full, i64 {whole}, i64 0
  br i1 %full, label %parts, label %some
parts:
  %j = phi i64 [ 0, %entry ], [ %j2, %blanks ]
  %from = phi i64 [ 0, %entry ], [ %zeros, %blanks ]
  %more = icmp slt i64 %j, {len(ends)}
  br i1 %more, label %part, label %some
part:
  %squares_endp = getelementptr i64, ptr @ends{k}, i64 %j
  %squares_end = load i64, ptr %squares_endp
  %j1 = add i64 %j, 1
  %blanks_endp = getelementptr i64, ptr @ends{k}, i64 %j1
  %blanks_end = load i64, ptr %blanks_endp
  %j2 = add i64 %j, 2
  br label %squares
squares:
  %start = phi i64 [ %from, %part ], [ %start1, %square ]
  %turning = icmp slt i64 %start, %squares_end
  br i1 %turning, label %square, label %blanks
square:
{_square(real, k)}
  %start1 = add i64 %start, {width}
  br label %squares
blanks:
  %zeros = phi i64 [ %start, %squares ], [ %zeros1, %blank ]
  %blanking = icmp slt i64 %zeros, %blanks_end
  br i1 %blanking, label %blank, label %parts
blank:
{_blank(real)}
  %zeros1 = add i64 %zeros, {width}
  br label %blanks
some:
  call fastcc void @from_lanes_partplaces{k}(ptr %rows, i64 %stride, i64 %begin, i64 {n}, ptr %lanes, i64 %states)
  ret void
}}
{one_by_one(real, "from", f"places{k}")}"""


def _ends(blank: Sequence[bool], width: int) -> list[int]:
    """Where squares end, and zeros behind them, by turns, of groups of components that are zeros or not."""
    ends: list[int] = []
    for is_blank, run in groupby(enumerate(blank), key=lambda pair: pair[1]):
        if is_blank == (len(ends) % 2 == 0):  # a result begins with squares, be there none
            ends.append(ends[-1] if ends else 0)
        ends.append(width * ([k for k, _ in run][-1] + 1))
    return ends + ends[-1:] * (len(ends) % 2)


def _square(real: Real, k: int) -> str:
    """Turn over as many components as there are lanes, from component %start on."""
    lines, given = Lines(), []
    new = lines.new
    ahead(real, lines, "%start")
    for j in range(real.lanes):
        component = new(f"add i64 %start, {j}")
        place = new(f"load i64, ptr {new(f'getelementptr i64, ptr @places{k}, i64 {component}')}")
        vector = new(f"getelementptr {real.type}, ptr %lanes, i64 {place}")
        given.append(new(f"load {real.type}, ptr {vector}, align {real.bytes}"))
    for j, name in enumerate(turned(real, given, new)):
        target = new(f"getelementptr {real.element}, ptr %row{j}, i64 %start")
        lines.line(f"store {real.type} {name}, ptr {target}, align {real.size}")
    return "\n".join(lines.lines)


def _blank(real: Real) -> str:
    """Write zeros to all rows, from component %zeros on."""
    return "\n".join(
        f"  %blank{j} = getelementptr {real.element}, ptr %row{j}, i64 %zeros\n"
        f"  store {real.type} zeroinitializer, ptr %blank{j}, align {real.size}"
        for j in range(real.lanes)
    )


def _table(name: str, numbers: Sequence[int]) -> str:
    entries = ", ".join(f"i64 {x}" for x in numbers or (0,))
    return f"@{name} = internal constant [{max(len(numbers), 1)} x i64] [{entries}]"
