"""Models on the papers' trees, with general geometry and general inertia.

All joints are revolute about z of their own frames, except the free joint of a floating base. Placements are general
(no two axes parallel, perpendicular or meeting) unless Denavit-Hartenberg frames are asked for, and so are inertias, so
no zeros but those of the branches occur. Dimensions are those of a machine of human size; the numbers come from a fixed
rule and are the same everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from bough.errors import TreeError
from bough.model.arguments import rotation_from_rpy
from bough.model.builder import Builder
from bough.model.joints import Free, Joint, Revolute
from bough.model.model import BASE, Model
from bough.reading import kind_of, listed, truth, whole_number
from bough.tree import Tree, named
from bough.tree.costs import crba_split

__all__ = ["balanced_tree", "chain", "grid", "humanoid", "humanoid_chain", "on_tree", "side_branch_chain", "star"]


def chain(n: int) -> Model:
    """An unbranched chain of n bodies on revolute joints."""
    return on_tree(named.chain(n), f"chain {n}")


def side_branch_chain(m: int, length: int = 1) -> Model:
    """A chain of m bodies, each with a side branch of `length` bodies."""
    return on_tree(named.side_branch_chain(m, length), f"chain {m} with side branches")


def balanced_tree(levels: int, arity: int = 2) -> Model:
    """A balanced tree with `arity` branches at each body (default: two)."""
    return on_tree(named.balanced_tree(levels, arity), f"balanced tree of {levels} levels")


def grid(m: int) -> Model:
    """The spanning tree of an m x m grid."""
    return on_tree(named.grid(m), f"spanning tree of a {m} x {m} grid")


def star(n: int) -> Model:
    """A star: n bodies, each on the base."""
    return on_tree(named.star(n), f"star {n}")


def humanoid(*, dh: bool = False) -> Model:
    """The 30-DoF humanoid of the papers: a free torso with four limbs of six revolute joints."""
    return on_tree(named.humanoid(), "humanoid", floating=(1,), dh=dh)


def humanoid_chain(*, dh: bool = False) -> Model:
    """The 30-DoF chain that the papers compare the humanoid with: a free base and 24 revolute joints in a row."""
    return on_tree(named.humanoid_chain(), "humanoid's chain", floating=(1,), dh=dh)


def on_tree(tree: Tree, name: str = "mechanism", *, floating: Collection[int] = (), dh: bool = False) -> Model:
    """A model with general geometry on any tree.

    Parameters
    ----------
    tree
        The tree of bodies.
    name
        Name of the model.
    floating
        Bodies on free joints. All others are on revolute joints.
    dh
        Whether the placement of one child of each body (the one that the papers choose) is a Denavit-Hartenberg
        placement: a screw about x, and for the child of a floating base only the joint itself.
    """
    if not isinstance(tree, Tree):
        raise TreeError(f"tree is {kind_of(tree)}, expected a bough.trees.Tree")
    floating = [
        whole_number(i, "a body in floating", least=1, most=tree.n, error=TreeError)
        for i in listed(floating, "floating", "numbers of bodies", TreeError)
    ]
    dh = truth(dh, "dh", TreeError)
    builder = Builder(name)
    names = [BASE]
    chosen = crba_split(tree, floating).dh if dh else frozenset()
    free, revolute = Free(), Revolute("z")
    for i, parent in enumerate(tree.parents, start=1):
        joint: Joint = free if i in floating else revolute
        names.append(f"body {i}")
        at, rotation = _placement(i)
        if i in chosen:
            at, rotation = _dh_placement(i)
            if parent in floating:
                at, rotation = (0.0, 0.0, 0.0), np.eye(3)
        mass, com, inertia = _inertia(i)
        builder.add(
            names[i], joint, names[parent], joint_name=f"joint {i}", at=at, rotation=rotation, mass=mass, com=com,
            inertia=inertia,
        )  # fmt: skip
    return builder.build()


def _scatter(i: int, k: int) -> float:
    """A number in (-1, 1) that looks random and is the same on every machine (multiples of the golden ratio)."""
    return 2.0 * math.modf((7 * i + k) * 0.6180339887498949)[0] - 1.0


def _placement(i: int) -> tuple[tuple[float, ...], NDArray[np.float64]]:
    at = tuple(0.2 + 0.1 * _scatter(i, k) for k in range(3))
    return at, rotation_from_rpy(*(0.4 + 0.9 * _scatter(i, k) for k in (3, 4, 5)))


def _dh_placement(i: int) -> tuple[tuple[float, ...], NDArray[np.float64]]:
    """A screw about x: shift along it, turn about it. The joint's own displacement along z lies beyond the turn."""
    length, offset, turn = 0.2 + 0.1 * _scatter(i, 0), 0.1 * _scatter(i, 1) + 0.15, 0.4 + 0.9 * _scatter(i, 3)
    c, s = math.cos(turn), math.sin(turn)
    return (length, -s * offset, c * offset), np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def _inertia(i: int) -> tuple[float, tuple[float, ...], list[list[float]]]:
    mass = 2.0 + _scatter(i, 6)
    com = tuple(0.1 * _scatter(i, k) + 0.02 for k in (7, 8, 9))
    R = rotation_from_rpy(*(0.5 + _scatter(i, k) for k in (10, 11, 12))).tolist()
    # moments of a box with unequal sides
    aa, bb, cc = ((0.05 + 0.02 * (1 + _scatter(i, k))) ** 2 for k in (13, 14, 15))
    p, q, r = mass * (bb + cc) / 3.0, mass * (aa + cc) / 3.0, mass * (aa + bb) / 3.0
    return mass, com, [[x * u * p + y * v * q + z * w * r for x, y, z in R] for u, v, w in R]
