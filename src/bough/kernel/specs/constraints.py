"""What each algorithm of constraints takes and gives: a row each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias, get_args

from bough.algorithms.closed_loops import (
    TIME_CONSTANT,
    Constrained,
    LoopMethod,
    aim_of_row,
    consistent_velocity,
    constrained_dynamics,
    onto_constraints,
)
from bough.algorithms.contact_problem import ContactPlan, contact_rows
from bough.algorithms.copies import copies, for_each_copy
from bough.algorithms.inverse_dynamics import DrivenRows, Driving, inverse_dynamics
from bough.algorithms.limits import limit_rows
from bough.algorithms.loop_choice import cheapest_method
from bough.algorithms.loops import constraint_terms, loop_motions
from bough.algorithms.reactions import constrained_reactions
from bough.kernel.arguments import Shape
from bough.kernel.specs.spec import Options, Outputs, Spec, plain
from bough.model import Mechanism, Model
from bough.scalar import Array, Scalar, array, filled, keeps_loops

__all__ = ["CONSTRAINTS", "METHODS", "driven_rows"]

FORCED = ("q", "v", "tau", "f_ext", "loop_tau", "decay_rate")


METHODS: tuple[tuple[str, LoopMethod | None], ...] = (
    ("", None), *((f"_by_{method}", method) for method in get_args(LoopMethod))
)  # fmt: skip
"""What the names of algorithms end with, and the method they take; without one it is the cheapest."""


def _constraint_count(model: Model) -> int:
    return sum(constraint.rows for constraint in model.constraints)


def _count(model: Model) -> Shape:
    return (_constraint_count(model),)


def _matrix(model: Model) -> Shape:
    return (_constraint_count(model), model.nv)


Run: TypeAlias = Callable[[Mechanism, Options, dict[str, Array]], Outputs]


def _by_copies(run: Run, *outputs: str) -> Run:
    """An algorithm with these outputs that a program with loops runs part by part, where parts are built alike."""

    def rule(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
        parts = copies(m)
        if not parts or not keeps_loops():
            return run(m, o, x)
        return for_each_copy(parts, lambda part, own: run(part, o, own), x, outputs)

    return rule


def _limit_count(model: Model) -> int:
    return contact_rows(model, ContactPlan(limits=True)).limits


def _limits(m: Mechanism, q: Array) -> Array:
    G = array(_limit_count(m.model) * m.model.nv)
    limit_rows(m, q, None, G)
    return G


def _terms(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    terms = constraint_terms(m, x["q"], x["v"])
    return {"L": terms.matrix, "aims": filled(terms.count, lambda row: aim_of_row(terms, row, _decay_rate(x)))}


def _terms_shapes(model: Model, o: Options) -> dict[str, Shape]:
    rows = _constraint_count(model)
    return {"L": (rows, model.nv), "aims": (rows,)}


def _decay_rate(x: dict[str, Array]) -> Scalar:
    """1/T of the stabilisation (1/s)."""
    rate: Scalar = x["decay_rate"][0] if "decay_rate" in x else 1.0 / TIME_CONSTANT
    return rate


def _constrained(m: Mechanism, x: dict[str, Array], method: LoopMethod) -> Constrained:
    forces = (x["tau"], x.get("f_ext"), _decay_rate(x), x.get("loop_tau"))
    return constrained_dynamics(m, x["q"], x["v"], *forces, method)


def _dynamics(method: LoopMethod | None, m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    found = _constrained(m, x, method or cheapest_method(m))
    return {"qdd": found.motion, "pivots": found.pivots, "doubt": found.doubtful}


def _motion(method: LoopMethod | None, m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    found = _constrained(m, x, method or cheapest_method(m))
    results = {"qdd": found.motion, "forces": found.multipliers, "residual": [found.residual]}
    return {**results, "unmet": array(_constraint_count(m.model)), "pivots": found.pivots, "doubt": found.doubtful}


def _motion_shapes(model: Model, o: Options) -> dict[str, Shape]:
    rows = _constraint_count(model)
    return {"qdd": (model.nv,), "forces": (rows,), "residual": (), "unmet": (rows,)}


def driven_rows(model: Model, o: Options) -> DrivenRows:
    """Which coordinates have drives."""
    return o.drives or DrivenRows(tuple(range(model.nv)))


def _driving(m: Mechanism, o: Options, x: dict[str, Array]) -> Driving:
    return inverse_dynamics(m, x["q"], x["v"], x["a"], x.get("f_ext"), driven_rows(m.model, o))


def _inverse(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    found = _driving(m, o, x)
    return {"tau": found.tau, "pivots": found.pivots, "doubt": found.doubtful}


def _drive_forces(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    found = _driving(m, o, x)
    unmet = array(_constraint_count(m.model) + m.model.nv)
    results = {"tau": found.tau, "loop_tau": found.loop_tau, "residual": [found.residual], "unmet": unmet}
    return {**results, "pivots": found.pivots, "doubt": found.doubtful}


def _drive_shapes(model: Model, o: Options) -> dict[str, Shape]:
    loops = sum(loop.joint.nv for loop in model.loops)
    unmet = _constraint_count(model) + model.nv
    return {"tau": (model.nv,), "loop_tau": (loops,), "residual": (), "unmet": (unmet,)}


def _onto(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    q, v, pivots, doubt = onto_constraints(m, x["q"], x["v"])
    return {"q_near": q, "v_near": v, "pivots": pivots, "doubt": doubt}


def _consistent(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    v, pivots, doubt = consistent_velocity(m, x["q"], x["v"])
    return {"v_near": v, "pivots": pivots, "doubt": doubt}


def _reactions(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    state = (x["q"], x["v"], x["a"], x["forces"])
    joints, loops = constrained_reactions(m, *state, x.get("loop_tau"), x.get("f_ext"))
    return {"joints": joints, "loops": loops}


def _reactions_shapes(model: Model, o: Options) -> dict[str, Shape]:
    return {"joints": (model.nbodies, 6), "loops": (len(model.loops), 6)}


CONSTRAINTS = (
    plain("constraint_errors", "q", "errors", _count, lambda m, q: constraint_terms(m, q, None).errors),
    plain("constraint_jacobian", "q", "L", _matrix, lambda m, q: constraint_terms(m, q, None).matrix),
    plain("constraint_bias", "q v", "bias", _count, lambda m, q, v: constraint_terms(m, q, v).bias),
    plain(
        "constraint_speeds", "q", "speeds", _count, lambda m, q: constraint_terms(m, q, None).rates
    ),  # L v + this = 0
    plain(
        "loop_configurations",
        "q",
        "x",
        lambda model: (sum(loop.joint.nq for loop in model.loops),),
        lambda m, q: loop_motions(m, q)[0],
    ),
    plain(
        "loop_jacobian",
        "q",
        "B",
        lambda model: (sum(loop.joint.nv for loop in model.loops), model.nv),
        lambda m, q: loop_motions(m, q)[1],
    ),
    plain("limit_jacobian", "q", "G", lambda model: (_limit_count(model), model.nv), _limits),
    Spec("constraint_terms", ("q", "v", "decay_rate"), _terms_shapes, _terms),
    *(
        Spec(f"constrained_dynamics{by}", FORCED, lambda model, o: {"qdd": (model.nv,)}, run)
        for by, method in METHODS
        for run in [_by_copies(partial(_dynamics, method), "qdd")]
    ),
    *(
        Spec(f"constrained_motion{by}", FORCED, _motion_shapes, run)
        for by, method in METHODS
        for run in [_by_copies(partial(_motion, method), "qdd", "forces", "unmet")]
    ),
    Spec("inverse_dynamics", ("q", "v", "a", "f_ext"), lambda model, o: {"tau": (model.nv,)}, _inverse),
    Spec("drive_forces", ("q", "v", "a", "f_ext"), _drive_shapes, _drive_forces),
    Spec(
        "onto_constraints",
        ("q", "v"),
        lambda model, o: {"q_near": (model.nq,), "v_near": (model.nv,)},
        _by_copies(_onto, "q_near", "v_near"),
    ),
    Spec(
        "consistent_velocity",
        ("q", "v"),
        lambda model, o: {"v_near": (model.nv,)},
        _by_copies(_consistent, "v_near"),
    ),
    Spec("constrained_reactions", ("q", "v", "a", "forces", "loop_tau", "f_ext"), _reactions_shapes, _reactions),
)
