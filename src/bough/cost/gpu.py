"""How fast a GPU runs the functions of a model, and what bounds it: arithmetic, memory, or registers."""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from bough.backends.cuda import cupy, device_seconds, memory_bandwidth, peak_operations
from bough.cost.report import Report, Table
from bough.errors import ModelError
from bough.kernel.configuration import random
from bough.kernel.device import require_gpu
from bough.kernel.forward_dynamics import tree_dynamics
from bough.kernel.function import Function
from bough.kernel.functions import require_model
from bough.kernel.named import function
from bough.model import Model
from bough.reading import whole_number

__all__ = ["KernelSpeed", "Peak", "speed_table", "speeds"]

LAUNCHED = 1 << 20
DRAWN = 512
"""States that differ; all others repeat them. These are compared with the CPU."""

ALGORITHMS = ("rnea", "forward_dynamics", "crba", "jacobian")
TYPES: tuple[Literal["float32", "float64"], ...] = ("float32", "float64")
ORDERS = {"rows": "C", "components": "F"}
LARGEST_ARRAY = 1 << 32
"""Of the largest array: of models with larger ones fewer states are run."""


@dataclass(frozen=True)
class Peak:
    """What a GPU can do at most: operations per second by data type, and bytes per second of its memory."""

    device: str
    operations: dict[str, float]
    bandwidth: float


@dataclass(frozen=True)
class KernelSpeed:
    """What one function does on a GPU, in one data type and one layout of its arrays.

    Attributes
    ----------
    algorithm, dtype, layout
        Which; the algorithm with the method that is taken, the layout "rows" or "components".
    states
        How many states a launch has.
    seconds
        What a launch takes on the GPU (s).
    operations
        Additions, multiplications and divisions for one state.
    numbers
        Numbers that are read and written for one state.
    registers, local_bytes
        Of one thread: registers, and bytes that did not fit in them.
    error
        The largest difference from results of the CPU in float64, relative to the largest result.
    first, again
        Seconds until a first result: tracing, compiling and loading; and for an equal model, from the cache on disk.
    """

    algorithm: str
    dtype: str
    layout: str
    states: int
    seconds: float
    operations: int
    numbers: int
    registers: int
    local_bytes: int
    error: float
    first: float
    again: float


COLUMNS = (
    "algorithm", "type", "layout", "M states/s", "Tflop/s", "of peak", "TB/s", "of peak", "registers", "spilled bytes",
    "error", "first s", "again s",
)  # fmt: skip


def speed_table(peak: Peak, figures: list[KernelSpeed]) -> Table:
    """Figures, with the peak of the GPU."""
    rows = []
    for x in figures:
        rate = x.states / x.seconds
        flops, moved = rate * x.operations, rate * x.numbers * np.dtype(x.dtype).itemsize
        shares = (f"{flops / peak.operations[x.dtype]:.0%}", f"{moved / peak.bandwidth:.0%}")
        speed = (rate * 1e-6, flops * 1e-12, shares[0], moved * 1e-12, shares[1])
        rows.append(
            (x.algorithm, x.dtype, x.layout, *speed, x.registers, x.local_bytes, f"{x.error:.0e}", x.first, x.again)
        )
    peaks = ", ".join(f"{value * 1e-12:.3g} Tflop/s in {dtype}" for dtype, value in peak.operations.items())
    states = sorted({x.states for x in figures})
    told = f"{states[0]}" if len(states) == 1 else f"{states[0]} to {states[-1]}"
    notes = (
        f"Peak, measured: {peaks} (multiply-adds alone), {peak.bandwidth * 1e-12:.3g} TB/s (a copy, read and written).",
        f"Device time of a launch with {told} states, median. Values without a register are spilled to memory.",
        "error: largest difference from the CPU's float64, relative to the largest result. "
        "again: an equal model, from the cache.",
    )
    return Table(f"On {peak.device}", COLUMNS, tuple(rows), notes)


