"""The MODEL argument: a model file, the name of a robot, or a named mechanism of the papers."""

from __future__ import annotations

import argparse
import inspect
import re
import sys
import warnings
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import bough
from bough.cli.terminal import say, with_options
from bough.errors import LoadWarning, ModelError, UnknownNameError
from bough.waiting import telling

__all__ = [
    "HELP", "add_ignore", "add_model", "chosen_model", "content_of", "file_of", "has_hulls", "mesh_folders",
    "read_model",
]  # fmt: skip

PAPERS = "tree"
"""What the names of the papers' mechanisms begin with, so that they are never those of robots."""

FOLDERS_AROUND = 5
"""How many folders around a file may be the one that holds packages."""

STANDARD_INPUT = "-"
SUFFIX = re.compile(r"\.[A-Za-z]\w{0,4}")  # of what looks like a file, which a robot is not called


def _named() -> dict[str, Callable[..., bough.Model]]:
    return {name: getattr(bough.trees.topologies, name) for name in bough.trees.topologies.__all__ if name != "on_tree"}


def _numbers(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters that can be given as numbers."""
    parameters = inspect.signature(function).parameters.values()
    return [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]


def _form(name: str, function: Callable[..., Any]) -> str:
    forms = [p.name.upper() if p.default is p.empty else f"[{p.name.upper()}]" for p in _numbers(function)]
    return ":".join([PAPERS, name, *forms])


ACCEPTED = ", ".join(_form(name, function) for name, function in _named().items())
HELP = (
    "a model file (URDF, MJCF, SDF; - for standard input), the name of a robot (`bough robots` lists them), or a "
    f"mechanism of the papers: {ACCEPTED} (for example {PAPERS}:chain:30)"
)


def add_model(parser: argparse.ArgumentParser, metavar: str = "MODEL", default: str | None = None) -> None:
    """Add the argument, with a `default` if it may be left out, and options of `bough.load` for every command."""
    if default is None:
        parser.add_argument("model", metavar=metavar, help=HELP)
    else:
        parser.add_argument("model", metavar=metavar, nargs="?", default=default, help=f"{HELP} (default: {default})")
    group = parser.add_argument_group("loading")
    group.add_argument("--floating", action="store_true", help="let the root link move freely")
    told = "use this link as the root of the tree; auto: use the floating base with the cheapest forward dynamics"
    group.add_argument("--root", metavar="LINK|auto", help=told)
    group.add_argument("--no-mimic", action="store_true", help="let mimic joints move independently")
    told = (
        "lock a joint at a configuration in rad or m (several numbers: separated by commas; default: its neutral one)"
    )
    told += " (may be repeated)"
    group.add_argument("--lock", metavar="JOINT[=VALUE]", type=_held, action="append", default=[], help=told)
    add_packages(group)
    add_ignore(group)


def _held(text: str) -> tuple[str, list[float] | None]:
    joint, sign, values = text.rpartition("=")
    if not sign:
        return text, None
    try:
        return joint, [float(value) for value in values.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}, expected a number, as in elbow=0.5") from None


def _folder(text: str) -> Path:
    path = Path(text)
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r}, expected a folder that exists")
    return path


def add_packages(parser: Any) -> None:
    """Add the option that names folders of packages."""
    told = "folder of the packages in package://NAME/… paths of meshes (may be repeated)"
    parser.add_argument("--packages", metavar="FOLDER", type=_folder, action="append", default=[], help=told)


def add_ignore(parser: Any) -> None:
    """Add the option that names what may be left out of a file."""
    told = "ignore a feature of a MJCF or SDF file that bough does not support, such as fluid (may be repeated)"
    parser.add_argument("--ignore", metavar="WHAT", action="append", default=[], help=told)


def chosen_model(options: argparse.Namespace, **further: Any) -> bough.Model:
    """The model that the arguments of `add_model` mean; `further` are options of `bough.load`, None where not given."""
    locked = [name for name, _ in options.lock]
    for name in locked:
        if locked.count(name) > 1:
            raise ModelError(f"--lock gives {name!r} more than once")
    given = {
        "floating_base": options.floating or None,
        "root": options.root,
        "mimic": False if options.no_mimic else None,
        "lock": dict(options.lock) or None,
        "ignore": options.ignore or None,
        "package_dirs": [*options.packages, *(further.pop("package_dirs", None) or ())] or None,
    }
    return read_model(options.model, **{k: x for k, x in (given | further).items() if x is not None})


def read_model(text: str, **options: Any) -> bough.Model:
    """The model that a MODEL argument means, read with options of `bough.load`; warnings go to standard error.

    Raises `ModelError`, saying what is accepted, for a name that is unknown and parameters that do not fit it, and
    `LoadError` for a file that cannot be read.
    """
    with telling(f"loading {text}"):
        return _read(text, options)


def _read(text: str, options: dict[str, Any]) -> bough.Model:
    if not _is_of_papers(text):
        return _loaded(text, options)
    if options:
        told = ", ".join(options)
        raise ModelError(f"MODEL is {text!r}, a mechanism of the papers, which does not take {told}")
    _, name, *given = text.split(":")
    if name not in _named():
        near = get_close_matches(name, _named(), n=1)
        hint = f"; did you mean {_form(near[0], _named()[near[0]])}?" if near else ""
        raise ModelError(f"MODEL is {text!r}, expected one of {ACCEPTED}{hint}")
    return _made(text, name, _named()[name], given)


def _is_of_papers(text: str) -> bool:
    return text.startswith(f"{PAPERS}:")


def content_of(text: str) -> bytes | None:
    """What standard input holds, if MODEL is "-", or another stream that the system gives a path; None for all else."""
    if text == STANDARD_INPUT:
        return sys.stdin.buffer.read()
    path = Path(text)
    return path.read_bytes() if path.exists() and not path.is_file() and not path.is_dir() else None


def file_of(text: str) -> Path:
    """The file that a path or the name of a robot means; a path that looks like a model file need not exist."""
    path = Path(text)
    if _is_of_papers(text):
        raise ModelError(f"{text!r} is a mechanism of the papers, which has no file: expected a model file or a robot")
    if path.is_file():
        return path
    try:
        return Path(bough.robots.find(text).path)
    except UnknownNameError as error:
        if text and (path.exists() or SUFFIX.fullmatch(path.suffix)):
            return path  # loading says what is wrong with it
        told, head = str(error), text.split(":")[0]
        near = get_close_matches(head, _named(), n=1)
        if near and (head in _named() or ":" in text or "did you mean" not in told):  # else a robot is meant
            told = f"did you mean {_form(near[0], _named()[near[0]])}, a mechanism of the papers?"
        raise ModelError(f"MODEL is {text!r}, expected a model file, a robot or one of {ACCEPTED}; {told}") from None


def mesh_folders(text: str) -> list[Path] | None:
    """Where ``package://`` is looked for if MODEL is a file of one's own: its folder and those around it."""
    path = Path(text)
    return list(path.resolve().parents)[:FOLDERS_AROUND] if path.is_file() and not _is_of_papers(text) else None


def has_hulls(model: bough.Model) -> bool:
    """Whether it touches with meshes: their convex hulls tell little of whether neighbours touch each other."""
    return any(g.shape == "mesh" and g.purpose == "collision" for g in model.geometries)


def _loaded(text: str, options: dict[str, Any]) -> bough.Model:
    path = Path(text)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LoadWarning)
        content = content_of(text)
        file = path if content is not None else file_of(text)
        model = (
            bough.load(path if content is None else content, **options)
            if file == path
            else bough.robots.load(text, **options)
        )
    for warning in caught:
        say(f"bough: {with_options(warning.message)}", file=sys.stderr)
    return model


def _made(text: str, name: str, function: Callable[..., bough.Model], given: list[str]) -> bough.Model:
    parameters = _numbers(function)
    least = sum(p.default is p.empty for p in parameters)
    if not least <= len(given) <= len(parameters) or not all(x.isdecimal() and x.isascii() for x in given):
        raise ModelError(f"MODEL is {text!r}, expected {_form(name, function)} with whole numbers")
    return function(*(int(x) for x in given))
