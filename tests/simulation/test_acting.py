"""What acts in a run: batches of it, tensors, and what does not fit, told by name."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bough
from bough.errors import ShapeError

pytestmark = pytest.mark.usefixtures("compiled")

START = [0.3, 0.2, 0.4, 0.1, 0.2, 0.3]
SOME = np.random.default_rng(2).normal(size=(3, 6))
MASS = "mass of elbow_link"
WAYS = [None, "adaptive"]


@pytest.fixture
def sim() -> bough.Simulation:
    return bough.Simulation(bough.robots.load("arm"), dt=0.002, parameters=[MASS])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "acting",
    [
        {"tau": SOME},
        {"target": SOME, "kp": 20.0, "kd": 2.0},
        {"target": SOME[0], "kp": np.abs(SOME) * 20.0},
        {"f_ext": SOME[:, None] * np.ones((6, 1))},
        {"parameters": {MASS: [1.0, 2.0, 3.0]}},
        {"tau": SOME[:2, None], "parameters": {MASS: [1.0, 2.0, 3.0]}},
    ],
)
def test_batches_of_what_acts_make_batches_of_states(sim: bough.Simulation, acting: dict[str, Any], way: Any) -> None:
    options: dict[str, Any] = {"duration": 0.02, "integrator": way}
    batch = (2, 3) if "tau" in acting and "parameters" in acting else (3,)
    run = sim.run(START, **options, **acting)
    assert run.q.shape[1:] == (*batch, 6)
    if way is None:
        step = sim.step(START, np.zeros(6), steps=10, **acting)
        np.testing.assert_array_equal(run.q[-1], step.q)
    whole = {name: x for name, x in acting.items() if name != "parameters"}
    given = np.broadcast_to(acting.get("parameters", {}).get(MASS, np.nan), batch)
    for at in np.ndindex(*batch):
        one: dict[str, Any] = {}
        for name, x in whole.items():
            tail = np.shape(x)[-2:] if name == "f_ext" else np.shape(x)[-1:]
            one[name] = np.broadcast_to(x, (*batch, *tail))[at] if tail else x
        more = {"parameters": {MASS: given[at]}} if "parameters" in acting else {}
        alone = sim.run(START, **options, **one, **more)
        if way is None:
            np.testing.assert_array_equal(run.q[(slice(None), *at)], alone.q)
        else:
            np.testing.assert_allclose(run.q[(slice(None), *at)], alone.q, atol=1e-7)


@pytest.mark.parametrize("way", WAYS)
def test_what_does_not_fit_is_told_by_name_and_shape(sim: bough.Simulation, way: Any) -> None:
    more: dict[str, Any] = {"duration": 0.02, "integrator": way}
    with pytest.raises(ShapeError, match=r"the batch axes do not broadcast: q \(2,\), tau \(3,\)"):
        sim.run(np.tile(START, (2, 1)), tau=SOME, **more)
    for order, told in (
        (SOME, r"the controller's tau has shape \(3, 6\), expected \(6,\): there is one state"),
        ({"target": SOME, "kp": 3.0}, r"the controller's target has shape \(3, 6\), expected \(6,\)"),
        ({"tau": np.zeros(5)}, r"the controller's tau has shape \(5,\), expected \(\.\.\., 6\): nv = 6"),
        ({"parameters": {MASS: [1.0, 2.0]}}, r"the controller's parameters has shape \(2, 1\), expected \(1,\)"),
    ):
        with pytest.raises(ShapeError, match=told):
            sim.run(START, controller=lambda time, q, v, order=order: order, **more)  # type: ignore[misc]
    with pytest.raises(
        ShapeError, match=r"the controller's tau has shape \(3, 6\), expected \(2, 6\), or \(6,\) for all"
    ):
        sim.run(np.tile(START, (2, 1)), controller=lambda time, q, v: SOME, **more)
    run = sim.run(START, **more)
    with pytest.raises(ShapeError, match=r"tau has shape \(3, 6\), expected \(6,\): there is one state"):
        sim.run(resume=run, tau=SOME, **more)


@pytest.mark.parametrize("way", WAYS)
def test_tensors_are_taken_and_those_with_gradients_told(sim: bough.Simulation, way: Any) -> None:
    torch = pytest.importorskip("torch")
    more: dict[str, Any] = {"duration": 0.02, "integrator": way}
    plain, followed = torch.tensor(SOME[0]), torch.tensor(SOME[0], requires_grad=True)
    gain = torch.tensor(3.0, requires_grad=True)
    np.testing.assert_array_equal(sim.run(START, tau=plain, **more).q, sim.run(START, tau=SOME[0], **more).q)
    ours, theirs = (sim.run(START, controller=lambda *_, x=x: x, **more) for x in (SOME[0], plain))
    np.testing.assert_array_equal(theirs.q, ours.q)
    for given, name in (
        ({"tau": followed}, "tau"),
        ({"target": SOME[0], "kp": gain}, "kp"),
        ({"parameters": {MASS: gain}}, "parameters"),
        ({"controller": lambda time, q, v: followed}, "the controller's tau"),
        ({"controller": lambda time, q, v: {"target": SOME[0], "kp": gain}}, "the controller's kp"),
    ):
        with pytest.raises(ShapeError, match=rf"^{name} is a tensor of PyTorch that is differentiated.*\.detach\(\)"):
            sim.run(START, **given, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("way", WAYS)
def test_gains_are_not_negative(sim: bough.Simulation, way: Any) -> None:
    more: dict[str, Any] = {"duration": 0.02, "integrator": way, "target": SOME[0]}
    with pytest.raises(ShapeError, match=r"kp is -5\.0, expected a number that is not negative"):
        sim.run(START, kp=-5.0, **more)
    with pytest.raises(ShapeError, match=r"kd is -1 somewhere, expected gains that are not negative"):
        sim.run(START, kp=5.0, kd=[0.0, 0.0, -1.0, 0.0, 0.0, 0.0], **more)
    with pytest.raises(ShapeError, match=r"kd is -2\.0, expected a number that is not negative"):
        sim.step(START, np.zeros(6), target=SOME[0], kp=5.0, kd=-2.0)


@pytest.mark.parametrize("way", [None, "adaptive"])
def test_a_run_that_is_resumed_within_a_hold_is_driven_at_once(way: Any) -> None:
    sim = bough.Simulation(bough.robots.load("arm"), dt=0.002)
    given: dict[str, Any] = {"controller": lambda *_: {"target": np.zeros(6), "kp": 50.0, "kd": 5.0}, "hold": 50}
    given |= {"integrator": way, "accuracy": 1e-6}
    whole = sim.run([0.3] * 6, duration=0.15, **given)
    first = sim.run([0.3] * 6, duration=0.106, **given)
    again = sim.run(resume=first, duration=0.044, **given)
    np.testing.assert_allclose(again.q[-1], whole.q[-1], atol=1e-5 if way else 1e-15)


def test_a_run_that_is_resumed_for_no_step_keeps_its_forces() -> None:
    sim = bough.Simulation(bough.robots.load("arm"))
    given: dict[str, Any] = {"tau": [0.1] * 6}
    stop = bough.simulation.Event(lambda time, q, v: time - 0.05, stop=True)
    run, ended = sim.run([0.3] * 6, duration=0.1, **given), sim.run([0.3] * 6, duration=0.1, events=[stop], **given)
    for first, again in (
        (run, sim.run(resume=run, duration=0.0, **given)),
        (ended, sim.run(resume=ended, duration=0.1, **given)),
    ):
        for name in ("time", "q", "v", "tau", "status", "taken", "stopped", "a_last"):
            np.testing.assert_array_equal(getattr(again, name), getattr(first, name), err_msg=name)
        assert again.tau is not None


def test_adaptive_runs_keep_the_forces_that_act() -> None:
    sim = bough.Simulation(bough.robots.load("arm"))
    for begin in ([0.3] * 6, [[0.3] * 6] * 2):
        run, fixed = (sim.run(begin, duration=0.05, tau=[0.1] * 6, integrator=way) for way in ("adaptive", None))
        np.testing.assert_array_equal(run.tau, fixed.tau)
        again = sim.run(resume=run, duration=0.05, tau=[0.2] * 6, integrator="adaptive")
        assert again.tau.shape == again.v.shape
        assert again.tau[0].ravel()[0] == 0.1
        assert again.tau[-1].ravel()[0] == 0.2


@pytest.mark.parametrize("law", ["soft", "hard"])
def test_states_of_float32_stay_so_wherever_they_come_from(law: str, tmp_path: Path) -> None:
    sim = bough.Simulation(bough.robots.load("arm"), law=law)
    q = np.full(6, 0.3, np.float32)
    whole, half = (sim.run(q, duration=length) for length in (0.2, 0.1))
    half.save(tmp_path / "half.npz")
    for first in (half, pickle.loads(pickle.dumps(half)), bough.Trajectory.load(tmp_path / "half.npz", half.model)):
        again = sim.run(resume=first, duration=0.1)
        assert again.q.dtype == np.float32
        for name in ("time", "q", "v", "a_last"):
            np.testing.assert_array_equal(getattr(again, name), getattr(whole, name), err_msg=name)
    for x in (half.q[-1], pickle.loads(pickle.dumps(q))):
        for steps in (1, 20):
            assert sim.step(x, x, steps=steps).q.dtype == np.float32
        assert sim.contacts(x, x).acceleration.dtype == np.float32
    assert half.q.dtype is q.dtype


def test_a_spring_that_a_controller_computes_gains_energy_as_told() -> None:
    b = bough.Builder("spring", gravity=(0.0, 0.0, 0.0))
    b.add("mass", bough.joints.Prismatic("x"), mass=2.0)
    sim, k = bough.Simulation(b.build(), dt=0.001, integrator="rk4"), 200.0
    run = sim.run([1.0], [0.0], duration=1.0, controller=lambda time, q, v: -k * q)
    energy = 0.5 * (2.0 * run.v[:, 0] ** 2 + k * run.q[:, 0] ** 2)
    assert abs(np.log(energy[-1] / energy[0]) / (k * 0.001 / (2.0 * 2.0)) - 1.0) < 0.1
