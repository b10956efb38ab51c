"""Threads: chosen by the user, and without effect on results."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import bough


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    yield
    bough.set_num_threads(None)


def test_same_bits_for_any_number_of_threads(compiled: None) -> None:
    model = bough.trees.topologies.balanced_tree(3)
    q = bough.random(model, 0, size=1001)
    v = np.random.default_rng(0).normal(size=(1001, model.nv))
    results = []
    for count in (1, 2, 3, 7):
        bough.set_num_threads(count)
        results.append(bough.rnea(model, q, v, v))
    for other in results[1:]:
        np.testing.assert_array_equal(other, results[0])
    np.testing.assert_array_equal(bough.rnea(model, q[17], v[17], v[17]), results[0][17])


def test_the_number_is_chosen_and_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOUGH_NUM_THREADS", "3")
    assert bough.get_num_threads() == 3
    bough.set_num_threads(2)
    assert bough.get_num_threads() == 2
    bough.set_num_threads(None)
    assert bough.get_num_threads() == 3
    for bad in (0, -1, 1.5, True, "2", 10**6):
        with pytest.raises(bough.errors.ShapeError, match="from 1 to 1024"):
            bough.set_num_threads(bad)  # type: ignore[arg-type]
    monkeypatch.setenv("BOUGH_NUM_THREADS", "many")
    with pytest.raises(bough.errors.ShapeError, match="BOUGH_NUM_THREADS"):
        bough.get_num_threads()


def test_back_ends_agree_and_are_chosen_by_name(compiled: None) -> None:
    model = bough.trees.topologies.balanced_tree(3)
    q = bough.random(model, 1, size=50)
    results = []
    for name in ("llvm", "reference"):
        bough.set_backend(name)  # type: ignore[arg-type]
        assert bough.get_backend() == name
        results.append(bough.crba(model, q))
    np.testing.assert_allclose(results[0], results[1], rtol=1e-12, atol=1e-14)
    with pytest.raises(bough.errors.UnknownNameError, match="llvm"):
        bough.set_backend("llwm")  # type: ignore[arg-type]
