"""Spanning trees of mechanisms with loops: the same mechanism, wherever it is cut."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bough
from bough.kernel.choice import method_costs
from closeness import assert_close

LENGTHS = (0.4, 0.9, 0.7)


def bars(lengths: tuple[float, ...], gap: float, name: str, **limits: Any) -> bough.Builder:
    """A row of bars that turn about z, whose last end is to be held on the base at a distance: a planar loop."""
    b = bough.Builder(name)
    carrier, start = "world", 0.0
    for k, length in enumerate(lengths, start=1):
        solid = {"mass": 1.0 + 0.2 * k, "com": (length / 2, 0.1, 0.0), "inertia": (0.01, 0.05, 0.05)}
        b.add(f"bar {k}", bough.joints.Revolute("z"), carrier, joint_name=f"j{k}", at=(start, 0, 0), **solid, **limits)
        carrier, start = f"bar {k}", length
    end = (lengths[-1], 0.0, 0.0)
    b.loop("close", bough.joints.Revolute("z"), "world", carrier, at=(gap, 0, 0), successor_at=end)
    return b


def four_bar(**limits: Any) -> bough.Model:
    return bars(LENGTHS, 0.8, "four-bar", **limits).build()


def five_bar() -> bough.Model:
    return bars((0.4, 0.6, 0.6, 0.4), 0.5, "five-bar").build()


def two_loops() -> bough.Model:
    """A long four-bar with a second loop: two more bars from the middle of the second one to the base."""
    b = bars((0.5, 0.8, 0.8, 0.5), 0.9, "two loops")
    b.add("prop", bough.joints.Revolute("z"), "bar 2", joint_name="p1", at=(0.4, 0.1, 0), mass=1.0, inertia=0.02)
    b.add("foot", bough.joints.Revolute("z"), "prop", joint_name="p2", at=(0.6, 0, 0), mass=1.0, inertia=0.02)
    b.loop("stand", bough.joints.Revolute("z"), "world", "foot", at=(0.3, -0.4, 0), successor_at=(0.5, 0, 0))
    return b.build()


MODELS = {"four-bar": four_bar(), "five-bar": five_bar(), "two loops": two_loops()}
MAKERS = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())


def loops(model: bough.Model) -> list[bough.loops.Loop]:
    return [x for x in model.constraints if isinstance(x, bough.loops.Loop)]


def places(model: bough.Model, q: Any) -> dict[str, Any]:
    """Homogeneous matrices of all bodies, the base among them."""
    return {"world": np.eye(4), **dict(zip(model.body_names, bough.placements(model, q), strict=True))}


def relative(model: bough.Model, q: Any, loop: bough.loops.Loop) -> Any:
    """The successor's side of a loop in the predecessor's."""
    X, names = places(model, q), ("world", *model.body_names)
    a, b = (X[names[end.body]] @ homogeneous(end.placement) for end in (loop.predecessor, loop.successor))
    return np.linalg.inv(a) @ b


def homogeneous(p: Any) -> Any:
    return np.vstack([np.column_stack([p.matrix, p.vector]), [0, 0, 0, 1]])


def gaps(model: bough.Model, q: Any) -> Any:
    return np.concatenate([relative(model, q, loop)[:3, 3] for loop in loops(model)])


def assembled(model: bough.Model, rng: np.random.Generator) -> Any:
    """A configuration with all loops closed, by Gauss-Newton steps from random ones."""
    for _ in range(20):
        q = rng.uniform(-1.5, 1.5, size=model.nq)
        for _ in range(60):
            if np.abs(gaps(model, q)).max() < 1e-13:
                return q
            h = 1e-6
            rows = [(gaps(model, q + h * e) - gaps(model, q - h * e)) / (2 * h) for e in np.eye(model.nq)]
            q = q - np.linalg.pinv(np.array(rows).T, rcond=1e-6) @ gaps(model, q)
    raise AssertionError("the loops cannot be closed")


def angles(model: bough.Model, q: Any) -> dict[str, float]:
    """The angle of every joint, loops included: all turn about z."""
    found = {name: float(x) for name, x in zip(model.joint_names, q, strict=True)}
    for loop in loops(model):
        X = relative(model, q, loop)
        found[loop.name] = float(np.arctan2(X[1, 0], X[0, 0]))
    return found


@MAKERS
def test_bodies_are_where_they_were(model: bough.Model, rng: np.random.Generator) -> None:
    """At a configuration in which loops are closed, whatever joint is cut; and back again."""
    q = assembled(model, rng)
    where, known = places(model, q), angles(model, q)
    for name in model.joint_names:
        try:
            other = model.respanned(name, *[loop.name for loop in loops(model)][1:])
        except bough.errors.ModelError:
            other = model.respanned(name, *[loop.name for loop in loops(model)][:-1])
        assert set(other.joint_names) | {x.name for x in loops(other)} == known.keys()
        assert name in {x.name for x in loops(other)}
        moved = np.array([known[title] for title in other.joint_names])
        for body, X in places(other, moved).items():
            assert_close(X, where[body], 1e-11, axes=2)
        assert np.abs(gaps(other, moved)).max() < 1e-11
        back = other.respanned(*[loop.name for loop in loops(model)])
        assert set(back.joint_names) == set(model.joint_names)
        again = places(back, np.array([known[title] for title in back.joint_names]))
        assert all(np.allclose(again[body], where[body], rtol=0, atol=1e-11) for body in where)


@MAKERS
def test_energy_is_the_same_in_motions_that_keep_the_loops(model: bough.Model, rng: np.random.Generator) -> None:
    q = assembled(model, rng)
    h = 1e-6
    J = np.array([(gaps(model, q + h * e) - gaps(model, q - h * e)) / (2 * h) for e in np.eye(model.nq)]).T
    v = np.linalg.svd(J)[2][-1]  # moves without opening a loop
    other = bough.trees.spanning(model).respanned
    now, then = angles(model, q), angles(model, q + h * v)
    before = angles(model, q - h * v)
    rate = {name: np.angle(np.exp(1j * (then[name] - before[name]))) / (2 * h) for name in now}
    p, w = (np.array([x[name] for name in other.joint_names]) for x in (now, rate))
    assert_close(bough.kinetic_energy(other, p, w), bough.kinetic_energy(model, q, v), 1e-6, axes=0)
    assert_close(bough.potential_energy(other, p), bough.potential_energy(model, q), 1e-9, axes=0, scale=10.0)


@pytest.mark.parametrize(
    ("model", "cut", "before", "after"),
    [
        (four_bar(), {"j2", "j3"}, (3, 4), (1, 1)),  # three in a row, or two and one
        (five_bar(), {"j3"}, (6, 10), (2, 2)),  # four in a row, or two and two
    ],
    ids=lambda x: x.name if isinstance(x, bough.Model) else "",
)
def test_a_loop_is_cut_in_the_middle(
    model: bough.Model, cut: set[str], before: tuple[int, int], after: tuple[int, int]
) -> None:
    found = bough.trees.spanning(model)
    assert found.current.cut == ("close",)
    assert set(found.best.cut) <= cut
    assert (before, after) == ((found.current.D1, found.current.D2), (found.best.D1, found.best.D2))
    assert found.best.operations < found.current.operations
    assert found.all_seen
    other = found.respanned
    tree = other.dof_tree
    assert (tree.D0, tree.D1, tree.D2) == (found.best.D0, found.best.D1, found.best.D2)
    assert tuple(x.name for x in loops(other)) == found.best.cut
    assert method_costs(other)["crba"].operations < method_costs(model)["crba"].operations
    assert found.best.cut[0] in str(found)


def test_two_loops_are_cut_at_once() -> None:
    """No other pair of cuts is cheaper."""
    found = bough.trees.spanning(two_loops())
    other = found.respanned
    names = [*two_loops().joint_names, "close", "stand"]
    for a in names:
        for b in names:
            try:
                cost = two_loops().respanned(a, b).dof_tree
            except bough.errors.ModelError:
                continue
            assert (other.dof_tree.D1, other.dof_tree.D2) <= (cost.D1, cost.D2)
    assert {x.name for x in loops(other)} == set(found.best.cut)


def test_joints_keep_their_order_but_that_carriers_come_first() -> None:
    other = five_bar().respanned("j3")
    assert other.joint_names == ("j1", "j2", "close", "j4")
    assert other.body_names == ("bar 1", "bar 2", "bar 4", "bar 3")
    assert five_bar().respanned("j1").joint_names == ("close", "j4", "j3", "j2")
    assert five_bar().respanned("close") == five_bar()


def test_joints_with_more_freedom_are_better_cut() -> None:
    """A ball joint in a loop has three coordinates less to carry than a hinge."""
    b = bough.Builder("ball")
    b.add("rod", bough.joints.Revolute("y"), mass=1.0, com=(0.5, 0, 0), inertia=0.1)
    b.add("link", bough.joints.Spherical(), "rod", at=(1, 0, 0), mass=1.0, com=(0.5, 0, 0), inertia=0.1)
    b.loop("hinge", bough.joints.Revolute("y"), "world", "link", at=(2, 0, 0), successor_at=(1, 0, 0))
    assert bough.trees.spanning(b.build()).best.cut == ("link",)


def test_joints_with_armature_stay() -> None:
    model = four_bar(armature=0.1)
    assert bough.trees.spanning(model).respanned is model
    with pytest.raises(
        bough.errors.ModelError, match=r"'j2' cannot be cut: it has the armature \(0.1,\), which a loop cannot have"
    ):
        model.respanned("j2")


def test_limits_and_losses_travel_with_a_joint_that_is_cut() -> None:
    own = {"lower": -1.0, "upper": 2.0, "velocity": 5.0, "effort": 3.0, "damping": 0.1, "friction": 0.2}
    model = four_bar(**own, stiffness=4.0, rest=0.3)
    cut = model.respanned("j2")
    (loop,) = cut.loops
    for sort in ("lower", "upper", "velocity", "effort", "damping", "friction", "stiffness", "rest"):
        assert np.array_equal(cut.loop_limits(sort), getattr(model.joint("j2"), sort))
        assert getattr(loop, sort) == getattr(model.joint("j2"), sort)
        assert getattr(cut.joint("close"), sort) == getattr(model.loops[0], sort)
    assert cut.respanned("close").joint("j2") == model.joint("j2")
    assert bough.trees.spanning(model).respanned.loops


def test_joints_that_others_depend_on_stay() -> None:
    b = bars(LENGTHS, 0.8, "coupled")
    b.add("fan", bough.joints.Mimic(bough.joints.Revolute("z"), "j2", 2.0), "bar 1", mass=1.0, inertia=0.1)
    b.equality("law", "j3", None, 0.3)
    model = b.build()
    for name, why in (("j2", "joint 'fan' follows it"), ("fan", "it follows"), ("j3", "constraint 'law' couples it")):
        with pytest.raises(bough.errors.ModelError, match=f"joint '{name}' cannot be cut: {why}"):
            model.respanned(name)
    other = model.respanned("j1")
    assert [x.name for x in other.constraints] == ["j1", "law"]


def test_mistakes() -> None:
    model = four_bar()
    with pytest.raises(bough.errors.ModelError, match="no loops among its constraints"):
        bough.trees.spanning(bough.trees.topologies.chain(2))
    with pytest.raises(bough.errors.UnknownNameError, match="j1"):
        model.respanned("j9")
    for cut in ((), ("j1", "j2")):
        with pytest.raises(bough.errors.ModelError, match="expected 1 cut, one in each loop"):
            model.respanned(*cut)
    b = bars(LENGTHS, 0.8, "welded")
    b.loop("weld", bough.joints.Fixed(), "bar 1", "bar 3")
    with pytest.raises(bough.errors.ModelError, match="constraint 'weld' has to be cut: it moves nothing"):
        b.build().respanned("close", "j2")
    b.loop("j1", bough.joints.Revolute(), "bar 1", "bar 3")
    with pytest.raises(bough.errors.ModelError, match="there is a joint of this name too"):
        bough.trees.spanning(b.build())


def test_frames_shapes_and_the_floating_base_go_along(rng: np.random.Generator) -> None:
    b = bough.Builder("walker")
    b.add("trunk", bough.joints.Free(), mass=3.0, inertia=0.3)
    for k, carrier in enumerate(("trunk", "a", "b")):
        b.add("abc"[k], bough.joints.Revolute("y"), carrier, at=(0.2, 0, 0.1), mass=1.0, inertia=0.1)
    b.loop("close", bough.joints.Revolute("y"), "trunk", "c", at=(0.3, 0, 0), successor_at=(0, 0, 0.2))
    b.frame("toe", "c", at=(0.1, 0.2, 0.3))
    b.geometry("c", "sphere", 0.1)
    model = b.build()
    other = bough.trees.spanning(model).respanned
    assert other.joint_names[0] == "trunk"
    assert other.frame("toe").body == other.frame("c").body == other.geometries[0].body
    assert other.geometries[0].placement == model.geometries[0].placement
    with pytest.raises(bough.errors.ModelError, match="it constrains nothing"):
        model.respanned("trunk")
