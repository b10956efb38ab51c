"""What commands say of files and options, in the words of the command line."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from bough.cli import main
from bough.formats.losses import KINDS


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_standard_input_is_a_model(name: str) -> None:
    if name != "-" and not Path(name).exists():
        pytest.skip("this system has no path of standard input")
    wrong = '<robot name="lonely">\n<link name="base"><inertial/></link></robot>'
    text = '<robot name="lonely"><link name="base"/></robot>'
    for command, given, told in (("info", text, "lonely"), ("check", wrong, f"{name}:2: link 'base': <inertial>")):
        order = [sys.executable, "-m", "bough", command, name]
        found = subprocess.run(order, input=given, capture_output=True, text=True, check=False)
        assert told in found.stdout
        assert found.stderr == ""


def test_a_file_that_is_no_model_is_told_as_such(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    notes = tmp_path / "README.md"
    notes.write_text("# Notes\nof something else")
    assert main(["check", str(notes)]) == 1
    assert "this is no model file, expected URDF, MJCF or SDF" in capsys.readouterr().out
    assert main(["info", str(notes)]) == 2
    assert "this is no model file" in capsys.readouterr().err
    for command in ("check", "info"):
        assert main([command, "NOTES.md"]) == 2
        assert "there is no file 'NOTES.md'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("order", "told"),
    [
        (["convert", "swimmer", "{}/s.json"], "--ignore fluid loads it without them"),
        (["convert", "arm", "{}/out.txt"], "expected .urdf, .xml, .mjcf, .json\n"),
        (["export", "arm", "jacobian", "--to", "c", "--out", "{}"], "none is named; expected --frame NAME"),
    ],
)
def test_messages_name_options_of_the_command_line(
    order: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([part.format(tmp_path) for part in order]) == 2
    assert told in capsys.readouterr().err


def test_all_that_can_be_left_out_is_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["convert", "--help"])
    told = capsys.readouterr().out
    assert [kind for kind in KINDS if kind not in told] == []


def test_arguments_of_functions_are_told_as_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    floating, own = tmp_path / "floating.urdf", tmp_path / "arm.json"
    floating.write_text(
        '<robot name="r"><link name="world"/><joint name="j" type="floating"><parent link="world"/><child link="a"/>'
        '</joint><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        "</inertial></link></robot>"
    )
    assert main(["convert", "arm", str(own)]) == 0
    capsys.readouterr()
    for order, told in (
        (["info", str(floating), "--floating"], "--floating: the file floats already, .*; load it without --floating"),
        (["info", str(own), "--floating"], "--floating, --root, --lock and --no-mimic are for other formats"),
        (["info", "arm", "--lock", "elbow=1,2"], "--lock: joint 'elbow' is held at"),
        (["simulate", "quadruped", "--integrator", "variational", "--duration", "0.01"], "does not support$"),
    ):
        assert main(order) == 2
        found = capsys.readouterr().err.strip()
        assert re.search(told, found)
        assert not re.search(r"floating_base|lock=|with_simulation|…", found)


def test_the_help_of_pictures_says_that_shapes_are_those_of_each_body(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["picture", "--help"])
    assert "visual shapes of each body" in " ".join(capsys.readouterr().out.split())
