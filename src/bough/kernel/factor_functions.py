"""The functions behind `bough.kernel.factors`: factors, pivots, products and inverses on a tree, and their verdicts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal, TypeAlias
from weakref import WeakSet

import numpy as np
from numpy.typing import ArrayLike

from bough import factor
from bough.backends import Argument, Limbs, Variant
from bough.errors import SingularError
from bough.kernel.arguments import FloatArray
from bough.kernel.columns import tree_columns, zeros
from bough.kernel.compile import when_backend_changes
from bough.kernel.function import Function, Results, Verdicts
from bough.kernel.limbs import tree_limbs
from bough.kernel.table import entry, function_of
from bough.kernel.treematrix import apply, diagonal_places, places, read_dense, rows_of
from bough.kernel.verdict import PIVOTS, SUMS
from bough.scalar import Array, Scalar, maximum
from bough.scalar import negation as not_
from bough.scalar.tolerances import SINGULAR_VALUE
from bough.tree import Tree

__all__ = [
    "UNIT", "UPPER", "Kind", "Operations", "dense_factorizer", "diagonal", "factorizer", "pivot_limits",
    "pivots_of", "triangle",
]  # fmt: skip

Kind: TypeAlias = Literal["ltl", "ltdl", "udut", "uut"]

UNIT, UPPER = ("ltdl", "udut"), ("udut", "uut")
"""Factors with a diagonal D of their own, and factors that are found in the upper triangle."""

ALGORITHMS: dict[Kind, Callable[..., Any]] = {
    "ltl": factor.ltl,
    "ltdl": factor.ltdl,
    "udut": factor.udut,
    "uut": factor.uut,
}


def factorizer(tree: Tree, key: tuple[str, Kind]) -> Function:
    """From packed rows to those of the factor."""
    kind = key[1]

    def rule(packed: Array) -> dict[str, Array]:
        L = ALGORITHMS[kind](tree, packed)
        return {"factor": L, "margins": factor.margins(tree, packed, L, kind in UNIT, SINGULAR_VALUE)}

    def explain(arrays: dict[str, FloatArray], results: Results, verdicts: Verdicts) -> Results:
        _require_definite(kind, arrays["packed"], tree, results[0])
        return results

    return _function(kind, tree, [_packed(tree)], [_packed(tree, "factor")], rule, explain, tree_columns)


def _pivot_finder(tree: Tree, key: str) -> Function:
    """From packed rows to the pivots of LTDL."""

    def rule(packed: Array) -> dict[str, Array]:
        return {"pivot": factor.diagonal(tree, factor.ltdl(tree, packed))}

    return _function(key, tree, [_packed(tree)], [Argument("pivot", (tree.n,), finite=False)], rule)


def dense_factorizer(tree: Tree, key: tuple[str, Kind]) -> Function:
    """From a dense matrix to the packed rows of its factor."""
    kind, n = key[1], tree.n
    rows, columns = (p.tolist() for p in places(tree))
    read = [(j, i) if kind in UPPER else (i, j) for i, j in zip(rows, columns, strict=True)]

    def rule(H: Array) -> dict[str, Any]:
        packed = [H[i * n + j] for i, j in read]
        L = ALGORITHMS[kind](tree, packed)
        misfits: dict[Hashable, Scalar] = {}  # NaN and infinity show in them

        def add(place: Hashable, x: Scalar) -> None:
            misfits[place] = misfits.get(place, 0.0) + maximum(x, -x)

        for k, run in enumerate(zeros(tree)):
            for lane, place in enumerate(run):
                add((k % SUMS, lane), H[place])
        for i, j in sorted(zip(rows, columns, strict=True), reverse=True):
            if i != j:
                add(j, H[i * n + j] - H[j * n + i])
        margins = factor.margins(tree, packed, L, kind in UNIT, SINGULAR_VALUE)
        return {"factor": L, "margins": margins, "doubt": not_(_sum(list(misfits.values())) <= 0.0)}

    def explain(arrays: dict[str, FloatArray], results: Results, verdicts: Verdicts) -> Results:
        read_dense(arrays["H"], tree)
        if ((verdicts.astype(np.int64) & PIVOTS) != 0).any():
            _require_definite(kind, arrays["H"][triangle(kind, tree)], tree, results[0])
        return results

    H = Argument("H", (n, n), rows_of(tree), finite=False)
    return _function(f"{kind} of a dense matrix", tree, [H], [_packed(tree, "factor")], rule, explain, tree_columns)


class Operations:
    """The functions that factors of one kind on a tree share; each is made on first use."""

    solve: Callable[..., FloatArray]
    mul: Callable[..., FloatArray]
    mul_L: Callable[..., FloatArray]
    mul_Lt: Callable[..., FloatArray]
    solve_L: Callable[..., FloatArray]
    solve_Lt: Callable[..., FloatArray]
    inverse: Callable[..., FloatArray]

    def __init__(self, kind: Kind, tree: Tree) -> None:
        self.kind: Kind = kind
        self.tree = tree
        _everywhere.add(self)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in self.__annotations__:
            raise AttributeError(name)
        unit = self.kind in UNIT
        if name == "inverse":
            found = function_of(self.tree, (name, unit), _inverter).entry
        else:
            argument = "b" if name == "solve" else "x"
            function = function_of(self.tree, (getattr(factor, name), unit, argument), _applier)

            def on_columns(packed: FloatArray, x: ArrayLike, out: FloatArray | None, check: bool) -> FloatArray:
                return apply(function.entry, self.tree.n, packed, x, out, name, argument)

            found = function.variant(Variant(exact=True), on_columns)
        vars(self)[name] = found
        return found

    def forget(self) -> None:
        """Ask for all functions anew."""
        for name in self.__annotations__:
            vars(self).pop(name, None)


_everywhere: WeakSet[Operations] = WeakSet()


def _forget() -> None:
    for operations in list(_everywhere):
        operations.forget()


when_backend_changes(_forget)


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
    """Packed rows; what is not finite in them shows in the pivots. Those of a factor are read-only."""
    return Argument(name, (tree.packed_size,), finite=False, frozen=name == "factor")


def _function(
    name: str,
    tree: Tree,
    inputs: Sequence[Argument],
    outputs: Sequence[Argument],
    rule: Callable[..., Any],
    explain: Any = None,
    hint: Callable[[Tree, Sequence[str]], Limbs] = tree_limbs,
) -> Function:
    return Function(
        name, inputs, outputs, rule, size=tree.n, digest=lambda: repr(tree.parents), explain=explain,
        limbs=lambda names: hint(tree, names),
    )  # fmt: skip


def _sum(numbers: list[Scalar]) -> Scalar:
    """The sum of some numbers, none of which waits for many others."""
    while len(numbers) > 1:
        numbers = [sum(numbers[k : k + 2]) for k in range(0, len(numbers), 2)]
    return sum(numbers)


def _require_definite(kind: Kind, values: FloatArray, tree: Tree, packed: FloatArray) -> None:
    """Raise for the pivot that went wrong first, in the first matrix that has one."""
    pivots = diagonal(packed, tree)
    if kind not in UNIT:
        pivots = np.square(pivots)
    limits = pivot_limits(values, tree)
    sound = (pivots > 0) & (pivots > limits) & np.isfinite(pivots)  # a NaN fails them all
    if sound.all():
        return
    *batch, _ = np.unravel_index(int(np.argmin(sound)), sound.shape)
    where = tuple(int(k) for k in batch)
    row = int(np.flatnonzero(~sound[where])[-1])  # elimination goes from the last row to the first
    pivot = pivots_of(values[where], tree)[row]  # LTL would show the root of a negative number
    place = f"matrix {where}: " if where else ""
    raise SingularError(
        f"{place}row {row + 1}: the pivot is {pivot}, expected more than {max(limits[where][row], 0)}: "
        "the matrix is not positive definite"
    )


def pivots_of(values: FloatArray, tree: Tree) -> FloatArray:
    """The pivots of packed matrices, without checking them."""
    pivots: FloatArray = entry(tree, "pivots", _pivot_finder)(values, None, False)
    return pivots


def pivot_limits(values: FloatArray, tree: Tree) -> FloatArray:
    """What a pivot must exceed: a few units of rounding of the diagonal it is left of."""
    return np.asarray(min(tree.n, 8) * np.finfo(values.dtype).eps * diagonal(values, tree))


def triangle(kind: Kind, tree: Tree) -> tuple[Any, ...]:
    """Where the entries that are read lie in a dense matrix."""
    rows, columns = places(tree)
    return (..., columns, rows) if kind in UPPER else (..., rows, columns)


def diagonal(packed: FloatArray, tree: Tree) -> FloatArray:
    """The diagonal entries (*batch, n) of packed rows."""
    return np.take(packed, diagonal_places(tree), axis=-1)
