"""Layouts of other libraries: round trips, and the same motion in the real Pinocchio and the real MuJoCo."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import bough
from closeness import assert_close
from joint_contract import rate, same_configuration

LIBRARIES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "pinocchio": (bough.convert.states_to_pinocchio, bough.convert.states_from_pinocchio),
    "mujoco": (bough.convert.states_to_mujoco, bough.convert.states_from_mujoco),
    "drake": (bough.convert.states_to_drake, bough.convert.states_from_drake),
}


def build(spherical: bool = True) -> bough.Model:
    """Every joint type."""
    b = bough.Builder("all")
    joints: dict[str, bough.joints.Joint] = {
        "free": bough.joints.Free(),
        "revolute": bough.joints.Revolute("x"),
        "continuous": bough.joints.Revolute("z", continuous=True),
        "follower": bough.joints.Mimic(bough.joints.Revolute("z"), "revolute", 2.0),
        "planar": bough.joints.Planar(),
        "translational": bough.joints.Translational(),
        "prismatic": bough.joints.Prismatic("y"),
        "helical": bough.joints.Helical("y", 0.1),
        "universal": bough.joints.Universal(),
        "cylindrical": bough.joints.Cylindrical("x"),
    }
    if spherical:
        joints["spherical"] = bough.joints.Spherical()
    parent = "world"
    for name, joint in joints.items():
        b.add(name, joint, parent, at=(0.1, 0.2, 0.3), mass=1.0, inertia=0.1)
        parent = name
    return b.build()


# --- round trips ---


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("size", [(), (4,), (2, 3), (0,)])
def test_there_and_back(library: str, size: tuple[int, ...], rng: np.random.Generator) -> None:
    to, back = LIBRARIES[library]
    m = build(spherical=library != "drake")
    q, v = bough.random(m, rng, size), rng.normal(size=(*size, m.nv))
    their_q, their_v = to(m, q, v)
    their_nq = m.nq + (2 if library == "pinocchio" else 0)
    assert (their_q.shape, their_v.shape) == ((*size, their_nq), (*size, m.nv))
    assert np.array_equal(to(m, q), their_q)
    our_q, our_v = back(m, their_q, their_v)
    assert np.allclose(our_q, q, rtol=0, atol=1e-15)
    assert np.allclose(our_v, v, rtol=0, atol=5e-15)
    assert np.array_equal(back(m, their_q), our_q)
    again = to(m, our_q, our_v)
    assert np.allclose(again[0], their_q, rtol=0, atol=1e-15)
    assert np.allclose(again[1], their_v, rtol=0, atol=1e-14)


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_state_is_not_touched_and_float32_stays(library: str, rng: np.random.Generator) -> None:
    to, back = LIBRARIES[library]
    m = build(spherical=False)
    q, v = bough.random(m, rng, 3), rng.normal(size=(3, m.nv))
    copies = q.copy(), v.copy()
    for x in to(m, q, v):
        x[:] = 7.0
    assert np.array_equal(q, copies[0])
    assert np.array_equal(v, copies[1])
    small = to(m, q.astype(np.float32), v.astype(np.float32))
    assert [x.dtype for x in (*small, *back(m, *small))] == [np.float32] * 4


def test_velocities_broadcast(rng: np.random.Generator) -> None:
    m = build()
    q, v = bough.random(m, rng, (3, 1)), rng.normal(size=(4, m.nv))
    their_q, their_v = bough.convert.states_to_mujoco(m, q, v)
    assert their_v.shape == (3, 4, m.nv)
    assert np.array_equal(their_v[2, 1], bough.convert.states_to_mujoco(m, q[2, 0], v[1])[1])
    assert bough.convert.states_from_mujoco(m, their_q, their_v)[1].shape == (3, 4, m.nv)


# --- Pinocchio ---


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (bough.joints.Revolute("z", continuous=True), "JointModelRUBZ"),
        (bough.joints.Revolute("x"), "JointModelRX"),
        (bough.joints.Planar(), "JointModelPlanar"),
        (bough.joints.Spherical(), "JointModelSpherical"),
        (bough.joints.Free(), "JointModelFreeFlyer"),
        (bough.joints.Translational(), "JointModelTranslation"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_pinocchio_sees_the_same_motion(ours: bough.joints.Joint, theirs: str, rng: np.random.Generator) -> None:
    b = bough.Builder()
    b.add("body", ours, at=(0.1, 0.2, 0.3), rpy=(0.4, 0.5, 0.6), mass=1.0, com=(0.1, 0, 0), inertia=0.1)
    m, twin = b.build(), pin.Model()
    place = m.joints[0].placement
    joint = twin.addJoint(0, getattr(pin, theirs)(), pin.SE3(place.matrix, place.vector), "j")
    data = twin.createData()
    for _ in range(5):
        q, v = bough.random(m, rng) * (3.0 if not ours.quaternions else 1.0), rng.normal(size=m.nv)
        their_q, their_v = bough.convert.states_to_pinocchio(m, q, v)
        assert (their_q.shape, their_v.shape) == ((twin.nq,), (twin.nv,))
        pin.forwardKinematics(twin, data, their_q, their_v)
        X = bough.placements(m, q, "body")
        assert np.allclose(data.oMi[joint].homogeneous, X, rtol=0, atol=2e-15)
        assert np.allclose(data.v[joint].vector, bough.velocities(m, q, v, "body"), rtol=0, atol=1e-14)
        back = bough.convert.states_from_pinocchio(m, their_q)
        assert np.allclose(bough.placements(m, back, "body"), X, rtol=0, atol=2e-15)
        stepped = pin.integrate(twin, their_q, their_v * 0.3)  # the same step from the same place
        ours_stepped = bough.convert.states_to_pinocchio(m, bough.integrate(m, q, v * 0.3))
        assert same_configuration(ours, stepped, ours_stepped) < 1e-14
        their_goal = pin.randomConfiguration(twin, -np.ones(twin.nq), np.ones(twin.nq))
        goal = bough.convert.states_from_pinocchio(m, their_goal)
        shorter = pin.difference(twin, their_q, their_goal)
        assert np.allclose(shorter, bough.difference(m, q, goal), rtol=0, atol=1e-12)


# --- MuJoCo ---

MJCF = """
<mujoco>
  <worldbody>
    <body name="base" pos="0.1 0.2 0.3">
      <freejoint/>
      <inertial pos="0.1 0 0.05" mass="2" diaginertia="0.1 0.2 0.25"/>
      <body name="ball" pos="0.3 0 0.2" quat="0.8 0.6 0 0">
        <joint type="ball"/>
        <inertial pos="0 0.1 0" mass="1" diaginertia="0.1 0.1 0.1"/>
        <body name="sled" pos="0 0.4 0">
          <joint type="slide" axis="1 0 0"/>
          <joint type="slide" axis="0 1 0"/>
          <joint type="hinge" axis="0 0 1"/>
          <inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
          <body name="wheel" pos="0 0 0.1">
            <joint type="hinge" axis="0 1 0"/>
            <inertial pos="0 0 0.1" mass="0.5" diaginertia="0.1 0.1 0.1"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def twin() -> bough.Model:
    """The mechanism of the MJCF; a free body's position there is its q, so it has no placement."""
    b = bough.Builder("twin")
    b.add("base", bough.joints.Free(), mass=2.0, com=(0.1, 0, 0.05), inertia=(0.1, 0.2, 0.25))
    c, s = 0.8**2 - 0.6**2, 2 * 0.8 * 0.6
    turn: Any = [[1, 0, 0], [0, c, -s], [0, s, c]]
    b.add(
        "ball",
        bough.joints.Spherical(),
        "base",
        at=(0.3, 0, 0.2),
        rotation=turn,
        mass=1.0,
        com=(0, 0.1, 0),
        inertia=0.1,
    )
    b.add("sled", bough.joints.Planar(), "ball", at=(0, 0.4, 0), mass=1.0, com=(0.1, 0, 0), inertia=0.1)
    b.add(
        "wheel",
        bough.joints.Revolute("y", continuous=True),
        "sled",
        at=(0, 0, 0.1),
        mass=0.5,
        com=(0, 0, 0.1),
        inertia=0.1,
    )
    return b.build()


