"""Constraints that say some coordinates of their body outright: J = [1, N], in some order of these, as of a ball joint.

Where A is the block of the body, with all that is beyond it, the constraint has D = -J A⁻¹ Jᵀ. For such a J the inverse
of that is found at once. With the rates u = J v̇ and the other coordinates w of the body for unknowns, v̇ = T [w, u],

    Tᵀ A T = [[P, Bᵀ], [B, Q]]    gives    D⁻¹ = -Σ,    where    Σ = Q - B K    and    K = P⁻¹ Bᵀ.

Then u = -(c + Jₚ v̇ₚ), λ = Σ u + h and w = P⁻¹ f₁ - K u, where Tᵀ f = [f₁, f₂] is the force and h = Kᵀ f₁ - f₂.
"""

from __future__ import annotations

from collections.abc import Sequence

from bough.algorithms.blocks import Block, SmallFactor, symmetric, transposed
from bough.lagrange.factor import Node
from bough.scalar import Scalar, dot, minus

__all__ = ["Leading", "UnitBody", "UnitConstraint", "leading_columns", "rates_and_rest"]

Leading = Sequence[tuple[int, float]]
"""By row the coordinate of the body that it says, and the sign, 1 or -1."""


def leading_columns(known: Sequence[float | None], p: int, d: int) -> Leading:
    """For each of p rows of a block a column that has 1 or -1 there and zeros elsewhere; none if some row has none."""
    rows, found = [known[r * d : (r + 1) * d] for r in range(p)], []
    for r, row in enumerate(rows):
        others = rows[:r] + rows[r + 1 :]
        found += [(k, x) for k, x in enumerate(row) if x in (1.0, -1.0) and all(o[k] == 0.0 for o in others)][:1]
    return [(k, float(x or 0.0)) for k, x in found] if len(found) == p else []


def rates_and_rest(J: Block, leading: Leading, d: int) -> list[list[Scalar]]:
    """The columns of T, from the rows of J."""
    first = [k for k, _ in leading]
    rest = [k for k in range(d) if k not in first]
    T: list[list[Scalar]] = [[1.0 if i == k else 0.0 for i in range(d)] for k in (*rest, *first)]
    for column, k in zip(T, rest, strict=False):
        for row, (i, sign) in zip(J, leading, strict=True):
            column[i] = row[k] * -sign
    return T


class UnitBody(Node):
    """A body that the rows of its constraint begin with; J has the columns of K."""

    def __init__(self, D: Block, J: Block, soln: Sequence[Scalar], T: Block) -> None:
        super().__init__(D, J, soln)
        self.T = T

    def factor(self, children: Block) -> Block:
        """Let Dinv = P⁻¹ and J = K; the constraint gets Σ."""
        A = symmetric([minus(*rows) for rows in zip(self.D, children, strict=True)] if children else self.D)
        moved, q = [[dot(row, column) for row in A] for column in self.T], len(A) - len(self.J)
        D = [[dot(column, moved[j]) for j in range(i + 1)] for i, column in enumerate(self.T)]
        self.Dinv = SmallFactor(D[:q])
        B, Q = [row[:q] for row in D[q:]], [row[q:] for row in D[q:]]
        self.J = [self.Dinv.solve(row) for row in B]
        return [minus(row, [dot(b, k) for k in self.J[: r + 1]]) for r, (row, b) in enumerate(zip(Q, B, strict=True))]

    def forward(self, children: Sequence[Scalar]) -> list[Scalar]:
        """Let soln = P⁻¹ f₁; the constraint gets h."""
        f = minus(self.soln, children) if children else self.soln
        f, q = [dot(column, f) for column in self.T], len(f) - len(self.J)
        self.soln = self.Dinv.solve(f[:q])
        return minus([dot(column, f[:q]) for column in self.J], f[q:])

    def backward(self, parent: Sequence[Scalar]) -> list[Scalar]:
        """The motion v̇ = T [w, u], with w = soln - K u."""
        u = parent[: len(self.J)]
        w = super().backward(u)
        return [dot(row, [*w, *u]) for row in transposed(self.T, len(self.T))]


class UnitConstraint(Node):
    """The constraint of a `UnitBody`, with signs so that rows begin with 1: J has columns of Jₚ, Dinv is -Σ."""

    def factor(self, children: Block) -> Block:
        """Let Dinv = -Σ; its parent gets Jᵀ D J."""
        self.Dinv = children
        moved = [[dot(row, column) for row in symmetric(children)] for column in self.J]
        return [[-dot(a, b) for b in moved[: r + 1]] for r, a in enumerate(self.J)]

    def forward(self, children: Sequence[Scalar]) -> list[Scalar]:
        """Let soln = [c, h]; its parent gets Jᵀ (Σ c - h)."""
        pull = minus([dot(row, self.soln) for row in symmetric(self.Dinv)], children)
        self.soln = [*self.soln, *children]
        return [dot(column, pull) for column in self.J]

    def backward(self, parent: Sequence[Scalar]) -> list[Scalar]:
        """The rates and multipliers, [u, λ]."""
        c, h = self.soln[: len(self.Dinv)], self.soln[len(self.Dinv) :]
        u = [-(x + dot(row, parent)) for x, row in zip(c, transposed(self.J, len(c)), strict=True)]
        return [*u, *(dot(row, u) + x for row, x in zip(symmetric(self.Dinv), h, strict=True))]
