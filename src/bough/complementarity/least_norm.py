"""The smallest of many forces that do the same: where equalities depend on each other, only some of A f is determined.

Forces that differ by n with A n = 0 do the same. With rows and columns scaled so that the diagonal of A is one, the
smallest is the projection on the span of A's rows, which Gram and Schmidt's procedure finds, row after row.
"""

from __future__ import annotations

from bough.scalar import Array, Bool, Index, Part, Scalar, array, both, each, fill, filled, inner, loop, select, sqrt
from bough.scalar.tolerances import DISTINCT, VANISHING

__all__ = ["least_norm"]


def least_norm(A: Array, wide: int, start: int, count: int, f: Array) -> Bool:
    """Make so many forces, from `start` on, as small as they can be; A is (wide, wide), symmetric on these rows.

    Returns whether it is in doubt which rows depend on others; then the forces are not to be used.
    """
    scale = filled(count, lambda i: 1.0 / sqrt(_positive(A[(i + start) * (wide + 1)])))
    U = array(count * count)
    none: Scalar = 0.0

    def row(i: Index, doubts: Scalar) -> Scalar:
        r = Part(U, i * count)
        fill(r, count, lambda j: A[(i + start) * wide + (j + start)] * (scale[i] * scale[j]))
        size = inner(r, r, count)
        for _ in range(2):  # the second time for what rounding left

            def remove(k: Index) -> None:
                u = Part(U, k * count)
                part = inner(r, u, count)
                fill(r, count, lambda j: r[j] - part * u[j])

            each(i, remove)
        rest = inner(r, r, count)
        independent = size * VANISHING**2 < rest
        unclear = both(independent, rest < size * DISTINCT**2)
        factor = select(independent, 1.0 / sqrt(_positive(rest)), 0.0)
        fill(r, count, lambda j: r[j] * factor)
        return doubts + select(unclear, 1.0, 0.0)

    doubts = loop(count, row, none)
    given, found = filled(count, lambda i: f[i + start] / scale[i]), array(count)

    def project(i: Index) -> None:
        u = Part(U, i * count)
        part = inner(u, given, count)
        fill(found, count, lambda j: found[j] + part * u[j])

    each(count, project)
    fill(Part(f, start), count, lambda i: found[i] * scale[i])
    return doubts > 0.0


def _positive(x: Scalar) -> Scalar:
    return select(x > 0.0, x, 1.0)
