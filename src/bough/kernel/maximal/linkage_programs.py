"""Programs of linkages, and the solution of their equations, auxiliary constraints among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
from bough.kernel.maximal.multipliers import ldlt
from bough.kernel.table import entry
from bough.kernel.verdict import is_finite
from bough.lagrange import linkage
from bough.lagrange.layout import Layout
from bough.lagrange.linkage import Level
from bough.scalar import Array, both, loop, select
from bough.scalar.tolerances import ACTING, CONFLICT, SUSPECT_PIVOT, UNIT_LENGTH

__all__ = ["Found", "listed_names", "read_state", "require_directions", "required", "run", "solve", "solve_in_one"]

ALL_TOGETHER_UP_TO = 2000
"""Linkages with more rows than this have no state solved with all of them together."""

TOGETHER = 500
"""Linkages with more auxiliary rows are solved step by step: an elimination in a program makes no use of caches."""

State = dict[str, FloatArray]
Given: TypeAlias = Mapping[str, ArrayLike | None]
What: TypeAlias = Literal["terms", "solved", "errors", "integrated", "placements", "positions"]


class Found(NamedTuple):
    """Motions y (..., nv), multipliers (..., nc) inside, and which rows inside are not met.

    By how much the worst row fails (...), and whether a search for forces ended without an answer (...).
    """

    y: FloatArray
    multipliers: FloatArray
    broken: NDArray[np.bool_]
    residual: FloatArray
    undecided: NDArray[np.bool_]


def solve_in_one(layout: Layout, given: Given, level: Level, rate: float) -> FloatArray | None:
    """Motions and multipliers in one array from the one program, if there is one and no state is in doubt."""
    if not _in_one(layout) or not all(a is None or isinstance(a, np.ndarray) for a in given.values()):
        return None
    if given.get("time") is not None:
        given = {**given, "time": as_floats("time", given["time"], ())[..., np.newaxis]}  # type: ignore[arg-type]
    try:
        y, status = _call(layout, "solved", {**given, "rate": _rate(rate)}, level)
    except ZeroDivisionError:  # see `solve`
        return None
    return y if (status > 0.0).all() else None


def solve(layout: Layout, level: Level, rate: float, state: State) -> Found:
    """Motions and multipliers: in one program where few constraints are auxiliary and no one-sided one acts.

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
    if layout.one_sided.any():
        return _with_one_sided(layout, level, rate, state)
    if not _in_one(layout):
        return _carefully(layout, level, rate, state)
    solved = run(layout, "solved", {**state, "rate": _rate(rate)}, level)
    found, doubtful = _whole(layout, solved["y"]), ~(solved["status"] > 0.0)
    if doubtful.any():
        _put(found, doubtful, _carefully(layout, level, rate, _some(state, doubtful)))
    return found


def _with_one_sided(layout: Layout, level: Level, rate: float, state: State) -> Found:
    """Where no one-sided constraint touches, all else moves as if there were none; the others by conditions."""
    batch, one_sided = _batch(state), layout.one_sided
    apart = (run(layout, "errors", state)["errors"][..., layout.distances] > ACTING).all(axis=-1)
    if not apart.any():
        return _carefully(layout, level, rate, state)
    apart = np.broadcast_to(apart, batch)
    found = _whole(layout, np.zeros((*batch, layout.system.nv + layout.nc)))
    some = _solve(layout.two_sided, level, rate, _some(state, apart))
    all_rows = _whole(layout, np.zeros((len(some.y), layout.system.nv + layout.nc)))
    all_rows.multipliers[:, ~one_sided], all_rows.broken[:, ~one_sided] = some.multipliers, some.broken
    _put(found, apart, all_rows._replace(y=some.y, residual=some.residual))
    if not apart.all():
        _put(found, ~apart, _carefully(layout, level, rate, _some(state, ~apart)))
    return found


def _carefully(layout: Layout, level: Level, rate: float, state: State) -> Found:
    """By ranks: all states together, or one by one if primary constraints are not independent in some.

    Where others contradict primary constraints, all of them are met alike, in the sense of least squares.
    """
    try:
        found = _factored(layout, level, rate, state)
        at_odds = (found.broken & ~layout.one_sided).any(axis=-1)
        if at_odds.any() and layout.system.nc:
            loose = _factored(layout.loosened, level, rate, _some(state, at_odds))
            _put(found, at_odds, _natural(layout, loose))
        return found
    except SingularError:
        if layout.nc > ALL_TOGETHER_UP_TO and not _batch(state):
            raise
    if not _batch(state):
        return _natural(layout, _factored(layout.loosened, level, rate, state))
    found = _whole(layout, np.zeros((*_batch(state), layout.system.nv + layout.nc)))
    for place in np.ndindex(_batch(state)):
        _put(found, place, _carefully(layout, level, rate, _some(state, place)))
    return found


