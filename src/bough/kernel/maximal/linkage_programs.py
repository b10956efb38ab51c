"""Programs of linkages, and the solution of their equations, auxiliary constraints among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.backends import Argument
from bough.errors import FiniteError, ShapeError, SingularError
from bough.kernel.arguments import FloatArray, as_floats, require_finite
from bough.kernel.function import Function
from bough.kernel.maximal.anticipation import anticipate
from bough.kernel.maximal.linkage_forces import equality_forces, one_sided_forces
from bough.kernel.maximal.multipliers import SUSPECT, SystemFactor, ldlt
from bough.kernel.table import entry
from bough.kernel.verdict import is_finite
from bough.lagrange import linkage
from bough.lagrange.layout import Layout
from bough.lagrange.linkage import Level
from bough.scalar import Array, both, loop, select

__all__ = ["Found", "read_state", "run_errors", "run_integrate", "run_terms", "solve", "solve_in_one"]

BROKEN = 1e-6
"""A residual beyond this part of what an auxiliary row asks for is a conflict."""

LARGEST = 2000
"""Linkages with more rows than this have no state solved with all of them together."""

TOGETHER = 500
"""Linkages with more auxiliary rows are solved step by step: an elimination in a program makes no use of caches."""

State = dict[str, FloatArray]
Given: TypeAlias = Mapping[str, ArrayLike | None]
What: TypeAlias = Literal["terms", "solved", "errors", "integrate"]


class Found(NamedTuple):
    """Motions y (..., nv), multipliers (..., nc) inside, and which rows inside are not met."""

    y: FloatArray
    multipliers: FloatArray
    broken: NDArray[np.bool_]


def run_terms(layout: Layout, level: Level, rate: float, state: State) -> dict[str, FloatArray]:
    """Blocks of M and J, f and c."""
    names = ("mass", "jacobian", "f", "c")
    return dict(zip(names, _run(layout, "terms", level, {**state, "rate": _rate(rate)}), strict=True))


def run_errors(layout: Layout, state: State) -> dict[str, FloatArray]:
    """Errors and rates of all rows, inside."""
    errors, rates = _run(layout, "errors", "acceleration", state)
    return {"errors": errors, "rates": rates}


def run_integrate(layout: Layout, x: ArrayLike, v: ArrayLike) -> FloatArray:
    """Positions after a unit of time."""
    moved: FloatArray = _run(layout, "integrate", "acceleration", {"x": x, "v": v})
    return moved


def solve_in_one(layout: Layout, given: Given, level: Level, rate: float) -> FloatArray | None:
    """Motions and multipliers in one array from the one program, if there is one and no state is in doubt."""
    if not _in_one(layout) or not all(a is None or isinstance(a, np.ndarray) for a in given.values()):
        return None
    if given.get("time") is not None:
        given = {**given, "time": as_floats("time", given["time"], ())[..., np.newaxis]}  # type: ignore[arg-type]
    try:
        y, status = _run(layout, "solved", level, {**given, "rate": _rate(rate)})
    except ZeroDivisionError:  # see `solve`
        return None
    return y if (status > 0.0).all() else None


def solve(layout: Layout, level: Level, rate: float, state: State) -> Found:
    """Motions and multipliers: in one program where no constraint is one-sided and few are auxiliary.

    States in which constraints have not the rank of their rows are solved one by one. If it has not in any, a
    division of constants fails while the program is traced, and no constraint is taken for primary.
    """
    try:
        return _solve(layout, level, rate, state)
    except ZeroDivisionError:
        return _natural(layout, _solve(layout.loosened, level, rate, state))


def _in_one(layout: Layout) -> bool:
    """Whether one program solves a linkage: it has no conditions, and not too many auxiliary rows."""
    return not layout.one_sided.any() and layout.nc - layout.system.nc <= TOGETHER


def _solve(layout: Layout, level: Level, rate: float, state: State) -> Found:
    if not _in_one(layout):
        return _carefully(layout, level, rate, state)
    y, status = _run(layout, "solved", level, {**state, "rate": _rate(rate)})
    found, sound = _whole(layout, y), status > 0.0
    if not sound.all():
        places = np.nonzero(~sound) if sound.ndim else ()
        some = {name: np.broadcast_to(a, (*sound.shape, a.shape[-1]))[places] for name, a in state.items()}
        for part, solution in zip(found, _carefully(layout, level, rate, some), strict=True):
            part[places] = solution
    return found


def _carefully(layout: Layout, level: Level, rate: float, state: State) -> Found:
    """By ranks: all states together, or one by one if primary constraints are not independent in some."""
    try:
        return _factored(layout, level, rate, state)
    except SingularError:
        batch = np.broadcast_shapes(*(a.shape[:-1] for a in state.values()))
    found = _whole(layout, np.zeros((*batch, layout.system.nv + layout.nc)))
    for place in np.ndindex(batch):
        one = {name: np.broadcast_to(a, (*batch, a.shape[-1]))[place] for name, a in state.items()}
        for part, solution in zip(found, _careful(layout, level, rate, one), strict=True):
            part[place] = solution
    return found


def _factored(layout: Layout, level: Level, rate: float, state: State) -> Found:
    """By the factor of the primary constraints, and anticipation of the auxiliary ones."""
    system = layout.system
    terms = run_terms(layout, level, rate, state)
    soft = None if layout.compliance is None else layout.compliance[: system.nc]
    factor = ldlt(system, terms["mass"], terms["jacobian"][..., : system.jacobian_size], soft)
    free = factor.solve(np.concatenate([terms["f"], terms["c"][..., : system.nc]], axis=-1))
    return _with_auxiliary(layout, level, state, terms, factor, free) if layout.auxiliary else _whole(layout, free)


def _careful(layout: Layout, level: Level, rate: float, state: State) -> Found:
    """One state; if primary constraints are not independent there, by the ranks of all constraints together."""
    try:
        return _factored(layout, level, rate, state)
    except SingularError:
        if layout.nc > LARGEST:
            raise
    return _natural(layout, _factored(layout.loosened, level, rate, state))


def _natural(layout: Layout, found: Found) -> Found:
    """What was found with rows in the order of the ties, with rows in that of a layout."""
    multipliers, broken = np.empty_like(found.multipliers), np.empty_like(found.broken)
    multipliers[..., layout.rows], broken[..., layout.rows] = found.multipliers, found.broken
    return Found(found.y, multipliers, broken)


def _whole(layout: Layout, y: FloatArray) -> Found:
    """What is found, from motions and multipliers in one array, where all constraints are met."""
    nv = layout.system.nv
    return Found(y[..., :nv], y[..., nv:], np.zeros((*y.shape[:-1], layout.nc), np.bool_))


def read_state(layout: Layout, names: Sequence[str], given: Given) -> State:
    """Arguments as finite arrays of float64, with unit quaternions; what is None is left out. A time is (..., 1)."""
    sizes = {"x": layout.nx, "v": layout.system.nv, "force": layout.system.nv}
    meaning = {"x": "position variables", "v": "velocities", "force": "entries, laid out as velocities"}
    state: State = {}
    for name, value in given.items():
        if value is None and name in ("force", "time"):
            continue
        if value is None:
            raise ShapeError(f"{name} is None, expected an array")
        if name == "time":
            a = as_floats(name, value, ())[..., np.newaxis]
        else:
            a = as_floats(name, value, (sizes[name],), f"{sizes[name]} {meaning[name]}")
        require_finite(name, a)
        state[name] = a.astype(np.float64)
    _require_unit_quaternions(layout, names, state["x"])
    return state


def _require_unit_quaternions(layout: Layout, names: Sequence[str], x: FloatArray) -> None:
    places = layout.quaternions
    norms = np.sqrt(np.sum(x[..., places[:, np.newaxis] + np.arange(4)] ** 2, axis=-1))
    wrong = np.abs(norms - 1.0) > 1e-6
    if wrong.any():
        place = tuple(int(k) for k in np.argwhere(wrong)[0])
        start = int(places[place[-1]])
        body = names[int(np.searchsorted(layout.x_starts, start, side="right")) - 1]
        raise FiniteError(
            f"body {body!r}: the quaternion x[..., {start}:{start + 4}] has length {norms[place]:.9g}, expected 1"
        )


# ---- auxiliary constraints -------------------------------------------------------------------------------------------


def _with_auxiliary(
    layout: Layout, level: Level, state: State, terms: dict[str, FloatArray], factor: SystemFactor, free: FloatArray
) -> Found:
    """Constraint anticipation: how the auxiliary rows answer to their own forces, then the forces, then the motion."""
    nc = layout.system.nc
    jacobian, c = terms["jacobian"][..., layout.system.jacobian_size :], terms["c"][..., nc:]
    problem = anticipate(factor, free, layout.beside, jacobian, c)
    answers, reach = _measures(layout, terms["jacobian"], terms["mass"], free)
    scale = 1.0 / np.sqrt(np.where(answers > 0.0, answers, 1.0))
    A, b = problem.A, problem.b
    if layout.compliance is not None:
        A = A + np.diag(layout.compliance[nc:])
    if layout.one_sided.any():
        measured = run_errors(layout, state)
        e, r = (np.broadcast_to(measured[key], (*b.shape[:-1], layout.nc))[..., nc:] for key in ("errors", "rates"))
        f, wrong = one_sided_forces(layout, A, b, scale, e, r if level == "acceleration" else np.zeros_like(r))
    else:
        f, wrong = equality_forces(A, b, scale), np.zeros(b.shape, np.bool_)
    residual = scale * np.abs(_times(A, f) + b)
    size = np.sqrt(np.sum((scale * (np.abs(c) + reach)) ** 2, axis=-1, keepdims=True))
    wrong |= (residual > BROKEN * size) & ~layout.one_sided[nc:]
    y, multipliers = problem.motion(f)
    broken = np.concatenate([np.zeros(multipliers.shape, np.bool_), wrong], axis=-1)
    return Found(y, np.concatenate([multipliers, f], axis=-1), broken)


def _measures(
    layout: Layout, jacobian: FloatArray, mass: FloatArray, free: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Of each auxiliary row by itself J M⁻¹ Jᵀ, and |J| |y|, what its terms are with the free motion y, (..., k)."""
    shape = (*free.shape[:-1], layout.nc - layout.system.nc)
    answers, reach = np.zeros(shape), np.zeros(shape)
    for at in layout.auxiliary_blocks:
        J, M, y = jacobian[..., at.block], mass[..., at.mass], free[..., at.v]
        moved = np.swapaxes(np.linalg.solve(M, np.swapaxes(J, -1, -2)), -1, -2)
        answers[..., at.rows] += np.sum(J * moved, axis=-1)
        reach[..., at.rows] += np.sum(np.abs(J) * np.abs(y)[..., np.newaxis, :], axis=-1)
    return answers, reach


