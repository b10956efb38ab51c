"""Runs: what is kept, what drives them, and what ends them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bough


@pytest.fixture
def sim() -> bough.Simulation:
    return bough.Simulation(bough.robots.load("pendulum"), dt=0.01)


def test_forces_are_kept_with_the_samples_they_act_from(sim: bough.Simulation) -> None:
    def push(time: float, q: Any, v: Any) -> Any:
        return [round(10 * time)]

    run = sim.run([[0.1], [0.2]], duration=0.3, rate=10, controller=push, hold=5)
    assert run.q.shape == (4, 2, 1)
    assert run.tau is not None
    np.testing.assert_array_equal(run.tau[..., 0], [[0, 0], [1, 1], [2, 2], [2, 2]])
    assert run.control is None
    same = sim.run([[0.1], [0.2]], duration=0.1, tau=[3.0])
    assert same.tau is not None
    assert (same.tau == 3.0).all()
    assert sim.run([0.1], duration=0.0).tau is None


def test_a_run_is_steps_one_after_the_other(sim: bough.Simulation) -> None:
    run = sim.run([0.4], [0.1], duration=0.05, rate=100)
    state = sim.step([0.4], [0.1], steps=5)
    np.testing.assert_array_equal(run.q[-1], state.q)
    assert run.time[-1] == pytest.approx(0.05)
    assert run.taken == 5


def test_what_was_computed_is_returned_after_an_interrupt(sim: bough.Simulation) -> None:
    def stop(time: float, q: Any, v: Any) -> Any:
        if time > 0.03:
            raise KeyboardInterrupt
        return {"tau": [0.0]}

    run = sim.run([0.4], duration=1.0, rate=100, controller=stop)
    assert len(run.time) == 5
    assert run.status == 3
