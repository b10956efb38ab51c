"""Machine code of a program: one kernel, or two that run one after the other where one would be too long."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from bough.backends.cuda.compiler import compile_cuda
from bough.backends.cuda.source import STRAIGHT_BLOCK, Layout, block_of, cuda_source, shared_bytes
from bough.program import CARRIED, VERDICT, Apply, Program, few_alive, in_two_parts, walk

__all__ = ["Part", "parts_of", "program_code"]

LONGEST_KERNEL = 8000
"""Operations in float32, or twice as many as in float64, beyond which a program is cut.

Instructions of longer ones do not stay in the caches of a GPU: on an H200 programs run at 19 Tflop/s up to there, and
at 6 with 11 000 operations.
"""

WARP = 32
"""Threads that run together."""

SHARED_KILOBYTES = {
    70: 96, 72: 96, 75: 64, 80: 163, 86: 99, 87: 163, 89: 99, 90: 227, 100: 227, 101: 227, 103: 227, 120: 99, 121: 99,
}  # fmt: skip
"""The most shared memory of a block, by what a GPU understands; 48 of any other."""


class Part(NamedTuple):
    """The code of one kernel: threads of a block at most, its shared memory, inputs by number, values it hands on."""

    code: bytes
    block: int
    shared: int
    inputs: tuple[int, ...]
    carried: int

    def threads(self, states: int, processors: int) -> int:
        """Threads per block: fewer than at most where some of the processors would have nothing to do."""
        if self.block == STRAIGHT_BLOCK:
            return self.block
        return min(self.block, -(-states // (WARP * processors)) * WARP)


def program_code(program: Program, real: str, layouts: Sequence[Layout], machine: str) -> bytes:
    """Machine code as it is stored; `layouts` are those of the inputs and of the outputs but the verdict, in order."""
    inputs = [b.name for b in program.of_role("input")]
    ways = dict(zip((*inputs, *_outputs(program)), layouts, strict=True)) | {CARRIED: "components"}
    length = sum(1 for x in walk(program.body) if isinstance(x, Apply)) * (2 if real == "double" else 1)
    parts = tuple(map(few_alive, in_two_parts(program))) if length > LONGEST_KERNEL else (program,)
    most = SHARED_KILOBYTES.get(int(machine.split()[0].removeprefix("sm_")), 48) * 1024
    with ThreadPoolExecutor(len(parts)) as pool:
        codes = list(pool.map(lambda part: compile_cuda(_text(part, real, ways, most), machine), parts))
    heads = []
    for part, code in zip(parts, codes, strict=True):
        taken = [inputs.index(b.name) for b in part.of_role("input") if b.name != CARRIED]
        carried = sum(b.size for b in part.of_role("output") if b.name == CARRIED)
        shared = shared_bytes(part, real, most)
        heads.append(
            {"length": len(code), "block": block_of(part), "shared": shared, "inputs": taken, "carried": carried}
        )
    return json.dumps(heads).encode() + b"\n" + b"".join(codes)


def parts_of(stored: bytes) -> list[Part]:
    """The kernels in what `program_code` made."""
    head, _, rest = stored.partition(b"\n")
    parts = []
    for x in json.loads(head):
        parts.append(Part(rest[: x["length"]], x["block"], x["shared"], tuple(x["inputs"]), x["carried"]))
        rest = rest[x["length"] :]
    return parts


def _outputs(program: Program) -> list[str]:
    return [b.name for b in program.of_role("output") if b.name != VERDICT]


def _text(part: Program, real: str, ways: dict[str, Layout], most_shared: int) -> str:
    names = [*(b.name for b in part.of_role("input")), *_outputs(part)]
    return cuda_source(part, real, [ways[name] for name in names], most_shared)
