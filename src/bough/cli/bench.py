"""`bough bench`: measure the main functions on a model, on this machine."""

from __future__ import annotations

import argparse
import dataclasses
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from statistics import median
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import bough
from bough.cli.models import add_model, chosen_model
from bough.cli.terminal import say
from bough.errors import BoughError
from bough.waiting import telling

__all__ = ["METHODS", "forward_dynamics_speeds", "register"]

BATCH = 4096
GPU_BATCH = 1 << 20
SLOW_ROW = 3.0  # seconds after which a row is told to be on its way
SHORTEST = 2e-3  # seconds that one measurement lasts at least
MET = 1e-9  # m or rad by which the constraints of a state may be off
MOST_NUMBERS = 1 << 24  # numbers in the largest array: larger models get smaller batches

Call = Callable[[], object]


class States:
    """A batch of random states, in float64 or float32; those that meet all constraints are at rest."""

    def __init__(self, model: bough.Model, batch: int, dtype: type, constrained: bool = False) -> None:
        rng = np.random.default_rng(0)
        some = _assembled(model) if constrained else bough.random(model, rng, size=min(batch, 256))
        self.q: NDArray[Any] = np.resize(some, (batch, model.nq)).astype(dtype)
        self.v, self.a = rng.normal(size=(2, batch, model.nv)).astype(dtype)
        if constrained:
            self.v[...] = 0.0

    def first(self) -> States:
        """The first state alone, without a batch axis."""
        one = States.__new__(States)
        one.q, one.v, one.a = self.q[0].copy(), self.v[0].copy(), self.a[0].copy()
        return one


def _assembled(model: bough.Model) -> NDArray[np.floating[Any]]:
    """A configuration that meets all constraints."""
    q = bough.neutral(model)
    return q if np.abs(bough.loops.errors(model, q)).max(initial=0.0) < MET else bough.loops.assemble(model, q)


# Each function of (model, states, further arguments such as out=); what has no out= is called without. States are drawn
# at random and close no loops, so all is of the tree but what is named in CONSTRAINED.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "rnea": lambda m, x, **o: bough.rnea(m, x.q, x.v, x.a, **o),
    "forward_dynamics": lambda m, x, **o: bough.forward_dynamics(m, x.q, x.v, x.a, loops=False, **o),
    "crba": lambda m, x, **o: bough.crba(m, x.q, **o),
    "crba_packed": lambda m, x, **o: bough.trees.crba_packed(m, x.q, **o),
    "factorize, solve": lambda m, x: bough.factorize(m, x.q).solve(x.a),
    "jacobian": lambda m, x, **o: bough.jacobian(m, x.q, m.frame_names[-1], **o),
}
CONSTRAINED: dict[str, Callable[..., Any]] = {
    "with constraints": lambda m, x, **o: bough.forward_dynamics(m, x.q, x.v, x.a, **o)
}
WITHOUT_OUT = ("factorize, solve",)
MATRICES: dict[str, Callable[[bough.Model], int]] = {  # numbers of one state, where they are more than a few per joint
    "crba": lambda m: m.nv**2,
    "crba_packed": lambda m: m.dof_tree.packed_size,
    "factorize, solve": lambda m: 2 * m.dof_tree.packed_size,
}


METHODS: dict[Literal["aba", "aba_at_rest", "crba", "divide_and_conquer"], tuple[str, str | None]] = {
    "aba": ("bough, articulated bodies", "aba"),
    "aba_at_rest": ("bough, bias forces first", "aba_at_rest"),
    "crba": ("bough, mass matrix and LᵀDL", "crba_ltdl"),
    "divide_and_conquer": ("bough, divide and conquer", None),
}
"""For each method of forward dynamics: what it is called here, and the algorithm that is counted."""


