"""Beams by assumed modes beside closed forms, and beside the same beam made of rigid segments with springs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import bough

Floats = Any
L, E, A, I, RHO = 1.3, 70e9, 1e-3, 1e-13, 2700.0  # so slender that the inertia of turning cross-sections is nothing
RATE = math.sqrt(E * I / (RHO * A * L**4))  # rad/s, by which frequencies of beams are told
CANTILEVER = np.array([3.516015269, 22.034491565, 61.697214413, 120.901916053])
FREE = np.array([22.373285448, 61.672822867, 120.903391727])


def beam(modes: Any, basis: str = "eigenmodes", **numbers: float) -> bough.flexible.Beam:
    """A slender beam along x."""
    return bough.flexible.Beam(L, **{"E": E, "A": A, "I": I, "rho": RHO, **numbers}, modes=modes, basis=basis)


def on(*joints: tuple[str, bough.joints.Joint], of: bough.flexible.Beam, gravity: Any = (0, 0, 0)) -> bough.Model:
    """A beam on massless bodies on some joints, one after the other."""
    b, parent = bough.Builder(gravity=gravity), "world"
    for name, joint in joints:
        b.add(name, joint, parent)
        parent = name
    b.add_flexible("beam", of, parent)
    return b.build()


def stiffness(model: bough.Model, v: Floats | None = None) -> Floats:
    """The slope of all forces at rest, or in steady motion, where all coordinates are zero; differences are exact."""
    n, h = model.nv, 1e-4
    v = np.zeros(n) if v is None else v

    def force(q: Floats) -> Floats:
        return bough.bias_forces(model, q, v) - bough.passive_forces(model, q, np.zeros(n))

    return np.array([(force(h * e) - force(-h * e)) / (2 * h) for e in np.eye(n)]).T


def frequencies(M: Floats, K: Floats) -> Floats:
    return np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real.clip(0.0)))


def test_frequencies_of_a_cantilever() -> None:
    model = on(of=beam(4))
    found = frequencies(bough.crba(model, np.zeros(4)), stiffness(model)) / RATE
    assert np.allclose(found, CANTILEVER, rtol=1e-8, atol=0)
    assert np.allclose(bough.crba(model, np.zeros(4)), np.diag(np.full(4, RHO * A * L / 4)), rtol=1e-7, atol=1e-9)


def clamped_after_rayleigh(rate: float, area: float, second_moment: float) -> float:
    """What vanishes at the natural frequencies (rad/s) of a cantilever whose cross-sections have rotary inertia."""
    a = RHO * rate**2 / E  # E I d⁴w/dx⁴ + ρ I ω² d²w/dx² = ρ A ω² w
    c = a * area / second_moment
    s, t = (math.sqrt((math.sqrt(a * a + 4 * c) + sign * a) / 2) for sign in (-1, 1))
    C, S, cos, sin = math.cosh(s * L), math.sinh(s * L), math.cos(t * L), math.sin(t * L)
    moment = (s * s * C + t * t * cos, s * s * S + s * t * sin)
    shear = (s**3 * S - t**3 * sin + a * (s * S + t * sin), s**3 * C + s * t * t * cos + a * s * (C - cos))
    return moment[0] * shear[1] - moment[1] * shear[0]


def test_frequencies_of_a_thick_cantilever_are_those_of_rayleigh() -> None:
    """Rotary inertia makes the fourth frequency 4 % less than that of a slender beam."""
    area, second_moment = 1e-4, 1e-7
    model = on(of=beam(4, A=area, I=second_moment))
    found = frequencies(bough.crba(model, np.zeros(4)), stiffness(model))
    slender = CANTILEVER * math.sqrt(E * second_moment / (RHO * area * L**4))
    assert 0.95 < found[3] / slender[3] < 0.97
    for rate in found.tolist():
        below, above = (clamped_after_rayleigh(rate * part, area, second_moment) for part in (1 - 1e-6, 1 + 1e-6))
        assert below * above < 0.0


def test_frequencies_of_a_free_beam() -> None:
    """Clamped modes on a frame that floats combine to those of a free beam."""
    model = on(("root", bough.joints.Planar()), of=beam(9, "polynomials"))
    found = frequencies(bough.crba(model, np.zeros(12)), stiffness(model)) / RATE
    assert np.allclose(found[:3], 0.0, atol=1e-2)
    assert np.allclose(found[3:6], FREE, rtol=1e-4, atol=0)
    few = on(("root", bough.joints.Planar()), of=beam(4))
    near = frequencies(bough.crba(few, np.zeros(7)), stiffness(few)) / RATE
    assert np.allclose(near[3:5], FREE[:2], rtol=1e-2, atol=0)


def test_twist_and_stretch() -> None:
    """Frequencies (2k - 1) π/2 times the speed of the wave over the length."""
    model = on(of=beam({"twist": 2, "stretch": 2}, G=26e9))
    found = np.sqrt(np.diag(stiffness(model)) / np.diag(bough.crba(model, np.zeros(4))))
    waves = np.array([26e9, 26e9, E, E])
    assert np.allclose(found, np.array([1, 3, 1, 3]) * math.pi / 2 * np.sqrt(waves / RHO) / L, rtol=1e-8, atol=0)


@pytest.mark.parametrize("direction", ["y", "z"])
def test_deflections_under_weight_and_loads_at_the_tip(direction: str) -> None:
    """With polynomials they are exact: ρ A g L⁴ / 8 E I, F L³ / 3 E I with the slope F L² / 2 E I, and M L / E I."""
    down = np.array({"y": (0, -9.81, 0), "z": (0, 0, -9.81)}[direction])
    model = on(of=beam({direction: 3}, "polynomials"), gravity=down)
    k, zero = model.limits("stiffness"), np.zeros(3)
    sag = -bough.gravity_forces(model, zero) / k
    assert math.isclose(sag.sum(), -RHO * A * 9.81 * L**4 / (8 * E * I), rel_tol=1e-11)
    J, light = bough.jacobian(model, zero, "beam.tip"), model.with_gravity((0, 0, 0))
    load = np.zeros((2, 6))
    load[1, :3] = 2.0 * down / 9.81
    x = -bough.rnea(light, zero, zero, zero, load) / k
    tip = J @ x
    assert np.allclose(tip[:3], 2.0 * down / 9.81 * L**3 / (3 * E * I), rtol=1e-11, atol=1e-12)
    assert np.allclose(tip[3:], 2.0 * np.cross((1, 0, 0), down / 9.81) * L**2 / (2 * E * I), rtol=1e-11, atol=1e-12)


def test_a_spinning_beam_gets_stiffer() -> None:
    """Beside Wright et al. 1982 (frequencies to four digits), across the plane of the spin; in it ω² is Ω² less."""
    for speed, across in ((1, (3.6816, 22.1810)), (5, (6.4495, 25.4461))):
        found = []
        for direction in ("z", "y"):
            model = on(("hub", bough.joints.Revolute("z")), of=beam({direction: 6}))
            v = np.array([speed * RATE, *np.zeros(6)])
            M, K = bough.crba(model, np.zeros(7))[1:, 1:], stiffness(model, v)[1:, 1:]
            found.append(frequencies(M, K)[:2] / RATE)
        assert np.allclose(found[0], across, rtol=5e-5, atol=0)
        assert np.allclose(found[1] ** 2, found[0] ** 2 - speed**2, rtol=1e-6, atol=0)


def test_a_spinning_chain() -> None:
    """Without stiffness and hinged, a spinning beam flaps with Ω √(k (k + 1) / 2), k odd: Legendre's polynomials."""
    joints = (("hub", bough.joints.Revolute("z")), ("hinge", bough.joints.Revolute("y")))
    model = on(*joints, of=beam({"z": 4}, "polynomials", E=1e-4))
    v = np.array([3.0, *np.zeros(5)])
    found = frequencies(bough.crba(model, np.zeros(6))[1:, 1:], stiffness(model, v)[1:, 1:])
    assert np.allclose(found[:3], 3.0 * np.sqrt([1, 6, 15]), rtol=1e-7, atol=0)


