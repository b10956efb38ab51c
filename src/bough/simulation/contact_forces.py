"""What touches in a state, as users see it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bough.kernel.arguments import FloatArray

__all__ = ["ContactForces"]


class ContactForces(NamedTuple):
    """Contacts of a state.

    `forces` (..., k, 3) in N act on the second shape of each pair, at `points` (..., k, 3) in m, both in world axes.
    Forces are zero without contact. `depths` (..., k) in m are penetrations, negative within the margin. `normals`
    (..., k, 3) point from the first shape to the second. `pairs` names the shapes of each of the k contact points.
    `acceleration` (..., nv) is the result of all forces.
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
