"""Configurations as points of a manifold: integrate, difference, interpolate."""

from __future__ import annotations

from bough.model import BodyRecord, Mechanism
from bough.scalar import Array, Index, array, each, gather_index, loop
from bough.spatial import short_way
from bough.tree.scans import outward

__all__ = ["configuration_rate", "difference", "integrate", "interpolate"]


def integrate(m: Mechanism, q: Array, v: Array) -> Array:
    """The configuration reached from q with the constant velocity v in a unit of time (nq)."""
    q, v = m.coupling.own_q(q), m.coupling.own_v(v)
    result = array(m.own_nq)

    def visit(body: BodyRecord, parent: None) -> tuple[None, None]:
        body.put_q(result, body.joint.integrate(body.parameters, body.of_q(q), body.of_v(v)))
        return None, None

    outward(m, visit, None)
    return m.coupling.model_q(result)


def configuration_rate(m: Mechanism, q: Array, v: Array) -> Array:
    """How fast the configuration variables change at the velocity v (nq)."""
    q, v = m.coupling.own_q(q), m.coupling.own_v(v)
    result = array(m.own_nq)

    def visit(body: BodyRecord, parent: None) -> tuple[None, None]:
        body.put_q(result, body.joint.rate(body.parameters, body.of_q(q), body.of_v(v)))
        return None, None

    outward(m, visit, None)
    return m.coupling.model_q(result)


def difference(m: Mechanism, q0: Array, q1: Array) -> Array:
    """The constant velocity that leads from q0 to q1 in a unit of time (nv), the short way round where it can turn."""
    q0, q1 = m.coupling.own_q(q0), m.coupling.own_q(q1)
    result = array(m.own_nv)

    def visit(body: BodyRecord, parent: None) -> tuple[None, None]:
        body.put_v(result, body.joint.difference(body.parameters, body.of_q(q0), body.of_q(q1)))
        return None, None

    outward(m, visit, None)
    v = m.coupling.model_v(result)

    def shorten(k: Index) -> None:
        place = gather_index(m.circles, k)
        v[place] = short_way(v[place])

    each(m.circles.data.size, shorten)
    return v


def interpolate(m: Mechanism, q0: Array, q1: Array, t: Array) -> Array:
    """The configuration at the fraction t of the way from q0 to q1 (nq)."""
    v = difference(m, q0, q1)
    part = array(m.model.nv)

    def scale(k: Index, carry: tuple[()]) -> tuple[()]:
        part[k] = v[k] * t[0]
        return carry

    loop(m.model.nv, scale, ())
    return integrate(m, q0, part)
