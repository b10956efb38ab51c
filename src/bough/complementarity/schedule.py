"""In which order guesses of `bough.complementarity.principal` are made, and what is done before and after each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bough.complementarity.conditions import Conditions
from bough.scalar import Table

__all__ = ["Schedule"]

GUESSES, GUESSES_OF_CONES, SWEEPS, ROUNDS_OF_SWEEPS = 4, 12, 6, 7
"""So many guesses are made in a row after some sweeps, twice as many sweeps in each round as in the one before."""

SOFT_GUESSES, SOFTEST, HARDEST, HARDER = 64, 1.0, 1e-10, 0.6
"""After the first round and guesses from a smooth path, three times so many in which rows are soft: a part of their
diagonal entries is added to them, from `SOFTEST` down to `HARDEST`, in each guess `HARDER` times that of the one
before. With it rows that depend on each other have forces of their own, and as it only acts on changes of forces, it
changes no solution. In the first two series, of the contacts and rows that want another side only the one that fails
worst gets it."""

MANY_ROWS, SHORT_SERIES = 150, 44
"""Of more rows the second series alone is made, so short, and no sweeps come after it: other methods are quicker."""

STARTED, LAST = 4, 4
"""So many guesses are made from forces that are given, before all others; and in so many, the last of a series with
soft rows, forces need not be as exact if the caller says so."""


class _Turn(NamedTuple):
    """What is done in one turn."""

    sweeps: int = 0  # before the guess
    anew: int = 0  # whether it begins without forces
    smooth: int = 0  # or from those of a smooth path
    alone: float = 0.0  # whether only what fails worst changes sides
    soft: float = 0.0  # how soft rows are
    roughly: float = 1.0  # how exactly conditions must be met
    settle: int = 0  # whether the forces of the smooth path will do after it


class Schedule:
    """All turns, a table for each part of them."""

    def __init__(self, conditions: Conditions, started: bool, roughly: float, brief: bool) -> None:
        guesses = GUESSES_OF_CONES if conditions.cones.size else GUESSES
        hard = [[_Turn(SWEEPS << k), *[_Turn()] * (guesses - 1)] for k in range(ROUNDS_OF_SWEEPS)]
        turns = [*[_Turn(soft=HARDEST)] * (STARTED if started else 0), *hard[0]]
        if brief:
            turns = [turn._replace(roughly=roughly) for turn in turns]
        else:
            near = _Turn(soft=HARDEST, roughly=roughly)
            turns += [near._replace(smooth=1), *[near] * (GUESSES_OF_CONES - 2), near._replace(settle=1)]
            many = conditions.n > MANY_ROWS
            count = SHORT_SERIES if many else SOFT_GUESSES
            softer = [max(SOFTEST * HARDER**k, HARDEST) for k in range(count)]
            series = ((_Turn(anew=1, alone=1.0), 1.0), (_Turn(SWEEPS), 1.0), (_Turn(anew=1), 0.0))
            for first, alone in series[1:2] if many else series:
                soft = [first._replace(soft=softer[0]), *(_Turn(alone=alone, soft=part) for part in softer[1:])]
                turns += [*soft[:-LAST], *(turn._replace(roughly=roughly) for turn in soft[-LAST:])]
            turns += [] if many else [turn for some in hard[1:] for turn in some]
        self.turns = len(turns)
        self.sweeps, self.anew, self.smooth, self.alone, self.soft, self.roughly, self.settle = (
            Table(name, np.array(column)) for name, column in zip(_Turn._fields, zip(*turns, strict=True), strict=True)
        )
        self.swept = Table("swept", np.minimum(self.sweeps.data, 1))
        self.smooths = bool(self.smooth.data.any())
