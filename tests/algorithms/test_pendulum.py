"""Mechanisms whose equations of motion stand in textbooks: the numbers follow from the formulas given here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy import cos, sin

import bough
from closeness import assert_close

STATES = 20
EXACT = 1e-12
G = 9.81


def check(
    model: bough.Model, q: np.ndarray, v: np.ndarray, M: np.ndarray, bias: np.ndarray, rng: np.random.Generator
) -> None:
    """Compare mass matrix, bias, inverse and forward dynamics, the latter by every method, with M and bias."""
    a = rng.normal(size=v.shape)
    tau = (M @ a[..., None])[..., 0] + bias
    assert_close(bough.crba(model, q), M, EXACT, axes=2)
    size = np.abs(M).max(axis=(-2, -1)) + np.abs(tau).max(axis=-1)
    assert_close(bough.bias_forces(model, q, v), bias, EXACT, scale=size)
    assert_close(bough.rnea(model, q, v, a), tau, EXACT, scale=size)
    for method in ("aba", "crba", "auto"):
        found = bough.forward_dynamics(model, q, v, tau, method=method)
        assert_close(found, a, EXACT, scale=np.linalg.cond(M) * np.abs(a).max(axis=-1))


def stacked(rows: list[list[np.ndarray | float]]) -> np.ndarray:
    """A matrix for each state from its entries."""
    return np.stack([np.stack(np.broadcast_arrays(*row, np.zeros(STATES))[:-1], axis=-1) for row in rows], axis=-2)


def angles(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    return rng.uniform(-3.0, 3.0, (STATES, n)), rng.normal(size=(STATES, n))


@pytest.mark.parametrize("rotor", [0.0, 0.7])
def test_simple_pendulum(rng: np.random.Generator, rotor: float) -> None:
    mass, length = 1.3, 0.8
    b = bough.Builder()
    b.add("bob", bough.joints.Revolute("y"), mass=mass, com=(0, 0, -length), armature=rotor)
    model = b.build()
    q, v = angles(rng, 1)
    check(model, q, v, np.full((STATES, 1, 1), mass * length**2 + rotor), mass * G * length * sin(q), rng)
    if not rotor:
        assert_close(bough.aba(model, q, v, 0 * v), -G / length * sin(q), EXACT)
    assert_close(bough.potential_energy(model, q), -mass * G * length * cos(q[:, 0]), EXACT)
    assert_close(bough.kinetic_energy(model, q, v), (mass * length**2 + rotor) / 2 * v[:, 0] ** 2, EXACT)


def test_double_pendulum(rng: np.random.Generator) -> None:
    m1, m2, l1, c1, c2, I1, I2 = 1.1, 0.7, 0.9, 0.4, 0.3, 0.05, 0.02
    b = bough.Builder()
    b.add("upper", bough.joints.Revolute("y"), mass=m1, com=(0, 0, -c1), inertia=(0.05, I1, 0.03))
    b.add(
        "lower", bough.joints.Revolute("y"), "upper", at=(0, 0, -l1), mass=m2, com=(0, 0, -c2), inertia=(0.02, I2, 0.01)
    )
    model = b.build()
    q, v = angles(rng, 2)
    (q1, q2), (v1, v2) = q.T, v.T

    M12 = I2 + m2 * (c2**2 + l1 * c2 * cos(q2))
    M22 = I2 + m2 * c2**2
    M11 = I1 + m1 * c1**2 + m2 * l1**2 + M22 + 2 * m2 * l1 * c2 * cos(q2)
    h = -m2 * l1 * c2 * sin(q2)
    C = stacked([[h * v2, h * (v1 + v2)], [-h * v1, 0.0]])
    lower = m2 * c2 * G * sin(q1 + q2)
    gravity = np.stack([(m1 * c1 + m2 * l1) * G * sin(q1) + lower, lower], axis=-1)

    coriolis = (C @ v[..., None])[..., 0]
    check(model, q, v, stacked([[M11, M12], [M12, M22]]), coriolis + gravity, rng)
    assert_close(bough.coriolis_matrix(model, q, v), C, EXACT, axes=2)
    assert_close(bough.coriolis_forces(model, q, v), coriolis, EXACT)
    assert_close(bough.gravity_forces(model, q), gravity, EXACT)


def test_double_pendulum_with_coupled_joints(rng: np.random.Generator) -> None:
    """Lower angle = ratio × upper angle + offset: the reduced equations of the double pendulum."""
    ratio, offset = -1.7, 0.4
    parts: dict[str, Any] = {"mass": 0.7, "com": (0, 0, -0.3), "inertia": (0.02, 0.02, 0.01)}

    def build(lower: bough.joints.Joint, armature: float) -> bough.Model:
        b = bough.Builder()
        b.add("upper", bough.joints.Revolute("y"), mass=1.1, com=(0, 0, -0.4), inertia=(0.05, 0.05, 0.03), armature=0.1)
        b.add("lower", lower, "upper", at=(0, 0, -0.9), armature=armature, **parts)
        return b.build()

    coupled = build(bough.joints.Mimic(bough.joints.Revolute("y"), "upper", ratio, offset), 0.3)
    free = build(bough.joints.Revolute("y"), 0.3)
    q, v = angles(rng, 1)
    both_q, both_v = np.hstack([q, ratio * q + offset]), np.hstack([v, ratio * v])
    G_matrix = np.array([[1.0], [ratio]])
    M = G_matrix.T @ bough.crba(free, both_q) @ G_matrix
    check(coupled, q, v, M, bough.bias_forces(free, both_q, both_v) @ G_matrix, rng)


def test_gears_on_different_branches(rng: np.random.Generator) -> None:
    inertia = np.array([0.3, 0.2, 0.5])
    b = bough.Builder()
    b.add("wheel", bough.joints.Revolute("z"), mass=1.0, inertia=inertia[0])
    b.add(
        "pinion",
        bough.joints.Mimic(bough.joints.Revolute("z"), "wheel", -3.0),
        at=(1, 0, 0),
        mass=1.0,
        inertia=inertia[1],
    )
    b.add(
        "second",
        bough.joints.Mimic(bough.joints.Revolute("z"), "pinion", 0.5),
        at=(2, 0, 0),
        mass=1.0,
        inertia=inertia[2],
    )
    model = b.build()
    q, v = angles(rng, 1)
    total = inertia @ np.array([1.0, -3.0, -1.5]) ** 2
    check(model, q, v, np.full((STATES, 1, 1), total), np.zeros((STATES, 1)), rng)


def test_cart_pole(rng: np.random.Generator) -> None:
    cart, pole, length, I = 2.0, 0.3, 0.6, 0.04
    b = bough.Builder()
    b.add("cart", bough.joints.Prismatic("x"), mass=cart)
    b.add("pole", bough.joints.Revolute("y"), "cart", mass=pole, com=(0, 0, length), inertia=(I, I, 0.0))
    q, v = angles(rng, 2)
    theta, rate = q[:, 1], v[:, 1]
    M12 = pole * length * cos(theta)
    bias = np.stack([-pole * length * sin(theta) * rate**2, -pole * G * length * sin(theta)], axis=-1)
    check(b.build(), q, v, stacked([[cart + pole, M12], [M12, I + pole * length**2]]), bias, rng)


@pytest.mark.parametrize("axis", [(0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.6, 0.0, 0.8)])
def test_screw(rng: np.random.Generator, axis: tuple[float, float, float]) -> None:
    """A body whose centre of mass lies on the axis: one turn lifts it by 2π × pitch × the axis' share of vertical."""
    mass, pitch, I = 1.5, 0.2, 0.1
    direction = np.array(axis)
    b = bough.Builder()
    b.add("nut", bough.joints.Helical(axis, pitch), mass=mass, com=0.3 * direction, inertia=I)
    q, v = angles(rng, 1)
    bias = np.full((STATES, 1), mass * G * pitch * direction[2])
    check(b.build(), q, v, np.full((STATES, 1, 1), I + mass * pitch**2), bias, rng)


