"""Arrays of JAX: values, gradients of any order and mode, and all of it within jit and vmap."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import bough
from model_strategies import random_model

jax = pytest.importorskip("jax")
jnp: Any = pytest.importorskip("jax.numpy")

pytestmark = pytest.mark.usefixtures("compiled", "double")


@pytest.fixture
def double() -> Iterator[None]:
    """JAX computes in float64."""
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        yield
    finally:
        jax.config.update("jax_enable_x64", before)


def state(model: bough.Model, rng: np.random.Generator, *batch: int) -> list[Any]:
    arrays = bough.random(model, rng, size=batch), *rng.normal(size=(2, *batch, model.nv))
    return [jnp.asarray(x) for x in arrays]


def test_values_are_those_of_arrays(rng: np.random.Generator) -> None:
    model = random_model(rng, 2, ["spherical", "revolute"])
    q, v, a = state(model, rng, 3)
    expected = bough.rnea(model, *map(np.asarray, (q, v, a)))
    for run in (bough.rnea, jax.jit(bough.rnea, static_argnums=0)):
        found = run(model, q, v, a)
        assert isinstance(found, jax.Array)
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)
    single = bough.rnea(model, *(x.astype(jnp.float32) for x in (q, v, a)))
    assert single.dtype == np.float32
    with pytest.raises(bough.errors.ShapeError, match=r"v has shape \(3, 1\)"):
        jax.jit(lambda q: bough.rnea(model, q, v[:, :1], a))(q)
    with pytest.raises(bough.errors.ShapeError, match="out="):
        bough.rnea(model, q, v, a, out=np.empty((3, model.nv)))


def test_digits_are_those_of_the_most_exact_argument(rng: np.random.Generator) -> None:
    """As with tensors, whichever argument comes first; what is not real is refused, within jit too."""
    model = random_model(rng, 2, ["revolute", "prismatic"])
    q, v, a = state(model, rng, 3)
    expected = bough.rnea(model, q.astype(jnp.float32).astype(jnp.float64), v, a)
    for run in (bough.rnea, jax.jit(bough.rnea, static_argnums=0)):
        found = run(model, q.astype(jnp.float32), v, a)
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)
    few = [x.astype(jnp.float32) for x in (v, a)]
    assert bough.rnea(model, q.astype(jnp.float16), *few).dtype == np.float32
    assert bough.rnea(model, jnp.zeros(q.shape, int), *few).dtype == np.float32
    assert jax.grad(lambda q: bough.rnea(model, q, v, a).sum())(q.astype(jnp.float32)).dtype == np.float32
    with pytest.raises(bough.errors.ShapeError, match="v has data type complex128, expected real numbers"):
        jax.jit(lambda v: bough.rnea(model, q, v, a))(v + 1j)


@pytest.mark.parametrize("wrong", [True, 1j, "text"])
def test_what_is_no_real_number_is_refused_by_name(wrong: Any) -> None:
    """As NumPy's arrays are, in functions and in steps, within jit and without, and beside arrays of JAX."""
    model, told = bough.robots.load("pendulum"), "v has data type .*, expected real numbers"
    sim, zero = bough.Simulation(model), jnp.zeros(1)

    def step(v: Any) -> Any:
        return sim.step(zero, v).q

    for run in (lambda v: bough.rnea(model, zero, v, zero), lambda v: bough.jacobian_rate(model, zero, v, "rod")):
        with pytest.raises(bough.errors.ShapeError, match=told):
            run([wrong])
        for function in (run, step, jax.jit(run), jax.jit(step)) if wrong != "text" else ():
            with pytest.raises(bough.errors.ShapeError, match=told):
                function(jnp.array([wrong]))
    with pytest.raises(bough.errors.ShapeError, match=told):
        jax.jit(lambda q: sim.step(q, [wrong]).q)(zero)


def test_only_what_is_linear_is_transposed(rng: np.random.Generator) -> None:
    arm = bough.robots.load("arm")
    q, v, a = state(arm, rng)
    with pytest.raises(bough.errors.ProgramError, match=r"as if it were linear in a, .* expected jax"):
        jax.linear_transpose(lambda a: bough.rnea(arm, q, v, a), a)(a)
    with pytest.raises(bough.errors.ProgramError, match="linear in q"):
        jax.linear_transpose(lambda q: jax.jvp(lambda a: bough.rnea(arm, q, v, a), (a,), (v,))[1], q)(a)
    rate = jax.linearize(lambda a: bough.rnea(arm, q, v, a), a)[1]
    (found,) = jax.linear_transpose(rate, a)(v)
    np.testing.assert_allclose(found, bough.crba(arm, np.asarray(q)) @ np.asarray(v), rtol=0, atol=1e-12)


