"""Draws docs/fall.gif: the papers' humanoid falls, and beside it its mass matrix changes, in the same colours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

import bough
from bough.cli.demo import fall
from bough.cost.pattern import segments
from bough.pictures.files import write_images
from bough.pictures.pictures import images, read_view
from bough.viewer.drawables import LIMBS

RATE, SHOWN = 20, 2.2  # pictures in a second, and seconds of the fall
SIZE = (400, 360)
ENTRY, EDGE = 11, 14  # pixels of an entry of the matrix, and around it
HELD = 12  # pictures for which the end is shown
PAPER, INK = (250, 251, 253), (72, 84, 102)


def main() -> None:
    """Write the film beside this file."""
    model = bough.robots.load("humanoid")
    trajectory, scene, _ = fall(model)
    q = trajectory.at(np.arange(0.0, SHOWN, 1.0 / RATE)).q
    q = np.concatenate([q, np.tile(q[-1], (HELD, 1))])
    robot = images(model, q[:, np.newaxis], read_view(SIZE, 0.7, 0.22, "auto", 3), scene.shapes)
    film = [np.hstack([picture, panel(model, pose)]) for picture, pose in zip(robot, q, strict=True)]
    write_images(Path(__file__).with_name("fall.gif"), film, RATE)


def panel(model: bough.Model, q: NDArray[Any]) -> NDArray[np.uint8]:
    """The mass matrix: an entry is as strong as its logarithm, and has the colour of the limb it belongs to."""
    H = np.abs(bough.crba(model, q))
    limb = np.repeat(segments(model.tree), [entry.joint.nv for entry in model.joints])
    palette = np.array([[int(code[k : k + 2], 16) for k in (1, 3, 5)] for code in LIMBS])
    colours = palette[limb[np.maximum(*np.ogrid[: model.nv, : model.nv])]]
    strength = np.clip((np.log10(H + 1e-12) + 3.5) / 5.0, 0.0, 1.0)[..., np.newaxis]
    strength = np.where(model.dof_tree.pattern()[..., np.newaxis], 0.18 + 0.82 * strength, 0.0)
    entries = np.array(PAPER) + strength * (colours - np.array(PAPER))
    grid = np.kron(entries, np.ones((ENTRY, ENTRY, 1)))
    grid[ENTRY - 1 :: ENTRY] = grid[:, ENTRY - 1 :: ENTRY] = PAPER
    side = len(grid)
    made = Image.new("RGB", (side + 2 * EDGE, SIZE[1]), PAPER)
    made.paste(Image.fromarray(grid.astype(np.uint8)), (EDGE, SIZE[1] - side - EDGE // 2 + 1))
    text = f"inertia matrix: {1 - model.dof_tree.density:.0%} zeros, never touched"
    ImageDraw.Draw(made).text((EDGE, 3), text, INK, font=ImageFont.load_default(14))
    return np.asarray(made)


if __name__ == "__main__":
    main()
