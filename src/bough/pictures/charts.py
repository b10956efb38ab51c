"""Drawings of models and costs as SVG, in the colours of the page they are on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from bough.cost.outline import plain, printable
from bough.cost.pattern import coarse_pattern, segments
from bough.model import Model
from bough.tree import Tree
from bough.viewer.drawables import LIMBS

__all__ = ["bars_svg", "curves_svg", "pattern_svg", "tree_svg"]

MOST_DRAWN = 160
"""Bodies of a tree, and rows of a matrix, that are drawn one by one."""

CUT = 15
"""A bar is at most this many times as long as the shortest."""

ROW_HEIGHT, INDENT = 20, 14  # pixels between bodies of a tree, and from a body to those it carries


def tree_svg(model: Model) -> str:
    """The tree, a row for each body, each followed by what it carries; a colour for each stretch between branches."""
    tree, colour = model.tree, _colours(model.tree)
    order, waiting = list[int](), list(reversed(tree.roots))
    while waiting and len(order) < MOST_DRAWN:
        order.append(waiting.pop())
        waiting.extend(reversed(tree.children(order[-1])))
    row = {body: k + 1 for k, body in enumerate(order)} | {0: 0}
    depth = {body: _branching_depth(tree, body) for body in row}
    lines, dots, names = [], [], []
    for body, k in row.items():
        x, y = 10 + INDENT * depth[body], ROW_HEIGHT * (k + 0.5)
        label, kind = ("base", "") if body == 0 else (model.bodies[body - 1].name, _kind(model, body))
        if body:
            up = tree.parents[body - 1]
            above = f"M{10 + INDENT * depth[up]} {ROW_HEIGHT * (row[up] + 0.5)}"
            only = depth[up] == depth[body]
            look = f'stroke="{colour[body - 1]}"' if only else 'class="trunk"'
            lines.append(f'<path d="{above}V{y}H{x}" {look}/>')
        dots.append(f'<circle cx="{x}" cy="{y}" r="4" fill="{colour[body - 1] if body else "currentColor"}"/>')
        note = f' <tspan class="faint">{escape(kind)}</tspan>' if kind else ""
        names.append(f'<text x="{x + 9}" y="{y + 4}">{escape(plain(label))}{note}</text>')
    longest = max((len(plain(model.bodies[body - 1].name)) for body in order), default=0)
    width = 60 + INDENT * max(depth.values()) + 8 * (longest + 14)
    left = model.nbodies - len(order)
    if left:
        names.append(f'<text x="10" y="{ROW_HEIGHT * (len(row) + 0.7)}" class="faint">… {left} more</text>')
    body_parts = f'<g fill="none" stroke-width="2">{"".join(lines)}</g>{"".join(dots)}{"".join(names)}'
    return _svg(width, ROW_HEIGHT * (len(row) + bool(left)) + 4, body_parts, "The kinematic tree", fixed=True)


def _branching_depth(tree: Tree, body: int) -> int:
    """How many branches there are on the way to a body: an only child stands right below its parent."""
    depth = 0
    while body:
        up = tree.parents[body - 1]
        depth += len(tree.children(up)) > 1 or up == 0
        body = up
    return depth


def _kind(model: Model, body: int) -> str:
    joint = model.joints[body - 1].joint
    return f"{type(joint).__name__.lower()}{f', {joint.nv}' if joint.nv > 1 else ''}"


def pattern_svg(tree: Tree, *, lower: bool) -> str:
    """Where the mass matrix, or its factor (`lower`), is not zero; a square for each entry, or for several."""
    marks, step = coarse_pattern(tree, MOST_DRAWN)
    size = len(marks)
    if lower:
        marks = np.tril(marks)
    stretch = segments(tree)[::step]
    deeper = np.maximum(*np.ogrid[:size, :size])  # on one path the larger number is the deeper one
    owner = stretch[deeper] % len(LIMBS)
    side = 0.88 if size <= 64 else 1.0
    parts = []
    for k, code in enumerate(LIMBS):
        for places, opacity in (
            (marks & (owner == k) & ~np.eye(size, dtype=bool), 0.62),
            (np.eye(size, dtype=bool) & (owner == k), 1),
        ):
            if places.any():
                parts.append(f'<path d="{_squares(places, side)}" fill="{code}" opacity="{opacity}"/>')
    name = "The factor L" if lower else "The mass matrix H"
    return _svg(size, size, "".join(parts), f"{name}: coloured where it is not zero", frame=True)


def _squares(places: NDArray[np.bool_], side: float) -> str:
    return "".join(f"M{x} {y}h{side}v{side}h-{side}z" for y, x in zip(*np.nonzero(places), strict=True))


def bars_svg(values: Mapping[str, float], unit: str) -> str:
    """Horizontal bars with their names and values; those of bough stand out, and those beyond all others are cut."""
    most, label = min(max(values.values()), CUT * min(values.values())), 8 * max(map(len, values)) + 12
    rows = []
    for k, (name, value) in enumerate((printable(name), value) for name, value in values.items()):
        y, width, more = 26 * k, 300 * min(1.0, value / most), "… " if value > most else ""
        own = "own" if name.startswith("bough") else "other"
        rows.append(f'<text x="0" y="{y + 17}">{escape(name)}</text>')
        rows.append(f'<rect class="{own}" x="{label}" y="{y + 4}" width="{max(width, 1):.1f}" height="18" rx="3"/>')
        rows.append(
            f'<text x="{label + width + 6:.1f}" y="{y + 17}" class="faint">{more}{value:.3g} {escape(unit)}</text>'
        )
    return _svg(label + 400, 26 * len(values) + 4, "".join(rows), f"Bars, in {unit}", fixed=True)


def curves_svg(
    lines: Mapping[str, Sequence[tuple[float, float]]], point: tuple[str, float, float], x: str, y: str
) -> str:
    """Curves on logarithmic axes, named at their ends, and one point."""
    points = [p for line in lines.values() for p in line] + [point[1:]]
    low = [math.floor(math.log10(min(p[k] for p in points))) for k in (0, 1)]
    high = [max(math.ceil(math.log10(max(p[k] for p in points))), low[k] + 1) for k in (0, 1)]
    width, height, left, bottom = 470.0, 260.0, 56.0, 40.0

    def place(p: Iterable[float]) -> tuple[float, float]:
        u, v = ((math.log10(a) - low[k]) / (high[k] - low[k]) for k, a in enumerate(p))
        return left + u * width, height * (1 - v) + 8

    parts = []
    for k in range(low[0], high[0] + 1):
        at = place((10**k, 10 ** low[1]))[0]
        parts.append(f'<path class="grid" d="M{at:.1f} 8V{height + 8}"/>')
        parts.append(f'<text x="{at:.1f}" y="{height + 25}" text-anchor="middle" class="faint">{_power(k)}</text>')
    for k in range(low[1], high[1] + 1):
        at = place((10 ** low[0], 10**k))[1]
        parts.append(f'<path class="grid" d="M{left} {at:.1f}H{left + width}"/>')
        parts.append(f'<text x="{left - 6}" y="{at + 4:.1f}" text-anchor="end" class="faint">{_power(k)}</text>')
    for k, (name, line) in enumerate(lines.items()):
        path = "L".join(f"{a:.1f} {b:.1f}" for a, b in map(place, line))
        end = place(line[-1])
        parts.append(f'<path d="M{path}" fill="none" stroke="{LIMBS[k]}" stroke-width="2.5"/>')
        parts.append(f'<text x="{end[0] + 6:.1f}" y="{end[1] + 4:.1f}" fill="{LIMBS[k]}">{escape(name)}</text>')
    a, b = place(point[1:])
    parts.append(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="6" class="own"/>')
    parts.append(
        f'<text x="{a - 10:.1f}" y="{b - 10:.1f}" text-anchor="end" font-weight="600">{escape(point[0])}</text>'
    )
    middle = left + 0.5 * width
    parts.append(f'<text x="{middle}" y="{height + bottom + 4}" text-anchor="middle" class="faint">{escape(x)}</text>')
    return _svg(left + width + 100, height + bottom + 12, "".join(parts), f"{y} against {x}", fixed=True)


def _power(k: int) -> str:
    return str(10**k) if 0 <= k <= 3 else f'10<tspan dy="-4" font-size="9">{k}</tspan>'


def _colours(tree: Tree) -> list[str]:
    return [LIMBS[int(k) % len(LIMBS)] for k in segments(tree)]


def _svg(width: float, height: float, inside: str, title: str, *, fixed: bool = False, frame: bool = False) -> str:
    size = f' width="{width:.0f}" height="{height:.0f}"' if fixed else ""
    kind = ' class="frame"' if frame else ""
    box = f"0 0 {width:.1f} {height:.1f}"
    return f'<svg{kind}{size} viewBox="{box}" role="img"><title>{escape(title)}</title>{inside}</svg>'
