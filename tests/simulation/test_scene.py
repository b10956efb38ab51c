"""Pairs of shapes that may touch, and what their contact is like: those of MuJoCo, pair by pair."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bough
from bough.model import ExplicitPair

mujoco = pytest.importorskip("mujoco")

ASSETS = Path(pytest.importorskip("gymnasium").__file__).parent / "envs" / "mujoco" / "assets"
GYMNASIUM = ["ant", "half_cheetah", "hopper", "walker2d", "humanoid", "humanoidstandup", "pusher"]

ALL_SORTS = """<mujoco>
  <worldbody>
    <geom type="plane" size="0 0 1"/> <geom type="plane" size="0 0 1" euler="90 0 0" pos="0 2 0"/> <geom size="0.1"/>
    <body name="shelf" pos="1 0 0"><geom name="board" type="box" size="0.1 0.1 0.1"/></body>
    <body name="target" mocap="true"><geom size="0.2"/></body>
    <body name="a"><joint axis="1 0 0"/><joint axis="0 1 0"/><geom name="ball" size="0.1"/>
      <geom type="capsule" size="0.1 0.2"/>
      <body name="plate" pos="0 0 0.3"><geom name="ring" type="cylinder" size="0.1 0.2"/>
        <body name="b" pos="0 0 0.3"><joint axis="1 0 0"/><joint axis="0 1 0"/>
          <geom name="egg" type="ellipsoid" size="0.1 0.2 0.3"/>
          <body name="c" pos="0.3 0 0"><joint/><geom name="brick" type="box" size="0.1 0.2 0.3"/><geom size="0.2"/>
          </body>
        </body>
      </body>
      <body name="d" pos="0 0.4 0"><joint type="ball"/><geom type="capsule" size="0.1 0.2" contype="2" conaffinity="4"/>
        <geom name="ghost" size="0.1" contype="0" conaffinity="0"/><geom name="tube" type="cylinder" size="0.1 0.2"/>
      </body>
    </body>
    <body name="e" pos="0 0 1"><freejoint/><geom name="die" type="box" size="0.1 0.1 0.1"/></body>
  </worldbody>
  <contact>
    <exclude body1="a" body2="c"/><exclude body1="world" body2="e"/><exclude body1="plate" body2="d"/>
    <pair geom1="ghost" geom2="board"/><pair geom1="ball" geom2="ring" condim="1" friction="0 1 2 3 4"/>
    <pair geom1="die" geom2="brick" margin="20" gap="1" solref="-10 -1" solreffriction="0.1 1"/>
    <pair geom1="egg" geom2="ball" condim="6"/><pair geom1="ball" geom2="brick"/>
  </contact>