def _times(A: FloatArray, x: FloatArray) -> FloatArray:
    return np.asarray((A @ x[..., np.newaxis])[..., 0])


# ---- programs --------------------------------------------------------------------------------------------------------

TAKEN: dict[What, tuple[str, ...]] = {
    "terms": ("x", "v", "force", "time", "rate"),
    "solved": ("x", "v", "force", "time", "rate"),
    "errors": ("x", "v", "time"),
    "integrate": ("x", "v"),
}
"""What programs take; all but positions and the rate of stabilisation may be left out, and are zero then."""


def _run(layout: Layout, what: What, level: Level, given: Given) -> Any:
    """Run a program on states."""
    return entry(layout, (what, level), _program)(*map(given.get, TAKEN[what]), None, True)


@lru_cache(maxsize=64)
def _rate(rate: float) -> FloatArray:
    return np.array(rate)


def _program(layout: Layout, key: tuple[What, Level]) -> Function:
    what, level = key
    nv, size = layout.system.nv, layout.system.nv + layout.nc
    sizes = {"x": (layout.nx,), "v": (nv,), "force": (nv,), "time": (1,)}
    inputs = [
        Argument(
            name,
            sizes.get(name, ()),
            quaternions=tuple(layout.quaternions.tolist()) if name == "x" else (),
            optional=name in ("v", "force", "time") and what != "integrate",
        )
        for name in TAKEN[what]
    ]

    def rule(**x: Array) -> dict[str, Any]:
        if what == "integrate":
            return linkage.integrated(layout, **x)
        if what == "errors":
            return linkage.errors(layout, **x)
        rate = x.pop("rate")[0]
        if what == "terms":
            return linkage.terms(layout, level, rate, **x)
        found = linkage.solved(layout, level, rate, SUSPECT, **x)
        sound = is_finite(found["y"], size)
        sound = loop(layout.verdicts, lambda k, so_far: both(so_far, found["verdicts"][k] > 0.0), sound)
        return {"y": found["y"], "status": [select(sound, 1.0, -1.0)]}

    shapes: dict[What, dict[str, tuple[int, ...]]] = {
        "terms": {
            "mass": (layout.system.mass_size,), "jacobian": (layout.blocks_size,), "f": (nv,), "c": (layout.nc,)
        },
        "solved": {"y": (size,), "status": ()},
        "errors": {"errors": (layout.nc,), "rates": (layout.nc,)},
        "integrate": {"moved": (layout.nx,)},
    }  # fmt: skip
    outputs = [Argument(name, shape, finite=what == "integrate") for name, shape in shapes[what].items()]
    said = layout.digest
    digest = None if said is None else f"linkage {level} {said}"
    return Function(f"{what} of a linkage", inputs, outputs, rule, size=size, digest=lambda: digest)
