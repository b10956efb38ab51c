"""Trajectories in files: bit for bit there and back, of the right model, and harmless whoever wrote them."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bough
from bough.joints import Free, Revolute

LoadError = bough.errors.LoadError


def robot(joint: str = "hip", mass: float = 1.0) -> bough.Model:
    b = bough.Builder("robot")
    b.add("trunk", Free(), joint_name="root", mass=5.0, inertia=0.1)
    b.add("leg", Revolute("y"), "trunk", joint_name=joint, mass=mass, com=(0, 0, -0.3), inertia=0.02)
    return b.build()


@pytest.fixture
def moved(rng: np.random.Generator) -> bough.Trajectory:
    """Random numbers, with what is easily lost: zeros with a sign, NaN with a message, very small numbers."""
    model, lead = robot(), (7, 2, 3)
    q, v = bough.random(model, rng, lead), rng.normal(size=(*lead, model.nv))
    v[0, 0, 0, :3] = -0.0, 5e-324, -np.inf
    q[3:, 1, 1] = np.frombuffer(b"\x01\0\0\0\0\0\xf8\x7f")  # a NaN with a message
    status = np.array([[0, 3, 2], [0, 1, 0]])
    return bough.Trajectory(
        model,
        np.cumsum(rng.uniform(0.01, 1, 7)),
        q,
        v,
        tau=rng.normal(size=v.shape).astype(np.float32),
        control=rng.normal(size=(*lead, 2)),
        contact_forces=rng.normal(size=(*lead, 4, 3)),
        status=status,
        taken=np.where(status, 400, 600),
        stopped=rng.uniform(size=(2, 3)),
    )


ARRAYS = ("time", "q", "v", "tau", "control", "status", "taken", "contact_forces", "stopped")


def assert_same_bits(one: bough.Trajectory, other: bough.Trajectory) -> None:
    for name in ARRAYS:
        a, b = getattr(one, name), getattr(other, name)
        if a is None:
            assert b is None
        else:
            assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes()), name


def test_there_and_back(moved: bough.Trajectory, tmp_path: Path) -> None:
    file = tmp_path / "motion.npz"
    for trajectory in (moved, moved[::2], moved.state(1, 1), moved.state([0, 1], slice(0, 0))):
        trajectory.save(file)
        found = bough.Trajectory.load(file, moved.model)
        assert_same_bits(trajectory, found)
        assert not found.q.flags.writeable
    assert [path.name for path in tmp_path.iterdir()] == ["motion.npz"]


def test_numpy_reads_it_without_pickle(moved: bough.Trajectory, tmp_path: Path) -> None:
    moved.save(tmp_path / "motion.npz")
    with np.load(tmp_path / "motion.npz", allow_pickle=False) as arrays:
        assert arrays["q"].tobytes() == moved.q.tobytes()
        assert str(arrays["format"]) == "bough trajectory 1"


def test_the_same_trajectory_is_the_same_file(moved: bough.Trajectory, tmp_path: Path) -> None:
    for name in ("a.npz", "b.npz"):
        moved.save(tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_a_file_is_written_whole_or_not_at_all(
    moved: bough.Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "motion.npz"
    moved.save(file)
    before = file.read_bytes()

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(bough.errors.SaveError, match=r"motion.npz' cannot be written: No space left"):
            moved[:3].save(file)
    assert file.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1
    for path in (tmp_path / "no folder" / "motion.npz", tmp_path, 3, b"x"):
        with pytest.raises(bough.errors.SaveError):
            moved.save(path)  # type: ignore[arg-type]


def test_of_another_model(moved: bough.Trajectory, tmp_path: Path) -> None:
    file = tmp_path / "motion.npz"
    moved.save(file)
    with pytest.raises(
        LoadError, match=r"another model: joint 1 \(name: nq, nv\) is 'hip: 1, 1' there and 'knee: 1, 1'"
    ):
        bough.Trajectory.load(file, robot("knee"), strict=False)
    with pytest.raises(LoadError, match="is 'hip: 1, 1' there and 'nothing' in model 'robot'"):
        bough.Trajectory.load(file, robot().without("leg"))
    with pytest.raises(LoadError, match=r"motion.npz: it is of another model: .* inertias, .*strict=False"):
        bough.Trajectory.load(file, robot(mass=2.0))
    heavier = bough.Trajectory.load(file, robot(mass=2.0), strict=False)
    assert_same_bits(heavier, moved)
    assert heavier.model == robot(mass=2.0)


# ---- files from elsewhere --------------------------------------------------------------------------------------------


def members(trajectory: bough.Trajectory, file: Path) -> dict[str, bytes]:
    """The arrays of the file of a trajectory, by name."""
    trajectory.save(file)
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def npy(array: Any, allow_pickle: bool = False) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asarray(array), allow_pickle=allow_pickle)
    return stream.getvalue()


def claiming(shape: tuple[int, ...], descr: str = "<f8") -> bytes:
    """An array that says that it is of some shape, and has no numbers."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": descr, "fortran_order": False, "shape": shape})
    return stream.getvalue()


