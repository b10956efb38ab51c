"""Models from models: something added, changed or taken away. The model itself stays as it is.

These are methods of `Model`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from bough.errors import ModelError, UnknownNameError
from bough.model.arguments import (
    FINITE,
    LIMITS,
    SOFTNESSES,
    read_limits,
    read_loop,
    read_placement,
    require_name,
    spread,
)
from bough.model.checking import read_gravity
from bough.model.coupling import own_joint
from bough.model.inertia import require_inertia
from bough.model.joints import Fixed, Joint
from bough.model.joints.elastic import Station
from bough.model.parts import Frame, Inertia, Placement
from bough.model.removal import remaining
from bough.model.simulation import check_simulation
from bough.model.stations import require_rigid
from bough.model.surface import SOFT, Softness
from bough.model.ties.constraint import Constraint as Vanishing
from bough.model.tying import read_tie
from bough.reading import known_name

if TYPE_CHECKING:
    from bough.model.model import Model

__all__ = [
    "body_number", "joint_number", "moved_by", "with_armature", "with_body", "with_constraint", "with_frame",
    "with_gravity", "with_inertia", "with_joint", "with_loop", "with_placement", "with_simulation", "without",
]  # fmt: skip


def with_body(model: Model, name: str, joint: Joint, parent: str = "world", **arguments: Any) -> Model:
    """Return a copy with an additional body; arguments as in `bough.Builder.add`.

    With a fixed joint, it becomes part of its parent, for example a payload on a tool. `without` removes it again.

    Examples
    --------
    >>> import bough
    >>> b = bough.Builder("arm")
    >>> b.add("link", bough.joints.Revolute("y"), mass=1.0, com=(0, 0, 0.2), inertia=0.01)
    1
    >>> b.frame("flange", "link", at=(0, 0, 0.4))
    >>> loaded = b.build().with_body("parcel", bough.joints.Fixed(), "flange", mass=2.0, inertia=0.01)
    >>> loaded.mass, loaded.without("parcel").mass
    (3.0, 1.0)
    """
    from bough.model.builder import Builder

    builder = Builder.of(model)
    builder.add(name, joint, parent, **arguments)
    made = builder.build()
    if not isinstance(joint, Fixed):
        return made
    *others, frame = made.frames
    inertia = arguments.get("inertia", 0.0)
    if not isinstance(inertia, Inertia):
        inertia = Inertia.of(arguments.get("mass", 0.0), arguments.get("com", (0.0, 0.0, 0.0)), inertia, name)
    return made.with_checked(frames=(*others, replace(frame, inertia=inertia)))


def with_frame(
    model: Model,
    name: str,
    body: str,
    *,
    at: ArrayLike | Placement = (0.0, 0.0, 0.0),
    rpy: ArrayLike | None = None,
    rotation: ArrayLike | None = None,
) -> Model:
    """Return a copy with an additional named frame; arguments as in `bough.Builder.frame`."""
    from bough.model.builder import Builder

    builder = Builder.of(model)
    builder.frame(name, body, at=at, rpy=rpy, rotation=rotation)
    return builder.build()


def with_loop(
    model: Model,
    name: str,
    joint: Joint,
    predecessor: str,
    successor: str,
    *,
    at: ArrayLike | Placement = (0.0, 0.0, 0.0),
    rpy: ArrayLike | None = None,
    rotation: ArrayLike | None = None,
    successor_at: ArrayLike | Placement = (0.0, 0.0, 0.0),
    successor_rpy: ArrayLike | None = None,
    successor_rotation: ArrayLike | None = None,
    lower: ArrayLike = -math.inf,
    upper: ArrayLike = math.inf,
    velocity: ArrayLike = math.inf,
    effort: ArrayLike = math.inf,
    damping: ArrayLike = 0.0,
    friction: ArrayLike = 0.0,
    stiffness: ArrayLike = 0.0,
    rest: ArrayLike | None = None,
    softness: Softness = SOFT,
) -> Model:
    """Return a copy with an additional joint that closes a loop; arguments as in `bough.Builder.loop`.

    `forward_dynamics`, `inverse_dynamics`, `bough.loops` and `bough.contact` include loops; `aba`, `rnea` and all
    others ignore them. Limits act in `bough.contact` and in `loops.assemble`. For springs and dampers add
    `passive_forces` to tau. Dry friction and velocity limits act on request (``dry_friction=True``,
    ``limits="velocity"``).
    """
    require_name(name, f"constraint {name!r}")
    if any(constraint.name == name for constraint in model.constraints):
        raise ModelError(f"constraint {name!r}: there is a constraint of this name already")
    places = {title: (f.body, f.placement) for title in model.frame_names for f in (model.frame(title),)}
    sides = ((predecessor, at, rpy, rotation), (successor, successor_at, successor_rpy, successor_rotation))
    loop = read_loop(
        name, joint, sides, places, (model.bodies, model.joints), lower=lower, upper=upper, velocity=velocity,
        effort=effort, damping=damping, friction=friction, stiffness=stiffness, rest=rest, softness=softness,
    )  # fmt: skip
    return model.with_checked(constraints=(*model.constraints, loop))


def with_constraint(
    model: Model,
    name: str,
    constraint: Vanishing,
    *bodies: str,
    joints: str | Sequence[str] = (),
    softness: Softness = SOFT,
) -> Model:
    """Return a copy with an additional constraint, which computes what must vanish: your own, or a kind of bough.

    `forward_dynamics`, `inverse_dynamics`, `bough.loops` and `bough.contact` include it like loops.

    Parameters
    ----------
    model
        The mechanism.
    name
        Name of the constraint.
    constraint
        The constraint, on positions or on velocities: a kind of `bough.maximal.constraints`, such as ``Skate("y")``, or
        your own subclass of `bough.maximal.constraints.Constraint`.
    bodies
        Names of the bodies or frames, in the order of the sides that the constraint receives.
    joints
        Names of joints whose coordinates it uses (x and v of their sides). Their sides come after those of bodies.
    softness
        How softly it holds in a simulation with soft contact.

    Examples
    --------
    A sledge on a plane that cannot move across its runner:

    >>> import bough
    >>> b = bough.Builder("sledge", gravity=(0.0, 0.0, 0.0))
    >>> _ = b.add("sledge", bough.joints.Planar("z"), mass=1.0, inertia=1.0)
    >>> sledge = b.build().with_constraint("runner", bough.maximal.constraints.Skate("y"), "sledge")
    >>> bough.forward_dynamics(sledge, [0.0, 0.0, 0.0], [2.0, 0.0, 3.0], [0.0, 5.0, 0.0]).tolist()
    [0.0, 0.0, 0.0]
    """
    require_name(name, f"constraint {name!r}")
    if any(known.name == name for known in model.constraints):
        raise ModelError(f"constraint {name!r}: there is a constraint of this name already")
    places = {title: (f.body, f.placement) for title in model.frame_names for f in (model.frame(title),)}
    tie = read_tie(name, constraint, bodies, joints, places, (model.bodies, model.joints), softness)
    return model.with_checked(constraints=(*model.constraints, tie))


def with_gravity(model: Model, gravity: ArrayLike) -> Model:
    """Return a copy with another acceleration of gravity: (3,) in m/s², in the base frame."""
    return model.with_checked(gravity=read_gravity(gravity))


def with_simulation(model: Model, **changes: Any) -> Model:
    """Return a copy with other simulation data. Attributes that are not given do not change.

    Parameters
    ----------
    changes
        Any attributes of `model.simulation`, a `bough.simulation.SimulationData`: timestep, integrator, actuators, …

    Examples
    --------
    >>> import bough
    >>> bough.robots.load("quadruped").with_simulation(timestep=0.001).simulation.timestep
    0.001
    """
    for name in changes:
        known_name(name, "part of the data for simulation", [field.name for field in fields(model.simulation)])
    made = model.with_checked(simulation=replace(model.simulation, **changes))
    check_simulation(made)
    return made


def with_inertia(
    model: Model,
    body: str,
    *,
    mass: float | None = None,
    com: ArrayLike | None = None,
    inertia: ArrayLike | Inertia | None = None,
) -> Model:
    """Return a copy with another inertia of one body. Values that are not given do not change.

    Parameters
    ----------
    body
        Name of the body.
    mass, com, inertia
        Mass (kg), centre of mass (3,) in the body frame (m) and inertia about it (kg m²): a number, three principal
        moments or a symmetric (3, 3) matrix. An `Inertia` contains all three. The numbers include everything that was
        merged with the body.

    Examples
    --------
    >>> import bough
    >>> b = bough.Builder()
    >>> b.add("rod", bough.joints.Revolute("y"), mass=1.0, com=(0, 0, -0.5), inertia=0.1)
    1
    >>> b.build().with_inertia("rod", mass=2.0).mass
    2.0
    """
    i, what = body_number(model, body), f"body {body!r}"
    require_rigid(model.bodies, model.joints, i, "another inertia")
    old = model.bodies[i - 1].inertia
    if isinstance(inertia, Inertia):
        if mass is not None or com is not None:
            raise ModelError(f"{what}: give an Inertia, or mass, com and inertia, not both")
        require_inertia(inertia, what)
        new = inertia
    else:
        whole = old.matrix if inertia is None else inertia
        new = Inertia.read(old.mass if mass is None else mass, old.com if com is None else com, whole, what)
    if inertia is not None and new.flaw is not None:
        raise ModelError(f"{what}: {new.flaw}")
    bodies = (*model.bodies[: i - 1], replace(model.bodies[i - 1], inertia=new), *model.bodies[i:])
    frames = tuple(replace(frame, inertia=None) if frame.body == i else frame for frame in model.frames)
    return model.with_checked(bodies=bodies, frames=frames)


def with_joint(model: Model, joint: str, **numbers: Any) -> Model:
    """Return a copy with other limits, losses, springs or armature of one joint.

    Parameters
    ----------
    joint
        Name of the joint.
    numbers
        Any of lower, upper, velocity, effort, damping, friction, armature, stiffness and rest, as in
        `bough.Builder.add`: a number for all, or one for each entry of the joint's q or v. Also limit_softness and
        friction_softness.
    """
    k, what = joint_number(model, joint), f"joint {joint!r}"
    entry = model.joints[k]
    for sort in numbers:
        if sort not in (*LIMITS, *SOFTNESSES, "armature"):
            raise UnknownNameError(f"number of {what}", sort, (*LIMITS, *SOFTNESSES, "armature"))
    rotors = spread(numbers.pop("armature", entry.armature), own_joint(entry.joint).nv, f"{what}: armature", FINITE)
    limits = read_limits(entry.joint, what, **{sort: getattr(entry, sort) for sort in LIMITS} | numbers)
    new = replace(entry, armature=rotors, **limits)
    made = model.with_checked(joints=(*model.joints[:k], new, *model.joints[k + 1 :]))
    return made.rerooted(made.bodies[model.inner_root - 1].name) if model.inner_root else made


def with_armature(model: Model, joint: str, armature: ArrayLike) -> Model:
    """Return a copy with another armature of one joint (kg m² or kg): a number, or one per degree of freedom."""
    return model.with_joint(joint, armature=armature)


def with_placement(
    model: Model,
    name: str,
    at: ArrayLike | Placement = (0.0, 0.0, 0.0),
    *,
    rpy: ArrayLike | None = None,
    rotation: ArrayLike | None = None,
) -> Model:
    """Return a copy with another placement of a joint on its parent, or of a frame on its body.

    Parameters
    ----------
    name
        Name of a joint, of the body that it moves, or of a frame. The shapes of a frame move with it, and so does its
        own inertia if that is known (see `with_body`).
    at, rpy, rotation
        The new placement in the parent's body frame: position (m), and either roll, pitch, yaw (rad) or a (3, 3)
        rotation, or a whole `Placement`.
    """
    place = read_placement(at, rpy, rotation, f"{name!r}")
    known_name(name, "body, joint or frame", {*model.joint_names, *model.frame_names})
    k = next((k for k, frame in enumerate(model.frames) if frame.name == name), None)
    if k is not None and name not in model.joint_names:
        return _with_frame_at(model, k, place)
    i = moved_by(model, name, (frame.name for frame in model.frames))
    if isinstance(model.joints[i - 1].joint, Station):
        raise ModelError(f"{name!r} is a station, expected another joint: it is where its flexible body says it is")
    new = replace(model.joints[i - 1], placement=place)
    return model.with_checked(joints=(*model.joints[: i - 1], new, *model.joints[i:]))


def without(model: Model, *names: str) -> Model:
    """Return a copy without some parts: a gripper, a payload, a loop.

    Removing a body removes its joint and everything that it carries: bodies, frames, shapes, and constraints on them.
    Removing a frame removes its shapes, and its own inertia if that is known (from `with_body`, or from a file loaded
    with ``merge_fixed=False``). Otherwise merged inertia stays part of the body.

    Parameters
    ----------
    names
        Names of bodies, joints (with the bodies that they move), frames or constraints.

    Raises
    ------
    UnknownNameError, ModelError
        If there is no such part, or if a remaining joint follows a removed one.
    """
    return remaining(model, names, lambda name: _meant(model, name))


def body_number(model: Model, name: str) -> int:
    """Number of a moving body by name."""
    frame = next((frame for frame in model.frames if isinstance(name, str) and frame.name == name), None)
    if frame is not None:
        raise ModelError(f"{name!r} is a frame on body {model.frame_names[frame.body]!r}, expected a body")
    return model.body_names.index(known_name(name, "body", model.body_names)) + 1


def joint_number(model: Model, name: str) -> int:
    """Place of a joint in the list of joints, by name."""
    return model.joint_names.index(known_name(name, "joint", model.joint_names))


def moved_by(model: Model, name: str, others: Iterable[str] = ()) -> int:
    """Number of the body of this name, or that the joint of this name moves; errors suggest `others` too."""
    others = tuple(others)
    if not isinstance(name, str):
        raise UnknownNameError("body, joint or frame", name, {*model.body_names, *model.joint_names, *others})
    body = model.body_names.index(name) + 1 if name in model.body_names else 0
    joint = model.joint_names.index(name) + 1 if name in model.joint_names else 0
    if not body and not joint:
        raise UnknownNameError("body, joint or frame", name, {*model.body_names, *model.joint_names, *others})
    if body and joint and body != joint:
        raise ModelError(
            f"{name!r} is a body, and a joint that moves another body, {model.body_names[joint - 1]!r}: expected a "
            f"name that is one of them, such as that of the body's joint, {model.joint_names[body - 1]!r}"
        )
    return body or joint


def _with_frame_at(model: Model, k: int, place: Placement) -> Model:
    old: Frame = model.frames[k]
    move = place.then(old.placement.inverse)
    bodies = list(model.bodies)
    if old.inertia is not None and old.body:
        body = bodies[old.body - 1]
        rest = body.inertia.minus(old.inertia.placed(old.placement))
        bodies[old.body - 1] = replace(body, inertia=rest.plus(old.inertia.placed(place)))
    shapes = (replace(g, placement=move.then(g.placement)) if g.frame == old.name else g for g in model.geometries)
    return model.with_checked(
        bodies=tuple(bodies),
        frames=(*model.frames[:k], replace(old, placement=place), *model.frames[k + 1 :]),
        geometries=tuple(shapes),
    )


def _meant(model: Model, name: str) -> tuple[str, int]:
    """What a name stands for: ("body" | "frame" | "constraint", number or place)."""
    frames = [frame.name for frame in model.frames]
    constraints = [constraint.name for constraint in model.constraints]
    known_name(name, "part", {*model.body_names, *model.joint_names, *frames, *constraints})
    moving = name in model.body_names or name in model.joint_names
    if moving + (name in frames) + (name in constraints) > 1:
        raise ModelError(f"{name!r} names more than one thing among bodies, joints, frames and constraints")
    if name in frames:
        return "frame", frames.index(name)
    if name in constraints:
        return "constraint", constraints.index(name)
    return "body", moved_by(model, name, (*frames, *constraints))
