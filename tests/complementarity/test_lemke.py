"""Lemke's path: long ones end in solutions, also where numbers are computed anew; rays are directions without end."""

from __future__ import annotations

import numpy as np
import pytest

from bough.complementarity.lemke import LATE, lemke


@pytest.mark.parametrize("fresh", [0, 7, 50])
def test_long_paths_end_in_the_one_solution(fresh: int, rng: np.random.Generator) -> None:
    n = 6 * LATE
    B = rng.normal(size=(n, n)) / np.sqrt(n)
    M, q = B @ B.T + 0.1 * (B - B.T) + 0.1 * np.eye(n), rng.normal(size=n)
    path = lemke(M, q, np.ones(n), fresh)
    assert path.end == "solution"
    assert path.pivots > 2 * LATE
    z, basic = np.zeros(n), path.basic
    z[basic] = np.linalg.solve(M[np.ix_(basic, basic)], -q[basic])
    assert z.min() >= 0
    assert (M @ z + q)[~basic].min() >= 0


@pytest.mark.parametrize("seed", range(10))
def test_a_ray_can_be_followed_for_ever(seed: int) -> None:
    """Along it z ≥ 0, w ≥ 0 and w z = 0 stay true, with z₀ that does not become less."""
    rng, n = np.random.default_rng(seed), 3 * LATE
    J, d = rng.normal(size=(n, n // 4)), 1 + rng.random(n)
    M = J @ J.T / n
    path = lemke(M, rng.normal(size=n), d, 0)
    assert path.end == "ray"
    assert path.pivots > LATE
    ray = path.ray / path.ray.max()
    assert ray.min() > -1e-9
    w = M @ ray  # and d times the rate of z₀, which is zero for semidefinite M
    np.testing.assert_allclose(w * ray, 0, atol=1e-9)
    np.testing.assert_allclose(w, 0, atol=1e-9)
