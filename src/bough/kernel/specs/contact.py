"""The algorithms of contact: a row each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from bough.algorithms import levels
from bough.algorithms.contact_problem import ContactPlan, applied_force, contact_rows, driven_force, sides_of
from bough.algorithms.contacts import AXES, Place, contact_terms, of_unit_length
from bough.algorithms.joint_bounds import bounded_names
from bough.algorithms.levels import FAR, Dry, Level
from bough.complementarity import ContactRows, ForceProblem, by_pivoting, by_sweeps, contact_forces
from bough.complementarity.contact_forces import Found, Solve
from bough.kernel.arguments import Shape
from bough.kernel.specs.spec import Options, Outputs, Spec
from bough.model import Mechanism, Model
from bough.scalar import Array, Bool, Scalar, both, either, filled, indexable, negation, select

__all__ = ["CONTACT", "LEVELS", "START", "forces_of_rows", "row_forces"]

PLACE = ("points", "normals")
MOVING_PLACE = (*PLACE, "point_velocities", "normal_velocities")
FORCES = ("tau", "f_ext", "loop_tau")
NUMBERS = ("gaps", "mu")
SETTINGS = (*NUMBERS, "settings")
"""Gaps and friction of contacts; the rate at which errors decay (1/s), and the velocity that counts as none or the step
of time."""

START = ("start_contacts", "start_limits", "start_loop_limits", "start_loops", "stop")
"""Forces to start from, and for Gauss-Seidel the tolerance and number of sweeps to stop at."""


def _jacobian(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    return {"J": contact_terms(m, o.plan.pairs, x["q"], None, _place(x)).matrix, "unit": _unit(o, x)}


def _bias(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    return {"bias": contact_terms(m, o.plan.pairs, x["q"], x["v"], _place(x)).bias, "unit": _unit(o, x)}


def _unit(o: Options, x: dict[str, Array]) -> Bool:
    return of_unit_length(x["normals"], len(o.plan.pairs))


def _place(x: dict[str, Array]) -> Place:
    return Place(x["points"], x["normals"], x.get("point_velocities"), x.get("normal_velocities"))


# ---- levels ----------------------------------------------------------------------------------------------------------


def _accelerations(m: Mechanism, plan: ContactPlan, x: dict[str, Array]) -> Level:
    force = applied_force(m, plan, x["q"], x["v"], x["tau"], x.get("f_ext"), x.get("loop_tau"))
    return levels.acceleration_level(m, plan, x["q"], x["v"], force, _place(x), x["gaps"], *_pair(x))


def _step(m: Mechanism, plan: ContactPlan, x: dict[str, Array]) -> Level:
    force = applied_force(m, plan, x["q"], x["v"], x["tau"], x.get("f_ext"), x.get("loop_tau"))
    return levels.step_level(m, plan, x["q"], x["v"], force, _place(x), x["gaps"], *_pair(x))


def _velocities(m: Mechanism, plan: ContactPlan, x: dict[str, Array]) -> Level:
    force = driven_force(m, plan, x["q"], x["tau"], x.get("loop_tau"))
    return levels.velocity_level(m, plan, x["q"], force, _place(x), x["gaps"], _pair(x)[0])


def _impulses(m: Mechanism, plan: ContactPlan, x: dict[str, Array]) -> Level:
    return levels.impulse_level(m, plan, x["q"], x["v"], _place(x), x["gaps"])


def _pair(x: dict[str, Array]) -> tuple[Scalar, Scalar]:
    return x["settings"][0], x["settings"][1]


def _level(
    name: str, inputs: Sequence[str], level: Callable[[Mechanism, ContactPlan, dict[str, Array]], Level]
) -> Spec:
    """The motion and all forces at a level."""

    def shapes(model: Model, o: Options) -> dict[str, Shape]:
        closing = sum(loop.joint.nv for loop in model.loops)
        rows = contact_rows(model, o.plan, name)
        result: dict[str, Shape] = {"motion": (model.nv,), "contact_forces": (rows.contacts, AXES)}
        result |= {"limit_forces": (model.nv,), "loop_limit_forces": (closing,), "loop_forces": (rows.loops,)}
        result |= {"friction_forces": (len(bounded_names(model)) if rows.boxes else 0,)}
        return result | {"residual": (), "status": (), "unmet": (_conditions(rows),)}

    def run(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
        rows, at, k = contact_rows(m.model, o.plan, name), level(m, o.plan, x), len(o.plan.pairs)
        solve: Solve = partial(by_sweeps, x["stop"]) if o.plan.sweeps else by_pivoting
        start = row_forces(m.model, o.plan, rows, at.rows.slopes, x) if "start_contacts" in x else None
        found = _struck(rows, at, x, solve, start) if "restitution" in x else _found(rows, at, at.base, x, solve, start)
        moved = at.rows.motion(found.forces)
        free = filled(m.model.nv, lambda i: at.free[i] + moved[i])
        return {
            "motion": free,
            **forces_of_rows(m, o.plan, rows, found.forces, at.rows.slopes, at.dry),
            "residual": [found.worst],
            "status": [0.0],
            "unmet": [0.0] * _conditions(rows),
            "pivots": at.rows.response.pivots,
            "unit": _unit(o, x),
            "doubt": either(found.doubtful, negation(_sound(x, k))),
        }

    further = (*(("restitution",) if name == "contact_impulses" else ()), *START)
    return Spec(name, (*inputs, *further), shapes, run)


def _problem(
    name: str, inputs: Sequence[str], level: Callable[[Mechanism, ContactPlan, dict[str, Array]], Level]
) -> Spec:
    """The problem of forces itself, for those who solve it otherwise."""

    def shapes(model: Model, o: Options) -> dict[str, Shape]:
        rows = contact_rows(model, o.plan, name)
        n, conditions = rows.count, rows.contacts + len(rows.sides)
        slopes = sides_of(model, o.plan).slopes[0].size if rows.limits else 0
        result: dict[str, Shape] = {"A": (n, n), "base": (n,), "offset": (conditions,), "active": (conditions,)}
        result |= {"sliding": (2 * rows.contacts if rows.slides else 0,), "slopes": (slopes,)}
        result |= {"most": (rows.boxes,), "sticks": (rows.boxes,), "known": (rows.boxes,)}
        return result | {"response": (n, model.nv), "free": (model.nv,)}

    def run(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
        at = level(m, o.plan, x)
        return {
            "A": at.rows.response.A,
            "base": at.base,
            "offset": at.offset,
            "active": [select(on, 1.0, 0.0) for on in at.active],
            "sliding": at.sliding,
            "slopes": at.rows.slopes,
            "most": [dry.most for dry in at.dry],
            "sticks": [select(dry.sticks, 1.0, 0.0) for dry in at.dry],
            "known": [dry.known for dry in at.dry],
            "response": at.rows.columns(),
            "free": at.free,
            "pivots": at.rows.response.pivots,
            "unit": _unit(o, x),
        }

    return Spec(f"{name}_problem", tuple(inputs), shapes, run)


def _found(
    rows: ContactRows, at: Level, base: Sequence[Scalar], x: dict[str, Array], solve: Solve, start: Array | None
) -> Found:
    dry = ([one.most for one in at.dry], [one.sticks for one in at.dry])
    problem = ForceProblem(rows, at.rows.response.A, base, at.offset, at.active, at.sliding, x["mu"], *dry)
    return contact_forces(problem, solve, start)


def _struck(rows: ContactRows, at: Level, x: dict[str, Array], solve: Solve, start: Array | None) -> Found:
    """An impact with restitution; and then another one without, for what still approaches."""
    n, e, base = rows.count, x["restitution"], list(at.base)
    for c in range(rows.contacts):
        base[c * rows.axes] = base[c * rows.axes] * (1.0 + e[c])
    first = _found(rows, at, base, x, solve, start)
    bounces: Bool = False
    for c in range(rows.contacts):
        bounces = either(bounces, e[c] > 0.0)

    def after(i: int) -> Scalar:
        y: Scalar = at.base[i]
        for j in range(n):
            y = y + at.rows.response.A[i * n + j] * first.forces[j]
        return y

    more = _found(rows, at, [after(i) for i in range(n)], x, solve, start)
    forces = indexable(n, [first.forces[i] + select(bounces, more.forces[i], 0.0) for i in range(n)])
    worst = select(both(bounces, more.worst > first.worst), more.worst, first.worst)
    return Found(forces, worst, either(first.doubtful, both(bounces, more.doubtful)))


def forces_of_rows(
    m: Mechanism, plan: ContactPlan, rows: ContactRows, forces: Array, slopes: Sequence[Scalar], dry: Sequence[Dry]
) -> Outputs:
    """Forces of all rows as users know them: along the axes of contacts, on joints of the tree and on loops."""
    stops: list[Scalar] = [0.0] * (m.model.nv + sum(loop.joint.nv for loop in m.model.loops))
    for slope, row, velocity in _slopes(m.model, plan, rows, slopes):
        stops[velocity] = stops[velocity] + slope * forces[rows.fixed + row]
    friction: list[Scalar] = [0.0] * (len(bounded_names(m.model)) if plan.dry else 0)
    for row, ((k, _), one) in enumerate(zip(plan.dry, dry, strict=True), start=rows.bounded):
        friction[k] = select(one.sticks, forces[row], one.known)
    axes = [(c * rows.axes + axis, axis < rows.axes) for c in range(rows.contacts) for axis in range(AXES)]
    return {
        "contact_forces": [forces[row] if there else 0.0 for row, there in axes],
        "limit_forces": stops[: m.model.nv],
        "loop_limit_forces": stops[m.model.nv :],
        "loop_forces": [forces[rows.touch + i] for i in range(rows.loops)],
        "friction_forces": friction,
    }


def row_forces(
    model: Model, plan: ContactPlan, rows: ContactRows, slopes: Sequence[Scalar], x: Mapping[str, Array]
) -> list[Scalar]:
    """Forces of all rows that make about the forces given: along coordinates with limits just these, if orthogonal."""
    forces: list[Scalar] = [x["start_contacts"][c * AXES + a] for c in range(rows.contacts) for a in range(rows.axes)]
    forces += [x["start_loops"][i] for i in range(rows.loops)]
    along: list[Scalar] = [0.0] * rows.limits
    squares: list[Scalar] = [0.0] * rows.limits
    for slope, row, velocity in _slopes(model, plan, rows, slopes):
        nv = model.nv
        given = x["start_limits"][velocity] if velocity < nv else x["start_loop_limits"][velocity - nv]
        along[row], squares[row] = along[row] + slope * given, squares[row] + slope * slope
    forces += [f / select(s > 0.0, s, 1.0) for f, s in zip(along, squares, strict=True)]
    return [*forces, *[0.0] * rows.boxes]


def _slopes(
    model: Model, plan: ContactPlan, rows: ContactRows, slopes: Sequence[Scalar]
) -> Iterable[tuple[Scalar, int, int]]:
    """The slopes of coordinates with limits, each with the number of its coordinate and its velocity."""
    places = sides_of(model, plan).slopes if rows.limits else ()
    return zip(slopes, *(part.tolist() for part in places), strict=True) if places else ()


def _conditions(rows: ContactRows) -> int:
    """How many conditions have names: contacts, sides of limits, rows of loops, dry friction."""
    return rows.contacts + len(rows.sides) + rows.loops + rows.boxes


def _sound(x: dict[str, Array], k: int) -> Bool:
    """Whether gaps are numbers or infinite, and coefficients within their bounds."""
    sound: Bool = True
    for c in range(k):
        sound = both(sound, both(x["gaps"][c] > -FAR, x["mu"][c] >= 0.0))
        if "restitution" in x:
            sound = both(sound, both(x["restitution"][c] >= 0.0, x["restitution"][c] <= 1.0))
    return sound


LEVELS = (
    ("contact_dynamics", ("q", "v", *FORCES, *MOVING_PLACE, *SETTINGS), _accelerations),
    ("contact_step", ("q", "v", *FORCES, *PLACE, *SETTINGS), _step),
    ("contact_velocities", ("q", "tau", "loop_tau", *PLACE, *SETTINGS), _velocities),
    ("contact_impulses", ("q", "v", *PLACE, *NUMBERS), _impulses),
)
"""The levels: what each takes, and its problem of forces."""

CONTACT = (
    Spec("contact_jacobian", ("q", *PLACE), lambda model, o: {"J": (len(o.plan.pairs), AXES, model.nv)}, _jacobian),
    Spec("contact_bias", ("q", "v", *MOVING_PLACE), lambda model, o: {"bias": (len(o.plan.pairs), AXES)}, _bias),
    *(_level(*row) for row in LEVELS),
    *(_problem(*row) for row in LEVELS),
)
