"""Mimic joints: every joint keeps coordinates of its own inside, and these maps lead from and to the model's.

With G the constant matrix of ratios, own v = G v, tau = Gᵀ own tau and M = Gᵀ H G, where H is the mass matrix of the
tree with all joints free. When coupled joints lie on different branches M no longer fits λₑ, so its tree is the
elimination tree of its pattern. Without mimic joints all maps are the identity and cost nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.errors import ModelError, UnknownNameError
from bough.model.joints import Joint, Mimic
from bough.scalar import Array, Index, Part, Table, array, fill, filled, gather, gather_index, loop
from bough.tree import Tree, elimination_tree

__all__ = ["Coupling", "own_joint"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def own_joint(joint: Joint) -> Joint:
    """The joint as it moves: for a mimic joint, the one it wraps."""
    return joint.joint if isinstance(joint, Mimic) else joint


@dataclass(frozen=True, eq=False)
class Coupling:
    """The maps between a model's coordinates and those of its joints, one entry per own coordinate."""

    full_tree: Tree  # λₑ with every joint free
    dof_tree: Tree  # the tree of the model's mass matrix
    trivial: bool
    q_source: Ints
    q_ratio: Floats
    q_offset: Floats
    v_source: Ints
    v_ratio: Floats
    q_own: Ints  # where each coordinate of the model lies among the own ones
    v_own: Ints

    def __post_init__(self) -> None:
        for values in vars(self).values():
            if isinstance(values, np.ndarray):
                values.setflags(write=False)

    @staticmethod
    def of(tree: Tree, names: Sequence[str], joints: Sequence[Joint]) -> Coupling:
        """The coupling of a list of joints, in order of bodies."""
        q_start = np.cumsum([0, *(j.nq for j in joints)])
        v_start = np.cumsum([0, *(j.nv for j in joints)])
        q: list[tuple[int, float, float]] = []
        v: list[tuple[int, float]] = []
        q_own: list[int] = []
        v_own: list[int] = []
        laws = _resolve(names, joints)
        for k, joint in enumerate(joints):
            if isinstance(joint, Mimic):
                source, ratio, offset = laws[k]
                q.append((int(q_start[source]), ratio, offset))
                v.append((int(v_start[source]), ratio))
            else:
                q_own += range(len(q), len(q) + joint.nq)
                v_own += range(len(v), len(v) + joint.nv)
                q += [(int(q_start[k]) + j, 1.0, 0.0) for j in range(joint.nq)]
                v += [(int(v_start[k]) + j, 1.0) for j in range(joint.nv)]
        full = tree.expand([own_joint(j).nv for j in joints])
        trivial = not any(isinstance(j, Mimic) for j in joints)
        v_source = np.array([s for s, _ in v], dtype=np.int64)
        return Coupling(
            full,
            full if trivial else _reduced_tree(full, v_source, int(v_start[-1])),
            trivial,
            np.array([s for s, _, _ in q], dtype=np.int64),
            np.array([r for _, r, _ in q], dtype=float),
            np.array([o for _, _, o in q], dtype=float),
            v_source,
            np.array([r for _, r in v], dtype=float),
            np.array(q_own, dtype=np.int64),
            np.array(v_own, dtype=np.int64),
        )

    def own_q(self, q: Array) -> Array:
        """The joints' own configurations."""
        if self.trivial:
            return q
        source, ratio, offset = _tables(own_q=self.q_source, q_ratio=self.q_ratio, q_offset=self.q_offset)
        return filled(self.q_source.size, lambda k: q[gather_index(source, k)] * gather(ratio, k) + gather(offset, k))

    def own_v(self, v: Array) -> Array:
        """The joints' own velocities or accelerations, G v."""
        if self.trivial:
            return v
        source, ratio = _tables(own_v=self.v_source, v_ratio=self.v_ratio)
        return filled(self.v_source.size, lambda k: v[gather_index(source, k)] * gather(ratio, k))

    def model_q(self, own: Array) -> Array:
        """The model's configuration among the joints' own ones."""
        (places,) = _tables(q_own=self.q_own)
        return own if self.trivial else filled(self.q_own.size, lambda k: own[gather_index(places, k)])

    def model_v(self, own: Array) -> Array:
        """The model's velocities among the joints' own ones."""
        (places,) = _tables(v_own=self.v_own)
        return own if self.trivial else filled(self.v_own.size, lambda k: own[gather_index(places, k)])

    def reduced(self, tau: Array) -> Array:
        """The model's forces from the joints' own, Gᵀ tau. Also reduces rows of any matrix with own columns."""
        if self.trivial:
            return tau
        source, ratio = _tables(own_v=self.v_source, v_ratio=self.v_ratio)
        result = array(self.dof_tree.n)

        def add(k: Index, carry: tuple[()]) -> tuple[()]:
            to = gather_index(source, k)
            result[to] = result[to] + tau[k] * gather(ratio, k)
            return carry

        loop(self.v_source.size, add, ())
        return result

    def reduced_rows(self, matrix: Array, rows: int) -> Array:
        """J G for a dense matrix with own columns, row by row."""
        if self.trivial:
            return matrix
        own, n = self.v_source.size, self.dof_tree.n
        result = array(rows * n)
        for r in range(rows):
            row = self.reduced(Part(matrix, r * own))
            fill(Part(result, r * n), n, row.__getitem__)
        return result

    def reduced_square(self, matrix: Array) -> Array:
        """Gᵀ C G for a dense square matrix over own coordinates, row by row."""
        if self.trivial:
            return matrix
        own, n = self.v_source.size, self.dof_tree.n
        source, ratio = _tables(own_v=self.v_source, v_ratio=self.v_ratio)
        result = array(n * n)

        def add_row(i: Index, carry: tuple[()]) -> tuple[()]:
            def add(j: Index, carry: tuple[()]) -> tuple[()]:
                place = gather_index(source, i) * n + gather_index(source, j)
                result[place] = result[place] + matrix[i * own + j] * (gather(ratio, i) * gather(ratio, j))
                return carry

            return loop(own, add, carry)

        loop(own, add_row, ())
        return result

    def reduced_matrix(self, packed: Array) -> Array:
        """Gᵀ H G as packed path rows of `dof_tree`, from the packed path rows of H on `full_tree`."""
        if self.trivial:
            return packed
        targets, weights = self._entries()
        to, weight = _tables(matrix_targets=targets, matrix_weights=weights)
        result = array(self.dof_tree.packed_size)

        def add(k: Index, carry: tuple[()]) -> tuple[()]:
            place = gather_index(to, k)
            result[place] = result[place] + packed[k] * gather(weight, k)
            return carry

        loop(targets.size, add, ())
        return result

    def _entries(self) -> tuple[Ints, Floats]:
        """For each packed entry of H: the packed entry of Gᵀ H G it adds to, and its weight."""
        full, small = self.full_tree, self.dof_tree
        rows = np.repeat(np.arange(full.n), full.depths)
        columns = full.packed_paths - 1
        a, b = self.v_source[rows], self.v_source[columns]
        weights = self.v_ratio[rows] * self.v_ratio[columns]
        # an off-diagonal entry of H stands for two; when both meet on the diagonal they count twice
        weights = np.where((a == b) & (rows != columns), 2.0 * weights, weights)
        low, high = np.maximum(a, b), np.minimum(a, b)
        return small.packed_starts[low] + small.depths[high] - 1, weights


