"""Models written as MJCF: read again by bough and by MuJoCo, they move as before; what cannot be written is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import bough
from closeness import assert_close
from mjcf_texts import MACHINE
from model_strategies import random_inertia, random_joint, random_placement, random_rotation
from mujoco_states import disagreement, unforced

TOLERANCE = 1e-10
ALIKE = ("revolute", "prismatic", "spherical")  # the same coordinates when read again
JOINTS = (*ALIKE, "continuous", "cylindrical", "universal", "translational", "planar")


def depth_first_model(rng: np.random.Generator, bodies: int, joints: tuple[str, ...]) -> bough.Model:
    """A random tree whose bodies come depth first, as in MJCF, with a free base, frames, limits, losses and shapes."""
    b = bough.Builder('a <model> & "more"', gravity=rng.normal(size=3))
    b.add("base & co", bough.joints.Free(), joint_name="float", damping=0.1, **random_inertia(rng))
    path = ["base & co"]
    for k in range(bodies):
        kind = str(rng.choice(joints))
        joint = random_joint(kind, rng)
        path = path[: rng.integers(1, len(path) + 1)]
        single = joint.nv == 1
        turns = np.array([0.0, 0.0, 1.0]) if kind == "planar" else np.ones(joint.nv)
        frame: dict[str, Any] = {"frame_at": rng.uniform(-1, 1, size=3)}
        if kind != "spherical":
            frame["frame_rotation"] = random_rotation(rng)
        more = {"lower": -1.0, "upper": rng.choice([1.0, np.inf]), "effort": 5.0, "stiffness": 2.0, "rest": 0.3}
        b.add(
            f"b{k}", joint, path[-1], joint_name=f"j{k}", armature=0.1 * k * turns, damping=0.2, friction=0.3 * turns,
            **frame, **random_inertia(rng), **random_placement(rng), **(more if single else {}),
        )  # fmt: skip
        path.append(f"b{k}")
        b.frame(f"f{k}", f"b{k}", **random_placement(rng))
        b.geometry(f"f{k}", "capsule", (0.1, 0.5), name="shape", purpose="visual", rgba=(1, 0, 0, 0.5))
    return b.build()


@pytest.mark.parametrize("seed", range(4))
def test_the_same_model_comes_back(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    model = depth_first_model(rng, 5, ALIKE)
    path = tmp_path / "model.xml"
    bough.save(model, path)
    again = bough.load(path, trusted=True)
    assert (again.name, again.joint_names, again.body_names) == (model.name, model.joint_names, model.body_names)
    assert again.frame_names == model.frame_names
    q, v, a = bough.random(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    assert_close(bough.crba(again, q), bough.crba(model, q), TOLERANCE, axes=2)
    assert_close(bough.rnea(again, q, v, a), bough.rnea(model, q, v, a), TOLERANCE)
    frames = model.frame_names
    assert_close(bough.placements(again, q, frames), bough.placements(model, q, frames), TOLERANCE, axes=3)
    for sort in ("lower", "upper", "effort", "damping", "friction", "armature", "stiffness", "rest"):
        assert again.limits(sort).tolist() == model.limits(sort).tolist()
    assert [(g.shape, g.size, g.purpose, g.body) for g in again.geometries] == [
        (g.shape, g.size, g.purpose, g.body) for g in model.geometries
    ]
    for ours, theirs in zip(model.geometries, again.geometries, strict=True):
        assert_close(theirs.placement.matrix, ours.placement.matrix, TOLERANCE, axes=2)
        assert_close(theirs.placement.vector, ours.placement.vector, TOLERANCE)


@pytest.mark.parametrize("seed", range(6))
def test_mujoco_moves_it_as_we_do(seed: int, tmp_path: Path) -> None:
    """All joints that MJCF can express; MuJoCo's coordinates are reached through the converters."""
    rng = np.random.default_rng(seed)
    model = depth_first_model(rng, 5, JOINTS)
    bough.save(model, tmp_path / "model.xml")
    m = unforced(mujoco.MjModel.from_xml_path(str(tmp_path / "model.xml")))
    q = bough.random(model, rng)
    qpos = bough.convert.states_to_mujoco(model, q)
    d = mujoco.MjData(m)
    d.qpos[:] = qpos
    mujoco.mj_kinematics(m, d)
    assert_close(bough.placements(model, q)[:, :3, 3], d.xpos[1:], TOLERANCE, axes=2)
    if not any(isinstance(entry.joint, bough.joints.Planar) for entry in model.joints):  # rates along other axes
        worst = disagreement(model, m, rng)
        assert max(worst.values()) <= 1e-9


