"""Models out of files and into files again: the same motion, the same names; what cannot be said is refused."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bough
from bough.model import Placement
from bough.model.arguments import rotation_from_rpy
from closeness import assert_close
from model_strategies import random_model, random_rotation
from urdf_text import joint, link, robot

SHAPES = """<visual name="a &quot;b&quot;"><origin xyz="0 0 1" rpy="1 2 3"/><geometry><box size="1 2 3"/></geometry>
<material name="m"><color rgba="0 1 0 0.5"/></material></visual>
<collision><geometry><mesh filename="package://p/a b.stl" scale="1 1 -2"/></geometry></collision>
<collision><geometry><cylinder radius="0.5" length="2"/></geometry></collision>
<collision><geometry><capsule radius="0.5" length="2"/></geometry></collision>
<collision><geometry><sphere radius="0.5"/></geometry></collision>"""
PLACE = '<origin xyz="0.1 0.2 0.3" rpy="0.3 -1 2"/><axis xyz="{}"/>'
LIMITED = PLACE + '<limit lower="-1" upper="1.5" effort="3" velocity="4"/><dynamics damping="5" friction="6"/>'

EVERYTHING = robot(
    *(link(x, SHAPES if x in "ag" else "") for x in "abcdefghi"),
    joint("z", "a", "b", "continuous", LIMITED.format("0 0.6 0.8")),
    joint("y", "b", "c", "prismatic", LIMITED.format("2 1 0")),
    joint("x", "b", "d", "planar", PLACE.format("0 1 1")),
    joint("w", "d", "e", "floating", PLACE.format("1 0 0")),
    joint("v", "a", "f", "fixed", PLACE.format("1 0 0")),
    joint("u", "f", "g", "revolute", LIMITED.format("-1 0 0")),
    joint("t", "g", "h", "revolute", LIMITED.format("0 1 0") + '<mimic joint="u" multiplier="0.5" offset="0.1"/>'),
    joint("s", "f", "i", "revolute", PLACE.format("0 1 0")),
)


WORDS = (bough.joints.Revolute, bough.joints.Prismatic, bough.joints.Planar, bough.joints.Free)


def again(model: bough.Model, tmp_path: Path) -> bough.Model:
    bough.save(model, tmp_path / "again.urdf")
    return bough.load(tmp_path / "again.urdf")


def same_but_for_rounding(one: bough.Model, other: bough.Model) -> None:
    assert other.name == one.name
    assert other.body_names == one.body_names
    assert set(other.frame_names) == set(one.frame_names)
    for x in ("name", "joint", "lower", "upper", "velocity", "effort", "damping", "friction"):
        assert [getattr(entry, x) for entry in one.joints] == [getattr(entry, x) for entry in other.joints]
    for name in one.frame_names:
        a, b = one.frame(name), other.frame(name)
        assert a.body == b.body
        assert np.allclose(a.placement.matrix, b.placement.matrix, rtol=0, atol=2e-15)
        assert np.allclose(a.placement.vector, b.placement.vector, rtol=0, atol=2e-15)
    assert shapes(one) == shapes(other)


def shapes(model: bough.Model) -> list[object]:
    return sorted((g.name, g.frame, g.shape, g.size, g.purpose, g.file, g.rgba or ()) for g in model.geometries)


OPTIONS = [{}, {"floating_base": True}, {"order": "file"}, {"mimic": False}, {"merge_fixed": False}]


@pytest.mark.parametrize("options", OPTIONS)
def test_a_file_written_and_read_again(options: dict[str, bool], tmp_path: Path, rng: np.random.Generator) -> None:
    model = bough.load(EVERYTHING, **options)  # type: ignore[arg-type]
    back = again(model, tmp_path)
    same_but_for_rounding(model, back)
    assert [body.inertia.mass for body in back.bodies] == [body.inertia.mass for body in model.bodies]
    q, (v, a) = bough.random(model, rng), rng.normal(size=(2, model.nv))
    assert_close(bough.rnea(back, q, v, a), bough.rnea(model, q, v, a), 1e-13)


def test_pinocchio_reads_what_is_written(tmp_path: Path, rng: np.random.Generator) -> None:
    text = EVERYTHING.replace("0 1 1", "0 0 1")  # Pinocchio knows no other normal of a planar joint
    model = bough.load(text, floating_base=True, mimic=False)
    bough.save(model, tmp_path / "x.urdf")
    theirs = pin.buildModelFromUrdf(str(tmp_path / "x.urdf"))
    assert sorted(theirs.names) == sorted(["universe", *model.joint_names])
    straight = bough.load(tmp_path / "x.urdf", order="pinocchio")
    assert list(straight.joint_names) == list(theirs.names)[1:]
    q, (v, a) = bough.random(straight, rng), rng.normal(size=(2, straight.nv))
    want = pin.rnea(theirs, theirs.createData(), bough.convert.states_to_pinocchio(straight, q), v, a)
    assert_close(bough.rnea(straight, q, v, a), want, 1e-13)


def test_models_hung_from_another_link(tmp_path: Path, rng: np.random.Generator) -> None:
    """A body whose frame is away from its joint becomes two links; the motion and the frames are the same."""
    text = robot(*(link(x) for x in "abcd"), joint("x", "a", "b"), joint("y", "b", "c"), joint("z", "c", "d"))
    model = bough.load(text, root="d", floating_base=True)
    back = again(model, tmp_path)
    assert back.joint_names == model.joint_names
    assert "a_at_joint" in back.body_names
    q, (v, a) = bough.random(model, rng), rng.normal(size=(2, model.nv))
    assert_close(bough.rnea(back, q, v, a), bough.rnea(model, q, v, a), 1e-12)
    assert np.allclose(bough.placements(back, q, list("abcd")), bough.placements(model, q, list("abcd")), atol=1e-14)


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_random_models_are_written_or_refused_by_name(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    rng = np.random.default_rng(seed)
    types = ["revolute", "continuous", "prismatic", "planar", "free", "fixed"] if seed % 3 else None
    model = replace(random_model(rng, 4, types, mimic=True, armature=False), gravity=(0.0, 0.0, -9.81))
    path = tmp_path_factory.mktemp("random") / "x.urdf"
    motions = {e.name: e.joint.joint if isinstance(e.joint, bough.joints.Mimic) else e.joint for e in model.joints}
    wordless = [name for name, joint in motions.items() if not isinstance(joint, WORDS)]
    if wordless:
        with pytest.raises(bough.errors.SaveError, match=re.escape(repr(wordless[0]))):
            bough.save(model, path)
        assert not path.exists()
        return
    bough.save(model, path)
    back = bough.load(path)
    assert back.joint_names == model.joint_names
    q, (v, a) = bough.random(model, rng), rng.normal(size=(2, model.nv))
    assert_close(bough.rnea(back, q, v, a), bough.rnea(model, q, v, a), 1e-11)


@pytest.mark.parametrize(
    ("joint", "options", "message"),
    [
        (bough.joints.Helical("z", 0.1), {}, "joint 'j', which moves like Helical"),
        (bough.joints.Spherical(), {}, "joint 'j', which moves like Spherical"),
        (bough.joints.Universal("x", "y"), {}, "Universal"),
        (bough.joints.Cylindrical("x"), {}, "Cylindrical"),
        (bough.joints.Translational(), {}, "Translational"),
        (bough.joints.Revolute("x"), {"armature": 0.1}, r"the armature of joint 'j' \(leave_out=\('armature',\)"),
        (bough.joints.Revolute("x"), {"stiffness": 0.1}, r"the spring of joint 'j' \(leave_out=\('springs',\)"),
        (bough.joints.Planar(), {"damping": (1, 2, 3)}, r"different losses .* joint 'j' \(leave_out=\('losses',\)"),
        (bough.joints.Planar(), {"effort": 3.0}, r"limits of joint 'j', which is planar \(leave_out=\('limits',\)"),
        (bough.joints.Revolute("x", True), {"upper": 3.0}, r"limits of joint 'j', which is continuous"),
    ],
)
def test_what_cannot_be_said_is_refused(joint: bough.joints.Joint, options: dict, message: str, tmp_path: Path) -> None:  # type: ignore[type-arg]
    builder = bough.Builder()
    builder.add("b", joint, joint_name="j", mass=1.0, inertia=1.0, **options)
    target = tmp_path / "x.urdf"
    target.write_text("before")
    with pytest.raises(bough.errors.SaveError, match=f"URDF cannot express .*{message}"):
        bough.save(builder.build(), target)
    assert target.read_text() == "before"
    assert list(tmp_path.iterdir()) == [target]


def test_gravity_and_shapes_may_be_left_out(tmp_path: Path) -> None:
    builder = bough.Builder(gravity=(0, 0, -1.62))
    builder.add("b", bough.joints.Revolute(), mass=1.0, inertia=1.0)
    builder.geometry("b", "ellipsoid", (1, 2, 3))
    model = builder.build()
    with pytest.raises(
        bough.errors.SaveError, match=r"gravity .*the ellipsoid on 'b' \(leave_out=\('geometries', 'gravity'\)"
    ):
        bough.save(model, tmp_path / "x.urdf")
    bough.save(model, tmp_path / "x.urdf", leave_out=("gravity", "geometries"))
    assert bough.load(tmp_path / "x.urdf").gravity == (0, 0, -9.81)
    with pytest.raises(bough.errors.UnknownNameError, match="did you mean 'gravity'"):
        bough.save(model, tmp_path / "x.urdf", leave_out=("gravty",))


def test_where_files_cannot_go(tmp_path: Path) -> None:
    builder = bough.Builder("bell \x07")
    with pytest.raises(bough.errors.SaveError, match="no XML file can hold"):
        bough.save(builder.build(), tmp_path / "x.urdf")
    model = bough.Builder("fine").build()
    with pytest.raises(bough.errors.SaveError, match="cannot be written"):
        bough.save(model, tmp_path / "no" / "x.urdf")
    with pytest.raises(bough.errors.SaveError, match="suffix"):
        bough.save(model, tmp_path / "x.step")
    with pytest.raises(bough.errors.UnknownNameError, match="did you mean 'urdf'"):
        bough.save(model, tmp_path / "x", format="urfd")
    with pytest.raises(bough.errors.SaveError, match="a str, expected"):
        bough.save("model", tmp_path / "x.urdf")  # type: ignore[arg-type]
    bough.save(model, tmp_path / "x", format="urdf")
    assert bough.load(tmp_path / "x") == model


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1e-300, 1e-17, 1e-12, 1e-9, 1e-7, 1e-3]))
def test_roll_pitch_yaw_are_exact_also_near_the_pole(seed: int, away: float) -> None:
    rng = np.random.default_rng(seed)
    near = rotation_from_rpy(rng.uniform(-3, 3), math.copysign(math.pi / 2 - away, rng.normal()), rng.uniform(-3, 3))
    for R in (near, random_rotation(rng)):
        place = Placement.of(R, (0, 0, 0), "here")
        assert np.allclose(rotation_from_rpy(*place.rpy), place.matrix, rtol=0, atol=1e-15)


PEDESTAL = robot(
    link("pedestal", mass=10.0),
    link("plate", mass=3.0),
    link("arm"),
    joint("bolts", "pedestal", "plate", "fixed", '<origin xyz="0.1 0.2 0.3" rpy="0 0 1"/>'),
    joint("turn", "plate", "arm", inner='<origin xyz="0 0 0.2"/>'),
)


@pytest.mark.parametrize("text", [PEDESTAL, robot(link("alone", mass=1.0))])
def test_links_on_the_base_keep_their_inertia(text: str, tmp_path: Path, rng: np.random.Generator) -> None:
    """The base has no use for them, but a program that reads the file and lets the robot move freely does."""
    model = bough.load(text)
    for suffix in ("urdf", "json", "xml"):
        bough.save(model, tmp_path / f"again.{suffix}")
        back = bough.load(tmp_path / f"again.{suffix}", **({"trusted": True} if suffix == "xml" else {}))
        assert set(back.frame_names) == set(model.frame_names)
        for frame in model.frames:
            mine, theirs = frame.inertia, back.frame(frame.name).inertia
            assert mine is not None
            assert theirs is not None
            assert np.allclose(theirs.matrix, mine.matrix, rtol=1e-12)
            assert np.allclose((theirs.mass, *theirs.com), (mine.mass, *mine.com), rtol=1e-12)
        bough.save(back, tmp_path / "last.urdf")
        floating, freed = (
            bough.load(source, floating_base=True, order="file") for source in (text, tmp_path / "last.urdf")
        )
        assert freed.mass == pytest.approx(floating.mass, rel=1e-12)
        q, v = bough.random(floating, rng), rng.normal(size=floating.nv)
        tau = np.zeros(floating.nv)
        assert_close(bough.forward_dynamics(freed, q, v, tau), bough.forward_dynamics(floating, q, v, tau), 1e-9)


def test_pinocchio_and_mujoco_find_the_mass_of_links_on_the_base(tmp_path: Path) -> None:
    model = bough.load(PEDESTAL)
    bough.save(model, tmp_path / "again.urdf")
    bough.save(model, tmp_path / "again.xml")
    theirs = pin.buildModelFromUrdf(str(tmp_path / "again.urdf"), pin.JointModelFreeFlyer())
    whole = bough.load(PEDESTAL, floating_base=True)
    assert pin.computeTotalMass(theirs) == pytest.approx(whole.mass)
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "again.xml")).body_mass.sum() == pytest.approx(whole.mass)


def test_other_programs_read_capsules(tmp_path: Path) -> None:
    """Those of files of version 1.2; files without any say no version, as ever."""
    file = tmp_path / "x.urdf"
    for shape, version in (("capsule", True), ("cylinder", False)):
        b = bough.Builder("m")
        b.add("a", bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
        b.geometry("a", shape, (0.1, 0.5))
        bough.save(b.build(), file)
        theirs = pin.buildModelFromUrdf(str(file))
        assert pin.buildGeomFromUrdf(theirs, str(file), pin.GeometryType.COLLISION).ngeoms == 1
        assert (' version="1.2"' in file.read_text()) == version
        assert not bough.problems(file)


@pytest.mark.filterwarnings("ignore::bough.errors.LoadWarning")
def test_an_impossible_inertia_of_a_fixed_link_is_named_in_mjcf(tmp_path: Path) -> None:
    """MuJoCo takes none, not even of what does not move; URDF takes all."""
    moments = '<inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="3"/>'
    base = f'<link name="base"><inertial><mass value="2"/>{moments}</inertial></link>'
    model = bough.load(robot(base, link("arm"), joint("turn", "base", "arm")))
    with pytest.raises(bough.errors.SaveError, match=r"the inertia of body 'base'.*leave_out=\('inertias',"):
        bough.save(model, tmp_path / "x.xml")
    bough.save(model, tmp_path / "x.xml", leave_out=("inertias", "limits"))
    left = bough.load(tmp_path / "x.xml", trusted=True)
    assert left.mass == model.mass
    assert left.frame("base").inertia is None
    bough.save(model, tmp_path / "x.urdf")
    kept = bough.load(tmp_path / "x.urdf")
    assert kept.frame("base").inertia == model.frame("base").inertia
