"""The dynamics of the 30-DoF humanoid and its chain: CRBA's cost, the comparison and figure 7, formulas and counts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from bough.algorithms.absolute import rnea_spatial
from bough.algorithms.rnea import ZEROS
from bough.cost.report import Bars, Report, Table
from bough.kernel.counting import count, count_parts
from bough.model import Mechanism, Model, topologies
from bough.scalar import Count, Counted, Tally
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
def _parts(case: str, algorithm: str, slid: bool, regrouped: bool) -> Mapping[str, Count]:
    """The count on DH frames by parts, with frames slid and inertias regrouped, or as they are given."""
    model = _model(case, True)
    return count_parts(model, algorithm, inside=Mechanism(model, slid=slid, regrouped=regrouped))


@lru_cache(maxsize=8)
def _spatial(case: str) -> Mapping[str, Count]:
    """RNEA with spatial accelerations, of joints that do not accelerate, on DH frames and inertias as given."""
    model, tally = _model(case, True), Tally()
    q, v = ([Counted(tally) for _ in range(n)] for n in (model.nq, model.nv))
    rnea_spatial(Mechanism(model, slid=False, regrouped=False), q, v, ZEROS)
    return tally.parts


def _whole(parts: Mapping[str, Count]) -> Count:
    return sum(parts.values(), Count())


def _simplified(case: str, algorithm: str) -> tuple[tuple[str, Count], ...]:
    """What is saved by simpler frames and inertias, each counted by running the algorithm on a mechanism with it."""
    given, slid, both = (_whole(_parts(case, algorithm, *how)) for how in ((False, False), (True, False), (True, True)))
    return (
        ("frames turned about and slid along joint axes", slid - given),
        ("inertias regrouped: no body on a turning joint keeps mass or moments along the axis", both - slid),
        ("= counted, DH frames", both),
    )


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
    """The cost formula of the CRBA with DH, non-DH and floating children (000 eq. 14-21), and the count."""
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
    parts, published = _parts(case, "crba", False, False), _published(costs.crba_cost(s))
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
    named_parts = ("inertia transforms", "force transforms", "inertia additions")
    general = _counted(case, "crba", False) - _counted(case, "crba", True)
    rows = (
        ("eq. 21", published),
        (
            "rx: inertias transformed by turns and a shift, less D0a, D0b, D0c transforms of eq. 21",
            parts[named_parts[0]] - rx,
        ),
        (
            "vx: forces transformed by turns and a shift, less D1a, D1b, D1c transforms of eq. 21",
            parts[named_parts[1]] - vx,
        ),
        ("ra: additions of inertias, less D0 additions of eq. 21", parts[named_parts[2]] - ra),
        *(
            (f"not in eq. 21: {PARTS[name]}", parts[name])
            for name in PARTS
            if name in parts and name not in named_parts
        ),
        ("= counted, DH frames and inertias as given", _whole(parts)),
        *_simplified(case, "crba"),
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
    "": "joint quantities, sums of vectors, rotation of the torso",
}


def _rnea_causes(case: str) -> Table:
    """From the published total to the recursion of Featherstone & Orin as it is written, and from there to ours."""
    spatial, ours = _whole(_spatial(case)), _whole(_parts(case, "bias_forces", False, False))
    rows = (
        ("section 3.1 of Featherstone & Orin, counted, less published", spatial - _paper_cost(case, "RNEA")),
        ("= counted: spatial accelerations, DH frames and inertias as given", spatial),
        *_of_which(_spatial(case)),
        ("accelerations of points, and A = ω̇× + ω×ω×, instead of spatial accelerations", ours - spatial),
    )
    return _total_causes(case, "RNEA", "bias_forces", rows)


def _aba_causes(case: str) -> Table:
    """ABA is published as a total, with what one axial screw more costs: its transforms are two or three of them."""
    tree = next(tree for name, tree, _ in CASES if name == case)
    parts = _parts(case, "aba", False, False)
    transforms = _whole({name: c for name, c in parts.items() if name.endswith("transforms")})
    screws = 2 * (tree.n - len(FLOATING)) + len(costs.crba_split(tree, FLOATING).non_dh)
    published = _published(costs.combine((screws, costs.ABA_PER_NON_DH)))
    rest = _whole(parts) - transforms - (_paper_cost(case, "ABA") - published)
    rows = (
        (f"transforms, by turns and a shift, less {screws} published axial screws", transforms - published),
        ("all else, counted less published", rest),
        ("= counted, DH frames and inertias as given", _whole(parts)),
        *_of_which(parts),
    )
    return _total_causes(case, "ABA", "aba", rows)


def _paper_cost(case: str, step: str) -> Count:
    return _paper_costs(next(tree for name, tree, _ in CASES if name == case))[step]


def _of_which(parts: Mapping[str, Count]) -> tuple[tuple[str, Count], ...]:
    return tuple((f"  of which {PARTS[name]}", parts[name]) for name in PARTS if name in parts)


def _total_causes(case: str, title: str, algorithm: str, first: tuple[tuple[str, Count], ...]) -> Table:
    """From a published total through what was counted first to our count, and to the program that runs."""
    dh, general = _counted(case, algorithm, True), _counted(case, algorithm, False)
    runs = _counted(case, algorithm, False, True)
    rows = (
        ("published", _paper_cost(case, title)),
        *first,
        *_simplified(case, algorithm),
        *_of_which(_parts(case, algorithm, True, True)),
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
    forward = {c: sum((published[c][step] for step, _ in STEPS), Count()) for c in trees}
    by_step = {c: published[c] | {"forward dynamics, CRBA": forward[c]} for c in trees}
    rows = []
    for step, algorithm in (*STEPS, ("forward dynamics, CRBA", "crba_ltdl"), ("ABA", "aba")):
        title = "forward dynamics, ABA" if step == "ABA" else step
        as_published = (_short(by_step[c][step]) for c in trees)
        ours = (_short(_counted(c, algorithm, False)) for c in trees)
        rows.append((title, *as_published, *(_short(_as_written(c, algorithm)) for c in trees), *ours))
    costs_table = Table(
        "Costs, divisions counted as multiplications",
        ("", *(f"{c}, {what}" for what in ("published", "as written", "counted") for c in trees)),
        tuple(rows),
        (
            "as written: the papers' recursions on DH frames and inertias as given, RNEA with spatial accelerations.",
            "counted: ours, on general frames; the tables below tell what makes the difference.",
        ),
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


def _as_written(case: str, algorithm: str) -> Count:
    """The count of the papers' form: RNEA with spatial accelerations, DH frames and inertias as given."""
    if algorithm in ("ltdl", "ltdl_solve"):
        return _counted(case, algorithm, True)
    if algorithm == "bias_forces":
        return _whole(_spatial(case))
    if algorithm == "crba_ltdl":
        return sum((_as_written(case, step) for _, step in STEPS), Count())
    return _whole(_parts(case, algorithm, False, False))


def _ratios(forward: Mapping[str, Count], aba: Mapping[str, Count]) -> Table:
    counted_forward = {c: _counted(c, "crba_ltdl", False) for c in forward}
    counted_aba = {c: _counted(c, "aba", False) for c in forward}

    def row(text: str, a: tuple[Count, Count], b: tuple[Count, Count]) -> tuple[object, ...]:
        return (text, *(f"{_cost(x, w) / _cost(y, w):.2f}" for x, y in (a, b) for w in (1, 0)))

    crba = {c: _published(costs.crba_cost(costs.crba_split(tree, FLOATING))) for c, tree, _ in CASES}
    rows = (
        row(
            "CRBA: chain / humanoid",
            (crba["chain"], crba["humanoid"]),
            (_counted("chain", "crba", False), _counted("humanoid", "crba", False)),
        ),
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
