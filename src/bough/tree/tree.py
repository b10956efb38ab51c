"""Kinematic trees as parent arrays: who carries whom, how deep, and which entries of H may be non-zero.

Bodies are numbered 1..N and the base is 0; `parents[i - 1]` is the parent of body i (λ in the papers), with
0 <= parent < i for every body: a *regular* numbering. Several bodies may hang on the base, and there may be none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bough.errors import FiniteError, PatternError, ShapeError, TreeError
from bough.scalar.lazy import cached_property
from bough.tree.numbering import is_whole, parents_first, read_integers, refuse

__all__ = ["IntArray", "Integers", "Tree"]

Integers: TypeAlias = Sequence[int] | npt.NDArray[np.integer[Any]]
IntArray: TypeAlias = npt.NDArray[np.int64]

# Largest relative asymmetry that `Tree.check` takes for rounding.
ASYMMETRY = 1e-9

MOST_PACKED = 250_000_000  # entries of a packed matrix: 2 GB of numbers, and as much for where they belong


@dataclass(frozen=True, init=False, repr=False)
class Tree:
    """A regularly numbered tree, or forest, of bodies on a fixed base; immutable and hashable.

    Parameters
    ----------
    parents
        Parent of each body 1..N, in order; 0 is the base. Integers with 0 <= parents[i - 1] < i.

    Raises
    ------
    TreeError
        If an entry is not an integer, out of range, or the array is not a regularly numbered tree.

    Examples
    --------
    >>> import bough
    >>> tree = bough.trees.Tree((0, 1, 1, 2, 2, 3, 3))
    >>> tree.n, tree.D1, tree.D2
    (7, 10, 14)
    """

    parents: tuple[int, ...]

    def __init__(self, parents: Integers) -> None:
        entries = read_integers(parents, "parents", "body", "an integer 0..{}")
        for body, parent in enumerate(entries, 1):
            if not 0 <= parent < body:
                refuse(entries, body)
        object.__setattr__(self, "parents", tuple(entries))

    @classmethod
    def regular(cls, parents: Integers) -> tuple[Tree, IntArray]:
        """Renumber bodies given in any order so that parents come before children.

        Bodies keep their order, except that a body listed before its parent is preceded by its missing ancestors.

        Parameters
        ----------
        parents
            Parent of each body 1..N; 0 is the base. Entries may refer forward.

        Returns
        -------
        tree, permutation
            New body k is old body `permutation[k - 1]`; int64, shape (N,).
        """
        entries = read_integers(parents, "parents", "body", "the number of a body, or 0")
        return _renumbered(entries, parents_first(entries))

    # ---- single bodies -------------------------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """Number of bodies N."""
        return len(self.parents)

    def parent(self, i: int) -> int:
        """Parent of body i, 0 for the base."""
        return self.parents[self._body(i) - 1]

    def depth(self, i: int) -> int:
        """Depth of body i, the number of joints on its path: 0 for the base, 1 for its children."""
        return 0 if self._body(i, lowest=0) == 0 else int(self.depths[i - 1])

    def ancestors(self, i: int) -> tuple[int, ...]:
        """Bodies between body i and the base, nearest first, without either."""
        found = []
        body = self.parent(i)
        while body:
            found.append(body)
            body = self.parents[body - 1]
        return tuple(found)

    def path(self, i: int) -> tuple[int, ...]:
        """Bodies (joints) from the root down to body i, i included: κ(i)."""
        return (*reversed(self.ancestors(i)), int(i))

    def children(self, i: int) -> tuple[int, ...]:
        """Bodies whose parent is i, in number order: μ(i); i = 0 gives the roots."""
        i = self._body(i, lowest=0)
        bodies, starts = self._by_parent
        return tuple(bodies[starts[i] : starts[i + 1]].tolist())

    def subtree(self, i: int) -> tuple[int, ...]:
        """Body i and all its descendants, in number order: ν(i); i = 0 gives all bodies."""
        i = self._body(i, lowest=0)
        if i == 0:
            return tuple(range(1, self.n + 1))
        # A subtree is contiguous in depth-first order.
        order, position = self._preorder
        first = position[i - 1]
        return tuple(np.sort(order[first : first + self.subtree_sizes[i - 1]]).tolist())

    # ---- all bodies ----------------------------------------------------------------------------------------------

    @cached_property
    def depths(self) -> IntArray:
        """Depth of every body, int64, shape (N,), read-only."""
        depth = [0] * (self.n + 1)
        for body, parent in enumerate(self.parents, 1):
            depth[body] = depth[parent] + 1
        return _frozen(depth[1:])

    @cached_property
    def subtree_sizes(self) -> IntArray:
        """Number of bodies in the subtree of every body, itself included, int64, shape (N,), read-only."""
        size = [1] * (self.n + 1)
        for body in range(self.n, 0, -1):
            size[self.parents[body - 1]] += size[body]
        return _frozen(size[1:])

    @cached_property
    def roots(self) -> tuple[int, ...]:
        """Children of the base, in number order."""
        return self.children(0)

    @cached_property
    def leaves(self) -> tuple[int, ...]:
        """Bodies without children, in number order."""
        return tuple((np.flatnonzero(self.subtree_sizes == 1) + 1).tolist())

    @cached_property
    def height(self) -> int:
        """Greatest depth, 0 for the empty tree."""
        return int(self.depths.max(initial=0))

    # ---- the cost numbers of Featherstone 2005 -------------------------------------------------------------------

    @cached_property
    def D0(self) -> int:
        """Number of bodies not directly on the base (eq. 15)."""
        return self.n - len(self.roots)

    @cached_property
    def D1(self) -> int:
        """Sum of d - 1 over all depths d: non-zeros below the diagonal of H (eq. 8)."""
        return sum(count * (d - 1) for d, count in self._depth_counts)

    @cached_property
    def D2(self) -> int:
        """Sum of d (d - 1) / 2 over all depths d: updates made by a sparse factorisation (eq. 9)."""
        return sum(count * (d * (d - 1) // 2) for d, count in self._depth_counts)

    @property
    def density(self) -> float:
        """Fraction of H that is non-zero, (n + 2 D1) / n^2; 1 for the empty tree."""
        return (self.n + 2 * self.D1) / self.n**2 if self.n else 1.0

    # ---- other trees and orders ----------------------------------------------------------------------------------

    def expand(self, dofs: Integers) -> Tree:
        """Tree of single degrees of freedom: joint i becomes a chain of `dofs[i - 1]` joints.

        Parameters
        ----------
        dofs
            Degrees of freedom of joints 1..N, each >= 0. Children of a body without degrees of freedom attach to the
            last degree of freedom of its nearest ancestor that has one.
        """
        counts = read_integers(dofs, "dofs", "joint", "an integer of at least 0")
        if len(counts) != self.n:
            raise TreeError(f"dofs has {len(counts)} entries, expected {self.n}, one per joint")
        last = [0] * (self.n + 1)
        expanded: list[int] = []
        for joint, (parent, count) in enumerate(zip(self.parents, counts, strict=True), 1):
            if count < 0:
                raise TreeError(f"joint {joint}: got {count} degrees of freedom, expected 0 or more")
            attach = last[parent]
            for _ in range(count):
                expanded.append(attach)
                attach = len(expanded)
            last[joint] = attach
        return Tree(expanded)

    def depth_first(self) -> tuple[Tree, IntArray]:
        """Renumber depth first, children in number order.

        Returns
        -------
        tree, permutation
            New body k is old body `permutation[k - 1]`; int64, shape (N,).
        """
        return _renumbered(self.parents, self._preorder[0])

    def bordered_order(self) -> IntArray:
        """Order of rows and columns that makes H nested doubly-bordered block-diagonal (eq. 7).

        Body numbers (1-based), int64, shape (N,): depth-first order reversed. Rows of the reordered matrix have no
        zero between their first non-zero and the diagonal, so its ordinary Cholesky factorisation has no fill-in.
        """
        return _frozen(self._preorder[0][::-1])

    # ---- the matrix that belongs to the tree ---------------------------------------------------------------------

    @cached_property
    def packed_starts(self) -> IntArray:
        """Start index of the packed row of each body, int64, shape (N + 1,), read-only.

        Row i holds one entry per body of `path(i)`, root first, at `packed_starts[i - 1]` up to, not including,
        `packed_starts[i]`. The last element is the total, n + D1.
        """
        return _frozen(np.concatenate(([0], np.cumsum(self.depths))))

    @property
    def packed_size(self) -> int:
        """Number of entries of a packed matrix, n + D1; raises `TreeError` if it exceeds the memory."""
        size = self.n + self.D1
        if size > MOST_PACKED:
            raise TreeError(
                f"a packed matrix on {self!r} has n + D1 = {size} entries, {16 * size / 1e9:.0f} GB with their places; "
                f"at most {MOST_PACKED} are held. RNEA and ABA need none of this"
            )
        return size

    @cached_property
    def packed_paths(self) -> IntArray:
        """Column (body number) of every packed entry: all paths, concatenated; int64, shape (n + D1,)."""
        paths = np.empty(self.packed_size, dtype=np.int64)
        starts = self.packed_starts.tolist()
        for body, parent in enumerate(self.parents, 1):
            first, end = starts[body - 1], starts[body]
            if parent:  # the path of a body is its parent's path and itself
                paths[first : end - 1] = paths[starts[parent - 1] : starts[parent]]
            paths[end - 1] = body
        paths.setflags(write=False)
        return paths

    def pattern(self) -> npt.NDArray[np.bool_]:
        """Entries of H that may be nonzero: bodies with themselves, ancestors and descendants (eq. 6); bool (n, n)."""
        rows = np.repeat(np.arange(self.n), self.depths)
        columns = self.packed_paths - 1
        mask = np.zeros((self.n, self.n), dtype=np.bool_)
        mask[rows, columns] = True
        mask[columns, rows] = True
        return mask

    def check(self, matrix: npt.ArrayLike, tolerance: float = 0.0) -> None:
        """Raise an error unless a matrix is symmetric and zero outside the pattern of the tree.

        Parameters
        ----------
        matrix
            Real matrices, shape (..., n, n).
        tolerance
            Largest magnitude that counts as zero outside the pattern. Asymmetry up to 1e-9 of the largest entry of the
            matrix (or a few rounding units in lower precision) is also allowed.

        Raises
        ------
        ShapeError, FiniteError, PatternError
            For a wrong shape or data type; for NaN or infinity; for the first entry that does not fit.
        """
        if not tolerance >= 0:
            raise PatternError(f"tolerance is {tolerance!r}, expected a number of at least 0")
        values = self._square(matrix)
        _raise_at(~np.isfinite(values), values, FiniteError, "expected a finite number")
        size = np.abs(values)
        outside = ~self.pattern() & (size > tolerance)
        _raise_at(outside, values, PatternError, "expected 0: neither body is an ancestor of the other")
        relative = max(ASYMMETRY, 8 * float(np.finfo(values.dtype).eps))
        allowed = np.maximum(tolerance, relative * size.max(axis=(-2, -1), keepdims=True, initial=0.0))
        mirrored = np.swapaxes(values, -2, -1)
        with np.errstate(over="ignore"):
            unequal = np.tril(np.abs(values - mirrored) > allowed)
        _raise_at(unequal, values, PatternError, "expected the value across the diagonal, {}", mirrored)

    # ---- Python protocol and inner parts -------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.n

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        if self.n <= 40:
            return f"Tree({self.parents})"
        head = ", ".join(map(str, self.parents[:8]))
        return f"Tree(({head}, … {self.n} bodies))"

    def __reduce__(self) -> tuple[type[Tree], tuple[tuple[int, ...]]]:
        return Tree, (self.parents,)

    @cached_property
    def _hash(self) -> int:
        return hash((Tree, self.parents))

    @cached_property
    def _depth_counts(self) -> list[tuple[int, int]]:
        """Pairs (depth, number of bodies); summed as Python integers, the D numbers cannot overflow."""
        return list(enumerate(np.bincount(self.depths, minlength=1).tolist()))[1:]

    @cached_property
    def _by_parent(self) -> tuple[IntArray, IntArray]:
        """Bodies sorted by parent, and where the children of parent 0..N start; shapes (N,) and (N + 2,)."""
        parents = np.asarray(self.parents, dtype=np.int64)
        counts = np.bincount(parents, minlength=self.n + 1)
        return _frozen(np.argsort(parents, kind="stable") + 1), _frozen(np.concatenate(([0], np.cumsum(counts))))

    @cached_property
    def _preorder(self) -> tuple[IntArray, IntArray]:
        """Bodies in depth-first order, and the 0-based position of body i in it at i - 1; shapes (N,)."""
        position = [-1] * (self.n + 1)
        free = [0] * (self.n + 1)  # where the next child of each body goes
        size = [0, *self.subtree_sizes.tolist()]
        for body, parent in enumerate(self.parents, 1):
            position[body] = free[parent]
            free[body] = free[parent] + 1
            free[parent] += size[body]
        positions = _frozen(position[1:])
        order = np.empty(self.n, dtype=np.int64)
        order[positions] = np.arange(1, self.n + 1)
        order.setflags(write=False)
        return order, positions

    def _body(self, i: object, lowest: int = 1) -> int:
        if not is_whole(i) or not lowest <= i <= self.n:
            expected = f"an integer {lowest}..{self.n}" if lowest <= self.n else "none: the tree is empty"
            raise TreeError(f"no body {i!r}: expected {expected}")
        return int(i)

    def _square(self, matrix: npt.ArrayLike) -> npt.NDArray[np.floating[Any]]:
        try:
            values = np.asarray(matrix)
        except ValueError as error:
            raise ShapeError(f"matrix is not an array: {error}") from error
        if values.dtype.kind not in "biuf":
            raise ShapeError(f"matrix has data type {values.dtype}, expected real numbers")
        if values.ndim < 2 or values.shape[-2:] != (self.n, self.n):
            raise ShapeError(f"matrix has shape {values.shape}, expected (..., {self.n}, {self.n})")
        return values if values.dtype.kind == "f" else values.astype(np.float64)


def _frozen(values: npt.ArrayLike) -> IntArray:
    array = np.array(values, dtype=np.int64)
    array.setflags(write=False)
    return array


def _renumbered(parents: Sequence[int], order: npt.ArrayLike) -> tuple[Tree, IntArray]:
    permutation = _frozen(order)
    number = np.zeros(len(parents) + 1, dtype=np.int64)
    number[permutation] = np.arange(1, len(parents) + 1)
    return Tree(number[np.asarray(parents, dtype=np.int64)[permutation - 1]]), permutation


def _raise_at(
    wrong: npt.NDArray[np.bool_],
    values: npt.NDArray[np.floating[Any]],
    error: type[Exception],
    expected: str,
    other: npt.NDArray[np.floating[Any]] | None = None,
) -> None:
    """Raise `error` for the first True entry, naming its 1-based row and column and its place in the batch."""
    if not wrong.any():
        return
    *batch, row, column = np.unravel_index(int(wrong.argmax()), wrong.shape)
    where = (*batch, row, column)
    place = f"matrix {tuple(int(b) for b in batch)}: " if batch else ""
    mirror = "" if other is None else other[where]
    raise error(f"{place}row {row + 1}, column {column + 1}: got {values[where]}, {expected.format(mirror)}")
