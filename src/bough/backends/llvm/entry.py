"""The loop over a batch: bring a block of states into lanes, run the program, bring results and verdict out."""

from __future__ import annotations

from bough.backends.llvm.lanes import mover_source
from bough.backends.llvm.plan import Plan
from bough.backends.llvm.rows import rows_read
from bough.backends.llvm.types import Real
from bough.backends.llvm.zeros import Zeros, always_alike
from bough.program import VERDICT, Buffer, Program

__all__ = ["Workspace", "entry_source", "movers_source"]

ALIGNMENT = 64  # bytes: a cache line, and the widest vector


class Workspace:
    """Where everything that is not a user's array lies in the scratch memory of one thread, in bytes.

    Of outputs, squares at `zeros` have a place there that is never written.
    """

    def __init__(self, program: Program, plan: Plan, real: Real, zeros: Zeros) -> None:
        self.zeros = zeros
        self.offsets: list[int | None] = []
        self.size = 0
        self.in_rows = rows_read(program, real)  # of these inputs only the addresses of rows are here
        for buffer in program.buffers:
            in_place = buffer.role == "table" or (real.lanes == 1 and _is_array(buffer))
            size = 8 * real.lanes if buffer.name in self.in_rows else buffer.size * real.bytes
            self.offsets.append(None if in_place else self._take(size))
        alike = always_alike(program) if real.lanes > 1 else set()
        self.cleared_once = {b.name for b in program.buffers if b.name in alike and _needs_clearing(b)}
        self.spills = self._take(plan.float_slots * real.bytes)
        self.indices = self._take(plan.int_slots * 8)

    def _take(self, size: int) -> int:
        start = self.size
        self.size += -(-size // ALIGNMENT) * ALIGNMENT
        return start


def entry_source(program: Program, space: Workspace, real: Real) -> str:
    """The function ``i64 kernel(ptr arrays, ptr strides, i64 first, i64 last, ptr space, ptr verdicts)``.

    `arrays` has an address for each buffer, `strides` the bytes from one state to the next. It runs the states from
    `first` to before `last`, writes verdicts that are not zero, and returns what they say of any state.
    """
    before, after = _moves(program, space, real)
    count = len(program.buffers) + 2
    lines = [f"  %p = alloca [{count} x ptr]"]
    for k, (buffer, offset) in enumerate(zip(program.buffers, space.offsets, strict=True)):
        if _is_array(buffer):
            lines += [
                f"  %stride{k}p = getelementptr i64, ptr %strides, i64 {k}",
                f"  %stride{k} = load i64, ptr %stride{k}p",
            ]
        if offset is None:
            lines += [
                f"  %array{k}p = getelementptr ptr, ptr %arrays, i64 {k}",
                f"  %array{k} = load ptr, ptr %array{k}p",
            ]
        else:
            lines.append(f"  %array{k} = getelementptr i8, ptr %space, i64 {offset}")
            if _is_array(buffer):
                lines += [
                    f"  %user{k}p = getelementptr ptr, ptr %arrays, i64 {k}",
                    f"  %user{k} = load ptr, ptr %user{k}p",
                ]
        lines += _point(k, f"%array{k}")
        if buffer.name in space.cleared_once:
            lines.append(_cleared(f"%array{k}", buffer, real))
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
    if real.lanes > 1:
        bad += f"  %any = call i1 @llvm.vector.reduce.or.v{real.lanes}i1({real.mask} %unsound)\n"
    return f"""{bad}  br i1 %{"any" if real.lanes > 1 else "unsound"}, label %note, label %sound
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


def _point(k: int, value: str) -> list[str]:
    return [f"  %place{k} = getelementptr ptr, ptr %p, i64 {k}", f"  store ptr {value}, ptr %place{k}"]


def _moves(program: Program, space: Workspace, real: Real) -> tuple[str, str]:
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
                where = before if buffer.role == "input" else after
                where.append(f"  call fastcc void @{_mover(k, buffer, space)}{call}")
        if _needs_clearing(buffer) and buffer.name not in space.cleared_once:
            before.append(_cleared(f"%rows{k}" if space.offsets[k] is None else f"%array{k}", buffer, real))
    return "\n".join(before), "\n".join(after)


def movers_source(program: Program, space: Workspace, real: Real) -> list[str]:
    """The functions that move states between arrays and lanes, one for each size and one for each output with zeros."""
    made = {}
    for k, b in enumerate(program.buffers):
        if _is_array(b) and b.name not in space.in_rows:
            way, name = "to" if b.role == "input" else "from", _mover(k, b, space)
            made[name] = mover_source(real, way, name, b.size, space.zeros.get(b.name, ()))
    return list(made.values())


def _mover(k: int, buffer: Buffer, space: Workspace) -> str:
    if buffer.role == "input":
        return f"to_lanes_{buffer.size}"
    return f"from_lanes_of_{k}" if buffer.name in space.zeros else f"from_lanes_{buffer.size}"


def _cleared(target: str, buffer: Buffer, real: Real) -> str:
    return f"  call void @llvm.memset.p0.i64(ptr {target}, i8 0, i64 {buffer.size * real.bytes}, i1 false)"


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


def _needs_clearing(buffer: Buffer) -> bool:
    return buffer.role in ("output", "scratch") and buffer.cleared and buffer.size > 0
