"""The recursions of Featherstone & Orin 2000, section 3, as they are written there: in absolute coordinates.

All spatial quantities are in the coordinates of the base, so that nothing is transformed from link to link; instead
joint axes and inertias are brought to the base. That is the same recursions on another mechanism, `InBase`: where no
body is placed, products with ones and zeros fold away. `rnea_spatial` is the recursive Newton-Euler algorithm as the
paper has it, with spatial accelerations; `rnea` says what it does in their place. These are here to be counted beside
the others; their digits suffer where bodies are far from the base.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from bough.algorithms.aba import aba
from bough.algorithms.crba import crba
from bough.model import BodyRecord, Mechanism, combine
from bough.scalar import Array, Index, array
from bough.spatial import NO_FORCE, REST, STAY, ZERO, Force, Motion, RigidInertia, Transform
from bough.spatial.rotation import Product
from bough.tree.scans import Kept, inward, outward

__all__ = ["aba_absolute", "crba_absolute", "rnea_absolute", "rnea_spatial"]


def rnea_absolute(m: Mechanism, q: Array, v: Array, a: Array, f_ext: Array | None = None) -> Array:
    """Inverse dynamics by equations 3, 4, 7 and 8."""
    return rnea_spatial(_in_base(m, q), q, v, a, f_ext)


def crba_absolute(m: Mechanism, q: Array) -> Array:
    """The joint-space inertia matrix as packed path rows, by equations 9 and 10."""
    return crba(_in_base(m, q), q)


def aba_absolute(m: Mechanism, q: Array, v: Array, tau: Array, f_ext: Array | None = None) -> tuple[Array, Array]:
    """Forward dynamics by equations 3, 12, 13, 14 and 4, and the pivots, for mechanisms without mimic joints."""
    return aba(_in_base(m, q), q, v, tau, f_ext)


@dataclass(frozen=True, slots=True)
class Link:
    """What the backward pass needs of a body: its placement in its parent, joint axes, and the force on it."""

    X: Transform
    S: tuple[Motion, ...]
    f: Force


def rnea_spatial(m: Mechanism, q: Array, v: Array, a: Array, f_ext: Array | None = None) -> Array:
    """Inverse dynamics by the same equations in link coordinates."""
    q, v, a = m.coupling.own_q(q), m.coupling.own_v(v), m.coupling.own_v(a)
    tau = array(m.own_nv)

    def forward(body: BodyRecord, parent: tuple[Motion, Motion]) -> tuple[tuple[Motion, Motion], Link]:
        X, S, inertia = body.transform(q), body.subspace(q), body.regrouped_inertia
        v_J = combine(S, body.of_v(v))
        v_i = X.to_child(parent[0]) + v_J  #                                                   (3)
        c = combine(body.subspace_rate(q, v), body.of_v(v)) + v_i.cross(v_J)  # ḣᵢ q̇ᵢ
        a_i = X.to_child(parent[1]) + c + combine(S, body.of_v(a))  #                          (4)
        f = inertia.times(a_i) + v_i.cross_force(inertia.times(v_i))  #                        (5)
        if f_ext is not None:
            f = f - body.external_force(f_ext)
        return (v_i, a_i), Link(X, S, f)

    def backward(body: BodyRecord, from_children: Force) -> tuple[Force | None, None]:
        link = links[body]
        f = link.f + from_children  #                                                          (7)
        own = zip(link.S, body.armature, body.of_v(a), strict=True)
        body.put_v(tau, [s.dot(f) + rotor * qdd for s, rotor, qdd in own])  #                   (8)
        return None if body.is_root else link.X.force_to_parent(f), None

    links = outward(m, forward, (REST, Motion(ZERO, -m.gravity)))
    inward(m, backward, NO_FORCE)
    return m.coupling.reduced(tau)


# ---- the mechanism as seen from the base -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a body is in the base, and there the axes of its joint and its inertia."""

    X: Transform
    S: tuple[Motion, ...]
    inertia: RigidInertia


def _in_base(m: Mechanism, q: Array) -> Mechanism:
    q = m.coupling.own_q(q)

    def place(body: BodyRecord, parent: Transform) -> tuple[Transform, Placed]:
        X = parent.then(body.transform(q))
        axes = tuple(X.to_parent(s) for s in body.subspace(q))
        return X, Placed(X, axes, X.inertia_to_parent(body.regrouped_inertia))

    return cast(Mechanism, InBase(m, outward(m, place, STAY)))


class InBase:
    """A mechanism in one configuration, all of whose bodies have the frame of the base; all else is as it was."""

    def __init__(self, mechanism: Mechanism, placed: Kept[Placed]) -> None:
        self._mechanism, self._placed = mechanism, placed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._mechanism, name)

    def record(self, kind: int, index: Index) -> BodyInBase:
        """The record of a body."""
        return BodyInBase(self._mechanism, kind, index, self._placed)


class BodyInBase(BodyRecord):
    """A body whose frame is that of the base."""

    def __init__(self, mechanism: Mechanism, kind: int, index: Index, placed: Kept[Placed]) -> None:
        super().__init__(mechanism, kind, index)
        self._placed = placed

    @property
    def regrouped_inertia(self) -> RigidInertia:
        return self._placed[self].inertia

    def transform(self, q: Array) -> Transform:
        return Transform(Product(()), ZERO)

    def subspace(self, q: Array) -> tuple[Motion, ...]:
        return self._placed[self].S

    def subspace_rate(self, q: Array, v: Array) -> tuple[Motion, ...]:
        return tuple(self._placed[self].X.to_parent(rate) for rate in super().subspace_rate(q, v))

    def external_force(self, f_ext: Array) -> Force:
        return self._placed[self].X.force_to_parent(super().external_force(f_ext))
