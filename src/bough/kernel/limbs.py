"""Limbs of a model that are built alike, as a hint for the back-end: the legs of a quadruped, the fingers of a hand."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence

from bough.backends import Limbs, Place
from bough.model import Mechanism, Model
from bough.tree import Tree

__all__ = ["limbs", "tree_limbs"]


def limbs(model: Model, mechanism: Mechanism, inputs: Iterable[str]) -> Limbs:
    """The place of every entry of some arguments in limbs that are built alike."""
    places = _bodies(mechanism)
    if not any(places):
        return {}
    nq, nv = [entry.joint.nq for entry in model.joints], [entry.joint.nv for entry in model.joints]
    sizes = {"q": nq, "q0": nq, "q1": nq, "v": nv, "a": nv, "tau": nv, "f_ext": [6] * model.nbodies}
    return {name: list(_entries(places, sizes[name])) for name in inputs if name in sizes}


def _entries(places: list[Place | None], sizes: list[int]) -> Iterator[Place | None]:
    for place, size in zip(places, sizes, strict=True):
        for k in range(size):
            yield _inside(place, k)


def tree_limbs(tree: Tree, inputs: Iterable[str]) -> Limbs:
    """The place of every entry of packed rows, dense matrices and vectors on a tree in limbs of the same shape."""
    places = _nodes(tree, [0] * tree.n)
    if not any(places):
        return {}
    rows = [(i, d) for i, depth in enumerate(tree.depths.tolist()) for d in range(depth)]
    packed = [_inside(places[i], d) for i, d in rows]
    dense: list[Place | None] = [None] * tree.n**2
    for (i, _), j, place in zip(rows, tree.packed_paths.tolist(), packed, strict=True):
        dense[i * tree.n + j - 1] = place
        dense[(j - 1) * tree.n + i] = _inside(place, -1)
    known = {"packed": packed, "H": dense, "b": places, "x": places}
    return {name: known[name] for name in inputs if name in known}


def _inside(place: Place | None, k: int) -> Place | None:
    return None if place is None else place._replace(where=(place.where, k))


def _bodies(mechanism: Mechanism) -> list[Place | None]:
    """The place of each body: siblings whose subtrees have the same shape, with joints of the same kinds, are limbs."""
    return _nodes(mechanism.tree, mechanism.kinds)


def _nodes(tree: Tree, kinds: Sequence[Hashable]) -> list[Place | None]:
    """The place of each node: siblings whose subtrees have the same shape, with nodes of the same kinds, are limbs."""
    children: list[list[int]] = [[] for _ in range(tree.n + 1)]
    for body, parent in enumerate(tree.parents, start=1):
        children[parent].append(body)
    shapes: dict[Hashable, int] = {}
    shape = [0] * (tree.n + 1)
    for body in range(tree.n, 0, -1):
        described = (kinds[body - 1], tuple(shape[child] for child in children[body]))
        shape[body] = shapes.setdefault(described, len(shapes))
    places: list[Place | None] = [None] * tree.n
    trunk, groups = [0], 0
    for body in trunk:
        for one in dict.fromkeys(shape[child] for child in children[body]):
            alike = [child for child in children[body] if shape[child] == one]
            if len(alike) == 1:
                trunk.append(alike[0])
                continue
            for limb, root in enumerate(alike):
                for where, member in enumerate(_below(root, children)):
                    places[member - 1] = Place(groups, limb, where)
            groups += 1
    return places


def _below(root: int, children: list[list[int]]) -> Iterator[int]:
    """A body and all beyond it, always in the same order for the same shape."""
    stack = [root]
    while stack:
        body = stack.pop()
        yield body
        stack += children[body]
