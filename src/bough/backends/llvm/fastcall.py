"""One state, straight from Python: a function that reads NumPy arrays in place and returns a fresh one.

`@call` has the interface of a C function of Python (`METH_FASTCALL`). It takes what is plain: arrays of the right type,
shape and layout, with finite numbers and unit quaternions; and it returns None for everything else, so that the caller
can go the long way, which says what is wrong. It is called with the interpreter locked and needs no lock of its own.

Where NumPy keeps the parts of an array is looked up once and tried out; if it is not as expected, there are no fast
calls.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from bough.backends.protocol import Plain
from bough.program import Program

__all__ = ["FastCall", "abi_key", "fast_source", "layout"]

CONTIGUOUS_ALIGNED = 0x101
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


# the context: addresses that differ from process to process, in this order, then one per buffer of the program
NDARRAY, DESCR, EMPTY, SHAPE, NONE, SPILLS, INDICES, BUFFERS = range(8)


def fast_source(program: Program, plain: Plain) -> str:
    """The function @call for a program on one state in float64."""
    at = layout()
    assert at is not None
    inputs = [k for k, b in enumerate(program.buffers) if b.role == "input"]
    outputs = [k for k, b in enumerate(program.buffers) if b.role == "output"]
    lines = [
        f"  %context = getelementptr i8, ptr %self, i64 {at.context}",
        f"  %right = icmp eq i64 %n, {len(inputs)}",
        "  br i1 %right, label %in0, label %other",
    ]
    for j, k in enumerate(inputs):
        lines += _read_input(at, j, k, program.buffers[k].size, plain.quaternions if j == 0 else ())
    lines.append(f"in{len(inputs)}:")
    lines += _new_output(at)
    lines += _point_to_buffers(program, outputs[0])
    lines.append("  call fastcc void @body(ptr %p)")
    lines.append(f"  %sound = call fastcc i1 @finite(ptr %result_data, i64 {program.buffers[outputs[0]].size})")
    regular = "true"
    if plain.pivots:
        k, regular = outputs[-1], "%regular"
        lines.append(f"  %regular = call fastcc i1 @regular(ptr %fixed{k}, i64 {program.buffers[k].size})")
    lines.append(f"  %fine = and i1 %sound, {regular}")
    declarations = (
        "declare void @Py_IncRef(ptr)\ndeclare void @Py_DecRef(ptr)\n"
        "declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)"
    )
    call = _CALL.replace("BODY", "\n".join(lines)).replace("NONE", str(NONE))
    return "\n".join([declarations, _FINITE, _REGULAR.replace("SMALLEST", _hex(plain.smallest)), call])


_CALL = """define ptr @call(ptr %self, ptr %args, i64 %n) {
entry:
BODY
  br i1 %fine, label %good, label %bad
good:
  ret ptr %result
bad:
  call void @Py_DecRef(ptr %result)
  br label %other
other:
  %nonep = getelementptr ptr, ptr %context, i64 NONE
  %none = load ptr, ptr %nonep, align 1
  call void @Py_IncRef(ptr %none)
  ret ptr %none
failed:
  ret ptr null
}"""


def _point_to_buffers(program: Program, result: int) -> list[str]:
    """Fill %p with the addresses of all buffers: arguments, the new result, and what is fixed in the context."""
    count = len(program.buffers)
    lines = [f"  %p = alloca [{count + 2} x ptr]"]
    for k, buffer in enumerate(program.buffers):
        source = f"%data{k}" if buffer.role == "input" else "%result_data" if k == result else f"%fixed{k}"
        if source.startswith("%fixed"):
            lines += _context(f"fixed{k}", BUFFERS + k)
        lines += [f"  %slot{k} = getelementptr ptr, ptr %p, i64 {k}", f"  store ptr {source}, ptr %slot{k}"]
        if buffer.role in ("output", "scratch") and buffer.cleared and buffer.size:
            lines.append(f"  call void @llvm.memset.p0.i64(ptr {source}, i8 0, i64 {buffer.size * 8}, i1 false)")
    for k, where in ((count, SPILLS), (count + 1, INDICES)):
        lines += _context(f"fixed{k}", where)
        lines += [f"  %slot{k} = getelementptr ptr, ptr %p, i64 {k}", f"  store ptr %fixed{k}, ptr %slot{k}"]
    return lines


def _hex(x: float) -> str:
    return f"0x{np.float64(x).view(np.uint64):016X}"


def _context(name: str, place: int) -> list[str]:
    return [
        f"  %{name}c = getelementptr ptr, ptr %context, i64 {place}",
        f"  %{name} = load ptr, ptr %{name}c, align 1",
    ]


def _field(name: str, base: str, offset: int, kind: str) -> list[str]:
    return [f"  %{name}a = getelementptr i8, ptr {base}, i64 {offset}", f"  %{name} = load {kind}, ptr %{name}a"]


def _read_input(at: Layout, j: int, k: int, size: int, quaternions: tuple[int, ...]) -> list[str]:
    """Check one argument and find its numbers; anything unusual goes to %other."""
    x = f"x{j}"
    lines = [f"in{j}:", f"  %{x}p = getelementptr ptr, ptr %args, i64 {j}", f"  %{x} = load ptr, ptr %{x}p"]
    lines += _field(f"{x}type", f"%{x}", at.type, "ptr")
    lines += _context(f"{x}ndarray", NDARRAY)
    lines += [f"  %{x}is = icmp eq ptr %{x}type, %{x}ndarray", f"  br i1 %{x}is, label %array{j}, label %other"]
    lines.append(f"array{j}:")
    lines += _field(f"{x}descr", f"%{x}", at.descr, "ptr")
    lines += _context(f"{x}double", DESCR)
    lines += _field(f"{x}flags", f"%{x}", at.flags, "i32")
    lines += _field(f"{x}ndim", f"%{x}", at.ndim, "i32")
    lines += [
        f"  %{x}c0 = icmp eq ptr %{x}descr, %{x}double",
        f"  %{x}f = and i32 %{x}flags, {CONTIGUOUS_ALIGNED}",
        f"  %{x}c1 = icmp eq i32 %{x}f, {CONTIGUOUS_ALIGNED}",
        f"  %{x}c2 = icmp eq i32 %{x}ndim, 1",
        f"  %{x}c3 = and i1 %{x}c0, %{x}c1",
        f"  %{x}c4 = and i1 %{x}c3, %{x}c2",
        f"  br i1 %{x}c4, label %vector{j}, label %other",
        f"vector{j}:",
    ]
    lines += _field(f"{x}dims", f"%{x}", at.dimensions, "ptr")
    lines += [
        f"  %{x}length = load i64, ptr %{x}dims",
        f"  %{x}c5 = icmp eq i64 %{x}length, {size}",
        f"  br i1 %{x}c5, label %sized{j}, label %other",
        f"sized{j}:",
    ]
    lines += _field(f"data{k}", f"%{x}", at.data, "ptr")
    lines.append(f"  %{x}ok0 = call fastcc i1 @finite(ptr %data{k}, i64 {size})")
    ok = f"%{x}ok0"
    for m, start in enumerate(quaternions):
        lines.append(f"  %{x}q{m} = getelementptr double, ptr %data{k}, i64 {start}")
        lines.append(f"  %{x}u{m} = call fastcc i1 @unit(ptr %{x}q{m})")
        lines.append(f"  %{x}ok{m + 1} = and i1 {ok}, %{x}u{m}")
        ok = f"%{x}ok{m + 1}"
    lines.append(f"  br i1 {ok}, label %in{j + 1}, label %other")
    return lines


def _new_output(at: Layout) -> list[str]:
    lines = _context("empty", EMPTY) + _context("shape", SHAPE)
    lines += [
        "  %arguments = alloca [2 x ptr]",
        "  %argument = getelementptr ptr, ptr %arguments, i64 1",
        "  store ptr %shape, ptr %argument",
        "  %result = call ptr @PyObject_Vectorcall(ptr %empty, ptr %argument, i64 -9223372036854775807, ptr null)",
        "  %missing = icmp eq ptr %result, null",
        "  br i1 %missing, label %failed, label %made",
        "made:",
    ]
    return lines + _field("result_data", "%result", at.data, "ptr")


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
  %v = load <8 x double>, ptr %p, align 8
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
define internal fastcc i1 @unit(ptr %x) #0 {
  %p1 = getelementptr double, ptr %x, i64 1
  %p2 = getelementptr double, ptr %x, i64 2
  %p3 = getelementptr double, ptr %x, i64 3
  %a = load double, ptr %x
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
  %low = fcmp ogt double %square, 0.999999
  %high = fcmp olt double %square, 1.000001
  %ok = and i1 %low, %high
  ret i1 %ok
}"""

