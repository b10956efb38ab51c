"""Hard contact: what strikes bounces, friction is Coulomb's, what rests stays, and nothing sinks in."""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
import pytest

import bough
from bough.errors import ModelError, SimulationWarning
from bough.simulation import State, Surface
from model_strategies import random_rotation

pytestmark = pytest.mark.usefixtures("compiled")

G, RADIUS = 9.81, 0.1
RESTITUTIONS = (0.0, 0.3, 0.6, 0.9, 1.0)

HOPPER = """<mujoco><worldbody><geom type="plane" size="0 0 1"/>
  <body pos="0 0 0.1"><freejoint/><geom type="box" size="0.2 0.15 0.1"/>
    <body pos="0.3 0 0"><joint name="j" axis="0 1 0" range="-60 60" limited="true" damping="0.1"/>
      <geom type="capsule" size="0.03 0.1"/></body></body></worldbody></mujoco>"""

LINKAGE = """<mujoco><worldbody>
  <body><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 0.2" size="0.01"/>
    <body pos="0 0 0.2"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.01"/>
      <body name="end" pos="0.4 0 0"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.01"/>
  </body></body></body></worldbody>
  <equality><connect body1="end" anchor="0 0 -0.2"/></equality></mujoco>"""


@lru_cache
def balls() -> bough.Simulation:
    """Balls side by side on a floor, each with a restitution of its own."""
    b = bough.Builder("balls")
    for k, e in enumerate(RESTITUTIONS):
        b.add(f"ball{k}", bough.joints.Free(), mass=1.0 + k, inertia=0.4 * (1.0 + k) * RADIUS**2 * np.eye(3))
        b.geometry(f"ball{k}", "sphere", RADIUS, surface=Surface(restitution=e))
    scene = bough.Scene(b.build(), self_collision=False).floor(friction=0.3)
    return bough.Simulation(scene, law="hard", dt=0.002)


def at_height(height: float) -> np.ndarray:
    q = bough.neutral(balls().model)
    q[2::7] = height + RADIUS
    return q


@lru_cache
def tile() -> tuple[bough.Simulation, np.ndarray]:
    """A flat box on a floor, mu = 0.5, and where it rests."""
    b = bough.Builder("tile")
    b.add("tile", bough.joints.Free(), mass=1.5, inertia=np.diag([0.02, 0.02, 0.04]))
    b.geometry("tile", "box", (0.4, 0.4, 0.02))
    q = bough.neutral(model := b.build())
    q[2] = 0.01
    return bough.Simulation(bough.Scene(model).floor(friction=0.5), law="hard"), q


@lru_cache
def hopper() -> bough.Simulation:
    return bough.Simulation(bough.load(HOPPER), law="hard")


def step(sim: bough.Simulation, q: Any, v: Any, steps: int, **acting: Any) -> State:
    """So many steps of one state, as a batch of one: what is compiled for batches serves all tests."""
    return State(*(x[0] for x in sim.step([q], v, steps=steps, **acting)))


# ---- impacts ---------------------------------------------------------------------------------------------------------


def test_balls_bounce_to_the_heights_that_restitution_says() -> None:
    """The error is of second order in dt: of a height of 1 m, less than a millimetre."""
    z = balls().run([at_height(1.0)], duration=1.5, rate=500).q[:, 0, 2::7] - RADIUS
    assert z.min() > -1e-5  # an impulse that begins gives way by a thousandth of dt v
    floor, fall = int(np.argmin(z[:300, -1])), np.sqrt(2 / G)
    for k, e in enumerate(RESTITUTIONS):
        assert z[floor + 2 : floor + 3 + round(500 * 2 * e * fall), k].max() == pytest.approx(e * e, abs=1e-3)


def test_bounces_come_to_an_end() -> None:
    end = step(balls(), at_height(0.05), np.zeros(30), 2000)
    assert np.abs(end.q[2:28:7] - RADIUS).max() < 1e-6
    assert np.abs(end.v[:18]).max() < 1e-9


