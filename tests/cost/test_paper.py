"""Every number the papers print comes out of `bough paper`, computed."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path

import pytest

import bough
from bough.cost.report import Bars, Curves, Table
from bough.kernel.counting import count_parts
from bough.model import Mechanism
from bough.scalar import Count


def table(name: str, title: str) -> Table:
    items = bough.papers.report(name).items
    return next(item for item in items if isinstance(item, Table) and item.title.startswith(title))


def row(t: Table, *start: object) -> dict[str, object]:
    found = next(r for r in t.rows if r[: len(start)] == start)
    return dict(zip(t.columns, found, strict=True))


def test_worked_examples_of_trees() -> None:
    rows = {r[0]: r[-1] for r in table("trees", "Expanded").rows}
    assert rows["Featherstone 2005, Tree 1"] == "(0,1,2,3,2,4,4,5,8,9,5)"
    assert rows["Shimanovsky, Tree-1"] == "(0,1,2,3,2,4,5,7,5)"
    assert rows["slides"] == "(0,1,2,3,1,4,4,5)"


def test_work_at_one_row_is_counted() -> None:
    rows = table("trees", "Work").rows
    assert rows[0][1:] == (2, 3, 6, 21)
    assert rows[1][1:] == (3, 6, 8, 36)


@pytest.mark.parametrize("name", ["table1", "table2"])
def test_counts_equal_formulas_everywhere(name: str) -> None:
    for item in bough.papers.report(name).items:
        assert isinstance(item, Table)
        assert item.rows
        assert {r[-1] for r in item.rows} == {"equal"}


def test_figure_5_counts_lie_on_the_formula() -> None:
    (curves,) = (item for item in bough.papers.report("figure5").items if isinstance(item, Curves))
    assert {name for name, _, _ in curves.lines} >= {"unbranched", "balanced tree"}
    for _, formula, counted in curves.lines:
        assert len(counted) >= 5
        assert set(counted) <= set(formula)


def test_crba_splits_and_costs() -> None:
    splits = table("crba", "D0 and D1")
    assert row(splits, "humanoid") | {"DH child, by most D1a": None} == {
        "mechanism": "humanoid", "D0": 24, "D1": 84, "D0a": 21, "D1a": 66, "D0b": 3, "D1b": 18, "D0c": 1, "D1c": 6,
        "DH child, by most D1a": None,
    }  # fmt: skip
    assert row(splits, "chain")["D1a"] == 300
    costs = table("crba", "Cost of the mass matrix")
    assert row(costs, "humanoid")["eq. 21"] == "2475m + 2124a"
    assert row(costs, "chain")["eq. 21"] == "6462m + 4419a"


def test_humanoid_against_chain() -> None:
    sparsity = table("humanoid", "Sparsity")
    assert row(sparsity, "D1, D2 of the expanded tree")["humanoid"] == "219, 1039"
    assert row(sparsity, "D1, D2 of the expanded tree")["chain"] == "435, 4495"
    assert [row(sparsity, f"{what} of H")["humanoid"] for what in ("non-zeros", "zeros")] == [468, 432]
    costs = table("humanoid", "Costs")
    published = {str(r[0]): r[1:3] for r in costs.rows}
    assert published == {
        "RNEA": ("2275m + 1996a", "2263m + 1972a"),
        "CRBA": ("2475m + 2124a", "6462m + 4419a"),
        "LTDL": ("1258m + 1039a", "4930m + 4495a"),
        "solve": ("468m + 438a", "900m + 870a"),
        "forward dynamics, CRBA": ("6476m + 5597a", "14555m + 11756a"),
        "forward dynamics, ABA": ("5544m + 5054a", "5346m + 4883a"),
    }
    for step in ("LTDL", "solve"):  # ours is the papers' algorithm, so the counts are theirs
        assert row(costs, step)["humanoid, counted"] == row(costs, step)["humanoid, published"]
    headlines = {str(r[0]): r[1:3] for r in table("humanoid", "Headlines").rows}
    assert headlines["CRBA + LTDL: chain / humanoid"] == ("2.18", "2.25")
    assert headlines["humanoid: CRBA + LTDL / ABA"] == ("1.14", "1.17")
    assert headlines["chain: CRBA + LTDL / ABA"][0] == "2.57"


def test_ratios_of_shimanovsky() -> None:
    rows = table("shimanovsky", "UDU").rows
    assert [f"{r[4]:.3g}" for r in rows] == ["7.75", "434", "5.29", "73.9"]
    assert [f"{r[5]:.2f}" for r in rows][::2] == ["0.37", "0.44"]


@pytest.mark.parametrize("name", ["crba", "humanoid"])
def test_causes_add_up(name: str) -> None:
    """From the published cost through every cause to our count, the numbers sum up without remainder."""
    found = 0
    for item in bough.papers.report(name).items:
        if not isinstance(item, Table) or item.columns[0] != "cause":
            continue
        found += 1
        total = Count()
        for cause, m, a, trig in item.rows:
            assert isinstance(m, int)
            assert isinstance(a, int)
            assert isinstance(trig, int)
            change = Count(mul=m, add=a, trig=trig)
            if str(cause).startswith("= "):
                assert total == change, (item.title, cause)
            elif not str(cause).startswith("  of which "):
                total = total + change
    assert found == (2 if name == "crba" else 4)


def test_parts_of_ours_add_up() -> None:
    """Of the recursion as it is written, and of ours: the parts told beneath a count are all of it."""
    found = 0
    for item in bough.papers.report("humanoid").items:
        if not isinstance(item, Table) or item.columns[0] != "cause":
            continue
        for k, (cause, *total) in enumerate(item.rows):
            if not str(cause).startswith("= counted"):
                continue
            parts = [r[1:] for r in takewhile(lambda r: str(r[0]).startswith("  of which "), item.rows[k + 1 :])]
            if parts:
                assert [sum(cells) for cells in zip(*parts, strict=True)] == total  # type: ignore[arg-type]
                found += 1
    assert found == 8


@pytest.mark.parametrize("title", ["RNEA", "CRBA", "ABA"])
def test_each_difference_from_the_papers_form_is_counted(title: str) -> None:
    """What simpler frames and inertias save is the difference of two counts, each of running code."""
    algorithm = {"RNEA": "bias_forces", "CRBA": "crba", "ABA": "aba"}[title]
    model = bough.trees.topologies.humanoid(dh=True)

    def counted(slid: bool, regrouped: bool) -> Count:
        inside = Mechanism(model, slid=slid, regrouped=regrouped)
        return sum(count_parts(model, algorithm, inside=inside).values(), Count())

    causes = {r[0]: r[1:] for r in table("crba" if title == "CRBA" else "humanoid", f"{title} of the humanoid").rows}
    given, slid, ours = counted(False, False), counted(True, False), counted(True, True)
    for name, change in (("frames turned", slid - given), ("inertias regrouped", ours - slid)):
        told = next(cells for cause, cells in causes.items() if str(cause).startswith(name))
        assert told == (change.mul_div, change.add, change.trig)
    assert causes["= counted, DH frames"] == (ours.mul_div, ours.add, ours.trig)
    assert given.total > slid.total > ours.total


def test_ratios_of_the_mass_matrix() -> None:
    ratios = row(table("humanoid", "Headlines"), "CRBA: chain / humanoid")
    assert (ratios["published, a = m"], ratios["published, a = 0"]) == ("2.37", "2.61")


def test_substitutions_of_shimanovsky_stand_apart() -> None:
    items = bough.papers.report("shimanovsky").items
    tables = [item for item in items if isinstance(item, Table) and item.title.startswith("Table 1")]
    assert len(tables) == 2
    for item in tables:
        assert {r[-1] for r in item.rows} == {"equal"}
        assert [r[0] for r in item.rows] == ["UUᵀ", "UDUᵀ"] * 3


def test_what_is_said_of_costs_is_counted() -> None:
    said = dict(table("recursions", "What the paper says").rows)
    crossing = str(said["ABA takes fewer operations than CRBA for N > 9"])
    assert crossing.startswith("N > 9 published")
    assert "N > 9 ours" in crossing
    model = bough.trees.topologies.on_tree(bough.trees.Tree((0, 1)), dh=True)
    inside = Mechanism(model, slid=False, regrouped=False)
    pair = row(table("recursions", "Link and absolute"), 2)
    for title, name in (("RNEA, absolute", "rnea_absolute"), ("ABA, link", "aba")):
        counted = sum(count_parts(model, name, inside=inside).values(), Count())
        assert pair[title] == counted.mul_div + counted.add


def test_rounds_grow_with_the_logarithm() -> None:
    rows = table("rounds", "Forward dynamics").rows
    assert [r[1] for r in rows] == [1, 4, 6, 8]


def test_every_paper_has_a_page() -> None:
    pages = bough.papers.pages()
    assert len(pages) == 5
    told = [name for names in pages.values() for name in names]
    assert sorted(told) == sorted((*bough.papers.names(), *bough.papers.measured()))


def test_every_report_prints_and_figures_are_drawn(tmp_path: Path) -> None:
    for name in bough.papers.names():
        report = bough.papers.report(name)
        text = str(report)
        assert text.startswith(report.heading)
        assert "DIFFERENT" not in text
        files = report.draw(tmp_path / "figures")
        assert len(files) == sum(isinstance(item, Bars | Curves) for item in report.items)
        for file in files:
            assert file.read_bytes().startswith(b"\x89PNG")


def test_an_unknown_name_is_refused_with_a_suggestion() -> None:
    with pytest.raises(bough.errors.UnknownNameError, match="'table1'"):
        bough.papers.report("tabel1")
