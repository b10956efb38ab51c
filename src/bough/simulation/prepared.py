"""A scene prepared to run: its numbers, its programs, and what they measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.algorithms.hard.scene import MOST_CONTACTS, HardScene
from bough.algorithms.soft.layout import layout_of
from bough.algorithms.soft.scene import IMPLICIT, SoftScene, StepIntegrator
from bough.errors import ModelError, SimulationWarning, UnknownNameError, warn
from bough.kernel.arguments import FloatArray
from bough.kernel.function import Function
from bough.model import Geometry, Model, Parameter
from bough.model.effortless import effortless_joints
from bough.model.surface import read_restitution
from bough.reading import counted, instance, known_name, number, shown, whole_number
from bough.scalar.lazy import cached_property
from bough.simulation.arguments import (
    ACTING,
    are_single,
    in_single,
    is_single,
    read_acting,
    read_parameters,
    read_servo,
    read_values,
    require_moving,
)  # fmt: skip
from bough.simulation.hard import hard_scene
from bough.simulation.pairs import LeftOut, shape_title
from bough.simulation.program import RESTITUTION, measure_function, start_size, steps_function, trial_function
from bough.simulation.roomier import Roomier
from bough.simulation.run import Sense
from bough.simulation.scene import Scene, require_scene_of
from bough.simulation.sensor_inertias import Inertias
from bough.simulation.sensors import Measured, readings
from bough.simulation.soft import soft_scene, unknown_pairs

__all__ = ["ADAPTIVE", "INTEGRATORS", "LAWS", "Prepared", "require_of_hard_law"]

LAWS = ("soft", "hard")
ADAPTIVE = "adaptive"
INTEGRATORS: tuple[StepIntegrator, ...] = ("euler", "implicitfast", "rk4", "variational")
OF_FILES = {"implicit": "implicitfast"}
"""What stands for integrators of files that are none here."""


class Prepared:
    """The parts of a simulation, and its compiled steps."""

    def __init__(
        self,
        model: Model | Scene,
        scene: Scene | None = None,
        *,
        dt: float | None = None,
        law: str = "soft",
        integrator: str | None = None,
        tolerance: float | None = None,
        iterations: int | None = None,
        restitution: float | None = None,
        max_contacts: int | None = None,
        parameters: str | Sequence[str] = (),
    ) -> None:
        if isinstance(model, Scene):
            if scene is not None:
                raise ModelError("two scenes were given, expected a model and a scene, or a scene alone")
            scene, model = model, model.model
        self.scene = Scene(instance(model, "the model", Model)) if scene is None else instance(scene, "scene", Scene)
        require_scene_of(model, self.scene)
        self.model = model
        data = model.simulation
        self.dt = number(data.timestep if dt is None else dt, "dt", "a positive number (s)", above=0.0)
        self.law = known_name(law, "law of contact", LAWS)
        if self.law == "hard":
            require_of_hard_law(integrator, tolerance, iterations)
        elif restitution is not None or max_contacts is not None:
            name = "restitution" if max_contacts is None else "max_contacts"
            given = shown(restitution if max_contacts is None else max_contacts)
            raise ModelError(f"{name} is {given}, expected law='hard' with it: soft contact has none")
        self._max_contacts = whole_number(
            MOST_CONTACTS if max_contacts is None else max_contacts, "max_contacts", least=1
        )
        self.restitution = None if restitution is None else read_restitution(restitution, "simulation")
        of_file = OF_FILES.get(data.integrator, data.integrator)
        if self.law == "hard" and of_file not in IMPLICIT:
            of_file = "euler"
        wanted = of_file if integrator is None else integrator
        if isinstance(wanted, str) and wanted == ADAPTIVE:
            hint = 'adaptive steps are for a run: sim.run(..., integrator="adaptive")'
            raise UnknownNameError("integrator of a simulation", wanted, INTEGRATORS, hint)
        self.integrator = INTEGRATORS[INTEGRATORS.index(known_name(wanted, "integrator", INTEGRATORS))]
        self._tolerance = number(
            data.tolerance if tolerance is None else tolerance, "tolerance", "a number that is not negative", least=0.0
        )
        self._iterations = whole_number(data.iterations if iterations is None else iterations, "iterations", least=1)
        self.parameters = read_parameters(model, parameters)
        if self.law == "soft":
            _tell_of_restitution(self.scene, self.parameters)
        elif RESTITUTION in self.parameters and not self.restitution:
            _require_restitution(self.scene, self.restitution)
        require_moving(model)
        _ = self._numbers  # what cannot be simulated is refused now, not at the first step
        _tell_of_what_is_strange(model)

    def __repr__(self) -> str:
        pairs = counted(len(self._soft.candidates), "pair")
        how = "law='hard'" if self.law == "hard" else f"integrator={self.integrator!r}"
        return f"Simulation({self.model.name!r}, dt={self.dt}, {how}, {pairs})"

    def __getstate__(self) -> dict[str, Any]:
        """What it was made of, without the programs, which are made anew where it goes."""
        ready = {
            name for kind in type(self).__mro__ for name, x in vars(kind).items() if isinstance(x, cached_property)
        }
        return {name: x for name, x in vars(self).items() if name not in ready}

    @cached_property
    def _numbers(self) -> SoftScene | HardScene:
        """What acts, as numbers."""
        if self.law == "hard":
            return hard_scene(self.scene, self.integrator, self.restitution, self._max_contacts, self.parameters)
        return soft_scene(self.scene, self.integrator, self._tolerance, self._iterations, self.parameters)

    @property
    def _soft(self) -> SoftScene:
        """Of what acts, what soft contact knows of it."""
        return self._numbers.common if isinstance(self._numbers, HardScene) else self._numbers

    @cached_property
    def _steps(self) -> Function:
        return steps_function(self.model, self._numbers, self.parameters)

    @cached_property
    def _roomier(self) -> Roomier | None:
        """What makes steps of hard contact where more touches than there is room for."""
        if not isinstance(self._numbers, HardScene):
            return None
        return Roomier(self.model, self._numbers, self.parameters)

    @cached_property
    def _trial(self) -> Function:
        return trial_function(self.model, self._soft, self.parameters)

    @cached_property
    def _measure(self) -> Function:
        return measure_function(self.model, self._numbers, self.parameters)

    @property
    def left_out(self) -> LeftOut:
        """Shapes without contact, and the reasons."""
        found = self.scene.left_out
        reasons = {f"contact of a {kinds} is not supported yet": n for kinds, n in unknown_pairs(self.scene).items()}
        return LeftOut({**found.reasons, **reasons}, found.shapes, found.not_understood)

    @cached_property
    def contact_pairs(self) -> tuple[tuple[str, str], ...]:
        """Names of the two shapes of each contact point of `contacts`; a shape without a name has that of its body."""
        return tuple((one.name or one.frame, other.name or other.frame) for one, other in self._contact_shapes)

    @cached_property
    def _contact_shapes(self) -> tuple[tuple[Geometry, Geometry], ...]:
        """The two shapes of each contact point."""
        known = [p for p in self.scene.pairs if (p.first.shape, p.second.shape) in self._kinds]
        shapes = []
        for pair, candidate in zip(known, self._soft.candidates, strict=True):
            turned = candidate.sides[0].body == 0 != pair.first.body
            shapes.append((pair.second, pair.first) if turned else (pair.first, pair.second))
        return tuple(shapes[k] for k in layout_of(self._soft).order)

    @cached_property
    def _kinds(self) -> set[tuple[str, str]]:
        from bough.algorithms.narrow_phase import is_known

        pairs = {(p.first.shape, p.second.shape) for p in self.scene.pairs}
        return {two for two in pairs if is_known(*two)}

    @cached_property
    def _entries(self) -> dict[tuple[bool, ...], Callable[..., Any]]:
        """The steps for what is given of what may be left out, by whether it is."""
        return {}

    @cached_property
    def _zeros(self) -> NDArray[np.float64]:
        """What a step starts from where nothing is known of the one before."""
        return np.zeros(start_size(self.model, self._numbers))

    @cached_property
    def _dt(self) -> NDArray[np.float64]:
        return np.array(self.dt)

    @cached_property
    def _drawn(self) -> int:
        """Of how many velocities targets are; who first asks is told which joints they do not move."""
        idle = effortless_joints(self.model)
        if idle:
            more = f" (and {len(idle) - 1} more)" if len(idle) > 1 else ""
            told = "targets, kp and kd have no effect on it; model.with_joint(..., effort=...) gives it one"
            warn(f"joint {idle[0]!r} of {self.model.name!r}{more} has effort 0: {told}", SimulationWarning)
        return self.model.nv

    @property
    def _sense(self) -> Sense | None:
        """What gives the numbers of all sensors in states, if there are any."""
        return self._readings if self.model.simulation.sensors else None

    def _readings(
        self, q: ArrayLike, v: ArrayLike, acting: Mapping[str, Any], kind: str = "argument of run"
    ) -> FloatArray:
        found = self._measured(q, v, acting, kind)
        sides = [tuple(side.body for side in c.sides) for c in self._soft.candidates]
        bodies = [(sides[k][0], sides[k][1]) for k in layout_of(self._soft).order]
        values = read_values(self.parameters, acting.get("parameters"))
        inertias = Inertias(self.model, self.parameters, values)
        return readings(self.model, np.asarray(q), np.asarray(v), found, bodies, acting, inertias)

    def _measured(self, q: ArrayLike, v: ArrayLike, acting: Mapping[str, Any], kind: str) -> Measured:
        a, tau, control, target, kp, kd, f_ext, numbers = read_acting(acting, kind, ("a", *ACTING))
        more = (read_values(self.parameters, numbers),) if self.parameters or numbers is not None else ()
        single = is_single(q) and are_single(v, a, tau, control, target, kp, kd, f_ext)
        if target is not None or kp is not None or kd is not None:
            target, kp, kd = read_servo(target, kp, kd, self._drawn)
        values = [q, v, self._zeros if a is None else a, self._dt, tau, control, target, kp, kd, f_ext, *more]
        if self._roomier is not None:
            found = self._roomier.measured(values, self._measure, settles=a is None)
            return Measured._make(in_single(found) if single else found)
        return Measured._make(self._measure(*(in_single(values) if single else values)))

    @lru_cache(maxsize=4)  # noqa: B019 (a simulation and its siblings go together)
    def with_integrator(self, integrator: str) -> Self:
        """The same with another integrator."""
        hard: dict[str, Any] = {"restitution": self.restitution, "max_contacts": self._max_contacts}
        soft = {"tolerance": self._tolerance, "iterations": self._iterations}
        return type(self)(
            self.scene,
            dt=self.dt,
            law=self.law,
            integrator=integrator,
            **(hard if self.law == "hard" else soft),
            parameters=[p.name for p in self.parameters],
        )


def _tell_of_what_is_strange(model: Model) -> None:
    """Warn of what the file says of simulation and bough has no place for."""
    strange = model.simulation.not_understood
    if strange:
        more = f" (and {len(strange) - 1} more, see model.simulation.not_understood)" if len(strange) > 1 else ""
        warn(f"{model.name!r}: the simulation ignores parts of the file: {strange[0]}{more}", SimulationWarning)


def _tell_of_restitution(scene: Scene, given: Sequence[Parameter]) -> None:
    """Refuse a restitution that is to come with each state, and warn of surfaces that have one: nothing heeds it."""
    if RESTITUTION in given:
        raise ModelError(f"{RESTITUTION.name!r} is a parameter, expected law='hard' with it: soft contact has none")
    for g in _touching(scene):
        if g.surface.restitution:
            told = f"{shape_title(g, scene.model, scene.shapes)} has restitution {g.surface.restitution:g}"
            more = "Simulation(..., law='hard') lets things bounce"
            warn(f"{told}, which soft contact ignores: {more}", SimulationWarning)
            return


def _require_restitution(scene: Scene, given: float | None) -> None:
    """Refuse a factor of restitutions that are all zero."""
    if given is not None or not any(g.surface.restitution for g in _touching(scene)):
        raise ModelError(
            f"{RESTITUTION.name!r} is a parameter, a factor of restitutions, and all of them are 0; expected surfaces "
            "that have some (scene.floor(restitution=1.0)), or Simulation(..., restitution=1.0)"
        )


def _touching(scene: Scene) -> list[Geometry]:
    """The shapes that may touch something."""
    return [*scene.shapes, *(g for g in scene.model.geometries if g.purpose == "collision")]


def require_of_hard_law(integrator: str | None, tolerance: float | None = None, iterations: int | None = None) -> None:
    """Raise for options that hard contact does not know."""
    if integrator is not None and integrator not in IMPLICIT:
        told = "expected 'euler' or 'implicitfast' with law='hard', which has no other"
        raise ModelError(f"integrator is {shown(integrator)}, {told}")
    for name, value in (("tolerance", tolerance), ("iterations", iterations)):
        if value is not None:
            raise ModelError(f"{name} is {shown(value)}, expected none with law='hard': it finds exact impulses")
