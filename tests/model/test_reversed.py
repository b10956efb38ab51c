"""Joints turned round, and planes with any normal: the contract, and what turning round means."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import bough
from bough.model.joints.contract import is_from_outside
from bough.model.joints.reversed import Reversed, reverse
from joint_contract import Numeric, rate, subspace_along
from model_strategies import JOINTS, random_axis, random_joint

TYPES = [name for name in JOINTS if name != "fixed"]


@pytest.mark.parametrize("name", JOINTS)
def test_the_transform_is_the_inverse(name: str, rng: np.random.Generator) -> None:
    for _ in range(5):
        joint = random_joint(name, rng)
        there, back = Numeric(joint), Numeric(reverse(joint))
        q = there.random(rng)
        (R, p), (S, s) = there.placement(q), back.placement(q)
        assert np.allclose(R @ S, np.eye(3), atol=1e-15)
        assert np.allclose(R @ s + p, 0.0, atol=1e-15)


@pytest.mark.parametrize("name", JOINTS)
def test_turning_twice_is_nothing(name: str, rng: np.random.Generator) -> None:
    joint = random_joint(name, rng)
    assert reverse(reverse(joint)) == joint


def contract_holds(joint: Numeric, rng: np.random.Generator) -> None:
    q, v = joint.random(rng), rng.normal(size=joint.joint.nv)
    assert np.allclose(joint.velocity_by_differences(q, v), joint.subspace(q) @ v, rtol=0, atol=1e-10)
    assert np.allclose(joint.subspace_rate(q, v), rate(partial(subspace_along, joint, q, v)), rtol=0, atol=1e-10)
    assert np.allclose(joint.difference(q, joint.integrate(q, 0.1 * v)), 0.1 * v, rtol=0, atol=1e-14)
    R, p = joint.placement(joint.joint.neutral())
    assert np.allclose(R, np.eye(3), rtol=0, atol=4e-15)  # random axes are perpendicular to a few units of rounding
    assert not p.any()


@pytest.mark.parametrize("name", TYPES)
def test_contract_of_joints_turned_round(name: str, rng: np.random.Generator) -> None:
    for _ in range(5):
        contract_holds(Numeric(reverse(random_joint(name, rng))), rng)
        contract_holds(Numeric(Reversed(random_joint(name, rng))), rng)


def test_planes_with_any_normal(rng: np.random.Generator) -> None:
    assert np.array_equal(bough.joints.Planar().alignment, np.eye(3))
    for _ in range(5):
        joint = Numeric(bough.joints.Planar(random_axis(rng)))
        contract_holds(joint, rng)
        R, p = joint.placement(joint.random(rng))
        normal = np.array(joint.joint.axis)
        assert np.allclose(R @ normal, normal, atol=1e-15)
        assert abs(normal @ p) < 1e-15
    with pytest.raises(bough.errors.ModelError, match="normal of a planar joint"):
        bough.joints.Planar((0, 0, 0))


def test_a_joint_from_outside_stays_one_when_turned_round() -> None:
    class Own(bough.joints.Spherical):
        pass

    assert is_from_outside(Reversed(Own()))
    assert not is_from_outside(Reversed(bough.joints.Spherical()))


def test_no_other_library_has_them() -> None:
    builder = bough.Builder()
    builder.add("ball", Reversed(bough.joints.Spherical()), mass=1.0, inertia=1.0)
    model = builder.build()
    with pytest.raises(bough.errors.ModelError, match="turned round"):
        bough.convert.states_to_mujoco(model, bough.neutral(model))
