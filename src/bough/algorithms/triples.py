"""Three degrees of freedom on one path: what second derivatives of inverse dynamics are made of.

All motions and forces are in the frame of the root. The formulas are in `rnea_second_derivatives`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bough.model import Mechanism
from bough.scalar import Array, Index, Scalar, Symbolic, Table, array, each, gather, gather_index, keeping_loops
from bough.spatial import ZERO, CoriolisInertia, Force, Motion, RigidInertia, Vector

__all__ = ["AQ", "QQ", "QV", "VV", "Carried", "Composite", "Direction", "Pair", "Paths", "Tensors"]

QQ, VV, QV, AQ = range(4)
"""The places of ∂²τ/∂q∂q, ∂²τ/∂v∂v, ∂²τ/∂q∂v and ∂²τ/∂a∂q = ∂M/∂q among the results."""


@dataclass(frozen=True, slots=True)
class Composite:
    """Inertia, 2 B and force of a body, or of all bodies that it carries."""

    I: RigidInertia
    B2: CoriolisInertia
    f: Force


@dataclass(frozen=True, slots=True)
class Direction:
    """A degree of freedom: S, u and w as in `rnea_derivatives`, and by how much w of its velocity differs from 2 u."""

    S: Motion
    u: Motion
    w: Motion
    more: Motion


@dataclass(frozen=True, slots=True)
class Carried:
    """What a degree of freedom does to all that it carries: İ and Ḃ, Iᶜ S and the couple 2 Bᶜᵀ S, and the changes of
    the force by its position, as seen from other bodies, and by its velocity.
    """

    I_dot: RigidInertia
    B_dot: CoriolisInertia
    felt: Force
    couple: Vector
    f_q: Force
    f_v: Force


@dataclass(frozen=True, slots=True)
class Pair:
    """The forces that two degrees of freedom c and j make together, to be multiplied by the motions of a third one, l.

    What l does to the force on c is w·turned + u·slowed, to that on j w·felt + u·couple; the force on l changes with
    the positions of both by q, with the velocity of c and the position of j by u, with those of j and c by v, and with
    the velocities of both by turned + twin, where twin is felt unless c and j are of one joint.
    """

    turned: Force
    slowed: Force
    felt: Force
    couple: Force
    q: Force
    u: Force
    v: Force
    twin: Force

    @staticmethod
    def of(x: Carried, d: Direction) -> Pair:
        """Those of c, with what it carries, and of j."""
        felt = x.I_dot.times(d.S)
        felt_u, turned_u = x.I_dot.times(d.u), d.u.cross_force(x.felt)
        return Pair(
            turned=d.S.cross_force(x.felt),
            slowed=turned_u - felt_u + d.S.cross_force(Force(x.couple, ZERO)),
            felt=felt,
            couple=x.B_dot.transposed_times(d.S),
            q=x.I_dot.times(d.w) + x.B_dot.times(d.u) + d.S.cross_force(x.f_q),
            u=felt_u + turned_u + d.S.cross_force(x.f_v),
            v=felt_u * 2.0 + x.I_dot.times(d.more) + x.B_dot.times(d.S),
            twin=felt,
        )


class Paths:
    """The degrees of freedom of the joint of one, and those of all joints that carry it."""

    def __init__(self, m: Mechanism) -> None:
        tree, sizes = m.coupling.full_tree, [m.at(number).nv for number in range(1, m.tree.n + 1)]
        starts = np.repeat(m.v_starts.data, sizes)
        self._sizes = Table("joint_sizes", np.repeat(sizes, sizes))
        self._starts = Table("joint_starts", starts)
        self._above = Table("dofs_above", tree.depths - 1 - (np.arange(tree.n) - starts))
        self._rows = Table("path_starts", tree.packed_starts[:-1])
        self._paths = Table("paths", tree.packed_paths - 1)

    def same_joint(self, k: Index, rule: Callable[[Index], None]) -> None:
        """Run a rule at all degrees of freedom of the joint of one."""
        start = gather_index(self._starts, k)
        each(gather_index(self._sizes, k), lambda i: rule(start + i))

    def above(self, k: Index, rule: Callable[[Index], None]) -> None:
        """Run a rule at all degrees of freedom of joints that carry that of one, from the root on."""
        row = gather_index(self._rows, k)
        each(gather_index(self._above, k), lambda i: rule(gather_index(self._paths, row + i)))


class Tensors:
    """The results, dense, for degrees of freedom of the model; only entries that can differ from zero are written.

    Entry (i, j, k) is of the force on i. Of ∂²τ/∂q∂v, j is the position and k the velocity. `written` are the places of
    entries that may differ from zero, and None where a loop writes to places that are not known.
    """

    def __init__(self, m: Mechanism) -> None:
        self._trivial, self._n = m.coupling.trivial, m.coupling.dof_tree.n
        with keeping_loops():  # zeros of other branches are not written one by one
            self.stacked: Array = array(4 * self._n**3)
        self.written: set[int] | None = set()
        self._source, self._ratio = Table("own_v", m.coupling.v_source), Table("v_ratio", m.coupling.v_ratio)

    def put(self, c: Index, j: Index, l: Index, x: Pair, d: Direction, below: bool, above: bool) -> None:
        """The entries of three degrees of freedom: whether c is below the joint of j, and l above it."""
        turned, felt = d.S.dot(x.turned), d.S.dot(x.felt)
        turned_u, felt_u = d.u.dot(x.turned), d.u.dot(x.felt)
        # the force on c
        self._put(QQ, c, j, l, d.w.dot(x.turned) + d.u.dot(x.slowed), above)
        self._put(VV, c, j, l, turned - felt if above else -felt, above)
        self._put(QV, c, l, j, turned_u - felt_u)
        if above:
            self._put(QV, c, j, l, turned_u * 2.0 + d.more.dot(x.turned) + d.S.dot(x.slowed))
            self._put(AQ, c, l, j, turned, True)
        # on j
        if below:
            self._put(QQ, j, c, l, d.w.dot(x.felt) + d.u.dot(x.couple), True)
            self._put(VV, j, c, l, felt - turned, True)
            self._put(QV, j, l, c, felt_u - turned_u)
            self._put(QV, j, c, l, felt_u * 2.0 + d.more.dot(x.felt) + d.S.dot(x.couple))
            self._put(AQ, j, l, c, felt, above)
        # on l
        if above:
            self._put(QQ, l, c, j, d.S.dot(x.q), below)
            self._put(VV, l, c, j, turned + d.S.dot(x.twin), below)
            self._put(QV, l, j, c, d.S.dot(x.u))
            if below:
                self._put(QV, l, c, j, d.S.dot(x.v))

    def add(self, which: int, i: Index, j: Index, k: Index, value: Scalar, both: bool = False) -> None:
        """Add to an entry, and if `both` to the one that equals it: M is symmetric, and so are second derivatives."""
        if not self._trivial:
            value = value * (gather(self._ratio, i) * gather(self._ratio, j) * gather(self._ratio, k))
            i, j, k = (gather_index(self._source, x) for x in (i, j, k))
        for place in self._places(which, i, j, k, both):
            self.stacked[place] = self.stacked[place] + value
            self._note(place, value)

    def _put(self, which: int, i: Index, j: Index, k: Index, value: Scalar, both: bool = False) -> None:
        if not self._trivial:  # those that follow add up
            self.add(which, i, j, k, value, both)
            return
        for place in self._places(which, i, j, k, both):
            self.stacked[place] = value
            self._note(place, value)

    def _note(self, place: Index, value: Scalar) -> None:
        if not isinstance(place, int):
            self.written = None
        elif self.written is not None and (isinstance(value, Symbolic) or value != 0.0):
            self.written.add(place)

    def _places(self, which: int, i: Index, j: Index, k: Index, both: bool) -> list[Index]:
        n, mirrored = self._n, (j, i, k) if which == AQ else (i, k, j)
        return [(a * n + b) * n + c + which * n**3 for a, b, c in ((i, j, k), mirrored)[: 2 if both else 1]]
