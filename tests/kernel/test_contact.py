"""Motion with contacts, limits and loops at the three levels: textbook cases, laws, and independent routes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import bough
from contact_scenes import GRAVITY, ball, box, random_scene, stack, standing
from mechanisms import closed

SOLVERS: tuple[Any, ...] = ("pivoting", "gauss_seidel")
EXACT = {"pivoting": 1e-9, "gauss_seidel": 1e-5}
FINE = {"tolerance": 1e-9, "iterations": 2000}
"""For Gauss-Seidel, where results are compared."""


# --- textbook cases ---


WAYS: list[tuple[Any, Any]] = [("pivoting", "pyramid"), ("pivoting", "cone"), ("gauss_seidel", "cone")]


@pytest.mark.parametrize(("solver", "friction"), WAYS)
def test_a_block_on_a_slope_slides_from_the_angle_of_friction_on(solver: Any, friction: Any) -> None:
    mu, close = 0.4, {"pivoting": 1e-9, "gauss_seidel": 0.05}[solver]  # where little holds it, sweeps take long
    for angle in (0.0, np.arctan(mu) - close, np.arctan(mu) + close, 1.0):
        scene = box(angle, friction)
        found = bough.contact.dynamics(*scene.at_rest, scene.touch(mu=mu), solver=solver, **FINE)
        expected = max(GRAVITY * (np.sin(angle) - mu * np.cos(angle)), 0.0)
        assert np.allclose(found.motion, [expected, 0, 0, 0, 0, 0], atol=EXACT[solver])
        weight = scene.model.mass * GRAVITY
        held = weight * min(np.sin(angle), mu * np.cos(angle))
        assert np.allclose(
            found.contact_forces.sum(axis=0), [weight * np.cos(angle), -held, 0.0], atol=EXACT[solver] * 100
        )
        assert found.conflicts == ()


@pytest.mark.parametrize(("solver", "friction"), WAYS)
@pytest.mark.parametrize("way", [1.0, -1.0])
def test_a_block_that_slides_is_slowed_by_friction_whichever_way(solver: Any, friction: Any, way: float) -> None:
    mu, angle = 0.3, 0.25
    scene, v = box(angle, friction), np.array([2.0 * way, 0, 0, 0, 0, 0])
    found = bough.contact.dynamics(scene.model, scene.q, v, np.zeros(6), scene.touch(mu=mu), solver=solver, **FINE)
    expected = GRAVITY * (np.sin(angle) - way * mu * np.cos(angle))
    assert np.allclose(found.motion, [expected, 0, 0, 0, 0, 0], atol=EXACT[solver])


def test_a_cone_slows_along_the_velocity_and_a_pyramid_along_both_tangents() -> None:
    v, mu = np.array([1.2, 0.5, 0, 0, 0, 0]), 0.2
    for friction, expected in (("cone", -mu * GRAVITY * v[:2] / 1.3), ("pyramid", [-mu * GRAVITY, -mu * GRAVITY])):
        scene = box(0.0, friction)
        touch = bough.contact.Contacts([("box", None)], friction).at([[0, 0, 0]], [[0, 0, 1]], mu=mu)
        found = bough.contact.dynamics(scene.model, scene.q, v, np.zeros(6), touch, **FINE)
        assert np.allclose(found.motion[:2], expected, atol=1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_ball_rolls_down_a_slope_without_slipping(solver: Any) -> None:
    """With I = 2/5 m r² it accelerates at 5/7 g sin, held by 2/7 m g sin; with less friction it slips."""
    angle, r = 0.3, 0.2
    model, normal = ball(r), np.array([np.sin(angle), 0, np.cos(angle)])
    down = np.array([np.cos(angle), 0, -np.sin(angle)])
    touch = bough.contact.Contacts([("ball", None)]).at([-r * normal], [normal])
    q, still = bough.neutral(model), np.zeros(6)
    found = bough.contact.dynamics(model, q, still, still, touch.replace(mu=0.5), solver=solver, **FINE)
    a = 5 / 7 * GRAVITY * np.sin(angle)
    assert np.allclose(found.motion, [*a * down, 0, a / r, 0], atol=EXACT[solver])
    assert np.allclose(found.contact_forces[0, 1], -2 / 7 * model.mass * GRAVITY * np.sin(angle), atol=EXACT[solver])
    slips = bough.contact.dynamics(model, q, still, still, touch.replace(mu=0.05), solver=solver, **FINE)
    held = 0.05 * GRAVITY * np.cos(angle)
    assert np.allclose(slips.motion[:3], (GRAVITY * np.sin(angle) - held) * down, atol=EXACT[solver])
    assert np.allclose(slips.motion[4], 2.5 * held / r, atol=EXACT[solver] / r)


def test_a_ball_that_rolls_goes_on_rolling() -> None:
    r, speed = 0.2, 3.0
    model, q = ball(r), bough.neutral(ball(r))
    ground = bough.contact.Contacts([("ball", None)])
    v = np.array([speed, 0, 0, 0, speed / r, 0])
    moving: Any = {"point_velocities": [[speed, 0, 0]], "normal_velocities": [[0, 0, 0]]}
    touch = ground.at([[0, 0, -r]], [[0, 0, 1]], mu=0.5, **moving)
    found = bough.contact.dynamics(model, q, v, np.zeros(6), touch)
    assert np.allclose(found.contact_forces, [[model.mass * GRAVITY, 0, 0]])
    assert np.allclose(found.motion[:3], np.cross(v[:3], v[3:]))  # steady in space


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("e", [0.0, 0.6, 1.0])
def test_a_ball_bounces(e: float, solver: Any) -> None:
    model, q = ball(0.1), bough.neutral(ball(0.1))
    touch = bough.contact.Contacts([("ball", None)]).at([[0, 0, -0.1]], [[0, 0, 1]], restitution=e)
    found = bough.contact.impulses(model, q, [1.0, 0, -4.0, 0, 0, 0], touch, solver=solver, **FINE)
    assert np.allclose(found.motion, [1.0, 0, 4.0 * e, 0, 0, 0], atol=1e-9)
    assert np.allclose(found.contact_forces, [[model.mass * 4.0 * (1 + e), 0, 0]], atol=1e-9)
    apart = bough.contact.impulses(model, q, [1.0, 0, 4.0, 0, 0, 0], touch.replace(mu=1.0), solver=solver)
    assert np.allclose(apart.motion, [1.0, 0, 4.0, 0, 0, 0])
    assert np.array_equal(apart.contact_forces, np.zeros((1, 3)))


def test_friction_of_an_impact_makes_a_ball_spin() -> None:
    """Sliding, the tangential impulse is μ (1 + e) of the normal one; sticking, it stops the point of contact."""
    r, model, e = 0.1, ball(0.1), 0.5
    q, touch = bough.neutral(model), bough.contact.Contacts([("ball", None)]).at([[0, 0, -r]], [[0, 0, 1]])
    v = np.array([3.0, 0, -2.0, 0, 0, 0])
    found = bough.contact.impulses(model, q, v, touch.replace(mu=0.2, restitution=e))
    jump = 0.2 * (1 + e) * 2.0
    assert np.allclose(found.motion, [3.0 - jump, 0, 1.0, 0, 2.5 * jump / r, 0])
    found = bough.contact.impulses(model, q, v, touch.replace(mu=2.0, restitution=e))
    assert np.allclose(found.motion, [3.0 * 5 / 7, 0, 1.0, 0, 3.0 * 5 / 7 / r, 0])


def test_friction_of_a_cone_is_against_the_velocity() -> None:
    model, r = ball(0.1), 0.1
    touch = bough.contact.Contacts([("ball", None)], "cone").at([[0, 0, -r]], [[0, 0, 1]], mu=0.5)
    found = bough.contact.impulses(model, bough.neutral(model), [3.0, 4.0, -1.0, 0, 0, 0], touch, **FINE)
    assert np.allclose(found.motion, [2.7, 3.6, 0.0, -2.5 * 0.4 / r, 2.5 * 0.3 / r, 0.0], atol=1e-7)


def test_balls_in_a_row_share_a_blow() -> None:
    """All contacts at once: momentum and energy are conserved, but not all of it goes to the last ball."""
    b = bough.Builder(gravity=(0, 0, 0))
    for k in range(3):
        b.add(f"ball {k}", bough.joints.Prismatic("x"), mass=1.0, inertia=1.0)
    contacts = bough.contact.Contacts([("ball 1", "ball 0"), ("ball 2", "ball 1")], None)
    touch = contacts.at([[0.5, 0, 0], [1.5, 0, 0]], [[1, 0, 0]] * 2, restitution=1.0)
    found = bough.contact.impulses(b.build(), [0, 0, 0], [1.0, 0, 0], touch)
    assert np.allclose(found.motion, [-1 / 3, 2 / 3, 2 / 3])
    # one after the other, as with a little room between the balls, it does
    first = bough.contact.impulses(b.build(), [0, 0, 0], [1.0, 0, 0], touch.replace(gaps=[0, np.inf]))
    then = bough.contact.impulses(b.build(), [0, 0, 0], first.motion, touch.replace(gaps=[np.inf, 0]))
    assert np.allclose(then.motion, [0, 0, 1])


def test_a_body_between_two_walls_cannot_bounce_off_both() -> None:
    b = bough.Builder(gravity=(0, 0, 0))
    b.add("cart", bough.joints.Prismatic("x"), mass=1.0, inertia=1.0)
    walls = bough.contact.Contacts([("cart", None), ("cart", None)], None).at(np.zeros((2, 3)), [[1, 0, 0], [-1, 0, 0]])
    found = bough.contact.impulses(b.build(), [0], [3.0], walls.replace(restitution=[1.0, 0.5]))
    assert np.allclose(found.motion, 0.0)
    assert found.conflicts == ()


def test_stacked_boxes_rest() -> None:
    scene = stack(3)
    found = bough.contact.dynamics(*scene.at_rest, scene.touch(mu=0.5))
    assert np.abs(found.motion).max() < 1e-8
    masses = np.array([body.inertia.mass for body in scene.model.bodies])
    above = np.cumsum(masses[::-1])[::-1]
    assert np.allclose(found.contact_forces[:, 0].reshape(3, 4).sum(axis=1), above * GRAVITY, rtol=1e-7)
    step = bough.contact.step(*scene.at_rest, scene.touch(mu=0.5), dt=0.01)
    assert np.abs(step.motion).max() < 1e-9
    assert np.allclose(step.contact_forces[:, 0].reshape(3, 4).sum(axis=1), 0.01 * above * GRAVITY, rtol=1e-7)


@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
def test_a_robot_stands(name: str) -> None:
    """With joint forces that hold it: contact forces carry the weight, and all forces balance as RNEA says."""
    scene, tau = standing(name)
    model, zero = scene.model, np.zeros(scene.model.nv)
    for solver in SOLVERS[: 1 + (name == "quadruped")]:
        found = bough.contact.dynamics(model, scene.q, zero, tau, scene.touch(mu=0.8), solver=solver, **FINE)
        assert np.abs(found.motion).max() < 1e-6
        assert np.allclose(found.contact_forces.sum(axis=0), [model.mass * GRAVITY, 0, 0], atol=1e-6)
        J = bough.contact.jacobian(model, scene.q, scene.touch()).reshape(-1, model.nv)
        demanded = bough.rnea(model, scene.q, zero, found.motion)
        assert np.allclose(tau + J.T @ found.contact_forces.ravel() + found.limit_forces, demanded, atol=1e-9)
        assert (np.abs(found.contact_forces[:, 1:]) <= 0.8 * found.contact_forces[:, :1] + 1e-9).all()


# --- no solution ---


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_sliding_rod_that_jams_is_reported(solver: Any) -> None:
    """Painlevé: with much friction any normal force would accelerate the end of the rod into the ground."""
    b = bough.Builder()
    b.add("rod", bough.joints.Planar("y"), mass=1.0, inertia=1 / 3)
    model = b.build()
    q, angle = np.zeros(3), 1.2
    arm = np.array([-np.cos(angle), 0.0, -np.sin(angle)])
    touch = bough.contact.Contacts([("rod", None)]).at([arm], [[0, 0, 1]])
    J = bough.contact.jacobian(model, q, touch)[0]
    v = np.linalg.lstsq(J, [0.0, 1.0, 0.0], rcond=None)[0]  # slides along x
    for way in (1.0, -1.0):
        for mu, jams in ((0.3, False), (3.0, None)):
            found = bough.contact.dynamics(model, q, way * v, np.zeros(3), touch.replace(mu=mu), solver=solver)
            A = J @ np.linalg.inv(bough.crba(model, q)) @ J.T
            jammed = A[0, 0] - mu * way * A[0, 1] < 0
            assert jams is None or jammed == jams
            assert np.isfinite(found.motion).all()
            assert found.conflicts == (("contact 0 of rod and world",) if jammed else ())
            assert (found.residual > 1.0) == jammed
            # impulses have a solution all the same, though sweeps may not find it
            step = bough.contact.step(model, q, way * v, np.zeros(3), touch.replace(mu=mu), dt=1e-3, solver=solver)
            assert (step.residual < 1e-6) == (step.conflicts == ())
            assert solver == "gauss_seidel" or step.residual < 1e-12


def test_limits_that_contradict_loops_are_named() -> None:
    b = bough.Builder()
    b.add("arm", bough.joints.Revolute("y"), mass=1.0, inertia=1.0, lower=0.0, upper=1.0)
    b.add("other", bough.joints.Revolute("y"), mass=1.0, inertia=1.0)
    b.equality("held", "arm", None, (-0.1,))
    found = bough.contact.velocities(b.build(), [0.0, 0.3], [0.0, 1.0])
    assert "lower limit of arm" in found.conflicts
    assert not found.undecided
    assert np.allclose(found.motion[1], 1.0)


# --- joint limits ---


@pytest.fixture
def pendulum() -> bough.Model:
    b = bough.Builder()
    b.add("arm", bough.joints.Revolute("y"), mass=2.0, com=(0.5, 0, 0), inertia=0.1, lower=-0.5, upper=1.0)
    return b.build()


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_limit_holds_an_arm(pendulum: bough.Model, solver: Any) -> None:
    """Gravity turns it about y towards the upper limit; only there it is held, and only against going on."""
    pull = 2.0 * GRAVITY * 0.5 * np.cos(1.0)
    held = bough.contact.dynamics(pendulum, [1.0], [0.0], [0.0], solver=solver)
    assert np.allclose(held.motion, 0.0, atol=1e-8)
    assert np.allclose(held.limit_forces, -pull, atol=1e-7)
    lifted = bough.contact.dynamics(pendulum, [1.0], [0.0], [-2 * pull], solver=solver)
    assert np.allclose(lifted.motion, bough.aba(pendulum, [1.0], [0.0], [-2 * pull]))
    assert np.array_equal(lifted.limit_forces, [0.0])
    for q in (0.3, -0.5):
        free = bough.contact.dynamics(pendulum, [q], [0.1], [0.0], solver=solver)
        assert np.allclose(free.motion, bough.aba(pendulum, [q], [0.1], [0.0]))
    through = bough.contact.dynamics(pendulum, [1.0], [0.0], [0.0], limits=False, solver=solver)
    assert np.allclose(through.motion, bough.aba(pendulum, [1.0], [0.0], [0.0]))


def test_an_arm_that_falls_stops_at_its_limit(pendulum: bough.Model) -> None:
    q, v = np.array([-0.4]), np.array([0.0])
    for _ in range(300):
        v = bough.contact.step(pendulum, q, v, [0.0], dt=5e-3).motion
        q = bough.integrate(pendulum, q, 5e-3 * v)
        assert q[0] <= 1.0 + 1e-12
    assert np.allclose(q, 1.0, atol=1e-12)
    assert np.allclose(v, 0.0, atol=1e-10)


def test_a_joint_does_not_jump_over_either_limit_in_a_step(pendulum: bough.Model) -> None:
    """Neither limit is near, and the speed is such that both would be passed."""
    q = np.linspace(-0.5, 1.0, 7)[:, None]
    for speed in (1e3, -1e3):
        found = bough.contact.step(pendulum, q, [speed], [0.0], dt=0.01)
        assert np.allclose(q + 0.01 * found.motion, 1.0 if speed > 0 else -0.5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_limit_that_only_a_contact_breaks_is_heeded(solver: Any) -> None:
    """The lift is thrown up by what strikes it from below, and its limit, which nothing else would reach, stops it."""
    b = bough.Builder(gravity=(0, 0, 0))
    b.add("lift", bough.joints.Prismatic("z"), mass=1.0, inertia=1.0, lower=-1.0, upper=0.01)
    b.add("fist", bough.joints.Prismatic("z"), mass=10.0, inertia=1.0)
    touch = bough.contact.Contacts([("lift", "fist")]).at([[0, 0, 0]], [[0, 0, 1]])
    found = bough.contact.step(b.build(), [0, 0], [0, 5.0], [0, 0], touch, dt=0.01, solver=solver)
    assert np.allclose(found.motion, [1.0, 1.0])
    assert np.allclose(found.contact_forces, [[40.0, 0.0, 0.0]])
    assert np.allclose(found.limit_forces, [-39.0, 0.0])
    assert found.conflicts == ()


# --- first order ---


def test_dragging_a_box_against_a_wall_and_along_it() -> None:
    scene = box(0.0, "pyramid")
    wall = bough.contact.Contacts([("box", None)]).at([[0.5, 0, 0]], [[-1, 0, 0]])
    into = np.array([4.0, 2.0, 0, 0, 0, 0])
    m = scene.model.mass
    smooth = bough.contact.velocities(scene.model, scene.q, into, wall)
    assert np.allclose(smooth.motion[:3], [0.0, 2.0 / m, 0.0])
    assert np.allclose(smooth.contact_forces, [[4.0, 0.0, 0.0]])
    rough = bough.contact.velocities(scene.model, scene.q, into, wall.replace(mu=1.0))
    assert np.allclose(rough.motion[:2], [0.0, -0.5 * rough.motion[5]])  # it turns about where it touches
    assert abs(rough.motion[5]) > 0.1
    away = bough.contact.velocities(scene.model, scene.q, -into, wall.replace(mu=1.0))
    assert np.allclose(away.motion, -into / m)


def test_penetration_decays_in_the_time_constant() -> None:
    scene = box(0.0, "pyramid")
    zero, sunk, within = np.zeros(6), scene.touch(gaps=-0.01), {"time_constant": 0.1}
    velocity = bough.contact.velocities(scene.model, scene.q, zero, sunk, **within)
    assert np.allclose(velocity.motion, [0, 0, 0.1, 0, 0, 0])
    step = bough.contact.step(*scene.at_rest, sunk, dt=1e-3, **within)
    assert np.allclose(step.motion, [0, 0, 0.1, 0, 0, 0])
    acceleration = bough.contact.dynamics(*scene.at_rest, sunk, **within)
    assert np.allclose(acceleration.motion, [0, 0, 1.0, 0, 0, 0])
    never = bough.contact.dynamics(*scene.at_rest, sunk, time_constant=np.inf)
    assert np.abs(never.motion).max() < 1e-12


# --- laws on random mechanisms ---


CONTRADICTORY = (2, 3)
"""Scenes in which contacts, limits and loops together ask for accelerations that cannot be."""


@pytest.mark.parametrize("seed", [*CONTRADICTORY, 1, 5, 8, 9, 11, 14, 25, 29])
def test_an_independent_dense_route_agrees(seed: int) -> None:
    """M by CRBA, J put together row by row, pivoting directly."""
    scene = random_scene(seed)
    model, q, v, tau = scene.model, scene.q, scene.v, scene.tau
    found = bough.contact.dynamics(
        model, q, v, tau, scene.touch(mu=scene.mu), f_ext=scene.f_ext, still=1e9, time_constant=0.02
    )
    k, rate = scene.contacts.count, 50.0  # faster than four times any joint turns: so errors of loops decay
    J = bough.contact.jacobian(model, q, scene.touch()).reshape(-1, model.nv)
    bias = bough.contact.bias(model, q, v, scene.touch()).ravel()
    limits, gaps = scene.limit_rows()
    L = bough.loops.jacobian(model, q)
    rows = np.concatenate([J, limits, L])
    errors = np.concatenate([np.zeros(3 * k), gaps, bough.loops.errors(model, q)])
    bias = np.concatenate([bias, np.zeros(len(gaps)), bough.loops.bias(model, q, v)])
    M, free = bough.crba(model, q), bough.aba(model, q, v, tau, scene.f_ext)
    conditions = bough.lcp.Conditions.contacts(k) + bough.lcp.Conditions.inequalities(len(gaps))
    conditions += bough.lcp.Conditions.equalities(len(L))
    mu = np.zeros(len(rows))
    mu[: 3 * k : 3] = scene.mu
    b = rows @ free + bias + 2 * rate * (rows @ v) + rate**2 * errors
    dense = bough.lcp.pivoting(rows @ np.linalg.solve(M, rows.T), b, conditions, mu)
    assert dense.solved == (found.conflicts == ()) == (seed not in CONTRADICTORY)
    if seed in CONTRADICTORY:
        return
    expected = free + np.linalg.solve(M, rows.T @ dense.f)
    size = 1 + np.abs(expected).max() + np.abs(free).max()
    assert np.abs(found.motion - expected).max() < 1e-8 * size
    assert found.residual < 1e-10 * (1 + np.abs(b).max())
    # and the forces say why it moves so
    total = tau + J.T @ found.contact_forces.ravel() + found.limit_forces + L.T @ found.loop_forces
    assert np.allclose(bough.rnea(model, q, v, found.motion, scene.f_ext), total, atol=1e-9 * (1 + np.abs(total).max()))


@pytest.mark.parametrize("seed", [1, 9, 12, 14, 29])
def test_what_slides_is_held_back_by_a_known_force(seed: int) -> None:
    """As `pivoting` finds it by itself, told which rows slide; and friction takes power away."""
    scene = random_scene(seed, limits=False)
    model, q, tau = scene.model, scene.q, scene.tau
    J = bough.contact.jacobian(model, q, scene.touch())
    v = scene.v - np.linalg.pinv(J[:, 0]) @ (J[:, 0] @ scene.v)  # neither apart nor together
    v = bough.loops.consistent_velocity(model, q, v) if model.constraints else v
    slip, mu = (J @ v) * [0, 1, 1], 0.2
    touch = (J[:, 0] @ v <= 1e-3) & (np.abs(slip).max(axis=1) > 2e-3)
    gaps = np.where(touch, 0.0, np.inf)
    found = bough.contact.dynamics(model, q, v, tau, scene.touch(mu=mu, gaps=gaps), time_constant=np.inf)
    slip = np.where(np.abs(slip) > 1e-3, slip, 0.0)[touch].ravel()
    L = bough.loops.jacobian(model, q)
    rows = np.concatenate([J[touch].reshape(-1, model.nv), L])
    bias = bough.contact.bias(model, q, v, scene.touch())[touch].ravel()
    bias = np.append(bias, bough.loops.bias(model, q, v))
    conditions = bough.lcp.Conditions.contacts(int(touch.sum())) + bough.lcp.Conditions.equalities(len(L))
    M, free = bough.crba(model, q), bough.aba(model, q, v, tau)
    A = rows @ np.linalg.solve(M, rows.T)
    dense = bough.lcp.pivoting(A, rows @ free + bias, conditions, mu, slip=np.append(slip, np.zeros(len(L))))
    assert dense.solved
    assert found.conflicts == ()
    assert np.allclose(found.motion, free + np.linalg.solve(M, rows.T @ dense.f), atol=1e-8 * (1 + np.abs(free).max()))
    assert (found.contact_forces[:, 1:] * (J[:, 1:] @ v) <= 1e-9).all()
    assert touch.any()


@pytest.mark.parametrize("seed", range(6))
def test_impacts_do_not_create_energy(seed: int) -> None:
    scene = random_scene(seed, limits=False)
    model, q = scene.model, scene.q
    v = bough.loops.consistent_velocity(model, q, scene.v) if model.constraints else scene.v
    before = bough.kinetic_energy(model, q, v)
    J = bough.contact.jacobian(model, q, scene.touch())
    for mu, e in ((0.0, 0.0), (0.0, 0.4), (0.0, 1.0), (scene.mu, 0.0)):
        found = bough.contact.impulses(model, q, v, scene.touch(mu=mu, restitution=e))
        after = found.motion
        assert found.conflicts == ()
        assert found.residual < 1e-10 * (1 + np.abs(v).max())
        assert bough.kinetic_energy(model, q, after) <= before * (1 + 1e-10)
        assert (J[:, 0] @ after >= -1e-9).all()
        mean = J @ (after + v) / 2
        assert (found.contact_forces[:, 1:] * (J[:, 1:] @ after) <= 1e-9).all()  # friction is against what slides
        work = (
            np.sum(found.contact_forces * mean) + found.loop_forces @ bough.loops.jacobian(model, q) @ (after + v) / 2
        )
        assert np.isclose(work, bough.kinetic_energy(model, q, after) - before, atol=1e-9 * (1 + before))


@pytest.mark.parametrize("seed", range(5))
def test_steps_keep_what_must_not_be_passed(seed: int) -> None:
    scene = random_scene(seed)
    model, q, v, dt = scene.model, scene.q, scene.v, 0.02
    gaps = np.abs(np.random.default_rng(seed).normal(size=scene.contacts.count)) * 0.02
    found = bough.contact.step(model, q, v, scene.tau, scene.touch(mu=scene.mu, gaps=gaps), dt=dt)
    J = bough.contact.jacobian(model, q, scene.touch())
    room = gaps + dt * (J[:, 0] @ found.motion)
    assert (room >= -1e-10).all()
    assert (np.abs(found.contact_forces[:, 0] * room) < 1e-8 * (1 + np.abs(found.contact_forces).max())).all()
    rows, far = scene.limit_rows(touching=np.inf)
    passed = np.minimum(far, 0.0) * (1 - dt / 0.05)  # what was passed already comes back in the time constant
    assert (far + dt * (rows @ found.motion) >= passed - 1e-10).all()
    assert np.allclose(bough.loops.jacobian(model, q) @ found.motion, 0.0, atol=1e-9 * (1 + np.abs(v).max()))


@pytest.mark.parametrize("seed", range(4))
def test_motion_of_first_order_is_the_nearest_that_is_allowed(seed: int) -> None:
    """Without friction M v = τ + Jᵀ f is the projection of M⁻¹ τ: it dissipates, and repeated it stays."""
    scene = random_scene(seed)
    model, q, tau = scene.model, scene.q, scene.tau
    found = bough.contact.velocities(model, q, tau, scene.touch(), time_constant=np.inf)
    M = bough.crba(model, q)
    assert found.motion @ M @ found.motion <= tau @ np.linalg.solve(M, tau) * (1 + 1e-12)
    again = bough.contact.velocities(model, q, M @ found.motion, scene.touch(), time_constant=np.inf)
    assert np.allclose(again.motion, found.motion, atol=1e-9)


# --- loops ---


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "slider-crank", "Stewart platform"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_loops_alone_give_forward_dynamics(name: str, solver: Any) -> None:
    model, q, v = closed(name)
    tau = np.random.default_rng(0).normal(size=model.nv)
    found = bough.contact.dynamics(model, q, v, tau, solver=solver, **FINE)
    expected = bough.forward_dynamics(model, q, v, tau)
    size = 1 + np.abs(expected).max()
    assert np.abs(found.motion - expected).max() < (1e-8 if solver == "pivoting" else 1e-5) * size
    if solver == "pivoting":
        L = bough.loops.jacobian(model, q)
        forces = bough.forward_dynamics(model, q, v, tau, full=True).loop_forces
        assert np.allclose(L.T @ found.loop_forces, L.T @ forces, atol=1e-7 * size)


@pytest.mark.parametrize("speed", [0.0, 0.7])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_joint_that_closes_a_loop_stops_at_its_limit_like_any_other(speed: float, sign: float) -> None:
    """The same linkage on two spanning trees: what is a joint of the tree in the one closes the loop in the other."""
    plain, q, _ = closed("four-bar")
    rocker = plain.joint_names.index("rocker")
    at = float(q[rocker])
    side, far = ("lower", "upper") if sign > 0 else ("upper", "lower")
    limited = replace(plain.joints[rocker], **{side: (at,), far: (at + 2 * sign,)})
    tree = replace(plain, joints=tuple(limited if k == rocker else e for k, e in enumerate(plain.joints)))
    other = tree.respanned("rocker")

    def carried(values: Any, pin: float) -> Any:
        return np.array([pin if name == "pin" else values[tree.v_slice(name)][0] for name in other.joint_names])

    there = carried(q, bough.loops.coordinates(tree, q)[0])
    assert np.abs(bough.loops.errors(other, there)).max() < 1e-9
    push = bough.loops.consistent_velocity(tree, q, [1.0, 0, 0])
    push *= -sign * np.sign(push[rocker])  # towards the limit
    v, tau = speed * push, np.array([30.0 * push[0], 0, 0])
    w = carried(v, (bough.loops.coordinate_jacobian(tree, q) @ v)[0])
    smooth = {"still": 10.0, "time_constant": 0.1}
    one = bough.contact.dynamics(tree, q, v, tau, **smooth)
    two = bough.contact.dynamics(other, there, w, carried(tau, 0.0), **smooth)
    assert one.limit_forces[rocker] * sign > 1.0
    assert np.allclose(two.loop_limit_forces, one.limit_forces[rocker], rtol=1e-8)
    assert np.allclose(two.motion[other.v_slice("crank")], one.motion[0], atol=1e-8)
    if not speed:
        assert np.abs(one.motion).max() < 1e-8
    for solver in SOLVERS:
        step = [
            bough.contact.step(*x, dt=0.01, solver=solver)
            for x in ((tree, q, v, tau), (other, there, w, carried(tau, 0)))
        ]
        assert np.allclose([x.motion for x in step], 0.0, atol=1e-6)


def test_a_linkage_pushes_against_a_wall() -> None:
    """The force of a four-bar's rocker on a wall, from the virtual work of the torque on its crank."""
    model, q, _ = closed("four-bar")
    model = replace(model, gravity=(0.0, 0.0, 0.0))
    tip = bough.placements(model, q, "rocker") @ [0.5, 0, 0, 1]
    across = np.cross(tip[:3] - [0.7, 0, 0], [0, 1, 0])
    across /= np.linalg.norm(across)
    lever = bough.loops.consistent_velocity(model, q, [1.0, 0, 0])
    J = bough.contact.jacobian(model, q, bough.contact.Contacts([("rocker", None)]).at([tip[:3]], [across]))
    normal = -np.sign(J[0, 0] @ lever) * across
    touch = bough.contact.Contacts([("rocker", None)], None).at([tip[:3]], [normal])
    found = bough.contact.dynamics(model, q, np.zeros(3), [5.0, 0, 0], touch)
    assert np.abs(found.motion).max() < 1e-9
    assert np.allclose(found.contact_forces[0, 0], 5.0 * lever[0] / abs(J[0, 0] @ lever))