def test_forces_in_the_plane_that_are_kept_are_the_same(tmp_path: Path) -> None:
    """Springs and damping that are the same along both axes, and all that acts about the normal, at any angle."""
    rng = np.random.default_rng(4)
    b = bough.Builder("disc")
    losses = {"damping": (2, 2, 3), "stiffness": (4, 4, 5), "rest": (0.3, 0.2, 0.1), "armature": (0, 0, 0.2)}
    b.add(
        "disc", bough.joints.Planar(), friction=(0, 0, 1), effort=(np.inf, np.inf, 3), **losses, **random_inertia(rng)
    )
    model = b.build()
    bough.save(model, tmp_path / "disc.xml")
    back = bough.load(tmp_path / "disc.xml", trusted=True)
    q, v, tau = rng.normal(size=(3, 20, 3))
    c, s, zero, one = np.cos(q[:, 2]), np.sin(q[:, 2]), np.zeros(20), np.ones(20)
    turn = np.moveaxis(np.array([[c, -s, zero], [s, c, zero], [zero, zero, one]]), -1, 0)
    rate = v[:, 2, None, None] * np.moveaxis(np.array([[-s, -c, zero], [c, -s, zero], [zero, zero, zero]]), -1, 0)
    theirs = (turn @ v[..., None])[..., 0]
    passive = bough.passive_forces(model, q, v)
    assert_close(bough.passive_forces(back, q, theirs), (turn @ passive[..., None])[..., 0], TOLERANCE)
    a = bough.forward_dynamics(model, q, v, tau)
    want = (turn @ a[..., None] + rate @ v[..., None])[..., 0]
    assert_close(bough.forward_dynamics(back, q, theirs, (turn @ tau[..., None])[..., 0]), want, TOLERANCE)
    assert back.limits("friction").tolist() == [0, 0, 1]
    assert back.limits("effort").tolist() == [np.inf, np.inf, 3]


def test_what_turns_in_the_plane_is_left_out_on_request(tmp_path: Path) -> None:
    b = bough.Builder("m")
    rod(b, bough.joints.Planar(), damping=(1, 2, 3), armature=(1, 1, 2), effort=(1, 1, 4))
    bough.save(b.build(), tmp_path / "m.xml", leave_out=("losses", "armature", "limits"))
    back = bough.load(tmp_path / "m.xml", trusted=True)
    assert back.limits("damping").tolist() == [0, 0, 3]
    assert back.limits("armature").tolist() == [0, 0, 2]
    assert back.limits("effort").tolist() == [np.inf, np.inf, 4]


