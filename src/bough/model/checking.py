"""Whether the parts of a model fit together: asked of every model that is not made by the builder, which checks as it
goes. What plainly passes is accepted by a few comparisons, since models may have 100 000 bodies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bough.errors import ModelError, UnknownNameError
from bough.model.arguments import FINITE, LIMITS, SOFTNESSES, read_limits, require_joint, require_name, spread
from bough.model.constraints import Equality, Loop, Tie
from bough.model.coupling import own_joint
from bough.model.geometry import Geometry, require_surface
from bough.model.hanging import root_that_floats
from bough.model.inertia import require_inertia
from bough.model.joints import Fixed, Joint, Mimic
from bough.model.joints.reading import read_floats
from bough.model.parts import Body, Frame, JointEntry, Vec3
from bough.model.placement import require_placement
from bough.model.simulation import check_simulation
from bough.model.stations import require_rigid, require_stations
from bough.model.surface import require_softness
from bough.model.tying import check_tie
from bough.tree import Tree

if TYPE_CHECKING:
    from bough.model.model import Model

__all__ = ["check_model", "read_gravity"]


def read_gravity(gravity: Any) -> Vec3:
    """Three finite numbers."""
    g = read_floats(gravity, "gravity", "three finite numbers (m/s²)")
    if g.shape != (3,) or not all(map(math.isfinite, g.tolist())):
        raise ModelError(f"gravity is {gravity!r}, expected three finite numbers (m/s²)")
    x, y, z = g.tolist()
    return (x, y, z)


def check_model(model: Model, base: str) -> None:
    """Raise `ModelError` unless every part of a model is sound and they belong together; the message names the part."""
    require_name(model.name, "the mechanism")
    if not isinstance(model.tree, Tree):
        raise ModelError(f"model {model.name!r}: the tree is {model.tree!r}, expected a bough.trees.Tree")
    n = model.tree.n
    for what, parts, kind in (("bodies", model.bodies, Body), ("joints", model.joints, JointEntry)):
        if len(parts) != n:
            raise ModelError(f"model {model.name!r} has {len(parts)} {what}, expected {n}: its tree has as many nodes")
        _require_kind(model, what, parts, kind)
    _require_kind(model, "frames", model.frames, Frame)
    _require_kind(model, "geometries", model.geometries, Geometry)
    _require_kind(model, "constraints", model.constraints, (Loop, Equality, Tie))
    _require_new("body or frame", [base, *model.body_names, *(frame.name for frame in model.frames)])
    _require_new("joint", list(model.joint_names))
    _require_new("constraint", [constraint.name for constraint in model.constraints])
    for body in model.bodies:
        require_inertia(body.inertia, f"body {body.name!r}")
        require_placement(body.frame, f"frame of body {body.name!r}")
    for joint in dict.fromkeys(entry.joint for entry in model.joints):
        _require_moving(model, joint)
    for entry in model.joints:
        require_placement(entry.placement, f"joint {entry.name!r}")
        _check_limits(entry, f"joint {entry.name!r}")
        if not _not_negative(entry.armature, own_joint(entry.joint).nv):
            spread(entry.armature, own_joint(entry.joint).nv, f"joint {entry.name!r}: armature", FINITE)
    require_stations(model.tree.parents, model.bodies, model.joints)
    _check_attached(model)
    model.coupling  # noqa: B018 (mimic joints that follow nothing are found here)
    check_simulation(model)
    if model.inner_root:
        _require_body(model.inner_root, n, "inner_root")
        root_that_floats(model, model.inner_root)


def _check_attached(model: Model) -> None:
    """Frames, shapes and constraints, which refer to bodies by number and to joints by name."""
    n = model.tree.n
    for frame in model.frames:
        _require_body(frame.body, n, f"frame {frame.name!r}")
        require_rigid(model.bodies, model.joints, frame.body, f"frame {frame.name!r}")
        require_placement(frame.placement, f"frame {frame.name!r}")
        if frame.inertia is not None:
            require_inertia(frame.inertia, f"frame {frame.name!r}")
    for shape in model.geometries:
        _require_body(shape.body, n, f"geometry {shape.name!r} of {shape.frame!r}")
        require_rigid(model.bodies, model.joints, shape.body, f"geometry {shape.name!r} of {shape.frame!r}")
        require_placement(shape.placement, f"geometry on {shape.frame!r}")
        require_surface(shape.surface, f"geometry {shape.name!r} of {shape.frame!r}")
    for constraint in model.constraints:
        what = f"constraint {constraint.name!r}"
        require_softness(constraint.softness, f"{what}: softness")
        if isinstance(constraint, Equality):
            _check_law(model, constraint, what)
            continue
        ends = constraint.bodies if isinstance(constraint, Tie) else (constraint.predecessor, constraint.successor)
        for end in ends:
            _require_body(end.body, n, what)
            require_rigid(model.bodies, model.joints, end.body, what)
            require_placement(end.placement, f"constraint {constraint.name!r}")
        if isinstance(constraint, Tie):
            check_tie(constraint, (model.bodies, model.joints), what)
            continue
        if ends[0].body == ends[1].body:
            raise ModelError(f"{what}: both its sides are on body {ends[0].body}, expected two bodies")
        require_joint(constraint.joint, what)
        _check_limits(constraint, what)


def _check_law(model: Model, law: Equality, what: str) -> None:
    joints = {entry.name: entry.joint for entry in model.joints}
    for name in (law.joint, law.other):
        if name is None and name is law.other:
            continue
        if name not in joints:
            raise UnknownNameError(f"joint that {what} could couple", name, joints)
        if joints[name].nv != 1:
            raise ModelError(f"{what}: joint {name!r} has {joints[name].nv} degrees of freedom, expected one")
    if not law.polynomial or not all(map(math.isfinite, (*law.polynomial, law.zero, law.other_zero))):
        raise ModelError(f"{what}: the polynomial is {law.polynomial!r}, expected finite numbers")


def _require_kind(model: Model, what: str, parts: Sequence[object], kind: type | tuple[type, ...]) -> None:
    for k, part in enumerate(parts):
        if not isinstance(part, kind):
            names = " or ".join(x.__name__ for x in (kind if isinstance(kind, tuple) else (kind,)))
            raise ModelError(f"model {model.name!r}: {what}[{k}] is {part!r}, expected a {names}")


def _require_new(what: str, names: Sequence[str]) -> None:
    """Names are strings, none of them twice."""
    if len(set(map(str, names))) == len(names) and all(isinstance(name, str) and name for name in names):
        return
    met: set[str] = set()
    for name in names:
        require_name(name, f"{what} {name!r}")
        if name in met:
            raise ModelError(f"{what} {name!r}: there is another of this name")
        met.add(name)


def _require_body(number: object, n: int, what: str) -> None:
    if not isinstance(number, int) or not 0 <= number <= n:
        raise ModelError(f"{what}: the body is number {number!r}, expected one of 0 … {n} (0 is the base)")


def _require_moving(model: Model, joint: Joint) -> None:
    own = own_joint(joint) if isinstance(joint, Joint) else joint
    what = f"joint {next(entry.name for entry in model.joints if entry.joint == joint)!r}"
    require_joint(joint, what)
    if isinstance(own, Fixed):
        raise ModelError(f"{what} is {joint!r}, expected one that moves: bodies on fixed joints are merged")


def _check_limits(part: JointEntry | Loop, what: str) -> None:
    for name in SOFTNESSES:
        require_softness(getattr(part, name), f"{what}: {name}")
    own = part.joint.joint if isinstance(part.joint, Mimic) else part.joint
    nq, nv = own.nq, own.nv
    if (
        not own.quaternions
        and len(part.lower) == len(part.upper) == len(part.rest) == nq
        and all(x <= y for x, y in zip(part.lower, part.upper, strict=True))
        and math.inf not in part.lower
        and -math.inf not in part.upper
        and all(map(math.isfinite, part.rest))
        and all(_not_negative(getattr(part, sort), nv) for sort in ("damping", "friction", "stiffness"))
        and all(len(bound) == nv and all(x >= 0.0 for x in bound) for bound in (part.velocity, part.effort))
    ):
        return
    for sort in LIMITS:
        size = nq if sort in ("lower", "upper", "rest") else nv
        if len(getattr(part, sort)) != size:
            raise ModelError(f"{what}: {sort} is {getattr(part, sort)!r}, expected {size} numbers")
    read_limits(part.joint, what, **{sort: getattr(part, sort) for sort in LIMITS})


def _not_negative(values: Sequence[float], size: int) -> bool:
    return len(values) == size and all(0.0 <= x < math.inf for x in values)
