"""The command line: one file per subcommand, over the public names only."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence

import bough
from bough.cli import (
    bench,
    cache,
    check,
    convert,
    demo,
    explain,
    export,
    info,
    paper,
    picture,
    robots,
    simulate,
    terminal,
    view,
)
from bough.errors import BoughError, printable

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = terminal.Parser(prog="bough", description="Dynamics of mechanisms: trees of rigid bodies with joints.")
    parser.add_argument("--version", action="version", version=f"bough {bough.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in (demo, info, check, convert, export, robots, view, picture, simulate, explain, bench, paper, cache):
        command.register(commands)
    options = parser.parse_args(arguments)
    terminal.prepare()
    code = 0
    try:
        code = options.run(options) or 0
        if sys.stdout is not None:  # there is none if it was closed before
            sys.stdout.flush()
    except BoughError as error:
        file = printable(getattr(error, "file", None) or "") if getattr(error, "line", None) else ""
        told = f" (bough check {file} lists all problems)" if file else ""
        terminal.say(f"bough: {terminal.with_options(error)}{told}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 128 + signal.SIGINT  # as shells report it
    except BrokenPipeError:  # the reader went away, as in `bough paper | head`
        terminal.forget_reader()
    except OSError as error:
        terminal.say(f"bough: {error}", file=sys.stderr)
        return 2
    return code
