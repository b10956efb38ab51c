"""`bough cache`: the compiled programs kept on disk."""

from __future__ import annotations

import argparse
from typing import Any

import bough
from bough.cli.terminal import say

__all__ = ["register"]


def register(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "cache",
        help="show or clear the compiled programs kept on disk",
        description="Compiled programs are kept on disk, so that later processes need not compile them again.",
    )
    parser.add_argument("action", choices=("info", "clear"), help="show what is there, or remove it")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Show or clear the cache."""
    if options.action == "clear":
        say(f"removed {bough.cache.clear()} programs from {bough.cache.directory()}")
        return
    info = bough.cache.info()
    state = (
        ""
        if info.usable or not info.directory.exists()
        else " (not used: it is not a folder that only you can write to)"
    )
    say(f"{info.files} programs, {info.size / 1e6:.1f} MB, in {info.directory}{state}")
