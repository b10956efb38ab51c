"""Systems of bodies and constraints between two of them, without loops: what is eliminated when, what lies where."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.errors import ModelError
from bough.lagrange.ordermatrix import ordermatrix
from bough.scalar import Array, Index, Scalar, Table, gather_index
from bough.tree import Tree
from bough.tree.slots import Slots, slots

__all__ = ["Pair", "System"]

Ints: TypeAlias = NDArray[np.int64]
Numbers: TypeAlias = Sequence[int] | NDArray[np.integer[Any]]
Rows: TypeAlias = list[list[Scalar]]
Block: TypeAlias = Sequence[Sequence[Scalar]]


@dataclass(frozen=True)
class _Kind:
    """Dimensions of a body, of the constraint towards the root and of the body at its other end."""

    d: int
    p: int
    m: int
    is_leaf: bool


@dataclass(frozen=True, init=False, repr=False, eq=False)
class System:
    """Bodies of any dimension, and constraints of any dimension between two of them, without loops; immutable.

    With velocities v and multipliers λ, the bodies obey M v̇ = Jᵀ λ + F, and the constraints J v̇ + c = 0, where M has
    one block for each body and J, in the rows of each constraint, one block for each of its two bodies. The world is
    body 0, of dimension 0, and has no block.

    Arrays hold such blocks one after the other, each row by row. `mass` has a square block for each body. `jacobian`
    has, for each constraint (a, b, p), its block for body a, then that for body b.

    Parameters
    ----------
    bodies
        Dimension of each body 1 … N: 6 for a rigid body in space, 3 for one in the plane or for a point, and so on.
    constraints
        For each constraint (a, b, p): the two bodies it is between, 0 for the world, and its dimension, the number of
        its rows. A dimension of 0 is legal and constrains nothing.

    Raises
    ------
    ModelError
        If a body or a dimension is not valid, if constraints close a loop (with the world as a body), or if a
        constraint has more rows than the body beyond it has dimensions; the message names the constraint.
    """

    bodies: tuple[int, ...]
    constraints: tuple[tuple[int, int, int], ...]

    def __init__(self, bodies: Numbers, constraints: Iterable[Numbers]) -> None:
        object.__setattr__(self, "bodies", _read_bodies(bodies))
        object.__setattr__(self, "constraints", _read_constraints(constraints, len(self.bodies)))
        object.__setattr__(self, "_steps", ordermatrix(self.bodies, self.constraints))

    def __repr__(self) -> str:
        sizes = f"{len(self.bodies)} bodies, {len(self.constraints)} constraints"
        return f"<System: {sizes}, {self.nv} coordinates, {self.nc} multipliers>"

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, System) and self.digest == other.digest)

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> tuple[type[System], tuple[object, ...]]:
        return System, (self.bodies, self.constraints)

    @cached_property
    def calls(self) -> dict[Hashable, Any]:
        """Functions that run algorithms on this system straight from Python, kept by `bough.kernel`."""
        return {}

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
        """Number of entries of all blocks of M."""
        return sum(d * d for d in self.bodies)

    @cached_property
    def jacobian_size(self) -> int:
        """Number of entries of all blocks of J."""
        return int(self.jacobian_starts[-1])

    @cached_property
    def v_starts(self) -> Ints:
        """Where the coordinates of each body begin, and their number at the end, (N + 1,)."""
        return _starts(self.bodies)

    @cached_property
    def c_starts(self) -> Ints:
        """Where the multipliers of each constraint begin, and their number at the end, (C + 1,)."""
        return _starts([p for _, _, p in self.constraints])

    @cached_property
    def mass_starts(self) -> Ints:
        """Where the block of each body begins in `mass`, and its size at the end, (N + 1,)."""
        return _starts([d * d for d in self.bodies])

    @cached_property
    def jacobian_starts(self) -> Ints:
        """Where the two blocks of each constraint begin in `jacobian`, and its size at the end, (2 C + 1,)."""
        sizes = (0, *self.bodies)
        return _starts([p * sizes[body] for a, b, p in self.constraints for body in (a, b)])

    # ---- the elimination -----------------------------------------------------------------------------------------

    @cached_property
    def tree(self) -> Tree:
        """The tree of the elimination: one node for each body with the constraint towards the root."""
        return Tree([step.parent for step in self._steps])

    @cached_property
    def node_bodies(self) -> Ints:
        """The body of each node of the tree, counted from 0, (N,)."""
        return np.array([step.body - 1 for step in self._steps], np.int64)

    @cached_property
    def order(self) -> Ints:
        """A perfect elimination order of the rows of H = [[M, -Jᵀ], [-J, 0]], (nv + nc,): no fill-in among blocks."""
        rows: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
        for step in reversed(self._steps):
            rows.append(np.arange(*self.v_starts[step.body - 1 : step.body + 1]))
            if step.constraint >= 0:
                rows.append(self.nv + np.arange(*self.c_starts[step.constraint : step.constraint + 2]))
        return np.concatenate(rows)

    @cached_property
    def digest(self) -> str:
        """What tells systems apart, as text."""
        parts = (np.array(self.bodies, np.int64), np.array(self.constraints, np.int64))
        return hashlib.sha256(b"\0".join(repr(a.shape).encode() + a.tobytes() for a in parts)).hexdigest()

    @cached_property
    def kinds(self) -> tuple[int, ...]:
        """The kind of each node of the tree."""
        number = {kind: k for k, kind in enumerate(self.kind_list)}
        return tuple(number[kind] for kind in self._described)

    @cached_property
    def kind_list(self) -> tuple[_Kind, ...]:
        """The kinds of nodes: those of one kind run the same code."""
        return tuple(dict.fromkeys(self._described))

    @cached_property
    def _described(self) -> list[_Kind]:
        leaves = set(self.tree.leaves)
        described = []
        for k, (body, constraint, parent) in enumerate(self._steps, start=1):
            p = self.constraints[constraint][2] if constraint >= 0 else 0
            m = self.bodies[self._steps[parent - 1].body - 1] if parent else 0
            described.append(_Kind(self.bodies[body - 1], p, m, k in leaves))
        return described

    @cached_property
    def factor_starts(self) -> Ints:
        """Where the blocks of each node begin in the factor, and its size at the end, (N + 1,)."""
        return _starts([_triangle(k.d) + k.d * k.p + _triangle(k.p) + k.p * k.m for k in self._described])

    @property
    def factor_size(self) -> int:
        """Number of entries of all blocks of the factor."""
        return int(self.factor_starts[-1])

    def pivots(self, factor: NDArray[np.floating[Any]]) -> tuple[Any, Any]:
        """The pivot of each row of H, and the diagonal entry it is left of, (..., nv + nc), from (..., factor_size)."""
        pivots, diagonal = np.zeros((2, *factor.shape[:-1], self.nv + self.nc), factor.dtype)
        steps, kinds, starts = np.array(self._steps, np.int64).reshape(-1, 3), np.array(self.kinds), self.factor_starts
        for number, kind in enumerate(self.kind_list):
            nodes = np.flatnonzero(kinds == number)
            first = starts[nodes]
            second = first + _triangle(kind.d) + kind.d * kind.p
            places = [(self.v_starts[steps[nodes, 0] - 1], first, kind.d)]
            if kind.p:
                places.append((self.nv + self.c_starts[steps[nodes, 1]], second, kind.p))
            for rows, block, size in places:
                for r in range(size):
                    D = factor[..., block + _triangle(r + 1) - 1]
                    pivots[..., rows + r] = D
                    diagonal[..., rows + r] += D
                    for k in range(r):  # the block is Lᵀ D L
                        diagonal[..., rows + k] += D * factor[..., block + _triangle(r) + k] ** 2
        return pivots, diagonal

    @cached_property
    def tables(self) -> dict[str, Table]:
        """For each node, where things lie that belong to it."""
        steps = self._steps
        body = self.node_bodies
        up = np.array([max(step.parent - 1, 0) for step in steps], np.int64)
        k = np.array([max(step.constraint, 0) for step in steps], np.int64)
        blocks = np.append(self.jacobian_starts, 0)  # one more, for a system without constraints
        first = np.array([c >= 0 and self.constraints[c][0] == b for b, c, _ in steps], np.int64)
        places = {
            "v": self.v_starts[body],
            "v_up": self.v_starts[body[up]],
            "c": self.c_starts[k],
            "mass": self.mass_starts[body],
            "own": blocks[2 * k + 1 - first],
            "other": blocks[2 * k + first],
            "factor": self.factor_starts[:-1],
            "sum": self._slots.own * self._sum_width,
            "sum_up": self._slots.up * self._sum_width,
            "sum_so_far": self._slots.so_far * self._sum_width,
        }
        return {name: Table(name, values) for name, values in places.items()}

    @cached_property
    def _slots(self) -> Slots:
        """Places for what those beyond a body add to its forces and to its block of M."""
        return slots(self.tree)

    @property
    def _sum_width(self) -> int:
        """Number of entries of such a place."""
        return max((d + _triangle(d) for d in self.bodies), default=0)

    @property
    def sums_size(self) -> int:
        """Number of entries of all such places; the first one holds zeros."""
        return self._slots.count * self._sum_width

    def record(self, kind: int, index: Index) -> Pair:
        """The record of a node."""
        return Pair(self, kind, index)

    _steps: Any = None


class Pair:
    """A body (dimension d) and the constraint (p) towards the body (m) that is nearer to the root: its blocks."""

    def __init__(self, system: System, kind: int, index: Index) -> None:
        described = system.kind_list[kind]
        self.kind = kind
        self.index = index
        self.d, self.p, self.m = described.d, described.p, described.m
        self.is_root = self.m == 0
        self.is_leaf = described.is_leaf
        self._system = system

    def place(self, what: str) -> Index:
        """Where something of this node lies."""
        return gather_index(self._system.tables[what], self.index)

    def read(self, values: Array, what: str, size: int) -> list[Scalar]:
        """Numbers from the place of something."""
        start = self.place(what)
        return [values[start + k] for k in range(size)]

    def write(self, values: Array, what: str, numbers: Iterable[Scalar]) -> None:
        """Put numbers at the place of something."""
        start = self.place(what)
        for k, x in enumerate(numbers):
            values[start + k] = x

    def gathered(self, sums: Array) -> tuple[list[Scalar], Rows]:
        """What those beyond add to the forces on the body and to the lower triangle of its block of M."""
        x = self.read(sums, "sum", self.d + _triangle(self.d))
        return x[: self.d], _lower(x[self.d :], self.d)

    def pass_on(self, sums: Array, forces: Sequence[Scalar], lower: Sequence[Scalar]) -> None:
        """Add to the forces on the body nearer to the root, and to the lower triangle of its block of M."""
        so_far, up = self.place("sum_so_far"), self.place("sum_up")
        for k, x in (*enumerate(forces), *enumerate(lower, self.m)):
            sums[up + k] = sums[so_far + k] + x

    def mass(self, mass: Array) -> Rows:
        """Lower triangle of the block of M."""
        x = self.read(mass, "mass", self.d * self.d)
        return [x[r * self.d : r * self.d + r + 1] for r in range(self.d)]

    def jacobian(self, jacobian: Array) -> tuple[Rows, Rows]:
        """Rows of the blocks of J: for the own body, and for the one nearer to the root."""
        own = self.read(jacobian, "own", self.p * self.d)
        return _rows(own, self.p, self.d), _rows(self.read(jacobian, "other", self.p * self.m), self.p, self.m)

    # ---- the blocks of the factor --------------------------------------------------------------------------------

    def put(self, factor: Array, A: Block, W: Block, S: Block, V: Block) -> None:
        """Store the four blocks."""
        self.write(factor, "factor", [x for block in (A, W, S, V) for row in block for x in row])

    def get(self, factor: Array) -> tuple[Rows, Rows, Rows, Rows]:
        """The four blocks."""
        x = self.read(factor, "factor", _triangle(self.d) + self._width)
        A, rest = x[: _triangle(self.d)], x[_triangle(self.d) :]
        W, V = self._sides(rest)
        return _lower(A, self.d), W, _lower(rest[self.d * self.p :], self.p), V

    def sides(self, factor: Array) -> tuple[Rows, Rows]:
        """The two blocks off the diagonal."""
        start = self.place("factor") + _triangle(self.d)
        return self._sides([factor[start + k] for k in range(self._width)])

    @property
    def _width(self) -> int:
        """Number of entries of W, S and V."""
        return self.d * self.p + _triangle(self.p) + self.p * self.m

    def _sides(self, x: Sequence[Scalar]) -> tuple[Rows, Rows]:
        """W and V among the entries of W, S and V."""
        return _rows(x, self.d, self.p), _rows(x[len(x) - self.p * self.m :], self.p, self.m)


def _rows(x: Sequence[Scalar], rows: int, columns: int) -> Rows:
    return [list(x[r * columns : (r + 1) * columns]) for r in range(rows)]


def _lower(x: Sequence[Scalar], n: int) -> Rows:
    return [list(x[_triangle(r) : _triangle(r + 1)]) for r in range(n)]


def _triangle(n: int) -> int:
    return n * (n + 1) // 2


def _starts(sizes: Sequence[int]) -> Ints:
    starts = np.cumsum([0, *sizes], dtype=np.int64)
    starts.setflags(write=False)
    return starts


def _read_bodies(bodies: Numbers) -> tuple[int, ...]:
    found = _whole(bodies)
    if found is None or any(d < 1 for d in found):
        raise ModelError(f"the dimensions of bodies are {_shown(bodies)}, expected whole numbers from 1")
    return tuple(found)


def _read_constraints(constraints: Iterable[Numbers], n: int) -> tuple[tuple[int, int, int], ...]:
    result = []
    for k, given in enumerate(constraints):
        plain = type(given) is tuple and [type(x) for x in given] == [int, int, int]
        found = given if plain else _whole(given)
        if found is None or len(found) != 3:
            raise ModelError(f"constraint {k} is {_shown(given)}, expected three whole numbers: two bodies, dimension")
        a, b, p = found
        if not (0 <= a <= n and 0 <= b <= n) or a == b:
            raise ModelError(f"constraint {k} is between bodies {a} and {b}, expected two different ones of 0 … {n}")
        if p < 0:
            raise ModelError(f"constraint {k} between bodies {a} and {b} has dimension {p}, expected at least 0")
        result.append((a, b, p))
    return tuple(result)


def _whole(values: object) -> list[int] | None:
    """A sequence of integers as a list; None if it is something else."""
    a = np.asarray(values) if isinstance(values, np.ndarray | Sequence) and not isinstance(values, str) else None
    if a is None or a.ndim != 1 or (a.size and a.dtype.kind not in "iu"):
        return None
    return [int(x) for x in a]


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) < 80 else text[:77] + "…"
