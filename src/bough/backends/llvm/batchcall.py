"""Many states, straight from Python: a function that reads NumPy arrays in place and fills one.

`@many` has the interface of a C function of Python (`METH_FASTCALL`): (inputs …, out, scratch memory, first state,
number of states, what to do). It takes what is plain: arrays of one type, contiguous, with one batch axis of the same
length and finite numbers, and an `out` that overlaps none of them; it returns None for everything else, so that the
caller can go the long way, which says what is wrong. The interpreter is free for others while it computes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bough.backends.llvm.arrays import FURTHER, NONE, context, finite_source, layout, method, read_array
from bough.backends.llvm.entry import judge_inputs
from bough.backends.llvm.types import Real
from bough.backends.protocol import Plain
from bough.program import Program

__all__ = ["COMPUTE", "INPUTS", "RESULTS", "TOGETHER", "BatchCall", "batch_source"]

# what to do, added: look at the inputs, compute, look at the results, look at the inputs of a few states at a time just
# before they are computed, which reads them once but writes results before all inputs are known to be sound
INPUTS, COMPUTE, RESULTS, TOGETHER = 1, 2, 4, 8


def batch_source(program: Program, plain: Plain, real: Real) -> str:
    """The function @many for a program on vectors of states."""
    at = layout()
    assert at is not None
    inputs = [k for k, b in enumerate(program.buffers) if b.role == "input"]
    out = len(inputs)
    lines = [
        f"  %context = getelementptr i8, ptr %self, i64 {at.context}",
        f"  %right = icmp eq i64 %n, {out + 5}",
        "  br i1 %right, label %in0, label %other",
    ]
    for j in range(out + 1):
        shape = plain.shapes[j]
        lines.append(f"in{j}:")
        lines += read_array(at, j, shape, f"in{j + 1}" if j < out else "numbers", batch=True, written=j == out)
    lines.append("numbers:")
    for name, j in (("space", out + 1), ("first", out + 2), ("count", out + 3), ("mode", out + 4)):
        lines += [
            f"  %{name}p = getelementptr ptr, ptr %args, i64 {j}",
            f"  %{name}o = load ptr, ptr %{name}p",
            f"  %{name} = call i64 @PyLong_AsSsize_t(ptr %{name}o)",
        ]
    sizes = [program.buffers[k].size * real.size for k in inputs] + [_size(plain.shapes[out]) * real.size]
    lines += _apart(sizes)
    lines += _judge(program, plain, inputs, real)
    lines += _compute(program, inputs, sizes)
    text = _MANY.replace("BODY", "\n".join(lines)).replace("NONE", str(NONE)).replace("OUT", str(out))
    return "\n".join([_DECLARATIONS, finite_source(real.element, plain.quaternions), text])


_DECLARATIONS = """declare void @Py_IncRef(ptr)
declare i64 @PyLong_AsSsize_t(ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)"""

_MANY = """define ptr @many(ptr %self, ptr %args, i64 %n) {
entry:
BODY
other:
  %nonep = getelementptr ptr, ptr %context, i64 NONE
  %none = load ptr, ptr %nonep, align 1
  call void @Py_IncRef(ptr %none)
  ret ptr %none
good:
  call void @PyEval_RestoreThread(ptr %thread)
  call void @Py_IncRef(ptr %xOUT)
  ret ptr %xOUT
bad:
  call void @PyEval_RestoreThread(ptr %thread)
  br label %other
}"""


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for length in shape:
        size *= length
    return size


def _apart(sizes: list[int]) -> list[str]:
    """Addresses of the first state in all arrays; what overlaps with the result goes to %other."""
    out, lines = len(sizes) - 1, []
    for j, size in enumerate(sizes):
        lines += [
            f"  %b{j} = ptrtoint ptr %data{j} to i64",
            f"  %l{j} = mul i64 %rows, {size}",
            f"  %e{j} = add i64 %b{j}, %l{j}",
            f"  %o{j} = mul i64 %first, {size}",
            f"  %at{j} = getelementptr i8, ptr %data{j}, i64 %o{j}",
        ]
    overlap = "false"
    for j in range(out):
        lines += [
            f"  %v{j} = icmp ult i64 %b{j}, %e{out}",
            f"  %w{j} = icmp ult i64 %b{out}, %e{j}",
            f"  %z{j} = and i1 %v{j}, %w{j}",
            f"  %u{j} = or i1 {overlap}, %z{j}",
        ]
        overlap = f"%u{j}"
    lines.append(f"  br i1 {overlap}, label %other, label %apart")
    return [*lines, "apart:", "  %thread = call ptr @PyEval_SaveThread()"]


def _judge(program: Program, plain: Plain, inputs: list[int], real: Real) -> list[str]:
    """Look at the inputs if that is to be done."""
    lines = [
        f"  %asked = and i64 %mode, {INPUTS}",
        "  %look = icmp ne i64 %asked, 0",
        "  br i1 %look, label %judge, label %judged",
        "judge:",
    ]
    places = {k: f"%at{j}" for j, k in enumerate(inputs)}
    judged, ok = judge_inputs(program, plain, real, places, "%count")
    return [*lines, *judged, f"  br i1 {ok}, label %judged, label %bad", "judged:"]


def _compute(program: Program, inputs: list[int], sizes: list[int]) -> list[str]:
    """Run the states if that is to be done."""
    count, result = len(program.buffers), next(k for k, b in enumerate(program.buffers) if b.role == "output")
    lines = [
        f"  %told = and i64 %mode, {COMPUTE}",
        "  %run = icmp ne i64 %told, 0",
        "  br i1 %run, label %compute, label %good",
        "compute:",
        f"  %doubted = and i64 %mode, {RESULTS}",
        "  %check = icmp ne i64 %doubted, 0",
        f"  %joined = and i64 %mode, {TOGETHER}",
        "  %together = icmp ne i64 %joined, 0",
        f"  %arrays = alloca [{count} x ptr]",
        f"  %strides = alloca [{count} x i64]",
    ]
    for k, buffer in enumerate(program.buffers):
        j = inputs.index(k) if k in inputs else len(inputs) if k == result else None
        if j is not None:
            lines += [f"  %sp{k} = getelementptr i64, ptr %strides, i64 {k}", f"  store i64 {sizes[j]}, ptr %sp{k}"]
        elif buffer.role == "table":
            lines += context(f"table{k}", FURTHER + k)
        if j is not None or buffer.role == "table":
            lines.append(f"  %ap{k} = getelementptr ptr, ptr %arrays, i64 {k}")
            lines.append(f"  store ptr {f'%at{j}' if j is not None else f'%table{k}'}, ptr %ap{k}")
    lines += [
        "  %scratch = inttoptr i64 %space to ptr",
        "  %sound = call i1 @guarded(ptr %arrays, ptr %strides, i64 %count, ptr %scratch, i1 %check, i1 %together)",
        "  br i1 %sound, label %good, label %bad",
    ]
    return lines


class BatchCall:
    """Makes the Python function of a loaded program, and keeps alive what it refers to."""

    def __init__(self, address: int, tables: list[int], dtype: np.dtype[Any], keep: object) -> None:
        self.function: Callable[..., Any]
        self.function, held = method(address, [id(np.ndarray), id(dtype), id(None), *tables])
        self._keep = (keep, dtype, held)
