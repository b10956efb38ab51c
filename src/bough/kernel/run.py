"""Runs an algorithm on a model and arrays: reads the arguments, gets the kernel, checks the results."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from bough import reading
from bough.backends import Kernel, Plain
from bough.errors import FiniteError, ModelError, ShapeError, SingularError
from bough.kernel.border import FloatArray, Shape, as_floats, call, many, require_finite, write_out
from bough.kernel.compile import NO_CALLS, build, kernel, remember, remember_call
from bough.kernel.factors import vanishing_pivots
from bough.kernel.limbs import limbs
from bough.kernel.specs import OPTIONAL, Options, Spec, spec
from bough.lagrange.joints import constraint_system
from bough.model import Mechanism, Model
from bough.program import Program

__all__ = [
    "NO_CALLS",
    "REFERENCES",
    "input_sizes",
    "mechanism",
    "naming_the_massless",
    "options",
    "program",
    "read",
    "require_model",
    "require_regular",
    "run",
    "straight",
]

REFERENCES = ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED")

PLAIN = Options()

SUSPECT = 1e-9
"""A pivot this much smaller than the largest one of its state is looked at more closely."""


@lru_cache(maxsize=128)
def mechanism(model: Model) -> Mechanism:
    """The inside of a model, made once."""
    return Mechanism(model)


def program(model: Model, name: str, options: Options, inputs: Sequence[str], rolled: bool | None = None) -> Program:
    """The program of an algorithm on a model; `rolled` overrides the choice by size."""
    sizes = input_sizes(model, inputs, options)
    with naming_the_massless(model):
        return build(f"{name} of {model.name}", _function(model, spec(name), options), sizes, model.nv, rolled)


def run(
    model: Model,
    name: str,
    arrays: Mapping[str, ArrayLike | None],
    options: Options = PLAIN,
    out: FloatArray | None = None,
    check: bool = True,
    call_as: Hashable = None,
    whole: bool = False,
) -> dict[str, FloatArray]:
    """Run an algorithm; arguments that are None are left out.

    Plain batches go straight to machine code once there is some; they return the first output alone, unless `whole`.
    With `call_as`, the function for one state is kept in ``model.calls`` under that key once such a call was made.
    """
    given = {argument: a for argument, a in arrays.items() if a is not None}
    known = getattr(model, "calls", NO_CALLS).get((name, options, *given))
    if known is not None and not whole:
        ready, first, shape = known
        result = many(ready, tuple(given.values()), shape, out, check)
        if result is not None:
            if call_as is not None and result.shape == shape and call_as not in model.calls:
                remember_call(model, call_as, ready, shape)
            return {first: result}
    for argument, a in arrays.items():
        if a is None and argument not in OPTIONAL:
            raise ShapeError(f"{argument} is None, expected an array")
    inputs = {key: read(model, key, a, check, options) for key, a in given.items()}
    ready, shapes = _ready(model, name, options, tuple(inputs))
    with naming_the_massless(model):
        axes = {k: len(_meaning(model, k, options)[0]) for k in inputs}
        results = call(ready, {k: (a, axes[k]) for k, a in inputs.items()}, shapes)
    if "pivots" in results:
        require_regular(model, results["pivots"][..., : model.nv], inputs["q"])
    first = next(iter(results))
    if check:
        _require_finite_result(name, results[first])
    if not whole and hasattr(ready, "many"):
        remember(model, (name, options, *given), (ready, first, shapes[first]))
    if out is not None:
        results[first] = write_out(out, results[first])
    elif call_as is not None and check and call_as not in model.calls and _is_plain(inputs):
        remember_call(model, call_as, ready, shapes[first])
    return results


def straight(model: Model, name: str, arrays: Mapping[str, ArrayLike | None], options: Options) -> FloatArray | None:
    """The first output of `run`, if there is machine code for plain arrays and these are; else None."""
    given = {argument: a for argument, a in arrays.items() if a is not None}
    known = getattr(model, "calls", NO_CALLS).get((name, options, *given))
    return None if known is None else many(known[0], tuple(given.values()), known[2])


def _ready(model: Model, name: str, options: Options, inputs: tuple[str, ...]) -> tuple[Kernel, dict[str, Shape]]:
    """The kernel of an algorithm, and the shapes of its outputs for one state."""
    row, sizes = spec(name), input_sizes(model, inputs, options)
    shapes = row.shapes(model, options)
    in_and_out = (*(_meaning(model, key, options)[0] for key in inputs), next(iter(shapes.values())))
    with naming_the_massless(model):
        made = kernel(
            (name, model, options, inputs),
            f"{name} of {model.name}",
            _function(model, row, options),
            sizes,
            model.nv,
            lambda: _digest(model, name, options, inputs),
            Plain(in_and_out, 0, _quaternions(model), "pivots" in shapes, SUSPECT),
            lambda: limbs(model, mechanism(model), inputs),
        )
    return made, shapes


def _is_plain(inputs: Mapping[str, FloatArray]) -> bool:
    """Whether it is one state in float64."""
    return all(a.ndim == 1 and a.dtype == np.float64 for a in inputs.values())


def input_sizes(model: Model, inputs: Iterable[str], options: Options = PLAIN) -> dict[str, int]:
    """Number of scalars in each argument of an algorithm."""
    return {key: math.prod(_meaning(model, key, options)[0]) for key in inputs}


def options(model: Model, frames: str | Sequence[str] | None, reference: str, classical: bool = False) -> Options:
    """Options from names of frames (None for all bodies) and of a reference frame."""
    require_model(model)
    reading.known_name(reference, "reference frame", REFERENCES)
    names = None if frames is None else reading.names(frames, "frames")
    chosen = None if names is None else tuple(model.frame(name) for name in names)
    return Options(chosen, reference, reading.truth(classical, "classical"))


def require_model(model: object) -> None:
    """Raise unless it is a model (and not, say, the builder of one)."""
    if not isinstance(model, Model):
        raise ModelError(f"the model is a {type(model).__name__}, expected a bough.Model")


def read(model: Model, key: str, value: ArrayLike, check: bool = True, options: Options = PLAIN) -> FloatArray:
    """One argument as an array of the right shape, finite, with unit quaternions."""
    require_model(model)
    shape, meaning = _meaning(model, key, options)
    a = as_floats(key, value, shape, meaning)
    if check:
        require_finite(key, a)
        if key in ("q", "q0", "q1"):
            _require_unit_quaternions(model, key, a)
    return a


def require_regular(model: Model, pivots: FloatArray, q: FloatArray) -> None:
    """Raise, naming the joint, if some pivot is zero or negative. NaN is no verdict: it comes from what was given.

    Pivots of different joints cannot be compared, nor kilograms with kilogram square metres. Where one is very much
    smaller than another, each is compared with the diagonal of the mass matrix, of which it is a part.
    """
    with np.errstate(invalid="ignore"):
        largest = np.fmax.reduce(pivots, axis=-1, keepdims=True, initial=0.0)
        suspect = (pivots <= SUSPECT * largest).any(axis=-1)
    if not suspect.any():
        return
    states = np.broadcast_to(q, (*pivots.shape[:-1], model.nq))[suspect]
    bad = vanishing_pivots(run(model, "crba", {"q": states}, check=False)["M"], model.dof_tree)
    if bad.any():
        row, k = (int(j) for j in np.argwhere(bad)[0])
        k = max(int(j) for j in np.flatnonzero(bad[row]))  # eliminated first: the cause, not a consequence
        place = np.argwhere(suspect)[row]
        _refuse(model, k, pivots[suspect][row, k], f" in state {place.tolist()}" if place.size else "")


def _refuse(model: Model, k: int, pivot: float, where: str = "") -> NoReturn:
    raise SingularError(
        f"joint {model.dof_names[k]!r} moves nothing that has inertia{where}: its pivot is {pivot}; "
        "expected a positive one. Give the bodies beyond it mass and inertia, or the joint an armature"
    )


@contextmanager
def naming_the_massless(model: Model) -> Iterator[None]:
    """Where a pivot is zero whatever the state, a division of constants fails: say which joint is at fault."""
    try:
        yield
    except ZeroDivisionError:
        q = np.array([x for entry in model.joints for x in entry.joint.neutral()])
        rows = run(model, "mass_matrix_by_rnea", {"q": q})["M"]
        whole = rows.diagonal().copy()
        for k in reversed(range(model.nv)):
            if not rows[k, k] > 8 * np.finfo(float).eps * whole[k]:
                _refuse(model, k, rows[k, k])
            rows[:k, :k] -= np.outer(rows[:k, k], rows[:k, k]) / rows[k, k]
        raise SingularError(
            "the frames cannot be moved independently in all directions in any configuration, "
            "so J M⁻¹ Jᵀ has no inverse; ask for it with inverse=True"
        ) from None


@lru_cache(maxsize=128)
def _quaternions(model: Model) -> tuple[int, ...]:
    """Where unit quaternions begin in q."""
    starts = np.cumsum([0, *(entry.joint.nq for entry in model.joints)])
    pairs = zip(starts[:-1], model.joints, strict=True)
    return tuple(int(start) + k for start, entry in pairs for k in entry.joint.quaternions)


def _function(model: Model, row: Spec, options: Options) -> Any:
    return lambda **x: row.run(mechanism(model), options, x)


def _digest(model: Model, name: str, options: Options, inputs: tuple[str, ...]) -> str | None:
    """What determines the program of an algorithm, as text; None if joints from elsewhere take part in it."""
    inside = mechanism(model).digest
    limits = [(entry.lower, entry.upper) for entry in model.joints] if options.touching.limits else None
    return None if inside is None else "\0".join((inside, name, repr(options), repr(inputs), repr(limits)))


def _meaning(model: Model, key: str, options: Options) -> tuple[Shape, str]:
    """Shape and meaning of one argument."""
    if key in ("q", "q0", "q1"):
        return (model.nq,), f"nq = {model.nq} configuration variables of {model.name!r}"
    if key in ("v", "a", "tau"):
        return (model.nv,), f"nv = {model.nv} degrees of freedom of {model.name!r}"
    if key in ("f_ext", "reactions"):
        return (model.nbodies, 6), f"a force (linear, angular) for each of the {model.nbodies} bodies"
    if key in ("velocities", "accelerations"):
        return (model.nbodies, 6), f"a motion (linear, angular) for each of the {model.nbodies} bodies"
    if key == "placements":
        return (model.nbodies, 4, 4), f"a placement for each of the {model.nbodies} bodies"
    if key == "multipliers":
        return (constraint_system(model).nc,), f"a multiplier for each row of the constraints of {model.name!r}"
    if key == "forces":
        return (len(model.constraint_names),), f"a force for each row of the constraints of {model.name!r}"
    if key == "loop_tau":
        size = sum(loop.joint.nv for loop in model.loops)
        return (size,), f"the {size} degrees of freedom of the joints that close loops of {model.name!r}"
    if key in ("points", "normals", "point_velocities", "normal_velocities"):
        contacts = len(options.touching.pairs)
        return (contacts, 3), f"a vector for each of the {contacts} contacts, in the frame of the base"
    if key == "gaps":
        return (len(options.touching.pairs),), "one for each contact"
    if key == "settings":
        return (2,), ""
    if key == "t":
        return (), ""
    raise ShapeError(f"no argument is called {key!r}")


def _require_unit_quaternions(model: Model, key: str, q: FloatArray) -> None:
    tolerance = 1e-6 if q.dtype == np.float64 else 1e-4
    start = 0
    for entry in model.joints:
        for k in entry.joint.quaternions:
            part = q[..., start + k : start + k + 4]
            norm = np.sqrt(np.sum(part * part, axis=-1))
            if not (np.abs(norm - 1.0) <= tolerance).all():
                worst = float(np.ravel(norm)[np.argmax(np.abs(np.ravel(norm) - 1.0))])
                raise FiniteError(
                    f"joint {entry.name!r}: the quaternion {key}[..., {start + k}:{start + k + 4}] has length "
                    f"{worst:.9g}, expected 1"
                )
        start += entry.joint.nq


def _require_finite_result(name: str, a: FloatArray) -> None:
    if not np.isfinite(a).all():
        raise FiniteError(f"{name}: the result is not finite; the arguments are too large for {a.dtype}")
