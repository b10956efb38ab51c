"""bough's own format: what is saved is loaded as the same model, and what cannot be is refused by name."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

import bough
from flexible_models import random_flexible_model
from mechanisms import four_bar, stewart_platform
from model_strategies import models
from wheel_joint import Wheel


def text_of(model: bough.Model, folder: Path) -> str:
    bough.save(model, folder / "model.json")
    return (folder / "model.json").read_text("utf-8")


def test_flexible_models_come_back_to_the_last_bit(tmp_path: Path, rng: np.random.Generator) -> None:
    model = random_flexible_model(rng)
    text = text_of(model, tmp_path)
    assert bough.load(tmp_path / "model.json") == model
    assert bough.load(text) == bough.load(text.encode()) == model
    assert not bough.problems(tmp_path / "model.json")
    q = bough.random(model, rng)
    assert np.array_equal(bough.crba(bough.load(text), q), bough.crba(model, q))


@settings(max_examples=25)
@given(models(max_bodies=5))
def test_all_other_models_come_back_too(tmp_path_factory: pytest.TempPathFactory, model: bough.Model) -> None:
    assert bough.load(text_of(model, tmp_path_factory.getbasetemp())) == model


def test_loops_frames_shapes_and_robots_come_back(tmp_path: Path) -> None:
    for model in (four_bar(), stewart_platform(), *map(bough.robots.load, ("quadruped", "humanoid"))):
        assert bough.load(text_of(model, tmp_path)) == model


def test_what_a_file_cannot_say_is_refused_by_place(tmp_path: Path, rng: np.random.Generator) -> None:
    said = json.loads(text_of(random_flexible_model(rng), tmp_path))

    def refused(message: str, *way: str | int, value: object) -> None:
        changed = json.loads(json.dumps(said))
        part = changed
        for key in way[:-1]:
            part = part[key]
        part[way[-1]] = value
        with pytest.raises(bough.errors.LoadError, match=message):
            bough.load(json.dumps(changed))

    refused("version 2, expected 1", "bough", value=2)
    refused("gravity is 'down', expected a list", "gravity", value="down")
    refused(
        r"joints\[0\]\.joint is .* expected an object whose type is one of", "joints", 0, "joint", value={"type": "os"}
    )
    refused(r"bodies\[0\]\.inertia has no 'com'", "bodies", 0, "inertia", value={"mass": 1})
    refused(r"joints\[1\]\.joint: .* has 1 moments, expected", "joints", 1, "joint", "moments", value=[1.0])
    refused(r"joints\[2\]\.joint\.shapes\[0\] is 'a', expected a number", "joints", 2, "joint", "shapes", value=["a"])
    refused(r"bodies\[1\] has the unknown key 'colour', expected only", "bodies", 1, "colour", value="red")
    refused(r"body 2 has parent 9", "parents", value=[0, 9, 9, 9, 9, 9, 9])
    refused("the body is number 99", "frames", 0, "body", value=99)
    with pytest.raises(bough.errors.LoadError, match=r"line 2"):
        bough.load('{"bough": 1,\n oops}')
    with pytest.raises(bough.errors.LoadError, match="twice"):
        bough.load('{"bough": 1, "bough": 1}')
    with pytest.raises(bough.errors.LoadError, match="deeply"):
        bough.load('{"bough":' + "[" * 100_000)
    with pytest.raises(bough.errors.LoadError, match="for other formats"):
        bough.load(json.dumps(said), floating_base=True)
    assert len(bough.problems('{"bough": NaN}')) == 1


def test_joints_from_outside_are_refused_by_name(tmp_path: Path) -> None:
    b = bough.Builder()
    b.add("wheel", Wheel(), mass=1.0, inertia=0.1)
    with pytest.raises(bough.errors.SaveError, match="joint 'wheel', whose type Wheel is not one of bough's"):
        bough.save(b.build(), tmp_path / "wheel.json")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_other_encodings_are_read(encoding: str, tmp_path: Path) -> None:
    model = bough.robots.load("arm")
    assert bough.load(text_of(model, tmp_path).encode(encoding)) == model


def test_a_list_is_told_as_such(tmp_path: Path) -> None:
    file = tmp_path / "list.json"
    file.write_text("[1, 2]")
    with pytest.raises(bough.errors.LoadError, match=r"the file is \[1, 2\], expected an object"):
        bough.load(file)
