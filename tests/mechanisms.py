"""Mechanisms with loops: well-known ones, and random trees that a random joint closes in a random state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import bough
from joint_contract import Numeric
from model_strategies import random_joint, random_model, random_rotation

__all__ = [
    "LEG", "cassie_leg", "closed", "delta_robot", "energy", "five_bar", "four_bar", "parallelogram", "random_loops",
    "roll", "scissor_lift", "slider_crank", "stewart_platform",
]  # fmt: skip

Floats = np.ndarray[Any, np.dtype[Any]]


def _rod(length: float, mass: float = 1.0) -> dict[str, Any]:
    """A rod along x from the joint."""
    across = mass * length**2 / 12
    return {"mass": mass, "com": (length / 2, 0, 0), "inertia": (1e-3, 1e-3 + across, 1e-3 + across)}


def four_bar(crank: float = 0.3, coupler: float = 0.8, rocker: float = 0.5, ground: float = 0.7) -> bough.Model:
    """In the x-z plane, closed by a hinge: three of its five rows are redundant."""
    b = bough.Builder("four-bar")
    b.add("crank", bough.joints.Revolute("y"), **_rod(crank))
    b.add("coupler", bough.joints.Revolute("y"), "crank", at=(crank, 0, 0), **_rod(coupler))
    b.add("rocker", bough.joints.Revolute("y"), at=(ground, 0, 0), **_rod(rocker))
    b.loop("pin", bough.joints.Revolute("y"), "coupler", "rocker", at=(coupler, 0, 0), successor_at=(rocker, 0, 0))
    return b.build()


def parallelogram() -> bough.Model:
    """A four-bar with equal opposite sides: where it is flat its rank falls."""
    return four_bar(0.4, 0.9, 0.4, 0.9)


def five_bar() -> bough.Model:
    """Two arms of two rods in the x-z plane whose tips are one."""
    b = bough.Builder("five-bar")
    for side, at in (("left", 0.0), ("right", 0.5)):
        b.add(f"{side} upper", bough.joints.Revolute("y"), at=(at, 0, 0), **_rod(0.4))
        b.add(f"{side} lower", bough.joints.Revolute("y"), f"{side} upper", at=(0.4, 0, 0), **_rod(0.5))
    b.loop("tip", bough.joints.Revolute("y"), "left lower", "right lower", at=(0.5, 0, 0), successor_at=(0.5, 0, 0))
    return b.build()


def slider_crank() -> bough.Model:
    """A crank, a rod and a piston along x; the loop is closed at the piston's guide."""
    b = bough.Builder("slider-crank")
    b.add("crank", bough.joints.Revolute("y"), **_rod(0.1))
    b.add("rod", bough.joints.Revolute("y"), "crank", at=(0.1, 0, 0), **_rod(0.35, 0.5))
    b.add("piston", bough.joints.Revolute("y"), "rod", at=(0.35, 0, 0), mass=0.4, inertia=1e-3)
    b.loop("guide", bough.joints.Prismatic("x"), "world", "piston")
    return b.build()


