"""Sines and cosines of inputs, all at once: a vector of states for each angle, or for one state a vector of angles."""

from __future__ import annotations

from bough.backends.llvm.elementary import sincos_name
from bough.backends.llvm.names import Names
from bough.backends.llvm.plan import Turns
from bough.backends.llvm.types import Real
from bough.backends.llvm.writer import Writer
from bough.program import Load

__all__ = ["turns_source"]


def turns_source(names: Names, turns: Turns, wide: Real) -> str:
    """The function @turns, which fills the slots of all turns; `wide` is the vector it computes in."""
    w = Writer(names)
    step = wide.lanes // names.real.lanes
    pair = f"{{{wide.type}, {wide.type}}}"
    for first in range(0, len(turns.angles), step):
        x = _angles(w, turns.angles[first : first + step], wide)
        both = w.new(f"call fastcc {pair} @{sincos_name(wide)}({wide.type} {x})")
        for k, start in enumerate((0, turns.cosines)):
            value = w.new(f"extractvalue {pair} {both}, {k}")
            area = w.pointer(names.spills)
            place = w.new(f"getelementptr {names.real.type}, ptr {area}, i64 {start + first}")
            w.line(f"store {wide.type} {value}, ptr {place}, align {wide.bytes}")
    return f"define internal fastcc void @turns(ptr %p) #0 {{\nentry:\n{w.text()}\n  ret void\n}}"


def _angles(w: Writer, angles: list[Load], wide: Real) -> str:
    """One vector of angles; lanes that are left over get the last angle."""
    places = [w.names.plan.constants[x.index] for x in angles]
    align = wide.bytes if w.real == wide else wide.size
    whole = len(angles) == wide.lanes // w.real.lanes
    if whole and len({x.buffer for x in angles}) == 1 and places == [places[0] + k for k in range(len(places))]:
        return w.new(f"load {wide.type}, ptr {w.entry(angles[0])[0]}, align {align}")
    vector = "undef"
    for k in range(wide.lanes):
        place, t, align = w.entry(angles[min(k, len(angles) - 1)])
        one = w.new(f"load {t}, ptr {place}, align {align}")
        vector = w.new(f"insertelement {wide.type} {vector}, {t} {one}, i64 {k}")
    return vector
