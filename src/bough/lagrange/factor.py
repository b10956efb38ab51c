"""H = [[M, -Jᵀ], [-J, -C]] factorised and solved in linear time (Baraff 1996, appendix).

The block LDLᵀ in the order of `ordermatrix` has no fill-in, and every block that is inverted is definite, so nothing is
compared with a tolerance. With the blocks of one body (A, with all that is beyond it), of the constraint towards the
root (S) and of the body at its other end, the off-diagonal blocks of the factor are W = A⁻¹ Jᵢᵀ and V = S⁻¹ Jₚ.

C is the compliance of the constraints, a diagonal that is not negative. It is zero in the paper.
"""

from __future__ import annotations

from typing import NamedTuple

from bough.algorithms.blocks import SmallFactor, dot, transposed
from bough.lagrange.system import Pair, Rows, System
from bough.scalar import Array, Index, Scalar, array
from bough.tree.scans import inward, outward

__all__ = ["factor", "multipliers", "solve"]


def factor(
    system: System, mass: Array, jacobian: Array, compliance: Array | None = None, part: float = 0.0
) -> tuple[Array, Array]:
    """The factor, and by how much each of its pivots exceeds a part of the diagonal entry it is left of."""
    F, margins = array(system.factor_size), array(system.nv + system.nc)

    def visit(pair: Pair, _: tuple[()]) -> tuple[tuple[()], None]:
        blocks = _eliminate(pair, F, mass, jacobian, compliance)
        _judge(pair, blocks, margins, system.nv, part)
        pair.put(F, blocks.A.lower, blocks.W, blocks.S.lower, blocks.V)
        return (), None

    inward(system, visit, ())
    return F, margins


def solve(system: System, F: Array, b: Array) -> Array:
    """The solution x = [v̇, λ] of H x = b, with b = [force, c]."""
    x = array(system.nv + system.nc)
    lam, c = _After(x, system.nv), _After(b, system.nv)

    def visit(pair: Pair, _: tuple[()]) -> tuple[tuple[()], None]:
        A, W, S, V = pair.get(F)
        _forward(pair, Blocks(SmallFactor.stored(A), W, SmallFactor.stored(S), V, [], []), b, c, x, lam)
        return (), None

    inward(system, visit, ())
    _backward(system, F, x, lam)
    return x


def multipliers(
    system: System,
    mass: Array,
    jacobian: Array,
    force: Array,
    c: Array,
    compliance: Array | None = None,
    part: float = 0.0,
) -> tuple[Array, Array]:
    """The solution x = [v̇, λ] of H x = [force, c], and the margins of the pivots, with one pass less than in turn."""
    x = array(system.nv + system.nc)  # before the margins: outputs of a program come in the order they are made in
    F, margins = array(system.factor_size), array(system.nv + system.nc)
    lam = _After(x, system.nv)

    def visit(pair: Pair, _: tuple[()]) -> tuple[tuple[()], None]:
        blocks = _eliminate(pair, F, mass, jacobian, compliance)
        _judge(pair, blocks, margins, system.nv, part)
        pair.put_sides(F, blocks.W, blocks.V)
        _forward(pair, blocks, force, c, x, lam)
        return (), None

    inward(system, visit, ())
    _backward(system, F, x, lam)
    return x, margins


# ---- one body and one constraint -------------------------------------------------------------------------------------


class Blocks(NamedTuple):
    """What the elimination of a body and of its constraint leaves, and what the blocks A and S were before."""

    A: SmallFactor
    W: Rows
    S: SmallFactor
    V: Rows
    own: Rows
    outer: Rows


def _eliminate(pair: Pair, F: Array, mass: Array, jacobian: Array, compliance: Array | None) -> Blocks:
    """Eliminate a body, then its constraint; F holds what those before have added to A."""
    J, J_up = pair.jacobian(jacobian)
    # Dᵢ = Mᵢ - Σ cᵀ D c over the constraints c that were eliminated before
    own = pair.mass(mass)
    if not pair.is_leaf:
        own = [_sum(*rows) for rows in zip(own, pair.lower(F), strict=True)]
    A = SmallFactor(own)
    # D of the constraint is -S, with S = C + J A⁻¹ Jᵀ
    columns = [A.solve(row) for row in J]
    outer = [[dot(J[r], columns[c]) for c in range(r + 1)] for r in range(pair.p)]
    if compliance is not None:
        for row, soft in zip(outer, pair.read(compliance, "c", pair.p), strict=True):
            row[-1] = row[-1] + soft
    S = SmallFactor(outer)
    sides = [S.solve(column) for column in transposed(J_up, pair.m)]  # columns of V
    # what the body nearer to the root gets: Jₚᵀ S⁻¹ Jₚ
    up = zip(transposed(J_up, pair.m), range(pair.m), strict=True)
    pair.add(F, "factor_up", [dot(row, sides[c]) for row, r in up for c in range(r + 1)])
    return Blocks(A, transposed(columns, pair.d), S, transposed(sides, pair.p), own, outer)


def _judge(pair: Pair, blocks: Blocks, margins: Array, nv: int, part: float) -> None:
    """Say by how much pivots exceed a part of the diagonal entries they are left of."""
    pair.write(margins, "v", _margins(blocks.A, blocks.own, part))
    pair.write(_After(margins, nv), "c", _margins(blocks.S, blocks.outer, part))


def _forward(pair: Pair, blocks: Blocks, force: Array, c: Array, x: Array, lam: Array) -> None:
    """Leave A⁻¹ f and S⁻¹ (c + Jᵢ A⁻¹ f) in the place of the solution; f is the force, less what those before add."""
    f = pair.read(force, "v", pair.d)
    if not pair.is_leaf:
        f = _sum(f, pair.read(x, "v", pair.d))
    g = _sum(pair.read(c, "c", pair.p), [dot(w, f) for w in transposed(blocks.W, pair.p)])
    pair.write(x, "v", blocks.A.solve(f))
    pair.write(lam, "c", blocks.S.solve(g))
    pair.add(x, "v_up", [-dot(v, g) for v in transposed(blocks.V, pair.m)])


def _backward(system: System, F: Array, x: Array, lam: Array) -> None:
    """λ = -(S⁻¹ (c + Jᵢ A⁻¹ f) + V v̇ₚ) and v̇ = A⁻¹ f + W λ, from the roots to the leaves."""

    def visit(pair: Pair, _: tuple[()]) -> tuple[tuple[()], None]:
        W, V = pair.get_sides(F)
        up = pair.read(x, "v_up", pair.m)
        own = [-(g + dot(v, up)) for g, v in zip(pair.read(lam, "c", pair.p), V, strict=True)]
        pair.write(lam, "c", own)
        pair.write(x, "v", _sum(pair.read(x, "v", pair.d), [dot(w, own) for w in W]))
        return (), None

    outward(system, visit, ())


class _After:
    """What of an array comes after its first entries."""

    def __init__(self, values: Array, start: int) -> None:
        self._values, self._start = values, start

    def __getitem__(self, index: Index) -> Scalar:
        value: Scalar = self._values[index + self._start]
        return value

    def __setitem__(self, index: Index, value: Scalar) -> None:
        self._values[index + self._start] = value


def _margins(factor: SmallFactor, lower: Rows, part: float) -> list[Scalar]:
    return [pivot - row[-1] * part for pivot, row in zip(factor.pivots, lower, strict=True)]


def _sum(a: list[Scalar], b: list[Scalar]) -> list[Scalar]:
    return [x + y for x, y in zip(a, b, strict=True)]
