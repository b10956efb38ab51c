"""The counting rule of the papers, exactly: what is free, what costs one, and whose part it is."""

from __future__ import annotations

from collections.abc import Callable
from operator import neg
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bough.scalar import (
    Count,
    Counted,
    Tally,
    absolute,
    atan2,
    both,
    cos,
    either,
    maximum,
    negation,
    part,
    select,
    sin,
    sqrt,
)


def counted(function: Callable[[Any, Any, Any], object]) -> Count:
    tally = Tally()
    function(*(Counted(tally) for _ in range(3)))
    return tally.count


ONE_MUL, ONE_ADD, ONE_DIV = Count(mul=1), Count(add=1), Count(div=1)
FREE = Count()

RULE: dict[str, tuple[Callable[[Any, Any, Any], object], Count]] = {
    # products
    "a b": (lambda a, b, c: a * b, ONE_MUL),
    "a a": (lambda a, b, c: a * a, ONE_MUL),
    "2 a": (lambda a, b, c: 2.0 * a, ONE_MUL),
    "a 0": (lambda a, b, c: a * 0.0, FREE),
    "0 a": (lambda a, b, c: 0.0 * a, FREE),
    "-0 a": (lambda a, b, c: -0.0 * a, FREE),
    "a 1": (lambda a, b, c: a * 1.0, FREE),
    "-1 a": (lambda a, b, c: -1.0 * a, FREE),
    "0 (a b)": (lambda a, b, c: 0.0 * (a * b), ONE_MUL),
    "(-a) b": (lambda a, b, c: (-a) * b, ONE_MUL),
    "(-a) (-b)": (lambda a, b, c: (-a) * (-b), ONE_MUL),
    "(-2) (-a)": (lambda a, b, c: -2.0 * -a, ONE_MUL),
    # powers
    "a⁰": (lambda a, b, c: a**0, FREE),
    "a¹": (lambda a, b, c: a**1, FREE),
    "a²": (lambda a, b, c: a**2, ONE_MUL),
    "a⁷": (lambda a, b, c: a**7.0, Count(mul=4)),
    "a⁻²": (lambda a, b, c: a**-2, ONE_MUL + ONE_DIV),
    "a^½": (lambda a, b, c: a**0.5, Count(sqrt=1)),
    # sums
    "a + b": (lambda a, b, c: a + b, ONE_ADD),
    "a + 2": (lambda a, b, c: a + 2.0, ONE_ADD),
    "a + 0": (lambda a, b, c: a + 0.0, FREE),
    "0 + a": (lambda a, b, c: 0.0 + a, FREE),
    "a - 0": (lambda a, b, c: a - 0.0, FREE),
    "0 - a": (lambda a, b, c: 0.0 - a, FREE),
    "a - b": (lambda a, b, c: a - b, ONE_ADD),
    "2 - a": (lambda a, b, c: 2.0 - a, ONE_ADD),
    "a - 2": (lambda a, b, c: a - 2.0, ONE_ADD),
    "-a": (lambda a, b, c: -a, FREE),
    "-(-a)": (lambda a, b, c: neg(neg(a)), FREE),
    "-a - b": (lambda a, b, c: -a - b, ONE_ADD),
    "-a + b": (lambda a, b, c: -a + b, ONE_ADD),
    "a - (-b)": (lambda a, b, c: a - (-b), ONE_ADD),
    "-a - 2": (lambda a, b, c: -a - 2.0, ONE_ADD),
    "-(a - b) - c": (lambda a, b, c: -(a - b) - c, Count(add=2)),
    "a b + 0 c": (lambda a, b, c: a * b + 0.0 * c, ONE_MUL),
    "sum": (lambda a, b, c: sum([a, b, c]), Count(add=2)),
    # quotients
    "a / b": (lambda a, b, c: a / b, ONE_DIV),
    "1 / a": (lambda a, b, c: 1.0 / a, ONE_DIV),
    "a / 2": (lambda a, b, c: a / 2.0, ONE_DIV),
    "a / 1": (lambda a, b, c: a / 1.0, FREE),
    "a / (-1)": (lambda a, b, c: a / -1.0, FREE),
    "0 / a": (lambda a, b, c: 0.0 / a, FREE),
    "(-a) / (-b)": (lambda a, b, c: -a / -b, ONE_DIV),
    "(-a) / (-2)": (lambda a, b, c: -a / -2.0, ONE_DIV),
    # functions
    "sqrt": (lambda a, b, c: sqrt(a), Count(sqrt=1)),
    "sin, cos": (lambda a, b, c: (sin(a), cos(-a)), Count(trig=2)),
    "sin(-a)": (lambda a, b, c: sin(-a), Count(trig=1)),
    "atan2": (lambda a, b, c: atan2(a, b), Count(trig=1)),
    # comparisons and choices
    "a < b": (lambda a, b, c: a < b, Count(other=1)),
    "a >= 0": (lambda a, b, c: a >= 0.0, Count(other=1)),
    "select": (lambda a, b, c: select(a < b, b, c), Count(other=2)),
    "logic": (lambda a, b, c: negation(both(a < b, either(b < c, a < c))), Count(other=6)),
    "known logic": (lambda a, b, c: both(True, either(False, a < c)), Count(other=1)),
    "maximum": (lambda a, b, c: maximum(a, b), Count(other=2)),
    "absolute": (lambda a, b, c: absolute(a), Count(other=2)),
    # constants only
    "constants": (lambda a, b, c: (2.0 * 3.0 + 1.0 / 7.0 - sqrt(2.0)) * sin(1.0), FREE),
}


