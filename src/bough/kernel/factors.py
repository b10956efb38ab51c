"""LTL, LTDL and UDUᵀ of matrices with the sparsity of a tree: the public functions, and the factor they return."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.backends import Variant
from bough.errors import ShapeError, TreeError
from bough.kernel.arguments import FloatArray, Shape, read_only, write_out
from bough.kernel.compile import ROLL_ABOVE
from bough.kernel.factor_functions import (
    UNIT,
    UPPER,
    Kind,
    Operations,
    dense_factorizer,
    diagonal,
    factorizer,
    pivot_limits,
    pivots_of,
    triangle,
)
from bough.kernel.function import Function
from bough.kernel.table import Entered, entry, function_of
from bough.kernel.treematrix import Parents, TreeMatrix, as_tree, held_rows, places, read_dense
from bough.reading import kind_of, known_name
from bough.tree import Tree

__all__ = ["Factor", "Kind", "factor_packed", "into_factor", "ltdl", "ltl", "udut", "uut"]

PACKED: dict[Kind, str] = {"ltl": "ltl of rows", "ltdl": "ltdl of rows", "udut": "udut of rows", "uut": "uut of rows"}
"""What factors of packed rows are called in the table of a tree; those of dense matrices are called by their kind."""


def ltl(
    H: ArrayLike | TreeMatrix, parents: Parents | None = None, *, overwrite: bool = False, out: FloatArray | None = None
) -> Factor:
    """Factorise H = Lᵀ L, with a lower-triangular L of the same sparsity.

    H is symmetric and positive definite with the sparsity of a tree: H[i, j] may be nonzero only if i = j or if one of
    the nodes i and j is an ancestor of the other. There is no fill-in.

    Parameters
    ----------
    H
        Matrices, shape (*batch, n, n), float64 or float32 (other real numbers become float64), or a `TreeMatrix`. The
        lower triangle is used; the upper triangle is only compared with it.
    parents
        A `Tree` or a parent array of length n. A `TreeMatrix` has its own tree: omit this, or give the same tree.
    overwrite
        Whether to write L over the lower triangle of H, which must then be a writable array of float64 or float32. The
        upper triangle is unchanged; after an error, all of H is unchanged. The returned factor shares no memory with H.
        A `TreeMatrix` is immutable, so it raises an error.
    out
        Array for the packed rows of the factor, shape (*batch, n + D1). The factor shares its memory.

    Returns
    -------
    Factor
        The factor, with its products and substitutions.

    Raises
    ------
    ShapeError, TreeError
        For a wrong shape or data type; for parents that are not a tree, or not the tree of H.
    FiniteError, PatternError
        For NaN or infinity; for the first entry that breaks the symmetry or the pattern.
    SingularError
        If H is not positive definite to working precision: some pivot (the entry of D in LTDL) is not finite, or not
        larger than min(n, 8)·eps·H[k, k]. The message names row k, counted from 1, and the index in the batch.

    Examples
    --------
    >>> import bough
    >>> H, parents = [[4.0, 1, 1], [1, 2, 0], [1, 0, 2]], (0, 1, 1)  # nodes 2 and 3 on node 1: no entry between them
    >>> bough.trees.ltl(H, parents).solve([1.0, 2, 3])
    array([-0.5 ,  1.25,  1.75])
    """
    return _factorized("ltl", H, parents, overwrite, out)


def ltdl(
    H: ArrayLike | TreeMatrix, parents: Parents | None = None, *, overwrite: bool = False, out: FloatArray | None = None
) -> Factor:
    """Factorise H = Lᵀ D L, with a unit lower-triangular L of the same sparsity and a diagonal D.

    It needs no square roots. The result and the errors are those of `ltl`.

    Parameters
    ----------
    H, parents, out
        As for `ltl`.
    overwrite
        Whether to write D over the diagonal of H and the rest of L below it, as for `ltl`.

    Examples
    --------
    >>> import bough
    >>> H, parents = [[4.0, 1, 1], [1, 2, 0], [1, 0, 2]], (0, 1, 1)  # nodes 2 and 3 on node 1: no entry between them
    >>> bough.trees.ltdl(H, parents).D
    array([3., 2., 2.])
    """
    return _factorized("ltdl", H, parents, overwrite, out)


def udut(
    H: ArrayLike | TreeMatrix, parents: Parents | None = None, *, overwrite: bool = False, out: FloatArray | None = None
) -> Factor:
    """Factorise H = U D Uᵀ, with a unit upper-triangular U of the same sparsity and a diagonal D.

    U is the Lᵀ of `ltdl`, in the upper triangle. The result and the errors are those of `ltl`.

    Parameters
    ----------
    H
        Matrices, shape (*batch, n, n), or a `TreeMatrix`, as for `ltl`, but it is the upper triangle that is read.
    parents, out
        As for `ltl`.
    overwrite
        Whether to write D over the diagonal of H and the rest of U above it, as for `ltl`.

    Examples
    --------
    >>> import bough
    >>> H, parents = [[4.0, 1, 1], [1, 2, 0], [1, 0, 2]], (0, 1, 1)  # nodes 2 and 3 on node 1: no entry between them
    >>> bough.trees.udut(H, parents).U[0]
    array([1. , 0.5, 0.5])
    """
    return _factorized("udut", H, parents, overwrite, out)


def uut(
    H: ArrayLike | TreeMatrix, parents: Parents | None = None, *, overwrite: bool = False, out: FloatArray | None = None
) -> Factor:
    """Factorise H = U Uᵀ, with an upper-triangular U of the same sparsity.

    U is the Lᵀ of `ltl`, in the upper triangle. The result and the errors are those of `ltl`.

    Parameters
    ----------
    H
        Matrices, shape (*batch, n, n), or a `TreeMatrix`, as for `ltl`, but it is the upper triangle that is read.
    parents, out
        As for `ltl`.
    overwrite
        Whether to write U over the upper triangle of H, as for `ltl`.

    Examples
    --------
    >>> import bough
    >>> H, parents = [[4.0, 1, 1], [1, 2, 0], [1, 0, 2]], (0, 1, 1)  # nodes 2 and 3 on node 1: no entry between them
    >>> (bough.trees.uut(H, parents).U ** 2).round(6).diagonal()  # the D of `udut`
    array([3., 2., 2.])
    """
    return _factorized("uut", H, parents, overwrite, out)


def factor_packed(kind: Kind, values: FloatArray, tree: Tree, out: FloatArray | None = None) -> Factor:
    """Factorise packed path rows, shape (*batch, n + D1)."""
    if out is None:
        made: Factor = entry(tree, PACKED[kind], _of_packed)(values, None, True)  # type: ignore[assignment]
        return made
    packed = entry(tree, ("factor", kind), factorizer)(values, out, True)
    return Factor.of_fresh(Operations(kind, tree), read_only(packed))


def vanishing_pivots(values: FloatArray, tree: Tree) -> tuple[NDArray[np.bool_], FloatArray]:
    """Which pivots of packed matrices vanish to working precision, and the pivots, (*batch, n); NaN does not."""
    pivots = pivots_of(values, tree)
    return np.asarray(pivots <= pivot_limits(values, tree)), pivots


def small_pivots(values: FloatArray, tree: Tree, part: float) -> NDArray[np.bool_]:
    """Which pivots of packed matrices are no more than a part of the diagonal entry they are left of, (*batch, n)."""
    return np.asarray(pivots_of(values, tree) <= part * diagonal(values, tree))


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Factor:
    """A factorised symmetric positive-definite matrix H, or a batch of them; immutable.

    Factors come from `ltl` (H = Lᵀ L), `ltdl` (H = Lᵀ D L), `udut` (H = U D Uᵀ) and `uut` (H = U Uᵀ); for the last two,
    L means Uᵀ.

    Methods take a vector x of shape (*batch, n), or k columns of shape (*batch, n, k). x is read as a vector (..., n)
    if it has at most as many axes as `packed`, else as columns. Batch axes are broadcast: one x for many factors, or
    columns (m, n, k) for one factor. `out` is an array for the result, of the right shape and data type; it may be x.
    Results are float32 if the factor and x both are, else float64.

    Attributes
    ----------
    kind
        "ltl", "ltdl", "udut" or "uut".
    packed
        Path rows of L, shape (*batch, n + D1), read-only; for "ltdl" and "udut", D is on the diagonal.
    tree
        The tree that determines the sparsity of H and L.
    """

    __slots__ = ("_operations", "packed")

    _operations: Operations
    packed: FloatArray

    def __init__(self, kind: Kind, packed: ArrayLike, tree: Parents) -> None:
        known_name(kind, "kind of factor", PACKED)
        of = as_tree(tree)
        _hold(self, Operations(kind, of), held_rows("packed", packed, of))

    def __reduce__(self) -> tuple[type[Factor], tuple[object, ...]]:
        return Factor, (self.kind, self.packed, self.tree)

    @classmethod
    def of_fresh(cls, operations: Operations, packed: FloatArray) -> Factor:
        """A factor that takes over a read-only array nobody else holds, as a function returned it."""
        return _hold(object.__new__(cls), operations, packed)

    @property
    def kind(self) -> Kind:
        """The form of the factor: "ltl", "ltdl", "udut" or "uut"."""
        return self._operations.kind

    @property
    def tree(self) -> Tree:
        """The tree that determines the sparsity of H and L."""
        return self._operations.tree

    @property
    def n(self) -> int:
        """Number of rows of H."""
        return self.tree.n

    @property
    def batch(self) -> Shape:
        """Shape of the batch, () for a single matrix."""
        return self.packed.shape[:-1]

    # ---- the factor matrices -------------------------------------------------------------------------------------

    @property
    def L(self) -> FloatArray:
        """The lower-triangular factor as a dense array, shape (*batch, n, n)."""
        L = np.zeros((*self.batch, self.n, self.n), self.packed.dtype)
        L[(..., *places(self.tree))] = self.packed
        if self._unit:
            L[..., range(self.n), range(self.n)] = 1
        return L

    @property
    def U(self) -> FloatArray:
        """The upper-triangular factor of "udut" and "uut" as a dense array, shape (*batch, n, n)."""
        if self.kind not in UPPER:
            raise AttributeError(f"a factor of kind {self.kind!r} has no U: its triangle is L; use udut for H = U D Uᵀ")
        return np.ascontiguousarray(np.swapaxes(self.L, -2, -1))

    @property
    def D(self) -> FloatArray:
        """The diagonal of D of "ltdl" and "udut", shape (*batch, n)."""
        if not self._unit:
            raise AttributeError("a factor of kind 'ltl' has no D: H = Lᵀ L; use ltdl for H = Lᵀ D L")
        return diagonal(self.packed, self.tree)

    # ---- products and substitutions ------------------------------------------------------------------------------

    def solve(self, b: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return the solution x = H⁻¹ b of H x = b; shapes (*batch, n) or (*batch, n, k).

        b is read as vectors, which broadcast, if it has at most one axis more than the batch; else as columns.
        """
        return self._operations.solve(self.packed, b, out, True)

    def mul(self, x: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """H x; shapes (*batch, n) or (*batch, n, k)."""
        return self._operations.mul(self.packed, x, out, True)

    def mul_L(self, x: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """L x; shapes (*batch, n) or (*batch, n, k)."""
        return self._operations.mul_L(self.packed, x, out, True)

    def mul_Lt(self, x: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Lᵀ x; shapes (*batch, n) or (*batch, n, k)."""
        return self._operations.mul_Lt(self.packed, x, out, True)

    def solve_L(self, x: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """L⁻¹ x; shapes (*batch, n) or (*batch, n, k)."""
        return self._operations.solve_L(self.packed, x, out, True)

    def solve_Lt(self, x: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """L⁻ᵀ x; shapes (*batch, n) or (*batch, n, k)."""
        return self._operations.solve_Lt(self.packed, x, out, True)

    # ---- the inverse and the determinant -------------------------------------------------------------------------

    def inverse(self, *, out: FloatArray | None = None, check: bool = True) -> FloatArray:
        """H⁻¹ as a dense and exactly symmetric array, shape (*batch, n, n); `check` is as in `bough.rnea`."""
        return self._operations.inverse(self.packed, out, check)

    def logdet(self, *, out: FloatArray | None = None) -> FloatArray:
        """Natural logarithm of the determinant of H, shape (*batch,)."""
        logs = np.log(diagonal(self.packed, self.tree))
        total = np.zeros(self.batch, self.packed.dtype)
        for k in range(self.n):  # one by one: np.sum adds in an order that depends on the batch
            total += logs[..., k]
        if not self._unit:
            total *= 2
        return total if out is None else write_out(out, total)

    # ---- Python protocol and inner parts -------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"Factor({self.kind!r}, {self.packed.dtype}, batch={self.batch}, {self.tree!r})"

    @property
    def _unit(self) -> bool:
        return self.kind in UNIT


def _hold(made: Factor, operations: Operations, packed: FloatArray) -> Factor:
    object.__setattr__(made, "_operations", operations)
    object.__setattr__(made, "packed", packed)
    return made


def into_factor(function: Function, kind: Kind, tree: Tree) -> Entered:
    """A function of packed rows of a factor as one that returns the factor."""
    return Entered(function.variant(Variant(holder=Factor, shared=Operations(kind, tree))))


def _of_packed(tree: Tree, key: str) -> Entered:
    """From packed rows to a factor."""
    (kind,) = (kind for kind in PACKED if PACKED[kind] == key)
    return into_factor(function_of(tree, ("factor", kind), factorizer), kind, tree)


def _of_dense(tree: Tree, kind: Kind) -> Entered:
    """From a dense matrix to a factor."""
    if tree.n <= ROLL_ABOVE:
        return into_factor(function_of(tree, ("factor of dense", kind), dense_factorizer), kind, tree)

    def in_two_steps(H: ArrayLike, out: None, check: bool) -> Factor:  # one program for both would be too long
        return factor_packed(kind, read_dense(H, tree)[triangle(kind, tree)], tree)

    return Entered(in_two_steps)


def _factorized(
    kind: Kind, H: ArrayLike | TreeMatrix, parents: Parents | None, overwrite: bool, out: FloatArray | None
) -> Factor:
    if out is None and not overwrite:  # most often, and then without delay
        if type(H) is np.ndarray and type(parents) is Tree:
            result: Factor = entry(parents, kind, _of_dense)(H, None, True)  # type: ignore[assignment]
            return result
        if type(H) is TreeMatrix and parents is None:
            result = entry(H.tree, PACKED[kind], _of_packed)(H.values, None, True)  # type: ignore[assignment]
            return result
    if overwrite:
        _require_writable(H)
    if isinstance(H, TreeMatrix):
        if parents is not None and as_tree(parents) != H.tree:
            raise TreeError(f"parents is {as_tree(parents)}, but H is a matrix on {H.tree}: leave parents out")
        return factor_packed(kind, H.values, H.tree, out)
    if parents is None:
        raise TreeError("parents is missing: expected a Tree or a parent array, since H is not a TreeMatrix")
    tree = as_tree(parents)
    result = entry(tree, kind, _of_dense)(H, None, True)  # type: ignore[assignment]
    if out is not None:
        result = Factor.of_fresh(result._operations, read_only(write_out(out, result.packed)))
    if overwrite:
        assert isinstance(H, np.ndarray)
        H[triangle(kind, tree)] = result.packed
    return result


def _require_writable(H: object) -> None:
    if isinstance(H, np.ndarray) and H.flags.writeable and H.dtype in (np.float64, np.float32):
        return
    if isinstance(H, np.ndarray):
        got = f"{'an' if H.flags.writeable else 'a read-only'} array of {H.dtype}"
    else:
        got = f"{kind_of(H)}"
    raise ShapeError(f"H is {got}, expected a writable array of float64 or float32 since overwrite is true")
