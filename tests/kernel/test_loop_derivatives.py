"""Derivatives of forward dynamics with loops where entries of the constraint Jacobian vanish."""

from __future__ import annotations

import numpy as np

import bough
from differences import derivative


def test_entries_that_vanish_have_derivatives() -> None:
    """Of a crank and a rod in line, where rounding is taken off the Jacobian."""
    b = bough.Builder()
    b.add("crank", bough.joints.Revolute("y"), mass=0.5, com=(0.2, 0, 0.01), inertia=0.02)
    b.add("rod", bough.joints.Revolute("y"), "crank", at=(0.4, 0, 0), mass=0.4, com=(0.3, 0, 0.02), inertia=0.02)
    b.add("slider", bough.joints.Prismatic("x"), mass=0.3, inertia=0.01)
    b.loop("pin", bough.joints.Revolute("y"), "slider", "rod", successor_at=(0.6, 0, 0))
    model, q, v = b.build(), np.array([0.0, 0.0, 1.0]), np.array([0.6, -1.0, 0.0])
    tau = np.array([0.3, -0.2, 0.5])
    by_q, _, _ = bough.derivatives.forward_dynamics(model, q, v, tau)
    for k, direction in enumerate(np.eye(3)):
        expected = derivative(lambda t, d=direction: bough.forward_dynamics(model, q + t * d, v, tau), 1e-3)
        np.testing.assert_allclose(by_q[:, k], expected, rtol=1e-7, atol=1e-7)
