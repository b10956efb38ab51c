"""Forces by pivoting: laws on thousands of problems, all solutions of small ones, closed forms, conflicts, refusals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bough import complementarity
from bough.complementarity import Conditions
from bough.errors import FiniteError, ModelError, ShapeError
from bough.kernel.compile import get_backend, set_backend
from bough.kernel.contact.complementarity import pivoting
from bough.kernel.contact.complementarity import residual as complementarity_residual
from contact_problems import (
    GRAVITY,
    Problem,
    all_solutions,
    by_conditions,
    incline,
    random_problem,
    rod,
    stack,
    velocities,
)

ONE = np.ones((2, 2))


@pytest.fixture(scope="module", autouse=True, params=["reference", "llvm"])
def backend(request: pytest.FixtureRequest) -> Iterator[None]:
    """Lemke's path for all states, or the program first."""
    set_backend(request.param)
    yield
    set_backend(None)


def solved(problem: Problem) -> Any:
    solution = pivoting(*problem.arguments, **problem.extra)
    assert solution.solved, solution.reasons
    assert not solution.reasons
    A, f, b = problem.A, solution.f, problem.b
    rounding = 1e-12 * max(1.0, (np.abs(A) @ np.abs(f)).max(initial=0.0))  # of the sums in A f
    np.testing.assert_allclose(solution.a, A @ f + b, rtol=0, atol=rounding)
    np.testing.assert_allclose(solution.residual.max(initial=0), problem.residual(f), rtol=0, atol=rounding)
    return solution


def in_conflict(solution: Any) -> list[int]:
    assert solution.solved == (not solution.conflicts.any())
    assert (() in solution.reasons) == solution.conflicts.any()
    rows: list[int] = np.flatnonzero(solution.conflicts).tolist()
    return rows


# ---- what can be solved is solved --------------------------------------------------------------------------------


@pytest.mark.parametrize("part", range(2))
def test_thousands_of_problems_of_velocities(part: int) -> None:
    rng = np.random.default_rng(part)
    for conditions, A, b, mu in by_conditions(random_problem(rng) for _ in range(1000)):
        solution = pivoting(A, b, conditions, mu)
        assert solution.solved.all(), solution.reasons
        assert complementarity_residual(A, b, solution.f, conditions, mu).max() < 1e-10
        assert solution.residual.max() < 1e-10


@given(seed=st.integers(0, 2**32))
def test_the_forces_are_among_all_solutions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    conditions = Conditions.equalities(int(rng.integers(0, 3))) + Conditions.contacts(int(rng.integers(1, 3)))
    J, v = rng.normal(size=(conditions.n, conditions.n + 2)), rng.normal(size=conditions.n + 2)
    problem = velocities(J, 1.0, v, conditions, rng.choice([0.3, 1.0]))
    f = solved(problem).f
    assert min(np.abs(f - other).max() for other in all_solutions(problem)) < 1e-8