@pytest.fixture(scope="module")
def simulator() -> tuple[Any, Any]:
    made = mujoco.MjModel.from_xml_string(MJCF)
    return made, mujoco.MjData(made)


def test_mujoco_sees_the_same_motion(simulator: tuple[Any, Any], rng: np.random.Generator) -> None:
    theirs, data = simulator
    m = twin()
    assert (theirs.nq, theirs.nv) == (m.nq, m.nv)
    for _ in range(5):
        q, v = bough.random(m, rng), rng.normal(size=m.nv)
        data.qpos, data.qvel = bough.convert.states_to_mujoco(m, q, v)
        mujoco.mj_forward(theirs, data)
        X = bough.placements(m, q)
        for k, name in enumerate(m.body_names):
            body = mujoco.mj_name2id(theirs, mujoco.mjtObj.mjOBJ_BODY, name)
            assert np.allclose(data.xpos[body], X[k, :3, 3], rtol=0, atol=1e-14)
            R = np.empty(9)
            mujoco.mju_quat2Mat(R, data.xquat[body])
            assert np.allclose(R.reshape(3, 3), X[k, :3, :3], rtol=0, atol=1e-14)
            for local, reference in [(1, "LOCAL"), (0, "LOCAL_WORLD_ALIGNED")]:
                speed = np.empty(6)  # angular part first, and the linear part at the origin of the body frame
                mujoco.mj_objectVelocity(theirs, data, mujoco.mjtObj.mjOBJ_XBODY, body, speed, local)
                found = bough.velocities(m, q, v, name, reference)
                assert np.allclose(found, np.roll(speed, 3), rtol=0, atol=1e-13)