def _batch(state: State) -> tuple[int, ...]:
    return np.broadcast_shapes(*(a.shape[:-1] for a in state.values()))


def _some(state: State, places: Any) -> State:
    """The states at some places of a batch."""
    batch = _batch(state)
    return {name: np.broadcast_to(a, (*batch, a.shape[-1]))[places] for name, a in state.items()}


def _put(found: Found, places: Any, some: Found) -> None:
    for a, b in zip(found, some, strict=True):
        a[places] = b


def _factored(layout: Layout, level: Level, rate: float, state: State) -> Found:
    """By the factor of the primary constraints, and anticipation of the auxiliary ones."""
    system, terms = layout.system, run(layout, "terms", {**state, "rate": _rate(rate)}, level)
    jacobian, c = terms["jacobian"], terms["c"]
    soft = np.zeros(layout.nc) if layout.compliance is None else layout.compliance
    compliance = None if layout.compliance is None else soft[: system.nc]
    factor = ldlt(system, terms["mass"], jacobian[..., : system.jacobian_size], compliance)
    free = factor.solve(np.concatenate([terms["f"], c[..., : system.nc]], axis=-1))
    if not layout.auxiliary:
        return _whole(layout, free)
    # how the auxiliary rows answer to their own forces, then the forces, then the motion
    jacobian, c, one_sided = jacobian[..., system.jacobian_size :], c[..., system.nc :], layout.one_sided[system.nc :]
    problem = anticipate(factor, free, layout.beside, jacobian, c)
    scale = 1.0 / np.sqrt(np.where(terms["answers"] > 0.0, terms["answers"], 1.0))
    A, b = problem.A + np.diag(soft[system.nc :]), problem.b
    wrong, failing, undecided = np.zeros(b.shape, np.bool_), np.zeros_like(b), np.zeros(b.shape[:-1], np.bool_)
    if one_sided.any():
        measured = run(layout, "errors", state)
        e, r = (np.broadcast_to(measured[key], (*b.shape[:-1], layout.nc))[..., system.nc :] for key in measured)
        slip = r if level == "acceleration" else np.zeros_like(r)
        f, wrong, failing, undecided = one_sided_forces(layout, A, b, scale, e, slip)
    else:
        f = equality_forces(A, b, scale)
    off = np.abs((A @ f[..., np.newaxis])[..., 0] + b)
    size = np.sqrt(np.sum((scale * (np.abs(c) + _reach(layout, jacobian, free))) ** 2, axis=-1, keepdims=True))
    wrong |= (scale * off > CONFLICT * size) & ~one_sided
    residual = np.where(one_sided, failing, off).max(axis=-1, initial=0.0)
    y, multipliers = problem.motion(f)
    broken = np.concatenate([np.zeros(multipliers.shape, np.bool_), wrong], axis=-1)
    return Found(y, np.concatenate([multipliers, f], axis=-1), broken, residual, undecided)


def _reach(layout: Layout, jacobian: FloatArray, free: FloatArray) -> FloatArray:
    """What the terms of auxiliary rows are with a free motion y: |J| |y|, (..., k)."""
    rows, columns = (table.data for table in layout.beside.entries)
    incidence = np.arange(layout.nc - layout.system.nc) == rows[:, np.newaxis]
    return np.asarray(np.abs(jacobian * free[..., columns]) @ incidence)


def _natural(layout: Layout, found: Found) -> Found:
    """What was found with rows in the order of the ties, with rows in that of a layout."""
    multipliers, broken = np.empty_like(found.multipliers), np.empty_like(found.broken)
    multipliers[..., layout.rows], broken[..., layout.rows] = found.multipliers, found.broken
    return found._replace(multipliers=multipliers, broken=broken)


def _whole(layout: Layout, y: FloatArray) -> Found:
    """What is found, from motions and multipliers in one array, where all constraints are met."""
    nv, batch = layout.system.nv, y.shape[:-1]
    met = np.zeros((*batch, layout.nc), np.bool_)
    return Found(y[..., :nv], y[..., nv:], met, np.zeros(batch), np.zeros(batch, np.bool_))


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


def required(v: ArrayLike) -> ArrayLike:
    """Velocities that may not be left out."""
    if v is None:
        raise ShapeError("v is None, expected an array of velocities")
    return v


