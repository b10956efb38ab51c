"""`bough paper`: the tables and figures of the papers, formula beside count."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import bough
from bough.cli.terminal import say
from bough.errors import printable

__all__ = ["register"]


def register(commands: Any) -> None:
    """Add the subcommand."""
    names, measured = ", ".join(bough.papers.names()), ", ".join(bough.papers.measured())
    parser = commands.add_parser(
        "paper",
        help="print and draw the papers' tables and figures, each number beside what the running code performs",
        description="Print and draw the tables and figures of the papers, each number beside what the running code "
        "performs, counted, or measured where it says so.",
    )
    parser.add_argument(
        "name", nargs="*", metavar="NAME", help=f"which: {names}, or all of these (the default); measured: {measured}"
    )
    parser.add_argument("--png", metavar="FOLDER", type=Path, help="also write the figures as PNG files to this folder")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Print the reports asked for."""
    if set(options.name) & set(bough.papers.measured()):
        say("measuring: this takes a minute or two", file=sys.stderr)
    reports = [bough.papers.report(name) for name in options.name if name != "all"]
    if not options.name or "all" in options.name:
        reports = [bough.papers.report(name) for name in bough.papers.names()]
    for report in reports:
        say(report)
        if options.png is not None:
            for file in report.draw(options.png):
                say(f"written: {printable(str(file))}\n")
