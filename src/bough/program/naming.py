"""Names of buffers: unique ones while a program is traced, and final ones."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from bough.program.ir import Apply, Block, Const, Instruction, Load, Loop, Store, Switch

__all__ = ["unique", "with_names"]


def unique(name: str, taken: Collection[str]) -> str:
    """The name, with a number where it is taken already."""
    free, k = name, 1
    while free in taken:
        k += 1
        free = f"{name}_{k}"
    return free


def with_names(block: Block, names: dict[str, str]) -> Block:
    """The block with buffers called by their final names."""
    changed = {name: final for name, final in names.items() if name != final}
    return _renamed(block, changed) if changed else block


def _renamed(block: Block, names: dict[str, str]) -> Block:
    result: list[Instruction] = []
    for x in block:
        if isinstance(x, (Apply, Const)):  # most of them
            pass
        elif isinstance(x, Load):
            if x.buffer in names:
                x = Load(x.result, names[x.buffer], x.index)
        elif isinstance(x, Store):
            if x.buffer in names:
                x = Store(names[x.buffer], x.index, x.value)
        elif isinstance(x, Loop):
            x = replace(x, body=_renamed(x.body, names))
        elif isinstance(x, Switch):
            x = replace(x, branches=tuple(_renamed(b, names) for b in x.branches))
        result.append(x)
    return tuple(result)
