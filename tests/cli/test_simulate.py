"""`bough simulate`: what it tells, what it writes, and what it refuses before it begins."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bough
from bough.cli import main
from bough.cli.simulate import SHOWN_TOGETHER, _closed
from bough.pictures.pictures import MOST_BESIDE
from bough.simulation.trajectory_pictures import POSES


def test_a_pendulum(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, picture = tmp_path / "swing.npz", tmp_path / "swing.png"
    model = bough.robots.load("pendulum")
    name = model.joint_names[0]
    order = ["simulate", "pendulum", "--duration", "0.02", "--set", f"{name}=0.5"]
    code = main([*order, "--record", str(file), "--plot", str(picture)])
    told = capsys.readouterr().out
    assert code == 0
    assert "10 steps" in told
    assert "x real time" in told
    trajectory = bough.Trajectory.load(file, model)
    assert trajectory.q[0, 0] == 0.5
    assert np.abs(trajectory.v[-1]).max() > 0
    assert picture.stat().st_size > 1000


@pytest.mark.parametrize(
    ("options", "culprit"),
    [
        (["--set", "nose=1"], "nose"),
        (["--set", "shoulder"], "JOINT=VALUE"),
        (["--control", "hold", "--kp", "-5"], "kp is -5.0, expected a number that is not negative"),
        (["--record", "swing.csv"], ".npz"),
        (["--record", "/nowhere/at/all/swing.npz"], "no folder"),
        (["--plot", "swing.xyz"], ".png"),
        (["--batch", "0"], "at least one"),
        (["--friction", "0.5"], "--floor yes"),
        (["--duration", "-1"], "duration"),
        (["--dt", "0"], "dt"),
        (["--dt", "3", "--duration", "1"], "--duration is 1.0 s, expected at least a time step, 3.0 s"),
        (["--duration", "1e-9"], "--duration is 1e-09 s, expected at least a time step, 0.002 s"),
        (["--set", "pivot=1", "--set", "pivot=2"], "--set sets 'pivot' more than once"),
        (["--target", "pivot=1", "--control", "none"], "--target is only used with --control hold"),
        (["--scene", "no-room.xml"], "there is no file 'no-room.xml'"),
        (["--target", "nose=1"], "no joint is called 'nose'"),
        (["--target", "pivot=a"], "'a' is not a number"),
        (["--kp", "3"], "--kp is 3.0, which is only used with --control hold"),
        (["--drop", "1"], "--drop is 1.0, which is only used for a floating base, and 'pendulum' has none"),
        (["--record", "x.png", "--plot", "./x.png"], "--record and --plot are both 'x.png', expected two files"),
        (["--batch", "3", "--seed", "-1"], "--seed is -1, expected a nonnegative integer"),
        (["--batch", "65", "--record", "x.gif"], "--batch is 65, and --record 'x.gif' shows at most 64"),
        (["--batch", "13", "--record", "x.png"], "shows at most 12 side by side"),
        (["--rate", "1e9"], "--rate is 1e+09, expected at most 500 samples per second: one per step of 2 ms"),
        (["--drop", "nan"], "--drop is nan, expected a height in m"),
        (["--host", "0.0.0.0"], "--host, --port and --no-browser are only used with --view"),
        (["--no-browser"], "--host, --port and --no-browser are only used with --view"),
        (["--lock", "pivot", "--lock", "pivot=2"], "--lock gives 'pivot' more than once"),
        (["--seed", "1"], "--seed is 1, which is only used with --batch"),
    ],
)
def test_mistakes_are_named(options: list[str], culprit: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "pendulum", *options]) == 2
    assert culprit in capsys.readouterr().err


@pytest.mark.parametrize(
    ("package", "options", "extra"),
    [
        ("PIL", ["--record", "x.gif"], "pictures"),
        ("imageio_ffmpeg", ["--record", "x.mp4"], "pictures"),
        ("matplotlib", ["--plot", "x.png"], "plot"),
        ("viser", ["--view"], "view"),
    ],
)
def test_a_package_that_is_missing_is_told_before_anything_is_loaded(
    package: str, options: list[str], extra: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    assert main(["simulate", "no such robot", *options]) == 2
    assert f"needs the package {package}: pip install 'bough[{extra}]'" in capsys.readouterr().err


def test_a_floating_robot_starts_where_it_is_set(tmp_path: Path) -> None:
    record, place = tmp_path / "run.npz", "root_joint=0.5,0.2,1,0,0,0,1"
    for more, height in (((), 1.0), (("--drop", "0"), None)):
        given = ["--set", place, "--duration", "0.002", "--record", str(record), *more]
        assert main(["simulate", "quadruped", *given]) == 0
        first = bough.Trajectory.load(record, bough.robots.load("quadruped")).q[0, :3]
        np.testing.assert_array_equal(first[:2], [0.5, 0.2])
        assert (first[2] == height) == (height is not None)


def test_a_static_model_of_sdf_is_an_obstacle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    room = tmp_path / "room.sdf"
    room.write_text(
        "<sdf version='1.9'><model name='room'><static>true</static><link name='wall'><collision name='c'><geometry>"
        "<box><size>1 1 1</size></box></geometry></collision></link></model></sdf>"
    )
    given = ["simulate", "quadruped", "--scene", str(room), "--floor", "yes", "--duration", "0.004", "--rate", "500"]
    assert main(given) == 0
    assert "deepest penetration in the 3 stored samples: " in capsys.readouterr().out


def test_as_many_states_are_recorded_as_pictures_show() -> None:
    film, poses = MOST_BESIDE, MOST_BESIDE // POSES
    assert {".gif": film, ".mp4": film, ".png": poses} == SHOWN_TOGETHER


def test_a_run_that_stops_early_ends_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A block that falls faster than anything does."""
    block = tmp_path / "block.xml"
    block.write_text(
        '<mujoco><option gravity="0 0 -1e13"/><worldbody><body><joint name="height" type="slide" axis="0 0 1"/>'
        '<geom size=".05" mass="1"/></body></worldbody></mujoco>'
    )
    assert main(["simulate", str(block), "--duration", "0.02"]) == 1
    assert "states  ran away" in capsys.readouterr().out


