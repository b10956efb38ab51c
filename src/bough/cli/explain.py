"""`bough explain`: which method forward dynamics uses for a model, and why."""

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
        help="show which method forward dynamics uses for a model, and why",
        description='Show which method forward_dynamics(method="auto") uses for a model, the costs of the '
        "alternatives, "
        "how derivatives are computed, and the size of the programs.",
    )
    add_model(parser)
    told = "where the arrays are: cpu or cuda; no GPU needs to be present (default: cpu)"
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help=told)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Print the explanation."""
    say(bough.explain(chosen_model(options), device=options.device))
