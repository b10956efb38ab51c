"""The rules for lanes: vectors that hold a value of each of several limbs, and tables that each lane looks up."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from bough.program import Apply, Load

if TYPE_CHECKING:
    from bough.backends.llvm.writer import ChunkWriter

__all__ = ["PACKING", "looked_up"]


def _pack(w: ChunkWriter, x: Apply) -> str:
    """A vector of numbers: constants, one of them in all lanes, side by side in slots, or one by one."""
    plan, real, values = w.names.plan, w.names.real_of(x.result), x.arguments
    t, e = real.type, real.element
    if all(v in plan.constants for v in values):
        return "<" + ", ".join(f"{e} {w.names.constant(v)}" for v in values) + ">"
    slots = [plan.slots.get(v, -1) for v in values]
    if slots[0] >= 0 and slots == [slots[0] + k for k in range(real.lanes)] and not any(w.has(v) for v in values):
        return w.new(f"load {t}, ptr {w.spilled(slots[0])}, align {real.size}")
    entries = [(x.buffer, int(plan.constants[x.index])) for x in map(plan.given.get, values) if x is not None]
    if len(entries) == real.lanes and entries == [(entries[0][0], entries[0][1] + k) for k in range(real.lanes)]:
        return w.new(f"load {t}, ptr {w.entry(plan.given[values[0]])[0]}, align {real.size}")
    vector = "undef"
    if len(set(values)) == 1:
        return w.repeated(e, w.operand(values[0]), real.lanes)
    for k, value in enumerate(values):
        vector = w.new(f"insertelement {t} {vector}, {e} {w.operand(value)}, i64 {k}")
    return vector


def _lane(w: ChunkWriter, x: Apply) -> str:
    """One lane of a vector, where the vector is."""
    vector, k = x.arguments[0], w.names.plan.constants[x.arguments[1]]
    if w.has(vector):
        return w.new(f"extractelement {w.names.type_of(vector)} {w.operand(vector)}, i64 {k}")
    return w.new(f"load {w.real.type}, ptr {w.spilled(w.names.plan.slots[vector] + int(k))}")


def _flip(w: ChunkWriter, x: Apply) -> str:
    """A vector with other signs in some lanes."""
    real, factors = w.names.real_of(x.result), [w.names.plan.constants[v] for v in x.arguments[1:]]
    whole = f"i{8 * real.size}"
    bits = f"<{real.lanes} x {whole}>"
    mask = ", ".join(f"{whole} {-(1 << (8 * real.size - 1)) if s < 0 else 0}" for s in factors)
    as_bits = w.new(f"bitcast {real.type} {w.operand(x.arguments[0])} to {bits}")
    flipped = w.new(f"xor {bits} {as_bits}, <{mask}>")
    return w.new(f"bitcast {bits} {flipped} to {real.type}")


def _max(w: ChunkWriter, x: Apply) -> str:
    """The second of two vectors where the first is smaller, else the first."""
    real, (a, b) = w.names.real_of(x.result), (w.operand(v) for v in x.arguments)
    smaller = w.new(f"fcmp olt {real.type} {a}, {b}")
    return w.new(f"select {real.mask} {smaller}, {real.type} {b}, {real.type} {a}")


PACKING: dict[str, Callable[[ChunkWriter, Apply], str]] = {"pack": _pack, "lane": _lane, "flip": _flip, "max": _max}


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
