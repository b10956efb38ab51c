"""Limits and dry friction of joints, as rows of soft contact: one for both sides of a range."""

from __future__ import annotations

from bough.algorithms.soft.law import impedance, rate_and_spring
from bough.algorithms.soft.rows import JointRow
from bough.algorithms.soft.scene import FrictionRow, LimitRow, SoftScene
from bough.model import Mechanism
from bough.scalar import Array, Scalar, select

__all__ = ["depth_of", "held_force", "joint_rows", "stop_of"]


def joint_rows(m: Mechanism, scene: SoftScene, q: Array, v: Array, dt: Scalar) -> list[JointRow]:
    """Limits and dry friction of joints."""
    rows = []
    for sides in _ranges(scene):
        depths = [depth_of(limit, q[limit.q]) for limit in sides]
        sign, depth = (sides[0].sign, depths[0])  # type: Scalar, Scalar
        if len(sides) > 1:
            first = depths[0] < depths[1]
            sign, depth = select(first, sides[0].sign, sides[1].sign), select(first, *depths)
        rows.append(JointRow(sides[0].v, sign, *stop_of(sides[0], depth, v[sides[0].v] * sign, dt)))
    for rub in scene.frictions:
        B, _ = rate_and_spring(rub.softness, dt)
        d = impedance(rub.softness, 0.0)
        rows.append(JointRow(rub.v, 1.0, d / ((1.0 - d) * rub.weight), -(B * v[rub.v]), held_force(m, rub)))
    return rows


def held_force(m: Mechanism, rub: FrictionRow) -> Scalar:
    """The largest force of dry friction of a joint."""
    return m.given.friction(rub.body)[rub.part] if rub.body else rub.most


def _ranges(scene: SoftScene) -> list[tuple[LimitRow, ...]]:
    """Limits of coordinates, those together of which never more than one side acts, with the same numbers."""
    found: dict[object, tuple[LimitRow, ...]] = {}
    for k, limit in enumerate(scene.limits):
        if limit.turned:
            continue
        alike = limit.q, limit.v, limit.margin, limit.softness, limit.weight
        before = found.get(alike, ())
        if len(before) == 1 and before[0].sign == -limit.sign:
            width = (before[0].bound - limit.bound) * limit.sign  # of the range between them
            if width > 2.0 * limit.margin:
                found[alike] = (*before, limit)
                continue
        found[alike if not before else k] = (limit,)
    return list(found.values())


def depth_of(limit: LimitRow, x: Scalar) -> Scalar:
    """How far a coordinate is from where a side of its limits begins to act; negative where it acts."""
    return (x - limit.bound) * limit.sign - limit.margin


def stop_of(limit: LimitRow, depth: Scalar, rate: Scalar, dt: Scalar) -> tuple[Scalar, Scalar]:
    """Stiffness and reference acceleration of a side of limits, from the rate away from it."""
    B, K = rate_and_spring(limit.softness, dt)
    d = impedance(limit.softness, depth)
    return select(depth < 0.0, d / ((1.0 - d) * limit.weight), 0.0), -(B * rate) - K * d * depth
