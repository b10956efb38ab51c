"""What one degree of freedom of a joint does to the motion of all bodies that the joint carries.

A change of its position or velocity changes their velocities by one spatial motion u, as seen from them, and their
accelerations by w + u × v, where v is the velocity of each, and w is the same for all (Singh, Russell & Wensing 2022;
there u and w of a joint with a constant subspace are Ψ̇ and Ψ̈, and for velocities S and Ψ̇ + Ṡ).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bough.model import BodyRecord, combine
from bough.scalar import Array, Scalar, derivative
from bough.spatial import Motion

__all__ = ["Direction", "JointMotion"]


@dataclass(frozen=True, slots=True)
class Direction:
    """One degree of freedom: the column of S, u and w of its position, and w of its velocity, whose u is S."""

    S: Motion
    u: Motion
    w: Motion
    w_v: Motion
    S_q: tuple[Motion, ...]  # how all columns of S change with its position, as seen from the body; () for not at all


class JointMotion:
    """A joint, its velocity v_J = S q̇, and a_J = Ṡ q̇ + S q̈ as seen from its body.

    `x` takes the place of the body's part of q.
    """

    def __init__(self, body: BodyRecord, q: Array, v: Array, a: Array, x: tuple[Scalar, ...] | None = None) -> None:
        self._joint, self._parameters = body.joint, body.parameters
        self._x = tuple(body.of_q(q)) if x is None else x
        self._qd, self._qdd = body.of_v(v), body.of_v(a)
        self.X = body.transform(q)
        self.S, self.rates = self._subspace(self._x)
        self.v_J = combine(self.S, self._qd)
        self.a_J = combine(self.rates, self._qd) + combine(self.S, self._qdd)

    def directions(self, v_up: Motion, both: Motion, turned: Callable[[Motion], Motion]) -> tuple[Direction, ...]:
        """The degrees of freedom of the joint.

        Parameters
        ----------
        v_up
            Velocity of the parent, in the frame of the body.
        both
            The sum of the velocities of parent and body.
        turned
            Takes s to a_up × s + v_up × (v_up × s), with the acceleration of the parent.
        """
        found = []
        for k, (s, rate) in enumerate(zip(self.S, self.rates, strict=True)):
            # the body sees its parent turned back
            u, w, w_v = v_up.cross(s), turned(s), both.cross(s) + rate
            S_q: tuple[Motion, ...] = ()
            if not self._joint.is_constant:
                # and is moved otherwise, where the subspace changes
                S_q, rates_q = self._changes(k)
                bent = combine(S_q, self._qd)
                u, w_v = u + bent, w_v + bent
                w = w + both.cross(bent) + combine(rates_q, self._qd) + combine(S_q, self._qdd)
            found.append(Direction(s, u, w, w_v, S_q))
        return tuple(found)

    def along(self, k: int) -> tuple[Scalar, ...]:
        """How fast the configuration of the joint changes along its k-th degree of freedom."""
        unit = [float(j == k) for j in range(self._joint.nv)]
        return tuple(self._joint.rate(self._parameters, self._x, unit))

    def _changes(self, k: int) -> tuple[tuple[Motion, ...], tuple[Motion, ...]]:
        """How the columns of S and their rates change with the position of the k-th degree of freedom."""
        return derivative(self._subspace, self._x, self.along(k))[1]

    def _subspace(self, x: tuple[Scalar, ...]) -> tuple[tuple[Motion, ...], tuple[Motion, ...]]:
        """The columns of S in some configuration, and their rates as seen from the body."""
        joint, p = self._joint, self._parameters
        return joint.subspace(p, x), joint.subspace_rate(p, x, self._qd)
