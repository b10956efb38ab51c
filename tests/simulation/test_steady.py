"""Simulations are steady: the same bits however they are run, hopeless states stop alone, wrong arguments are named."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bough
from bough.errors import FiniteError, ModelError, ShapeError, UnknownNameError
from bough.simulation import State

pytestmark = pytest.mark.usefixtures("compiled")

HOPPER = """<mujoco><worldbody><geom type="plane" size="0 0 1"/>
  <body pos="0 0 0.1"><freejoint/><geom type="box" size="0.2 0.15 0.1"/>
    <body pos="0.3 0 0"><joint name="j" axis="0 1 0" range="-60 60" limited="true"/>
      <geom type="capsule" size="0.03 0.1"/></body></body></worldbody>
  <actuator><motor joint="j" ctrlrange="-1 1" ctrllimited="true"/></actuator></mujoco>"""
NV = 7


@lru_cache
def hopper(integrator: str = "euler") -> bough.Simulation:
    return bough.Simulation(bough.load(HOPPER), integrator=integrator)


def states(count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Above the floor, some of which come down on it soon."""
    q = np.tile(bough.neutral(hopper().model), (count, 1))
    q[:, 2] = rng.uniform(0.1, 0.3, count)
    return q, rng.normal(size=(count, NV))


def require_same_bits(first: Any, second: Any, which: Any = ...) -> None:
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one[which], other[which])


# ---- bits ------------------------------------------------------------------------------------------------------------


def test_bits_do_not_depend_on_the_batch_or_on_threads(rng: np.random.Generator) -> None:
    sim, (q, v) = hopper(), states(37, rng)
    whole, threads = sim.step(q, v, steps=300, tau=v), bough.get_num_threads()
    alone = [sim.step(*one, steps=300, tau=one[1]) for one in zip(q, v, strict=True)]
    require_same_bits(whole, State(*map(np.array, zip(*alone, strict=True))))
    order = rng.permutation(37)
    try:
        for count in (1, 2, 4):
            bough.set_num_threads(count)
            require_same_bits(whole, sim.step(q, v, steps=300, tau=v))
            moved = sim.step(q[order], v[order], steps=300, tau=v[order])
            require_same_bits(State(*(x[order] for x in whole)), moved)
    finally:
        bough.set_num_threads(threads)


@pytest.mark.parametrize("integrator", ["euler", "rk4"])
def test_many_steps_are_many_calls_to_the_last_bit(integrator: str, rng: np.random.Generator) -> None:
    sim, (q, v) = hopper(integrator), states(9, rng)
    whole, now = sim.step(q, v, steps=60), sim.step(q, v, steps=0)
    require_same_bits((q, v), (now.q, now.v))
    for steps in (1, 1, 3, 25, 30):
        now = sim.step(now.q, now.v, a=now.a, steps=steps)
    require_same_bits(whole[:3], now[:3])
    counts = rng.integers(0, 60, 9)
    each = sim.step(q, v, steps=counts)
    np.testing.assert_array_equal(each.taken, counts)
    one = sim.step(q[4], v[4], steps=int(counts[4]))
    require_same_bits([x[4] for x in each], one)


def test_single_precision_stays_near_double(rng: np.random.Generator) -> None:
    sim, (q, v) = hopper(), states(9, rng)
    single = sim.step(q.astype(np.float32), v.astype(np.float32), steps=100)
    assert {x.dtype for x in single} == {np.dtype(np.float32)}
    assert np.abs(single.q - sim.step(q, v, steps=100).q).max() < 1e-4
    assert sim.contacts(q.astype(np.float32), v.astype(np.float32)).forces.dtype == np.float32
    assert sim.step(q.astype(np.float32), v).q.dtype == np.float64
    with pytest.raises(ShapeError, match="steps is 16777217, expected a whole number from 0 to 16777216"):
        sim.step(q.astype(np.float32), v.astype(np.float32), steps=2**24 + 1)


# ---- hopeless states -------------------------------------------------------------------------------------------------

FORCES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "tau": ((NV,), (3,)), "control": ((1,), (0,)), "target": ((NV,), (6,)), "f_ext": ((2, 6), (0, 2))
}  # fmt: skip


@pytest.mark.parametrize("name", FORCES)
def test_a_force_that_is_no_number_stops_its_own_state_alone(name: str, rng: np.random.Generator) -> None:
    sim, (q, v) = hopper(), states(9, rng)
    shape, place = FORCES[name]
    gains = {"kp": 1.0, "kd": 0.1} if name == "target" else {}
    force = rng.normal(size=(9, *shape))
    sound, others = sim.step(q, v, steps=100, **{name: force}, **gains), np.arange(9) != 4
    force[(4, *place)] = np.nan
    found = sim.step(q, v, steps=100, **{name: force}, **gains)
    assert (found.status[4], found.taken[4]) == (1, 0)
    require_same_bits((found.q[4], found.v[4]), (q[4], v[4]))
    require_same_bits(sound, found, others)
    with pytest.raises(FiniteError, match=rf"{name}\[4, .* is nan, expected finite numbers"):
        sim.contacts(q, v, **{name: force}, **gains)


