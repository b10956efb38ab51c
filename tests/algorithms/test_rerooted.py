"""Another floating base inside: whatever body it is, all results are those of the plain model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bough
from bough.kernel.compile import build
from bough.kernel.functions import mechanism
from bough.kernel.specs import SPECS, Options
from bough.model import Placement
from bough.program import evaluate
from bough.tree import named
from closeness import assert_close
from model_strategies import random_inertia, random_model, random_placement, random_rotation, random_state

ROUNDING = 1e-10


def floating_model(seed: int, bodies: int, mimic: bool) -> bough.Model:
    """A random mechanism that floats, with body frames away from the joints."""
    rng = np.random.default_rng(seed)
    model = random_model(rng, bodies, mimic=mimic, floating=True)
    frames = (Placement.of(random_rotation(rng), rng.normal(size=3), "frame") for _ in model.bodies)
    return replace(model, bodies=tuple(replace(b, frame=f) for b, f in zip(model.bodies, frames, strict=True)))


floating = st.builds(floating_model, st.integers(0, 2**32 - 1), st.integers(1, 5), st.booleans())


@settings(max_examples=8)
@given(floating, st.integers(0, 2**32 - 1))
def test_accelerations_are_the_same_from_every_body(model: bough.Model, seed: int) -> None:
    q, v, _, tau, f_ext = random_state(model, np.random.default_rng(seed))
    want = bough.forward_dynamics(model, q, v, tau, f_ext, method="crba")
    size = np.abs(bough.crba(model, q)).max() * np.abs(want).max()
    for link in model.body_names:
        hung = model.rerooted(link)
        got = bough.forward_dynamics(hung, q, v, tau, f_ext, method="crba")
        assert_close(got, want, ROUNDING * max(1.0, 1e-3 * np.linalg.cond(bough.crba(model, q))))
        assert_close(bough.rnea(model, q, v, got, f_ext), tau, ROUNDING, scale=size)


SAME: dict[str, Callable[[bough.Model, Any, Any, Any, Any, Any], Any]] = {
    "rnea": lambda m, q, v, a, tau, f: bough.rnea(m, q, v, a, f),
    "bias_forces": lambda m, q, v, a, tau, f: bough.bias_forces(m, q, v, f),
    "crba": lambda m, q, v, a, tau, f: bough.crba(m, q),
    "aba": lambda m, q, v, a, tau, f: bough.aba(m, q, v, tau, f),
    "mass_matrix_inverse": lambda m, q, v, a, tau, f: bough.mass_matrix_inverse(m, q),
    "factorize": lambda m, q, v, a, tau, f: bough.factorize(m, q).solve(tau),
    "energy": lambda m, q, v, a, tau, f: bough.kinetic_energy(m, q, v) + bough.potential_energy(m, q),
    "placements": lambda m, q, v, a, tau, f: bough.placements(m, q),
    "jacobian": lambda m, q, v, a, tau, f: bough.jacobian(m, q, m.frame_names[-1]),
    "momentum": lambda m, q, v, a, tau, f: bough.centroidal_momentum(m, q, v),
    "integrate": lambda m, q, v, a, tau, f: bough.integrate(m, q, v),
}


@pytest.mark.parametrize("name", SAME)
def test_all_other_functions_take_no_notice(name: str, rng: np.random.Generator) -> None:
    model = random_model(rng, 5, armature=False, floating=True)
    state = random_state(model, rng)
    assert np.array_equal(SAME[name](model, *state), SAME[name](model.rerooted("b5"), *state))


def test_the_base_outside_is_the_base_it_was(rng: np.random.Generator) -> None:
    """Names and order stay, and what the free joint exerts is a force on the body that floats outside."""
    model = random_model(rng, 3, floating=True)
    hung = model.rerooted("b3")
    assert (hung.joint_names, hung.dof_names, hung.body_names) == (
        model.joint_names,
        model.dof_names,
        model.body_names,
    )
    q, v, _, tau, _ = random_state(model, rng)
    f_ext = np.zeros((model.nbodies, 6))
    f_ext[0], tau[:6] = tau[:6], 0.0  # the generalised force of a free joint is a force on its body
    with_joint = tau.copy()
    with_joint[:6] = f_ext[0]
    by_force = bough.forward_dynamics(hung, q, v, tau, f_ext, method="crba")
    assert_close(bough.forward_dynamics(hung, q, v, with_joint, method="crba"), by_force, ROUNDING)


@pytest.mark.parametrize("mimic", [False, True])
def test_floats_unrolled_and_rolled_agree(mimic: bool, rng: np.random.Generator) -> None:
    model = random_model(rng, 4, mimic=mimic, floating=True)
    q, v, _, tau, f_ext = random_state(model, rng)
    x = {"q": q.tolist(), "v": v.tolist(), "tau": tau.tolist(), "f_ext": f_ext.ravel().tolist()}
    sizes = {key: len(values) for key, values in x.items()}
    for link in model.body_names[1::2]:
        hung = model.rerooted(link)

        def rule(*, hung: bough.Model = hung, **given: Any) -> Any:
            return SPECS["crba_ltdl"].run(mechanism(hung), Options(), given)

        floats = rule(**{k: list(y) for k, y in x.items()})
        for rolled in (False, True):
            results = evaluate(build("crba_ltdl", rule, sizes, model.nv, rolled), x)
            for key in ("qdd", "pivots"):
                assert_close(results[key], [floats[key][k] for k in range(model.nv)], 1e-11)


@pytest.mark.parametrize(("tree", "root"), [(named.chain(9), 4), (named.chain(70), 35), (named.humanoid(), 3)])
def test_machine_code_agrees(tree: bough.trees.Tree, root: int, rng: np.random.Generator) -> None:
    """Unrolled, with more than 64 degrees of freedom rolled, and with limbs that are alike outside and not inside."""
    model = bough.trees.topologies.on_tree(tree, floating=(1,)).rerooted(f"body {root}")
    q, v, _, tau, f_ext = random_state(model, rng, (5,))
    want = bough.forward_dynamics(model, q, v, tau, f_ext, method="crba")
    try:
        bough.set_backend("llvm")
        got = bough.forward_dynamics(model, q, v, tau, f_ext, method="crba")
        one = [bough.forward_dynamics(model, *state, method="crba") for state in zip(q, v, tau, f_ext, strict=True)]
    finally:
        bough.set_backend(None)
    assert_close(got, want, 1e-9)
    assert np.array_equal(got, one)


def test_one_of_several_trees(rng: np.random.Generator) -> None:
    b = bough.Builder("scene")
    b.add("arm", bough.joints.Revolute("y"), **random_inertia(rng))
    for side in ("left", "right"):
        b.add(f"{side} 0", bough.joints.Free(), **random_inertia(rng), **random_placement(rng))
        for k in range(3):
            b.add(
                f"{side} {k + 1}",
                bough.joints.Revolute("x"),
                f"{side} {k}",
                **random_inertia(rng),
                **random_placement(rng),
            )
    model = b.build()
    q, v, _, tau, f_ext = random_state(model, rng)
    want = bough.forward_dynamics(model, q, v, tau, f_ext)
    for link in model.body_names[1:]:
        got = bough.forward_dynamics(model.rerooted(link), q, v, tau, f_ext, method="crba")
        assert_close(got, want, ROUNDING)
    with pytest.raises(
        bough.errors.ModelError, match=r"'arm' is connected to the base by joint 'arm'.*expected a free joint"
    ):
        model.rerooted("arm")


def test_a_massless_tip_is_named_as_in_the_plain_model() -> None:
    b = bough.Builder()
    b.add("trunk", bough.joints.Free(), mass=1.0, inertia=0.1)
    b.add("limb", bough.joints.Revolute("y"), "trunk", at=(0, 0, 1), mass=1.0, com=(1, 0, 0), inertia=0.1)
    b.add("tip", bough.joints.Revolute("x"), "limb", at=(1, 0, 0))
    model = b.build()
    for link in ("trunk", "limb"):
        with pytest.raises(bough.errors.SingularError, match="joint 'tip' moves nothing that has inertia"):
            bough.forward_dynamics(model.rerooted(link), bough.neutral(model), [0.0] * 8, [0.0] * 8, method="crba")
