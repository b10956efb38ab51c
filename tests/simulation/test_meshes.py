"""Meshes touch with their convex hulls: read from files, with few corners, and told of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bough

pytest.importorskip("trimesh")

pytestmark = pytest.mark.usefixtures("compiled")

CUBE = [[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
CUBE_FACES = [(1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4)]


def cube_file(folder: Path) -> str:
    """A cube of length 2 around (0, 0, 5)."""
    lines = [f"v {x} {y} {z + 5}" for x, y, z in CUBE] + [f"f {a} {b} {c} {d}" for a, b, c, d in CUBE_FACES]
    path = folder / "cube.obj"
    path.write_text("\n".join(lines))
    return str(path)


def ball_file(folder: Path, corners: int) -> str:
    """Triangles between points on a sphere of radius 1."""
    points = np.random.default_rng(0).standard_normal((corners, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in points.tolist()]
    path = folder / "ball.obj"
    path.write_text("\n".join([*lines, *(f"f {k} {k + 1} {k + 2}" for k in range(1, corners - 1))]))
    return str(path)


def block(shape: str, size: tuple[float, ...], file: str = "", at: tuple[float, ...] = (0.0, 0.0, 0.0)) -> bough.Model:
    b = bough.Builder("block")
    b.add("block", bough.joints.Free(), inertia=bough.Inertia.box((0.4, 0.2, 0.1), mass=2.0))
    b.geometry("block", shape, size, at=at, file=file)
    return b.build()


def test_a_mesh_of_a_box_is_a_box(tmp_path: Path) -> None:
    """Its own origin is far from its corners; factors along the axes make it a box. It falls and rests as the box."""
    mesh = block("mesh", (0.2, 0.1, 0.05), cube_file(tmp_path), (0.0, 0.0, -0.25))
    box = block("box", (0.4, 0.2, 0.1))
    q = np.array([0.0, 0.0, 0.06, 0.0, 0.0, 0.0, 1.0])
    ends = []
    for model in (mesh, box):
        scene = bough.Scene(model).floor()
        assert bough.simulation.lowest_point(model, q) == pytest.approx(0.01, abs=1e-12)
        run = bough.Simulation(scene).run(q, np.array([0.3, 0.1, 0, 0, 0, 0.5]), duration=1.0)
        ends.append(np.concatenate([run.q[-1], run.v[-1]]))
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-9)
    assert abs(ends[0][9]) < 1e-6  # at rest


def test_a_scene_adds_meshes(tmp_path: Path) -> None:
    """Shapes that the scene adds may be meshes too, and touch what there is a rule for."""
    file = cube_file(tmp_path)
    scene = bough.Scene(block("box", (0.4, 0.2, 0.1))).mesh(file, 3 * [0.1], name="rock", at=(0, 0, -0.5))
    assert [(p.first.name or p.first.frame, p.second.name) for p in scene.pairs] == [("block", "rock")]
    with pytest.raises(bough.errors.ModelError, match="file is 3"):
        scene.mesh(3)  # type: ignore[arg-type]
    for missing in (tmp_path / "nope.stl", str(tmp_path / "nope.stl"), tmp_path):
        with pytest.raises(bough.errors.ModelError, match=rf"there is no mesh '{tmp_path}.*', expected the path of a"):
            scene.mesh(missing)


def test_many_corners_become_few_and_it_is_told_how_well(tmp_path: Path) -> None:
    scene = bough.Scene(block("mesh", (0.1, 0.1, 0.1), ball_file(tmp_path, 2000))).floor()
    (hull,) = scene.hulls
    assert hull.corners.shape == (64, 3)
    assert hull.mesh_corners == 2000
    np.testing.assert_allclose(np.linalg.norm(hull.corners, axis=1), 0.1, rtol=1e-6)
    directions = np.random.default_rng(1).standard_normal((500, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    lacking = 0.1 - (directions @ hull.corners.T).max(axis=1)
    assert 0.5 * hull.error < lacking.max() < 1.5 * hull.error < 0.015
    assert str(hull) == f"ball.obj: 64 of 2000 corners, within {1e3 * hull.error:.2g} mm"


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    broken = tmp_path / "broken.stl"
    broken.write_text("solid nothing\nendsolid")
    for file, why in ((str(broken), "cannot be read"), ("package://gone/arm.stl", "does not exist")):
        scene = bough.Scene(block("mesh", (1, 1, 1), file)).floor()
        assert not scene.pairs
        assert not scene.hulls
        told = f"1 shape: mesh on 'block' (model.geometries[0]), its file {file!r} {why}"
        assert str(scene.left_out).startswith(told)


def test_a_robot_falls_on_a_floor_with_its_meshes() -> None:
    model = bough.robots.load("double_pendulum", floating_base=True)
    scene = bough.Scene(model, self_collision=False).floor()
    assert len(scene.hulls) == 3
    assert not scene.left_out.shapes
    q = bough.simulation.on_the_floor(scene, bough.neutral(model), 0.02)
    end = bough.Simulation(scene).run(q, duration=0.3).q[-1]
    assert -0.01 < bough.simulation.lowest_point(model, end) < 0.01
