"""Dynamics on arrays: inverse and forward dynamics, the mass matrix and its relatives."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from bough.kernel.arguments import FloatArray
from bough.kernel.choice import ALGORITHMS, cheaper_method
from bough.kernel.compile import LONGEST, ROLL_ABOVE
from bough.kernel.factor_functions import Into
from bough.kernel.factors import Factor, into_factor
from bough.kernel.function import Function
from bough.kernel.functions import call, model_function, require_model
from bough.kernel.table import entry
from bough.kernel.treematrix import TreeMatrix
from bough.model import Model

__all__ = [
    "aba",
    "bias_forces",
    "coriolis_forces",
    "coriolis_matrix",
    "crba",
    "crba_packed",
    "factorize",
    "gravity_forces",
    "mass_matrix_by_rnea",
    "mass_matrix_inverse",
    "passive_forces",
    "rnea",
    "tree_algorithm",
]


def rnea(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    out: FloatArray | None = None,
    check: bool = True,
) -> FloatArray:
    """Inverse dynamics: the joint forces that produce given accelerations (recursive Newton-Euler algorithm).

    All arrays may have any leading batch axes, which broadcast.

    Parameters
    ----------
    model
        The mechanism.
    q
        Configuration (..., nq).
    v, a
        Velocity and acceleration (..., nv).
    f_ext
        External forces (..., N, 6): row i-1 acts on body i, in its frame, linear part first (N, N m).
    out
        Array to write the result to.
    check
        Whether to refuse NaN and infinity. Shapes are always checked.

    Returns
    -------
    ndarray
        Joint forces tau (..., nv): N for translations, N m for rotations.
    """
    tau: FloatArray = call(model, "rnea")(q, v, a, f_ext, out, check)
    return tau


def bias_forces(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    out: FloatArray | None = None,
    check: bool = True,
) -> FloatArray:
    """The forces at zero acceleration, C in H q̈ + C = τ: Coriolis, centrifugal, gravity, external (..., nv)."""
    result: FloatArray = call(model, "bias_forces")(q, v, f_ext, out, check)
    return result


def gravity_forces(model: Model, q: ArrayLike, *, out: FloatArray | None = None, check: bool = True) -> FloatArray:
    """The joint forces that hold the mechanism still against gravity (..., nv)."""
    result: FloatArray = call(model, "gravity_forces")(q, out, check)
    return result


def coriolis_forces(
    model: Model, q: ArrayLike, v: ArrayLike, *, out: FloatArray | None = None, check: bool = True
) -> FloatArray:
    """The Coriolis and centrifugal forces, C(q, v) v (..., nv)."""
    result: FloatArray = call(model, "coriolis_forces")(q, v, out, check)
    return result


def passive_forces(
    model: Model, q: ArrayLike, v: ArrayLike, *, out: FloatArray | None = None, check: bool = True
) -> FloatArray:
    """The forces of springs and dampers of all joints (..., nv): -damping v - stiffness (q - rest).

    Those of joints that close loops are among them, as joint forces of the tree. No dynamics function takes notice of
    springs and dampers by itself: add these forces to tau. Where q of a joint is not a vector, q - rest is its
    `stretch`. Dry friction is not among them.
    """
    result: FloatArray = call(model, "passive_forces")(q, v, out, check)
    return result


def coriolis_matrix(
    model: Model, q: ArrayLike, v: ArrayLike, *, out: FloatArray | None = None, check: bool = True
) -> FloatArray:
    """The Coriolis matrix C(q, v) (..., nv, nv), for which Ṁ - 2C is skew-symmetric."""
    result: FloatArray = call(model, "coriolis_matrix")(q, v, out, check)
    return result


def crba(model: Model, q: ArrayLike, *, out: FloatArray | None = None, check: bool = True) -> FloatArray:
    """The mass matrix (joint-space inertia matrix) by the composite-rigid-body algorithm.

    Parameters
    ----------
    model
        The mechanism.
    q
        Configuration (..., nq).
    out, check
        As in `rnea`.

    Returns
    -------
    ndarray
        M (..., nv, nv), full and symmetric.
    """
    M: FloatArray = call(model, "crba")(q, out, check)
    return M


def crba_packed(model: Model, q: ArrayLike, *, out: FloatArray | None = None, check: bool = True) -> TreeMatrix:
    """The mass matrix as packed path rows: the entries that are not branch-induced zeros, once, (..., n + D₁).

    With `out`, the rows are written there and the matrix returned shares them: it changes when they do.
    """
    rows: FloatArray = call(model, "crba_packed")(q, out, check)
    return TreeMatrix.of_fresh(rows if out is None else rows.view(), model.dof_tree)


def mass_matrix_by_rnea(model: Model, q: ArrayLike, *, out: FloatArray | None = None, check: bool = True) -> FloatArray:
    """The mass matrix (..., nv, nv) column by column from inverse dynamics: slower than `crba`, independent of it."""
    result: FloatArray = call(model, "mass_matrix_by_rnea")(q, out, check)
    return result


def mass_matrix_inverse(model: Model, q: ArrayLike, *, out: FloatArray | None = None, check: bool = True) -> FloatArray:
    """The inverse of the mass matrix (..., nv, nv), from its branch-sparse factor."""
    function = entry(model, "inverse of the mass matrix", _mass_matrix_inverse)
    result: FloatArray = function(q, out, check)
    return result


class _Inverse:
    """The inverse of the mass matrix by two programs, where one would be too long to be unrolled."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def entry(self, q: ArrayLike, out: FloatArray | None, check: bool) -> FloatArray:
        """As that of a function."""
        return factorize(self._model, q, check=check).inverse(out=out, check=check)


