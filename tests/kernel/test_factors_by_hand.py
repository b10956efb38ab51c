"""Factors that users make from their own arrays: checked before any machine code sees them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import bough

TREE = bough.trees.Tree((0, 1, 1, 2))
SYSTEM = bough.maximal.System(bodies=(3, 3, 3), constraints=((0, 1, 2), (1, 2, 1), (2, 3, 3)))


def factor(rng: np.random.Generator) -> bough.trees.Factor:
    A = rng.normal(size=(4, 4))
    L = np.tril(A) * (np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 1]]) != 0) + 4 * np.eye(4)
    return bough.trees.ltdl(L.T @ L, TREE)


def system_factor(rng: np.random.Generator) -> bough.maximal.SystemFactor:
    mass = np.concatenate([(B @ B.T + np.eye(3)).ravel() for B in rng.normal(size=(3, 3, 3))])
    return bough.maximal.ldlt(SYSTEM, mass, rng.normal(size=SYSTEM.jacobian_size))


def remake(made: Any, packed: Any) -> Any:
    """The same factor from other numbers."""
    if isinstance(made, bough.trees.Factor):
        return bough.trees.Factor(made.kind, packed, made.tree)
    return bough.maximal.SystemFactor(made.system, packed)


MAKERS = [factor, system_factor]

BAD: dict[str, Any] = {
    "objects": lambda a: a.astype(object),
    "complex numbers": lambda a: a.astype(complex),
    "strings": lambda a: a.astype(str),
    "truth values": lambda a: a > 0,
    "times": lambda a: a.astype("m8[s]"),
    "a structure": lambda a: np.zeros(a.size, dtype=[("x", float)]),
    "None": lambda a: None,
    "a string": lambda a: "packed",
    "a ragged list": lambda a: [[1.0], [1.0, 2.0]],
    "too few": lambda a: a[:-1],
    "too many": lambda a: np.append(a, 1.0),
    "a number": lambda a: 1.0,
    "a column": lambda a: a[:, np.newaxis],
    "nothing": lambda a: np.empty(0),
    "an object of no kind": lambda a: object(),
}


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("bad", BAD)
def test_bad_arrays_are_refused(make: Any, bad: str, rng: np.random.Generator) -> None:
    made = make(rng)
    with pytest.raises(bough.errors.ShapeError, match="packed"):
        remake(made, BAD[bad](made.packed))


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none_are_refused(make: Any, bad: float, rng: np.random.Generator) -> None:
    packed = make(rng).packed.copy()
    packed[3] = bad
    with pytest.raises(bough.errors.FiniteError, match=r"packed\[3\] is"):
        remake(make(rng), packed)


ALIKE: dict[str, Any] = {
    "as it is": lambda a: a,
    "a list": lambda a: a.tolist(),
    "every second of twice as many": lambda a: np.repeat(a, 2)[::2],
    "backwards": lambda a: a[::-1].copy()[::-1],
    "of other byte order": lambda a: a.astype(">f8"),
    "long": lambda a: a.astype(np.longdouble).astype(float),
    "off the bounds of words": lambda a: np.frombuffer(b"x" + a.tobytes(), dtype=np.uint8)[1:].view(np.float64),
}


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("layout", ALIKE)
def test_layouts_do_not_matter(make: Any, layout: str, rng: np.random.Generator) -> None:
    made = make(rng)
    other = remake(made, ALIKE[layout](made.packed))
    b = rng.normal(size=4 if isinstance(made, bough.trees.Factor) else SYSTEM.nv + SYSTEM.nc)
    for right in (b, b[:, np.newaxis] * [1.0, 2.0], b):
        assert np.array_equal(other.solve(right), made.solve(right))


@pytest.mark.parametrize("make", MAKERS)
def test_batches_and_single_precision(make: Any, rng: np.random.Generator) -> None:
    made = make(rng)
    n = 4 if isinstance(made, bough.trees.Factor) else SYSTEM.nv + SYSTEM.nc
    b = rng.normal(size=(2, 3, n))
    many = remake(made, np.broadcast_to(made.packed, (2, 3, made.packed.size)))
    assert many.batch == (2, 3)
    assert np.array_equal(many.solve(b)[1, 2], made.solve(b[1, 2]))
    single = remake(made, made.packed.astype(np.float32))
    got = single.solve(b[0, 0].astype(np.float32))
    assert got.dtype == np.float32
    assert np.allclose(got, made.solve(b[0, 0]), rtol=0, atol=1e-3)


@pytest.mark.parametrize("make", MAKERS)
def test_the_array_given_stays_the_callers(make: Any, rng: np.random.Generator) -> None:
    made = make(rng)
    packed = made.packed.copy()
    other = remake(made, packed)
    packed[:] = 0.0  # still writable
    assert np.array_equal(other.packed, made.packed)
    with pytest.raises(ValueError, match="read-only"):
        other.packed[0] = 1.0
    assert np.array_equal(pickle.loads(pickle.dumps(made)).packed, made.packed)


@pytest.mark.parametrize("make", MAKERS)
def test_pivots_of_zero_give_no_numbers_that_are_none(make: Any, rng: np.random.Generator) -> None:
    made = make(rng)
    n = 4 if isinstance(made, bough.trees.Factor) else SYSTEM.nv + SYSTEM.nc
    with pytest.raises(bough.errors.FiniteError):
        remake(made, np.zeros_like(made.packed)).solve(np.ones(n))


def test_kinds_trees_and_systems_are_checked(rng: np.random.Generator) -> None:
    packed = factor(rng).packed
    with pytest.raises(
        bough.errors.UnknownNameError,
        match="no kind of factor is called 'lu'; valid names: 'ltdl', 'ltl', 'udut', 'uut'",
    ):
        bough.trees.Factor("lu", packed, TREE)  # type: ignore[arg-type]
    with pytest.raises(bough.errors.UnknownNameError, match="no kind of factor is called None"):
        bough.trees.Factor(None, packed, TREE)  # type: ignore[arg-type]
    with pytest.raises(bough.errors.UnknownNameError, match=r"no kind of factor is called \[\]"):
        bough.trees.Factor([], packed, TREE)  # type: ignore[arg-type]
    for tree in (None, "tree", 3, (5, 5), object()):
        with pytest.raises(bough.errors.TreeError):
            bough.trees.Factor("ltdl", packed, tree)  # type: ignore[arg-type]
    assert bough.trees.Factor("ltdl", packed, (0, 1, 1, 2)).tree == TREE  # type: ignore[arg-type]
    for system in (None, "system", TREE, object()):
        with pytest.raises(bough.errors.ModelError, match="expected a bough"):
            bough.maximal.SystemFactor(system, packed)  # type: ignore[arg-type]
