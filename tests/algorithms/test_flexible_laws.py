"""Laws of dynamics on random trees with flexible bodies, some of whose stations carry flexible bodies again."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import bough
from batches import sizes, transposed
from bough.kernel.functions import PLAIN, program
from bough.program import evaluate
from closeness import assert_close
from differences import along, gradient
from flexible_models import POINTS, random_flexible, random_flexible_model
from model_strategies import random_state

LAW = 1e-9
EXACT = 1e-11
FLOATS = pytest.mark.parametrize("floats", [True, False])


@FLOATS
def test_forward_and_inverse_dynamics_and_the_mass_matrix_agree(floats: bool, rng: np.random.Generator) -> None:
    model = random_flexible_model(rng, floats)
    q, v, _, tau, f = random_state(model, rng, (3,))
    M = bough.crba(model, q)
    assert np.array_equal(M, transposed(M))
    assert_close(bough.papers.mass_matrix_by_rnea(model, q), M, EXACT, axes=2)
    bias = bough.bias_forces(model, q, v, f)
    qdd = np.linalg.solve(M, (tau - bias)[..., None])[..., 0]
    assert_close(bough.aba(model, q, v, tau, f), qdd, LAW)
    assert_close(bough.forward_dynamics(model, q, v, tau, f, "crba"), qdd, LAW)
    assert_close(bough.rnea(model, q, v, qdd, f), tau, LAW, scale=sizes(bias, tau))
    assert_close(0.5 * np.einsum("bi,bij,bj->b", v, M, v), bough.kinetic_energy(model, q, v), EXACT)
    assert not M[:, ~model.dof_tree.pattern()].any()


@FLOATS
def test_power_is_the_rate_of_energy_and_weight_the_slope_of_potential(floats: bool, rng: np.random.Generator) -> None:
    model = random_flexible_model(rng, floats)
    q, v, a, *_ = random_state(model, rng, (2,))

    def energy(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.asarray(bough.kinetic_energy(model, q, v) + bough.potential_energy(model, q))

    tau = bough.rnea(model, q, v, a)
    assert_close(along(model, energy, q, v, a), np.einsum("bi,bi->b", tau, v), 1e-7, scale=sizes(tau, v))
    slope = gradient(model, lambda q: bough.potential_energy(model, q)[..., None], q)[..., 0, :]
    assert_close(bough.gravity_forces(model, q), slope, 1e-8)


def test_bias_forces_follow_from_the_kinetic_energy(rng: np.random.Generator) -> None:
    """Lagrange's equations, Ṁ v - ½ ∂(vᵀ M v)/∂q, where velocities are rates of coordinates."""
    model = random_flexible_model(rng, floats=False)
    q, v, *_ = random_state(model, rng, (2,))
    M_dot = along(model, lambda q, v: bough.crba(model, q), q, v)
    slope = gradient(model, lambda q: bough.kinetic_energy(model, q, v[:, None])[..., None], q)
    lagrange = np.einsum("bij,bj->bi", M_dot, v) - slope[..., 0, :]
    assert_close(bough.coriolis_forces(model, q, v), lagrange, 1e-7)


def test_frames_move_as_their_jacobians_say(rng: np.random.Generator) -> None:
    model = random_flexible_model(rng, floats=False)
    q, v, a, *_ = random_state(model, rng, (2,))
    for frame in ("two.s0", "slide"):
        J = bough.jacobian(model, q, frame, "LOCAL_WORLD_ALIGNED")
        speed = np.einsum("bij,bj->bi", J, v)
        assert_close(speed, bough.velocities(model, q, v, frame, "LOCAL_WORLD_ALIGNED"), EXACT)
        place = along(model, lambda q, v, frame=frame: bough.placements(model, q, frame), q, v)
        assert_close(place[:, :3, 3], speed[:, :3], 1e-8, scale=sizes(speed) + 1.0)
        for reference in ("LOCAL", "WORLD"):
            J = bough.jacobian(model, q, frame, reference)
            rate = bough.jacobian_rate(model, q, v, frame, reference)
            by_steps = along(model, lambda q, v, f=frame, r=reference: bough.jacobian(model, q, f, r), q, v)
            assert_close(rate, by_steps, 1e-8, axes=2, scale=sizes(v))
            whole = np.einsum("bij,bj->bi", J, a) + np.einsum("bij,bj->bi", rate, v)
            assert_close(bough.accelerations(model, q, v, a, frame, reference), whole, LAW, scale=1.0)


