"""Events of runs with equal steps: found within steps, by formulas, for each state of a batch, and what they end."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import bough
from bough.errors import ModelError, ShapeError, UnknownNameError
from bough.simulation import Event

pytestmark = pytest.mark.usefixtures("compiled")

WAYS: list[dict[str, Any]] = [
    {"integrator": "euler"}, {"integrator": "rk4"}, {"integrator": "variational"}, {"law": "hard"}
]  # fmt: skip
GRAVITY = 10.0


def stone() -> bough.Model:
    b = bough.Builder("stone", gravity=(0, 0, -GRAVITY))
    b.add("stone", bough.joints.Prismatic("z"), mass=1.0)
    return b.build()


@pytest.mark.parametrize("way", WAYS, ids=lambda way: next(iter(way.values())))
def test_zeros_are_found_within_equal_steps(way: dict[str, Any]) -> None:
    """A stone thrown up, at 10 and 5 m/s: at the top after v/g, at 1 m on its way down, and back, where it ends."""
    dt = 0.004
    sim = bough.Simulation(stone(), dt=dt, **way)
    events = {
        "top": lambda t, q, v: v[0],
        "down": Event(lambda t, q, v: q[0] - 1.0, direction=-1),
        "back": Event(lambda t, q, v: q[0], direction=-1, stop=True),
    }
    q, v = np.zeros((2, 1)), np.array([[10.0], [5.0]])
    run = sim.run(q, v, duration=2.5, rate=50, events=events)
    # steps of first order make a parabola too, x = v t - g t (t + dt) / 2, with other velocities than its slopes
    late, near = (dt, 1e-5) if sim.integrator == "euler" else (0.0, 1e-9)
    exact = {}
    for k, speed in enumerate([10.0, 5.0]):
        half = speed / GRAVITY - late / 2
        exact["top", k] = speed / GRAVITY
        exact["down", k] = half + np.sqrt(half**2 - 2.0 / GRAVITY)
        exact["back", k] = 2 * half
    assert sorted((x.name, *x.state) for x in run.events) == sorted(exact)
    for x in run.events:
        assert abs(x.time - exact[x.name, x.state[0]]) < near
        level = {"top": x.v[0], "down": x.q[0] - 1.0, "back": x.q[0]}[x.name]
        assert abs(level) < 1e-12
    assert [x.time for x in run.events] == sorted(x.time for x in run.events)
    np.testing.assert_array_equal(run.status, 5)
    np.testing.assert_allclose(run.q[-1], 0.0, atol=1e-12)
    ends = {x.state[0]: x.time for x in run.events if x.name == "back"}
    np.testing.assert_array_equal(run.stopped, [ends[0], ends[1]])
    assert run.time[-1] == ends[0]
    again = sim.run(resume=run, duration=0.5, events=events)
    assert len(again) == len(run)


def test_events_change_no_bit_of_a_run_and_are_resumed(rng: np.random.Generator) -> None:
    b = bough.Builder("pendulum")
    for k in range(2):
        b.add(f"rod {k}", bough.joints.Revolute("y"), f"rod {k - 1}" if k else "world", at=(0, 0, -0.3 * k), mass=1.0,
              com=(0, 0, -0.3))  # fmt: skip
    q, v = rng.normal(size=(3, 2)), rng.normal(size=(3, 2))
    sim = bough.Simulation(b.build(), dt=0.002)
    events = {"turns": lambda t, q, v: v[1]}
    whole, bare = sim.run(q, v, duration=0.2, events=events), sim.run(q, v, duration=0.2)
    np.testing.assert_array_equal(whole.q, bare.q)
    np.testing.assert_array_equal(whole.time, bare.time)
    assert whole.events
    assert not bare.events
    half = sim.run(resume=sim.run(q, v, duration=0.08, events=events), duration=0.12, events=events)
    np.testing.assert_array_equal(half.q, whole.q)
    assert [x[:3] for x in half.events] == [x[:3] for x in whole.events]


@pytest.mark.parametrize("integrator", ["euler", "adaptive"])
def test_events_of_a_step_that_is_interrupted_are_found_once(integrator: str) -> None:
    """The interrupt comes while the second state is looked at, after the first one passed the bottom."""
    sim, heard = bough.Simulation(bough.robots.load("pendulum"), dt=0.01), []

    def stop(time: float, q: Any, v: Any) -> float:
        if time > 0.4 and q[0] < 0.0:
            heard.append(time)
            if len(heard) == 2:
                raise KeyboardInterrupt
        return 1.0

    events: dict[str, Any] = {"bottom": lambda time, q, v: q[0], "stop": stop}
    q, options = [[0.3], [0.3]], {"integrator": integrator, "events": events}
    run = sim.run(q, duration=1.5, **options)
    assert run.status.tolist() == [3, 3]
    rest = sim.run(resume=run, duration=1.5 - run.time[-1], **options)
    whole = sim.run(q, duration=1.5, **options)
    assert [x.state for x in rest.events] == [x.state for x in whole.events]
    np.testing.assert_allclose([x.time for x in rest.events], [x.time for x in whole.events], atol=1e-6)


def test_a_tumbling_body_is_found_where_it_is(rng: np.random.Generator) -> None:
    """A corner of a body that turns passes a height: what lies within a step follows its turn."""
    b = bough.Builder("brick")
    b.add("brick", bough.joints.Free(), mass=1.0, inertia=(0.01, 0.02, 0.025))
    b.frame("corner", "brick", at=(0.1, 0.05, 0.02))
    model = b.build()
    q, v = bough.random(model, rng), np.array([1.0, 0.5, 3.0, 6.0, -4.0, 5.0])
    begin = float(bough.placements(model, q, "corner")[2, 3])

    def corner(time: float, q: Any, v: Any) -> float:
        return float(bough.placements(model, q, "corner")[2, 3]) - begin - 0.05

    coarse = bough.Simulation(model, dt=0.01, integrator="rk4").run(q, v, duration=0.3, events={"corner": corner})
    exact = bough.Simulation(model).run(q, v, duration=0.3, integrator="adaptive", events={"corner": corner})
    assert len(coarse.events) == len(exact.events) > 0
    for x, y in zip(coarse.events, exact.events, strict=True):
        assert abs(x.time - y.time) < 2e-5


def ball(**floor: Any) -> bough.Scene:
    b = bough.Builder("ball", gravity=(0, 0, -GRAVITY))
    b.add("ball", bough.joints.Prismatic("z"), mass=1.0)
    b.geometry("ball", "sphere", 0.1, name="skin")
    return bough.Scene(b.build()).floor(**floor)


def test_contact_made_and_broken() -> None:
    """A ball from 0.8 m touches after 0.4 s; a hard one leaves at 3/4 of its speed and is back 0.6 s later."""
    soft, hard = bough.Simulation(ball()), bough.Simulation(ball(restitution=0.75), law="hard")
    run = soft.run([0.9], duration=0.5, events={"made": soft.contact_event("skin", "floor", stop=True)})
    assert abs(run.events[0].time - 0.4) < 2 * soft.dt
    assert abs(run.q[-1, 0] - 0.1) < 1e-12
    events = {"made": hard.contact_event("ball"), "broken": hard.contact_event("ball", broken=True)}
    run = hard.run([0.9], duration=1.1, events=events)
    times = np.array([0.4, 0.4, 1.0, 1.0])
    assert [x.name for x in run.events] == ["made", "broken"] * 2
    np.testing.assert_allclose([x.time for x in run.events], times, atol=3 * hard.dt)


@pytest.mark.parametrize("law", ["soft", "hard"])
def test_limits_hit(law: str) -> None:
    """Doors that turn at 2 rad/s, the second of them from 0.5 rad on, and one that follows at half the angle."""
    b = bough.Builder("doors", gravity=(0, 0, 0))
    b.add("door", bough.joints.Revolute("z"), joint_name="hinge", mass=9.0, inertia=1.0, lower=-1.0, upper=1.0)
    b.add("flap", bough.joints.Mimic(bough.joints.Revolute("z"), "hinge", 0.5), joint_name="follower", upper=0.4)
    sim = bough.Simulation(b.build(), law=law)
    events = {"open": sim.limit_event("hinge", stop=True), "flap": sim.limit_event("follower")}
    run = sim.run([[0.0], [0.5]], [[2.0], [-2.0]], duration=1.0, events=events)
    assert [(x.name, *x.state) for x in run.events] == [("flap", 0), ("open", 1)]
    np.testing.assert_allclose([x.time for x in run.events], [0.4, 0.75], atol=1e-6)
    assert run.status.tolist() == [0, 5]


def test_mistakes_are_told() -> None:
    sim = bough.Simulation(ball())
    with pytest.raises(UnknownNameError, match="may touch something is called 'skinn'; did you mean 'skin'"):
        sim.contact_event("skinn")
    with pytest.raises(ModelError, match="'skin' and 'ball' cannot touch"):
        sim.contact_event("skin", "ball")
    with pytest.raises(ModelError, match="joint 'ball' of 'ball' has no position limits"):
        sim.limit_event("ball")
    with pytest.raises(UnknownNameError, match="no joint is called 'hinge'"):
        sim.limit_event("hinge")
    with pytest.raises(ShapeError, match="event 'a' at 0 s is nan"):
        sim.run([1.0], duration=0.1, events={"a": lambda t, q, v: np.nan})
    with pytest.raises(
        ShapeError, match=r"events is 5, expected functions of time, q and v, in a dictionary by name or"
    ):
        sim.run([1.0], duration=0.1, events=5)  # type: ignore[arg-type]
    b = bough.Builder("ball")
    b.add("ball", bough.joints.Prismatic("z"), mass=1.0)
    b.geometry("ball", "sphere", 0.1, name="skin")
    b.frame("tip", "ball")
    with pytest.raises(
        ModelError, match=r"'tip' is a frame of 'ball' that has no shape which may touch .*: ball, floor, s"
    ):
        bough.Simulation(bough.Scene(b.build()).floor()).contact_event("tip")


def test_events_in_a_list_are_called_by_number() -> None:
    events = [lambda t, q, v: v[0], Event(lambda t, q, v: q[0] - 1.0, direction=-1)]
    run = bough.Simulation(stone()).run([0.0], [5.0], duration=1.0, events=events)
    assert [x.name for x in run.events] == ["event 0", "event 1"]


def test_another_integrator_keeps_the_law() -> None:
    """There is one integrator under hard contact; asking for it by name loses nothing."""
    sim = bough.Simulation(ball(restitution=0.75), law="hard", restitution=0.5, max_contacts=3)
    other = sim.with_integrator("euler")
    assert (other.law, other.restitution) == ("hard", 0.5)
    np.testing.assert_array_equal(*(x.run([0.15], duration=0.2).q for x in (sim, other)))


def test_ready_made_events_go_elsewhere() -> None:
    b = bough.Builder("stone")
    b.add("stone", bough.joints.Prismatic("z"), mass=1.0, lower=0.3)
    b.geometry("stone", "sphere", 0.1)
    sim = bough.Simulation(bough.Scene(b.build()).floor())
    for event in (sim.contact_event("stone", "floor"), sim.limit_event("stone")):
        again = pickle.loads(pickle.dumps(event))
        one, other = (sim.run([0.5], duration=0.5, events={"e": x}).events for x in (event, again))
        assert [x.time for x in one] == [x.time for x in other]
    assert one
    contact = pickle.loads(pickle.dumps(sim.contact_event()))
    assert [contact.value("e", 0.0, np.array([x]), np.zeros(1)) for x in (0.09, 0.11)] == [-1.0, 1.0]
