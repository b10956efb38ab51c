"""`bough info`: parts, tree, sparsity and costs of a model."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import bough
from bough.cli.bench import forward_dynamics_speeds
from bough.cli.models import add_model, chosen_model
from bough.cli.terminal import require_path, say
from bough.errors import ModelError, printable
from bough.waiting import telling

__all__ = ["register"]


def register(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "info",
        help="show a model: its tree, its sparsity, its costs",
        description="Show bodies, joints, mass and tree of a model, the sparsity of its mass matrix and of the "
        "factor, the operation counts of the algorithms, and the method of forward dynamics.",
    )
    add_model(parser)
    parser.add_argument("--png", metavar="FILE", type=Path, help="also write the sparsity pattern to this PNG file")
    parser.add_argument("--html", metavar="FILE", type=Path, help="also write a report with pictures")
    told = "for --html: measure forward dynamics, also of Pinocchio and MuJoCo if they are installed"
    parser.add_argument("--measure", action="store_true", help=told)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Print the report."""
    if options.measure and options.html is None:
        raise ModelError("--measure needs --html FILE")
    require_path(options.png, "--png", (".png",))
    require_path(options.html, "--html", (".html", ".htm"))
    model = chosen_model(options)
    with telling("counting operations"):
        report, left_out = bough.info(model), list[str]()
    if options.png is not None:
        report.pattern.draw(options.png)
    if options.html is not None:
        speeds, left_out = forward_dynamics_speeds(model, rounds=5) if options.measure else (None, [])
        options.html.write_text(bough.pictures.page(model, speeds), encoding="utf-8")
    say(report)
    for line in left_out:
        say(line)
    for file in (options.png, options.html):
        if file is not None:
            say(f"written: {printable(str(file))}")
