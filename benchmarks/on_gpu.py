"""What a GPU does: states per second of dynamics and steps per second of simulation, and what bounds them.

Runs alone: ``python benchmarks/on_gpu.py [folder with models in bough's own format]``. Needs CuPy and a GPU. Device
time, median of several launches on arrays that stay on the GPU; results are compared with the CPU's first.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cupy
import numpy as np

import bough

STATES = 1 << 21
CHECKED = 512
STEPS = 20


def device_seconds(run: Callable[[], Any], rounds: int = 7, launches: int = 5) -> float:
    """Seconds of one launch."""
    run()
    times = []
    for _ in range(rounds):
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        for _ in range(launches):
            run()
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(start, end) * 1e-3 / launches)
    return float(np.median(times))


def kernel_of(function: bough.Function) -> Any:
    """The kernel that was compiled last."""
    form = next(f for f in function.on_device()._forms.values() if "device" in vars(f))
    return form.device.last_kernel


def measure(label: str, model: bough.Model, name: str, dtype: Any, order: Any) -> None:
    """One line: an algorithm on a robot."""
    function, rng = bough.function(name, model), np.random.default_rng(0)
    q = bough.integrate(model, bough.neutral(model), rng.normal(size=(CHECKED, model.nv)) * 0.7)
    given = (q, rng.normal(size=(CHECKED, model.nv)), rng.normal(size=(CHECKED, model.nv)) * 5.0)[
        : len(function.inputs)
    ]
    given = given[: sum(not a.optional for a in function.inputs)]
    start = time.perf_counter()
    small = [cupy.asarray(x.astype(dtype), order=order) for x in given]
    got = function(*small)
    cupy.cuda.Device().synchronize()
    cold = time.perf_counter() - start
    expected = function(*given)
    error = float(np.abs(got.get() - expected).max() / np.abs(expected).max())
    arrays = [cupy.asarray(np.tile(x.astype(dtype), (STATES // CHECKED, 1)), order=order) for x in given]
    seconds = device_seconds(lambda: function(*arrays, check=False))
    count, kernel = function.count(), kernel_of(function)
    operations = count.mul + count.add + count.div
    numbers = sum(a.shape[1] for a in arrays) + int(np.prod(expected.shape[1:]))
    print(
        f"| {label} | {name} | {np.dtype(dtype).name} | {'rows' if order == 'C' else 'components'} "
        f"| {STATES / seconds / 1e6:.0f} | {operations * STATES / seconds / 1e12:.1f} "
        f"| {numbers * np.dtype(dtype).itemsize * STATES / seconds / 1e12:.2f} | {kernel.registers} "
        f"| {kernel.local_bytes} | {error:.0e} | {cold:.1f} |",
        flush=True,
    )


def measure_steps(label: str, model: bough.Model, count: int, dtype: Any, height: float | None) -> None:
    """One line: steps of a simulation, on the floor or in the air."""
    sim, rng = bough.Simulation(model, bough.Scene(model)), np.random.default_rng(0)
    q = np.tile(model.simulation.reference or bough.neutral(model), (CHECKED, 1))
    q = bough.integrate(model, q, rng.normal(size=(CHECKED, model.nv)) * 0.02)
    control = rng.uniform(-0.4, 0.4, size=(CHECKED, len(model.actuators)))
    state = sim.step(q, np.zeros((CHECKED, model.nv)), control=control, steps=100)  # on the floor by then
    q, v, a = state.q, state.v, state.a
    if height is not None:
        q = q.copy()
        q[:, height_of(model)] += height
    start = time.perf_counter()
    few = [cupy.asarray(x.astype(dtype)) for x in (q, v, a, control)]
    got = sim.step(few[0], few[1], a=few[2], control=few[3], steps=1)
    cupy.cuda.Device().synchronize()
    cold = time.perf_counter() - start
    expected = sim.step(q, v, a=a, control=control, steps=1)
    error = float(np.abs(got.v.get() - expected.v).max() / np.abs(expected.v).max())
    many = [cupy.asarray(np.tile(x.astype(dtype), (count // CHECKED, 1))) for x in (q, v, a, control)]
    with bough.cuda.deferred():
        seconds = device_seconds(
            lambda: sim.step(many[0], many[1], a=many[2], control=many[3], steps=STEPS), rounds=3, launches=1
        )
    kernel = kernel_of(sim._steps)
    print(
        f"| {label} | {'floor' if height is None else 'air'} | {np.dtype(dtype).name} | {count} "
        f"| {count * STEPS / seconds / 1e6:.1f} | {kernel.registers} | {kernel.local_bytes} "
        f"| {error:.0e} | {cold:.1f} |",
        flush=True,
    )


def height_of(model: bough.Model) -> int:
    """Which coordinate lifts a robot."""
    return 1 if model.joints[0].joint.nv == 1 else 2


def load(folder: Path | None, name: str) -> bough.Model:
    """A model of a folder, or a robot by name."""
    return bough.robots.load(name) if folder is None else bough.load(folder / f"{name}.json")


def main() -> None:
    """Everything."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    properties = cupy.cuda.runtime.getDeviceProperties(0)
    print(f"{properties['name'].decode()}, CUDA {cupy.cuda.runtime.runtimeGetVersion()}, CuPy {cupy.__version__}\n")
    print(
        "| robot | algorithm | type | layout | M states/s | Tflop/s | TB/s | registers | local bytes | error | cold s |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    robots = {
        "panda": "Panda 7",
        "quadruped": "quadruped 18",
        "humanoid": "humanoid 30",
        "g1_35": "G1 35",
        "g1": "G1 49",
    }
    for name, label in robots.items():
        if folder is None and name not in ("quadruped", "humanoid"):
            continue
        model = load(folder, name)
        for algorithm in ("rnea", "forward_dynamics", "crba"):
            for dtype in (np.float32, np.float64):
                for order in ("C", "F") if algorithm != "crba" else ("C",):
                    measure(label, model, algorithm, dtype, order)
    print("\n| robot | where | type | robots | M steps/s | registers | local bytes | error | cold (s) |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in ("half_cheetah", "ant", "gym_humanoid"):
        model = load(folder, name)
        for height in (None, 10.0):
            for dtype in (np.float32, np.float64):
                measure_steps(name, model, 1 << 17, dtype, height)


if __name__ == "__main__":
    main()
