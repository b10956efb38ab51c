"""Commands that take a model: the MODEL argument, `bough explain` and `bough bench`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import bough
from bough.cli import main
from bough.cli.models import read_model


@pytest.mark.parametrize(
    ("text", "nv"),
    [("humanoid", 30), ("chain:7", 7), ("balanced_tree:3", 7), ("balanced_tree:2:5", 6), ("grid:3", 9), ("star:4", 4)],
)
def test_named_models(text: str, nv: int) -> None:
    assert read_model(f"tree:{text}").nv == nv


@pytest.mark.parametrize("name", ["chain:7", "star:4", "humanoid_chain", "chain"])
@pytest.mark.parametrize("command", ["info", "explain", "bench", "convert", "check"])
def test_names_without_their_prefix_are_told(command: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, name, *["out.urdf"] * (command == "convert")]) == 2
    assert f"did you mean tree:{name.split(':')[0]}" in capsys.readouterr().err


def test_a_name_means_the_same_robot_everywhere(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The one that `bough robots` lists: 68.8 kg, not the papers' mechanism of the same name."""
    robot = bough.robots.load("humanoid")
    assert robot.mass != bough.trees.topologies.humanoid().mass
    assert main(["info", "humanoid"]) == 0
    assert capsys.readouterr().out == f"{bough.info(robot)}\n"
    assert main(["explain", "humanoid"]) == 0
    assert capsys.readouterr().out == f"{bough.explain(robot)}\n"
    assert main(["convert", "humanoid", str(tmp_path / "h.urdf")]) == 0
    assert bough.load(tmp_path / "h.urdf").mass == pytest.approx(robot.mass, rel=1e-12)


def test_a_mechanism_of_the_papers_has_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "tree:chain:3"]) == 2
    assert "which has no file" in capsys.readouterr().err


def test_a_robot_that_floats_already_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "quadruped", "--floating"]) == 2
    assert "the file floats already, on joint 'root_joint'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("chian:3", "did you mean tree:chain:N"),
        ("tree:chian:3", "did you mean tree:chain:N"),
        ("", "tree:humanoid"),
        ("tree:", "expected one of tree:balanced_tree"),
        ("tree", "expected a model file, a robot or one of tree:"),
        ("tree:chain", "tree:chain:N with whole numbers"),
        ("tree:chain:-1", "tree:chain:N"),
        ("tree:chain:3.5", "tree:chain:N"),
        ("tree:chain:²", "tree:chain:N"),
        ("tree:chain:1:2", "tree:chain:N"),
        ("tree:humanoid:1", "expected tree:humanoid with"),
        ("tree:balanced_tree:2:0", "arity"),
        ("tree:on_tree:3", "expected one of tree:"),
        ("__class__", "expected a model file, a robot or one of"),
    ],
)
@pytest.mark.parametrize("command", ["explain", "bench"])
def test_a_wrong_model_is_one_line_and_exit_code_2(
    command: str, text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, text]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err
    assert len(captured.err.splitlines()) == 1


def test_a_file_that_is_not_there_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["explain", str(tmp_path / "robot.urdf")]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "robot.urdf" in captured.err


def test_files_and_robots_are_models(tmp_path: Path) -> None:
    model = bough.robots.load("arm")
    bough.save(model, tmp_path / "my.urdf")
    assert read_model(str(tmp_path / "my.urdf")).joint_names == model.joint_names
    assert read_model("arm") == model
    assert read_model("bough/humanoid") == bough.robots.load("humanoid")
    assert read_model("humanoid") == bough.robots.load("humanoid")
    assert read_model("tree:humanoid") == bough.trees.topologies.humanoid()
    assert read_model("arm", floating_base=True).nv == 12


def test_explain_prints_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "tree:chain:5"]) == 0
    assert capsys.readouterr().out == f"{bough.explain(bough.trees.topologies.chain(5))}\n"


