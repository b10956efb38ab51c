"""Dynamics on arrays: inverse and forward dynamics, the mass matrix and its relatives."""

from __future__ import annotations

from typing import Literal

from numpy.typing import ArrayLike

from bough.errors import UnknownNameError
from bough.kernel.border import FloatArray
from bough.kernel.choice import cheaper_method
from bough.kernel.factors import Factor, factor_packed
from bough.kernel.run import NO_CALLS, require_model, run
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
    "forward_dynamics",
    "gravity_forces",
    "mass_matrix_by_rnea",
    "mass_matrix_inverse",
    "passive_forces",
    "rnea",
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
    fast = getattr(model, "calls", NO_CALLS).get("rnea")
    if fast is not None and f_ext is None and out is None and check:
        tau: FloatArray | None = fast(q, v, a)
        if tau is not None:
            return tau
    arrays = {"q": q, "v": v, "a": a, "f_ext": f_ext}
    return run(model, "rnea", arrays, out=out, check=check, call_as=None if f_ext is not None else "rnea")["tau"]


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
    return run(model, "bias_forces", {"q": q, "v": v, "f_ext": f_ext}, out=out, check=check)["tau"]


def gravity_forces(model: Model, q: ArrayLike, *, out: FloatArray | None = None, check: bool = True) -> FloatArray:
    """The joint forces that hold the mechanism still against gravity (..., nv)."""
    return run(model, "gravity_forces", {"q": q}, out=out, check=check)["tau"]


def coriolis_forces(
    model: Model, q: ArrayLike, v: ArrayLike, *, out: FloatArray | None = None, check: bool = True
) -> FloatArray:
    """The Coriolis and centrifugal forces, C(q, v) v (..., nv)."""
    return run(model, "coriolis_forces", {"q": q, "v": v}, out=out, check=check)["tau"]


def passive_forces(
    model: Model, q: ArrayLike, v: ArrayLike, *, out: FloatArray | None = None, check: bool = True
) -> FloatArray:
    """The forces of springs and dampers of all joints (..., nv): -damping v - stiffness (q - rest).

    Those of joints that close loops are among them, as joint forces of the tree. No dynamics function takes notice of
    springs and dampers by itself: add these forces to tau. Where q of a joint is not a vector, q - rest is its
    `stretch`. Dry friction is not among them.
    """
    return run(model, "passive_forces", {"q": q, "v": v}, out=out, check=check)["tau"]


def coriolis_matrix(
    model: Model, q: ArrayLike, v: ArrayLike, *, out: FloatArray | None = None, check: bool = True
) -> FloatArray:
    """The Coriolis matrix C(q, v) (..., nv, nv), for which Ṁ - 2C is skew-symmetric."""
    return run(model, "coriolis_matrix", {"q": q, "v": v}, out=out, check=check)["C"]


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
    fast = getattr(model, "calls", NO_CALLS).get("crba")
    if fast is not None and out is None and check:
        M: FloatArray | None = fast(q)
        if M is not None:
            return M
    return run(model, "mass_matrix", {"q": q}, out=out, check=check, call_as="crba")["M"]


def crba_packed(model: Model, q: ArrayLike, *, out: FloatArray | None = None, check: bool = True) -> TreeMatrix:
    """The mass matrix as packed path rows: the entries that are not branch-induced zeros, once, (..., n + D₁).

    With `out`, the rows are written there and the matrix returned shares them: it changes when they do.
    """
    rows = run(model, "crba", {"q": q}, out=out, check=check)["M"]
    return TreeMatrix.of_fresh(rows if out is None else rows.view(), model.dof_tree)


def mass_matrix_by_rnea(model: Model, q: ArrayLike, *, out: FloatArray | None = None, check: bool = True) -> FloatArray:
    """The mass matrix (..., nv, nv) column by column from inverse dynamics: slower than `crba`, independent of it."""
    return run(model, "mass_matrix_by_rnea", {"q": q}, out=out, check=check)["M"]


def mass_matrix_inverse(model: Model, q: ArrayLike, *, out: FloatArray | None = None, check: bool = True) -> FloatArray:
    """The inverse of the mass matrix (..., nv, nv), from its branch-sparse factor."""
    return run(model, "mass_matrix_inverse", {"q": q}, out=out, check=check)["Minv"]


def factorize(model: Model, q: ArrayLike, *, check: bool = True) -> Factor:
    """The mass matrix factorised as LᵀDL, with all products and solves (see `bough.ltdl`).

    Solve with one factor as often as you like: `forward_dynamics` makes one per call.
    """
    M = crba_packed(model, q, check=check)
    return factor_packed("ltdl", M.values, M.tree, [f"joint {name!r}" for name in model.dof_names])


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
    Loops of the model are not heeded: see `constrained_dynamics`.

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
    fast = getattr(model, "calls", NO_CALLS).get("aba")
    if fast is not None and f_ext is None and out is None and check:
        qdd: FloatArray | None = fast(q, v, tau)
        if qdd is not None:
            return qdd
    require_model(model)
    name = "aba" if model.coupling.trivial else "crba_ltdl"
    arrays = {"q": q, "v": v, "tau": tau, "f_ext": f_ext}
    return run(model, name, arrays, out=out, check=check, call_as=None if f_ext is not None else "aba")["qdd"]


def forward_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    method: Literal["auto", "aba", "crba"] = "auto",
    *,
    out: FloatArray | None = None,
    check: bool = True,
) -> FloatArray:
    """Forward dynamics: the accelerations under given joint forces, (..., nv).

    Of the tree alone: `constrained_dynamics` heeds loops.

    Parameters
    ----------
    model, q, v, tau, f_ext, out, check
        As in `aba`.
    method
        "aba" for the articulated-body algorithm, "crba" for the mass matrix and its branch-sparse factor, "auto" for
        whichever is estimated faster on this mechanism from its operation counts; `bough.explain` says which and why.
    """
    fast = getattr(model, "calls", NO_CALLS).get(_FORWARD.get(method) if isinstance(method, str) else None)
    if fast is not None and f_ext is None and out is None and check:
        qdd: FloatArray | None = fast(q, v, tau)
        if qdd is not None:
            return qdd
    if not isinstance(method, str) or method not in ("auto", "aba", "crba"):
        raise UnknownNameError("method of forward dynamics", method, ("auto", "aba", "crba"))
    require_model(model)
    chosen = cheaper_method(model) if method == "auto" else method
    name = "aba" if chosen == "aba" and model.coupling.trivial else "crba_ltdl"
    arrays = {"q": q, "v": v, "tau": tau, "f_ext": f_ext}
    call_as = None if f_ext is not None else _FORWARD[method]
    return run(model, name, arrays, out=out, check=check, call_as=call_as)["qdd"]


_FORWARD = {method: f"forward_dynamics by {method}" for method in ("auto", "aba", "crba")}
