"""Where files come from: paths, strings, streams, packages, and xacro for those who trust it."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import bough
from urdf_text import joint, link, robot

TEXT = robot(link("a"), link("b"), joint("j", "a", "b"))


def test_any_source_gives_the_same_model(tmp_path: Path) -> None:
    path = tmp_path / "robot.txt"
    path.write_text(TEXT, encoding="utf-8")
    model = bough.load(TEXT)
    assert bough.load(path) == model
    assert bough.load(str(path)) == model
    assert bough.load(TEXT.encode()) == model
    assert bough.load(f"\ufeff \n{TEXT.split('?>')[1]}") == model
    assert bough.load(io.StringIO(TEXT)) == model
    assert bough.load(io.BytesIO(TEXT.encode())) == model
    with path.open("rb") as stream:
        assert bough.load(stream) == model
    assert pickle.loads(pickle.dumps(model)) == model


@pytest.mark.parametrize("source", [None, 3, ["<robot/>"], object])
def test_what_is_no_source(source: object) -> None:
    with pytest.raises(bough.errors.LoadError, match="expected a path, a string with the XML, or a stream"):
        bough.load(source)  # type: ignore[arg-type]


@pytest.mark.parametrize("options", [{"root": ["a"]}, {"order": 3}, {"lock": 1.0}])
def test_what_is_no_option(options: dict[str, Any]) -> None:
    with pytest.raises(bough.errors.LoadError, match="expected"):
        bough.load(TEXT, **options)


def test_missing_files_are_named_with_their_neighbours(tmp_path: Path) -> None:
    for name in ("panda.urdf", "talos.urdf", "notes.txt"):
        (tmp_path / name).touch()
    with pytest.raises(bough.errors.LoadError, match=r"there is no file '.*pnada\.urdf'; did you mean 'panda\.urdf'\?"):
        bough.load(tmp_path / "pnada.urdf")
    with pytest.raises(bough.errors.LoadError, match=r"the folder has 'panda\.urdf', 'talos\.urdf'"):
        bough.load(tmp_path / "xyzw.urdf")
    with pytest.raises(bough.errors.LoadError, match=r"there is no folder '.*nowhere'"):
        bough.load(tmp_path / "nowhere" / "x.urdf")
    with pytest.raises(bough.errors.LoadError, match=r"no file 'ant'.*; for a robot by its name: bough\.robots\.load"):
        bough.load("ant")


def test_errors_carry_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.urdf"
    path.write_text(robot(link("a"), link("a")), encoding="utf-8")
    with pytest.raises(bough.errors.LoadError) as caught:
        bough.load(path)
    error = pickle.loads(pickle.dumps(caught.value))
    assert (error.file, error.line) == (str(path), 4)
    assert str(error) == str(caught.value) == f"{path}, line 4: link 'a': the name is taken (line 3)"


def test_packages(tmp_path: Path) -> None:
    (tmp_path / "arm" / "meshes").mkdir(parents=True)
    (tmp_path / "arm" / "meshes" / "a.stl").touch()
    (tmp_path / "secret.stl").touch()

    def mesh(reference: str, folders: object) -> str:
        shape = f'<visual><geometry><mesh filename="{reference}"/></geometry></visual>'
        return bough.load(robot(link("a", shape)), package_dirs=folders).geometries[0].file  # type: ignore[arg-type]

    found = str(tmp_path / "arm" / "meshes" / "a.stl")
    assert mesh("package://arm/meshes/a.stl", tmp_path) == found
    assert mesh("package://arm/meshes/a.stl", [str(tmp_path / "none"), str(tmp_path)]) == found
    assert mesh("package://arm/meshes/a.stl", [tmp_path / "arm"]) == found
    outside = ["package://arm/../secret.stl", "package://../secret.stl", "package://", "package://arm"]
    for kept in (
        *outside,
        "package://arm/meshes/b.stl",
        "meshes/a.stl",
        "file:///x.stl",
        "package://arm/" + "x" * 5000,
    ):
        assert mesh(kept, tmp_path) == kept


def test_load_and_save_are_functions_whatever_was_imported() -> None:
    code = "import bough.formats.urdf, bough.formats.load, bough; print(callable(bough.load), callable(bough.save))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == ["True", "True"]


# --- xacro ---

XACRO = """<?xml version="1.0"?>
<robot name="macro" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="mass" default="1"/>
  <xacro:include filename="part.xacro"/>
  <xacro:part name="base"/>
</robot>
"""
PART = """<?xml version="1.0"?>
<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:macro name="part" params="name"><link name="${name}"><inertial><mass value="${2 * $(arg mass)}"/>
  <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link></xacro:macro>
</robot>
"""


def test_xacro_is_run_only_when_asked_for(tmp_path: Path) -> None:
    (tmp_path / "robot.urdf.xacro").write_text(XACRO, encoding="utf-8")
    (tmp_path / "part.xacro").write_text(PART, encoding="utf-8")
    path = tmp_path / "robot.urdf.xacro"
    with pytest.raises(bough.errors.LoadError, match=r"line 3: this is a xacro file.*xacro_args=\{\}"):
        bough.load(path)
    assert bough.load(path, xacro_args={}, floating_base=True).mass == 2.0
    assert bough.load(path, xacro_args={"mass": 3}, floating_base=True).mass == 6.0  # type: ignore[dict-item]


def test_xacro_text_and_its_errors() -> None:
    text = XACRO.replace('  <xacro:include filename="part.xacro"/>\n', PART.split("\n", 2)[2].replace("</robot>", ""))
    assert bough.load(text, xacro_args={}, floating_base=True).mass == 2.0
    with pytest.raises(bough.errors.LoadError, match="xacro: "):
        bough.load(text.replace("2 * ", "no_such_name * "), xacro_args={})
    with pytest.raises(bough.errors.LoadError, match=r"expanded, line \d+: link 'base': the mass is -2"):
        bough.load(text, xacro_args={"mass": "-1"})


def test_without_the_package_for_xacro(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xacrodoc", None)
    with pytest.raises(bough.errors.LoadError, match=r'pip install "bough\[xacro\]"'):
        bough.load(XACRO, xacro_args={})


def test_files_written_by_xacro_are_plain() -> None:
    plain = TEXT.replace("<robot", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"')
    assert bough.load(plain) == bough.load(TEXT)