def test_the_last_ball_of_a_cradle_flies_off_and_the_others_stay() -> None:
    """As many balls as come, whether there is a hair between them or none."""
    b = bough.Builder("cradle", gravity=(0, 0, 0))
    for k in range(5):
        b.add(f"ball{k}", bough.joints.Prismatic((1, 0, 0)), "world", mass=1.0)
        b.geometry(f"ball{k}", "sphere", RADIUS)
    sim = bough.Simulation(b.build(), law="hard", restitution=1.0)
    for moving, hair in ((1, 0.0), (2, 0.0), (1, 1e-5)):
        q, v = (2 * RADIUS + hair) * np.arange(5), np.zeros(5)
        q[:moving] -= 0.05
        v[:moving] = 1.0
        np.testing.assert_allclose(step(sim, q, v, 100).v, v[::-1], atol=1e-9)


def row_of_balls(*masses: float) -> bough.Simulation:
    """Balls on a line that touch each other where q is 0, of restitution 1."""
    b = bough.Builder("row", gravity=(0, 0, 0))
    for k, mass in enumerate(masses):
        b.add(f"ball{k}", bough.joints.Prismatic("x"), at=(2 * RADIUS * k, 0, 0), mass=mass)
        b.geometry(f"ball{k}", "sphere", RADIUS)
    return bough.Simulation(b.build(), law="hard", restitution=1.0)


def test_what_is_struck_twice_within_a_step_bounces_twice(rng: np.random.Generator) -> None:
    """The middle ball is thrown back by the heavy one, or caught up with by it, wherever in the step it was struck."""
    for masses, ends in (((1, 1, 3), (-0.5, 0.0, 0.5)), ((3, 1, 1), (0.25, 0.75, 1.5))):
        q = np.zeros((8, 3))
        q[:, 0] = -rng.uniform(0.01, 0.02, 8)
        state = row_of_balls(*masses).step(q, np.tile([1.0, 0.0, 0.0], (8, 1)), steps=50)
        np.testing.assert_allclose(state.v, np.tile(ends, (8, 1)), atol=1e-8)
    masses = (0.3, 4.0, 1.2, 0.7, 3.1)
    q, v = np.zeros((16, 5)), np.zeros((16, 5))
    q[:, 0], q[:, -1] = -rng.uniform(0.01, 0.02, 16), rng.uniform(0.0, 0.02, 16)
    v[:, 0], v[:, -1] = rng.uniform(0.5, 1.0, 16), -rng.uniform(0.0, 1.0, 16)
    state = row_of_balls(*masses).step(q, v, steps=100)
    kept = (state.v**2 @ masses) / (v**2 @ masses)
    assert kept.min() > 1.0 - 1e-5  # what approaches by less than a crawl is brought to rest
    assert kept.max() <= 1.0
    np.testing.assert_allclose(state.v @ masses, v @ masses, atol=1e-12)


def test_of_two_restitutions_the_larger_counts() -> None:
    scene = bough.Scene(balls().model, self_collision=False).floor(restitution=0.5, friction=0.3)
    assert [pair.restitution for pair in scene.pairs] == [0.5, 0.5, 0.6, 0.9, 1.0]


# ---- friction --------------------------------------------------------------------------------------------------------


def test_friction_holds_up_to_its_cone_and_no_further() -> None:
    """On slopes of 0.99 and 1.01 times the threshold, in all directions."""
    sim, rest = tile()
    share, angle = np.meshgrid([0.99, 1.01], np.radians(np.arange(0, 360, 15)), indexing="ij")
    slope, weight = np.arctan(0.5 * share), 1.5 * G
    force = np.zeros((*share.shape, 1, 6))  # what turns gravity to that of a slope
    force[..., 0, 0] = weight * np.sin(slope) * np.cos(angle)
    force[..., 0, 1] = weight * np.sin(slope) * np.sin(angle)
    force[..., 0, 2] = weight * (1 - np.cos(slope))
    state = sim.step(np.broadcast_to(rest, (*share.shape, 7)), np.zeros((*share.shape, 6)), steps=200, f_ext=force)
    assert np.abs(state.v[0]).max() < 1e-9
    assert np.abs(state.q[0] - rest).max() < 1e-7  # what impulses that change give way by
    pushed = G * (np.sin(slope[1]) - 0.5 * np.cos(slope[1])) * 200 * sim.dt
    along = state.v[1, :, 0] * np.cos(angle[1]) + state.v[1, :, 1] * np.sin(angle[1])
    np.testing.assert_allclose(along, pushed, rtol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(state.v[1, :, :2], axis=-1), along, rtol=1e-9)


