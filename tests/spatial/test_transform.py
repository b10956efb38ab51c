"""Placements, motions and forces against 6 x 6 matrices, and the laws that tie them together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bough.scalar import Count
from bough.spatial import NO_FORCE, REST, STAY, UNIT_MOTIONS, Force, Motion, Transform
from spatial_numpy import cost, cross_motion, dense, motion_matrix, random_structure

close = np.testing.assert_allclose
EXACT: dict[str, Any] = {"rtol": 1e-13, "atol": 1e-14}


@pytest.fixture
def X(rng: np.random.Generator) -> Transform:
    return random_structure(rng, STAY)  # type: ignore[no-any-return]


@pytest.fixture
def m(rng: np.random.Generator) -> Motion:
    return random_structure(rng, REST)  # type: ignore[no-any-return]


@pytest.fixture
def f(rng: np.random.Generator) -> Force:
    return random_structure(rng, NO_FORCE)  # type: ignore[no-any-return]


def test_motions_and_forces_as_vectors(m: Motion, f: Force) -> None:
    close(dense(m + m * 2.0 - m * 0.5), 2.5 * dense(m), **EXACT)
    close(dense(f + f * 2.0 - f * 0.5), 2.5 * dense(f), **EXACT)
    close(m.dot(f), dense(m) @ dense(f), **EXACT)
    close([dense(u) for u in UNIT_MOTIONS], np.eye(6), **EXACT)


def test_motions_change_coordinates(X: Transform, m: Motion) -> None:
    close(dense(X.to_parent(m)), motion_matrix(X) @ dense(m), **EXACT)
    close(dense(X.to_child(m)), np.linalg.solve(motion_matrix(X), dense(m)), **EXACT)


def test_forces_change_coordinates(X: Transform, f: Force) -> None:
    dual = np.linalg.inv(motion_matrix(X)).T
    close(dense(X.force_to_parent(f)), dual @ dense(f), **EXACT)
    close(dense(X.force_to_child(f)), np.linalg.solve(dual, dense(f)), **EXACT)


def test_power_is_the_same_in_all_coordinates(X: Transform, m: Motion, f: Force) -> None:
    close(X.to_parent(m).dot(X.force_to_parent(f)), m.dot(f), **EXACT)
    close(X.to_child(m).dot(X.force_to_child(f)), m.dot(f), **EXACT)


def test_there_and_back(X: Transform, m: Motion, f: Force) -> None:
    close(dense(X.to_child(X.to_parent(m))), dense(m), **EXACT)
    close(dense(X.to_parent(X.to_child(m))), dense(m), **EXACT)
    close(dense(X.force_to_child(X.force_to_parent(f))), dense(f), **EXACT)
    close(dense(X.force_to_parent(X.force_to_child(f))), dense(f), **EXACT)


def test_composition(X: Transform, m: Motion, rng: np.random.Generator) -> None:
    Y = random_structure(rng, STAY)
    close(motion_matrix(X.then(Y)), motion_matrix(X) @ motion_matrix(Y), **EXACT)
    close(dense(X.then(Y).to_parent(m)), dense(X.to_parent(Y.to_parent(m))), **EXACT)
    assert X.then(STAY) == STAY.then(X) == X


def test_inverse(X: Transform, m: Motion) -> None:
    close(motion_matrix(X.inverse), np.linalg.inv(motion_matrix(X)), **EXACT)
    close(motion_matrix(X.then(X.inverse)), np.eye(6), **EXACT)
    close(dense(X.inverse.to_parent(m)), dense(X.to_child(m)), **EXACT)
    close(motion_matrix(X.inverse.inverse), motion_matrix(X), **EXACT)


def test_cross_products(m: Motion, f: Force, rng: np.random.Generator) -> None:
    v = random_structure(rng, REST)
    close(dense(v.cross(m)), cross_motion(dense(v)) @ dense(m), **EXACT)
    close(dense(v.cross_force(f)), -cross_motion(dense(v)).T @ dense(f), **EXACT)
    close(v.cross(m).dot(f), -m.dot(v.cross_force(f)), **EXACT)  # power of what is carried along does not change
    close(dense(v.cross(v)), np.zeros(6), **EXACT)
    close(dense(v.cross(m)), -dense(m.cross(v)), **EXACT)


def test_cross_products_change_coordinates_with_their_operands(X: Transform, m: Motion, f: Force) -> None:
    v = Motion(m.linear, m.angular)
    close(dense(X.to_parent(v.cross(m))), dense(X.to_parent(v).cross(X.to_parent(m))), **EXACT)
    close(dense(X.force_to_parent(v.cross_force(f))), dense(X.to_parent(v).cross_force(X.force_to_parent(f))), **EXACT)


def test_cross_product_is_the_rate_of_a_motion_carried_along(m: Motion) -> None:
    """A motion fixed in a frame that moves with v changes, seen from outside, at the rate v × m."""
    from bough.spatial import Quaternion, Vector, left_jacobian

    v, h = Motion(Vector(0.3, -0.5, 0.2), Vector(1.0, 0.4, -0.7)), 1e-6

    def carried(t: float) -> Any:
        placement = Transform(Quaternion.exp(v.angular * t).rotation, left_jacobian(v.angular * t, v.linear * t))
        return dense(placement.to_parent(m))

    close((carried(h) - carried(-h)) / (2 * h), dense(v.cross(m)), rtol=1e-8, atol=1e-9)


def test_costs() -> None:
    transform = Count(mul=24, add=18)
    assert cost(lambda X, m: X.to_child(m), STAY, REST) == transform
    assert cost(lambda X, m: X.to_parent(m), STAY, REST) == transform
    assert cost(lambda X, f: X.force_to_parent(f), STAY, NO_FORCE) == transform
    assert cost(lambda X, f: X.force_to_child(f), STAY, NO_FORCE) == transform
    assert cost(lambda v, m: v.cross(m), REST, REST) == Count(mul=18, add=12)
    assert cost(lambda v, f: v.cross_force(f), REST, NO_FORCE) == Count(mul=18, add=12)
    assert cost(lambda X, Y: X.then(Y), STAY, STAY) == Count(mul=36, add=27)
    assert cost(lambda m, f: m.dot(f), REST, NO_FORCE) == Count(mul=6, add=5)
    assert cost(lambda m: STAY.to_child(m), REST) == Count()