# --- batches, starts, back-ends ---


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_batch_is_its_states_one_by_one(solver: Any) -> None:
    scene = random_scene(1, batch=(3, 2))
    model, contacts = scene.model, scene.contacts
    gaps = np.random.default_rng(0).choice([0.0, -1e-3, 1.0, np.inf], size=(2, contacts.count))
    mu = np.array([[[0.2]], [[0.8]], [[0.0]]]) * np.ones(contacts.count)
    whole = bough.contact.dynamics(model, scene.q, scene.v, scene.tau, scene.touch(mu=mu, gaps=gaps), solver=solver)
    assert whole.motion.shape == (3, 2, model.nv)
    assert whole.contact_forces.shape == (3, 2, contacts.count, 3)
    assert whole.residual.shape == (3, 2)
    for i in np.ndindex(3, 2):
        touch = contacts.at(scene.points[i], scene.normals[i], mu=mu[i[0], 0], gaps=gaps[i[1]])
        one = bough.contact.dynamics(model, scene.q[i], scene.v[i], scene.tau[i], touch, solver=solver)
        assert np.array_equal(whole.motion[i], one.motion)
        assert np.array_equal(whole.contact_forces[i], one.contact_forces)


def test_what_does_not_bounce_is_the_same_beside_what_does() -> None:
    scene, v = box(0.1, "pyramid"), np.array([0.1, 0.0, -1.0, 0.2, 0.0, 0.0])
    e = np.array([[0.0] * 4, [0.5] * 4])
    both = bough.contact.impulses(scene.model, scene.q, v, scene.touch(mu=0.3, restitution=e))
    for k in range(2):
        one = bough.contact.impulses(scene.model, scene.q, v, scene.touch(mu=0.3, restitution=e[k]))
        assert np.array_equal(both.motion[k], one.motion)
        assert np.array_equal(both.contact_forces[k], one.contact_forces)


