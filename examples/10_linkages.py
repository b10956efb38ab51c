"""Linkages: many kinds of bodies and constraints in maximal coordinates, including your own."""

from dataclasses import dataclass

import numpy as np

import bough
from bough.maximal import bodies, constraints

# A coin rolls on the floor. Its axis is z of its own frame; it starts upright, rolling along x and turning a little.
r, m = 0.02, 0.01
coin = bough.maximal.Linkage(
    {"coin": bodies.Rigid(m, inertia=(m * r**2 / 4, m * r**2 / 4, m * r**2 / 2))},
    {"floor": (constraints.Rolling(r, axis="z"), "coin")},
)
up = np.sqrt(0.5)
x = np.array([0.0, 0.0, r, up, 0.0, 0.0, up])  # quaternion: the axis lies level, along -y
v = coin.impulses(x, [0.6, 0.0, 0.0, 0.0, 1.5, -20.0]).motion  # the nearest velocity without slip
assert np.allclose(coin.rates(x, v), 0.0)
M = coin.terms(x, v).mass.reshape(6, 6)


def energy(x: np.ndarray, v: np.ndarray) -> float:
    return float(v @ M @ v / 2 + m * 9.81 * x[2])


# Half a second by the midpoint rule. Errors die out by themselves, and what is left is projected away in the end.
before, h = energy(x, v), 1e-3
for _ in range(500):
    x_mid, v_mid = coin.integrate(x, h / 2 * v), v + h / 2 * coin.accelerations(x, v).motion
    x, v = coin.integrate(x, h * v_mid), v + h * coin.accelerations(x_mid, v_mid).motion
x = coin.project(x)
v = coin.impulses(x, v).motion
assert abs(energy(x, v) / before - 1.0) < 1e-3
print(f"{coin}\nafter 0.5 s at {np.round(x[:3], 3)} m; energy {energy(x, v):.6f} J, {before:.6f} J at first")


# A constraint of your own says what must vanish; all derivatives follow from it. Three points keep their area.
@dataclass(frozen=True)
class Area(constraints.Constraint):
    """Three bodies in the plane span a triangle of constant area (m²)."""

    area: float
    rows = 1
    most = 3

    def errors(self, parameters, sides):
        (ax, ay), (bx, by), (cx, cy) = (side.point((0.0, 0.0, 0.0)) for side in sides[:3])
        return [((bx - ax) * (cy - ay) - (by - ay) * (cx - ax)) * 0.5 - self.area]


# A net of such triangles and rods: constraints that close no loop are solved in linear time, the others around them.
bead = bodies.Particle(0.1, space=2)
net = bough.maximal.Linkage(
    {"a": bead, "b": bead, "c": bead}, {"area": (Area(0.5), "a", "b", "c")}, gravity=(0.0, -9.81, 0.0)
)
net = net.with_constraint("rod", constraints.Distance(1.0), "a", "b").with_constraint(
    "nail", constraints.Coincident(space=2), "a"
)
x = np.array([0.0, 0.0, 1.0, 0.0, 0.3, 1.0])
found = net.accelerations(x, np.zeros(6))
assert np.allclose(found.motion[net.v_slice("a")], 0.0)
print(f"{net}\nforce on the nail {found.loop_forces[net.rows('nail')].round(3)} N, conflicts: {found.conflicts}")
assert net.auxiliary == ("area",)

# A robot as a linkage: the same accelerations as in joint coordinates.
model = bough.trees.topologies.humanoid()
robot = bough.maximal.Linkage.of(model)
rng = np.random.default_rng(0)
q, v = bough.random(model, rng), rng.normal(size=model.nv)
x, twists = robot.from_placements(bough.placements(model, q)), bough.velocities(model, q, v).ravel()
a = robot.accelerations(x, twists).motion.reshape(model.nbodies, 6)
assert np.allclose(
    bough.maximal.joint_accelerations(model, q, v, a), bough.forward_dynamics(model, q, v, np.zeros(model.nv))
)
