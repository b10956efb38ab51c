"""Tensors of PyTorch: values, memory, gradients of any order, transformations of functions, and compilation."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import bough
from model_strategies import random_model

torch = pytest.importorskip("torch")

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:torch"),
    pytest.mark.filterwarnings("ignore::FutureWarning:torch"),
    pytest.mark.usefixtures("compiled"),
]


@pytest.fixture
def ball() -> bough.Model:
    """A small mechanism with a quaternion."""
    b = bough.Builder()
    b.add("ball", bough.joints.Spherical(), mass=1.0, com=(0.1, 0.2, -0.3), inertia=(0.1, 0.2, 0.25))
    b.add("rod", bough.joints.Revolute("x"), "ball", at=(0, 0, 0.4), mass=0.5, com=(0, 0.2, 0.1), inertia=0.02)
    return b.build()


def state(model: bough.Model, rng: np.random.Generator, *batch: int) -> list[Any]:
    q, v, a = bough.random(model, rng, size=batch), *rng.normal(size=(2, *batch, model.nv))
    return [torch.tensor(x, requires_grad=True) for x in (q, v, a)]


def test_torch_is_not_imported_without_tensors() -> None:
    code = "import bough, sys; model = bough.robots.load('pendulum'); f = bough.function('rnea', model).vjp(); "
    code += "f([0.0], [0.0], [0.0], [1.0]); print('torch' in sys.modules, 'jax' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["False", "False"]


def test_values_are_those_of_arrays_and_memory_is_shared(ball: bough.Model, rng: np.random.Generator) -> None:
    q, v, a = (x.detach() for x in state(ball, rng, 3))
    arrays = [x.numpy() for x in (q, v, a)]
    tau = bough.rnea(ball, q, v, a)
    assert isinstance(tau, torch.Tensor)
    assert not tau.requires_grad
    np.testing.assert_array_equal(tau.numpy(), bough.rnea(ball, *arrays))
    before = bough.rnea(ball, q, v, a[0])  # batch axes broadcast
    arrays[1][...] = 0.0  # v sees it
    assert not torch.equal(bough.rnea(ball, q, v, a[0]), before)
    single = bough.rnea(ball, *(x.float() for x in (q, v, a)))
    assert single.dtype == torch.float32
    mixed = bough.rnea(ball, q, arrays[1], arrays[2].tolist())
    np.testing.assert_array_equal(mixed.numpy(), bough.rnea(ball, *arrays))


def test_the_widest_type_is_that_of_results(ball: bough.Model, rng: np.random.Generator) -> None:
    """Of tensors and arrays, as PyTorch has it; lists and numbers take the type of the others."""
    q, v, a = (x.detach() for x in state(ball, rng))
    assert bough.rnea(ball, q.float(), v.numpy(), a.float()).dtype == torch.float64
    with pytest.raises(bough.errors.ShapeError, match=r"v is a tensor of layout torch\.sparse_coo"):
        bough.rnea(ball, q, v.to_sparse(), a)
    assert bough.rnea(ball, q.float(), v.tolist(), a.float().numpy()).dtype == torch.float32
    single = v.float().requires_grad_()
    bough.rnea(ball, q, single, a).sum().backward()
    assert single.grad is not None
    assert single.grad.dtype == torch.float32


def test_arrays_of_any_kind_beside_tensors(ball: bough.Model, rng: np.random.Generator) -> None:
    q, v, a = (x.detach() for x in state(ball, rng))
    expected = bough.rnea(ball, q, v, a)
    held, other = v.numpy().copy(), np.repeat(a.numpy(), 2)[::2]
    held.flags.writeable = False
    for mixed in (held, held.astype(">f8"), held[::-1].copy()[::-1], held.tolist()):
        assert torch.equal(bough.rnea(ball, q, mixed, other), expected)
    for wrong in ("fast", v.numpy() * 1j, {"ball": 1.0}):
        with pytest.raises(bough.errors.ShapeError, match=r"v has data type .*, expected real numbers"):
            bough.rnea(ball, q, wrong, a)


def test_what_is_wrong_is_named(ball: bough.Model, rng: np.random.Generator) -> None:
    q, v, a = (x.detach() for x in state(ball, rng))
    with pytest.raises(bough.errors.ShapeError, match=r"v has shape \(1,\)"):
        bough.rnea(ball, q, v[:1], a)
    with pytest.raises(bough.errors.FiniteError, match=r"a\[0\] is nan"):
        bough.rnea(ball, q, v, torch.full_like(a, torch.nan))
    with pytest.raises(bough.errors.ShapeError, match=r"q is a tensor on meta, expected one on the CPU"):
        bough.rnea(ball, q.to("meta"), v, a)
    with pytest.raises(bough.errors.ShapeError, match=r"v has data type torch\.complex128"):
        bough.rnea(ball, q, v.to(torch.complex128), a)
    with pytest.raises(bough.errors.ShapeError, match="out="):
        bough.rnea(ball, q, v, a, out=np.empty(ball.nv))


def test_gradients(rng: np.random.Generator) -> None:
    """Of both modes and of the second order, by torch's own check; with a batch and with axes that broadcast."""
    model = random_model(rng, 2, ["revolute", "prismatic"])
    q, v, a = state(model, rng, 2)

    def rnea(q: Any, v: Any, a: Any) -> Any:
        return bough.rnea(model, q, v, a)

    assert torch.autograd.gradcheck(rnea, (q, v[0].detach().clone().requires_grad_(), a), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(rnea, (q, v, a[0].detach().clone().requires_grad_()))


def test_gradients_through_quaternions(ball: bough.Model, rng: np.random.Generator) -> None:
    """With quaternions that are normalised, autograd finds the gradient of what was normalised."""
    q, v, _ = (x.detach() for x in state(ball, rng))

    def energy(raw: Any) -> Any:
        q = torch.cat([torch.nn.functional.normalize(raw[:4], dim=0), raw[4:]])
        return bough.kinetic_energy(ball, q, v) + bough.potential_energy(ball, q)

    assert torch.autograd.gradcheck(energy, (1.3 * q).requires_grad_())
    # along a motion it is the derivative along that motion, and it has no part along the quaternion
    q.requires_grad_()
    (gradient,) = torch.autograd.grad(bough.potential_energy(ball, q), q)
    here, motion = q.detach().numpy(), rng.normal(size=ball.nv)
    step = bough.integrate(ball, here, 1e-6 * motion) - bough.integrate(ball, here, -1e-6 * motion)
    along = bough.function("potential_energy", ball).vjp()(here, 1.0) @ motion
    np.testing.assert_allclose(gradient.numpy() @ step / 2e-6, along, rtol=1e-7, atol=1e-8)
    assert abs(gradient.numpy()[:4] @ here[:4]) < 1e-12


def test_transformations_of_functions(rng: np.random.Generator) -> None:
    model = random_model(rng, 2, ["revolute", "prismatic"])
    q, v, a = (x.detach() for x in state(model, rng, 3))
    expected = bough.function("rnea", model).jacobian("q")(q.numpy(), v.numpy(), a.numpy())

    def rnea(q: Any, v: Any, a: Any) -> Any:
        return bough.rnea(model, q, v, a)

    for jacobian in (torch.func.jacrev, torch.func.jacfwd):
        found = torch.func.vmap(jacobian(rnea))(q, v, a)
        np.testing.assert_allclose(found.numpy(), expected, atol=1e-12)
    speeds, pushes = torch.tensor(rng.normal(size=(3, 4, 2))), torch.tensor(rng.normal(size=(4, 2)))
    crossed = torch.func.vmap(rnea, in_dims=(None, 1, 0))(q, speeds, pushes)  # over 4, each with a batch of 3
    for k in range(4):
        np.testing.assert_allclose(crossed[k], rnea(q, speeds[:, k], pushes[k]), rtol=1e-12, atol=1e-12)
    hessian = torch.func.hessian(lambda q: bough.potential_energy(model, q))(q[0])
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-12)
    several = torch.func.vmap(lambda q: bough.placements(model, q))(q)
    np.testing.assert_array_equal(several.numpy(), bough.placements(model, q.numpy()))


