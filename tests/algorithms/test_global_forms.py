"""The global forms against the recursive algorithms, on random mechanisms with every joint but the mimic one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bough
from bough.algorithms.constrained_bodies import ConstrainedBodies
from bough.algorithms.global_forms import GlobalForm, global_form
from closeness import assert_close
from model_strategies import SINGLE, models, random_model, random_state

TOLERANCE = 1e-9
COORDINATES = ("link", "base")
trees = models(max_bodies=8, mimic=False)
single_trees = models(max_bodies=10, mimic=False, joints=SINGLE)
seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=12)


def solid(model: bough.Model) -> bool:
    """Whether every body has a regular inertia."""
    return all(np.linalg.eigvalsh(body.inertia.matrix)[0] > 1e-9 for body in model.bodies)


def blocks(form: GlobalForm, matrix: np.ndarray) -> np.ndarray:
    """Which 6 x 6 blocks of a matrix over the bodies differ from zero (N, N)."""
    N = form.model.nbodies
    return np.any(matrix.reshape(N, 6, N, 6) != 0, axis=(1, 3))


def kinship(model: bough.Model) -> np.ndarray:
    """Entry (i, j): whether body j is body i or one of its ancestors."""
    result = np.eye(model.nbodies, dtype=bool)
    for i in range(1, model.nbodies + 1):
        result[i - 1, [j - 1 for j in model.tree.ancestors(i)]] = True
    return result


# --- the matrices ---


@given(trees, st.sampled_from(COORDINATES), seeds)
@few
def test_incidence_matrix(model: bough.Model, coordinates: Any, seed: int) -> None:
    form = global_form(model, bough.random(model, np.random.default_rng(seed)), coordinates)
    expected = np.eye(model.nbodies, dtype=bool)
    for i, parent in enumerate(model.tree.parents):
        if parent:
            expected[i, parent - 1] = True
            if coordinates == "base":
                assert (form.P[form.body(i + 1), form.body(parent)] == -np.eye(6)).all()
        assert (form.P[form.body(i + 1), form.body(i + 1)] == np.eye(6)).all()
    assert (blocks(form, form.P) == expected).all()
    assert (np.triu(form.P, 1) == 0).all()
    # its inverse reaches all ancestors and nothing else
    assert (blocks(form, form.phi.T) == kinship(model)).all()
    assert_close(form.phi.T @ form.P, np.eye(6 * model.nbodies), 1e-12, axes=2)


@given(trees, st.sampled_from(COORDINATES), seeds)
@few
def test_newton_euler_factorisation_is_the_mass_matrix(model: bough.Model, coordinates: Any, seed: int) -> None:
    q = bough.random(model, np.random.default_rng(seed))
    form = global_form(model, q, coordinates)
    assert_close(form.M, bough.crba(model, q), TOLERANCE, axes=2)
    assert_close(form.W.T @ form.H, np.eye(model.nv), 1e-12, axes=2)


def test_base_coordinates_describe_the_same_bodies(rng: np.random.Generator) -> None:
    model = random_model(rng, 6)
    q, v, a, _, f_ext = random_state(model, rng)
    link, base = (global_form(model, q, coordinates) for coordinates in COORDINATES)
    assert_close(base.acceleration(v, a), base.axes @ link.acceleration(v, a), 1e-12)
    assert_close(base.axes.T @ base.joint_force(v, a, f_ext), link.joint_force(v, a, f_ext), 1e-12)


# --- motion and force ---


@given(trees, st.sampled_from(COORDINATES), seeds)
@few
def test_inverse_dynamics_is_rnea(model: bough.Model, coordinates: Any, seed: int) -> None:
    q, v, a, _, f_ext = random_state(model, np.random.default_rng(seed))
    form = global_form(model, q, coordinates)
    assert_close(form.inverse_dynamics(v, a), bough.rnea(model, q, v, a), TOLERANCE)
    assert_close(form.inverse_dynamics(v, a, f_ext), bough.rnea(model, q, v, a, f_ext), TOLERANCE)
    # equation 29 itself
    minus_g = np.array([0.0, 0.0, 0.0, *(-x for x in model.gravity)])
    across = form.H @ a + form.H_dot(v) @ v + form.base @ minus_g
    assert_close(form.P @ form.acceleration(v, a), across, TOLERANCE)


def test_the_rate_of_H_is_its_derivative(rng: np.random.Generator) -> None:
    """In base coordinates, where the rate as seen from the base is the derivative of the numbers."""
    model, step = random_model(rng, 6), 1e-6
    q, v, *_ = random_state(model, rng)
    before, after = (global_form(model, bough.integrate(model, q, v * h), "base").H for h in (-step, step))
    assert_close(global_form(model, q, "base").H_dot(v), (after - before) / (2 * step), 1e-7, axes=2)


# --- forward dynamics ---


@given(trees, st.sampled_from(COORDINATES), seeds)
@few
def test_forward_dynamics_three_ways_is_aba(model: bough.Model, coordinates: Any, seed: int) -> None:
    q, v, _, tau, f_ext = random_state(model, np.random.default_rng(seed))
    form = global_form(model, q, coordinates)
    expected = bough.aba(model, q, v, tau, f_ext)
    assert_close(form.forward_dynamics(v, tau, f_ext=f_ext), expected, TOLERANCE)
    assert_close(form.forward_dynamics(v, tau, 27, f_ext), expected, TOLERANCE)
    if solid(model):
        assert_close(form.forward_dynamics(v, tau, 28, f_ext), expected, TOLERANCE)
    else:
        with pytest.raises(bough.errors.SingularError, match=r"body 'b\d+' has a singular inertia.*equation 28"):
            form.forward_dynamics(v, tau, 28, f_ext)


@given(trees, st.sampled_from(COORDINATES), seeds)
@few
def test_constraint_forces_do_no_work(model: bough.Model, coordinates: Any, seed: int) -> None:
    q, v, _, tau, _ = random_state(model, np.random.default_rng(seed))
    form = global_form(model, q, coordinates)
    system = form.constrained(v)
    assert_close(system.matrix_26, bough.crba(model, q), TOLERANCE, axes=2)
    m, n = system.S.shape
    assert system.T.shape == (m, m - n)
    assert np.linalg.matrix_rank(np.hstack([system.S, system.T])) == m
    assert_close(system.T.T @ system.S, np.zeros((m - n, n)), 1e-12, axes=2, scale=np.abs(system.S).max())
    # equations 24 and 25 hold for what equation 27 gives
    f_a = np.concatenate([form.P.T @ form.W @ tau, np.zeros(m - len(form.P))])
    a, beta = system.equation_27(f_a)
    scale = max(np.abs(system.I @ a).max(), np.abs(system.T @ beta).max())
    assert_close(f_a + system.T @ beta, system.I @ a + system.bias, TOLERANCE, scale=scale)
    assert_close(a, system.a0 + system.S @ system.equation_26(f_a), TOLERANCE)


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("armature", [False, True])
def test_equation_28_of_a_chain_is_block_tridiagonal(
    coordinates: Any, armature: bool, rng: np.random.Generator
) -> None:
    b = bough.Builder("chain")
    joints = [
        bough.joints.Free(),
        bough.joints.Revolute("y"),
        bough.joints.Spherical(),
        bough.joints.Universal("x", "y"),
        bough.joints.Prismatic("z"),
    ]
    for k, joint in enumerate([*joints, bough.joints.Revolute((1, 2, 3))]):
        rotor = 0.1 if armature and k % 2 else 0.0
        place = {"at": rng.normal(size=3), "rpy": rng.normal(size=3)}
        b.add(
            f"b{k}",
            joint,
            f"b{k - 1}" if k else "world",
            mass=1,
            com=(0.1, 0.2, 0.3),
            inertia=0.1,
            armature=rotor,
            **place,
        )
    model = b.build()
    q, v, *_ = random_state(model, rng)
    system = global_form(model, q, coordinates).constrained(v)
    sizes = [6 - entry.joint.nv + np.count_nonzero(entry.armature) for entry in model.joints]
    owner = np.repeat(np.arange(len(sizes)), sizes)
    far = np.abs(owner[:, None] - owner) > 1
    matrix = system.matrix_28
    assert np.abs(matrix[far]).max() <= 1e-12 * np.abs(matrix).max()
    assert len({(i, j) for i, j in zip(*(owner[k] for k in np.nonzero(matrix)), strict=True) if abs(i - j) == 1}) == 8


def test_constraints_of_any_kind() -> None:
    """Two particles on a rod: equations 24 to 28 know nothing of trees."""
    I = np.diag([2.0, 2.0, 3.0, 3.0])  # positions x1 y1 x2 y2
    rod = np.array([-1.0, 0.0, 1.0, 0.0])  # along x, of length 1, turning with 2 rad/s
    S = np.array([[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 1, 1]], dtype=float)
    a0 = np.array([0.0, 0.0, -4.0, 0.0])
    system = ConstrainedBodies(I, S, rod[:, None], a0, np.zeros(4))
    f_a = np.array([0.0, -2 * 9.81, 0.0, -3 * 9.81])
    tension = -4.0 / (1 / 2 + 1 / 3)  # both particles accelerate towards each other
    for a, beta in (system.equation_27(f_a), system.equation_28(f_a)):
        assert_close(beta, [tension], 1e-12)
        assert_close(a, [-tension / 2, -9.81, tension / 3, -9.81], 1e-12)
    assert_close(a0 + S @ system.equation_26(f_a), a, 1e-12)


# --- the innovations factorisation ---


@given(single_trees, st.sampled_from(COORDINATES), seeds)
@few
def test_innovations_are_ltdl_for_single_joints(model: bough.Model, coordinates: Any, seed: int) -> None:
    q = bough.random(model, np.random.default_rng(seed))
    innovations = global_form(model, q, coordinates).innovations()
    factor = bough.factorize(model, q)
    assert_close(innovations.factor.T, factor.L, TOLERANCE, axes=2)
    assert_close(innovations.D, np.diag(factor.D), TOLERANCE, axes=2)


@given(trees, st.sampled_from(COORDINATES), seeds)
@few
def test_innovations_are_ltdl_block_by_block(model: bough.Model, coordinates: Any, seed: int) -> None:
    q = bough.random(model, np.random.default_rng(seed))
    form = global_form(model, q, coordinates)
    L, D = form.innovations().unit_factor()
    factor = bough.factorize(model, q)
    assert_close(L, factor.L, TOLERANCE, axes=2)
    assert_close(D, factor.D, TOLERANCE)
    owner = np.repeat(np.arange(model.nbodies), [entry.joint.nv for entry in model.joints])
    assert (form.innovations().D[owner[:, None] != owner] == 0).all()
    assert (form.innovations().factor[(owner[:, None] == owner) & ~np.eye(model.nv, dtype=bool)] == 0).all()


@given(trees, st.sampled_from(COORDINATES), seeds)
@few
def test_innovations_give_the_mass_matrix_and_its_inverse(model: bough.Model, coordinates: Any, seed: int) -> None:
    q = bough.random(model, np.random.default_rng(seed))
    innovations = global_form(model, q, coordinates).innovations()
    M = bough.crba(model, q)
    assert_close(innovations.M, M, TOLERANCE, axes=2)
    assert_close(innovations.M_inverse, np.linalg.inv(M), TOLERANCE, axes=2)
    assert_close(innovations.factor_inverse @ innovations.factor, np.eye(model.nv), TOLERANCE, axes=2)


def test_the_humanoid(rng: np.random.Generator) -> None:
    model = bough.trees.topologies.humanoid()
    q, v, a, tau, _ = random_state(model, rng)
    form = global_form(model, q)
    L, D = form.innovations().unit_factor()
    factor = bough.factorize(model, q)
    assert_close(L, factor.L, TOLERANCE, axes=2)
    assert_close(D, factor.D, TOLERANCE)
    assert ((L != 0) <= (factor.L != 0)).all()  # the zeros of the branches are exact
    assert_close(form.inverse_dynamics(v, a), bough.rnea(model, q, v, a), TOLERANCE)
    for equation in (26, 27, 28):
        assert_close(form.forward_dynamics(v, tau, equation), bough.aba(model, q, v, tau), TOLERANCE)


# --- refusals ---


def pendulum(**inertia: Any) -> bough.Model:
    b = bough.Builder("pendulum")
    b.add("arm", bough.joints.Revolute("y"), mass=1, com=(0, 0, -1), inertia=0.1)
    b.add("tip", bough.joints.Revolute("y"), "arm", joint_name="wrist", at=(0, 0, -1), **inertia)
    return b.build()


def test_massless_tip_is_refused_unless_it_has_armature() -> None:
    form = global_form(pendulum(), [0.1, 0.2])
    assert_close(form.M, bough.crba(pendulum(), [0.1, 0.2]), TOLERANCE, axes=2)
    for use in (form.innovations, lambda: form.forward_dynamics([1, 2], [3, 4], 27)):
        with pytest.raises(bough.errors.SingularError, match="'wrist' moves nothing that has inertia"):
            use()
    geared = pendulum(armature=0.2)
    expected = bough.aba(geared, [0.1, 0.2], [1, 2], [3, 4])
    for equation in (26, 27):
        assert_close(global_form(geared, [0.1, 0.2]).forward_dynamics([1, 2], [3, 4], equation), expected, TOLERANCE)


def test_wrong_arguments() -> None:
    b = bough.Builder()
    b.add("a", bough.joints.Revolute("x"), mass=1, inertia=1)
    b.add("b", bough.joints.Mimic(bough.joints.Revolute("x"), "a"), "a", joint_name="follower", mass=1, inertia=1)
    with pytest.raises(bough.errors.ModelError, match="'follower' is a mimic joint"):
        global_form(b.build(), [0.0])
    model = pendulum(mass=1, inertia=1)
    for q in ([0.0], [[0.0, 0.0]], ["a", "b"], [1j, 0.0]):
        with pytest.raises(bough.errors.ShapeError, match="q "):
            global_form(model, q)
    with pytest.raises(bough.errors.FiniteError, match="q is"):
        global_form(model, [0.0, np.nan])
    with pytest.raises(bough.errors.UnknownNameError, match="'link'"):
        global_form(model, [0.0, 0.0], "world")  # type: ignore[arg-type]
    form = global_form(model, [0.0, 0.0])
    with pytest.raises(bough.errors.UnknownNameError, match="25"):
        form.forward_dynamics([0, 0], [0, 0], 25)  # type: ignore[arg-type]
    with pytest.raises(bough.errors.ShapeError, match=r"f_ext has shape \(12,\), expected \(2, 6\)"):
        form.inverse_dynamics([0, 0], [0, 0], np.zeros(12))
    with pytest.raises(ValueError, match="read-only"):
        form.P[0, 0] = 2.0


def test_quaternion_of_wrong_length_is_refused() -> None:
    b = bough.Builder()
    b.add("ball", bough.joints.Spherical(), mass=1, inertia=1)
    with pytest.raises(bough.errors.FiniteError, match=r"'ball': the quaternion .* 1\.1, expected 1"):
        global_form(b.build(), [0.0, 0.0, 0.0, 1.1])
