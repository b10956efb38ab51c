"""Dantzig's algorithm, row after row, beside Lemke's path: the same motion, on problems of every kind."""

from __future__ import annotations

import numpy as np
import pytest

from bough.complementarity import Conditions
from bough.errors import ModelError, UnknownNameError
from bough.kernel.contact.complementarity import Solution, pivoting

BOUNDS = (-0.3, 0.4)
KINDS = {
    "inequalities": Conditions.inequalities(6),
    "boxes": Conditions.equalities(2) + Conditions.boxes(5) + Conditions.inequalities(2),
    "contacts": Conditions.contacts(4),
    "contacts beside others": Conditions.equalities(1) + Conditions.contacts(3) + Conditions.boxes(1),
}


def both(conditions: Conditions, seed: int, mu: float) -> tuple[Solution, Solution, float]:
    """A problem of velocities with fewer motions than rows, or more, by both methods; and the size of its b."""
    rng, n = np.random.default_rng(seed), conditions.n
    J = rng.normal(size=(n, n - 2 if seed % 2 else n + 3))
    problem = (J @ J.T, J @ rng.normal(size=J.shape[1]), conditions, mu)
    first, second = (pivoting(*problem, bounds=BOUNDS, method=method) for method in ("lemke", "dantzig"))
    return first, second, float(np.abs(problem[1]).max())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(12))
def test_both_methods_solve_and_agree_without_friction(kind: str, seed: int) -> None:
    lemke, dantzig, size = both(KINDS[kind], seed, 0.0)
    assert lemke.solved
    assert dantzig.solved
    assert dantzig.residual.max() < 1e-9 * size
    np.testing.assert_allclose(dantzig.a, lemke.a, atol=1e-8 * size)


@pytest.mark.parametrize("kind", ["contacts", "contacts beside others"])
@pytest.mark.parametrize("seed", range(12))
def test_friction_is_solved(kind: str, seed: int) -> None:
    _, dantzig, size = both(KINDS[kind], seed, 0.5)
    assert dantzig.solved
    assert dantzig.residual.max() < 1e-9 * size


def test_walls_that_close_in_are_named() -> None:
    A = np.array([[1.0, -1, 0], [-1, 1, 0], [0, 0, 1]])
    solution = pivoting(A, [-3.0, -1.0, -1.0], Conditions.inequalities(3), method="dantzig")
    assert solution.conflicts.any()
    assert "row 1 could not be driven to its condition" in solution.reasons[()]


def test_a_batch_takes_the_same_way() -> None:
    A, b = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0]])
    solution = pivoting(A, b, Conditions.inequalities(2), method="dantzig")
    np.testing.assert_allclose(solution.f, [[1 / 3, 1 / 3], [0.0, 0.5], [0.0, 0.0]], atol=1e-14)
    assert solution.pivots.tolist() == [2, 1, 0]


def test_cones_and_other_methods_are_refused() -> None:
    with pytest.raises(ModelError, match="method is 'dantzig' and row 1 is of kind 'cone', expected 'pyramid'"):
        pivoting(np.eye(3), np.ones(3), Conditions.contacts(1, "cone"), method="dantzig")
    with pytest.raises(UnknownNameError, match="method of pivoting"):
        pivoting(np.eye(1), np.ones(1), Conditions.inequalities(1), method="simplex")  # type: ignore[arg-type]
