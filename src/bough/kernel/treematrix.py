"""Symmetric matrices with the sparsity of a tree, stored as packed path rows, and products of such rows with arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from bough import factor
from bough.backends import Argument
from bough.errors import ShapeError, TreeError
from bough.kernel.arguments import FloatArray, Shape, as_floats, held, is_on_device, require_finite, write_out
from bough.kernel.function import Function
from bough.kernel.table import entry
from bough.kernel.tensors import floats_in, library_of
from bough.model import Model
from bough.tree import Tree
from bough.tree.tree import IntArray, Integers

__all__ = [
    "Parents",
    "TreeMatrix",
    "apply",
    "as_tree",
    "diagonal_places",
    "held_rows",
    "places",
    "read_dense",
    "rows_of",
    "unpacked",
]

Parents: TypeAlias = Tree | Integers

BROADCAST = 1 << 24
"""Columns are taken in groups, so that at most about this many packed numbers are repeated for them at a time."""


def as_tree(parents: Parents) -> Tree:
    """The tree itself, or the tree of a parent array."""
    if isinstance(parents, Model):
        raise TreeError(f"parents is model {parents.name!r}, expected a tree: model.dof_tree is that of its matrices")
    return parents if isinstance(parents, Tree) else Tree(parents)


def places(tree: Tree) -> tuple[IntArray, IntArray]:
    """Row and column (0-based) of every packed entry, in the lower triangle; shapes (n + D1,)."""
    return np.repeat(np.arange(tree.n), tree.depths), tree.packed_paths - 1


def diagonal_places(tree: Tree) -> IntArray:
    """Where the diagonal lies among the packed entries; shape (n,)."""
    return tree.packed_starts[1:] - 1


def unpacked(values: Any, tree: Tree) -> Any:
    """The full symmetric matrix (*batch, n, n) of packed rows (*batch, n + D1)."""
    rows, columns = places(tree)
    library = library_of(values)
    if library is not np:  # entry by entry from where it is stored, or from a zero behind all
        found = np.full((tree.n, tree.n), tree.packed_size)
        found[rows, columns] = found[columns, rows] = np.arange(tree.packed_size)
        return library.concatenate([values, library.zeros_like(values[..., :1])], -1)[..., library.asarray(found)]
    matrix = np.zeros((*values.shape[:-1], tree.n, tree.n), values.dtype)
    matrix[..., rows, columns] = values
    matrix[..., columns, rows] = values
    return matrix


def held_rows(name: str, values: ArrayLike, tree: Tree) -> FloatArray:
    """Packed rows (*batch, n + D1) that users give, as a read-only copy."""
    return held(
        name, values, tree.packed_size, f"{tree.n} rows with {tree.packed_size} entries on and below the diagonal"
    )


def rows_of(tree: Tree) -> str:
    """What the rows of a matrix on a tree are, for errors."""
    return f"a row and a column for each of the {tree.n} entries of parents (of a model's matrices: model.dof_tree)"


def read_dense(H: ArrayLike, tree: Tree) -> FloatArray:
    """The matrix as floats, (*batch, n, n), once it is known to be finite, symmetric and of the tree's pattern."""
    n = tree.n
    matrix = as_floats("H", H, (n, n), rows_of(tree))
    tree.check(matrix)
    return matrix


