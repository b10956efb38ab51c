"""How far two convex shapes are from each other, or how deep in each other, in which direction, and where.

The gap along a unit vector n is how far one has to go along it from the first shape to the second: it is negative where
they overlap. The largest gap is the distance, or minus the depth. Shapes that overlap are drawn apart along the best
direction found so far, until they are a little apart; where they are nearest to each other then (by the algorithm of
Gilbert, Johnson and Keerthi) is a direction with a larger gap, unless it is the same. For shapes that are apart two
such rounds are enough, for those that overlap little two or three. All is in the frame of the first shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bough.algorithms.shapes.limits import MERGED
from bough.algorithms.shapes.point import choose
from bough.algorithms.shapes.support import Convex
from bough.scalar import (
    Array,
    Bool,
    Index,
    Scalar,
    blank,
    both,
    keeping_loops,
    loop,
    map_leaves,
    maximum,
    minimum,
    select,
    sqrt,
)
from bough.spatial import UNITS, ZERO, Matrix, Vector

__all__ = ["Couple", "Nearest", "nearest"]

SUPPORT_TURNS = 25
POLYTOPE_TURNS = 40
APART_BY = 0.02
"""How far shapes that overlap are drawn apart, as a part of the smaller one's size."""

SHALLOW = 0.01
"""Shapes that overlap by less than this part of the smaller size do so in the direction found first."""

DEEP = 0.3
"""And those of which one has no edges if it is less than this part."""

NO_BETTER = 1e-12
"""A gap is the largest if the next round finds one that is larger by less than this part of the smaller size."""

NEAREST = 1e-13
"""A point is the nearest of a shape if nothing of the shape is nearer by this part along it."""

SLIVER = 1e-12
"""A triangle whose squared area is this part of that of a square with its sides has no inside."""


@dataclass(frozen=True, slots=True)
class Couple:
    """Two convex shapes, the second at p and turned by R in the frame of the first, and a length they have."""

    first: Convex
    second: Convex
    R: Matrix
    p: Vector
    size: Scalar

    @property
    def is_round(self) -> bool:
        """Whether one of them has no edges."""
        return self.first.is_round or self.second.is_round

    def between(self, n: Vector) -> tuple[Vector, Vector]:
        """The point of the first that lies furthest along n, and the way from it to the second's furthest back."""
        a = self.first.furthest(n)
        b = self.p + self.R.times(self.second.furthest(self.R.transposed_times(-n)))
        return a, b - a


@dataclass(frozen=True, slots=True)
class Simplex:
    """Three points on the first shape, the ways from them to the second, and the weights of the nearest point."""

    a: tuple[Vector, Vector, Vector]
    w: tuple[Vector, Vector, Vector]
    weights: tuple[Scalar, Scalar, Scalar]
    v: Vector  # the nearest point of the ways, drawn apart
    square: Scalar  # of its length
    over: Scalar  # how much nearer another may be, as a part of it


@dataclass(frozen=True, slots=True)
class Nearest:
    """The largest gap, its direction from the first shape to the second, and the points of both (radii left out)."""

    gap: Scalar
    n: Vector
    first: Vector
    second: Vector


def nearest(couple: Couple) -> Nearest:
    """Where two convex shapes are nearest to each other, or overlap least.

    Shapes that overlap may have several directions in which the gap is larger than in all that are near them: those
    with corners by little already, round ones where they are deep in each other. The axes of both, the line between
    their middles, and of round ones what is across and opposite, lead to the best of them, but for few; where the axis
    with the largest gap leads to a shallow overlap, that is it.
    """
    with keeping_loops():
        starts, count = _starts(couple)
        shallow = (DEEP if couple.is_round else SHALLOW) * couple.size
        nowhere: Scalar = -1e10

        def visit(k: Index, best: Nearest) -> Nearest:
            found = _from(couple, _at(starts, k * 3))
            larger = found.gap > best.gap
            return map_leaves(lambda x, y: select(larger, x, y), found, best)

        begin = Nearest(nowhere, ZERO, ZERO, ZERO)
        return loop(count, visit, begin, until=lambda best: best.gap > -shallow)


def _starts(couple: Couple) -> tuple[Array, int]:
    """Directions to start from, in memory, and how many: that of all axes with the largest gap, and then all."""
    square = couple.p.dot(couple.p)
    merged = square < MERGED * MERGED
    line = choose(merged, UNITS[2], couple.p * (1.0 / sqrt(select(merged, 1.0, square))))
    axes = [line, *couple.first.axes, *(couple.R.times(axis) for axis in couple.second.axes)]
    across = [*couple.first.across, *(couple.R.times(axis) for axis in couple.second.across)] if couple.is_round else []
    ways = [choose(axis.dot(couple.p) < 0.0, -axis, axis) for axis in (*axes, *across)]
    if couple.is_round:
        ways += [-n for n in ways]
    count = 1 + len(ways)
    memory = blank(3 * count)
    for k, n in enumerate(ways, start=1):
        _put(memory, k * 3, n)

    def visit(k: Index, best: tuple[Vector, Scalar]) -> tuple[Vector, Scalar]:
        n = _at(memory, k * 3 + 3)
        gap = n.dot(couple.between(n)[1])
        larger = gap > best[1]
        return choose(larger, n, best[0]), select(larger, gap, best[1])

    least: Scalar = -1e10
    _put(memory, 0, loop(len(axes), visit, (ZERO, least))[0])
    return memory, count


