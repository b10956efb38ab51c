"""Which inputs of a straight-line program show in its outputs: what is not finite in them is not finite there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

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


def shown_inputs(body: Sequence[Instruction], outputs: Iterable[int]) -> set[tuple[str, int]]:
    """Buffer and place of every entry of an input that shows in one of the values `outputs`."""
    shown, loads = set(outputs), list[Load]()
    constants: dict[int, float] = {}
    for x in reversed(body):
        if isinstance(x, Apply):
            if x.result in shown:
                shown.update([x.arguments[k] for k in HANDED_ON.get(x.op, ())])
        elif isinstance(x, Load):
            if x.result in shown:
                loads.append(x)
        elif isinstance(x, Const):
            constants[x.result] = x.value
    return {(x.buffer, int(constants[x.index])) for x in loads if x.index in constants}
