"""What tells the programs of models apart.

Programs depend on the tree, on joints, placements and inertias, on gravity, limits, springs and dampers, armature, and
on constraints. They do not depend on names: where a joint or a constraint says the name of another joint, it is the
number of that joint that counts. Nor do they depend on frames (the few that an algorithm is asked for are among its
options), on shapes, on dry friction, on limits of velocity
and effort, or on what is said of simulation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bough.model.constraints import Constraint, Loop, Tie
from bough.model.joints import Joint, Mimic
from bough.model.joints.reversed import Reversed
from bough.model.parts import JointEntry, Placement
from bough.model.surface import SOFT
from bough.scalar.digest import digest

if TYPE_CHECKING:
    from bough.model.model import Model

__all__ = ["model_digest"]

OF_COORDINATES = ("lower", "upper", "damping", "armature", "stiffness", "rest")
"""What programs heed of the numbers of a joint's coordinates."""


def model_digest(model: Model) -> str | None:
    """A text that two models share only if all their programs are equal; None with a joint or a
    constraint from outside the package.
    """
    number = {name: k for k, name in enumerate(model.joint_names)}
    inertias = [body.inertia for body in model.bodies]
    return digest(
        np.array(model.tree.parents, np.int64),
        model.gravity,
        model.inner_root,
        [_by_number(entry.joint, number) for entry in model.joints],
        _placements([entry.placement for entry in model.joints]),
        _placements([body.frame for body in model.bodies]),
        np.array([(x.mass, *x.com, *x.rotational) for x in inertias], np.float64),
        [_in_a_row(model.joints, sort) for sort in OF_COORDINATES],
        [_constraint(constraint, number) for constraint in model.constraints],
    )


def _by_number(joint: Joint, number: Mapping[str, int]) -> object:
    """A joint, with the number of the joint that it follows."""
    if isinstance(joint, Reversed):
        return ("reversed", _by_number(joint.joint, number))
    if isinstance(joint, Mimic):
        return ("mimic", _by_number(joint.joint, number), number[joint.source], joint.ratio, joint.offset)
    return joint


def _constraint(constraint: Constraint, number: Mapping[str, int]) -> object:
    """A constraint without its name, with the numbers of the joints that it is on."""
    if isinstance(constraint, Loop):
        bare = replace(constraint, name="", velocity=(), effort=(), friction=())
        return replace(bare, softness=SOFT, limit_softness=SOFT, friction_softness=SOFT)
    if isinstance(constraint, Tie):
        ends = [(end.body, *_placements([end.placement])) for end in constraint.bodies]
        return ("tie", constraint.constraint, ends, [number[name] for name in constraint.joints])
    other = None if constraint.other is None else number[constraint.other]
    law = replace(constraint, name="", joint="", other=None, softness=SOFT)
    return ("equality", number[constraint.joint], other, law)


def _placements(placements: Sequence[Placement]) -> NDArray[np.float64]:
    return np.array([(*x.rotation[0], *x.rotation[1], *x.rotation[2], *x.origin) for x in placements], np.float64)


def _in_a_row(entries: Sequence[JointEntry], sort: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """How many numbers of one sort each joint has, and the numbers of all joints, concatenated."""
    rows = [getattr(entry, sort) for entry in entries]
    return np.array([len(row) for row in rows], np.int64), np.array([x for row in rows for x in row], np.float64)
