"""Where the mass matrix and its factor are not zero, as a picture: for any size, without making a matrix."""

from __future__ import annotations

import math
from dataclasses import dataclass
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from bough.tree import Tree

__all__ = ["Pattern", "coarse_pattern", "segments"]

COLUMNS = 44
"""Marks in a row of a picture in a terminal."""

HALVES = np.array([" ", "▄", "▀", "█"])  # two entries above each other in one character: empty, lower, upper, both


@dataclass(frozen=True)
class Pattern:
    """The sparsity of the mass matrix H on a tree, and of its factor L; `names` are those of its rows."""

    title: str
    tree: Tree
    names: tuple[str, ...]

    def lines(self) -> list[str]:
        """The picture in characters: H, and next to it L."""
        if self.tree.n == 0:
            return [self.title, "  there are no degrees of freedom"]
        H, step = coarse_pattern(self.tree, COLUMNS)
        pictures = [_framed("H", H), _framed("L", np.tril(H))]
        one = "one entry" if step == 1 else f"{step} × {step} entries, set where any of them may be not zero"
        return [
            self.title,
            *(f"  {left}   {right}" for left, right in zip(*pictures, strict=True)),
            f"  A mark is {one}.",
        ]

    def draw(self, file: str | PathLike[str]) -> None:
        """Write the picture as a PNG file (needs Matplotlib)."""
        from bough.cost.draw import draw_pattern

        draw_pattern(self, file)


def coarse_pattern(tree: Tree, most: int) -> tuple[NDArray[np.bool_], int]:
    """The pattern of H in at most `most` rows and columns of marks, and how many entries a mark is wide and high.

    A mark is set if any of its entries may be other than zero. Takes time in proportion to n × `most`, and no memory
    for a matrix.
    """
    step = max(1, math.ceil(tree.n / most))
    size = math.ceil(tree.n / step)
    on_path, marks = [0] * (tree.n + 1), [0] * size  # sets of columns, as bits
    for body, parent in enumerate(tree.parents, 1):
        row = (body - 1) // step
        on_path[body] = on_path[parent] | 1 << row
        marks[row] |= on_path[body]
    lower = np.array([[marks[row] >> column & 1 for column in range(size)] for row in range(size)], dtype=np.bool_)
    lower = lower.reshape(size, size)
    return lower | lower.T, step


def segments(tree: Tree) -> NDArray[np.int64]:
    """For each body the number of the unbranched stretch it is on, counted from 0 in order of their first bodies."""
    number, stretches = [-1] * (tree.n + 1), 0
    children = np.bincount(tree.parents, minlength=tree.n + 1).tolist() if tree.n else [0]
    for body, parent in enumerate(tree.parents, 1):
        if parent and children[parent] == 1:
            number[body] = number[parent]
        else:
            number[body], stretches = stretches, stretches + 1
    return np.array(number[1:], dtype=np.int64)


def _framed(name: str, marks: NDArray[np.bool_]) -> list[str]:
    """Two rows of marks in each line, in a frame."""
    size = len(marks)
    even = np.vstack([marks, np.zeros((size % 2, size), dtype=np.bool_)])
    rows = HALVES[2 * even[0::2] + even[1::2]]
    edge = "─" * max(size - len(name) - 1, 0)
    width = max(size, len(name) + 1)
    return [f"┌─{name}{edge}┐", *(f"│{''.join(row).ljust(width)}│" for row in rows), f"└{'─' * width}┘"]
