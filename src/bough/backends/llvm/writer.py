"""Writing LLVM functions: the rule for each instruction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bough.backends.llvm.copies import write_copy
from bough.backends.llvm.elementary import sincos_name
from bough.backends.llvm.fills import clear_written, note_written, write_zeros, zeros_of
from bough.backends.llvm.lanes import Rows
from bough.backends.llvm.names import Names
from bough.backends.llvm.packing import PACKING, looked_up
from bough.backends.llvm.plan import Chunk, made_by
from bough.backends.llvm.rows import Run, fetch_next, read_rows, runs_of
from bough.backends.llvm.types import Lines
from bough.program import Apply, Instruction, Load, Loop, Store, Switch, walk
from bough.program.ir import until_done, uses
from bough.program.simple_loops import copied_by

__all__ = ["ChunkWriter", "Writer"]

_INFIX = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_COMPARE = {"lt": "olt", "le": "ole"}
_LOGIC = {"and": "and", "or": "or"}
_INDEX = {"iadd": "add", "imul": "mul"}

LONG_AGO = 200  # lines after which a value that is in memory is loaded once more: registers hold others meanwhile
MOST_BROUGHT = 16  # values in memory that are loaded before a loop begins: more would not stay in registers


class Writer(Lines):
    """Lines of one function. Its argument %p points to the addresses of all buffers."""

    def __init__(self, names: Names) -> None:
        super().__init__()
        self.names = names
        self.real = names.real
        self.block = "entry"
        self._heads = Lines("h")  # what is done when the function begins
        self._pointers: dict[int, str] = {}
        self._rows: dict[int, Rows] = {}
        self._starts: dict[int, list[str]] = {}

    def text(self) -> str:
        """The function's lines; addresses of buffers are loaded first."""
        return "\n".join(self._heads.lines + self.lines)

    def label(self) -> str:
        """A fresh label."""
        self._count += 1
        return f"b{self._count}"

    def start(self, label: str) -> None:
        """Begin a block."""
        self.lines.append(f"{label}:")
        self.block = label

    def jump(self, label: str) -> None:
        """End a block."""
        self.line(f"br label %{label}")

    def branch(self, condition: str, yes: str, no: str) -> None:
        """End a block with a choice."""
        self.line(f"br i1 {condition}, label %{yes}, label %{no}")

    def pointer(self, k: int) -> str:
        """Address of a buffer."""
        if k not in self._pointers:
            place = self._heads.new(f"getelementptr ptr, ptr %p, i64 {k}")
            self._pointers[k] = self._heads.new(f"load ptr, ptr {place}")
        return self._pointers[k]

    def rows(self, k: int) -> Rows:
        """Where the rows are of a buffer that is read or written there."""
        if k not in self._rows:
            words = (self._heads.new(f"getelementptr i64, ptr {self.pointer(k)}, i64 {j}") for j in range(2))
            loads = zip(("ptr", "i64"), words, strict=True)
            self._rows[k] = Rows(*(self._heads.new(f"load {t}, ptr {word}") for t, word in loads))
        return self._rows[k]

    def row_starts(self, k: int) -> list[str]:
        """The same, the address of each row."""
        if k not in self._starts:
            self._starts[k] = self.rows(k).starts(self.real, self._heads.new)
        return self._starts[k]

    def slot(self, value: int) -> tuple[str, str]:
        """Address of the slot of a value, and the type kept there."""
        place = self.names.plan.slots[value]
        if self.names.program.kinds[value] == "int":
            return self.new(f"getelementptr i64, ptr {self.pointer(self.names.indices)}, i64 {place}"), "i64"
        return self.spilled(place), self.names.real_of(value).type

    def spilled(self, slot: int) -> str:
        """Address of a slot."""
        return self.new(f"getelementptr {self.real.type}, ptr {self.pointer(self.names.spills)}, i64 {slot}")

    def fresh(self, value: int) -> str:
        """A value from its slot or an input, or a constant."""
        plan = self.names.plan
        if value in plan.constants:
            return self.names.constant(value)
        if value in plan.given:
            place, t, align = self.entry(plan.given[value])
            return self.new(f"load {t}, ptr {place}, align {align}")
        place, kept = self.slot(value)
        loaded = self.new(f"load {kept}, ptr {place}")
        if self.names.program.kinds[value] == "bool":
            return self.new(f"fcmp one {self.real.type} {loaded}, {self.real.constant(0.0)}")
        return loaded

    def entry(self, x: Load) -> tuple[str, str, int]:
        """Address of an entry of an input at a constant place, its type there and its alignment."""
        k, _ = self.names.buffers[x.buffer]
        t, place = self.real.type, self.names.constant(x.index)
        align = self.real.size if self.real.lanes == 1 else self.real.bytes
        return self.new(f"getelementptr {t}, ptr {self.pointer(k)}, i64 {place}"), t, align

    def keep(self, value: int, operand: str) -> None:
        """Write a value to its slot."""
        place, kept = self.slot(value)
        if self.names.program.kinds[value] == "bool":
            operand = self.new(f"uitofp {self.real.mask} {operand} to {self.real.type}")
        self.line(f"store {kept} {operand}, ptr {place}")

    def move(self, source: Iterable[int], target: Iterable[int]) -> None:
        """Copy slots, as if all at once; what is in its slot already stays there."""
        slots = self.names.plan.slots
        pairs = [(a, b) for a, b in zip(source, target, strict=True) if slots.get(a) != slots[b]]
        loaded = [self.fresh(value) for value, _ in pairs]
        for (_, value), operand in zip(pairs, loaded, strict=True):
            self.keep(value, operand)


