"""Constraints of one's own in simulations: held by both laws, on velocities and on positions."""

from __future__ import annotations

import numpy as np
import pytest

import bough

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
