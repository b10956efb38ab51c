"""An image of triangles on a floor, in the light of a sun and a sky."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bough.pictures.camera import Camera
from bough.pictures.floor import background, linear
from bough.pictures.raster import NO_TRIANGLE, nearest_triangles
from bough.pictures.shadow import Shadow, shadow_of
from bough.pictures.triangles import Floats, Triangles, double_area, shares

__all__ = ["render"]

Ints = NDArray[np.int64]

SUN = (0.45, -0.42, 0.79)
"""To the sun, as the camera sees it: towards the camera, to its right, and up."""

SUNLIGHT, SKYLIGHT, BOUNCED = (
    [part * x for x in linear(code)] for code, part in (("#fff4e2", 0.84), ("#dfeaf8", 0.44), ("#f0ece6", 0.26))
)
SHINE, RIM = 0.16, 0.10

TONES = np.round(255.0 * np.linspace(0.0, 1.0, 4097) ** (1 / 2.2)).astype(np.uint8)
"""Amounts of light, in equal steps, as numbers of an image."""


def render(
    triangles: Triangles,
    camera: Camera,
    *,
    floor: float | None = 0.0,
    size: float = 1.0,
    side: float = 0.5,
    fineness: int = 2,
) -> NDArray[np.uint8]:
    """The image (height, width, 3) that a camera sees, red, green and blue from 0 to 255.

    Parameters
    ----------
    triangles
        What there is.
    camera
        From where it is seen.
    floor
        Height (m) of the floor; None for none.
    size
        Of the whole (m): it decides where the floor ends.
    side
        Of the squares of the floor (m).
    fineness
        Samples for each pixel, in a row and in a column.
    """
    shadow = None
    if floor is not None and len(triangles.corners):
        shadow = shadow_of(triangles, _sun(camera), floor, 256 if camera.height * fineness <= 1200 else 512)
    light = background(camera, shadow, floor, size, side).reshape(3, -1)
    pixel, weight, surface = _surfaces(triangles, camera, shadow, floor, fineness)
    covered = np.bincount(pixel, weight, minlength=light.shape[1])
    for k in range(3):
        light[k] += np.bincount(pixel, weight * surface[k], minlength=light.shape[1]) - covered * light[k]
    image = TONES[(np.clip(light, 0.0, 1.0) * (len(TONES) - 1)).astype(np.int16)]
    return np.ascontiguousarray(image.T).reshape(camera.height, camera.width, 3)


def _sun(camera: Camera) -> Floats:
    right, _, forward = camera.axes
    towards = -np.array([forward[0], forward[1], 0.0])
    towards /= max(float(np.linalg.norm(towards)), 1e-9)
    sun = SUN[0] * towards + SUN[1] * right + np.array([0.0, 0.0, SUN[2]])
    return np.asarray(sun / np.linalg.norm(sun))


def _surfaces(
    triangles: Triangles, camera: Camera, shadow: Shadow | None, floor: float | None, fineness: int
) -> tuple[Ints, Floats, Floats]:
    """Pixels in which triangles are seen, the part of a pixel that each has, and the light (3, n) of it."""
    focus, width, height = fineness * camera.focus, fineness * camera.width, fineness * camera.height
    right, down, forward = np.ascontiguousarray(camera.seen(triangles.corners).T)  # each (corners, triangles)
    (ahead,) = np.nonzero(forward.min(axis=0) > 1e-6)
    near = 1.0 / forward[:, ahead]
    x, y = focus * right[:, ahead] * near + 0.5 * width, focus * down[:, ahead] * near + 0.5 * height
    area = double_area(x, y)
    (facing,) = np.nonzero((area < 0) | ~triangles.solid[ahead] & (area > 0))
    ahead, near, x, y = ahead[facing], near[:, facing], x[:, facing], y[:, facing]
    pixel, place, k, weight = _pieces(nearest_triangles(x, y, near, width, height), width, fineness)
    at_x, at_y = place % width + 0.5, place // width + 0.5
    part = shares(x[:, k], y[:, k], at_x, at_y) * near[:, k]
    distance = 1.0 / part.sum(axis=0)
    part *= distance
    u, v = (at_x - 0.5 * width) / focus, (at_y - 0.5 * height) / focus
    a, b, c = camera.axes
    rays = np.stack([a[d] * u + b[d] * v + c[d] for d in range(3)])
    points = np.array(camera.eye)[:, np.newaxis] + distance * rays
    corners = triangles.normals[ahead[k]]
    normals = np.stack(
        [part[0] * corners[:, 0, d] + part[1] * corners[:, 1, d] + part[2] * corners[:, 2, d] for d in range(3)]
    )
    light = _lit(points, normals, rays, (triangles.colours**2.2)[ahead[k]].T, _sun(camera), shadow)
    if floor is not None and camera.eye[2] > floor:
        weight = np.where(points[2] > floor - 1e-4, weight, 0.0)
    return pixel, weight, light


def _pieces(first: NDArray[np.int32], width: int, fineness: int) -> tuple[Ints, Ints, Ints, Floats]:
    """Pieces of pixels that show one triangle: the pixel, a sample of it, the triangle, and the part of the pixel."""
    (place,) = np.nonzero(first != NO_TRIANGLE)
    row, column = np.divmod(place, width)
    pixel = row // fineness * (width // fineness) + column // fineness
    triangle = first[place].astype(np.int64)
    # Where a sample has the triangle of the pixel's first one, it is looked at together with that.
    number = np.zeros(len(first) // fineness**2, dtype=np.int64)
    number[pixel[::-1]] = np.arange(len(place))[::-1]
    leader = number[pixel]
    leader = np.where(triangle == triangle[leader], leader, np.arange(len(place)))
    weight = np.bincount(leader, minlength=len(place)) / fineness**2
    (some,) = np.nonzero(weight)
    return pixel[some], place[some], triangle[some], weight[some]


def _lit(points: Floats, normals: Floats, rays: Floats, colours: Floats, sun: Floats, shadow: Shadow | None) -> Floats:
    """Light (3, n) from points of surfaces: of the sun, the sky, what the floor sends back, and some shine."""
    normals = normals / np.maximum(np.sqrt((normals**2).sum(axis=0)), 1e-12)
    view = rays / -np.sqrt((rays**2).sum(axis=0))
    facing = (normals * view).sum(axis=0)
    normals = np.where(facing < 0, -normals, normals)
    towards = sun @ normals
    direct = np.clip(towards, 0.0, 1.0)
    up = 0.5 + 0.5 * normals[2]
    below = 1.0 - up
    if shadow is not None:
        direct *= 1.0 - shadow.on_surface(points) * np.clip(4.0 * towards, 0.0, 1.0)
        # Less light comes from below where the floor is near.
        below *= 0.55 + 0.45 * np.clip((points[2] - shadow.floor) / (0.25 * shadow.texel * len(shadow.top)), 0.0, 1.0)
    half = sun[:, np.newaxis] + view
    mirrored = np.clip((normals * half).sum(axis=0) / np.sqrt((half**2).sum(axis=0)), 0.0, 1.0)
    shine = SHINE * mirrored**40 * (direct > 0) + RIM * (1.0 - np.abs(facing)) ** 3 * up
    return np.stack(
        [colours[k] * (direct * SUNLIGHT[k] + up * SKYLIGHT[k] + below * BOUNCED[k]) + shine for k in range(3)]
    )
