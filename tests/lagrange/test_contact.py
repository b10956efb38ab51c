"""Contact in maximal coordinates: one-sided auxiliary rows with friction, and the motion of joint coordinates."""

from __future__ import annotations

import numpy as np

import bough
from closeness import assert_close
from mechanisms import Floats


def test_a_quadruped_on_its_feet_in_both_coordinates(rng: np.random.Generator) -> None:
    """Four feet on the ground at rest, random drives: some stick, some slide, some leave it."""
    model = bough.robots.load("quadruped")
    feet = [name for name in model.frame_names if name.endswith("foot")]
    contacts, up, mu, k = (
        bough.contact.Contacts([(foot, None) for foot in feet]),
        np.tile([0.0, 0.0, 1.0], (4, 1)),
        0.5,
        4,
    )
    q, rest = bough.neutral(model), np.zeros(model.nv)
    seen = {"stick": 0, "slide": 0, "leave": 0}
    for _ in range(6):
        q[7:] = rng.uniform(-0.5, 0.5, model.nv - 6)
        tau = np.concatenate([np.zeros(6), rng.normal(size=model.nv - 6) * 30.0])
        places = bough.placements(model, q, feet)[:, :3, 3]
        want = bough.contact.dynamics(model, q, rest, tau, contacts.at(places, up, mu=mu), limits=False)

        system, mass, jacobian, force, c, compliance = bough.maximal.of_model(model, q, rest, tau)
        factor = bough.maximal.ldlt(system, mass, jacobian, compliance)
        free = factor.solve(np.concatenate([force, c]))
        bodies = [frame.body for foot in feet for frame in model.frames if frame.name == foot]
        ground = bough.maximal.Auxiliary(system, [((body,), 3) for body in bodies])
        rows = [_point_rows(model, q, body, place) for body, place in zip(bodies, places, strict=True)]
        axes = bough.contact.axes(up)
        blocks = np.concatenate([(axes[i] @ row).ravel() for i, row in enumerate(rows)])
        problem = bough.maximal.anticipate(factor, free, ground, blocks, np.zeros(3 * k))
        J = bough.contact.jacobian(model, q, contacts.at(places, up)).reshape(3 * k, model.nv)
        assert_close(problem.A, J @ np.linalg.solve(bough.crba(model, q), J.T), 1e-9, axes=2)
        found = bough.lcp.pivoting(problem.A, problem.b, bough.lcp.Conditions.contacts(k), mu)
        assert found.solved
        assert_close(found.f, want.contact_forces.ravel(), 1e-8)
        acceleration = problem.motion(found.f)[0].reshape(model.nbodies, 6)
        assert_close(bough.maximal.joint_accelerations(model, q, rest, acceleration), want.motion, 1e-8)
        for normal, *tangents in want.contact_forces:
            bound = mu * normal * (1.0 - 1e-9)
            kind = "leave" if normal == 0.0 else "slide" if np.abs(tangents).max() > bound else "stick"
            seen[kind] += 1
    assert all(seen.values()), seen


def _point_rows(model: bough.Model, q: Floats, body: int, place: Floats) -> Floats:
    """How a point of a body moves in axes of the base with the spatial velocity of the body, linear part first."""
    X = bough.placements(model, q)[body - 1]
    x, y, z = X[:3, :3].T @ (place - X[:3, 3])
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(X[:3, :3] @ np.concatenate([np.eye(3), -cross], axis=1))
