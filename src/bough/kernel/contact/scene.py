"""What touches in some states of a model: contacts and limits, read and checked; from there to motion and forces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from bough.algorithms.contact_problem import ContactPlan, contact_rows, sides_of
from bough.algorithms.contacts import of_unit_length
from bough.algorithms.joint_bounds import bounded_names, dry_frictions, speed_limits
from bough.algorithms.levels import Dry
from bough.algorithms.limits import limit_sides
from bough.complementarity import UNMET, ContactRows, ForceProblem
from bough.errors import FiniteError, ModelError
from bough.kernel.arguments import FloatArray, as_floats
from bough.kernel.compile import get_backend
from bough.kernel.contact.careful import forces_of_state, impact_of_state, unmet_by_sweeps
from bough.kernel.function import Function, Results, Verdicts
from bough.kernel.functions import (
    inputs_of,
    mechanism,
    new_function,
    outputs_of,
    require_constraints,
    require_model,
    require_regular,
)
from bough.kernel.motion import Motion, unmet_names
from bough.kernel.overflow import require_finite_results
from bough.kernel.specs import spec
from bough.kernel.specs.contact import START, forces_of_rows, row_forces
from bough.kernel.specs.spec import Options
from bough.kernel.table import entry
from bough.kernel.tensors import library_of
from bough.kernel.verdict import DOUBT, all_in_doubt
from bough.model import Contacts, Model, Touch
from bough.model.contacts import NUMBERS, require_numbers
from bough.reading import kind_of, known_name, listed
from bough.scalar.lazy import cached_property
from bough.scalar.tolerances import UNIT_LENGTH

__all__ = ["LimitKind", "Scene", "place_of", "read_limits", "require_touch", "require_unit", "scene_of"]

NO_TOUCH = Contacts((), None).at(np.zeros((0, 3)), np.zeros((0, 3)))

ONE_NORMAL = ((3,), (1, 3))

UNDECIDED = 2.0
"""Status of a state for which the search for forces ended without an answer; 1 without a solution, 0 with one."""

START_FORCES = {"contacts": "contact", "limits": "limit", "loop_limits": "loop_limit", "loops": "loop"}
"""What forces to start from are called, and forces that are found."""


@dataclass(frozen=True, eq=False)
class Scene:
    """A level of a model with contacts, and with rows for limits or without; made once."""

    model: Model
    contacts: Contacts
    level: str
    options: Options

    @cached_property
    def rows(self) -> ContactRows:
        """What its problems of forces consist of."""
        return contact_rows(self.model, self.options.plan, self.level)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of contacts, sides of limits, rows of loops, and dry friction."""
        plan = self.options.plan
        sides = sides_of(self.model, plan).names if self.rows.limits else ()
        dry = (f"dry friction of {bounded_names(self.model)[k]}" for k, _ in plan.dry)
        return (*self.contacts.names, *sides, *self.model.constraint_names, *dry)

    def motion(self, *arrays: Any) -> Motion:
        """The motion and all forces, from the inputs of the level in order."""
        results = entry(self, "motion", _motion)(*arrays, None, True)
        motion, touch, at_limits, closing, loops, dry, residual, status, unmet = results
        conflicts: tuple[str, ...] = ()
        if type(status) is not np.ndarray or (status.any() if status.ndim else status):
            conflicts = unmet_names(self.names, status, unmet)
        undecided = status == UNDECIDED
        of_tree, of_loops = dry[..., : self.model.nv], dry[..., self.model.nv :]
        return Motion(motion, touch, at_limits, closing, loops, residual, conflicts, undecided, of_tree, of_loops)

    def number(self, name: str, value: ArrayLike | float) -> Any:
        """A number for each contact (..., k), from one number or from an array that is looked at by the program."""
        count = self.contacts.count
        if type(value) is float:
            return _uniform(name, value, count)
        a = side_by_side(value) if isinstance(value, np.ndarray) else as_floats(name, value, ())
        if a.ndim == 0:
            return np.full(count, a, np.float64)
        return np.broadcast_to(a, (*a.shape[:-1], count)) if a.shape[-1] == 1 < count else a


def _motion(scene: Scene, key: str) -> Function:
    """The program of a level. Where the reference back-end would interpret it for long, all states go the other way."""
    options, model = scene.options, scene.model
    made = new_function(model, scene.level, options, lambda *verdict: _explained(scene, *verdict))
    made.look_closer = lambda arrays: _look_closer(scene, arrays)
    if get_backend() == "reference" and options.plan.friction != "cone" and not options.plan.sweeps:
        rule, count = all_in_doubt(made.outputs), scene.contacts.count
        made.rule = lambda **x: {**rule(**x), "unit": of_unit_length(x["normals"], count)}
    return made


