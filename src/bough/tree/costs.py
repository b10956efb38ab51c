"""Closed-form costs of the dynamics of a tree, from Featherstone 2005, sections 4 to 6.

A cost is a dict {"mul": .., "add": .., "div": .., "sqrt": ..} of operation counts; subtractions count as additions.
Factorisation costs want the tree of single degrees of freedom (`Tree.expand`), CRBA costs the tree of bodies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from bough.errors import TreeError, UnknownNameError
from bough.tree import named
from bough.tree.numbering import is_whole
from bough.tree.tree import Tree

__all__ = [
    "FACTORISATIONS",
    "OPERATIONS",
    "TABLE2",
    "Cost",
    "CrbaSplit",
    "Topology",
    "aba_cost",
    "combine",
    "crba_cost",
    "crba_split",
    "dense_ratio",
    "divisions_as_products",
    "factorization_cost",
    "forward_dynamics_cost",
    "operation_cost",
    "rnea_cost",
    "table1",
]

Cost: TypeAlias = dict[str, int]


def _cost(mul: int = 0, add: int = 0, div: int = 0, sqrt: int = 0) -> Cost:
    return {"mul": mul, "add": add, "div": div, "sqrt": sqrt}


def combine(*terms: tuple[int, Mapping[str, int]]) -> Cost:
    """Sum of costs, each given with how often it occurs: `combine((2, a), (-1, b))`."""
    total = _cost()
    for times, cost in terms:
        for operation, count in cost.items():
            total[operation] += times * count
    return total


def divisions_as_products(cost: Mapping[str, int]) -> Cost:
    """Cost with each division counted as a multiplication, as section 6 does."""
    return _cost(mul=cost["mul"] + cost["div"], add=cost["add"], sqrt=cost["sqrt"])


# ---- factorisation (table 1) -------------------------------------------------------------------------------------

FACTORISATIONS: Final = ("ltl", "ltdl", "udut", "uut")
OPERATIONS: Final = ("factorize", "solve", "mul_L", "mul_Lt", "solve_L", "solve_Lt")
SUBSTITUTIONS: Final = ("forward", "backward")
"""The two parts of "solve" in Shimanovsky's table 1: U D w = x, and then Uᵀ y = w."""


def operation_cost(tree: Tree, operation: str, kind: str) -> Cost:
    """Cost of one operation with a sparse factorisation, an entry of table 1.

    Parameters
    ----------
    tree
        Tree of single degrees of freedom.
    operation
        "factorize"; "solve": both substitutions for one right-hand side; "mul_L", "mul_Lt", "solve_L", "solve_Lt":
        L x, its transpose, and their inverses on one vector; "forward", "backward": the two halves of "solve".
    kind
        "ltl", "ltdl", or, with L the transpose of U, "uut" and "udut", which cost what "ltl" and "ltdl" do.
    """
    if kind not in FACTORISATIONS:
        raise UnknownNameError("factorisation", kind, FACTORISATIONS)
    if operation not in (*OPERATIONS, *SUBSTITUTIONS):
        raise UnknownNameError("operation", operation, (*OPERATIONS, *SUBSTITUTIONS))
    n, d1, d2 = tree.n, tree.D1, tree.D2
    diagonal = n if kind in ("ltl", "uut") else 0  # a unit triangular factor needs no work on its diagonal
    if operation == "factorize":
        return _cost(sqrt=diagonal, div=d1, mul=d2, add=d2)
    if operation == "solve":
        return _cost(div=n + diagonal, mul=2 * d1, add=2 * d1)
    if operation == "forward":
        return _cost(div=n, mul=d1, add=d1)
    if operation in ("mul_L", "mul_Lt"):
        return _cost(mul=diagonal + d1, add=d1)
    return _cost(div=diagonal, mul=d1, add=d1)


def factorization_cost(tree: Tree, kind: str) -> Cost:
    """Cost of factorising H on a tree of single degrees of freedom; kind is one of `FACTORISATIONS`."""
    return operation_cost(tree, "factorize", kind)


def table1(tree: Tree) -> dict[tuple[str, str], Cost]:
    """Table 1 for a tree of single degrees of freedom, keyed by (operation, "ltl" or "ltdl")."""
    return {(name, kind): operation_cost(tree, name, kind) for name in OPERATIONS for kind in ("ltl", "ltdl")}


def dense_ratio(tree: Tree) -> float:
    """How many times cheaper LTDL is on this tree than on a dense matrix, counting D1 + 2 D2 operations."""
    dense = sum(factorization_cost(named.chain(tree.n), "ltdl").values())
    sparse = sum(factorization_cost(tree, "ltdl").values())
    if sparse == 0:
        return 1.0 if dense == 0 else math.inf
    return dense / sparse


