"""What a call returns: new arrays, many in a tuple, or an object that holds one; native code (see `source`)."""

from __future__ import annotations

from bough.backends.native.places import (
    ALIGNED,
    ARGUMENT,
    ARGUMENTS,
    BASE,
    C_AXES,
    C_DATA,
    C_DTYPE,
    C_ITEM,
    C_LENGTHS,
    C_STATES,
    C_STEPS,
    CONTIGUOUS,
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

__all__ = ["freeze", "held", "make_results", "new_of_states", "together"]

READ_ONLY = ~WRITEABLE
MOST_KEPT = 256  # numbers of all results that are kept for as long as one of them


def make_results(context: int, this: int, results: int, out: int) -> int:
    """Have arrays for all outputs, `out` or new ones, and note where they are; 0 if there is no memory.

    Small ones of one state are parts of one array: memory is asked for once.
    """
    inputs = load(context, INPUTS)
    outputs = load(context, OUTPUTS)
    whole = 0
    if load(this, C_STATES) == 1 and outputs > 1:
        size = stack(1)
        store(size, 0, total(context))
        if load(size) <= MOST_KEPT:
            whole = new_array(context, load(this, C_DTYPE), 1, size, 0)
            if whole == 0:
                return 0
    place = 0
    if whole != 0:
        place = load(whole + DATA)
    made = 1
    for j in range(outputs):
        wanted = load(context, ARGUMENTS) + 8 * ARGUMENT * (inputs + j)
        store(this, C_STEPS + inputs + j, load(wanted, SIZE) * load(this, C_ITEM))
        if out != 0:
            Py_IncRef(out)
            store(results, j, out)
        elif made != 0:
            made = new_of_states(context, this, load(this, C_DTYPE), wanted, place)
            store(results, j, made)
            if made == 0:
                for k in range(j):
                    Py_DecRef(load(results, k))
            elif whole != 0:
                Py_IncRef(whole)
                store(made + BASE, 0, whole)
                place += load(this, C_STEPS + inputs + j)
        if made != 0:
            store(this, C_DATA + inputs + j, load(load(results, j) + DATA))
    if whole != 0:
        Py_DecRef(whole)
    return made != 0


def total(context: int) -> int:
    """Numbers of all outputs for one state."""
    size = 0
    for j in range(load(context, OUTPUTS)):
        size += load(load(context, ARGUMENTS) + 8 * ARGUMENT * (load(context, INPUTS) + j), SIZE)
    return size


def new_of_states(context: int, this: int, dtype: int, wanted: int, place: int) -> int:
    """A new array with the batch axes, and those of one state of an output; `place` as in `new_array`."""
    lengths = stack(16)  # batch axes and those of a state
    axes = load(this, C_AXES)
    for k in range(axes):
        store(lengths, k, load(load(this, C_LENGTHS), k))
    if wanted != 0:
        for k in range(load(wanted, RANK)):
            store(lengths, axes + k, load(wanted, LENGTHS + k))
        axes += load(wanted, RANK)
    return new_array(context, dtype, axes, lengths, place)


def new_array(context: int, dtype: int, axes: int, lengths: int, place: int) -> int:
    """A new array, in memory that is there if it has a place."""
    Py_IncRef(dtype)
    flags = CONTIGUOUS | ALIGNED | WRITEABLE
    return call(
        load(context, NEW_ARRAY), load(context, NDARRAY), dtype, axes, lengths, 0, place, flags * (place != 0), 0
    )


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
