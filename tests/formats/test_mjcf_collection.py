"""Every MJCF file of the installed packages: each loads and agrees with MuJoCo, or is refused for a reason that holds.

Run with -s to see the table.
"""

from __future__ import annotations

import re
from pathlib import Path

import gymnasium
import mujoco
import numpy as np
import pytest

import bough
from mujoco_states import disagreement, unforced

PACKAGES = [Path(package.__file__).parent for package in (gymnasium, mujoco)]
FILES = sorted(
    path
    for package in PACKAGES
    for path in package.rglob("*.xml")
    if re.search(rb"<mujoco[\s>]", path.read_bytes()[:2000])
)
TOLERANCE = 1e-9

REFUSED = {"swimmer.xml": ["fluid"], "model.xml": ["fluid", "gravcomp"]}
"""What these files have that acts in MuJoCo and not here."""


def test_there_are_files() -> None:
    assert len(FILES) >= 15


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_agrees_with_mujoco(
    path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)  # MuJoCo writes a log where it is
    ignore = REFUSED.get(path.name, [])
    for name in ignore:
        with pytest.raises(bough.errors.LoadError, match=f"{path.name}: the model has .*ignore='{name}'"):
            bough.load(path, trusted=True, ignore=[other for other in ignore if other != name])
    model = bough.load(path, trusted=True, ignore=ignore)
    m = unforced(mujoco.MjModel.from_xml_path(str(path)))
    worst = disagreement(model, m, rng)
    errors = "  ".join(f"{name} {error:.0e}" for name, error in worst.items())
    print(f"{path.name:32} {model.nv:3} DoF  {errors}")
    assert max(worst.values()) <= TOLERANCE


def test_the_process_apart_says_the_same() -> None:
    path = next(path for path in FILES if path.name == "humanoid.xml")
    assert bough.load(path) == bough.load(path, trusted=True)
