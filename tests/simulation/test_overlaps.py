"""Shapes that overlap before anything moves, and other things that users stumble over."""

from __future__ import annotations

import re

import numpy as np
import pytest

import bough
from bough.errors import ModelError, ShapeError
from bough.simulation.scene import OVERLAP

LIMB = (0.05, 0.3)  # radius and length (m) of a capsule


def folded_arm(joint=None):
    """Three links, each pivoting 0.1 m from the last: the third reaches into the first."""
    b = bough.Builder("folded")
    parent, at = "world", (0.0, 0.0, 0.0)
    for name in ("upper", "middle", "lower"):
        how = bough.joints.Revolute("x") if joint is None or name != "lower" else joint
        b.add(name, how, parent, at=at, mass=1.0, inertia=0.01)
        b.geometry(name, "capsule", LIMB, at=(0.0, 0.0, -0.15))
        parent, at = name, (0.0, 0.0, -0.1)
    return b.build()


def test_links_that_overlap_do_not_press_on_each_other():
    arm = folded_arm()
    scene = bough.Scene(arm)
    assert not scene.pairs
    assert "1 pair: overlapping with all coordinates at zero; Scene(…, overlapping=True) keeps them" in str(
        scene.left_out
    )
    kept = bough.Scene(arm, overlapping=True)
    assert [(p.first.frame, p.second.frame) for p in kept.pairs] == [("upper", "lower")]
    assert not bough.Simulation(kept).left_out.reasons.keys() & {OVERLAP}
    forces = bough.Simulation(kept).contacts(np.array([0.0, 0.1, 0.0]), np.zeros(3)).forces
    assert np.abs(forces).max() > 1.0


def test_what_slides_may_touch_though_it_overlaps_at_zero():
    arm = folded_arm(bough.joints.Prismatic("y"))
    assert len(bough.Scene(arm).pairs) == 1


def test_whether_they_may_is_a_truth_value():
    with pytest.raises(ModelError, match="overlapping"):
        bough.Scene(folded_arm(), overlapping="yes")


@pytest.mark.parametrize(
    ("shape", "size", "what"),
    [
        ("sphere", 0.0, "the radius of a sphere is 0 m: nothing can touch that"),
        ("box", (1.0, 0.0, 1.0), "of a box are 1, 0, 1 m: nothing can touch that"),
        ("cylinder", (0.1, 0.0), "of a cylinder are 0.1, 0 m"),
        ("capsule", (0.0, 0.1), "of a capsule are 0, 0.1 m"),
    ],
)
def test_shapes_without_size_are_refused_by_name(shape, size, what):
    b = bough.Builder("nothing")
    b.add("link", bough.joints.Free(), mass=1.0, inertia=1.0)
    with pytest.raises(ModelError, match=re.escape(what)):
        b.geometry("link", shape, size, name="dot")
    b.geometry("link", shape, size, name="dot", purpose="visual")


def test_a_capsule_without_length_is_a_ball():
    b = bough.Builder("ball")
    b.add("ball", bough.joints.Free(), mass=1.0, inertia=1.0)
    b.geometry("ball", "capsule", (0.1, 0.0))
    assert b.build().geometries[0].size == (0.1, 0.0)


def test_an_event_of_whatever_touches():
    stone = bough.Builder("stone")
    stone.add("stone", bough.joints.Prismatic("z"), mass=1.0)
    stone.geometry("stone", "sphere", 0.1)
    model = stone.build()
    sim = bough.Simulation(bough.Scene(model).floor())
    run = sim.run([0.1 + 9.81 / 8], duration=1.0, events={"down": sim.contact_event()})
    assert run.events[0].time == pytest.approx(0.5, abs=0.01)
    with pytest.raises(ModelError, match="no shapes in the scene of 'stone' may touch"):
        bough.Simulation(model).contact_event()


def test_resampling_by_a_rate_that_was_given_as_a_time():
    b = bough.Builder("slider")
    b.add("block", bough.joints.Prismatic("x"), mass=1.0)
    motion = bough.Trajectory(b.build(), [0, 1, 3], [[0], [1], [3]], [[1], [1], [1]])
    with pytest.raises(ShapeError, match=r"dt is 33 s, longer than the motion of 3 s.*rate=33"):
        motion.resampled(33)
    assert len(motion.resampled(3).time) == 2
    assert len(motion.resampled(rate=33).time) == 100


def test_a_sweep_that_does_not_fit_is_told_before_it_runs():
    sim = bough.Simulation(folded_arm())
    with pytest.raises(ShapeError, match=r"expected at most the .* GB of this machine.*path='runs.zarr'"):
        sim.sweep(np.zeros(3), duration=1e6, grid={"q": np.zeros((2000, 3))})
