"""Machine code of a program: one kernel, or several that run one after the other where one would be too long."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from bough.backends.cuda.compiler import compile_cuda
from bough.backends.cuda.pipeline import FIRST_MACHINE
from bough.backends.cuda.source import (
    STRAIGHT_BLOCK,
    Layout,
    block_of,
    blocks_that_stay,
    cuda_source,
    shared_bytes,
)
from bough.program import CARRIED, VERDICT, Program, few_alive, in_parts, most_alive
from bough.program.order import REGISTERS

__all__ = ["Part", "parts_of", "program_code"]

LONGEST_KERNEL = {"float": (6000,), "double": (3000, 2250, 1750, 1500)}
"""Instructions of a kernel, without sines, beyond which a program is cut; of several numbers the best is taken.

Those of longer ones do not stay in the caches of a GPU. In float64 it is registers that are too few: an H200 is held up
by what goes to memory, values that cross from one kernel to the next or values that find no register.
"""

SPILLED = 10
"""What a number in float64 costs that finds no register, beside one that crosses, on an H200."""

WARP = 32
"""Threads that run together."""

SHARED_KILOBYTES = {
    70: 96, 72: 96, 75: 64, 80: 163, 86: 99, 87: 163, 89: 99, 90: 227, 100: 227, 101: 227, 103: 227, 120: 99, 121: 99,
}  # fmt: skip
"""The most shared memory of a block, by what a GPU understands; 48 of any other."""


class Part(NamedTuple):
    """The code of one kernel: threads of a block at most, its shared memory, and how many blocks of a processor stay.

    Its inputs by number, the numbers of earlier kernels whose values it reads, and how many values it hands on.
    """

    code: bytes
    block: int
    shared: int
    stays: int
    inputs: tuple[int, ...]
    reads: tuple[int, ...]
    carried: int

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


def program_code(program: Program, real: str, layouts: Sequence[Layout], machine: str) -> bytes:
    """Machine code as it is stored; `layouts` are those of the inputs and of the outputs but the verdict, in order."""
    inputs = [b.name for b in program.of_role("input")]
    parts = min((in_parts(program, longest) for longest in LONGEST_KERNEL[real]), key=_traffic)
    parts = tuple(map(few_alive, parts)) if len(parts) > 1 else parts
    handed = {f"{CARRIED}{k}": k for k in range(len(parts))}
    ways = dict(zip((*inputs, *_outputs(program)), layouts, strict=True)) | dict.fromkeys(handed, "components")
    kind = int(machine.split()[0].removeprefix("sm_"))
    most = SHARED_KILOBYTES.get(kind, 48) * 1024
    layouts_of = [_layouts(part, ways) for part in parts]
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
    heads = []
    for part, code, stays in zip(parts, codes, staying, strict=True):
        taken = [b.name for b in part.of_role("input")]
        head = {
            "length": len(code),
            "block": block_of(part),
            "shared": shared_bytes(part, real, most),
            "stays": stays,
            "inputs": [inputs.index(name) for name in taken if name not in handed],
            "reads": [handed[name] for name in taken if name in handed],
            "carried": sum(b.size for b in part.of_role("output") if b.name in handed),
        }
        heads.append(head)
    return json.dumps(heads).encode() + b"\n" + b"".join(codes)


def parts_of(stored: bytes) -> list[Part]:
    """The kernels in what `program_code` made."""
    head, _, rest = stored.partition(b"\n")
    parts = []
    for x in json.loads(head):
        code, taken = rest[: x["length"]], (tuple(x["inputs"]), tuple(x["reads"]))
        parts.append(Part(code, x["block"], x["shared"], x["stays"], *taken, x["carried"]))
        rest = rest[x["length"] :]
    return parts


def _traffic(parts: Sequence[Program]) -> int:
    """What parts move to and from memory, in numbers."""
    moved = sum(b.size for part in parts for b in part.buffers if b.role in ("input", "output"))
    return moved + SPILLED * sum(max(most_alive(part) - REGISTERS, 0) for part in parts)


def _outputs(program: Program) -> list[str]:
    return [b.name for b in program.of_role("output") if b.name != VERDICT]


def _layouts(part: Program, ways: dict[str, Layout]) -> list[Layout]:
    """How the inputs of a part lie, and its outputs but the verdict."""
    return [ways[name] for name in (*(b.name for b in part.of_role("input")), *_outputs(part))]
