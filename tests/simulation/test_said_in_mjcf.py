"""What MJCF files say of simulation is heeded as MuJoCo heeds it, or told."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bough
from bough.errors import ModelError, ShapeError, SimulationWarning

mujoco = pytest.importorskip("mujoco")

HELD = """<mujoco><option tolerance="1e-12"><flag {off}="disable"/></option>
  <worldbody><geom type="plane" size="0 0 1"/>
    <body pos="0 0 0.45"><joint name="a" axis="0 1 0" range="-5 5" limited="true" frictionloss="0.5"/>
      <geom type="capsule" size="0.05" fromto="0 0 0 0.4 0 0"/></body>
    <body pos="1 0 0.03"><freejoint/><geom size="0.1"/></body>
    <body name="gear" pos="0 2 1"><joint name="d" axis="0 1 0"/><geom size="0.1" pos="0.1 0 0"/></body>
    <body name="wheel" pos="1 2 1"><joint name="e" axis="1 0 0"/><geom size="0.1" pos="0 0.1 0"/></body>
    <body name="end" pos="1 3 1"><joint name="f" axis="1 0 0"/><geom size="0.1" pos="0 0.1 0"/></body>
  </worldbody>
  <equality><joint joint1="d" joint2="e"/><connect body1="end" anchor="0 0.1 0"/></equality></mujoco>"""


def theirs(text: str, model: bough.Model, q: Any, v: Any, steps: int, control: Any = None) -> tuple[Any, Any]:
    """q and v of MuJoCo after so many steps."""
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = bough.convert.states_to_mujoco(model, q, v)
    if control is not None:
        d.ctrl[:] = control
    for _ in range(steps):
        mujoco.mj_step(m, d)
    return bough.convert.states_from_mujoco(model, d.qpos.copy(), d.qvel.copy())


@pytest.mark.parametrize("off", ["constraint", "limit", "frictionloss", "equality", "contact"])
def test_what_is_switched_off_does_not_act(off: str, rng: np.random.Generator) -> None:
    text = HELD.format(off=off)
    model = bough.load(text)
    q, v = np.array(model.simulation.reference), np.zeros(model.nv)
    q[0] = 0.2  # beyond the limit
    v[-2:] = 0.5, 0.7  # against the laws
    state = bough.Simulation(model, tolerance=1e-12).step(q, v, steps=1)
    place, speed = theirs(text, model, q, v, steps=1)
    np.testing.assert_allclose(state.q, place, atol=1e-8)
    np.testing.assert_allclose(state.v, speed, atol=1e-6)
    if off == "constraint":
        numbers = bough.Simulation(model.with_simulation(disabled=["constraint"]))._soft
        rows = *numbers.candidates, *numbers.limits, *numbers.frictions, *numbers.equalities
        assert not rows


STIFF = """<mujoco><compiler angle="radian"/>
  <option tolerance="1e-14" iterations="200"><flag refsafe="{safe}"/></option>
  <worldbody><geom type="plane" size="0 0 1" {contact}/>
    <body pos="0 0 0.1395"><freejoint/><geom size="0.1 0.12 0.14" type="box" {contact}/></body>
    <body pos="3 0 1"><joint axis="0 1 0" limited="true" range="-0.1 0.1" {limit}/>
      <geom size="0.1" pos="0.1 0 0"/></body>
    <body pos="3 3 1"><joint axis="0 1 0" frictionloss="30" {friction}/><geom size="0.1" pos="0.1 0 0"/></body>
    <body pos="0 2 1"><joint name="d" axis="0 1 0"/><geom size="0.1" pos="0.1 0 0"/></body>
    <body pos="1 2 1"><joint name="e" axis="1 0 0"/><geom size="0.1" pos="0 0.1 0"/></body>
    <body name="end" pos="1 3 1"><joint axis="1 0 0"/><geom size="0.1" pos="0 0.1 0"/></body>
  </worldbody>
  <equality><joint joint1="d" joint2="e" {equality}/><connect body1="end" anchor="0 0.1 0" {equality}/></equality>