def register(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "bench",
        help="measure the main functions on a model",
        description="Measure the main functions on a model: one call from Python, and the time per state of a batch "
        "on one thread and on all, in float64 and float32, and the time to compile. With --device cuda, measure on a "
        "GPU and compare with what the GPU can do.",
    )
    add_model(parser)
    told = "where to measure: cpu or cuda, the current GPU (default: cpu)"
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help=told)
    told = f"states in a batch (default: {BATCH}, on a GPU {GPU_BATCH})"
    parser.add_argument("--batch", type=_positive, help=told)
    parser.add_argument("--rounds", type=_positive, default=9, help="interleaved repetitions (default: 9)")
    parser.add_argument("--compare", action="store_true", help="compare with Pinocchio and MuJoCo, if installed")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    model = chosen_model(options)
    if options.device == "cuda":
        if options.compare:
            raise BoughError(
                "--compare is given with --device cuda, expected one of them: Pinocchio and MuJoCo run on the CPU"
            )
        with _fresh_cache():
            say(bough.cuda.speeds(model, states=options.batch or GPU_BATCH, rounds=options.rounds))
        return
    options.batch = options.batch or BATCH
    threads, backend = bough.get_num_threads(), bough.get_backend()
    say(f"{model}, batches of {options.batch}, {threads} threads, back-end {backend}\n")
    heads = ("one call", "batch", "all threads", "float32", "compiled in", "from disk")
    say(f"{'':18}" + "".join(f"{head:>13}" for head in heads))
    say(f"{'':18}" + "".join(f"{unit:>13}" for unit in (*["µs per state"] * 4, "ms", "ms")))
    with _fresh_cache():
        for name, function in (FUNCTIONS | (CONSTRAINED if model.constraints else {})).items():
            numbers = max(1, 6 * model.nq, MATRICES[name](model) if name in MATRICES else 0)
            batch = min(options.batch, MOST_NUMBERS // numbers)
            if batch == 0:
                say(f"{name:18}    left out: a result has {numbers:.2g} numbers")
                continue
            try:
                with telling(f"measuring {name}", after=SLOW_ROW):
                    times = _times(model, name, function, batch, options.rounds)
            except BoughError as error:
                say(f"{name:18}    left out: {error}")
                continue
            smaller = f"   in batches of {batch}" if batch < options.batch else ""
            say(f"{name:18}" + "".join(f"{x:13.4g}" for x in times) + smaller)
    if model.constraints:
        say("\nThe model has constraints. Only the last row includes them; the other rows are for the open tree.")
    if options.compare:
        _compare(model, options.rounds)


def _times(model: bough.Model, name: str, function: Callable[..., Any], batch: int, rounds: int) -> tuple[float, ...]:
    """Microseconds per state: one call, batch, all threads, float32; milliseconds: compiled, from disk."""
    double, single = (States(model, batch, dtype, name in CONSTRAINED) for dtype in (np.float64, np.float32))
    one = double.first()
    compiled = _seconds(lambda: function(model, one), 1)
    again = dataclasses.replace(model, name=f"{model.name} again")  # another model to the process, the same on disk
    from_disk = _seconds(lambda: function(again, one), 1)
    calls: dict[str, tuple[Call, int, int | None]] = {"one": (lambda: function(model, one), 1, 1)}
    for key, states, threads in (("batch", double, 1), ("all", double, None), ("single", single, 1)):
        calls[key] = (_batch_call(model, name, function, states), batch, threads)
    samples: dict[str, list[float]] = {key: [] for key in calls}
    for turn in range(rounds + 1):  # interleaved: what the machine does to one, it does to all
        for key, (call, states_each, threads) in calls.items():
            bough.set_num_threads(threads)
            if turn == 0:  # compiles, and shows how often to repeat
                call()
            samples[key].append(_seconds(call, max(1, int(SHORTEST / _seconds(call, 1)))) / states_each)
    bough.set_num_threads(None)
    return (*(median(samples[key]) * 1e6 for key in calls), compiled * 1e3, from_disk * 1e3)


def _batch_call(model: bough.Model, name: str, function: Callable[..., Any], states: States) -> Call:
    if name in WITHOUT_OUT:
        return lambda: function(model, states)
    first = function(model, states)
    out = np.empty_like(getattr(first, "values", first))
    return lambda: function(model, states, out=out)


def _seconds(call: Call, repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


@contextmanager
def _fresh_cache() -> Iterator[None]:
    """An empty disk cache for a while, so that compiling can be measured."""
    before = os.environ.get("BOUGH_CACHE_DIR")
    with tempfile.TemporaryDirectory(prefix="bough-bench-") as folder:
        os.environ["BOUGH_CACHE_DIR"] = folder
        try:
            yield
        finally:
            os.environ.pop("BOUGH_CACHE_DIR")
            if before is not None:
                os.environ["BOUGH_CACHE_DIR"] = before


def _compare(model: bough.Model, rounds: int) -> None:
    """One call from Python by each library."""
    one = States(model, 1, np.float64).first()
    calls: dict[str, Call] = {
        "bough rnea": lambda: bough.rnea(model, one.q, one.v, one.a),
        "bough forward_dynamics": lambda: bough.forward_dynamics(model, one.q, one.v, one.a, loops=False),
    }
    times, left_out = beside_rivals(model, calls, rounds)
    for line in left_out:
        say(f"\n{line}")
    say("\none call from Python, µs")
    for name, spent in times.items():
        say(f"  {name:24}{spent:10.4g}")


def forward_dynamics_speeds(model: bough.Model, rounds: int) -> tuple[dict[str, float], list[str]]:
    """As `beside_rivals`, for forward dynamics by every method that knows the model."""
    one = States(model, 1, np.float64).first()
    known = METHODS if model.coupling.trivial else {"crba": METHODS["crba"]}
    calls: dict[str, Call] = {
        name: partial(bough.forward_dynamics, model, one.q, one.v, one.a, method=method, loops=False)
        for method, (name, _) in known.items()
    }
    times, left_out = beside_rivals(model, calls, rounds)
    return {name: spent for name, spent in times.items() if not name.endswith(("rnea", "inverse"))}, left_out


def beside_rivals(model: bough.Model, calls: dict[str, Call], rounds: int) -> tuple[dict[str, float], list[str]]:
    """Microseconds of calls and of the rivals that are installed, interleaved, and a line for each that is left out."""
    left_out = []
    for name, add in (("Pinocchio", _pinocchio_calls), ("MuJoCo", _mujoco_calls)):
        try:
            calls = calls | add(model)
        except ImportError:
            left_out.append(f"{name} is not installed")
        except BoughError as error:
            left_out.append(f"{name} is left out: {error}")
    samples: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds + 1):
        for name, call in calls.items():
            samples[name].append(_seconds(call, max(1, int(SHORTEST / _seconds(call, 1)))))
    return {name: median(times) * 1e6 for name, times in samples.items()}, left_out


def _pinocchio_calls(model: bough.Model) -> dict[str, Call]:
    import pinocchio as pin

    from bough.cli.rivals import in_pinocchio

    theirs = in_pinocchio(model)
    data = theirs.createData()
    q, (v, a) = pin.neutral(theirs), np.random.default_rng(0).normal(size=(2, theirs.nv))
    return {
        "Pinocchio rnea": lambda: pin.rnea(theirs, data, q, v, a),
        "Pinocchio aba": lambda: pin.aba(theirs, data, q, v, a),
    }


def _mujoco_calls(model: bough.Model) -> dict[str, Call]:
    import mujoco

    from bough.cli.rivals import in_mujoco

    theirs = in_mujoco(model)
    data = mujoco.MjData(theirs)
    data.qvel[:], data.qacc[:] = np.random.default_rng(0).normal(size=(2, theirs.nv))
    return {
        "MuJoCo mj_inverse": lambda: mujoco.mj_inverse(theirs, data),
        "MuJoCo mj_forward": lambda: mujoco.mj_forward(theirs, data),
    }


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}, expected a positive whole number")
    return int(text)
