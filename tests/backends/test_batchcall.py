"""Batches straight from Python: the same bits, the same errors, nothing written when something is refused."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bough
from bough.backends.llvm.kernel import LlvmKernel
from bough.kernel import compile

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
def model(monkeypatch: pytest.MonkeyPatch) -> bough.Model:
    """A free body with two arms, on the compiled back-end."""
    monkeypatch.setattr(compile, "_chosen", "llvm")
    builder = bough.Builder("many")
    builder.add("body", bough.Free(), mass=3.0, com=(0.1, 0, 0), inertia=(0.2, 0.3, 0.25))
    for side in "ab":
        builder.add(side, bough.Revolute((1, 2, 3)), "body", at=(0.1, 0.2, 0), mass=1.0, com=(0, 0, 0.2), inertia=0.01)
    return builder.build()


def states(model: bough.Model, dtype: Any = np.float64, batch: int = BATCH) -> list[Any]:
    rng = np.random.default_rng(0)
    q = bough.random(model, rng, size=batch)
    return [x.astype(dtype) for x in (q, *rng.normal(size=(2, batch, model.nv)))]


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each call went straight to machine code."""
    seen: list[bool] = []
    straight = LlvmKernel.many

    def noted(self: LlvmKernel, *arguments: Any) -> Any:
        result = straight(self, *arguments)
        seen.append(result is not None)
        return result

    monkeypatch.setattr(LlvmKernel, "many", noted)
    return seen


