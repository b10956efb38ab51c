"""Laws of dynamics on random mechanisms: mixed joints, fixed and free bases, forests, mimic joints, external forces."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import bough
from batches import sizes, times, transposed
from closeness import assert_close
from differences import along, gradient, move
from model_strategies import models, random_inertia, random_state

LAW = 1e-9
EXACT = 1e-11
STATES = (3,)

seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=20)
@given(models(max_bodies=6), seeds)
def test_forward_and_inverse_dynamics_are_inverse(model: bough.Model, seed: int) -> None:
    q, v, a, tau, f = random_state(model, np.random.default_rng(seed), STATES)
    assert_close(bough.aba(model, q, v, bough.rnea(model, q, v, a, f), f), a, LAW)
    qdd = bough.aba(model, q, v, tau, f)
    bias = bough.rnea(model, q, v, 0 * a, f)
    assert_close(bough.rnea(model, q, v, qdd, f), tau, LAW, scale=sizes(bias, tau))
    for method in ("auto", "aba", "crba"):
        assert_close(bough.forward_dynamics(model, q, v, tau, f, method), qdd, LAW)
    assert_close(bough.aba(model, q, v, tau), bough.aba(model, q, v, tau, 0 * f), EXACT)


@settings(max_examples=18)
@given(models(max_bodies=6), seeds)
def test_mass_matrix(model: bough.Model, seed: int) -> None:
    """CRBA = columns of RNEA = Jacobian of RNEA: symmetric, positive, with zeros where the tree says so."""
    q, v, a, _, f = random_state(model, np.random.default_rng(seed), STATES)
    M = bough.crba(model, q)
    assert np.array_equal(M, transposed(M))
    np.linalg.cholesky(M)
    assert_close(bough.papers.mass_matrix_by_rnea(model, q), M, EXACT, axes=2)
    # RNEA is affine in a: its differences are exact, whatever the velocity, gravity and external forces
    start = bough.rnea(model, q, v, a, f)
    steps = bough.rnea(model, q[:, None], v[:, None], a[:, None] + np.eye(model.nv), f[:, None]) - start[:, None]
    assert_close(transposed(steps), M, LAW, axes=2, scale=sizes(start))
    # zeros of the tree are zeros also of what knows nothing of the tree
    assert not bough.papers.mass_matrix_by_rnea(model, q)[:, ~model.dof_tree.pattern()].any()


@settings(max_examples=20)
@given(models(max_bodies=6), seeds)
def test_inverse_and_factor_of_the_mass_matrix(model: bough.Model, seed: int) -> None:
    q, v, *_ = random_state(model, np.random.default_rng(seed), STATES)
    M = bough.crba(model, q)
    Minv = bough.mass_matrix_inverse(model, q)
    identity = np.broadcast_to(np.eye(model.nv), M.shape)
    size = sizes(M, axes=2) * sizes(Minv, axes=2)
    assert_close(M @ Minv, identity, EXACT, axes=2, scale=size)
    assert_close(Minv, np.linalg.inv(M), LAW, axes=2)
    factor = bough.factorize(model, q)
    L = factor.L
    assert_close(transposed(L) @ (factor.D[..., None] * L), M, EXACT, axes=2)
    assert not L[:, ~np.tril(model.dof_tree.pattern())].any()
    assert_close(times(M, factor.solve(v)), v, EXACT, scale=size)
    assert_close(factor.mul(v), times(M, v), EXACT, scale=sizes(M, axes=2))
    assert_close(factor.logdet()[:, None], np.linalg.slogdet(M)[1][:, None], LAW, scale=1.0)


@settings(max_examples=18)
@given(models(max_bodies=5), seeds)
def test_coriolis_matrix(model: bough.Model, seed: int) -> None:
    """Ṁ - 2C is skew-symmetric, C v are the Coriolis forces, and with those of gravity they make the bias."""
    q, v, *_ = random_state(model, np.random.default_rng(seed), STATES)
    C, forces = bough.coriolis_matrix(model, q, v), bough.coriolis_forces(model, q, v)
    M_dot = along(model, lambda q, v: bough.crba(model, q), q, v)
    size = sizes(bough.crba(model, q), axes=2) * sizes(v)
    assert_close(C + transposed(C), M_dot, LAW, axes=2, scale=size)
    S = M_dot - 2 * C
    assert_close(S, -transposed(S), LAW, axes=2, scale=size)
    assert_close(times(C, v), forces, EXACT, scale=size * sizes(v))
    bias = bough.bias_forces(model, q, v)
    assert_close(forces + bough.gravity_forces(model, q), bias, EXACT, scale=size * sizes(v))


@settings(max_examples=20)
@given(models(max_bodies=6), seeds)
def test_gravity_is_the_gradient_of_the_potential_energy(model: bough.Model, seed: int) -> None:
    q, *_ = random_state(model, np.random.default_rng(seed), STATES)
    slope = gradient(model, lambda q: bough.potential_energy(model, q)[..., None], q)[..., 0, :]
    size = model.mass * np.abs(model.gravity).max()
    assert_close(bough.gravity_forces(model, q), slope, LAW, scale=size + np.abs(bough.potential_energy(model, q)))


@settings(max_examples=20)
@given(models(max_bodies=5), seeds)
def test_power_balance(model: bough.Model, seed: int) -> None:
    """The kinetic energy, ½ vᵀ M v, grows by the power of joint forces, external forces and gravity."""
    q, v, _, tau, f = random_state(model, np.random.default_rng(seed), STATES)
    kinetic = bough.kinetic_energy(model, q, v)
    assert_close(0.5 * (v * times(bough.crba(model, q), v)).sum(axis=-1), kinetic, EXACT, axes=0)
    a = bough.aba(model, q, v, tau, f)
    growth = along(model, lambda q, v: bough.kinetic_energy(model, q, v), q, v, a)
    work = (v * (tau - bough.gravity_forces(model, q))).sum(axis=-1)
    pushed = (f * bough.velocities(model, q, v)).sum(axis=(-2, -1))
    size = np.abs(work) + np.abs(pushed) + kinetic * sizes(v, np.sqrt(np.abs(a)))
    assert_close(growth, work + pushed, LAW, axes=0, scale=size)


@settings(max_examples=20)
@given(models(max_bodies=5), seeds)
def test_external_forces_act_through_the_jacobians(model: bough.Model, seed: int) -> None:
    q, v, a, _, f = random_state(model, np.random.default_rng(seed), STATES)
    jacobians = [bough.jacobian(model, q, name) for name in model.body_names]
    pushed = sum(times(transposed(J), f[:, k]) for k, J in enumerate(jacobians))
    without = bough.rnea(model, q, v, a)
    assert_close(bough.rnea(model, q, v, a, f), without - pushed, EXACT, scale=sizes(without))
    bias = bough.bias_forces(model, q, v)
    assert_close(bough.bias_forces(model, q, v, f), bias - pushed, EXACT, scale=sizes(bias))


def floating(model: bough.Model, rng: np.random.Generator, gravity: tuple[float, ...]) -> bough.Model:
    """The same mechanism carried by a free body."""
    b = bough.Builder("floating", gravity)
    b.add("carrier", bough.joints.Free(), **random_inertia(rng))
    names = ("carrier", *model.body_names)
    for entry, body, parent in zip(model.joints, model.bodies, model.tree.parents, strict=True):
        inertia = body.inertia
        b.add(
            body.name, entry.joint, names[parent], joint_name=entry.name, at=entry.placement.origin,
            rotation=entry.placement.matrix, mass=inertia.mass, com=inertia.com, inertia=inertia.matrix,
            armature=entry.armature,
        )  # fmt: skip
    return b.build()


def momentum(model: bough.Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Momentum about the world's origin."""
    h = bough.centroidal_momentum(model, q, v)
    moment = h[..., 3:] + np.cross(bough.center_of_mass(model, q), h[..., :3])
    return np.concatenate([h[..., :3], moment], axis=-1)


