"""Where a simulation is."""

from __future__ import annotations

from typing import NamedTuple

from bough.kernel.arguments import FloatArray

__all__ = ["State"]


class State(NamedTuple):
    """State of a simulation: configuration (..., nq), velocity (..., nv), and the warm start of the next step.

    The warm start `a` contains the accelerations (..., nv) of the previous step, with ω × v added where a joint moves
    along axes that rotate (`Simulation.contacts` returns plain accelerations); for hard contact it contains the
    impulses: contacts (each after its number), loops and limits. `taken` (...) is the number of steps. `status` (...)
    is 0 if the state is valid, 1 if something was not finite, 2 if it ran away. A stopped state keeps its last valid
    values. For tensors with gradients, q, v and a are differentiable.
    """

    q: FloatArray
    v: FloatArray
    a: FloatArray
    taken: FloatArray
    status: FloatArray
