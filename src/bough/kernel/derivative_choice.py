"""Which way derivatives of dynamics are made: recursions of their own, or a program that is differentiated as it is.

Recursions know that a subtree moves as one body, so on nearly all robots they have fewer operations. On a few joints
the program of the function itself may be so short that nothing is left to know. Counts say which, as they do for
methods of forward dynamics, so the choice depends on the mechanism alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from bough.kernel.choice import weighted
from bough.kernel.function import Function
from bough.kernel.functions import model_function, new_function, require_known_bodies, require_model
from bough.model import Model
from bough.scalar import Array, Count, Part, blank, fill

__all__ = ["AUTOMATIC_UP_TO", "DIFFERENTIATED", "Way", "cheapest_way", "derivatives_of", "way_costs"]

Way: TypeAlias = Literal["recursions", "automatic"]

AUTOMATIC_UP_TO = 4
"""Velocities up to which automatic derivatives are considered: of more, counting them takes longer than it gains."""

DIFFERENTIATED: dict[str, tuple[str, tuple[tuple[int, int], ...]]] = {
    "rnea_derivatives": ("rnea", ((0, 0), (1, 0), (2, 0))),
    "forward_dynamics_derivatives": ("crba_ltdl", ((0, 0), (1, 0), (2, 0))),
    "rnea_second_derivatives": ("rnea_derivatives", ((0, 0), (1, 1), (1, 0), (0, 2))),
    "forward_dynamics_second_derivatives": ("forward_dynamics_derivatives", ((0, 0), (1, 1), (1, 0), (0, 2))),
}
"""By algorithm, what is differentiated instead, and which parts of its derivatives by q, v and a or tau make the
result: by which input, and the place in that."""


def derivatives_of(model: Model, key: tuple[str, str]) -> Function:
    """The function of derivatives on a model, made the way that has fewer operations; the key ends with its name."""
    require_model(model)
    require_known_bodies(model, key[-1])
    return _made(model, key[-1], cheapest_way(model, key[-1]))


def cheapest_way(model: Model, name: str) -> Way:
    """The way that has fewer operations; recursions if both have as many."""
    if not 0 < model.nv <= AUTOMATIC_UP_TO:
        return "recursions"
    costs = way_costs(model, name)
    return min(costs, key=lambda way: weighted(costs[way]))


@lru_cache(maxsize=256)
def way_costs(model: Model, name: str) -> dict[Way, Count]:
    """The operations of each way, in the programs that run."""
    ways: tuple[Way, ...] = ("recursions", "automatic")
    return {way: _made(model, name, way).count() for way in ways}


def _made(model: Model, name: str, way: Way) -> Function:
    return model_function(model, name) if way == "recursions" else _automatic(model, name)


def _automatic(model: Model, name: str) -> Function:
    """The function of the recursions, with another rule."""
    (source, parts), made = DIFFERENTIATED[name], new_function(model, name)
    differentiated = model_function(model, source)
    changing = [a.name for a in made.inputs if not a.optional][: max(k for k, _ in parts) + 1]
    slopes = differentiated.jacobian(changing)
    by = [a.name for a in slopes.outputs][: len(changing)]
    size, digest = made.outputs[0].size // len(parts), made.digest

    def rule(**x: Array) -> Mapping[str, Any]:
        found = dict(slopes.rule(**x))
        arrays = {key: found.pop(key) for key in by}
        whole = blank(size * len(parts))
        for place, (k, which) in enumerate(parts):
            fill(Part(whole, place * size), size, Part(arrays[by[k]], which * size).__getitem__)
        return {"derivatives": whole, **found}

    made.rule, made.limbs = rule, lambda names: {}
    made.digest = lambda: None if (found := digest()) is None else f"{found}\0automatic"
    return made
