"""What a function says itself of its derivatives, where running its program back would not do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from bough.scalar import Array, Index, Table, gather_index, repeat

__all__ = ["Columns", "Differential", "Linear", "each_few"]

Rates: TypeAlias = Mapping[str, Array]


@dataclass(frozen=True)
class Columns:
    """Directions along which some inputs change.

    Parameters
    ----------
    wrt
        The inputs that change.
    count
        How many directions there are.
    rates
        From the number of a direction to the rates of these inputs.
    put
        Takes the number of a direction and the rates of the outputs.
    """

    wrt: tuple[str, ...]
    count: int
    rates: Callable[[Index], Rates]
    put: Callable[[Index, Rates], None]


class Linear(Protocol):
    """A function at some inputs, and its derivatives there, over scalars."""

    outputs: Rates

    def grouped(self, wrt: Sequence[str]) -> list[tuple[str, ...]]:
        """Inputs along which columns are best found by the same code."""

    def push(self, groups: Sequence[Columns]) -> None:
        """Find the rates of the outputs along directions."""

    def pull(self, weights: Rates, wrt: Sequence[str]) -> dict[str, Array]:
        """The derivatives of a weighted sum of outputs by some inputs."""


Differential: TypeAlias = Callable[[Mapping[str, Array]], Linear]
"""From inputs to the function there."""

ABREAST = 2
"""Directions that the code of a loop follows at once."""


def each_few(count: int, rule: Callable[[list[Index]], None]) -> None:
    """Run a rule for the numbers 0 … count-1, a few at a time, by a loop that stays one; for the last perhaps twice."""
    turns, places = -(-count // ABREAST), np.arange(-(-count // ABREAST) * ABREAST)
    table = Table("directions", np.minimum(places, count - 1))

    def some(c: Index, carry: tuple[()]) -> tuple[()]:
        rule([gather_index(table, c * ABREAST + k) for k in range(ABREAST)])
        return carry

    if turns > 1:
        repeat(turns, some, ())
    else:
        rule(list(range(count)))
