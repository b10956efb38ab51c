"""Contact points of two boxes.

Of fifteen directions (the normals of the faces, and what is perpendicular to an edge of each) the one counts in which
the boxes overlap least. If it is the normal of a face, the face of the other box that looks at it most is cut to its
outline (`clipping.py`), and the corners of what is left are the contact points. If it is perpendicular to two edges,
the nearest points of these are the only contact. Inside, all is in the frame of the first box.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bough.algorithms.shapes.clipping import Rectangle, clipped
from bough.algorithms.shapes.limits import MERGED, PARALLEL_EDGES
from bough.algorithms.shapes.point import APART, ContactPoint, Solid, axes_of, choose, clip
from bough.scalar import Bool, Scalar, absolute, both, dot, either, maximum, negation, select, sqrt
from bough.spatial import Matrix, Vector

__all__ = ["box_box"]

PREFERRED = 1e-6
"""An edge must be better than a face by this part: a face gives several points."""

ALIKE = 0.99
"""A direction with this cosine to the normal of the best face is taken for it, unless it is better by a twentieth."""


_ZERO: Scalar = 0.0
_ONE: Scalar = 1.0


@dataclass(frozen=True, slots=True)
class Which:
    """One of three axes: x if neither."""

    y: Bool
    z: Bool

    def of(self, parts: Sequence[Scalar]) -> Scalar:
        """The part along this axis."""
        return select(self.z, parts[2], select(self.y, parts[1], parts[0]))

    def of_vectors(self, a: Vector, b: Vector, c: Vector) -> Vector:
        """The vector that belongs to this axis."""
        return choose(self.z, c, choose(self.y, b, a))

    def unit(self) -> Vector:
        """The unit vector along this axis."""
        return Vector(self.of((1.0, 0.0, 0.0)), self.of((0.0, 1.0, 0.0)), self.of((0.0, 0.0, 1.0)))

    def last(self, parts: Sequence[Scalar]) -> list[Scalar]:
        """The parts along the two axes that follow, and along this one."""
        x, y, z = parts
        return [self.of((y, z, x)), self.of((z, x, y)), self.of((x, y, z))]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two boxes: half sides, the axes of the second in the frame of the first, and the second's centre there."""

    s1: tuple[Scalar, ...]
    s2: tuple[Scalar, ...]
    rows: tuple[tuple[Scalar, ...], ...]
    p: Vector

    @property
    def columns(self) -> tuple[Vector, Vector, Vector]:
        """The axes of the second box."""
        x, y, z = zip(*self.rows, strict=True)
        return Vector.of(x), Vector.of(y), Vector.of(z)


def box_box(first: Solid, second: Solid) -> list[ContactPoint]:
    """The corners of what two faces have in common, or where two edges are nearest to each other."""
    R1, R2 = Matrix(*first.X.rotation.columns), Matrix(*second.X.rotation.columns)
    rows = tuple(tuple(a.dot(b) for b in R2.columns) for a in R1.columns)
    p = R1.transposed_times(second.centre - first.centre)
    s1, s2 = (tuple(side * 0.5 for side in box.size) for box in (first, second))
    pair = Pair(s1, s2, rows, p)
    face, of_second, axis = _best_face(pair)
    by_edge, distance, middle, direction = _edge_contact(pair, face, of_second, axis)

    rectangle, normal = _rectangle(pair, (first, second), (R1, R2), of_second, axis)
    normal = choose(by_edge, R1.times(direction), normal)
    axes = axes_of(normal)
    points = [ContactPoint(select(by_edge, APART, z), point, axes) for z, point in clipped(rectangle)]
    one = points[0]
    middle = choose(by_edge, R1.times(middle) + first.centre, one.point)
    return [ContactPoint(select(by_edge, distance, one.distance), middle, axes), *points[1:]]


def _best_face(pair: Pair) -> tuple[Scalar, Bool, Which]:
    """The largest gap along the normal of a face, whether that is one of the second box, and which."""
    sizes = [[absolute(x) for x in row] for row in pair.rows]
    q = [column.dot(pair.p) for column in pair.columns]
    of_first = [absolute(x) - s - dot(pair.s2, row) for x, s, row in zip(pair.p.parts, pair.s1, sizes, strict=True)]
    columns = list(zip(*sizes, strict=True))
    of_second = [absolute(x) - s - dot(pair.s1, column) for x, s, column in zip(q, pair.s2, columns, strict=True)]
    (best1, axis1), (best2, axis2) = _largest(of_first), _largest(of_second)
    second = best1 < best2
    y = either(both(second, axis2.y), both(negation(second), axis1.y))
    z = either(both(second, axis2.z), both(negation(second), axis1.z))
    return select(second, best2, best1), second, Which(y, z)


def _largest(x: Sequence[Scalar]) -> tuple[Scalar, Which]:
    y = x[0] < x[1]
    most = select(y, x[1], x[0])
    z = most < x[2]
    return select(z, x[2], most), Which(both(y, negation(z)), z)


