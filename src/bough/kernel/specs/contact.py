"""The algorithms of contact: a row each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from bough.algorithms import levels
from bough.algorithms.contacts import AXES, Place, contact_terms, of_unit_length
from bough.algorithms.levels import Demand
from bough.algorithms.limits import limit_sides
from bough.algorithms.touching import Touching, applied_force, driven_force, row_counts, slope_count
from bough.complementarity import ContactRows
from bough.kernel.arguments import Shape
from bough.kernel.specs.spec import Options, Outputs, Spec
from bough.model import Mechanism, Model
from bough.scalar import Array, Part, Scalar, blank, fill

__all__ = ["CONTACT", "problem_rows"]

PLACE = ("points", "normals")
MOVING_PLACE = (*PLACE, "point_velocities", "normal_velocities")
FORCES = ("tau", "f_ext", "loop_tau")
SETTINGS = ("gaps", "settings")
"""Gaps of contacts; the rate at which errors decay (1/s), and the velocity that counts as none or the step of time."""


@lru_cache(maxsize=256)
def problem_rows(model: Model, level: str, touching: Touching) -> ContactRows:
    """The problem of forces that the program of a level gives."""
    _, limits, loops = row_counts(model, touching)
    slides, sides = level == "touching_accelerations" and touching.friction is not None, limit_sides(model)
    watched = tuple(zip(sides.rows.tolist(), sides.signs.tolist(), strict=True)) if limits else None
    slopes = slope_count(model, touching)
    return ContactRows(len(touching.pairs), touching.friction, limits, loops, model.nv, slides, watched, slopes)


def _jacobian(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    return {"J": contact_terms(m, o.touching.pairs, x["q"], None, _place(x)).matrix}


def _bias(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    return {"bias": contact_terms(m, o.touching.pairs, x["q"], x["v"], _place(x)).bias}


def _place(x: dict[str, Array]) -> Place:
    return Place(x["points"], x["normals"], x.get("point_velocities"), x.get("normal_velocities"))


def _level(name: str, inputs: Sequence[str], level: Callable[[Mechanism, Touching, dict[str, Array]], Demand]) -> Spec:
    """A level: its problem of forces, in one array."""

    def shapes(model: Model, o: Options) -> dict[str, Shape]:
        return {"problem": (problem_rows(model, name, o.touching).size,)}

    def run(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
        demand, unit = level(m, o.touching, x), of_unit_length(x["normals"], len(o.touching.pairs))
        problem = _packed(problem_rows(m.model, name, o.touching), demand)
        return {"problem": problem, "pivots": demand.touch.pivots, "unit": unit}

    return Spec(name, tuple(inputs), shapes, run)


def _accelerations(m: Mechanism, rows: Touching, x: dict[str, Array]) -> Demand:
    force = applied_force(m, x["q"], x["v"], x["tau"], x.get("f_ext"), x.get("loop_tau"))
    return levels.touching_accelerations(m, rows, x["q"], x["v"], force, _place(x), x["gaps"], *_pair(x))


def _step(m: Mechanism, rows: Touching, x: dict[str, Array]) -> Demand:
    force = applied_force(m, x["q"], x["v"], x["tau"], x.get("f_ext"), x.get("loop_tau"))
    return levels.touching_step(m, rows, x["q"], x["v"], force, _place(x), x["gaps"], *_pair(x))


def _velocities(m: Mechanism, rows: Touching, x: dict[str, Array]) -> Demand:
    force = driven_force(m, x["q"], x["tau"], x.get("loop_tau"))
    return levels.touching_velocities(m, rows, x["q"], force, _place(x), x["gaps"], _pair(x)[0])


def _impulses(m: Mechanism, rows: Touching, x: dict[str, Array]) -> Demand:
    return levels.touching_impulses(m, rows, x["q"], x["v"], _place(x), x["gaps"])


def _pair(x: dict[str, Array]) -> tuple[Scalar, Scalar]:
    return x["settings"][0], x["settings"][1]


def _packed(rows: ContactRows, demand: Demand) -> Array:
    """All numbers of a problem of forces, one behind the other."""
    whole, touch = blank(rows.size), demand.touch
    for name, values in (("A", touch.A), ("response", touch.response), ("free", demand.free)):
        part = rows.parts[name]
        fill(Part(whole, part.start), part.stop - part.start, values.__getitem__)
    lists = {"base": demand.base, "offset": demand.offset, "active": demand.active, "sliding": demand.sliding}
    lists["slopes"] = touch.slopes
    for name, entries in lists.items():
        for k, entry in enumerate(entries):
            whole[rows.parts[name].start + k] = entry
    return whole


CONTACT = (
    Spec(
        "contact_jacobian",
        ("q", *PLACE),
        lambda model, o: {"J": (len(o.touching.pairs), AXES, model.nv)},
        _jacobian,
    ),
    Spec(
        "contact_bias",
        ("q", "v", *MOVING_PLACE),
        lambda model, o: {"bias": (len(o.touching.pairs), AXES)},
        _bias,
    ),
    _level("touching_accelerations", ("q", "v", *FORCES, *MOVING_PLACE, *SETTINGS), _accelerations),
    _level("touching_step", ("q", "v", *FORCES, *PLACE, *SETTINGS), _step),
    _level("touching_velocities", ("q", "tau", "loop_tau", *PLACE, *SETTINGS), _velocities),
    _level("touching_impulses", ("q", "v", *PLACE, "gaps"), _impulses),
)
