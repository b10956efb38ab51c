"""Rolling on a body that moves: laws of momentum and energy, and what textbooks say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import bough
from bough.maximal import bodies, constraints
from closeness import assert_close
from linkages import compiled, kinetic_energy, move

G = 9.81
COIN = (0.4, 0.25, (0.4 * 0.25**2 / 4, 0.4 * 0.25**2 / 4, 0.4 * 0.25**2 / 2))
PLATE = (1.3, (0.05, 0.02, -0.1), (0.2, 0.3, 0.45))
NORMAL, OFFSET = np.array([0.3, -0.2, 0.9]) / np.linalg.norm([0.3, -0.2, 0.9]), 0.15


def coin_on_a_plate(seed: int) -> tuple[bough.maximal.Linkage, Any, Any]:
    """A coin that rolls on a free plate, in a state that meets all conditions; there is no weight."""
    (m, r, inertia), (mass, com, moments) = COIN, PLATE
    linkage = bough.maximal.Linkage(
        {"coin": bodies.Rigid(m, inertia=inertia), "plate": bodies.Rigid(mass, com, moments)},
        {"rolls": (constraints.Rolling(r, "z", NORMAL, OFFSET), "coin", "plate")},
        gravity=(0, 0, 0),
    )
    rng = np.random.default_rng(seed)
    turns = Rotation.random(2, rng=rng).as_quat()
    x = linkage.project(np.concatenate([rng.normal(size=3), turns[0], rng.normal(size=3), turns[1]]))
    return linkage, x, linkage.impulses(x, 1.5 * rng.normal(size=12)).motion


def touching(x: Any) -> Any:
    """Where the coin touches, in the world: the lowest point of its rim, by trying all of them."""
    coin, plate = Rotation.from_quat(x[3:7]), Rotation.from_quat(x[10:14])
    n, axis = plate.apply(NORMAL), coin.apply([0.0, 0.0, 1.0])
    across = np.cross(axis, n) / np.linalg.norm(np.cross(axis, n))
    ways = (np.cross(axis, across), -np.cross(axis, across))
    return x[:3] + COIN[1] * min(ways, key=lambda d: d @ n)


def velocity(x: Any, v: Any, p: Any) -> Any:
    """Of the point of a body that is at p."""
    turn = Rotation.from_quat(x[3:7])
    return turn.apply(v[:3]) + np.cross(turn.apply(v[3:]), p - x[:3])


def momentum(x: Any, v: Any) -> Any:
    """Linear, and angular about the origin of the world, of both bodies together."""
    total = np.zeros(6)
    parts = ((COIN[0], np.zeros(3), COIN[2]), (PLATE[0], np.array(PLATE[1]), PLATE[2]))
    for k, (m, com, inertia) in enumerate(parts):
        place, speed = x[7 * k : 7 * k + 7], v[6 * k : 6 * k + 6]
        turn = Rotation.from_quat(place[3:])
        c = place[:3] + turn.apply(com)
        linear = m * velocity(place, speed, c)
        total += np.concatenate([linear, np.cross(c, linear) + turn.apply(np.multiply(inertia, speed[3:]))])
    return total


@pytest.mark.parametrize("seed", range(4))
def test_both_bodies_have_one_velocity_where_a_coin_touches_a_plate(seed: int) -> None:
    linkage, x, v = coin_on_a_plate(seed)
    p = touching(x)
    plate = Rotation.from_quat(x[10:14])
    assert NORMAL @ plate.inv().apply(p - x[7:10]) == pytest.approx(OFFSET, abs=1e-10)
    assert_close(velocity(x[:7], v[:6], p), velocity(x[7:], v[6:], p), 1e-10, scale=1.0)
    free = np.random.default_rng(seed).normal(size=12)  # and rates are by how much they differ
    slip = velocity(x[:7], free[:6], p) - velocity(x[7:], free[6:], p)
    assert np.linalg.norm(linkage.rates(x, free)) == pytest.approx(np.linalg.norm(slip), rel=1e-9)


@pytest.mark.parametrize("seed", range(2))
def test_a_coin_and_a_free_plate_keep_momentum_and_energy(seed: int) -> None:
    linkage, x, v = coin_on_a_plate(seed)
    before, energy = momentum(x, v), kinetic_energy(linkage, x, v)
    a, h = linkage.accelerations(x, v).motion, 1e-5
    rate = [momentum(linkage.integrate(x, t * v), v + t * a) for t in (h, -h)]
    assert_close((rate[0] - rate[1]) / (2 * h), np.zeros(6), 1e-7, scale=1.0)
    with compiled():
        x, v = move(linkage, x, v, 0.3, 300)
    assert np.abs(linkage.errors(x)).max() < 1e-8
    assert_close(velocity(x[:7], v[:6], touching(x)), velocity(x[7:], v[6:], touching(x)), 1e-7, scale=1.0)
    assert_close(momentum(x, v), before, 1e-8, scale=1.0)
    assert kinetic_energy(linkage, x, v) == pytest.approx(energy, rel=1e-8)


def test_a_ball_on_a_plank_that_is_pulled() -> None:
    """A solid ball goes along with 2/7 of the acceleration of the plank, and holds it back as 2/7 of its mass would."""
    m, r, mass, force = 0.7, 0.1, 3.0, 5.0
    linkage = bough.maximal.Linkage(
        {"plank": bodies.Rigid(mass, inertia=0.5), "ball": bodies.Rigid(m, inertia=0.4 * m * r * r)},
        {
            "rail": (constraints.Jointed(bough.joints.Prismatic("x")), "world", "plank"),
            "rolls": (constraints.Rolling(r, offset=0.05), "ball", "plank"),
        },
    )
    x = linkage.neutral()
    x[linkage.x_slice("ball")] = (0.3, -0.1, 0.05 + r, 0, 0, 0, 1)
    found = linkage.accelerations(x, np.zeros(12), [force, 0, 0, 0, 0, 0, *np.zeros(6)])
    a, lam, conflicts = found.motion, found.loop_forces, found.conflicts
    pulled = force / (mass + 2 / 7 * m)
    assert_close(a[:6], [pulled, 0, 0, 0, 0, 0], 1e-11)
    assert_close(a[6:], [2 / 7 * pulled, 0, 0, 0, -5 / 7 * pulled / r, 0], 1e-11)
    assert lam[linkage.rows("rolls")][0] == pytest.approx(m * G)
    assert not conflicts


def test_a_ball_on_a_turntable_goes_round_in_circles() -> None:
    """Whatever its velocity, with 2/7 of the angular velocity of a table that is too heavy to be disturbed."""
    m, r, turn = 0.2, 0.05, 3.0
    linkage = bough.maximal.Linkage(
        {"table": bodies.Rigid(1e6, inertia=1e6), "ball": bodies.Rigid(m, inertia=0.4 * m * r * r)},
        {
            "axle": (constraints.Jointed(bough.joints.Revolute("z")), "world", "table"),
            "rolls": (constraints.Rolling(r), "ball", "table"),
        },
    )
    x = linkage.neutral()
    x[linkage.x_slice("ball")] = (0.4, 0.1, r, 0, 0, 0, 1)
    v = linkage.impulses(x, [0, 0, 0, 0, 0, turn, 0.3, -0.2, 0, 0, 0, 1.0]).motion
    start, speed, w = x[7:9], velocity(x[7:], v[6:], x[7:10])[:2], 2 / 7 * turn
    centre = start + np.array([-speed[1], speed[0]]) / w
    with compiled():
        quarter, v = move(linkage, x, v, 0.25 * 2 * np.pi / w, 400)
        half, v = move(linkage, quarter, v, 0.25 * 2 * np.pi / w, 400)
    # 400 steps of fourth order leave some 1e-5 of a quarter turn of a ball that itself turns many times
    away = start - centre
    assert_close(quarter[7:9] - centre, [-away[1], away[0]], 3e-5)
    assert_close(half[7:9] - centre, -away, 3e-5)
    assert half[9] == pytest.approx(r, abs=1e-6)
    assert np.linalg.norm(away) > 0.1


def test_a_wheel_on_a_cart_in_the_plane() -> None:
    """A hoop goes along with half of the acceleration of the cart."""
    m, r, mass, force = 0.5, 0.2, 2.0, 3.0
    linkage = bough.maximal.Linkage(
        {"cart": bodies.PlanarRigid(mass, inertia=0.4), "hoop": bodies.PlanarRigid(m, inertia=m * r * r)},
        {
            "rail": (constraints.OnPlane("y"), "cart"),
            "level": (constraints.Angle(0.0), "cart"),
            "rolls": (constraints.Rolling(r, normal=(0, 1), offset=0.1, space=2), "hoop", "cart"),
        },
        gravity=(0, -G, 0),
    )
    a = linkage.accelerations([0, 0, 0, 0.3, 0.1 + r, 0.7], np.zeros(6), [force, 0, 0, 0, 0, 0]).motion
    pulled = force / (mass + m / 2)
    turn = np.array([[np.cos(0.7), -np.sin(0.7)], [np.sin(0.7), np.cos(0.7)]])
    assert_close(a[:3], [pulled, 0, 0], 1e-12)
    assert_close([*(turn @ a[3:5]), a[5]], [pulled / 2, 0, pulled / 2 / r], 1e-12)


def test_the_world_may_be_named_and_others_are_in_one_space() -> None:
    ball = bodies.Rigid(1.0, inertia=0.1)
    one, two = (
        bough.maximal.Linkage({"ball": ball}, {"rolls": (constraints.Rolling(0.3, normal=(0.1, 0, 1)), "ball", *more)})
        for more in ((), ("world",))
    )
    state = [0.1, 0.2, 0.3, 0, 0, 0, 1], [1.0, 2.0, 0.1, 0.3, 0.2, 0.1]
    assert np.array_equal(one.accelerations(*state).motion, two.accelerations(*state).motion)
    with pytest.raises(bough.errors.ModelError, match=r"constraint 'rolls' is on .* in a plane and .* in space"):
        bough.maximal.Linkage({"a": ball, "b": bodies.PlanarRigid()}, {"rolls": (constraints.Rolling(0.3), "a", "b")})
