"""Hand-written MJCF models in MuJoCo against the same mechanisms in bough."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

import bough
from closeness import assert_close
from mujoco_states import to_theirs, turning

STATES = 10
TOLERANCE = 1e-10

OPTIONS = '<option gravity="0.3 -0.2 -9.81"><flag contact="disable" constraint="disable"/></option>'
GRAVITY = (0.3, -0.2, -9.81)

ARM = f"""
<mujoco>{OPTIONS}
<worldbody>
  <body name="turret" pos="0.1 0 0.3" euler="10 20 30">
    <joint type="hinge" axis="0 0 1" armature="0.1"/>
    <inertial pos="0.01 0.02 0.05" mass="2" diaginertia="0.02 0.03 0.04"/>
    <body name="upper" pos="0 0.1 0.2" euler="90 0 0">
      <joint type="hinge" axis="1 2 -1"/>
      <inertial pos="0.2 0.01 0" mass="1.5" fullinertia="0.01 0.03 0.025 0.002 -0.001 0.003"/>
      <body name="slider" pos="0.4 0 0">
        <joint type="slide" axis="0 1 1" armature="0.05"/>
        <inertial pos="0.05 0 0" mass="0.8" diaginertia="0.004 0.003 0.002"/>
        <body name="wrist" pos="0.1 0 0" quat="0.5 0.5 0.5 0.5">
          <joint type="hinge" axis="1 0 0"/>
          <joint type="hinge" axis="0 0 1" armature="0.02"/>
          <inertial pos="0.02 0.01 0.03" mass="0.4" diaginertia="0.001 0.0015 0.002"/>
        </body>
      </body>
      <body name="tool" pos="0.2 0.1 0" euler="0 -40 15">
        <joint type="hinge" axis="0 1 0"/>
        <joint type="slide" axis="0 1 0"/>
        <inertial pos="0.02 0.01 0.06" mass="0.3" diaginertia="0.001 0.0015 0.002"/>
      </body>
    </body>
  </body>
</worldbody></mujoco>
"""

LEG = """
    <body name="hip{k}" pos="{x} {y} -0.05" euler="0 0 {turn}">
      <joint type="{hip}" armature="0.01"/>
      <inertial pos="0.02 0.01 -0.03" mass="0.9" diaginertia="0.002 0.003 0.004"/>
      <body name="thigh{k}" pos="0 0.05 -0.1">
        <joint type="hinge" axis="0 1 0"/>
        <inertial pos="0 0.01 -0.12" mass="1.1" diaginertia="0.006 0.005 0.001"/>
        <body name="shank{k}" pos="0 0 -0.25" euler="5 0 0">
          <joint type="hinge" axis="0 1 0" armature="0.03"/>
          <inertial pos="0.01 0 -0.1" mass="0.4" diaginertia="0.002 0.002 0.0005"/>
        </body>
      </body>
    </body>
"""
LEGS = [(0.2, 0.1, 10), (0.2, -0.1, -10), (-0.2, 0.1, 170), (-0.2, -0.1, 190)]


def quadruped_xml(hip: str) -> str:
    legs = "".join(LEG.format(k=k, x=x, y=y, turn=turn, hip=hip) for k, (x, y, turn) in enumerate(LEGS))
    return f"""
<mujoco>{OPTIONS}
<worldbody>
  <body name="trunk" pos="0 0 0.5"><freejoint/>
    <inertial pos="0.01 -0.02 0.03" mass="8" fullinertia="0.1 0.3 0.35 0.01 -0.02 0.005"/>{legs}
  </body>
  <body name="load" pos="1 1 1"><joint type="ball"/>
    <inertial pos="0.1 0.2 0.3" mass="2" diaginertia="0.01 0.015 0.02"/>
  </body>
