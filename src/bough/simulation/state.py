"""Where a simulation is."""

from __future__ import annotations

from typing import NamedTuple

from bough.kernel.arguments import FloatArray

__all__ = ["State"]


class State(NamedTuple):
    """Where a simulation is: configuration (..., nq), velocity (..., nv), and what the next step starts from.

    That is `a`: accelerations (..., nv) of the step before, with ω × v added where a joint moves along axes that turn
    (`Simulation.contacts` tells accelerations as they are); where contact is hard, its impulses, of contacts (each with
    its number before them), loops and limits. Of tensors with gradients q, v and a have derivatives.
    `taken` (...) are the steps made, and `status` (...) says what became of each state: 0 nothing, 1 something was not
    finite, 2 it ran away; a state that stops is the last one that was sound.
    """

    q: FloatArray
    v: FloatArray
    a: FloatArray
    taken: FloatArray
    status: FloatArray