def test_a_block_slides_to_rest_in_the_distance_that_friction_says() -> None:
    """v²/(2 μ g), less the half step by which Euler's velocities are ahead of their places."""
    sim, rest = tile()
    end = step(sim, rest, [1.2, 1.6, 0, 0, 0, 0], 600)
    way = 4.0 / (2 * 0.5 * G)
    np.testing.assert_allclose(end.q[:2], np.array([0.6, 0.8]) * (way - 2.0 * sim.dt / 2), rtol=1e-4)
    assert np.abs(end.v).max() < 1e-9


def test_a_sliding_ball_ends_up_rolling_with_five_sevenths_of_its_speed() -> None:
    sim, v = balls(), np.zeros(30)
    v[0::6] = 1.4
    end = step(sim, at_height(0.0), v, 400)
    for found in bough.velocities(sim.model, end.q, end.v, reference="LOCAL_WORLD_ALIGNED"):
        np.testing.assert_allclose(found, [1.0, 0, 0, 0, 1.0 / RADIUS, 0], atol=1e-6)


# ---- rest ------------------------------------------------------------------------------------------------------------


def test_a_box_that_is_pushed_less_than_friction_holds_does_not_creep() -> None:
    sim, rest = tile()
    push = np.array([0.3 * 1.5 * G, 0, 0, 0, 0, 0])
    begin = step(sim, rest, np.zeros(6), 500, tau=push)
    end = step(sim, begin.q, begin.v, 2000, a=begin.a, tau=push)
    assert np.abs(end.q - begin.q).max() < 1e-12
    found = sim.contacts([end.q], end.v, a=end.a, tau=push)
    np.testing.assert_allclose(found.forces[0].sum(axis=0), [-0.3 * 1.5 * G, 0, 1.5 * G], atol=1e-6)
    assert np.abs(found.depths).max() < 1e-9


def test_what_has_sunk_in_comes_out() -> None:
    sim, rest = tile()
    deep = step(sim, rest - np.eye(7)[2] * 0.005, np.zeros(6), 400)
    assert abs(deep.q[2] - 0.01) < 1e-5


@pytest.mark.parametrize("seed", [3, 4])
def test_what_joints_hold_is_not_pushed_however_all_is_turned(seed: int, rng: np.random.Generator) -> None:
    """A mill on an axis upright has sunk in, also where the axis is: rounding leaves a rate along the normal."""
    turn = random_rotation(np.random.default_rng(seed))
    b = bough.Builder("mill", gravity=-G * turn[:, 2])
    b.add("mill", bough.joints.Revolute(turn[:, 2]), mass=1.0, com=turn @ (0.2, 0.1, 0.0), inertia=0.02)
    for at in ((0.3, 0.1, 0.095), (0.0, 0.0, 0.095)):
        b.geometry("mill", "sphere", RADIUS, at=turn @ at)
    sim = bough.Simulation(bough.Scene(b.build()).floor(normal=turn[:, 2], friction=0.5), law="hard")
    q, v = rng.uniform(-3, 3, (8, 1)), rng.normal(size=(8, 1))
    np.testing.assert_allclose(sim.step(q, v, steps=10).v, v, rtol=1e-9)
    found = sim.contacts(q, v)
    assert (found.depths > 0.004).all()
    assert np.abs(found.forces).max() < 1e-9


@pytest.mark.parametrize("start", [0.0, 1e-3, 0.01, 0.1])
@pytest.mark.parametrize("contact", [{"friction": 1.0}, {"friction": 0.0}, {"condim": 1}])
def test_what_has_sunk_in_below_its_joint_comes_out_slowly(contact: dict[str, float], start: float) -> None:
    """The joint is almost above the contact, so the floor turns the pendulum with next to no arm."""
    b = bough.Builder("pendulum")
    b.add("pendulum", bough.joints.Revolute("y"), mass=1.0, com=(0.5, 0.0, 0.0), inertia=0.04)
    b.geometry("pendulum", "sphere", 0.1, at=(0.0, 0.0, -0.2), surface=bough.simulation.Surface(**contact))
    sim = bough.Simulation(bough.Scene(b.build()).floor(height=-0.25, **contact), law="hard")
    run = sim.run([start], [0.0], duration=0.3)
    assert not run.status
    out, arm = 20.0 * 0.05, 0.25  # what decays at 20 / s moves the point no faster, in any direction, than this
    total = run.energy().total
    assert total.max() - total[0] < 0.5 * (0.04 + 0.5**2) * (out / arm) ** 2


