"""Derivatives of functions: against complex steps and Pinocchio, against each other, and as functions they are."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import bough
import complex_steps
from bough.kernel.functions import manifolds_of
from bough.kernel.specs import NEED_FRAMES
from bough.program import Loop, walk
from mechanisms import parallelogram
from model_strategies import JOINTS, random_model
from pinocchio_twin import Twin

Floats = np.ndarray[Any, np.dtype[np.float64]]

TYPES = [name for name in JOINTS if name != "fixed"]


def every_joint(rng: np.random.Generator) -> list[bough.Model]:
    """Three models with three or four bodies in which every type of joint is; and one whose joints follow others."""
    made = []
    for k in range(3):
        wanted = {type(JOINTS[name](rng)) for name in TYPES[k::3]}
        while not made[k:]:
            model = random_model(rng, len(TYPES[k::3]), TYPES[k::3])
            made += [model] if {type(item.joint) for item in model.joints} == wanted else []
    return [*made, random_model(rng, 3, ["revolute", "prismatic"], mimic=True)]


def arguments(f: bough.Function, model: bough.Model, rng: np.random.Generator) -> dict[str, Any]:
    """A state for the inputs that cannot be left out."""
    return {
        a.name: bough.random(model, rng) if a.name in ("q", "q0", "q1") else rng.normal(size=a.shape)
        for a in f.inputs
        if not a.optional
    }


@pytest.mark.parametrize(
    "name",
    [
        "rnea", "aba", "crba", "coriolis_matrix", "mass_matrix_inverse", "placements", "velocities", "accelerations",
        "jacobian", "jacobian_rate", "center_of_mass", "centroidal_momentum", "centroidal_momentum_matrix",
        "kinetic_energy", "potential_energy", "passive_forces", "difference", "operational_space_inverse",
        "bias_forces", "gravity_forces", "coriolis_forces", "crba_packed", "factorize", "mass_matrix_by_rnea",
        "aba_at_rest", "crba_ltdl", "jacobian_packed", "center_of_mass_jacobian", "torque_regressor",
        "kinetic_energy_regressor", "potential_energy_regressor", "momentum_regressor", "rnea_derivatives",
        "bias_forces_derivatives", "gravity_forces_derivatives", "forward_dynamics_derivatives",
        "velocity_derivatives", "acceleration_derivatives", "centroidal_momentum_derivatives",
    ],
)  # fmt: skip
def test_rates_are_those_of_complex_steps(name: str, rng: np.random.Generator) -> None:
    for model in every_joint(rng):
        if name in ("aba", "aba_at_rest") and not model.coupling.trivial:
            continue
        frames = model.frame_names[-1] if name in NEED_FRAMES else None
        f = bough.function(name, model, frames=frames)
        state, along = arguments(f, model, rng), f.jvp()
        motions = {a.name: rng.normal(size=a.shape) for a in along.inputs if a.name not in state and not a.optional}
        found = along(**state, **motions)
        expected = complex_steps.rates(model, f.program(), state, motions)
        np.testing.assert_allclose(found.ravel(), expected, rtol=1e-9, atol=1e-9 * (1 + np.abs(expected).max()))


def test_configurations_that_result_change_along_motions_too(rng: np.random.Generator) -> None:
    """d(q ⊕ v) is told as a motion at q ⊕ v: by v = 0 it is the identity, and the chain of both is that of one."""
    for model in every_joint(rng):
        f, q = bough.function("integrate", model), bough.random(model, rng)
        by_q, by_v = f.jacobian()(q, np.zeros(model.nv))
        np.testing.assert_allclose(by_q, np.eye(model.nv), atol=1e-12)
        np.testing.assert_allclose(by_v, np.eye(model.nv), atol=1e-12)
        v, dv = rng.normal(size=(2, model.nv))
        end, g = f(q, v), bough.function("potential_energy", model).vjp()
        slope = g(end, 1.0) @ f.jvp("v")(q, v, dv)
        program = f.program()
        moved = complex_steps.run(program, {"q": q, "v": v + 1e-40j * dv})["result"]
        energy = complex_steps.run(bough.function("potential_energy", model).program(), {"q": moved})["energy"]
        np.testing.assert_allclose(slope, energy.imag[0] / 1e-40, rtol=1e-10, atol=1e-10)


def test_the_way_between_configurations_changes_with_its_ends(rng: np.random.Generator) -> None:
    """What is between two configurations is a configuration, too: an energy there changes as complex steps say."""
    for model in every_joint(rng):
        f, g = bough.function("interpolate", model), bough.function("potential_energy", model)
        state = arguments(f, model, rng)
        along = f.jvp()
        motions = {a.name: rng.normal(size=a.shape) for a in along.inputs if a.name not in state and not a.optional}
        slope = g.vjp()(f(**state), 1.0) @ along(**state, **motions)
        moved = {name: complex_steps.moved(model, name, x, motions[f"d{name}"]) for name, x in state.items()}
        (between,) = complex_steps.run(f.program(), moved).values()
        energy = complex_steps.run(g.program(), {"q": between})["energy"]
        np.testing.assert_allclose(slope, energy.imag[0] / complex_steps.STEP, rtol=1e-9, atol=1e-9)


def test_motions_from_rates_by_squares_and_by_differences(rng: np.random.Generator) -> None:
    """Lengths are known for our own joints; for those from outside, differences of configurations are derived."""
    model = random_model(rng, 3, ["free", "planar", "spherical"])
    known = manifolds_of(model)["q"]
    outside = replace(known, squares=None)
    q, motion, weights = bough.random(model, rng).tolist(), *rng.normal(size=(2, model.nv)).tolist()
    rates = list(known.rates(q, motion))
    for one in (known, outside):
        np.testing.assert_allclose(list(one.motion(q, rates)), motion, atol=1e-12)
    across = [np.array(list(one.along_numbers(q, weights))) @ rates for one in (known, outside)]
    np.testing.assert_allclose(across, np.dot(weights, motion), atol=1e-12)


@pytest.mark.parametrize("rolled", [False, True])
@pytest.mark.parametrize("name", ["rnea", "crba_ltdl", "crba", "placements", "centroidal_momentum", "integrate"])
def test_reverse_is_the_transpose_of_forward(name: str, rolled: bool, rng: np.random.Generator) -> None:
    """To rounding, in straight-line programs and in those with loops."""
    for model in every_joint(rng)[:: 3 if rolled else 2]:
        f = bough.function(name, model)
        state = arguments(f, model, rng)
        along, back = f.jvp(), f.vjp()
        motions = {a.name: rng.normal(size=a.shape) for a in along.inputs if a.name not in state and not a.optional}
        weights = {a.name: rng.normal(size=a.shape) for a in back.inputs if a.name not in state and not a.optional}
        moved = evaluated(along, rolled, {**state, **motions})
        pulled = evaluated(back, rolled, {**state, **weights})
        left = sum(weights[f"{y.name}_bar"].ravel() @ moved[f"d{y.name}"] for y in f.outputs)
        right = sum(motions[f"d{x}"].ravel() @ pulled[f"{x}_bar"] for x in state)
        scale = sum(np.abs(weights[f"{y.name}_bar"]).sum() * np.abs(moved[f"d{y.name}"]).max() for y in f.outputs)
        assert abs(left - right) < 1e-13 * scale


@pytest.mark.parametrize("rolled", [False, True])
@pytest.mark.parametrize("name", ["rnea", "kinetic_energy"])
def test_jacobians_are_those_of_complex_steps(name: str, rolled: bool, rng: np.random.Generator) -> None:
    """By columns, a few at a time, or by rows; in programs with loops each is a turn of one."""
    model = every_joint(rng)[1]
    f = bough.function(name, model)
    state = arguments(f, model, rng)
    found = evaluated(f.jacobian(), rolled, state)
    for key in state:
        expected = complex_steps.jacobian(model, f.program(), state, key)
        block = found[f"d{f.outputs[0].name}_d{key}"].reshape(expected.shape)
        np.testing.assert_allclose(block, expected, rtol=1e-9, atol=1e-9)


def evaluated(f: bough.Function, rolled: bool, state: dict[str, Any]) -> dict[str, Floats]:
    """The outputs of a function's program, with loops or without."""
    found = complex_steps.run(f.program(rolled=rolled), {name: np.ravel(x) for name, x in state.items()})
    return {name: values.real for name, values in found.items()}


