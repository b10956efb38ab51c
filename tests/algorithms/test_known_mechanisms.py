"""Machines of many loops: what is known of each, long runs of all, and MuJoCo with ever stiffer constraints."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import bough
from bough.kernel import compile
from bough.kernel.loops.constrained import program_pays
from closeness import assert_close, relative_error
from mechanisms import LEG, closed, delta_robot, energy, four_bar, roll, scissor_lift, stewart_platform
from pinocchio_twin import Twin

METHODS: tuple[Any, ...] = ("multipliers", "null_space", "kkt")


# --- long runs ---


RUNS = {"four-bar": 20, "five-bar": 10, "delta robot": 10, "slider-crank": 10, "scissor lift": 10, "leg": 10}
"""Seconds."""


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.usefixtures("compiled")
def test_loops_stay_closed_and_energy_stays(name: str) -> None:
    """By Runge-Kutta steps of 1 ms: energy to 1e-6 of what is exchanged in ten seconds, loops to 1e-6 m and rad."""
    model, q, v = closed(name)
    qs, vs = roll(model, q, v, RUNS[name], every=10)
    assert np.ptp(qs, axis=0).max() > 0.3
    assert np.abs(bough.loops.errors(model, qs)).max() < 1e-6
    energies = energy(model, qs, vs)[:1001]
    assert np.abs(energies - energies[0]).max() < 1e-6 * bough.kinetic_energy(model, qs, vs).max()


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "delta robot", "leg"])
@pytest.mark.usefixtures("compiled")
def test_projection_after_each_step_leaves_rounding(name: str) -> None:
    model, q, v = closed(name)
    q, v = bough.loops.project(model, q, v)
    qs, vs = roll(model, q, v, 2.0, every=10, project=True)
    assert np.abs(bough.loops.errors(model, qs)).max() < 1e-12
    rates = np.einsum("...rn,...n->...r", bough.loops.jacobian(model, qs), vs)
    assert np.abs(rates).max() < 1e-12 * np.abs(vs).max()
    energies = energy(model, qs, vs)
    assert np.abs(energies - energies[0]).max() < 1e-6 * bough.kinetic_energy(model, qs, vs).max()


# --- projection ---


@pytest.mark.parametrize("name", ["four-bar", "delta robot", "leg"])
def test_a_projection_squares_the_error_and_is_the_shortest(name: str, rng: np.random.Generator) -> None:
    model, q, v = closed(name)
    for size in (1e-2, 1e-4):
        off = bough.integrate(model, q, size * rng.normal(size=model.nv))
        near, there = bough.loops.project(model, off, v + size * rng.normal(size=model.nv))
        before, after = (np.abs(bough.loops.errors(model, x)).max() for x in (off, near))
        assert after < 30 * before**2 + 1e-15
        assert np.abs(bough.loops.jacobian(model, near) @ there).max() < 1e-12 * np.abs(v).max()
        # the step is orthogonal, in the metric of M, to all that the constraints allow
        step, M = bough.difference(model, off, near), bough.crba(model, off)
        allowed = bough.loops.consistent_velocity(model, off, rng.normal(size=(5, model.nv)))
        scale = np.sqrt((step @ M @ step) * np.einsum("bi,ij,bj->b", allowed, M, allowed))
        assert (np.abs(allowed @ M @ step) < (1e-9 + 10 * size) * scale).all()
    again, v_again = bough.loops.project(model, *bough.loops.project(model, q, v))
    assert_close(again, q, 1e-9)
    assert_close(v_again, v, 1e-8)


@pytest.mark.usefixtures("compiled")
def test_projections_in_batches_are_those_of_single_states(rng: np.random.Generator) -> None:
    model, q, v = closed("four-bar")
    qs, vs = q + 1e-3 * rng.normal(size=(30, 3)), v + 1e-3 * rng.normal(size=(30, 3))
    qs[4] = (np.pi, 0.0, np.pi)
    together = bough.loops.project(model, qs, vs)
    alone = [bough.loops.project(model, *x) for _ in range(2) for x in zip(qs, vs, strict=True)]
    for k in range(2):
        assert np.array_equal(together[k], [x[k] for x in alone[:30]])
        assert np.array_equal(together[k], [x[k] for x in alone[30:]])
    assert bough.loops.project(model, qs, v)[0].shape == (30, 3)
    single = bough.loops.project(model, qs.astype(np.float32), vs.astype(np.float32))
    assert [x.dtype for x in single] == [np.float32] * 2
    with pytest.raises(bough.errors.ShapeError, match="q has shape"):
        bough.loops.project(model, q[:2], v)


# --- what is known of each ---


def test_the_plate_of_a_delta_robot_does_not_turn() -> None:
    """Its place follows from the arms: rods reach from the elbows, drawn in by the size of the plate."""
    model, q, v = closed("delta robot")
    motion = bough.forward_dynamics(model, q, v, np.zeros(model.nv), full=True)
    assert (model.nv, len(model.constraint_names), int(bough.loops.rank(model, q))) == (21, 18, 18)
    for method in METHODS:
        assert_close(bough.forward_dynamics(model, q, v, np.zeros(model.nv), method=method), motion.motion, 1e-9)
    held = np.array(q)
    arms = (0.2, 0.5, 0.8)
    for k, angle in enumerate(arms):
        held[model.q_slice(f"arm {k}")] = angle
    held = bough.loops.assemble(model, held, hold=[f"arm {k}" for k in range(3)], tolerance=1e-13)
    assert_close(np.abs(held[3:7]), [0, 0, 0, 1], 1e-12)
    for k, angle in enumerate(arms):
        reach, turn = 0.2 + 0.25 * np.cos(angle) - 0.06, 2 * np.pi * k / 3
        elbow = np.array([reach * np.cos(turn), reach * np.sin(turn), -0.25 * np.sin(angle)])
        assert np.isclose(np.linalg.norm(held[:3] - elbow), 0.5, rtol=1e-12)
    # three velocities are left, and none of them turns the plate
    L = bough.loops.jacobian(model, held)
    free = np.linalg.svd(L)[2][18:]
    assert np.abs(L @ free.T).max() < 1e-13
    assert np.abs(free[:, 3:6]).max() < 1e-12


def test_pinocchio_agrees_on_the_delta_robot() -> None:
    """Its loops hold points, and their rows are independent; its rods are on pairs of hinges here."""
    plain = delta_robot()
    b = bough.Builder("with hinges")
    for entry, body in zip(plain.joints, plain.bodies, strict=True):
        parent = (("world", *plain.body_names)[plain.tree.parents[plain.body_names.index(body.name)]],)
        if isinstance(entry.joint, bough.joints.Universal):
            b.add(f"{body.name} fork", bough.joints.Revolute("y"), *parent, at=entry.placement, mass=0.01, inertia=1e-5)
            b.add(body.name, bough.joints.Revolute("x"), f"{body.name} fork", inertia=body.inertia)
        else:
            b.add(body.name, entry.joint, *parent, at=entry.placement, inertia=body.inertia, armature=entry.armature)
    for loop in plain.loops:
        ends = (plain.body_names[side.body - 1] for side in (loop.predecessor, loop.successor))
        sides = {"at": loop.predecessor.placement, "successor_at": loop.successor.placement}
        b.loop(loop.name, loop.joint, *ends, **sides)
    model, (_, q, v) = b.build(), closed("delta robot")
    t, rng = Twin(model), np.random.default_rng(0)
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for loop in model.loops:
        ends = [(t.ids[s.body], t._seen(s.body, s.placement)) for s in (loop.predecessor, loop.successor)]
        held = pin.RigidConstraintModel(
            pin.ContactType.CONTACT_3D, t.model, *ends[0], *ends[1], pin.ReferenceFrame.LOCAL
        )
        models.append(held)
        datas.append(held.createData())
    pin.initConstraintDynamics(t.model, t.data, models, datas)
    settings = pin.ProximalSettings(1e-14, 1e-10, 50)
    for _ in range(3):
        tau = rng.normal(size=model.nv)
        theirs = pin.constraintDynamics(t.model, t.data, t.q(q), t.v(v), t.v(tau), models, datas, settings)
        ours = bough.forward_dynamics(model, q, v, tau, time_constant=np.inf)
        assert_close(ours, t.back(theirs), 1e-8)


def test_a_scissor_lift_moves_as_by_its_one_angle() -> None:
    """Thirty rows of rank twelve; Lagrange's equation of the one angle that is left."""
    stages = 6
    model, q, v = closed("scissor lift")
    q, v = bough.loops.project(model, q, v)
    tau = bough.passive_forces(model, q, v)
    motion = bough.forward_dynamics(model, q, v, tau, full=True)
    assert (len(model.constraint_names), int(bough.loops.rank(model, q)), motion.conflicts) == (30, 12, ())
    angle, rate = -q[1], -v[1]
    s, c = np.sin(angle), np.cos(angle)
    heights = np.arange(stages) + 0.5
    inertia = np.sum(2 * (0.5 * (s**2 / 4 + heights**2 * c**2) + 0.5 / 12)) + 0.3 * s**2
    slope = np.sum(2 * 0.5 * (0.5 - 2 * heights**2) * s * c) + 0.6 * s * c
    weight = np.sum(2 * 0.5 * 9.81 * heights * c) - stages * 400.0 * (c - 0.8) * s
    want = -(weight + slope * rate**2 / 2) / inertia
    assert np.isclose(q[0], c, rtol=1e-12)
    for method in METHODS:
        a = bough.forward_dynamics(model, q, v, tau, method=method)
        assert np.isclose(-a[1], want, rtol=1e-9)
        assert np.isclose(a[0], -s * want - c * rate**2, rtol=1e-9)


