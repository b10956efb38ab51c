"""Constraint anticipation (Baraff 1996, section 8): what auxiliary forces do to a system that keeps its constraints.

It is a `Response`. That of the system to forces K f is Ĥ K f, where Ĥ is the upper left block of H⁻¹, so a = Jᵃ Ĥ K f +
b. With the factor H = L D Lᵀ the matrix of that is Zᵀ D⁻¹ Y, where L Z = [Jᵃᵀ, 0] and L Y = [K, 0]: half a solution for
each row (for workless ones, Y = Z, half of the half). A row differs from zero only at the nodes between its bodies and
the root, so nothing else is visited, and two rows meet only where their paths do. Where many rows meet on long paths,
whole solutions, as in the paper, take fewer operations than their products: then the way back is gone for each row too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bough.algorithms.rnea import ZEROS
from bough.lagrange.auxiliary import Auxiliary
from bough.lagrange.factor import Node, go_back, solve
from bough.lagrange.pair import Pair
from bough.scalar import (
    Array,
    Bool,
    Index,
    Part,
    Scalar,
    array,
    dot,
    each,
    either,
    fill,
    filled,
    gather_index,
    scatter,
    select,
)  # fmt: skip
from bough.scalar.lazy import cached_property
from bough.scalar.tolerances import SINGULAR_VALUE
from bough.tree.scans import inward

__all__ = ["SystemResponse"]


@dataclass(frozen=True)
class SystemResponse:
    """Rows Jᵃ of auxiliary constraints on a system that keeps its own: forces are [force, c], motions [v̇, λ].

    `directions` are the blocks of Kᵀ, laid out as those of Jᵃ; without them the constraints are workless, K = (Jᵃ)ᵀ.
    """

    auxiliary: Auxiliary
    factor: Array
    jacobian: Array
    directions: Array | None = None

    @property
    def count(self) -> int:
        """Number of rows."""
        return self.auxiliary.nc

    @cached_property
    def A(self) -> Array:
        """Jᵃ Ĥ K (count, count), row by row, both triangles."""
        auxiliary, k, visits = self.auxiliary, self.count, self.auxiliary.visits
        A, own = array(k * k), _Visitors(auxiliary, self.jacobian)
        other, workless = own, self.directions is None
        if self.directions is not None:
            other = _Visitors(auxiliary, self.directions)
        first, count, row = (visits.tables[name] for name in ("first", "count", "row"))

        def visit(pair: Pair, _: tuple[()]) -> tuple[tuple[()], None]:
            start, number = gather_index(first, pair.index), gather_index(count, pair.index)
            nodes = pair.get(self.factor)

            def arrive(i: Index) -> None:
                for rows in (own,) if workless else (own, other):
                    rows.arrive(pair, nodes, start + i, i)

            def meet(i: Index) -> None:
                here, left = gather_index(row, start + i) * k, own.half(pair, i)

                def with_other(j: Index) -> None:
                    place = here + gather_index(row, start + j)
                    A[place] = A[place] + dot(left, other.half(pair, j, scaled=True))

                each(i + 1 if workless else number, with_other)

            each(number, arrive)
            if not visits.takes_solutions:
                each(number, meet)
            return (), None

        inward(auxiliary.system, visit, ())
        if visits.takes_solutions:
            self._by_solutions(other, A, workless)
        if workless:
            _mirror(A, k)
        _clear(A, k, own, other)
        return A

    def _by_solutions(self, forces: _Visitors, A: Array, workless: bool) -> None:
        """The columns of A as answers of the rows to the motion under each force, from what was met on the way in."""
        auxiliary, k, (rows, columns) = self.auxiliary, self.count, self.auxiliary.entries

        def column(i: Index) -> None:
            inside = Part(forces.parts, i * forces.size)

            def nodes(n: Pair) -> tuple[Node, Node]:
                return n.get(self.factor, n.read(inside, "v", n.d), n.read(inside, "multiplier", n.p))

            x = go_back(auxiliary.system, nodes)
            # if they are workless, rows before the one that acts are left to symmetry
            start = gather_index(auxiliary.visits.tables["begin"], i) if workless else 0

            def answer(e: Index) -> None:
                place = gather_index(rows, start + e) * k + i
                A[place] = A[place] + self.jacobian[start + e] * x[gather_index(columns, start + e)]

            each(start * -1 + auxiliary.jacobian_size, answer)

        each(k, column)

    def half(self, b: Array) -> Array:
        """The forces as they are."""
        return b

    def free(self, half: Array) -> Array:
        """H⁻¹ [force, c]: the motion without auxiliary forces."""
        return solve(self.auxiliary.system, self.factor, half)

    def along(self, motion: Array) -> Array:
        """Jᵃ v̇ (count) of a motion."""
        rows, columns = self.auxiliary.entries
        result = array(self.count)

        def add(e: Index) -> None:
            row = gather_index(rows, e)
            result[row] = result[row] + self.jacobian[e] * motion[gather_index(columns, e)]

        each(self.auxiliary.jacobian_size, add)
        return result

    def drive(self, half: Array) -> Array:
        """What the rows are without auxiliary forces (count)."""
        return self.along(self.free(half))

    def motion(self, forces: Array, half: Array = ZEROS) -> Array:
        """The motion [v̇, λ] under forces f on the rows and others."""
        blocks = self.jacobian if self.directions is None else self.directions
        n = self.auxiliary.system.nv + self.auxiliary.system.nc
        rows, columns = self.auxiliary.entries
        total = filled(n, lambda i: half[i])

        def add(e: Index) -> None:
            place = gather_index(columns, e)
            total[place] = total[place] + blocks[e] * forces[gather_index(rows, e)]

        each(self.auxiliary.jacobian_size, add)
        return self.free(total)


def _mirror(A: Array, n: int) -> None:
    """Fill the upper triangle."""

    def row(i: Index) -> None:
        def entry(j: Index) -> None:
            A[j * n + i] = A[i * n + j]

        each(i, entry)

    each(n, row)


def _clear(A: Array, n: int, own: _Visitors, other: _Visitors) -> None:
    """Make zero what is so but for rounding."""

    def row(i: Index) -> None:
        fill(Part(A, i * n), n, lambda j: select(either(own.held(i), other.held(j)), 0.0, A[i * n + j]))

    each(n, row)


class _Visitors:
    """The forces of rows on their way to the root, and their halves at the node at hand."""

    def __init__(self, auxiliary: Auxiliary, blocks: Array) -> None:
        visits, system = auxiliary.visits, auxiliary.system
        self._tables, self._width = visits.tables, max((kind.d + kind.p for kind in system.kind_list), default=0)
        self._forces, self._margins = array(visits.force_size), array(auxiliary.nc)
        self._halves, self._scaled = (array(visits.most * self._width) for _ in range(2))
        # of whole solutions, with which the way back begins: D⁻¹ of what arrives
        self.size = system.nv + system.nc if visits.takes_solutions else 0
        self.parts = array(auxiliary.nc * self.size)
        scatter(blocks, self._tables["into"], self._forces)

    def arrive(self, pair: Pair, nodes: Sequence[Node], visit: Index, place: Index) -> None:
        """Eliminate a body and its constraint for one row: keep the halves, hand the rest on towards the root."""
        start, halves, margin = gather_index(self._tables["force"], visit), place * self._width, 1.0 - SINGULAR_VALUE**2
        f, row, parts = [self._forces[start + r] for r in range(pair.d)], gather_index(self._tables["row"], visit), []
        for n in nodes:
            half = n.Dinv.half(f)
            scaled = [x / pivot for x, pivot in zip(half, n.Dinv.pivots, strict=True)]
            for r, (x, y) in enumerate(zip(half, scaled, strict=True)):
                self._halves[halves + r], self._scaled[halves + r] = x, y
            self._margins[row] = self._margins[row] + dot(half, scaled) * margin
            if self.size:
                parts.append(n.Dinv.back(scaled))
            f, halves, margin = [-dot(column, f) for column in n.J], halves + len(half), 1.0
        if self.size:
            pair.put_solution(Part(self.parts, row * self.size), *parts)
        if not pair.is_root:
            beyond = gather_index(self._tables["beyond"], visit)
            for r, x in enumerate(f):
                self._forces[beyond + r] = self._forces[beyond + r] + x

    def held(self, row: Index) -> Bool:
        """Whether the primary constraints leave nothing of a row but rounding."""
        margin: Scalar = self._margins[row]
        return margin <= 0.0

    def half(self, pair: Pair, place: Index, scaled: bool = False) -> list[Scalar]:
        """The half solution of one row at the node at hand; if `scaled`, times D⁻¹."""
        values, start = self._scaled if scaled else self._halves, place * self._width
        return [values[start + r] for r in range(pair.d + pair.p)]
