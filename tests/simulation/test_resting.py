"""Shapes without a formula rest on each other: as many contact points as hold them, no creep, the weight carried."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bough

pytestmark = pytest.mark.usefixtures("compiled")

UPRIGHT, LYING = (0.0, 0.0, 0.0, 1.0), (0.5**0.5, 0.0, 0.0, 0.5**0.5)


def body(shape: str, size: tuple[float, ...], inertia: bough.Inertia) -> bough.Model:
    b = bough.Builder(shape)
    b.add(shape, bough.joints.Free(), inertia=inertia)
    b.geometry(shape, shape, size)
    return b.build()


CAN = body("cylinder", (0.05, 0.2), bough.Inertia.cylinder(0.05, 0.2, mass=1.0))
EGG = body("ellipsoid", (0.05, 0.06, 0.04), bough.Inertia.sphere(0.05, mass=1.0))


@pytest.mark.parametrize(
    ("model", "turn", "height", "points"),
    [
        pytest.param(CAN, UPRIGHT, 0.1, 4, id="standing can"),
        pytest.param(CAN, LYING, 0.05, 2, id="lying can"),
        pytest.param(CAN, (0.1, 0.15, 0.0, 0.9675**0.5), 0.12, 4, id="can that topples back"),
        pytest.param(EGG, UPRIGHT, 0.04, 1, id="egg"),
    ],
)
def test_it_rests_on_a_box(model: bough.Model, turn: Any, height: float, points: int) -> None:
    scene = bough.Scene(model).box((1.0, 1.0, 0.2), at=(0, 0, -0.1))
    sim = bough.Simulation(scene)
    run = sim.run(np.array([0.1, 0.05, height + 1e-3, *turn]), duration=5.0)
    held = sim.contacts(run.q[-1], run.v[-1])
    assert np.count_nonzero(held.forces.any(axis=-1)) == points
    np.testing.assert_allclose(held.forces.sum(axis=0), [0.0, 0.0, 9.81], atol=1e-4)
    assert np.abs(run.v[-1]).max() < 1e-6
    assert np.abs(run.q[-1, :3] - run.q[len(run.q) // 2, :3]).max() < 1e-6  # in 2.5 s


def test_a_hull_rests_on_a_hull(tmp_path: Path) -> None:
    """A prism of twelve sides on a table, both meshes: which corners count does not change with rounding."""
    pytest.importorskip("trimesh")

    def file(name: str, corners: Any) -> str:
        lines = [f"v {x} {y} {z}" for x, y, z in corners] + [
            f"f {k} {k + 1} {k + 2}" for k in range(1, len(corners) - 1)
        ]
        (tmp_path / name).write_text("\n".join(lines))
        return str(tmp_path / name)

    b = bough.Builder("prism")
    b.add("prism", bough.joints.Free(), inertia=bough.Inertia.cylinder(0.08, 0.1, mass=1.0))
    rim = [(0.08 * np.cos(a), 0.08 * np.sin(a)) for a in np.arange(12) * np.pi / 6]
    b.geometry("prism", "mesh", (1, 1, 1), file=file("prism.obj", [(x, y, z) for x, y in rim for z in (-0.05, 0.05)]))
    table = file("table.obj", list(itertools.product((-1, 1), (-1, 1), (-0.1, 0.1))))
    sim = bough.Simulation(bough.Scene(b.build()).mesh(table, at=(0, 0, -0.1)))
    run = sim.run(np.array([0.1, 0.05, 0.08, 0.1, 0.15, 0.05, 0.965**0.5]), duration=3.0)
    held = sim.contacts(run.q[-1], run.v[-1])
    assert np.count_nonzero(held.forces.any(axis=-1)) == 4
    np.testing.assert_allclose(held.forces.sum(axis=0), [0.0, 0.0, 9.81], atol=1e-4)
    assert np.abs(run.v[-1]).max() < 1e-6
