"""LTL, LTDL and UDUᵀ of matrices with the sparsity of a tree: the public functions, and the factor they return."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough import factor
from bough.backends import Argument
from bough.errors import ShapeError, SingularError, TreeError
from bough.kernel.arguments import FloatArray, Shape, write_out
from bough.kernel.compile import ROLL_ABOVE
from bough.kernel.function import Function, Results, Verdicts
from bough.kernel.table import entry
from bough.kernel.treematrix import Parents, TreeMatrix, apply, as_tree, diagonal_places, places, read_dense
from bough.kernel.verdict import PIVOTS
from bough.scalar import Array, Bool, both
from bough.scalar import negation as not_
from bough.tree import Tree

__all__ = ["Factor", "Kind", "factor_packed", "ltdl", "ltl", "udut"]

Kind: TypeAlias = Literal["ltl", "ltdl", "udut"]

SUSPECT = 1e-5
"""A pivot below this part of the diagonal entry it is left of is looked at more closely."""

ALGORITHMS: dict[Kind, Callable[..., Any]] = {"ltl": factor.ltl, "ltdl": factor.ltdl, "udut": factor.udut}


def ltl(
    H: ArrayLike | TreeMatrix,
    parents: Parents | None = None,
    *,
    overwrite: bool = False,
    out: FloatArray | None = None,
) -> Factor:
    """Factorise H = Lᵀ L, with a lower-triangular L of the same sparsity.

    Valid for every symmetric positive-definite matrix that is zero wherever the tree says so: H[i, j] may be non-zero
    only if i = j or if one of the nodes i and j is an ancestor of the other. There is no fill-in.

    Parameters
    ----------
    H
        Matrices, shape (*batch, n, n), float64 or float32 (other real numbers become float64), or a `TreeMatrix`.
        The lower triangle is read; the upper one is only compared with it.
    parents
        A `Tree` or a parent array of length n. A `TreeMatrix` has its own: leave it out, or give the same one.
    overwrite
        Whether to write L over the lower triangle of H, which must then be a writable array of float64 or float32.
        The upper triangle keeps its values, and all of H does when an error is raised. The returned factor shares no
        memory with H. A `TreeMatrix` is immutable and is refused.
    out
        Where to write the packed rows of the factor, shape (*batch, n + D1). The factor shares them: it changes when
        they do.

    Returns
    -------
    Factor
        The factor, with its products and substitutions.

    Raises
    ------
    ShapeError, TreeError
        For a wrong shape or data type; for parents that are no tree, or not the tree of H.
    FiniteError, PatternError
        For NaN or infinity; for the first entry that breaks the symmetry or the pattern.
    SingularError
        If H is not positive definite to working precision: some pivot (the entry of D in LTDL) is not finite, or not
        larger than min(n, 8)·eps·H[k, k]. The message names row k, counted from 1, and the place in the batch.
    """
    return _factorized("ltl", H, parents, overwrite, out)


def ltdl(
    H: ArrayLike | TreeMatrix,
    parents: Parents | None = None,
    *,
    overwrite: bool = False,
    out: FloatArray | None = None,
) -> Factor:
    """Factorise H = Lᵀ D L, with a unit lower-triangular L of the same sparsity and a diagonal D.

    Needs no square roots. `parents`, the result and the errors are those of `ltl`.

    Parameters
    ----------
    H
        Matrices, shape (*batch, n, n), or a `TreeMatrix`, as for `ltl`.
    parents
        A `Tree` or a parent array of length n.
    overwrite
        Whether to write D over the diagonal of H and the rest of L below it, as for `ltl`.
    out
        Where to write the packed rows of the factor, as for `ltl`.
    """
    return _factorized("ltdl", H, parents, overwrite, out)


def udut(
    H: ArrayLike | TreeMatrix,
    parents: Parents | None = None,
    *,
    overwrite: bool = False,
    out: FloatArray | None = None,
) -> Factor:
    """Factorise H = U D Uᵀ, with a unit upper-triangular U of the same sparsity and a diagonal D.

    U is the Lᵀ of `ltdl`, found in the upper triangle. `parents`, the result and the errors are those of `ltl`.

    Parameters
    ----------
    H
        Matrices, shape (*batch, n, n), or a `TreeMatrix`, as for `ltl`, but it is the upper triangle that is read.
    parents
        A `Tree` or a parent array of length n.
    overwrite
        Whether to write D over the diagonal of H and the rest of U above it, as for `ltl`.
    out
        Where to write the packed rows of the factor, as for `ltl`.
    """
    return _factorized("udut", H, parents, overwrite, out)


def factor_packed(kind: Kind, values: FloatArray, tree: Tree, out: FloatArray | None = None) -> Factor:
    """Factorise packed path rows, shape (*batch, n + D1)."""
    packed = entry(tree, ("factor", kind), _factorizer)(values, out, True)
    return Factor.of_fresh(kind, packed if out is None else packed.view(), tree)


def vanishing_pivots(values: FloatArray, tree: Tree) -> tuple[NDArray[np.bool_], FloatArray]:
    """Which pivots of packed matrices vanish to working precision, and the pivots, (*batch, n); NaN does not."""
    pivots = _pivots(values, tree)
    return np.asarray(pivots <= _limits(values, tree)), pivots


def small_pivots(values: FloatArray, tree: Tree, part: float) -> NDArray[np.bool_]:
    """Which pivots of packed matrices are no more than a part of the diagonal entry they are left of, (*batch, n)."""
    return np.asarray(_pivots(values, tree) <= part * _diagonal(values, tree))


def _pivots(values: FloatArray, tree: Tree) -> FloatArray:
    """The pivots of packed matrices, whatever they are."""
    pivots: FloatArray = entry(tree, "pivots", _pivot_finder)(values, None, False)
    return pivots


def _limits(values: FloatArray, tree: Tree) -> FloatArray:
    """What a pivot must exceed: a few units of rounding of the diagonal it is left of."""
    return np.asarray(min(tree.n, 8) * np.finfo(values.dtype).eps * _diagonal(values, tree))


@dataclass(frozen=True, repr=False, eq=False)
class Factor:
    """A factorised symmetric positive-definite matrix H, or a batch of them; immutable.

    Made by `ltl` (H = Lᵀ L), `ltdl` (H = Lᵀ D L) and `udut` (H = U D Uᵀ; there L means Uᵀ).

    Everything that takes an x takes a vector of shape (*batch, n) or k columns of shape (*batch, n, k), where `batch`
    is exactly that of the factor (nothing is broadcast), and returns an array of the same shape. `out` says where to
    write the result; it must have the right shape and data type, and may be x. Results are float32 if the factor and x
    both are, else float64.

    Attributes
    ----------
    kind
        "ltl", "ltdl" or "udut".
    packed
        Path rows of L, shape (*batch, n + D1), read-only; for "ltdl" and "udut" with D in place of the unit diagonal.
    tree
        The tree whose sparsity H and L have.
    """

    kind: Kind
    packed: FloatArray
    tree: Tree

    def __post_init__(self) -> None:
        self.packed.setflags(write=False)

    def __reduce__(self) -> tuple[type[Factor], tuple[object, ...]]:
        return Factor, (self.kind, self.packed, self.tree)

    @classmethod
    def of_fresh(cls, kind: Kind, packed: FloatArray, tree: Tree) -> Factor:
        """A factor that takes over an array nobody else holds, as a kernel returned it."""
        made = cls.__new__(cls)
        packed.setflags(write=False)
        made.__dict__.update(kind=kind, packed=packed, tree=tree)
        return made

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
        """The upper-triangular factor of "udut" as a dense array, shape (*batch, n, n)."""
        if self.kind != "udut":
            raise AttributeError(f"a factor of kind {self.kind!r} has no U: its triangle is L; use udut for H = U D Uᵀ")
        return np.ascontiguousarray(np.swapaxes(self.L, -2, -1))

    @property
    def D(self) -> FloatArray:
        """The diagonal of D of "ltdl" and "udut", shape (*batch, n)."""
        if not self._unit:
            raise AttributeError("a factor of kind 'ltl' has no D: H = Lᵀ L; use ltdl for H = Lᵀ D L")
        return _diagonal(self.packed, self.tree)

    # ---- products and substitutions ------------------------------------------------------------------------------

    def solve(self, b: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """H⁻¹ b, the solution x of H x = b; shapes (*batch, n) or (*batch, n, k)."""
        return self._apply(factor.solve, b, out, "b")

    def mul(self, x: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """H x; shapes (*batch, n) or (*batch, n, k)."""
        return self._apply(factor.mul, x, out)

    def mul_L(self, x: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """L x; shapes (*batch, n) or (*batch, n, k)."""
        return self._apply(factor.mul_L, x, out)

    def mul_Lt(self, x: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Lᵀ x; shapes (*batch, n) or (*batch, n, k)."""
        return self._apply(factor.mul_Lt, x, out)

    def solve_L(self, x: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """L⁻¹ x; shapes (*batch, n) or (*batch, n, k)."""
        return self._apply(factor.solve_L, x, out)

    def solve_Lt(self, x: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """L⁻ᵀ x; shapes (*batch, n) or (*batch, n, k)."""
        return self._apply(factor.solve_Lt, x, out)

    # ---- the inverse and the determinant -------------------------------------------------------------------------

    def inverse(self, *, out: FloatArray | None = None) -> FloatArray:
        """H⁻¹ as a dense and exactly symmetric array, shape (*batch, n, n)."""
        found: FloatArray = entry(self.tree, ("inverse", self._unit), _inverter)(self.packed, out, True)
        return found

    def logdet(self, *, out: FloatArray | None = None) -> FloatArray:
        """Natural logarithm of the determinant of H, shape (*batch,)."""
        logs = np.log(_diagonal(self.packed, self.tree))
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
        return self.kind != "ltl"

    def _apply(
        self, operation: Callable[..., Any], x: ArrayLike, out: FloatArray | None, argument: str = "x"
    ) -> FloatArray:
        function = entry(self.tree, (operation, self._unit, argument), _applier)
        return apply(function, self.tree.n, self.packed, x, out, operation.__name__, argument)


def _factorized(
    kind: Kind, H: ArrayLike | TreeMatrix, parents: Parents | None, overwrite: bool, out: FloatArray | None
) -> Factor:
    if overwrite:
        _require_writable(H)
    if isinstance(H, TreeMatrix):
        if parents is not None and as_tree(parents) != H.tree:
            raise TreeError(f"parents is {as_tree(parents)}, but H is a matrix on {H.tree}: leave parents out")
        return factor_packed(kind, H.values, H.tree, out=out)
    if parents is None:
        raise TreeError("parents is missing: expected a Tree or a parent array, since H is not a TreeMatrix")
    tree = as_tree(parents)
    if tree.n <= ROLL_ABOVE:
        packed = entry(tree, ("factor of dense", kind), _dense_factorizer)(H, None, True)
        result = Factor.of_fresh(kind, packed if out is None else write_out(out, packed).view(), tree)
    else:
        result = factor_packed(kind, read_dense(H, tree)[_triangle(kind, tree)], tree, out=out)
    if overwrite:
        assert isinstance(H, np.ndarray)
        H[_triangle(kind, tree)] = result.packed
    return result


def _triangle(kind: Kind, tree: Tree) -> tuple[Any, ...]:
    """Where the entries that are read lie in a dense matrix."""
    rows, columns = places(tree)
    return (..., columns, rows) if kind == "udut" else (..., rows, columns)


def _require_writable(H: object) -> None:
    if isinstance(H, np.ndarray) and H.flags.writeable and H.dtype in (np.float64, np.float32):
        return
    if isinstance(H, np.ndarray):
        got = f"{'an' if H.flags.writeable else 'a read-only'} array of {H.dtype}"
    else:
        got = f"a {type(H).__name__}"
    raise ShapeError(f"H is {got}, expected a writable array of float64 or float32 since overwrite is true")


# ---- functions -------------------------------------------------------------------------------------------------------


def _factorizer(tree: Tree, key: tuple[str, Kind]) -> Function:
    """From packed rows to those of the factor."""
    kind = key[1]

    def rule(packed: Array) -> dict[str, Array]:
        L = ALGORITHMS[kind](tree, packed)
        return {"factor": L, "margins": factor.margins(tree, packed, L, kind != "ltl", SUSPECT)}

    def explain(arrays: dict[str, FloatArray], results: Results, verdicts: Verdicts) -> Results:
        _require_definite(kind, arrays["packed"], tree, results[0])
        return results

    return _function(kind, tree, [_packed(tree)], [_packed(tree, "factor")], rule, explain)


def _pivot_finder(tree: Tree, key: str) -> Function:
    """From packed rows to the pivots of LTDL."""

    def rule(packed: Array) -> dict[str, Array]:
        return {"pivot": factor.diagonal(tree, factor.ltdl(tree, packed))}

    return _function(key, tree, [_packed(tree)], [Argument("pivot", (tree.n,), finite=False)], rule)


def _dense_factorizer(tree: Tree, key: tuple[str, Kind]) -> Function:
    """From a dense matrix to the packed rows of its factor."""
    kind, n = key[1], tree.n
    rows, columns = (p.tolist() for p in places(tree))
    read = [(j, i) if kind == "udut" else (i, j) for i, j in zip(rows, columns, strict=True)]
    inside = {*read, *((j, i) for i, j in read)}

    def rule(H: Array) -> dict[str, Any]:
        packed = [H[i * n + j] for i, j in read]
        L = ALGORITHMS[kind](tree, packed)
        fits: Bool = True
        for i, j in ((i, j) for i in range(n) for j in range(n)):
            x, other = H[i * n + j], H[j * n + i] if (i, j) in inside else 0.0
            if i != j:
                fits = both(fits, both(x <= other, x >= other))
        return {"factor": L, "margins": factor.margins(tree, packed, L, kind != "ltl", SUSPECT), "doubt": not_(fits)}

    def explain(arrays: dict[str, FloatArray], results: Results, verdicts: Verdicts) -> Results:
        read_dense(arrays["H"], tree)
        if ((verdicts.astype(np.int64) & PIVOTS) != 0).any():
            _require_definite(kind, arrays["H"][_triangle(kind, tree)], tree, results[0])
        return results

    meaning = f"a row and a column for each of the {n} entries of parents"
    H = Argument("H", (n, n), meaning, finite=False)
    return _function(f"{kind} of a dense matrix", tree, [H], [_packed(tree, "factor")], rule, explain)


def _applier(tree: Tree, key: tuple[Callable[..., Any], bool, str]) -> Function:
    """A product or substitution."""
    operation, unit, name = key
    return _function(
        f"{operation.__name__} with {'LTDL' if unit else 'LTL'}",
        tree,
        [_packed(tree), Argument(name, (tree.n,))],
        [Argument("y", (tree.n,))],
        lambda **given: {"y": operation(tree, given["packed"], given[name], unit)},
    )


def _inverter(tree: Tree, key: tuple[str, bool]) -> Function:
    """The inverse of a matrix from its factor."""
    output = Argument("inverse", (tree.n, tree.n))
    return _function(
        f"inverse with {'LTDL' if key[1] else 'LTL'}",
        tree,
        [_packed(tree)],
        [output],
        lambda packed: {"inverse": factor.inverse(tree, packed, key[1])},
    )


def _packed(tree: Tree, name: str = "packed") -> Argument:
    """Packed rows; what is not finite in them shows in the pivots."""
    return Argument(name, (tree.packed_size,), finite=False)


def _function(
    name: str,
    tree: Tree,
    inputs: Sequence[Argument],
    outputs: Sequence[Argument],
    rule: Callable[..., Any],
    explain: Any = None,
) -> Function:
    return Function(name, inputs, outputs, rule, size=tree.n, digest=lambda: repr(tree.parents), explain=explain)


def _diagonal(packed: FloatArray, tree: Tree) -> FloatArray:
    return np.take(packed, diagonal_places(tree), axis=-1)


def _require_definite(kind: Kind, values: FloatArray, tree: Tree, packed: FloatArray) -> None:
    """Raise for the pivot that went wrong first, in the first matrix that has one."""
    pivots = _diagonal(packed, tree)
    if kind == "ltl":
        pivots = np.square(pivots)
    limits = _limits(values, tree)
    sound = (pivots > 0) & (pivots > limits) & np.isfinite(pivots)  # a NaN fails them all
    if sound.all():
        return
    *batch, _ = np.unravel_index(int(np.argmin(sound)), sound.shape)
    where = tuple(int(k) for k in batch)
    row = int(np.flatnonzero(~sound[where])[-1])  # elimination goes from the last row to the first
    pivot = _pivots(values[where], tree)[row]  # LTL would show the root of a negative number
    place = f"matrix {where}: " if where else ""
    raise SingularError(
        f"{place}row {row + 1}: the pivot is {pivot}, expected more than {max(limits[where][row], 0)}: "
        "the matrix is not positive definite"
    )