def test_a_taller_lift_has_programs_with_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile, "LONGEST", 4000)  # as if it were still taller
    model = scissor_lift(7)
    q = bough.neutral(model)
    for entry in model.joints:
        q[model.q_slice(entry.name)] = {"shoe": 0.8, "right": -1.287, "left": 1.287}[entry.name.split()[0]]
    q[model.q_slice("right 0")] = -0.6435
    q = bough.loops.assemble(model, q)
    none = np.zeros(model.nv)
    motion = bough.forward_dynamics(model, q, none, none, full=True)
    assert (len(model.constraint_names), int(bough.loops.rank(model, q)), motion.conflicts) == (35, 14, ())
    off = q + 1e-4 * np.cos(np.arange(model.nq))
    near, _ = bough.loops.project(model, off, none)
    assert np.abs(bough.loops.errors(model, near)).max() < 1e-6
    assert_close(bough.forward_dynamics(model, q, none, none), motion.motion, 1e-9)
    assert_close(bough.forward_dynamics(model, q, none, none, method="multipliers"), motion.motion, 1e-9)


def test_auto_counts_what_a_program_has_to_do() -> None:
    """Where each loop brings its bodies a program pays, and not where many rows hold one body."""
    assert program_pays(scissor_lift(2))
    assert program_pays(scissor_lift(40))
    b = bough.Builder("held often")
    b.add("block", bough.joints.Free(), mass=1.0, inertia=0.1)
    for k in range(100):
        b.loop(f"weld {k}", bough.joints.Fixed(), "world", "block")
    model = b.build()
    assert not program_pays(model)
    assert_close(
        bough.forward_dynamics(model, bough.neutral(model), np.zeros(6), np.ones(6)), np.zeros(6), 1e-9, scale=9.81
    )


