"""Arrays on a GPU: the public functions take them, and give the CPU's numbers.

On a GPU where there is one; elsewhere on one made of the CPU (`emulated_gpu`), with fewer cases.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bough
from bough.backends.cuda import architecture, code, compile_cuda, kernel
from bough.program import evaluate, fuse, simplify, trace
from bough.scalar import keeping_loops, repeat
from emulated_gpu import REAL, needs_some_gpu, some_gpu

needs_gpu = pytest.mark.skipif(not REAL, reason="no GPU, or no CuPy")
pytestmark = [needs_some_gpu, pytest.mark.usefixtures("compiled")]

MODELS = ["arm", "quadruped", "humanoid"] if REAL else ["arm"]


@pytest.fixture(autouse=True)
def cupy() -> Iterator[Any]:
    """CuPy, or what stands for it."""
    with some_gpu() as found:
        yield found


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


@pytest.mark.parametrize("name", CALLS if REAL else ["rnea", "crba"])
@pytest.mark.parametrize("robot", MODELS)
def test_the_numbers_of_the_cpu(robot: str, name: str, cupy: Any) -> None:
    model = bough.robots.load(robot)
    for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 2e-4)):
        given = states(model, 203, dtype)
        expected = CALLS[name](model, *states(model, 203))
        for order in ("C", "F") if REAL else ("C",) if dtype == np.float64 else ("F",):
            got = CALLS[name](model, *(cupy.asarray(x, order=order) for x in given))
            assert isinstance(got, cupy.ndarray)
            assert got.dtype == dtype
            scale = np.abs(expected).max()
            np.testing.assert_allclose(got.get(), expected, rtol=0.0, atol=tolerance * scale)


FURTHER: dict[str, Any] = {
    "placements": lambda m, q, v, a: bough.placements(m, q),
    "velocities": lambda m, q, v, a: bough.velocities(m, q, v),
    "accelerations": lambda m, q, v, a: bough.accelerations(m, q, v, a),
    "bias_forces": lambda m, q, v, a: bough.bias_forces(m, q, v),
    "coriolis_matrix": lambda m, q, v, a: bough.coriolis_matrix(m, q, v),
    "passive_forces": lambda m, q, v, a: bough.passive_forces(m, q, v),
    "potential_energy": lambda m, q, v, a: bough.potential_energy(m, q),
    "mass_matrix_inverse": lambda m, q, v, a: bough.mass_matrix_inverse(m, q),
    "centroidal_momentum": lambda m, q, v, a: bough.centroidal_momentum(m, q, v),
    "difference": lambda m, q, v, a: bough.difference(m, q, bough.integrate(m, q, v)),
    "inverse_dynamics": lambda m, q, v, a: bough.inverse_dynamics(m, q, v, a),
    "derivatives of rnea": lambda m, q, v, a: bough.derivatives.rnea(m, q, v, a),
    "derivatives of forward_dynamics": lambda m, q, v, a: bough.derivatives.forward_dynamics(m, q, v, a),
}


@needs_gpu
@pytest.mark.parametrize("name", FURTHER)
def test_further_functions_give_the_numbers_of_the_cpu(name: str, cupy: Any) -> None:
    model = bough.robots.load("quadruped" if "derivatives" not in name else "arm")
    given = states(model, 70)
    here, there = FURTHER[name](model, *given), FURTHER[name](model, *map(cupy.asarray, given))
    for expected, got in zip(*(x if isinstance(x, tuple) else (x,) for x in (here, there)), strict=True):
        assert isinstance(got, cupy.ndarray)
        np.testing.assert_allclose(got.get(), expected, rtol=0.0, atol=1e-12 * max(1.0, np.abs(expected).max()))


@needs_gpu
def test_loops_are_closed_on_the_gpu(cupy: Any) -> None:
    b = bough.Builder("belt")
    for name in "ab":
        b.add(name, bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
    b.equality("belt", "b", "a", (0.0, 1.0))
    wheels = b.build()
    tau = np.array([[2.0, 0.0], [1.0, -3.0]])
    got = bough.forward_dynamics(wheels, *map(cupy.asarray, (np.zeros((2, 2)), np.zeros((2, 2)), tau)))
    np.testing.assert_allclose(got.get(), [[1.0, 1.0], [-1.0, -1.0]], atol=1e-12)


@pytest.mark.parametrize("robot", MODELS)
def test_the_bits_of_the_cpu(robot: str, cupy: Any) -> None:
    model = bough.robots.load(robot)
    given = states(model, 100)
    got = bough.rnea(model, *map(cupy.asarray, given))
    np.testing.assert_array_equal(got.get(), bough.rnea(model, *given))


def test_shapes_out_and_one_state(cupy: Any) -> None:
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


def test_errors_are_those_of_the_cpu(cupy: Any) -> None:
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


def test_angles_that_are_far_are_mended_by_the_cpu(cupy: Any) -> None:
    model = bough.robots.load("arm")
    q, v, a = states(model, 90)
    q[[3, 70], 1] = 1e12
    np.testing.assert_array_equal(bough.rnea(model, *map(cupy.asarray, (q, v, a))).get(), bough.rnea(model, q, v, a))


@needs_gpu
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


@needs_gpu
def test_other_libraries_on_their_streams() -> None:
    torch = pytest.importorskip("torch")
    model = bough.robots.load("quadruped")
    given = states(model, 33)
    expected = bough.rnea(model, *given)
    with torch.cuda.stream(torch.cuda.Stream()):
        got = bough.rnea(model, *(torch.tensor(x, device="cuda") for x in given))
        assert isinstance(got, torch.Tensor)
        np.testing.assert_array_equal((got + 0.0).cpu().numpy(), expected)


@needs_gpu
def test_streams_of_cupy_and_tensors_in_single_precision(cupy: Any) -> None:
    torch = pytest.importorskip("torch")
    model = bough.robots.load("quadruped")
    given = states(model, 33, np.float32)
    expected = bough.rnea(model, *given)
    with cupy.cuda.Stream(non_blocking=True) as stream:
        got = bough.rnea(model, *map(cupy.asarray, given))
        stream.synchronize()
    np.testing.assert_array_equal(got.get(), expected)
    tensors = [torch.tensor(x, device="cuda") for x in given]
    result = bough.rnea(model, *tensors)
    assert result.is_cuda
    assert result.dtype == torch.float32
    np.testing.assert_array_equal(result.cpu().numpy(), expected)
    tensors[1] = tensors[1].cpu()
    with pytest.raises(bough.errors.ShapeError, match="v is a tensor on cpu, and other arguments are on cuda"):
        bough.rnea(model, *tensors)


@needs_gpu
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


@needs_gpu
def test_steps_of_a_simulation(cupy: Any) -> None:
    model = bough.robots.load("quadruped")
    sim = bough.Simulation(model, bough.Scene(model).floor())
    q = bough.simulation.on_the_floor(model, bough.neutral(model), 0.01)
    many = bough.integrate(model, np.tile(q, (70, 1)), 0.01 * np.random.default_rng(0).normal(size=(70, model.nv)))
    here = sim.step(many, np.zeros((70, model.nv)), steps=20)
    there = sim.step(cupy.asarray(many), cupy.zeros((70, model.nv)), steps=20)
    np.testing.assert_allclose(there.q.get(), here.q, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(there.v.get(), here.v, rtol=0.0, atol=1e-7)
    state = sim.step(cupy.asarray(many), cupy.zeros((70, model.nv)), steps=5)
    for _ in range(3):  # launches of five steps are one of twenty
        state = sim.step(state.q, state.v, a=state.a, steps=5)
    np.testing.assert_array_equal(state.q.get(), there.q.get())


def test_states_that_cost_much_run_first_and_mean_the_same(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def rule(x: Any) -> dict[str, Any]:
        with keeping_loops():
            halved, turns = repeat(
                50, lambda _, now: (now[0] * 0.5, now[1] + 1.0), (x[0], x[0] * 0.0), until=lambda now: now[0] < 0.1
            )
            return {"y": [halved, turns]}

    monkeypatch.setattr(kernel, "LEAST_ORDERED", 1)
    program = fuse(simplify(trace("test", rule, {"x": 1})))
    loaded = kernel.CudaKernel(
        code.program_code(program, "double", ["rows", "rows"], architecture(cupy.cuda.Device().id)), np.dtype(float)
    )
    x = np.random.default_rng(0).exponential(size=(700, 1)) ** 8
    for given in (x, x, x[::-1].copy(), x[:500]):  # costs are unknown, known, those of others, and of too many
        y = cupy.asarray(np.full((len(given), 2), np.nan))
        loaded(len(given), [cupy.asarray(given)], [y])
        for k in (0, 1, 77, 255, 256, len(given) - 1):
            np.testing.assert_array_equal(y.get()[k], evaluate(program, {"x": given[k]})["y"])
        assert not np.isnan(y.get()).any()
    assert np.ptp(loaded._costs.get()) > 0


@needs_gpu
@pytest.mark.parametrize("name", ["rnea", "forward_dynamics"])
@pytest.mark.parametrize("count", [1, 63, 64, 5000, 300_013])
def test_blocks_that_stay_see_every_state_once(name: str, count: int, cupy: Any) -> None:
    model, function = bough.robots.load("arm"), getattr(bough, name)
    few = states(model, 997, np.float32)
    expected = np.resize(function(model, *few), (count, model.nv))
    whole = [cupy.asarray(np.resize(x, (count + 1, x.shape[1]))) for x in few]
    np.testing.assert_array_equal(function(model, *(x[:count] for x in whole)).get(), expected)
    # arrays that begin anywhere, which are moved by threads
    shifted = [cupy.concatenate([cupy.ravel(x)[:1], cupy.ravel(x)])[1:].reshape(x.shape)[:count] for x in whole]
    np.testing.assert_array_equal(function(model, *shifted).get(), expected)


@needs_gpu
@pytest.mark.parametrize("integrator", ["euler", "rk4"])
def test_robots_that_stop_hold_up_no_others(integrator: str, cupy: Any) -> None:
    model = bough.robots.load("quadruped")
    sim = bough.Simulation(model, bough.Scene(model).floor(), integrator=integrator)
    q = np.tile(bough.simulation.on_the_floor(model, bough.neutral(model), 0.01), (700, 1))
    v = 0.1 * np.random.default_rng(0).normal(size=(700, model.nv))
    v[[0, 37, 300, 699]] = 1e200
    there = sim.step(cupy.asarray(q), cupy.asarray(v), steps=20)
    np.testing.assert_array_equal(np.flatnonzero(there.status.get()), [0, 37, 300, 699])
    good = v[:, 0] < 1.0
    alone = sim.step(cupy.asarray(q[good]), cupy.asarray(v[good]), steps=20)
    np.testing.assert_array_equal(there.q.get()[good], alone.q.get())
    np.testing.assert_allclose(alone.q.get(), sim.step(q[good], v[good], steps=20).q, rtol=0.0, atol=1e-9)


@needs_gpu
def test_jax() -> None:
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("JAX sees no GPU")
    model = bough.robots.load("quadruped")
    given = states(model, 33, np.float32)
    got = bough.rnea(model, *map(jax.numpy.asarray, given))
    assert isinstance(got, jax.Array)
    np.testing.assert_array_equal(np.asarray(got), bough.rnea(model, *given))


@needs_gpu
def test_large_trees_run_rolled(cupy: Any) -> None:
    model = bough.trees.topologies.balanced_tree(6)
    given = states(model, 70)
    got = bough.rnea(model, *map(cupy.asarray, given))
    np.testing.assert_allclose(got.get(), bough.rnea(model, *given), rtol=1e-10, atol=1e-10)


def test_results_lie_as_arguments_do_or_as_out_does(cupy: Any) -> None:
    model = bough.robots.load("arm")
    q, v, a = states(model, 70)
    expected = bough.rnea(model, q, v, a)
    rows, turned = (tuple(cupy.asarray(x, order=order) for x in (q, v, a)) for order in "CF")
    assert bough.rnea(model, *rows).flags.c_contiguous
    assert bough.rnea(model, *turned).flags.f_contiguous
    for given in (rows, turned):
        for order in "CF":
            out = cupy.asarray(np.full((70, 6), np.nan), order=order)
            assert bough.rnea(model, *given, out=out) is out
            np.testing.assert_array_equal(out.get(), expected)
    with_gaps = cupy.asarray(np.zeros((70, 9)))[:, 2:8]
    assert bough.rnea(model, *rows, out=with_gaps) is with_gaps
    np.testing.assert_array_equal(with_gaps.get(), expected)
    with pytest.raises(bough.errors.ShapeError, match="out is ndarray, expected an array on the GPU"):
        bough.rnea(model, *rows, out=np.empty((70, 6)))


def test_verdicts_that_are_looked_at_later(cupy: Any) -> None:
    """Nothing is judged before the end; then doubtful states are mended in the arrays that were returned."""
    model = bough.robots.load("arm")
    q, v, a = states(model, 90)
    q[[3, 70], 1] = 1e17
    with bough.cuda.deferred():
        got = bough.rnea(model, *map(cupy.asarray, (q, v, a)))
        before = got.get()
    expected = bough.rnea(model, q, v, a)
    assert (before[[3, 70]] != expected[[3, 70]]).any()
    np.testing.assert_array_equal(got.get(), expected)
    v[5, 2] = np.inf
    with pytest.raises(bough.errors.FiniteError, match=r"v\[5, 2\] is inf"), bough.cuda.deferred():
        bough.rnea(model, *map(cupy.asarray, (q, v, a)))


def test_factors_solve_where_they_lie(cupy: Any) -> None:
    model = bough.robots.load("arm")
    q, v, _ = states(model, 12)
    here, there = bough.factorize(model, q), bough.factorize(model, cupy.asarray(q))
    np.testing.assert_array_equal(there.solve(cupy.asarray(v)).get(), here.solve(v))
    columns = np.stack([v, 2.0 * v, v[::-1]], -1)
    np.testing.assert_array_equal(there.solve(cupy.asarray(columns)).get(), here.solve(columns))
    with pytest.raises(bough.errors.ShapeError, match="in the memory of the CPU"):
        here.solve(cupy.asarray(v))


def block() -> bough.Model:
    """A body that falls, with an arm."""
    b = bough.Builder("block")
    b.add("block", bough.joints.Free(), mass=1.0, inertia=0.1)
    b.add("arm", bough.joints.Revolute("y"), "block", at=(0.1, 0, 0), mass=0.5, inertia=0.1, lower=-1, upper=1)
    return b.build()


def test_motion_with_contacts(cupy: Any) -> None:
    model = block()
    touching = bough.contact.Contacts([("block", None)], friction="cone" if REAL else None)
    q = np.tile(bough.neutral(model), (5, 1))
    q[:, 2], v, tau = 0.1, np.linspace(-1.0, 1.0, 35).reshape(5, 7), np.zeros((5, 7))
    where = np.tile([0.0, 0.0, 0.0], (5, 1, 1)), np.tile([0.0, 0.0, 1.0], (5, 1, 1))
    here = bough.contact.step(model, q, v, tau, touching.at(*where, mu=0.5), dt=0.01)
    touch = touching.at(*map(cupy.asarray, where), mu=0.5)
    there = bough.contact.step(model, *map(cupy.asarray, (q, v, tau)), touch, dt=0.01)
    for name in ("motion", "contact_forces", "limit_forces", "residual", "undecided"):
        np.testing.assert_allclose(getattr(there, name).get(), getattr(here, name), rtol=0.0, atol=1e-9)
    assert there.conflicts == here.conflicts


def test_what_a_gpu_does_not_do_is_refused_by_name(cupy: Any) -> None:
    model = block()
    q = cupy.asarray(bough.neutral(model))
    for call in (
        lambda: bough.normalize(model, q),
        lambda: bough.loops.assemble(model, q),
        lambda: bough.convert.states_to_mujoco(model, q),
        lambda: bough.simulation.lowest_point(model, q),
        lambda: bough.Simulation(model).run(q, duration=0.01),
    ):
        with pytest.raises(bough.errors.ShapeError, match=r"^q lies on a GPU, and what needs it runs on the CPU"):
            call()
    with pytest.raises(bough.errors.ShapeError, match=r"^A lies on a GPU"):
        bough.lcp.gauss_seidel(cupy.asarray(np.eye(2)), cupy.asarray(np.ones(2)), bough.lcp.Conditions.contacts(2))


@pytest.mark.parametrize("dtype", ["float64", "float32"] if REAL else ["float32"])
def test_kernels_are_compiled_ahead_and_kept_on_disk(
    dtype: Any, cupy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results with many numbers are turned after they are computed: that kernel, and no other, is made ready."""
    monkeypatch.setenv("BOUGH_CACHE_DIR", str(tmp_path))
    made: list[str] = []
    monkeypatch.setattr(code, "compile_cuda", lambda *x: made.append(x[0]) or compile_cuda(*x))
    for name in ("first", "again"):
        model = chain_called(name)
        q = states(model, 3, dtype)[0]
        bough.function("crba", model).compile(target="cuda", dtype=dtype)
        assert len(made) == 1
        got = bough.crba(model, cupy.asarray(q))
        np.testing.assert_array_equal(got.get(), bough.crba(model, q))
        assert len(made) == 1


