"""`bough view`: look at a model, or at a motion of it, in the browser."""

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
        help="look at a model in the browser",
        description="Show a model in the browser, with sliders for its joints, overlays, its tree, the sparsity of its "
        "matrices and the costs of its dynamics. Ctrl-C ends it.",
    )
    add_model(parser)
    parser.add_argument("--floor", action="store_true", help="with a floor at z = 0")
    parser.add_argument("--motion", metavar="FILE.npz", help="play a trajectory that `bough simulate --record` wrote")
    add_page(parser)
    parser.set_defaults(run=run)


def add_page(parser: Any) -> None:
    """Add the options of a page."""
    group = parser.add_argument_group("the page")
    group.add_argument("--host", default="localhost", help="address to serve on; 0.0.0.0 is for the whole network")
    group.add_argument("--port", type=int, help="port to serve on; the first free one from 8080 on unless given")
    group.add_argument("--no-browser", action="store_true", help="do not open the browser, only tell the address")


def require_port(options: argparse.Namespace) -> None:
    """Raise before anything is read if the port is none."""
    if options.port is not None and not 0 <= options.port <= LAST_PORT:
        raise ModelError(f"--port is {options.port}, expected a number from 0 to {LAST_PORT}; 0 is any free one")


def page_options(options: argparse.Namespace) -> dict[str, Any]:
    """What the arguments of `add_page` mean to `bough.view`."""
    return {"host": options.host, "port": options.port, "browser": not options.no_browser}


def serve(viewer: Any) -> None:
    """Tell where a page is, and what is missing on it; serve it until somebody ends it."""
    more = len(viewer.missing) - SHOWN_MISSING
    try:
        for line in (*viewer.missing[:SHOWN_MISSING], *([f"… and {more} more like it"] if more > 0 else [])):
            say(f"bough: {line}", file=sys.stderr)
        say(f"{viewer.url}   (Ctrl-C ends)")
        viewer.wait()
    except KeyboardInterrupt:  # before it waits
        viewer.close()


def run(options: argparse.Namespace) -> None:
    """Show the model until somebody ends it."""
    require_port(options)
    model = chosen_model(options, package_dirs=mesh_folders(options.model))
    scene = bough.Scene(model).floor() if options.floor else None
    if options.motion is None:
        viewer = bough.view(model, scene=scene, **page_options(options))
    else:
        viewer = bough.Trajectory.load(options.motion, model, strict=False).show(scene, **page_options(options))
    serve(viewer)
