"""Names of buffers: unique ones while a program is traced, and final ones."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from bough.program.ir import Block, Instruction, Load, Loop, Store, Switch

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
    if all(name == final for name, final in names.items()):
        return block
    result: list[Instruction] = []
    for x in block:
        if isinstance(x, Load):
            x = Load(x.result, names[x.buffer], x.index)
        elif isinstance(x, Store):
            x = Store(names[x.buffer], x.index, x.value)
        elif isinstance(x, Loop):
            x = replace(x, body=with_names(x.body, names))
        elif isinstance(x, Switch):
            x = replace(x, branches=tuple(with_names(b, names) for b in x.branches))
        result.append(x)
    return tuple(result)
