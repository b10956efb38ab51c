"""The disk cache: hits need no tracing; what is corrupt, foreign or concurrent does no harm."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bough
from bough.kernel import cache, compile, functions, table
from bough.kernel import folder as folders
from bough.program import Program


@pytest.fixture
def folder(tmp_path: Path, compiled: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    bough.trees.ltdl([[1.0]], [0])  # has the launcher loaded, which is kept elsewhere
    monkeypatch.setenv("BOUGH_CACHE_DIR", str(tmp_path / "cache"))
    forget()
    return tmp_path / "cache"


def forget() -> None:
    """As if in a new process."""
    table._forget()


def ask() -> np.ndarray:  # type: ignore[type-arg]
    return bough.crba(bough.trees.topologies.chain(2), [0.1, 0.2])


def test_a_hit_needs_no_tracing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ask()
    assert cache.info().files == 1
    forget()

    def no_tracing(*args: object, **options: object) -> Program:
        raise AssertionError("traced again")

    monkeypatch.setattr(compile, "trace", no_tracing)
    np.testing.assert_array_equal(ask(), first)
    with pytest.raises(AssertionError, match="traced again"):
        bough.crba(bough.trees.topologies.chain(3), [0.1, 0.2, 0.3])


def test_options_that_are_numbers_compile_nothing_anew(folder: Path) -> None:
    builder = bough.Builder()
    for name in ("a", "b"):
        builder.add(name, bough.joints.Revolute("y"), mass=1.0, inertia=0.1)
    builder.loop("rod", bough.joints.Revolute("y"), "a", "b")
    model, still = builder.build(), np.zeros(2)
    touch = bough.contact.Contacts([("a", None)]).at([[0.0, 0, -0.1]], [[0.0, 0, 1]], mu=0.5)
    counts = set()
    for number in (0.1, 0.2, 0.3):
        bough.forward_dynamics(model, still, still, still, time_constant=number)
        bough.contact.dynamics(model, still, still, still, touch, time_constant=number)
        bough.contact.step(model, still, still, still, touch, dt=number)
        counts.add(cache.info().files)
    assert len(counts) == 1


def test_other_geometry_options_and_types_are_other_files(folder: Path) -> None:
    model = bough.trees.topologies.chain(2)
    bough.jacobian(model, [0.1, 0.2], "body 2", "LOCAL")
    bough.jacobian(model, [0.1, 0.2], "body 2", "WORLD")
    bough.jacobian(model, [0.1, 0.2], "body 1", "LOCAL")
    bough.jacobian(model, np.zeros(2, np.float32), "body 1", "LOCAL")
    builder = bough.Builder()
    builder.add("a", bough.joints.Revolute("z"), mass=1.0)
    builder.add("b", bough.joints.Revolute("z"), "a", mass=2.0)
    bough.jacobian(builder.build(), [0.1, 0.2], "b", "LOCAL")
    assert cache.info().files == 5


def test_corrupt_files_are_replaced(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ask()
    (path,) = folder.glob("*.program")
    good = path.read_bytes()
    for bad in (b"", good[:50], good[:-1], good[:60] + b"\0" + good[61:], b"x" * len(good)):
        path.write_bytes(bad)
        forget()
        np.testing.assert_array_equal(ask(), first)
        assert path.read_bytes() == good  # same input, same bits


@pytest.mark.skipif(os.name == "nt", reason="rights of POSIX")
def test_the_folder_is_private_and_an_open_one_is_not_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ask()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    forget()
    folder.chmod(0o777)
    assert not cache.info().usable
    stamp = next(folder.glob("*.program")).stat().st_mtime_ns
    ask()
    assert next(folder.glob("*.program")).stat().st_mtime_ns == stamp


def test_an_unwritable_place_is_no_error(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("BOUGH_CACHE_DIR", str(tmp_path / "file"))
    assert ask().shape == (2, 2)
    monkeypatch.setenv("BOUGH_CACHE_DIR", str(tmp_path / "file" / "below"))
    forget()
    assert ask().shape == (2, 2)
    assert cache.info().files == 0


def test_joints_from_elsewhere_are_not_stored(folder: Path) -> None:
    class Own(bough.joints.Revolute):
        """A joint whose code the cache cannot know."""

        @property
        def canonical(self) -> bough.joints.Joint:
            return self

    builder = bough.Builder()
    builder.add("a", Own("z"), mass=1.0, inertia=1.0)
    assert functions.mechanism(builder.build()).digest is None
    bough.crba(builder.build(), [0.1])
    assert cache.info().files == 0


def test_a_system_without_handles_of_folders_and_without_rights(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows: everything goes by paths."""
    monkeypatch.setattr(folders, "HAS_HANDLES", False)
    monkeypatch.setattr(folders, "HAS_RIGHTS", False)
    assert cache.info() == cache.CacheInfo(folder, True, 0, 0)
    cache.store("a" * 64, b"content")
    assert cache.load("a" * 64) == b"content"
    assert cache.info().files == 1
    assert [path.name for path in folder.iterdir()] == ["a" * 64 + ".program"]
    assert cache.clear() == 1
    folder.rmdir()
    folder.write_text("not a folder")
    cache.store("a" * 64, b"content")
    assert cache.load("a" * 64) is None
    assert cache.info().reason == f"Not a directory: {folder}"


def test_clear(folder: Path) -> None:
    ask()
    assert cache.clear() == 1
    assert cache.info().files == 0


def test_many_processes_at_once(folder: Path) -> None:
    code = "import bough; print(bough.crba(bough.trees.topologies.chain(2), [0.1, 0.2]).tolist())"
    environment = os.environ | {"BOUGH_BACKEND": "llvm", "BOUGH_CACHE_DIR": str(folder)}
    processes = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment, text=True)
        for _ in range(4)
    ]
    answers = {process.communicate()[0] for process in processes}
    assert [process.returncode for process in processes] == [0, 0, 0, 0]
    assert len(answers) == 1
    assert cache.info().files == 2  # the program, and the launcher
    assert not list(folder.glob("*.part"))


def test_what_was_used_longest_ago_makes_room(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "CACHE_ROOM", 3100)
    monkeypatch.setattr(cache, "LARGEST", 1500)
    for k, name in enumerate("abc"):
        cache.store(name * 64, bytes(900))
        os.utime(folder / f"{name * 64}.program", (k, k))
    assert cache.load("a" * 64) is not None  # used now, so b is the oldest
    cache.store("d" * 64, bytes(900))
    assert [cache.load(name * 64) is not None for name in "abcd"] == [True, False, True, True]
    cache.store("e" * 64, bytes(2000))
    assert cache.load("e" * 64) is None
