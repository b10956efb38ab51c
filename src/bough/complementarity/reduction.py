"""A problem without its equalities and its sliding rows, scaled to magnitude 1, and the way back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.complementarity.conditions import NONE, Conditions

__all__ = ["CONFLICT", "Problem", "Reduction", "reduced"]

Numbers = NDArray[np.floating[Any]]
Rows = NDArray[np.intp]

RANK = 1e-11
"""Singular values of the equalities, scaled to magnitude 1, below this part of the largest count as zero."""

CONFLICT = 1e-9
"""Rows that fail by more than this, in a problem of magnitude 1, are in conflict."""


@dataclass(frozen=True)
class Problem:
    """Find f such that a = A f + b meets all conditions."""

    A: Numbers
    b: Numbers
    conditions: Conditions
    mu: Numbers  # read at the rows of normals


@dataclass(frozen=True)
class Reduction:
    """What is left of a problem: inequalities and friction, of magnitude 1."""

    problem: Problem
    rows: Rows  # the rows of the whole problem that are left
    equalities: Rows
    conflicts: Rows  # equalities that contradict each other
    still: Numbers  # forces of the whole problem where those of the rows left are zero, (n,)
    response: Numbers  # how they follow the forces of the rows left, (n, m)

    def forces(self, f: Numbers) -> Numbers:
        """Forces of the whole problem from those of what is left."""
        return np.asarray(self.still + self.response @ f)


def reduced(A: Numbers, b: Numbers, conditions: Conditions, mu: Numbers, slip: Numbers) -> Reduction:
    """Take equalities and rows that slide out of a problem.

    A sliding row has the force -μ fₙ sign(slip) whatever its a. The equalities are met in the least-squares sense, by
    the smallest forces, for any forces of the rows that are left.
    """
    n = conditions.n
    normals = np.array(conditions.normals, np.intp)
    sliding = (slip != 0) & (normals != NONE)
    equal = np.array([kind == "equality" for kind in conditions.kinds], np.bool_)
    e, c = np.flatnonzero(equal), np.flatnonzero(~equal & ~sliding)

    # f = S f: a sliding row follows its normal
    S = np.eye(n)
    S[sliding] = 0
    S[np.flatnonzero(sliding), normals[sliding]] = -mu[normals[sliding]] * np.sign(slip[sliding])

    # one scale for all rows of a contact, so that μ keeps its meaning
    d = _scales(np.diagonal(A), np.where(normals == NONE, np.arange(n), normals))
    size = float(np.max(np.abs(d * b), initial=0)) or 1.0
    B, q = d[:, None] * (A @ S) * d, d * b / size

    # what the equalities make of it (Schur complement)
    inverse, lost = _pseudo_inverse(B[np.ix_(e, e)], q[e])
    gain = -inverse @ B[np.ix_(e, c)]
    left, offset = B[np.ix_(c, c)] + B[np.ix_(c, e)] @ gain, q[c] - B[np.ix_(c, e)] @ (inverse @ q[e])
    left[np.abs(left).max(axis=1, initial=0) < RANK] = 0  # rows that the equalities leave nothing of

    response = np.zeros((n, len(c)))
    response[c], response[e] = np.eye(len(c)), gain
    still = np.zeros(n)
    still[e] = -inverse @ q[e]
    return Reduction(
        Problem(left, offset, _kept(conditions, c), mu[c]),
        rows=c,
        equalities=e,
        conflicts=e[np.abs(lost) > CONFLICT],
        still=S @ (d * still) * size,
        response=S @ (d[:, None] * response) * size,
    )


def _scales(diagonal: Numbers, groups: Rows) -> Numbers:
    """Factors that bring the largest diagonal entry of each group of rows to 1."""
    largest = np.zeros(len(diagonal))
    np.maximum.at(largest, groups, diagonal)
    largest = largest[groups]
    return np.asarray(1 / np.sqrt(np.where(largest > 0, largest, 1)))


def _pseudo_inverse(B: Numbers, q: Numbers) -> tuple[Numbers, Numbers]:
    """The pseudo-inverse of B, and the part of q that B cannot reach."""
    U, values, Vt = np.linalg.svd(B)
    rank = int(np.sum(values > RANK * values.max(initial=0)))
    unreached = U[:, rank:]
    return (Vt[:rank].T / values[:rank]) @ U[:, :rank].T, unreached @ (unreached.T @ q)


def _kept(conditions: Conditions, rows: Rows) -> Conditions:
    """The conditions of some rows; normals are kept with their friction."""
    place = {int(row): k for k, row in enumerate(rows)} | {NONE: NONE}
    return Conditions([conditions.kinds[i] for i in rows], [place[conditions.normals[i]] for i in rows])
