"""Dense elimination with a rank test: least-squares forces beside those of NumPy, doubts and contradictions."""

from __future__ import annotations

import numpy as np
import pytest

from bough.complementarity.elimination import eliminate


@pytest.mark.parametrize(("rows", "rank"), [(1, 1), (4, 3), (5, 5), (9, 6), (12, 7)])
def test_forces_on_rows_of_which_some_depend_on_others(rows: int, rank: int, rng: np.random.Generator) -> None:
    J = rng.normal(size=(rows, rank))
    A, weights = J @ J.T, rng.uniform(0.5, 2.0, rows)
    b = A @ rng.normal(size=rows)
    found = eliminate(rows, A.ravel().tolist(), b.tolist(), np.diagonal(A).tolist(), float(b @ b))
    assert not found.doubtful
    assert sum(x > 0.0 for x in found.inverse) == rank
    np.testing.assert_allclose(A @ found.forces, b, atol=1e-9 * np.abs(b).max())
    root = np.sqrt(weights)
    smallest = np.linalg.pinv(A / np.outer(root, root), rcond=1e-10) @ (b / root) / root
    np.testing.assert_allclose(found.least_forces(weights.tolist()), smallest, atol=1e-8 * np.abs(smallest).max())


def test_what_is_in_doubt() -> None:
    """A row that hardly differs from another, and one that says the same and asks for something else."""
    for J, b in (([[1.0, 0.0], [1.0, 1e-4]], [1.0, 1.0]), ([[1.0, 0.0], [1.0, 0.0]], [1.0, 1.1])):
        A = np.array(J) @ np.array(J).T
        assert eliminate(2, A.ravel().tolist(), b, [1.0, 1.0], 1.0).doubtful
