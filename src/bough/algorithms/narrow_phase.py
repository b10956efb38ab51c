"""The narrow phase: where two shapes touch, or would touch first, as rules over scalars.

Each pair of kinds has a fixed number of slots for contact points; in states that need fewer, the others are far apart.
Points, distances, normals and tangents are those of MuJoCo, but for which points of a hull are told.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations_with_replacement
from typing import TypeAlias

from bough.algorithms.shapes.balls import (
    capsule_capsule,
    capsule_capsule_gaps,
    sphere_capsule,
    sphere_capsule_gaps,
    sphere_cylinder,
    sphere_sphere,
)
from bough.algorithms.shapes.box_box import box_box
from bough.algorithms.shapes.boxes import sphere_box
from bough.algorithms.shapes.capsule_box import capsule_box
from bough.algorithms.shapes.convex import convex_convex, slots_of
from bough.algorithms.shapes.fields import FIELD_RULES, Heights
from bough.algorithms.shapes.hulls import Corners, Vertices, plane_hull
from bough.algorithms.shapes.planes import plane_box, plane_capsule, plane_cylinder, plane_ellipsoid, plane_sphere
from bough.algorithms.shapes.point import APART, ContactPoint, Gap, Solid
from bough.errors import ModelError
from bough.scalar import Bool, Scalar, absolute, dot, either, maximum, sqrt
from bough.spatial import Transform

__all__ = [
    "APART", "GROUNDS", "ContactPoint", "Corners", "Gap", "Heights", "Shape", "Vertices",
    "contact_points", "gaps", "is_known", "iterates", "may_touch", "overlap_in_line", "points_of",
]  # fmt: skip

Shape: TypeAlias = tuple[str, tuple[Scalar, ...] | Vertices | Heights]
"""Kind and sizes of a shape, as in `bough.model.geometry.SHAPES`; of a mesh, the corners of its convex hull."""

GROUNDS = "plane", "height_field"
"""Shapes without end, or with much of it: how far another is above them says whether it may touch."""

Rule: TypeAlias = Callable[[Solid, Solid], list[ContactPoint]]

_CLOSED: dict[tuple[str, str], tuple[int, Rule]] = {
    ("plane", "sphere"): (1, plane_sphere),
    ("plane", "capsule"): (2, plane_capsule),
    ("plane", "ellipsoid"): (1, plane_ellipsoid),
    ("plane", "cylinder"): (4, plane_cylinder),
    ("plane", "box"): (4, plane_box),
    ("plane", "mesh"): (4, plane_hull),
    ("sphere", "sphere"): (1, sphere_sphere),
    ("sphere", "capsule"): (1, sphere_capsule),
    ("sphere", "cylinder"): (1, sphere_cylinder),
    ("sphere", "box"): (1, sphere_box),
    ("capsule", "capsule"): (2, capsule_capsule),
    ("capsule", "box"): (2, capsule_box),
    ("box", "box"): (8, box_box),
    **{("height_field", kind): rule for kind, rule in FIELD_RULES.items()},
}
"""Pairs of kinds whose contact points are a formula: how many there are at most, and the rule that finds them."""

_GAPS: dict[tuple[str, str], Callable[[Solid, Solid], list[Gap]]] = {
    ("sphere", "capsule"): sphere_capsule_gaps,
    ("capsule", "capsule"): capsule_capsule_gaps,
}
"""Pairs of kinds for which less tells whether they touch."""

_CONVEX = "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh"
_RULES = {
    two: _CLOSED.get(two, (slots_of(*two), partial(convex_convex, *two)))
    for two in (*_CLOSED, *combinations_with_replacement(_CONVEX, 2))
}
"""All pairs; those without a formula by iterations."""


def is_known(kind1: str, kind2: str) -> bool:
    """Whether there is a rule for two kinds of shapes, in whichever order."""
    return (kind1, kind2) in _RULES or (kind2, kind1) in _RULES


def points_of(kind1: str, kind2: str) -> int:
    """How many slots for contact points two kinds of shapes have, in whichever order."""
    return _rule(kind1, kind2)[0]


def iterates(kind1: str, kind2: str) -> bool:
    """Whether the rule of two kinds has loops, which are not to be run again for each of its points."""
    two = (kind1, kind2) if (kind1, kind2) in _RULES else (kind2, kind1)
    return two not in _CLOSED or "mesh" in two or "height_field" in two


def contact_points(first: Shape, X1: Transform, second: Shape, X2: Transform) -> list[ContactPoint]:
    """The contact points of two shapes that stand at X1 and X2 in a common frame, one for each slot of the pair.

    Distances are told however far the shapes are apart; whoever has a margin compares them with it.
    """
    kind1, kind2 = first[0], second[0]
    _, rule = _rule(kind1, kind2)
    one, two = _solid(first, X1), _solid(second, X2)
    if (kind1, kind2) in _RULES:
        return rule(one, two)
    return [_turned_round(p) for p in rule(two, one)]


def gaps(first: Shape, X1: Transform, second: Shape, X2: Transform) -> list[Gap]:
    """What tells which slots of a pair hold contacts, without where and how, for pairs that are seldom so near."""
    kinds = first[0], second[0]
    one, two = _solid(first, X1), _solid(second, X2)
    if kinds in _GAPS:
        return _GAPS[kinds](one, two)
    if kinds[::-1] in _GAPS:
        return _GAPS[kinds[::-1]](two, one)
    return [Gap(True, lambda p=p: p.distance) for p in contact_points(first, X1, second, X2)]  # type: ignore[misc]


def overlap_in_line(first: Shape, X1: Transform, second: Shape, X2: Transform, margin: Scalar) -> Bool:
    """Whether a sphere and a capsule, or two capsules, are nearer than `margin` (m) along the line of their centres.

    Where they are not, the shapes are not either. It needs neither a division nor a root, and few pairs of capsules
    pass it whose balls overlap: capsules side by side pass it only if they touch.
    """
    apart = X2.translation - X1.translation
    (kind1, size1), (kind2, size2), square = first, second, apart.dot(apart)
    left, radii = square, margin  # what the axes leave of the square of the way, and the radii
    for kind, size, X in ((kind1, size1, X1), (kind2, size2, X2)):
        assert isinstance(size, tuple), kind
        radii = radii + size[0]
        if kind == "capsule":
            left = left - absolute(X.rotation.columns[2].dot(apart)) * (0.5 * size[1])
    return either(left <= 0.0, left * left <= radii * radii * square)


def may_touch(first: Shape, X1: Transform, second: Shape, X2: Transform, margin: Scalar = 0.0) -> Bool:
    """Whether balls around two shapes are nearer to each other than `margin` (m); a plane and a field are all below.

    Where they are not, the shapes are not either, whatever their contact points say. It costs nine operations.
    """
    if second[0] in GROUNDS:
        return may_touch(second, X2, first, X1, margin)
    apart, most = X2.translation - X1.translation, _reach(first) + _reach(second) + margin
    if first[0] in GROUNDS:
        top = first[1].top if isinstance(first[1], Heights) else 0.0
        return _solid(first, X1).axis.dot(apart) - top < most
    return apart.dot(apart) < most * most


def _solid(shape: Shape, X: Transform) -> Solid:
    _, size = shape
    if isinstance(size, Heights):
        return Solid((), X, heights=size)
    return Solid((), X, size) if isinstance(size, Vertices) else Solid(size, X)


def _reach(shape: Shape) -> Scalar:
    """The radius of a ball around a shape; of a plane and a height field none."""
    kind, size = shape
    if isinstance(size, Heights) or kind == "plane":
        return 0.0
    if isinstance(size, Vertices):
        return size.radius
    if kind == "ellipsoid":
        return maximum(maximum(size[0], size[1]), size[2])
    if kind == "box":
        return 0.5 * sqrt(dot(size, size))
    if kind == "cylinder":
        return sqrt(size[0] * size[0] + 0.25 * size[1] * size[1])
    return size[0] + 0.5 * size[1] if kind == "capsule" else size[0]


def _rule(kind1: str, kind2: str) -> tuple[int, Rule]:
    found = _RULES.get((kind1, kind2)) or _RULES.get((kind2, kind1))
    if found is None:
        pairs = ", ".join(f"{a}-{b}" for a, b in _RULES)
        raise ModelError(f"no rule finds contact points of a {kind1} and a {kind2}; there are rules for {pairs}")
    return found


def _turned_round(p: ContactPoint) -> ContactPoint:
    """The same contact with its shapes exchanged."""
    n, first, second = p.axes
    return ContactPoint(p.distance, p.point, (-n, first, -second))
