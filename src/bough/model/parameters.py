"""Numbers of a model that are inputs: what may be one, what it is called, its shape, and what the model says it is.

A program is specialised to the numbers of its model. Those that are parameters are given with every state instead, so
that one program serves for payloads, for randomised models and for identification.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough import reading
from bough.errors import ModelError, UnknownNameError
from bough.model.coupling import own_joint
from bough.model.editing import body_number, joint_number, moved_by
from bough.model.inertia import negative_moment
from bough.model.joints.elastic import Elastic, Station
from bough.model.model import BASE, Model
from bough.model.parts import HERE, Inertia, JointEntry, Placement
from bough.reading import kind_of
from bough.spatial import Matrix, Quaternion

__all__ = ["NO_PARAMETERS", "Parameter", "Parameters", "without_values"]

INERTIAL = {
    "body": ((10,), "mass (kg), centre of mass (m) and inertia about it (kg m²: xx yx yy zx zy zz)"),
    "mass": ((), "mass (kg)"),
    "com": ((3,), "centre of mass in the body frame (m)"),
    "inertia": ((3, 3), "inertia about the centre of mass along the axes of the body frame (kg m²), symmetric"),
    "moments": ((10,), "mass (kg), m c (kg m) and inertia about the body frame's origin (kg m²: xx yx yy zx zy zz)"),
}
PLACED = {
    "placement": ((7,), "position (m) and unit quaternion (x y z w) in the parent"),
    "position": ((3,), "position in the parent (m)"),
    "rotation": ((4,), "unit quaternion (x y z w) of the axes in the parent"),
}
PER_DOF = {
    "armature": "armature (kg m² or kg)",
    "damping": "damping (N m s/rad or N s/m)",
    "stiffness": "stiffness of the spring (N m/rad or N/m)",
    "rest": "configuration in which the spring is at rest",
    "friction": "dry friction (N m or N)",
}
PAYLOAD = "mass (kg), centre of mass (m) and inertia about it (kg m²: xx yx yy zx zy zz) of what is added in this frame"
SORTS = (*[sort for sort in INERTIAL if sort != "body"], "payload", *PLACED, *PER_DOF)
COVERED = {
    "body": ("mass", "com", "inertia"),
    "moments": ("mass", "com", "inertia"),
    "placement": ("position", "rotation"),
}
"""Sorts of parameters that contain the numbers of other sorts, and which these are."""

NOT_NEGATIVE = ("mass", "armature", "damping", "stiffness", "friction")
"""Sorts of parameters with which nothing real is negative."""

NOWHERE = Inertia(0.0, (0.0, 0.0, 0.0), (0.0,) * 6)


@dataclass(frozen=True)
class Parameter:
    """A number of a model, or several, that are an input.

    Attributes
    ----------
    name
        What the input is called: "gravity", "mass of hand", …, or the name of a body.
    what
        The sort: "gravity", "body" (a whole body), "mass", "com", "inertia", "moments", "payload", "placement",
        "position", "rotation", "armature", "damping", "stiffness", "rest" or "friction".
    body
        Number of the body it belongs to, or to whose joint; 0 for gravity and on the base.
    frame
        Name of the frame it belongs to, if that is no body's own; else empty.
    shape
        Shape of the input for one state.
    default
        The numbers of the model, in this shape.
    meaning
        What the numbers are, with units.
    """

    name: str
    what: str
    body: int
    frame: str
    shape: tuple[int, ...]
    default: tuple[float, ...]
    meaning: str

    @property
    def size(self) -> int:
        """How many numbers the parameter has."""
        return len(self.default)

    @property
    def quaternions(self) -> tuple[int, ...]:
        """Where unit quaternions (x y z w) begin among the numbers of the parameter."""
        return {"placement": (3,), "rotation": (0,)}.get(self.what, ())

    @property
    def not_negative(self) -> tuple[int, ...]:
        """Where numbers lie among those of the parameter that must not be negative."""
        if min(self.default, default=0.0) >= 0.0 and self.what in NOT_NEGATIVE:
            return tuple(range(self.size))
        return (0,) if self.what == "body" else ()

    @property
    def inertias(self) -> tuple[tuple[int, ...], ...]:
        """Where xx yx yy zx zy zz of an inertia lie that must have no negative principal moment."""
        places = {"inertia": (0, 3, 4, 6, 7, 8), "body": (4, 5, 6, 7, 8, 9)}.get(self.what)
        return () if places is None or negative_moment(np.array(self.default)[[*places]]) else (places,)

    @property
    def values(self) -> NDArray[np.float64]:
        """The numbers of the model as an array."""
        return np.array(self.default).reshape(self.shape)

    @property
    def covers(self) -> set[tuple[str, int, str]]:
        """The numbers of the model that the parameter stands for, which no other parameter may stand for too."""
        return {(what, self.body, self.frame) for what in COVERED.get(self.what, (self.what,))}


@dataclass(frozen=True)
class Parameters:
    """Parameters of a model: numbers that become inputs of functions.

    Their names are

    - "gravity": (3,), m/s² in the base frame;
    - "mass of hand": (), kg; "com of hand": (3,), m in the body frame; "inertia of hand": (3, 3), kg m² about that
      centre. Those that are not parameters stay: with the mass alone, the inertia does not grow with it;
    - "hand", the name of a body: (10,), mass, centre of mass and inertia about it, xx yx yy zx zy zz;
    - "moments of hand": (10,), mass, m c, and inertia about the origin of the body frame, xx yx yy zx zy zz. Forces are
      linear in them;
    - "payload of tool", with the name of a frame or body: (10,), numbers as for a body, of mass added there;
    - "placement of wrist", with the name of a joint, of the body it moves, or of a frame: (7,), position (m) and unit
      quaternion (x y z w) in the parent's body frame; "position of wrist": (3,); "rotation of wrist": (4,);
    - "armature of knee", "damping of knee", "stiffness of knee": (nv of the joint,); "rest of knee": (nq of it,);
      "friction of knee", which simulations alone read: (nv of the joint,).

    Masses, armature, damping, stiffness, friction and principal moments of inertia must not be negative (beyond
    rounding, 1e-6 of the sum of the moments), unless those of the model are. A moment may exceed the sum of the others.
    "moments" and payloads may have any value, because forces are linear in them; a negative payload removes mass.

    Examples
    --------
    >>> import bough
    >>> from bough.model import Parameters
    >>> b = bough.Builder()
    >>> b.add("rod", bough.joints.Revolute("y"), mass=1.5, com=(0, 0, -0.5), inertia=0.1)
    1
    >>> mass, gravity = Parameters.of(b.build(), ["mass of rod", "gravity"])
    >>> mass.values, gravity.shape
    (array(1.5), (3,))
    """

    entries: tuple[Parameter, ...] = ()

    @staticmethod
    def of(model: Model, names: str | Iterable[str] | Parameters) -> Parameters:
        """Return the parameters with the given names. For an unknown name, `UnknownNameError` lists similar ones."""
        if not isinstance(model, Model):
            raise ModelError(f"the model is {kind_of(model)}, expected a bough.Model")
        wanted = names.names if isinstance(names, Parameters) else reading.names(names, "parameters")
        entries = tuple(_of_rigid_body(model, _read(model, name)) for name in wanted)
        said: dict[tuple[str, int, str], str] = {}
        for entry in entries:
            for part in entry.covers:
                if part in said:
                    raise ModelError(f"the parameters {said[part]!r} and {entry.name!r} overlap, expected one of them")
                said[part] = entry.name
        return Parameters(entries)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters, in order."""
        return tuple(entry.name for entry in self.entries)

    @property
    def sizes(self) -> dict[str, int]:
        """Number of entries of each parameter, by name, as `bough.program.trace` takes the inputs."""
        return {entry.name: entry.size for entry in self.entries}

    @property
    def digest(self) -> str:
        """Text that identifies the inputs and their order."""
        return repr([(p.name, p.what, p.body, p.frame, p.size) for p in self.entries])

    def on(self, model: Model) -> Parameters:
        """Return the parameters with the same names of another model, whose bodies and joints may have another
        order.
        """
        return Parameters.of(model, self.names)

    def __iter__(self) -> Iterator[Parameter]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


