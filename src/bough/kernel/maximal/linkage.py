"""Bodies and constraints of many kinds in maximal coordinates: the public class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.errors import AssemblyError, ModelError
from bough.kernel.arguments import FloatArray
from bough.kernel.loops.constrained import TIME_CONSTANT, stabilisation
from bough.kernel.maximal import linkage_programs as programs
from bough.kernel.maximal.linkage_models import parts_of, require_rigid
from bough.kernel.maximal.linkage_programs import LinkageTerms
from bough.kernel.motion import Motion, motion_under_constraints, unmet_names
from bough.lagrange.bodies import Body
from bough.lagrange.constraints import Constraint
from bough.lagrange.layout import Layout, read_layout
from bough.lagrange.linkage import Level
from bough.model import BASE, Model
from bough.model.arguments import require_name
from bough.reading import kind_of, known_name, number
from bough.scalar.lazy import cached_property
from bough.scalar.tolerances import ASSEMBLED

__all__ = ["Linkage", "LinkageTerms"]

STEPS = 50
"""Newton steps after which a projection gives up."""


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Linkage:
    """Bodies in maximal coordinates, and constraints between them, both of many kinds; immutable.

    The kinds are in `bough.maximal.bodies` and `bough.maximal.constraints`; users may write others. The state is x (nx
    numbers) and v (nv numbers), those of all bodies concatenated. Constraints that close no loop, between two bodies or
    a body and the world, are *primary* and solved in linear time. All others are *auxiliary* and solved on top of the
    primary ones. Arrays may have any leading batch axes; computations are in float64.

    Parameters
    ----------
    bodies
        Each body by name.
    constraints
        Each constraint by name, with the names of its bodies: ``{"rod": (Distance(1.0), "a", "b")}``. ``"world"`` is
        also a body, and the default for omitted names at the end.
    gravity
        Acceleration of gravity (m/s²); default: along -z. Planar bodies use its x and y, so two numbers are enough:
        ``gravity=(0.0, -9.81)``.

    Examples
    --------
    >>> from bough.maximal import Linkage, bodies, constraints
    >>> bob = Linkage({"bob": bodies.Particle(2.0)}, {"rod": (constraints.Distance(1.0), "bob")})
    >>> print(bob.accelerations(x=[0.0, 0.0, -1.0], v=[1.0, 0.0, 0.0]).motion + 0.0)
    [0. 0. 1.]
    >>> print(bob.errors([0.0, 0.0, -1.2]).round(12), bob.project([0.0, 0.0, -1.2]).round(12) + 0.0)
    [0.2] [ 0.  0. -1.]
    >>> print(bob.impulses([0.0, 0.0, -1.0], [1.0, 0.0, 2.0]).motion.round(12) + 0.0)
    [1. 0. 0.]
    >>> print(bob.first_order([0.0, 0.0, -1.0], force=[4.0, 0.0, 7.0]).motion.round(12) + 0.0)
    [2. 0. 0.]
    """

    layout: Layout

    def __init__(
        self,
        bodies: Mapping[str, Body] | None = None,
        constraints: Mapping[str, tuple[object, ...]] | None = None,
        gravity: ArrayLike = (0.0, 0.0, -9.81),
    ) -> None:
        for name, table in (("bodies", bodies), ("constraints", constraints)):
            if not isinstance(table, Mapping | None):
                raise ModelError(f"{name} is {kind_of(table)}, expected a dictionary by names")
        object.__setattr__(self, "layout", read_layout(dict(bodies or {}), dict(constraints or {}), gravity))

    @classmethod
    def of(cls, model: Model) -> Linkage:
        """Convert a model to a linkage: its bodies, and constraints with the names of joints, loops and equalities.

        A mimic joint becomes two constraints: the joint, and the coupling, named ``"joint follows other"``. A body
        without mass or volume, or a constraint with the name of a joint, raises an error.
        """
        return cls(*parts_of(model), model.gravity)

    def with_body(self, name: str, body: Body) -> Linkage:
        """Return the same linkage with one more body."""
        require_name(name, "a body")
        if name in self._bodies:
            raise ModelError(f"body {name!r}: there is a body of this name already")
        return Linkage({**self._bodies, name: body}, self._constraints, self.layout.gravity)

    def with_constraint(self, name: str, constraint: Constraint, *bodies: str) -> Linkage:
        """Return the same linkage with one more constraint, on bodies given by name."""
        require_name(name, "a constraint")
        if name in self._constraints:
            raise ModelError(f"constraint {name!r}: there is a constraint of this name already")
        return Linkage(self._bodies, {**self._constraints, name: (constraint, *bodies)}, self.layout.gravity)

    def __repr__(self) -> str:
        counts = f"{len(self.body_names)} bodies, {len(self.primary)} primary and {len(self.auxiliary)} auxiliary"
        return f"<Linkage: {counts} constraints, nx = {self.nx}, nv = {self.nv}, nc = {self.nc}>"

    # ---- what is where -------------------------------------------------------------------------------------------

    @property
    def body_names(self) -> tuple[str, ...]:
        """Names of the bodies."""
        return self.layout.body_names

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Names of the constraints."""
        return self.layout.tie_names

    @property
    def gravity(self) -> tuple[float, float, float]:
        """Acceleration of gravity (m/s²)."""
        return self.layout.gravity

    @property
    def nx(self) -> int:
        """Number of position variables."""
        return self.layout.nx

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return self.layout.system.nv

    @property
    def nc(self) -> int:
        """Number of rows of all constraints."""
        return self.layout.nc

    @property
    def primary(self) -> tuple[str, ...]:
        """Names of the primary constraints."""
        return tuple(self.constraint_names[k] for k in self.layout.primary)

    @property
    def auxiliary(self) -> tuple[str, ...]:
        """Names of the auxiliary constraints."""
        return tuple(self.constraint_names[k] for k in self.layout.auxiliary)

    def x_slice(self, body: str) -> slice:
        """Return the slice of x with the position of a body."""
        return self._part(body, "body", self.layout.x_starts)

    def v_slice(self, body: str) -> slice:
        """Return the slice of v with the velocity of a body."""
        return self._part(body, "body", self.layout.system.v_starts)

    def rows(self, constraint: str) -> slice:
        """Return the rows of a constraint, in multipliers and errors."""
        return self._part(constraint, "constraint", self.layout.tie_starts)

    def _part(self, name: str, what: str, starts: NDArray[np.int64]) -> slice:
        k = self._numbers[what][known_name(name, what, self._numbers[what])]
        return slice(int(starts[k]), int(starts[k + 1]))

    def neutral(self) -> FloatArray:
        """Return the position (nx,) in which every body is at the origin."""
        return np.array([x for body in self.layout.bodies for x in body.neutral()])

    def from_placements(self, placements: ArrayLike) -> FloatArray:
        """Return positions (..., nx) of rigid bodies in space, from placements (..., N, 4, 4)."""
        require_rigid(self.layout)
        return np.asarray(programs.run(self.layout, "positions", {"placements": placements}))

    def to_placements(self, x: ArrayLike) -> FloatArray:
        """Return placements (..., N, 4, 4) of rigid bodies in space, for example for `joint_positions`."""
        require_rigid(self.layout)
        return np.asarray(programs.run(self.layout, "placements", {"x": x}))

    # ---- positions -----------------------------------------------------------------------------------------------

    def errors(self, x: ArrayLike, time: ArrayLike | None = None) -> FloatArray:
        """Return the errors of position constraints (..., nc), mostly in m or rad; zero for all other constraints.

        For a one-sided constraint, the error is the distance, which may be positive.

        Parameters
        ----------
        x
            Positions (..., nx) of all bodies, concatenated.
        time
            Time (...) in s, for constraints that depend on it; default: 0.
        """
        return np.asarray(programs.run(self.layout, "errors", {"x": x, "time": time}))

    def rates(self, x: ArrayLike, v: ArrayLike, time: ArrayLike | None = None) -> FloatArray:
        """Return the errors of velocities v (..., nv) in the constraints (..., nc), mostly in m/s or rad/s.

        `x` and `time` are as in `errors`.
        """
        return np.asarray(programs.run(self.layout, "rates", {"x": x, "v": v, "time": time}))

    def integrate(self, x: ArrayLike, v: ArrayLike) -> FloatArray:
        """Return positions (..., nx) reached from x by moving with the constant velocities v for a unit of time."""
        return np.asarray(programs.run(self.layout, "integrate", {"x": x, "v": v}))

    def project(self, x: ArrayLike, time: ArrayLike | None = None, *, tolerance: float = ASSEMBLED) -> FloatArray:
        """Return positions (..., nx) near x that meet all position constraints, by Newton steps in the metric of M.

        Steps also obey velocity constraints: rolling bodies roll into place.

        Parameters
        ----------
        x, time
            As for `errors`.
        tolerance
            Largest error of the result (m, rad). If that of a constraint is larger, an `AssemblyError` names it.
        """
        tolerance = number(tolerance, "tolerance", "a number that is not negative (m, rad)", least=0.0)
        two_sided = ~self.layout.one_sided[self.layout.rows]
        for _ in range(STEPS):
            e = self.errors(x, time)
            off = np.where(two_sided, np.abs(e), -np.minimum(e, 0.0))
            worst = off.max(initial=0.0)
            if worst <= tolerance:
                break
            y = programs.motion(self.layout, "position", 1.0, {"x": x, "time": time}).motion
            y = np.where(off.max(axis=-1, keepdims=True) > tolerance, y, 0.0)  # those that are there stay
            x = self.integrate(x, y)
        if not worst <= tolerance:
            k = int(np.unravel_index(int(np.argmax(off)), off.shape)[-1])
            raise AssemblyError(
                f"constraint {self.layout.row_names[k]!r} is off by {worst:.3g} m or rad in the end, "
                f"expected at most {tolerance:g}: no position that meets all constraints was found near x"
            )
        return np.array(x, np.float64)

    # ---- three levels --------------------------------------------------------------------------------------------

    def terms(
        self,
        x: ArrayLike,
        v: ArrayLike,
        force: ArrayLike | None = None,
        time: ArrayLike | None = None,
        *,
        time_constant: float = TIME_CONSTANT,
    ) -> LinkageTerms:
        """Return the equations of the accelerations; arguments are those of `accelerations`.

        If no constraint is auxiliary, ``a, lam = bough.maximal.multipliers(*linkage.terms(x, v)[:6])``.
        """
        given = {"x": x, "v": v, "force": force, "time": time, "rate": np.array(stabilisation(time_constant))}
        return programs.terms(self.layout, "acceleration", given)[0]

    def accelerations(
        self,
        x: ArrayLike,
        v: ArrayLike,
        force: ArrayLike | None = None,
        time: ArrayLike | None = None,
        *,
        time_constant: float = TIME_CONSTANT,
    ) -> Motion:
        """Return accelerations under forces: M v̇ = Jᵀ λ + weight + force.

        Parameters
        ----------
        x, v
            Positions (..., nx) and velocities (..., nv), which should meet the constraints: see `project`, `impulses`.
        force
            External forces on the bodies (..., nv), in the layout of v: force · v is power. None: no forces.
        time
            Time (...) in s, for constraints that depend on it; default: 0.
        time_constant
            Time constant T (s): errors e decay as ë + 2 ė/T + e/T² = 0, those of velocity constraints as ṙ + r/T = 0.
            Infinity: no correction.

        Raises
        ------
        SingularError
            If a body has a mass block that is not positive definite. With more than 2000 rows, also if the rows of a
            primary constraint are linearly dependent in some state.
        """
        given = {"x": x, "v": v, "force": force, "time": time}
        return self._motion("acceleration", stabilisation(time_constant), given)

    def first_order(
        self,
        x: ArrayLike,
        force: ArrayLike | None = None,
        time: ArrayLike | None = None,
        *,
        time_constant: float = TIME_CONSTANT,
    ) -> Motion:
        """Return velocities of first-order motion, where force is mass times velocity: M v = Jᵀ λ + force.

        Use it to drag a linkage: it moves where it is pulled, and stops when it is released. There is no weight.

        Parameters
        ----------
        x, force, time
            As for `accelerations`; a force of 1 N moves 1 kg with 1 m/s.
        time_constant
            Time constant T (s): errors decay as ė + e/T = 0.
        """
        return self._motion("first order", stabilisation(time_constant), {"x": x, "force": force, "time": time})

    def impulses(
        self, x: ArrayLike, v: ArrayLike, impulse: ArrayLike | None = None, time: ArrayLike | None = None
    ) -> Motion:
        """Return velocities v⁺ after impulses, which meet the constraints: M (v⁺ - v) = Jᵀ λ + impulse.

        Parameters
        ----------
        x, v, time
            As for `accelerations`; v are the velocities before.
        impulse
            External impulses on the bodies (..., nv), in the layout of v; N s or N m s. Without impulses, velocities
            become consistent: v⁺ is the nearest velocity to v in the metric of M.
        """
        return self._motion("impulse", 0.0, {"x": x, "v": v, "force": impulse, "time": time})

    # ---- within --------------------------------------------------------------------------------------------------

    def _motion(self, level: Level, rate: float, given: dict[str, ArrayLike | None]) -> Motion:
        found = programs.motion(self.layout, level, rate, given)
        names = tuple(dict.fromkeys(unmet_names(self.layout.row_names, found.unmet, found.unmet)))
        return motion_under_constraints(found.motion, found.forces, found.residual, names, found.undecided > 0.0)

    @property
    def _bodies(self) -> dict[str, Body]:
        return self.layout.bodies_by_name

    @cached_property
    def _constraints(self) -> dict[str, tuple[object, ...]]:
        called = (BASE, *self.body_names)
        ties = self.layout.ties_by_name.items()
        return {name: (tie.constraint, *(called[k] for k in tie.bodies)) for name, tie in ties}

    @cached_property
    def _numbers(self) -> dict[str, dict[str, int]]:
        """The numbers of bodies, and of constraints, by name."""
        named = {"body": self.body_names, "constraint": self.constraint_names}
        return {what: {name: k for k, name in enumerate(names)} for what, names in named.items()}
