"""Programs of linkages, and the solution of their equations, auxiliary constraints among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.backends import Kernel
from bough.complementarity import Conditions
from bough.errors import FiniteError, ShapeError
from bough.kernel.anticipation import anticipate
from bough.kernel.border import FloatArray, as_floats, call, require_finite
from bough.kernel.compile import get_backend, kernel
from bough.kernel.complementarity import pivoting
from bough.kernel.multipliers import SUSPECT, SystemFactor, ldlt
from bough.lagrange import linkage
from bough.lagrange.layout import Layout
from bough.lagrange.linkage import Level
from bough.scalar import Array

__all__ = ["Found", "read_state", "run_errors", "run_integrate", "run_rates", "run_terms", "solve"]

RANK = 1e-10
"""Auxiliary rows are scaled to answer with 1 to their own unit force on free bodies; beside that, less is nothing."""

BROKEN = 1e-6
"""A residual beyond this part of what an auxiliary row asks for is a conflict."""

TOUCHING = 1e-9
"""One-sided rows act where their error is not larger (m, rad)."""

SLIDING = 1e-6
"""Contacts slide where their rates along the surface are larger (m/s)."""

State = dict[str, FloatArray]


class Found(NamedTuple):
    """Motions y (..., nv), multipliers (..., nc) inside, and which rows inside are not met."""

    y: FloatArray
    multipliers: FloatArray
    broken: NDArray[np.bool_]


def run_terms(layout: Layout, level: Level, rate: float, state: State) -> dict[str, FloatArray]:
    """Blocks of M and J, f and c."""
    system = layout.system
    shapes = {"mass": system.mass_size, "jacobian": layout.blocks_size, "f": system.nv, "c": layout.nc}
    ready = _kernel(get_backend(), layout, "terms", level, rate)
    return call(ready, _inputs(state), {name: (size,) for name, size in shapes.items()})


def run_errors(layout: Layout, state: State) -> dict[str, FloatArray]:
    """Errors and rates of all rows, inside."""
    shapes = {"errors": (layout.nc,), "rates": (layout.nc,)}
    return call(_kernel(get_backend(), layout, "errors"), _inputs(state), shapes)


def run_integrate(layout: Layout, state: State) -> FloatArray:
    """Positions after a unit of time."""
    return call(_kernel(get_backend(), layout, "integrate"), _inputs(state), {"x": (layout.nx,)})["x"]


def run_rates(layout: Layout, state: State) -> FloatArray:
    """Rates of positions."""
    return call(_kernel(get_backend(), layout, "rates"), _inputs(state), {"rates": (layout.nx,)})["rates"]


def solve(layout: Layout, level: Level, rate: float, state: State) -> Found:
    """Motions and multipliers: in one program where no constraint is auxiliary."""
    system = layout.system
    if not layout.auxiliary:
        shapes = {"y": (system.nv + system.nc,), "margins": (system.nv + system.nc,)}
        results = call(_kernel(get_backend(), layout, "solved", level, rate), _inputs(state), shapes)
        if (results["margins"] > 0).all():
            y = results["y"]
            return Found(y[..., : system.nv], y[..., system.nv :], np.zeros((*y.shape[:-1], layout.nc), np.bool_))
    terms = run_terms(layout, level, rate, state)
    factor = ldlt(system, terms["mass"], terms["jacobian"][..., : system.jacobian_size])
    free = factor.solve(np.concatenate([terms["f"], terms["c"][..., : system.nc]], axis=-1))
    if not layout.auxiliary:
        broken = np.zeros((*free.shape[:-1], layout.nc), np.bool_)
        return Found(free[..., : system.nv], free[..., system.nv :], broken)
    return _with_auxiliary(layout, level, state, terms, factor, free)


def read_state(layout: Layout, names: Sequence[str], given: Mapping[str, ArrayLike | None]) -> State:
    """Arguments as finite arrays of float64, with unit quaternions; a force that is None is zero."""
    sizes = {"x": layout.nx, "v": layout.system.nv, "force": layout.system.nv}
    meaning = {"x": "position variables", "v": "velocities", "force": "entries, laid out as velocities"}
    state: State = {}
    for name, value in given.items():
        if name == "time":
            a = as_floats(name, 0.0 if value is None else value, ())[..., np.newaxis]
        else:
            filled = np.zeros(sizes[name]) if value is None and name == "force" else value
            if filled is None:
                raise ShapeError(f"{name} is None, expected an array")
            a = as_floats(name, filled, (sizes[name],), f"{sizes[name]} {meaning[name]}")
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
    if any(layout.ties[k].constraint.one_sided for k in layout.auxiliary):
        f, wrong = _one_sided(layout, level, state, problem.A, problem.b)
    else:
        f = _equalities(problem.A, problem.b, scale)
        residual = np.abs(_times(problem.A, f) + problem.b)
        size = np.sqrt(np.sum((scale * (np.abs(c) + reach)) ** 2, axis=-1, keepdims=True))
        wrong = scale * residual > BROKEN * size
    y, multipliers = problem.motion(f)
    broken = np.concatenate([np.zeros(multipliers.shape, np.bool_), wrong], axis=-1)
    return Found(y, np.concatenate([multipliers, f], axis=-1), broken)


def _equalities(A: FloatArray, b: FloatArray, scale: FloatArray) -> FloatArray:
    """The smallest forces with A f + b = 0, in the sense of least squares where there are none."""
    values, vectors = np.linalg.eigh(A * scale[..., np.newaxis] * scale[..., np.newaxis, :])
    kept = values > RANK
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=kept)
    along = inverse * _times(np.swapaxes(vectors, -1, -2), -scale * b)
    return np.asarray(scale * _times(vectors, along))


def _one_sided(
    layout: Layout, level: Level, state: State, A: FloatArray, b: FloatArray
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Forces by pivoting, state by state, and rows in conflict; one-sided constraints act where they touch."""
    nc, batch, f, wrong = layout.system.nc, b.shape[:-1], np.zeros_like(b), np.zeros(b.shape, np.bool_)
    measured = run_errors(layout, {key: state[key] for key in ("x", "v", "time")})
    e, r = (np.broadcast_to(measured[key], (*batch, layout.nc))[..., nc:] for key in ("errors", "rates"))
    for place in np.ndindex(batch):
        rows, conditions, mu = _acting(layout, e[place])
        slip = np.where(np.abs(r[place][rows]) > SLIDING, r[place][rows], 0.0) if level == "acceleration" else None
        found = pivoting(A[place][np.ix_(rows, rows)], b[place][rows], conditions, mu, slip=slip)
        f[(*place, rows)] = found.f
        wrong[(*place, rows[list(found.conflicts)])] = True
    return f, wrong


