"""Forward dynamics heeds what the model has: loops and couplings unless told otherwise; the whole motion on request."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bough
from closeness import assert_close
from mechanisms import closed, parallelogram, random_loops
from model_strategies import random_state

NAMES = ["four-bar", "five-bar", "slider-crank", "Stewart platform", "delta robot", "scissor lift"]


@pytest.mark.parametrize("name", NAMES)
def test_loops_are_heeded_unless_left_out(name: str, rng: np.random.Generator) -> None:
    model, q, v = closed(name)
    tau = rng.normal(size=model.nv)
    L, bias = bough.loops.jacobian(model, q), bough.loops.bias(model, q, v)
    a = bough.forward_dynamics(model, q, v, tau, time_constant=np.inf)
    assert np.abs(L @ a + bias).max() < 1e-9 * (1 + np.abs(a).max())
    opened = bough.aba(model, q, v, tau)
    for method in ("auto", "aba", "crba"):
        assert_close(bough.forward_dynamics(model, q, v, tau, method=method, loops=False), opened, 1e-9)
    assert np.abs(L @ opened + bias).max() > 1e-3


@pytest.mark.parametrize("name", NAMES)
def test_the_whole_motion_comes_from_the_same_program(name: str, rng: np.random.Generator) -> None:
    """Multipliers are the smallest also where rows are redundant: what a rank test gives."""
    model, q, v = closed(name)
    tau, f_ext = rng.normal(size=(3, model.nv)), rng.normal(size=(model.nbodies, 6))
    drive = rng.normal(size=sum(loop.joint.nv for loop in model.loops))
    found = bough.forward_dynamics(model, q, v, tau, f_ext, loop_tau=drive, full=True)
    assert np.array_equal(found.motion, bough.forward_dynamics(model, q, v, tau, f_ext, loop_tau=drive))
    assert found.conflicts == ()
    assert found.residual.shape == (3,)
    assert (found.contact_forces.shape, found.limit_forces.shape) == ((3, 0, 3), (3, 0))
    for method in ("null_space", "kkt"):
        want = bough.forward_dynamics(model, q, v, tau, f_ext, method, loop_tau=drive, full=True)  # type: ignore[call-overload]
        assert_close(want.motion, found.motion, 1e-9)
        if method == "null_space" or bough.loops.rank(model, q) == len(model.constraint_names):
            assert_close(found.loop_forces, want.loop_forces, 1e-9)
    L, B = bough.loops.jacobian(model, q), bough.loops.coordinate_jacobian(model, q)
    left = found.motion @ bough.crba(model, q) + bough.bias_forces(model, q, v, f_ext) - tau - drive @ B
    assert_close(left, found.loop_forces @ L, 1e-9)


@pytest.mark.parametrize(
    "kinds", [["revolute"], ["spherical", "fixed"], ["revolute", "revolute"], ["planar", "helical"]]
)
def test_smallest_multipliers_of_random_mechanisms(kinds: list[str]) -> None:
    for seed in (0, 3):
        rng = np.random.default_rng([seed, *"".join(kinds).encode()])
        model, q = random_loops(rng, kinds, 5, mimic=seed == 3)
        v = bough.loops.consistent_velocity(model, q, rng.normal(size=model.nv))
        _, _, _, tau, f_ext = random_state(model, rng)
        found, want = (
            bough.forward_dynamics(model, q, v, tau, f_ext, method=method, full=True)  # type: ignore[call-overload]
            for method in ("multipliers", "null_space")
        )
        size = float(np.abs(bough.aba(model, q, v, tau, f_ext)).max())
        assert_close(found.motion, want.motion, 1e-8, scale=size)
        assert_close(found.loop_forces, want.loop_forces, 1e-7)


def test_states_in_doubt_have_their_whole_motion_too() -> None:
    model = parallelogram()
    angles = np.array([0.5, 0.0, -0.5, 1e-4])
    q, v = np.stack([angles, -angles, angles], axis=-1), np.tile([1.0, -1.0, 1.0], (4, 1))
    found = bough.forward_dynamics(model, q, v, np.zeros(3), full=True)
    want = bough.forward_dynamics(model, q, v, np.zeros(3), method="null_space", full=True)
    assert_close(found.motion, want.motion, 1e-7)
    assert_close(found.loop_forces[1:2], want.loop_forces[1:2], 1e-9)


def test_a_function_by_name_is_what_runs(rng: np.random.Generator) -> None:
    """Its program has the loops, and its states in doubt are mended, with parameters too."""
    model = parallelogram()
    angles = np.array([0.5, 0.0])
    q, v, tau = np.stack([angles, -angles, angles], axis=-1), np.tile([1.0, -1.0, 1.0], (2, 1)), rng.normal(size=3)
    want = bough.forward_dynamics(model, q, v, tau)
    function = bough.function("forward_dynamics", model)
    assert np.array_equal(function(q, v, tau), want)
    assert function.count().mul > bough.function("aba", model).count().mul
    given = bough.function("forward_dynamics", model, parameters=["mass of crank"])
    assert_close(given(q, v, tau), want, 1e-9)
    heavy = model.with_inertia("crank", mass=3.0, com=model.bodies[0].inertia.com)
    assert_close(given(q, v, tau, parameters={"mass of crank": 3.0}), bough.forward_dynamics(heavy, q, v, tau), 1e-9)


def test_wrong_combinations_say_so() -> None:
    model, q, v = closed("four-bar")
    tree, none = bough.trees.topologies.chain(3), np.zeros(3)
    refused: list[tuple[str, bough.Model, dict[str, Any]]] = [
        ("method 'aba' is of trees, and 'four-bar' has loops or couplings: expected 'auto'", model, {"method": "aba"}),
        ("method 'kkt' is of loops and couplings, and 'chain.*' has none: expected 'auto'", tree, {"method": "kkt"}),
        ("and loops=False leaves them out", model, {"method": "multipliers", "loops": False}),
    ]
    for message, which, options in refused:
        with pytest.raises(bough.errors.ModelError, match=message):
            bough.forward_dynamics(which, none, none, none, **options)
    with pytest.raises(bough.errors.ShapeError, match="loop_tau is given, and loops=False leaves out what it drives"):
        bough.forward_dynamics(model, q, v, none, loops=False, loop_tau=[1.0])
    with pytest.raises(bough.errors.ShapeError, match="loop_tau has shape"):
        bough.forward_dynamics(tree, none, none, none, loop_tau=[1.0])
    with pytest.raises(bough.errors.ShapeError, match="out is given, and the whole motion is several arrays"):
        bough.forward_dynamics(model, q, v, none, full=True, out=none)  # type: ignore[call-overload]
    for name in ("loops", "full"):
        with pytest.raises(bough.errors.ShapeError, match=f"{name} is 'no', expected True or False"):
            bough.forward_dynamics(model, q, v, none, **{name: "no"})  # type: ignore[call-overload]


@pytest.mark.usefixtures("compiled")
def test_velocities_are_the_same_whatever_the_strides(rng: np.random.Generator) -> None:
    model, q, _ = closed("Stewart platform")
    v = rng.normal(size=(7, model.nv))
    want = bough.loops.consistent_velocity(model, q, v)
    assert np.abs(bough.loops.jacobian(model, q) @ want.T).max() < 1e-12
    wide = np.zeros((14, 3 * model.nv))
    wide[::2, ::3] = v
    assert np.array_equal(bough.loops.consistent_velocity(model, q, wide[::2, ::3]), want)
    assert np.array_equal(bough.loops.consistent_velocity(model, q, np.asfortranarray(v)), want)
    assert np.array_equal([bough.loops.consistent_velocity(model, q, x) for x in v], want)
