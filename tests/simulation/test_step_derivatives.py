"""Derivatives of steps: those of differences wherever nothing switches, of analytic dynamics in the air, and alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bough

SMALL = 1e-6

ON_THE_FLOOR = """<mujoco><option timestep="0.004" cone="{cone}" integrator="{integrator}"/>
  <worldbody><geom type="plane" size="0 0 1"/>
    <body pos="0 0 0.0997"><freejoint/><geom size="0.1" condim="{condim}" friction="0.6 0.02 0.01"/>
      <body pos="0.1 0 0"><joint name="hip" axis="0 1 0" damping="0.3" range="-20 20" frictionloss="0.1"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 -0.0399" size="0.06"/></body></body>
  </worldbody><actuator><position joint="hip" kp="3" kv="0.2"/></actuator></mujoco>"""

TOUCHING = """<mujoco><option timestep="0.004"/>
  <worldbody><geom type="plane" size="0 0 1"/>
    <body pos="0 0 0.0997"><freejoint/><geom size="0.1"/></body>
    <body pos="0.02 0 0.3"><joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
      <joint name="turn" axis="0 1 0" ref="0"/><geom type="capsule" size="0.1015 0.2" euler="0 80 0"/></body>
  </worldbody></mujoco>"""


def central(sim: bough.Simulation, q: Any, v: Any, rates: dict[str, Any], acting: dict[str, Any]) -> Any:
    """The change of the state after a step along a direction, by differences."""
    after = sim.step(q, v, **acting)

    def moved(t: float) -> Any:
        more = {name: np.asarray(x) + t * rates[name] for name, x in acting.items() if name in rates}
        more = {**acting, **more}
        here = bough.integrate(sim.model, q, t * rates["q"])
        there = sim.step(here, np.asarray(v) + t * rates["v"], **more)
        assert not there.status.any()
        return np.concatenate([bough.difference(sim.model, after.q, there.q), there.v], axis=-1)

    return (8.0 * (moved(SMALL) - moved(-SMALL)) - (moved(2 * SMALL) - moved(-2 * SMALL))) / (12.0 * SMALL)


def error_along(sim: bough.Simulation, q: Any, v: Any, rng: np.random.Generator, acting: dict[str, Any]) -> float:
    """How far jvp is from differences along a direction, relative to their size; jvp and vjp agree."""
    n = sim.model.nv
    wanted = {name: x for name, x in acting.items() if name in ("tau", "control", "target")}
    rates = {name: rng.normal(size=np.shape(x)) for name, x in {"q": np.zeros(n), "v": np.zeros(n), **wanted}.items()}
    found = np.concatenate(sim.jvp(q, v, rates, **acting), axis=-1)
    expected = central(sim, q, v, rates, acting)
    weights = rng.normal(size=2 * n)
    back = sim.vjp(q, v, weights[:n], weights[n:], **acting)
    assert back.keys() == rates.keys()
    total = sum(float(np.sum(back[name] * rates[name])) for name in rates)
    np.testing.assert_allclose(total, weights @ found, rtol=1e-9)
    return float(abs(found - expected).max() / abs(expected).max())


@pytest.mark.parametrize(
    ("cone", "integrator", "condim"), [("pyramidal", "Euler", 3), ("elliptic", "Euler", 6), ("elliptic", "RK4", 4)]
)
def test_steps_on_the_floor_have_the_derivatives_of_differences(
    cone: str, integrator: str, condim: int, rng: np.random.Generator
) -> None:
    model = bough.load(ON_THE_FLOOR.format(cone=cone, integrator=integrator, condim=condim))
    sim = bough.Simulation(model, tolerance=1e-14)
    q, v = np.array(model.simulation.reference), 0.05 * rng.normal(size=model.nv)
    assert (sim.contacts(q, v, control=[0.6]).forces[:, 2] > 0.0).sum() >= 2  # both links
    assert error_along(sim, q, v, rng, {"control": np.array([0.6]), "tau": 0.1 * rng.normal(size=model.nv)}) < 1e-6


def accelerations_slope(sim: bough.Simulation, q: Any, v: Any, w: Any, rates: tuple[Any, Any], steps: int) -> float:
    """How the accelerations after some steps, weighted, change along a direction, by differences."""

    def total(t: float) -> float:
        return float(w @ sim.step(bough.integrate(sim.model, q, t * rates[0]), v + t * rates[1], steps=steps).a)

    return (8.0 * (total(SMALL) - total(-SMALL)) - (total(2 * SMALL) - total(-2 * SMALL))) / (12.0 * SMALL)


@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize(
    ("cone", "integrator"), [("pyramidal", "Euler"), ("elliptic", "implicitfast"), ("elliptic", "RK4")]
)
def test_accelerations_of_a_step_have_gradients(
    cone: str, integrator: str, steps: int, rng: np.random.Generator
) -> None:
    model = bough.load(ON_THE_FLOOR.format(cone=cone, integrator=integrator, condim=3))
    sim = bough.Simulation(model, tolerance=1e-14)
    q, v = np.array(model.simulation.reference), 0.05 * rng.normal(size=model.nv)
    w, *rates = rng.normal(size=(3, model.nv))
    expected = accelerations_slope(sim, q, v, w, (rates[0], rates[1]), steps)
    torch, jax = (pytest.importorskip(name) for name in ("torch", "jax"))
    by_v, way = torch.tensor(v, requires_grad=True), torch.zeros(model.nv, dtype=torch.float64, requires_grad=True)
    (sim.step(bough.integrate(model, q, way), by_v, steps=steps).a @ torch.tensor(w)).backward()
    assert float(way.grad.numpy() @ rates[0] + by_v.grad.numpy() @ rates[1]) == pytest.approx(expected, rel=1e-6)
    with jax.enable_x64(True):
        found = jax.grad(lambda d, v: w @ sim.step(bough.integrate(model, q, d), v, steps=steps).a, (0, 1))(0.0 * v, v)
    assert float(np.asarray(found[0]) @ rates[0] + np.asarray(found[1]) @ rates[1]) == pytest.approx(expected, rel=1e-6)


ACTUATED = """<mujoco><option timestep="0.004" integrator="implicitfast"/>
  <worldbody><geom type="plane" size="0 0 1"/>
    <body pos="0 0 0.0997"><joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
      <geom size="0.1"/>
      <body pos="0.1 0 0.2"><joint name="hip" axis="0 1 0" damping="0.3" actuatorfrcrange="-2 2"/>
        <geom size="0.06" pos="0.2 0 0"/>
        <body pos="0.3 0 0"><joint name="wrist" type="ball"/>
          <geom type="box" size="0.1 0.05 0.02" pos="0.1 0 0"/></body>
      </body></body>
  </worldbody><actuator><position joint="hip" kp="3" kv="0.2"/><velocity joint="x" kv="30"/>
    <velocity joint="z" kv="30" forcerange="-1 1"/>
    <general joint="wrist" gear="1 2 -0.5" gainprm="3" biastype="affine" biasprm="0 0 -2"/></actuator></mujoco>"""


@pytest.mark.parametrize("bounded", [False, True])
def test_steps_that_are_implicit_in_actuators_have_the_derivatives_of_differences(
    bounded: bool, rng: np.random.Generator
) -> None:
    model = bough.load(ACTUATED)
    sim = bough.Simulation(model, tolerance=1e-14)
    q, v = np.array(model.simulation.reference), 0.05 * rng.normal(size=model.nv)
    control = np.array([0.3, 1.0, 0.01, 0.5]) * (5.0 if bounded else 1.0)  # forces within bounds, or at them
    assert error_along(sim, q, v, rng, {"control": control, "tau": 0.1 * rng.normal(size=model.nv)}) < 1e-6


def test_contact_between_bodies_is_heeded(rng: np.random.Generator) -> None:
    model = bough.load(TOUCHING)
    sim = bough.Simulation(model, tolerance=1e-14)
    q, v = np.array(model.simulation.reference), 0.05 * rng.normal(size=model.nv)
    bodies = {tuple(pair) for pair in sim.contact_pairs}
    assert len(bodies) > 1
    assert (abs(sim.contacts(q, v).forces).max(axis=1) > 0.0).sum() >= 2  # with the floor, and with each other
    assert error_along(sim, q, v, rng, {"tau": rng.normal(size=model.nv)}) < 1e-6


def test_loops_limits_of_positions_and_targets_are_heeded(rng: np.random.Generator) -> None:
    b = bough.Builder()
    bound = [0.5, *[np.inf] * 6]
    b.add("base", bough.joints.Free(), mass=1.0, inertia=0.1, upper=bound)
    b.add("crank", bough.joints.Revolute("y"), "base", mass=0.5, com=(0.2, 0, 0), inertia=0.02, damping=0.1)
    b.add("rod", bough.joints.Revolute("y"), "crank", at=(0.4, 0, 0), mass=0.4, com=(0.3, 0, 0), inertia=0.02, effort=5)
    b.add("slider", bough.joints.Prismatic("x"), "base", mass=0.3, inertia=0.01)
    b.loop("pin", bough.joints.Revolute("y"), "slider", "rod", successor_at=(0.6, 0, 0))
    model = b.build()
    q = bough.loops.assemble(model, bough.neutral(model))
    q[0], q[7] = 0.5003, 1e-4  # beyond a limit of the position, and not quite closed
    sim = bough.Simulation(model, dt=0.002, tolerance=1e-14)
    target = np.zeros(model.nv)
    target[6:] = 0.3
    acting = {"target": target, "kp": 4.0, "kd": 0.3}
    assert error_along(sim, q, 0.2 * rng.normal(size=model.nv), rng, acting) < 1e-6


@pytest.mark.parametrize("integrator", ["euler", "rk4"])
def test_in_the_air_they_are_those_of_analytic_dynamics(integrator: str, rng: np.random.Generator) -> None:
    b = bough.Builder()
    b.add("upper", bough.joints.Revolute("y"), mass=1.0, com=(0.1, 0, -0.2), inertia=0.1)
    b.add(
        "ball", bough.joints.Revolute((1, 1, 0)), "upper", at=(0, 0, -0.4), mass=0.6, com=(0, 0.1, -0.2), inertia=0.05
    )
    model, h = b.build(), 1e-3
    q, v, tau = rng.normal(size=(3, 2))
    by = bough.Simulation(model, dt=h, integrator=integrator).jacobian(q, v, tau=tau)
    exact = [h * x for x in bough.derivatives.forward_dynamics(model, q, v, tau)]
    one = np.eye(2)
    if integrator == "euler":  # v + h a, then q + h v
        speed = [exact[0], one + exact[1], exact[2]]
        place = [one + h * speed[0], h * speed[1], h * speed[2]]
        for name, above, below in zip(("q", "v", "tau"), place, speed, strict=True):
            np.testing.assert_allclose(by[name], np.concatenate([above, below]), rtol=1e-12, atol=1e-14)
    else:  # to the first order
        np.testing.assert_allclose(by["tau"][2:], exact[2], atol=1e-5)
        np.testing.assert_allclose(by["q"][2:], exact[0], atol=1e-4)


def test_many_states_at_once_and_parameters(rng: np.random.Generator) -> None:
    model = bough.load(ON_THE_FLOOR.format(cone="pyramidal", integrator="Euler", condim=3))
    body = model.bodies[1].name
    names = [f"mass of {body}", "friction", "gravity"]
    sim = bough.Simulation(model, tolerance=1e-14, parameters=names)
    resting = np.array(model.simulation.reference)
    q = np.array([resting, resting + np.eye(8)[2]])  # one on the floor, one in the air
    v = 0.1 * rng.normal(size=(2, 7))
    v[0, :2] = 1.0  # which slides
    values = {names[0]: model.bodies[1].inertia.mass, "friction": np.array([0.8, 1.2]), "gravity": [0.0, 0.3, -9.0]}
    by = sim.jacobian(q, v, wrt=["q", *names], parameters=values)
    assert {name: x.shape for name, x in by.items()} == {
        "q": (2, 14, 7), names[0]: (2, 14, 1), "friction": (2, 14, 1), "gravity": (2, 14, 3)
    }  # fmt: skip
    assert abs(by["friction"][0]).max() > 1e-5
    assert not by["friction"][1].any()
    bar = rng.normal(size=14)
    back = sim.vjp(q, v, bar[:7], bar[7:], wrt=["friction", "gravity"], parameters=values)
    np.testing.assert_allclose(back["gravity"], np.einsum("i,bij->bj", bar, by["gravity"]), rtol=1e-10, atol=1e-14)
    assert back["friction"].shape == (2,)
    for name in names:
        change = sim.jvp(q, v, {name: 1.0 if name != "gravity" else [0, 0, 1.0]}, parameters=values)

        def moved(t: float, name: str = name) -> Any:
            more = np.array(values[name]) + (t if name != "gravity" else t * np.array([0, 0, 1.0]))
            return sim.step(q, v, parameters={**values, name: more}).v

        expected = (moved(1e-5) - moved(-1e-5)) / 2e-5
        np.testing.assert_allclose(change[1], expected, rtol=1e-5, atol=1e-7 * abs(expected).max())


def test_what_has_no_derivatives_is_refused() -> None:
    model = bough.robots.load("pendulum")
    with pytest.raises(bough.errors.ModelError, match="integrator 'variational' have no derivatives, expected 'euler'"):
        bough.Simulation(model, integrator="variational").jacobian([0.0], [0.0])
    with pytest.raises(bough.errors.ModelError, match="the law 'hard' have no derivatives, expected law='soft'"):
        bough.Simulation(model, law="hard").rollout([0.0], steps=2)
    sim = bough.Simulation(model)
    with pytest.raises(bough.errors.ModelError, match="derivatives with respect to tau are requested and tau is None"):
        sim.vjp([0.0], [0.0], [1.0], [0.0], wrt="tau")
    with pytest.raises(bough.errors.UnknownNameError, match="step depends on is called 'torque'"):
        sim.jvp([0.0], [0.0], {"torque": [1.0]})
    with pytest.raises(bough.errors.ProgramError, match="a second derivative is asked for: the vjp of 'step'"):
        sim._step.vjp("q").jvp()


@pytest.mark.parametrize(("name", "height"), [("half_cheetah", 1), ("ant", 2)])
def test_robots_on_the_floor_have_the_derivatives_of_differences(
    name: str, height: int, rng: np.random.Generator
) -> None:
    assets = Path(pytest.importorskip("gymnasium").__file__).parent / "envs" / "mujoco" / "assets"
    pytest.importorskip("mujoco")
    robot = bough.load(assets / f"{name}.xml")
    sim, n = bough.Simulation(robot, tolerance=1e-13, integrator="euler"), robot.nv
    q = bough.integrate(robot, robot.simulation.reference, 0.1 * rng.normal(size=n))
    q[height] -= bough.simulation.lowest_point(robot, q) + 3e-4  # a little into the floor
    v, acting = 0.1 * rng.normal(size=n), {"tau": 0.1 * rng.normal(size=n)}
    v[height] = -0.5
    assert (abs(sim.contacts(q, v).forces).max(axis=-1) > 1e-3).any()
    rates = {name: rng.normal(size=n) for name in ("q", "v", "tau")}
    found = np.concatenate(sim.jvp(q, v, rates, **acting))
    expected = central(sim, q, v, rates, acting)
    assert abs(found - expected).max() < 1e-6 * abs(expected).max()


@pytest.mark.parametrize("dt", [0.004, 0.03])  # the longer one bounds the time constants of contacts
@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4"])
def test_steps_have_derivatives_by_their_length(integrator: str, dt: float, rng: np.random.Generator) -> None:
    model = bough.load(ON_THE_FLOOR.format(cone="elliptic", integrator=integrator, condim=3))
    n, q, v = model.nv, np.array(model.simulation.reference), 0.05 * rng.normal(size=model.nv)
    acting: Any = {"target": rng.normal(size=n), "kp": np.full(n, 3.0), "kd": np.full(n, 0.2)}
    held = {name: np.tile(x, (3, 1)) if name == "target" else x for name, x in acting.items()}
    h, sim = 1e-5 * dt, bough.Simulation(model, dt=dt, tolerance=1e-14)
    assert abs(sim.contacts(q, v, **acting).forces).max() > 1.0

    def slope(steps: int) -> Any:
        """The change of the state after some steps with their length, by differences."""

        def moved(k: int) -> Any:
            there = bough.Simulation(model, dt=dt + k * h, tolerance=1e-14).step(q, v, steps=steps, **acting)
            return np.concatenate([bough.difference(model, after.q, there.q), there.v])

        after = sim.step(q, v, steps=steps, **acting)
        return (8.0 * (moved(1) - moved(-1)) - (moved(2) - moved(-2))) / (12.0 * h)

    expected = slope(1)
    by = sim.jacobian([q, q], v, wrt=["q", "dt"], **acting)["dt"]
    assert by.shape == (2, 2 * n, 1)
    assert abs(by[0, :, 0] - expected).max() < 1e-7 * abs(expected).max()
    np.testing.assert_allclose(np.concatenate(sim.jvp(q, v, {"dt": 1.0}, **acting)), by[1, :, 0], rtol=1e-12)
    weights = rng.normal(size=2 * n)
    back = sim.vjp(q, v, weights[:n], weights[n:], wrt="dt", **acting)["dt"]
    np.testing.assert_allclose(back, weights @ by[0, :, 0], rtol=1e-9)
    run = sim.rollout(q, v, **held)
    last = np.zeros((2, *run.v.shape))
    last[0, -1], last[1, -1] = weights[:n], weights[n:]
    np.testing.assert_allclose(run.gradient(*last, wrt="dt")["dt"], weights @ slope(3), rtol=1e-6)
