"""The loop over a batch: bring a block of states into lanes, run the program, bring results and verdict out.

A block that is not full is copied aside, its last row as often as is missing, and results are copied back: whatever
reads or writes rows has full blocks, and nothing outside the arrays is touched.
"""

from __future__ import annotations

from bough.backends.llvm.functions import Names
from bough.backends.llvm.lanes import Rows
from bough.backends.llvm.types import Lines, Real
from bough.program import VERDICT, Buffer
from bough.program.lives import Wanted, together, wanted_by

__all__ = ["Workspace", "entry_source"]

SPILLS, INDICES = "spills", "indices"
"""Areas for values that pass from one function to another."""

COPY_ROWS = """define internal fastcc void @copy_rows(
    ptr %to, i64 %to_step, ptr %from, i64 %from_step, i64 %size, i64 %count, i64 %known) {
entry:
  %last = sub i64 %known, 1
  br label %row
row:
  %j = phi i64 [ 0, %entry ], [ %next, %row ]
  %there = icmp slt i64 %j, %last
  %k = select i1 %there, i64 %j, i64 %last
  %x = mul i64 %k, %from_step
  %source = getelementptr i8, ptr %from, i64 %x
  %y = mul i64 %j, %to_step
  %target = getelementptr i8, ptr %to, i64 %y
  call void @llvm.memcpy.p0.p0.i64(ptr %target, ptr %source, i64 %size, i1 false)
  %next = add i64 %j, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %row, label %exit
exit:
  ret void
}"""
"""Copies so many rows of `size` bytes; behind the last one that is known comes that one again."""

ALIGNMENT = 64  # bytes: a cache line, and the widest vector