def held_stewart(turns: Any) -> tuple[bough.Model, Any]:
    """A Stewart platform whose legs are held, and configurations with the plate turned by some angles."""
    plain = stewart_platform()
    q = np.tile(bough.neutral(plain), (len(turns), 1))
    q[:, 2], q[:, 5], q[:, 6] = 0.6, np.sin(turns / 2), np.cos(turns / 2)
    for k in range(6):
        q[:, plain.q_slice(f"piston {k}")] = 0.8
    q = bough.loops.assemble(plain, q, hold=["plate"], tolerance=1e-13)
    b = bough.Builder("held")
    for entry, body in zip(plain.joints, plain.bodies, strict=True):
        parent = ("world", *plain.body_names)[plain.tree.parents[plain.body_names.index(body.name)]]
        b.add(body.name, entry.joint, parent, at=entry.placement, inertia=body.inertia)
    for loop in plain.loops:
        ends = (plain.body_names[side.body - 1] for side in (loop.predecessor, loop.successor))
        b.loop(loop.name, loop.joint, *ends, successor_at=loop.successor.placement)
    for k in range(6):
        b.equality(f"hold {k}", f"piston {k}", None, 0.8)
    return b.build(), q


def test_a_stewart_platform_gives_way_at_a_singularity() -> None:
    """With its plate turned by a right angle (Fichter) six legs of fixed length do not hold it: it begins to fall.

    To either side of it they do. The lengths are those in each configuration: errors are left alone.
    """
    turns = np.array([1.2, np.pi / 2 - 1e-3, np.pi / 2, np.pi / 2 + 1e-3, 1.9])
    model, q = held_stewart(turns)
    none = np.zeros(model.nv)
    motion = bough.forward_dynamics(model, q, none, none, time_constant=np.inf, full=True)
    assert bough.loops.rank(model, q).tolist() == [24, 24, 23, 24, 24]
    assert motion.conflicts == ()
    for method in METHODS:
        a = bough.forward_dynamics(model, q, none, none, method=method, time_constant=np.inf)
        assert_close(a, motion.motion, 1e-6, scale=9.81)
    assert np.abs(np.delete(motion.motion, 2, axis=0)).max() < 1e-6
    # a screw: it turns and sinks, by as much as the legs allow
    falling = motion.motion[2, :6]
    assert falling[2] < -0.1
    assert np.abs(falling[5]) > 0.1
    assert np.abs(np.delete(falling, (2, 5))).max() < 1e-8
    found = bough.loops.reactions(model, q, none, motion.motion, motion.loop_forces)
    assert np.isfinite(found.loops).all()


