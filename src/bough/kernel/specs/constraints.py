"""What each algorithm of constraints takes and gives: a row each."""

from __future__ import annotations

from bough.algorithms.closed_loops import constrained_dynamics, onto_constraints, wanted
from bough.algorithms.contact_problem import ContactPlan, row_counts
from bough.algorithms.limits import limit_rows
from bough.algorithms.loops import constraint_terms, loop_motions
from bough.algorithms.reactions import constrained_reactions
from bough.kernel.arguments import Shape
from bough.kernel.specs.spec import Options, Outputs, Spec
from bough.model import Mechanism, Model
from bough.scalar import Array, array

__all__ = ["CONSTRAINTS"]


def _constraint_count(model: Model) -> int:
    return sum(constraint.rows for constraint in model.constraints)


def _limit_count(model: Model) -> int:
    return row_counts(model, ContactPlan(limits=True))[2]


def _limits(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    G = array(_limit_count(m.model) * m.model.nv)
    limit_rows(m, x["q"], None, G)
    return {"G": G}


def _terms(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    terms = constraint_terms(m, x["q"], x["v"])
    aims = [wanted(terms, row, x["rate"][0]) for row in range(len(terms.errors))]
    return {"L": terms.matrix, "aims": aims}


def _terms_shapes(model: Model, o: Options) -> dict[str, Shape]:
    rows = _constraint_count(model)
    return {"L": (rows, model.nv), "aims": (rows,)}


def _constrained(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    forces = (x["tau"], x.get("f_ext"), x["rate"][0], x.get("loop_tau"))
    qdd, pivots, doubt = constrained_dynamics(m, x["q"], x["v"], *forces)
    return {"qdd": qdd, "pivots": pivots, "doubt": doubt}


def _onto(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    q, v, pivots, doubt = onto_constraints(m, x["q"], x["v"])
    return {"q_near": q, "v_near": v, "pivots": pivots, "doubt": doubt}


def _reactions(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    state = (x["q"], x["v"], x["a"], x["forces"])
    joints, loops = constrained_reactions(m, *state, x.get("loop_tau"), x.get("f_ext"))
    return {"joints": joints, "loops": loops}


def _reactions_shapes(model: Model, o: Options) -> dict[str, Shape]:
    return {"joints": (model.nbodies, 6), "loops": (len(model.loops), 6)}


CONSTRAINTS = (
    Spec(
        "constraint_errors",
        ("q",),
        lambda model, o: {"errors": (_constraint_count(model),)},
        lambda m, o, x: {"errors": constraint_terms(m, x["q"], None).errors},
    ),
    Spec(
        "constraint_jacobian",
        ("q",),
        lambda model, o: {"L": (_constraint_count(model), model.nv)},
        lambda m, o, x: {"L": constraint_terms(m, x["q"], None).matrix},
    ),
    Spec(
        "constraint_bias",
        ("q", "v"),
        lambda model, o: {"bias": (_constraint_count(model),)},
        lambda m, o, x: {"bias": constraint_terms(m, x["q"], x["v"]).bias},
    ),
    Spec(
        "loop_configurations",
        ("q",),
        lambda model, o: {"x": (sum(loop.joint.nq for loop in model.loops),)},
        lambda m, o, x: {"x": loop_motions(m, x["q"])[0]},
    ),
    Spec(
        "loop_jacobian",
        ("q",),
        lambda model, o: {"B": (sum(loop.joint.nv for loop in model.loops), model.nv)},
        lambda m, o, x: {"B": loop_motions(m, x["q"])[1]},
    ),
    Spec("limit_jacobian", ("q",), lambda model, o: {"G": (_limit_count(model), model.nv)}, _limits),
    Spec("constraint_terms", ("q", "v", "rate"), _terms_shapes, _terms),
    Spec(
        "constrained_dynamics",
        ("q", "v", "tau", "rate", "f_ext", "loop_tau"),
        lambda model, o: {"qdd": (model.nv,)},
        _constrained,
    ),
    Spec(
        "onto_constraints",
        ("q", "v"),
        lambda model, o: {"q_near": (model.nq,), "v_near": (model.nv,)},
        _onto,
    ),
    Spec("constrained_reactions", ("q", "v", "a", "forces", "loop_tau", "f_ext"), _reactions_shapes, _reactions),
)
