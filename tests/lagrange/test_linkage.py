"""Linkages: the same motion as of models and of closed forms, three levels, loops, one-sided constraints, borders."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bough
from bough.maximal import bodies, constraints
from bough.scalar import cos, sin
from bough.spatial import UNITS, ZERO, Motion, Transform, Vector, about_y
from closeness import assert_close
from linkages import compiled, move
from mechanisms import closed, random_loops
from model_strategies import JOINTS, random_inertia, random_joint, random_placement

Rng = np.random.Generator
Floats = np.ndarray[Any, np.dtype[Any]]
seeds = st.integers(0, 2**32 - 1)
G = 9.81


def state_of(linkage: bough.maximal.Linkage, model: bough.Model, q: Any, v: Any) -> tuple[Floats, Floats]:
    x = linkage.from_placements(bough.placements(model, q))
    return x, bough.velocities(model, q, v).reshape(*np.shape(q)[:-1], linkage.nv)


# --- the same as models ---


@settings(max_examples=5)  # each mechanism is traced anew
@given(st.lists(st.sampled_from(sorted(set(JOINTS) - {"fixed"})), min_size=1, max_size=3), seeds)
def test_every_joint_moves_as_in_a_model(names: list[str], seed: int) -> None:
    rng = np.random.default_rng(seed)
    b, places = bough.Builder("random", gravity=5 * rng.normal(size=3)), ["world"]
    for k, name in enumerate(names):
        joint = random_joint(name, rng)
        b.add(
            f"b{k}",
            joint,
            str(rng.choice(places)),
            frame_at=rng.normal(size=3),
            **random_inertia(rng),
            **random_placement(rng),
        )
        places.append(f"b{k}")
    check_against_model(b.build(), rng)


def check_against_model(model: bough.Model, rng: Rng, q: Any = None, v: Any = None) -> bough.maximal.Linkage:
    linkage = bough.maximal.Linkage.of(model)
    assert linkage.primary == model.joint_names
    q = bough.random(model, rng) if q is None else q
    v = bough.loops.consistent_velocity(model, q, rng.normal(size=model.nv)) if v is None else v
    x, motion = state_of(linkage, model, q, v)
    assert np.abs(linkage.errors(x)).max(initial=0.0) < 1e-9
    assert np.abs(linkage.rates(x, motion)).max(initial=0.0) < 1e-9
    f_ext = rng.normal(size=(model.nbodies, 6))
    qdd = bough.forward_dynamics(model, q, v, np.zeros(model.nv), f_ext)
    found = linkage.accelerations(x, motion, f_ext.ravel())
    want = bough.accelerations(model, q, v, qdd).ravel()
    assert_close(found.motion, want, 1e-9, scale=1.0)
    assert not found.conflicts
    placed = linkage.to_placements(x)
    assert_close(placed, bough.placements(model, q), 1e-12, 3)
    return linkage


def test_every_joint_type_at_once(rng: Rng) -> None:
    b, places = bough.Builder("all"), ["world"]
    for k, name in enumerate(sorted(set(JOINTS) - {"fixed", "continuous"})):
        b.add(f"b{k}", random_joint(name, rng), str(rng.choice(places)), **random_inertia(rng), **random_placement(rng))
        places.append(f"b{k}")
    linkage = check_against_model(b.build(), rng)
    assert not linkage.auxiliary


@pytest.mark.parametrize("name", ["four-bar", "slider-crank"])
def test_known_mechanisms_with_redundant_loops(name: str, rng: Rng) -> None:
    model, q, v = closed(name)
    linkage = check_against_model(model, rng, q, v)
    assert linkage.auxiliary == tuple(loop.name for loop in model.loops)


@settings(max_examples=3)
@given(st.sampled_from(sorted(JOINTS)), seeds)
def test_random_loops_by_every_joint(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    while True:  # bodies that can move by themselves, and loops between two of them
        model, q = random_loops(rng, [kind], bodies=3, joints=["revolute", "spherical", "prismatic", "universal"])
        ends = [(loop.predecessor.body, loop.successor.body) for loop in model.loops]
        solid = all(min(body.inertia.rotational[k] for k in (0, 2, 5)) > 0.0 for body in model.bodies)
        if solid and all(a != b for a, b in ends):
            break
    linkage, v = bough.maximal.Linkage.of(model), bough.loops.consistent_velocity(model, q, rng.normal(size=model.nv))
    x, motion = state_of(linkage, model, q, v)
    qdd = bough.forward_dynamics(model, q, v, np.zeros(model.nv))
    want = bough.accelerations(model, q, v, qdd).ravel()
    assert_close(linkage.accelerations(x, motion).motion, want, 1e-9, scale=1.0)


def coupled_model(rng: Rng) -> bough.Model:
    """Joints of one degree of freedom on a branched tree: mimic joints, one of which follows another, and laws."""
    b, places = bough.Builder("coupled", gravity=5 * rng.normal(size=3)), ["world"]
    for k, kind in enumerate(("revolute", "prismatic", "helical", "revolute", "prismatic")):
        joint, follows = random_joint(kind, rng), {3: "b0", 4: "b3"}.get(k)
        if follows is not None:
            joint = bough.joints.Mimic(joint, follows, rng.normal(), rng.normal())
        b.add(f"b{k}", joint, str(rng.choice(places)), **random_inertia(rng), **random_placement(rng))
        places.append(f"b{k}")
    b.equality("law", "b2", "b1", 0.3 * rng.normal(size=4), zero=0.2, other_zero=-0.4)
    b.equality("held", "b0", None, (0.3,))
    return b.build()


def test_joints_that_follow_others(rng: Rng) -> None:
    model = coupled_model(rng)
    q = bough.loops.assemble(model, rng.uniform(-0.8, 0.8, model.nq))
    linkage = check_against_model(model, rng, q)
    assert linkage.auxiliary == ("b3 follows b0", "b4 follows b3", "law", "held")
    # forces of the laws are those of the model, errors too
    v = rng.normal(size=model.nv)
    x, motion = state_of(linkage, model, q, v)
    want = bough.loops.jacobian(model, q) @ v
    rows = [linkage.rows("law").start, linkage.rows("held").start]
    assert_close(linkage.rates(x, motion)[rows], want, 1e-9, scale=1.0)
    moved = q + 0.1 * rng.normal(size=model.nq)
    off = linkage.errors(linkage.from_placements(bough.placements(model, moved)))
    assert_close(off[rows], bough.loops.errors(model, moved), 1e-9, scale=1.0)
    v = bough.loops.consistent_velocity(model, q, v)
    solved = bough.forward_dynamics(model, q, v, np.zeros(model.nv), full=True)
    found = linkage.accelerations(*state_of(linkage, model, q, v))
    assert_close(found.loop_forces[rows], solved.loop_forces, 1e-9, scale=1.0)


def test_gears_go_round_and_round(rng: Rng) -> None:
    """Two wheels with a ratio of -2 on an arm: whole turns of either are no error."""
    axle = constraints.Jointed(bough.joints.Revolute("z"))
    beside = constraints.Jointed(bough.joints.Revolute("z"), at=(1.0, 0.0, 0.0))
    gear = constraints.Coupled(axle, beside, (0.5, -2.0), on=(0, 1), other_on=(0, 2))
    wheel = bodies.Rigid(1.0, inertia=0.1)
    linkage = bough.maximal.Linkage(
        {"arm": bodies.Rigid(2.0, inertia=0.3), "a": wheel, "b": wheel},
        {
            "pivot": (axle, "world", "arm"),
            "a": (axle, "arm", "a"),
            "b": (beside, "arm", "b"),
            "gear": (gear, "arm", "a", "b"),
        },
    )
    model = bough.Builder("gears")
    model.add("arm", bough.joints.Revolute("z"), mass=2.0, inertia=0.3)
    model.add("b", bough.joints.Revolute("z"), "arm", at=(1.0, 0.0, 0.0), mass=1.0, inertia=0.1)
    model.add("a", bough.joints.Mimic(bough.joints.Revolute("z"), "b", -2.0, 0.5), "arm", mass=1.0, inertia=0.1)
    twin = model.build()
    for turn in np.linspace(-9.0, 9.0, 37):
        q, v = np.array([0.3, turn]), rng.normal(size=2)
        places, speeds = bough.placements(twin, q)[[0, 2, 1]], bough.velocities(twin, q, v)[[0, 2, 1]].ravel()
        x = linkage.from_placements(places)
        assert np.abs(linkage.errors(x)).max() < 1e-9
        assert np.abs(linkage.rates(x, speeds)).max() < 1e-9
        force = rng.normal(size=(3, 6))
        qdd = bough.forward_dynamics(twin, q, v, np.zeros(2), force[[0, 2, 1]])
        want = bough.accelerations(twin, q, v, qdd)[[0, 2, 1]].ravel()
        assert_close(linkage.accelerations(x, speeds, force.ravel()).motion, want, 1e-9, scale=1.0)


def test_couplings_that_cannot_be_are_refused() -> None:
    pin, ball = constraints.Jointed(bough.joints.Revolute("z")), constraints.Jointed(bough.joints.Spherical())
    for says, make in (
        ("one degree of freedom", lambda: constraints.Coupled(ball)),
        ("one degree of freedom", lambda: constraints.Coupled(pin, bough.joints.Revolute("z"))),  # type: ignore[arg-type]
        ("expected finite numbers", lambda: constraints.Coupled(pin, pin, (np.nan,))),
        ("expected two different numbers", lambda: constraints.Coupled(pin, on=(1, 1))),
        ("on bodies 3, expected two different numbers", lambda: constraints.Coupled(pin, on=3)),  # type: ignore[arg-type]
        ("on bodies None, expected two", lambda: constraints.Coupled(pin, pin, other_on=None)),  # type: ignore[arg-type]
    ):
        with pytest.raises(bough.errors.ModelError, match=says):
            make()
    rigid = bodies.Rigid(1.0, inertia=1.0)
    with pytest.raises(bough.errors.ModelError, match=r"on bodies \(0, 1\) and \(2, 3\) given 2, expected 4"):
        bough.maximal.Linkage({"a": rigid, "b": rigid}, {"law": (constraints.Coupled(pin, pin), "a", "b")})
    b = bough.Builder("one name")
    b.add("arm", bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
    b.equality("arm", "arm", None, (0.0,))
    with pytest.raises(bough.errors.ModelError, match="constraint 'arm' is called as a joint"):
        bough.maximal.Linkage.of(b.build())


@dataclass(frozen=True)
class Wheel(bough.joints.Joint):
    """From outside the package, without words on loops: a wheel rolls along x."""

    radius: float
    nq = 1
    nv = 1

    def transform(self, parameters: Any, q: Any) -> Transform:
        return Transform(about_y(cos(q[0]), sin(q[0])), Vector(self.radius * q[0], 0.0, 0.0))

    def subspace(self, parameters: Any, q: Any) -> tuple[Motion, ...]:
        return (Motion(UNITS[1], Vector(self.radius * cos(q[0]), 0.0, self.radius * sin(q[0]))),)

    def subspace_rate(self, parameters: Any, q: Any, v: Any) -> tuple[Motion, ...]:
        turning = Vector(-self.radius * sin(q[0]) * v[0], 0.0, self.radius * cos(q[0]) * v[0])
        return (Motion(ZERO, turning),)


@pytest.mark.parametrize("count", [2, 8])  # straight-line code, and loops
def test_joints_of_users(count: int, rng: Rng) -> None:
    b = bough.Builder("wheels")
    for k in range(count):
        b.add(f"b{k}", Wheel(0.3), f"b{k - 1}" if k else "world", at=(0, 0, -1), **random_inertia(rng))
    model = b.build()
    check_against_model(model, rng, q=rng.uniform(-1.0, 1.0, count))


def geared_model(rng: Rng) -> bough.Model:
    """Joints of several types with armature, on all or some of their axes, one of them followed by another."""
    b, places = bough.Builder("geared", gravity=5 * rng.normal(size=3)), ["world"]
    for k, name in enumerate(("revolute", "universal", "spherical", "prismatic")):
        joint = random_joint(name, rng)
        rotor = rng.uniform(0.1, 2.0, size=joint.nv) * (np.arange(joint.nv) != 1)
        if k == 3:
            joint = bough.joints.Mimic(joint, "b0", -0.7)
        placed = random_placement(rng)
        b.add(f"b{k}", joint, str(rng.choice(places)), armature=rotor, **random_inertia(rng), **placed)
        places.append(f"b{k}")
    return b.build()


def test_armature_is_felt_at_every_level(rng: Rng) -> None:
    model = geared_model(rng)
    linkage = check_against_model(model, rng)
    q, v = bough.random(model, rng), rng.normal(size=model.nv)
    x, motion = state_of(linkage, model, q, v)
    J = bough.velocities(model, np.tile(q, (model.nv, 1)), np.eye(model.nv)).reshape(model.nv, -1).T
    M, push = bough.crba(model, q), rng.normal(size=linkage.nv)
    want = J @ np.linalg.solve(M, J.T @ push)  # M with armature
    assert_close(linkage.first_order(x, push).motion, want, 1e-9, scale=1.0)
    assert_close(linkage.impulses(x, motion, push).motion, motion + want, 1e-9, scale=1.0)
    # velocities that joints do not allow: what is nearest in the metric of M, for which rotors turn with the joints
    lost = linkage.impulses(x, motion + push).motion
    assert np.abs(linkage.rates(x, lost)).max() < 1e-9


def test_the_multiplier_of_armature(rng: Rng) -> None:
    """A wheel on an axle, geared to a rotor: τ = (I + r) q̈, and r q̈ of it is what the rotor takes."""
    axle = constraints.Jointed(bough.joints.Revolute("z"), armature=3.0)
    linkage = bough.maximal.Linkage({"wheel": bodies.Rigid(1.0, inertia=2.0)}, {"axle": (axle, "world", "wheel")})
    found = linkage.accelerations(linkage.neutral(), np.zeros(6), [0, 0, 0, 0, 0, 10.0])
    assert_close(found.motion, [0, 0, 0, 0, 0, 2.0], 1e-12, scale=1.0)
    assert_close(found.loop_forces[5:] * np.sqrt(3.0), [-6.0], 1e-12)
    assert linkage.rows("axle") == slice(0, 6)
    spinning = np.array([0, 0, 0, 0, 0, 1.0])
    assert not linkage.rates(linkage.neutral(), spinning).any()
    for broken in (-1.0, np.inf, (1.0, 2.0)):
        with pytest.raises(bough.errors.ModelError, match="armature of a joint between bodies"):
            constraints.Jointed(bough.joints.Revolute("z"), armature=broken)


def test_armature_in_loops(rng: Rng) -> None:
    """A four-bar whose pins are all geared, whichever of them closes the loop."""
    model, q, v = closed("four-bar")
    plain = bough.maximal.Linkage.of(model)
    rotors = rng.uniform(0.1, 1.0, len(plain.constraint_names))
    geared = {}
    for (name, (pin, *ends)), rotor in zip(plain._constraints.items(), rotors, strict=True):
        assert isinstance(pin, constraints.Jointed)
        geared[name] = (constraints.Jointed(pin.joint, pin.at, to=pin.to, armature=rotor), *ends)
    linkages = [
        bough.maximal.Linkage(plain._bodies, dict(order), plain.gravity)
        for order in (geared.items(), reversed(geared.items()))
    ]
    assert linkages[0].auxiliary != linkages[1].auxiliary
    x, motion = state_of(plain, model, q, v)
    L, B = bough.loops.jacobian(model, q), bough.loops.coordinate_jacobian(model, q)
    M = bough.crba(model, q) + np.diag(rotors[:-1]) + rotors[-1] * B.T @ B  # in a plane B does not change
    K = np.block([[M, -L.T], [L, np.zeros((len(L), len(L)))]])
    right = -np.concatenate([bough.bias_forces(model, q, v), bough.loops.bias(model, q, v)])
    qdd = np.linalg.lstsq(K, right, rcond=1e-10)[0][: model.nv]
    want = bough.accelerations(model, q, v, qdd).ravel()
    for linkage in linkages:
        found = linkage.accelerations(x, motion, time_constant=np.inf)
        assert_close(found.motion, want, 1e-9, scale=1.0)
        assert not found.conflicts


def test_armature_beside_a_rope() -> None:
    """Two geared arms that pull at a rope move as if it were a rod, and let go of it as if there were none."""
    arms = {"a": (0.0, 0.0, 0.0), "b": (2.0, 0.0, 0.0)}
    pins = {
        name: (constraints.Jointed(bough.joints.Revolute("z"), at=at, armature=1.5), "world", name)
        for name, at in arms.items()
    }
    rod = constraints.Distance(2.0, at=(0.0, 1.0, 0.0), to=(0.0, 1.0, 0.0))
    rigid = bodies.Rigid(1.0, inertia=0.4)
    makes = {"rope": constraints.AtMost(rod), "rod": rod}
    tied = {
        name: bough.maximal.Linkage(dict.fromkeys(arms, rigid), {**pins, name: (make, "a", "b")})
        for name, make in makes.items()
    }
    free = bough.maximal.Linkage(dict.fromkeys(arms, rigid), pins)
    x = free.from_placements(_standing(arms))
    for turn, like in ((1.0, tied["rod"]), (-1.0, free)):
        force = np.zeros(12)
        force[5], force[11] = 3.0 * turn, -1.0 * turn
        found = tied["rope"].accelerations(x, np.zeros(12), force).motion
        assert_close(found, like.accelerations(x, np.zeros(12), force).motion, 1e-9, scale=1.0)
        assert np.abs(found[[5, 11]]).max() > 0.1


def _standing(places: dict[str, Any]) -> Floats:
    """Placements of bodies that are not turned."""
    placed = np.tile(np.eye(4), (len(places), 1, 1))
    placed[:, :3, 3] = list(places.values())
    return placed


def test_models_that_are_more_than_bodies_and_joints_are_refused() -> None:
    b = bough.Builder("light")
    b.add("rod", bough.joints.Revolute("y"), mass=1.0)
    with pytest.raises(bough.errors.ModelError, match="expected three positive ones"):
        bough.maximal.Linkage.of(b.build())


# --- closed forms ---


def double_pendulum() -> tuple[bough.maximal.Linkage, bough.Model]:
    rod = bodies.PlanarRigid(1.2, (0.5, 0.0), 0.1)
    pins = {
        "shoulder": (constraints.Coincident(space=2), "world", "upper"),
        "elbow": (constraints.Coincident((1.0, 0.0), (0.0, 0.0), space=2), "upper", "lower"),
    }
    linkage = bough.maximal.Linkage({"upper": rod, "lower": rod}, pins, gravity=(0.0, -G, 0.0))
    b = bough.Builder("double pendulum", gravity=(0.0, -G, 0.0))
    b.add("upper", bough.joints.Revolute("z"), mass=1.2, com=(0.5, 0, 0), inertia=(0.05, 0.1, 0.1))
    b.add(
        "lower",
        bough.joints.Revolute("z"),
        "upper",
        at=(1.0, 0, 0),
        mass=1.2,
        com=(0.5, 0, 0),
        inertia=(0.05, 0.1, 0.1),
    )
    return linkage, b.build()


def flat_state(q: Any, qd: Any) -> tuple[Floats, Floats]:
    """Of the double pendulum in the plane, with velocities in the frames of the bodies."""
    a, b = q[0], q[0] + q[1]
    x = np.array([0.0, 0.0, a, np.cos(a), np.sin(a), b])
    tip = qd[0] * np.array([-np.sin(a), np.cos(a)])  # of the elbow
    own = [tip @ [np.cos(b), np.sin(b)], tip @ [-np.sin(b), np.cos(b)]]
    return x, np.array([0.0, 0.0, qd[0], *own, qd[0] + qd[1]])


def test_a_planar_double_pendulum_moves_as_in_joint_coordinates(rng: Rng) -> None:
    linkage, model = double_pendulum()
    q, qd = rng.normal(size=2), rng.normal(size=2)
    x, v = flat_state(q, qd)
    a = linkage.accelerations(x, v).motion
    qdd = bough.aba(model, q, qd, np.zeros(2))
    assert_close([a[2], a[5] - a[2]], qdd, 1e-11)
    with compiled():
        x, v = move(linkage, x, v, 0.5, 200)
    h, none = 0.5 / 200, np.zeros(2)
    for _ in range(200):
        k1 = bough.aba(model, q, qd, none)
        k2 = bough.aba(model, q + h / 2 * qd, qd + h / 2 * k1, none)
        k3 = bough.aba(model, q + h / 2 * qd + h * h / 4 * k1, qd + h / 2 * k2, none)
        k4 = bough.aba(model, q + h * qd + h * h / 2 * k2, qd + h * k3, none)
        q, qd = q + h * qd + h * h / 6 * (k1 + k2 + k3), qd + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    assert_close([x[2], x[5] - x[2], v[2], v[5] - v[2]], [*q, *qd], 1e-6)


def test_a_knife_edge_on_an_incline_goes_across_it_in_a_cycloid() -> None:
    """It turns with ω, glides with (g'/ω) sin ωt, and after each half turn is as high as it was at first."""
    slope, w = G * np.sin(0.4), 1.7
    skate = {"edge": (constraints.Skate("y"), "blade")}
    linkage = bough.maximal.Linkage({"blade": bodies.PlanarRigid(2.0, inertia=0.3)}, skate, gravity=(slope, 0.0, 0.0))
    with compiled():
        for t in (0.7, np.pi / w):
            x, v = move(linkage, linkage.neutral(), np.array([0.0, 0.0, w]), t, 200)
            way = slope / (2 * w * w) * np.array([np.sin(w * t) ** 2, w * t - np.sin(2 * w * t) / 2])
            assert_close(x, [*way, w * t], 1e-8)
            assert_close(v, [slope / w * np.sin(w * t), 0.0, w], 1e-8)


@pytest.mark.parametrize(("inertia", "share"), [(0.4, 5 / 7), (2 / 3, 3 / 5)])
def test_balls_roll_down_an_incline(inertia: float, share: float) -> None:
    m, r, angle = 2.0, 0.3, 0.35
    gravity = (G * np.sin(angle), 0.0, -G * np.cos(angle))
    ball = bodies.Rigid(m, inertia=inertia * m * r * r)
    linkage = bough.maximal.Linkage({"ball": ball}, {"contact": (constraints.Rolling(r), "ball")}, gravity)
    x = linkage.neutral()
    x[2] = r
    found = linkage.accelerations(x, np.zeros(6))
    a, lam = found.motion, found.loop_forces
    down = share * G * np.sin(angle)
    assert_close(a, [down, 0.0, 0.0, 0.0, down / r, 0.0], 1e-13)
    assert lam[0] == pytest.approx(m * G * np.cos(angle))
    with compiled():
        x, _ = move(linkage, x, np.zeros(6), 0.5, 200)
    assert x[0] == pytest.approx(down / 8, rel=1e-8)
    assert x[2] == pytest.approx(r, rel=1e-8)


def test_a_wheel_in_the_plane_rolls_down_a_line() -> None:
    m, r, angle = 1.5, 0.2, 0.5
    wheel = bodies.PlanarRigid(m, inertia=m * r * r / 2)
    gravity = (G * np.sin(angle), -G * np.cos(angle), 0.0)
    linkage = bough.maximal.Linkage(
        {"wheel": wheel}, {"line": (constraints.Rolling(r, normal=(0, 1), space=2), "wheel")}, gravity
    )
    a = linkage.accelerations([0.0, r, 0.0], np.zeros(3)).motion
    down = 2 / 3 * G * np.sin(angle)
    assert_close(a, [down, 0.0, -down / r], 1e-13)


def leaning_disc(m: float, r: float, lean: float, turn: float) -> tuple[bough.maximal.Linkage, Floats, Floats]:
    """A thin disc that rolls in circles: (Iₐ + m r²) s Ω sin θ - I_d Ω² sin θ cos θ + m g r cos θ = 0.

    θ is the angle between its axis and the vertical, Ω how fast it goes round, s its spin about its own axis.
    """
    disc = bodies.Rigid(m, inertia=(m * r * r / 4, m * r * r / 4, m * r * r / 2))
    linkage = bough.maximal.Linkage({"disc": disc}, {"floor": (constraints.Rolling(r, axis="z"), "disc")})
    spin = (m * r * r / 4 * turn**2 * np.sin(lean) * np.cos(lean) - m * G * r * np.cos(lean)) / (
        1.5 * m * r * r * turn * np.sin(lean)
    )
    # body axes: x level, y steepest up in the disc, z its axis, leaning away from the vertical towards -y of the world
    half = lean / 2
    x = np.array([0.0, 0.0, r * np.sin(lean), np.sin(half), 0.0, 0.0, np.cos(half)])
    v = np.array([-r * spin, 0.0, 0.0, 0.0, turn * np.sin(lean), spin])
    return linkage, x, v


def test_a_leaning_disc_rolls_in_a_circle() -> None:
    linkage, x, v = leaning_disc(0.8, 0.25, 1.1, 2.4)
    assert np.abs(linkage.errors(x)).max() < 1e-15
    assert np.abs(linkage.rates(x, v)).max() < 1e-15
    turn, lean, spin, r = 2.4, 1.1, v[5], 0.25
    a = linkage.accelerations(x, v).motion
    frame = np.array([0.0, turn * np.sin(lean), turn * np.cos(lean)])  # how level and steepest turn, in body axes
    # the axes of the body spin on: rates of components of what is constant in the frame that goes round
    relative = frame - v[3:]
    assert_close(a[3:], np.cross(relative, v[3:]), 1e-11)
    assert_close(a[:3], np.cross(relative, v[:3]), 1e-11)
    radius = abs(r * spin / turn)
    with compiled():
        half, _ = move(linkage, x, v, np.pi / turn, 400)
    assert np.linalg.norm(half[:2] - x[:2]) == pytest.approx(2 * radius, rel=1e-6)
    assert half[2] == pytest.approx(x[2], rel=1e-7)


def test_gears_turn_at_their_ratio_and_share_a_torque() -> None:
    """θ̈ = τ / (I₁ + n² I₂) for a torque on the first wheel, and the second turns n times as fast."""
    first, second, n = 0.4, 0.1, -2.5
    wheels = {"first": bodies.PlanarRigid(1.0, inertia=first), "second": bodies.PlanarRigid(1.0, inertia=second)}
    linkage = bough.maximal.Linkage(
        wheels,
        {
            "axle": (constraints.Coincident(space=2), "first"),
            "other axle": (constraints.Coincident(to=(1.0, 0.0), space=2), "second"),
            "teeth": (constraints.SpeedRatio(n), "second", "first"),
        },
    )
    assert linkage.auxiliary == ("teeth",)
    x = linkage.neutral()
    x[3] = 1.0
    a = linkage.accelerations(x, np.zeros(6), [0, 0, 3.0, 0, 0, 0]).motion
    want = 3.0 / (first + n * n * second)
    assert_close(a, [0, 0, want, 0, 0, n * want], 1e-12)


def test_a_planetary_gear_turns_its_carrier() -> None:
    """Sun fixed to the world, planet on an arm: relative to the arm it turns as the wheels' sizes say."""
    wheel = bodies.PlanarRigid(1.0, inertia=0.2)
    linkage = bough.maximal.Linkage(
        {"arm": wheel, "planet": wheel},
        {
            "axle": (constraints.Coincident(space=2), "arm"),
            "pin": (constraints.Coincident((1.0, 0.0), space=2), "arm", "planet"),
            "teeth": (constraints.SpeedRatio(-3.0), "planet", "world", "arm"),  # 3 times the teeth of the planet
        },
    )
    x = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    v = linkage.impulses(x, np.zeros(6), [0, 0, 1.0, 0, 0, 0]).motion
    assert v[2] > 0
    assert v[5] == pytest.approx(4.0 * v[2])  # one turn with the arm, three in the mesh


def test_bodies_welded_in_the_plane_move_as_one() -> None:
    first, second = bodies.PlanarRigid(1.0, (0.2, 0.0), 0.1), bodies.PlanarRigid(2.0, (0.0, 0.1), 0.3)
    weld = {
        "spot": (constraints.Coincident((1.0, 0.0), space=2), "first", "second"),
        "seam": (constraints.Angle(np.pi / 2), "first", "second"),
    }
    linkage = bough.maximal.Linkage({"first": first, "second": second}, weld, gravity=(0.0, -G, 0.0))
    x = np.array([0.0, 0.0, 0.3, np.cos(0.3), np.sin(0.3), 0.3 + np.pi / 2 + 2 * np.pi])  # a turn more
    assert np.abs(linkage.errors(x)).max() < 1e-14
    # the whole: mass 3, centre of mass and inertia by the parallel-axis rule, in the frame of the first
    centres, masses = np.array([[0.2, 0.0], [0.9, 0.0]]), np.array([1.0, 2.0])
    com = masses @ centres / 3.0
    inertia = 0.1 + 0.3 + sum(m * (c - com) @ (c - com) for m, c in zip(masses, centres, strict=True))
    one = bough.maximal.Linkage({"whole": bodies.PlanarRigid(3.0, com, inertia)}, gravity=(0.0, -G, 0.0))
    v = linkage.impulses(x, [0.1, 0.2, 1.5, 0.0, 0.0, 0.0]).motion
    push = np.array([0.5, 2.0, -0.3])
    found = linkage.accelerations(x, v, [*push, 0.0, 0.0, 0.0]).motion
    assert_close(found[:3], one.accelerations(x[:3], v[:3], push).motion, 1e-11)


def test_a_bead_on_a_path_is_carried_along() -> None:
    linkage = bough.maximal.Linkage(
        {"bead": bodies.Particle(2.0)}, {"path": (constraints.Path(parabola_in_time), "bead")}
    )
    found = linkage.accelerations([0.0, 0.0, 0.5 * 3.0 * 0.49], [0.0, 0.0, 3.0 * 0.7], time=0.7)
    a, lam = found.motion, found.loop_forces
    assert_close(a, [0.0, 0.0, 3.0], 1e-12)
    assert_close(lam, [0.0, 0.0, 2.0 * (3.0 + G)], 1e-12)
    assert_close(linkage.impulses(np.zeros(3), np.zeros(3), time=0.7).motion, [0.0, 0.0, 2.1], 1e-14)
    assert_close(linkage.project(np.ones(3), time=0.2), [0.0, 0.0, 0.06], 1e-12)


def parabola_in_time(t: Any) -> Any:
    return [0.0, 0.0, t * t * 1.5]


def test_a_scaled_body_grows_as_it_is_pulled_apart() -> None:
    """Two particles' worth of a body: a pull on the scale moves it by force over Σ m ρ²."""
    linkage = bough.maximal.Linkage({"cloud": bodies.ScaledRigid(3.0, inertia=0.6)}, gravity=(0, 0, 0))
    push = np.zeros(7)
    push[6] = 1.8
    assert linkage.accelerations(linkage.neutral(), np.zeros(7), push).motion[6] == pytest.approx(1.8 / 0.9)


def test_states_of_different_rank_in_one_batch(rng: Rng) -> None:
    """Rows that depend on others in some states: each state moves as it does alone, to the last bit."""
    rods = {f"rod {z}": (constraints.Distance(1.0 + z, to=(0.0, 0.0, z)), "bob") for z in (0.0, 1.0, 3.0)}
    hung = bough.maximal.Linkage({"bob": bodies.Particle(2.0)}, rods)
    x, v = np.tile([0.0, 0.0, -1.0], (37, 1)), np.zeros((37, 3))
    x[::3] += 0.3 * rng.normal(size=(13, 3))
    with compiled():
        found, each = hung.accelerations(x, v), [hung.accelerations(*one) for one in zip(x, v, strict=True)]
    for k, alone in enumerate(each):
        assert np.array_equal(alone.motion, found.motion[k])
        assert np.array_equal(alone.loop_forces, found.loop_forces[k])
    assert_close(found.loop_forces[1].sum(keepdims=True), np.array([-2.0 * G]), 1e-12)


def test_feet_that_touch_or_not_in_one_batch() -> None:
    """Each state is solved as if those that do not touch were not there."""
    places = [(0.3 * a, 0.2 * b, -0.1) for a in (-1, 1) for b in (-1, 1)]
    feet = {f"foot {k}": (constraints.Contact(0.5, at=at), "box") for k, at in enumerate(places)}
    box = {"box": bodies.Rigid(2.0, inertia=(0.1, 0.2, 0.3))}
    linkage, x, v = bough.maximal.Linkage(box, feet), np.zeros((6, 7)), np.zeros((6, 6))
    angles, touching = (0.0, 0.1, -0.1, 0.0, 0.1, -0.1), ((0, 1, 2, 3), (2, 3), (0, 1), (), (2, 3), (0, 1))
    for k, angle in enumerate(angles):
        x[k, [4, 6]] = math.sin(angle / 2), math.cos(angle / 2)
        x[k, 2] = 0.1 * math.cos(angle) + 0.3 * abs(math.sin(angle)) + (0.1 if not touching[k] else 0.0)
    found = linkage.accelerations(x, v)
    for k, some in enumerate(touching):
        fewer = bough.maximal.Linkage(box, {f"foot {n}": feet[f"foot {n}"] for n in some})
        assert_close(found.motion[k], fewer.accelerations(x[k], v[k]).motion, 1e-9, scale=G)
