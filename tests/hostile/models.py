"""Functions of models and states on random models, with numbers of any size: finite results, or errors of bough's."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np

import bough
from hostile.calls import has_nan
from hostile.names import public
from hostile.tally import Tally
from model_edits import random_content
from model_strategies import random_model

__all__ = ["over_models"]

ELSEWHERE = (".compile", ".save", ".explain", ".speeds", ".view")
"""What takes long, writes files or opens pages, and is tried by tests of its own."""

MODELS = {
    "nothing": lambda rng: bough.Builder("nothing").build(),
    "a fixed body": lambda rng: random_model(rng, 0, floating=False),
    "one body": lambda rng: random_model(rng, 1),
    "some bodies": lambda rng: random_model(rng, int(rng.integers(2, 7)), mimic=bool(rng.integers(2))),
    "a floating tree": lambda rng: random_model(rng, int(rng.integers(1, 5)), floating=True),
    "with limits and loops": lambda rng: random_content(rng, int(rng.integers(2, 6)), bool(rng.integers(2))),
    "light or heavy": lambda rng: _of_another_size(rng),
}


def _of_another_size(rng: np.random.Generator) -> bough.Model:
    """A chain of bodies whose mass and lengths are anything from tiny to huge."""
    b = bough.Builder("size", gravity=(0.0, 0.0, -_size(rng, 20)))
    for k in range(int(rng.integers(1, 4))):
        m, length = _size(rng, 200), _size(rng, 150)
        parent, shape = (
            f"{k - 1}" if k else "world",
            {"com": (0, 0, length), "inertia": min(m * length * length, 1e300)},
        )
        b.add(f"{k}", bough.joints.Revolute("y"), parent, at=(length, 0, 0), mass=m, **shape)
    return b.build()


def _size(rng: np.random.Generator, most: int) -> float:
    return float(10.0 ** rng.uniform(-most, most))


def over_models(seed: int, tally: Tally) -> None:
    """All functions of a random model and its states, each with states of its own."""
    rng = np.random.default_rng(seed)
    kind = str(rng.choice(list(MODELS)))
    try:
        model = MODELS[kind](rng)
    except bough.BoughError:
        return
    for name, function in public().items():
        if not inspect.isfunction(function):
            continue
        parameters = inspect.signature(function).parameters
        known = _arguments(model, rng)
        needed = [key for key, p in parameters.items() if p.default is p.empty]
        if "model" not in needed or not set(needed) <= set(known) or name.endswith(ELSEWHERE):
            continue
        given = {key: known[key] for key in parameters if key in needed or (key in known and rng.random() < 0.3)}
        what = f"{name} of {kind}, seed {seed}"
        with tally.trying(what), warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                result = function(**given)
            except bough.BoughError:
                continue
            except Exception as error:
                tally.wrong(what, f"{type(error).__name__}: {error}")
            else:
                if has_nan(result):
                    tally.wrong(what, "the result is NaN")


def _arguments(model: bough.Model, rng: np.random.Generator) -> dict[str, Any]:
    """Values by name, half of the time with states of any size."""
    any_size = rng.random() < 0.5
    batch = [(), (1,), (0,), (3,), (2, 2)][rng.integers(5)]

    def states(*shape: int) -> np.ndarray:
        numbers = rng.normal(size=(*batch, *shape))
        return numbers * 10.0 ** rng.uniform(-320, 307) if any_size else numbers

    q = bough.random(model, rng, batch)
    known: dict[str, Any] = {key: states(model.nv) for key in ("v", "a", "tau")}
    known |= {"model": model, "q": q, "q0": q, "q1": bough.random(model, rng, batch), "t": rng.random()}
    known |= {"f_ext": states(model.nbodies, 6), "rng": seed_of(rng), "accelerations": states(model.nbodies, 6)}
    known |= {"velocities": states(model.nbodies, 6), "placements": np.broadcast_to(np.eye(4), (model.nbodies, 4, 4))}
    if model.frame_names:
        known |= {"frame": str(rng.choice(model.frame_names)), "frames": list(model.frame_names[-2:])}
    return known


def seed_of(rng: np.random.Generator) -> int:
    """A seed for another generator."""
    return int(rng.integers(2**31))
