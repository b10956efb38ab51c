"""Models in maximal coordinates: the same answers as in joint coordinates, and the way to and fro."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bough
from bough.model.joints.closing import dual_forces, workless
from bough.model.joints.reversed import Reversed
from bough.spatial import Force, Motion, Vector
from closeness import assert_close
from model_strategies import JOINTS, random_inertia, random_joint, random_model, random_placement, random_state

Floats = np.ndarray[Any, np.dtype[Any]]
seeds = st.integers(0, 2**32 - 1)


def solid_model(rng: np.random.Generator, bodies: int) -> bough.Model:
    """A random mechanism without point masses, whose bodies can move by themselves."""
    while True:
        model = random_model(rng, bodies)
        if all(min(body.inertia.rotational[k] for k in (0, 2, 5)) > 0.0 for body in model.bodies):
            return model


def every_joint(rng: np.random.Generator) -> bough.Model:
    """A branched mechanism with every joint type, most of them turned round as well, some with armature."""
    b = bough.Builder("all", gravity=rng.normal(size=3))
    names = ["world"]
    kinds = [name for name in JOINTS if name != "fixed"]
    for k, kind in enumerate([*kinds, *kinds]):
        joint = random_joint(kind, rng)
        if k >= len(kinds) and kind not in ("free", "spherical"):
            joint = Reversed(joint)
        rotor = rng.uniform(0.0, 0.5, size=joint.nv) * (rng.random(joint.nv) < 0.5) if k % 3 == 0 else 0.0
        b.add(f"b{k}", joint, str(rng.choice(names)), armature=rotor, **random_inertia(rng), **random_placement(rng))
        names.append(f"b{k}")
    return b.build()


def reactions(model: bough.Model, q: Floats, v: Floats, a: Floats, f_ext: Floats) -> Floats:
    """Forces through the joints by the recursion of RNEA, with the inertias of the author, in the author's frames."""
    form = bough.papers.global_form(model, q)
    through = form.joint_force(v, a, f_ext).reshape(-1, 6)  # inside frames, angular part first
    turned = []
    for i, f in enumerate(through, start=1):
        outward = form.inside.at(i).border.force_to_child(Force.of(f.tolist()))
        turned.append([*outward.linear.parts, *outward.angular.parts])
    return np.array(turned).reshape(-1, 6)


def check_agreement(model: bough.Model, rng: np.random.Generator) -> None:
    q, v, _, tau, f_ext = random_state(model, rng)
    form = bough.maximal.of_model(model, q, v, tau, f_ext)
    a, lam = bough.maximal.multipliers(*form)
    qdd = bough.forward_dynamics(model, q, v, tau, f_ext)
    assert_close(a.reshape(-1, 6), bough.accelerations(model, q, v, qdd), 1e-9, 2)
    at_once = bough.maximal.dynamics(model, q, v, tau, f_ext)
    assert_close(at_once[0], a.reshape(-1, 6), 1e-10, 2)
    assert_close(at_once[1], lam, 1e-10, scale=np.abs(lam).max(initial=0.0))
    want = reactions(model, q, v, qdd, f_ext)
    got = bough.maximal.joint_reactions(model, q, tau, lam)
    assert_close(got, want, 1e-9, 2)
    assert_close(bough.maximal.joint_accelerations(model, q, v, a.reshape(-1, 6)), qdd, 1e-9)
    scale = np.abs(want).max()
    assert_close(bough.maximal.reaction_multipliers(model, q, tau, want), lam, 1e-9, scale=scale)


# --- the same answers ---


