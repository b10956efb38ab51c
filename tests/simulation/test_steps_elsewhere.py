"""Steps of a simulation within PyTorch and JAX: gradients by all that acts, transformations, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bough

jax = pytest.importorskip("jax")
try:
    import torch
except ImportError:
    torch = None
needs_torch = pytest.mark.skipif(torch is None, reason="PyTorch is not installed")

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:torch"),
    pytest.mark.filterwarnings("ignore::FutureWarning:torch"),
    pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor"),  # which its own compiler looks at
    pytest.mark.usefixtures("compiled"),
]

MASS, DAMPING = "mass of rod", "damping of pivot"


@pytest.fixture
def sim() -> bough.Simulation:
    """A pendulum whose mass and damping come with each state."""
    return bough.Simulation(bough.robots.load("pendulum"), dt=0.01, parameters=[DAMPING, MASS])


def tensor(x: Any, follow: bool = True) -> Any:
    return torch.tensor(x, dtype=torch.float64, requires_grad=follow)


def slopes(sim: bough.Simulation, values: dict[str, Any]) -> dict[str, Any]:
    """Of the last angle of a run of five steps, by parameters."""
    run = sim.rollout([0.5], steps=5, parameters=values)
    weights = np.zeros((6, 1))
    weights[-1] = 1.0
    return run.gradient(weights, np.zeros((6, 1)), wrt=[DAMPING, MASS])


@needs_torch
def test_tensors_have_gradients_by_parameters(sim: bough.Simulation) -> None:
    mass, damping = tensor(1.5), tensor([0.3])
    end = sim.step([0.5], [0.0], steps=5, parameters={MASS: mass, DAMPING: damping})
    end.q.sum().backward()
    expected = slopes(sim, {MASS: 1.5, DAMPING: [0.3]})
    np.testing.assert_allclose(mass.grad, expected[MASS], rtol=1e-12)
    np.testing.assert_allclose(damping.grad, expected[DAMPING], rtol=1e-12)
    every = tensor([0.3, 1.5])
    sim.step(tensor([0.5], False), [0.0], steps=5, parameters=every).q.sum().backward()
    np.testing.assert_allclose(every.grad, [expected[DAMPING][0], expected[MASS]], rtol=1e-12)
    both = torch.func.jacfwd(lambda x: sim.step([0.5], [0.0], steps=5, parameters={MASS: x}).q)(tensor(1.5, False))
    np.testing.assert_allclose(both, [slopes(sim, {MASS: 1.5})[MASS]], rtol=1e-12)
    with pytest.raises(bough.errors.ModelError, match=r"mass of rod is -1, expected a number that is not negative"):
        sim.step([0.5], [0.0], parameters={MASS: tensor(-1.0)})
    with pytest.raises(bough.errors.UnknownNameError, match="parameter of this simulation"):
        sim.step([0.5], [0.0], parameters={"mass of road": mass})


@needs_torch
@pytest.mark.parametrize("shape", [(), (1,), (2, 1)])
def test_gains_that_are_negative_are_refused_wherever_they_lie(sim: bough.Simulation, shape: tuple[int, ...]) -> None:
    zero, told = np.zeros(1), "is -3 somewhere, expected gains that are not negative"
    for name, other in (("kp", "kd"), ("kd", "kp")):
        for kind in (tensor, jax.numpy.asarray):
            with pytest.raises(bough.errors.ShapeError, match=f"{name} {told}"):
                sim.step(zero, zero, target=zero, **{name: kind(np.full(shape, -3.0)), other: 1.0})
            sim.step(zero, zero, target=zero, **{name: kind(np.full(shape, 3.0)), other: 1.0})


def test_arrays_of_jax_have_gradients_by_parameters(sim: bough.Simulation) -> None:
    with jax.enable_x64(True):
        expected = slopes(sim, {MASS: 1.5})[MASS]

        def last(mass: Any) -> Any:
            return sim.step([0.5], [0.0], steps=5, parameters={MASS: mass}).q.sum()

        np.testing.assert_allclose(jax.grad(last)(1.5), expected, rtol=1e-12)
        many = jax.jit(jax.vmap(jax.grad(last)))(np.array([1.5, 3.0]))
        np.testing.assert_allclose(many, [expected, slopes(sim, {MASS: 3.0})[MASS]], rtol=1e-12)


def test_what_was_compiled_is_used_again_without_jit(sim: bough.Simulation) -> None:
    """A gradient outside `jit` compiles nothing the second time."""
    compiled: list[str] = []
    gradient = jax.grad(lambda q: sim.step(q, [0.0], steps=3).q.sum())
    gradient(np.array([0.5]))
    jax.monitoring.register_event_duration_secs_listener(lambda event, *_, **__: compiled.append(event))
    gradient(np.array([0.7]))
    assert not [event for event in compiled if "backend_compile" in event]
    jax.jit(lambda x: x + 1.5)(0.5)
    assert [event for event in compiled if "backend_compile" in event]  # what is listened to is told


@needs_torch
def test_gains_may_be_lone_numbers_with_gradients(sim: bough.Simulation) -> None:
    kp = tensor(3.0)
    sim.step(tensor([0.5]), [0.0], target=[0.0], kp=kp, kd=0.1).v.sum().backward()
    by = sim.vjp([0.5], [0.0], [0.0], [1.0], wrt="kp", target=[0.0], kp=3.0, kd=0.1)["kp"]
    np.testing.assert_allclose(kp.grad, by[0], rtol=1e-12)
    with jax.enable_x64(True):
        slope = jax.grad(lambda kp: sim.step([0.5], [0.0], target=[0.0], kp=kp, kd=0.1).v.sum())(3.0)
    np.testing.assert_allclose(slope, by[0], rtol=1e-12)


@needs_torch
def test_float32_stays_float32(sim: bough.Simulation) -> None:
    for follow in (False, True):
        q = torch.tensor([0.5], requires_grad=follow)
        assert {x.dtype for x in sim.step(q, torch.zeros(1), steps=2)} == {torch.float32}


@needs_torch
def test_jacobians_of_tensors_are_tensors(sim: bough.Simulation) -> None:
    found = sim.jacobian(tensor([0.5], False), tensor([0.1], False), wrt="q")["q"]
    np.testing.assert_array_equal(found.numpy(), sim.jacobian([0.5], [0.1], wrt="q")["q"])
    with jax.enable_x64(True):
        np.testing.assert_array_equal(jax.jit(lambda q: sim.jacobian(q, [0.1], wrt="q")["q"])(np.array([0.5])), found)


@needs_torch
def test_compiled_functions_may_call_anything(sim: bough.Simulation) -> None:
    """The graph breaks there: programs are made by Python that no compiler can follow."""
    arm = bough.robots.load("arm")

    def both(q: Any, v: Any) -> Any:
        return sim.step(q[:1], v[:1]).q * 2.0 + bough.rnea(arm, q, v, v).sum()

    q, v = tensor([0.5] * 6), tensor([0.1] * 6, False)
    torch.compile(both, backend="eager")(q, v).sum().backward()
    np.testing.assert_allclose(q.grad, torch.autograd.grad(both(q, v).sum(), q)[0], rtol=1e-12)


@pytest.mark.filterwarnings("ignore:more than 1 contact at a time")
def test_hard_contact_within_jit_is_that_outside() -> None:
    """Also where more touches than there is room for."""
    b = bough.Builder()
    for k in range(2):
        b.add(f"ball {k}", bough.joints.Prismatic("z"), at=(k, 0, 0), mass=1.0)
        b.geometry(f"ball {k}", "sphere", 0.1)
    model = b.build()
    sim = bough.Simulation(model, bough.Scene(model).floor(), law="hard", max_contacts=1)
    q, v = np.array([0.12, 0.11]), np.array([-1.0, -2.0])
    outside = sim.step(q, v, steps=20)
    with jax.enable_x64(True):
        within = jax.jit(jax.vmap(lambda q: sim.step(q, v, steps=20)))(q[None])
        for x, y in zip(within, outside, strict=True):
            np.testing.assert_array_equal(x[0], y)
        with pytest.raises(bough.errors.ModelError, match="'hard' have no derivatives"):
            jax.grad(lambda q: sim.step(q, v).q.sum())(q)


@needs_torch
def test_what_cannot_be_is_refused_by_name(sim: bough.Simulation) -> None:
    q, v = tensor([0.5]), np.zeros(1)
    before = sim.step([0.5], v)
    with pytest.raises(bough.errors.ShapeError, match="out is given with tensors that autograd follows"):
        sim.step(q, v, out=before)
    with pytest.raises(bough.errors.ShapeError, match="out is given with arrays that JAX traces"):
        jax.jit(lambda q: sim.step(q, v, out=before))(np.array([0.5]))
    with pytest.raises(
        bough.errors.ShapeError, match=r"q is a tensor of PyTorch that is differentiated, .* q\.detach\(\)"
    ):
        sim.run(q, duration=0.1)
    with pytest.raises(bough.errors.ShapeError, match=r"steps is an array of JAX that is .* traced"):
        jax.jit(lambda n: sim.step([0.5], v, steps=n))(3)
    for second in (torch.func.hessian, jax.hessian):
        start = q.detach() if second is torch.func.hessian else np.array([0.5])
        with pytest.raises(bough.errors.ProgramError, match="a second derivative is asked for"):
            second(lambda q: sim.step(q, v).q.sum())(start)
