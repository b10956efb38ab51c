"""Inertias as users give them: checked, moved, put together, and those of simple solids."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.errors import ModelError
from bough.model.joints.axis import AxisLike, basis_with, read_axis
from bough.model.joints.reading import read_floats
from bough.model.placement import Placement, Vec3, all_finite
from bough.reading import instance
from bough.scalar.tolerances import NEGATIVE_MOMENT

__all__ = ["Inertia", "negative_moment", "require_inertia"]

Floats = NDArray[np.float64]

BALL = 4.0 / 3.0 * math.pi
"""Volume of a ball of radius 1."""


def _is_inertia(J: Floats) -> bool:
    """Whether a matrix is exactly symmetric, with positive moments none of which exceeds the sum of the others."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = J.tolist()
    half = (xx + yy + zz) / 2.0
    return (
        (xy, xz, yz) == (yx, zx, zy)
        and _is_positive(xx, yy, zz, xy, xz, yz)
        and _is_positive(half - xx, half - yy, half - zz, -xy, -xz, -yz)
    )


def _is_positive(xx: float, yy: float, zz: float, xy: float, xz: float, yz: float) -> bool:
    """Whether a symmetric matrix is positive definite by more than rounding: its leading minors are positive."""
    scale = max(xx, yy, zz)
    minor = xx * yy - xy * xy
    whole = zz * minor - yz * (xx * yz - xy * xz) + xz * (xy * yz - yy * xz)
    return xx > 1e-12 * scale and minor > 1e-12 * scale * scale and whole > 1e-12 * scale * scale * scale


