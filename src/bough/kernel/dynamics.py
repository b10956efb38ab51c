"""Dynamics on arrays: inverse and forward dynamics, the mass matrix and its relatives."""

from __future__ import annotations

from numpy.typing import ArrayLike

from bough.kernel.arguments import FloatArray
from bough.kernel.choice import ALGORITHMS, cheaper_method
from bough.kernel.compile import LONGEST, ROLL_ABOVE
from bough.kernel.factors import Factor, into_factor
from bough.kernel.function import Function
from bough.kernel.functions import algorithm, model_function, require_model
from bough.kernel.table import Enterable, Entered, entry
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
    """Return the joint forces that produce given accelerations (inverse dynamics, recursive Newton-Euler algorithm).

    Arrays may have any leading batch axes; these broadcast.

    Parameters
    ----------
    model
        The mechanism.
    q
        Configuration (..., nq).
    v, a
        Velocity and acceleration (..., nv).
    f_ext
        External forces (..., N, 6): row i-1 acts on body i, in the frame of the body, linear part first (N, N m).
    out
        Array to write the result to.
    check
        Whether to refuse NaN and infinity. Shapes are always checked.

    Returns
    -------
    ndarray
        Joint forces tau (..., nv): N for translations, N m for rotations.

    Examples
    --------
    >>> import bough
    >>> model = bough.robots.load("pendulum")  # a rod of 1 kg and 1 m that hangs from a hinge
    >>> bough.rnea(model, [0.5], [0.0], [2.0]).round(3)  # q in rad, v in rad/s, a in rad/s²; N m
    array([3.018])
    >>> bough.rnea(model, [[0.1], [0.2], [0.3]], [0.0], [0.0]).shape  # three states at once
    (3, 1)
    """
    return entry(model, "rnea", algorithm)(q, v, a, f_ext, out, check)


def bias_forces(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    out: FloatArray | None = None,
    check: bool = True,
) -> FloatArray:
    """Return the joint forces C (..., nv) of M v̇ + C = τ: Coriolis, centrifugal, gravity and external forces.

    q is (..., nq), v (..., nv), f_ext (..., N, 6) as in `rnea`; the result is in N m and N.

    Examples
    --------
    >>> import bough, numpy as np
    >>> model = bough.robots.load("arm")
    >>> q, v = bough.random(model, 0), np.ones(6)  # rad and rad/s
    >>> C = bough.bias_forces(model, q, v)
    >>> C.shape, np.allclose(C, bough.rnea(model, q, v, 0 * v))
    ((6,), True)
    """
    return entry(model, "bias_forces", algorithm)(q, v, f_ext, out, check)


def gravity_forces(model: Model, q: ArrayLike, *, out: FloatArray | None = None, check: bool = True) -> FloatArray:
    """Return the joint forces (..., nv) that hold the mechanism still against gravity.

    q is (..., nq); the result is in N m and N.

    Examples
    --------
    >>> import bough, numpy as np
    >>> model = bough.robots.load("pendulum")  # a rod of 1 kg and 1 m that hangs from a hinge
    >>> bough.gravity_forces(model, [np.pi / 2]).round(3)  # level: 1 kg at 0.5 m, in N m
    array([4.905])
    """
    return entry(model, "gravity_forces", algorithm)(q, out, check)


def coriolis_forces(
    model: Model, q: ArrayLike, v: ArrayLike, *, out: FloatArray | None = None, check: bool = True
) -> FloatArray:
    """Return the Coriolis and centrifugal forces C(q, v) v (..., nv).

    q is (..., nq), v (..., nv); the result is in N m and N.

    Examples
    --------
    >>> import bough, numpy as np
    >>> model = bough.robots.load("arm")
    >>> q, v = bough.random(model, 0), np.ones(6)  # rad and rad/s
    >>> c = bough.coriolis_forces(model, q, v)
    >>> c.shape, np.allclose(c, bough.bias_forces(model, q, v) - bough.gravity_forces(model, q))
    ((6,), True)
    """
    return entry(model, "coriolis_forces", algorithm)(q, v, out, check)


