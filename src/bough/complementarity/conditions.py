"""What each row of a complementarity problem a = A f + b demands of its a and f."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from bough.errors import ModelError
from bough.reading import known_name, listed, whole_number
from bough.scalar.lazy import cached_property

__all__ = ["FAR", "KINDS", "NO_NORMAL", "Conditions", "Kind"]

Kind: TypeAlias = Literal["equality", "inequality", "pyramid", "cone", "box"]
KINDS: tuple[Kind, ...] = get_args(Kind)

NO_NORMAL = -1
"""In place of the number of a row: there is none."""

FAR = 1e30
"""The offset of a condition that no force can break, the largest gap there is, and a bound of a force that is none."""


@dataclass(frozen=True)
class Conditions:
    """The condition of each row of a = A f + b, for forces or impulses f; immutable.

    - "equality": a = 0, any f
    - "inequality": a ≥ 0, f ≥ 0, a f = 0
    - "pyramid": -μ fₙ ≤ f ≤ μ fₙ; a = 0 if f is between the bounds, a ≤ 0 if f = μ fₙ, a ≥ 0 if f = -μ fₙ
    - "cone": for two rows, (f₁, f₂) is not longer than μ fₙ; (a₁, a₂) is 0 if it is shorter, else opposite to it
    - "box": lower ≤ f ≤ upper; a = 0 if f is between the bounds, a ≤ 0 at the upper one, a ≥ 0 at the lower one

    fₙ is the normal force of the contact, whose row is an inequality. Conditions can be added: ``Conditions.contacts(4)
    + Conditions.equalities(3)``. Sums are cached, so repeated calls use the compiled program at once.

    Parameters
    ----------
    kinds
        The kind of each row, length n.
    normals
        For each friction row the index of its normal row, from 0; -1 for all other rows. A cone has two adjacent rows
        with the same normal.

    Examples
    --------
    >>> import bough
    >>> both = bough.lcp.Conditions.contacts(1) + bough.lcp.Conditions.equalities(1)
    >>> both.kinds
    ('inequality', 'pyramid', 'pyramid', 'equality')
    """

    kinds: tuple[Kind, ...]
    normals: tuple[int, ...]

    def __init__(self, kinds: Iterable[Kind], normals: Iterable[int] | None = None) -> None:
        kinds = listed(kinds, "kinds", "the kind of each row")
        object.__setattr__(self, "kinds", kinds)
        numbers = None if normals is None else listed(normals, "normals", "the number of a row for each")
        if numbers is not None:
            named = ((x, f"normals[{k}]") for k, x in enumerate(numbers))
            numbers = tuple(whole_number(x, name, least=NO_NORMAL, error=ModelError) for x, name in named)
        object.__setattr__(self, "normals", (NO_NORMAL,) * len(kinds) if numbers is None else numbers)
        self._check()

    @classmethod
    def equalities(cls, count: int) -> Conditions:
        """Return conditions for `count` rows with a = 0."""
        return cls._alike("equality", _count(count))

    @classmethod
    def inequalities(cls, count: int) -> Conditions:
        """Return conditions for `count` rows with 0 ≤ a ⊥ f ≥ 0: joint limits, contacts without friction."""
        return cls._alike("inequality", _count(count))

    @classmethod
    def boxes(cls, count: int) -> Conditions:
        """Return conditions for `count` rows with given bounds: dry friction of joints, motors of limited force."""
        return cls._alike("box", _count(count))

    @classmethod
    def contacts(cls, count: int, friction: Literal["pyramid", "cone"] = "pyramid", tangents: int = 2) -> Conditions:
        """Return conditions for contacts with friction; each contact has its normal row, then its tangent rows."""
        name = known_name(friction, "model of friction", ("pyramid", "cone"))
        return cls._touching(_count(count), name, _count(tangents, "tangents"))

    @classmethod
    @lru_cache(maxsize=256)
    def _alike(cls, kind: Kind, count: int) -> Conditions:
        return cls([kind] * count)

    @classmethod
    @lru_cache(maxsize=256)
    def _touching(cls, count: int, friction: Any, tangents: int) -> Conditions:
        kinds: list[Kind] = []
        normals: list[int] = []
        for _ in range(count):
            normal = len(kinds)
            kinds += ["inequality", *[friction] * tangents]
            normals += [NO_NORMAL, *[normal] * tangents]
        return cls(kinds, normals)

    @lru_cache(maxsize=256)  # noqa: B019 (small and few)
    def __add__(self, other: Conditions) -> Conditions:
        shifted = (k if k == NO_NORMAL else k + self.n for k in other.normals)
        return Conditions(self.kinds + other.kinds, (*self.normals, *shifted))

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.kinds)

    def of(self, *kinds: Kind) -> NDArray[np.intp]:
        """Return the indices of the rows of some kinds."""
        for kind in kinds:
            known_name(kind, "kind of condition", KINDS)
        return np.array([i for i, kind in enumerate(self.kinds) if kind in kinds], np.intp)

    def some(self, rows: Iterable[int]) -> Conditions:
        """Return the conditions of some rows; friction rows need their normal rows."""
        kept = [int(i) for i in rows]
        place = {row: k for k, row in enumerate(kept)} | {NO_NORMAL: NO_NORMAL}
        return Conditions([self.kinds[i] for i in kept], [place[self.normals[i]] for i in kept])

    def at_friction(self, mu: NDArray[Any]) -> NDArray[Any]:
        """Return friction coefficients (..., n) at the friction rows, from those at the normal rows."""
        return np.where(self.normal == NO_NORMAL, mu.dtype.type(0), mu[..., self.normal])

    @cached_property
    def in_order(self) -> list[int]:
        """All rows, normals before their friction."""
        return sorted(range(self.n), key=lambda i: (max(i, self.normals[i]), self.normals[i] > i, i))

    @cached_property
    def inequality(self) -> NDArray[np.intp]:
        """Indices of the inequality rows."""
        return self.of("inequality")

    @cached_property
    def pyramid(self) -> NDArray[np.intp]:
        """Indices of the rows of pyramids."""
        return self.of("pyramid")

    @cached_property
    def tangents(self) -> NDArray[np.intp]:
        """Indices of all friction rows."""
        return self.of("pyramid", "cone")

    @cached_property
    def box(self) -> NDArray[np.intp]:
        """Indices of the rows with given bounds."""
        return self.of("box")

    @cached_property
    def cones(self) -> NDArray[np.intp]:
        """The first row of each cone; the second row follows it."""
        return self.of("cone")[::2]

    @cached_property
    def normal(self) -> NDArray[np.intp]:
        """`normals` as an array."""
        return np.array(self.normals, np.intp)

    def __reduce__(self) -> tuple[type[Conditions], tuple[object, ...]]:
        return Conditions, (self.kinds, self.normals)

    def _check(self) -> None:
        for i, kind in enumerate(self.kinds):
            known_name(kind, "kind of condition", KINDS)
            normal = self.normals[i] if i < len(self.normals) else NO_NORMAL
            if (kind in ("pyramid", "cone")) != (normal != NO_NORMAL):
                expected = f"expected {NO_NORMAL}" if normal != NO_NORMAL else "expected the number of its normal row"
                raise ModelError(f"row {i} is of kind {kind!r} and its normal is {normal}, {expected}")
            if normal != NO_NORMAL and (not 0 <= normal < self.n or self.kinds[normal] != "inequality"):
                raise ModelError(f"the normal of row {i} is {normal}, expected the number of an inequality row")
        if len(self.normals) != self.n:
            raise ModelError(f"there are {len(self.normals)} normals, expected {self.n}: one for each row")
        rows = [i for i, kind in enumerate(self.kinds) if kind == "cone"]
        for first, second in zip(rows[::2], [*rows[1::2], NO_NORMAL], strict=False):
            if second != first + 1 or self.normals[first] != self.normals[second]:
                raise ModelError(f"row {first} begins a cone, expected row {first + 1} to be of it, with its normal")


MOST_CONDITIONS = 10**7
"""Rows that fit into memory; A would have the square of it."""


def _count(value: object, name: str = "count") -> int:
    return whole_number(value, name, most=MOST_CONDITIONS, error=ModelError)