def test_mujoco_takes_the_same_step(simulator: tuple[Any, Any], rng: np.random.Generator) -> None:
    """Only rotations: MuJoCo moves a free body along a straight line, not along a screw."""
    theirs, _ = simulator
    m = twin()
    q, v = bough.random(m, rng), rng.normal(size=m.nv)
    qpos, qvel = bough.convert.states_to_mujoco(m, q, v)
    mujoco.mj_integratePos(theirs, qpos, qvel, 0.1)
    reached = bough.integrate(m, q, v * 0.1)
    got = bough.convert.states_from_mujoco(m, qpos)
    for part in (slice(3, 7), slice(7, 11)):
        assert same_configuration(bough.joints.Spherical(), reached[part], got[part]) < 1e-15
    assert np.allclose(got[13:], reached[13:], rtol=0, atol=1e-15)


# --- Drake, which is not at hand: the convention itself ---


def test_drake_has_rotations_first_and_velocities_along_the_base_axes(rng: np.random.Generator) -> None:
    b = bough.Builder()
    b.add("body", bough.joints.Free(), mass=1.0, inertia=1.0)
    m = b.build()
    q, v = bough.random(m, rng), rng.normal(size=6)
    their_q, their_v = bough.convert.states_to_drake(m, q, v)
    assert their_q.tolist() == [q[6], q[3], q[4], q[5], q[0], q[1], q[2]]
    world = bough.velocities(m, q, v, "body", "LOCAL_WORLD_ALIGNED")
    assert np.allclose(their_v, [*world[3:], *world[:3]], rtol=0, atol=1e-15)


def test_planar_velocities_elsewhere_are_rates(rng: np.random.Generator) -> None:
    b = bough.Builder()
    b.add("body", bough.joints.Planar(), mass=1.0, inertia=1.0)
    m = b.build()
    q, v = bough.random(m, rng), rng.normal(size=3)
    rates = rate(lambda t: bough.integrate(m, q, v * t))
    for to in (bough.convert.states_to_mujoco, bough.convert.states_to_drake):
        assert_close(to(m, q, v)[1], rates, 1e-11)
        assert np.array_equal(to(m, q), q)


