"""Vectors, matrices, rotations and quaternions against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bough.scalar import Count
from bough.spatial import (
    IDENTITY,
    UNITS,
    ZERO,
    Matrix,
    Quaternion,
    Symmetric,
    Vector,
    about_x,
    about_y,
    about_z,
    as_factors,
    cross_matrix,
    from_quaternion,
    left_jacobian,
    left_jacobian_inverse,
)
from spatial_numpy import cost, cross, dense, random_rotation, random_structure

close = np.testing.assert_allclose
EXACT: dict[str, Any] = {"rtol": 1e-14, "atol": 1e-14}
ANY_SYMMETRIC = Symmetric(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)


def test_vectors(rng: np.random.Generator) -> None:
    a, b = (random_structure(rng, ZERO) for _ in range(2))
    close(dense(a + b), dense(a) + dense(b), **EXACT)
    close(dense(a - b), dense(a) - dense(b), **EXACT)
    close(dense(-a), -dense(a), **EXACT)
    close(dense(a * 2.5), 2.5 * dense(a), **EXACT)
    close(a.dot(b), dense(a) @ dense(b), **EXACT)
    close(dense(a.cross(b)), np.cross(dense(a), dense(b)), **EXACT)
    assert Vector.of(a.parts) == a
    assert [list(u.parts) for u in UNITS] == np.eye(3).tolist()


def test_matrices(rng: np.random.Generator) -> None:
    A, B = (random_structure(rng, IDENTITY) for _ in range(2))
    v = random_structure(rng, ZERO)
    close(dense(A @ B), dense(A) @ dense(B), **EXACT)
    close(dense(A + B), dense(A) + dense(B), **EXACT)
    close(dense(A - B), dense(A) - dense(B), **EXACT)
    close(dense(A.T), dense(A).T, **EXACT)
    close(dense(A.times(v)), dense(A) @ dense(v), **EXACT)
    close(dense(A.transposed_times(v)), dense(A).T @ dense(v), **EXACT)
    close(dense(cross_matrix(v)), cross(dense(v)), **EXACT)
    assert Matrix.of_rows(dense(A).tolist()) == A
    assert A.columns == (A.a, A.b, A.c)
    assert dense(IDENTITY).tolist() == np.eye(3).tolist()


def test_symmetric_matrices(rng: np.random.Generator) -> None:
    A, B = (random_structure(rng, ANY_SYMMETRIC) for _ in range(2))
    v, R = random_structure(rng, ZERO), random_rotation(rng)
    close(dense(A + B), dense(A) + dense(B), **EXACT)
    close(dense(A.times(v)), dense(A) @ dense(v), **EXACT)
    close(dense(A.matrix), dense(A), **EXACT)
    close(dense(R.of_symmetric(A)), dense(R) @ dense(A) @ dense(R).T, **EXACT)


@pytest.mark.parametrize(("about", "axis"), [(about_x, 0), (about_y, 1), (about_z, 2)])
def test_rotations_about_axes(about: Any, axis: int) -> None:
    angle = 0.7
    R = about(np.cos(angle), np.sin(angle))
    K = cross(np.eye(3)[axis])
    close(dense(R), np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K, **EXACT)


EXCHANGES = [np.array(rows) for rows in ([[0, 0, -1], [0, 1, 0], [1, 0, 0]], [[0, 1, 0], [-1, 0, 0], [0, 0, 1]])]
EXCHANGES += [np.diag(signs) for signs in ([1, -1, -1], [-1, 1, -1], [1, 1, 1])]


@pytest.mark.parametrize("angle", [0.0, 0.3, -2.0])
@pytest.mark.parametrize("about", [about_x, about_y, about_z])
@pytest.mark.parametrize("exchange", range(len(EXCHANGES)))
def test_factored_rotations_act_as_their_matrices(
    exchange: int, about: Any, angle: float, rng: np.random.Generator
) -> None:
    E, turn = EXCHANGES[exchange].astype(float), dense(about(np.cos(angle), np.sin(angle)))
    joint = about_z(np.cos(0.9), np.sin(0.9))
    v, A, M = (random_structure(rng, like) for like in (ZERO, ANY_SYMMETRIC, IDENTITY))
    for R in (E, E @ turn, turn @ E, E.T @ turn @ E):
        made = as_factors(Matrix.of_rows(R.tolist()))
        assert not isinstance(made, Matrix)
        for one, expected in ((made, R), (made.before(joint), R @ dense(joint)), (made.T, R.T)):
            close(dense(one), expected, **EXACT)
            close(dense(one.times(v)), expected @ dense(v), **EXACT)
            close(dense(one.transposed_times(v)), expected.T @ dense(v), **EXACT)
            close(dense(one.of_symmetric(A)), expected @ dense(A) @ expected.T, **EXACT)
            close(dense(one.of_matrix(M)), expected @ dense(M) @ expected.T, **EXACT)
            close(dense(one @ joint), expected @ dense(joint), **EXACT)


def test_turns_about_z_then_x(rng: np.random.Generator) -> None:
    """The last turn and that of a joint become one."""
    R = dense(about_x(np.cos(0.4), np.sin(0.4))) @ dense(about_z(np.cos(2.0), np.sin(2.0)))
    made, joint = as_factors(Matrix.of_rows(R.tolist())), about_z(np.cos(0.9), np.sin(0.9))
    both = made.before(joint)
    v, A = random_structure(rng, ZERO), random_structure(rng, ANY_SYMMETRIC)
    close(dense(made), R, **EXACT)
    close(dense(both), R @ dense(joint), **EXACT)
    close(dense(both.of_symmetric(A)), dense(both) @ dense(A) @ dense(both).T, **EXACT)
    close(dense(both.transposed_times(v)), dense(both).T @ dense(v), **EXACT)
    assert cost(lambda c, s: made.before(about_z(c, s)), 1.0, 0.0) == Count(mul=4, add=2)


def test_general_rotations_stay_matrices(rng: np.random.Generator) -> None:
    R = random_rotation(rng)
    assert as_factors(R) is R
    close(dense(R.before(about_y(0.6, 0.8))), dense(R) @ dense(about_y(0.6, 0.8)), **EXACT)


def test_turns_keep_zeros() -> None:
    """What a joint's own direction leaves empty stays empty, and costs nothing."""
    turn = about_z(np.cos(0.4), np.sin(0.4))
    flat = turn.of_symmetric(Symmetric(1.0, 2.0, 3.0, 0.0, 0.0, 0.0))
    assert (flat.zx, flat.zy, flat.zz) == (0.0, 0.0, 0.0)
    assert cost(lambda A, c, s: about_z(c, s).of_symmetric(A), ANY_SYMMETRIC, 1.0, 0.0) == Count(mul=10, add=9)
    assert cost(lambda A, c, s: about_z(c, s).of_matrix(A), IDENTITY, 1.0, 0.0) == Count(mul=14, add=12)
    assert cost(lambda v, c, s: about_x(c, s).times(v), ZERO, 1.0, 0.0) == Count(mul=4, add=2)


