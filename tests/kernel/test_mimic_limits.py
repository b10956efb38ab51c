"""Limits of mimic joints: the joint that they follow stops where they do."""

from __future__ import annotations

import numpy as np
import pytest

import bough


def geared(ratio: float, **limits: float) -> bough.Model:
    """A wheel that may turn from -3 to 3 rad, and another that follows it, from 0.1 rad on."""
    b = bough.Builder("geared")
    b.add("leader", bough.joints.Revolute("z"), mass=1.0, inertia=1.0, lower=-3.0, upper=3.0)
    wheel = bough.joints.Mimic(bough.joints.Revolute("z"), "leader", ratio, 0.1)
    b.add("follower", wheel, mass=1.0, inertia=1.0, **limits)
    return b.build()


@pytest.mark.parametrize(("ratio", "stop"), [(2.0, 0.45), (-2.0, -0.45)])
def test_the_leader_stops_at_the_upper_limit_of_its_follower(ratio: float, stop: float) -> None:
    model, push = geared(ratio, upper=1.0), np.sign(ratio)
    free = bough.forward_dynamics(model, [stop - 0.1 * push], [0.0], [push], limits=True)
    assert free * push > 0.0
    motion = bough.forward_dynamics(model, [stop], [0.0], [push], limits=True, full=True)
    np.testing.assert_allclose(motion.motion, 0.0, atol=1e-12)
    np.testing.assert_allclose(motion.limit_forces, -push, atol=1e-12)
    hit = bough.contact.impulses(model, [stop], [push])
    np.testing.assert_allclose(hit.motion, 0.0, atol=1e-12)


def test_its_own_limit_counts_where_it_is_tighter() -> None:
    model = geared(0.1, upper=1.0)  # would stop the leader at 9
    assert abs(bough.forward_dynamics(model, [3.0], [0.0], [1.0], limits=True)[0]) < 1e-12


def test_an_assembly_stays_within_the_range_of_followers() -> None:
    b = bough.Builder.of(geared(2.0, lower=-1.0, upper=1.0))
    b.add("link", bough.joints.Revolute("z"), "leader", mass=1.0, inertia=1.0)
    b.equality("sum", "link", "leader", (1.0, 1.0))
    model = b.build()
    q = bough.loops.assemble(model, [2.0, 3.0])  # the loop is closed there, and the follower out of its range
    assert q[0] <= 0.45 + 1e-9
    assert abs(bough.loops.errors(model, q)[0]) < 1e-9


def test_limits_that_leave_no_range_are_refused() -> None:
    model = geared(1.0, lower=5.0)
    with pytest.raises(bough.errors.ModelError, match=r"'leader' cannot obey the lower limit of follower, 4\.9"):
        bough.forward_dynamics(model, [0.0], [0.0], [0.0], limits=True)
