"""Articulated bodies with two handles, joined in pairs: forward dynamics in O(log N) rounds.

This is the divide and conquer that Featherstone & Orin 2000 name in sections 3.5 and 4. What is outside touches a piece
of a chain at two handles only: the body that carries it moves with a, and what hangs on its last body is pushed with g.
Then

    f = A a + Bᵀ g + p        is the force through its first joint, and
    b = B a - C g + c         the acceleration of its last body.

Two neighbours on a chain are `joined` to one such articulated body; a *tip* has nothing on its last body, and only A
and p. Joining all neighbours in pairs, again and again, leaves one body after log₂ N rounds, and `split` goes back.
In contrast to the form with two forces, which inverts the inertia of each body, nothing is inverted but what ABA
inverts, and 1 + C A, which is regular.

All is in the coordinates of the bodies at the handles. Each rule is for one pair: its program is run on all pairs of a
round at once. `runs` has the articulated bodies to begin with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bough.algorithms.blocks import Block, SmallFactor, symmetric, transposed
from bough.scalar import Array, Scalar, dot, leaves, rebuild, select, sqrt
from bough.spatial import NO_ARTICULATED, NO_FORCE, REST, STAY, ArticulatedInertia, Force, Motion, Transform, Vector

__all__ = [
    "HANDLES", "MOVED", "NOTHING", "NO_TIP", "Handles", "Moved", "Tip", "joined", "motion", "moved_on",
    "moved_together", "split",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Tip:
    """An articulated body with one handle: f = A a + p."""

    A: ArticulatedInertia
    p: Force


@dataclass(frozen=True, slots=True)
class Handles:
    """An articulated body with two handles. B by rows, each a form on motions of the first; C by its lower triangle."""

    tip: Tip
    B: tuple[Force, ...]
    C: tuple[tuple[Scalar, ...], ...]
    c: Motion


@dataclass(frozen=True, slots=True)
class Moved:
    """Placement of the last body of a run in the body that carries the run, and its velocity relative to that."""

    X: Transform
    v: Motion


NO_TIP = Tip(NO_ARTICULATED, NO_FORCE)
UNITS = tuple(Force.of([float(i == k) for i in range(6)]) for k in range(6))
NOTHING = Handles(NO_TIP, UNITS, tuple((0.0,) * k for k in range(1, 7)), REST)
"""No body at all: what pushes and what moves at one handle does so at the other."""

HANDLES = {True: len(leaves(NOTHING)), False: len(leaves(NO_TIP))}
"""How many numbers an articulated body has, with two handles and with one."""

MOVED = len(leaves(Moved(STAY, REST)))


def motion(parts: Array) -> Motion:
    """A motion from six numbers, angular part first."""
    return Motion(Vector(parts[0], parts[1], parts[2]), Vector(parts[3], parts[4], parts[5]))


def moved_together(upper: Array, lower: Array) -> list[Scalar]:
    """Placement and relative velocity of the last body of two neighbours."""
    first, second = _moved(upper), _moved(lower)
    return leaves(Moved(first.X.then(second.X), second.X.to_child(first.v) + second.v))


def moved_on(upper: Array, velocity: Array) -> list[Scalar]:
    """The velocity of the body between two neighbours, from that of the body that carries the upper one."""
    first = _moved(upper)
    return leaves(first.X.to_child(motion(velocity)) + first.v)


def _moved(parts: Array) -> Moved:
    return rebuild(Moved(STAY, REST), iter([parts[k] for k in range(MOVED)]))


def joined(upper: Array, lower: Array, open: bool) -> tuple[list[Scalar], list[Scalar]]:
    """Two neighbours as one articulated body, and what `split` needs to go back.

    Between them the force h and the acceleration m obey h = A₂ m + B₂ᵀ g + p₂ and m = B₁ a - C₁ h + c₁. With the
    mobility of the upper one under the load of the lower, M = (1 + C₁ A₂)⁻¹ C₁, the first becomes
    m = Y a - X g + y, where Y = B₁ - M A₂ B₁, X = M B₂ᵀ, y = c₁ - M (A₂ c₁ + p₂), and h = W a + V g + w.
    """
    first = rebuild(NOTHING, iter([upper[k] for k in range(HANDLES[True])]))
    second = rebuild(NOTHING if open else NO_TIP, iter([lower[k] for k in range(HANDLES[open])]))
    tip = second.tip if isinstance(second, Handles) else second
    A, p = symmetric(tip.A.lower), list(tip.p.parts)
    B, c = [list(row.parts) for row in first.B], leaves(first.c)
    M = symmetric(_loaded(first.C, A))
    Y = _minus(B, _times(M, _times(A, B)))
    W = _times(A, Y)
    y = [s - t for s, t in zip(c, _on(M, [s + t for s, t in zip(_on(A, c), p, strict=True)]), strict=True)]
    w = [s + t for s, t in zip(_on(A, y), p, strict=True)]
    across = transposed(B, 6)
    lower_A = [
        [x + dot(across[i], _column(W, j)) for j, x in enumerate(row)] for i, row in enumerate(first.tip.A.lower)
    ]
    whole = Tip(ArticulatedInertia.of_lower(lower_A), first.tip.p + Force.of(_on(across, w)))
    kept = [*_flat(Y), *y, *_flat(W), *w]
    if not isinstance(second, Handles):
        return leaves(whole), kept
    B2 = [list(row.parts) for row in second.B]
    X = _times(M, transposed(B2, 6))
    V = _minus(transposed(B2, 6), _times(A, X))
    C = tuple(tuple(x + dot(B2[i], _column(X, j)) for j, x in enumerate(row)) for i, row in enumerate(second.C))
    made = Handles(whole, tuple(Force.of(row) for row in _times(B2, Y)), C, second.c + motion(_on(B2, y)))
    return leaves(made), [*kept, *_flat(X), *_flat(V)]


def split(kept: Array, acceleration: Array, force: Array | None) -> list[Scalar]:
    """Acceleration and force between two neighbours, from what happens at the handles of both together."""
    a = [acceleration[k] for k in range(6)]
    half = 42
    result = []
    for k, sign in ((0, -1.0), (1, 1.0)):
        for i in range(6):
            total = dot([kept[half * k + 6 * i + j] for j in range(6)], a) + kept[half * k + 36 + i]
            if force is not None:
                g = [force[j] * sign for j in range(6)]
                total = total + dot([kept[2 * half + 36 * k + 6 * i + j] for j in range(6)], g)
            result.append(total)
    return result


def _loaded(C: Block, A: Block) -> list[list[Scalar]]:
    """The lower triangle of (1 + C A)⁻¹ C = G (1 + Gᵀ A G)⁻¹ Gᵀ with C = G Gᵀ; neither C nor A need be regular."""
    G = _root(C)
    AG = [[dot(A[i][j:], [G[k][j] for k in range(j, 6)]) for j in range(6)] for i in range(6)]
    columns = [[G[k][i] for k in range(i, 6)] for i in range(6)]
    T = [[dot(columns[i], [AG[k][j] for k in range(i, 6)]) for j in range(i + 1)] for i in range(6)]
    for k, row in enumerate(T):
        row[k] = row[k] + 1.0
    factor = SmallFactor(T)
    # of the rows of G, halfway through T: M = Hᵀ D⁻¹ H
    half = [factor.half([*row, *[0.0] * (5 - i)]) for i, row in enumerate(G)]
    scaled = [[x / pivot for x, pivot in zip(row, factor.pivots, strict=True)] for row in half]
    return [[dot(scaled[i], half[j]) for j in range(i + 1)] for i in range(6)]


def _root(lower: Block) -> list[list[Scalar]]:
    """G with G Gᵀ = C, for a C that may be singular: a pivot that is but rounding beside its entry counts as zero."""
    G: list[list[Scalar]] = []
    inverse: list[Scalar] = []
    for i, row in enumerate(lower):
        made: list[Scalar] = []
        for j in range(i):
            made.append((row[j] - dot(made, G[j][:j])) * inverse[j])
        whole = row[i]
        left = whole - dot(made, made)
        counts = whole + left * 0.125 > whole
        root = sqrt(select(counts, left, 1.0))
        inverse.append(select(counts, 1.0 / root, 0.0))
        G.append([*made, select(counts, root, 0.0)])
    return G


def _times(A: Block, B: Block) -> list[list[Scalar]]:
    columns = transposed(B, 6)
    return [[dot(row, column) for column in columns] for row in A]


def _on(A: Block, x: Sequence[Scalar]) -> list[Scalar]:
    return [dot(row, x) for row in A]


def _minus(A: Block, B: Block) -> list[list[Scalar]]:
    return [[x - y for x, y in zip(a, b, strict=True)] for a, b in zip(A, B, strict=True)]


def _column(A: Block, j: int) -> list[Scalar]:
    return [row[j] for row in A]


def _flat(A: Block) -> list[Scalar]:
    return [x for row in A for x in row]
