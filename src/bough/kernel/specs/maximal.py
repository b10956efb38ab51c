"""The algorithms in maximal coordinates: a row each."""

from __future__ import annotations

from bough.kernel.arguments import Shape
from bough.kernel.specs.spec import Options, Outputs, Spec
from bough.lagrange import conversions
from bough.lagrange.joints import constraint_system, constraints, dynamics, of_multipliers, to_multipliers
from bough.lagrange.loops import auxiliary_loops, loop_system
from bough.model import Mechanism, Model
from bough.scalar import Array

__all__ = ["MAXIMAL"]


def _shapes(model: Model, o: Options) -> dict[str, Shape]:
    system = constraint_system(model)
    return {"jacobian": (system.jacobian_size,), "force": (system.nv,), "c": (system.nc,)}


def _dynamics_shapes(model: Model, o: Options) -> dict[str, Shape]:
    system = constraint_system(model)
    return {"x": (system.nv + system.nc,)}


def _loops_shapes(model: Model, o: Options) -> dict[str, Shape]:
    auxiliary = loop_system(model)
    return {"jacobian": (auxiliary.jacobian_size,), "c": (auxiliary.nc,)}


def _joint_positions(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    q, rest = conversions.positions(m, x["placements"], x["q0"])
    return {"q": q, "rest": rest}


MAXIMAL = (
    Spec(
        "maximal_loops",
        ("q", "v", "rate"),
        _loops_shapes,
        lambda m, o, x: auxiliary_loops(m, x["q"], x["v"], x["rate"][0]),
    ),
    Spec(
        "maximal_dynamics",
        ("q", "v", "tau", "f_ext"),
        _dynamics_shapes,
        lambda m, o, x: {"x": dynamics(m, x["q"], x["v"], x["tau"], x.get("f_ext"))},
    ),
    Spec(
        "maximal",
        ("q", "v", "tau", "f_ext"),
        _shapes,
        lambda m, o, x: constraints(m, x["q"], x["v"], x["tau"], x.get("f_ext")),
    ),
    Spec(
        "joint_positions",
        ("placements", "q0"),
        lambda model, o: {"q": (model.nq,), "rest": (model.nbodies, 6)},
        _joint_positions,
    ),
    Spec(
        "joint_velocities",
        ("q", "velocities"),
        lambda model, o: {"v": (model.nv,)},
        lambda m, o, x: {"v": conversions.velocities(m, x["q"], x["velocities"])},
    ),
    Spec(
        "joint_accelerations",
        ("q", "v", "accelerations"),
        lambda model, o: {"a": (model.nv,)},
        lambda m, o, x: {"a": conversions.accelerations(m, x["q"], x["v"], x["accelerations"])},
    ),
    Spec(
        "joint_reactions",
        ("q", "tau", "multipliers"),
        lambda model, o: {"reactions": (model.nbodies, 6)},
        lambda m, o, x: {"reactions": of_multipliers(m, x["q"], x["tau"], x["multipliers"])},
    ),
    Spec(
        "reaction_multipliers",
        ("q", "tau", "reactions"),
        lambda model, o: {"multipliers": (constraint_system(model).nc,)},
        lambda m, o, x: {"multipliers": to_multipliers(m, x["q"], x["tau"], x["reactions"])},
    ),
)