def _resolve(names: Sequence[str], joints: Sequence[Joint]) -> list[tuple[int, float, float]]:
    """For each joint: the free joint that it follows in the end, with ratio and offset of the whole chain."""
    number = {name: k for k, name in enumerate(names)}
    laws: dict[int, tuple[int, float, float]] = {}
    for start in range(len(joints)):
        chain: dict[int, Mimic] = {}
        k, joint = start, joints[start]
        while k not in laws and isinstance(joint, Mimic):
            if joint.source not in number:
                raise UnknownNameError(f"joint for {names[k]!r} to mimic", joint.source, names)
            if k in chain:
                shown = " → ".join(names[i] for i in (*list(chain)[:8], k))
                raise ModelError(f"mimic joints follow each other in a circle: {shown}")
            chain[k] = joint
            k = number[joint.source]
            joint = joints[k]
        if chain and not isinstance(joint, Mimic) and (joint.nq, joint.nv) != (1, 1):
            raise ModelError(
                f"joint {names[start]!r} mimics {names[k]!r}, which has {joint.nv} degrees of freedom, not one"
            )
        source, ratio, offset = laws.setdefault(k, (k, 1.0, 0.0))
        for i, own in reversed(chain.items()):
            ratio, offset = own.ratio * ratio, own.ratio * offset + own.offset
            laws[i] = (source, ratio, offset)
    return [laws[k] for k in range(len(joints))]


def _reduced_tree(full: Tree, source: Ints, n: int) -> Tree:
    """The elimination tree of Gᵀ H G, whose rows are coupled along every path of the full tree.

    For each path it is enough to couple neighbours in order of their rows: among the last k rows the same ones hang
    together then, for any k, and nothing else matters for the tree.
    """
    rows = [0, *(int(s) + 1 for s in source)]
    last = [0] * (full.n + 1)  # the last row met on the path to each body
    entries = []
    for i, parent in enumerate(full.parents, start=1):
        row = rows[i]
        last[i] = max(row, last[parent])
        if row > last[parent] > 0:
            entries.append((row, last[parent]))
        elif parent:
            above, below = n + 1, 0
            while parent and rows[parent] != row:
                met = rows[parent]
                above, below = (min(above, met), below) if met > row else (above, max(below, met))
                parent = full.parents[parent - 1]
            if not parent:
                entries += [(above, row)] + ([(row, below)] if below else [])
    return elimination_tree(n, entries)


def _tables(**data: NDArray[Any]) -> tuple[Table, ...]:
    return tuple(Table(name, values) for name, values in data.items())
