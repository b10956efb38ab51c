"""Compiled programs as bytes: object code with everything needed to run it, and nothing that could run by itself.

The form is a line of JSON that describes the buffers, then the tables, then the object code.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.backends.llvm.arrays import layout
from bough.backends.llvm.batchcall import batch_source
from bough.backends.llvm.emit import llvm_source
from bough.backends.llvm.entry import Workspace
from bough.backends.llvm.fastcall import fast_source
from bough.backends.llvm.packs import Packed, pack
from bough.backends.llvm.plan import make_plan
from bough.backends.llvm.target import host
from bough.backends.llvm.types import Real
from bough.backends.protocol import Limbs, Plain
from bough.errors import ProgramError
from bough.program import Loop, Program, fuse

__all__ = ["ONE", "Artifact", "compile_program"]

ONE = Real("double", 1)
"""One state at a time, in float64."""

WIDEST = 32  # bytes of the vectors that limbs are packed into: four legs or arms in float64


@dataclass(frozen=True)
class Slot:
    """One buffer of a compiled program."""

    name: str
    role: str
    size: int
    offset: int | None  # in the scratch memory, unless it is a table or a user's array
    table: NDArray[Any] | None


@dataclass(frozen=True, eq=False)
class Artifact:
    """A program compiled for one type and width."""

    real: Real
    slots: tuple[Slot, ...]
    space: int  # bytes of scratch memory per thread
    spills: int  # where values that cross chunks begin in it, and the indices among them
    indices: int
    fast: bool  # whether it can be called from Python directly
    code: bytes

    def to_bytes(self) -> bytes:
        """The whole artifact as bytes."""
        tables = [slot.table for slot in self.slots if slot.table is not None]
        head = {
            "element": self.real.element,
            "lanes": self.real.lanes,
            "space": [self.space, self.spills, self.indices],
            "fast": self.fast,
            "slots": [
                [s.name, s.role, s.size, s.offset, None if s.table is None else s.table.dtype.str] for s in self.slots
            ],
        }
        return b"".join([json.dumps(head).encode(), b"\n", *(t.tobytes() for t in tables), self.code])

    @staticmethod
    def from_bytes(data: bytes) -> Artifact:
        """The artifact that `to_bytes` wrote; raises `ProgramError` if it did not."""
        try:
            end = data.index(b"\n")
            head = json.loads(data[:end])
            place, slots = end + 1, []
            for name, role, size, offset, dtype in head["slots"]:
                table = None
                if dtype is not None:
                    kind = np.dtype(dtype)
                    table = np.frombuffer(data, kind, size, place).copy()
                    place += size * kind.itemsize
                slots.append(Slot(str(name), str(role), int(size), offset, table))
            real = Real(str(head["element"]), int(head["lanes"]))
            space, spills, indices = (int(x) for x in head["space"])
            return Artifact(real, tuple(slots), space, spills, indices, bool(head["fast"]), data[place:])
        except (ValueError, KeyError, TypeError) as error:
            raise ProgramError(f"a compiled program cannot be read: {error}") from None


def compile_program(program: Program, real: Real, plain: Plain | None = None, limbs: Limbs | None = None) -> Artifact:
    """Compile a program for this machine.

    With `plain`, also the function that calls it straight from Python. For one state, `limbs` that are built alike are
    computed in the lanes of vectors.
    """
    if plain is not None:
        _require_sizes(program, plain)
    if host().fuses:
        program = fuse(program)
    packed = Packed(program, {})
    if limbs and real.lanes == 1:
        packed = pack(program, limbs, min(host().vector_bytes, WIDEST) // real.size)
        program = packed.program
    number = np.float64 if real.element == "double" else np.float32
    plan = make_plan(program, packed.widths)
    space = Workspace(program, plan, real)
    slots = []
    for b, offset in zip(program.buffers, space.offsets, strict=True):
        table = None
        if b.data is not None:
            table = np.ascontiguousarray(b.data, np.int64 if b.kind == "int" else number)
        slots.append(Slot(b.name, b.role, b.size, offset, table))
    if layout() is None:
        plain = None
    source = llvm_source(program, plan, space, real, plain)
    fast = plain is not None and (real == ONE or real.lanes > 1)
    if plain is not None and fast:
        source += fast_source(program, plain) if real == ONE else batch_source(program, plain, real)
    rolled = any(isinstance(x, Loop) for x in program.body)
    code = host().object_code(source, loops=rolled and real.lanes == 1)
    return Artifact(real, tuple(slots), space.size, space.spills, space.indices, fast, code)


def _require_sizes(program: Program, plain: Plain) -> None:
    """Refuse a call whose arrays would not be those of the program: it would write beyond their ends."""
    given = [math.prod(shape) for shape in plain.shapes]
    have = [b.size for b in (*program.of_role("input"), *program.of_role("output")[:1])]
    if given != have:
        raise ProgramError(f"calls of {program.name!r} take arrays of {given} numbers, expected {have}")
