"""Tree scans: order, what is passed and kept, and the same results on floats, unrolled and rolled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bough.program import Loop, evaluate, trace, walk
from bough.scalar import Index, Scalar, Table, array, gather
from bough.tree import Tree
from bough.tree.scans import Kept, ancestors, inward, outward
from tree_strategies import trees


@dataclass(frozen=True)
class Body:
    index: Index
    kind: int
    is_root: bool
    is_leaf: bool
    colour: int
    masses: Table

    @property
    def mass(self) -> Scalar:
        return gather(self.masses, self.index)


class Bodies:
    """A tree whose bodies have a colour, which changes what they do, and a mass, which does not."""

    def __init__(self, tree: Tree, colours: list[int]) -> None:
        self.tree = tree
        self.masses = Table("masses", np.linspace(1.0, 2.0, tree.n))
        leaves, roots = set(tree.leaves), set(tree.roots)
        facts = [(i in roots, i in leaves, colours[i - 1]) for i in range(1, tree.n + 1)]
        self.facts = sorted(set(facts))
        self.kinds = tuple(self.facts.index(fact) for fact in facts)

    def record(self, kind: int, index: Index) -> Body:
        return Body(index, kind, *self.facts[kind], self.masses)


@st.composite
def structures(draw: st.DrawFn) -> Bodies:
    tree = draw(trees(9))
    return Bodies(tree, [draw(st.integers(0, 1)) for _ in range(tree.n)])


def positions(bodies: Bodies, x: Any) -> Kept[Any]:
    """Outward: a body's value is its parent's plus its input, times its mass; what is kept depends on the colour."""

    def rule(body: Body, parent: Any) -> Any:
        value, depth = parent
        value = (value + x[body.index]) * body.mass
        return (value, depth + 1.0), ((value, (depth, 2.0)) if body.colour else value)

    return outward(bodies, rule, (1.0, 0.0))


def algorithm(bodies: Bodies) -> Any:
    """All scans, one using what another kept."""

    def run(x: Any) -> dict[str, Any]:
        tree = bodies.tree
        kept, totals, sums, climbs = positions(bodies, x), array(tree.n), array(tree.n), array(tree.n)

        def value(body: Body) -> Any:
            return kept[body][0] if body.colour else kept[body]

        def gathered(body: Body, children: Any) -> Any:
            total = children[0] + value(body)
            totals[body.index] = total
            return (None if body.is_root else (total, children[1] - body.mass)), (children[1],)

        below = inward(bodies, gathered, (0.0, 0.0))

        def climb(body: Body, _: Any) -> Any:
            sums[body.index] = below[body][0]
            climbs[body.index] = ancestors(bodies, body, lambda a, carry: carry * 0.5 + value(a), x[body.index])
            return None, None

        outward(bodies, climb, None)
        return {"totals": totals, "sums": sums, "climbs": climbs}

    return run


def by_hand(bodies: Bodies, x: list[float]) -> dict[str, list[float]]:
    """The same from the definitions, body by body."""
    tree, mass = bodies.tree, bodies.masses.data.tolist()
    value: dict[int, float] = {0: 1.0}
    for i in range(1, tree.n + 1):
        value[i] = (value[tree.parent(i)] + x[i - 1]) * mass[i - 1]
    totals, sums, climbs = [], [], []
    for i in range(1, tree.n + 1):
        totals.append(sum(value[j] for j in tree.subtree(i)))
        sums.append(-sum(mass[j - 1] for j in tree.subtree(i) if j != i))
        carry = x[i - 1]
        for j in tree.ancestors(i):
            carry = carry * 0.5 + value[j]
        climbs.append(carry)
    return {"totals": totals, "sums": sums, "climbs": climbs}


@given(structures())
def test_scans_mean_what_they_say(bodies: Bodies) -> None:
    x = np.linspace(-1.0, 1.5, bodies.tree.n).tolist()
    expected = by_hand(bodies, x)
    for name, values in algorithm(bodies)(x).items():
        np.testing.assert_allclose(list(values), expected[name], rtol=1e-13, atol=1e-13)


@given(structures())
def test_the_same_when_traced(bodies: Bodies) -> None:
    x = np.linspace(-1.0, 1.5, bodies.tree.n).tolist()
    plain = {name: list(values) for name, values in algorithm(bodies)(x).items()}
    for rolled in (False, True):
        program = trace("scans", algorithm(bodies), {"x": bodies.tree.n}, rolled=rolled)
        assert evaluate(program, {"x": x}) == plain
        if rolled and bodies.tree.n:
            loops = [y for y in walk(program.body) if isinstance(y, Loop)]
            assert len(loops) >= 4  # three scans, and the ancestors for each kind


@given(structures())
def test_order(bodies: Bodies) -> None:
    seen: list[int] = []

    def note(body: Body, _: Any) -> Any:
        seen.append(body.index + 1)  # type: ignore[arg-type]
        return (), None

    n = bodies.tree.n
    outward(bodies, note, ())
    inward(bodies, note, ())
    order = bodies.tree.depth_first()[1].tolist()
    assert seen == [*order, *reversed(order)]
    for i in range(1, n + 1):
        climbed: tuple[int, ...] = ancestors(
            bodies, bodies.record(bodies.kinds[i - 1], i - 1), lambda a, c: (*c, a.index + 1), ()
        )
        assert climbed == bodies.tree.ancestors(i)


def test_a_rule_is_recorded_once_per_kind() -> None:
    traced: list[tuple[int, bool]] = []

    def run(x: Any) -> dict[str, Any]:
        def rule(body: Body, parent: Any) -> Any:
            traced.append((body.kind, isinstance(body.index, int)))
            return (parent[0] + x[body.index],), None

        outward(Bodies(Tree(range(40)), [0] * 40), rule, (0.0,))
        return {"y": [0.0]}

    trace("once", run, {"x": 40}, rolled=True)
    assert traced == [(0, False), (1, False), (2, False)]  # inner bodies, the tip, the root
    traced.clear()
    trace("often", run, {"x": 40})
    assert len(traced) == 40
