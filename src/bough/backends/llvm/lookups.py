"""The rule for tables that each state reads at a place of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bough.program import Load

if TYPE_CHECKING:
    from bough.backends.llvm.writer import ChunkWriter

__all__ = ["looked_up"]


def looked_up(w: ChunkWriter, x: Load) -> str:
    """An entry of a table for each lane, at the number that stands there, rounded down and held within the table."""
    (k, b), real = w.names.buffers[x.buffer], w.real
    t, e, place = real.type, real.element, w.operand(x.index)
    for bound, side in ((0.0, "ogt"), (b.size - 1.0, "olt")):
        inside = w.new(f"fcmp {side} {t} {place}, {real.constant(bound)}")
        place = w.new(f"select {real.mask} {inside}, {t} {place}, {t} {real.constant(bound)}")
    result = "undef"
    for lane in range(real.lanes):
        one = place if real.lanes == 1 else w.new(f"extractelement {t} {place}, i64 {lane}")
        index = w.new(f"fptosi {e} {one} to i64")
        entry = w.new(f"load {e}, ptr {w.new(f'getelementptr {e}, ptr {w.pointer(k)}, i64 {index}')}")
        result = entry if real.lanes == 1 else w.new(f"insertelement {t} {result}, {e} {entry}, i64 {lane}")
    return result
