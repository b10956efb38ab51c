"""Random mechanisms with loops against a dense solution that shares only forward kinematics with the one tested.

Mass matrix, bias and constraints are made from Jacobians, velocities and accelerations of bodies and frames; what a
loop joint holds is whatever is orthogonal to its motions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bough
from closeness import assert_close
from joint_contract import Numeric
from mechanisms import random_loops
from model_strategies import JOINTS, random_state
from spatial_linear_first import carried, cross, inertia

METHODS: tuple[Any, ...] = ("multipliers", "null_space", "kkt")


@dataclass
class Bodies:
    """Where bodies are and how they move, the base first: placements, Jacobians, velocities, accelerations at v̇ = 0."""

    X: Any
    J: Any
    v: Any
    a: Any

    @staticmethod
    def of(model: bough.Model, q: Any, v: Any) -> Bodies:
        columns = bough.velocities(model, q, np.eye(model.nv))  # a unit velocity for each column
        base = np.zeros((1, 6))
        return Bodies(
            np.concatenate([np.eye(4)[None], bough.placements(model, q, model.body_names)]),
            np.concatenate([np.zeros((1, 6, model.nv)), np.moveaxis(columns, 0, -1)]),
            np.concatenate([base, bough.velocities(model, q, v)]),
            np.concatenate([base, bough.accelerations(model, q, v, np.zeros(model.nv))]),
        )


def tree_terms(model: bough.Model, bodies: Bodies, f_ext: Any) -> tuple[Any, Any]:
    """M and the bias forces, from the bodies one by one."""
    M, bias = np.diag(model.limits("armature")), np.zeros(model.nv)
    for k, body in enumerate(model.bodies, start=1):
        J, I, v = bodies.J[k], inertia(body), bodies.v[k]
        weight = body.inertia.mass * (bodies.X[k, :3, :3].T @ np.array(model.gravity))
        weight = np.concatenate([weight, np.cross(body.inertia.com, weight)])
        M = M + J.T @ I @ J
        bias = bias + J.T @ (I @ bodies.a[k] - cross(v).T @ I @ v - weight - f_ext[k - 1])
    return M, bias


def loop_terms(bodies: Bodies, loop: bough.loops.Loop, x: Any) -> tuple[Any, Any]:
    """Rows of L and what L v̇ must be, in a frame on the successor where the joint's moving side is."""
    sides = []
    for side in (loop.predecessor, loop.successor):
        X, k = np.eye(4), side.body
        X[:3, :3], X[:3, 3] = side.placement.matrix, side.placement.vector
        A = carried(np.linalg.inv(X))
        sides.append([bodies.X[k] @ X, *(A @ part for part in (bodies.J[k], bodies.v[k], bodies.a[k]))])
    (Xp, Jp, vp, ap), (Xs, Js, vs, as_) = sides
    A, joint = carried(np.linalg.inv(Xs) @ Xp), Numeric(loop.joint)
    S = joint.subspace(x)
    U, sigma, _ = np.linalg.svd(S, full_matrices=True)
    T = U[:, np.count_nonzero(sigma > 1e-12) :]
    V = vs - A @ vp
    x_dot = np.linalg.lstsq(S, V, rcond=None)[0] if S.size else np.zeros(0)
    V_dot = as_ - A @ ap + cross(vs) @ A @ vp - joint.subspace_rate(x, x_dot) @ x_dot
    return T.T @ (Js - A @ Jp), -T.T @ V_dot


def dense(model: bough.Model, q: Any, v: Any, tau: Any, f_ext: Any) -> Any:
    """Accelerations from the whole system, by least squares in units of what moves."""
    bodies = Bodies.of(model, q, v)
    M, bias = tree_terms(model, bodies, f_ext)
    x, start, rows = bough.loops.coordinates(model, q), 0, []
    for loop in model.loops:
        rows.append(loop_terms(bodies, loop, x[start : start + loop.joint.nq]))
        start += loop.joint.nq
    L, aims = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    L = np.where(np.abs(L) < 1e-13, 0.0, L)  # a body may be tied to itself
    R = np.linalg.cholesky(M)
    free = np.linalg.solve(M, tau - bias)
    G = np.linalg.solve(R, L.T).T  # the nearest to the free motion that the loops allow
    return free + np.linalg.solve(R.T, np.linalg.pinv(G, rcond=1e-9) @ (aims - L @ free))


def compare(rng: np.random.Generator, kinds: list[str], count: int) -> None:
    """A random mechanism with loops of given types, by all methods."""
    model, q = random_loops(rng, kinds, count)
    v = bough.loops.consistent_velocity(model, q, rng.normal(size=model.nv))
    _, _, _, tau, f_ext = random_state(model, rng)
    want = dense(model, q, v, tau, f_ext)
    L = bough.loops.jacobian(model, q)
    sigma = np.linalg.svd(L, compute_uv=False) if L.size else np.ones(1)
    if np.any((sigma > 1e-9 * sigma[0]) & (sigma < 1e-3 * sigma[0])):
        return  # nearly singular by chance: the answer itself has no nine digits
    for method in METHODS:
        got = bough.forward_dynamics(model, q, v, tau, f_ext, method, time_constant=np.inf)
        assert_close(got, want, 1e-9, scale=np.abs(bough.aba(model, q, v, tau, f_ext)).max())


@settings(max_examples=5, deadline=None)
@given(
    kinds=st.lists(st.sampled_from(sorted(JOINTS)), min_size=1, max_size=2),
    bodies=st.integers(2, 5),
    seed=st.integers(0, 2**32 - 1),
)
def test_all_methods_agree_with_a_dense_solution(kinds: list[str], bodies: int, seed: int) -> None:
    compare(np.random.default_rng(seed), kinds, bodies)


@pytest.mark.parametrize("kind", sorted(JOINTS))
def test_every_type_closes_a_loop(kind: str) -> None:
    rng = np.random.default_rng([1, *kind.encode()])
    compare(rng, [kind, str(rng.choice(sorted(JOINTS)))], 5)
