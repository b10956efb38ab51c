"""XML from anywhere: a tree of elements with line numbers, through the parser of Python itself.

Nothing is fetched and nothing expands: document types and entities are refused, and so is what is too deep or too
large to be a robot. The parser calls back for each element, so depth costs no stack.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.parsers import expat

from bough.formats.report import Report

__all__ = ["DEEPEST", "MOST_BYTES", "MOST_ELEMENTS", "Element", "parse"]

DEEPEST = 500  # elements inside each other
MOST_ELEMENTS = 50_000  # elements, which a check looks through in less than two seconds
MOST_BYTES = 32_000_000  # bytes


class Element:
    """An element: its tag as written, attributes, children, text, and the line it starts in."""

    __slots__ = ("attributes", "children", "line", "tag", "text")

    def __init__(self, tag: str, attributes: dict[str, str], line: int) -> None:
        self.tag = tag
        self.attributes = attributes
        self.line = line
        self.children: list[Element] = []
        self.text = ""

    def all(self, tag: str) -> list[Element]:
        """The children with a tag, in order."""
        return [child for child in self.children if child.tag == tag]

    def first(self, tag: str) -> Element | None:
        """The first child with a tag, or None."""
        return next((child for child in self.children if child.tag == tag), None)

    def walk(self) -> Iterator[Element]:
        """The element and all below it, in the order of the file."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting += reversed(element.children)


class _Stop(Exception):
    """The file is refused: why."""


class _Tree:
    """What the parser calls."""

    def __init__(self, parser: expat.XMLParserType) -> None:
        self.root: Element | None = None
        self._parser = parser
        self._open: list[Element] = []
        self._count = 0
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.StartDoctypeDeclHandler = self._doctype
        parser.EntityDeclHandler = self._doctype
        parser.ExternalEntityRefHandler = self._doctype

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > MOST_ELEMENTS:
            raise _Stop(f"there are more than {MOST_ELEMENTS} elements, expected fewer in the file of a robot")
        if len(self._open) >= DEEPEST:
            raise _Stop(f"elements are nested more than {DEEPEST} deep")
        element = Element(tag, attributes, self._parser.CurrentLineNumber)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def _end(self, tag: str) -> None:
        self._open.pop()

    def _text(self, text: str) -> None:
        if self._open and not text.isspace():
            self._open[-1].text += text

    def _doctype(self, *_: object) -> int:
        raise _Stop("the file declares a document type or entities (<!DOCTYPE …>), which are not read")


def parse(data: bytes | str, report: Report) -> Element | None:
    """The root element; None where problems are collected and this is no XML.

    Bytes are decoded as XML says (byte-order mark, declaration, else UTF-8); in a string the declaration is ignored.
    """
    parser = None
    try:
        content = data.encode() if isinstance(data, str) else data
        if len(content) > MOST_BYTES:
            raise _Stop(f"the file has more than {MOST_BYTES} bytes, expected fewer in the file of a robot")
        parser = expat.ParserCreate("utf-8" if isinstance(data, str) else None)
        tree = _Tree(parser)
        parser.Parse(content, True)
    except _Stop as stop:
        report.refuse(str(stop), parser.CurrentLineNumber if parser else None)
        return None
    except expat.ExpatError as error:
        report.refuse(f"not well-formed XML: {expat.ErrorString(error.code)}{_no_model(content)}", error.lineno)
        return None
    except (LookupError, ValueError) as error:  # encodings that do not exist, or that the text is not in
        report.refuse(f"the encoding cannot be read: {error}", parser.CurrentLineNumber if parser else None)
        return None
    return tree.root


def _no_model(content: bytes) -> str:
    """What to say of a file that does not look like any model."""
    first = content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if first in (b"<", b"\xff", b"\xfe", b"\x00"):  # XML, or a mark of UTF-16, as an encoding may have
        return ""
    return "; this is no model file, expected URDF, MJCF or SDF, which begin with '<', or bough's JSON"
