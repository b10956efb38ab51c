"""Shapes of a model as they stand, and which of them overlap before anything moves: files mean them to, mostly."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bough.algorithms.narrow_phase import GROUNDS, Corners, Heights, contact_points, is_known
from bough.algorithms.soft.scene import Side
from bough.algorithms.soft.world import WorldTree, world_tree
from bough.kernel.functions import mechanism
from bough.model import Geometry, Mechanism, Model
from bough.scalar.tolerances import TOUCHING
from bough.simulation.hulls import Hull, Hulls
from bough.simulation.pairs import Pair
from bough.spatial import Matrix, Transform, Vector

__all__ = ["overlapping", "side_of"]


def side_of(m: Mechanism, g: Geometry, hull: Hull | None) -> Side:
    """A shape on its body, in the axes that algorithms use; `hull` stands for a mesh."""
    R, p = (x[g.body] for x in m.borders)
    rotation, origin = R @ g.placement.matrix, R @ g.placement.vector + p
    if hull is not None:
        origin = origin + rotation @ hull.centre
    rotation = np.where(np.abs(rotation) < 1e-16, 0.0, rotation)
    x, y, z = (float(value) for value in origin)
    turn = tuple(float(value) for value in rotation.ravel())
    if g.heights:
        return Side(g.body, g.shape, (), turn, (x, y, z), heights=Heights.of(g.heights, g.size))
    if hull is None:
        return Side(g.body, g.shape, g.size, turn, (x, y, z))
    return Side(g.body, g.shape, (), turn, (x, y, z), Corners.of(hull.corners - hull.centre))


def overlapping(model: Model, pairs: Sequence[Pair], hulls: Hulls) -> set[int]:
    """Those of some pairs, by number, whose shapes overlap with all coordinates at zero.

    Only of bodies of one robot with nothing but joints that turn between them: others can be anywhere, and zero means
    little.
    """
    m, q = mechanism(model), [float(x) for entry in model.joints for x in entry.joint.neutral()]
    world, turning = world_tree(m, q), _turning(m, q)
    found: set[int] = set()
    for k, pair in enumerate(pairs):
        shapes = pair.first, pair.second
        own = all(any(g is x for x in model.geometries) for g in shapes)
        if own and is_known(*(g.shape for g in shapes)) and _joined(model, turning, *(g.body for g in shapes)):
            sides = [side_of(m, g, _hull(hulls, g)) for g in shapes]
            if _overlap(world, sides):
                found.add(k)
    return found


def _hull(hulls: Hulls, g: Geometry) -> Hull | None:
    found = hulls.get((g.source, g.size))
    return found if isinstance(found, Hull) else None


def _turning(m: Mechanism, q: list[float]) -> list[bool]:
    """Of each body, whether its joint turns it about its place, and does nothing else."""
    own = m.coupling.own_q(q)
    directions = [m.at(i).subspace(own) for i in range(1, m.tree.n + 1)]
    return [not any(float(x) for s in S for x in s.linear.parts) for S in directions]


def _joined(model: Model, turning: Sequence[bool], first: int, second: int) -> bool:
    """Whether two bodies are of one robot, and all joints between them turn them."""
    paths = []
    for body in (first, second):
        path, at = set(), body
        while at:
            path.add(at)
            at = int(model.tree.parents[at - 1])
        paths.append(path)
    apart = first > 0 < second and not paths[0] & paths[1]
    return not apart and all(turning[b - 1] for b in paths[0] ^ paths[1])


def _overlap(world: WorldTree, sides: Sequence[Side]) -> bool:
    places, shapes = [], []
    for side in sides:
        r = side.rotation
        own = Transform(Matrix.of_rows([r[:3], r[3:6], r[6:]]), Vector(*side.origin))
        places.append(world.bodies[side.body].placement.then(own))
        shapes.append((side.kind, side.size if side.corners is None else side.corners.vertices))
    if any(side.kind in GROUNDS for side in sides):
        return False
    if math.dist(*(X.translation.parts for X in places)) > sum(side.radius for side in sides):
        return False
    points = contact_points(shapes[0], places[0], shapes[1], places[1])
    return any(float(point.distance) < -TOUCHING for point in points)
