"""Problems of contact on models, solved by programs, and one by one where these do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough import complementarity
from bough.backends import Kernel, Plain
from bough.complementarity import SOLVED, UNMET, UNSOLVED, WIDER, ContactRows
from bough.kernel.border import Shape, call, many, require_finite
from bough.kernel.compile import kernel, remember
from bough.kernel.contact.one_by_one import one_by_one, worthwhile

__all__ = ["Found", "Solver", "solved", "some", "straight"]

Floats: TypeAlias = NDArray[np.floating[Any]]
Bools: TypeAlias = NDArray[np.bool_]


class Solver(NamedTuple):
    """How forces are found."""

    name: Literal["pivoting", "gauss_seidel"]
    tolerance: float
    iterations: int


class Found(NamedTuple):
    """Results of some states, verdicts, and which of the rows that get forces are not met."""

    results: Floats
    verdicts: Floats
    lost: Bools


def straight(rows: ContactRows, given: Mapping[str, Floats], solver: Solver) -> Floats | None:
    """The result of one state straight from machine code, if there is some and it solves the problem; else None."""
    ready = rows.calls.get(solver.name)
    return None if ready is None else many(ready, tuple(given.values()), (rows.results["raw"].stop,))


def solved(rows: ContactRows, given: Mapping[str, Floats], solver: Solver) -> Found:
    """Solve a problem in some states."""
    states, n = len(given["whole"]), len(rows.solved)
    lost = np.zeros((states, n), np.bool_)
    if states == 1:
        one = straight(rows, {name: a if name == "stop" else a[0] for name, a in given.items()}, solver)
        if one is not None:
            return Found(one[None], np.array([SOLVED]), lost)
    if solver.name == "gauss_seidel":
        found = _run(rows, solver.name, given)
        require_finite("forces", found["result"][:, rows.results["forces"]])
        failing = found["result"][:, rows.results["failing"]]
        return Found(found["result"], found["verdict"][:, 1], failing > UNMET * solver.tolerance)
    if not n or worthwhile(rows.conditions):
        found = _run(rows, solver.name, given)
        results, verdicts = found["result"], found["verdict"][:, 1]
    else:
        results, verdicts = np.zeros((states, rows.results["raw"].stop)), np.full(states, UNSOLVED)
        if rows.watched is not None:
            active = given["whole"][:, rows.parts["active"]][:, rows.contacts :]
            verdicts[(active > 0.0).any(axis=1)] = WIDER
    doubtful = np.flatnonzero((verdicts < 0.0) & (verdicts != WIDER))
    if doubtful.size:
        raw = results[doubtful, rows.results["raw"]]
        exact = _exactly(rows, some(given, doubtful), verdicts[doubtful], raw)
        results[doubtful], verdicts[doubtful], lost[doubtful] = exact
    return Found(results, verdicts, lost)


def some(given: Mapping[str, Floats], states: NDArray[np.intp]) -> dict[str, Floats]:
    """What is given of some states."""
    return {name: a if name == "stop" else a[states] for name, a in given.items()}


def _exactly(rows: ContactRows, given: Mapping[str, Floats], verdicts: Floats, raw: Floats) -> Found:
    """Solve what a program did not, state by state."""
    n, ready = len(rows.solved), _run(rows, "prepared", given)
    solution, lost = np.zeros((len(raw), 3 * n + 1)), np.zeros(raw.shape, np.bool_)
    solution[:, :n] = raw
    arrays = {"A": ready["A"], "b": ready["b"], "mu": ready["friction"]}
    one_by_one(rows.conditions, arrays, verdicts, solution, lost)
    further = {"f": solution[:, :n], "failing": solution[:, 2 * n : 3 * n]}
    found = _run(rows, "concluded", {**given, **further})
    return Found(found["result"], found["verdict"][:, 1], lost)


# ---- programs --------------------------------------------------------------------------------------------------------

PROGRAMS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "pivoting": (complementarity.settled_by_pivoting, ("result", "verdict")),
    "gauss_seidel": (complementarity.settled_by_sweeps, ("result", "verdict")),
    "prepared": (complementarity.prepared, ("A", "b", "friction")),
    "concluded": (complementarity.concluded, ("result", "verdict")),
}
"""Programs with what they give."""


def _run(rows: ContactRows, name: str, given: Mapping[str, Floats]) -> dict[str, Floats]:
    """Run a program on states."""
    ready = rows.calls.get(name)
    if ready is None:
        ready = _kernel(rows, name, tuple(given))
        remember(rows, name, ready)
    shapes = {output: _shape(rows, output) for output in PROGRAMS[name][1]}
    return call(ready, {key: (a, 1) for key, a in given.items()}, shapes)


def _kernel(rows: ContactRows, name: str, arguments: tuple[str, ...]) -> Kernel:
    shapes, (function, outputs) = {key: _shape(rows, key) for key in arguments}, PROGRAMS[name]
    return kernel(
        (name, rows, arguments),
        f"{name} of contacts",
        lambda **arrays: function(rows, **arrays),
        {key: shape[0] for key, shape in shapes.items()},
        rows.count,
        lambda: f"{name} {rows} {arguments}",
        Plain((*shapes.values(), _shape(rows, outputs[0])), pivots=outputs[-1] == "verdict"),
        rolled=True,
    )


def _shape(rows: ContactRows, name: str) -> Shape:
    """The shape of an argument or a result for one state."""
    n = len(rows.solved)
    shapes: dict[str, Shape] = {"whole": (rows.size,), "mu": (rows.contacts,), "start": (rows.count,), "stop": (2,)}
    shapes |= {"result": (rows.results["raw"].stop,), "verdict": (2,), "A": (n, n)}
    return shapes.get(name, (n,))
