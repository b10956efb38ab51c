"""Random mechanisms against Pinocchio: every quantity, every joint type that both have, several seeds."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import bough
from closeness import assert_close
from differences import derivative
from model_strategies import JOINTS, random_model, random_state
from pinocchio_twin import Twin, depth_first, leader

TOLERANCE = 1e-10
STATES = 3

REFERENCES = {
    "LOCAL": pin.ReferenceFrame.LOCAL,
    "WORLD": pin.ReferenceFrame.WORLD,
    "LOCAL_WORLD_ALIGNED": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
}

MOVING = sorted(set(JOINTS) - {"fixed"})
CASES = [*MOVING, *(f"mixed {seed}" for seed in range(10))]

# Pinocchio's followers must come after their leaders, have no armature, and be revolute or prismatic. With them its
# CRBA agrees with its own RNEA on some trees only, of joints with one degree of freedom, such as the latter ones here.
COUPLED = [f"coupled {seed}" for seed in range(8)]
COUPLED_SINGLE = [f"coupled-single {seed}" for seed in range(8)]


class Case:
    """A model, its twin, and some states."""

    def __init__(self, name: str) -> None:
        kind, _, seed = name.partition(" ")
        rng = np.random.default_rng([int(seed or 0), *name.encode()])
        if kind == "mixed":
            self.model = random_model(rng, int(rng.integers(2, 7)))
        elif kind in JOINTS:
            self.model = random_model(rng, 3, [kind])
        else:
            self.model = coupled_model(rng, [] if "single" in kind else ["spherical", "free"])
        self.twin = Twin(self.model)
        self.states = [random_state(self.model, rng) for _ in range(STATES)]
        self.frames = self.model.frame_names[1:]
        self.tip = max(self.frames, key=lambda f: len(self.model.tree.path(self.body(f))) if self.body(f) else 0)
        self.pinocchio_differentiates = not any(isinstance(e.joint, bough.joints.Universal) for e in self.model.joints)

    def body(self, frame: str) -> int:
        return self.model.frame(frame).body


def coupled_model(rng: np.random.Generator, others: list[str]) -> bough.Model:
    """A model in which every follower comes after its leader, depth first."""
    while True:
        model = random_model(
            rng, int(rng.integers(3, 7)), ["revolute", "prismatic", *others], mimic=True, armature=False
        )
        order = depth_first(model)
        pairs = [(leader(model, k)[0] + 1, k + 1) for k in range(model.nbodies)]
        if all(order.index(first) <= order.index(second) for first, second in pairs):
            return model


case = cache(Case)


@pytest.mark.parametrize("name", [*CASES, *COUPLED, *COUPLED_SINGLE])
def test_inverse_dynamics(name: str) -> None:
    c = case(name)
    t, m, d = c.twin, c.twin.model, c.twin.data
    for q, v, a, _, f in c.states:
        p, u, w = t.q(q), t.v(v), t.v(a)
        assert_close(bough.rnea(c.model, q, v, a, f), t.back(pin.rnea(m, d, p, u, w, t.forces(f))), TOLERANCE)
        tau = t.back(pin.rnea(m, d, p, u, w))
        size = np.abs(tau).max()
        assert_close(bough.rnea(c.model, q, v, a), tau, TOLERANCE)
        bias, gravity = pin.rnea(m, d, p, u, 0 * w), pin.rnea(m, d, p, 0 * u, 0 * w)
        assert_close(bough.bias_forces(c.model, q, v), t.back(bias), TOLERANCE, scale=size)
        assert_close(bough.gravity_forces(c.model, q), t.back(gravity), TOLERANCE, scale=size)


@pytest.mark.parametrize("name", [*CASES, *COUPLED_SINGLE])
def test_mass_matrix(name: str) -> None:
    c = case(name)
    for q, *_ in c.states:
        fresh = c.twin.model.createData()  # with mimic joints Pinocchio adds to what an earlier call left there
        M = c.twin.back_symmetric(pin.crba(c.twin.model, fresh, c.twin.q(q)))
        assert_close(bough.crba(c.model, q), M, TOLERANCE, axes=2)
        assert_close(bough.papers.mass_matrix_by_rnea(c.model, q), M, TOLERANCE, axes=2)


@pytest.mark.parametrize("name", [*COUPLED, *COUPLED_SINGLE])
def test_mass_matrix_by_columns_of_their_inverse_dynamics(name: str) -> None:
    c = case(name)
    m, d, rest = c.twin.model, c.twin.data, np.zeros(c.model.nv)
    for q, *_ in c.states:
        p = c.twin.q(q)
        g = np.array(pin.rnea(m, d, p, rest, rest))
        M = np.array([pin.rnea(m, d, p, rest, unit) - g for unit in np.eye(m.nv)])
        assert_close(bough.crba(c.model, q), c.twin.back_square(M), TOLERANCE, axes=2, scale=np.abs(g).max())


@pytest.mark.parametrize("name", CASES)
def test_bias_terms(name: str) -> None:
    c = case(name)
    t, m, d = c.twin, c.twin.model, c.twin.data
    for q, v, *_ in c.states:
        p, u = t.q(q), t.v(v)
        bias = t.back(pin.nonLinearEffects(m, d, p, u))
        gravity = t.back(pin.computeGeneralizedGravity(m, d, p))
        size = np.abs(bias).max()
        assert_close(bough.bias_forces(c.model, q, v), bias, TOLERANCE)
        assert_close(bough.gravity_forces(c.model, q), gravity, TOLERANCE, scale=size)
        coriolis, C = bias - gravity, bough.coriolis_matrix(c.model, q, v)
        assert_close(bough.coriolis_forces(c.model, q, v), coriolis, TOLERANCE, scale=size)
        assert_close(C @ v, coriolis, TOLERANCE, scale=size)
        if c.pinocchio_differentiates:
            theirs = t.back_square(pin.computeCoriolisMatrix(m, d, p, u))
            assert_close(C, theirs, TOLERANCE, axes=2, scale=size)


@pytest.mark.parametrize("name", CASES)
def test_forward_dynamics(name: str) -> None:
    c = case(name)
    t, m, d = c.twin, c.twin.model, c.twin.data
    for q, v, _, tau, f in c.states:
        p, u, w = t.q(q), t.v(v), t.v(tau)
        qdd = t.back(pin.aba(m, d, p, u, w, t.forces(f)))
        for method in ("aba", "crba"):
            assert_close(bough.forward_dynamics(c.model, q, v, tau, f, method), qdd, TOLERANCE)
        assert_close(bough.aba(c.model, q, v, tau), t.back(pin.aba(m, d, p, u, w)), TOLERANCE)
        Minv = t.back_symmetric(pin.computeMinverse(m, d, p))
        assert_close(bough.mass_matrix_inverse(c.model, q), Minv, TOLERANCE, axes=2)


@pytest.mark.parametrize("name", CASES)
def test_frames(name: str) -> None:
    c = case(name)
    t, m, d = c.twin, c.twin.model, c.twin.data
    for q, v, a, *_ in c.states[:2]:
        pin.forwardKinematics(m, d, t.q(q), t.v(v), t.v(a))
        pin.updateFramePlacements(m, d)
        ids = [t.frame(name) for name in c.frames]
        placed = bough.placements(c.model, q, c.frames)
        assert_close(placed, [d.oMf[k].homogeneous for k in ids], TOLERANCE, axes=2)
        assert_close(bough.placements(c.model, q), placed[: c.model.nbodies], TOLERANCE, axes=2)
        for name, reference in REFERENCES.items():
            speed = bough.velocities(c.model, q, v, c.frames, name)
            assert_close(speed, [pin.getFrameVelocity(m, d, k, reference).vector for k in ids], TOLERANCE)
            for classical, get in ((False, pin.getFrameAcceleration), (True, pin.getFrameClassicalAcceleration)):
                rate = bough.accelerations(c.model, q, v, a, c.frames, name, classical=classical)
                assert_close(rate, [get(m, d, k, reference).vector for k in ids], TOLERANCE)


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize("name", CASES)
def test_jacobians(name: str, reference: str) -> None:
    """Pinocchio leaves the rate of the subspace of a universal joint out: there, its own Jacobian is differentiated."""
    c = case(name)
    t, m, d = c.twin, c.twin.model, c.twin.data
    k, there = t.frame(c.tip), REFERENCES[reference]
    for q, v, *_ in c.states:
        p, u = t.q(q), t.v(v)

        def after(time: float, p: Any = p, u: Any = u) -> Any:
            return np.array(pin.computeFrameJacobian(m, d, pin.integrate(m, p, time * u), k, there))

        if c.pinocchio_differentiates:
            pin.computeJointJacobiansTimeVariation(m, d, p, u)
            pin.updateFramePlacements(m, d)
            J_dot = np.array(pin.getFrameJacobianTimeVariation(m, d, k, there))
        else:
            J_dot = derivative(after, 0.03 / np.abs(u).sum())
        J = after(0.0)
        size = np.abs(J).max() * np.abs(v).max()
        assert_close(bough.jacobian(c.model, q, c.tip, reference), t.back(J), TOLERANCE, axes=2)
        rate = bough.jacobian_rate(c.model, q, v, c.tip, reference)
        assert_close(rate, t.back(J_dot), TOLERANCE, axes=2, scale=size)


@pytest.mark.parametrize("name", CASES)
def test_momentum_and_energy(name: str) -> None:
    c = case(name)
    t, m, d = c.twin, c.twin.model, c.twin.data
    for q, v, *_ in c.states:
        p, u = t.q(q), t.v(v)
        assert_close(bough.center_of_mass(c.model, q), pin.centerOfMass(m, d, p), TOLERANCE)
        J = t.back(pin.jacobianCenterOfMass(m, d, p))
        assert_close(bough.center_of_mass_jacobian(c.model, q), J, TOLERANCE, axes=2)
        pin.ccrba(m, d, p, u)
        assert_close(bough.centroidal_momentum_matrix(c.model, q), t.back(d.Ag), TOLERANCE, axes=2)
        assert_close(bough.centroidal_momentum(c.model, q, v), d.hg.vector, TOLERANCE)
        # of the rotors Pinocchio adds some and forgets others, as their joints are written there
        kinetic = pin.computeKineticEnergy(t.without_armature, d, p, u) + 0.5 * v @ (c.model.limits("armature") * v)
        assert_close(bough.kinetic_energy(c.model, q, v)[None], [kinetic], TOLERANCE)
        potential = pin.computePotentialEnergy(m, d, p)
        assert_close(bough.potential_energy(c.model, q)[None], [potential], TOLERANCE)


@pytest.mark.parametrize("name", CASES)
def test_configurations(name: str) -> None:
    c = case(name)
    t, m = c.twin, c.twin.model
    for q0, v, a, *_ in c.states:
        p0 = t.q(q0)
        far = t.q(bough.integrate(c.model, q0, v))
        assert_close(t.signed(far), t.signed(pin.integrate(m, p0, t.v(v))), TOLERANCE)
        near = bough.integrate(c.model, q0, 0.3 * a)
        p1 = t.q(near)
        assert_close(bough.difference(c.model, q0, near), t.back(pin.difference(m, p0, p1)), TOLERANCE)
        for s in (0.0, 0.3, 1.0):
            between = t.q(bough.interpolate(c.model, q0, near, s))
            assert_close(t.signed(between), t.signed(pin.interpolate(m, p0, p1, s)), TOLERANCE)
