"""Commands that look at model files and write them: `bough info`, `check`, `convert` and `robots`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bough
from bough.cli import main

INERTIA = '<inertia ixx="{}" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
BAD = f"""<robot name="bad">
  <link name="a"><inertial><mass value="-1"/>{INERTIA.format(1)}</inertial></link>
  <link name="b"><inertial><mass value="1"/>{INERTIA.format(5)}</inertial></link>
  <link name="b"/>
  <link name="c"/><link name="d"/>
  <link name="lonely"/>
  <joint name="ab" type="revolute"><parent link="a"/><child link="b"/>
    <axis xyz="0 0 2"/><limit lower="1" upper="-1" effort="1" velocity="1"/></joint>
  <joint name="cd" type="prismatic"><parent link="c"/><child link="d"/>
    <axis xyz="0 0 0"/></joint>
  <joint name="dc" type="revolvute"><parent link="d"/><child link="c"/></joint>
  <joint name="x" type="fixed"><parent link="a"/><child link="bb"/>
    <origin xyz="nan 0 0"/></joint>
</robot>
"""
TOLD = {
    2: ["link 'a': the mass is -1.0"],
    3: ["link 'b': the principal moments"],
    4: ["link 'b': the name is taken (line 3)"],
    6: ["link 'lonely' is connected to nothing"],
    7: ["joint 'ab': the lower limit 1.0 is above the upper limit -1.0"],
    8: ["joint 'ab': the axis (0, 0, 2) has length 2, expected 1"],
    9: ["joint 'cd' is prismatic and has no <limit>, which the format demands"],
    10: ["joint 'cd': the axis of a prismatic joint is"],
    11: ["joint 'dc' is of type 'revolvute'", "joints form a circle: link 'c' on 'd' on 'c'"],
    12: ["joint 'x': the child does not exist: no link is called 'bb'; did you mean 'b'?"],
    13: ["joint 'x': xyz of <origin> is 'nan 0 0'"],
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    """What a command prints; its error, one line, where it is to fail with 2."""
    assert main(arguments) == code
    captured = capsys.readouterr()
    if code != 2:
        return captured.out
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    return captured.err


# --- check ---


def test_check_lists_every_problem_by_line(capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.urdf").write_text(BAD)
    *lines, last = said(capsys, "check", "bad.urdf", code=1).splitlines()
    expected = [f"bad.urdf:{line}: {told}" for line, problems in TOLD.items() for told in problems]
    assert len(lines) == len(expected)
    assert not [(line, want) for line, want in zip(lines, expected, strict=True) if not line.startswith(want)]
    assert last == f"bad.urdf: {len(expected)} problems"


def test_check_is_content_with_sound_files(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "check", "arm", "bough/humanoid", str(bough.robots.find("pendulum").path))
    assert [line.split(": ")[1] for line in text.splitlines()] == ["no problems"] * 3


@pytest.mark.parametrize("missing", ["package://away/part.stl", "x" * 300], ids=["away", "of a long name"])
def test_check_looks_for_meshes(capsys: pytest.CaptureFixture[str], missing: str) -> None:
    Path("meshes").mkdir()
    Path("meshes", "there.stl").touch()
    mesh = '<visual><geometry><mesh filename="{}"/></geometry></visual>'
    lines = [mesh.format("meshes/there.stl"), mesh.format(missing)]
    Path("robot.urdf").write_text("\n".join(['<robot name="one"><link name="base">', *lines, "</link></robot>"]))
    told = said(capsys, "check", "robot.urdf", code=1).splitlines()
    assert told == [f"robot.urdf:3: 'base': the mesh {missing!r} does not exist", "robot.urdf: 1 problem"]
    assert said(capsys, "check", "robot.urdf", "--no-meshes") == "robot.urdf: no problems\n"


def test_check_looks_for_meshes_in_folders_of_packages(capsys: pytest.CaptureFixture[str]) -> None:
    Path("all", "mine").mkdir(parents=True)
    Path("all", "mine", "there.stl").touch()
    mesh = '<visual><geometry><mesh filename="package://mine/there.stl"/></geometry></visual>'
    Path("robot.urdf").write_text(f'<robot name="one"><link name="base">{mesh}</link></robot>')
    assert "does not exist" in said(capsys, "check", "robot.urdf", code=1)
    assert said(capsys, "check", "robot.urdf", "--packages", "all") == "robot.urdf: no problems\n"


def test_check_tells_all_that_is_wrong_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    """A mesh that is not there, laws of joints and a tree that is none do not hide each other."""
    Path("there.stl").touch()
    mesh = '<visual><geometry><mesh filename="{}"/></geometry></visual>'
    joint = '<joint name="{0}" type="continuous"><parent link="a"/><child link="{1}"/><mimic joint="{2}"/></joint>'
    lines = [
        '<robot name="r">',
        f'<link name="a">{mesh.format("there.stl")}{mesh.format("away.stl")}</link><link name="b"/><link name="c"/>',
        joint.format("j", "b", "nix"),
        joint.format("k", "c", "nox"),
        joint.format("l", "d", "j"),
    ]
    for extra in ("", '<link name="d"/>'):  # without it there is no tree
        Path("robot.urdf").write_text("\n".join([*lines, extra, "</robot>"]))
        told = said(capsys, "check", "robot.urdf", code=1)
        assert "robot.urdf:2: " in told
        assert "the mesh 'away.stl' does not exist" in told
        assert (
            "robot.urdf:3: joint 'j' mimics a joint that it cannot follow: no joint that moves is called 'nix'" in told
        )
        assert (
            "robot.urdf:4: joint 'k' mimics a joint that it cannot follow: no joint that moves is called 'nox'" in told
        )
        assert ("robot.urdf:5: joint 'l': the child does not exist" in told) == (not extra)
        assert "there.stl" not in told


def test_one_bad_file_among_several_is_enough(capsys: pytest.CaptureFixture[str]) -> None:
    Path("empty.urdf").touch()
    text = said(capsys, "check", "arm", "empty.urdf", "arm", code=1)
    assert "empty.urdf:1: not well-formed XML: no element found" in text
    assert text.count("no problems") == 2


def test_check_of_other_formats(capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.xml").write_text("<mujoco>\n<worldbody><body><geom size='-1'/><joint/></body></worldbody></mujoco>")
    Path("bad.sdf").write_text("<sdf version='1.9'><model name='m'><link name='a'/><link name='a'/></model></sdf>")
    assert said(capsys, "check", "bad.xml", code=1).startswith("bad.xml:2: ")
    assert "bad.sdf:1: link 'a': the name is taken" in said(capsys, "check", "bad.sdf", code=1)
    assert "bough cannot express" in said(capsys, "check", "swimmer", code=1)
    assert "no problems" in said(capsys, "check", "swimmer", "--ignore", "fluid")


@pytest.mark.parametrize("command", ["check", "info", "explain"])
@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("missing.urdf", "no file 'missing.urdf'; did you mean 'massing.urdf'?"),
        ("folder", "'folder' is not a file"),
        ("folder/x.xml", "no file 'folder/x.xml'"),
        ("talos_ful_v2", "did you mean 'talos_full_v2'"),
        ("anymal", "is ambiguous, expected one of"),
        ("chian:3", "did you mean tree:chain:N, a mechanism of the papers?"),
        ("\0.urdf", "cannot be read"),
    ],
)
def test_what_cannot_be_read_is_told(command: str, name: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("massing.urdf").touch()
    Path("folder").mkdir()
    assert told in said(capsys, command, name, code=2)


# --- convert ---


def test_convert_writes_what_load_gives(capsys: pytest.CaptureFixture[str]) -> None:
    options = [
        "--root",
        "tool",
        "--lock",
        "elbow=0.5",
        "--lock",
        "wrist_roll=-1",
        "--floating",
        "--leave-out",
        "limits",
    ]
    assert "nv = 10" in said(capsys, "convert", "arm", "arm.xml", *options)
    path = bough.robots.find("arm").path
    want = bough.load(path, root="tool", lock={"elbow": 0.5, "wrist_roll": -1}, floating_base=True)
    got = bough.load("arm.xml")
    assert got.joint_names == want.joint_names
    q, v = bough.random(want, 0), np.ones(want.nv)
    assert np.allclose(bough.bias_forces(got, q, v), bough.bias_forces(want, q, v), rtol=1e-9)


def test_convert_names_what_to_leave_out_as_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    told = said(capsys, "convert", "arm", "arm.xml", code=2)
    assert "(--leave-out limits saves the model without)" in told
    assert not Path("arm.xml").exists()


def test_convert_frees_mimic_joints(capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, "convert", "panda", "tied.urdf")
    said(capsys, "convert", "panda", "free.urdf", "--no-mimic")
    assert bough.load("free.urdf").nv == bough.load("tied.urdf").nv + 1


def test_convert_replaces_only_what_it_may(capsys: pytest.CaptureFixture[str]) -> None:
    out = Path("arm.urdf")
    out.write_text("mine")
    assert "--force" in said(capsys, "convert", "arm", "arm.urdf", code=2)
    assert "no joint to lock" in said(capsys, "convert", "arm", "arm.urdf", "--force", "--lock", "elbw=1", code=2)
    assert out.read_text() == "mine"
    said(capsys, "convert", "arm", "arm.urdf", "--force")
    said(capsys, "convert", "arm.urdf", "arm.urdf", "--force")
    assert bough.load(out).nv == 6
    assert os.listdir() == ["arm.urdf"]


def test_what_a_format_cannot_express_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    b = bough.Builder("geared")
    b.add("wheel", bough.joints.Revolute("z"), mass=1.0, inertia=1.0, armature=0.1)
    bough.save(b.build(), "geared.xml")
    assert "the armature of joint 'wheel'" in said(capsys, "convert", "geared.xml", "x.urdf", code=2)
    assert "did you mean 'armature'" in said(
        capsys, "convert", "geared.xml", "x.urdf", "--leave-out", "armatur", code=2
    )
    assert not Path("x.urdf").exists()
    said(capsys, "convert", "geared.xml", "x.urdf", "--leave-out", "armature")
    assert bough.load("x.urdf").nv == 1


@pytest.mark.parametrize(("out", "told"), [("x.sdf", ".urdf, .xml, .mjcf"), ("no/x.urdf", "cannot be written")])
def test_places_that_cannot_be_written(out: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert told in said(capsys, "convert", "arm", out, code=2)
    assert os.listdir() == []


@pytest.mark.parametrize(("value", "told"), [("elbow=x", "a number"), ("elbow=", "a number")])
def test_values_to_lock_are_checked(value: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["convert", "arm", "x.urdf", "--lock", value])
    assert stop.value.code == 2
    assert told in capsys.readouterr().err


def test_joints_are_locked_with_a_value_or_without(capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, "convert", "arm", "a.urdf", "--lock", "elbow")
    said(capsys, "convert", "arm", "b.urdf", "--lock", "elbow=0")
    assert Path("a.urdf").read_text() == Path("b.urdf").read_text()
    assert bough.load("a.urdf").nv == bough.robots.load("arm").nv - 1
    assert "did you mean 'elbow'" in said(capsys, "convert", "arm", "c.urdf", "--lock", "elbo", code=2)


# --- info and robots ---


def test_info_prints_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "info", "pendulum") == f"{bough.info(bough.robots.load('pendulum'))}\n"
    text = said(capsys, "info", "arm", "--floating", "--png", "x.png")
    assert text.startswith(str(bough.info(bough.robots.load("arm", floating_base=True))))
    assert text.endswith("written: x.png\n")
    assert Path("x.png").read_bytes().startswith(b"\x89PNG")
    assert "no/x.png" in said(capsys, "info", "arm", "--png", "no/x.png", code=2)


def test_warnings_of_loading_are_one_line_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    flat = f'<robot name="r"><link name="a"><inertial><mass value="1"/>{INERTIA.format(5)}</inertial></link></robot>'
    Path("flat.urdf").write_text(flat)
    assert main(["info", "flat.urdf"]) == 0
    captured = capsys.readouterr()
    assert captured.err.startswith("bough: flat.urdf, line 1: link 'a': the principal moments")
    assert captured.err.count("\n") == 1


def test_a_file_with_a_fault_is_told_to_be_checked(capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.urdf").write_text('<robot name="r"><link name="a"><inertial><mass value="x"/></inertial></link></robot>')
    told = said(capsys, "info", "bad.urdf", code=2)
    assert told.startswith("bough: bad.urdf, line 1: ")
    assert told.endswith(" (bough check bad.urdf lists all problems)\n")
    assert "bough check" not in said(capsys, "info", "missing.urdf", code=2)


def test_meshes_are_looked_for_in_packages(capsys: pytest.CaptureFixture[str]) -> None:
    Path("folder/parts").mkdir(parents=True)
    corners = "".join(f"v {x} {y} {z}\n" for x in (0, 1) for y in (0, 1) for z in (0, 1))
    Path("folder/parts/cube.obj").write_text(corners + "f 1 2 3\nf 5 6 7\n")
    Path("r.urdf").write_text(
        '<robot name="r"><link name="a"><visual><geometry><mesh filename="package://parts/cube.obj"/></geometry></visual>'
        "</link></robot>"
    )
    assert main(["picture", "r.urdf", "x.png", "--packages", "folder"]) == 0
    assert capsys.readouterr().err == ""
    assert "does not exist: give `package_dirs` to bough.load, or --packages" in said(
        capsys, "picture", "r.urdf", "x.png", code=2
    )
    with pytest.raises(SystemExit):
        main(["info", "r.urdf", "--packages", "nowhere"])
    assert "'nowhere', expected a folder that exists" in capsys.readouterr().err


def test_options_of_files_are_refused_for_mechanisms_of_the_papers(capsys: pytest.CaptureFixture[str]) -> None:
    assert "mechanism of the papers" in said(capsys, "info", "tree:chain:3", "--floating", code=2)


def test_a_file_comes_before_a_robot_and_a_folder_after(capsys: pytest.CaptureFixture[str]) -> None:
    Path("panda").mkdir()
    assert said(capsys, "info", "panda").startswith("panda\n")
    Path("arm").write_text('<robot name="my own"><link name="a"/></robot>')
    assert said(capsys, "info", "arm").startswith("my own\n")


@pytest.mark.skipif(os.name == "nt", reason="names that Windows does not take")
@pytest.mark.parametrize(
    "hostile", ["\x1b]0;owned\x07", "\x9b31m", "a\n\x1b[2Kfine.urdf", "\u202e", "\x7f\x08", "\udcff"]
)
def test_names_give_the_terminal_no_orders(
    hostile: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever files and parts are called, what is printed are visible characters and the ends of our own lines."""
    folder = Path("robots")
    folder.mkdir()
    inside = "l" + "".join(c for c in hostile if c.isprintable() or c in "\x9b\u202e\n").replace("\n", "&#10;")
    text = f'<robot name="{inside}"><link name="{inside}"/><link name="b"/>'
    text += f'<joint name="{inside}" type="fixed"><parent link="{inside}"/><child link="b"/></joint></robot>'
    good, bad = (folder / f"{kind}{hostile}.urdf" for kind in ("good", "bad"))
    good.write_text(text, encoding="utf-8")
    bad.write_text(text.replace("fixed", inside), encoding="utf-8")
    monkeypatch.setenv("BOUGH_ROBOT_PATH", str(folder))
    lines = {
        ("check", str(bad), str(good)): (1, 3),
        ("check", f"none{hostile}.urdf"): (2, 1),
        ("check", f"none{hostile}"): (2, 1),
        ("info", str(bad)): (2, 1),
        ("explain", f"good{hostile}"): (0, None),
        ("info", str(good), "--root", f"no{hostile}"): (2, 1),
        ("convert", str(good), f"out{hostile}.urdf"): (0, 1),
        ("convert", str(good), f"out{hostile}.txt"): (2, 1),
        ("robots", hostile): (0, 2),
        ("robots", f"x{hostile}"): (2, 1),
        ("paper", hostile): (2, 1),
        ("cache", hostile): (2, None),
        ("info", "arm", hostile): (2, None),
    }
    for command, (code, count) in lines.items():
        try:
            assert main(command) == code
        except SystemExit as stop:  # of the parser of arguments
            assert stop.code == code  # noqa: PT017
        captured = capsys.readouterr()
        printed = (captured.out + captured.err).split("\n")
        assert all(line.isprintable() for line in printed), command
        assert count is None or len(printed) == count + 1, command


