"""SDF: links move as products of exponentials of their joints' screws say, in the frame of the model."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm

import bough
from bough.formats.load import problems
from closeness import assert_close
from robot_data import ROBOTS

TOLERANCE = 1e-12


def text(body: str, version: str = "1.9", head: str = "") -> str:
    return f"<sdf version='{version}'><model name='m' {head}>{body}</model></sdf>"


def load(source: Any, **options: Any) -> bough.Model:
    """A model, fixed unless told otherwise."""
    return bough.load(source, **{"floating_base": False} | options)


def link(name: str, pose: str = "", inside: str = "", inertial: str = "<mass>1</mass>") -> str:
    where = f"<pose{f' relative_to={inside!r}' if inside else ''}>{pose}</pose>" if pose else ""
    return f"<link name='{name}'>{where}<inertial>{inertial}</inertial></link>"


def joint(name: str, kind: str, parent: str, child: str, axis: str = "", more: str = "") -> str:
    given = f"<axis><xyz>{axis}</xyz></axis>" if axis else ""
    ends = f"<parent>{parent}</parent><child>{child}</child>"
    return f"<joint name='{name}' type='{kind}'>{ends}{given}{more}</joint>"


def pose(x: float, y: float, z: float, roll: float, pitch: float, yaw: float) -> np.ndarray:
    X = np.eye(4)
    for axis, angle in ((2, yaw), (1, pitch), (0, roll)):
        X = X @ expm(screw(np.eye(3)[axis], np.zeros(3)) * angle)
    X[:3, 3] = x, y, z
    return X


def screw(axis: np.ndarray, point: np.ndarray) -> np.ndarray:
    """A turn about an axis through a point, as a matrix to be exponentiated."""
    S = np.zeros((4, 4))
    S[:3, :3] = np.cross(np.eye(3), axis)
    S[:3, 3] = -np.cross(axis, point)
    return S


ARM = text(
    "<pose>0.5 0.6 0.7 0.1 0.2 0.3</pose>"
    + link("base", "0.1 0.2 0.3 0.4 0.5 0.6")
    + link("upper", "1 2 3 0.3 -0.2 0.5", inertial="<pose>0.1 0.2 0.3 1 0 0</pose><mass>2</mass>")
    + link("lower", "0.3 0.1 -0.2 10 20 30").replace("<pose>0.3", "<pose degrees='true' relative_to='elbow'>0.3")
    + joint("shoulder", "revolute", "base", "upper", "1 2 3", "<pose>0.3 0 0.1 0.2 0 0</pose>")
    + joint("elbow", "revolute", "upper", "lower", more="<pose relative_to='mark'>0 0.1 0 0 0.4 0</pose>"
            "<axis><xyz expressed_in='base'>0 1 0</xyz></axis>")
    + "<frame name='mark' attached_to='upper'><pose relative_to='base'>0.5 0 0 0 0 0.1</pose></frame>"
)  # fmt: skip


def test_links_move_about_the_axes_of_their_joints() -> None:
    model = load(ARM)
    own = pose(0.5, 0.6, 0.7, 0.1, 0.2, 0.3)
    base, upper = pose(0.1, 0.2, 0.3, 0.4, 0.5, 0.6), pose(1, 2, 3, 0.3, -0.2, 0.5)
    mark = base @ pose(0.5, 0, 0, 0, 0, 0.1)
    elbow = mark @ pose(0, 0.1, 0, 0, 0.4, 0)
    lower = elbow @ pose(0.3, 0.1, -0.2, *np.radians([10, 20, 30]))
    shoulder = upper @ pose(0.3, 0, 0.1, 0.2, 0, 0)
    first = screw(shoulder[:3, :3] @ [1, 2, 3] / np.sqrt(14), shoulder[:3, 3])
    second = screw(base[:3, :3] @ [0, 1, 0], elbow[:3, 3])
    assert model.joint_names == ("shoulder", "elbow")
    for q in ([0.0, 0.0], [0.7, -1.2], [-2.0, 0.4]):
        A, B = expm(first * q[0]), expm(second * q[1])
        wanted = {"base": base, "upper": A @ upper, "mark": A @ mark, "lower": A @ B @ lower}
        for name, X in wanted.items():
            assert_close(bough.placements(model, q, name), own @ X, TOLERANCE, axes=2)
        centre = (A @ upper @ [0.1, 0.2, 0.3, 1] * 2 + A @ B @ lower @ [0, 0, 0, 1]) / 3
        assert_close(bough.center_of_mass(model, q), (own @ centre)[:3], TOLERANCE)
    assert model.bodies[0].inertia.mass == 2
    assert model.bodies[0].inertia.matrix == pytest.approx(np.eye(3))  # what a file does not say


def test_the_base_floats_if_asked() -> None:
    model = load(ARM, floating_base=True)
    assert model.joint_names == ("root_joint", "shoulder", "elbow")
    assert_close(bough.placements(model, bough.neutral(model), "base"), np.eye(4), TOLERANCE, axes=2)


def axis_of(body: str, version: str) -> list[float]:
    found = load(text(body, version)).joints[0].joint
    assert isinstance(found, bough.joints.Revolute)
    return [round(x, 9) + 0.0 for x in found.axis]


def test_axes_of_old_versions_are_in_the_frame_of_the_model() -> None:
    turned = link("a") + link("b", f"0 0 0 0 0 {np.pi / 2}")
    plain = turned + joint("j", "revolute", "a", "b", "1 0 0")
    assert axis_of(plain, "1.4") == [0, -1, 0]
    assert axis_of(plain, "1.6") == [1, 0, 0]
    flag = "<xyz>1 0 0</xyz><use_parent_model_frame>{}</use_parent_model_frame>"
    assert axis_of(plain.replace("<xyz>1 0 0</xyz>", flag.format(1)), "1.6") == [0, -1, 0]
    assert axis_of(plain.replace("<xyz>1 0 0</xyz>", flag.format("false")), "1.4") == [1, 0, 0]


def one(kind: str, axis: str = "0 0 1", more: str = "") -> bough.Model:
    return load(text(link("a") + link("b") + joint("j", kind, "a", "b", axis, more)))


def test_joint_types() -> None:
    second = "<axis2><xyz>0 1 0</xyz></axis2>"
    assert one("revolute").joint("j").joint == bough.joints.Revolute("z")
    assert one("continuous").joint("j").joint == bough.joints.Revolute("z", continuous=True)
    assert one("prismatic", "0 2 0").joint("j").joint == bough.joints.Prismatic("y")
    assert one("ball").joint("j").joint == bough.joints.Spherical()
    assert one("universal", "1 0 0", second).joint("j").joint == bough.joints.Universal("x", "y")
    assert one("revolute2", "1 0 0", second).joint("j").joint == bough.joints.Universal("x", "y")
    turn = one("screw", more="<screw_thread_pitch>0.5</screw_thread_pitch>").joint("j").joint
    assert isinstance(turn, bough.joints.Helical)
    assert turn.pitch == pytest.approx(0.5 / (2 * np.pi))
    assert one("fixed").nbodies == 0


def test_limits_and_losses() -> None:
    inner = (
        "<xyz>0 0 1</xyz><limit><lower>-1</lower><upper>1e16</upper><effort>-1</effort><velocity>3</velocity></limit>"
        "<dynamics><damping>0.1</damping><friction>0.2</friction><spring_stiffness>7</spring_stiffness>"
        "<spring_reference>0.4</spring_reference></dynamics>"
    )
    j = load(text(link("a") + link("b") + joint("j", "revolute", "a", "b", "0 0 1").replace("<xyz>0 0 1</xyz>", inner)))
    entry = j.joint("j")
    assert (entry.lower, entry.upper, entry.effort, entry.velocity) == ((-1,), (np.inf,), (np.inf,), (3,))
    assert (entry.damping, entry.friction, entry.stiffness, entry.rest) == ((0.1,), (0.2,), (7,), (0.4,))


def test_joints_that_mimic() -> None:
    law = (
        "<mimic joint='i' axis='axis'><multiplier>2</multiplier><offset>0.5</offset><reference>0.1</reference></mimic>"
    )
    body = link("a") + link("b") + link("c") + joint("i", "revolute", "a", "b", "0 0 1")
    model = load(text(body + joint("j", "revolute", "a", "c", "0 0 1").replace("</axis>", f"{law}</axis>")))
    assert model.nq == 1
    assert bough.placements(model, [0.3], "c")[1, 0] == pytest.approx(np.sin(2 * (0.3 - 0.1) + 0.5))
    follower = model.joint("j").joint
    assert isinstance(follower, bough.joints.Mimic)


def test_loops() -> None:
    """The joint that comes last closes the loop, with a frame on each side."""
    body = link("a") + link("b", "1 0 0 0 0 0.5") + link("c", "0 1 0 0 0 0")
    body += joint("ab", "revolute", "a", "b", "0 0 1") + joint("ac", "revolute", "a", "c", "0 0 1")
    body += joint("bc", "ball", "b", "c", more="<pose>0.5 0 0 0 0 0</pose>") + joint("ca", "fixed", "c", "a")
    model = load(text(body))
    assert [c.name for c in model.constraints] == ["bc", "ca"]
    for c in model.constraints:
        assert isinstance(c, bough.loops.Loop)
        ends = []
        for side in (c.predecessor, c.successor):
            X = bough.placements(model, [0.0, 0.0])[side.body - 1] if side.body else np.eye(4)
            ends.append(X[:3, :3] @ side.placement.vector + X[:3, 3])
        assert_close(ends[0], ends[1], TOLERANCE, scale=1.0)
    assert_close(ends[0], [0, 0, 0], TOLERANCE, scale=1.0)


def test_a_loop_whose_links_became_one_body_is_met_for_ever_or_refused() -> None:
    """A hinge between two arms that are locked: where both are turned alike it is closed, as it is along its axis."""
    body = link("a") + link("b", "1 0 0 0 0 0") + link("c", "1 0 0 0 0 0")
    body += joint("ab", "revolute", "a", "b", "0 0 1", more="<pose>-1 0 0 0 0 0</pose>")
    body += joint("ac", "revolute", "a", "c", "0 0 1", more="<pose>-1 0 0 0 0 0</pose>")
    body += joint("bc", "revolute", "b", "c", "0 0 1")
    assert len(load(text(body)).loops) == 1
    assert len(load(text(body), lock={"ab": 0.3}).loops) == 1
    for angle in (0.0, 0.3):
        model = load(text(body), lock={"ab": angle, "ac": angle})
        assert (model.nv, model.loops) == (0, ())
    message = r"constraint 'bc' joins 'b' and 'c', which are fixed to each other, 0\.\d+ m or rad away from"
    with pytest.raises(bough.errors.LoadError, match=message):
        load(text(body), lock={"ab": 0.0, "ac": 0.3})


def test_a_loop_has_the_limits_and_losses_of_its_joint() -> None:
    body = link("a") + link("b") + link("c") + joint("ab", "revolute", "a", "b", "0 0 1")
    body += joint("ac", "revolute", "a", "c", "0 0 1")
    limits = "<limit><lower>-0.5</lower><upper>0.7</upper><effort>3</effort><velocity>2</velocity></limit>"
    losses = (
        "<dynamics><damping>0.1</damping><friction>0.2</friction>"
        "<spring_stiffness>5</spring_stiffness><spring_reference>0.3</spring_reference></dynamics>"
    )
    closing = joint("bc", "revolute", "b", "c", "0 0 1")
    model = load(text(body + closing.replace("</axis>", f"{limits}{losses}</axis>")))
    want = {"lower": -0.5, "upper": 0.7, "effort": 3.0, "velocity": 2.0, "damping": 0.1, "friction": 0.2}
    for sort, value in (want | {"stiffness": 5.0, "rest": 0.3}).items():
        assert model.loop_limits(sort).tolist() == [value], sort
    law = "<mimic joint='ab' axis='axis'><multiplier>2</multiplier></mimic>"
    with pytest.raises(bough.errors.LoadError, match=r"joint 'bc'.*it closes a loop and follows another joint"):
        load(text(body + closing.replace("</axis>", f"{law}</axis>")))


def test_a_world_and_what_is_held_by_it() -> None:
    body = link("a", "1 0 0 0 0 0") + joint("j", "revolute", "world", "a", "0 0 1")
    inside = f"<gravity>0 1 -2</gravity><model name='m'><pose>0 0 5 0 0 0</pose>{body}</model>"
    model = load(f"<sdf version='1.8'><world name='w'>{inside}</world></sdf>")
    assert model.gravity == (0, 1, -2)
    assert bough.placements(model, [0.3], "a")[:3, 3].tolist() == pytest.approx([1, 0, 5])
    with pytest.raises(bough.errors.LoadError, match="floating_base: the root of this file, 'world'"):
        load(f"<sdf version='1.8'><world name='w'>{inside}</world></sdf>", floating_base=True)


def test_who_loads_a_model_that_nothing_holds_says_whether_it_floats() -> None:
    """Gazebo lets it float; what the world holds is fixed, and a check finds no fault in either."""
    free = text(link("a") + link("b") + joint("j", "revolute", "a", "b", "0 0 1"))
    told = r"line 1: link 'a' is not attached to the world.* give floating_base=True .* or floating_base=False"
    with pytest.warns(bough.errors.LoadWarning, match=told):
        model = bough.load(free)
    assert (model.nv, bough.load(free, floating_base=False).nv, bough.load(free, floating_base=True).nv) == (1, 1, 7)
    with pytest.warns(bough.errors.LoadWarning, match="link 'b' is not attached to the world"):
        bough.load(free, root="b")
    assert bough.load(text(link("a") + joint("j", "revolute", "world", "a", "0 0 1"))).nv == 1
    assert problems(free) == ()


def test_shapes() -> None:
    shape = "<{0} name='{1}'><pose>1 2 3 0 0 0</pose><geometry>{2}</geometry></{0}>"
    inner = (
        shape.format("visual", "v", "<mesh><uri>model://m/x.dae</uri><scale>1 2 3</scale></mesh>")
        + shape.format("collision", "c", "<cylinder><radius>0.1</radius><length>2</length></cylinder>")
        + shape.format("collision", "p", "<polyline/>")
    )
    with pytest.warns(bough.errors.LoadWarning, match="a collision of link 'a': <geometry> has <polyline>"):
        model = load(text(link("a").replace("</link>", f"{inner}</link>")))
    assert [(g.name, g.shape, g.size, g.purpose, g.file) for g in model.geometries] == [
        ("v", "mesh", (1, 2, 3), "visual", "model://m/x.dae"), ("c", "cylinder", (0.1, 2), "collision", ""),
    ]  # fmt: skip
    assert model.geometries[0].placement.origin == (1, 2, 3)


@pytest.mark.parametrize(
    ("inner", "message"),
    [
        (
            "<collision name='c'><geometry><shpere/></geometry></collision>",
            "<geometry> has <shpere>, expected one of <box>",
        ),
        (
            "<collision name='c'><geometry/></collision>",
            "a collision of link 'a': <geometry> is empty, expected one of",
        ),
        ("<visual name='v'/>", "a visual of link 'a' has no <geometry>"),
        ("<visual name='v'><geometry><mesh/></geometry></visual>", "a visual of link 'a': <mesh> has no <uri>"),
        ("<visual name='v'><geometry><plane><normal>1 0 0</normal></plane></geometry></visual>", "normal of <plane>"),
        ("<colision name='c'/>", "link 'a': <colision> is ignored; did you mean <collision>?"),
    ],
)
def test_shapes_that_are_passed_over_are_told(inner: str, message: str) -> None:
    content = text(link("a").replace("</link>", f"{inner}</link>"))
    (problem,) = problems(content)
    assert message in problem.message
    with pytest.warns(bough.errors.LoadWarning, match=re.escape(message)):
        assert load(content).geometries == ()


def test_a_check_tells_all_faults_of_a_joint() -> None:
    axis = "<axis><xyz>0 0 0</xyz><limit><lower>1</lower><upper>-1</upper></limit></axis>"
    found = problems(text(PAIR + joint("j", "revolute", "a", "b", more=axis)))
    assert [problem.message[:25] for problem in found] == ["joint 'j': the axis (0, 0", "joint 'j': the lower limi"]


def test_a_shape_said_to_be_empty_is_no_problem() -> None:
    inner = "<visual name='v'><geometry><empty/></geometry></visual>"
    assert problems(text(link("a").replace("</link>", f"{inner}</link>"))) == ()


PAIR = link("a") + link("b")


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("<limt><lower>-1</lower></limt>", "joint 'j': <limt> is ignored; did you mean <limit>?"),
        ("<limit><lowr>-1</lowr></limit>", "joint 'j': <lowr> is ignored; did you mean <lower>?"),
        ("<dynamics><dampng>1</dampng></dynamics>", "joint 'j': <dampng> is ignored; did you mean <damping>?"),
    ],
)
def test_misspelt_parts_of_joints_are_told(more: str, told: str) -> None:
    content = text(PAIR + joint("j", "revolute", "a", "b", more=f"<axis><xyz>0 0 1</xyz>{more}</axis>"))
    (problem,) = problems(content)
    assert told in problem.message
    with pytest.warns(bough.errors.LoadWarning, match=re.escape(told)):
        load(content)


def test_misspelt_attributes_are_told_and_words_of_other_programs_are_not() -> None:
    misspelt = "<pose relativ_to='a'>0 0 1 0 0 0</pose>"
    others = "<gz:limt/><physics><ode><limt/></ode></physics><axis><xyz expresed_in='a'>0 0 1</xyz></axis>"
    content = text(PAIR + joint("j", "revolute", "a", "b", more=misspelt + others))
    assert [problem.message for problem in problems(content)] == [
        "joint 'j': relativ_to of <pose> is ignored; did you mean relative_to?",
        "joint 'j': expresed_in of <xyz> is ignored; did you mean expressed_in?",
    ]


def test_a_static_model_is_fixed_to_the_world() -> None:
    """All of it, with its joints where they are: a room, for instance."""
    box = "<collision name='c'><geometry><box><size>1 2 3</size></box></geometry></collision></link>"
    crate = link("crate", "1 2 3 0.1 0.2 0.3").replace("</link>", box)
    lid = link("lid", "0 0 1 0 0 0", "crate") + joint("hinge", "revolute", "crate", "lid", "0 0 1")
    room = text(f"<static>true</static><pose>5 6 7 0.4 0.5 0.6</pose>{crate}{lid}")
    model = bough.load(room)  # without a warning
    assert (model.nbodies, model.frame_names) == (0, ("world", "crate", "lid"))
    stands = pose(5, 6, 7, 0.4, 0.5, 0.6) @ pose(1, 2, 3, 0.1, 0.2, 0.3)
    found = bough.Scene(bough.robots.load("quadruped")).shapes_of(model).shapes[0].placement
    assert_close(found.matrix, stands[:3, :3], TOLERANCE, axes=2)
    assert_close(found.vector, stands[:3, 3], TOLERANCE)
    assert_close(model.frame("lid").placement.vector, (stands @ [0, 0, 1, 1])[:3], TOLERANCE)
    assert problems(room) == ()
    with pytest.raises(bough.errors.LoadError, match="'world', is the world itself"):
        bough.load(room, floating_base=True)


WRONG: dict[str, tuple[str, str]] = {
    "no model": ("<sdf version='1.9'/>", "the file has 0 models, expected one"),
    "nested": (text("<model name='n'/>"), "<model> is not read"),
    "include": (text("<include><uri>file:///etc/passwd</uri></include>"), "<include> is not read"),
    "twice": (text(link("a") + link("a")), "line 1: link 'a': the name is taken"),
    "nothing": (text(PAIR + joint("j", "revolute", "a", "c", "0 0 1")), "joint 'j': no link, joint or frame .*'c'"),
    "alone": (text(PAIR), "link 'a' is connected to nothing|link 'b' is connected to nothing"),
    "type": (text(PAIR + joint("j", "hinge", "a", "b")), "joint 'j': the type is 'hinge', expected one of fixed"),
    "no axis": (text(PAIR + joint("j", "revolute", "a", "b")), "joint 'j': there is no <axis>"),
    "zero axis": (text(PAIR + joint("j", "revolute", "a", "b", "0 0 0")), "joint 'j': the axis"),
    "screw": (text(PAIR + joint("j", "screw", "a", "b", "0 0 1")), "a screw without <screw_thread_pitch>"),
    "gearbox": (text(PAIR + joint("j", "gearbox", "a", "b", "0 0 1")), "gearbox, .* give ignore='constraints'"),
    "circle": (text(link("a", "0 0 0 0 0 0", "b") + link("b", "0 0 0 0 0 0", "a")), "'.' .line 1. is placed relative"),
    "number": (text(link("a", "0 0 x 0 0 0")), "link 'a': <pose> is '0 0 x 0 0 0', expected 6 finite numbers"),
    "nan": (text(link("a", inertial="<mass>nan</mass>")), "link 'a': <mass> is 'nan', expected a finite number"),
    "mass": (text(link("a", inertial="<mass>-1</mass>")), "link 'a': the mass is -1"),
    "weightless": (text(link("a").replace("<inertial>", "<gravity>0</gravity><inertial>")), "ignore='gravcomp'"),
    "auto": (text(link("a").replace("<inertial>", "<inertial auto='true'>")), "computed from shapes"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_refused(name: str) -> None:
    content, message = WRONG[name]
    with pytest.raises(bough.errors.LoadError, match=message):
        load(content)
    assert any(re.search(message, str(problem)) for problem in problems(content))


def test_long_chains_of_frames_are_no_trouble() -> None:
    frames = "".join(
        f"<frame name='f{k}' attached_to='{f'f{k - 1}' if k else 'a'}'><pose>1 0 0 0 0 0</pose></frame>"
        for k in range(2000)
    )
    model = load(text(link("a") + frames))
    assert model.frame("f1999").placement.origin == (2000.0, 0, 0)
    long = "".join(f"<frame name='f{k}' attached_to='f{(k + 1) % 3000}'/>" for k in range(3000))
    with pytest.raises(bough.errors.LoadError, match="is attached to itself"):
        load(text(link("a") + long))
    chain = "".join(link(f"l{k}") for k in range(3001))
    chain += "".join(joint(f"j{k}", "fixed", f"l{k}", f"l{k + 1}") for k in reversed(range(3000)))
    model = load(text(chain + joint("last", "fixed", "l3000", "l0")))
    assert (len(model.frames), model.constraints) == (3001, ())  # all of one body, which its last joint holds together


@pytest.mark.parametrize("path", sorted(Path(ROBOTS).rglob("*.sdf")), ids=lambda path: path.name)
@pytest.mark.filterwarnings("ignore::bough.errors.LoadWarning")
def test_real_files(path: Path) -> None:
    """Cassie: closed legs whose loops hold in the pose of the file."""
    model = load(path, ignore="constraints")
    assert 20 < model.mass < 36
    loops = [c for c in model.constraints if isinstance(c, bough.loops.Loop)]
    assert loops
    M = bough.crba(model, bough.neutral(model))
    assert np.linalg.eigvalsh(M).min() > 0


def test_damaged_files_end_in_a_model_or_an_error(rng: np.random.Generator) -> None:
    words = ["nan", "inf", "-1", "", "world", "__model__", "upper", "elbow", "1e308", "0 0 0", "ball", "fixed", "<x/>"]
    loaded = 0
    for _ in range(400):
        damaged = ARM
        for _ in range(rng.integers(1, 3)):
            places: list[Any] = list(re.finditer(r">[^<>]+<|'[^']*'|<axis>.*?</axis>|<pose[^<>]*>", damaged))
            at = places[rng.integers(len(places))]
            new = words[rng.integers(len(words))]
            old = at.group()
            damaged = damaged[: at.start()] + (old[0] + new + old[-1] if old[0] in ">'" else "") + damaged[at.end() :]
        try:
            loaded += load(damaged).nv >= 0
        except bough.BoughError:
            continue
    assert 20 < loaded < 380
