"""What only serves the verdict, computed as soon as it can be.

A verdict looks at all results, and tracing it comes last. By then results of long programs are far away in memory.
"""

from __future__ import annotations

from dataclasses import replace

from bough.program.check import check
from bough.program.ir import VERDICT, Apply, Const, Instruction, Load, Loop, Program, Store, Switch, uses

__all__ = ["judge_early"]


def judge_early(program: Program) -> Program:
    """Move operations on which nothing but the verdict depends behind their arguments, in the outermost block."""
    judging = _judging(program)
    constants = {x.result for x in program.body if isinstance(x, Const)}
    missing = {x.result: len({*x.arguments} - constants) for x in judging}
    waiting: dict[int, list[Apply]] = {}
    for y in judging:
        for value in {*y.arguments} - constants:
            waiting.setdefault(value, []).append(y)
    moved = {id(x) for x in judging if missing[x.result]}
    result: list[Instruction] = []
    for x in program.body:
        if id(x) in moved:
            continue
        result.append(x)
        known = list(_results(x))
        while known:
            for y in waiting.get(known.pop(0), ()):
                missing[y.result] -= 1
                if not missing[y.result]:
                    result.append(y)
                    known.append(y.result)
    after = replace(program, body=tuple(result))
    check(after)
    return after


def _judging(program: Program) -> list[Apply]:
    """The operations of the outermost block on which nothing but the verdict depends."""
    found: list[Apply] = []
    judged: set[int] = set()
    elsewhere: set[int] = set()
    for x in reversed(program.body):
        if isinstance(x, Store) and x.buffer == VERDICT:
            judged.add(x.value)
        elif isinstance(x, Apply) and x.result in judged and x.result not in elsewhere:
            judged.update(x.arguments)
            found.append(x)
        else:
            elsewhere.update(uses(x))
    return found[::-1]


def _results(x: Instruction) -> tuple[int, ...]:
    if isinstance(x, Apply | Load):
        return (x.result,)
    return x.results if isinstance(x, Loop | Switch) else ()
