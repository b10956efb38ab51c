"""Rivals on large trees: each is given a limited time to make its model, and says so when it cannot."""

from __future__ import annotations

import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from measure import Sampler, python
from native import Native, TooSlow, mujoco_program, pinocchio_program

import bough
from bough.cli.rivals import depth_first

__all__ = ["Rival", "rivals_on"]

MODEL_LIMIT = 180.0  # seconds a rival may take to make its model
JOB_LIMIT = 60.0  # seconds one run may take
LONGEST_RUN = 5.0  # seconds of one run above which it is not repeated
MOST_FOR_DRAKE = 20_000  # bodies: half a minute of building
MOST_FOR_PINOCCHIO = 400  # bodies: its data holds four arrays of n × n × n numbers, 32 GB at a thousand


@dataclass(frozen=True)
class Rival:
    """Forward dynamics by a rival, ready to be measured."""

    sampler: Sampler
    close: Callable[[], None] = lambda: None


def rivals_on(model: bough.Model) -> tuple[dict[str, Rival], list[str]]:
    """The rivals that can run on a model of revolute joints, and words on those that cannot."""
    found: dict[str, Rival] = {}
    notes: list[str] = []
    for name, make in (("Pinocchio", _pinocchio), ("MuJoCo", _mujoco), ("Drake", _drake)):
        try:
            found |= make(model)
        except Unable as reason:
            notes.append(f"{name}: {reason}")
        except TooSlow as reason:
            notes.append(f"{name}: {reason}")
    return found, notes


class Unable(Exception):
    """Why a rival does not run."""


def _states(model: bough.Model) -> Any:
    """A few states as rows (q, v, tau), in the order of depth first."""
    order = np.array(depth_first(model.tree)) - 1
    rng = np.random.default_rng(0)
    rows = [rng.uniform(-1.0, 1.0, size=(4, model.nv)), *rng.normal(size=(2, 4, model.nv))]
    return np.concatenate([x[:, order] for x in rows], axis=1)


def _pinocchio(model: bough.Model) -> dict[str, Rival]:
    if model.nbodies > MOST_FOR_PINOCCHIO:
        raise Unable(f"needs {4 * 8 * model.nv**3 / 1e9:.0f} GB for its data")
    program = pinocchio_program()
    if program is None:
        raise Unable("no native program")
    from bough.cli.rivals import in_pinocchio

    folder = tempfile.mkdtemp()
    in_pinocchio(model).saveToXML(f"{folder}/model.xml", "model")
    native = Native(program, Path(folder) / "model.xml", _states(model), limit=JOB_LIMIT)
    return _jobs(native, {"Pinocchio aba": "aba", "Pinocchio aba, world": "aba_world"})


CONVERT = """
import pickle, sys
import mujoco
from bough.cli.rivals import in_mujoco
mujoco.mj_saveModel(in_mujoco(pickle.load(open(sys.argv[1], "rb"))), sys.argv[2])
"""


def _mujoco(model: bough.Model) -> dict[str, Rival]:
    program = mujoco_program()
    if program is None:
        raise Unable("no native program")
    folder = Path(tempfile.mkdtemp())
    sys.setrecursionlimit(10_000)
    (folder / "model").write_bytes(pickle.dumps(model))
    command = [sys.executable, "-c", CONVERT, str(folder / "model"), str(folder / "model.mjb")]
    try:
        done = subprocess.run(command, timeout=MODEL_LIMIT, capture_output=True, text=True, check=False)
    except subprocess.TimeoutExpired:
        raise Unable(f"no model within {MODEL_LIMIT:.0f} s") from None
    if done.returncode:
        said = (done.stderr.strip().splitlines() or [""])[-1]
        raise Unable(f"no model (code {done.returncode}) {said[:120]}")
    native = Native(program, folder / "model.mjb", _states(model), "1", limit=JOB_LIMIT)
    return _jobs(native, {"MuJoCo mj_forward": "forward", "MuJoCo crb + LTDL": "forward_lean"})


def _jobs(native: Native, jobs: dict[str, str]) -> dict[str, Rival]:
    spent = native.time(next(iter(jobs.values())), 1) / 1e6  # whether it runs at all
    if spent > LONGEST_RUN:
        native.close()
        raise Unable(f"{spent:.0f} s for one state, run once")
    return {name: Rival(native.sampler(job), native.close) for name, job in jobs.items()}


def _drake(model: bough.Model) -> dict[str, Rival]:
    try:
        from pydrake.math import RigidTransform, RotationMatrix
        from pydrake.multibody.plant import MultibodyPlant
        from pydrake.multibody.tree import FixedOffsetFrame, RevoluteJoint, RotationalInertia, SpatialInertia
    except ImportError:
        raise Unable("not installed") from None
    if model.nbodies > MOST_FOR_DRAKE:
        raise Unable(f"left out beyond {MOST_FOR_DRAKE} bodies")
    plant = MultibodyPlant(time_step=0.0)
    bodies = [plant.world_body()]
    for parent, body, entry in zip(model.tree.parents, model.bodies, model.joints, strict=True):
        m, c, J = body.inertia.mass, np.array(body.inertia.com), body.inertia.matrix
        moments = RotationalInertia(J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
        made = plant.AddRigidBody(body.name, SpatialInertia.MakeFromCentralInertia(m, c, moments))
        place = RigidTransform(RotationMatrix(entry.placement.matrix), entry.placement.vector)
        foot = plant.AddFrame(FixedOffsetFrame(f"{entry.name} foot", bodies[parent].body_frame(), place))
        plant.AddJoint(RevoluteJoint(entry.name, foot, made.body_frame(), [0, 0, 1]))
        bodies.append(made)
    plant.Finalize()
    context = plant.CreateDefaultContext()
    rng = np.random.default_rng(0)
    states = rng.normal(size=(4, 2 * model.nv))
    plant.get_applied_generalized_force_input_port().FixValue(context, rng.normal(size=model.nv))
    turn = [0]

    def call() -> None:
        turn[0] += 1
        plant.SetPositionsAndVelocities(context, states[turn[0] % 4])  # else the result is remembered
        plant.EvalTimeDerivatives(context)

    return {"Drake (Python)": Rival(python(call))}
