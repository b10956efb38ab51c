"""`bough convert`: convert a model file to another format."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import bough
from bough.cli.models import add_model, chosen_model
from bough.cli.terminal import say
from bough.errors import SaveError, printable

__all__ = ["register"]


def register(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "convert",
        help="write a model to a URDF, MJCF or JSON file",
        description="Read a model and write it to a file with the same motion, names and order of joints. If the "
        "format cannot express a part of the model, the command names the part and writes nothing.",
    )
    add_model(parser, "IN")
    parser.add_argument(
        "out", metavar="OUT", type=Path, help="the file to write: .urdf, .xml or .mjcf for MJCF, .json for bough's own"
    )
    parser.add_argument(
        "--leave-out",
        metavar="WHAT",
        action="append",
        default=[],
        help="leave out a part that the format cannot express: armature, constraints, geometries, gravity, "
        "inertias, limits, losses, order, simulation or springs (may be repeated)",
    )
    parser.add_argument("--force", action="store_true", help="replace OUT if it exists")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Read and write."""
    if options.out.exists() and not options.force:
        raise SaveError(f"{str(options.out)!r} exists, --force replaces it")
    model = chosen_model(options)
    bough.save(model, options.out, leave_out=options.leave_out)
    say(f"{model} written to {printable(str(options.out))}")
