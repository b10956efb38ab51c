"""Maximal coordinates: free bodies and constraints between them, solved in linear time."""

import numpy as np

import bough

# A chain of 1000 beads in the plane, each a point of two coordinates, on rods of length 1, hung from the world.
n = 1000
system = bough.maximal.System([2] * n, [(i - 1, i, 1) for i in range(1, n + 1)])
x = np.stack([np.arange(1.0, n + 1), np.zeros(n)], axis=1)  # straight and level, at rest
along = np.diff(x, axis=0, prepend=np.zeros((1, 2)))

# Each rod keeps the distance of its two beads: along · (ẍᵢ - ẍᵢ₋₁) = 0. The world has no block.
jacobian = np.stack([-along, along], axis=1).ravel()[2:]
mass = np.tile(0.1 * np.eye(2), (n, 1, 1)).ravel()
weight = np.tile([0.0, -9.81 * 0.1], n)
a, tension = bough.maximal.multipliers(system, mass, jacobian, weight, np.zeros(n))
assert np.allclose(a.reshape(n, 2), [0.0, -9.81])  # a level chain falls freely at first, and its rods pull at nothing
assert np.allclose(tension, 0.0)

# Factor once, solve many: how the chain answers to a pull at each of three beads.
factor = bough.maximal.ldlt(system, mass, jacobian)
pulls = np.zeros((system.nv + system.nc, 3))
pulls[[2 * 10, 2 * 500, 2 * 999], [0, 1, 2]] = 1.0
answers = factor.solve(pulls)
assert np.allclose(answers[: system.nv], 0.0)  # along the chain nothing moves,
assert np.allclose(answers[system.nv + 501 :, 1], 0.0)  # and what is beyond the pull does not feel it

# A robot as such a system: the same accelerations as from its joint coordinates, and the reactions of its joints.
model = bough.trees.topologies.humanoid()
rng = np.random.default_rng(0)
q, v, tau = bough.random(model, rng), *rng.normal(size=(2, model.nv))
a, multipliers = bough.maximal.multipliers(*bough.maximal.of_model(model, q, v, tau))
a = a.reshape(model.nbodies, 6)
assert np.allclose(bough.maximal.joint_accelerations(model, q, v, a), bough.forward_dynamics(model, q, v, tau))
reactions = bough.maximal.joint_reactions(model, q, tau, multipliers)
print(f"{system}\n{model}: largest reaction {np.abs(reactions).max():.1f} N or N m")
