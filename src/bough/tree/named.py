"""Trees with a name: the topologies of the papers, and a few that every test wants.

All are regularly numbered and depend on small integers only; 0 bodies is legal where it makes sense.
"""

from __future__ import annotations

from typing import Final

from bough.errors import TreeError
from bough.reading import shown
from bough.tree.numbering import is_whole
from bough.tree.tree import Tree

__all__ = [
    "HUMANOID_DOFS",
    "balanced_tree",
    "chain",
    "grid",
    "humanoid",
    "humanoid_chain",
    "side_branch_chain",
    "star",
]

LIMBS: Final = 4
LIMB_JOINTS: Final = 6

# Degrees of freedom of the joints of `humanoid` and `humanoid_chain`: a free first body, revolute joints elsewhere.
HUMANOID_DOFS: Final[tuple[int, ...]] = (6,) + (1,) * (LIMBS * LIMB_JOINTS)


MOST_NODES = 10**8
"""More bodies fit into no memory."""


def chain(n: int) -> Tree:
    """Unbranched chain of n bodies."""
    return Tree(range(_at_least(0, "n", n)))


def star(n: int) -> Tree:
    """Forest of n bodies, each directly on the base."""
    return Tree((0,) * _at_least(0, "n", n))


def side_branch_chain(m: int, length: int = 1) -> Tree:
    """Chain of m bodies, each of which also carries a side branch of `length` bodies (Featherstone 2005, fig. 4a).

    Has m (1 + length) bodies; each body of the main chain is followed by its side branch.
    """
    _at_least(0, "m", m)
    _at_least(0, "length", length)
    parents: list[int] = []
    spine = 0
    for _ in range(m):
        parents.append(spine)
        spine = len(parents)
        parents.extend(range(spine, spine + length))
    return Tree(parents)


def balanced_tree(levels: int, arity: int = 2) -> Tree:
    """Tree with one body on the base and `arity` children on every body above the last level (fig. 4b).

    Level k has arity^(k - 1) bodies, all of depth k; bodies are numbered level by level.
    """
    _at_least(0, "levels", levels)
    _at_least(1, "arity", arity)
    n = sum(arity**k for k in range(levels))
    return Tree([0, *((body - 2) // arity + 1 for body in range(2, n + 1))][:n])


def grid(m: int) -> Tree:
    """Spanning tree of an m x m grid by shortest paths from the corner that is on the base (fig. 4c).

    Bodies are numbered row by row. The first column is a chain and each row hangs on it, so m - |k - m| bodies have
    depth k, for k = 1..2m - 1.
    """
    _at_least(0, "m", m)
    parents: list[int] = []
    for row in range(m):
        first = row * m + 1
        parents.append(max(0, first - m))
        parents.extend(range(first, first + m - 1))
    return Tree(parents)


def humanoid() -> Tree:
    """25 bodies: a torso, then four limbs of six joints each, limb by limb (fig. 6); joints as in `HUMANOID_DOFS`."""
    parents = [0]
    for _ in range(LIMBS):
        first = len(parents) + 1
        parents.append(1)
        parents.extend(range(first, first + LIMB_JOINTS - 1))
    return Tree(parents)


def humanoid_chain() -> Tree:
    """As many bodies as `humanoid` has, unbranched; joints as in `HUMANOID_DOFS`."""
    return chain(len(HUMANOID_DOFS))


def _at_least(least: int, name: str, value: object) -> int:
    if not is_whole(value) or not least <= value <= MOST_NODES:
        raise TreeError(f"{name} is {shown(value)}, expected an integer of at least {least}, and at most {MOST_NODES}")
    return int(value)