class ChunkWriter(Writer):
    """Writes one chunk, with values in registers and small loops and switches in place."""

    def __init__(self, names: Names, chunk: Chunk) -> None:
        super().__init__(names)
        self._chunk = chunk
        self._operands: dict[int, str] = {}
        self._used: dict[int, int] = {}  # the line where a value was used last
        self._turned: dict[int, tuple[str, str]] = {}  # sine and cosine of a value, made together
        self._runs: dict[tuple[str, int], Run] = {}  # what the current block reads of inputs in rows

    def source(self) -> str:
        """The whole function."""
        self._write(self._chunk.body)
        head = f"define internal fastcc void @chunk_{self._chunk.number}(ptr %p) #0"
        return f"{head} {{\nentry:\n{self.text()}\n  ret void\n}}"

    def operand(self, value: int) -> str:
        """A value where it is: a constant, a register, or loaded from its slot or an input once."""
        if value in self.names.plan.constants:
            return self.names.constant(value)
        now = len(self.lines)
        far = self.real.lanes > 1 and now - self._used.get(value, now) >= LONG_AGO
        if value not in self._operands or (far and self._in_memory(value)):
            self._operands[value] = self.fresh(value)
        self._used[value] = now
        return self._operands[value]

    def _in_memory(self, value: int) -> bool:
        """Whether a number can be loaded at any time."""
        plan = self.names.plan
        return (value in plan.slots or value in plan.given) and self.names.program.kinds[value] == "float"

    def has(self, value: int) -> bool:
        """Whether a value is in a register."""
        return value in self._operands

    def define(self, value: int, text: str) -> None:
        """A line that defines a value of the program."""
        self.line(f"%v{value} = {text}")
        self._defined(value, f"%v{value}")

    def _defined(self, value: int, operand: str) -> None:
        self._operands[value] = operand
        self._used[value] = len(self.lines)
        if value in self.names.plan.slots:
            self.keep(value, operand)

    def _write(self, body: Sequence[Instruction]) -> None:
        around = self._runs
        if self.names.in_rows:
            self._runs = runs_of(body, self.names.places)
        for x in body:
            if isinstance(x, Apply):
                self._apply(x)
            elif isinstance(x, Load):
                self._load(x)
            elif isinstance(x, Store):
                place, _, align = self._address(x.buffer, x.index)
                self.line(f"store {self.names.type_of(x.value)} {self.operand(x.value)}, ptr {place}, align {align}")
                if x.buffer in self.names.written:
                    note_written(self, self._written(x.buffer), self.operand(x.index), self._size(x.buffer))
            elif isinstance(x, Loop):
                self._loop(x)
            elif isinstance(x, Switch):
                self._switch(x)
        self._runs = around

    def _apply(self, x: Apply) -> None:
        real = self.names.real_of(x.result)
        t, b = real.type, real.mask
        if x.op in ("sin", "cos"):
            self._defined(x.result, self._turn(x.arguments[0])[x.op == "cos"])
            return
        if x.op in PACKING:
            self._defined(x.result, PACKING[x.op](self, x))
            return
        a = [self.operand(v) for v in x.arguments]
        if x.op in _INFIX:
            text = f"{_INFIX[x.op]} {t} {a[0]}, {a[1]}"
        elif x.op == "fma":
            text = f"call {t} @llvm.fma.{real.suffix}({t} {a[0]}, {t} {a[1]}, {t} {a[2]})"
        elif x.op == "neg":
            text = f"fneg {t} {a[0]}"
        elif x.op == "sqrt":
            text = f"call {t} @llvm.sqrt.{real.suffix}({t} {a[0]})"
        elif x.op in _COMPARE:
            text = f"fcmp {_COMPARE[x.op]} {t} {a[0]}, {a[1]}"
        elif x.op in _LOGIC:
            text = f"{_LOGIC[x.op]} {b} {a[0]}, {a[1]}"
        elif x.op == "not":
            text = f"xor {b} {a[0]}, {self.real.truth(True)}"
        elif x.op == "select":
            text = f"select {b} {a[0]}, {t} {a[1]}, {t} {a[2]}"
        elif x.op in _INDEX:
            text = f"{_INDEX[x.op]} i64 {a[0]}, {a[1]}"
        else:
            assert x.op == "atan2", x.op
            self._defined(x.result, self._lane_by_lane("atan2", a))
            return
        self.define(x.result, text)

    def _turn(self, angle: int) -> tuple[str, str]:
        if angle not in self._turned:
            t = self.real.type
            pair = f"{{{t}, {t}}}"
            both = self.new(f"call fastcc {pair} @{sincos_name(self.real)}({t} {self.operand(angle)})")
            sine, cosine = (self.new(f"extractvalue {pair} {both}, {k}") for k in (0, 1))
            self._turned[angle] = sine, cosine
        return self._turned[angle]

    def _lane_by_lane(self, function: str, a: list[str]) -> str:
        e, t = self.real.element, self.real.type
        name = function + self.real.c
        if self.real.lanes == 1:
            return self.new(f"call {e} @{name}({', '.join(f'{e} {x}' for x in a)})")
        result = "undef"
        for k in range(self.real.lanes):
            parts = [self.new(f"extractelement {t} {x}, i64 {k}") for x in a]
            y = self.new(f"call {e} @{name}({', '.join(f'{e} {x}' for x in parts)})")
            result = self.new(f"insertelement {t} {result}, {e} {y}, i64 {k}")
        return result

    def _address(self, buffer: str, index: int) -> tuple[str, str, int]:
        """Address of an entry, its type there and its alignment."""
        k, b = self.names.buffers[buffer]
        t = "i64" if b.kind == "int" else self.real.element if b.role == "table" else self.real.type
        direct = self.real.lanes == 1 or b.role == "table"
        align = 8 if b.kind == "int" else self.real.size if direct else self.real.bytes
        base, offset = self.names.places.get(index, (index, 0))
        start, more = (base, offset) if self.has(base) else (index, 0)  # a constant is part of the instruction
        place = self.new(f"getelementptr {t}, ptr {self.pointer(k)}, i64 {self.operand(start)}")
        return self.new(f"getelementptr {t}, ptr {place}, i64 {more}"), t, align

    def _load(self, x: Load) -> None:
        if self.names.program.kinds[x.index] == "float":
            return self._defined(x.result, looked_up(self, x))
        if x.buffer in self.names.in_rows:
            base, offset = self.names.places.get(x.index, (x.index, 0))
            rows, run = self.row_starts(self.names.buffers[x.buffer][0]), self._runs[x.buffer, base]
            if not run.read and base in self.names.next_places:
                fetch_next(self, rows, base, run)
            return self._defined(x.result, read_rows(self.real, self.new, rows, self.operand(x.index), offset, run))
        place, t, align = self._address(x.buffer, x.index)
        _, b = self.names.buffers[x.buffer]
        if b.role == "table" and b.kind == "float" and self.real.lanes > 1:
            one = self.new(f"load {t}, ptr {place}, align {align}")
            first = self.new(f"insertelement {self.real.type} undef, {t} {one}, i64 0")
            mask = f"<{self.real.lanes} x i32> zeroinitializer"
            self.define(x.result, f"shufflevector {self.real.type} {first}, {self.real.type} undef, {mask}")
        else:
            self.define(x.result, f"load {self.names.type_of(x.result)}, ptr {place}, align {align}")

    def _size(self, buffer: str) -> int:
        return self.names.buffers[buffer][1].size

    def _written(self, buffer: str) -> str:
        """Address of the bits that tell which parts of an array were written."""
        place = self.names.written[buffer]
        return self.new(f"getelementptr i64, ptr {self.pointer(self.names.indices)}, i64 {place}")

    def _bring(self, x: Loop | Switch) -> None:
        """Load what the inside of a loop or switch needs from outside before it begins."""
        inner = {v for y in walk((x,)) for v in made_by(y)}
        outer = dict.fromkeys(v for v in uses(x) if v not in inner)
        loaded = {v for v in outer if self._in_memory(v) and not self.has(v)} if self.real.lanes > 1 else ()
        for value in outer:
            if len(loaded) <= MOST_BROUGHT or value not in loaded:
                self.operand(value)

    def _loop(self, x: Loop) -> None:
        if (zeros := zeros_of(x, self.names.plan.constants)) is not None:
            name, size = zeros.target, zeros.size
            address = self.pointer(self.names.buffers[name][0])
            if name in self.names.written and size == self._size(name):
                return clear_written(self, self._written(name), address, size)
            return write_zeros(self, address, size)
        copy = copied_by(x, self.names.plan.constants) if self.names.copied else None
        if copy is not None and copy.target in self.names.copied:
            return write_copy(self, copy)
        if x.done is not None and self.names.plan.constants.get(x.count) == 1:
            return self._once(x, x.done)
        self._bring(x)
        turned, known = dict(self._turned), dict(self._operands)
        count = self.operand(x.count)
        initial = [self.operand(v) for v in x.initial]
        before, head, body, leave = self.block, self.label(), self.label(), self.label()
        self.jump(head)
        self.start(head)
        k, following = self.name(), self.name()
        heads = len(self.lines)  # phis are written when what flows back into them is known
        for value in x.carried:
            self._operands[value] = f"%v{value}"
        self.branch(self.new(f"icmp slt i64 {k}, {count}"), body, leave)
        self.start(body)
        self._operands[x.counter] = self.new(f"sub i64 {self.new(f'sub i64 {count}, 1')}, {k}") if x.reverse else k
        asked, rest = until_done(x)
        self._write(asked)
        exits = [head]
        if x.done is not None:  # once all states are done a turn would change nothing
            exits.append(self.block)
            go_on = self.label()
            self.branch(self.new(self.real.all_lanes(self.operand(x.done))), leave, go_on)
            self.start(go_on)
        self._write(rest)
        back = [self.operand(v) for v in x.following]
        self.line(f"{following} = add i64 {k}, 1")
        end = self.block
        self.jump(head)
        phis = [f"  {k} = phi i64 [ 0, %{before} ], [ {following}, %{end} ]"]
        for value, first, again in zip(x.carried, initial, back, strict=True):
            phis.append(f"  %v{value} = phi {self.names.type_of(value)} [ {first}, %{before} ], [ {again}, %{end} ]")
        self.lines[heads:heads] = phis
        self.start(leave)
        self._turned, self._operands = turned, known
        for result, value in zip(x.results, x.carried, strict=True):
            flow = ", ".join(f"[ %v{value}, %{label} ]" for label in exits)
            self.line(f"%v{result} = phi {self.names.type_of(result)} {flow}")
        for result in x.results:
            self._defined(result, f"%v{result}")

    def _once(self, x: Loop, done: int) -> None:
        """A loop of one turn that may be left out is a branch: what is taken for a loop is taken to run often."""
        initial = [self.operand(v) for v in x.initial]
        asked, rest = until_done(x)
        before = dict(self._operands)
        self._operands |= dict(zip(x.carried, initial, strict=True)) | {x.counter: "0"}
        self._write(asked)
        body, leave, asking = self.label(), self.label(), self.block
        self.branch(self.new(self.real.all_lanes(self.operand(done))), leave, body)
        turned = dict(self._turned)
        self.start(body)
        self._write(rest)
        back = [self.operand(v) for v in x.following]
        end = self.block
        self.jump(leave)
        self.start(leave)
        self._turned, self._operands = turned, before
        for result, first, again in zip(x.results, initial, back, strict=True):
            self.line(f"%v{result} = phi {self.names.type_of(result)} [ {first}, %{asking} ], [ {again}, %{end} ]")
        for result in x.results:
            self._defined(result, f"%v{result}")

    def _switch(self, x: Switch) -> None:
        self._bring(x)
        turned, known = dict(self._turned), dict(self._operands)
        labels, leave = [self.label() for _ in x.branches], self.label()
        cases = " ".join(f"i64 {k}, label %{label}" for k, label in enumerate(labels))
        self.line(f"switch i64 {self.operand(x.selector)}, label %{labels[0]} [ {cases} ]")
        arriving: list[list[str]] = [[] for _ in x.results]
        for label, branch, values in zip(labels, x.branches, x.yields, strict=True):
            self.start(label)
            self._write(branch)
            operands = [self.operand(v) for v in values]
            for flow, operand in zip(arriving, operands, strict=True):
                flow.append(f"[ {operand}, %{self.block} ]")
            self.jump(leave)
            self._turned, self._operands = dict(turned), dict(known)
        self.start(leave)
        for result, flow in zip(x.results, arriving, strict=True):
            self.line(f"%v{result} = phi {self.names.type_of(result)} {', '.join(flow)}")
        for result in x.results:
            self._defined(result, f"%v{result}")
