"""Names and numbers as the text of XML files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.sax.saxutils import quoteattr

from bough.errors import SaveError

__all__ = ["numbers_text", "quoted"]

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def quoted(text: str) -> str:
    """A name in quotes, as the value of an attribute."""
    if NOT_XML.search(text):
        raise SaveError(f"the name {text!r} has characters that no XML file can hold")
    return quoteattr(text)


def numbers_text(values: Iterable[float]) -> str:
    """Numbers to the last digit, with spaces between."""
    return " ".join(repr(float(x) + 0.0) for x in values)
