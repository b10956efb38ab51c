"""`bough picture`: draw a model without a screen."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

import bough
from bough.cli.models import add_model, chosen_model
from bough.cli.simulate import SET, chosen_pose
from bough.cli.terminal import say
from bough.errors import ModelError

__all__ = ["register"]


def register(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "picture",
        help="draw a model to a PNG file",
        description="Draw a model to a PNG file, without a screen: the visual shapes of each body, "
        "or else its collision shapes, or else its inertia ellipsoid.",
    )
    add_model(parser)
    parser.add_argument("file", metavar="FILE.png", type=Path, help="file to write")
    parser.add_argument(
        "--size", metavar="WxH", default="960x720", help="width and height in pixels (default: 960x720)"
    )
    parser.add_argument(
        "--azimuth", metavar="RAD", type=float, default=0.7, help="angle of the camera about z (default: 0.7 rad)"
    )
    parser.add_argument(
        "--elevation", metavar="RAD", type=float, default=0.25, help="height angle of the camera (default: 0.25 rad)"
    )
    parser.add_argument("--set", **SET)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Draw it."""
    size = re.fullmatch(r"(\d{1,5})x(\d{1,5})", options.size, re.ASCII)
    if size is None:
        raise ModelError(f"--size {options.size}: expected width and height in pixels, as in 960x720")
    if options.file.suffix.lower() != ".png":
        raise ModelError(f"{options.file}: expected a file that ends in .png")
    model = chosen_model(options)
    q = chosen_pose(model, options)
    if model.joints and isinstance(model.joints[0].joint, bough.joints.Free):
        q = bough.simulation.on_the_floor(model, q)
    view = {"azimuth": options.azimuth, "elevation": options.elevation}
    bough.pictures.save(model, options.file, q, size=(int(size[1]), int(size[2])), **view)
    say(f"written: {options.file}")