@given(seed=st.integers(0, 2**32), rows=st.integers(0, 8))
def test_without_friction_a_does_not_depend_on_the_order_of_rows(seed: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    J, order = rng.normal(size=(rows, 4)), rng.permutation(rows)
    problem = velocities(J, 1.0, rng.normal(size=4), Conditions.inequalities(rows), 0.0)
    turned = Problem(problem.A[np.ix_(order, order)], problem.b[order], problem.conditions)
    np.testing.assert_allclose(solved(turned).a, solved(problem).a[order], rtol=0, atol=1e-9)


@given(seed=st.integers(0, 2**32), units=st.tuples(st.integers(-9, 9), st.integers(-9, 9)))
def test_units_do_not_matter(seed: int, units: tuple[int, int]) -> None:
    rng, conditions = np.random.default_rng(seed), Conditions.equalities(1) + Conditions.contacts(2)
    problem = velocities(rng.normal(size=(7, 9)), 1.0, rng.normal(size=9), conditions, 0.1)  # forces are unique
    of_a, of_f = (2.0**k for k in units)
    scaled = Problem(problem.A * of_a / of_f, problem.b * of_a, problem.conditions, problem.mu)
    np.testing.assert_allclose(solved(scaled).f / of_f, solved(problem).f, rtol=1e-9, atol=1e-9)


def test_nothing_to_solve() -> None:
    assert solved(Problem(np.zeros((0, 0)), np.zeros(0), Conditions.contacts(0))).f.shape == (0,)
    resting = solved(Problem(np.eye(3), np.array([0.0, 0, 0]), Conditions.contacts(1), 1.0))
    assert resting.pivots == 0
    assert not resting.f.any()


# ---- known answers -----------------------------------------------------------------------------------------------


def test_a_block_sticks_below_the_angle_of_friction() -> None:
    solution = solved(incline(0.4, mu=np.tan(0.41)))
    np.testing.assert_allclose(solution.f, 2 * GRAVITY * np.array([np.cos(0.4), -np.sin(0.4), 0]), atol=1e-12)
    np.testing.assert_allclose(solution.a, 0, atol=1e-12)


def test_a_block_slides_above_the_angle_of_friction() -> None:
    mu = np.tan(0.39)
    solution = solved(incline(0.4, mu))
    np.testing.assert_allclose(solution.f, 2 * GRAVITY * np.cos(0.4) * np.array([1, -mu, 0]), atol=1e-12)
    np.testing.assert_allclose(solution.a, [0, GRAVITY * (np.sin(0.4) - mu * np.cos(0.4)), 0], atol=1e-12)


def test_a_stack_with_redundant_contacts_carries_its_weight() -> None:
    problem = stack(5, mu=0.5)
    assert np.linalg.matrix_rank(problem.A) < len(problem.A) / 2 + 1
    solution = solved(problem)
    np.testing.assert_allclose(solution.a, 0, atol=1e-11)
    carried = solution.f.reshape(5, 4, 3)[:, :, 0].sum(axis=1)
    np.testing.assert_allclose(carried, GRAVITY * np.arange(5, 0, -1), atol=1e-10)


def test_a_box_is_pushed_out_from_under_a_stack() -> None:
    solution = solved(stack(5, mu=0.1, push=300.0))
    assert solution.a.reshape(5, 4, 3)[0, :, 1].min() > 1
    ground = solution.f.reshape(5, 4, 3)[0].sum(axis=0)
    np.testing.assert_allclose(ground[1], -0.1 * ground[0], atol=1e-9)


# ---- accelerations and Painlevé ----------------------------------------------------------------------------------


def test_a_sliding_rod_that_jams_is_reported() -> None:
    solution = pivoting(*rod(np.arctan(2), 2.0, slip=-1).arguments, slip=[0, -1])
    assert not solution.solved
    assert in_conflict(solution) == [0]
    assert "no forces" in solution.reasons[()]
    assert np.isfinite(solution.f).all()
    assert solution.pivots < 10


def test_the_same_rod_slides_the_other_way_or_with_less_friction() -> None:
    angle = np.arctan(2)
    for mu, slip in ((2.0, 1), (1.0, -1)):
        problem = rod(angle, mu, slip)
        solution = solved(problem)
        inertia = problem.A[0, 0] - mu * slip * problem.A[0, 1]
        np.testing.assert_allclose(solution.f, GRAVITY / inertia * np.array([1, -mu * slip]), atol=1e-12)


def test_the_same_rod_lifts_off_when_it_spins() -> None:
    assert not solved(rod(np.arctan(2), 2.0, slip=-1, spin=4.0)).f.any()


def test_the_velocities_of_the_same_rod_can_be_solved() -> None:
    problem = rod(np.arctan(2), 2.0, slip=0)
    solved(Problem(problem.A, problem.A @ [-1.0, 0.3], problem.conditions, problem.mu))


# ---- conflicts ---------------------------------------------------------------------------------------------------


def test_redundant_equalities_get_the_smallest_forces() -> None:
    np.testing.assert_allclose(solved(Problem(ONE, np.ones(2), Conditions.equalities(2))).f, [-0.5, -0.5], atol=1e-14)


def test_redundant_equalities_beside_contacts_get_the_smallest_forces(rng: np.random.Generator) -> None:
    J, v = rng.normal(size=(12, 14)), rng.normal(size=14)
    J[2:4], J[3] = J[:2], J[0] + J[1]  # two of four equalities would do
    problem = velocities(J, 1.0, v, Conditions.equalities(4) + Conditions.contacts(2) + Conditions.equalities(2), 0.5)
    f = solved(problem).f
    rows, d = np.array([0, 1, 2, 3, 10, 11]), np.sqrt(np.diagonal(problem.A))
    nothing = np.linalg.svd((J / d[:, None])[rows].T)[2][4:]  # combinations of scaled forces that do nothing
    np.testing.assert_allclose(nothing @ (d * f)[rows], 0, atol=1e-12)


def test_contradicting_equalities_get_the_least_squares_answer() -> None:
    solution = pivoting(ONE, [1.0, 2.0], Conditions.equalities(2))
    assert in_conflict(solution) == [0, 1]
    np.testing.assert_allclose(solution.f, [-0.75, -0.75], atol=1e-14)
    np.testing.assert_allclose(solution.a, [-0.5, 0.5], atol=1e-14)


def test_only_equalities_that_contradict_are_named() -> None:
    A = np.zeros((4, 4))
    A[0, 0], A[1:3, 1:3], A[3, 3] = 2, 1, 3
    solution = pivoting(A, [1.0, 1.0, 2.0, 1.0], Conditions.equalities(3) + Conditions.inequalities(1))
    assert in_conflict(solution) == [1, 2]
    np.testing.assert_allclose(solution.a, [0, -0.5, 0.5, 1], atol=1e-14)


@pytest.mark.parametrize("seed", [20, 36, 111, 142, 160])
def test_equalities_that_others_nearly_hold_are_met_as_well_as_by_least_squares(seed: int) -> None:
    """What is left of a row that was held is small, and as uncertain as the numbers it is a difference of."""
    rng = np.random.default_rng(seed)
    turned = np.linalg.qr(rng.normal(size=(12, 12)))[0]
    held, free = turned[:, :6], turned[:, 6:]
    little = 10.0 ** rng.uniform(-4, -2.5)
    J = rng.normal(size=(7, 6)) @ free.T
    J[4] = 0.3 * J[0] - J[1]
    J[5] = held @ rng.normal(size=6) + little * (free @ rng.normal(size=6))
    J[6] = held @ rng.normal(size=6) + J[5] + 0.5 * little * J[2]
    rest = np.eye(12) - held @ held.T
    A, b = J @ rest @ J.T, J @ (rest @ rng.normal(size=12) * 10)
    solution = pivoting(A, b, Conditions.equalities(7))
    assert in_conflict(solution) == []
    best = np.linalg.lstsq(A, -b, rcond=1e-13)[0]
    assert np.abs(solution.a).max() < 10 * np.abs(A @ best + b).max() + 1e-10 * np.abs(b).max()


def test_rows_that_nothing_can_move_do_not_contradict_by_rounding() -> None:
    assert in_conflict(pivoting(np.zeros((2, 2)), [1e-15, -2e-15], Conditions.equalities(2))) == []
    assert in_conflict(pivoting(np.zeros((2, 2)), [1e-3, 0.0], Conditions.equalities(2))) == [0]


def test_walls_that_close_in_share_the_violation() -> None:
    A = np.array([[1.0, -1, 0], [-1, 1, 0], [0, 0, 1]])
    solution = pivoting(A, [-3.0, -1.0, -1.0], Conditions.inequalities(3))
    assert in_conflict(solution) == [0, 1]
    np.testing.assert_allclose(solution.a, [-2, -2, 0], atol=1e-9)
    assert np.abs(solution.f).max() < 1e3


def test_an_inequality_gives_way_to_an_equality() -> None:
    solution = pivoting(ONE, [1.0, 0.0], Conditions.equalities(1) + Conditions.inequalities(1))
    assert in_conflict(solution) == [1]
    np.testing.assert_allclose(solution.a, [0, -1], atol=1e-9)


def conflicting(seed: int, mu: float) -> Problem:
    """Contacts on fewer degrees of freedom than there are normals, and a that no velocity makes."""
    rng = np.random.default_rng(seed)
    contacts = int(rng.integers(8, 13))
    J = rng.normal(size=(3 * contacts, 3))
    return Problem(J @ J.T, rng.normal(size=3 * contacts) - 1.0, Conditions.contacts(contacts), mu)


@pytest.mark.parametrize("seed", range(20))
def test_violations_without_friction_are_the_least(seed: int) -> None:
    """Scaled by their rows, they are at right angles to all that forces can do, and no row gives way without need."""
    problem = conflicting(seed, 0.0)
    solution = pivoting(*problem.arguments)
    given = np.where(solution.conflicts, -solution.a, 0.0)
    assert given.min() >= 0
    assert given.max() > 1e-3
    np.testing.assert_allclose((problem.A / np.diagonal(problem.A)) @ given, 0, atol=1e-7)
    assert Problem(problem.A, problem.b + given, problem.conditions).residual(solution.f) < 1e-7


def test_relaxed_conditions_are_met_with_friction_too() -> None:
    jammed = 0
    for seed in range(60):
        problem = conflicting(seed, 0.7)
        solution = pivoting(*problem.arguments)
        if not solution.solved and not solution.f.any():
            jammed += 1
            continue
        given = np.where(solution.conflicts, -solution.a, 0.0)
        assert set(np.flatnonzero(solution.conflicts)) <= set(problem.conditions.inequality)
        relaxed = Problem(problem.A, problem.b + given, problem.conditions, problem.mu)
        assert relaxed.residual(solution.f) < 1e-7
        assert np.abs(solution.f).max() < 1e4  # those of soft conditions are a hundred times as large
    assert jammed <= 6


@pytest.mark.parametrize("seed", [1244, 1759])
def test_a_solution_that_no_path_leads_to_is_found(seed: int) -> None:
    """All paths end in rays here: without b = J v nothing says that one ends in a solution.

    Rounding decides whether it is found after all: of the same problem, changed in the last digit, most are.
    """
    rng, contacts = np.random.default_rng(seed), 8
    J = rng.normal(size=(3 * contacts, 10))
    b, found = rng.normal(size=3 * contacts), 0
    for _ in range(12):
        change = 1.0 + 1e-16 * rng.normal(size=(24, 24))
        solution = pivoting(J @ J.T * (change + change.T) / 2, b, Conditions.contacts(contacts), 1.0)
        found += bool(solution.solved)
    assert found >= 6


def test_a_row_that_nothing_moves() -> None:
    for kind in (Conditions.equalities(1), Conditions.inequalities(1)):
        solution = pivoting([[0.0]], [-1.0], kind)
        assert in_conflict(solution) == [0]
        assert solution.a == -1


@given(seed=st.integers(0, 2**32), spread=st.integers(0, 6))
@example(seed=2837, spread=6)  # a row that slides moves its normal more than the normal itself, by seven decades
def test_whatever_comes_in_something_finite_comes_out(seed: int, spread: int) -> None:
    rng = np.random.default_rng(seed)
    conditions = Conditions.equalities(int(rng.integers(0, 4))) + Conditions.contacts(int(rng.integers(0, 5)))
    n = conditions.n
    J = rng.integers(-1, 2, (n, 4)) * 10.0 ** rng.integers(-spread, spread + 1, (n, 1))
    A, b = J @ J.T, rng.integers(-1, 2, n) * 10.0 ** rng.integers(-spread, spread + 1, n)
    if seed % 3 == 0:
        A = rng.normal(size=(n, n))  # not even definite
    slip = rng.integers(-1, 2, n) * (rng.random() < 0.5)
    solution = pivoting(A, b, conditions, rng.random(n), slip=slip)
    assert np.isfinite(solution.f).all()
    assert np.isfinite(solution.a).all()
    assert solution.solved == (not solution.reasons)
    if solution.solved:
        scale = 1 / np.sqrt(np.where(np.diagonal(A) > 0, np.diagonal(A), 1))
        assert (solution.residual * scale).max(initial=0) <= 1e-6 * (np.abs(scale * b).max(initial=0) + 1e-300)


# ---- batches -----------------------------------------------------------------------------------------------------


def test_a_state_does_not_depend_on_its_batch(rng: np.random.Generator) -> None:
    conditions = Conditions.equalities(1) + Conditions.contacts(3)
    J, v = rng.normal(size=(37, conditions.n, 8)), rng.normal(size=(37, 8, 1))  # ten rows, eight freedoms
    A, b, mu = J @ J.transpose(0, 2, 1), (J @ v)[..., 0], rng.choice([0.1, 1.0, 2.0], 37)
    b[[5, 20], 0] += 100.0  # nothing can be done about some of these, by the same bits
    mus = np.repeat(mu[:, None], conditions.n, axis=1)
    whole, part = pivoting(A, b, conditions, mus), pivoting(A[3:23], b[3:23], conditions, mus[3:23])
    for name in ("f", "a", "residual", "conflicts", "pivots"):
        np.testing.assert_array_equal(getattr(part, name), getattr(whole, name)[3:23])
    for k in range(37):
        for _ in range(2):  # the second time straight from machine code
            one = pivoting(A[k], b[k], conditions, float(mu[k]))
            for name in ("f", "a", "residual", "conflicts", "pivots"):
                np.testing.assert_array_equal(getattr(one, name), getattr(whole, name)[k])
            assert one.reasons.get(()) == whole.reasons.get((k,))


def test_axes_are_broadcast_and_conflicts_told_where_they_are() -> None:
    conditions = Conditions.inequalities(2)
    offsets = np.array([[[-1.0, -1.0]], [[-1.0, 2.0]], [[1.0, 1.0]]])
    walls = np.array([np.eye(2), [[1.0, -1.0], [-1.0, 1.0]]])
    solution = pivoting(walls, offsets, conditions)
    assert solution.f.shape == solution.a.shape == solution.residual.shape == solution.conflicts.shape == (3, 2, 2)
    assert solution.pivots.shape == (3, 2)
    np.testing.assert_array_equal(solution.solved, [[True, False], [True, True], [True, True]])
    assert list(solution.reasons) == [(0, 1)]
    np.testing.assert_allclose(solution.a[0, 1], -1, atol=1e-9)
    assert pivoting(np.ones((0, 2, 2)), np.ones((0, 2)), conditions).solved.shape == (0,)


def test_few_states_are_left_to_the_path_of_lemke(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    exact, left = complementarity.pivoting, []

    def counted(*arguments: Any) -> Any:
        left.append(arguments)
        return exact(*arguments)

    monkeypatch.setattr(complementarity, "pivoting", counted)
    problems = 100 if get_backend() == "reference" else 1000
    for conditions, A, b, mu in by_conditions(random_problem(rng) for _ in range(problems)):
        pivoting(A, b, conditions, mu)
    assert len(left) == problems if get_backend() == "reference" else len(left) <= 5


# ---- refusals ----------------------------------------------------------------------------------------------------


def test_refusals() -> None:
    one = Conditions.inequalities(1)
    for error, says, arguments in [
        (ShapeError, r"A has shape \(2,\), expected \(\.\.\., 1, 1\)", (np.ones(2), [1.0], one)),
        (ShapeError, "do not broadcast", (np.ones((3, 1, 1)), np.ones((2, 1)), one)),
        (FiniteError, r"b\[0\] is nan", (np.eye(1), [np.nan], one)),
        (ShapeError, "mu has the entry -1", (np.eye(1), [1.0], one, -1.0)),
        (ShapeError, "conditions is a str", (np.eye(1), [1.0], "inequality")),
    ]:
        with pytest.raises(error, match=says):  # type: ignore[call-overload]
            pivoting(*arguments)
    with pytest.raises(ModelError, match="slip is given and row 1 is of kind 'cone'"):
        pivoting(np.eye(3), np.ones(3), Conditions.contacts(1, "cone"), slip=np.ones(3))


def test_what_conflicts_in_a_large_problem_is_found_in_bounded_time() -> None:
    """Many contacts on few degrees of freedom, and no forces that meet them: paths are not followed again and again."""
    rng, k = np.random.default_rng(0), 20
    J = rng.normal(size=(3 * k, 12))
    solution = pivoting(J @ J.T, rng.normal(size=3 * k), Conditions.contacts(k), 0.7)
    assert not solution.solved
    assert solution.conflicts.any()
    assert solution.pivots < 20 * 7 * k
    with pytest.raises(ShapeError, match="A is None, expected an array"):
        pivoting(None, [1.0], Conditions.equalities(1))  # type: ignore[arg-type]


def test_singular_values_that_do_not_converge_are_no_error(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    """LAPACK gives up on few matrices, and not on their transposes; equalities are met all the same."""
    J = rng.normal(size=(5, 4))
    J[4] = J[0] + J[1]
    A, b, conditions = J @ J.T, J @ rng.normal(size=4), Conditions.equalities(3) + Conditions.inequalities(2)
    plain, calls = np.linalg.svd, []

    def svd(B: Any, *options: Any, **named: Any) -> Any:
        calls.append(B)
        if len(calls) % 2:
            raise np.linalg.LinAlgError("SVD did not converge")
        return plain(B, *options, **named)

    expected = complementarity.pivoting(A, b, conditions, np.zeros(5))
    monkeypatch.setattr(np.linalg, "svd", svd)
    found = complementarity.pivoting(A, b, conditions, np.zeros(5))
    assert len(calls) == 2
    assert not found.reason
    np.testing.assert_allclose(A @ found.f, A @ expected.f, atol=1e-12)
    np.testing.assert_allclose((A @ found.f + b)[:3], 0.0, atol=1e-12)


def test_coefficients_of_friction_that_are_tensors_are_refused_beside_arrays() -> None:
    torch = pytest.importorskip("torch")
    A, b, contact = np.eye(3), np.array([-1.0, 0.4, 0.0]), Conditions.contacts(1)
    with pytest.raises(ShapeError, match="mu is a tensor of PyTorch"):
        pivoting(A, b, contact, mu=torch.tensor(0.3))
