"""The law of soft contact is that of MuJoCo: accelerations state by state, and steps of time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bough
from mujoco_states import to_theirs, turning

mujoco = pytest.importorskip("mujoco")

ASSETS = Path(pytest.importorskip("gymnasium").__file__).parent / "envs" / "mujoco" / "assets"

PILE = """<mujoco>
  <option timestep="0.002" impratio="3" cone="{cone}"/>
  <default><joint armature="0.01" damping="0.2" frictionloss="0.3"/><geom friction="0.7 0.02 0.01"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" condim="6"/>
    <geom name="step" type="box" size="0.5 0.5 0.1" pos="0.6 0 0.05" euler="0 10 0"/>
    <body name="ball" pos="0 0 0.1"><freejoint/><geom size="0.1" condim="6" solref="0.03 0.8"/></body>
    <body name="pill" pos="0.3 0 0.3"><freejoint/><geom type="capsule" size="0.06 0.1" condim="4"/></body>
    <body name="die" pos="0.3 0.1 0.5"><freejoint/><geom type="box" size="0.08 0.1 0.05"/></body>
    <body name="can" pos="-0.3 0 0.2" euler="80 0 0"><freejoint/><geom type="cylinder" size="0.1 0.08"/></body>
    <body name="egg" pos="-0.3 0.3 0.2"><freejoint/><geom type="ellipsoid" size="0.1 0.08 0.06" margin="0.01"/></body>
    <body name="arm" pos="0 0.4 0.4"><joint name="shoulder" axis="0 1 0" range="-60 60" limited="true"/>
      <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.04" solimp="0.8 0.99 0.01 0.3 3"/>
      <body pos="0.3 0 0"><joint type="slide" axis="1 0 0" range="-0.05 0.2" limited="true" margin="0.01"/>
        <geom size="0.06" condim="1"/></body></body>
  </worldbody>
  <actuator><position joint="shoulder" kp="30" kv="2" forcerange="-5 5"/></actuator>
