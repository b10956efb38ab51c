"""The programs of divide and conquer: the rules of runs and pairs as functions of arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bough.algorithms.handles import HANDLES, MOVED, joined, moved_on, moved_together, split
from bough.algorithms.runs import Run, body_force, row_size
from bough.backends import Argument
from bough.kernel.arguments import FloatArray
from bough.kernel.function import Function, Results, Verdicts
from bough.kernel.table import NO_STRUCTURE, function_of
from bough.scalar import Count, Counted, Part, Tally, blank
from bough.scalar.digest import digest

__all__ = ["Call", "InDoubtError"]


class InDoubtError(Exception):
    """A pivot vanishes, perhaps."""


def _refuse(arrays: dict[str, FloatArray], results: Results, verdicts: Verdicts) -> Results:
    raise InDoubtError


def _function(
    name: str, sizes: Mapping[str, int], outputs: Mapping[str, int], rule: Callable[..., Any], key: Any
) -> Function:
    """A function of arrays with these sizes. What is not finite goes through and shows in the accelerations."""
    return Function(
        name,
        [Argument(k, (n,), finite=False, optional=k == "pushes") for k, n in sizes.items()],
        [Argument(k, (n,), finite=False) for k, n in outputs.items()],
        rule,
        size=0,
        digest=lambda: digest(name, key),
        explain=_refuse,
        rolled=isinstance(key, Run) and key.length > 1,
    )


def _new_function(_: Any, key: tuple[str, Any]) -> Function:
    """The function of a rule, by its name and what it is of."""
    name, of = key
    return (_of_runs if isinstance(of, Run) else _of_pairs)(name, of)


def _of_runs(name: str, run: Run) -> Function:
    kind, n = run.kind, run.length
    nq, nv = kind.joint.nq, kind.joint.nv
    state = {"constants": n * row_size(kind), "q": n * nq, "v": n * nv}
    if name == "moved":
        return _function(name, state, {"moved": MOVED}, lambda **x: {"moved": run.moved(**x)}, run)
    if name == "velocities":

        def velocities(**x: Any) -> dict[str, Any]:
            found = blank(6 * n)
            run.velocities(**x, out=found)
            return {"velocities": found}

        return _function(name, {**state, "velocity": 6}, {"velocities": 6 * n}, velocities, run)
    if name in ("articulated", "articulated with branches"):

        def articulated(**x: Any) -> dict[str, Any]:
            made, pivots = blank(HANDLES[run.open] + n * run.kept_size), blank(n * nv + 1)
            pivots[n * nv] = 1.0  # they are shares of one, and a run may have one pivot alone
            for k, part in enumerate(run.articulated(x, Part(made, HANDLES[run.open]), pivots)):
                made[k] = part
            return {"made": made, "pivots": pivots}

        sizes = {**state, "tau": n * nv, "velocity": 6, "pushes": 6 * n}
        if name == "articulated with branches":
            sizes["branches"] = n * HANDLES[False]
        return _function(name, sizes, {"made": HANDLES[run.open] + n * run.kept_size}, articulated, run)

    def accelerated(**x: Any) -> dict[str, Any]:
        found = blank(n * nv + (6 * n if name == "accelerations" else 0))
        run.accelerate(x, found, Part(found, n * nv) if name == "accelerations" else None)
        return {"found": found}

    sizes = {"constants": state["constants"], "q": n * nq, "kept": n * run.kept_size, "acceleration": 6}
    outputs = {"found": n * nv + (6 * n if name == "accelerations" else 0)}
    return _function(name, sizes | ({"force": 6} if run.open else {}), outputs, accelerated, run)


KEPT = {True: 156, False: 84}
"""How many numbers are kept of two neighbours that are joined, if they have two handles, or one."""


def _of_pairs(name: str, open: bool) -> Function:
    if name == "external forces":
        sizes, outputs = {"border": 12, "f_ext": 6}, {"force": 6}
        return _function(name, sizes, outputs, lambda **x: {"force": body_force(**x)}, None)
    if name == "moved together":
        sizes, outputs = {"upper": MOVED, "lower": MOVED}, {"moved": MOVED}
        return _function(name, sizes, outputs, lambda **x: {"moved": moved_together(**x)}, None)
    if name == "moved on":
        sizes, outputs = {"upper": MOVED, "velocity": 6}, {"beyond": 6}
        return _function(name, sizes, outputs, lambda **x: {"beyond": moved_on(**x)}, None)
    if name == "joined":

        def join(**x: Any) -> dict[str, Any]:
            handles, kept = joined(**x, open=open)
            return {"made": [*handles, *kept]}

        sizes, outputs = {"upper": HANDLES[True], "lower": HANDLES[open]}, {"made": HANDLES[open] + KEPT[open]}
        return _function(name, sizes, outputs, join, open)
    sizes = {"kept": KEPT[open], "acceleration": 6} | ({"force": 6} if open else {})
    return _function(name, sizes, {"between": 12}, lambda **x: {"between": split(**{"force": None, **x})}, open)


class Call:
    """A function on all of a batch: result (count, size), good until the next call.

    One row alone is run as two, so that there is but one program.
    """

    def __init__(self, name: str, of: Any, count: int, dtype: np.dtype[Any]) -> None:
        self.function: Function = function_of(NO_STRUCTURE, (name, of), _new_function)
        self.count, self.dtype = count, dtype
        self._entry = self.function.entry
        self._out = np.empty((max(count, 2), self.function.outputs[0].size), dtype)

    def __call__(self, *arrays: Any) -> FloatArray:
        if self.count == 1:
            arrays = tuple(x if x is None else np.concatenate((x, x)) for x in arrays)
        found: FloatArray = self._entry(*arrays, self._out, False)
        return found[: self.count]

    def operations(self, optimized: bool, f_ext: bool) -> Count:
        """What it performs on one row."""
        given = [a.name for a in self.function.inputs if a.optional and f_ext]
        if optimized:
            return self.function.count(*given)
        tally = Tally()
        wanted = (a for a in self.function.inputs if not a.optional or a.name in given)
        self.function.rule(**{a.name: [Counted(tally) for _ in range(a.size)] for a in wanted})
        return tally.count
