"""`bough check`: all that is wrong with model files."""

from __future__ import annotations

import argparse
from typing import Any

import bough
from bough.cli.models import add_ignore, file_of
from bough.cli.terminal import say
from bough.errors import printable

__all__ = ["register"]


def register(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "check",
        help="list all that is wrong with a model file",
        description="List all that is wrong with model files, structure and physics, by line: names that are missing "
        "or there twice, links that hang on nothing or in a circle, negative masses, inertias that no body has, joints "
        "that move no mass, so that forward dynamics refuses the model, axes not of unit length, and so on.",
        epilog="Exit code: 0 if nothing is wrong, 1 if something is, 2 if a file cannot be read.",
    )
    parser.add_argument("file", metavar="FILE", nargs="+", help="URDF, MJCF or SDF files, or names of robots")
    add_ignore(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the problems, and return the exit code."""
    code = 0
    for text in options.file:
        file = file_of(text)
        problems = bough.problems(file, ignore=options.ignore)
        for problem in problems:
            where = printable(str(problem.file or file))
            say(":".join(str(part) for part in (where, problem.line, f" {printable(problem.message)}") if part))
        say(f"{printable(str(file))}: {len(problems) or 'no'} problem{'' if len(problems) == 1 else 's'}")
        code = max(code, 1 if problems else 0)
    return code
