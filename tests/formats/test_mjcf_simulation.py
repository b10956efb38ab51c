"""What MJCF says of simulation: read as MuJoCo has it, and written again."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import bough
from bough.model import Actuator, ExplicitPair, Softness, Surface

mujoco = pytest.importorskip("mujoco")

TEXT = """<mujoco>
  <option timestep="0.005" integrator="RK4" cone="elliptic" impratio="3" tolerance="1e-6" iterations="7">
    <flag filterparent="disable" eulerdamp="disable"/></option>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" friction="0.7 0.01 0.002" solref="-100 -3" priority="2" margin="0.1"/>
    <body name="a"><joint name="slide" type="slide" range="-1 1" limited="true" solreflimit="0.03 0.9" margin="0.01"
        solimplimit="0.8 0.9 0.01 0.4 3" frictionloss="2" solreffriction="0.05 2" solimpfriction="0.5 0.6 0.01 0.5 1"/>
      <geom name="one" size="0.1" condim="6" contype="5" conaffinity="6" solmix="0.3" gap="0.02"
        solimp="0.7 0.8 1 0 1"/>
      <body name="plate" pos="0 0 1"><geom name="two" size="0.1" contype="0" conaffinity="0"/></body>
      <body name="b" pos="1 0 0"><joint name="hinge"/><joint name="second" axis="1 0 0"/>
        <geom name="three" type="box" size="0.1 0.1 0.1"/>
        <geom name="seen" size="0.1" contype="0" conaffinity="0" friction="3"/>
        <body name="c"><joint name="ball" type="ball"/><geom name="four" size="0.1"/><site name="tip"/></body>
      </body>
    </body>
  </worldbody>
  <contact>
    <pair geom1="two" geom2="four" condim="4" friction="1 2 3 4 5" solref="0.01 1" solimp="0.1 0.2 0.3 0.4 2"
      margin="0.3" gap="0.1" solreffriction="0.04 1"/>
    <exclude body1="world" body2="a"/><exclude body1="b" body2="plate"/>
  </contact>
  <tendon><fixed name="rope"><joint joint="hinge" coef="1"/></fixed></tendon>
  <equality>
    <joint name="law" joint1="hinge" joint2="second" solref="0.1 1"/>
    <connect name="held" body1="c" body2="world" anchor="0 0 0" solimp="0.6 0.7 0.01 0.5 2"/>
  </equality>
  <actuator>
    <motor name="motor" joint="slide" gear="30" ctrlrange="-1 1" ctrllimited="true"/>
    <position joint="hinge" kp="20" kv="2" forcerange="-3 4" forcelimited="true"/>
    <velocity joint="second" kv="5"/>
    <general joint="ball" gear="1 2 3" gainprm="2" biastype="affine" biasprm="1 2 3"/>
    <motor name="pull" tendon="rope"/>
    <general name="slow" joint="hinge" dyntype="filter" dynprm="0.1"/>
  </actuator>