@pytest.mark.parametrize("solver", SOLVERS)
def test_no_states_and_no_contacts(solver: Any, pendulum: bough.Model) -> None:
    scene = box(0.0, "pyramid")
    none = np.zeros((0, 7)), np.zeros((0, 6)), np.zeros((0, 6))
    found = bough.contact.dynamics(scene.model, *none, scene.touch(mu=0.5), solver=solver)
    assert found.contact_forces.shape == (0, 4, 3)
    assert found.motion.shape == (0, 6)
    assert found.conflicts == ()
    assert bough.contact.step(pendulum, np.zeros((0, 1)), [0.0], [0.0], dt=0.1, solver=solver).motion.shape == (0, 1)
    free = bough.contact.dynamics(
        scene.model, scene.q, *np.zeros((2, 6)), bough.contact.Contacts([]).at(*np.zeros((2, 0, 3)))
    )
    assert np.allclose(free.motion, [0, 0, -GRAVITY, 0, 0, 0])
    assert free.residual == 0.0


def test_gauss_seidel_starts_where_it_was() -> None:
    scene, tau = standing("quadruped")
    zero, hurry = np.zeros(scene.model.nv), {"solver": "gauss_seidel", "iterations": 3}
    arguments = (scene.model, scene.q, zero, tau, scene.touch(mu=0.8))
    good = bough.contact.dynamics(*arguments, solver="gauss_seidel", **FINE)
    cold = bough.contact.dynamics(*arguments, **hurry)
    warm = bough.contact.dynamics(*arguments, **hurry, start=good)
    assert warm.residual < 1e-3 * cold.residual
    assert warm.conflicts == ()
    assert cold.conflicts != ()
    assert cold.undecided
    assert not warm.undecided