def test_limits_hold_and_nothing_sinks_in(rng: np.random.Generator) -> None:
    sim, (q, v) = hopper(), thrown(16, rng)
    corners = np.array([0.2, 0.15, 0.1]) * np.array(list(product((-1, 1), repeat=3)))
    for _ in range(20):
        state = sim.step(q, v, steps=20, tau=np.eye(7)[6] * 2.0)
        q, v = state.q, state.v
        assert not state.status.any()
        assert np.abs(q[:, 7]).max() < np.radians(60) + 1e-4
        box = bough.placements(sim.model, q)[:, 0]
        assert (box[:, 2, 3, None] + box[:, 2, :3] @ corners.T).min() > -1e-3


def test_loops_stay_closed_and_targets_are_reached() -> None:
    model = bough.load(LINKAGE)
    sim = bough.Simulation(model, law="hard")
    end = step(sim, np.zeros(3), np.zeros(3), 1000, target=[0.4, 0, 0], kp=[200, 0, 0], kd=[500, 0, 0])
    moving = step(sim, end.q, end.v, 50, target=[-0.4, 0, 0], kp=[50, 0, 0], kd=[1, 0, 0])
    for state in (end, moving):
        assert not state.status
        assert np.abs(bough.loops.errors(model, state.q)).max() < 1e-4


# ---- steadiness ------------------------------------------------------------------------------------------------------


def require_same_bits(first: Any, second: Any, which: Any = ...) -> None:
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one[which], other[which])


