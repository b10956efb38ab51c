"""Forces of joints that close loops: drives, springs, dampers, and the whole forces that hold bodies together."""

from __future__ import annotations

import pickle
from typing import Any

import mujoco
import numpy as np
import pytest

import bough
from closeness import assert_close
from mechanisms import closed, four_bar, random_loops
from mjcf_texts import MACHINE
from model_strategies import JOINTS, random_state
from mujoco_states import to_theirs
from spatial_linear_first import cross, force_to, inertia

KINDS = sorted(JOINTS)
METHODS: tuple[Any, ...] = ("multipliers", "null_space", "kkt")


# --- reactions ---


def imbalance(model: bough.Model, q: Any, v: Any, a: Any, f_ext: Any, found: Any) -> float:
    """Newton and Euler, body by body in the base frame: what is missing, beside the largest force."""
    X = np.concatenate([np.eye(4)[None], bough.placements(model, q, model.body_names)])
    speeds, rates = bough.velocities(model, q, v), bough.accelerations(model, q, v, a)
    left = np.zeros((model.nbodies + 1, 6))
    size = 0.0
    for i, body in enumerate(model.bodies, start=1):
        I, (p, R) = inertia(body), (np.array(body.inertia.com), X[i, :3, :3])
        weight = body.inertia.mass * (R.T @ np.array(model.gravity))
        bias = -cross(speeds[i - 1]).T @ I @ speeds[i - 1]
        own = I @ rates[i - 1] + bias - np.concatenate([weight, np.cross(p, weight)]) - f_ext[i - 1]
        left[i] += force_to(X[i], own)
        through = force_to(X[i], found.joints[i - 1])
        left[i] -= through
        left[model.tree.parents[i - 1]] += through
        size = max(size, np.abs(through).max(), np.abs(left[i]).max())
    for loop, force in zip(model.loops, found.loops, strict=True):
        through = force_to(X[loop.successor.body], force)
        left[loop.successor.body] -= through
        left[loop.predecessor.body] += through
        size = max(size, np.abs(through).max())
    return float(np.abs(left[1:]).max() / size)


@pytest.mark.parametrize("kind", KINDS)
def test_every_body_is_in_balance(kind: str) -> None:
    rng = np.random.default_rng([*kind.encode()])
    model, q = random_loops(rng, [kind, "spherical"], 5, mimic=kind in ("fixed", "universal", "planar"))
    v = bough.loops.consistent_velocity(model, q, rng.normal(size=model.nv))
    _, _, _, tau, f_ext = random_state(model, rng)
    drive = rng.normal(size=sum(loop.joint.nv for loop in model.loops))
    motion = bough.forward_dynamics(model, q, v, tau, f_ext, loop_tau=drive, full=True)
    state = (model, q, v, motion.motion)
    found = bough.loops.reactions(*state, motion.loop_forces, f_ext, loop_tau=drive)
    assert found.joints.shape == (model.nbodies, 6)
    assert found.loops.shape == (2, 6)
    assert imbalance(*state, f_ext, found) < 1e-9
    # the drive and the reactions are all that acts through a joint: on its own motion it has the power of its drive
    speeds = bough.velocities(model, q, v, [*model.body_names, "world"])
    X = bough.placements(model, q, [*model.body_names, "world"])
    powers, first = bough.loops.coordinate_jacobian(model, q) @ v * drive, 0
    for loop, force in zip(model.loops, found.loops, strict=True):
        onto, back = loop.successor.body - 1, loop.predecessor.body - 1
        there = force_to(np.linalg.inv(X[back]) @ X[onto], force)
        power = force @ speeds[onto] - there @ speeds[back]
        assert np.isclose(power, powers[first : first + loop.joint.nv].sum(), atol=1e-9 * (1 + np.abs(force).max()))
        first += loop.joint.nv


def test_forces_of_the_tree_alone_are_those_of_its_reactions(rng: np.random.Generator) -> None:
    """Without constraints they are what maximal coordinates give."""
    model = bough.trees.topologies.balanced_tree(3)
    q, v, a, tau, f_ext = random_state(model, rng)
    a = bough.aba(model, q, v, tau, f_ext)
    _, multipliers = bough.maximal.dynamics(model, q, v, tau, f_ext)
    want = bough.maximal.joint_reactions(model, q, tau, multipliers)
    found = bough.loops.reactions(model, q, v, a, np.zeros(0), f_ext)
    assert_close(found.joints, want, 1e-9)
    assert found.loops.shape == (0, 6)


