"""Two smooth surfaces in contact at a point that moves: closed forms, derivatives, linkages and models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bough
from bough.errors import FiniteError, ModelError
from bough.maximal import Linkage, bodies, constraints
from bough.model.ties.body import WORLD
from bough.model.ties.constraint import Side
from closeness import assert_close

Ellipsoid, HalfSpace, Tangent = constraints.Ellipsoid, constraints.HalfSpace, constraints.Tangent

A, B, MASS, INERTIA, G = 0.5, 0.3, 1.2, 0.07, 9.81


def placed(rng: np.random.Generator) -> Any:
    turn = rng.normal(size=4)
    return [*(2.0 * rng.normal(size=3)), *(turn / np.linalg.norm(turn))]


def sides_at(xs: Any, vs: Any, h: float = 0.0) -> Any:
    """Two rigid bodies and the world, after moving on for a time."""
    kind = bodies.Rigid()
    moved = [kind.integrate(kind.parameters, list(x), list(h * v)) for x, v in zip(xs, vs, strict=True)]
    ends = [Side(kind, kind.parameters, tuple(x), tuple(v)) for x, v in zip(moved, vs, strict=True)]
    return (*ends, Side(WORLD, (), (0.0,), (1.0,)))


def egg(p: Any) -> Any:
    """Convex, and no quadric: a user's own."""
    x, y, z = p
    return (x * x * x * x + y * y + z * z * (1.0 + 0.3 * z * z) - 1.0) * 0.5


SURFACES = {
    "ellipsoids": (Ellipsoid((1.0, 0.5, 0.3)), Ellipsoid((0.4, 0.7, 1.1))),
    "an egg and a sphere": (egg, Ellipsoid(0.4)),
    "crossed cylinders": (Ellipsoid((0.3, np.inf, 0.3)), Ellipsoid((np.inf, 0.2, 0.2))),
    "an egg on a plane": (egg, HalfSpace((0.6, 0.0, 0.8), -2.5)),
}


@pytest.mark.parametrize("name", SURFACES)
def test_the_point_and_all_rates(name: str, rng: np.random.Generator) -> None:
    first, second = SURFACES[name]
    constraint = Tangent(first, second)
    xs, vs, h = [placed(rng), placed(rng)], rng.normal(size=(2, 6)), 1e-5
    sides = sides_at(xs, vs)
    p = constraint.touching(constraint.parameters, sides)
    (e,) = constraint.errors(constraint.parameters, sides)
    for side, surface in zip(sides, (first, second), strict=False):
        assert surface(side.coordinates(p)) == pytest.approx(e, abs=1e-12)
    for rates, function, digits in (
        (constraint.rates, constraint.errors, 1e-6),
        (constraint.bias, constraint.rates, 1e-5),
    ):
        there, back = (np.array(function(constraint.parameters, sides_at(xs, vs, s * h)), float) for s in (1, -1))
        assert rates(constraint.parameters, sides) == pytest.approx((there - back) / (2 * h), rel=digits)


def test_spheres_keep_their_distance(rng: np.random.Generator) -> None:
    """Two spheres in contact are two points on a rod; a sphere on a plane is a point on another."""
    two = {"a": bodies.Rigid(1.0, (0.1, 0.0, 0.2), 0.3), "b": bodies.Rigid(2.0, (0.0, 0.1, 0.0), 0.5)}
    x = np.array([*placed(rng), *placed(rng)])
    apart = x[7:10] - x[:3]
    x[7:10] = x[:3] + 0.7 * apart / np.linalg.norm(apart)
    floor = float(x[2]) - 0.4
    ways = (
        (Tangent(Ellipsoid(0.4), Ellipsoid(0.3)), Tangent(Ellipsoid(0.4), HalfSpace("z", floor), to=(0, 0, floor - 1))),
        (constraints.Distance(0.7), constraints.OnPlane("z", floor + 0.4)),
    )
    v, found = rng.normal(size=12), []
    for both, ground in ways:
        linkage = Linkage(two, {"both": (both, "a", "b"), "ground": (ground, "a")})
        assert_close(linkage.errors(x), np.zeros(2), 1e-12, scale=1.0)
        on = linkage.impulses(x, v).motion
        found.append((on, linkage.accelerations(x, on).motion))
    for tangent, rod in zip(*found, strict=True):
        assert_close(tangent, rod, 1e-9)


def rocking(angle: Any, spin: Any) -> Any:
    """The angular acceleration of an ellipse on a smooth line, the height of its centre, and that by the angle."""
    c, s = np.cos(angle), np.sin(angle)
    h = np.sqrt(A**2 * s**2 + B**2 * c**2)
    slope = (A**2 - B**2) * s * c / h
    bend = (A**2 - B**2) * (c * c - s * s) / h - slope**2 / h
    return -MASS * slope * (G + bend * spin**2) / (INERTIA + MASS * slope**2), h, slope


