"""What MuJoCo's compiler said of a text is kept, and it is not asked again; all else is asked each time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import bough
from bough.formats.mjcf import compiler

pytest.importorskip("mujoco")

TEXT = """<mujoco model="kept"><worldbody><body name="b"><joint name="j" damping="0.1" range="-1 1" limited="true"/>
<geom size="0.1"/></body></worldbody></mujoco>"""
BROKEN = TEXT.replace('size="0.1"', 'size="-0.1"')
MESH = TEXT.replace("<worldbody>", '<asset><mesh name="m" file="m.obj"/></asset><worldbody>')
MESH = MESH.replace('<geom size="0.1"/>', '<geom type="mesh" mesh="m"/>')
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the compiler was asked, with an empty cache."""
    monkeypatch.setenv("BOUGH_CACHE_DIR", str(tmp_path / "cache"))
    seen: list[Any] = []
    apart, here = compiler.ask_apart, compiler.ask

    def noting(requests: Any) -> Any:
        seen.extend(requests)
        return apart(requests)

    def noting_here(request: Any) -> Any:
        seen.append(request)
        return here(request)

    monkeypatch.setattr(compiler, "ask_apart", noting)
    monkeypatch.setattr(compiler, "ask", noting_here)
    return seen


@pytest.mark.parametrize("trusted", [False, True])
def test_a_text_is_asked_about_once(asked: list[Any], trusted: bool) -> None:
    first = bough.load(TEXT, trusted=trusted)
    assert len(asked) == 1
    assert bough.load(TEXT) == first
    assert bough.load(TEXT, trusted=True) == first
    assert len(asked) == 1
    other = bough.load(TEXT.replace("0.1", "0.2"))
    assert other != first
    assert len(asked) == 2


def test_what_is_refused_is_not_kept(asked: list[Any]) -> None:
    for _ in range(2):
        with pytest.raises(bough.errors.LoadError):
            bough.load(BROKEN)
    assert len(asked) == 2


def test_damaged_answers_are_asked_for_again(asked: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    first = bough.load(TEXT)
    for damaged in (b"", b"{", b"[]", b'{"name": "kept"}', b"\xff"):
        monkeypatch.setattr(compiler.cache, "load", lambda key, damaged=damaged: damaged)
        assert bough.load(TEXT) == first
    assert len(asked) == 6


def test_files_are_read_each_time(asked: list[Any], tmp_path: Path) -> None:
    (tmp_path / "m.obj").write_text(TETRAHEDRON)
    path = tmp_path / "robot.xml"
    path.write_text(MESH)
    first = bough.load(path)
    (tmp_path / "m.obj").write_text(TETRAHEDRON.replace("v 0 0 1", "v 0 0 2"))
    assert bough.load(path) != first
    assert len(asked) == 2


def test_models_of_other_files_are_asked_about_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOUGH_CACHE_DIR", str(tmp_path / "cache"))
    text = """<mujoco><asset><model name="c" file="child.xml"/></asset>
    <worldbody><frame><attach model="c" body="b" prefix="x"/></frame></worldbody></mujoco>"""
    body = '<body name="b"><joint name="j"/><geom size="0.1" mass="{}"/></body>'
    child = f"<mujoco><worldbody>{body}</worldbody></mujoco>"
    (tmp_path / "parent.xml").write_text(text)
    for mass in (1.0, 5.0):
        (tmp_path / "child.xml").write_text(child.format(mass))
        assert bough.load(tmp_path / "parent.xml", trusted=True).mass == pytest.approx(mass)