@settings(max_examples=12)
@given(models(max_bodies=4), seeds)
def test_momentum_changes_by_the_forces_from_outside_alone(model: bough.Model, seed: int) -> None:
    """Whatever the joints do to each other, a floating mechanism's momentum grows by its weight."""
    rng = np.random.default_rng(seed)
    model = floating(model, rng, model.gravity)
    q, v, _, tau, _ = random_state(model, rng, STATES)
    tau[:, :6] = 0.0
    a = bough.aba(model, q, v, tau)
    growth = along(model, lambda q, v: momentum(model, q, v), q, v, a)
    weight = np.broadcast_to(model.mass * np.array(model.gravity), (*STATES, 3))
    expected = np.concatenate([weight, np.cross(bough.center_of_mass(model, q), weight)], axis=-1)
    assert_close(growth, expected, LAW, scale=sizes(momentum(model, q, v)) * sizes(v, np.sqrt(np.abs(a))))


@pytest.mark.parametrize("weightless", [True, False])
@settings(max_examples=5)
@given(models(max_bodies=3, armature=False), seeds)
def test_energy_and_momentum_are_conserved(weightless: bool, model: bough.Model, seed: int) -> None:
    """Over a short motion, to the accuracy of the integrator: sixteen times better with half the step."""
    rng = np.random.default_rng(seed)
    if weightless:
        model = floating(model, rng, (0.0, 0.0, 0.0))
    q, v, *_ = random_state(model, rng, (2,))
    assume(sizes(bough.aba(model, q, v, 0 * v)).max() < 1e3)

    def invariants(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        energy = bough.kinetic_energy(model, q, v) + bough.potential_energy(model, q)
        return np.concatenate([energy[:, None], momentum(model, q, v) if weightless else energy[:, None]], axis=-1)

    start = invariants(q, v)
    drifts = [np.abs(invariants(*move(model, q, v, 0 * v, 0.1, steps)) - start).max(axis=0) for steps in (16, 32)]
    # rounding of 128 evaluations, each wrong by a few units in the last place
    floor = 4 * 128 * np.finfo(float).eps * (np.abs(start).max() + model.mass * np.abs(model.gravity).max())
    assert (drifts[1] <= np.maximum(drifts[0] / 10, floor)).all(), drifts
    assert (drifts[1] <= 1e-6 * np.abs(start).max()).all(), drifts
