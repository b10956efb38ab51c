"""`bough paper`: tables and figures of the papers, with formulas and counts."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import bough
from bough.cli.terminal import say
from bough.errors import UnknownNameError, printable

__all__ = ["register"]


def register(commands: Any) -> None:
    """Add the subcommand."""
    names, measured = ", ".join(bough.papers.names()), ", ".join(bough.papers.measured())
    parser = commands.add_parser(
        "paper",
        help="print and draw the papers' tables and figures, and compare them with operation counts",
        description="Print and draw the tables and figures of the papers, next to the operation counts (or, where "
        "stated, the measured times) of the running code.",
    )
    parser.add_argument(
        "name",
        nargs="*",
        metavar="NAME",
        help=f"{names} (default: all of these); measured: {measured}; all: a page for each paper",
    )
    parser.add_argument("--png", metavar="FOLDER", type=Path, help="also write the figures as PNG files to this folder")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Print the reports asked for."""
    asked = [name for name in options.name if name != "all"]
    everything = asked != options.name
    known = (*bough.papers.names(), *bough.papers.measured())
    for name in asked:  # before anything is measured
        if name not in known:
            raise UnknownNameError("table or figure", name, known, "all: a page for each paper")
    if everything or set(asked) & set(bough.papers.measured()):
        say("measuring: this takes a minute or two", file=sys.stderr)
    reports = [bough.papers.report(name) for name in asked]
    if everything:
        for paper, names in bough.papers.pages().items():
            say(f"{paper}\n{'#' * len(paper)}\n")
            for name in names:
                _show(bough.papers.report(name), options.png)
    else:
        for report in reports or map(bough.papers.report, bough.papers.names()):
            _show(report, options.png)


def _show(report: Any, folder: Path | None) -> None:
    """Print a report, and draw its figures."""
    say(report)
    for file in report.draw(folder) if folder is not None else []:
        say(f"written: {printable(str(file))}\n")
