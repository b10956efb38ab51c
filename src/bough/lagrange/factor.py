"""H = [[M, -Jᵀ], [-J, -C]] factorised and solved in linear time (Baraff 1996, appendix).

The block LDLᵀ in the order of `ordermatrix` has no fill-in, and every block that is inverted is definite, so nothing is
compared with a tolerance. With the blocks of one body (A, with all that is beyond it), of the constraint towards the
root (S) and of the body at its other end, the off-diagonal blocks of the factor are W = A⁻¹ Jᵢᵀ and V = S⁻¹ Jₚ.

C is the compliance of the constraints, a diagonal that is not negative. It is zero in the paper.
"""

from __future__ import annotations

from bough.algorithms.blocks import SmallFactor
from bough.lagrange.system import Pair, Rows, System
from bough.scalar import Array, Scalar, array
from bough.tree.scans import inward, outward

__all__ = ["factor", "multipliers", "solve"]


def factor(
    system: System, mass: Array, jacobian: Array, compliance: Array | None = None, part: float = 0.0
) -> tuple[Array, Array]:
    """The factor, and by how much each of its pivots exceeds a part of the diagonal entry it is left of."""
    F, margins = array(system.factor_size), array(system.nv + system.nc)

    def eliminate(pair: Pair, _: tuple[()]) -> tuple[tuple[()], None]:
        J, J_up = pair.jacobian(jacobian)
        # Dᵢ = Mᵢ - Σ cᵀ D c over the constraints c that were eliminated before
        own = pair.mass(mass)
        if not pair.is_leaf:
            own = [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(own, pair.lower(F), strict=True)]
        A = SmallFactor(own)
        pair.write(margins, "v", _margins(A, own, part))
        # D of the constraint is -S, with S = C + J A⁻¹ Jᵀ
        columns = [A.solve(row) for row in J]
        outer = [[_dot(J[r], columns[c]) for c in range(r + 1)] for r in range(pair.p)]
        if compliance is not None:
            for row, soft in zip(outer, pair.read(compliance, "c", pair.p), strict=True):
                row[-1] = row[-1] + soft
        S = SmallFactor(outer)
        pair.write(margins, "c", _margins(S, outer, part), offset=system.nv)
        V = _transposed([S.solve(column) for column in _transposed(J_up, pair.m)], pair.p)
        pair.put(F, A.lower, _transposed(columns, pair.d), S.lower, V)
        # what the body nearer to the root gets
        up = _transposed(J_up, pair.m), _transposed(V, pair.m)
        pair.add(F, "factor_up", [_dot(up[0][r], up[1][c]) for r in range(pair.m) for c in range(r + 1)])
        return (), None

    inward(system, eliminate, ())
    return F, margins


def solve(system: System, F: Array, b: Array) -> Array:
    """The solution x = [v̇, λ] of H x = b, with b = [force, c]."""
    x = array(system.nv + system.nc)
    _substitute(system, F, b, x)
    return x


def multipliers(
    system: System, mass: Array, jacobian: Array, b: Array, compliance: Array | None = None, part: float = 0.0
) -> tuple[Array, Array]:
    """The solution x = [v̇, λ] of H x = b, and the margins of the pivots."""
    x = array(system.nv + system.nc)  # before the margins: outputs of a program come in the order they are made in
    F, margins = factor(system, mass, jacobian, compliance, part)
    _substitute(system, F, b, x)
    return x, margins


def _substitute(system: System, F: Array, b: Array, x: Array) -> None:
    """Forward and backward substitution; x is zero at first."""
    nv = system.nv

    def forward(pair: Pair, _: tuple[()]) -> tuple[tuple[()], None]:
        _A, W, _S, V = pair.get(F)
        f = pair.read(b, "v", pair.d)
        if not pair.is_leaf:
            f = _sum(f, pair.read(x, "v", pair.d))
        g = [c + _dot(w, f) for c, w in zip(pair.read(b, "c", pair.p, nv), _transposed(W, pair.p), strict=True)]
        pair.write(x, "v", f)
        pair.write(x, "c", g, nv)
        pair.add(x, "v_up", [-_dot(v, g) for v in _transposed(V, pair.m)])
        return (), None

    def backward(pair: Pair, _: tuple[()]) -> tuple[tuple[()], None]:
        A, W, S, V = pair.get(F)
        # λ = -S⁻¹ (c + Jᵢ A⁻¹ f + Jₚ v̇ₚ),   v̇ = A⁻¹ (f + Jᵢᵀ λ)
        up = pair.read(x, "v_up", pair.m)
        own = SmallFactor.stored(S).solve(pair.read(x, "c", pair.p, nv))
        lam = [-(s + _dot(v, up)) for s, v in zip(own, V, strict=True)]
        alone = SmallFactor.stored(A).solve(pair.read(x, "v", pair.d))
        pair.write(x, "c", lam, nv)
        pair.write(x, "v", [a + _dot(w, lam) for a, w in zip(alone, W, strict=True)])
        return (), None

    inward(system, forward, ())
    outward(system, backward, ())


def _margins(factor: SmallFactor, lower: Rows, part: float) -> list[Scalar]:
    return [pivot - row[-1] * part for pivot, row in zip(factor.pivots, lower, strict=True)]


def _dot(a: list[Scalar], b: list[Scalar]) -> Scalar:
    total: Scalar = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total


def _sum(a: list[Scalar], b: list[Scalar]) -> list[Scalar]:
    return [x + y for x, y in zip(a, b, strict=True)]


def _transposed(rows: Rows, columns: int) -> Rows:
    return [[row[k] for row in rows] for k in range(columns)]
