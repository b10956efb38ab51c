"""Which limbs count as built alike."""

from __future__ import annotations

import numpy as np

import bough
from bough.kernel.functions import mechanism
from bough.kernel.limbs import limbs, tree_limbs


def built(*joints: tuple[str, bough.joints.Joint, str]) -> bough.Model:
    builder = bough.Builder("test")
    for name, joint, parent in joints:
        builder.add(name, joint, parent, mass=1.0, inertia=(1.0, 1.0, 1.0))
    return builder.build()


def hinge() -> bough.joints.Joint:
    return bough.joints.Revolute("x")


def test_fingers_of_a_hand() -> None:
    fingers = [("wrist", hinge(), "world")]
    for k in range(3):
        fingers += [(f"near {k}", hinge(), "wrist"), (f"far {k}", bough.joints.Revolute("y"), f"near {k}")]
    model = built(*fingers)
    found = limbs(model, mechanism(model), ("q", "v", "f_ext", "t"))
    assert set(found) == {"q", "v", "f_ext"}
    assert found["q"] == found["v"]
    assert found["q"][0] is None
    assert [(p.group, p.limb) for p in found["q"][1:] if p] == [(0, 0), (0, 0), (0, 1), (0, 1), (0, 2), (0, 2)]
    assert len({p.where for p in found["q"] if p}) == 2
    assert [len(found["f_ext"]), len({p.where for p in found["f_ext"] if p})] == [6 * 7, 6 * 2]


def test_other_joints_make_other_limbs() -> None:
    model = built(
        ("trunk", bough.joints.Free(), "world"),
        ("left", hinge(), "trunk"),
        ("right", hinge(), "trunk"),
        ("slide", bough.joints.Prismatic("x"), "trunk"),
        ("long", hinge(), "trunk"),
        ("longer", hinge(), "long"),
    )
    found = limbs(model, mechanism(model), ("v",))["v"]
    assert [p and (p.group, p.limb) for p in found] == [None] * 6 + [(0, 0), (0, 1), None, None, None]


def test_a_chain_has_none() -> None:
    model = built(("a", hinge(), "world"), ("b", hinge(), "a"), ("c", hinge(), "b"))
    assert limbs(model, mechanism(model), ("q", "v", "a")) == {}


def test_branches_of_a_tree_of_the_same_shape() -> None:
    tree = bough.trees.Tree((0, 1, 2, 1, 4, 1))
    found = tree_limbs(tree, ("packed", "H", "b", "other"))
    assert set(found) == {"packed", "H", "b"}
    assert [p and (p.group, p.limb) for p in found["b"]] == [None, (0, 0), (0, 0), (0, 1), (0, 1), None]
    assert [len(found[name]) for name in ("packed", "H", "b")] == [tree.packed_size, 36, 6]
    dense = np.reshape(np.array([*found["H"], None], object)[:-1], (6, 6))
    entry, twin, across = dense[2, 0], dense[4, 0], dense[0, 2]
    assert (entry.limb, twin.limb) == (0, 1)
    assert entry.where == twin.where != across.where
    assert dense[1, 3] is None  # between limbs
    assert tree_limbs(bough.trees.Tree((0, 1, 2)), ("packed",)) == {}


def test_factors_have_the_same_bits_with_limbs_and_without(compiled: None, rng: np.random.Generator) -> None:
    """Those of one state are computed limb beside limb, those of a batch are not."""
    tree = bough.trees.Tree((0, 1, *(parent for leg in range(4) for parent in (2, 3 + 3 * leg, 4 + 3 * leg))))
    H = np.where(tree.pattern(), rng.normal(size=(3, tree.n, tree.n)), 0.0)
    H = H + np.swapaxes(H, -2, -1) + 20 * np.eye(tree.n)
    b = rng.normal(size=(3, tree.n))
    for factorize in (bough.trees.ltl, bough.trees.ltdl, bough.trees.udut, bough.trees.uut):
        many, rows = factorize(H, tree), bough.trees.TreeMatrix.from_dense(H, tree)
        x = many.solve(b)
        for k in range(3):
            one, of_rows = factorize(H[k], tree), factorize(bough.trees.TreeMatrix(rows.values[k], tree))
            np.testing.assert_array_equal(one.packed, many.packed[k])
            np.testing.assert_array_equal(of_rows.packed, many.packed[k])
            np.testing.assert_array_equal(one.solve(b[k]), x[k])
            np.testing.assert_allclose(x[k], np.linalg.solve(H[k], b[k]), rtol=1e-9)
