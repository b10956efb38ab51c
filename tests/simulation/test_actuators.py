"""Actuators in steps of time: forces within the bounds of joints, and steps that are implicit in them, as MuJoCo's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bough

mujoco = pytest.importorskip("mujoco")

MACHINE = """<mujoco>
  <option timestep="0.004" integrator="{integrator}" tolerance="1e-12"><flag eulerdamp="{eulerdamp}"/></option>
  <default><joint armature="0.01"/><geom contype="0" conaffinity="1"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" contype="1"/>
    <body name="cart" pos="0 0 0.04">
      <joint name="rail" type="slide" axis="1 0 0" damping="2" actuatorfrclimited="{bounded}" actuatorfrcrange="-8 8"/>
      <geom type="box" size="0.2 0.1 0.05" mass="3" conaffinity="0"/>
      <body name="upper" pos="0.2 0 0">
        <joint name="shoulder" axis="0 1 0" range="-20 5" limited="true" damping="0.3"/>
        <geom type="capsule" size="0.04" fromto="0 0 0 0.4 0 0" mass="1" conaffinity="0"/>
        <body name="lower" pos="0.4 0 0">
          <joint name="elbow" axis="0 1 0" actuatorfrclimited="{bounded}" actuatorfrcrange="-25 25"/>
          <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0" mass="0.5"/>
          <body name="hand" pos="0.3 0 0"><joint name="wrist" type="ball" damping="0.05"/>
            <geom type="box" size="0.05 0.03 0.02" pos="0.05 0 0" mass="0.3" conaffinity="0"/></body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <velocity name="drive" joint="rail" kv="{kv}"/>
    <position name="brake" joint="rail" kp="3" kv="2"/>
    <position name="lift" joint="shoulder" kp="80" kv="{kv}" gear="1.5"/>
    <velocity name="bend" joint="elbow" kv="{kv}" gear="-2"/>
    <velocity name="turn" joint="elbow" kv="1" forcerange="-0.5 0.5"/>
    <general name="twist" joint="wrist" gear="0.2 0.5 -0.3" gainprm="4" biastype="affine" biasprm="0.1 0 -3"/>
  </actuator>
</mujoco>"""


def theirs(m: Any, q: np.ndarray, v: np.ndarray, controls: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """States of MuJoCo after each control."""
    d = mujoco.MjData(m)
    m.opt.solver, m.opt.iterations = mujoco.mjtSolver.mjSOL_NEWTON, 100
    d.qpos[:], d.qvel[:] = q, v
    found = []
    for control in controls:
        d.ctrl[:] = control
        mujoco.mj_step(m, d)
        found.append((d.qpos.copy(), d.qvel.copy()))
    return np.array([x for x, _ in found]), np.array([x for _, x in found])


def far_apart(text: str, rng: np.random.Generator, steps: int = 60, size: float = 1.0) -> float:
    """How far our states and MuJoCo's come apart under the same random controls."""
    m, model = mujoco.MjModel.from_xml_string(text), bough.load(text)
    sim = bough.Simulation(model, tolerance=1e-12)
    q, v = np.array(m.qpos0), 0.3 * rng.normal(size=m.nv)
    controls = size * rng.normal(size=(steps, m.nu)) * (np.arange(steps) % 7 > 1)[:, None]
    places, speeds = theirs(m, q, v, controls)
    state = bough.simulation.State(*bough.convert.states_from_mujoco(model, q, v), np.zeros(model.nv), 0.0, 0.0)
    worst = 0.0
    for control, place, speed in zip(controls, places, speeds, strict=True):
        state = sim.step(state.q, state.v, a=state.a, control=control)
        mine = bough.convert.states_to_mujoco(model, state.q, state.v)
        worst = max(worst, *(float(np.abs(x - y).max()) for x, y in zip(mine, (place, speed), strict=True)))
    return worst


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4"])
def test_steps_with_actuators_are_those_of_mujoco(integrator: str, compiled: None, rng: np.random.Generator) -> None:
    """Motors, servos on hinges, slides and balls, several on a joint, forces at the bounds of actuators and joints."""
    text = MACHINE.format(integrator=integrator, eulerdamp="enable", kv=5, bounded="true")
    assert far_apart(text, rng, size=3.0) < 1e-8


def test_stiff_actuators_stay_stable_as_in_mujoco(compiled: None, rng: np.random.Generator) -> None:
    text = MACHINE.format(integrator="implicitfast", eulerdamp="disable", kv=300, bounded="false")
    assert far_apart(text, rng) < 1e-8


def test_hard_contact_is_implicit_in_actuators_too(compiled: None) -> None:
    """A servo that is much too stiff for explicit steps turns a rod as fast as it is told."""
    text = """<mujoco><option integrator="{}"/><worldbody><body pos="0 0 1.5"><joint name="a" axis="0 1 0"/>
      <geom type="capsule" size=".03" fromto="0 0 0 .5 0 0"/></body></worldbody>
      <actuator><velocity joint="a" kv="200"/></actuator></mujoco>"""
    for law in ("soft", "hard"):
        state = bough.Simulation(bough.load(text.format("implicitfast")), law=law).step([0], [0], control=[1], steps=50)
        assert state.q[0] == pytest.approx(0.1, abs=0.002)
        explicit = bough.Simulation(bough.load(text.format("Euler")), law=law).step([0], [0], control=[1], steps=50)
        assert abs(explicit.q[0]) > 1.0


def test_the_integrator_of_the_file_is_that_of_the_simulation() -> None:
    for given, found in (("implicitfast", "implicitfast"), ("RK4", "rk4"), ("Euler", "euler")):
        sim = bough.Simulation(bough.load(MACHINE.format(integrator=given, eulerdamp="enable", kv=1, bounded="true")))
        assert sim.integrator == found
        hard = bough.Simulation(sim.model, law="hard")
        assert hard.integrator == ("euler" if found == "rk4" else found)