</mujoco>"""


def varied(spec: Any, rng: np.random.Generator) -> str:
    """The text of a model whose geoms all say something else of contact, and touch from afar."""
    for k, geom in enumerate(spec.geoms):
        geom.name = geom.name or f"shape {k}"
        geom.friction = rng.uniform(0, 2, 3) * rng.integers(0, 2, 3)
        geom.condim = rng.choice([1, 3, 4, 6])
        geom.priority = rng.choice([0, 0, 0, 1, -2])
        geom.solmix = rng.choice([0.0, 1.0, rng.uniform()])
        geom.solref = rng.uniform(0.01, 2, 2) * rng.choice([1, 1, 1, -10])
        geom.solimp = [*rng.uniform(size=4), 1 + rng.uniform()]
        geom.margin = rng.uniform(5, 9)
        geom.gap = rng.uniform(0, 0.1)
    for pair in spec.pairs:
        pair.margin += 10
    return str(spec.to_xml())


def theirs(m: Any, rng: np.random.Generator, states: int) -> dict[tuple[str, str], tuple[np.ndarray[Any, Any], ...]]:
    """What MuJoCo says of each pair that it finds in random states."""
    d = mujoco.MjData(m)
    found = {}
    for _ in range(states):
        d.qpos[:] = m.qpos0 + rng.uniform(-1, 1, m.nq)
        mujoco.mj_kinematics(m, d)
        mujoco.mj_comPos(m, d)
        mujoco.mj_collision(m, d)
        for c in d.contact[: d.ncon]:
            first, second = (m.geom(k).name for k in c.geom)
            numbers = (c.dim, c.friction, c.solref, c.solimp, c.includemargin, c.solreffriction)
            found[first, second] = tuple(np.array(x) for x in numbers)
    return found


def texts() -> list[Any]:
    files = [pytest.param(str(ASSETS / f"{name}.xml"), id=name) for name in GYMNASIUM]
    free = ALL_SORTS.replace("<worldbody>", '<option><flag filterparent="disable"/></option><worldbody>')
    return [*files, pytest.param(ALL_SORTS, id="all sorts"), pytest.param(free, id="parents touch")]


@pytest.mark.filterwarnings("ignore:compiler attribute:UserWarning")  # of an old file
@pytest.mark.parametrize("source", texts())
def test_pairs_are_those_of_mujoco(source: str, rng: np.random.Generator) -> None:
    read = mujoco.MjSpec.from_string if source.startswith("<") else mujoco.MjSpec.from_file
    text = varied(read(source), rng)
    expected = theirs(mujoco.MjModel.from_xml_string(text), rng, 5)
    assert expected
    pairs = bough.Scene(bough.load(text, trusted=True)).pairs
    ours = {(pair.first.name, pair.second.name): pair for pair in pairs}
    assert len(ours) == len(pairs)
    assert ours.keys() == expected.keys()
    for names, pair in ours.items():
        numbers = (pair.condim, pair.friction, pair.solref, pair.solimp, pair.margin, pair.solreffriction)
        for mine, their in zip(numbers, expected[names], strict=True):
            np.testing.assert_allclose(mine, their, rtol=1e-15, atol=0)


def test_margins_and_gaps_add_up_as_in_mujoco() -> None:
    """Below the margin a contact acts; up to the gap beyond it is told of and does not act."""
    text = """<mujoco><worldbody><geom type="plane" size="0 0 1" margin="0.1" gap="0.02"/>
      <body><freejoint/><geom size="0.1" margin="0.3" gap="0.05"/></body></worldbody></mujoco>"""
    (pair,) = bough.Scene(bough.load(text)).pairs
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    distances = [pair.margin - 1e-6, pair.margin + 1e-6, pair.margin + pair.gap - 1e-6, pair.margin + pair.gap + 1e-6]
    found = []
    for distance in distances:
        d.qpos[2] = 0.1 + distance
        mujoco.mj_fwdPosition(m, d)
        found.append([int(c.exclude) for c in d.contact[: d.ncon]])
    assert found == [[0], [1], [1], []]


# --- what users add ---


def two_arms() -> bough.Builder:
    b = bough.Builder("arms")
    for side in ("left", "right"):
        b.add(side, bough.joints.Revolute("y"), mass=1.0, inertia=0.1)
        b.add(f"{side} hand", bough.joints.Revolute("y"), side, mass=1.0, inertia=0.1)
        b.geometry(side, "capsule", (0.1, 0.5), name=f"{side} bone")
        b.geometry(f"{side} hand", "sphere", 0.1, name=f"{side} ball")
    return b


def named(scene: bough.Scene) -> set[tuple[str, str]]:
    return {(pair.first.name, pair.second.name) for pair in scene.pairs}


def test_shapes_of_another_model_stand_where_they_are_in_it() -> None:
    room = bough.Builder("room")
    room.geometry("world", "box", (1, 1, 0.1), name="step", at=(0, 0, 0.05))
    room.add("door", bough.joints.Revolute("z"), at=(1, 0, 0), rpy=(0, 0, np.pi / 2), mass=1.0)
    room.geometry(
        "door", "box", (0.8, 0.02, 2), name="leaf", at=(0.4, 0, 1), surface=bough.simulation.Surface(friction=0.3)
    )
    room.geometry("door", "sphere", 0.1, name="knob", purpose="visual")
    scene = bough.Scene(bough.robots.load("quadruped")).floor().shapes_of(room.build())
    assert [(g.name, g.body) for g in scene.shapes] == [("floor", 0), ("step", 0), ("leaf", 0)]
    np.testing.assert_allclose(scene.shapes[2].placement.vector, (1, 0.4, 1), atol=1e-12)
    np.testing.assert_allclose(scene.shapes[2].placement.matrix[:, 0], (0, 1, 0), atol=1e-12)
    assert scene.shapes[2].surface.friction[0] == 0.3


def test_a_scene_is_never_changed() -> None:
    bare = bough.Scene(two_arms().build())
    full = bare.floor().box((1, 1, 1), name="crate").sphere(0.3).capsule(0.1, 1).cylinder(0.1, 1).ellipsoid((1, 2, 3))
    assert (len(bare.shapes), len(bare.pairs), len(full.shapes)) == (0, 4, 6)
    assert len(full.pairs) == 4 + 6 * 4
    assert {g.body for g in full.shapes} == {0}


def test_order_in_a_pair_is_by_shape_and_the_world_comes_first() -> None:
    scene = bough.Scene(two_arms().build(), self_collision=False).sphere(1.0, name="rock").box((1, 1, 1), name="crate")
    assert named(scene) == {
        ("rock", "left ball"), ("rock", "right ball"), ("rock", "left bone"), ("rock", "right bone"),
        ("left ball", "crate"), ("right ball", "crate"), ("left bone", "crate"), ("right bone", "crate"),
    }  # fmt: skip


def test_what_was_left_out_is_told() -> None:
    b = two_arms()
    b.geometry("left", "mesh", (1, 1, 1), name="skin", file="skin.stl")
    b.geometry("left", "box", (1, 1, 1), purpose="visual")
    model = b.build().with_simulation(excludes=[("right", "left hand")])
    scene = bough.Scene(model, exclude=[("left", "right")]).floor().plane(at=(0, 0, -1))
    assert scene.left_out.reasons == {
        "both on the base": 1,
        "on a body and its parent": 2,
        "excluded by the model": 1,
        "excluded on request": 1,
    }
    assert str(scene.left_out).splitlines()[-1] == "1 shape: mesh 'skin' on 'left', its file 'skin.stl' does not exist"
    silent = bough.Scene(model.with_simulation(disabled=["contact"])).floor()
    assert not silent.pairs
    assert "contact is switched off by the model" in str(silent.left_out)


def test_bodies_that_a_loop_joins_do_not_touch() -> None:
    b = bough.Builder("four-bar")
    for name, parent, x, length in (
        ("crank", "world", 0.0, 0.3),
        ("coupler", "crank", 0.3, 0.8),
        ("rocker", "world", 0.7, 0.5),
    ):
        b.add(name, bough.joints.Revolute("y"), parent, at=(x, 0, 0), mass=1.0, inertia=0.01)
        b.geometry(name, "capsule", (0.02, length), at=(length / 2, 0, 0), rpy=(0, np.pi / 2, 0), name=name)
    model = b.build().with_loop(
        "pin", bough.joints.Revolute("y"), "coupler", "rocker", at=(0.8, 0, 0), successor_at=(0.5, 0, 0)
    )
    scene = bough.Scene(model, overlapping=True)
    assert named(scene) == {("crank", "rocker")}
    assert scene.left_out.reasons == {"on a body and its parent": 1, "on two bodies that a loop joins": 1}
    free = bough.Scene(model.with_simulation(disabled=["filterparent"]), overlapping=True)
    assert len(free.pairs) == 3
    told = model.with_simulation(pairs=[bough.simulation.ExplicitPair("coupler", "rocker")])
    assert ("coupler", "rocker") in named(bough.Scene(told, overlapping=True))
    as_in_mujoco = model.with_simulation(reference=(0.0, 0.0, 0.0))
    assert ("coupler", "rocker") in named(bough.Scene(as_in_mujoco))


def test_requests_come_before_pairs_that_the_model_names() -> None:
    model = two_arms().build().with_simulation(pairs=[ExplicitPair("left bone", "left ball", condim=1)])
    assert ("left ball", "left bone") in named(bough.Scene(model))
    assert ("left ball", "left bone") not in named(bough.Scene(model, exclude=[("left", "left hand")]))


def test_shapes_are_excluded_by_name() -> None:
    scene = bough.Scene(two_arms().build(), self_collision=False).floor().box((1, 1, 1), name="table")
    left = named(scene) - named(scene.excluding("left hand", "table"))
    assert left == {two for two in named(scene) if set(two) == {"left ball", "table"}}
    assert len(left) == 1
    assert named(scene) - named(scene.excluding("table", "right ball")) == {("right ball", "table")}
    assert len(scene.excluding("table", "left").excluding("table", "right").exclude) == 2


def test_friction_that_is_given_counts() -> None:
    scene = bough.Scene(two_arms().build(), self_collision=False)
    assert {pair.friction[0] for pair in scene.floor(friction=0.3).pairs} == {0.3}
    assert {pair.friction[0] for pair in scene.floor(friction=0.3, priority=0).pairs} == {1.0}


@pytest.mark.parametrize("normal", [(0, 0, 2), (1, 2, 3), (1, 0, 0), (0, 0, -1), (-1, 1, -5)])
def test_a_floor_has_its_normal(normal: tuple[float, ...]) -> None:
    (floor,) = bough.Scene(two_arms().build()).floor(0.5, normal=normal).shapes
    np.testing.assert_allclose(floor.placement.matrix[:, 2], normal / np.linalg.norm(normal), atol=1e-15)
    assert floor.placement.origin == (0, 0, 0.5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda m: bough.Scene("robot"), "the model is 'robot', expected a bough.Model"),
        (lambda m: bough.Scene(m, exclude=[("left", "rigt")]), "did you mean 'right'"),
        (lambda m: bough.Scene(m, exclude=["left"]), "an entry of exclude is 'left', expected the names"),
        (lambda m: bough.Scene(m, self_collision="no"), "self_collision is 'no', expected True or False"),
        (lambda m: bough.Scene(m, m.geometries), "is on body 1, expected 0"),
        (lambda m: bough.Scene(m).floor("low"), "height of the floor is 'low', expected a finite number"),
        (lambda m: bough.Scene(m).floor(normal=(0, 0, 0)), "normal of the floor is .* not all zero"),
        (lambda m: bough.Scene(m).floor(fricton=1), "did you mean 'friction'"),
        (lambda m: bough.Scene(m).floor(friction=-1), "friction is -1, expected"),
        (lambda m: bough.Scene(m).box((1, 1)), "the size of a box is .*, expected 3 numbers"),
    ],
)
def test_wrong_scenes_are_refused(make: Any, message: str) -> None:
    with pytest.raises(bough.BoughError, match=message):
        make(two_arms().build())


@pytest.mark.parametrize("name", ["arm", "quadruped", "humanoid"])
def test_links_of_our_robots_do_not_press_on_each_other(name: str, compiled: None) -> None:
    model = bough.robots.load(name)
    found = bough.Simulation(model).contacts(bough.neutral(model), np.zeros(model.nv))
    assert not found.forces.any()