def test_derivatives_of_any_mode_and_order(rng: np.random.Generator) -> None:
    from jax.test_util import check_grads

    model = random_model(rng, 2, ["revolute", "prismatic"])
    q, v, a = state(model, rng, 2)

    def rnea(q: Any, v: Any) -> Any:
        return bough.rnea(model, q, v, a)

    check_grads(rnea, (q, v[0]), order=2, modes=("fwd", "rev"))  # v broadcasts over the batch
    expected = bough.function("rnea", model).jacobian("q")(*map(np.asarray, (q, v, a)))
    for jacobian in (jax.jacfwd, jax.jacrev):
        mapped = jax.vmap(jacobian(lambda q, v, a: bough.rnea(model, q, v, a)))
        for run in (mapped, jax.jit(mapped)):
            np.testing.assert_allclose(run(q, v, a), expected, rtol=1e-11, atol=1e-11)
    hessian = jax.hessian(lambda q: bough.potential_energy(model, q))(q[0])
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-12)


def test_machine_code_is_called_by_machine_code(rng: np.random.Generator) -> None:
    """Within jit a call does not come back to Python, unless a verdict is not zero: then it says what is wrong."""
    model = random_model(rng, 2, ["revolute"])
    q, v, a = state(model, rng, 5)
    rnea = jax.jit(lambda q: bough.rnea(model, q, v, a[0]))
    assert "pure_callback" not in (text := rnea.lower(q).as_text())
    assert "bough_" in text
    np.testing.assert_allclose(rnea(q), bough.rnea(model, *map(np.asarray, (q, v, a[0]))), rtol=1e-12, atol=1e-12)
    with pytest.raises((ValueError, jax.errors.JaxRuntimeError), match=r"FiniteError: q\[2, 1\] is nan"):
        rnea(q.at[2, 1].set(jnp.nan)).block_until_ready()
    bough.set_backend("reference")  # which has no machine code
    again = jax.jit(lambda q: bough.rnea(model, q, v, a[0]))
    np.testing.assert_allclose(again(q), rnea(q), rtol=1e-12, atol=1e-12)


def test_axes_of_vmap_come_before_batch_axes(rng: np.random.Generator) -> None:
    model = random_model(rng, 2, ["revolute"])
    q, _, _ = state(model, rng, 3)
    speeds, pushes = jnp.asarray(rng.normal(size=(3, 4, 2))), jnp.asarray(rng.normal(size=(4, 2)))
    crossed = jax.vmap(lambda q, v, a: bough.rnea(model, q, v, a), (None, 1, 0))(q, speeds, pushes)
    for k in range(4):
        expected = bough.rnea(model, *map(np.asarray, (q, speeds[:, k], pushes[k])))
        np.testing.assert_allclose(crossed[k], expected, rtol=1e-12, atol=1e-12)


def test_gradients_through_quaternions_and_parameters(rng: np.random.Generator) -> None:
    b = bough.Builder()
    b.add("ball", bough.joints.Spherical(), mass=1.0, com=(0.1, 0.2, -0.3), inertia=(0.1, 0.2, 0.25))
    model = b.build()
    q, v, a = state(model, rng)

    def energy(raw: Any) -> Any:
        return bough.kinetic_energy(model, raw / jnp.linalg.norm(raw), v)

    found = jax.grad(energy)(1.3 * q)
    step = 1e-6 * rng.normal(size=4)
    np.testing.assert_allclose(found @ step, (energy(1.3 * q + step) - energy(1.3 * q - step)) / 2, rtol=1e-6)
    f = bough.function("rnea", model, parameters=["mass of ball"])
    by_mass = jax.jacfwd(lambda m: f(q, v, a, parameters={"mass of ball": m}))(2.0)
    slopes = f.jacobian("parameters")(*map(np.asarray, (q, v, a)), parameters={"mass of ball": 2.0})
    np.testing.assert_allclose(by_mass, slopes[:, 0], rtol=1e-12)