def test_machine_code_gives_the_same() -> None:
    scene = random_scene(2, batch=(5,))
    arguments = (scene.model, scene.q, scene.v, scene.tau, scene.touch(mu=0.5))
    results = []
    for backend in ("reference", "llvm"):
        bough.set_backend(backend)
        try:
            results.append([bough.contact.dynamics(*arguments, solver=solver) for solver in SOLVERS])
        finally:
            bough.set_backend(None)
    for one, other in zip(*results, strict=True):
        assert np.allclose(one.motion, other.motion, rtol=0, atol=1e-7 * (1 + np.abs(one.motion).max()))


# --- what is refused ---


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (
            {"mu": -0.1},
            bough.errors.ShapeError,
            r"mu is -0.1, expected finite coefficients of friction that are not negative",
        ),
        ({"mu": np.nan}, bough.errors.FiniteError, r"mu is nan"),
        ({"mu": [0.1] * 3}, bough.errors.ShapeError, r"mu has shape \(3,\), expected \(\.\.\., 4\)"),
        ({"gaps": np.nan}, bough.errors.FiniteError, r"gaps is nan"),
        ({"gaps": [0, 0, -np.inf, 0]}, bough.errors.FiniteError, r"gaps\[2\] is -inf"),
        ({"time_constant": 0.0}, bough.errors.ModelError, "time constant"),
        ({"still": -1.0}, bough.errors.ModelError, "still is -1.0, expected a positive number"),
        ({"solver": "gauss_sidel"}, bough.errors.UnknownNameError, "did you mean 'gauss_seidel'"),
        ({"start": 3}, bough.errors.ShapeError, "start is an int"),
        ({"mu": np.zeros((3, 4)), "gaps": np.zeros((2, 4))}, bough.errors.ShapeError, "do not broadcast"),
    ],
)
def test_wrong_arguments_are_named(given: Any, error: Any, message: str) -> None:
    scene = box(0.0, "pyramid")
    how = {name: value for name, value in given.items() if name in ("mu", "gaps")}
    others = {name: value for name, value in given.items() if name not in how}
    with pytest.raises(error, match=message):
        bough.contact.dynamics(*scene.at_rest, scene.touch(**how), **others)