def test_a_joint_carries_the_same_force_whether_cut_or_not() -> None:
    """A linkage in space without redundant rows: every force is unique."""
    model, q, v = closed("Stewart platform")
    other = model.respanned("tube 0", *(f"ball {k}" for k in range(1, 6)))
    there = _states(model, q, v, other)
    tau = np.zeros(model.nv)
    motion = bough.forward_dynamics(model, q, v, tau, time_constant=np.inf, full=True)
    found = bough.loops.reactions(model, q, v, motion.motion, motion.loop_forces)
    theirs = bough.forward_dynamics(other, *there, np.zeros(other.nv), time_constant=np.inf, full=True)
    again = bough.loops.reactions(other, *there, theirs.motion, theirs.loop_forces)
    # the foot of leg 0: on the tube, from the base
    foot = [loop.name for loop in other.loops].index("tube 0")
    assert_close(again.loops[foot], found.joints[model.joint_names.index("tube 0")], 1e-8)
    ball = [loop.name for loop in model.loops].index("ball 1")
    again_ball = [loop.name for loop in other.loops].index("ball 1")
    assert_close(again.loops[again_ball], found.loops[ball], 1e-8)


def _states(model: bough.Model, q: Any, v: Any, other: bough.Model) -> tuple[Any, Any]:
    """The same state on another spanning tree."""
    values = {name: (q[model.q_slice(name)], v[model.v_slice(name)]) for name in model.joint_names}
    x, rate = bough.loops.coordinates(model, q), bough.loops.coordinate_jacobian(model, q) @ v
    nq = nv = 0
    for loop in model.loops:
        values[loop.name] = x[nq : nq + loop.joint.nq], rate[nv : nv + loop.joint.nv]
        nq, nv = nq + loop.joint.nq, nv + loop.joint.nv
    return tuple(np.concatenate([values[name][k] for name in other.joint_names]) for k in range(2))  # type: ignore[return-value]


# --- drives ---


@pytest.mark.parametrize("kind", ["spherical", "universal", "planar", "helical"])
def test_a_drive_on_a_loop_joint_acts_as_its_joint_forces(kind: str, rng: np.random.Generator) -> None:
    model, q = random_loops(rng, [kind, "revolute"], 5)
    v = bough.loops.consistent_velocity(model, q, rng.normal(size=model.nv))
    B = bough.loops.coordinate_jacobian(model, q)
    tau, f = rng.normal(size=model.nv), rng.normal(size=len(B))
    want = bough.forward_dynamics(model, q, v, tau + B.T @ f)
    for method in METHODS:
        assert_close(bough.forward_dynamics(model, q, v, tau, method=method, loop_tau=f), want, 1e-9)
    assert_close(bough.forward_dynamics(model, q, v, tau, loop_tau=f, full=True).motion, want, 1e-9)


def test_drives_in_batches_and_by_the_fast_call(rng: np.random.Generator) -> None:
    model, q, v = closed("five-bar")
    f, tau = rng.normal(size=(20, 1)), rng.normal(size=(20, model.nv))
    bough.set_backend("llvm")
    try:
        together = bough.forward_dynamics(model, q, v, tau, loop_tau=f)
        alone = [
            bough.forward_dynamics(model, q, v, t, loop_tau=x) for _ in range(2) for t, x in zip(tau, f, strict=True)
        ]
        assert np.array_equal(alone, [*together, *together])
        assert not np.allclose(bough.forward_dynamics(model, q, v, tau), together)
    finally:
        bough.set_backend(None)
    single = bough.forward_dynamics(model, *(x.astype(np.float32) for x in (q, v, tau)), loop_tau=f.astype(np.float32))
    assert single.dtype == np.float32
    assert_close(single, together, 1e-4)
    with pytest.raises(
        bough.errors.ShapeError, match=r"loop_tau has shape .* degrees of freedom of the joints that close loops"
    ):
        bough.forward_dynamics(model, q, v, tau, loop_tau=np.zeros(2))


