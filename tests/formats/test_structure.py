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
            "line 5: joint 'j' mimics what cannot be followed: no joint that moves is called 'jj'",
        ),
        ([link("a"), link("b"), joint("j", "a", "b", inner='<mimic joint="j"/>')], "follow each other in a circle"),
        (
            [*LINKS, joint("j", "a", "b", "fixed"), joint("k", "b", "c", inner='<mimic joint="j"/>')],
            "'k' mimics what cannot be followed: no joint that moves is called 'j'",
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
    parts = [link("a", mass=-1.0), link("b"), link("b"), joint("j", "a", "x", inner='<axis xyz="0 0 0"/>')]
    found = bough.problems(robot(*parts))
    assert [problem.line for problem in found] == [3, 4, 5, 6, 6]
    words = ("mass", "'b' is connected to nothing", "taken", "direction", "child")
    assert all(word in str(problem) for word, problem in zip(words, found, strict=True))
    assert bough.problems(robot(link("a"))) == ()
    assert "not well-formed" in str(bough.problems("<robot>")[0])


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
