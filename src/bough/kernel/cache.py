"""The disk cache of compiled programs: private to the user, checked when read, safe under concurrency.

A file holds a digest, then its key, then the content; the digest is of both. A file that does not match, or that
stands under another key than its own, is ignored and replaced. Files are written aside and renamed into place. Code of
anybody else must never run, so all of it goes through `folder.py`, which says what is the user's own. Where there is no
such folder, nothing is stored, and `bough cache info` says why.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from bough.kernel.folder import Entry, Folder, opened_folder

__all__ = ["CacheInfo", "clear", "directory", "info", "key_of", "load", "noted", "sources_digest", "store"]

T = TypeVar("T")

MAGIC = b"bough-2\n"
HEAD = len(MAGIC) + hashlib.sha256().digest_size
LARGEST = 16 << 20  # bytes of one program: a larger one is mostly tables, which are soon made anew
ASIDE = {"__pycache__", "cli", "cost", "formats", "robots"}
"""Folders of bough that take no part in making programs."""

CACHE_ROOM = 512 << 20  # bytes of all: beyond, those used longest ago make room
PROGRAM, PART = ".program", ".part"
HOUR, DAY = 3600.0, 86400.0


@dataclass(frozen=True)
class CacheInfo:
    """Where the cache is, how many programs it holds and how many bytes they take.

    Attributes
    ----------
    directory
        The folder, which is made when there is something to store; None if there is no place for one.
    usable
        Whether programs can be stored there.
    files, size
        The number of programs, and of their bytes.
    reason
        Why it is not usable; empty if it is.
    """

    directory: Path | None
    usable: bool
    files: int
    size: int
    reason: str = ""


def directory() -> Path | None:
    """Where the cache is: BOUGH_CACHE_DIR, or a folder of bough's in the system's place for caches.

    None if BOUGH_CACHE_DIR is not an absolute path, or if there is neither that nor a home directory: then there is no
    cache, and programs are compiled in each process.

    Examples
    --------
    >>> import bough
    >>> bough.cache.directory() == bough.cache.info().directory
    True
    """
    place = _place()
    return place if isinstance(place, Path) else None


def load(key: str) -> bytes | None:
    """The content stored under a key, or None."""
    data, own = None, key.encode() + b"\n"
    with suppress(OSError), _opened() as folder:
        data = folder.read(key + PROGRAM, HEAD + len(own) + LARGEST)
    if data is None or not data.startswith(MAGIC):
        return None
    said, rest = data[len(MAGIC) : HEAD], data[HEAD:]
    if not rest.startswith(own) or hashlib.sha256(rest).digest() != said:
        return None
    return rest[len(own) :]


def store(key: str, content: bytes) -> None:
    """Store content under a key, if the cache can be used; a full disk or a missing right is no error."""
    if len(content) > LARGEST:
        return
    rest = key.encode() + b"\n" + content
    with suppress(OSError), _opened(make=True) as folder:
        try:
            folder.write(key + PROGRAM, MAGIC + hashlib.sha256(rest).digest() + rest)
        finally:
            _make_room(folder)


def key_of(*parts: str) -> str:
    """The key of what texts and the sources of bough determine."""
    return hashlib.sha256("\0".join((*parts, sources_digest())).encode()).hexdigest()


def noted(digest: str | None, parts: Sequence[str], make: Callable[[], Any], read: Callable[[Any], T]) -> T:
    """What takes long to find and is short: made once, kept as JSON, and read from that; not kept without a digest."""
    if digest is None:
        return read(make())
    key = key_of(digest, *parts)
    stored = load(key)
    if stored is not None:
        with suppress(ValueError, KeyError, TypeError):  # written by hand, perhaps: made anew
            return read(json.loads(stored))
    found = make()
    store(key, json.dumps(found).encode())
    return read(found)


def info() -> CacheInfo:
    """What the cache holds.

    Examples
    --------
    >>> import bough
    >>> kept = bough.cache.info()
    >>> kept.directory == bough.cache.directory(), kept.files >= 0, kept.size >= 0  # programs, and their bytes
    (True, True, True)
    """
    place = _place()
    if isinstance(place, str):
        return CacheInfo(None, False, 0, 0, place)
    try:
        with opened_folder(place) as folder:
            sizes = [entry.size for entry in folder.entries(PROGRAM)]
            reason = folder.why_not_written()
            reason = reason and f"it can be read, but not written: {reason}"
            return CacheInfo(place, not reason, len(sizes), sum(sizes), reason)
    except FileNotFoundError:  # not yet
        reason = _why_not_made(place)
    except OSError as error:
        reason = f"{error.strerror}: {error.filename}" if error.strerror else str(error)
    return CacheInfo(place, not reason, 0, 0, reason)


def clear() -> int:
    """Remove all stored programs and return their number.

    Examples
    --------
    >>> import bough
    >>> bough.cache.clear()  # doctest: +SKIP
    41
    """
    with suppress(OSError), _opened() as folder:
        for entry in folder.entries(PART):
            folder.remove(entry.name)
        return sum(folder.remove(entry.name) for entry in folder.entries(PROGRAM))
    return 0


@lru_cache(maxsize=1)
def sources_digest() -> str:
    """A digest of bough's own sources and of NumPy's version: others make other programs, or other constants."""
    digest = hashlib.sha256(f"{np.__version__}\0".encode())
    root = str(Path(__file__).resolve().parents[1])
    for folder, below, names in os.walk(root):
        below[:] = sorted(set(below) - ASIDE)
        for name in sorted(names):
            if name.endswith(".py"):
                with open(os.path.join(folder, name), "rb") as file:
                    digest.update(f"{folder[len(root) :]}/{name}\0".encode() + file.read() + b"\0")
    return digest.hexdigest()


def _place() -> Path | str:
    """Where the cache is, or why there is none."""
    told = os.environ.get("BOUGH_CACHE_DIR")
    if told:
        path = Path(told)
        return path if path.is_absolute() else f"BOUGH_CACHE_DIR is {told!r}, expected an absolute path"
    named = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME", "")
    if os.path.isabs(named) and sys.platform != "darwin":
        return Path(named) / "bough"
    try:
        home = Path.home()
    except RuntimeError:
        return "there is no home directory; BOUGH_CACHE_DIR can name a folder"
    if not home.is_absolute():
        return f"the home directory is {str(home)!r}, expected an absolute path; BOUGH_CACHE_DIR can name a folder"
    below = {"win32": ("AppData", "Local"), "darwin": ("Library", "Caches")}
    return home.joinpath(*below.get(sys.platform, (".cache",)), "bough")


@contextmanager
def _opened(make: bool = False) -> Iterator[Folder]:
    """The folder of the cache; raises `OSError` if there is none, or none that can be used."""
    place = _place()
    if isinstance(place, str):
        raise FileNotFoundError(place)
    with opened_folder(place, make) as folder:
        yield folder


def _why_not_made(place: Path) -> str:
    """Why a folder that is not there cannot be made, if so; else an empty text."""
    above = next((folder for folder in place.parents if os.path.lexists(folder)), place)
    try:  # rights do not tell all: whether something can be made there is seen by making it
        os.rmdir(tempfile.mkdtemp(prefix=".bough-", dir=above))
    except OSError as error:
        return f"it is not there, and nothing can be made in {above}: {error.strerror}"
    return ""


def _make_room(folder: Folder) -> None:
    """Remove the programs used longest ago until the rest fit, and what was left half written an hour ago.

    A clock may have been set back, so that a file seems to be used in days to come: such a one counts as the oldest.
    """
    now = time.time()
    total = 0
    for entry in _newest_first(folder.entries(PROGRAM), now):
        total += entry.size
        if total > CACHE_ROOM:
            folder.remove(entry.name)
    for entry in folder.entries(PART):
        if not now - HOUR < entry.time < now + DAY:
            folder.remove(entry.name)


def _newest_first(entries: Iterable[Entry], now: float) -> list[Entry]:
    return sorted(entries, key=lambda entry: entry.time if entry.time < now + DAY else 0.0, reverse=True)
