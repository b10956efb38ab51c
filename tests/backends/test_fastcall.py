"""Calls for one state straight from Python: the same bits, the same errors, nothing leaked."""

from __future__ import annotations

import gc
import pickle
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import bough
from bough.backends import Plain
from bough.backends.llvm import Real, compile_program
from bough.backends.llvm.arrays import layout
from bough.errors import ProgramError
from bough.kernel import compile
from bough.program import trace

CALLS: dict[str, Callable[..., Any]] = {
    "rnea": bough.rnea,
    "aba": bough.aba,
    "forward dynamics": bough.forward_dynamics,
    "crba": lambda model, q, v, a: bough.crba(model, q),
    "jacobian": lambda model, q, v, a: bough.jacobian(model, q, "b", "WORLD"),
}
calls = pytest.mark.parametrize("name", CALLS)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> bough.Model:
    """A free body with two arms, on the compiled back-end."""
    monkeypatch.setattr(compile, "_chosen", "llvm")
    builder = bough.Builder("fast")
    builder.add("body", bough.Free(), mass=3.0, com=(0.1, 0, 0), inertia=(0.2, 0.3, 0.25))
    for side in "ab":
        builder.add(side, bough.Revolute((1, 2, 3)), "body", at=(0.1, 0.2, 0), mass=1.0, com=(0, 0, 0.2), inertia=0.01)
    return builder.build()


def state(model: bough.Model) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    return bough.random(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)


def test_this_interpreter_has_them() -> None:
    assert layout() is not None


@calls
def test_same_bits_as_the_long_way(model: bough.Model, name: str) -> None:
    x = state(model)
    first = CALLS[name](model, *x)
    kept = [key for key, value in model.calls.items() if callable(value)]
    assert len(kept) == 1
    second = CALLS[name](model, *x)
    np.testing.assert_array_equal(second, first)
    assert second is not first
    assert second.flags.owndata
    assert second.flags.writeable
    for other in ([a.tolist() for a in x], [np.repeat(a, 2)[::2] for a in x], [a.astype(">f8") for a in x]):
        np.testing.assert_array_equal(CALLS[name](model, *other), first)
    batch = CALLS[name](model, *(np.stack([a] * 20) for a in x))
    np.testing.assert_array_equal(batch[13], first)
    assert CALLS[name](model, *(a.astype(np.float32) for a in x)).dtype == np.float32


@calls
def test_same_errors_as_the_long_way(model: bough.Model, name: str) -> None:
    q, v, a = state(model)
    CALLS[name](model, q, v, a)
    bad = q.copy()
    bad[7] = np.nan
    with pytest.raises(bough.FiniteError, match=r"q\[7\] is nan"):
        CALLS[name](model, bad, v, a)
    with pytest.raises(bough.FiniteError, match="quaternion"):
        CALLS[name](model, q * 1.01, v, a)
    with pytest.raises(bough.ShapeError, match=r"q has shape \(8,\)"):
        CALLS[name](model, q[:-1], v, a)
    if name not in ("crba", "jacobian"):
        with pytest.raises(bough.FiniteError, match=r"v\[0\] is inf"):
            CALLS[name](model, q, np.full_like(v, np.inf), a)
        with pytest.raises(bough.FiniteError, match="not finite"):
            CALLS[name](model, q, np.full_like(v, 1e200), a)
    with pytest.raises(TypeError):
        next(iter(model.calls.values()))(q=q)


def test_jacobians_of_different_frames_are_told_apart(model: bough.Model) -> None:
    q, v, _ = state(model)
    for _ in range(2):
        for frame in ("a", "b"):
            for reference in ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"):
                expected = bough.velocities(model, q, v, frame, reference)
                np.testing.assert_allclose(bough.jacobian(model, q, frame, reference) @ v, expected, atol=1e-13)


def test_a_joint_that_moves_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile, "_chosen", "llvm")
    builder = bough.Builder()
    builder.add("arm", bough.Revolute("z"))  # without inertia of its own, on which a point can swing
    builder.add("point", bough.Revolute("z"), "arm", at=(1, 0, 0), mass=1.0, com=(1, 0, 0))
    model = builder.build()
    for _ in range(2):
        assert np.isfinite(bough.aba(model, np.array([0.0, 1.0]), np.zeros(2), np.ones(2))).all()
    with pytest.raises(bough.SingularError, match="arm"):  # stretched out, both joints move the point alike
        bough.aba(model, np.array([0.0, 0.0]), np.zeros(2), np.ones(2))


def test_nothing_is_leaked(model: bough.Model) -> None:
    x = state(model)
    bough.rnea(model, *x)
    bad = (np.full_like(x[0], np.nan), x[1], x[2])
    fast = model.calls["rnea"]
    arrays = [sys.getrefcount(a) for a in x]
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(5000):
        assert fast(*x) is not None
        assert fast(*bad) is None
        assert fast(1, 2, 3) is None
    gc.collect()
    assert len(gc.get_objects()) <= before + 10
    assert [sys.getrefcount(a) for a in x] == arrays


def test_threads_do_not_disturb_each_other(model: bough.Model) -> None:
    rng = np.random.default_rng(1)
    states = [(bough.random(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)) for _ in range(40)]
    expected = [bough.aba(model, *x) for x in states]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            for got, right in zip(pool.map(lambda x: bough.aba(model, *x), states), expected, strict=True):
                np.testing.assert_array_equal(got, right)


def test_models_travel_without_their_calls(model: bough.Model) -> None:
    x = state(model)
    first = bough.rnea(model, *x)
    again = pickle.loads(pickle.dumps(model))
    assert again == model
    assert not again.calls
    np.testing.assert_array_equal(bough.rnea(again, *x), first)


def test_another_back_end_forgets_them(model: bough.Model) -> None:
    bough.rnea(model, *state(model))
    assert model.calls
    bough.set_backend("reference")
    assert not model.calls
    bough.rnea(model, *state(model))
    assert not model.calls


def test_calls_with_arrays_of_other_sizes_are_not_compiled() -> None:
    """They would write beyond the end of the result."""
    program = trace("f", lambda x: {"y": [x[0], x[1]]}, {"x": 2})
    with pytest.raises(ProgramError, match=r"calls of 'f' take arrays of \[2, 1\] numbers, expected \[2, 2\]"):
        compile_program(program, Real("double", 1), Plain(((2,), (1,))))
