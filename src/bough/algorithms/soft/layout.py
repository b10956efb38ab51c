"""The contacts of a scene in order: groups that run the same code, blocks of them, and the shapes that move."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import numpy as np

from bough.algorithms.narrow_phase import GROUNDS, Corners, Heights, Vertices, points_of
from bough.algorithms.soft.law import LEAST_FRICTION, Softness, TouchLaw
from bough.algorithms.soft.scene import Candidate, Side, SoftScene
from bough.scalar import Index, Table, gather_index

__all__ = ["BLOCK", "Layout", "ShapeGroup", "TouchGroup", "filled", "layout_of"]

M = TypeVar("M")

ROUND = "plane", "sphere", "capsule"
"""Shapes that look the same from all sides of their z axis."""

BLOCK = 16
"""Contacts that are skipped together where none of them touches."""


@dataclass(frozen=True)
class TouchGroup:
    """Contacts, one after the other, that run the same code: by their number of rows, and with the world or not."""

    law: TouchLaw
    between: bool
    number: int
    count: int
    bodies: tuple[Table, Table]
    places: tuple[Table, Table]  # of these bodies among those that may touch anything
    mu: Table  # one for each row but the first of each contact
    block: Table  # of each contact
    two_rates: bool  # whether there are contacts whose friction has a reference of its own

    @property
    def blocks(self) -> int:
        """How many blocks it has, the last of which may not be full."""
        return -(-self.count // BLOCK)

    @property
    def room(self) -> int:
        """Contacts of full blocks, if there are several: those beyond `count` never touch, tables repeat the last."""
        return self.count if self.count <= BLOCK else self.blocks * BLOCK


@dataclass(frozen=True)
class HullTable:
    """The hulls of one side of candidates: all corners in one table, each hull once, and where those of each are."""

    corners: Table
    starts: Table
    counts: Table

    def of(self, k: Index) -> Vertices:
        """The corners of candidate k."""
        return Vertices(self.corners, gather_index(self.starts, k), gather_index(self.counts, k))


@dataclass(frozen=True)
class ShapeGroup:
    """Candidates whose contact points are found by the same code, and their numbers in tables.

    Those whose shapes are nearest to each other where masses are taken come first.

    Where all of them touch one and the same shape of the world, that is the `floor`. A height field is one for all.
    """

    kinds: tuple[str, str]
    softness: Softness
    floor: Side | None
    touch: TouchGroup
    count: int
    contacts: Table  # the first contact of each in its group
    bodies: tuple[Table, Table]
    places: tuple[Table, Table]  # of these bodies among those that may touch anything
    shapes: tuple[Table, Table]  # where their places begin
    sizes: tuple[Table, Table]
    hulls: tuple[HullTable | None, HullTable | None]
    heights: tuple[Heights | None, Heights | None]
    reach: Table  # centres further apart than this, or further from the floor, do not touch
    margin: Table
    base: Table


@dataclass(frozen=True)
class Layout:
    """The contacts of a scene: groups of them, groups of candidates, and the shapes that move."""

    touches: tuple[TouchGroup, ...]
    candidates: tuple[ShapeGroup, ...]
    shapes: tuple[Side, ...]
    place_size: int  # numbers that say where a shape is: all of a rotation, or only its z axis
    touched: frozenset[int]  # bodies that may touch the world
    pushed: tuple[int, ...]  # bodies that may touch anything, in order
    members: tuple[tuple[int, ...], ...]  # the candidate of each contact of each group

    @property
    def order(self) -> list[int]:
        """The candidate of each contact, group by group."""
        return [k for members in self.members for k in members]

    @property
    def softness(self) -> Softness | None:
        """That of all candidates, if it is the same."""
        found = {group.softness for group in self.candidates}
        return found.pop() if len(found) == 1 else None

    @property
    def between(self) -> bool:
        """Whether bodies may touch each other."""
        return any(group.between for group in self.touches)


@lru_cache(maxsize=64)
def layout_of(scene: SoftScene) -> Layout:
    """The contacts of a scene in order."""
    alike: dict[object, list[int]] = {}
    shapes: dict[Side, int] = {}
    place_size = 6 if all(side.kind in ROUND for c in scene.candidates for side in c.sides) else 12
    for k, c in enumerate(scene.candidates):
        floor = c.sides[0] if not c.between else None
        kinds = tuple((side.kind, side.heights) for side in c.sides)
        alike.setdefault((kinds, c.softness, c.rows, floor), []).append(k)
        for side in c.sides:
            if side.body:
                shapes.setdefault(side, len(shapes) * place_size)
    places: dict[int, int] = {}  # the first contact of a candidate in its group
    groups: dict[tuple[bool, int], list[int]] = {}  # with the candidate of each contact, in the order of candidates
    for own in alike.values():
        own.sort(key=lambda k: scene.candidates[k].apart - _reach(scene.candidates[k]))
        for k in own:
            c = scene.candidates[k]
            group = groups.setdefault((c.between, c.rows), [])
            places[k] = len(group)
            group += [k] * points_of(c.sides[0].kind, c.sides[1].kind)
    bodies = [{side.body for side in c.sides} for c in scene.candidates]
    touched = frozenset(max(pair) for pair in bodies if 0 in pair)
    pushed = tuple(sorted({b for pair in bodies for b in pair if b}))
    touches = {
        key: _touch_group(scene, n, key, [scene.candidates[k] for k in members], pushed)
        for n, (key, members) in enumerate(groups.items())
    }
    candidates = tuple(_shape_group(scene, members, places, touches, shapes, pushed) for members in alike.values())
    members = tuple(map(tuple, groups.values()))
    return Layout(tuple(touches.values()), candidates, tuple(shapes), place_size, touched, pushed, members)


def _touch_group(
    scene: SoftScene, number: int, key: tuple[bool, int], members: Sequence[Candidate], pushed: Sequence[int]
) -> TouchGroup:
    between, rows = key
    count, members = len(members), filled(members)
    mu = _numbers([x for c in members for x in _coefficients(c)[: rows - 1]])
    tables = (*_bodies(members, pushed), mu, _integers([k // BLOCK for k in range(len(members))]))
    two_rates = any(c.softness.of_friction is not None for c in members)
    return TouchGroup(TouchLaw(rows, scene.friction), between, number, count, *tables, two_rates)


def filled(members: Sequence[M]) -> list[M]:
    """What is told of the contacts of a group, the last one again to the end of its last block, if it has several."""
    count = len(members)
    return [*members, *[members[-1]] * (-count % BLOCK if count > BLOCK else 0)]


def _bodies(members: Sequence[Candidate], pushed: Sequence[int]) -> tuple[tuple[Table, Table], tuple[Table, Table]]:
    """The bodies of both sides, and their places among all that may touch anything; the world has none."""
    columns = [[c.sides[i].body for c in members] for i in (0, 1)]
    places = [[pushed.index(b) if b else 0 for b in column] for column in columns]
    return _two(map(_integers, columns)), _two(map(_integers, places))


def _coefficients(c: Candidate) -> tuple[float, ...]:
    return tuple(max(x, LEAST_FRICTION) for x in c.friction)


def _shape_group(
    scene: SoftScene,
    members: Sequence[int],
    places: Mapping[int, int],
    touches: Mapping[tuple[bool, int], TouchGroup],
    shapes: Mapping[Side, int],
    pushed: Sequence[int],
) -> ShapeGroup:
    candidates = [scene.candidates[k] for k in members]
    one = candidates[0]
    touch = touches[one.between, one.rows]
    first, second = one.sides
    sides = [[c.sides[i] for c in candidates] for i in (0, 1)]
    return ShapeGroup(
        (first.kind, second.kind), one.softness, None if one.between else first, touch, len(members),
        _integers([places[k] for k in members]),
        *_bodies(candidates, pushed),
        _two(_integers([shapes.get(side, 0) for side in column]) for column in sides),
        _two(_numbers([x for side in column for x in side.size]) for column in sides),
        (_hull_table(sides[0]), _hull_table(sides[1])), (first.heights, second.heights),
        _numbers([_reach(c) for c in candidates]),
        _numbers([c.margin for c in candidates]),
        _numbers([touch.law.base(_coefficients(c), c.weight) for c in candidates]),
    )  # fmt: skip


def _reach(c: Candidate) -> float:
    """Centres further apart than this, or further from the floor, do not touch."""
    return c.margin + sum(side.radius for side in c.sides if side.kind not in GROUNDS)


def _hull_table(sides: Sequence[Side]) -> HullTable | None:
    hulls = [side.corners for side in sides if side.corners is not None]
    if not hulls:
        return None
    starts: dict[Corners, int] = {}
    total = 0
    for hull in hulls:
        if hull not in starts:
            starts[hull], total = total, total + len(hull.points)
    points = np.concatenate([hull.points.ravel() for hull in starts])
    counts = _integers([len(hull.points) for hull in hulls])
    return HullTable(Table("corners", points), _integers([starts[hull] for hull in hulls]), counts)


def _two(tables: Iterable[Table]) -> tuple[Table, Table]:
    one, other = tables
    return one, other


def _integers(values: Sequence[int]) -> Table:
    return Table("places", np.array(values, np.int64))


def _numbers(values: Sequence[float]) -> Table:
    return Table("numbers", np.array(values, np.float64))
