"""Bodies and constraints of many kinds, sorted: which constraints are primary, what lies where, which run one code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.complementarity import Conditions
from bough.errors import ModelError
from bough.lagrange.attributes import read_vector
from bough.lagrange.auxiliary import Auxiliary
from bough.lagrange.forest import Edge, choose_primary
from bough.lagrange.system import Ints, System, starts_of
from bough.model import BASE
from bough.model.arguments import require_name
from bough.model.ties.body import WORLD, Body, kind_of
from bough.model.ties.constraint import Constraint, Side, Sides
from bough.model.ties.trial import require_body, require_constraint
from bough.reading import known_name
from bough.scalar import Array, Index, Scalar, Table, gather, gather_index
from bough.scalar.digest import digest
from bough.scalar.lazy import cached_property

__all__ = ["BodyGroup", "Layout", "Tie", "TieGroup", "read_layout"]


@dataclass(frozen=True)
class Tie:
    """A constraint on bodies, by numbers; 0 is the world."""

    constraint: Constraint
    bodies: tuple[int, ...]

    @property
    def edge(self) -> Edge | None:
        """Two bodies and the number of rows, if it can be primary."""
        ends = (*self.bodies, 0) if len(self.bodies) == 1 else self.bodies
        if len(ends) != 2 or self.constraint.one_sided:
            return None
        return (ends[0], ends[1], self.constraint.rows)


class Layout:
    """Bodies 1 … N, ties between them, and gravity: which ties are primary, and what lies where; immutable.

    Rows of constraints inside are those of primary ties, then those of auxiliary ones; so are the blocks of J. Blocks
    of auxiliary ties are, for each of its bodies but the world, rows x dimension, row by row. All ties of a `loose`
    layout are auxiliary.
    """

    def __init__(
        self, bodies: dict[str, Body], ties: dict[str, Tie], gravity: tuple[float, float, float], loose: bool = False
    ) -> None:
        self.bodies_by_name, self.ties_by_name, self.gravity, self.loose = bodies, ties, gravity, loose
        self.bodies, self.ties = tuple(bodies.values()), tuple(ties.values())
        self.body_names, self.tie_names = tuple(bodies), tuple(ties)
        sizes, rows = [body.nv for body in self.bodies], [tie.constraint.rows for tie in self.ties]
        edges = [None if loose else tie.edge for tie in self.ties]
        self._are_primary = choose_primary(sizes, edges)
        # numbers of the ties that `system` has as its constraints, of those `beside`, and of all as rows are inside
        self.primary = tuple(k for k, chosen in enumerate(self._are_primary) if chosen)
        self.auxiliary = tuple(k for k, chosen in enumerate(self._are_primary) if not chosen)
        self.order = self.primary + self.auxiliary
        self.system = System(sizes, [edge for k in self.primary if (edge := edges[k]) is not None])
        self.beside = Auxiliary(
            self.system, [(tuple(b for b in self.ties[k].bodies if b), rows[k]) for k in self.auxiliary]
        )
        # where the position of each body begins, and their number at the end; where unit quaternions begin in x
        self.x_starts = starts_of([body.nx for body in self.bodies])
        self.nx, pairs = int(self.x_starts[-1]), zip(self.x_starts, self.bodies, strict=False)
        self.quaternions = np.array([int(start) + k for start, body in pairs for k in body.quaternions], np.int64)
        # where the rows of each tie begin, and inside; the place inside of each row as ties are named, and its tie
        self.tie_starts = starts_of(rows)
        self.row_starts = np.zeros(len(rows), np.int64)
        self.row_starts[list(self.order)] = starts_of([rows[k] for k in self.order])[:-1]
        spans = [start + np.arange(count) for start, count in zip(self.row_starts, rows, strict=True)]
        self.rows, self.nc = np.concatenate([np.zeros(0, np.int64), *spans]), sum(rows)
        self.row_names = tuple(name for name, count in zip(ties, rows, strict=True) for _ in range(count))
        # where the block of a tie, by number, for one of its bodies, by place, begins; the size of all blocks
        self.block_starts, self.blocks_size = dict[tuple[int, int], int](), 0
        for k in self.order:
            for side, body in enumerate(self.ties[k].bodies):
                self.block_starts[k, side] = self.blocks_size
                self.blocks_size += rows[k] * sizes[body - 1] if body else 0
        # of each row inside, whether it is one-sided, and in the order of the ties whether it is such a distance
        self.one_sided = np.array(self._of_rows(self.order, lambda kind, row: kind.one_sided), np.bool_)
        distances = self._of_rows(range(len(rows)), lambda k, row: k.one_sided and (k.friction is None or not row))
        self.distances = np.array(distances, np.bool_)

    def _of_rows(self, ties: Sequence[int], what: Callable[[Constraint, int], Any]) -> list[Any]:
        """Something of each row of some ties, from the constraint and the number of the row in it."""
        return [what(kind, row) for kind in (self.ties[k].constraint for k in ties) for row in range(kind.rows)]

    @cached_property
    def without_primary(self) -> Layout:
        """A layout like this one with every tie auxiliary."""
        return Layout(self.bodies_by_name, self.ties_by_name, self.gravity, loose=True)

    @cached_property
    def two_sided(self) -> Layout:
        """A layout like this one without its one-sided ties; itself if it has none."""
        kept = {name: tie for name, tie in self.ties_by_name.items() if not tie.constraint.one_sided}
        return Layout(self.bodies_by_name, kept, self.gravity, self.loose) if len(kept) < len(self.ties) else self

    @cached_property
    def conditions(self) -> Conditions:
        """What the rows of auxiliary ties demand, inside."""
        total = Conditions.equalities(0)
        for kind in (self.ties[k].constraint for k in self.auxiliary):
            if not kind.one_sided:
                total = total + Conditions.equalities(kind.rows)
            elif kind.friction is None:
                total = total + Conditions.inequalities(kind.rows)
            else:
                total = total + Conditions.contacts(1, "pyramid", kind.rows - 1)
        return total

    @cached_property
    def friction(self) -> NDArray[np.float64]:
        """Coefficients of friction of the rows of auxiliary ties, inside; zero for those without."""
        return np.array(self._of_rows(self.auxiliary, lambda kind, row: kind.friction or 0.0))

    @cached_property
    def compliance(self) -> NDArray[np.float64] | None:
        """Of each row inside, 1 if it stands for a unit mass, else 0; None if none does."""
        soft = np.array(self._of_rows(self.order, lambda kind, row: float(row >= kind.rows - kind.inertial)))
        return soft if soft.any() else None

    @property
    def verdicts(self) -> int:
        """Number of verdicts on a solution: for each body with its constraint, each auxiliary row, each distance."""
        two = self.two_sided
        return two.system.tree.n + two.nc - two.system.nc + int(self.distances.sum())

    # ---- what runs the same code -----------------------------------------------------------------------------------

    @cached_property
    def body_groups(self) -> tuple[BodyGroup, ...]:
        """Bodies by kind."""
        members: dict[Body, list[int]] = {}
        for k, body in enumerate(self.bodies):
            members.setdefault(kind_of(body), []).append(k)
        return tuple(BodyGroup(self, kind, np.array(found, np.int64)) for kind, found in members.items())

    @cached_property
    def tie_groups(self) -> tuple[TieGroup, ...]:
        """Ties by kind of constraint and kinds of bodies, primary or not."""
        members: dict[tuple[Constraint, tuple[Body, ...], bool], list[int]] = {}
        kinds = [WORLD, *(kind_of(body) for body in self.bodies)]
        for k, (tie, primary) in enumerate(zip(self.ties, self._are_primary, strict=True)):
            key = (kind_of(tie.constraint), tuple(kinds[body] for body in tie.bodies), primary)
            members.setdefault(key, []).append(k)
        return tuple(TieGroup(self, *key, found) for key, found in members.items())

    @cached_property
    def body_numbers(self) -> _Numbers:
        """Parameters of the bodies."""
        return _Numbers("body_parameters", [body.parameters for body in self.bodies])

    @cached_property
    def tie_numbers(self) -> _Numbers:
        """Parameters of the constraints."""
        return _Numbers("constraint_parameters", [tie.constraint.parameters for tie in self.ties])

    # ---- identity --------------------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Layout) and self._key == other._key)

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[type[Layout], tuple[Any, ...]]:
        return Layout, (self.bodies_by_name, self.ties_by_name, self.gravity, self.loose)

    @property
    def _key(self) -> tuple[Any, ...]:
        return (*self.bodies_by_name.items(), *self.ties_by_name.items(), self.gravity, self.loose)

    @cached_property
    def _hash(self) -> int:
        return hash(self._key)

    @cached_property
    def digest(self) -> str | None:
        """Digest of the programs of a layout, as text; None if they contain code from outside the package."""
        return digest(
            *(self.gravity, self.loose, len(self.bodies), len(self.ties)),
            [(group.kind, group.members) for group in self.body_groups],
            [(group.constraint, group.kinds, group.members) for group in self.tie_groups],
            [tie.bodies for tie in self.ties],
            *(self.body_numbers.data, self.tie_numbers.data),
        )


class Group:
    """Things of one kind: where what belongs to the k-th of them lies, and its parameters."""

    def __init__(self, count: int, numbers: _Numbers, size: int, places: Mapping[str, Any]) -> None:
        self.count, self._numbers, self._size = count, numbers, size
        self._places = {name: Table(f"{name}_places", np.array(found, np.int64)) for name, found in places.items()}

    def place(self, what: str, k: Index) -> Index:
        """Where something of the k-th lies."""
        return gather_index(self._places[what], k)

    def parameters(self, k: Index) -> tuple[Scalar, ...]:
        """The parameters of the k-th."""
        return self._numbers.read(self.place("parameters", k), self._size)


class BodyGroup(Group):
    """Bodies of one kind, each of the layout once or those on one side of some ties; places "x", "v" and "mass"."""

    def __init__(self, layout: Layout, kind: Body, members: Ints) -> None:
        self.kind, self.members = kind, members
        starts = {"x": layout.x_starts, "v": layout.system.v_starts, "mass": layout.system.mass_starts}
        starts["parameters"] = layout.body_numbers.starts
        places = {name: values[members] for name, values in starts.items()}
        super().__init__(members.size, layout.body_numbers, len(kind.parameters), places)

    def side(self, k: Index, x: Array, v: Array | None = None) -> Side:
        """The k-th body; without v at rest."""
        moving = (0.0,) * self.kind.nv if v is None else read(v, self.place("v", k), self.kind.nv)
        return Side(self.kind, self.parameters(k), read(x, self.place("x", k), self.kind.nx), moving)


class TieGroup(Group):
    """Ties by one kind of constraint between bodies of the same kinds, all primary or all auxiliary.

    Places are the "row" where the rows of each begin, and "block 0" and so on for the blocks of its bodies.
    """

    def __init__(
        self, layout: Layout, constraint: Constraint, kinds: tuple[Body, ...], primary: bool, members: list[int]
    ) -> None:
        self.constraint, self.members, self.kinds, self.primary = constraint, members, kinds, primary
        places: dict[str, Any] = {"row": layout.row_starts[members], "parameters": layout.tie_numbers.starts[members]}
        self._sides: list[BodyGroup | None] = []  # None for the world
        for side, kind in enumerate(kinds):
            bodies = np.array([layout.ties[k].bodies[side] - 1 for k in members], np.int64)
            self._sides.append(None if kind is WORLD else BodyGroup(layout, kind, bodies))
            places[f"block {side}"] = [layout.block_starts[k, side] for k in members]
        size = len(layout.ties[members[0]].constraint.parameters)
        super().__init__(len(members), layout.tie_numbers, size, places)

    def sides(self, k: Index, x: Array, v: Array | None, time: Scalar) -> Sides:
        """The bodies of the k-th tie, and the world behind them; without v all are at rest, time goes on."""
        world = Side(WORLD, (), (time,), (1.0,))
        return (*(world if side is None else side.side(k, x, v) for side in self._sides), world)


class _Numbers:
    """Parameters of many kinds, concatenated in a table."""

    def __init__(self, name: str, parameters: Sequence[tuple[float, ...]]) -> None:
        self.starts = starts_of([len(p) for p in parameters])[:-1]
        self.data = np.array([float(x) for p in parameters for x in p], np.float64)
        self._table = Table(name, self.data)

    def read(self, start: Index, size: int) -> tuple[Scalar, ...]:
        return tuple(gather(self._table, start + k) for k in range(size))


def read(values: Array, start: Index, size: int) -> tuple[Scalar, ...]:
    """Entries of an array from some place on."""
    return tuple(values[start + k] for k in range(size))


# ---- bodies and constraints as users name them -----------------------------------------------------------------------


def read_layout(bodies: dict[str, Body], constraints: dict[str, tuple[object, ...]], gravity: ArrayLike) -> Layout:
    """Each constraint comes with the names of its bodies; kinds are tried out once."""
    _require_bodies(bodies)
    g = read_vector(gravity, "gravity", "three finite numbers (m/s²)")
    return Layout(bodies, _read_ties(constraints, {BASE: WORLD, **bodies}), g)


def _require_bodies(bodies: Mapping[str, Body]) -> None:
    tried: set[Body] = set()
    for name, body in bodies.items():
        require_name(name, "a body")
        if name == BASE:
            raise ModelError(f"a body is called {name!r}, which is what does not move; expected another name")
        if not isinstance(body, Body) or kind_of(body) not in tried:
            require_body(body, f"body {name!r}")
            tried.add(kind_of(body))


def _read_ties(given: Mapping[str, tuple[object, ...]], bodies: Mapping[str, Body]) -> dict[str, Tie]:
    """Constraints, by names of their bodies, the world being the first of all."""
    numbers, tried, ties = {name: k for k, name in enumerate(bodies)}, set[object](), {}
    for name, entry in given.items():
        require_name(name, "a constraint")
        if not isinstance(entry, tuple) or not entry:
            raise ModelError(f"constraint {name!r} is {entry!r}, expected a tuple: a constraint, then names of bodies")
        constraint, *called = entry
        ends = [known_name(body, f"body that constraint {name!r} could act on", numbers) for body in called]
        found = tuple(numbers[end] for end in ends)
        if not any(found) or len(set(found)) < len(found):
            expected = "expected different bodies that are not all the world"
            raise ModelError(f"constraint {name!r} is on {called}, {expected}")
        kinds = [bodies[end] for end in ends]
        key = isinstance(constraint, Constraint) and (kind_of(constraint), *map(kind_of, kinds))
        if not key or key not in tried:
            require_constraint(constraint, kinds, f"constraint {name!r}")
            tried.add(key)
        assert isinstance(constraint, Constraint)
        ties[name] = Tie(constraint, found)
    return ties
