"""Mechanisms with loops in maximal coordinates: the same motion and the same forces as in joint coordinates."""

from __future__ import annotations

import numpy as np
import pytest

import bough
from closeness import assert_close
from mechanisms import Floats, closed, random_loops
from model_strategies import JOINTS, random_rotation


def in_maximal_coordinates(
    model: bough.Model, q: Floats, v: Floats, tau: Floats, time_constant: float
) -> tuple[Floats, bough.lcp.Solution]:
    """Joint accelerations by way of maximal coordinates, and the forces of loops."""
    system, mass, jacobian, force, c, compliance = bough.maximal.of_model(model, q, v, tau)
    factor = bough.maximal.ldlt(system, mass, jacobian, compliance)
    free = factor.solve(np.concatenate([force, c], axis=-1))
    problem = bough.maximal.anticipate(factor, free, *bough.maximal.of_loops(model, q, v, time_constant=time_constant))
    solution = bough.lcp.pivoting(problem.A, problem.b, bough.lcp.Conditions.equalities(len(model.constraint_names)))
    acceleration, _ = problem.motion(solution.f)
    bodies = acceleration.reshape(*acceleration.shape[:-1], model.nbodies, 6)
    return bough.maximal.joint_accelerations(model, q, v, bodies), solution


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "slider-crank", "Stewart platform"])
def test_known_mechanisms(name: str, rng: np.random.Generator) -> None:
    model, q, v = closed(name)
    tau = rng.normal(size=model.nv)
    motion = bough.forward_dynamics(model, q, v, tau, time_constant=0.1, full=True)
    found, solution = in_maximal_coordinates(model, q, v, tau, 0.1)
    assert solution.solved
    assert_close(found, motion.motion, 1e-9)
    L = bough.loops.jacobian(model, q)
    assert_close(solution.f @ L, motion.loop_forces @ L, 1e-8)  # redundant loops share their forces as they like


def solid_loops(rng: np.random.Generator, kinds: list[str]) -> tuple[bough.Model, Floats]:
    """A mechanism without point masses, nearly closed, each loop between two bodies."""
    while True:
        model, q = random_loops(rng, kinds, 4)
        solid = all(min(body.inertia.rotational[k] for k in (0, 2, 5)) > 0.0 for body in model.bodies)
        if solid and all(loop.predecessor.body != loop.successor.body for loop in model.loops):
            return model, bough.integrate(model, q, rng.normal(size=model.nv) * 1e-2)


KINDS = sorted(JOINTS)
TOGETHER = [*((kind, []) for kind in KINDS), *((kind, ["spherical"]) for kind in KINDS[::2])]
TOGETHER += [(kind, ["fixed", "universal"]) for kind in KINDS[1::2]]


@pytest.mark.parametrize(("kind", "more"), TOGETHER)
def test_random_mechanisms_with_every_joint(kind: str, more: list[str], rng: np.random.Generator) -> None:
    """Away from the loops being closed too: errors and velocities that the loops do not allow decay alike."""
    model, q = solid_loops(rng, [kind, *more])
    v, tau = rng.normal(size=(2, model.nv))
    motion = bough.forward_dynamics(model, q, v, tau, time_constant=0.1, full=True)
    found, solution = in_maximal_coordinates(model, q, v, tau, 0.1)
    if bough.loops.rank(model, q) == 0:  # nothing is held, and what is asked is rounding
        assert solution.solved
    if solution.solved:
        assert_close(found, motion.motion, 1e-9)
    else:  # too much is asked, and the nearest motion depends on what is measured how
        assert np.abs(motion.residual).max() > 1e-9


def test_a_loop_that_holds_nothing_is_no_conflict() -> None:
    """Sliders cannot turn: a joint that keeps them from turning asks for nothing, but for rounding."""
    b = bough.Builder("gantry")
    tilt = random_rotation(np.random.default_rng(0))
    for k, axis in enumerate("xyz"):
        parent = f"b{k - 1}" if k else "world"
        b.add(f"b{k}", bough.joints.Prismatic(axis), parent, rotation=tilt, mass=1.0, inertia=0.1)
    model = b.build()
    turned = bough.placements(model, np.zeros(3))[2, :3, :3]
    model = model.with_loop("square", bough.joints.Translational(), "world", "b2", successor_rotation=turned.T)
    motion = bough.forward_dynamics(model, np.full(3, 0.1), np.ones(3), np.zeros(3), full=True)
    assert bough.loops.rank(model, np.full(3, 0.1)) == 0
    assert motion.conflicts == ()


def coupled() -> bough.Model:
    """A tree of joints with one degree of freedom, four of which are coupled in pairs, and one is held."""
    b = bough.Builder("coupled")
    joints = [
        bough.joints.Revolute("x"),
        bough.joints.Prismatic("y"),
        bough.joints.Revolute("z"),
        bough.joints.Helical("y", 0.1),
        bough.joints.Revolute("y"),
    ]
    for k, (joint, parent) in enumerate(zip(joints, ("world", "b0", "b1", "b0", "b3"), strict=True)):
        b.add(
            f"b{k}",
            joint,
            parent,
            joint_name=f"j{k}",
            at=(0.1, 0.2, -0.1),
            mass=1.0 + k,
            com=(0.1, 0, 0.2),
            inertia=0.1,
        )
    b.equality("near", "j1", "j0", (0.1, -0.4, 0.3))
    b.equality("far", "j2", "j4", (0.0, 1.5, 0.0, 0.2))
    b.equality("held", "j3", None, (0.2,))
    return b.build()


def test_couplings_are_rows_on_several_bodies(rng: np.random.Generator) -> None:
    model = coupled()
    for _ in range(5):
        q, v, tau = rng.normal(size=(3, model.nv)) * 0.5
        motion = bough.forward_dynamics(model, q, v, tau, time_constant=0.2, full=True)
        found, solution = in_maximal_coordinates(model, q, v, tau, 0.2)
        assert_close(found, motion.motion, 1e-9)
        assert_close(solution.f, motion.loop_forces, 1e-9)


def test_batches_are_states_one_by_one(rng: np.random.Generator) -> None:
    model, q, v = closed("five-bar")
    q, v = q + rng.normal(size=(3, 4)) * 1e-2, v + rng.normal(size=(3, 4))
    together = bough.maximal.of_loops(model, q, v)
    for k in range(3):
        one = bough.maximal.of_loops(model, q[k], v[k])
        np.testing.assert_array_equal(together.jacobian[k], one.jacobian)
        np.testing.assert_array_equal(together.c[k], one.c)
