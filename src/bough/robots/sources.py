"""Where files of robots lie: in the package itself, in packages installed beside it, in folders of the user's."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["OWN", "PATH", "Source", "is_robot", "missing_folders", "missing_packages", "sources"]

OWN = "bough"
"""The source of bough's own robots."""

PATH = "BOUGH_ROBOT_PATH"
"""The environment variable with folders of robots, separated as in PATH."""

INSTALLED = {
    "example-robot-data": ("cmeel.prefix/share/example-robot-data/robots", "cmeel.prefix/share"),
    "gymnasium": ("gymnasium/envs/mujoco/assets", "gymnasium/envs/mujoco/assets"),
}
"""For each package: the folder of its robots, and the folder that ``package://`` stands for, below site-packages."""

ROOTS = {"mujoco", "robot", "sdf"}
HEAD = 1 << 16  # bytes of a file in which its root element is looked for


@dataclass(frozen=True)
class Source:
    """A folder of robots: the name of its source, the folder, and the one that ``package://`` stands for."""

    name: str
    folder: Path
    package_dir: Path


def sources() -> Iterator[Source]:
    """All folders of robots there are: bough's own, the user's, then those of packages."""
    own = Path(__file__).parent / "files"
    yield Source(OWN, own, own)
    for folder in _user_folders():
        if folder.is_dir():
            yield Source(folder.resolve().name, folder, folder)
    for name, (robots, packages) in INSTALLED.items():
        place = _place(robots)
        if place is not None:
            yield Source(name, place / robots, place / packages)


def _place(robots: str) -> Path | None:
    """Where a folder lies below the path of imports; as for `import`, the first one counts."""
    places = (Path(entry) for entry in dict.fromkeys(sys.path) if entry)
    return next((place for place in places if (place / robots).is_dir()), None)


def missing_packages() -> list[str]:
    """The packages with robots that are not installed."""
    return [name for name, (robots, _) in INSTALLED.items() if _place(robots) is None]


def missing_folders() -> list[str]:
    """What BOUGH_ROBOT_PATH names and is no folder."""
    return [str(folder) for folder in _user_folders() if not folder.is_dir()]


def is_robot(path: Path) -> bool:
    """Whether a file is one that `bough.load` reads: told from the suffix, or for XML from its root element.

    Parts that MJCF files include, and descriptions of packages, are none; scenes around a robot are neither, nor is an
    URDF file without links.
    """
    if path.suffix in (".sdf", ".mjcf"):
        return True
    if path.suffix not in (".urdf", ".xml") or (path.suffix == ".xml" and path.stem.startswith("scene")):
        return False
    try:
        with path.open("rb") as stream:
            head = stream.read(HEAD)
    except OSError:
        return False
    text = re.sub(rb"<!--.*?-->", b"", head, flags=re.DOTALL)
    element = re.search(rb"<([A-Za-z]\w*)", text)
    if element is not None and element[1] == b"robot" and len(head) < HEAD and b"<link" not in text:
        return False
    return path.suffix == ".urdf" or (element is not None and element[1].decode() in ROOTS)


def _user_folders() -> list[Path]:
    return [Path(entry).expanduser() for entry in os.environ.get(PATH, "").split(os.pathsep) if entry]