def listed_names(names: Sequence[str]) -> str:
    """The first dozen of names, and how many there are."""
    return ", ".join(map(repr, names[:12])) + (f", … ({len(names)} in all)" if len(names) > 12 else "")


def require_directions(name_of: Callable[[int], str], rows: FloatArray) -> None:
    """Raise, naming the constraint, unless numbers of rows (..., nc) are finite: what coincides has no direction."""
    lost = np.argwhere(~np.isfinite(rows))
    if lost.size:
        raise FiniteError(
            f"constraint {name_of(int(lost[0, -1]))!r} has no direction in this position; expected points, or centres "
            "of surfaces, that do not coincide"
        )


def _require_unit_quaternions(layout: Layout, names: Sequence[str], x: FloatArray) -> None:
    places = layout.quaternions
    norms = np.sqrt(np.sum(x[..., places[:, np.newaxis] + np.arange(4)] ** 2, axis=-1))
    wrong = np.abs(norms - 1.0) > UNIT_LENGTH
    if wrong.any():
        place = tuple(int(k) for k in np.argwhere(wrong)[0])
        start = int(places[place[-1]])
        body = names[int(np.searchsorted(layout.x_starts, start, side="right")) - 1]
        raise FiniteError(
            f"body {body!r}: the quaternion x[..., {start}:{start + 4}] has length {norms[place]:.9g}, expected 1"
        )


# ---- programs --------------------------------------------------------------------------------------------------------

TAKEN: dict[What, tuple[str, ...]] = {
    "terms": ("x", "v", "force", "time", "rate"),
    "solved": ("x", "v", "force", "time", "rate"),
    "errors": ("x", "v", "time"),
    "integrated": ("x", "v"),
    "placements": ("x",),
    "positions": ("placements",),
}
"""What programs take; all but positions and the rate of stabilisation may be left out, and are zero then."""

GIVEN: dict[What, tuple[str, ...]] = {
    "terms": ("mass", "jacobian", "f", "c", "answers"),
    "solved": ("y", "status"),
    "errors": ("errors", "rates"),
}
"""What programs give, if it is more than one array."""


def run(layout: Layout, what: What, given: Given, level: Level = "acceleration") -> Any:
    """What a program gives for states: an array, or arrays by name. The rules are in `bough.lagrange.linkage`."""
    found = _call(layout, what, given, level)
    return dict(zip(GIVEN[what], found, strict=True)) if what in GIVEN else found


def _call(layout: Layout, what: What, given: Given, level: Level) -> Any:
    return entry(layout, (what, level), _program)(*map(given.get, TAKEN[what]), None, True)


@lru_cache(maxsize=64)
def _rate(rate: float) -> FloatArray:
    return np.array(rate)


def _program(layout: Layout, key: tuple[What, Level]) -> Function:
    what, level = key
    system, nv, nc, n = layout.system, layout.system.nv, layout.nc, len(layout.bodies)
    sizes = {"x": (layout.nx,), "v": (nv,), "force": (nv,), "time": (1,), "placements": (n, 4, 4)}
    sizes |= {"mass": (system.mass_size,), "jacobian": (layout.blocks_size,), "f": (nv,), "c": (nc,), "y": (nv + nc,)}
    sizes |= {"answers": (nc - system.nc,), "errors": (nc,), "rates": (nc,), "integrated": (layout.nx,)}
    sizes |= {"positions": (layout.nx,)}
    inputs = [
        Argument(
            name,
            sizes.get(name, ()),
            quaternions=tuple(layout.quaternions.tolist()) if name == "x" else (),
            optional=name in ("v", "force", "time") and what != "integrated",
        )
        for name in TAKEN[what]
    ]

    def rule(**x: Array) -> dict[str, Any]:
        if "rate" not in x:
            simple: dict[str, Array] = getattr(linkage, what)(layout, **x)
            return simple
        rate = x.pop("rate")[0]
        if what == "terms":
            return linkage.terms(layout, level, rate, **x)
        found = linkage.solved(layout, level, rate, SUSPECT_PIVOT, **x)
        sound = is_finite(found["y"], nv + nc)
        sound = loop(layout.verdicts, lambda k, so_far: both(so_far, found["verdicts"][k] > 0.0), sound)
        return {"y": found["y"], "status": [select(sound, 1.0, -1.0)]}

    said = layout.digest
    outputs = [Argument(name, sizes.get(name, ()), finite=what not in GIVEN) for name in GIVEN.get(what, (what,))]
    digest = None if said is None else f"linkage {level} {said}"
    name = {"integrated": "integrate", "solved": "motion"}.get(what, what)
    return Function(f"{name} of a linkage", inputs, outputs, rule, size=nv + nc, digest=lambda: digest)
