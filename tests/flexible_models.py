"""Random trees with flexible bodies, whose modes are random too."""

from __future__ import annotations

from typing import Any

import numpy as np

import bough
from model_strategies import random_inertia, random_placement

__all__ = ["POINTS", "random_flexible", "random_flexible_model"]

Rng = np.random.Generator
POINTS = 5


def random_flexible(rng: Rng, modes: int, stations: int = 1) -> dict[str, Any]:
    """The arguments of a flexible body of random points, shapes and stations."""

    def symmetric(*lead: int) -> Any:
        psi = rng.normal(size=(*lead, modes, modes, 3)) * 0.3
        return psi + np.swapaxes(psi, -2, -3)

    def station() -> bough.flexible.StationShapes:
        at, moves, turns = rng.normal(size=3), rng.normal(size=(modes, 3)), rng.normal(size=(modes, 3))
        return bough.flexible.StationShapes(at, moves, turns, symmetric())

    return {
        "points": rng.normal(size=(POINTS, 3)),
        "masses": rng.uniform(0.5, 2.0, size=POINTS),
        "shapes": rng.normal(size=(POINTS, modes, 3)),
        "stiffness": rng.uniform(1.0, 50.0, size=modes),
        "damping": rng.uniform(0.0, 1.0, size=modes),
        "stations": {f"s{k}": station() for k in range(stations)},
        "shortening": symmetric(POINTS),
    }


def random_flexible_model(rng: Rng, floats: bool = True) -> bough.Model:
    """A tree of rigid and flexible bodies: two stations of one body carry others, one of them flexible again."""
    b = bough.Builder("random flexible tree", gravity=rng.normal(size=3) * 5.0)
    first = bough.joints.Free() if floats else bough.joints.Revolute(rng.normal(size=3))
    b.add("base", first, **random_placement(rng), **random_inertia(rng), armature=0.0 if floats else 0.3)
    one = bough.flexible.FlexibleBody(**random_flexible(rng, 2, 2))
    b.add_flexible("one", one, "base", **random_placement(rng))
    b.add("arm", bough.joints.Revolute(rng.normal(size=3)), "one.s0", **random_placement(rng), **random_inertia(rng))
    two = bough.flexible.FlexibleBody(**random_flexible(rng, 1))
    b.add_flexible("two", two, "arm", **random_placement(rng))
    b.add("load", bough.joints.Fixed(), "two.s0", **random_placement(rng), **random_inertia(rng))
    b.add("slide", bough.joints.Prismatic(rng.normal(size=3)), "one.s1", **random_placement(rng), **random_inertia(rng))
    b.frame("tool", "slide", **random_placement(rng))
    return b.build()
