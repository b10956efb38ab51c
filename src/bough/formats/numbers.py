"""Numbers, names and placements written in the attributes of elements."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from bough.formats.markup import Element
from bough.formats.report import Report
from bough.model import Placement
from bough.model.arguments import rotation_from_rpy
from bough.model.parts import HERE

__all__ = ["name_of", "number", "numbers", "placement_of", "remark_length"]

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
LONGEST_NAME = 1000
ROUNDED = 1e-3  # how far from 1 the length of an axis may be that was written with a few digits


def numbers(element: Element, attribute: str, default: Sequence[float], what: str, report: Report) -> tuple[float, ...]:
    """As many numbers as the default has; the default where the attribute is missing, or refused and collected."""
    text = element.attributes.get(attribute)
    if text is None:
        return tuple(default)
    words = text.split()
    values = [float(word) for word in words if NUMBER.fullmatch(word)]
    if len(values) != len(words) or len(words) != len(default) or not all(map(math.isfinite, values)):
        expected = f"{len(default)} finite numbers" if len(default) > 1 else "a finite number"
        report.refuse(f"{what}: {attribute} of <{element.tag}> is {text!r}, expected {expected}", element.line)
        return tuple(default)
    return tuple(values)


def number(element: Element, attribute: str, default: float | None, what: str, report: Report) -> float:
    """One number; without a default the attribute must be there."""
    if default is None and attribute not in element.attributes:
        report.refuse(f"{what}: <{element.tag}> has no {attribute}, expected a finite number", element.line)
    return numbers(element, attribute, (default or 0.0,), what, report)[0]


def name_of(element: Element, attribute: str, what: str, report: Report) -> str:
    """A name that must be there; "" where it is not and problems are collected."""
    name = element.attributes.get(attribute, "")
    if not name:
        report.refuse(f"{what}: <{element.tag}> has no {attribute}", element.line)
    if len(name) > LONGEST_NAME:
        report.refuse(f"{what}: {attribute} has {len(name)} characters, expected at most {LONGEST_NAME}", element.line)
    return name


def placement_of(origin: Element | None, what: str, report: Report) -> Placement:
    """The placement that ``<origin xyz rpy>`` gives: roll about x, then pitch about y, then yaw about z, fixed axes."""
    if origin is None:
        return HERE
    xyz = numbers(origin, "xyz", (0.0, 0.0, 0.0), what, report)
    roll, pitch, yaw = numbers(origin, "rpy", (0.0, 0.0, 0.0), what, report)
    if (roll, pitch, yaw) == xyz == (0.0, 0.0, 0.0):
        return HERE
    return Placement.of(rotation_from_rpy(roll, pitch, yaw), xyz, what)


def remark_length(axis: Sequence[float], what: str, line: int | None, report: Report) -> None:
    """Remark on an axis that is not of unit length; one without direction is left to the joint to refuse."""
    length = math.hypot(*axis)
    if length > 0.0 and abs(length - 1.0) > ROUNDED:
        told = ", ".join(f"{x:g}" for x in axis)
        report.remark(
            f"{what}: the axis ({told}) has length {length:.4g}, expected 1; only its direction is used", line
        )