def test_a_hanging_chain() -> None:
    """Its frequencies are ½ √(g/L) times the zeros of Bessel's function J₀."""
    zeros = np.array([2.404825557695773, 5.520078110286311, 8.653727912911013])
    model = on(("hinge", bough.joints.Revolute("y")), of=beam({"z": 8}, "polynomials", E=1e-4), gravity=(9.81, 0, 0))
    found = frequencies(bough.crba(model, np.zeros(9)), stiffness(model))
    assert np.allclose(found[:3], zeros / 2 * math.sqrt(9.81 / L), rtol=1e-6, atol=0)


@pytest.mark.parametrize("load", [0.0, 0.5])
def test_columns_buckle(load: float) -> None:
    """Under their own weight at ρ A g L³ / E I = 7.8373, under a load at the tip at π²/4 E I / L²."""
    b = bough.Builder(gravity=(0, 0, 0))
    b.add_flexible("beam", beam(5, "polynomials", rho=1e-9 if load else RHO))
    b.add("load", bough.joints.Fixed(), "beam.tip", mass=load)
    model = b.build()
    straight, pressed = (stiffness(model.with_gravity((-g, 0, 0))) for g in (0.0, 1.0))
    g = 1.0 / np.linalg.eigvals(np.linalg.solve(straight, straight - pressed)).real.max()  # it is linear in g
    critical = math.pi**2 / 4 if load else 7.837347438943
    weight = load if load else RHO * A * L
    assert math.isclose(weight * g * L**2 / (E * I), critical, rel_tol=1e-6)