def test_gradients_through_steps(rng: np.random.Generator) -> None:
    """Of a loss over steps, made one by one and several in a call, compiled and mapped, beside differences."""
    builder = bough.Builder("pendulum")
    builder.add("rod", bough.joints.Revolute("y"), mass=1.0, com=(0, 0, -0.5), inertia=0.1)
    sim = bough.Simulation(builder.build(), dt=0.01)

    def loss(q: Any, v: Any, tau: Any) -> Any:
        state = sim.step(q, v, tau=tau)
        state = sim.step(state.q, state.v, a=state.a, tau=tau, steps=2)
        return 0.5 * (state.q**2).sum() + 0.1 * (state.v**3).sum()

    x, h, every = rng.normal(size=(3, 4, 1)), 1e-6, (0, 1, 2)
    sides = ([loss(*(x + s * h * np.eye(12)[k].reshape(x.shape))) for s in (1, -1)] for k in range(12))
    expected = np.array([(more - less) / (2 * h) for more, less in sides]).reshape(x.shape)
    given = [jnp.asarray(part) for part in x]
    mapped, twice = jax.vmap(jax.grad(loss, every)), jax.jit(jax.grad(jax.jit(loss), every))
    for gradient in (jax.grad(loss, every), twice, mapped):
        np.testing.assert_allclose(np.stack(gradient(*given)), expected, rtol=1e-7, atol=1e-9)
    state = jax.jit(lambda q: sim.step(q, x[1], tau=x[2], steps=5))(given[0])
    assert state.taken.tolist() == [5.0] * 4
    np.testing.assert_allclose(state.q, sim.step(*x[:2], tau=x[2], steps=5).q, rtol=1e-13)
    hard = bough.Simulation(sim.model, law="hard")
    with pytest.raises(bough.errors.ModelError, match="steps under the law 'hard' have no derivatives"):
        jax.grad(lambda q: hard.step(q, x[1]).q.sum())(given[0])


def test_normalized_and_converted_configurations_are_arrays_of_jax(rng: np.random.Generator) -> None:
    model = random_model(rng, 4, ["free", "planar", "spherical", "continuous"])
    q, v, _ = state(model, rng, 2)
    raw = q + 0.1
    found = jax.jit(lambda q: bough.normalize(model, q))(raw)
    assert isinstance(found, jax.Array)
    np.testing.assert_allclose(found, bough.normalize(model, np.asarray(raw)), rtol=1e-15)
    by_hand = bough.normalize(model, np.asarray(raw) + 1e-6 * np.eye(model.nq)[3]) - np.asarray(found)
    rates = jax.jvp(lambda q: bough.normalize(model, q), (raw,), (jnp.zeros_like(q).at[..., 3].set(1e-6),))[1]
    np.testing.assert_allclose(rates, by_hand, atol=1e-11)
    theirs = jax.jit(lambda q, v: bough.convert.states_to_mujoco(model, q, v))(q, v)
    expected = bough.convert.states_to_mujoco(model, np.asarray(q), np.asarray(v))
    for a, b in zip(theirs, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14, atol=1e-14)
    back = bough.convert.states_from_mujoco(model, *theirs)
    np.testing.assert_allclose(back[0], q, rtol=1e-14)
    with pytest.raises(bough.errors.FiniteError, match=r"q.* is nan"):
        bough.convert.states_to_mujoco(model, q * jnp.nan)


def test_what_reads_numbers_alone_refuses_arrays_of_jax_in_words_for_them() -> None:
    model = bough.robots.load("quadruped")
    with pytest.raises(bough.errors.ShapeError, match=r"on_the_floor .* q is an array of JAX; .* numpy\.asarray\(q\)"):
        bough.simulation.on_the_floor(model, jnp.asarray(bough.neutral(model)))
    pendulum = bough.robots.load("pendulum")
    told = r"an array of JAX that is differentiated.*numpy\.asarray\(q\) gives them, outside of jit"
    with pytest.raises(bough.errors.ShapeError, match=told):
        jax.jit(lambda q: bough.Simulation(pendulum).run(q, duration=0.1).q)(jnp.zeros(1))


def test_lists_of_traced_numbers_are_refused_by_name() -> None:
    model = bough.trees.topologies.chain(2)
    told = r"^v is a list in which there is an array of JAX .*expected one array: jax\.numpy\.stack"
    with pytest.raises(bough.errors.ShapeError, match=told):
        jax.grad(lambda x: bough.rnea(model, [0.0, 0.0], [x, x], [0.0, 0.0]).sum())(0.3)
    with pytest.raises(bough.errors.ModelError, match=r"^gravity is .*bough\.function\(\.\.\., parameters="):
        jax.grad(lambda g: bough.rnea(model.with_gravity(g), [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]).sum())(np.zeros(3))
