"""How the coordinates of a mechanism lead to those of the same mechanism hung from another body, and back.

Both have the same joint coordinates, in another order. But the body with the free joint is another one: r outside, b
inside. With T the matrix of v_inside = T v, forces are Tᵀ times those inside, and M = Tᵀ M_inside T. T differs from the
identity in the rows of the base and the columns of the joints between r and b alone, and is never formed: a force on r
is carried along these joints to b, and an acceleration of b back to r.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bough.model.mechanism import Mechanism
from bough.model.parts import Frame
from bough.spatial import Transform

__all__ = ["Rerooting"]


@dataclass(frozen=True, eq=False)
class Rerooting:
    """The way between a mechanism and its inner one.

    Attributes
    ----------
    inner
        The mechanism hung from b.
    between
        The bodies of `inner` from the one that b carries to r, whose joints lie between.
    floating
        Placement of what the free joint moves outside in the inner frame of r.
    q, v
        For each coordinate of `inner` its place outside. Those of the two free joints begin at the same place.
    q_start, v_start
        That place.
    """

    inner: Mechanism
    between: tuple[int, ...]
    floating: Transform
    q: NDArray[np.int64]
    v: NDArray[np.int64]
    q_start: int
    v_start: int

    @staticmethod
    def of(outer: Mechanism, inner: Mechanism) -> Rerooting:
        """The way between a mechanism and itself hung from another body."""
        model, other = outer.model, inner.model
        root = model.tree.path(model.inner_root)[0]
        numbers = {body.name: i for i, body in enumerate(other.bodies, start=1)}
        r = numbers[model.bodies[root - 1].name]
        places = {name: k for k, name in enumerate(model.joint_names)}
        order = [places[name] for name in other.joint_names]
        joints = [entry.joint for entry in model.joints]
        return Rerooting(
            inner,
            other.tree.path(r)[1:],
            inner.frame(Frame("", r, model.bodies[root - 1].frame.inverse)),
            _places([joint.nq for joint in joints], order),
            _places([joint.nv for joint in joints], order),
            _start([joint.nq for joint in joints], root),
            _start([joint.nv for joint in joints], root),
        )


def _places(sizes: Sequence[int], order: Sequence[int]) -> NDArray[np.int64]:
    """For the coordinates of joints in another order, their places in the present one."""
    starts = np.cumsum([0, *sizes])
    return np.array([starts[k] + j for k in order for j in range(sizes[k])], dtype=np.int64)


def _start(sizes: Sequence[int], body: int) -> int:
    return sum(sizes[: body - 1])
