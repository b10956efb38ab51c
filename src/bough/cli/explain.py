"""`bough explain`: the method forward dynamics takes on a model, and why."""

from __future__ import annotations

import argparse
from typing import Any

import bough
from bough.cli.models import add_model, chosen_model
from bough.cli.terminal import say

__all__ = ["register"]


def register(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "explain",
        help="say which method forward dynamics takes on a model, and why",
        description='Say which method forward_dynamics(method="auto") takes on a model, with what the alternatives '
        "would cost, how derivatives are made, and how the programs look.",
    )
    add_model(parser)
    told = "where the arrays are: cpu, or cuda for a GPU, which need not be there (cpu by default)"
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help=told)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Print the explanation."""
    say(bough.explain(chosen_model(options), device=options.device))
