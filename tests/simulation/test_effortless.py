"""Joints whose effort is zero: targets do not move them, which is told once, and by a check of the file."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import bough
from bough.cli import main
from bough.errors import SimulationWarning

pytestmark = pytest.mark.usefixtures("compiled")

TOLD = r"joint 'elbow' of 'arm' has effort 0: targets, kp and kd have no effect on it"
AIM: dict[str, Any] = {"target": np.full(6, 0.1), "kp": 20.0, "kd": 2.0}


@pytest.fixture
def sim() -> bough.Simulation:
    return bough.Simulation(bough.robots.load("arm").with_joint("elbow", effort=0.0))


@pytest.mark.parametrize("way", ["step", "run", "adaptive", "controller", "contacts"])
def test_targets_are_told_to_have_no_effect_once(sim: bough.Simulation, way: str) -> None:
    q = v = np.zeros(6)
    run: dict[str, Any] = {"duration": 0.01}

    def go() -> Any:
        if way in ("step", "contacts"):
            return getattr(sim, way)(q, v, **AIM)
        if way == "controller":
            return sim.run(q, **run, controller=lambda *_: AIM)
        return sim.run(q, **run, **AIM, integrator="adaptive" if way == "adaptive" else None)

    with pytest.warns(SimulationWarning, match=TOLD) as told:
        go()
    assert len(told) == 1
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        go()
        bough.Simulation(sim.model).run(q, **run, tau=np.zeros(6))  # without targets there is nothing to tell


def test_a_check_mentions_them(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    text = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
        <limit lower="-1" upper="1" effort="{}" velocity="1"/></joint></robot>"""
    file = tmp_path / "r.urdf"
    file.write_text(text.format(0))
    assert main(["check", str(file)]) == 1
    assert "r.urdf:3: joint 'j' has effort 0: targets in a simulation do not move it" in capsys.readouterr().out
    file.write_text(text.format(5))
    assert main(["check", str(file)]) == 0
