"""The algorithms of contact: a row each."""

from __future__ import annotations

from bough.algorithms.contacts import AXES, Place, contact_terms
from bough.algorithms.touching import applied_force, row_counts, slope_count, touching
from bough.kernel.border import Shape
from bough.kernel.specs.spec import Options, Outputs, Spec
from bough.model import Mechanism, Model
from bough.scalar import Array

__all__ = ["CONTACT"]

PLACE = ("points", "normals")
MOVING_PLACE = (*PLACE, "point_velocities", "normal_velocities")


def _place(x: dict[str, Array]) -> Place:
    return Place(x["points"], x["normals"], x.get("point_velocities"), x.get("normal_velocities"))


def _shapes(model: Model, o: Options, free: bool) -> dict[str, Shape]:
    rows, nv = sum(row_counts(model, o.touching)), model.nv
    shapes: dict[str, Shape] = {"A": (rows, rows), "response": (rows, nv), "rates": (rows,), "bias": (rows,)}
    shapes |= {"errors": (len(model.constraint_names),), "slopes": (slope_count(model, o.touching),)}
    if free:
        shapes |= {"free": (nv,), "drive": (rows,)}
    return {**shapes, "pivots": (nv,)}


def _jacobian(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    return {"J": contact_terms(m, o.touching.pairs, x["q"], None, _place(x)).matrix}


def _bias(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    return {"bias": contact_terms(m, o.touching.pairs, x["q"], x["v"], _place(x)).bias}


def _accelerations(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    force = applied_force(m, x["q"], x["v"], x["tau"], x.get("f_ext"))
    return touching(m, o.touching, x["q"], x["v"], force, _place(x))


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
    Spec(
        "touching_accelerations",
        ("q", "v", "tau", "f_ext", *MOVING_PLACE),
        lambda model, o: _shapes(model, o, free=True),
        _accelerations,
    ),
    Spec(
        "touching_impulses",
        ("q", "v", *PLACE),
        lambda model, o: _shapes(model, o, free=False),
        lambda m, o, x: touching(m, o.touching, x["q"], x["v"], None, _place(x)),
    ),
    Spec(
        "touching_velocities",
        ("q", "tau", *PLACE),
        lambda model, o: _shapes(model, o, free=True),
        lambda m, o, x: touching(m, o.touching, x["q"], None, x["tau"], _place(x)),
    ),
)