def test_pinocchio_has_the_same_derivatives(rng: np.random.Generator) -> None:
    """Of inverse and forward dynamics of a whole robot that floats; Pinocchio moves q as we do."""
    model = bough.robots.load("quadruped")
    twin = Twin(model)
    q, v, a, tau = bough.random(model, rng), *rng.normal(size=(3, model.nv))
    order = np.argsort(twin.v(np.arange(model.nv)))  # from their rows to ours

    def ours(matrix: Any) -> Any:
        return np.asarray(matrix)[np.ix_(order, order)]

    motions = dict(zip(("dq", "dv", "da", "dtau"), rng.normal(size=(4, 2, model.nv)), strict=True))
    given = (twin.model, twin.data, twin.q(q), twin.v(v))
    by_q, by_v, _ = (ours(x) for x in pin.computeRNEADerivatives(*given, twin.v(a)))  # the third is half a matrix
    found = bough.function("rnea", model).jvp(directions=2)(q, v, a, *(motions[x] for x in ("dq", "dv", "da")))
    expected = motions["dq"] @ by_q.T + motions["dv"] @ by_v.T + motions["da"] @ bough.crba(model, q)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())
    by_q, by_v, by_tau = (ours(x) for x in pin.computeABADerivatives(*given, twin.v(tau)))
    found = bough.function("aba", model).jvp(directions=2)(q, v, tau, *(motions[x] for x in ("dq", "dv", "dtau")))
    expected = motions["dq"] @ by_q.T + motions["dv"] @ by_v.T + motions["dtau"] @ by_tau.T
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("robot", ["arm", "quadruped"])
@pytest.mark.parametrize("name", ["rnea", "crba_ltdl", "crba_packed", "placements", "centroidal_momentum"])
def test_a_gradient_costs_less_than_four_times_the_function(robot: str, name: str) -> None:
    f = bough.function(name, bough.robots.load(robot))
    assert f.vjp().count().total < 4 * f.count().total


