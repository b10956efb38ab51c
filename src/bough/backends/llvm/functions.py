"""The functions that a program becomes: what all of them share, and lines of one, with loops and switches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from bough.backends.llvm.lanes import Moves, Rows
from bough.backends.llvm.plan import Plan
from bough.backends.llvm.rows import places_in_loops, places_of, rows_read
from bough.backends.llvm.types import Lines, Real
from bough.program import Apply, Load, Loop, Program, Switch, walk
from bough.program.simple_loops import copied_outputs

__all__ = ["Names", "Writer"]


class Names:
    """What all functions of a module share."""

    def __init__(self, program: Program, plan: Plan, real: Real) -> None:
        self.program, self.plan, self.real = program, plan, real
        self.buffers = {b.name: (k, b) for k, b in enumerate(program.buffers)}
        self.ops = {x.op for x in walk(program.body) if isinstance(x, Apply)}
        self.spills, self.indices = len(program.buffers), len(program.buffers) + 1
        self.in_rows = rows_read(program, real)
        self.moves = Moves(real)
        self.copied = copied_outputs(program) if real.lanes > 1 else frozenset[str]()
        self.places = places_of(program)
        self.next_places = places_in_loops(program) if self.in_rows else {}
        self.written = plan.written if real.lanes > 1 else {}

    def real_of(self, value: int) -> Real:
        """What a value is computed in: a pack has more lanes."""
        width = self.plan.widths.get(value)
        return self.real if width is None else Real(self.real.element, width)

    def type_of(self, value: int) -> str:
        """LLVM type of a value."""
        kind = self.program.kinds[value]
        return "i64" if kind == "int" else self.real_of(value).type if kind == "float" else self.real.mask

    def constant(self, value: int) -> str:
        """Literal of a constant."""
        x, kind = self.plan.constants[value], self.program.kinds[value]
        return str(int(x)) if kind == "int" else self.real.constant(x) if kind == "float" else self.real.truth(bool(x))


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

    def loop(
        self, x: Loop, initial: Sequence[str], ask: Callable[[str], None], go_on: Callable[[], Sequence[str]]
    ) -> list[str]:
        """Write a loop around what tells by its counter whether all states are done, and what is done for others.

        Carried values are in registers if they begin as `initial`, and become what `go_on` returns. Returns the blocks
        after which the loop may end.
        """
        count = self.operand(x.count)
        before, head, body, leave = self.block, self.label(), self.label(), self.label()
        self.jump(head)
        self.start(head)
        k, following = self.name(), self.name()
        heads = len(self.lines)  # phis are written when what flows back into them is known
        self.branch(self.new(f"icmp slt i64 {k}, {count}"), body, leave)
        self.start(body)
        ask(self.new(f"sub i64 {self.new(f'sub i64 {count}, 1')}, {k}") if x.reverse else k)
        exits = [head]
        if x.done is not None:  # once all states are done a turn would change nothing
            exits.append(self.block)
            further = self.label()
            self.branch(self.new(self.real.over_lanes("and", self.operand(x.done))), leave, further)
            self.start(further)
        back = go_on()
        self.line(f"{following} = add i64 {k}, 1")
        flows = [(k, "i64", "0", following)]
        for value, first, again in zip(x.carried, initial, back, strict=False):
            flows.append((f"%v{value}", self.names.type_of(value), first, again))
        self.lines[heads:heads] = [
            f"  {name} = phi {t} [ {first}, %{before} ], [ {again}, %{self.block} ]" for name, t, first, again in flows
        ]
        self.jump(head)
        self.start(leave)
        return exits

    def switch(self, x: Switch, write: Callable[[int], None]) -> None:
        """Write a switch around its branches, by their numbers."""
        labels, leave = [self.label() for _ in x.branches], self.label()
        cases = " ".join(f"i64 {k}, label %{label}" for k, label in enumerate(labels))
        self.line(f"switch i64 {self.operand(x.selector)}, label %{labels[0]} [ {cases} ]")
        for k, label in enumerate(labels):
            self.start(label)
            write(k)
            self.jump(leave)
        self.start(leave)

    def operand(self, value: int) -> str:
        """A value where it is."""
        return self.fresh(value)
