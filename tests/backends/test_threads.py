"""Threads: chosen by the user, and without effect on results."""

from __future__ import annotations

import signal
import time
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


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no alarms")
def test_nothing_is_written_after_an_interrupt(compiled: None, rng: np.random.Generator) -> None:
    """Who gets KeyboardInterrupt has `out` for themselves again: no thread is still at work on it."""
    bough.set_num_threads(2)
    model = bough.robots.load("humanoid")
    q = np.tile(bough.neutral(model), (20_000, 1))
    v, tau, out = rng.normal(size=(20_000, model.nv)), rng.normal(size=(20_000, model.nv)), np.empty((20_000, model.nv))
    bough.aba(model, q, v, tau, out=out)

    def again_and_again(delay: float) -> None:
        signal.setitimer(signal.ITIMER_REAL, delay)
        while True:
            out.fill(np.nan)
            bough.aba(model, q, v, tau, out=out)

    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for delay in (1e-3, 3e-3, 5e-3, 8e-3):
            with pytest.raises(KeyboardInterrupt):
                again_and_again(delay)
            seen = out.copy()
            time.sleep(0.05)
            assert seen.tobytes() == out.tobytes()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
