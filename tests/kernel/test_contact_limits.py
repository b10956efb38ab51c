"""Limits of joints with several degrees of freedom: each as a chain of joints with one, which has the same limits."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import bough
from bough.scalar import select, sqrt
from wheel_joint import Wheel

INF = np.inf
SOLVERS: tuple[Any, ...] = ("pivoting", "gauss_seidel")
FINE = {"tolerance": 1e-10, "iterations": 5000}


@dataclass(frozen=True)
class Twin:
    """A joint, the chain that moves alike, and T(q) with ċ = T v for the coordinates c of the chain that are q's."""

    joint: bough.joints.Joint
    chain: tuple[bough.joints.Joint, ...]
    rates: Callable[[Any], Any]

    @property
    def count(self) -> int:
        """How many coordinates are numbers: a spherical joint is the last of a chain."""
        return self.joint.nq - 4 * len(self.joint.quaternions)


def planar(q: Any) -> Any:
    c, s = np.cos(q[2]), np.sin(q[2])
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def free(q: Any) -> Any:
    T = np.eye(6)
    T[:3, :3] = Rotation.from_quat(q[3:]).as_matrix()
    return T


LINES = (bough.joints.Prismatic("x"), bough.joints.Prismatic("y"), bough.joints.Prismatic("z"))
TWINS = {
    "universal": Twin(
        bough.joints.Universal("x", "y"), (bough.joints.Revolute("x"), bough.joints.Revolute("y")), lambda q: np.eye(2)
    ),
    "cylindrical": Twin(
        bough.joints.Cylindrical("y"), (bough.joints.Revolute("y"), bough.joints.Prismatic("y")), lambda q: np.eye(2)
    ),
    "planar": Twin(bough.joints.Planar("z"), (*LINES[:2], bough.joints.Revolute("z")), planar),
    "translational": Twin(bough.joints.Translational(), LINES, lambda q: np.eye(3)),
    "free": Twin(bough.joints.Free(), (bough.joints.Translational(), bough.joints.Spherical()), free),
}


def pair(twin: Twin, lower: Any, upper: Any) -> tuple[bough.Model, bough.Model]:
    """An arm on the joint, and on its chain, on a carriage each: so the limits act on more than one body."""
    solid = {"mass": 2.0, "com": (0.2, -0.1, 0.3), "inertia": (0.3, 0.4, 0.5)}
    models = []
    for joints in ((twin.joint,), twin.chain):
        b = bough.Builder()
        b.add("carriage", bough.joints.Revolute("y"), mass=3.0, com=(0.1, 0.0, 0.4), inertia=(0.5, 0.6, 0.7))
        parent, start = "carriage", 0
        for k, joint in enumerate(joints):
            bounds = slice(start, start + joint.nq)
            start += joint.nq
            last = k == len(joints) - 1
            name, more = ("arm", solid) if last else (f"link {k}", {})
            at = (0.3, 0.1, 0.5) if k == 0 else (0.0, 0.0, 0.0)
            b.add(name, joint, parent, at=at, rpy=(0.3, -0.2, 0.5) if k == 0 else None,
                  lower=lower[bounds], upper=upper[bounds], **more)  # fmt: skip
            parent = name
        b.add(
            "hand", bough.joints.Revolute("x"), parent, at=(0.2, 0.3, 0.1), mass=1.0, inertia=0.2, lower=-0.1, upper=0.4
        )
        models.append(b.build())
    return models[0], models[1]


def scene(twin: Twin, rng: np.random.Generator) -> tuple[bough.Model, bough.Model, Any, Any, Any, Any]:
    """Both models, q, v and tau of the first, and the map of its v to that of the second: some limits are reached."""
    plain = pair(twin, np.full(twin.joint.nq, -INF), np.full(twin.joint.nq, INF))[0]
    q = bough.random(plain, rng)
    own = plain.q_slice("arm")
    bounded = np.arange(twin.joint.nq) < twin.count
    lower = np.where(bounded, q[own] - rng.choice([0.0, 0.7, -0.01], size=twin.joint.nq), -INF)
    upper = np.where(bounded, np.maximum(q[own], lower) + rng.choice([0.0, 0.5], size=twin.joint.nq), INF)
    model, chain = pair(twin, lower, upper)
    T = np.eye(model.nv)
    T[model.v_slice("arm"), model.v_slice("arm")] = twin.rates(q[own])
    return model, chain, q, rng.normal(size=model.nv), 20 * rng.normal(size=model.nv), T


