"""The loop over a batch: bring a block of states into lanes, run the program, bring the results out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bough.backends.llvm.plan import Plan
from bough.backends.llvm.rows import rows_read
from bough.backends.llvm.types import Real
from bough.backends.protocol import Plain
from bough.program import Buffer, Program

__all__ = ["Workspace", "entry_source", "guarded_source"]

ALIGNMENT = 64  # bytes: a cache line, and the widest vector


class Workspace:
    """Where everything that is not a user's array lies in the scratch memory of one thread, in bytes."""

    def __init__(self, program: Program, plan: Plan, real: Real) -> None:
        self.offsets: list[int | None] = []
        self.size = 0
        self.in_rows = rows_read(program, real)  # of these inputs only the addresses of rows are here
        for buffer in program.buffers:
            in_place = buffer.role == "table" or (real.lanes == 1 and buffer.role in ("input", "output"))
            size = 8 * real.lanes if buffer.name in self.in_rows else buffer.size * real.bytes
            self.offsets.append(None if in_place else self._take(size))
        self.spills = self._take(plan.float_slots * real.bytes)
        self.indices = self._take(plan.int_slots * 8)

    def _take(self, size: int) -> int:
        start = self.size
        self.size += -(-size // ALIGNMENT) * ALIGNMENT
        return start


def entry_source(program: Program, space: Workspace, real: Real) -> str:
    """The function ``void kernel(ptr arrays, ptr strides, i64 states, ptr space)``."""
    before, after = _moves(program, space, real, range(len(program.buffers)))
    return f"""define void @kernel(ptr %arrays, ptr %strides, i64 %states, ptr %space) #0 {{
{_loop(program, space, real, before, after)}
exit:
  ret void
}}"""


def guarded_source(program: Program, space: Workspace, real: Real, plain: Plain) -> str:
    """The function ``i1 guarded(ptr arrays, ptr strides, i64 states, ptr space, i1 check, i1 together)``.

    It fills the first output alone and tells whether its numbers are finite, if that is to be checked, and whether the
    pivots in the last output, if there are any, are all well above zero. Both are seen in lanes, where the results are.
    With `together` it tells, too, whether the inputs are sound, and rows of inputs lie without gaps.
    """
    outputs = [k for k, b in enumerate(program.buffers) if b.role == "output"]
    moved = [k for k, b in enumerate(program.buffers) if b.role == "input" or k == outputs[0]]
    before, after = _moves(program, space, real, moved)
    before = "\n".join([before, *_judge_block(program, plain, real)])
    k, size = outputs[0], program.buffers[outputs[0]].size
    checks = [f"  %f0 = call fastcc i1 @lanes_finite(ptr %array{k}, i64 {size}, i1 %check)"]
    sound = "%f0"
    if plain.pivots:
        k, size = outputs[-1], program.buffers[outputs[-1]].size
        checks.append(f"  %r0 = call fastcc i1 @lanes_regular(ptr %array{k}, i64 {size})")
        checks.append("  %fr = and i1 %f0, %r0")
        sound = "%fr"
    checks += [f"  %done = and i1 %given, {sound}", "  %good = and i1 %so_far, %done"]
    carried = "i1 [ true, %entry ], [ %good, %run ]"
    loop = _loop(program, space, real, before, "\n".join([after, *checks]), carried, last="run")
    arguments = "ptr %arrays, ptr %strides, i64 %states, ptr %space, i1 %check, i1 %together"
    four = Real(real.element, 4 * real.lanes)
    return "\n".join(
        [
            f"declare i1 @llvm.vector.reduce.and.v{four.lanes}i1({four.mask})",
            _LANES_CHECKS.replace("SMALLEST", real.constant(plain.smallest))
            .replace("BYTES", str(real.bytes))
            .replace("FOUR", four.type)
            .replace("4W", str(four.lanes))
            .replace("T", real.type)
            .replace("W", str(real.lanes)),
            f"define i1 @guarded({arguments}) #0 {{\n{loop}",
            "exit:\n  ret i1 %so_far\n}",
        ]
    )


# x - x is zero for every finite x, and not a number otherwise; four at a time, since a sum waits for the one before it
_LANES_CHECKS = """define internal fastcc i1 @lanes_finite(ptr %x, i64 %n, i1 %wanted) #0 {
entry:
  %whole = and i64 %n, -4
  br i1 %wanted, label %head, label %fine
head:
  %k = phi i64 [ 0, %entry ], [ %k1, %body ]
  %total = phi FOUR [ zeroinitializer, %entry ], [ %sum, %body ]
  %more = icmp slt i64 %k, %whole
  br i1 %more, label %body, label %rest
body:
  %p = getelementptr T, ptr %x, i64 %k
  %v = load FOUR, ptr %p, align BYTES
  %zero = fsub FOUR %v, %v
  %sum = fadd FOUR %total, %zero
  %k1 = add i64 %k, 4
  br label %head
rest:
  %j = phi i64 [ %whole, %head ], [ %j1, %one ]
  %part = phi T [ zeroinitializer, %head ], [ %part1, %one ]
  %left = icmp slt i64 %j, %n
  br i1 %left, label %one, label %exit
one:
  %q = getelementptr T, ptr %x, i64 %j
  %w = load T, ptr %q
  %none = fsub T %w, %w
  %part1 = fadd T %part, %none
  %j1 = add i64 %j, 1
  br label %rest
exit:
  %nil = fcmp oeq FOUR %total, zeroinitializer
  %most = call i1 @llvm.vector.reduce.and.v4Wi1(<4W x i1> %nil)
  %last = fcmp oeq T %part, zeroinitializer
  %few = call i1 @llvm.vector.reduce.and.vWi1(<W x i1> %last)
  %ok = and i1 %most, %few
  ret i1 %ok
fine:
  ret i1 true
}
define internal fastcc i1 @lanes_regular(ptr %x, i64 %n) #0 {
entry:
  %first = load T, ptr %x
  br label %head
head:
  %k = phi i64 [ 1, %entry ], [ %k1, %body ]
  %least = phi T [ %first, %entry ], [ %low, %body ]
  %most = phi T [ %first, %entry ], [ %high, %body ]
  %total = phi T [ zeroinitializer, %entry ], [ %sum, %body ]
  %more = icmp slt i64 %k, %n
  br i1 %more, label %body, label %exit
body:
  %p = getelementptr T, ptr %x, i64 %k
  %v = load T, ptr %p
  %less = fcmp olt T %v, %least
  %low = select <W x i1> %less, T %v, T %least
  %greater = fcmp ogt T %v, %most
  %high = select <W x i1> %greater, T %v, T %most
  %zero = fsub T %v, %v
  %sum = fadd T %total, %zero
  %k1 = add i64 %k, 1
  br label %head
exit:
  %limit = fmul T %most, SMALLEST
  %exceeds = fcmp ogt T %least, %limit
  %numbers = fcmp oeq T %total, zeroinitializer
  %above = and <W x i1> %exceeds, %numbers
  %ok = call i1 @llvm.vector.reduce.and.vWi1(<W x i1> %above)
  ret i1 %ok
}"""


def judge_inputs(
    program: Program, plain: Plain, real: Real, places: Mapping[int, str], count: str
) -> tuple[list[str], str]:
    """Lines that tell whether so many rows of inputs, at these addresses, are finite and quaternions of unit length."""
    lines, ok = [], "true"
    inputs = list(places)
    for k in inputs[plain.sound :]:
        lines += [
            f"  %t{k} = mul i64 {count}, {program.buffers[k].size}",
            f"  %s{k} = call fastcc i1 @finite(ptr {places[k]}, i64 %t{k})",
            f"  %ok{k} = and i1 {ok}, %s{k}",
        ]
        ok = f"%ok{k}"
    if plain.quaternions:
        rows, size = places[inputs[0]], program.buffers[inputs[0]].size
        lines += [
            f"  %units = call fastcc i1 @units(ptr {rows}, i64 {size}, i64 {count})",
            f"  %oku = and i1 {ok}, %units",
        ]
        ok = "%oku"
    return lines, ok


def _judge_block(program: Program, plain: Plain, real: Real) -> list[str]:
    """Look at the inputs of one block of states if that is to be done: %given tells whether they are sound."""
    places = {k: f"%rows{k}" for k, b in enumerate(program.buffers) if b.role == "input"}
    judged, ok = judge_inputs(program, plain, real, places, "%now")
    head = ["  br i1 %together, label %look, label %run", "look:", *judged, "  br label %run"]
    return [*head, "run:", f"  %given = phi i1 [ true, %block ], [ {ok}, %look ]"]


def _loop(
    program: Program, space: Workspace, real: Real, before: str, after: str, carried: str = "", last: str = "block"
) -> str:
    """From the entry of a function to the block %exit; `carried` is the judgement %so_far, if one is made.

    The turn of a loop begins with the block %block and ends with the block `last`.
    """
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
    for k, place in ((count - 2, space.spills), (count - 1, space.indices)):
        lines.append(f"  %array{k} = getelementptr i8, ptr %space, i64 {place}")
        lines += _point(k, f"%array{k}")
    setup = "\n".join(lines)
    judged = f"\n  %so_far = phi {carried}" if carried else ""
    return f"""entry:
{setup}
  br label %head
head:
  %s = phi i64 [ 0, %entry ], [ %next, %{last} ]{judged}
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
  br label %head"""


def _point(k: int, value: str) -> list[str]:
    return [f"  %place{k} = getelementptr ptr, ptr %p, i64 {k}", f"  store ptr {value}, ptr %place{k}"]


def _moves(program: Program, space: Workspace, real: Real, moved: Sequence[int]) -> tuple[str, str]:
    """What is done before and after the program runs on a block; of inputs and outputs only `moved` are."""
    before: list[str] = []
    after: list[str] = []
    for k, buffer in enumerate(program.buffers):
        if buffer.role in ("input", "output") and k in moved:
            before.append(f"  %o{k} = mul i64 %s, %stride{k}")
            user = f"%array{k}" if space.offsets[k] is None else f"%user{k}"
            before.append(f"  %rows{k} = getelementptr i8, ptr {user}, i64 %o{k}")
            if space.offsets[k] is None:
                before.append(f"  store ptr %rows{k}, ptr %place{k}")
            elif buffer.name in space.in_rows:
                before += _row_addresses(k, real)
            else:
                call = f"(ptr %rows{k}, i64 %stride{k}, ptr %array{k}, i64 %now)"
                way, where = ("to", before) if buffer.role == "input" else ("from", after)
                where.append(f"  call fastcc void @{way}_lanes_{buffer.size}{call}")
        if _needs_clearing(buffer):
            target = f"%rows{k}" if space.offsets[k] is None else f"%array{k}"
            size = buffer.size * real.bytes
            before.append(f"  call void @llvm.memset.p0.i64(ptr {target}, i8 0, i64 {size}, i1 false)")
    return "\n".join(before), "\n".join(after)


def _row_addresses(k: int, real: Real) -> list[str]:
    """Write down where the rows of a buffer are; lanes without a state are given the last one's."""
    lines = [f"  %last{k} = sub i64 %now, 1"]
    for j in range(real.lanes):
        n = f"{k}_{j}"
        lines += [
            f"  %there{n} = icmp slt i64 {j}, %now",
            f"  %row{n} = select i1 %there{n}, i64 {j}, i64 %last{k}",
            f"  %off{n} = mul i64 %row{n}, %stride{k}",
            f"  %at{n} = getelementptr i8, ptr %rows{k}, i64 %off{n}",
            f"  %keep{n} = getelementptr ptr, ptr %array{k}, i64 {j}",
            f"  store ptr %at{n}, ptr %keep{n}",
        ]
    return lines


def _needs_clearing(buffer: Buffer) -> bool:
    return buffer.role in ("output", "scratch") and buffer.cleared and buffer.size > 0
