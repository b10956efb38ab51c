"""Robots by name: bough's own, those of installed packages, and those of the user's folders."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import bough
from bough.tree import named
from closeness import relative_error

OWN = {"pendulum": (1, 1), "arm": (6, 6), "quadruped": (19, 18), "humanoid": (31, 30)}
LINK = '<robot name="{}"><link name="base"/></robot>'


def put(folder: Path, *files: str, text: str = LINK) -> None:
    for file in files:
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.format(path.stem), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder called `mine`, the only one in BOUGH_ROBOT_PATH."""
    place = tmp_path / "mine"
    place.mkdir()
    monkeypatch.setenv("BOUGH_ROBOT_PATH", str(place))
    return place


# --- bough's own ---


@pytest.mark.parametrize("name", OWN)
def test_own_robots_are_sound(name: str) -> None:
    model = bough.robots.load(name)
    assert (model.nq, model.nv) == OWN[name]
    assert model.name == name
    assert bough.problems(bough.robots.find(name).path) == ()
    assert bough.robots.find(name).source == "bough"


@pytest.mark.parametrize("name", OWN)
def test_own_robots_agree_with_pinocchio(name: str, rng: np.random.Generator) -> None:
    model = bough.robots.load(name)
    theirs = pin.buildModelFromUrdf(str(bough.robots.find(name).path))
    q, (v, a) = bough.random(model, rng), rng.normal(size=(2, model.nv))
    tau = pin.rnea(theirs, theirs.createData(), bough.convert.states_to_pinocchio(model, q), v, a)
    assert relative_error(bough.rnea(model, q, v, a), tau) < 1e-10
    assert relative_error(bough.rnea(model, q, v, bough.forward_dynamics(model, q, v, tau)), tau) < 1e-9


@pytest.mark.parametrize("name", OWN)
def test_own_robots_may_stand_at_the_neutral_configuration(name: str) -> None:
    model = bough.robots.load(name)
    q = bough.neutral(model)
    assert np.all(model.limits("lower") <= q)
    assert np.all(q <= model.limits("upper"))


def test_the_pendulum_swings_as_the_formula_says() -> None:
    model = bough.robots.load("pendulum")
    angle, inertia = 0.4, 1.0 / 12 + 3 * 0.02**2 / 12 + 0.25  # a rod about its end
    motion = bough.forward_dynamics(model, [angle], [0.0], [0.0])
    assert np.allclose(motion, -9.81 * 0.5 * np.sin(angle) / inertia, rtol=1e-3)  # the file has four digits


def test_the_humanoid_is_that_of_the_papers() -> None:
    model, papers = bough.robots.load("humanoid"), bough.trees.topologies.humanoid()
    assert model.tree == named.humanoid()
    assert tuple(entry.joint.nv for entry in model.joints) == named.HUMANOID_DOFS
    for number in ("D0", "D1", "D2"):
        assert getattr(model.dof_tree, number) == getattr(papers.dof_tree, number)
    assert (model.tree.D0, model.dof_tree.D1, model.dof_tree.D2) == (24, 219, 1039)


# --- of packages ---


def test_packages_are_listed() -> None:
    names = bough.robots.names()
    assert list(names) == sorted(set(names))
    assert {"talos_full_v2", "panda", "ant", "gymnasium/humanoid", "cassie", "example-robot-data/quadruped"} <= {*names}
    sources = {bough.robots.find(name).source for name in ("panda", "ant", "arm")}
    assert sources == {"example-robot-data", "gymnasium", "bough"}


def test_what_is_no_robot_is_not_listed(folder: Path) -> None:
    """Files that packages bring for their own tests, and files without links."""
    put(folder, "empty.urdf", text="<robot name='{}'><!-- <link name='a'/> --></robot>")
    names = bough.robots.names()
    assert not {"empty", "ur3", "model.xml", "model.urdf", "msh"} & set(names)
    assert "ur3_robot" in names


@pytest.mark.parametrize("name", ["talos", "Talos"])
def test_names_that_begin_so_are_the_nearest(name: str) -> None:
    with pytest.raises(bough.errors.UnknownNameError, match=r"did you mean 'talos_\w+' or 'talos_\w+' or 'talos_\w+'"):
        bough.robots.load(name)


def test_packages_that_are_not_installed_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(bough.errors.UnknownNameError, match=r"'humanoid'.*pip install example-robot-data gymnasium$"):
        bough.robots.load("panda")


def test_every_name_means_one_file() -> None:
    robots = bough.robots.available()
    assert tuple(robots) == bough.robots.names()
    assert len({robot.path for robot in robots.values()}) == len(robots)
    assert all(robot.path.is_file() for robot in robots.values())