def passive_forces(
    model: Model, q: ArrayLike, v: ArrayLike, *, out: FloatArray | None = None, check: bool = True
) -> FloatArray:
    """Return the forces (..., nv) of springs and dampers of all joints: -damping v - stiffness (q - rest).

    The result includes springs and dampers of joints that close loops, as joint forces of the tree. It does not include
    dry friction. Functions such as `aba` and `rnea` ignore springs and dampers: add these forces to tau. For joints
    whose q is not a vector, q - rest is the joint's `stretch`.

    Examples
    --------
    >>> import bough
    >>> b = bough.Builder("swing door")
    >>> _ = b.add("leaf", bough.joints.Revolute("z"), mass=20.0, inertia=5.0, stiffness=10.0, damping=3.0)
    >>> bough.passive_forces(b.build(), [0.5], [2.0])  # 10 N m/rad · 0.5 rad and 3 N m s/rad · 2 rad/s, both against it
    array([-11.])
    """
    return entry(model, "passive_forces", algorithm)(q, v, out, check)


def coriolis_matrix(
    model: Model, q: ArrayLike, v: ArrayLike, *, out: FloatArray | None = None, check: bool = True
) -> FloatArray:
    """Return the Coriolis matrix C(q, v) (..., nv, nv), for which Ṁ - 2C is skew-symmetric.

    q is (..., nq), v (..., nv).

    Examples
    --------
    >>> import bough, numpy as np
    >>> model = bough.robots.load("arm")
    >>> q, v = bough.random(model, 0), np.ones(6)  # rad and rad/s
    >>> C = bough.coriolis_matrix(model, q, v)
    >>> C.shape, np.allclose(C @ v, bough.coriolis_forces(model, q, v))
    ((6, 6), True)
    """
    return entry(model, "coriolis_matrix", algorithm)(q, v, out, check)


def crba(model: Model, q: ArrayLike, *, out: FloatArray | None = None, check: bool = True) -> FloatArray:
    """Return the mass matrix (joint-space inertia matrix), by the composite-rigid-body algorithm.

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

    Examples
    --------
    >>> import bough
    >>> model = bough.robots.load("pendulum")  # a rod of 1 kg and 1 m that hangs from a hinge
    >>> bough.crba(model, [0.0]).round(4)  # kg m²: the moment of inertia about the hinge
    array([[0.3334]])
    >>> bough.crba(bough.robots.load("arm"), [[0.0] * 6] * 10).shape  # ten states at once
    (10, 6, 6)
    """
    return entry(model, "crba", algorithm)(q, out, check)


def crba_packed(model: Model, q: ArrayLike, *, out: FloatArray | None = None, check: bool = True) -> TreeMatrix:
    """Return the mass matrix as packed path rows (..., n + D₁): each entry once, without branch-induced zeros.

    With `out`, the rows are written there. The returned matrix then shares this memory. q is (..., nq).

    Examples
    --------
    >>> import bough, numpy as np
    >>> model = bough.trees.topologies.humanoid()
    >>> packed = bough.trees.crba_packed(model, bough.neutral(model))
    >>> packed.values.shape, model.nv**2  # numbers that are stored, and those of the full matrix
    ((249,), 900)
    >>> np.allclose(packed.dense(), bough.crba(model, bough.neutral(model)))
    True
    """
    rows = entry(model, "crba_packed", algorithm)(q, out, check)
    return TreeMatrix.of_fresh(rows if out is None else rows.view(), model.dof_tree)


