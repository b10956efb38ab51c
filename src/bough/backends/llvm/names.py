"""Names of the values and buffers of a program, and their types, for all functions that are written of it."""

from __future__ import annotations

from bough.backends.llvm.copies import copied_to_rows
from bough.backends.llvm.lanes import Moves
from bough.backends.llvm.plan import Plan
from bough.backends.llvm.rows import places_in_loops, places_of, rows_read
from bough.backends.llvm.types import Real
from bough.program import Apply, Program, walk

__all__ = ["Names"]


class Names:
    """What all functions of a module share."""

    def __init__(self, program: Program, plan: Plan, real: Real) -> None:
        self.program, self.plan, self.real = program, plan, real
        self.buffers = {b.name: (k, b) for k, b in enumerate(program.buffers)}
        self.ops = {x.op for x in walk(program.body) if isinstance(x, Apply)}
        self.spills, self.indices = len(program.buffers), len(program.buffers) + 1
        self.in_rows = rows_read(program, real)
        self.moves = Moves(real)
        self.copied = copied_to_rows(program, real)
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
