"""Derivatives of any function: along directions, gradients, Jacobians, and derivatives of derivatives."""

import numpy as np

import bough

robot = bough.robots.load("quadruped")
q, rng = bough.random(robot, 0), np.random.default_rng(0)
v, a = rng.normal(size=(2, robot.nv))

# A function of a model has derivatives, which are functions: they tell what they take and what they cost.
rnea = bough.function("rnea", robot)
gradient = rnea.vjp()
print(gradient)
print(f"inverse dynamics takes {rnea.count().total} operations, its gradient {gradient.count().total}")

# The gradient of a weighted sum of joint forces by q, v and a at once. That by q is along motions q ⊕ δ: it has nv
# numbers, also where q has a quaternion.
weights = rng.normal(size=robot.nv)
q_bar, v_bar, a_bar = gradient(q, v, a, weights)
assert np.allclose(a_bar, bough.crba(robot, q) @ weights)  # τ = M a + …, and M is symmetric
motion = 1e-6 * rng.normal(size=robot.nv)
change = bough.rnea(robot, bough.integrate(robot, q, motion), v, a) - bough.rnea(robot, q, v, a)
assert np.allclose(weights @ change, q_bar @ motion, rtol=1e-3)

# Along directions, many at once; for many states at once, as everything.
directions = rng.normal(size=(3, robot.nv))
states = bough.random(robot, 1, size=8)
rates = rnea.jvp("q", directions=3)(states, v, a, directions)
assert rates.shape == (8, 3, robot.nv)

# The whole jacobian by one input, or by several.
place = bough.function("center_of_mass", robot)
assert np.allclose(place.jacobian()(q), bough.center_of_mass_jacobian(robot, q))

# Derivatives have derivatives: kinetic energy twice by velocity is the mass matrix.
energy = bough.function("kinetic_energy", robot)
assert np.allclose(energy.jacobian("v").jacobian("v")(q, v), bough.crba(robot, q))

# By numbers of the model: how joint forces depend on the mass of a foot.
foot = f"mass of {robot.body_names[-1]}"
parametric = bough.function("rnea", robot, parameters=[foot])
by_mass = parametric.jacobian("parameters")(q, v, a)
heavier = parametric(q, v, a, parameters={foot: robot.bodies[-1].inertia.mass + 1.0})
assert np.allclose(heavier - rnea(q, v, a), by_mass[:, 0])
print("one kilogram more in a foot changes the force on the base by", np.round(by_mass[:3, 0], 2), "N")
