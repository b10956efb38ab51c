"""A state that stops in a step is a constant from then on; it leaves the derivatives of all others as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bough

GOOD = [0, 1, 3]
NAN, FAST, FASTER = float("nan"), 1e10, 1e100


@pytest.fixture(scope="module", params=["euler", "rk4"])
def sim(request: pytest.FixtureRequest) -> bough.Simulation:
    """Two links on a ball joint, with damping."""
    b = bough.Builder()
    b.add("upper", bough.joints.Spherical(), mass=1.0, com=(0, 0, -0.3), inertia=0.02)
    b.add(
        "lower",
        bough.joints.Revolute("y"),
        "upper",
        at=(0, 0, -0.6),
        mass=0.7,
        com=(0, 0, -0.25),
        inertia=0.02,
        damping=0.05,
    )
    return bough.Simulation(b.build(), dt=0.01, integrator=request.param)


def batch(sim: bough.Simulation, speed: float) -> tuple[Any, Any]:
    """Four states, of which the third is as fast."""
    rng = np.random.default_rng(3)
    q, v = bough.random(sim.model, rng, (4,)), rng.normal(size=(4, 4))
    v[2, 3] = speed
    return q, v


@pytest.mark.parametrize(("speed", "status"), [(FASTER, 1), (FAST, 2)])
def test_steps_leave_out_a_state_that_stops(sim: bough.Simulation, speed: float, status: int) -> None:
    q, v = batch(sim, speed)
    assert sim.step(q, v).status.tolist() == [0, 0, status if sim.integrator == "euler" else 1, 0]
    by, alone = sim.jacobian(q, v), sim.jacobian(q[GOOD], v[GOOD])
    for name, found in by.items():
        np.testing.assert_array_equal(found[GOOD], alone[name])
        assert not found[2].any()
    ones = np.ones((4, 4))
    for found, expected in zip(
        (*sim.jvp(q, v, {"q": ones, "v": ones}), *sim.vjp(q, v, ones, ones).values()),
        (
            *sim.jvp(q[GOOD], v[GOOD], {"q": ones[1:], "v": ones[1:]}),
            *sim.vjp(q[GOOD], v[GOOD], ones[1:], ones[1:]).values(),
        ),
        strict=True,
    ):
        np.testing.assert_array_equal(found[GOOD], expected)
        assert not found[2].any()


@pytest.mark.parametrize("speed", [FASTER, FAST])
def test_runs_leave_out_a_state_that_stops(sim: bough.Simulation, speed: float) -> None:
    q, v = batch(sim, speed)
    run, alone = (sim.rollout(q[k], v[k], steps=3, hold=2) for k in (slice(None), GOOD))
    assert (run.status > 0).tolist() == [False, False, True, False]
    found, expected = (x.gradient(np.ones(x.v.shape), 2.0 * x.v) for x in (run, alone))
    for name in "qv":
        np.testing.assert_array_equal(found[name][GOOD], expected[name])
    np.testing.assert_array_equal(found["q"][2], 1.0)  # of the first sample alone
    np.testing.assert_array_equal(found["v"][2], 2.0 * v[2])


def test_a_run_counts_until_a_state_stops(sim: bough.Simulation) -> None:
    q, v = batch(sim, 0.5)
    tau = np.zeros((4, 4, 4))
    tau[2, 2, 3] = NAN  # in the third of four samples
    run = sim.rollout(q, v, tau=tau)
    assert run.status.tolist() == [0, 0, 1, 0]
    by, part = run.gradient(np.ones(run.v.shape), run.v), sim.rollout(q[2], v[2], tau=tau[:2, 2])
    expected = part.gradient(np.ones(part.v.shape), part.v)
    np.testing.assert_allclose(by["v"][2], expected["v"], rtol=1e-13)
    np.testing.assert_allclose(by["tau"][:2, 2], expected["tau"], rtol=1e-13)
    assert not by["tau"][2:, 2].any()


def test_tensors_leave_out_a_state_that_stops(sim: bough.Simulation) -> None:
    torch = pytest.importorskip("torch")
    for speed, force, status in ((FASTER, 0.0, 1), (FAST, 0.0, 2), (1.0, NAN, 1)):
        q, v = batch(sim, speed)
        start, tau = torch.tensor(v, requires_grad=True), torch.zeros(4, 4, dtype=torch.float64)
        tau[2, 1] = force
        tau.requires_grad_()
        after = sim.step(torch.tensor(q), start, tau=tau, steps=3)
        assert after.status.tolist() == [0, 0, status if sim.integrator == "euler" else 1, 0]
        assert after.taken.tolist() == [3, 3, 0, 3]
        after.v.sum().backward()
        alone = sim.rollout(q[GOOD], v[GOOD], steps=3)
        weights = np.zeros(alone.v.shape)
        weights[-1] = 1.0
        np.testing.assert_allclose(start.grad[GOOD], alone.gradient(0.0 * weights, weights)["v"], rtol=1e-12)
        assert not start.grad[2].any()
        assert bool(tau.grad.isfinite().all())
        assert not tau.grad[2].any()


def test_jax_leaves_out_a_state_that_stops(sim: bough.Simulation) -> None:
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        q, v = batch(sim, FASTER)

        def cost(v: Any) -> Any:
            after = sim.step(q, v, steps=3)
            return after.v.sum(), after

        gradient, after = jax.grad(cost, has_aux=True)(v)
        assert after.status.tolist() == [0, 0, 1, 0]
        assert after.taken.tolist() == [3, 3, 0, 3]
        alone = jax.grad(lambda v: sim.step(q[np.array(GOOD)], v, steps=3).v.sum())(v[GOOD])
        np.testing.assert_allclose(np.asarray(gradient)[GOOD], alone, rtol=1e-13)
        assert not np.asarray(gradient)[2].any()


def test_results_that_are_not_finite_are_told_by_their_state() -> None:
    model = bough.trees.topologies.chain(2)
    speeds = np.ones((3, 2))
    speeds[1] = 1e200
    with pytest.raises(
        bough.errors.FiniteError, match=r"^rnea: the result is not finite in state \[1\]; the arguments"
    ):
        bough.rnea(model, np.ones((3, 2)), speeds, np.ones((3, 2)))
