"""Loops on trees: laws of their kinematics and dynamics on random mechanisms, and Pinocchio."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import bough
from closeness import assert_close
from mechanisms import closed, random_loops
from model_strategies import JOINTS, random_state
from pinocchio_twin import Twin

KINDS = sorted(JOINTS)
SETS = [["spherical", "fixed"], ["revolute", "revolute"], ["universal", "helical", "planar"], ["cylindrical", "free"]]
METHODS: tuple[Any, ...] = ("multipliers", "null_space", "kkt")
NEVER = np.inf
"""The time constant without stabilisation."""


def looped(kinds: list[str], seed: int = 0, **kwargs: Any) -> tuple[bough.Model, Any, Any, np.random.Generator]:
    rng = np.random.default_rng([seed, *"".join(kinds).encode()])
    model, q = random_loops(rng, kinds, **kwargs)
    return model, q, bough.loops.consistent_velocity(model, q, rng.normal(size=model.nv)), rng


# --- kinematics ---


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_a_closed_loop_has_no_error_whatever_its_joint_is_turned_to(kind: str, seed: int) -> None:
    model, q, _, _ = looped([kind], seed)
    rows = 6 - JOINTS[kind](np.random.default_rng(0)).nv
    assert len(model.constraint_names) == rows
    assert bough.loops.errors(model, q).shape == (rows,)
    assert np.abs(bough.loops.errors(model, q)).max(initial=0.0) < 1e-12


@pytest.mark.parametrize("kind", KINDS)
def test_the_jacobian_is_the_derivative_of_the_errors(kind: str) -> None:
    model, q, _, rng = looped([kind], mimic=kind in ("spherical", "revolute"))
    L, h = bough.loops.jacobian(model, q), 1e-5
    for _ in range(3):
        v = rng.normal(size=model.nv)
        there, back = (bough.loops.errors(model, bough.integrate(model, q, s * v)) for s in (h, -h))
        assert np.allclose((there - back) / (2 * h), L @ v, rtol=0, atol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_accelerations_keep_the_loop_closed(kind: str) -> None:
    """Along q + v t + q̈ t²/2 the errors have no second derivative: what velocities add is right."""
    model, q, v, rng = looped([kind], 1, bodies=5)
    assert np.abs(bough.loops.jacobian(model, q) @ v).max(initial=0.0) < 1e-12
    a = bough.forward_dynamics(model, q, v, rng.normal(size=model.nv))
    h, size = 1e-4, 1.0 + np.abs(a).max()
    ends = [bough.loops.errors(model, bough.integrate(model, q, s * v + h * h / 2 * a)) for s in (h, -h)]
    assert np.abs((ends[0] + ends[1]) / h**2).max(initial=0.0) < 1e-5 * size
    L = bough.loops.jacobian(model, q)
    assert np.allclose(L @ a + bough.loops.bias(model, q, v), 0.0, atol=1e-9 * size)


@pytest.mark.parametrize("kind", KINDS)
def test_the_loop_joint_moves_as_its_configuration_says(kind: str) -> None:
    model, q, v, _ = looped([kind], 2, bodies=5)
    (loop,), h = model.loops, 1e-5
    joint, parameters = loop.joint.canonical, loop.joint.parameters
    ends = [bough.loops.coordinates(model, bough.integrate(model, q, s * v)) for s in (-h, h)]
    rate = np.array(joint.difference(parameters, *ends)) / (2 * h)
    B = bough.loops.coordinate_jacobian(model, q)
    assert B.shape == (loop.joint.nv, model.nv)
    assert np.allclose(B @ v, rate, rtol=0, atol=1e-7 * (1 + np.abs(rate).max(initial=0.0)))


def test_only_the_two_paths_below_the_common_ancestor_have_columns() -> None:
    b = bough.Builder()
    b.add("trunk", bough.joints.Free(), mass=1.0, inertia=1.0)
    for name, parent in (("left", "trunk"), ("right", "trunk"), ("far", "right"), ("other", "trunk")):
        b.add(name, bough.joints.Revolute((1, 2, 3)), parent, at=(0.1, 0.2, 0.3), mass=1.0, inertia=1.0)
    model = b.build().with_loop("ring", bough.joints.Fixed(), "left", "far", at=(1, 2, 3))
    L = bough.loops.jacobian(model, bough.random(model, np.random.default_rng(0)))
    assert np.flatnonzero(np.abs(L).max(axis=0)).tolist() == [6, 7, 8]


# --- dynamics ---


def dense(model: bough.Model, q: Any, v: Any, tau: Any, f_ext: Any, aims: Any) -> tuple[Any, Any]:
    """The whole system by the pseudo-inverse, rows and columns in units of what they move."""
    M, L = bough.crba(model, q), bough.loops.jacobian(model, q)
    n, rows = model.nv, len(L)
    K = np.zeros((n + rows, n + rows))
    K[:n, :n], K[:n, n:], K[n:, :n] = M, -L.T, L
    x = np.linalg.pinv(K, rcond=1e-11) @ np.concatenate([tau - bough.bias_forces(model, q, v, f_ext), aims])
    return x[:n], x[n:]


@pytest.mark.parametrize("kinds", [*([kind] for kind in KINDS), *SETS], ids="+".join)
def test_a_dense_solution_agrees(kinds: list[str]) -> None:
    for seed in range(2) if len(kinds) > 1 else (KINDS.index(kinds[0]) % 2,):
        model, q, v, rng = looped(kinds, seed, bodies=6, mimic=seed == 1)
        _, _, _, tau, f = random_state(model, rng)
        want, forces = dense(model, q, v, tau, f, -bough.loops.bias(model, q, v))
        for method in METHODS:
            a = bough.forward_dynamics(model, q, v, tau, f, method, time_constant=NEVER)
            assert_close(a, want, 1e-9)
        motion = bough.forward_dynamics(model, q, v, tau, f, time_constant=NEVER, full=True)
        L = bough.loops.jacobian(model, q)
        assert_close(L.T @ motion.loop_forces, L.T @ forces, 1e-8)
        assert bough.loops.rank(model, q) == np.linalg.matrix_rank(L, rtol=1e-9)
        assert motion.conflicts == ()


def test_errors_are_driven_to_zero_in_the_time_constant(rng: np.random.Generator) -> None:
    model, q, v = closed("four-bar")
    q, v, T = q + 1e-3 * rng.normal(size=3), v + 1e-3 * rng.normal(size=3), 0.02
    L, tau = bough.loops.jacobian(model, q), rng.normal(size=3)
    e, k = bough.loops.errors(model, q), bough.loops.bias(model, q, v)
    for method in METHODS:
        a = bough.forward_dynamics(model, q, v, tau, method=method, time_constant=T)
        assert np.allclose(L @ a + k + 2 / T * (L @ v) + e / T**2, 0.0, atol=1e-10)


@pytest.mark.parametrize("kind", ["spherical", "fixed"])
def test_pinocchio_agrees(kind: str) -> None:
    types = {"spherical": pin.ContactType.CONTACT_3D, "fixed": pin.ContactType.CONTACT_6D}
    compared = 0
    for seed in range(5):
        model, q, v, rng = looped([kind], seed, bodies=8, joints=["revolute", "spherical", "free"])
        loop = model.constraints[0]
        assert isinstance(loop, bough.loops.Loop)
        L = bough.loops.jacobian(model, q)
        if np.linalg.matrix_rank(L, rtol=1e-6) < len(L):
            continue  # Pinocchio solves these only approximately
        compared += 1
        t, tau = Twin(model), rng.normal(size=model.nv)
        ends = [(t.ids[s.body], t._seen(s.body, s.placement)) for s in (loop.predecessor, loop.successor)]
        held = pin.RigidConstraintModel(types[kind], t.model, *ends[0], *ends[1], pin.ReferenceFrame.LOCAL)
        models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        models.append(held)
        datas.append(held.createData())
        pin.initConstraintDynamics(t.model, t.data, models, datas)
        settings = pin.ProximalSettings(1e-14, 1e-10, 50)
        p, u, w = t.q(q), t.v(v), t.v(tau)
        theirs = t.back(pin.constraintDynamics(t.model, t.data, p, u, w, models, datas, settings))
        assert_close(bough.forward_dynamics(model, q, v, tau, time_constant=NEVER), theirs, 1e-9)
    assert compared >= 3


def test_a_linear_law_is_a_mimic_joint(rng: np.random.Generator) -> None:
    def arm(follower: bough.joints.Joint) -> bough.Builder:
        b = bough.Builder()
        b.add("a", bough.joints.Revolute("z"), mass=1.0, com=(0.3, 0, 0), inertia=0.1)
        b.add("b", follower, "a", at=(0.6, 0, 0), mass=1.0, com=(0.3, 0.1, 0), inertia=0.1)
        return b

    mimic, free = (
        arm(bough.joints.Mimic(bough.joints.Revolute("y"), "a", -1.5, 0.2)).build(),
        arm(bough.joints.Revolute("y")),
    )
    free.equality("gear", "b", "a", (0.5, -1.5), zero=-0.3)
    model, q, v, tau = free.build(), rng.normal(), rng.normal(), rng.normal()
    whole_q, whole_v = [q, -1.5 * q + 0.2], [v, -1.5 * v]
    assert np.abs(bough.loops.errors(model, whole_q)).max() < 1e-15
    for method in METHODS:
        a = bough.forward_dynamics(model, whole_q, whole_v, [tau, 0.0], method=method)
        assert_close(a[:1], bough.aba(mimic, [q], [v], [tau]), 1e-12)
        assert np.isclose(a[1], -1.5 * a[0])


def test_a_curved_law_keeps_its_second_derivative(rng: np.random.Generator) -> None:
    b = bough.Builder()
    for name in ("a", "b"):
        b.add(name, bough.joints.Revolute("z"), mass=1.0, com=(0.3, 0, 0), inertia=0.1)
    b.equality("cam", "b", "a", (0.1, 0.5, -0.3, 0.2), other_zero=0.4)
    b.equality("stop", "a", None, 0.7)
    model, h = b.build(), 1e-4
    q, v = rng.normal(size=(2, 2))
    e = [bough.loops.errors(model, q + s * v) for s in (h, 0.0, -h)]
    assert np.allclose((e[0] - 2 * e[1] + e[2]) / h**2, bough.loops.bias(model, q, v), atol=1e-6)
    assert np.allclose((e[0] - e[2]) / (2 * h), bough.loops.jacobian(model, q) @ v, atol=1e-7)