@calls
@dtypes
@pytest.mark.parametrize("threads", [1, 2])
def test_same_bits_as_the_long_way(
    model: bough.Model, taken: list[bool], name: str, dtype: Any, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bough.backends.threads._chosen", threads)
    monkeypatch.setattr("bough.backends.threads.LEAST", 16)
    x = states(model, dtype)
    first = CALLS[name](model, *x)
    assert not any(taken)
    for check in (True, False):
        again = CALLS[name](model, *x, check=check)
        assert taken.pop()
        np.testing.assert_array_equal(again, first)
        assert again.dtype == dtype
        assert again.flags.owndata
        out = np.full_like(first, np.nan)
        assert CALLS[name](model, *x, out=out, check=check) is out
        assert taken.pop()
        np.testing.assert_array_equal(out, first)


@calls
def test_what_is_not_plain_goes_the_long_way(model: bough.Model, taken: list[bool], name: str) -> None:
    x = states(model)
    expected = CALLS[name](model, *x)
    taken.clear()
    strided = [np.repeat(a, 2, axis=0)[::2] for a in x]
    swapped = [np.asfortranarray(a) for a in x]
    np.testing.assert_array_equal(CALLS[name](model, *strided), expected)
    np.testing.assert_array_equal(CALLS[name](model, *swapped), expected)
    wide = np.full((*expected.shape, 2), np.nan)
    CALLS[name](model, *x, out=wide[..., 0])
    np.testing.assert_array_equal(wide[..., 0], expected)
    assert not any(taken)


ONE: dict[str, Callable[..., Any]] = {
    "bias forces": lambda m, q, v: bough.bias_forces(m, q, v),
    "external forces": lambda m, q, v: bough.rnea(m, q, v, v, np.ones((3, 6))),
    "placements": lambda m, q, v: bough.placements(m, q),
    "packed jacobian": lambda m, q, v: bough.jacobian_packed(m, q, "b"),
    "factor": lambda m, q, v: bough.factorize(m, q).solve(v),
}


@pytest.mark.parametrize("name", ONE)
def test_one_state_of_any_function(model: bough.Model, taken: list[bool], name: str) -> None:
    q, v, _ = (x[0] for x in states(model))
    first = ONE[name](model, q, v)
    taken.clear()
    np.testing.assert_array_equal(ONE[name](model, q, v), first)
    assert taken
    assert all(taken)
    with pytest.raises(bough.FiniteError):
        ONE[name](model, np.full_like(q, np.nan), v)


def test_a_result_may_overlap_an_argument(model: bough.Model, taken: list[bool]) -> None:
    q, v, a = states(model)
    expected = bough.rnea(model, q, v, a)
    taken.clear()
    np.testing.assert_array_equal(bough.rnea(model, q, v, a, out=a), expected)
    assert not any(taken)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("argument", [0, 1, 2])
def test_refused_numbers_leave_the_result_alone(
    model: bough.Model, argument: int, bad: float, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bough.backends.threads._chosen", threads)
    monkeypatch.setattr("bough.backends.threads.LEAST", 16)
    x = states(model)
    bough.rnea(model, *x)
    x[argument][BATCH - 1, -1] = bad
    out = np.full((BATCH, model.nv), 7.0)
    with pytest.raises(bough.FiniteError, match=rf"\[{BATCH - 1}, "):
        bough.rnea(model, *x, out=out)
    assert (out == 7.0).all()


@dtypes
def test_quaternions_must_be_of_unit_length(model: bough.Model, dtype: Any) -> None:
    x = states(model, dtype)
    bough.rnea(model, *x)
    x[0][5, 3:7] *= 1.01
    out = np.full((BATCH, model.nv), 7.0, dtype)
    with pytest.raises(bough.FiniteError, match="quaternion"):
        bough.rnea(model, *x, out=out)
    assert (out == 7.0).all()


def test_overflow_is_told(model: bough.Model) -> None:
    x = states(model)
    bough.rnea(model, *x)
    x[1][3] = 1e200
    with pytest.raises(bough.FiniteError, match="too large"):
        bough.rnea(model, *x)


@pytest.mark.parametrize("check", [True, False])
def test_singular_states_are_named(monkeypatch: pytest.MonkeyPatch, check: bool) -> None:
    """Two joints about one axis when the one between them is straight: nothing resists their difference."""
    monkeypatch.setattr(compile, "_chosen", "llvm")
    builder = bough.Builder("gimbal")
    for name, axis, parent in (("a", "z", "world"), ("b", "x", "a"), ("c", "z", "b")):
        builder.add(name, bough.Revolute(axis), parent, mass=float(name == "c"), inertia=float(name == "c"))
    model = builder.build()
    q = np.random.default_rng(0).uniform(0.3, 1.0, size=(50, 3))
    v = np.ones((50, 3))
    bough.aba(model, q, v, v)
    q[17, 1] = 0.0
    with pytest.raises(bough.SingularError, match=r"state \[17\]"):
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
    with pytest.raises(bough.ShapeError, match=match):
        bough.rnea(model, *arguments, out=target)


def test_a_read_only_result_is_refused(model: bough.Model) -> None:
    x = states(model)
    out = bough.rnea(model, *x)
    before = out.copy()
    out.setflags(write=False)
    with pytest.raises(bough.ShapeError, match="read-only"):
        bough.rnea(model, *x, out=out)
    np.testing.assert_array_equal(out, before)


def test_nothing_leaks(model: bough.Model) -> None:
    x = states(model)
    out = bough.rnea(model, *x)
    for _ in range(5):
        bough.rnea(model, *x, out=out)
    counts = [sys.getrefcount(a) for a in (*x, out, None)]
    for _ in range(100):
        bough.rnea(model, *x, out=out)
        with pytest.raises(bough.ShapeError):
            bough.rnea(model, x[0], x[1], x[2], out=out[:-1])
    after = [sys.getrefcount(a) for a in (*x, out, None)]
    assert after[:-1] == counts[:-1]
    assert abs(after[-1] - counts[-1]) < 100


@dtypes
@pytest.mark.parametrize("kind", ["ltl", "ltdl", "udut"])
def test_factors(taken: list[bool], kind: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile, "_chosen", "llvm")
    model = bough.topologies.humanoid()
    rng = np.random.default_rng(1)
    M = bough.crba_packed(model, bough.random(model, rng, size=40).astype(dtype))
    b = rng.normal(size=(40, model.nv)).astype(dtype)
    taken.clear()
    rows = np.empty_like(M.values)
    made = getattr(bough, kind)(M, out=rows)
    x, product = made.solve(b), made.mul(b)
    assert taken == [True, True, True]
    assert np.shares_memory(made.packed, rows)
    for k in (0, 39):
        one = getattr(bough, kind)(bough.TreeMatrix(M.values[k], M.tree))
        np.testing.assert_array_equal(one.packed, made.packed[k])
        np.testing.assert_array_equal(one.solve(b[k]), x[k])
        np.testing.assert_array_equal(one.mul(b[k]), product[k])


def test_matrices_that_are_not_positive_definite_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile, "_chosen", "llvm")
    model = bough.topologies.chain(4)
    values = bough.crba_packed(model, bough.random(model, np.random.default_rng(0), size=30)).values.copy()
    bough.ltdl(bough.TreeMatrix(values, model.dof_tree))
    values[11] *= -1
    with pytest.raises(bough.SingularError, match=r"matrix \(11,\): row 4"):
        bough.ltdl(bough.TreeMatrix(values, model.dof_tree))


def test_packed_rows_are_written_where_asked(model: bough.Model, taken: list[bool]) -> None:
    q = states(model)[0]
    expected = bough.crba_packed(model, q).values
    out = np.empty_like(expected)
    made = bough.crba_packed(model, q, out=out)
    assert taken.pop()
    np.testing.assert_array_equal(out, expected)
    assert np.shares_memory(made.values, out)
    assert out.flags.writeable
    assert not made.values.flags.writeable
