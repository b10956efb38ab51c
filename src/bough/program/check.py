"""The checker: run after tracing and after every pass, so that a bad program is caught where it is made."""

from __future__ import annotations

from bough.errors import ProgramError
from bough.program.ir import Apply, Block, Const, Load, Loop, Program, Store, Switch
from bough.scalar import INDEX_OPS, OPS, Kind

__all__ = ["check"]


def check(program: Program) -> None:
    """Raise `ProgramError` unless every value is defined once, before its uses, visible there and of the right kind."""
    _Checker(program).run()


class _Checker:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.buffers = {b.name: b for b in program.buffers}
        self.defined: set[int] = set()

    def run(self) -> None:
        if len(self.buffers) != len(self.program.buffers):
            self.fail("two buffers have the same name")
        for b in self.program.buffers:
            if (b.data is not None) != (b.role == "table"):
                self.fail(f"buffer {b.name!r}: tables have data and other buffers have none")
            if b.data is not None and b.data.size != b.size:
                self.fail(f"table {b.name!r} has {b.data.size} entries and says {b.size}")
        self.block(self.program.body, set())

    def fail(self, message: str) -> None:
        raise ProgramError(f"program {self.program.name!r}: {message}")

    def define(self, value: int, visible: set[int], kind: Kind | None = None) -> None:
        if value in self.defined:
            self.fail(f"value %{value} is defined twice")
        if kind is not None and self.program.kinds[value] != kind:
            self.fail(f"value %{value} is a {self.program.kinds[value]}, expected a {kind}")
        self.defined.add(value)
        visible.add(value)

    def use(self, value: int, visible: set[int], kind: Kind) -> None:
        if value not in visible:
            self.fail(f"value %{value} is used where it is not defined (did it leave its loop or branch?)")
        if self.program.kinds[value] != kind:
            self.fail(f"value %{value} is a {self.program.kinds[value]}, used as a {kind}")

    def block(self, block: Block, visible: set[int]) -> None:
        kinds = self.program.kinds
        for x in block:
            if isinstance(x, Const):
                self.define(x.result, visible)
            elif isinstance(x, Apply):
                op = OPS.get(x.op) or INDEX_OPS.get(x.op)
                if op is None or len(op.arguments) != len(x.arguments):
                    self.fail(f"no operation {x.op!r} with {len(x.arguments)} arguments")
                    return
                for argument, kind in zip(x.arguments, op.arguments, strict=True):
                    self.use(argument, visible, kind)
                self.define(x.result, visible, op.result)
            elif isinstance(x, Load | Store):
                self.access(x, visible)
            elif isinstance(x, Loop):
                self.loop(x, visible)
            else:
                self.use(x.selector, visible, "int")
                self.switch(x, visible, kinds)

    def access(self, x: Load | Store, visible: set[int]) -> None:
        buffer = self.buffers.get(x.buffer)
        if buffer is None:
            self.fail(f"no buffer {x.buffer!r}")
            return
        self.use(x.index, visible, "int")
        if isinstance(x, Load):
            self.define(x.result, visible, buffer.kind)
            return
        if buffer.role not in ("output", "scratch"):
            self.fail(f"store to the {buffer.role} {buffer.name!r}")
        self.use(x.value, visible, buffer.kind)

    def loop(self, x: Loop, visible: set[int]) -> None:
        self.use(x.count, visible, "int")
        if not len(x.initial) == len(x.carried) == len(x.following) == len(x.results):
            self.fail("a loop carries lists of different lengths")
        kinds = [self.program.kinds[v] for v in x.initial]
        for value, kind in zip(x.initial, kinds, strict=True):
            self.use(value, visible, kind)
        inside = set(visible)
        self.define(x.counter, inside, "int")
        for value, kind in zip(x.carried, kinds, strict=True):
            self.define(value, inside, kind)
        self.block(x.body, inside)
        for value, kind in zip(x.following, kinds, strict=True):
            self.use(value, inside, kind)
        if x.done is not None:
            self.use(x.done, inside, "bool")
        for value, kind in zip(x.results, kinds, strict=True):
            self.define(value, visible, kind)

    def switch(self, x: Switch, visible: set[int], kinds: tuple[Kind, ...]) -> None:
        for branch, values in zip(x.branches, x.yields, strict=True):
            inside = set(visible)
            self.block(branch, inside)
            for value, result in zip(values, x.results, strict=True):
                self.use(value, inside, kinds[result])
        for result in x.results:
            self.define(result, visible)