def test_costs() -> None:
    assert cost(lambda A, R: R.of_symmetric(A), ANY_SYMMETRIC, IDENTITY) == Count(mul=31, add=28)
    assert cost(lambda R, v: R.times(v), IDENTITY, ZERO) == Count(mul=9, add=6)
    assert cost(lambda a, b: a.cross(b), ZERO, ZERO) == Count(mul=6, add=3)
    assert cost(lambda q: q.rotation, Quaternion(0.0, 0.0, 0.0, 1.0)) == Count(mul=9, add=15)
    assert cost(lambda v: cross_matrix(v), ZERO) == Count()


# ---- quaternions -------------------------------------------------------------------------------------------------


def random_quaternion(rng: np.random.Generator) -> Quaternion:
    q = rng.normal(size=4)
    return Quaternion.of((q / np.linalg.norm(q)).tolist())


def test_rotation_of_a_quaternion(rng: np.random.Generator) -> None:
    for _ in range(20):
        q = random_quaternion(rng)
        R, K = dense(q.rotation), cross(dense(q.vector))
        close(R, np.eye(3) + 2 * q.w * K + 2 * K @ K, **EXACT)
        close(R @ R.T, np.eye(3), **EXACT)
        close(dense(from_quaternion(*(-x for x in q.parts))), R, **EXACT)
        close(dense(q.conjugate.rotation), R.T, **EXACT)


