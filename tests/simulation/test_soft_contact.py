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
    assert "no rule" in str(sim.left_out)  # cylinders and ellipsoids touch only planes and spheres so far
    pairs = {frozenset((p.first.shape, p.second.shape)) for p in sim.scene.pairs}
    spec = mujoco.MjSpec.from_string(text)
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