def test_momentum_and_centre_of_mass(rng: np.random.Generator) -> None:
    model = random_flexible_model(rng)
    q, v, *_ = random_state(model, rng, (2,))
    momentum = np.einsum("bij,bj->bi", bough.centroidal_momentum_matrix(model, q), v)
    assert_close(momentum, bough.centroidal_momentum(model, q, v), EXACT)
    speed = np.einsum("bij,bj->bi", bough.center_of_mass_jacobian(model, q), v)
    assert_close(model.mass * speed, momentum[:, :3], EXACT)
    assert_close(along(model, lambda q, v: bough.center_of_mass(model, q), q, v), speed, 1e-8)
    # what floats without weight keeps its momentum, however it deforms
    free = model.with_gravity((0, 0, 0))
    tau = np.concatenate([np.zeros((2, 6)), rng.normal(size=(2, model.nv - 6))], axis=1)
    qdd = bough.aba(free, q, v, tau)
    change = along(free, lambda q, v: bough.centroidal_momentum(free, q, v), q, v, qdd)
    assert_close(change, 0.0 * change, 1e-7, scale=sizes(momentum, v))


def test_the_energy_is_that_of_the_points(rng: np.random.Generator) -> None:
    """Whatever the elastic coordinates are, and however the body tumbles."""
    given = random_flexible(rng, 2)
    b = bough.Builder()
    b.add("base", bough.joints.Free())
    b.add_flexible("body", bough.flexible.FlexibleBody(**given), "base")
    model = b.build()
    q, v, *_ = random_state(model, rng, (2,))

    def points(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        X = bough.placements(model, q, "base")
        x = q[..., 7:]
        r = given["points"] + np.einsum("pai,...a->...pi", given["shapes"], x)
        r = r + 0.5 * np.einsum("pabi,...a,...b->...pi", given["shortening"], x, x)
        return np.asarray(np.einsum("...ij,...pj->...pi", X[..., :3, :3], r) + X[..., None, :3, 3])

    speeds = along(model, points, q, v)
    energy = 0.5 * np.einsum("p,bpi,bpi->b", given["masses"], speeds, speeds)
    assert speeds.shape == (2, POINTS, 3)
    assert_close(bough.kinetic_energy(model, q, v), energy, 1e-8)
    centre = np.einsum("p,bpi->bi", given["masses"], points(q, v)) / model.mass
    assert_close(bough.center_of_mass(model, q), centre, EXACT)


def test_springs_and_dampers_of_modes_are_passive_forces(rng: np.random.Generator) -> None:
    model = random_flexible_model(rng)
    q, v, *_ = random_state(model, rng)
    k, d = model.limits("stiffness"), model.limits("damping")
    x = bough.difference(model, bough.neutral(model), q)
    assert np.allclose(bough.passive_forces(model, q, v), -k * x - d * v, rtol=1e-14, atol=0)
    assert np.isclose(bough.function("elastic_energy", model)(q), 0.5 * k @ (x * x), rtol=1e-14)
    assert np.allclose(bough.integrate(model, bough.neutral(model), x)[7:], q[7:], rtol=0, atol=1e-12)


def test_a_loop_between_stations_of_one_body(rng: np.random.Generator) -> None:
    """Both sides move with the same elastic coordinates, so that columns of both add up."""
    model = random_flexible_model(rng)
    q, v, a, *_ = random_state(model, rng)
    one, two = (bough.Placement.from_matrix(bough.placements(model, q, name)) for name in ("arm", "slide"))
    point = rng.normal(size=3)  # of the second body, where the first one holds it
    at = one.inverse.act(two.act(point))
    looped = model.with_loop("ball", bough.joints.Spherical(), "arm", "slide", at=at, successor_at=point)

    def gap(q: np.ndarray) -> np.ndarray:
        places = (bough.placements(model, q, name) for name in ("arm", "slide"))
        held, holding = (X[..., :3, :3] @ p + X[..., :3, 3] for X, p in zip(places, (at, point), strict=True))
        return np.asarray(holding - held)

    J, across = bough.loops.jacobian(looped, q), gradient(looped, gap, q)
    assert_close(J.T @ J, across.T @ across, 1e-8, axes=2)  # whose rows are along other axes
    motion = bough.forward_dynamics(looped, q, v, a, full=True)
    felt = bough.crba(looped, q) @ motion.motion + bough.bias_forces(looped, q, v) - a
    assert_close(felt, J.T @ motion.loop_forces, 1e-8)
    for method in ("multipliers", "null_space", "kkt"):
        assert_close(bough.forward_dynamics(looped, q, v, a, method=method), motion.motion, 1e-7)
        assert_close(bough.forward_dynamics(looped, q, v, a, method=method, full=True).motion, motion.motion, 1e-7)


def test_a_contact_between_stations_of_one_body(rng: np.random.Generator) -> None:
    model = random_flexible_model(rng)
    q, v, *_ = random_state(model, rng)
    point, normal = rng.normal(size=3), np.array([0.0, 0.6, 0.8])
    touch = bough.contact.Contacts([("arm", "slide")]).at([point], [normal])
    J = bough.contact.jacobian(model, q, touch)[0]
    speeds = [bough.velocities(model, q, v, name, "WORLD") for name in ("arm", "slide")]
    apart = speeds[0] - speeds[1]
    assert_close((J @ v)[:1], normal[None] @ (apart[:3] + np.cross(apart[3:], point)), EXACT)


def test_programs_with_loops_over_bodies_compute_the_same(rng: np.random.Generator) -> None:
    model = random_flexible_model(rng)
    q, v, a, *_ = random_state(model, rng)
    states = {"rnea": {"q": q, "v": v, "a": a}, "crba_packed": {"q": q}, "aba": {"q": q, "v": v, "tau": a}}
    for name, inputs in states.items():
        straight, rolled = (evaluate(program(model, name, PLAIN, (), rolled), inputs) for rolled in (False, True))
        for key, values in straight.items():
            assert_close(np.array(rolled[key]), np.array(values), 1e-10)


def test_what_does_not_know_flexible_bodies_refuses_them_by_name(rng: np.random.Generator) -> None:
    model = random_flexible_model(rng)
    q, v, *_ = random_state(model, rng)
    for refused in (
        lambda: bough.coriolis_matrix(model, q, v),
        lambda: bough.maximal.of_model(model, q, v, v),
        lambda: bough.maximal.joint_velocities(model, q, np.zeros((model.nbodies, 6))),
        lambda: bough.maximal.Linkage.of(model),
        lambda: bough.trees.rerooting(model),
        lambda: bough.Scene(model),
        lambda: bough.forward_dynamics(model, q, v, v, method="divide_and_conquer"),
        lambda: bough.trees.spanning(model),
        lambda: model.rerooted("arm"),
        lambda: model.with_inertia("one", mass=2.0),
        lambda: model.with_frame("point", "one"),
        lambda: model.with_loop("rod", bough.joints.Spherical(), "world", "one"),
        lambda: model.with_body("more", bough.joints.Revolute("z"), "one"),
        lambda: bough.Parameters.of(model, "mass of one"),
        lambda: bough.contact.jacobian(model, q, bough.contact.Contacts([("one", None)]).at([[0, 0, 0]], [[0, 0, 1]])),
        lambda: dataclasses.replace(model, frames=(*model.frames, bough.model.Frame("point", 2, bough.Placement()))),
    ):
        with pytest.raises(bough.BoughError, match="one"):
            refused()
    with pytest.raises(bough.BoughError, match=r"one\.s0.*station"):
        model.with_placement("one.s0", at=(1, 0, 0))
    with pytest.raises(bough.BoughError, match="pinocchio has no flexible"):
        bough.convert.states_to_pinocchio(model, q)
