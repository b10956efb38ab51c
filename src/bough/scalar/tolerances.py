"""Every number that something is compared with because of rounding: one name, one value, one reason.

Parts are relative to what stands beside them in the comparison; numbers with units are not.
"""

__all__ = [
    "ASSEMBLED",
    "CLEAR_PIVOT",
    "DEGENERATE_INERTIA",
    "HELD",
    "LINEAR",
    "MISSED",
    "PLACED",
    "RANK",
    "SLIDING",
    "SUSPECT_PIVOT",
    "TOUCHING",
    "UNIT_LENGTH",
    "VANISHING_PIVOT",
]

# ---- pivots and ranks ------------------------------------------------------------------------------------------------

SUSPECT_PIVOT = 1e-5
"""A pivot below this part of the diagonal entry it is left of has lost five digits: it is looked at more closely."""

VANISHING_PIVOT = 8
"""A pivot not larger than so many units of rounding of that entry is zero: nothing but rounding can be left of it."""

CLEAR_PIVOT = 1e-6
"""A pivot above this part of what its row does to bodies alone is no doubt about rank; below, ranks are computed."""

RANK = 1e-10
"""Eigenvalues below this, of rows that would each be 1 on bodies alone, are of rows that others hold already."""

HELD = 1e-12
"""Of a row that no force can move, since other constraints hold it, this part or less is left by rounding."""

DEGENERATE_INERTIA = 1e-14
"""A central moment of inertia below this part of the largest is that of a body without volume: rounding leaves such."""

# ---- conditions ------------------------------------------------------------------------------------------------------

MISSED = 1e-6
"""A row off by more than this part of what it is asked for is in conflict with others; less, least squares leave."""

LINEAR = 1e-9
"""What users say is linear may be off by this part: a few thousand roundings."""

# ---- positions and velocities ----------------------------------------------------------------------------------------

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
