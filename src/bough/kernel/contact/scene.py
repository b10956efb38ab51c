"""What touches in some states of a model: contacts and limits, read and checked; and from there to forces and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from bough.algorithms.contacts import AXES, UNIT
from bough.algorithms.limits import limit_sides
from bough.algorithms.touching import Touching
from bough.complementarity import ContactRows
from bough.errors import FiniteError, ModelError, ShapeError
from bough.kernel.arguments import FloatArray, as_floats
from bough.kernel.contact.touching import Settled
from bough.kernel.function import Function, Results, Verdicts
from bough.kernel.functions import mass_matrices, new_function, read, require_model, require_regular
from bough.kernel.specs import spec
from bough.kernel.specs.contact import problem_rows
from bough.kernel.specs.spec import Options
from bough.kernel.table import entry
from bough.model import Contacts, Model
from bough.scalar.lazy import cached_property

__all__ = [
    "NO_PLACE",
    "ContactMotion",
    "Scene",
    "per_contact",
    "read_place",
    "require_contacts",
    "require_unit",
    "scene_of",
]

NONE = Contacts((), None)
NO_PLACE = {"points": np.zeros((0, 3)), "normals": np.zeros((0, 3))}

PLACE = ("points", "normals", "point_velocities", "normal_velocities")
MOVING = ("point_velocities", "normal_velocities")


@dataclass(frozen=True, eq=False)
class ContactMotion:
    """How a mechanism moves that touches something, and the forces of all that touches.

    Attributes
    ----------
    motion
        Accelerations v̇ or velocities v (..., nv), whichever was asked for.
    forces
        Forces of contacts on their first bodies (..., k, 3): along the normal and the two tangents of `contact.axes`.
        N, or N s where velocities jump; for `contact.velocities` in the unit of tau. Where contacts are redundant, as
        four on a rigid block are, only their sum is determined, and these are one choice of many: friction of feet
        may cancel.
    limit_forces
        Joint forces of limits (..., nv): positive from a lower limit, negative from an upper one, along coordinates;
        of joints whose v is not the rate of q (planar, free), what these do along v.
    loop_limit_forces
        The same of joints that close loops, one behind the other (..., sum of nv); on the tree Bᵀ of
        `loops.coordinate_jacobian` times these acts.
    loop_forces
        Forces of the rows of ``model.constraints`` (..., rows), as those of `loops.motion`.
    residual
        By how much the worst condition of each state fails (...), in units of acceleration or velocity: see
        `lcp.residual`.
    conflicts
        Names of contacts, limits and rows of loops whose conditions are not met in some state: since nothing meets
        them together (pivoting), or not to 100 times the tolerance within the sweeps (Gauss-Seidel).
    """

    motion: FloatArray
    forces: FloatArray
    limit_forces: FloatArray
    loop_limit_forces: FloatArray
    loop_forces: FloatArray
    residual: FloatArray
    conflicts: tuple[str, ...]


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
        return problem_rows(self.model, self.level, self.options.touching)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of contacts, sides of limits, and rows of loops."""
        sides = limit_sides(self.model).names if self.rows.limits else ()
        return (*self.contacts.names, *sides, *self.model.constraint_names)

    def problem(self, arrays: Mapping[str, ArrayLike | None]) -> FloatArray:
        """The problem of forces in each state (*batch, size)."""
        place = [arrays.get(key) for key in PLACE[:2]]
        if not all(type(a) is np.ndarray and a.dtype == np.float64 for a in place):
            arrays = {**arrays, **read_place(self.model, self.contacts, {key: arrays.get(key) for key in PLACE})}
        names = spec(self.level).inputs
        problem: FloatArray = entry(self, "problem", _problem)(*map(arrays.get, names), None, True)
        return problem

    def motion(self, found: Settled) -> ContactMotion:
        """What is returned."""
        rows, model, batch = self.rows, self.model, found.motion.shape[:-1]
        contacts, forces, k = rows.touch, found.forces, rows.contacts
        if rows.friction:
            touch = forces[..., :contacts].reshape(*batch, k, AXES)
        else:
            touch = np.zeros((*batch, k, AXES))
            touch[..., 0] = forces[..., :contacts]
        along, stops = forces[..., contacts : contacts + rows.limits], np.zeros((*batch, model.nv + self._closing))
        if along.any():
            size, states = stops.shape[-1], math.prod(batch)
            along, slopes = (a.reshape(states, a.shape[-1]) for a in (along, found.slopes))
            stops = limit_sides(model).joint_forces(along, slopes, size).reshape(*batch, size)
        at_limits, closing = stops[..., : model.nv], stops[..., model.nv :]
        loops = forces[..., contacts + rows.limits :]
        motion = np.ascontiguousarray(found.motion)
        return ContactMotion(motion, touch, at_limits, closing, loops, found.residual, found.unmet)

    def forces(self, start: ContactMotion, problem: FloatArray) -> FloatArray:
        """Forces of all rows (*batch, rows), from those of a result."""
        rows, batch = self.rows, problem.shape[:-1]
        touch = as_floats("start.forces", start.forces, (rows.contacts, AXES))[..., : rows.axes]
        parts = [touch.reshape(*touch.shape[:-2], rows.touch), start.limit_forces, start.loop_limit_forces]
        parts = [np.broadcast_to(part, (*batch, part.shape[-1])) for part in (*parts, start.loop_forces)]
        touch, at_limits, closing, loops = (part.reshape(math.prod(batch), part.shape[-1]) for part in parts)
        along: FloatArray = np.zeros((len(touch), 0))
        if rows.limits:
            stops, slopes = np.concatenate([at_limits, closing], axis=1), problem[..., rows.parts["slopes"]]
            along = limit_sides(self.model).along(stops, slopes.reshape(len(touch), rows.slopes), rows.limits)
        return np.concatenate([touch, along, loops], axis=1, dtype=np.float64).reshape(*batch, rows.count)

    @cached_property
    def _closing(self) -> int:
        return sum(loop.joint.nv for loop in self.model.loops)