def test_other_wrong_arguments() -> None:
    scene = box(0.0, "cone")
    with pytest.raises(bough.errors.ShapeError, match=r"restitution is 1.5, expected numbers from 0 to 1"):
        bough.contact.impulses(scene.model, scene.q, np.zeros(6), scene.touch(restitution=1.5))
    with pytest.raises(bough.errors.ModelError, match="dt is 0, expected a positive number"):
        bough.contact.step(*scene.at_rest, scene.touch(), dt=0)
    with pytest.raises(bough.errors.ShapeError, match=r"points is None, expected an array \(\.\.\., 4, 3\)"):
        bough.contact.dynamics(*scene.at_rest, scene.contacts.at(None, scene.normals))  # type: ignore[arg-type]
    for wrong, message in (({"tolerance": -1.0}, "tolerance is -1.0"), ({"iterations": -1}, "iterations is -1")):
        with pytest.raises(bough.errors.ShapeError, match=message):
            bough.contact.dynamics(*scene.at_rest, scene.touch(), solver="gauss_seidel", **wrong)
    with pytest.raises(bough.errors.ModelError, match=r"the model is an int, expected a bough\.Model"):
        bough.contact.dynamics(3, scene.q, np.zeros(6), np.zeros(6), scene.touch())  # type: ignore[arg-type]
    with pytest.raises(bough.errors.ShapeError, match="mu has data type bool"):
        bough.contact.step(*scene.at_rest, scene.touch(mu=True), dt=0.1)
    with pytest.raises(bough.errors.ShapeError, match=r"do not broadcast: v \(3, 1\), gaps \(2, 2\)"):
        bough.contact.impulses(scene.model, scene.q, np.zeros((3, 1, 6)), scene.touch(gaps=np.zeros((2, 2, 4))))
    with pytest.raises(bough.errors.FiniteError, match=r"v\[3\] is nan"):
        bough.contact.dynamics(scene.model, scene.q, [0, 0, 0, np.nan, 0, 0], np.zeros(6), scene.touch())


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"mu": -1}, bough.errors.ShapeError, "mu is -1.0, expected finite coefficients"),
        ({"mu": [0.1, np.nan]}, bough.errors.FiniteError, r"mu\[1\] is nan"),
        ({"mu": np.zeros(3)}, bough.errors.ShapeError, r"mu has shape \(3,\), expected \(\.\.\., 2\)"),
        ({"gaps": [0.0, 1.0, 2.0]}, bough.errors.ShapeError, r"gaps has shape \(3,\)"),
        ({"restitution": 2}, bough.errors.ShapeError, "restitution is 2.0, expected numbers from 0 to 1"),
    ],
)
def test_numbers_that_contacts_cannot_have_are_refused_at_once(given: Any, error: Any, message: str) -> None:
    """Whether or not a function uses them later."""
    contacts, points = bough.contact.Contacts([("a", None), ("b", None)]), np.zeros((2, 3))
    with pytest.raises(error, match=message):
        contacts.at(points, [0.0, 0.0, 1.0], **given)
    touch = contacts.at(points, [0.0, 0.0, 1.0], mu=[0.1, 3.0], gaps=[0.0, np.inf], restitution=np.array([0.5]))
    with pytest.raises(error, match=message):
        touch.replace(**given)


