"""The checker: run on programs as they are traced and as they were changed, so that a bad one is caught early."""

from __future__ import annotations

from itertools import islice
from typing import NoReturn

import numpy as np

from bough.errors import ProgramError
from bough.program.ir import Apply, Block, Buffer, Const, Load, Loop, Program, Store, Switch
from bough.scalar import INDEX_OPS, OPS, Kind

__all__ = ["check"]


def check(program: Program) -> None:
    """Raise `ProgramError` unless every value is defined once, before its uses, visible there and of the right kind."""
    _Checker(program).run()


_SIGNATURES = {op.name: (op.arguments, op.result) for op in (*OPS.values(), *INDEX_OPS.values())}


class _Checker:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.kinds = program.kinds
        self.buffers = {b.name: b for b in program.buffers}
        self.visible: dict[int, Kind | None] = {}  # of what is defined: its kind, None once its block has ended
        self.constants: dict[int, float | bool | int] = {}

    def run(self) -> None:
        if len(self.buffers) != len(self.program.buffers):
            self.fail("two buffers have the same name")
        for b in self.program.buffers:
            self.buffer(b)
        self.block(self.program.body)

    def fail(self, message: str) -> NoReturn:
        raise ProgramError(f"program {self.program.name!r}: {message}")

    def kind(self, value: int) -> Kind:
        if not 0 <= value < len(self.kinds):
            self.fail(f"value %{value} has no kind: the program has {len(self.kinds)} values")
        return self.kinds[value]

    def define(self, value: int, kind: Kind) -> None:
        if not 0 <= value < len(self.kinds) or self.kinds[value] != kind:
            self.fail(f"value %{value} is of kind {self.kind(value)}, expected {kind}")
        if value in self.visible:
            self.fail(f"value %{value} is defined twice")
        self.visible[value] = kind

    def use(self, value: int, kind: Kind) -> None:
        found = self.visible.get(value)
        if found is None:
            self.fail(f"value %{value} is used where it is not defined (did it leave its loop or branch?)")
        if found != kind:
            self.fail(f"value %{value} is of kind {found} and is used as {kind}")

    def leave(self, outside: int) -> None:
        """End a block: of what was defined, only the first `outside` values stay visible."""
        self.visible.update(dict.fromkeys(islice(self.visible, outside, None)))

    def buffer(self, b: Buffer) -> None:
        if (b.data is not None) != (b.role == "table"):
            self.fail(f"buffer {b.name!r}: tables have data and other buffers have none")
        if b.data is None:
            if b.kind != "float":
                self.fail(f"the {b.role} {b.name!r} is of kind {b.kind}, expected float")
            return
        if b.data.shape != (b.size,):
            self.fail(f"table {b.name!r} has data of shape {b.data.shape}, expected ({b.size},)")
        if b.kind == "bool" or b.data.dtype != (np.int64 if b.kind == "int" else np.float64):
            self.fail(f"table {b.name!r} has data of type {b.data.dtype} and is of kind {b.kind}")

    def block(self, block: Block) -> None:
        kinds, visible, kind_of = self.kinds, self.visible, self.visible.get
        for x in block:
            if isinstance(x, Apply):
                if x.op not in _SIGNATURES:
                    self.fail(f"no operation {x.op!r}")
                arguments, result = _SIGNATURES[x.op]
                if arguments != tuple(map(kind_of, x.arguments)):  # most programs are right: say more only if not
                    self.explain(x, arguments)
                value = x.result
                if value in visible or not 0 <= value < len(kinds) or kinds[value] != result:
                    self.define(value, result)
                visible[value] = result
            elif isinstance(x, Const):
                if type(x.value) not in _KINDS:
                    self.fail(f"value %{x.result} is a {type(x.value).__name__}, expected a float, bool or int")
                self.constants[x.result] = x.value
                self.define(x.result, _KINDS[type(x.value)])
            elif isinstance(x, (Load, Store)):
                self.access(x)
            elif isinstance(x, Loop):
                self.loop(x)
            else:
                self.switch(x)

    def explain(self, x: Apply, kinds: tuple[Kind, ...]) -> None:
        if len(kinds) != len(x.arguments):
            self.fail(f"operation {x.op!r} has {len(x.arguments)} arguments, expected {len(kinds)}")
        for argument, kind in zip(x.arguments, kinds, strict=True):
            self.use(argument, kind)

    def access(self, x: Load | Store) -> None:
        buffer = self.buffers.get(x.buffer)
        if buffer is None:
            self.fail(f"no buffer {x.buffer!r}")
        looked_up = isinstance(x, Load) and buffer.role == "table" and buffer.kind == "float" and buffer.size > 0
        self.use(x.index, "float" if looked_up and self.kind(x.index) == "float" else "int")
        place = self.constants.get(x.index)
        if place is not None and not 0 <= place < buffer.size:
            self.fail(f"{buffer.name}[{place}] is outside 0 … {buffer.size - 1}")
        if isinstance(x, Load):
            self.define(x.result, buffer.kind)
            return
        if buffer.role not in ("output", "scratch"):
            self.fail(f"store to the {buffer.role} {buffer.name!r}")
        self.use(x.value, buffer.kind)

    def loop(self, x: Loop) -> None:
        self.use(x.count, "int")
        if not len(x.initial) == len(x.carried) == len(x.following) == len(x.results):
            self.fail("a loop carries lists of different lengths")
        kinds = [self.kind(v) for v in x.initial]
        for value, kind in zip(x.initial, kinds, strict=True):
            self.use(value, kind)
        outside = len(self.visible)
        self.define(x.counter, "int")
        for value, kind in zip(x.carried, kinds, strict=True):
            self.define(value, kind)
        self.block(x.body)
        for value, kind in zip(x.following, kinds, strict=True):
            self.use(value, kind)
        if x.done is not None:
            self.use(x.done, "bool")
        self.leave(outside)
        for value, kind in zip(x.results, kinds, strict=True):
            self.define(value, kind)

    def switch(self, x: Switch) -> None:
        self.use(x.selector, "int")
        if not x.branches or len(x.branches) != len(x.yields):
            self.fail(f"a switch has {len(x.branches)} branches and {len(x.yields)} lists of what they yield")
        kinds = [self.kind(result) for result in x.results]
        outside = len(self.visible)
        for branch, values in zip(x.branches, x.yields, strict=True):
            self.block(branch)
            if len(values) != len(kinds):
                self.fail(f"a branch yields {len(values)} values, expected {len(kinds)}")
            for value, kind in zip(values, kinds, strict=True):
                self.use(value, kind)
            self.leave(outside)
        for result, kind in zip(x.results, kinds, strict=True):
            self.define(result, kind)


_KINDS: dict[type, Kind] = {bool: "bool", int: "int", float: "float"}
