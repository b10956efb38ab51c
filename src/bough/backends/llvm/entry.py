"""The loop over a batch: bring a block of states into lanes, run the program, bring results and verdict out."""

from __future__ import annotations

from collections.abc import Collection

from bough.backends.llvm.copies import copied_to_rows
from bough.backends.llvm.plan import Plan
from bough.backends.llvm.rows import rows_read
from bough.backends.llvm.scratch import Wanted, together, wanted_by
from bough.backends.llvm.types import Real
from bough.program import VERDICT, Buffer, Program

__all__ = ["Workspace", "entry_source"]

ALIGNMENT = 64  # bytes: a cache line, and the widest vector


class Workspace:
    """Where everything that is not a user's array lies in the scratch memory of one thread, in bytes."""

    def __init__(self, program: Program, plan: Plan, real: Real) -> None:
        self.offsets: list[int | None] = []
        self.size = 0
        lives = wanted_by(program)
        self.in_rows = rows_read(program, real) | copied_to_rows(program, real)  # only the addresses of rows are here
        for buffer in program.buffers:
            in_place = buffer.role == "table" or (real.lanes == 1 and _is_array(buffer))
            size = 8 * real.lanes if buffer.name in self.in_rows else buffer.size * real.bytes
            self.offsets.append(None if in_place or buffer.name in lives else self._take(size))
        shared = [b for b in program.buffers if b.name in lives]
        starts = together([Wanted(_aligned(b.size * real.bytes), *lives[b.name]) for b in shared])
        places = {b.name: self.size + start for b, start in zip(shared, starts, strict=True)}
        self.offsets = [places.get(b.name, at) for b, at in zip(program.buffers, self.offsets, strict=True)]
        self.size = max([self.size, *(places[b.name] + _aligned(b.size * real.bytes) for b in shared)])
        self.spills = self._take(plan.float_slots * real.bytes)
        self.indices = self._take(plan.int_slots * 8)

    def _take(self, size: int) -> int:
        start = self.size
        self.size += _aligned(size)
        return start


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def entry_source(program: Program, space: Workspace, real: Real, once: Collection[str]) -> str:
    """The function ``i64 kernel(ptr arrays, ptr strides, i64 first, i64 last, ptr space, ptr verdicts)``.

    `arrays` has an address for each buffer, `strides` the bytes from one state to the next. It runs the states from
    `first` to before `last`, writes verdicts that are not zero, and returns what they say of any state. The results in
    `once` have each value once in lanes.
    """
    before, after = _moves(program, space, real, once)
    count = len(program.buffers) + 2
    lines = [f"  %p = alloca [{count} x ptr]"]
    for k, (buffer, offset) in enumerate(zip(program.buffers, space.offsets, strict=True)):
        if _is_array(buffer):
            lines += _entry_of("i64", "strides", k, f"stride{k}")
        if offset is None:
            lines += _entry_of("ptr", "arrays", k, f"array{k}")
        else:
            lines.append(f"  %array{k} = getelementptr i8, ptr %space, i64 {offset}")
            if _is_array(buffer):
                lines += _entry_of("ptr", "arrays", k, f"user{k}")
        lines += _point(k, f"%array{k}")
    for k, place in ((count - 2, space.spills), (count - 1, space.indices)):
        lines += [f"  %array{k} = getelementptr i8, ptr %space, i64 {place}", *_point(k, f"%array{k}")]
    setup, judge = "\n".join(lines), _judge(program, real)
    return f"""define i64 @kernel(ptr %arrays, ptr %strides, i64 %first, i64 %end, ptr %space, ptr %verdicts) #0 {{
entry:
{setup}
  br label %head
head:
  %s = phi i64 [ %first, %entry ], [ %next, %sound ]
  %code = phi i64 [ 0, %entry ], [ %known, %sound ]
  %more = icmp slt i64 %s, %end
  br i1 %more, label %block, label %exit
block:
  %left = sub i64 %end, %s
  %short = icmp slt i64 %left, {real.lanes}
  %now = select i1 %short, i64 %left, i64 {real.lanes}
{before}
  call fastcc void @body(ptr %p)
{after}
{judge}
  %next = add i64 %s, {real.lanes}
  br label %head
exit:
  ret i64 %code
}}"""


def _judge(program: Program, real: Real) -> str:
    """From the verdicts of a block of states to the block %sound, where %known is what is wrong so far."""
    k = next((k for k, b in enumerate(program.buffers) if b.name == VERDICT and b.role == "output"), None)
    if k is None:
        return "  br label %sound\nsound:\n  %known = phi i64 [ %code, %block ]"
    bad = f"  %verdict = load {real.type}, ptr %array{k}\n"
    bad += f"  %unsound = fcmp une {real.type} %verdict, {real.constant(0.0)}\n"
    return f"""{bad}  %any = {real.any_lane("%unsound")}
  br i1 %any, label %note, label %sound
note:
  %j = phi i64 [ 0, %block ], [ %j1, %note ]
  %noted = phi i64 [ %code, %block ], [ %both, %note ]
  %onep = getelementptr {real.element}, ptr %array{k}, i64 %j
  %one = load {real.element}, ptr %onep
  %whole = fptosi {real.element} %one to i64
  %both = or i64 %noted, %whole
  %number = sitofp i64 %whole to double
  %place = add i64 %s, %j
  %notep = getelementptr double, ptr %verdicts, i64 %place
  store double %number, ptr %notep
  %j1 = add i64 %j, 1
  %again = icmp slt i64 %j1, %now
  br i1 %again, label %note, label %sound
sound:
  %known = phi i64 [ %code, %block ], [ %both, %note ]"""


def _entry_of(t: str, array: str, k: int, name: str) -> list[str]:
    return [f"  %{name}p = getelementptr {t}, ptr %{array}, i64 {k}", f"  %{name} = load {t}, ptr %{name}p"]


def _point(k: int, value: str) -> list[str]:
    return [f"  %place{k} = getelementptr ptr, ptr %p, i64 {k}", f"  store ptr {value}, ptr %place{k}"]


def _moves(program: Program, space: Workspace, real: Real, once: Collection[str]) -> tuple[str, str]:
    """What is done before and after the program runs on a block."""
    before: list[str] = []
    after: list[str] = []
    for k, buffer in enumerate(program.buffers):
        if _is_array(buffer):
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
                size = f"once_{k}" if buffer.name in once else buffer.size
                where.append(f"  call fastcc void @{way}_lanes_{size}{call}")
        if buffer.role in ("output", "scratch") and buffer.cleared and buffer.size > 0:
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


def _is_array(buffer: Buffer) -> bool:
    """Whether it is an array of the caller's: the verdict is judged where it is."""
    return buffer.role in ("input", "output") and buffer.name != VERDICT
