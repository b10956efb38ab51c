"""Drives on joints that close loops, beside contacts and limits: what `loop_tau` does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import bough
from contact_scenes import random_scene
from mechanisms import closed

MECHANISMS = ("four-bar", "five-bar", "slider-crank", "Stewart platform")


def drives(model: bough.Model, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=sum(loop.joint.nv for loop in model.loops))


@pytest.mark.parametrize("name", MECHANISMS)
def test_where_nothing_pushes_it_is_forward_dynamics(name: str) -> None:
    model, q, v = closed(name)
    tau, f = np.random.default_rng(1).normal(size=model.nv), drives(model)
    expected = bough.forward_dynamics(model, q, v, tau, loop_tau=f)
    size = 1 + np.abs(expected).max()
    assert np.abs(expected - bough.forward_dynamics(model, q, v, tau)).max() > 1e-3 * size
    far = bough.contact.Contacts([(model.frame_names[-1], None)]).at([[0.1, 0.2, 0.3]], [[0.0, 0.0, 1.0]])
    for touch in (None, far.replace(gaps=1.0), far.replace(gaps=np.inf)):
        found = bough.contact.dynamics(model, q, v, tau, touch, loop_tau=f)
        assert np.abs(found.motion - expected).max() < 1e-8 * size
        assert not found.contact_forces.any()


@pytest.mark.parametrize("seed", [8, 20, 32, 53])
def test_drives_act_as_the_joint_forces_they_stand_for(seed: int) -> None:
    """Bᵀ f added to tau is the same, at all levels; and the forces say why the mechanism moves so."""
    scene = random_scene(seed)
    model, q, v, tau, f = scene.model, scene.q, scene.v, scene.tau, 20.0 * drives(scene.model, seed)
    B = bough.loops.coordinate_jacobian(model, q)
    touch = scene.touch(mu=scene.mu, gaps=-1e-4)
    calls = {
        "dynamics": lambda t, **k: bough.contact.dynamics(model, q, v, t, touch, f_ext=scene.f_ext, **k),
        "step": lambda t, **k: bough.contact.step(model, q, v, t, touch, dt=1e-2, f_ext=scene.f_ext, **k),
        "velocities": lambda t, **k: bough.contact.velocities(model, q, t, touch, **k),
    }
    for name, call in calls.items():
        driven, other, without = call(tau, loop_tau=f), call(tau + B.T @ f), call(tau)
        size = 1 + np.abs(other.motion).max() + np.abs(without.motion).max()
        assert np.abs(driven.motion - other.motion).max() < 1e-8 * size, name
        assert np.abs(driven.motion - without.motion).max() > 1e-3, name
    driven = calls["dynamics"](tau, loop_tau=f)
    assert driven.contact_forces[:, 0].max() > 0.0
    J = bough.contact.jacobian(model, q, touch).reshape(-1, model.nv)
    L = bough.loops.jacobian(model, q)
    forces = B.T @ f + J.T @ driven.contact_forces.ravel() + driven.limit_forces + L.T @ driven.loop_forces
    total = tau + forces
    assert np.allclose(
        bough.rnea(model, q, v, driven.motion, scene.f_ext), total, atol=1e-8 * (1 + np.abs(total).max())
    )


def test_a_driven_pin_pushes_a_linkage_against_a_wall() -> None:
    """The force on a wall is that of virtual work, and that of the same linkage whose driven joint is in the tree."""
    plain, q, _ = closed("four-bar")
    tree = replace(plain, gravity=(0.0, 0.0, 0.0))
    other = tree.respanned("rocker")  # its joint "rocker" closes the loop

    def carried(values: Any, pin: float) -> Any:
        return np.array([pin if name == "pin" else values[tree.v_slice(name)][0] for name in other.joint_names])

    there = carried(q, bough.loops.coordinates(tree, q)[0])
    lever = bough.loops.consistent_velocity(tree, q, [1.0, 0, 0])
    tip = bough.placements(tree, q, "coupler") @ [0.4, 0, 0, 1]
    up = np.array([[0.0, 0.0, 1.0]])
    upward = bough.contact.Contacts([("coupler", None)], None).at([tip[:3]], up)
    away = float(bough.contact.jacobian(tree, q, upward)[0, 0] @ lever)
    torque = 5.0 * np.sign(lever[tree.v_slice("rocker")][0])  # moves it along the lever, so the wall is met that way
    wall = upward.replace(normals=-np.sign(away) * up)
    in_tree = np.zeros(tree.nv)
    in_tree[tree.v_slice("rocker")] = torque
    expected = abs(torque * lever[tree.v_slice("rocker")][0] / away)
    one = bough.contact.dynamics(tree, q, np.zeros(3), in_tree, wall)
    two = bough.contact.dynamics(other, there, np.zeros(3), np.zeros(3), wall, loop_tau=[torque])
    step = bough.contact.step(other, there, np.zeros(3), np.zeros(3), wall, dt=0.01, loop_tau=[torque])
    for found in (one, two):
        assert np.abs(found.motion).max() < 1e-9
        assert np.allclose(found.contact_forces[0, 0], expected)
    assert np.abs(step.motion).max() < 1e-9
    assert np.allclose(step.contact_forces[0, 0], 0.01 * expected)


def test_drives_in_batches_and_of_wrong_shape() -> None:
    model, q, v = closed("five-bar")
    tau, f = np.zeros(model.nv), np.stack([drives(model, seed) for seed in range(3)])
    whole = bough.contact.dynamics(model, q, v, tau, loop_tau=f)
    assert whole.motion.shape == (3, model.nv)
    for k in range(3):
        assert np.array_equal(whole.motion[k], bough.contact.dynamics(model, q, v, tau, loop_tau=f[k]).motion)
    with pytest.raises(
        bough.errors.ShapeError, match=r"loop_tau has shape .* degrees of freedom of the joints that close"
    ):
        bough.contact.step(model, q, v, tau, dt=0.01, loop_tau=np.zeros(7))
