"""Exact forces with cones of friction: laws on thousands of problems, closed forms, stacks, what cannot be met."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import bough
from bough import complementarity
from bough.complementarity import Conditions, Demands, principal
from bough.complementarity.reduction import Problem as Whole
from bough.complementarity.smoothing import smooth_path, worst
from bough.kernel.contact.complementarity import gauss_seidel, pivoting
from bough.kernel.contact.complementarity import residual as complementarity_residual
from contact_problems import GRAVITY, Problem, by_conditions, crowded_problem, random_problem, rod, scale, stack


def with_cones(conditions: Conditions) -> Conditions:
    return Conditions(["cone" if kind == "pyramid" else kind for kind in conditions.kinds], conditions.normals)


@pytest.mark.usefixtures("compiled")
def test_thousands_of_problems_of_velocities(rng: np.random.Generator) -> None:
    # independent, redundant, sparse, jammed or stacked
    count = 0
    for conditions, A, b, mu in by_conditions(random_problem(rng) for _ in range(5000))[:9]:
        cones = with_cones(conditions)
        solution = pivoting(A, b, cones, mu)
        failing = complementarity_residual(A, b, solution.f, cones, mu).max(axis=-1)
        assert solution.solved.all(), solution.reasons
        assert failing.max() < 1e-10
        count += len(b)
    assert count > 1500


@pytest.mark.usefixtures("compiled")
def test_contacts_on_one_body_with_much_friction() -> None:
    """Guesses of all rows at once and sweeps go in circles there; others do not, nor do smooth paths."""
    rng, conditions = np.random.default_rng(0), Conditions.contacts(4, "cone")
    J, v = rng.normal(size=(4000, conditions.n, 6)), rng.normal(size=(4000, 6, 1))
    A, b = J @ J.transpose(0, 2, 1), (J @ v)[..., 0]
    solution = pivoting(A, b, conditions, 2.0)
    assert solution.solved.all(), solution.reasons
    assert solution.residual.max() < 1e-10
    mu = np.where(conditions.normal >= 0, 2.0, 0.0)
    for k in np.argsort(solution.pivots)[-12:]:  # the hardest
        f, conflicts, reason, _ = complementarity.pivoting(A[k], b[k], conditions, mu)
        assert reason == ""
        assert not conflicts.any()
        assert complementarity_residual(A[k], b[k], f, conditions, 2.0).max() < 1e-10


@pytest.mark.parametrize("friction", ["pyramid", "cone"])
@pytest.mark.parametrize("contacts", [10, 20, 35, 50, 100])
def test_crowded_problems_are_solved_or_undecided_after_little_work(friction: Any, contacts: int) -> None:
    """A problem of velocities has a solution, so none is said to have none."""
    rng, undecided = np.random.default_rng(contacts), 0
    for _ in range(200 // contacts):
        problem = crowded_problem(rng, contacts, friction)
        f, conflicts, reason, pivots = complementarity.pivoting(
            problem.A, problem.b, problem.conditions, problem.conditions.at_friction(problem.mu)
        )
        assert conflicts.any() == bool(reason)
        assert pivots < 3000  # twelve thousand and more where paths are followed again and again
        if reason:
            assert "there may be one" in reason
            undecided += 1
        else:
            assert (problem.residuals(f) / scale(problem.A, problem.b)).max() < 1e-9
    assert undecided <= 1


def test_smooth_paths_alone_lead_to_cones_too(rng: np.random.Generator) -> None:
    for _ in range(200):
        problem = random_problem(rng)
        cones = with_cones(problem.conditions)
        mu = np.where(cones.normal >= 0, problem.mu, 0.0)
        f, conflicts, reason, _ = complementarity.pivoting(problem.A, problem.b, cones, mu)
        assert not reason
        assert not conflicts.any()
        assert complementarity_residual(problem.A, problem.b, f, cones, problem.mu).max() < 1e-10


def test_rows_of_every_kind_beside_cones(rng: np.random.Generator) -> None:
    conditions = Conditions.contacts(2, "cone") + Conditions.equalities(1) + Conditions.contacts(2)
    conditions += Conditions.boxes(2) + Conditions.inequalities(1)
    n, bounds = conditions.n, np.array([-0.1, 0.2])
    for _ in range(50):
        J = rng.normal(size=(n, n - 4)) * 10 ** rng.uniform(-1, 1, (n, 1))  # redundant, in many units
        A, b = J @ J.T, J @ rng.normal(size=n - 4)
        mu = np.where(conditions.normal >= 0, 0.7, 0.0)
        f, conflicts, _, _ = complementarity.pivoting(A, b, conditions, mu, None, np.tile(bounds, (n, 1)))
        assert not conflicts.any()
        scale = np.sqrt(np.diagonal(A)) * np.abs(b / np.sqrt(np.diagonal(A))).max()
        assert (complementarity_residual(A, b, f, conditions, 0.7, bounds=bounds) / scale).max() < 1e-9


@pytest.mark.parametrize("seed", range(60))
def test_whatever_comes_in_something_finite_comes_out(seed: int) -> None:
    rng = np.random.default_rng(seed)
    conditions = Conditions.equalities(int(rng.integers(0, 3))) + Conditions.contacts(int(rng.integers(0, 4)), "cone")
    n, spread = conditions.n, seed % 7
    J = rng.integers(-1, 2, (n, 4)) * 10.0 ** rng.integers(-spread, spread + 1, (n, 1))
    A, b = J @ J.T, rng.integers(-1, 2, n) * 10.0 ** rng.integers(-spread, spread + 1, n)
    if seed % 3 == 0:
        A = rng.normal(size=(n, n))  # not even definite
    mu = rng.choice([0.0, 0.5, 2.0])
    f, conflicts, reason, _ = complementarity.pivoting(A, b, conditions, np.full(n, mu))
    assert np.isfinite(f).all()
    assert conflicts.any() == bool(reason)
    if not reason and spread < 3:
        assert (complementarity_residual(A, b, f, conditions, mu) / scale(A, b)).max(initial=0) < 1e-6


@pytest.mark.parametrize("seed", range(10))
def test_cones_that_cannot_be_met_give_way_at_their_normals(seed: int) -> None:
    # two walls that close in, turned at random, beside contacts that can be met
    rng, conditions = np.random.default_rng(seed), Conditions.contacts(4, "cone")
    J = rng.normal(size=(12, 9))
    J[3] = -J[0]
    b = J @ rng.normal(size=9)
    b[[0, 3]] -= 3.0
    f, conflicts, reason, _ = complementarity.pivoting(J @ J.T, b, conditions, np.full(12, 0.3))
    assert np.flatnonzero(conflicts).tolist() == [0, 3]
    assert "no forces" in reason
    a = J @ J.T @ f + b
    np.testing.assert_allclose(a[0], a[3], atol=1e-8)
    given = np.where(conflicts, -a, 0.0)
    assert given.max() > 1
    assert complementarity_residual(J @ J.T, b + given, f, conditions, 0.3).max() < 1e-8


@pytest.mark.usefixtures("compiled")
def test_independent_contacts_are_always_solved_and_gauss_seidel_agrees(rng: np.random.Generator) -> None:
    conditions = (
        Conditions.equalities(1) + Conditions.contacts(4, "cone") + Conditions.contacts(1) + Conditions.boxes(1)
    )
    J, v = rng.normal(size=(1000, conditions.n, 24)), rng.normal(size=(1000, 24, 1))
    A, b = J @ J.transpose(0, 2, 1), (J @ v)[..., 0]
    exact = pivoting(A, b, conditions, 0.2, bounds=(-0.1, 0.2))
    swept = gauss_seidel(A, b, conditions, 0.2, bounds=(-0.1, 0.2), tolerance=1e-12, iterations=100_000)
    assert exact.solved.all()
    assert exact.residual.max() < 1e-10
    assert swept.residual.max() < 1e-10
    np.testing.assert_allclose(exact.f, swept.f, atol=1e-8)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize(("mu", "push"), [(0.5, 0.0), (0.3, 10.0), (0.1, 300.0)])
def test_stacks_of_ten_boxes(mu: float, push: float) -> None:
    problem = stack(10, mu, push)
    conditions = with_cones(problem.conditions)
    solution = pivoting(problem.A, problem.b, conditions, mu)
    assert solution.residual.max() < 1e-9
    carried = solution.f.reshape(10, 4, 3)[:, :, 0].sum(axis=1)
    np.testing.assert_allclose(carried, GRAVITY * np.arange(10, 0, -1), atol=1e-8)


@pytest.mark.parametrize("turn", [0.0, 0.3, 2.0])
def test_a_block_slides_straight_down_a_slope(turn: float) -> None:
    mass, mu, angle = 2.0, np.tan(0.39), 0.4
    down = np.array([np.cos(turn), np.sin(turn)])
    b = GRAVITY * np.array([-np.cos(angle), *(np.sin(angle) * down)])
    solution = pivoting(np.eye(3) / mass, b, Conditions.contacts(1, "cone"), mu)
    slides = GRAVITY * (np.sin(angle) - mu * np.cos(angle))
    np.testing.assert_allclose(solution.a, [0, *(slides * down)], atol=1e-12)
    np.testing.assert_allclose(solution.f, mass * GRAVITY * np.cos(angle) * np.array([1, *(-mu * down)]), atol=1e-12)
    assert solution.solved


def test_floats_and_back_ends_agree(rng: np.random.Generator) -> None:
    # rows of every kind
    kinds = Conditions.contacts(1, "cone") + Conditions.equalities(1) + Conditions.contacts(1) + Conditions.boxes(2)
    n, count, bounds = kinds.n, 12, (-0.1, 0.2)
    J, v = rng.normal(size=(count, n, n + 2)), rng.normal(size=(count, n + 2, 1))
    A, b = J @ J.transpose(0, 2, 1), (J @ v)[..., 0]
    interpreted = pivoting(A, b, kinds, 0.4, bounds=bounds)
    bough.set_backend("llvm")
    try:
        compiled = pivoting(A, b, kinds, 0.4, bounds=bounds)
    finally:
        bough.set_backend(None)
    assert compiled.solved.all()
    np.testing.assert_allclose(interpreted.f, compiled.f, atol=1e-9)
    np.testing.assert_array_equal(interpreted.pivots, compiled.pivots)
    for k in range(count):
        given = (A[k].ravel().tolist(), b[k].tolist(), [0.4] * n)
        result = principal(Demands(kinds, *given, bounds=[*bounds] * n))
        np.testing.assert_allclose(result["whole"][:n], compiled.f[k], atol=1e-9)  # type: ignore[index]
        assert result["status"][0] > 0


@pytest.mark.usefixtures("compiled")
def test_what_cannot_be_met_is_told() -> None:
    # two walls that close in, with friction
    J = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 0, 0], [0, 1, 0], [0, 0, 1]])
    conditions, b = Conditions.contacts(2, "cone"), np.array([-1.0, 0.3, 0, -1.0, 0.3, 0])
    solution = pivoting(J @ J.T, b, conditions, 0.5)
    assert not solution.solved
    assert {0, 3} <= set(np.flatnonzero(solution.conflicts).tolist())
    assert solution.reasons[()]
    assert np.isfinite(solution.f).all()


def test_newton_steps_for_rows_in_any_order(rng: np.random.Generator) -> None:
    """Whatever the order of rows, a step follows the slopes."""
    regular = Conditions.contacts(3, "cone") + Conditions.contacts(2, tangents=1)
    rows = [6, 7, 8, 10, 9, 0, 1, 2, 12, 11, 3, 4, 5]
    J, mu = rng.normal(size=(regular.n, 20)), np.full(regular.n, 0.5)
    A, b = J @ J.T, rng.normal(size=regular.n)
    expected = smooth_path(Whole(A, b, regular, mu, np.zeros(regular.n)))
    problem = Whole(A[np.ix_(rows, rows)], b[rows], regular.some(rows), mu, np.zeros(regular.n))
    found = smooth_path(problem)
    assert worst(problem, found[0]) < 1e-9
    assert found[0] == pytest.approx(expected[0][rows], abs=1e-12)


@pytest.mark.usefixtures("compiled")
def test_normals_may_come_after_their_friction() -> None:
    angle = 0.4
    mu = np.tan(0.39)
    for kind in ("pyramid", "cone"):
        conditions = Conditions([kind, kind, "inequality"], [2, 2, -1])
        b = GRAVITY * np.array([np.sin(angle), 0, -np.cos(angle)])
        solution = pivoting(np.eye(3) / 2, b, conditions, mu)
        np.testing.assert_allclose(solution.f, 2 * GRAVITY * np.cos(angle) * np.array([-mu, 0, 1]), atol=1e-12)
        assert solution.pivots <= 3


def test_the_velocities_of_a_rod_that_jams_can_be_solved() -> None:
    planar = rod(np.arctan(2), 2.0, slip=0)
    A, b = np.zeros((3, 3)), np.zeros(3)
    A[:2, :2], A[2, 2], b[:2] = planar.A, 1.0, planar.A @ [-1.0, 0.3]
    problem = Problem(A, b, Conditions.contacts(1, "cone"), 2.0)
    solution = pivoting(*problem.arguments)
    assert solution.solved
    assert problem.residual(solution.f) < 1e-12


# ---- beside Pinocchio ------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("contacts", [1, 3])
def test_pinocchio_agrees(contacts: int, rng: np.random.Generator) -> None:
    mu, n = 0.3, 3 * contacts
    model = pin.Model()
    model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")
    models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
    for _ in range(contacts):
        contact = pin.PointContactConstraintModel(model, 1)
        contact.setFriction(mu)
        models.append(pin.ConstraintModel(contact))
        datas.append(models[-1].createData())
    order = np.arange(n).reshape(-1, 3)[:, [1, 2, 0]].ravel()  # theirs: the normal last
    for _ in range(30):
        J, v = rng.normal(size=(n, n + 6)), rng.normal(size=n + 6)
        A, b = J @ J.T, J @ v
        settings, result = pin.PGSSolverSettings(), pin.PGSSolverResult()
        for kind in ("absolute_complementarity", "absolute_feasibility"):
            setattr(settings, f"{kind}_tol", 1e-12)
        settings.relative_complementarity_tol = settings.relative_feasibility_tol = 0.0
        settings.max_iterations = 100_000
        matrix = pin.DelassusOperatorDense(np.ascontiguousarray(A[np.ix_(order, order)]))
        pin.PGSConstraintSolver(n).solve(matrix, b[order], models, datas, settings, result)
        expected = np.empty(n)
        expected[order] = result.retrieveConstraintImpulses()
        np.testing.assert_allclose(pivoting(A, b, Conditions.contacts(contacts, "cone"), mu).f, expected, atol=1e-9)
