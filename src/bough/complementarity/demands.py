"""A complementarity problem over scalars: the a of forces, their bounds, how much rows fail, sweeps over all rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import groupby, pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bough.complementarity.conditions import NO_NORMAL, Conditions, Kind
from bough.complementarity.elimination import Run
from bough.scalar import (
    Array,
    Bool,
    Index,
    Part,
    Scalar,
    Table,
    absolute,
    array,
    do_when,
    each,
    either,
    fill,
    gather_index,
    loop,
    maximum,
    minimum,
    select,
    sqrt,
    switch,
    when,
)
from bough.scalar.lazy import cached_property

__all__ = ["ZERO", "Demands", "gauss_seidel", "residual"]

C = TypeVar("C")
Numbers = NDArray[np.floating[Any]]

ZERO: Scalar = 0.0

ENDLESS = 2**31 - 1
"""The loop over sweeps ends by what it is told, not by its count."""

HUGE = 1e30
"""Forces that change by so much, in units of a, lead nowhere: the sweeps end while they are finite."""

WIDE = 4
"""So many sums of a scalar product are formed side by side: each waits for its own additions only."""


class Demands:
    """The problem a = A f + b and what its conditions demand.

    `A` is dense, row by row. `mu` is read at the normals of rows of friction, `slip` at the rows of friction, and
    `bounds`, the lower and the upper force of row after row, at boxes. Rows with a zero in `on` have no force, and
    those of A and b are zero there; a contact is on or off as a whole.
    """

    def __init__(
        self,
        conditions: Conditions,
        A: Array,
        b: Array,
        mu: Array,
        slip: Array | None = None,
        bounds: Array | None = None,
        on: Array | None = None,
    ) -> None:
        self.conditions, self.n, self.on = conditions, conditions.n, on
        self.A, self.b, self.mu, self.slip, self.bounds = A, b, mu, slip, bounds
        self.diagonal = array(self.n)
        fill(self.diagonal, self.n, lambda i: A[i * (self.n + 1)])

    def size(self, i: Index) -> Scalar:
        """How much a force moves its own row; 1 if it does not."""
        return _positive(self.diagonal[i])

    def cone_size(self, i: Index) -> Scalar:
        """The larger size of the two rows of a cone."""
        return maximum(self.size(i), self.size(i + 1))

    def value(self, i: Index, f: Array) -> Scalar:
        """The a of a row."""
        start, whole = i * self.n, self.n // WIDE

        def some(k: Index, sums: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
            return tuple(part + self.A[start + k * WIDE + m] * f[k * WIDE + m] for m, part in enumerate(sums))

        sums = [*loop(whole, some, (self.b[i], *(ZERO,) * (WIDE - 1)))]
        for j in range(whole * WIDE, self.n):
            sums[j % WIDE] = sums[j % WIDE] + self.A[start + j] * f[j]
        total: Scalar = (sums[0] + sums[1]) + (sums[2] + sums[3])
        return total

    def values(self, f: Array, a: Array) -> None:
        """Fill in the a of all rows."""

        def row(i: Index) -> None:
            a[i] = self.value(i, f)

        self.where_on(row)

    def where_on(self, rule: Callable[[Index], None]) -> None:
        """Run a rule for every row that may have a force."""

        def row(i: Index) -> None:
            if self.on is None:
                rule(i)
            else:
                do_when(self.on[i] > 0.0, lambda: rule(i))

        each(self.n, row)

    # ---- row after row -----------------------------------------------------------------------------------------------

    def each(self, rule: Callable[[Kind, Index, Index, C], C], carry: C) -> C:
        """Run ``carry = rule(kind, row, its normal, carry)`` row after row, normals before friction, a cone at once."""
        kinds, count, which, places, normals = self._blocks

        def block(k: Index, carry: C) -> C:
            i, normal = gather_index(places, k), gather_index(normals, k)

            def row(carry: C) -> C:
                return switch(gather_index(which, k), [partial(rule, kind, i, normal, carry) for kind in kinds])

            return row(carry) if self.on is None else when(self.on[i] > 0.0, row, carry)

        return loop(count, block, carry)

    def bounded(self, kind: Kind, i: Index, normal: Index, f: Array, force: Scalar) -> Scalar:
        """The force within the bounds of a row that is no cone."""
        if kind == "equality":
            return force
        if kind == "inequality":
            return maximum(force, 0.0)
        low, high = self.bounds_of(kind, i, normal, f)
        return maximum(low, minimum(high, force))

    def bounds_of(self, kind: Kind, i: Index, normal: Index, f: Array) -> tuple[Scalar, Scalar]:
        """The lower and the upper bound of a row of friction or of a box."""
        if kind == "box":
            assert self.bounds is not None
            return self.bounds[i * 2], self.bounds[i * 2 + 1]
        low, high = self.slopes(i, normal)
        load = maximum(f[normal], 0.0)
        return low * load, high * load

    def slopes(self, i: Index, normal: Index) -> tuple[Scalar, Scalar]:
        """The bounds of a row of a pyramid, by the force of its normal."""
        mu = self.mu[normal]
        if self.slip is None:
            return -mu, mu
        # a row that slides is held back by all the force there is
        return select(self.slip[i] < 0.0, mu, -mu), select(self.slip[i] > 0.0, -mu, mu)

    def within_cone(self, i: Index, normal: Index, f: Array, forces: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
        """The two forces of a cone, made as long as it allows."""
        first, second = forces
        bound, length = self.mu[normal] * maximum(f[normal], 0.0), sqrt(first * first + second * second)
        part = select(length <= bound, 1.0, bound / _positive(length))
        return part * first, part * second

    def fail(self, f: Array, a: Array, failing: Array) -> None:
        """Fill in by how much each row fails: see `residual`."""

        def row(kind: Kind, i: Index, normal: Index, carry: tuple[()]) -> tuple[()]:
            if kind == "equality":
                failing[i] = absolute(a[i])
            elif kind == "inequality":
                failing[i] = absolute(minimum(a[i], self.size(i) * f[i]))
            elif kind == "cone":
                size = self.cone_size(i)
                forces = self.within_cone(i, normal, f, (f[i] - a[i] / size, f[i + 1] - a[i + 1] / size))
                for k, force in enumerate(forces):
                    failing[i + k] = size * absolute(f[i + k] - force)
            else:
                force = self.bounded(kind, i, normal, f, f[i] - a[i] / self.size(i))
                failing[i] = self.size(i) * absolute(f[i] - force)
            return carry

        self.each(row, ())

    def sweep(self, f: Array) -> Scalar:
        """Give row after row the force it wants, within its bounds; returns the largest change, in units of its a."""

        def wanted(i: Index, size: Scalar) -> Scalar:
            """The force that would make a zero, if the row were as heavy as said; zero where no force moves it."""
            return select(size > 0.0, f[i] - self.value(i, f) / _positive(size), 0.0)

        def moved(i: Index, size: Scalar, force: Scalar) -> Scalar:
            change = size * absolute(force - f[i])
            f[i] = force
            return change

        def row(kind: Kind, i: Index, normal: Index, worst: Scalar) -> Scalar:
            if kind != "cone":
                size = self.diagonal[i]
                return maximum(worst, moved(i, size, self.bounded(kind, i, normal, f, wanted(i, size))))
            # both rows at once, as heavy as the heaviest direction in their plane
            first, second = self.diagonal[i], self.diagonal[i + 1]
            mean, half = (first + second) / 2.0, (first - second) / 2.0
            off = self.A[i * (self.n + 1) + 1]
            size = mean + sqrt(half * half + off * off)
            forces = self.within_cone(i, normal, f, (wanted(i, size), wanted(i + 1, size)))
            changes = [moved(i + k, size, force) for k, force in enumerate(forces)]
            return maximum(worst, maximum(*changes))

        return self.each(row, ZERO)

    @cached_property
    def _blocks(self) -> tuple[list[Kind], int, Table, Table, Table]:
        """The kinds there are; how many rows or cones; the kind, the first row and the normal of each."""
        conditions, second = self.conditions, set((self.conditions.cones + 1).tolist())
        rows, kinds = [i for i in conditions.in_order if i not in second], list(dict.fromkeys(conditions.kinds))
        which = Table("kinds", np.array([kinds.index(conditions.kinds[i]) for i in rows], np.int64))
        places = np.array(rows, np.int64)
        owners = np.maximum(conditions.normal[places], 0)
        return kinds, len(rows), which, Table("rows", places), Table("normals", owners)

    @cached_property
    def runs(self) -> list[Run]:
        """Blocks of rows that are eliminated at a time: contacts, where rows may be off, else some rows at a time."""
        if self.on is None:
            return Run.cover(self.n)
        firsts = np.flatnonzero(self.conditions.normal == NO_NORMAL).tolist()
        runs, start = [], 0
        for size, some in groupby(end - start for start, end in pairwise([*firsts, self.n])):
            runs.append(Run(start, len(list(some)), size))
            start += runs[-1].count * size
        return runs


def gauss_seidel(demands: Demands, start: Array, stop: Array) -> dict[str, Array]:
    """Sweep over the rows until no force changes by more than a tolerance, or a number of sweeps is reached.

    `stop` holds the tolerance, in units of a, and the number of sweeps. Returns forces, their a, by how much rows fail
    and the number of sweeps, one after the other.
    """
    n, whole = demands.n, array(3 * demands.n + 1)
    f, a, failing = (Part(whole, k * n) for k in range(3))
    fill(f, n, lambda i: start[i])

    def sweep(_: Index, carry: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
        return demands.sweep(f), carry[1] + 1.0

    def done(carry: tuple[Scalar, Scalar]) -> Bool:
        return either(either(carry[0] <= stop[0], carry[0] > HUGE), stop[1] <= carry[1])

    _, sweeps = loop(ENDLESS, sweep, (stop[0] + 1.0, ZERO), until=done)
    fill(a, n, lambda i: demands.value(i, f))
    demands.fail(f, a, failing)
    whole[3 * n] = sweeps
    return {"whole": whole}


def residual(
    A: Numbers,
    b: Numbers,
    f: Numbers,
    conditions: Conditions,
    mu: Numbers,
    slip: Numbers | None = None,
    bounds: Numbers | None = None,
) -> Numbers:
    """By how much each row of one state of plain numbers fails, (n,), in units of a.

    That is A_ii times the distance from f to where f - a / A_ii lies when put within its bounds. `mu` is read at the
    rows of friction, `bounds` (n, 2) at the rows of boxes.
    """
    n, rows, a, failing = conditions.n, conditions.tangents, A @ f + b, [0.0] * conditions.n
    at_normals = np.zeros(n)
    at_normals[conditions.normal[rows]] = mu[rows]
    sliding, ends = (None if x is None else x.ravel().tolist() for x in (slip, bounds))
    demands = Demands(conditions, A.ravel(), b, at_normals.tolist(), sliding, ends)
    demands.fail(f.tolist(), a.tolist(), failing)
    return np.array(failing)


def _positive(x: Scalar) -> Scalar:
    return select(x > 0.0, x, 1.0)
