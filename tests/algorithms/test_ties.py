"""Constraints of users' own, and of the kinds of linkages, on models: closed forms, loops written anew, and borders."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import bough
from bough.errors import AssemblyError, FiniteError, ModelError, UnknownNameError
from bough.maximal import constraints
from bough.scalar import sqrt
from closeness import assert_close
from mechanisms import closed, four_bar

SAME = 1e-9
CHAINS = 22  # with three hinges each: more than straight-line code is written for


def sledge(ahead: float = 0.3, mass: float = 1.5, inertia: float = 0.4) -> bough.Model:
    """Chaplygin's sledge: its runner is at the origin of its frame, its centre of mass ahead."""
    b = bough.Builder("sledge", gravity=(0.0, 0.0, 0.0))
    b.add("sledge", bough.joints.Planar("z"), mass=mass, com=(ahead, 0.0, 0.0), inertia=inertia)
    return b.build().with_constraint("runner", constraints.Skate("y"), "sledge")


def coin(radius: float = 0.2, mass: float = 0.5) -> bough.Model:
    """A thin disc, with z as its axis, that rolls on the floor."""
    b = bough.Builder("coin")
    side = mass * radius**2 / 4
    b.add("coin", bough.joints.Free(), mass=mass, inertia=(side, side, 2 * side))
    return b.build().with_constraint("floor", constraints.Rolling(radius, axis="z"), "coin")


@dataclass(frozen=True)
class Pinned(constraints.Constraint):
    """A point of the first body is where one of the second is, as a user would write it."""

    at: tuple[float, float, float]
    to: tuple[float, float, float]
    rows = 3

    def errors(self, parameters: Any, sides: Any) -> Any:
        return [b - a for a, b in zip(sides[0].point(self.at), sides[1].point(self.to), strict=True)]


@dataclass(frozen=True)
class Law(constraints.Constraint):
    """The second of two joints follows the square of the first, or turns at a speed that is given."""

    speed: float | None = None
    rows = 1

    def errors(self, parameters: Any, sides: Any) -> Any:
        return [sides[1].x[0] - sides[0].x[0] * sides[0].x[0]] if self.speed is None else []

    def rates(self, parameters: Any, sides: Any) -> Any:
        if self.speed is None:
            return super().rates(parameters, sides)
        return [sides[0].v[0] + sides[1].v[0] - self.speed * sides[-1].v[0]]


def hinges(count: int, mimic: bool = False) -> bough.Model:
    """A chain of hinges, with one more that follows the first if asked for."""
    b, parent = bough.Builder("hinges"), "world"
    for k in range(count):
        b.add(f"h{k}", bough.joints.Revolute("xyz"[k % 3]), parent, at=(0.2, 0.1, 0.3), mass=1.0, inertia=0.1)
        parent = f"h{k}"
    if mimic:
        b.add("m", bough.joints.Mimic(bough.joints.Revolute("x"), "h0", -2.0, 0.1), "h0", mass=0.5, inertia=0.2)
    return b.build()


# --- closed forms ---


def test_chaplygins_sledge(rng: np.random.Generator) -> None:
    a, m, J = 0.3, 1.5, 0.4
    model = sledge(a, m, J)
    q, speed, spin, torque = rng.normal(size=(5, 3)), *rng.normal(size=(3, 5))
    v, tau = np.stack([speed, 0 * speed, spin], -1), np.stack([0 * torque, 7 * torque, torque], -1)
    found = bough.forward_dynamics(model, q, v, tau)
    expected = np.stack([a * spin**2, 0 * spin, (torque - m * a * speed * spin) / (J + m * a * a)], -1)
    assert_close(found, expected, 1e-12)


def test_a_sledge_turns_until_it_runs_straight(compiled: None) -> None:
    """Its energy is kept, and v = √(2E/m) is where it ends, with its centre of mass ahead of the runner."""
    model, q, v, dt = sledge(0.5, 1.0, 0.2), np.zeros(3), np.array([-0.3, 0.0, 2.0]), 2e-3
    before = bough.kinetic_energy(model, q, v)
    for _ in range(4000):
        half = v + dt / 2 * bough.forward_dynamics(model, q, v, np.zeros(3))
        a = bough.forward_dynamics(model, bough.integrate(model, q, dt / 2 * v), half, np.zeros(3))
        q, v = bough.integrate(model, q, dt * half), v + dt * a
    assert bough.kinetic_energy(model, q, v) == pytest.approx(before, rel=1e-4)
    assert v == pytest.approx([np.sqrt(2 * before), 0.0, 0.0], abs=1e-3)


