"""Quaternions of configurations made of unit length."""

from __future__ import annotations

import numpy as np
import pytest

import bough


def mechanism() -> bough.Model:
    """A body that floats, an arm on it, and a ball at the end."""
    b = bough.Builder()
    b.add("trunk", bough.joints.Free(), joint_name="float", mass=1.0, inertia=1.0)
    b.add("arm", bough.joints.Revolute("z", continuous=True), "trunk", mass=1.0, inertia=1.0)
    b.add("tool", bough.joints.Mimic(bough.joints.Revolute("x"), "arm"), "arm", mass=1.0, inertia=1.0)
    b.add("ball", bough.joints.Spherical(), "tool", joint_name="wrist", mass=1.0, inertia=1.0)
    return b.build()


MODEL = mechanism()
QUATERNIONS = (slice(3, 7), slice(8, 12))


@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1e-160, 1e-3, 1.0, 7.0, 1e160, 1e308])
def test_directions_stay_and_lengths_become_one(scale: float, rng: np.random.Generator) -> None:
    q = bough.random(MODEL, rng, (2, 3))
    q[..., 7] = 100.0  # an angle of several turns
    given = q.copy()
    for part in QUATERNIONS:
        given[..., part] *= scale
    kept = given.copy()
    got = bough.normalize(MODEL, given)
    assert np.array_equal(given, kept), "the argument was written to"
    assert np.allclose(got, q, rtol=0, atol=1e-15 if scale > 1e-305 else 1e-3)
    for part in QUATERNIONS:
        assert np.allclose(np.linalg.norm(got[..., part], axis=-1), 1.0, rtol=0, atol=4e-16)
    others = [0, 1, 2, 7]
    assert np.array_equal(got[..., others], given[..., others])
    bough.placements(MODEL, got)  # which checks lengths


def test_unit_quaternions_move_by_rounding_alone(rng: np.random.Generator) -> None:
    q = bough.normalize(MODEL, bough.random(MODEL, rng, 100))
    assert np.abs(bough.normalize(MODEL, q) - q).max() <= 2.3e-16


def test_a_configuration_with_few_digits_is_accepted_afterwards(rng: np.random.Generator) -> None:
    q = np.round(bough.random(MODEL, rng), 4)
    with pytest.raises(bough.errors.FiniteError, match="has length"):
        bough.placements(MODEL, q)
    bough.placements(MODEL, bough.normalize(MODEL, q))


def test_shapes_types_and_out(rng: np.random.Generator) -> None:
    q = 2.0 * bough.random(MODEL, rng, (4, 2))
    expected = bough.normalize(MODEL, q)
    assert np.array_equal(bough.normalize(MODEL, q[1, 1]), expected[1, 1])
    assert np.array_equal(bough.normalize(MODEL, np.asfortranarray(q)), expected)
    assert np.array_equal(bough.normalize(MODEL, q.tolist()), expected)
    assert bough.normalize(MODEL, q[:0]).shape == (0, 2, MODEL.nq)
    single = bough.normalize(MODEL, q.astype(np.float32))
    assert single.dtype == np.float32
    assert np.allclose(single, expected, rtol=0, atol=1e-6)
    out = np.empty_like(q)
    assert bough.normalize(MODEL, q, out=out) is out
    assert np.array_equal(out, expected)
    assert bough.normalize(MODEL, q, out=q) is q
    assert np.array_equal(q, expected)
    integers = np.zeros(MODEL.nq, dtype=int)
    integers[[6, 11]] = 5
    assert np.array_equal(bough.normalize(MODEL, integers), bough.neutral(MODEL))


def test_what_cannot_be_mended_is_refused_by_name(rng: np.random.Generator) -> None:
    q = bough.random(MODEL, rng, (2, 3))
    q[1, 2, 8:12] = 0.0
    out = np.full_like(q, 5.0)
    with pytest.raises(
        bough.errors.FiniteError, match=r"joint 'wrist': the quaternion q\[\.\.\., 8:12\] is zero in state \[1, 2\]"
    ):
        bough.normalize(MODEL, q, out=out)
    assert (out == 5.0).all()
    with pytest.raises(
        bough.errors.FiniteError, match=r"joint 'wrist': the quaternion q\[\.\.\., 8:12\] is zero, expected"
    ):
        bough.normalize(MODEL, q[1, 2])
    q[0, 0, 3] = np.nan
    with pytest.raises(bough.errors.FiniteError, match=r"q\[0, 0, 3\] is nan"):
        bough.normalize(MODEL, q)
    with pytest.raises(bough.errors.ShapeError, match=r"q has shape \(5,\)"):
        bough.normalize(MODEL, np.ones(5))
    with pytest.raises(bough.errors.ShapeError, match="q has data type complex128"):
        bough.normalize(MODEL, np.ones(MODEL.nq, dtype=complex))
    with pytest.raises(bough.errors.ModelError, match="the model is None, expected"):
        bough.normalize(None, np.ones(5))  # type: ignore[arg-type]
    with pytest.raises(bough.errors.ShapeError, match="out is"):
        bough.normalize(MODEL, bough.neutral(MODEL), out=np.empty(3))
