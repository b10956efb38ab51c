"""Random edits of models, and of anything made of frozen dataclasses and tuples: for tests of what tells them apart."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

import numpy as np

import bough
from model_strategies import random_model, random_placement

__all__ = ["another_leaf", "edited", "one_leaf_of_each_sort", "random_content", "renamed"]

Rng = np.random.Generator
Path = tuple[Any, ...]
T = TypeVar("T")


def random_content(rng: Rng, bodies: int, mimic: bool) -> bough.Model:
    """A random mechanism with whatever programs may depend on: limits, springs, loops, couplings."""
    model = random_model(rng, bodies, mimic=mimic)
    entries = []
    for entry in model.joints:
        nq, nv = len(entry.lower), len(entry.damping)
        often = 0.0 if entry.joint.quaternions else 0.4
        limits = {
            "lower": tuple(np.where(rng.random(nq) < often, -rng.random(nq), -math.inf).tolist()),
            "upper": tuple(np.where(rng.random(nq) < often, rng.random(nq), math.inf).tolist()),
            "damping": tuple((rng.random(nv) * rng.integers(2)).tolist()),
            "stiffness": tuple((rng.random(nv) * rng.integers(2)).tolist()),
        }
        entries.append(replace(entry, **limits))
    model = replace(model, joints=tuple(entries))
    if rng.random() < 0.5:
        joint = (bough.joints.Revolute("y"), bough.joints.Spherical(), bough.joints.Prismatic((1.0, 2.0, 0.5)))[
            rng.integers(3)
        ]
        ends = rng.choice(["world", *model.body_names], 2, replace=False)
        there = random_placement(rng)["at"]
        spring = {"stiffness": 1.5, "damping": 0.1} if rng.random() < 0.5 else {}
        limits = {"upper": 0.5} if joint.nq == 1 and rng.random() < 0.5 else {}
        model = model.with_loop("closed", joint, str(ends[0]), str(ends[1]), at=there, **spring, **limits)
    single = [entry.name for entry in model.joints if entry.joint.nv == 1]
    for k in range(int(rng.integers(3)) if single else 0):
        joint_name, other = (str(x) for x in rng.choice(single, 2))
        law = bough.loops.Equality(f"law {k}", joint_name, other, (0.1, float(rng.normal())), 0.0, 0.2)
        model = replace(model, constraints=(*model.constraints, law))
    return model


def edited(model: bough.Model, rng: Rng) -> bough.Model:
    """The model with one thing changed, anywhere; edits that no model can have are tried again elsewhere."""
    for _ in range(20):
        try:
            return EDITS[rng.integers(len(EDITS))](model, rng)
        except (bough.BoughError, TypeError):
            continue
    return model


def renamed(model: bough.Model, name: str = "x") -> bough.Model:
    """The same mechanism with other names throughout."""
    number = {entry.name: f"{name} {k}" for k, entry in enumerate(model.joints)}

    def of_joint(joint: Any) -> Any:
        return (
            bough.joints.Mimic(joint.joint, number[joint.source], joint.ratio, joint.offset)
            if is_mimic(joint)
            else joint
        )

    def is_mimic(joint: Any) -> bool:
        return isinstance(joint, bough.joints.Mimic)

    def of_law(k: int, c: Any) -> Any:
        if not isinstance(c, bough.loops.Equality):
            return replace(c, name=f"{name} {k}")
        return replace(c, name=f"{name} {k}", joint=number[c.joint], other=c.other and number[c.other])

    return replace(
        model,
        name=name,
        bodies=tuple(replace(body, name=f"{name} {k}") for k, body in enumerate(model.bodies)),
        joints=tuple(replace(e, name=number[e.name], joint=of_joint(e.joint)) for e in model.joints),
        frames=tuple(replace(frame, name=f"{name} of frame {k}") for k, frame in enumerate(model.frames)),
        constraints=tuple(of_law(k, c) for k, c in enumerate(model.constraints)),
    )


# ---- edits -----------------------------------------------------------------------------------------------------------


def another_leaf(whole: T, rng: Rng, numbers: int, names: tuple[str, ...] = ()) -> T:
    """The same with one number, name or switch another one; whole numbers are below `numbers`."""
    found = [(path, x) for path, x in _leaves(whole) if path[0] not in ("name", "tree")]
    parts = sorted({path[0] for path, _ in found})
    part = parts[rng.integers(len(parts))]
    among = [leaf for leaf in found if leaf[0][0] == part]
    path, value = among[rng.integers(len(among))]
    result: T = _changed(whole, path, _another(value, rng, numbers, (*names, "a new name")))
    return result


def one_leaf_of_each_sort(model: bough.Model, rng: Rng) -> Iterator[tuple[str, bough.Model]]:
    """For each field in a model, such as "joints.joint.offset", the model with another value in one of them."""
    places: dict[str, list[tuple[Path, Any]]] = {}
    for path, value in _leaves(model):
        if path[0] not in ("name", "tree"):
            places.setdefault(".".join(x for x in path if isinstance(x, str)), []).append((path, value))
    for place, found in places.items():
        path, value = found[rng.integers(len(found))]
        names = (*model.joint_names, "a new name")
        yield place, _changed(model, path, _another(value, rng, model.nbodies + 1, names))


def _another_leaf(model: bough.Model, rng: Rng) -> bough.Model:
    return another_leaf(model, rng, model.nbodies + 1, model.joint_names)


def _names_permuted(model: bough.Model, rng: Rng) -> bough.Model:
    """The joints exchange their names; what speaks of them does not change."""
    names = [model.joint_names[k] for k in rng.permutation(model.nbodies)]
    joints = tuple(replace(entry, name=name) for entry, name in zip(model.joints, names, strict=True))
    return replace(model, joints=joints)


def _two_exchanged(model: bough.Model, rng: Rng) -> bough.Model:
    """Two parts of one sort exchange their places."""
    sort = str(rng.choice(["bodies", "joints", "constraints", "frames"]))
    parts = list(getattr(model, sort))
    if len(parts) > 1:
        i, j = rng.choice(len(parts), 2, replace=False)
        parts[i], parts[j] = parts[j], parts[i]
    return replace(model, **{sort: tuple(parts)})


def _another_parent(model: bough.Model, rng: Rng) -> bough.Model:
    parents = list(model.tree.parents)
    k = int(rng.integers(len(parents)))
    parents[k] = int(rng.integers(k + 1))
    return replace(model, tree=bough.trees.Tree(parents))


def _constraint_gone(model: bough.Model, rng: Rng) -> bough.Model:
    return replace(model, constraints=model.constraints[1:])


def _other_names(model: bough.Model, rng: Rng) -> bough.Model:
    return renamed(model)


EDITS = (_another_leaf, _another_leaf, _names_permuted, _two_exchanged, _another_parent, _constraint_gone, _other_names)


def _another(value: Any, rng: Rng, numbers: int, names: tuple[str, ...]) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, float):
        known = math.isfinite(value)
        near = [np.nextafter(value, 9.0), -value, value + 0.25, math.copysign(0.0, -value)] if known else [0.5, -0.5]
        return float(near[rng.integers(len(near))])
    if isinstance(value, int):
        return int(rng.integers(numbers))
    if isinstance(value, str):
        return names[rng.integers(len(names))]
    return value


def _leaves(x: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    if is_dataclass(x):
        for field in fields(x):
            yield from _leaves(getattr(x, field.name), (*path, field.name))
    elif isinstance(x, tuple):
        for k, part in enumerate(x):
            yield from _leaves(part, (*path, k))
    else:
        yield path, x


def _changed(x: Any, path: Path, value: Any) -> Any:
    """The same with another leaf, whatever checks a constructor makes."""
    if not path:
        return value
    step, *rest = path
    if isinstance(x, tuple):
        return (*x[:step], _changed(x[step], tuple(rest), value), *x[step + 1 :])
    made = object.__new__(type(x))
    for field in fields(x):
        old = getattr(x, field.name)
        object.__setattr__(made, field.name, _changed(old, tuple(rest), value) if field.name == step else old)
    return made