# --- MuJoCo in the stiff limit ---


def stiff_limit(model: bough.Model, text: str, q: Any, v: Any, tau: Any) -> list[float]:
    """How far MuJoCo's accelerations are from ours with 1 - d a tenth each time, and the limit they tend to.

    Its constraints yield with R = (1 - d)/d A, so that errors are in proportion to x = (1 - d)/d; d is at most 0.9999.
    The last number is the error at x = 0 of the polynomial through all values.
    """
    m = mujoco.MjModel.from_xml_string(text)
    m.opt.tolerance, m.opt.iterations = 0.0, 200
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = bough.convert.states_to_mujoco(model, q, v)
    d.qfrc_applied[:] = tau
    ours = bough.forward_dynamics(model, q, v, tau + bough.passive_forces(model, q, v), time_constant=np.inf)
    stiffest = np.array([0.9, 0.99, 0.999, 0.9999])
    x, found = (1 - stiffest) / stiffest, []
    for impedance in stiffest:
        m.eq_solimp[:] = [impedance, impedance, 1e-3, 0.5, 2.0]
        mujoco.mj_forward(m, d)
        found.append(np.array(d.qacc))
    weights = [np.prod([b / (b - a) for b in x if b != a]) for a in x]
    return [relative_error(theirs, ours) for theirs in (*found, weights @ np.array(found))]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("tilt", [1e-12, 1e-10, 1e-8, 1e-7, 5e-7])
