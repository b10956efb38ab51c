"""Where shapes end: heights against points drawn on their surfaces."""

from __future__ import annotations

import numpy as np
import pytest

import bough


def model_of(shape: str, size: tuple[float, ...]) -> bough.Model:
    b = bough.Builder(shape)
    b.add("body", bough.joints.Free(), inertia=bough.Inertia.sphere(0.1, mass=1.0))
    b.geometry("body", shape, size, at=(0.1, -0.2, 0.3), rpy=(0.4, 0.5, 0.6))
    return b.build()


SURFACES = {
    "sphere": ((0.3,), lambda u, s: 0.3 * u),
    "ellipsoid": ((0.3, 0.2, 0.1), lambda u, s: u * [0.3, 0.2, 0.1]),
    "box": ((0.3, 0.2, 0.1), lambda u, s: s * [0.15, 0.1, 0.05]),
    "capsule": ((0.1, 0.4), lambda u, s: 0.1 * u + [0, 0, 0.2] * s[:, 2:]),
    "cylinder": (
        (0.1, 0.4),
        lambda u, s: np.c_[0.1 * u[:, :2] / np.linalg.norm(u[:, :2], axis=1)[:, None], 0.2 * s[:, 2]],
    ),
}


@pytest.mark.parametrize("shape", SURFACES)
def test_the_lowest_point_of_many(shape: str, rng: np.random.Generator) -> None:
    size, surface = SURFACES[shape]
    model = model_of(shape, size)
    q = bough.random(model, rng, (4,))
    u = rng.normal(size=(200_000, 3))
    u /= np.linalg.norm(u, axis=1)[:, None]
    points = surface(u, np.sign(u))
    g = model.geometries[0]
    points = points @ g.placement.matrix.T + g.placement.vector
    X = bough.placements(model, q)[:, 0]
    heights = (points @ X[:, :3, :3].transpose(0, 2, 1) + X[:, None, :3, 3])[..., 2].min(axis=1)
    low = bough.simulation.lowest_point(model, q)
    assert low.shape == (4,)
    assert (low <= heights + 1e-12).all()
    assert np.allclose(low, heights, atol=1e-3)
    stood = bough.simulation.on_the_floor(model, q, gap=0.2)
    assert np.allclose(bough.simulation.lowest_point(model, stood), 0.2)


def test_floors_that_are_high_or_steep(rng: np.random.Generator) -> None:
    model = model_of("box", (0.3, 0.2, 0.1))
    q = bough.random(model, rng, (3,))
    high = bough.simulation.on_the_floor(bough.Scene(model).floor(1.5), q, gap=0.2)
    np.testing.assert_allclose(bough.simulation.lowest_point(model, high), 1.7, rtol=1e-12)
    same = bough.simulation.on_the_floor(bough.Simulation(bough.Scene(model).floor(1.5)), q, gap=0.2)
    np.testing.assert_array_equal(same, high)
    scene = bough.Scene(model).floor(0.3, normal=(0.5, 0.2, 1.0)).floor(-9.0, name="cellar").plane(rpy=(1.7, 0, 0))
    steep = bough.simulation.on_the_floor(scene, q)
    depths = bough.Simulation(scene).contacts(steep, np.zeros(6)).depths
    np.testing.assert_allclose(depths[:, :4].max(axis=1), 0.0, atol=1e-12)


def test_what_cannot_stand() -> None:
    arm = bough.robots.load("arm")
    with pytest.raises(bough.errors.ModelError, match="does not float"):
        bough.simulation.on_the_floor(arm, bough.neutral(arm))
    quadruped = bough.robots.load("quadruped")
    with pytest.raises(bough.BoughError, match="gap"):
        bough.simulation.on_the_floor(quadruped, bough.neutral(quadruped), gap=float("nan"))


def test_a_model_without_joints_has_no_lowest_point() -> None:
    nothing = bough.Builder("nothing").build()
    assert bough.simulation.lowest_point(nothing, np.zeros(0)) == np.inf
    assert bough.simulation.lowest_point(nothing, np.zeros((2, 0))).shape == (2,)
