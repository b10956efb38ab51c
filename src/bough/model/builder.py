"""The builder: bodies are added one by one, each on a parent that exists, and checked as they come."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from bough.errors import ModelError
from bough.model.arguments import (
    FINITE,
    read_inertia,
    read_limits,
    read_loop,
    read_placement,
    require_joint,
    require_name,
    spread,
)
from bough.model.attaching import add_flexible
from bough.model.checking import read_gravity
from bough.model.constraints import Attachment, Constraint, Equality
from bough.model.coupling import own_joint
from bough.model.geometry import Geometry, geometry_title, read_geometry
from bough.model.joints import Fixed, Joint
from bough.model.joints.elastic import Station
from bough.model.joints.reading import read_floats
from bough.model.model import BASE, Model
from bough.model.parts import HERE, Body, Frame, Inertia, JointEntry, Placement
from bough.model.simulation import NOTHING_SAID
from bough.model.stations import require_rigid
from bough.model.surface import DEFAULT_SURFACE, SOFT, Softness, Surface, require_softness
from bough.reading import counted, kind_of, known_name
from bough.tree import Tree

__all__ = ["Builder"]


class Builder:
    """Build a model body by body.

    A call that raises an error changes nothing. The base is called ``"world"``.

    Parameters
    ----------
    name
        Name of the mechanism.
    gravity
        Acceleration of gravity (m/s²) in the base frame.

    Examples
    --------
    >>> import bough
    >>> b = bough.Builder("pendulum")
    >>> b.add("rod", bough.joints.Revolute("y"), mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.001))
    1
    >>> b.build()
    <Model 'pendulum': 1 body, nq = 1, nv = 1>
    """

    def __init__(self, name: str = "mechanism", gravity: ArrayLike = (0.0, 0.0, -9.81)) -> None:
        require_name(name, "the mechanism")
        self._name, self._gravity = name, read_gravity(gravity)
        self._parents: list[int] = []
        self._bodies: list[Body] = []
        self._joints: list[JointEntry] = []
        self._titles: dict[str, Joint] = {}
        self._frames: list[Frame] = []
        self._geometries: list[Geometry] = []
        self._constraints: dict[str, Constraint] = {}
        self._places: dict[str, tuple[int, Placement]] = {BASE: (0, HERE)}
        self._inner_root, self._simulation = 0, NOTHING_SAID

    def __repr__(self) -> str:
        return f"<Builder {self._name!r}: {counted(len(self._bodies), 'body', 'bodies')}>"

    @classmethod
    def of(cls, model: Model) -> Builder:
        """Return a builder with all parts of a model, to add more. The model does not change.

        Examples
        --------
        >>> import bough
        >>> b = bough.Builder("pendulum")
        >>> b.add("rod", bough.joints.Revolute("y"), mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.001))
        1
        >>> b = bough.Builder.of(b.build())
        >>> b.add("second rod", bough.joints.Revolute("y"), "rod", at=(0, 0, -1), mass=1.0, com=(0, 0, -0.5))
        2
        >>> b.build()
        <Model 'pendulum': 2 bodies, nq = 2, nv = 2>
        """
        if not isinstance(model, Model):
            raise ModelError(f"the model is {kind_of(model)}, expected a bough.Model")
        b = cls(model.name, model.gravity)
        b._parents, b._bodies = [*model.tree.parents], [*model.bodies]
        b._joints += model.joints
        b._titles.update((entry.name, entry.joint) for entry in model.joints)
        b._frames += model.frames
        b._geometries += model.geometries
        b._constraints.update((constraint.name, constraint) for constraint in model.constraints)
        b._places.update((name, (i, HERE)) for i, name in enumerate(model.body_names, start=1))
        b._places.update((frame.name, (frame.body, frame.placement)) for frame in model.frames)
        b._inner_root = model.inner_root
        b._simulation = model.simulation
        return b

    def add(
        self,
        name: str,
        joint: Joint,
        parent: str = BASE,
        *,
        joint_name: str | None = None,
        at: ArrayLike | Placement = (0.0, 0.0, 0.0),
        rpy: ArrayLike | None = None,
        rotation: ArrayLike | None = None,
        frame_at: ArrayLike | Placement = (0.0, 0.0, 0.0),
        frame_rotation: ArrayLike | None = None,
        mass: float = 0.0,
        com: ArrayLike = (0.0, 0.0, 0.0),
        inertia: ArrayLike | Inertia = 0.0,
        lower: ArrayLike = -math.inf,
        upper: ArrayLike = math.inf,
        velocity: ArrayLike = math.inf,
        effort: ArrayLike = math.inf,
        damping: ArrayLike = 0.0,
        friction: ArrayLike = 0.0,
        armature: ArrayLike = 0.0,
        stiffness: ArrayLike = 0.0,
        rest: ArrayLike | None = None,
        limit_softness: Softness = SOFT,
        friction_softness: Softness = SOFT,
    ) -> int:
        """Add a body on a joint and return its number.

        Parameters
        ----------
        name
            Name of the body. Bodies and frames share one set of names.
        joint
            How the body moves relative to its parent.
        parent
            Name of the parent: a body, a frame or a merged body.
        joint_name
            Name of the joint (default: the name of the body).
        at, rpy, rotation
            Placement of the joint frame in the parent: position (m), and either roll, pitch, yaw (rad) or a (3, 3)
            rotation. `at` may also be a `Placement`, here and in all other methods.
        frame_at, frame_rotation
            Placement of the body frame in the moving side of the joint: position (m) and (3, 3) rotation (default:
            identity). For a hinge through the point c of its body: c in the parent as `at`, and ``frame_at=-c``.
        mass, com, inertia
            Mass (kg), centre of mass (m, body frame), and inertia about the centre of mass (kg m²): a number, three
            principal moments or a symmetric (3, 3) matrix. An `Inertia` contains all three.
        lower, upper
            Limits of q (rad or m); a number applies to all entries. Quaternions have no limits (infinity).
        velocity, effort, damping, friction, armature, stiffness
            Per degree of freedom; a number applies to all. Simulations use limits, damping, friction and springs.
            Dynamics functions use them only on request. Armature always acts.
        rest
            Configuration in which the spring is at rest (default: neutral).
        limit_softness, friction_softness
            How softly limits and friction hold in a simulation with soft contact.

        Returns
        -------
        int
            Number of the body, or for a fixed joint of the body into which it was merged. A body fixed to the base
            becomes a frame, and its inertia has no effect.
        """
        body, place, what = self._new(name, parent, f"body {name!r}", joint)
        require_joint(joint, what)
        placement = place.then(read_placement(at, rpy, rotation, what))
        own_frame = read_placement(frame_at, None, frame_rotation, f"{what}: frame")
        mass_props = read_inertia(mass, com, inertia, what)
        if isinstance(joint, Fixed):
            self._merge(name, body, placement.then(own_frame), mass_props)
            return body
        title = name if joint_name is None else joint_name
        what = f"joint {title!r}"
        require_name(title, what)
        if title in self._titles:
            raise ModelError(f"{what}: there is a joint of this name already")
        limits = read_limits(
            joint, what, lower=lower, upper=upper, velocity=velocity, effort=effort, damping=damping,
            friction=friction, stiffness=stiffness, rest=rest, limit_softness=limit_softness,
            friction_softness=friction_softness,
        )  # fmt: skip
        rotors = spread(armature, own_joint(joint).nv, f"{what}: armature", FINITE)
        entry = JointEntry(title, joint, placement, armature=rotors, **limits)
        self._parents.append(body)
        self._bodies.append(Body(name, mass_props, own_frame))
        self._joints.append(entry)
        self._titles[title] = joint
        self._places[name] = (len(self._bodies), HERE)
        return len(self._bodies)

    add_flexible = add_flexible

    def frame(
        self,
        name: str,
        body: str,
        *,
        at: ArrayLike | Placement = (0.0, 0.0, 0.0),
        rpy: ArrayLike | None = None,
        rotation: ArrayLike | None = None,
    ) -> None:
        """Add a named frame to a body, to the base, or to another frame."""
        number, place, what = self._new(name, body, f"frame {name!r}")
        placement = place.then(read_placement(at, rpy, rotation, what))
        self._frames.append(Frame(name, number, placement))
        self._places[name] = (number, placement)

    def geometry(
        self,
        body: str,
        shape: str,
        size: ArrayLike,
        *,
        name: str = "",
        at: ArrayLike | Placement = (0.0, 0.0, 0.0),
        rpy: ArrayLike | None = None,
        rotation: ArrayLike | None = None,
        purpose: str = "collision",
        file: str = "",
        rgba: ArrayLike | None = None,
        surface: Surface = DEFAULT_SURFACE,
        heights: ArrayLike | None = None,
        triangles: ArrayLike | None = None,
    ) -> None:
        """Add a shape to a body, to the base, or to a frame. Dynamics functions do not use shapes.

        Parameters
        ----------
        body
            Name of the body or frame that carries it.
        shape, size
            "box", "sphere", "cylinder", "capsule", "ellipsoid", "plane", "height_field" or "mesh", and its dimensions
            (m); see `bough.Geometry`.
        name, purpose
            Optional name; "collision" or "visual".
        at, rpy, rotation
            Placement in the body or frame: position (m), and either roll, pitch, yaw (rad) or a (3, 3) rotation.
        file, triangles
            File of a mesh, stored unchanged and not opened; or its triangles (n, 9), nine numbers each, in m.
        rgba
            Colour: red, green, blue and opacity, each 0 to 1.
        surface
            Contact properties; see `bough.simulation.Surface`.
        heights
            Heights of a height field above its origin (m): rows along y, columns along x.
        """
        number, place = self._places[known_name(body, "body or frame to put a geometry on", self._places)]
        what = geometry_title(name, body)
        require_rigid(self._bodies, self._joints, number, what)
        placement = place.then(read_placement(at, rpy, rotation, what))
        more = file, rgba, surface, what, heights, triangles
        self._geometries.append(read_geometry(name, body, number, placement, shape, size, purpose, *more))

    def loop(
        self,
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
    ) -> None:
        """Add a joint that closes a loop. `bough.forward_dynamics` includes loops; `bough.aba` and similar functions
        ignore them.

        Parameters
        ----------
        name
            Name of the constraint.
        joint
            How the successor may move relative to the predecessor, `bough.joints.Fixed` among others.
        predecessor, successor
            Names of two bodies, or of frames on two bodies; one may be the base.
        at, rpy, rotation
            Placement of the joint's fixed side in the predecessor: position (m), and either roll, pitch, yaw (rad) or
            a (3, 3) rotation.
        successor_at, successor_rpy, successor_rotation
            Placement of the joint's moving side in the successor.
        lower, upper, velocity, effort, damping, friction, stiffness, rest
            Limits and losses of the joint, as in `add`. Only joints of the tree can have armature. Limits act in
            `bough.contact` and in `bough.loops.assemble`; add `bough.passive_forces` to tau for springs and dampers.
        softness
            How softly it holds in a simulation with soft contact.
        """
        self._new_constraint(name)
        sides = ((predecessor, at, rpy, rotation), (successor, successor_at, successor_rpy, successor_rotation))
        self._constraints[name] = read_loop(
            name, joint, sides, self._places, (self._bodies, self._joints), lower=lower, upper=upper, velocity=velocity,
            effort=effort, damping=damping, friction=friction, stiffness=stiffness, rest=rest, softness=softness,
        )  # fmt: skip

    def equality(
        self,
        name: str,
        joint: str,
        other: str | None,
        polynomial: ArrayLike,
        *,
        zero: float = 0.0,
        other_zero: float = 0.0,
        softness: Softness = SOFT,
    ) -> None:
        """Add a law between the coordinates of two joints. The same functions include it as include a `loop`.

        Parameters
        ----------
        name
            Name of the constraint.
        joint, other
            Names of joints with one degree of freedom. Without `other`, the coordinate of `joint` is constant.
        polynomial
            Coefficients c₀, c₁, … of the law q - zero = c₀ + c₁ x + c₂ x² + …, where x = q(other) - other_zero.
        zero, other_zero
            Coordinates (rad or m) from which the two are measured.
        softness
            How softly it holds in a simulation with soft contact.
        """
        what = self._new_constraint(name)
        for title in (joint,) if other is None else (joint, other):
            count = self._titles[known_name(title, f"joint that {what} could couple", self._titles)].nv
            if count != 1:
                raise ModelError(f"{what}: joint {title!r} has {count} degrees of freedom, expected one")
        c = np.atleast_1d(read_floats(polynomial, f"{what}: the polynomial", "finite numbers"))
        zeros = read_floats((zero, other_zero), f"{what}: zero", "finite numbers")
        if c.ndim != 1 or not np.isfinite(c).all() or not np.isfinite(zeros).all():
            raise ModelError(f"{what}: the polynomial is {polynomial!r}, expected finite numbers")
        coefficients = tuple(float(x) for x in c)
        soft = require_softness(softness, f"{what}: softness")
        self._constraints[name] = Equality(name, joint, other, coefficients, float(zeros[0]), float(zeros[1]), soft)

    def _new_constraint(self, name: str) -> str:
        what = f"constraint {name!r}"
        require_name(name, what)
        if name in self._constraints:
            raise ModelError(f"{what}: there is a constraint of this name already")
        return what

    def where(self, name: str) -> Attachment:
        """Return the body that carries a body or frame (possibly itself), and the placement in it."""
        known_name(name, "body or frame", self._places)
        return Attachment(*self._places[name])

    def build(self) -> Model:
        """Return the model. You can continue to use the builder."""
        model = Model.of_checked(
            name=self._name,
            tree=Tree(self._parents),
            bodies=tuple(self._bodies),
            joints=tuple(self._joints),
            frames=tuple(self._frames),
            gravity=self._gravity,
            geometries=tuple(self._geometries),
            constraints=tuple(self._constraints.values()),
            inner_root=self._inner_root,
            simulation=self._simulation,
        )
        model.coupling  # noqa: B018 (mimic joints that follow nothing are found here)
        return model

    def _new(self, name: str, parent: str, what: str, joint: Joint | None = None) -> tuple[int, Placement, str]:
        require_name(name, what)
        if name in self._places:
            raise ModelError(f"{what}: there is a body or frame of this name already")
        body, place = self._places[known_name(parent, f"body or frame to attach {name!r} to", self._places)]
        if not isinstance(joint, Station):
            require_rigid(self._bodies, self._joints, body, what)
        return body, place, what

    def _merge(self, name: str, body: int, placement: Placement, inertia: Inertia) -> None:
        """A body on a fixed joint becomes part of its parent; the base swallows inertia without effect."""
        if body:
            old = self._bodies[body - 1]
            self._bodies[body - 1] = replace(old, inertia=old.inertia.plus(inertia.placed(placement)))
        self._frames.append(Frame(name, body, placement))
        self._places[name] = (body, placement)
