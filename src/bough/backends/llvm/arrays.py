"""NumPy arrays as compiled code sees them: where their parts lie, and the checks that make them plain arguments.

Where NumPy keeps the parts of an array is looked up once and tried out; if it is not as expected, no function is called
straight from Python.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from bough.backends.llvm.types import Real

__all__ = [
    "FURTHER", "NONE", "Layout", "abi_key", "context", "field", "finite_source", "layout", "method", "read_array",
]  # fmt: skip

CONTIGUOUS_ALIGNED, WRITEABLE = 0x101, 0x400
POINTER = 8


@dataclass(frozen=True)
class Layout:
    """Byte offsets of what is read: in an array object, and of the context in the bytes object that holds it."""

    type: int
    data: int
    ndim: int
    dimensions: int
    descr: int
    flags: int
    context: int


@lru_cache(maxsize=1)
def layout() -> Layout | None:
    """The offsets on this interpreter, or None if arrays are laid out in another way or threads run without a lock."""
    head = object.__basicsize__
    if ctypes.sizeof(ctypes.c_void_p) != POINTER or sys.implementation.name != "cpython":
        return None
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return None
    found = Layout(head - 8, head, head + 8, head + 16, head + 40, head + 48, bytes.__basicsize__ - 1)
    probe = np.arange(15.0).reshape(3, 5)
    at = id(probe)

    def pointer(offset: int) -> int:
        return ctypes.c_uint64.from_address(at + offset).value

    dimensions = (ctypes.c_int64 * 2).from_address(pointer(found.dimensions))
    expected = (
        pointer(found.type) == id(np.ndarray),
        pointer(found.data) == probe.ctypes.data,
        ctypes.c_int32.from_address(at + found.ndim).value == 2,
        tuple(dimensions) == (3, 5),
        pointer(found.descr) == id(np.dtype(np.float64)),
        ctypes.c_int32.from_address(at + found.flags).value & CONTIGUOUS_ALIGNED == CONTIGUOUS_ALIGNED,
        ctypes.string_at(id(b"bough") + found.context, 5) == b"bough",
    )
    return found if all(expected) else None


def abi_key() -> str:
    """What the code depends on besides the machine."""
    return repr(layout())


# the context is a row of addresses that differ from process to process; these come first
NDARRAY, DESCR, NONE, FURTHER = range(4)


def context(name: str, place: int) -> list[str]:
    """Load an address of the context."""
    return [
        f"  %{name}c = getelementptr ptr, ptr %context, i64 {place}",
        f"  %{name} = load ptr, ptr %{name}c, align 1",
    ]


def field(name: str, base: str, offset: int, kind: str) -> list[str]:
    """Load a part of an object."""
    return [f"  %{name}a = getelementptr i8, ptr {base}, i64 {offset}", f"  %{name} = load {kind}, ptr %{name}a"]


def read_array(
    at: Layout, argument: int, shape: tuple[int, ...], following: str, batch: bool = False, written: bool = False
) -> list[str]:
    """Check argument j and find its numbers, %dataj; then go to the label `following`, or to %other if it is not plain.

    With `batch` it has a first axis more, whose length is that of the first argument's, %rows.
    """
    j = argument
    x, flags = f"x{j}", CONTIGUOUS_ALIGNED | (WRITEABLE if written else 0)
    lines = [f"  %{x}p = getelementptr ptr, ptr %args, i64 {j}", f"  %{x} = load ptr, ptr %{x}p"]
    lines += field(f"{x}type", f"%{x}", at.type, "ptr")
    lines += context(f"{x}ndarray", NDARRAY)
    lines += [f"  %{x}is = icmp eq ptr %{x}type, %{x}ndarray", f"  br i1 %{x}is, label %array{j}, label %other"]
    lines.append(f"array{j}:")
    lines += field(f"{x}descr", f"%{x}", at.descr, "ptr")
    lines += context(f"{x}wanted", DESCR)
    lines += field(f"{x}flags", f"%{x}", at.flags, "i32")
    lines += field(f"{x}ndim", f"%{x}", at.ndim, "i32")
    lines += [
        f"  %{x}c0 = icmp eq ptr %{x}descr, %{x}wanted",
        f"  %{x}f = and i32 %{x}flags, {flags}",
        f"  %{x}c1 = icmp eq i32 %{x}f, {flags}",
        f"  %{x}c2 = icmp eq i32 %{x}ndim, {len(shape) + batch}",
        f"  %{x}c3 = and i1 %{x}c0, %{x}c1",
        f"  %{x}c4 = and i1 %{x}c3, %{x}c2",
        f"  br i1 %{x}c4, label %shaped{j}, label %other",
        f"shaped{j}:",
    ]
    lines += field(f"{x}dims", f"%{x}", at.dimensions, "ptr")
    ok = "true"
    for k, wanted in enumerate((("%rows",) if batch else ()) + shape):
        length = "%rows" if batch and j == 0 and k == 0 else f"%{x}n{k}"
        lines += [f"  %{x}d{k} = getelementptr i64, ptr %{x}dims, i64 {k}", f"  {length} = load i64, ptr %{x}d{k}"]
        if length == "%rows":
            continue
        lines += [f"  %{x}e{k} = icmp eq i64 {length}, {wanted}", f"  %{x}ok{k} = and i1 {ok}, %{x}e{k}"]
        ok = f"%{x}ok{k}"
    lines += field(f"data{j}", f"%{x}", at.data, "ptr")
    lines.append(f"  br i1 {ok}, label %{following}, label %other")
    return lines


def finite_source(element: str, quaternions: Sequence[int]) -> str:
    """The functions @finite(numbers, how many), and @units(rows, size of one, how many) if there are quaternions."""
    real, tolerance = Real(element, 1), 1e-6 if element == "double" else 1e-4
    text = _FINITE
    if quaternions:
        places = ", ".join(f"i64 {start}" for start in quaternions)
        text += _UNITS.replace("COUNT", str(len(quaternions))).replace("PLACES", places)
        text = text.replace("LOW", real.constant(1.0 - tolerance)).replace("HIGH", real.constant(1.0 + tolerance))
    return text.replace("double", element)


# x - x is zero for every finite x, and not a number otherwise; eight at a time, then the rest
_FINITE = """define internal fastcc i1 @finite(ptr %x, i64 %n) #0 {
entry:
  %whole = and i64 %n, -8
  br label %head
