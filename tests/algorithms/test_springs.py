"""Springs of joints: their forces and their energy."""

from __future__ import annotations

import numpy as np

import bough
from bough.joints import Mimic, Planar, Prismatic, Revolute, Spherical
from differences import along


def test_spring_forces_are_the_gradient_of_their_energy(rng: np.random.Generator) -> None:
    b = bough.Builder("springs")
    b.add("a", Revolute("y"), joint_name="a", mass=1.0, inertia=0.1, stiffness=3.0, rest=0.4)
    b.add("b", Spherical(), "a", mass=1.0, inertia=0.1, stiffness=2.0)
    b.add("c", Mimic(Prismatic("x"), "a", 2.0, 0.1), "b", mass=1.0, stiffness=5.0)
    b.add("d", Planar("z"), mass=1.0, inertia=0.1, stiffness=(1.0, 1.0, 2.0))
    b.loop("bench", Planar("z"), "world", "d", stiffness=(4.0, 4.0, 3.0))
    model = b.build()
    q, v = bough.random(model, rng, 8), rng.normal(size=(8, model.nv))
    found = bough.function("elastic_energy", model)
    power = along(model, lambda q, v: found(q), q, v, 0 * v)
    forces = bough.passive_forces(model, q, 0 * v)
    np.testing.assert_allclose(power, -np.sum(forces * v, axis=-1), rtol=1e-9, atol=1e-9)
    assert (found(q) > 0).all()
