"""What is measured on robots: jobs as declarations, each with how bough and each rival do it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
import robots
import scipy.linalg
from measure import Call
from native import Native, mujoco_program, pinocchio_program

import bough
from bough.cli.rivals import in_mujoco

__all__ = ["BATCH", "JOBS", "Bench", "Job"]

BATCH = 4096
STATES = 64  # different states in native programs, so that nothing is learnt by heart


def l2_bytes() -> int:
    """Size of the second-level cache of a core."""
    try:
        text = Path("/sys/devices/system/cpu/cpu0/cache/index2/size").read_text().strip()
        return int(text.rstrip("KM")) * {"K": 1 << 10, "M": 1 << 20}[text[-1]]
    except (OSError, KeyError, ValueError):
        return 1 << 20


class Bench:
    """One robot in all engines, with the same states."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.theirs, self.model = robots.robot(name)
        self.data = self.theirs.createData()
        self.hand = robots.hand_body(self.model)
        self.mj_model = in_mujoco(self.model)
        self.mj_hand = self.mj_model.body(self.model.body_names[self.hand - 1]).id
        self.mj_data = mujoco.MjData(self.mj_model)
        rng = np.random.default_rng(0)
        some = bough.random(self.model, rng, size=256)
        self.q = np.resize(some, (BATCH, self.model.nq))
        self.v, self.a = rng.normal(size=(2, BATCH, self.model.nv))
        self.one = (self.q[0].copy(), self.v[0].copy(), self.a[0].copy())
        self.pin_q = bough.convert.states_to_pinocchio(self.model, self.one[0])
        self.mj_data.qpos[:], self.mj_data.qvel[:] = bough.convert.states_to_mujoco(self.model, *self.one[:2])
        self.mj_data.qacc[:] = self.mj_data.qfrc_applied[:] = self.one[2]
        mujoco.mj_forward(self.mj_model, self.mj_data)
        self.mj_data.qacc[:] = self.one[2]
        self.M = bough.crba(self.model, self.one[0])
        self.packed = bough.trees.crba_packed(self.model, self.one[0])
        pin.crba(self.theirs, self.data, self.pin_q)

    def states(self, bytes_each: int | None, dtype: type) -> int:
        """Batch size: 4096, or for matrices as many as fill three quarters of the second-level cache."""
        if bytes_each is None:
            return BATCH
        size = bytes_each * np.dtype(dtype).itemsize // 8
        return max(64, min(BATCH, 3 * l2_bytes() // 4 // size // 64 * 64))

    def batch(self, states: int, dtype: type) -> tuple[Any, Any, Any]:
        """States in a data type."""
        q, v, a = (x[:states].astype(dtype) for x in (self.q, self.v, self.a))
        return q, v, a

    @cached_property
    def natives(self) -> dict[str, Native]:
        """The native programs that can be built, running."""
        programs: dict[str, Native] = {}
        q, v, a = self.q[:STATES], self.v[:STATES], self.a[:STATES]
        self._folder = tempfile.TemporaryDirectory()
        folder = Path(self._folder.name)
        if (program := pinocchio_program()) is not None:
            self.theirs.saveToXML(str(folder / "model.xml"), "model")
            states = np.concatenate([*bough.convert.states_to_pinocchio(self.model, q, v), a], axis=1)
            programs["Pinocchio"] = Native(program, folder / "model.xml", states)
        if (program := mujoco_program()) is not None:
            mujoco.mj_saveModel(self.mj_model, str(folder / "model.mjb"))
            states = np.concatenate([*bough.convert.states_to_mujoco(self.model, q, v), a], axis=1)
            programs["MuJoCo"] = Native(program, folder / "model.mjb", states, str(self.mj_hand))
        return programs

    def close(self) -> None:
        """End the native programs."""
        for program in self.natives.values():
            program.close()

    def check(self) -> None:
        """The engines must agree before they are timed."""
        q, v, a = self.one
        same = {
            "inverse dynamics": (bough.rnea(self.model, q, v, a), pin.rnea(self.theirs, self.data, self.pin_q, v, a)),
            "forward dynamics": (bough.aba(self.model, q, v, a), pin.aba(self.theirs, self.data, self.pin_q, v, a)),
            "Jacobian": (bough.jacobian(self.model, q, robots.HAND), _pin_jacobian(self)()),
        }
        for name, (ours, theirs) in same.items():
            if not np.allclose(ours, theirs, rtol=1e-6, atol=1e-6 * np.abs(theirs).max()):
                raise SystemExit(f"{self.name}: {name} differs from Pinocchio's")


@dataclass(frozen=True)
class Job:
    """One job.

    `batch` makes a call on a batch of states in a data type, with `out=` where the function has it; `one` a call on one
    state; `rivals` the same by others from Python, `native` their native jobs, as {label: (engine, job)}; `numbers` how
    many numbers a state of a matrix-valued job holds, which sets its batch size; `beside` the rivals that a batch is
    compared with by their Python calls.
    """

    name: str
    batch: Callable[[Bench, int, type], Call]
    one: Callable[[Bench], Call]
    rivals: dict[str, Callable[[Bench], Call]]
    native: dict[str, tuple[str, str]]
    numbers: Callable[[Bench], int] | None = None
    beside: tuple[str, ...] = ()

    def states(self, bench: Bench, dtype: type) -> int:
        """Batch size in a data type."""
        return bench.states(None if self.numbers is None else 8 * self.numbers(bench), dtype)


def _filling(call: Callable[..., Any]) -> Call:
    """A call that fills the same array each time."""
    first = call()
    out = np.empty_like(getattr(first, "values", first))
    return lambda: call(out=out)


def _rnea(b: Bench, states: int, dtype: type) -> Call:
    x = b.batch(states, dtype)
    return _filling(lambda **o: bough.rnea(b.model, *x, check=False, **o))


def _forward(b: Bench, states: int, dtype: type) -> Call:
    x = b.batch(states, dtype)
    return _filling(lambda **o: bough.forward_dynamics(b.model, *x, check=False, **o))


def _crba(b: Bench, states: int, dtype: type) -> Call:
    q = b.batch(states, dtype)[0]
    return _filling(lambda **o: bough.trees.crba_packed(b.model, q, check=False, **o))


def _jacobian(b: Bench, states: int, dtype: type) -> Call:
    q = b.batch(states, dtype)[0]
    return _filling(lambda **o: bough.trees.jacobian_packed(b.model, q, robots.HAND, check=False, **o))


def _ltdl(b: Bench, states: int, dtype: type) -> Call:
    q, _, tau = b.batch(states, dtype)
    M = bough.trees.crba_packed(b.model, q)
    factor, x = np.empty_like(M.values), np.empty_like(tau)
    return lambda: bough.trees.ltdl(M, out=factor).solve(tau, out=x)


def _pin(function: Any, *places: int) -> Callable[[Bench], Call]:
    def make(b: Bench) -> Call:
        arguments = [b.pin_q, *(b.one[k].copy() for k in places)]
        return lambda: function(b.theirs, b.data, *arguments)

    return make


def _pin_jacobian(b: Bench) -> Call:
    frame = b.theirs.getFrameId(robots.HAND)
    return lambda: pin.computeFrameJacobian(b.theirs, b.data, b.pin_q, frame, pin.LOCAL)


def _pin_cholesky(b: Bench) -> Call:
    x = b.one[2].copy()

    def call() -> None:
        pin.cholesky.decompose(b.theirs, b.data)
        pin.cholesky.solve(b.theirs, b.data, x)

    return call


def _scipy(b: Bench) -> Call:
    M, x, solve, factor = b.M, b.one[2], scipy.linalg.cho_solve, scipy.linalg.cho_factor
    return lambda: solve(factor(M, check_finite=False), x, check_finite=False)


def _mujoco(*names: str) -> Callable[[Bench], Call]:
    functions = [getattr(mujoco, name) for name in names]

    def make(b: Bench) -> Call:
        m, d = b.mj_model, b.mj_data

        def call() -> None:
            for function in functions:
                function(m, d)

        return call

    return make


def _mujoco_solve(b: Bench) -> Call:
    x, y = np.empty((1, b.model.nv)), b.one[2][np.newaxis].copy()

    def call() -> None:
        mujoco.mj_factorM(b.mj_model, b.mj_data)
        mujoco.mj_solveM(b.mj_model, b.mj_data, x, y)

    return call


def _mujoco_jacobian(b: Bench) -> Call:
    m, d, body = b.mj_model, b.mj_data, b.mj_hand
    linear, angular, point = np.empty((3, b.model.nv)), np.empty((3, b.model.nv)), b.mj_data.xpos[b.mj_hand].copy()

    def call() -> None:
        mujoco.mj_kinematics(m, d)
        mujoco.mj_comPos(m, d)
        mujoco.mj_jac(m, d, linear, angular, point, body)

    return call


JOBS = (
    Job(
        "inverse dynamics",
        _rnea,
        lambda b: lambda: bough.rnea(b.model, *b.one),
        {"Pinocchio rnea": _pin(pin.rnea, 1, 2), "MuJoCo mj_inverse": _mujoco("mj_inverse")},
        {
            "Pinocchio rnea": ("Pinocchio", "rnea"),
            "MuJoCo mj_inverse": ("MuJoCo", "inverse"),
            "MuJoCo mj_rne": ("MuJoCo", "inverse_lean"),
        },
    ),
    Job(
        "forward dynamics",
        _forward,
        lambda b: lambda: bough.forward_dynamics(b.model, *b.one),
        {"Pinocchio aba": _pin(pin.aba, 1, 2), "MuJoCo mj_forward": _mujoco("mj_forward")},
        {
            "Pinocchio aba": ("Pinocchio", "aba"),
            "Pinocchio aba, world": ("Pinocchio", "aba_world"),
            "MuJoCo mj_forward": ("MuJoCo", "forward"),
            "MuJoCo crb + LTDL": ("MuJoCo", "forward_lean"),
        },
    ),
    Job(
        "mass matrix, packed",
        _crba,
        lambda b: lambda: bough.crba(b.model, b.one[0]),
        {
            "Pinocchio crba": _pin(pin.crba),
            "MuJoCo mj_makeM": _mujoco("mj_kinematics", "mj_comPos", "mj_makeM"),
        },
        {
            "Pinocchio crba": ("Pinocchio", "crba"),
            "Pinocchio crba, world": ("Pinocchio", "crba_world"),
            "MuJoCo mj_makeM": ("MuJoCo", "mass_matrix"),
        },
        lambda b: b.model.nq + b.model.dof_tree.packed_size,
    ),
    Job(
        "LTDL factor + solve",
        _ltdl,
        lambda b: lambda: bough.trees.ltdl(b.packed).solve(b.one[2]),
        {
            "SciPy cho_factor + cho_solve": _scipy,
            "Pinocchio cholesky": _pin_cholesky,
            "MuJoCo mj_factorM + mj_solveM": _mujoco_solve,
        },
        {"Pinocchio cholesky": ("Pinocchio", "factor_solve"), "MuJoCo mj_factorM": ("MuJoCo", "factor_solve")},
        lambda b: 2 * b.model.dof_tree.packed_size + 2 * b.model.nv,
        ("SciPy cho_factor + cho_solve",),
    ),
    Job(
        "Jacobian of a frame, packed",
        _jacobian,
        lambda b: lambda: bough.jacobian(b.model, b.one[0], robots.HAND),
        {"Pinocchio computeFrameJacobian": _pin_jacobian, "MuJoCo mj_jac": _mujoco_jacobian},
        {"Pinocchio computeFrameJacobian": ("Pinocchio", "jacobian"), "MuJoCo mj_jac": ("MuJoCo", "jacobian")},
        lambda b: b.model.nq + 6 * len(b.model.path_dofs(robots.HAND)),
    ),
)
