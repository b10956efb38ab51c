"""Joints of a model as joints of MJCF: hinges, slides, balls and free joints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.formats.losses import Losses
from bough.formats.mjcf.write_simulation import soft_attributes
from bough.formats.text import numbers_text, quoted
from bough.model import (
    Cylindrical,
    Free,
    Joint,
    JointEntry,
    Model,
    Placement,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Translational,
    Universal,
)
from bough.model.parts import HERE

__all__ = ["Step", "joints"]

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Step:
    """A joint on the way to a body: where its fixed side is in what carries it, and the body in its moving side."""

    entry: JointEntry
    fixed: Placement
    after: Placement


def joints(steps: Sequence[Step], model: Model, losses: Losses) -> list[str]:
    """The joint elements of one body, in the order in which they act."""
    lines: list[str] = []
    kinds: list[str] = []
    for step in steps:
        parts = _parts(step.entry.joint)
        _refuse(step, steps, parts, model, losses)
        name = step.entry.name
        if isinstance(step.entry.joint, Planar):
            step = replace(step, entry=_in_the_plane(step.entry, losses))
        for k, (kind, axis) in enumerate(parts or ()):
            title = name if len(parts or ()) == 1 else f"{name}/{k + 1}"
            kinds.append(kind)
            lines.append(_element(step, title, kind, axis, k, losses))
    names = ", ".join(repr(step.entry.name) for step in steps)
    if "ball" in kinds and "hinge" in kinds[kinds.index("ball") :]:
        losses.add(f"joints {names} on one body: a ball before a hinge")
    if sum({"ball": 3, "free": 6}.get(kind, 1) for kind in kinds) > 6:
        losses.add(f"joints {names} on one body: more than six degrees of freedom")
    return lines


def _parts(joint: Joint) -> list[tuple[str, Vector]] | None:
    """Kinds and axes of the joints that one joint becomes; None if MJCF has none that move like it."""
    x, y, z = np.eye(3)
    match joint:
        case Revolute():
            return [("hinge", np.array(joint.axis))]
        case Prismatic():
            return [("slide", np.array(joint.axis))]
        case Cylindrical():
            return [("hinge", np.array(joint.axis)), ("slide", np.array(joint.axis))]
        case Universal():
            return [("hinge", np.array(joint.axis1)), ("hinge", np.array(joint.axis2))]
        case Translational():
            return [("slide", x), ("slide", y), ("slide", z)]
        case Planar():
            along, across, normal = joint.alignment.T
            return [("slide", along), ("slide", across), ("hinge", normal)]
        case Spherical():
            return [("ball", z)]
        case Free():
            return [("free", z)]
        case _:
            return None


def _refuse(step: Step, steps: Sequence[Step], parts: Any, model: Model, losses: Losses) -> None:
    """What a joint has that MJCF has no words for."""
    entry, joint = step.entry, step.entry.joint
    what = f"joint {entry.name!r}"
    if parts is None:
        losses.add(f"{what}, which moves like {joint!r}")
        return
    if isinstance(joint, Spherical) and not np.array_equal(step.after.matrix, np.eye(3)):
        losses.add(f"{what}, a ball whose body frame is rotated relative to it")
    if isinstance(joint, Free):
        root = model.tree.parents[model.joint_names.index(entry.name)] == 0
        if not (root and step.fixed == step.after == HERE and len(steps) == 1):
            losses.add(f"{what}, a free joint that does not place its body in the world")
    bounds = (*entry.lower, *entry.upper, *entry.effort) if joint.quaternions else ()
    if any(map(math.isfinite, (*bounds, *entry.velocity))):
        losses.add(f"limits of {what}" + ("" if bounds else " to its velocity"), "limits")
    if any(low == high for low, high in zip(entry.lower, entry.upper, strict=True)):
        losses.add(f"limits of {what} that leave it no motion", "limits")
    if 0.0 in entry.effort and not bounds:
        losses.add(f"limits of {what} that leave it no force", "limits")
    if joint.quaternions:
        for kind, values in (("losses", entry.damping), ("losses", entry.friction), ("armature", entry.armature)):
            if len(set(values)) > 1:
                losses.add(f"different {kind} in the directions of {what}", kind)
        if any(entry.stiffness) and (len(set(entry.stiffness)) > 1 or entry.rest != tuple(joint.neutral())):
            losses.add(f"the spring of {what}, which is at rest away from the pose of the file", "springs")


def _in_the_plane(entry: JointEntry, losses: Losses) -> JointEntry:
    """A planar joint less what acts along the axes of its body, which turn, while slides keep those of the parent.

    Linear forces that are the same along all axes of the plane stay. Dry friction and effort limit the force along each
    axis, and armature acts on v̇ = Rᵀ a - ω × v and not on the acceleration a of slides: none of them stays, even if
    the same along both axes.
    """
    others: dict[str, Any] = {}
    for word, kind in (
        ("damping", "losses"),
        ("friction", "losses"),
        ("stiffness", "springs"),
        ("armature", "armature"),
    ):
        along, across, about = getattr(entry, word)
        linear = word in ("damping", "stiffness")
        if (along or across) and not (linear and along == across):
            losses.add(f"the {word} of joint {entry.name!r} along the axes of its body, which turn in the plane", kind)
            others[word] = (0.0, 0.0, about)
    if any(map(math.isfinite, entry.effort[:2])):
        losses.add(f"limits of joint {entry.name!r} to forces along the axes of its body, which turn", "limits")
        others["effort"] = (math.inf, math.inf, entry.effort[2])
    return replace(entry, **others)


def _element(step: Step, title: str, kind: str, axis: Vector, k: int, losses: Losses) -> str:
    """One joint of MJCF, the k-th that a joint becomes."""
    entry = step.entry
    friction = replace(entry.friction_softness, margin=0.0)
    text = f'<joint name={quoted(title)} type="{kind}"'
    back = step.after.inverse
    if kind != "free" and any(back.origin):
        text += f' pos="{numbers_text(back.origin)}"'
    if kind in ("hinge", "slide"):
        text += f' axis="{numbers_text(back.matrix @ axis)}"'
        low, high, effort = entry.lower[k], entry.upper[k], entry.effort[k]
        if (math.isfinite(low) or math.isfinite(high)) and low < high:
            text += f' limited="true" range="{low!r} {high!r}"'
        if 0.0 < effort < math.inf:
            text += f' actuatorfrclimited="true" actuatorfrcrange="{-effort!r} {effort!r}"'
        if entry.stiffness[k]:
            text += f' springref="{entry.rest[k]!r}"'
    for word, values in (
        ("stiffness", entry.stiffness),
        ("damping", entry.damping),
        ("frictionloss", entry.friction),
        ("armature", entry.armature),
    ):
        if values[k]:
            text += f' {word}="{values[k]!r}"'
    return text + soft_attributes(entry.limit_softness, "limit") + soft_attributes(friction, "friction") + "/>"