@pytest.mark.parametrize(
    "name", ["panda", "example-robot-data/panda", "panda_description/urdf/panda.urdf", "example-robot-data/panda.urdf"]
)
def test_longer_names_mean_the_same(name: str) -> None:
    assert bough.robots.find(name) == bough.robots.find("panda")


def test_robots_are_loaded_with_options_and_meshes() -> None:
    model = bough.robots.load("panda", floating_base=True)
    assert model.joint_names[0] == "root_joint"
    assert all(Path(g.file).is_file() for g in model.geometries if g.shape == "mesh")
    assert bough.robots.load("ant").nv == 14


def test_ambiguous_names_list_the_candidates() -> None:
    with pytest.raises(
        bough.errors.ModelError, match=r"anymal_b_simple_description/anymal.*anymal_c_simple_description/anym"
    ):
        bough.robots.load("anymal")


@pytest.mark.parametrize("name", ["talos_ful_v2", "Talos_full_v2"])
def test_typos_give_the_nearest(name: str) -> None:
    with pytest.raises(bough.errors.UnknownNameError, match="did you mean 'talos_full_v2'"):
        bough.robots.load(name)


@pytest.mark.parametrize("name", ["", "/", "no such robot", "../arm", "bough/../arm", 3, None])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(bough.errors.UnknownNameError, match="no robot is called"):
        bough.robots.find(name)


# --- of folders ---


def test_folders_of_the_user(folder: Path) -> None:
    put(folder, "zebra.urdf", "unitree/go7/go7.xml", text="<mujoco model='{}'><worldbody/></mujoco>")
    put(folder, "unitree/go7/scene.xml", ".git/hidden.urdf", "notes.txt")
    put(folder, "package.xml", text="<package><name>robot</name></package>")
    put(folder, "late.xml", text=f"<!-- {'<robot ' * 3000}-->\n<sdf><model/></sdf>")
    (folder / "empty.xml").touch()
    found = {name for name, robot in bough.robots.available().items() if robot.source == "mine"}
    assert found == {"zebra", "go7", "late"}
    assert bough.robots.find("mine/go7").path == folder / "unitree/go7/go7.xml"


def test_names_are_as_long_as_needed(folder: Path) -> None:
    put(folder, "yak/yak.urdf", "yak/old/yak.urdf", "gnu/gnu.urdf", "gnu/gnu.sdf", "emu.urdf", "arm.urdf", "panda.urdf")
    names = {robot.path: name for name, robot in bough.robots.available().items()}
    expected = {
        "yak/yak.urdf": "mine/yak/yak.urdf",  # any shorter form means the older one too
        "yak/old/yak.urdf": "old/yak",
        "gnu/gnu.urdf": "gnu.urdf",
        "gnu/gnu.sdf": "gnu.sdf",
        "emu.urdf": "emu",
        "arm.urdf": "mine/arm",
        "panda.urdf": "mine/panda",
    }
    assert {file: names[folder / file] for file in expected} == expected
    assert all(bough.robots.find(name).path == folder / file for file, name in expected.items())
    assert bough.robots.find("arm").source == "bough"
    with pytest.raises(bough.errors.ModelError, match="'example-robot-data/panda', 'mine/panda'"):
        bough.robots.find("panda")


def test_a_folder_that_is_not_there_is_passed_over_and_told(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    put(folder, "zebra.urdf")
    monkeypatch.setenv("BOUGH_ROBOT_PATH", os.pathsep.join(["", "/no/such/folder", str(folder)]))
    assert bough.robots.load("zebra").nv == 0
    with pytest.raises(
        bough.errors.UnknownNameError, match=r"'zebra'.*'/no/such/folder', which is not a folder"
    ) as raised:
        bough.robots.load("zbra")
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)


def test_the_first_of_two_folders_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    first, second = tmp_path / "1" / "herd", tmp_path / "2" / "herd"
    put(first, "zebra.urdf")
    put(second, "zebra.urdf", "yak.urdf")
    monkeypatch.setenv("BOUGH_ROBOT_PATH", os.pathsep.join([str(first), str(second)]))
    assert bough.robots.find("zebra").path == first / "zebra.urdf"
    assert bough.robots.find("yak").path == second / "yak.urdf"


def test_nothing_is_looked_up_before_it_is_asked_for() -> None:
    code = "import sys, bough; before = set(sys.modules); bough.robots; print('bough.robots' in before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_warning_points_at_the_line_of_the_user() -> None:
    """However many functions of bough there are in between."""
    path = bough.robots.find("allegro_left_hand").path
    for load in (lambda: bough.load(path), lambda: bough.robots.load("allegro_left_hand")):
        with pytest.warns(bough.errors.LoadWarning) as caught:
            load()
        assert caught[0].filename == __file__
