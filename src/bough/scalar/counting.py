"""The counting scalar: running an algorithm over it gives the exact number of operations the algorithm performs.

Constants are floats, the state is counted scalars, and the folding rules of `bough.scalar.symbolic` are the papers'
counting rule. `part("name")` marks a function so that its cost can be told apart.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import astuple, dataclass, fields
from typing import ParamSpec, TypeVar

from bough.scalar.ops import Op
from bough.scalar.symbolic import Bool, Scalar, Symbolic

__all__ = ["Count", "Counted", "Tally", "part"]

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Count:
    """Numbers of operations: products, additions and subtractions, divisions, roots, sines and cosines, others."""

    mul: int = 0
    add: int = 0
    div: int = 0
    sqrt: int = 0
    trig: int = 0
    other: int = 0

    @property
    def total(self) -> int:
        """All operations, each counted once."""
        return sum(astuple(self))

    @property
    def mul_div(self) -> int:
        """Multiplications and divisions together, as the papers' totals count them."""
        return self.mul + self.div

    def __add__(self, other: Count) -> Count:
        return Count(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def __sub__(self, other: Count) -> Count:
        return Count(*(a - b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def __mul__(self, times: int) -> Count:
        return Count(*(a * times for a in astuple(self)))

    __rmul__ = __mul__

    def __str__(self) -> str:
        signs = {"mul": "m", "add": "a", "div": " div", "sqrt": " sqrt", "trig": " trig", "other": " other"}
        terms = [(getattr(self, f.name), signs[f.name]) for f in fields(self)]
        return " + ".join(f"{number}{sign}" for number, sign in terms if number) or "0"


class Tally:
    """Where counted scalars write what they did: in all, and by part."""

    def __init__(self) -> None:
        self._numbers: Counter[tuple[str, str]] = Counter()

    def note(self, kind: str) -> None:
        """Count one operation of a kind under the part that is running."""
        self._numbers[_PART.get(), kind] += 1

    @property
    def parts(self) -> dict[str, Count]:
        """The count of each part; the empty name holds what no part claimed."""
        names = sorted({name for name, _ in self._numbers})
        return {name: Count(**{k: n for (p, k), n in self._numbers.items() if p == name}) for name in names}

    @property
    def count(self) -> Count:
        """The count of everything."""
        return sum(self.parts.values(), Count())


class Counted(Symbolic):
    """A scalar of unknown value that counts what is done to it."""

    __slots__ = ("negative_of", "tally")

    def __init__(self, tally: Tally, negative_of: Symbolic | None = None) -> None:
        self.tally = tally
        self.negative_of = negative_of

    def record(self, op: Op, arguments: tuple[Scalar | Bool, ...]) -> Symbolic:
        if op.name == "neg":
            return Counted(self.tally, negative_of=self)
        for kind in op.cost:
            self.tally.note(kind)
        return Counted(self.tally)


_PART: ContextVar[str] = ContextVar("bough_part", default="")


def part(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Attribute the operations of a function to `name`; the outermost name wins where parts nest."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
            if _PART.get():
                return function(*args, **kwargs)
            token = _PART.set(name)
            try:
                return function(*args, **kwargs)
            finally:
                _PART.reset(token)

        return wrapped

    return decorate
