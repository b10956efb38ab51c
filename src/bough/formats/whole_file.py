"""Files that are written as a whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from bough.errors import SaveError

__all__ = ["whole_file"]


@contextmanager
def whole_file(target: Path) -> Iterator[IO[bytes]]:
    """A stream to a file beside the target, renamed at the end: the target is replaced as a whole or not at all.

    Raises
    ------
    SaveError
        If that fails.
    """
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        try:
            with draft.open("xb") as stream:
                yield stream
            os.replace(draft, target)
        finally:
            draft.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        raise SaveError(
            f"the file {str(target)!r} cannot be written: {getattr(error, 'strerror', None) or error}"
        ) from None
