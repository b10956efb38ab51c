"""The papers' recursions, in absolute coordinates and with spatial accelerations, give what ours give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bough
from bough.algorithms.aba import aba
from bough.algorithms.crba import crba
from bough.algorithms.rnea import rnea
from bough.model import Mechanism
from model_strategies import random_model


def assert_close(found: Any, expected: Any) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    assert np.abs(found - expected).max(initial=0.0) <= 1e-9 * np.abs(expected).max(initial=1.0)


@pytest.mark.parametrize("mimic", [False, True])
def test_they_agree_on_all_joints(mimic: bool, rng: np.random.Generator) -> None:
    for _ in range(2):
        model = random_model(rng, 6, mimic=mimic)
        q, pushed = bough.random(model, rng), rng.normal(size=(model.nbodies, 6))
        v, a = rng.normal(size=(2, model.nv))
        for name in ("rnea_spatial", "rnea_absolute"):
            assert_close(bough.function(name, model)(q, v, a, pushed), bough.rnea(model, q, v, a, pushed))
        assert_close(bough.function("crba_absolute", model)(q), bough.trees.crba_packed(model, q).values)
        if not mimic:
            assert_close(bough.function("aba_absolute", model)(q, v, a, pushed), bough.aba(model, q, v, a, pushed))


def test_large_trees_are_loops_in_absolute_coordinates_too(rng: np.random.Generator) -> None:
    model = bough.trees.topologies.balanced_tree(7)
    q, (v, a) = bough.random(model, rng), rng.normal(size=(2, model.nv))
    assert_close(bough.function("rnea_absolute", model)(q, v, a), bough.rnea(model, q, v, a))
    assert_close(bough.function("crba_absolute", model)(q), bough.trees.crba_packed(model, q).values)
    assert_close(bough.function("aba_absolute", model)(q, v, a), bough.aba(model, q, v, a))


@pytest.mark.parametrize(("slid", "regrouped"), [(False, False), (True, False), (False, True)])
def test_simpler_frames_and_inertias_change_no_result(slid: bool, regrouped: bool, rng: np.random.Generator) -> None:
    model = random_model(rng, 7)
    inside = Mechanism(model, slid=slid, regrouped=regrouped)
    q, (v, a) = bough.random(model, rng), rng.normal(size=(2, model.nv))
    x = [array.tolist() for array in (q, v, a)]
    assert_close(rnea(inside, *x), bough.rnea(model, q, v, a))
    assert_close(aba(inside, *x)[0], bough.aba(model, q, v, a))
    assert_close(crba(inside, x[0]), bough.trees.crba_packed(model, q).values)
