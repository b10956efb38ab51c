"""Contact and limits beside MuJoCo, whose constraints are soft: in its stiff limit, at rest, where nothing slides."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

import bough

BEND = np.radians(60.0)
ARM = """
<mujoco>
  <option cone="elliptic" iterations="200" tolerance="1e-14"/>
  <default>
    <geom solref="0.002 1" solimp="0.9999 0.9999 0.001" friction="3 0 0" margin="1e-10" condim="{rows}"/>
    <joint margin="1e-10" solreflimit="0.002 1" solimplimit="0.9999 0.9999 0.001"/>
  </default>
  <worldbody>
    <geom name="ground" type="plane" size="2 2 0.1"/>
    <body name="upper" pos="0 0 0.5">
      <joint name="swivel" axis="0 0 1"/>
      <joint name="shoulder" axis="0 1 0"/>
      <inertial pos="0.2 0.02 0" mass="2" diaginertia="0.02 0.03 0.03"/>
      <body name="lower" pos="0.4 0 0">
        <joint name="elbow" axis="0 1 0" limited="true" range="0 {elbow}"/>
        <inertial pos="0.2 0 0.03" mass="1" diaginertia="0.01 0.02 0.02"/>
        <geom name="tip" type="sphere" size="0.05" pos="0.4 0 0" mass="0"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.mark.parametrize(("rows", "elbow", "push"), [(3, 120.0, 4.0), (1, 120.0, 4.0), (1, 60.0, 20.0)])
def test_an_arm_leans_on_the_ground(rows: int, elbow: float, push: float, rng: np.random.Generator) -> None:
    """The tip sticks, or it begins to slide without friction, or so with the elbow at its limit and pushed on."""
    text = ARM.format(rows=rows, elbow=elbow)
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    model = bough.load(text)
    # the tip is 0.45 m below the shoulder: there it touches
    reach, drop = 0.4 + 0.4 * np.cos(BEND), 0.4 * np.sin(BEND)
    shoulder = np.arcsin(0.45 / np.hypot(reach, drop)) - np.arctan2(drop, reach)
    q, tau = np.array([0.3, shoulder, BEND]), np.array([1.0, 2.0, push]) + 0.2 * rng.normal(size=3)
    d.qpos[:], d.qfrc_applied[:] = q, tau
    mujoco.mj_forward(m, d)
    assert d.ncon == 1

    tip = bough.placements(model, q, "lower") @ [0.4, 0, 0, 1]
    contacts = bough.contact.Contacts([("lower", None)], "pyramid" if rows == 3 else None)
    touch = contacts.at([tip[:3] - [0, 0, 0.05]], [[0, 0, 1.0]], mu=3.0)
    found = bough.contact.dynamics(model, q, np.zeros(3), tau, touch)
    assert found.conflicts == ()
    assert (found.limit_forces[2] < -1.0) == (elbow == 60.0)
    assert found.contact_forces[0, 0] > 1.0
    theirs: Any = np.zeros(6)
    mujoco.mj_contactForce(m, d, 0, theirs)
    in_space = bough.contact.axes([0, 0, 1.0]).T @ found.contact_forces[0]
    assert np.allclose(d.contact[0].frame.reshape(3, 3).T @ theirs[:3], in_space, rtol=1e-3, atol=1e-2)
    J = bough.contact.jacobian(model, q, touch)[0]
    assert np.allclose(d.qfrc_constraint, J.T @ found.contact_forces[0] + found.limit_forces, rtol=1e-3, atol=1e-2)
    free = bough.aba(model, q, np.zeros(3), tau)
    assert np.allclose(d.qacc, found.motion, rtol=0, atol=1e-3 * np.abs(free).max())