@pytest.mark.parametrize("name", TWINS)
@pytest.mark.parametrize("seed", range(3))
def test_a_joint_and_a_chain_of_joints_with_the_same_limits_move_alike(name: str, seed: int) -> None:
    """At all three levels and with either solver: motion, forces of limits, names of what cannot be met."""
    twin = TWINS[name]
    model, chain, q, v, tau, T = scene(twin, np.random.default_rng([seed, len(name)]))
    w, f = T @ v, np.linalg.solve(T.T, tau)
    h = 1e-5  # accelerations of coordinates have Ṫ v besides: T after and before a moment
    own = model.q_slice("arm")
    later, before = (bough.integrate(model, q, x)[own] for x in (h * v, -h * v))
    bend = np.zeros(model.nv)
    bend[model.v_slice("arm")] = (twin.rates(later) - twin.rates(before)) @ v[model.v_slice("arm")] / (2 * h)
    stops = 0.0
    for solver, sign in itertools.product(SOLVERS, (1.0, -1.0)):
        more = {"solver": solver, **FINE}
        v, w, tau, f = sign * v, sign * w, sign * tau, sign * f
        pairs = [
            (bough.contact.velocities(model, q, tau, **more), bough.contact.velocities(chain, q, f, **more), 0.0),
            (bough.contact.impulses(model, q, v, **more), bough.contact.impulses(chain, q, w, **more), 0.0),
            (bough.contact.dynamics(model, q, v, tau, still=9.0, **more),
             bough.contact.dynamics(chain, q, w, f, still=9.0, **more), bend),
        ]  # fmt: skip
        for one, two, rest in pairs:
            assert one.conflicts == two.conflicts == ()
            size = 1 + np.abs(two.motion).max() + np.abs(two.limit_forces).max()
            assert np.abs(T @ one.motion + rest - two.motion).max() < 1e-6 * size
            assert np.abs(one.limit_forces - T.T @ two.limit_forces).max() < 1e-6 * size
            stops = max(stops, np.abs(two.limit_forces).max())
    assert stops > 1.0


@pytest.mark.parametrize("name", ["planar", "free"])
def test_sweeps_that_start_from_the_solution_stay_there(name: str) -> None:
    model, _, q, v, tau, _ = scene(TWINS[name], np.random.default_rng(1))
    exact = bough.contact.dynamics(model, q, v, tau, still=9.0)
    assert np.abs(exact.limit_forces).max() > 0.1
    found = bough.contact.dynamics(
        model, q, v, tau, still=9.0, solver="gauss_seidel", iterations=1, tolerance=1e-8, start=exact
    )
    assert np.allclose(found.motion, exact.motion, atol=1e-6)


def test_a_puck_stays_in_its_rink(compiled: None) -> None:
    """It is thrown and spins, and no wall lets it through; where it strikes one, it goes along it."""
    b = bough.Builder(gravity=(0.0, 0.0, 0.0))
    b.add("puck", bough.joints.Planar("z"), mass=1.0, inertia=0.1, lower=(-1.0, -0.5, -INF), upper=(1.0, 0.5, INF))
    model, dt = b.build(), 1e-3
    q, v = np.array([0.0, 0.0, 0.3]), np.array([1.5, 1.0, 4.0])
    walls = set()
    for _ in range(1500):
        found = bough.contact.step(model, q, v, np.zeros(3), dt=dt)
        q, v = bough.integrate(model, q, dt * found.motion), found.motion
        walls |= {k for k in (0, 1) if found.limit_forces[:2].any() and abs(q[k]) > (1.0, 0.5)[k] - 1e-3}
        assert abs(q[0]) < 1.0 + 2e-4  # ½ v ω dt² in each step, as it turns, which comes back in 0.05 s
        assert abs(q[1]) < 0.5 + 2e-4
    assert walls == {0, 1}
    assert np.isclose(v[2], 4.0, atol=1e-12)  # walls turn nothing


