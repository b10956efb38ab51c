"""The tolerances of constraints: one name, one value, and the reason for it. Numbers are parts of what is named."""

__all__ = ["CONDITION", "CONFLICT", "DEPENDENT", "INDEPENDENT", "RANK", "RESIDUAL", "ROUNDING"]

ROUNDING = 1e-12
"""A component of a motion this small beside the motion is rounding: some sines and products of numbers of size 1."""

RANK = 1e-6
"""A singular value this small beside the largest is zero: parts of real mechanisms do not fit any better."""

DEPENDENT = 1e-12
"""A pivot this small beside the diagonal entries it is left of is zero: pivots go with the squares of singular values,
and this is the square of `RANK`."""

INDEPENDENT = 1e-6
"""A pivot this large beside them surely is not: half of the digits are left. What lies between is looked at closely."""

CONFLICT = 1e-6
"""Constraints that miss what is asked of them by more than this part of it contradict each other."""

RESIDUAL = 1e-9
"""They do not where they miss by less than this (m/s², rad/s²): where nothing is asked for, all may be rounding."""

CONDITION = 1e-10
"""Equations are solved as they are if the inverse of their condition number is larger: that leaves six digits."""
