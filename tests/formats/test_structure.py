"""Trees that are none: cycles, several roots, names that are taken or missing; and very long ones."""

from __future__ import annotations

import pytest

import bough
from bough.formats.assemble import assemble
from bough.formats.description import Connection, Description, Follow, Link, Options
from bough.formats.report import Report
from bough.formats.structure import ORDERS, in_order, root_of, with_root
from urdf_text import joint, link, robot

LINKS = [link("a"), link("b"), link("c")]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([], "there are no links"),
        ([link("a"), link("a")], r"line 4: link 'a': the name is taken \(line 3\)"),
        ([*LINKS, joint("j", "a", "b"), joint("j", "b", "c")], r"line 7: joint 'j': the name is taken \(line 6\)"),
        ([*LINKS, joint("j", "a", "bb")], "line 6: joint 'j': the child does not exist.*did you mean 'b'"),
        ([*LINKS, joint("j", "aa", "b")], "line 6: joint 'j': the parent does not exist.*did you mean 'a'"),
        (
            [*LINKS, joint("j", "a", "c"), joint("k", "b", "c")],
            r"line 7: link 'c' has two parents: joint 'k' puts it on 'b', and joint 'j' \(line 6\) on 'a'",
        ),
        ([*LINKS, joint("j", "a", "b")], r"line 5: link 'c' is connected to nothing: the links 'a' \(line 3\), 'c'"),
        ([*LINKS, link("d"), joint("j", "a", "b"), joint("k", "c", "d")], "line 5: there are 2 trees"),
        ([*LINKS, joint("j", "b", "c"), joint("k", "c", "b")], "joints form a circle: link 'b' on 'c' on 'b'"),
        ([link("a"), joint("j", "a", "a")], "line 4: joints form a circle: link 'a' on 'a'"),
        (
            [link("a"), link("b"), joint("j", "a", "b", inner='<mimic joint="jj"/>')],
            "line 5: joint 'j' mimics a joint that it cannot follow: no joint that moves is called 'jj'",
        ),
        ([link("a"), link("b"), joint("j", "a", "b", inner='<mimic joint="j"/>')], "follow each other in a circle"),
        (
            [*LINKS, joint("j", "a", "b", "fixed"), joint("k", "b", "c", inner='<mimic joint="j"/>')],
            "'k' mimics a joint that it cannot follow: no joint that moves is called 'j'",
        ),
        (
            [*LINKS, joint("j", "a", "b", "planar", ""), joint("k", "b", "c", inner='<mimic joint="j"/>')],
            "line 7: joint 'k' mimics 'j', which moves like Planar",
        ),
        (
            [*LINKS, joint("j", "a", "b"), joint("k", "b", "c", "planar", '<mimic joint="j"/>')],
            "line 7: a mimic joint moves like Planar",
        ),
    ],
)
def test_what_is_no_tree_is_refused_with_its_line(parts: list[str], message: str) -> None:
    with pytest.raises(bough.errors.LoadError, match=message):
        bough.load(robot(*parts))


def test_a_check_collects_everything() -> None:
    parts = [link("a", mass=-1.0), link("b"), link("b"), joint("j", "a", "x", inner='<axis xyz="0 0 0"/><limit/>')]
    found = bough.problems(robot(*parts))
    assert [problem.line for problem in found] == [3, 4, 5, 6, 6]
    words = ("mass", "'b' is connected to nothing", "taken", "direction", "child")
    assert all(word in str(problem) for word, problem in zip(words, found, strict=True))
    assert bough.problems(robot(link("a"))) == ()
    assert "not well-formed" in str(bough.problems("<robot>")[0])


def told(*parts: str) -> list[str]:
    return [problem.message for problem in bough.problems(robot(*parts))]


LIMIT = '<limit lower="1" upper="-1" effort="-3" velocity="1"/><dynamics damping="-2"/>'
LIMIT_FAULTS = ["joint 'j': the lower limit 1.0 is above", "joint 'j': effort is -3.0", "joint 'j': damping is -2.0"]
BALL = '<collision><geometry><sphere radius="-0.1"/></geometry></collision>'
BALL_FAULT = "a geometry of 'b': the radius of a sphere is -0.1 m: negative, expected a positive length"


@pytest.mark.parametrize("axis", ["0 0 1", "0 0 0"])
@pytest.mark.parametrize("apart", [False, True], ids=["tree", "no tree"])
def test_a_check_tells_all_faults_of_a_joint_and_of_what_is_on_its_link(axis: str, apart: bool) -> None:
    broken = joint("j", "a", "b", inner=f'<axis xyz="{axis}"/>{LIMIT}')
    below = joint("k", "b", "c", inner='<axis xyz="0 0 1"/><limit lower="0" upper="1" effort="1" velocity="-4"/>')
    found = told(link("a"), link("b", BALL, mass=-1.0), link("c"), *[link("alone")] * apart, broken, below)
    expected = ["link 'b': the mass is -1.0", BALL_FAULT, *["link 'alone' is connected to nothing"] * apart]
    expected += ["joint 'j': the axis of a revolute"] * (axis == "0 0 0")
    expected += [*LIMIT_FAULTS, "joint 'k': velocity is -4.0"]
    assert len(found) == len(expected), found
    assert all(any(text.startswith(want) for text in found) for want in expected), found


def test_a_joint_that_is_refused_hides_nothing_on_its_link() -> None:
    mimic = joint("k", "a", "b", "planar", '<mimic joint="j"/>')
    found = told(link("a"), link("b", BALL), link("c"), joint("j", "a", "c"), mimic)
    assert [text[:12] for text in found] == [BALL_FAULT[:12], "a mimic join"]


# --- long chains: nothing recurses, nothing is quadratic ---

LENGTH = 5_000


def chain(length: int, **options: object) -> Description:
    links = tuple(Link(f"l{k}") for k in range(length + 1))
    joints = (Connection(f"j{k}", bough.joints.Revolute("x"), f"l{k}", f"l{k + 1}", **options) for k in range(length))  # type: ignore[arg-type]
    return Description("chain", links, tuple(joints))


def test_long_chains() -> None:
    d = chain(LENGTH)
    assert root_of(d, Report()) == "l0"
    backwards = with_root(d.connections, f"l{LENGTH}")
    for order in ORDERS:
        assert [c.name for c in in_order(d.connections, "l0", order)] == [c.name for c in d.connections]
        assert len(in_order(backwards, f"l{LENGTH}", order)) == LENGTH
    model = assemble(d, Options(floating_base=True), Report())
    assert model is not None
    assert model.nv == LENGTH + 6


def test_long_circles_and_long_chains_of_followers() -> None:
    d = chain(LENGTH)
    closed = Description(
        "circle", d.links, (*d.connections, Connection("last", bough.joints.Fixed(), f"l{LENGTH}", "l0"))
    )
    with pytest.raises(bough.errors.LoadError, match="form a circle"):
        root_of(closed, Report())
    followers = tuple(
        Connection(c.name, c.joint, c.parent, c.child, follow=Follow(f"j{k + 1}" if k < LENGTH - 1 else "j0"))
        for k, c in enumerate(d.connections)
    )
    with pytest.raises(bough.errors.LoadError, match="follow each other in a circle"):
        assemble(Description("followers", d.links, followers), Options(), Report())
