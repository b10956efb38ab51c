"""Entries that return their result in an object, or want arguments with the same batch axes."""

from __future__ import annotations

import gc
import pickle
import sys
import sysconfig
import weakref
from typing import Any, NamedTuple

import numpy as np
import pytest

import bough
from bough.backends import Argument, Variant
from bough.errors import FiniteError, ShapeError
from bough.kernel.function import Function

TREE = bough.trees.Tree((0, 1, 1))
M = np.array([[4.0, 1.0, 1.0], [1.0, 3.0, 0.0], [1.0, 0.0, 2.0]])

COUNTED = not sysconfig.get_config_var("Py_GIL_DISABLED")
"""Whether it is counted how many objects hold their class; without a lock, it is not."""


class Box:
    """Has what boxes share, and an array."""

    __slots__ = ("about", "held")

    def __init__(self, about: Any, held: Any) -> None:
        self.about, self.held = about, held

    @classmethod
    def of_fresh(cls, about: Any, held: Any) -> Box:
        """As its class is called."""
        return cls(about, held)


class OddBox(Box):
    """Does not lie in memory as machine code expects."""

    __slots__ = ("more",)


class Two(NamedTuple):
    """What two results are returned in."""

    first: Any
    second: Any


class OddTwo(Two):
    """Does not lie in memory as machine code expects: it has a dictionary."""


def double() -> Function:
    """Twice a vector."""
    vector = Argument("x", (2,))
    return Function("double", [vector], [Argument("y", (2,))], lambda x: {"y": [2.0 * x[0], 2.0 * x[1]]}, size=2)


@pytest.mark.parametrize("kind", [Box, OddBox])
@pytest.mark.parametrize("x", [np.array([1.0, 2.0]), [1, 2], np.ones((3, 2)), np.ones((2, 4), np.float32)[:, ::2]])
def test_a_result_in_an_object(compiled: None, kind: type[Box], x: Any) -> None:
    about = ["shared"]
    entry = double().variant(Variant(holder=kind, shared=about))
    for _ in range(2):  # the first call compiles
        box = entry(x, None, True)
        assert type(box) is kind
        assert box.about is about
        np.testing.assert_array_equal(box.held, 2 * np.asarray(x))
    with pytest.raises(FiniteError, match="x"):
        entry(np.array([1.0, np.nan]), None, True)
    with pytest.raises(ShapeError, match="x"):
        entry(np.ones(3), None, True)


def both() -> Function:
    """Twice a vector, and three times its first number."""
    outputs = [Argument("y", (2,)), Argument("z", ())]
    return Function(
        "both", [Argument("x", (2,))], outputs, lambda x: {"y": [2.0 * x[0], 2.0 * x[1]], "z": [3.0 * x[0]]}, size=2
    )


@pytest.mark.parametrize("kind", [Two, OddTwo])
@pytest.mark.parametrize("x", [np.array([1.0, 2.0]), [1, 2], np.ones((3, 2)), np.ones((2, 4), np.float32)[:, ::2]])
def test_results_in_a_named_tuple(compiled: None, kind: type[Two], x: Any) -> None:
    entry = both().variant(Variant(named=kind))
    for _ in range(2):  # the first call compiles
        found = entry(x, None, True)
        assert type(found) is kind
        assert len(found) == 2
        np.testing.assert_array_equal(found.first, 2 * np.asarray(x))
        np.testing.assert_array_equal(found.second, 3 * np.asarray(x)[..., 0])
    with pytest.raises(FiniteError, match="x"):
        entry(np.array([1.0, np.nan]), None, True)
    with pytest.raises(ShapeError, match="x"):
        entry(np.ones(3), None, True)


def test_what_is_not_plain_may_be_somebody_elses_matter(compiled: None) -> None:
    function = both()
    entry = function.variant(Variant(named=Two), lambda *given: None)
    assert entry(np.ones(2), None, True) is None  # there is no code yet
    function.compile(batch=False)
    assert type(entry(np.ones(2), None, True)) is Two
    assert entry([1, 2], None, True) is None
    with pytest.raises(FiniteError, match="x"):
        entry(np.array([1.0, np.nan]), None, True)


