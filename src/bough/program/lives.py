"""Where scratch buffers lie: those that are not needed at the same time share their place.

Long programs touch more memory than the first two caches hold, and what was used last is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bough.program.ir import Instruction, Load, Loop, Program, Store, Switch, walk

__all__ = ["Wanted", "together", "wanted_by"]


class Wanted(NamedTuple):
    """How much memory a buffer takes, and from which instruction of the program to which it is needed."""

    size: int
    first: int
    last: int


def wanted_by(program: Program) -> dict[str, tuple[int, int]]:
    """The first and the last instruction of the outermost block that touch each scratch buffer that is not cleared."""
    lives: dict[str, tuple[int, int]] = {}
    names = {b.name for b in program.of_role("scratch") if not b.cleared}
    for time, x in enumerate(program.body):
        for name in _touched(x) & names:
            lives[name] = lives.get(name, (time, time))[0], time
    return lives


def together(wanted: Sequence[Wanted]) -> list[int]:
    """Where each of some buffers begins, large ones first: as low as those allow that are needed at the same time."""
    starts = [0] * len(wanted)
    placed: list[int] = []
    for k in sorted(range(len(wanted)), key=lambda k: (-wanted[k].size, wanted[k].first)):
        x = wanted[k]
        beside = [j for j in placed if wanted[j].first <= x.last and x.first <= wanted[j].last]
        for j in sorted(beside, key=starts.__getitem__):
            if starts[j] >= starts[k] + x.size:
                break
            starts[k] = max(starts[k], starts[j] + wanted[j].size)
        placed.append(k)
    return starts


def _touched(x: Instruction) -> set[str]:
    if isinstance(x, Load | Store):
        return {x.buffer}
    return {y.buffer for y in walk((x,)) if isinstance(y, Load | Store)} if isinstance(x, Loop | Switch) else set()
