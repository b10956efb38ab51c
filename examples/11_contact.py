"""Contact: a block on a slope, a ball that bounces, and a quadruped that lands on its feet."""

import numpy as np

import bough

# --- accelerations: a block on a slope of 0.3 rad, for many coefficients of friction at once ---
builder = bough.Builder("block")
builder.add("block", bough.joints.Free(), mass=2.0, inertia=0.05)
block = builder.build()

slope = 0.3
q = [0, 0, 0, 0, np.sin(slope / 2), 0, np.cos(slope / 2)]
turn = bough.placements(block, q, "block")[:3, :3]
corners = np.array([[x, y, -0.1] for x in (-0.2, 0.2) for y in (-0.2, 0.2)]) @ turn.T
contacts = bough.contact.Contacts([("block", "world")] * 4)  # normals point from the second body to the first
normals = np.tile(turn[:, 2], (4, 1))
mu = np.linspace(0.0, 0.5, 11)[:, None] * np.ones(4)

found = bough.contact.dynamics(block, q, np.zeros(6), np.zeros(6), contacts.at(corners, normals, mu=mu))
expected = np.maximum(9.81 * (np.sin(slope) - mu[:, 0] * np.cos(slope)), 0.0)
assert np.allclose(found.motion[:, 0], expected)
holds = mu[found.motion[:, 0] < 1e-9, 0].min()
print(f"of these, the block holds from mu = {holds:.2f} on; the tangent of the slope is {np.tan(slope):.3f}")

# --- impulses: a ball that spins and bounces; friction turns spin into speed ---
builder = bough.Builder("ball")
builder.add("ball", bough.joints.Free(), mass=1.0, inertia=0.4 * 0.1**2)
ball = builder.build()
touch = bough.contact.Contacts([("ball", None)]).at([[0, 0, -0.1]], [[0, 0, 1]], mu=0.4, restitution=0.8)
after = bough.contact.impulses(ball, bough.neutral(ball), [0, 0, -3, 0, 50, 0], touch)
assert np.isclose(after.motion[2], 0.8 * 3)
print(f"a ball with topspin goes off at {after.motion[0]:.2f} m/s, turning at {after.motion[4]:.1f} rad/s")

# --- steps of time: a quadruped falls on its feet, its joints held by springs, and stands ---
robot = bough.robots.load("quadruped")
feet = [name for name in robot.frame_names if name.endswith("foot")]
contacts, up = bough.contact.Contacts([(foot, None) for foot in feet]), np.tile([0.0, 0, 1], (4, 1))
q, v, dt = bough.neutral(robot), np.zeros(robot.nv), 2e-3
for joint in robot.joint_names:
    if joint.endswith(("swing", "knee")):
        q[robot.q_slice(joint)] = 0.6 if joint.endswith("swing") else -1.2
pose = q[7:].copy()
q[2] = 0.38

for step in range(250):
    points = bough.placements(robot, q, feet)[:, :3, 3]
    tau = np.concatenate([np.zeros(6), 150.0 * (pose - q[7:]) - 2.0 * v[6:]])
    found = bough.contact.step(robot, q, v, tau, contacts.at(points, up, mu=0.7, gaps=points[:, 2]), dt=dt)
    q, v = bough.integrate(robot, q, dt * found.motion), found.motion
    if step % 25 == 0:
        print(
            f"{dt * step:.2f} s: trunk at {q[2]:.3f} m, feet push with {found.contact_forces[:, 0].sum() / dt:6.1f} N"
        )
weight = 9.81 * robot.mass
feet_move = bough.contact.jacobian(robot, q, contacts.at(points, up)) @ v
assert np.abs(feet_move).max() < 1e-2  # the trunk still sways on its springs, but the feet stay where they are
assert abs(found.contact_forces[:, 0].sum() / dt - weight) < 0.1 * weight
print(f"it weighs {weight:.1f} N")
