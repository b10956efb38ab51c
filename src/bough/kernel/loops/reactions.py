"""Forces through the joints of mechanisms with loops, on arrays."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from bough.kernel.arguments import FloatArray
from bough.kernel.functions import require_model, run
from bough.model import Model

__all__ = ["ConstrainedReactions", "reactions"]


@dataclass(frozen=True, eq=False)
class ConstrainedReactions:
    """The whole forces through the joints of a mechanism with loops: N and N m, linear part first.

    Attributes
    ----------
    joints
        The force on each body from its parent, in the frame of the body (..., N, 6).
    loops
        The force on the successor of each loop from its predecessor, in the frame of the successor's body, in the order
        of ``model.loops`` (..., loops, 6). The predecessor gets the opposite force, along the same line.
    """

    joints: FloatArray
    loops: FloatArray


def reactions(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    forces: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    loop_tau: ArrayLike | None = None,
    check: bool = True,
) -> ConstrainedReactions:
    """The whole forces through all joints and loops of a mechanism that moves under constraints.

    Every body is in balance with them: I a + v × I v is the sum of what its joints, its loops, gravity and external
    forces bring to it. Where constraints are redundant the forces depend on which of many λ are given.

    Parameters
    ----------
    model, q, v
        The mechanism, its configuration (..., nq) and its velocity (..., nv).
    a, forces
        Accelerations (..., nv) and multipliers of the constraints (..., rows): `motion` and `loop_forces` of
        the `Motion` that `forward_dynamics` returns with ``full=True``.
    f_ext, loop_tau
        External forces and forces of the loops' drives, as given to `forward_dynamics`.
    check
        Whether to refuse NaN and infinity. Shapes are always checked.

    Examples
    --------
    A weight of 1 kg that hangs on a slider, which a law keeps in its place:

    >>> import bough
    >>> b = bough.Builder("hanging")
    >>> _ = b.add("weight", bough.joints.Prismatic("z"), mass=1.0)
    >>> b.equality("stop", "weight", None, 0.0)
    >>> model = b.build()
    >>> found = bough.forward_dynamics(model, [0.0], [0.0], [0.0], full=True)
    >>> found.loop_forces.tolist()
    [9.81]
    >>> bough.loops.reactions(model, [0.0], [0.0], found.motion, found.loop_forces).joints[0].tolist()
    [0.0, 0.0, 9.81, 0.0, 0.0, 0.0]
    """
    require_model(model)
    arrays = {"q": q, "v": v, "a": a, "forces": forces, "loop_tau": loop_tau, "f_ext": f_ext}
    found = run(model, "constrained_reactions", arrays, check=check)
    return ConstrainedReactions(found["joints"], found["loops"])
