"""Results that loops copy from scratch memory: recognised, written straight to rows, the same bits in any batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bough.backends import Argument
from bough.kernel.function import Function
from bough.program import Const, Loop, Program, simplify, trace
from bough.program.simple_loops import Copy, copied_by, copied_outputs
from bough.scalar import Part, Table, blank, fill, gather_index, keeping_loops

PIECES = 21, 3, 40
"""Sizes of the pieces of a result: more than whole squares, less than one, whole ones."""

PLACES = Table("places", np.array([2, 0, 0, 1, 2, 2, 1, 0, 1, 1, 0], dtype=np.int64))


def piece_by_piece(x: Any) -> dict[str, Any]:
    """Pieces that are made in the same memory and copied one behind the other, and one whose entries a table tells."""
    with keeping_loops():
        y, little = blank(sum(PIECES) + PLACES.data.size), blank(max(PIECES))
        start = 0
        for number, size in enumerate(PIECES):
            for k in range(size):
                little[k] = x[k] * (1.0 + number)
            fill(Part(y, start), size, little.__getitem__)
            start += size
        fill(Part(y, start), PLACES.data.size, lambda k: little[gather_index(PLACES, k)])
    return {"y": y}


def expected(x: Any) -> Any:
    last = x * float(len(PIECES))
    parts = [x[:, :size] * (1.0 + number) for number, size in enumerate(PIECES)]
    return np.concatenate([*parts, last[:, PLACES.data]], axis=1)


def made(rule: Any = piece_by_piece, size: int = max(PIECES)) -> Program:
    return simplify(trace("pieces", rule, {"x": size}))


def copies(program: Program) -> list[Copy | None]:
    constants = {x.result: x.value for x in program.body if isinstance(x, Const)}
    return [copied_by(x, constants) for x in program.body if isinstance(x, Loop)]


def test_what_is_recognised() -> None:
    program = made()
    found = [copy for copy in copies(program) if copy is not None]
    assert [copy.start for copy in found] == [0, 21, 24, 64]
    assert [copy.size for copy in found] == [*PIECES, PLACES.data.size]
    assert [copy.table is None for copy in found] == [True, True, True, False]
    assert copied_outputs(program) == {"y"}


def test_results_that_are_read_or_written_otherwise_have_lanes() -> None:
    def read(x: Any) -> dict[str, Any]:
        y = piece_by_piece(x)["y"]
        return {"y": y, "z": [y[3] + y[4]]}

    def written(x: Any) -> dict[str, Any]:
        y = piece_by_piece(x)["y"]
        y[5] = x[0]
        return {"y": y}

    assert not copied_outputs(made(read))
    assert not copied_outputs(made(written))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_same_bits_in_any_batch(compiled: None, rng: np.random.Generator, dtype: Any) -> None:
    """Rows that are not there are not written; nor are numbers between rows, or around them."""
    size = sum(PIECES) + PLACES.data.size
    function = Function("pieces", [Argument("x", (40,))], [Argument("y", (size,))], piece_by_piece, size=2)
    x = rng.normal(size=(35, 40)).astype(dtype)
    right = expected(x)
    np.testing.assert_array_equal([function(one) for one in x], right)
    for states in (1, 2, 7, 8, 9, 16, 17, 35):
        around = np.full((states + 2, size + 3), 7.0, dtype)
        function(x[:states], out=around[1:-1, 1:-2])
        np.testing.assert_array_equal(around[1:-1, 1:-2], right[:states])
        around[1:-1, 1:-2] = 7.0
        assert (around == 7.0).all()
