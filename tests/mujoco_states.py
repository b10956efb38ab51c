"""States and results of MuJoCo in terms of bough's.

MuJoCo's velocity of a free joint is along the world's axes, v' = T v, so that its accelerations are
a' = T (a + [ω × v, 0]), its mass matrix is T⁻ᵀ M T⁻¹ and its bias T⁻ᵀ rnea(q, v, a) with a' = 0.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

import bough
from closeness import relative_error

__all__ = ["disagreement", "to_theirs", "turning", "unforced"]


def to_theirs(model: bough.Model, q: np.ndarray) -> np.ndarray:
    """The matrix T with v' = T v at one configuration."""
    units = np.eye(model.nv)
    return bough.convert.states_to_mujoco(model, np.tile(q, (model.nv, 1)), units)[1].T


def turning(model: bough.Model, v: np.ndarray) -> np.ndarray:
    """[ω × v, 0] for the free joint, if there is one: what accelerations in the body's axes lack."""
    result = np.zeros(model.nv)
    for name, entry in zip(model.joint_names, model.joints, strict=True):
        if isinstance(entry.joint, bough.joints.Free):
            part = model.v_slice(name)
            twist = v[part]
            result[part][:3] = np.cross(twist[3:], twist[:3])
    return result


def unforced(m: Any) -> Any:
    """A compiled model without constraints and without the forces that MuJoCo adds to those of the tree."""
    bits = mujoco.mjtDisableBit
    for bit in (bits.mjDSBL_CONSTRAINT, bits.mjDSBL_SPRING, bits.mjDSBL_DAMPER, bits.mjDSBL_ACTUATION):
        m.opt.disableflags |= int(bit)
    m.opt.density = m.opt.viscosity = 0.0
    m.body_gravcomp[:] = 0.0
    return m


def disagreement(model: bough.Model, m: Any, rng: np.random.Generator, states: int = 2) -> dict[str, float]:
    """The largest relative errors of mass matrix, bias, inverse and forward dynamics against an unforced model."""
    d = mujoco.MjData(m)
    worst = dict.fromkeys(("M", "bias", "rnea", "aba", "crba"), 0.0)
    assert (m.nq, m.nv) == (model.nq, model.nv)
    for _ in range(states if model.nv else 0):
        q, v, tau = bough.random(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
        T, extra = to_theirs(model, q), turning(model, v)
        d.qpos[:], d.qvel[:] = bough.convert.states_to_mujoco(model, q, v)
        d.qfrc_applied[:] = np.linalg.solve(T.T, tau)
        mujoco.mj_forward(m, d)
        M = np.zeros((m.nv, m.nv))
        mujoco.mj_fullM(m, d, M)
        qacc = np.linalg.solve(T, d.qacc) - extra
        forces = T.T @ (M @ d.qacc + d.qfrc_bias)
        scale = max(float(np.abs(T.T @ d.qfrc_bias).max()), float(np.abs(tau).max()))
        found = {
            "M": relative_error(bough.crba(model, q), T.T @ M @ T, axes=2),
            "bias": relative_error(bough.rnea(model, q, v, -extra), T.T @ d.qfrc_bias, scale=scale),
            "rnea": relative_error(bough.rnea(model, q, v, qacc), forces, scale=scale),
            "aba": relative_error(bough.aba(model, q, v, tau), qacc),
            "crba": relative_error(bough.forward_dynamics(model, q, v, tau, method="crba", loops=False), qacc),
        }
        worst = {name: max(worst[name], error) for name, error in found.items()}
    return worst
