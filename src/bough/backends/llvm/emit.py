"""From a program to LLVM source: a function per chunk, a driver that calls them, and the entry that walks a batch."""

from __future__ import annotations

from bough.backends.llvm.elementary import sincos_name, sincos_source
from bough.backends.llvm.entry import Workspace, entry_source
from bough.backends.llvm.functions import Names, Writer
from bough.backends.llvm.lanes import Half
from bough.backends.llvm.plan import Chunk, LargeLoop, LargeSwitch, Step, Turns
from bough.backends.llvm.target import host
from bough.backends.llvm.types import Real
from bough.backends.llvm.writer import ChunkWriter
from bough.program import Load

__all__ = ["llvm_source"]


def llvm_source(names: Names, space: Workspace, loops_apart: bool) -> tuple[str, str | None]:
    """The module of a program, and with `loops_apart` one of its functions with loops; None without.

    `entry_source` tells how it is called.
    """
    plan, real = names.plan, names.real
    reals = {real: None}
    turns: list[str] = []
    apart: list[str] = []
    if plan.steps and isinstance(plan.steps[0], Turns):
        wide = Real(real.element, host().vector_bytes // real.size)
        reals[wide] = None
        turns.append(_turns(names, plan.steps[0], wide))
    declared = (*reals, *(Real(real.element, width) for width in set(plan.widths.values())))
    parts = ["\n".join(dict.fromkeys(line for one in declared for line in _declarations(one)))]
    if "sin" in names.ops or "cos" in names.ops:
        parts += [sincos_source(one) for one in reals]
    parts += turns
    for chunk in plan.chunks:
        alone = loops_apart and chunk.gains_from_passes(plan.constants)
        (apart if alone else parts).append(ChunkWriter(names, chunk).source("hidden" if alone else "internal"))
        if alone:
            parts.append(f"declare hidden fastcc void @chunk_{chunk.number}(ptr) #0")
    driver = Writer(names)
    _drive(driver, plan.steps)
    parts.append(f"define internal fastcc void @body(ptr %p) #0 {{\nentry:\n{driver.text()}\n  ret void\n}}")
    parts += [entry_source(names, space), names.moves.source()]
    # a vector that is put aside on a stack aligned for less straddles two cache lines
    aligned = max(one.bytes for one in declared)
    parts.append(f"attributes #0 = {{ noinline nounwind {f'alignstack={aligned} ' if aligned > 16 else ''}}}")
    beside = "\n\n".join([parts[0], *apart, parts[-1]]) + "\n" if loops_apart else None
    return "\n\n".join(parts) + "\n", beside


def _declarations(real: Real) -> list[str]:
    t, s, e, end = real.type, real.suffix, real.element, real.c
    lines = [f"declare {t} @llvm.fma.{s}({t}, {t}, {t})"]
    lines += [f"declare {t} @llvm.{name}.{s}({t})" for name in ("sqrt", "rint", "floor", "fabs")]
    lines += [f"declare {e} @{name}{end}({e})" for name in ("sin", "cos")]
    lines.append(f"declare {e} @atan2{end}({e}, {e})")
    lines.append("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
    lines.append("declare void @llvm.memset.inline.p0.i64(ptr, i8, i64 immarg, i1 immarg)")
    lines.append("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
    lines.append("declare i64 @llvm.cttz.i64(i64, i1)")
    lines.append("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
    if real.lanes > 1:
        lines += Half(real).declarations
        lines += [f"declare i1 @llvm.vector.reduce.{way}.v{real.lanes}i1({real.mask})" for way in ("and", "or")]
    return lines


def _drive(w: Writer, steps: list[Step]) -> None:
    """Run steps one after the other; every value that passes between them is in its slot."""
    for step in steps:
        if isinstance(step, Chunk):
            w.line(f"call fastcc void @chunk_{step.number}(ptr %p)")
        elif isinstance(step, Turns):
            w.line("call fastcc void @turns(ptr %p)")
        elif isinstance(step, LargeLoop):
            _drive_loop(w, step)
        else:
            _drive_switch(w, step)


def _drive_loop(w: Writer, step: LargeLoop) -> None:
    x = step.loop

    def ask(counter: str) -> None:
        w.keep(x.counter, counter)
        _drive(w, step.asking)

    def go_on() -> tuple[str, ...]:
        _drive(w, step.rest)
        w.move(x.following, x.carried)
        return ()

    w.move(x.initial, x.carried)
    w.loop(x, (), ask, go_on)
    w.move(x.carried, x.results)


def _drive_switch(w: Writer, step: LargeSwitch) -> None:
    def write(k: int) -> None:
        _drive(w, step.branches[k])
        w.move(step.switch.yields[k], step.switch.results)

    w.switch(step.switch, write)


def _turns(names: Names, turns: Turns, wide: Real) -> str:
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
