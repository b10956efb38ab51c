"""H = [[M, -Jᵀ], [-J, -C]] factorised and solved in linear time: the procedures of Baraff 1996, appendix A.

Bodies and constraints are the nodes of the graph of H, a forest. Row n of H has two blocks from the diagonal on: n.D,
and n.J between n and its parent. Eliminated from the leaves to the roots, H = L D Lᵀ has no others. D is definite, of
bodies positive, of constraints negative: no tolerances. C, the compliance of constraints, is zero in the paper. The
parent of a body is a constraint: the scans take such a pair at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from bough.algorithms.blocks import Block, SmallFactor, transposed
from bough.scalar import Array, Scalar, array, blank, dot, minus
from bough.tree.scans import inward, outward

if TYPE_CHECKING:
    from bough.lagrange.pair import Pair
    from bough.lagrange.system import System

__all__ = ["Node", "factor", "go_back", "ordermatrix", "solve"]


def ordermatrix(root: int, around: Sequence[Sequence[tuple[int, int]]]) -> list[tuple[int, int, int]]:
    """Bodies from a root on, each with its constraint towards the root (-1: none) and the place of the one there."""
    backward, waiting = [], [(root, -1, 0)]
    while waiting:
        body, constraint, _ = n = waiting.pop()
        backward.append(n)
        waiting += [(child, k, len(backward)) for child, k in reversed(around[body]) if k != constraint]
    return backward


class Node:
    """A body or constraint: D, a lower triangle, at first as `given`; J by columns; soln, its part of b, then of x."""

    def __init__(self, D: Block, J: Block, soln: Sequence[Scalar] = (), Dinv: Any = None) -> None:
        self.D, self.given, self.J, self.soln, self.Dinv = D, D, J, soln, Dinv

    def factor(self, children: Block) -> Block:
        """Let D -= Σ c.Jᵀ c.D c.J, Dinv = D⁻¹, J = Dinv J; its parent gets Jᵀ D J."""
        self.D = [minus(*rows) for rows in zip(self.D, children, strict=True)] if children else self.D
        J, self.Dinv = self.J, SmallFactor(self.D)
        self.J = [self.Dinv.solve(column) for column in J]
        return [[dot(a, b) for b in self.J[: r + 1]] for r, a in enumerate(J)]

    def forward(self, children: Sequence[Scalar]) -> list[Scalar]:
        """Let soln -= Σ c.Jᵀ c.soln, which times Jᵀ its parent gets, and soln = Dinv soln."""
        soln = minus(self.soln, children) if children else self.soln
        self.soln = self.Dinv.solve(soln)
        return [dot(column, soln) for column in self.J]

    def backward(self, parent: Sequence[Scalar]) -> list[Scalar]:
        """What soln -= J parent.soln leaves."""
        return minus(self.soln, [dot(row, parent) for row in transposed(self.J, len(self.soln))])


def factor(
    system: System, mass: Array, jacobian: Array, compliance: Array | None = None, part: float = 0.0
) -> tuple[Array, Array]:
    """The factor; and by pair 1 if all pivots exceed a `part` of the diagonal entries they are left of, else -1."""
    F, verdicts, sums = blank(system.factor_size), array(system.tree.n), array(system.sums_size)

    def forward(pair: Pair, _: tuple[()]) -> tuple[tuple[()], None]:
        body, constraint = pair.nodes(mass, jacobian, compliance)
        pair.add(sums, constraint.factor(body.factor(pair.sum_D(sums))))
        pair.put(F, verdicts, part, body, constraint)
        return (), None

    inward(system, forward, ())
    return F, verdicts


def solve(system: System, F: Array, b: Array) -> Array:
    """The solution x = [v̇, λ] of H x = b, with b = [force, c]."""
    sums = array(system.sums_size)

    def forward(pair: Pair, _: tuple[()]) -> tuple[tuple[()], Any]:
        body, constraint = pair.get(F, pair.read(b, "v", pair.d), pair.read(b, "multiplier", pair.p))
        pair.add(sums, (), constraint.forward(body.forward(pair.sum_soln(sums))))
        return (), (tuple(body.soln), tuple(constraint.soln))

    kept = inward(system, forward, ())
    return go_back(system, lambda pair: pair.get(F, *kept[pair]))


def go_back(system: System, nodes: Callable[[Pair], tuple[Node, Node]]) -> Array:
    """The solution from what is left at the nodes, from the roots to the leaves."""
    x = blank(system.nv + system.nc)

    def backward(pair: Pair, _: tuple[()]) -> tuple[tuple[()], None]:
        body, constraint = nodes(pair)
        lam = constraint.backward(pair.read(x, "v_up", pair.m))
        pair.put_solution(x, body.backward(lam), lam)
        return (), None

    outward(system, backward, ())
    return x
