"""What the launcher must know of the interpreter: where arrays keep their parts, how native code becomes a function.

Where NumPy keeps the parts of an array is looked at once and tried out. If it is not as expected, or threads run
without a lock, nothing enters machine code straight from Python.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.backends.native import places
from bough.backends.native.primitives import address_of
from bough.backends.protocol import Variant

__all__ = ["abi_key", "as_method", "has_entry", "has_items", "has_slots", "new_array_address", "python_function"]

METH_FASTCALL = 0x0080
NEW_FROM_DESCR = 94  # place of this function in NumPy's table of C functions


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def as_method(address: int, context: NDArray[np.int64], kept: tuple[object, ...]) -> Callable[..., Any]:
    """Native code as a function of Python with a context, which alone keeps alive all that it refers to."""
    words = np.array([context.ctypes.data], np.int64).tobytes()
    definition = _MethodDef(b"bough", address, METH_FASTCALL, None)
    _keep(definition)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = (ctypes.POINTER(_MethodDef), ctypes.py_object, ctypes.py_object)
    made: Callable[..., Any] = make(ctypes.byref(definition), words, _Module((context, *kept)))
    return made


def _keep(definition: _MethodDef) -> None:
    """Keep it for good, some bytes each: a function in a cycle of garbage looks at it when all modules are cleared."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(definition))


class _Module(str):
    """What a function says its module is, by which it keeps alive what it refers to."""

    kept: tuple[object, ...]

    def __new__(cls, kept: tuple[object, ...]) -> _Module:
        made = super().__new__(cls, "bough")
        made.kept = kept
        return made


@lru_cache(maxsize=1)
def has_entry() -> bool:
    """Whether arrays of this interpreter lie in memory as the launcher expects."""
    if ctypes.sizeof(ctypes.c_void_p) != 8 or sys.implementation.name != "cpython" or sys.byteorder != "little":
        return False
    probe = np.arange(30.0).reshape(3, 10)[:, :5]
    at = id(probe)

    def word(offset: int) -> int:
        return ctypes.c_int64.from_address(at + offset).value

    lengths, steps = ((ctypes.c_int64 * 2).from_address(word(k)) for k in (places.DIMENSIONS, places.STEPS))
    flags = ctypes.c_int32.from_address(at + places.FLAGS).value
    expected = (
        word(places.TYPE) == id(np.ndarray),
        word(places.DATA) == probe.ctypes.data,
        ctypes.c_int32.from_address(at + places.AXES).value == 2,
        tuple(lengths) == (3, 5),
        tuple(steps) == (80, 8),
        word(places.BASE) == id(probe.base),
        word(places.DTYPE) == id(np.dtype(np.float64)),
        flags & (places.ALIGNED | places.WRITEABLE | places.CONTIGUOUS) == places.ALIGNED | places.WRITEABLE,
        ctypes.string_at(id(b"bough") + places.PAYLOAD, 5) == b"bough",
        _items_of((probe, at)) == (id(probe), id(at)),
        new_array_address() != 0,
    )
    return all(expected)


def has_slots(variant: Variant) -> bool:
    """Whether objects of a class have in memory what they share, then what they hold, and nothing else."""
    held = object()
    made = variant.held(held)
    words = (ctypes.c_int64 * 2).from_address(id(made) + places.HEAD)
    return type(made).__basicsize__ == places.HEAD + 16 and tuple(words) == (id(variant.shared), id(held))


def has_items(named: type[tuple[Any, ...]]) -> bool:
    """Whether tuples of a class have in memory how many they are, then their items, and nothing else."""
    made = tuple.__new__(named, (places, None))
    alike = named.__basicsize__ == places.ITEMS == places.HEAD + 8 and named.__itemsize__ == 8
    return alike and not named.__dictoffset__ and _items_of(made) == (id(places), id(None))


def _items_of(two: tuple[object, ...]) -> tuple[int, ...]:
    """What lies where the items of a tuple of two should."""
    return tuple((ctypes.c_int64 * 2).from_address(id(two) + places.ITEMS))


def abi_key() -> str:
    """What the code of the launcher depends on besides the machine."""
    return f"{sys.version_info[:2]} {places.HEAD} {places.PAYLOAD} {places.ITEMS} {places.LOCKED}"


def python_function(name: str) -> int:
    """Where a C function of Python is."""
    return address_of(getattr(ctypes.pythonapi, name))


@lru_cache(maxsize=1)
def new_array_address() -> int:
    """Address of NumPy's function that makes an array, once it was seen to make one; 0 if it does not."""
    table = getattr(np, "_core", None) or np.core
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    functions = get(table.multiarray._ARRAY_API, None)
    address = ctypes.c_void_p.from_address(functions + 8 * NEW_FROM_DESCR).value or 0
    pointer, number = ctypes.c_void_p, ctypes.c_int
    kind = ctypes.PYFUNCTYPE(ctypes.py_object, pointer, pointer, number, pointer, pointer, pointer, number, pointer)
    lengths, dtype = (ctypes.c_int64 * 2)(3, 5), np.dtype(np.float32)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(dtype))
    made = kind(address)(id(np.ndarray), id(dtype), 2, ctypes.addressof(lengths), None, None, 0, None)
    return address if type(made) is np.ndarray and made.shape == (3, 5) and made.dtype == dtype else 0
