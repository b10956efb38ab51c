"""What touches in a state, as users see it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bough.kernel.arguments import FloatArray

__all__ = ["ContactForces"]


class ContactForces(NamedTuple):
    """What touches in some state.

    `forces` (..., k, 3) in N act on the second shape of each pair, at `points` (..., k, 3) in m, both along the axes of
    the world; zero where nothing touches. `depths` (..., k) in m tell how far shapes have sunk into each other, less
    than zero within the margin; `normals` (..., k, 3) lead from the first to the second. `pairs` names the shapes of
    each of the k contact points, `acceleration` (..., nv) is what all forces together do.
    """

    acceleration: FloatArray
    forces: FloatArray
    points: FloatArray
    depths: FloatArray
    normals: FloatArray
    pairs: tuple[tuple[str, str], ...]

    def __repr__(self) -> str:
        batch, pushed = self.depths.shape[:-1], int(np.count_nonzero(self.forces.any(axis=-1)))
        told = f"{pushed} of {self.depths.size} contact points push"
        if pushed:
            *_, k = np.unravel_index(np.argmax(self.depths), self.depths.shape)
            told += f", the deepest {self.depths.max():.3g} m, {self.pairs[k][0]!r} and {self.pairs[k][1]!r}"
        return f"<ContactForces: {told}{f', batch {batch}' if batch else ''}>"
