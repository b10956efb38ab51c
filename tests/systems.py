"""Random systems of bodies and constraints, and their matrices in full."""

from __future__ import annotations

from typing import Any

import numpy as np

import bough

__all__ = ["dense", "random_blocks", "random_system"]

Floats = np.ndarray[Any, np.dtype[Any]]


def random_system(rng: np.random.Generator, bodies: int) -> bough.maximal.System:
    """A forest of bodies of dimensions 1 … 6, in no particular order, with constraints that can all be independent."""
    sizes = rng.integers(1, 7, size=bodies)
    names = rng.permutation(bodies) + 1
    constraints = []
    for k in range(bodies):
        other = int(rng.integers(-1, k + 1))  # -1: none, k: the world
        if other < 0:
            continue
        limit = sizes[names[k] - 1]  # the body beyond the constraint; the world and the others are nearer to the root
        p = int(rng.integers(0, limit + 1))
        pair = [int(names[k]), 0 if other == k else int(names[other])]
        constraints.append((*rng.permutation(pair).tolist(), p))
    return bough.maximal.System(sizes, [constraints[k] for k in rng.permutation(len(constraints))])


def random_blocks(
    system: bough.maximal.System, rng: np.random.Generator, size: tuple[int, ...] = ()
) -> tuple[Floats, Floats]:
    """Positive-definite mass blocks, and blocks for the constraints whose rows are as independent as can be."""
    masses = [np.zeros((*size, 0))]
    for d in system.bodies:
        A = rng.normal(size=(*size, d, d))
        masses.append((A @ np.swapaxes(A, -2, -1) + np.eye(d)).reshape(*size, -1))
    blocks = [np.zeros((*size, 0))]
    sizes = (0, *system.bodies)
    for a, b, p in system.constraints:
        for d in (sizes[a], sizes[b]):
            A = rng.normal(size=(*size, max(p, d), min(p, d)))
            Q = np.linalg.qr(A).Q
            blocks.append((np.swapaxes(Q, -2, -1) if p < d else Q).reshape(*size, -1))
    return np.concatenate(masses, axis=-1), np.concatenate(blocks, axis=-1)


def dense(system: bough.maximal.System, mass: Floats, jacobian: Floats, compliance: Floats | None = None) -> Floats:
    """H = [[M, -Jᵀ], [-J, -C]] of one system."""
    nv, n = system.nv, system.nv + system.nc
    H = np.zeros((n, n))
    for v, d, start in zip(system.v_starts, system.bodies, system.mass_starts, strict=False):
        H[v : v + d, v : v + d] = mass[start : start + d * d].reshape(d, d)
    for k, (a, b, p) in enumerate(system.constraints):
        rows = slice(nv + system.c_starts[k], nv + system.c_starts[k] + p)
        for side, body in enumerate((a, b)):
            if body:
                columns = slice(*system.v_starts[body - 1 : body + 1])
                block = jacobian[slice(*system.jacobian_starts[2 * k + side : 2 * k + side + 2])]
                H[rows, columns] = -block.reshape(p, system.bodies[body - 1])
    H[:nv, nv:] = H[nv:, :nv].T
    if compliance is not None:
        H[range(nv, n), range(nv, n)] = -compliance
    return H
