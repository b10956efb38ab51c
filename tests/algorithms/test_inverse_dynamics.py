"""Inverse dynamics with loops: forward dynamics under the forces found gives the motion back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bough
from closeness import assert_close
from mechanisms import closed, parallelogram, random_loops
from model_strategies import random_model, random_state

DRIVES = {
    "four-bar": ["crank"],
    "five-bar": ["left upper", "right upper"],
    "slider-crank": ["crank"],
    "Stewart platform": [f"piston {k}" for k in range(6)],
}


def moving(name: str, rng: np.random.Generator, states: int) -> tuple[bough.Model, Any, Any, Any]:
    """A mechanism with accelerations that its loops allow."""
    model, q, v = closed(name)
    a = bough.forward_dynamics(model, q, v, rng.normal(size=(states, model.nv)))
    return model, q, v, a


@pytest.mark.parametrize("name", DRIVES)
def test_forward_dynamics_gives_the_motion_back(name: str, rng: np.random.Generator) -> None:
    model, q, v, a = moving(name, rng, 5)
    f_ext = rng.normal(size=(model.nbodies, 6))
    for drives in (DRIVES[name], None):
        tau = bough.inverse_dynamics(model, q, v, a, f_ext, drives=drives)
        assert_close(bough.forward_dynamics(model, q, v, tau, f_ext), a, 1e-9)
    undriven = np.ones(model.nv, bool)
    for joint in DRIVES[name]:
        undriven[model.v_slice(joint)] = False
    tau = bough.inverse_dynamics(model, q, v, a, f_ext, drives=DRIVES[name])
    assert undriven.any()
    assert not tau[:, undriven].any()


@pytest.mark.parametrize("name", DRIVES)
def test_forces_are_the_smallest(name: str, rng: np.random.Generator) -> None:
    """With every joint driven: what loops could do as well is no part of them."""
    model, q, v, a = moving(name, rng, 3)
    tau = bough.inverse_dynamics(model, q, v, a)
    L = bough.loops.jacobian(model, q)
    _, sigma, Vt = np.linalg.svd(L)
    held = Vt[: bough.loops.rank(model, q)]
    assert sigma[len(held) - 1] > 1e-6
    size = np.abs(bough.rnea(model, q, v, a)).max()
    assert np.abs(tau @ held.T).max() < 1e-9 * size
    few = bough.inverse_dynamics(model, q, v, a, drives=DRIVES[name])
    assert (np.linalg.norm(tau, axis=-1) <= np.linalg.norm(few, axis=-1) * (1 + 1e-12)).all()


def test_legs_of_a_platform_at_rest_carry_its_weight() -> None:
    model, q, _ = closed("Stewart platform")
    none = np.zeros(model.nv)
    found = bough.inverse_dynamics(model, q, none, none, drives=DRIVES["Stewart platform"], full=True)
    assert found.conflicts == ()
    assert found.residual < 1e-9
    motion = bough.forward_dynamics(model, q, none, found.tau, full=True)
    assert_close(motion.motion, none, 1e-9, scale=9.81)
    # every leg pushes along its axis, and gets the rest from the ground: together it is all weight there is
    through = bough.loops.reactions(model, q, none, none, motion.loop_forces).joints
    feet = [k for k, parent in enumerate(model.tree.parents) if parent == 0 and model.joint_names[k] != "plate"]
    turned = bough.placements(model, q)[feet, :3, :3]
    weight = 9.81 * sum(body.inertia.mass for body in model.bodies)
    total = np.einsum("kij,kj->i", turned, through[feet, :3])
    assert np.allclose(total, [0.0, 0.0, weight], atol=1e-9 * weight)


@pytest.mark.parametrize("kind", ["revolute", "cylindrical", "prismatic", "universal", "spherical"])
def test_drives_on_joints_that_close_loops(kind: str) -> None:
    """A cut joint and the others together: the drives that are found move it as it should."""
    rng = np.random.default_rng([*kind.encode()])
    model, q = random_loops(rng, [kind, "revolute"], 6)
    v = bough.loops.consistent_velocity(model, q, rng.normal(size=model.nv))
    a = bough.forward_dynamics(model, q, v, rng.normal(size=model.nv))
    drives = [loop.name for loop in model.loops] + list(model.joint_names[2:])
    found = bough.inverse_dynamics(model, q, v, a, drives=drives, full=True)
    back = bough.forward_dynamics(model, q, v, found.tau, loop_tau=found.loop_tau)
    if found.conflicts:
        assert found.residual > 1e-9
    else:
        assert_close(back, a, 1e-9)
    everywhere = bough.inverse_dynamics(
        model, q, v, a, drives=[*model.joint_names, *(loop.name for loop in model.loops)], full=True
    )
    assert everywhere.conflicts == ()
    back = bough.forward_dynamics(model, q, v, everywhere.tau, loop_tau=everywhere.loop_tau)
    assert_close(back, a, 1e-9)


def test_a_cut_joint_needs_the_force_it_needs_in_the_tree() -> None:
    """The crank of a four-bar driven, on the tree where it is a joint and on that where it closes the loop."""
    model, q, v = closed("four-bar")
    a = bough.forward_dynamics(model, q, v, [0.3, 0.0, 0.0])
    tau = bough.inverse_dynamics(model, q, v, a, drives="crank")
    assert np.isclose(tau[0], 0.3)
    other = model.respanned("crank")
    # hinges have one number in q, v and a each; angles in a plane add up, so B is constant
    values = {name: tuple(x[model.q_slice(name)] for x in (q, v, a)) for name in model.joint_names}
    B = bough.loops.coordinate_jacobian(model, q)
    values["pin"] = (bough.loops.coordinates(model, q), B @ v, B @ a)
    there = [np.concatenate([values[name][k] for name in other.joint_names]) for k in range(3)]
    found = bough.inverse_dynamics(other, *there, drives=["crank"], full=True)
    assert found.conflicts == ()
    assert np.isclose(found.loop_tau[0], 0.3)
    assert not found.tau.any()


def test_without_loops_it_is_the_newton_euler_algorithm(rng: np.random.Generator) -> None:
    model = random_model(rng, 5)
    q, v, a, _, f_ext = random_state(model, rng, (4,))
    assert np.array_equal(bough.inverse_dynamics(model, q, v, a, f_ext), bough.rnea(model, q, v, a, f_ext))
    everything = bough.inverse_dynamics(model, q, v, a, f_ext, drives=model.joint_names)
    assert_close(everything, bough.rnea(model, q, v, a, f_ext), 1e-8)
    out = np.empty_like(v)
    assert bough.inverse_dynamics(model, q, v, a, f_ext, out=out) is out


def test_what_drives_cannot_do_is_named(rng: np.random.Generator) -> None:
    model, q, v, a = moving("five-bar", rng, 2)
    with pytest.raises(
        bough.errors.DriveError, match=r"cannot produce this motion in state \[0\]: joint '.*' lacks .* N"
    ):
        bough.inverse_dynamics(model, q, v, a, drives=["left upper"])
    found = bough.inverse_dynamics(model, q, v, a, drives=["left upper"], full=True)
    assert set(found.conflicts) <= set(model.joint_names)
    assert len(found.conflicts) > 0
    assert (found.residual > 1e-3).all()
    wrong = a + rng.normal(size=a.shape)
    with pytest.raises(bough.errors.DriveError, match=r"in state \[0\]: they break 'tip.*' by .* m/s²"):
        bough.inverse_dynamics(model, q, v, wrong)
    assert any(name.startswith("tip") for name in bough.inverse_dynamics(model, q, v, wrong, full=True).conflicts)
    nearest = bough.forward_dynamics(model, q, v, bough.rnea(model, q, v, wrong))
    tau = bough.inverse_dynamics(model, q, v, nearest, drives=DRIVES["five-bar"])
    assert_close(bough.forward_dynamics(model, q, v, tau), nearest, 1e-9)


def test_loops_that_are_a_little_open_are_closed_on_the_way(rng: np.random.Generator) -> None:
    """What forward dynamics gives is what inverse dynamics takes, though L v̇ + bias is not zero there."""
    model, q, v = closed("five-bar")
    q, v = q + 1e-4 * rng.normal(size=model.nv), v + 1e-4 * rng.normal(size=model.nv)
    a = bough.forward_dynamics(model, q, v, rng.normal(size=model.nv))
    tau = bough.inverse_dynamics(model, q, v, a, drives=DRIVES["five-bar"])
    assert_close(bough.forward_dynamics(model, q, v, tau), a, 1e-9)


@pytest.mark.parametrize("tilt", [1e-9, 1e-8, 1e-7])
def test_rows_that_are_of_no_rank_by_rounding_are_closed_on_the_way(tilt: float, rng: np.random.Generator) -> None:
    """A four-bar with an axis that is hardly not parallel to the others: across the plane nothing can be given."""
    b = bough.Builder("four-bar")
    rod = {"mass": 1.0, "com": (0.2, 0, 0), "inertia": (1e-3, 0.02, 0.02)}
    b.add("crank", bough.joints.Revolute("y"), **rod)
    b.add("coupler", bough.joints.Revolute("y"), "crank", at=(0.3, 0, 0), **rod)
    b.add("rocker", bough.joints.Revolute((tilt, 1.0, 0.7 * tilt)), at=(0.7, 0, 0), **rod)
    b.loop("pin", bough.joints.Spherical(), "coupler", "rocker", at=(0.8, 0, 0), successor_at=(0.5, 0, 0))
    model = b.build()
    q = bough.loops.assemble(model, [-1.0, 0.8, -1.5], tolerance=tilt)
    for v in (np.zeros(3), bough.loops.consistent_velocity(model, q, 3.0 * rng.normal(size=3))):
        a = bough.forward_dynamics(model, q, v, 30.0 * rng.normal(size=(20, 3)))
        tau = bough.inverse_dynamics(model, q, v, a)
        assert_close(bough.forward_dynamics(model, q, v, tau), a, 1e-9)
        wrong = a + 1e-5 * np.abs(a).max() * np.eye(3)[0]
        with pytest.raises(bough.errors.DriveError, match="they break 'pin"):
            bough.inverse_dynamics(model, q, v, wrong)


def test_rows_that_contradict_by_rounding_are_closed_on_the_way() -> None:
    """Two belts that ask for what differs a little: forward dynamics goes between, and inverse dynamics lets it."""
    b = bough.Builder("belts")
    for name in ("a", "b"):
        b.add(name, bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
    b.equality("belt", "b", "a", (0.0, 1.0))
    b.equality("other belt", "b", "a", (3e-8, 1.0))
    model, q, v = b.build(), np.full(2, 0.3), np.zeros(2)
    a = bough.forward_dynamics(model, q, v, [2.0, 0.0])
    assert_close(a, [1.0, 1.0], 1e-4)
    assert_close(bough.forward_dynamics(model, q, v, bough.inverse_dynamics(model, q, v, a)), a, 1e-9)
    with pytest.raises(bough.errors.DriveError, match=r"they break .(other )?belt"):
        bough.inverse_dynamics(model, q, v, a + np.array([1e-4, 0.0]))


def test_where_the_rank_changes_the_careful_route_is_taken() -> None:
    """A parallelogram, flat: nothing in a batch depends on its neighbours."""
    model = parallelogram()
    angles = np.array([0.5, 0.0, -0.5, 1e-7])
    q, v = np.stack([angles, -angles, angles], axis=-1), np.zeros((4, 3))
    a = bough.forward_dynamics(model, q, v, np.zeros(3))
    tau = bough.inverse_dynamics(model, q, v, a)
    alone = np.array([bough.inverse_dynamics(model, *x) for x in zip(q, v, a, strict=True)])
    assert np.array_equal(tau, alone)
    assert_close(bough.forward_dynamics(model, q, v, tau), a, 1e-6, scale=9.81)


@pytest.mark.usefixtures("compiled")
def test_batches_and_data_types(rng: np.random.Generator) -> None:
    model, q, v, a = moving("five-bar", rng, 9)
    drives = tuple(DRIVES["five-bar"])
    together = bough.inverse_dynamics(model, q, v, a, drives=drives)
    alone = np.array([bough.inverse_dynamics(model, q, v, x, drives=drives) for x in a])
    assert np.array_equal(together, alone)
    out = np.empty_like(together)
    assert bough.inverse_dynamics(model, q, v, a, drives=drives, out=out) is out
    assert np.array_equal(out, together)
    assert np.array_equal(bough.function("inverse_dynamics", model)(q, v, a), bough.inverse_dynamics(model, q, v, a))


def test_what_is_refused(rng: np.random.Generator) -> None:
    model, q, v, a = moving("four-bar", rng, 1)
    with pytest.raises(bough.errors.UnknownNameError, match="no joint or loop is called 'cranc'; did you mean 'crank'"):
        bough.inverse_dynamics(model, q, v, a, drives=["cranc"])
    with pytest.raises(bough.errors.ShapeError, match="loop 'pin' is driven, and joint forces do not tell its force"):
        bough.inverse_dynamics(model, q, v, a, drives=["pin"])
    with pytest.raises(bough.errors.ShapeError, match="out is given"):
        bough.inverse_dynamics(model, q, v, a, full=True, out=np.empty(3))  # type: ignore[call-overload]
    with pytest.raises(bough.errors.ShapeError, match="full is 'yes'"):
        bough.inverse_dynamics(model, q, v, a, full="yes")  # type: ignore[call-overload]