def test_parameters_have_gradients(rng: np.random.Generator) -> None:
    model = random_model(rng, 2, ["revolute"])
    mass = f"mass of {model.body_names[-1]}"
    f = bough.function("rnea", model, parameters=[mass, "gravity"])
    q, v, a = (x.detach() for x in state(model, rng))
    m = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    f(q, v, a, parameters={mass: m}).sum().backward()
    slopes = f.jacobian("parameters")(*(x.numpy() for x in (q, v, a)), parameters={mass: 2.0})
    np.testing.assert_allclose(m.grad, slopes[:, 0].sum(), rtol=1e-12)
    every = torch.tensor(f.packed(), requires_grad=True)
    f(q, v, a, parameters=every).sum().backward()
    assert every.grad.shape == (4,)


def test_compiled_programs_take_the_operator_as_a_whole(rng: np.random.Generator) -> None:
    """With the graph whole, forwards and back; the compiler of graphs alone is asked, not that of kernels."""
    model = random_model(rng, 2, ["revolute"])
    rnea = bough.function("rnea", model).torch_operator()
    q, v, a = state(model, rng, 2)
    torch.library.opcheck(rnea, (q, v, a))

    def loss(q: Any, v: Any, a: Any) -> Any:
        return (rnea(q, v, a).sin() ** 2).sum()

    whole = torch.compile(loss, fullgraph=True, backend="aot_eager")
    whole(q, v, a).backward()
    found = [x.grad.clone() for x in (q, v, a)]
    expected = torch.autograd.grad((bough.rnea(model, q, v, a).sin() ** 2).sum(), (q, v, a))
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12)
    with pytest.raises(bough.errors.UnknownNameError, match="that may be left out"):
        bough.function("rnea", model).torch_operator("force")