def test_a_pose_is_drawn_to_beside_shapes_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A ball on a box of a file, above the plane that is in it, too."""
    room, ball = tmp_path / "room.xml", tmp_path / "ball.xml"
    room.write_text(
        '<mujoco><worldbody><geom type="plane" size="5 5 .1"/><geom type="box" size=".5 .5 .1" pos="0 0 .1"/>'
        "</worldbody></mujoco>"
    )
    ball.write_text(
        '<mujoco><worldbody><body><joint name="height" type="slide" axis="0 0 1"/><geom size=".05" mass="1"/>'
        "</body></worldbody></mujoco>"
    )
    given = ["--scene", str(room), "--target", "height=0.26", "--kp", "1000", "--set", "height=0.3"]
    assert main(["simulate", str(ball), *given, "--duration", "0.004"]) == 0
    assert "2 pairs of shapes that may touch" in capsys.readouterr().out


def test_options_that_do_not_exist_are_refused_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["simulate", "pendulum", "--duraton", "3"])
    assert "unrecognized arguments: --duraton 3; did you mean --duration?" in capsys.readouterr().err


def test_files_are_written_though_nobody_reads_on(tmp_path: Path) -> None:
    record, picture = tmp_path / "swing.npz", tmp_path / "swing.png"
    order = f"simulate pendulum --duration 0.02 --record {record} --plot {picture}"
    command = f"{sys.executable} -m bough {order} | head -n 1"
    found = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert len(found.stdout.splitlines()) == 1
    assert found.stderr == ""
    assert record.stat().st_size > 1000
    assert picture.stat().st_size > 1000


def test_a_quaternion_is_nearly_of_unit_length(capsys: pytest.CaptureFixture[str]) -> None:
    order = ["simulate", "quadruped", "--duration", "0.004", "--set"]
    assert main([*order, "root_joint=0,0,1,0,0,0,2"]) == 2
    assert "root_joint=0,0,1,0,0,0,2: the quaternion has length 2, expected 1" in capsys.readouterr().err
    assert main([*order, "root_joint=0,0,1,0,0,0.7071,0.7071"]) == 0


def test_robots_that_float_stay_where_they_are_while_their_loops_are_closed() -> None:
    """From straight legs no step leads to the loop's closing: what is tried near them moves joints, not the base."""
    b = bough.Builder("lift")
    b.add("base", bough.joints.Free(), mass=5.0, inertia=np.eye(3))
    for name, parent, at in (("upper", "base", 0.0), ("lower", "upper", -0.3)):
        b.add(name, bough.joints.Revolute("y"), parent, at=(0, 0, at), mass=1.0, com=(0, 0, -0.1), inertia=np.eye(3))
    b.loop("tip", bough.joints.Spherical(), "base", "lower", at=(0, 0, -0.4), successor_at=(0, 0, -0.3))
    model = b.build()
    q = bough.neutral(model)
    with pytest.raises(bough.errors.AssemblyError):
        bough.loops.assemble(model, q)
    closed = _closed(model, q)
    assert np.abs(bough.loops.errors(model, closed)).max() < 1e-9
    np.testing.assert_allclose(closed[:7], q[:7], atol=1e-9)


def test_files_are_written_though_there_is_no_standard_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)  # as after `>&-`
    assert main(["simulate", "pendulum", "--duration", "0.02", "--record", str(tmp_path / "run.npz")]) == 0
    assert (tmp_path / "run.npz").exists()
