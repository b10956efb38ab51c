"""What a call returns: new arrays, many in a tuple, or an object that holds one; native code (see `source`)."""

from __future__ import annotations

from bough.backends.native.places import (
    ARGUMENT,
    ARGUMENTS,
    C_AXES,
    C_DATA,
    C_DTYPE,
    C_ITEM,
    C_LENGTHS,
    C_STEPS,
    DATA,
    FLAGS,
    FROZEN,
    HEAD,
    HOLDER,
    INPUTS,
    ITEMS,
    LENGTHS,
    NAMED,
    NDARRAY,
    NEW_ARRAY,
    OUTPUTS,
    RANK,
    SHARED,
    SIZE,
    WRITEABLE,
)
from bough.backends.native.primitives import (
    Py_DecRef,
    Py_IncRef,
    PyTuple_New,
    PyType_GenericAlloc,
    call,
    load,
    load32,
    stack,
    store,
    store32,
)

__all__ = ["freeze", "held", "make_results", "new_array", "together"]

READ_ONLY = ~WRITEABLE


def make_results(context: int, this: int, results: int, out: int) -> int:
    """Have arrays for all outputs, `out` or new ones, and note where they are; 0 if there is no memory."""
    inputs = load(context, INPUTS)
    for j in range(load(context, OUTPUTS)):
        wanted = load(context, ARGUMENTS) + 8 * ARGUMENT * (inputs + j)
        made = out
        if out != 0:
            Py_IncRef(out)
        else:
            made = new_array(context, this, load(this, C_DTYPE), wanted)
            if made == 0:
                for k in range(j):
                    Py_DecRef(load(results, k))
                return 0
        store(results, j, made)
        store(this, C_DATA + inputs + j, load(made + DATA))
        store(this, C_STEPS + inputs + j, load(wanted, SIZE) * load(this, C_ITEM))
    return 1


def new_array(context: int, this: int, dtype: int, wanted: int) -> int:
    """A new array with the batch axes, and those of one state of an output."""
    lengths = stack(16)  # batch axes and those of a state
    axes = load(this, C_AXES)
    for k in range(axes):
        store(lengths, k, load(load(this, C_LENGTHS), k))
    if wanted != 0:
        for k in range(load(wanted, RANK)):
            store(lengths, axes + k, load(wanted, LENGTHS + k))
        axes += load(wanted, RANK)
    Py_IncRef(dtype)
    return call(load(context, NEW_ARRAY), load(context, NDARRAY), dtype, axes, lengths, 0, 0, 0, 0)


def together(context: int, results: int) -> int:
    """The arrays as they are returned: the only one, or a tuple of all, of a class of its own if it is to be."""
    outputs = load(context, OUTPUTS)
    answer = load(results, 0)
    if outputs > 1:
        if load(context, NAMED) != 0:
            answer = PyType_GenericAlloc(load(context, NAMED), outputs)
        else:
            answer = PyTuple_New(outputs)
        for j in range(outputs):
            if answer != 0:
                store(answer + ITEMS, j, load(results, j))
            else:
                Py_DecRef(load(results, j))
    return answer


def held(context: int, answer: int) -> int:
    """An object whose first slot is what all of its kind share, and its second one the result."""
    made = PyType_GenericAlloc(load(context, HOLDER), 0)
    if made == 0:
        Py_DecRef(answer)
        return 0
    Py_IncRef(load(context, SHARED))
    store(made + HEAD, 0, load(context, SHARED))
    store(made + HEAD, 1, answer)
    return made


def freeze(context: int, results: int) -> int:
    """Make those results read-only that are to be."""
    for j in range(load(context, OUTPUTS)):
        if load(load(context, ARGUMENTS) + 8 * ARGUMENT * (load(context, INPUTS) + j), FROZEN):
            flags = load(results, j) + FLAGS
            store32(flags, load32(flags) & READ_ONLY)
    return 0
