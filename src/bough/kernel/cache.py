"""The disk cache of compiled programs: private to the user, checked when read, safe under concurrency.

A file holds a digest of its content, then the content; one that does not match is ignored and replaced. Files are
written aside and renamed into place. The directory must belong to the user and be writable by nobody else, or it is not
used.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

__all__ = ["CacheInfo", "clear", "directory", "info", "load", "sources_digest", "store"]

MAGIC = b"bough-1\n"
LARGEST = 16 << 20  # bytes of one program: a larger one is mostly tables, which are soon made anew
ASIDE = {"__pycache__", "cli", "cost", "formats", "robots"}
"""Folders of bough that take no part in making programs."""

ROOM = 512 << 20  # bytes of all: beyond, those used longest ago make room


@dataclass(frozen=True)
class CacheInfo:
    """Where the cache is, how many programs it holds and how many bytes they take."""

    directory: Path
    usable: bool
    files: int
    size: int


def directory() -> Path:
    """Where the cache is: BOUGH_CACHE_DIR, or a folder of bough's in the system's place for caches."""
    told = os.environ.get("BOUGH_CACHE_DIR")
    if told:
        return Path(told)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "bough"


def load(key: str) -> bytes | None:
    """The content stored under a key, or None."""
    folder = directory()
    if not _is_private(folder):
        return None
    try:
        data = _path(folder, key).read_bytes()
        os.utime(_path(folder, key))  # used now
    except OSError:
        return None
    head = len(MAGIC) + 32
    if data[: len(MAGIC)] != MAGIC or hashlib.sha256(data[head:]).digest() != data[len(MAGIC) : head]:
        return None
    return data[head:]


def store(key: str, content: bytes) -> None:
    """Store content under a key, if the cache can be used; a full disk or a missing right is no error."""
    folder = directory()
    if len(content) > LARGEST:
        return
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_private(folder):
            return
        handle, name = tempfile.mkstemp(dir=folder, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(MAGIC + hashlib.sha256(content).digest() + content)
            os.replace(name, _path(folder, key))
        except OSError:
            os.unlink(name)
        _make_room(folder)
    except OSError:
        return


def info() -> CacheInfo:
    """What the cache holds."""
    folder = directory()
    sizes = [path.stat().st_size for path in _files(folder)]
    return CacheInfo(folder, _is_private(folder), len(sizes), sum(sizes))


def clear() -> int:
    """Remove all stored programs and return their number."""
    files = _files(directory())
    for path in files:
        path.unlink(missing_ok=True)
    return len(files)


@lru_cache(maxsize=1)
def sources_digest() -> str:
    """A digest of bough's own sources: other sources make other programs."""
    digest = hashlib.sha256()
    root = str(Path(__file__).resolve().parents[1])
    for folder, below, names in os.walk(root):
        below[:] = sorted(set(below) - ASIDE)
        for name in sorted(names):
            if name.endswith(".py"):
                with open(os.path.join(folder, name), "rb") as file:
                    digest.update(f"{folder[len(root) :]}/{name}\0".encode() + file.read() + b"\0")
    return digest.hexdigest()


def _make_room(folder: Path) -> None:
    """Remove the programs used longest ago until the rest fit."""
    files = sorted(((path.stat().st_mtime, path.stat().st_size, path) for path in _files(folder)), reverse=True)
    total = 0
    for _, size, path in files:
        total += size
        if total > ROOM:
            path.unlink(missing_ok=True)


def _path(folder: Path, key: str) -> Path:
    return folder / f"{key}.program"


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix in (".program", ".part"))
    except OSError:
        return []


def _is_private(folder: Path) -> bool:
    """Whether the folder exists, is the user's own and nobody else can write to it."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    if not stat.S_ISDIR(status.st_mode):
        return False
    if os.name == "nt":
        return True
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