</worldbody></mujoco>
"""


def turn(*degrees: float) -> np.ndarray:
    """MuJoCo's default Euler angles: about x, then the new y, then the new z."""
    result = np.eye(3)
    for axis, angle in zip(range(3), np.radians(degrees), strict=True):
        j, k = (axis + 1) % 3, (axis + 2) % 3
        R = np.eye(3)
        R[j, j] = R[k, k] = np.cos(angle)
        R[k, j], R[j, k] = np.sin(angle), -np.sin(angle)
        result = result @ R
    return result


def arm() -> bough.Model:
    b = bough.Builder("arm", GRAVITY)
    b.add(
        "turret", bough.joints.Revolute("z"), at=(0.1, 0, 0.3), rotation=turn(10, 20, 30), mass=2,
        com=(0.01, 0.02, 0.05), inertia=(0.02, 0.03, 0.04), armature=0.1,
    )  # fmt: skip
    b.add(
        "upper", bough.joints.Revolute((1, 2, -1)), "turret", at=(0, 0.1, 0.2), rotation=turn(90, 0, 0), mass=1.5,
        com=(0.2, 0.01, 0), inertia=[[0.01, 0.002, -0.001], [0.002, 0.03, 0.003], [-0.001, 0.003, 0.025]],
    )  # fmt: skip
    b.add(
        "slider", bough.joints.Prismatic((0, 1, 1)), "upper", at=(0.4, 0, 0), mass=0.8, com=(0.05, 0, 0),
        inertia=(0.004, 0.003, 0.002), armature=0.05,
    )  # fmt: skip
    b.add(
        "wrist", bough.joints.Universal("x", "z"), "slider", at=(0.1, 0, 0), rotation=[[0, 0, 1], [1, 0, 0], [0, 1, 0]],
        mass=0.4, com=(0.02, 0.01, 0.03), inertia=(0.001, 0.0015, 0.002), armature=(0.0, 0.02),
    )  # fmt: skip
    b.add(
        "tool", bough.joints.Cylindrical("y"), "upper", at=(0.2, 0.1, 0), rotation=turn(0, -40, 15), mass=0.3,
        com=(0.02, 0.01, 0.06), inertia=(0.001, 0.0015, 0.002),
    )  # fmt: skip
    return b.build()


def quadruped(hip: bough.joints.Joint) -> bough.Model:
    b = bough.Builder("quadruped", GRAVITY)
    matrix = [[0.1, 0.01, -0.02], [0.01, 0.3, 0.005], [-0.02, 0.005, 0.35]]
    b.add("trunk", bough.joints.Free(), mass=8, com=(0.01, -0.02, 0.03), inertia=matrix)
    for k, (x, y, yaw) in enumerate(LEGS):
        b.add(
            f"hip{k}", hip, "trunk", at=(x, y, -0.05), rotation=turn(0, 0, yaw), mass=0.9, com=(0.02, 0.01, -0.03),
            inertia=(0.002, 0.003, 0.004), armature=0.01,
        )  # fmt: skip
        b.add(
            f"thigh{k}", bough.joints.Revolute("y"), f"hip{k}", at=(0, 0.05, -0.1), mass=1.1, com=(0, 0.01, -0.12),
            inertia=(0.006, 0.005, 0.001),
        )  # fmt: skip
        b.add(
            f"shank{k}", bough.joints.Revolute("y"), f"thigh{k}", at=(0, 0, -0.25), rotation=turn(5, 0, 0), mass=0.4,
            com=(0.01, 0, -0.1), inertia=(0.002, 0.002, 0.0005), armature=0.03,
        )  # fmt: skip
    b.add("load", bough.joints.Spherical(), at=(1, 1, 1), mass=2, com=(0.1, 0.2, 0.3), inertia=(0.01, 0.015, 0.02))
    return b.build()


def theirs(xml: str) -> tuple[Any, Any]:
    model = mujoco.MjModel.from_xml_string(xml)
    return model, mujoco.MjData(model)


