"""States on their way through steps of time, under soft or hard contact, and what becomes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from bough.model import Mechanism
from bough.scalar import Array, Bool, Scalar, either, map_leaves, repeat, select

__all__ = ["FASTEST", "MOST_STEPS", "NOT_SOLVED", "RUNNING", "Scalars", "State", "run_states", "soundness"]

MOST_STEPS = 2**40
"""Steps of one call at most."""

FASTEST = 1e10
"""Velocities (m/s, rad/s) and places (m, rad) beyond which a state has run away."""

RUNNING, NOT_FINITE, RAN_AWAY, NOT_SOLVED = 0.0, 1.0, 2.0, 4.0

Scalars: TypeAlias = tuple[Scalar, ...]


@dataclass(frozen=True)
class State:
    """A state on its way: q and v as users see them, where the next step starts, steps done, what became of it.

    So that many steps in one call are the same, to the last bit, as many calls.
    """

    q: Scalars
    v: Scalars
    a: Scalars
    taken: Scalar
    status: Scalar = RUNNING


def soundness(values: Iterable[Scalar]) -> tuple[Bool, Bool]:
    """Whether the configuration and velocity of a state are finite, and whether it has not run away."""
    total: Scalar = 0.0
    for value in values:
        total = total + value * value
    return total - total >= 0.0, total < FASTEST * FASTEST  # what is not finite compares as false


def run_states(m: Mechanism, x: Mapping[str, Array], kept: int, step: Callable[[State], State]) -> dict[str, Any]:
    """Run as many steps as ``x["steps"]`` says; each starts from so many numbers `kept` by the one before.

    A state stops where something is not finite or has run away, and where a step tells it to by its status.
    """
    steps, none = x["steps"][0], 0.0  # type: Scalar, Scalar

    def turn(_: Any, state: State) -> State:
        new = step(state)
        sound, slow = soundness((*new.v, *new.q))
        grade = select(slow, RUNNING, RAN_AWAY)
        if not isinstance(new.status, float):
            grade = select(new.status > RUNNING, new.status, grade)
        status = select(sound, grade, NOT_FINITE)
        if not isinstance(new.status, float):
            status = select(new.status > NOT_SOLVED, new.status, status)  # who waits before a step is not looked at
        keep = status <= RUNNING
        return replace(map_leaves(lambda one, other: select(keep, one, other), new, state), status=status)

    def over(state: State) -> Bool:
        return either(state.taken >= steps, state.status > 0.0)

    q, v, a = (tuple(x[name][k] for k in range(n)) for name, n in (("q", m.model.nq), ("v", m.model.nv), ("a", kept)))
    end = repeat(MOST_STEPS, turn, State(q, v, a, none, none), until=over)
    return {
        "q_after": list(end.q), "v_after": list(end.v), "a_after": list(end.a), "taken": [end.taken],
        "status": [end.status],
    }  # fmt: skip
