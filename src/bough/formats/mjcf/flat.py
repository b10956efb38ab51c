"""A MJCF file as one text without includes and paths: what MuJoCo gets is what was looked at, and nothing else is read.

MuJoCo opens any file a model names. Here files are looked for first: below the folder of the model and in
`package_dirs`, or anywhere if the model is trusted. Each element comes on a line of its own, so that MuJoCo's line
numbers can be told in terms of the files.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from bough.errors import LoadError
from bough.formats.document import Document
from bough.formats.markup import DEEPEST, MOST_BYTES, MOST_ELEMENTS, Element, parse
from bough.formats.report import Report
from bough.formats.text import in_quotes

__all__ = ["Flat", "flatten"]

FILES = 1000  # that one model may include

PICTURES = ("texture", "skin")
"""Elements that only pictures need: left out, with the files they name."""

NOT_A_NUMBER = re.compile(r"(^|\s)[+-]?nan(\(\w*\))?(\s|$)", re.IGNORECASE)
"""What MuJoCo reads as a number and does not end with."""

NAMES = ("name", "class", "childclass", "model", "key", "prefix")

SIZES = {"memory", "njmax", "nconmax", "nstack", "nuserdata", "nkey"}
SIZES |= {f"nuser_{kind}" for kind in ("body", "jnt", "geom", "site", "cam", "tendon", "actuator", "sensor")}
"""Memory that a simulation in MuJoCo is to set aside: it means nothing here, and may be more than a process gets."""

FOLDERS = ("meshdir", "texturedir", "assetdir", "strippath")


@dataclass
class Flat:
    """The text, where each of its lines comes from, and the files that it names."""

    lines: list[str] = field(default_factory=list)
    origins: list[tuple[str | None, int]] = field(default_factory=list)
    files: dict[str, str | None] = field(default_factory=dict)
    """Where each file is, by the name it has in the text; None if it is missing."""
    shown: dict[str, str] = field(default_factory=dict)
    """What the model calls each file."""
    alone: bool = True
    """Whether nothing outside of the text and these files says what it means: no model of another file, no plugin."""

    @property
    def request(self) -> dict[str, Any]:
        """What the compiler is asked."""
        return {"xml": "\n".join(self.lines), "files": self.files, "shown": self.shown}

    def refuse(self, message: str, report: Report) -> None:
        """Report what MuJoCo refuses, at the line of the file it speaks of."""
        report.refuse(*self._message_and_line(message, report))

    def doubt(self, message: str, report: Report) -> None:
        """Report what MuJoCo warns of."""
        report.doubt(*self._message_and_line(message, report))

    def _message_and_line(self, message: str, report: Report) -> tuple[str, int | None]:
        """The message of MuJoCo, and the line it is about; a line of an included file is told in the message."""
        found = re.search(r",? ?\bline (\d+)", message)
        text = " ".join(re.sub(r",? ?\bline \d+|Element name '', id -?\d+|^(XML )?Error: ", "", message).split())
        if found is None or not 0 < int(found.group(1)) <= len(self.origins):
            return text, None
        file, line = self.origins[int(found.group(1)) - 1]
        return (text, line) if file in (None, report.file) else (f"{text} (in {file!r}, line {line})", None)


@dataclass
class _Node:
    tag: str
    attributes: dict[str, str]
    file: str | None
    line: int
    depth: int
    children: list[_Node] = field(default_factory=list)


def flatten(document: Document, report: Report) -> Flat:
    """The text that the compiler gets. Raises at once for includes that cannot be read, and what may not be."""
    return _Flattening(document, report).flat


class _Flattening:
    def __init__(self, document: Document, report: Report) -> None:
        self._document, self._report = document, report
        self._included: set[Path] = set()
        self._count = 0
        self.flat = Flat()
        root = self._tree()
        nodes = list(_walk(root))
        self._settings = {k: v for node in nodes if node.tag == "compiler" for k, v in node.attributes.items()}
        for node in nodes:
            self._adapt(node)
        self._require_size(root)
        self._write(root)

    # --- includes ---

    def _tree(self) -> _Node:
        """All elements, with those of included files in place of the includes."""
        source = self._document.root
        root = _Node(source.tag, dict(source.attributes), self._report.file, source.line, 1)
        waiting: list[tuple[_Node, list[Element], str | None, Path | None]] = [
            (root, source.children, self._report.file, self._folder)
        ]
        while waiting:
            node, children, file, folder = waiting.pop()
            queue = deque((child, file, folder) for child in children)
            while queue:
                child, where, here = queue.popleft()
                if child.tag == "include":
                    content, name, path = self._include(child, where, here)
                    queue.extendleft(reversed([(c, name, path) for c in content.children]))
                elif child.tag not in PICTURES:
                    made = _Node(child.tag, dict(child.attributes), where, child.line, node.depth + 1)
                    self._require_room(made)
                    node.children.append(made)
                    waiting.append((made, child.children, where, here))
        return root

    def _include(self, element: Element, file: str | None, folder: Path | None) -> tuple[Element, str, Path]:
        name = element.attributes.get("file", "")
        if self._folder is None:
            self._refuse(f"<include file={name!r}> in a text, which has no folder: load it from a path", file, element)
        path = self._find(name, *(() if folder is None else (folder,)))
        if path is None:
            self._refuse(f"<include file={name!r}>: {self._why_not()}", file, element)
        if path in self._included or len(self._included) >= FILES:
            self._refuse(f"<include file={name!r}>: the file was included before, or there are too many", file, element)
        self._included.add(path)
        report = Report(str(path))
        try:
            with path.open("rb") as stream:
                content = parse(stream.read(MOST_BYTES + 1), report)
        except OSError as error:
            self._refuse(f"<include file={name!r}> cannot be read: {error}", file, element)
        assert content is not None, "the first problem is raised"
        return content, str(path), path.parent

    # --- files ---

    @property
    def _folder(self) -> Path | None:
        return None if self._document.path is None else self._document.path.parent

    def _find(self, name: str, *folders: Path) -> Path | None:
        """An existing file that may be read: in the folder of the model, in those given, or in those of packages."""
        own = () if self._folder is None else (self._folder,)
        allowed = [folder.resolve() for folder in (*own, *self._document.package_dirs)]
        try:
            for folder in (*own, *folders, *self._document.package_dirs):
                path: Path = (folder / name).resolve()
                inside = self._document.trusted or any(path.is_relative_to(root) for root in allowed)
                if inside and name and path.is_file():
                    return path
        except (OSError, ValueError):  # names no file system takes
            pass
        return None

    def _why_not(self) -> str:
        """Whether the file exists elsewhere is not told."""
        where = f"below {str(self._folder)!r} or in package_dirs"
        return f"there is no such file {where}; expected one there, or trusted=True for a model that may read any file"

    def _adapt(self, node: _Node) -> None:
        """Take out what only pictures need, refuse what may not be, and give files plain names."""
        tag, attributes = node.tag, node.attributes
        if tag in ("compiler", "size"):
            unwanted = FOLDERS if tag == "compiler" else SIZES
            attributes = node.attributes = {name: x for name, x in attributes.items() if name not in unwanted}
        attributes.pop("texture", None)
        node.children = [child for child in node.children if not (tag == "material" and child.tag == "layer")]
        if tag in ("plugin", "attach") or (tag == "model" and "file" in attributes):
            if not self._document.trusted:
                told = f"<{tag}> loads what is not in this file: give trusted=True for such a model"
                self._refuse(told, node.file, node)
            self.flat.alone = False
        for name, value in attributes.items():
            if name not in NAMES and NOT_A_NUMBER.search(value):
                self._refuse(f"<{tag}>: {name} is {value!r}, expected finite numbers", node.file, node)
        if "file" in attributes:
            self._name_file(node)

    def _name_file(self, node: _Node) -> None:
        reference = node.attributes["file"]
        name = Path(reference.replace("\\", "/")).name if self._settings.get("strippath") == "true" else reference
        folder = self._settings.get("meshdir", self._settings.get("assetdir", "")) if node.tag != "model" else ""
        path = self._find(f"{folder}/{name}" if folder else name)
        if node.tag == "model":
            node.attributes["file"] = str(path or reference)
            return
        if node.tag == "mesh":
            node.attributes.setdefault("name", Path(reference.replace("\\", "/")).stem)
        suffix = re.sub(r"[^.A-Za-z0-9]", "", Path(reference).suffix)
        given = f"file{len(self.flat.files)}{suffix}"
        node.attributes["file"] = given
        self.flat.files[given] = None if path is None else str(path)
        self.flat.shown[given] = reference

    # --- limits, and writing ---

    def _require_room(self, node: _Node) -> None:
        self._count += 1
        if self._count > MOST_ELEMENTS or node.depth > DEEPEST:
            message = f"more than {MOST_ELEMENTS} elements, or nested more than {DEEPEST} deep"
            raise LoadError(message, node.file, node.line)

    def _require_size(self, root: _Node) -> None:
        """Refuse elements that repeat others too often, before the compiler makes what they stand for."""
        total, waiting = 0, [(root, 1)]
        while waiting:
            node, times = waiting.pop()
            if "count" in node.attributes:
                for word in node.attributes["count"].split()[:3]:
                    times *= max(1, int(word[:9])) if word.isdecimal() else 1
            total += times
            if total > MOST_ELEMENTS:
                raise LoadError(f"<{node.tag}> makes more than {MOST_ELEMENTS} elements", node.file, node.line)
            waiting += [(child, times) for child in node.children]

    def _write(self, root: _Node) -> None:
        flat, waiting = self.flat, [(root, False)]
        while waiting:
            node, closing = waiting.pop()
            if closing:
                flat.lines[-1] += f"</{node.tag}>"
                continue
            attributes = "".join(f" {name}={in_quotes(value)}" for name, value in node.attributes.items())
            flat.lines.append(f"<{node.tag}{attributes}>")
            flat.origins.append((node.file, node.line))
            waiting.append((node, True))
            waiting += [(child, False) for child in reversed(node.children)]

    def _refuse(self, message: str, file: str | None, element: Element | _Node) -> NoReturn:
        raise LoadError(message, file, element.line)


def _walk(root: _Node) -> list[_Node]:
    found, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        found.append(node)
        waiting += reversed(node.children)
    return found
