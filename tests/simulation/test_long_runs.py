"""Long motions without contact: what the variational integrator keeps, what adaptive steps promise, and events."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bough
from bough.errors import ModelError, ShapeError, UnknownNameError
from bough.joints import Free, Revolute, Spherical, Universal
from bough.simulation import Event

pytestmark = pytest.mark.usefixtures("compiled")


def body() -> bough.Model:
    """One that tumbles, its centre of mass beside its frame."""
    b = bough.Builder("body", gravity=(0, 0, 0))
    b.add("body", Free(), mass=1.3, inertia=np.diag([0.1, 0.2, 0.25]), com=(0.1, 0.2, 0.05))
    return b.build()


def chain() -> bough.Model:
    """Three links on joints of three sorts, with a spring."""
    b = bough.Builder("chain")
    rod = {"mass": 1.0, "com": (0, 0, -0.25), "inertia": np.diag([0.02, 0.03, 0.01])}
    b.add("first", Revolute("y"), **rod, stiffness=2.0)
    b.add("second", Spherical(), "first", at=(0, 0, -0.5), **rod)
    b.add("third", Universal("x", "y"), "second", at=(0, 0, -0.5), **rod)
    return b.build()


MODELS = {"body": body, "chain": chain}


def state(model: bough.Model, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return bough.random(model, rng), rng.normal(size=model.nv)


@pytest.mark.parametrize("name", MODELS)
def test_energy_does_not_drift(name: str, rng: np.random.Generator) -> None:
    """Over 20 000 steps: what it swings by at the end is what it swings by at the beginning, and it is near zero."""
    model = MODELS[name]()
    q, v = state(model, rng)
    run = bough.Simulation(model, dt=0.005).run(q, v, duration=100.0, rate=20, integrator="variational")
    energy = run.energy()
    total, size = energy.total - energy.total[0], np.ptp(energy.kinetic) + energy.kinetic.mean()
    early, late = total[:400], total[-400:]
    assert run.status == 0
    assert np.abs(total).max() < 5e-3 * size
    assert abs(late.mean() - early.mean()) < 0.5 * np.ptp(early)
    assert np.ptp(late) < 3 * np.ptp(early)


def test_momenta_of_symmetries_are_kept_to_rounding(rng: np.random.Generator) -> None:
    """All of a body in flight, and that about the vertical of a chain that hangs on a ball joint."""
    model = body()
    q, v = state(model, rng)
    run = bough.Simulation(model, dt=0.01, integrator="variational").run(q, v, duration=20.0, rate=10)
    momentum = bough.centroidal_momentum(model, run.q, run.v)
    momentum[:, 3:] += np.cross(bough.center_of_mass(model, run.q), momentum[:, :3])  # about the origin
    np.testing.assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), atol=1e-11)
    b = bough.Builder("hanging")
    rod = {"mass": 1.0, "com": (0.1, 0, -0.3), "inertia": 0.1}
    b.add("0", Spherical(), **rod)
    b.add("1", Universal("x", "y"), "0", at=(0, 0, -0.5), **rod)
    model = b.build()
    q, v = state(model, rng)
    run = bough.Simulation(model, dt=0.01, integrator="variational").run(q, v, duration=20.0, rate=10)
    p = (bough.crba(model, run.q) @ run.v[..., None])[:, :3, 0]  # along the axes of the first body
    R = bough.placements(model, run.q, "0")[:, :3, :3]
    vertical = (R @ p[..., None])[:, 2, 0]
    np.testing.assert_allclose(vertical, vertical[0], atol=1e-11)


@pytest.mark.parametrize("name", MODELS)
def test_the_variational_step_is_of_second_order_and_can_be_turned_back(name: str, rng: np.random.Generator) -> None:
    model = MODELS[name]()
    q, v = state(model, rng)
    exact = bough.Simulation(model, dt=5e-4, integrator="rk4").step(q, v, steps=400)
    errors = []
    for steps in (20, 40, 80):
        sim = bough.Simulation(model, dt=0.2 / steps, integrator="variational")
        there = sim.step(q, v, steps=steps)
        errors.append(np.abs(there.v - exact.v).max())
        back = sim.step(there.q, -there.v, steps=steps)
        np.testing.assert_allclose(bough.difference(model, back.q, q), 0.0, atol=1e-11)
    rates = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (rates > 1.9).all()


def test_what_a_step_finds_no_solution_for_stops_alone() -> None:
    """A spring that is much too stiff for the length of the steps."""
    b = bough.Builder("stiff", gravity=(0, 0, 0))
    b.add("rod", Revolute("z"), mass=1.0, inertia=1.0, stiffness=4e4)
    sim = bough.Simulation(b.build(), dt=0.05, integrator="variational")
    found = sim.step([[0.1], [0.0]], [[0.0], [0.0]], steps=10)
    np.testing.assert_array_equal(found.status, [4, 0])
    np.testing.assert_array_equal(found.taken, [0, 10])


@pytest.mark.parametrize("accuracy", [1e-6, 1e-9])
def test_adaptive_steps_are_as_accurate_as_they_are_asked_to_be(accuracy: float, rng: np.random.Generator) -> None:
    """Samples between steps too, each state with its own steps."""
    model = chain()
    q, v = bough.random(model, rng, (2,)), np.array([[0.1], [3.0]]) * rng.normal(size=(2, model.nv))
    exact = bough.Simulation(model, dt=5e-4, integrator="rk4").run(q, v, duration=0.5, rate=200)
    sim = bough.Simulation(model, dt=0.005)
    run = sim.run(q, v, duration=0.5, rate=200, integrator="adaptive", accuracy=accuracy)
    np.testing.assert_array_equal(run.time, exact.time)
    assert np.abs(bough.difference(model, exact.q, run.q)).max() < 300 * accuracy
    assert run.taken[0] < run.taken[1]
    alone = sim.run(q[1], v[1], duration=0.5, rate=200, integrator="adaptive", accuracy=accuracy)
    np.testing.assert_array_equal(alone.q, run.q[:, 1])


def test_zeros_are_found_and_end_what_they_are_told_to(rng: np.random.Generator) -> None:
    """A body thrown up: when it is at the top, when it is back, by formulas."""
    b = bough.Builder("stone", gravity=(0, 0, -10))
    b.add("stone", bough.joints.Prismatic("z"), mass=1.0)
    sim = bough.Simulation(b.build())
    events = {
        "top": lambda t, q, v: v[0],
        "down": Event(lambda t, q, v: q[0] - 1.0, direction=-1),
        "back": Event(lambda t, q, v: q[0], direction=-1, stop=True),
    }
    run = sim.run([[0.0], [0.0]], [[10.0], [5.0]], duration=3.0, integrator="adaptive", events=events)
    down = 1.0 + np.sqrt(0.8), 0.5 + np.sqrt(0.05)
    expected = [
        ("top", 0.5, 1), ("down", down[1], 1), ("top", 1.0, 0), ("back", 1.0, 1), ("down", down[0], 0), ("back", 2.0, 0)
    ]  # fmt: skip
    found = sorted((round(x.time, 6), x.name, *x.state) for x in run.events)
    assert found == sorted((round(t, 6), name, k) for name, t, k in expected)
    for x in run.events:
        assert min(abs(x.time - t) for _, t, _ in expected) < 1e-9
    np.testing.assert_array_equal(run.status, [5, 5])
    np.testing.assert_allclose(run.stopped, [2.0, 1.0], atol=1e-9)
    assert run.time[-1] == run.stopped[0]
    np.testing.assert_allclose(run.q[-1], 0.0, atol=1e-9)


def slider() -> bough.Model:
    b = bough.Builder("slider", gravity=(0, 0, 0))
    b.add("block", bough.joints.Prismatic("x"), mass=1.0)
    return b.build().with_simulation(sensors=[bough.simulation.Sensor("drive", "jointactuatorfrc", "block")])


def test_a_controller_is_asked_at_its_times_whatever_the_steps_are() -> None:
    """Feedback that is held for 0.05 s: each interval is a parabola, so its ends follow by formulas."""
    asked: list[float] = []

    def feedback(time: float, q: Any, v: Any) -> Any:
        asked.append(time)
        return -4.0 * q - 1.0 * v

    sim, q = bough.Simulation(slider()), np.array([[1.0], [0.5]])
    given: dict[str, Any] = {"integrator": "adaptive", "controller": feedback, "hold": 25, "rate": 20}
    run = sim.run(q, duration=0.98, **given)
    np.testing.assert_allclose(asked, 0.05 * np.arange(20), atol=1e-12)
    x, v, h = q.copy(), np.zeros((2, 1)), 0.05
    for k in range(20):
        np.testing.assert_allclose(run.q[k], x, atol=1e-9)
        u = -4.0 * x - v
        np.testing.assert_allclose(run.tau[k], u, atol=1e-8)
        h = 0.05 if k < 19 else 0.03
        x, v = x + h * v + 0.5 * h * h * u, v + h * u
    np.testing.assert_allclose(run.q[-1], x, atol=1e-9)
    np.testing.assert_allclose(run.sensor("drive"), run.tau, atol=1e-12)
    first = sim.run(q, duration=0.5, **given)
    again = sim.run(resume=first, duration=0.48, **given)
    for name in ("time", "q", "v", "tau", "sensors"):
        np.testing.assert_allclose(getattr(again, name), getattr(run, name), atol=1e-8, err_msg=name)


def test_adaptive_runs_are_resumed(rng: np.random.Generator) -> None:
    """After their end, or after an interrupt that found every state at another time."""
    model, asked = chain(), []
    q, v = bough.random(model, rng, (3,)), np.array([[0.1], [3.0], [1.0]]) * rng.normal(size=(3, model.nv))
    sim = bough.Simulation(model, dt=0.005)

    def late(time: float, q: Any, v: Any) -> float:
        asked.append(time)
        if len(asked) == 60:
            raise KeyboardInterrupt
        return time - 0.3

    given: dict[str, Any] = {"integrator": "adaptive", "rate": 50, "accuracy": 1e-9}
    first = sim.run(q, v, duration=0.5, events={"late": late}, **given)
    assert set(first.status) == {3}
    assert len(set(first.stopped)) > 1
    exact = sim.run(q, v, duration=0.5, **given)
    again = sim.run(resume=first, duration=0.5 - float(first.time[-1]), events={"late": late}, **given)
    np.testing.assert_array_equal(again.status, 0)
    np.testing.assert_array_equal(again.stopped, 0.5)
    assert sorted((x.name, x.state) for x in again.events) == [("late", (k,)) for k in range(3)]
    at = np.isin(again.time.round(9), exact.time.round(9))
    assert at.sum() == len(exact)
    assert np.abs(bough.difference(model, exact.q, again.q[at])).max() < 1e-6
    half = sim.run(resume=sim.run(q, v, duration=0.24, **given), duration=0.26, **given)
    np.testing.assert_allclose(half.time, exact.time, atol=1e-12)
    assert np.abs(bough.difference(model, exact.q, half.q)).max() < 1e-6


def test_adaptive_steps_are_asked_for_with_a_run() -> None:
    with pytest.raises(UnknownNameError, match=r'sim\.run\(\.\.\., integrator="adaptive"\)'):
        bough.Simulation(slider(), integrator="adaptive")
    with pytest.raises(UnknownNameError, match="no integrator is called"):
        bough.Simulation(slider(), integrator=np.ones(2))


WRONG: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"integrator": "adaptiv"}, UnknownNameError, "did you mean 'adaptive'"),
    ({"integrator": "adaptive", "events": len}, ShapeError, "events is .* expected functions .* in a dictionary"),
    ({"integrator": "adaptive", "events": {"a": lambda t, q, v: np.nan}}, ShapeError, "event 'a' at 0 s is nan"),
    (
        {"integrator": "adaptive", "events": {"a": 3}},
        ShapeError,
        "event 'a' is 3, expected a function or a bough.simulation.Event",
    ),
    ({"integrator": "adaptive", "accuracy": 0}, ShapeError, "accuracy is 0, expected a positive number"),
    ({"integrator": "adaptive", "controller": 3}, TypeError, "controller is 3, expected a function"),
    ({"integrator": "adaptive", "controller": lambda t, q, v: None}, ShapeError, "controller returned None at 0 s"),
    ({"integrator": "adaptive", "tau": [1, 2, 3]}, ShapeError, r"tau has shape \(3,\), expected \(..., 1\)"),
]


@pytest.mark.parametrize(("given", "error", "text"), WRONG)
def test_wrong_arguments_are_named(given: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        bough.Simulation(bough.robots.load("pendulum")).run([0.1], duration=0.1, **given)


def test_what_is_not_smooth_is_refused() -> None:
    b = bough.Builder("door")
    b.add("door", Revolute("z"), mass=1.0, inertia=1.0, lower=-1.0, upper=1.0)
    with pytest.raises(ModelError, match=r"'door' has 2 sides of joint limits, .*disabled=\['limit'"):
        bough.Simulation(b.build(), integrator="variational")
    free = b.build().with_simulation(disabled=["limit"])
    assert bough.Simulation(free, integrator="variational").step([0.0], [2.0], steps=600).q[0] > 1.5
