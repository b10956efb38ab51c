"""Products and sums fused into multiply-adds: decided here and nowhere else, so that all back-ends agree to the bit."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from bough.program.check import check
from bough.program.ir import Apply, Block, Instruction, Loop, Program, Switch, boundary, walk
from bough.scalar import Kind

__all__ = ["fuse"]


def fuse(program: Program) -> Program:
    """Replace a sum (or difference) by a multiply-add where one operand is a product that nothing else uses."""
    uses = Counter(v for x in walk(program.body) for v in boundary(x))
    kinds = list(program.kinds)

    def rewrite(block: Block) -> Block:
        products = {x.result: x for x in block if isinstance(x, Apply) and x.op == "mul" and uses[x.result] == 1}
        gone: set[int] = set()
        result: list[Instruction] = []
        for x in block:
            if isinstance(x, Loop):
                result.append(replace(x, body=rewrite(x.body)))
            elif isinstance(x, Switch):
                result.append(replace(x, branches=tuple(rewrite(b) for b in x.branches)))
            elif isinstance(x, Apply) and x.op in ("add", "sub"):
                result += _multiply_add(x, products, gone, kinds)
            else:
                result.append(x)
        return tuple(x for x in result if not isinstance(x, Apply) or x.result not in gone)

    body = rewrite(program.body)
    fused = replace(program, body=body, kinds=tuple(kinds))
    check(fused)
    return fused


def _multiply_add(x: Apply, products: dict[int, Apply], gone: set[int], kinds: list[Kind]) -> list[Instruction]:
    """The sum as a multiply-add, if it can be one. The later of two products is fused: the earlier is ready sooner."""
    a, b = x.arguments
    candidates = [v for v in (a, b) if v in products and v not in gone]
    if not candidates:
        return [x]
    chosen = max(candidates)
    other = a if chosen == b else b
    gone.add(chosen)
    left, right = products[chosen].arguments
    if x.op == "add":
        return [Apply(x.result, "fma", (left, right, other))]
    kinds.append("float")
    negative = len(kinds) - 1
    if chosen == b:  # other - left right
        return [Apply(negative, "neg", (left,)), Apply(x.result, "fma", (negative, right, other))]
    return [Apply(negative, "neg", (other,)), Apply(x.result, "fma", (left, right, negative))]
