"""Compiled programs as bytes: object code with everything needed to run it, and nothing that could run by itself.

The form is a line of JSON that describes the buffers, then the tables, then the object code.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.backends.llvm.emit import llvm_source, workspace
from bough.backends.llvm.target import host
from bough.backends.llvm.types import Real
from bough.errors import ProgramError
from bough.program import Program, fuse

__all__ = ["Artifact", "compile_program"]


@dataclass(frozen=True)
class Slot:
    """One buffer of a compiled program."""

    name: str
    role: str
    size: int
    table: NDArray[Any] | None


@dataclass(frozen=True, eq=False)
class Artifact:
    """A program compiled for one type and width."""

    real: Real
    slots: tuple[Slot, ...]
    space: int  # bytes of scratch memory per thread
    code: bytes

    def to_bytes(self) -> bytes:
        """The whole artifact as bytes."""
        tables = [slot.table for slot in self.slots if slot.table is not None]
        head = {
            "element": self.real.element,
            "lanes": self.real.lanes,
            "space": self.space,
            "slots": [[s.name, s.role, s.size, None if s.table is None else s.table.dtype.str] for s in self.slots],
        }
        return b"".join([json.dumps(head).encode(), b"\n", *(t.tobytes() for t in tables), self.code])

    @staticmethod
    def from_bytes(data: bytes) -> Artifact:
        """The artifact that `to_bytes` wrote; raises `ProgramError` if it did not."""
        try:
            end = data.index(b"\n")
            head = json.loads(data[:end])
            place, slots = end + 1, []
            for name, role, size, dtype in head["slots"]:
                table = None
                if dtype is not None:
                    kind = np.dtype(dtype)
                    table = np.frombuffer(data, kind, size, place).copy()
                    place += size * kind.itemsize
                slots.append(Slot(str(name), str(role), int(size), table))
            real = Real(str(head["element"]), int(head["lanes"]))
            return Artifact(real, tuple(slots), int(head["space"]), data[place:])
        except (ValueError, KeyError, TypeError) as error:
            raise ProgramError(f"a compiled program cannot be read: {error}") from None


def compile_program(program: Program, real: Real) -> Artifact:
    """Compile a program for this machine."""
    number = np.float64 if real.element == "double" else np.float32
    slots = []
    for b in program.buffers:
        table = None
        if b.data is not None:
            table = np.ascontiguousarray(b.data, np.int64 if b.kind == "int" else number)
        slots.append(Slot(b.name, b.role, b.size, table))
    if host().fuses:
        program = fuse(program)
    code = host().object_code(llvm_source(program, real))
    return Artifact(real, tuple(slots), workspace(program, real).size, code)