def _at(memory: Array, start: Index) -> Vector:
    return Vector.of([memory[start + i] for i in range(3)])


def _put(memory: Array, start: int, n: Vector) -> None:
    for i in range(3):
        memory[start + i] = n.parts[i]


def _from(couple: Couple, n: Vector) -> Nearest:
    """The largest gap that directions with ever larger ones lead to from n."""
    a, w = couple.between(n)
    one: Scalar = 1.0
    none: Scalar = 0.0
    start = Simplex((a, a, a), (w, w, w), (one, none, none), w, none, one)

    def turn(_: Index, carry: tuple[Vector, Scalar, Simplex, Scalar]) -> tuple[Vector, Scalar, Simplex, Scalar]:
        n, gap, simplex, _more = carry
        simplex = _nearest_apart(couple, simplex, n * maximum(APART_BY * couple.size - gap, 0.0))
        better = simplex.v * (1.0 / sqrt(maximum(simplex.square, MERGED * MERGED)))
        larger = better.dot(couple.between(better)[1])
        return better, larger, simplex, larger - gap

    little, begin = NO_BETTER * couple.size, (n, n.dot(w), start, one)
    n, gap, simplex, _ = loop(SUPPORT_TURNS, turn, begin, until=lambda carry: carry[3] < little)
    first = _weighted(simplex.a, simplex.weights)
    return Nearest(gap, n, first, first + _weighted(simplex.w, simplex.weights))


def _weighted(points: Sequence[Vector], weights: Sequence[Scalar]) -> Vector:
    return points[0] * weights[0] + points[1] * weights[1] + points[2] * weights[2]


def _nearest_apart(couple: Couple, simplex: Simplex, shift: Vector) -> Simplex:
    """The nearest point of the ways from one shape to the other, which has been drawn away by a shift."""
    one: Scalar = 1.0
    v = _weighted(simplex.w, simplex.weights) + shift
    begin = Simplex(simplex.a, simplex.w, simplex.weights, v, v.dot(v), one)

    def turn(_: Index, old: Simplex) -> Simplex:
        a, w = couple.between(old.v)
        over = old.square - old.v.dot(w + shift)
        new = _with_corner(old, a, w, shift)
        nearer = both(new.square < old.square, over > NEAREST * old.square)
        over = select(nearer, over / maximum(old.square, MERGED * MERGED), 0.0)
        chosen = map_leaves(lambda x, y: select(nearer, x, y), new, old)
        return Simplex(chosen.a, chosen.w, chosen.weights, chosen.v, chosen.square, over)

    return loop(POLYTOPE_TURNS, turn, begin, until=lambda state: state.over <= NEAREST)


def _with_corner(old: Simplex, a: Vector, w: Vector, shift: Vector) -> Simplex:
    """The nearest point of a tetrahedron, among those that a new corner makes nearer.

    Where its triangles are slivers, the line from the corner to the point that was nearest is better than their edges.
    """
    corner = w + shift
    ends = [*zip(old.a, old.w, strict=True), (_weighted(old.a, old.weights), old.v - shift)]
    edges = [x - w for _, x in ends]
    squares, back = [e.dot(e) for e in edges], [-e.dot(corner) for e in edges]
    none: Scalar = 0.0
    best = Simplex((a, a, a), (w, w, w), (none + 1.0, none, none), corner, corner.dot(corner), none)
    for i, (e, (end, way)) in enumerate(zip(edges, ends, strict=True)):
        t = minimum(maximum(back[i] / maximum(squares[i], MERGED * MERGED), 0.0), 1.0)
        v = corner + e * t
        found = Simplex((a, end, end), (w, way, way), (1.0 - t, t, none), v, v.dot(v), none)
        best = _nearer(True, found, best)
    for i, j in ((0, 1), (1, 2), (2, 0)):
        normal = edges[i].cross(edges[j])
        area = normal.dot(normal)
        wide = area > SLIVER * (squares[i] * squares[j])
        scale = 1.0 / select(wide, area, 1.0)
        x, y = edges[j].cross(corner).dot(normal) * scale, corner.cross(edges[i]).dot(normal) * scale
        v = corner + edges[i] * x + edges[j] * y
        inside = both(both(wide, x > 0.0), both(y > 0.0, x + y < 1.0))
        found = Simplex((a, old.a[i], old.a[j]), (w, old.w[i], old.w[j]), (1.0 - x - y, x, y), v, v.dot(v), none)
        best = _nearer(inside, found, best)
    return best


def _nearer(able: Bool, new: Simplex, best: Simplex) -> Simplex:
    wins = both(able, new.square < best.square)
    return map_leaves(lambda x, y: select(wins, x, y), new, best)
