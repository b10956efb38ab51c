"""A problem without its equalities and its sliding rows, scaled to magnitude 1, and the way back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.complementarity.conditions import NO_NORMAL, Conditions
from bough.scalar.lazy import cached_property
from bough.scalar.tolerances import RESIDUAL, ROUNDING, VANISHING

__all__ = ["Numbers", "Problem", "Reduction", "Rows", "reduced"]

Numbers = NDArray[np.floating[Any]]
Rows = NDArray[np.intp]

STEADY = 1e-9
"""What may be added to a diagonal to solve equations, if it changes no solution: redundant rows then share forces."""

NEARLY_HELD = 1e-3
"""An equality whose diagonal entry is below this part of the largest may be nearly held by others, and is not scaled up
any further: rounding of the largest then stays below `VANISHING`."""


@dataclass(frozen=True)
class Problem:
    """Find f such that a = A f + b meets all conditions."""

    A: Numbers
    b: Numbers
    conditions: Conditions
    mu: Numbers  # read at the rows of friction
    limits: Numbers  # read at the rows of boxes, whose forces are not negative and not larger than this

    @cached_property
    def size(self) -> Numbers:
        """How much forces move their rows, at least 1: more where others follow; one for both rows of a cone."""
        size, i = np.maximum(np.diagonal(self.A), 1.0), self.conditions.cones
        size[i] = size[i + 1] = np.maximum(size[i], size[i + 1])
        return size

    @cached_property
    def coupling(self) -> Numbers:
        """A / size - 1, a little more than singular."""
        coupling = self.A / self.size[:, None]
        coupling[np.diag_indices_from(coupling)] -= 1.0 - STEADY
        return coupling


@dataclass(frozen=True)
class Reduction:
    """What is left of a problem: inequalities, boxes and friction, of magnitude 1."""

    problem: Problem
    rows: Rows  # the rows of the whole problem that are left
    conflicts: Rows  # equalities that contradict each other
    still: Numbers  # forces of the whole problem where those of the rows left are zero, (n,)
    response: Numbers  # how they follow the forces of the rows left, (n, m)

    def forces(self, f: Numbers) -> Numbers:
        """Forces of the whole problem from those of what is left."""
        return np.asarray(self.still + self.response @ f)


def reduced(whole: Problem, slip: Numbers) -> Reduction:
    """Take equalities and rows that slide out of a problem.

    A sliding row has the force -μ fₙ sign(slip) for any a. The equalities are met in the least-squares sense, by the
    smallest forces, for any forces of the rows that are left.
    """
    A, b, conditions, mu = whole.A, whole.b, whole.conditions, whole.mu
    n, normals = conditions.n, conditions.normal
    sliding = np.flatnonzero((slip != 0) & (normals != NO_NORMAL))
    e, c, left = _parts(conditions, tuple(sliding.tolist()))

    # scaled so that A has the diagonal 1, and b the largest entry 1; cones stay round
    diagonal, first = np.diagonal(A).copy(), conditions.cones
    diagonal[first] = diagonal[first + 1] = np.maximum(diagonal[first], diagonal[first + 1])
    d = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1))
    mu = mu * np.where(normals == NO_NORMAL, 1, d[normals] / d)
    size = float(np.max(np.abs(d * b), initial=0)) or 1.0
    B, q = d[:, None] * A * d, d * b / size

    # f = S f: a sliding row follows its normal
    S = np.eye(n)
    S[sliding] = 0
    S[sliding, normals[sliding]] = -mu[sliding] * np.sign(slip[sliding])
    if sliding.size:
        B = B @ S

    # what the equalities make of the rest (Schur complement)
    matrix, offset, still = B[c[:, None], c], q[c], np.zeros(n)
    lost: Numbers = np.zeros(0)
    response = S[:, c]
    if e.size:
        inverse, lost = _pseudo_inverse(B[e[:, None], e], q[e], diagonal[e])
        gain = inverse @ B[e[:, None], c]
        still[e], response[e] = -inverse @ q[e], -gain
        matrix -= B[c[:, None], e] @ gain
        offset += B[c[:, None], e] @ still[e]
        matrix[np.abs(matrix).max(axis=1, initial=0) < VANISHING] = 0  # rows that the equalities leave nothing of
    return Reduction(
        Problem(matrix, offset, left, mu[c], (whole.limits / (d * size))[c]),
        rows=c,
        conflicts=e[(np.abs(lost) > RESIDUAL) & (np.abs(lost) * size > RESIDUAL * d[e])],
        still=d * still * size,
        response=d[:, None] * response * size,
    )


@lru_cache(maxsize=256)
def _parts(conditions: Conditions, sliding: tuple[int, ...]) -> tuple[Rows, Rows, Conditions]:
    """The rows of equalities, the other rows that do not slide, and their conditions."""
    rows = [i for i in range(conditions.n) if conditions.kinds[i] != "equality" and i not in sliding]
    return conditions.of("equality"), np.array(rows, np.intp), conditions.some(rows)


def _pseudo_inverse(B: Numbers, q: Numbers, diagonal: Numbers) -> tuple[Numbers, Numbers]:
    """The pseudo-inverse of B, and the part of q that B cannot reach.

    B was scaled by a `diagonal`. A row with a small entry there may be nearly held by others: what is left of it is a
    difference of numbers as large as theirs, and as uncertain. Scaled up, its rounding would look like rank, which
    shows in q not being met; then such rows are scaled back.
    """
    least = NEARLY_HELD * diagonal.max()
    t = np.sqrt(np.maximum(diagonal, 0.0) / np.maximum(diagonal, least)) if least > 0.0 else np.ones_like(q)

    def failing(inverse: Numbers) -> float:
        off, size = t * (q - B @ (inverse @ q)), np.abs(t * q).max()
        return float(np.abs(off).max() / size) if size else 0.0

    found = _of_rank(B, q, np.ones_like(q))
    if failing(found[0]) > ROUNDING:
        found = min(found, _of_rank(B, q, t), key=lambda one: failing(one[0]))
    return found


def _of_rank(B: Numbers, q: Numbers, t: Numbers) -> tuple[Numbers, Numbers]:
    """The pseudo-inverse with rows and columns scaled by t, and the part of q it cannot reach."""
    U, values, Vt = _singular(t[:, None] * B * t)
    rank = int(np.sum(values > VANISHING * values.max(initial=0)))
    unreached = U[:, rank:]
    lost = np.divide(unreached @ (unreached.T @ (t * q)), t, out=q.copy(), where=t > 0.0)
    return t[:, None] * ((Vt[:rank].T / values[:rank]) @ U[:, :rank].T) * t, lost


def _singular(B: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """The singular value decomposition; of a matrix for which LAPACK's does not converge, by that of its transpose."""
    try:
        return np.linalg.svd(B)
    except np.linalg.LinAlgError:
        U, values, Vt = np.linalg.svd(B.T)
        return Vt.T, values, U.T
