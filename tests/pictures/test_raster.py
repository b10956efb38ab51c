"""Which triangle is seen where: laws that hold whatever is drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bough.pictures import raster
from bough.pictures.camera import Camera, camera_around
from bough.pictures.raster import NO_TRIANGLE, nearest_triangles
from bough.pictures.render import render
from bough.pictures.triangles import Floats, Triangles
from bough.viewer.drawables import ball_triangles

WIDTH, HEIGHT = 60, 40


def seen(x: object, y: object, near: object) -> np.ndarray:
    x, y, near = (np.array(part, dtype=float).reshape(-1, 3).T for part in (x, y, near))
    return nearest_triangles(x, y, near, WIDTH, HEIGHT).reshape(HEIGHT, WIDTH)


def random_triangles(count: int) -> tuple[Floats, Floats, Floats]:
    rng = np.random.default_rng(3)
    middle = rng.uniform((-5, -5), (WIDTH + 5, HEIGHT + 5), size=(count, 1, 2))
    corners = middle + rng.normal(scale=12.0, size=(count, 3, 2))
    return corners[..., 0], corners[..., 1], rng.uniform(0.1, 1.0, size=(count, 3))


def test_every_sample_shows_the_nearest_triangle_that_covers_it() -> None:
    x, y, near = random_triangles(40)
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    samples = np.array([columns + 0.5, rows + 0.5, np.ones_like(rows)]).reshape(3, -1)
    best, value = np.full(WIDTH * HEIGHT, NO_TRIANGLE), np.zeros(WIDTH * HEIGHT)
    for k in range(len(x)):
        shares = np.linalg.solve(np.array([x[k], y[k], np.ones(3)]), samples)
        nearer = (shares >= 0).all(axis=0) & (near[k] @ shares > value)
        best, value = np.where(nearer, k, best), np.where(nearer, near[k] @ shares, value)
    assert np.array_equal(seen(x, y, near).ravel(), best)


def test_the_order_of_triangles_and_of_corners_does_not_matter() -> None:
    x, y, near = random_triangles(30)
    found, order = seen(x, y, near), np.random.default_rng(0).permutation(30)
    again = seen(x[order][:, ::-1], y[order][:, ::-1], near[order][:, ::-1])
    assert np.array_equal(np.where(again == NO_TRIANGLE, NO_TRIANGLE, order[again]), found)


def test_turns_give_the_same_as_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    triangles = random_triangles(50)
    together = seen(*triangles)
    monkeypatch.setattr(raster, "MOST_SAMPLES_AT_ONCE", 500)
    assert np.array_equal(seen(*triangles), together)


def test_triangles_that_share_a_side_leave_no_gap_and_no_overlap() -> None:
    rng = np.random.default_rng(1)
    middle, corners = rng.uniform(15, 25, size=2), 200.0 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    fan = [(middle, corners[k], corners[(k + 1) % 4]) for k in range(4)]
    counts = [np.count_nonzero(seen(*zip(*one, strict=True), np.ones(3)) != NO_TRIANGLE) for one in fan]
    assert sum(counts) == WIDTH * HEIGHT


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ((-30, -20, -10), (5, 20, 10)),
        ((70, 90, 80), (5, 20, 10)),
        ((5, 20, 10), (-30, -20, -10)),
        ((5, 20, 10), (60, 50, 90)),
        ((5, 20, 35), (5, 10, 15)),
        ((7, 7, 7), (3, 3, 3)),
        ((1e9, 2e9, 1.5e9), (0, 0, 30)),
    ],
    ids=["left", "right", "above", "below", "a line", "a point", "far"],
)
def test_what_is_outside_or_without_area_is_nothing(x: tuple[float, ...], y: tuple[float, ...]) -> None:
    assert (seen(x, y, (1, 1, 1)) == NO_TRIANGLE).all()


def test_no_triangles_at_all() -> None:
    assert (seen([], [], []) == NO_TRIANGLE).all()


# --- images ---


def ball(at: tuple[float, float, float], radius: float, colour: tuple[float, float, float]) -> Triangles:
    unit = ball_triangles()
    normals = unit.corners[unit.faces]
    count = len(normals)
    solid = np.ones(count, dtype=np.bool_)
    return Triangles(np.array(at) + radius * normals, normals, np.tile(colour, (count, 1)), solid)


def together(*parts: Triangles) -> Triangles:
    return Triangles(*(np.concatenate([getattr(part, name) for part in parts]) for name in vars(parts[0])))


RED, BLUE = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)


def changed(triangles: Triangles, camera: Camera) -> np.ndarray:
    """Where an image differs from that of nothing."""
    nothing = Triangles(*(getattr(triangles, name)[:0] for name in vars(triangles)))
    with_it, without = (render(x, camera, floor=None, fineness=2) for x in (triangles, nothing))
    return (with_it != without).any(axis=-1)


def test_the_silhouette_of_a_ball_has_the_area_of_its_cone() -> None:
    camera = Camera((8.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.5, 300, 300)
    across = math.tan(math.asin(1.0 / 8.0)) * camera.focus  # of the circle in the image
    found = np.count_nonzero(changed(ball((0, 0, 0), 1.0, RED), camera))
    assert found == pytest.approx(math.pi * across**2, rel=0.03)  # 24 corners have 1.1 % less, edges add a pixel


def test_the_nearer_ball_hides_the_other() -> None:
    near, far = ball((2.0, 0, 0), 0.5, RED), ball((0, 0, 0), 0.5, BLUE)
    camera = camera_around(together(near, far).corners, 120, 120, azimuth=0.0, elevation=0.0)
    for parts in ((near, far), (far, near)):
        red, _, blue = render(together(*parts), camera, floor=None)[60, 60].astype(int)
        assert red > blue + 50


def test_images_are_the_same_to_the_last_bit() -> None:
    both = together(ball((2.0, 0, 0.6), 0.5, RED), ball((0, 0, 0.6), 0.5, BLUE))
    camera = camera_around(both.corners, 160, 120)
    assert np.array_equal(render(both, camera), render(both, camera))


def test_all_that_is_framed_is_in_the_image() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        points = rng.normal(size=(30, 3)) * rng.uniform(0.1, 3.0, size=3)
        camera = camera_around(points, 200, 120, rng.uniform(-3, 3), rng.uniform(-1.4, 1.4))
        right, down, forward = camera.seen(points).T
        x, y = camera.focus * right / forward, camera.focus * down / forward
        assert forward.min() > 0
        assert np.abs(x).max() <= 100
        assert np.abs(y).max() <= 60
        assert np.abs(x).max() > 80 or np.abs(y).max() > 45
        assert abs(x.max() + x.min()) < 10  # in the middle
        assert abs(y.max() + y.min()) < 10


def test_a_shadow_darkens_the_floor_below_and_nothing_far_away() -> None:
    one = ball((0, 0, 0.6), 0.5, RED)
    camera = camera_around(np.array([[-2.0, -2, 0], [2, 2, 2]]), 160, 120)
    lit, dim = (render(x, camera, size=3.0).astype(int) for x in (together(one, one), one))
    assert np.array_equal(lit, dim)  # twice the same thing looks like it once
    without = render(Triangles(*(getattr(one, name)[:0] for name in vars(one))), camera, size=3.0).astype(int)
    darker = (without - dim).sum(axis=-1)
    assert darker.max() > 100
    assert np.count_nonzero(darker[:20]) == 0  # the sky
