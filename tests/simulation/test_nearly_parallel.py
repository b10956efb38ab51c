"""A planar mechanism whose axes a file tells to some digits moves on, however its motion is computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bough

pytestmark = pytest.mark.usefixtures("compiled")


def four_bar(tilt: float) -> bough.Model:
    """In the x-z plane, but for one axis: a pin joins coupler and rocker."""
    b = bough.Builder("four-bar")
    rod: dict[str, Any] = {"mass": 1.0, "com": (0.2, 0.0, 0.0), "inertia": (1e-3, 0.02, 0.02)}
    b.add("crank", bough.joints.Revolute("y"), **rod)
    b.add("coupler", bough.joints.Revolute((tilt, 1.0, 0.0)), "crank", at=(0.3, 0, 0), **rod)
    b.add("rocker", bough.joints.Revolute("y"), at=(0.7, 0, 0), **rod)
    b.loop("pin", bough.joints.Revolute("y"), "coupler", "rocker", at=(0.8, 0, 0), successor_at=(0.5, 0, 0))
    return b.build()


@pytest.mark.parametrize("tilt", [1e-9, 1e-7, 5e-7])
def test_axes_that_are_parallel_to_a_millionth_lock_nothing(tilt: float) -> None:
    plain, tilted = four_bar(0.0), four_bar(tilt)
    q = bough.loops.assemble(plain, [-1.0, 0.5, -1.5])
    v = bough.loops.consistent_velocity(plain, q, np.full(3, 2.0))
    tau = np.array([0.3, 0.0, 0.0])

    def motions(model: bough.Model) -> list[np.ndarray[Any, Any]]:
        sims = [bough.Simulation(model, law=law, dt=0.002) for law in ("hard", "soft")]
        return [
            bough.forward_dynamics(model, q, v, tau),
            bough.contact.dynamics(model, q, v, tau).motion,
            bough.contact.step(model, q, v, tau, dt=0.002).motion,
            *(sim.step(q, v, tau=tau).v for sim in sims),
            *(sim.step(q, v, tau=tau, steps=100).v for sim in sims),
        ]

    for found, expected in zip(motions(tilted), motions(plain), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.filterwarnings("ignore:loop 'pin'")
@pytest.mark.parametrize("tilt", [2e-6, 1e-5, 1e-4, 1e-2])
def test_axes_that_are_not_parallel_hold_the_linkage_without_energy(tilt: float) -> None:
    """Rigid bodies would be locked: what the joints hardly move is not closed at once, and nothing speeds up."""
    plain = four_bar(0.0)
    q = bough.loops.assemble(plain, [-1.0, 0.5, -1.5])
    v = bough.loops.consistent_velocity(plain, q, np.full(3, 2.0))
    run = bough.Simulation(four_bar(tilt), law="hard", dt=1e-3).run(q, v, duration=0.5)
    energy = run.energy().total
    assert not run.status
    assert energy.max() <= energy[0] + 1e-6
