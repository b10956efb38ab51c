"""The algorithms in maximal coordinates: a row each."""

from __future__ import annotations

from bough.kernel.arguments import Shape
from bough.kernel.specs.spec import Options, Outputs, Spec
from bough.lagrange import conversions, joints, loops
from bough.model import Mechanism, Model
from bough.scalar import Array

__all__ = ["MAXIMAL"]


def _maximal_shapes(model: Model, o: Options) -> dict[str, Shape]:
    system = joints.constraint_system(model)
    return {"rows": (system.jacobian_size + system.nv + system.nc,)}


def _maximal(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    system = joints.constraint_system(m.model)
    return {"rows": joints.constraints(m, system, x["q"], x["v"], x["tau"], x.get("f_ext"))[-1]}


def _maximal_dynamics_shapes(model: Model, o: Options) -> dict[str, Shape]:
    system = joints.constraint_system(model)
    return {"x": (system.nv + system.nc,)}


def _maximal_dynamics(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    system = joints.constraint_system(m.model)
    return {"x": joints.dynamics(m, system, x["q"], x["v"], x["tau"], x.get("f_ext"))}


def _joint_positions(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    q, rest = conversions.positions(m, x["placements"], x["q0"])
    return {"q": q, "rest": rest}


def _joint_reactions(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    system = joints.constraint_system(m.model)
    return {"reactions": joints.of_multipliers(m, system, x["q"], x["tau"], x["multipliers"])}


def _reaction_multipliers(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    system = joints.constraint_system(m.model)
    return {"multipliers": joints.to_multipliers(m, system, x["q"], x["tau"], x["reactions"])}


def _loops_shapes(model: Model, o: Options) -> dict[str, Shape]:
    auxiliary = loops.loop_system(model)
    return {"rows": (auxiliary.jacobian_size + auxiliary.nc,)}


def _loops(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    return {"rows": loops.auxiliary_loops(m, loops.loop_system(m.model), x["q"], x["v"], x["rate"][0])}


MAXIMAL = (
    Spec("maximal_loops", ("q", "v", "rate"), _loops_shapes, _loops),
    Spec("maximal_dynamics", ("q", "v", "tau", "f_ext"), _maximal_dynamics_shapes, _maximal_dynamics),
    Spec("maximal", ("q", "v", "tau", "f_ext"), _maximal_shapes, _maximal),
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
        _joint_reactions,
    ),
    Spec(
        "reaction_multipliers",
        ("q", "tau", "reactions"),
        lambda model, o: {"multipliers": (joints.constraint_system(model).nc,)},
        _reaction_multipliers,
    ),
)
