"""Build a mechanism: two arms on a column, their dynamics and their costs."""

import numpy as np

import bough

# A two-armed machine: a turning column, and on it two arms of two links each.
builder = bough.Builder("two arms")
builder.add("column", bough.joints.Revolute("z"), mass=8.0, com=(0, 0, 0.3), inertia=(0.4, 0.4, 0.1))
for side, y in (("left", 0.2), ("right", -0.2)):
    upper, lower = f"{side} upper", f"{side} lower"
    builder.add(upper, bough.joints.Revolute("y"), "column", at=(0, y, 0.6), mass=2.0, com=(0, 0, -0.15), inertia=0.02)
    builder.add(lower, bough.joints.Revolute("y"), upper, at=(0, 0, -0.3), mass=1.0, com=(0, 0, -0.1), inertia=0.01)
    builder.frame(f"{side} hand", lower, at=(0, 0, -0.25))
model = builder.build()

# One state, or a thousand at once: leading axes are batch axes.
rng = np.random.default_rng(0)
q = bough.random(model, rng, size=1000)
v, tau = rng.normal(size=(2, 1000, model.nv))

a = bough.forward_dynamics(model, q, v, tau)  # motion from forces
assert np.allclose(bough.rnea(model, q, v, a), tau)  # forces from motion

# The arms are on different branches, so the mass matrix has zeros, and its factor keeps them.
factor = bough.factorize(model, q)
assert np.allclose(factor.solve(tau - bough.bias_forces(model, q, v)), a)
print(model, "zeros in M:", np.sum(bough.crba(model, q[0]) == 0))

# What it costs, exactly.
for algorithm in ("rnea", "crba", "ltdl", "aba"):
    print(f"{algorithm:5}", bough.count(model, algorithm))