head:
  %k = phi i64 [ 0, %entry ], [ %k1, %body ]
  %total = phi <8 x double> [ zeroinitializer, %entry ], [ %sum, %body ]
  %more = icmp slt i64 %k, %whole
  br i1 %more, label %body, label %rest
body:
  %p = getelementptr double, ptr %x, i64 %k
  %v = load <8 x double>, ptr %p, align 4
  %zero = fsub <8 x double> %v, %v
  %sum = fadd <8 x double> %total, %zero
  %k1 = add i64 %k, 8
  br label %head
rest:
  %j = phi i64 [ %whole, %head ], [ %j1, %one ]
  %part = phi double [ 0.0, %head ], [ %part1, %one ]
  %left = icmp slt i64 %j, %n
  br i1 %left, label %one, label %exit
one:
  %q = getelementptr double, ptr %x, i64 %j
  %w = load double, ptr %q
  %nil = fsub double %w, %w
  %part1 = fadd double %part, %nil
  %j1 = add i64 %j, 1
  br label %rest
exit:
  %eights = fcmp oeq <8 x double> %total, zeroinitializer
  %bits = bitcast <8 x i1> %eights to i8
  %most = icmp eq i8 %bits, -1
  %last = fcmp oeq double %part, 0.0
  %ok = and i1 %most, %last
  ret i1 %ok
}
"""

_UNITS = """@places = private unnamed_addr constant [COUNT x i64] [PLACES]
define internal fastcc i1 @units(ptr %x, i64 %size, i64 %rows) #0 {
entry:
  br label %head
head:
  %k = phi i64 [ 0, %entry ], [ %k1, %next ]
  %good = phi i1 [ true, %entry ], [ %still, %next ]
  %more = icmp slt i64 %k, %rows
  br i1 %more, label %row, label %exit
row:
  %first = mul i64 %k, %size
  br label %one
one:
  %m = phi i64 [ 0, %row ], [ %m1, %one ]
  %so_far = phi i1 [ %good, %row ], [ %still, %one ]
  %placep = getelementptr i64, ptr @places, i64 %m
  %place = load i64, ptr %placep
  %start = add i64 %first, %place
  %p0 = getelementptr double, ptr %x, i64 %start
  %p1 = getelementptr double, ptr %p0, i64 1
  %p2 = getelementptr double, ptr %p0, i64 2
  %p3 = getelementptr double, ptr %p0, i64 3
  %a = load double, ptr %p0
  %b = load double, ptr %p1
  %c = load double, ptr %p2
  %d = load double, ptr %p3
  %aa = fmul double %a, %a
  %bb = fmul double %b, %b
  %cc = fmul double %c, %c
  %dd = fmul double %d, %d
  %ab = fadd double %aa, %bb
  %cd = fadd double %cc, %dd
  %square = fadd double %ab, %cd
  %low = fcmp ogt double %square, LOW
  %high = fcmp olt double %square, HIGH
  %unit = and i1 %low, %high
  %still = and i1 %so_far, %unit
  %m1 = add i64 %m, 1
  %again = icmp slt i64 %m1, COUNT
  br i1 %again, label %one, label %next
next:
  %k1 = add i64 %k, 1
  br label %head
exit:
  ret i1 %good
}
"""


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


METH_FASTCALL = 0x0080


def method(address: int, words: list[int]) -> tuple[Callable[..., Any], object]:
    """A compiled function as one of Python, with a context of addresses; and what must be kept alive with it."""
    held = np.array(words, np.uint64).tobytes()
    definition = _MethodDef(b"fast", address, METH_FASTCALL, None)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = (ctypes.POINTER(_MethodDef), ctypes.py_object, ctypes.py_object)
    return make(ctypes.byref(definition), held, None), (definition, held)
