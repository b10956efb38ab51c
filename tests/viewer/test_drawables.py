"""What is drawn of a model: surfaces that enclose what they stand for, and something for whatever is missing."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import bough
from bough.cost.pattern import segments
from bough.viewer.drawables import GREY, Drawable, Triangles, drawables
from bough.viewer.simplify import simplified

CORNERS = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))
FACES = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
STL = "solid\n" + "".join(
    "facet normal 0 0 0\nouter loop\n"
    + "".join("vertex {} {} {}\n".format(*CORNERS[k]) for k in face)
    + "endloop\nendfacet\n"
    for face in FACES
) + "endsolid\n"  # fmt: skip
"""A tetrahedron of volume 1/6."""


def volume(shape: Drawable) -> float:
    """By the theorem of Gauss: positive if the triangles are seen from outside."""
    a, b, c = np.moveaxis(shape.corners[shape.triangles.faces], 1, 0)
    return float((np.cross(a, b) * c).sum() / 6)


def with_shape(shape: str, size: tuple[float, ...], **options: object) -> bough.Model:
    b = bough.Builder("one")
    b.add("body", bough.joints.Revolute("z"), inertia=bough.Inertia.ellipsoid((0.1, 0.2, 0.3), mass=2.0))
    b.geometry("body", shape, size, at=(1, 2, 3), rpy=(0.3, 0.4, 0.5), **options)  # type: ignore[arg-type]
    return b.build()


@pytest.mark.parametrize(
    ("shape", "size", "expected"),
    [
        ("box", (1.0, 2.0, 3.0), 6.0),
        ("sphere", (2.0,), 32 / 3 * math.pi),
        ("ellipsoid", (1.0, 2.0, 3.0), 8 * math.pi),
        ("cylinder", (2.0, 3.0), 12 * math.pi),
        ("capsule", (2.0, 3.0), 12 * math.pi + 32 / 3 * math.pi),
    ],
)
def test_a_shape_encloses_its_volume(shape: str, size: tuple[float, ...], expected: float) -> None:
    (drawn,) = drawables(with_shape(shape, size)).shapes
    # a circle of 24 corners has 0.989 of the area; balls lose twice that
    assert 0.96 * expected < volume(drawn) < expected * (1 + 1e-12)
    assert drawn.corners.mean(axis=0) == pytest.approx([1, 2, 3], abs=0.01)


def test_a_body_without_shapes_is_the_ellipsoid_of_its_inertia() -> None:
    b = bough.Builder("one")
    inertia = bough.Inertia.ellipsoid((0.1, 0.2, 0.3), mass=2.0)
    b.add("body", bough.joints.Revolute("z"), inertia=inertia.placed(bough.Placement.from_rpy((1, 2, 3), (1, 0, 0))))
    (drawn,) = drawables(b.build()).shapes
    assert sorted(drawn.scale) == pytest.approx([0.1, 0.2, 0.3])
    assert 0.97 < volume(drawn) / (4 / 3 * math.pi * 0.006) < 1
    # the moments of the surface as a solid are those of the body, but for the corners
    assert drawn.corners.mean(axis=0) == pytest.approx([1, 0, 0])


def test_a_tree_without_shapes_has_bones_from_joint_to_joint() -> None:
    model = bough.trees.topologies.chain(4)
    bones = [d for d in drawables(model).shapes if d.sort == "bone"]
    assert [d.body for d in bones] == [1, 2, 3]
    for bone in bones:
        end = bone.placement.act([0, 0, 0.5 * bone.scale[2]])
        assert end == pytest.approx(model.joints[bone.body].placement.vector)


def test_limbs_have_colours_unless_shapes_have_their_own() -> None:
    model = bough.robots.load("humanoid")
    drawn = drawables(model).shapes
    limb = segments(model.tree)
    assert len({(limb[d.body - 1], d.rgba) for d in drawn if d.body}) == len(set(limb)) == 5
    assert {d.rgba for d in drawables(model, sort="collision").shapes} == {GREY}
    red = with_shape("sphere", (0.1,), rgba=(1, 0, 0, 1))
    assert [d.rgba for d in drawables(red).shapes] == [(1, 0, 0, 1)]


def test_meshes_are_read_where_they_are(tmp_path: Path) -> None:
    file = tmp_path / "part.stl"
    file.write_text(STL)
    found = drawables(with_shape("mesh", (2.0, 2.0, 2.0), file=str(file), purpose="visual", rgba=(1, 0, 0, 1)))
    (drawn,) = found.shapes
    assert (volume(drawn), drawn.rgba, found.missing) == (pytest.approx(8 / 6), (1, 0, 0, 1), ())


def test_the_unit_of_a_file_is_heeded(tmp_path: Path) -> None:
    import trimesh

    file = tmp_path / "part.dae"
    text = trimesh.Trimesh(CORNERS, FACES).export(file_type="dae").decode()
    assert "<up_axis>" in text
    file.write_text(text.replace("<up_axis>", '<unit name="cm" meter="0.01"/><up_axis>'))
    (drawn,) = drawables(with_shape("mesh", (1.0, 1.0, 1.0), file=str(file), purpose="visual")).shapes
    assert volume(drawn) == pytest.approx(1e-6 / 6)


@pytest.mark.parametrize(("text", "told"), [(None, "does not exist"), ("no mesh at all", "cannot be read")])
def test_a_mesh_that_is_missing_is_told_and_replaced(tmp_path: Path, text: str | None, told: str) -> None:
    file = tmp_path / "part.stl"
    if text is not None:
        file.write_text(text)
    model = with_shape("mesh", (1.0, 1.0, 1.0), file=str(file), purpose="visual")
    found = drawables(model)
    assert [d.sort for d in found.shapes] == ["inertia"]
    assert len(found.missing) == 1
    assert repr(str(file)) in found.missing[0]
    assert told in found.missing[0]
    b = bough.Builder.of(model)
    b.geometry("body", "box", (1.0, 1.0, 1.0), purpose="collision")
    assert [d.sort for d in drawables(b.build()).shapes] == ["collision"]


def test_shapes_of_the_world_are_drawn() -> None:
    model = bough.trees.topologies.chain(1)
    scene = bough.Scene(model).floor().box((1, 1, 1), at=(0, 0, 2), rgba=(0, 1, 0, 1))
    drawn = drawables(model, scene.shapes).shapes[-2:]
    assert [(d.body, d.sort) for d in drawn] == [(0, "plane"), (0, "collision")]
    assert drawn[1].rgba == (0, 1, 0, 1)


def test_a_coarser_box_keeps_its_edges() -> None:
    """Corners are joined where the planes around them meet: means would have rounded them off."""
    t = np.linspace(0.0, 1.0, 21)
    u, v = (x.ravel() for x in np.meshgrid(t, t))
    k = np.arange(20 * 20)
    a = k // 20 * 21 + k % 20
    quads = np.concatenate([np.stack([a, a + 1, a + 22], 1), np.stack([a, a + 22, a + 21], 1)])
    sides = [
        np.roll(np.stack([u, v, np.full_like(u, end)], 1), turn, axis=1) for end in (0.0, 1.0) for turn in range(3)
    ]
    box = Triangles(np.concatenate(sides), np.concatenate([quads + 441 * i for i in range(6)]).astype(np.int32))
    coarse = simplified(box, len(box.faces) // 10)
    assert 0 < len(coarse.faces) <= len(box.faces) // 10
    inside = np.abs(coarse.corners - 0.5).max(axis=1)
    assert inside == pytest.approx(0.5, abs=1e-3)  # all on the surface
    assert np.ptp(coarse.corners, axis=0) == pytest.approx(1.0, abs=1e-3)
