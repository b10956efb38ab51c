"""Which limbs count as built alike."""

from __future__ import annotations

import bough
from bough.kernel.functions import mechanism
from bough.kernel.limbs import limbs


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
