"""Writing chunks of a program: the rule for each instruction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bough.backends.llvm.elementary import sincos_name
from bough.backends.llvm.fills import clear_written, note_written, write_zeros, zeros_of
from bough.backends.llvm.functions import Names, Writer
from bough.backends.llvm.packing import PACKING, looked_up
from bough.backends.llvm.plan import Chunk, made_by
from bough.backends.llvm.rows import Run, fetch_next, read_rows, runs_of
from bough.program import Apply, Instruction, Load, Loop, Store, Switch, walk
from bough.program.ir import until_done, uses
from bough.program.simple_loops import Copy, copied_by

__all__ = ["ChunkWriter"]

_INFIX = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_COMPARE = {"lt": "olt", "le": "ole"}
_LOGIC = {"and": "and", "or": "or"}
_INDEX = {"iadd": "add", "imul": "mul"}

LONG_AGO = 200  # lines after which a value that is in memory is loaded once more: registers hold others meanwhile
MOST_BROUGHT = 16  # values in memory that are loaded before a loop begins: more would not stay in registers


class ChunkWriter(Writer):
    """Writes one chunk, with values in registers and small loops and switches in place."""

    def __init__(self, names: Names, chunk: Chunk) -> None:
        super().__init__(names)
        self._chunk = chunk
        self._operands: dict[int, str] = {}
        self._used: dict[int, int] = {}  # the line where a value was used last
        self._turned: dict[int, tuple[str, str]] = {}  # sine and cosine of a value, made together
        self._runs: dict[tuple[str, int], Run] = {}  # what the current block reads of inputs in rows

    def source(self, linkage: str) -> str:
        """The whole function."""
        self._write(self._chunk.body)
        head = f"define {linkage} fastcc void @chunk_{self._chunk.number}(ptr %p) #0"
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
            return self._defined(x.result, self.repeated(t, one, self.real.lanes))
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
            return self._copy_to_rows(copy)
        if x.done is not None and self.names.plan.constants.get(x.count) == 1:
            return self._once(x, x.done)
        self._bring(x)
        turned, known = dict(self._turned), dict(self._operands)
        asked, rest = until_done(x)
        self.operand(x.count)

        def ask(counter: str) -> None:
            self._operands |= {value: f"%v{value}" for value in x.carried} | {x.counter: counter}
            self._write(asked)

        def go_on() -> list[str]:
            self._write(rest)
            return [self.operand(v) for v in x.following]

        exits = self.loop(x, [self.operand(v) for v in x.initial], ask, go_on)
        self._turned, self._operands = turned, known
        self._join(x.results, [[(f"%v{value}", label) for label in exits] for value in x.carried])

    def _copy_to_rows(self, copy: Copy) -> None:
        """Turn what a loop copies into rows, while it is in the first cache."""
        (target, _), (source, _) = self.names.buffers[copy.target], self.names.buffers[copy.source]
        lanes = self.new(f"getelementptr {self.real.type}, ptr {self.pointer(source)}, i64 {copy.first}")
        rows = self.rows(target)
        start = self.new(f"getelementptr {self.real.element}, ptr {rows.first}, i64 {copy.start}")
        places = "" if copy.table is None else self.pointer(self.names.buffers[copy.table][0])
        self.line(self.names.moves.call("rows", rows._replace(first=start), lanes, copy.size, places))

    def _once(self, x: Loop, done: int) -> None:
        """A loop of one turn that may be left out is a branch: what is taken for a loop is taken to run often."""
        initial = [self.operand(v) for v in x.initial]
        asked, rest = until_done(x)
        before = dict(self._operands)
        self._operands |= dict(zip(x.carried, initial, strict=True)) | {x.counter: "0"}
        self._write(asked)
        body, leave, asking = self.label(), self.label(), self.block
        self.branch(self.new(self.real.over_lanes("and", self.operand(done))), leave, body)
        turned = dict(self._turned)
        self.start(body)
        self._write(rest)
        back = [self.operand(v) for v in x.following]
        end = self.block
        self.jump(leave)
        self.start(leave)
        self._turned, self._operands = turned, before
        self._join(x.results, [[(a, asking), (b, end)] for a, b in zip(initial, back, strict=True)])

    def _switch(self, x: Switch) -> None:
        self._bring(x)
        turned, known = dict(self._turned), dict(self._operands)
        arriving: list[list[tuple[str, str]]] = [[] for _ in x.results]

        def write(k: int) -> None:
            self._turned, self._operands = dict(turned), dict(known)
            self._write(x.branches[k])
            operands = [self.operand(v) for v in x.yields[k]]
            for flow, operand in zip(arriving, operands, strict=True):
                flow.append((operand, self.block))

        self.switch(x, write)
        self._turned, self._operands = turned, known
        self._join(x.results, arriving)

    def _join(self, results: Sequence[int], arriving: Iterable[Sequence[tuple[str, str]]]) -> None:
        """Results that are what arrives from one of several blocks."""
        for result, flow in zip(results, arriving, strict=True):
            sources = ", ".join(f"[ {operand}, %{label} ]" for operand, label in flow)
            self.line(f"%v{result} = phi {self.names.type_of(result)} {sources}")
        for result in results:
            self._defined(result, f"%v{result}")
