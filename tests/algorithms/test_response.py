"""What forces along rows do to the motion of a tree, over plain numbers, beside dense matrices."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import bough
from bough.algorithms.response import tree_response
from bough.kernel.functions import mechanism
from closeness import assert_close
from model_strategies import models, random_state

LAW = 1e-9


@settings(max_examples=15)
@given(models(max_bodies=5), st.integers(0, 2**32 - 1), st.integers(0, 4))
def test_response_is_that_of_the_dense_inverse(model: bough.Model, seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    q, _, _, tau, _ = random_state(model, rng, ())
    J, f, n = rng.normal(size=(count, model.nv)), rng.normal(size=count), model.nv
    response = tree_response(mechanism(model), q.tolist(), J.ravel().tolist(), count)
    half = response.half(tau.tolist())
    inverse = np.linalg.inv(bough.crba(model, q))
    size = float(np.abs(inverse).max() * (1 + np.abs(tau).max(initial=0.0)))
    assert_close(np.array(response.A).reshape(count, count), J @ inverse @ J.T, LAW, axes=2, scale=size)
    assert_close(np.array(response.columns()).reshape(count, n), J @ inverse, LAW, axes=2, scale=size)
    assert_close(np.array(response.drive(half)), J @ inverse @ tau, LAW, scale=size)
    assert_close(np.array(response.free(half)), inverse @ tau, LAW, scale=size)
    assert_close(np.array(response.motion(f.tolist(), half)), inverse @ (tau + J.T @ f), LAW, scale=size)


def test_light_is_a_pivot_small_beside_its_own_diagonal_entry() -> None:
    b = bough.Builder("almost a pendulum")
    b.add("carriage", bough.joints.Prismatic("x"), mass=1e-4, inertia=1e-9)
    b.add("weight", bough.joints.Prismatic("x"), "carriage", mass=100.0, inertia=1.0)
    q = [0.0, 0.0]
    response = tree_response(mechanism(b.build()), q, [], 0)
    assert response.light(1e-3)
    assert not response.light(1e-9)
