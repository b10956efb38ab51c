"""The digest of plain values: no two values have the same, and foreign code has none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bough
from bough.scalar.digest import digest

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4).map(tuple), max_leaves=8)


def exact(value: Any) -> Any:
    """The value with the sort of each part, so that 1, 1.0 and True, 0.0 and -0.0 are different."""
    if isinstance(value, tuple):
        return tuple(exact(x) for x in value)
    return type(value), repr(value) if isinstance(value, float) else value


@given(VALUES, VALUES)
def test_equal_digests_are_equal_values(first: Any, second: Any) -> None:
    assert (digest(first) == digest(second)) == (exact(first) == exact(second))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("a", "b"), ("ab", "")),
        (((1,), 2), (1, (2,))),
        (0.0, -0.0),
        (1, True),
        (np.zeros(2), np.zeros((2, 1))),
        (np.zeros(2), np.zeros(2, np.int64)),
        (bough.joints.Revolute("z"), bough.joints.Prismatic("z")),
        (bough.joints.Revolute("z"), bough.joints.Revolute("z", continuous=True)),
        (bough.joints.Spherical(), bough.joints.Fixed()),
    ],
)
def test_what_looks_alike_is_told_apart(first: object, second: object) -> None:
    assert digest(first) != digest(second)


@dataclass(frozen=True)
class Own:
    """An object whose code may be anything."""

    x: float = 1.0


@pytest.mark.parametrize("foreign", [print, Own(), (1.0, [Own()]), {"a": 1}, object(), Own, np.array([Own()])])
def test_what_is_from_outside_has_none(foreign: object) -> None:
    assert digest(foreign) is None
