"""Linkages: three levels, drift, projection, loops that contradict, one-sided constraints, kinds of users, borders."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest

import bough
from bough.kernel.compile import build
from bough.kernel.maximal import linkage_programs
from bough.lagrange import linkage as algorithm
from bough.lagrange.forest import choose_primary
from bough.maximal import bodies, constraints
from bough.program import count
from bough.scalar import absolute, cos, sqrt
from closeness import assert_close
from linkages import compiled, dense_jacobian, kinetic_energy, move, random_position

Rng = np.random.Generator
G = 9.81


def net(rows: int, columns: int) -> bough.maximal.Linkage:
    """Beads in a square net, on rods of length 1, hung by a corner."""
    beads = {f"{i},{j}": bodies.Particle(0.1) for i in range(rows) for j in range(columns)}
    rods: dict[str, tuple[object, ...]] = {}
    for i in range(rows):
        for j in range(columns):
            for other in (f"{i + 1},{j}", f"{i},{j + 1}"):
                if other in beads:
                    rods[f"{i},{j} - {other}"] = (constraints.Distance(1.0), f"{i},{j}", other)
    rods["nail"] = (constraints.Coincident(), "0,0")
    return bough.maximal.Linkage(beads, rods)


def spread_out(rows: int, columns: int) -> Any:
    return np.array([(float(j), -float(i), 0.0) for i in range(rows) for j in range(columns)]).ravel()


def pendulum(gravity: Any = (0.0, 0.0, -G)) -> bough.maximal.Linkage:
    return bough.maximal.Linkage({"bob": bodies.Particle(2.0)}, {"rod": (constraints.Distance(1.5), "bob")}, gravity)


# --- levels ---


def test_three_levels_of_a_pendulum() -> None:
    linkage = pendulum()
    x = np.array([1.5, 0.0, 0.0])
    found = linkage.accelerations(x, [0.0, 2.0, 0.0])
    a, lam = found.motion, found.loop_forces
    assert_close(a, [-4.0 / 1.5, 0.0, -G], 1e-13)
    assert lam[0] == pytest.approx(-2.0 * 4.0 / 1.5)  # against the way in which the distance grows
    found = linkage.impulses(x, [1.0, 2.0, 0.0], [0.0, 0.0, 3.0])
    v, j = found.motion, found.loop_forces
    assert_close(v, [0.0, 2.0, 1.5], 1e-13)
    assert j[0] == pytest.approx(-2.0)
    found = linkage.first_order(x, [4.0, 0.0, 6.0])
    slow, lam = found.motion, found.loop_forces
    assert_close(slow, [0.0, 0.0, 3.0], 1e-13)
    assert_close(linkage.first_order([1.6, 0.0, 0.0], time_constant=0.5).motion, [-0.2, 0.0, 0.0], 1e-12)
    assert not linkage.first_order(x).motion.any()  # no weight


def test_moving_a_net_about_by_hand() -> None:
    """A world without inertia: the corner that is pulled goes as far as the net allows, and errors die out."""
    linkage = net(3, 3)
    x = spread_out(3, 3) + 0.01 * np.sin(np.arange(27.0))
    pull = np.zeros(27)
    pull[linkage.v_slice("2,2")] = (0.3, 0.3, 0.5)
    with compiled():
        for _ in range(60):
            x = linkage.integrate(x, 0.05 * linkage.first_order(x, pull, time_constant=0.2).motion)
        assert np.abs(linkage.errors(x)).max() < 1e-2
        still = linkage.first_order(x, time_constant=0.2).motion
    assert x[linkage.x_slice("2,2")][2] > 0.3
    assert np.abs(still).max() < 0.1


def test_energy_of_a_swinging_net_is_kept_and_constraints_do_not_drift() -> None:
    linkage = net(2, 3)
    assert (len(linkage.primary), len(linkage.auxiliary)) == (6, 2)
    x, v = spread_out(2, 3), np.zeros(18)
    v[linkage.v_slice("1,1")] = (0.0, 0.0, 1.0)

    def energy(x: Any, v: Any) -> float:
        return kinetic_energy(linkage, x, v) + 0.1 * G * x[2::3].sum()

    with compiled():
        v = linkage.impulses(x, v).motion
        before = energy(x, v)
        x, v = move(linkage, x, v, 0.3, 150)
        assert energy(x, v) == pytest.approx(before, abs=1e-7)
        assert np.abs(linkage.errors(x)).max() < 1e-9


def test_baumgarte_and_projection_take_errors_away() -> None:
    linkage = pendulum()
    x, v = np.array([1.52, 0.0, 0.0]), np.array([0.1, 0.3, 0.0])
    with compiled():
        after, speed = move(linkage, x, v, 1.0, 500)
        assert abs(linkage.errors(after)[0]) < 1e-6
        assert abs(linkage.rates(after, speed)[0]) < 1e-6
        left, _ = move(linkage, x, v, 0.2, 100, time_constant=np.inf)
    assert abs(linkage.errors(left)[0]) > 0.02
    # critically damped: e + ... after one time constant of rest-start is (1 + t/T) exp(-t/T)
    e = _error_after(linkage, 0.1, 0.05)
    assert e / 0.02 == pytest.approx(3 * np.exp(-2), rel=1e-6)
    put = linkage.project(left)
    assert abs(linkage.errors(put)[0]) < 1e-12
    assert_close(np.cross(put, left), np.zeros(3), 1e-12, scale=1.0)  # the nearest: along the rod


def _error_after(linkage: bough.maximal.Linkage, seconds: float, time_constant: float) -> float:
    with compiled():
        x, _ = move(linkage, np.array([1.52, 0.0, 0.0]), np.zeros(3), seconds, 200, time_constant=time_constant)
    return float(linkage.errors(x)[0])


def test_projection_of_a_batch_is_in_the_metric_of_the_masses(rng: Rng) -> None:
    """A light and a heavy bead share an error by their masses."""
    beads = {"light": bodies.Particle(1.0), "heavy": bodies.Particle(3.0)}
    linkage = bough.maximal.Linkage(beads, {"rod": (constraints.Distance(1.0), "light", "heavy")})
    x = np.array([0.0, 0.0, 0.0, 1.4, 0.0, 0.0])
    assert_close(linkage.project(x), [0.3, 0, 0, 1.3, 0, 0], 1e-12)
    many = rng.normal(size=(4, 2, 6))
    together = linkage.project(many)
    assert np.abs(linkage.errors(together)).max() < 1e-10
    for place in np.ndindex(4, 2):
        assert np.allclose(together[place], linkage.project(many[place]), atol=1e-10)


def test_no_position_is_said_to_be_none() -> None:
    far = {"a": (constraints.Coincident(to=(1.0, 0, 0)), "bob"), "b": (constraints.Coincident(), "bob")}
    linkage = bough.maximal.Linkage({"bob": bodies.Particle()}, far)
    with pytest.raises(bough.errors.AssemblyError, match=r"constraint '[ab]' is off by 0\.5 m or rad"):
        linkage.project(np.zeros(3))


# --- loops ---


def test_conflicts_are_named_and_met_as_well_as_can_be() -> None:
    linkage = bough.maximal.Linkage(
        {"bob": bodies.Particle(1.0)},
        {
            "floor": (constraints.OnPlane("z"), "bob"),
            "same floor": (constraints.OnPlane("z"), "bob"),
            "rising": (constraints.OnSurface(lambda p: p[2] - 0.1), "bob"),
        },
    )
    x = np.zeros(3)
    fine = linkage.accelerations(x, np.zeros(3), time_constant=np.inf)
    assert not fine.conflicts
    assert_close(fine.motion, np.zeros(3), 1e-12, scale=1.0)
    found = linkage.accelerations(x, np.zeros(3))
    assert found.conflicts == ("floor", "same floor", "rising")
    assert np.isfinite(found.loop_forces).all()
    # two rows ask for 0 and one for 0.1 m / (0.05 s)²: least squares, whichever of them are primary
    assert_close(found.motion, np.array([0.0, 0.0, 40.0 / 3]), 1e-9)
    assert linkage.errors(x)[linkage.rows("rising")] == pytest.approx(-0.1)


def test_many_loops_by_pivots_and_by_ranks(rng: Rng) -> None:
    """A net with more auxiliary rows than are solved by eigenvalues at once; with one rod twice, pivots do not do."""
    linkage = net(7, 8)
    twice = linkage.with_constraint("again", constraints.Distance(1.0), "3,3", "3,4")
    assert len(linkage.auxiliary) > 32
    x, v = spread_out(7, 8) + 0.1 * rng.normal(size=168), 0.1 * rng.normal(size=168)
    found, other = linkage.accelerations(x, v), twice.accelerations(x, v)
    terms = linkage.terms(x, v)
    J, c = dense_jacobian(linkage, terms), np.zeros(linkage.nc)
    names = (*linkage.primary, *linkage.auxiliary)
    for name, row in zip(names, _split(names, linkage, np.concatenate([terms.c, terms.auxiliary_c])), strict=True):
        c[linkage.rows(name)] = row
    assert_close(J @ found.motion, -c, 1e-8)
    assert_close(other.motion, found.motion, 1e-8)
    assert not found.conflicts + other.conflicts
    both = other.loop_forces[[twice.rows("again").start, twice.rows("3,3 - 3,4").start]]
    assert both.sum() == pytest.approx(found.loop_forces[linkage.rows("3,3 - 3,4").start], rel=1e-6)


def _split(names: Any, linkage: bough.maximal.Linkage, values: Any) -> Any:
    sizes = [linkage.rows(name).stop - linkage.rows(name).start for name in names]
    return np.split(values, np.cumsum(sizes)[:-1])


def test_most_rows_in_the_forest_and_no_body_is_tied_by_more_than_it_has() -> None:
    # a triangle: the two constraints with most rows are primary
    assert choose_primary([3, 3, 3], [(1, 2, 1), (2, 3, 2), (3, 1, 2)]) == [False, True, True]
    # what has three dimensions can be held by three rows from one side only
    assert choose_primary([2, 3], [(1, 2, 3), (0, 1, 2)]) == [True, True]
    assert choose_primary([2, 3], [(0, 1, 3), (0, 2, 3)]) == [False, True]
    assert choose_primary([3, 2], [(1, 2, 3), (0, 2, 2)]) == [True, True]
    assert choose_primary([3, 2, 3], [(1, 2, 3), (2, 3, 3), (0, 1, 1)]) == [True, True, False]
    assert choose_primary([3], [None, (0, 1, 0)]) == [False, True]


def test_random_forests_can_be_eliminated(rng: Rng) -> None:
    """What is chosen is a system, and nothing more could be added to it."""
    for _ in range(200):
        n = int(rng.integers(1, 7))
        sizes = rng.integers(1, 5, size=n).tolist()
        ends = [rng.choice(n + 1, size=2, replace=False).tolist() for _ in range(rng.integers(0, 10))]
        edges = [(int(a), int(b), int(rng.integers(1, 5))) for a, b in ends]
        chosen = choose_primary(sizes, edges)
        taken = [edge for edge, is_so in zip(edges, chosen, strict=True) if is_so]
        bough.maximal.System(sizes, taken)
        for edge in (edge for edge, is_so in zip(edges, chosen, strict=True) if not is_so):
            if not any(edge[2] > other[2] for other in taken):
                with pytest.raises(bough.errors.ModelError):
                    bough.maximal.System(sizes, [*taken, edge])


# --- one-sided ---


def test_a_rope_pulls_and_does_not_push() -> None:
    rope = bough.maximal.Linkage(
        {"bob": bodies.Particle(2.0)}, {"rope": (constraints.AtMost(constraints.Distance(1.0)), "bob")}
    )
    found = rope.accelerations([0.0, 0.0, -1.0], np.zeros(3))
    a, lam = found.motion, found.loop_forces
    assert_close(a, np.zeros(3), 1e-12, scale=1.0)
    assert lam[0] == pytest.approx(2.0 * G)
    for x in ([0.0, 0.0, 1.0], [0.0, 0.0, -0.5]):  # falls into the rope, or has not reached its end
        found = rope.accelerations(x, np.zeros(3))
        a, lam = found.motion, found.loop_forces
        assert_close(a, [0.0, 0.0, -G], 1e-12)
        assert not lam.any()
    assert_close(rope.impulses([0.0, 0.0, -1.0], [1.0, 0.0, -3.0]).motion, [1.0, 0.0, 0.0], 1e-12)
    assert_close(rope.impulses([0.0, 0.0, -1.0], [1.0, 0.0, 3.0]).motion, [1.0, 0.0, 3.0], 1e-12)


def box(friction: float) -> tuple[bough.maximal.Linkage, Any]:
    corners = [(sx * 0.5, sy * 0.5, -0.25) for sx in (-1, 1) for sy in (-1, 1)]
    feet = {f"foot {k}": (constraints.Contact(friction, at=at), "box") for k, at in enumerate(corners)}
    linkage = bough.maximal.Linkage({"box": bodies.Rigid(2.0, inertia=0.3)}, feet)
    x = linkage.neutral()
    x[2] = 0.25
    return linkage, x


def test_a_box_stands_sticks_slides_tips_and_falls() -> None:
    linkage, x = box(0.5)
    found = linkage.accelerations(x, np.zeros(6))
    a, lam, conflicts = found.motion, found.loop_forces, found.conflicts
    assert_close(a, np.zeros(6), 1e-9, scale=1.0)
    assert lam[::3].sum() == pytest.approx(2.0 * G)
    assert not conflicts
    assert_close(linkage.accelerations(x, np.zeros(6), [9.0, 0, 0, 0, 0, 0]).motion, np.zeros(6), 1e-9, scale=1.0)
    pushed = linkage.accelerations(x, np.zeros(6), [14.0, 0, 0, 0, 0, 0]).motion
    assert_close(pushed, [(14.0 - 0.5 * 2.0 * G) / 2.0, 0, 0, 0, 0, 0], 1e-9)
    sliding = linkage.accelerations(x, [1.0, 0, 0, 0, 0, 0]).motion
    assert_close(sliding, [-0.5 * G, 0, 0, 0, 0, 0], 1e-9)
    tipped = linkage.accelerations(x, np.zeros(6), [0, 0, 0, 0, 2.0 * G * 0.5 + 1.0, 0]).motion
    assert tipped[4] > 0.1
    x[2] = 0.3
    assert_close(linkage.accelerations(x, np.zeros(6)).motion, [0, 0, -G, 0, 0, 0], 1e-12)


@pytest.mark.parametrize("level", ["accelerations", "impulses"])
def test_states_that_touch_and_states_that_do_not_in_one_batch(level: str, rng: Rng) -> None:
    """Boxes on a rod, in the air, on four feet, on two: all at once as one by one, and in the air as without feet."""
    standing, x = box(0.5)
    rod = ("rod", constraints.Distance(2.0, at=(0.0, 0.0, 0.25), to=(0.0, 0.0, 2.5)), "box", "world")
    linkage, free = standing.with_constraint(*rod), bough.maximal.Linkage(standing._bodies).with_constraint(*rod)
    X = np.stack([x, x, x, x, x])
    X[(0, 3), 2] = 0.3, 0.7
    X[4, 3:] = 0.0, np.sin(0.1), 0.0, np.cos(0.1)
    X[4, 2] -= np.min(linkage.errors(X[4])[[0, 3, 6, 9]])
    v, force = rng.normal(size=(2, 5, 6))
    v[1] = 0.0
    found = getattr(linkage, level)(X, v, force)
    assert not found.conflicts
    for k in range(5):
        one = getattr(linkage, level)(X[k], v[k], force[k])
        assert_close(found.motion[k], one.motion, 1e-9)
        assert_close(found.loop_forces[k], one.loop_forces, 1e-8)
        if k in (0, 3):
            alone = getattr(free, level)(X[k], v[k], force[k])
            assert_close(found.motion[k], alone.motion, 1e-12)
            assert not found.loop_forces[k][:12].any()
            assert_close(found.loop_forces[k][12:], alone.loop_forces, 1e-12)


def test_a_box_lands_without_bouncing() -> None:
    linkage, x = box(0.2)
    found = linkage.impulses(x, [1.0, 0.0, -2.0, 0.0, 0.0, 0.0])
    v, j = found.motion, found.loop_forces
    assert v[0] < 1.0
    assert j[::3].min() >= -1e-9
    tip = [linkage.rates(x, v)[3 * k] for k in range(4)]
    assert min(tip) > -1e-9


def test_a_sliding_rod_that_jams_is_reported() -> None:
    """Painlevé's rod: with much friction, pushed against its lean, no forces meet the conditions; dragged, some do.

    Pushed, a = A f + b with A = (1 + 3 cos θ (cos θ - μ sin θ)) / m < 0 and b = -g < 0.
    """
    angle, mu = 1.1, 2.0
    rod = bodies.PlanarRigid(1.0, inertia=1.0 / 3.0)
    foot = {"foot": (constraints.Contact(mu, normal="y", at=(-1.0, 0.0), space=2), "rod")}
    linkage = bough.maximal.Linkage({"rod": rod}, foot, gravity=(0.0, -G, 0.0))
    assert 1.0 + 3.0 * np.cos(angle) * (np.cos(angle) - mu * np.sin(angle)) < 0.0
    x = np.array([0.0, np.sin(angle), angle])
    jams = []
    for way in (1.0, -1.0):
        v = way * np.array([np.cos(angle), -np.sin(angle), 0.0])  # along the floor, in axes of the rod
        assert linkage.rates(x, v)[0] == pytest.approx(0.0, abs=1e-15)
        found = linkage.accelerations(x, v)
        assert np.isfinite(found.motion).all()
        jams.append(found.conflicts)
    assert sorted(jams) == [(), ("foot",)]


def test_contacts_beside_redundant_loops() -> None:
    """A slider held twice over, on the floor: forces that no row can feel do no harm."""
    guide = constraints.Jointed(bough.joints.Prismatic("z"))
    linkage = bough.maximal.Linkage(
        {"slider": bodies.Rigid(1.5, inertia=0.2)},
        {
            "guide": (guide, "world", "slider"),
            "again": (guide, "world", "slider"),
            "floor": (constraints.Contact(0.3), "slider"),
        },
    )
    assert linkage.auxiliary == ("again", "floor")
    found = linkage.accelerations(linkage.neutral(), np.zeros(6))
    a, lam, conflicts = found.motion, found.loop_forces, found.conflicts
    assert_close(a, np.zeros(6), 1e-9, scale=1.0)
    assert lam[linkage.rows("floor")][0] == pytest.approx(1.5 * G)
    assert not conflicts
    a = linkage.accelerations(linkage.neutral(), np.zeros(6), [0, 0, 30.0, 0, 0, 0]).motion
    assert_close(a, [0, 0, 20.0 - G, 0, 0, 0], 1e-9)


def test_projection_lifts_what_is_below_the_floor_and_leaves_what_is_above() -> None:
    above = {"floor": (constraints.AtLeast(constraints.OnPlane("z")), "bob")}
    linkage = bough.maximal.Linkage({"bob": bodies.Particle()}, above)
    x = linkage.project([[0.3, 0.4, -0.2], [0.3, 0.4, 0.2]])
    assert_close(x, [[0.3, 0.4, 0.0], [0.3, 0.4, 0.2]], 1e-12)


# --- kinds of users ---


@dataclass(frozen=True)
class Rotor(bodies.Body):
    """A wheel on a spring, by its angle alone: x = [angle], v = its rate."""

    inertia: float
    stiffness: float

    nx = 1
    nv = 1

    @property
    def canonical(self) -> bodies.Body:
        return Rotor(1.0, 1.0)

    @property
    def parameters(self) -> tuple[float, ...]:
        return (self.inertia, self.stiffness)

    def mass(self, parameters: Any, x: Any) -> Any:
        return [[parameters[0]]]

    def force(self, parameters: Any, x: Any, v: Any, gravity: Any) -> Any:
        return [-parameters[1] * x[0]]


@dataclass(frozen=True)
class Crank(constraints.Constraint):
    """A pin on a rotor moves a particle to and fro."""

    radius: float
    fewest = 2
    rows = 1

    def errors(self, parameters: Any, sides: Any) -> Any:
        return [sides[1].x[0] - self.radius * cos(sides[0].x[0])]


@dataclass(frozen=True)
class Throw(constraints.Constraint):
    """A crank that names the number in which one differs from another."""

    radius: float
    numbers = ("radius",)
    fewest = 2
    rows = 1

    def errors(self, parameters: Any, sides: Any) -> Any:
        return [sides[1].x[0] - parameters[0] * cos(sides[0].x[0])]


def test_kinds_that_name_their_numbers_share_one_program(rng: Rng) -> None:
    """They move as those that tell nothing, each of which is a kind of its own."""
    parts: dict[str, Any] = {}
    for k in range(3):
        parts |= {f"rotor {k}": Rotor(1.0 + k, 2.0), f"bob {k}": bodies.Particle(1.0)}
    told, untold = (
        bough.maximal.Linkage(parts, {f"c{k}": (kind(0.5 + k), f"rotor {k}", f"bob {k}") for k in range(3)})
        for kind in (Throw, Crank)
    )
    assert [len(linkage.layout.tie_groups) for linkage in (told, untold)] == [1, 3]
    assert (Throw(0.5).canonical, Throw(0.5).parameters) == (Throw(0.0), (0.5,))
    x, v = rng.normal(size=(2, told.nx))
    assert_close(told.accelerations(x, v).motion, untold.accelerations(x, v).motion, 1e-12)


@dataclass(frozen=True)
class Belt(constraints.Constraint):
    """Two rotors on a belt, by their velocities."""

    fewest = 2
    rows = 1

    def rates(self, parameters: Any, sides: Any) -> Any:
        return [sides[0].v[0] - sides[1].v[0] * 2.0]


def test_bodies_and_constraints_of_users() -> None:
    linkage = bough.maximal.Linkage(
        {"motor": Rotor(0.2, 0.0), "wheel": Rotor(0.3, 5.0), "piston": bodies.Particle(1.5)},
        {"belt": (Belt(), "motor", "wheel"), "crank": (Crank(0.4), "wheel", "piston")},
        gravity=(0, 0, 0),
    )
    angle, speed = 0.8, 1.1
    x = np.array([0.0, angle, 0.4 * np.cos(angle), 0.0, 0.0])
    v = np.array([2 * speed, speed, -0.4 * np.sin(angle) * speed, 0.0, 0.0])
    a = linkage.accelerations(x, v).motion
    # (4 I₁ + I₂ + m r² sin²) φ̈ + m r² sin cos φ̇² + k φ = 0
    s, c = np.sin(angle), np.cos(angle)
    want = -(5.0 * angle + 1.5 * 0.16 * s * c * speed**2) / (4 * 0.2 + 0.3 + 1.5 * 0.16 * s * s)
    assert_close(a[:2], [2 * want, want], 1e-12)
    with compiled():
        before = kinetic_energy(linkage, x, v) + 2.5 * x[1] ** 2
        after_x, after_v = move(linkage, x, v, 1.0, 200)
        assert kinetic_energy(linkage, after_x, after_v) + 2.5 * after_x[1] ** 2 == pytest.approx(before, rel=1e-8)


@dataclass(frozen=True)
class Bowl(constraints.Constraint):
    """A particle on a paraboloid, or a sphere, written with powers."""

    round: bool
    rows = 1
    most = 1

    def errors(self, parameters: Any, sides: Any) -> Any:
        x, y, z = sides[0].x
        return [(x**2 + y**2 + z**2) ** 0.5 - 1.0 if self.round else z - x**2 - 0.5 * y**4 + 0.1 * (1.0 + x) ** -2]


def test_constraints_of_users_may_have_powers() -> None:
    """Rates and what velocities add, against derivatives by hand."""
    linkage = bough.maximal.Linkage({"bob": bodies.Particle(1.0)}, {"bowl": (Bowl(False), "bob")})
    x, y = 0.3, -0.8
    z = x**2 + 0.5 * y**4 - 0.1 / (1 + x) ** 2
    p, v = np.array([x, y, z]), np.array([0.4, 1.2, -0.3])
    n = np.array([-2 * x - 0.2 / (1 + x) ** 3, -2 * y**3, 1.0])
    assert linkage.errors(p)[0] == pytest.approx(0.0, abs=1e-15)
    assert linkage.rates(p, v)[0] == pytest.approx(n @ v)
    bend = (-2.0 + 0.6 / (1 + x) ** 4) * v[0] ** 2 - 6 * y**2 * v[1] ** 2
    found = linkage.accelerations(p, v, time_constant=np.inf)
    a, lam = found.motion, found.loop_forces
    assert n @ a + bend == pytest.approx(0.0, abs=1e-12)
    assert_close(a, np.array([0.0, 0.0, -G]) + lam[0] * n, 1e-12)
    own, package = (
        bough.maximal.Linkage({"bob": bodies.Particle(1.0)}, {"rod": (c, "bob")}).accelerations(
            [0.6, 0.0, -0.8], [0.8, 1.0, 0.6]
        )
        for c in (Bowl(True), constraints.Distance(1.0))
    )
    assert_close(own.motion, package.motion, 1e-12)


@dataclass(frozen=True)
class Bent(constraints.Constraint):
    """Rates of which not all are linear in the velocities."""

    law: Any
    fewest = 2
    rows = 2

    def rates(self, parameters: Any, sides: Any) -> Any:
        return [sides[0].v[0], self.law(sides[0].v[0], sides[1].v[0], sides[-1].v[0], sides[0].x[0])]


class Skewed(Rotor):
    """A body whose position does not change in proportion to its velocity."""

    def rate(self, parameters: Any, x: Any, v: Any) -> Any:
        return [v[0] * v[0]]


BENT: dict[str, tuple[Any, str]] = {
    "square": (lambda a, b, t, x: a**2 + b, r"rates of Bent\(.*\) is not linear in the velocities: it gives \["),
    "product": (lambda a, b, t, x: a * b, "is not linear in the velocities"),
    "magnitude": (lambda a, b, t, x: absolute(a - b), "is not linear in the velocities"),
    "given speed": (
        lambda a, b, t, x: a - b - 2.0,
        r"gives \[0.0, -2.0\] for zero velocities, expected zeros",
    ),
}


@pytest.mark.parametrize("name", BENT)
def test_rates_that_are_not_linear_are_refused(name: str) -> None:
    law, message = BENT[name]
    with pytest.raises(bough.errors.ModelError, match=f"constraint 'c': .*{message}"):
        bough.maximal.Linkage({"a": Rotor(1.0, 0.0), "b": Rotor(2.0, 0.0)}, {"c": (Bent(law), "a", "b")})


def test_rates_that_are_linear_are_taken_wherever_they_can_be_computed() -> None:
    """A given speed is that of time; a law may make no sense in some states."""
    rotors = {"a": Rotor(1.0, 0.0), "b": Rotor(2.0, 0.0)}
    for law in (lambda a, b, t, x: a - b - 2.0 * t, lambda a, b, t, x: sqrt(x - 5.0) * a - b):
        bough.maximal.Linkage(rotors, {"c": (Bent(law), "a", "b")})
    with pytest.raises(bough.errors.ModelError, match=r"body 'a': rate of Skewed.* is not linear in the velocities"):
        bough.maximal.Linkage({"a": Skewed(1.0, 0.0)})


class Wrong(bodies.Body):
    nx = 2
    nv = 1

    def mass(self, parameters: Any, x: Any) -> Any:
        return [[1.0]]

    def force(self, parameters: Any, x: Any, v: Any, gravity: Any) -> Any:
        return [np.sin(x[0])]


@dataclass(frozen=True)
class TooFew(constraints.Constraint):
    rows = 2

    def rates(self, parameters: Any, sides: Any) -> Any:
        return [sides[0].v[0]]


@dataclass(frozen=True)
class FewErrors(constraints.Constraint):
    rows = 2

    def errors(self, parameters: Any, sides: Any) -> Any:
        return [sides[0].x[0]]


@dataclass(frozen=True)
class NothingVanishes(constraints.Constraint):
    rows = 2


@dataclass(frozen=True)
class WrongName(constraints.Constraint):
    rows = 1

    def errors(self, parameters: Any, sides: Any) -> Any:
        return [sides[0].origin.x]


BOB, FLAT, RIGID = bodies.Particle(), bodies.Particle(space=2), bodies.Rigid()
ROD = constraints.Distance(1.0)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: bough.maximal.Linkage({"a": "b"}), "body 'a' is 'b', expected a body such as"),
        (lambda: bough.maximal.Linkage({"world": BOB}), "a body is called 'world'"),
        (lambda: bough.maximal.Linkage({"": BOB}), "expected a name, a string"),
        (lambda: bough.maximal.Linkage({"a": Wrong()}), "force of .* fails with .*use operators and the functions"),
        (lambda: bough.maximal.Linkage({"a": BOB}, gravity=9.81), "gravity is 9.81, expected three"),
        (lambda: bough.maximal.Linkage({"a": BOB}, {"c": constraints.Distance(1.0)}), "expected a tuple"),
        (
            lambda: bough.maximal.Linkage({"a": BOB}, {"c": ("rod", "a")}),
            "constraint 'c' is 'rod', expected a constraint",
        ),
        (lambda: bough.maximal.Linkage({"a": BOB}, {"c": (constraints.Distance(1.0),)}), "not all the world"),
        (lambda: bough.maximal.Linkage({"a": BOB}, {"c": (constraints.Distance(1.0), "world")}), "not all the world"),
        (lambda: bough.maximal.Linkage({"a": BOB}, {"c": (constraints.Distance(1.0), "a", "a")}), "different bodies"),
        (
            lambda: bough.maximal.Linkage({"a": BOB}, {"c": (constraints.SpeedRatio(1.0), "a")}),
            "on 1 bodies, expected 2 to 3",
        ),
        (
            lambda: bough.maximal.Linkage({"a": BOB}, {"c": (constraints.Jointed(bough.joints.Fixed()), "world", "a")}),
            "a joint on Part",
        ),
        (lambda: bough.maximal.Linkage({"a": BOB}, {"c": (constraints.Rolling(1.0), "a")}), "has no angular velocity"),
        (
            lambda: bough.maximal.Linkage({"a": Rotor(1.0, 1.0)}, {"c": (constraints.Distance(1.0), "a")}),
            "has no points",
        ),
        (lambda: bough.maximal.Linkage({"a": BOB}, {"c": (TooFew(), "a")}), "rates of .* gives 1 scalars, expected 2"),
        (
            lambda: bough.maximal.Linkage({"a": BOB}, {"c": (FewErrors(), "a")}),
            r"errors of FewErrors\(\) gives 1 scalar and rates is not defined, expected 2 errors, one for each row",
        ),
        (
            lambda: bough.maximal.Linkage({"a": BOB}, {"c": (NothingVanishes(), "a")}),
            r"NothingVanishes\(\) defines neither errors nor rates, expected 2 errors",
        ),
        (
            lambda: bough.maximal.Linkage({"a": BOB}, {"c": (WrongName(), "a")}),
            "'Side' object has no attribute 'origin' .it has axis, body, coordinates, .*velocity_at, x.$",
        ),
        (lambda: bough.maximal.Linkage({"a": BOB, "b": FLAT}, {"c": (ROD, "a", "b")}), "in a plane and .* in space"),
        (lambda: bough.maximal.Linkage({"a": BOB}).with_body("a", BOB), "there is a body of this name already"),
        (
            lambda: pendulum().with_constraint("rod", constraints.Distance(1.0), "bob"),
            "constraint of this name already",
        ),
        (lambda: pendulum().accelerations(np.zeros(3), np.zeros(3), time_constant=0.0), "time constant .* is 0.0"),
        (lambda: pendulum().to_placements(np.zeros(3)), "expected rigid bodies in space"),
    ],
)
def test_what_cannot_be_is_refused_by_name(make: Any, match: str) -> None:
    with pytest.raises(bough.errors.ModelError, match=match):
        make()


def test_names_are_looked_up_with_suggestions() -> None:
    linkage = pendulum()
    with pytest.raises(bough.errors.UnknownNameError, match=r"no body .*'bop'; did you mean 'bob'"):
        linkage.with_constraint("c", constraints.Distance(1.0), "bop")
    with pytest.raises(bough.errors.UnknownNameError, match="did you mean 'bob'"):
        linkage.x_slice("bobb")
    with pytest.raises(bough.errors.UnknownNameError, match="did you mean 'rod'"):
        linkage.rows("rode")


def test_wrong_arrays_are_refused() -> None:
    linkage = bough.maximal.Linkage(
        {"a": RIGID, "b": RIGID}, {"hinge": (constraints.Jointed(bough.joints.Revolute()), "a", "b")}
    )
    x = linkage.neutral()
    with pytest.raises(bough.errors.ShapeError, match="x has shape"):
        linkage.accelerations(x[:-1], np.zeros(12))
    with pytest.raises(bough.errors.ShapeError, match="v is None"):
        linkage.accelerations(x, None)  # type: ignore[arg-type]
    with pytest.raises(bough.errors.FiniteError, match=r"force\[3\] is nan"):
        linkage.accelerations(x, np.zeros(12), np.where(np.arange(12) == 3, np.nan, 0.0))
    x[13] = 1.1
    with pytest.raises(bough.errors.FiniteError, match=r"body 'b': the quaternion x\[..., 10:14\] has length 1.1"):
        linkage.accelerations(x, np.zeros(12))


@pytest.mark.usefixtures("compiled")
def test_many_bodies_straight_from_python(rng: Rng) -> None:
    """Batches and, from the second call on, single states go straight to machine code: no quaternion is overlooked."""
    n = 40
    ball = constraints.Coincident((0.5, 0.0, 0.0), (-0.5, 0.0, 0.0))
    linkage = bough.maximal.Linkage(
        {f"b{k}": RIGID for k in range(n)}, {f"j{k}": (ball, f"b{k - 1}", f"b{k}") for k in range(1, n)}
    )
    turns = rng.normal(size=(9, n, 4))
    x = np.concatenate([rng.normal(size=(9, n, 3)), turns / np.linalg.norm(turns, axis=-1, keepdims=True)], axis=-1)
    x, v = x.reshape(9, 7 * n), rng.normal(size=(9, 6 * n))
    together = linkage.accelerations(x, v)
    for k in (0, 3, 8):
        one = linkage.accelerations(x[k], v[k])
        assert_close(one.motion, together.motion[k], 1e-9)
        assert_close(one.loop_forces, together.loop_forces[k], 1e-9)
    for k in range(n):
        wrong = x.copy()
        wrong[8, 7 * k + 3 : 7 * k + 7] *= 1.01
        for state in (wrong, wrong[8]):
            with pytest.raises(bough.errors.FiniteError, match=rf"body 'b{k}': the quaternion .* has length 1.01"):
                linkage.accelerations(state, v if state is wrong else v[8])
    again = pickle.loads(pickle.dumps(linkage))  # what is compiled stays behind
    np.testing.assert_array_equal(again.accelerations(x[0], v[0]).motion, linkage.accelerations(x[0], v[0]).motion)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("level", ["accelerations", "impulses", "first_order"])
def test_loops_straight_from_python(level: str, rng: Rng, monkeypatch: pytest.MonkeyPatch) -> None:
    """One program solves what is closed by auxiliary constraints too, as the steps do that it replaces."""
    linkage = net(3, 4)
    assert set(linkage.auxiliary) - {
        *linkage.constraint_names[-len(linkage.auxiliary) :]
    }  # not the last ones: order counts
    x = spread_out(3, 4) + 0.2 * rng.normal(size=(9, linkage.nx))
    v, force = rng.normal(size=(2, 9, linkage.nv))
    given = (x, force) if level == "first_order" else (x, v, force)
    solve = getattr(linkage, level)
    together, alone = solve(*given), [solve(*(a[k] for a in given)) for k in (0, 8, 0)]
    listed = solve(*(a.tolist() for a in given))
    monkeypatch.setattr(linkage_programs, "TOGETHER", 0)
    steps = solve(*given)
    for found in (together, listed):
        assert not found.conflicts
        assert_close(found.motion, steps.motion, 1e-9)
        assert_close(found.loop_forces, steps.loop_forces, 1e-9)
    for k, one in zip((0, 8, 0), alone, strict=True):
        assert_close(one.motion, steps.motion[k], 1e-9)
        assert_close(one.loop_forces, steps.loop_forces[k], 1e-9)


@pytest.mark.usefixtures("compiled")
def test_states_in_doubt_among_others(rng: Rng) -> None:
    """Flat, a net has fewer ranks than rows: that state is solved by itself, and those beside it in a batch are not."""
    linkage = net(3, 3).with_constraint("again", constraints.Distance(2.0), "0,0", "0,2")
    x = np.stack([spread_out(3, 3) + 0.2 * rng.normal(size=27), spread_out(3, 3)])
    v = np.zeros((2, 27))
    found = linkage.accelerations(x, v)
    assert not found.conflicts
    for k in range(2):
        one = linkage.accelerations(x[k].tolist(), v[k].tolist())
        assert_close(found.motion[k], one.motion, 1e-9)
        assert_close(found.loop_forces[k], one.loop_forces, 1e-8)
    J = dense_jacobian(linkage, linkage.terms(x[1], v[1]))
    assert np.linalg.matrix_rank(J, 1e-9) < len(J)


def test_ranks_may_fall_where_primary_constraints_lose_hold() -> None:
    """Where two walls cross, a surface has no normal: the bead is free there, and held everywhere else."""
    crossed = {"cross": (constraints.OnSurface(lambda p: p[0] * p[2]), "a")}
    linkage = bough.maximal.Linkage({"a": BOB, "b": BOB}, {**crossed, "rod": (constraints.Distance(1.0), "a", "b")})
    assert linkage.primary == ("cross", "rod")
    x = np.array([[0.0, 0.0, 0.0, 0.0, 1.0, 0.0], [0.3, 0.0, 0.0, 0.3, 1.0, 0.0]])
    found = linkage.accelerations(x, np.zeros(6))
    assert not found.conflicts
    assert_close(found.motion[0], [0, 0, -G, 0, 0, -G], 1e-12)
    assert_close(found.motion[1], [0, 0, 0, 0, 0, -G], 1e-12, scale=1.0)
    assert found.loop_forces[0, 0] == 0.0
    assert np.array_equal(found.motion[1], linkage.accelerations(x[1], np.zeros(6)).motion)
    looped = linkage.with_constraint("stay", constraints.OnPlane("y"), "a")
    found = looped.accelerations(x, np.zeros(6))
    assert_close(found.motion[0], [0, 0, -G, 0, 0, -G], 1e-12)
    asked = linkage.accelerations(x[0], [1.0, 0, 1.0, 1.0, 0, 1.0])
    assert asked.conflicts == ("cross",)  # which cannot turn its rate of 2 m²/s² away
    assert np.isfinite(asked.motion).all()


def test_what_has_no_direction_is_never_a_silent_nan() -> None:
    with pytest.raises(bough.errors.FiniteError, match="constraint 'rod' has no direction in this position"):
        pendulum().rates(np.zeros(3), np.ones(3))
    with pytest.raises(bough.errors.FiniteError, match="constraint 'rod' has no direction in this position"):
        pendulum().accelerations(np.zeros(3), np.zeros(3))
    with pytest.raises(bough.errors.FiniteError, match="constraint 'rod' has no direction in this position"):
        pendulum().project(np.zeros(3))
    assert pendulum().errors(np.zeros(3)) == pytest.approx(-1.5)


def test_gears_that_hold_one_wheel_only() -> None:
    """With a ratio of zero the second wheel has no part in the constraint, whichever is eliminated first."""
    wheel = bodies.PlanarRigid()
    for ends in (("a", "b"), ("b", "a")):
        linkage = bough.maximal.Linkage({"a": wheel, "b": wheel}, {"stop": (constraints.SpeedRatio(0.0), *ends)})
        a = linkage.accelerations(np.zeros(6), np.zeros(6), [0, 0, 1.0, 0, 0, 1.0]).motion
        assert a[linkage.v_slice(ends[0])][2] == pytest.approx(0.0, abs=1e-14)
        assert a[linkage.v_slice(ends[1])][2] == pytest.approx(1.0)


@dataclass(frozen=True)
class Hollow(Rotor):
    """A body without inertia."""

    def mass(self, parameters: Any, x: Any) -> Any:
        return [[parameters[0] - 1.0]]


def test_a_body_without_inertia_is_named() -> None:
    linkage = bough.maximal.Linkage({"bob": BOB, "rotor": Hollow(1.0, 1.0)}, {"rod": (ROD, "bob")})
    with pytest.raises(bough.errors.SingularError, match=r"body 2: the mass block .*'bob', 'rotor'"):
        linkage.accelerations([1.0, 0, 0, 0], np.zeros(4))


# --- description and border ---


def test_what_has_code_from_elsewhere_is_not_stored_on_disk() -> None:
    surface = constraints.OnSurface(lambda p: p[2])
    assert bough.maximal.Linkage({"a": BOB}, {"c": (surface, "a")}).layout.digest is None
    assert bough.maximal.Linkage({"a": BOB}, {"c": (constraints.AtLeast(surface), "a")}).layout.digest is None
    assert bough.maximal.Linkage({"a": Rotor(1.0, 1.0)}).layout.digest is None
    heavy = bough.maximal.Linkage({"bob": bodies.Particle(3.0)}, {"rod": (constraints.Distance(1.5), "bob")})
    linkages = [pendulum(), pendulum((0.0, 0.0, 0.0)), heavy, net(2, 2), net(2, 3), box(0.1)[0]]
    stored = [linkage.layout.digest for linkage in linkages]
    assert len({*stored, linkages[-1].layout.without_primary.digest, None}) == len(stored) + 1 + 1
    assert pendulum().layout.digest == stored[0]


def test_a_linkage_without_bodies() -> None:
    nothing = bough.maximal.Linkage()
    assert nothing.accelerations([], []).motion.shape == (0,)
    assert nothing.project(np.zeros((2, 0))).shape == (2, 0)


def test_a_linkage_is_made_by_adding() -> None:
    linkage = bough.maximal.Linkage(gravity=(0.0, 0.0, -G)).with_body("bob", bodies.Particle(2.0))
    linkage = linkage.with_constraint("rod", constraints.Distance(1.5), "bob")
    assert linkage.layout == pendulum().layout
    assert hash(linkage.layout) == hash(pendulum().layout)
    assert repr(linkage) == "<Linkage: 1 bodies, 1 primary and 0 auxiliary constraints, nx = 3, nv = 3, nc = 1>"
    assert linkage.rows("rod") == slice(0, 1)
    with pytest.raises(AttributeError):
        linkage.layout = None  # type: ignore[misc]
    again = pickle.loads(pickle.dumps(linkage))
    assert again.layout == linkage.layout
    assert again.body_names == ("bob",)


def test_multipliers_of_terms_are_the_accelerations(rng: Rng) -> None:
    linkage = net(2, 3)
    x, v = spread_out(2, 3), rng.normal(size=18)
    terms = linkage.terms(x, v)
    factor = bough.maximal.ldlt(terms.system, terms.mass, terms.jacobian)
    free = factor.solve(np.concatenate([terms.force, terms.c]))
    problem = bough.maximal.anticipate(factor, free, terms.auxiliary, terms.auxiliary_jacobian, terms.auxiliary_c)
    f = np.linalg.lstsq(problem.A, -problem.b, rcond=None)[0]
    assert_close(problem.motion(f)[0], linkage.accelerations(x, v).motion, 1e-9)
    chain = bough.maximal.Linkage({"a": BOB, "b": BOB}, {"r": (constraints.Distance(1.0), "a", "b")})
    x, v = np.array([0.0, 0, 0, 1, 0, 0]), rng.normal(size=6)
    a, lam = bough.maximal.multipliers(*chain.terms(x, v)[:6])
    found = chain.accelerations(x, v)
    assert_close(a, found.motion, 1e-13)
    assert_close(lam, found.loop_forces, 1e-13)
    J = dense_jacobian(chain, chain.terms(x, v))
    assert_close(J, [[-1.0, 0, 0, 1, 0, 0]], 1e-14, 2)


@pytest.mark.parametrize("linkage", [net(2, 3), box(0.4)[0]], ids=["net", "box"])
def test_a_batch_is_one_by_one(linkage: bough.maximal.Linkage, rng: Rng) -> None:
    x = np.broadcast_to(spread_out(2, 3), (2, 3, 18)) + 0.1 * rng.normal(size=(2, 3, 18)) if linkage.nx == 18 else None
    x = random_position(linkage, rng, (2, 3), 0.01) if x is None else x
    v, force, time = rng.normal(size=(3, linkage.nv)), rng.normal(size=(2, 1, linkage.nv)), rng.normal(size=(2, 3))
    found = linkage.accelerations(x, v, force, time)
    assert found.motion.shape == (2, 3, linkage.nv)
    assert found.loop_forces.shape == (2, 3, linkage.nc)
    for i, j in np.ndindex(2, 3):
        one = linkage.accelerations(x[i, j], v[j], force[i, 0], time[i, j])
        assert np.array_equal(found.motion[i, j], one.motion)
    assert linkage.accelerations(x.astype(np.float32), v).motion.dtype == np.float64 if linkage.nx == 18 else True


def chain(n: int) -> bough.maximal.Linkage:
    rods = {f"rod {k}": (constraints.Distance(1.0), f"bead {k}", f"bead {k - 1}") for k in range(1, n)}
    beads = {f"bead {k}": bodies.Particle(0.1) for k in range(n)}
    return bough.maximal.Linkage(beads, {"nail": (constraints.Distance(1.0), "bead 0"), **rods})


def test_ten_thousand_bodies_take_a_program_of_constant_length() -> None:
    def program(n: int) -> Any:
        layout = chain(n).layout
        sizes = {"x": layout.nx, "v": layout.system.nv, "force": layout.system.nv, "time": 1}
        rule = partial(algorithm.solve_linkage, layout, "acceleration", 20.0, 1e-5)
        return build("chain", rule, sizes, layout.nx)

    programs = {n: program(n) for n in (100, 200, 400)}
    lengths = {len(p.kinds) for p in programs.values()}
    assert len(lengths) == 1
    costs = [count(p).total for p in programs.values()]
    assert costs[2] - costs[1] == 2 * (costs[1] - costs[0])


def test_ten_thousand_bodies_run() -> None:
    n = 10_000
    linkage = chain(n)
    x = np.zeros((n, 3))
    x[:, 0] = np.arange(1.0, n + 1)
    with compiled():
        found = linkage.accelerations(x.ravel(), np.zeros(3 * n))
        a, lam = found.motion, found.loop_forces
        assert_close(a.reshape(n, 3), np.broadcast_to([0.0, 0.0, -G], (n, 3)), 1e-12, 2)
        x[:, 0], x[:, 2] = 0.0, -np.arange(1.0, n + 1)
        found = linkage.accelerations(x.ravel(), np.zeros(3 * n))
        a, lam = found.motion, found.loop_forces
    assert np.abs(a).max() < 1e-6
    assert_close(np.abs(lam), 0.1 * G * np.arange(n, 0, -1.0), 1e-9)


def test_rolled_and_unrolled_programs_agree(rng: Rng) -> None:
    """Enough bodies of several kinds for a program with loops, and the same few at a time without."""
    few = mixed(1)
    many = mixed(8)
    states = [random_position(few, rng, reach=0.5) for _ in range(8)]
    speeds = [rng.normal(size=few.nv) for _ in range(8)]
    together = many.accelerations(np.concatenate(states), np.concatenate(speeds)).motion.reshape(8, few.nv)
    one_by_one = [few.accelerations(x, v).motion for x, v in zip(states, speeds, strict=True)]
    assert_close(together, one_by_one, 1e-9)
    with compiled():
        x, v = np.stack(states), np.stack(speeds)
        assert_close(few.accelerations(x, v).motion, one_by_one, 1e-9)  # straight from machine code
        assert_close(few.accelerations(states[0], speeds[0]).motion, one_by_one[0], 1e-9)
        assert_close(few.accelerations(x.tolist(), v).motion, one_by_one, 1e-9)  # the long way
        assert_close(many.accelerations(x.ravel(), v.ravel()).motion.reshape(8, few.nv), one_by_one, 1e-9)
        x[3, 3] = np.nan
        with pytest.raises(bough.errors.FiniteError, match=r"x\[3, 3\] is nan"):
            few.accelerations(x, v)


def mixed(copies: int) -> bough.maximal.Linkage:
    parts: dict[str, Any] = {}
    ties: dict[str, Any] = {}
    for k in range(copies):
        parts[f"plate {k}"] = bodies.Rigid(1.0, (0.1, 0.2, 0.3), 0.5)
        parts[f"bead {k}"] = bodies.Particle(0.5)
        parts[f"other {k}"] = bodies.Particle(0.7)
        ties[f"hinge {k}"] = (constraints.Jointed(bough.joints.Universal(), at=(0.0, 1.0, 0.0)), "world", f"plate {k}")
        ties[f"rod {k}"] = (constraints.Distance(1.0, at=(0.2, 0.0, 0.1)), f"plate {k}", f"bead {k}")
        ties[f"string {k}"] = (constraints.Distance(0.5), f"bead {k}", f"other {k}")
    return bough.maximal.Linkage(parts, ties)


def test_gravity_of_a_plane_has_two_numbers() -> None:
    bead = bough.maximal.Linkage({"bead": bough.maximal.bodies.Particle(1.0, space=2)}, gravity=(0.0, -9.81))
    assert bead.gravity == (0.0, -9.81, 0.0)
    np.testing.assert_array_equal(bead.accelerations(np.zeros(2), np.zeros(2)).motion, [0.0, -9.81])
    with pytest.raises(bough.errors.ShapeError, match="x is None, expected an array"):
        bead.accelerations(None, np.zeros(2))  # type: ignore[arg-type]
