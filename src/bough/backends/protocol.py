"""What back-ends are told: the arrays of a function, and hints."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.errors import ProgramError

__all__ = ["Argument", "Column", "FloatArray", "Holder", "Limbs", "Place", "Signature", "Variant", "require_size"]

FloatArray = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Argument:
    """An array that a function takes or gives: its shape for one state, its meaning, and what is asked of it."""

    name: str
    shape: tuple[int, ...]
    meaning: str = ""
    finite: bool = True  # whether NaN and infinity are refused; if not, it is sound or shows in the results
    quaternions: tuple[int, ...] = ()  # where quaternions of unit length begin
    not_negative: tuple[int, ...] = ()  # where numbers lie that are not negative
    inertias: tuple[tuple[int, ...], ...] = ()  # where xx yx yy zx zy zz of inertias lie, none with a negative moment
    optional: bool = False
    frozen: bool = False  # whether a fresh result is read-only

    @property
    def size(self) -> int:
        """How many numbers it has for one state."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class Signature:
    """What a program takes and gives; inputs that are not `given` are left out, and None is passed for them."""

    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    given: frozenset[str]

    @property
    def present(self) -> tuple[Argument, ...]:
        """The inputs that are given."""
        return tuple(a for a in self.inputs if a.name in self.given)


def require_size(name: str, given: int, size: int) -> None:
    """Raise unless an array has as many numbers for each state as a program has for it."""
    if given != size:
        raise ProgramError(f"{name!r} has {given} numbers for each state, and the program has {size}")


class Holder(Protocol):
    """A class with two slots, in alphabetical order what many objects share and an array."""

    def of_fresh(self, shared: Any, array: Any, /) -> Any:
        """An object that takes over an array nobody else holds."""


class Variant(NamedTuple):
    """How an entry differs from the plain one."""

    exact: bool = False  # whether it hands over unless all arguments have the same batch axes
    holder: Holder | None = None  # class of the object that the result is returned in
    shared: object = None  # what that object has in its first slot
    named: type[tuple[Any, ...]] | None = None  # class of the tuple that several results are returned in

    def held(self, result: Any) -> Any:
        """A result as the entry returns it."""
        return result if self.holder is None else self.holder.of_fresh(self.shared, result)

    def collected(self, result: Any) -> Any:
        """Results in the tuple that the entry returns them in; what is no tuple as it is."""
        return tuple.__new__(self.named, result) if self.named is not None and type(result) is tuple else result


class Place(NamedTuple):
    """Where an entry of an input belongs: which limb, of which group of limbs built alike, and where in it."""

    group: int
    limb: int
    where: Hashable


class Column(Place):
    """The place of an entry of a matrix: `limb` is its column, one of a group of neighbours, and `where` its row."""

    __slots__ = ()


Limbs: TypeAlias = Mapping[str, Sequence[Place | None]]
"""For inputs by name, the place of each entry; None for what belongs to no limb. It is a hint, and may be empty."""
