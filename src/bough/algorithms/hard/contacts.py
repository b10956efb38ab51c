"""Contacts that touch, or will within a step of time, and their rows: found by loops over candidates.

A scene may have hundreds of contacts of which few touch. These are put one after the other into slots; in which slot a
contact is differs from state to state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce

import numpy as np

from bough.algorithms.hard.scene import KEPT, HardScene, restitutions_of
from bough.algorithms.narrow_phase import ContactPoint
from bough.algorithms.shapes.point import axes_of
from bough.algorithms.soft.contacts import Contacts
from bough.algorithms.soft.grip import Grip, vector_at
from bough.algorithms.soft.layout import ShapeGroup, layout_of
from bough.algorithms.soft.world import WorldTree
from bough.scalar import (
    Array,
    Index,
    Part,
    Scalar,
    Table,
    absolute,
    array,
    blank,
    both,
    do_when,
    each,
    fill,
    gather,
    gather_index,
    keeping_loops,
    loop,
    maximum,
    select,
    sqrt,
)
from bough.scalar.tolerances import ROUNDING, SINGULAR_VALUE, TOUCHING
from bough.spatial import Vector

__all__ = ["AHEAD", "AXES", "HardContacts"]

AXES = 3
"""Rows of a contact: along its normal and two tangents."""

AHEAD = 100.0
"""Accelerations (m/s²) with which bodies are expected to approach each other at most within a step."""


class HardContacts(Contacts):
    """The contacts of a scene that may push within a step of time dt, in slots.

    `bounce` is a factor of all restitutions. `count` says how many there are, of which those beyond the last slot are
    left out. Of slots: `gaps` (m), `mu`,
    `restitution`, and `on`, 1 for those that hold a contact.
    """

    looks_ahead = True

    def __init__(
        self,
        scene: HardScene,
        world: WorldTree,
        v: Sequence[Scalar],
        dt: Scalar,
        friction: Scalar | None = None,
        bounce: Scalar | None = None,
    ) -> None:
        super().__init__(layout_of(scene.common), world, v, dt, friction)
        self._scene, self._world, self._slots, self._bounce = scene, world, scene.slots, bounce
        self._direct = scene.slots == scene.contacts  # each has a slot of its own
        self._starts = np.cumsum([0, *(group.count for group in self.layout.touches)]).tolist()
        self._numbers = Table("slots", np.arange(self._slots, dtype=float))
        with keeping_loops():
            self.gaps, self.mu, self.restitution, self.on = (array(self._slots) for _ in range(4))
        self.count: Scalar = 0.0
        self.contacts = scene.contacts

    # ---- finding them --------------------------------------------------------------------------------------------

    def _prepare(self, world: WorldTree) -> None:
        self._velocities = self.in_memory(world.motions(self.rates), velocities=True)

    def _ahead(self, group: ShapeGroup, centres: Sequence[Vector], dt: Scalar, k: Index) -> Scalar:
        velocity, spin = Vector(0.0, 0.0, 0.0), 0.0  # type: Vector, Scalar
        for side, sign in ((0, -1.0), (1, 1.0)):
            if side == 0 and group.floor is not None:
                continue
            body = gather_index(group.bodies[side], k)
            start = gather_index(group.places[side], k) * 6
            turn, move = (vector_at(self._velocities, start + i) for i in (0, 3))
            velocity = velocity + (move + turn.cross(centres[side] - self.origin(body))) * sign
            spin = spin + sqrt(turn.dot(turn))
        return dt * (sqrt(velocity.dot(velocity)) + spin * gather(group.reach, k) + AHEAD * dt) + TOUCHING

    def _put(self, group: ShapeGroup, k: Index, j: int, point: ContactPoint, depth: Scalar, dt: Scalar) -> None:
        grip = Grip(self, group.touch, gather_index(group.contacts, k) + j)
        place = point.point - self.origin(gather_index(group.bodies[1], k))
        grip.put(-point.distance, place, point.axes)
        near = depth + dt * grip.along(self._velocities)[0] <= dt * dt * AHEAD + TOUCHING
        grip.press(select(near, 1.0, 0.0))
        grip.write("y", [depth])

    # ---- slots ---------------------------------------------------------------------------------------------------

    def fill_rows(self, J: Array, n: int) -> None:
        """Put all contacts into slots, and write their rows (slots × 3, n) for velocities of the model."""
        if not self._slots:
            return
        own = self._world.coupling.full_tree.n
        with keeping_loops():
            columns = blank(6 * own)
            for body, start in zip(self._world.bodies[1:], self._world.starts, strict=True):
                for k, s in enumerate(body.S):
                    for i, value in enumerate((*s.angular.parts, *s.linear.parts)):
                        columns[6 * (start + k) + i] = value
            moves = self._moves

            def rule(grip: Grip, count: Scalar) -> Scalar:
                row, size = self._row_of(grip, columns, moves, own)
                grip.write("x", [count])
                self._where(grip, lambda s: self._fill_slot(grip, s, row, size, J, n))
                return count + 1.0

            none: Scalar = 0.0
            self.count = self.sum(rule, none)

    @property
    def _moves(self) -> Table:
        """For each body, and each velocity of joints: 1 if it moves the body."""
        world = self._world
        moves = np.zeros((len(world.bodies), world.coupling.full_tree.n))
        for body, (parent, start) in enumerate(zip(world.parents, world.starts, strict=True), start=1):
            moves[body] = moves[parent]
            moves[body, start : start + len(world.bodies[body].S)] = 1.0
        return Table("moves", moves.ravel())

    def _row_of(self, grip: Grip, columns: Array, moves: Table, own: int) -> tuple[Array, Scalar]:
        """The rows of a contact, for velocities of joints, and the largest of the terms whose sums they are."""
        row, axes = blank(AXES * own), grip.axes
        if len(axes) < AXES:  # without friction the rows of tangents tell how far a push moves the point aside
            axes = list(axes_of(axes[0]))
        ends = [(grip.body(side), point, sign) for side, point, sign in grip.ends()]

        reach: Scalar = 0.0
        for _, point, _ in ends:
            reach = maximum(reach, _length(point))

        def entry(j: Index, size: Scalar) -> Scalar:
            angular, linear = vector_at(columns, j * 6), vector_at(columns, j * 6 + 3)
            velocity = Vector(0.0, 0.0, 0.0)
            for body, point, sign in ends:
                moved = gather(moves, body * own + j) * sign
                velocity = velocity + (linear + angular.cross(point)) * moved
            for t in range(AXES):
                row[j + t * own] = axes[t].dot(velocity)
            most: Scalar = maximum(size, _length(linear) + _length(angular) * reach)
            return most

        none: Scalar = 0.0
        return row, loop(own, entry, none)

    def _fill_slot(self, grip: Grip, s: Index, row: Array, size: Scalar, J: Array, n: int) -> None:
        own, coupling = self._world.coupling.full_tree.n, self._world.coupling
        starts = [(s * AXES + t) * n for t in range(AXES)]
        for t, start in enumerate(starts):
            reduced = coupling.reduced(Part(row, t * own))
            fill(Part(J, start), n, reduced.__getitem__)
        self._drop_held(J, starts, size, n)
        self.gaps[s], self.on[s] = grip.read("y")[0], 1.0
        self.mu[s] = grip.mu[0] if grip.law.rows > 1 else 0.0
        bounces = gather(restitutions_of(self._scene)[grip.group.number], grip.k)
        self.restitution[s] = bounces if self._bounce is None else bounces * self._bounce

    def _drop_held(self, J: Array, starts: Sequence[Index], size: Scalar, n: int) -> None:
        """Make rows zero along which the joints hold the point: no impulse has an effect along them.

        What is left there is rounding of terms of a `size`, or so little that the direction is not known any better.
        """
        none: Scalar = 0.0

        def most_of(row: Array) -> Scalar:
            found: Scalar = loop(n, lambda k, so_far: maximum(so_far, absolute(row[k])), none)
            return found

        rows = [Part(J, start) for start in starts]
        most = [most_of(row) for row in rows]
        least = maximum(size * ROUNDING, reduce(maximum, most) * SINGULAR_VALUE)
        for row, x in zip(rows, most, strict=True):
            share = select(x <= least, 0.0, 1.0)
            each(n, partial(_scale, row, share))

    def slot_impulses(self, before: Array) -> Array:
        """Impulses of slots (slots × 3), from those of the step before, by the numbers of contacts."""
        result = array(self._slots * AXES)

        def rule(grip: Grip) -> None:
            own = self._number(grip)

            def compare(j: Index) -> None:
                apart = before[j * KEPT] - own
                known = both(apart > -0.5, apart < 0.5)
                do_when(known, lambda: self._where(grip, lambda s: _copy(before, j * KEPT + 1, result, s * AXES)))

            each(self._scene.kept, compare)

        self.each(rule)
        return result

    def to_remember(self, impulses: Array) -> Array:
        """The contacts in slots by number, with their impulses, for the next step to start from."""
        result = array(max(self._slots, self._scene.kept) * KEPT)

        def rule(grip: Grip) -> None:
            own = self._number(grip)

            def put(s: Index) -> None:
                result[s * KEPT] = own
                _copy(impulses, s * AXES, result, s * KEPT + 1)

            self._where(grip, put)

        self.each(rule)
        return result

    def of_contacts(self, values: Array) -> Array:
        """Numbers of all contacts (contacts × 3), from those of slots (slots × 3); zero where there is none."""
        result = array(self._scene.contacts * AXES)

        def rule(grip: Grip) -> None:
            place = self._place(grip)
            self._where(grip, lambda s: _copy(values, s * AXES, result, place * AXES))

        self.each(rule)
        return result

    def _number(self, grip: Grip) -> Scalar:
        """The number of a contact among all, counted from 1."""
        return gather(Table("contacts", np.arange(1.0, self.contacts + 1.0)), self._place(grip))

    def _place(self, grip: Grip) -> Index:
        """The number of a contact among all."""
        place: Index = grip.k + self._starts[grip.group.number]
        return place

    def _where(self, grip: Grip, rule: Callable[[Index], None]) -> None:
        """Run a rule for the slot that a contact is in, if there was one left for it."""
        if self._direct:
            rule(self._place(grip))
            return
        number = grip.read("x")[0]

        def slot(s: Index) -> None:
            here = gather(self._numbers, s) - number
            do_when(both(here > -0.5, here < 0.5), lambda: rule(s))

        each(self._slots, slot)

    # ---- what is told of them ------------------------------------------------------------------------------------

    def take_forces(self, forces: Array) -> None:
        """Tell these forces (contacts × 3) of contacts."""
        self._told = forces

    def _forces(self, grip: Grip) -> Sequence[Scalar]:
        return [self._told[self._place(grip) * AXES + t] for t in range(min(grip.law.rows, AXES))]


def _length(x: Vector) -> Scalar:
    """How long a vector is, at most by a factor of the root of three less."""
    largest: Scalar = maximum(absolute(x.x), maximum(absolute(x.y), absolute(x.z)))
    return largest


def _scale(row: Array, share: Scalar, k: Index) -> None:
    """Leave a share of an entry of a row."""
    row[k] = row[k] * share


def _copy(source: Array, at: Index, target: Array, to: Index) -> None:
    """The numbers of a contact, one for each row."""
    for t in range(AXES):
        target[to + t] = source[at + t]
