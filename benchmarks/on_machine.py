"""The machine's part of the report: share of the multiply-add peak, memory bandwidth, threads, compile times."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import robots
from cases import BATCH
from measure import interleaved, on_one_core, python, ratio
from peak import Copy, Peak, flops_per_sine
from report import Page

import bough
from bough.kernel.choice import ALGORITHMS, cheaper_method

__all__ = ["measure_machine"]

DTYPES = (np.float64, np.float32)


def measure_machine(page: Page, names: Sequence[str], rounds: int) -> None:
    """All tables of this part."""
    models = {name: robots.robot(name)[1] for name in names}
    page.text("## Machine")
    _share_of_peak(page, models, rounds)
    _full_matrices(page, models, rounds)
    _threads(page, models, rounds)
    _compiling(page, models)


def _states(model: bough.Model, dtype: type) -> tuple[Any, Any, Any, Any]:
    rng = np.random.default_rng(0)
    q = np.resize(bough.random(model, rng, size=256), (BATCH, model.nq)).astype(dtype)
    v, a, out = rng.normal(size=(3, BATCH, model.nv)).astype(dtype)
    return q, v, a, out


def _share_of_peak(page: Page, models: dict[str, bough.Model], rounds: int) -> None:
    page.text(
        f"Share of the multiply-add peak in batches of {BATCH}, one thread: multiplications and additions of the "
        "program that runs, counted, per second, against a loop of independent multiply-adds on full vectors measured "
        "in the same rounds. Sines come on top: the last column counts the operations of their polynomials too."
    )
    rows = []
    for name, model in models.items():
        algorithms = {"inverse dynamics": "rnea", "forward dynamics": ALGORITHMS[cheaper_method(model)]}
        counts = {job: bough.count(model, algorithm, optimized=True) for job, algorithm in algorithms.items()}
        for dtype in DTYPES:
            peak, (q, v, a, out) = Peak(dtype), _states(model, dtype)
            with on_one_core():
                samples = interleaved(
                    {
                        "peak": peak.sampler(),
                        "inverse dynamics": python(_rnea(model, q, v, a, out), BATCH),
                        "forward dynamics": python(_forward(model, q, v, a, out), BATCH),
                    },
                    rounds,
                )
            best = peak.flops / float(np.median(samples["peak"]))  # per microsecond
            for job, c in counts.items():
                spent = float(np.median(samples[job]))
                plain = (c.mul + c.add) / spent
                whole = plain + c.trig * flops_per_sine(peak.real) / spent
                shares = (f"{plain / best:.0%}", f"{whole / best:.0%}")
                rows.append((name, job, np.dtype(dtype).name, c.mul + c.add, c.trig, plain / 1e3, best / 1e3, *shares))
    columns = ("robot", "job", "type", "mul + add", "sines", "Gflop/s", "peak Gflop/s", "share", "with sines")
    page.table(columns, rows)


def _rnea(model: bough.Model, q: Any, v: Any, a: Any, out: Any) -> Any:
    return lambda: bough.rnea(model, q, v, a, out=out, check=False)


def _forward(model: bough.Model, q: Any, v: Any, a: Any, out: Any) -> Any:
    return lambda: bough.forward_dynamics(model, q, v, a, out=out, check=False)


def _full_matrices(page: Page, models: dict[str, bough.Model], rounds: int) -> None:
    page.text(
        f"Full n × n mass matrices of {BATCH} states with `out=`, one thread: the results' bytes per second, beside "
        "what one core copies with NumPy (bytes read and bytes written) in the same rounds."
    )
    rows, copy = [], Copy()
    for name, model in models.items():
        q = _states(model, np.float64)[0]
        out = np.empty((BATCH, model.nv, model.nv))

        def call(model: bough.Model = model, q: Any = q, out: Any = out) -> object:
            return bough.crba(model, q, out=out, check=False)

        with on_one_core():
            samples = interleaved({"crba": python(call, BATCH), "copy": copy.sampler()}, rounds)
        spent, copied = (float(np.median(samples[key])) for key in ("crba", "copy"))
        written, most = 8 * model.nv**2 / spent / 1e3, copy.bytes / copied / 1e3
        rows.append((name, model.nv, spent, written, most, f"{written / most:.0%}"))
    page.table(("robot", "nv", "µs per state", "GB/s written", "GB/s copied", "share"), rows)


def _threads(page: Page, models: dict[str, bough.Model], rounds: int) -> None:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    page.text(
        f"Two threads against one, batches of {BATCH}, float64 ({cores} processors here; the target is 1.8). "
        "Elapsed time, so whatever else runs counts too."
    )
    if cores < 2:
        page.text("Not measured: there is one processor.")
        return
    rows = []
    for name, model in models.items():
        q, v, a, out = _states(model, np.float64)
        for job, call in (("inverse", _rnea(model, q, v, a, out)), ("forward", _forward(model, q, v, a, out))):

            def with_threads(count: int, call: Any = call) -> Any:
                def run() -> None:
                    bough.set_num_threads(count)
                    call()

                return run

            candidates = {str(count): python(with_threads(count), BATCH, time.perf_counter) for count in (1, 2)}
            samples = interleaved(candidates, rounds)
            times = (float(np.median(samples[key])) for key in ("1", "2"))
            rows.append((name, f"{job} dynamics", *times, ratio(samples["1"], samples["2"])))
    bough.set_num_threads(1)
    page.table(("robot", "job", "one thread µs", "two threads µs", "times faster"), rows)


CHILD = """
import pickle, sys, time
start = time.perf_counter()
import bough
imported = time.perf_counter() - start
model = pickle.load(open(sys.argv[1], "rb"))
import numpy as np
q, v = bough.neutral(model), np.zeros(model.nv)
if sys.argv[2] == "batch":
    q, v = np.tile(q, (256, 1)), np.zeros((256, model.nv))
start = time.perf_counter()
bough.forward_dynamics(model, q, v, v)
print(imported, time.perf_counter() - start)
"""


def _compiling(page: Page, models: dict[str, bough.Model]) -> None:
    page.text(
        "Compile time of forward dynamics: the first call in a fresh process, with an empty cache and a filled one, "
        "LLVM's own start included (targets for a humanoid: 1.5 s and 50 ms); `import bough` beside it (0.2 s)."
    )
    rows = []
    for name, model in models.items():
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "model").write_bytes(pickle.dumps(model))
            times = []
            for kind in ("one", "batch"):
                cold = _child(folder, kind)
                warm = [_child(folder, kind) for _ in range(3)]
                times += [cold[1], float(np.median([w[1] for w in warm])) * 1e3]
                imported = float(np.median([w[0] for w in warm]))
        rows.append((name, model.nv, *times, imported))
    columns = ("robot", "nv", "one state, cold s", "cached ms", "batch, cold s", "cached ms", "import s")
    page.table(columns, rows)


def _child(folder: str, kind: str) -> tuple[float, float]:
    environment = os.environ | {"BOUGH_CACHE_DIR": str(Path(folder) / "cache")}
    command = [sys.executable, "-c", CHILD, str(Path(folder) / "model"), kind]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    imported, first = done.stdout.split()
    return float(imported), float(first)
