"""Many steps in one call: as many calls of bounded time, with the same bits, between which Ctrl-C is heard."""

from __future__ import annotations

import _thread
import threading
import time
from typing import Any

import numpy as np
import pytest

import bough
from bough.simulation import pieces

pytestmark = pytest.mark.usefixtures("compiled")


def balls(law: str = "soft") -> bough.Simulation:
    b = bough.Builder()
    for k in range(2):
        b.add(f"ball {k}", bough.joints.Prismatic("z"), at=(k, 0, 0), mass=1.0)
        b.geometry(f"ball {k}", "sphere", 0.1)
    model = b.build()
    return bough.Simulation(model, bough.Scene(model).floor(), law=law, parameters="friction")


@pytest.mark.usefixtures("_interrupts")
def test_an_interrupt_is_heard_within_a_call_of_many_steps() -> None:
    sim = bough.Simulation(bough.robots.load("arm"))
    q = v = np.zeros(6)
    sim.step(q, v, steps=20)
    began = time.perf_counter()
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        sim.step(q, v, steps=30_000_000)
    timer.join()
    assert time.perf_counter() - began < 10.0


@pytest.mark.parametrize("law", ["soft", "hard"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_pieces_have_the_bits_of_one_call(law: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sim = balls(law)
    q = np.array([[0.15, 0.12], [0.2, 0.1], [0.3, 0.4]], dtype)
    v = np.array([[0.0, -1.0], [0.5, 0.0], [1e13, 0.0]], dtype)  # the last one runs away
    more: dict[str, Any] = {"tau": np.full(2, 0.1, dtype), "parameters": {"friction": 0.5}}
    for steps in (400, np.array([400.0, 17.0, 30.0]), [[200], [333]]):
        if dtype is np.float32 and type(steps) is not int:
            steps = np.asarray(steps, dtype)
        whole = sim.step(q, v, steps=steps, **more)
        with monkeypatch.context() as little:
            little.setattr(pieces, "SHORT_WORK", 60)
            little.setattr(pieces, "SECONDS", 1e-4)
            assert pieces.is_long(steps, (q, v))
            parts = sim.step(q, v, steps=steps, **more)
            into = sim.step(q, v, steps=steps, **more, out=bough.simulation.State(*map(np.zeros_like, whole)))
        assert whole.status[..., 2].all()
        for x, y, z in zip(whole, parts, into, strict=True):
            assert (y.dtype, y.shape) == (x.dtype, x.shape)
            np.testing.assert_array_equal(y, x)
            np.testing.assert_array_equal(z, x)
