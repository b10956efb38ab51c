"""Results that loops copy from scratch memory, written straight to the rows of many states.

Most results are written to lanes while the program runs and turned into rows after it. A program that makes a result
piece by piece in the same memory has each piece turned while it is in the first cache, and no lanes of the whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bough.backends.llvm.types import Real
from bough.program import VERDICT, Const, Load, Loop, Program, Store, walk
from bough.program.simple_loops import Copy, copied_by

if TYPE_CHECKING:
    from bough.backends.llvm.writer import Writer

__all__ = ["copied_to_rows", "write_copy"]


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
    rows = w.rows(target)
    start = w.new(f"getelementptr {w.real.element}, ptr {rows.first}, i64 {copy.start}")
    places = "" if copy.table is None else w.pointer(w.names.buffers[copy.table][0])
    w.line(w.names.moves.call("rows", rows._replace(first=start), lanes, copy.size, places))
