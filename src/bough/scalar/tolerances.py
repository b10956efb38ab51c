"""Every number that something is compared with because of rounding: one name, one value, one reason.

Parts are relative to what stands beside them in the comparison; numbers with units are not.
"""

__all__ = [
    "ACTING",
    "ASSEMBLED",
    "CONFLICT",
    "DEGENERATE_INERTIA",
    "DEPENDENT",
    "EIGENVALUE",
    "FAILING",
    "GIVING_WAY",
    "INDEPENDENT",
    "MERGED",
    "NEAR",
    "NEARLY_HELD",
    "PARALLEL_AXES",
    "PARALLEL_EDGES",
    "PLACED",
    "REGRESSOR_RANK",
    "RESIDUAL",
    "ROUNDING",
    "SAME_CORNER",
    "SAME_HEIGHT",
    "SAME_TIME",
    "SINGULAR_VALUE",
    "SLIDING",
    "STEADY",
    "SUSPECT_PIVOT",
    "TIE",
    "TOUCHING",
    "UNIT_LENGTH",
    "VANISHING",
    "VANISHING_PIVOT",
]

# ---- pivots and ranks ------------------------------------------------------------------------------------------------

SINGULAR_VALUE = 1e-6
"""A singular value this small beside the largest is zero: parts of real mechanisms do not fit any better."""

EIGENVALUE = 1e-10
"""Eigenvalues below this, of rows that would each be 1 on bodies alone, are of rows that others hold already."""

DEPENDENT = 1e-12
"""A pivot this small beside the diagonal entries it is left of is zero: pivots go with the squares of singular values,
and this is the square of `SINGULAR_VALUE`."""

INDEPENDENT = 1e-6
"""A pivot this large beside them surely is not: half of the digits are left. What lies between is looked at closely."""

VANISHING = 1e-11
"""A pivot or singular value below this part of the largest is zero: what rounding leaves of rows that depend."""

NEARLY_HELD = 1e-3
"""An equality whose diagonal entry is below this part of the largest may be nearly held by others, and is not scaled up
any further: rounding of the largest then stays below VANISHING."""

SUSPECT_PIVOT = 1e-5
"""A pivot below this part of the diagonal entry it is left of has lost five digits: it is looked at more closely."""

VANISHING_PIVOT = 8
"""A pivot not larger than so many units of rounding of that entry is zero: nothing but rounding can be left of it."""

DEGENERATE_INERTIA = 1e-14
"""A central moment of inertia below this part of the largest is that of a body without volume: rounding leaves such."""

# ---- conditions ------------------------------------------------------------------------------------------------------

CONFLICT = 1e-6
"""Constraints that miss what is asked of them by more than this part of it contradict each other."""

RESIDUAL = 1e-9
"""They do not where they miss by less than this (m/s², rad/s², or per s): where little is asked, that is rounding. And
a one-sided condition without a force that fails by more gets one."""

# ---- problems of forces, scaled to magnitude 1: a diagonal of 1 in A, a largest entry of 1 in b ----------------------

FAILING = 1e-9
"""What fails by more, in a problem of magnitude 1 or as a part of what it is beside, is not met (a row), not linear (a
rate that users give), or negative (a pivot): far above rounding, far below what is measured."""

TIE = 1e-13
"""Ratios of a pivoting step that differ by less are equal: some hundred roundings of numbers of magnitude 1."""

NEAR = 1e-7
"""A force that is to go is gone below this part of the largest, though sums of many round more than one."""

GIVING_WAY = 1e-5
"""What rows without a solution give way by per force, to see which do: its square is above VANISHING."""

STEADY = 1e-9
"""What is added to the diagonal for Newton steps only: redundant rows then share their forces evenly."""

# ---- positions and velocities ----------------------------------------------------------------------------------------

ROUNDING = 1e-12
"""What is smaller beside 1 is rounding: forces that fail by less are a solution, a component of a motion this small is
none. A thousand sums, or some sines and products, of numbers of size 1 round by less."""

UNIT_LENGTH = 1e-6
"""How far from 1 the length of a quaternion or normal may be, and a matrix from a rotation: what float32 makes of one,
with some operations to spare."""

ASSEMBLED = 1e-10
"""How far a constraint may be off (m, rad) where positions are put together: Newton's steps reach it in float64."""

PLACED = 1e-6
"""How far a body may be (m, rad) from where its joint allows it to be, to be taken for being there: a micrometre."""

ACTING = 1e-9
"""One-sided constraints act where their distance (m, rad) is not larger: ten times what a projection leaves."""

TOUCHING = 1e-6
"""Gaps of contacts and limits up to this (m or rad) count as closed: a micrometre."""

SLIDING = 1e-6
"""Contacts slide where they move faster (m/s) along their surface: slower is rest that a simulation left inexact."""

SAME_TIME = 1e-9
"""Times nearer to each other than this part of a duration are one: what sums of a million steps of time round."""

REGRESSOR_RANK = 1e-8
"""A column of a regressor of which this part is left beside those before it depends on them: half of the digits."""

# ---- contact points of shapes: the limits of MuJoCo, so that they agree ----------------------------------------------

MERGED = 1e-15
"""Differences of points below this length (m), and of unit vectors, have no direction."""

PARALLEL_AXES = 1e-8
"""Capsules are parallel, and touch in two points, if the square of the sine between their axes is smaller."""

PARALLEL_EDGES = 1e-16
"""Edges of boxes have no direction perpendicular to both if the square of the sine between them is smaller."""

SAME_CORNER = 1e-7
"""Corners of a face that is cut are one corner if they are nearer to each other than this part of an edge."""

SAME_HEIGHT = 1e-10
"""Corners of a hull are equally far in a direction if they differ by less than this (m): the first of them counts."""