def _problem(scene: Scene, name: str) -> Function:
    """What states the problem of forces: needed seldom, so loops stay loops, which compiles in a third of the time."""
    made = new_function(scene.model, name, scene.options)
    made.rolled = True if get_backend() != "reference" else None  # there it would only be slower
    return made


def _explained(scene: Scene, arrays: dict[str, FloatArray], results: Results, verdicts: Verdicts) -> Results:
    """Look at the numbers of contacts, and find the forces of states in which the program did not."""
    model = scene.model
    require_regular(model, verdicts, arrays["q"])
    _look_closer(scene, arrays)
    doubtful = np.asarray((verdicts.astype(np.int64) & DOUBT) != 0)
    if not doubtful.any():
        return results
    results = tuple(np.array(a) if not a.flags.writeable else a for a in results)
    shapes = {a.name: a.shape for a in inputs_of(model, scene.level, scene.options)}
    some = {name: np.broadcast_to(a, (*doubtful.shape, *shapes[name]))[doubtful] for name, a in arrays.items()}
    is_warm = any(some[name].any() for name in START if name in some and name != "stop")
    if is_warm and not scene.options.plan.sweeps:  # if a start leads astray, the program may find a way without
        cold = [None if name in START else some.get(name) for name in shapes]
        for all_states, part in zip(results, entry(scene, "motion", _motion)(*cold, None, True), strict=True):
            all_states[doubtful] = part
        return results
    row, outputs = spec(f"{scene.level}_problem"), [a.name for a in outputs_of(model, scene.level, scene.options)]
    problem = entry(scene, row.name, _problem)(*map(some.get, row.inputs), None, True)
    some |= dict(zip(row.shapes(model, scene.options), problem, strict=True))
    with np.errstate(over="ignore", invalid="ignore"):
        for k, place in enumerate(map(tuple, np.argwhere(doubtful))):
            found = {name: a[place] for name, a in zip(outputs, results, strict=True)}
            found |= _careful_state(scene, {name: a[k] for name, a in some.items()}, found)
            for name, a in zip(outputs, results, strict=True):
                a[place] = np.reshape(found[name], a[place].shape)
    require_finite_results("motion with contacts", *results)
    return results


def _careful_state(scene: Scene, given: Mapping[str, FloatArray], before: Mapping[str, FloatArray]) -> dict[str, Any]:
    """The results of one state from the numbers of its problem; of sweeps, what their forces leave unmet."""
    m, rows, plan = mechanism(scene.model), scene.rows, scene.options.plan
    parts: dict[str, Any] = dict(given)
    parts["active"], parts["sticks"] = given["active"] > 0.0, given["sticks"] > 0.0
    problem = ForceProblem(rows, **{field.name: parts[field.name] for field in fields(ForceProblem)[1:]})
    slopes = given["slopes"].tolist()
    if plan.sweeps:
        start = {f"start_{key}": before[f"{name}_forces"].ravel() for key, name in START_FORCES.items()}
        forces = np.array(row_forces(scene.model, plan, rows, slopes, start))
        forces[rows.bounded :] = before["friction_forces"][[k for k, _ in plan.dry]] * problem.sticks
        unmet = unmet_by_sweeps(problem, forces, UNMET * float(given["stop"][0]))
        return {"status": UNDECIDED * unmet.any(), "unmet": unmet}
    found = impact_of_state(problem, given["restitution"]) if "restitution" in given else forces_of_state(problem)
    dry = [Dry(*one) for one in zip(*(parts[name].tolist() for name in ("most", "sticks", "known")), strict=True)]
    return {
        **forces_of_rows(m, plan, rows, found.forces.tolist(), slopes, dry),
        "motion": given["free"] + found.forces @ given["response"],
        "residual": found.residual,
        "status": UNDECIDED if found.undecided else float(found.unmet.any()),
        "unmet": found.unmet,
    }


def _look_closer(scene: Scene, arrays: Mapping[str, FloatArray]) -> None:
    """Raise for numbers of contacts that are out of their bounds, and normals that are not of unit length."""
    for name in NUMBERS:
        if name in arrays:
            require_numbers(name, np.asarray(arrays[name]))
    require_unit(np.asarray(arrays["normals"]), scene.contacts)
    if scene.model.constraints:
        require_constraints(scene.model, np.asarray(arrays["q"]))


