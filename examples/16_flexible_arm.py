"""Flexible bodies: deflection, frequencies and drive torque of an arm, and how spinning stiffens it."""

import numpy as np

import bough

# --- an arm of two aluminium tubes on two drives, with a load; each tube bends by two modes ---
tube = bough.flexible.Beam(0.8, E=70e9, A=1.2e-4, I=1.2e-8, rho=2700.0, modes={"z": 2, "y": 2}, damping=0.005)
builder = bough.Builder("arm")
builder.add("shoulder", bough.joints.Revolute("y"), armature=0.05)
builder.add_flexible("upper", tube, "shoulder")
builder.add("elbow", bough.joints.Revolute("y"), "upper.tip", mass=0.8, inertia=1e-3, armature=0.02)
builder.add_flexible("lower", tube, "elbow")
builder.add("load", bough.joints.Fixed(), "lower.tip", mass=1.0, inertia=1e-3)
arm = builder.build()
print(arm, *arm.dof_names, sep="\n  ")

# --- at rest: elastic coordinates settle where springs carry the weight, drives hold the rest ---
drives = [arm.v_slice(name).start for name in ("shoulder", "elbow")]
elastic = [k for k in range(arm.nv) if k not in drives]
q, zero = bough.neutral(arm), np.zeros(arm.nv)
for _ in range(20):
    force = bough.gravity_forces(arm, q) - bough.passive_forces(arm, q, zero)
    q[elastic] -= force[elastic] / arm.limits("stiffness")[elastic]
assert np.abs(force[elastic]).max() < 1e-9
sag = bough.placements(arm, q, "lower.tip")[2, 3]
print(f"stretched out, the load hangs {-1000 * sag:.1f} mm low; the shoulder holds {force[drives[0]]:.2f} N m")

# --- frequencies with both drives locked, beside those of a rigid arm, which has none ---
M = bough.crba(arm, q)[np.ix_(elastic, elastic)]
K = np.diag(arm.limits("stiffness")[elastic])
print(
    "it swings with",
    *(f"{np.sqrt(w) / 2 / np.pi:.2f}" for w in np.sort(np.linalg.eigvals(np.linalg.solve(M, K)))[:4]),
    "Hz",
)

# --- a push by the shoulder: near its drive the arm yields, so that the load answers later ---
tau = bough.gravity_forces(arm, q)  # what holds it: drives, and the springs of the modes
tau[drives[0]] += 1.0
a = bough.aba(arm, q, zero, tau)
assert np.allclose(bough.rnea(arm, q, zero, a), tau)
load = bough.jacobian(arm, q, "lower.tip", "LOCAL_WORLD_ALIGNED")[2] @ a
assert abs(load) < 1e-3 * a[drives[0]]
print(f"pushed by 1 N m, the shoulder starts with {a[drives[0]]:.1f} rad/s², and the load with {load:+.4f} m/s²")

# --- a rotor blade: the faster it spins, the stiffer it is ---
blade = bough.flexible.Beam(5.0, E=25e9, A=4e-3, I=8e-7, rho=1800.0, modes={"z": 5})
builder = bough.Builder("rotor", gravity=(0, 0, 0))
builder.add("hub", bough.joints.Revolute("z"), mass=10.0, inertia=1.0)
builder.add_flexible("blade", blade, "hub")
rotor = builder.build()
flap = []
for speed in (0.0, 20.0, 40.0):  # rad/s
    v, h = np.array([speed, *np.zeros(5)]), 1e-5
    slope = [bough.bias_forces(rotor, h * e, v) - bough.passive_forces(rotor, h * e, 0 * v) for e in np.eye(6)[1:]]
    K, M = np.array(slope)[:, 1:] / h, bough.crba(rotor, np.zeros(6))[1:, 1:]
    flap.append(np.sqrt(np.linalg.eigvals(np.linalg.solve(M, K)).real.min()) / 2 / np.pi)
assert flap[0] < flap[1] < flap[2]
print("its blade flaps with", *(f"{f:.2f}" for f in flap), "Hz at 0, 20 and 40 rad/s")
