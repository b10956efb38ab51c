"""Identification: the payload of an arm from noisy joint forces, and what the data cannot determine."""

import numpy as np

import bough
from bough import identification

arm = bough.robots.load("arm")
tool = arm.body_names[-1]

# Joint forces are linear in ten parameters of each body; the arm's forces tell only some combinations of them.
pi = identification.parameters(arm)
base = identification.base_parameters(arm)
print(f"{pi.size} inertial parameters, of which joint forces tell {base.rank} combinations, such as {base.names[-1]!r}")

# Measured is the same arm with something in its hand: a smooth motion, and forces with errors of 0.05 N m.
load = bough.Inertia.cylinder(0.03, 0.12, mass=0.75).placed(bough.Placement(origin=(0.02, 0.0, 0.09)))
loaded = arm.with_inertia(tool, inertia=arm.bodies[-1].inertia + load)
rng = np.random.default_rng(3)
t = np.linspace(0.0, 10.0, 400)[:, None]
size, speed, phase = 0.8, rng.uniform(1.0, 3.0, arm.nv), rng.uniform(0.0, 6.0, arm.nv)
q = size * np.sin(speed * t + phase)
v, a = size * speed * np.cos(speed * t + phase), -size * speed**2 * np.sin(speed * t + phase)
tau = bough.rnea(loaded, q, v, a) + 0.05 * rng.normal(size=q.shape)

# Found is what the hand carries, as a body that can exist. All other bodies are taken to be known, and how good the
# forces are follows from what is left of them.
found = bough.identify(arm, (q, v, a, tau), bodies=tool)
carried = found.model.mass - arm.mass
error = np.sqrt(found.covariance[0, 0])
print(f"payload {carried:.3f} ± {error:.3f} kg, in truth {load.mass} kg")
print(f"errors of forces {found.noise.mean():.3f} N m, as they were made")
print("of the hand the data tell little of:", ", ".join(found.untold) or "nothing")
assert abs(carried - load.mass) < 4.0 * error < 0.1
assert identification.is_consistent(found.parameters[-10:])

# The model found predicts forces of motions it has not seen.
q_new, (v_new, a_new) = bough.random(arm, rng, size=50), rng.normal(size=(2, 50, arm.nv))
truth = bough.rnea(loaded, q_new, v_new, a_new)
before, after = (np.abs(bough.rnea(m, q_new, v_new, a_new) - truth).max() for m in (arm, found.model))
print(f"largest error of predicted forces: {before:.2f} N m before, {after:.2f} N m after")
assert after < 0.1 * before
