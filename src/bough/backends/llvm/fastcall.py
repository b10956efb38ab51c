"""One state, straight from Python: a function that reads NumPy arrays in place and returns a fresh one.

`@call` has the interface of a C function of Python (`METH_FASTCALL`). It takes what is plain: arrays of the right type,
shape and layout, with finite numbers and unit quaternions; and it returns None for everything else, so that the caller
can go the long way, which says what is wrong. It is called with the interpreter locked and needs no lock of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bough.backends.llvm.arrays import FURTHER, NONE, Layout, context, field, finite_source, layout, method, read_array
from bough.backends.llvm.types import Real
from bough.backends.protocol import Plain
from bough.program import Program

__all__ = ["FastCall", "fast_source"]

# further addresses in the context, then one per buffer of the program
EMPTY, SHAPE, SPILLS, INDICES, BUFFERS = range(FURTHER, FURTHER + 5)


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
        lines.append(f"in{j}:")
        lines += read_array(at, j, plain.shapes[j], f"read{j}")
        lines.append(f"read{j}:")
        if j < plain.sound:
            lines.append(f"  br label %in{j + 1}")
        else:
            lines += _require_sound(j, program.buffers[k].size, j == 0 and len(plain.quaternions) > 0)
    lines.append(f"in{len(inputs)}:")
    lines += _new_output(at)
    lines += _point_to_buffers(program, inputs, outputs[0])
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
    smallest = Real("double", 1).constant(plain.smallest)
    call = _CALL.replace("BODY", "\n".join(lines)).replace("NONE", str(NONE))
    return "\n".join(
        [declarations, finite_source("double", plain.quaternions), _REGULAR.replace("SMALLEST", smallest), call]
    )


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


def _point_to_buffers(program: Program, inputs: list[int], result: int) -> list[str]:
    """Fill %p with the addresses of all buffers: arguments, the new result, and what is fixed in the context."""
    count = len(program.buffers)
    lines = [f"  %p = alloca [{count + 2} x ptr]"]
    for k, buffer in enumerate(program.buffers):
        fixed = "%result_data" if k == result else f"%fixed{k}"
        source = f"%data{inputs.index(k)}" if k in inputs else fixed
        if source.startswith("%fixed"):
            lines += context(f"fixed{k}", BUFFERS + k)
        lines += [f"  %slot{k} = getelementptr ptr, ptr %p, i64 {k}", f"  store ptr {source}, ptr %slot{k}"]
        if buffer.role in ("output", "scratch") and buffer.cleared and buffer.size:
            lines.append(f"  call void @llvm.memset.p0.i64(ptr {source}, i8 0, i64 {buffer.size * 8}, i1 false)")
    for k, where in ((count, SPILLS), (count + 1, INDICES)):
        lines += context(f"fixed{k}", where)
        lines += [f"  %slot{k} = getelementptr ptr, ptr %p, i64 {k}", f"  store ptr %fixed{k}, ptr %slot{k}"]
    return lines


def _require_sound(j: int, size: int, turned: bool) -> list[str]:
    """Go on only if the numbers of an argument are finite and, if it has some, its quaternions of unit length."""
    lines, ok = [f"  %s{j} = call fastcc i1 @finite(ptr %data{j}, i64 {size})"], f"%s{j}"
    if turned:
        lines.append(f"  %units = call fastcc i1 @units(ptr %data{j}, i64 {size}, i64 1)")
        lines.append(f"  %right{j} = and i1 {ok}, %units")
        ok = f"%right{j}"
    return [*lines, f"  br i1 {ok}, label %in{j + 1}, label %other"]


def _new_output(at: Layout) -> list[str]:
    lines = context("empty", EMPTY) + context("shape", SHAPE)
    lines += [
        "  %arguments = alloca [2 x ptr]",
        "  %argument = getelementptr ptr, ptr %arguments, i64 1",
        "  store ptr %shape, ptr %argument",
        "  %result = call ptr @PyObject_Vectorcall(ptr %empty, ptr %argument, i64 -9223372036854775807, ptr null)",
        "  %missing = icmp eq ptr %result, null",
        "  br i1 %missing, label %failed, label %made",
        "made:",
    ]
    return lines + field("result_data", "%result", at.data, "ptr")


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


class FastCall:
    """Makes the Python function of a loaded program, and keeps alive what it refers to."""

    def __init__(
        self, address: int, buffers: list[int], spills: int, indices: int, shape: tuple[int, ...], keep: object
    ) -> None:
        fixed = [id(np.ndarray), id(np.dtype(np.float64)), id(None), id(np.empty), id(shape), spills, indices]
        self.function: Callable[..., Any]
        self.function, held = method(address, fixed + buffers)
        self._keep = (keep, shape, held)
