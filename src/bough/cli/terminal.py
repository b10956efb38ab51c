"""Terminal output: ASCII where characters are missing, and no control characters from names of files and parts."""

from __future__ import annotations

import argparse
import codecs
import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn, TextIO

from bough.errors import ModelError, nearest, printable

__all__ = [
    "Parser",
    "forget_reader",
    "going_on_unheard",
    "prepare",
    "require_package",
    "require_path",
    "say",
    "with_options",
]

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


AS_OPTIONS: tuple[tuple[str, str], ...] = (
    (r"ignore='(\w+)'", r"--ignore \1"),
    (r"leave_out='(\w+)'", r"--leave-out \1"),
    (r",? or format=…", ""),
    (r",? or floating_base=False[^;.]*", ""),
    (r"`?floating_base=True`?", "--floating"),
    (r"bough\.load\(…, lock=\[[^\]]*\]\) or (?=--lock)", ""),
    (r"; Scene\(…, overlapping=True\) keeps them", ""),
    (r"; disable them with model\.with_simulation\(.*\)", ""),
    (r"\bgive mimic=False", "give --no-mimic"),
    (r"\broot='([^']*)'", r"--root \1"),
    (r"(?<![\w-])floating_base:", "--floating:"),
    (r"\bwithout floating_base\b", "without --floating"),
    (r"(?<![\w-])lock: ", "--lock: "),
    (r"floating_base, root, lock, mimic, merge_fixed and order are", "--floating, --root, --lock and --no-mimic are"),
    (r"expected the name of a frame( or body| or several)", "expected --frame NAME"),
)
"""What messages for users of Python say of arguments, and what users of commands type for it."""

LEFT_OUT = re.compile(r"leave_out=\(([^)]*)\)")


def with_options(message: object) -> str:
    """A message with the options of commands where it names arguments of functions."""

    def left_out(found: re.Match[str]) -> str:
        return " ".join(f"--leave-out {kind}" for kind in re.findall(r"\w+", found[1]))

    text = LEFT_OUT.sub(left_out, str(message))
    for pattern, option in AS_OPTIONS:
        text = re.sub(pattern, option, text)
    return text


def say(text: object = "", file: TextIO | None = None) -> None:
    """Print lines without control characters, and flush."""
    print("\n".join(map(printable, str(text).split("\n"))), file=file, flush=True)


def forget_reader() -> None:
    """Let what is written to standard output from now on go nowhere: its reader went away."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno() if sys.__stdout__ else 1)


class _Unheard:
    """A stream that goes on, silently, where its reader goes away."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text, if somebody is there."""
        with self._going_on():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Hand on what is written, if somebody is there."""
        with self._going_on():
            self._stream.flush()

    @contextmanager
    def _going_on(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            forget_reader()


def going_on_unheard() -> AbstractContextManager[Any]:
    """A context in which a reader of standard output that goes away, as `head` does, ends nothing."""
    return nullcontext() if sys.stdout is None else redirect_stdout(_Unheard(sys.stdout))


def require_path(path: str | Path | None, option: str, suffixes: tuple[str, ...]) -> None:
    """Raise an error before anything is computed if the file of an option could not be written."""
    if path is None:
        return
    if Path(path).suffix.lower() not in suffixes:
        raise ModelError(f"{option} {path}: expected a file that ends in {' or '.join(suffixes)}")
    if not Path(path).resolve().parent.is_dir():
        raise ModelError(f"{option} {path}: there is no folder {str(Path(path).parent)!r}")


def require_package(package: str, option: str, extra: str) -> None:
    """Raise an error before anything is computed if the package that an option needs is not installed."""
    if find_spec(package) is None:
        raise ModelError(f"{option} needs the package {package}: pip install 'bough[{extra}]'")


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
