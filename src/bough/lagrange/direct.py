"""Constraints that say some coordinates of a body outright: J = [1, N], in some order of the coordinates.

So it is known of a ball joint, for one. With the rates u = J v̇ and the other coordinates w of the body for unknowns,
v̇ = [u - N w, w], the constraint reads u = -(c + Jₚ v̇ₚ), and no S has to be formed and factorised: in the blocks of

    [[A₁₁, B], [Bᵀ, A₂₂]]    of u and w, which obey    A₁₁ u + B w = λ + f₁    and    Bᵀ u + A₂₂ w = f₂,

only A₂₂ is. With K = A₂₂⁻¹ Bᵀ and Σ = A₁₁ - B K the multipliers are λ = Σ u + Kᵀ f₂ - f₁, and w = A₂₂⁻¹ f₂ - K u.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from bough.algorithms.blocks import SmallFactor, transposed
from bough.lagrange.pair import Block, Pair, Rows
from bough.scalar import Array, Scalar, dot, minus, plus

__all__ = ["Eliminated", "Kept", "eliminate", "recover"]

Numbers: TypeAlias = tuple[Scalar, ...]

Kept: TypeAlias = tuple[Numbers, Numbers, Numbers, tuple[Numbers, ...], tuple[Numbers, ...], Numbers]
"""Entries of J that are not known, c, Kᵀ f₂ - f₁, rows of Kᵀ, the lower triangle of Σ, and A₂₂⁻¹ f₂."""


class Eliminated(NamedTuple):
    """What the elimination of a body and of its constraint leaves.

    The body nearer to the root gets the force `passed` and `up`, a lower triangle. The block of the body is positive
    definite if the `pivots`, left of the entries `diagonal`, are all positive.
    """

    kept: Kept
    passed: list[Scalar]
    up: list[Scalar]
    pivots: list[Scalar]
    diagonal: list[Scalar]


def eliminate(pair: Pair, sums: Array, mass: Array, jacobian: Array, force: Array, c: Array) -> Eliminated:
    """Eliminate a body and its constraint; the sums hold what those before have added to its block and forces."""
    entries = pair.unknown(jacobian)
    N, J_up, aims = _constraint(pair, entries, pair.read(c, "c", pair.p))
    own, f = pair.mass(mass), pair.read(force, "v", pair.d)
    alone = [own[k][k] for k in pair.leading]
    if not pair.is_leaf:
        beyond, added = pair.gathered(sums)
        f = plus(f, beyond)
        own = [plus(*rows) for rows in zip(own, added, strict=True)]
    A11, A12, A22 = _blocks(own, pair.leading, pair.rest)
    f1, f2 = [f[k] for k in pair.leading], [f[k] for k in pair.rest]
    # Tᵀ A T and Tᵀ f, with T = [[1, -N], [0, 1]]
    across, n = transposed(N, len(f2)), range(len(f2))
    B = [minus(A12[r], [dot(A11[r], column) for column in across]) for r in range(pair.p)]
    A12_columns, B_columns = transposed(A12, len(f2)), transposed(B, len(f2))
    A22 = [[A22[i][j] - dot(across[i], A12_columns[j]) - dot(B_columns[i], across[j]) for j in range(i + 1)] for i in n]
    f2 = minus(f2, [dot(column, f1) for column in across])
    last = SmallFactor(A22)
    K = [tuple(last.solve(row)) for row in B]
    sigma = [[A11[r][q] - dot(B[r], K[q]) for q in range(r + 1)] for r in range(pair.p)]
    whole = _symmetric(sigma)
    h = tuple(minus([dot(row, f2) for row in K], f1))
    columns = transposed(J_up, pair.m)
    moved = [[dot(row, column) for row in whole] for column in columns]
    up = [dot(columns[i], moved[j]) for i in range(pair.m) for j in range(i + 1)]
    pull = minus(h, [dot(row, aims) for row in whole])
    kept = (tuple(entries), tuple(aims), h, tuple(K), tuple(map(tuple, sigma)), tuple(last.solve(f2)))
    # nothing is divided by pivots of Σ: what they would tell, a diagonal block of M tells at once
    first = (alone, alone) if pair.is_diagonal else (SmallFactor(sigma).pivots, [A11[r][r] for r in range(pair.p)])
    pivots, diagonal = first[0] + last.pivots, first[1] + [row[-1] for row in A22]
    return Eliminated(kept, [dot(column, pull) for column in columns], up, pivots, diagonal)


def recover(pair: Pair, kept: Kept, up: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
    """λ and v̇ of a constraint and its body, given the acceleration of the body nearer to the root."""
    entries, aims, h, K, sigma, alone = kept
    N, J_up, _ = _constraint(pair, entries, aims)
    u = [-(goal + dot(row, up)) for goal, row in zip(aims, J_up, strict=True)]
    w = minus(alone, [dot(row, u) for row in transposed(K, len(alone))])
    lam = [sign * (dot(row, u) + x) for sign, row, x in zip(pair.signs, _symmetric(sigma), h, strict=True)]
    motion: list[Scalar] = [0.0] * pair.d
    for k, x in zip(pair.rest, w, strict=True):
        motion[k] = x
    for k, x, row in zip(pair.leading, u, N, strict=True):
        motion[k] = x - dot(row, w)
    return lam, motion


def _constraint(pair: Pair, entries: Sequence[Scalar], aims: Sequence[Scalar]) -> tuple[Rows, Rows, list[Scalar]]:
    """N, the rows for the body nearer to the root, and c, of a constraint whose rows begin with 1."""
    J, J_up = pair.filled(entries)
    N = [[sign * row[k] for k in pair.rest] for sign, row in zip(pair.signs, J, strict=True)]
    turned = [[sign * x for x in row] for sign, row in zip(pair.signs, J_up, strict=True)]
    return N, turned, [sign * x for sign, x in zip(pair.signs, aims, strict=True)]


def _symmetric(lower: Block) -> Rows:
    """All of a matrix given by its lower triangle."""
    n = range(len(lower))
    return [[lower[max(i, j)][min(i, j)] for j in n] for i in n]


def _blocks(lower: Rows, first: Sequence[int], rest: Sequence[int]) -> tuple[Rows, Rows, Rows]:
    """Blocks of a symmetric matrix given by its lower triangle."""

    def block(rows: Sequence[int], columns: Sequence[int]) -> Rows:
        return [[lower[max(i, j)][min(i, j)] for j in columns] for i in rows]

    return block(first, first), block(first, rest), block(rest, rest)
