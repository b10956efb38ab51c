"""Derivatives against dual numbers run through the algorithms themselves, and against Pinocchio's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import bough
from bough.kernel.functions import mechanism
from bough.kernel.specs import SPECS, Options
from closeness import assert_close
from differences import derivative as central
from differences import gradient
from dual_numbers import by_dual_numbers
from flexible_models import random_flexible_model
from mechanisms import four_bar, slider_crank
from model_strategies import JOINTS, random_model, random_state
from pinocchio_twin import Twin
from robot_data import ROBOTS

EXACT = 1e-9
TOLERANCE = 1e-10

PINOCCHIO_ROBOTS = {
    "panda_description/urdf/panda.urdf": False,
    "anymal_b_simple_description/robots/anymal.urdf": True,
    "g1_description/urdf/g1_29dof_rev_1_0.urdf": True,
    "talos_data/robots/talos_full_v2.urdf": True,
}
"""By file, whether they float."""

REFERENCES = ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED")
MOVING = sorted(set(JOINTS) - {"fixed"})
CASES = [*MOVING, *(f"mixed {seed}" for seed in range(2)), "mimic 1", "mimic 2"]


def made(name: str) -> bough.Model:
    """A random mechanism of joints of one type, or of all, some of them turned round; with followers, or without."""
    kind, _, seed = name.partition(" ")
    rng = np.random.default_rng([int(seed or 0), *name.encode()])
    if kind in JOINTS:
        return random_model(rng, 2 if kind == "free" else 3, [kind])
    return random_model(rng, 4, mimic=kind == "mimic")


def belt() -> bough.Model:
    """Two pendulums of which one follows the other by a law that is not linear."""
    b = bough.Builder("belt")
    for name in ("a", "b"):
        b.add(name, bough.joints.Revolute("y"), mass=1.0, com=(0.1, 0, -0.3), inertia=0.1)
    b.equality("law", "b", "a", (0.1, 0.7, 0.2))
    return b.build()


def assert_all_close(got: Any, expected: Any, tolerance: float) -> None:
    """Of some matrices that belong together some may be zero."""
    assert len(got) == len(expected)
    scale = max(np.abs(y).max() for y in expected)
    for x, y in zip(got, expected, strict=True):
        assert_close(x, y, tolerance, axes=2, scale=scale)


@pytest.mark.parametrize("name", CASES)
def test_dynamics(name: str, rng: np.random.Generator) -> None:
    model = made(name)
    q, v, a, tau, _ = random_state(model, rng)
    state = {"q": q, "v": v, "a": a}
    found = bough.derivatives.rnea(model, q, v, a)
    assert_all_close(found, by_dual_numbers(model, "rnea", state), EXACT)
    forward = by_dual_numbers(model, "crba_ltdl", {"q": q, "v": v, "tau": tau})
    assert_all_close(bough.derivatives.forward_dynamics(model, q, v, tau), forward, EXACT)
    bias = by_dual_numbers(model, "bias_forces", {"q": q, "v": v})
    assert_all_close(bough.derivatives.bias_forces(model, q, v), bias, EXACT)
    gravity = by_dual_numbers(model, "gravity_forces", {"q": q})
    assert_all_close([bough.derivatives.gravity_forces(model, q)], gravity, EXACT)


@pytest.mark.parametrize("name", CASES)
def test_momentum(name: str, rng: np.random.Generator) -> None:
    model = made(name)
    q, v, *_ = random_state(model, rng)
    expected = by_dual_numbers(model, "centroidal_momentum", {"q": q, "v": v})
    assert_all_close(bough.derivatives.centroidal_momentum(model, q, v), expected, EXACT)


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize("name", [*CASES[-4:], "universal"])
def test_frames(name: str, reference: str, rng: np.random.Generator) -> None:
    model = made(name)
    q, v, a, *_ = random_state(model, rng)
    frame = model.frame_names[-1]
    chosen = Options((model.frame(frame),), reference)
    expected = by_dual_numbers(model, "velocities", {"q": q, "v": v}, chosen)
    assert_all_close(bough.derivatives.velocities(model, q, v, frame, reference), expected, EXACT)
    for classical in (False, True):
        chosen = Options((model.frame(frame),), reference, classical)
        expected = by_dual_numbers(model, "accelerations", {"q": q, "v": v, "a": a}, chosen)
        found = bough.derivatives.accelerations(model, q, v, a, frame, reference, classical=classical)
        assert_all_close(found, expected, EXACT)


def test_external_forces_stay_with_their_bodies(rng: np.random.Generator) -> None:
    model = made("mixed 0")
    q, v, a, tau, f = random_state(model, rng)
    expected = by_dual_numbers(model, "rnea", {"q": q, "v": v, "a": a, "f_ext": f})
    assert_all_close(bough.derivatives.rnea(model, q, v, a, f), expected, EXACT)
    expected = by_dual_numbers(model, "crba_ltdl", {"q": q, "v": v, "tau": tau, "f_ext": f})
    assert_all_close(bough.derivatives.forward_dynamics(model, q, v, tau, f), expected, EXACT)


@pytest.mark.parametrize("name", ["revolute"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_batches_and_out(name: str, dtype: type, rng: np.random.Generator, compiled: None) -> None:
    """A batch gives what single states give, in both data types, also where it is told to write."""
    model = made(name)
    q, v, a, *_ = (x.astype(dtype) for x in random_state(model, rng, (2, 3)))
    out = np.empty((2, 3, 3, model.nv, model.nv), dtype)
    for function in (bough.derivatives.rnea, bough.derivatives.forward_dynamics):
        all_at_once = function(model, q, v, a, out=out)
        assert all(np.shares_memory(x, out) for x in all_at_once)
        one = function(model, q[1, 2], v[1, 2], a[1, 2])
        for x, y in zip(all_at_once, one, strict=True):
            assert x.dtype == y.dtype == dtype
            assert_close(x[1, 2], y, 1e-4 if dtype is np.float32 else 1e-11, axes=2)


def test_parameters(rng: np.random.Generator) -> None:
    """Derivatives of a model whose numbers are given with the state are those of a model built with them."""
    model = made("mixed 0")
    q, v, a, *_ = random_state(model, rng)
    mass = f"mass of {model.body_names[-1]}"
    function = bough.function("rnea_derivatives", model, parameters=[mass])
    light, heavy = (function(q, v, a, parameters={mass: x}) for x in (1.0, 3.0))
    rnea = bough.function("rnea", model, parameters=[mass])
    t = 1e-5
    for x, found in ((1.0, light), (3.0, heavy)):
        ends = [rnea(q, v + s * t * np.eye(model.nv), a, parameters={mass: x}) for s in (1.0, -1.0)]
        assert_close(found[1], ((ends[0] - ends[1]) / (2 * t)).T, 1e-7, axes=2)


def test_forces_on_joints_that_close_loops(rng: np.random.Generator) -> None:
    """They act along joints that turn with q: derivatives by q know it."""
    model = slider_crank()
    q = bough.loops.assemble(model, bough.random(model, rng))
    v, tau = bough.loops.consistent_velocity(model, q, rng.normal(size=model.nv)), rng.normal(size=model.nv)
    f = rng.normal(size=sum(loop.joint.nv for loop in model.loops))
    by_q = gradient(model, lambda x: bough.forward_dynamics(model, x, v, tau, loop_tau=f), q)
    found = bough.derivatives.forward_dynamics(model, q, v, tau, loop_tau=f)
    assert np.abs(found[0] - bough.derivatives.forward_dynamics(model, q, v, tau)[0]).max() > 1e-3
    assert_all_close(found[:1], [by_q], EXACT)
    with pytest.raises(bough.errors.ShapeError, match="loop_tau has shape"):
        bough.derivatives.forward_dynamics(model, q, v, tau, loop_tau=np.append(f, 0.0))


def test_calls_that_cannot_be_name_what_was_called() -> None:
    arm = bough.robots.load("arm")
    with pytest.raises(TypeError, match=r"^forward_dynamics\(\) missing"):
        bough.derivatives.forward_dynamics(arm, np.zeros(6))  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^rnea_second_order\(\) missing"):
        bough.derivatives.rnea_second_order(arm, np.zeros(6))  # type: ignore[call-arg]


@pytest.mark.filterwarnings("ignore::bough.errors.LoadWarning")
def test_humanoids_have_straight_line_programs() -> None:
    """With loops, forward dynamics of G1 had half as many operations again."""
    model = bough.load(str(ROBOTS / "g1_description/urdf/g1_29dof_rev_1_0.urdf"), floating_base=True)
    assert bough.function("forward_dynamics_derivatives", model).count().total < 90_000


def test_flexible_bodies_are_refused(rng: np.random.Generator) -> None:
    model = random_flexible_model(rng)
    with pytest.raises(bough.errors.ModelError, match=r"derivatives\.rnea"):
        bough.derivatives.rnea(model, *(np.zeros(k) for k in (model.nq, model.nv, model.nv)))


@pytest.mark.parametrize("name", [*(x for x in MOVING if x not in ("universal", "cylindrical")), "mixed 0"])
def test_pinocchio(name: str, rng: np.random.Generator) -> None:
    model = made(name)
    if any(isinstance(e.joint, bough.joints.Universal | bough.joints.Cylindrical) for e in model.joints):
        pytest.skip("Pinocchio does not differentiate these")
    twin = Twin(model)
    q, v, a, tau, _ = random_state(model, rng)
    m, data, p = twin.model, twin.data, twin.q(q)
    theirs = pin.computeRNEADerivatives(m, data, p, twin.v(v), twin.v(a))
    found = bough.derivatives.rnea(model, q, v, a)
    assert_all_close(found[:2], [twin.back_square(x) for x in theirs[:2]], TOLERANCE)
    theirs = pin.computeABADerivatives(m, data, p, twin.v(v), twin.v(tau))
    assert_all_close(
        bough.derivatives.forward_dynamics(model, q, v, tau), [twin.back_square(x) for x in theirs], TOLERANCE
    )


@pytest.mark.filterwarnings("ignore::bough.errors.LoadWarning")
@pytest.mark.parametrize("file", sorted(PINOCCHIO_ROBOTS))
def test_robots(file: str, rng: np.random.Generator) -> None:
    """The algorithms as they are written, on floats, against Pinocchio's on its own robots."""
    floats = PINOCCHIO_ROBOTS[file]
    path = str(ROBOTS / file)
    model = bough.load(path, floating_base=floats, mimic=False)
    theirs = pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer()) if floats else pin.buildModelFromUrdf(path)
    q, (v, a) = bough.random(model, rng), rng.normal(size=(2, model.nv))
    p, data = bough.convert.states_to_pinocchio(model, q), theirs.createData()
    shape = (3, model.nv, model.nv)
    for name, function, last in (
        ("rnea_derivatives", pin.computeRNEADerivatives, "a"),
        ("forward_dynamics_derivatives", pin.computeABADerivatives, "tau"),
    ):
        x = {"q": q.tolist(), "v": v.tolist(), last: a.tolist()}
        values = SPECS[name].run(mechanism(model), Options(), x)["derivatives"]
        found = np.array([values[k] for k in range(int(np.prod(shape)))], dtype=float).reshape(shape)
        expected = [np.array(y) for y in function(theirs, data, p, v, a)]
        expected[2] = np.triu(expected[2]) + np.triu(expected[2], 1).T
        for got, want in zip(found, expected, strict=True):
            assert_close(got, want, TOLERANCE, axes=2)


@pytest.mark.parametrize("make", [four_bar, slider_crank, belt])
def test_loops(make: Callable[[], bough.Model], rng: np.random.Generator) -> None:
    """Derivatives with loops, of which a four-bar has redundant ones, against differences of the eighth order."""
    model = make()
    q = bough.loops.assemble(model, bough.random(model, rng))
    v, tau = bough.loops.consistent_velocity(model, q, rng.normal(size=model.nv)), rng.normal(size=model.nv)
    units = np.eye(model.nv)
    expected = [
        gradient(model, lambda x: bough.forward_dynamics(model, x, v, tau), q),
        central(lambda t: bough.forward_dynamics(model, q, v + t * units, tau)).T,
        central(lambda t: bough.forward_dynamics(model, q, v, tau + t * units)).T,
    ]
    found = bough.derivatives.forward_dynamics(model, q, v, tau)
    assert_all_close(found, expected, EXACT)
    out = np.empty((2, 3, model.nv, model.nv))
    batch = bough.derivatives.forward_dynamics(model, np.stack([q, q]), v, tau, out=out)
    assert_all_close([x[1] for x in batch], found, TOLERANCE)
    assert all(np.shares_memory(x, out) for x in batch)