# --- bad input ---


def test_bad_input_names_the_culprit(rng: np.random.Generator) -> None:
    m = build()
    q, v = bough.random(m, rng, 2), rng.normal(size=(2, m.nv))
    their_q = bough.convert.states_to_pinocchio(m, q)
    with pytest.raises(
        bough.errors.ShapeError, match=rf"q has shape \(2, {m.nq}\).*{m.nq + 2} configuration .* pinocchio's"
    ):
        bough.convert.states_from_pinocchio(m, q)
    with pytest.raises(bough.errors.ShapeError, match=r"v has shape \(3,\)"):
        bough.convert.states_to_mujoco(m, q, [1.0, 2.0, 3.0])
    with pytest.raises(bough.errors.ShapeError, match=r"batch axes do not broadcast: q \(2,\), v \(3,\)"):
        bough.convert.states_to_mujoco(m, q, np.zeros((3, m.nv)))
    with pytest.raises(bough.errors.ShapeError, match=r"batch axes do not broadcast: q \(2,\), v \(3,\)"):
        bough.convert.states_from_drake(
            build(spherical=False), bough.convert.states_to_drake(build(False), q[:, :-4]), np.zeros((3, m.nv - 3))
        )
    for place, joint in [(8, "continuous"), (12, "planar")]:
        for value in (0.0, 2.0):
            wrong = their_q.copy()
            wrong[1, place : place + 2] *= value
            with pytest.raises(
                bough.errors.FiniteError, match=rf"joint '{joint}': \(cos, sin\).* has length {value:g}"
            ):
                bough.convert.states_from_pinocchio(m, wrong)
    wrong = bough.convert.states_to_mujoco(m, q)
    wrong[0, 3:7] *= 1.1
    with pytest.raises(bough.errors.FiniteError, match=r"joint 'free': the quaternion .* has length 1\.1"):
        bough.convert.states_from_mujoco(m, wrong)
    for functions in LIBRARIES.values():
        for function in functions:
            with pytest.raises(bough.errors.ModelError, match=r"expected a bough\.Model"):
                function("model", q)
    their_q[1, 3] = np.nan
    with pytest.raises(bough.errors.FiniteError, match=r"q\[1, 3\] is nan"):
        bough.convert.states_from_pinocchio(m, their_q)
    with pytest.raises(bough.errors.FiniteError, match=r"v\[0, 1\] is inf"):
        bough.convert.states_to_pinocchio(m, q[0], np.where(np.arange(m.nv) == 1, np.inf, v[:1]))


def test_drake_has_no_ball_joint_like_ours() -> None:
    m = build()
    for function in LIBRARIES["drake"]:
        with pytest.raises(bough.errors.ModelError, match=r"'spherical'.*Drake has no ball joint"):
            function(m, bough.neutral(m))


@pytest.mark.parametrize("name", bough.convert.__all__)
def test_models_are_not_converted_and_that_is_told(name: str) -> None:
    """A model of another library, or ours without a state, is refused by a message that says what is converted."""
    convert = getattr(bough.convert, name)
    theirs, ours = pin.buildSampleModelManipulator(), bough.trees.topologies.chain(2)
    told = rf"^{name}\(model, q\) converts states, not models: expected a bough.Model and a configuration, got "
    with pytest.raises(bough.errors.ModelError, match=f"{told}a pinocchio.Model and no q.*bough.load"):
        convert(theirs)
    with pytest.raises(bough.errors.ModelError, match=f"{told}a pinocchio.Model\\."):
        convert(theirs, pin.neutral(theirs))
    with pytest.raises(bough.errors.ModelError, match=f"{told}a bough.Model and no q"):
        convert(ours)