def mass_matrix_by_rnea(model: Model, q: ArrayLike, *, out: FloatArray | None = None, check: bool = True) -> FloatArray:
    """Return the mass matrix (..., nv, nv), column by column from inverse dynamics; slower than `crba`, for checks.

    q is (..., nq); the result is in kg m², kg m and kg.

    Examples
    --------
    >>> import bough, numpy as np
    >>> model = bough.robots.load("arm")
    >>> q, v = bough.random(model, 0), np.ones(6)  # rad and rad/s
    >>> np.allclose(bough.papers.mass_matrix_by_rnea(model, q), bough.crba(model, q))
    True
    """
    return entry(model, "mass_matrix_by_rnea", algorithm)(q, out, check)


def mass_matrix_inverse(model: Model, q: ArrayLike, *, out: FloatArray | None = None, check: bool = True) -> FloatArray:
    """Return the inverse of the mass matrix (..., nv, nv), from its branch-sparse factor.

    q is (..., nq).

    Examples
    --------
    >>> import bough, numpy as np
    >>> model = bough.robots.load("arm")
    >>> q, v = bough.random(model, 0), np.ones(6)  # rad and rad/s
    >>> M_inverse = bough.mass_matrix_inverse(model, q)
    >>> np.allclose(M_inverse @ bough.crba(model, q), np.eye(6))
    True
    """
    return entry(model, "inverse of the mass matrix", _mass_matrix_inverse)(q, out, check)


def _mass_matrix_inverse(model: Model, key: str) -> Enterable:
    """By one program, or by two where one would be too long to be unrolled."""
    require_model(model)
    if model.nv <= ROLL_ABOVE and model.nv * model.dof_tree.D1 > LONGEST // 2:
        return Entered(lambda q, out, check: factorize(model, q, check=check).inverse(out=out, check=check))
    return model_function(model, "mass_matrix_inverse")


def factorize(model: Model, q: ArrayLike, *, check: bool = True) -> Factor:
    """Factorise the mass matrix as LᵀDL; the factor has products and solves (see `bough.trees.ltdl`).

    One factor solves any number of right-hand sides, whereas `forward_dynamics` factorises at every call. q is (...,
    nq).

    Examples
    --------
    >>> import bough, numpy as np
    >>> model = bough.robots.load("arm")
    >>> q, v = bough.random(model, 0), np.ones(6)  # rad and rad/s
    >>> factor = bough.factorize(model, q)
    >>> a = factor.solve(np.ones(6) - bough.bias_forces(model, q, v))  # rad/s² under 1 N m at each joint
    >>> np.allclose(a, bough.aba(model, q, v, np.ones(6)))
    True
    """
    return entry(model, "factor of the mass matrix", _factorizer)(q, None, check)  # type: ignore[return-value]


def _factorizer(model: Model, key: str) -> Entered:
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
    """Return the accelerations under given joint forces (forward dynamics, articulated-body algorithm).

    For mechanisms with mimic joints, `aba` factorises the mass matrix instead (`crba` and LᵀDL on the elimination
    tree), because the articulated-body recursion does not apply to coupled joints on different branches. `aba` ignores
    loops of the model; `forward_dynamics` does not.

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

    Examples
    --------
    >>> import bough
    >>> model = bough.robots.load("pendulum")  # a rod of 1 kg and 1 m that hangs from a hinge
    >>> bough.aba(model, [0.5], [0.0], [0.0]).round(3)  # q in rad, v in rad/s, tau in N m; rad/s²
    array([-7.053])
    """
    return entry(model, "aba or its substitute", _aba)(q, v, tau, f_ext, out, check)


def _aba(model: Model, key: str) -> Function:
    """ABA, or where there are mimic joints the factor of the mass matrix."""
    require_model(model)
    return model_function(model, "aba" if model.coupling.trivial else "crba_ltdl")


def tree_algorithm(model: Model, method: str = "auto") -> str:
    """The algorithm behind a method of forward dynamics on the tree."""
    chosen = cheaper_method(model) if method == "auto" else method
    return ALGORITHMS[chosen] if chosen in ALGORITHMS and model.coupling.trivial else "crba_ltdl"
