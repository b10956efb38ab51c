"""Where a model file comes from: a path, the text itself, or a stream; and what kind of file it is."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, TypeAlias

from bough.errors import LoadError
from bough.formats.markup import MOST_BYTES, Element, parse
from bough.formats.report import Report
from bough.reading import kind_of

__all__ = ["Document", "Source", "read_document", "read_source"]

Source: TypeAlias = str | os.PathLike[str] | bytes | IO[bytes] | IO[str]


@dataclass(frozen=True)
class Document:
    """A file in memory: its elements, its bytes, the path it was read from if there is one, and folders of packages.

    `trusted` and `ignore` are what `bough.load` was told.
    """

    root: Element
    data: bytes | str
    path: Path | None
    package_dirs: tuple[Path, ...] = ()
    trusted: bool = False
    ignore: tuple[str, ...] = ()


def read_document(
    data: bytes | str, path: Path | None, package_dirs: Sequence[Path], report: Report
) -> Document | None:
    """The elements of a file; None where problems are collected and it cannot be parsed."""
    root = parse(data, report)
    return None if root is None else Document(root, data, path, tuple(package_dirs))


def read_source(source: Source) -> tuple[bytes | str, Path | None]:
    """The content, and the path if it came from a file. Strings that begin with ``<`` or ``{`` are content."""
    if isinstance(source, bytes):
        return source, None
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith(("<", "{")):
        return source.lstrip("\ufeff"), None
    if isinstance(source, str) and not source.strip():
        raise LoadError(f"the source is {source!r}, expected a path, a string with the XML, or a stream")
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        return _read_file(path), path
    if not hasattr(source, "read"):
        raise LoadError(f"cannot load {kind_of(source)}, expected a path, a string with the XML, or a stream")
    content: object = source.read(MOST_BYTES + 1)
    if not isinstance(content, bytes | str):
        raise LoadError(f"reading the stream gave {kind_of(content)}, expected bytes or a string")
    return content, None


def _read_file(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file():
            raise LoadError(f"{str(path)!r} is not a file")
        with path.open("rb") as stream:
            return stream.read(MOST_BYTES + 1)
    except FileNotFoundError:
        plain = len(path.parts) == 1 and not path.suffix
        hint = f"; for a robot by its name: bough.robots.load({str(path)!r})" if plain else ""
        raise LoadError(f"there is no file {str(path)!r}{_nearest(path)}{hint}") from None
    except (OSError, ValueError) as error:  # ValueError: a path with a zero byte
        raise LoadError(f"the file {str(path)[:200]!r} cannot be read: {error}") from None


def _nearest(path: Path) -> str:
    """What the folder does hold, for the message."""
    folder = path.parent
    if not folder.is_dir():
        return f": there is no folder {str(folder)!r}"
    names = sorted(entry.name for entry in islice(folder.iterdir(), 2000))
    near = difflib.get_close_matches(path.name, names, n=3, cutoff=0.7)
    if near:
        return f"; did you mean {' or '.join(map(repr, near))}?"
    alike = [repr(name) for name in names if name.endswith(path.suffix or ".urdf")][:6]
    return f"; the folder has {', '.join(alike)}" if alike else f" in {str(folder.absolute())!r}"
