"""What the GPU back-end should reach, in one table: states or steps per second, equality to the CPU, compile times.

Runs alone: ``python benchmarks/on_gpu_goals.py FOLDER``, with models in bough's own format in the folder (panda,
quadruped, humanoid, g1, g1_35, ant, gym_humanoid). Needs CuPy and a GPU. Each line has two processes of its own: one
that compiles with an empty cache, several lines at a time; and one that finds the code in the cache, compares with
the CPU and measures, alone. What takes longer than its limit is told and left.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

STATES, ROBOTS, STEPS, COMPARED = 1 << 21, 1 << 17, 20, 256
STEPPED = ("step", "euler")
APART = 50  # steps after which robots with other controls do other things
COMPILE_LIMIT, MEASURE_LIMIT = 100, 60  # seconds


@dataclass(frozen=True)
class Goal:
    """One line: a function of a robot, or a step of its simulation, and millions per second, or 0."""

    label: str
    robot: str
    function: str
    dtype: str
    goal: float


GOALS = (
    Goal("inverse dynamics, Panda", "panda", "rnea", "float32", 30_000),
    Goal("forward dynamics, Panda", "panda", "forward_dynamics", "float32", 22_000),
    Goal("forward dynamics, quadruped 18", "quadruped", "forward_dynamics", "float32", 9_000),
    Goal("forward dynamics, humanoid 30", "humanoid", "forward_dynamics", "float32", 3_000),
    Goal("forward dynamics, G1 35", "g1_35", "forward_dynamics", "float32", 1_500),
    Goal("forward dynamics, G1 49", "g1", "forward_dynamics", "float32", 700),
    Goal("forward dynamics, Panda", "panda", "forward_dynamics", "float64", 12_000),
    Goal("forward dynamics, humanoid 30", "humanoid", "forward_dynamics", "float64", 700),
    Goal("forward dynamics, G1 49", "g1", "forward_dynamics", "float64", 200),
    Goal("derivatives of forward dynamics, Panda", "panda", "forward_dynamics_derivatives", "float32", 3_000),
    Goal("derivatives of forward dynamics, quadruped 18", "quadruped", "forward_dynamics_derivatives", "float32", 0),
    Goal("derivatives of forward dynamics, humanoid 30", "humanoid", "forward_dynamics_derivatives", "float32", 150),
    Goal("derivatives of inverse dynamics, Panda", "panda", "rnea_derivatives", "float32", 0),
    Goal("derivatives of inverse dynamics, quadruped 18", "quadruped", "rnea_derivatives", "float32", 0),
    Goal("derivatives of inverse dynamics, humanoid 30", "humanoid", "rnea_derivatives", "float32", 0),
    Goal("soft step, gymnasium's ant", "ant", "step", "float32", 800),
    Goal("soft step, gymnasium's humanoid", "gym_humanoid", "step", "float32", 200),
    Goal("soft step, ant, Euler", "ant", "euler", "float32", 800),
    Goal("soft step, gymnasium's humanoid, Euler", "gym_humanoid", "euler", "float32", 200),
)
HEADS = (
    "", "type", "goal", "rows M/s", "components M/s", "registers", "local bytes", "to the CPU", "to float64", "cold s",
    "cached s",
)  # fmt: skip


class Dynamics:
    """A function on states that are drawn at random."""

    def __init__(self, goal: Goal, folder: Path) -> None:
        import bough

        self._model = bough.load(folder / f"{goal.robot}.json")
        self._dtype = goal.dtype
        self.function = bough.function(goal.function, self._model)
        rng, nv = np.random.default_rng(0), self._model.nv
        q = bough.integrate(self._model, bough.neutral(self._model), 0.7 * rng.normal(size=(COMPARED, nv)))
        self._given = (q, rng.normal(size=(COMPARED, nv)), 5.0 * rng.normal(size=(COMPARED, nv)))

    def first_call(self, order: str) -> float:
        """Seconds until results of some states are there."""
        import cupy

        few = [cupy.asarray(x.astype(self._dtype), order=order) for x in self._given]
        start = time.perf_counter()
        self.got = self.function(*few, check=False)
        cupy.cuda.Device().synchronize()
        return time.perf_counter() - start

    def errors(self) -> tuple[float, float]:
        """The largest difference to the CPU in the same type, and to its float64, beside the largest result."""
        there, got = self.function.on_device(), self.got.get()
        same, double = there(*(x.astype(self._dtype) for x in self._given)), there(*self._given)
        scale = np.abs(double).max()
        return float(np.abs(got - same).max() / scale), float(np.abs(got - double).max() / scale)

    def speed(self, order: str) -> float:
        """States per second."""
        import cupy

        from bough.backends.cuda import device_seconds

        many = [cupy.asarray(np.resize(x, (STATES, x.shape[1])).astype(self._dtype), order=order) for x in self._given]
        return STATES / device_seconds(lambda: self.function(*many, check=False))


class Steps:
    """Robots that stand on the floor."""

    def __init__(self, goal: Goal, folder: Path) -> None:
        import bough

        self._model = bough.load(folder / f"{goal.robot}.json")
        self._dtype = goal.dtype
        integrator = "euler" if goal.function == "euler" else None  # of these files: four evaluations a step
        self._simulation = bough.Simulation(self._model, bough.Scene(self._model), integrator=integrator)
        self.function = self._simulation._steps
        rng, nv = np.random.default_rng(0), self._model.nv
        q = np.tile(self._model.simulation.reference, (COMPARED, 1))
        q = bough.integrate(self._model, q, 0.02 * rng.normal(size=(COMPARED, nv)))
        control = rng.uniform(-0.4, 0.4, size=(COMPARED, len(self._model.actuators)))
        self._given = (q, np.zeros((COMPARED, nv)), np.zeros((COMPARED, nv)), control)

    def settle(self) -> None:
        """Let the robots fall: 100 steps, on the CPU."""
        q, v, _, control = self._given
        state = self._simulation.step(q, v, control=control, steps=100)
        self._given = (state.q, state.v, state.a, control)

    def _step(self, given: Any, steps: int) -> Any:
        q, v, a, control = given
        return self._simulation.step(q, v, a=a, control=control, steps=steps)

    def first_call(self, order: str) -> float:
        """Seconds until results of some states are there."""
        import cupy

        import bough

        few = [cupy.asarray(x.astype(self._dtype), order=order) for x in self._given]
        start = time.perf_counter()
        with bough.cuda.deferred():
            self.got = self._step(few, 1)
            cupy.cuda.Device().synchronize()
            seconds = time.perf_counter() - start
        return seconds

    def errors(self) -> tuple[float, float]:
        """The same, of velocities after one step."""
        same = self._step([x.astype(self._dtype) for x in self._given], 1).v
        double, got = self._step(self._given, 1).v, self.got.v.get()
        scale = np.abs(double).max()
        return float(np.abs(got - same).max() / scale), float(np.abs(got - double).max() / scale)

    def speed(self, order: str) -> float:
        """Steps of robots per second, of which no two do the same: each has its own controls, and goes on."""
        import cupy

        import bough
        from bough.backends.cuda import device_seconds

        control = np.random.default_rng(1).uniform(-0.4, 0.4, size=(ROBOTS, len(self._model.actuators)))
        given = [*(np.resize(x, (ROBOTS, x.shape[1])) for x in self._given[:3]), control]
        now = [cupy.asarray(x.astype(self._dtype), order=order) for x in given]

        def go_on(steps: int) -> None:
            state = self._step(now, steps)
            now[:3] = state.q, state.v, state.a

        with bough.cuda.deferred():
            go_on(APART)
            seconds = device_seconds(lambda: go_on(STEPS), rounds=3, launches=2)
            print(json.dumps({"speed": ROBOTS * STEPS / seconds}), flush=True)
            os._exit(0)  # nobody asks what robots that ran on would be judged to do
        return ROBOTS * STEPS / seconds


def case(goal: Goal, folder: Path) -> Dynamics | Steps:
    """What a line is about."""
    return Steps(goal, folder) if goal.function in STEPPED else Dynamics(goal, folder)


def orders(goal: Goal) -> tuple[str, ...]:
    """Layouts that are tried: rows, and components."""
    return ("C",) if goal.function in STEPPED else ("C", "F")


def compile_only(goal: Goal, folder: Path) -> None:
    """The first process: cold compile times."""
    import cupy

    cupy.zeros(1)
    made = case(goal, folder)
    print(json.dumps({"cold": [made.first_call(order) for order in orders(goal)]}), flush=True)
    os._exit(0)


def measure(goal: Goal, folder: Path) -> None:
    """The second process."""
    import cupy

    cupy.zeros(1)
    made = case(goal, folder)
    if isinstance(made, Steps):
        made.settle()
    cached = [made.first_call(order) for order in orders(goal)]
    print(json.dumps({"cached": cached}), flush=True)
    form = next(f for f in made.function.on_device()._forms.values() if "device" in vars(f))
    kernel = form.device.last_kernel
    print(json.dumps({"registers": kernel.registers, "local": kernel.local_bytes}), flush=True)
    print(json.dumps({"errors": made.errors()}), flush=True)
    for order in orders(goal):
        print(json.dumps({"speed" if order == "C" else "turned": made.speed(order)}), flush=True)


def told(goal: int, phase: str, folder: Path, limit: float) -> dict[str, Any]:
    """What a process says, as far as it comes."""
    command = [sys.executable, __file__, str(folder), phase, str(goal)]
    found: dict[str, Any] = {}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        out, error = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        process.kill()
        out, error = process.communicate()
        found["trouble"] = f"{phase}: more than {limit} s"
    for line in out.splitlines():
        if line.startswith("{"):
            found |= json.loads(line)
    if process.returncode and "trouble" not in found:
        found["trouble"] = f"{phase}: {error.strip().splitlines()[-1][:200] if error.strip() else process.returncode}"
    return found


def row(goal: Goal, found: dict[str, Any]) -> str:
    """One line of the table."""

    def text(key: str, form: str, scale: float = 1.0) -> str:
        value = found.get(key)
        if isinstance(value, list):
            return " / ".join(format(x * scale, form) for x in value)
        return "-" if value is None else format(value * scale, form)

    same, double = found.get("errors", (float("nan"), float("nan")))
    cells = (
        goal.label, goal.dtype, f"{goal.goal:.0f}" if goal.goal else "-",
        text("speed", ".0f", 1e-6), text("turned", ".0f", 1e-6),
        text("registers", ".0f"), text("local", ".0f"), f"{same:.0e}", f"{double:.0e}", text("cold", ".1f"),
        text("cached", ".2f"), *([found["trouble"]] if "trouble" in found else []),
    )  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Everything, or one process of it."""
    folder = Path(sys.argv[1])
    if len(sys.argv) > 2:
        {"compile": compile_only, "measure": measure}[sys.argv[2]](GOALS[int(sys.argv[3])], folder)
        return
    with tempfile.TemporaryDirectory(prefix="bough-goals-") as cache:
        os.environ["BOUGH_CACHE_DIR"] = cache
        numbers = range(len(GOALS))
        with ThreadPoolExecutor(6) as pool:
            compiled = list(pool.map(lambda k: told(k, "compile", folder, COMPILE_LIMIT), numbers))
        print("| " + " | ".join(HEADS) + " |\n" + "|---" * len(HEADS) + "|")
        for k in numbers:
            found = compiled[k]
            if "cold" in found:
                found = found | told(k, "measure", folder, MEASURE_LIMIT)
            print(row(GOALS[k], found), flush=True)


if __name__ == "__main__":
    main()
