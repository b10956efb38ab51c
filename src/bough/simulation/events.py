"""Events: moments at which a function of time, configuration and velocity passes zero."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from bough.errors import ShapeError
from bough.kernel.arguments import FloatArray
from bough.reading import number, shown, truth, whole_number

__all__ = ["Event", "Occurrence", "StateWithin", "happened", "place_of", "read_events", "values_of"]

Watched: TypeAlias = Callable[[float, FloatArray, FloatArray], float]
StateWithin: TypeAlias = Callable[[float], tuple[float, FloatArray, FloatArray]]
"""From a part of a step to time, q and v there."""

MOST, FINE = 100, 1e-13
"""Looks at a function until its zero is found, at most, and the part of a step to which it is found."""


@dataclass(frozen=True)
class Event:
    """A function whose zeros a run finds.

    Parameters
    ----------
    function
        Called as ``function(time, q, v)`` for one state, with q (nq,) and v (nv,). It returns a number that is zero at
        the event.
    direction
        1: rising zeros only, -1: falling zeros only, 0: both.
    stop
        Whether the state stops at the event.

    Examples
    --------
    >>> import bough
    >>> pendulum = bough.robots.load("pendulum")
    >>> bottom = bough.simulation.Event(lambda time, q, v: q[0], stop=True)
    >>> run = bough.Simulation(pendulum).run([0.1], duration=5.0, events={"bottom": bottom})
    >>> run.events[0].name, round(abs(float(run.q[-1, 0])), 9)
    ('bottom', 0.0)
    """

    function: Watched
    direction: int = 0
    stop: bool = False

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ShapeError(f"function of an event is {shown(self.function)}, expected one of time, q and v")
        whole_number(self.direction, "direction of an event", least=-1, most=1)
        truth(self.stop, "stop of an event")

    def value(self, name: str, time: float, q: FloatArray, v: FloatArray) -> float:
        """Value of the function; errors name the event."""
        what = f"event {name!r} at {time:.6g} s"
        return number(self.function(time, np.array(q), np.array(v)), what, "a number that is finite")

    def happens(self, before: float, after: float) -> bool:
        """Whether the function passes zero between two values in the right direction. A start at zero does not
        count.
        """
        rises, falls = before < 0.0 <= after, before > 0.0 >= after
        return (rises and self.direction >= 0) or (falls and self.direction <= 0)


class Occurrence(NamedTuple):
    """An event that occurred: its name, the time (s), the index of the state in the batch (() for a single state), q
    and v.
    """

    name: str
    time: float
    state: tuple[int, ...]
    q: FloatArray
    v: FloatArray


def read_events(given: Any) -> dict[str, Event]:
    """Events by name, from a mapping of functions or events, or from a list: there the first is called "event 0"."""
    if given is None:
        return {}
    if isinstance(given, list | tuple):
        given = {f"event {k}": x for k, x in enumerate(given)}
    if not isinstance(given, Mapping):
        raise ShapeError(
            f"events is {shown(given)}, expected functions of time, q and v, in a dictionary by name or in a list"
        )
    events = {str(name): Event(x) if callable(x) else x for name, x in given.items()}
    for name, event in events.items():
        if not isinstance(event, Event):
            raise ShapeError(f"event {name!r} is {shown(event)}, expected a function or a bough.simulation.Event")
    return events


def place_of(k: int, batch: tuple[int, ...]) -> tuple[int, ...]:
    """The index of state k of a batch, counted through; () where there is no batch."""
    return tuple(int(x) for x in np.unravel_index(k, batch)) if batch else ()


def values_of(watched: Mapping[str, Event], time: float, q: FloatArray, v: FloatArray) -> list[float]:
    """What the functions of all events say in a state."""
    return [event.value(name, time, q, v) for name, event in watched.items()]


def happened(
    watched: Mapping[str, Event], before: Sequence[float], after: Sequence[float], within: StateWithin, place: Any
) -> tuple[list[Occurrence], float | None]:
    """What happens in a step of a state, in order, and the part of the step after which that ends, if it does.

    Parameters
    ----------
    watched
        Events by name.
    before, after
        The values of their functions at the begin and at the end of the step.
    within
        The states in between.
    place
        The index of the state in its batch.
    """
    found = []
    for (name, event), g0, g1 in zip(watched.items(), before, after, strict=True):
        if event.happens(g0, g1):
            part = _located(lambda p, name=name, event=event: event.value(name, *within(p)), g0, g1)  # type: ignore[misc]
            found.append((part, name, event.stop))
    told = []
    for part, name, stop in sorted(found):
        time, q, v = within(part)
        told.append(Occurrence(name, time, place, q, v))
        if stop:
            return told, part
    return told, None


def _located(value: Callable[[float], float], before: float, after: float) -> float:
    """Where between 0 and 1 a function passes zero, just behind it: regula falsi, as Illinois has it."""
    low, high, f_low, f_high, last = 0.0, 1.0, before, after, 0
    for _ in range(MOST):
        if high - low <= FINE or f_high == 0.0:
            break
        part = high - f_high * (high - low) / (f_high - f_low)
        if not low < part < high or last > 2 or last < -2:
            part, last = 0.5 * (low + high), 0
        f = value(part)
        if np.sign(f) == np.sign(f_high) or f == 0.0:
            high, f_high, f_low, last = part, f, f_low * (0.5 if last > 0 else 1.0), max(last, 0) + 1
        else:
            low, f_low, f_high, last = part, f, f_high * (0.5 if last < 0 else 1.0), min(last, 0) - 1
    return high
