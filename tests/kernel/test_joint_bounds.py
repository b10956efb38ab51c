"""Dry friction, velocity limits and effort limits of joints as conditions of the motion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bough
from bough.errors import ModelError, UnknownNameError
from closeness import assert_close

STILL = 1e-3
ALL: Any = ("position", "velocity", "effort")


def hinge(inertia: float = 0.5, **losses: Any) -> bough.Model:
    """A wheel about a vertical axis."""
    b = bough.Builder("hinge")
    b.add("wheel", bough.joints.Revolute("z"), mass=1.0, inertia=inertia, **losses)
    return b.build()


def chain(rng: np.random.Generator, losses: float = 1.0) -> bough.Model:
    """Joints of several types with losses and limits, and one that follows."""
    b, parent = bough.Builder("chain"), "world"
    for k, joint in enumerate(
        (bough.joints.Revolute("y"), bough.joints.Universal("x", "y"), bough.joints.Prismatic("z"))
    ):
        friction = losses * rng.uniform(0.5, 2.0, joint.nv)
        b.add(
            f"b{k}", joint, parent, at=rng.normal(size=3), mass=1.0, com=rng.normal(size=3), inertia=0.3,
            friction=friction, velocity=1.0, effort=4.0, lower=-2.0, upper=2.0,
        )  # fmt: skip
        parent = f"b{k}"
    follower = bough.joints.Mimic(bough.joints.Revolute("z"), "b0", -2.0, 0.0)
    b.add("m", follower, "b0", mass=0.5, com=(0.2, 0.0, 0.1), inertia=0.1, friction=0.3, velocity=1.0)
    return b.build()


# --- one joint, in closed form ---


@pytest.mark.parametrize(
    ("v", "tau", "expected", "friction"),
    [
        (0.0, 0.6, 0.0, -0.6),  # sticks
        (0.0, -0.6, 0.0, 0.6),
        (0.0, 1.5, 1.4, -0.8),  # breaks away: (1.5 - 0.8) / 0.5
        (2.0, 0.0, -1.6, -0.8),  # slips, and is held back
        (-2.0, 0.3, 2.2, 0.8),
    ],
)
def test_a_wheel_with_dry_friction(v: float, tau: float, expected: float, friction: float) -> None:
    found = bough.forward_dynamics(hinge(friction=0.8), [0.3], [v], [tau], dry_friction=True, full=True)
    assert_close(found.motion, [expected], 1e-12, scale=1.0)
    assert_close(found.friction_forces, [friction], 1e-12)
    without = bough.forward_dynamics(hinge(friction=0.8), [0.3], [v], [tau])
    assert_close(without, [tau / 0.5], 1e-12, scale=1.0)


def test_a_wheel_comes_to_rest_and_stays_there() -> None:
    """By steps: from 1 rad/s in I v / μ = 0.625 s, after half of that time times the speed."""
    model, q, v, dt = hinge(friction=0.8), np.zeros(1), np.ones(1), 0.0125
    for k in range(60):
        v = bough.contact.step(model, q, v, np.zeros(1), dt=dt, dry_friction=True).motion
        q = q + dt * v
        assert v[0] == pytest.approx(max(1.0 - (k + 1) * dt * 1.6, 0.0), abs=1e-12)
    assert q[0] == pytest.approx(0.3125, abs=dt)


def test_what_drags_must_overcome_dry_friction() -> None:
    model = hinge(friction=0.8)
    for tau, expected in ((0.7, 0.0), (-1.8, -2.0)):
        assert_close(
            bough.contact.velocities(model, [0.0], [tau], dry_friction=True).motion, [expected], 1e-12, scale=1
        )


def test_a_wheel_gets_no_faster_than_it_may() -> None:
    model, both = hinge(velocity=3.0), (1, -1)
    for sign in both:
        held = bough.forward_dynamics(model, [0.0], [3.0 * sign], [2.0 * sign], limits="velocity", full=True)
        assert_close(held.motion, [0.0], 1e-12, scale=1.0)
        assert_close(held.limit_forces, [-2.0 * sign], 1e-12)
        slowed = bough.forward_dynamics(model, [0.0], [3.0 * sign], [-2.0 * sign], limits="velocity")
        assert_close(slowed, [-4.0 * sign], 1e-12)
        too_fast = bough.forward_dynamics(model, [0.0], [3.5 * sign], [0.0], limits="velocity", time_constant=0.1)
        assert_close(too_fast, [-5.0 * sign], 1e-12)
        after = bough.contact.step(model, [0.0], [2.9 * sign], [2.0 * sign], dt=0.1, limits="velocity").motion
        assert_close(after, [3.0 * sign], 1e-12)
        struck = bough.contact.impulses(model, [0.0], [4.0 * sign], limits=["velocity"]).motion
        assert_close(struck, [3.0 * sign], 1e-12)
    assert_close(bough.forward_dynamics(model, [0.0], [2.9], [2.0], limits="velocity"), [4.0], 1e-12)


def test_joints_that_close_loops_obey_as_those_of_the_tree_do() -> None:
    """A wheel on two pins: what is said of the one that closes the loop holds for the wheel."""
    losses = {"friction": 0.8, "velocity": 2.0}
    b = bough.Builder("on two pins")
    b.add("wheel", bough.joints.Revolute("z"), mass=1.0, inertia=0.5)
    b.loop("pin", bough.joints.Revolute("z"), "world", "wheel", **losses)
    closed, plain, asked = b.build(), hinge(**losses), {"limits": ALL, "dry_friction": True}
    for v, tau in ((0.0, 0.6), (0.0, 1.5), (1.0, 0.0), (-1.0, 0.3), (2.0, 3.0), (-2.1, -4.0)):
        found, want = (bough.forward_dynamics(m, [0.3], [v], [tau], full=True, **asked) for m in (closed, plain))
        assert_close(found.motion, want.motion, 1e-12, scale=1.0)
        assert_close(found.loop_friction_forces, want.friction_forces, 1e-12, scale=1.0)
        assert_close(found.loop_limit_forces, want.limit_forces, 1e-12, scale=1.0)
        assert not found.friction_forces.any()
        found, want = (bough.contact.step(m, [0.3], [v], [tau], dt=0.01, **asked) for m in (closed, plain))
        assert_close(found.motion, want.motion, 1e-12, scale=1.0)


def test_friction_of_a_loop_is_that_of_the_joint_it_was(rng: np.random.Generator) -> None:
    """A chain of bars from wall to wall moves the same whichever of its joints closes it, and so do its limits."""
    b, joint = bough.Builder("chain"), bough.joints.Revolute("y")
    for k in range(3):
        rod = {"mass": 1.0, "com": (0.3, 0.0, 0.1), "inertia": 0.05}
        at = (0.6 * (k > 0), 0, 0)
        b.add(f"b{k}", joint, f"b{k - 1}" if k else "world", at=at, friction=0.4, velocity=1.0, **rod)
    b.loop("last", joint, "b2", "world", at=(0.6, 0, 0), successor_at=(0.9, 0, 0.3), friction=0.7, velocity=1.5)
    model = b.build()
    other, q = model.respanned("b1"), bough.loops.assemble(model, [-0.9, 1.4, 0.3])
    ask = {"dry_friction": True, "limits": ("velocity",), "time_constant": np.inf, "full": True}

    def there(x: Any, of_last: Any) -> list[float]:
        """What joints of the other tree have of something that those of this one have."""
        known = dict(zip(model.joint_names, x, strict=True)) | {"last": of_last[0]}
        return [known[name] for name in other.joint_names]

    for speed in (0.0, 0.3, 3.0):
        v = bough.loops.consistent_velocity(model, q, speed * rng.normal(size=3))
        B = bough.loops.coordinate_jacobian(model, q)
        found = bough.forward_dynamics(model, q, v, [0.0] * 3, **ask)
        same = bough.forward_dynamics(
            other, there(q, bough.loops.coordinates(model, q)), there(v, B @ v), [0.0] * 3, **ask
        )
        assert_close(there(found.motion, same.motion[[other.joint_names.index("last")]]), same.motion, 1e-8, scale=1.0)
        frictions = there(found.friction_forces, found.loop_friction_forces)
        assert_close(same.friction_forces, frictions, 1e-8, scale=1.0)


def test_drives_do_no_more_than_their_effort(rng: np.random.Generator) -> None:
    model = chain(rng)
    q, v, tau = bough.neutral(model), 0.1 * rng.normal(size=model.nv), 10 * rng.normal(size=model.nv)
    found = bough.forward_dynamics(model, q, v, tau, limits="effort")
    assert_close(found, bough.forward_dynamics(model, q, v, np.clip(tau, -4.0, 4.0)), 1e-9)
    b = bough.Builder.of(model)
    b.loop("rope", bough.joints.Cylindrical("z"), "world", "b2", effort=(0.5, 0.7))
    looped = b.build()
    found, expected = (
        bough.forward_dynamics(looped, q, v, 0 * tau, limits="effort", loop_tau=f, time_constant=np.inf)
        for f in ([3.0, -0.6], [0.5, -0.6])
    )
    assert_close(found, expected, 1e-9)


# --- many joints, judged by the conditions themselves ---


def judged(model: bough.Model, q: Any, v: Any, tau: Any, found: Any, most: Any) -> None:
    """Equations of motion and every condition on velocities, one after the other; all is at rest or clearly moves."""
    M, h = bough.crba(model, q), bough.bias_forces(model, q, v)
    tau = np.clip(tau, -4.0, 4.0)
    forces = found.friction_forces + found.limit_forces
    assert_close(M @ found.motion, tau - h + forces, 1e-8)
    a, f = found.motion, found.friction_forces
    assert (np.abs(f) <= most * (1 + 1e-9)).all()
    for k in range(model.nv):
        if abs(v[k]) > STILL:
            assert f[k] == pytest.approx(-most[k] * np.sign(v[k]))
        elif abs(f[k]) < most[k] * (1 - 1e-6):
            assert abs(a[k]) < 1e-7
        else:
            assert a[k] * f[k] <= 1e-9
    top = np.array([0.5, 1.0, 1.0, 1.0])
    at = (np.abs(v) >= top - STILL) & (found.limit_forces != 0.0)
    assert (found.limit_forces[~at] == 0.0).all()
    assert (found.limit_forces[at] * v[at] < 0.0).all()
    assert (a[np.abs(v) >= top] * np.sign(v[np.abs(v) >= top]) <= 1e-7).all()


@pytest.mark.parametrize("route", ["program", "careful route"])
def test_conditions_hold(route: str, rng: np.random.Generator) -> None:
    model = chain(rng)
    most = np.array([*model.limits("friction")])
    most[0] += 2.0 * 0.3  # of the joint that follows
    speeds = np.array([[0, 0, 0, 0], [0, 0.3, 0, -0.4], [0.5, 0, 0, 0], [0, 0, 1.0, -1.0], [-0.5, 1.0, 0.2, 0]])
    bough.set_backend("llvm" if route == "program" else "reference")
    try:
        for v in speeds:
            q, tau = bough.random(model, rng), 8 * rng.normal(size=model.nv)
            found = bough.forward_dynamics(model, q, v, tau, limits=ALL, dry_friction=True, full=True)
            judged(model, q, v, tau, found, most)
            assert not found.conflicts
    finally:
        bough.set_backend(None)


def test_by_sweeps_and_with_a_contact(rng: np.random.Generator) -> None:
    """Both solvers find the same step of an arm whose tip is on the ground."""
    model, contacts = chain(rng, 0.3), bough.contact.Contacts([("b2", None)])
    fine: Any = {"limits": ALL, "dry_friction": True, "tolerance": 1e-11, "iterations": 20000}
    for v in (np.zeros(4), 0.2 * rng.normal(size=4)):
        q, tau = bough.random(model, rng), 3 * rng.normal(size=4)
        touch = contacts.at([bough.placements(model, q)[2, :3, 3]], [[0.0, 0.0, 1.0]], mu=0.4)
        exact = bough.contact.step(model, q, v, tau, touch, dt=1e-2, **fine)
        bough.set_backend("llvm")
        try:
            swept = bough.contact.step(model, q, v, tau, touch, dt=1e-2, solver="gauss_seidel", **fine)
        finally:
            bough.set_backend(None)
        assert not exact.conflicts
        assert_close(swept.motion, exact.motion, 1e-6, scale=1.0)
        assert_close(swept.friction_forces, exact.friction_forces, 1e-6, scale=1.0)


def test_what_is_refused() -> None:
    model = hinge(friction=0.8)
    with pytest.raises(UnknownNameError, match="'position', 'velocity'"):
        bough.forward_dynamics(model, [0.0], [0.0], [0.0], limits=["speed"])  # type: ignore[list-item]
    with pytest.raises(ModelError, match="limits is 3"):
        bough.forward_dynamics(model, [0.0], [0.0], [0.0], limits=3)  # type: ignore[call-overload]
    with pytest.raises(bough.BoughError, match="dry_friction"):
        bough.forward_dynamics(model, [0.0], [0.0], [0.0], dry_friction="yes")  # type: ignore[call-overload]
    with pytest.raises(ModelError, match="expected method='auto'"):
        bough.forward_dynamics(model, [0.0], [0.0], [0.0], method="aba", dry_friction=True)