@pytest.mark.parametrize(("speed", "status"), [(1e4, 0), (1e8, 2), (1e12, 2), (1e300, 1)])
def test_a_state_that_runs_away_stops_alone(speed: float, status: int, rng: np.random.Generator) -> None:
    sim, (q, v) = hopper(), states(9, rng)
    sound, others = sim.step(q, v, steps=100), np.arange(9) != 4
    v[4, 2], v[4, 4] = -speed, speed
    found = sim.step(q, v, steps=100)
    assert found.status[4] == status
    assert all(np.isfinite(x).all() for x in found)
    require_same_bits(sound, found, others)


def test_what_is_in_the_floor_comes_out_and_what_is_far_away_is_no_worse(rng: np.random.Generator) -> None:
    sim = hopper()
    q = np.tile(bough.neutral(sim.model), (3, 1))
    q[:, 2] = 0.15, -1.0, 0.15
    q[2, :2] = 1000.0, -1000.0
    state = sim.step(q, np.zeros((3, NV)), steps=5000)
    assert not state.status.any()
    assert (state.q[:, 2] > 0.09).all()
    np.testing.assert_allclose(state.q[2] - [1000.0, -1000.0, *[0.0] * 6], state.q[0], atol=1e-9)


ASSETS = Path(pytest.importorskip("gymnasium").__file__).parent / "envs" / "mujoco" / "assets"


@pytest.mark.parametrize("name", ["quadruped", "half_cheetah", "hopper"])
def test_robots_that_fall_neither_sink_nor_break(name: str, rng: np.random.Generator) -> None:
    """From a hundred random poses; at a landing it is as deep as the time constant of a contact times the speed."""
    own = name == "quadruped"
    model = bough.robots.load(name) if own else bough.load(ASSETS / f"{name}.xml")
    sim = bough.Simulation(model, bough.Scene(model, self_collision=False).floor() if own else None)
    q, v = np.array([bough.random(model, rng) for _ in range(100)]), rng.normal(size=(100, model.nv))
    height = 2 if own else 1
    q[:, height] = rng.uniform(1.5, 2.0, 100)
    floor = np.array([pair[0] == "floor" for pair in sim.contact_pairs])
    state, depths = sim.step(q, v, steps=0), np.zeros((100, 1))
    deepest = 0.0
    for _ in range(40):
        state = sim.step(state.q, state.v, a=state.a, steps=50)
        depths = sim.contacts(state.q, state.v).depths[:, floor]
        deepest = max(deepest, float(depths.max()))
        assert not state.status.any()
    assert deepest < 0.02 * np.sqrt(2 * 9.81 * 2.0)
    assert depths.max() < 0.01


# ---- wrong arguments -------------------------------------------------------------------------------------------------


def plain(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    q, v = states(2, rng)
    return q[0], v[0]


WRONG: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"q": [0.0]}, ShapeError, r"q has shape \(1,\), expected \(..., 8\): nq = 8"),
    ({"v": "fast"}, ShapeError, "v has data type <U4, expected real numbers"),
    ({"q": None}, ShapeError, r"q is None, expected an array \(..., 8\)"),
    ({"q": [2.0] * 8}, FiniteError, "joint 'joint0': the quaternion .* expected 1"),
    ({"steps": -3}, ShapeError, "steps is -3, expected a whole number from 0"),
    ({"steps": 1.5}, ShapeError, "steps is 1.5, expected a whole number"),
    ({"steps": np.nan}, ShapeError, "steps is nan, expected a whole number"),
    ({"steps": [1, np.inf]}, ShapeError, r"steps\[1\] is inf, expected a whole number"),
    ({"steps": None}, ShapeError, "steps has data type object"),
    ({"tau": 1.0}, ShapeError, r"tau has shape \(\), expected \(..., 7\)"),
    ({"control": [0.1, 0.2]}, ShapeError, r"control has shape \(2,\), expected \(..., 1\): one for each actuator"),
    ({"target": [0.0] * 8, "kp": 1.0}, ShapeError, r"target has shape \(8,\), expected \(..., 7\)"),
    (
        {"target": [0.0] * 7, "kp": "much"},
        ShapeError,
        "kp is 'much', expected a number that is not negative, or one for each velocity",
    ),
    ({"target": [0.0] * 7, "kp": np.full(7, -2.0)}, ShapeError, "kp is -2 somewhere, expected gains that are not neg"),
    ({"target": [0.0] * 7, "kp": 1.0, "kd": [0, 1, -3, 0, 0, 0, 0]}, ShapeError, "kd is -3 somewhere, expected gains"),
    ({"target": [0.0] * 7, "kp": [[1.0], [1.0, 2.0]]}, ShapeError, "kp is not a rectangular array"),
    ({"target": [0.0] * 7, "kp": 1.0, "kd": [1, 2]}, ShapeError, r"kd has shape \(2,\), expected \(..., 7\)"),
    ({"target": [0.0] * 7, "kd": 1.0}, ShapeError, "target is given and kp is None, expected a stiffness"),
    ({"out": np.zeros(8)}, ShapeError, "out is array.* expected a bough.simulation.State"),
    ({"kd": 1.0}, ShapeError, r"kd is given and target is None, expected a target \(..., 7\) too"),
    ({"f_ext": np.zeros(6)}, ShapeError, r"f_ext has shape \(6,\), expected \(..., 2, 6\)"),
    ({"a": [np.nan] * 7}, FiniteError, r"a\[0\] is nan"),
    ({"torque": 1.0}, TypeError, "torque"),
]


