"""The way between two configurations where angles wrap: the short one, as Pinocchio goes it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bough
from bough.scalar import derivative
from closeness import assert_close
from joint_contract import same_configuration
from pinocchio_twin import Twin, pin

TURN = 2 * np.pi
WHEEL, PUCK = bough.joints.Revolute("y", continuous=True), bough.joints.Planar()


def single(joint: bough.joints.Joint, **limits: Any) -> bough.Model:
    b = bough.Builder()
    b.add("body", joint, joint_name="joint", mass=1.0, inertia=1.0, **limits)
    return b.build()


def cart() -> bough.Model:
    """A cart in the plane with a wheel and an arm: every way an angle is meant."""
    b = bough.Builder()
    b.add("cart", PUCK, mass=1.0, inertia=1.0)
    b.add("wheel", WHEEL, "cart", mass=1.0, inertia=1.0)
    b.add("arm", bough.joints.Revolute("x"), "cart", mass=1.0, inertia=1.0)
    return b.build()


def headings(rng: np.random.Generator, count: int) -> Any:
    """Angles of several turns, some of them at and around multiples of half a turn."""
    edges = [k * np.pi + gap for k in range(-4, 5) for gap in (-1e-9, 0.0, 1e-9)]
    return np.concatenate([rng.uniform(-20, 20, count), edges])


def test_a_heading_that_wraps_takes_the_short_way() -> None:
    m = single(PUCK)
    q0, q1 = np.array([0.0, 0.0, 3.1]), np.array([1.0, 0.0, -3.1])
    assert np.linalg.norm(bough.difference(m, q0, q1)) < 1.01
    middle = bough.interpolate(m, q0, q1, 0.5)
    assert middle[2] == pytest.approx(np.pi, abs=1e-15)
    assert np.linalg.norm(middle[:2] - [0.5, 0.0]) < 0.02


@pytest.mark.parametrize("turns", [-2, -1, 1, 3])
@pytest.mark.parametrize("gap", [0.0, 1e-12, -1e-7, 1e-3])
def test_a_whole_turn_on_is_the_same_heading(turns: int, gap: float) -> None:
    """Where the arc to another place would have had no end."""
    m = single(PUCK)
    q0, q1 = np.array([0.3, 0.2, 0.5]), np.array([1.3, 0.2, 0.5 + turns * TURN + gap])
    v = bough.difference(m, q0, q1)
    assert v[2] == pytest.approx(gap, abs=4e-15)
    assert np.linalg.norm(v[:2]) == pytest.approx(1.0, abs=1e-3)
    assert same_configuration(PUCK, q1, bough.integrate(m, q0, v)) < 1e-14


def test_ways_are_those_of_pinocchio(rng: np.random.Generator) -> None:
    m = cart()
    twin = Twin(m)
    angles = headings(rng, 100)
    for goal in angles:
        q0, q1 = rng.uniform(-20, 20, (2, m.nq))
        q1[2:4] = q0[2:4] + goal
        apart = np.remainder(q1[2:4] - q0[2:4] + np.pi, TURN)
        if (apart < 1e-6).any() or (apart > TURN - 1e-6).any():
            continue  # half a turn: either way is the shortest
        p0, p1 = twin.q(q0), twin.q(q1)
        whole = (np.abs(apart - np.pi) < 1e-6).any()
        tolerance = 1e-6 if whole else 1e-10  # Pinocchio finds a small angle from its cosine, to half the digits
        assert_close(bough.difference(m, q0, q1), twin.back(pin.difference(twin.model, p0, p1)), tolerance)
        for t in (0.0, 0.3, 1.0):
            ours = twin.q(bough.interpolate(m, q0, q1, t))
            assert_close(ours, pin.interpolate(twin.model, p0, p1, t), tolerance)


def test_laws_at_all_angles(rng: np.random.Generator) -> None:
    """What leads to q1 leads to it, by no more than half a turn, batched and one by one alike."""
    m = cart()
    angles = headings(rng, 200)
    q0, q1 = rng.uniform(-10, 10, (2, angles.size, m.nq))
    q1[:, 2:4] = q0[:, 2:4] + angles[:, np.newaxis]
    v = bough.difference(m, q0, q1)
    assert np.isfinite(v).all()
    assert (np.abs(v[:, 2:4]) <= np.pi * (1 + 2e-16)).all()
    reached = bough.integrate(m, q0, v)
    for entry in m.joints:
        part = m.q_slice(entry.name)
        assert same_configuration(entry.joint, q1[:, part], reached[:, part]) < 2e-13
    assert np.array_equal(v, [bough.difference(m, a, b) for a, b in zip(q0, q1, strict=True)])
    assert np.array_equal(v[:, 4], q1[:, 4] - q0[:, 4])  # the arm counts its turns


@pytest.mark.parametrize("angle", [np.pi, -np.pi, 3 * np.pi, -3 * np.pi])
def test_half_a_turn_is_half_a_turn(angle: float) -> None:
    m = cart()
    q1 = np.array([1.0, 2.0, angle, angle, 0.0])
    v = bough.difference(m, np.zeros(5), q1)
    assert np.allclose(np.abs(v[2:4]), np.pi, rtol=0, atol=5e-16)
    assert same_configuration(PUCK, q1[:3], bough.integrate(m, np.zeros(5), v)[:3]) < 1e-15


def test_angles_within_half_a_turn_keep_every_digit(rng: np.random.Generator) -> None:
    m = single(WHEEL)
    q = rng.uniform(-np.pi, np.pi, (100, 1)) * 10.0 ** rng.integers(-300, 1, (100, 1))
    assert np.array_equal(bough.difference(m, np.zeros(1), q), q)


def test_compiled_with_loops_and_on_the_reference_back_end_alike(rng: np.random.Generator) -> None:
    """A chain long enough for a program with loops, in which one joint wraps and the next does not."""
    b = bough.Builder()
    for k in range(150):
        joint = bough.joints.Revolute("xyz"[k % 3], continuous=k % 2 == 0)
        b.add(f"b{k}", joint, f"b{k - 1}" if k else "world", mass=1.0, inertia=1.0)
    m = b.build()
    q0, q1 = rng.uniform(-9, 9, (2, 3, m.nq))
    expected = q1 - q0
    expected[:, ::2] -= TURN * np.round(expected[:, ::2] / TURN)
    assert np.allclose(bough.difference(m, q0, q1), expected, rtol=0, atol=1e-14)
    before = bough.get_backend()
    bough.set_backend("reference")
    try:
        assert np.allclose(bough.difference(m, q0, q1), expected, rtol=0, atol=1e-14)
    finally:
        bough.set_backend(before)


def test_single_precision() -> None:
    m = cart()
    q0, q1 = np.float32([0, 0, 3.1, 3.1, 3.1]), np.float32([1, 0, -3.1, -3.1, -3.1])
    v = bough.difference(m, q0, q1)
    assert v.dtype == np.float32
    assert np.allclose(v[2:], [0.0831853, 0.0831853, -6.2], rtol=0, atol=1e-6)


# --- where whole turns matter ---


@pytest.mark.parametrize("limits", [{"upper": 10.0}, {"lower": -10.0}, {"lower": -10.0, "upper": 10.0}])
def test_limits_are_not_gone_round(limits: dict[str, float]) -> None:
    m = single(WHEEL, **limits)
    assert bough.difference(m, [3.1], [-3.1]).tolist() == [-6.2]


def test_a_joint_that_another_follows_counts_its_turns() -> None:
    """Half as far: a whole turn of the leader is half a turn of the follower."""
    b = bough.Builder()
    b.add("a", WHEEL, mass=1.0, inertia=1.0)
    b.add("b", bough.joints.Mimic(bough.joints.Revolute("y"), "a", 0.5), mass=1.0, inertia=1.0)
    b.add("c", WHEEL, mass=1.0, inertia=1.0)
    m = b.build()
    q0, q1 = np.array([3.1, 3.1]), np.array([-3.1, -3.1])
    v = bough.difference(m, q0, q1)
    assert v[0] == -6.2
    assert v[1] == pytest.approx(TURN - 6.2, abs=1e-15)
    assert np.allclose(bough.placements(m, bough.integrate(m, q0, v)), bough.placements(m, q1), rtol=0, atol=1e-14)


def test_joints_of_a_law_count_their_turns() -> None:
    b = bough.Builder()
    for name in "abc":
        b.add(name, WHEEL, mass=1.0, inertia=1.0)
    b.equality("gear", "a", "b", (0.0, 0.5))
    m = b.build()
    v = bough.difference(m, [3.1, 3.1, 3.1], [-3.1, -3.1, -3.1])
    assert v.tolist()[:2] == [-6.2, -6.2]
    assert v[2] == pytest.approx(TURN - 6.2, abs=1e-15)


def test_springs_count_turns() -> None:
    """A spring wound up by two turns pulls back by two turns."""
    m = single(WHEEL, stiffness=2.0)
    assert bough.passive_forces(m, [2 * TURN], [0.0]).tolist() == [-4 * TURN]


def test_models_that_differ_in_this_alone_differ() -> None:
    """One after the other, so that neither runs what was kept for the other."""
    for joint, limits, expected in [
        (WHEEL, {}, TURN - 6.2),
        (bough.joints.Revolute("y"), {}, -6.2),
        (WHEEL, {"upper": 9.0}, -6.2),
        (WHEEL, {}, TURN - 6.2),
    ]:
        assert bough.difference(single(joint, **limits), [3.1], [-3.1])[0] == pytest.approx(expected, abs=1e-14)


# --- derivatives ---


@pytest.mark.parametrize(
    "angle", [0.0, 1e-12, 1e-6, 9.9e-5, 1.01e-4, 1e-3, 0.0999, 0.1001, 1.0, 3.0, TURN, TURN + 1e-6]
)
def test_derivatives_of_the_planar_exponential(angle: float) -> None:
    """By dual numbers against complex steps of the closed form, or its series."""

    def arc(z: complex) -> tuple[complex, complex]:
        if abs(z) < 0.5:
            powers = [z**k for k in range(26)]
            factorials = np.cumprod([1.0, *range(1, 27)])
            one = sum((-1) ** k * powers[2 * k] / factorials[2 * k + 1] for k in range(12))
            return one, sum((-1) ** k * powers[2 * k + 1] / factorials[2 * k + 2] for k in range(12))
        return np.sin(z) / z, 2 * np.sin(z / 2) ** 2 / z

    h, v = 1e-30, (0.7, -0.4)
    a, b = (np.imag(x) / h for x in arc(complex(angle, h)))
    _, rates = derivative(lambda w: tuple(PUCK.integrate((), (0.0, 0.0, 0.0), (v[0], v[1], w[0]))), (angle,), (1.0,))
    assert np.allclose(rates, [a * v[0] - b * v[1], b * v[0] + a * v[1], 1.0], rtol=0, atol=2e-15)


@pytest.mark.parametrize("angle", [0.0, 1e-6, 3.0, 3.2, TURN, TURN + 1e-6, -9.0])
def test_derivatives_of_the_difference(angle: float) -> None:
    """Across the wrap too: those of the inverse of the exponential, as differences tell."""

    def there(x: Any) -> Any:
        return np.array(PUCK.difference((), (0.1, 0.2, 0.3), tuple(x)))

    q1, h = np.array([1.0, -0.5, 0.3 + angle]), 1e-5
    for step in np.eye(3):
        _, rates = derivative(lambda x: tuple(PUCK.difference((), (0.1, 0.2, 0.3), x)), tuple(q1), tuple(step))
        by_steps = (there(q1 + h * step) - there(q1 - h * step)) / (2 * h)
        assert np.allclose(np.array(rates, dtype=float), by_steps, rtol=0, atol=1e-9)
