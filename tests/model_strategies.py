"""Random mechanisms and states for property tests.

`random_model` and `random_state` are plain functions of a generator; `models` draws the size and the seed with
hypothesis, so that a failure shrinks to the smallest number of bodies. Every mechanism has a regular mass matrix:
point masses come only on joints each of whose motions moves them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

import bough

__all__ = ["JOINTS", "models", "random_inertia", "random_joint", "random_model", "random_rotation", "random_state"]

Rng = np.random.Generator
Floats = np.ndarray[Any, np.dtype[Any]]

NAMED_AXES = ("x", "y", "z", "-x", "-y", "-z")


def random_axis(rng: Rng) -> str | Floats:
    """A coordinate axis, or any direction (not of unit length)."""
    return str(rng.choice(NAMED_AXES)) if rng.random() < 0.5 else rng.normal(size=3)


def random_axes(rng: Rng) -> tuple[str, str] | tuple[Floats, Floats]:
    """Two perpendicular axes."""
    if rng.random() < 0.5:
        first, second = rng.permutation(3)[:2]
        return NAMED_AXES[first], NAMED_AXES[second]
    R = random_rotation(rng)
    return R[0], R[1]


def random_rotation(rng: Rng) -> Floats:
    """A rotation, one in three with rows of zeros and ones."""
    if rng.random() < 1 / 3:
        R = np.eye(3)[rng.permutation(3)] * rng.choice([-1.0, 1.0], size=3)
    else:
        R, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return np.asarray(R * np.sign(np.linalg.det(R)))


JOINTS: dict[str, Callable[[Rng], bough.joints.Joint]] = {
    "revolute": lambda rng: bough.joints.Revolute(random_axis(rng)),
    "continuous": lambda rng: bough.joints.Revolute(random_axis(rng), continuous=True),
    "prismatic": lambda rng: bough.joints.Prismatic(random_axis(rng)),
    "helical": lambda rng: bough.joints.Helical(random_axis(rng), pitch=rng.uniform(-0.3, 0.3)),
    "cylindrical": lambda rng: bough.joints.Cylindrical(random_axis(rng)),
    "universal": lambda rng: bough.joints.Universal(*random_axes(rng)),
    "planar": lambda rng: bough.joints.Planar(),
    "translational": lambda rng: bough.joints.Translational(),
    "spherical": lambda rng: bough.joints.Spherical(),
    "free": lambda rng: bough.joints.Free(),
    "fixed": lambda rng: bough.joints.Fixed(),
}
"""Every joint type but the mimic joint, each with random parameters."""

SINGLE = ("revolute", "continuous", "prismatic", "helical")  # one degree of freedom: may lead and follow
MOVES_POINTS = (*SINGLE, "cylindrical", "translational")  # every motion moves a point that is off the axis


def random_joint(name: str, rng: Rng) -> bough.joints.Joint:
    """A joint of a given type."""
    return JOINTS[name](rng)


def random_inertia(rng: Rng, off_axis: Floats | None = None) -> dict[str, Any]:
    """Arguments `mass`, `com`, `inertia` of a body: any solid, or a point mass away from the given axis."""
    mass = rng.uniform(0.3, 3.0)
    if off_axis is not None:
        side = np.cross(off_axis, rng.normal(size=3))
        side *= rng.uniform(0.2, 0.6) / np.linalg.norm(side)
        return {"mass": mass, "com": side + rng.uniform(-0.3, 0.3) * off_axis, "inertia": 0.0}
    # the second moments of mass, any positive numbers, give moments that obey the triangle inequality
    a, b, c = mass * rng.uniform(0.01, 0.2, size=3)
    R = random_rotation(rng)
    J = R @ np.diag([b + c, a + c, a + b]) @ R.T
    return {"mass": mass, "com": rng.uniform(-0.4, 0.4, size=3), "inertia": (J + J.T) / 2}


def random_placement(rng: Rng) -> dict[str, Any]:
    """Arguments `at` and `rpy` or `rotation` of a joint or frame."""
    at = rng.uniform(-0.6, 0.6, size=3) * (rng.random(3) < 0.7)
    turns: tuple[dict[str, Any], ...] = ({}, {"rpy": rng.uniform(-3, 3, size=3)}, {"rotation": random_rotation(rng)})
    return {"at": at, **turns[rng.integers(3)]}


def random_model(
    rng: Rng,
    bodies: int,
    joints: Sequence[str] | None = None,
    mimic: bool = False,
    armature: bool = True,
    floating: bool = False,
) -> bough.Model:
    """A random mechanism with `bodies` moving bodies: a tree or a forest.

    Parameters
    ----------
    rng
        Source of randomness.
    bodies
        Number of moving bodies. Merged bodies (where "fixed" is among the joints) and frames come on top.
    joints
        Types to choose from, names of `JOINTS`; all by default.
    mimic
        Whether some joints follow others, on the same branch or not, earlier or later ones.
    armature
        Whether some joints have armature.
    floating
        Whether one more body comes first that floats, and carries all others.
    """
    types = list(JOINTS if joints is None else joints)
    moving = [name for name in types if name != "fixed"]
    kinds = [str(rng.choice(moving)) for _ in range(bodies)]
    leaders = _leaders(rng, kinds, moving) if mimic else {}
    if floating:
        kinds = ["free", *kinds]
        leaders = {k + 1: leader + 1 for k, leader in leaders.items()}
    gravity = rng.normal(size=3) * rng.choice([0.0, 5.0, 9.81], p=[0.1, 0.3, 0.6])
    b = bough.Builder("random", gravity=gravity)
    places = ["world"]
    for k, kind in enumerate(kinds):
        joint = random_joint(kind, rng)
        axis = getattr(joint, "axis", (0.0, 0.0, 1.0))
        point = kind in MOVES_POINTS and rng.random() < 0.25
        inertia = random_inertia(rng, np.array(axis) if point else None)
        is_base = floating and k == 0
        rotor = rng.uniform(0.01, 0.5, size=joint.nv) if armature and rng.random() < 0.3 and not is_base else 0.0
        if k in leaders:
            joint = bough.joints.Mimic(joint, f"j{leaders[k]}", _ratio(rng), rng.uniform(-1.0, 1.0))
        parent = places[-1] if rng.random() < 0.5 else str(rng.choice(places))
        b.add(f"b{k}", joint, parent, joint_name=f"j{k}", armature=rotor, **inertia, **random_placement(rng))
        places = [f"b{k}"] if is_base else [*places, f"b{k}"]
        if "fixed" in types and rng.random() < 0.3:
            b.add(
                f"m{k}", bough.joints.Fixed(), str(rng.choice(places)), **random_inertia(rng), **random_placement(rng)
            )
            places.append(f"m{k}")
        if rng.random() < 0.3:
            b.frame(f"f{k}", str(rng.choice(places)), **random_placement(rng))
            places.append(f"f{k}")
    return b.build()


def _leaders(rng: Rng, kinds: list[str], moving: Sequence[str]) -> dict[int, int]:
    """For each joint that follows, the joint it follows; at least one pair, where the types allow it."""
    single = [name for name in moving if name in SINGLE]
    if len(kinds) < 2 or not single:
        return {}
    for k in rng.permutation(len(kinds))[:2]:  # so that there are two to be coupled
        kinds[k] = str(rng.choice(single))
    able = [k for k, kind in enumerate(kinds) if kind in SINGLE]
    count = int(rng.integers(1, max(2, len(able) // 2 + 1)))
    chosen = [int(k) for k in rng.permutation(able)]
    followers, free = chosen[:count], chosen[count:]
    # the first of the followers has a free leader; a later one may follow it in turn
    return {k: int(rng.choice(free + followers[:n])) for n, k in enumerate(followers)}


def _ratio(rng: Rng) -> float:
    return float(rng.choice([-1.0, 1.0]) * rng.uniform(0.3, 2.0))


def random_state(
    model: bough.Model, rng: Rng, size: tuple[int, ...] = ()
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Random q, v, a, tau and f_ext with batch shape `size`."""
    q = bough.random(model, rng, size)
    v, a, tau = (rng.normal(size=(*size, model.nv)) for _ in range(3))
    return q, v, a, tau, rng.normal(size=(*size, model.nbodies, 6))


@st.composite
def models(
    draw: st.DrawFn,
    max_bodies: int = 6,
    mimic: bool | None = None,
    joints: Sequence[str] | None = None,
    armature: bool = True,
    min_bodies: int = 1,
) -> bough.Model:
    """Random mechanisms; with `mimic` None, some with mimic joints and some without."""
    bodies = draw(st.integers(min_bodies, max_bodies))
    coupled = draw(st.booleans()) if mimic is None else mimic
    return random_model(np.random.default_rng(draw(st.integers(0, 2**32 - 1))), bodies, joints, coupled, armature)