def test_an_ellipse_rocks_on_a_line() -> None:
    """In the plane, and as a body on a planar joint in space."""
    flat = Tangent(Ellipsoid((A, B, 1.0)), HalfSpace("y"), to=(0.0, -1.0, 0.0), space=2)
    one = {"e": bodies.PlanarRigid(MASS, inertia=INERTIA)}
    linkage = Linkage(one, {"line": (flat, "e")}, gravity=(0.0, -G))
    b = bough.Builder("ellipse", gravity=(0.0, -G, 0.0))
    b.add("e", bough.joints.Planar("z"), mass=MASS, inertia=INERTIA)
    upright = Tangent(Ellipsoid((A, B, 1.0)), HalfSpace("y"), to=(0.0, -1.0, 0.0))
    model = b.build().with_constraint("line", upright, "e")
    for angle in (0.0, 0.4, 1.2, -2.5):
        spin, (expected, h, slope) = 1.7, rocking(angle, 1.7)
        c, s = np.cos(angle), np.sin(angle)
        x, v = [0.3, h, angle], [s * slope * spin, c * slope * spin, spin]
        assert_close(linkage.errors(x), [0.0], 1e-12, scale=1.0)
        assert_close(linkage.rates(x, v), [0.0], 1e-12, scale=1.0)
        assert linkage.accelerations(x, v).motion[2] == pytest.approx(expected, abs=1e-9)
        assert bough.forward_dynamics(model, x, v, np.zeros(3))[2] == pytest.approx(expected, abs=1e-9)


def test_a_cam_on_a_tree(rng: np.random.Generator) -> None:
    """An egg-shaped cam lifts a ball on a slide: reduced and maximal coordinates agree, and it can be assembled."""
    b = bough.Builder("cam")
    b.add("cam", bough.joints.Revolute("x"), mass=2.0, com=(0.0, 0.1, 0.0), inertia=0.4)
    b.add("slide", bough.joints.Prismatic("z"), at=(0.0, 0.1, 0.0), mass=0.5, inertia=0.1)
    model = b.build().with_constraint("contact", Tangent(egg, Ellipsoid(0.2)), "cam", "slide")
    q = bough.loops.assemble(model, [0.6, 1.5], hold=["cam"])
    v = bough.loops.consistent_velocity(model, q, [2.0, 0.0])
    found = bough.forward_dynamics(model, q, v, [0.3, 0.0])
    linkage = Linkage.of(model)
    x = linkage.from_placements(bough.placements(model, q))
    force = np.array([0.0, 0.0, 0.0, 0.3, 0.0, 0.0, *np.zeros(6)])
    moved = linkage.accelerations(x, bough.velocities(model, q, v).ravel(), force).motion.reshape(-1, 6)
    assert_close(bough.maximal.joint_accelerations(model, q, v, moved), found, 1e-9)
    h = 1e-4  # along the cam the lift is a function of the angle: its second derivative beside the first
    lift = [bough.loops.assemble(model, [q[0] + s * h, q[1]], hold=["cam"], tolerance=1e-13)[1] for s in (-1, 0, 1)]
    slope, bend = (lift[2] - lift[0]) / (2 * h), (lift[2] - 2 * lift[1] + lift[0]) / h**2
    assert v[1] == pytest.approx(slope * v[0], rel=1e-6)
    assert found[1] == pytest.approx(slope * found[0] + bend * v[0] ** 2, rel=1e-4)


def test_what_is_refused() -> None:
    with pytest.raises(ModelError, match="half axes of an ellipsoid are"):
        Ellipsoid((1.0, -1.0, 1.0))
    with pytest.raises(ModelError, match="the surface of the second body is 3"):
        Tangent(Ellipsoid(1.0), 3)  # type: ignore[arg-type]


def test_centres_that_coincide_are_told() -> None:
    """There the surfaces have no direction in which to push, on a model and in a linkage."""
    b = bough.Builder("one in the other")
    for name in ("inner", "outer"):
        b.add(name, bough.joints.Free(), mass=1.0, inertia=1.0)
    model = b.build().with_constraint("touch", Tangent(Ellipsoid(1.0), Ellipsoid(1.0)), "inner", "outer")
    q, nothing, linkage = bough.neutral(model), np.zeros(12), Linkage.of(model)
    for call in (
        lambda: bough.forward_dynamics(model, q, nothing, nothing),
        lambda: bough.contact.dynamics(model, q, nothing, nothing),
        lambda: linkage.accelerations(linkage.neutral(), nothing),
    ):
        with pytest.raises(FiniteError, match=r"'touch.*' has no direction in this .*; expected points, or centres"):
            call()


def test_messages_tell_the_function_that_was_called() -> None:
    b = bough.Builder("belt")
    for name in "ab":
        b.add(name, bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
    b.equality("belt", "b", "a", (0.0, 1.0, 1.0))
    model, state = b.build(), ([0.0, 0.0], [1e200, 0.0], [0.0, 0.0])
    for further in ({}, {"full": True}, {"method": "kkt"}):
        with pytest.raises(FiniteError, match=r"^forward_dynamics: the result is not finite"):
            bough.forward_dynamics(model, *state, **further)  # type: ignore[call-overload]
    assert str(bough.function("forward_dynamics", model)).startswith("forward_dynamics(q")