def _problem(scene: Scene, key: str) -> Function:
    """The program of a level; normals that are not of unit length are refused by name."""

    def explain(arrays: dict[str, FloatArray], results: Results, verdicts: Verdicts) -> Results:
        require_regular(scene.model, verdicts, mass_matrices(scene.model, arrays["q"], verdicts))
        return results

    made = new_function(scene.model, scene.level, scene.options, explain)
    made.look_closer = lambda arrays: require_unit(arrays["normals"], scene.contacts)
    return made


@lru_cache(maxsize=256)
def scene_of(model: Model, contacts: Contacts, level: str, limits: bool) -> Scene:
    """The scene of a level."""
    limits = limits and bool(limit_sides(model).rows.size)
    return Scene(model, contacts, level, Options(touching=Touching(contacts.bodies(model), contacts.friction, limits)))


def require_contacts(model: Model, contacts: Contacts | None) -> Contacts:
    """The contacts given, or none at all."""
    require_model(model)
    if contacts is None:
        return NONE
    if not isinstance(contacts, Contacts):
        raise ModelError(f"contacts is a {type(contacts).__name__}, expected bough.contact.Contacts")
    return contacts


def read_place(model: Model, contacts: Contacts, place: Mapping[str, ArrayLike | None]) -> dict[str, FloatArray]:
    """Points, unit normals and their velocities."""
    options = Options(touching=Touching(contacts.bodies(model)))
    arrays: dict[str, FloatArray] = {}
    for key, value in place.items():
        if value is not None and not contacts.count and np.shape(value) == (0,):  # an empty list will do
            value = None
        if value is None and key in ("points", "normals"):
            if contacts.count:
                raise ShapeError(f"{key} is None, expected an array (..., {contacts.count}, 3)")
            value = np.zeros((0, 3))
        if value is not None:
            arrays[key] = read(model, key, value, options=options).astype(np.float64, copy=False)
    if "normals" in arrays:
        require_unit(arrays["normals"], contacts)
    return arrays


def require_unit(normals: FloatArray, contacts: Contacts) -> None:
    """Raise, naming the contact, unless all normals have length 1."""
    lengths = np.sqrt(np.sum(normals * normals, axis=-1))
    wrong = np.abs(lengths - 1.0) > UNIT
    if wrong.any():
        place = tuple(int(x) for x in np.argwhere(wrong)[0])
        state = f" in state {list(place[:-1])}" if place[:-1] else ""
        raise FiniteError(f"{contacts.names[place[-1]]}: its normal has length {lengths[place]:.9g}{state}, expected 1")


def per_contact(
    name: str, value: ArrayLike | float, count: int, expected: str, least: float = -math.inf, most: float = math.inf
) -> FloatArray:
    """A number for each contact (..., k), from one number or from an array; infinite ones only where `most` is."""
    if isinstance(value, float):
        return _uniform(name, value, count, expected, least, most)
    a: FloatArray = as_floats(name, value, ()).astype(np.float64, copy=False)
    a = np.full(count, a) if a.ndim == 0 else as_floats(name, a, (count,), "one for each contact")
    if a.size and not (least <= a.min() and a.max() <= most and a.min() > -math.inf):
        bad = ~((a >= least) & (a <= most) & (a > -math.inf))
        place = tuple(int(x) for x in np.argwhere(bad)[0])
        error = FiniteError if not np.isfinite(a[place]) else ShapeError
        raise error(f"{name}{list(place)} is {a[place]}, expected {expected}")
    return a


@lru_cache(maxsize=256)
def _uniform(name: str, value: float, count: int, expected: str, least: float, most: float) -> FloatArray:
    result = per_contact(name, np.array(value), count, expected, least, most)
    result.setflags(write=False)
    return result
