"""All exceptions of bough.

Each message says what is wrong and where, what was given and what was expected. Errors about names list similar valid
names. All derive from `BoughError` and from a suitable built-in (`ValueError`, `KeyError`).
"""

from __future__ import annotations

import bisect
import difflib
import re
import sys
import warnings
from collections.abc import Iterable, Sequence

__all__ = [
    "AlwaysSingular",
    "AssemblyError",
    "BoughError",
    "DriveError",
    "FiniteError",
    "LoadError",
    "LoadWarning",
    "ModelError",
    "PatternError",
    "ProgramError",
    "SaveError",
    "ShapeError",
    "SimulationWarning",
    "SingularError",
    "TreeError",
    "UnknownNameError",
]

SHOWN = 12  # names that a message lists at most
MANY = 300  # names before and after a wrong one that are looked at
LONG = 64  # letters of each of them that count


def printable(text: str) -> str:
    """A line as a terminal may see it: what is no visible character, such as an escape sequence, is told by number."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def warn(message: str, category: type[Warning]) -> None:
    """Warn, with the line outside of bough that led here."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "bough":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


class BoughError(Exception):
    """Root of all errors raised by bough."""


class TreeError(BoughError, ValueError):
    """A parent array, node number or topology parameter is not valid."""


class ModelError(BoughError, ValueError):
    """A body, joint, frame or inertia of a model is not valid; the message names it."""


class LoadError(BoughError, ValueError):
    """A file cannot be read or is invalid; the message names the file and the line.

    Parameters
    ----------
    message
        Description of the error.
    file, line
        Name of the file, and number of the line from 1; None if there is none.
    """

    def __init__(self, message: str, file: str | None = None, line: int | None = None) -> None:
        where = ", ".join(part for part in (printable(file or ""), f"line {line}" if line else None) if part)
        super().__init__(f"{where}: {message}" if where else message)
        self.message = message
        self.file = file
        self.line = line

    def __reduce__(self) -> tuple[type[LoadError], tuple[str, str | None, int | None]]:
        return LoadError, (self.message, self.file, self.line)


class LoadWarning(UserWarning):
    """A warning: a file, or measured data, contain something that no real mechanism has; bough uses it as given.

    The message names the line, or the joint.
    """


class SimulationWarning(UserWarning):
    """A warning: a simulation ignores something in a scene or a model file, or starts from an impossible state."""


class SaveError(BoughError, ValueError):
    """A model cannot be saved: the format cannot express a part of it, or the file cannot be written."""


class ShapeError(BoughError, ValueError):
    """An argument is invalid; the message names it, its value and what was expected.

    Examples are an array of the wrong shape or data type, or a number or option that is not allowed.
    """


class FiniteError(BoughError, ValueError):
    """An array holds NaN or infinity, or a quaternion that is not of unit length; the message says where."""


class PatternError(BoughError, ValueError):
    """A matrix has a nonzero entry, or an asymmetry, where its tree allows none."""


class SingularError(BoughError, ValueError):
    """A matrix is not positive definite, or a joint moves no inertia; the message names the row or joint.

    Also raised if `bough.identify` does not converge because pseudo-inertias are singular up to rounding errors.
    """


class AlwaysSingular(SingularError):
    """A joint moves no inertia in any state; the message names it and the body. Catch it as a `SingularError`."""


class AssemblyError(BoughError, ValueError):
    """No configuration was found that satisfies the constraints of a model; the message names the worst constraint."""


class DriveError(BoughError, ValueError):
    """Drives cannot produce the given motion; the message names a joint or a constraint."""


class ProgramError(BoughError, RuntimeError):
    """A traced program is malformed, or an algorithm did something that cannot be traced."""


class UnknownNameError(BoughError, KeyError):
    """A name does not exist.

    Parameters
    ----------
    kind
        Kind of the name ("joint", "frame", "algorithm", …).
    name
        The unknown name.
    valid
        The valid names.
    hint
        Further advice, at the end of the message.
    """

    def __init__(self, kind: str, name: object, valid: Iterable[str], hint: str = "") -> None:
        self._arguments = (kind, name, tuple(valid), hint)
        super().__init__(*self._arguments)
        self.brief = f"no {kind} is called {name!r}"

    @property
    def message(self) -> str:
        """The message, with the most similar valid names, or some valid names."""
        _, name, valid, hint = self._arguments
        names = sorted(valid)
        near = nearest(str(name), names)
        if near:
            told = f"did you mean {' or '.join(map(repr, near))}?"
        elif names:
            more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
            told = f"valid names: {', '.join(map(repr, names[:SHOWN]))}{more}"
        else:
            told = "there are none"
        return "; ".join(part for part in (self.brief, told, hint) if part)

    def among(self, more: Iterable[str]) -> UnknownNameError:
        """The same error where some more names are valid."""
        kind, name, valid, hint = self._arguments
        return UnknownNameError(kind, name, (*valid, *more), hint)

    def __reduce__(self) -> tuple[type[UnknownNameError], tuple[str, object, tuple[str, ...], str]]:
        return UnknownNameError, self._arguments

    def __str__(self) -> str:  # KeyError would print the repr
        return self.message


MEANT = {"gpu": "cuda", "nvidia": "cuda", "device": "cuda"}
"""What people call things that are spelled otherwise here."""


def nearest(name: str, names: Sequence[str]) -> list[str]:
    """Up to three of the sorted names that are most like a name: those that begin with it, then those spelled alike."""
    if (meant := MEANT.get(name.lower())) in names:
        return [str(meant)]
    place = bisect.bisect_left(names, name)
    around = names[max(place - MANY, 0) : place + MANY]  # among very many names, those that begin alike
    by_head = {other[:LONG].lower(): other for other in reversed(around)}
    head = name[:LONG].lower()
    begin = [other for short, other in by_head.items() if len(head) >= 3 and re.split(r"[/_.-]", short)[0] == head]
    alike = [by_head[short] for short in difflib.get_close_matches(head, by_head, n=3, cutoff=0.5)]
    return list(dict.fromkeys([*sorted(begin, key=len), *alike]))[:3]