@pytest.mark.parametrize("form", RULE)
def test_rule(form: str) -> None:
    function, expected = RULE[form]
    assert counted(function) == expected


def test_what_folds_is_what_it_should_be() -> None:
    a = Counted(Tally())
    assert a * 1.0 is a
    assert a + 0.0 is a
    assert a - 0.0 is a
    assert a / 1.0 is a
    assert neg(neg(a)) is a
    assert (a * -1.0).negative_of is a  # type: ignore[union-attr]
    assert (0.0 - a).negative_of is a  # type: ignore[union-attr]
    for nothing in (a * 0.0, a * -0.0, 0.0 / a):
        assert isinstance(nothing, float)
        assert nothing == 0.0


def test_numpy_constants_count_like_floats() -> None:
    import numpy as np

    assert counted(lambda a, b, c: np.float64(2.0) * a + np.float32(1.0) * b) == Count(mul=1, add=1)
    assert counted(lambda a, b, c: np.float64(0.0) * a) == FREE


def test_inner_product() -> None:
    assert counted(lambda a, b, c: a * 2.0 + b * -3.0 + c * 1.0 + a * 0.0) == Count(mul=2, add=2)


# ---- parts -------------------------------------------------------------------------------------------------------


@part("inner")
def square(a: Any) -> Any:
    """Square of a scalar."""
    return a * a


@part("outer")
def square_and_more(a: Any, more: Any = 1.0) -> Any:
    return square(a) + more * a


def test_the_outermost_part_wins() -> None:
    tally = Tally()
    a = Counted(tally)
    a - square(a)
    square_and_more(a, more=2.0)
    a / a
    assert tally.parts == {"": Count(add=1, div=1), "inner": Count(mul=1), "outer": Count(mul=2, add=1)}
    assert tally.count == Count(mul=3, add=2, div=1)


def test_a_part_ends_with_its_function_even_by_an_error() -> None:
    @part("broken")
    def broken(a: Any) -> None:
        a * a
        raise ValueError("stop")

    tally = Tally()
    a = Counted(tally)
    with pytest.raises(ValueError, match="stop"):
        broken(a)
    a + a
    assert tally.parts == {"": Count(add=1), "broken": Count(mul=1)}


def test_a_part_is_still_its_function() -> None:
    assert square.__name__ == "square"
    assert square.__doc__ == "Square of a scalar."
    assert square(3.0) == 9.0


def test_nothing_counted() -> None:
    assert Tally().parts == {}
    assert Tally().count == Count()


# ---- counts as numbers -------------------------------------------------------------------------------------------

counts = st.builds(Count, *[st.integers(0, 99)] * 6)


@given(counts, counts, st.integers(0, 9))
def test_counts_add_and_scale(a: Count, b: Count, k: int) -> None:
    assert a + b == b + a
    assert (a + b) - b == a
    assert k * (a + b) == a * k + b * k
    assert 2 * a == a + a
    assert (a + b).total == a.total + b.total
    assert sum([a, b], Count()) == a + b


def test_totals_and_text() -> None:
    assert Count(mul=1, add=20, div=300, sqrt=4000, trig=50000, other=600000).total == 654321
    assert Count(mul=3, add=100, div=4).mul_div == 7
    assert str(Count(mul=24, add=18)) == "24m + 18a"
    assert str(Count(div=7, sqrt=2, trig=1, other=5)) == "7 div + 2 sqrt + 1 trig + 5 other"
    assert str(Count()) == "0"
