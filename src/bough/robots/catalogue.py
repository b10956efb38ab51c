"""The robots there are, and what each is called: the shortest name that means no other."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bough.errors import ModelError, UnknownNameError
from bough.robots.sources import OWN, PATH, Source, is_robot, missing_folders, missing_packages, sources

__all__ = ["Robot", "available", "find", "names"]

OFFERED = 8  # names that an error lists


@dataclass(frozen=True)
class Robot:
    """A robot file.

    Attributes
    ----------
    source
        Origin: ``"bough"``, a package, or the name of a folder in BOUGH_ROBOT_PATH.
    path
        The file.
    parts
        Source, folders and name of the file.
    package_dir
        The folder for ``package://`` references.
    """

    source: str
    path: Path
    parts: tuple[str, ...]
    package_dir: Path

    def is_called(self, name: str) -> bool:
        """Whether a name refers to this robot: its file name, with or without suffix and parent folders."""
        *given, last = name.split("/")
        above = iter(self.parts[:-1])
        return last in (self.path.stem, self.path.name) and all(part in above for part in given)  # in this order


def names() -> tuple[str, ...]:
    """List the names of the available robots, sorted. `load` takes each of these names.

    The name of a robot is its file name without the suffix. If several files have this name, a source or folder is
    added, as in ``"gymnasium/humanoid"``. A plain name of one of bough's own robots always refers to that robot.

    Returns
    -------
    tuple of str
        The names.

    Examples
    --------
    >>> import bough
    >>> {"pendulum", "arm", "quadruped", "humanoid"} <= set(bough.robots.names())
    True
    """
    return tuple(available())


def available() -> dict[str, Robot]:
    """Return the available robots by name, sorted, with their files.

    Examples
    --------
    >>> import bough
    >>> bough.robots.available()["arm"].path.name
    'arm.urdf'
    """
    return dict(sorted(_by_name(_robots()).items()))


def find(name: str) -> Robot:
    """Find a robot by name: one of `names`, or a longer form with source and folders.

    Parameters
    ----------
    name
        Such as ``"panda"``, ``"example-robot-data/panda"`` or ``"panda_description/urdf/panda.urdf"``.

    Returns
    -------
    Robot
        With its `path` and `source`.

    Raises
    ------
    ModelError
        If several robots match; the message lists them.
    UnknownNameError
        If no robot matches; the message lists similar names.

    Examples
    --------
    >>> import bough
    >>> bough.robots.find("humanoid").source
    'bough'
    """
    robots = _robots()
    if not isinstance(name, str):
        raise UnknownNameError("robot", name, _by_name(robots))
    meant = _meant(name, robots)
    if len(meant) == 1:
        return meant[0]
    if meant:
        called = sorted(short for short, robot in _by_name(robots).items() if robot in meant)
        shown = ", ".join(map(repr, called[:OFFERED])) + (
            f", … ({len(called)} in all)" if len(called) > OFFERED else ""
        )
        raise ModelError(f"{name!r} is ambiguous, expected one of {shown}")
    raise UnknownNameError("robot", name, _by_name(robots), _what_is_missing())


def _what_is_missing() -> str:
    """Why a robot may not be at hand."""
    hints = [f"{PATH} names {folder!r}, which is not a folder" for folder in missing_folders()[:1]]
    packages = missing_packages()
    if packages:
        hints.append(f"more robots come with {' and '.join(packages)}: pip install {' '.join(packages)}")
    return "; ".join(hints)


def _meant(name: str, robots: Iterable[Robot]) -> list[Robot]:
    """The one whose name in full it is, or else bough's own of that name, or else all that are called so."""
    meant = [robot for robot in robots if robot.is_called(name)]
    exact = [robot for robot in meant if "/".join(robot.parts) == name]
    return exact or [robot for robot in meant if robot.source == OWN] or meant


def _by_name(robots: list[Robot]) -> dict[str, Robot]:
    """Each robot under the first form of its name that means it alone."""
    alike: dict[str, list[Robot]] = {}
    for robot in robots:
        alike.setdefault(robot.path.stem, []).append(robot)
    return {next(form for form in _forms(r) if _meant(form, alike[r.path.stem]) == [r]): r for r in robots}


def _forms(robot: Robot) -> Iterator[str]:
    """What a robot may be called, short forms first; the last one is all of its path."""
    source, *folders, file = robot.parts
    for last in (robot.path.stem, file):
        yield last
        yield f"{source}/{last}"
        yield from (f"{folder}/{last}" for folder in folders)
        yield from (f"{source}/{folder}/{last}" for folder in folders)
        yield "/".join((source, *folders, last))


def _robots() -> list[Robot]:
    """All robots; of several with the same name in full, the first."""
    found: dict[tuple[str, ...], Robot] = {}
    for source in sources():
        for path in _files(source):
            parts = (source.name, *path.relative_to(source.folder).parts)
            found.setdefault(parts, Robot(source.name, path, parts, source.package_dir))
    return list(found.values())


def _files(source: Source) -> Iterator[Path]:
    for folder, inner, files in os.walk(source.folder):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        yield from (path for path in (Path(folder, name) for name in sorted(files)) if is_robot(path))
