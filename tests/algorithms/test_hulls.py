"""Convex hulls on planes: the deepest corner and the normal are MuJoCo's, and the points hold a face that lies."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from bough.algorithms.narrow_phase import APART, Corners, contact_points, may_touch
from bough.backends.reference import ReferenceKernel
from bough.program import trace
from bough.scalar import leaves
from bough.spatial import Matrix, Transform, Vector
from mujoco_contacts import random_turn

FLOOR = ("plane", (0.0, 0.0))


def place(R: np.ndarray, p: np.ndarray) -> Transform:
    return Transform(Matrix.of_rows(R.tolist()), Vector.of(p.tolist()))


def ball_of_corners(rng: np.random.Generator, count: int) -> np.ndarray:
    points = rng.standard_normal((count, 3))
    return points / np.linalg.norm(points, axis=1)[:, None] * [0.3, 0.2, 0.1]


def test_the_deepest_corner_and_the_normal_are_mujocos(rng: np.random.Generator) -> None:
    corners = ball_of_corners(rng, 30)
    text = " ".join(repr(float(x)) for x in corners.ravel())
    m = mujoco.MjModel.from_xml_string(
        f"<mujoco><asset><mesh name='hull' vertex='{text}'/></asset><worldbody><body mocap='true'>"
        "<geom type='plane' size='1 1 1'/></body><body><freejoint/><geom type='mesh' mesh='hull'/></body>"
        "</worldbody></mujoco>"
    )
    d, hull = mujoco.MjData(m), ("mesh", Corners.of(corners).vertices)
    for _ in range(100):
        R1, p1, R2 = random_turn(rng), rng.uniform(-1, 1, 3), random_turn(rng)
        p2 = p1 + R1 @ [*rng.uniform(-1, 1, 2), rng.uniform(0.0, 0.2)]
        d.mocap_pos[0], d.qpos[:3] = p1, p2
        mujoco.mju_mat2Quat(d.mocap_quat[0], R1.ravel())
        mujoco.mju_mat2Quat(d.qpos[3:], R2.ravel())
        mujoco.mj_fwdPosition(m, d)
        points = contact_points(FLOOR, place(R1, p1), hull, place(R2, p2))
        deepest = min(points, key=lambda p: p.distance)
        assert deepest is points[0]
        assert (d.ncon > 0) == (deepest.distance < 0)
        if d.ncon:
            theirs = d.contact[int(np.argmin(d.contact.dist))]
            assert abs(theirs.dist - deepest.distance) < 1e-7  # MuJoCo keeps corners in single precision
            np.testing.assert_allclose(leaves(deepest.axes[0]), theirs.frame[:3], atol=1e-12)
            np.testing.assert_allclose(leaves(deepest.point), theirs.pos, atol=1e-6)


@pytest.mark.parametrize("sides", [3, 4, 5, 6, 12, 30])
def test_a_face_that_lies_is_held_around_its_middle(rng: np.random.Generator, sides: int) -> None:
    """Whatever rounding makes of its corners, the contact points are the same, and around the centre."""
    angles = 0.3 + 2 * np.pi * np.arange(sides) / sides
    rim = np.column_stack([np.cos(angles), np.sin(angles)]) * 0.1
    corners = np.concatenate([np.column_stack([rim, np.full(sides, z)]) for z in (0.1, -0.1)])
    hull, found = ("mesh", Corners.of(corners).vertices), []
    for _ in range(5):
        away = np.append(rng.uniform(-1, 1, 2), 0.099)
        tilt = np.eye(3) + 1e-12 * np.cross(np.eye(3), rng.standard_normal(3))
        points = contact_points(FLOOR, place(np.eye(3), np.zeros(3)), hull, place(tilt, away))
        there = [np.subtract(leaves(p.point), away) for p in points if p.distance != APART]
        assert all(abs(p.distance + 0.001) < 1e-10 for p in points if p.distance != APART)
        found.append(np.array(there))
    assert len(found[0]) == min(sides, 4)
    for one in found[1:]:
        np.testing.assert_allclose(one, found[0], atol=1e-10)
    order = found[0][:, :2]
    turns = [a[0] * b[1] - a[1] * b[0] for a, b in zip(order, np.roll(order, -1, axis=0), strict=True)]
    assert min(np.sign(turns[0]) * np.array(turns)) > 0  # the centre is on the same side of all edges


def test_an_edge_has_two_points_and_a_corner_one() -> None:
    corners = np.array([[x, y, z] for x in (-0.2, 0.2) for y in (-0.1, 0.1) for z in (-0.1, 0.1)])
    hull = ("mesh", Corners.of(corners).vertices)
    c, s = np.cos(0.5), np.sin(0.5)
    about_x = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
    about_y = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    for R, expected in ((np.eye(3), 4), (about_x, 2), (about_y @ about_x, 1)):
        height = -(corners @ R.T)[:, 2].min() - 1e-3
        points = contact_points(FLOOR, place(np.eye(3), np.zeros(3)), hull, place(R, np.array([0.0, 0.0, height])))
        near = [p for p in points if p.distance < 0.01]
        assert len(near) == expected
        np.testing.assert_allclose([p.distance for p in near], -1e-3, atol=1e-12)


def test_programs_and_floats_agree(rng: np.random.Generator) -> None:
    """Loops over corners stay loops in programs, and find the same."""
    hull = ("mesh", Corners.of(ball_of_corners(rng, 20)).vertices)

    def transform(x: object) -> Transform:
        rows = [[x[3 * i + j] for j in range(3)] for i in range(3)]  # type: ignore[index]
        return Transform(Matrix.of_rows(rows), Vector.of([x[k] for k in (9, 10, 11)]))  # type: ignore[index]

    def rule(X: object) -> dict[str, object]:
        points = contact_points(FLOOR, transform([1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]), hull, transform(X))
        return {"points": [leaf for p in points for leaf in leaves(p)]}

    places = [[*random_turn(rng).ravel(), *rng.uniform(-1, 1, 2), rng.uniform(-0.1, 0.4)] for _ in range(20)]
    program = trace("hull", rule, {"X": 12})
    assert len(program.body) < 300
    out = np.empty((20, 4 * 13))
    ReferenceKernel(program)({"X": np.array(places)}, {"points": out})
    np.testing.assert_allclose(out, [rule(x)["points"] for x in places], atol=1e-14)


def test_what_may_not_touch_does_not(rng: np.random.Generator) -> None:
    hull = ("mesh", Corners.of(ball_of_corners(rng, 20)).vertices)
    far = 0
    for _ in range(30):
        X1, X2 = (place(random_turn(rng), rng.uniform(-0.5, 0.5, 3)) for _ in range(2))
        near = contact_points(FLOOR, X1, hull, X2)[0].distance
        assert may_touch(FLOOR, X1, hull, X2, near + 1e-12)
        far += not may_touch(FLOOR, X1, hull, X2)
    assert far > 2
