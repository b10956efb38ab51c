"""The algorithms in maximal coordinates: a row each."""

from __future__ import annotations

from bough.kernel.arguments import Shape
from bough.kernel.specs.spec import Options, Spec, of_dofs, plain
from bough.lagrange import joints
from bough.lagrange.joints import constraint_system
from bough.lagrange.loops import auxiliary_loops, loop_system
from bough.model import Model

__all__ = ["MAXIMAL"]


def _shapes(model: Model, o: Options) -> dict[str, Shape]:
    system = constraint_system(model)
    return {"jacobian": (system.jacobian_size,), "force": (system.nv,), "c": (system.nc,)}


def _motion(model: Model) -> Shape:
    system = constraint_system(model)
    return (system.nv + system.nc,)


def _loops_shapes(model: Model, o: Options) -> dict[str, Shape]:
    auxiliary = loop_system(model)
    return {"jacobian": (auxiliary.jacobian_size,), "c": (auxiliary.nc,)}


MAXIMAL = (
    Spec(
        "maximal_loops",
        ("q", "v", "rate"),
        _loops_shapes,
        lambda m, o, x: auxiliary_loops(m, x["q"], x["v"], x["rate"][0]),
    ),
    plain("maximal_dynamics", "q v tau f_ext", "x", _motion, joints.dynamics),
    Spec(
        "maximal",
        ("q", "v", "tau", "f_ext"),
        _shapes,
        lambda m, o, x: joints.constraints(m, x["q"], x["v"], x["tau"], x.get("f_ext")),
    ),
    Spec(
        "joint_positions",
        ("placements", "q0"),
        lambda model, o: {"q": (model.nq,), "rest": (model.nbodies, 6)},
        lambda m, o, x: dict(zip(("q", "rest"), joints.positions(m, x["placements"], x["q0"]), strict=True)),
    ),
    plain("joint_velocities", "q velocities", "v", of_dofs, joints.velocities),
    plain("joint_accelerations", "q v accelerations", "a", of_dofs, joints.accelerations),
    plain("joint_reactions", "q tau multipliers", "reactions", lambda model: (model.nbodies, 6), joints.of_multipliers),
    plain(
        "reaction_multipliers",
        "q tau reactions",
        "multipliers",
        lambda model: (constraint_system(model).nc,),
        joints.to_multipliers,
    ),
)
