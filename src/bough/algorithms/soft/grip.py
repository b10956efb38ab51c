"""One contact in memory: where it is, how its rows act, and what they add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bough.algorithms.soft.axes import combined, congruent, products, symmetric_times, twice_symmetric
from bough.algorithms.soft.law import LEAST_FRICTION, Answer
from bough.algorithms.soft.layout import TouchGroup
from bough.algorithms.soft.world import ENTRIES
from bough.scalar import (
    Array,
    Index,
    Part,
    Scalar,
    Table,
    array,
    dot,
    gather,
    gather_index,
    maximum,
    minus,
    plus,
    unguarded,
)
from bough.spatial import ArticulatedInertia, Symmetric, Vector, cross_matrix

if TYPE_CHECKING:
    from bough.algorithms.soft.contacts import Contacts

__all__ = ["Grip", "Memory", "new_memory", "read_row", "vector_at", "write_at"]


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
        return [vector_at(self._memory.axes, (self.k * count + i) * 3) for i in range(count)]

    @property
    def place(self) -> Vector:
        """The point in the world."""
        return vector_at(self._memory.points, self.k * 3) + self._of.origin(self.body(1))

    def ends(self) -> list[tuple[int, Vector, float]]:
        """The sides whose bodies move, with the point and the sign of its rows."""
        point = vector_at(self._memory.points, self.k * 3)
        if not self.group.between:
            return [(1, point, 1.0)]
        shifted = point
        if self._of.several_trees:
            first, second = map(self.body, (0, 1))
            shifted = point + self._of.origin(second) - self._of.origin(first)
        return [(0, shifted, -1.0), (1, point, 1.0)]

    def body(self, side: int) -> Index:
        """The number of a body."""
        return gather_index(self.group.bodies[side], self.k)

    def _entries_of(self, side: int) -> Index:
        """Where the six numbers of a body begin in memory."""
        return gather_index(self.group.places[side], self.k) * 6

    def along(self, motions: Array) -> list[Scalar]:
        """The rows of J times motions of bodies in memory: the second body as seen from the first."""
        linear, angular = Vector(0.0, 0.0, 0.0), Vector(0.0, 0.0, 0.0)
        for side, point, sign in self.ends():
            start = self._entries_of(side)
            turn, move = vector_at(motions, start), vector_at(motions, start + 3)
            linear = linear + (move + turn.cross(point)) * sign
            angular = angular + turn * sign
        axes, rows = self.axes, self.law.rows
        return [a.dot(linear) for a in axes[:rows]] + [a.dot(angular) for a in axes[: max(rows - 3, 0)]]

    def begin(self, motions: Array, rates: Array | None = None) -> list[Scalar]:
        """Write x = J a - a_ref for accelerations and velocities of bodies in memory, and return it.

        Without velocities the accelerations have B times these in them.
        """
        normal, *others = self.along(motions)
        if rates is not None:
            B, (speed, *speeds) = self._memory.rates[self.k], self.along(rates)
            rubbing = self._memory.rubbing[self.k] if self.group.two_rates else B
            normal, others = normal + B * speed, [a + rubbing * v for a, v in zip(others, speeds, strict=True)]
        x = [normal + self._memory.springs[self.k], *others]
        self.write("x", x)
        return x

    def project(self, motions: Array) -> list[Scalar]:
        """Write y = J d for a way of bodies in memory, and return it."""
        y = self.along(motions)
        self.write("y", y)
        return y

    def lack(
        self, x: Sequence[Scalar], way: Sequence[Scalar], y: Sequence[Scalar]
    ) -> tuple[list[Scalar], list[Scalar], Scalar]:
        """x after a way, what the rows lack there, r = f - W way - f′, and yᵀ (W′ - W) y.

        Forces are - W x under all laws of contact, so that r is (W′ - W) x after the way.
        """
        z = plus(x, way)
        old, new = self.answer(x).W, self.answer(z).W
        more = [minus(one, other) for one, other in zip(new, old, strict=True)]
        return z, symmetric_times(more, z), dot(y, symmetric_times(more, y))

    def add_forces(self, f: Sequence[Scalar], forces: Array) -> None:
        """Add Jᵀ f to the forces on bodies in memory."""
        axes = self.axes
        linear, moment = combined(axes, f[:3]), combined(axes, f[3:])
        for side, point, sign in self.ends():
            turning = point.cross(linear)
            parts = [*(turning + moment if len(f) > 3 else turning).parts, *linear.parts]
            _add(forces, self._entries_of(side), [x * sign for x in parts])

    def add_impedance(self, W: Sequence[Sequence[Scalar]], K: Array) -> None:
        """Add Jᵀ W J of a contact with the world to the 6 x 6 impedance of its body in memory."""
        ((side, point, _),) = self.ends()
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
        _add(K, self.body(side) * ENTRIES, entries)

    def answer(self, x: Sequence[Scalar]) -> Answer:
        """Forces and stiffness where accelerations differ from the reference by x."""
        return self.law.answer(x, self.D, self.mu)

    @property
    def _said(self) -> list[Scalar]:
        return read_row(self.group.mu, self.law.rows - 1, self.k)

    @property
    def mu(self) -> list[Scalar]:
        """Coefficients of friction of all rows but the first."""
        factor = self._of.friction
        return self._said if factor is None else [maximum(mu * factor, LEAST_FRICTION) for mu in self._said]

    def weighted(self, base: Scalar) -> Scalar:
        """What (1 - d)/d is multiplied by for R of the first row, from what it is without a factor of friction."""
        if self._of.friction is None or self.law.rows == 1 or self.law.friction.cone != "pyramidal":
            return base
        one, other = self.mu[0] * self.mu[0], self._said[0] * self._said[0]
        return base * (one * (1.0 + one)) / (other * (1.0 + other))

    def read(self, name: str) -> list[Scalar]:
        """Its rows of "x" or "y"."""
        values = getattr(self._memory, name)
        return [values[self.k * self.law.rows + i] for i in range(self.law.rows)]

    def write(self, name: str, rows: Sequence[Scalar]) -> None:
        """Write its rows of one of these."""
        write_at(getattr(self._memory, name), self.k * self.law.rows, rows)

    def put(self, depth: Scalar, point: Vector, axes: Sequence[Vector]) -> None:
        """Write where it is, and how deep."""
        m, count = self._memory, min(self.law.rows, 3)
        m.depths[self.k] = depth
        write_at(m.points, self.k * 3, point.parts)
        write_at(m.axes, self.k * (3 * count), [x for axis in axes[:count] for x in axis.parts])

    def put_reference(self, rate: Scalar, spring: Scalar, rubbing: Scalar) -> None:
        """Write what its reference acceleration is made of: - `rate` J v - `spring` along the normal, and of friction
        - `rubbing` J v.
        """
        self._memory.rates[self.k], self._memory.springs[self.k] = rate, spring
        if self.group.two_rates:
            self._memory.rubbing[self.k] = rubbing

    @property
    def left(self) -> Scalar:
        """How stiff what is left of it is, which conjugate gradients take."""
        value: Scalar = self._memory.left[self.k]
        return value

    def leave(self, stiffness: Scalar) -> None:
        """Write how stiff what is left of it is."""
        self._memory.left[self.k] = stiffness

    def press(self, D: Scalar) -> None:
        """Write how stiff it is: from now on it touches."""
        m, b = self._memory, gather_index(self.group.block, self.k)
        m.D[self.k] = D
        m.blocks[b] = m.blocks[b] + D


@dataclass(frozen=True)
class Memory:
    """Of all contacts of a group; `blocks` has the sum of D of each block. Where a contact does not touch, D and `left`
    are zero, and all others may hold anything.
    """

    D: Array
    blocks: Array
    left: Array  # between bodies alone: what conjugate gradients take
    depths: Array
    points: Array
    axes: Array
    rates: Array
    springs: Array
    rubbing: Array  # where friction has a rate of its own
    x: Array
    y: Array


def new_memory(group: TouchGroup) -> Memory:
    """Memory for the contacts of a group, none of which touches."""
    room, rows = group.room, group.law.rows
    sizes = 1, 3, 3 * min(rows, 3), 1, 1, int(group.two_rates), rows, rows
    left = array(room if group.between else 0)
    return Memory(array(room), array(group.blocks), left, *(unguarded(size * room, zeros=False) for size in sizes))


def read_row(table: Table, size: int, k: Index) -> list[Scalar]:
    """A row of a table; a number that all rows have is a constant."""
    columns = table.data.reshape(-1, size) if size else table.data.reshape(1, 0)
    same = (columns == columns[0]).all(axis=0)
    return [float(columns[0, i]) if same[i] else gather(table, k * size + i) for i in range(size)]


def vector_at(values: Array, start: Index) -> Vector:
    """Three numbers of an array."""
    part = Part(values, start)
    return Vector(part[0], part[1], part[2])


def write_at(values: Array, start: Index, parts: Sequence[Scalar]) -> None:
    """Write numbers to an array, one after the other."""
    for i, x in enumerate(parts):
        values[start + i] = x


def _add(values: Array, start: Index, parts: Sequence[Scalar]) -> None:
    for i, x in enumerate(parts):
        values[start + i] = values[start + i] + x