def test_a_planar_joint_that_closes_a_loop_stops_at_its_limits_like_one_of_the_tree() -> None:
    """The same mechanism on two spanning trees."""
    b = bough.Builder()
    solid = {"mass": 1.0, "com": (0.2, 0.1, 0.0), "inertia": 0.3}
    b.add("arm", bough.joints.Revolute("z"), rpy=(1.2, 0.3, 0.0), **solid)
    bounds = {"lower": (0.4, -INF, -INF), "upper": (INF, 0.3, INF)}
    b.add("plate", bough.joints.Planar("z"), "arm", at=(0.1, 0.0, 0.2), **solid, **bounds)
    place = bough.placements(b.build(), [0.4, 0.4, 0.3, 0.8], ["plate"])[0]
    pin = {"at": (place @ [0.1, -0.2, 0.0, 1.0])[:3], "rotation": place[:3, :3], "successor_at": (0.1, -0.2, 0.0)}
    model = b.build().with_loop("pin", bough.joints.Revolute("z"), "world", "plate", **pin)
    q, (c, s) = np.array([0.4, 0.4, 0.3, 0.8]), (np.cos(0.8), np.sin(0.8))
    assert np.abs(bough.loops.errors(model, q)).max() < 1e-12
    other = model.respanned("plate")
    p = np.concatenate([q[:1], bough.loops.coordinates(model, q)])
    assert np.allclose(bough.loops.coordinates(other, p), q[1:])
    stops = 0.0
    for push in (np.array([0.0, 5.0, -9.0, 3.0]), np.array([2.0, -9.0, 6.0, 0.0]), np.array([-3.0, -9.0, 8.0, 1.0])):
        v = bough.loops.consistent_velocity(model, q, 0.3 * push)
        w = np.concatenate([v[:1], bough.loops.coordinate_jacobian(model, q) @ v])
        one = bough.contact.dynamics(model, q, v, push, still=99.0)
        tau = np.concatenate([push[:1], [0.0]]) + bough.loops.coordinate_jacobian(other, p).T @ push[1:]
        two = bough.contact.dynamics(other, p, w, tau, still=99.0)
        assert np.allclose(two.motion[0], one.motion[0], atol=1e-8)
        assert np.allclose(two.loop_limit_forces, one.limit_forces[1:], atol=1e-7)
        along = np.array([[c, -s], [s, c]]) @ one.limit_forces[1:3]
        assert along[0] >= -1e-9  # a lower limit
        assert along[1] <= 1e-9  # an upper one
        stops = max(stops, np.abs(one.limit_forces).max())
    assert stops > 0.1


class Rough(Wheel):
    """One whose `integrate` has no derivative where nothing moves."""

    def integrate(self, parameters: Any, q: Any, v: Any) -> list[Any]:
        speed = sqrt(v[0] * v[0])
        return super().integrate(parameters, q, [select(v[0] < 0.0, -speed, speed)])


@pytest.mark.parametrize("speed", [0.0, 0.3])
def test_coordinates_of_a_joint_from_outside_have_limits_whatever_they_are(speed: float) -> None:
    """The height of the tip may not be above sin(0.5): the same as an angle of at most 0.5."""
    models = []
    for joint, most in ((Wheel(), (INF, np.sin(0.5))), (bough.joints.Revolute("y"), 0.5)):
        b = bough.Builder()
        b.add("arm", joint, mass=2.0, com=(0.5, 0.0, 0.0), inertia=0.1, upper=most)
        models.append(b.build())
    at = np.cos(0.5), np.sin(0.5)
    one, two = (
        bough.contact.dynamics(m, q, [speed], [0.0], still=1.0, time_constant=0.1)
        for m, q in zip(models, (at, [0.5]), strict=True)
    )
    # of s = sin q, cos q q̈ - sin q q̇² + 2 cos q q̇ / T is to be zero or less
    assert np.isclose(np.cos(0.5) * one.motion[0], np.sin(0.5) * speed**2 - 20 * np.cos(0.5) * speed)
    assert np.isclose(two.motion[0], -20 * speed)
    assert one.limit_forces[0] < -1.0
    away = bough.contact.dynamics(models[0], at, [-0.1], [0.0])
    assert np.allclose(away.motion, bough.aba(models[0], at, [-0.1], [0.0]))


def test_a_joint_from_outside_with_limits_says_how_fast_its_coordinates_change() -> None:
    b = bough.Builder()
    b.add("free", Rough(), mass=1.0, inertia=1.0)  # without limits nobody asks
    with pytest.raises(
        bough.errors.ModelError,
        match=r"joint 'arm': rate of Rough\(\) gives \[0.0, 0.0\] .*, expected \[.*, 0.49.* as in int",
    ):
        b.add("arm", Rough(), mass=1.0, inertia=1.0, upper=0.5)


def test_limits_that_cannot_be_are_refused() -> None:
    b = bough.Builder()
    for joint, lower in (
        (bough.joints.Spherical(), -0.5),
        (bough.joints.Free(), -1.0),
        (bough.joints.Free(), [-INF] * 6 + [0.0]),
    ):
        with pytest.raises(
            bough.errors.ModelError, match=r"joint 'a': lower is .*expected none \(infinity\) for .* quaternion"
        ):
            b.add("a", joint, mass=1.0, inertia=1.0, lower=lower)
    b.add("a", bough.joints.Free(), mass=1.0, inertia=1.0, lower=[0.0, -INF, 1.0] + [-INF] * 4)
    with pytest.raises(bough.errors.ModelError, match="constraint 'l': lower is"):
        b.build().with_loop("l", bough.joints.Spherical(), "world", "a", upper=0.5)
