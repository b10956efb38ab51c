"""Kinds of bodies: masses and forces are those of the points they are made of; motion without forces keeps energy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bough
from bough.maximal import bodies
from bough.model.ties.constraint import Side, rate_along
from bough.spatial import Vector
from closeness import assert_close
from differences import derivative
from linkages import BODIES, compiled, kinetic_energy, move, random_position

GRAVITY = (1.5, -2.0, -9.0)


def of_points(kind: str, masses: Any, places: Any) -> bodies.Body:
    """The body of a kind that consists of points with mass."""
    total = float(masses.sum())
    com = masses @ places / total
    arms = places - com
    J = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, arms, strict=True))
    if kind == "rigid":
        return bodies.Rigid(total, com, J)
    if kind == "scaled rigid":
        return bodies.ScaledRigid(total, com, J)
    if kind == "planar rigid":
        return bodies.PlanarRigid(total, com[:2], J[2, 2])
    return bodies.Particle(total, space=2 if kind == "planar particle" else 3)


def state(body: bodies.Body, rng: np.random.Generator) -> Side:
    x = body.integrate(body.parameters, body.neutral(), rng.normal(size=body.nv).tolist())
    return Side(body, body.parameters, tuple(x), tuple(rng.normal(size=body.nv).tolist()))


@pytest.mark.parametrize("kind", BODIES)
def test_mass_and_forces_are_those_of_the_points_of_a_body(kind: str, rng: np.random.Generator) -> None:
    """M = Σ m JᵀJ, and by d'Alembert forces are Σ m Jᵀ (g - J̇ v): all from where points are, differentiated."""
    count = 1 if "particle" in kind else 7
    masses, places = rng.uniform(0.1, 0.5, count), rng.normal(size=(count, 3))
    if "planar" in kind:
        places[:, 2] = 0.0
    if "particle" in kind:
        places[:] = 0.0
    body = of_points(kind, masses, places)
    side = state(body, rng)
    M, f = np.zeros((body.nv, body.nv)), np.zeros(body.nv)
    for m, place in zip(masses, places.tolist(), strict=True):
        units = [Side(body, side.parameters, side.x, tuple(row)) for row in np.eye(body.nv).tolist()]
        J = np.array([unit.velocity(place) for unit in units]).T
        M += m * J.T @ J
        bias = rate_along(lambda sides, place=place: sides[0].velocity(place), (side,))
        f += m * J.T @ (np.array(GRAVITY[: body.space]) - bias)
    assert_close(np.array(body.mass(side.parameters, side.x), float), M, 1e-13, 2)
    assert_close(body.force(side.parameters, side.x, side.v, Vector(*GRAVITY)), f, 1e-13)


@pytest.mark.parametrize("kind", BODIES)
def test_rates_are_those_of_integrate(kind: str, rng: np.random.Generator) -> None:
    body = BODIES[kind](rng)
    side = state(body, rng)
    want = derivative(lambda t: body.integrate(side.parameters, side.x, [t * v for v in side.v]))
    assert_close(side.rate, want, 1e-10)
    assert len(body.neutral()) == body.nx


@pytest.mark.parametrize("kind", BODIES)
def test_a_free_body_keeps_its_energy_and_momentum(kind: str, rng: np.random.Generator) -> None:
    linkage = bough.maximal.Linkage({"body": BODIES[kind](rng)}, gravity=(0.0, 0.0, 0.0))
    x, v = random_position(linkage, rng), rng.normal(size=linkage.nv)
    if kind == "scaled rigid":
        x[7], v[6] = 1.5, 0.3
    body = linkage.layout.bodies[0]

    def momentum(x: Any, v: Any) -> Any:
        """Of the whole body, along the axes of the world."""
        own = (np.array(body.mass(body.parameters, x.tolist()), float) @ v)[: body.space]
        return body.direction(body.parameters, x.tolist(), [*own.tolist(), 0.0][:3])

    with compiled():
        after_x, after_v = move(linkage, x, v, 1.0, 200)
        energies = [kinetic_energy(linkage, *s) for s in ((x, v), (after_x, after_v))]
    assert energies[1] == pytest.approx(energies[0], rel=1e-8)
    assert_close(momentum(after_x, after_v), momentum(x, v), 1e-8)


def test_conventions_are_those_of_free_and_planar_joints(rng: np.random.Generator) -> None:
    """Positions and velocities are laid out as q and v of a model, and accelerations are the same."""
    inertia: dict[str, Any] = {"mass": 1.3, "com": (0.1, -0.2, 0.3), "inertia": (0.2, 0.3, 0.4)}
    b = bough.Builder("one", gravity=GRAVITY)
    b.add("body", bough.joints.Free(), **inertia)
    model, linkage = b.build(), bough.maximal.Linkage({"body": bodies.Rigid(**inertia)}, gravity=GRAVITY)
    q, v, force = bough.random(model, rng), rng.normal(size=6), rng.normal(size=6)
    assert_close(linkage.accelerations(q, v, force).motion, bough.aba(model, q, v, force), 1e-13)
    assert_close(linkage.integrate(q, v), bough.integrate(model, q, v), 1e-14)
    b = bough.Builder("flat", gravity=GRAVITY)
    b.add("body", bough.joints.Planar(), mass=1.3, com=(0.1, -0.2, 0.0), inertia=(0.2, 0.2, 0.3))
    model, linkage = (
        b.build(),
        bough.maximal.Linkage({"body": bodies.PlanarRigid(1.3, (0.1, -0.2), 0.3)}, gravity=GRAVITY),
    )
    q, v, force = bough.random(model, rng), rng.normal(size=3), rng.normal(size=3)
    assert_close(linkage.accelerations(q, v, force).motion, bough.aba(model, q, v, force), 1e-13)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: bodies.Particle(0.0), "mass of a particle is 0.0, expected a positive"),
        (lambda: bodies.Particle("heavy"), "mass of a particle is 'heavy'"),
        (lambda: bodies.Particle(space=4), "4 dimensions, expected 2 or 3"),
        (lambda: bodies.Rigid(1.0, inertia=(1.0, 1.0, 0.0)), "expected three positive ones"),
        (lambda: bodies.Rigid(1.0, inertia=(1.0, 1.0, 9.0)), "triangle inequality"),
        (lambda: bodies.PlanarRigid(1.0, (0.0, 0.0, 0.0)), "expected two finite numbers"),
        (lambda: bodies.PlanarRigid(1.0, inertia=-1.0), "expected a positive number"),
    ],
)
def test_impossible_bodies_are_refused(make: Any, match: str) -> None:
    with pytest.raises(bough.errors.ModelError, match=match):
        make()


@pytest.mark.parametrize("kind", [kind for kind in BODIES if "particle" not in kind])
def test_the_point_at_a_position_is_where_it_is_said_to_be_and_moves_as_it_does(
    kind: str, rng: np.random.Generator
) -> None:
    body = BODIES[kind](rng)
    side = state(body, rng)
    place = rng.normal(size=3).tolist() if body.space == 3 else [*rng.normal(size=2).tolist(), 0.0]
    position = side.point(place)
    assert_close(body.place(side.parameters, side.x, position), place[: body.space], 1e-13)

    def after(t: float) -> Any:
        x = body.integrate(side.parameters, side.x, [t * s for s in side.v])
        return np.array(body.point(side.parameters, x, place))

    moved = derivative(after, 1e-3)
    assert_close(side.velocity_at(position), moved, 1e-8)
