"""Every exception bough raises on purpose.

Each message says what is wrong, where, what was got and what was expected; errors about names list the nearest
valid ones. All derive from `BoughError` and from the built-in a caller would expect (`ValueError`, `KeyError`).
"""

from __future__ import annotations

import bisect
import difflib
from collections.abc import Iterable

__all__ = [
    "AssemblyError",
    "BoughError",
    "FiniteError",
    "LoadError",
    "LoadWarning",
    "ModelError",
    "PatternError",
    "ProgramError",
    "SaveError",
    "ShapeError",
    "SingularError",
    "TreeError",
    "UnknownNameError",
]

MANY = 1000


class BoughError(Exception):
    """Root of all errors raised by bough."""


class TreeError(BoughError, ValueError):
    """A parent array, node number or topology parameter is not valid."""


class ModelError(BoughError, ValueError):
    """A body, joint, frame or inertia of a model is not valid; the message names it."""


class LoadError(BoughError, ValueError):
    """A file cannot be read, or says something that cannot be; the message names the file and the line.

    Parameters
    ----------
    message
        What is wrong.
    file, line
        Where: name of the file and number of the line, counted from 1; None where there is none.
    """

    def __init__(self, message: str, file: str | None = None, line: int | None = None) -> None:
        where = ", ".join(part for part in (file, f"line {line}" if line else None) if part)
        super().__init__(f"{where}: {message}" if where else message)
        self.message = message
        self.file = file
        self.line = line

    def __reduce__(self) -> tuple[type[LoadError], tuple[str, str | None, int | None]]:
        return LoadError, (self.message, self.file, self.line)


class LoadWarning(UserWarning):
    """A file says something that no real mechanism has, but that can be computed with; the message names the line."""


class SaveError(BoughError, ValueError):
    """A model cannot be written: the format has no words for part of it, or the file cannot be made."""


class ShapeError(BoughError, ValueError):
    """An array has the wrong shape or data type; the message names the argument."""


class FiniteError(BoughError, ValueError):
    """An array holds NaN or infinity, or a quaternion that is not of unit length; the message says where."""


class PatternError(BoughError, ValueError):
    """A matrix has a non-zero entry, or an asymmetry, where its tree allows none."""


class SingularError(BoughError, ValueError):
    """A matrix is not positive definite, or a joint moves nothing that has inertia; the message names row or joint."""


class AssemblyError(BoughError, ValueError):
    """No configuration was found that meets the constraints of a model; the message names the worst one."""


class ProgramError(BoughError, RuntimeError):
    """A traced program is malformed, or an algorithm did something that cannot be traced."""


class UnknownNameError(BoughError, KeyError):
    """A name was looked up that does not exist.

    Parameters
    ----------
    kind
        What the name was supposed to name ("joint", "frame", "algorithm", …).
    name
        The name that was looked up.
    valid
        The names that do exist.
    """

    def __init__(self, kind: str, name: object, valid: Iterable[str]) -> None:
        names = sorted(valid)
        place = bisect.bisect(names, str(name))  # among very many names, those that begin alike
        near = difflib.get_close_matches(str(name), names[max(place - MANY, 0) : place + MANY], n=3, cutoff=0.5)
        message = f"no {kind} is called {name!r}"
        if near:
            message += "; did you mean " + " or ".join(repr(n) for n in near) + "?"
        elif names:
            shown = ", ".join(repr(n) for n in names[:12])
            message += f"; valid names: {shown}" + (f", … ({len(names)} in all)" if len(names) > 12 else "")
        else:
            message += "; there are none"
        super().__init__(message)
        self.message = message
        self._arguments = (kind, name, tuple(names))

    def __reduce__(self) -> tuple[type[UnknownNameError], tuple[str, object, tuple[str, ...]]]:
        return UnknownNameError, self._arguments

    def __str__(self) -> str:  # KeyError would print the repr
        return self.message
