"""Small dense blocks: those of the joint-space matrix, and systems of the size of one joint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bough.model import BodyRecord, Mechanism
from bough.scalar import Array, Bool, Index, Scalar, Table, array, both, gather_index, select
from bough.scalar.tolerances import RESIDUAL

__all__ = ["Block", "BlockRows", "SmallFactor", "is_semidefinite", "symmetric", "transposed"]

Block = Sequence[Sequence[Scalar]]


class BlockRows:
    """Packed path rows of the own joint-space matrix, written block by block."""

    def __init__(self, m: Mechanism) -> None:
        tree = m.coupling.full_tree
        self.packed: Array = array(tree.packed_size)
        self._starts = Table("dof_starts", tree.packed_starts)
        self._depths = Table("dof_depths", tree.depths)

    def put(self, body: BodyRecord, ancestor: BodyRecord, block: Block) -> None:
        """Write the block of a body (rows) and one of its ancestors (columns)."""
        for place, value in self._entries(body, ancestor, block):
            self.packed[place] = value

    def put_diagonal(self, body: BodyRecord, block: Block, armature: Sequence[Scalar]) -> None:
        """Write the lower triangle of the block of a body with itself, armature added to its diagonal.

        The block of elastic coordinates is the sum of those of the flexible body and of its stations.
        """
        lower = [
            [value + armature[r] if c == r else value for c, value in enumerate(row[: r + 1])]
            for r, row in enumerate(block)
        ]
        for place, value in self._entries(body, body, lower):
            self.packed[place] = self.packed[place] + value if body.shares else value

    def _entries(self, body: BodyRecord, ancestor: BodyRecord, block: Block) -> Iterator[tuple[Index, Scalar]]:
        for r, row in enumerate(block):
            start = gather_index(self._starts, body.v_start + r)
            for c, value in enumerate(row):
                yield start + gather_index(self._depths, ancestor.v_start + c) + -1, value


class SmallFactor:
    """LᵀDL of a small dense symmetric matrix given by its lower triangle; the last row is eliminated first."""

    def __init__(self, lower: Block) -> None:
        A = [list(row) for row in lower]
        for k in reversed(range(len(A))):
            for i in reversed(range(k)):
                a = A[k][i] / A[k][k]
                for j in range(i + 1):
                    A[i][j] = A[i][j] - A[k][j] * a
                A[k][i] = a
        self._rows = A

    @property
    def pivots(self) -> list[Scalar]:
        """The diagonal of D."""
        return [row[k] for k, row in enumerate(self._rows)]

    @property
    def lower(self) -> tuple[tuple[Scalar, ...], ...]:
        """D on the diagonal and L below it, for storing."""
        return tuple(tuple(row) for row in self._rows)

    @staticmethod
    def stored(lower: Block) -> SmallFactor:
        """A factor from what `lower` gave."""
        factor = SmallFactor(())
        factor._rows = [list(row) for row in lower]
        return factor

    def half(self, b: Sequence[Scalar]) -> list[Scalar]:
        """The solution of Lᵀ y = b: half of one of A x = b, and aᵀ A⁻¹ b is that of a times D⁻¹ times that of b."""
        x, A = list(b), self._rows
        for i in reversed(range(len(A))):
            for j in range(i):
                x[j] = x[j] - A[i][j] * x[i]
        return x

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        """The solution of A x = b."""
        return self.back([y / pivot for y, pivot in zip(self.half(b), self.pivots, strict=True)])

    def back(self, scaled: Sequence[Scalar]) -> list[Scalar]:
        """The second half of a solution of A x = b: L x = D⁻¹ y, from D⁻¹ y."""
        x, A = list(scaled), self._rows
        for i in range(len(A)):
            for j in range(i):
                x[i] = x[i] - A[i][j] * x[j]
        return x


def transposed(rows: Block, columns: int) -> list[list[Scalar]]:
    """Columns as rows; their number is told, since there may be no rows."""
    return [[row[k] for row in rows] for k in range(columns)]


def symmetric(lower: Block) -> list[list[Scalar]]:
    """All of a matrix given by its lower triangle."""
    n = range(len(lower))
    return [[lower[max(i, j)][min(i, j)] for j in n] for i in n]


def is_semidefinite(lower: Block) -> Bool:
    """Whether a small symmetric matrix, given by its lower triangle, has no negative pivot but for rounding."""
    A, sound = [list(row) for row in lower], True  # type: list[list[Scalar]], Bool
    for k in reversed(range(len(A))):
        pivot, least = A[k][k], lower[k][k] * RESIDUAL
        sound = both(sound, both(-least <= pivot, least >= 0.0))
        there = least < pivot
        inverse = select(there, 1.0 / select(there, pivot, 1.0), 0.0)
        for i in range(k):
            share = A[k][i] * inverse
            for j in range(i + 1):
                A[i][j] = A[i][j] - A[k][j] * share
    return sound
