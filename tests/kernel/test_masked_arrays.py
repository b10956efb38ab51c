"""Masked arrays: numbers are taken, and what is masked is refused by name instead of being computed with."""

from __future__ import annotations

import numpy as np
import pytest

import bough

pytestmark = pytest.mark.usefixtures("compiled")


def test_what_is_masked_is_refused_by_name() -> None:
    model, x = bough.trees.topologies.chain(2), np.array([[0.1, 0.2], [0.3, 0.4]])
    sound, holed = np.ma.array(x), np.ma.array(x, mask=[[False, False], [True, False]])
    expected = bough.rnea(model, x, x, x)
    np.testing.assert_array_equal(bough.rnea(model, sound, x, x), expected)
    factor = bough.factorize(model, x)
    with pytest.raises(bough.errors.ShapeError, match=r"v\[1, 0\] is masked, expected numbers: v.filled"):
        bough.rnea(model, x, holed, x)
    with pytest.raises(bough.errors.ShapeError, match=r"q\[0\] is masked"):
        bough.rnea(model, holed[1], x, x)
    with pytest.raises(bough.errors.ShapeError, match=r"b\[1, 0\] is masked"):
        factor.solve(holed)
    with pytest.raises(bough.errors.ShapeError, match=r"H\[0, 0\] is masked"):
        bough.trees.ltdl(np.ma.array(np.eye(2), mask=np.eye(2)), (0, 1))
    with pytest.raises(bough.errors.ShapeError, match=r"q\[1, 0\] is masked"):
        bough.Simulation(model).run(holed, duration=0.01)
    with pytest.raises(bough.errors.ShapeError, match=r"v\[1, 0\] is masked"):
        bough.Simulation(model).step(x, holed)
