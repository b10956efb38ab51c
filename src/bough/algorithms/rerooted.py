"""The mass matrix by way of another floating base: M x = y solved with the factor of the same mechanism hung otherwise.

The nearer the floating base is to the middle, the shorter the paths and the more zeros are in the matrix and its factor
("maximising sparsity" in Featherstone's slides). With v_inside = T v it is M = Tᵀ M_inside T, so

    y_inside = T⁻ᵀ y,   M_inside x_inside = y_inside,   x = T⁻¹ x_inside.

What moves is a matter of the coordinates alone, so no velocities are involved, and forces on the right-hand side may
have been computed from the root outside.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bough.algorithms.crba import Link, backward_pass, forward_pass
from bough.factor import diagonal, ltdl, solve
from bough.model import BodyRecord, Mechanism, Rerooting, combine
from bough.scalar import Array, Table, array, filled, gather_index
from bough.spatial import Force, Motion, Vector
from bough.tree.scans import Kept, along

__all__ = ["solve_rerooted"]

NEUTRAL = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
"""Configuration of the free joint inside. M does not depend on it, so it is constant, and costs nothing."""


def solve_rerooted(m: Mechanism, inner: Mechanism, q: Array, y: Array) -> tuple[Array, Array]:
    """The solution x of M x = y, and the pivots of the mass matrix inside, both in the order outside."""
    way = Rerooting.of(m, inner)
    tree = inner.coupling.dof_tree
    q_inside = _picked(q, way.q)
    for k, value in enumerate(NEUTRAL):
        q_inside[way.q_start + k] = value
    links = forward_pass(inner, q_inside)
    factor = ltdl(tree, backward_pass(inner, links))
    x_inside = solve(tree, factor, _forces_inside(way, links, y), unit=True)
    return _accelerations_outside(way, links, x_inside), _returned(diagonal(tree, factor), way.v)


def _forces_inside(way: Rerooting, links: Kept[Link], y: Array) -> Array:
    """T⁻ᵀ y: the force on r is carried to b, and the joints on the way feel it."""
    inner, start = way.inner, way.v_start
    felt = array(inner.own_nv)

    def carry(body: BodyRecord, f: Force) -> Force:
        body.put_v(felt, [s.dot(f) for s in links[body].S])
        return links[body].X.force_to_parent(f)

    linear, angular = ([y[start + k] for k in ks] for ks in (range(3), range(3, 6)))
    f = way.floating.force_to_parent(Force(Vector.of(angular), Vector.of(linear)))
    f = along(inner, way.between[::-1], carry, f)
    outside, reduced = _picked(y, way.v), inner.coupling.reduced(felt)
    result = filled(way.v.size, lambda k: outside[k] + reduced[k])
    for k, value in enumerate((*f.linear.parts, *f.angular.parts)):
        result[start + k] = value
    return result


def _accelerations_outside(way: Rerooting, links: Kept[Link], x: Array) -> Array:
    """T⁻¹ x: the acceleration of b is carried to r, and the joints on the way add to it."""
    start, own = way.v_start, way.inner.coupling.own_v(x)

    def carry(body: BodyRecord, a: Motion) -> Motion:
        return links[body].X.to_child(a) + combine(links[body].S, body.of_v(own))

    linear, angular = ([x[start + k] for k in ks] for ks in (range(3), range(3, 6)))
    a = along(way.inner, way.between, carry, Motion(Vector.of(angular), Vector.of(linear)))
    a = way.floating.to_child(a)
    result = _returned(x, way.v)
    for k, value in enumerate((*a.linear.parts, *a.angular.parts)):
        result[start + k] = value
    return result


# --- rearranging ---


def _picked(values: Array, places: NDArray[np.int64]) -> Array:
    """An array of the values at given places."""
    table = Table("outside", places)
    return filled(places.size, lambda k: values[gather_index(table, k)])


def _returned(values: Array, places: NDArray[np.int64]) -> Array:
    """The array from which `_picked` would have given these values."""
    return _picked(values, np.argsort(places))