def test_a_coin_rolls_under_a_torque_and_in_a_circle() -> None:
    r, m = 0.2, 0.5
    model, up = coin(r, m), np.sqrt(0.5)
    q = [0.3, -0.1, r, up, 0.0, 0.0, up]  # upright, its axis along -y
    assert_close(bough.loops.errors(model, q), np.zeros(3), 1e-15, scale=1.0)
    a = bough.forward_dynamics(model, q, np.zeros(6), [0, 0, 0, 0, 0, 0.7])
    spin = 0.7 / (m * r * r / 2 + m * r * r)
    assert_close(a, [-r * spin, 0, 0, 0, 0, spin], 1e-12, scale=spin)
    # a steady circle of its centre with radius R: it leans by θ towards the middle, and its axis turns at the rate Ω
    lean, R = 0.4, 0.9
    c, s = np.cos(lean), np.sin(lean)
    turning = np.sqrt(m * 9.81 * r * s / (c * (m * r * (1.5 * R) + m * r * r / 4 * s)))
    half = (np.pi / 2 + lean) / 2
    q = [0.0, 0.0, r * c, np.sin(half), 0.0, 0.0, np.cos(half)]
    R_own = bough.placements(model, q)[0, :3, :3]
    rolls = R * turning / r  # about its own axis, the rest of the spin is up
    axis = R_own[:, 2]
    spin_world = turning * np.array([0, 0, 1.0]) + (rolls - turning * axis[2]) * axis
    guess = np.concatenate([np.zeros(3), R_own.T @ spin_world])
    lowest = R_own @ _to_the_floor(R_own, r)
    guess[:3] = R_own.T @ -np.cross(spin_world, lowest)
    assert_close(bough.loops.jacobian(model, q) @ guess, np.zeros(3), 1e-12, scale=1.0)
    a = bough.forward_dynamics(model, q, guess, np.zeros(6))
    steady = np.cross(turning * np.array([0, 0, 1.0]), spin_world)  # how a vector that turns with it changes
    assert_close(a[3:], R_own.T @ steady, 1e-9, scale=np.abs(steady).max())


def _to_the_floor(R: Any, r: float) -> Any:
    """From the centre of a disc to its lowest point, in its own axes."""
    down = R.T @ np.array([0.0, 0.0, -1.0])
    down[2] = 0.0
    return r * down / np.linalg.norm(down)


# --- the same as loops, laws and linkages ---


@pytest.mark.parametrize("method", ["kkt", "multipliers", "null_space"])
def test_a_four_bar_as_a_users_own(method: Any, rng: np.random.Generator) -> None:
    looped, q, v = closed("four-bar")
    own = replace(looped, constraints=()).with_constraint(
        "pin", Pinned((0.8, 0.0, 0.0), (0.5, 0.0, 0.0)), "coupler", "rocker"
    )
    assert float(bough.loops.rank(own, q)) == 2
    tau, off = rng.normal(size=3), q + 1e-3 * rng.normal(size=3)
    near = bough.loops.assemble(own, off)
    assert_close(bough.loops.errors(looped, near), np.zeros(5), SAME, scale=1.0)
    found, expected = (bough.loops.consistent_velocity(x, near, v) for x in (own, looped))
    assert_close(found, expected, SAME)
    found, expected = (bough.forward_dynamics(x, near, found, tau, method=method) for x in (own, looped))
    assert_close(found, expected, SAME)


def test_reactions_and_drives_of_a_users_own(rng: np.random.Generator) -> None:
    looped, q, _ = closed("four-bar")
    own = replace(looped, constraints=()).with_constraint(
        "pin", Pinned((0.8, 0.0, 0.0), (0.5, 0.0, 0.0)), "coupler", "rocker"
    )
    v, tau = bough.loops.consistent_velocity(own, q, rng.normal(size=3)), rng.normal(size=3)
    through = []
    for model in (own, looped):
        moved = bough.forward_dynamics(model, q, v, tau, full=True)
        through.append(bough.loops.reactions(model, q, v, moved.motion, moved.loop_forces).joints)
    assert_close(through[0][..., [0, 2, 4]], through[1][..., [0, 2, 4]], SAME)  # in the plane, where they are unique
    drives = [bough.inverse_dynamics(x, q, v, moved.motion, drives=["crank"]) for x in (own, looped)]
    assert_close(*drives, 1e-8)


