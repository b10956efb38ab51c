"""Compiled programs as bytes: object code with everything needed to run it, and nothing that could run by itself.

The form is a line of JSON that describes the buffers, then the tables, then the object code.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.backends.limbs import Packed, join_turns, pack, turns_beside
from bough.backends.llvm.emit import llvm_source
from bough.backends.llvm.entry import Workspace
from bough.backends.llvm.functions import Names
from bough.backends.llvm.plan import make_plan
from bough.backends.llvm.target import host
from bough.backends.llvm.types import Real
from bough.backends.protocol import Limbs
from bough.errors import ProgramError
from bough.program import Buffer, Loop, Program, Store, fuse, judge_early, work, write_once

__all__ = ["Artifact", "compile_program"]

OPERATION, MOVE = 400.0, 20.0
"""Picoseconds for an operation on one vector, and for moving a byte between rows and lanes."""

WIDEST = 32  # bytes of the vectors that limbs are packed into: four legs or arms in float64


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
    cost: int  # picoseconds that a state takes, roughly
    code: bytes

    def to_bytes(self) -> bytes:
        """The whole artifact as bytes."""
        tables = [slot.table for slot in self.slots if slot.table is not None]
        head = {
            "element": self.real.element,
            "lanes": self.real.lanes,
            "space": self.space,
            "cost": self.cost,
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
            return Artifact(real, tuple(slots), int(head["space"]), int(head["cost"]), data[place:])
        except (ValueError, KeyError, TypeError) as error:
            raise ProgramError(f"a compiled program cannot be read: {error}") from None


def compile_program(program: Program, real: Real, limbs: Limbs | None = None) -> Artifact:
    """Compile a program for this machine.

    For one state, `limbs` that are built alike are computed in the lanes of vectors.
    """
    if host().fuses:
        program = fuse(program)
    packed, widest = Packed(program, {}), min(host().vector_bytes, WIDEST) // real.size
    if real.lanes == 1:
        packed = join_turns(program, widest)
        if limbs:
            joined = pack(packed.program, limbs, widest)
            packed = Packed(joined.program, {**packed.widths, **joined.widths}, packed.in_all_loops)
        program = packed.program
    else:
        program = turns_beside(judge_early(program))
    cost = _cost(program, real)
    program = write_once(program) if real.lanes > 1 else program
    plan = make_plan(program, packed.widths)
    names = Names(program, plan, real)
    space = Workspace(names)
    kinds: dict[str, Any] = {"int": np.int64, "float": np.float64 if real.element == "double" else np.float32}
    tables = (None if b.data is None else np.ascontiguousarray(b.data, kinds[b.kind]) for b in program.buffers)
    slots = (Slot(b.name, b.role, b.size, table) for b, table in zip(program.buffers, tables, strict=True))
    rolled = any(isinstance(x, Loop) for x in program.body)
    loops = rolled and real.lanes == 1 and not packed.in_all_loops
    source, apart = llvm_source(names, space, loops and plan.lengthy)
    code = host().object_code(source, apart, loops=loops, quick=plan.lengthy)
    return Artifact(real, tuple(slots), space.size, cost, code)


def _cost(program: Program, real: Real) -> int:
    """Roughly how long a state takes, in picoseconds: operations, and numbers that are moved to lanes and back."""
    moved = sum(_moved(program, b, real) for b in program.buffers if b.role in ("input", "output"))
    return int(OPERATION * work(program) / real.lanes + MOVE * moved * real.size)


def _moved(program: Program, b: Buffer, real: Real) -> int:
    """How many numbers of an array are moved: of results in lanes each value once."""
    stored = [x.value for x in program.body if isinstance(x, Store) and x.buffer == b.name]
    return len({*stored}) if len(stored) == b.size and real.lanes > 1 else b.size
