"""Configurations of whole mechanisms: neutral, random, integrate, difference and interpolate through the arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bough
from closeness import assert_close
from joint_contract import Numeric, same_configuration
from model_strategies import JOINTS, models, random_joint


def mechanism(seed: int = 7) -> bough.Model:
    """Every joint type once, on one another and side by side, and a follower."""
    rng = np.random.default_rng(seed)
    b = bough.Builder("all")
    for k, name in enumerate(name for name in JOINTS if name != "fixed"):
        b.add(name, random_joint(name, rng), "world" if k % 3 == 0 else b.build().body_names[-1], mass=1.0, inertia=1.0)
    b.add("follower", bough.joints.Mimic(bough.joints.Prismatic("x"), "revolute", -2.0, 0.5), "revolute", mass=1.0)
    return b.build()


MODEL = mechanism()


def same(q0: Any, q1: Any) -> float:
    """The distance between configurations, where opposite quaternions are the same, and whole turns of some joints."""
    parts = [(entry.joint, MODEL.q_slice(entry.name)) for entry in MODEL.joints]
    return max(same_configuration(joint, q0[..., part], q1[..., part]) for joint, part in parts)


def test_joints_move_independently(rng: np.random.Generator) -> None:
    """What the arrays give is what each joint gives, in its own place."""
    q0, q1 = bough.random(MODEL, rng, 2)
    v = rng.normal(size=MODEL.nv)
    moved, between, neutral = bough.integrate(MODEL, q0, v), bough.difference(MODEL, q0, q1), bough.neutral(MODEL)
    for entry in MODEL.joints[:-1]:
        joint, in_q, in_v = Numeric(entry.joint), MODEL.q_slice(entry.name), MODEL.v_slice(entry.name)
        assert np.allclose(moved[in_q], joint.integrate(q0[in_q], v[in_v]), rtol=0, atol=1e-15)
        expected = joint.difference(q0[in_q], q1[in_q])
        for k in entry.joint.circles:
            expected[k] -= 2 * np.pi * round(expected[k] / (2 * np.pi))
        assert np.allclose(between[in_v], expected, rtol=0, atol=1e-14)
        assert neutral[in_q].tolist() == list(entry.joint.neutral())
    assert (moved.shape, between.shape, neutral.shape) == ((MODEL.nq,), (MODEL.nv,), (MODEL.nq,))


def test_in_the_neutral_configuration_frames_are_where_the_joints_are() -> None:
    """But for the follower, which is where its law says."""
    X = bough.placements(MODEL, bough.neutral(MODEL))
    assert np.allclose(X[:-1], np.eye(4), rtol=0, atol=1e-15)
    assert np.allclose(X[-1, :3, 3], [0.5, 0, 0], rtol=0, atol=1e-15)


def test_the_ends_and_the_middle_of_a_way(rng: np.random.Generator) -> None:
    q0, q1 = bough.random(MODEL, rng, (2, 20))
    v = bough.difference(MODEL, q0, q1)
    at = [bough.interpolate(MODEL, q0, q1, t) for t in (0.0, 0.25, 0.5, 1.0, 2.0)]
    assert same(q0, at[0]) < 1e-15
    assert same(q1, at[3]) < 1e-13
    for q, part in zip(at[:3], (0.0, 0.25, 0.5), strict=True):
        assert_close(bough.difference(MODEL, q0, q), part * v, 1e-13, scale=1.0)
        assert_close(bough.difference(MODEL, q, q1), (1 - part) * v, 1e-13, scale=1.0)
    assert same(bough.integrate(MODEL, q1, v), at[4]) < 1e-13  # and on, as far again
    assert same(bough.interpolate(MODEL, q1, q0, 0.75), at[1]) < 1e-13  # the same way back


def test_opposite_quaternions_are_no_distance_apart(rng: np.random.Generator) -> None:
    q = bough.random(MODEL, rng)
    other = q.copy()
    for name, first in (("spherical", 0), ("free", 3)):
        start = MODEL.q_slice(name).start + first
        other[start : start + 4] *= -1
    assert np.abs(bough.difference(MODEL, q, other)).max() < 1e-15
    assert np.allclose(bough.placements(MODEL, q), bough.placements(MODEL, other), rtol=0, atol=1e-15)


def test_random_obeys_the_limits_of_the_model(rng: np.random.Generator) -> None:
    b = bough.Builder()
    b.add("a", bough.joints.Revolute("x"), lower=0.5, upper=0.7)
    b.add("b", bough.joints.Mimic(bough.joints.Revolute("x"), "a", 10.0), lower=-1, upper=1)  # whose limits are no law
    b.add("c", bough.joints.Universal(), lower=(2.0, -3.0), upper=(2.5, -2.5))
    b.add("d", bough.joints.Free(), lower=[1, 2, 3] + [-np.inf] * 4, upper=[1.5, 2.5, 3.5] + [np.inf] * 4)
    m = b.build()
    q = bough.random(m, rng, 200)
    lower, upper = m.limits("lower"), m.limits("upper")
    assert ((lower <= q) & (q <= upper)).all()
    bounded = np.isfinite(lower)
    spread = q.max(axis=0) - q.min(axis=0)
    assert (spread[bounded] > 0.9 * (upper - lower)[bounded]).all()
    bough.placements(m, q)  # every quaternion is of unit length


@settings(max_examples=15)
@given(models(max_bodies=4), st.integers(0, 2**32 - 1))
def test_laws_on_random_mechanisms(model: bough.Model, seed: int) -> None:
    rng = np.random.default_rng(seed)
    q = bough.random(model, rng)
    v = rng.uniform(-1, 1, size=model.nv)
    assert_close(bough.difference(model, q, bough.integrate(model, q, v)), v, 1e-13, scale=1.0)
    assert np.abs(bough.difference(model, q, bough.integrate(model, q, np.zeros(model.nv)))).max(initial=0.0) < 1e-15


@pytest.mark.parametrize("exponent", [-300, -30, -8, -4])
def test_tiny_steps_through_the_arrays(exponent: int, rng: np.random.Generator) -> None:
    q, v = bough.neutral(MODEL), rng.normal(size=MODEL.nv) * 10.0**exponent
    assert np.allclose(bough.difference(MODEL, q, bough.integrate(MODEL, q, v)), v, rtol=1e-14, atol=0)
