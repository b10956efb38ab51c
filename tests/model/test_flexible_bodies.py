"""Flexible bodies as users give them: what the model becomes, and what is refused by name."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest

import bough
from bough.errors import ModelError
from bough.model.massless import idle_joints
from flexible_models import random_flexible

STEEL: dict[str, Any] = {"E": 2e11, "A": 1e-4, "I": 1e-9, "rho": 7800.0}


def arm(**options: Any) -> bough.Builder:
    b = bough.Builder("arm")
    b.add("shoulder", bough.joints.Revolute("z"))
    b.add_flexible("link", bough.flexible.Beam(0.5, **STEEL, **options), "shoulder", at=(0.1, 0, 0))
    return b


def test_a_beam_is_a_body_with_a_joint_of_modes_and_a_body_for_each_station() -> None:
    b = arm(modes={"y": 2, "twist": 1}, stations={"middle": 0.5, "tip": 1.0}, damping=0.01)
    b.add("hand", bough.joints.Revolute("y"), "link.tip", at=(0.02, 0, 0), mass=0.2, inertia=1e-4)
    model = b.build()
    assert model.body_names == ("shoulder", "link", "link.middle", "link.tip", "hand")
    assert model.dof_names == ("shoulder", "link[0]", "link[1]", "link[2]", "hand")
    assert (model.nq, model.nv, model.mass) == (5, 5, pytest.approx(7800 * 1e-4 * 0.5 + 0.2))
    assert model.q_slice("link") == slice(1, 4)
    assert model.q_slice("link.tip") == slice(4, 4)
    assert model.path_dofs("link.middle") == (0, 1, 2, 3)
    k, d, M = (
        model.limits("stiffness")[1:4],
        model.limits("damping")[1:4],
        bough.crba(arm(modes=2).build(), np.zeros(3)),
    )
    assert (k > 0).all()
    assert np.allclose(d[:2], 2 * 0.01 * np.sqrt(k[:2] * np.diag(M)[1:]), rtol=1e-9)
    # an elastic coordinate is the deflection of the tip
    X = bough.placements(model, [0, 0.01, 0, 0, 0], "link.tip")
    assert np.allclose(X[:3, 3], (0.6 - 0.5 * 1e-4 * _shortening(model), 0.01, 0), atol=1e-15)


def _shortening(model: bough.Model) -> float:
    """∫ φ′² dx of the first mode: by how much its square shortens the beam, twice."""
    h = 1e-3
    moved, still = (bough.placements(model, [0, x, 0, 0, 0], "link.tip")[0, 3] for x in (h, 0.0))
    assert 1.1 / 0.5 < 2 * (still - moved) / h**2 < 1.3 / 0.5  # 1.16 / L for the first mode of a cantilever
    return float(2 * (still - moved) / h**2)


def test_random_configurations_bend_a_little(rng: np.random.Generator) -> None:
    model = arm(modes={"y": 3, "z": 2}).build()
    x = bough.random(model, rng, 200)[:, 1:]
    assert 0.02 < np.abs(x).max() < 0.03
    assert not bough.neutral(model).any()


def test_models_with_flexible_bodies_are_values(rng: np.random.Generator) -> None:
    model, same = (arm(modes=2).build() for _ in range(2))
    assert model == same
    assert hash(model) == hash(same)
    assert pickle.loads(pickle.dumps(model)) == model
    assert bough.Builder.of(model).build() == model
    assert dataclasses.replace(model, name="other").nv == model.nv
    assert model != arm(modes=3).build()
    assert model.without("link.tip").body_names == ("shoulder", "link")
    assert "elastic" in str(bough.info(model))
    assert "refused" in str(bough.info(model))


def test_what_is_fixed_to_a_station_adds_to_its_inertia() -> None:
    b = arm(modes=2)
    b.add("load", bough.joints.Fixed(), "link.tip", mass=0.3)
    model = b.build()
    assert model.nbodies == 3
    M, bare = (bough.crba(m, np.zeros(3)) for m in (model, arm(modes=2).build()))
    tip = np.array([0.6, 1.0, 1.0])  # how fast the tip moves
    assert np.allclose(M - bare, 0.3 * np.outer(tip, tip), rtol=1e-12)


def test_joints_that_move_nothing_are_told() -> None:
    b = arm(modes=2)
    b.add("idle", bough.joints.Revolute("x"), "link.tip")
    assert idle_joints(b.build()) == ("idle",)
    with pytest.raises(bough.errors.SingularError, match="idle"):
        bough.aba(b.build(), np.zeros(4), np.zeros(4), np.zeros(4))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"E": 0.0}, "E of a beam is 0.0, expected a positive number"),
        ({"I": (1e-9, 0.0)}, "I of a beam is .* expected one or two positive"),
        ({"rho": "heavy"}, "rho of a beam"),
        ({"modes": 0}, "modes of a beam are 0, expected at least one"),
        ({"modes": {"sideways": 1}}, "sideways"),
        ({"modes": {"y": 99}}, "modes of a beam, y is 99, expected a whole number from 0 to 12"),
        ({"stations": {"tip": 1.5}}, "station 'tip' of a beam is 1.5, expected a number from 0 to 1"),
        ({"stations": "tip"}, "stations of a beam are 'tip'"),
        ({"damping": -1.0}, "damping of a beam is -1.0"),
        ({"basis": "waves"}, "waves"),
    ],
)
def test_beams_that_cannot_be(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(bough.BoughError, match=message):
        bough.flexible.Beam(1.0, **{**STEEL, **wrong})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"masses": [1.0]}, r"masses of a flexible body has the shape \(1,\), expected finite numbers \(5\)"),
        ({"masses": [-1.0, 1, 1, 1, 1]}, "masses of a flexible body has the negative entry -1"),
        ({"shapes": np.zeros((5, 0, 3))}, "no mode"),
        ({"stiffness": [np.nan, 1.0]}, "stiffness"),
        ({"shortening": np.arange(60.0).reshape(5, 2, 2, 3)}, "exchanged"),
        ({"stations": {"": None}}, "a station is called ''"),
        ({"stations": {"tip": (1, 0, 0)}}, "station 'tip'"),
    ],
)
def test_bodies_that_cannot_be(wrong: dict[str, Any], message: str, rng: np.random.Generator) -> None:
    with pytest.raises(ModelError, match=message):
        bough.flexible.FlexibleBody(**{**random_flexible(rng, 2), **wrong})


def test_nothing_is_put_on_a_flexible_body_itself_and_a_refused_call_changes_nothing() -> None:
    b = arm(modes=1)
    before = b.build()
    for refused in (
        lambda: b.add("hand", bough.joints.Revolute("z"), "link"),
        lambda: b.add("hand", bough.joints.Fixed(), "link", mass=1.0),
        lambda: b.frame("point", "link"),
        lambda: b.geometry("link", "sphere", 0.1),
        lambda: b.loop("rod", bough.joints.Spherical(), "world", "link"),
    ):
        with pytest.raises(ModelError, match=r"'link' is flexible, expected one of its stations: link\.tip"):
            refused()
    b.frame("other.tip", "world")
    with pytest.raises(ModelError, match=r"'other\.tip' already"):
        b.add_flexible("other", bough.flexible.Beam(1.0, **STEEL))
    with pytest.raises(ModelError, match="body 'three': it is 3"):
        b.add_flexible("three", 3)  # type: ignore[arg-type]
    assert b.build().bodies == before.bodies
    stations = [entry for entry in before.joints if entry.name == "link.tip"]
    with pytest.raises(ModelError, match="station of 1 modes, expected it on a flexible body"):
        dataclasses.replace(before, joints=(dataclasses.replace(stations[0], name="other"), *before.joints[1:]))
