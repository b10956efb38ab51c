"""What is given beside a motion, and cannot be: scenes of another model, nothing to show, numbers that nothing has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bough
from bough.errors import LoadError, LoadWarning, ModelError, SaveError, ShapeError


@pytest.fixture(scope="module")
def pendulum() -> bough.Model:
    return bough.robots.load("pendulum")


def test_a_scene_is_one_of_the_model_that_moved(pendulum: bough.Model, tmp_path: Path) -> None:
    motion = bough.Trajectory(pendulum, [0.0, 1.0], np.zeros((2, pendulum.nq)), np.zeros((2, pendulum.nv)))
    for name in ("run.html", "run.png"):
        with pytest.raises(SaveError, match=r"scene is 'floor', expected a bough\.Scene"):
            motion.save(tmp_path / name, "floor")  # type: ignore[arg-type]
        with pytest.raises(SaveError, match="another model, 'arm', expected a scene of 'pendulum'"):
            motion.save(tmp_path / name, bough.Scene(bough.robots.load("arm")))
    assert not list(tmp_path.iterdir())


def test_the_scene_of_a_model_that_was_edited_tells_what_differs(pendulum: bough.Model) -> None:
    scene = bough.Scene(pendulum)
    (joint,), (body,) = pendulum.joint_names, pendulum.body_names
    for other, told in (
        (pendulum.with_gravity((0, 0, -1.62)), r"its gravity is \(0.0, 0.0, -9.81\), expected \(0.0, 0.0, -1.62\)"),
        (pendulum.with_joint(joint, damping=0.5), f"its joints differ, the first of them '{joint}'"),
        (pendulum.with_frame("end", body), "it has [0-9]+ frames, expected [0-9]+"),
    ):
        with pytest.raises(ModelError, match=f"belongs to 'pendulum' before it was edited: {told}"):
            bough.Simulation(other, scene)


def test_there_is_something_to_show(pendulum: bough.Model, tmp_path: Path) -> None:
    motion = bough.Trajectory(pendulum, [0.0, 1.0], np.zeros((2, 0, pendulum.nq)), np.zeros((2, 0, pendulum.nv)))
    with pytest.raises(ShapeError, match="no states to show"):
        motion.save(tmp_path / "run.html")
    with pytest.raises(ShapeError, match="no states to show"):
        bough.view(pendulum, np.zeros((0, pendulum.nq)), browser=False)


def test_masses_and_friction_are_not_negative(pendulum: bough.Model) -> None:
    name = f"mass of {pendulum.body_names[-1]}"
    sim = bough.Simulation(pendulum, parameters=[name, "friction"])
    q = bough.neutral(pendulum)
    ((_, reason),) = sim.sweep(q, duration=0.01, grid={name: [-5.0, 0.5]}).failed
    assert "expected a number that is not negative" in reason
    with pytest.raises(bough.errors.ModelError, match="expected a number that is not negative"):  # all of them
        sim.sweep(q, duration=0.01, grid={"friction": [-1.0]})


def test_meshes_that_are_missing_are_told(tmp_path: Path) -> None:
    b = bough.Builder("shell")
    b.add("ball", bough.joints.Free(), mass=1.0, inertia=0.1)
    b.geometry("ball", "mesh", (1, 1, 1), file="package://nowhere/shell.stl", purpose="visual")
    model = b.build()
    motion = bough.Trajectory(model, [0.0], bough.neutral(model)[None], np.zeros((1, 6)))
    for name in ("run.html", "run.png"):
        with pytest.warns(
            LoadWarning, match="mesh 'package://nowhere/shell.stl' of 'ball' does not exist: give `package"
        ):
            motion.save(tmp_path / name)


def test_a_run_knows_its_scene_and_keeps_it(pendulum: bough.Model, tmp_path: Path) -> None:
    heights = [[0.0, 0.1, 0.0], [0.1, 0.0, 0.1]]
    scene = bough.Scene(pendulum, self_collision=False).floor(-2, friction=0.5).box((1, 1, 1), at=(3, 0, 0))
    scene = scene.height_field(heights, (2, 1), rgba=(0, 1, 0, 1))
    run = bough.Simulation(scene).run([0.3], duration=0.02)
    assert run.scene is scene
    assert run[::2].scene is run.resampled(0.01).scene is run.state().scene is scene
    run.save(tmp_path / "run.npz")
    assert bough.Trajectory.load(tmp_path / "run.npz", pendulum).scene == scene
    (sweep,) = (bough.Simulation(scene).sweep([0.3], duration=0.01, grid={"q of pivot": [0.0, 0.1]}).trajectory,)
    assert sweep.scene is scene
    with pytest.raises(ShapeError, match=r"scene is 'floor', expected a bough\.Scene"):
        bough.Trajectory(pendulum, [0.0], [[0.0]], [[0.0]], scene="floor")  # type: ignore[arg-type]


def test_a_scene_in_a_file_is_checked(pendulum: bough.Model, tmp_path: Path) -> None:
    bough.Simulation(bough.Scene(pendulum).floor()).run([0.3], duration=0.02).save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as file:
        arrays = dict(file)
    text = arrays["scene"].tobytes()
    for wrong, told in (
        (text.replace(b'"plane"', b'"pit"'), "no shape is called 'pit'"),
        (text.replace(b'"inf"', b"NaN"), "the number NaN"),
        (text[:-5], "cannot be read"),
        (text.replace(b'"body": 0', b'"body": 1'), "on body 1, expected 0"),
    ):
        assert wrong != text
        np.savez(tmp_path / "wrong.npz", **arrays | {"scene": np.frombuffer(wrong, np.uint8)})
        with pytest.raises(LoadError, match=told):
            bough.Trajectory.load(tmp_path / "wrong.npz", pendulum)


def test_pages_and_pictures_have_a_floor_where_the_scene_has_one(pendulum: bough.Model, tmp_path: Path) -> None:
    bare, floor = bough.Scene(pendulum), bough.Scene(pendulum).floor(-1.5)
    for scene, planes in ((bare, 0), (floor, 1)):
        run = bough.Simulation(scene).run([0.3], duration=0.02)
        run.save(tmp_path / "run.html")
        assert (tmp_path / "run.html").read_text().count('"plane": true') == planes
        run.save(tmp_path / "run.png", size=(48, 36), at=0.0)
        expected = {"floor": -1.5 if planes else None}
        bough.pictures.save(pendulum, tmp_path / "same.png", [0.3], size=(48, 36), **expected)  # type: ignore[arg-type]
        assert (tmp_path / "run.png").read_bytes() == (tmp_path / "same.png").read_bytes()