def _acting(layout: Layout, e: FloatArray) -> tuple[NDArray[np.intp], Conditions, FloatArray]:
    """The auxiliary rows that act, what they demand, and their coefficients of friction."""
    rows: list[int] = []
    mu: list[float] = []
    conditions, start = Conditions.equalities(0), 0
    for k in layout.auxiliary:
        constraint = layout.ties[k].constraint
        span = range(start, start + constraint.rows)
        start += constraint.rows
        if not constraint.one_sided:
            conditions, chosen = conditions + Conditions.equalities(constraint.rows), list(span)
        elif constraint.friction is not None:
            chosen = list(span) if e[span[0]] <= TOUCHING else []
            conditions = conditions + Conditions.contacts(bool(chosen), "pyramid", constraint.rows - 1)
        else:
            chosen = [row for row in span if e[row] <= TOUCHING]
            conditions = conditions + Conditions.inequalities(len(chosen))
        rows += chosen
        mu += [constraint.friction or 0.0] * len(chosen)
    return np.array(rows, np.intp), conditions, np.array(mu)


def _measures(
    layout: Layout, jacobian: FloatArray, mass: FloatArray, free: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Of each auxiliary row by itself J M⁻¹ Jᵀ, and |J| |y|, what its terms are with the free motion y, (..., k)."""
    system = layout.system
    batch, rows = free.shape[:-1], layout.nc - system.nc
    answers, reach = np.zeros((*batch, rows)), np.zeros((*batch, rows))
    row = 0
    for k in layout.auxiliary:
        tie = layout.ties[k]
        span = slice(row, row + tie.constraint.rows)
        row = span.stop
        for side, body in enumerate(tie.bodies):
            if not body:
                continue
            d, place = layout.bodies[body - 1].nv, layout.block_starts[k, side]
            J = jacobian[..., place : place + tie.constraint.rows * d].reshape(*jacobian.shape[:-1], -1, d)
            M = mass[..., slice(*system.mass_starts[body - 1 : body + 1])].reshape(*mass.shape[:-1], d, d)
            moved = np.swapaxes(np.linalg.solve(M, np.swapaxes(J, -1, -2)), -1, -2)
            answers[..., span] += np.sum(J * moved, axis=-1)
            reach[..., span] += _times(np.abs(J), np.abs(free[..., slice(*system.v_starts[body - 1 : body + 1])]))
    return answers, reach


def _times(A: FloatArray, x: FloatArray) -> FloatArray:
    return np.asarray((A @ x[..., np.newaxis])[..., 0])


# ---- kernels ---------------------------------------------------------------------------------------------------------


def _inputs(state: State) -> dict[str, tuple[FloatArray, int]]:
    return {name: (a, 1) for name, a in state.items()}


@lru_cache(maxsize=128)
def _kernel(backend: str, layout: Layout, what: str, level: Level = "acceleration", rate: float = 0.0) -> Kernel:
    sizes = {"x": layout.nx, "v": layout.system.nv, "force": layout.system.nv, "time": 1}

    def function(**x: Array) -> dict[str, Array]:
        if what == "terms":
            return linkage.terms(layout, level, rate, **x)
        if what == "solved":
            return linkage.solved(layout, level, rate, SUSPECT, **x)
        if what == "errors":
            return linkage.errors(layout, **x)
        return linkage.integrated(layout, **x) if what == "integrate" else linkage.position_rates(layout, **x)

    names = {"terms": tuple(sizes), "solved": tuple(sizes), "errors": ("x", "v", "time")}.get(what, ("x", "v"))
    said = None if layout.digest is None else f"linkage {what} {level} {rate!r} {layout.digest}"
    return kernel(
        ("linkage", layout, what, level, rate),
        what,
        function,
        {name: sizes[name] for name in names},
        layout.system.nv + layout.nc,
        lambda: said,
    )
