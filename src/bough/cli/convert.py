"""`bough convert`: convert a model file to another format."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import bough
from bough.cli.models import add_model, chosen_model
from bough.cli.terminal import say
from bough.errors import SaveError, printable

__all__ = ["register"]

MJCF = (".xml", ".mjcf")
"""Suffixes of files in which shapes that overlap at first may touch."""


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
    apart = _apart(model) if options.out.suffix.lower() in MJCF else 0
    if apart:
        say(
            f"bough: {apart} pair{'s'[: apart != 1]} of shapes overlap with all coordinates at zero, and may therefore "
            "not touch in simulations of IN; in those of OUT they may, as in MuJoCo",
            file=sys.stderr,
        )


def _apart(model: bough.Model) -> int:
    """How many pairs of shapes do not touch because they overlap at first, of which MJCF says nothing."""
    if model.simulation.reference:
        return 0
    return len(bough.Scene(model, overlapping=True).pairs) - len(bough.Scene(model).pairs)
