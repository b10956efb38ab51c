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
        description="bough keeps compiled programs on disk, so that later processes need not compile them again.",
    )
    parser.add_argument("action", choices=("info", "clear"), help="show what is stored, or remove it")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Show or clear the cache."""
    removed = bough.cache.clear() if options.action == "clear" else None
    info = bough.cache.info()
    where = "" if info.directory is None else f" in {info.directory}"
    unused = f" (nothing is stored: {info.reason})" if info.reason else ""
    if removed is not None:
        say(f"removed {removed} programs{where}{unused}")
    elif info.directory is None:
        say(f"no programs are kept on disk{unused}")
    else:
        say(f"{info.files} programs, {info.size / 1e6:.1f} MB,{where}{unused}")