CASES = {
    "arm": (ARM, arm()),
    "quadruped": (quadruped_xml("hinge"), quadruped(bough.joints.Revolute("z"))),
    "quadruped with ball joints": (quadruped_xml("ball"), quadruped(bough.joints.Spherical())),
}


@pytest.mark.parametrize("name", CASES)
def test_dynamics(rng: np.random.Generator, name: str) -> None:
    xml, model = CASES[name]
    m, d = theirs(xml)
    assert (m.nq, m.nv) == (model.nq, model.nv)
    for _ in range(STATES):
        q, v, tau = bough.random(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
        T, extra = to_theirs(model, q), turning(model, v)
        d.qpos[:], d.qvel[:] = bough.convert.states_to_mujoco(model, q, v)
        d.qfrc_applied[:] = np.linalg.solve(T.T, tau)
        mujoco.mj_forward(m, d)

        M = np.zeros((m.nv, m.nv))
        mujoco.mj_fullM(m, d, M)
        assert_close(T.T @ M @ T, bough.crba(model, q), TOLERANCE, axes=2)
        assert_close(T.T @ d.qfrc_bias, bough.rnea(model, q, v, -extra), TOLERANCE)
        for method in ("aba", "crba"):
            qdd = bough.forward_dynamics(model, q, v, tau, method=method)
            assert_close(T @ (qdd + extra), d.qacc, TOLERANCE)


@pytest.mark.parametrize("name", CASES)
def test_kinematics_and_energy(rng: np.random.Generator, name: str) -> None:
    xml, model = CASES[name]
    m, d = theirs(xml.replace("<flag ", '<flag energy="enable" '))
    for _ in range(STATES):
        q, v = bough.random(model, rng), rng.normal(size=model.nv)
        d.qpos[:], d.qvel[:] = bough.convert.states_to_mujoco(model, q, v)
        mujoco.mj_forward(m, d)
        placed = bough.placements(model, q)
        assert_close(placed[:, :3, 3], d.xpos[1:], TOLERANCE, axes=2)
        assert_close(placed[:, :3, :3], d.xmat[1:].reshape(-1, 3, 3), TOLERANCE, axes=2)
        assert_close(bough.center_of_mass(model, q), d.subtree_com[0], TOLERANCE)
        assert_close(bough.potential_energy(model, q)[None], d.energy[:1], TOLERANCE)
        assert_close(bough.kinetic_energy(model, q, v)[None], d.energy[1:], TOLERANCE)
        names = [mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_BODY, k + 1) for k in range(model.nbodies)]
        assert tuple(names) == model.body_names
        speed = bough.velocities(model, q, v, reference="LOCAL_WORLD_ALIGNED")
        for k in range(model.nbodies):
            found = np.zeros(6)
            mujoco.mj_objectVelocity(m, d, mujoco.mjtObj.mjOBJ_XBODY, k + 1, found, 0)
            assert_close(speed[k], np.roll(found, 3), TOLERANCE)


@pytest.mark.parametrize("name", CASES)
def test_integration_and_difference(rng: np.random.Generator, name: str) -> None:
    """MuJoCo moves a free joint along the world's axes: agreement where the linear and angular parts act alone."""
    xml, model = CASES[name]
    m, _ = theirs(xml)
    for part in (slice(0, 3), slice(3, model.nv)):
        q, v = bough.random(model, rng), np.zeros(model.nv)
        v[part] = rng.normal(size=v[part].size)
        qpos, qvel = bough.convert.states_to_mujoco(model, q, v)
        mujoco.mj_integratePos(m, qpos, qvel, 1.0)
        assert_close(bough.integrate(model, q, v), bough.convert.states_from_mujoco(model, qpos), TOLERANCE)
        back = np.zeros(model.nv)
        mujoco.mj_differentiatePos(m, back, 1.0, bough.convert.states_to_mujoco(model, q), qpos)
        assert_close(bough.difference(model, q, bough.convert.states_from_mujoco(model, qpos)), v, TOLERANCE)
        assert_close(back, qvel, TOLERANCE)
