"""Rigid-body, articulated-body and Coriolis inertias against 6 x 6 matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bough.scalar import Count
from bough.spatial import (
    NO_ARTICULATED,
    NO_FORCE,
    NO_INERTIA,
    REST,
    STAY,
    UNIT_MOTIONS,
    ArticulatedInertia,
    CoriolisInertia,
    MassMoments,
    RigidInertia,
    Symmetric,
    Transform,
    Vector,
    rate_matrix,
)
from spatial_numpy import cost, cross, cross_motion, dense, motion_matrix, random_structure

close = np.testing.assert_allclose
EXACT: dict[str, Any] = {"rtol": 1e-13, "atol": 1e-13}


@pytest.fixture
def X(rng: np.random.Generator) -> Transform:
    return random_structure(rng, STAY)  # type: ignore[no-any-return]


@pytest.fixture
def body(rng: np.random.Generator) -> RigidInertia:
    return random_structure(rng, NO_INERTIA)  # type: ignore[no-any-return]


@pytest.fixture
def handle(rng: np.random.Generator) -> ArticulatedInertia:
    return random_structure(rng, NO_ARTICULATED)  # type: ignore[no-any-return]


def in_parent(X: Transform, I: Any) -> Any:
    """The 6 x 6 matrix of an inertia in parent coordinates."""
    to_child = np.linalg.inv(motion_matrix(X))
    return to_child.T @ dense(I) @ to_child


# ---- rigid bodies ------------------------------------------------------------------------------------------------


def test_a_point_mass() -> None:
    """A mass m at c: momentum m v, moment c × m v, kinetic energy m |v|²/2, all from the velocity of the point."""
    c, mass = np.array([0.2, -0.4, 0.7]), 3.0
    J = mass * cross(c) @ cross(c).T
    lower = [J[i, j] for i in range(3) for j in range(i + 1)]
    point = RigidInertia(mass, Vector(*(mass * c).tolist()), Symmetric(*lower))
    motion = random_structure(np.random.default_rng(1), REST)
    v = dense(motion.linear) + np.cross(dense(motion.angular), c)
    momentum = point.times(motion)
    close(dense(momentum.linear), mass * v, **EXACT)
    close(dense(momentum.angular), np.cross(c, mass * v), **EXACT)
    close(motion.dot(momentum), mass * v @ v, **EXACT)


def test_rigid_inertia_times_motion(body: RigidInertia, rng: np.random.Generator) -> None:
    m = random_structure(rng, REST)
    close(dense(body.times(m)), dense(body) @ dense(m), **EXACT)
    close(dense(body + body), 2.0 * dense(body), **EXACT)


def test_force_by_moments_of_mass(body: RigidInertia, rng: np.random.Generator) -> None:
    """I a + v ×* I v from the acceleration of the point at the origin and A = ω̇× + ω×ω×; from points one by one too."""
    v, a = random_structure(rng, REST), random_structure(rng, REST)
    J = body.rotational
    half = (J.xx + J.yy + J.zz) / 2.0
    second = Symmetric(half - J.xx, -J.yx, half - J.yy, -J.zx, -J.zy, half - J.zz)
    A, point = rate_matrix(v.angular, a.angular), a.linear + v.angular.cross(v.linear)
    force = MassMoments(body.mass, body.moment, second).force(A, point)
    close(dense(force), dense(body.times(a) + v.cross_force(body.times(v))), **EXACT)

    r, mass = rng.normal(size=(5, 3)), rng.uniform(1.0, 2.0, 5)
    Sigma = (r.T * mass) @ r
    moments = MassMoments(mass.sum(), Vector.of(mass @ r), Symmetric(*Sigma[np.tril_indices(3)]))
    push = mass[:, None] * (dense(point) + r @ dense(A).T)
    force = moments.force(A, point)
    close(dense(force.linear), push.sum(axis=0), **EXACT)
    close(dense(force.angular), np.cross(r, push).sum(axis=0), **EXACT)


def test_rigid_inertia_in_parent_coordinates(body: RigidInertia, X: Transform) -> None:
    moved = X.inertia_to_parent(body)
    close(dense(moved), in_parent(X, body), **EXACT)
    assert moved.mass == body.mass
    assert moved == body.to_parent(X.rotation, X.translation)


def test_energy_is_the_same_in_all_coordinates(body: RigidInertia, X: Transform, rng: np.random.Generator) -> None:
    m = random_structure(rng, REST)
    there = X.to_parent(m)
    close(there.dot(X.inertia_to_parent(body).times(there)), m.dot(body.times(m)), **EXACT)


def test_a_rigid_inertia_as_an_articulated_one(body: RigidInertia, X: Transform) -> None:
    close(dense(body.articulated), dense(body), **EXACT)
    close(dense(X.articulated_to_parent(body.articulated)), dense(X.inertia_to_parent(body)), **EXACT)
    assert NO_INERTIA.articulated == NO_ARTICULATED


# ---- articulated bodies ------------------------------------------------------------------------------------------


def test_articulated_inertia_times_motion(handle: ArticulatedInertia, rng: np.random.Generator) -> None:
    m = random_structure(rng, REST)
    close(dense(handle.times(m)), dense(handle) @ dense(m), **EXACT)
    close(dense(handle + handle), 2.0 * dense(handle), **EXACT)


def test_articulated_inertia_in_parent_coordinates(handle: ArticulatedInertia, X: Transform) -> None:
    close(dense(X.articulated_to_parent(handle)), in_parent(X, handle), **EXACT)


def test_lower_triangle(handle: ArticulatedInertia) -> None:
    lower = handle.lower
    assert [len(row) for row in lower] == [1, 2, 3, 4, 5, 6]
    full = dense(handle)
    assert all(lower[i][j] == full[i, j] for i in range(6) for j in range(i + 1))
    assert ArticulatedInertia.of_lower(lower) == handle


def test_minus_outer_products(handle: ArticulatedInertia, rng: np.random.Generator) -> None:
    U = [random_structure(rng, NO_FORCE) for _ in range(2)]
    W = [U[0] * 0.5 + U[1] * 0.25, U[0] * 0.25 + U[1] * 3.0]  # so that the sum is symmetric
    expected = dense(handle) - sum(np.outer(dense(u), dense(w)) for u, w in zip(U, W, strict=True))
    close(dense(handle.minus_outer(U, W, [])), expected, **EXACT)
    assert handle.minus_outer([], [], []) == handle


@pytest.mark.parametrize("free", [[2], [3, 5], [0, 1, 2, 3, 4, 5]])
def test_free_directions_become_exact_zeros(free: list[int], body: RigidInertia, rng: np.random.Generator) -> None:
    """I - U D⁻¹ Uᵀ with U the columns of I for the free directions has no inertia left in them."""
    A = rng.normal(size=(6, 6))
    full = A @ A.T + np.eye(6)
    I = ArticulatedInertia.of_lower([row[: k + 1] for k, row in enumerate(full.tolist())])
    U = [I.times(UNIT_MOTIONS[k]) for k in free]
    D_inverse = np.linalg.inv(full[np.ix_(free, free)])
    W = [sum((u * d for u, d in zip(U, row, strict=True)), NO_FORCE) for row in D_inverse.tolist()]
    left = dense(I.minus_outer(U, W, free))
    close(left, full - full[:, free] @ D_inverse @ full[free, :], **EXACT)
    assert not left[free].any()
    assert not left[:, free].any()


def test_free_directions_cost_nothing() -> None:
    def update(free: list[int]) -> Count:
        return cost(lambda I, u, w: I.minus_outer([u], [w], free), NO_ARTICULATED, NO_FORCE, NO_FORCE)

    assert update([]) == Count(mul=21, add=21)
    assert update([2]) == Count(mul=15, add=15)
    assert update([0, 1, 2, 3, 4, 5]) == Count()


# ---- Coriolis ----------------------------------------------------------------------------------------------------


def matrix_of(B: CoriolisInertia) -> Any:
    return np.column_stack([dense(B.times(unit)) for unit in UNIT_MOTIONS])


def test_coriolis_inertia(body: RigidInertia, X: Transform, rng: np.random.Generator) -> None:
    v, m = (random_structure(rng, REST) for _ in range(2))
    B = CoriolisInertia.of(body, v)
    dual, I = -cross_motion(dense(v)).T, dense(body)
    close(dense(B.times(v)), dense(v.cross_force(body.times(v))), **EXACT)
    close(matrix_of(B) + matrix_of(B).T, dual @ I - I @ cross_motion(dense(v)), **EXACT)
    close(dense(B.transposed_times(m)), matrix_of(B).T @ dense(m), **EXACT)
    close(matrix_of(B + B), 2.0 * matrix_of(B), **EXACT)
    there = CoriolisInertia.of(X.inertia_to_parent(body), X.to_parent(v))
    close(matrix_of(B.to_parent(X.rotation, X.translation)), matrix_of(there), **EXACT)


# ---- costs -------------------------------------------------------------------------------------------------------


def test_costs() -> None:
    assert cost(lambda I, m: I.times(m), NO_INERTIA, REST) == Count(mul=24, add=18)
    assert cost(lambda I, m: I.times(m), NO_ARTICULATED, REST) == Count(mul=36, add=30)
    assert cost(lambda I, J: I + J, NO_INERTIA, NO_INERTIA) == Count(add=10)  # ra of Featherstone 2005
    assert cost(lambda I, J: I + J, NO_ARTICULATED, NO_ARTICULATED) == Count(add=21)
    assert cost(lambda X, I: X.inertia_to_parent(I), STAY, NO_INERTIA) == Count(mul=52, add=52)
    assert cost(lambda X, I: X.articulated_to_parent(I), STAY, NO_ARTICULATED) == Count(mul=170, add=140)
    assert cost(lambda I: I.articulated, NO_INERTIA) == Count()