# --- springs and dampers ---


def test_springs_have_an_energy_and_dampers_take_it(rng: np.random.Generator) -> None:
    """Loops of each type, far from rest: the forces of springs are minus the gradient of ½ k |stretch|²."""
    for kind in KINDS:
        model, q = random_loops(rng, [kind], 3, mimic=kind in ("helical", "free"))
        loop = model.loops[0]
        ends = [("world", *model.body_names)[side.body] for side in (loop.predecessor, loop.successor)]
        sides = {"at": loop.predecessor.placement, "successor_at": loop.successor.placement}
        sprung = model.with_loop("sprung", loop.joint, *ends, **sides, stiffness=3.0)
        own, h = loop.joint.canonical, 1e-6

        def energy(q: Any, model: bough.Model = model, own: Any = own, loop: Any = loop) -> float:
            x = bough.loops.coordinates(model, q)
            return 1.5 * float(np.sum(np.square(own.stretch(loop.joint.parameters, own.neutral(), x))))

        v = bough.loops.consistent_velocity(model, q, rng.normal(size=model.nv))
        power = (energy(bough.integrate(model, q, -h * v)) - energy(bough.integrate(model, q, h * v))) / (2 * h)
        force = bough.passive_forces(sprung, q, v)
        assert np.isclose(force @ v, power, rtol=1e-6, atol=1e-6 * (1 + np.abs(force).max()))
        damped = model.with_loop("damped", loop.joint, *ends, **sides, damping=2.0)
        rates = bough.loops.coordinate_jacobian(model, q) @ v
        assert_close(
            bough.passive_forces(damped, q, v),
            -2.0 * bough.loops.coordinate_jacobian(model, q).T @ rates,
            1e-12,
            scale=1.0,
        )


@pytest.mark.parametrize("kind", sorted(set(JOINTS) - {"fixed"}))
def test_springs_of_the_tree_have_an_energy(kind: str, rng: np.random.Generator) -> None:
    b = bough.Builder()
    b.add("a", JOINTS[kind](rng), mass=1.0, inertia=1.0, stiffness=3.0, damping=2.0)
    model, h = b.build(), 1e-6
    own, parameters = model.joints[0].joint.canonical, model.joints[0].joint.parameters
    q, v = bough.random(model, rng), rng.normal(size=model.nv)

    def energy(q: Any) -> float:
        return 1.5 * float(np.sum(np.square(own.stretch(parameters, own.neutral(), q))))

    power = (energy(bough.integrate(model, q, -h * v)) - energy(bough.integrate(model, q, h * v))) / (2 * h)
    assert np.isclose(bough.passive_forces(model, q, v) @ v + 2.0 * v @ v, power, rtol=1e-6)


SPRINGS = """<mujoco>
  <worldbody>
    <body name="a"><joint name="h" axis="1 2 0" stiffness="3" springref="20" damping="0.5" ref="10"/><geom size="0.1"/>
      <body name="b" pos="0 0 1"><joint type="slide" axis="0 1 1" stiffness="9" springref="0.3" damping="1.5"/>
        <geom size="0.1"/>
        <body name="c" pos="1 0 0"><joint type="ball" stiffness="4" damping="0.7"/><geom size="0.1" pos="0.1 0.2 0"/>
        </body>
      </body>
    </body>
    <body name="d" pos="1 2 3" euler="10 20 30">
      <joint type="free" stiffness="2" damping="0.3"/><geom type="box" size="0.1 0.2 0.3"/>
    </body>
  </worldbody>
</mujoco>"""


@pytest.mark.parametrize("text", [MACHINE, SPRINGS])
def test_mujoco_has_the_same_passive_forces(text: str, rng: np.random.Generator) -> None:
    model, m = bough.load(text, ignore=("actuators",)), mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    for _ in range(5):
        q, v = bough.random(model, rng), rng.normal(size=model.nv)
        d.qpos[:], d.qvel[:] = bough.convert.states_to_mujoco(model, q, v)
        mujoco.mj_forward(m, d)
        theirs = to_theirs(model, q).T @ (d.qfrc_spring + d.qfrc_damper)
        assert_close(bough.passive_forces(model, q, v), theirs, 1e-12)


