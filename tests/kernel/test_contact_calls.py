"""Contact for one state straight from machine code: the same numbers as the long way and as any batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import bough
from contact_scenes import Scene, ball, box, random_scene

pytestmark = pytest.mark.usefixtures("compiled")

PARTS = ("motion", "contact_forces", "limit_forces", "loop_limit_forces", "loop_forces", "residual")


def functions(scene: Scene, **further: Any) -> dict[str, Callable[..., bough.Motion]]:
    """The functions of contact by name, of q, v, tau, points, normals, and gaps."""
    model = scene.model

    def at(points: Any, normals: Any, gaps: Any) -> bough.contact.Touch:
        return scene.contacts.at(points, normals, mu=0.5, gaps=gaps, restitution=0.5)

    return {
        "dynamics": lambda q, v, t, *place: bough.contact.dynamics(model, q, v, t, at(*place), **further),
        "step": lambda q, v, t, *place: bough.contact.step(model, q, v, t, at(*place), dt=5e-3, **further),
        "velocities": lambda q, v, t, *place: bough.contact.velocities(model, q, t, at(*place), **further),
        "impulses": lambda q, v, t, *place: bough.contact.impulses(model, q, v, at(*place), **further),
    }


CASES = [
    (1, "pyramid", "pivoting", "dynamics"),
    (2, "cone", "pivoting", "step"),
    (4, "cone", "gauss_seidel", "velocities"),
    (7, None, "pivoting", "impulses"),
]


@pytest.mark.parametrize(("seed", "friction", "solver", "name"), CASES)
def test_one_state_is_to_the_bit_what_it_is_in_a_batch(seed: int, friction: Any, solver: Any, name: str) -> None:
    """Some states reach limits, some do not; some of them only by forces."""
    scene = random_scene(seed, batch=(6,))
    scene.contacts = bough.contact.Contacts(scene.contacts.pairs, friction)
    gaps = np.random.default_rng(seed).choice([0.0, -1e-3, 1e-3, np.inf], size=(6, scene.contacts.count))
    arrays = (scene.q, 0.1 * scene.v, scene.tau, scene.points, scene.normals, gaps)
    function = functions(scene, solver=solver)[name]
    whole = function(*arrays)
    for k in range(6):
        one = [np.ascontiguousarray(a[k]) for a in arrays]
        apart = [np.stack([a, a], axis=-1)[..., 0] for a in one]  # as columns of placements lie
        calls = (one, one, apart, [*one[:3], *apart[3:]], [a.tolist() for a in one])
        for found in (function(*arguments) for arguments in calls):
            for part in PARTS:
                assert np.array_equal(getattr(whole, part)[k], getattr(found, part)), part


def test_straight_calls_check_what_they_are_given() -> None:
    scene = box(0.0, "pyramid")
    points, normals = np.array(scene.points), np.array(scene.normals)
    q, v, tau = scene.q, np.zeros(6), np.zeros(6)

    def call(**changed: Any) -> bough.Motion:
        a = {"q": q, "v": v, "tau": tau, "points": points, "normals": normals, **changed}
        state = [a.pop(key) for key in ("q", "v", "tau")]
        return bough.contact.step(scene.model, *state, scene.contacts.at(**a), dt=1e-3)

    for _ in range(2):
        rests = call(mu=0.8)
        assert np.abs(rests.motion).max() < 1e-12
        assert rests.conflicts == ()
    wrong = [
        (
            {"normals": 1.01 * normals},
            bough.errors.FiniteError,
            "contact 0 of .*: its normal has length 1.01, expected 1",
        ),
        ({"normals": 0.0 * normals}, bough.errors.FiniteError, "its normal has length 0, expected 1"),
        ({"q": 1.1 * q}, bough.errors.FiniteError, "the quaternion .* has length 1.1"),
        ({"v": np.full(6, np.nan)}, bough.errors.FiniteError, r"v\[0\] is nan"),
        ({"points": points[:3]}, bough.errors.ShapeError, r"points has shape \(3, 3\), expected \(\.\.\., 4, 3\)"),
        (
            {"mu": np.array([0.1, 0.2, -0.3, 0.4])},
            bough.errors.ShapeError,
            r"mu\[2\] is -0.3, expected finite coefficients",
        ),
        ({"mu": np.inf}, bough.errors.FiniteError, r"mu is inf"),
        ({"gaps": np.array([0.0, np.nan, 0.0, 0.0])}, bough.errors.FiniteError, r"gaps\[1\] is nan"),
        ({"gaps": -np.inf}, bough.errors.FiniteError, r"gaps is -inf"),
    ]
    for changed, error, message in wrong:
        with pytest.raises(error, match=message):
            call(**changed)
    # what is far away does not touch, however far
    alone = call(gaps=np.array([np.inf, np.inf, 1e40, 1.0]))
    assert not alone.contact_forces.any()
    assert np.allclose(alone.motion, 1e-3 * bough.aba(scene.model, q, v, tau), rtol=0, atol=1e-15)


@pytest.mark.parametrize("solver", ["pivoting", "gauss_seidel"])
def test_limits_that_only_forces_of_contacts_break_are_heeded(solver: Any) -> None:
    """A blow goes through a row of balls on rails: each pushes the next, and limits of some of them stop them."""
    b, count = bough.Builder(gravity=(0, 0, 0)), 5
    for k in range(count):
        upper = {"upper": {2: 0.001, 4: 0.0005}[k]} if k in (2, 4) else {}
        b.add(f"ball {k}", bough.joints.Prismatic("x"), parent="world", mass=1.0, inertia=1.0, **upper)
    model = b.build()
    contacts = bough.contact.Contacts([(f"ball {k + 1}", f"ball {k}") for k in range(count - 1)], None)
    touch = contacts.at(np.zeros((count - 1, 3)), np.tile([1.0, 0.0, 0.0], (count - 1, 1)))
    v = np.array([[9.0, 0, 0, 0, 0], [0.0, 0, 0, 9.0, 0], [0.05, 0, 0, 0, 0], [-1.0, 0, 0, 0, 0]])
    speeds = [[0.05] * 5, [0.0, 0, 0, 0.05, 0.05], [0.01] * 5, [-1.0, 0, 0, 0, 0]]
    q, tau = np.zeros((4, count)), np.zeros((4, count))
    whole = bough.contact.step(model, q, v, tau, touch, dt=0.01, solver=solver)
    assert np.allclose(whole.motion, speeds, atol=1e-6)
    assert whole.conflicts == ()
    for k in range(4):
        for _ in range(2):
            one = bough.contact.step(model, q[k], v[k], tau[k], touch, dt=0.01, solver=solver)
            for part in PARTS:
                assert np.array_equal(getattr(one, part), getattr(whole, part)[k]), part


def test_results_do_not_share_memory() -> None:
    scene = box(0.1, "cone")
    found = [bough.contact.dynamics(*scene.at_rest, scene.touch(mu=0.8)) for _ in range(3)]
    kept = found[1].motion.copy()
    found[2].motion[:] = 7.0
    found[1].contact_forces[:] = 7.0
    assert np.array_equal(found[1].motion, kept)


def test_models_that_differ_in_limits_alone_have_programs_of_their_own() -> None:
    b = bough.Builder("two arms")
    for name in ("first", "second"):
        b.add(name, bough.joints.Revolute("y"), mass=1.0, com=(0.5, 0, 0), inertia=0.1)
    plain = b.build()
    for k, bound in ((0, 0.0), (1, 0.0), (1, -0.005)):
        joints = [replace(e, lower=(bound,)) if j == k else e for j, e in enumerate(plain.joints)]
        model = replace(plain, joints=tuple(joints))
        found = bough.contact.step(model, [0.0, 0.0], [-1.0, -1.0], [0.0, 0.0], dt=0.01)
        assert np.isclose(found.motion[k], bound / 0.01), (k, bound)
        assert found.limit_forces[k] > 0.0
        assert found.limit_forces[1 - k] == 0.0


@pytest.mark.parametrize("friction", ["pyramid", "cone"])
def test_bits_of_impacts_do_not_depend_on_neighbours(compiled: None, friction: Any, rng: np.random.Generator) -> None:
    """Some states of a batch bounce, some do not, some only separate: each is what it is alone, to the last bit."""
    model = ball(0.1)
    contacts = bough.contact.Contacts([("ball", None)] * 3, friction)
    points = np.array([[0, 0, -0.1], [0.1, 0, 0], [0, 0.1, 0]])
    normals = np.array([[0, 0, 1.0], [-1.0, 0, 0], [0, -1.0, 0]])
    q, v = bough.neutral(model), rng.normal(size=(24, model.nv))
    e, mu = rng.choice([0.0, 0.3, 1.0], (24, 3)) * (np.arange(24) % 3 > 0)[:, None], rng.choice([0.0, 0.5], (24, 3))
    whole = bough.contact.impulses(model, q, v, contacts.at(points, normals, mu=mu, restitution=e))
    for some in [*([k] for k in range(24)), [5, 0], [7, 3, 1, 23], list(range(23, -1, -1))]:
        touch = contacts.at(points, normals, mu=mu[some], restitution=e[some])
        few = bough.contact.impulses(model, q, v[some], touch)
        for part in PARTS:
            assert getattr(few, part).tobytes() == getattr(whole, part)[some].tobytes(), part
