"""Forces by projected Gauss-Seidel: the conditions are met, exact forces agree, closed forms, batches, starts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bough.complementarity import Conditions
from bough.errors import FiniteError, ShapeError
from bough.kernel.contact.complementarity import gauss_seidel, pivoting
from bough.kernel.contact.complementarity import residual as complementarity_residual
from contact_problems import GRAVITY, incline, stack, velocities


def batch(conditions: Conditions, count: int, freedoms: int = 12, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    J, v = rng.normal(size=(count, conditions.n, freedoms)), rng.normal(size=(count, freedoms, 1))
    return J @ J.transpose(0, 2, 1), (J @ v)[..., 0]


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("friction", ["pyramid", "cone"])
def test_thousands_of_problems_of_velocities(friction: Any) -> None:
    conditions = Conditions.equalities(2) + Conditions.contacts(4, friction)
    A, b = batch(conditions, 5000, freedoms=18)
    result = gauss_seidel(A, b, conditions, 0.4, tolerance=1e-10, iterations=20_000)
    assert result.residual.max() < 1e-9
    failing = complementarity_residual(A, b, result.f, conditions, 0.4)
    np.testing.assert_allclose(result.residual, failing, rtol=0, atol=1e-13)
    np.testing.assert_allclose(result.a, (A @ result.f[..., None])[..., 0] + b, atol=1e-12)


@pytest.mark.usefixtures("compiled")
def test_pivoting_agrees() -> None:
    # little friction: forces are unique
    conditions = Conditions.equalities(1) + Conditions.contacts(3)
    A, b = batch(conditions, 200)
    swept = gauss_seidel(A, b, conditions, 0.1, tolerance=1e-12, iterations=100_000)
    np.testing.assert_allclose(swept.f, pivoting(A, b, conditions, 0.1).f, atol=1e-9)


@given(seed=st.integers(0, 2**32))
def test_floats_and_programs_agree(seed: int) -> None:
    # one sweep in plain NumPy, row by row, against the program
    conditions = Conditions.equalities(1) + Conditions.contacts(2)
    A, b = batch(conditions, 2, seed=seed)
    expected = np.zeros_like(b)
    for f, matrix, offset in zip(expected, A, b, strict=True):
        for i, (kind, normal) in enumerate(zip(conditions.kinds, conditions.normals, strict=True)):
            f[i] -= (matrix[i] @ f + offset[i]) / matrix[i, i]
            low, high = {"equality": (-np.inf, np.inf), "inequality": (0, np.inf)}.get(
                kind, (-0.7 * f[normal], 0.7 * f[normal])
            )
            f[i] = np.clip(f[i], low, high)
    result = gauss_seidel(A, b, conditions, 0.7, iterations=1)
    np.testing.assert_allclose(result.f, expected, atol=1e-12)
    assert (result.iterations == 1).all()


@pytest.mark.parametrize("friction", ["pyramid", "cone"])
def test_a_block_on_a_slope(friction: Any) -> None:
    # the slope runs in the direction (0.6, 0.8) of the tangents: a cone does not mind, a pyramid is wider there
    mass, mu, angle = 2.0, np.tan(0.39), 0.4
    b = GRAVITY * np.array([-np.cos(angle), 0.6 * np.sin(angle), 0.8 * np.sin(angle)])
    result = gauss_seidel(np.eye(3) / mass, b, Conditions.contacts(1, friction), mu, tolerance=1e-13)
    if friction == "pyramid":
        np.testing.assert_allclose(result.a, 0, atol=1e-12)
    else:
        slides = GRAVITY * (np.sin(angle) - mu * np.cos(angle))
        np.testing.assert_allclose(result.a, [0, 0.6 * slides, 0.8 * slides], atol=1e-12)


def test_a_block_that_slides_along_a_tangent() -> None:
    problem = incline(0.4, np.tan(0.39))
    np.testing.assert_allclose(gauss_seidel(*problem.arguments).f, pivoting(*problem.arguments).f, atol=1e-8)


@pytest.mark.usefixtures("compiled")
def test_a_stack_with_redundant_contacts() -> None:
    problem = stack(3, mu=0.5)
    result = gauss_seidel(*problem.arguments, tolerance=1e-9, iterations=100_000)
    assert result.residual.max() < 1e-7
    carried = result.f.reshape(3, 4, 3)[:, :, 0].sum(axis=1)
    np.testing.assert_allclose(carried, GRAVITY * np.arange(3, 0, -1), atol=1e-5)


@pytest.mark.usefixtures("compiled")
def test_a_good_start_saves_sweeps() -> None:
    conditions = Conditions.contacts(4, "cone")
    A, b = batch(conditions, 100)
    cold = gauss_seidel(A, b, conditions, 0.4, iterations=10_000)
    nearly = gauss_seidel(A, b * (1 + 1e-4), conditions, 0.4, start=cold.f, iterations=10_000)
    again = gauss_seidel(A, b, conditions, 0.4, start=cold.f, iterations=10_000)
    assert (again.iterations <= 1).all()
    assert nearly.iterations.sum() < 0.8 * cold.iterations.sum()


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_state_does_not_depend_on_its_batch(dtype: Any) -> None:
    conditions = Conditions.equalities(1) + Conditions.contacts(2, "cone")
    A, b = (x.astype(dtype) for x in batch(conditions, 23))
    whole = gauss_seidel(A, b, conditions, 0.4, tolerance=1e-4)
    assert whole.f.dtype == dtype
    for k in (0, 7, 22):
        one = gauss_seidel(A[k], b[k], conditions, 0.4, tolerance=1e-4)
        np.testing.assert_array_equal(one.f, whole.f[k])
        assert one.iterations == whole.iterations[k]


def test_axes_are_broadcast() -> None:
    conditions = Conditions.contacts(1)
    A, b = batch(conditions, 3)
    result = gauss_seidel(A[:, None], np.stack([b[0], b[1]]), conditions, np.full((3, 1, 3), 0.5))
    assert result.f.shape == result.a.shape == result.residual.shape == (3, 2, 3)
    assert result.iterations.shape == (3, 2)
    assert gauss_seidel(A[:0], b[:0], conditions).f.shape == (0, 3)


def test_the_limit_is_kept_and_a_row_that_nothing_moves_has_no_force() -> None:
    conditions = Conditions.inequalities(2)
    result = gauss_seidel(np.diag([1.0, 0.0]), [-1.0, -1.0], conditions, start=[5.0, 5.0], iterations=3)
    np.testing.assert_array_equal(result.f, [1, 0])
    np.testing.assert_array_equal(result.residual, [0, 1])
    assert gauss_seidel(np.eye(2), [-1.0, -1.0], conditions, iterations=0).iterations == 0
    problem = velocities(np.ones((2, 1)), 1.0, [1.0], Conditions.equalities(2), 0.0)
    assert gauss_seidel(*problem.arguments, tolerance=0.0, iterations=7).iterations <= 7


def test_sweeps_that_lead_nowhere_end_while_forces_are_finite() -> None:
    """A is not positive: each row makes the other one worse."""
    result = gauss_seidel([[1.0, -2.0], [-2.0, 1.0]], [-1.0, -1.0], Conditions.inequalities(2), iterations=100_000)
    assert np.isfinite(result.f).all()
    assert result.residual.max() > 1.0
    assert result.iterations < 100


def test_refusals() -> None:
    one = Conditions.inequalities(1)
    for error, says, arguments, options in [
        (ShapeError, "b has shape", (np.eye(1), [1.0, 2.0], one), {}),
        (ShapeError, "do not broadcast", (np.ones((2, 1, 1)), np.ones((3, 1)), one), {}),
        (FiniteError, r"A\[0, 0\] is inf", ([[np.inf]], [1.0], one), {}),
        (ShapeError, "start has shape", (np.eye(1), [1.0], one), {"start": [1.0, 2.0]}),
        (ShapeError, "tolerance is nan", (np.eye(1), [1.0], one), {"tolerance": np.nan}),
        (ShapeError, "iterations is -1", (np.eye(1), [1.0], one), {"iterations": -1}),
    ]:
        with pytest.raises(error, match=says):  # type: ignore[call-overload]
            gauss_seidel(*arguments, **options)  # type: ignore[arg-type]