def test_bodies_without_inertia_become_joints(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    b = bough.Builder("m")
    parent = "world"
    for k in range(4):
        body = random_inertia(rng) if k % 2 else {}
        place = {**random_placement(rng), "frame_at": rng.normal(size=3), "frame_rotation": random_rotation(rng)}
        joint = bough.joints.Revolute(rng.normal(size=3)) if k else bough.joints.Prismatic(rng.normal(size=3))
        b.add(f"b{k}", joint, parent, **place, **body)
        parent = f"b{k}"
    model = b.build()
    bough.save(model, tmp_path / "m.xml")
    again = bough.load(tmp_path / "m.xml", trusted=True)
    assert again.body_names == ("b1/b0", "b1", "b3/b2", "b3")
    q, v, a = bough.random(model, rng), rng.normal(size=4), rng.normal(size=4)
    assert_close(bough.rnea(again, q, v, a), bough.rnea(model, q, v, a), TOLERANCE)
    assert_close(bough.placements(again, q, "b3"), bough.placements(model, q, "b3"), TOLERANCE, axes=2)


def test_constraints_come_back(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    b = bough.Builder("m")
    for k in range(3):
        b.add(
            f"b{k}", bough.joints.Revolute("z"), "world" if k == 0 else f"b{k - 1}", at=(1, 0, 0), **random_inertia(rng)
        )
    b.frame("hook", "b2", at=(0.5, 0, 0))
    turn = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    b.loop("pin", bough.joints.Spherical(), "world", "hook", at=(0.1, 0.2, 0.3))
    b.loop("hold", bough.joints.Fixed(), "b0", "b2", rotation=turn, successor_at=(3, 2, 1))
    b.equality("law", "b0", "b1", (0.1, 0.2, 0.3, 0.4), zero=0.5, other_zero=0.6)
    b.equality("still", "b2", None, 0.7)
    model = b.build()
    bough.save(model, tmp_path / "m.xml")
    mujoco.MjModel.from_xml_path(str(tmp_path / "m.xml"))
    again = bough.load(tmp_path / "m.xml", trusted=True)
    for ours, theirs in zip(model.constraints[:2], again.constraints[:2], strict=True):
        assert (theirs.name, theirs.joint) == (ours.name, ours.joint)
        for side in ("predecessor", "successor"):
            assert getattr(theirs, side).body == getattr(ours, side).body
            assert_close(getattr(theirs, side).placement.matrix, getattr(ours, side).placement.matrix, 1e-15, axes=2)
            assert getattr(theirs, side).placement.origin == getattr(ours, side).placement.origin
    for ours, theirs in zip(model.constraints[2:], again.constraints[2:], strict=True):
        for x in (-1.0, 0.0, 2.0):
            values = [c.zero + np.polynomial.polynomial.polyval(x - c.other_zero, c.polynomial) for c in (ours, theirs)]
            assert values[0] == pytest.approx(values[1], abs=1e-12)
    bough.save(again, tmp_path / "n.xml")  # sites that are there serve again
    assert bough.load(tmp_path / "n.xml", trusted=True).frame_names == again.frame_names


def test_what_mujoco_wrote_comes_back(tmp_path: Path, rng: np.random.Generator) -> None:
    model = bough.load(MACHINE, trusted=True)
    bough.save(model, tmp_path / "m.xml")
    worst = disagreement(model, unforced(mujoco.MjModel.from_xml_path(str(tmp_path / "m.xml"))), rng)
    assert max(worst.values()) <= TOLERANCE
    again = bough.load(tmp_path / "m.xml", trusted=True)
    assert again.body_names == model.body_names
    assert set(again.frame_names) >= set(model.frame_names)
    for sort in ("lower", "upper", "effort", "damping", "friction", "stiffness", "rest"):
        assert again.limits(sort).tolist() == model.limits(sort).tolist()


def test_meshes_and_planes(tmp_path: Path) -> None:
    b = bough.Builder("m")
    b.add("a", bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
    b.geometry("a", "mesh", (1, 1, 2), file="gone & lost.stl", at=(1, 2, 3))
    b.geometry("a", "mesh", (1, 1, 1), file="gone & lost.stl")
    b.geometry("world", "plane", (np.inf, 4), name="floor")
    for name in ("twin", "twin"):
        b.geometry("a", "sphere", 0.1, name=name)
    model = b.build()
    bough.save(model, tmp_path / "m.xml")
    again = bough.load(tmp_path / "m.xml")
    found = {(g.name, g.shape, g.size, g.file) for g in again.geometries}
    assert found == {
        ("", "mesh", (1, 1, 2), "gone & lost.stl"), ("", "mesh", (1, 1, 1), "gone & lost.stl"),
        ("floor", "plane", (np.inf, 4), ""), ("twin", "sphere", (0.1,), ""), ("twin_2", "sphere", (0.1,), ""),
    }  # fmt: skip


# --- what MJCF cannot express ---


def rod(b: bough.Builder, joint: Any, name: str = "a", **more: Any) -> None:
    b.add(name, joint, **{"mass": 1.0, "inertia": 1.0, **more})


WRONG: dict[str, tuple[Callable[[bough.Builder], Any], str]] = {
    "helical": (lambda b: rod(b, bough.joints.Helical("z", 0.1)), "joint 'a', which moves like Helical"),
    "mimic": (
        lambda b: (
            rod(b, bough.joints.Revolute("z"), "c"),
            rod(b, bough.joints.Mimic(bough.joints.Revolute("z"), "c", 2.0)),
        ),
        "joint 'a', which moves like Mimic",
    ),
    "free, placed": (lambda b: rod(b, bough.joints.Free(), at=(1, 0, 0)), "a free joint that does not place its body"),
    "turned ball": (
        lambda b: rod(b, bough.joints.Spherical(), frame_rotation=np.diag([1, -1, -1])),
        "joint 'a', a ball whose body frame is rotated",
    ),
    "velocity": (
        lambda b: rod(b, bough.joints.Revolute("z"), velocity=3),
        r"limits of joint 'a' to its velocity.*'limits'",
    ),
    "room": (lambda b: rod(b, bough.joints.Free(), lower=[-0.5] * 3 + [-np.inf] * 4), "limits of joint 'a'"),
    "no motion": (
        lambda b: rod(b, bough.joints.Revolute("z"), lower=1, upper=1),
        "limits of joint 'a' that leave it no",
    ),
    "losses": (lambda b: rod(b, bough.joints.Spherical(), damping=(1, 2, 3)), "different losses in the directions of"),
    "friction in the plane": (
        lambda b: rod(b, bough.joints.Planar(), friction=(1, 1, 0)),
        r"the friction of joint 'a' along the axes of its body, which turn in the plane.*'losses'",
    ),
    "damping in the plane": (
        lambda b: rod(b, bough.joints.Planar(), damping=(1, 2, 0)),
        r"the damping of joint 'a' along the axes of its body.*'losses'",
    ),
    "spring in the plane": (
        lambda b: rod(b, bough.joints.Planar(), stiffness=(1, 2, 0)),
        r"the stiffness of joint 'a' along the axes of its body.*'springs'",
    ),
    "armature in the plane": (
        lambda b: rod(b, bough.joints.Planar(), armature=(1, 1, 0)),
        r"the armature of joint 'a' along the axes of its body.*'armature'",
    ),
    "effort in the plane": (
        lambda b: rod(b, bough.joints.Planar(), effort=(1, 1, np.inf)),
        r"limits of joint 'a' to forces along the axes of its body.*'limits'",
    ),
    "armature": (
        lambda b: rod(b, bough.joints.Spherical(), armature=(1, 2, 3)),
        "different armature in the directions",
    ),
    "spring": (lambda b: rod(b, bough.joints.Spherical(), stiffness=1, rest=(1, 0, 0, 0)), "the spring of joint 'a'"),
    "point mass": (
        lambda b: rod(b, bough.joints.Revolute("z"), com=(1, 0, 0), inertia=0),
        "body 'a', which moves and lacks",
    ),
    "mesh of another format": (
        lambda b: (rod(b, bough.joints.Revolute("z")), b.geometry("a", "mesh", (1, 1, 1), file="/m/x.dae")),
        r"the mesh '' on 'a', whose file '/m/x.dae' is none of .stl, .obj, .msh.*'geometries'",
    ),
    "mesh not found": (
        lambda b: (rod(b, bough.joints.Revolute("z")), b.geometry("a", "mesh", (1, 1, 1), file="package://m/x.stl")),
        r"the mesh '' on 'a', whose file 'package://m/x.stl' was not found.*'geometries'",
    ),
    "plane": (lambda b: (rod(b, bough.joints.Revolute("z")), b.geometry("a", "plane", (1, 1))), "planes do not move"),
    "loop": (
        lambda b: (rod(b, bough.joints.Revolute("z")), b.loop("l", bough.joints.Revolute("x"), "world", "a")),
        "the loop 'l', closed by Revolute",
    ),
    "loop limits": (
        lambda b: (rod(b, bough.joints.Revolute("z")), b.loop("l", bough.joints.Spherical(), "world", "a", effort=1)),
        "limits of the loop 'l'",
    ),
    "loop losses": (
        lambda b: (rod(b, bough.joints.Revolute("z")), b.loop("l", bough.joints.Spherical(), "world", "a", damping=1)),
        "damping or friction of the loop 'l'",
    ),
    "loop spring": (
        lambda b: (
            rod(b, bough.joints.Revolute("z")),
            b.loop("l", bough.joints.Spherical(), "world", "a", stiffness=1),
        ),
        "the spring of the loop 'l'",
    ),
    "law": (
        lambda b: (rod(b, bough.joints.Revolute("z")), b.equality("l", "a", "a", [0, 0, 0, 0, 0, 1])),
        "the law 'l' with powers above 4",
    ),
    "order": (
        lambda b: (
            rod(b, bough.joints.Revolute("z")),
            rod(b, bough.joints.Revolute("z"), "c"),
            rod(b, bough.joints.Revolute("z"), "d", parent="a"),
        ),
        "this order of joints",
    ),
    "seven": (
        lambda b: (
            b.add("x", bough.joints.Translational()),
            b.add("y", bough.joints.Translational(), "x"),
            rod(b, bough.joints.Revolute("z"), parent="y"),
        ),
        "joints 'x', 'y', 'a' on one body: more than six",
    ),
    "ball, hinge": (
        lambda b: (b.add("x", bough.joints.Spherical()), rod(b, bough.joints.Revolute("z"), parent="x")),
        "joints 'x', 'a' on one body: a ball before a hinge",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_refused(name: str, tmp_path: Path) -> None:
    make, message = WRONG[name]
    b = bough.Builder("m")
    make(b)
    path = tmp_path / "m.xml"
    path.write_text("before")
    with pytest.raises(bough.errors.SaveError, match=message):
        bough.save(b.build(), path)
    assert [p.name for p in tmp_path.iterdir()] == ["m.xml"]
    assert path.read_text() == "before"


def test_what_may_be_left_out_is(tmp_path: Path) -> None:
    b = bough.Builder("m")
    rod(b, bough.joints.Revolute("z"), velocity=3.0)
    rod(b, bough.joints.Revolute("z"), "c")
    rod(b, bough.joints.Revolute("z"), "d", parent="a")
    bough.save(b.build(), tmp_path / "m.xml", leave_out=("limits", "order"))
    assert bough.load(tmp_path / "m.xml", trusted=True).joint_names == ("a", "d", "c")


def test_names_that_no_xml_can_hold(tmp_path: Path) -> None:
    b = bough.Builder("m")
    rod(b, bough.joints.Revolute("z"), "a\0b")
    with pytest.raises(bough.errors.SaveError, match="characters that no XML file can hold"):
        bough.save(b.build(), tmp_path / "m.xml")
