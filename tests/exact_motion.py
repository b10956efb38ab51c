"""The motion of a tree of hinges and slides in two hundred bits, from the model's numbers as they stand.

Everything is in the axes and about the origin of the base; the mass matrix is a sum over bodies of Jᵀ I J. No
algorithm of the package has a part in it.
"""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np

import bough

__all__ = ["exact_motion", "rounding"]

ARITHMETIC = mpmath.MPContext()
ARITHMETIC.prec = 200
Exact = np.ndarray[Any, np.dtype[Any]]


def exact_motion(model: bough.Model, q: Any, v: Any, tau: Any) -> tuple[Exact, Exact]:
    """Accelerations and mass matrix, as arrays of long numbers."""
    q, v, tau = _long(q), _long(v), _long(tau)
    nv = model.nv
    H, C = _long(np.zeros((nv, nv))), _long(np.zeros(nv))
    none = _long(np.zeros(3))
    base = (_long(np.eye(3)), none, _long(np.zeros((6, nv))), _long(np.zeros(6)))
    seen = [(*base, np.concatenate([none, -_long(model.gravity)]))]
    for k, (entry, body, parent) in enumerate(zip(model.joints, model.bodies, model.tree.parents, strict=True)):
        R, p, J, velocity, acceleration = seen[parent]
        p = R @ _long(entry.placement.origin) + p
        R = R @ _long(entry.placement.rotation)
        along = _long(entry.joint.axis)
        along /= ARITHMETIC.sqrt(along @ along)
        axis = R @ along
        if isinstance(entry.joint, bough.joints.Prismatic):
            column, p = np.concatenate([none, axis]), p + axis * q[k]
        else:
            assert isinstance(entry.joint, bough.joints.Revolute)
            K = _cross(along)
            R = R @ (_long(np.eye(3)) + K * ARITHMETIC.sin(q[k]) + K @ K * (1 - ARITHMETIC.cos(q[k])))
            column = np.concatenate([axis, _cross(p) @ axis])
        J = J.copy()
        J[:, k] = column
        velocity = velocity + column * v[k]
        acceleration = acceleration + _cross_motion(velocity) @ column * v[k]
        R, p = R @ _long(body.frame.rotation), R @ _long(body.frame.origin) + p
        I = _inertia(body.inertia, R, p)
        H += J.T @ I @ J
        H[k, k] += ARITHMETIC.mpf(entry.armature[0])
        C += J.T @ (I @ acceleration - _cross_motion(velocity).T @ (I @ velocity))
        seen.append((R, p, J, velocity, acceleration))
    solution = ARITHMETIC.lu_solve(ARITHMETIC.matrix(H.tolist()), ARITHMETIC.matrix((tau - C).tolist()))
    return np.array(list(solution), dtype=object), H


def rounding(H: Exact, a: Exact) -> float:
    """How far the solution of H a = b may move when each entry of H and b is rounded once: Skeel's condition."""
    A, x = np.abs(H.astype(float)), np.abs(a.astype(float))
    return float(2.0**-53 * np.max(np.abs(np.linalg.inv(H.astype(float))) @ A @ x))


def _long(x: Any) -> Exact:
    return np.vectorize(lambda number: ARITHMETIC.mpf(float(number)), otypes=[object])(x)


def _cross(p: Exact) -> Exact:
    x, y, z = p
    none = ARITHMETIC.mpf(0)
    return np.array([[none, -z, y], [z, none, -x], [-y, x, none]], dtype=object)


def _cross_motion(m: Exact) -> Exact:
    w, zero = _cross(m[:3]), _long(np.zeros((3, 3)))
    return np.block([[w, zero], [_cross(m[3:]), w]])


def _inertia(inertia: bough.Inertia, R: Exact, p: Exact) -> Exact:
    c, m = _cross(R @ _long(inertia.com) + p), ARITHMETIC.mpf(inertia.mass)
    return np.block([[R @ _long(inertia.matrix) @ R.T - c @ c * m, c * m], [-c * m, _long(np.eye(3)) * m]])
