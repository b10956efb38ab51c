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
    assert read_model(text).nv == nv


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("chian:3", "chain:N"),
        ("", "humanoid"),
        ("chain", "chain:N with whole numbers"),
        ("chain:-1", "chain:N"),
        ("chain:3.5", "chain:N"),
        ("chain:²", "chain:N"),
        ("chain:1:2", "chain:N"),
        ("humanoid:1", "expected humanoid with"),
        ("balanced_tree:2:0", "arity"),
        ("on_tree:3", "expected a model file, a robot or one of"),
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
    assert read_model("humanoid") == bough.topologies.humanoid()
    assert read_model("arm", floating_base=True).nv == 12


def test_explain_prints_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "chain:5"]) == 0
    assert capsys.readouterr().out == f"{bough.explain(bough.topologies.chain(5))}\n"


def test_bench_measures_every_function(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("BOUGH_CACHE_DIR", str(tmp_path))
    assert main(["bench", "chain:2", "--batch", "3", "--rounds", "1", "--compare"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for name in ("rnea", "forward_dynamics", "crba", "crba_packed", "factorize, solve", "jacobian"):
        (row,) = [line.removeprefix(name).split() for line in lines if line.startswith(f"{name}  ")]
        assert all(float(x) > 0 for x in row)
        assert len(row) == 6
    for rival in ("Pinocchio rnea", "Pinocchio aba", "MuJoCo mj_inverse", "MuJoCo mj_forward"):
        assert any(rival in line for line in lines)
    assert os.environ["BOUGH_CACHE_DIR"] == str(tmp_path)


def test_bench_leaves_out_what_does_not_fit(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bough.cli.bench.MOST", 24)
    assert main(["bench", "star:3", "--batch", "3", "--rounds", "1"]) == 0
    lines = {line.split("  ")[0]: line for line in capsys.readouterr().out.splitlines()}
    assert lines["rnea"].endswith("in batches of 1")
    monkeypatch.setattr("bough.cli.bench.MOST", 8)
    assert main(["bench", "star:3", "--batch", "3", "--rounds", "1"]) == 0
    assert capsys.readouterr().out.count("left out: a result has 18 numbers") == 6


@pytest.mark.parametrize("option", [["--batch", "0"], ["--rounds", "x"], ["--batch", "-3"]])
def test_numbers_of_bench_are_checked(option: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["bench", "humanoid", *option])
    assert stop.value.code == 2
    assert "expected a positive whole number" in capsys.readouterr().err
