"""How many digits of an acceleration are right, against the same motion in two hundred bits."""

from __future__ import annotations

import numpy as np
import pytest

import bough
from exact_motion import exact_motion, rounding
from robot_data import ROBOTS

FILES = ["kinova_description/robots/kinova.urdf", "tiago_description/robots/tiago_no_hand.urdf"]
"""A wrist whose axis meets the next one far from the light link it carries, and light links on a heavy trunk."""


LONG = np.finfo(np.longdouble).eps < np.finfo(float).eps


@pytest.mark.skipif(not LONG, reason="the machine has no floats longer than a double")
@pytest.mark.filterwarnings("ignore::bough.errors.LoadWarning")  # an antenna of one of the files
@pytest.mark.parametrize("file", FILES)
def test_the_cheaper_equivalent_keeps_the_digits(file: str) -> None:
    """On average no more are lost than when the mass matrix, known exactly, is rounded once or twice."""
    model = bough.load(ROBOTS / file)
    rng = np.random.default_rng(1)
    losses = []
    for _ in range(8):
        q, (v, tau) = bough.random(model, rng), rng.normal(size=(2, model.nv))
        exact, H = exact_motion(model, q, v, tau)
        losses.append(float(max(abs(bough.aba(model, q, v, tau) - exact))) / rounding(H, exact))
    assert np.mean(losses) <= 2.0
