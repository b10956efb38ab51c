"""What a model is made of, how it branches, and what that saves."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from bough.cost.explain import reasons
from bough.cost.outline import outline, plain, printable
from bough.cost.pattern import Pattern
from bough.cost.report import Lines, Report, Table
from bough.errors import ModelError, SingularError
from bough.kernel.choice import ALGORITHMS, cheaper_method, method_costs
from bough.kernel.compile import how_calls_enter
from bough.kernel.counting import count
from bough.kernel.functions import require_model
from bough.kernel.rerooting import rerooting
from bough.model import Model
from bough.reading import counted
from bough.scalar import Count
from bough.tree.costs import Cost, dense_ratio, operation_cost

__all__ = ["info"]

COUNTABLE = 128
"""Bodies and degrees of freedom up to which operations are counted; the work is done once per operation."""

WIDTH = 100  # characters of a line of text

ALGORITHM_ROWS = {
    "rnea": "inverse dynamics",
    "aba": "forward dynamics, articulated bodies",
    "aba_at_rest": "forward dynamics, bias forces first",
    "crba_ltdl": "forward dynamics, mass matrix and factor",
    "crba": "mass matrix",
    "mass_matrix_inverse": "inverse of the mass matrix",
    "coriolis_matrix": "Coriolis matrix",
    "bias_forces": "gravity, Coriolis and centrifugal forces",
    "gravity_forces": "gravity forces",
    "placements": "placements of all bodies",
    "jacobian": "Jacobian of the last frame",
    "center_of_mass": "centre of mass",
    "centroidal_momentum_matrix": "centroidal momentum matrix",
    "kinetic_energy": "kinetic energy",
}
FACTOR_ROWS = {
    ("factorize", "ltl"): "factorisation LᵀL",
    ("factorize", "ltdl"): "factorisation LᵀDL",
    ("solve", "ltdl"): "solution with its factor",
}


def info(model: Model) -> Report:
    """Summarise a model: its parts, its branches and what they save, and the method of forward dynamics.

    For large models, the report shows parts, and operations are estimated instead of counted.

    Parameters
    ----------
    model
        The mechanism.

    Returns
    -------
    Report
        Print it for the text; ``report.draw(folder)`` writes the sparsity pattern as a PNG file.

    Examples
    --------
    >>> import bough
    >>> report = bough.info(bough.robots.load("arm"))
    >>> "degrees of freedom  6" in str(report)
    True
    """
    require_model(model)
    name = plain(model.name) or "a model without a name"
    items = (
        _parts(model),
        Lines("Tree; an only child is directly below its parent", outline(model)),
        Pattern(f"Nonzero entries of the mass matrix H of {name} and of its factor L", model.dof_tree, model.dof_names),
        _branches(model),
        _operations(model),
        _method(model),
        _rerooting(model),
    )
    return Report("info", name, items)


def _parts(model: Model) -> Table:
    kinds: dict[str, int] = {}
    for entry in model.joints:
        name = type(entry.joint).__name__.lower()
        kinds[name] = kinds.get(name, 0) + 1
    joints = ", ".join(f"{number} {name}" for name, number in kinds.items())
    rows = [
        ("bodies", model.nbodies),
        ("joints", joints or "none"),
        ("degrees of freedom", f"{model.nv}" if model.nq == model.nv else f"{model.nv}, nq = {model.nq}"),
        ("mass", f"{model.mass:.6g} kg"),
        (
            "depth",
            f"{counted(model.tree.height, 'joint')}, "
            f"{counted(model.dof_tree.height, 'degree of freedom', 'degrees of freedom')}",
        ),
        ("leaves", len(model.tree.leaves)),
        ("gravity", f"({', '.join(f'{x:g}' for x in model.gravity)}) m/s²"),
        ("frames", len(model.frames)),
        ("shapes", len(model.geometries)),
        ("loops, couplings", len(model.constraints)),
        ("calls", how_calls_enter()),
    ]
    return _values("Parts", rows)


def _branches(model: Model) -> Table:
    tree = model.dof_tree
    cheaper = f"{dense_ratio(tree):.3g} times" if tree.D1 else "nothing to do"
    rows = (
        ("bodies not on the base", model.tree.D0),
        ("degrees of freedom not on the base, D₀", tree.D0),
        ("sum of ancestors over all degrees of freedom, D₁", tree.D1),
        ("sum of pairs of ancestors, D₂", tree.D2),
        ("density α of H, (n + 2 D₁) / n²", f"{100 * tree.density:.3g}%"),
        ("LᵀDL is cheaper than for a full matrix by", cheaper),
    )
    return _values("Branches", rows)


def _values(title: str, rows: Sequence[tuple[str, object]]) -> Table:
    return Table(title, ("what", "value"), tuple((name, str(value)) for name, value in rows))


def _operations(model: Model) -> Table:
    counted = _is_counted(model)
    rows: list[tuple[object, ...]] = []
    for name, title in ALGORITHM_ROWS.items():
        if name in ("aba", "aba_at_rest") and not model.coupling.trivial:
            continue  # solved through the factor
        if counted:
            rows.append((title, name, *_counted(model, name)))
    if not counted:
        costs = method_costs(model).items()
        rows += [(ALGORITHM_ROWS[ALGORITHMS[m]], ALGORITHMS[m], cost.operations, "estimated") for m, cost in costs]
    for (operation, kind), title in FACTOR_ROWS.items():
        c = _count(operation_cost(model.dof_tree, operation, kind))
        rows.append((title, kind if operation == "factorize" else f"{kind}_{operation}", c.total, str(c)))
    columns = ("what", "algorithm", "operations", "of which")
    notes = () if counted else (f"Above {COUNTABLE} bodies or degrees of freedom, other algorithms are not counted.",)
    return Table("Operations for one state, counted as in the literature", columns, tuple(rows), notes)


def _is_counted(model: Model) -> bool:
    return max(model.nbodies, model.nv) <= COUNTABLE


def _counted(model: Model, name: str) -> tuple[object, str]:
    try:
        c = count(model, name)
    except SingularError:
        return "–", "no result: something that moves has no inertia"
    except ModelError as error:
        return "–", f"refused: {error}"
    return c.total, str(c)


def _count(cost: Cost) -> Count:
    return Count(mul=cost["mul"], add=cost["add"], div=cost["div"], sqrt=cost["sqrt"])


def _method(model: Model) -> Lines:
    try:
        reason = reasons(method_costs(model), cheaper_method(model))[0]
    except SingularError as error:
        reason = f"There is none: {error}"
    return Lines('forward_dynamics(method="auto")', tuple(wrap(reason, WIDTH)))


def _rerooting(model: Model) -> Lines:
    title = "Gain from another floating base"
    if not _is_counted(model):
        text = f"Not computed above {COUNTABLE} bodies or degrees of freedom; call bough.trees.rerooting(model)."
        return Lines(title, (text,))
    try:
        found = rerooting(model)
    except (ModelError, SingularError) as error:
        return Lines(title, tuple(wrap(f"Nothing: {error}", WIDTH)))
    gained = f"{found.gain:.2f} times the speed" if found.best is not found.current else "nothing"
    return Lines(title, (*map(printable, str(found).split("\n")), f"Gain in forward dynamics: {gained}."))
