"""From a function over scalars to its program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from bough.program.check import check
from bough.program.ir import Program
from bough.program.tracer import Tracer
from bough.scalar import activate

__all__ = ["trace"]

Judge: TypeAlias = Callable[[Mapping[str, Any], Mapping[str, Any], Callable[..., Any]], Mapping[str, Any]]


def trace(
    name: str,
    function: Callable[..., Mapping[str, Any]],
    inputs: Mapping[str, int],
    *,
    rolled: bool = False,
    longest: int | None = None,
    judge: Judge | None = None,
    checked: bool = True,
    straight: bool = False,
) -> Program:
    """Trace `function`, called with one array per input, and return the program.

    Parameters
    ----------
    name
        Name of the program, for people.
    function
        Takes the inputs as keyword arguments (arrays of scalars) and returns a mapping from output names to arrays.
    inputs
        Name and length of each input.
    rolled
        Whether loops stay loops.
    longest
        Give up with `TooLong` beyond this number of values.
    judge
        Takes inputs, outputs, and a function that tells which entries of inputs show in some outputs if they are not
        finite; returns the outputs of the program, a verdict among them.
    checked
        Whether the program is checked; not needed by who checks what becomes of it.
    straight
        Whether no loop is kept, not even one that a straight-line program keeps else; what is `handed_on` is in scratch
        memory.
    """
    tracer = Tracer(rolled, longest, straight)
    arrays = {key: tracer.input(key, size) for key, size in inputs.items()}
    with activate(tracer):
        outputs = function(**arrays)
        tracer.allow_any_length()
        if judge is not None:
            outputs = judge(arrays, outputs, tracer.inputs_shown)
    for key, values in outputs.items():
        tracer.output(key, values)
    program = tracer.finish(name)
    if checked:
        check(program)
    return program
