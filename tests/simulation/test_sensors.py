"""Sensors read what MuJoCo's read, are kept with the samples of runs, and go to files and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bough
from bough.errors import ModelError, SaveError, UnknownNameError
from bough.simulation import Sensor

mujoco = pytest.importorskip("mujoco")
pytestmark = pytest.mark.usefixtures("compiled")

FRAMES = ("framepos", "framequat", "framexaxis", "frameyaxis", "framezaxis", "framelinvel", "frameangvel")
SENSORS = [
    *(f'<{kind} site="tip"/>' for kind in ("gyro", "velocimeter", "accelerometer", "force", "torque")),
    *(f'<{kind} site="foot"/>' for kind in ("force", "torque", "accelerometer")),
    *(f'<{kind} objtype="site" objname="tip"/>' for kind in (*FRAMES, "framelinacc", "frameangacc")),
    *(f'<{kind} objtype="xbody" objname="arm" reftype="site" refname="foot"/>' for kind in FRAMES),
    *(f'<{kind} joint="elbow"/>' for kind in ("jointpos", "jointvel", "jointactuatorfrc")),
    *(f'<{kind} joint="wrist"/>' for kind in ("ballquat", "ballangvel")),
    *(f'<{kind} actuator="servo"/>' for kind in ("actuatorpos", "actuatorvel", "actuatorfrc")),
    *(f'<touch site="{zone}"/>' for zone in ("foot", "ball", "slab", "egg", "can", "pill")),
    '<gyro site="tip" cutoff="0.3"/>',
]
ROBOT = f"""<mujoco><worldbody><geom name="floor" type="plane" size="0 0 1" condim="6" friction="0.8 0.02 0.01"/>
  <body name="trunk" pos="0 0 0.1"><freejoint/><geom type="box" size="0.2 0.15 0.1" condim="4"/>
    <site name="foot" pos="0 0 -0.1" size="0.3 0.3 0.02" type="box" euler="10 20 30"/>
    <site name="ball" pos="0.2 0.15 -0.1" size="0.05"/>
    <site name="slab" pos="-0.2 0 -0.2" size="0.05 0.3 0.02" type="box"/>
    <site name="egg" pos="0 -0.15 -0.1" size="0.25 0.05 0.05" type="ellipsoid"/>
    <site name="can" pos="0.2 0 -0.1" size="0.05 0.2" type="cylinder" euler="90 0 0"/>
    <site name="pill" pos="-0.2 0 -0.3" size="0.04 0.14" type="capsule" euler="80 0 0"/>
    <body name="arm" pos="0.3 0 0"><joint name="elbow" axis="0 1 0" damping="0.1"/>
      <geom type="capsule" size="0.03 0.1" condim="4"/>
      <body pos="0 0 0.2"><joint name="wrist" type="ball"/><geom size="0.05" pos="0.05 0 0.05"/>
        <site name="tip" pos="0.1 0.02 0.03" euler="40 50 60"/></body></body></body></worldbody>
  <actuator><position name="servo" joint="elbow" kp="3" kv="0.2" ctrlrange="-1 1" forcerange="-2 2"/></actuator>
  <sensor>{"".join(SENSORS)}</sensor></mujoco>"""


def same_turn(ours: Any, theirs: Any) -> np.ndarray:
    """A quaternion scalar last, from one scalar first, with the sign of the other."""
    found = np.roll(theirs, -1)
    return found if found @ ours > 0 else -found


def test_readings_are_those_of_mujoco(rng: np.random.Generator) -> None:
    model, m = bough.load(ROBOT), mujoco.MjModel.from_xml_string(ROBOT)
    assert not model.simulation.not_understood
    assert len(model.simulation.sensors) == m.nsensor
    m.opt.tolerance, m.opt.iterations, m.opt.ls_tolerance, m.opt.ls_iterations = 1e-14, 200, 1e-10, 100
    sim, d, touched = bough.Simulation(model, tolerance=1e-12), mujoco.MjData(m), np.zeros(6)
    for _ in range(12):
        mujoco.mj_resetData(m, d)
        d.qpos[2] += rng.uniform(-0.01, 0.01)
        d.qpos[3:7] += 0.01 * rng.normal(size=4)
        d.qpos[7], d.qpos[8:12] = rng.uniform(-1, 1), rng.normal(size=4)
        mujoco.mj_normalizeQuat(m, d.qpos)
        d.qvel[:], d.ctrl[:] = rng.normal(size=m.nv), rng.uniform(-1.5, 1.5)
        mujoco.mj_forward(m, d)
        q, v = bough.convert.states_from_mujoco(model, d.qpos, d.qvel)
        found = sim.sensors(q, v, control=d.ctrl)
        for k, sensor in enumerate(model.simulation.sensors):
            start = m.sensor_adr[k]
            theirs, ours = d.sensordata[start : start + m.sensor_dim[k]], found[sensor.name]
            if ours.shape == (4,):
                theirs = same_turn(ours, theirs)
                assert ours[3] >= 0.0
            scale = max(1.0, float(np.abs(theirs).max()))
            np.testing.assert_allclose(ours, theirs, atol=2e-6 * scale, err_msg=f"{sensor}")
        touched += [found[x.name][0] > 0 for x in model.simulation.sensors if x.kind == "touch"]
    assert (touched > 0).all()  # each zone was touched, and not all of them always
    assert (touched < 12).any()


def test_runs_keep_what_sensors_read(tmp_path: Path) -> None:
    model = bough.robots.load("pendulum")
    joint, body = model.joint_names[0], model.bodies[0].name
    sensors = [Sensor("angle", "jointpos", joint), Sensor("imu", "gyro", body), Sensor("load", "force", body)]
    model = model.with_simulation(sensors=sensors)
    sim = bough.Simulation(model, dt=0.01)
    run = sim.run([[0.1], [0.5]], duration=0.2, tau=[0.3])
    assert run.sensors is not None
    np.testing.assert_array_equal(run.sensor("angle"), run.q)
    np.testing.assert_allclose(np.linalg.norm(run.sensor("imu"), axis=-1), np.abs(run.v[..., 0]), atol=1e-12)
    wanted = sim.sensors(run.q[7], run.v[7], tau=[0.3])["load"]
    np.testing.assert_allclose(run.sensor("load")[7], wanted, rtol=1e-12)
    assert run.names["sensors"] == ("angle", "imu[0]", "imu[1]", "imu[2]", "load[0]", "load[1]", "load[2]")
    assert run.units["sensors"] == ("rad", *["rad/s"] * 3, *["N"] * 3)
    controlled = sim.run([0.1], duration=0.2, controller=lambda t, q, v: [np.sin(t)], hold=5, rate=20)
    given = {"tau": [np.sin(0.1)]}
    np.testing.assert_allclose(
        controlled.sensor("load")[2], sim.sensors(controlled.q[2], controlled.v[2], **given)["load"], rtol=1e-12
    )
    adaptive = sim.run([0.1], duration=0.2, integrator="adaptive", tau=[0.3])
    np.testing.assert_allclose(adaptive.sensor("load"), run.sensor("load")[:, 0], rtol=0.1)
    run.save(tmp_path / "run.npz")
    again = bough.Trajectory.load(tmp_path / "run.npz", model)
    np.testing.assert_array_equal(again.sensor("imu"), run.sensor("imu"))
    np.testing.assert_array_equal(run.state(1)[::2].sensor("angle"), run.q[::2, 1])
    with pytest.raises(UnknownNameError, match="no sensor is called 'im'; did you mean 'imu'"):
        run.sensor("im")


def two_links() -> bough.Model:
    b = bough.Builder("two")
    b.add("upper", bough.joints.Revolute("y"), mass=1.0, com=(0, 0, -0.5), inertia=0.1)
    b.add("lower", bough.joints.Revolute("x"), "upper", at=(0, 0, -1), mass=2.0, com=(0, 0.1, -0.5), inertia=0.2)
    b.frame("tool", "lower", at=TOOL)
    sensors = [Sensor("f", "force", "lower"), Sensor("t", "torque", "upper"), Sensor("a", "accelerometer", "tool")]
    return b.build().with_simulation(sensors=sensors)


TURN = [[0.8, -0.6, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]]
TOOL = bough.Placement(TURN, (0.1, 0.2, -1.0))
OTHER = bough.Inertia(3.0, (0.1, 0.0, -0.4), ((0.3, 0.01, 0.02), (0.01, 0.4, -0.03), (0.02, -0.03, 0.35)))
TEN = [OTHER.mass, *OTHER.com, *OTHER.rotational]
ORIGIN = OTHER.about_origin()[np.tril_indices(3)]


@pytest.mark.parametrize(
    ("given", "model"),
    [
        ({"mass of lower": 3.0, "com of upper": [0.1, 0.2, 0.3]},
         lambda: two_links().with_inertia("lower", mass=3.0).with_inertia("upper", com=(0.1, 0.2, 0.3))),
        ({"lower": TEN}, lambda: two_links().with_inertia("lower", inertia=OTHER)),
        ({"moments of lower": [3.0, *(3.0 * x for x in OTHER.com), *ORIGIN], "inertia of upper": 0.4 * np.eye(3)},
         lambda: two_links().with_inertia("lower", inertia=OTHER).with_inertia("upper", inertia=0.4)),
        ({"payload of tool": TEN},
         lambda: two_links().with_inertia("lower", inertia=two_links().bodies[1].inertia + OTHER.placed(TOOL))),
        ({"gravity": [1.0, 2.0, -3.0]}, lambda: two_links().with_gravity((1.0, 2.0, -3.0))),
    ],
)  # fmt: skip
def test_sensors_heed_parameters(given: dict[str, Any], model: Any, rng: np.random.Generator) -> None:
    """They read what those of a model with these numbers do, beside a state with the usual ones; in runs, too."""
    sim, q, v = bough.Simulation(two_links(), parameters=list(given)), rng.normal(size=2), rng.normal(size=2)
    usual = {p.name: p.values for p in sim.parameters}
    both = {name: np.stack([usual[name], x]) for name, x in given.items()}
    found = sim.sensors(q, v, tau=[0.1, 0.2], parameters=both)
    for k, plain in enumerate((two_links(), model())):
        for name, x in bough.Simulation(plain).sensors(q, v, tau=[0.1, 0.2]).items():
            np.testing.assert_allclose(found[name][k], x, rtol=1e-9, atol=1e-9, err_msg=name)
    run = sim.run([q, q], [v, v], duration=0.004, rate=1000, parameters=both)
    again = sim.sensors(run.q[1], run.v[1], parameters=both)
    np.testing.assert_allclose(run.sensor("f")[1], again["f"], rtol=1e-12)


@pytest.mark.parametrize(
    ("off", "control"), [("", [3.0]), ("clampctrl", [3.0]), ("actuation", None), ("actuation", [])]
)
def test_actuators_read_what_they_do_where_parts_are_switched_off(off: str, control: Any) -> None:
    flag = f'<flag {off}="disable"/>' if off else ""
    text = f"""<mujoco><option>{flag}</option><worldbody><body><joint name="a" axis="0 1 0"/>
      <geom size=".1" pos=".2 0 0"/></body></worldbody>
      <actuator><motor name="m" joint="a" gear="2" ctrlrange="-1 1" ctrllimited="true"/></actuator>
      <sensor><actuatorfrc actuator="m"/><jointactuatorfrc joint="a"/></sensor></mujoco>"""
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    d.qpos[0], d.ctrl[0] = 0.3, 3.0
    mujoco.mj_forward(m, d)
    read = bough.Simulation(bough.load(text)).sensors([0.3], [0.0], control=control)
    np.testing.assert_allclose(np.concatenate([*read.values()]), d.sensordata, rtol=1e-12)


def test_readings_have_the_type_of_the_state() -> None:
    sim = bough.Simulation(two_links())
    q, v = np.ones(2, np.float32), np.ones(2, np.float32)
    found = sim.sensors(q, v)
    assert {x.dtype for x in found.values()} == {np.dtype(np.float32)}
    np.testing.assert_allclose(found["a"], sim.sensors(q.astype(float), v.astype(float))["a"], rtol=1e-4, atol=1e-4)
    assert sim.run(q, v, duration=0.004).sensor("a").dtype == np.float32


def test_sensors_go_to_files_and_back(tmp_path: Path) -> None:
    model = bough.load(ROBOT)
    bough.save(model, tmp_path / "robot.json")
    assert bough.load(tmp_path / "robot.json").simulation.sensors == model.simulation.sensors
    with pytest.raises(SaveError, match=r"sensor 'sensor.*', a touch of 'foot'"):
        bough.save(model, tmp_path / "robot.xml")
    kept = [x for x in model.simulation.sensors if x.kind != "touch"]
    bough.save(model.with_simulation(sensors=kept), tmp_path / "robot.xml", leave_out="order")
    assert list(bough.load(tmp_path / "robot.xml").simulation.sensors) == kept
    locked = bough.load(ROBOT, lock={"elbow": [0.0]}).simulation.sensors
    assert {x.of for x in locked} & {"elbow", "servo"} == set()
    strange = '<mujoco><worldbody><body name="b"><freejoint/><geom name="g" size="1"/></body></worldbody>'
    strange += "<sensor><clock/>"
    strange += '<framepos objtype="geom" objname="g"/><framequat objtype="body" objname="b"/></sensor></mujoco>'
    told = bough.load(strange).simulation.not_understood
    assert "sensor 'sensor0': there is no clock here" in told
    assert "sensor 'sensor1': it is neither on a site nor on the frame of a body" in told
    assert (
        "sensor 'sensor2': 'body' is the inertial frame of a body, expected its own frame, 'xbody', or a site" in told
    )


WRONG: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"kind": "gyros", "of": "rod"}, UnknownNameError, "no kind of sensor is called 'gyros'; did you mean 'gyro'"),
    ({"kind": "gyro", "of": ""}, ModelError, "sensor 's': the thing it is of is ''"),
    ({"kind": "gyro", "of": "rot"}, UnknownNameError, "no frame that sensor 's' could read is called 'rot'"),
    (
        {"kind": "gyro", "of": "rod", "reference": "world"},
        ModelError,
        "reference is 'world', which a gyro sensor does not have",
    ),
    ({"kind": "touch", "of": "rod", "zone": "sphere"}, ModelError, "size is .*expected 1 finite number"),
    ({"kind": "ballquat", "of": "pivot"}, ModelError, "joint 'pivot' has a type that ballquat sensors do not support"),
    ({"kind": "force", "of": "world"}, ModelError, "'world' does not move"),
    ({"kind": "gyro", "of": "rod", "cutoff": -1}, ModelError, "cutoff is -1, expected 0 or more"),
]


@pytest.mark.parametrize(("given", "error", "text"), WRONG)
def test_wrong_sensors_are_named(given: dict[str, Any], error: type[Exception], text: str) -> None:
    b = bough.Builder("one")
    b.add("rod", bough.joints.Revolute("y"), joint_name="pivot", mass=1.0, inertia=1.0)
    with pytest.raises(error, match=text):
        b.build().with_simulation(sensors=[Sensor("s", **given)])
