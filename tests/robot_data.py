"""The URDF files of the package `example-robot-data`."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

__all__ = ["ROBOTS", "URDFS"]

FILES = [Path(str(file.locate())) for file in metadata.files("example-robot-data") or () if file.suffix == ".urdf"]
ROBOTS = next(folder for folder in FILES[0].parents if folder.parent.name == "example-robot-data")
URDFS = sorted(str(file.relative_to(ROBOTS)) for file in FILES)