</mujoco>"""


@pytest.fixture(scope="module")
def model() -> bough.Model:
    return bough.load(TEXT)


def test_surfaces_and_softness_are_read(model: bough.Model) -> None:
    shapes = {g.name: g for g in model.geometries}
    assert shapes["floor"].surface == Surface((0.7, 0.01, 0.002), priority=2, solref=(-100, -3), margin=0.1)
    assert shapes["one"].surface == Surface(
        condim=6, contype=5, conaffinity=6, solmix=0.3, gap=0.02, solimp=(0.7, 0.8, 1, 0, 1)
    )
    assert shapes["two"].purpose == "collision", "it stands in a pair"
    assert shapes["seen"].purpose == "visual"
    slide = model.joint("slide")
    assert slide.limit_softness == Softness((0.03, 0.9), (0.8, 0.9, 0.01, 0.4, 3), 0.01)
    assert slide.friction_softness == Softness((0.05, 2), (0.5, 0.6, 0.01, 0.5, 1))
    held, law = model.constraints
    assert held.softness == Softness(solimp=(0.6, 0.7, 0.01, 0.5, 2))
    assert law.softness == Softness((0.1, 1))


def test_what_is_said_of_the_whole_is_read(model: bough.Model) -> None:
    data = model.simulation
    assert (data.timestep, data.integrator, data.cone, data.impratio) == (0.005, "rk4", "elliptic", 3)
    assert (data.tolerance, data.iterations, data.disabled) == (1e-6, 7, ("filterparent", "eulerdamp"))
    assert data.excludes == (("world", "a"), ("plate", "b"))
    four = (0.01, 1), (0.1, 0.2, 0.3, 0.4, 2), 0.3, 0.1, (0.04, 1)
    assert data.pairs == (ExplicitPair("two", "four", 4, (1, 2, 3, 4, 5), *four),)
    motor, position, velocity, general = data.actuators
    assert motor == Actuator("motor", "slide", (30,), ctrlrange=(-1, 1))
    assert position == Actuator("actuator1", "hinge", (1,), 20, (0, -20, -2), forcerange=(-3, 4))
    assert velocity == Actuator("actuator2", "second", (1,), 5, (0, 0, -5))
    assert general == Actuator("actuator3", "ball", (1, 2, 3), 2, (1, 2, 3))
    assert [x.kind for x in data.actuators] == ["motor", "position", "velocity", "general"]
    assert data.not_understood == ("actuator 'pull': it acts on a tendon", "actuator 'slow': it has a state of its own")


@pytest.mark.parametrize("keys", ["", '<keyframe><key qpos="0 0 3 0 1 0 0 1"/></keyframe>'])
def test_the_reference_is_qpos0_with_keyframes_or_without(keys: str) -> None:
    text = f"""<mujoco><worldbody><body pos="0 0 1" euler="20 30 40"><freejoint/><geom size="0.1"/>
      <body><joint axis="0 1 0" ref="30"/><geom size="0.1" pos="0.3 0 0"/></body></body></worldbody>{keys}</mujoco>"""
    model, theirs = bough.load(text), mujoco.MjModel.from_xml_string(text).qpos0
    q = np.array(model.simulation.reference)
    np.testing.assert_allclose(bough.convert.states_to_mujoco(model, q), theirs, atol=1e-15)


def test_the_law_of_an_actuator_is_that_of_mujoco(model: bough.Model, rng: np.random.Generator) -> None:
    m = mujoco.MjModel.from_xml_string(TEXT)
    d = mujoco.MjData(m)
    for _ in range(5):
        q, v, control = bough.random(model, rng), rng.normal(size=model.nv), 2 * rng.normal(size=len(model.actuators))
        d.qpos[:], d.qvel[:] = bough.convert.states_to_mujoco(model, q, v)
        d.ctrl[:] = [*control, 0.0, 0.0]  # and two that are not understood
        mujoco.mj_forward(m, d)
        tau = np.zeros(model.nv)
        for x, u in zip(model.actuators, control, strict=True):
            here, gear = q[model.q_slice(x.joint)], np.array(x.gear)
            where = bough.Placement.from_quaternion(here).log[3:] if x.joint == "ball" else here
            constant, per_position, per_velocity = x.bias
            rate = gear @ v[model.v_slice(x.joint)]
            force = x.gain * np.clip(u, *x.ctrlrange) + constant + per_position * (gear @ where) + per_velocity * rate
            tau[model.v_slice(x.joint)] += gear * np.clip(force, *x.forcerange)
        np.testing.assert_allclose(tau, d.qfrc_actuator, rtol=1e-12, atol=1e-12)


def test_it_is_written_again(tmp_path: Path, model: bough.Model) -> None:
    with pytest.raises(bough.errors.SaveError, match=r"'plate' touches less .*leave_out=\('simulation',\)"):
        bough.save(model, tmp_path / "m.xml")
    told = model.with_simulation(excludes=[("world", "b")])
    bough.save(told, tmp_path / "m.xml")
    again = bough.load(tmp_path / "m.xml")
    assert again.simulation == told.simulation
    assert [g.surface for g in again.geometries] == [g.surface for g in told.geometries]
    for old, new in zip(told.joints, again.joints, strict=True):
        assert (new.limit_softness, new.friction_softness) == (old.limit_softness, old.friction_softness)
    assert {x.name: x.softness for x in again.constraints} == {x.name: x.softness for x in told.constraints}


def test_urdf_names_what_it_cannot_say_of_simulation(tmp_path: Path) -> None:
    text = """<mujoco><worldbody><body name="a"><joint name="j"/><geom name="g" size="1" condim="1"/></body></worldbody>
      <actuator><motor joint="j"/></actuator></mujoco>"""
    with pytest.raises(bough.errors.SaveError, match=r"actuators .*the surface of the sphere 'g' .*'simulation'"):
        bough.save(bough.load(text), tmp_path / "m.urdf")
    bough.save(bough.load(text), tmp_path / "m.urdf", leave_out=("simulation",))
    assert bough.load(tmp_path / "m.urdf").geometries[0].surface == Surface()


def test_what_refers_to_a_locked_joint_goes_with_it() -> None:
    held = bough.load(TEXT, lock={"hinge": 0.0, "second": 0.0}).simulation
    assert [x.joint for x in held.actuators] == ["slide", "ball"]
    assert held.excludes == (("world", "a"), ("plate", "b"))


def test_odd_numbers_become_those_that_mujoco_computes_with() -> None:
    text = """<mujoco><worldbody><body><joint/><geom size="1" solref="0.1 -1" solimp="-1 2 -1 3 0" contype="-1"/></body>
      </worldbody></mujoco>"""
    (g,) = bough.load(text).geometries
    assert g.surface == Surface(contype=2**32 - 1, solimp=(0, 1, 0, 1, 1))


@pytest.mark.parametrize(("mu", "friction"), [("0.3", 0.3), ("inf", 1.0), ("-1", 1.0)])
def test_sdf_tells_sliding_friction(mu: str, friction: float) -> None:
    text = f"""<sdf version="1.9"><model name="m"><link name="a"><inertial><mass>1</mass></inertial>
      <collision name="c"><geometry><sphere><radius>1</radius></sphere></geometry>
      <surface><friction><ode><mu>{mu}</mu></ode></friction></surface></collision></link></model></sdf>"""
    (g,) = bough.load(text, floating_base=False).geometries
    assert g.surface == Surface(friction=friction)
    assert math.isfinite(g.surface.friction[0])


REFERRED = """<mujoco><worldbody><body name="trunk" pos="0 0 1"><freejoint name="float"/><geom size=".1"/>
  <body name="wrist"><joint name="wrist" axis="0 1 0" ref="10"/><geom size=".1" pos=".2 0 0"/>
    <body name="tool"><joint name="tool" type="slide" ref=".3"/><geom size=".1" pos=".2 0 0"/></body></body>
  <body name="arm"><joint name="arm" axis="0 1 0" ref="20"/><geom size=".1" pos=".2 0 0"/></body>
  </body></worldbody></mujoco>"""


def test_the_reference_goes_with_the_joints() -> None:
    """In another order, and without joints that are locked or removed."""
    own = {"float": (0, 0, 1, 0, 0, 0, 1), "wrist": (np.radians(10),), "tool": (0.3,), "arm": (np.radians(20),)}
    whole = bough.load(REFERRED)
    for model in (
        whole,
        bough.load(REFERRED, order="pinocchio"),
        bough.load(REFERRED, lock={"wrist": 0.1}),
        bough.load(REFERRED, lock=["float", "arm"]),
        whole.without("tool"),
        whole.without("wrist"),
    ):
        expected = [x for name in model.joint_names for x in own[name]]
        np.testing.assert_allclose(model.simulation.reference, expected, rtol=1e-15)
