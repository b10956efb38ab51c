"""A joint written by a user, tried out before it becomes part of a model."""

from __future__ import annotations

from typing import Any

import numpy as np

from bough.errors import ModelError
from bough.model.joints.joint import Joint
from bough.model.joints.reversed import Reversed
from bough.scalar import Counted, Tally, leaves
from bough.spatial import STAY, Motion, Transform

__all__ = ["check_contract", "check_rate", "is_from_outside"]

STEP = 1e-4
"""Part of a unit of time, for rates by differences."""


def is_from_outside(joint: Joint) -> bool:
    """Whether the code of a joint, or of one that it turns round, is not of this package."""
    inner = joint.joint if isinstance(joint, Reversed) else joint
    return not type(inner).__module__.startswith("bough.model.joints.")


def check_contract(joint: Joint, what: str) -> None:
    """Call every method of a joint at its neutral configuration, on floats and on symbolic scalars.

    Raises `ModelError` with the name of the method if it fails, or returns something of another kind or length than the
    contract says, or if the transform is not the identity at neutral.
    """
    q = [float(x) for x in joint.neutral()]
    _require(len(q) == joint.nq, what, joint, "neutral", f"{len(q)} numbers", f"nq = {joint.nq}")
    p, tally = list(joint.parameters), Tally()
    for on_floats in (True, False):
        x: list[Any] = q if on_floats else [Counted(tally) for _ in q]
        v: list[Any] = [0.5 if on_floats else Counted(tally) for _ in range(joint.nv)]
        place = _called(joint, what, "transform", p, x)
        _require(isinstance(place, Transform), what, joint, "transform", type(place).__name__, "a Transform")
        for name, arguments in (("subspace", (p, x)), ("subspace_rate", (p, x, v))):
            columns = _called(joint, what, name, *arguments)
            fits = isinstance(columns, tuple) and len(columns) == joint.nv
            fits = fits and all(isinstance(column, Motion) for column in columns)
            _require(fits, what, joint, name, repr(columns)[:80], f"a tuple of nv = {joint.nv} Motions")
        for name, arguments, size in (("integrate", (p, x, v), joint.nq), ("difference", (p, x, x), joint.nv)):
            values = _called(joint, what, name, *arguments)
            _require(len(values) == size, what, joint, name, f"{len(values)} scalars", f"{size} of them")
    place = joint.transform(p, q)
    at_rest = np.array(leaves((place.rotation.columns, place.translation)), dtype=float)
    same = np.allclose(at_rest, np.array(leaves(STAY)), atol=1e-9)
    _require(same, what, joint, "transform", "another placement at neutral", "the identity there")


def check_rate(joint: Joint, what: str) -> None:
    """Call `rate`, which a joint with limits needs, as `check_contract` does, and compare it with `integrate`."""
    q, p, tally = [float(x) for x in joint.neutral()], list(joint.parameters), Tally()
    v = [0.5 + 0.1 * k for k in range(joint.nv)]
    for x, speeds in ((q, v), ([Counted(tally) for _ in q], [Counted(tally) for _ in v])):
        rates = _called(joint, what, "rate", p, x, speeds)
        _require(len(rates) == joint.nq, what, joint, "rate", f"{len(rates)} scalars", f"{joint.nq} of them")
    there, back = (np.array(joint.integrate(p, q, [x * h for x in v]), float) for h in (STEP, -STEP))
    rates, moved = np.array(joint.rate(p, q, v), float), (there - back) / (2.0 * STEP)
    same = np.allclose(rates, moved, atol=1e-6 * (1.0 + np.abs(moved).max()))
    _require(same, what, joint, "rate", f"{rates.tolist()} at neutral for v = {v}", f"{moved.tolist()} as in integrate")


def _called(joint: Joint, what: str, method: str, *arguments: list[Any]) -> Any:
    try:
        return getattr(joint, method)(*arguments)
    except Exception as error:
        raise ModelError(
            f"{what}: {method} of {joint!r} fails with {type(error).__name__}: {error} "
            "(use the functions of bough.scalar, not math or numpy)"
        ) from error


def _require(fits: bool, what: str, joint: Joint, method: str, got: str, expected: str) -> None:
    if not fits:
        raise ModelError(f"{what}: {method} of {joint!r} gives {got}, expected {expected}")
