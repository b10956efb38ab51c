"""The rows of a problem of contact on a mechanism: contacts, coordinates with limits, and loops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bough.complementarity.conditions import Conditions
from bough.scalar import Array, Part
from bough.scalar.lazy import cached_property

__all__ = ["TANGENTS", "ContactRows"]

TANGENTS = 2
"""Directions of friction of a contact."""


@dataclass(frozen=True)
class ContactRows:
    """Which rows a problem has, and where its parts are: all its numbers stand in one array."""

    contacts: int
    friction: Literal["pyramid", "cone"] | None
    limits: int
    loops: int
    nv: int
    slides: bool
    watched: tuple[tuple[int, float], ...] | None = None
    """Row, among those of limits, and sign of each side, if limits get no forces here and are only watched. Otherwise
    each row of limits is a side, with sign 1."""
    slopes: int = 0
    """How many numbers beside the problem say what forces of limits do to joints."""

    @property
    def axes(self) -> int:
        """Rows of one contact."""
        return 1 + TANGENTS if self.friction else 1

    @property
    def touch(self) -> int:
        """Rows of all contacts."""
        return self.axes * self.contacts

    @property
    def count(self) -> int:
        """All rows."""
        return self.touch + self.limits + self.loops

    @cached_property
    def solved(self) -> tuple[int, ...]:
        """The rows that get forces."""
        watched = range(self.touch, self.touch + self.limits) if self.watched is not None else ()
        return tuple(row for row in range(self.count) if row not in watched)

    @cached_property
    def places(self) -> NDArray[np.intp]:
        """The row of each one-sided condition: contacts, then limits."""
        sides = range(self.limits) if self.watched is None else [row for row, _ in self.watched]
        return np.array([*range(0, self.touch, self.axes), *(self.touch + row for row in sides)], np.intp)

    @cached_property
    def signs(self) -> NDArray[np.float64]:
        """The sign of each."""
        sides = [1.0] * self.limits if self.watched is None else [sign for _, sign in self.watched]
        return np.array([*[1.0] * self.contacts, *sides])

    @cached_property
    def conditions(self) -> Conditions:
        """Of the rows that get forces."""
        k, friction, limits = self.contacts, self.friction, self.limits if self.watched is None else 0
        touch = Conditions.contacts(k, friction) if friction else Conditions.inequalities(k)
        return touch + Conditions.inequalities(limits) + Conditions.equalities(self.loops)

    @cached_property
    def parts(self) -> dict[str, slice]:
        """Where each part of a problem is."""
        n, conditions = self.count, self.places.size
        sizes = {"A": n * n, "base": n, "offset": conditions, "active": conditions, "response": n * self.nv}
        sizes |= {"free": self.nv, "sliding": TANGENTS * self.contacts if self.slides else 0, "slopes": self.slopes}
        return _one_behind_the_other(sizes)

    @property
    def size(self) -> int:
        """How many numbers a problem has."""
        return int(self.parts["slopes"].stop)

    @cached_property
    def results(self) -> dict[str, slice]:
        """Where each part of a result is: the motion, forces of all rows, and by how much the worst of them fails; by
        how much each of the rows `solved` fails, and their forces but for what follows normals.
        """
        n = len(self.solved)
        sizes = {"motion": self.nv, "forces": self.count, "worst": 1, "failing": n, "raw": n}
        return _one_behind_the_other(sizes)

    def part(self, whole: Array, name: str) -> Part:
        """A part of a problem."""
        return Part(whole, self.parts[name].start)

    @lru_cache(maxsize=256)  # noqa: B019 (small and few)
    def with_limits(self, count: int) -> ContactRows:
        """The same with forces of so many limits."""
        return replace(self, limits=count, watched=None, slopes=0)


def _one_behind_the_other(sizes: Mapping[str, int]) -> dict[str, slice]:
    ends = np.cumsum([0, *sizes.values()]).tolist()
    return {name: slice(ends[k], ends[k + 1]) for k, name in enumerate(sizes)}
