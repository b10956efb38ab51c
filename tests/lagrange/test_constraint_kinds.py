"""Kinds of constraints: J, rates and what velocities add are derivatives of one another, on every kind of body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import bough
from bough.maximal import constraints
from bough.scalar import cos, sin, sqrt
from closeness import assert_close
from differences import derivative
from linkages import BODIES, compiled, dense_jacobian, dense_mass, kinetic_energy, move, random_position
from model_strategies import JOINTS, random_joint, random_rotation

Rng = np.random.Generator


def ellipsoid(p: Any) -> Any:
    return sqrt(p[0] * p[0] + p[1] * p[1] * 2.0 + p[2] * p[2] * 3.0) - 0.8


def parabola(p: Any) -> Any:
    return p[1] - p[0] * p[0] * 0.7


def circle(t: Any) -> Any:
    return [cos(t), sin(t), t * 0.3]


@dataclass(frozen=True)
class Swing(constraints.Constraint):
    """Written outside the package: three points are in one plane with the origin. On three bodies; by errors alone."""

    most = 3
    rows = 1

    def errors(self, parameters: Any, sides: Any) -> Any:
        a, b, c = (side.point((0.1, 0.0, 0.2)) for side in sides[:3])
        cross = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
        return [cross[0] * c[0] + cross[1] * c[1] + cross[2] * c[2]]


def jointed(name: str, rng: Rng) -> constraints.Constraint:
    turns = {"rotation": random_rotation(rng), "to_rotation": random_rotation(rng)}
    return constraints.Jointed(random_joint(name, rng), at=rng.normal(size=3), to=rng.normal(size=3), **turns)


SPATIAL = ["rigid", "scaled rigid", "particle"]
FLAT = ["planar rigid", "planar particle"]

# name: kinds of its bodies to choose from, each in turn, and the constraint
CASES: dict[str, tuple[list[tuple[str, ...]], Any]] = {
    "coincident": (
        [("rigid", "scaled rigid"), ("particle", "rigid"), ("rigid",)],
        lambda rng: constraints.Coincident(rng.normal(size=3), rng.normal(size=3)),
    ),
    "coincident in the plane": (
        [("planar rigid", "planar rigid"), ("planar rigid", "planar particle"), ("planar rigid",)],
        lambda rng: constraints.Coincident(rng.normal(size=2), rng.normal(size=2), space=2),
    ),
    "angle": ([("planar rigid", "planar rigid"), ("planar rigid",)], lambda rng: constraints.Angle(2.5)),
    "distance": (
        [("rigid", "rigid"), ("scaled rigid", "particle"), ("particle", "particle"), ("particle",), ("planar rigid",)],
        lambda rng: constraints.Distance(1.3, rng.normal(size=3), rng.normal(size=3)),
    ),
    "plane": (
        [("rigid",), ("particle", "rigid"), ("scaled rigid", "world"), ("planar rigid", "planar rigid")],
        lambda rng: constraints.OnPlane([*rng.normal(size=2), 0.0], 0.2, rng.normal(size=3)),
    ),
    "surface": (
        [("rigid",), ("particle", "rigid"), ("scaled rigid", "rigid")],
        lambda rng: constraints.OnSurface(ellipsoid, rng.normal(size=3)),
    ),
    "curve": (
        [("planar rigid",), ("planar particle", "planar rigid")],
        lambda rng: constraints.OnSurface(parabola, rng.normal(size=2)),
    ),
    "path": ([("rigid",), ("scaled rigid",), ("particle",)], lambda rng: constraints.Path(circle, rng.normal(size=3))),
    "skate": (
        [("planar rigid",), ("rigid",)],
        lambda rng: constraints.Skate([*rng.normal(size=2), 0.0], rng.normal(size=3)),
    ),
    "rolling ball": (
        [("rigid",), ("scaled rigid", "rigid"), ("rigid", "scaled rigid"), ("rigid", "world")],
        lambda rng: constraints.Rolling(0.4, normal=rng.normal(size=3), offset=0.1, at=0.1 * rng.normal(size=3)),
    ),
    "rolling disc": (
        [("rigid", "scaled rigid"), ("rigid", "rigid"), ("rigid",)],
        lambda rng: constraints.Rolling(0.4, axis=rng.normal(size=3), normal=rng.normal(size=3), offset=-0.2),
    ),
    "rolling wheel": (
        [("planar rigid", "planar rigid"), ("planar rigid",)],
        lambda rng: constraints.Rolling(0.4, normal=rng.normal(size=2), at=(0.1, 0.2), space=2),
    ),
    "ratio": (
        [("rigid", "rigid"), ("planar rigid", "planar rigid"), ("rigid", "rigid", "scaled rigid")],
        lambda rng: constraints.SpeedRatio(-1.7, rng.normal(size=3), rng.normal(size=3)),
    ),
    "coupled": (
        [("rigid", "rigid", "rigid"), ("rigid", "world", "rigid")],
        lambda rng: constraints.Coupled(
            jointed("revolute", rng), jointed("helical", rng), 0.3 * rng.normal(size=3), 0.1, 0.2, other_on=(0, 2)
        ),
    ),
    "held": ([("rigid", "rigid"), ("world", "rigid")], lambda rng: constraints.Coupled(jointed("prismatic", rng))),
    "contact": (
        [("rigid",), ("rigid", "rigid"), ("scaled rigid", "rigid"), ("particle", "scaled rigid"), ("particle",)],
        lambda rng: constraints.Contact(0.3, rng.normal(size=3), 0.1, rng.normal(size=3)),
    ),
    "rope": ([("rigid", "particle")], lambda rng: constraints.AtMost(constraints.Distance(1.0, at=(0.1, 0.2, 0.3)))),
    "three bodies": ([("rigid", "particle", "scaled rigid"), ("rigid", "particle", "rigid")], lambda rng: Swing()),
    **{f"{name} joint": ([("rigid", "rigid")], lambda rng, name=name: jointed(name, rng)) for name in JOINTS},
    "joint on the world": ([("world", "rigid"), ("rigid", "world")], lambda rng: jointed("universal", rng)),
}
ALL = [(name, on) for name, (choices, _) in CASES.items() for on in choices]
OTHERS = [(name, CASES[name][0][-1]) for name in CASES if "joint" not in name and name not in ("contact", "rope")]
MOVED = (
    "coincident",
    "distance",
    "surface",
    "skate",
    "rolling disc",
    "rolling wheel",
    "ratio",
    "coupled",
    "universal joint",
)


def linkage_of(name: str, on: tuple[str, ...], rng: Rng, gravity: Any = (0.0, 0.0, -9.81)) -> bough.maximal.Linkage:
    names = [kind if kind == "world" else f"{kind} {k}" for k, kind in enumerate(on)]
    bodies = {label: BODIES[kind](rng) for label, kind in zip(names, on, strict=True) if kind != "world"}
    return bough.maximal.Linkage(bodies, {"it": (CASES[name][1](rng), *names)}, gravity)


def placed(linkage: bough.maximal.Linkage, rng: Rng, time: float = 0.0) -> Any:
    """A random position that meets the constraint."""
    for _ in range(20):
        x = random_position(linkage, rng, reach=0.6)
        if any(tie.constraint.one_sided for tie in linkage.layout.ties):
            return x
        try:
            return linkage.project(x, time)
        except bough.errors.AssemblyError:
            continue
    raise AssertionError("no position was found")


@pytest.mark.parametrize(("name", "on"), ALL, ids=lambda x: x if isinstance(x, str) else "-".join(x))
def test_terms_are_derivatives_of_one_another(name: str, on: tuple[str, ...], rng: Rng) -> None:
    linkage = linkage_of(name, on, rng)
    time = 0.4
    x, v = placed(linkage, rng, time), rng.normal(size=linkage.nv)
    clock = name == "path"
    explicit = linkage.rates(x, np.zeros(linkage.nv), time)
    assert clock or not explicit.any()
    # rates are J v, and where there are errors, how these change
    rates = linkage.rates(x, v, time)
    J = dense_jacobian(linkage, linkage.terms(x, v, time=time))
    assert_close(J @ v + explicit, rates, 1e-12, scale=1.0)
    h = 5e-4
    changing = derivative(lambda t: linkage.errors(linkage.integrate(x, t * v), time + t * clock), h)
    held = np.count_nonzero(np.abs(changing) > 0)
    assert_close(changing[:held], rates[:held], 1e-8, scale=1.0)
    assert "rolling" in name or "contact" in name or held in (0, linkage.nc) or held >= linkage.nc - 1
    # what velocities add to accelerations: c without stabilisation
    v = linkage.impulses(x, v, time=time).motion if "joint" in name else v
    t = linkage.terms(x, v, time=time, time_constant=np.inf)
    c = np.concatenate([t.c, t.auxiliary_c])
    bias = derivative(lambda s: linkage.rates(linkage.integrate(x, s * v), v, time + s * clock), h)
    assert_close(c, bias, 1e-8, scale=1.0)


@pytest.mark.parametrize(("name", "on"), OTHERS, ids=lambda x: x if isinstance(x, str) else "-".join(x))
def test_accelerations_impulses_and_first_order(name: str, on: tuple[str, ...], rng: Rng) -> None:
    """The equations of each level hold, term by term, against dense matrices."""
    linkage = linkage_of(name, on, rng)
    x, v, force = placed(linkage, rng), rng.normal(size=linkage.nv), rng.normal(size=linkage.nv)
    terms = linkage.terms(x, v, force)
    M, J = dense_mass(terms), dense_jacobian(linkage, terms)
    e, rates, explicit = linkage.errors(x), linkage.rates(x, v), linkage.rates(x, np.zeros(linkage.nv))
    c = np.concatenate([terms.c, terms.auxiliary_c])
    found = linkage.accelerations(x, v, force)
    a, lam, conflicts = found.motion, found.loop_forces, found.conflicts
    assert not conflicts
    assert_close(M @ a, J.T @ lam + terms.force, 1e-11, scale=np.abs(terms.force).max())
    assert_close(J @ a, -c, 1e-10, scale=max(np.abs(c).max(initial=1.0), np.abs(a).max()))
    found = linkage.impulses(x, v, force)
    after, j = found.motion, found.loop_forces
    assert_close(M @ (after - v), J.T @ j + force, 1e-11, scale=1.0)
    assert_close(J @ after, -explicit, 1e-11, scale=1.0)
    found = linkage.first_order(x, force, time_constant=0.2)
    slow, lam = found.motion, found.loop_forces
    assert_close(M @ slow, J.T @ lam + force, 1e-11, scale=1.0)
    assert_close(J @ slow, -explicit - e / 0.2, 1e-9, scale=1.0)
    constraint = linkage.layout.ties[0].constraint
    held = len(constraint.errors(constraint.parameters, sides(linkage, x)))
    undamped = linkage.terms(x, v, force, time_constant=np.inf)
    damping = np.where(np.arange(linkage.nc) < held, 2.0, 1.0) * rates / 0.05
    assert_close(c, np.concatenate([undamped.c, undamped.auxiliary_c]) + damping + e / 0.05**2, 1e-8, scale=1.0)


def sides(linkage: bough.maximal.Linkage, x: Any) -> Any:
    """The sides of the only constraint, on floats."""
    return linkage.layout.tie_groups[0].sides(0, x.tolist(), [0.0] * linkage.nv, 0.0)


@pytest.mark.parametrize("name", MOVED)
def test_constraints_do_no_work(name: str, rng: Rng) -> None:
    """Energy stays as it is without gravity, and what held at first holds later, without any stabilisation."""
    linkage = linkage_of(name, CASES[name][0][0], rng, gravity=(0.0, 0.0, 0.0))
    x = placed(linkage, rng)
    v = linkage.impulses(x, 0.5 * rng.normal(size=linkage.nv)).motion
    with compiled():
        after_x, after_v = move(linkage, x, v, 0.3, 40, time_constant=np.inf)
        before, after = kinetic_energy(linkage, x, v), kinetic_energy(linkage, after_x, after_v)
        assert np.abs(linkage.rates(after_x, after_v)).max(initial=0.0) < 1e-6
        assert np.abs(linkage.errors(after_x)).max(initial=0.0) < 1e-6
    assert after == pytest.approx(before, rel=1e-6)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: constraints.Distance(0.0), "distance .m. is 0.0, expected a positive number"),
        (lambda: constraints.Distance(1.0, at=(1.0,)), "point of the first body is .*two or three"),
        (lambda: constraints.Coincident(space=1), "coincident points has 1 dimensions"),
        (lambda: constraints.OnPlane(normal=(0.0, 0.0, 0.0)), "a zero vector has no direction"),
        (lambda: constraints.OnSurface("sphere"), "a surface is 'sphere', expected a function"),
        (lambda: constraints.Path(3.0), "a path is 3.0, expected a function"),
        (lambda: constraints.Rolling(-1.0), "radius of what rolls"),
        (lambda: constraints.Angle(np.inf), "an angle .rad. is inf"),
        (lambda: constraints.Contact(-0.5), "friction of a contact is -0.5"),
        (lambda: constraints.Jointed("hinge"), "joint is 'hinge', expected a joint"),
        (lambda: constraints.Jointed(bough.joints.Mimic(bough.joints.Revolute(), "a")), "motion of its own"),
        (lambda: constraints.AtLeast(constraints.Contact()), "expected a constraint that is not one-sided"),
        (lambda: constraints.SpeedRatio("fast"), "a ratio of speeds"),
    ],
)
def test_impossible_constraints_are_refused(make: Any, match: str) -> None:
    with pytest.raises(bough.errors.ModelError, match=match):
        make()
