"""Laws of kinematics and momentum on random mechanisms: velocities, accelerations, Jacobians, centre of mass."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bough
from batches import sizes, times, transposed
from closeness import assert_close
from differences import along, gradient
from model_strategies import models, random_model, random_state

LAW = 1e-9
EXACT = 1e-11
STATES = (3,)
REFERENCES = ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED")

seeds = st.integers(0, 2**32 - 1)


def cross_matrix(x: np.ndarray) -> np.ndarray:
    """The matrix of x ×."""
    return np.stack([np.cross(x, unit) for unit in np.eye(3)], axis=-1)


def vee(S: np.ndarray) -> np.ndarray:
    """The vector of a skew-symmetric matrix."""
    return np.stack([S[..., 2, 1], S[..., 0, 2], S[..., 1, 0]], axis=-1)


@settings(max_examples=15)
@given(models(max_bodies=5), seeds, st.data())
def test_velocities_are_the_rates_of_placements(model: bough.Model, seed: int, data: st.DataObject) -> None:
    q, v, *_ = random_state(model, np.random.default_rng(seed), STATES)
    frame = data.draw(st.sampled_from(model.frame_names))
    X, X_dot = bough.placements(model, q, frame), along(model, lambda q, v: bough.placements(model, q, frame), q, v)
    R, p, p_dot = X[..., :3, :3], X[..., :3, 3], X_dot[..., :3, 3]
    spin = X_dot[..., :3, :3] @ transposed(R)
    scale = sizes(v) * (1 + sizes(p))
    assert_close(spin, -transposed(spin), LAW, axes=2, scale=scale)
    w = vee(spin)
    expected = {
        "LOCAL": [times(transposed(R), p_dot), times(transposed(R), w)],
        "WORLD": [p_dot - np.cross(w, p), w],
        "LOCAL_WORLD_ALIGNED": [p_dot, w],
    }
    for reference, parts in expected.items():
        got = bough.velocities(model, q, v, frame, reference)
        assert_close(got, np.concatenate(parts, axis=-1), LAW, scale=scale)


@settings(max_examples=12)
@given(models(max_bodies=5), seeds, st.data())
@pytest.mark.parametrize("reference", REFERENCES)
def test_jacobian(reference: str, model: bough.Model, seed: int, data: st.DataObject) -> None:
    """J v is the velocity, J̇ the rate of J, and J̇ v + J a the rate of the velocity."""
    q, v, a, *_ = random_state(model, np.random.default_rng(seed), STATES)
    frame = data.draw(st.sampled_from(model.frame_names))
    J, J_dot = bough.jacobian(model, q, frame, reference), bough.jacobian_rate(model, q, v, frame, reference)
    speed = bough.velocities(model, q, v, frame, reference)
    size = sizes(J, axes=2) * sizes(v)
    assert_close(times(J, v), speed, EXACT, scale=size)
    whole = np.zeros_like(J)
    whole[..., model.path_dofs(frame)] = bough.trees.jacobian_packed(model, q, frame, reference)
    np.testing.assert_array_equal(whole, J)
    changed = along(model, lambda q, v: bough.jacobian(model, q, frame, reference), q, v)
    assert_close(J_dot, changed, LAW, axes=2, scale=size)
    rate = times(J_dot, v) + times(J, a)
    # the rate of the velocity of the frame's origin is its classical acceleration
    classical = reference == "LOCAL_WORLD_ALIGNED"
    found = bough.accelerations(model, q, v, a, frame, reference, classical=classical)
    assert_close(found, rate, EXACT, scale=size * sizes(v) + sizes(J, axes=2) * sizes(a))


@settings(max_examples=12)
@given(models(max_bodies=4), seeds)
@pytest.mark.parametrize("reference", REFERENCES)
def test_accelerations(reference: str, model: bough.Model, seed: int) -> None:
    """All bodies at once; the classical linear part is the spatial one plus ω × v; the rest follows by rotation."""
    q, v, a, *_ = random_state(model, np.random.default_rng(seed), STATES)
    speed = bough.velocities(model, q, v, None, reference)
    spatial = bough.accelerations(model, q, v, a, None, reference)
    classical = bough.accelerations(model, q, v, a, None, reference, classical=True)
    turned = spatial + np.concatenate([np.cross(speed[..., 3:], speed[..., :3]), 0 * speed[..., :3]], axis=-1)
    size = sizes(spatial, axes=2)[..., None]
    assert_close(classical, turned, EXACT, scale=size)
    if reference != "LOCAL_WORLD_ALIGNED":
        grown = along(model, lambda q, v: bough.velocities(model, q, v, None, reference), q, v, a)
        assert_close(spatial, grown, LAW, scale=size + sizes(speed, axes=2)[..., None] * sizes(v)[..., None])
    names = model.body_names
    one_by_one = [bough.accelerations(model, q, v, a, name, reference) for name in (names[0], names[-1])]
    assert_close(spatial[:, [0, -1]], np.stack(one_by_one, axis=1), EXACT, scale=size)


@settings(max_examples=15)
@given(models(max_bodies=6), seeds)
def test_centre_of_mass_and_momentum(model: bough.Model, seed: int) -> None:
    q, v, *_ = random_state(model, np.random.default_rng(seed), STATES)
    com, J = bough.center_of_mass(model, q), bough.center_of_mass_jacobian(model, q)
    A, h = bough.centroidal_momentum_matrix(model, q), bough.centroidal_momentum(model, q, v)
    masses = np.array([body.inertia.mass for body in model.bodies])
    X = bough.placements(model, q)
    centres = times(X[..., :3, :3], np.array([body.inertia.com for body in model.bodies])) + X[..., :3, 3]
    assert_close(com, masses @ centres / masses.sum(), EXACT, scale=sizes(centres, axes=2))
    slope = gradient(model, lambda q: bough.center_of_mass(model, q), q)
    assert_close(J, slope, LAW, axes=2, scale=1 + sizes(centres, axes=2))
    size = sizes(A, axes=2) * sizes(v)
    assert_close(times(A, v), h, EXACT, scale=size)
    assert_close(A[..., :3, :], model.mass * J, EXACT, axes=2, scale=sizes(A, axes=2))
    moved = along(model, lambda q, v: bough.center_of_mass(model, q), q, v)
    assert_close(h[..., :3], model.mass * moved, LAW, scale=size)
    assert_close(h[..., 3:], moments(model, q, v, com), EXACT, scale=size)


def moments(model: bough.Model, q: np.ndarray, v: np.ndarray, about: np.ndarray) -> np.ndarray:
    """Moment of momentum about a point, body by body: Σ I ω + (c - about) × m ċ along the world's axes."""
    X, speed = bough.placements(model, q), bough.velocities(model, q, v, reference="LOCAL_WORLD_ALIGNED")
    total = np.zeros_like(about)
    for k, body in enumerate(model.bodies):
        R, w = X[:, k, :3, :3], speed[:, k, 3:]
        arm = times(R, np.broadcast_to(body.inertia.com, w.shape))
        momentum = body.inertia.mass * (speed[:, k, :3] + np.cross(w, arm))
        total += times(R @ body.inertia.matrix @ transposed(R), w)
        total += np.cross(X[:, k, :3, 3] + arm - about, momentum)
    return total


