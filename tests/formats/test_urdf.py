"""What each element of a URDF file means, and what is said of those that are wrong."""

from __future__ import annotations

import math
import re

import numpy as np
import pinocchio as pin
import pytest

import bough
from bough.model.arguments import rotation_from_rpy
from closeness import assert_close
from urdf_text import joint, link, robot


def one_joint(kind: str, inner: str) -> bough.Model:
    return bough.load(robot(link("a"), link("b"), joint("j", "a", "b", kind, inner)))


# --- joints ---


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("revolute", bough.joints.Revolute((0, 0.6, 0.8))),
        ("continuous", bough.joints.Revolute((0, 0.6, 0.8), continuous=True)),
        ("prismatic", bough.joints.Prismatic((0, 0.6, 0.8))),
        ("planar", bough.joints.Planar((0, 0.6, 0.8))),
        ("floating", bough.joints.Free()),
    ],
)
def test_types_of_joints(kind: str, expected: bough.joints.Joint) -> None:
    model = one_joint(kind, '<axis xyz="0 3 4"/>')
    assert model.joints[0].joint == expected
    assert model.joint_names == ("j",)
    assert model.body_names == ("b",)
    assert model.frame("a").body == 0


def test_the_axis_is_x_unless_said_otherwise() -> None:
    assert one_joint("revolute", "").joints[0].joint == bough.joints.Revolute("x")
    assert one_joint("prismatic", "<axis/>").joints[0].joint == bough.joints.Prismatic("x")


def test_origins_turn_roll_first() -> None:
    place = one_joint("revolute", '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>').joints[0].placement
    assert place.origin == (1.0, 2.0, 3.0)
    assert np.allclose(place.matrix, rotation_from_rpy(0.1, 0.2, 0.3), atol=1e-15)


def test_limits_and_losses() -> None:
    limit = '<limit lower="-1" upper="2" effort="3" velocity="4"/><dynamics damping="5" friction="6"/>'
    entry = one_joint("revolute", limit).joints[0]
    assert (entry.lower, entry.upper, entry.effort, entry.velocity) == ((-1,), (2,), (3,), (4,))
    assert (entry.damping, entry.friction) == ((5,), (6,))
    free = one_joint("continuous", limit).joints[0]
    assert (free.lower, free.upper, free.effort, free.velocity) == ((-math.inf,), (math.inf,), (3,), (4,))
    none = one_joint("prismatic", "<safety_controller k_velocity='1'/>").joints[0]
    assert (none.lower, none.upper, none.effort, none.velocity) == ((-math.inf,), (math.inf,), (math.inf,), (math.inf,))
    zero = one_joint("revolute", '<limit effort="1" velocity="1"/>').joints[0]
    assert (zero.lower, zero.upper) == ((0,), (0,))


def test_joints_that_mimic() -> None:
    text = robot(
        *(link(x) for x in "abcd"),
        joint("lead", "a", "b"),
        joint("follow", "b", "c", inner='<mimic joint="lead" multiplier="-2" offset="0.5"/><axis xyz="0 1 0"/>'),
        joint("plain", "c", "d", inner='<mimic joint="follow"/>'),
    )
    model = bough.load(text)
    assert model.nv == 1
    follower = model.joint("follow").joint
    assert isinstance(follower, bough.joints.Mimic)
    assert (follower.joint, follower.source, follower.ratio, follower.offset) == (
        bough.joints.Revolute("y"),
        "lead",
        -2,
        0.5,
    )
    assert bough.load(text, mimic=False).nv == 3


# --- links ---


def test_inertias_are_turned_by_their_origin() -> None:
    model = one_joint("revolute", "")
    R = rotation_from_rpy(0.3, -0.2, 0.5)
    J = np.array([[0.2, 0.01, -0.02], [0.01, 0.3, 0.03], [-0.02, 0.03, 0.25]])
    inertia = model.bodies[0].inertia
    assert inertia.mass == 1.0
    assert inertia.com == (0.1, 0.2, 0.3)
    assert np.allclose(inertia.matrix, R @ J @ R.T, atol=1e-16)


def test_links_without_inertia_and_fixed_links() -> None:
    text = robot(
        link("a"),
        link("b", mass=None),
        link("c", mass=2.0),
        joint("move", "a", "b"),
        joint("weld", "b", "c", "fixed", '<origin xyz="0 0 1"/><axis xyz="0 0 0"/>'),
    )
    model = bough.load(text)
    assert model.nbodies == 1
    assert model.mass == 2.0
    assert np.allclose(model.bodies[0].inertia.com, (0.1, 0.2, 1.3))
    assert model.frame("c").placement.origin == (0, 0, 1)
    assert model.frame("c").inertia is None
    kept = bough.load(text, merge_fixed=False).frame("c").inertia
    assert kept is not None
    assert kept.mass == 2.0
    assert np.allclose(kept.com, (0.1, 0.2, 0.3))


