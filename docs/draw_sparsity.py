"""Draws docs/sparsity.png: the mass matrix of the papers' humanoid and its factor, zeros left blank."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import bough


def main() -> None:
    """Write the picture beside this file."""
    model = bough.trees.topologies.humanoid()
    q = bough.random(model, 0)  # general: beside the branches, only the torso's own inertia has zeros
    factor = bough.factorize(model, q)
    figure = Figure(figsize=(9, 4.6), layout="constrained")
    for axes, matrix, title in zip(
        figure.subplots(1, 2),
        (bough.crba(model, q), factor.L),
        (f"mass matrix H: {int((~model.dof_tree.pattern()).sum())} zeros from branches", "L of H = LᵀDL: no fill-in"),
        strict=True,
    ):
        draw(axes, matrix, title)
    figure.savefig(Path(__file__).with_name("sparsity.png"), dpi=110)


def draw(axes: Any, matrix: Any, title: str) -> None:
    """One matrix, its entries shaded by size, with lines around torso and limbs."""
    shade = np.where(matrix != 0, np.log10(np.abs(matrix) + 1e-12), np.nan)
    axes.imshow(shade, cmap="Blues", vmin=-4.5, vmax=2)
    for k in range(0, 31, 6):
        axes.axhline(k - 0.5, color="0.75", lw=0.6)
        axes.axvline(k - 0.5, color="0.75", lw=0.6)
    axes.set_title(title, fontsize=10)
    names = ("torso", "limb 1", "limb 2", "limb 3", "limb 4")
    axes.set_xticks(np.arange(2.5, 30, 6), names, fontsize=8)
    axes.set_yticks(np.arange(2.5, 30, 6), names, fontsize=8, rotation=90, va="center")
    axes.tick_params(length=0)


if __name__ == "__main__":
    main()
