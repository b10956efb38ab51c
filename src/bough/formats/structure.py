"""The tree that links and joints form: found, checked, hung from another link, and put in order. Nothing recurses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from bough.errors import UnknownNameError
from bough.formats.description import Connection, Description, Link
from bough.formats.report import Report
from bough.model.hanging import turned_round
from bough.model.parts import HERE

__all__ = ["ORDERS", "floating_on", "in_order", "is_carried", "root_of", "with_root"]


def root_of(description: Description, report: Report) -> str | None:
    """The link that no joint moves, if links and joints form one tree; None where problems are collected."""
    before = len(report.problems)
    lines = _unique("link", description.links, report)
    _unique("joint", description.connections, report)
    moved_by: dict[str, Connection] = {}
    for c in description.connections:
        for side, name in (("parent", c.parent), ("child", c.child)):
            if name not in lines:
                with report.at(c.line, f"joint {c.name!r}: the {side} does not exist"):
                    raise UnknownNameError("link", name, lines)
        if c.child in moved_by:
            other = moved_by[c.child]
            report.refuse(
                f"link {c.child!r} has two parents: joint {c.name!r} puts it on {c.parent!r}, and joint "
                f"{other.name!r}{_in_line(other.line)} on {other.parent!r}",
                c.line,
            )
        moved_by.setdefault(c.child, c)
    if not description.links:
        report.refuse("there are no links")
    links = {link.name: link for link in reversed(description.links)}  # of two with the same name, the first
    roots = [link for link in description.links if link.name not in moved_by and links[link.name] is link]
    _require_one_tree(description, roots, moved_by, report)
    return roots[0].name if len(report.problems) == before else None


def _unique(kind: str, parts: Sequence[Link] | Sequence[Connection], report: Report) -> dict[str, int | None]:
    lines: dict[str, int | None] = {}
    for part in parts:
        if part.name in lines:
            report.refuse(f"{kind} {part.name!r}: the name is taken{_in_line(lines[part.name])}", part.line)
        lines.setdefault(part.name, part.line)
    return lines


def _require_one_tree(
    description: Description, roots: list[Link], moved_by: dict[str, Connection], report: Report
) -> None:
    if len(roots) > 1:
        joined = {name for c in description.connections for name in (c.parent, c.child)}
        alone = [link for link in roots if link.name not in joined]
        second = alone[0] if alone else roots[1]
        names = ", ".join(f"{link.name!r}{_in_line(link.line)}" for link in roots[:8])
        names += f", … ({len(roots)} in all)" if len(roots) > 8 else ""
        why = f"link {second.name!r} is connected to nothing" if alone else f"there are {len(roots)} trees"
        report.refuse(f"{why}: the links {names} have no parent joint, expected one such link, the root", second.line)
    reached = {link.name for link in roots}
    children = _children(description.connections)
    waiting = list(reached)
    while waiting:
        below = {c.child for c in children.get(waiting.pop(), ())} - reached
        reached |= below
        waiting += below
    for link in description.links:
        if link.name not in reached:
            reached |= _refuse_cycle(link.name, reached, moved_by, report)


def _refuse_cycle(link: str, known: set[str], moved_by: dict[str, Connection], report: Report) -> set[str]:
    """Say which circle a link hangs on, unless that is known or its parent does not exist; the links up to there."""
    seen: dict[str, int] = {}
    while link not in seen and link not in known and link in moved_by:
        seen[link] = len(seen)
        link = moved_by[link].parent
    if link not in seen:
        return set(seen)
    cycle = [name for name, k in seen.items() if k >= seen[link]]
    shown = [*cycle[:6], "…"] if len(cycle) > 7 else cycle
    c = moved_by[link]
    report.refuse(f"joints form a circle: link {' on '.join(map(repr, [*shown, link]))} (joint {c.name!r})", c.line)
    return set(seen)


def _in_line(line: int | None) -> str:
    return f" (line {line})" if line else ""


def _children(connections: Iterable[Connection]) -> dict[str, list[Connection]]:
    children: dict[str, list[Connection]] = {}
    for c in connections:
        children.setdefault(c.parent, []).append(c)
    return children


def with_root(connections: Sequence[Connection], root: str) -> list[Connection]:
    """The same joints in the same order, those between the old root and `root` turned round."""
    moved_by = {c.child: c for c in connections}
    turned = set()
    link = root
    while link in moved_by:
        turned.add(moved_by[link].name)
        link = moved_by[link].parent
    return [_reversed(c) if c.name in turned else c for c in connections]


def is_carried(connections: Sequence[Connection], link: str, joint: Connection) -> bool:
    """Whether a link hangs on a joint."""
    moved_by = {c.child: c for c in connections}
    while link in moved_by and moved_by[link] is not joint:
        link = moved_by[link].parent
    return link in moved_by


def floating_on(connections: Sequence[Connection], link: str, free: Connection) -> list[Connection]:
    """The same joints in the same order, but the free joint moves `link`, from which all that it carries hangs."""
    turned = iter(with_root([c for c in connections if c is not free], link))
    return [replace(free, child=link, child_placement=HERE) if c is free else next(turned) for c in connections]


def _reversed(c: Connection) -> Connection:
    """The child carries the parent; the coordinate keeps its meaning."""
    joint, placement, inner = turned_round(c.joint, c.placement, c.child_placement)
    return replace(c, joint=joint, parent=c.child, child=c.parent, placement=placement, child_placement=inner)


def _depth_first(connections: Sequence[Connection], root: str) -> list[Connection]:
    """Pinocchio's order: depth first, joints on the same link by name."""
    children = _children(sorted(connections, key=lambda c: c.name, reverse=True))
    result: list[Connection] = []
    waiting = children.get(root, [])
    while waiting:
        c = waiting.pop()
        result.append(c)
        waiting += children.get(c.child, ())
    return result


def _as_in_file(connections: Sequence[Connection], root: str) -> list[Connection]:
    """The file's order, except that a joint is preceded by those that carry it."""
    moved_by = {c.child: c for c in connections}
    result: list[Connection] = []
    placed = {root}
    for c in connections:
        walk = []
        link = c.child
        while link not in placed:
            placed.add(link)
            walk.append(moved_by[link])
            link = moved_by[link].parent
        result += reversed(walk)
    return result


ORDERS = {"pinocchio": _depth_first, "file": _as_in_file}


def in_order(connections: Sequence[Connection], root: str, order: str) -> list[Connection]:
    """The joints with those that carry before those that are carried, in a named order."""
    if order not in ORDERS:
        raise UnknownNameError("order of joints", order, ORDERS)
    return ORDERS[order](connections, root)
