"""What the page tells beside the picture, as HTML: the tree, the sparsity of H and L, costs and readings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from bough.algorithms.loop_choice import cheapest_method, method_operations
from bough.cost.explain import reasons
from bough.cost.outline import plain
from bough.cost.pattern import coarse_pattern
from bough.errors import BoughError
from bough.kernel.choice import cheaper_method, method_costs
from bough.kernel.functions import mechanism
from bough.kernel.kinematics import center_of_mass, kinetic_energy, placements, potential_energy, velocities
from bough.model import BASE, Model
from bough.viewer.drawables import Floats

__all__ = ["costs_html", "note_html", "readings", "readings_html", "sparsity_html", "tree_html"]

MARKS = 56
"""Marks in a row of a picture of a matrix."""

WHOLE_TREE = 150
"""Bodies up to which the whole tree is shown; of larger ones the path to the chosen body."""

LIT, DIM = "#e8590c", "#868e96"


def tree_html(model: Model, body: int) -> str:
    """The kinematic tree, a line for each body, with the path from the base to a body lit.

    A body that is the only one on its parent stands right below it: only branches take room to the side.
    """
    branches = {i for i in range(model.nbodies + 1) if len(model.tree.children(i)) > 1}
    path = set(model.tree.path(body)) if body else set()
    if model.nbodies <= WHOLE_TREE:
        shown = _depth_first(model)
    else:
        shown = [*sorted(path), *model.tree.children(body)[: WHOLE_TREE - 1]]
    lines = [f'<div style="color:{LIT};font-weight:600">{BASE}</div>']
    for i in shown:
        depth = len(branches & {0, *model.tree.path(i)} - {i})
        entry, lit = model.joints[i - 1], i in path
        style = f"color:{LIT};font-weight:600" if lit else ""
        kind = type(entry.joint).__name__.lower()
        lines.append(
            f'<div style="padding-left:{0.7 * min(depth, 30):.1f}em;{style}" class="{"lit" if lit else "dim"}">'
            f"{escape(plain(model.bodies[i - 1].name))} "
            f'<span style="color:{DIM};font-weight:400">{escape(plain(entry.name))}, {kind}</span></div>'
        )
    left = model.nbodies - len(shown)
    if left > 0:
        lines.append(f'<div style="color:{DIM}">… {left} more bodies</div>')
    return _block("bough-tree", "".join(lines))


def _depth_first(model: Model) -> list[int]:
    order: list[int] = []
    waiting = list(reversed(model.tree.roots))
    while waiting:
        i = waiting.pop()
        order.append(i)
        waiting += reversed(model.tree.children(i))
    return order


def sparsity_html(model: Model, body: int) -> str:
    """Where the mass matrix H and its factor L are not zero, as pictures; the path of a body is lit."""
    if not model.nv:
        return _block("bough-sparsity", "There are no degrees of freedom.")
    H, step = coarse_pattern(model.dof_tree, MARKS)
    lit = np.zeros(len(H), dtype=np.bool_)
    dofs = model.path_dofs(model.bodies[body - 1].name) if body else ()
    lit[[k // step for k in dofs]] = True
    both = np.outer(lit, lit) & H
    pictures = "".join(
        f'<figure style="display:inline-block;margin:0 4% 0 0;width:45%">{_svg(marks, lit_marks)}'
        f'<figcaption style="color:{DIM}">{name}: {marks_told}</figcaption></figure>'
        for name, marks, lit_marks, marks_told in (
            ("H", H, both, f"{model.dof_tree.n + 2 * model.dof_tree.D1} of {model.nv**2} entries"),
            ("L", np.tril(H), np.tril(both), f"{model.dof_tree.packed_size} of {model.nv * (model.nv + 1) // 2}"),
        )
    )
    told = (
        f"Highlighted: the {len(dofs)} of {model.nv} that move {escape(plain(model.bodies[body - 1].name))}."
        if body
        else ""
    )
    mark = "" if step == 1 else f" A mark is {step} × {step} entries."
    return _block("bough-sparsity", f"{pictures}<div>{told}{mark}</div>")


def _svg(marks: NDArray[np.bool_], lit: NDArray[np.bool_]) -> str:
    size = len(marks)
    parts = [f'<rect x="{x}" y="{y}" width="{w}" height="1" fill="#adb5bd"/>' for y, x, w in _stretches(marks & ~lit)]
    parts += [f'<rect x="{x}" y="{y}" width="{w}" height="1" fill="{LIT}"/>' for y, x, w in _stretches(lit)]
    return (
        f'<svg viewBox="0 0 {size} {size}" width="100%" shape-rendering="crispEdges" '
        f'style="background:#f1f3f5;border:1px solid #ced4da">{"".join(parts)}</svg>'
    )


def _stretches(marks: NDArray[np.bool_]) -> Iterable[tuple[int, int, int]]:
    """Row, first column and number of marks that stand next to each other."""
    for y, row in enumerate(marks):
        edges = np.flatnonzero(np.diff(np.concatenate([[False], row, [False]])))
        for first, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            yield y, first, end - first


def costs_html(model: Model) -> str:
    """What forward dynamics costs by each method, the one that is taken, and why."""
    try:
        costs, taken = method_costs(model), cheaper_method(model)
    except BoughError as error:
        return _block("bough-costs", escape(str(error)))
    rows: list[tuple[str, ...]] = [
        (method, f"{cost.operations:,}", f"{cost.one / 1e3:.3g} µs", "taken" if method == taken else "")
        for method, cost in costs.items()
    ]
    text = _table(("forward dynamics", "operations", "one state", ""), rows) + escape(reasons(costs, taken)[0])
    if model.constraints:
        inside = mechanism(model)
        best = cheapest_method(inside)
        with_loops = [(m, f"{n:,}", "taken" if m == best else "") for m, n in method_operations(inside).items()]
        text += _table(("with loops", "operations", ""), with_loops) + f"{best} has the fewest operations."
    return _block("bough-costs", text)


def readings(
    model: Model, q: Floats, v: Floats, frame: str, time: float | None = None
) -> dict[str, tuple[tuple[float, ...], str]]:
    """Numbers of one state, with their units: where the chosen frame and the centre of mass are, and energies.

    Parameters
    ----------
    model
        The mechanism.
    q, v
        Its configuration (nq,) and velocity (nv,).
    frame
        Name of the chosen frame.
    time
        Time in s, if the mechanism moves.
    """
    told: dict[str, tuple[tuple[float, ...], str]] = {}
    if time is not None:
        told["time"] = ((time,), "s")
    told["position"] = (tuple(placements(model, q, frame)[:3, 3].tolist()), "m")
    if v.any():
        speed = velocities(model, q, v, frame, "LOCAL_WORLD_ALIGNED")
        told["velocity"] = (tuple(speed[:3].tolist()), "m/s")
    if model.mass > 0:
        told["centre of mass"] = (tuple(center_of_mass(model, q).tolist()), "m")
    told["kinetic energy"] = ((float(kinetic_energy(model, q, v)),), "J")
    told["potential energy"] = ((float(potential_energy(model, q)),), "J")
    return told


def readings_html(told: dict[str, tuple[tuple[float, ...], str]], name: str) -> str:
    """Readings as a table; each number is in an element whose ``data-reading`` says which it is."""
    rows = "".join(
        f'<tr><td style="color:{DIM};padding-right:1em">{key}</td><td data-reading="{key}" '
        f'style="font-variant-numeric:tabular-nums">{" ".join(map(_number, values))}</td>'
        f'<td style="color:{DIM};padding-left:0.5em">{unit}</td></tr>'
        for key, (values, unit) in told.items()
    )
    return _block("bough-readings", f"<b>{escape(plain(name))}</b><table>{rows}</table>")


def _number(x: float) -> str:
    """Six digits; what is left of rounding errors, below a milliardth, is nothing."""
    return f"{round(x, 9) + 0.0:.6g}"


def note_html(text: str) -> str:
    """A note for the reader."""
    style = f"font-size:0.8em;padding:0.3em 0.8em;overflow-wrap:anywhere;color:{LIT}"
    return f'<div class="bough-note" style="{style}">{escape(text)}</div>'


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cells = "".join(f'<th style="text-align:left;padding-right:1em">{escape(x)}</th>' for x in head)
    body = "".join(
        "<tr>" + "".join(f'<td style="padding-right:1em">{escape(x)}</td>' for x in row) + "</tr>" for row in rows
    )
    return f'<table style="margin:0.3em 0"><tr>{cells}</tr>{body}</table>'


def _block(name: str, content: str) -> str:
    return f'<div id="{name}" style="font-size:0.8em;padding:0 0.8em 0.6em;line-height:1.35">{content}</div>'
