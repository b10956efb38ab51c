"""Auxiliary constraints of a system: those that close loops, hold one or many bodies, or only push."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from bough.errors import ModelError
from bough.lagrange.system import Ints, System, starts_of
from bough.reading import kind_of, listed
from bough.scalar import Table
from bough.scalar.lazy import cached_property

__all__ = ["Auxiliary", "Visits"]


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Auxiliary:
    """Constraints of any dimension on any number of bodies, in addition to those of a `System`; immutable.

    Their rows are a = Jᵃ v̇ + cᵃ, and act on the bodies with forces K f, where K = (Jᵃ)ᵀ by default. Conditions on a
    and f are chosen later: see `anticipate`.

    An array `jacobian` holds, for each constraint, a block for each of its bodies, in the given order, each row by row.

    Parameters
    ----------
    system
        The system of primary constraints.
    constraints
        For each constraint the bodies it acts on, numbers from 1 without repetition, and the number of its rows. The
        world has no block and is omitted; rows that act on the world only equal their c.

    Raises
    ------
    ModelError
        If a body does not exist or occurs twice, or the number of rows is not valid; the message names the constraint.
    """

    system: System
    constraints: tuple[tuple[tuple[int, ...], int], ...]

    def __init__(self, system: System, constraints: Iterable[tuple[Sequence[int], int]]) -> None:
        if not isinstance(system, System):
            raise ModelError(f"the system is {kind_of(system)}, expected a bough.maximal.System")
        given = listed(constraints, "constraints", "bodies and a number of rows for each")
        object.__setattr__(self, "system", system)
        object.__setattr__(self, "constraints", tuple(_read(k, x, system) for k, x in enumerate(given)))

    def __repr__(self) -> str:
        return f"<Auxiliary: {len(self.constraints)} constraints, {self.nc} rows, beside {self.system!r}>"

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Auxiliary) and self.digest == other.digest)

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> tuple[type[Auxiliary], tuple[object, ...]]:
        return Auxiliary, (self.system, self.constraints)

    @cached_property
    def digest(self) -> str:
        """Digest of the constraints, as text."""
        return hashlib.sha256(f"{self.system.digest} {self.constraints}".encode()).hexdigest()

    # ---- sizes and places ----------------------------------------------------------------------------------------

    @cached_property
    def nc(self) -> int:
        """Number of rows of all constraints."""
        return sum(rows for _, rows in self.constraints)

    @cached_property
    def jacobian_starts(self) -> Ints:
        """Start index of each block in `jacobian`; the last entry is the size."""
        sizes = [rows * self.system.bodies[body - 1] for bodies, rows in self.constraints for body in bodies]
        return starts_of(sizes)

    @property
    def jacobian_size(self) -> int:
        """Number of entries of all blocks."""
        return int(self.jacobian_starts[-1])

    @cached_property
    def entries(self) -> tuple[Table, Table]:
        """Row of each entry of `jacobian`, and the coordinate of its body."""
        rows, columns, first = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0
        for bodies, count in self.constraints:
            for body in bodies:
                places = np.arange(*self.system.v_starts[body - 1 : body + 1])
                rows.append(np.repeat(np.arange(first, first + count), len(places)))
                columns.append(np.tile(places, count))
            first += count
        return Table("entry_rows", np.concatenate(rows)), Table("entry_columns", np.concatenate(columns))

    @cached_property
    def visits(self) -> Visits:
        """The rows on their way to the root."""
        return Visits(self)


class Visits:
    """Rows on their way to the roots: each visits the nodes of its bodies and all between them and the roots.

    Visits of one node come one after the other. Each has a force, of the dimension of the body.
    """

    def __init__(self, auxiliary: Auxiliary) -> None:
        system, nc = auxiliary.system, auxiliary.nc
        parents, node_of = np.array(system.tree.parents, np.int64), np.argsort(system.node_bodies)
        nodes, rows, first = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0
        for bodies, count in auxiliary.constraints:
            met: set[int] = set()
            for body in bodies:
                node = int(node_of[body - 1])
                while node >= 0 and node not in met:
                    met.add(node)
                    node = int(parents[node]) - 1
            here = np.array(sorted(met), np.int64)
            nodes.append(np.repeat(here, count))
            rows.append(np.tile(np.arange(first, first + count), len(here)))
            first += count
        order = np.lexsort((np.concatenate(rows), np.concatenate(nodes)))
        on, row = np.concatenate(nodes)[order], np.concatenate(rows)[order]
        kinds = [system.kind_list[kind] for kind in system.kinds]
        d, p = np.array([(kind.d, kind.p) for kind in kinds], np.int64).reshape(len(kinds), 2).T
        visits, force_starts = np.bincount(on, minlength=len(kinds)), starts_of(d[on].tolist())
        # number of entries of all forces, and the largest number of rows at one node
        self.force_size, self.most = int(force_starts[-1]), int(visits.max(initial=0))
        # whether whole solutions take fewer operations than products of half ones: many rows share long paths
        products = (visits * (visits + 1) // 2 * (d + p)).sum()
        back = (d * p + p**2).sum() + auxiliary.jacobian_size
        self.takes_solutions = bool(nc * back + (visits * (d + p) ** 2 // 2).sum() < products)
        # by node: the `first` of its visits and their `count`; by visit: its `row`, `force` and the force `beyond` it;
        # by entry of `jacobian`: the place in a force, `into`; by row: where the entries of its constraint `begin`
        keys, up = on * max(nc, 1) + row, parents[on] - 1
        above = np.searchsorted(keys, np.maximum(up, 0) * max(nc, 1) + row)
        of_row, of_column = (table.data for table in auxiliary.entries)
        bodies_of = np.searchsorted(system.v_starts, of_column, side="right") - 1
        own = np.searchsorted(keys, node_of[bodies_of] * max(nc, 1) + of_row)
        blocks = np.cumsum([0, *(len(bodies) for bodies, _ in auxiliary.constraints)])[:-1]
        places = {
            "first": np.cumsum(visits) - visits,
            "count": visits,
            "row": row,
            "force": force_starts[:-1],
            "beyond": np.where(up >= 0, force_starts[:-1][np.minimum(above, max(len(up) - 1, 0))], 0),
            "into": force_starts[own] + of_column - system.v_starts[bodies_of],
            "begin": np.repeat(auxiliary.jacobian_starts[blocks], [rows for _, rows in auxiliary.constraints]),
        }
        self.tables = {name: Table(name, values.astype(np.int64)) for name, values in places.items()}


def _read(k: int, given: tuple[Sequence[int], int], system: System) -> tuple[tuple[int, ...], int]:
    try:
        bodies, rows = given
        numbers, count = tuple(map(int, bodies)), int(rows)
        exact = numbers == tuple(bodies) and count == rows
    except (TypeError, ValueError):
        exact = False
    if not exact:
        raise ModelError(f"auxiliary constraint {k} is {given!r}, expected numbers of bodies and a number of rows")
    n = len(system.bodies)
    if len(set(numbers)) < len(numbers) or not all(1 <= body <= n for body in numbers):
        raise ModelError(f"auxiliary constraint {k} is on bodies {numbers}, expected different bodies of 1 … {n}")
    if count < 0:
        raise ModelError(f"auxiliary constraint {k} has {count} rows, expected 0 or more")
    return numbers, count
