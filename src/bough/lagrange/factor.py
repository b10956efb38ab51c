"""H = [[M, -Jᵀ], [-J, -C]] factorised and solved in linear time (Baraff 1996, appendix).

The block LDLᵀ in the order of `ordermatrix` has no fill-in, and every block that is inverted is definite, so nothing is
compared with a tolerance. With the blocks of one body (A, with all that is beyond it), of the constraint towards the
root (S) and of the body at its other end, the off-diagonal blocks of the factor are W = A⁻¹ Jᵢᵀ and V = S⁻¹ Jₚ.

C is the compliance of the constraints, a diagonal that is not negative. It is zero in the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from bough.algorithms.blocks import SmallFactor, transposed
from bough.lagrange import direct
from bough.lagrange.direct import Kept
from bough.lagrange.pair import Block, Pair, Rows
from bough.lagrange.system import System
from bough.scalar import Array, Bool, Part, Scalar, array, blank, both, dot, plus, select
from bough.tree.scans import inward, outward

__all__ = ["factor", "multipliers", "solve"]


def factor(
    system: System, mass: Array, jacobian: Array, compliance: Array | None = None, part: float | None = None
) -> tuple[Array, Array]:
    """The factor, and a verdict on each body with its constraint.

    It is 1 if all their pivots exceed a part of the diagonal entries they are left of, else -1; 0 without `part`.
    """
    F, verdicts, sums = blank(system.factor_size), array(system.tree.n), array(system.sums_size)

    def visit(pair: Pair, _: tuple[()]) -> tuple[tuple[()], None]:
        blocks = _eliminate(pair, sums, mass, jacobian, compliance)
        if part is not None:
            verdicts[pair.index] = blocks.verdict(part)
        pair.put(F, blocks.A.lower, blocks.W, blocks.S.lower, blocks.V)
        pair.pass_on(sums, (), blocks.up)
        return (), None

    inward(system, visit, ())
    return F, verdicts


def solve(system: System, F: Array, b: Array) -> Array:
    """The solution x = [v̇, λ] of H x = b, with b = [force, c]."""
    x, sums = blank(system.nv + system.nc), array(system.sums_size)
    c = Part(b, system.nv)

    def visit(pair: Pair, _: tuple[()]) -> tuple[tuple[()], Alone]:
        A, W, S, V = pair.get(F)
        beyond = None if pair.is_leaf else pair.gathered(sums)[0]
        alone, passed = _forward(pair, SmallFactor.stored(A), W, SmallFactor.stored(S), V, beyond, b, c)
        pair.pass_on(sums, passed, ())
        return (), alone

    kept = inward(system, visit, ())
    _backward(system, lambda pair, up: _recover(pair, (*pair.sides(F), kept[pair]), up), x)
    return x


def multipliers(
    system: System,
    mass: Array,
    jacobian: Array,
    force: Array,
    c: Array,
    compliance: Array | None = None,
    part: float | None = None,
) -> tuple[Array, Array]:
    """The solution x = [v̇, λ] of H x = [force, c], and the verdicts of `factor`, with one pass less than in turn."""
    x = blank(system.nv + system.nc)
    verdicts, sums = array(system.tree.n), array(system.sums_size)

    def visit(pair: Pair, _: tuple[()]) -> tuple[tuple[()], Kept | tuple[Block, Block, Alone]]:
        if compliance is None and pair.is_direct:
            done = direct.eliminate(pair, sums, mass, jacobian, force, c)
            if part is not None:
                verdicts[pair.index] = _verdict(done.pivots, done.diagonal, part)
            pair.pass_on(sums, done.passed, done.up)
            return (), done.kept
        blocks = _eliminate(pair, sums, mass, jacobian, compliance)
        if part is not None:
            verdicts[pair.index] = blocks.verdict(part)
        alone, passed = _forward(pair, blocks.A, blocks.W, blocks.S, blocks.V, blocks.beyond, force, c)
        pair.pass_on(sums, passed, blocks.up)
        return (), (_kept(blocks.W), _kept(blocks.V), alone)

    kept = inward(system, visit, ())

    def solved(pair: Pair, up: list[Scalar]) -> Solved:
        recover: Any = direct.recover if compliance is None and pair.is_direct else _recover
        found: Solved = recover(pair, kept[pair], up)
        return found

    _backward(system, solved, x)
    return x, verdicts


# ---- one body and one constraint -------------------------------------------------------------------------------------


Solved: TypeAlias = tuple[list[Scalar], list[Scalar]]
"""λ of a constraint and v̇ of its body."""

Alone: TypeAlias = tuple[tuple[Scalar, ...], tuple[Scalar, ...]]
"""A⁻¹ f and S⁻¹ (c + Jᵢ A⁻¹ f), with the force f on a body and what those beyond add to it: v̇ and -λ, were Jₚ zero."""


class Blocks(NamedTuple):
    """What the elimination of a body and of its constraint leaves.

    The blocks A and S were `own` and `outer` before. The body nearer to the root gets `up`, the lower triangle of
    Jₚᵀ S⁻¹ Jₚ; those beyond have added `beyond` to the force, unless there are none.
    """

    A: SmallFactor
    W: Rows
    S: SmallFactor
    V: Rows
    own: Rows
    outer: Rows
    up: list[Scalar]
    beyond: list[Scalar] | None

    def verdict(self, part: float) -> Scalar:
        """Whether all pivots exceed a part of the diagonal entries they are left of, as 1 or -1."""
        return _verdict(self.A.pivots + self.S.pivots, [row[-1] for row in (*self.own, *self.outer)], part)


def _eliminate(pair: Pair, sums: Array, mass: Array, jacobian: Array, compliance: Array | None) -> Blocks:
    """Eliminate a body, then its constraint; the sums hold what those before have added to A."""
    J, J_up = pair.jacobian(jacobian)
    # Dᵢ = Mᵢ - Σ cᵀ D c over the constraints c that were eliminated before
    own, beyond = pair.mass(mass), None
    if not pair.is_leaf:
        beyond, added = pair.gathered(sums)
        own = [plus(*rows) for rows in zip(own, added, strict=True)]
    A = SmallFactor(own)
    # D of the constraint is -S, with S = C + J A⁻¹ Jᵀ
    columns = [A.solve(row) for row in J]
    outer = [[dot(J[r], columns[c]) for c in range(r + 1)] for r in range(pair.p)]
    if compliance is not None:
        for row, soft in zip(outer, pair.read(compliance, "c", pair.p), strict=True):
            row[-1] = row[-1] + soft
    S = SmallFactor(outer)
    across = transposed(J_up, pair.m)
    sides = [S.solve(column) for column in across]  # columns of V
    up = [dot(row, sides[c]) for r, row in enumerate(across) for c in range(r + 1)]
    return Blocks(A, transposed(columns, pair.d), S, transposed(sides, pair.p), own, outer, up, beyond)


def _verdict(pivots: Sequence[Scalar], diagonal: Sequence[Scalar], part: float) -> Scalar:
    """Whether all pivots exceed a part of the diagonal entries they are left of, as 1 or -1."""
    sound: Bool = True
    for pivot, entry in zip(pivots, diagonal, strict=True):
        sound = both(sound, entry * part < pivot)
    return select(sound, 1.0, -1.0)


def _forward(
    pair: Pair,
    A: SmallFactor,
    W: Rows,
    S: SmallFactor,
    V: Rows,
    beyond: list[Scalar] | None,
    force: Array,
    c: Array,
) -> tuple[Alone, list[Scalar]]:
    """What a body and its constraint do alone, and what they add to the force on the body nearer to the root."""
    f = pair.read(force, "v", pair.d)
    if beyond is not None:
        f = plus(f, beyond)
    g = plus(pair.read(c, "c", pair.p), [dot(w, f) for w in transposed(W, pair.p)])
    return (tuple(A.solve(f)), tuple(S.solve(g))), [-dot(v, g) for v in transposed(V, pair.m)]


def _recover(pair: Pair, kept: tuple[Block, Block, Alone], up: list[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
    """λ = -(S⁻¹ (c + Jᵢ A⁻¹ f) + V v̇ₚ) and v̇ = A⁻¹ f + W λ."""
    W, V, (moving, pulling) = kept
    own = [-(g + dot(v, up)) for g, v in zip(pulling, V, strict=True)]
    return own, plus(moving, [dot(w, own) for w in W])


def _backward(
    system: System, solved: Callable[[Pair, list[Scalar]], tuple[list[Scalar], list[Scalar]]], x: Array
) -> None:
    """λ and v̇ from the roots to the leaves, each from the acceleration of the body nearer to the root."""
    lam = Part(x, system.nv)

    def visit(pair: Pair, _: tuple[()]) -> tuple[tuple[()], None]:
        own, motion = solved(pair, pair.read(x, "v_up", pair.m))
        pair.write(lam, "c", own)
        pair.write(x, "v", motion)
        return (), None

    outward(system, visit, ())


def _kept(rows: Rows) -> tuple[tuple[Scalar, ...], ...]:
    return tuple(map(tuple, rows))
