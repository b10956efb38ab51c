"""Many steps in one call: as many calls of bounded time, with the same bits, between which Ctrl-C is heard."""

from __future__ import annotations

import _thread
import threading
import time
from typing import Any

import numpy as np
import pytest

import bough
from bough.errors import ShapeError
from bough.simulation import pieces, simulation

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


def test_what_is_not_rectangular_is_told_by_name_in_many_steps_too() -> None:
    sim = bough.Simulation(bough.trees.topologies.chain(2))
    for steps in (1, 100):
        with pytest.raises(ShapeError, match=r"^q is not a rectangular array"):
            sim.step([[0.0, 1.0], [1.0]], [0.0, 0.0], steps=steps)  # type: ignore[list-item]


def test_parameters_may_be_tensors_in_many_steps_too() -> None:
    torch = pytest.importorskip("torch")
    sim = bough.Simulation(bough.robots.load("arm"), parameters="mass of elbow_link")
    heavy, light = (sim.step([0.1] * 6, [0.0] * 6, steps=20, parameters={"mass of elbow_link": x}) for x in (4.0, 1.0))
    found = sim.step([0.1] * 6, [0.0] * 6, steps=20, parameters={"mass of elbow_link": torch.tensor([4.0, 1.0])})
    np.testing.assert_allclose(np.asarray(found.q), [heavy.q, light.q], atol=1e-6)


@pytest.mark.usefixtures("_interrupts")
@pytest.mark.parametrize("of", ["v", "tau", "gravity", "mass of elbow_link", "f_ext", "steps"])
def test_an_interrupt_is_heard_whatever_is_a_batch(of: str) -> None:
    sim = bough.Simulation(bough.robots.load("arm"), parameters=["gravity", "mass of elbow_link"])
    many = 3000
    shapes = {"tau": (6,), "f_ext": (6, 6), "gravity": (3,), "mass of elbow_link": ()}
    acting: dict[str, Any] = {name: np.ones((many, *shape)) for name, shape in shapes.items() if name == of}
    if " " in of or of == "gravity":
        acting = {"parameters": acting}
    q, v = np.zeros(6), np.zeros((many, 6)) if of == "v" else np.zeros(6)
    steps: Any = np.full(many, 20_000) if of == "steps" else 20_000
    sim.step(q, v, steps=20, **acting)
    began = time.perf_counter()
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        sim.step(q, v, steps=steps, **acting)
    timer.join()
    assert time.perf_counter() - began < 3.0


def test_pieces_grow_and_are_not_cut_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(simulation, "in_pieces", lambda *given: (asked.append(given), pieces.in_pieces(*given))[1])
    monkeypatch.setattr(pieces, "SHORT_WORK", 100)
    sim = bough.Simulation(bough.trees.topologies.chain(2))
    assert (sim.step(np.zeros((10, 2)), np.zeros((10, 2)), steps=2000).taken == 2000).all()
    assert len(asked) == 1


@pytest.mark.parametrize("law", ["soft", "hard"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_an_interrupted_run_keeps_the_steps_since_its_last_sample(
    law: str, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of all pieces but the one that is interrupted; and it goes on with the bits of a whole one."""
    sim = balls(law)
    q = np.array([[0.15, 0.12], [0.2, 0.1], [0.3, 0.4]], dtype)
    v = np.array([[0.0, -1.0], [0.5, 0.0], [1e13, 0.0]], dtype)  # the last one runs away
    options: dict[str, Any] = {"rate": 1.0, "parameters": {"friction": 0.5}}
    monkeypatch.setattr(pieces, "SHORT_WORK", 60)
    monkeypatch.setattr(pieces, "SECONDS", 1e-9)
    whole = sim.run(q, v, duration=1.5, **options)
    make, asked = sim._made, []

    def interrupted(*given: Any) -> Any:
        asked.append(given)
        if len(asked) == 4:
            raise KeyboardInterrupt
        return make(*given)

    monkeypatch.setattr(sim, "_made", interrupted)
    run = sim.run(q, v, duration=1.5, **options)
    assert run.taken.tolist() == [41, 41, whole.taken[2]]  # the pieces have 20, 20 and 1 steps
    assert run.status.tolist() == [3, 3, whole.status[2]]
    np.testing.assert_allclose(run.time, [0.0, 41 * sim.dt], rtol=1e-15)
    np.testing.assert_array_equal(run.q[-1], sim.step(q, v, steps=41, parameters=options["parameters"]).q)
    if law == "soft" or dtype is np.float64:  # impulses are rounded at the end of a call
        rest = sim.run(resume=run, duration=1.5 - run.time[-1], **options)
        np.testing.assert_array_equal(rest.q[-1], whole.q[-1])
        np.testing.assert_array_equal(rest.time, whole.time)