</mujoco>"""


def visited(m: Any, count: int, rng: np.random.Generator) -> list[Any]:
    """States that MuJoCo comes through with random controls, and what it says of them."""
    found = []
    d = mujoco.MjData(m)
    bounds = np.where(m.actuator_ctrllimited[:, None], m.actuator_ctrlrange, [-1.0, 1.0])
    while len(found) < count:
        mujoco.mj_resetData(m, d)
        d.qvel[:] = rng.normal(size=m.nv)
        for k in range(150):
            d.ctrl[:] = rng.uniform(bounds[:, 0], bounds[:, 1])
            if k % 15 == 14:
                mujoco.mj_forward(m, d)
                found.append((d.qpos.copy(), d.qvel.copy(), d.ctrl.copy(), d.qacc.copy(), d.ncon, d.nefc))
            mujoco.mj_step(m, d)
    return found[:count]


def worst_error(model: bough.Model, m: Any, count: int, rng: np.random.Generator) -> float:
    """Of accelerations, relative to the largest of a state."""
    m.opt.tolerance, m.opt.solver, m.opt.iterations = 1e-12, mujoco.mjtSolver.mjSOL_NEWTON, 100
    sim = bough.Simulation(model, tolerance=1e-12)
    states = visited(m, count, rng)
    assert sum(state[-2] > 0 for state in states) > count // 4  # most touch something
    both = [bough.convert.states_from_mujoco(model, state[0], state[1]) for state in states]
    q, v = (np.array([pair[k] for pair in both]) for k in (0, 1))
    found = sim.contacts(q, v, control=np.array([state[2] for state in states])).acceleration
    worst = 0.0
    for k, state in enumerate(states):
        theirs = to_theirs(model, q[k]) @ (found[k] + turning(model, v[k]))
        worst = max(worst, float(np.abs(theirs - state[3]).max() / max(np.abs(state[3]).max(), 1.0)))
    return worst


@pytest.mark.parametrize(
    ("name", "cone"),
    [
        ("half_cheetah", "pyramidal"), ("ant", "pyramidal"), ("ant", "elliptic"), ("hopper", "pyramidal"),
        ("walker2d_v5", "pyramidal"), ("humanoid", "pyramidal"),
    ],
)  # fmt: skip
def test_accelerations_are_those_of_mujoco(name: str, cone: str, compiled: None, rng: np.random.Generator) -> None:
    path = ASSETS / f"{name}.xml"
    m = mujoco.MjModel.from_xml_path(str(path))
    model = bough.load(path)
    if cone == "elliptic":
        m.opt.cone, m.opt.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 2.0
        model = model.with_simulation(cone="elliptic", impratio=2.0)
    assert worst_error(model, m, 100, rng) < 1e-6


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_a_pile_of_all_shapes(cone: str, compiled: None, rng: np.random.Generator) -> None:
    """Torsion and rolling, dry friction, limits, actuators, boxes that touch boxes, several trees."""
    text = PILE.format(cone=cone)
    model = bough.load(text)
    sim = bough.Simulation(model)
    assert "no rule" not in str(sim.left_out)
    pairs = {frozenset((p.first.shape, p.second.shape)) for p in sim.scene.pairs}
    spec = mujoco.MjSpec.from_string(text)
    # of pairs without a formula the contact points are our own
    for one, other in (
        ("can", "die"),
        ("can", "pill"),
        ("can", "egg"),
        ("egg", "die"),
        ("egg", "pill"),
        ("egg", "ball"),
    ):
        spec.add_exclude(bodyname1=one, bodyname2=other)
    for one in ("can", "egg"):
        for other in ("world", "arm"):
            spec.add_exclude(bodyname1=one, bodyname2=other)
    assert frozenset(("box",)) in pairs
    model = bough.load(spec.to_xml())
    assert worst_error(model, mujoco.MjModel.from_xml_string(spec.to_xml()), 200, rng) < 1e-6


def test_both_sides_of_a_range_act_where_it_is_narrow(compiled: None) -> None:
    joints = "".join(
        f'<body pos="{k} 0 0"><joint type="slide" axis="0 0 1" range="-0.05 0.1" margin="{margin}" '
        f'solimplimit="{solimp}"/>'
        '<geom size="0.1" contype="0" conaffinity="0"/></body>'
        for k, (margin, solimp) in enumerate(
            [(0.02, "0.9 0.95 0.001"), (0.3, "0.9 0.95 0.001"), (0.3, "0.5 0.9 0.4 0.5 3")]
        )
    )
    text = f'<mujoco><option tolerance="1e-12"/><worldbody>{joints}</worldbody></mujoco>'
    model, m = bough.load(text), mujoco.MjModel.from_xml_string(text)
    d, sim = mujoco.MjData(m), bough.Simulation(model, tolerance=1e-12)
    for place in (-0.2, -0.06, 0.0, 0.09, 0.15):
        d.qpos[:], d.qvel[:] = place, 0.3
        mujoco.mj_forward(m, d)
        found = sim.contacts(d.qpos.copy(), d.qvel.copy()).acceleration
        np.testing.assert_allclose(found, d.qacc, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["half_cheetah", "ant"])
def test_steps_are_those_of_mujoco(name: str, compiled: None, rng: np.random.Generator) -> None:
    """Euler's method with damping, and Runge-Kutta's: fifty steps from the same state."""
    path = ASSETS / f"{name}.xml"
    m = mujoco.MjModel.from_xml_path(str(path))
    m.opt.tolerance, m.opt.solver, m.opt.iterations = 1e-12, mujoco.mjtSolver.mjSOL_NEWTON, 100
    model = bough.load(path)
    sim = bough.Simulation(model, tolerance=1e-12)
    d = mujoco.MjData(m)
    d.qvel[:] = rng.normal(size=m.nv)
    q, v = bough.convert.states_from_mujoco(model, d.qpos, d.qvel)
    d.ctrl[:] = control = rng.uniform(-0.4, 0.4, m.nu)
    for _ in range(50):
        mujoco.mj_step(m, d)
    state = sim.step(q, v, steps=50, control=control)
    q, v = bough.convert.states_from_mujoco(model, d.qpos, d.qvel)
    assert np.abs(bough.difference(model, state.q, q)).max() < 1e-7
    assert np.abs(state.v - v).max() < 1e-6
    assert state.taken == 50


HELD = """<mujoco>
  <worldbody>
    <geom type="plane" size="0 0 1" pos="0 0 -1.2"/>
    <body name="crank" pos="0 0 0"><joint name="a" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.03"/>
      <body name="coupler" pos="0 0 -0.5"><joint name="b" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 1 0 0" size="0.03"/></body></body>
    <body name="rocker" pos="1 0 0"><joint name="c" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.03"/>
    </body>
    <body name="one" pos="0 1 0"><freejoint/><geom size="0.1"/></body>
    <body name="two" pos="0.3 1 0"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>
    <body name="gear" pos="0 2 0"><joint name="d" axis="0 0 1"/><geom size="0.1" pos="0.1 0 0"/></body>
    <body name="wheel" pos="1 2 0"><joint name="e" axis="1 0 0"/><geom size="0.1" pos="0 0.1 0"/></body>
  </worldbody>
  <equality>
    <connect body1="coupler" body2="rocker" anchor="1 0 0" solref="0.03 1"/>
    <weld body1="one" body2="two"/>
    <joint joint1="d" joint2="e" polycoef="0.1 2 0.3 0 0" solimp="0.8 0.9 0.1 0.5 2"/>
  </equality>
