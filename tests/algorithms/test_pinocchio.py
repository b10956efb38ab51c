"""Random mechanisms against Pinocchio: every quantity, every joint type that both have, several seeds."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pinocchio as pin
import pytest

import bough
from closeness import assert_close
from model_strategies import JOINTS, random_model, random_state
from pinocchio_twin import Twin

TOLERANCE = 1e-10
STATES = 3

REFERENCES = {
    "LOCAL": pin.ReferenceFrame.LOCAL,
    "WORLD": pin.ReferenceFrame.WORLD,
    "LOCAL_WORLD_ALIGNED": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
}

MOVING = sorted(set(JOINTS) - {"fixed"})
MIXED = [f"mixed {seed}" for seed in range(16)]
CASES = [*MOVING, *MIXED]
COUPLED = [f"coupled {seed}" for seed in range(12)]


class Case:
    """A model, its twin, and some states."""

    def __init__(self, name: str) -> None:
        kind, _, seed = name.partition(" ")
        rng = np.random.default_rng([len(kind), int(seed or 0), CASES.index(name) if name in CASES else 0])
        if kind == "mixed":
            self.model = random_model(rng, int(rng.integers(2, 7)))
        elif kind == "coupled":
            # Pinocchio's followers are of a type with an affine law and have no armature of their own
            self.model = random_model(
                rng, int(rng.integers(2, 7)), ["revolute", "prismatic", "helical", "spherical", "free"], True, False
            )
        else:
            self.model = random_model(rng, 3, [kind])
        self.twin = Twin(self.model)
        self.states = [random_state(self.model, rng) for _ in range(STATES)]
        self.frames = self.model.frame_names[1:]


case = lru_cache(maxsize=None)(Case)


@pytest.mark.parametrize("name", [*CASES, *COUPLED])
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


@pytest.mark.parametrize("name", [*CASES, *COUPLED])
def test_mass_matrix(name: str) -> None:
    c = case(name)
    for q, *_ in c.states:
        M = c.twin.back_symmetric(pin.crba(c.twin.model, c.twin.data, c.twin.q(q)))
        assert_close(bough.crba(c.model, q), M, TOLERANCE, axes=2)
        assert_close(bough.mass_matrix_by_rnea(c.model, q), M, TOLERANCE, axes=2)


@pytest.mark.parametrize("name", CASES)
def test_bias_terms(name: str) -> None:
    c = case(name)
    t, m, d = c.twin, c.twin.model, c.twin.data
    for q, v, *_ in c.states:
        p, u = t.q(q), t.v(v)
        bias = t.back(pin.nonLinearEffects(m, d, p, u))
        gravity = t.back(pin.computeGeneralizedGravity(m, d, p))
        C = t.back_square(pin.computeCoriolisMatrix(m, d, p, u))
        size = np.abs(bias).max()
        assert_close(bough.bias_forces(c.model, q, v), bias, TOLERANCE)
        assert_close(bough.gravity_forces(c.model, q), gravity, TOLERANCE, scale=size)
        assert_close(bough.coriolis_forces(c.model, q, v), C @ v, TOLERANCE, scale=size)
        assert_close(bough.coriolis_matrix(c.model, q, v), C, TOLERANCE, axes=2, scale=size)


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
            assert_close(bough.velocities(c.model, q, v, None, name), speed[: c.model.nbodies], TOLERANCE)
            for classical, get in ((False, pin.getFrameAcceleration), (True, pin.getFrameClassicalAcceleration)):
                rate = bough.accelerations(c.model, q, v, a, c.frames, name, classical=classical)
                assert_close(rate, [get(m, d, k, reference).vector for k in ids], TOLERANCE)
                every = bough.accelerations(c.model, q, v, a, None, name, classical=classical)
                assert_close(every, rate[: c.model.nbodies], TOLERANCE)


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize("name", CASES)
def test_jacobians(name: str, reference: str) -> None:
    c = case(name)
    t, m, d = c.twin, c.twin.model, c.twin.data
    frame = c.frames[-1]
    k = t.frame(frame)
    for q, v, *_ in c.states:
        p, u = t.q(q), t.v(v)
        pin.computeJointJacobians(m, d, p)
        pin.computeJointJacobiansTimeVariation(m, d, p, u)
        pin.updateFramePlacements(m, d)
        J = t.back(pin.getFrameJacobian(m, d, k, REFERENCES[reference]))
        J_dot = t.back(pin.getFrameJacobianTimeVariation(m, d, k, REFERENCES[reference]))
        assert_close(bough.jacobian(c.model, q, frame, reference), J, TOLERANCE, axes=2)
        assert_close(bough.jacobian_rate(c.model, q, v, frame, reference), J_dot, TOLERANCE, axes=2)


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
        rotors = 0.5 * v @ (c.model.limits("armature") * v)  # not among the bodies there
        kinetic = pin.computeKineticEnergy(m, d, p, u) + rotors
        assert_close(bough.kinetic_energy(c.model, q, v)[None], [kinetic], TOLERANCE)
        potential = pin.computePotentialEnergy(m, d, p)
        assert_close(bough.potential_energy(c.model, q)[None], [potential], TOLERANCE)


@pytest.mark.parametrize("name", CASES)
def test_configurations(name: str) -> None:
    c = case(name)
    t, m = c.twin, c.twin.model
    for q0, v, a, *_ in c.states:
        p0 = t.q(q0)
        assert_close(t.q(bough.integrate(c.model, q0, v)), pin.integrate(m, p0, t.v(v)), TOLERANCE)
        near = bough.integrate(c.model, q0, 0.3 * a)
        p1 = t.q(near)
        assert_close(bough.difference(c.model, q0, near), t.back(pin.difference(m, p0, p1)), TOLERANCE)
        for s in (0.0, 0.3, 1.0):
            between = t.q(bough.interpolate(c.model, q0, near, s))
            assert_close(between, pin.interpolate(m, p0, p1, s), TOLERANCE)
