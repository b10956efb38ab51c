"""Shapes on bodies: read, checked, part of a model, no part of its dynamics."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import bough
from bough.model import Mechanism


def pendulum() -> bough.Builder:
    builder = bough.Builder("pendulum")
    builder.add("rod", bough.joints.Revolute("y"), mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.001))
    builder.frame("tip", "rod", at=(0, 0, -1))
    return builder


def test_a_geometry_is_placed_in_its_body() -> None:
    builder = pendulum()
    builder.geometry("tip", "box", (1, 2, 3), at=(0, 0, -0.5), name="weight", rgba=(1, 0, 0, 1))
    (g,) = builder.build().geometries
    assert (g.name, g.frame, g.body, g.shape, g.size, g.purpose) == ("weight", "tip", 1, "box", (1, 2, 3), "collision")
    assert g.placement.origin == (0.0, 0.0, -1.5)
    assert g.rgba == (1, 0, 0, 1)


def test_geometries_belong_to_the_model_but_not_to_its_dynamics() -> None:
    builder = pendulum()
    bare = builder.build()
    builder.geometry("world", "plane", (np.inf, np.inf), purpose="visual")
    dressed = builder.build()
    assert bare != dressed
    assert Mechanism(bare).digest == Mechanism(dressed).digest
    again = pickle.loads(pickle.dumps(dressed))
    assert again == dressed
    assert again.geometries == dressed.geometries


@pytest.mark.parametrize(
    ("body", "shape", "size", "options", "message"),
    [
        ("rot", "box", (1, 1, 1), {}, "did you mean 'rod'"),
        ("rod", "box", (1, 1, 1), {"triangles": [range(9)]}, "triangles are .*, expected none for a box"),
        ("rod", "mesh", (1, 1, 1), {"triangles": [range(8)]}, r"triangles have shape \(1, 8\), expected rows of nine"),
        ("rod", "mesh", (1, 1, 1), {"triangles": [range(9)], "file": "a.stl"}, "file is 'a.stl', expected"),
        ("rod", "bax", (1, 1, 1), {}, "did you mean 'box'"),
        ("rod", "box", (1, 1), {}, "expected 3 numbers: lengths"),
        (
            "rod",
            "sphere",
            -1.0,
            {},
            "a geometry of 'rod': the radius of a sphere is -1 m: negative, expected a positive",
        ),
        (
            "rod",
            "plane",
            (2, -1),
            {"name": "p"},
            "'p' of 'rod': the lengths along x and y of a plane are 2, -1 m",
        ),
        ("rod", "sphere", np.inf, {}, "expected 1 number: radius"),
        ("rod", "sphere", "big", {}, "expected radius"),
        ("rod", "mesh", (1, 1, 1), {}, "the file of a mesh"),
        ("rod", "box", (1, 1, 1), {"file": "box.stl"}, "none for other shapes"),
        ("rod", "sphere", 1.0, {"rgba": (1, 1, 2, 1)}, "each 0 to 1"),
        ("rod", "sphere", 1.0, {"rgba": (1, 1, 1)}, "each 0 to 1"),
        ("rod", "sphere", 1.0, {"purpose": "colision"}, "did you mean 'collision'"),
    ],
)
def test_wrong_geometries_are_refused(body: str, shape: str, size: Any, options: dict[str, Any], message: str) -> None:
    builder = pendulum()
    with pytest.raises(bough.BoughError, match=message):
        builder.geometry(body, shape, size, **options)
    assert builder.build().geometries == ()


def test_whole_placements_and_inertias() -> None:
    from bough.model import Inertia, Placement

    at = Placement.of(np.eye(3), (1, 2, 3), "here")
    odd = Inertia.read(1.0, (0, 0, 0), (1, 1, 5), "odd")
    assert "triangle" in str(odd.flaw)
    builder = bough.Builder()
    builder.add("a", bough.joints.Revolute(), at=at, inertia=odd)
    model = builder.build()
    assert model.joints[0].placement == at
    assert model.bodies[0].inertia == odd
    with pytest.raises(bough.errors.ModelError, match="not both"):
        builder.add("b", bough.joints.Revolute(), at=at, rpy=(0, 0, 1))


def test_parts_of_inertias() -> None:
    from bough.model import Inertia

    one = Inertia.of(2.0, (0.1, 0.2, 0.3), (0.1, 0.2, 0.25), "one")
    other = Inertia.of(3.0, (-1, 0, 0.5), (0.3, 0.2, 0.25), "other")
    left = one.plus(other).minus(other)
    assert np.isclose(left.mass, one.mass)
    assert np.allclose(left.com, one.com)
    assert np.allclose(left.matrix, one.matrix)
    nothing = one.minus(one)
    assert nothing.mass == 0.0
    assert not nothing.matrix.any()
