"""Operations on entries that lie side by side in rows, so that for one state the lanes of a vector do them together.

A row of a factor is changed by a multiple of another one, entry by entry. The caller says which row and column each
entry of the inputs is of. A value that is made of a value of a column, and of others that are the same for the whole
row, is of that column too; the same operation on the same rows in neighbouring columns is one operation on vectors.

No operation waits for itself when its lanes are joined: count how often values went from one column to others on the
way to a value. Lanes that are joined agree in that number, and a value that needs one of another column has more.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

from bough.backends.limbs.alike import Group, Term
from bough.backends.protocol import Limbs
from bough.program import Apply, Const, Load, Program

__all__ = ["ColumnSearch"]

_OPERATIONS = ("add", "sub", "neg", "max", "mul", "fma", "div")
_PRODUCTS = ("mul", "fma", "div")


class _Home(NamedTuple):
    """Where a value is: which neighbouring columns it is one of, its lane there, and what row or operation on rows."""

    block: int
    lane: int
    row: int


class ColumnSearch:
    """What can be joined in a straight-line program; `groups` and the rest are as in `alike.Search`.

    Lanes without an operation are -1 in the results of groups, and hold anything.
    """

    def __init__(self, program: Program, columns: Limbs, widest: int) -> None:
        self.constants = {x.result: x.value for x in program.body if isinstance(x, Const)}
        self.negative: set[int] = set()
        self.twins: list[Group] = []
        self._columns, self._widest = columns, widest
        self._numbers: dict[Hashable, int] = {}
        self._home: dict[int, _Home] = {}
        self._moves: dict[int, int] = {}  # how often values went to other columns on the way
        self._rows: dict[int, dict[int, int]] = {}  # values by lane
        self._entries: dict[tuple[str, int], int] = {}  # loaded, by buffer and index
        self._loaded: dict[int, tuple[str, int]] = {}
        self._made: dict[int, tuple[str, list[tuple[int, bool]]]] = {}  # by row: operation, operands, whether of rows
        self._less: dict[int, tuple[int, ...]] = {}  # operands of comparisons
        for x in program.body:
            if isinstance(x, Load):
                self._load(x)
            elif isinstance(x, Apply):
                self._apply(x)
        self.groups = list(self._groups())

    def _load(self, x: Load) -> None:
        entry = self._loaded[x.result] = x.buffer, int(self.constants[x.index])
        self._entries[entry] = x.result
        place = self._columns[x.buffer][entry[1]] if x.buffer in self._columns else None
        if place is not None:
            block, lane = divmod(place.limb, self._widest)
            self._settle(x.result, self._number((place.group, block)), lane, (x.buffer, place.where), 0)

    def _apply(self, x: Apply) -> None:
        op, arguments = x.op, x.arguments
        if op == "lt":
            self._less[x.result] = arguments
        if op == "select" and self._less.get(arguments[0]) == arguments[:0:-1]:
            op, arguments = "max", arguments[:0:-1]
        homes = [self._home.get(a) for a in arguments]
        lead = self._lead(op, homes)
        of_row = [home if home and lead and home[:2] == lead[:2] else None for home in homes]
        if op in _PRODUCTS and of_row[0] and of_row[1]:  # one of them is for the whole row: what came later
            of_row[op == "div" or self._age(of_row[0]) <= self._age(of_row[1])] = None
        pairs = list(zip(arguments, of_row, strict=True))
        moves = max([self._moves.get(a, 0) + (a in self._home and not home) for a, home in pairs])
        if lead is None:
            self._moves[x.result] = moves
            return
        operands = [(home.row, True) if home else (a, False) for a, home in pairs]
        if op in ("mul", "fma"):
            operands[:2] = sorted(operands[:2], key=lambda operand: not operand[1])
        row = self._settle(x.result, lead.block, lead.lane, (op, *operands, moves), moves)
        self._made.setdefault(row, (op, operands))

    def _lead(self, op: str, homes: Sequence[_Home | None]) -> _Home | None:
        """The operand whose column the result is of: what a product is added to, what is divided, else the oldest."""
        order = (homes[2:], homes[:2]) if op == "fma" else (homes[:1], homes[1:]) if op == "div" else (homes,)
        known = next((some for part in order if (some := [home for home in part if home])), ())
        return min(known, key=self._age) if known and op in _OPERATIONS else None

    def _age(self, home: _Home) -> int:
        """The number of a row; of the negative of a row, the number of that one."""
        op, operands = self._made.get(home.row, ("", []))
        return operands[0][0] if op == "neg" else home.row

    def _settle(self, value: int, block: int, lane: int, row: Hashable, moves: int) -> int:
        number = self._number((block, row))
        while self._rows.setdefault(number, {}).setdefault(lane, value) != value:  # once more the same
            row = (row, "again")
            number = self._number((block, row))
        self._home[value], self._moves[value] = _Home(block, lane, number), moves
        return number

    def _number(self, key: Hashable) -> int:
        return self._numbers.setdefault(key, len(self._numbers))

    def _groups(self) -> Iterator[Group]:
        widths: dict[int, int] = {}  # of blocks
        for home in self._home.values():
            widths[home.block] = max(widths.get(home.block, 1), 1 << home.lane.bit_length())
        for number, (op, operands) in self._made.items():
            lanes = self._rows[number]
            if len(lanes) > 1:
                width = widths[self._home[next(iter(lanes.values()))].block]
                vectors = [self._vector(x, width) if own else (x,) * width for x, own in operands]
                results = [lanes.get(k, -1) for k in range(width)]
                terms = [
                    Term(result, op, arguments, (1,) * len(operands))
                    for result, arguments in zip(results, zip(*vectors, strict=True), strict=True)
                ]
                yield Group(terms)

    def _vector(self, row: int, width: int) -> tuple[int, ...]:
        """The values of a row; where it has none beside entries of an input, what comes next there."""
        lanes = self._rows[row]
        if row in self._made:
            return tuple(lanes.get(k, -1) for k in range(width))
        first, value = next(iter(lanes.items()))
        buffer, index = self._loaded[value]
        return tuple(lanes.get(k, self._entries.get((buffer, index + k - first), value)) for k in range(width))
