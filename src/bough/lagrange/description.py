"""Bodies and constraints as users name them, made a layout or refused by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from bough.errors import ModelError, UnknownNameError
from bough.lagrange.layout import Layout, Tie
from bough.model import BASE
from bough.model.arguments import require_name
from bough.model.joints.reading import read_floats
from bough.model.ties.body import WORLD, Body, kind_of
from bough.model.ties.constraint import Constraint
from bough.model.ties.trial import require_body, require_constraint

__all__ = ["read_layout"]


def read_layout(
    bodies: Mapping[str, Body], constraints: Mapping[str, tuple[object, ...]], gravity: ArrayLike
) -> Layout:
    """Each constraint comes with the names of its bodies; kinds are tried out once."""
    numbers = {BASE: 0, **{name: k for k, name in enumerate(bodies, start=1)}}
    _require_bodies(bodies)
    ties = _read_ties(constraints, numbers, [WORLD, *bodies.values()])
    return Layout(tuple(bodies.values()), ties, _read_gravity(gravity), tuple(bodies), tuple(constraints))


def _require_bodies(bodies: Mapping[str, Body]) -> None:
    tried: set[Body] = set()
    for name, body in bodies.items():
        require_name(name, "a body")
        if name == BASE:
            raise ModelError(f"a body is called {name!r}, which is what does not move; expected another name")
        if not isinstance(body, Body) or kind_of(body) not in tried:
            require_body(body, f"body {name!r}")
            tried.add(kind_of(body))


def _read_ties(
    given: Mapping[str, tuple[object, ...]], numbers: Mapping[str, int], kinds: Sequence[Body]
) -> tuple[Tie, ...]:
    tried: set[object] = set()
    ties = []
    for name, entry in given.items():
        require_name(name, "a constraint")
        if not isinstance(entry, tuple) or not entry:
            raise ModelError(f"constraint {name!r} is {entry!r}, expected a tuple: a constraint, then names of bodies")
        constraint, *bodies = entry
        for body in bodies:
            if not isinstance(body, str) or body not in numbers:
                raise UnknownNameError(f"body that constraint {name!r} could act on", body, numbers)
        found = tuple(numbers[str(body)] for body in bodies)
        if not any(found) or len(set(found)) < len(found):
            raise ModelError(
                f"constraint {name!r} is on {bodies}, expected different bodies that are not all the world"
            )
        ends = [kinds[k] for k in found]
        key = isinstance(constraint, Constraint) and (kind_of(constraint), tuple(kind_of(end) for end in ends))
        if not key or key not in tried:
            require_constraint(constraint, ends, f"constraint {name!r}")
            tried.add(key)
        assert isinstance(constraint, Constraint)
        ties.append(Tie(constraint, found))
    return tuple(ties)


def _read_gravity(gravity: ArrayLike) -> tuple[float, float, float]:
    g = read_floats(gravity, "gravity", "three finite numbers (m/s²)")
    g = np.append(g, 0.0) if g.shape == (2,) else g  # in a plane
    if g.shape != (3,) or not np.isfinite(g).all():
        raise ModelError(f"gravity is {gravity!r}, expected three finite numbers (m/s²)")
    return (float(g[0]), float(g[1]), float(g[2]))