@settings(max_examples=8)  # each model is traced anew
@given(st.integers(1, 4), seeds)
def test_random_trees_agree_with_reduced_coordinates(bodies: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    check_agreement(solid_model(rng, bodies), rng)


def test_every_joint_type_agrees_with_reduced_coordinates(rng: np.random.Generator) -> None:
    check_agreement(every_joint(rng), rng)


def test_constraints_hold_for_velocities_and_do_no_work(rng: np.random.Generator) -> None:
    """J v = 0 in the rows of the joints, and what is left over of the power is that of the other forces."""
    model = every_joint(rng)
    q, v, _, tau, _ = random_state(model, rng)
    system, _, jacobian, _, _, compliance = bough.maximal.of_model(model, q, v, tau)
    twists = bough.velocities(model, q, v)
    for k, (a, b, p) in enumerate(system.constraints):
        rates = np.zeros(p)
        for side, body in enumerate((a, b)):
            if body:
                block = jacobian[slice(*system.jacobian_starts[2 * k + side : 2 * k + side + 2])].reshape(p, 6)
                rates += block @ twists[body - 1]
        assert compliance is not None
        hard = compliance[slice(*system.c_starts[k : k + 2])] == 0.0
        assert np.abs(rates[hard]).max(initial=0.0) <= 1e-12 * np.abs(twists).max()


def test_impulses_keep_the_nearest_velocity(rng: np.random.Generator) -> None:
    """Momenta for forces and c = 0: velocities that the joints allow are kept, others are projected."""
    model = solid_model(rng, 5)
    q, v, _, tau, _ = random_state(model, rng)
    system, mass, jacobian, *_ = bough.maximal.of_model(model, q, v, tau)
    hard = bough.maximal.System(system.bodies, system.constraints)
    compliance = bough.maximal.of_model(model, q, v, tau).compliance
    twists = bough.velocities(model, q, v)
    momenta = (mass.reshape(-1, 6, 6) @ twists[..., np.newaxis])[..., 0]
    if compliance is None:
        kept, impulses = bough.maximal.multipliers(hard, mass, jacobian, momenta.ravel(), np.zeros(hard.nc))
        assert_close(kept.reshape(-1, 6), twists, 1e-10, 2)
        assert np.abs(impulses).max(initial=0.0) <= 1e-10 * np.abs(momenta).max()
    pushed = momenta + rng.normal(size=momenta.shape)
    free, _ = bough.maximal.multipliers(hard, mass, jacobian, pushed.ravel(), np.zeros(hard.nc), compliance)
    again = bough.velocities(model, q, bough.maximal.joint_velocities(model, q, free.reshape(-1, 6)))
    assert_close(again, free.reshape(-1, 6), 1e-9, 2)


def test_batches(rng: np.random.Generator) -> None:
    model = solid_model(rng, 3)
    q, v, _, tau, f_ext = random_state(model, rng, (2, 3))
    a, lam = bough.maximal.multipliers(*bough.maximal.of_model(model, q, v, tau, f_ext))
    one = bough.maximal.multipliers(*bough.maximal.of_model(model, q[1, 2], v[1, 2], tau[1, 2], f_ext[1, 2]))
    np.testing.assert_array_equal(a[1, 2], one[0])
    np.testing.assert_array_equal(lam[1, 2], one[1])
    assert bough.maximal.joint_reactions(model, q, tau, lam).shape == (2, 3, model.nbodies, 6)


# --- to and fro ---


@settings(max_examples=8)
@given(st.integers(1, 3), seeds)
def test_states_come_back(bodies: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_model(rng, bodies)
    q, v, *_ = random_state(model, rng)
    X = bough.placements(model, q)
    found = bough.maximal.joint_positions(model, X)
    assert_close(bough.placements(model, found), X, 1e-12, 3, 1.0)
    near = bough.maximal.joint_positions(model, X, bough.integrate(model, q, 0.1 * v / np.abs(v).max()))
    assert np.abs(bough.difference(model, q, near)).max() <= 1e-9
    assert_close(bough.maximal.joint_velocities(model, q, bough.velocities(model, q, v)), v, 1e-12)


@pytest.mark.parametrize("kind", [name for name in JOINTS if name != "fixed"])
def test_every_joint_is_found_from_neutral(kind: str, rng: np.random.Generator) -> None:
    b = bough.Builder("one")
    b.add("body", random_joint(kind, rng), **random_inertia(rng), **random_placement(rng))
    model = b.build()
    q = bough.random(model, rng, 300) * (1.0 - 1e-6 if kind not in ("spherical", "free") else 1.0)
    X = bough.placements(model, q)
    assert_close(bough.placements(model, bough.maximal.joint_positions(model, X)), X, 1e-11, 3, 1.0)


def test_whole_turns_are_kept_near_a_known_configuration() -> None:
    b = bough.Builder("screw")
    b.add("nut", bough.joints.Helical("z", pitch=0.01), mass=1.0, inertia=0.1)
    b.add("wheel", bough.joints.Revolute("x"), "nut", mass=1.0, inertia=0.1)
    model = b.build()
    q = np.array([20.0, -33.0])
    np.testing.assert_allclose(bough.maximal.joint_positions(model, bough.placements(model, q), q + 0.5), q, rtol=1e-13)


def test_places_that_joints_do_not_reach_are_refused(rng: np.random.Generator) -> None:
    b = bough.Builder("door")
    b.add("leaf", bough.joints.Revolute("z"), mass=1.0, inertia=0.1, joint_name="hinge")
    model = b.build()
    X = bough.placements(model, [[0.3], [0.4]])
    X[1, 0, 2, 3] += 1e-3
    with pytest.raises(
        bough.errors.ModelError, match=r"'hinge' does not reach .* 'leaf' in state \[1\]: it is off by 0.001"
    ):
        bough.maximal.joint_positions(model, X)
    np.testing.assert_allclose(bough.maximal.joint_positions(model, X, tolerance=0.01), [[0.3], [0.4]], rtol=1e-12)


# --- parts, and what is refused ---


@given(st.integers(0, 6), seeds)
def test_the_two_sides_of_a_joint(n: int, seed: int) -> None:
    """Wᵀ S = 1, Tᵀ S = 0, Tᵀ T = 1 for any subspace, and exact ones and zeros for unit motions."""
    rng = np.random.default_rng(seed)
    plain = rng.random() < 0.3
    S = np.eye(6)[rng.permutation(6)[:n]] if plain else rng.normal(size=(n, 6))
    motions = [Motion(Vector(*s[:3]), Vector(*s[3:])) for s in S.tolist()]
    W, T = dual_forces(motions), workless(motions)
    w, t = (np.array([f.parts for f in forces], dtype=float).reshape(-1, 6) for forces in (W, T))
    tolerance = 0.0 if plain else 1e-12 * np.linalg.cond(S @ S.T) if n else 0.0
    np.testing.assert_allclose(w @ S.T, np.eye(n), atol=tolerance)
    np.testing.assert_allclose(t @ S.T, np.zeros((6 - n, n)), atol=0.0 if plain else 1e-14)
    np.testing.assert_allclose(t @ t.T, np.eye(6 - n), atol=0.0 if plain else 1e-14)


def test_bodies_that_cannot_move_alone_are_named() -> None:
    b = bough.Builder("point")
    b.add("bob", bough.joints.Revolute("x"), mass=1.0, com=(0.0, 0.0, -1.0), inertia=0.0)
    model = b.build()
    with pytest.raises(bough.errors.SingularError, match="body 1: the mass block"):
        bough.maximal.multipliers(*bough.maximal.of_model(model, [0.1], [0.0], [0.0]))
    with pytest.raises(bough.errors.SingularError, match=r"body 'bob' has mass 1.0 and central moments"):
        bough.maximal.dynamics(model, [0.1], [0.0], [0.0])


def test_mimic_joints_are_refused() -> None:
    b = bough.Builder("gripper")
    b.add("left", bough.joints.Prismatic("x"), mass=1.0, inertia=0.1, joint_name="slide")
    b.add("right", bough.joints.Mimic(bough.joints.Prismatic("x"), "slide", -1.0), mass=1.0, inertia=0.1)
    model = b.build()
    for call in (
        lambda: bough.maximal.of_model(model, [0.0], [0.0], [0.0]),
        lambda: bough.maximal.joint_positions(model, bough.placements(model, [0.0])),
    ):
        with pytest.raises(bough.errors.ModelError, match="mimic joints"):
            call()
