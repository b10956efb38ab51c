"""What native code may use besides its own functions: memory, atomic operations, and functions of Python.

Native code is a small part of Python (`source`): every value is a 64-bit integer, and addresses are such numbers too.
These are declarations; `source` says what becomes of each.
"""

from __future__ import annotations

import ctypes
from typing import Any, NoReturn

from bough.errors import ProgramError

PYTHON = (
    "PyErr_NoMemory", "PyEval_RestoreThread", "PyEval_SaveThread", "PyObject_Vectorcall", "PyTuple_New",
    "PyType_GenericAlloc", "Py_DecRef", "Py_IncRef",
)  # fmt: skip
"""Functions of Python that native code may call."""

__all__ = [
    "PYTHON", "PyErr_NoMemory", "PyEval_RestoreThread", "PyEval_SaveThread", "PyObject_Vectorcall", "PyTuple_New",
    "PyType_GenericAlloc", "Py_DecRef", "Py_IncRef", "address_of", "call", "compare_exchange",
    "copy", "exchange", "fetch_add", "load", "load32", "pause", "stack", "store", "store32", "watch",
]  # fmt: skip


def _only_compiled(*numbers: int) -> NoReturn:
    raise ProgramError("this is a part of native code, which runs when compiled and not in Python")


def _python(*numbers: int) -> int:
    _only_compiled()


PyErr_NoMemory = PyEval_RestoreThread = PyEval_SaveThread = PyObject_Vectorcall = PyTuple_New = _python
PyType_GenericAlloc = Py_DecRef = Py_IncRef = _python


# what else native code may use; `source` has the rule for each


def load(address: int, place: int = 0) -> int:
    """The 64-bit number at an address, counted in such numbers from it."""
    _only_compiled()


def load32(address: int) -> int:
    """The 32-bit number at an address."""
    _only_compiled()


def store(address: int, place: int, value: int) -> None:
    """Write a 64-bit number."""
    _only_compiled()


def store32(address: int, value: int) -> None:
    """Write a 32-bit number."""
    _only_compiled()


def stack(count: int) -> int:
    """Room for so many 64-bit numbers until the function returns; the count is a constant."""
    _only_compiled()


def copy(target: int, source: int, size: int) -> None:
    """Copy bytes."""
    _only_compiled()


def call(function: int, *arguments: int) -> int:
    """Call the C function at an address."""
    _only_compiled()


def exchange(address: int, value: int) -> int:
    """Write a number and return the one that was there, at once."""
    _only_compiled()


def fetch_add(address: int, value: int) -> int:
    """Add to a number and return what it was, at once."""
    _only_compiled()


def compare_exchange(address: int, expected: int, value: int) -> int:
    """Write a number if the expected one is there, at once; returns the one that was there."""
    _only_compiled()


def watch(address: int) -> int:
    """The 64-bit number at an address that other threads may change."""
    _only_compiled()


def pause() -> None:
    """Tell the processor that it is waiting."""
    _only_compiled()


def address_of(function: Any) -> int:
    """Where the code of a C function is."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0
