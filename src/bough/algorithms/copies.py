"""Parts of a mechanism that share neither a body nor a constraint, and are built alike: one code, run for each.

Parts move as if each were alone. Of those that differ in numbers only, a program with loops has the code of one,
straight-line, in a loop over all of them: numbers that all have are constants in it, the others are read from a table.
That takes less time than a loop over bodies that are not known until it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.algorithms.loops import loop_sides
from bough.algorithms.saddle_tree import saddle_tree
from bough.model import Attachment, Equality, Loop, Mechanism, Model, Tie
from bough.model.constraints import Constraint
from bough.scalar import (
    Array,
    Filled,
    Index,
    Scalar,
    Table,
    array,
    gather,
    gather_index,
    loop,
    maximum,
    minimum,
    select,
    unrolling,
)
from bough.spatial import Matrix, Transform, Vector
from bough.tree import Tree

__all__ = ["Copies", "copies", "for_each_copy"]

Outputs: TypeAlias = Mapping[str, Any]
Ints: TypeAlias = NDArray[np.int64]
Judged: TypeAlias = tuple[Scalar, Scalar, Scalar, Scalar]
"""The smallest and the largest pivot, the largest residual, and how many parts are in doubt."""

MOST_FREEDOMS, MOST_OPERATIONS = 64, 20_000
"""Degrees of freedom that parts which are not alike may have together, and about how many operations, to be written
out."""

SPACES = {
    "q": "q", "v": "v", "tau": "v", "f_ext": "external forces", "loop_tau": "loop joints",
    "qdd": "v", "q_near": "q", "v_near": "v", "forces": "rows", "unmet": "rows",
}  # fmt: skip
"""What entries of inputs and outputs belong to; an input that is not here is the same for all parts."""


class _Places:
    """Where the entries of each copy lie in an array of the whole mechanism."""

    def __init__(self, name: str, places: Ints) -> None:
        self.size = places.shape[1]
        self._offsets = places[0] - places[0, 0] if self.size else places[0]
        self._even = self.size > 0 and bool((places - places[:, :1] == self._offsets).all())
        self._table = Table(f"{name} of copies", places[:, 0] if self._even else places.ravel())

    def at(self, copy: Index, k: int) -> Index:
        """The place of entry k."""
        if self._even:
            return gather_index(self._table, copy) + int(self._offsets[k])
        return gather_index(self._table, copy * self.size + k)


@dataclass(frozen=True, eq=False)
class Copies:
    """Parts that are built alike."""

    first: Mechanism  # one of them alone
    numbers: NDArray[np.float64]  # of each its constants: those of bodies, then those of loops
    places: Mapping[str, _Places]  # of the entries of each, by space

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.numbers)

    def mechanism(self, copy: Index) -> Mechanism:
        """One of them."""
        differ = np.flatnonzero((self.numbers != self.numbers[0]).any(axis=0)).tolist()
        table = Table("numbers of copies", self.numbers[:, differ].ravel())
        scalars = {k: gather(table, copy * len(differ) + i) for i, k in enumerate(differ)}
        entries = Filled(Table("constants", self.numbers[0]), scalars)
        sides, k = {}, self.first.constants.data.size
        for closing in self.first.model.loops:
            x = [entries.entry(k + i) for i in range(24)]
            sides[closing.name] = (_transform(x[:12]), _transform(x[12:]))
            k += 24
        return self.first.with_constants(entries, sides)

    def inputs(self, copy: Index, x: Mapping[str, Array]) -> dict[str, Array]:
        """What one of them takes, from what the whole mechanism does."""

        def own(name: str, values: Array) -> Array:
            if name not in SPACES:
                return values
            places = self.places[SPACES[name]]
            return [values[places.at(copy, k)] for k in range(places.size)]

        return {name: own(name, values) for name, values in x.items()}


def for_each_copy(
    parts: Sequence[Copies],
    rule: Callable[[Mechanism, dict[str, Array]], Outputs],
    x: Mapping[str, Array],
    outputs: Collection[str],
) -> Outputs:
    """What a rule gives of a whole mechanism, part by part: the outputs that are named, and what is judged.

    Of pivots the smallest and the largest are given, of residuals the largest; the whole is in doubt if a part is.
    """
    sizes = {name: sum(part.count * part.places[space].size for part in parts) for name, space in SPACES.items()}
    results = {name: array(sizes[name]) for name in outputs}
    judged: Judged = (inf, -inf, 0.0, 0.0)
    for part in parts:

        def run(copy: Index, so_far: Judged, part: Copies = part) -> Judged:
            least, most, residual, doubts = so_far
            with unrolling():
                found = rule(part.mechanism(copy), part.inputs(copy, x))
            for name, result in results.items():
                places = part.places[SPACES[name]]
                for k in range(places.size):
                    result[places.at(copy, k)] = found[name][k]
            for pivot in found["pivots"]:
                least, most = minimum(least, pivot), maximum(most, pivot)
            residual = maximum(residual, found["residual"][0]) if "residual" in found else residual
            return least, most, residual, doubts + select(found["doubt"], 1.0, 0.0)

        judged = loop(part.count, run, judged)
    pivots, residual, doubts = array(2), *judged[2:]
    pivots[0], pivots[1] = judged[:2]
    return {**results, "residual": [residual], "pivots": pivots, "doubt": doubts > 0.0}


# ---- which parts there are -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Part:
    """Numbers of bodies from 1, and of constraints from 0."""

    bodies: tuple[int, ...]
    constraints: tuple[int, ...]

    @property
    def number(self) -> dict[int, int]:
        """The number that each of its bodies has in it."""
        return {0: 0} | {body: k for k, body in enumerate(self.bodies, start=1)}


@lru_cache(maxsize=64)
def copies(m: Mechanism) -> tuple[Copies, ...]:
    """The parts of a mechanism by what they are copies of; none if that would not make programs short and fast."""
    model = m.model
    if m.parameters or not m.coupling.trivial or any(isinstance(c, Tie) for c in model.constraints):
        return ()
    alike: dict[object, list[_Part]] = {}
    for part in _parts(model):
        alike.setdefault(_structure(m, part), []).append(part)
    if all(len(parts) == 1 for parts in alike.values()):
        return ()
    firsts = [_alone(model, parts[0]) for parts in alike.values()]
    if sum(first.nv for first in firsts) > MOST_FREEDOMS:
        return ()
    spaces = _spaces(model)
    found = tuple(
        Copies(
            Mechanism(first),
            np.array([_numbers(m, part) for part in parts]),
            {name: _Places(name, at(parts)) for name, at in spaces.items()},
        )
        for first, parts in zip(firsts, alike.values(), strict=True)
    )
    operations = sum(saddle_tree(part.first, "soon").operations for part in found)
    return found if operations <= MOST_OPERATIONS else ()


def _parts(model: Model) -> list[_Part]:
    """The parts that share nothing but the base, that with the first body first."""
    top = [0] * (model.nbodies + 1)  # of each body the first on its path
    for body, parent in enumerate(model.tree.parents, start=1):
        top[body] = top[parent] or body
    joined = list(range(model.nbodies + 1))

    def first(root: int) -> int:
        while joined[root] != root:
            joined[root] = joined[joined[root]]
            root = joined[root]
        return root

    held = [[top[body] for body in _bodies(model, constraint)] for constraint in model.constraints]
    for roots in held:
        for root in roots:
            a, b = sorted((first(roots[0]), first(root)))
            joined[b] = a
    bodies: dict[int, list[int]] = {}
    constraints: dict[int, list[int]] = {}
    for body in range(1, model.nbodies + 1):
        bodies.setdefault(first(top[body]), []).append(body)
    for k, roots in enumerate(held):
        constraints.setdefault(first(roots[0]), []).append(k)
    return [_Part(tuple(some), tuple(constraints.get(root, ()))) for root, some in bodies.items()]


def _bodies(model: Model, constraint: Constraint) -> list[int]:
    """The moving bodies that a loop or a law between joints is on."""
    if isinstance(constraint, Loop):
        return [end.body for end in (constraint.predecessor, constraint.successor) if end.body]
    assert isinstance(constraint, Equality)
    names = (constraint.joint, constraint.other)
    return [model.joint_names.index(name) + 1 for name in names if name is not None]


def _structure(m: Mechanism, part: _Part) -> object:
    """What parts have in common that run the same code."""
    number, model = part.number, m.model

    def said(constraint: Constraint) -> object:
        bodies = [number[body] for body in _bodies(model, constraint)]
        if isinstance(constraint, Loop):
            ends = (constraint.predecessor.body > 0, constraint.successor.body > 0)
            return (constraint.joint.canonical, constraint.joint.parameters, *bodies, *ends)
        assert isinstance(constraint, Equality)
        return (*bodies, constraint.polynomial, constraint.zero, constraint.other_zero)

    kinds = tuple((m.kind_list[m.kinds[body - 1]], number[model.tree.parents[body - 1]]) for body in part.bodies)
    return kinds, tuple(said(model.constraints[k]) for k in part.constraints)


def _numbers(m: Mechanism, part: _Part) -> list[float]:
    """The constants of a part: those of its bodies, then those of its loops."""
    starts, constants = m.constant_starts.data.tolist(), m.constants.data
    ends = [*starts[1:], constants.size]
    of_bodies = [x for body in part.bodies for x in constants[starts[body - 1] : ends[body - 1]].tolist()]
    held = [m.model.constraints[k] for k in part.constraints]
    sides = [X for constraint in held if isinstance(constraint, Loop) for X in loop_sides(m, constraint)]
    return [*of_bodies, *(float(x) for X in sides for x in _entries(X))]


def _entries(X: Transform) -> list[Scalar]:
    return [x for column in (*X.rotation.columns, X.translation) for x in column.parts]


def _transform(x: Sequence[Scalar]) -> Transform:
    return Transform(Matrix(Vector.of(x[:3]), Vector.of(x[3:6]), Vector.of(x[6:9])), Vector.of(x[9:]))


def _alone(model: Model, part: _Part) -> Model:
    """A part as a model of its own."""
    number = part.number

    def placed(end: Attachment) -> Attachment:
        return replace(end, body=number[end.body])

    def constraint(given: Constraint) -> Constraint:
        if not isinstance(given, Loop):
            return given
        return replace(given, predecessor=placed(given.predecessor), successor=placed(given.successor))

    return model.with_checked(
        tree=Tree([number[model.tree.parents[body - 1]] for body in part.bodies]),
        bodies=tuple(model.bodies[body - 1] for body in part.bodies),
        joints=tuple(model.joints[body - 1] for body in part.bodies),
        frames=(),
        geometries=(),
        constraints=tuple(constraint(model.constraints[k]) for k in part.constraints),
        inner_root=0,
    )


def _spaces(model: Model) -> dict[str, Callable[[Sequence[_Part]], Ints]]:
    """For each space, what tells where the entries of some parts that are built alike lie."""

    def places(sizes: Sequence[int], members: str) -> Callable[[Sequence[_Part]], Ints]:
        ends = np.cumsum([0, *sizes]).tolist()

        def of(parts: Sequence[_Part]) -> Ints:
            found = [[x for k in getattr(part, members) for x in range(ends[k], ends[k + 1])] for part in parts]
            return np.array(found, np.int64)

        return of

    joints, held = [entry.joint for entry in model.joints], model.constraints
    return {
        "q": places([0, *(joint.nq for joint in joints)], "bodies"),
        "v": places([0, *(joint.nv for joint in joints)], "bodies"),
        "external forces": places([0, *(6 for _ in joints)], "bodies"),
        "rows": places([c.rows for c in held], "constraints"),
        "loop joints": places([c.joint.nv if isinstance(c, Loop) else 0 for c in held], "constraints"),
    }
