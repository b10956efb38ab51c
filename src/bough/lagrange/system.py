"""Systems of bodies and constraints between two of them, without loops: what is eliminated when, what lies where."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.lagrange.forest import Step, elimination_order
from bough.lagrange.pair import Kind, Pair, triangle
from bough.lagrange.reading import (
    Known,
    KnownBlocks,
    KnownPairs,
    Numbers,
    read_bodies,
    read_constraints,
    read_jacobian,
    read_mass,
)
from bough.scalar import Index, Table
from bough.scalar.digest import digest
from bough.scalar.lazy import cached_property
from bough.tree import Tree
from bough.tree.slots import Slots, slots

__all__ = ["Ints", "System", "starts_of"]

Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, init=False, repr=False, eq=False)
class System:
    """Bodies of any dimension, and constraints of any dimension between pairs of them, without loops; immutable.

    With velocities v and multipliers λ, the bodies obey M v̇ = Jᵀ λ + F, and the constraints J v̇ + c = 0. M has one
    block for each body. J has, in the rows of each constraint, one block for each of its two bodies. The world is body
    0, has dimension 0 and no block.

    Arrays hold these blocks concatenated, each row by row. `mass` has a square block for each body. `jacobian` has, for
    each constraint (a, b, p), its block for body a, then that for body b. Entries that are known in advance, such as
    zeros and ones, are omitted from the arrays and from all computations.

    Parameters
    ----------
    bodies
        Dimension of each body 1 … N: 6 for a rigid body in space, 3 for one in the plane or for a point, and so on.
    constraints
        For each constraint (a, b, p): its two bodies, 0 for the world, and its dimension, the number of its rows. The
        dimension 0 is allowed and constrains nothing.
    mass, jacobian
        Entries of the blocks that are known in advance: arrays of their shapes, with NaN for entries that depend on the
        state. For M, one array (d, d) for all bodies, or a list with one for each body; for J, a pair of arrays, for
        the first and the second body, or a list with one pair for each constraint. Default: no entry is known.

    Raises
    ------
    ModelError
        If a body or a dimension is not valid, if constraints close a loop (the world counts as a body), or if a
        constraint has more rows than its outer body has dimensions; the message names the constraint.

    Examples
    --------
    Bodies in their principal axes, joined at points: M is diagonal, and J is [1, -r×] for points r.

    >>> import numpy as np, bough
    >>> _ = np.nan
    >>> cross = np.array([[0, _, _], [_, 0, _], [_, _, 0]])
    >>> ball = (np.hstack([np.eye(3), cross]), np.hstack([-np.eye(3), cross]))
    >>> bough.maximal.System([6, 6], [(1, 2, 3)], mass=np.where(np.eye(6), np.nan, 0.0), jacobian=ball)
    <System: 2 bodies, 1 constraints, 12 coordinates, 3 multipliers>
    """

    bodies: tuple[int, ...]
    constraints: tuple[tuple[int, int, int], ...]
    mass_known: tuple[Known, ...]
    jacobian_known: tuple[tuple[Known, Known], ...]

    def __init__(
        self,
        bodies: Numbers,
        constraints: Iterable[Numbers],
        *,
        mass: KnownBlocks | None = None,
        jacobian: KnownPairs | None = None,
    ) -> None:
        object.__setattr__(self, "bodies", read_bodies(bodies))
        object.__setattr__(self, "constraints", read_constraints(constraints, len(self.bodies)))
        object.__setattr__(self, "mass_known", read_mass(mass, self.bodies))
        object.__setattr__(self, "jacobian_known", read_jacobian(jacobian, self.bodies, self.constraints))
        _ = self.steps  # what cannot be eliminated is told at once

    def __repr__(self) -> str:
        sizes = f"{len(self.bodies)} bodies, {len(self.constraints)} constraints"
        return f"<System: {sizes}, {self.nv} coordinates, {self.nc} multipliers>"

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, System) and self.digest == other.digest)

    def __hash__(self) -> int:
        return hash(self.digest)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    # ---- sizes and places ----------------------------------------------------------------------------------------

    @cached_property
    def nv(self) -> int:
        """Number of coordinates of all bodies."""
        return sum(self.bodies)

    @cached_property
    def nc(self) -> int:
        """Number of rows of all constraints: the number of multipliers."""
        return sum(p for _, _, p in self.constraints)

    @cached_property
    def mass_size(self) -> int:
        """Number of entries of all blocks of M that are not known."""
        return int(self.mass_starts[-1])

    @cached_property
    def jacobian_size(self) -> int:
        """Number of entries of all blocks of J that are not known."""
        return int(self.jacobian_starts[-1])

    @cached_property
    def v_starts(self) -> Ints:
        """Start index of the coordinates of each body; the last entry is their number, (N + 1,)."""
        return starts_of(self.bodies)

    @cached_property
    def c_starts(self) -> Ints:
        """Start index of the multipliers of each constraint; the last entry is their number, (C + 1,)."""
        return starts_of([p for _, _, p in self.constraints])

    @cached_property
    def mass_starts(self) -> Ints:
        """Start index of the block of each body in `mass`; the last entry is the size of `mass`, (N + 1,)."""
        return starts_of([known.count(None) for known in self.mass_known])

    @cached_property
    def jacobian_starts(self) -> Ints:
        """Start index of the two blocks of each constraint in `jacobian`; the last entry is its size, (2 C + 1,)."""
        return starts_of([known.count(None) for pair in self.jacobian_known for known in pair])

    @cached_property
    def mass_read(self) -> NDArray[np.bool_]:
        """True for entries of `mass` in the lower triangle of their block, (mass_size,)."""
        blocks = list(zip(self.mass_known, self.bodies, strict=True))
        lower = {(x, d): np.tri(d, dtype=np.bool_).ravel()[[k is None for k in x]].tolist() for x, d in set(blocks)}
        return np.array([is_read for block in blocks for is_read in lower[block]], np.bool_)

    # ---- the elimination -----------------------------------------------------------------------------------------

    @cached_property
    def steps(self) -> list[Step]:
        """The nodes of the tree, parents first: each body with its constraint towards the root."""
        return elimination_order(self.bodies, self.constraints)

    @cached_property
    def tree(self) -> Tree:
        """The tree of the elimination: one node for each body with the constraint towards the root."""
        return Tree([step.parent for step in self.steps])

    @cached_property
    def node_bodies(self) -> Ints:
        """The body of each node of the tree, counted from 0, (N,)."""
        return np.array([step.body - 1 for step in self.steps], np.int64)

    @cached_property
    def order(self) -> Ints:
        """A perfect elimination order of the rows of H = [[M, -Jᵀ], [-J, 0]], (nv + nc,): no fill-in among blocks."""
        rows: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
        for step in reversed(self.steps):
            rows.append(np.arange(*self.v_starts[step.body - 1 : step.body + 1]))
            if step.constraint >= 0:
                rows.append(self.nv + np.arange(*self.c_starts[step.constraint : step.constraint + 2]))
        return np.concatenate(rows)

    @cached_property
    def digest(self) -> str:
        """Digest of the system, as text."""
        known = (*self.mass_known, *(block for pair in self.jacobian_known for block in pair))
        number = {block: k for k, block in enumerate(dict.fromkeys(known))}
        used = [number[block] for block in known]
        return str(digest(*map(np.array, (self.bodies, self.constraints, used)), tuple(number)))

    @cached_property
    def kinds(self) -> tuple[int, ...]:
        """Kind of each node of the tree."""
        number = {kind: k for k, kind in enumerate(self.kind_list)}
        return tuple(number[kind] for kind in self._node_kinds)

    @cached_property
    def kind_list(self) -> tuple[Kind, ...]:
        """The kinds of nodes: those of one kind run the same code."""
        return tuple(dict.fromkeys(self._node_kinds))

    @cached_property
    def _node_kinds(self) -> list[Kind]:
        leaves, described = set(self.tree.leaves), []
        for k, (body, constraint, parent) in enumerate(self.steps, start=1):
            p, own, other = 0, (), ()  # type: int, Known, Known
            if constraint >= 0:
                a, _, p = self.constraints[constraint]
                own, other = self.jacobian_known[constraint][:: 1 if a == body else -1]
            m = self.bodies[self.steps[parent - 1].body - 1] if parent else 0
            known = (self.mass_known[body - 1], own, other)
            described.append(Kind(self.bodies[body - 1], p, m, k in leaves, known))
        return described

    @cached_property
    def factor_starts(self) -> Ints:
        """Start index of the blocks of each node in the factor; the last entry is its size, (N + 1,)."""
        return starts_of([sum(map(sum, kind.factor_sizes)) for kind in self._node_kinds])

    @property
    def factor_size(self) -> int:
        """Number of entries of all blocks of the factor."""
        return int(self.factor_starts[-1])

    @cached_property
    def tables(self) -> dict[str, Table]:
        """For each node, where things lie that belong to it."""
        body = self.node_bodies
        up = np.array([max(step.parent - 1, 0) for step in self.steps], np.int64)
        k = np.array([max(step.constraint, 0) for step in self.steps], np.int64)
        blocks = np.append(self.jacobian_starts, 0)  # one more, for a system without constraints
        first = np.array([c >= 0 and self.constraints[c][0] == b for b, c, _ in self.steps], np.int64)
        sums, width = self._sums
        places = {
            "v": self.v_starts[body],
            "v_up": self.v_starts[body[up]],
            "c": self.c_starts[k],
            "multiplier": self.nv + self.c_starts[k],
            "mass": self.mass_starts[body],
            "own": blocks[2 * k + 1 - first],
            "other": blocks[2 * k + first],
            "factor": self.factor_starts[:-1],
            "sum": sums.own * width,
            "sum_up": sums.up * width,
            "sum_so_far": sums.so_far * width,
        }
        return {name: Table(name, values) for name, values in places.items()}

    @cached_property
    def _sums(self) -> tuple[Slots, int]:
        """Places for what those beyond a body add to its forces and to its block of M, and the width of one."""
        return slots(self.tree), max((d + triangle(d) for d in self.bodies), default=0)

    @property
    def sums_size(self) -> int:
        """Number of entries of all such places; the first one holds zeros."""
        return self._sums[0].count * self._sums[1]

    def record(self, kind: int, index: Index) -> Pair:
        """The record of a node."""
        return Pair(kind, index, self.kind_list[kind], self.tables)


def starts_of(sizes: Sequence[int]) -> Ints:
    """Start indices of concatenated parts, and the end of the last one."""
    starts = np.cumsum([0, *sizes], dtype=np.int64)
    starts.setflags(write=False)
    return starts
