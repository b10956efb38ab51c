"""Contact points of a capsule with a box.

All is seen from the frame of the box, whose half sides are s: the axis of the capsule is the segment p + a t, |t| ≤ h.
First the point of the segment that is nearest to the box is found: an end of it against a face, or any point of it
against one of twelve edges. From there a second point is looked for along the segment, as far as it stays above the
box. What the rules do with segments that cut through the box is MuJoCo's way: it is no nearest point.
"""

from __future__ import annotations

from dataclasses import dataclass

from bough.algorithms.shapes.boxes import ball_box
from bough.algorithms.shapes.limits import MERGED
from bough.algorithms.shapes.point import APART, ContactPoint, Solid, clip
from bough.scalar import Bool, Scalar, absolute, both, either, map_leaves, maximum, minimum, negation, select
from bough.spatial import Vector

__all__ = ["capsule_box"]


@dataclass(frozen=True, slots=True)
class Nearest:
    """A point of the segment that may be nearest to the box: the square of the distance, where it is on the segment,
    the point on an edge of the box, the signs of its parts, and how far it is from the nearer end of that edge.
    """

    square: Scalar
    t: Scalar
    y: Vector
    signs: Vector
    within: Scalar


@dataclass(frozen=True, slots=True)
class Segment:
    """The axis of a capsule, and the half sides of the box."""

    p: Vector
    a: Vector
    h: Scalar
    s: tuple[Scalar, ...]

    def at(self, t: Scalar) -> Vector:
        """The point at t."""
        return self.p + self.a * t


def capsule_box(capsule: Solid, box: Solid) -> list[ContactPoint]:
    """Around the point of the axis that is nearest to the box, and around another along which it lies, if it does."""
    R, (radius, length), axis = box.X.rotation, capsule.size, capsule.axis
    p, a = R.transposed_times(capsule.centre - box.centre), R.transposed_times(axis)
    segment = Segment(p, a, length * 0.5, tuple(side * 0.5 for side in box.size))
    first, step, there = _both_places(segment)
    one, two = (ball_box(capsule.centre + axis * t, radius, segment.at(t), box) for t in (first, first + step))
    return [one, ContactPoint(select(there, two.distance, APART), two.point, two.axes)]


def _both_places(segment: Segment) -> tuple[Scalar, Scalar, Bool]:
    """Where on the segment the first point is, how far from it the second, and whether there is one."""
    end, face_square = _nearest_end(segment)
    edges = [_nearest_edge(segment, j) for j in range(3)]
    by_y = edges[1].square < edges[0].square - MERGED
    best = _choose(by_y, edges[1], edges[0])
    by_z = edges[2].square < best.square - MERGED
    best = _choose(by_z, edges[2], best)
    by_face = face_square - MERGED <= best.square
    t = select(by_face, end, best.t)

    # the direction in which to look for the second point
    ahead = [select(x > 0.0, 1.0, -1.0) for x in segment.a.parts]
    turned = [x * y for x, y in zip(ahead, best.signs.parts, strict=True)]
    corner, at_corner = _from_corner(segment, turned)
    edge, at_edge = _from_edge(segment, turned, (negation(either(by_y, by_z)), both(by_y, negation(by_z)), by_z))
    on_edge = best.within > 0.0
    sense = select(by_face, select(end < 0.0, 1.0, -1.0), select(on_edge, edge, corner))
    there = either(
        both(by_face, face_square > 0.0),
        both(negation(by_face), either(both(on_edge, at_edge), both(negation(on_edge), at_corner))),
    )
    # how far: to the end of the segment, or to where it leaves the box
    x, step = segment.at(t), segment.h - sense * t
    for k in range(3):
        s, forth = segment.s[k], ahead[k] * sense
        above = select(absolute(x.parts[k]) <= s, x.parts[k], forth * s)
        room = s - forth * select(by_face, above, best.y.parts[k])
        leaves = room / maximum(segment.a.parts[k] * ahead[k], MERGED * MERGED)
        step = select(both(room > 0.0, leaves < step), leaves, step)
    return t, sense * step, there


