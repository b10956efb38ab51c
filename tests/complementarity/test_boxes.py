"""Rows with bounds that are given: closed forms, all solutions of small problems, quadratic programs, both solvers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

from bough.complementarity import Conditions
from bough.errors import ShapeError
from bough.kernel.compile import set_backend
from bough.kernel.contact.complementarity import gauss_seidel, pivoting
from bough.kernel.contact.complementarity import residual as complementarity_residual
from contact_problems import Problem, all_solutions, velocities

INF = np.inf


@pytest.fixture(scope="module", autouse=True, params=["reference", "llvm"])
def backend(request: pytest.FixtureRequest) -> Iterator[None]:
    """Lemke's path for all states, or the program first."""
    set_backend(request.param)
    yield
    set_backend(None)


def mixed(seed: int, boxes: int = 2) -> Problem:
    """A random problem of velocities with an equality, a contact and boxes, some of them open or closed."""
    rng = np.random.default_rng(seed)
    conditions = Conditions.equalities(1) + Conditions.boxes(boxes) + Conditions.contacts(1)
    J, v = rng.normal(size=(conditions.n, 8)), rng.normal(size=8)
    middle, half = rng.normal(size=conditions.n) * 0.1, rng.random(conditions.n) * rng.choice([0.05, 0.5])
    bounds = np.stack([middle - half, middle + half], axis=-1)
    bounds[rng.random(conditions.n) < 0.1, 0] = -INF
    bounds[rng.random(conditions.n) < 0.1, 1] = INF
    closed = rng.random(conditions.n) < 0.1
    bounds[closed] = middle[closed, None]
    problem = velocities(J, 1.0, v, conditions, rng.choice([0.3, 1.0]))
    problem.extra["bounds"] = bounds
    return problem


def test_dry_friction_of_a_joint() -> None:
    # a wheel of inertia 2 that turns at 3 rad/s: an impulse of 6 stops it, of less slows it down
    for strength, expected in ((10.0, -6.0), (5.0, -5.0), (0.0, 0.0)):
        bounds = (-strength, strength)
        for solve in (pivoting, gauss_seidel):
            result = solve([[0.5]], [3.0], Conditions.boxes(1), bounds=bounds)
            np.testing.assert_allclose(result.f, [expected], atol=1e-12)
            np.testing.assert_allclose(result.a, [3 + 0.5 * expected], atol=1e-12)
            assert complementarity_residual([[0.5]], [3.0], result.f, Conditions.boxes(1), bounds=bounds) < 1e-12


def test_a_motor_that_cannot_hold_a_weight_on_the_ground() -> None:
    # a mass of 1 falls at 10 m/s; a motor pulls with at most 4 N s, the ground does the rest
    A, b, conditions = np.ones((2, 2)), np.array([-10.0, -10.0]), Conditions.boxes(1) + Conditions.inequalities(1)
    solution = pivoting(A, b, conditions, bounds=[[0, 4], [0, 0]])
    assert solution.solved
    np.testing.assert_allclose(solution.f.sum(), 10, atol=1e-12)
    assert 0 <= solution.f[0] <= 4


def test_residuals_of_boxes() -> None:
    conditions, A = Conditions.boxes(1), [[2.0]]

    def failing(a: float, f: float, low: float = -1.0, high: float = 3.0) -> float:
        return float(complementarity_residual(A, [a - 2 * f], [f], conditions, bounds=[low, high])[0])

    assert failing(0, 2) == failing(5, -1) == failing(-5, 3) == failing(0, -1) == failing(0, 3) == 0
    assert failing(1, 2) == 1  # still moved
    assert failing(-1, -1) == 1
    assert failing(0, 4) == 2  # too strong
    assert failing(0, 4, high=INF) == 0
    assert failing(7, 1, 1, 1) == failing(-7, 1, 1, 1) == 0


@given(seed=st.integers(0, 2**32))
def test_the_forces_are_among_all_solutions(seed: int) -> None:
    problem = mixed(seed)
    solution = pivoting(*problem.arguments, **problem.extra)
    assert solution.solved, solution.reasons
    assert problem.residual(solution.f) < 1e-10
    assert min(np.abs(solution.f - other).max() for other in all_solutions(problem)) < 1e-8