CONVERSIONS = [
    getattr(bough.convert, f"states_{way}_{name}") for way in ("to", "from") for name in ("mujoco", "pinocchio")
]


def test_normalized_configurations_are_tensors_with_gradients(ball: bough.Model, rng: np.random.Generator) -> None:
    raw = torch.tensor(3.0 * rng.normal(size=(2, ball.nq)), requires_grad=True)
    found = bough.normalize(ball, raw)
    assert np.array_equal(found.detach().numpy(), bough.normalize(ball, raw.detach().numpy()))
    assert torch.autograd.gradcheck(lambda q: bough.normalize(ball, q), (raw,))
    mapped = torch.func.vmap(lambda q: bough.normalize(ball, q))(raw)
    assert torch.equal(mapped, found)
    with pytest.raises(bough.errors.FiniteError, match=r"joint 'ball': the quaternion .* is zero in state"):
        bough.normalize(ball, torch.zeros(2, ball.nq))
    with pytest.raises(bough.errors.ShapeError, match="expected arrays of NumPy"):
        bough.normalize(ball, raw, out=np.empty((2, ball.nq)))


@pytest.mark.parametrize("convert", CONVERSIONS, ids=lambda convert: convert.__name__)
def test_states_are_converted_as_tensors_with_gradients(convert: Any, rng: np.random.Generator) -> None:
    model = random_model(rng, 4, ["free", "planar", "spherical", "continuous"])
    q, v = bough.random(model, rng, size=2), rng.normal(size=(2, model.nv))
    if "from" in convert.__name__:
        q, v = getattr(bough.convert, convert.__name__.replace("from", "to"))(model, q, v)
    given = [torch.tensor(x, requires_grad=True) for x in (q, v)]
    for found, expected in zip(convert(model, *given), convert(model, q, v), strict=True):
        assert found.requires_grad
        assert np.array_equal(found.detach().numpy(), expected)
    assert isinstance(convert(model, q, given[1])[0], torch.Tensor)
    speeds = torch.func.jacrev(lambda v: convert(model, given[0].detach(), v)[1])(given[1].detach())
    step = 1e-6 * rng.normal(size=v.shape)
    moved = convert(model, q, v + step)[1] - convert(model, q, v)[1]
    np.testing.assert_allclose(np.einsum("aibj,bj->ai", speeds.numpy(), step), moved, atol=1e-12)


@pytest.mark.parametrize("name", ["lowest_point", "on_the_floor"])
def test_what_reads_numbers_alone_refuses_tensors_by_its_name(name: str) -> None:
    model = bough.robots.load("quadruped")
    with pytest.raises(bough.errors.ShapeError, match=rf"simulation\.{name} .* q is a tensor .* q\.detach\(\)\.numpy"):
        getattr(bough.simulation, name)(model, torch.tensor(bough.neutral(model)))


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.float16, torch.bfloat16])
def test_integers_and_half_precision_are_computed_in_float64(ball: bough.Model, dtype: Any) -> None:
    q = torch.tensor([0, 0, 0, 1, 2]).to(dtype)
    zeros = torch.zeros(ball.nv, dtype=dtype)
    found = bough.rnea(ball, q, zeros, zeros)
    assert found.dtype == torch.float64
    assert np.array_equal(found.numpy(), bough.rnea(ball, [0, 0, 0, 1, 2], [0] * 4, [0] * 4))
    assert bough.rnea(ball, q.float(), zeros, zeros).dtype == torch.float32
    with pytest.raises(bough.errors.ShapeError, match=r"q has data type torch\.bool, expected real numbers"):
        bough.rnea(ball, q.bool(), zeros, zeros)


