"""Mechanisms that consist of parts which share nothing: one code for parts that are built alike, run for each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bough
from bough.algorithms.copies import copies
from bough.kernel.functions import mechanism
from bough.program import evaluate
from closeness import assert_close


def _rod(rng: np.random.Generator) -> dict[str, Any]:
    return {"mass": rng.uniform(0.5, 1.5), "com": (0.2, 0.0, 0.1), "inertia": (0.02, *rng.uniform(0.02, 0.03, 2))}


def fair(count: int, seed: int = 0) -> bough.Model:
    """Four-bars of different sizes, one crank after the other first, belts between wheels, a drone and a locked arm."""
    b, rng, joints = bough.Builder("fair"), np.random.default_rng(seed), bough.joints
    length, place = rng.uniform(0.3, 0.4, count), rng.normal(size=(count, 3))
    for k in range(count):
        b.add(f"crank {k}", joints.Revolute("y"), at=place[k], **_rod(rng))
    b.add("drone", joints.Free(), mass=1.0, inertia=(0.1, 0.2, 0.25))
    for k in range(count):
        b.add(f"rocker {k}", joints.Revolute("y"), at=place[k] + (0.7, 0, 0), **_rod(rng))
        b.add(f"coupler {k}", joints.Revolute("y"), f"crank {k}", at=(length[k], 0, 0), **_rod(rng))
        b.loop(
            f"pin {k}", joints.Revolute("y"), f"coupler {k}", f"rocker {k}", at=(0.8, 0, 0), successor_at=(0.5, 0, 0)
        )
    for k in range(3):
        for wheel in "ab":
            b.add(f"{wheel} {k}", joints.Revolute("z"), mass=1.0, inertia=rng.uniform(1.0, 2.0), armature=0.1 * (k > 0))
        b.equality(f"belt {k}", f"b {k}", f"a {k}", (0.0, 2.0, 0.3))
    b.add("arm", joints.Revolute("x"), mass=1.0, com=(0, 0, 0.3), inertia=0.1)
    b.loop("lock", joints.Fixed(), "world", "arm")
    return b.build()


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("constrained_motion", ("f_ext", "loop_tau", "decay_rate")),
        ("constrained_dynamics_by_multipliers", ()),
        ("constrained_dynamics_by_null_space", ()),
        ("consistent_velocity", ()),
        ("onto_constraints", ()),
    ],
)
def test_parts_move_as_they_do_in_one_program(name: str, given: tuple[str, ...]) -> None:
    """Numbers, places in q and external forces are those of each, whatever the order of bodies and constraints."""
    model = fair(3)
    assert sorted(part.count for part in copies(mechanism(model))) == [
        1,
        1,
        1,
        2,
        3,
    ]  # one belt has wheels without armature
    function, rng = bough.function(name, model), np.random.default_rng(1)
    x = {a.name: rng.normal(size=a.size) for a in function.inputs if not a.optional or a.name in given}
    x["q"] = bough.random(model, rng)
    x |= {"decay_rate": np.array([3.0])} if given else {}
    straight, by_parts = (evaluate(function.program(*given, rolled=rolled), x) for rolled in (False, True))
    for output in (a.name for a in function.outputs):
        assert_close(by_parts[output], straight[output], 1e-9)


def test_many_parts_cost_what_they_cost_alone() -> None:
    """A program that is too large to be straight-line has hardly more operations, and its length stays the same."""
    alone = bough.count(fair(1), "constrained_dynamics", optimized=True).total
    lengths = {}
    for count in (24, 48):
        model = fair(count)
        assert bough.count(model, "constrained_dynamics", optimized=True).total < count * alone
        lengths[count] = len(str(bough.function("constrained_dynamics", model).program()).splitlines())
    assert abs(lengths[48] - lengths[24]) < 10


def test_states_of_a_batch_are_those_of_single_calls(compiled: None) -> None:
    """To the last bit, where parts are in a loop."""
    model, rng = fair(22), np.random.default_rng(2)
    q, v = bough.random(model, rng, 3), rng.normal(size=(3, model.nv))
    found = bough.forward_dynamics(model, q, v, np.ones(model.nv))
    for k in range(3):
        np.testing.assert_array_equal(bough.forward_dynamics(model, q[k], v[k], np.ones(model.nv)), found[k])


def test_parts_of_many_structures_are_left_to_a_loop_over_bodies() -> None:
    """Code of very many parts that differ would be as long as a straight-line program."""
    b = bough.Builder("chains")
    for k in range(12):
        for i in range(k + 1):
            parent = f"{k} {i - 1}" if i else "world"
            b.add(f"{k} {i}", bough.joints.Revolute("y"), parent, at=(0.3, 0, 0), mass=1.0, inertia=0.1)
    assert copies(mechanism(b.build())) == ()