def test_second_derivatives(rng: np.random.Generator) -> None:
    """Of an energy they are symmetric where motions commute; ∂²T/∂v² is the mass matrix everywhere."""
    model = random_model(rng, 4, ["revolute", "prismatic", "helical"])
    q, v = bough.random(model, rng), rng.normal(size=model.nv)
    hessian = bough.function("potential_energy", model).jacobian().jacobian()(q)
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-12)
    assert np.abs(hessian).max() > 0.1
    forces = bough.function("gravity_forces", model).jacobian()(q)
    np.testing.assert_allclose(hessian, forces, atol=1e-12)
    twice = bough.function("potential_energy", model).jvp().jvp()
    assert [a.name for a in twice.inputs] == ["q", "dq", "dq_2", "ddq"]
    first, second = rng.normal(size=(2, model.nv))
    np.testing.assert_allclose(twice(q, first, second, np.zeros(model.nv)), first @ hessian @ second, atol=1e-12)
    for other in every_joint(rng):
        q, v = bough.random(other, rng), rng.normal(size=other.nv)
        inertia = bough.function("kinetic_energy", other).jacobian("v").jacobian("v")(q, v)
        np.testing.assert_allclose(inertia, bough.crba(other, q), atol=1e-11)


def test_by_parameters_and_by_forces(rng: np.random.Generator) -> None:
    """τ is linear in masses and in forces on bodies: what is left of it is at zero."""
    model = random_model(rng, 3, ["revolute", "spherical"])
    mass, gravity = f"mass of {model.body_names[-1]}", "gravity"
    f = bough.function("rnea", model, parameters=[mass, gravity])
    q, v, a = bough.random(model, rng), *rng.normal(size=(2, model.nv))
    slopes = f.jacobian("parameters")(q, v, a, parameters={mass: 2.0})
    assert slopes.shape == (model.nv, 4)
    change = f(q, v, a, parameters={mass: 3.0}) - f(q, v, a, parameters={mass: 2.0})
    np.testing.assert_allclose(slopes[:, 0], change, atol=1e-12)
    weights = rng.normal(size=model.nv)
    np.testing.assert_allclose(
        f.vjp("parameters")(q, v, a, weights, parameters={mass: 2.0}), weights @ slopes, atol=1e-12
    )
    g = bough.function("rnea", model)
    force = rng.normal(size=(model.nbodies, 6))
    by_force = g.jacobian("f_ext")(q, v, a, force)
    assert by_force.shape == (model.nv, model.nbodies, 6)
    difference = g(q, v, a, force) - g(q, v, a)
    np.testing.assert_allclose(np.einsum("nbk,bk->n", by_force, force), difference, atol=1e-12)


