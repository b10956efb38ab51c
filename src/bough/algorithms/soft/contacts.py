"""Contacts of a scene in memory: found by loops over candidates, and then looped over in every Newton step.

What touches in no state of a vector is skipped: its turn of a loop is a comparison and a jump.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from bough.algorithms.narrow_phase import contact_points
from bough.algorithms.soft.axes import combined, congruent, products, twice_symmetric
from bough.algorithms.soft.law import Answer, impedance, rate_and_spring
from bough.algorithms.soft.scene import BLOCK, Layout, ShapeGroup, Side, TouchGroup
from bough.algorithms.soft.world import WorldTree
from bough.scalar import (
    Array,
    Index,
    Part,
    Scalar,
    Table,
    array,
    blank,
    do_when,
    each,
    gather,
    gather_index,
    keeping_loops,
    loop,
    when,
)
from bough.spatial import ArticulatedInertia, Force, Matrix, Motion, Symmetric, Transform, Vector, cross_matrix

__all__ = ["Contacts", "Grip"]

C = TypeVar("C")

PLACE = 12  # numbers of a rotation and an origin


class Grip:
    """One contact: between two bodies, by number, at a point seen from the origin of the second one's tree."""

    def __init__(self, contacts: Contacts, group: TouchGroup, k: Index) -> None:
        self.law, self.k, self.group, self._of = group.law, k, group, contacts
        self._memory = contacts.memory[group.number]

    @property
    def D(self) -> Scalar:
        """Stiffness of the first row; zero where it does not touch."""
        value: Scalar = self._memory.D[self.k]
        return value

    @property
    def depth(self) -> Scalar:
        """How far the shapes have sunk into each other (m)."""
        value: Scalar = self._memory.depths[self.k]
        return value

    @property
    def axes(self) -> list[Vector]:
        """The normal, from the first body to the second, and two tangents if there is friction."""
        count = min(self.law.rows, 3)
        return [_vector(self._memory.axes, (self.k * count + i) * 3) for i in range(count)]

    @property
    def place(self) -> Vector:
        """The point in the world."""
        return _vector(self._memory.points, self.k * 3) + self._of.origin(gather_index(self.group.bodies[1], self.k))

    def _ends(self) -> list[tuple[Index, Vector, float]]:
        """Bodies that move, with the point and the sign of its rows."""
        first, second = (gather_index(table, self.k) for table in self.group.bodies)
        point = _vector(self._memory.points, self.k * 3)
        if not self.group.between:
            return [(second, point, 1.0)]
        shifted = point
        if self._of.several_trees:
            shifted = point + self._of.origin(second) - self._of.origin(first)
        return [(first, shifted, -1.0), (second, point, 1.0)]

    def along(self, motions: Array) -> list[Scalar]:
        """The rows of J times motions of bodies in memory: the second body as seen from the first."""
        linear, angular = Vector(0.0, 0.0, 0.0), Vector(0.0, 0.0, 0.0)
        for body, point, sign in self._ends():
            turn, move = _vector(motions, body * 6), _vector(motions, body * 6 + 3)
            linear = linear + (move + turn.cross(point)) * sign
            angular = angular + turn * sign
        axes, rows = self.axes, self.law.rows
        return [a.dot(linear) for a in axes[:rows]] + [a.dot(angular) for a in axes[: max(rows - 3, 0)]]

    def add_forces(self, f: Sequence[Scalar], forces: Array) -> None:
        """Add Jᵀ f to the forces on bodies in memory."""
        axes = self.axes
        linear, moment = combined(axes, f[:3]), combined(axes, f[3:])
        for body, point, sign in self._ends():
            turning = point.cross(linear)
            parts = [*(turning + moment if len(f) > 3 else turning).parts, *linear.parts]
            _add(forces, body * 6, [x * sign for x in parts])

    def add_impedance(self, W: Sequence[Sequence[Scalar]], K: Array) -> None:
        """Add Jᵀ W J of a contact with the world to the 6 x 6 impedance of its body in memory."""
        ((body, point, _),) = self._ends()
        axes = self.axes
        linear = congruent(axes, [row[:3] for row in W[:3]])
        shift = cross_matrix(point)
        coupling = shift @ linear.matrix
        rows = [point.cross(row) for row in coupling.T.columns]  # of p× P (p×)ᵀ
        angular = Symmetric(rows[0].x, rows[1].x, rows[1].y, rows[2].x, rows[2].y, rows[2].z)
        if len(W) > 3:
            crossing = products(axes, [row[:3] for row in W[3:]])
            coupling = coupling + crossing
            angular = angular + congruent(axes, [row[3:] for row in W[3:]]) + twice_symmetric(crossing @ shift.T)
        entries = [x for row in ArticulatedInertia(angular, coupling, linear).lower for x in row]
        _add(K, body * ENTRIES, entries)

    def answer(self, x: Sequence[Scalar]) -> Answer:
        """Forces and stiffness where accelerations differ from the reference by x."""
        more = self.law.rows - 1
        return self.law.answer(x, self.D, read_row(self.group.mu, more, self.k))

    def read(self, name: str) -> list[Scalar]:
        """Its rows of "reference", "x" or "y"."""
        values = getattr(self._memory, name)
        return [values[self.k * self.law.rows + i] for i in range(self.law.rows)]

    def write(self, name: str, rows: Sequence[Scalar]) -> None:
        """Write its rows of one of these."""
        _write(getattr(self._memory, name), self.k * self.law.rows, rows)

    def put(self, D: Scalar, depth: Scalar, point: Vector, axes: Sequence[Vector]) -> None:
        """Write where it is, and how deep."""
        m = self._memory
        m.D[self.k], m.depths[self.k] = D, depth
        count = min(self.law.rows, 3)
        _write(m.points, self.k * 3, point.parts)
        _write(m.axes, self.k * (3 * count), [x for axis in axes[:count] for x in axis.parts])


