"""Memory that loops fill with zeros: recognised, and filled to the last entry and no further."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bough.backends.llvm import Real, compile_program
from bough.backends.llvm.fills import zeros_of
from bough.backends.llvm.loaded import Loaded
from bough.program import Const, Loop, Program, simplify, trace, walk
from bough.scalar import Table, array, do_when, gather_index, loop

SIZES = 1, 3, 7, 8, 37, 131


def sums(x: Any) -> dict[str, Any]:
    """In each of three turns arrays are zero at first, though the turn before left something in them."""

    def turn(k: Any, total: Any) -> Any:
        for size in SIZES:
            cells = array(size)

            def fill(j: Any, carry: Any, cells: Any = cells) -> Any:
                cells[j] = cells[j] + x[0]
                return carry + cells[j]

            total = loop(size, fill, total)
        return total

    return {"y": [loop(3, turn, x[1])]}


def made() -> Program:
    return simplify(trace("sums", sums, {"x": 2}, rolled=True))


def test_loops_that_fill_with_zeros_are_known() -> None:
    program = made()
    constants = {x.result: x.value for x in walk(program.body) if isinstance(x, Const)}
    found = [zeros_of(x, constants) for x in walk(program.body) if isinstance(x, Loop)]
    assert sorted(fill.size for fill in filter(None, found)) == list(SIZES)


@pytest.mark.parametrize("real", [Real("double", 1), Real("double", 4), Real("float", 1), Real("float", 8)], ids=str)
def test_zeros_reach_from_the_first_entry_to_the_last(real: Real, rng: np.random.Generator) -> None:
    x = np.round(rng.normal(size=(11, 2)), 1).astype(np.float64 if real.element == "double" else np.float32)
    y = np.zeros((11, 1), x.dtype)
    Loaded(compile_program(made(), real))({"x": x}, {"y": y})
    expected = x[:, 1] + 3 * sum(SIZES) * x[:, 0]
    assert np.allclose(y[:, 0], expected, rtol=1e-4 if real.element == "float" else 1e-12)


def some_entries(x: Any) -> dict[str, Any]:
    """In each turn a few entries are written, in some states, of an array that is zero at first."""
    places = Table("places", np.array([99, 0, 15, 16, 98, 47, 96, 1]))

    def turn(k: Any, total: Any) -> Any:
        cells = array(100)

        def put(j: Any, carry: Any) -> Any:
            place = gather_index(places, j + k)
            do_when(x[0] > 0.0, lambda: cells.__setitem__(place, cells[place] + x[0]))
            return carry

        loop(3, put, 0.0)
        return loop(100, lambda j, carry: carry + cells[j], total)

    return {"y": [loop(6, turn, x[1])]}


@pytest.mark.parametrize("real", [Real("double", 1), Real("double", 8), Real("float", 4)], ids=str)
def test_what_was_written_is_zero_again(real: Real, rng: np.random.Generator) -> None:
    program = simplify(trace("some entries", some_entries, {"x": 2}, rolled=True))
    x = np.round(rng.normal(size=(21, 2)), 1).astype(np.float64 if real.element == "double" else np.float32)
    y = np.zeros((21, 1), x.dtype)
    Loaded(compile_program(program, real))({"x": x}, {"y": y})
    expected = x[:, 1] + 18 * np.maximum(x[:, 0], 0.0)
    assert np.allclose(y[:, 0], expected, rtol=1e-4, atol=1e-4)
