"""Graphs that are no trees: circles, links on themselves, two parents, at random and by the thousand. Checks end."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bough
from bough.errors import LoadError
from bough.formats import markup, report
from urdf_text import joint, link, robot

Edges = list[tuple[int, int]]


@contextmanager
def ending(seconds: float = 20.0) -> Iterator[None]:
    """What does not end is stopped, and has failed."""

    def stop(*_: object) -> None:
        raise TimeoutError("it does not end")

    if hasattr(signal, "setitimer"):
        before = signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, before)


def calls_of_check(text: str) -> int:
    """How many functions a check of the file calls: a measure of its work that no busy machine changes."""
    count = 0

    def seen(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        bough.problems(text)
    finally:
        sys.setprofile(before)
    return count


def urdf(links: int, edges: Edges, kind: str = "continuous") -> str:
    joints = (joint(f"j{k}", f"l{a}", f"l{b}", kind, "") for k, (a, b) in enumerate(edges))
    return robot(*(link(f"l{k}", mass=None) for k in range(links)), *joints)


def sdf(links: int, edges: Edges) -> str:
    joints = "".join(
        f'<joint name="j{k}" type="ball"><parent>l{a}</parent><child>l{b}</child></joint>\n'
        for k, (a, b) in enumerate(edges)
    )
    parts = "".join(f'<link name="l{k}"/>\n' for k in range(links))
    return f'<sdf version="1.9"><model name="m">\n{parts}{joints}</model></sdf>'


def is_tree(links: int, edges: Edges) -> bool:
    """Whether the links hang on one of them, each on one parent: n - 1 edges that lead everywhere from one link."""
    children = [b for _, b in edges]
    roots = set(range(links)) - set(children)
    if len(roots) != 1 or len(set(children)) != len(edges) or len(edges) != links - 1:
        return False
    reached = set(roots)
    for _ in range(links):
        reached |= {b for a, b in edges if a in reached}
    return len(reached) == links


def test_a_link_on_itself_that_also_hangs_on_another() -> None:
    """The walk from the root went round for ever, a link longer each time."""
    with ending():
        found = bough.problems(urdf(3, [(0, 1), (1, 1), (1, 2)]))
    assert ["has two parents" in str(problem) for problem in found] == [True]


def test_rungs_that_double_the_ways_down() -> None:
    """Each link is reached on two ways from the one before: 2⁶⁰ ways to the last."""
    edges = [(k, k + 1) for k in range(60) for _ in range(2)]
    with ending():
        assert len(bough.problems(urdf(61, edges))) == 60


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, Edges]:
    links = draw(st.integers(1, 7))
    ends = st.integers(0, links - 1)
    if draw(st.booleans()):
        return links, draw(st.lists(st.tuples(ends, ends), max_size=12))
    names = draw(st.permutations(range(links)))  # a tree, perhaps with one edge more or one other
    edges = [(names[draw(st.integers(0, k - 1))], names[k]) for k in range(1, links)]
    if edges and draw(st.booleans()):
        edges[draw(st.integers(0, len(edges) - 1))] = (draw(ends), draw(ends))
    return links, edges + draw(st.lists(st.tuples(ends, ends), max_size=1))


@given(graphs())
@settings(max_examples=150, deadline=None)
def test_a_check_of_a_random_graph_ends_and_is_right(graph: tuple[int, Edges]) -> None:
    links, edges = graph
    with ending():
        structural = [p for p in bough.problems(urdf(links, edges)) if "inertia" not in str(p)]
    assert (structural == []) == is_tree(links, edges)
    if is_tree(links, edges):
        assert bough.load(urdf(links, edges)).nv == links - 1
    else:
        with pytest.raises(LoadError):
            bough.load(urdf(links, edges))


@given(graphs())
@settings(max_examples=100, deadline=None)
def test_a_random_graph_of_sdf_is_a_tree_with_loops(graph: tuple[int, Edges]) -> None:
    links, edges = graph
    with ending():
        found = [str(problem) for problem in bough.problems(sdf(links, edges))]
    alone = sum(a == b for a, b in edges)
    assert sum("with itself" in text for text in found) == alone
    if not found:
        model = bough.load(sdf(links, edges), floating_base=False)
        assert model.nbodies + len(model.loops) == len(edges)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=6), st.sampled_from(["weld", "connect"]))
@settings(max_examples=25, deadline=None)
def test_a_random_graph_of_constraints_of_mjcf(edges: Edges, kind: str) -> None:
    bodies = "".join(f'<body name="b{k}"><joint/><geom size="1"/></body>' for k in range(4))
    anchor = ' anchor="0 0 0"' if kind == "connect" else ""
    laws = "".join(f'<{kind} body1="b{a}" body2="b{b}"{anchor}/>' for a, b in edges)
    with ending():
        text = f"<mujoco><worldbody>{bodies}</worldbody><equality>{laws}</equality></mujoco>"
        found = bough.problems(text, trusted=True)
    assert (found == ()) == all(a != b for a, b in edges)


# --- files as large as the limits let them be ---

MOST = markup.MOST_ELEMENTS // 4 - 10  # links: a link, a joint and its two ends are four elements


def large(name: str, n: int) -> str:
    """A file with the graph of that name, of n links."""
    graphs = {
        "chain": (n, [(k, k + 1) for k in range(n - 1)]),
        "star of one on itself": (n, [*((0, k) for k in range(1, n)), (1, 1)]),
        "all on themselves": (n, [(k, k) for k in range(n)]),
        "pairs": (n, [(k ^ 1, k) for k in range(n)]),
        "ring": (n, [(k, (k + 1) % n) for k in range(n)]),
        "ladder": (n // 2, [(k // 2, k // 2 + 1) for k in range(n - 2)]),
        "unknown parents": (n, [(n + k, k) for k in range(1, n)]),
    }
    kind, _, name = name.partition(" ")
    return (urdf if kind == "urdf" else sdf)(*graphs[name])


SHAPES = [
    *("urdf chain", "urdf star of one on itself", "urdf all on themselves", "urdf pairs", "urdf ring", "urdf ladder"),
    *("urdf unknown parents", "sdf ring", "sdf unknown parents"),
]


@pytest.mark.parametrize("name", SHAPES)
def test_the_work_of_a_check_grows_with_the_file_and_no_faster(name: str) -> None:
    bough.problems(large(name, 8))  # what the first check imports
    once, twice = (calls_of_check(large(name, n)) for n in (600, 1200))
    assert twice < 2.2 * once


@pytest.mark.parametrize("name", ["urdf chain", "urdf ring", "urdf unknown parents", "sdf ring"])
def test_checks_of_the_largest_files_end(name: str) -> None:
    with ending(60.0):
        found = bough.problems(large(name, MOST).replace('"l', '"' + "l" * 50))
    assert len(found) <= report.MOST_PROBLEMS + 1


def test_a_check_stops_at_many_problems_and_says_so() -> None:
    found = bough.problems(robot(*(link("a", mass=None) for _ in range(report.MOST_PROBLEMS + 50))))
    assert len(found) == report.MOST_PROBLEMS + 1
    assert str(found[0]) == f"there are more than {report.MOST_PROBLEMS} problems; those found first are listed"
    some = bough.problems(robot(*(link("a", mass=None) for _ in range(report.MOST_PROBLEMS + 1))))
    assert len(some) == report.MOST_PROBLEMS
