"""Rows of constraints: errors, rates, bias, a matrix that is dense or sparse, and how errors go back to zero."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bough.model import Mechanism
from bough.scalar import Array, Index, Scalar, Table, array, gather, gather_index, maximum, select, sqrt

__all__ = ["Entries", "Terms", "dense_entries", "returning"]

HASTE = 4.0
"""How many times, at least, errors of a loop decay to 1/e while a joint of it turns by one radian: from one passage
through a loss of rank to the next, half a turn later, by four decimal digits. More would cost integrators digits."""


@dataclass(frozen=True)
class Terms:
    """All constraints of a model, row by row: error e, matrix L (rows x nv), L v, and the rest of L v̇ + bias.

    `levers` tell how far joints move along the rows of loops, as a part of how far they move at all, from 0 to 1.
    `turning` is the square of the fastest angular velocity of a joint on the way around the row's loop, `damping` for
    each row 2, or 1 for one on velocities alone; None if there are no such rows.
    """

    count: int  # of rows
    errors: Array
    matrix: Array
    rates: Array
    bias: Array
    turning: Array
    damping: Table | None = None
    levers: Array = ()  # type: ignore[assignment]

    def returning(self, row: Index, rate: Scalar) -> Scalar:
        """What brings the error of a row back to zero; see `returning`."""
        damping = 2.0 if self.damping is None else gather(self.damping, row)
        return returning(self.errors[row], self.rates[row], self.turning[row], rate, damping)


def returning(error: Scalar, speed: Scalar, turning: Scalar, rate: Scalar, damping: Scalar = 2.0) -> Scalar:
    """What is added to L v̇ + bias so that an error decays: 2 ρ ė + ρ² e, critically damped; ρ r for a rate r alone.

    ρ is the rate (1/s), and more where joints turn fast: where a loop passes through a loss of rank, displacements grow
    with the speed of the passage, so errors have to be gone before the next. A rate of zero stays zero.
    """
    faster = select(rate > 0.0, sqrt(maximum(rate * rate, turning * HASTE**2)), 0.0)
    return speed * (damping * faster) + error * (faster * faster)


@dataclass(frozen=True)
class Entries:
    """A matrix with a row for each constraint and columns for the velocities of a model: an array, and what lies where.

    Entries that are not written stay as they are.
    """

    values: Array
    place: Callable[[Index, Index], Index]  # of a row and a column
    adds: bool = False  # whether more than one part of a row is written to one place

    def put(self, m: Mechanism, row: Index, own: Index, value: Scalar) -> None:
        """Write the entry in the column of an own velocity; joints that follow others add to those of these."""
        if m.coupling.trivial:
            place = self.place(row, own)  # where stations of one flexible body share coordinates, entries add up
            self.values[place] = self.values[place] + value if m.most_modes or self.adds else value
            return
        source, ratio = Table("own_v", m.coupling.v_source), Table("v_ratio", m.coupling.v_ratio)
        place = self.place(row, gather_index(source, own))
        self.values[place] = self.values[place] + value * gather(ratio, own)


def dense_entries(m: Mechanism, rows: int) -> Entries:
    """A matrix of zeros (rows, nv), row by row."""
    n = m.model.nv
    return Entries(array(rows * n), lambda row, column: row * n + column)