@dataclass(frozen=True, slots=True, init=False)
class Inertia:
    """Mass (kg), centre of mass (m) and rotational inertia about it (kg m²: xx yx yy zx zy zz), in the body frame.

    ``A + B`` is the inertia of two bodies together, and ``A.placed(X)`` that of a body placed elsewhere. `box`,
    `sphere`, `ellipsoid`, `cylinder`, `capsule` and `rod` make solids centred at the origin, from a mass (kg) or a
    density (kg/m³). `bough.Builder.add` accepts an inertia for mass, centre and moments.

    Parameters
    ----------
    mass
        In kg, not negative.
    com
        The centre of mass, three numbers (m).
    rotational
        Moments about the centre of mass (kg m²): a number, three principal moments, six numbers (xx yx yy zx zy zz) or
        a symmetric (3, 3) matrix.

    Examples
    --------
    >>> import bough
    >>> head = bough.Inertia.sphere(0.1, mass=2.0).placed(bough.Placement(origin=(0, 0, 0.5)))
    >>> hammer = bough.Inertia.cylinder(0.02, 0.5, density=700.0, axis="z") + head
    >>> print(f"{hammer.mass:.3f} kg")
    2.440 kg
    """

    mass: float
    com: Vec3
    rotational: tuple[float, float, float, float, float, float]

    def __init__(self, mass: float, com: ArrayLike = (0.0, 0.0, 0.0), rotational: ArrayLike = 0.0) -> None:
        made = Inertia.of(mass, com, _whole(rotational), "an inertia")
        _set(self, made.mass, made.com, made.rotational)

    # -- of solids -----------------------------------------------------------------------------------------------------

    @staticmethod
    def box(size: ArrayLike, *, mass: float | None = None, density: float | None = None) -> Inertia:
        """A box with lengths `size` along x, y and z (m)."""
        x, y, z = _sizes(size, 3, "the size of a box")
        xx, yy, zz = x * x / 12.0, y * y / 12.0, z * z / 12.0
        return _solid("a box", mass, density, x * y * z, (xx, yy, zz))

    @staticmethod
    def sphere(radius: float, *, mass: float | None = None, density: float | None = None) -> Inertia:
        """A solid sphere with a radius (m)."""
        (r,) = _sizes(radius, 1, "the radius of a sphere")
        return _solid("a sphere", mass, density, BALL * r * r * r, (r * r / 5.0,) * 3)

    @staticmethod
    def ellipsoid(radii: ArrayLike, *, mass: float | None = None, density: float | None = None) -> Inertia:
        """An ellipsoid with half axes `radii` along x, y and z (m)."""
        a, b, c = _sizes(radii, 3, "the radii of an ellipsoid")
        return _solid("an ellipsoid", mass, density, BALL * a * b * c, (a * a / 5.0, b * b / 5.0, c * c / 5.0))

    @staticmethod
    def cylinder(
        radius: float, length: float, *, mass: float | None = None, density: float | None = None, axis: AxisLike = "z"
    ) -> Inertia:
        """A cylinder with a radius and a length (m) along an axis: "x", "y", "z" or three numbers."""
        r, h = _sizes((radius, length), 2, "radius and length of a cylinder")
        across = r * r / 4.0
        return _solid("a cylinder", mass, density, math.pi * r * r * h, (across, across, h * h / 12.0), axis)

    @staticmethod
    def capsule(
        radius: float, length: float, *, mass: float | None = None, density: float | None = None, axis: AxisLike = "z"
    ) -> Inertia:
        """A cylinder with two hemispherical caps; `length` (m) is without the caps."""
        r, h = _sizes((radius, length), 2, "radius and length of a capsule")
        middle, caps = math.pi * r * r * h, BALL * r * r * r
        part = h / (h + 4.0 / 3.0 * r)  # of the volume: the cylinder
        across = part * (r * r / 4.0) + (1.0 - part) * (r * r / 5.0)
        # a half ball at height z above its centre h/2: the mean of (h/2 + z)² with the means 3 r/8 and r²/5 of z and z²
        along = part * (h * h / 12.0) + (1.0 - part) * (h * h / 4.0 + 3.0 * h * r / 8.0 + r * r / 5.0)
        return _solid("a capsule", mass, density, middle + caps, (across, across, along), axis)

    @staticmethod
    def rod(length: float, *, mass: float | None = None, density: float | None = None, axis: AxisLike = "z") -> Inertia:
        """A thin rod along an axis, with a length (m), and a mass or a density per length (kg/m)."""
        (h,) = _sizes(length, 1, "the length of a rod")
        return _solid("a rod", mass, density, h, (0.0, 0.0, h * h / 12.0), axis)

    # -- from numbers ------------------------------------------------------------------------------------------------

    @staticmethod
    def of(mass: float, com: ArrayLike, inertia: ArrayLike, what: str) -> Inertia:
        """Make an inertia with checks; `inertia` is a number, three principal moments or a (3, 3) matrix, about the
        centre of mass.
        """
        made = Inertia.read(mass, com, inertia, what)
        flaw = made.flaw
        if flaw is not None:
            raise ModelError(f"{what}: {flaw}")
        return made

    @staticmethod
    def read(mass: float, com: ArrayLike, inertia: ArrayLike, what: str) -> Inertia:
        """Make an inertia from finite numbers. It is symmetric, but may be physically impossible; see `flaw`."""
        m = read_floats(mass, f"{what}: the mass", "a number (kg)")
        c = read_floats(com, f"{what}: the centre of mass", "three finite numbers (metres)")
        J = read_floats(inertia, f"{what}: the inertia", "a number, three, or a (3, 3) matrix")
        if m.shape != () or not all_finite(m) or m < 0:
            raise ModelError(f"{what}: the mass is {mass}, expected a finite number that is not negative (kg)")
        if c.shape != (3,) or not all_finite(c):
            raise ModelError(f"{what}: the centre of mass is {com!r}, expected three finite numbers (metres)")
        if J.shape not in ((), (3,), (3, 3)) or not all_finite(J):
            raise ModelError(f"{what}: the inertia is {inertia!r}, expected a finite number, three, or a (3, 3) matrix")
        J = J if J.ndim == 2 else np.diag(np.broadcast_to(J, 3))
        if np.abs(J - J.T).max() > 1e-9 * np.abs(J).max() + 1e-15 * float(m):
            raise ModelError(f"{what}: the inertia {J.tolist()} is not symmetric")
        return Inertia._made(float(m), c, (J + J.T) / 2)

    @property
    def flaw(self) -> str | None:
        """Return why no rigid body can have this inertia, or None.

        Rounding is tolerated: moments may be negative by the rounding error of a shift of the origin, and may violate
        the triangle inequality in the fourth digit, as for flat bodies in files with few digits.
        """
        if _is_inertia(self.matrix):
            return None
        moments = np.linalg.eigvalsh(self.matrix)
        x, y, z = self.com
        scale, shift = float(np.abs(moments).max()), 1e-15 * self.mass * (1.0 + x * x + y * y + z * z)
        if moments[0] < -1e-9 * scale - shift:
            return f"the inertia has the negative principal moment {moments[0]:g} kg m²"
        if moments[2] > moments[0] + moments[1] + 1e-4 * scale + shift:
            return (
                f"the principal moments {moments.tolist()} kg m² break the triangle inequality "
                "(none may exceed the sum of the others): no rigid body has them"
            )
        return None

    @staticmethod
    def _made(mass: float, c: Floats, J: Floats) -> Inertia:
        (xx, _, _), (yx, yy, _), (zx, zy, zz) = J.tolist()
        x, y, z = c.tolist()
        return _set(object.__new__(Inertia), mass, (x + 0.0, y + 0.0, z + 0.0), (xx, yx, yy, zx, zy, zz))

    @property
    def matrix(self) -> Floats:
        """The rotational inertia as an array (3, 3)."""
        xx, yx, yy, zx, zy, zz = self.rotational
        return np.array([[xx, yx, zx], [yx, yy, zy], [zx, zy, zz]])

    def about_origin(self) -> Floats:
        """The rotational inertia about the origin of the body frame (3, 3)."""
        return self.matrix + _parallel(self.mass, np.array(self.com))

    def placed(self, at: Placement) -> Inertia:
        """Return the inertia in another frame, in which `at` is the placement of the present frame."""
        R = instance(at, "at", Placement).matrix
        return Inertia._made(self.mass, R @ np.array(self.com) + at.vector, R @ self.matrix @ R.T)

    def plus(self, other: Inertia) -> Inertia:
        """Return the inertia of two bodies together; also written ``self + other``."""
        mass = self.mass + instance(other, "other", Inertia).mass
        if mass == 0.0:
            return Inertia._made(0.0, np.array(self.com), self.matrix + other.matrix)
        com = (self.mass * np.array(self.com) + other.mass * np.array(other.com)) / mass
        J = sum((x.matrix + _parallel(x.mass, np.array(x.com) - com) for x in (self, other)), start=np.zeros((3, 3)))
        return Inertia._made(mass, com, J)

    def __add__(self, other: Inertia) -> Inertia:
        return self.plus(other) if isinstance(other, Inertia) else NotImplemented

    def minus(self, part: Inertia) -> Inertia:
        """Return the inertia of the body without one of its parts; differences within rounding count as zero."""
        mass = self.mass - instance(part, "part", Inertia).mass
        if mass <= 1e-12 * self.mass:
            mass = 0.0
        whole = self.about_origin() - part.about_origin()
        com = np.zeros(3)
        if mass > 0.0:
            com = (self.mass * np.array(self.com) - part.mass * np.array(part.com)) / mass
        J = whole - _parallel(mass, com)
        if np.abs(J).max() <= 1e-12 * np.abs(self.about_origin()).max():
            J = np.zeros((3, 3))
        return Inertia._made(mass, com, (J + J.T) / 2)


