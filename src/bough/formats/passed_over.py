"""What readers of XML formats pass over though it was meant: words that are misspelt, and shapes that are none."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bough.formats.markup import Element
from bough.formats.report import Report

__all__ = ["Grammar", "Words", "doubt_misspelt", "doubt_repeated", "doubt_shape"]

MISSPELT = 0.8  # how like a tag of the format (0 to 1) another one is that is taken for misspelt
MISSPELT_ATTRIBUTE = 0.6  # the same of attributes, which are short; joined words (gear_velocity) are none misspelt
LETTERS = 2  # by how many letters at most a misspelt attribute is longer or shorter than what was meant
MOST_LOOKED_UP = 5000  # unknown words of a file that are compared with known ones, which takes time


class Words(NamedTuple):
    """What a format knows inside an element: attributes, and tags of children, whether bough reads them or not."""

    attributes: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


Grammar = Mapping[str, Words]


@functools.lru_cache(maxsize=1000)
def _meant(word: str, known: tuple[str, ...], alike: float) -> str | None:
    """The known word that one is nearly, but is not; case does not matter."""
    lowered = {name.lower(): name for name in known}
    nearest = difflib.get_close_matches(word.lower(), lowered, 1, alike)
    return lowered[nearest[0]] if nearest else None


def doubt_misspelt(element: Element, grammar: Grammar, what: str, report: Report, apart: Sequence[str] = ()) -> None:
    """Tell tags and attributes that are nearly ones which the format knows there; others may be of some other program.

    Children in the grammar are looked at too, those of elements with other tags are not, nor those `apart`. What has a
    prefix belongs to another namespace.
    """
    waiting = [element]
    while waiting:
        holder = waiting.pop()
        known = grammar[holder.tag]
        _doubt_attributes(holder, known.attributes, what, report)
        for child in holder.children:
            if _is_doubtful(child.tag, known.parts, report):
                meant = _meant(child.tag, known.parts, MISSPELT)
                if meant is not None:
                    report.doubt(f"{what}: <{child.tag}> is ignored; did you mean <{meant}>?", child.line)
        waiting += [child for child in reversed(holder.children) if child.tag in grammar and child.tag not in apart]


def _doubt_attributes(element: Element, known: tuple[str, ...], what: str, report: Report) -> None:
    for name in element.attributes:
        if _is_doubtful(name, known, report):
            close = tuple(word for word in known if abs(len(word) - len(name)) <= LETTERS)
            meant = _meant(name, close, MISSPELT_ATTRIBUTE)
            if meant is not None:
                told = f"{what}: {name} of <{element.tag}> is ignored; did you mean {meant}?"
                report.doubt(told, element.line)


def _is_doubtful(word: str, known: tuple[str, ...], report: Report) -> bool:
    """Whether a word is to be compared with the known ones: it is none of them, and there were not too many such."""
    if word in known or not known or ":" in word or report.looked_up >= MOST_LOOKED_UP:
        return False
    report.looked_up += 1
    return True


def doubt_repeated(element: Element, tags: Sequence[str], what: str, report: Report) -> None:
    """Tell children that a format has once, of which a reader takes the first."""
    for tag in tags:
        found = element.all(tag)
        if len(found) > 1:
            report.doubt(f"{what} has {len(found)} <{tag}> elements, expected one; the first is used", found[1].line)


def doubt_shape(element: Element, known: Sequence[str], what: str, report: Report) -> None:
    """Tell that a shape is ignored: it has no geometry, or one that is empty or of no known kind."""
    geometry = element.first("geometry")
    expected = f"expected one of {', '.join(f'<{tag}>' for tag in known)}; this shape is ignored"
    if geometry is None:
        report.doubt(f"{what} has no <geometry>; this shape is ignored", element.line)
    elif not geometry.children:
        report.doubt(f"{what}: <geometry> is empty, {expected}", geometry.line)
    else:
        solid = geometry.children[0]
        report.doubt(f"{what}: <geometry> has <{solid.tag}>, {expected}", solid.line)