@settings(max_examples=15)
@given(seeds, st.booleans())
def test_operational_space_inertia(seed: int, mimic: bool) -> None:
    """Λ = (J M⁻¹ Jᵀ)⁻¹, for one frame and for two, where they can move independently."""
    rng = np.random.default_rng(seed)
    model = random_model(rng, 3, ["free", "revolute", "revolute"], mimic=mimic)
    q, *_ = random_state(model, rng, STATES)
    names = [model.frame_names[1], model.frame_names[-1]]
    reference = REFERENCES[seed % 3]
    J = np.concatenate([bough.jacobian(model, q, name, reference) for name in names], axis=-2)
    inverse = J @ np.linalg.inv(bough.crba(model, q)) @ transposed(J)
    got = bough.operational_space_inertia(model, q, names, reference, inverse=True)
    assert_close(got, inverse, LAW, axes=2)
    for frames, block in ((names, inverse), (names[1], inverse[..., 6:, 6:])):
        if np.linalg.cond(block).max() > 1e6:
            continue
        found = bough.operational_space_inertia(model, q, frames, reference)
        assert_close(found @ block, np.broadcast_to(np.eye(block.shape[-1]), block.shape), LAW, axes=2, scale=1.0)
        assert_close(found, np.linalg.inv(block), LAW, axes=2)


def test_operational_space_inertia_of_a_free_body() -> None:
    """Λ of the frame of a free body is its spatial inertia, [[m, -m c×], [m c×, I]], wherever it is."""
    mass, c, J = 2.0, np.array([0.1, 0.2, 0.3]), np.diag([0.3, 0.4, 0.5])
    b = bough.Builder()
    b.add("body", bough.joints.Free(), mass=mass, com=c, inertia=J)
    model = b.build()
    q, *_ = random_state(model, np.random.default_rng(0), STATES)
    C = cross_matrix(c)
    spatial = np.block([[mass * np.eye(3), -mass * C], [mass * C, J - mass * C @ C]])
    got = bough.operational_space_inertia(model, q, "body")
    assert_close(got, np.broadcast_to(spatial, got.shape), EXACT, axes=2)


def test_frames_that_cannot_move_in_all_directions_have_no_inertia() -> None:
    b = bough.Builder()
    b.add("arm", bough.joints.Revolute("y"), mass=1.0, com=(0.0, 0.0, -0.5), inertia=0.1)
    model = b.build()
    with pytest.raises(bough.errors.SingularError, match="cannot be moved independently"):
        bough.operational_space_inertia(model, [0.3], "arm")
    inverse = bough.operational_space_inertia(model, [0.3], "arm", inverse=True)
    J = bough.jacobian(model, [0.3], "arm")
    assert_close(inverse, J @ J.T / (0.1 + 0.25), EXACT, axes=2)


@pytest.mark.parametrize("parameters", [(), ("mass of b2",)])
def test_frames_that_cannot_move_in_all_directions_have_no_inertia_whatever_the_way_to_it(
    parameters: tuple[str, ...],
) -> None:
    """Seven joints, of which only three turn: rounding leaves pivots that are not zero."""
    b = bough.Builder()
    for k in range(7):
        joint = bough.joints.Revolute("xyz"[k % 3]) if k < 2 else bough.joints.Prismatic("xyz"[k % 3])
        b.add(f"b{k}", joint, f"b{k - 1}" if k else "world", at=(0.1, 0.2, 0.3), mass=1.0, com=(0.1, 0, 0.2), inertia=1)
    model, frame = b.build(), "b6"
    q = bough.random(model, np.random.default_rng(0), 3)
    function = bough.function("operational_space_inertia", model, frames=frame, parameters=parameters)
    for way in (lambda q: bough.operational_space_inertia(model, q, frame), function, function.jacobian("q")):
        for states in (q, q[0]):
            with pytest.raises(bough.errors.SingularError, match=r"'b6'.* cannot be moved independently"):
                way(states)