def test_laws_between_joints(rng: np.random.Generator) -> None:
    tree = hinges(3, mimic=True)
    own = tree.with_constraint("law", Law(), joints=("m", "h2"))
    b = bough.Builder.of(tree)
    q, v, tau = bough.random(tree, rng), rng.normal(size=3), rng.normal(size=3)
    m = -2.0 * q[0] + 0.1
    assert_close(bough.loops.errors(own, q), [q[2] - m * m], 1e-12)
    b.equality("law", "h2", "h0", (0.01, -0.4, 4.0))  # (0.1 - 2 x)²
    law = b.build()
    for method in ("kkt", "null_space"):
        found, expected = (bough.forward_dynamics(x, q, v, tau, method=method) for x in (own, law))
        assert_close(found, expected, SAME)


def test_a_speed_that_is_given(rng: np.random.Generator) -> None:
    model = hinges(3).with_constraint("motor", Law(2.5), joints=("h0", "h2"))
    q, v = bough.random(model, rng), rng.normal(size=3)
    on = bough.loops.consistent_velocity(model, q, v)
    assert on[0] + on[2] == pytest.approx(2.5, rel=1e-12)
    assert_close(bough.loops.project(model, q, v)[1], on, 1e-12)
    a = bough.forward_dynamics(model, q, v, np.zeros(3), time_constant=0.1)
    assert a[0] + a[2] == pytest.approx(-(v[0] + v[2] - 2.5) / 0.1, rel=SAME)
    slow = bough.contact.velocities(model, q, np.zeros(3)).motion
    assert slow[0] + slow[2] == pytest.approx(2.5, rel=SAME)
    after = bough.contact.step(model, q, v, np.zeros(3), dt=1e-2).motion
    assert after[0] + after[2] == pytest.approx(2.5, rel=SAME)


def test_positions_are_assembled_across_skates() -> None:
    model = sledge().with_constraint("post", constraints.Coincident(to=(0.3, 0.4, 0.0)), "sledge", "world")
    q = bough.loops.assemble(model, [0.0, 0.0, 0.0])
    assert_close(q, [0.3, 0.4, 0.0], SAME)
    apart = sledge().with_constraint("post", constraints.Coincident(to=(0.3, 0.4, 1.0)), "sledge", "world")
    with pytest.raises(AssemblyError, match="post"):
        bough.loops.assemble(apart, [0.0, 0.0, 0.0])


def test_derivatives_of_motion_with_a_users_own(rng: np.random.Generator) -> None:
    model = hinges(3).with_constraint("law", Law(), joints=("h0", "h2"))
    q = bough.loops.assemble(model, rng.uniform(-1, 1, size=3))
    v, tau, h = bough.loops.consistent_velocity(model, q, rng.normal(size=3)), rng.normal(size=3), 1e-6
    by_q = bough.derivatives.forward_dynamics(model, q, v, tau)[0]
    for k, unit in enumerate(np.eye(3)):
        there, back = (bough.forward_dynamics(model, q + s * h * unit, v, tau) for s in (1, -1))
        assert_close(by_q[:, k], (there - back) / (2 * h), 1e-6)


def test_mechanisms_with_many_joints(rng: np.random.Generator) -> None:
    """Programs that are loops over bodies have the same rows."""
    b = bough.Builder("many")
    for k in range(CHAINS):
        for j, axis in enumerate("xyz"):
            parent = "world" if j == 0 else f"{k} {j - 1}"
            b.add(f"{k} {j}", bough.joints.Revolute(axis), parent, at=(0.1, 0.2, 0.3), mass=1.0, inertia=0.1)
    tree, at = b.build(), (0.1, 0.0, 0.2)
    q, ends = bough.random(tree, rng), ["0 2", "5 2"]
    X, Y = bough.placements(tree, q, ends)
    to = (np.linalg.inv(Y) @ X @ [*at, 1.0])[:3]
    own = tree.with_constraint("ball", constraints.Coincident(at, to), *ends)
    loop = tree.with_loop("ball", bough.joints.Spherical(), *ends, at=at, successor_at=to)
    L = bough.loops.jacobian(own, q)
    v = (np.eye(tree.nv) - np.linalg.pinv(L) @ L) @ rng.normal(size=tree.nv)
    found, expected = (bough.forward_dynamics(x, q, v, np.zeros(tree.nv)) for x in (own, loop))
    assert_close(found, expected, SAME)


# --- borders ---


@dataclass(frozen=True)
class Squared(constraints.Constraint):
    """Not linear in velocities."""

    rows = 1

    def rates(self, parameters: Any, sides: Any) -> Any:
        return [sides[0].v[0] * sides[0].v[0]]


