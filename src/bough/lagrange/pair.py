"""What the elimination of a system does at a time: a body with its constraint towards the root, and their blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bough.lagrange.reading import Known
from bough.scalar import Array, Index, Scalar, Table, gather_index

__all__ = ["Block", "Kind", "Pair", "Rows", "triangle"]

Rows: TypeAlias = list[list[Scalar]]
Block: TypeAlias = Sequence[Sequence[Scalar]]


@dataclass(frozen=True)
class Kind:
    """Dimensions of a body, of the constraint towards the root and of the body at its other end, and their blocks."""

    d: int
    p: int
    m: int
    is_leaf: bool
    known: tuple[int, int, int]  # what is known of M, and of J for both bodies, by number


class Pair:
    """A body (dimension d) and the constraint (p) towards the body (m) that is nearer to the root: its blocks."""

    def __init__(
        self, kind: int, index: Index, described: Kind, blocks: Sequence[Known], tables: Mapping[str, Table]
    ) -> None:
        self.kind = kind
        self.index = index
        self.d, self.p, self.m = described.d, described.p, described.m
        self.is_root = self.m == 0
        self.is_leaf = described.is_leaf
        self._known = [blocks[k] for k in described.known]
        self._tables = tables
        self.leading, self.signs = _leading(self._known[1], self.p, self.d)
        self.rest = [k for k in range(self.d) if k not in self.leading]

    @property
    def is_direct(self) -> bool:
        """Whether the constraint is known to say a coordinate of the body in each row: column `leading` has `signs`."""
        return 0 < self.p == len(self.leading)

    @property
    def is_diagonal(self) -> bool:
        """Whether the block of M is known to be diagonal."""
        known, d = self._known[0], self.d
        return all(known[r * d + c] == 0.0 for r in range(d) for c in range(r))

    def place(self, what: str) -> Index:
        """Where something of this node lies."""
        return gather_index(self._tables[what], self.index)

    def read(self, values: Array, what: str, size: int) -> list[Scalar]:
        """Numbers from the place of something."""
        start = self.place(what)
        return [values[start + k] for k in range(size)]

    def write(self, values: Array, what: str, numbers: Iterable[Scalar]) -> None:
        """Put numbers at the place of something."""
        start = self.place(what)
        for k, x in enumerate(numbers):
            values[start + k] = x

    def gathered(self, sums: Array) -> tuple[list[Scalar], Rows]:
        """What those beyond add to the forces on the body and to the lower triangle of its block of M."""
        x = self.read(sums, "sum", self.d + triangle(self.d))
        return x[: self.d], _lower(x[self.d :], self.d)

    def pass_on(self, sums: Array, forces: Sequence[Scalar], lower: Sequence[Scalar]) -> None:
        """Add to the forces on the body nearer to the root, and to the lower triangle of its block of M."""
        so_far, up = self.place("sum_so_far"), self.place("sum_up")
        for k, x in (*enumerate(forces), *enumerate(lower, self.m)):
            sums[up + k] = sums[so_far + k] + x

    def mass(self, mass: Array) -> Rows:
        """Lower triangle of the block of M."""
        known = self._known[0]
        x = _filled(known, iter(self.read(mass, "mass", known.count(None))))
        return [x[r * self.d : r * self.d + r + 1] for r in range(self.d)]

    def jacobian(self, jacobian: Array) -> tuple[Rows, Rows]:
        """Rows of the blocks of J: for the own body, and for the one nearer to the root."""
        return self.filled(self.unknown(jacobian))

    def unknown(self, jacobian: Array) -> list[Scalar]:
        """Entries of both blocks of J that are not known beforehand."""
        blocks = zip(("own", "other"), self._known[1:], strict=True)
        return [x for what, known in blocks for x in self.read(jacobian, what, known.count(None))]

    def filled(self, unknown: Sequence[Scalar]) -> tuple[Rows, Rows]:
        """Rows of both blocks of J, from their entries that are not known beforehand."""
        given = iter(unknown)
        own, other = (_filled(known, given) for known in self._known[1:])
        return _rows(own, self.p, self.d), _rows(other, self.p, self.m)

    # ---- the blocks of the factor --------------------------------------------------------------------------------

    def put(self, factor: Array, A: Block, W: Block, S: Block, V: Block) -> None:
        """Store the four blocks."""
        self.write(factor, "factor", [x for block in (A, W, S, V) for row in block for x in row])

    def get(self, factor: Array) -> tuple[Rows, Rows, Rows, Rows]:
        """The four blocks."""
        x = self.read(factor, "factor", triangle(self.d) + self._width)
        A, rest = x[: triangle(self.d)], x[triangle(self.d) :]
        W, V = self._sides(rest)
        return _lower(A, self.d), W, _lower(rest[self.d * self.p :], self.p), V

    def sides(self, factor: Array) -> tuple[Rows, Rows]:
        """The two blocks off the diagonal."""
        start = self.place("factor") + triangle(self.d)
        return self._sides([factor[start + k] for k in range(self._width)])

    @property
    def _width(self) -> int:
        """Number of entries of W, S and V."""
        return self.d * self.p + triangle(self.p) + self.p * self.m

    def _sides(self, x: Sequence[Scalar]) -> tuple[Rows, Rows]:
        """W and V among the entries of W, S and V."""
        return _rows(x, self.d, self.p), _rows(x[len(x) - self.p * self.m :], self.p, self.m)


def _leading(known: Known, p: int, d: int) -> tuple[list[int], list[float]]:
    """For each row of a block a column with 1 or -1 there and zeros elsewhere, and which; less than p if not all."""
    rows = [known[r * d : (r + 1) * d] for r in range(p)]
    columns, signs = [], []
    for r, row in enumerate(rows):
        for k, x in enumerate(row):
            if x in (1.0, -1.0) and all(other[k] == 0.0 for q, other in enumerate(rows) if q != r):
                columns.append(k)
                signs.append(float(x or 0.0))
                break
    return columns, signs


def _filled(known: Known, given: Iterator[Scalar]) -> list[Scalar]:
    """The entries of a block, those that are not known taken one by one."""
    return [next(given) if x is None else x for x in known]


def _rows(x: Sequence[Scalar], rows: int, columns: int) -> Rows:
    return [list(x[r * columns : (r + 1) * columns]) for r in range(rows)]


def _lower(x: Sequence[Scalar], n: int) -> Rows:
    return [list(x[triangle(r) : triangle(r + 1)]) for r in range(n)]


def triangle(n: int) -> int:
    """Number of entries of a lower triangle."""
    return n * (n + 1) // 2