def test_robots_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    names = [line.split()[0] for line in said(capsys, "robots").splitlines()]
    assert tuple(names) == bough.robots.names()
    assert said(capsys, "robots", "PENDUL").count("pendulum") >= 4
    assert "did you mean 'humanoid'" in said(capsys, "robots", "humanoidd", code=2)


def test_a_terminal_with_ascii_only_sees_the_tree_and_the_pattern() -> None:
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "bough", "info", "quadruped"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "+- front_right_hip    front_right_abduction  revolute  9" in done.stdout
    assert "|######   ###      |   |######   ##.      |" in done.stdout
    assert "?" not in done.stdout
    assert "\x1b" not in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX shells")
def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"{sys.executable} -m bough info quadruped | head -n 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "quadruped\n")


def test_convert_tells_shapes_that_touch_only_in_mjcf(capsys: pytest.CaptureFixture[str]) -> None:
    """Shapes that overlap in the pose of the file do not touch, unless the file is MuJoCo's."""
    b = bough.Builder("fist")
    parent = "world"
    for name in "abc":
        b.add(name, bough.joints.Revolute("z"), parent, mass=1.0, inertia=1.0)
        b.geometry(name, "sphere", (0.1,))
        parent = name
    bough.save(b.build(), "fist.urdf")
    for out, told in (("fist.xml", True), ("again.urdf", False)):
        assert main(["convert", "fist.urdf", out]) == 0
        found = capsys.readouterr().err
        assert ("1 pair of shapes overlap with all coordinates at zero" in found) == told
    pairs = [len(bough.Scene(bough.load(file, trusted=True)).pairs) for file in ("fist.urdf", "fist.xml")]
    assert pairs == [0, 1]