def _best_edges(pair: Pair, face: Scalar) -> tuple[Scalar, Which, Which]:
    """The largest gap perpendicular to two edges, if it is larger than that along the normal of a face, and these."""
    r, p = pair.rows, pair.p.parts
    # gaps are compared by over |over| / square, for which neither roots nor divisions are needed
    best, length, first, second = face * absolute(face), _ONE, _ZERO, _ZERO
    for i in range(3):
        for j in range(3):
            i1, i2, j1, j2 = (i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3
            a, b = -r[i2][j], r[i1][j]
            square = a * a + b * b
            reach1 = pair.s1[i1] * absolute(a) + pair.s1[i2] * absolute(b)
            # in the frame of the second box the direction is perpendicular to axis j too, and as long
            reach2 = pair.s2[j1] * absolute(r[i][j2]) + pair.s2[j2] * absolute(r[i][j1])
            over = absolute(a * p[i1] + b * p[i2]) - reach1 - reach2
            size = over * over
            signed = select(over < 0.0, -size, size)
            better = both(best * square < (signed - size * (2.0 * PREFERRED)) * length, square >= PARALLEL_EDGES)
            best, length = select(better, signed, best), select(better, square, length)
            first, second = select(better, float(i), first), select(better, float(j), second)
    gap = sqrt(absolute(best) / length)
    which = [Which(both(k > 0.5, k < 1.5), k > 1.5) for k in (first, second)]
    return select(best < 0.0, -gap, gap), which[0], which[1]


def _edge_contact(pair: Pair, face: Scalar, of_second: Bool, axis: Which) -> tuple[Bool, Scalar, Vector, Vector]:
    """Whether two edges touch, the distance between them, the middle between their nearest points, and the normal."""
    best, i, j = _best_edges(pair, face)
    columns = pair.columns
    d1, d2 = i.unit(), j.of_vectors(*columns)
    n = d1.cross(d2)
    n = n * (1.0 / sqrt(maximum(n.dot(n), PARALLEL_EDGES)))
    n = choose(n.dot(pair.p) < 0.0, -n, n)
    normal = choose(of_second, axis.of_vectors(*columns), axis.unit())
    alike = both(absolute(n.dot(normal)) > ALIKE, best < face + 0.05 * absolute(face) + MERGED)
    by_edge = both(face < best, negation(alike))

    # the edges that look at each other, and the nearest points on them
    here = zip(n.parts, pair.s1, d1.parts, strict=True)
    c1 = Vector.of([select(x < 0.0, -s, s) * (1.0 - along) for x, s, along in here])
    there = zip(columns, pair.s2, j.unit().parts, strict=True)
    corner = [select(column.dot(n) < 0.0, s, -s) * (1.0 - along) for column, s, along in there]
    c2 = columns[0] * corner[0] + columns[1] * corner[1] + columns[2] * corner[2] + pair.p
    between, b = c2 - c1, i.of(d2.parts)
    u, v, h1, h2 = i.of(between.parts), d2.dot(between), i.of(pair.s1), j.of(pair.s2)
    s = clip((u - b * v) / maximum(1.0 - b * b, PARALLEL_EDGES), h1)
    t = clip(b * s - v, h2)
    s = clip(u + b * t, h1)
    w1, w2 = c1 + d1 * s, c2 + d2 * t
    return by_edge, (w2 - w1).dot(n), (w1 + w2) * 0.5, n


def _rectangle(
    pair: Pair, boxes: tuple[Solid, Solid], turns: tuple[Matrix, Matrix], of_second: Bool, axis: Which
) -> tuple[Rectangle, Vector]:
    """The best face and the face of the other box that looks at it, and the normal from the first box to the second."""
    columns = pair.columns
    p = choose(of_second, -Vector.of([column.dot(pair.p) for column in columns]), pair.p)
    rows = [[select(of_second, pair.rows[k][i], pair.rows[i][k]) for k in range(3)] for i in range(3)]
    own = axis.last([select(of_second, b, a) for a, b in zip(pair.s1, pair.s2, strict=True)])
    other = [select(of_second, a, b) for a, b in zip(pair.s1, pair.s2, strict=True)]
    centre = axis.last(p.parts)
    rows = [list(row) for row in zip(*(axis.last(column) for column in zip(*rows, strict=True)), strict=True)]

    # the face of the other box that looks at it most
    _, facing = _largest([absolute(x) for x in rows[2]])
    rows, other = [facing.last(row) for row in rows], facing.last(other)
    sense = select(centre[2] < 0.0, -1.0, 1.0)
    back = select(sense * rows[2][2] > 0.0, -other[2], other[2])
    u, v, middle = (Vector.of([row[k] * size for row in rows]) for k, size in ((0, other[0]), (1, other[1]), (2, back)))
    middle = middle + Vector.of(centre)
    up = Vector(middle.x, middle.y, sense * middle.z - own[2])
    world = [choose(of_second, b, a) for a, b in zip(turns[0].columns, turns[1].columns, strict=True)]
    x, y, n = Matrix.of_rows([axis.last(row.parts) for row in Matrix(*world).T.columns]).columns
    n = n * sense
    origin = choose(of_second, boxes[1].centre, boxes[0].centre) + n * own[2]
    u, v = Vector(u.x, u.y, sense * u.z), Vector(v.x, v.y, sense * v.z)
    return Rectangle((own[0], own[1]), up, (u, v), origin, (x, y, n)), choose(of_second, -n, n)
