"""The dynamics of the 30-DoF humanoid and its chain: CRBA's cost, the comparison and figure 7, formula beside count."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from bough.cost.report import Bars, Report, Table
from bough.kernel.counting import count, count_parts
from bough.model import Model, topologies
from bough.scalar import Count
from bough.tree import Tree, costs, named

__all__ = ["crba", "figure7", "humanoid"]

FLOATING = (1,)
CASES = (
    ("humanoid", named.humanoid(), topologies.humanoid),
    ("chain", named.humanoid_chain(), topologies.humanoid_chain),
)


def _published(cost: Mapping[str, int]) -> Count:
    return Count(**cost)


def _short(c: Count) -> str:
    """Multiplications and divisions together, as the papers add them up."""
    return f"{c.mul_div}m + {c.add}a"


@lru_cache(maxsize=4)
def _model(case: str, dh: bool) -> Model:
    build = next(make for name, _, make in CASES if name == case)
    return build(dh=dh)


@lru_cache(maxsize=64)
def _counted(case: str, algorithm: str, dh: bool, optimized: bool = False) -> Count:
    return count(_model(case, dh), algorithm, optimized=optimized)


def _paper_costs(tree: Tree) -> dict[str, Count]:
    """The published costs of each step on one mechanism, divisions counted as multiplications."""
    split = costs.crba_split(tree, FLOATING)
    wide = tree.expand(named.HUMANOID_DOFS)
    as_products = costs.divisions_as_products
    return {
        "RNEA": _published(costs.rnea_cost(tree.n, len(split.non_dh), len(FLOATING))),
        "CRBA": _published(costs.crba_cost(split)),
        "LTDL": _published(as_products(costs.operation_cost(wide, "factorize", "ltdl"))),
        "solve": _published(as_products(costs.operation_cost(wide, "solve", "ltdl"))),
        "ABA": _published(costs.aba_cost(tree.n - len(FLOATING), len(split.non_dh))),
    }


STEPS = (("RNEA", "bias_forces"), ("CRBA", "crba"), ("LTDL", "ltdl"), ("solve", "ltdl_solve"))


def crba() -> Report:
    """The cost formula of the CRBA with DH, non-DH and floating children (000 eq. 14-21), beside the count."""
    split_rows, cost_rows, items = [], [], []
    for case, tree, _ in CASES:
        s = costs.crba_split(tree, FLOATING)
        split_rows.append((case, tree.D0, tree.D1, s.D0a, s.D1a, s.D0b, s.D1b, s.D0c, s.D1c, _choice(tree, s.dh)))
        cost_rows.append(
            (
                case,
                _short(_published(costs.crba_cost(s))),
                _short(_counted(case, "crba", True)),
                _short(_counted(case, "crba", False)),
                _short(_counted(case, "crba", False, True)),
            )
        )
        items.append(_crba_causes(case, tree))
    splits = Table(
        "D0 and D1 over DH children (a), others (b) and DH children of the floating base (c)",
        ("mechanism", "D0", "D1", "D0a", "D1a", "D0b", "D1b", "D0c", "D1c", "DH child, by most D1a"),
        tuple(split_rows),
    )
    table = Table(
        "Cost of the mass matrix",
        ("mechanism", "eq. 21", "counted, DH frames", "counted, general frames", "the program that runs"),
        tuple(cost_rows),
    )
    return Report("crba", "Cost of the CRBA (Featherstone 2005, section 5)", (splits, table, *items))


def _choice(tree: Tree, dh: tuple[int, ...]) -> str:
    chosen = set(dh)
    branching = [i for i in range(tree.n + 1) if len(tree.children(i)) > 1]
    texts = [f"{i} → {next(j for j in tree.children(i) if j in chosen)}" for i in branching]
    return ", ".join(texts) or "no branches"


def _crba_causes(case: str, tree: Tree) -> Table:
    """The difference between eq. 21 and our count, each cause computed; the rows add up."""
    s = costs.crba_split(tree, FLOATING)
    parts, published = count_parts(_model(case, True), "crba"), _published(costs.crba_cost(s))
    rx = _published(
        costs.combine(
            (s.D0a, costs.RIGID_BODY_TRANSFORM_DH),
            (s.D0b, costs.RIGID_BODY_TRANSFORM),
            (-s.D0c, costs.RIGID_BODY_TRANSFORM_SAVED),
        )
    )
    vx = _published(
        costs.combine(
            (s.D1a, costs.VECTOR_TRANSFORM_DH), (s.D1b, costs.VECTOR_TRANSFORM), (-s.D1c, costs.VECTOR_TRANSFORM_SAVED)
        )
    )
    ra = _published(costs.combine((s.D0a + s.D0b, costs.RIGID_BODY_ADD)))
    named_parts = ("inertia transforms", "force transforms", "inertia additions", "joint transforms")
    rest = sum((c for name, c in parts.items() if name not in named_parts), Count())
    general = _counted(case, "crba", False) - _counted(case, "crba", True)
    rows = (
        ("eq. 21", published),
        ("rx: inertias transformed by turns and a shift, not by axial screws", parts["inertia transforms"] - rx),
        ("vx: forces transformed by turns and a shift, not by axial screws", parts["force transforms"] - vx),
        ("ra: additions of inertias; masses are constant and cost none", parts["inertia additions"] - ra),
        ("rotation matrices of general placements formed once per body", parts["joint transforms"]),
        ("rotation of the torso from its quaternion, selection of entries", rest),
        ("= counted, DH frames", _counted(case, "crba", True)),
        ("general placements instead of DH frames", general),
        ("= counted, general frames", _counted(case, "crba", False)),
    )
    return _causes(f"CRBA of the {case}: from the published formula to our count", rows)


def _causes(title: str, rows: tuple[tuple[str, Count], ...]) -> Table:
    return Table(title, ("cause", "m (÷ included)", "a", "trig"), tuple((n, c.mul_div, c.add, c.trig) for n, c in rows))


PARTS = {
    "joint transforms": "rotation matrices of general placements formed",
    "motion transforms": "velocities and accelerations transformed",
    "force transforms": "forces transformed",
    "inertia transforms": "inertias transformed",
    "inertia times motion": "inertia times motion",
    "cross products": "spatial cross products",
    "articulated updates": "rank-one updates of articulated inertias",
    "inertia additions": "additions of inertias",
    "": "joint quantities, sums of vectors, torso's rotation",
}


def _rnea_causes(case: str) -> Table:
    """RNEA is published as a total; that we are below it is the work of `model/equivalent.py`."""
    formed = count_parts(_model(case, True), "bias_forces")["joint transforms"]
    causes = {"rotation matrices of general placements formed once per body": formed}
    rest = "regrouped inertias without mass, frames slid along their axes, the torso's joint"
    return _total_causes(case, "RNEA", "bias_forces", causes, rest)


def _aba_causes(case: str) -> Table:
    """ABA is published as a total, with what one axial screw more costs: its transforms are two or three of them."""
    tree = next(tree for name, tree, _ in CASES if name == case)
    parts = count_parts(_model(case, True), "aba")
    transforms = sum((c for name, c in parts.items() if name.endswith("transforms")), Count())
    screws = 2 * (tree.n - len(FLOATING)) + len(costs.crba_split(tree, FLOATING).non_dh)
    published = _published(costs.combine((screws, costs.ABA_PER_NON_DH)))
    causes = {f"transforms by turns and a shift, not by {screws} axial screws": transforms - published}
    rest = "biases, products and updates of spatial quantities; a division by each pivot each time; the torso's joint"
    return _total_causes(case, "ABA", "aba", causes, rest)


def _total_causes(case: str, title: str, algorithm: str, causes: Mapping[str, Count], rest: str) -> Table:
    """From a published total through causes, and what they leave, to our count and what it consists of."""
    tree = next(tree for name, tree, _ in CASES if name == case)
    published = _paper_costs(tree)[title]
    parts = count_parts(_model(case, True), algorithm)
    dh, general = _counted(case, algorithm, True), _counted(case, algorithm, False)
    runs = _counted(case, algorithm, False, True)
    rows = (
        ("published", published),
        *causes.items(),
        (rest, dh - published - sum(causes.values(), Count())),
        ("= counted, DH frames", dh),
        *((f"  of which {PARTS[name]}", parts[name]) for name in PARTS if name in parts),
        ("general placements instead of DH frames", general - dh),
        ("= counted, general frames", general),
        ("equal operations shared, one reciprocal per pivot, what nothing uses dropped", runs - general),
        ("= the program that runs", runs),
    )
    return _causes(f"{title} of the {case}: from the published total to our count", rows)


def humanoid() -> Report:
    """The comparison of the 30-DoF humanoid with its chain (000 section 6)."""
    trees = {case: tree for case, tree, _ in CASES}
    wide = {case: tree.expand(named.HUMANOID_DOFS) for case, tree in trees.items()}
    numbers = [
        ("D1, D2 of the expanded tree", *(f"{wide[c].D1}, {wide[c].D2}" for c in wide)),
        ("non-zeros of H", *(wide[c].n + 2 * wide[c].D1 for c in wide)),
        ("zeros of H", *(wide[c].n ** 2 - wide[c].n - 2 * wide[c].D1 for c in wide)),
        ("share of zeros", *(f"{100 * (1 - wide[c].density):.0f} %" for c in wide)),
        ("D0, D1 of the tree", *(f"{trees[c].D0}, {trees[c].D1}" for c in trees)),
    ]
    published = {case: _paper_costs(tree) for case, tree in trees.items()}
    rows = []
    for step, algorithm in STEPS:
        rows.append((step, *_both(published, step), *(_short(_counted(c, algorithm, False)) for c in trees)))
    forward = {c: sum((published[c][step] for step, _ in STEPS), Count()) for c in trees}
    rows.append(
        (
            "forward dynamics, CRBA",
            *(_short(forward[c]) for c in trees),
            *(_short(_counted(c, "crba_ltdl", False)) for c in trees),
        )
    )
    rows.append(
        ("forward dynamics, ABA", *_both(published, "ABA"), *(_short(_counted(c, "aba", False)) for c in trees))
    )
    costs_table = Table(
        "Costs, divisions counted as multiplications",
        ("", "humanoid, published", "chain, published", "humanoid, counted", "chain, counted"),
        tuple(rows),
    )
    return Report(
        "humanoid",
        "A 30-DoF humanoid against a 30-DoF chain (Featherstone 2005, section 6)",
        (
            Table("Sparsity", ("", "humanoid", "chain"), tuple(numbers)),
            costs_table,
            _ratios(forward, {c: published[c]["ABA"] for c in trees}),
            *(_rnea_causes(case) for case in trees),
            *(_aba_causes(case) for case in trees),
        ),
    )


def _both(published: Mapping[str, Mapping[str, Count]], step: str) -> tuple[str, ...]:
    return tuple(_short(published[case][step]) for case in published)


def _ratios(forward: Mapping[str, Count], aba: Mapping[str, Count]) -> Table:
    counted_forward = {c: _counted(c, "crba_ltdl", False) for c in forward}
    counted_aba = {c: _counted(c, "aba", False) for c in forward}

    def row(text: str, a: tuple[Count, Count], b: tuple[Count, Count]) -> tuple[object, ...]:
        return (text, *(f"{_cost(x, w) / _cost(y, w):.2f}" for x, y in (a, b) for w in (1, 0)))

    rows = (
        row(
            "CRBA + LTDL: chain / humanoid",
            (forward["chain"], forward["humanoid"]),
            (counted_forward["chain"], counted_forward["humanoid"]),
        ),
        row(
            "humanoid: CRBA + LTDL / ABA",
            (forward["humanoid"], aba["humanoid"]),
            (counted_forward["humanoid"], counted_aba["humanoid"]),
        ),
        row(
            "chain: CRBA + LTDL / ABA",
            (forward["chain"], aba["chain"]),
            (counted_forward["chain"], counted_aba["chain"]),
        ),
    )
    columns = ("ratio", "published, a = m", "published, a = 0", "counted, a = m", "counted, a = 0")
    return Table("Headlines", columns, rows)


def _cost(c: Count, addition: int) -> int:
    return c.mul_div + addition * c.add


def figure7() -> Report:
    """Figure 7 of Featherstone 2005: forward dynamics by CRBA and by ABA, for humanoid and chain."""
    groups, rows = [], []
    for case, tree, _ in CASES:
        published = _paper_costs(tree)
        forward = sum((published[step] for step, _ in STEPS), Count())
        choices = (
            ("published", forward, published["ABA"]),
            ("counted, DH frames", _counted(case, "crba_ltdl", True), _counted(case, "aba", True)),
            ("counted, general frames", _counted(case, "crba_ltdl", False), _counted(case, "aba", False)),
            ("the program that runs", _counted(case, "crba_ltdl", False, True), _counted(case, "aba", False, True)),
        )
        bars = []
        for text, via_crba, via_aba in choices:
            bars.append((f"CRBA  {text}", (via_crba.mul_div, via_crba.add)))
            bars.append((f"ABA   {text}", (via_aba.mul_div, via_aba.add)))
            slower = (via_crba.mul_div + via_crba.add) / (via_aba.mul_div + via_aba.add)
            rows.append((case, text, _short(via_crba), _short(via_aba), slower))
        groups.append((case, tuple(bars)))
    table = Table(
        "The same in numbers",
        ("mechanism", "", "CRBA + LTDL", "ABA", "CRBA / ABA"),
        tuple(rows),
        (
            "published: Featherstone 2005, with the RNEA of Balafoutis et al. and the ABA of McMillan & Orin.",
            "counted: what our code performs on one state, as written; the program that runs shares equal operations.",
        ),
    )
    chart = Bars("Forward dynamics", "operations", ("multiplications and divisions", "additions"), tuple(groups))
    return Report("figure7", "Figure 7: computational cost of forward dynamics (Featherstone 2005)", (chart, table))
