"""`bough picture`, `bough simulate --record` and `bough demo`: files that can be looked at."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import bough
from bough.cli import demo, main

BALL = """<robot name="ball"><link name="world"/><joint name="free" type="floating"><parent link="world"/>
<child link="ball"/></joint><link name="ball"><inertial><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><sphere radius="0.2"/></geometry></collision></link></robot>"""


def test_a_picture_is_that_of_the_pose(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "arm.png"
    arm = bough.robots.load("arm")
    assert main(["picture", "arm", str(file), "--size", "64x48", "--set", f"{arm.joint_names[1]}=0.7"]) == 0
    assert str(file) in capsys.readouterr().out
    q = np.zeros(6)
    q[1] = 0.7
    with Image.open(file) as picture:
        assert np.array_equal(np.array(picture), bough.pictures.image(arm, q, size=(64, 48)))


def test_what_floats_is_put_on_the_floor(tmp_path: Path) -> None:
    (tmp_path / "ball.urdf").write_text(BALL)
    assert main(["picture", str(tmp_path / "ball.urdf"), str(tmp_path / "ball.png"), "--size", "64x48"]) == 0
    model = bough.load(tmp_path / "ball.urdf")
    q = bough.neutral(model)
    q[2] = 0.2
    with Image.open(tmp_path / "ball.png") as picture:
        assert np.array_equal(np.array(picture), bough.pictures.image(model, q, size=(64, 48)))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["out.png", "--size", "big"], "expected width and height in pixels"),
        (["out.jpg"], "ends in .png"),
        (["/nowhere/at/all/out.png"], "there is no folder"),
        (["out.png", "--size", "0x10"], "the width of a picture is 0"),
        (["out.png", "--elevation", "3"], "elevation is 3"),
        (["out.png", "--set", "nose=1"], "nose"),
    ],
)
def test_mistakes_are_named(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["picture", "pendulum", *arguments]) == 2
    assert told in capsys.readouterr().err


def test_a_run_is_recorded_as_a_film(tmp_path: Path) -> None:
    assert main(["simulate", "pendulum", "--duration", "0.1", "--record", str(tmp_path / "swing.gif")]) == 0
    with Image.open(tmp_path / "swing.gif") as film:
        assert film.size == (640, 480)


@pytest.mark.usefixtures("compiled")
def test_the_demo_tells_costs_and_writes_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "DURATION", 0.2)  # 100 steps and 6 pictures are enough
    (tmp_path / "ball.urdf").write_text(
        '<robot name="ball"><link name="ball">' + BALL.partition('<link name="ball">')[2]
    )
    assert main(["demo", str(tmp_path / "ball.urdf"), "--floating", "--files", "--folder", str(tmp_path / "made")]) == 0
    told = capsys.readouterr().out
    model = bough.load(tmp_path / "ball.urdf", floating_base=True)
    for algorithm, name in (
        ("aba", "articulated bodies"),
        ("aba_at_rest", "bias forces first"),
        ("crba_ltdl", "mass matrix and LᵀDL"),
    ):
        (line,) = [line for line in told.splitlines() if name in line]
        assert str(bough.count(model, algorithm).total) in line.split()
    assert "x real time" in told
    assert {"fall.png", "fall.gif"} <= {path.name for path in (tmp_path / "made").iterdir()}
