"""What `bough.explain` says is what the functions do."""

from __future__ import annotations

import pytest

import bough
from bough.kernel.choice import cheaper_method


@pytest.mark.parametrize(
    "model", [bough.trees.topologies.humanoid(), bough.trees.topologies.chain(100)], ids=lambda m: m.name
)
def test_it_names_the_method_and_the_alternatives(model: bough.Model) -> None:
    text = str(bough.explain(model))
    taken = [line for line in text.splitlines() if line.endswith("taken")]
    assert len(taken) == 1
    assert taken[0].strip().startswith(f"{cheaper_method(model)}:")
    assert "aba: " in text
    assert "crba: " in text
    assert f"{cheaper_method(model)} is taken" in text


def test_it_says_what_is_rolled() -> None:
    for model, code in ((bough.trees.topologies.chain(5), "unrolled"), (bough.trees.topologies.chain(100), "rolled")):
        rows = [line.split() for line in str(bough.explain(model)).splitlines() if line.startswith("  rnea ")]
        assert [row[1] for row in rows] == [code]


def test_counts_are_those_of_the_model() -> None:
    model = bough.trees.topologies.humanoid()
    assert str(bough.count(model, "aba")) in str(bough.explain(model))


def test_mimic_joints_are_told() -> None:
    b = bough.Builder("gripper")
    b.add("left", bough.joints.Prismatic("y"), mass=1.0)
    b.add("right", bough.joints.Mimic(bough.joints.Prismatic("y"), "left", -1.0), mass=1.0)
    text = str(bough.explain(b.build()))
    assert "coupled joints" in text
    assert "aba: " not in text


def test_only_models_can_be_explained() -> None:
    with pytest.raises(bough.errors.ModelError, match="Builder"):
        bough.explain(bough.Builder("not built"))  # type: ignore[arg-type]


def test_a_model_without_bodies_is_explained() -> None:
    assert "nothing to compute" in str(bough.explain(bough.trees.topologies.chain(0)))


def test_another_floating_base_inside_is_told() -> None:
    plain = bough.trees.topologies.humanoid_chain()
    model = plain.rerooted("body 13")
    text = str(bough.explain(model))
    assert "body 13" in text
    assert f" {model.inner.dof_tree.D1}\n" in text
    assert str(bough.count(model, "crba_ltdl")) in text
    assert "body 13" not in str(bough.explain(plain))


def test_rounds_of_divide_and_conquer_are_told() -> None:
    assert 'method="divide_and_conquer" needs 4 rounds' in str(bough.explain(bough.trees.topologies.chain(64)))


@pytest.mark.parametrize(("name", "counted"), [("pendulum", True), ("quadruped", False)])
def test_derivatives_have_columns_of_operations_where_they_are_counted(name: str, counted: bool) -> None:
    text = str(bough.explain(bough.robots.load(name)))
    assert ("operations by recursions" in text) == counted
    assert "not counted" not in text
    assert "bough.derivatives.forward_dynamics " in text