def test_named_tuples_let_go_of_what_they_have(compiled: None) -> None:
    entry, x = both().variant(Variant(named=Two)), np.ones(2)
    entry(x, None, True)
    before = sys.getrefcount(Two)
    many = [entry(x, None, True) for _ in range(100)]
    assert sys.getrefcount(Two) == before + 100 * COUNTED
    gone = [weakref.ref(part) for two in many for part in two]
    del many
    assert sys.getrefcount(Two) == before
    assert [ref() for ref in gone] == [None] * 200


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_small_results_of_one_state_are_parts_of_one_array(compiled: None, dtype: type[np.floating[Any]]) -> None:
    function, x = both(), np.array([1.0, 2.0], dtype)
    function(x)
    y, z = function(x)
    assert y.base is z.base
    assert y.base.shape == (3,)
    assert [y.dtype, z.dtype] == [dtype, dtype]
    assert not np.shares_memory(y, z)
    assert all(part.flags.carray and part.flags.writeable and part.flags.aligned for part in (y, z))
    held = weakref.ref(y.base)
    del y
    z += 1.0
    assert z == 4.0
    z.setflags(write=False)
    z.setflags(write=True)
    del z
    assert held() is None
    many = function(np.ones((3, 2), dtype))
    assert [part.base for part in many] == [None, None]


def test_objects_hold_what_they_share_and_let_go_of_it(compiled: None) -> None:
    about: list[Any] = []
    entry, x = double().variant(Variant(holder=Box, shared=about)), np.ones(2)
    entry(x, None, True)
    before = sys.getrefcount(about), sys.getrefcount(Box)
    boxes = [entry(x, None, True) for _ in range(100)]
    assert (sys.getrefcount(about), sys.getrefcount(Box)) == (before[0] + 100, before[1] + 100 * COUNTED)
    gone = weakref.ref(boxes[0].held)
    about.append(boxes)  # a cycle, which the collector of garbage must see
    del boxes, entry
    about = []
    gc.collect()
    assert gone() is None
    gc.collect()  # without a lock, it is then that counts of classes are added up
    assert sys.getrefcount(Box) <= before[1]


def test_arguments_must_have_the_same_batch_axes(compiled: None) -> None:
    a, b = Argument("a", (2,)), Argument("b", (2,))
    rule: Any = lambda a, b: {"y": [a[0] + b[0], a[1] + b[1]]}  # noqa: E731
    function = Function("sum", [a, b], [Argument("y", (2,))], rule, size=2)
    entry = function.variant(Variant(exact=True), lambda *given: "handed over")
    one, two = np.ones(2), np.ones((2, 2))
    function(one, one), function(two, two)  # compile
    assert [entry(x, x, None, True).shape for x in (one, two)] == [(2,), (2, 2)]
    for x, y in ((one, two), (two, one), (two, np.ones((3, 2))), (one, [1, 1])):
        assert entry(x, y, None, True) == "handed over"


def test_functions_of_a_factor_are_those_of_the_back_end_of_the_moment(compiled: None) -> None:
    factor, b = bough.trees.ltdl(M, TREE), np.arange(3.0)
    first, entry = factor.solve(b), factor._operations.solve
    assert factor._operations.solve is entry
    bough.set_backend("reference")
    assert factor._operations.solve is not entry
    np.testing.assert_allclose(factor.solve(b), first, rtol=1e-13)
    np.testing.assert_allclose(factor.solve(b), np.linalg.solve(M, b), rtol=1e-13)


def test_a_factor_of_a_call_is_like_one_made_by_hand(compiled: None) -> None:
    for made in (bough.trees.ltdl(M, TREE), bough.trees.ltdl(bough.trees.TreeMatrix.from_dense(M, TREE))):
        again = bough.trees.Factor("ltdl", made.packed, TREE)
        copied = pickle.loads(pickle.dumps(made))
        for other in (again, copied):
            assert (other.kind, other.tree, other.batch, repr(other)) == ("ltdl", TREE, (), repr(made))
            np.testing.assert_array_equal(other.packed, made.packed)
            np.testing.assert_array_equal(other.solve(np.ones(3)), made.solve(np.ones(3)))
        assert not made.packed.flags.writeable
        with pytest.raises(AttributeError):
            made.packed = np.zeros(5)  # type: ignore[misc]
        with pytest.raises(AttributeError):
            made.tree = TREE  # type: ignore[misc]
