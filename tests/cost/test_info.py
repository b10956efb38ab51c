"""What `bough.info` shows is what the model is."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bough
from bough.cost.outline import outline
from bough.cost.pattern import coarse_pattern, segments
from bough.tree import named
from tree_strategies import trees


def row(text: str, name: str) -> list[str]:
    (found,) = [line.split("  ") for line in text.splitlines() if line.startswith(f"  {name}  ")]
    return [cell.strip() for cell in found if cell.strip()]


# --- the whole ---


def test_the_numbers_are_those_of_the_model() -> None:
    model = bough.robots.load("humanoid")
    text = str(bough.info(model))
    assert row(text, "bodies")[1] == "25"
    assert row(text, "joints")[1] == "1 free, 24 revolute"
    assert row(text, "degrees of freedom")[1] == "30, nq = 31"
    assert row(text, "mass")[1] == f"{model.mass:.6g} kg"
    assert row(text, "bodies not on the base")[1] == str(model.tree.D0)
    assert row(text, "degrees of freedom not on the base, D₀")[1] == str(model.dof_tree.D0)
    assert bough.trees.rerooting(model).current.D0 == model.dof_tree.D0
    assert row(text, "sum of ancestors over all degrees of freedom, D₁")[1] == "219"
    assert row(text, "density α of H, (n + 2 D₁) / n²")[1] == "52%"
    for name in ("rnea", "crba", "aba", "crba_ltdl", "ltl", "ltdl", "ltdl_solve", "jacobian"):
        (line,) = [line for line in text.splitlines() if re.search(rf"  {name} +\d", line)]
        assert line.endswith(f"  {bough.count(model, name)}")
        assert f" {bough.count(model, name).total} " in line
    reason = str(bough.explain(model)).split("is taken: ")[1].split("\n")[0]
    assert " ".join(reason.split()) in " ".join(text.split())


@pytest.mark.parametrize(
    "model",
    [bough.trees.topologies.chain(0), bough.trees.topologies.star(3), bough.trees.topologies.chain(1)],
    ids=lambda m: m.name,
)
def test_small_models(model: bough.Model) -> None:
    text = str(bough.info(model))
    assert row(text, "bodies")[1] == str(model.nbodies)
    assert row(text, "LᵀDL is cheaper than for a full matrix by")[1] == "nothing to do"


def test_large_models_are_folded_and_estimated() -> None:
    for model in (
        bough.trees.topologies.chain(3000),
        bough.trees.topologies.star(3000),
        bough.trees.topologies.balanced_tree(11),
    ):
        text = str(bough.info(model))
        assert len(text.splitlines()) < 300
        assert max(map(len, text.splitlines())) < 150
        assert text.count("estimated") >= 2
        drawn = sum(f"joint {k} " in text for k in range(1, model.nbodies + 1))
        folded = [int(line.split("… ")[1].split()[0]) for line in text.splitlines() if line.endswith(" more")]
        assert drawn + sum(folded) == model.nbodies


def test_only_models_have_an_info() -> None:
    with pytest.raises(bough.errors.ModelError, match="Builder"):
        bough.info(bough.Builder("not built"))  # type: ignore[arg-type]


def test_what_another_root_gains_is_told() -> None:
    b = bough.Builder("long tail")
    b.add("end", bough.joints.Free(), mass=1.0, inertia=1.0)
    for k in range(1, 10):
        b.add(
            f"link {k}",
            bough.joints.Revolute("xyz"[k % 3]),
            "end" if k == 1 else f"link {k - 1}",
            mass=1.0,
            inertia=1.0,
        )
    model = b.build()
    text = str(bough.info(model))
    found = bough.trees.rerooting(model)
    assert all(line in text for line in str(found).splitlines())
    assert "Gain in forward dynamics: " in text
    assert "there is no root to choose" in str(bough.info(bough.trees.topologies.chain(2)))


# --- the tree ---


def test_branches_and_joints_are_drawn() -> None:
    b = bough.Builder("mixed")
    b.add("trunk", bough.joints.Free(), mass=1.0)
    b.add("left", bough.joints.Revolute("y"), "trunk", mass=1.0)
    b.add("left hand", bough.joints.Mimic(bough.joints.Prismatic("x"), "left"), "left", mass=1.0)
    b.add("right", bough.joints.Revolute("y", continuous=True), "trunk", joint_name="hinge", mass=1.0)
    assert outline(b.build()) == (
        "world         joint      type                     v",
        "trunk         trunk      free                     0…5",
        "├─ left       left       revolute                 6",
        "│  left hand  left hand  prismatic, follows left",
        "└─ right      hinge      continuous               7",
    )


@given(trees(most=30), st.integers(1, 40))
def test_every_body_is_drawn_or_counted(tree: bough.trees.Tree, lines: int) -> None:
    drawn = outline(bough.trees.topologies.on_tree(tree), lines)[1:]
    folded = [int(line.split("… ")[1].split()[0]) for line in drawn if line.endswith(" more")]
    assert len(drawn) - len(folded) == min(lines, tree.n)
    assert len(drawn) - len(folded) + sum(folded) == tree.n


def test_names_from_files_do_no_harm_to_a_terminal() -> None:
    b = bough.Builder("evil \x9b2J\x1b[31m")
    b.add("body \x9b2J\n", bough.joints.Revolute("z"), joint_name="long " * 100, mass=1.0)
    text = str(bough.info(b.build()))
    assert all(c.isprintable() or c == "\n" for c in text)
    assert max(map(len, text.splitlines())) < 200


# --- the pattern ---


@given(trees(most=40), st.integers(1, 50))
def test_the_coarse_pattern_is_that_of_the_tree(tree: bough.trees.Tree, most: int) -> None:
    marks, step = coarse_pattern(tree, most)
    size = len(marks)
    assert size <= most
    full = np.zeros((size * step, size * step), dtype=bool)
    full[: tree.n, : tree.n] = tree.pattern()
    assert np.array_equal(marks, full.reshape(size, step, size, step).any(axis=(1, 3)))


def test_the_pattern_is_drawn_in_half_blocks() -> None:
    model = bough.trees.topologies.on_tree(bough.trees.Tree((0, 1, 1)), "fork")
    assert bough.info(model).pattern.lines()[1:] == [
        "  ┌─H─┐   ┌─L─┐",
        "  │██▀│   │█▄ │",
        "  │▀ ▀│   │▀ ▀│",
        "  └───┘   └───┘",
        "  A mark is one entry.",
    ]


def test_segments_end_at_branches() -> None:
    assert segments(named.humanoid()).tolist() == [0] + [k for k in range(1, 5) for _ in range(6)]
    assert segments(named.star(3)).tolist() == [0, 1, 2]
    assert segments(named.chain(0)).tolist() == []


@pytest.mark.parametrize(
    "model",
    [bough.robots.load("arm"), bough.trees.topologies.chain(1), bough.trees.topologies.star(700)],
    ids=lambda m: m.name,
)
def test_the_picture_is_written(model: bough.Model, tmp_path: Path) -> None:
    report = bough.info(model)
    report.pattern.draw(tmp_path / "x.png")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    (file,) = report.draw(tmp_path / "folder")
    assert file.stat().st_size > 1000


def test_nothing_is_not_drawn(tmp_path: Path) -> None:
    with pytest.raises(bough.BoughError, match="nothing to draw"):
        bough.info(bough.trees.topologies.chain(0)).pattern.draw(tmp_path / "x.png")
    assert not list(tmp_path.iterdir())


def test_a_model_that_cannot_be_accelerated_is_shown() -> None:
    b = bough.Builder("massless")
    b.add("arm", bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
    b.add("feather", bough.joints.Revolute("z"), "arm")
    text = str(bough.info(b.build()))
    assert "There is none: " in text
    assert "'feather'" in text
    assert str(bough.count(b.build(), "rnea")) in text
