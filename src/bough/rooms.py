"""What all rooms have in common: they show their public names, and tell where a name lives that they do not have."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

__all__ = ["MissingNameError", "furnish", "meant"]

MISNAMED = 0.7  # how like a public name (0 to 1) another one is that is taken for misspelt


class MissingNameError(AttributeError):
    """A room has no such name. Where it lives is only looked for when the message is read: that opens all rooms."""

    def __init__(self, room: str, name: str) -> None:
        super().__init__(room, name)
        self.room, self.missing = room, name

    def __str__(self) -> str:
        return f"module {self.room!r} has no attribute {self.missing!r}{self._elsewhere()}"

    def _elsewhere(self) -> str:
        if self.missing.startswith("_"):
            return ""
        facade, room = sys.modules["bough"], sys.modules[self.room]
        if self.missing in facade.__all__:
            return f"; {self.missing} is bough.{self.missing}"
        found = facade.place_of(self.missing)
        return found or meant(self.missing, room.__all__) or meant(self.missing, facade.__all__)


def meant(name: str, names: Sequence[str]) -> str:
    """What to say of a name that is misspelt; nothing if it is like none."""
    near = difflib.get_close_matches(name, names, 3, MISNAMED)
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""


def furnish(room: str) -> None:
    """Have a room, by the name of its module, show only its public names, and tell where all others live."""
    module: ModuleType = sys.modules[room]

    def show() -> list[str]:
        return sorted(module.__all__)

    def look_for(name: str) -> Any:
        raise MissingNameError(room, name)

    vars(module).update(__dir__=show, __getattr__=look_for)
    vars(module).pop("furnish", None)  # which is no public name of it