def test_one_normal_serves_all_contacts() -> None:
    scene, up = box(0.0, "pyramid"), [0.0, 0.0, 1.0]
    wanted = bough.contact.dynamics(*scene.at_rest, scene.contacts.at(scene.points, [up] * 4)).contact_forces
    for normals in (up, np.array(up), [up], np.array([[up]])):
        touch = scene.contacts.at(scene.points, normals)
        found = bough.contact.dynamics(*scene.at_rest, touch).contact_forces
        np.testing.assert_array_equal(found.reshape(wanted.shape), wanted)
        assert bough.contact.jacobian(scene.model, scene.q, touch).shape[-3:] == (4, 3, 6)
    with pytest.raises(bough.errors.ShapeError, match=r"normals has shape \(2, 3\), expected \(\.\.\., 4, 3\)"):
        bough.contact.dynamics(*scene.at_rest, scene.contacts.at(scene.points, [up, up]))


def test_one_number_of_each_state_serves_all_contacts() -> None:
    scene = box(0.3, "pyramid")
    mu = np.array([[0.1], [0.2], [0.5]])
    found = bough.contact.dynamics(*scene.at_rest, scene.touch(mu=mu))
    for k, one in enumerate(mu[:, 0]):
        alone = bough.contact.dynamics(*scene.at_rest, scene.touch(mu=float(one)))
        np.testing.assert_array_equal(found.motion[k], alone.motion)


@pytest.mark.parametrize("normals", [[], [0.0, 0.0, 1.0]])
def test_no_contacts_may_be_empty_lists(normals: list[float]) -> None:
    b = bough.Builder("ball")
    b.add("ball", bough.joints.Free(), mass=1.0, inertia=0.1)
    model = b.build()
    found = bough.contact.dynamics(
        model, bough.neutral(model), np.zeros(6), np.zeros(6), bough.contact.Contacts([]).at([], normals)
    )
    np.testing.assert_allclose(found.motion, [0.0, 0.0, -9.81, 0.0, 0.0, 0.0])
    assert found.contact_forces.shape == (0, 3)
