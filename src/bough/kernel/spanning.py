"""Which joints of a mechanism with loops to cut: the spanning tree whose mass matrix costs least."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bough.errors import ModelError
from bough.kernel.choice import ROLLED
from bough.kernel.functions import require_model
from bough.model import Model
from bough.model.coupling import own_joint
from bough.model.hanging import Connection
from bough.model.spanning import Graph
from bough.tree import Tree

__all__ = ["Spanning", "SpanningCost", "spanning"]

MOST_SPANNINGS = 2000
"""How many spanning trees are looked at."""


@dataclass(frozen=True)
class SpanningCost:
    """A spanning tree by the joints that are cut, with the cost numbers of its mass matrix.

    Attributes
    ----------
    cut
        Names of the joints that are cut.
    D0, D1, D2
        The cost numbers of the expanded tree.
    operations
        Estimated cost of forward dynamics of the tree with the mass matrix.
    """

    cut: tuple[str, ...]
    D0: int
    D1: int
    D2: int
    operations: int


@dataclass(frozen=True)
class Spanning:
    """Costs of spanning trees of a mechanism with loops; print it for a table.

    Attributes
    ----------
    model
        The model.
    current, best
        The present spanning tree, and the tree with the lowest cost.
    all_seen
        Whether all spanning trees were compared. If there are too many, a better tree may exist.
    """

    model: Model
    current: SpanningCost
    best: SpanningCost
    all_seen: bool

    @property
    def respanned(self) -> Model:
        """The model with the best tree. Its q and v differ: see `bough.Model.respanned`."""
        return self.model if self.best == self.current else self.model.respanned(*self.best.cut)

    def __str__(self) -> str:
        lines = []
        for title, tree in (("now", self.current), ("best", self.best)):
            numbers = f"D0 = {tree.D0}, D1 = {tree.D1}, D2 = {tree.D2}, about {tree.operations} operations"
            lines.append(f"{title}: cut at {', '.join(tree.cut)}; {numbers}")
        return "\n".join(lines)


def spanning(model: Model) -> Spanning:
    """Return the spanning tree of a mechanism with loops whose mass matrix costs least, and the joints to cut.

    Joints with armature, mimic joints, joints that these follow, and free joints stay in the tree: a `Loop` cannot
    replace them.

    Parameters
    ----------
    model
        A mechanism whose `constraints` have loops.

    Returns
    -------
    Spanning
        The joints that are cut now and in the best tree, with costs; ``.respanned`` is the model with that tree.

    Raises
    ------
    ModelError
        If the model has no loops.

    Examples
    --------
    >>> import bough
    >>> chain = bough.trees.topologies.chain(6)
    >>> ring = chain.with_loop("close", bough.joints.Revolute("z"), chain.body_names[-1], "world")
    >>> found = bough.trees.spanning(ring)
    >>> found.current.cut, found.best.cut  # opened in the middle, the mass matrix is sparser
    (('close',), ('joint 4',))
    """
    require_model(model)
    graph = Graph.of(model)
    if not graph.loops:
        raise ModelError(f"{model.name!r} has no loops among its constraints: its tree is the only one")
    current = best = _cost(graph, graph.loops)
    seen = {frozenset(graph.loops)}
    waiting = [(current.operations, 0, current.cut)]
    while waiting and len(seen) < MOST_SPANNINGS:
        for cut in _neighbours(graph, heapq.heappop(waiting)[2]):
            if frozenset(cut) not in seen:
                seen.add(frozenset(cut))
                cost = _cost(graph, cut)
                heapq.heappush(waiting, (cost.operations, len(seen), cut))
                best = min(best, cost, key=lambda tree: tree.operations)
    return Spanning(model, current, best, not waiting)


def _neighbours(graph: Graph, cut: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """All trees that come from one by closing a cut joint and cutting another one in its loop."""
    joints = graph.tree(cut)
    assert joints is not None, "exchanges lead from trees to trees"
    carried = {c.child: c for c in joints}
    for name in cut:
        if name in graph.shut:
            continue
        c = graph.joints[name]
        ends = [_way(carried, body) for body in (c.parent, c.child)]
        for other in sorted(set(ends[0]) ^ set(ends[1])):
            if other not in graph.kept:
                yield tuple(sorted((*(set(cut) - {name}), other), key=list(graph.joints).index))


def _way(carried: dict[int, Connection], body: int) -> list[str]:
    """Names of the joints between the base and a body."""
    names = []
    while body:
        names.append(carried[body].entry.name)
        body = carried[body].parent
    return names


def _cost(graph: Graph, cut: Sequence[str]) -> SpanningCost:
    joints = graph.tree(cut)
    assert joints is not None, "exchanges lead from trees to trees"
    carried = {c.child: c for c in joints}
    bodies, order = Tree.regular([carried[i].parent for i in range(1, len(joints) + 1)])
    tree = bodies.expand([own_joint(carried[int(i)].entry.joint).nv for i in order])
    operations = round(ROLLED["crba"]["operations"].of(tree.n, tree.D1, tree.D2))
    return SpanningCost(tuple(cut), tree.D0, tree.D1, tree.D2, operations)
