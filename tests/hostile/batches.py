"""Bits over batches: a state's result does not depend on its batch, its place there, threads or how arrays lie."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import bough
from hostile.arguments import Call
from hostile.tally import Tally

__all__ = ["over_batches"]

STATES = 11
KEPT = ("placements", "normals", "matrix", "rotation")
"""What no other numbers may be drawn for: they would be no rotations, no unit vectors."""

ORDERS: dict[str, list[int]] = {
    "all": list(range(STATES)),
    "backwards": list(range(STATES))[::-1],
    "one": [5],
    "two": [3, 8],
    "eight": list(range(2, 10)),
    "many": [k % STATES for k in range(0, 7 * 67, 7)],
}
LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "plain": lambda a: a,
    "column by column": lambda a: np.asfortranarray(a),
    "every second": lambda a: np.repeat(a, 2, axis=0)[::2],
    "backwards": lambda a: a[::-1].copy()[::-1],
    "with gaps in rows": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "two batch axes": lambda a: a,
}


def over_batches(call: Call, rng: np.random.Generator, tally: Tally) -> bool:
    """Try a call on batches; False where it takes none."""
    drawn = {
        name: _states(name, value, call, rng)
        for name, value in call.arguments.items()
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.ndim
    }
    if not drawn:
        return False
    good, singles = [], []
    for k in range(STATES):
        try:
            singles.append(_leaves(call(**{name: a[k] for name, a in drawn.items()})))
            good.append(k)
        except bough.BoughError:
            continue
    if not good or not any(single for single in singles):
        return False
    threads = bough.get_num_threads()
    try:
        for kind, order in ORDERS.items():
            for layout, arranged in LAYOUTS.items():
                bough.set_num_threads(int(rng.choice([1, 2, 3, 7])))
                places = [k % len(good) for k in order]
                arrays = {name: arranged(a[[good[k] for k in places]]) for name, a in drawn.items()}
                with tally.trying(f"{call.name} of {kind} states, {layout}"):
                    try:
                        leaves = _leaves(_run(call, arrays, layout))
                    except bough.errors.ShapeError:
                        return False
                    for wrong in _differences(leaves, singles, places):
                        tally.wrong(f"{call.name} of {kind} states, {layout}", wrong)
    finally:
        bough.set_num_threads(threads)
    return True


def _run(call: Call, arrays: dict[str, np.ndarray], layout: str) -> Any:
    if layout != "two batch axes":
        return call(**arrays)
    return call(**{name: a[np.newaxis] for name, a in arrays.items()})


def _differences(leaves: list[np.ndarray], singles: list[list[np.ndarray]], places: list[int]) -> Iterator[str]:
    for number, leaf in enumerate(leaves):
        single = singles[0][number]
        if leaf.shape == (1, len(places), *single.shape):
            leaf = leaf[0]
        if leaf.shape != (len(places), *single.shape):
            continue  # not of states
        bad = [n for n, k in enumerate(places) if leaf[n].tobytes() != singles[k][number].tobytes()]
        if bad:
            yield f"state {bad[0]} of {len(places)} has other bits than alone (array {number})"


def _states(name: str, value: np.ndarray, call: Call, rng: np.random.Generator) -> np.ndarray:
    """Values like the good one, for many states."""
    model = call.arguments.get("model")
    if name in ("q", "q0", "q1") and isinstance(model, bough.Model):
        return bough.random(model, rng, STATES)
    many = np.broadcast_to(value, (STATES, *value.shape)).copy()
    if name in KEPT:
        return many
    many *= 1.0 + 0.2 * rng.random((STATES, *(1,) * value.ndim))
    return many if name in ("H", "A") else many + 0.05 * rng.normal(size=many.shape) * (value != 0.0)


def _leaves(result: Any) -> list[np.ndarray]:
    """The arrays of a result."""
    if isinstance(result, np.ndarray):
        return [] if result.dtype == np.bool_ else [result]  # of one state it is a bool, not an array
    if isinstance(result, tuple | list):
        return [leaf for part in result for leaf in _leaves(part)]
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        return [leaf for field in dataclasses.fields(result) for leaf in _leaves(getattr(result, field.name))]
    return []
