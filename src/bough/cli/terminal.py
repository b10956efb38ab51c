"""Terminal output: ASCII where characters are missing, and no control characters from names of files and parts."""

from __future__ import annotations

import argparse
import codecs
import io
import sys
from pathlib import Path
from typing import Any, NoReturn, TextIO

from bough.errors import ModelError, nearest, printable

__all__ = ["Parser", "prepare", "require_path", "say"]

INSTEAD = str.maketrans(
    {
        **dict.fromkeys("─═", "-"),
        **dict.fromkeys("┌┐└┘├┤┬┴┼", "+"),
        **dict.fromkeys("│", "|"),
        **{"█": "#", "▀": "'", "▄": ".", "▒": "=", "░": ":"},
        **dict(zip("₀₁₂₃ᵀ", "0123T", strict=True)),
        **{"²": "^2", "³": "^3", "×": "x", "·": ".", "µ": "u", "α": "a", "…": "..", "≤": "<", "⁻": "-"},
    }
)


class Parser(argparse.ArgumentParser):
    """An argument parser whose messages contain no control characters."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse arguments; unknown options raise an error with similar options."""
        found, rest = super().parse_known_args(args, namespace)
        if rest:
            options = sorted(name for name in self._option_string_actions if name.startswith("--"))
            near = [hint for text in rest if text.startswith("--") for hint in nearest(text.split("=")[0], options)[:1]]
            hint = f"; did you mean {' or '.join(dict.fromkeys(near))}?" if near else ""
            self.error(f"unrecognized arguments: {' '.join(rest)}{hint}")
        return found, rest

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Raise an error for a value that is not a choice, with the nearest one."""
        if action.choices is not None and value not in action.choices:
            known = sorted(map(str, action.choices))
            hint = "".join(f"; did you mean {name}?" for name in nearest(str(value), known)[:1])
            raise argparse.ArgumentError(action, f"{str(value)!r} is not one of {', '.join(known)}{hint}")

    def error(self, message: str) -> NoReturn:
        """Print what is wrong and exit."""
        super().error(printable(message))


def say(text: object = "", file: TextIO | None = None) -> None:
    """Print lines without control characters, and flush."""
    print("\n".join(map(printable, str(text).split("\n"))), file=file, flush=True)


def require_path(path: str | Path | None, option: str, suffixes: tuple[str, ...]) -> None:
    """Raise an error before anything is computed if the file of an option could not be written."""
    if path is None:
        return
    if Path(path).suffix.lower() not in suffixes:
        raise ModelError(f"{option} {path}: expected a file that ends in {' or '.join(suffixes)}")
    if not Path(path).resolve().parent.is_dir():
        raise ModelError(f"{option} {path}: there is no folder {str(Path(path).parent)!r}")


def prepare() -> None:
    """Let the streams of this process replace what their encoding lacks, sign by sign, instead of failing."""
    codecs.register_error("bough", _replaced)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="bough")


def _replaced(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    lacking = error.object[error.start : error.end].translate(INSTEAD)
    return lacking.encode("ascii", "replace").decode("ascii"), error.end