def require_inertia(inertia: object, what: str) -> None:
    """Raise unless it is an inertia of finite numbers whose mass is not negative; the message says of what.

    Files may say moments that no rigid body has (see `Inertia.flaw`); where users give them, they are refused.
    """
    if not isinstance(inertia, Inertia):
        raise ModelError(f"{what}: the inertia is {inertia!r}, expected an Inertia")
    try:
        sound = len(inertia.com) == 3 and len(inertia.rotational) == 6
        sound = sound and all(map(math.isfinite, (inertia.mass, *inertia.com, *inertia.rotational)))
    except (TypeError, ValueError):
        sound = False
    if not sound:
        raise ModelError(f"{what}: the inertia is {inertia!r}, expected finite numbers: a mass, three and six of them")
    if inertia.mass < 0.0:
        raise ModelError(f"{what}: the mass is {inertia.mass}, expected a finite number that is not negative (kg)")


def negative_moment(J: NDArray[Any]) -> float | None:
    """The least principal moment of an inertia (..., 6: xx yx yy zx zy zz), if negative beyond rounding in float32."""
    moments = np.linalg.eigvalsh(J[..., [[0, 1, 3], [1, 2, 4], [3, 4, 5]]].astype(np.float64))
    found = moments[moments[..., 0] < -NEGATIVE_MOMENT * np.abs(moments).sum(axis=-1)]
    return float(found.min()) if found.size else None


