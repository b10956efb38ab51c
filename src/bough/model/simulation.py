"""What a model says of its simulation as a whole, with MuJoCo's names: options, actuators, pairs that touch or do not.

No dynamics function takes notice of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from numbers import Real
from typing import TYPE_CHECKING, Any

from bough.errors import ModelError, UnknownNameError
from bough.model.coupling import own_joint
from bough.model.sensor import SENSORS, Sensor
from bough.model.surface import SOLIMP, SOLREF, read_condim, read_numbers, read_softness
from bough.reading import known_name, listed, number, shown, whole_number

if TYPE_CHECKING:
    from bough.model.model import Model

__all__ = [
    "CONES", "INTEGRATORS", "NOTHING_SAID", "SWITCHES", "Actuator", "ExplicitPair", "SimulationData",
    "check_simulation", "rearranged",
]  # fmt: skip

INTEGRATORS = ("euler", "rk4", "implicit", "implicitfast")
CONES = ("pyramidal", "elliptic")
SWITCHES = (
    "constraint", "equality", "frictionloss", "limit", "contact", "clampctrl", "filterparent", "actuation", "refsafe",
    "eulerdamp",
)  # fmt: skip
"""Parts of a simulation that a file may switch off, as MuJoCo calls them."""

CONSTRAINTS = ("equality", "frictionloss", "limit", "contact")
"""Those that "constraint" switches off."""

UNBOUNDED = (-math.inf, math.inf)


def _two_names(value: Any, what: str) -> tuple[str, str]:
    two = listed(value, f"{what}: excludes", "pairs of names")
    if len(two) != 2 or not all(isinstance(name, str) for name in two):
        raise ModelError(f"{what}: an entry of excludes is {shown(value)}, expected the names of two bodies or frames")
    return two[0], two[1]


def _named_point(value: Any, what: str) -> tuple[str, tuple[float, ...]]:
    two = listed(value, what, "pairs of a name and a point")
    if len(two) != 2 or not isinstance(two[0], str):
        raise ModelError(f"{what}: an entry is {shown(value)}, expected the name of a link and a point")
    return two[0], read_numbers(two[1], what, 3, "a point (m)")


def _put(part: object, name: str, value: Any) -> None:
    object.__setattr__(part, name, value)


@dataclass(frozen=True)
class Actuator:
    """An actuator: it applies the forces gear × (gain × control + bias₀ + bias₁ x + bias₂ ẋ) to a joint.

    x = Σ gear × q is its length (for a spherical joint with the logarithm of the rotation), and ẋ = Σ gear × v.

    Attributes
    ----------
    name
        Name, unique among actuators.
    joint
        Name of the joint it acts on.
    gear
        A number for each degree of freedom of the joint; a single number for a joint with one.
    gain, bias
        The affine law: a motor has gain 1 and no bias, a position servo gain kp and bias (0, -kp, -kv), a velocity
        servo gain kv and bias (0, 0, -kv).
    ctrlrange, forcerange
        Ranges (lowest, highest) to which the control, and the force before the gear, are clamped; infinite: no
        clamping.

    Examples
    --------
    >>> from bough.simulation import Actuator
    >>> Actuator("knee servo", "knee", gain=50, bias=(0, -50, -2)).kind
    'position'
    """

    name: str
    joint: str
    gear: tuple[float, ...] = (1.0,)
    gain: float = 1.0
    bias: tuple[float, ...] = (0.0, 0.0, 0.0)
    ctrlrange: tuple[float, ...] = UNBOUNDED
    forcerange: tuple[float, ...] = UNBOUNDED

    def __post_init__(self) -> None:
        what = f"actuator {self.name!r}"
        for part, title in ((self.name, "name"), (self.joint, "joint")):
            if not isinstance(part, str) or not part:
                raise ModelError(f"{what}: the {title} is {shown(part)}, expected a string that is not empty")
        single = isinstance(self.gear, Real)
        gear = (self.gear,) if single else listed(self.gear, f"{what}: gear", "a number for each degree of freedom")
        _put(self, "gear", read_numbers(gear, f"{what}: gear", len(gear), "one for each degree of freedom"))
        _put(self, "gain", number(self.gain, f"{what}: gain", "a finite number", error=ModelError))
        _put(self, "bias", read_numbers(self.bias, f"{what}: bias", 3, "constant, per position, per velocity"))
        for name in ("ctrlrange", "forcerange"):
            given = listed(getattr(self, name), f"{what}: {name}", "two numbers")
            bounds = tuple(number(x, f"{what}: {name}", "numbers", infinite=True, error=ModelError) for x in given)
            if len(bounds) != 2 or not bounds[0] <= bounds[1]:
                raise ModelError(f"{what}: {name} is {shown(getattr(self, name))}, expected the lowest and the highest")
            _put(self, name, bounds)

    @property
    def kind(self) -> str:
        """Kind of the law: "motor", "position", "velocity", or "general"."""
        constant, position, velocity = self.bias
        if not any(self.bias):
            return "motor"
        if constant == 0 and position == -self.gain and velocity <= 0:
            return "position"
        return "velocity" if constant == 0 == position and velocity == -self.gain else "general"


@dataclass(frozen=True)
class ExplicitPair:
    """Two shapes that may touch regardless of their masks and bodies, and their contact parameters.

    Attributes
    ----------
    first, second
        Names of two geometries of the model.
    condim, solref, solimp, margin, gap
        As those of `Surface`.
    friction
        Friction coefficients of five directions: two sliding, torsional (m), two rolling (m).
    solreffriction
        solref of the friction rows; (0, 0): that of the normal.
    """

    first: str
    second: str
    condim: int = 3
    friction: tuple[float, ...] = (1.0, 1.0, 0.005, 0.0001, 0.0001)
    solref: tuple[float, ...] = SOLREF
    solimp: tuple[float, ...] = SOLIMP
    margin: float = 0.0
    gap: float = 0.0
    solreffriction: tuple[float, ...] = (0.0, 0.0)

    def __post_init__(self) -> None:
        what = f"pair of {shown(self.first)} and {shown(self.second)}"
        for name in (self.first, self.second):
            if not isinstance(name, str) or not name:
                raise ModelError(f"{what}: a name is {shown(name)}, expected the name of a geometry")
        _put(self, "condim", read_condim(self.condim, what))
        expected = "not negative: two sliding, torsional, two rolling"
        _put(self, "friction", read_numbers(self.friction, f"{what}: friction", 5, expected, least=0.0))
        for name, value in read_softness(self, what).items():
            _put(self, name, value)
        (gap,) = read_numbers(self.gap, f"{what}: gap", 1, "a length (m)")
        _put(self, "gap", gap)
        expected = "as solref, or (0, 0): that of the normal"
        rubbing = read_numbers(self.solreffriction, f"{what}: solreffriction", 2, expected)
        if (rubbing[0] > 0) != (rubbing[1] > 0):
            raise ModelError(f"{what}: solreffriction is {shown(self.solreffriction)}, expected {expected}")
        _put(self, "solreffriction", rubbing)


@dataclass(frozen=True)
class SimulationData:
    """Simulation data of a model: `model.simulation`. The defaults are MuJoCo's.

    Attributes
    ----------
    timestep
        Time step (s).
    integrator
        "euler" (semi-implicit), "rk4", "implicitfast", or "implicit", which runs as "implicitfast".
    cone
        Friction cone: "pyramidal" or "elliptic".
    impratio
        Ratio of frictional to normal impedance, for elliptic cones.
    tolerance, iterations
        Stopping criteria of the contact solver.
    disabled
        Disabled features: names of `SWITCHES`. "constraint" disables contact, limits, dry friction and equalities.
    actuators
        Actuators, in the order of the controls.
    sensors
        Sensors.
    pairs, excludes
        Pairs of shapes that may always touch; pairs of bodies or frames whose shapes do not touch.
    reference
        Configuration (nq) of the file, in which the effective masses of contacts and limits are computed: qpos0 of an
        MJCF file, also if it has keyframes, which bough does not read. Empty for other files. Joints that are locked or
        removed leave it. Without it, or with another length, the neutral configuration (`bough.neutral`) is used.
    link_centres
        For links that were merged with others, by name: their own centre of mass (m), in their own frame. The effective
        mass of their shapes is computed there.
    not_understood
        Simulation features of the file that bough ignores, as text.

    Examples
    --------
    >>> from bough.simulation import SimulationData
    >>> SimulationData(timestep=0.001, cone="elliptic").integrator
    'euler'
    """

    timestep: float = 0.002
    integrator: str = "euler"
    cone: str = "pyramidal"
    impratio: float = 1.0
    tolerance: float = 1e-8
    iterations: int = 100
    disabled: tuple[str, ...] = ()
    actuators: tuple[Actuator, ...] = ()
    sensors: tuple[Sensor, ...] = ()
    pairs: tuple[ExplicitPair, ...] = ()
    excludes: tuple[tuple[str, str], ...] = ()
    reference: tuple[float, ...] = field(default=(), compare=False)
    link_centres: tuple[tuple[str, tuple[float, ...]], ...] = field(default=(), compare=False)
    not_understood: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        what = "simulation"
        for name in ("timestep", "impratio"):
            value = number(getattr(self, name), f"{what}: {name}", "a positive number", above=0.0, error=ModelError)
            _put(self, name, value)
        tolerance = number(self.tolerance, f"{what}: tolerance", "0 or more", least=0.0, error=ModelError)
        _put(self, "tolerance", tolerance)
        _put(self, "iterations", whole_number(self.iterations, f"{what}: iterations", error=ModelError))
        known_name(self.integrator, "integrator", INTEGRATORS)
        known_name(self.cone, "kind of friction cone", CONES)
        for name, expected in (
            ("disabled", "names"), ("actuators", "actuators"), ("sensors", "sensors"), ("pairs", "pairs"),
            ("not_understood", "texts"),
        ):  # fmt: skip
            _put(self, name, listed(getattr(self, name), f"{what}: {name}", expected))
        for name in self.disabled:
            known_name(name, "part of a simulation", SWITCHES)
        excludes = listed(self.excludes, f"{what}: excludes", "pairs of names")
        _put(self, "excludes", tuple(_two_names(x, what) for x in excludes))
        reference = listed(self.reference, f"{what}: reference", "a configuration")
        _put(self, "reference", read_numbers(reference, f"{what}: reference", len(reference), "a configuration"))
        centres = listed(self.link_centres, f"{what}: link_centres", "pairs of a name and a point")
        _put(self, "link_centres", tuple(_named_point(x, f"{what}: link_centres") for x in centres))

    @property
    def strange_actuators(self) -> tuple[str, ...]:
        """Actuators of the file that bough does not support, each with the reason."""
        return tuple(text for text in self.not_understood if text.startswith("actuator "))

    @property
    def switched_off(self) -> frozenset[str]:
        """All disabled features, including those that "constraint" disables."""
        return frozenset((*self.disabled, *(CONSTRAINTS if "constraint" in self.disabled else ())))

    def without(self, joints: set[str], frames: set[str], shapes: set[str]) -> SimulationData:
        """Return the data that remain for the given joints, bodies or frames, and shapes."""
        actuators = tuple(x for x in self.actuators if x.joint in joints)
        names = {"frame": frames | {""}, "joint": joints, "actuator": {x.name for x in actuators}}
        sensors = (x for x in self.sensors if x.of in names[SENSORS[x.kind].on] and x.reference in names["frame"])
        return replace(
            self,
            actuators=actuators,
            sensors=tuple(sensors),
            pairs=tuple(x for x in self.pairs if {x.first, x.second} <= shapes),
            excludes=tuple(x for x in self.excludes if set(x) <= frames),
        )


NOTHING_SAID = SimulationData()
"""MuJoCo's defaults, of a model that says nothing of its simulation."""


