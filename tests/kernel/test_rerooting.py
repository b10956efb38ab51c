"""From which body forward dynamics is cheapest."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bough
from bough.kernel.choice import method_costs
from bough.kernel.functions import mechanism
from bough.kernel.rerooting import cheapest_root
from bough.tree import named
from closeness import assert_close
from robot_data import ROBOTS


def spider(legs: int = 7) -> bough.Model:
    """A hub with limbs of one joint, which floats on the last link of a limb of four."""
    parents = (0, 1, 2, 3, 4, *[5] * legs)
    return bough.trees.topologies.on_tree(bough.trees.Tree(parents), "spider", floating=(1,))


def chain(n: int) -> bough.Model:
    return bough.trees.topologies.on_tree(named.chain(n), "chain", floating=(1,))


def test_a_badly_rooted_spider_gains(rng: np.random.Generator) -> None:
    found = bough.trees.rerooting(spider())
    assert found.current.link == "body 1"
    assert found.best.link == "body 5"
    assert found.best.method == "crba"
    assert found.gain > 1.0
    hung = found.rerooted
    assert hung == spider().rerooted("body 5")
    q, (v, tau) = bough.random(hung, rng), rng.normal(size=(2, hung.nv))
    assert_close(bough.forward_dynamics(hung, q, v, tau), bough.forward_dynamics(spider(), q, v, tau), 1e-10)
    assert "body 5" in str(found)


def test_what_is_rooted_well_stays() -> None:
    found = bough.trees.rerooting(bough.trees.topologies.humanoid())
    assert found.best is found.current
    assert found.gain == 1.0
    assert found.rerooted == found.model


def test_the_best_others_are_the_best_of_all() -> None:
    """Those counted are chosen by an estimate: none of the rest has a cheaper mass matrix."""
    for model in (spider(), chain(12), bough.trees.topologies.on_tree(named.grid(4), "grid", floating=(1,))):
        found = bough.trees.rerooting(model)
        every = [method_costs(model.rerooted(name))["crba"].operations for name in model.body_names]
        assert min(root.costs["crba"].operations for root in (found.current, *found.others)) == min(every)


def test_counts_include_the_way_between_the_roots() -> None:
    model = chain(25)
    counts = [bough.count(model.rerooted(f"body {k}"), "crba_ltdl").total for k in (1, 2, 13, 25)]
    assert counts[2] < 0.7 * counts[0]
    assert counts[3] > counts[0]  # as deep as before, and 24 joints to go
    assert bough.count(model.rerooted("body 13"), "aba") == bough.count(model, "aba")
    assert bough.count(model.rerooted("body 13"), "crba") == bough.count(model, "crba")


def test_estimates_of_large_mechanisms_see_the_inner_tree() -> None:
    """Not counted, but near to it, from whatever body."""
    for k in (1, 35, 66):
        model = chain(66).rerooted(f"body {k}")
        estimated = method_costs(model)["crba"]
        assert estimated.count is None
        assert 0.9 < estimated.operations / bough.count(model, "crba_ltdl").total < 1.4


def test_a_rerooted_model_is_a_model_of_its_own() -> None:
    model = chain(5)
    hung = model.rerooted("body 3")
    assert hung != model
    assert hung == model.rerooted("body 3") == pickle.loads(pickle.dumps(hung))
    assert hash(hung) == hash(model.rerooted("body 3"))
    assert hung.rerooted("body 1") == model == hung.rerooted("body 5").rerooted("body 1")
    assert "inside on 'body 3'" in repr(hung)
    digests = {mechanism(model.rerooted(name)).digest for name in model.body_names}
    assert len(digests) == 5
    assert bough.trees.rerooting(hung).current.link == "body 3"


def test_frames_stand_for_their_bodies() -> None:
    b = bough.Builder()
    b.add("trunk", bough.joints.Free(), mass=1.0, inertia=1.0)
    b.add("arm", bough.joints.Revolute(), "trunk", mass=1.0, inertia=1.0)
    b.add("hand", bough.joints.Fixed(), "arm", mass=1.0)
    model = b.build()
    assert model.rerooted("hand") == model.rerooted("arm")
    with pytest.raises(bough.errors.ModelError, match="the base cannot be the new root"):
        model.rerooted("world")
    with pytest.raises(bough.errors.UnknownNameError, match="hand"):
        model.rerooted("hnad")


def test_what_does_not_float_is_refused() -> None:
    fixed = bough.trees.topologies.chain(3)
    with pytest.raises(bough.errors.ModelError, match="expected a free joint"):
        fixed.rerooted("body 2")
    with pytest.raises(bough.errors.ModelError, match="no root to choose"):
        bough.trees.rerooting(fixed)
    assert cheapest_root(fixed) is fixed
    heavy = replace(chain(3).joints[0], armature=(0.0,) * 5 + (0.1,))
    with pytest.raises(bough.errors.ModelError, match="armature"):
        replace(chain(3), joints=(heavy, *chain(3).joints[1:])).rerooted("body 2")


def test_loading_with_the_cheapest_root(tmp_path: Path) -> None:
    file = tmp_path / "spider.urdf"
    bough.save(spider(), file)  # it floats in the file
    plain = bough.load(file)
    assert bough.load(file, root="auto") == plain.rerooted("body 5") == bough.trees.rerooting(plain).rerooted
    bough.save(bough.trees.topologies.chain(3), file)
    assert bough.load(file, root="auto") == bough.load(file)
    assert bough.load(file, root="auto", floating_base=True).joint_names[0] == "root_joint"


def test_a_singular_model_is_loaded_all_the_same() -> None:
    massless = '<robot name="x"><link name="a"/><link name="b"/>'
    massless += '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>'
    model = bough.load(massless, floating_base=True, root="auto")
    assert model == bough.load(massless, floating_base=True)


@pytest.mark.filterwarnings("ignore::bough.errors.LoadWarning")
@pytest.mark.parametrize(
    ("file", "body"),
    [
        ("talos_data/robots/talos_reduced.urdf", "torso_2_link"),
        ("g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf", "torso_link"),
    ],
)
def test_humanoids(file: str, body: str, rng: np.random.Generator) -> None:
    """Arms and hands have more joints than legs: the chest is a better root than the pelvis for the mass matrix."""
    model = bough.load(ROBOTS / file, floating_base=True)
    hung = model.rerooted(body)
    assert hung.inner.dof_tree.D1 < model.dof_tree.D1
    assert bough.count(hung, "crba_ltdl").total < bough.count(model, "crba_ltdl").total
    q, (v, tau) = bough.random(model, rng), rng.normal(size=(2, model.nv))
    got, want = (bough.forward_dynamics(m, q, v, tau, method=way) for m, way in ((hung, "crba"), (model, "aba")))
    assert_close(bough.rnea(model, q, v, got), bough.rnea(model, q, v, want), 1e-10)