def chain_called(name: str) -> bough.Model:
    return dataclasses.replace(bough.trees.topologies.chain(9), name=name)


@pytest.mark.parametrize("dtype", [np.float64, np.float32] if REAL else [np.float64])
def test_long_programs_run_as_several_kernels(dtype: Any, cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut where few values cross: the same bits, and the verdicts of all parts."""
    monkeypatch.setattr(code, "LONGEST_KERNEL", {"float": (150,), "double": (100,)})
    monkeypatch.setattr("bough.kernel.cache.load", lambda key: None)
    model = bough.robots.load("arm") if REAL else dataclasses.replace(bough.trees.topologies.chain(4), name="cut")
    function = bough.kernel.functions.new_function(model, "aba_at_rest")
    q, v, tau = states(model, 70, dtype)
    expected = function(q, v, tau)
    for order in "CF":
        got = function(*(cupy.asarray(x, order=order) for x in (q, v, tau)))
        np.testing.assert_array_equal(got.get(), expected)
    runner = function.form((q, v, tau, None)).device
    assert len(runner.last_kernel._parts) >= 2
    q[[3, 69], 0] = 1e11  # far
    np.testing.assert_array_equal(function(*map(cupy.asarray, (q, v, tau))).get(), function(q, v, tau))
    for wrong in (q, v, tau):
        kept, wrong[5, 1] = wrong[5, 1], np.nan
        with pytest.raises(bough.errors.FiniteError, match=r"\[5, 1\] is nan"):
            function(*map(cupy.asarray, (q, v, tau)))
        wrong[5, 1] = kept
