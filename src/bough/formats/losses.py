"""What a format cannot express: named and refused, unless the caller says that it may be left out."""

from __future__ import annotations

from collections.abc import Collection

from bough.errors import SaveError
from bough.reading import known_name, names

__all__ = ["KINDS", "Losses"]

KINDS = (
    "armature",
    "constraints",
    "geometries",
    "gravity",
    "inertias",
    "limits",
    "losses",
    "order",
    "simulation",
    "springs",
)
"""What may be left out of a file: the motion of the tree itself never, so that inertias are those of fixed links."""

LOSSES_SHOWN = 6  # in one message


class Losses:
    """What a writer meets and its format has no words for.

    Parameters
    ----------
    format
        Name of the format.
    leave_out
        The kinds of things that may be left out.
    """

    def __init__(self, format: str, leave_out: Collection[str] = ()) -> None:
        kinds = names(leave_out, "leave_out", SaveError)
        for kind in kinds:
            known_name(kind, "kind of thing to leave out", KINDS)
        self._format, self._leave_out = format, frozenset(kinds)
        self._messages: list[str] = []
        self._kinds: set[str] = set()

    def add(self, message: str, kind: str | None = None) -> None:
        """Something that cannot be expressed; of a kind that may be left out, or of none."""
        if kind not in self._leave_out:
            self._messages.append(message)
            self._kinds |= {kind} if kind else set()

    def refuse(self) -> None:
        """Raise if there is anything that was not to be left out."""
        if not self._messages:
            return
        shown = "; ".join(self._messages[:LOSSES_SHOWN])
        more = f"; … ({len(self._messages)} in all)" if len(self._messages) > LOSSES_SHOWN else ""
        hint = f" (leave_out={tuple(sorted(self._kinds))} saves the model without)" if self._kinds else ""
        raise SaveError(f"{self._format} cannot express {shown}{more}{hint}")
