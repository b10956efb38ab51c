"""`bough.count` on models and trees."""

from __future__ import annotations

import pytest

import bough
from bough.kernel.counting import count_parts
from bough.kernel.functions import mechanism
from bough.kernel.specs import SPECS
from bough.scalar import Count, Counted, Tally


def test_counts_of_a_pendulum_by_hand() -> None:
    """The torque is (I + m l²) a + m g l sin q: two products and a sum, and the product g sin q before them."""
    builder = bough.Builder("pendulum")
    builder.add("rod", bough.joints.Revolute("y"), mass=2.0, com=(0, 0, -1.0))
    model = builder.build()
    counted = bough.count(model, "rnea")
    assert counted.trig == 2
    assert counted.div == counted.sqrt == counted.other == 0
    assert bough.count(model, "rnea", optimized=True).trig == 1  # nothing needs the cosine
    assert bough.count(model, "crba") == Count(trig=2)  # a constant
    assert bough.count(model, "crba", optimized=True) == Count()


def test_star_costs_nothing_to_factorise() -> None:
    assert bough.count(bough.trees.topologies.star(5), "ltdl") == Count()
    assert bough.count(bough.trees.topologies.star(5), "crba", optimized=True) == Count()


@pytest.mark.parametrize("name", sorted(SPECS))
def test_every_algorithm_can_be_counted(name: str) -> None:
    model = bough.trees.topologies.balanced_tree(3)
    model = model.with_loop("tips", bough.joints.Spherical(), *model.body_names[-2:], damping=0.1)
    model = model.with_loop("cross", bough.joints.Universal(), *model.body_names[-3:-1], upper=0.5)
    written, runs = bough.count(model, name), bough.count(model, name, optimized=True)
    assert runs.mul_div + runs.add <= written.mul_div + written.add
    assert written.total > 0
    assert sum(count_parts(model, name).values(), Count()) == written


def test_external_forces_cost_extra() -> None:
    """Each is brought into the inside frame of its body and subtracted."""
    model, tally = bough.trees.topologies.chain(4), Tally()
    for i in range(1, 5):
        mechanism(model).at(i).external_force([Counted(tally) for _ in range(6 * 4)])
    plain, forced = (bough.count(model, "rnea", f_ext=f) for f in (False, True))
    assert forced - plain == tally.count + Count(add=6 * 4)


def test_aba_is_linear_and_crba_is_not() -> None:
    aba = [bough.count(bough.trees.topologies.chain(n), "aba").total for n in (8, 16, 24)]
    crba = [bough.count(bough.trees.topologies.chain(n), "crba").total for n in (8, 16, 24)]
    assert aba[2] - aba[1] == aba[1] - aba[0]
    assert crba[2] - crba[1] > crba[1] - crba[0]


def test_branches_make_the_mass_matrix_cheaper() -> None:
    humanoid, chain = bough.trees.topologies.humanoid(), bough.trees.topologies.humanoid_chain()
    assert bough.count(chain, "crba").total > 2 * bough.count(humanoid, "crba").total


def test_a_tree_has_no_geometry() -> None:
    with pytest.raises(bough.errors.ModelError, match="geometry"):
        bough.count(bough.trees.Tree((0, 1)), "crba")
    with pytest.raises(bough.errors.UnknownNameError, match="'crba'"):
        bough.count(bough.trees.topologies.chain(2), "crbaa")
    with pytest.raises(bough.errors.UnknownNameError):
        bough.count(bough.trees.Tree((0, 1)), "ltdll")


def test_frames_and_references_can_be_chosen() -> None:
    model = bough.trees.topologies.chain(4)
    near, far = (bough.count(model, "jacobian", frames=f"body {k}", optimized=True) for k in (1, 4))
    assert near.total < far.total
    with pytest.raises(bough.errors.UnknownNameError, match="LOCAL"):
        bough.count(model, "jacobian", reference="LOCALE")
