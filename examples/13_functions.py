"""Functions as values, with numbers of a model as inputs: a payload per state, compiled once."""

import numpy as np

import bough

arm = bough.robots.load("arm")
q, v, tau = bough.neutral(arm), np.zeros(arm.nv), np.full(arm.nv, 2.0)

# An algorithm on a model is a value: it tells what it takes and gives, what it costs, and how it is computed.
rnea = bough.function("rnea", arm)
print(rnea)
print("operations:", rnea.count(), "in a program of", len(str(rnea.program()).splitlines()), "lines")
assert np.array_equal(rnea(q, v, v), bough.rnea(arm, q, v, v))

# Compile before the first call, if that must not wait.
bough.compile(arm, ["rnea", "forward_dynamics"])

# However it is called, it is the same: lists, views, float32, a result of your own, any batch axes.
states = np.tile(q, (4, 2, 1))
result = np.empty((4, 2, arm.nv))
assert bough.rnea(arm, states, v, v, out=result) is result  # v and the accelerations are the same for all states
assert np.array_equal(result[3, 1], bough.rnea(arm, q.tolist(), v.tolist(), v.tolist()))

# Masses, inertias, placements, gravity may be inputs: here the payload of the hand, and gravity.
hand = arm.body_names[-1]
forward = bough.function("forward_dynamics", arm, parameters=[f"payload of {hand}", "gravity"])
payloads = np.zeros((5, 10))  # mass, centre of mass (3), inertia about it (6)
payloads[:, 0] = np.linspace(0.0, 2.0, 5)
payloads[:, 3] = 0.05
a = forward(q, v, tau, parameters={f"payload of {hand}": payloads})
for payload, acceleration in zip(payloads, a, strict=True):
    carrying = arm.with_body("payload", bough.joints.Fixed(), hand, mass=payload[0], com=payload[1:4])
    assert np.allclose(bough.forward_dynamics(carrying, q, v, tau), acceleration)
on_the_moon = forward(q, v, tau, parameters={"gravity": (0.0, 0.0, -1.62)})
assert np.allclose(on_the_moon, bough.forward_dynamics(arm.with_gravity((0, 0, -1.62)), q, v, tau))
print("accelerations of the second joint with 0 to 2 kg in the hand:", np.round(a[:, 1], 3))