def stewart_platform() -> bough.Model:
    """A free plate on six legs, each with a universal joint, a piston, and a ball joint that closes the loop."""
    b = bough.Builder("Stewart platform")
    b.add("plate", bough.joints.Free(), mass=4.0, inertia=(0.1, 0.12, 0.2))
    for k in range(6):
        low = np.radians(60 * (k // 2 * 2) + (-12 if k % 2 else 12))
        high = np.radians(60 * (k // 2 * 2) + (-48 if k % 2 else 48))
        foot, ball = ((r * np.cos(a), r * np.sin(a), 0.0) for r, a in ((0.6, low), (0.35, high)))
        b.add(
            f"tube {k}",
            bough.joints.Universal("x", "y"),
            at=foot,
            mass=0.5,
            com=(0, 0, 0.15),
            inertia=(0.01, 0.01, 1e-3),
        )
        b.add(
            f"piston {k}",
            bough.joints.Prismatic("z"),
            f"tube {k}",
            mass=0.4,
            com=(0, 0, -0.1),
            inertia=(0.01, 0.01, 1e-3),
        )
        b.loop(f"ball {k}", bough.joints.Spherical(), f"piston {k}", "plate", successor_at=ball)
    return b.build()


def delta_robot() -> bough.Model:
    """Three arms, each with two rods side by side, carry a plate that cannot turn: ball joints close six loops.

    Springs on the arms bear most of the weight, and each arm turns a rotor.
    """
    b = bough.Builder("delta robot")
    b.add("plate", bough.joints.Free(), mass=0.8, inertia=(2e-3, 2e-3, 4e-3))
    for k in range(3):
        angle = 2 * np.pi * k / 3
        turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
        drive = {"armature": 0.01, "stiffness": 8.0, "rest": 0.2}
        b.add(f"arm {k}", bough.joints.Revolute("y"), at=turn @ (0.2, 0, 0), rotation=turn, **_rod(0.25, 0.6), **drive)
        for side, y in (("left", 0.05), ("right", -0.05)):
            rod = {"mass": 0.15, "com": (0, 0, -0.25), "inertia": (3e-3, 3e-3, 1e-5)}
            b.add(f"{side} rod {k}", bough.joints.Universal("y", "x"), f"arm {k}", at=(0.25, y, 0), **rod)
            ends = {"at": (0, 0, -0.5), "successor_at": turn @ (0.06, y, 0)}
            b.loop(f"{side} ball {k}", bough.joints.Spherical(), f"{side} rod {k}", "plate", **ends)
    return b.build()


def scissor_lift(stages: int = 6) -> bough.Model:
    """Crossing bars in the x-z plane, all joints hinges in space: 5 rows for each stage, of which 2 are independent.

    A spring between the wall and the shoe on the ground holds it up.
    """
    b = bough.Builder("scissor lift")
    bar = {"mass": 0.5, "inertia": (1e-3, 0.5 / 12, 0.5 / 12)}
    b.add("shoe", bough.joints.Prismatic("x"), mass=0.3, inertia=1e-3, stiffness=stages * 400.0, rest=0.8)
    parent, at, partner, top = "world", (0.0, 0.0, 0.0), "shoe", (0.0, 0.0, 0.0)
    for k in range(stages):  # rising to the right, and across it rising to the left
        b.add(f"right {k}", bough.joints.Revolute("y"), parent, at=at, com=(0.5, 0, 0), **bar)
        b.add(f"left {k}", bough.joints.Revolute("y"), f"right {k}", at=(0.5, 0, 0), **bar)
        b.loop(f"pin {k}", bough.joints.Revolute("y"), partner, f"left {k}", at=top, successor_at=(0.5, 0, 0))
        parent, at, partner, top = f"left {k}", (-0.5, 0.0, 0.0), f"right {k}", (1.0, 0.0, 0.0)
    return b.build()


LEG = """<mujoco model="leg">
  <compiler angle="radian"/>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <body name="hip" pos="0 0 1">
      <joint name="hip roll" axis="1 0 0" armature="0.06"/>
      <inertial pos="0 0.01 -0.02" mass="1.6" diaginertia="0.004 0.005 0.004"/>
      <body name="thigh" pos="0.02 0.05 -0.06">
        <joint name="hip pitch" axis="0 1 0" armature="0.09"/>
        <inertial pos="0.01 0 -0.12" mass="3.9" diaginertia="0.05 0.05 0.012"/>
        <body name="rod" pos="-0.04 0.03 -0.02">
          <joint name="rod" type="ball"/>
          <inertial pos="0 0 -0.23" mass="0.17" diaginertia="0.003 0.003 0.00004"/>
        </body>
        <body name="shin" pos="0.06 0 -0.26">
          <joint name="knee" axis="0 1 0" armature="0.09"/>
          <inertial pos="-0.02 0 -0.05" mass="0.6" diaginertia="0.003 0.003 0.0008"/>
          <body name="lower shin" pos="-0.05 0 -0.07">
            <joint name="shin spring" axis="0 1 0" stiffness="150"/>
            <inertial pos="-0.1 0 -0.15" mass="0.7" diaginertia="0.007 0.007 0.0004"/>
            <body name="tarsus" pos="-0.18 0 -0.3">
              <joint name="ankle" axis="0 1 0"/>
              <inertial pos="0.06 0 -0.12" mass="0.9" diaginertia="0.011 0.011 0.0007"/>
              <body name="heel" pos="-0.05 0.03 0.02">
                <joint name="heel spring" axis="0 1 0" stiffness="40"/>
                <inertial pos="-0.03 0 0.01" mass="0.25" diaginertia="0.001 0.001 0.001"/>
              </body>
              <body name="crank" pos="0.02 0.02 -0.06">
                <joint name="crank" axis="0 1 0" armature="0.012"/>
                <inertial pos="0.02 0 0" mass="0.2" diaginertia="0.0002 0.0002 0.0002"/>
                <body name="toe rod" pos="0.06 0 0.01">
                  <joint name="toe rod" axis="0 1 0"/>
                  <inertial pos="0.05 0 -0.1" mass="0.12" diaginertia="0.001 0.001 0.00002"/>
                </body>
              </body>
              <body name="foot" pos="0.14 0 -0.3">
                <joint name="toe" axis="0 1 0"/>
                <inertial pos="0.01 0 -0.03" mass="0.3" diaginertia="0.0004 0.0007 0.0005"/>
              </body>
            </body>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <equality>
    <connect name="achilles" body1="rod" body2="heel" anchor="0 0 -0.46"/>
    <connect name="plantar" body1="toe rod" body2="foot" anchor="0.09 0 -0.2"/>
  </equality>
</mujoco>"""
"""A leg in the manner of Cassie's: a rod from the thigh to the sprung heel, and one from a crank to the foot."""


def cassie_leg() -> bough.Model:
    """The leg above."""
    return bough.load(LEG)


MADE = {
    "four-bar": four_bar, "five-bar": five_bar, "slider-crank": slider_crank, "Stewart platform": stewart_platform,
    "delta robot": delta_robot, "scissor lift": scissor_lift, "leg": cassie_leg,
}  # fmt: skip


def guess(name: str, model: bough.Model) -> Floats:
    """A configuration near an assembly."""
    planar = {"four-bar": (-1.0, 0.5, -1.5), "five-bar": (1.2, 0.9, 1.9, -0.9), "slider-crank": (-0.8, 1.0, 0.0)}
    if name in planar:
        return np.array(planar[name])
    q = bough.neutral(model)
    if name == "Stewart platform":
        q[:3] = (0.03, -0.02, 0.7)
        for k in range(6):
            q[model.q_slice(f"piston {k}")] = 0.7
    if name == "delta robot":
        q[:3] = (0.02, -0.01, -0.5)
        for k in range(3):
            q[model.q_slice(f"arm {k}")] = 0.4
    if name == "scissor lift":
        for entry in model.joints:
            q[model.q_slice(entry.name)] = {"shoe": 0.8, "right": -0.6435, "left": 1.287}[entry.name.split()[0]]
    return q


def closed(name: str) -> tuple[bough.Model, Floats, Floats]:
    """A mechanism by name, assembled, with a velocity that its loops allow."""
    model = MADE[name]()
    push = np.tile([0.3, -0.2, 0.1, 0.4, 0.5, -0.3], 4)[: model.nv]
    if name in ("four-bar", "five-bar", "slider-crank"):
        push = np.full(model.nv, 2.0)
    q = bough.loops.assemble(model, guess(name, model))
    return model, q, bough.loops.consistent_velocity(model, q, push)


def random_loops(
    rng: np.random.Generator,
    kinds: Sequence[str],
    bodies: int = 7,
    joints: Sequence[str] | None = None,
    mimic: bool = False,
    ends: Sequence[tuple[str, str]] = (),
) -> tuple[bough.Model, Floats]:
    """A random tree and a state in which loops of the given types are closed, between given bodies or anywhere."""
    model = random_model(rng, bodies, joints, mimic=mimic)
    q = bough.random(model, rng)
    for k, kind in enumerate(kinds):
        joint = random_joint(kind, rng)
        first, second = ends[k] if ends else rng.choice(model.frame_names, size=2, replace=False)
        if model.frame(str(first)).body == model.frame(str(second)).body:
            first, second = "world", model.body_names[-1]
        X_first, X_second = bough.placements(model, q, [str(first), str(second)])
        fixed_side, numeric = np.eye(4), Numeric(joint)
        fixed_side[:3, :3], fixed_side[:3, 3] = random_rotation(rng), rng.uniform(-0.5, 0.5, 3)
        motion = np.eye(4)
        motion[:3, :3], motion[:3, 3] = numeric.placement(numeric.random(rng))
        moving_side = np.linalg.inv(X_second) @ X_first @ fixed_side @ motion
        model = model.with_loop(
            f"loop {k}", joint, str(first), str(second),
            at=fixed_side[:3, 3], rotation=fixed_side[:3, :3],
            successor_at=moving_side[:3, 3], successor_rotation=moving_side[:3, :3],
        )  # fmt: skip
    return model, q


def energy(model: bough.Model, q: Floats, v: Floats) -> Floats:
    """Kinetic, of gravity, and of springs on joints with one degree of freedom."""
    total = bough.kinetic_energy(model, q, v) + bough.potential_energy(model, q)
    for entry in model.joints:
        if any(entry.stiffness):
            stretch = q[..., model.q_slice(entry.name)] - entry.rest
            total = total + 0.5 * np.sum(entry.stiffness * stretch**2, axis=-1)
    return total


def roll(
    model: bough.Model, q: Floats, v: Floats, seconds: float, step: float = 1e-3, every: int = 1, project: bool = False
) -> tuple[Floats, Floats]:
    """The passive motion, by the classical Runge-Kutta method; every so many steps are returned, the first included.

    With `project` each step ends on the constraints.
    """
    none, states, half = np.zeros(model.nv), [(q, v)], step / 2
    sprung = bool(model.limits("stiffness").any())

    def rate(q: Floats, v: Floats) -> Floats:
        return bough.forward_dynamics(model, q, v, bough.passive_forces(model, q, v) if sprung else none)

    for k in range(1, round(seconds / step) + 1):
        a1 = rate(q, v)
        v2 = v + half * a1
        a2 = rate(bough.integrate(model, q, half * v), v2)
        v3 = v + half * a2
        a3 = rate(bough.integrate(model, q, half * v2), v3)
        v4 = v + step * a3
        a4 = rate(bough.integrate(model, q, step * v3), v4)
        q = bough.integrate(model, q, step / 6 * (v + 2 * (v2 + v3) + v4))
        v = v + step / 6 * (a1 + 2 * (a2 + a3) + a4)
        if project:
            q, v = bough.loops.project(model, q, v)
        if k % every == 0:
            states.append((q, v))
    return np.array([q for q, _ in states]), np.array([v for _, v in states])
