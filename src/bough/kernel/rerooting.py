"""From which body forward dynamics is cheapest: all are estimated by D₁ and D₂, and the best few counted."""

from __future__ import annotations

from dataclasses import dataclass

from bough.errors import ModelError, SingularError
from bough.kernel.choice import BETWEEN, ROLLED, Method, MethodCost, cheaper_method, method_costs
from bough.kernel.functions import require_model
from bough.model import Model
from bough.model.coupling import own_joint
from bough.model.hanging import root_that_floats
from bough.model.stations import require_all_rigid
from bough.tree.roots import costs_by_root

__all__ = ["Rerootings", "RootCost", "cheapest_root", "rerooting"]

COUNTED = 3
"""How many bodies are looked at more closely than by D₁ and D₂."""


@dataclass(frozen=True)
class RootCost:
    """What forward dynamics costs with one body as the floating base inside.

    Attributes
    ----------
    link
        Name of the body.
    D0, D1, D2
        The cost numbers of the mass matrix inside, of the tree of degrees of freedom.
    costs
        What each method costs: operations, and nanoseconds for one state alone and in a batch.
    method
        The method that "auto" takes.
    """

    link: str
    D0: int
    D1: int
    D2: int
    costs: dict[Method, MethodCost]
    method: Method

    @property
    def taken(self) -> MethodCost:
        """What that method costs."""
        return self.costs[self.method]

    @property
    def weight(self) -> float:
        """What is compared: one state and batches count the same."""
        return self.taken.one * self.taken.batch


@dataclass(frozen=True)
class Rerootings:
    """Costs of forward dynamics with other floating bases; print it for a table.

    Attributes
    ----------
    model
        The model.
    current
        The present root: that of the model, or that chosen with `bough.Model.rerooted`.
    others
        The best few of the other bodies, cheapest mass matrix first.
    best
        The root with the lowest cost of forward dynamics; `current` if no other root is better.
    """

    model: Model
    current: RootCost
    others: tuple[RootCost, ...]
    best: RootCost

    @property
    def rerooted(self) -> Model:
        """The model with the best root."""
        return self.model.rerooted(self.best.link)

    @property
    def gain(self) -> float:
        """Estimated speed of forward dynamics with the best root, relative to the present one."""
        return float((self.current.weight / self.best.weight) ** 0.5)

    def __str__(self) -> str:
        rows: list[tuple[str, ...]] = [
            ("floating base inside", "D0", "D1", "D2", "operations by crba", "by aba", "auto", "")
        ]
        for root in (self.current, *self.others):
            marks = [mark for mark, is_it in (("now", root is self.current), ("best", root is self.best)) if is_it]
            by = [str(root.costs[m].operations) if m in root.costs else "–" for m in ("crba", "aba")]
            rows.append((root.link, str(root.D0), str(root.D1), str(root.D2), *by, root.method, ", ".join(marks)))
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join(lines)


def rerooting(model: Model) -> Rerootings:
    """Return the costs of forward dynamics with each floating base, and which body is the best base.

    Parameters
    ----------
    model
        A mechanism with a body on a free joint.

    Returns
    -------
    Rerootings
        Costs with the present root and with the best others; ``.rerooted`` is the model with the best root. The
        articulated-body algorithm costs the same with every root, so where it is used there is no gain.

    Raises
    ------
    ModelError
        If no body floats.

    Examples
    --------
    >>> import bough
    >>> found = bough.trees.rerooting(bough.robots.load("quadruped"))
    >>> found.best.link, found.gain  # it hangs from its trunk already
    ('trunk', 1.0)
    """
    require_model(model)
    require_all_rigid(model, "a tree cannot be hung from another of its bodies")
    bodies = _floating(model)
    if not bodies:
        raise ModelError(f"no body of {model.name!r} is on a free joint without armature: there is no root to choose")
    own = next(i for i in bodies if model.tree.parent(i) == 0) if model.inner_root == 0 else model.inner_root
    current = _cost(model, own)
    estimates = _estimates(model)
    ranked = sorted((i for i in bodies if i != own), key=lambda i: (estimates[i - 1], i))
    others = sorted((_cost(model, i) for i in ranked[:COUNTED]), key=lambda root: root.costs["crba"].operations)
    best = min((current, *others), key=lambda root: root.weight)
    return Rerootings(model, current, tuple(others), best)


def cheapest_root(model: Model) -> Model:
    """The model with the floating base inside with which forward dynamics costs least.

    It is returned as it is if nothing floats, or if its mass matrix is singular.
    """
    if not _floating(model):
        return model
    try:
        return rerooting(model).rerooted
    except SingularError:  # forward dynamics will say so
        return model


def _floating(model: Model) -> list[int]:
    """The bodies that could be the floating base."""
    able: dict[int, bool] = {}
    for root in model.tree.roots:
        try:
            able[root] = bool(root_that_floats(model, root))
        except ModelError:
            able[root] = False
    for i, parent in enumerate(model.tree.parents, start=1):
        able.setdefault(i, able.get(parent, False))
    return [i for i, yes in sorted(able.items()) if yes]


def _estimates(model: Model) -> list[float]:
    """Operations by way of the mass matrix with each body as root, roughly."""
    numbers = costs_by_root(model.tree, [own_joint(entry.joint).nv for entry in model.joints])
    depths = model.tree.depths.tolist()
    row, n = ROLLED["crba"]["operations"], model.nv
    between = BETWEEN["operations"]
    return [row.of(n, d1, d2) + between * (depth - 1) for (d1, d2), depth in zip(numbers, depths, strict=True)]


def _cost(model: Model, body: int) -> RootCost:
    link = model.bodies[body - 1].name
    hung = model.rerooted(link)
    tree = hung.inner.dof_tree
    return RootCost(link, tree.D0, tree.D1, tree.D2, method_costs(hung), cheaper_method(hung))