def test_digits_of_a_file_do_not_lock_a_four_bar(tilt: float, method: Any, rng: np.random.Generator) -> None:
    """A hinge that is not quite parallel to the others: with nothing but that in its rows, they hold nothing."""
    models = []
    for off in (tilt, 0.0):
        b, rod = bough.Builder("four-bar"), {"mass": 1.0, "com": (0.2, 0, 0), "inertia": 0.05}
        for name, parent, x, z in (("crank", "world", 0, 0), ("coupler", "crank", 0.4, off), ("rocker", "world", 1, 0)):
            b.add(name, bough.joints.Revolute((z, 1, 0)), parent, at=(x, 0, 0), **rod)
        b.loop("pin", bough.joints.Revolute("y"), "coupler", "rocker", at=(1.0, 0, 0), successor_at=(0.6, 0, 0))
        models.append(b.build())
    model, flat = models
    q = np.array([bough.loops.assemble(flat, [x, -0.5, 1.2]) for x in np.linspace(0.7, 1.3, 7)])
    v = bough.loops.consistent_velocity(flat, q, rng.normal(size=(7, 3)))
    assert (bough.loops.rank(model, q) == 2).all()
    found = bough.forward_dynamics(model, q, v, np.zeros(3), method=method)
    assert_close(found, bough.forward_dynamics(flat, q, v, np.zeros(3), method=method), 1e-4)
    one = [bough.forward_dynamics(model, *state, np.zeros(3), method=method) for state in zip(q, v, strict=True)]
    np.testing.assert_array_equal(found, one)
    if method == METHODS[0]:
        right = bough.contact.dynamics(flat, q, v, np.zeros(3)).motion
        assert_close(bough.contact.dynamics(model, q, v, np.zeros(3)).motion, right, 1e-4)
        start, falls = (q[0], v[0]), [bough.Simulation(x, law="hard") for x in (model, flat)]
        tilted, level = (sim.run(*start, duration=0.3).q[-1] for sim in falls)
        assert_close(tilted, level, 1e-4)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("second", ["revolute", "spherical", "cylindrical"])
def test_a_second_bearing_on_the_axis_of_the_first_one_holds_nothing(second: str, seed: int) -> None:
    """However the axis lies: what rounding leaves of its rows are no rows."""
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    joints = bough.joints
    kinds = {
        "revolute": joints.Revolute(axis),
        "spherical": joints.Spherical(),
        "cylindrical": joints.Cylindrical(axis),
    }
    b, at, along = bough.Builder("shaft"), rng.normal(size=3), axis * rng.uniform(0.1, 2.0)
    b.add("shaft", joints.Revolute(axis), mass=3.0, inertia=0.1, at=at)
    free = b.build()
    model = free.with_loop("bearing", kinds[second], "world", "shaft", at=at + along, successor_at=along)
    q, v, tau = [0.2], [1.0], [1.0]
    right = bough.aba(free, q, v, tau)
    assert int(bough.loops.rank(model, q)) == 0
    for method in METHODS:
        assert_close(bough.forward_dynamics(model, q, v, tau, method=method), right, 1e-10)
    assert_close(bough.loops.consistent_velocity(model, q, v), v, 1e-12)
    assert_close(bough.inverse_dynamics(model, q, v, right), tau, 1e-10)
    assert_close(bough.contact.dynamics(model, q, v, tau).motion, right, 1e-9)
    assert_close(bough.contact.impulses(model, q, v).motion, v, 1e-9)
    for law in ("soft", "hard"):
        alone, held = (bough.Simulation(x, law=law).run(q, v, duration=0.2).q[-1] for x in (free, model))
        assert_close(held, alone, 1e-6)