def thrown(count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Above the floor, on which they come down soon."""
    q = np.tile(bough.neutral(hopper().model), (count, 1))
    q[:, 2] = rng.uniform(0.2, 0.3, count)
    return q, rng.normal(size=(count, 7))


def test_bits_do_not_depend_on_the_batch_on_threads_or_on_calls(rng: np.random.Generator) -> None:
    sim, (q, v) = hopper(), thrown(21, rng)
    whole, threads, order = sim.step(q, v, steps=200), bough.get_num_threads(), rng.permutation(21)
    require_same_bits([x[4] for x in whole], sim.step(q[4], v[4], steps=200))
    require_same_bits([x[5:14] for x in whole], sim.step(q[5:14], v[5:14], steps=200))
    now = sim.step(q, v, steps=0)
    for steps in (1, 1, 73, 125):
        now = sim.step(now.q, now.v, a=now.a, steps=steps)
    require_same_bits(whole[:3], now[:3])
    try:
        for count in (1, 2):
            bough.set_num_threads(count)
            require_same_bits(State(*(x[order] for x in whole)), sim.step(q[order], v[order], steps=200))
    finally:
        bough.set_num_threads(threads)


def test_a_run_is_resumed_bit_for_bit(rng: np.random.Generator) -> None:
    sim, (q, v) = hopper(), thrown(3, rng)
    whole, part = sim.run(q, v, duration=0.2), sim.run(q, v, duration=0.1)
    again = sim.run(duration=0.1, resume=part)
    np.testing.assert_array_equal(whole.q, again.q)


def test_a_hopeless_state_stops_alone(rng: np.random.Generator) -> None:
    sim, (q, v) = hopper(), thrown(5, rng)
    tau = np.zeros((5, 7))
    good = sim.step(q, v, steps=100, tau=tau)
    tau[2, 0] = np.nan
    bad = sim.step(q, v, steps=100, tau=tau)
    assert bad.status.tolist() == [0, 0, 1, 0, 0]
    assert bad.taken[2] == 0
    np.testing.assert_array_equal(bad.q[2], q[2])
    require_same_bits(good, bad, [0, 1, 3, 4])


@pytest.mark.filterwarnings("ignore:more than 2 contacts at a time")
def test_more_contacts_than_there_is_room_for_are_solved_all_the_same(rng: np.random.Generator) -> None:
    """A tile falls on one corner after the other, up to four."""
    sim, q = tile()
    q, v = np.tile(q, (5, 1)), rng.normal(size=(5, 6))
    q[:, 2] += 0.05
    few = bough.Simulation(sim.scene, law="hard", max_contacts=2)
    one, other = (x.step(q, v, steps=40) for x in (sim, few))
    np.testing.assert_allclose(one.q, other.q, atol=1e-5)  # the next step starts from the impulses of two contacts
    assert one.taken.tolist() == other.taken.tolist() == [40] * 5
    assert ((one.a[:, 1::4] > 0.0).sum(axis=-1) > 2).any()  # normals of contacts that push


def columns(count: int) -> bough.Scene:
    """Balls that go up and down above a floor."""
    b = bough.Builder("columns")
    for k in range(count):
        b.add(f"ball{k}", bough.joints.Prismatic("z"), at=(0.3 * k, 0.0, 0.0), mass=1.0)
        b.geometry(f"ball{k}", "sphere", RADIUS)
    return bough.Scene(b.build(), self_collision=False).floor()


def test_room_for_all_is_made_where_more_room_is_too_little() -> None:
    """Five balls, and room for one: four times that is not enough either."""
    scene = columns(5)
    q = RADIUS + 1e-4 * np.arange(5.0)
    sim = bough.Simulation(scene, law="hard", max_contacts=1)
    told = r"^more than 1 contact at a time in 'columns': .*, max_contacts=2\) has room for more, of 5 that could"
    with pytest.warns(SimulationWarning, match=told):
        few = sim.step(q, np.zeros(5), steps=20)
    assert sim.step(few.q, few.v, steps=20).taken == 20  # a second warning would be an error
    assert few.taken == 20
    np.testing.assert_allclose(few.q, RADIUS, atol=1e-5)


def test_a_few_steps_without_room_are_not_told(recwarn: pytest.WarningsRecorder) -> None:
    bough.Simulation(columns(2), law="hard", max_contacts=1).step([RADIUS, RADIUS], np.zeros(2), steps=10)
    assert not recwarn


@pytest.mark.filterwarnings("ignore:more than 1 contact at a time")
def test_one_state_of_a_batch_may_be_without_room() -> None:
    """It goes on by a program for one state, which was not made before: other calls had batches with room."""
    sim = bough.Simulation(columns(2), law="hard", max_contacts=1)
    q = RADIUS + np.array([[0.0, 0.0], [0.0, 9.0]])
    sim.step(q + np.array([0.0, 9.0]), np.zeros((2, 2)), steps=20)
    found = sim.step(q, np.zeros((2, 2)), steps=20)
    assert found.taken.tolist() == [20, 20]
    np.testing.assert_allclose(found.q[0], RADIUS, atol=1e-5)


def test_restitution_comes_with_each_state() -> None:
    factors, height = np.array([0.0, 0.5, 1.0]), 0.2
    sim = bough.Simulation(columns(1), law="hard", dt=0.001, restitution=0.8, parameters="restitution")
    run = sim.run(np.full((3, 1), height + RADIUS), duration=0.4, rate=1000, parameters={"restitution": factors})
    after = run.q[run.time > np.sqrt(2.0 * height / G) + 0.002, :, 0] - RADIUS
    np.testing.assert_allclose(after.max(axis=0), height * (0.8 * factors) ** 2, atol=2e-3)
    with pytest.raises(ModelError, match="restitution is 2, expected a factor from 0 to 1"):
        sim.step([0.3], [0.0], parameters={"restitution": 2.0})
    with pytest.raises(ModelError, match="'restitution' is a parameter, expected law='hard'"):
        bough.Simulation(columns(1), parameters="restitution")

    with pytest.raises(
        ModelError, match="'restitution' is a parameter, a factor of restitutions, and all of them are 0"
    ):
        bough.Simulation(columns(1), law="hard", parameters="restitution")
    with pytest.raises(ModelError, match="all of them are 0"):
        bough.Simulation(columns(1), law="hard", restitution=0.0, parameters="restitution")


def sliding(closing: bool, **rail: Any) -> bough.Model:
    """A block of 2 kg on a rail, a joint of the tree or one that closes a loop; 2 N pull it along."""
    b = bough.Builder("sliding", gravity=(1.0, 0, -9.81))
    b.add("block", bough.joints.Free() if closing else bough.joints.Prismatic("x"), mass=2.0, inertia=0.1,
          **({} if closing else rail))  # fmt: skip
    if closing:
        b.loop("rail", bough.joints.Prismatic("x"), "world", "block", **rail)
    return b.build()


@pytest.mark.parametrize("closing", [False, True], ids=["tree", "loop"])
@pytest.mark.parametrize("law", ["soft", "hard"])
def test_dry_friction_and_limits_hold_in_the_tree_and_in_loops(law: str, closing: bool) -> None:
    """At 1 m/s, friction of 1 N leaves 1/2 m/s² of acceleration, 6 N end the way after 1/4 m; a stop is at 0.1 m."""
    ways = {}
    for name, rail in (("rubs", {"friction": 1.0}), ("holds", {"friction": 6.0}), ("stops", {"upper": 0.1})):
        model = sliding(closing, **rail)
        run = bough.Simulation(model, law=law, dt=0.001).run(
            bough.neutral(model), [1.0, *(0.0,) * (model.nv - 1)], duration=0.6
        )
        ways[name] = run.q[-1, 0], run.v[-1, 0]
    np.testing.assert_allclose(ways["rubs"], (0.6 + 0.25 * 0.36, 1.3), atol=2e-4)
    # what is held softly creeps
    np.testing.assert_allclose(ways["holds"], (0.25, 0.0), atol=1.2e-3 if law == "soft" else 6e-4)
    np.testing.assert_allclose(ways["stops"], (0.1, 0.0), atol=1e-4 if law == "soft" else 1e-9)


def test_soft_contact_tells_that_it_heeds_no_restitution() -> None:
    with pytest.warns(bough.errors.SimulationWarning, match="plane 'floor' on 'world' has restitution 0.8, which soft"):
        bough.Simulation(bough.Scene(columns(1).model).floor(restitution=0.8))


def test_states_in_float32_stay_so() -> None:
    sim, q = bough.Simulation(columns(1), law="hard"), np.array([RADIUS], np.float32)
    state = sim.step(q, np.zeros(1, np.float32), steps=3)
    assert {x.dtype for x in state} == {np.dtype(np.float32)}
    assert sim.run(q, duration=0.01).q.dtype == np.float32
    np.testing.assert_allclose(state.q, sim.step(q.astype(float), np.zeros(1), steps=3).q, atol=1e-6)


# ---- what is refused -------------------------------------------------------------------------------------------------


def test_what_hard_contact_does_not_know_is_named() -> None:
    model, q = balls().model, at_height(1.0)
    with pytest.raises(ModelError, match=r"restitution is 0.5, expected law='hard'"):
        bough.Simulation(model, restitution=0.5)
    with pytest.raises(ModelError, match=r"restitution is 1.5, expected a number from 0 to 1"):
        bough.Simulation(model, law="hard", restitution=1.5)
    with pytest.raises(ModelError, match="integrator is 'rk4', expected 'euler'"):
        bough.Simulation(model, law="hard", integrator="rk4")
    with pytest.raises(ModelError, match="integrator is 'adaptive'"):
        balls().run(q, duration=0.1, integrator="adaptive")
    with pytest.raises(ModelError, match="iterations is 3"):
        bough.Simulation(model, law="hard", iterations=3)
    with pytest.raises(
        ModelError, match=r"plane 'floor' on 'world' and sphere on '.*' \(model.geometries\[0\]\) has condim 6"
    ):
        bough.Simulation(bough.Scene(model).floor(condim=6), law="hard")
    with pytest.raises(ModelError, match=r"plane on 'world' \(scene.shapes\[1\]\) and sphere on .* has condim 6"):
        bough.Simulation(bough.Scene(model).floor().floor(condim=6, name=""), law="hard")
