"""The tree of a model drawn in text: one line per body, with its joint, and large trees folded."""

from __future__ import annotations

from collections import deque

from bough.model import BASE, Mimic, Model, Revolute
from bough.model.joints import Joint

__all__ = ["outline", "plain", "printable"]

LINES = 120
"""Bodies drawn: those nearest to the base; of the others only the number is told."""

LONGEST_SHOWN = 40  # characters of a name


def outline(model: Model, lines: int = LINES) -> tuple[str, ...]:
    """One line per body: the tree with names, then the joint it moves on, its type and its place in v.

    A body that is the only one on its parent stands right below it, so that only branches take room to the side.
    """
    rows = [(BASE, "joint", "type", "v"), *_rows(model, _nearest(model, lines))]
    widths = [max(len(row[k]) for row in rows) for k in range(3)]
    return tuple("  ".join([*map(str.ljust, row, widths), row[3]]).rstrip() for row in rows)


def plain(name: str) -> str:
    """A name as it can be printed on any terminal: not too long, without control characters."""
    shown = printable(name[: LONGEST_SHOWN + 1])
    return shown if len(shown) <= LONGEST_SHOWN else f"{shown[: LONGEST_SHOWN - 1]}…"


def printable(line: str) -> str:
    """A line without control characters, which could do harm to a terminal."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)


def _nearest(model: Model, most: int) -> set[int]:
    """The bodies to draw: breadth first, so that every branch is seen before any to its end."""
    tree, shown = model.tree, set[int]()
    waiting = deque(tree.roots[:most])
    while waiting and len(shown) < most:
        body = waiting.popleft()
        shown.add(body)
        waiting.extend(tree.children(body)[:most])
    return shown


def _rows(model: Model, shown: set[int]) -> list[tuple[str, str, str, str]]:
    tree, starts = model.tree, _starts(model)
    rows: list[tuple[str, str, str, str]] = []
    # (body, or minus the number of bodies left out; the signs before it; those before what hangs on it)
    waiting: list[tuple[int, str, str]] = [(0, "", "")]
    while waiting:
        body, sign, indent = waiting.pop()
        if body < 0:
            rows.append((f"{sign}… {-body} more", "", "", ""))
            continue
        if body:
            rows.append((sign + plain(model.bodies[body - 1].name), *_joint(model, body, starts[body - 1])))
        here = [child for child in tree.children(body) if child in shown]
        folded = sum(int(tree.subtree_sizes[child - 1]) for child in tree.children(body) if child not in shown)
        below = [*here, *([-folded] if folded else [])]
        if len(below) == 1:
            waiting.append((below[0], indent, indent))
            continue
        last = [(child, f"{indent}└─ ", f"{indent}   ") for child in below[-1:]]
        waiting += last + [(child, f"{indent}├─ ", f"{indent}│  ") for child in reversed(below[:-1])]
    return rows


def _starts(model: Model) -> list[int]:
    starts = [0]
    for entry in model.joints:
        starts.append(starts[-1] + entry.joint.nv)
    return starts


def _joint(model: Model, body: int, start: int) -> tuple[str, str, str]:
    entry = model.joints[body - 1]
    nv = entry.joint.nv
    place = "" if nv == 0 else f"{start}" if nv == 1 else f"{start}…{start + nv - 1}"
    return plain(entry.name), _type(entry.joint), place


def _type(joint: Joint) -> str:
    if isinstance(joint, Mimic):
        return f"{_type(joint.joint)}, follows {plain(joint.source)}"
    if isinstance(joint, Revolute) and joint.continuous:
        return "continuous"
    return type(joint).__name__.lower()