def test_impossible_inertias_load_with_a_warning() -> None:
    moments = '<inertia ixx="{}" ixy="0" ixz="0" iyy="1" iyz="0" izz="{}"/>'
    text = robot(
        link("a", mass=None),
        *(
            f'<link name="{name}"><inertial><mass value="1"/>{moments.format(xx, zz)}</inertial></link>\n'
            for name, xx, zz in (("b", 1, 3), ("c", -1, 1))
        ),
        joint("j", "a", "b"),
        joint("k", "b", "c"),
    )
    with pytest.warns(
        bough.errors.LoadWarning, match=r"line 4: link 'b': the principal .* triangle .*and 1 more"
    ) as caught:
        model = bough.load(text)
    assert caught[0].filename == __file__
    assert model.bodies[0].inertia.rotational == (1, 0, 1, 0, 0, 3)


# --- shapes ---


def test_shapes_are_kept() -> None:
    shapes = """
    <visual name="v"><origin xyz="0 0 1"/><geometry><box size="1 2 3"/></geometry><material name="red"/></visual>
    <visual><geometry><sphere radius="0.5"/></geometry><material name="x"><color rgba="0 1 0 0.5"/></material></visual>
    <collision><geometry><cylinder radius="0.5" length="2"/></geometry></collision>
    <collision><geometry><capsule radius="0.5" length="2"/></geometry></collision>
    <collision><geometry><mesh filename="package://nowhere/arm.stl" scale="1 1 -2"/></geometry></collision>
    <collision><geometry><superquadric/></geometry></collision><visual/>
    """
    red = '<material name="red"><color rgba="1 0 0 1"/></material>'
    weld = joint("weld", "b", "c", "fixed", '<origin xyz="0 0 1"/>')
    with pytest.warns(bough.errors.LoadWarning, match="link 'c': <geometry> has <superquadric>, .* 1 more"):
        model = bough.load(robot(red, link("a"), link("b"), joint("j", "a", "b"), link("c", shapes), weld))
    got = [(g.shape, g.size, g.purpose, g.rgba, g.file) for g in model.geometries]
    assert got == [
        ("box", (1, 2, 3), "visual", (1, 0, 0, 1), ""),
        ("sphere", (0.5,), "visual", (0, 1, 0, 0.5), ""),
        ("cylinder", (0.5, 2), "collision", None, ""),
        ("capsule", (0.5, 2), "collision", None, ""),
        ("mesh", (1, 1, -2), "collision", None, "package://nowhere/arm.stl"),
    ]
    first = model.geometries[0]
    assert (first.name, first.frame, first.body, first.placement.origin) == ("v", "c", 1, (0, 0, 2))


def test_what_is_not_of_the_format_is_passed_over() -> None:
    model = bough.load(
        robot(
            '<gazebo reference="a"><link name="not a link"/></gazebo><transmission name="t"><joint name="x"/>'
            "</transmission><link_extension/>",
            link("a", "<self_collision_checking/>"),
            link("b"),
            joint("j", "a", "b", inner="<calibration rising='1'/>"),
        )
    )
    assert model.frame_names == ("world", "b", "a")


