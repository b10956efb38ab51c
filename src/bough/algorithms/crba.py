"""The composite-rigid-body algorithm (Featherstone & Orin 2000, section 3.2; Featherstone 2005, section 5)."""

from __future__ import annotations

from dataclasses import dataclass

from bough.algorithms.blocks import BlockRows
from bough.model import BodyRecord, Mechanism
from bough.scalar import Array
from bough.spatial import NO_FORCE, NO_INERTIA, Deformed, Force, Motion, RigidInertia, Transform
from bough.tree.scans import Kept, ancestors, inward, outward

__all__ = ["Link", "backward_pass", "crba", "forward_pass"]


@dataclass(frozen=True, slots=True)
class Link:
    """What the backward pass needs of a body: its placement in its parent, the subspace of its joint, its shape."""

    X: Transform
    S: tuple[Motion, ...]
    deformed: Deformed | None


@dataclass(frozen=True, slots=True)
class Composite:
    """What a body hands to its parent: the inertia of all that it carries, and if it is a station, the forces that
    move it with unit accelerations of the elastic coordinates.
    """

    I_c: RigidInertia
    columns: tuple[Force, ...]


def crba(m: Mechanism, q: Array) -> Array:
    """The joint-space inertia matrix as packed path rows: every entry that is not a branch-induced zero, once."""
    return backward_pass(m, forward_pass(m, q))


def forward_pass(m: Mechanism, q: Array) -> Kept[Link]:
    """The forward pass: the placement of each body in its parent, and the subspace of its joint."""
    q = m.coupling.own_q(q)

    def place(body: BodyRecord, parent: None) -> tuple[None, Link]:
        return None, Link(body.transform(q), body.subspace(q), body.deformed(q))

    return outward(m, place, None)


def backward_pass(m: Mechanism, links: Kept[Link]) -> Array:
    """The backward pass: composite inertias, and from them the matrix as packed path rows."""
    H = BlockRows(m)
    none = (NO_FORCE,) * m.most_modes

    def compose(body: BodyRecord, of_children: Composite) -> tuple[Composite | None, None]:
        X, S = links[body].X, links[body].S
        deformed = links[body].deformed if body.modes else None
        if deformed is None:
            # Iᶜᵢ = Iᵢ + Σ Iᶜⱼ over the children j                                          (9)
            I_c = body.regrouped_inertia + of_children.I_c
            # f = Iᶜᵢ hᵢ, the force that gives the composite body the acceleration hᵢ
            f = tuple(I_c.times(s) for s in S)
            H.put_diagonal(body, [[s.dot(column) for s in S] for column in f], body.armature)
        else:
            # elastic coordinates move the points of a flexible body, and what is on its stations
            I_c = deformed.inertia(body.regrouped_inertia) + of_children.I_c
            f = tuple(a + b for a, b in zip(deformed.columns(body.mode_moments), of_children.columns, strict=False))
            H.put_diagonal(body, deformed.mass(body.mode_moments), body.armature)
        if body.is_station:
            f = tuple(X.force_to_parent(column) for column in f)
            return Composite(X.inertia_to_parent(I_c), (*f, *none[len(f) :])), None

        def row(j: BodyRecord, f: tuple[Force, ...]) -> tuple[Force, ...]:
            # Hᵢⱼ = hⱼᵀ f, with f moved from body to body towards the root                 (10)
            link = links[j]
            if not j.modes:
                H.put(body, j, [[s.dot(column) for s in link.S] for column in f])
            return f if j.is_root else tuple(link.X.force_to_parent(column) for column in f)

        if body.is_root:
            return None, None
        ancestors(m, body, row, tuple(X.force_to_parent(column) for column in f))
        return Composite(X.inertia_to_parent(I_c), none), None

    inward(m, compose, Composite(NO_INERTIA, none))
    return m.coupling.reduced_matrix(H.packed)
