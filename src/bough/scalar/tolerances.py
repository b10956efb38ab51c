"""Tolerances: every small or large number that decides something, its name, and why it has its value.

Problems of forces are scaled to magnitude 1 before they are judged: a diagonal of 1 in A, a largest entry of 1 in b.
"""

EXACT = 1e-12
"""Forces that fail by less, in a problem of magnitude 1, are a solution: a thousand rows round by less than this."""

CONFLICT = 1e-9
"""Rows that fail by more, in a problem of magnitude 1, are not met: far above rounding, far below what is measured."""

RANK = 1e-11
"""A pivot or singular value below this part of the largest is zero: what rounding leaves of rows that depend."""

TIE = 1e-13
"""Ratios of a pivoting step that differ by less are equal: some hundred roundings of numbers of magnitude 1."""

NEAR = 1e-7
"""A force that is to go is gone below this part of the largest, though sums of many round more than one."""

SOFT = 1e-5
"""What rows without a solution give way by per force, to see which do: its square is above RANK, itself below 1."""

STEADY = 1e-9
"""What is added to the diagonal for Newton steps only: redundant rows then share their forces evenly."""

TINY = 1e-280
"""Below this largest entry A is enlarged, or its reciprocals would overflow."""

ENLARGED = 2.0**400
"""By what A is enlarged: a power of two changes no digit."""
