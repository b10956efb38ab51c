"""Boxes that stand for meshes: around all of them, and touching a floor as boxes do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bough
from bough.cli import main

BRICK = np.array([[x, y, z] for x in (-0.2, 0.2) for y in (-0.1, 0.1) for z in (-0.05, 0.05)])
TURN = bough.Placement.from_rpy((0.3, 0.4, 0.5), (0.1, 0.2, 0.3))
INERTIA = '<inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'


def brick(folder: Path, purpose: str = "collision") -> Path:
    """A file of a robot whose only shape is a mesh: a brick of 0.4 m x 0.2 m x 0.1 m that lies askew in its frame."""
    corners = TURN.act(BRICK)
    facets = [
        "facet normal 0 0 0\nouter loop\n"
        + "".join("vertex {} {} {}\n".format(*corners[k]) for k in three)
        + "endloop\nendfacet\n"
        for three in ((0, 1, 2), (3, 4, 5), (5, 6, 7))
    ]
    (folder / "brick.stl").write_text("solid\n" + "".join(facets) + "endsolid\n")
    shape = f'<{purpose}><geometry><mesh filename="brick.stl"/></geometry></{purpose}>'
    (folder / "brick.urdf").write_text(f'<robot name="brick"><link name="brick">{INERTIA}{shape}</link></robot>')
    return folder / "brick.urdf"


@pytest.mark.parametrize("purpose", ["collision", "visual"])
def test_a_box_is_as_small_as_the_mesh(purpose: str, tmp_path: Path) -> None:
    model = bough.load(brick(tmp_path, purpose), floating_base=True)
    assert not bough.Scene(model).floor().pairs
    boxed = bough.simulation.with_boxes(model)
    *others, box = boxed.geometries
    assert (box.shape, box.purpose, len(others)) == ("box", "collision", purpose == "visual")
    assert sorted(box.size) == pytest.approx([0.1, 0.2, 0.4], abs=1e-6)
    assert np.abs(box.placement.inverse.act(TURN.act(BRICK))) == pytest.approx(
        0.5 * np.tile(box.size, (8, 1)), abs=1e-6
    )
    assert len(bough.Scene(boxed).floor().pairs) == 1
    assert bough.simulation.with_boxes(boxed) is boxed


def test_boxes_do_not_touch_each_other_and_missing_files_stay(tmp_path: Path) -> None:
    model = bough.load(brick(tmp_path), floating_base=True)
    assert bough.simulation.with_boxes(model).geometries[0].surface.contype == 0
    (tmp_path / "brick.stl").unlink()
    assert bough.simulation.with_boxes(model) is model


@pytest.mark.usefixtures("compiled")
def test_the_command_lets_meshes_fall_on_the_floor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    motion = tmp_path / "fall.npz"
    file = brick(tmp_path)
    assert (
        main(["simulate", str(file), "--floating", "--duration", "2", "--drop", "0.05", "--record", str(motion)]) == 0
    )
    assert "boxes stand for its meshes, which cannot touch" in capsys.readouterr().out
    model = bough.simulation.with_boxes(bough.load(file, floating_base=True))
    end = bough.Trajectory.load(motion, model, strict=False).q[-1]
    assert bough.simulation.lowest_point(model, end) == pytest.approx(0.0, abs=2e-3)