# ---- topologies (table 2) ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Topology:
    """A family of trees with its size and cost numbers as functions of one integer m; a row of table 2."""

    name: str
    build: Callable[[int], Tree]
    n: Callable[[int], int]
    D1: Callable[[int], int]
    D2: Callable[[int], int]
    order: str


TABLE2: Final[tuple[Topology, ...]] = (
    Topology(
        "unbranched",
        named.chain,
        n=lambda m: m,
        D1=lambda m: (m**2 - m) // 2,
        D2=lambda m: (m**3 - m) // 6,
        order="n^3",
    ),
    Topology(
        "short side branches",
        named.side_branch_chain,
        n=lambda m: 2 * m,
        D1=lambda m: m**2,
        D2=lambda m: (2 * m**3 + 3 * m**2 + m) // 6,
        order="n^3",
    ),
    Topology(
        "balanced tree",
        named.balanced_tree,
        n=lambda m: 2**m - 1,
        D1=lambda m: sum(i * 2**i for i in range(1, m)),
        D2=lambda m: sum(i * (i + 1) * 2 ** (i - 1) for i in range(1, m)),
        order="n log(n)^2",
    ),
    Topology(
        "span grid",
        named.grid,
        n=lambda m: m**2,
        D1=lambda m: m**3 - m**2,
        D2=lambda m: (7 * m**4 - 6 * m**3 - m**2) // 12,
        order="n^2",
    ),
)


# ---- composite rigid-body algorithm (section 5) ------------------------------------------------------------------

RIGID_BODY_ADD: Final[Mapping[str, int]] = _cost(add=10)  # ra, before eq. 17
# DH nodes: McMillan and Orin 1995a, table II, with 15m + 15a for a screw transform.
RIGID_BODY_TRANSFORM_DH: Final[Mapping[str, int]] = _cost(mul=32, add=33)
VECTOR_TRANSFORM_DH: Final[Mapping[str, int]] = _cost(mul=20, add=12)
# Other nodes: three axial screws (McMillan and Orin 1995a); Featherstone 1987, table 8-3.
RIGID_BODY_TRANSFORM: Final[Mapping[str, int]] = _cost(mul=47, add=48)
VECTOR_TRANSFORM: Final[Mapping[str, int]] = _cost(mul=24, add=18)
# Saved at a DH node on a floating base, where three parameters vanish: McMillan and Orin 1995b.
RIGID_BODY_TRANSFORM_SAVED: Final[Mapping[str, int]] = _cost(mul=18, add=21)
VECTOR_TRANSFORM_SAVED: Final[Mapping[str, int]] = _cost(mul=12, add=8)


@dataclass(frozen=True)
class CrbaSplit:
    """D0 and D1 split over DH nodes (a) and other nodes (b), and the DH nodes on a floating base (c) (eq. 19).

    `dh` and `non_dh` list all bodies, in number order; those directly on the base enter no D number. Their counts
    follow eq. 17, in which the base is a node like any other.
    """

    D0a: int
    D1a: int
    D0b: int
    D1b: int
    D0c: int
    D1c: int
    dh: tuple[int, ...]
    non_dh: tuple[int, ...]


def crba_split(tree: Tree, floating: Collection[int] = ()) -> CrbaSplit:
    """Split the CRBA's work by the kind of its coordinate transforms, for the cheapest choice of DH nodes.

    One child of each node can have Denavit-Hartenberg parameters. The child with the largest subtree is chosen, the
    first of equals, which maximises D1a.

    Parameters
    ----------
    tree
        Tree of bodies; all joints revolute, except those of `floating`.
    floating
        Bodies on the base by a 6-DoF joint.
    """
    bases = _floating_bases(tree, floating)
    size = [0, *tree.subtree_sizes.tolist()]
    chosen = [0] * (tree.n + 1)
    for body, parent in enumerate(tree.parents, 1):
        if size[body] > size[chosen[parent]]:
            chosen[parent] = body
    nodes_a: list[int] = []  # subtree sizes of the nodes in each set
    nodes_b: list[int] = []
    nodes_c: list[int] = []
    dh: list[int] = []
    non_dh: list[int] = []
    for body, parent in enumerate(tree.parents, 1):
        is_dh = chosen[parent] == body
        (dh if is_dh else non_dh).append(body)
        if parent:
            (nodes_a if is_dh else nodes_b).append(size[body])
        if is_dh and parent in bases:
            nodes_c.append(size[body])
    return CrbaSplit(
        len(nodes_a), sum(nodes_a), len(nodes_b), sum(nodes_b), len(nodes_c), sum(nodes_c), tuple(dh), tuple(non_dh)
    )