def apply(
    function: Callable[..., Any],
    n: int,
    packed: FloatArray,
    x: ArrayLike,
    out: FloatArray | None,
    called: str,
    name: str = "x",
) -> FloatArray:
    """Run a function y(packed, x) on a vector or on columns; batch axes are broadcast.

    Parameters
    ----------
    function
        Its entry.
    n, packed
        Number of rows, and what the function knows of the matrix, shape (*batch, size).
    x
        A vector, shape (..., n), if it has at most as many axes as `packed`, else k columns, shape (..., n, k); `name`
        is what the caller calls it.
    out
        Where to write the result, of its exact shape and data type. It may be `x` itself.
    called
        What errors call the function.
    """
    if type(x) is np.ndarray and x.shape == (*packed.shape[:-1], n):
        y: FloatArray = function(packed, x, out, True)
        return y
    library, on_device = library_of(packed, x), is_on_device(x)
    of_tensors = library is not np and not on_device
    values: Any = x if on_device else floats_in(library, name, x, (), "")[0]
    batch = packed.shape[:-1]
    if values.shape != (*batch, n):
        batch = _batch(name, values.shape, batch, n)
    if values.ndim <= packed.ndim:
        y = function(packed, values, out, True)
        return y
    if on_device or of_tensors:  # columns are states of one launch
        library = library if of_tensors else np
        y = library.moveaxis(function(packed, library.moveaxis(values, -1, 0), None, True), 0, -1)
        return _written(y, out)
    require_finite(name, values)
    y = np.empty((*batch, *values.shape[-2:]), np.result_type(packed, values))
    step = max(1, BROADCAST // max(1, math.prod(batch) * packed.shape[-1]))
    for first in range(0, values.shape[-1], step):
        # Each column is a state of its own; the packed rows are the same for all of them.
        group = np.moveaxis(values[..., first : first + step], -1, 0)
        y[..., first : first + step] = np.moveaxis(function(packed, group, None, False), 0, -1)
    require_finite(f"{called}({name})", y)
    return y if out is None else write_out(out, y)


def _written(y: Any, out: Any) -> FloatArray:
    """A result that lies on a GPU, written to an array there if one is given."""
    if out is not None:
        out[...] = y
    written: FloatArray = y if out is None else out
    return written


def _batch(name: str, shape: Shape, batch: Shape, n: int) -> Shape:
    """The batch axes of a result, broadcast from those of matrices and of a vector (..., n) or columns (..., n, k)."""
    leading = len(shape) - (1 if len(shape) <= len(batch) + 1 else 2)
    if shape[leading : leading + 1] == (n,) and leading >= 0:
        with suppress(ValueError):
            return np.broadcast_shapes(shape[:leading], batch)
    vector = (*batch, n)
    columns = "(" + ", ".join([*map(str, vector), "k"]) + ")"
    raise ShapeError(
        f"{name} has shape {shape}, expected {vector} for a vector or {columns} for k columns, or what broadcasts to "
        f"them: n is {n} and the batch shape is {batch}; with more axes than {vector} it is columns"
    )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class TreeMatrix:
    """A symmetric matrix with the sparsity of a tree, or a batch of such matrices; immutable.

    It stores only the entries that may be nonzero, each once: row i holds the entries for the nodes on the path from
    the root to i. Rows are concatenated.

    Parameters
    ----------
    values
        Packed path rows, float64 or float32, shape (*batch, n + D1). They are copied.
    tree
        A `Tree` or a parent array, with one node per row.

    Attributes
    ----------
    values
        The packed path rows, shape (*batch, n + D1), read-only. `bough.trees.crba_packed` returns rows of PyTorch or
        JAX for such arguments; then the results of the methods are of the same kind, with gradients.
    tree
        The tree.

    Raises
    ------
    ShapeError, FiniteError, TreeError
        For a wrong shape or data type; for NaN or infinity; for a parent array that is not valid.
    """

    values: FloatArray
    tree: Tree

    def __init__(self, values: ArrayLike, tree: Parents) -> None:
        tree = as_tree(tree)
        self._hold(held_rows("values", values, tree), tree)

    def _hold(self, values: FloatArray, tree: Tree) -> None:
        if isinstance(values, np.ndarray):  # not of tensors, whose gradients go on
            values.setflags(write=False)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "tree", tree)

    def __reduce__(self) -> tuple[object, tuple[FloatArray, Tree]]:
        return TreeMatrix, (self.values, self.tree)

    @classmethod
    def of_fresh(cls, values: FloatArray, tree: Tree) -> TreeMatrix:
        """A matrix that takes over an array nobody else holds, as a kernel returned it."""
        made = cls.__new__(cls)
        made._hold(values, tree)
        return made

    @classmethod
    def from_dense(cls, H: ArrayLike, tree: Parents) -> TreeMatrix:
        """Pack the lower triangle of a dense matrix.

        Parameters
        ----------
        H
            Symmetric matrices, shape (*batch, n, n), zero outside the tree's pattern.
        tree
            A `Tree` or a parent array of length n.

        Raises
        ------
        ShapeError, FiniteError, PatternError, TreeError
            For a wrong shape or data type; for NaN or infinity; for the first entry that breaks the symmetry or the
            pattern; for a parent array that is not valid.
        """
        tree = as_tree(tree)
        return cls(read_dense(H, tree)[(..., *places(tree))], tree)

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.tree.n

    @property
    def batch(self) -> Shape:
        """Shape of the batch, () for a single matrix."""
        return tuple(self.values.shape[:-1])

    @property
    def diagonal(self) -> FloatArray:
        """The diagonal, shape (*batch, n)."""
        if library_of(self.values) is not np:
            return self.values[..., diagonal_places(self.tree)]
        return np.take(self.values, diagonal_places(self.tree), axis=-1)

    def dense(self) -> FloatArray:
        """The full symmetric matrix, shape (*batch, n, n)."""
        full: FloatArray = unpacked(self.values, self.tree)
        return full

    def mul(self, x: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """The product H x.

        Parameters
        ----------
        x
            A vector, shape (*batch, n), or k columns, shape (*batch, n, k); batch axes are broadcast.
        out
            Where to write the result.
        """
        return apply(entry(self.tree, "product", _product), self.n, self.values, x, out, "mul")

    def __matmul__(self, x: ArrayLike) -> FloatArray:
        return self.mul(x)

    def __repr__(self) -> str:
        return f"TreeMatrix({self.values.dtype}, batch={self.batch}, {self.tree!r})"


def _product(tree: Tree, key: str) -> Function:
    """The product of a matrix on a tree and a vector."""
    return Function(
        "mul",
        [Argument("packed", (tree.packed_size,), finite=False), Argument("x", (tree.n,))],
        [Argument("y", (tree.n,))],
        lambda packed, x: {"y": factor.mul_H(tree, packed, x)},
        size=tree.n,
        digest=lambda: f"mul_H {tree.parents}",
    )
