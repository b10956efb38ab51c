"""Models handed to other libraries for measuring are the same mechanisms there."""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import bough
from bough.cli.rivals import depth_first, in_mujoco, in_pinocchio


def mixed() -> bough.Model:
    b = bough.Builder("mixed", gravity=(0.3, -0.2, -9.0))
    body = {"mass": 1.5, "com": (0.1, -0.05, 0.02), "inertia": (0.02, 0.03, 0.04)}
    b.add("base", bough.joints.Free(), **body)
    b.add("arm", bough.joints.Revolute((1, 2, 3)), "base", at=(0.1, 0.2, 0.3), rpy=(0.1, 0.2, 0.3), **body)
    b.add("slide", bough.joints.Prismatic("-x"), "arm", at=(0.3, 0, 0), **body)
    b.add("wheel", bough.joints.Revolute("y", continuous=True), "base", at=(0, 0.5, 0), **body)
    b.add("ball", bough.joints.Spherical(), "wheel", rpy=(0.5, 0, 0), **body)
    b.add("skew", bough.joints.Prismatic((0, 1, 1)), "base", **body)
    return b.build()


@pytest.mark.parametrize("model", [mixed(), bough.trees.topologies.humanoid()], ids=lambda m: m.name)
def test_pinocchio_has_the_same_inverse_dynamics(model: bough.Model, rng: np.random.Generator) -> None:
    q, (v, a) = bough.random(model, rng), rng.normal(size=(2, model.nv))
    theirs = in_pinocchio(model)
    tau = pin.rnea(theirs, theirs.createData(), bough.convert.states_to_pinocchio(model, q), v, a)
    assert np.allclose(tau, bough.rnea(model, q, v, a), rtol=1e-10, atol=1e-9)


def test_pinocchio_gets_bodies_depth_first(rng: np.random.Generator) -> None:
    model = bough.trees.topologies.balanced_tree(4)  # numbered level by level
    order = np.array(depth_first(model.tree)) - 1
    assert sorted(order) == list(range(model.nbodies))
    q, v, a = rng.normal(size=(3, model.nv))
    theirs = in_pinocchio(model)
    M = pin.crba(theirs, theirs.createData(), q[order])
    assert np.allclose(M, bough.crba(model, q)[np.ix_(order, order)], rtol=1e-10, atol=1e-12)
    tau = pin.rnea(theirs, theirs.createData(), q[order], v[order], a[order])
    assert np.allclose(tau, bough.rnea(model, q, v, a)[order], rtol=1e-10, atol=1e-9)


def test_mujoco_has_the_same_mass_matrix(rng: np.random.Generator) -> None:
    model = bough.trees.topologies.balanced_tree(4)
    order = np.array(depth_first(model.tree)) - 1
    q = rng.normal(size=model.nv)
    theirs = in_mujoco(model)
    data = mujoco.MjData(theirs)
    data.qpos[:] = q[order]
    mujoco.mj_forward(theirs, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(theirs, data, M)
    assert np.allclose(M, bough.crba(model, q)[np.ix_(order, order)], rtol=1e-6, atol=1e-6)


def test_mujoco_takes_all_joints_it_has() -> None:
    theirs = in_mujoco(mixed())
    assert (theirs.nq, theirs.nv) == (15, 13)
    assert theirs.opt.gravity.tolist() == [0.3, -0.2, -9.0]


@pytest.mark.parametrize("convert", [in_pinocchio, in_mujoco])
def test_other_joints_are_refused_by_name(convert: object) -> None:
    b = bough.Builder("screw")
    b.add("nut", bough.joints.Helical("z", 0.1), mass=1.0)
    with pytest.raises(bough.errors.ModelError, match="'nut'"):
        convert(b.build())  # type: ignore[operator]
