"""Which inputs of a straight-line program show in its outputs: what is not finite in them is not finite there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bough.program.ir import Apply, Const, Instruction, Load

__all__ = ["shown_inputs"]

# Arguments of operations that hand on what is not finite: infinity and NaN become one of the two. A quotient hides an
# infinite divisor, a comparison or selection anything.
HANDED_ON: Mapping[str, tuple[int, ...]] = {
    "neg": (0,),
    "add": (0, 1),
    "sub": (0, 1),
    "mul": (0, 1),
    "fma": (0, 1, 2),
    "div": (0,),
    "sqrt": (0,),
    "sin": (0,),
    "cos": (0,),
}


def shown_inputs(body: Iterable[Instruction], outputs: Iterable[int]) -> set[tuple[str, int]]:
    """Buffer and place of every entry of an input that shows in one of the values `outputs`."""
    made = {x.result: x for x in body if isinstance(x, (Apply, Const, Load))}
    waiting, seen, shown = list(outputs), set[int](), set[tuple[str, int]]()
    while waiting:
        value = waiting.pop()
        x = made.get(value)
        if value in seen or x is None:
            continue
        seen.add(value)
        if isinstance(x, Load):
            place = made.get(x.index)
            if isinstance(place, Const):
                shown.add((x.buffer, int(place.value)))
        elif isinstance(x, Apply):
            waiting += [x.arguments[k] for k in HANDED_ON.get(x.op, ())]
    return shown
