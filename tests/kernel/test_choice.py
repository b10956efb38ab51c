"""The method that forward dynamics takes: from counts and constants alone, the same whenever it is asked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bough
from bough.kernel import cache
from bough.kernel.choice import ALGORITHMS, ROLLED, UNROLLED, Method, cheaper_method, method_costs
from bough.kernel.compile import ROLL_ABOVE

LARGE = [bough.trees.topologies.chain(70), bough.trees.topologies.grid(9), bough.trees.topologies.balanced_tree(7)]


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A disk cache of its own, and no memory of earlier answers."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("BOUGH_CACHE_DIR", str(folder))
    method_costs.cache_clear()
    return folder


def with_mimic() -> bough.Model:
    b = bough.Builder("gripper")
    for side in ("left", "right"):
        joint = (
            bough.joints.Prismatic("y")
            if side == "left"
            else bough.joints.Mimic(bough.joints.Prismatic("y"), "left", -1.0)
        )
        b.add(side, joint, mass=1.0)
    return b.build()


@pytest.mark.parametrize(
    "model", [bough.trees.topologies.chain(5), bough.trees.topologies.humanoid()], ids=lambda m: m.name
)
def test_costs_hold_the_counts_of_the_algorithms(model: bough.Model, empty_cache: Path) -> None:
    for method, cost in method_costs(model).items():
        assert cost.count == bough.count(model, ALGORITHMS[method])
        assert cost.operations == cost.count.total
        assert not cost.rolled
        assert min(cost.one, cost.batch) > 0


def test_auto_gives_the_bits_of_the_method_it_names(rng: np.random.Generator) -> None:
    for model in (bough.trees.topologies.humanoid(), bough.trees.topologies.chain(12), bough.trees.topologies.star(9)):
        q, (v, tau) = bough.random(model, rng), rng.normal(size=(2, model.nv))
        taken = bough.forward_dynamics(model, q, v, tau)
        assert np.array_equal(taken, bough.forward_dynamics(model, q, v, tau, method=cheaper_method(model)))


def test_long_chains_take_aba() -> None:
    """The factor of a chain is dense, so CRBA is cubic there."""
    for n in (30, 60, 100, 1000):
        costs = method_costs(bough.trees.topologies.chain(n))
        assert cheaper_method(bough.trees.topologies.chain(n)).startswith("aba")
        assert costs["crba"].operations > 1.5 * costs["aba"].operations


def test_the_gap_grows_with_the_length_of_a_chain() -> None:
    ratios = []
    for n in (ROLL_ABOVE + 1, 100, 300, 1000):
        costs = method_costs(bough.trees.topologies.chain(n))
        ratios.append(costs["crba"].one / costs["aba"].one)
    assert ratios == sorted(ratios)


def test_mimic_joints_leave_no_choice() -> None:
    model = with_mimic()
    assert list(method_costs(model)) == ["crba"]
    assert cheaper_method(model) == "crba"


@pytest.mark.parametrize("method", ["aba", "crba"])
@pytest.mark.parametrize("model", LARGE, ids=lambda m: m.name)
def test_estimates_for_large_mechanisms_are_near_the_count_of_their_programs(
    model: bough.Model, method: Method
) -> None:
    cost = method_costs(model)[method]
    assert cost.rolled
    assert cost.count is None
    counted = bough.count(model, ALGORITHMS[method], optimized=True).total
    assert cost.operations == pytest.approx(counted, rel=0.1)


def test_counts_are_kept_on_disk_and_read_back(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = bough.trees.topologies.chain(4)
    first = method_costs(model)
    assert len(list(empty_cache.iterdir())) == 1
    method_costs.cache_clear()
    monkeypatch.setattr("bough.kernel.choice.count", None)  # not needed again
    assert method_costs(model) == first


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"aba": 1}', b'{"aba": ["x"], "crba": []}', b"\xff"])
def test_what_somebody_else_wrote_is_counted_anew(empty_cache: Path, content: bytes) -> None:
    model = bough.trees.topologies.chain(4)
    first = method_costs(model)
    (file,) = empty_cache.iterdir()
    cache.store(file.stem, content)
    method_costs.cache_clear()
    assert method_costs(model) == first


def test_every_method_has_its_weights() -> None:
    assert set(UNROLLED) == set(ALGORITHMS)
    assert set(ROLLED) < set(ALGORITHMS)  # the others are for small mechanisms
    assert all(set(row) == {"operations", "one", "batch"} for row in ROLLED.values())