def rearranged(
    reference: tuple[float, ...], before: Sequence[tuple[str, int]], after: Iterable[tuple[str, Sequence[float]]]
) -> tuple[float, ...]:
    """A configuration of joints, names and numbers of coordinates `before`, as one of those `after`.

    These are told with their neutral coordinates, which joints have that were not there. What is of another length
    stays as it is.
    """
    ends = list(accumulate(size for _, size in before))
    if not reference or not ends or ends[-1] != len(reference):
        return reference
    known = {name: reference[end - size : end] for (name, size), end in zip(before, ends, strict=True)}
    fitting = (known[name] if len(known.get(name, ())) == len(neutral) else neutral for name, neutral in after)
    return tuple(x for q in fitting for x in q)


def check_simulation(model: Model) -> None:
    """Raise unless everything that the simulation refers to is there, once."""
    data: object = model.simulation
    if not isinstance(data, SimulationData):
        raise ModelError(f"simulation is {shown(data)}, expected a bough.simulation.SimulationData")
    joints = {entry.name: own_joint(entry.joint) for entry in model.joints} | {x.name: x.joint for x in model.loops}
    names: set[str] = set()
    for actuator in data.actuators:
        if not isinstance(actuator, Actuator):
            raise ModelError(f"simulation: an actuator is {shown(actuator)}, expected a bough.simulation.Actuator")
        what = f"actuator {actuator.name!r}"
        if actuator.name in names:
            raise ModelError(f"{what}: there is another of this name")
        names.add(actuator.name)
        nv = joints[known_name(actuator.joint, f"joint that {what} could act on", joints)].nv
        if len(actuator.gear) != nv:
            raise ModelError(f"{what}: gear is {actuator.gear}, expected {nv} numbers, one for each motion")
    _check_sensors(model, data)
    shapes = [g.name for g in model.geometries]
    for pair in data.pairs:
        if not isinstance(pair, ExplicitPair):
            raise ModelError(f"simulation: a pair is {shown(pair)}, expected a bough.simulation.ExplicitPair")
        for name in (pair.first, pair.second):
            if name not in shapes:
                raise UnknownNameError("geometry of a pair", name, sorted(set(shapes) - {""}))
            if shapes.count(name) > 1:
                raise ModelError(f"pair of {pair.first!r} and {pair.second!r}: several geometries are called {name!r}")
    for name in (name for two in data.excludes for name in two):
        known_name(name, "body or frame to exclude from contact", model.frame_names)