def test_what_is_refused() -> None:
    model, distance = sledge(), constraints.Distance(1.0)
    with pytest.raises(UnknownNameError, match="slege"):
        model.with_constraint("x", distance, "slege")
    with pytest.raises(UnknownNameError, match="joint that constraint 'x' could act on"):
        model.with_constraint("x", distance, "sledge", joints=["hinge"])
    with pytest.raises(ModelError, match="there is a constraint of this name already"):
        model.with_constraint("runner", distance, "sledge")
    with pytest.raises(ModelError, match="no moving body"):
        model.with_constraint("x", distance, "world")
    with pytest.raises(ModelError, match="on 3 bodies, expected 1 to 2"):
        model.with_constraint("x", distance, "sledge", "world", "world")
    with pytest.raises(ModelError, match="pushes and never pulls"):
        model.with_constraint("x", constraints.AtMost(distance), "sledge")
    with pytest.raises(ModelError, match="depends on the time"):
        model.with_constraint("x", constraints.Path(lambda t: [t, 0.0 * t, 0.0 * t]), "sledge")
    with pytest.raises(ModelError, match="not linear in the velocities"):
        model.with_constraint("x", Squared(), "sledge")
    with pytest.raises(ModelError, match="expected a constraint such as"):
        model.with_constraint("x", "skate", "sledge")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="has no points"):
        model.with_constraint("x", distance, joints=["sledge"])
    with pytest.raises(bough.errors.BoughError, match="runner"):
        bough.save(model, "/dev/null/x.json")


@dataclass(frozen=True)
class Senseless(constraints.Constraint):
    """What is no number where an angle is above a half, or everywhere."""

    everywhere: bool = False
    rows = 1

    def errors(self, parameters: Any, sides: Any) -> Any:
        angle = sides[0].x[0]
        return [float("nan") if self.everywhere else sqrt(0.5 - angle) - 1.0]


def test_what_is_no_number_is_told_as_such() -> None:
    tree = hinges(2)
    with pytest.raises(ModelError, match=r"'x': errors or rates of Senseless.* give NaN at all positions"):
        tree.with_constraint("x", Senseless(everywhere=True), joints="h0")
    model = tree.with_constraint("x", Senseless(), joints="h0")
    assert model.constraints[0].joints == ("h0",)  # type: ignore[union-attr]
    still, bad = np.zeros(2), np.array([0.7, 0.0])
    assert np.isfinite(bough.forward_dynamics(model, [-0.5, 0.0], still, still)).all()
    for call in (
        lambda q: bough.forward_dynamics(model, q, still, still),
        lambda q: bough.inverse_dynamics(model, q, still, still),
        lambda q: bough.loops.errors(model, q),
        lambda q: bough.loops.jacobian(model, q),
        lambda q: bough.loops.project(model, q, still),
    ):
        with pytest.raises(FiniteError, match=r"constraint 'x', Senseless.* is not finite in this configuration"):
            call(bad)
        with pytest.raises(FiniteError, match=r"'x', Senseless.* is not finite in this configuration of state \[1\]"):
            call(np.array([[-0.5, 0.0], bad]))


@dataclass(frozen=True)
class Nowhere(Senseless):
    """What is a number far away alone."""

    def errors(self, parameters: Any, sides: Any) -> Any:
        return [sqrt(sides[0].x[0] - 100.0)]


def test_constraints_that_are_numbers_far_away_alone() -> None:
    model = hinges(2).with_constraint("x", Nowhere(), joints="h0")
    with pytest.raises(FiniteError, match=r"one of the constraints 'x' of .* is no finite number wherever"):
        bough.forward_dynamics(model, np.zeros(2), np.zeros(2), np.zeros(2))


def test_edits_keep_constraints() -> None:
    tree = hinges(4).with_frame("tip", "h3", at=(0.0, 0.1, 0.0))
    model = tree.with_constraint("law", Law(), joints=("h0", "h2"))
    model = model.with_constraint("ring", constraints.Distance(0.5), "tip", "h1")
    assert model.constraint_names == ("law", "ring")
    assert [x.name for x in model.without("h3").constraints] == ["law"]
    assert [x.name for x in model.without("h2").constraints] == []
    assert bough.Builder.of(model).build().constraints == model.constraints
    assert four_bar().with_constraint("x", constraints.Distance(0.5), "crank", "rocker").loops[0].name == "pin"


@pytest.mark.parametrize("given", [0.5, None, "a"])
def test_errors_that_are_no_list_are_refused_by_name(given: Any) -> None:
    class Slip(constraints.Constraint):
        rows = 1

        def errors(self, parameters: Any, sides: Any) -> Any:
            return given

        def __repr__(self) -> str:
            return "Slip"

    b = bough.Builder("rod")
    b.add("rod", bough.joints.Revolute("y"), mass=1.0, inertia=0.1)
    with pytest.raises(ModelError, match=r"errors of Slip gives .*, expected a list"):
        b.build().with_constraint("x", Slip(), "rod")
