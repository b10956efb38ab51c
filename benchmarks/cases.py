"""What is measured: jobs, each with how bough and each rival do it, as declarations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
import robots

import bough

__all__ = ["JOBS", "Bench", "Job"]

Call = Callable[[], object]


class Bench:
    """One robot in all engines, with the same states."""

    def __init__(self, name: str, batch: int, dtype: type) -> None:
        self.name, self.batch = name, batch
        self.theirs, self.model = robots.robot(name)
        self.data = self.theirs.createData()
        self.mj_model = robots.in_mujoco(self.model)
        self.mj_data = mujoco.MjData(self.mj_model)
        rng = np.random.default_rng(0)
        some = bough.random(self.model, rng, size=min(batch, 256))
        self.q = np.resize(some, (batch, self.model.nq)).astype(dtype)
        self.v, self.a = rng.normal(size=(2, batch, self.model.nv)).astype(dtype)
        self.out = np.empty_like(self.v)
        one, speed = some[0], self.v[0].astype(float)
        self.one = (one, speed, self.a[0].astype(float))
        self.pin_q = bough.to_pinocchio(self.model, one)
        self.mj_data.qpos[:], self.mj_data.qvel[:] = bough.to_mujoco(self.model, one, speed)
        self.mj_data.qacc[:] = self.mj_data.qfrc_applied[:] = self.one[2]


@dataclass(frozen=True)
class Job:
    """One job: a batch and a single call by bough, single calls by the rivals, and the name of its native time."""

    name: str
    batch: Callable[[Bench], Call]
    one: Callable[[Bench], Call]
    rivals: dict[str, Callable[[Bench], Call]]
    native: str


def _mj_forward(b: Bench) -> Call:
    return lambda: mujoco.mj_forward(b.mj_model, b.mj_data)


def _mj_inverse(b: Bench) -> Call:
    return lambda: mujoco.mj_inverse(b.mj_model, b.mj_data)


def _pin(function: Any, *places: int) -> Callable[[Bench], Call]:
    def make(b: Bench) -> Call:
        arguments = [b.pin_q, *(b.one[k].copy() for k in places)]
        return lambda: function(b.theirs, b.data, *arguments)

    return make


JOBS = (
    Job(
        "inverse dynamics",
        lambda b: lambda: bough.rnea(b.model, b.q, b.v, b.a, out=b.out, check=False),
        lambda b: lambda: bough.rnea(b.model, *b.one),
        {"Pinocchio rnea": _pin(pin.rnea, 1, 2), "MuJoCo mj_inverse": _mj_inverse},
        "rnea",
    ),
    Job(
        "forward dynamics",
        lambda b: lambda: bough.forward_dynamics(b.model, b.q, b.v, b.a, out=b.out, check=False),
        lambda b: lambda: bough.forward_dynamics(b.model, *b.one),
        {"Pinocchio aba": _pin(pin.aba, 1, 2), "MuJoCo mj_forward": _mj_forward},
        "aba",
    ),
    Job(
        "mass matrix, packed",
        lambda b: lambda: bough.crba_packed(b.model, b.q[:256], check=False),
        lambda b: lambda: bough.crba(b.model, b.one[0]),
        {"Pinocchio crba": _pin(pin.crba)},
        "crba",
    ),
)
