"""Loops that do nothing but fill memory with zeros, written as whole vectors, several in a turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bough.backends.llvm.target import host
from bough.program import Const, Loop, Store

if TYPE_CHECKING:
    from bough.backends.llvm.writer import Writer

__all__ = ["write_zeros", "zeros_of"]

VECTORS_A_TURN = 8
"""Vectors that a turn fills."""


def zeros_of(x: Loop, constants: Mapping[int, float | bool | int]) -> tuple[str, int] | None:
    """The buffer that a loop fills with zeros from its first entry on, and how many there are; None if it does else."""
    body = [y for y in x.body if not isinstance(y, Const)]
    if x.carried or x.done is not None or x.count not in constants or len(body) != 1:
        return None
    (store,) = body
    if not isinstance(store, Store) or store.index != x.counter or repr(constants.get(store.value)) != "0.0":
        return None
    return store.buffer, int(constants[x.count])


def write_zeros(w: Writer, address: str, count: int) -> None:
    """Fill so many entries from an address on with zeros."""
    wide, total = host().vector_bytes, count * w.real.bytes
    turn = VECTORS_A_TURN * wide
    whole = total // turn

    def fill(place: str, first: int, size: int) -> None:
        while size:
            width = next(n for n in (wide, 32, 16, 8, 4) if n <= min(size, wide))
            to = w.new(f"getelementptr i8, ptr {place}, i64 {first}")
            w.line(f"store <{width} x i8> zeroinitializer, ptr {to}, align {w.real.size}")
            first, size = first + width, size - width

    if whole > 1:
        before, turning, after, k, following = w.block, w.label(), w.label(), w.name(), w.name()
        w.jump(turning)
        w.start(turning)
        w.line(f"{k} = phi i64 [ 0, %{before} ], [ {following}, %{turning} ]")
        fill(w.new(f"getelementptr i8, ptr {address}, i64 {k}"), 0, turn)
        w.line(f"{following} = add i64 {k}, {turn}")
        w.branch(w.new(f"icmp ult i64 {following}, {whole * turn}"), turning, after)
        w.start(after)
    else:
        whole = 0
    fill(address, whole * turn, total - whole * turn)