def _mass_matrix_inverse(model: Model, key: str) -> Any:
    require_model(model)
    long = model.nv * model.dof_tree.D1 > LONGEST // 2
    return _Inverse(model) if long and model.nv <= ROLL_ABOVE else model_function(model, "mass_matrix_inverse")


def factorize(model: Model, q: ArrayLike, *, check: bool = True) -> Factor:
    """The mass matrix factorised as LᵀDL, with all products and solves (see `bough.trees.ltdl`).

    Solve with one factor as often as you like: `forward_dynamics` makes one per call.
    """
    made: Factor = entry(model, "factor of the mass matrix", _factorizer)(q, None, check)
    return made


def _factorizer(model: Model, key: str) -> Into:
    return into_factor(model_function(model, "factorize"), "ltdl", model.dof_tree)


def aba(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    out: FloatArray | None = None,
    check: bool = True,
) -> FloatArray:
    """Forward dynamics: the accelerations under given joint forces (articulated-body algorithm).

    A mechanism with mimic joints is solved through the factor of its mass matrix instead (`crba` and LᵀDL on the
    elimination tree): coupled joints on different branches have no articulated-body recursion of one body at a time.
    Loops of the model are not heeded: it is the bare algorithm on the tree. `forward_dynamics` heeds them.

    Parameters
    ----------
    model
        The mechanism.
    q
        Configuration (..., nq).
    v, tau
        Velocity and joint forces (..., nv).
    f_ext
        External forces (..., N, 6), as in `rnea`.
    out, check
        As in `rnea`.

    Returns
    -------
    ndarray
        Accelerations (..., nv).

    Raises
    ------
    SingularError
        If a joint moves nothing that has inertia; the message names it.
    """
    qdd: FloatArray = entry(model, "aba or its substitute", _aba)(q, v, tau, f_ext, out, check)
    return qdd


def _aba(model: Model, key: str) -> Function:
    """ABA, or where there are mimic joints the factor of the mass matrix."""
    require_model(model)
    return model_function(model, "aba" if model.coupling.trivial else "crba_ltdl")


def tree_algorithm(model: Model, method: str = "auto") -> str:
    """The algorithm behind a method of forward dynamics on the tree."""
    chosen = cheaper_method(model) if method == "auto" else method
    return ALGORITHMS[chosen] if chosen in ALGORITHMS and model.coupling.trivial else "crba_ltdl"