def test_universal_joint_as_a_spherical_pendulum(rng: np.random.Generator) -> None:
    mass, length = 0.9, 0.7
    b = bough.Builder()
    b.add("bob", bough.joints.Universal("x", "y"), mass=mass, com=(0, 0, -length))
    q, v = angles(rng, 2)
    q[:, 1] = rng.uniform(-1.2, 1.2, STATES)  # at a quarter turn of the second axis the first moves nothing
    (q1, q2), (v1, v2) = q.T, v.T
    scale = mass * length**2
    M = stacked([[scale * cos(q2) ** 2, 0.0], [0.0, scale]])
    bias = np.stack(
        [
            -2 * scale * sin(q2) * cos(q2) * v1 * v2 + mass * G * length * sin(q1) * cos(q2),
            scale * sin(q2) * cos(q2) * v1**2 + mass * G * length * cos(q1) * sin(q2),
        ],
        axis=-1,
    )
    check(b.build(), q, v, M, bias, rng)


def test_cylindrical_joint_as_polar_motion(rng: np.random.Generator) -> None:
    """Turning about and sliding along one axis do not see each other, wherever the centre of mass lies."""
    mass, r, I = 1.2, 0.5, 0.06
    b = bough.Builder(gravity=(0, -G, 0))
    b.add("slider", bough.joints.Cylindrical("z"), mass=mass, com=(r, 0, 0.1), inertia=I)
    q, v = angles(rng, 2)
    M = np.broadcast_to(np.diag([I + mass * r**2, mass]), (STATES, 2, 2))
    bias = np.stack([mass * G * r * cos(q[:, 0]), np.zeros(STATES)], axis=-1)
    check(b.build(), q, v, M, bias, rng)