@pytest.mark.parametrize(("given", "error", "text"), WRONG)
def test_wrong_arguments_of_a_step_are_named(
    given: dict[str, Any], error: type[Exception], text: str, rng: np.random.Generator
) -> None:
    q, v = plain(rng)
    with pytest.raises(error, match=text):
        hopper().step(**{"q": q, "v": v, **given})


def test_gains_that_make_no_array_are_named_by_a_run(rng: np.random.Generator) -> None:
    with pytest.raises(ShapeError, match="kp is not a rectangular array"):
        hopper().run(*plain(rng), duration=0.01, target=[0.0] * 7, kp=[[1.0], [1.0, 2.0]])


def still() -> bough.Model:
    return bough.Builder("still").build()


def puck(**limits: Any) -> bough.Model:
    b = bough.Builder("puck")
    b.add("puck", bough.joints.Planar(), mass=1.0, inertia=0.1, **limits)
    return b.build()


def idle() -> bough.Model:
    b = bough.Builder("idle")
    b.add("shell", bough.joints.Revolute((0, 0, 1)), joint_name="free wheel")
    return b.build()


BUILT: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: bough.Simulation(puck(), dt=0.0), ShapeError, "dt is 0.0, expected a positive number"),
    (lambda: bough.Simulation(puck(), dt=-1), ShapeError, "dt is -1, expected a positive number"),
    (lambda: bough.Simulation(puck(), iterations=0), ShapeError, "iterations is 0, expected a whole number from 1"),
    (lambda: bough.Simulation(puck(), integrator="RK4"), UnknownNameError, "did you mean 'rk4'"),
    (lambda: bough.Simulation(puck(), bough.Scene(idle())), ModelError, "another model, 'idle', expected .* 'puck'"),
    (lambda: bough.Simulation("puck.urdf"), ModelError, "the model is 'puck.urdf', expected a bough.Model"),  # type: ignore[arg-type]
    (lambda: bough.Simulation(still()), ShapeError, "'still' has no degrees of freedom, expected a model that moves"),
    (lambda: bough.Simulation(idle()), ModelError, "joint 'free wheel' of 'idle' moves no inertia, expected bodies"),
    (lambda: bough.Simulation(puck()).step([0] * 3, [0] * 3, control=[1.0]), ShapeError, "'puck' has no actuators"),
    (lambda: bough.Simulation(puck()).contacts([0] * 3, [0] * 3, steps=1), UnknownNameError, "called 'steps'"),
    (lambda: bough.Simulation(puck()).run([0] * 3, duration=0, ta=1), UnknownNameError,
     "no argument of run is called 'ta'; did you mean 'tau'"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "text"), BUILT)
def test_what_cannot_be_simulated_is_refused_by_name(
    call: Callable[[], Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        call()


def test_a_step_writes_to_a_state_that_is_given(rng: np.random.Generator) -> None:
    sim, (q, v) = hopper(), states(3, rng)
    wanted = sim.step(q, v, steps=7)
    out = sim.step(q, v, steps=0)
    assert sim.step(out.q, out.v, steps=7, out=out) is out
    require_same_bits(wanted, out)
    with pytest.raises(ShapeError, match=r"out is float64 \(3, 8\), expected an array of float64 \(8,\)"):
        sim.step(q[0], v[0], out=out)
    require_same_bits(wanted, out)


def test_unusual_calls_that_mean_something_work(rng: np.random.Generator) -> None:
    sim, (q, v) = hopper(), plain(rng)
    one = sim.step(q, v, steps=5)
    require_same_bits(one, sim.step(q.tolist(), tuple(v.tolist()), steps=np.int64(5)))
    require_same_bits(one, [x[0] for x in sim.step(q[None], v[None], steps=[5])])
    assert sim.step(np.zeros((0, 8)), np.zeros((0, NV))).q.shape == (0, 8)
    assert sim.step(np.tile(q, (2, 1, 1)), np.tile(v, (3, 1))).q.shape == (2, 3, 8)