NO_PARAMETERS = Parameters()


def _read(model: Model, name: object) -> Parameter:
    if not isinstance(name, str):
        raise UnknownNameError("parameter", name, _names(model))
    if name == "gravity":
        return Parameter(
            name, "gravity", 0, "", (3,), model.gravity, "acceleration of gravity in the base frame (m/s²)"
        )
    if name in model.body_names:
        return _inertial(model, name, "body", name)
    what, of, whose = name.partition(" of ")
    if not of:
        raise UnknownNameError("parameter", name, _names(model))
    if what not in SORTS:
        raise UnknownNameError("sort of parameter", what, SORTS)
    if what in PLACED:
        return _placement(model, name, what, whose)
    if what in PER_DOF:
        k = joint_number(model, whose)
        values = getattr(model.joints[k], what)
        return Parameter(name, what, k + 1, "", (len(values),), values, f"{PER_DOF[what]} of joint {whose!r}")
    if what == "payload":
        place = model.frame(whose)
        if not place.body:
            raise ModelError(
                f"{name!r} cannot be a parameter: {whose!r} is fixed to the base, where mass has no effect"
            )
        frame = "" if whose in model.body_names else whose
        return Parameter(name, what, place.body, frame, (10,), (0.0,) * 10, PAYLOAD)
    return _inertial(model, name, what, whose)


