"""Derivatives of inverse and forward dynamics beside Pinocchio's analytic ones, in batches and one call at a time."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import robots
from cases import l2_bytes
from measure import Call, interleaved, on_one_core, python, ratio
from native import Native, pinocchio_derivatives_program
from report import Page

import bough

__all__ = ["measure_derivatives"]

TARGETS = {"batch": 12.0, "one call": 3.0}
STATES = 64
LANES = 16
"""Batches are whole numbers of these."""

Ours = Callable[..., Any]
JOBS: dict[str, tuple[str, Ours, Any]] = {
    "inverse dynamics": ("rnea_derivatives", bough.derivatives.rnea, pin.computeRNEADerivatives),
    "forward dynamics": ("aba_derivatives", bough.derivatives.forward_dynamics, pin.computeABADerivatives),
}


def measure_derivatives(page: Page, names: list[str], rounds: int) -> None:
    """A table: robots, batches and calls."""
    page.text("## Derivatives with respect to q, v and a or tau, three n × n matrices, float64")
    rows = []
    with on_one_core():
        for name in names:
            for job in JOBS:
                rows += _measured(name, job, rounds)
    head = ("robot", "of", "way", "states", "bough µs", "Pinocchio µs", "times faster", "target", "GB/s written")
    page.table(head, rows)


def _measured(name: str, job: str, rounds: int) -> list[tuple[Any, ...]]:
    theirs, model = robots.robot(name)
    native_job, ours, their = JOBS[job]
    n, rng, data = model.nv, np.random.default_rng(0), theirs.createData()
    numbers = 3 * n * n + model.nq + 2 * n
    states = max(LANES, 3 * l2_bytes() // 4 // (8 * numbers) // LANES * LANES)
    q, (v, a) = bough.random(model, rng, size=states), rng.normal(size=(2, states, n))
    out, one = np.empty((states, 3, n, n)), (q[0].copy(), v[0].copy(), a[0].copy())
    pin_q = bough.convert.states_to_pinocchio(model, one[0])
    _check(name, job, ours(model, *one), their(theirs, data, pin_q, *one[1:]))
    samplers = {
        "batch": python(_call(ours, model, q, v, a, out=out, check=False), states),
        "one call": python(_call(ours, model, *one)),
        "their call": python(_call(their, theirs, data, pin_q, *one[1:])),
    }
    program, rival = pinocchio_derivatives_program(), "their call"
    with tempfile.TemporaryDirectory() as folder:
        if program is not None:
            theirs.saveToXML(f"{folder}/model.xml", "model")
            some = (np.resize(x, (STATES, x.shape[1])) for x in (*bough.convert.states_to_pinocchio(model, q, v), a))
            native = Native(program, Path(folder) / "model.xml", np.concatenate(list(some), axis=1))
            samplers["native"], rival = native.sampler(native_job), "native"
        samples = interleaved(samplers, rounds)
        if program is not None:
            native.close()
    rows = []
    for way, count, against in (("batch", states, rival), ("one call", 1, "their call")):
        mine, other = float(np.median(samples[way])), float(np.median(samples[against]))
        gain = ratio(samples[against], samples[way])
        rows.append((name, job, way, count, mine, other, gain, TARGETS[way], 24 * n * n / mine / 1e3))
    return rows


def _call(function: Callable[..., object], *arguments: Any, **options: Any) -> Call:
    return lambda: function(*arguments, **options)


def _check(name: str, job: str, ours: Any, theirs: Any) -> None:
    """The first two matrices of Pinocchio are whole."""
    for x, y in zip(ours[:2], theirs[:2], strict=True):
        if not np.allclose(x, y, rtol=1e-7, atol=1e-9 * np.abs(y).max()):
            raise SystemExit(f"{name}: derivatives of {job} differ from Pinocchio's")
