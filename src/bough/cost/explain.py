"""Why forward dynamics takes the method it takes, how derivatives are made, and what programs of a model cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from bough.algorithms.closed_loops import LoopMethod
from bough.algorithms.clusters import clusters
from bough.algorithms.loop_choice import COUNTED_UP_TO, cheapest_method, method_operations
from bough.cost.outline import plain
from bough.cost.report import Report, Table
from bough.kernel.called import public_name
from bough.kernel.choice import ALGORITHMS, Method, MethodCost, cheaper_method, method_costs
from bough.kernel.derivative_choice import AUTOMATIC_UP_TO, DIFFERENTIATED, Way, cheapest_way, way_costs
from bough.kernel.device_choice import CONSIDERED, REGISTERS_OF_A_THREAD, DeviceCost, device_costs, device_method
from bough.kernel.divide_and_conquer import rounds_of
from bough.kernel.functions import mechanism, program, require_model
from bough.kernel.specs import NEED_FRAMES, OPTIONAL, Options, spec
from bough.model import Model
from bough.program import Program
from bough.program.ir import Loop, walk
from bough.reading import counted, known_name
from bough.scalar import Count

__all__ = ["explain", "reasons"]

TITLES: dict[Method, str] = {
    "aba": "aba: articulated bodies",
    "aba_at_rest": "aba_at_rest: bias forces, then articulated bodies at rest",
    "crba": "crba: mass matrix and its LTDL factor",
}

LOOP_TITLES: dict[LoopMethod, str] = {
    "kkt": "kkt: accelerations and multipliers at once (method 1)",
    "multipliers": "multipliers: these first (method 2)",
    "null_space": "null_space: free motions alone (method 3)",
}

MAIN = ("rnea", "crba", "aba", "aba_at_rest", "crba_ltdl", "jacobian")
"""The algorithms whose programs are shown."""


def explain(model: Model, *, device: Literal["cpu", "cuda"] = "cpu") -> Report:
    """Explain which method ``forward_dynamics(method="auto")`` uses for a model, how derivatives are computed, and why.

    The report also lists the sizes of programs.

    Times are estimates from operation counts and weights that were measured once (see `bough.kernel.choice`). They are
    the same on every machine, and so is the choice. `bough bench` measures the machine at hand.

    Parameters
    ----------
    model
        The mechanism.
    device
        "cpu", or "cuda" for the method of arrays on a GPU; no GPU is needed.

    Returns
    -------
    Report
        Print it for the text.

    Examples
    --------
    >>> import bough
    >>> report = str(bough.explain(bough.robots.load("arm")))
    >>> "Forward dynamics of 'arm'" in report and "is taken" in report
    True
    """
    require_model(model)
    methods = _methods if known_name(device, "device", ("cpu", "cuda")) == "cpu" else _methods_on_gpu
    tree = model.inner.dof_tree
    inside = [("floating base inside", plain(model.bodies[model.inner_root - 1].name))] if model.inner_root else []
    full = tree.n * (tree.n + 1) / 2
    shape = Table(
        f"{counted(model.nbodies, 'body', 'bodies')}, nq = {model.nq}, nv = {model.nv}",
        ("property", "value"),
        (
            ("sum of ancestors over all degrees of freedom, D₁", tree.D1),
            ("sum of pairs of ancestors, D₂", tree.D2),
            ("nonzero entries of the mass matrix (lower triangle), n + D₁", tree.packed_size),
            ("share of nonzero entries in the triangle", f"{tree.packed_size / max(full, 1):.0%}"),
            ("mimic joints", "no" if model.coupling.trivial else "yes"),
            *inside,
        ),
        _beside(model),
    )
    return Report(
        "explain",
        f"Forward dynamics of {model.name!r}",
        (shape, *_loop_methods(model), methods(model), *_derivatives(model), _programs(model)),
    )


def _beside(model: Model) -> tuple[str, ...]:
    """What is to be said of loops and couplings."""
    if not model.constraints:
        return ()
    rows = f"{len(model.constraints)} loops and couplings with {len(model.constraint_names)} rows"
    return (
        f"{rows} are added to the tree, and forward_dynamics includes them.",
        "Rows about aba and crba describe the tree alone: forward_dynamics(loops=False).",
    )


def _loop_methods(model: Model) -> tuple[Table, ...]:
    """The methods for loops and couplings, if there are any."""
    if not model.constraints:
        return ()
    inside = mechanism(model)
    costs, taken = method_operations(inside), cheapest_method(inside)
    rows = [
        (title, costs.get(method, "more"), "taken" if method == taken else "") for method, title in LOOP_TITLES.items()
    ]
    notes = [f"{taken} is taken: it has the fewest operations."]
    if "null_space" in costs:
        parts = clusters(inside)
        held = sum(cluster.rank for cluster in parts.all)
        notes.append(
            f"Loops and couplings remove {held} of {model.nv} velocities; {parts.freedom} are free. null_space solves "
            "only for the free ones, which is cheap if there are few."
        )
    elif max(model.nv, len(model.constraint_names)) > COUNTED_UP_TO:
        notes.append(
            f"Above {COUNTED_UP_TO} velocities or rows, operations are those of the elimination, from its tree. "
            "null_space is not considered, because its program cannot skip zeros at this size."
        )
    else:
        notes.append("null_space is not considered: its rows alone need more operations.")
    columns = ("method", "operations", "auto")
    return (Table('Methods with loops, and the one that method="auto" takes', columns, tuple(rows), tuple(notes)),)


def _methods(model: Model) -> Table:
    costs, chosen = method_costs(model), cheaper_method(model)
    rows = []
    for method, cost in costs.items():
        counted = "estimated" if cost.count is None else str(cost.count)
        code = "rolled" if cost.rolled else "unrolled"
        mark = ("with loops=False" if model.constraints else "taken") if method == chosen else ""
        times = (f"{cost.one / 1e3:.3g}", f"{cost.batch / 1e3:.3g}")
        rows.append((TITLES[method], cost.operations, counted, code, *times, mark))
    columns = ("method", "operations", "of which", "program", "µs, one state", "µs, in a batch", "auto")
    told = reasons(costs, chosen)
    if model.constraints:
        told = (f"Without loops and couplings, {told[0]}", *told[1:])
    title = "Methods of the tree alone" if model.constraints else 'Methods, and the one that method="auto" takes'
    return Table(title, columns, tuple(rows), (*told, *_in_rounds(model)))


def _methods_on_gpu(model: Model) -> Table:
    costs, chosen, rows = device_costs(model), device_method(model), []
    for method, cost in method_costs(model).items():
        code, mark = "rolled" if cost.rolled else "unrolled", "taken" if method == chosen else ""
        there = costs.get(method)
        alive = "not counted" if there is None or there.alive is None else there.alive
        slowed = ("", "") if there is None else tuple(x / there.operations for x in (there.single, there.double))
        rows.append((TITLES[method], cost.operations, code, alive, *slowed, mark))
    columns = ("method", "operations", "program", "live values", "slower in float32", "in float64", "auto")
    title = "Methods of the tree on a GPU" if model.constraints else 'Methods on a GPU, and what method="auto" takes'
    return Table(title, columns, tuple(rows), _reasons_on_gpu(costs, chosen))


def _reasons_on_gpu(costs: dict[Method, DeviceCost], chosen: Method) -> tuple[str, ...]:
    if not costs:
        return (f"{chosen} is taken, as on a CPU: the program is a loop over bodies, or there is only one method.",)
    if not costs[chosen].operations:
        return (f"{chosen} is taken: there is nothing to compute.",)
    others = [costs[method].single * costs[method].double for method in costs if method != chosen]
    mine = costs[chosen].single * costs[chosen].double
    if not others:
        why = f"{chosen} is taken: all others need more than {CONSIDERED} times its operations."
    else:
        why = f"{chosen} is taken: estimated {(min(others) / mine) ** 0.5:.2f} times as fast as the next."
    return (
        why,
        f"A thread has {REGISTERS_OF_A_THREAD} registers, and a value in float64 takes two. With more live values it "
        "is slower, by the square of the excess.",
    )


def _in_rounds(model: Model) -> tuple[str, ...]:
    """What is to be said of divide and conquer."""
    if not model.coupling.trivial or not model.nbodies:
        return ()
    return (
        f'method="divide_and_conquer" needs {len(rounds_of(model))} rounds, each on many bodies at once: it is '
        "faster for one state of a mechanism with thousands of bodies.",
    )


def reasons(costs: dict[Method, MethodCost], chosen: Method) -> tuple[str, ...]:
    """Why a method is taken, the most important first."""
    others = sorted((method for method in costs if method != chosen), key=lambda m: costs[m].one * costs[m].batch)
    if not others:
        return ("crba is taken: coupled joints on different branches have no articulated-body recursion.",)
    mine, its = costs[chosen], costs[others[0]]
    if mine.operations == 0:
        return (f"{chosen} is taken: there is nothing to compute.",)
    reasons = [
        f"{chosen} is taken: estimated {its.one / mine.one:.2f} times as fast as {others[0]} for one state and "
        f"{its.batch / mine.batch:.2f} times in a batch (both have equal weight in the choice)."
    ]
    if any(cost.count is None for cost in costs.values()):
        reasons.append("The mechanism is large: operations are estimated from nv, D₁ and D₂, not counted.")
    reasons.append(
        "Times are estimates for one core of the machine where the weights were measured, without call overhead."
    )
    return tuple(reasons)


def _derivatives(model: Model) -> tuple[Table, ...]:
    """The ways of making derivatives."""
    if not model.nv or mechanism(model).most_modes:
        return ()
    rows = []
    for name in DIFFERENTIATED:
        costs: Mapping[Way, Count] = way_costs(model, name) if model.nv <= AUTOMATIC_UP_TO else {}
        counted = [costs[way].total for way in ("recursions", "automatic") if way in costs]
        rows.append((f"bough.{public_name(name)}", *counted, cheapest_way(model, name)))
    notes = ["recursions: over bodies, as in the literature. automatic: derivatives of the function's program."]
    if model.nv > AUTOMATIC_UP_TO:
        notes.append(
            f"Above {AUTOMATIC_UP_TO} velocities, recursions are taken without counting: robots such as Panda, ANYmal "
            "and G1 need 2 to 27 times fewer operations with them."
        )
    if model.constraints:
        notes.append("With loops and couplings, forward dynamics is differentiated by the conditions of its solution.")
    columns = ("derivatives", *(("operations by recursions", "automatic") if counted else ()), "choice")
    return (Table("Derivatives, and how they are computed", columns, tuple(rows), tuple(notes)),)


def _programs(model: Model) -> Table:
    rows = []
    for name in MAIN:
        if name in ALGORITHMS and name not in method_costs(model):
            continue
        options = Options(frames=(model.frame(model.frame_names[-1]),)) if name in NEED_FRAMES else Options()
        traced = program(model, name, options, [key for key in spec(name).inputs if key not in OPTIONAL])
        code = "rolled" if any(isinstance(x, Loop) for x in walk(traced.body)) else "unrolled"
        rows.append((name, code, sum(1 for _ in walk(traced.body)), *_sizes(traced, ("scratch", "table"))))
    columns = ("algorithm", "program", "instructions", "scratch numbers per state", "table numbers")
    notes = ("A rolled program is a loop over bodies: its tables grow with the number of bodies, its code does not.",)
    return Table("Programs", columns, tuple(rows), notes)


def _sizes(traced: Program, roles: Sequence[str]) -> tuple[int, ...]:
    return tuple(sum(buffer.size for buffer in traced.of_role(role)) for role in roles)
