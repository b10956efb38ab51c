"""Names and numbers as the text of XML files."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bough.errors import SaveError

__all__ = ["in_quotes", "numbers_text", "quoted"]

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"})


def in_quotes(text: str) -> str:
    """A text as the value of an attribute, in the quotes it does not have; spaces of all sorts stay what they are."""
    # not by xml.sax, which loads what speaks to the network
    told = text.translate(ENTITIES)
    if '"' not in told:
        return f'"{told}"'
    return f"'{told}'" if "'" not in told else '"' + told.replace('"', "&quot;") + '"'


def quoted(text: str) -> str:
    """A name in quotes, as the value of an attribute."""
    if NOT_XML.search(text):
        raise SaveError(f"the name {text!r} has characters that no XML file can hold")
    return in_quotes(text)


def numbers_text(values: Iterable[float]) -> str:
    """Numbers to the last digit, with spaces between."""
    return " ".join(repr(float(x) + 0.0) for x in values)
