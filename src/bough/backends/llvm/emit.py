"""From a program to LLVM source: a function per chunk, a driver that calls them, and the entry that walks a batch."""

from __future__ import annotations

from bough.backends.llvm.elementary import sincos_source
from bough.backends.llvm.lanes import lanes_source
from bough.backends.llvm.plan import Chunk, LargeLoop, LargeSwitch, Plan, Step, Turns, make_plan
from bough.backends.llvm.target import host
from bough.backends.llvm.turns import turns_source
from bough.backends.llvm.types import Real
from bough.backends.llvm.writer import ChunkWriter, Names, Writer
from bough.program import Buffer, Program

__all__ = ["Workspace", "llvm_source", "workspace"]

ALIGNMENT = 64  # bytes: a cache line, and the widest vector


class Workspace:
    """Where everything that is not a user's array lies in the scratch memory of one thread, in bytes."""

    def __init__(self, program: Program, plan: Plan, real: Real) -> None:
        self.offsets: list[int | None] = []
        self.size = 0
        for buffer in program.buffers:
            in_place = buffer.role == "table" or (real.lanes == 1 and buffer.role in ("input", "output"))
            self.offsets.append(None if in_place else self._take(buffer.size * real.bytes))
        self.spills = self._take(plan.float_slots * real.bytes)
        self.indices = self._take(plan.int_slots * 8)

    def _take(self, size: int) -> int:
        start = self.size
        self.size += -(-size // ALIGNMENT) * ALIGNMENT
        return start


def workspace(program: Program, real: Real) -> Workspace:
    """The layout of the scratch memory of a program."""
    return Workspace(program, make_plan(program), real)


def llvm_source(program: Program, real: Real) -> str:
    """The module of a program: its entry is ``void kernel(ptr arrays, ptr strides, i64 states, ptr workspace)``.

    `arrays` has a pointer per buffer of the program, `strides` the bytes between states of inputs and outputs.
    """
    plan = make_plan(program)
    names = Names(program, plan, real)
    reals = {real: None}
    turns: list[str] = []
    if plan.steps and isinstance(plan.steps[0], Turns):
        wide = Real(real.element, host().vector_bytes // real.size)
        reals[wide] = None
        turns.append(turns_source(names, plan.steps[0], wide))
    parts = ["\n".join(dict.fromkeys(line for one in reals for line in _declarations(one)))]
    if "sin" in names.ops or "cos" in names.ops:
        parts += [sincos_source(one) for one in reals]
    if real.lanes > 1:
        parts.append(lanes_source(real, {b.size for b in program.buffers if b.role in ("input", "output")}))
    parts += turns
    parts += [ChunkWriter(names, chunk).source() for chunk in _chunks(plan.steps)]
    parts.append(_driver(names, plan))
    parts.append(_entry(program, Workspace(program, plan, real), real))
    parts.append("attributes #0 = { noinline nounwind }")
    return "\n\n".join(parts) + "\n"


def _declarations(real: Real) -> list[str]:
    t, s, e = real.type, real.suffix, real.element
    end = "f" if e == "float" else ""
    lines = [f"declare {t} @llvm.fma.{s}({t}, {t}, {t})"]
    lines += [f"declare {t} @llvm.{name}.{s}({t})" for name in ("sqrt", "rint", "floor", "fabs")]
    lines += [f"declare {e} @{name}{end}({e})" for name in ("sin", "cos")]
    lines.append(f"declare {e} @atan2{end}({e}, {e})")
    lines.append("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
    if real.lanes > 1:
        lines += [f"declare i1 @llvm.vector.reduce.{way}.v{real.lanes}i1({real.mask})" for way in ("and", "or")]
    return lines


def _chunks(steps: list[Step]) -> list[Chunk]:
    result: list[Chunk] = []
    for step in steps:
        if isinstance(step, Chunk):
            result.append(step)
        elif isinstance(step, LargeLoop):
            result += _chunks(step.steps)
        elif isinstance(step, LargeSwitch):
            for branch in step.branches:
                result += _chunks(branch)
    return result


def _driver(names: Names, plan: Plan) -> str:
    writer = Writer(names)
    _drive(writer, plan.steps)
    return f"define internal fastcc void @body(ptr %p) #0 {{\nentry:\n{writer.text()}\n  ret void\n}}"


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
    _drive(w, step.steps)
    w.move(x.following, x.carried)
    done = None if x.done is None else w.all_lanes(w.fresh(x.done))
    w.jump(turn)
    w.start(turn)
    w.line(f"{following} = add i64 {k}, 1")
    if done is None:
        w.jump(head)
    else:
        w.branch(done, leave, head)
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


def _entry(program: Program, space: Workspace, real: Real) -> str:
    """The loop over the batch: bring a block of states in, run, bring the results out."""
    count = len(program.buffers) + 2
    lines = [f"  %p = alloca [{count} x ptr]"]
    for k, (buffer, offset) in enumerate(zip(program.buffers, space.offsets, strict=True)):
        if buffer.role in ("input", "output"):
            lines.append(f"  %stride{k}p = getelementptr i64, ptr %strides, i64 {k}")
            lines.append(f"  %stride{k} = load i64, ptr %stride{k}p")
        if offset is None:
            lines.append(f"  %array{k}p = getelementptr ptr, ptr %arrays, i64 {k}")
            lines.append(f"  %array{k} = load ptr, ptr %array{k}p")
        else:
            lines.append(f"  %array{k} = getelementptr i8, ptr %space, i64 {offset}")
            if buffer.role != "scratch":
                lines.append(f"  %user{k}p = getelementptr ptr, ptr %arrays, i64 {k}")
                lines.append(f"  %user{k} = load ptr, ptr %user{k}p")
        lines += _point(k, f"%array{k}")
    for k, offset in ((count - 2, space.spills), (count - 1, space.indices)):
        lines.append(f"  %array{k} = getelementptr i8, ptr %space, i64 {offset}")
        lines += _point(k, f"%array{k}")
    before, after = _moves(program, space, real)
    setup = "\n".join(lines)
    return f"""define void @kernel(ptr %arrays, ptr %strides, i64 %states, ptr %space) #0 {{
entry:
{setup}
  br label %head
head:
  %s = phi i64 [ 0, %entry ], [ %next, %block ]
  %more = icmp slt i64 %s, %states
  br i1 %more, label %block, label %exit
block:
  %left = sub i64 %states, %s
  %short = icmp slt i64 %left, {real.lanes}
  %now = select i1 %short, i64 %left, i64 {real.lanes}
{before}
  call fastcc void @body(ptr %p)
{after}
  %next = add i64 %s, {real.lanes}
  br label %head
exit:
  ret void
}}"""


def _point(k: int, value: str) -> list[str]:
    return [f"  %place{k} = getelementptr ptr, ptr %p, i64 {k}", f"  store ptr {value}, ptr %place{k}"]


def _moves(program: Program, space: Workspace, real: Real) -> tuple[str, str]:
    before: list[str] = []
    after: list[str] = []
    for k, buffer in enumerate(program.buffers):
        if buffer.role in ("input", "output"):
            before.append(f"  %o{k} = mul i64 %s, %stride{k}")
            user = f"%array{k}" if space.offsets[k] is None else f"%user{k}"
            before.append(f"  %rows{k} = getelementptr i8, ptr {user}, i64 %o{k}")
            if space.offsets[k] is None:
                before.append(f"  store ptr %rows{k}, ptr %place{k}")
            else:
                call = f"(ptr %rows{k}, i64 %stride{k}, ptr %array{k}, i64 %now)"
                way, where = ("to", before) if buffer.role == "input" else ("from", after)
                where.append(f"  call fastcc void @{way}_lanes_{buffer.size}{call}")
        if _needs_clearing(buffer):
            target = f"%rows{k}" if space.offsets[k] is None else f"%array{k}"
            size = buffer.size * real.bytes
            before.append(f"  call void @llvm.memset.p0.i64(ptr {target}, i8 0, i64 {size}, i1 false)")
    return "\n".join(before), "\n".join(after)


def _needs_clearing(buffer: Buffer) -> bool:
    return buffer.role in ("output", "scratch") and buffer.cleared and buffer.size > 0
