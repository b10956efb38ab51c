"""The one solution of all problems of contact on models: forces of contacts, limits and loops, for a batch of states.

Problems are those of `bough.complementarity.settling`, one array each. They are solved without forces of limits first;
states that need some get rows for as many limits as they need, and for more if the answer breaks others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bough.complementarity import BROKEN, WIDER, ContactRows
from bough.kernel.contact.chosen import Bools, Floats, Places, chosen, name_numbers
from bough.kernel.contact.problem_arguments import when_to_stop
from bough.kernel.contact.solving import Solver, solved, some, straight
from bough.kernel.overflow import require_finite_results

__all__ = ["Settled", "settled"]

MET = np.array(True)
"""Whether one state that is solved meets all conditions."""


@dataclass(frozen=True, eq=False)
class Settled:
    """The motion (*batch, nv) with the forces of all rows (*batch, rows), and what is wrong with them."""

    motion: Floats
    forces: Floats
    residual: Floats  # by how much the worst condition fails, (*batch,)
    slopes: Floats  # see `ContactRows`
    met: Bools  # whether all conditions are, (*batch,)
    unmet: tuple[str, ...] = ()  # names of those that are not in some state

    @staticmethod
    def of(rows: ContactRows, problem: Floats, result: Floats, met: Bools, unmet: tuple[str, ...] = ()) -> Settled:
        """From the parts of a problem and its result."""
        motion, forces, worst = (result[..., rows.results[part]] for part in ("motion", "forces", "worst"))
        return Settled(motion, forces, worst[..., 0], problem[..., rows.parts["slopes"]], met, unmet)


def settled(
    rows: ContactRows, names: tuple[str, ...], problem: Floats, mu: Floats, solver: Solver, start: Floats | None = None
) -> Settled:
    """Find forces that meet all conditions.

    Parameters
    ----------
    names
        Of contacts, sides of limits, and rows of loops.
    problem, mu
        Shapes (*batch, rows.size) and (*batch, k).
    start
        Forces of all rows for Gauss-Seidel to start from, (*batch, rows); None for zero.
    """
    batch, given = problem.shape[:-1], {"whole": problem, "mu": mu}
    if solver.name == "gauss_seidel":
        given["start"] = np.zeros((*batch, rows.count)) if start is None else start
        given["stop"] = when_to_stop(solver.tolerance, solver.iterations)
    result = None if batch else straight(rows, given, solver)
    if result is not None:
        return Settled.of(rows, problem, result, MET)
    flat = {name: a if name == "stop" else a.reshape(math.prod(batch), a.shape[-1]) for name, a in given.items()}
    work = _Settling(rows, names, solver)
    results, met = work.without_limits(flat)
    require_finite_results("motion with contacts", results)
    results = results.reshape(*batch, results.shape[-1])
    return Settled.of(rows, problem, results, met.reshape(batch), tuple(work.unmet))


class _Settling:
    """Finds the first three parts of results, and whether all conditions are met, for states one behind the other."""

    def __init__(self, rows: ContactRows, names: tuple[str, ...], solver: Solver) -> None:
        self.rows, self.names, self.solver = rows, names, solver
        self.unmet: dict[str, None] = {}

    def without_limits(self, given: Mapping[str, Floats]) -> tuple[Floats, Bools]:
        """With forces of limits only where they are needed."""
        rows = self.rows
        active = given["whole"][:, rows.parts["active"]] > 0.0
        if rows.watched is not None and active[:, rows.contacts :].any(axis=1).all():
            return self.with_limits(given, active)
        found = solved(rows, given, self.solver)
        results = found.results[:, : rows.results["worst"].stop]
        met, wider = np.asarray(~found.lost.any(axis=1)), np.flatnonzero(found.verdicts == WIDER)
        if wider.size:
            part, on = some(given, wider), active[wider]
            on |= self._broken(part["whole"], results[wider], on)
            results[wider], met[wider] = self.with_limits(part, on)
            found.lost[wider] = False
        self._note(found.lost, name_numbers(rows, np.arange(rows.contacts)[None]))
        return results, met

    def with_limits(self, given: Mapping[str, Floats], active: Bools) -> tuple[Floats, Bools]:
        """With forces of the limits that are active, and of others that break.

        There is room for 0, 1, 2, 4, 8 … limits, so that few programs are made; and a state's result is its own.
        """
        counts = active[:, self.rows.contacts :].sum(axis=1)
        room = np.where(counts > 0, 1 << np.frexp(np.maximum(counts - 1.0, 0.0))[1], 0)
        results, met = np.zeros((len(active), self.rows.results["worst"].stop)), np.zeros(len(active), np.bool_)
        for slots in sorted(set(room.tolist())):
            s = np.flatnonzero(room == slots)
            part, on = some(given, s), active[s]
            choice = chosen(self.rows, on, slots)
            found = solved(choice.rows, choice.taken(part), self.solver)
            results[s], met[s] = choice.spread(found.results), ~found.lost.any(axis=1)
            broken = self._broken(part["whole"], results[s], on)
            more = np.flatnonzero(broken.any(axis=1))
            if more.size:
                results[s[more]], met[s[more]] = self.with_limits(some(part, more), on[more] | broken[more])
                found.lost[more] = False
            self._note(found.lost, choice.names)
        return results, met

    def _broken(self, problem: Floats, results: Floats, active: Bools) -> Bools:
        """Which conditions are broken that are not active."""
        rows, forces = self.rows, results[:, self.rows.results["forces"]]
        A, base, offset = (problem[:, rows.parts[part]] for part in ("A", "base", "offset"))
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused in the end
            # summed in the same order whatever the batch
            y = base + np.sum(A.reshape(-1, rows.count, rows.count) * forces[:, None, :], axis=2)
        return np.asarray(~active & (rows.signs * y[:, rows.places] + offset < -BROKEN))

    def _note(self, lost: Bools, numbers: Places) -> None:
        """Write down the names of rows that are not met, from the numbers of names, for each state or for all alike."""
        if lost.any():
            self.unmet |= dict.fromkeys(self.names[number] for number in np.broadcast_to(numbers, lost.shape)[lost])