</mujoco>"""


def test_loops_and_laws_hold_as_softly_as_those_of_mujoco(compiled: None, rng: np.random.Generator) -> None:
    """Where they are closed and stay so: rows of loops that come open have other axes than those of MuJoCo."""
    m, model = mujoco.MjModel.from_xml_string(HELD), bough.load(HELD)
    m.opt.tolerance, d, sim = 1e-12, mujoco.MjData(m), bough.Simulation(model, tolerance=1e-12)
    for _ in range(10):
        mujoco.mj_resetData(m, d)
        q = bough.convert.states_from_mujoco(model, d.qpos)
        v = bough.loops.consistent_velocity(model, q, rng.normal(size=m.nv))
        d.qvel[:] = bough.convert.states_to_mujoco(model, q, v)[1]
        mujoco.mj_forward(m, d)
        found = to_theirs(model, q) @ (sim.contacts(q, v).acceleration + turning(model, v))
        assert np.abs(found - d.qacc).max() < 1e-6 * max(1.0, np.abs(d.qacc).max())
    state = sim.step(q, v, steps=2000)
    assert state.status == 0
    assert np.abs(bough.loops.errors(model, state.q)).max() < 0.1  # soft, and no further


def test_followers_move_as_forward_dynamics_says(compiled: None, rng: np.random.Generator) -> None:
    b = bough.Builder("hand")
    box = bough.Inertia.box((0.1, 0.2, 0.3), mass=1.0)
    b.add("palm", bough.joints.Free(), inertia=box)
    b.add("thumb", bough.joints.Revolute("x"), "palm", at=(0, 0, 0.2), inertia=box, damping=0.3)
    follower = bough.joints.Mimic(bough.joints.Revolute("y"), "thumb", -2.0, 0.1)
    b.add("finger", follower, "thumb", inertia=box, damping=0.2)
    b.add("slider", bough.joints.Mimic(bough.joints.Prismatic("z"), "thumb", 0.5, 0.0), "palm", inertia=box)
    model = b.build()
    sim = bough.Simulation(model, dt=1e-5)
    q, v, tau = bough.random(model, rng, (5,)), rng.normal(size=(5, model.nv)), rng.normal(size=(5, model.nv))
    wanted = bough.forward_dynamics(model, q, v, tau + bough.passive_forces(model, q, v))
    assert np.allclose(sim.contacts(q, v, tau=tau).acceleration, wanted, rtol=1e-9, atol=1e-9)
    after = sim.step(q, v, tau=tau)
    assert np.allclose((after.v - v) / sim.dt, wanted, atol=1e-2 * np.abs(wanted).max())
    assert np.allclose(bough.difference(model, q, after.q) / sim.dt, v, atol=1e-2)


def test_what_touches_is_told_in_a_line() -> None:
    model = bough.load("""<mujoco><worldbody><geom name="floor" type="plane" size="0 0 1"/>
      <body pos="0 0 0.05"><freejoint/><geom name="ball" size="0.1"/></body></worldbody></mujoco>""")
    found = bough.Simulation(model).contacts([[0, 0, z, 0, 0, 0, 1] for z in (0.099, 0.2)], np.zeros(6))
    told = "1 of 2 contact points push, the deepest 0.001 m, 'floor' and 'ball', batch (2,)"
    assert repr(found) == f"<ContactForces: {told}>"