def _of_rigid_body(model: Model, p: Parameter) -> Parameter:
    """A parameter, unless it is of a flexible body or of one of its stations."""
    joint = model.joints[p.body - 1].joint if p.body and not (p.what in PLACED and p.frame) else None
    if isinstance(joint, Elastic | Station):
        name = model.bodies[p.body - 1].name
        raise ModelError(f"{p.name!r} cannot be a parameter: {name!r} is a flexible body or a place on one")
    return p


def _inertial(model: Model, name: str, what: str, whose: str) -> Parameter:
    i = body_number(model, whose)
    inertia = model.bodies[i - 1].inertia
    mass, com, (xx, yx, yy, zx, zy, zz) = inertia.mass, inertia.com, inertia.rotational
    values = {
        "body": (mass, *com, *inertia.rotational),
        "mass": (mass,),
        "com": com,
        "inertia": (xx, yx, zx, yx, yy, zy, zx, zy, zz),
        "moments": (mass, *(mass * x for x in com), *_lower(inertia.about_origin())),
    }
    shape, meaning = INERTIAL[what]
    return Parameter(name, what, i, "", shape, values[what], f"{meaning} of body {whose!r}")


def _placement(model: Model, name: str, what: str, whose: str) -> Parameter:
    frame = next((frame for frame in model.frames if frame.name == whose), None)
    if frame is not None and whose not in model.joint_names:
        body, place, of = frame.body, frame.placement, f"frame {whose!r}"
    else:
        body = moved_by(model, whose, (frame.name for frame in model.frames))
        place, of = model.joints[body - 1].placement, f"joint {model.joint_names[body - 1]!r}"
    q = Quaternion.of_rotation(Matrix.of_rows(place.rotation))
    turn = (float(q.x), float(q.y), float(q.z), float(q.w))
    values = {"placement": (*place.origin, *turn), "position": place.origin, "rotation": turn}
    shape, meaning = PLACED[what]
    title = whose if of.startswith("frame") else ""
    return Parameter(name, what, body, title, shape, values[what], f"{meaning} of {of}")


def _lower(J: NDArray[np.float64]) -> tuple[float, ...]:
    (xx, _, _), (yx, yy, _), (zx, zy, zz) = J.tolist()
    return (xx, yx, yy, zx, zy, zz)


def _names(model: Model) -> list[str]:
    """All names that parameters of a model may have."""
    bodies, joints, frames = model.body_names, model.joint_names, model.frame_names
    return [
        "gravity",
        *bodies,
        *(f"{what} of {body}" for what in INERTIAL if what != "body" for body in bodies),
        *(f"payload of {frame}" for frame in frames),
        *(f"{what} of {name}" for what in PLACED for name in dict.fromkeys((*joints, *frames)) if name != BASE),
        *(f"{what} of {joint}" for what in PER_DOF for joint in joints),
    ]


def without_values(model: Model, parameters: Parameters) -> Model:
    """The model with nothing in place of what is given with each state, so that no program depends on it."""
    bodies, joints, gravity = list(model.bodies), list(model.joints), model.gravity
    for p in parameters:
        k = p.body - 1
        if p.what == "gravity":
            gravity = (0.0, 0.0, 0.0)
        elif p.what in INERTIAL:
            bodies[k] = replace(bodies[k], inertia=NOWHERE)
        elif p.what in PLACED and not p.frame:
            place = joints[k].placement
            turn = place.rotation if p.what == "position" else HERE.rotation
            origin = place.origin if p.what == "rotation" else HERE.origin
            joints[k] = replace(joints[k], placement=Placement(turn, origin))
        elif p.what in PER_DOF:
            joints[k] = _without(joints[k], p.what)
    return model.with_checked(bodies=tuple(bodies), joints=tuple(joints), gravity=gravity)


def _without(entry: JointEntry, what: str) -> JointEntry:
    """A joint without armature, losses or spring, or with one that rests in its neutral configuration."""
    none = (0.0,) * own_joint(entry.joint).nv
    if what == "rest":
        return replace(entry, rest=tuple(own_joint(entry.joint).neutral()))
    changes: dict[str, Any] = {what: none}
    return replace(entry, **changes)