# --- what is wrong, and where ---


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([joint("j", "a", "b", "hinge")], "line 5: joint 'j' is of type 'hinge', expected one of revolute"),
        ([joint("j", "a", "b", inner='<axis xyz="0 0 0"/>')], "line 5: joint 'j': .*no direction"),
        ([joint("j", "a", "b", inner='\n<axis xyz="0 1"/>')], "line 6: joint 'j': xyz of <axis> is '0 1'"),
        ([joint("j", "a", "b", inner='\n\n<origin xyz="0 nan 1"/>')], "line 7: joint 'j': xyz of <origin> is '0 nan"),
        ([joint("j", "a", "b", inner='<origin rpy="0 inf 1"/>')], "rpy of <origin> is '0 inf 1', expected 3 finite"),
        ([joint("j", "a", "b", inner='<origin xyz="1e999 0 0"/>')], "expected 3 finite numbers"),
        ([joint("j", "a", "b", inner='<origin xyz="1_0 0 0"/>')], "expected 3 finite numbers"),
        ([joint("j", "a", "b", inner='<origin xyz="１ 0 0"/>')], "expected 3 finite numbers"),
        ([joint("j", "a", "b", inner='<limit lower="2" upper="1"/>')], "line 5: joint 'j': the lower limit 2"),
        ([joint("j", "a", "b", inner='<dynamics damping="-1"/>')], "line 5: joint 'j': damping is -1"),
        ([joint("", "a", "b")], "line 5: a joint: <joint> has no name"),
        ([joint("j" * 2000, "a", "b")], "2000 characters"),
        (['<joint name="j" type="fixed"><child link="b"/></joint>'], "line 5: joint 'j' has no <parent>"),
        (['<joint name="j" type="fixed"><parent link="a"/></joint>'], "line 5: joint 'j' has no <child>"),
        (['<joint name="j" type="fixed"><parent link="a"/><child/></joint>'], "<child> has no link"),
        (["<link/>"], "line 5: a link: <link> has no name"),
        ([link("c", mass=-1.0)], "line 5: link 'c': the mass is -1"),
        (['<link name="c"><inertial><mass value="1"/></inertial></link>'], "link 'c': <inertial> has no <inertia>"),
        (['<link name="c"><inertial/></link>'], "link 'c': <inertial> has no <mass>"),
        ([link("c", '<inertial><mass value="1"/></inertial>')], "link 'c' has 2 <inertial> elements"),
        (['<link name="c"><inertial><mass/><inertia/></inertial></link>'], "<inertia> has no ixx"),
        ([link("c", "<visual><geometry><sphere/></geometry></visual>")], "line 5: a <visual> .*'c': <sphere> has no"),
        ([link("c", "<visual><geometry><mesh/></geometry></visual>")], "<mesh> has no filename"),
    ],
)  # fmt: skip
def test_errors_say_what_and_where(parts: list[str], message: str) -> None:
    text = robot(link("a"), link("b"), *parts)
    with pytest.raises(bough.errors.LoadError, match=message):
        bough.load(text)


# --- against Pinocchio ---


@pytest.mark.parametrize("free", [False, True])
def test_every_joint_at_once_against_pinocchio(free: bool, rng: np.random.Generator) -> None:
    axis = '<origin xyz="0.1 0.2 0.3" rpy="0.3 -1 2"/><axis xyz="{}"/>'
    axis += '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
    text = robot(
        *(link(x) for x in "abcdefgh"),
        joint("z", "a", "b", "continuous", axis.format("0 0.6 0.8")),
        joint("y", "b", "c", "prismatic", axis.format("2 1 0")),
        joint("x", "b", "d", "planar", axis.format("0 0 1")),
        joint("w", "d", "e", "floating", axis.format("1 0 0")),
        joint("v", "a", "f", "fixed", axis.format("1 0 0")),
        joint("u", "f", "g", "revolute", axis.format("-1 0 0")),
        joint("t", "g", "h", "continuous", axis.format("0 1 0")),
    )
    model = bough.load(text, floating_base=free)
    theirs = pin.buildModelFromXML(text, pin.JointModelFreeFlyer()) if free else pin.buildModelFromXML(text)
    assert list(model.joint_names) == list(theirs.names)[1:]
    q, (v, a) = bough.random(model, rng), rng.normal(size=(2, model.nv))
    want = pin.rnea(theirs, theirs.createData(), bough.convert.states_to_pinocchio(model, q), v, a)
    assert_close(bough.rnea(model, q, v, a), want, 1e-13)


@pytest.mark.parametrize(
    ("inner", "message"),
    [
        (
            '<collision><geometry><cyclinder radius="1" length="1"/></geometry></collision>',
            "<geometry> has <cyclinder>",
        ),
        ("<collision><geometry/></collision>", "a <collision> of link 'a': <geometry> is empty, expected one of <box>"),
        ("<visual/>", "a <visual> of link 'a' has no <geometry>"),
        ("<colision/>", "link 'a': <colision> is ignored; did you mean <collision>?"),
    ],
)
def test_shapes_that_are_passed_over_are_told(inner: str, message: str) -> None:
    text = robot(link("a", "\n" + inner))
    (problem,) = bough.problems(text)
    assert message in problem.message
    assert problem.line == 4
    with pytest.warns(bough.errors.LoadWarning, match=re.escape(message)):
        assert bough.load(text).geometries == ()


