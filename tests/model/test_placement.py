"""Placements in the hands of users: made, composed, inverted, and their logarithms, against Pinocchio."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import bough
from bough import Placement
from model_strategies import random_rotation

IDENTITY = Placement()
ANGLES = [0.0, 1e-300, 1e-20, 1e-9, 9.99e-4, 1.001e-3, 0.3, 1.0, 3.0, np.pi - 1e-3, np.pi - 1e-8, np.pi - 1e-15, np.pi]


def theirs(X: Placement) -> Any:
    return pin.SE3(X.matrix, X.vector)


def motion(rng: np.random.Generator, angle: float) -> Any:
    m = rng.normal(size=6)
    m[3:] *= angle / np.linalg.norm(m[3:])
    return m


def random_placement(rng: np.random.Generator) -> Placement:
    return Placement(random_rotation(rng), rng.normal(size=3))


def apart(X: Any, Y: Any) -> float:
    return float(np.abs(np.asarray(X) - np.asarray(Y)).max())


# --- made ---


def test_made_from_everything_alike(rng: np.random.Generator) -> None:
    X = random_placement(rng)
    for other in (
        Placement(X.matrix, X.vector),
        Placement.from_rpy(X.rpy, X.vector),
        Placement.from_quaternion(X.quaternion, X.origin),
        Placement.from_quaternion(-X.quaternion, X.origin),
        Placement.from_matrix(X.homogeneous),
        Placement.from_matrix(X),  # type: ignore[arg-type]
        Placement.exp(X.log),
    ):
        assert isinstance(other, Placement)
        assert apart(X, other) < 2e-15
    assert X.rotation == tuple(map(tuple, X.matrix.tolist()))
    assert apart(pin.Quaternion(X.quaternion).matrix(), X.matrix) < 1e-15
    assert apart(pin.rpy.rpyToMatrix(*X.rpy), X.matrix) < 1e-15


def test_what_bough_places_is_a_placement(rng: np.random.Generator) -> None:
    model = bough.robots.load("arm")
    for matrix in bough.placements(model, bough.random(model, rng)):
        assert apart(Placement.from_matrix(matrix), matrix) < 1e-15


def test_a_model_takes_them_anywhere(rng: np.random.Generator) -> None:
    X = random_placement(rng)
    b = bough.Builder()
    b.add("body", bough.joints.Revolute("z"), at=X, inertia=bough.Inertia.sphere(0.1, mass=1.0))
    assert apart(bough.placements(b.build(), [0.0], "body"), X) < 1e-15


def test_they_are_values(rng: np.random.Generator) -> None:
    X = random_placement(rng)
    twin = Placement(X.matrix.tolist(), list(X.origin))
    assert twin == X
    assert hash(X) == hash(twin)
    assert pickle.loads(pickle.dumps(X)) == X
    assert copy.deepcopy(X) == X
    with pytest.raises(AttributeError):
        X.origin = (0.0, 0.0, 0.0)  # type: ignore[misc]
    assert np.asarray(X).shape == (4, 4)
    assert np.asarray(X, dtype=np.float32).dtype == np.float32


def test_nearly_a_rotation_becomes_one(rng: np.random.Generator) -> None:
    R = random_rotation(rng)
    X = Placement(R + 1e-8 * rng.normal(size=(3, 3)), (0, 0, 0))
    assert apart(X.matrix @ X.matrix.T, np.eye(3)) < 3e-15
    assert apart(X.matrix, R) < 1e-7


BAD = [
    None,
    "x",
    "1",
    [1],
    np.ones((3, 3, 3)),
    [1j, 0, 0],
    [np.nan, 0, 0],
    len,
    {},
    [[1, 2], [3]],
    [True, False, True],
]


@pytest.mark.parametrize("bad", BAD, ids=repr)
@pytest.mark.parametrize(
    "make",
    [
        Placement,
        lambda x: Placement(origin=x),
        Placement.from_rpy,
        lambda x: Placement.from_rpy((0, 0, 0), x),
        Placement.from_quaternion,
        lambda x: Placement.from_quaternion((0, 0, 0, 1), x),
        Placement.from_matrix,
        Placement.exp,
    ],
)
def test_what_is_no_placement_is_refused(make: Any, bad: Any) -> None:
    with pytest.raises(bough.errors.ModelError, match="expected"):
        make(bad)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Placement(2 * np.eye(3)), "not a rotation"),
        (lambda: Placement(-np.eye(3)), "not a rotation"),
        (lambda: Placement(np.full((3, 3), 1e200)), "not a rotation"),
        (lambda: Placement.from_quaternion((0, 0, 0, 2)), "has length 2, expected 1"),
        (lambda: Placement.from_quaternion((0, 0, 0, 0)), "has length 0, expected 1"),
        (lambda: Placement.from_matrix(np.ones((4, 4))), "the last row"),
        (lambda: Placement.from_matrix(np.eye(3)), r"has shape \(3, 3\), expected \(4, 4\)"),
        (lambda: IDENTITY.act([1, 2]), r"have shape \(2,\), expected \(\.\.\., 3\)"),
        (lambda: IDENTITY.act("p"), "the points is 'p'"),
    ],
)
def test_messages(make: Any, message: str) -> None:
    with pytest.raises(bough.errors.ModelError, match=message):
        make()


# --- a group ---


def test_group(rng: np.random.Generator) -> None:
    A, B, C = (random_placement(rng) for _ in range(3))
    assert apart(A @ B, theirs(A) * theirs(B)) < 1e-15
    assert apart(A @ (B @ C), (A @ B) @ C) < 4e-15
    assert apart(A @ A.inverse, np.eye(4)) < 1e-15
    assert apart(A.inverse, theirs(A).inverse()) < 1e-15
    assert A @ IDENTITY == A
    with pytest.raises(TypeError):
        A @ 3  # type: ignore[operator]


def test_points(rng: np.random.Generator) -> None:
    X, points = random_placement(rng), rng.normal(size=(2, 5, 3))
    seen = X.act(points)
    assert seen.shape == points.shape
    assert apart(seen[1, 2], theirs(X).act(points[1, 2])) < 2e-15
    assert apart(X.inverse.act(seen), points) < 4e-15
    assert X.act((1, 0, 0)).shape == (3,)


# --- logarithm and exponential ---


def by_series(m: Any) -> Any:
    """The exponential of a motion by the series of the exponential of its matrix."""
    A, X, power = np.zeros((4, 4)), np.eye(4), np.eye(4)
    A[:3, :3], A[:3, 3] = pin.skew(m[3:]), m[:3]
    for k in range(1, 30):
        power = power @ A / k
        X = X + power
    return X


@pytest.mark.parametrize("angle", ANGLES)
def test_exp_and_log_are_those_of_pinocchio(angle: float, rng: np.random.Generator) -> None:
    for _ in range(10):
        m = motion(rng, angle)
        X, batch = Placement.exp(m), bough.exp_placements(m)
        assert apart(X, batch) < 1e-15
        assert apart(X, pin.exp6(m)) < 2e-13  # theirs is off by so much around 1e-3 rad
        assert angle > 1.0 or apart(X, by_series(m)) < 2e-15
        for log in (X.log, bough.log_placements(batch)):
            assert apart(bough.exp_placements(log), batch) < 2e-15  # also at half a turn
            assert np.linalg.norm(log[3:]) <= np.pi * (1 + 1e-15)
            if angle < np.pi - 1e-14:
                assert apart(log, m) < 1e-13 / min(1.0, np.pi - angle) ** 0.5
            if angle < 3.1:  # nearer to half a turn theirs has few digits
                assert apart(log, pin.log6(pin.SE3(batch)).vector) < 1e-12


@pytest.mark.parametrize("exponent", [-300, -150, -20, -8])
def test_tiny_motions_keep_their_digits(exponent: int, rng: np.random.Generator) -> None:
    m = rng.normal(size=(10, 6)) * 10.0**exponent
    assert np.allclose(bough.log_placements(bough.exp_placements(m)), m, rtol=1e-14, atol=0)
    assert np.allclose(Placement.exp(m[0]).log, m[0], rtol=1e-14, atol=0)


@pytest.mark.parametrize("axis", [*np.eye(3), *(np.ones((3, 3)) - np.eye(3)) / np.sqrt(2), np.ones(3) / np.sqrt(3)])
def test_exactly_half_a_turn(axis: Any) -> None:
    X = np.eye(4)
    X[:3, :3] = 2 * np.outer(axis, axis) - np.eye(3)
    X[:3, 3] = 1.0, 2.0, 3.0
    log = bough.log_placements(X)
    assert np.linalg.norm(log[3:]) == pytest.approx(np.pi, rel=1e-15)
    assert np.abs(np.cross(log[3:], axis)).max() < 1e-7
    assert apart(bough.exp_placements(log), X) < 5e-15
    assert apart(Placement.from_matrix(X).log, log) < 1e-14


def test_many_turns_are_gone_through(rng: np.random.Generator) -> None:
    m = 100.0 * rng.normal(size=6)
    assert apart(bough.exp_placements(m), pin.exp6(m)) < 1e-12


def test_free_bodies_move_so(rng: np.random.Generator) -> None:
    b = bough.Builder()
    b.add("body", bough.joints.Free(), inertia=bough.Inertia.box((1, 2, 3), mass=1.0))
    model = b.build()
    q, v = bough.random(model, rng, 7), rng.normal(size=(7, 6))
    X0, X1 = bough.placements(model, q, "body"), bough.placements(model, bough.integrate(model, q, v), "body")
    assert apart(X1, X0 @ bough.exp_placements(v)) < 1e-14
    assert apart(bough.log_placements(np.linalg.inv(X0) @ X1), v) < 1e-13


def test_arrays_of_any_batch(rng: np.random.Generator) -> None:
    m = rng.normal(size=(3, 4, 6))
    X = bough.exp_placements(m)
    assert X.shape == (3, 4, 4, 4)
    assert np.array_equal(X[1, 2], bough.exp_placements(m[1, 2]))
    assert np.array_equal(X, bough.exp_placements(np.asfortranarray(m)))
    assert np.array_equal(X[..., 3, :], np.broadcast_to([0, 0, 0, 1], (3, 4, 4)))
    log = bough.log_placements(X)
    assert np.array_equal(log[1, 2], bough.log_placements(X[1, 2].tolist()))
    assert np.array_equal(log, bough.log_placements(X.transpose(1, 0, 2, 3)).transpose(1, 0, 2))
    assert bough.exp_placements(m[:0]).shape == (0, 4, 4, 4)
    assert bough.log_placements(X[:0]).shape == (0, 4, 6)
    single = bough.log_placements(bough.exp_placements(m.astype(np.float32)))
    assert single.dtype == np.float32
    assert np.allclose(single, log, rtol=0, atol=1e-4)
    out, back = np.empty_like(X), np.empty_like(m)
    assert bough.exp_placements(m, out=out) is out
    assert bough.log_placements(out, out=back) is back
    assert np.array_equal(out, X)
    assert np.array_equal(back, log)


def test_the_reference_back_end_agrees(rng: np.random.Generator) -> None:
    m = rng.normal(size=(20, 6))
    X = bough.exp_placements(m)
    before = bough.get_backend()
    bough.set_backend("reference")
    try:
        assert apart(bough.exp_placements(m), X) < 1e-15
        assert apart(bough.log_placements(X), m) < 1e-13
    finally:
        bough.set_backend(before)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: bough.exp_placements(np.zeros(5)), bough.errors.ShapeError, r"motions has shape \(5,\)"),
        (lambda: bough.exp_placements(None), bough.errors.ShapeError, "motions is None, expected an array"),
        (lambda: bough.exp_placements("x"), bough.errors.ShapeError, "motions has data type"),
        (lambda: bough.exp_placements([0, 0, 0, 0, 0, np.inf]), bough.errors.FiniteError, r"motions\[5\] is inf"),
        (lambda: bough.exp_placements([1e300] * 6), bough.errors.FiniteError, "the exponential is not finite"),
        (lambda: bough.exp_placements([[0] * 6, [1e300] * 6]), bough.errors.FiniteError, r"motions\[1\] is"),
        (lambda: Placement.exp([1e300] * 6), bough.errors.FiniteError, "its exponential is not finite"),
        (lambda: bough.log_placements(np.eye(3)), bough.errors.ShapeError, r"expected \(\.\.\., 4, 4\)"),
        (lambda: bough.log_placements(2 * np.eye(4)), bough.errors.FiniteError, "the last row is not 0 0 0 1"),
        (lambda: bough.log_placements(np.diag([1, 1, -1, 1])), bough.errors.FiniteError, "is not a rotation"),
        (lambda: bough.log_placements(np.diag([1e200, 1, 1, 1])), bough.errors.FiniteError, "is not a rotation"),
        (
            lambda: bough.log_placements([np.eye(4), np.diag([2, 1, 1, 1])]),
            bough.errors.FiniteError,
            r"placements\[1\] is",
        ),
        (lambda: bough.log_placements(np.eye(4), out=np.empty(5)), bough.errors.ShapeError, "out is"),
    ],
)
def test_arrays_that_are_refused(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_a_refused_call_writes_nothing() -> None:
    out = np.full((2, 4, 4), 7.0)
    with pytest.raises(bough.errors.FiniteError):
        bough.exp_placements([[0] * 6, [1e300] * 6], out=out)
    assert (out == 7.0).all()


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("batch", [(), (3,), (70,)])
def test_matrices_that_are_no_placements_leave_out_alone(batch: tuple[int, ...]) -> None:
    good = np.broadcast_to(np.eye(4), (*batch, 4, 4)).copy()
    out = np.full((*batch, 6), 7.25)
    assert bough.log_placements(good, out=out) is out
    assert not out.any()
    out[...] = 7.25
    good[..., 0, 0] = 2.0
    with pytest.raises(bough.errors.FiniteError, match="not a rotation"):
        bough.log_placements(good, out=out)
    assert (out == 7.25).all()
