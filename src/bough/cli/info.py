"""`bough info`: what a model is made of, how it branches and what it costs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import bough
from bough.cli.models import add_model, chosen_model
from bough.cli.terminal import say
from bough.errors import printable

__all__ = ["register"]


def register(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "info",
        help="show a model: its tree, its sparsity, its costs",
        description="Show what a model is made of: bodies, joints, mass, the tree, where its mass matrix and its "
        "factor are not zero, how many operations the algorithms take and which method forward dynamics takes.",
    )
    add_model(parser)
    parser.add_argument("--png", metavar="FILE", type=Path, help="also write the sparsity pattern to this PNG file")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Print the report."""
    report = bough.info(chosen_model(options))
    if options.png is not None:
        report.pattern.draw(options.png)
    say(report)
    if options.png is not None:
        say(f"written: {printable(str(options.png))}")