</mujoco>"""


@pytest.mark.parametrize("safe", ["enable", "disable"])
@pytest.mark.parametrize("kind", ["contact", "limit", "friction", "equality"])
def test_time_constants_may_be_shorter_than_two_steps(kind: str, safe: str) -> None:
    """Of a quarter of what is safe: they are heeded where the file says so."""
    names = {"contact": "solref", "limit": "solreflimit", "friction": "solreffriction", "equality": "solref"}
    stiff = {x: f'{name}="0.001 1"' if x == kind else "" for x, name in names.items()}
    text = STIFF.format(safe=safe, **stiff)
    model = bough.load(text)
    q, v = np.array(model.simulation.reference), np.zeros(model.nv)
    q[7], v[6:] = 0.12, (0.3, 0.02, 0.5, 0.7, 0.2)  # beyond the limit, and against the laws
    state = bough.Simulation(model, tolerance=1e-14).step(q, v)
    place, speed = theirs(text, model, q, v, steps=1)
    np.testing.assert_allclose(state.v, speed, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(state.q, place, atol=1e-7)


@pytest.mark.parametrize("power", [1.0, 1.7, 2.0, 7 / 3, 30.1])
@pytest.mark.parametrize("kind", ["contact", "limit", "friction", "equality"])
def test_the_impedance_may_have_any_power(kind: str, power: float) -> None:
    names = {"contact": "solimp", "limit": "solimplimit", "friction": "solimpfriction", "equality": "solimp"}
    curved = {x: f'{name}="0.3 0.9 0.05 0.3 {power}"' if x == kind else "" for x, name in names.items()}
    text = STIFF.format(safe="enable", **curved)
    model = bough.load(text)
    q, v = np.array(model.simulation.reference), np.zeros(model.nv)
    q[2], q[7], v[6:] = 0.11, 0.12, (0.3, 0.02, 0.5, 0.7, 0.2)
    q[-1] = 0.1  # the connection is open
    state = bough.Simulation(model, tolerance=1e-14).step(q, v)
    place, speed = theirs(text, model, q, v, steps=1)
    np.testing.assert_allclose(state.v, speed, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(state.q, place, atol=1e-10)


PAIRED = """<mujoco><option tolerance="1e-14" iterations="200" cone="{cone}"/><worldbody>
  <geom type="plane" size="0 0 1" name="floor"/>
  <body pos="0 0 0.099"><freejoint/><geom name="ball" size="0.1"/></body>
  <body pos="0 0 0.298"><freejoint/><geom name="top" size="0.1" condim="{condim}"/></body>
  <body pos="1 0 0.099"><freejoint/><geom name="other" size="0.1" condim="{condim}"/></body></worldbody>
  <contact><pair geom1="floor" geom2="ball" condim="{condim}" {floor}/>
    <pair geom1="ball" geom2="top" condim="{condim}" {between}/></contact></mujoco>"""

PAIRS = [
    {"floor": 'solreffriction="0.04 1"', "between": ""},
    {"floor": 'solreffriction="-100 -30"', "between": 'solreffriction="0.1 0.7"'},
    {"floor": 'solreffriction="0.002 0.5"', "between": 'solreffriction="-1 0"'},
    {"floor": 'solreffriction="0.04 -1"', "between": 'solreffriction="0.04 0"'},  # MuJoCo takes those of the normal
]


@pytest.mark.parametrize("condim", [1, 3, 6])
@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
def test_friction_of_a_pair_may_have_a_reference_of_its_own(cone: str, condim: int) -> None:
    """Contacts with the world and between bodies, beside one that has none; pyramids do not heed it."""
    ends = []
    for pairs in PAIRS:
        text = PAIRED.format(cone=cone, condim=condim, **pairs)
        model = bough.load(text)
        q, v = np.array(model.simulation.reference), np.tile([0.02, 0.01, 0, 0.1, 0.2, 0.3], 3)
        state = bough.Simulation(model, tolerance=1e-14).step(q, v, steps=20)
        for found, expected in zip(state, theirs(text, model, q, v, steps=20), strict=False):
            np.testing.assert_allclose(found, expected, atol=1e-10)
        ends.append(state.v)
    differ = cone == "elliptic" and condim > 1
    assert all((np.abs(x - ends[-1]).max() > 1e-4) == differ for x in ends[:-1])


def test_steps_are_differentiable_where_friction_has_a_reference_of_its_own() -> None:
    model = bough.load(PAIRED.format(cone="elliptic", condim=3, **PAIRS[2]))
    sim = bough.Simulation(model, tolerance=1e-14)
    q, v = np.array(model.simulation.reference), np.tile([0.5, 0.1, 0, 0.1, 0.2, 0.3], 3)
    J, h = sim.jacobian(q, v, wrt="v")["v"], 1e-6
    for k in range(model.nv):
        one, other = (sim.step(q, v + h * x * np.eye(model.nv)[k]).v for x in (1.0, -1.0))
        np.testing.assert_allclose(J[-model.nv :, k], (one - other) / (2 * h), atol=1e-5)


def test_references_of_friction_have_one_format() -> None:
    with pytest.raises(ModelError, match=r"solreffriction is \(0.04, -1\), expected as solref, or \(0, 0\)"):
        bough.simulation.ExplicitPair("a", "b", solreffriction=(0.04, -1))


RUBBING = """<mujoco><option tolerance="1e-14" iterations="200"/><worldbody>
  <body pos="0 0 2"><joint type="ball" frictionloss="0.2"/><geom type="capsule" size="0.03" fromto="0 0 0 0.4 0.1 0"/>
    <body pos="0.4 0.1 0"><joint type="ball" frictionloss="0.07" damping="0.01"/>
      <geom type="capsule" size="0.03" fromto="0 0 0 0.1 0.1 0.3"/></body></body>{more}
  </worldbody></mujoco>"""

FLOATING = """
  <body pos="3 3 2"><joint type="free" frictionloss="2"/><geom type="box" size="0.1 0.2 0.05"/>
    <body pos="0.1 0.2 0"><joint axis="0 1 0" frictionloss="0.05"/><geom size="0.05" pos="0.2 0 0"/></body></body>"""


@pytest.mark.parametrize("speed", [0.001, 0.1, 1.0])
def test_dry_friction_of_balls_is_as_soft_along_all_axes(speed: float, rng: np.random.Generator) -> None:
    model = bough.load(text := RUBBING.format(more=""))
    q, v = bough.random(model, rng), speed * rng.normal(size=6)
    state = bough.Simulation(model, tolerance=1e-14).step(q, v, steps=50)
    for found, expected in zip(state, theirs(text, model, q, v, steps=50), strict=False):
        np.testing.assert_allclose(found, expected, atol=1e-10)


def test_dry_friction_of_a_floating_body_is_as_soft_along_all_axes(rng: np.random.Generator) -> None:
    """In a step from where it is not turned: MuJoCo's acts along axes of the world, bough's along those of the body."""
    model = bough.load(text := RUBBING.format(more=FLOATING))
    q, v = np.array(model.simulation.reference), 0.01 * rng.normal(size=model.nv)
    state = bough.Simulation(model, tolerance=1e-14).step(q, v)
    np.testing.assert_allclose(state.v, theirs(text, model, q, v, steps=1)[1], atol=1e-12)


@pytest.mark.parametrize("scale", [0.3, 4.0])
def test_the_torquescale_of_a_weld_is_heeded(scale: float, tmp_path: Path, rng: np.random.Generator) -> None:
    text = f"""<mujoco><option tolerance="1e-12"/><worldbody>
      <body name="a"><freejoint/><geom size=".1 .2 .3" type="box" mass="1" contype="0"/></body>
      <body name="b" pos=".3 0 0"><joint axis="1 2 3"/><geom size=".1" mass="2" pos=".1 0 0" contype="0"/></body>
      </worldbody><equality><weld body1="a" body2="b" torquescale="{scale}"/></equality></mujoco>"""
    model = bough.load(text)
    bough.save(model, tmp_path / "m.xml")
    bough.save(model, tmp_path / "m.json")
    for kept in (model, bough.load(tmp_path / "m.xml"), bough.load(tmp_path / "m.json")):
        assert kept.constraints[0].softness.torquescale == scale
    q, v = np.array(model.simulation.reference), np.zeros(model.nv)
    q = bough.integrate(model, q, 1e-7 * rng.normal(size=model.nv))  # further apart rows have other axes
    state, wanted = bough.Simulation(model, tolerance=1e-12).step(q, v), theirs(text, model, q, v, steps=1)
    np.testing.assert_allclose(state.v, wanted[1], atol=1e-7)


BALL = """<mujoco><option integrator="implicitfast"/><worldbody><body><joint name="a" type="ball"/>
  <geom type="box" size=".1 .2 .3" pos=".1 0 0"/></body></worldbody>
  <actuator><position name="p" kp="3" kv=".4" joint="a" gear="1 2 3"/></actuator>
  <sensor><actuatorpos actuator="p"/><actuatorvel actuator="p"/><actuatorfrc actuator="p"/></sensor></mujoco>"""


def test_position_servos_of_balls_feel_the_rotation_vector(rng: np.random.Generator) -> None:
    model = bough.load(BALL)
    sim, m = bough.Simulation(model), mujoco.MjModel.from_xml_string(BALL)
    for _ in range(4):
        q, v, u = bough.random(model, rng), rng.normal(size=3), rng.normal(size=1)
        d = mujoco.MjData(m)
        d.qpos[:], d.qvel[:] = bough.convert.states_to_mujoco(model, q, v)
        d.ctrl[:] = u
        mujoco.mj_forward(m, d)
        read = np.ravel(list(sim.sensors(q, v, control=u).values()))
        np.testing.assert_allclose(read, d.sensordata, rtol=1e-10, atol=1e-12)
        state, wanted = sim.step(q, v, control=u, steps=10), theirs(BALL, model, q, v, 10, u)
        np.testing.assert_allclose(state.v, wanted[1], rtol=1e-10, atol=1e-12)


STRANGE = """<mujoco><option integrator="implicit" noslip_iterations="3"/><worldbody><body><joint name="a"
  actuatorfrcrange="-1 2"/><geom size="0.1"/></body><body name="hook" mocap="true"/></worldbody>
  <actuator><motor joint="a"/><general name="slow" joint="a" dyntype="filter" dynprm="0.1"/></actuator>
  <sensor><clock/><actuatorfrc actuator="slow"/></sensor></mujoco>"""


def test_what_is_not_heeded_is_told_by_the_simulation() -> None:
    model = bough.load(STRANGE)
    told = "\n".join(model.simulation.not_understood)
    for part in (
        "the integrator 'implicit'", "noslip_iterations", "actuatorfrcrange -1 2 of joint 'a'", "there is no clock",
        "actuator 'slow': it has a state of its own", "sensor 'sensor1': its actuator is not understood",
        "mocap bodies, which stay where the file has them: 'hook'",
    ):  # fmt: skip
        assert part in told
    with pytest.warns(SimulationWarning, match=r"the integrator 'implicit': .* \(and 6 more, see model\.simulation"):
        sim = bough.Simulation(model)
    assert sim.integrator == "implicitfast"
    with pytest.raises(
        ShapeError, match=r"control .*one for each actuator .*, not for actuator 'slow': it has a state"
    ):
        sim.step([0.0], [0.0], control=[1.0, 1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bough.Simulation(model.with_simulation(not_understood=()))


MESHES = """<mujoco><asset>
  <mesh name="tetra" vertex="0 0 0  .3 0 0  0 .3 0  0 0 .3" scale="1 1.2 .8"/>
  <mesh name="block" vertex="-.1 -.1 -.1 .1 -.1 -.1 .1 .1 -.1 -.1 .1 -.1 -.1 -.1 .1 .1 -.1 .1 .1 .1 .1 -.1 .1 .1"
    face="0 2 1 0 3 2 4 5 6 4 6 7 0 1 5 0 5 4 1 2 6 1 6 5 2 3 7 2 7 6 3 0 4 3 4 7"/>
  <mesh name="ball" builtin="sphere" params="1" scale=".1 .1 .1"/></asset>
  <worldbody><geom type="plane" size="0 0 1"/>
    <body pos="0 0 .1"><freejoint/><geom name="one" type="mesh" mesh="tetra"/></body>
    <body pos="1 0 .15"><freejoint/><geom name="two" type="mesh" mesh="block"/></body>
    <body pos="2 0 .15"><freejoint/><geom name="three" type="mesh" mesh="ball" pos=".1 0 0"/></body>
    <body pos="3 0 .15"><freejoint/><geom name="four" type="box" mesh="block"/></body></worldbody></mujoco>"""


def test_meshes_without_files_are_there(compiled: None, tmp_path: Path) -> None:
    """They touch with their hulls, as in MuJoCo, are drawn, and are in files that are saved."""
    from bough.viewer.drawables import drawables

    model = bough.load(MESHES)
    shapes = {g.name: g for g in model.geometries}
    assert [len(shapes[name].triangles) for name in ("one", "two", "three", "four")] == [4, 12, 80, 0]
    sim = bough.Simulation(model)
    assert not sim.left_out.shapes
    assert [len(hull.corners) for hull in sim.scene.hulls] == [4, 8, 42]
    q, v = np.array(model.simulation.reference), np.zeros(model.nv)
    state, wanted = sim.step(q, v, steps=150), theirs(MESHES, model, q, v, 150)
    np.testing.assert_allclose(state.q, wanted[0], atol=1e-6)
    assert state.q[9] == pytest.approx(0.1, abs=1e-3)
    drawn = drawables(model)
    assert not drawn.missing
    corners = {shape.name: shape.corners for shape in drawn.shapes}
    np.testing.assert_allclose(np.ptp(corners["one"], axis=0), [0.3, 0.36, 0.24], rtol=1e-6)
    for name in ("m.xml", "m.json"):
        bough.save(model, tmp_path / name)
        again = {g.name: g for g in bough.load(tmp_path / name).geometries}
        for title in ("one", "two", "three"):
            mine, other = (g.placement.act(np.reshape(g.triangles, (-1, 3))) for g in (shapes[title], again[title]))
            np.testing.assert_allclose(np.sort(other, axis=0), np.sort(mine, axis=0), atol=1e-7)
    with pytest.raises(bough.errors.SaveError, match="the mesh on"):
        bough.save(model, tmp_path / "m.urdf", leave_out=("simulation",))


def test_the_pose_of_a_file_that_says_nothing_of_simulation_is_known() -> None:
    """Masses are felt, and shapes that overlap are left out, as there."""
    text = '<mujoco><worldbody><body><joint ref="90"/><geom size="1" pos="1 0 0"/></body></worldbody></mujoco>'
    assert bough.load(text).simulation.reference == pytest.approx((np.pi / 2,))
