"""Contacts of a robot that lies on many points: more friction forces than its motion can tell apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bough
from bough.kernel.contact import scene
from robot_data import ROBOTS

POINTS = """
    left_wrist_pitch_link left_ankle_pitch_link right_ankle_roll_link left_shoulder_roll_link
    right_ankle_pitch_link left_hip_yaw_link right_wrist_yaw_link right_wrist_pitch_link
    right_hip_pitch_link left_wrist_yaw_link right_elbow_link left_knee_link
    right_shoulder_roll_link right_hip_yaw_link left_hip_pitch_link left_elbow_link
    waist_yaw_link left_wrist_roll_link waist_roll_link
"""
CONFIGURATION = """
    0.14076377 -0.04643732 0.00811494 -0.02722198 0.79643157 -0.33197822 0.50472387 0.12201169
    -0.14225152 -1.77736451 0.25181601 0.42765202 0.2618 -0.6478969 0.46343026 0.92404433
    0.72701662 -0.21620476 -0.2618 0.45844708 -0.50846004 -0.32976193 0.02281967 -0.78193703
    1.54832995 -0.09105027 -0.00794487 -1.02367934 -1.39829892 0.01381909 -0.11624159 1.58877597
    -0.31904444 -0.00338903 -1.59588007 -1.54581243
"""
VELOCITY = """
    -1e-08 0.0 0.0 1e-08 1.7e-07 -3.8e-07 -5e-08 4e-08
    -5e-08 2e-08 8.32355619 -1.4e-07 -1e-08 -1e-08 0.00028606 -0.00531899
    0.09680674 2.1e-07 2.7e-07 -8e-08 -2e-07 -1e-08 0.0 4e-08
    -1e-08 -1.87e-06 -2e-08 -0.93164492 7e-08 0.0 -6e-08 0.0
    -2e-08 0.0 -1.81422884
"""
TORQUE = """
    0.0 0.0 0.0 0.0 0.0 0.0 1e-08 -1e-08
    0.0 0.0 -0.08054523 0.0 0.0 0.0 -9.33e-06 0.00065214
    -0.00097473 0.0 -5e-08 4e-08 2e-08 0.0 0.0 0.0
    0.0 0.0 0.0 0.00467698 -1e-08 0.0 0.0 0.0
    0.0 0.0 0.00651146
"""


def numbers(text: str) -> np.ndarray:
    return np.array(text.split(), np.float64)


def leave_the_program(*state: object) -> None:
    raise AssertionError("the program did not find the forces")


@pytest.mark.parametrize("friction", ["pyramid", "cone"])
def test_forces_of_a_robot_that_lies_on_fourteen_points(
    compiled: None, monkeypatch: pytest.MonkeyPatch, friction: Any
) -> None:
    """Guesses alone find no forces for this state of G1, with friction cones; a smooth path leads to them."""
    monkeypatch.setattr(scene, "_explained", leave_the_program)
    model = bough.load(ROBOTS / "g1_description/urdf/g1_29dof_rev_1_0.urdf", floating_base=True)
    q, v, mu, dt = numbers(CONFIGURATION), numbers(VELOCITY), 0.6, 2e-3
    q[3:7] /= np.linalg.norm(q[3:7])
    points = bough.placements(model, q, POINTS.split())[:, :3, 3]
    contacts = bough.contact.Contacts([(name, None) for name in POINTS.split()], friction)
    touch = contacts.at(points, [0.0, 0.0, 1.0], mu=mu, gaps=points[:, 2])
    found = bough.contact.step(model, q, v, numbers(TORQUE), touch, dt=dt)
    assert not found.conflicts
    assert not found.undecided
    f = found.contact_forces
    rates = [bough.jacobian(model, q, name, "LOCAL_WORLD_ALIGNED")[2] @ found.motion for name in POINTS.split()]
    heights = points[:, 2] + dt * np.array(rates)
    assert (
        heights - np.minimum(points[:, 2], 0.0)
    ).min() > -1e-9  # nothing goes through the floor, and what is above it is not pushed
    assert np.abs(heights[f[:, 0] > 1e-6 * f.max()]).max() < 1e-7
    assert (f[:, 0] >= 0.0).all()
    order = 2 if friction == "cone" else np.inf
    assert (np.linalg.norm(f[:, 1:], order, axis=1) <= mu * f[:, 0] + 1e-9 * f.max()).all()
    assert (f[:, 0] > 0.0).sum() > 10
    assert found.residual < 1e-8