def crba_cost(split: CrbaSplit) -> Cost:
    """Cost of the mass matrix by the composite rigid-body algorithm (eq. 21)."""
    return combine(
        (split.D0a + split.D0b, RIGID_BODY_ADD),
        (split.D0a, RIGID_BODY_TRANSFORM_DH),
        (split.D1a, VECTOR_TRANSFORM_DH),
        (split.D0b, RIGID_BODY_TRANSFORM),
        (split.D1b, VECTOR_TRANSFORM),
        (-split.D0c, RIGID_BODY_TRANSFORM_SAVED),
        (-split.D1c, VECTOR_TRANSFORM_SAVED),
    )


# ---- the other algorithms (section 6) ----------------------------------------------------------------------------

# RNEA: Balafoutis, Patel and Misra 1988, algorithm 3, on a fixed-base chain, and the corrections of section 6.
RNEA_PER_BODY: Final[Mapping[str, int]] = _cost(mul=93, add=81)
RNEA_SAVED: Final[Mapping[str, int]] = _cost(mul=69, add=66)
RNEA_PER_FLOATING_BASE: Final[Mapping[str, int]] = _cost(mul=7, add=13)
RNEA_PER_NON_DH: Final[Mapping[str, int]] = _cost(mul=4, add=8)
# ABA: McMillan and Orin 1995b, table II, on a chain with a floating base; the correction is section 6's.
ABA_PER_JOINT: Final[Mapping[str, int]] = _cost(mul=224, add=205)
ABA_SAVED: Final[Mapping[str, int]] = _cost(mul=30, add=37)
ABA_PER_NON_DH: Final[Mapping[str, int]] = _cost(mul=66, add=57)


def rnea_cost(n: int, non_dh: int = 0, floating: int = 0) -> Cost:
    """Cost of inverse dynamics by the recursive Newton-Euler algorithm.

    Parameters
    ----------
    n
        Number of bodies, those with a 6-DoF joint included; at least 1.
    non_dh
        Number of bodies without Denavit-Hartenberg parameters.
    floating
        Number of bodies on the base by a 6-DoF joint.
    """
    _require_counts(1, n=n)
    _require_counts(0, non_dh=non_dh, floating=floating)
    return combine((n, RNEA_PER_BODY), (-1, RNEA_SAVED), (non_dh, RNEA_PER_NON_DH), (floating, RNEA_PER_FLOATING_BASE))


def aba_cost(n: int, non_dh: int = 0) -> Cost:
    """Cost of forward dynamics by the articulated-body algorithm, for a mechanism with a floating base.

    Parameters
    ----------
    n
        Number of revolute joints (bodies less the floating base); at least 1.
    non_dh
        Number of bodies without Denavit-Hartenberg parameters.
    """
    _require_counts(1, n=n)
    _require_counts(0, non_dh=non_dh)
    return combine((n, ABA_PER_JOINT), (-1, ABA_SAVED), (non_dh, ABA_PER_NON_DH))


def forward_dynamics_cost(tree: Tree, floating: Collection[int] = ()) -> Cost:
    """Cost of forward dynamics by RNEA, CRBA, LTDL and back-substitution, divisions counted as multiplications.

    Parameters
    ----------
    tree
        Tree of bodies; all joints revolute, except those of `floating`.
    floating
        Bodies on the base by a 6-DoF joint.
    """
    bases = _floating_bases(tree, floating)
    split = crba_split(tree, bases)
    expanded = tree.expand([6 if body in bases else 1 for body in range(1, tree.n + 1)])
    total = combine(
        (1, rnea_cost(tree.n, len(split.non_dh), len(bases))),
        (1, crba_cost(split)),
        (1, operation_cost(expanded, "factorize", "ltdl")),
        (1, operation_cost(expanded, "solve", "ltdl")),
    )
    return divisions_as_products(total)


def _floating_bases(tree: Tree, floating: Collection[int]) -> frozenset[int]:
    for body in floating:
        if tree.parent(body) != 0:
            raise TreeError(f"body {body} has parent {tree.parent(body)}; a floating base must be on the base, 0")
    return frozenset(floating)


def _require_counts(least: int, **counts: object) -> None:
    for name, value in counts.items():
        if not is_whole(value) or value < least:
            raise TreeError(f"{name} is {value!r}, expected an integer of at least {least}")