def _check_sensors(model: Model, data: SimulationData) -> None:
    names: set[str] = set()
    valid = {
        "frame": model.frame_names,
        "joint": [entry.name for entry in model.joints if entry.joint.nv],
        "actuator": [actuator.name for actuator in data.actuators],
    }
    for sensor in data.sensors:
        if not isinstance(sensor, Sensor):
            raise ModelError(f"simulation: a sensor is {shown(sensor)}, expected a bough.simulation.Sensor")
        what, kind = f"sensor {sensor.name!r}", SENSORS[sensor.kind]
        if sensor.name in names:
            raise ModelError(f"{what}: there is another of this name")
        names.add(sensor.name)
        known_name(sensor.of, f"{kind.on} that {what} could read", valid[kind.on])
        if sensor.reference:
            known_name(sensor.reference, f"frame that {what} could read from", model.frame_names)
        if sensor.kind in ("force", "torque") and not model.frame(sensor.of).body:
            raise ModelError(f"{what}: {sensor.of!r} does not move, expected a frame of a body, which a joint carries")
        if kind.on == "joint":
            joint = model.joint(sensor.of).joint
            if sensor.kind.startswith("ball") != bool(joint.quaternions) or joint.nv != (3 if joint.quaternions else 1):
                raise ModelError(f"{what}: joint {sensor.of!r} has a type that {sensor.kind} sensors do not support")
