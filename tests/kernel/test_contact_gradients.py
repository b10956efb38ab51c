"""Derivatives of motion with contacts and limits, asked for by tensors of PyTorch and arrays of JAX."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bough

torch = pytest.importorskip("torch")

pytestmark = [pytest.mark.filterwarnings("ignore::DeprecationWarning:torch"), pytest.mark.usefixtures("compiled")]


@pytest.fixture
def crate() -> bough.Model:
    b = bough.Builder()
    b.add("crate", bough.joints.Translational(), mass=2.0)
    return b.build()


@pytest.fixture
def touch() -> bough.contact.Touch:
    return bough.contact.Contacts([("crate", None)]).at([[0, 0, 0]], [[0, 0, 1]], mu=0.3)


def test_a_sliding_crate_has_the_derivatives_of_coulombs_law(crate: bough.Model, touch: Any) -> None:
    """Along the ground m a = τ_x - μ (m g - τ_z); on it nothing moves up, and not sideways."""
    expected = [[0.5, 0.0, 0.15], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    push = torch.tensor([9.0, 0.0, 0.0], dtype=torch.float64, requires_grad=True)

    def motion(tau: Any) -> Any:
        return bough.contact.dynamics(crate, np.zeros(3), np.zeros(3), tau, touch).motion

    found = torch.stack([torch.autograd.grad(motion(push)[k], push)[0] for k in range(3)])
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(torch.func.jacfwd(motion)(push.detach()), expected, atol=1e-12)
    np.testing.assert_allclose(torch.func.vmap(motion)(push.detach()[None])[0], motion(push).detach(), atol=1e-14)


def test_contact_is_differentiated_within_jit(crate: bough.Model, touch: Any) -> None:
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        push = jax.numpy.array([9.0, 0.0, 0.0])

        def dynamics(tau: Any) -> bough.Motion:
            return bough.contact.dynamics(crate, np.zeros(3), np.zeros(3), tau, touch)

        expected = [[0.5, 0.0, 0.15], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
        for jacobian in (jax.jacrev, jax.jacfwd):
            found = jax.jit(jacobian(lambda tau: dynamics(tau).motion))(push)
            np.testing.assert_allclose(found, expected, atol=1e-12)
        whole = jax.jit(dynamics)(push)
        assert whole.conflicts == ()
        np.testing.assert_allclose(whole.contact_forces, dynamics(np.asarray(push)).contact_forces, atol=1e-12)
    finally:
        jax.config.update("jax_enable_x64", before)


def test_limits_are_differentiated_by_what_they_hold() -> None:
    arm = bough.robots.load("arm")
    q, v = np.zeros(6), np.zeros(6)
    q[2] = arm.limits("upper")[2]
    tau = torch.tensor([0.0, 0.0, 50.0, 0.0, 1.0, 0.0], dtype=torch.float64, requires_grad=True)
    rates = [
        torch.autograd.grad(bough.forward_dynamics(arm, q, v, tau, limits=True)[k], tau)[0].numpy() for k in range(6)
    ]
    free = np.delete(np.arange(6), 2)
    M = bough.crba(arm, q)[np.ix_(free, free)]  # the third joint is held: it is as if it were not there
    expected = np.zeros((6, 6))
    expected[np.ix_(free, free)] = np.linalg.inv(M)
    np.testing.assert_allclose(rates, expected, atol=1e-9)


def test_the_whole_motion_with_loops_is_of_tensors() -> None:
    b = bough.Builder("belt")
    b.add("a", bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
    b.add("b", bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
    b.equality("belt", "b", "a", (0.0, 1.0))
    wheels = b.build()
    zero, tau = torch.zeros(2, dtype=torch.float64), torch.tensor([2.0, 0.0], dtype=torch.float64, requires_grad=True)
    found = bough.forward_dynamics(wheels, zero, zero, tau, full=True)
    parts = [part for name, part in found._asdict().items() if name != "conflicts"]
    assert all(isinstance(part, torch.Tensor) for part in parts)
    assert found.conflicts == ()
    np.testing.assert_allclose(torch.autograd.grad(found.loop_forces[0], tau)[0], [0.5, -0.5], atol=1e-12)
    apart = bough.forward_dynamics(bough.robots.load("arm"), *(torch.zeros(6),) * 3, full=True)
    assert apart.contact_forces.shape == (0, 3)
    assert apart.residual.dtype == torch.float32


def test_what_takes_numbers_alone_says_so() -> None:
    A, b = torch.eye(2, dtype=torch.float64), np.array([-1.0, 1.0])
    limits = bough.lcp.Conditions.inequalities(2)
    with pytest.raises(bough.errors.ShapeError, match=r"lcp\.pivoting takes .* A is a tensor of PyTorch"):
        bough.lcp.pivoting(A, b, limits)
    with pytest.raises(bough.errors.ShapeError, match=r"lcp\.gauss_seidel takes .* start is a tensor of PyTorch"):
        bough.lcp.gauss_seidel(np.eye(2), b, limits, start=torch.zeros(2))
    with pytest.raises(bough.errors.ShapeError, match=r"lcp\.residual takes .* f is a tensor of PyTorch"):
        bough.lcp.residual(np.eye(2), b, torch.zeros(2), limits)
    sim = bough.Simulation(bough.robots.load("arm"))
    with pytest.raises(bough.errors.ShapeError, match=r"Simulation\.sensors takes .* v is a tensor of PyTorch"):
        sim.sensors(np.zeros(6), torch.zeros(6))
    with pytest.raises(bough.errors.ShapeError, match=r"Simulation\.sensors takes .* tau is a tensor of PyTorch"):
        sim.sensors(np.zeros(6), np.zeros(6), tau=torch.zeros(6))


@pytest.mark.parametrize("shape", [(3,), (1, 3)])
@pytest.mark.parametrize("library", ["torch", "jax.numpy"])
def test_one_normal_of_any_library_is_that_of_all_contacts(library: str, shape: tuple[int, ...]) -> None:
    xp = pytest.importorskip(library)
    b = bough.Builder()
    b.add("crate", bough.joints.Prismatic("z"), mass=2.0)
    model, contacts = b.build(), bough.contact.Contacts([("crate", None)] * 2)
    points, up = np.zeros((2, 3)), np.reshape([0.0, 0.0, 1.0], shape)
    J = bough.contact.jacobian(model, [0.0], contacts.at(points, xp.asarray(up)))
    np.testing.assert_array_equal(np.asarray(J), bough.contact.jacobian(model, [0.0], contacts.at(points, up)))


def test_a_contact_that_jams_is_named() -> None:
    """Painlevé: no forces meet the law, so there is nothing to differentiate."""
    b = bough.Builder()
    b.add("rod", bough.joints.Planar("y"), mass=1.0, inertia=1 / 3)
    model, arm = b.build(), np.array([-np.cos(1.2), 0.0, -np.sin(1.2)])
    touch = bough.contact.Contacts([("rod", None)]).at([arm], [[0, 0, 1]], mu=3.0)
    slides = np.linalg.lstsq(bough.contact.jacobian(model, np.zeros(3), touch)[0], [0.0, 1.0, 0.0], rcond=None)[0]
    tau = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(bough.contact.dynamics(model, np.zeros(3), slides, tau, touch).motion.sum(), tau)
    assert bool(gradient.isfinite().all())
    told = r"vjp of contact\.dynamics{}: no forces meet the law of contact 0 \(a sliding contact that jams"
    for v, where in ((-slides, ""), (np.array([slides, -slides]), r" in state \[1\]")):
        motion = bough.contact.dynamics(model, np.zeros(3), v, tau, touch).motion
        with pytest.raises(bough.errors.SingularError, match=told.format(where)):
            motion.sum().backward()
