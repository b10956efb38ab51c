"""Values that SDF writes as the text of elements."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bough.formats.markup import Element
from bough.formats.numbers import NUMBER
from bough.formats.report import Report
from bough.model import Placement
from bough.model.arguments import rotation_from_rpy
from bough.model.parts import HERE

__all__ = ["flag", "pose", "value", "values", "word"]


def values(
    parent: Element | None, tag: str, default: Sequence[float], what: str, report: Report, infinite: bool = False
) -> tuple[float, ...]:
    """As many numbers as the default has, from the child with that tag; the default where there is none."""
    element = None if parent is None else parent.first(tag)
    if element is None:
        return tuple(default)
    words = element.text.split()
    read = [_number(word, infinite) for word in words]
    found = tuple(x for x in read if x is not None)
    if len(found) != len(words) or len(found) != len(default):
        expected = f"{len(default)} finite numbers" if len(default) > 1 else "a finite number"
        report.refuse(f"{what}: <{tag}> is {element.text.strip()[:80]!r}, expected {expected}", element.line)
        return tuple(default)
    return found


def _number(word: str, infinite: bool) -> float | None:
    if infinite and word.lower() in ("inf", "+inf", "-inf"):
        return float(word)
    number = float(word) if NUMBER.fullmatch(word) else math.nan
    return number if math.isfinite(number) else None


def value(parent: Element | None, tag: str, default: float, what: str, report: Report, infinite: bool = False) -> float:
    """One number, from the child with that tag; the default where there is none."""
    return values(parent, tag, (default,), what, report, infinite)[0]


def word(parent: Element, tag: str) -> str:
    """The text of the child with that tag; empty where there is none."""
    element = parent.first(tag)
    return "" if element is None else element.text.strip()


def flag(parent: Element | None, tag: str, default: bool) -> bool:
    """The truth value that the child with that tag holds; the default where there is none."""
    text = "" if parent is None else word(parent, tag)
    return text.lower() in ("1", "true") if text else default


def pose(element: Element | None, what: str, report: Report) -> Placement:
    """A placement: x y z roll pitch yaw (m, rad, or degrees if it says so), or x y z and a quaternion (x y z w)."""
    if element is None or not element.text.strip():
        return HERE
    holder = Element("", {}, element.line)
    holder.children.append(element)
    if element.attributes.get("rotation_format") == "quat_xyzw":
        *origin, x, y, z, w = values(holder, element.tag, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0), what, report)
        q = np.array([x, y, z, w])
        if not 0.9 < np.linalg.norm(q) < 1.1:
            report.refuse(f"{what}: the quaternion of <{element.tag}> is not of unit length", element.line)
            return HERE
        return Placement.of(_rotation(q / np.linalg.norm(q)), origin, what)
    *origin, roll, pitch, yaw = values(holder, element.tag, (0.0,) * 6, what, report)
    scale = math.pi / 180 if element.attributes.get("degrees") in ("1", "true") else 1.0
    return Placement.of(rotation_from_rpy(scale * roll, scale * pitch, scale * yaw), origin, what)


def _rotation(q: np.ndarray[tuple[int], np.dtype[np.float64]]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    u, w = q[:3], q[3]
    cross = np.array([[0.0, -u[2], u[1]], [u[2], 0.0, -u[0]], [-u[1], u[0], 0.0]])
    return np.asarray(np.eye(3) + 2 * w * cross + 2 * cross @ cross)
