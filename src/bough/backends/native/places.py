"""Where native code finds the parts of what it works on: objects of Python, what is known of a function, a call."""

from __future__ import annotations

import sysconfig

__all__ = [
    "ABSENT", "ALIGNED", "ARGUMENT", "ARGUMENTS", "AXES", "BASE", "BLOCK", "BUFFERS", "CALLOC", "CAREFUL", "CHECKER",
    "CONTEXT", "CONTIGUOUS", "COST", "C_AXES", "C_CHECK", "C_DATA", "C_DTYPE", "C_ITEM", "C_LENGTHS",
    "C_RECORD", "C_STATES", "C_STEPS", "C_WORKERS", "DATA", "DIMENSIONS", "DOUBLE", "DTYPE", "FALSE", "FLAGS",
    "FREE", "FROZEN", "HEAD", "HOLDER", "INPUTS", "ITEMS", "KERNEL", "LANES", "LENGTHS", "LOCKED", "MALLOC",
    "MOST_ARGUMENTS", "MOST_AXES", "MOST_BATCH_AXES", "NAMED", "NDARRAY", "NEW_ARRAY", "NONE", "OUTPUTS",
    "PAYLOAD", "PLACES", "POOL", "RANK", "RECORD", "RECORDS", "SAME_AXES", "SHARED", "SINGLE", "SIZE", "SPACE",
    "STEPS", "TABLES", "TRUE", "TYPE", "WRITEABLE",
]  # fmt: skip

# where the parts of objects lie, in bytes: a Python object, a bytes object, a tuple, a NumPy array
HEAD = object.__basicsize__
TYPE = HEAD - 8
PAYLOAD = bytes.__basicsize__ - 1
ITEMS = tuple.__basicsize__
DATA, AXES, DIMENSIONS, STEPS = HEAD, HEAD + 8, HEAD + 16, HEAD + 24
BASE, DTYPE, FLAGS = HEAD + 32, HEAD + 40, HEAD + 48
CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400

LOCKED = int(not sysconfig.get_config_var("Py_GIL_DISABLED"))
"""Whether one thread at a time runs code of the interpreter, whatever the process was told."""

# the context of a function, in 64-bit numbers: Python objects and C functions, then what the function takes and gives
NDARRAY, DOUBLE, SINGLE, NONE, TRUE, FALSE, NEW_ARRAY, CAREFUL = 0, 1, 2, 3, 4, 5, 6, 7
POOL, MALLOC, CALLOC, FREE, INPUTS, OUTPUTS, ARGUMENTS, RECORDS = 8, 9, 10, 11, 12, 13, 14, 15
SAME_AXES, HOLDER, SHARED, NAMED = 16, 17, 18, 19
CONTEXT = 20

# an argument: whether it is left out or, of an output, read-only; number of axes of one state, their lengths, numbers
# in all
MOST_AXES = 8
ABSENT, FROZEN, RANK, LENGTHS, SIZE = 0, 0, 1, 2, 10
ARGUMENT = 11

# the program for one data type, for one state or many: four records, float64 first, one state first
KERNEL, SPACE, BUFFERS, TABLES, PLACES, BLOCK, COST, LANES, CHECKER = 0, 1, 2, 3, 4, 5, 6, 7, 8
RECORD = 9

# a call: its record, batch axes (how many, where) and states; then of all arguments the addresses and steps from state
# to state, in bytes
C_RECORD, C_AXES, C_LENGTHS, C_STATES, C_DTYPE, C_ITEM, C_CHECK, C_WORKERS, C_DATA, C_STEPS = 0, 1, 2, 3, 4, 5, 6, 7, 8, 40  # fmt: skip  # noqa: E501

MOST_ARGUMENTS, MOST_BATCH_AXES = 32, 8
