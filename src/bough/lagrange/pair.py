"""What the elimination takes at a time, a body with its constraint towards the root, and where their blocks lie."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bough.algorithms.blocks import Block, SmallFactor, is_semidefinite, transposed
from bough.lagrange.factor import Node
from bough.lagrange.reading import Known
from bough.lagrange.unit_rows import UnitBody, UnitConstraint, leading_columns, rates_and_rest
from bough.scalar import Array, Bool, Index, Scalar, Table, both, gather_index, select

__all__ = ["Kind", "Pair", "triangle"]


@dataclass(frozen=True)
class Kind:
    """Dimensions of a body, of the constraint towards the root and of the body at its other end, and their blocks."""

    d: int
    p: int
    m: int
    is_leaf: bool
    known: tuple[Known, Known, Known]  # of M, and of J for both bodies

    @property
    def factor_sizes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Numbers of entries of D and J in the factor, of the body and of the constraint."""
        return (triangle(self.d), self.d * self.p), (triangle(self.p), self.p * self.m)


class Pair:
    """A body (dimension d) and the constraint (p) towards the body (m) that is nearer to the root: their blocks."""

    def __init__(self, kind: int, index: Index, described: Kind, tables: Mapping[str, Table]) -> None:
        self.kind, self.index, self._known, self._tables = kind, index, described.known, tables
        self.d, self.p, self.m = described.d, described.p, described.m
        self.is_root, self.is_leaf = self.m == 0, described.is_leaf
        self.leading = leading_columns(described.known[1], self.p, self.d)
        self._sizes = described.factor_sizes

    def read(self, values: Array, what: str, size: int, skip: int = 0) -> list[Scalar]:
        """Numbers from the place of something of this pair, less the first ones."""
        start = gather_index(self._tables[what], self.index) + skip
        return [values[start + k] for k in range(size)]

    def _write(self, values: Array, what: str, numbers: Iterable[Scalar]) -> None:
        start = gather_index(self._tables[what], self.index)
        for k, x in enumerate(numbers):
            values[start + k] = x

    # ---- H -----------------------------------------------------------------------------------------------------------

    def nodes(
        self, mass: Array, jacobian: Array, compliance: Array | None, force: Array | None = None, c: Array | None = None
    ) -> tuple[Node, Node]:
        """The body and the constraint, with their parts of the right side if they are to be solved at once."""
        M = [row[: r + 1] for r, row in enumerate(self._full_rows(0, mass, "mass", self.d))]
        J, J_up = self._full_rows(1, jacobian, "own", self.d), self._full_rows(2, jacobian, "other", self.m)
        f = () if force is None else self.read(force, "v", self.d)
        g = () if c is None else self.read(c, "c", self.p)
        across = transposed(J_up, self.m)
        if self.leading and compliance is None and force is not None:
            signs = [sign for _, sign in self.leading]
            body = UnitBody(M, J, f, rates_and_rest(J, self.leading, self.d))
            return body, UnitConstraint((), [_with_signs(column, signs) for column in across], _with_signs(g, signs))
        soft = [0.0] * self.p if compliance is None else self.read(compliance, "c", self.p)
        C = [[*([0.0] * r), -x] for r, x in enumerate(soft)]
        return Node(M, [[-x for x in row] for row in J], f), Node(C, [[-x for x in column] for column in across], g)

    def _full_rows(self, block: int, values: Array, what: str, columns: int) -> list[list[Scalar]]:
        """The rows of a block, with what is known of it."""
        known = self._known[block]
        given = iter(self.read(values, what, known.count(None)))
        return _rows([next(given) if x is None else x for x in known], columns)

    def verdict(self, part: float, body: Node, constraint: Node) -> Scalar:
        """Whether all pivots exceed a part of the diagonal entries they are left of, as 1 or -1."""
        judged = [(body.D, body.Dinv, 1.0), (constraint.D, constraint.Dinv, -1.0)]
        if isinstance(body, UnitBody):  # where M is regular, all is
            judged = [(body.D, SmallFactor(body.D), 1.0)]
        # what hangs on a body must not make up for a block that is negative
        sound: Bool = True if self.is_leaf or isinstance(body, UnitBody) else is_semidefinite(body.given)
        for D, inverse, sign in judged:
            for pivot, row in zip(inverse.pivots, D, strict=True):
                sound = both(sound, row[-1] * sign * part < pivot * sign)
        return select(sound, 1.0, -1.0)

    # ---- sums over children ------------------------------------------------------------------------------------------

    def sum_D(self, sums: Array) -> Block:
        """Σ c.Jᵀ c.D c.J over the children c of the body, a lower triangle; empty if it has none."""
        return () if self.is_leaf else _lower(self.read(sums, "sum", triangle(self.d), self.d), self.d)

    def sum_soln(self, sums: Array) -> Sequence[Scalar]:
        """Σ c.Jᵀ c.soln over the children c of the body; empty if it has none."""
        return () if self.is_leaf else self.read(sums, "sum", self.d)

    def add(self, sums: Array, D: Block, soln: Sequence[Scalar] = ()) -> None:
        """Add what the constraint leaves to the sums of its parent."""
        so_far, up = (gather_index(self._tables[what], self.index) for what in ("sum_so_far", "sum_up"))
        for k, x in (*enumerate(soln), *enumerate((x for row in D for x in row), self.m)):
            sums[up + k] = sums[so_far + k] + x

    # ---- the factor and the solution ---------------------------------------------------------------------------------

    def put(self, factor: Array, verdicts: Array, part: float, *nodes: Node) -> None:
        """Store the blocks of the factor, and the verdict on their pivots."""
        verdicts[self.index] = self.verdict(part, *nodes)
        blocks = [block for n in nodes for block in (n.Dinv.lower, n.J)]
        self._write(factor, "factor", [x for block in blocks for row in block for x in row])

    def get(self, factor: Array, *soln: Sequence[Scalar]) -> tuple[Node, Node]:
        """The nodes with the blocks of the factor, and their parts of the right side or of the solution."""
        nodes, skip = [], 0
        for size, (own, beside), part in zip((self.d, self.p), self._sizes, soln or ((), ()), strict=True):
            x = self.read(factor, "factor", own + beside, skip)
            nodes.append(Node((), _rows(x[own:], size), part, SmallFactor.stored(_lower(x, size))))
            skip += own + beside
        return nodes[0], nodes[1]

    def for_way_back(self, body: Node, constraint: Node) -> tuple[tuple[Any, ...], ...]:
        """What of the nodes the way back needs."""
        unit = [body.T, constraint.Dinv] if isinstance(body, UnitBody) else []
        return (
            (tuple(body.soln), tuple(constraint.soln)),
            *(tuple(map(tuple, block)) for block in (body.J, constraint.J, *unit)),
        )

    def nodes_on_way_back(self, kept: tuple[tuple[Any, ...], ...]) -> tuple[Node, Node]:
        """The nodes from what was kept of them."""
        (soln, multiplier), J, J_up, *unit = kept
        if unit:
            return UnitBody((), J, soln, unit[0]), UnitConstraint((), J_up, multiplier, unit[1])
        return Node((), J, soln), Node((), J_up, multiplier)

    def put_solution(self, x: Array, motion: Sequence[Scalar], multiplier: Sequence[Scalar]) -> None:
        """Put v̇, and λ, where they belong; λ of unit rows comes behind their rates and with other signs."""
        if len(multiplier) > self.p:
            multiplier = _with_signs(multiplier[self.p :], [sign for _, sign in self.leading])
        self._write(x, "v", motion)
        self._write(x, "multiplier", multiplier)


def _with_signs(values: Sequence[Scalar], signs: Sequence[float]) -> list[Scalar]:
    return [x * sign for x, sign in zip(values, signs, strict=True)]


def _rows(x: Sequence[Scalar], columns: int) -> list[list[Scalar]]:
    return [list(x[start : start + columns]) for start in range(0, len(x), columns or 1)]


def _lower(x: Sequence[Scalar], n: int) -> list[list[Scalar]]:
    return [list(x[triangle(r) : triangle(r + 1)]) for r in range(n)]


def triangle(n: int) -> int:
    """Number of entries of a lower triangle."""
    return n * (n + 1) // 2