def test_quaternions_turn_by_their_angle(rng: np.random.Generator) -> None:
    for k, about in enumerate((about_x, about_y, about_z)):
        angle = float(rng.uniform(-3.0, 3.0))
        q = Quaternion.of([*(np.eye(3)[k] * np.sin(angle / 2)).tolist(), float(np.cos(angle / 2))])
        close(dense(q.rotation), dense(about(np.cos(angle), np.sin(angle))), **EXACT)


def test_quaternions_multiply_like_rotations(rng: np.random.Generator) -> None:
    a, b = random_quaternion(rng), random_quaternion(rng)
    close(dense((a @ b).rotation), dense(a.rotation) @ dense(b.rotation), **EXACT)
    close((a @ a.conjugate).parts, [0.0, 0.0, 0.0, 1.0], **EXACT)


def test_normalized(rng: np.random.Generator) -> None:
    q = random_quaternion(rng)
    close(Quaternion.of([3.0 * x for x in q.parts]).normalized.parts, q.parts, **EXACT)


LENGTHS = [1e-12, 1e-7, 9.99e-4, 1.001e-3, 1.9e-3, 2.01e-3, 0.1, 1.0, 3.0, np.pi]


@pytest.mark.parametrize("length", LENGTHS)
def test_exponential_and_logarithm(length: float, rng: np.random.Generator) -> None:
    """Each component to a few units of rounding, on both sides of the switch to a series."""
    direction = rng.normal(size=3)
    v = direction / np.linalg.norm(direction) * length
    angle = np.sqrt(np.sum(v.astype(np.longdouble) ** 2))
    expected = np.array([*(v / angle * np.sin(angle / 2)), np.cos(angle / 2)], dtype=float)
    q = Quaternion.exp(Vector(*v.tolist()))
    close(q.parts[:3], expected[:3], rtol=1e-15, atol=0)
    close(q.w, expected[3], rtol=0, atol=2e-16)
    if length < np.pi:
        close(dense(q.log), v, rtol=1e-15, atol=0)
        close(dense(Quaternion.of([-x for x in q.parts]).log), v, rtol=1e-15, atol=0)


def test_logarithms_of_no_turn_and_of_half_a_turn() -> None:
    assert list(Quaternion(0.0, 0.0, 0.0, 1.0).log.parts) == [0.0, 0.0, 0.0]
    close(dense(Quaternion(0.0, 1.0, 0.0, 0.0).log), [0.0, np.pi, 0.0], rtol=1e-15, atol=0)
    assert Quaternion.exp(ZERO).parts == [0.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize("length", [1e-9, 9.99e-4, 1.001e-3, 0.3, 3.0])
def test_screw_displacements(length: float, rng: np.random.Generator) -> None:
    """The displacement of a constant twist, summed as a series, and its inverse."""
    direction = rng.normal(size=3)
    angle = direction / np.linalg.norm(direction) * length
    v = rng.normal(size=3)
    term, total = v, v
    for k in range(2, 40):  # V = 1 + K/2! + K²/3! + …
        term = cross(angle) @ term / k
        total = total + term
    got = left_jacobian(Vector(*angle.tolist()), Vector(*v.tolist()))
    close(dense(got), total, rtol=1e-14, atol=1e-15)
    close(dense(left_jacobian_inverse(Vector(*angle.tolist()), got)), v, rtol=1e-13, atol=1e-14)


@given(st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=3))
def test_logarithm_inverts_the_exponential(v: list[float]) -> None:
    if np.linalg.norm(v) < np.pi:
        close(dense(Quaternion.exp(Vector(*v)).log), v, rtol=1e-14, atol=1e-15)


def test_quaternions_of_rotations(rng: np.random.Generator) -> None:
    turns = [*np.eye(4), *(np.eye(4) + 1e-9), *rng.normal(size=(40, 4))]  # half turns among them
    for q in (Quaternion.of(x).normalized for x in turns):
        back = Quaternion.of_rotation(q.rotation)
        close(np.abs(np.dot(back.parts, q.parts)), 1.0, **EXACT)
        close(dense(back.rotation), dense(q.rotation), **EXACT)
