"""Every number that something is compared with because of rounding: one name, one value, one reason.

Parts are relative to what stands beside them in the comparison; numbers with units are not.
"""

__all__ = [
    "ASSEMBLED",
    "CONDITIONING",
    "CONFLICT",
    "DEGENERATE_INERTIA",
    "DEPENDENT",
    "EIGENVALUE",
    "INDEPENDENT",
    "LINEAR",
    "PLACED",
    "RANK",
    "RESIDUAL",
    "ROUNDING",
    "SLIDING",
    "SUSPECT_PIVOT",
    "TOUCHING",
    "UNIT_LENGTH",
    "VANISHING_PIVOT",
]

# ---- pivots and ranks ------------------------------------------------------------------------------------------------

RANK = 1e-6
"""A singular value this small beside the largest is zero: parts of real mechanisms do not fit any better."""

EIGENVALUE = 1e-10
"""Eigenvalues below this, of rows that would each be 1 on bodies alone, are of rows that others hold already."""

DEPENDENT = 1e-12
"""A pivot this small beside the diagonal entries it is left of is zero: pivots go with the squares of singular values,
and this is the square of `RANK`."""

INDEPENDENT = 1e-6
"""A pivot this large beside them surely is not: half of the digits are left. What lies between is looked at closely."""

SUSPECT_PIVOT = 1e-5
"""A pivot below this part of the diagonal entry it is left of has lost five digits: it is looked at more closely."""

VANISHING_PIVOT = 8
"""A pivot not larger than so many units of rounding of that entry is zero: nothing but rounding can be left of it."""

CONDITIONING = 1e-10
"""Equations are solved as they are if the inverse of their condition number is larger: that leaves six digits."""

DEGENERATE_INERTIA = 1e-14
"""A central moment of inertia below this part of the largest is that of a body without volume: rounding leaves such."""

# ---- conditions ------------------------------------------------------------------------------------------------------

CONFLICT = 1e-6
"""Constraints that miss what is asked of them by more than this part of it contradict each other."""

RESIDUAL = 1e-9
"""They do not where they miss by less than this (m/s², rad/s²): where nothing is asked for, all may be rounding."""

LINEAR = 1e-9
"""What users say is linear may be off by this part: a few thousand roundings."""

# ---- positions and velocities ----------------------------------------------------------------------------------------

ROUNDING = 1e-12
"""A component of a motion this small beside the motion is rounding: some sines and products of numbers of size 1."""

UNIT_LENGTH = 1e-6
"""How far from 1 the length of a unit quaternion may be: what float32 makes of one, with some operations to spare."""

ASSEMBLED = 1e-10
"""How far a constraint may be off (m, rad) where positions are put together: Newton's steps reach it in float64."""

PLACED = 1e-6
"""How far a body may be (m, rad) from where its joint allows it to be, to be taken for being there: a micrometre."""

TOUCHING = 1e-9
"""One-sided constraints act where their distance (m, rad) is not larger: ten times what a projection leaves."""

SLIDING = 1e-6
"""Contacts slide where they move faster (m/s) along their surface: slower is rest that a simulation left inexact."""
