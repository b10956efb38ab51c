"""Forward dynamics heeds contacts and limits where that is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bough


def door() -> bough.Model:
    """A door at its stop, with the z axis upright."""
    b = bough.Builder("door")
    b.add("leaf", bough.joints.Revolute("z"), mass=2.0, com=(0.5, 0, 0), inertia=0.2, lower=0.0, upper=1.5)
    return b.build()


def test_limits_hold_on_request_alone() -> None:
    model = door()
    pushed = ([0.0], [0.0], [-3.0])
    assert bough.forward_dynamics(model, *pushed) == pytest.approx([-3.0 / 0.7])
    assert bough.forward_dynamics(model, *pushed, limits=True) == pytest.approx([0.0])
    found = bough.forward_dynamics(model, *pushed, limits=True, full=True)
    assert found.limit_forces == pytest.approx([3.0])
    out = np.empty(1)
    assert bough.forward_dynamics(model, *pushed, limits=True, out=out) is out
    assert out == pytest.approx([0.0])


def test_what_touches_is_contact_dynamics() -> None:
    b = bough.Builder()
    b.add("box", bough.joints.Free(), mass=2.0, inertia=0.1)
    model, v, tau = b.build(), np.zeros(6), np.zeros(6)
    corners = [[x, y, -0.1] for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
    touch = bough.contact.Contacts([("box", None)] * 4).at(corners, [[0, 0, 1.0]] * 4, mu=0.5)
    state = (model, bough.neutral(model), v, tau)
    assert np.abs(bough.forward_dynamics(*state, touch=touch)).max() < 1e-12
    found = bough.forward_dynamics(*state, touch=touch, full=True)
    assert found.contact_forces[:, 0].sum() == pytest.approx(2.0 * 9.81)
    assert np.array_equal(found.motion, bough.contact.dynamics(*state, touch, limits=False).motion)


@pytest.mark.parametrize("more", [{"method": "aba"}, {"loops": False}, {"full": True, "out": np.zeros(1)}])
def test_what_does_not_go_together_is_refused(more: dict[str, Any]) -> None:
    with pytest.raises(bough.BoughError, match="expected"):
        bough.forward_dynamics(door(), [0.0], [0.0], [-3.0], limits=True, **more)


@pytest.mark.parametrize("method", [np.zeros(3), np.array([]), "abba", None])
def test_methods_that_are_none_are_told_by_name(method: Any) -> None:
    model = bough.trees.topologies.chain(2)
    with pytest.raises(bough.errors.UnknownNameError, match="no method of forward dynamics is called"):
        bough.forward_dynamics(model, [0.0] * 2, [0.0] * 2, [0.0] * 2, limits=True, method=method)
