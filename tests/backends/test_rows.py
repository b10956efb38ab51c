"""Inputs that are read where they lie, a few components of all states at a time: the same bits, and nothing outside."""

from __future__ import annotations

import ctypes
import mmap
import sys
from typing import Any

import numpy as np
import pytest

from bough.backends import ReferenceKernel
from bough.backends.llvm import Real
from bough.backends.llvm.rows import rows_read
from bough.program import Program, simplify, trace
from bough.scalar import Table, array, gather_index, loop, switch
from compiled import Compiled

STARTS, WIDTHS = (0, 7, 12, 15, 22), (7, 5, 3, 7, 5)
SIZE = 27


def blocks(x: Any, y: Any) -> dict[str, Any]:
    """Blocks of x of three lengths, from the last to the first, each times the number of y that belongs to it."""
    starts, kinds = Table("starts", np.array(STARTS)), Table("kinds", np.array([0, 1, 2, 0, 1]))
    result = array(SIZE + 1)

    def turn(k: Any, carry: Any) -> Any:
        def branch(width: int) -> Any:
            def run() -> tuple[()]:
                start = gather_index(starts, k)
                for j in (*range(1, width), 0):
                    result[start + j] = x[start + j] * y[k] + x[start + (width - 1 - j)]
                return ()

            return run

        return switch(gather_index(kinds, k), [branch(7), branch(5), branch(3)])

    loop(len(STARTS), turn, (), reverse=True)
    return {"z": result}


def made() -> Program:
    return simplify(trace("blocks", blocks, {"x": SIZE, "y": 5}, rolled=True))


def test_what_is_read_in_rows() -> None:
    program = made()
    assert rows_read(program, Real("double", 8)) == {"x"}  # y is read one by one
    assert rows_read(program, Real("double", 1)) == frozenset()
    straight = simplify(trace("blocks", blocks, {"x": SIZE, "y": 5}))
    assert rows_read(straight, Real("double", 8)) == frozenset()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_same_bits_in_any_batch(dtype: Any, rng: np.random.Generator) -> None:
    program = made()
    kernel, reference = Compiled(program), ReferenceKernel(program)
    x, y = rng.normal(size=(40, SIZE)).astype(dtype), rng.normal(size=(40, 5)).astype(dtype)
    one = np.concatenate([run(kernel, x[k : k + 1], y[k : k + 1]) for k in range(40)])
    np.testing.assert_allclose(one, run(reference, x, y), rtol=0, atol=32 * np.finfo(dtype).eps)  # sums are fused
    for batch in (2, 7, 8, 9, 16, 40):
        np.testing.assert_array_equal(run(kernel, x[:batch], y[:batch]), one[:batch])
    apart = np.zeros((40, 2 * SIZE), dtype)
    apart[:, :SIZE] = x
    np.testing.assert_array_equal(run(kernel, apart[:, :SIZE], y), one)  # rows with something between them
    np.testing.assert_array_equal(run(kernel, np.broadcast_to(x[3], x.shape), y)[3], one[3])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is protected in the way of Linux")
@pytest.mark.parametrize("batch", [3, 8, 21])
def test_nothing_behind_an_array_is_read(batch: int, rng: np.random.Generator) -> None:
    """The array ends where memory that must not be read begins."""
    kernel = Compiled(made())
    page = mmap.PAGESIZE
    pages = -(-batch * SIZE * 8 // page)
    memory = mmap.mmap(-1, (pages + 1) * page)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    protect = ctypes.CDLL(None).mprotect
    assert protect(ctypes.c_void_p(address + pages * page), ctypes.c_size_t(page), 0) == 0
    x = np.frombuffer(memory, np.float64, batch * SIZE, pages * page - batch * SIZE * 8).reshape(batch, SIZE)
    x[...] = rng.normal(size=x.shape)
    y = rng.normal(size=(batch, 5))
    np.testing.assert_array_equal(run(kernel, x, y), run(kernel, x.copy(), y))


def run(kernel: Any, x: Any, y: Any) -> Any:
    z = np.full((x.shape[0], SIZE + 1), np.nan, x.dtype)
    kernel({"x": x, "y": y}, {"z": z})
    return z