class Trap:
    """What runs code when it is unpickled."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.mkdir, ("trapped",)


HOSTILE: dict[str, tuple[dict[str, bytes | None], str]] = {
    "objects": ({"q.npy": npy(np.array([Trap()], object), allow_pickle=True)}, "data type"),
    "an array larger than memory": ({"q.npy": claiming((2**40, 7))}, "should have .* bytes, but has 0"),
    "negative lengths": ({"q.npy": claiming((-1, -2)) + bytes(16)}, "cannot be read"),
    "many of nothing": ({"q.npy": claiming((2**62, 2**62, 0))}, "motion.npz"),
    "records": ({"v.npy": claiming((0,), [("a", "<f8")])}, "data type"),  # type: ignore[arg-type]
    "long texts": ({"joints.npy": npy(["x" * 10**5])}, "data type"),
    "a missing array": ({"v.npy": None}, "has no array 'v'"),
    "an unknown one": ({"w.npy": npy(1.0)}, "its member 'w.npy' is not of a trajectory"),
    "a path": ({"../v.npy": npy(1.0)}, "is not of a trajectory"),
    "no array": ({"v.npy": b"hello"}, "cannot be read"),
    "a version of the future": ({"v.npy": b"\x93NUMPY\x09\x00" + bytes(50)}, "cannot be read|version"),
    "another format": ({"format.npy": npy("bough trajectory 2")}, "its format is 'bough trajectory 2'"),
    "other shapes": ({"v.npy": npy(np.zeros((7, 2, 3, 6)))}, r"v has shape \(7, 2, 3, 6\)"),
    "a status that is none": ({"status.npy": npy(np.full((2, 3), 9))}, "status has entries from 9 to 9"),
    "times that fall": ({"time.npy": npy(np.arange(7.0)[::-1])}, "times that ascend"),
    "quaternions that are none": ({"q.npy": npy(np.ones((7, 2, 3, 8)))}, "quaternion"),
    "texts for numbers": ({"time.npy": npy(["a"] * 7)}, "data type"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_files_are_refused(
    moved: bough.Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    changes, message = HOSTILE[kind]
    arrays = members(moved, Path("motion.npz")) | changes
    with zipfile.ZipFile("motion.npz", "w") as archive:
        for name, data in arrays.items():
            if data is not None:
                archive.writestr(name, data)
    with pytest.raises(LoadError, match=message):
        bough.Trajectory.load("motion.npz", moved.model)
    assert os.listdir() == ["motion.npz"]


def test_compressed_files_are_not_unpacked(moved: bough.Trajectory, tmp_path: Path) -> None:
    arrays = members(moved, tmp_path / "motion.npz")
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in arrays.items():
            archive.writestr(name, data if name != "q.npy" else claiming((2**20, 8)) + bytes(2**23))
    with pytest.raises(LoadError, match=r"is compressed, expected a file that Trajectory.save wrote"):
        bough.Trajectory.load(tmp_path / "bomb.npz", moved.model)


def test_damaged_files_are_refused_or_the_same(
    moved: bough.Trajectory, tmp_path: Path, rng: np.random.Generator
) -> None:
    """Whatever bytes are changed, and wherever a file ends."""
    file = tmp_path / "motion.npz"
    moved.save(file)
    whole, refused = file.read_bytes(), []
    directory = len(whole) - 1200  # where most bytes say something
    for k in range(150):
        data = bytearray(whole[: int(rng.integers(len(whole)))] if k % 10 == 0 else whole)
        for place in rng.integers(directory if k % 2 else 0, len(whole), 2):
            if place < len(data):
                data[place] = rng.integers(256)
        file.write_bytes(data)
        try:
            assert_same_bits(bough.Trajectory.load(file, moved.model), moved)
        except LoadError as error:
            refused.append(error.file)
    assert len(refused) > 50
    assert set(refused) == {str(file)}


def test_what_is_no_file(moved: bough.Trajectory, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello")
    for path, message in (
        (tmp_path / "none.npz", "there is no file"),
        (tmp_path, "there is no file"),
        ("a\0b", "there is no file"),
        ("x" * 300, "there is no file"),
        (tmp_path / "text", "cannot be read: BadZipFile"),
        (3, "path is 3"),
    ):
        with pytest.raises(LoadError, match=message):
            bough.Trajectory.load(path, moved.model)  # type: ignore[arg-type]
    with pytest.raises(bough.errors.ModelError, match=r"expected a bough\.Model"):
        bough.Trajectory.load(tmp_path / "text", None)  # type: ignore[arg-type]


def test_events_go_into_files(tmp_path: Path, compiled: None) -> None:
    pendulum = bough.robots.load("pendulum")
    events = {"bottom": lambda time, q, v: q[0], "turn é": lambda time, q, v: v[0]}
    sim, file = bough.Simulation(pendulum, dt=0.01), tmp_path / "run.npz"
    for q in ([0.3], [[0.3], [0.1]]):
        run = sim.run(q, duration=1.5, events=events)
        run.save(file)
        back = bough.Trajectory.load(file, pendulum)
        assert len(run.events) >= 3
        for one, other in zip(run.events, back.events, strict=True):
            assert one[:3] == other[:3]
            assert all(a.tobytes() == b.tobytes() for a, b in zip(one[3:], other[3:], strict=True))
    with np.load(file) as members:
        parts = dict(members)
    for wrong in ({"event_q": parts["event_q"][1:]}, {"event_times": parts["event_q"]}, {"event_states": None}):
        np.savez(file, **{name: x for name, x in {**parts, **wrong}.items() if x is not None})
        with pytest.raises(LoadError, match=f"its array '{next(iter(wrong))}' is missing or does not fit"):
            bough.Trajectory.load(file, pendulum)