def test_bench_measures_every_function(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("BOUGH_CACHE_DIR", str(tmp_path))
    assert main(["bench", "tree:chain:2", "--batch", "3", "--rounds", "1", "--compare"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for name in ("rnea", "forward_dynamics", "crba", "crba_packed", "factorize, solve", "jacobian"):
        (row,) = [line.removeprefix(name).split() for line in lines if line.startswith(f"{name}  ")]
        assert all(float(x) > 0 for x in row)
        assert len(row) == 6
    for rival in ("Pinocchio rnea", "Pinocchio aba", "MuJoCo mj_inverse", "MuJoCo mj_forward"):
        assert any(rival in line for line in lines)
    assert os.environ["BOUGH_CACHE_DIR"] == str(tmp_path)


def test_bench_times_what_holds_constraints_and_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    builder = bough.Builder("wheels")
    for name in "ab":
        builder.add(name, bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
    builder.equality("belt", "b", "a", (0.5, 1.0))  # not met where both angles are zero
    bough.save(builder.build(), tmp_path / "wheels.json")
    assert main(["bench", str(tmp_path / "wheels.json"), "--batch", "3", "--rounds", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    (row,) = [line.removeprefix("with constraints").split() for line in lines if line.startswith("with constraints")]
    assert len([float(x) for x in row]) == 6
    assert (
        lines[-1] == "The model has constraints. Only the last row includes them; the other rows are for the open tree."
    )


def test_bench_leaves_out_what_does_not_fit(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bough.cli.bench.MOST_NUMBERS", 24)
    assert main(["bench", "tree:star:3", "--batch", "3", "--rounds", "1"]) == 0
    lines = {line.split("  ")[0]: line for line in capsys.readouterr().out.splitlines()}
    assert lines["rnea"].endswith("in batches of 1")
    monkeypatch.setattr("bough.cli.bench.MOST_NUMBERS", 8)
    assert main(["bench", "tree:star:3", "--batch", "3", "--rounds", "1"]) == 0
    assert capsys.readouterr().out.count("left out: a result has 18 numbers") == 6


@pytest.mark.skipif(bough.cuda.is_available(), reason="there is a GPU")
def test_bench_of_a_gpu_needs_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "arm", "--device", "cuda"]) == 2
    told = capsys.readouterr().err
    assert "need CuPy (pip install" in told or "no GPU was found" in told


@pytest.mark.parametrize("option", [["--batch", "0"], ["--rounds", "x"], ["--batch", "-3"]])
def test_numbers_of_bench_are_checked(option: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["bench", "humanoid", *option])
    assert stop.value.code == 2
    assert "expected a positive whole number" in capsys.readouterr().err


def test_a_misspelt_robot_is_a_robot(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "humaniod"]) == 2
    assert "no robot is called 'humaniod'; did you mean 'humanoid'" in capsys.readouterr().err


def test_a_joint_that_is_locked_beyond_its_limits_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "arm", "--lock", "elbow=9"]) == 0
    assert "joint 'elbow' is held at [9.0], beyond its limits -2.6 … 2.6" in capsys.readouterr().err
    assert main(["info", "arm", "--lock", "elbow=2.6"]) == 0
    assert "limits" not in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["continuous", "planar", "floating"])
def test_a_joint_that_moves_nothing_is_locked_as_the_message_says(
    kind: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "my robot.urdf"  # with an antenna of no inertia on a joint
    file.write_text(
        '<robot name="r"><link name="trunk"><inertial><mass value="4"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" '
        'ixz="0" iyz="0"/></inertial></link><link name="antenna"/><joint name="stalk" type="' + kind + '"><parent '
        'link="trunk"/><child link="antenna"/></joint></robot>'
    )
    order = ["simulate", str(file), "--floating", "--duration", "0.01"]
    assert main(order) == 2
    assert "--lock stalk fixes it in place" in capsys.readouterr().err
    assert main([*order, "--lock", "stalk"]) == 0
