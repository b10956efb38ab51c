"""Tables 1 and 2, figure 5 and Shimanovsky's ratios: the cost of factorising, formulas and counts."""

from __future__ import annotations

from bough.cost.report import Curves, Report, Table
from bough.kernel.counting import count
from bough.scalar import Count
from bough.tree import Tree, costs, named

__all__ = ["figure5", "shimanovsky", "table1", "table2", "trees"]

FORMULAS = {
    ("factorize", "ltl"): "n√ + D1 div + D2 (m+a)",
    ("factorize", "ltdl"): "D1 div + D2 (m+a)",
    ("solve", "ltl"): "2n div + 2 D1 (m+a)",
    ("solve", "ltdl"): "n div + 2 D1 (m+a)",
    ("mul_L", "ltl"): "n m + D1 (m+a)",
    ("mul_L", "ltdl"): "D1 (m+a)",
    ("mul_Lt", "ltl"): "n m + D1 (m+a)",
    ("mul_Lt", "ltdl"): "D1 (m+a)",
    ("solve_L", "ltl"): "n div + D1 (m+a)",
    ("solve_L", "ltdl"): "D1 (m+a)",
    ("solve_Lt", "ltl"): "n div + D1 (m+a)",
    ("solve_Lt", "ltdl"): "D1 (m+a)",
}
TITLES = {
    "factorize": "factorise",
    "solve": "back-substitute",
    "mul_L": "L x",
    "mul_Lt": "Lᵀ x",
    "solve_L": "L⁻¹ x",
    "solve_Lt": "L⁻ᵀ x",
}
TREE_1 = Tree((0, 1, 1, 2, 2, 3, 3))
SHIMANOVSKY_1 = Tree((0, 1, 2, 2, 3, 4, 4))
SHIMANOVSKY_DOFS = (1, 1, 2, 1, 1, 2, 1)


def trees() -> Report:
    """The worked examples of trees in the papers."""
    slides = Tree((0, 1, 1, 2, 2, 3))
    rows = (
        ("Featherstone 2005, Tree 1", TREE_1, "joints 1, 2, 6 with 2, 2, 3 DoF", TREE_1.expand((2, 2, 1, 1, 1, 3, 1))),
        (
            "Shimanovsky, Tree-1",
            SHIMANOVSKY_1,
            "joints 3, 6 with 2 DoF",
            SHIMANOVSKY_1.expand(SHIMANOVSKY_DOFS),
        ),
        ("slides", slides, "joint 2 with 3 DoF", slides.expand((1, 3, 1, 1, 1, 1))),
    )
    expanded = Table(
        "Expanded parent arrays λₑ",
        ("tree", "λ", "with", "λₑ"),
        tuple((name, _list(tree), text, _list(wide)) for name, tree, text, wide in rows),
    )
    steps = Table(
        "Work at the last row, which is eliminated first: counted with the row less counted without it",
        ("row", "divided", "modified", "dense: divided", "dense: modified"),
        (
            _row_work("Tree 1, k = 7", TREE_1),
            _row_work("Shimanovsky, k = 9", SHIMANOVSKY_1.expand(SHIMANOVSKY_DOFS)),
        ),
    )
    return Report("trees", "Trees of the papers", (expanded, steps))


def _row_work(name: str, tree: Tree) -> tuple[object, ...]:
    sparse, dense = (count(t, "ltdl") - count(Tree(t.parents[:-1]), "ltdl") for t in (tree, named.chain(tree.n)))
    return (name, sparse.div, sparse.mul, dense.div, dense.mul)


def _list(tree: Tree) -> str:
    return "(" + ",".join(map(str, tree.parents)) + ")"


def table1() -> Report:
    """Table 1 of Featherstone 2005, on three trees."""
    cases = (
        ("Tree 1 (n = 7)", TREE_1),
        ("humanoid (n = 30)", named.humanoid().expand(named.HUMANOID_DOFS)),
        ("unbranched (n = 30)", named.chain(30)),
    )
    items = []
    for name, tree in cases:
        rows = []
        for (operation, kind), formula in FORMULAS.items():
            counted = count(tree, kind if operation == "factorize" else f"{kind}_{operation}")
            expected = Count(**costs.operation_cost(tree, operation, kind))
            rows.append(
                (kind.upper(), TITLES[operation], formula, str(expected), str(counted), _agree(expected, counted))
            )
        title = f"{name}: D1 = {tree.D1}, D2 = {tree.D2}, density {tree.density:.3f}"
        items.append(Table(title, ("factor", "operation", "formula", "by the formula", "counted", ""), tuple(rows)))
    return Report(
        "table1", "Table 1: cost of factorisation, substitution and products (Featherstone 2005)", tuple(items)
    )


def _agree(a: Count, b: Count) -> str:
    return "equal" if a == b else "DIFFERENT"


