"""Results that loops copy from scratch memory, written straight to the rows of many states.

Most results are written to lanes while the program runs and turned into rows after it. A program that makes a result
piece by piece in the same memory has each piece turned while it is in the first cache, and no lanes of the whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from bough.backends.llvm.lanes import ahead, turned
from bough.backends.llvm.types import Lines, Real
from bough.program import VERDICT, Apply, Const, Load, Loop, Program, Store, walk

if TYPE_CHECKING:
    from bough.backends.llvm.writer import Writer

__all__ = ["Copy", "copied_by", "copied_to_rows", "copies_source", "write_copy"]


class Copy(NamedTuple):
    """What a loop does that copies entries of one buffer to neighbouring ones of another.

    They are neighbours as well, from the first one on, unless a table says where each is.
    """

    source: str
    first: int
    table: str | None
    target: str
    start: int
    size: int


def copied_by(x: Loop, constants: Mapping[int, float | bool | int]) -> Copy | None:
    """What a loop copies; None if it does else."""
    if x.carried or x.done is not None or x.count not in constants:
        return None
    known = {**constants, **{y.result: y.value for y in x.body if isinstance(y, Const)}}
    places: dict[int, tuple[str | None, int]] = {x.counter: (None, 0)}  # of indices: a table, what is added
    loaded: dict[int, tuple[str, int, str | None]] = {}
    stored: list[tuple[str, int, str | None, str, int]] = []
    for y in x.body:
        if isinstance(y, Apply) and y.op == "iadd" and len({*y.arguments} & known.keys()) == 1:
            offset, index = sorted(y.arguments, key=lambda v: v not in known)
            if index not in places:
                return None
            table, before = places[index]
            places[y.result] = table, before + int(known[offset])
        elif isinstance(y, Load) and y.index == x.counter:
            places[y.result], loaded[y.result] = (y.buffer, 0), (y.buffer, 0, None)
        elif isinstance(y, Load) and y.index in places:
            table, first = places[y.index]
            loaded[y.result] = y.buffer, first, table
        elif isinstance(y, Store) and y.value in loaded and places.get(y.index, ("", 0))[0] is None:
            stored.append((*loaded[y.value], y.buffer, places[y.index][1]))
        elif not isinstance(y, Const):
            return None
    return Copy(*stored[0], int(known[x.count])) if len(stored) == 1 else None


def copied_to_rows(program: Program, real: Real) -> frozenset[str]:
    """The outputs that loops copy from scratch memory, and nothing else writes or reads."""
    if real.lanes == 1:
        return frozenset()
    constants = {x.result: x.value for x in program.body if isinstance(x, Const)}
    scratch = {b.name for b in program.of_role("scratch")}
    copies = [copy for x in program.body if isinstance(x, Loop) and (copy := copied_by(x, constants))]
    times = {b.name: 0 for b in program.of_role("output") if b.name != VERDICT and not b.cleared}
    for copy in copies:
        if copy.source in scratch and copy.target in times:
            times[copy.target] += 1
    for x in walk(program.body):
        if isinstance(x, Load | Store) and x.buffer in times:
            times[x.buffer] -= 1
    written = {copy.target for copy in copies}
    return frozenset(name for name, count in times.items() if count == 0 and name in written)


def write_copy(w: Writer, copy: Copy) -> None:
    """Turn what is copied into rows."""
    (target, _), (source, _) = w.names.buffers[copy.target], w.names.buffers[copy.source]
    lanes = w.new(f"getelementptr {w.real.type}, ptr {w.pointer(source)}, i64 {copy.first}")
    to = f"ptr {w.pointer(target)}, i64 {copy.start}, i64 {copy.size}, ptr {lanes}"
    if copy.table is None:
        w.line(f"call fastcc void @copy_to_rows({to})")
    else:
        w.line(f"call fastcc void @gather_to_rows({to}, ptr {w.pointer(w.names.buffers[copy.table][0])})")


def copies_source(real: Real, gathered: bool) -> str:
    """The function @copy_to_rows(addresses of rows, first component, number of components, lanes).

    Squares are turned over; a last one that is not whole has some components again that were in the one before. If
    `gathered`, it is @gather_to_rows and is told at last in which vector of the lanes each component is.
    """
    width, square, single = real.lanes, Lines("s"), Lines("c")
    _square(real, square, gathered)
    _single(real, single, gathered)
    name, table = ("gather", ", ptr %places") if gathered else ("copy", "")
    turning, writing = "\n".join(square.lines), "\n".join(single.lines)
    rows = "\n".join(
        f"  %address{j} = getelementptr ptr, ptr %rows, i64 {j}\n  %base{j} = load ptr, ptr %address{j}\n"
        f"  %row{j} = getelementptr {real.element}, ptr %base{j}, i64 %start"
        for j in range(width)
    )
    return f"""define internal fastcc void @{name}_to_rows(ptr %rows, i64 %start, i64 %count, ptr %lanes{table}) #0 {{
entry:
{rows}
  %end = sub i64 %count, {width}
  %few = icmp slt i64 %end, 0
  br i1 %few, label %single, label %square
square:
  %k = phi i64 [ 0, %entry ], [ %next, %square ]
{turning}
  %onward = add i64 %k, {width}
  %beyond = icmp sgt i64 %onward, %end
  %next = select i1 %beyond, i64 %end, i64 %onward
  %done = icmp eq i64 %k, %end
  br i1 %done, label %exit, label %square
single:
  %c = phi i64 [ 0, %entry ], [ %after, %one ]
  %more = icmp slt i64 %c, %count
  br i1 %more, label %one, label %exit
one:
{writing}
  %after = add i64 %c, 1
  br label %single
exit:
  ret void
}}"""


def _square(real: Real, lines: Lines, gathered: bool) -> None:
    """Turn over as many components as there are lanes, from component %k on."""
    ahead(real, lines, "%k")
    given = [_vector(real, lines, lines.new(f"add i64 %k, {j}"), gathered) for j in range(real.lanes)]
    for j, name in enumerate(turned(real, given, lines.new)):
        target = lines.new(f"getelementptr {real.element}, ptr %row{j}, i64 %k")
        lines.line(f"store {real.type} {name}, ptr {target}, align {real.size}")


def _single(real: Real, lines: Lines, gathered: bool) -> None:
    """Write component %c of all rows."""
    vector = _vector(real, lines, "%c", gathered)
    for j in range(real.lanes):
        value = lines.new(f"extractelement {real.type} {vector}, i64 {j}")
        target = lines.new(f"getelementptr {real.element}, ptr %row{j}, i64 %c")
        lines.line(f"store {real.element} {value}, ptr {target}, align {real.size}")


def _vector(real: Real, lines: Lines, component: str, gathered: bool) -> str:
    """A component of all states."""
    if gathered:
        component = lines.new(f"load i64, ptr {lines.new(f'getelementptr i64, ptr %places, i64 {component}')}")
    place = lines.new(f"getelementptr {real.type}, ptr %lanes, i64 {component}")
    return lines.new(f"load {real.type}, ptr {place}, align {real.bytes}")
