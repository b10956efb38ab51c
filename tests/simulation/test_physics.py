"""A simulation obeys physics: flight, pendula and friction by their formulas, rest, limits, and hostile states."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipk

import bough
from bough.simulation import State

pytestmark = pytest.mark.usefixtures("compiled")

G = 9.81
MOMENTS = np.array([0.1, 0.2, 0.28])


def free_body(gravity: float) -> bough.Model:
    b = bough.Builder("body", gravity=(0, 0, -gravity))
    b.add("body", bough.joints.Free(), mass=2.0, inertia=np.diag(MOMENTS))
    return b.build()


def hinges(lengths: list[float]) -> bough.Model:
    """Point masses on strings that are always taut."""
    b = bough.Builder("hinges")
    for k, length in enumerate(lengths):
        parent, at = (f"rod{k - 1}", (0, 0, -lengths[k - 1])) if k else ("world", (0, 0, 0))
        b.add(f"rod{k}", bough.joints.Revolute((0, 1, 0)), parent, at=at, mass=1.0, com=(0, 0, -length))
    return b.build()


def on_a_floor(geom: str, options: str = "", floor: str = "", count: int = 1, gap: float = 0.0) -> bough.Model:
    """Free bodies above each other over a floor, through MJCF."""
    bodies = "".join(f'<body pos="0 0 {gap * k}"><freejoint/><geom {geom}/></body>' for k in range(count))
    plane = f'<geom name="floor" type="plane" size="0 0 1" {floor}/>'
    return bough.load(f"<mujoco><option {options}/><worldbody>{plane}{bodies}</worldbody></mujoco>")


def along_world(model: bough.Model, state: State) -> np.ndarray:
    """Velocity and angular velocity of the first body along the axes of the world."""
    return bough.velocities(model, state.q, state.v, reference="LOCAL_WORLD_ALIGNED")[0]


def rests(sim: bough.Simulation, q: Any, seconds: float, **acting: Any) -> float:
    """The fastest velocity at any of the last hundred steps."""
    state = sim.step(q, np.zeros(sim.model.nv), steps=round(seconds / sim.dt), **acting)
    fastest = 0.0
    for _ in range(100):
        state = sim.step(state.q, state.v, a=state.a, **acting)
        fastest = max(fastest, float(np.abs(state.v).max()))
    assert not state.status.any()
    return fastest


def raised(model: bough.Model, height: float) -> np.ndarray:
    q = bough.neutral(model)
    q[2] = height
    return q


# ---- without contact -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("integrator", "order"), [("euler", 1), ("rk4", 4)])
def test_a_tumbling_body_flies_on_a_parabola_and_turns_with_the_right_order(integrator: str, order: int) -> None:
    model, v = free_body(G), np.array([1.0, 0.5, 3.0, 0.3, 4.0, 0.2])
    q = bough.neutral(model)

    def after(steps: int, integrator: str = integrator) -> State:
        return bough.Simulation(model, dt=1.0 / steps, integrator=integrator).step(q, v, steps=steps)

    exact, errors = after(2048, "rk4"), []
    for steps in (32, 64, 128):
        errors.append(np.abs(bough.difference(model, after(steps).q, exact.q)[3:]).max())
    assert np.log2(np.divide(errors[:-1], errors[1:])) == pytest.approx(order, abs=0.1)
    fall = G / 2 * (1 + 1 / 128 if integrator == "euler" else 1)
    np.testing.assert_allclose(after(128).q[:3], [1.0, 0.5, 3.0 - fall], rtol=1e-12)


def test_a_hundred_thousand_steps_keep_momentum_energy_and_unit_quaternions() -> None:
    model, v = free_body(0.0), np.array([1.0, 0.5, 3.0, 0.3, 4.0, 0.2])
    sim = bough.Simulation(model, dt=1e-3, integrator="rk4")
    state = sim.step(bough.neutral(model), v, steps=100_000)
    assert abs(np.linalg.norm(state.q[3:]) - 1.0) < 1e-15
    R = bough.placements(model, state.q)[0, :3, :3]
    np.testing.assert_allclose(R @ (MOMENTS * state.v[3:]), MOMENTS * v[3:], atol=1e-11)
    np.testing.assert_allclose(R @ state.v[:3], v[:3], rtol=100_000 * 4 * np.finfo(float).eps)  # each step rounds
    assert (MOMENTS * state.v[3:] ** 2).sum() == pytest.approx((MOMENTS * v[3:] ** 2).sum(), rel=1e-12)


@pytest.mark.parametrize(("integrator", "error"), [("euler", 1e-4), ("rk4", 1e-9)])
def test_a_pendulum_swings_with_its_period(integrator: str, error: float) -> None:
    """With an amplitude of two radians: 4 sqrt(l/g) K(sin 1)."""
    period = 4.0 * np.sqrt(0.7 / G) * ellipk(np.sin(1.0) ** 2)
    state = bough.Simulation(hinges([0.7]), dt=period / 1000, integrator=integrator).step([2.0], [0.0], steps=1000)
    assert abs(state.v[0]) < error
    assert abs(state.q[0] - 2.0) < error


def test_a_double_pendulum_moves_as_a_fine_integration_says() -> None:
    """Masses 1 and 1 on strings of 1 m, angles from the vertical, the equations of every textbook."""

    def rate(_: float, y: np.ndarray) -> list[float]:
        a, b, u, w = y
        sine, cosine = np.sin(a - b), np.cos(a - b)
        M = np.array([[2.0, cosine], [cosine, 1.0]])
        first, second = np.linalg.solve(M, [-sine * w * w - 2 * G * np.sin(a), sine * u * u - G * np.sin(b)])
        return [u, w, first, second]

    exact = solve_ivp(rate, (0, 2), [2.0, 3.0, 0.0, 0.0], method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    model, errors = hinges([1.0, 1.0]), []
    for steps in (2000, 4000):
        state = bough.Simulation(model, dt=2.0 / steps, integrator="rk4").step([2.0, 1.0], [0.0, 0.0], steps=steps)
        (a, d), (u, w) = state.q, state.v
        errors.append(np.abs(np.array([a, a + d, u, u + w]) - exact).max())
    assert errors[1] < 1e-9
    assert errors[0] / errors[1] == pytest.approx(16, rel=0.15)


# ---- friction --------------------------------------------------------------------------------------------------------


@lru_cache
def tile(cone: str) -> tuple[bough.Simulation, np.ndarray]:
    """A flat box on the floor, mu = 0.5, and the configuration in which it rests."""
    model = on_a_floor('type="box" size="0.2 0.2 0.01" friction="0.5"', f'cone="{cone}"', 'friction="0.5"')
    sim = bough.Simulation(model)
    return sim, sim.step(raised(model, 0.01), np.zeros(6), steps=1000).q


@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
def test_friction_holds_up_to_its_cone_and_no_further(cone: str) -> None:
    """On slopes of 0.99 and 1.01 times the threshold, in all directions; a pyramid along its axes."""
    sim, rest = tile(cone)
    angles = np.radians(np.arange(0, 360, 15 if cone == "elliptic" else 90))
    share, angle = np.meshgrid([0.99, 1.01], angles, indexing="ij")
    slope, weight = np.arctan(0.5 * share), sim.model.bodies[0].inertia.mass * G
    force = np.zeros((*share.shape, 1, 6))  # what turns gravity to that of a slope
    force[..., 0, 0] = weight * np.sin(slope) * np.cos(angle)
    force[..., 0, 1] = weight * np.sin(slope) * np.sin(angle)
    force[..., 0, 2] = weight * (1 - np.cos(slope))
    q, v = np.broadcast_to(rest, (*share.shape, 7)), np.zeros((*share.shape, 6))
    state = sim.step(q, v, steps=1000, f_ext=force)
    speed = np.linalg.norm(state.v[..., :2], axis=-1)
    assert speed[0].max() < 0.006  # creeps: the law is soft
    expected = 2.0 * G * (np.sin(slope[1, 0]) - 0.5 * np.cos(slope[1, 0]))
    np.testing.assert_allclose(speed[1], expected, rtol=0.25)
    assert speed[1].min() > 10 * speed[0].max()


def test_a_block_slides_to_rest_as_far_as_friction_lets_it() -> None:
    sim, rest = tile("elliptic")
    angles = np.radians(np.arange(0, 90, 15))
    v = np.zeros((len(angles), 6))
    v[:, 0], v[:, 1] = 3.0 * np.cos(angles), 3.0 * np.sin(angles)
    state = sim.step(np.tile(rest, (len(angles), 1)), v, steps=1000)
    far = np.linalg.norm(state.q[:, :2] - rest[:2], axis=-1)
    np.testing.assert_allclose(far, 3.0**2 / (2 * 0.5 * G), rtol=0.01)
    assert np.abs(state.v).max() < 1e-8


def test_a_ball_slides_until_it_rolls_and_a_spinning_one_is_slowed() -> None:
    """At 5/7 of its speed, with friction of any size; torsional friction takes mu_t m g of its moment per second."""
    options = 'cone="elliptic" impratio="100"'
    model = on_a_floor('size="0.1" condim="4" friction="0.3 0.02"', options, 'condim="4" friction="0.3 0.02"')
    sim = bough.Simulation(model)
    rest = sim.step(raised(model, 0.1), np.zeros(6), steps=1000).q
    state = sim.step(rest, [2.0, 0, 0, 0, 0, 0], steps=500)
    linear, angular = np.split(along_world(model, state), 2)
    assert linear[0] == pytest.approx(2.0 * 5 / 7, rel=2e-3)
    assert linear[0] == pytest.approx(0.1 * angular[1], rel=5e-3)
    spun = sim.step(rest, [0, 0, 0, 0, 0, 20.0], steps=100)
    inertia = model.bodies[0].inertia
    slower = 0.02 * inertia.mass * G / (0.4 * inertia.mass * 0.1**2)
    assert 20.0 - spun.v[5] == pytest.approx(slower * 0.2, rel=0.02)  # under the convex law it hops a little
    assert abs(sim.step(rest, [0, 0, 0, 0, 0, 20.0], steps=500).v[5]) < 1e-9


# ---- rest ------------------------------------------------------------------------------------------------------------


SOLIDS = {
    "box": 'type="box" size="0.1 0.07 0.05"',
    "capsule": 'type="capsule" size="0.05 0.1" euler="90 0 0"',
    "cylinder": 'type="cylinder" size="0.1 0.05"',
}


@pytest.mark.parametrize("name", SOLIDS)
def test_what_rests_on_the_floor_does_so_for_a_minute(name: str) -> None:
    model = on_a_floor(SOLIDS[name])
    assert rests(bough.Simulation(model), raised(model, 0.06), 60.0) < 1e-8


def test_robots_rest_on_the_floor() -> None:
    """A quadruped that fell down, and one that stands on its feet, held by stiff and strongly damped joints."""
    model = bough.robots.load("quadruped")
    sim, q = bough.Simulation(model, bough.Scene(model, self_collision=False).floor()), raised(model, 0.6)
    joints = np.r_[np.zeros(6), np.ones(12)]
    for kp, kd in ((0.0, 0.0), (500.0, 5.0)):
        assert rests(sim, q, 60.0, target=np.zeros(18), kp=kp * joints, kd=kd * joints) < 1e-6


def test_a_stack_of_ten_boxes_stands() -> None:
    """Each in a vertical plane, which is what a planar joint about y leaves: q is z, x and an angle."""
    b = bough.Builder("stack")
    for k in range(10):
        b.add(f"box{k}", bough.joints.Planar((0, 1, 0)), mass=4.0, inertia=np.diag([0.017, 0.017, 0.027]))
        b.geometry(f"box{k}", "box", (0.2, 0.2, 0.1), purpose="collision")
    model = b.build()
    q = np.zeros((10, 3))
    q[:, 0] = 0.05 + 0.1 * np.arange(10)
    np.testing.assert_allclose(bough.placements(model, q.ravel())[:, 2, 3], q[:, 0])
    state = bough.Simulation(model, bough.Scene(model).floor()).step(q.ravel(), np.zeros(30), steps=5000)
    assert np.abs(state.q.reshape(10, 3) - q).max() < 0.01
    assert np.abs(state.v).max() < 1e-6


# ---- limits, friction of joints, targets, actuators ------------------------------------------------------------------

ROD = """<mujoco><option gravity="0 0 {gravity}"/><worldbody><body><joint name="j" axis="0 1 0" {joint}/>
  <geom type="capsule" fromto="0 0 0 1 0 0" size="0.05"/></body></worldbody><actuator>{actuator}</actuator></mujoco>"""


def rod(joint: str = "", actuator: str = "", gravity: float = 0.0) -> tuple[bough.Simulation, float]:
    """A rod on a hinge, and its moment of inertia."""
    model = bough.load(ROD.format(joint=joint, actuator=actuator, gravity=gravity))
    return bough.Simulation(model), float(bough.crba(model, [0.0])[0, 0])


def test_limits_of_positions_that_turn_are_those_of_slides() -> None:
    """A planar joint with limits moves as two slides and a hinge do."""
    box = {"lower": [-1.0, -0.5, -np.inf], "upper": [0.5, 1.0, np.inf]}
    one, three = (bough.Builder(name, gravity=(3.0, -2.0, 0.0)) for name in ("puck", "slides"))
    body = {"mass": 1.2, "inertia": 0.3}
    one.add("puck", bough.joints.Planar(), **body, **box)
    for k, name in enumerate("xy"):
        three.add(name, bough.joints.Prismatic(name), "x" * k or "world", lower=box["lower"][k], upper=box["upper"][k])
    three.add("puck", bough.joints.Revolute("z"), "y", **body)
    first, second = (
        bough.Simulation(b.build()).run([0, 0, 0.3], duration=2.0, tau=[0, 0, 0.2]).q for b in (one, three)
    )
    np.testing.assert_allclose(first, second, atol=1e-7)
    assert 0.5 < first[:, 0].max() < 0.52
    b = bough.Builder("ball")
    b.add("ball", bough.joints.Free(), mass=1.0, inertia=0.1, lower=[-np.inf, -np.inf, -1.0, *[-np.inf] * 4])
    fell = bough.Simulation(b.build()).run(bough.neutral(b.build()), [0, 0, 0, 1, 2, 3], duration=3.0)
    assert -1.06 < fell.q[:, 2].min() < -1.0
    assert fell.q[-1, 2] == pytest.approx(-1.0, abs=1e-3)
    np.testing.assert_allclose(fell.v[-1, 3:], [1, 2, 3], rtol=1e-9)


def test_limits_hold() -> None:
    sim, _ = rod('range="-30 40" limited="true"', gravity=-G)
    state = sim.step([[0.0], [0.0]], [[0.0], [-20.0]], steps=5000)
    np.testing.assert_allclose(np.degrees(state.q), 40.0, atol=0.05)
    assert np.abs(state.v).max() < 1e-9


def test_dry_friction_slows_at_its_rate_and_stops() -> None:
    sim, moment = rod('frictionloss="2"')
    assert sim.step([0.0], [3.0], steps=100).v[0] == pytest.approx(3.0 - 0.2 * 2.0 / moment, rel=1e-9)
    assert abs(sim.step([0.0], [3.0], steps=5000).v[0]) < 1e-9


def test_actuators_stay_in_their_ranges() -> None:
    motor = '<motor joint="j" gear="3" ctrlrange="-1 1" ctrllimited="true"/>'
    servo = '<position joint="j" kp="200" kv="20" forcerange="-50 50" forcelimited="true"/>'
    sim, moment = rod(actuator=motor + servo)
    q, v = np.zeros((4, 1)), np.zeros((4, 1))
    control = np.array([[0.5, 0.0], [1.0, 0.0], [50.0, 0.0], [0.0, 1.0]])
    force = sim.contacts(q, v, control=control).acceleration[:, 0] * moment
    np.testing.assert_allclose(force, [1.5, 3.0, 3.0, 50.0], rtol=1e-12)
    assert sim.step([0.0], [0.0], control=[0.0, 0.3], steps=5000).q[0] == pytest.approx(0.3, abs=1e-9)


def test_targets_are_reached_whatever_the_damping_and_the_effort() -> None:
    """Joints of an arm whose moments are far less than kd dt, and whose efforts are reached on the way."""
    arm = bough.robots.load("arm")
    target = np.array([0.3, -0.4, 0.5, 0.2, -0.3, 0.1])
    weight = bough.rnea(arm, target, np.zeros(6), np.zeros(6))
    state = bough.Simulation(arm).step(np.zeros(6), np.zeros(6), steps=5000, tau=weight, target=target, kp=400, kd=20)
    np.testing.assert_allclose(state.q, target, atol=1e-6)
    assert np.abs(state.v).max() < 1e-6


def test_efforts_bound_the_force_to_a_target() -> None:
    b = bough.Builder("cart", gravity=(0, 0, 0))
    b.add("cart", bough.joints.Prismatic((1, 0, 0)), mass=2.0, effort=3.0)
    state = bough.Simulation(b.build()).step([0.0], [0.0], steps=100, target=[1e3], kp=10.0, kd=1.0)
    assert state.v[0] == pytest.approx(0.2 * 3.0 / 2.0, rel=1e-12)


def test_a_planar_joint_goes_to_its_target_however_it_is_turned() -> None:
    b = bough.Builder("puck", gravity=(0, 0, 0))
    b.add("puck", bough.joints.Planar(), mass=2.0, inertia=0.1)
    state = bough.Simulation(b.build()).step([0, 0, 2.0], [0, 0, 0], steps=5000, target=[1, -2, 2.0], kp=50, kd=20)
    np.testing.assert_allclose(state.q, [1.0, -2.0, 2.0], atol=1e-9)


def test_a_plane_that_moves_rests_on_a_ball_that_does_not() -> None:
    b = bough.Builder("plate")
    b.add("plate", bough.joints.Prismatic((0, 0, 1)), mass=2.0)
    b.geometry("plate", "plane", (1, 1), purpose="collision", rpy=(np.pi, 0, 0))
    model = b.build()
    sim = bough.Simulation(model, bough.Scene(model).sphere(0.1, at=(0.8, 0, 0)))
    assert sim.step([0.2], [0.0], steps=2000).q[0] == pytest.approx(0.1, abs=1e-3)
