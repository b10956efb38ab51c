"""Problems of contact on models, solved by programs, and one by one where these do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough import complementarity
from bough.backends import Argument
from bough.complementarity import SOLVED, UNMET, UNSOLVED, WIDER, ContactRows
from bough.kernel.arguments import Shape
from bough.kernel.contact.one_by_one import one_by_one, worthwhile
from bough.kernel.function import Function
from bough.kernel.overflow import BEYOND, finite_status
from bough.kernel.table import entry
from bough.scalar import Array

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
    """The result of one state, if a program solves the problem; else None."""
    if solver.name == "pivoting" and not worthwhile(rows.conditions):
        return None
    result, status = _run(rows, solver.name, given)
    return result if status == SOLVED else None


def solved(rows: ContactRows, given: Mapping[str, Floats], solver: Solver) -> Found:
    """Solve a problem in some states."""
    states, n = len(given["whole"]), len(rows.solved)
    lost = np.zeros((states, n), np.bool_)
    if states == 1:
        one = straight(rows, {name: a if name == "stop" else a[0] for name, a in given.items()}, solver)
        if one is not None:
            return Found(one[None], np.array([SOLVED]), lost)
    if solver.name == "gauss_seidel":
        results, status = _run(rows, solver.name, given)
        failing = results[:, rows.results["failing"]]
        return Found(results, status, failing > UNMET * solver.tolerance)
    if not n or worthwhile(rows.conditions):
        results, verdicts = _run(rows, solver.name, given)
    else:
        results, verdicts = np.zeros((states, rows.results["raw"].stop)), np.full(states, UNSOLVED)
        if rows.watched is not None:
            active = given["whole"][:, rows.parts["active"]][:, rows.contacts :]
            verdicts[(active > 0.0).any(axis=1)] = WIDER
    doubtful = np.flatnonzero((verdicts < 0.0) & (verdicts != WIDER) & (verdicts != BEYOND))
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
    n, (A, b, friction) = len(rows.solved), _run(rows, "prepared", given)
    solution, lost = np.zeros((len(raw), 3 * n + 1)), np.zeros(raw.shape, np.bool_)
    solution[:, :n] = raw
    arrays = {"A": A, "b": b, "mu": friction}
    one_by_one(rows.conditions, arrays, verdicts, solution, lost)
    further = {"f": solution[:, :n], "failing": solution[:, 2 * n : 3 * n]}
    result, status = _run(rows, "concluded", {**given, **further})
    return Found(result, status, lost)


# ---- programs --------------------------------------------------------------------------------------------------------

PROGRAMS: dict[str, tuple[Any, tuple[str, ...], tuple[str, ...]]] = {
    "pivoting": (complementarity.settled_by_pivoting, ("whole", "mu"), ("result", "status")),
    "gauss_seidel": (complementarity.settled_by_sweeps, ("whole", "mu", "start", "stop"), ("result", "status")),
    "prepared": (complementarity.prepared, ("whole", "mu"), ("A", "b", "friction")),
    "concluded": (complementarity.concluded, ("whole", "mu", "f", "failing"), ("result", "status")),
}
"""Programs with what they take and give."""


def _run(rows: ContactRows, name: str, given: Mapping[str, Floats]) -> Any:
    """Run a program on states."""
    return entry(rows, name, _program)(*(given[key] for key in PROGRAMS[name][1]), None, False)


def _program(rows: ContactRows, name: str) -> Function:
    algorithm, inputs, outputs = PROGRAMS[name]

    def rule(**arrays: Array) -> dict[str, Any]:
        found = algorithm(rows, **arrays)
        if "status" in found:
            found["status"][0] = finite_status(found["status"][0], found["result"], rows.results["raw"].stop)
        return dict(found)

    return Function(
        f"{name} of contacts",
        [Argument(key, _shape(rows, key)) for key in inputs],
        [Argument(key, _shape(rows, key), finite=False) for key in outputs],
        rule,
        size=rows.count,
        digest=lambda: repr(rows),
        rolled=True,
    )


def _shape(rows: ContactRows, name: str) -> Shape:
    """The shape of an argument or a result for one state."""
    n = len(rows.solved)
    shapes: dict[str, Shape] = {"whole": (rows.size,), "mu": (rows.contacts,), "start": (rows.count,), "stop": (2,)}
    shapes |= {"result": (rows.results["raw"].stop,), "status": (), "A": (n, n)}
    return shapes.get(name, (n,))
