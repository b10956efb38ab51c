"""`bough robots`: list the available robots."""

from __future__ import annotations

import argparse
from typing import Any

import bough
from bough.cli.terminal import say
from bough.errors import UnknownNameError, printable

__all__ = ["register"]


def register(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "robots",
        help="list the available robots",
        description="List the robots that commands accept by name: bough's own, those of the installed packages "
        "example-robot-data and gymnasium, and those in the folders of BOUGH_ROBOT_PATH.",
    )
    parser.add_argument("text", metavar="TEXT", nargs="?", default="", help="list only names that contain this text")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Print names and files."""
    robots = bough.robots.available()
    shown = {name: robot for name, robot in robots.items() if options.text.lower() in name.lower()}
    if not shown:
        raise UnknownNameError("robot", options.text, robots)
    width = max(len(printable(name)) for name in shown)
    for name, robot in shown.items():
        say(f"{printable(name):{width}}  {printable(str(robot.path))}")
