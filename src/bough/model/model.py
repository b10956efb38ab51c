"""The model: an immutable description of a mechanism, in the frames its author chose."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import FrozenInstanceError, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.errors import UnknownNameError
from bough.model import editing
from bough.model.arguments import LIMITS
from bough.model.checking import check_model, read_gravity
from bough.model.constraints import Constraint, Loop
from bough.model.coupling import Coupling, own_joint
from bough.model.geometry import Geometry
from bough.model.hanging import hung_from, root_that_floats
from bough.model.joints import Mimic
from bough.model.parts import HERE, Body, Frame, JointEntry, Vec3
from bough.model.simulation import NOTHING_SAID, Actuator, SimulationData
from bough.model.spanning import respanned
from bough.reading import counted, known_name
from bough.scalar.lazy import cached_property
from bough.tree import Tree

__all__ = ["BASE", "Model", "on_parents"]

BASE = "world"
"""Name of the base, body 0."""


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A mechanism: a tree of bodies, each on a joint. Models are immutable; `bough.Builder` makes them.

    Models with the same content are equal. Methods that begin with *with* return a changed copy. `dataclasses.replace`
    does too, and checks all parts again.

    Attributes
    ----------
    name
        Name of the mechanism.
    tree
        The tree of bodies: bodies 1 … N, base 0.
    bodies, joints
        Body i and the joint between it and its parent are at index i-1.
    frames
        Additional named frames, including merged bodies.
    gravity
        Acceleration of gravity (m/s²) in the base frame.
    geometries
        Shapes on the bodies, for contact and viewing. Dynamics functions do not use them.
    constraints
        Loops, couplings and other constraints on the tree. `bough.forward_dynamics`, `bough.inverse_dynamics`,
        `bough.loops` and `bough.contact` include them; all other functions ignore them.
    inner_root
        Number of the body that is the root inside forward dynamics (see `rerooted`); 0: the normal root.
    simulation
        Options, actuators and pairs of shapes for simulation. Dynamics functions do not use them.
    """

    name: str
    tree: Tree
    bodies: tuple[Body, ...]
    joints: tuple[JointEntry, ...]
    frames: tuple[Frame, ...]
    gravity: Vec3
    geometries: tuple[Geometry, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    inner_root: int = 0
    simulation: SimulationData = NOTHING_SAID

    def __post_init__(self) -> None:
        for name in ("bodies", "joints", "frames", "geometries", "constraints"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "gravity", read_gravity(self.gravity))
        check_model(self, BASE)

    @staticmethod
    def of_checked(**parts: Any) -> Model:
        """Make a model from all attributes, without checks; they must be valid."""
        made: Model = object.__new__(Model)
        for name, part in parts.items():
            object.__setattr__(made, name, part)
        return made

    def with_checked(self, **parts: Any) -> Model:
        """Return a copy with some attributes replaced, without checks; they must be valid."""
        return Model.of_checked(**{field.name: getattr(self, field.name) for field in fields(self)} | parts)

    @cached_property
    def nq(self) -> int:
        """Length of a configuration q."""
        return sum(entry.joint.nq for entry in self.joints)

    @cached_property
    def nv(self) -> int:
        """Length of a velocity v: the degrees of freedom."""
        return sum(entry.joint.nv for entry in self.joints)

    @property
    def nbodies(self) -> int:
        """Number of moving bodies."""
        return self.tree.n

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints, in order of the bodies they move."""
        return tuple(entry.name for entry in self.joints)

    @cached_property
    def body_names(self) -> tuple[str, ...]:
        """Names of the moving bodies."""
        return tuple(body.name for body in self.bodies)

    @cached_property
    def frame_names(self) -> tuple[str, ...]:
        """Names of all frames: the base, the bodies, then the additional frames."""
        return (BASE, *self.body_names, *(frame.name for frame in self.frames))

    @cached_property
    def dof_names(self) -> tuple[str, ...]:
        """A name for each entry of v: the name of the joint, with an index if it has several."""
        names = []
        for entry in self.joints:
            single = entry.joint.nv == 1
            names += [entry.name if single else f"{entry.name}[{k}]" for k in range(entry.joint.nv)]
        return tuple(names)

    @cached_property
    def mass(self) -> float:
        """Total mass of the moving bodies (kg)."""
        return float(sum(body.inertia.mass for body in self.bodies))

    @cached_property
    def coupling(self) -> Coupling:
        """Map from q and v to the coordinates of all joints; the identity unless there are mimic joints."""
        return Coupling.of(self.tree, self.joint_names, tuple(entry.joint for entry in self.joints))

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """The constraints that are loops."""
        return tuple(constraint for constraint in self.constraints if isinstance(constraint, Loop))

    @cached_property
    def constraint_names(self) -> tuple[str, ...]:
        """A name for each row of the constraint Jacobian: the name of the constraint, with an index if it has
        several.
        """
        return tuple(c.name if c.rows == 1 else f"{c.name}[{k}]" for c in self.constraints for k in range(c.rows))

    @property
    def actuators(self) -> tuple[Actuator, ...]:
        """The actuators, in the order of the controls: `simulation.actuators`."""
        return self.simulation.actuators

    @property
    def dof_tree(self) -> Tree:
        """The tree of the mass matrix: the expanded tree λₑ, or with mimic joints the elimination tree of the reduced
        matrix.
        """
        return self.coupling.dof_tree

    def rerooted(self, link: str) -> Model:
        """Return the same model, but compute forward dynamics from another body than the floating one.

        q, v, tau and all results stay the same: joints keep their order and meaning, and the same body floats. Only
        inside `forward_dynamics` with the mass matrix (``method="crba"``, or "auto" if that is faster), another body
        has the free joint. With a body in the middle of the mechanism, paths are shorter and the matrix has more zeros.
        `bough.trees.rerooting` finds the cheapest body.

        Parameters
        ----------
        link
            Name of the body, or of a frame on it, in a tree with a free joint on the base. The name of the floating
            body restores the plain model.

        Raises
        ------
        UnknownNameError, ModelError
            If there is no such frame, if its tree does not float, or if the free joint has armature.
        """
        body = self.frame(link).body
        return self.with_checked(inner_root=0 if root_that_floats(self, body) == body else body)

    def respanned(self, *cut: str) -> Model:
        """Return the same mechanism with another spanning tree: the named joints are cut, and all other joints form the
        tree.

        A cut joint becomes a `Loop` with the same name, and its coordinates leave q and v. A loop that is not cut
        becomes a joint, and its coordinates join q and v. All other joints keep sign, meaning and order, except that
        parents come first; former loops come last. Bodies, frames and their names stay. If all loops are closed, every
        body has the same placement as before. `bough.trees.spanning` finds the cheapest tree.

        Parameters
        ----------
        cut
            Names of joints and loops, one for each loop.

        Raises
        ------
        UnknownNameError, ModelError
            If there is no such joint, if it cannot become a loop (it has armature, follows a joint or is followed), or
            if the other joints do not form a tree.
        """
        return respanned(self, cut)

    @cached_property
    def inner(self) -> Model:
        """The model whose mass matrix forward dynamics factorises: this one, or this one with the root `inner_root`."""
        return hung_from(self, self.inner_root) if self.inner_root else self

    with_body = editing.with_body
    with_frame = editing.with_frame
    with_loop = editing.with_loop
    with_constraint = editing.with_constraint
    with_gravity = editing.with_gravity
    with_inertia = editing.with_inertia
    with_joint = editing.with_joint
    with_armature = editing.with_armature
    with_placement = editing.with_placement
    with_simulation = editing.with_simulation
    without = editing.without

    def q_slice(self, joint: str) -> slice:
        """Slice of q that contains the configuration of a joint."""
        return self._slice(joint, "nq")

    def v_slice(self, joint: str) -> slice:
        """Slice of v that contains the velocity of a joint."""
        return self._slice(joint, "nv")

    def frame(self, name: str) -> Frame:
        """Return a frame by name: an additional frame, a body frame or the base frame, with its placement in its
        body.
        """
        if not isinstance(name, str) or name not in self._frames:
            raise UnknownNameError("frame", name, self.frame_names)
        return self._frames[name]

    def path_dofs(self, frame: str) -> tuple[int, ...]:
        """Indices of the entries of v that move a frame: joints between the base and the frame, in ascending order."""
        body = self.frame(frame).body
        own = np.cumsum([0, *(own_joint(entry.joint).nv for entry in self.joints)])
        path = self.tree.path(body) if body else ()
        return tuple(sorted({int(self.coupling.v_source[k]) for i in path for k in range(own[i - 1], own[i])}))

    def joint(self, name: str) -> JointEntry:
        """Return a joint by name."""
        return self.joints[self._joint_number(name)]

    def limits(self, what: str) -> NDArray[np.float64]:
        """Return all limits or losses of one kind, as an array.

        "lower", "upper" and "rest" have length nq; "velocity", "effort", "damping", "friction", "armature" and
        "stiffness" have length nv.
        """
        moving = (entry for entry in self.joints if not isinstance(entry.joint, Mimic))
        return _numbers_of(moving, what, (*LIMITS, "armature"))

    def loop_limits(self, what: str) -> NDArray[np.float64]:
        """Return all limits or losses of one kind for the loop joints, in the order of `loops`.

        "lower", "upper" and "rest" have the layout of `bough.loops.coordinates`; "velocity", "effort", "damping",
        "friction" and "stiffness" have one entry per row of `bough.loops.coordinate_jacobian`.
        """
        return _numbers_of(self.loops, what, LIMITS)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Model) and self._content == other._content)

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[type[Model], tuple[object, ...]]:
        return Model, self._content

    def __dir__(self) -> list[str]:
        """What it is for: the rest is for those who make models."""
        inner = {"coupling", "inner", "of_checked", "with_checked"}
        return [name for name in super().__dir__() if name not in inner]

    def __repr__(self) -> str:
        inner = f", inside on {self.bodies[self.inner_root - 1].name!r}" if self.inner_root else ""
        beside = f", {counted(len(self.constraints), 'constraint')}" if self.constraints else ""
        bodies = counted(self.nbodies, "body", "bodies")
        return f"<Model {self.name!r}: {bodies}, nq = {self.nq}, nv = {self.nv}{beside}{inner}>"

    @cached_property
    def _content(self) -> tuple[object, ...]:
        parts = (self.name, self.tree, self.bodies, self.joints, self.frames, self.gravity)
        return (*parts, self.geometries, self.constraints, self.inner_root, self.simulation)

    @cached_property
    def _hash(self) -> int:
        return hash(self._content)

    @cached_property
    def _frames(self) -> dict[str, Frame]:
        own = [Frame(name, i, HERE) for i, name in enumerate((BASE, *self.body_names))]
        return {frame.name: frame for frame in (*own, *self.frames)}

    @cached_property
    def _joint_numbers(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.joint_names)}

    def _joint_number(self, name: str) -> int:
        if not isinstance(name, str) or name not in self._joint_numbers:
            raise UnknownNameError("joint", name, self.joint_names)
        return self._joint_numbers[name]

    def _slice(self, name: str, size: str) -> slice:
        k = self._joint_number(name)
        start = sum(getattr(entry.joint, size) for entry in self.joints[:k])
        return slice(start, start + getattr(self.joints[k].joint, size))


def _refuse_change(model: Model, name: str, *value: object) -> None:
    """Models never change: say what returns one that differs."""
    ways = [f"with_{name}", EDITS.get(name, "")]
    way = next((f"model.{way}(…)" for way in ways if hasattr(Model, way)), "a method that begins with with_")
    raise FrozenInstanceError(f"{name} of {model!r} cannot be set: models are immutable; {way} returns another one")


EDITS = {"bodies": "with_body", "joints": "with_joint", "frames": "with_frame", "constraints": "with_constraint"}
"""What adds or changes a part, by the attribute that holds all of them."""

Model.__setattr__ = Model.__delattr__ = _refuse_change  # type: ignore[method-assign, assignment]


def on_parents(parents: Sequence[int], **parts: Any) -> Model:
    """A model by the parent of each body and all its other parts, which are checked."""
    return Model(tree=Tree(parents), **parts)


def _numbers_of(joints: Iterable[JointEntry | Loop], what: str, sorts: Sequence[str]) -> NDArray[np.float64]:
    """The limits or losses of one sort of several joints, concatenated."""
    known_name(what, "sort of limit", sorts)
    return np.array([x for joint in joints for x in getattr(joint, what)])
