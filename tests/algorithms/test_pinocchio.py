"""Random mechanisms against Pinocchio: every quantity, every joint type that both have, several seeds."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pinocchio as pin
import pytest
from closeness import assert_close
from model_strategies import JOINTS, random_model, random_state
from pinocchio_twin import Twin

import bough

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
def test_the_twin_has_the_same_coordinates(name: str) -> None:
    c = case(name)
    assert c.twin.model.nv == c.model.nv
    assert c.twin.model.nq == bough.to_pinocchio(c.model, bough.neutral(c.model)).size


@pytest.mark.parametrize("name", [*CASES, *COUPLED])
def test_inverse_dynamics(name: str) -> None:
    c = case(name)
    m, d = c.twin.model, c.twin.data
    for q, v, a, _, f in c.states:
        p, u = c.twin.state(q, v)
        tau = pin.rnea(m, d, p, u, a, c.twin.forces(f))
        assert_close(bough.rnea(c.model, q, v, a, f), tau, TOLERANCE)
        assert_close(bough.rnea(c.model, q, v, a), pin.rnea(m, d, p, u, a), TOLERANCE)
        size = np.abs(tau).max()
        assert_close(bough.bias_forces(c.model, q, v), pin.rnea(m, d, p, u, 0 * a), TOLERANCE, scale=size)
        assert_close(bough.gravity_forces(c.model, q), pin.rnea(m, d, p, 0 * u, 0 * a), TOLERANCE, scale=size)


@pytest.mark.parametrize("name", [*CASES, *COUPLED])
def test_mass_matrix(name: str) -> None:
    c = case(name)
    for q, v, *_ in c.states:
        M = np.array(pin.crba(c.twin.model, c.twin.data, c.twin.state(q, v)[0]))
        M = np.triu(M) + np.triu(M, 1).T
        assert_close(bough.crba(c.model, q), M, TOLERANCE, axes=2)
        assert_close(bough.mass_matrix_by_rnea(c.model, q), M, TOLERANCE, axes=2)


@pytest.mark.parametrize("name", CASES)
def test_bias_terms(name: str) -> None:
    c = case(name)
    m, d = c.twin.model, c.twin.data
    for q, v, *_ in c.states:
        p, u = c.twin.state(q, v)
        nle = np.array(pin.nonLinearEffects(m, d, p, u))
        g = np.array(pin.computeGeneralizedGravity(m, d, p))
        C = np.array(pin.computeCoriolisMatrix(m, d, p, u))
        size = np.abs(nle).max()
        assert_close(bough.bias_forces(c.model, q, v), nle, TOLERANCE)
        assert_close(bough.gravity_forces(c.model, q), g, TOLERANCE, scale=size)
        assert_close(bough.coriolis_forces(c.model, q, v), C @ v, TOLERANCE, scale=size)
        assert_close(bough.coriolis_matrix(c.model, q, v), C, TOLERANCE, axes=2, scale=size)


@pytest.mark.parametrize("name", CASES)
def test_forward_dynamics(name: str) -> None:
    c = case(name)
    m, d = c.twin.model, c.twin.data
    for q, v, _, tau, f in c.states:
        p, u = c.twin.state(q, v)
        forces = c.twin.forces(f)
        qdd = np.array(pin.aba(m, d, p, u, tau, forces))
        for method in ("aba", "crba"):
            assert_close(bough.forward_dynamics(c.model, q, v, tau, f, method), qdd, TOLERANCE)
        assert_close(bough.aba(c.model, q, v, tau), pin.aba(m, d, p, u, tau), TOLERANCE)
        Minv = np.array(pin.computeMinverse(m, d, p))
        Minv = np.triu(Minv) + np.triu(Minv, 1).T
        assert_close(bough.mass_matrix_inverse(c.model, q), Minv, TOLERANCE, axes=2)


@pytest.mark.parametrize("name", CASES)
def test_frames(name: str) -> None:
    c = case(name)
    m, d = c.twin.model, c.twin.data
    for q, v, a, *_ in c.states[:2]:
        pin.forwardKinematics(m, d, *c.twin.state(q, v), a)
        pin.updateFramePlacements(m, d)
        ids = [c.twin.frame(name) for name in c.frames]
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
    m, d = c.twin.model, c.twin.data
    frame = c.frames[-1]
    k = c.twin.frame(frame)
    for q, v, *_ in c.states:
        p, u = c.twin.state(q, v)
        pin.computeJointJacobians(m, d, p)
        pin.computeJointJacobiansTimeVariation(m, d, p, u)
        pin.updateFramePlacements(m, d)
        J = np.array(pin.getFrameJacobian(m, d, k, REFERENCES[reference]))
        J_dot = np.array(pin.getFrameJacobianTimeVariation(m, d, k, REFERENCES[reference]))
        assert_close(bough.jacobian(c.model, q, frame, reference), J, TOLERANCE, axes=2)
        assert_close(bough.jacobian_rate(c.model, q, v, frame, reference), J_dot, TOLERANCE, axes=2)


@pytest.mark.parametrize("name", CASES)
def test_momentum_and_energy(name: str) -> None:
    c = case(name)
    m, d = c.twin.model, c.twin.data
    for q, v, *_ in c.states:
        p, u = c.twin.state(q, v)
        assert_close(bough.center_of_mass(c.model, q), pin.centerOfMass(m, d, p), TOLERANCE)
        assert_close(bough.center_of_mass_jacobian(c.model, q), pin.jacobianCenterOfMass(m, d, p), TOLERANCE, axes=2)
        pin.ccrba(m, d, p, u)
        assert_close(bough.centroidal_momentum_matrix(c.model, q), d.Ag, TOLERANCE, axes=2)
        assert_close(bough.centroidal_momentum(c.model, q, v), d.hg.vector, TOLERANCE)
        kinetic = pin.computeKineticEnergy(m, d, p, u)
        assert_close(bough.kinetic_energy(c.model, q, v)[None], [kinetic], TOLERANCE)
        potential = pin.computePotentialEnergy(m, d, p)
        assert_close(bough.potential_energy(c.model, q)[None], [potential], TOLERANCE)


@pytest.mark.parametrize("name", CASES)
def test_configurations(name: str) -> None:
    c = case(name)
    m = c.twin.model
    for (q0, v, *_), (_, u, *_) in zip(c.states, c.states[1:], strict=False):
        p0, _ = c.twin.state(q0, v)
        q1 = bough.integrate(c.model, q0, v)
        p1 = pin.integrate(m, p0, v)
        assert_close(bough.to_pinocchio(c.model, q1), p1, TOLERANCE)
        near = bough.integrate(c.model, q0, 0.3 * u)
        pn = bough.to_pinocchio(c.model, near)
        assert_close(bough.difference(c.model, q0, near), pin.difference(m, p0, pn), TOLERANCE)
        for t in (0.0, 0.3, 1.0):
            between = bough.to_pinocchio(c.model, bough.interpolate(c.model, q0, near, t))
            assert_close(between, pin.interpolate(m, p0, pn, t), TOLERANCE)