def test_mujoco_tends_to_the_leg() -> None:
    model, q, _ = closed("leg")
    rng = np.random.default_rng(0)
    q = bough.loops.assemble(model, bough.integrate(model, q, 0.2 * rng.normal(size=model.nv)), tolerance=1e-14)
    for speed in (0.0, 1.0):
        v = bough.loops.consistent_velocity(model, q, speed * rng.normal(size=model.nv))
        errors = stiff_limit(model, LEG, q, v, rng.normal(size=model.nv))
        for more, less in pairwise(errors[:4]):
            assert 0.09 < less / more < 0.11  # of first order
        assert errors[3] < 1e-4
        assert errors[4] < 1e-8


def test_mujoco_tends_to_the_four_bar(tmp_path: Path) -> None:
    """Closed by a point instead of a hinge, which is the same in the plane."""
    plain, q, v = closed("four-bar")
    b = bough.Builder("pinned")
    for entry, body in zip(plain.joints, plain.bodies, strict=True):
        parent = "crank" if body.name == "coupler" else "world"
        b.add(body.name, entry.joint, parent, at=entry.placement, inertia=body.inertia)
    b.loop("pin", bough.joints.Spherical(), "coupler", "rocker", at=(0.8, 0, 0), successor_at=(0.5, 0, 0))
    model, tau = b.build(), np.array([0.5, -1.0, 2.0])
    assert_close(bough.forward_dynamics(model, q, v, tau), bough.forward_dynamics(plain, q, v, tau), 1e-9)
    bough.save(model, tmp_path / "pinned.xml")
    errors = stiff_limit(model, (tmp_path / "pinned.xml").read_text(), q, v, tau)
    assert errors[3] < 1e-4
    assert errors[4] < 1e-8


# --- bodies without mass ---


def massless_coupler(loose: bool = False, **own: Any) -> bough.Model:
    """The four-bar with a coupler that weighs nothing: the mass matrix of its tree is singular."""
    plain = four_bar()
    b = bough.Builder("massless")
    for entry, body in zip(plain.joints, plain.bodies, strict=True):
        parent = "crank" if body.name == "coupler" else "world"
        inertia = {"inertia": body.inertia} if body.name != "coupler" else own
        b.add(body.name, entry.joint, parent, at=entry.placement, **inertia)
    if loose:
        b.add("pointer", bough.joints.Revolute("x"), "coupler")
    b.loop("pin", bough.joints.Revolute("y"), "coupler", "rocker", at=(0.8, 0, 0), successor_at=(0.5, 0, 0))
    return b.build()


def test_a_loop_holds_what_has_no_mass() -> None:
    """The limit of ever lighter couplers."""
    model, tau = massless_coupler(), np.array([1.0, 2.0, 3.0])
    q = bough.loops.assemble(model, [-1.0, 0.5, -1.5], tolerance=1e-13)
    v = bough.loops.consistent_velocity(model, q, [2.0, 2.0, 2.0])
    assert np.abs(bough.loops.jacobian(model, q) @ v).max() < 1e-13
    with pytest.raises(bough.errors.SingularError, match="'coupler' moves nothing that has inertia"):
        bough.aba(model, q, v, tau)
    motion = bough.forward_dynamics(model, q, v, tau, full=True)
    assert (int(bough.loops.rank(model, q)), motion.conflicts) == (2, ())
    for method in ("auto", *METHODS):
        assert_close(bough.forward_dynamics(model, q, v, tau, method=method), motion.motion, 1e-10)
    for mass in (1e-3, 1e-5):
        near = bough.forward_dynamics(massless_coupler(mass=mass, inertia=mass), q, v, tau)
        assert_close(near, motion.motion, mass)
    # forces are right too: the equation of motion holds
    L, C = bough.loops.jacobian(model, q), bough.bias_forces(model, q, v)
    left = bough.crba(model, q) @ motion.motion + C - tau - L.T @ motion.loop_forces
    assert np.abs(left).max() < 1e-10 * np.abs(tau).max()
    near, there = bough.loops.project(model, q + 1e-5, v + 1e-3)
    assert np.abs(bough.loops.errors(model, near)).max() < 1e-9
    assert np.abs(bough.loops.jacobian(model, near) @ there).max() < 1e-12


