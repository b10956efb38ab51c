"""The simplifier: passes from program to program, what they make together is checked.

The tracer already folds constants and shares equal operations. What remains is what can only be seen afterwards:
several divisions by one value become one reciprocal and products, what nothing uses is dropped, and values are stored
as soon as they are known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from bough.program.check import check
from bough.program.ir import (
    Apply,
    Block,
    Const,
    Instruction,
    Load,
    Loop,
    Program,
    Store,
    Switch,
    boundary,
    inside,
    walk,
)

__all__ = ["drop_unused", "share_reciprocals", "simplify", "store_early"]


def simplify(program: Program) -> Program:
    """All passes in order."""
    after = store_early(drop_unused(share_reciprocals(program)))
    check(after)
    return after


def share_reciprocals(program: Program) -> Program:
    """Replace two or more divisions by the same value within a block by one reciprocal and multiplications."""
    divisors = Counter(x.arguments[1] for x in walk(program.body) if isinstance(x, Apply) and x.op == "div")
    if max(divisors.values(), default=0) < 2:
        return program
    kinds = list(program.kinds)
    ones = {x.result for x in walk(program.body) if isinstance(x, Const) and x.value == 1.0}

    def new() -> int:
        kinds.append("float")
        return len(kinds) - 1

    def rewrite(block: Block) -> Block:
        divisions = [x for x in block if isinstance(x, Apply) and x.op == "div"]
        divisors = Counter(x.arguments[1] for x in divisions)
        given = {x.arguments[1]: x.result for x in divisions if x.arguments[0] in ones}  # 1 / b is there already
        inverse: dict[int, int] = {}
        result: list[Instruction] = []
        for x in block:
            if not isinstance(x, Apply):
                result.append(_with_blocks(x, rewrite) if isinstance(x, (Loop, Switch)) else x)
                continue
            if x.op != "div" or divisors[x.arguments[1]] < 2:
                result.append(x)
                continue
            a, b = x.arguments
            if b not in inverse:
                one, inverse[b] = new(), given[b] if b in given else new()
                result += [Const(one, 1.0), Apply(inverse[b], "div", (one, b))]
            if x.result != inverse[b]:
                result.append(Apply(x.result, "mul", (a, inverse[b])))
        return tuple(result)

    body = rewrite(program.body)
    return replace(program, body=body, kinds=tuple(kinds))


def drop_unused(program: Program) -> Program:
    """Drop instructions whose results nothing uses, stores that nothing loads, and buffers that nothing touches."""
    outputs = {b.name for b in program.of_role("output")}
    body, loaded, stored = _without_unused(program.body, {b.name for b in program.buffers})
    while not stored <= loaded | outputs:  # dropped loads free stores
        body, loaded, stored = _without_unused(body, loaded | outputs)
    buffers = tuple(b for b in program.buffers if b.role in ("input", "output") or b.name in loaded | stored)
    return replace(program, buffers=buffers, body=body)


def store_early(program: Program) -> Program:
    """Move each store to a place that is written once, and read only after all of its buffer, behind what it stores.

    Values then need not be kept until then. Only the outermost block is rearranged; its constants come
    first.
    """
    constants: dict[int, Const] = {}
    others: list[Load | Store | Loop | Switch] = []  # all but operations, of which there are many
    for x in program.body:
        if isinstance(x, Const):
            constants[x.result] = x
        elif not isinstance(x, Apply):
            others.append(x)
    moved: dict[int, list[Instruction]] = {}
    for store in _movable_stores(program, others, constants):
        moved.setdefault(store.value, []).append(store)
    gone = {id(store) for stores in moved.values() for store in stores}
    result: list[Instruction] = list(constants.values())
    for x in program.body:
        if isinstance(x, (Apply, Load)):
            result.append(x)
            if x.result in moved:
                result += moved[x.result]
        elif not isinstance(x, Const) and id(x) not in gone:
            result.append(x)
            for value in x.results if isinstance(x, (Loop, Switch)) else ():
                result += moved.get(value, ())
    return replace(program, body=tuple(result))


def _movable_stores(
    program: Program, others: Sequence[Load | Store | Loop | Switch], constants: dict[int, Const]
) -> list[Store]:
    """Stores of the outermost block to places that nothing else writes, of buffers that nothing reads before."""
    outer: list[Store] = []
    touched: set[str] = set()  # by something else, so far
    fixed: set[str] = set()
    for x in others:
        if isinstance(x, Store):
            outer.append(x)
            if x.index not in constants or x.buffer in touched:
                fixed.add(x.buffer)
        elif isinstance(x, Loop | Switch):
            inner = [y for y in walk((x,)) if isinstance(y, Load | Store)]
            touched |= {y.buffer for y in inner}
            fixed |= {y.buffer for y in inner if isinstance(y, Store)}
        else:
            touched.add(x.buffer)
    movable = {b.name for b in program.buffers if b.role in ("output", "scratch")} - fixed
    places = Counter((x.buffer, constants[x.index].value) for x in outer if x.buffer in movable)
    return [
        x
        for x in outer
        if x.buffer in movable and places[x.buffer, constants[x.index].value] == 1 and x.value not in constants
    ]


def _without_unused(body: Block, observed: set[str]) -> tuple[Block, set[str], set[str]]:
    """One sweep from the end, which sees all uses of a value before its definition; stores elsewhere are dropped.

    Also the buffers that are loaded from, and those that are stored to, by what remains.
    """
    used: set[int] = set()
    loaded: set[str] = set()
    stored: set[str] = set()

    def needed(x: Loop | Switch) -> bool:
        return not used.isdisjoint(x.results) or any(map(stores, inside(x)))

    def stores(block: Block) -> bool:
        for y in block:
            if isinstance(y, Store):
                if y.buffer in observed:
                    return True
            elif isinstance(y, (Loop, Switch)) and any(map(stores, inside(y))):
                return True
        return False

    def keep(block: Block) -> Block:
        result: list[Instruction] = []
        for x in reversed(block):
            if isinstance(x, Apply):  # most of them
                if x.result in used:
                    used.update(x.arguments)
                    result.append(x)
            elif isinstance(x, Const):
                if x.result in used:
                    result.append(x)
            elif isinstance(x, Load):
                if x.result in used:
                    loaded.add(x.buffer)
                    used.add(x.index)
                    result.append(x)
            elif isinstance(x, Store):
                if x.buffer in observed:
                    stored.add(x.buffer)
                    used.update((x.index, x.value))
                    result.append(x)
            elif needed(x):
                used.update(boundary(x))
                result.append(_with_blocks(x, keep))
        return tuple(reversed(result))

    return keep(body), loaded, stored


def _with_blocks(x: Instruction, rewrite: Callable[[Block], Block]) -> Instruction:
    """The instruction with its inner blocks rewritten, if it has any."""
    if isinstance(x, Loop):
        return replace(x, body=rewrite(x.body))
    if isinstance(x, Switch):
        return replace(x, branches=tuple(rewrite(b) for b in x.branches))
    return x
