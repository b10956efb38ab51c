"""Where points of shapes are taken for one, and directions for parallel: as MuJoCo has it, so that contacts agree."""

__all__ = ["MERGED", "PARALLEL_AXES", "PARALLEL_EDGES", "SAME_CORNER", "SAME_HEIGHT"]

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
