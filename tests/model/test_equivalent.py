"""The cheaper equivalent of a model: what is regrouped and slid, and that nothing a user sees depends on it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bough
from bough.kernel import table
from bough.kernel.functions import mechanism
from bough.model import equivalent
from bough.model import mechanism as inside
from bough.scalar import leaves
from bough.spatial.rotation import Product
from closeness import assert_close
from model_strategies import models


def test_links_on_revolute_joints_have_no_mass_left() -> None:
    m = mechanism(bough.trees.topologies.balanced_tree(4))
    for i in range(1, m.tree.n + 1):
        moments = m.at(i).regrouped_moments
        assert (moments.mass, moments.moment.z, moments.second.zz) == (0.0, 0.0, 0.0)
        assert m.at(i).inertia.mass > 0


def test_a_free_base_takes_over_all_the_mass() -> None:
    model = bough.trees.topologies.humanoid()
    total = sum(mechanism(model).at(i).regrouped_inertia.mass for i in range(1, model.nbodies + 1))
    assert total == pytest.approx(model.mass, rel=1e-14)


def components(model: bough.Model) -> int:
    m = inside.Mechanism(model)
    return sum(x != 0 for i in range(1, m.tree.n + 1) for x in leaves(m.at(i).placement.translation))


def test_sliding_leaves_an_offset_arm_fewer_components(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shoulder, elbow and wrist in different planes: with sliding, all joints lie in one."""
    builder = bough.Builder("arm")
    for k, at in enumerate([(0, 0, 1), (0.3, 0.1, 0), (0.3, -0.2, 0), (0.1, 0.05, 0)]):
        axis = "z" if k == 0 else "y"
        builder.add(f"{k}", bough.joints.Revolute(axis), f"{k - 1}" if k else "world", at=at, mass=1.0, inertia=0.1)
    model = builder.build()
    assert components(model) == 4  # the first placement, which costs nothing, and one length each
    monkeypatch.setattr(inside, "slides", lambda tree, *_: [0.0] * tree.n)
    assert components(model) == 7


@given(models(), st.integers(0, 2**32 - 1))
@settings(max_examples=12, deadline=None)
def test_nothing_a_user_sees_depends_on_it(model: bough.Model, seed: int) -> None:
    """The same model without sliding and regrouping gives the same placements, forces and motions."""
    rng = np.random.default_rng(seed)
    q, v, a = bough.random(model, rng), *rng.normal(size=(2, model.nv))
    f = rng.normal(size=(model.nbodies, 6))

    def seen() -> list[np.ndarray]:
        return [
            bough.rnea(model, q, v, a, f),
            bough.crba(model, q),
            bough.placements(model, q),
            bough.velocities(model, q, v),
            bough.kinetic_energy(model, q, v),
            bough.center_of_mass(model, q),
        ]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inside, "turns", lambda tree, *_: [0.0] * tree.n)
        patch.setattr(inside, "slides", lambda tree, *_: [0.0] * tree.n)
        patch.setattr(inside.Touched, "holds_inertia", lambda self, body: True)
        forget()
        plain = seen()
    forget()
    for got, expected in zip(seen(), plain, strict=True):
        assert_close(got, expected, 1e-11, axes=np.ndim(got), scale=1.0)


def forget() -> None:
    """Make insides and kernels anew."""
    mechanism.cache_clear()
    table._forget()


def test_frames_of_general_chains_are_turned_until_placements_are_simple() -> None:
    """As in the convention of Denavit and Hartenberg, though the author's frames are anything but that."""
    rng = np.random.default_rng(0)
    builder = bough.Builder("skew chain")
    for k in range(6):
        rpy, at, axis = rng.uniform(-1, 1, size=(3, 3))
        builder.add(
            f"{k}", bough.joints.Revolute(axis), f"{k - 1}" if k else "world", at=at, rpy=rpy, mass=1.0, inertia=0.1
        )
    m = mechanism(builder.build())
    for i in range(2, 7):
        assert isinstance(m.at(i).placement.rotation, Product)


def test_large_mechanisms_keep_their_frames() -> None:
    model = bough.trees.topologies.chain(equivalent.MOST_BODIES_SLID + 1)
    m = mechanism(model)
    assert not m.origins.any()
    np.testing.assert_array_equal(m.alignments[1:], [joint.alignment for joint in m.joints])
