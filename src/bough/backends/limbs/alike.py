"""Operations that are alike in several limbs, so that for one state the lanes of a vector can do them together.

The legs of a quadruped, the arms of a humanoid and the fingers of a hand run the same operations on other numbers. The
caller says which entries of the inputs belong to which limb. A value made of values of one limb, and of the trunk,
belongs to that limb; one made of values of several limbs belongs to the trunk again. Two values of two limbs are alike
if the same operation makes them of operands that are alike. All constants are alike; so are values of the trunk that
are made of the same entries or, once limbs have taken part in them, by the same operations.

Limbs are often mirrored, so that operands are compared without their signs; these are put back lane by lane.

No operation waits for itself when its lanes are joined: count how often limbs have come back to the trunk on the way to
a value. Values that are alike agree in that number, and where an operand has the same one, it has a smaller key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bough.backends.protocol import Limbs, Place
from bough.program import Apply, Const, Load, Program

__all__ = ["Group", "Search", "Term"]

Limb: TypeAlias = tuple[int, int]  # its group and its lane there

_TERMS = {"add": (1, 1), "sub": (1, -1), "mul": (1, 1), "fma": (1, 1, 1), "div": (1, 1), "sqrt": (1,)}
_OF_LIMBS = {*_TERMS, "sin", "cos"}
_SYMMETRIC = ("add", "mul", "fma")  # in their first two operands


@dataclass(frozen=True, slots=True)
class Term:
    """An operation on operands with a sign in front of each; a difference is a sum."""

    result: int
    op: str
    arguments: tuple[int, ...]
    signs: tuple[int, ...]


class Group:
    """Terms that are alike, one for each lane; a lane without one repeats another's.

    Attributes
    ----------
    op
        What they do.
    results
        What each lane holds.
    operands
        For each operand, what each lane of it holds, and the signs.
    """

    __slots__ = ("op", "operands", "results")

    def __init__(self, terms: Sequence[Term]) -> None:
        self.op = terms[0].op
        self.results = tuple(term.result for term in terms)
        values, signs = zip(*(t.arguments for t in terms), strict=True), zip(*(t.signs for t in terms), strict=True)
        self.operands: list[tuple[tuple[int, ...], tuple[int, ...]]] = list(zip(values, signs, strict=True))


class Search:
    """What is alike in a straight-line program.

    Attributes
    ----------
    groups
        The operations of limbs that are alike.
    twins
        Operations of the trunk that differ in constants only and are operands of a group together.
    constants
        The constants and their negatives.
    negative
        Values that are the negative of their term.
    """

    def __init__(self, program: Program, limbs: Limbs, widest: int) -> None:
        self.constants = {x.result: x.value for x in program.body if isinstance(x, Const)}
        self.negative: set[int] = set()
        self._limbs, self._widest = limbs, widest
        self._without_sign: dict[int, tuple[int, int]] = {}
        self._terms: dict[int, Term] = {}
        self._limb: dict[int, Limb | None] = {}
        self._returns: dict[int, int] = {}  # how often limbs came back to the trunk on the way to a value
        self._entries: dict[int, frozenset[int]] = {}  # what a value of the trunk without limbs is made of
        self._keys: dict[Hashable, int] = {}
        self._key: dict[int, int] = {}  # equal for alike values; in the trunk, for those that differ in constants only
        self._coarse: dict[int, int] = {}  # equal for values of the trunk that are alike
        self._count: dict[tuple[int, int], int] = {}  # how often a limb has had an operation of one form
        self._members: dict[int, dict[int, Term]] = {}
        for x in program.body:
            if isinstance(x, Load):
                self._load(x)
            elif isinstance(x, Apply):
                self._apply(x)
        self.groups = list(self._groups())
        self.twins = self._twins()

    def _load(self, x: Load) -> None:
        index = int(self.constants[x.index])
        place = self._limbs[x.buffer][index] if x.buffer in self._limbs else None
        self._limb[x.result] = None if place is None else self._limb_of(place)
        key = ("entry", x.buffer, index) if place is None else ("entry of a limb", x.buffer, place.where)
        self._key[x.result] = self._coarse[x.result] = self._number(key)
        self._returns[x.result] = 0
        self._entries[x.result] = frozenset((x.result,))

    def _limb_of(self, place: Place) -> Limb:
        """More limbs than a vector has lanes make several groups."""
        group, lane = divmod(place.limb, self._widest)
        return self._number(("limbs", place.group, group)), lane

    def _apply(self, x: Apply) -> None:
        if x.op == "neg" and x.arguments[0] in self.constants:
            self.constants[x.result] = -self.constants[x.arguments[0]]
            return
        pairs = [self._without_sign.get(a, (a, 1)) for a in x.arguments]
        arguments, signs = [a for a, _ in pairs], [s for _, s in pairs]
        if x.op == "neg":
            self._without_sign[x.result] = (arguments[0], -signs[0])
            return
        op = "add" if x.op == "sub" else x.op
        if x.op in _TERMS:
            signs = [s * t for s, t in zip(signs, _TERMS[x.op], strict=True)]
        if op in ("mul", "div", "fma"):
            signs = [signs[0] * signs[1], 1, *signs[2:]]
        if op in _SYMMETRIC and self._part(arguments[1]) < self._part(arguments[0]):
            arguments[:2] = arguments[1::-1]
            signs = signs[::-1] if op == "add" else signs
        if op in ("mul", "div") and signs[0] < 0:
            self.negative.add(x.result)
            self._without_sign[x.result] = (x.result, -1)
            signs[0] = 1
        if x.op in _TERMS:
            self._terms[x.result] = Term(x.result, op, tuple(arguments), tuple(signs))
        self._place(x, op if x.op in _TERMS else f"{op} {signs}", arguments)

    def _place(self, x: Apply, name: str, arguments: Sequence[int]) -> None:
        """Find the limb and the key of an operation."""
        made_of = [a for a in arguments if a not in self.constants]
        limbs = {self._limb[a] for a in made_of}
        limbs.discard(None)
        if len(limbs) != 1 or x.op not in _OF_LIMBS:
            self._place_in_trunk(x, name, arguments, made_of)
            return
        limb = self._limb[x.result] = limbs.pop()
        assert limb is not None
        self._returns[x.result] = max([self._returns[a] for a in made_of])
        group, lane = limb
        form = self._number((group, name, *[self._part(a) for a in arguments]))
        count = self._count[form, lane] = self._count.get((form, lane), 0) + 1
        key = self._key[x.result] = self._number((form, count))
        if x.result in self._terms:
            self._members.setdefault(key, {})[lane] = self._terms[x.result]

    def _place_in_trunk(self, x: Apply, name: str, arguments: Sequence[int], made_of: Sequence[int]) -> None:
        self._limb[x.result] = None
        returns = max([self._returns[a] + (self._limb[a] is not None) for a in made_of], default=0)
        self._returns[x.result] = returns
        parts = ("trunk", name, *[-1 if a in self.constants else self._key[a] for a in arguments])
        self._key[x.result] = self._coarse[x.result] = self._number(parts)
        if returns == 0:
            entries = self._entries[x.result] = frozenset[int]().union(*[self._entries[a] for a in made_of])
            self._coarse[x.result] = self._number(("made of", entries))

    def _part(self, value: int) -> int:
        """What an operand adds to the key of an operation: constants come first."""
        if value in self.constants:
            return -1
        return self._coarse[value] if self._limb[value] is None else self._key[value]

    def _number(self, key: Hashable) -> int:
        return self._keys.setdefault(key, len(self._keys))

    def _groups(self) -> Iterator[Group]:
        lanes: Counter[int] = Counter()
        for place in (p for places in self._limbs.values() for p in places if p is not None):
            group, lane = self._limb_of(place)
            lanes[group] = max(lanes[group], lane + 1)
        for members in self._members.values():
            if len(members) > 1:
                first = next(iter(members.values()))
                limb = self._limb[first.result]
                assert limb is not None
                width = 1 << (lanes[limb[0]] - 1).bit_length()
                yield Group([members.get(k, first) for k in range(width)])

    def _twins(self) -> list[Group]:
        known = {group.results for group in self.groups}
        found: list[Group] = []
        waiting = list(self.groups)
        while waiting:
            for values, _ in waiting.pop().operands:
                if values in known or len(set(values)) == 1 or not all(self._is_trunk_term(v) for v in values):
                    continue
                if len({self._key[v] for v in values}) == 1:
                    known.add(values)
                    found.append(Group([self._terms[v] for v in values]))
                    waiting.append(found[-1])
        return found

    def _is_trunk_term(self, value: int) -> bool:
        return value in self._terms and self._limb[value] is None
