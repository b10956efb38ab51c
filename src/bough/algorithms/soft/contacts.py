"""Contacts of a scene in memory: found by loops over candidates, and then looped over in every Newton step.

What touches in no state of a vector is skipped: its turn of a loop is a comparison and a jump.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from bough.algorithms.narrow_phase import (
    GROUNDS,
    ContactPoint,
    Gap,
    Shape,
    contact_points,
    gaps,
    iterates,
    overlap_in_line,
)
from bough.algorithms.soft.axes import combined
from bough.algorithms.soft.culling import can_be_culled, each_near
from bough.algorithms.soft.grip import Grip, new_memory, read_row, vector_at, write_at
from bough.algorithms.soft.law import impedance, rate_and_spring
from bough.algorithms.soft.layout import BLOCK, Layout, ShapeGroup, TouchGroup
from bough.algorithms.soft.scene import Side
from bough.algorithms.soft.world import ENTRIES, WorldTree
from bough.scalar import (
    Array,
    Index,
    Scalar,
    array,
    blank,
    do_when,
    each,
    gather,
    gather_index,
    keeping_loops,
    loop,
    unguarded,
    when,
)
from bough.spatial import ZERO, Force, Matrix, Motion, Transform, Vector

__all__ = ["Contacts"]

C = TypeVar("C")

MOST_ADDED_UP = 100
"""Contacts with the world of which is told body by body whether they touch."""


class Contacts:
    """All contacts of a scene in one state, found in a configuration at some velocity.

    `friction` is a factor of all coefficients of friction, `rate` (1/s) is B of the law, if all contacts have the same.
    """

    looks_ahead = False
    """Whether candidates are looked at further apart than their margins."""

    def __init__(
        self, layout: Layout, world: WorldTree, v: Sequence[Scalar], dt: Scalar, friction: Scalar | None = None
    ) -> None:
        self.layout, self._bodies, self.friction, self._v = layout, len(world.bodies), friction, v
        alike = layout.softness is not None and layout.softness.of_friction is None
        self.rate = rate_and_spring(layout.softness, dt)[0] if alike and layout.softness is not None else None
        self.several_trees = sum(not parent for parent in world.parents) > 1
        self._stiffness: tuple[Scalar, Scalar] = (0.0, 0.0)
        if not layout.touches:
            return
        with keeping_loops():
            self.memory = [new_memory(group) for group in layout.touches]
            self._motions = [unguarded(6 * len(layout.pushed), zeros=False) for _ in range(2)]
            self._origins: Vector | Array = world.bodies[-1].origin
            if self.several_trees:
                self._origins = _stored(3, [list(body.origin.parts) for body in world.bodies])
            places = [world.bodies[s.body].placement.then(_constant(s)) for s in layout.shapes]
            self._shapes = _stored(layout.place_size, [_entries(X) for X in places])
            self._prepare(world)
            for group in layout.candidates:
                if self.looks_ahead or not can_be_culled(group):
                    each(group.count, partial(self._candidate, group, dt))
                else:
                    centres = [X.translation for X in places]
                    each_near(group, layout.place_size, centres, partial(self._near, group, dt, 0.0))
            self._stiffness = self._added_up(False), self._added_up(True)  # before loops that ask for it

    @property
    def rates(self) -> Sequence[Scalar]:
        """The velocities of the state."""
        return self._v

    def origin(self, body: Index) -> Vector:
        """The origin of the tree of a body."""
        return self._origins if isinstance(self._origins, Vector) else vector_at(self._origins, body * 3)

    def in_memory(self, motions: Sequence[Motion], velocities: bool = False) -> Array:
        """Motions of bodies as an array (angular, linear) that loops over contacts read, until the next ones.

        It has those of bodies that may touch anything, by their places. There is room for two: `velocities` and others.
        """
        made = self._motions[velocities]
        for place, b in enumerate(self.layout.pushed):
            write_at(made, 6 * place, [*motions[b].angular.parts, *motions[b].linear.parts])
        return made

    def forces(
        self, rule: Callable[[Grip, Array, C], C], start: C, between: bool | None = None, left: bool = False
    ) -> tuple[list[Force | None], C]:
        """What a rule adds to the forces on bodies, contact by contact, and what it carries through them.

        There are none on bodies that nothing can touch. `left`: of contacts alone of which something is left.
        """
        pushed = self.layout.pushed
        with keeping_loops():
            total = blank(6 * len(pushed))
        write_at(total, 0, [0.0] * (6 * len(pushed)))
        end = self.sum(lambda grip, carry: rule(grip, total, carry), start, between, left)
        result: list[Force | None] = [None] * self._bodies
        for place, b in enumerate(pushed):
            result[b] = Force(vector_at(total, 6 * place), vector_at(total, 6 * place + 3))
        return result, end

    @property
    def impedance_size(self) -> int:
        """Room for the impedances of all bodies in memory."""
        return ENTRIES * self._bodies

    def told(self) -> dict[str, Array]:
        """Forces and moments on second bodies, points and normals of all contacts, in the world, and depths."""
        count = sum(group.count for group in self.layout.touches)
        with keeping_loops():
            forces, points, normals, moments = (array(3 * count) for _ in range(4))
            depths = array(count)

            def tell(grip: Grip, start: int) -> None:
                place, f = grip.k + start, self._forces(grip)
                write_at(forces, place * 3, combined(grip.axes, f[:3]).parts)
                write_at(points, place * 3, grip.place.parts)
                write_at(normals, place * 3, grip.axes[0].parts)
                if len(f) > 3:
                    write_at(moments, place * 3, combined(grip.axes, f[3:]).parts)
                depths[place] = grip.depth

            def look(group: TouchGroup, start: int, k: Index) -> None:
                grip = Grip(self, group, k)
                do_when(grip.D > 0.0, lambda: tell(grip, start))

            start = 0
            for group in self.layout.touches:
                each(group.count, partial(look, group, start))
                start += group.count
        return {"forces": forces, "points": points, "depths": depths, "normals": normals, "moments": moments}

    def _forces(self, grip: Grip) -> Sequence[Scalar]:
        """The forces of the rows of a contact, for who tells of it."""
        return grip.answer(grip.read("x")).f

    def pressed(self) -> dict[int, Scalar]:
        """By bodies that may touch the world the sum of D of these contacts: zero where none touches."""
        if sum(g.count for g in self._groups(False)) > MOST_ADDED_UP:
            return dict.fromkeys(self.layout.touched, self.stiffness(False))
        total: dict[int, Scalar] = {}
        for group in self._groups(False):
            for k, body in enumerate(group.bodies[1].data.tolist()):
                total[body] = total.get(body, 0.0) + self.memory[group.number].D[k]
        return total

    def stiffness(self, between: bool) -> Scalar:
        """The sum of D of all contacts with the world, or between bodies: zero where nothing touches."""
        return self._stiffness[between]

    def _added_up(self, between: bool) -> Scalar:
        total: Scalar = 0.0
        for group in self._groups(between):
            total = total + self._total(group)
        return total

    def _total(self, group: TouchGroup) -> Scalar:
        blocks, none = self.memory[group.number].blocks, 0.0  # type: Array, Scalar
        return loop(group.blocks, lambda b, total: total + blocks[b], none)

    def each(self, rule: Callable[[Grip], None], between: bool | None = None) -> None:
        """Run a rule for all contacts that touch in some state, or for those with the world or between bodies."""

        def carry_on(grip: Grip, nothing: tuple[()]) -> tuple[()]:
            rule(grip)
            return nothing

        self.sum(carry_on, (), between)

    def sum(self, rule: Callable[[Grip, C], C], start: C, between: bool | None = None, left: bool = False) -> C:
        """Carry something through all contacts that touch in some state, or of which something is left."""
        with keeping_loops():
            for group in self._groups(between):
                start = self._sum(group, rule, start, left)
        return start

    def _sum(self, group: TouchGroup, rule: Callable[[Grip, C], C], start: C, left: bool) -> C:
        blocks = self.memory[group.number].blocks

        def visit(k: Index, carry: C) -> C:
            grip = Grip(self, group, k)
            return when((grip.left if left else grip.D) > 0.0, lambda state: rule(grip, state), carry)

        def block(b: Index, carry: C) -> C:
            def inside(state: C) -> C:
                return loop(min(group.count, BLOCK), lambda k, state: visit(b * BLOCK + k, state), state)

            return when(blocks[b] > 0.0, inside, carry)

        return loop(group.blocks, block, start)

    def _groups(self, between: bool | None) -> list[TouchGroup]:
        return [g for g in self.layout.touches if between is None or g.between == between]

    # ---- finding them --------------------------------------------------------------------------------------------

    def _prepare(self, world: WorldTree) -> None:
        """Have ready what is needed to find contacts."""

    def _candidate(self, group: ShapeGroup, dt: Scalar, k: Index) -> None:
        """Find the contacts of a candidate, if it is near."""
        kinds = group.kinds
        shapes = [gather_index(table, k) for table in group.shapes]
        centres = [vector_at(self._shapes, shape) for shape in shapes]
        if group.floor is not None:
            centres[0] = Vector(*group.floor.origin)
        ahead = self._ahead(group, centres, dt, k)
        apart, reach = centres[1] - centres[0], gather(group.reach, k) + ahead
        if kinds[0] in GROUNDS or kinds[1] in GROUNDS:
            side = 0 if kinds[0] in GROUNDS else 1
            above = self._standing(group, shapes, side).rotation.columns[2].dot(apart)
            heights = group.heights[side]
            near = (above if side == 0 else -above) < reach + (0.0 if heights is None else heights.top)
        else:
            near = apart.dot(apart) < reach * reach
        do_when(near, lambda: self._near(group, dt, ahead, k))

    def _near(self, group: ShapeGroup, dt: Scalar, ahead: Scalar, k: Index) -> None:
        """Find the contacts of a candidate whose balls touch, where it is looked at `ahead` of its margin (m)."""
        kinds, shapes = group.kinds, [gather_index(table, k) for table in group.shapes]

        def sides() -> tuple[tuple[Shape, Transform], ...]:
            return tuple((self._shape(group, i, k), self._standing(group, shapes, i)) for i in (0, 1))

        def touch() -> None:
            first, second = sides()
            margin, looped = gather(group.margin, k), iterates(*kinds)
            points = contact_points(*first, *second) if looped else []
            found = [Gap(True, partial(getattr, p, "distance")) for p in points] or gaps(*first, *second)

            def put(j: int) -> None:
                # what only those that touch need is computed here, unless that takes loops
                point = (points if looped else contact_points(*first, *second))[j]
                self._put(group, k, j, point, point.distance - margin, dt)

            def look(j: int, gap: Gap) -> None:
                do_when(gap.distance() - margin < ahead, partial(put, j))

            for j, gap in enumerate(found):
                if gap.may is True:
                    look(j, gap)
                else:
                    do_when(gap.may, partial(look, j, gap))

        if "capsule" in kinds and set(kinds) <= {"sphere", "capsule"}:
            first, second = sides()
            do_when(overlap_in_line(*first, *second, gather(group.margin, k) + ahead), touch)
        else:
            touch()

    def _ahead(self, group: ShapeGroup, centres: Sequence[Vector], dt: Scalar, k: Index) -> Scalar:
        """How much further apart than their margin (m) the shapes of a candidate are looked at."""
        return 0.0

    def _put(self, group: ShapeGroup, k: Index, j: int, point: ContactPoint, depth: Scalar, dt: Scalar) -> None:
        """Write down the contact j of a candidate."""
        B, K = rate_and_spring(group.softness, dt)
        d = impedance(group.softness, depth)
        grip = Grip(self, group.touch, gather_index(group.contacts, k) + j)
        weight = grip.weighted(gather(group.base, k))
        place = point.point - self.origin(gather_index(group.bodies[1], k))
        grip.put(-point.distance, place, point.axes)
        of_friction = group.softness.of_friction
        grip.put_reference(B, K * d * depth, B if of_friction is None else rate_and_spring(of_friction, dt)[0])
        grip.press(d / ((1.0 - d) * weight))

    def _shape(self, group: ShapeGroup, side: int, k: Index) -> Shape:
        """One of the shapes of a candidate."""
        kind, hulls, sizes, floor = group.kinds[side], group.hulls[side], group.sizes[side], group.floor
        heights = group.heights[side]
        if heights is not None:
            return kind, heights
        if hulls is not None:
            fixed = floor.corners if floor is not None and side == 0 else None
            return kind, hulls.of(k) if fixed is None else fixed.vertices
        if floor is not None and side == 0:
            return kind, floor.size
        return kind, tuple(read_row(sizes, sizes.data.size // group.count, k))

    def _standing(self, group: ShapeGroup, shapes: Sequence[Index], side: int) -> Transform:
        """Where one of the shapes of a candidate is."""
        if side == 0 and group.floor is not None:
            return _constant(group.floor)
        origin, z, *others = (vector_at(self._shapes, shapes[side] + i) for i in range(0, self.layout.place_size, 3))
        x, y = others or (ZERO, ZERO)  # nobody asks for them
        return Transform(Matrix(x, y, z), origin)


def _stored(size: int, values: Sequence[Sequence[Scalar]]) -> Array:
    """Rows of numbers in memory."""
    made = blank(size * len(values))
    for k, row in enumerate(values):
        write_at(made, k * size, row[:size])
    return made


def _constant(side: Side) -> Transform:
    r = side.rotation
    return Transform(Matrix.of_rows([r[:3], r[3:6], r[6:]]), Vector(*side.origin))


def _entries(X: Transform) -> list[Scalar]:
    """The origin and the axes z, x and y, the first of which not all shapes need."""
    x, y, z = X.rotation.columns
    return [part for vector in (X.translation, z, x, y) for part in vector.parts]
