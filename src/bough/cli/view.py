"""`bough view`: show a model, or a motion, in the browser."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import bough
from bough.cli.models import add_model, chosen_model, mesh_folders
from bough.cli.terminal import say
from bough.errors import ModelError

__all__ = ["add_page", "page_options", "register", "require_port", "serve"]

LAST_PORT = 65535

SHOWN_MISSING = 2
"""Lines that are told of what is missing; the others are counted."""


def register(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "view",
        help="show a model in the browser",
        description="Show a model in the browser, with sliders for its joints, overlays, its tree, the sparsity of its "
        "matrices and the costs of its dynamics. Press Ctrl-C to stop.",
    )
    add_model(parser)
    parser.add_argument("--floor", action="store_true", help="add a floor at z = 0")
    parser.add_argument("--motion", metavar="FILE.npz", help="play a trajectory that `bough simulate --record` wrote")
    add_page(parser)
    parser.set_defaults(run=run)


def add_page(parser: Any) -> None:
    """Add the options of a page."""
    group = parser.add_argument_group("web page")
    group.add_argument("--host", help="address of the server; 0.0.0.0: the whole network (default: localhost)")
    group.add_argument("--port", type=int, help="port of the server (default: the first free port from 8080 on)")
    group.add_argument("--no-browser", action="store_true", help="print the address and do not open the browser")


def require_port(options: argparse.Namespace) -> None:
    """Raise an error for an impossible port, before anything is read."""
    if options.port is not None and not 0 <= options.port <= LAST_PORT:
        raise ModelError(f"--port is {options.port}, expected a number from 0 to {LAST_PORT} (0: any free port)")


def page_options(options: argparse.Namespace) -> dict[str, Any]:
    """Arguments of `bough.view` from the options of `add_page`."""
    return {"host": options.host or "localhost", "port": options.port, "browser": not options.no_browser}


def serve(viewer: Any) -> None:
    """Print the address of a page and what is missing on it; serve it until the user stops it."""
    more = len(viewer.missing) - SHOWN_MISSING
    try:
        for line in (*viewer.missing[:SHOWN_MISSING], *([f"… and {more} more"] if more > 0 else [])):
            say(f"bough: {line}", file=sys.stderr)
        say(f"{viewer.url}   (press Ctrl-C to stop)")
        viewer.wait()
    except KeyboardInterrupt:  # before it waits
        viewer.close()


def run(options: argparse.Namespace) -> None:
    """Show the model until the user stops it."""
    require_port(options)
    model = chosen_model(options, package_dirs=mesh_folders(options.model))
    scene = bough.Scene(model).floor() if options.floor else None
    if options.motion is None:
        viewer = bough.view(model, scene=scene, **page_options(options))
    else:
        viewer = bough.Trajectory.load(options.motion, model, strict=False).show(scene, **page_options(options))
    serve(viewer)
