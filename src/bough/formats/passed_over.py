"""What readers of XML formats pass over though it was meant: tags that are misspelt, and shapes that are none."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Sequence

from bough.formats.markup import Element
from bough.formats.report import Report

__all__ = ["doubt_misspelt", "doubt_shape"]

MISSPELT = 0.8  # how like a tag of the format (0 to 1) another one is that is taken for misspelt


@functools.lru_cache(maxsize=1000)
def _meant(tag: str, known: tuple[str, ...]) -> str | None:
    """The known tag that one is nearly, but is not."""
    return None if tag in known else next(iter(difflib.get_close_matches(tag, known, 1, MISSPELT)), None)


def doubt_misspelt(element: Element, known: tuple[str, ...], what: str, report: Report) -> None:
    """Tell the children whose tag is nearly one that is read here; other ones may be of some other program."""
    for child in element.children:
        meant = _meant(child.tag, known)
        if meant is not None:
            report.doubt(f"{what}: <{child.tag}> is ignored; did you mean <{meant}>?", child.line)


def doubt_shape(element: Element, known: Sequence[str], what: str, report: Report) -> None:
    """Tell that a shape is passed over: it has no geometry, or one that is empty or of no known kind."""
    geometry = element.first("geometry")
    expected = f"expected one of {', '.join(f'<{tag}>' for tag in known)}; this shape is ignored"
    if geometry is None:
        report.doubt(f"{what} has no <geometry>; this shape is ignored", element.line)
    elif not geometry.children:
        report.doubt(f"{what}: <geometry> is empty, {expected}", geometry.line)
    else:
        solid = geometry.children[0]
        report.doubt(f"{what}: <geometry> has <{solid.tag}>, {expected}", solid.line)