@pytest.mark.parametrize("modes", [1, 4])
def test_the_mass_matrix_stays_positive_however_far_a_beam_bends(modes: int, rng: np.random.Generator) -> None:
    """On a bare hinge, where modes can undo nearly all of the motion."""
    model = on(("hinge", bough.joints.Revolute("z")), of=beam(modes))
    q = np.concatenate([np.zeros((100, 1)), rng.uniform(-0.3, 0.3, size=(100, modes))], axis=1)
    assert np.linalg.eigvalsh(bough.crba(model, q)).min() > 0.0
    v = rng.normal(size=(100, model.nv))
    a = bough.aba(model, q, v, 0 * v)
    assert np.allclose(bough.rnea(model, q, v, a), 0.0, atol=1e-6 * np.abs(bough.bias_forces(model, q, v)).max())


# --- in motion ---


def swinging(n: int) -> bough.Model:
    """A beam with a load on a hinge with armature, of n rigid segments with springs between; of modes if n is 0."""
    length, young, second, area, density = 1.0, 2e9, 2e-10, 1e-4, 1000.0
    b = bough.Builder(gravity=(0, -9.81, 0))
    b.add("hub", bough.joints.Revolute("z"), armature=0.01)
    if not n:
        shape = bough.flexible.Beam(length, E=young, I=second, A=area, rho=density, modes=3)
        b.add_flexible("beam", shape, "hub")
        b.frame("tip", "beam.tip")
    h, parent, at = length / max(n, 1), "hub", 0.0
    for k in range(n + 1 if n else 0):  # the first and the last are halves, so that springs stand for whole segments
        size = h / 2 if k in (0, n) else h
        half = bough.Placement(origin=(size / 2, 0, 0))
        rod = bough.Inertia.rod(size, mass=density * area * size, axis="x").placed(half)
        joint = bough.joints.Revolute("z") if k else bough.joints.Fixed()
        b.add(f"{k}", joint, parent, at=(at, 0, 0), inertia=rod, stiffness=young * second / h if k else 0.0)
        parent, at = f"{k}", size
    if n:
        b.frame("tip", parent, at=(at, 0, 0))
    b.add("load", bough.joints.Fixed(), "tip", mass=0.05)
    return b.build()


def swung(model: bough.Model, speed: float, time: float, dt: float) -> tuple[Floats, float]:
    """Where hub and tip are after a while, by Runge and Kutta's method, and by how much the energy has changed."""
    q, v, k = np.zeros(model.nq), np.zeros(model.nv), model.limits("stiffness")
    v[0] = speed

    def rate(x: Floats) -> Floats:
        q, v = np.split(x, [model.nq])
        return np.concatenate([v, bough.aba(model, q, v, bough.passive_forces(model, q, v))])

    def energy(x: Floats) -> float:
        q, v = np.split(x, [model.nq])
        return float(bough.kinetic_energy(model, q, v) + bough.potential_energy(model, q) + 0.5 * k @ (q * q))

    x = start = np.concatenate([q, v])
    for _ in range(round(time / dt)):
        a = rate(x)
        b = rate(x + dt / 2 * a)
        c = rate(x + dt / 2 * b)
        x = x + dt / 6 * (a + 2 * b + 2 * c + rate(x + dt * c))
    tip = bough.placements(model, x[: model.nq], "tip")[:2, 3]
    return np.array([x[0], *tip]), abs(energy(x) - energy(start)) / energy(start)


def test_a_beam_of_modes_swings_as_one_of_segments(compiled: None) -> None:
    """Deflections of 4 % of the length, which the theory of small ones has right to the cube of that."""
    by_modes, lost = swung(swinging(0), 2.0, 0.3, 1e-4)
    by_segments, also_lost = swung(swinging(16), 2.0, 0.3, 5e-5)
    assert max(lost, also_lost) < 1e-9
    straight = np.array([math.cos(by_modes[0]), math.sin(by_modes[0])])
    assert np.linalg.norm(by_modes[1:] - straight) > 0.02
    assert np.allclose(by_modes, by_segments, rtol=0, atol=2e-3)


def test_counts() -> None:
    """A rigid tree costs what it cost, and a beam's two modes in a plane cost less than a rigid segment in space."""
    flexible = on(("hub", bough.joints.Revolute("z")), of=beam(2))
    rigid = bough.trees.topologies.chain(3)
    for name in ("rnea", "crba", "aba"):
        assert bough.count(flexible, name, optimized=True).total < bough.count(rigid, name, optimized=True).total