def test_derivatives_are_functions(compiled: None, rng: np.random.Generator) -> None:
    """They have batch axes, `out`, float32, several directions, names in errors, and travel."""
    model = bough.robots.load("arm")
    f = bough.function("rnea", model)
    q, v, a, w = rng.normal(size=(4, 5, 6))
    back = f.vjp()
    assert f.vjp() is back
    whole = back(q, v, a, w)
    assert [x.shape for x in whole] == [(5, 6)] * 3
    for k in range(5):
        for x, y in zip(back(q[k], v[k], a[k], w[k]), whole, strict=True):
            np.testing.assert_allclose(x, y[k], rtol=1e-12, atol=1e-12)
    out = np.empty((5, 6))
    only = f.vjp("q")
    assert only(q, v, a, w, out=out) is out
    np.testing.assert_allclose(out, whole[0], rtol=1e-12, atol=1e-12)
    single = only(*(x.astype(np.float32) for x in (q, v, a, w)))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, whole[0], rtol=1e-3, atol=1e-3)
    directions = rng.normal(size=(5, 3, 6))
    several = f.jvp("q", directions=3)(q, v, a, directions)
    np.testing.assert_allclose(several, np.einsum("bij,bkj->bki", f.jacobian("q")(q, v, a), directions), atol=1e-11)
    again = pickle.loads(pickle.dumps(only))
    np.testing.assert_array_equal(again(q, v, a, w), out)
    with pytest.raises(bough.errors.UnknownNameError, match="no input of rnea is called 'tau'"):
        f.vjp("tau")
    with pytest.raises(bough.errors.ShapeError, match="tau_bar has shape"):
        back(q, v, a, w[:, :5])
    with pytest.raises(bough.errors.ShapeError, match="directions is 0"):
        f.jvp(directions=0)
    assert "vjp of rnea" in str(only.program())


def test_states_without_derivatives_are_refused(rng: np.random.Generator) -> None:
    """A joint that moves nothing, as the function says; a rank that falls, where the function alone finds a way."""
    b = bough.Builder()
    b.add("rod", bough.joints.Revolute("z"), mass=1.0, inertia=(0.0, 0.0, 0.0), com=(1.0, 0.0, 0.0))
    b.add("tip", bough.joints.Revolute("x"), "rod", mass=1.0, com=(1.0, 0.0, 0.0), inertia=0.0, armature=0.0)
    model = b.build()
    zero = np.zeros(2)
    with pytest.raises(bough.errors.SingularError, match="'tip' moves nothing"):
        bough.function("aba", model).vjp()(zero, zero, zero, zero)
    closed = parallelogram()
    f = bough.function("constrained_dynamics", closed)
    flat, still = np.array([0.0, np.pi, np.pi]), np.zeros(3)
    assert np.isfinite(f(flat, still, still)).all()
    with pytest.raises(bough.errors.SingularError, match=r"jacobian of forward_dynamics in state \[1\]: the rank"):
        f.jacobian("tau")([[0.3, -0.3, 0.3], flat], still, still)


