"""Inverse dynamics with constraints: which forces of drives move a mechanism as it is to move.

Joint forces r = M v̇ + C would do it on a tree whose joints are all driven. With loops, and with some joints driven, the
rows of the loops and the drives together must: Lᵀ λ + Pᵀ u = r. Forces on rows that give the motion of r are what
forward dynamics looks for too: A f = J M⁻¹ r with J of both, loops first. Of many u the smallest is taken, Σ u².
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bough.algorithms.closed_loops import TIME_CONSTANT, aim_of_row
from bough.algorithms.constraint_rows import Terms
from bough.algorithms.joint_bounds import bounded_rows
from bough.algorithms.loops import constraint_terms, row_groups
from bough.algorithms.response import TreeResponse, tree_response
from bough.algorithms.rnea import rnea
from bough.complementarity.elimination import eliminate
from bough.model import Mechanism
from bough.scalar import Array, Bool, Index, Part, Scalar, array, each, either, fill, filled, inner, loop, maximum
from bough.scalar.tolerances import CONFLICT, RESIDUAL, SINGULAR_VALUE

__all__ = ["DrivenRows", "Driving", "inverse_dynamics"]

ZERO: Scalar = 0.0


@dataclass(frozen=True)
class DrivenRows:
    """Which coordinates have drives: of v, and of the velocities of joints that close loops."""

    tree: tuple[int, ...] = ()
    loops: tuple[int, ...] = ()


@dataclass(frozen=True)
class Driving:
    """The forces of drives, and how well they do.

    The residual is the largest joint force that is missing, in N or N m.
    """

    tau: Array  # (nv)
    loop_tau: Array  # (sum of nv of loops)
    residual: Scalar
    pivots: Array
    doubtful: Bool


def inverse_dynamics(m: Mechanism, q: Array, v: Array, a: Array, f_ext: Array | None, drives: DrivenRows) -> Driving:
    """The smallest forces of drives that give the accelerations a, which the constraints must allow."""
    n, terms = m.model.nv, constraint_terms(m, q, v)
    if len(drives.tree) == n and not drives.loops:
        return _all_driven(m, terms, rnea(m, q, v, a, f_ext), a)
    held, count = terms.count, terms.count + len(drives.tree) + len(drives.loops)
    driven, J = (*drives.tree, *(n + k for k in drives.loops)), array(count * n)
    fill(J, held * n, terms.matrix.__getitem__)
    bounded_rows(m, [(k, 0.0) for k in driven], q, None, Part(J, held * n))
    response, needed = tree_response(m, q, J, count), rnea(m, q, v, a, f_ext)
    half, groups = response.half(needed), row_groups(m)
    groups = [*groups, *(max(groups, default=0) + 1 + k for k in range(count - held))]
    right = response.drive(half)
    found = eliminate(count, response.A, right, _group_sums(response.A, groups), inner(right, right, count))
    weights = array(count)
    fill(Part(weights, held), count - held, lambda k: 1.0)
    forces = found.least_forces(weights)
    tau, loop_tau = array(n), array(sum(c.joint.nv for c in m.model.loops))
    for row, k in enumerate(drives.tree, start=held):
        tau[k] = forces[row]
    for row, k in enumerate(drives.loops, start=held + len(drives.tree)):
        loop_tau[k] = forces[row]
    missing = array(n)

    def lack(k: Index, residual: Scalar) -> Scalar:
        start: Scalar = needed[k]
        off = loop(count, lambda r, left: left - J[r * n + k] * forces[r], start)
        missing[k] = off
        return maximum(residual, maximum(off, -off))

    residual = loop(n, lack, ZERO)
    short = _square(response, half) * CONFLICT**2 < _square(response, response.half(missing))
    doubtful = either(response.light(SINGULAR_VALUE), found.doubtful)
    return Driving(tau, loop_tau, residual, response.pivots, either(doubtful, either(short, _breaks(terms, a, n))))


def _all_driven(m: Mechanism, terms: Terms, needed: Array, a: Array) -> Driving:
    """The smallest τ = r - Lᵀ λ, L Lᵀ λ = L r: whatever λ is, it gives the motion."""
    n, count, L = m.model.nv, terms.count, terms.matrix
    A, right = array(count * count), filled(count, lambda i: inner(Part(L, i * n), needed, n))

    def row(i: Index) -> None:
        fill(Part(A, i * count), count, lambda j: inner(Part(L, i * n), Part(L, j * n), n))

    each(count, row)
    found = eliminate(count, A, right, _group_sums(A, row_groups(m)), inner(right, right, count))

    def left(k: Index) -> Scalar:
        start: Scalar = needed[k]
        return loop(count, lambda r, total: total - L[r * n + k] * found.forces[r], start)

    none = array(sum(c.joint.nv for c in m.model.loops))
    return Driving(filled(n, left), none, ZERO, [], either(found.doubtful, _breaks(terms, a, n)))


def _square(response: TreeResponse, half: Array) -> Scalar:
    """τᵀ M⁻¹ τ from L⁻ᵀ τ: the square of joint forces in the one metric in which they are of one unit."""
    D = response.pivots
    return loop(response.tree.n, lambda k, total: total + half[k] * half[k] / D[k], ZERO)


def _breaks(terms: Terms, a: Array, n: int) -> Bool:
    """Whether the constraints do not allow accelerations; those that bring errors back, as usual, are allowed."""
    off, size = ZERO, RESIDUAL**2  # type: Scalar, Scalar
    for row in range(terms.count):
        bias: Scalar = terms.bias[row]
        slack = (aim_of_row(terms, row, 1.0 / TIME_CONSTANT) + bias) * 2.0
        size = size + slack * slack
        have = inner(Part(terms.matrix, row * n), a, n)
        off = off + (have + bias) * (have + bias)
        size = size + (have * have + bias * bias) * CONFLICT**2
    return size < off


def _group_sums(A: Array, groups: Sequence[int]) -> Array:
    """For each row the sum of the diagonal entries of its group, which its pivot is compared with."""
    n, sums = len(groups), {}  # type: int, dict[int, Scalar]
    for k, group in enumerate(groups):
        sums[group] = sums.get(group, 0.0) + A[k * (n + 1)]
    result = array(n)
    for k, group in enumerate(groups):
        result[k] = sums[group]
    return result