def test_a_spring_does_the_same_on_a_joint_that_is_cut() -> None:
    """The four-bar with springs and dampers on crank and pin, on every spanning tree."""
    b = bough.Builder("sprung")
    plain, q, v = closed("four-bar")
    for entry, body in zip(plain.joints, plain.bodies, strict=True):
        own = {"stiffness": 5.0, "rest": 0.3, "damping": 0.2} if body.name != "coupler" else {}
        parent = "crank" if body.name == "coupler" else "world"
        b.add(body.name, entry.joint, parent, at=entry.placement, inertia=body.inertia, **own)
    b.loop("pin", bough.joints.Revolute("y"), "coupler", "rocker", at=(0.8, 0, 0), successor_at=(0.5, 0, 0),
           stiffness=7.0, rest=-0.4, damping=0.5)  # fmt: skip
    model = b.build()
    tree = bough.forward_dynamics(model, q, v, bough.passive_forces(model, q, v))
    assert np.abs(tree - bough.forward_dynamics(model, q, v, np.zeros(3))).max() > 1.0
    for cut in ("crank", "coupler", "rocker"):
        other = model.respanned(cut)
        there = _states(model, q, v, other)
        got = bough.forward_dynamics(other, *there, bough.passive_forces(other, *there))
        for name in set(other.joint_names) & set(model.joint_names):
            assert np.isclose(got[other.v_slice(name)], tree[model.v_slice(name)], rtol=1e-7)


def test_springs_and_dampers_follow_the_model_into_its_programs(rng: np.random.Generator) -> None:
    """Models that differ in nothing else have programs of their own, on disk too."""
    bough.set_backend("llvm")
    try:
        forces = []
        for damping, stiffness in ((0.0, 1.0), (1.0, 0.0), (2.0, 0.0)):
            b = bough.Builder("one")
            b.add("a", bough.joints.Revolute("z"), mass=1.0, inertia=1.0, damping=damping, stiffness=stiffness)
            forces.append(float(bough.passive_forces(b.build(), [0.5], [0.25])[0]))
        assert forces == [-0.5, -0.25, -0.5]
    finally:
        bough.set_backend(None)


# --- models ---


def test_limits_of_loops() -> None:
    plain = four_bar()
    sides = {"at": (0.8, 0, 0), "successor_at": (0.5, 0, 0)}
    own = {"lower": -1.0, "upper": 2.0, "velocity": 5.0, "effort": 3.0, "damping": 0.1, "friction": 0.2}
    model = plain.with_loop(
        "second", bough.joints.Universal("x", "y"), "coupler", "rocker", **sides, **own, stiffness=(1, 2)
    )
    assert model.loop_limits("lower").tolist() == [-np.inf, -1.0, -1.0]
    assert model.loop_limits("stiffness").tolist() == [0.0, 1.0, 2.0]
    assert model.loop_limits("rest").tolist() == [0.0, 0.0, 0.0]
    assert model != plain.with_loop("second", bough.joints.Universal("x", "y"), "coupler", "rocker", **sides)
    assert pickle.loads(pickle.dumps(model)) == model
    with pytest.raises(bough.errors.UnknownNameError, match="no sort of limit is called 'armature'"):
        model.loop_limits("armature")
    for wrong, message in (
        ({"lower": 2.0, "upper": 1.0}, "'new': the lower limit 2.0 is above the upper limit 1.0"),
        ({"damping": -1.0}, "'new': damping is -1.0, expected finite numbers that are not negative"),
        ({"effort": (1, 2)}, r"'new': effort is \(1, 2\), expected a number or 1 of them"),
    ):
        with pytest.raises(bough.errors.ModelError, match=message):
            model.with_loop("new", bough.joints.Revolute("z"), "crank", "world", **wrong)
    with pytest.raises(bough.errors.ModelError, match="'new': rest has a quaternion of length 2, expected 1"):
        model.with_loop("new", bough.joints.Spherical(), "crank", "world", rest=1.0)


def test_arguments_left_out_are_named() -> None:
    model, q, v = closed("four-bar")
    assert "1 constraint>" in repr(model)
    with pytest.raises(bough.errors.ShapeError, match="tau is None, expected an array"):
        bough.forward_dynamics(model, q, v, None, full=True)  # type: ignore[arg-type]