@given(seed=st.integers(0, 2**32), rows=st.integers(1, 8))
def test_without_contacts_they_minimise_a_quadratic_function(seed: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    J, v = rng.normal(size=(rows, 5)), rng.normal(size=5)
    low = -rng.random(rows)
    high = low + 0.01 + rng.random(rows)
    expected = lsq_linear(J.T, -v, (low, high), tol=1e-14)  # f that makes J'f + v, the velocity after, least
    f = pivoting(J @ J.T, J @ v, Conditions.boxes(rows), bounds=np.stack([low, high], -1)).f
    np.testing.assert_allclose(J.T @ f, J.T @ expected.x, atol=1e-6)
    assert np.sum((J.T @ f + v) ** 2) / 2 <= expected.cost * (1 + 1e-12) + 1e-14
    assert (low <= f).all()
    assert (f <= high).all()


def test_what_bounds_nothing_is_an_equality_or_an_inequality(rng: np.random.Generator) -> None:
    J, v = rng.normal(size=(20, 3, 5)), rng.normal(size=(20, 5, 1))
    A, b = J @ J.transpose(0, 2, 1), (J @ v)[..., 0]
    for pair, other in (((-INF, INF), Conditions.equalities(3)), ((0, INF), Conditions.inequalities(3))):
        found = pivoting(A, b, Conditions.boxes(3), bounds=pair)
        np.testing.assert_allclose(found.f, pivoting(A, b, other).f, atol=1e-9)
    above = pivoting(A, b, Conditions.boxes(3), bounds=(-INF, 0))
    np.testing.assert_allclose(above.f, -pivoting(A, -b, Conditions.inequalities(3)).f, atol=1e-9)


def test_gauss_seidel_agrees() -> None:
    problems = [mixed(seed) for seed in range(30)]
    A, b, bounds = (np.array([get(p) for p in problems]) for get in (
        lambda p: p.A, lambda p: p.b, lambda p: p.extra["bounds"]))  # fmt: skip
    conditions = problems[0].conditions
    swept = gauss_seidel(A, b, conditions, 0.1, bounds=bounds, tolerance=1e-12, iterations=300)
    exact = pivoting(A, b, conditions, 0.1, bounds=bounds)
    assert exact.solved.all()
    done = swept.residual.max(axis=-1) < 1e-10
    assert done.sum() > 20
    np.testing.assert_allclose(swept.f[done], exact.f[done], atol=1e-7)


def test_a_sliding_body_that_jams_leaves_the_boxes_alone() -> None:
    # the rod of Painlevé, and a motor that has nothing to do with it
    A = np.zeros((3, 3))
    angle = np.arctan(2)
    c, s = np.cos(angle), np.sin(angle)
    J = np.array([[0, 1, -c], [1, 0, s]])
    A[:2, :2], A[2, 2] = J / [1, 1, 1 / 3] @ J.T, 1.0
    conditions = Conditions.contacts(1, tangents=1) + Conditions.boxes(1)
    solution = pivoting(A, [-9.81, 0, 0.5], conditions, 2.0, slip=[0, -1.0, 0], bounds=(-1, 1))
    np.testing.assert_array_equal(solution.conflicts, [True, False, False])
    np.testing.assert_allclose(solution.f, [0, 0, -0.5], atol=1e-12)


def test_refusals() -> None:
    one = Conditions.boxes(1)
    for solve in (pivoting, gauss_seidel):
        for says, bounds in (
            ("bounds is None and row 0 is of kind 'box'", None),
            (r"bounds has shape \(3,\)", [1.0, 2.0, 3.0]),
            (r"bounds\[0\] is \[2.0, 1.0\]", [2.0, 1.0]),
            (r"bounds\[1, 0\] is \[nan, 1.0\]", [[[0.0, 1.0]], [[np.nan, 1.0]]]),
            (r"bounds\[0\] is \[inf, inf\]", [INF, INF]),
        ):
            with pytest.raises(ShapeError, match=says):
                solve(np.eye(1), [1.0], one, bounds=bounds)
