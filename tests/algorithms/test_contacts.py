"""Contacts on models: the laws of their kinematics, against Jacobians of bodies and derivatives along the motion."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bough
from bough.algorithms.contact_problem import ContactPlan
from bough.kernel.compile import build
from bough.kernel.functions import mechanism
from bough.kernel.specs import SPECS, Options
from bough.program import evaluate
from closeness import assert_close
from contact_scenes import random_scene
from differences import derivative
from model_strategies import models, random_model, random_state

SEEDS = st.integers(0, 2**32 - 1)


def units(rng: np.random.Generator, *shape: int) -> Any:
    n = rng.normal(size=(*shape, 3))
    return n / np.linalg.norm(n, axis=-1, keepdims=True)


def touching(model: bough.Model, rng: np.random.Generator, count: int = 3) -> bough.contact.Contacts:
    """Contacts between random frames on different bodies."""
    names, pairs = model.frame_names, []
    while len(pairs) < count:
        first, second = (str(name) for name in rng.choice(names, size=2))
        if model.frame(first).body != model.frame(second).body:
            pairs.append((first, second))
    return bough.contact.Contacts(pairs)


def body_motions(model: bough.Model, q: Any, v: Any, names: list[str]) -> Any:
    """Velocities (linear, angular) of bodies in the frame of the base, at its origin."""
    return bough.velocities(model, q, v, names, reference="WORLD")


# --- axes ---


@given(SEEDS)
def test_axes_are_orthonormal_right_handed_and_along_x(seed: int) -> None:
    rng = np.random.default_rng(seed)
    near_x = [1.0, 0.0, 0.0] + rng.normal(size=(20, 3)) * 10.0 ** -rng.uniform(1, 17, size=(20, 1))
    near_x *= rng.choice([-1, 1]) / np.linalg.norm(near_x, axis=-1, keepdims=True)
    n = np.concatenate([units(rng, 20), near_x, np.eye(3), -np.eye(3)])
    R = bough.contact.axes(n)
    assert np.array_equal(R[:, 0], n)
    assert np.allclose(R @ R.swapaxes(1, 2), np.eye(3), rtol=0, atol=4e-15)
    assert np.allclose(np.linalg.det(R), 1.0)
    off = np.hypot(n[:, 1], n[:, 2]) > 2e-6
    assert np.allclose(R[off, 1], ([1.0, 0, 0] - n[off, :1] * n[off]) / np.hypot(n[off, 1:2], n[off, 2:]), atol=1e-4)
    assert (R[off, 1, 0] > 0).all()
    assert np.allclose(R[off, 2, 0], 0.0)


def test_axes_of_the_ground_and_of_a_slope() -> None:
    assert np.array_equal(bough.contact.axes([0, 0, 1]), [[0, 0, 1], [1, 0, 0], [0, 1, 0]])
    assert np.array_equal(bough.contact.axes([0, 0, -1]), [[0, 0, -1], [1, 0, 0], [0, -1, 0]])
    assert np.array_equal(bough.contact.axes([-1, 0, 0])[1], [0, 1, 0])
    up = bough.contact.axes([-np.sin(0.3), 0, np.cos(0.3)])
    assert np.allclose(up[1], [np.cos(0.3), 0, np.sin(0.3)])


# --- Jacobian ---


@given(models(min_bodies=2), SEEDS)
def test_the_jacobian_gives_the_velocity_of_one_body_relative_to_the_other(model: bough.Model, seed: int) -> None:
    rng = np.random.default_rng(seed)
    q, v, *_ = random_state(model, rng)
    contacts, points, normals = touching(model, rng), rng.normal(size=(3, 3)), units(rng, 3)
    J = bough.contact.jacobian(model, q, contacts.at(points, normals))
    for k, pair in enumerate(contacts.pairs):
        V = np.subtract(*body_motions(model, q, v, list(pair)))
        u = V[:3] + np.cross(V[3:], points[k])
        assert_close(J[k] @ v, bough.contact.axes(normals[k]) @ u, 1e-12, scale=np.abs(J[k]).max(initial=1e-3))


def test_columns_are_on_the_two_paths_below_the_common_ancestor(rng: np.random.Generator) -> None:
    b = bough.Builder()
    b.add("trunk", bough.joints.Free(), mass=1.0, inertia=1.0)
    for side in "lr":
        b.add(side, bough.joints.Spherical(), "trunk", at=(0, 1, 0), mass=1.0, inertia=1.0)
        b.add(side + side, bough.joints.Revolute("x"), side, at=(1, 0, 0), mass=1.0, inertia=1.0)
    model = b.build()
    q, points = bough.random(model, rng), rng.normal(size=(3, 3))
    contacts = bough.contact.Contacts([("ll", "r"), ("ll", "l"), ("rr", None)])
    J = bough.contact.jacobian(model, q, contacts.at(points, units(rng, 3)))
    moves = [[model.v_slice(name) for name in names] for names in (("l", "ll", "r"), ("ll",), ("trunk", "r", "rr"))]
    for rows, slices in zip(J, moves, strict=True):
        expected = np.zeros(model.nv, np.bool_)
        for part in slices:
            expected[part] = True
        assert np.array_equal(np.abs(rows).max(axis=0) > 0, expected)


def test_swapping_the_bodies_and_turning_the_normal_gives_the_same_normal_row(rng: np.random.Generator) -> None:
    model = random_model(rng, 5)
    contacts, points, normals = touching(model, rng), rng.normal(size=(3, 3)), units(rng, 3)
    q = bough.random(model, rng)
    swapped = bough.contact.Contacts([pair[::-1] for pair in contacts.pairs])
    here = bough.contact.jacobian(model, q, contacts.at(points, normals))
    there = bough.contact.jacobian(model, q, swapped.at(points, -normals))
    assert np.array_equal(here[:, 0], there[:, 0])


# --- what velocities add ---


@given(models(min_bodies=2), SEEDS)
def test_the_bias_is_the_rate_of_the_velocity_of_a_corner_on_a_surface(model: bough.Model, seed: int) -> None:
    """The point goes with the first body, the normal turns with the second."""
    rng = np.random.default_rng(seed)
    q, v, *_ = random_state(model, rng)
    v *= 0.3
    contacts, points, normals = touching(model, rng, 2), rng.normal(size=(2, 3)), units(rng, 2)
    ends = [bough.placements(model, q, list(pair)) for pair in contacts.pairs]
    own = [np.linalg.inv(first) @ [*p, 1] for (first, _), p in zip(ends, points, strict=True)]
    fixed = [second[:3, :3].T @ n for (_, second), n in zip(ends, normals, strict=True)]

    def velocity(t: float) -> Any:
        there = bough.integrate(model, q, t * v)
        X = [bough.placements(model, there, list(pair)) for pair in contacts.pairs]
        p = [(first @ x)[:3] for (first, _), x in zip(X, own, strict=True)]
        n = [second[:3, :3] @ x for (_, second), x in zip(X, fixed, strict=True)]
        return bough.contact.jacobian(model, there, contacts.at(p, n)) @ v

    got = bough.contact.bias(model, q, v, contacts.at(points, normals))
    if np.abs(normals[:, 0]).max() < 0.99:  # else tangents turn too fast for differences
        assert_close(got, derivative(velocity, 5e-3), 1e-7, axes=2, scale=1.0)


def test_points_and_normals_may_move_as_they_like(rng: np.random.Generator) -> None:
    model = random_model(rng, 4)
    q, v, *_ = random_state(model, rng)
    contacts, points, rate = touching(model, rng, 2), rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
    axis, start = units(rng, 2), units(rng, 2)
    turning = np.cross(axis, start)

    def normal(t: float) -> Any:
        n = start + t * turning
        return n / np.linalg.norm(n, axis=1, keepdims=True)

    def velocity(t: float) -> Any:
        there = bough.integrate(model, q, t * v)
        return bough.contact.jacobian(model, there, contacts.at(points + t * rate, normal(t))) @ v

    moving = {"point_velocities": rate, "normal_velocities": turning}
    got = bough.contact.bias(model, q, v, contacts.at(points, start, **moving))
    assert_close(got, derivative(velocity, 2e-3), 1e-8, axes=2)


def test_a_ball_that_rolls() -> None:
    """The matter under it accelerates upwards by ω² r; the point of contact does not, as it moves on."""
    b = bough.Builder()
    b.add("ball", bough.joints.Free(), mass=1.0, inertia=0.4)
    model, ground = b.build(), bough.contact.Contacts([("ball", None)])
    q, v, r = bough.neutral(model), np.array([2.0, 0, 0, 0, 4.0, 0]), 0.5
    steady = np.array([0, 0, 8.0, 0, 0, 0])  # the velocity is constant in space, not in the axes of the ball
    touch = ground.at([[0, 0, -r]], [[0, 0, 1]])
    J = bough.contact.jacobian(model, q, touch)
    assert np.allclose(J @ v, 0.0)
    assert np.allclose(J @ steady + bough.contact.bias(model, q, v, touch), [[16 * r, 0, 0]])
    along = {"point_velocities": [[2.0, 0, 0]], "normal_velocities": [[0.0, 0, 0]]}
    assert np.allclose(J @ steady + bough.contact.bias(model, q, v, touch.replace(**along)), 0.0)


def test_batches_are_broadcast(rng: np.random.Generator) -> None:
    model = random_model(rng, 4)
    q, v, *_ = random_state(model, rng, (5, 1))
    contacts, points, normals = touching(model, rng), rng.normal(size=(4, 3, 3)), units(rng, 3)
    J = bough.contact.jacobian(model, q, contacts.at(points, normals))
    bias = bough.contact.bias(model, q, v, contacts.at(points, normals))
    assert J.shape == (5, 4, 3, 3, model.nv)
    assert bias.shape == (5, 4, 3, 3)
    one = contacts.at(points[3], normals)
    assert np.array_equal(J[2, 3], bough.contact.jacobian(model, q[2, 0], one))
    assert np.array_equal(bias[2, 3], bough.contact.bias(model, q[2, 0], v[2, 0], one))


# --- what is refused ---


@pytest.fixture
def arm() -> bough.Model:
    b = bough.Builder()
    b.add("upper", bough.joints.Revolute("y"), mass=1.0, inertia=1.0)
    b.add("lower", bough.joints.Revolute("y"), "upper", at=(1, 0, 0), mass=1.0, inertia=1.0)
    b.frame("hand", "lower", at=(1, 0, 0))
    return b.build()


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([("hnad", "world")], "'hnad'; did you mean 'hand'"),
        ([("hand", "lower")], "contact 0 of hand and lower: both are on 'lower'"),
        ([("upper", None), (None, "world")], "contact 1 of world and world: both are on 'world'"),
    ],
)
def test_wrong_bodies_are_named(arm: bough.Model, pairs: Any, message: str) -> None:
    contacts = bough.contact.Contacts(pairs)
    with pytest.raises(bough.BoughError, match=message):
        bough.contact.jacobian(arm, [0, 0], contacts.at(np.zeros((len(pairs), 3)), [[0, 0, 1]] * len(pairs)))


@pytest.mark.parametrize("pairs", [["hand"], ["hi"], [("hand",)], [("a", "b", "c")], [("hand", 3)], [4]])
def test_pairs_are_pairs_of_names(pairs: Any) -> None:
    with pytest.raises(bough.errors.ModelError, match=r"contact 0 is .*, expected the names of two bodies"):
        bough.contact.Contacts(pairs)


def test_contacts_are_values() -> None:
    assert bough.contact.Contacts([("a", None)]) == bough.contact.Contacts((["a", "world"],))  # type: ignore[arg-type]
    assert hash(bough.contact.Contacts([("a", None)])) == hash(bough.contact.Contacts([("a", "world")]))
    assert bough.contact.Contacts([("a", None)], "cone") != bough.contact.Contacts([("a", None)])
    with pytest.raises(bough.errors.UnknownNameError, match="did you mean 'pyramid'"):
        bough.contact.Contacts([], "pyramids")  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", ["1", "2"])
def test_contacts_from_another_process_are_equal_and_found(seed: str) -> None:
    """The hashes of texts differ from process to process, and contacts keep theirs."""
    code = "import bough, pickle; print(pickle.dumps(bough.contact.Contacts([('a', None)], 'cone')).hex())"
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert pickle.loads(bytes.fromhex(done.stdout)) in {bough.contact.Contacts([("a", None)], "cone")}


@pytest.mark.parametrize(
    ("points", "normals", "error", "message"),
    [
        (
            [[0, 0, 0]],
            [[0, 0, 0.5]],
            bough.errors.FiniteError,
            "contact 0 of hand and world: its normal has length 0.5",
        ),
        ([[0, 0, 0]], [[[0, 0, 1]], [[0, 0, 2]]], bough.errors.FiniteError, r"length 2 in state \[1\], expected 1"),
        ([[0, np.nan, 0]], [[0, 0, 1]], bough.errors.FiniteError, r"points\[0, 1\] is nan"),
        ([[0, 0, 0]], [[np.inf, 0, 1]], bough.errors.FiniteError, r"normals\[0, 0\] is inf"),
        ([0, 0, 0], [[0, 0, 1]], bough.errors.ShapeError, r"points has shape \(3,\), expected \(\.\.\., 1, 3\)"),
        (
            [[0, 0, 0]],
            [[0, 0, 1]] * 2,
            bough.errors.ShapeError,
            r"normals has shape \(2, 3\), expected \(\.\.\., 1, 3\)",
        ),
    ],
)
def test_wrong_places_are_named(arm: bough.Model, points: Any, normals: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        bough.contact.jacobian(arm, [0, 0], bough.contact.Contacts([("hand", None)]).at(points, normals))


def test_what_is_no_touch_is_refused(arm: bough.Model) -> None:
    hand, q, v = bough.contact.Contacts([("hand", None)]), [0, 0], [0, 0]
    place: Any = [[0, 0, 0]], [[0, 0, 1]]
    calls: list[Any] = [
        lambda touch: bough.contact.jacobian(arm, q, touch),
        lambda touch: bough.contact.bias(arm, q, v, touch),
        lambda touch: bough.contact.dynamics(arm, q, v, v, touch),
        lambda touch: bough.contact.velocities(arm, q, v, touch),
        lambda touch: bough.contact.impulses(arm, q, v, touch),
        lambda touch: bough.contact.step(arm, q, v, v, touch, dt=0.01),
    ]
    made = r"contacts\.at\(points, normals, …\)"
    wrong: dict[str, Any] = {
        f"touch is a Contacts, expected {made}$": hand,
        rf"touch is a tuple, expected a bough\.contact\.Touch: {made}$": (hand, *place),
        r"contacts is a list, expected bough\.contact\.Contacts": hand.at(*place).replace(contacts=[("hand", None)]),
    }
    for call in calls:
        for message, touch in wrong.items():
            with pytest.raises(bough.errors.ModelError, match=message):
                call(touch)


def test_a_touch_is_an_unchanging_value() -> None:
    points, normals = np.zeros((4, 4))[:, :3], [[0, 0, 1.0]] * 4
    touch = bough.contact.Contacts([("hand", None)] * 4).at(points, normals, mu=0.7, gaps=np.zeros((5, 4)))
    assert repr(touch) == "Touch(4 contacts, points (4, 3), normals (4, 3), mu 0.7, gaps (5, 4), restitution 0.0)"
    assert touch.points is points  # nothing is converted or copied
    assert touch.normals is normals
    with pytest.raises(AttributeError):
        touch.mu = 0.8  # type: ignore[misc]
    other = touch.replace(mu=0.8, normal_velocities=[[1.0], []])
    assert (touch.mu, other.mu, other.points is points) == (0.7, 0.8, True)
    assert repr(other).endswith("mu 0.8, gaps (5, 4), restitution 0.0, normal_velocities [[1.0], []])")
    assert touch != touch.replace()  # by identity: arrays have no one answer
    assert len({touch, other, touch}) == 2
    with pytest.raises(bough.errors.UnknownNameError, match="'gap'; did you mean 'gaps'"):
        touch.replace(gap=0.1)
    again = pickle.loads(pickle.dumps(other))
    assert np.array_equal(again.points, points)
    assert again.contacts == touch.contacts


# --- levels ---


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("level", ["contact_dynamics_problem", "contact_step_problem", "contact_velocities_problem"])
def test_programs_of_levels_are_the_same_rolled(level: str, seed: int) -> None:
    """With limits, of which some are reached, and loops or followers."""
    scene = random_scene(seed)
    model = scene.model
    chosen = Options(plan=ContactPlan(scene.contacts.bodies(model), "cone", limits=True))
    values = {"q": scene.q, "v": scene.v, "tau": scene.tau, "points": scene.points, "normals": scene.normals}
    values |= {"gaps": np.array([0.0, -0.01, 0.3]), "settings": np.array([20.0, 0.01])}
    if seed == 2:
        values["loop_tau"] = np.arange(sum(loop.joint.nv for loop in model.loops)) + 1.0
    names = [name for name in SPECS[level].inputs if name in values]
    inputs = {name: np.ravel(values[name]).tolist() for name in names}
    sizes = {name: len(x) for name, x in inputs.items()}

    def rule(**x: Any) -> dict[str, Any]:
        found = SPECS[level].run(mechanism(model), chosen, x)
        return {key: found[key] for key in keys}

    keys = ("A", "base", "offset", "active", "response", "free")
    one, other = (evaluate(build(level, rule, sizes, model.nv, rolled), inputs) for rolled in (False, True))
    for key in keys:
        np.testing.assert_allclose(one[key], other[key], rtol=1e-9, atol=1e-9)