def test_states_without_mass_are_solved_within_a_batch() -> None:
    """A point mass that slides along an arm, through the hinge of the arm: there the hinge turns nothing."""
    b = bough.Builder("sometimes")
    b.add("crank", bough.joints.Revolute("z"), mass=1.0, com=(0.5, 0, 0), inertia=0.1)
    b.add("arm", bough.joints.Revolute("z"), "crank", at=(0.6, 0, 0))
    b.add("point", bough.joints.Prismatic("x"), "arm", mass=1.0)
    b.equality("tied", "arm", "crank", (0.0, 1.0))
    model = b.build()
    q, v = np.array([[0.3, 0.3, 0.5], [0.3, 0.3, 0.0], [0.0, 0.0, -0.4]]), np.tile([1.0, 1.0, 0.5], (3, 1))
    tau = np.array([1.0, 0.0, 1.0])
    together = bough.forward_dynamics(model, q, v, tau)
    alone = np.array([bough.forward_dynamics(model, *x, tau) for x in zip(q, v, strict=True)])
    assert np.array_equal(together, alone)
    for shift in (1e-4, 1e-6, 1e-8):
        near = bough.forward_dynamics(model, q + np.array([0.0, 0.0, shift]), v, tau)
        assert_close(together, near, 10 * shift)
    placed = bough.loops.project(model, q + np.array([1e-6, 0.0, 0.0]), v)
    for k, x in enumerate(q):
        one = bough.loops.project(model, x + np.array([1e-6, 0.0, 0.0]), v[k])
        assert np.array_equal(placed[0][k], one[0])
        assert np.array_equal(placed[1][k], one[1])
    with pytest.raises(bough.errors.SingularError, match=r"joint 'arm' moves nothing that has inertia in state \[1\]"):
        bough.aba(model, q, v, np.ones(3))


@pytest.mark.parametrize("inertia", [1e-4, 1e-7, 1e-9, 1e-12, 0.0])
def test_what_has_almost_no_mass_keeps_its_digits(inertia: float) -> None:
    """A wheel on a wheel about the same axis: the inner one moves next to nothing that the outer one does not move."""
    b = bough.Builder("wheels", gravity=(0, 0, 0))
    b.add("inner", bough.joints.Revolute("z"), mass=1.0, inertia=inertia)
    b.add("outer", bough.joints.Revolute("z"), "inner", mass=1.0, inertia=0.5)
    b.equality("geared", "outer", "inner", (0.0, -3.0))
    model = b.build()
    # the outer wheel turns by q + (-3 q): its inertia counts four times, and the gear gives torques their ratio
    want = (0.7 - 3.0 * 0.2) / (inertia + 4 * 0.5)
    for method in ("auto", *METHODS):
        a = bough.forward_dynamics(model, [0.0, 0.0], [0.0, 0.0], [0.7, 0.2], method=method)
        assert_close(a, [want, -3.0 * want], 1e-8)


def test_what_nothing_holds_is_named() -> None:
    model = massless_coupler(loose=True)
    q = np.array([*bough.loops.assemble(massless_coupler(), [-1.0, 0.5, -1.5]), 0.2])
    for method in ("auto", *METHODS):
        with pytest.raises(
            bough.errors.SingularError, match="'pointer' moves nothing that has inertia, and no loop holds it"
        ):
            bough.forward_dynamics(model, q, np.zeros(4), np.zeros(4), method=method)
    with pytest.raises(
        bough.errors.SingularError, match="'pointer' moves nothing that has inertia, and no loop holds it"
    ):
        bough.loops.project(model, q, np.zeros(4))