def test_misspelt_parts_of_joints_are_told_and_words_of_other_programs_are_not() -> None:
    parts = '<axis xyz="0 0 1"/><limits lower="-1" upper="1"/><hardwareInterface/>'
    text = robot(link("a", "<self_collision_checking/><sensor/>"), link("b"), joint("j", "a", "b", inner=parts))
    assert [problem.message for problem in bough.problems(text)] == [
        "joint 'j': <limits> is ignored; did you mean <limit>?",
        "joint 'j' is revolute and has no <limit>, which the format demands; it moves without limits",
    ]


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ('<origin xzy="1 0 0"/>', "joint 'j': xzy of <origin> is ignored; did you mean xyz?"),
        ('<axis xzy="0 0 1"/>', "joint 'j': xzy of <axis> is ignored; did you mean xyz?"),
        ('<limit lowr="-1" upper="1"/>', "joint 'j': lowr of <limit> is ignored; did you mean lower?"),
        ('<limit lower="-1" Upper="1"/>', "joint 'j': Upper of <limit> is ignored; did you mean upper?"),
        ('<limit upper="1" efort="1"/>', "joint 'j': efort of <limit> is ignored; did you mean effort?"),
        ('<dynamics dampng="1"/>', "joint 'j': dampng of <dynamics> is ignored; did you mean damping?"),
        ('<mimic joint="k" multiplyer="2"/>', "multiplyer of <mimic> is ignored; did you mean multiplier?"),
    ],
)
def test_misspelt_attributes_are_told_with_their_line(written: str, told: str) -> None:
    joints = joint("k", "a", "c") + joint("j", "a", "b", "continuous", "\n" + written)
    text = robot(link("a"), link("b"), link("c"), joints)
    (problem,) = bough.problems(text)
    assert problem.message.endswith(told)
    assert problem.line == 8
    with pytest.warns(bough.errors.LoadWarning, match=re.escape(told)):
        bough.load(text)


def test_attributes_of_the_format_and_of_others_are_no_faults() -> None:
    unused = '<axis xyz="1 0 0"/><calibration rising="0"/><safety_controller soft_lower_limit="0" k_velocity="1"/>'
    others = '<limit lower="-1" upper="1" effort="1" velocity="1" gear_velocity="10" drake:effort="2"/>'
    elsewhere = '<gazebo><axis xzy="1"/></gazebo><transmission><limit lowr="1"/></transmission>'
    text = robot(link("a"), link("b"), joint("j", "a", "b", inner=unused + others), elsewhere)
    assert bough.problems(text) == ()


def test_misspelt_words_in_inertias_shapes_and_of_the_robot_are_told() -> None:
    moments = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    inertial = f'<inertial><orgin xyz="1 0 0"/><mass value="1"/>{moments}'
    round_one = '<geometry><sphere radius="1"/></geometry>'
    ball = f'<visual>{round_one}<material name="m"><colour rgba="1 0 0 1"/></material></visual>'
    shift = f'<collision><origin xyz="0 0 0" rpz="0 0 1"/>{round_one}</collision>'
    inner = f"{inertial}</inertial>{ball}{shift}"
    text = robot(link("a"), link("b", inner, mass=None), joint("j", "a", "b"), '<jont name="k"/>')
    assert {problem.message.partition("; ")[2] for problem in bough.problems(text)} == {
        "did you mean <origin>?",
        "did you mean <color>?",
        "did you mean rpy?",
        "did you mean <joint>?",
    }


def test_a_check_tells_repeated_elements_and_joints_without_limits() -> None:
    ends = '<parent link="a"/><child link="b"/>'
    text = robot(
        link("a", "<visual><geometry><box size='1 1 1'/></geometry><geometry><sphere radius='1'/></geometry></visual>"),
        link("b"),
        f'<joint name="j" type="revolute">{ends}<axis xyz="1 0 0"/><axis xyz="0 1 0"/><origin/><origin xyz="1 0 0"/>'
        '<parent link="a"/></joint>',
    )
    expected = [
        "a <visual> of link 'a' has 2 <geometry> elements, expected one; the first is used",
        *(f"joint 'j' has 2 <{tag}> elements, expected one; the first is used" for tag in ("parent", "origin", "axis")),
        "joint 'j' is revolute and has no <limit>, which the format demands; it moves without limits",
    ]
    assert [problem.message for problem in bough.problems(text)] == expected
    with pytest.warns(bough.errors.LoadWarning, match=r"2 <parent> elements.* \(and 3 more, see `bough check`"):
        assert bough.load(text).joint("j").joint == bough.joints.Revolute((1, 0, 0))
