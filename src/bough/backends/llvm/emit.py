"""From a program to LLVM source: a function per chunk, a driver that calls them, and the entry that walks a batch."""

from __future__ import annotations

from bough.backends.llvm.elementary import sincos_source
from bough.backends.llvm.entry import Workspace, entry_source
from bough.backends.llvm.lanes import Half
from bough.backends.llvm.names import Names
from bough.backends.llvm.plan import Chunk, LargeLoop, LargeSwitch, Plan, Step, Turns
from bough.backends.llvm.target import host
from bough.backends.llvm.turns import turns_source
from bough.backends.llvm.types import Real
from bough.backends.llvm.writer import ChunkWriter, Writer
from bough.program import Program

__all__ = ["llvm_source"]


def llvm_source(program: Program, plan: Plan, space: Workspace, real: Real) -> str:
    """The module of a program; `entry_source` tells how it is called."""
    names = Names(program, plan, real)
    reals = {real: None}
    turns: list[str] = []
    if plan.steps and isinstance(plan.steps[0], Turns):
        wide = Real(real.element, host().vector_bytes // real.size)
        reals[wide] = None
        turns.append(turns_source(names, plan.steps[0], wide))
    declared = (*reals, *(Real(real.element, width) for width in set(plan.widths.values())))
    parts = ["\n".join(dict.fromkeys(line for one in declared for line in _declarations(one)))]
    if "sin" in names.ops or "cos" in names.ops:
        parts += [sincos_source(one) for one in reals]
    parts += turns
    parts += [ChunkWriter(names, chunk).source() for chunk in plan.chunks]
    driver = Writer(names)
    _drive(driver, plan.steps)
    parts.append(f"define internal fastcc void @body(ptr %p) #0 {{\nentry:\n{driver.text()}\n  ret void\n}}")
    parts += [entry_source(program, space, real, names.moves), names.moves.source()]
    # a vector that is put aside on a stack aligned for less straddles two cache lines
    aligned = max(one.bytes for one in declared)
    parts.append(f"attributes #0 = {{ noinline nounwind {f'alignstack={aligned} ' if aligned > 16 else ''}}}")
    return "\n\n".join(parts) + "\n"


def _declarations(real: Real) -> list[str]:
    t, s, e, end = real.type, real.suffix, real.element, real.c
    lines = [f"declare {t} @llvm.fma.{s}({t}, {t}, {t})"]
    lines += [f"declare {t} @llvm.{name}.{s}({t})" for name in ("sqrt", "rint", "floor", "fabs")]
    lines += [f"declare {e} @{name}{end}({e})" for name in ("sin", "cos")]
    lines.append(f"declare {e} @atan2{end}({e}, {e})")
    lines.append("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
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
    w.move(x.initial, x.carried)
    count = w.fresh(x.count)
    head, body, turn, leave = (w.label() for _ in range(4))
    before = w.block
    w.jump(head)
    w.start(head)
    k, following = w.name(), w.name()
    w.line(f"{k} = phi i64 [ 0, %{before} ], [ {following}, %{turn} ]")
    w.branch(w.new(f"icmp slt i64 {k}, {count}"), body, leave)
    w.start(body)
    counter = k
    if x.reverse:
        counter = w.new(f"sub i64 {w.new(f'sub i64 {count}, 1')}, {k}")
    w.keep(x.counter, counter)
    _drive(w, step.asking)
    if x.done is not None:  # once all states are done a turn would change nothing
        go_on = w.label()
        w.branch(w.new(w.real.all_lanes(w.fresh(x.done))), leave, go_on)
        w.start(go_on)
    _drive(w, step.rest)
    w.move(x.following, x.carried)
    w.jump(turn)
    w.start(turn)
    w.line(f"{following} = add i64 {k}, 1")
    w.jump(head)
    w.start(leave)
    w.move(x.carried, x.results)


def _drive_switch(w: Writer, step: LargeSwitch) -> None:
    x = step.switch
    labels, leave = [w.label() for _ in x.branches], w.label()
    cases = " ".join(f"i64 {k}, label %{label}" for k, label in enumerate(labels))
    w.line(f"switch i64 {w.fresh(x.selector)}, label %{labels[0]} [ {cases} ]")
    for label, steps, values in zip(labels, step.branches, x.yields, strict=True):
        w.start(label)
        _drive(w, steps)
        w.move(values, x.results)
        w.jump(leave)
    w.start(leave)