def test_what_acts_in_a_run_is_numbers_and_says_so() -> None:
    sim, still = bough.Simulation(bough.robots.load("pendulum"), dt=0.01), np.zeros(1)
    push = torch.ones(1, dtype=torch.float64, requires_grad=True)
    told = r"tau is a tensor of PyTorch that is differentiated.* tau\.detach\(\)\.numpy\(\) gives them"
    for run in (
        lambda tau: sim.run(still, duration=0.02, tau=tau),
        lambda tau: sim.run(still, duration=0.02, controller=lambda time, q, v: tau),
        lambda tau: sim.run(still, duration=0.02, controller=lambda time, q, v: {"tau": tau}),
    ):
        with pytest.raises(bough.errors.ShapeError, match=told):
            run(2.0 * push)
        assert np.array_equal(run(push.detach()).q, run(np.ones(1)).q)
    with pytest.raises(bough.errors.ShapeError, match=told):
        sim.sweep(still, tau=push, duration=0.02, grid={"q of pivot": [0.0, 1.0]})


def test_lists_of_tensors_with_gradients_are_refused_by_name(ball: bough.Model) -> None:
    one = torch.tensor(1.0, requires_grad=True)
    some, q = [0.0, one], np.array([0.0, 0.0, 0.0, 1.0, 0.0])
    told = (
        r"is a list in which there is a tensor of PyTorch .*expected one array: torch\.stack makes one .*\.detach\(\)"
    )
    function = bough.function("rnea", ball, parameters=["gravity"])
    sim = bough.Simulation(ball, parameters=["gravity"])
    down = {"gravity": [one, 0, -9]}
    for name, call in {
        "v": lambda: bough.rnea(ball, q, [0.0, *some, 0.0], np.zeros(4)),
        "a": lambda: bough.rnea(ball, torch.tensor(q), np.zeros(4), [0.0, *some, 0.0]),
        "gravity": lambda: function(q, np.zeros(4), np.zeros(4), parameters=down),
        "gravity ": lambda: sim.step(q, np.zeros(4), parameters=down),
        "q": lambda: bough.Simulation(ball).step([*some, *some, one], np.zeros(4)),
        "kp": lambda: sim.step(
            q, np.zeros(4), target=np.zeros(4), kp=[*some, *some], parameters={"gravity": [0, 0, 0]}
        ),
    }.items():
        with pytest.raises(bough.errors.ShapeError, match=f"^{name.strip()} {told}"):
            call()
    with pytest.raises(
        bough.errors.ModelError, match=r"gravity is .*\.detach\(\) gives it; .*bough\.function\(\.\.\., par"
    ):
        ball.with_gravity(torch.tensor([0.0, 0.0, -9.0], requires_grad=True))
    with pytest.raises(bough.errors.ModelError, match=r"'rod': the mass is .*\.detach\(\) gives it; .*bough\.function"):
        ball.with_inertia("rod", mass=one)


@pytest.mark.parametrize("name", ["mu", "gaps", "restitution"])
def test_what_contact_has_no_gradients_with_respect_to_is_named(ball: bough.Model, name: str) -> None:
    given = {name: torch.tensor([0.1], dtype=torch.float64, requires_grad=True)}
    contacts = bough.contact.Contacts([(ball.body_names[0], None)])
    with pytest.raises(bough.errors.ShapeError, match=f"^{name} is a tensor of PyTorch that is differentiated"):
        bough.contact.impulses(
            ball, bough.neutral(ball), np.zeros(ball.nv), contacts.at([[0.0, 0.0, 0.0]], [[0.0, 0.0, 1.0]], **given)
        )


def test_tensors_whose_numbers_are_yet_to_be_negated_are_taken(ball: bough.Model, rng: np.random.Generator) -> None:
    q, v, a = (x.detach() for x in state(ball, rng))
    negative = torch.complex(v, -v).conj().imag
    assert negative.is_neg()
    expected = bough.rnea(ball, q, v, a)
    assert bool((bough.rnea(ball, q, negative, a) == expected).all())
    a.requires_grad_()
    bough.rnea(ball, q, negative, a).sum().backward()
    assert a.grad is not None
    assert bough.Simulation(ball).rollout(q.numpy(), negative, steps=1).v[0].tolist() == v.tolist()
