"""Loops that are open where a simulation begins are told of."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import bough
from bough.cli import main
from bough.errors import SimulationWarning
from mechanisms import closed, four_bar

pytestmark = pytest.mark.usefixtures("compiled")

TOLD = r"loop '\w+' of '.*' is open by 0\.\d+ m or rad at the beginning, .* bough\.loops\.assemble\(model, q\)"


@pytest.mark.parametrize("options", [{}, {"integrator": "adaptive"}, {"integrator": "rk4"}])
def test_runs_and_sweeps_tell_once(options: dict[str, Any]) -> None:
    sim = bough.Simulation(four_bar(), dt=0.001)
    q = [0.9, 0.4, -0.2]
    with pytest.warns(SimulationWarning, match=TOLD) as told:
        run = sim.run(q, duration=0.002, **options)
    assert len(told) == 1
    assert told[0].filename == __file__
    if not options:
        with pytest.warns(SimulationWarning, match=TOLD) as told:
            sim.sweep(q, duration=0.002, table={"q": [q, q]})
        assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.run(resume=run, duration=0.002, **options)  # it was told at its beginning


@pytest.mark.parametrize("law", ["soft", "hard"])
def test_closed_loops_and_those_that_nothing_heeds_are_silent(law: str) -> None:
    model, q, _ = closed("four-bar")
    end = bough.Simulation(model, law=law).run(q, duration=0.1)
    bough.Simulation(model, law=law).run(end.q[-1], end.v[-1], duration=0.01)
    free = model.with_simulation(disabled=["equality"])
    bough.Simulation(free).run(q + 0.5, duration=0.01)


def test_the_command_line_closes_them_unless_it_is_told_where_to_begin(tmp_path: Any) -> None:
    file, kept = tmp_path / "bars.json", tmp_path / "run.npz"
    model = four_bar()
    bough.save(model, file)
    order = ["simulate", str(file), "--duration", "0.02", "--record", str(kept)]
    assert main(order) == 0
    start = bough.Trajectory.load(kept, model).q[0]
    assert np.abs(bough.loops.errors(model, start)).max() < 1e-9
    with pytest.warns(SimulationWarning, match=TOLD):
        main([*order, "--set", f"{model.joint_names[0]}=0.9"])
    assert bough.Trajectory.load(kept, model).q[0, 0] == 0.9


def test_loops_that_hold_nothing_are_not_open() -> None:
    b = bough.Builder()
    for name in ("a", "b"):
        b.add(name, bough.joints.Revolute("z"), mass=1.0, com=(0.1, 0, 0), inertia=0.1)
    b.loop("loose", bough.joints.Free(), "a", "b")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for law in ("soft", "hard"):
            assert bough.Simulation(b.build(), law=law).run([0.1, 0.2], duration=0.01).status == 0
