"""Conditions put together and checked, and the residual, zero where and only where they are met."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bough import complementarity
from bough.complementarity import Conditions
from bough.errors import FiniteError, ModelError, ShapeError, UnknownNameError
from bough.kernel.contact.complementarity import residual as complementarity_residual


def test_conditions_are_put_together() -> None:
    whole = Conditions.equalities(1) + Conditions.contacts(2, tangents=1) + Conditions.contacts(1, "cone")
    assert whole.kinds == ("equality", *("inequality", "pyramid") * 2, "inequality", "cone", "cone")
    assert whole.normals == (-1, -1, 1, -1, 3, -1, 5, 5)
    assert whole == Conditions(whole.kinds, whole.normals)
    assert hash(whole) == hash(Conditions(whole.kinds, whole.normals))
    assert Conditions.inequalities(2) == Conditions(["inequality"] * 2)


@pytest.mark.parametrize(
    ("kinds", "normals", "says"),
    [
        (["pyramid"], None, "row 0 is of kind 'pyramid' and its normal is -1, expected the number of its normal row"),
        (["inequality", "pyramid"], [-1, 1], "the normal of row 1 is 1, expected the number of an inequality row"),
        (["inequality", "pyramid"], [-1, 2], "the normal of row 1 is 2"),
        (["inequality"], [0], "row 0 is of kind 'inequality' and its normal is 0, expected -1"),
        (["inequality"], [-1, -1], "there are 2 normals, expected 1"),
        (["inequality", "cone"], [-1, 0], "row 1 begins a cone, expected row 2 to be of it"),
        (["inequality", "cone", "inequality", "cone"], [-1, 0, -1, 0], "row 1 begins a cone"),
    ],
)
def test_conditions_are_checked(kinds: Any, normals: Any, says: str) -> None:
    with pytest.raises(ModelError, match=says):
        Conditions(kinds, normals)


def test_kinds_are_checked() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'inequality'"):
        Conditions(["inequal"])  # type: ignore[list-item]


def failing(a: Any, f: Any, conditions: Conditions, mu: float = 0.5, slip: Any = None) -> list[float]:
    """The residual of given a and f, for rows of which a force of 1 changes a by 2."""
    A = 2 * np.eye(conditions.n)
    return complementarity_residual(A, a - A @ f, f, conditions, mu, slip=slip).tolist()


def test_residuals_of_equalities_and_inequalities() -> None:
    assert failing(np.array([0.0, -3]), np.array([7.0, -7]), Conditions.equalities(2)) == [0, 3]
    pairs = {(0, 0): 0, (1, 0): 0, (0, 1): 0, (-1, 0): 1, (0, -1): 2, (3, 1): 2, (1, 3): 1, (-1, 5): 1}
    for (a, f), expected in pairs.items():
        assert failing(np.array([a]), np.array([f]), Conditions.inequalities(1)) == [expected]


@pytest.mark.parametrize("friction", ["pyramid", "cone"])
def test_residuals_of_friction(friction: Any) -> None:
    conditions = Conditions.contacts(1, friction)

    def tangent(a: float, f: float) -> float:
        return failing(np.array([0, a, 0.0]), np.array([2, f, 0.0]), conditions)[1]

    assert tangent(0, 0.7) == tangent(0, 1) == tangent(-3, 1) == tangent(3, -1) == 0  # sticks, or slides
    assert tangent(1, 0) == 1  # slides without friction
    assert tangent(3, 1) == 3  # pulled along
    assert tangent(0, 1.5) == 1  # too strong


def test_a_cone_is_round() -> None:
    a, f = np.zeros(3), np.array([2, 0.8, 0.8])
    assert failing(a, f, Conditions.contacts(1, "pyramid")) == [0, 0, 0]
    assert min(failing(a, f, Conditions.contacts(1, "cone"))[1:]) > 0.1
    assert max(failing(np.array([0, -3, -4.0]), np.array([2, 0.6, 0.8]), Conditions.contacts(1, "cone"))) < 1e-15


def test_the_force_of_a_sliding_row_is_known() -> None:
    conditions, a = Conditions.contacts(1, tangents=1), np.array([0, 5.0])
    assert failing(a, np.array([2.0, -1]), conditions, slip=np.array([0, 0.1])) == [0, 0]
    assert failing(a, np.array([2.0, 0]), conditions, slip=np.array([0, 0.1])) == [0, 2]


def test_residuals_of_batches() -> None:
    rng = np.random.default_rng(0)
    conditions = Conditions.equalities(1) + Conditions.contacts(1) + Conditions.contacts(1, "cone")
    A, b, f = rng.normal(size=(7, 7)), rng.normal(size=(5, 1, 7)), rng.normal(size=(3, 7))
    whole = complementarity_residual(A, b, f, conditions, 0.5)
    assert whole.shape == (5, 3, 7)
    np.testing.assert_allclose(whole[4, 2], complementarity_residual(A, b[4, 0], f[2], conditions, 0.5), rtol=1e-14)


@pytest.mark.usefixtures("compiled")
def test_the_bits_of_a_residual_do_not_depend_on_strides_or_batches() -> None:
    rng = np.random.default_rng(0)
    conditions = Conditions.equalities(2) + Conditions.contacts(2) + Conditions.contacts(2, "cone")
    A, b, f = rng.normal(size=(9, 14, 14)), rng.normal(size=(9, 14)), rng.normal(size=(9, 14))
    whole = complementarity_residual(A, b, f, conditions, 0.5)
    turned = np.ascontiguousarray(A.transpose(0, 2, 1)).transpose(0, 2, 1)
    spaced = np.repeat(f, 2, axis=-1)[:, ::2]
    np.testing.assert_array_equal(
        complementarity_residual(turned, np.asfortranarray(b), spaced, conditions, 0.5), whole
    )
    for k in range(9):
        np.testing.assert_array_equal(complementarity_residual(A[k], b[k], f[k], conditions, 0.5), whole[k])


def test_what_is_no_number_has_no_residual() -> None:
    one, two = Conditions.inequalities(1), Conditions.contacts(1, "cone")
    with pytest.raises(FiniteError, match=r"f\[0\] is nan"):
        complementarity_residual(np.eye(1), [1.0], [np.nan], one)
    with pytest.raises(FiniteError, match="the result is not finite"):
        complementarity_residual(np.full((3, 3), 1e300), np.ones(3), np.full(3, 1e300), two, 0.5)
    with pytest.raises(ShapeError, match="f is None"):
        complementarity_residual(np.eye(1), [1.0], None, one)  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="mu has the entry -1"):
        complementarity_residual(np.eye(1), [1.0], [1.0], one, -1.0)


@pytest.mark.parametrize("friction", ["pyramid", "cone"])
def test_one_state_on_plain_numbers_has_the_residual_of_the_program(friction: Any) -> None:
    rng = np.random.default_rng(0)
    conditions = Conditions.boxes(2) + Conditions.contacts(2, friction) + Conditions.equalities(1)
    A, b, f, mu = rng.normal(size=(9, 9)), rng.normal(size=9), rng.normal(size=9), rng.random(9)
    slip, bounds = rng.integers(-1, 2, 9).astype(float), np.sort(rng.normal(size=(9, 2)))
    plain = complementarity.residual(A, b, f, conditions, conditions.at_friction(mu), slip, bounds)
    whole = complementarity_residual(A, b, f, conditions, mu, slip=slip, bounds=bounds)
    np.testing.assert_allclose(plain, whole, rtol=0, atol=1e-13)


def test_those_put_together_are_made_once() -> None:
    """What is compiled for them is kept with them, and found however often they are put together."""
    assert Conditions.contacts(2) is Conditions.contacts(2)
    assert Conditions.contacts(2) + Conditions.boxes(1) is Conditions.contacts(2) + Conditions.boxes(1)
    assert Conditions.contacts(2, "cone") is not Conditions.contacts(2)