def table2() -> Report:
    """Table 2 of Featherstone 2005: formulas, counts on the tree and counts of the running code."""
    rows = []
    for topology in costs.TABLE2:
        for m in _sizes(topology.name):
            tree = topology.build(m)
            counted = count(tree, "ltdl")
            formula = (topology.n(m), topology.D1(m), topology.D2(m))
            agree = formula == (tree.n, counted.div, counted.mul) and counted.mul == counted.add
            rows.append(
                (
                    topology.name,
                    m,
                    *formula,
                    counted.div,
                    counted.mul,
                    topology.order,
                    "equal" if agree else "DIFFERENT",
                )
            )
    columns = ("topology", "m", "n", "D1", "D2", "divisions counted", "m+a counted", "order", "")
    return Report(
        "table2",
        "Table 2: D1 and D2 of tree topologies (Featherstone 2005, Shimanovsky)",
        (Table("formula and count of a running LTDL factorisation", columns, tuple(rows)),),
    )


def _sizes(name: str) -> tuple[int, ...]:
    return (4, 8, 16) if "grid" in name.lower() else (3, 5, 8) if "balanced" in name.lower() else (8, 16, 32)


def figure5() -> Report:
    """Figure 5 of Featherstone 2005: factorisation cost D1 + 2 D2 against n."""
    lines = []
    for topology in costs.TABLE2:
        sizes = [m for m in (*range(2, 11), 16, 23, 32, 64, 128, 256, 512, 1024) if topology.n(m) <= 1024]
        formula = tuple((topology.n(m), topology.D1(m) + 2 * topology.D2(m)) for m in sizes)
        small = [topology.build(m) for m in sizes if topology.D2(m) < 20_000]
        counted = tuple((tree.n, count(tree, "ltdl").total) for tree in small)
        lines.append((topology.name, formula, counted))
    curves = Curves("Factorisation cost", "n", "operations D1 + 2 D2", tuple(lines))
    table = Table(
        "The same in numbers, with the count of the running code where it is below 40 000 operations",
        ("topology", "n", "D1 + 2 D2", "counted"),
        tuple((name, n, cost, dict(counted).get(n, "–")) for name, formula, counted in lines for n, cost in formula),
    )
    return Report("figure5", "Figure 5: factorisation cost of tree topologies (Featherstone 2005)", (curves, table))


def shimanovsky() -> Report:
    """Shimanovsky's ratios of dense to sparse cost, and the rule of thumb 1/α²."""
    rows = []
    for name, tree in (
        ("balanced binary tree", named.balanced_tree(4)),
        ("balanced binary tree", named.balanced_tree(8)),
        ("spanning tree of a grid", named.grid(4)),
        ("spanning tree of a grid", named.grid(16)),
    ):
        sparse, dense = count(tree, "udut").total, named.chain(tree.n)
        by_formula = dense.D1 + 2 * dense.D2
        rows.append((name, tree.n, sparse, by_formula, by_formula / sparse, tree.density, 1 / tree.density**2))
    columns = ("topology", "n", "UDUᵀ counted", "dense D1 + 2 D2", "ratio", "α", "1/α²")
    note = "On an unbranched tree the count equals D1 + 2 D2 exactly (table 1); for n = 255 and 256 it is computed."
    ratios = Table("UDUᵀ on branched trees against a dense matrix of the same size", columns, tuple(rows), (note,))
    heading = "Shimanovsky: UUᵀ and UDUᵀ, and how many times cheaper than a dense factorisation"
    return Report("shimanovsky", heading, (*_substitutions(), ratios))


SPLIT = {
    ("factorize", "uut"): "n √ + N1 div + N2 (m+a)",
    ("factorize", "udut"): "N1 div + N2 (m+a)",
    ("forward", "uut"): "n div + N1 (m+a)",
    ("forward", "udut"): "n div + N1 (m+a)",
    ("backward", "uut"): "n div + N1 (m+a)",
    ("backward", "udut"): "N1 (m+a)",
}
"""Shimanovsky's table 1, in which the two substitutions stand apart."""


def _substitutions() -> tuple[Table, ...]:
    """Table 1 of Shimanovsky, on his tree and on a binary one."""
    items = []
    for name, tree in (
        ("Tree-1, expanded", SHIMANOVSKY_1.expand(SHIMANOVSKY_DOFS)),
        ("binary tree", named.balanced_tree(5)),
    ):
        rows = []
        for (operation, kind), formula in SPLIT.items():
            counted = count(tree, kind if operation == "factorize" else f"{kind}_{operation}")
            expected = Count(**costs.operation_cost(tree, operation, kind))
            title = {"factorize": "factorise", "forward": "forward substitution", "backward": "back substitution"}[
                operation
            ]
            rows.append(
                (f"{kind[:-1].upper()}ᵀ", title, formula, str(expected), str(counted), _agree(expected, counted))
            )
        columns = ("factor", "operation", "formula", "by the formula", "counted", "")
        items.append(Table(f"Table 1, {name}: N1 = {tree.D1}, N2 = {tree.D2}", columns, tuple(rows)))
    return tuple(items)
