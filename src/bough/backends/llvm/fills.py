"""Loops that do nothing but fill memory with zeros, written as whole vectors, several in a turn.

Of a long array a few entries are mostly written between one filling and the next. A bit for each part of it says where,
and only these parts are filled. What the bits are before the array is filled first does not matter: it is zeros then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bough.backends.llvm.target import host
from bough.program import Loop
from bough.program.simple_loops import Fill, filled_by

if TYPE_CHECKING:
    from bough.backends.llvm.functions import Writer

__all__ = ["clear_written", "note_written", "write_zeros", "zeros_of"]

VECTORS_A_TURN = 8
"""Vectors that a turn fills."""

LEAST_PART, BITS_OF_A_WORD = 16, 64
"""Entries of a part of an array at least, and parts at most: bits of a word."""


def zeros_of(x: Loop, constants: Mapping[int, float | bool | int]) -> Fill | None:
    """What a loop fills with zeros; None if it does else."""
    fill = filled_by(x, constants)
    return fill if fill is not None and repr(fill.value) == "0.0" else None


def write_zeros(w: Writer, address: str, count: int) -> None:
    """Fill so many entries from an address on with zeros."""
    wide, total = host().vector_bytes, count * w.real.bytes
    turn = VECTORS_A_TURN * wide
    whole = total // turn

    def fill(place: str, size: int) -> None:
        w.line(f"call void @llvm.memset.inline.p0.i64(ptr align {w.real.size} {place}, i8 0, i64 {size}, i1 false)")

    if whole > 1:
        before, turning, after, k, following = w.block, w.label(), w.label(), w.name(), w.name()
        w.jump(turning)
        w.start(turning)
        w.line(f"{k} = phi i64 [ 0, %{before} ], [ {following}, %{turning} ]")
        fill(w.new(f"getelementptr i8, ptr {address}, i64 {k}"), turn)
        w.line(f"{following} = add i64 {k}, {turn}")
        w.branch(w.new(f"icmp ult i64 {following}, {whole * turn}"), turning, after)
        w.start(after)
    else:
        whole = 0
    fill(w.new(f"getelementptr i8, ptr {address}, i64 {whole * turn}"), total - whole * turn)


def _part(size: int) -> int:
    """Of how many entries, as a power of two, the parts of an array are for which there are bits."""
    part = LEAST_PART
    while part * BITS_OF_A_WORD < size:
        part *= 2
    return part


def note_written(w: Writer, bits: str, index: str, size: int) -> None:
    """Keep in mind that an entry of an array is written."""
    part = w.new(f"lshr i64 {index}, {_part(size).bit_length() - 1}")
    bit, known = w.new(f"shl i64 1, {part}"), w.new(f"load i64, ptr {bits}")
    w.line(f"store i64 {w.new(f'or i64 {known}, {bit}')}, ptr {bits}")


def clear_written(w: Writer, bits: str, address: str, size: int) -> None:
    """Fill those parts of an array with zeros that were written since they were; the last one ends where it ends."""
    part, parts = _part(size), -(-size // _part(size))
    known = w.new(f"and i64 {w.new(f'load i64, ptr {bits}')}, {(1 << parts) - 1}")
    w.line(f"store i64 0, ptr {bits}")
    before, head, filling, after, left, following = w.block, w.label(), w.label(), w.label(), w.name(), w.name()
    w.jump(head)
    w.start(head)
    phi = len(w.lines)
    w.branch(w.new(f"icmp eq i64 {left}, 0"), after, filling)
    w.start(filling)
    number = w.new(f"call i64 @llvm.cttz.i64(i64 {left}, i1 true)")
    first = w.new(f"mul i64 {number}, {part}")
    within = w.new(f"icmp ult i64 {first}, {size - part}")
    start = w.new(f"select i1 {within}, i64 {first}, i64 {size - part}")
    write_zeros(w, w.new(f"getelementptr {w.real.type}, ptr {address}, i64 {start}"), part)
    w.line(f"{following} = and i64 {left}, {w.new(f'sub i64 {left}, 1')}")
    w.lines.insert(phi, f"  {left} = phi i64 [ {known}, %{before} ], [ {following}, %{w.block} ]")
    w.jump(head)
    w.start(after)