def _parallel(mass: float, c: Floats) -> Floats:
    return np.asarray(mass * ((c @ c) * np.eye(3) - np.outer(c, c)))


def _set(inertia: Inertia, mass: float, com: Vec3, rotational: tuple[float, ...]) -> Inertia:
    """Give an inertia its parts, known to be good."""
    object.__setattr__(inertia, "mass", mass)
    object.__setattr__(inertia, "com", com)
    object.__setattr__(inertia, "rotational", rotational)
    return inertia


def _whole(rotational: ArrayLike) -> ArrayLike:
    """A (3, 3) matrix from the six numbers of its lower triangle; anything else as it is."""
    J = read_floats(rotational, "the rotational inertia", "a number, three, six, or a (3, 3) matrix")
    return J[[[0, 1, 3], [1, 2, 4], [3, 4, 5]]] if J.shape == (6,) else J


def _sizes(given: ArrayLike, count: int, what: str) -> list[float]:
    """Lengths in metres, positive and such that their products are numbers."""
    expected = f"{count} positive numbers (m)" if count > 1 else "a positive number (m)"
    sizes = read_floats(given, what, expected)
    if sizes.shape not in ((count,), () if count == 1 else (count,)) or not ((sizes > 0) & np.isfinite(sizes)).all():
        raise ModelError(f"{what}: {given!r}, expected {expected}")
    return [float(x) for x in sizes.ravel()]


def _solid(
    what: str,
    mass: float | None,
    density: float | None,
    volume: float,
    squares: tuple[float, float, float],
    axis: AxisLike = "z",
) -> Inertia:
    """A solid around the origin from the means of x², y² and z² over its volume, with z along an axis."""
    if (mass is None) == (density is None):
        raise ModelError(f"{what}: mass is {mass!r} and density {density!r}, expected one of the two")
    name, value = ("mass", mass) if density is None else ("density", density)
    number = read_floats(value, f"{what}: the {name}", "a number")  # type: ignore[arg-type]
    if number.shape != () or not number >= 0 or not math.isfinite(number):
        raise ModelError(f"{what}: the {name} is {value!r}, expected a finite number that is not negative")
    m = float(number) * (1.0 if density is None else volume)
    xx, yy, zz = squares
    R = basis_with(read_axis(axis, f"the axis of {what}"))
    moments = [m * (yy + zz), m * (xx + zz), m * (xx + yy)]
    if not all(map(math.isfinite, (m, *moments))):
        raise ModelError(f"{what}: its mass {m} kg or its inertia is not finite, expected a smaller one")
    return Inertia._made(m, np.zeros(3), R @ np.diag(moments) @ R.T)
