"""Assembly within the limits of joints: of the tree and of loops, from starts near and far."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import bough
from mechanisms import closed, four_bar, random_loops

INF = np.inf


def limited(model: bough.Model, loop: tuple[float, float] | None = None, **bounds: tuple[float, float]) -> bough.Model:
    """The same model with limits on joints by name, and on the joint of its loop."""
    joints = []
    for entry in model.joints:
        low, high = bounds.get(entry.name, (-INF, INF))
        joints.append(replace(entry, lower=(float(low),), upper=(float(high),)))
    constraints = model.constraints
    if loop is not None:
        constraints = tuple(replace(c, lower=(loop[0],), upper=(loop[1],)) for c in model.loops)
    return replace(model, joints=tuple(joints), constraints=constraints)


def around(model: bough.Model, q: Any, room: float) -> bough.Model:
    """The same model with limits so far on both sides of a configuration, for all that may have limits."""

    def bounded(entry: Any, at: Any) -> Any:
        numbers = np.ones(entry.joint.nq, bool)
        for k in entry.joint.quaternions:
            numbers[k : k + 4] = False
        sides = (np.where(numbers, at + sign * room, sign * INF) for sign in (-1.0, 1.0))
        lower, upper = (tuple(float(x) for x in side) for side in sides)
        return replace(entry, lower=lower, upper=upper)

    x, closing, start = bough.loops.coordinates(model, q), [], 0
    for c in model.loops:
        closing.append(bounded(c, x[start : start + c.joint.nq]))
        start += c.joint.nq
    moving = [
        e if isinstance(e.joint, bough.joints.Mimic) else bounded(e, q[model.q_slice(e.name)]) for e in model.joints
    ]
    return replace(model, joints=tuple(moving), constraints=tuple(closing))


def assert_within(model: bough.Model, q: Any, tolerance: float = 1e-10) -> None:
    assert np.abs(bough.loops.errors(model, q)).max() <= tolerance
    assert (q >= model.limits("lower")).all()
    assert (q <= model.limits("upper")).all()
    x = bough.loops.coordinates(model, q)
    assert (x >= model.loop_limits("lower") - 1e-10).all()
    assert (x <= model.loop_limits("upper") + 1e-10).all()


@pytest.fixture(params=[-1.0, 0.3, 2.0])
def two_ways(request: pytest.FixtureRequest) -> tuple[bough.Model, list[Any]]:
    """A four-bar whose crank is given, and its two assemblies, with angles within half a turn."""
    model, crank = four_bar(), request.param
    found = [bough.loops.assemble(model, [crank, *guess], hold=["crank"]) for guess in ((0.5, -1.5), (-0.5, 1.5))]
    ways = [np.append(q[:1], (q[1:] + np.pi) % (2 * np.pi) - np.pi) for q in found]
    assert abs(ways[0][2] - ways[1][2]) > 0.5
    return model, ways


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("joint", ["coupler", "rocker"])
@pytest.mark.parametrize("part", [0.02, 0.5, 0.98])
def test_the_other_assembly_is_found_where_a_limit_excludes_the_nearer(
    two_ways: tuple[bough.Model, list[Any]], joint: str, part: float
) -> None:
    """From the place of the one that is excluded, by a limit just beside it, half way, or just before the other."""
    model, ways = two_ways
    k = model.joint_names.index(joint)
    for near, far in (ways, ways[::-1]):
        assert np.allclose(bough.loops.assemble(model, near, hold=["crank"]), near)
        bound = near[k] + part * (far[k] - near[k])
        beyond = far[k] + 0.5 * np.sign(far[k] - near[k])
        sides = (min(bound, beyond), max(bound, beyond))
        inside = limited(model, **{joint: sides})
        q = bough.loops.assemble(inside, near, hold=["crank"])
        assert_within(inside, q)
        assert q[0] == near[0]
        assert np.allclose(np.cos(q - far), 1.0)


def test_a_limit_of_the_joint_that_closes_the_loop_excludes_an_assembly_too(
    two_ways: tuple[bough.Model, list[Any]],
) -> None:
    model, ways = two_ways
    for near, far in (ways, ways[::-1]):
        own = float(bough.loops.coordinates(model, far)[0])
        inside = limited(model, (own - 0.1, own + 0.1))
        q = bough.loops.assemble(inside, near, hold=["crank"])
        assert_within(inside, q)
        assert np.allclose(np.cos(q - far), 1.0)


def test_all_are_found_from_starts_far_away_and_each_as_if_alone(rng: np.random.Generator) -> None:
    model, q, _ = closed("four-bar")
    inside = around(model, q, 0.25)
    starts = rng.uniform(-10, 10, size=(5, 8, 3))
    found = bough.loops.assemble(inside, starts)
    assert_within(inside, found)
    assert np.array_equal(found[3, 5], bough.loops.assemble(inside, starts[3, 5]))
    start = starts.copy()
    bough.loops.assemble(inside, starts, out=found)
    assert np.array_equal(start, starts)


@pytest.mark.parametrize("name", ["slider-crank", "five-bar", "Stewart platform", "delta robot"])
def test_known_mechanisms_from_hostile_starts(name: str, rng: np.random.Generator) -> None:
    model, q, _ = closed(name)
    inside = around(model, q, 0.3)
    starts = bough.integrate(inside, q, 2 * rng.normal(size=(6, model.nv)))
    assert_within(inside, bough.loops.assemble(inside, starts))


@pytest.mark.parametrize("kind", ["cylindrical", "planar", "universal", "translational", "free", "spherical"])
def test_joints_of_every_type_stay_within_their_limits(kind: str, rng: np.random.Generator) -> None:
    """In the tree and closing a loop, with mimic joints beside them."""
    closing = kind if kind != "free" else "translational"
    model, q = random_loops(rng, [closing], bodies=5, joints=[kind, "revolute", "planar"], mimic=True)
    inside = around(model, q, 0.2)
    starts = bough.integrate(inside, q, 0.4 * rng.normal(size=(4, model.nv)))
    assert (np.abs(starts - q) > 0.2).any()
    assert_within(inside, bough.loops.assemble(inside, starts))


def test_limits_that_are_not_reached_change_nothing() -> None:
    model, q, _ = closed("five-bar")
    start = q + np.array([0.2, -0.3, 0.1, 0.2])
    assert np.allclose(
        bough.loops.assemble(around(model, q, 2.0), start), bough.loops.assemble(model, start), rtol=0, atol=1e-12
    )


@pytest.mark.usefixtures("compiled")
def test_where_there_is_no_assembly_within_the_limits_the_joint_is_named() -> None:
    model, q, _ = closed("four-bar")
    low = limited(model, rocker=(q[2] + 0.2, q[2] + 0.4))
    message = r"'pin\[\d\]' is not met: .*no assembly within the limits was found: 'rocker' is at its lower limit"
    with pytest.raises(bough.errors.AssemblyError, match=message):
        bough.loops.assemble(low, q, hold=["crank"])
    with pytest.raises(
        bough.errors.AssemblyError, match=r"is not met in state \[1\]: .*'rocker' is at its lower limit"
    ):
        bough.loops.assemble(low, [bough.loops.assemble(low, q), q], hold=["crank"])
    own = float(bough.loops.coordinates(model, q)[0])
    shut = limited(model, (own + 0.2, own + 0.3), crank=(q[0], q[0]), rocker=(q[2] - 0.1, q[2] + 0.1))
    with pytest.raises(bough.errors.AssemblyError, match="'pin' is at its lower limit"):
        bough.loops.assemble(shut, q)
    with pytest.raises(
        bough.errors.AssemblyError, match=r"joint 'crank' is held 0\.5 m or rad past its limits, which are"
    ):
        bough.loops.assemble(limited(model, crank=(q[0] - 1, q[0] - 0.5)), q, hold=["crank"])
    far = four_bar(coupler=3.0)
    with pytest.raises(bough.errors.AssemblyError, match="Start nearer to an assembly, or hold fewer joints"):
        bough.loops.assemble(far, np.zeros(3))


def test_what_cannot_be_met_better_is_told_with_the_tolerance_that_accepts_it() -> None:
    """Cassie closes to rounding at zero, where four joints are past their limits, and within these to 8e-9."""
    model = bough.robots.load("cassie_v2", floating_base=True)
    q = bough.neutral(model)
    told = (
        r"constraint '.*' is not met: it is off by 7\.\d+e-09 m or rad, expected at most 1e-10\. The guess was past "
        r"its limits.*: 'left-tarsus-crank-joint' to -0\.6109, .*\. No step leads nearer: there is nothing better than "
        r"7\.\d+e-09 near here.*; tolerance=1e-08 accepts it$"
    )
    with pytest.raises(bough.errors.AssemblyError, match=told):
        bough.loops.assemble(model, q)
    assert_within(model, bough.loops.assemble(model, q, tolerance=1e-8), 1e-8)


def test_steps_that_stall_and_steps_that_run_out_are_told_apart() -> None:
    far = four_bar(coupler=3.0)
    with pytest.raises(
        bough.errors.AssemblyError, match=r"No step leads nearer: there is nothing better than [\d.]+ near here"
    ):
        bough.loops.assemble(far, np.zeros(3))
    model, q, _ = closed("four-bar")
    with pytest.raises(bough.errors.AssemblyError, match="That is after 1 steps; more iterations may lead nearer"):
        bough.loops.assemble(model, q + 0.5, iterations=1)


def test_a_model_without_degrees_of_freedom_is_assembled() -> None:
    nothing = bough.Builder().build()
    assert bough.loops.assemble(nothing, []).shape == (0,)
    assert bough.loops.assemble(nothing, np.zeros((2, 3, 0))).shape == (2, 3, 0)
    model, _, _ = closed("four-bar")
    assert bough.loops.assemble(model, np.zeros((0, model.nq))).shape == (0, model.nq)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        *(({"tolerance": x}, f"tolerance is {x!r}, expected a finite number") for x in ("a", None, -1.0, np.inf, 1j)),
        *(({"iterations": x}, f"iterations is {x!r}, expected a whole number") for x in ("a", None, -1, 2.5)),
        *(({"hold": x}, f"hold is {x!r}, expected a name or several") for x in (None, 3)),
    ],
)
@pytest.mark.parametrize("bodies", [0, 2])
def test_wrong_options_are_told(options: dict[str, Any], message: str, bodies: int) -> None:
    model = bough.trees.topologies.chain(bodies) if bodies else bough.Builder().build()
    with pytest.raises(bough.errors.ShapeError, match=message):
        bough.loops.assemble(model, np.zeros(bodies), **options)


def test_what_is_held_may_come_from_a_generator() -> None:
    model, q, _ = closed("four-bar")
    start = q + 0.1
    assert bough.loops.assemble(model, start, hold=(name for name in ("crank",)))[0] == start[0]  # type: ignore[arg-type]
    assert bough.loops.assemble(model, start, hold="crank")[0] == start[0]


def test_angles_stay_within_half_a_turn_of_the_guess_where_turns_mean_nothing(rng: np.random.Generator) -> None:
    model, guess = four_bar(), rng.uniform(-3.0, 3.0, (60, 3))
    guess[0] = 2.0, 0.5, -1.5
    q = bough.loops.assemble(model, guess)
    assert np.abs(bough.loops.errors(model, q)).max() < 1e-10
    assert np.abs(q - guess).max() <= np.pi + 1e-9
    for q_far in (guess + 4.0 * np.pi, guess - 6.0 * np.pi):
        assert np.abs(bough.loops.assemble(model, q_far) - q_far).max() <= np.pi + 1e-9
    within = model.with_joint("rocker", lower=-3.0, upper=3.0)
    found = bough.loops.assemble(within, [2.0, 0.5, -1.5 - 2.0 * np.pi])
    assert -3.0 <= found[2] <= 3.0


def test_turns_that_something_counts_are_kept() -> None:
    """Ten turns of a worm are one of its wheel: the wheel follows where it is, not where it was guessed."""
    b = bough.Builder("gear")
    for name in ("worm", "wheel"):
        b.add(name, bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
    b.equality("teeth", "wheel", "worm", (0.0, 0.1))
    q = bough.loops.assemble(b.build(), [100.0, 0.0], hold=["worm"])
    np.testing.assert_allclose(q, [100.0, 10.0], atol=1e-9)
