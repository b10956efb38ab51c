"""What touches in some states of a model: contacts and limits, read and checked; and from there to forces and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from bough.algorithms.touching import Touching, row_counts
from bough.errors import FiniteError, ModelError, ShapeError, UnknownNameError
from bough.kernel.border import FloatArray, as_floats
from bough.kernel.contact.limits import limit_sides, limited_coordinates
from bough.kernel.contact.touching import OneSided, Problem, Settled, Solver, settled
from bough.kernel.run import read, require_model, run
from bough.kernel.specs.spec import Options
from bough.model import Contacts, Model

__all__ = ["ContactMotion", "Scene", "SolverName"]

SolverName: TypeAlias = Literal["pivoting", "gauss_seidel"]

TOUCHING = 1e-6
"""Gaps up to this (m or rad) count as closed."""

UNIT = 1e-6
"""By how much the length of a normal may differ from 1."""


@dataclass(frozen=True, eq=False)
class ContactMotion:
    """How a mechanism moves that touches something, and the forces of all that touches.

    Attributes
    ----------
    motion
        Accelerations v̇ or velocities v (..., nv), whichever was asked for.
    forces
        Forces of contacts on their first bodies (..., k, 3): along the normal and the two tangents of `contact_axes`.
        N, or N s where velocities jump; for `contact_velocities` in the unit of tau. Where contacts are redundant, as
        four on a rigid block are, only their sum is determined, and these are one choice of many: friction of feet
        may cancel.
    limit_forces
        Joint forces of limits (..., nv): positive from a lower limit, negative from an upper one, along coordinates;
        of joints whose v is not the rate of q (planar, free), what these do along v.
    loop_limit_forces
        The same of joints that close loops, one behind the other (..., sum of nv); on the tree Bᵀ of `loop_jacobian`
        times these acts.
    loop_forces
        Forces of the rows of ``model.constraints`` (..., rows), as those of `constrained_motion`.
    residual
        By how much the worst condition of each state fails (...), in units of acceleration or velocity: see
        `complementarity_residual`.
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
    """What a function of contact was given beside states: contacts and how to treat them, read and checked."""

    model: Model
    contacts: Contacts
    place: Mapping[str, FloatArray]
    mu: FloatArray
    gaps: FloatArray
    limits: bool
    solver: Solver
    start: ContactMotion | None

    @staticmethod
    def of(
        model: Model,
        contacts: Contacts | None,
        place: Mapping[str, ArrayLike | None],
        mu: ArrayLike,
        gaps: ArrayLike,
        limits: bool,
        solver: SolverName,
        tolerance: float,
        iterations: int,
        start: ContactMotion | None,
    ) -> Scene:
        """From arguments."""
        contacts = require_contacts(model, contacts)
        arrays = read_place(model, contacts, place)
        if start is not None and not isinstance(start, ContactMotion):
            raise ShapeError(f"start is a {type(start).__name__}, expected a ContactMotion")
        return Scene(
            model,
            contacts,
            arrays,
            per_contact("mu", mu, contacts, "coefficients of friction that are not negative", 0.0),
            per_contact("gaps", gaps, contacts, "distances (m), or infinity"),
            limits,
            Solver(_solver(solver), tolerance, iterations),
            start,
        )

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The bodies of each contact."""
        return self.contacts.bodies(self.model)

    def near_limits(self, q: FloatArray) -> bool:
        """Whether some joint is at a limit."""
        return bool((limit_sides(self.model).gaps(limited_coordinates(self.model, q)) <= TOUCHING).any())

    def run(
        self, name: str, arrays: Mapping[str, ArrayLike | None], limits: bool, further: FloatArray | None = None
    ) -> Case:
        """Run the program of a level, with rows for limits or without. Batch axes of `further` (..., k) count too."""
        with_limits = limits and self.limits and bool(limit_sides(self.model).rows.size)
        rows = Touching(self.pairs, self.contacts.friction is not None, with_limits)
        found = run(self.model, name, {**arrays, **self.place}, Options(touching=rows), whole=True)
        given = [a for a in (self.mu, self.gaps, further) if a is not None]
        q = read(self.model, "q", arrays["q"])  # type: ignore[arg-type]
        try:
            batch = np.broadcast_shapes(found["A"].shape[:-2], *(a.shape[:-1] for a in given))
        except ValueError:
            raise ShapeError(
                f"the batch axes do not broadcast: states {found['A'].shape[:-2]}, mu {self.mu.shape[:-1]}, "
                f"gaps {self.gaps.shape[:-1]}" + ("" if further is None else f", restitution {further.shape[:-1]}")
            ) from None
        return Case(self, rows, batch, {key: flat(a, batch, _axes(key)) for key, a in found.items()}, flat(q, batch, 1))


@dataclass(frozen=True, eq=False)
class Case:
    """A scene in some states, one behind the other, and what the program of a level says of it."""

    scene: Scene
    rows: Touching
    batch: tuple[int, ...]
    found: Mapping[str, FloatArray]
    q: FloatArray

    @cached_property
    def problem(self) -> Problem:
        """The problem of forces."""
        scene, loops = self.scene, len(self.scene.model.constraint_names)
        sides = limit_sides(scene.model) if self.rows.limits else None
        names = (*scene.contacts.names, *(sides.names if sides else ()), *scene.model.constraint_names)
        mu = flat(scene.mu, self.batch, 1)
        return Problem(scene.contacts.friction, sides, names, mu, self.found["A"], loops)

    @cached_property
    def gaps(self) -> FloatArray:
        """Those of contacts and of limits, as one-sided conditions."""
        contacts, sides = flat(self.scene.gaps, self.batch, 1), self.problem.sides
        if sides is None:
            return contacts
        return np.concatenate([contacts, sides.gaps(limited_coordinates(self.scene.model, self.q))], axis=1)

    def of_conditions(self, rows: FloatArray) -> FloatArray:
        """The values of one-sided conditions, from those of all rows."""
        places, signs = self.problem.one_sided
        return np.asarray(signs * rows[:, places])

    def with_loops(self, rows: FloatArray, errors: FloatArray | float) -> FloatArray:
        """Values of all rows, with something added to those of loops."""
        loops, result = self.problem.loops, rows.copy()
        result[:, result.shape[1] - loops :] += errors
        return result

    def solve(self, base: FloatArray, conditions: OneSided, sliding: FloatArray | None = None) -> Settled:
        """Forces of all rows."""
        return settled(self.problem, base, conditions, sliding, self._start(), self.scene.solver)

    def moved(self, free: FloatArray, found: Settled) -> FloatArray:
        """The motion with forces, from that without."""
        return np.asarray(free + np.sum(found.forces[:, :, None] * self.found["response"], axis=1))

    def result(self, motion: FloatArray, found: Settled) -> ContactMotion:
        """What is returned, with the axes of the batch."""
        model, k = self.scene.model, self.scene.contacts.count
        contacts, limits, _ = row_counts(model, self.rows)
        forces, closing = np.zeros((len(motion), k, 3)), sum(loop.joint.nv for loop in model.loops)
        if k:
            forces[:, :, : contacts // k] = found.forces[:, :contacts].reshape(len(motion), k, contacts // k)
        stops: FloatArray = np.zeros((len(motion), model.nv + closing))
        if limits:
            along = found.forces[:, contacts : contacts + limits]
            stops = limit_sides(model).joint_forces(along, self.found["slopes"], model.nv + closing)
        loops = found.forces[:, contacts + limits :]
        parts = (motion, forces, stops[:, : model.nv], stops[:, model.nv :], loops, found.residual)
        a, f, g, c, h, residual = (part.reshape(self.batch + part.shape[1:]) for part in parts)
        return ContactMotion(a, f, g, c, h, residual, found.unmet)

    def _start(self) -> FloatArray | None:
        """Forces of all rows to start from."""
        start = self.scene.start
        if start is None:
            return None
        contacts, limits, _ = row_counts(self.scene.model, self.rows)
        k, axes = self.scene.contacts.count, self.problem.axes
        forces = as_floats("start.forces", start.forces, (k, 3))[..., :axes]
        parts = [flat(forces, self.batch, 2).reshape(math.prod(self.batch), contacts)]
        if limits:
            stops = [flat(part, self.batch, 1) for part in (start.limit_forces, start.loop_limit_forces)]
            slopes = self.found["slopes"]
            parts.append(limit_sides(self.scene.model).along(np.concatenate(stops, axis=1), slopes, limits))
        return np.concatenate([*parts, flat(start.loop_forces, self.batch, 1)], axis=1)


def require_contacts(model: Model, contacts: Contacts | None) -> Contacts:
    """The contacts given, or none at all."""
    require_model(model)
    if contacts is None:
        return Contacts((), None)
    if not isinstance(contacts, Contacts):
        raise ModelError(f"contacts is a {type(contacts).__name__}, expected bough.Contacts")
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
    name: str, value: ArrayLike, contacts: Contacts, expected: str, least: float = -math.inf, most: float = math.inf
) -> FloatArray:
    """A number for each contact (..., k), from one number or from an array."""
    a: FloatArray = as_floats(name, value, ()).astype(np.float64)
    a = np.full(contacts.count, a) if a.ndim == 0 else as_floats(name, a, (contacts.count,), "one for each contact")
    infinite_too = name == "gaps"
    bad = ~((a >= least) & (a <= most)) | (np.isinf(a) & ~(infinite_too & (a > 0)))
    if bad.any():
        place = tuple(int(x) for x in np.argwhere(bad)[0])
        error = FiniteError if not np.isfinite(a[place]) else ShapeError
        raise error(f"{name}{list(place)} is {a[place]}, expected {expected}")
    return a


def flat(a: FloatArray, batch: tuple[int, ...], axes: int) -> FloatArray:
    """States one behind the other."""
    rest = a.shape[a.ndim - axes :]
    return np.ascontiguousarray(np.broadcast_to(a, (*batch, *rest))).reshape(math.prod(batch), *rest)


def _axes(key: str) -> int:
    return 2 if key in ("A", "response") else 1


def _solver(name: object) -> Literal["pivoting", "gauss_seidel"]:
    for known in get_args(SolverName):
        if name == known:
            return known  # type: ignore[no-any-return]
    raise UnknownNameError("solver", name, get_args(SolverName))