@dataclass(frozen=True)
class _Memory:
    """Of all contacts of a group; `blocks` has the sum of D of each block."""

    D: Array
    blocks: Array
    depths: Array
    points: Array
    axes: Array
    reference: Array
    x: Array
    y: Array


ENTRIES = 21
"""Entries of the lower triangle of a 6 x 6 matrix."""


class Contacts:
    """All contacts of a scene in one state, found in a configuration at some velocity."""

    def __init__(self, layout: Layout, world: WorldTree, v: Sequence[Scalar], dt: Scalar) -> None:
        self.layout, self._bodies = layout, len(world.bodies)
        self.several_trees = sum(not parent for parent in world.parents) > 1
        if not layout.touches:
            return
        with keeping_loops():
            self.memory = [_memory(group) for group in layout.touches]
            self._origins = _stored(3, [list(body.origin.parts) for body in world.bodies])
            self._shapes = _stored(
                PLACE, [_entries(world.bodies[s.body].placement.then(_constant(s))) for s in layout.shapes]
            )
            motions = self.in_memory(world.motions(v))
            for group in layout.candidates:
                each(group.count, partial(self._candidate, group, motions, dt))
            for touch in layout.touches:
                self._sum_up(touch)

    def origin(self, body: Index) -> Vector:
        """The origin of the tree of a body."""
        return _vector(self._origins, body * 3)

    def in_memory(self, motions: Sequence[Motion]) -> Array:
        """Motions of bodies as an array (angular, linear) that loops over contacts read."""
        with keeping_loops():
            return _stored(6, [[*m.angular.parts, *m.linear.parts] for m in motions])

    def forces(self, rule: Callable[[Grip, Array], None], between: bool | None = None) -> list[Force | None]:
        """What a rule adds to the forces on bodies, contact by contact; none on bodies that nothing can touch."""
        with keeping_loops():
            total = array(6 * self._bodies)
        self.each(lambda grip: rule(grip, total), between)
        result: list[Force | None] = [None] * self._bodies
        for b in self.layout.pushed:
            result[b] = Force(_vector(total, 6 * b), _vector(total, 6 * b + 3))
        return result

    def impedances(self, rule: Callable[[Grip, Array], None]) -> list[ArticulatedInertia | None]:
        """What a rule adds to impedances of bodies, contact by contact with the world; none of other bodies."""
        with keeping_loops():
            total = array(ENTRIES * self._bodies)
        self.each(lambda grip: rule(grip, total), between=False)
        result: list[ArticulatedInertia | None] = [None] * self._bodies
        for b in self.layout.touched:
            entries = iter([total[ENTRIES * b + i] for i in range(ENTRIES)])
            result[b] = ArticulatedInertia.of_lower([[next(entries) for _ in range(i + 1)] for i in range(6)])
        return result

    def told(self) -> tuple[Array, Array, Array]:
        """Forces on second bodies and points of all contacts, three numbers each in the world, and depths."""
        count = sum(group.count for group in self.layout.touches)
        with keeping_loops():
            forces, points, depths = array(3 * count), array(3 * count), array(count)
            starts, start = {}, 0
            for group in self.layout.touches:
                starts[group.number], start = start, start + group.count

            def tell(grip: Grip) -> None:
                place = grip.k + starts[grip.group.number]
                f = grip.answer(grip.read("x")).f
                _write(forces, place * 3, combined(grip.axes, f[:3]).parts)
                _write(points, place * 3, grip.place.parts)
                depths[place] = grip.depth

            if count:
                self.each(tell)
        return forces, points, depths

    def stiffness(self, between: bool) -> Scalar:
        """The sum of D of all contacts with the world, or between bodies: zero where nothing touches."""
        total: Scalar = 0.0
        with keeping_loops():
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

    def sum(self, rule: Callable[[Grip, C], C], start: C, between: bool | None = None) -> C:
        """Carry something through all contacts that touch in some state."""
        with keeping_loops():
            for group in self._groups(between):
                start = self._sum(group, rule, start)
        return start

    def _sum(self, group: TouchGroup, rule: Callable[[Grip, C], C], start: C) -> C:
        blocks = self.memory[group.number].blocks

        def visit(k: Index, carry: C) -> C:
            grip = Grip(self, group, k)
            return when(grip.D > 0.0, lambda state: rule(grip, state), carry)

        def block(b: Index, carry: C, size: int) -> C:
            def inside(state: C) -> C:
                return loop(size, lambda k, state: visit(b * BLOCK + k, state), state)

            return when(blocks[b] > 0.0, inside, carry)

        whole, rest = divmod(group.count, BLOCK)
        start = loop(whole, lambda b, carry: block(b, carry, BLOCK), start)
        return loop(1, lambda b, carry: block(b + whole, carry, rest), start) if rest else start

    def _sum_up(self, group: TouchGroup) -> None:
        m = self.memory[group.number]

        def add(b: Index, size: int) -> None:
            none: Scalar = 0.0
            m.blocks[b] = loop(size, lambda k, total: total + m.D[b * BLOCK + k], none)

        whole, rest = divmod(group.count, BLOCK)
        each(whole, lambda b: add(b, BLOCK))
        if rest:
            each(1, lambda b: add(b + whole, rest))

    def _groups(self, between: bool | None) -> list[TouchGroup]:
        return [g for g in self.layout.touches if between is None or g.between == between]

    # ---- finding them --------------------------------------------------------------------------------------------

    def _candidate(self, group: ShapeGroup, motions: Array, dt: Scalar, k: Index) -> None:
        """Find the contacts of a candidate, if it is near."""
        kinds = group.kinds
        shapes = [gather_index(table, k) * PLACE for table in group.shapes]
        centres = [_vector(self._shapes, shape + 9) for shape in shapes]
        if group.floor is not None:
            centres[0] = Vector(*group.floor.origin)
        apart, reach = centres[1] - centres[0], gather(group.reach, k)
        if "plane" in kinds:
            side = kinds.index("plane")
            above = _transform(self._row(group, shapes, side)).rotation.columns[2].dot(apart)
            near = (above if side == 0 else -above) < reach
        else:
            near = apart.dot(apart) < reach * reach

        def touch() -> None:
            B, K = rate_and_spring(group.softness, dt)
            X1, X2 = (_transform(self._row(group, shapes, side)) for side in (0, 1))
            sizes = [read_row(t, t.data.size // group.count, k) for t in group.sizes]
            if group.floor is not None:
                sizes[0] = list(group.floor.size)
            first, second = (kinds[0], tuple(sizes[0])), (kinds[1], tuple(sizes[1]))
            origin = self.origin(gather_index(group.bodies[1], k))
            depths = [p.distance - gather(group.margin, k) for p in contact_points(first, X1, second, X2)]

            def put(j: int, depth: Scalar) -> None:
                point = contact_points(first, X1, second, X2)[j]  # what only those that touch need is computed here
                d = impedance(group.softness, depth)
                grip = Grip(self, group.touch, gather_index(group.contacts, k) + j)
                grip.put(d / ((1.0 - d) * gather(group.base, k)), -point.distance, point.point - origin, point.axes)
                rates = grip.along(motions)
                grip.write("reference", [-(B * rates[0]) - K * d * depth, *(-(B * rate) for rate in rates[1:])])

            for j, depth in enumerate(depths):
                do_when(depth < 0.0, partial(put, j, depth))

        do_when(near, touch)

    def _row(self, group: ShapeGroup, shapes: Sequence[Index], side: int) -> list[Scalar]:
        if side == 0 and group.floor is not None:
            return [*group.floor.rotation, *group.floor.origin]
        return [self._shapes[shapes[side] + i] for i in range(PLACE)]


def _memory(group: TouchGroup) -> _Memory:
    count, rows = group.count, group.law.rows * group.count
    axes = 3 * min(group.law.rows, 3) * count
    return _Memory(
        array(count),
        blank(group.blocks),
        blank(count),
        blank(3 * count),
        blank(axes),
        blank(rows),
        blank(rows),
        blank(rows),
    )


def _stored(size: int, values: Sequence[Sequence[Scalar]]) -> Array:
    """Rows of numbers in memory."""
    made = blank(size * len(values))
    for k, row in enumerate(values):
        _write(made, k * size, row)
    return made


def read_row(table: Table, size: int, k: Index) -> list[Scalar]:
    """A row of a table; a number that all rows have is a constant."""
    columns = table.data.reshape(-1, size) if size else table.data.reshape(1, 0)
    same = (columns == columns[0]).all(axis=0)
    return [float(columns[0, i]) if same[i] else gather(table, k * size + i) for i in range(size)]


def _constant(side: Side) -> Transform:
    return _transform([*side.rotation, *side.origin])


def _entries(X: Transform) -> list[Scalar]:
    columns = X.rotation.columns
    return [*(column.parts[i] for i in range(3) for column in columns), *X.translation.parts]


def _transform(values: Sequence[Scalar]) -> Transform:
    return Transform(Matrix.of_rows([values[:3], values[3:6], values[6:9]]), Vector.of(values[9:]))


def _vector(values: Array, start: Index) -> Vector:
    part = Part(values, start)
    return Vector(part[0], part[1], part[2])


def _write(values: Array, start: Index, parts: Sequence[Scalar]) -> None:
    for i, x in enumerate(parts):
        values[start + i] = x


def _add(values: Array, start: Index, parts: Sequence[Scalar]) -> None:
    for i, x in enumerate(parts):
        values[start + i] = values[start + i] + x
