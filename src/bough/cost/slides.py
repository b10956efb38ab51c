"""The slides of Featherstone: sets of a tree, what a root and a spanning tree save, and LTDL as innovations."""

from __future__ import annotations

import numpy as np

from bough.algorithms.global_forms import global_form
from bough.cost.report import Report, Table
from bough.kernel.configuration import random
from bough.kernel.dynamics import crba
from bough.kernel.factors import ltdl
from bough.model import topologies
from bough.tree import Tree, named

__all__ = ["slides"]


def slides() -> Report:
    """What the slides show, computed."""
    tree = Tree((0, 1, 2, 1, 4, 4))
    sets = Table(
        f"λ = {list(tree.parents)}: parents, children, paths and subtrees",
        ("i", "λ(i)", "μ(i)", "κ(i)", "ν(i)"),
        tuple(
            (i, tree.parent(i), *(_set(x) for x in (tree.children(i), tree.path(i), tree.subtree(i))))
            for i in range(1, tree.n + 1)
        ),
    )
    heading = "Branch-induced sparsity in rigid-body dynamics (Featherstone, slides)"
    return Report("slides", heading, (sets, _floating_bases(), _innovations()))


def _set(bodies: object) -> str:
    return "{" + ",".join(map(str, sorted(bodies))) + "}"  # type: ignore[call-overload]


def _floating_bases() -> Table:
    """A chain that floats, hung from its end and from its middle."""
    rows = []
    for links in (4, 8, 16, 24):
        end = named.chain(links + 1).expand([6] + [1] * links)
        half = links // 2
        arms = [1, *range(2, half + 1), 1, *range(half + 2, links + 1)]
        middle = Tree([0, *arms]).expand([6] + [1] * links)
        cost = [t.D1 + 2 * t.D2 for t in (end, middle)]
        rows.append((links, *cost, f"{cost[0] / cost[1]:.2f}", f"{middle.density:.2f}"))
    columns = ("joints", "floating base at the end", "in the middle", "times cheaper", "density")
    return Table("Where a floating base is best: D1 + 2 D2 of a chain of bodies", columns, tuple(rows))


def _innovations() -> Table:
    """LTDL is the innovations factorisation, with the blocks of joints factorised in their turn."""
    rows = []
    for model in (topologies.chain(6), topologies.balanced_tree(3), topologies.humanoid()):
        q = random(model, 0)
        found = ltdl(crba(model, q), model.dof_tree)
        L, D = global_form(model, q).innovations().unit_factor()
        worst = max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in ((found.L, L), (found.D, D)))
        rows.append((model.name, model.nv, f"{worst:.0e}"))
    columns = ("mechanism", "degrees of freedom", "largest difference")
    return Table("Lᵀ = 1 + HφK and D of LTDL and of the innovations factorisation", columns, tuple(rows))
