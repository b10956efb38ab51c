"""Every joint type against its own contract, and against what the words "about" and "along an axis" mean."""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any

import numpy as np
import pytest

import bough
from bough.model import joints as joint_types
from bough.model.joints.reversed import reverse
from joint_contract import Numeric, rate, same_configuration, subspace_along
from model_strategies import JOINTS, random_joint

TYPES = [name for name in JOINTS if name != "fixed"]
ROUNDS = 10


def samples(name: str, rng: np.random.Generator) -> list[Numeric]:
    """Joints of one type, aligned and not."""
    return [Numeric(random_joint(name, rng)) for _ in range(ROUNDS)]


def test_every_type_is_tested(rng: np.random.Generator) -> None:
    exported = {getattr(joint_types, name) for name in joint_types.__all__}
    concrete = {thing for thing in exported if not inspect.isabstract(thing)} - {bough.joints.Mimic}
    assert {type(random_joint(name, rng)) for name in JOINTS} == concrete


# --- the contract ---


@pytest.mark.parametrize("name", TYPES)
def test_the_body_moves_with_S_v(name: str, rng: np.random.Generator) -> None:
    for joint in samples(name, rng):
        q, v = joint.random(rng), rng.normal(size=joint.joint.nv)
        assert np.allclose(joint.velocity_by_differences(q, v), joint.subspace(q) @ v, rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", TYPES)
def test_the_rate_of_S(name: str, rng: np.random.Generator) -> None:
    for joint in samples(name, rng):
        q, v = joint.random(rng), rng.normal(size=joint.joint.nv)
        along = rate(partial(subspace_along, joint, q, v))
        assert np.allclose(joint.subspace_rate(q, v), along, rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", TYPES)
def test_columns_of_S_are_independent(name: str, rng: np.random.Generator) -> None:
    for joint in samples(name, rng):
        assert np.linalg.matrix_rank(joint.subspace(joint.random(rng))) == joint.joint.nv


@pytest.mark.parametrize("name", JOINTS)
def test_the_neutral_configuration_is_no_motion(name: str, rng: np.random.Generator) -> None:
    joint = Numeric(random_joint(name, rng))
    R, p = joint.placement(joint.joint.neutral())
    assert np.allclose(R, np.eye(3), rtol=0, atol=1e-15)
    assert not p.any()


@pytest.mark.parametrize("name", TYPES)
def test_joints_are_values(name: str) -> None:
    one, other = (random_joint(name, np.random.default_rng(5)) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    with pytest.raises(AttributeError):
        one.nq = 3  # type: ignore[misc]
    for field in ("axis", "axis1", "pitch"):
        if hasattr(one, field):
            with pytest.raises(AttributeError):
                setattr(one, field, (1.0, 0.0, 0.0))


def test_numbers_do_not_make_kinds() -> None:
    """Joints that differ in axis or pitch run the same code; what differs is told apart."""
    assert bough.joints.Revolute("x").canonical == bough.joints.Revolute((1, 2, 3), continuous=True).canonical
    assert bough.joints.Helical("x", 0.1).canonical == bough.joints.Helical("y", 0.2).canonical
    assert bough.joints.Helical("x", 0.1) != bough.joints.Helical("x", 0.2)
    assert (
        len(
            {
                bough.joints.Revolute("x"),
                bough.joints.Prismatic("x"),
                bough.joints.Cylindrical("x"),
                bough.joints.Revolute("x"),
            }
        )
        == 3
    )
    assert bough.joints.Universal("x", "y").canonical == bough.joints.Universal("z", "x").canonical


# --- integrate and difference ---


@pytest.mark.parametrize("name", TYPES)
def test_standing_still(name: str, rng: np.random.Generator) -> None:
    for joint in samples(name, rng):
        q = joint.random(rng)
        assert np.allclose(joint.integrate(q, np.zeros(joint.joint.nv)), q, rtol=0, atol=3e-16)
        assert np.allclose(joint.difference(q, q), 0.0, rtol=0, atol=3e-16)


def reached_after(joint: Numeric, q: Any, v: Any, time: float) -> Any:
    return joint.integrate(q, time * v)


@pytest.mark.parametrize("name", TYPES)
def test_rates_of_coordinates_are_how_integration_begins(name: str, rng: np.random.Generator) -> None:
    for joint in samples(name, rng):
        q, v = joint.random(rng), rng.normal(size=joint.joint.nv)
        for seen in (joint.joint, reverse(joint.joint)):
            said = np.array(seen.canonical.rate(seen.parameters, list(q), list(v)), dtype=float)
            assert said.shape == (joint.joint.nq,)
            assert np.allclose(said, rate(partial(reached_after, joint, q, v)), rtol=0, atol=1e-10)


def velocity(joint: Numeric, rng: np.random.Generator, angle: float) -> Any:
    """A velocity whose rotation is by a given angle, and whose translations are of size one."""
    v = rng.normal(size=joint.joint.nv)
    turning = joint.subspace(joint.random(rng))[3:].any(axis=0)
    size = (
        np.linalg.norm(v[turning])
        if isinstance(joint.joint, bough.joints.Spherical | bough.joints.Free)
        else np.abs(v[turning])
    )
    v[turning] *= angle / size
    return v


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("angle", [1e-8, 9.9e-5, 1.01e-4, 9.99e-4, 1.001e-3, 0.1, 1.5, 3.0, np.pi - 1e-6])
def test_difference_undoes_integrate(name: str, angle: float, rng: np.random.Generator) -> None:
    """Also on both sides of where series take over, and nearly half a turn away."""
    for joint in samples(name, rng):
        q, v = joint.random(rng), velocity(joint, rng, angle)
        reached = joint.integrate(q, v)
        assert np.allclose(joint.difference(q, reached), v, rtol=0, atol=2e-14)
        for part in joint.quaternion_slices():
            assert abs(np.linalg.norm(reached[part]) - 1.0) < 5e-16


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("exponent", [-300, -200, -155, -100, -20, -8, -5, -4, -3])
def test_tiny_motions_keep_all_their_digits(name: str, exponent: int, rng: np.random.Generator) -> None:
    """Around neutral nothing is lost to rounding, however small the motion."""
    for joint in samples(name, rng):
        q, v = joint.joint.neutral(), rng.normal(size=joint.joint.nv) * 10.0**exponent
        assert np.allclose(joint.difference(q, joint.integrate(q, v)), v, rtol=4e-15, atol=0)


@pytest.mark.parametrize("name", TYPES)
def test_integrate_undoes_difference(name: str, rng: np.random.Generator) -> None:
    for joint in samples(name, rng):
        q0, q1 = joint.random(rng), joint.random(rng)
        reached = joint.integrate(q0, joint.difference(q0, q1))
        assert same_configuration(joint.joint, q1, reached) < 2e-14
        v = joint.difference(q0, q1)
        if joint.joint.quaternions:
            assert np.linalg.norm(v[-3:]) <= np.pi * (1 + 1e-15), "not the shorter way"


@pytest.mark.parametrize("joint", [bough.joints.Spherical(), bough.joints.Free()])
@pytest.mark.parametrize("gap", [0.0, 1e-300, 1e-16, 1e-9, 1e-4])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_around_half_a_turn(joint: bough.joints.Joint, gap: float, sign: float, rng: np.random.Generator) -> None:
    """Quaternions with a real part of about zero, on either side."""
    numeric = Numeric(joint)
    axis = rng.normal(size=3)
    axis *= np.sqrt(1 - gap * gap) / np.linalg.norm(axis)
    q0, q1 = np.array(joint.neutral()), np.array(joint.neutral())
    q1[-4:] = [*axis, sign * gap]
    q1[:-4] = rng.normal(size=joint.nq - 4)
    v = numeric.difference(q0, q1)
    assert np.linalg.norm(v[-3:]) == pytest.approx(np.pi - 2 * np.arcsin(gap), rel=3e-16)
    assert same_configuration(joint, q1, numeric.integrate(q0, v)) < 1e-15


@pytest.mark.parametrize("name", TYPES)
def test_steps_along_a_constant_velocity_add_up(name: str, rng: np.random.Generator) -> None:
    """A motion with constant velocity is a one-parameter group: a half and a half make a whole."""
    for joint in samples(name, rng):
        q, v = joint.random(rng), rng.normal(size=joint.joint.nv)
        halfway = joint.integrate(joint.integrate(q, v / 2), v / 2)
        assert same_configuration(joint.joint, joint.integrate(q, v), halfway) < 5e-15


@pytest.mark.parametrize("joint", [bough.joints.Spherical(), bough.joints.Free()])
def test_quaternions_stay_unit_over_many_steps(joint: bough.joints.Joint, rng: np.random.Generator) -> None:
    numeric = Numeric(joint)
    q = numeric.random(rng)
    for _ in range(1000):
        q = numeric.integrate(q, rng.normal(size=joint.nv))
    assert abs(np.linalg.norm(q[-4:]) - 1.0) < 5e-16


# --- the exponential maps against matrices ---


def expm(A: Any) -> Any:
    """The exponential of a matrix of size about one: a series after scaling."""
    B, total, term = A / 64.0, np.eye(len(A)), np.eye(len(A))
    for k in range(1, 20):
        term = term @ B / k
        total = total + term
    for _ in range(6):
        total = total @ total
    return total


def twist_matrix(v: Any) -> Any:
    """4 x 4 matrix of a velocity in body coordinates, linear part first."""
    x, y, z = v[3:]
    result = np.zeros((4, 4))
    result[:3, :3] = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
    result[:3, 3] = v[:3]
    return result


@pytest.mark.parametrize("name", ["revolute", "prismatic", "helical", "cylindrical", "planar", "spherical", "free"])
def test_integrate_is_the_exponential_of_the_twist(name: str, rng: np.random.Generator) -> None:
    """Where S is constant in the body, X(q ⊕ v) = X(q) exp(S v)."""
    for joint in samples(name, rng):
        q, v = joint.random(rng), rng.normal(size=joint.joint.nv)
        before, after = np.eye(4), np.eye(4)
        before[:3, :3], before[:3, 3] = joint.placement(q)
        after[:3, :3], after[:3, 3] = joint.placement(joint.integrate(q, v))
        assert np.allclose(after, before @ expm(twist_matrix(joint.subspace(q) @ v)), rtol=0, atol=2e-14)


@pytest.mark.parametrize("joint", [bough.joints.Planar(), bough.joints.Free()], ids=["planar", "free"])
@pytest.mark.parametrize("angle", [1e-300, 1e-9, 3e-5, 9.9e-5, 1.01e-4, 9.9e-4, 1.01e-3, 0.1, 3.0])
def test_a_wheel_rolls_along_a_circle(joint: bough.joints.Joint, angle: float) -> None:
    """Forward by one while turning by θ leads to sin(θ)/θ and (1 - cos(θ))/θ = sin(θ/2)²/(θ/2), to all digits."""
    v = np.zeros(joint.nv)
    v[0], v[-1] = 1.0, angle
    reached = Numeric(joint).integrate(joint.neutral(), v)
    assert reached[0] == pytest.approx(np.sin(angle) / angle, rel=5e-16)
    assert reached[1] == pytest.approx(np.sin(angle / 2) * (np.sin(angle / 2) / (angle / 2)), rel=1e-15, abs=0)


# --- axes ---


def rodrigues(axis: Any, angle: float) -> Any:
    """Rotation about a unit vector: 1 + sin θ k× + (1 - cos θ) k×²."""
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def unit(axis: Any) -> Any:
    """The direction that an axis names."""
    if isinstance(axis, str):
        return np.eye(3)["xyz".index(axis[-1])] * (-1.0 if axis[0] == "-" else 1.0)
    return np.array(axis) / np.linalg.norm(axis)


AXES = ["x", "y", "z", "-x", "-y", "-z", "+x", (0, 0, 2), (1, 1, 0), (1e-3, 1.0, -1e-9), (-0.3, 0.2, 5.0), (1, 1, 1)]


@pytest.mark.parametrize("axis", AXES, ids=str)
def test_about_and_along_an_axis(axis: Any, rng: np.random.Generator) -> None:
    k, angle, far = unit(axis), rng.uniform(-3, 3), rng.uniform(-2, 2)
    turned, still, nowhere = rodrigues(k, angle), np.eye(3), np.zeros(3)
    expected: list[tuple[bough.joints.Joint, list[float], Any, Any]] = [
        (bough.joints.Revolute(axis), [angle], turned, nowhere),
        (bough.joints.Prismatic(axis), [far], still, far * k),
        (bough.joints.Helical(axis, 0.7), [angle], turned, 0.7 * angle * k),
        (bough.joints.Cylindrical(axis), [angle, far], turned, far * k),
    ]
    for joint, q, R, p in expected:
        got_R, got_p = Numeric(joint).placement(q)
        assert np.allclose(got_R, R, rtol=0, atol=1e-15)
        assert np.allclose(got_p, p, rtol=0, atol=1e-15)
        assert np.allclose(Numeric(joint).subspace(q)[3:, 0], k if joint.nq == 2 or R is turned else 0, atol=1e-15)


def test_two_axes(rng: np.random.Generator) -> None:
    for name in [("x", "y"), ("y", "x"), ("z", "-y"), ((1, 1, 0), (0, 0, 1)), ((1, 2, 3), (3, 0, -1))]:
        first, second = (unit(axis) for axis in name)
        q = rng.uniform(-3, 3, size=2)
        R, p = Numeric(bough.joints.Universal(*name)).placement(q)
        assert np.allclose(R, rodrigues(first, q[0]) @ rodrigues(second, q[1]), rtol=0, atol=1e-15)
        assert not p.any()


@pytest.mark.parametrize("length", [1e-11, 1.0, 1e200, 1e308])
def test_the_length_of_an_axis_does_not_matter(length: float) -> None:
    axis = bough.joints.Revolute((length, 0.0, -length)).axis
    assert np.allclose(axis, [np.sqrt(0.5), 0, -np.sqrt(0.5)], rtol=1e-15)


BAD_AXES: list[tuple[Any, str]] = [
    ((0, 0, 0), "zero vector"),
    ((1e-13, 0, 0), "zero vector"),
    ((0, float("nan"), 1), "finite"),
    ((0, float("inf"), 1), "finite"),
    ((1, 2), "three"),
    ([[1, 0, 0]], "three"),
    ("w", "expected one of x, y, z"),
    ("", "expected one of x, y, z"),
    (None, "three"),
    (("a", "b", "c"), "three"),
    ([[1], [2, 3], 4], "three"),
]


@pytest.mark.parametrize(("axis", "message"), BAD_AXES, ids=str)
def test_bad_axes(axis: Any, message: str) -> None:
    for make in (bough.joints.Revolute, bough.joints.Prismatic, bough.joints.Helical, bough.joints.Cylindrical):
        with pytest.raises(
            bough.errors.ModelError, match=f"the axis of a {make.__name__.lower()} joint is .*{message}"
        ):
            make(axis)
    with pytest.raises(bough.errors.ModelError, match=f"the second axis of a universal joint is .*{message}"):
        bough.joints.Universal("x", axis)


def test_bad_parameters() -> None:
    for pitch in (float("nan"), float("inf")):
        with pytest.raises(bough.errors.ModelError, match=f"pitch of a helical joint is {pitch}"):
            bough.joints.Helical("x", pitch)
    with pytest.raises(bough.errors.ModelError, match="expected perpendicular"):
        bough.joints.Universal("x", (1, 1, 0))
    with pytest.raises(bough.errors.ModelError, match="expected perpendicular"):
        bough.joints.Universal("x", "-x")
    for values in ({"ratio": float("nan")}, {"offset": float("inf")}):
        with pytest.raises(bough.errors.ModelError, match="expected a finite number"):
            bough.joints.Mimic(bough.joints.Revolute("x"), "a", **values)
    for joint in (
        bough.joints.Free(),
        bough.joints.Universal(),
        bough.joints.Fixed(),
        bough.joints.Mimic(bough.joints.Revolute("x"), "a"),
    ):
        with pytest.raises(bough.errors.ModelError, match="one degree of freedom"):
            bough.joints.Mimic(joint, "a")


# --- random configurations ---


LIMITS = [(-0.5, 0.25), (2.0, 2.0), (4.0, np.inf), (-np.inf, -5.0), (-20.0, np.inf), (-np.inf, 20.0)]


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize(("lower", "upper"), LIMITS)
def test_random_within_limits(name: str, lower: float, upper: float, rng: np.random.Generator) -> None:
    """Also where only one side is bounded, below or above what would be drawn without bounds."""
    joint = Numeric(random_joint(name, rng))
    bounded = np.ones(joint.joint.nq, dtype=bool)
    for part in joint.quaternion_slices():
        bounded[part] = False
    for _ in range(20):
        q = joint.random(rng, np.where(bounded, lower, -np.inf), np.where(bounded, upper, np.inf))
        assert (q[bounded] >= lower).all()
        assert (q[bounded] <= upper).all()


@pytest.mark.parametrize("name", TYPES)
def test_random_without_limits(name: str, rng: np.random.Generator) -> None:
    """Half a turn, or one metre, to both sides of neutral, all of it used."""
    joint = Numeric(random_joint(name, rng))
    drawn = np.array([joint.random(rng) for _ in range(400)])
    assert drawn.shape == (400, joint.joint.nq)
    angles = {
        "revolute": [0],
        "continuous": [0],
        "helical": [0],
        "cylindrical": [0],
        "universal": [0, 1],
        "planar": [2],
    }
    reach = np.ones(joint.joint.nq)
    reach[angles.get(name, [])] = np.pi
    assert (np.abs(drawn) <= reach).all()
    assert (drawn.min(axis=0) < -0.8 * reach).all()
    assert (drawn.max(axis=0) > 0.8 * reach).all()
    for part in joint.quaternion_slices():
        assert np.allclose(np.linalg.norm(drawn[:, part], axis=1), 1.0, rtol=0, atol=5e-16)
