"""Two smooth surfaces that stay in contact at a point that moves over both."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from bough.algorithms.blocks import SmallFactor
from bough.errors import ModelError
from bough.lagrange.attributes import ORIGIN, ReadFields, a_direction, a_function, a_number, a_place, a_space, read_by
from bough.model.joints.reading import read_floats
from bough.model.ties.body import Scalars
from bough.model.ties.constraint import Constraint, Side, Sides, dot, rate_along
from bough.scalar import Scalar, absolute, derivative, maximum, minimum, repeat
from bough.scalar.dual import Dual
from bough.scalar.tolerances import ROUNDING
from bough.spatial import UNITS

__all__ = ["Ellipsoid", "HalfSpace", "Tangent"]

Surface: TypeAlias = Callable[[list[Scalar]], Scalar]

STEPS = 30
"""Newton steps to the point where two surfaces are nearest to touching; most take six, very flat ones twenty."""


def _read_half_axes(half_axes: ArrayLike, what: str) -> tuple[float, ...]:
    expected = "a positive number or three (m)"
    given = read_floats(half_axes, what, expected)
    x, y, z = np.broadcast_to(given, (3,)).tolist() if given.shape in ((), (3,)) else (0.0, 0.0, 0.0)
    if not all(a > 0.0 for a in (x, y, z)) or x == y == z == math.inf:
        raise ModelError(f"{what} are {half_axes!r}, expected {expected}")
    return (x, y, z)


@dataclass(frozen=True)
class Ellipsoid(ReadFields):
    """An ellipsoid around the origin of its body, as a surface of `Tangent`; a sphere, or a cylinder without an end.

    Parameters
    ----------
    half_axes
        Half axes along x, y and z (m), each positive; one number for a sphere, infinity along the axis of a cylinder.
        In the plane the first two count.
    """

    half_axes: ArrayLike = field(metadata=read_by(_read_half_axes, "the half axes of an ellipsoid"))

    def __call__(self, p: list[Scalar]) -> Scalar:
        """What is zero on the surface and negative inside, with slope 1 where that is steepest."""
        axes = cast(Any, self.half_axes)[: len(p)]
        total: Scalar = -1.0
        for x, a in zip(p, axes, strict=True):
            if math.isfinite(a):
                total = total + x * x * (1.0 / (a * a))
        return total * (0.5 * float(min(axes)))


@dataclass(frozen=True)
class HalfSpace(ReadFields):
    """A plane, as a surface of `Tangent` together with one that is round: normal · p = offset, and matter below it.

    Parameters
    ----------
    normal, offset
        A direction, and metres, in coordinates of its body.
    """

    normal: str | ArrayLike = field(default="z", metadata=a_direction("the normal of a plane"))
    offset: float = field(default=0.0, metadata=a_number("the offset of a plane (m)"))

    def __call__(self, p: list[Scalar]) -> Scalar:
        """The distance from the plane (m)."""
        distance: Scalar = dot(cast(Any, self.normal), p) - self.offset
        return distance


@dataclass(frozen=True)
class Tangent(ReadFields, Constraint):
    """Smooth convex surfaces of two bodies, or of a body and the world, touch in a point, which moves over both.

    At the point p where F₁ = F₂ is least, (1 - s) ∇F₁ + s ∇F₂ = 0 for some s between 0 and 1. There the error is the
    value of both: zero where surfaces touch, positive where they are apart, negative where they overlap. It changes as
    (1 - s) Ḟ₁ + s Ḟ₂ does at a p that stays, which is all that forces need; accelerations also take how p moves on.

    Parameters
    ----------
    surface, to_surface
        F of each body: takes a list of three scalars (two in the plane), a position in its coordinates, and returns
        what is zero on the surface, negative inside, and convex; written with operators and the functions of
        `bough.scalar`. Best it grows by a metre in a metre near the surface: forces are per unit of the error. An
        `Ellipsoid`, a `HalfSpace`, or a function of your own. One of the two at least must be curved.
    at, to
        A place inside each body, from where the point is looked for (m, in its own coordinates).
    space
        3, or 2 for curves in the plane.
    """

    surface: Surface = field(metadata=a_function("the surface of the first body"))
    to_surface: Surface = field(metadata=a_function("the surface of the second body"))
    at: ArrayLike = field(default=ORIGIN, metadata=a_place("the place inside the first body"))
    to: ArrayLike = field(default=ORIGIN, metadata=a_place("the place inside the second body"))
    space: Literal[2, 3] = field(default=3, metadata=a_space("surfaces that touch"))

    numbers = ("at", "to")
    in_one_space = True
    rows = 1

    def errors(self, parameters: Scalars, sides: Sides) -> Scalars:
        return [self._mixed_value(sides, self._nearest(parameters, sides))]

    def rates(self, parameters: Scalars, sides: Sides) -> Scalars:
        z = self._nearest(parameters, sides)
        return rate_along(lambda moved: [self._mixed_value(moved, z)], sides)

    def touching(self, parameters: Scalars, sides: Sides) -> Scalars:
        """Where in the world the surfaces touch, or are nearest to that (m)."""
        return self._nearest(parameters, sides)[: self.space]

    def _skins(self, sides: Sides) -> list[_Skin]:
        pairs = zip(sides, (self.surface, self.to_surface), strict=False)
        return [_Skin(side, surface, self.space) for side, surface in pairs]

    def _mixed_value(self, sides: Sides, z: Scalars) -> Scalar:
        """(1 - s) F₁ + s F₂ at a point that stays; where F₁ = F₂ both, and less touched by rounding than either."""
        *p, s = z
        first, second = (skin.surface(skin.local(p)) for skin in self._skins(sides))
        return first * (1.0 - s) + second * s

    def _nearest(self, parameters: Scalars, sides: Sides) -> tuple[Scalar, ...]:
        """The point p and the share s: found for the values alone; then rates follow by as many steps as are needed."""
        still = tuple(Side(x.body, x.parameters, tuple(_plain(k)[0] for k in x.x), ()) for x in sides)
        key = (self, *parameters, *(x for side in still for x in side.x))
        z = _find_once(key, lambda: self._search_nearest(parameters, still))
        for _ in range(max(_plain(x)[1] for side in sides for x in side.x)):
            *p, s = z
            bent = _Bent(self._skins(sides), p)
            ds = bent.share(s)
            z = (*(a + b for a, b in zip(p, bent.downhill(s, ds), strict=True)), s + ds)
        return z

    def _search_nearest(self, parameters: Scalars, sides: Sides) -> tuple[Scalar, ...]:
        ends, skins = (sides[0].point(parameters[:3]), sides[1].point(parameters[3:6])), self._skins(sides)
        start = [(a + b) * 0.5 for a, b in zip(*ends, strict=False)][: self.space]

        def step(_: object, carry: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
            *p, s, _ = carry
            bent = _Bent(skins, p)
            s_next = maximum(s * 0.5, minimum(s + bent.share(s), s * 0.5 + 0.5))  # at most half way to an end
            change, size = bent.downhill(s_next), absolute(s_next - s)
            for a, b in zip(p, change, strict=True):
                size = maximum(size, absolute(b) - absolute(a) * ROUNDING)
            return (*(a + b for a, b in zip(p, change, strict=True)), s_next, size)

        begin: tuple[Scalar, ...] = (*start, 0.5, 1.0)
        return repeat(STEPS, step, begin, until=lambda carry: carry[-1] <= ROUNDING)[:-1]


class _Skin:
    """A surface on a body at one instant: where the body is, and its axes in the world."""

    def __init__(self, side: Side, surface: Surface, space: int) -> None:
        self.surface, self._origin = surface, side.point(ORIGIN)[:space]
        self._axes = [side.direction(unit.parts)[:space] for unit in UNITS[:space]]

    def local(self, p: Scalars) -> list[Scalar]:
        """A position of the world in coordinates of the body."""
        apart = [a - b for a, b in zip(p, self._origin, strict=True)]
        return [dot(axis, apart) for axis in self._axes]

    def bent(self, p: Scalars) -> tuple[Scalar, list[Scalar], list[list[Scalar]]]:
        """F, ∇F and ∇²F, the latter two in axes of the world, by dual numbers within dual numbers."""
        at, n = tuple(self.local(p)), len(p)
        H: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
        units = [tuple(1.0 if i == j else 0.0 for i in range(n)) for j in range(n)]
        gradient: tuple[Scalar, ...] = ()
        for j, unit in enumerate(units):
            gradient, rates = derivative(partial(self._slopes, units[: j + 1]), at, unit)
            for i, rate in enumerate(rates):
                H[i][j] = H[j][i] = rate
        columns = list(zip(*self._axes, strict=True))  # what a step along each axis of the world is in the body
        carried = [[dot(row, column) for column in columns] for row in H]
        bends = [[dot(column, [row[c] for row in carried]) for c in range(n)] for column in columns]
        return self.surface(list(at)), [dot(column, gradient) for column in columns], bends

    def _slopes(self, units: list[tuple[float, ...]], at: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
        return tuple(derivative(lambda x: self.surface(list(x)), at, unit)[1] for unit in units)


class _Bent:
    """Both surfaces to second order at a point: Newton steps towards (1 - s) ∇F₁ + s ∇F₂ = 0 and F₁ = F₂."""

    def __init__(self, skins: list[_Skin], p: Scalars) -> None:
        self._values, self._gradients, self._bends = zip(*(skin.bent(p) for skin in skins), strict=True)
        # ∇(F₂ - F₁), by which the sum of gradients changes with s too
        self._slope = [b - a for a, b in zip(*self._gradients, strict=True)]

    def share(self, s: Scalar) -> Scalar:
        """The step of s, if p follows."""
        gradient, factor = self._mixed(s)
        apart: Scalar = self._values[1] - self._values[0] - dot(self._slope, factor.solve(gradient))
        return apart / dot(self._slope, factor.solve(self._slope))

    def downhill(self, s: Scalar, ds: Scalar = 0.0) -> list[Scalar]:
        """The step of p to where the sum of gradients vanishes, if s changes by ds."""
        gradient, factor = self._mixed(s)
        return [-x for x in factor.solve([g + ds * x for g, x in zip(gradient, self._slope, strict=True)])]

    def _mixed(self, s: Scalar) -> tuple[list[Scalar], SmallFactor]:
        """The sum of gradients, and its derivative along p, factorised."""
        gradient, *rows = (
            [a * (1.0 - s) + b * s for a, b in zip(*pair, strict=True)]
            for pair in (self._gradients, *zip(*self._bends, strict=True))
        )
        return gradient, SmallFactor([row[: k + 1] for k, row in enumerate(rows)])


_LAST: list[tuple[tuple[object, ...], tuple[Scalar, ...]]] = [((), ())]


def _find_once(key: tuple[object, ...], find: Callable[[], tuple[Scalar, ...]]) -> tuple[Scalar, ...]:
    """What was found for the very same scalars just before: a block of J asks for one point six times and more."""
    known, found = _LAST[0]
    if len(known) != len(key) or any(a is not b for a, b in zip(known, key, strict=True)):
        found = find()
        _LAST[0] = (key, found)
    return found


def _plain(x: Scalar) -> tuple[Scalar, int]:
    """A scalar without rates, and how many times something is being differentiated along."""
    depth = 0
    while isinstance(x, Dual):
        x, depth = x.value, depth + 1
    return x, depth