def test_planar_body(rng: np.random.Generator) -> None:
    """Newton and Euler in body axes: m (v̇ + ω × v) = f, I ω̇ = n."""
    mass, I = 0.8, 0.3
    b = bough.Builder(gravity=(0, -G, 0))
    b.add("puck", bough.joints.Planar(), mass=mass, inertia=(0.2, 0.2, I))
    q, v = angles(rng, 3)
    vx, vy, w = v.T
    theta = q[:, 2]
    bias = np.stack([mass * (-w * vy + G * sin(theta)), mass * (w * vx + G * cos(theta)), 0 * w], axis=-1)
    check(b.build(), q, v, np.broadcast_to(np.diag([mass, mass, I]), (STATES, 3, 3)), bias, rng)


def rotations(quaternions: np.ndarray) -> np.ndarray:
    """Matrices of unit quaternions (x y z w)."""
    x, y, z, w = quaternions.T
    return np.stack(
        [
            np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)], axis=-1),
            np.stack([2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)], axis=-1),
            np.stack([2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)], axis=-1),
        ],
        axis=-2,
    )


def test_free_body(rng: np.random.Generator) -> None:
    """Euler's equations: I ω̇ + ω × I ω = n and m (v̇ + ω × v) = f, about the centre of mass in body axes."""
    mass, moments = 2.5, np.array([0.3, 0.4, 0.6])
    b = bough.Builder()
    b.add("body", bough.joints.Free(), mass=mass, inertia=moments)
    model = b.build()
    q, v = bough.random(model, rng, STATES), rng.normal(size=(STATES, 6))
    linear, w = v[:, :3], v[:, 3:]
    down = np.array([0, 0, -G]) @ rotations(q[:, 3:])
    bias = np.hstack([mass * (np.cross(w, linear) - down), np.cross(w, moments * w)])
    check(model, q, v, np.broadcast_to(np.diag([mass] * 3 + [*moments]), (STATES, 6, 6)), bias, rng)

    force = rng.normal(size=(STATES, 1, 6))
    falling = bough.aba(model, q, v, np.zeros(6), force)
    assert_close(falling[:, :3], force[:, 0, :3] / mass + down - np.cross(w, linear), EXACT)
    assert_close(falling[:, 3:], (force[:, 0, 3:] - np.cross(w, moments * w)) / moments, EXACT)


def test_heavy_top(rng: np.random.Generator) -> None:
    """A ball joint under a symmetric top: I ω̇ + ω × I ω = c × m g in body axes, with I about the tip."""
    mass, height, I1, I3 = 0.5, 0.2, 0.01, 0.004
    b = bough.Builder()
    b.add("top", bough.joints.Spherical(), mass=mass, com=(0, 0, height), inertia=(I1, I1, I3))
    model = b.build()
    q, w = bough.random(model, rng, STATES), rng.normal(size=(STATES, 3))
    moments = np.array([I1 + mass * height**2, I1 + mass * height**2, I3])
    weight = mass * np.array([0, 0, -G]) @ rotations(q)
    bias = np.cross(w, moments * w) - np.cross([0, 0, height], weight)
    check(model, q, w, np.broadcast_to(np.diag(moments), (STATES, 3, 3)), bias, rng)
    assert_close(bough.aba(model, q, w, np.zeros(3))[:, 2], np.zeros(STATES), EXACT, scale=1.0)  # ω₃ is constant


def test_translating_body(rng: np.random.Generator) -> None:
    b = bough.Builder()
    b.add("gantry", bough.joints.Translational(), mass=3.0, com=(0.1, 0.2, 0.3), inertia=0.5, armature=(0.0, 1.0, 2.0))
    q, v = angles(rng, 3)
    M = np.broadcast_to(np.diag([3.0, 4.0, 5.0]), (STATES, 3, 3))
    check(b.build(), q, v, M, np.broadcast_to([0.0, 0.0, 3.0 * G], (STATES, 3)), rng)
