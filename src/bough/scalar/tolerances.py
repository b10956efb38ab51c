"""Every number that something is compared with because of rounding: one name, one value, one reason.

Parts are relative to what stands beside them in the comparison; numbers with units are not. A few units of rounding of
one number are written as such where they are meant, and parameters of a method beside it.
"""

__all__ = [
    "ASSEMBLED",
    "CONFLICT",
    "NEGATIVE_MOMENT",
    "RESIDUAL",
    "ROUNDING",
    "SAME_TIME",
    "SINGULAR_VALUE",
    "TOUCHING",
    "UNIT_LENGTH",
    "VANISHING",
]

# ---- ranks and conditions --------------------------------------------------------------------------------------------

SINGULAR_VALUE = 1e-6
"""A singular value this small beside the largest is zero: parts of real mechanisms do not fit any better. Pivots go
with the squares of singular values: one below the square of this, beside the diagonal entry it is left of, is zero, and
one above this surely is not, as half of the digits are left. What lies between is looked at closely."""

VANISHING = 1e-11
"""What is below this part of the largest is zero in a matrix A = J M⁻¹ Jᵀ that is known to rounding: a pivot, singular
value or eigenvalue of rows that depend on others."""

CONFLICT = 1e-6
"""Constraints that miss what is asked of them by more than this part of it contradict each other."""

RESIDUAL = 1e-9
"""What fails by more is not met: a row of a problem of magnitude 1, or where little is asked by so many m/s² or rad/s²,
or per s; a rate that is to be linear, a pivot not to be negative. Far above rounding, far below what is measured."""

ROUNDING = 1e-12
"""What is smaller beside 1 is rounding: forces that fail by less are a solution, a component of a motion this small is
none. A thousand sums, or some sines and products, of numbers of size 1 round by less."""

# ---- positions and velocities ----------------------------------------------------------------------------------------

UNIT_LENGTH = 1e-6
"""How far from 1 the length of a quaternion or normal may be, and a matrix from a rotation: what float32 makes of one,
with some operations to spare."""

ASSEMBLED = 1e-10
"""How far a constraint may be off (m, rad) where positions are put together: Newton's steps reach it in float64."""

TOUCHING = 1e-6
"""Gaps up to this (m or rad) count as closed: those of contacts and limits, and those of a body from where its joint
has it. Along a surface, slower is rest (m/s). A micrometre: the numbers of a file leave as much open."""

SAME_TIME = 1e-9
"""Times nearer to each other than this part of a duration are one: what sums of a million steps of time round."""

NEGATIVE_MOMENT = 1e-6
"""Of the sum of principal moments: by so much one of an inertia that is given with each state may be negative. A few
units of rounding in float32, of rods and flat bodies whose least moment is zero."""
