"""Batches straight from Python: the same bits, the same errors, nothing written when something is refused."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import bough
from bough.backends.llvm import the_pool

BATCH = 133  # not a multiple of any vector

CALLS: dict[str, Callable[..., Any]] = {
    "rnea": lambda m, q, v, a, **k: bough.rnea(m, q, v, a, **k),
    "aba": lambda m, q, v, a, **k: bough.aba(m, q, v, a, **k),
    "crba": lambda m, q, v, a, **k: bough.crba(m, q, **k),
    "jacobian": lambda m, q, v, a, **k: bough.jacobian(m, q, "b", **k),
    "external forces": lambda m, q, v, a, **k: bough.rnea(m, q, v, a, np.ones((len(q), 3, 6), q.dtype), **k),
}
calls = pytest.mark.parametrize("name", CALLS)
dtypes = pytest.mark.parametrize("dtype", [np.float64, np.float32])


@pytest.fixture
def model(compiled: None) -> bough.Model:
    """A free body with two arms, on the compiled back-end."""
    builder = bough.Builder("many")
    builder.add("body", bough.joints.Free(), mass=3.0, com=(0.1, 0, 0), inertia=(0.2, 0.3, 0.25))
    for side in "ab":
        builder.add(
            side, bough.joints.Revolute((1, 2, 3)), "body", at=(0.1, 0.2, 0), mass=1.0, com=(0, 0, 0.2), inertia=0.01
        )
    return builder.build()


def states(model: bough.Model, dtype: Any = np.float64, batch: int = BATCH) -> list[Any]:
    rng = np.random.default_rng(0)
    q = bough.random(model, rng, size=batch)
    return [x.astype(dtype) for x in (q, *rng.normal(size=(2, batch, model.nv)))]


@pytest.fixture(params=[1, 2, 5])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    """So many threads, for however little work."""
    bough.set_num_threads(request.param)
    the_pool().set_worth(1)
    yield request.param
    bough.set_num_threads(None)
    the_pool().set_worth()


@calls
@dtypes
def test_same_bits_as_one_by_one(
    model: bough.Model, handed_over: list[str], name: str, dtype: Any, threads: int
) -> None:
    x = states(model, dtype)
    first = CALLS[name](model, *x)
    for k in (0, 7, BATCH - 1):
        np.testing.assert_array_equal(CALLS[name](model, *(a[k : k + 1] for a in x))[0], first[k])
    for check in (True, False):
        CALLS[name](model, *x, out=np.empty_like(first), check=check)
        handed_over.clear()
        again = CALLS[name](model, *x, check=check)
        np.testing.assert_array_equal(again, first)
        assert again.dtype == dtype
        assert again.flags.owndata
        out = np.full_like(first, np.nan)
        assert CALLS[name](model, *x, out=out, check=check) is out
        np.testing.assert_array_equal(out, first)
        assert not handed_over or name == "external forces"


@calls
def test_rows_apart_and_batches_of_batches_are_read_where_they_are(
    model: bough.Model, handed_over: list[str], name: str
) -> None:
    x = states(model)
    expected = CALLS[name](model, *x)
    handed_over.clear()
    apart = [np.repeat(a, 2, axis=0)[::2] for a in x]
    beside = [np.concatenate([a, a], axis=1)[:, : a.shape[1]] for a in x]
    for other in (apart, beside):
        np.testing.assert_array_equal(CALLS[name](model, *other), expected)
    if name != "external forces":
        folded = CALLS[name](model, *(a.reshape(7, 19, -1) for a in x))
        np.testing.assert_array_equal(folded.reshape(expected.shape), expected)
        assert not handed_over


def test_arguments_without_batch_axes_are_the_same_for_all_states(model: bough.Model, handed_over: list[str]) -> None:
    q, v, a = states(model)
    expected = bough.rnea(model, np.tile(q[3], (BATCH, 1)), v, np.tile(a[5], (BATCH, 1)))
    handed_over.clear()
    np.testing.assert_array_equal(bough.rnea(model, q[3], v, a[5]), expected)
    assert not handed_over
    np.testing.assert_array_equal(bough.rnea(model, q[3:4], v, a[5:6]), expected)


@calls
def test_other_layouts_give_the_same(model: bough.Model, name: str) -> None:
    x = states(model)
    expected = CALLS[name](model, *x)
    np.testing.assert_array_equal(CALLS[name](model, *(np.asfortranarray(a) for a in x)), expected)
    np.testing.assert_array_equal(CALLS[name](model, *(a[::-1] for a in x))[::-1], expected)
    wide = np.full((*expected.shape, 2), np.nan)
    CALLS[name](model, *x, out=wide[..., 0])
    np.testing.assert_array_equal(wide[..., 0], expected)


ONE: dict[str, Callable[..., Any]] = {
    "bias forces": lambda m, q, v: bough.bias_forces(m, q, v),
    "external forces": lambda m, q, v: bough.rnea(m, q, v, v, np.ones((3, 6))),
    "placements": lambda m, q, v: bough.placements(m, q),
    "packed jacobian": lambda m, q, v: bough.trees.jacobian_packed(m, q, "b"),
    "factor": lambda m, q, v: bough.factorize(m, q).solve(v),
}


@pytest.mark.parametrize("name", ONE)
def test_one_state_of_any_function(model: bough.Model, handed_over: list[str], name: str) -> None:
    q, v, _ = (x[0] for x in states(model))
    first = ONE[name](model, q, v)
    handed_over.clear()
    np.testing.assert_array_equal(ONE[name](model, q, v), first)
    assert not handed_over or name == "external forces"
    with pytest.raises(bough.errors.FiniteError):
        ONE[name](model, np.full_like(q, np.nan), v)


def test_a_result_may_overlap_an_argument(model: bough.Model, threads: int) -> None:
    q, v, a = states(model)
    expected = bough.rnea(model, q, v, a)
    np.testing.assert_array_equal(bough.rnea(model, q, v, a, out=a), expected)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("argument", [0, 1, 2])
def test_refused_numbers_leave_the_result_alone(model: bough.Model, argument: int, bad: float, threads: int) -> None:
    x = states(model)
    bough.rnea(model, *x)
    x[argument][BATCH - 1, -1] = bad
    out = np.full((BATCH, model.nv), 7.0)
    with pytest.raises(bough.errors.FiniteError, match=rf"\[{BATCH - 1}, "):
        bough.rnea(model, *x, out=out)
    assert (out == 7.0).all()


@dtypes
def test_quaternions_must_be_of_unit_length(model: bough.Model, dtype: Any) -> None:
    x = states(model, dtype)
    bough.rnea(model, *x)
    x[0][5, 3:7] *= 1.01
    out = np.full((BATCH, model.nv), 7.0, dtype)
    with pytest.raises(bough.errors.FiniteError, match="quaternion"):
        bough.rnea(model, *x, out=out)
    assert (out == 7.0).all()


def test_overflow_is_told(model: bough.Model) -> None:
    x = states(model)
    bough.rnea(model, *x)
    x[1][3] = 1e200
    with pytest.raises(bough.errors.FiniteError, match="too large"):
        bough.rnea(model, *x)


@pytest.mark.parametrize("check", [True, False])
def test_singular_states_are_named(compiled: None, check: bool) -> None:
    """Two joints about one axis when the one between them is straight: nothing resists their difference."""
    builder = bough.Builder("gimbal")
    for name, axis, parent in (("a", "z", "world"), ("b", "x", "a"), ("c", "z", "b")):
        builder.add(name, bough.joints.Revolute(axis), parent, mass=float(name == "c"), inertia=float(name == "c"))
    model = builder.build()
    q = np.random.default_rng(0).uniform(0.3, 1.0, size=(50, 3))
    v = np.ones((50, 3))
    bough.aba(model, q, v, v)
    q[17, 1] = 0.0
    with pytest.raises(bough.errors.SingularError, match=r"state \[17\]"):
        bough.aba(model, q, v, v, check=check)


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        (lambda x, out: ((x[0][:, :-1], x[1], x[2]), out), "q has shape"),
        (lambda x, out: ((x[0], x[1][:-1], x[2]), out), "broadcast"),
        (lambda x, out: (x, out[:-1]), "out is"),
        (lambda x, out: (x, out.astype(np.float32)), "out is"),
        (lambda x, out: (x, out.tolist()), "out is"),
    ],
)
def test_wrong_shapes_are_told(model: bough.Model, wrong: Any, match: str) -> None:
    x = states(model)
    out = bough.rnea(model, *x)
    arguments, target = wrong(x, out)
    with pytest.raises(bough.errors.ShapeError, match=match):
        bough.rnea(model, *arguments, out=target)


def test_a_read_only_result_is_refused(model: bough.Model) -> None:
    x = states(model)
    out = bough.rnea(model, *x)
    before = out.copy()
    out.setflags(write=False)
    with pytest.raises(bough.errors.ShapeError, match="read-only"):
        bough.rnea(model, *x, out=out)
    np.testing.assert_array_equal(out, before)


def test_nothing_leaks(model: bough.Model) -> None:
    x = states(model)
    out = bough.rnea(model, *x)
    for _ in range(5):
        bough.rnea(model, *x, out=out)
    gc.disable()  # what others have left would go meanwhile
    counts = [sys.getrefcount(a) for a in (*x, out, None)]
    for _ in range(100):
        bough.rnea(model, *x, out=out)
        with pytest.raises(bough.errors.ShapeError):
            bough.rnea(model, x[0], x[1], x[2], out=out[:-1])
    after = [sys.getrefcount(a) for a in (*x, out, None)]
    gc.enable()
    assert after[:-1] == counts[:-1]
    assert abs(after[-1] - counts[-1]) < 100


@dtypes
@pytest.mark.parametrize("kind", ["ltl", "ltdl", "udut", "uut"])
def test_factors(handed_over: list[str], kind: str, dtype: Any, compiled: None) -> None:
    model = bough.trees.topologies.humanoid()
    rng = np.random.default_rng(1)
    M = bough.trees.crba_packed(model, bough.random(model, rng, size=40).astype(dtype))
    b = rng.normal(size=(40, model.nv)).astype(dtype)
    rows = np.empty_like(M.values)
    for _ in range(2):
        handed_over.clear()
        made = getattr(bough.trees, kind)(M, out=rows)
        x, product = made.solve(b), made.mul(b)
    assert not handed_over
    assert np.shares_memory(made.packed, rows)
    for k in (0, 39):
        one = getattr(bough.trees, kind)(bough.trees.TreeMatrix(M.values[k], M.tree))
        np.testing.assert_array_equal(one.packed, made.packed[k])
        np.testing.assert_array_equal(one.solve(b[k]), x[k])
        np.testing.assert_array_equal(one.mul(b[k]), product[k])


def test_matrices_that_are_not_positive_definite_are_refused(compiled: None) -> None:
    model = bough.trees.topologies.chain(4)
    values = bough.trees.crba_packed(model, bough.random(model, np.random.default_rng(0), size=30)).values.copy()
    bough.trees.ltdl(bough.trees.TreeMatrix(values, model.dof_tree))
    values[11] *= -1
    with pytest.raises(bough.errors.SingularError, match=r"matrix \(11,\): row 4"):
        bough.trees.ltdl(bough.trees.TreeMatrix(values, model.dof_tree))


def test_packed_rows_are_written_where_asked(model: bough.Model) -> None:
    q = states(model)[0]
    expected = bough.trees.crba_packed(model, q).values
    out = np.empty_like(expected)
    made = bough.trees.crba_packed(model, q, out=out)
    np.testing.assert_array_equal(out, expected)
    assert np.shares_memory(made.values, out)
    assert out.flags.writeable
    assert not made.values.flags.writeable