class Workspace:
    """Where everything that is not a user's array lies in the scratch memory of one thread, in bytes."""

    def __init__(self, names: Names) -> None:
        program, plan, real = names.program, names.plan, names.real
        self.in_rows = names.in_rows | names.copied
        """The arrays that are read or written where they lie: of these only their rows are known here."""
        lives, before, after = wanted_by(program), -1, len(program.body)
        areas: dict[str, Wanted] = {}

        def area(name: str, size: int, first: int = before, last: int = after) -> None:
            areas[name] = Wanted(-(-size // ALIGNMENT) * ALIGNMENT, first, last)

        for b in program.buffers:
            if real.lanes > 1 and _is_array(b):
                time = before if b.role == "input" else after
                area(_aside(b), b.size * real.bytes, *(() if b.name in self.in_rows else (time, time)))
            if b.role != "table" and (real.lanes > 1 or not _is_array(b)):
                size = 8 * len(Rows._fields) if b.name in self.in_rows else b.size * real.bytes
                area(b.name, size, *lives.get(b.name, ()))
        area(SPILLS, plan.float_slots * real.bytes, 0, after - 1)
        area(INDICES, plan.int_slots * 8)
        self.offsets = dict(zip(areas, together([*areas.values()]), strict=True))
        self.size = max(self.offsets[name] + x.size for name, x in areas.items())


def entry_source(names: Names, space: Workspace) -> str:
    """The function ``i64 kernel(ptr arrays, ptr strides, i64 first, i64 last, ptr space, ptr verdicts)``.

    `arrays` has an address for each buffer, `strides` the bytes from one state to the next. It runs the states from
    `first` to before `last`, writes verdicts that are not zero, and returns what they say of any state.
    """
    entry, program, real = _Entry(names, space), names.program, names.real
    for k, b in enumerate(program.buffers):
        entry.buffer(k, b)
    for k, name in enumerate((SPILLS, INDICES), len(program.buffers)):
        entry.point(k, entry.area(name))
    kernel = f"""define i64 @kernel(ptr %arrays, ptr %strides, i64 %first, i64 %end, ptr %space, ptr %verdicts) #0 {{
entry:
  %p = alloca [{len(program.buffers) + 2} x ptr]
{entry.setup.text()}
  br label %head
head:
  %s = phi i64 [ %first, %entry ], [ %next, %sound ]
  %code = phi i64 [ 0, %entry ], [ %known, %sound ]
  %left = sub i64 %end, %s
  %next = add i64 %s, {real.lanes}
  %more = icmp sgt i64 %left, 0
  br i1 %more, label %block, label %exit
block:
  %full = icmp sge i64 %left, {real.lanes}
{entry.block.text()}
  br i1 %full, label %ready, label %short
short:
{entry.short.text()}
  br label %ready
ready:
{entry.before.text()}
  call fastcc void @body(ptr %p)
{entry.after.text()}
  br i1 %full, label %done, label %back
back:
{entry.back.text()}
  br label %done
done:
{_judge(entry.verdict, real)}
  br label %head
exit:
  ret i64 %code
}}"""
    return kernel if real.lanes == 1 else f"{COPY_ROWS}\n\n{kernel}"


class _Entry:
    """What is done with buffers: at first, for each block, for one that is short, and before and after the program."""

    def __init__(self, names: Names, space: Workspace) -> None:
        self._space, self._real, self._moves = space, names.real, names.moves
        self.setup, self.block, self.short, self.before, self.after, self.back = (Lines(letter) for letter in "abcdef")
        self.verdict = ""  # where it is

    def buffer(self, k: int, b: Buffer) -> None:
        """Bring a buffer to where the program finds it, and results to where they are wanted."""
        if not _is_array(b):
            place = self._user("ptr", k) if b.role == "table" else self.area(b.name)
        elif self._real.lanes == 1:
            place = self._rows(k).first
        else:
            place = self.area(b.name)
            self._move(self._whole_rows(b, self._rows(k)), b, place)
        self.point(k, place)
        if b.role in ("output", "scratch") and b.cleared and b.size > 0:
            size = b.size * self._real.bytes
            self.before.line(f"call void @llvm.memset.p0.i64(ptr {place}, i8 0, i64 {size}, i1 false)")
        if b.role == "output" and b.name == VERDICT:
            self.verdict = place

    def point(self, k: int, place: str) -> None:
        """Tell the program where a buffer is."""
        lines = self.block if place.startswith("%b") else self.setup
        lines.line(f"store ptr {place}, ptr {lines.new(f'getelementptr ptr, ptr %p, i64 {k}')}")

    def area(self, name: str) -> str:
        """An area of the scratch memory."""
        return self.setup.new(f"getelementptr i8, ptr %space, i64 {self._space.offsets[name]}")

    def _user(self, t: str, k: int) -> str:
        place = self.setup.new(f"getelementptr {t}, ptr %{'arrays' if t == 'ptr' else 'strides'}, i64 {k}")
        return self.setup.new(f"load {t}, ptr {place}")

    def _rows(self, k: int) -> Rows:
        """The rows of a block where the user has them."""
        array, stride = self._user("ptr", k), self._user("i64", k)
        offset = self.block.new(f"mul i64 %s, {stride}")
        return Rows(self.block.new(f"getelementptr i8, ptr {array}, i64 {offset}"), stride)

    def _whole_rows(self, b: Buffer, rows: Rows) -> Rows:
        """The same, or those aside."""
        size, width = b.size * self._real.size, self._real.lanes
        aside = Rows(self.area(_aside(b)), str(size))
        if b.role == "input":
            self.short.line(f"call fastcc void @copy_rows({aside}, {rows}, i64 {size}, i64 {width}, i64 %left)")
        else:
            self.back.line(f"call fastcc void @copy_rows({rows}, {aside}, i64 {size}, i64 %left, i64 %left)")
        first = self.before.new(f"select i1 %full, ptr {rows.first}, ptr {aside.first}")
        return Rows(first, self.before.new(f"select i1 %full, i64 {rows.stride}, i64 {aside.stride}"))

    def _move(self, rows: Rows, b: Buffer, place: str) -> None:
        if b.name in self._space.in_rows:
            self.before.line(f"store ptr {rows.first}, ptr {place}")
            stride = self.before.new(f"getelementptr i64, ptr {place}, i64 1")
            self.before.line(f"store i64 {rows.stride}, ptr {stride}")
        elif b.role == "input":
            self.before.line(self._moves.call("lanes", rows, place, b.size))
        else:
            self.after.line(self._moves.call("rows", rows, place, b.size))


def _judge(verdict: str, real: Real) -> str:
    """From the verdicts of a block of states to the block %sound, where %known is what is wrong so far."""
    if not verdict:
        return "  br label %sound\nsound:\n  %known = phi i64 [ %code, %done ]"
    return f"""  %verdict = load {real.type}, ptr {verdict}
  %unsound = fcmp une {real.type} %verdict, {real.constant(0.0)}
  %any = {real.over_lanes("or", "%unsound")}
  %until = select i1 %full, i64 %next, i64 %end
  br i1 %any, label %note, label %sound
note:
  %state = phi i64 [ %s, %done ], [ %after, %note ]
  %noted = phi i64 [ %code, %done ], [ %both, %note ]
  %lane = sub i64 %state, %s
  %onep = getelementptr {real.element}, ptr {verdict}, i64 %lane
  %one = load {real.element}, ptr %onep
  %kind = fptosi {real.element} %one to i64
  %both = or i64 %noted, %kind
  %number = sitofp i64 %kind to double
  %notep = getelementptr double, ptr %verdicts, i64 %state
  store double %number, ptr %notep
  %after = add i64 %state, 1
  %again = icmp slt i64 %after, %until
  br i1 %again, label %note, label %sound
sound:
  %known = phi i64 [ %code, %done ], [ %both, %note ]"""


def _aside(b: Buffer) -> str:
    """Name of the area for the rows of an array in a block that is not full."""
    return f"rows of {b.name}"


def _is_array(buffer: Buffer) -> bool:
    """Whether it is an array of the caller's: the verdict is judged where it is."""
    return buffer.role in ("input", "output") and buffer.name != VERDICT
