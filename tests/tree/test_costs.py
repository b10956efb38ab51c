"""Closed-form costs against the numbers printed in the papers, and against brute force on small trees."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given

from bough.errors import TreeError, UnknownNameError
from bough.tree import Tree, costs, named
from tree_strategies import trees

HUMANOID = named.humanoid()
CHAIN = named.humanoid_chain()


def printed(mul: int = 0, add: int = 0, div: int = 0, sqrt: int = 0) -> costs.Cost:
    return {"mul": mul, "add": add, "div": div, "sqrt": sqrt}


# ---- table 1 -----------------------------------------------------------------------------------------------------


def test_table_1_on_tree_1() -> None:
    table = costs.table1(Tree((0, 1, 1, 2, 2, 3, 3)))  # n = 7, D1 = 10, D2 = 14
    assert table == {
        ("factorize", "ltl"): printed(sqrt=7, div=10, mul=14, add=14),
        ("factorize", "ltdl"): printed(div=10, mul=14, add=14),
        ("solve", "ltl"): printed(div=14, mul=20, add=20),
        ("solve", "ltdl"): printed(div=7, mul=20, add=20),
        ("mul_L", "ltl"): printed(mul=17, add=10),
        ("mul_L", "ltdl"): printed(mul=10, add=10),
        ("mul_Lt", "ltl"): printed(mul=17, add=10),
        ("mul_Lt", "ltdl"): printed(mul=10, add=10),
        ("solve_L", "ltl"): printed(div=7, mul=10, add=10),
        ("solve_L", "ltdl"): printed(mul=10, add=10),
        ("solve_Lt", "ltl"): printed(div=7, mul=10, add=10),
        ("solve_Lt", "ltdl"): printed(mul=10, add=10),
    }


@given(trees(9))
def test_factorisation_counted_by_running_it(tree: Tree) -> None:
    div = update = 0
    for k in range(tree.n, 0, -1):
        i = tree.parent(k)
        while i:
            div += 1
            j = i
            while j:
                update += 1
                j = tree.parent(j)
            i = tree.parent(i)
    for kind in ("ltdl", "udut"):
        assert costs.factorization_cost(tree, kind) == printed(div=div, mul=update, add=update)
    assert costs.factorization_cost(tree, "ltl") == printed(div=div, mul=update, add=update, sqrt=tree.n)


@pytest.mark.parametrize(
    ("tree", "factorize", "solve"),
    [(HUMANOID, (1258, 1039), (468, 438)), (CHAIN, (4930, 4495), (900, 870))],
    ids=["humanoid", "chain"],
)
def test_section_6_factorisation(tree: Tree, factorize: tuple[int, int], solve: tuple[int, int]) -> None:
    expanded = tree.expand(named.HUMANOID_DOFS)
    for operation, (mul, add) in (("factorize", factorize), ("solve", solve)):
        cost = costs.operation_cost(expanded, operation, "ltdl")
        assert costs.divisions_as_products(cost) == printed(mul=mul, add=add)


# ---- table 2 -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", costs.TABLE2, ids=lambda row: row.name)
@pytest.mark.parametrize("m", [0, 1, 2, 3, 4, 5, 7, 8, 10])
def test_table_2(row: costs.Topology, m: int) -> None:
    tree = row.build(m)
    assert (tree.n, tree.D1, tree.D2) == (row.n(m), row.D1(m), row.D2(m))


@pytest.mark.parametrize(
    ("tree", "n", "ratio"),
    [
        (named.balanced_tree(4), 15, 7.75),
        (named.balanced_tree(8), 255, 434),
        (named.grid(4), 16, 5.29),
        (named.grid(16), 256, 73.9),
    ],
)
def test_ratios_to_dense(tree: Tree, n: int, ratio: float) -> None:
    assert tree.n == n
    assert float(f"{costs.dense_ratio(tree):.3g}") == ratio


def test_rule_of_thumb() -> None:
    assert round(named.balanced_tree(4).density, 2) == 0.37
    assert round(named.grid(4).density, 2) == 0.44
    assert costs.dense_ratio(named.chain(9)) == costs.dense_ratio(named.star(1)) == 1.0
    assert costs.dense_ratio(named.star(3)) == float("inf")


# ---- composite rigid bodies --------------------------------------------------------------------------------------


def numbers(split: costs.CrbaSplit) -> tuple[int, ...]:
    return (split.D0a, split.D1a, split.D0b, split.D1b, split.D0c, split.D1c)


def test_section_6_mass_matrix() -> None:
    split = costs.crba_split(HUMANOID, {1})
    assert numbers(split) == (21, 66, 3, 18, 1, 6)
    assert split.non_dh == (8, 14, 20)
    assert len(split.dh) == 22
    assert costs.crba_cost(split) == printed(mul=2475, add=2124)
    split = costs.crba_split(CHAIN, {1})
    assert numbers(split) == (24, 300, 0, 0, 1, 24)
    assert split.non_dh == ()
    assert costs.crba_cost(split) == printed(mul=6462, add=4419)


def test_fixed_base_saves_nothing() -> None:
    split = costs.crba_split(HUMANOID)
    assert numbers(split) == (21, 66, 3, 18, 0, 0)
    assert costs.crba_cost(split) == printed(mul=2475 + 18 + 6 * 12, add=2124 + 21 + 6 * 8)
    assert costs.crba_cost(costs.crba_split(named.star(5))) == printed()


def test_only_the_dh_child_of_each_floating_base_is_saved() -> None:
    tree = Tree((0, 0, 1, 1, 4, 2, 6))
    split = costs.crba_split(tree, [1, 2])
    assert split.non_dh == (2, 3)  # the base, too, has one DH child
    assert numbers(split) == (4, 2 + 1 + 2 + 1, 1, 1, 2, 4)
    assert numbers(costs.crba_split(tree, [2]))[4:] == (1, 2)


@given(trees(9))
def test_dh_choice_is_the_best_of_all(tree: Tree) -> None:
    split = costs.crba_split(tree)
    families = [tree.children(i) for i in range(tree.n + 1) if tree.children(i)]
    best = 0
    for choice in product(*families):
        best = max(best, sum(len(tree.subtree(i)) for i in choice if tree.parent(i)))
    assert split.D1a == best
    assert split.D0a + split.D0b == tree.D0
    assert split.D1a + split.D1b == tree.D1
    assert len(split.non_dh) == sum(len(family) - 1 for family in families)
    assert sorted(split.dh + split.non_dh) == list(range(1, tree.n + 1))


# ---- whole algorithms --------------------------------------------------------------------------------------------


def test_section_6_inverse_dynamics() -> None:
    assert costs.rnea_cost(25, non_dh=3, floating=1) == printed(mul=2275, add=1996)
    assert costs.rnea_cost(25, floating=1) == printed(mul=2263, add=1972)
    assert costs.rnea_cost(6) == printed(mul=93 * 6 - 69, add=81 * 6 - 66)


def test_section_6_forward_dynamics() -> None:
    assert costs.forward_dynamics_cost(HUMANOID, {1}) == printed(mul=6476, add=5597)
    assert costs.forward_dynamics_cost(CHAIN, {1}) == printed(mul=14555, add=11756)
    assert costs.aba_cost(24, non_dh=3) == printed(mul=5544, add=5054)
    assert costs.aba_cost(24) == printed(mul=5346, add=4883)


def test_headline_ratios() -> None:
    def both(cost: costs.Cost) -> int:
        return cost["mul"] + cost["add"]

    humanoid = costs.forward_dynamics_cost(HUMANOID, {1})
    chain = costs.forward_dynamics_cost(CHAIN, {1})
    assert round(both(chain) / both(humanoid), 2) == 2.18
    assert round(chain["mul"] / humanoid["mul"], 2) == 2.25
    assert round(both(humanoid) / both(costs.aba_cost(24, 3)), 2) == 1.14
    assert round(humanoid["mul"] / costs.aba_cost(24, 3)["mul"], 2) == 1.17
    assert round(both(chain) / both(costs.aba_cost(24)), 1) == 2.6


# ---- refused input -----------------------------------------------------------------------------------------------


def test_refused_names() -> None:
    with pytest.raises(UnknownNameError, match=r"did you mean .*'ltdl'"):
        costs.factorization_cost(HUMANOID, "ldtl")
    with pytest.raises(UnknownNameError, match="solve_L"):
        costs.operation_cost(HUMANOID, "solve_l", "ltl")


@pytest.mark.parametrize(("floating", "message"), [([3], "body 3 has parent 2"), ([0], "no body 0"), ([26], "no body")])
def test_refused_floating_bases(floating: Any, message: str) -> None:
    with pytest.raises(TreeError, match=message):
        costs.crba_split(HUMANOID, floating)
    with pytest.raises(TreeError, match=message):
        costs.forward_dynamics_cost(HUMANOID, floating)


def test_refused_counts() -> None:
    for n in (0, -1, 2.0, True):
        with pytest.raises(TreeError, match=f"n is {n!r}, expected an integer of at least 1"):
            costs.rnea_cost(n)  # type: ignore[arg-type]
        with pytest.raises(TreeError, match="n is"):
            costs.aba_cost(n)  # type: ignore[arg-type]
    with pytest.raises(TreeError, match="non_dh is -1"):
        costs.aba_cost(3, -1)
    with pytest.raises(TreeError, match="floating is 'x'"):
        costs.rnea_cost(3, 0, "x")  # type: ignore[arg-type]