def speeds(model: Model, *, states: int = LAUNCHED, rounds: int = 7) -> Report:
    """Measure how fast the current GPU runs the main functions of a model, and what limits them.

    For inverse and forward dynamics, the mass matrix and a Jacobian, in float32 and float64, with arrays stored by rows
    or by columns, the report lists: states per second, arithmetic and memory traffic compared with the measured peak of
    this GPU, registers per thread and spills to memory, the difference from the CPU, and the time of the first call.
    `bough bench --device cuda` prints it.

    Parameters
    ----------
    model
        The mechanism.
    states
        Number of states per launch; fewer if arrays would exceed 4 GiB.
    rounds
        Number of repetitions; the report shows medians.

    Returns
    -------
    Report
        Print it for the text.

    Raises
    ------
    BoughError
        Without CuPy, or without a GPU, or if the model cannot move.

    Examples
    --------
    >>> import bough
    >>> if bough.cuda.is_available():
    ...     print(bough.cuda.speeds(bough.robots.load("arm")))
    """
    require_model(model)
    whole_number(states, "states", least=1)
    whole_number(rounds, "rounds", least=1)
    if not model.nv:
        raise ModelError(f"{model.name!r} cannot move, expected a mechanism whose dynamics take time")
    require_gpu()
    figures = [
        _speed(model, name, dtype, layout, states, rounds)
        for name in ALGORITHMS
        for dtype in TYPES
        for layout in ORDERS
        if layout == "rows" or name != "crba"
    ]
    return Report("gpu", f"{model.name!r} on a GPU", (speed_table(_peak(), figures),))


def _peak() -> Peak:
    cp = cupy()
    name = cp.cuda.runtime.getDeviceProperties(cp.cuda.Device().id)["name"]
    operations: dict[str, float] = {dtype: peak_operations(np.dtype(dtype)) for dtype in TYPES}
    return Peak(name.decode() if isinstance(name, bytes) else str(name), operations, memory_bandwidth())


def _speed(model: Model, name: str, dtype: str, layout: str, states: int, rounds: int) -> KernelSpeed:
    cp, f = cupy(), _named(model, name)
    few = _drawn(model, f, min(DRAWN, states))
    sizes = [*(x.shape[-1] for x in few), sum(a.size for a in f.outputs)]
    states = max(1, min(states, LARGEST_ARRAY // (max(sizes) * np.dtype(dtype).itemsize)))

    def on_gpu(x: Any, times: int) -> Any:
        return cp.asarray(np.resize(x, (times, x.shape[-1])).astype(dtype), order=ORDERS[layout])

    def first_result(g: Function) -> tuple[float, Any]:
        start = time.perf_counter()
        got = g(*(on_gpu(x, len(x)) for x in few))
        cp.cuda.Device().synchronize()
        return time.perf_counter() - start, got

    first, got = first_result(f)
    again, _ = first_result(_named(dataclasses.replace(model, name=f"{model.name} again"), name))
    expected = f(*few)
    error = np.abs(got.get() - expected).max() / max(np.abs(expected).max(), np.finfo(np.float64).tiny)
    arrays = [on_gpu(x, states) for x in few]
    seconds = device_seconds(lambda: f(*arrays, check=False), rounds)
    there = f.on_device()
    figures = there.form([*few, *[None] * (len(f.inputs) - len(few))]).device.last_kernel
    operations = there.count()
    return KernelSpeed(
        name if name == there.name else f"{name}, {there.name}", dtype, layout, states, seconds,
        operations.mul + operations.add + operations.div, sum(sizes), figures.registers, figures.local_bytes,
        float(error), first, again,
    )  # fmt: skip


def _named(model: Model, name: str) -> Function:
    if name == "forward_dynamics":  # of the tree: states are drawn at random and close no loops
        return tree_dynamics(model)
    return function(name, model, frames=model.frame_names[-1] if name == "jacobian" else None)


def _drawn(model: Model, f: Function, states: int) -> list[Any]:
    rng = np.random.default_rng(0)
    drawn = {"q": random(model, rng, size=states)}
    names = [a.name for a in f.inputs if not a.optional]
    return [drawn[name] if name in drawn else rng.normal(size=(states, model.nv)) for name in names]
