"""The simplifier: passes from program to program, each checked.

The tracer already folds constants and shares equal operations. What remains is what can only be seen afterwards:
several divisions by one value become one reciprocal and products, and what nothing uses is dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from bough.program.check import check
from bough.program.ir import Apply, Block, Const, Instruction, Load, Loop, Program, Store, Switch, boundary, uses, walk
from bough.scalar import Kind

__all__ = ["drop_unused", "share_reciprocals", "simplify"]


def simplify(program: Program) -> Program:
    """All passes in order."""
    for one in (share_reciprocals, drop_unused):
        program = one(program)
        check(program)
    return program


def share_reciprocals(program: Program) -> Program:
    """Replace two or more divisions by the same value within a block by one reciprocal and multiplications."""
    kinds = list(program.kinds)

    def new(kind: Kind) -> int:
        kinds.append(kind)
        return len(kinds) - 1

    def rewrite(block: Block) -> Block:
        divisors = Counter(x.arguments[1] for x in block if isinstance(x, Apply) and x.op == "div")
        inverse: dict[int, int] = {}
        result: list[Instruction] = []
        for x in block:
            if isinstance(x, Apply) and x.op == "div" and divisors[x.arguments[1]] > 1:
                a, b = x.arguments
                if b not in inverse:
                    one, inverse[b] = new("float"), new("float")
                    result += [Const(one, 1.0), Apply(inverse[b], "div", (one, b))]
                result.append(Apply(x.result, "mul", (a, inverse[b])))
            else:
                result.append(_with_blocks(x, rewrite))
        return tuple(result)

    body = rewrite(program.body)
    return Program(program.name, program.buffers, body, tuple(kinds))


def drop_unused(program: Program) -> Program:
    """Drop instructions whose results nothing uses, and buffers that nothing touches."""
    used: set[int] = set()

    def keep(block: Block) -> Block:
        result: list[Instruction] = []
        for x in reversed(block):  # uses come after definitions, so one sweep from the end sees them all
            if isinstance(x, Const | Apply | Load) and x.result not in used:
                continue
            used.update(boundary(x))
            x = _with_blocks(x, keep)
            used.update(uses(x))
            result.append(x)
        return tuple(reversed(result))

    body = keep(program.body)
    touched = {x.buffer for x in walk(body) if isinstance(x, Load | Store)}
    buffers = tuple(b for b in program.buffers if b.role in ("input", "output") or b.name in touched)
    return Program(program.name, buffers, body, program.kinds)


def _with_blocks(x: Instruction, rewrite: Callable[[Block], Block]) -> Instruction:
    """The instruction with its inner blocks rewritten, if it has any."""
    if isinstance(x, Loop):
        return replace(x, body=rewrite(x.body))
    if isinstance(x, Switch):
        return replace(x, branches=tuple(rewrite(b) for b in x.branches))
    return x
