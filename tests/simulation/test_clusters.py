"""Sweeps on the workers of a real cluster, some of which die."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bough
from bough.errors import BoughError, ShapeError
from bough.simulation.sweep_workers import client_of

pytest.importorskip("distributed")


def pendulum() -> bough.Simulation:
    b = bough.Builder("pendulum")
    b.add("rod", bough.joints.Revolute("y"), joint_name="pivot", mass=1.0, com=(0, 0, -0.5), inertia=0.1)
    return bough.Simulation(b.build(), parameters="damping of pivot")


@pytest.mark.skipif(sys.platform == "win32", reason="processes die in another way there")
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore:unclosed")  # of sockets to a worker that was killed
def test_a_sweep_on_a_cluster_survives_its_workers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a worker had when it died is run by another; what raises an error is told; the rest is kept."""
    sim, died = pendulum(), tmp_path / "died"
    sim.step([0.0], [0.0])  # programs that are ready do not travel

    def swing(time: float, q: Any, v: Any, push: Any) -> Any:
        return 0.1 * push * np.cos(time)

    def die_once(time: float, q: Any, v: Any, push: Any) -> Any:
        if time > 0.01 and not died.exists():
            died.write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        return swing(time, q, v, push)

    def refuse(time: float, q: Any, v: Any, push: Any) -> Any:
        if (push > 1.0).any():
            raise ArithmeticError("no")
        return swing(time, q, v, push)

    given: dict[str, Any] = {"duration": 0.02, "at_once": 4}
    grid: dict[str, Any] = {"push": [1.0, 2.0], "damping of pivot": [0.0, 1.0]}
    with client_of(2) as client:
        address = client.scheduler.address
        controllers = {"swing": swing, "die once": die_once, "refuse": refuse}
        found = sim.sweep([0.3], workers=address, path=tmp_path / "runs", show_progress=True, **given,
                          grid={"controller": controllers, **grid})  # fmt: skip
        assert died.exists()
        assert f"dashboard: {client.dashboard_link}" in capsys.readouterr().err
    died.write_text("")
    here = sim.sweep([0.3], **given, grid={"controller": controllers, **grid})
    np.testing.assert_array_equal(found.trajectory.q, here.trajectory.q)
    np.testing.assert_array_equal(found.status[:2], 0)
    assert found.failed == here.failed
    assert {how for _, how in found.failed} == {"raised ArithmeticError: no"}
    assert len(bough.simulation.Sweep.load(tmp_path / "runs", sim.model).failed) == 2


def test_wrong_workers_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ShapeError, match=r"workers is 1\.5, expected a number of processes, or the address"):
        client_of(1.5)
    with pytest.raises(ShapeError, match="workers is 0"):
        client_of(0)
    with pytest.raises(BoughError, match="no cluster answers at 'nothing://here'"), client_of("nothing://here"):
        pass
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(BoughError, match=r"pip install 'bough\[cluster\]'"):
        pendulum().sweep([0.0], workers=2, duration=0.1, grid={"q of pivot": [1.0]})
