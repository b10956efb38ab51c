"""Machine code of a program: one kernel, or several that run one after the other where one would be too long."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal, NamedTuple

from bough.backends.cuda.compiler import compile_cuda
from bough.backends.cuda.pipeline import FIRST_MACHINE
from bough.backends.cuda.source import (
    MOST_IN_ROWS,
    STRAIGHT_BLOCK,
    TILE_BYTES,
    WIDTHS,
    Layout,
    block_of,
    blocks_that_stay,
    cuda_source,
    shared_bytes,
)
from bough.program import (
    CARRIED,
    HANDED,
    VERDICT,
    Program,
    few_alive,
    in_one,
    in_parts,
    in_stages,
    most_alive,
    read_late,
)
from bough.program.order import REGISTERS
from bough.program.parts import length_of

__all__ = ["Array", "Code", "Part", "code_of", "program_code"]

FEW_IN_ROWS = 8
"""Numbers of one of the results that is not turned in any case."""

LONGEST_KERNEL = {"float": (6000,), "double": (3000, 2250, 1750, 1500)}
"""Instructions of a kernel, without sines, beyond which a program is cut; of several numbers the best is taken.

Those of longer ones do not stay in the caches of a GPU. In float64 it is registers that are too few: an H200 is held up
by what goes to memory, values that cross from one kernel to the next or values that find no register.
"""

CLOSE = {"float": 230, "double": REGISTERS}
"""Values of a stage that find registers."""

SPILLED = 10
"""What a number in float64 costs that finds no register, beside one that crosses, on an H200."""

WARP = 32
"""Threads that run together."""

SHARED_KILOBYTES = {
    70: 96, 72: 96, 75: 64, 80: 163, 86: 99, 87: 163, 89: 99, 90: 227, 100: 227, 101: 227, 103: 227, 120: 99, 121: 99,
}  # fmt: skip
"""The most shared memory of a block, by what a GPU understands; 48 of any other."""


class Array(NamedTuple):
    """An array that a kernel takes: an input or an output of the program, by number, or one that kernels hand on."""

    role: Literal["input", "output", "carried"]
    number: int


class Part(NamedTuple):
    """The code of one kernel: threads of a block at most, its shared memory, and how many blocks of a processor stay.

    Its arrays in order.
    """

    code: bytes
    block: int
    shared: int
    stays: int
    arrays: tuple[Array, ...]

    @property
    def is_search(self) -> bool:
        """Whether some states take longer than others."""
        return self.block != STRAIGHT_BLOCK

    def threads(self, states: int, processors: int) -> int:
        """Threads per block: fewer than at most where some of the processors would have nothing to do."""
        if not self.is_search:
            return self.block
        return min(self.block, -(-states // (WARP * processors)) * WARP)

    def blocks(self, states: int, processors: int) -> int:
        """Blocks that are launched."""
        needed = -(-states // self.threads(states, processors))
        return min(needed, self.stays * processors) if self.stays else needed


class Code(NamedTuple):
    """Machine code of a program: its kernels, the sizes of what they hand on, and which outputs are turned at the end.

    Those are written by components though rows are wanted.
    """

    parts: list[Part]
    carried: list[int]
    turned: list[int]


def program_code(
    program: Program, real: str, layouts: Sequence[Layout], machine: str, finite: Sequence[str] = (), flag: int = 0
) -> bytes:
    """Machine code as it is stored; `layouts` are those of the inputs and of the outputs but the verdict, in order.

    Where outputs are `finite`, the verdict of the program says nothing of them: each kernel adds `flag` where one that
    it makes is not.
    """
    inputs, outputs = [b.name for b in program.of_role("input")], _outputs(program)
    ways: dict[str, Layout] = dict(zip((*inputs, *outputs), layouts, strict=True))
    turned: list[str] = []
    if finite:
        room = TILE_BYTES // (STRAIGHT_BLOCK * WIDTHS[real])
        rows = sum(program.buffer(name).size for name in outputs if ways[name] == "rows")
        parts = _staged(program, real, finite, flag, in_order=rows > room)
    else:
        turned = _turned(program, ways)
        ways |= dict.fromkeys(turned, "components")
        parts = _cut(few_alive(program), LONGEST_KERNEL[real], CARRIED)
    carried = {b.name: b.size for part in parts for b in part.of_role("output") if b.name not in (*outputs, VERDICT)}
    ways |= dict.fromkeys(carried, "blocks")
    where = {name: Array("input", k) for k, name in enumerate(inputs)}
    where |= {name: Array("output", k) for k, name in enumerate(outputs)}
    where |= {name: Array("carried", k) for k, name in enumerate(carried)}
    kind = int(machine.split()[0].removeprefix("sm_"))
    most = SHARED_KILOBYTES.get(kind, 48) * 1024
    arrays = [[*(b.name for b in part.of_role("input")), *_outputs(part)] for part in parts]
    layouts_of = [[ways[name] for name in names] for names in arrays]
    staying = [
        blocks_that_stay(part, real, own) if kind >= FIRST_MACHINE else 0
        for part, own in zip(parts, layouts_of, strict=True)
    ]
    with ThreadPoolExecutor(len(parts)) as pool:
        texts = [
            cuda_source(part, real, own, most, follows=k > 0, staying=stays)
            for k, (part, own, stays) in enumerate(zip(parts, layouts_of, staying, strict=True))
        ]
        codes = list(pool.map(lambda text: compile_cuda(text, machine), texts))
    kernels = [
        {
            "length": len(code),
            "block": block_of(part),
            "shared": shared_bytes(part, real, most),
            "stays": stays,
            "arrays": [where[name] for name in names],
        }
        for part, code, stays, names in zip(parts, codes, staying, arrays, strict=True)
    ]
    head = {"kernels": kernels, "carried": list(carried.values()), "turned": [outputs.index(name) for name in turned]}
    return json.dumps(head).encode() + b"\n" + b"".join(codes)


def code_of(stored: bytes) -> Code:
    """What `program_code` made."""
    line, _, rest = stored.partition(b"\n")
    head, parts = json.loads(line), []
    for x in head["kernels"]:
        arrays = tuple(Array(*array) for array in x["arrays"])
        parts.append(Part(rest[: x["length"]], x["block"], x["shared"], x["stays"], arrays))
        rest = rest[x["length"] :]
    return Code(parts, head["carried"], head["turned"])


def _turned(program: Program, ways: Mapping[str, Layout]) -> list[str]:
    """The outputs that are written by components though rows are wanted: of many numbers, which is faster."""
    sizes = {name: program.buffer(name).size for name in _outputs(program)}
    many = sum(sizes.values()) > MOST_IN_ROWS
    return [name for name, size in sizes.items() if many and size > FEW_IN_ROWS and ways[name] == "rows"]


def _cut(
    program: Program, lengths: Sequence[int], called: str, registers: int = REGISTERS, stores_anywhere: bool = False
) -> list[Program]:
    """The parts of a program, of the lengths with which they move least, each in an order of its own."""
    tried = [in_parts(program, longest, called, stores_anywhere) for longest in lengths]
    parts = min(tried, key=_traffic)
    return [few_alive(part, registers=registers) for part in parts] if len(parts) > 1 else list(parts)


def _staged(program: Program, real: str, finite: Sequence[str], flag: int, in_order: bool) -> list[Program]:
    """The parts of a straight-line program with many results, which are stored in order or not."""
    lengths, close = LONGEST_KERNEL[real], CLOSE[real]
    whole = in_one(program)
    if sum(map(length_of, whole.body)) <= lengths[0]:
        program = whole
    parts: list[Program] = []
    for stage in in_stages(program, lengths[0], finite, float(flag), in_order):
        if [b.name for b in stage.of_role("output") if b.name.startswith(HANDED)]:
            stage = few_alive(stage, registers=close)
            parts += _cut(stage, lengths, f"{CARRIED}{len(parts)} ", close, stores_anywhere=True)
        else:
            parts.append(few_alive(stage, in_order, close))
    given = {b.name for b in program.of_role("input")}
    return [part if given >= {b.name for b in part.of_role("input")} else read_late(part) for part in parts]


def _traffic(parts: Sequence[Program]) -> int:
    """What parts move to and from memory, in numbers."""
    moved = sum(b.size for part in parts for b in part.buffers if b.role in ("input", "output"))
    return moved + SPILLED * sum(max(most_alive(part) - REGISTERS, 0) for part in parts)


def _outputs(program: Program) -> list[str]:
    return [b.name for b in program.of_role("output") if b.name != VERDICT]
