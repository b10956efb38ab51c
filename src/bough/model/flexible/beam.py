"""Beams: modes of straight, uniform, clamped beams, by Ritz's method with polynomials.

All shapes are polynomials of the distance from the clamped end, so that their integrals are exact. The mass sits on
four points of each cross-section with its second moments, which turn with the beam (rotary inertia, after Rayleigh).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Legendre
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray

from bough.errors import ModelError
from bough.model.flexible.body import FlexibleBody, StationShapes
from bough.model.joints.reading import read_floats
from bough.reading import known_name, number, whole_number

__all__ = ["Beam"]

Floats = NDArray[np.float64]

FURTHER = 12  # polynomials beyond the number of modes, by which these are exact to ten digits and more
MOST_MODES = 12  # in one direction
SORTS = ("y", "z", "twist", "stretch")
PART = "a number from 0 to 1, a part of the length"
BASES = ("eigenmodes", "polynomials")


@dataclass(frozen=True, init=False)
class Beam(FlexibleBody):
    """A straight uniform beam along x, clamped at the origin of its frame, for `bough.Builder.add_flexible`.

    The beam bends along y and z, twists about x and stretches along x, with small deflections. Bending shortens it, so
    it stiffens when it spins and buckles under load. Each mode has a displacement (or rotation, for twist) of 1 at the
    tip, so the elastic coordinates are deflections of the tip in m (or rad). Their order is y, z, twist, stretch, each
    with ascending frequency.

    Parameters
    ----------
    length
        In m.
    E
        Young's modulus (Pa).
    A, I
        Area of the cross-section (m²), and its second moments (m⁴): one number, or (∫ z² dA, ∫ y² dA). The first
        resists bending along z, the second bending along y.
    rho
        Density (kg/m³).
    modes
        Number of modes by direction: ``{"y": 3, "z": 3, "twist": 1, "stretch": 0}``. A single number is for bending
        along y.
    G, J
        Shear modulus (Pa; default: from E and a Poisson's ratio of 0.3), and torsion constant (m⁴; default: the polar
        second moment, which is right for round sections).
    damping
        Damping ratio of all modes; 0.01 is typical of metal structures.
    stations
        Places that carry other bodies: names, and positions as a fraction of the length from 0 to 1 (default: ``"tip"``
        at 1).
    basis
        ``"eigenmodes"`` of the clamped beam, or ``"polynomials"``, which span all polynomials of lowest degree.
        Eigenmodes give the exact frequencies of a cantilever by Rayleigh's theory: with the rotary inertia of
        cross-sections, without shear. Three polynomials give exact static deflections under weight and loads at the
        tip, and a few polynomials fit any other support.

    Examples
    --------
    >>> import bough
    >>> ruler = bough.flexible.Beam(0.3, E=70e9, A=3e-5, I=2.5e-12, rho=2700.0, modes=2)
    >>> b = bough.Builder(gravity=(0, -9.81, 0))
    >>> _ = b.add_flexible("ruler", ruler)
    >>> model = b.build()
    >>> x = -bough.gravity_forces(model, [0.0, 0.0]) / model.limits("stiffness")
    >>> print(f"{1000 * x.sum():.2f} mm")
    -4.59 mm
    """

    def __init__(
        self,
        length: float,
        *,
        E: float,
        A: float,
        I: float | tuple[float, float],
        rho: float,
        modes: int | Mapping[str, int] = 3,
        G: float | None = None,
        J: float | None = None,
        damping: float = 0.0,
        stations: Mapping[str, float] | None = None,
        basis: str = "eigenmodes",
    ) -> None:
        L, young, area, density = (_positive(x, n) for x, n in ((length, "length"), (E, "E"), (A, "A"), (rho, "rho")))
        seconds = read_floats(I, "I of a beam", "one or two positive numbers (m⁴)")
        if seconds.shape not in ((), (2,)) or not (seconds > 0.0).all() or not np.isfinite(seconds).all():
            raise ModelError(f"I of a beam is {I!r}, expected one or two positive numbers (m⁴)")
        I_y, I_z = np.broadcast_to(seconds, 2).tolist()
        shear = young / 2.6 if G is None else _positive(G, "G")
        torsion = I_y + I_z if J is None else _positive(J, "J")
        ratio = number(damping, "damping of a beam", "a number that is not negative", least=0.0, error=ModelError)
        known_name(basis, "basis of the modes of a beam", BASES)
        rigid = {  # mass and rotary inertia per length, stiffness against bending or stretching
            "y": (density * area, density * I_z, young * I_z),
            "z": (density * area, density * I_y, young * I_y),
            "twist": (density * (I_y + I_z), 0.0, shear * torsion),
            "stretch": (density * area, 0.0, young * area),
        }
        found: list[_Mode] = []
        for sort, count in _counts(modes).items():
            found += _modes(sort, count, L, *rigid[sort], further=FURTHER if basis == "eigenmodes" else 0)
        x, weights = _gauss(max(mode.shape.degree() for mode in found) + 2, L)
        wide, high = math.sqrt(2.0 * I_z / area), math.sqrt(2.0 * I_y / area)
        section = ((wide, 0.0), (-wide, 0.0), (0.0, high), (0.0, -high))
        points = np.array([[place, y, z] for place in x for y, z in section])
        super().__init__(
            points,
            np.repeat(density * area / 4.0 * weights, 4),
            np.array([[mode.displacement(*point) for mode in found] for point in points.tolist()]),
            [mode.stiffness for mode in found],
            {name: _station(found, part * L) for name, part in _places(stations).items()},
            damping=[2.0 * ratio * math.sqrt(mode.stiffness * mode.mass) for mode in found],
            shortening=np.repeat(_shortening(found, x), 4, axis=0),
        )

    def __repr__(self) -> str:
        return f"<Beam of {self.inertia.mass:g} kg: {self.modes} modes>"


@dataclass(frozen=True)
class _Mode:
    """One mode: a polynomial of the distance from the clamped end, 1 at the tip."""

    sort: str
    shape: Legendre
    mass: float
    stiffness: float

    def displacement(self, x: float, y: float, z: float) -> tuple[float, float, float]:
        """Of a point of the beam, for a unit of the elastic coordinate."""
        value, slope = float(self.shape(x)), float(self.shape.deriv()(x))
        match self.sort:
            case "y":
                return (-y * slope, value, 0.0)
            case "z":
                return (-z * slope, 0.0, value)
            case "twist":
                return (0.0, -z * value, y * value)
            case _:
                return (value, 0.0, 0.0)

    def rotation(self, x: float) -> tuple[float, float, float]:
        """Of a cross-section, for a unit of the elastic coordinate."""
        slope = float(self.shape.deriv()(x))
        angles = {"y": (0.0, 0.0, slope), "z": (0.0, -slope, 0.0), "twist": (float(self.shape(x)), 0.0, 0.0)}
        return angles.get(self.sort, (0.0, 0.0, 0.0))


def _modes(sort: str, count: int, L: float, mass: float, rotary: float, stiffness: float, further: int) -> list[_Mode]:
    """The lowest modes of one sort that combine from polynomials which vanish as a clamped end asks."""
    bends = sort in ("y", "z")
    clamped = (Legendre.identity(domain=[0.0, L]) / L) ** (2 if bends else 1)
    basis = [clamped * Legendre.basis(k, domain=[0.0, L]) for k in range(count + further)]
    x, w = _gauss(count + further + 3, L)
    values, slopes, curves = (np.array([p.deriv(k)(x) if k else p(x) for p in basis]) for k in range(3))
    strain = curves if bends else slopes
    M = mass * (values * w @ values.T) + rotary * (slopes * w @ slopes.T)
    K = stiffness * (strain * w @ strain.T)
    C = np.linalg.inv(np.linalg.cholesky(M))
    squares, vectors = np.linalg.eigh(C @ K @ C.T)
    found = []
    for square, vector in zip(squares[:count], (C.T @ vectors).T, strict=False):
        shape = sum((p * float(c) for c, p in zip(vector, basis, strict=True)), start=basis[0] * 0.0)
        tip = float(shape(L))
        found.append(_Mode(sort, shape / tip, 1.0 / tip**2, float(square) / tip**2))
    return found


def _gauss(count: int, L: float) -> tuple[Floats, Floats]:
    """Points of a length, and their weights, with which polynomials of degree 2 count - 1 are integrated exactly."""
    x, w = leggauss(count)
    return (x + 1.0) * (L / 2.0), w * (L / 2.0)


def _shortening(modes: list[_Mode], x: Floats) -> Floats:
    """ψ (points, m, m, 3) on the axis of the beam: -∫ φₐ′ φᵦ′ dx along it, for modes that bend to one side."""
    result = np.zeros((len(x), len(modes), len(modes), 3))
    for a, one in enumerate(modes):
        for b, two in enumerate(modes):
            if one.sort == two.sort and one.sort in ("y", "z"):
                result[:, a, b, 0] = -(one.shape.deriv() * two.shape.deriv()).integ(lbnd=0.0)(x)
    return result


def _station(modes: list[_Mode], x: float) -> StationShapes:
    moves, turns = [mode.displacement(x, 0.0, 0.0) for mode in modes], [mode.rotation(x) for mode in modes]
    return StationShapes((x, 0.0, 0.0), moves, turns, _shortening(modes, np.array([x]))[0])


def _counts(modes: int | Mapping[str, int]) -> dict[str, int]:
    given = modes if isinstance(modes, Mapping) else {"y": modes}
    for sort in given:
        known_name(sort, "direction of modes of a beam", SORTS)
    counts = {
        sort: whole_number(given[sort], f"modes of a beam, {sort}", least=0, most=MOST_MODES, error=ModelError)
        for sort in SORTS
        if sort in given
    }
    if not any(counts.values()):
        raise ModelError(f"modes of a beam are {modes!r}, expected at least one")
    return counts


def _places(stations: Mapping[str, float] | None) -> dict[str, float]:
    if stations is None:
        return {"tip": 1.0}
    if not isinstance(stations, Mapping):
        raise ModelError(f"stations of a beam are {stations!r}, expected parts of its length by name")
    for name, x in stations.items():
        number(x, f"station {name!r} of a beam", PART, least=0.0, error=ModelError)
        if x > 1.0:
            raise ModelError(f"station {name!r} of a beam is {x!r}, expected {PART}")
    return dict(stations)


def _positive(value: float, what: str) -> float:
    return number(value, f"{what} of a beam", "a positive number", above=0.0, error=ModelError)