LimitKind: TypeAlias = Literal["position", "velocity", "effort"]
LIMIT_KINDS: tuple[LimitKind, ...] = get_args(LimitKind)


def read_limits(limits: Any) -> tuple[LimitKind, ...]:
    """Return which limits to include: those named, position limits if True, or none."""
    if limits is True:
        return LIMIT_KINDS[:1]
    if isinstance(limits, bool | np.bool_):
        return LIMIT_KINDS[:1] if limits else ()
    expected = f"True, False or some of {', '.join(map(repr, LIMIT_KINDS))}"
    given = (limits,) if isinstance(limits, str) else listed(limits, "limits", expected, ModelError)
    for name in given:
        known_name(name, "sort of limits", LIMIT_KINDS)
    return tuple(kind for kind in LIMIT_KINDS if kind in given)


@lru_cache(maxsize=256)
def scene_of(
    model: Model, contacts: Contacts, level: str, limits: tuple[LimitKind, ...], dry: bool, sweeps: bool
) -> Scene:
    """The scene of a level."""
    positions = "position" in limits and bool(limit_sides(model).rows.size)
    efforts = (*model.limits("effort").tolist(), *model.loop_limits("effort").tolist()) if "effort" in limits else ()
    plan = ContactPlan(
        contacts.bodies(model),
        contacts.friction,
        positions,
        sweeps,
        speed_limits(model) if "velocity" in limits else (),
        efforts,
        dry_frictions(model) if dry else (),
    )
    return Scene(model, contacts, level, Options(plan=plan))


def require_touch(model: Model, touch: object) -> Touch:
    """The touch given, or one without contacts."""
    require_model(model)
    if touch is None:
        return NO_TOUCH
    if not isinstance(touch, Touch):
        made = "contacts.at(points, normals, …)"
        expected = made if isinstance(touch, Contacts) else f"a bough.contact.Touch: {made}"
        raise ModelError(f"touch is {kind_of(touch)}, expected {expected}")
    if not isinstance(touch.contacts, Contacts):
        raise ModelError(f"contacts is {kind_of(touch.contacts)}, expected bough.contact.Contacts")
    return touch


def place_of(touch: Touch) -> tuple[Any, Any]:
    """Points and normals; without contacts, empty lists will do, and one normal for all of them."""
    points, normals = touch.points, touch.normals
    if touch.contacts.pairs:
        return side_by_side(points), side_by_side(_all_normals(touch))
    no_place = NO_TOUCH.points
    points = no_place if as_floats("points", points, ()).shape == (0,) else points
    return points, no_place if as_floats("normals", normals, ()).shape in ((0,), (3,)) else normals


def side_by_side(value: Any) -> Any:
    """Numbers of one state that lie apart, as columns of placements do, side by side: sooner here than by the entry."""
    if type(value) is not np.ndarray or value.flags.c_contiguous or value.ndim > 2:
        return value
    return value.copy()


def _all_normals(touch: Touch) -> Any:
    """The normals, where one alone is that of all contacts."""
    normals: Any = touch.normals
    count = len(touch.contacts.pairs)
    if type(normals) is np.ndarray and normals.ndim > 1 and normals.shape[-2] == count:
        return normals  # the usual
    if isinstance(normals, list | tuple):
        normals = as_floats("normals", normals, ())
    library = library_of(normals)
    if (library is np and not isinstance(normals, np.ndarray)) or tuple(normals.shape[-2:]) not in ONE_NORMAL:
        return normals
    every = library.broadcast_to(normals, (*normals.shape[:-2], count, 3))
    return every.copy() if library is np else every


def require_unit(normals: FloatArray, contacts: Contacts) -> None:
    """Raise, naming the contact, unless all normals have length 1."""
    with np.errstate(over="ignore", invalid="ignore"):  # what is not of unit length may have any
        lengths = np.sqrt(np.sum(normals * normals, axis=-1))
    wrong = ~(np.abs(lengths - 1.0) <= UNIT_LENGTH)
    if wrong.any():
        place = tuple(int(x) for x in np.argwhere(wrong)[0])
        state = f" in state {list(place[:-1])}" if place[:-1] else ""
        raise FiniteError(f"{contacts.names[place[-1]]}: its normal has length {lengths[place]:.9g}{state}, expected 1")


@lru_cache(maxsize=256)
def _uniform(name: str, value: float, count: int) -> FloatArray:
    """A number for all contacts."""
    result: FloatArray = np.full(count, value)
    require_numbers(name, np.array([value]))
    result.setflags(write=False)
    return result
