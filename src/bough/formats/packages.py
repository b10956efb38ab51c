"""References to files of ROS packages, ``package://name/path``, and of Gazebo's models, ``model://name/path``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

__all__ = ["find_file"]

SCHEMES = ("package://", "model://")


def find_file(reference: str, package_dirs: Sequence[Path], document: Path | None = None) -> str:
    """The path of an existing file in one of the folders that hold packages; else the reference as it is.

    A folder may hold the package or be it. Files are looked for, never opened, and never outside those folders; those
    without a package are looked for where the file lies that speaks of them, the `document`.
    """
    scheme = next((scheme for scheme in SCHEMES if reference.startswith(scheme)), None)
    if scheme is None:
        return reference if document is None else _beside(document, reference)
    package, _, path = reference.removeprefix(scheme).partition("/")
    for folder in package_dirs:
        for root in (folder / package, folder) if folder.name == package else (folder / package,):
            found = _inside(root, path)
            if found is not None:
                return str(found)
    return reference


def _beside(document: Path, reference: str) -> str:
    path = reference.removeprefix("file://")
    try:
        found = (document.parent / path).resolve()
        return str(found) if path and found.is_file() else reference
    except (OSError, ValueError):
        return reference


def _inside(root: Path, path: str) -> Path | None:
    try:
        found, root = (root / path).resolve(), root.resolve()
        return found if found.is_relative_to(root) and found.is_file() else None
    except (OSError, ValueError):  # names no file system takes
        return None