_REGULAR = """define internal fastcc i1 @regular(ptr %x, i64 %n) #0 {
entry:
  br label %head
head:
  %k = phi i64 [ 0, %entry ], [ %k1, %body ]
  %least = phi double [ 0x7FF0000000000000, %entry ], [ %low, %body ]
  %most = phi double [ 0.0, %entry ], [ %high, %body ]
  %more = icmp slt i64 %k, %n
  br i1 %more, label %body, label %exit
body:
  %p = getelementptr double, ptr %x, i64 %k
  %v = load double, ptr %p
  %smaller = fcmp ult double %v, %least
  %low = select i1 %smaller, double %v, double %least
  %larger = fcmp ogt double %v, %most
  %high = select i1 %larger, double %v, double %most
  %k1 = add i64 %k, 1
  br label %head
exit:
  %limit = fmul double %most, SMALLEST
  %ok = fcmp ogt double %least, %limit
  ret i1 %ok
}"""


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


METH_FASTCALL = 0x0080


class FastCall:
    """Makes the Python function of a loaded program, and keeps alive what it refers to."""

    def __init__(
        self, address: int, buffers: list[int], spills: int, indices: int, shape: tuple[int, ...], keep: object
    ) -> None:
        self._shape = shape
        self._keep = keep
        fixed = {
            NDARRAY: id(np.ndarray),
            DESCR: id(np.dtype(np.float64)),
            EMPTY: id(np.empty),
            SHAPE: id(self._shape),
            NONE: id(None),
            SPILLS: spills,
            INDICES: indices,
        }
        words = [fixed[k] for k in range(BUFFERS)] + buffers
        self._context = np.array(words, np.uint64).tobytes()
        self._definition = _MethodDef(b"fast", address, METH_FASTCALL, None)
        make = ctypes.pythonapi.PyCFunction_NewEx
        make.restype = ctypes.py_object
        make.argtypes = (ctypes.POINTER(_MethodDef), ctypes.py_object, ctypes.py_object)
        self.function: Callable[..., Any] = make(ctypes.byref(self._definition), self._context, None)