def test_soft_contact(compiled: None) -> None:
    """Rates go through searches that end early and through steps of time; these are too long to be run back."""
    b = bough.Builder()
    b.add("ball", bough.joints.Free(), mass=1.0, inertia=0.01)
    b.geometry("ball", "sphere", 0.1)
    model = b.build()
    steps = bough.Simulation(model, bough.Scene(model).floor(friction=0.8))._steps
    q, v, a = np.array([0, 0, 0.0985, 0, 0, 0, 1.0]), np.array([0.3, 0.0, -0.1, 0.2, 0.3, 0.1]), np.zeros(6)
    motion, h = np.array([0.1, 0.2, 0.5, 0.3, -0.2, 0.4]), 1e-6
    along = steps.jvp("v")(q, v, a, 0.002, 3.0, motion)
    ends = [steps(q, v + s * h * motion, a, 0.002, 3.0)[1] for s in (1, -1)]
    np.testing.assert_allclose(along[1], (ends[0] - ends[1]) / (2 * h), atol=1e-6)
    weights = [np.arange(1.0, a.size + 1) if k < 2 else np.zeros(np.shape(a)) for k, a in enumerate(along)]
    back = steps.vjp("v")(q, v, a, 0.002, 3.0, *weights)
    assert back @ motion == pytest.approx(sum(np.sum(w * a) for w, a in zip(weights, along, strict=True)), rel=1e-9)


def test_motion_with_loops(rng: np.random.Generator) -> None:
    """Rows that depend on others are left out by selection, and the derivatives know it."""
    model = parallelogram()
    f = bough.function("constrained_dynamics", model)
    state = {"q": np.array([0.3, -0.3, 0.3]), "v": np.array([0.5, -0.5, 0.5]), "tau": rng.normal(size=3)}
    for key in state:
        expected = complex_steps.jacobian(model, f.program(), state, key)
        np.testing.assert_allclose(f.jacobian(key)(**state), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("bodies", [0, 1])
def test_a_model_that_cannot_move_has_derivatives_without_entries(bodies: int) -> None:
    b = bough.Builder("still")
    for k in range(bodies):
        b.add(f"body {k}", bough.joints.Fixed(), mass=1.0, inertia=0.1)
    model, none = b.build(), np.zeros(0)
    assert all(x.size == 0 for x in bough.derivatives.forward_dynamics(model, none, none, none))
    assert all(x.size == 0 for x in bough.derivatives.forward_dynamics_second_order(model, none, none, none))


def test_what_knows_no_mimic_joints_says_so_before_it_is_run(rng: np.random.Generator) -> None:
    """`aba` goes through the factor of the mass matrix there, as the public function does, and has derivatives."""
    model = random_model(rng, 3, ["revolute", "prismatic"], mimic=True)
    f = bough.function("aba", model)
    state = arguments(f, model, rng)
    np.testing.assert_array_equal(f(**state), bough.aba(model, *state.values()))
    slopes = f.jacobian("tau")(**state)
    np.testing.assert_allclose(slopes, bough.mass_matrix_inverse(model, state["q"]), rtol=1e-9, atol=1e-9)
    for name in ("aba_at_rest", "aba_absolute", "joint_positions", "joint_velocities", "joint_accelerations"):
        with pytest.raises(bough.errors.ModelError, match="mimic"):
            bough.function(name, model)
    with pytest.raises(bough.errors.ModelError, match="mimic"):
        bough.count(model, "aba_at_rest")


def test_parameters_by_name_are_told_where_they_are() -> None:
    arm = bough.robots.load("arm")
    mass = f"mass of {arm.body_names[-1]}"
    f = bough.function("rnea", arm, parameters=["gravity", mass])
    told = rf"'{mass}' is a parameter: it is \[\.\.\., 3\] of the derivatives by 'parameters'"
    with pytest.raises(bough.errors.UnknownNameError, match=told):
        f.jacobian(mass)
    with pytest.raises(bough.errors.UnknownNameError, match=r"'gravity' is a parameter: it is \[\.\.\., 0:3\]"):
        f.vjp("gravity")


@pytest.mark.parametrize("alike", [True, False])
def test_long_derivatives_keep_loops_only_where_bodies_are_alike(alike: bool) -> None:
    """Of bodies of many kinds a program with loops is longer than one without."""
    rng = np.random.default_rng(28)
    model = bough.trees.topologies.humanoid() if alike else random_model(rng, 10, floating=False)
    program = bough.function("coriolis_matrix", model).jacobian("q").program()
    assert any(isinstance(x, Loop) for x in walk(program.body)) == alike
    assert sum(1 for _ in walk(program.body)) < 80_000
