"""Runs: what is kept, what drives them, and what ends them."""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import bough
from bough.errors import ShapeError, UnknownNameError
from bough.simulation import interrupts
from bough.simulation.interrupts import interrupted_once


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


@pytest.fixture
def _no_interrupt_lately(_interrupts: None) -> Iterator[None]:
    """Nothing that follows is interrupted because of what was interrupted here."""
    yield
    interrupts._last = -math.inf


@pytest.mark.usefixtures("_no_interrupt_lately")
def test_a_second_interrupt_takes_nothing_away(sim: bough.Simulation) -> None:
    def stop(time: float, q: Any, v: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return [0.0]

    assert sim.run([0.4], duration=1.0, controller=stop).status == 3
    with interrupted_once(resumes=True):
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):  # afterwards all is as it was
        signal.raise_signal(signal.SIGINT)


@pytest.mark.usefixtures("_no_interrupt_lately")
@pytest.mark.parametrize("integrator", ["euler", "adaptive"])
def test_an_interrupt_ends_a_loop_of_runs(
    sim: bough.Simulation, integrator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run that is interrupted returns, and the next one of the loop does not begin."""
    found = []

    def controller(time: float, q: Any, v: Any) -> Any:
        if len(found) == 2 and time > 0.02:
            os.kill(os.getpid(), signal.SIGINT)
        return [0.0]

    def again() -> None:
        for _ in range(5):
            found.append(sim.run([0.4], duration=0.05, controller=controller, integrator=integrator))

    with pytest.raises(KeyboardInterrupt, match="the run before this one was interrupted"):
        again()
    assert [int(x.status) for x in found] == [0, 0, 3]
    assert sim.run([0.4], duration=0.01).status == 0  # it was told
    found.pop()
    stopped = sim.run([0.4], duration=0.05, controller=controller, integrator=integrator)
    whole = sim.run(resume=stopped, duration=0.05 - stopped.time[-1], integrator=integrator)
    assert whole.status == 0
    stopped = sim.run([0.4], duration=0.05, controller=controller, integrator=integrator)
    monkeypatch.setattr(interrupts, "SOON", 0.0)  # a person has looked at it meanwhile
    assert sim.run([0.4], duration=0.01).status == 0


@pytest.mark.parametrize(
    ("order", "error", "text"),
    [
        (None, ShapeError, "the controller returned None at 0 s, expected joint forces"),
        ({"torque": [1.0]}, UnknownNameError, "no thing that a controller could return is called 'torque'"),
    ],
)
def test_what_a_controller_returns_is_looked_at(sim: bough.Simulation, order: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        sim.run([0.4], duration=0.1, controller=lambda time, q, v: order)


def test_an_empty_batch_has_as_many_samples_as_any(sim: bough.Simulation) -> None:
    nothing, one = (sim.run(np.zeros((n, sim.model.nq)), duration=0.05) for n in (0, 1))
    np.testing.assert_array_equal(nothing.time, one.time)
    assert nothing.q.shape == (len(one), 0, sim.model.nq)


def test_one_of_a_kind_is_told_as_one(sim: bough.Simulation) -> None:
    assert "1 sample " in repr(sim.run(np.zeros(sim.model.nq), duration=0.0))
    b = bough.Builder("one")
    b.add("body", bough.joints.Revolute("x"), inertia=1.0, mass=1.0)
    assert ": 1 body, nq" in repr(b.build())
    with pytest.raises(bough.errors.UnknownNameError, match=r"'parameters'.*grid="):
        sim.sweep(np.zeros(sim.model.nq), duration=0.1, parameters={"friction": 1.0})


def test_a_parameter_is_named_once(sim: bough.Simulation) -> None:
    with pytest.raises(bough.errors.ModelError, match="parameters has 'friction' twice, expected each name once"):
        bough.Simulation(sim.model, parameters=["friction", "gravity", "friction"])


def test_a_misspelt_parameter_is_told_with_the_nearest(sim: bough.Simulation) -> None:
    with pytest.raises(bough.errors.UnknownNameError, match="'fricton'; did you mean 'friction'"):
        bough.Simulation(sim.model, parameters="fricton")


def test_parameters_that_are_not_finite_are_named() -> None:
    b = bough.Builder("block")
    b.add("block", bough.joints.Prismatic("z"), mass=1.0)
    sim = bough.Simulation(b.build(), parameters=["friction", "mass of block", "gravity"])
    for given, said in (
        ({"mass of block": np.nan}, "^mass of block is nan, expected finite numbers"),
        ({"friction": [1.0, np.inf]}, r"^friction\[1\] is inf"),
        ({"gravity": (0.0, np.nan, 0.0)}, r"^gravity\[1\] is nan"),
    ):
        with pytest.raises(bough.errors.FiniteError, match=said):
            sim.step([0.0], [0.0], parameters=given)


@pytest.mark.parametrize("integrator", [None, "adaptive"])
def test_controllers_and_events_have_arrays_of_their_own(sim: bough.Simulation, integrator: str | None) -> None:
    """What they change in place, or use again, changes neither the motion nor what is kept of it."""
    n, start = sim.model.nv, bough.neutral(sim.model)
    buffer = np.zeros(n)

    def careless(t: float, q: Any, v: Any) -> Any:
        buffer[:] = 0.01 * np.sin(10.0 * t)
        q -= 0.1
        v *= 0.5
        return buffer

    def greedy(t: float, q: Any, v: Any) -> float:
        q -= 0.1
        v *= 0.5
        return 1.0

    with_care = sim.run(
        start, duration=0.05, rate=100.0, hold=2, integrator=integrator,
        controller=lambda t, q, v: np.full(n, 0.01 * np.sin(10.0 * t)),
    )  # fmt: skip
    without = sim.run(
        start, duration=0.05, rate=100.0, hold=2, integrator=integrator, controller=careless, events={"x": greedy}
    )
    for name in ("q", "v", "tau"):
        np.testing.assert_array_equal(getattr(without, name), getattr(with_care, name))
    assert len(np.unique(with_care.tau[:, 0])) > 2


@pytest.mark.parametrize("integrator", ["euler", "adaptive"])
def test_samples_that_no_memory_holds_are_refused(sim: bough.Simulation, integrator: str) -> None:
    """At the start: they are not tried; and one sample of the same run is enough to go on with."""
    q = np.full(sim.model.nq, 0.3)
    with pytest.raises(ShapeError, match=r"duration is 1e\+12 s: 1e\+14 samples, one every 0.01 s .* GB of this"):
        sim.run(q, duration=1e12, integrator=integrator)
    with pytest.raises(ShapeError, match=r"duration is 1e\+14 steps of 0.01 s, expected at most 1099511627776"):
        sim.run(q, duration=1e12, rate=1e-9, integrator=integrator)
    with pytest.raises(ShapeError, match=r"duration is 1e\+308 s: inf samples"):
        sim.run(q, duration=1e308, integrator=integrator)
    assert len(sim.run(q, duration=0.02, rate=5e-324, integrator=integrator)) == 2
    first = sim.run(q, duration=0.02, integrator=integrator)
    whole, part = (sim.run(resume=x, duration=0.02, integrator=integrator) for x in (first, first[-1:]))
    np.testing.assert_array_equal(whole[-len(part) :].q, part.q)


def test_a_trajectory_of_another_model_is_not_resumed(sim: bough.Simulation) -> None:
    other = bough.trees.topologies.chain(3)
    there = bough.Trajectory(other, [0.0], np.zeros((1, 3)), np.zeros((1, 3)))
    with pytest.raises(
        ShapeError, match=r"resume is a trajectory of another model, 'chain.*: joint 0 .* 'pivot: 1, 1'"
    ):
        sim.run(resume=there, duration=0.01)


@pytest.mark.parametrize("states", [1, 3])
def test_memory_is_also_that_of_impulses_which_sensors_need(states: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sample of a ball has its time, q and v: 14 numbers; under hard contact each has impulses besides."""
    model = bough.Builder("ball")
    model.add("ball", bough.joints.Free(), mass=1.0, inertia=0.1)
    model.geometry("ball", "sphere", 0.1)
    ball = model.build().with_simulation(sensors=[bough.simulation.Sensor("force", "accelerometer", "ball")])
    sims = {law: bough.Simulation(ball, bough.Scene(ball).floor(), law=law) for law in ("soft", "hard")}
    q = np.tile([0.0, 0, 1, 0, 0, 0, 1], (states, 1))
    numbers = 1 + states * 13
    monkeypatch.setattr("bough.simulation.arguments.memory_here", lambda: 3 * 8 * numbers)
    sims["soft"].run(q, duration=0.02)
    with pytest.raises(ShapeError, match=r"3 samples, .* GB of this machine"):
        sims["hard"].run(q, duration=0.02)
    monkeypatch.setattr("bough.simulation.arguments.memory_here", lambda: 3 * 8 * (numbers + states * 4))
    sims["hard"].run(q, duration=0.02)  # four numbers of the one contact


def test_progress_of_a_run_that_goes_on_is_its_own(sim: bough.Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what is asked for now, from nothing to all: how long it takes is told from that."""
    told: list[tuple[int, int]] = []

    @contextmanager
    def progress(total: int, shown: bool | None) -> Iterator[Any]:
        yield lambda done: told.append((done, total))

    first = sim.run([0.1], duration=0.5)
    monkeypatch.setattr("bough.simulation.run.progress", progress)
    sim.run(resume=first, duration=0.04)
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
