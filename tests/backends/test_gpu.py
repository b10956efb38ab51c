"""On a real GPU: the public functions take its arrays, and give the CPU's numbers. Skipped where there is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bough

pytestmark = [
    pytest.mark.skipif(not bough.cuda.is_available(), reason="no GPU, or no CuPy"),
    pytest.mark.usefixtures("compiled"),
]

MODELS = ["arm", "quadruped", "humanoid"]


def states(model: bough.Model, count: int, dtype: Any = np.float64) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    q = bough.integrate(model, bough.neutral(model), rng.normal(size=(count, model.nv)))
    return tuple(x.astype(dtype) for x in (q, rng.normal(size=(count, model.nv)), rng.normal(size=(count, model.nv))))


CALLS: dict[str, Any] = {
    "rnea": lambda m, q, v, a: bough.rnea(m, q, v, a),
    "aba": lambda m, q, v, a: bough.forward_dynamics(m, q, v, a, method="aba"),
    "forward_dynamics": lambda m, q, v, a: bough.forward_dynamics(m, q, v, a),
    "crba": lambda m, q, v, a: bough.crba(m, q),
    "gravity_forces": lambda m, q, v, a: bough.gravity_forces(m, q),
    "kinetic_energy": lambda m, q, v, a: bough.kinetic_energy(m, q, v),
    "center_of_mass": lambda m, q, v, a: bough.center_of_mass(m, q),
    "integrate": lambda m, q, v, a: bough.integrate(m, q, v),
    "jacobian": lambda m, q, v, a: bough.jacobian(m, q, m.frames[-1].name),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("robot", MODELS)
def test_the_numbers_of_the_cpu(robot: str, name: str) -> None:
    import cupy

    model = bough.robots.load(robot)
    for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 2e-4)):
        given = states(model, 203, dtype)
        expected = CALLS[name](model, *states(model, 203))
        for order in ("C", "F"):
            got = CALLS[name](model, *(cupy.asarray(x, order=order) for x in given))
            assert isinstance(got, cupy.ndarray)
            assert got.dtype == dtype
            scale = np.abs(expected).max()
            np.testing.assert_allclose(got.get(), expected, rtol=0.0, atol=tolerance * scale)


@pytest.mark.parametrize("robot", MODELS)
def test_the_bits_of_the_cpu(robot: str) -> None:
    import cupy

    model = bough.robots.load(robot)
    given = states(model, 100)
    got = bough.rnea(model, *map(cupy.asarray, given))
    np.testing.assert_array_equal(got.get(), bough.rnea(model, *given))


def test_shapes_out_and_one_state() -> None:
    import cupy

    model = bough.robots.load("arm")
    q, v, a = (cupy.asarray(x) for x in states(model, 12))
    expected = bough.rnea(model, q, v, a)
    assert bool((bough.rnea(model, q[3], v[3], a[3]) == expected[3]).all())
    assert bool((bough.rnea(model, *(x.reshape(3, 4, 6) for x in (q, v, a))) == expected.reshape(3, 4, 6)).all())
    assert bool((bough.rnea(model, q[::2], v[::2], a[::2]) == expected[::2]).all())
    assert bool((bough.rnea(model, q, v[0], a) == bough.rnea(model, q, cupy.broadcast_to(v[0], q.shape), a)).all())
    assert bough.rnea(model, q[:0], v[:0], a[:0]).shape == (0, 6)
    out = cupy.empty((12, 6))
    assert bough.rnea(model, q, v, a, out=out) is out
    assert bool((out == expected).all())
    assert bough.rnea(model, q, v, a, out=q) is q  # in place
    assert bool((q == expected).all())
    with pytest.raises(bough.errors.ShapeError, match="out is float64"):
        bough.rnea(model, q, v, a, out=cupy.empty((3, 6)))
    with pytest.raises(bough.errors.ShapeError, match="v is ndarray in the memory of the CPU"):
        bough.rnea(model, q, v.get(), a)
    with pytest.raises(bough.errors.ShapeError, match="expected"):
        bough.rnea(model, q[:, :5], v, a)


def test_errors_are_those_of_the_cpu() -> None:
    import cupy

    model = bough.robots.load("quadruped")
    q, v, a = states(model, 90)
    bad = v.copy()
    bad[70, 3] = np.nan
    long = q.copy()
    long[5, 3:7] *= 1.5
    for given in ((q, bad, a), (long, v, a)):
        with pytest.raises(bough.errors.FiniteError) as here:
            bough.rnea(model, *given)
        with pytest.raises(bough.errors.FiniteError) as there:
            bough.rnea(model, *map(cupy.asarray, given))
        assert str(there.value) == str(here.value)
        with pytest.raises(bough.errors.FiniteError), bough.cuda.deferred():
            bough.rnea(model, *map(cupy.asarray, given))
        bough.rnea(model, *map(cupy.asarray, given), check=False)


def test_angles_that_are_far_are_mended_by_the_cpu() -> None:
    import cupy

    model = bough.robots.load("arm")
    q, v, a = states(model, 90)
    q[[3, 70], 1] = 1e12
    np.testing.assert_array_equal(bough.rnea(model, *map(cupy.asarray, (q, v, a))).get(), bough.rnea(model, q, v, a))


@pytest.mark.parametrize("make", [bough.trees.topologies.chain, lambda n: bough.trees.topologies.balanced_tree(7)])
def test_divide_and_conquer_works_on_one_mechanism(make: Any) -> None:
    """The same call twice, on other numbers, and with external forces; what is wrong is told by the CPU."""
    import cupy

    model, by = make(200), {"method": "divide_and_conquer"}
    f_ext = np.random.default_rng(1).normal(size=(model.nbodies, 6))
    for dtype, tolerance in ((np.float64, 1e-9), (np.float32, 1e-2)):
        given = states(model, 2, dtype)
        for further in ((), (f_ext.astype(dtype),)):
            expected = bough.forward_dynamics(model, *states(model, 2), *further, method="aba")
            got = bough.forward_dynamics(model, *map(cupy.asarray, (*given, *further)), **by)
            assert got.dtype == dtype
            np.testing.assert_allclose(got.get(), expected, rtol=0.0, atol=tolerance * np.abs(expected).max())
    q, v, tau = (cupy.asarray(x) for x in states(model, 2))
    expected = bough.forward_dynamics(model, q, v, tau, **by)
    assert bool((bough.forward_dynamics(model, q[1], v[1], tau[1], **by) == expected[1]).all())
    out = cupy.empty_like(expected)
    assert bough.forward_dynamics(model, q, v, tau, out=out, **by) is out
    assert bool((out == expected).all())
    q[1, 3] = 1e12
    far = bough.forward_dynamics(model, *(x.get() for x in (q, v, tau)), **by)
    np.testing.assert_array_equal(bough.forward_dynamics(model, q, v, tau, **by).get(), far)
    q[1, 3] = np.nan
    with pytest.raises(bough.errors.FiniteError, match=r"q\[1, 3\] is nan"):
        bough.forward_dynamics(model, q, v, tau, **by)


def test_other_libraries_on_their_streams() -> None:
    torch = pytest.importorskip("torch")
    model = bough.robots.load("quadruped")
    given = states(model, 33)
    expected = bough.rnea(model, *given)
    with torch.cuda.stream(torch.cuda.Stream()):
        got = bough.rnea(model, *(torch.tensor(x, device="cuda") for x in given))
        assert isinstance(got, torch.Tensor)
        np.testing.assert_array_equal((got + 0.0).cpu().numpy(), expected)


def test_gradients_on_the_gpu_are_those_of_the_cpu() -> None:
    torch = pytest.importorskip("torch")
    model = bough.robots.load("quadruped")
    found = []
    for device in ("cpu", "cuda"):
        q, v, a = (torch.tensor(x, device=device, requires_grad=True) for x in states(model, 9))
        (bough.rnea(model, q, v, a) ** 2).sum().backward()
        found.append([x.grad.cpu().numpy() for x in (q, v, a)])
    for here, there in zip(*found, strict=True):
        np.testing.assert_allclose(there, here, rtol=1e-10, atol=1e-10 * np.abs(here).max())


def test_steps_of_a_simulation() -> None:
    import cupy

    model = bough.robots.load("quadruped")
    sim = bough.Simulation(model, bough.Scene(model).floor())
    q = bough.simulation.on_the_floor(model, bough.neutral(model), 0.01)
    many = bough.integrate(model, np.tile(q, (70, 1)), 0.01 * np.random.default_rng(0).normal(size=(70, model.nv)))
    here = sim.step(many, np.zeros((70, model.nv)), steps=20)
    there = sim.step(cupy.asarray(many), cupy.zeros((70, model.nv)), steps=20)
    np.testing.assert_allclose(there.q.get(), here.q, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(there.v.get(), here.v, rtol=0.0, atol=1e-7)


def test_jax() -> None:
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("JAX sees no GPU")
    model = bough.robots.load("quadruped")
    given = states(model, 33, np.float32)
    got = bough.rnea(model, *map(jax.numpy.asarray, given))
    assert isinstance(got, jax.Array)
    np.testing.assert_array_equal(np.asarray(got), bough.rnea(model, *given))


def test_compiled_ahead_and_kept() -> None:
    model = bough.robots.load("arm")
    bough.function("rnea", model).compile(target="cuda", dtype="float32")


def test_large_trees_run_rolled() -> None:
    import cupy

    model = bough.trees.topologies.balanced_tree(6)
    given = states(model, 70)
    got = bough.rnea(model, *map(cupy.asarray, given))
    np.testing.assert_allclose(got.get(), bough.rnea(model, *given), rtol=1e-10, atol=1e-10)
