"""Constraints of one's own in simulations: held by both laws, on velocities and on positions."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Literal

import numpy as np
import pytest

import bough
from bough.simulation.soft import soft_scene

pytestmark = pytest.mark.usefixtures("compiled")

LENGTH = 0.5


def sledge() -> bough.Model:
    """A body in a plane that slides along its own x axis alone."""
    b = bough.Builder("sledge", gravity=(0.0, 0.0, 0.0))
    b.add("sledge", bough.joints.Planar("z"), mass=2.0, inertia=0.1)
    return b.build().with_constraint("edge", bough.maximal.constraints.Skate("y"), "sledge")


def bob() -> bough.Model:
    """A point on a rod without mass."""
    b = bough.Builder("bob")
    b.add("bob", bough.joints.Translational(), mass=1.0)
    return b.build().with_constraint("rod", bough.maximal.constraints.Distance(LENGTH), "bob", "world")


@pytest.mark.parametrize("law", ["soft", "hard"])
def test_a_sledge_goes_round_in_a_circle(law: str) -> None:
    run = bough.Simulation(sledge(), law=law, dt=0.001).run(np.zeros(3), [1.0, 0.0, 2.0], duration=1.0)
    assert not run.status
    np.testing.assert_allclose(run.q[-1], [np.sin(2.0) / 2.0, (1.0 - np.cos(2.0)) / 2.0, 2.0], atol=2e-3)
    assert np.abs(run.v[:, 1]).max() < 3e-3  # what a step turns it by


@pytest.mark.parametrize("law", ["soft", "hard"])
def test_a_rod_keeps_its_length(law: str) -> None:
    run = bough.Simulation(bob(), law=law, dt=0.001).run([LENGTH, 0.0, 0.0], duration=1.0)
    np.testing.assert_allclose(np.linalg.norm(run.q, axis=1), LENGTH, atol=2e-3)
    assert run.q[:, 2].min() < -0.49
    total = run.energy().total
    assert np.abs(total - total[0]).max() < 0.03 * 9.81 * LENGTH


def test_derivatives_of_a_step_heed_them() -> None:
    sim, q, v, h = bough.Simulation(sledge(), dt=0.001), np.array([0.1, 0.2, 0.3]), np.array([1.0, 0.01, 2.0]), 1e-6
    found = sim.jacobian(q, v)["v"][3:]
    tried = [(sim.step(q, v + h * e).v - sim.step(q, v - h * e).v) / (2.0 * h) for e in np.eye(3)]
    np.testing.assert_allclose(found, np.transpose(tried), atol=1e-8)


def spread_of_steps(sim: bough.Simulation, q: Sequence[float], v: Sequence[float]) -> float:
    """By how much accelerations of a step differ where configurations do by less than a micrometre."""
    near = np.add(q, np.linspace(0.0, 1e-7, 50)[:, None])
    return float(np.ptp((sim.step(near, v).v - np.array(v)) / sim.dt, axis=0).max())


@pytest.mark.parametrize("integrator", ["euler", "rk4"])
def test_a_rod_whose_ends_are_together_in_the_neutral_pose_gives_smooth_steps(
    integrator: Literal["euler", "rk4"],
) -> None:
    sim, q, v, h = bough.Simulation(bob(), dt=0.001, integrator=integrator), [0.0, 0.3, -0.4], [1.0, 0.0, 0.0], 1e-5
    assert spread_of_steps(sim, q, v) < 1e-2
    tried = [(sim.step(q + h * e, v).v - sim.step(q - h * e, v).v) / (2.0 * h) for e in np.eye(3)]
    np.testing.assert_allclose(sim.jacobian(q, v)["q"][3:], np.transpose(tried), atol=1e-4)
    exact = bough.forward_dynamics(bob(), q, v, np.zeros(3))
    np.testing.assert_allclose((sim.step(q, v).v - v) / 0.001, exact, atol=1.0)  # rows hold nine tenths


def test_a_row_that_is_not_defined_in_the_neutral_pose_gives_smooth_steps() -> None:
    """Two round surfaces with the same centre touch nowhere."""
    c, b = bough.maximal.constraints, bough.Builder("cam")
    b.add("cam", bough.joints.Revolute("x"), mass=2.0, inertia=0.1)
    b.add("follower", bough.joints.Prismatic("z"), mass=0.5, inertia=0.01)
    touch = c.Tangent(c.Ellipsoid((0.1, 0.5, 0.3)), c.Ellipsoid(0.2))
    cam = b.build().with_constraint("contact", touch, "cam", "follower")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim = bough.Simulation(cam, dt=0.001)
    q = bough.loops.assemble(cam, [0.4, 1.0], hold="cam")
    assert spread_of_steps(sim, q, bough.loops.consistent_velocity(cam, q, [2.0, 0.0])) < 1e-2


@pytest.mark.parametrize("law", ["soft", "hard"])
def test_a_disc_that_lies_flat_in_the_neutral_pose_rolls_upright(law: Literal["soft", "hard"]) -> None:
    b = bough.Builder("disc")
    b.add("disc", bough.joints.Free(), mass=1.0, inertia=(0.0025, 0.0025, 0.005))
    rolls = bough.maximal.constraints.Rolling(0.1, axis="z")
    model = b.build().with_constraint("floor", rolls, "disc")
    q, v = [0.0, 0.0, 0.1, 0.5**0.5, 0.0, 0.0, 0.5**0.5], [-0.5, 0.0, 0.0, 0.0, 0.0, 5.0]
    run = bough.Simulation(model, law=law, dt=0.001).run(q, v, duration=0.5)
    assert not run.status
    np.testing.assert_allclose(run.q[-1, :3], [-0.25, 0.0, 0.1], atol=1e-3)


def piston(least: float) -> bough.Model:
    """A slider-crank, straight in the neutral pose, whose slide has a lower limit (m)."""
    b = bough.Builder("piston")
    b.add("crank", bough.joints.Revolute("y"), mass=1.0, com=(0.1, 0.0, 0.0), inertia=0.01)
    b.add("rod", bough.joints.Revolute("y"), "crank", at=(0.2, 0.0, 0.0), mass=1.0, com=(0.3, 0.0, 0.0), inertia=0.02)
    b.add("pin", bough.joints.Revolute("y"), "rod", at=(0.6, 0.0, 0.0), mass=1.0, inertia=0.01)
    b.loop("slide", bough.joints.Prismatic("x"), "world", "pin", lower=least)
    return b.build()


def test_a_slide_at_its_dead_centre_in_the_neutral_pose_has_the_mass_of_other_poses() -> None:
    """There the crank does not move the slide, and any force would seem to move it by nothing."""
    (limit,) = soft_scene(bough.Scene(piston(0.1)), "euler", 1e-8, 100).loop_joints
    crank = np.array([[0.5, 0.3, -0.3], [1.0, 0.3, -0.3], [1.5, 0.3, -0.3]])
    rates = bough.loops.coordinate_jacobian(piston(0.1), crank)[:, 0]
    felt = np.einsum("ij,ijk,ik->i", rates, np.linalg.inv(bough.crba(piston(0.1), crank)), rates)
    assert 0.1 * felt.min() < limit.weight < 10.0 * felt.max()


STIFF = bough.simulation.Softness(solref=(0.002, 1.0), solimp=(0.99999, 0.99999, 0.001, 0.5, 2.0))


def test_a_stiff_rod_keeps_energy() -> None:
    b = bough.Builder("bob")
    b.add("bob", bough.joints.Translational(), mass=1.0)
    rod, lost = bough.maximal.constraints.Distance(LENGTH), []
    for softness in (bough.simulation.Softness(), STIFF):
        model = b.build().with_constraint("rod", rod, "bob", softness=softness)
        run = bough.Simulation(model, dt=0.001, integrator="rk4").run([LENGTH, 0.0, 0.0], duration=2.0)
        total = run.energy().total
        lost.append(abs(total[-1] - total[0]) / (9.81 * LENGTH))
    assert lost[0] > 1e-3
    assert lost[1] < 1e-5


def test_loops_added_to_models_are_as_soft_as_told() -> None:
    b = bough.Builder("bar")
    b.add("bar", bough.joints.Free(), mass=1.0, inertia=1.0)
    model = b.build().with_loop("pin", bough.joints.Spherical(), "world", "bar", softness=STIFF)
    b.loop("pin", bough.joints.Spherical(), "world", "bar", softness=STIFF)
    assert model.loops[0].softness == b.build().loops[0].softness == STIFF
    with pytest.raises(bough.BoughError, match="constraint 'nail': softness is 3"):
        model.with_loop("nail", bough.joints.Spherical(), "world", "bar", softness=3)  # type: ignore[arg-type]
    with pytest.raises(bough.BoughError, match="constraint 'rod': softness is 3"):
        model.with_constraint("rod", bough.maximal.constraints.Distance(1.0), "bar", softness=3)  # type: ignore[arg-type]
