"""Loops: assemble a four-bar linkage, move it, and compute the forces in its joints."""

import numpy as np

import bough

rod = {"mass": 1.0, "inertia": (0.001, 0.02, 0.02)}
builder = bough.Builder("four-bar")
builder.add("crank", bough.joints.Revolute("y"), com=(0.15, 0, 0), **rod)
builder.add("coupler", bough.joints.Revolute("y"), "crank", at=(0.3, 0, 0), com=(0.4, 0, 0), **rod)
builder.add("rocker", bough.joints.Revolute("y"), at=(0.7, 0, 0), com=(0.25, 0, 0), **rod)
tree = builder.build()

# The tree has three degrees of freedom. A hinge between coupler and rocker leaves one: it takes five away, but in a
# planar mechanism three of these are redundant. That is no concern of yours.
model = tree.with_loop("pin", bough.joints.Revolute("y"), "coupler", "rocker", at=(0.8, 0, 0), successor_at=(0.5, 0, 0))

# From a rough guess to a configuration in which the loop is closed, with the crank where it is.
q = bough.loops.assemble(model, [-1.0, 0.5, -1.5], hold=["crank"])
assert np.abs(bough.loops.errors(model, q)).max() < 1e-10

# From any velocity to the nearest one that the loop allows.
v = bough.loops.consistent_velocity(model, q, [3.0, 0.0, 0.0])
assert np.allclose(bough.loops.jacobian(model, q) @ v, 0.0)

# Accelerations under a torque on the crank; what holds the loop together, and how many of its five rows count.
tau = [0.5, 0.0, 0.0]
a = bough.forward_dynamics(model, q, v, tau)
motion = bough.forward_dynamics(model, q, v, tau, full=True)
assert np.allclose(a, motion.motion)
assert bough.loops.rank(model, q) == 2
print("accelerations:", a)
print("force at the pin, in the plane:", motion.loop_forces[:2], "N")

# The whole force through every joint, on each body from its parent, and through the pin, on the rocker.
through = bough.loops.reactions(model, q, v, motion.motion, motion.loop_forces)
print("force at the foot of the rocker:", through.joints[2, :3], "N, at the pin:", through.loops[0, :3], "N")

# The loop joint is a joint like any other: it may be driven, and have limits, springs and dampers.
driven = bough.forward_dynamics(model, q, v, tau, loop_tau=[0.5])
assert not np.allclose(driven, a)

# And backwards: which torque on the crank alone gives these accelerations, and which forces would hold it all still.
assert np.allclose(bough.inverse_dynamics(model, q, v, a, drives=["crank"]), tau)
print(
    "torque that holds the crank:",
    bough.inverse_dynamics(model, q, np.zeros(3), np.zeros(3), drives=["crank"])[0],
    "N m",
)

# A second of passive motion in steps of a millisecond: the energy stays.
energy = bough.kinetic_energy(model, q, v) + bough.potential_energy(model, q)
step = 1e-3
for _ in range(1000):
    a = bough.forward_dynamics(model, q, v, np.zeros(3))
    half_q, half_v = bough.integrate(model, q, step / 2 * v), v + step / 2 * a  # the midpoint rule
    a = bough.forward_dynamics(model, half_q, half_v, np.zeros(3))
    q, v = bough.integrate(model, q, step * half_v), v + step * a
    q, v = bough.loops.project(model, q, v)  # what the integrator left open is closed again
drift = bough.kinetic_energy(model, q, v) + bough.potential_energy(model, q) - energy
assert abs(drift) < 1e-3 * energy
assert np.abs(bough.loops.errors(model, q)).max() < 1e-12
print(f"after 1 s: energy {drift / energy:+.1e}, loop open by {np.abs(bough.loops.errors(model, q)).max():.1e} m")