def _nearest_end(segment: Segment) -> tuple[Scalar, Scalar]:
    """The end of the segment that is nearer to the box, of those that are above a face or inside, and how near."""
    squares: list[Scalar] = []
    for end in (-segment.h, segment.h):
        x = segment.at(end)
        over = [maximum(absolute(x) - s, 0.0) for x, s in zip(x.parts, segment.s, strict=True)]
        out = [x > 0.0 for x in over]
        several = either(both(out[0], out[1]), both(either(out[0], out[1]), out[2]))
        squares.append(select(several, APART, over[0] * over[0] + over[1] * over[1] + over[2] * over[2]))
    other = squares[1] < squares[0]
    return select(other, segment.h, -segment.h), minimum(squares[1], squares[0])


def _nearest_edge(segment: Segment, j: int) -> Nearest:
    """The nearest points of the segment and of the four edges along an axis."""
    k, m = (i for i in range(3) if i != j)
    p, a, s = segment.p.parts, segment.a.parts, segment.s
    sine = 1.0 - a[j] * a[j]
    parallel = sine * (s[j] * s[j] * (segment.h * segment.h)) < MERGED
    slope = a[j] / select(parallel, 1.0, sine)

    def of_edge(up: float, right: float) -> tuple[Scalar, Scalar, Scalar]:
        """The nearest points, at w on the edge and at t on the segment: w = p_j + a_j t and t = f + a_j (w - p_j)."""
        y, z = up * s[k] - p[k], right * s[m] - p[m]
        f = a[k] * y + a[m] * z
        t = clip(f + a[j] * (clip(p[j] + slope * f, s[j]) - p[j]), segment.h)
        w = p[j] + a[j] * t
        x, y, z = clip(w, s[j]) - w, y - a[k] * t, z - a[m] * t
        return x * x + y * y + z * z, t, f

    def nearer(one: tuple[Scalar, ...], other: tuple[Scalar, ...]) -> tuple[tuple[Scalar, ...], Bool]:
        other_wins = other[0] < one[0] - MERGED
        return tuple(select(other_wins, b, a) for a, b in zip(one, other, strict=True)), other_wins

    low, low_up = nearer(of_edge(-1.0, -1.0), of_edge(1.0, -1.0))
    high, high_up = nearer(of_edge(-1.0, 1.0), of_edge(1.0, 1.0))
    (square, t, f), right = nearer(low, high)
    up = select(right, select(high_up, 1.0, -1.0), select(low_up, 1.0, -1.0))
    # at a corner if the nearest point is beyond the end of the edge, of the line along the segment or of the segment
    of_line, w = p[j] + slope * f, p[j] + a[j] * t
    left = s[j] - absolute(w)
    within = minimum(s[j] - absolute(of_line), left)
    signs = {j: select(select(left < 0.0, w, of_line) < 0.0, -1.0, 1.0), k: up, m: select(right, 1.0, -1.0)}
    y = {j: select(within > 0.0, w, signs[j] * s[j]), k: up * s[k], m: signs[m] * s[m]}
    return Nearest(select(parallel, APART, square), t, _vector(y), _vector(signs), within)


def _from_corner(segment: Segment, turned: list[Scalar]) -> tuple[Scalar, Bool]:
    """The direction from a corner of the box, along an edge or a face, and whether the segment lies along one."""
    total = turned[0] + turned[1] + turned[2]
    squares = [select(x * total < 0.0, a * a, 0.0) for x, a in zip(turned, segment.a.parts, strict=True)]
    return select(squares[0] + squares[1] + squares[2] > 0.5, total, -total), total * total < 2.0


def _from_edge(segment: Segment, turned: list[Scalar], edge: tuple[Bool, Bool, Bool]) -> tuple[Scalar, Bool]:
    """The direction from an edge of the box across the face that is nearer, and whether the segment lies along one."""
    parts = [select(is_edge, -1.0, absolute(a)) for is_edge, a in zip(edge, segment.a.parts, strict=True)]
    by_y = parts[0] <= parts[1]
    most = select(by_y, parts[1], parts[0])
    by_z = either(most < parts[2], both(edge[0], most <= parts[2]))  # of equal ones the last in the order of axes
    sense = select(by_z, turned[2], select(by_y, turned[1], turned[0]))
    others = [select(is_edge, 0.0, x) for is_edge, x in zip(edge, turned, strict=True)]
    rest = others[0] + others[1] + others[2]
    return -sense, rest * rest < 1.0


def _choose(condition: Bool, a: Nearest, b: Nearest) -> Nearest:
    return map_leaves(lambda x, y: select(condition, x, y), a, b)


def _vector(parts: dict[int, Scalar]) -> Vector:
    return Vector(parts[0], parts[1], parts[2])
