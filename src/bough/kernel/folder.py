"""A folder of the user's own, opened once: all that is read, written and removed there goes through what was opened.

A file is read only if it was looked at after it was opened, and is a plain one that belongs to the user and that nobody
else can write to or has under another name. The folder must belong to the user and be writable by nobody else. Nor may
anybody else be able to put another folder in its place: that is so if each folder above it belongs to the user or to
root and others cannot write to it, or can add to it but not take away from it, as in /tmp. Links on the way are held to
the same. Without this, a folder that the user has unpacked somewhere could be made to pass for this one.

On Windows, where the folders of a user are closed to others by themselves, none of this is looked at.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

__all__ = ["Entry", "Folder", "opened_folder"]

HAS_RIGHTS = hasattr(os, "geteuid")
HAS_HANDLES = os.open in os.supports_dir_fd

PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
MOST_LINKS = 40


def _flags(*names: str) -> int:
    """Those that this system has."""
    found = 0
    for name in names:
        found |= getattr(os, name, 0)
    return found


ALWAYS = ("O_NOFOLLOW", "O_CLOEXEC", "O_NOINHERIT", "O_BINARY")
READ_FOLDER = _flags("O_RDONLY", "O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC")
READ = _flags("O_RDONLY", "O_NONBLOCK", *ALWAYS)  # a pipe without a writer must not make anyone wait
WRITE_NEW = _flags("O_WRONLY", "O_CREAT", "O_EXCL", *ALWAYS)


class Entry(NamedTuple):
    """A plain file: its name, when it was last used or written (s), and its size in bytes."""

    name: str
    time: float
    size: int


class Folder:
    """A folder that was opened and found to be the user's own."""

    def __init__(self, path: Path, handle: int | None) -> None:
        self._path = path
        self._handle = handle

    def read(self, name: str, largest: int) -> bytes | None:
        """The content of a file, which is marked as used now; None if it is not the user's own, or too large.

        Raises
        ------
        OSError
            If there is no such file, or it cannot be read.
        """
        handle = os.open(self._at(name), READ, dir_fd=self._handle)
        try:
            status = os.fstat(handle)
            plain = stat.S_ISREG(status.st_mode) and status.st_nlink <= 1
            if not plain or status.st_size > largest or not _is_own(status):
                return None
            with os.fdopen(handle, "rb", closefd=False) as file:
                content = file.read(status.st_size)
            with suppress(OSError):  # it may be on a disk that can only be read
                os.utime(handle if os.utime in os.supports_fd else self._at(name))
            return content
        finally:
            os.close(handle)

    def write(self, name: str, content: bytes) -> None:
        """Make a file, or replace it: others see the whole of it or nothing. Raises `OSError` if that fails."""
        aside = f"{os.urandom(12).hex()}.part"
        handle = os.open(self._at(aside), WRITE_NEW, PRIVATE_FILE, dir_fd=self._handle)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            both = {"src_dir_fd": self._handle, "dst_dir_fd": self._handle}
            os.replace(self._at(aside), self._at(name), **both)
        except BaseException:
            self.remove(aside)
            raise

    def why_not_written(self) -> str:
        """Why nothing can be written to it, as the system says; empty if something can."""
        aside = f"{os.urandom(12).hex()}.part"
        try:
            os.close(os.open(self._at(aside), WRITE_NEW, PRIVATE_FILE, dir_fd=self._handle))
        except OSError as error:
            return error.strerror or str(error)
        self.remove(aside)
        return ""

    def remove(self, name: str) -> bool:
        """Remove a file, and say whether it was there and is gone."""
        try:
            os.unlink(self._at(name), dir_fd=self._handle)
        except OSError:
            return False
        return True

    def entries(self, *suffixes: str) -> list[Entry]:
        """The plain files whose names end so."""
        found = []
        for name in os.listdir(self._path if self._handle is None else self._handle):
            if name.endswith(suffixes):
                with suppress(OSError):  # gone meanwhile
                    status = os.stat(self._at(name), dir_fd=self._handle, follow_symlinks=False)
                    if stat.S_ISREG(status.st_mode):
                        found.append(Entry(name, status.st_mtime, status.st_size))
        return found

    def _at(self, name: str) -> str:
        return name if self._handle is not None else str(self._path / name)


@contextmanager
def opened_folder(path: Path, make: bool = False) -> Iterator[Folder]:
    """A folder of the user's own, by its absolute path; made, with those above it, if it is not there and `make`.

    Raises
    ------
    OSError
        If it is not there or cannot be opened; a `PermissionError` that says why if others could write to it or put
        another one in its place.
    """
    if HAS_RIGHTS:
        _require_safe_way(path)
    if make and not path.exists():
        _make(path)
        if HAS_RIGHTS:
            _require_safe_way(path)
    if not HAS_HANDLES:
        if not stat.S_ISDIR(os.stat(path).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
        yield Folder(path, None)
        return
    handle = os.open(path, READ_FOLDER)
    try:
        if not _is_own(os.fstat(handle)):
            raise PermissionError("it is not a folder that only you can write to")
        yield Folder(path, handle)
    finally:
        os.close(handle)


def _make(path: Path) -> None:
    """Make a folder and those above it, all of them private: `Path.mkdir` leaves the rights of the latter to chance."""
    for folder in (*reversed(path.parents), path):
        if not folder.exists():
            folder.mkdir(PRIVATE_FOLDER, exist_ok=True)


def _is_own(status: os.stat_result) -> bool:
    """Whether something belongs to the user and nobody else can write to it."""
    return not HAS_RIGHTS or (status.st_uid == os.geteuid() and not status.st_mode & OTHERS_WRITE)


def _require_safe_way(path: Path) -> None:
    """Raise `PermissionError` if someone else could make a path lead to another folder.

    What is looked at cannot change in between: only those could change it who are trusted.
    """
    here, links = "/", 0
    steps = [*reversed(path.parts[1:])]
    _require_closed(here, os.stat(here))
    while steps:
        step = steps.pop()
        if step == "..":
            here = os.path.dirname(here)
            continue
        place = os.path.join(here, step)
        try:
            status = os.lstat(place)
        except FileNotFoundError:
            return
        if stat.S_ISLNK(status.st_mode):
            links += 1
            if not steps or links > MOST_LINKS:
                raise PermissionError(f"{place} is a link, expected a folder")
            _require_trusted(place, status)
            target = Path(os.readlink(place))
            here = "/" if target.is_absolute() else here
            steps += reversed(target.parts[1:] if target.is_absolute() else target.parts)
            continue
        if steps:
            _require_closed(place, status)
        here = place


def _require_closed(folder: str, status: os.stat_result) -> None:
    """Raise unless nobody but the user and root can take anything away from a folder."""
    _require_trusted(folder, status)
    # a group with the number of the user is that of the user alone, where there are such
    by_group = status.st_mode & stat.S_IWGRP and status.st_gid != status.st_uid
    if (by_group or status.st_mode & stat.S_IWOTH) and not status.st_mode & stat.S_ISVTX:
        raise PermissionError(f"others can write to {folder}, in which they could put another folder in its place")


def _require_trusted(place: str, status: os.stat_result) -> None:
    """Raise unless something belongs to the user, to root, or to whom the root of the file system belongs."""
    if status.st_uid not in (0, os.geteuid(), os.stat("/").st_uid):
        raise PermissionError(f"{place} belongs to another user, who could put another folder in its place")
