"""Programs of linkages, and what is done about states that they do not solve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough import complementarity
from bough.backends import Argument
from bough.complementarity import Conditions
from bough.complementarity.conditions import NO_NORMAL
from bough.complementarity.pivoting import is_undecided
from bough.errors import FiniteError, SingularError
from bough.kernel.arguments import SINGLE, FloatArray, require_on_cpu
from bough.kernel.contact.complementarity import pivoting
from bough.kernel.function import Function, Results, Verdicts
from bough.kernel.loops.careful import mend_states
from bough.kernel.maximal.anticipation import anticipate
from bough.kernel.maximal.multipliers import ldlt
from bough.kernel.table import entry
from bough.kernel.verdict import all_in_doubt, is_finite
from bough.lagrange import Auxiliary, System, linkage
from bough.lagrange.layout import Layout
from bough.lagrange.linkage import Level
from bough.scalar import Array, both, loop, negation
from bough.scalar.tolerances import CONFLICT, SINGULAR_VALUE, TOUCHING, VANISHING

__all__ = ["Found", "LinkageTerms", "motion", "run", "terms"]

ALL_TOGETHER_UP_TO = 2000
"""Linkages with more rows than this have no state solved with all of them together."""

TOGETHER = 500
"""Linkages with more auxiliary rows are solved step by step: an elimination in a program makes no use of caches."""

State = dict[str, FloatArray]
What: TypeAlias = Literal["terms", "motion", "errors", "rates", "integrate", "placements", "positions"]


class LinkageTerms(NamedTuple):
    """The terms of M v̇ = Jᵀ λ + force and J v̇ + c + C λ = 0; the first six are the arguments of `multipliers`.

    Attributes
    ----------
    system
        The bodies and the primary constraints, in the order of ``linkage.primary``.
    mass, jacobian, force, c
        Their blocks and values, as `multipliers` and `ldlt` take them.
    compliance
        1 in the rows of armature and 0 in all others; None if no joint has armature.
    auxiliary, auxiliary_jacobian, auxiliary_c
        The auxiliary constraints, in the order of ``linkage.auxiliary``, as `anticipate` takes them. Auxiliary joints
        with armature also have a compliance of 1 in the rows of armature.
    """

    system: System
    mass: FloatArray
    jacobian: FloatArray
    force: FloatArray
    c: FloatArray
    compliance: FloatArray | None
    auxiliary: Auxiliary
    auxiliary_jacobian: FloatArray
    auxiliary_c: FloatArray


class Found(NamedTuple):
    """Motions, forces of all rows, by how much the worst fails, and which are not met."""

    motion: FloatArray  # (..., nv)
    forces: FloatArray  # (..., nc)
    residual: FloatArray  # (...)
    unmet: FloatArray  # (..., nc)
    undecided: FloatArray  # (...): 1 where a search for forces ended without an answer


def motion(layout: Layout, level: Level, rate: float, given: Mapping[str, ArrayLike | None]) -> Found:
    """Motions and forces: in one program where few constraints are auxiliary and no one-sided one touches."""
    whole = {**given, "rate": np.array(rate)}
    try:
        return Found(*run(layout, "motion", whole, level))
    except ZeroDivisionError:  # of constants while it is traced: the rank is less than the rows in every state
        return Found(*run(layout.without_primary, "motion", whole, level))


# ---- the careful route: states (states, ...) -------------------------------------------------------------------------


def _by_ranks(layout: Layout, level: Level, state: State) -> Found:
    """By ranks: all states together, or one by one if primary constraints are not independent in some."""
    count = len(state["x"])
    try:
        found = _solve_by_factor(layout, level, state)
    except SingularError:
        if count > 1:
            ones = ({key: a[k : k + 1] for key, a in state.items()} for k in range(count))
            each = [_by_ranks(layout, level, one) for one in ones]
            return Found(*map(np.concatenate, zip(*each, strict=True)))
        if layout.nc > ALL_TOGETHER_UP_TO:
            raise
        return _solve_by_factor(layout.without_primary, level, state)
    # where others contradict primary constraints, all of them are met alike, in the sense of least squares
    at_odds = (found.unmet * ~layout.one_sided[layout.rows]).any(axis=-1)
    if at_odds.any() and layout.system.nc:
        some = _solve_by_factor(layout.without_primary, level, {key: a[at_odds] for key, a in state.items()})
        for all_states, part in zip(found, some, strict=True):
            all_states[at_odds] = part
    return found


def terms(layout: Layout, level: Level, given: Mapping[str, Any]) -> tuple[LinkageTerms, FloatArray]:
    """The equations of a level, and how auxiliary rows answer alone: to forces of their own on free bodies."""
    mass, J, f, c, answers = run(layout, "terms", given, level)
    system, soft = layout.system, layout.compliance
    first, rows = system.jacobian_size, system.nc
    own = (mass, J[..., :first], f, c[..., :rows], None if soft is None else soft[:rows])
    return LinkageTerms(system, *own, layout.beside, J[..., first:], c[..., rows:]), answers


def _solve_by_factor(layout: Layout, level: Level, state: State) -> Found:
    """By the factor of the primary constraints, and anticipation of the auxiliary ones."""
    (t, answers), system = terms(layout, level, state), layout.system
    factor = ldlt(system, t.mass, t.jacobian, t.compliance)
    free = factor.solve(np.concatenate([t.force, t.c], axis=-1))
    if not layout.auxiliary:
        forces, none = free[..., system.nv + layout.rows], np.zeros(free.shape[:-1])
        return Found(free[..., : system.nv], forces, none, np.zeros_like(forces), none)
    # how the auxiliary rows answer to their own forces, then the forces, then the motion
    problem = anticipate(factor, free, t.auxiliary, t.auxiliary_jacobian, t.auxiliary_c)
    one_sided = layout.one_sided[system.nc :]
    scale = 1.0 / np.sqrt(np.where(answers > 0.0, answers, 1.0))
    A, b = problem.A, problem.b
    if layout.compliance is not None:
        A = A + np.diag(layout.compliance[system.nc :])
    wrong, failing, undecided = np.zeros(b.shape, np.bool_), np.zeros_like(b), np.zeros(b.shape[:-1], np.bool_)
    if one_sided.any():
        inside = np.argsort(layout.rows)[system.nc :]
        e = run(layout, "errors", {key: state.get(key) for key in ("x", "time")})[..., inside]
        slip = run(layout, "rates", state)[..., inside] if level == "acceleration" else np.zeros_like(e)
        f, wrong, failing, undecided = _one_sided_forces(layout, A, b, scale, e, slip)
    else:
        f = _equality_forces(A, b, scale)
    off = np.abs((A @ f[..., np.newaxis])[..., 0] + b)
    reach = np.abs(t.auxiliary_c) + _reach(layout, t.auxiliary_jacobian, free)
    wrong |= (scale * off > CONFLICT * np.sqrt(np.sum((scale * reach) ** 2, axis=-1, keepdims=True))) & ~one_sided
    residual = np.where(one_sided, failing, off).max(axis=-1, initial=0.0)
    y, multipliers = problem.motion(f)
    forces, unmet = np.concatenate([multipliers, f], axis=-1), np.concatenate([multipliers * 0.0, wrong], axis=-1)
    return Found(y, forces[..., layout.rows], residual, unmet[..., layout.rows], undecided.astype(np.float64))


def _reach(layout: Layout, jacobian: FloatArray, free: FloatArray) -> FloatArray:
    """What the terms of auxiliary rows are with a free motion y: |J| |y|, (..., k)."""
    rows, columns = (table.data for table in layout.beside.entries)
    incidence = np.arange(layout.nc - layout.system.nc) == rows[:, np.newaxis]
    return np.asarray(np.abs(jacobian * free[..., columns]) @ incidence)


# ---- forces of auxiliary rows, from how they answer to these: a = A f + b --------------------------------------------

# Rows are scaled so that each answers with 1 to a unit force of its own on bodies without primary constraints. Those
# that answer with less than `VANISHING` are held by other constraints already, and get no force.


def _equality_forces(A: FloatArray, b: FloatArray, scale: FloatArray) -> FloatArray:
    """The smallest forces with A f + b = 0, in the sense of least squares where there are none; (..., k)."""
    f, equal = np.empty_like(b), Conditions.equalities(b.shape[-1])
    for place in np.ndindex(b.shape[:-1]):
        s = scale[place]
        scaled, right = A[place] * s[:, np.newaxis] * s, s * b[place]
        clear = _if_clear(scaled, -right)
        f[place] = s * (complementarity.pivoting(scaled, right, equal, np.zeros_like(s)).f if clear is None else clear)
    return f


def _if_clear(A: FloatArray, b: FloatArray) -> FloatArray | None:
    """The solution of A x = b if all pivots are well away from zero; else None."""
    try:
        pivots = np.diagonal(np.linalg.cholesky(A)) ** 2
    except np.linalg.LinAlgError:
        return None
    return np.linalg.solve(A, b) if pivots.min(initial=1.0) > SINGULAR_VALUE else None


def _one_sided_forces(
    layout: Layout, A: FloatArray, b: FloatArray, scale: FloatArray, e: FloatArray, slip: FloatArray
) -> tuple[FloatArray, NDArray[np.bool_], FloatArray, NDArray[np.bool_]]:
    """Forces by pivoting, which rows are in conflict with others, by how much rows fail, which states are undecided."""
    # Errors e say which constraints touch, rates `slip` which rows slide already. Rows that do not touch, or whose
    # normal does not, stand alone and get no force.
    conditions, one_sided = layout.conditions, layout.one_sided[layout.system.nc :]
    acts = (scale**2 * np.diagonal(A, axis1=-2, axis2=-1) > VANISHING) & (e <= TOUCHING) | ~one_sided
    acts &= (conditions.normal == NO_NORMAL) | acts[..., conditions.normal]
    slides = acts & one_sided & (np.abs(slip) > TOUCHING)
    A = np.where(acts[..., np.newaxis] & acts[..., np.newaxis, :], A, np.eye(conditions.n))
    found = pivoting(A, acts * b, conditions, layout.friction, slip=np.where(slides, slip, 0.0))
    undecided = np.zeros(found.pivots.shape, np.bool_)
    for place, reason in found.reasons.items():
        undecided[place] = is_undecided(reason)
    return found.f, found.conflicts & one_sided, found.residual * one_sided, undecided


def _first_names(names: Sequence[str]) -> str:
    """The first dozen of names, and how many there are."""
    return ", ".join(map(repr, names[:12])) + (f", … ({len(names)} in all)" if len(names) > 12 else "")


# ---- programs --------------------------------------------------------------------------------------------------------

TAKEN: dict[What, tuple[str, ...]] = {
    "terms": ("x", "v", "force", "time", "rate"),
    "motion": ("x", "v", "force", "time", "rate"),
    "errors": ("x", "time"),
    "rates": ("x", "v", "time"),
    "integrate": ("x", "v"),
    "placements": ("x",),
    "positions": ("placements",),
}
"""What programs take; force and time may be left out, and so may velocities at levels without."""

GIVEN: dict[What, tuple[str, ...]] = {"terms": ("mass", "jacobian", "f", "c", "answers"), "motion": Found._fields}
"""What programs give, if it is more than one array. The rules are in `bough.lagrange.linkage`."""

WITHOUT_VELOCITIES: tuple[Level, ...] = ("first order", "position")


def run(layout: Layout, what: What, given: Mapping[str, Any], level: Level = "acceleration") -> Any:
    """What a program gives for states: an array, or several. It computes in float64."""
    require_on_cpu(**given)
    wide = {key: x.astype(np.float64) if getattr(x, "dtype", None) == SINGLE else x for key, x in given.items()}
    return _enter(layout, what, wide, level, True)


def _enter(layout: Layout, what: What, given: Mapping[str, Any], level: Level, check: bool) -> Any:
    """Call a program with what it takes of given arrays; it solves linkages with not too many auxiliary rows in one."""
    in_one = layout.two_sided.nc - layout.two_sided.system.nc <= TOGETHER
    return entry(layout, (what, level, in_one), _program)(*map(given.get, TAKEN[what]), None, check)


def _arguments(layout: Layout, what: What, level: Level) -> tuple[list[Argument], list[Argument]]:
    """What a program takes and gives."""
    nv, nc, nx = layout.system.nv, layout.nc, layout.nx
    sizes = {"placements": (len(layout.bodies), 4, 4), "mass": (layout.system.mass_size,)}
    sizes |= {"answers": (nc - layout.system.nc,), "jacobian": (layout.blocks_size,)}
    sizes |= dict.fromkeys(("x", "integrate", "positions"), (nx,)) | dict.fromkeys(("v", "force", "f", "motion"), (nv,))
    sizes |= dict.fromkeys(("errors", "rates", "c", "forces", "unmet"), (nc,))
    meaning = {"x": f"{nx} position variables", "v": f"{nv} velocities"}
    meaning["force"] = f"{nv} entries, laid out as velocities"
    optional = {"force", "time", *(("v",) if level in WITHOUT_VELOCITIES else ())}
    inputs = []
    for name in TAKEN[what]:
        places = tuple(layout.quaternions.tolist()) if name == "x" else ()
        size, said = sizes.get(name, ()), meaning.get(name, "")
        inputs.append(Argument(name, size, said, quaternions=places, optional=name in optional))
    return inputs, [Argument(name, sizes.get(name, ())) for name in GIVEN.get(what, (what,))]


def _program(layout: Layout, key: tuple[What, Level, bool]) -> Function:
    what, level, in_one = key
    nv, nc, (inputs, outputs) = layout.system.nv, layout.nc, _arguments(layout, what, level)

    def rule(**x: Array) -> dict[str, Any]:
        if what in ("errors", "rates"):
            return {what: linkage.errors(layout, **x)[what]}
        if "rate" not in x:
            simple: dict[str, Array] = getattr(linkage, what)(layout, **x)
            return simple
        rate = x.pop("rate")[0]
        if what == "terms":
            return linkage.terms(layout, level, rate, **x)
        nothing = all_in_doubt(outputs)()
        if not in_one:
            return nothing
        found = linkage.solve_apart(layout, level, rate, SINGULAR_VALUE, **x)
        sound, verdicts = both(is_finite(found["motion"], nv), is_finite(found["forces"], nc)), found.pop("verdicts")
        sound = loop(layout.verdicts, lambda k, so_far: both(so_far, verdicts[k] > 0.0), sound)
        return nothing | found | {"doubt": negation(sound)}

    def explain(arrays: State, results: Results, verdicts: Verdicts) -> Results:
        axes = {a.name: len(a.shape) for a in inputs}
        try:
            return mend_states(lambda some: _by_ranks(layout, level, some), axes, arrays, results, verdicts != 0)
        except SingularError as error:
            ties = _first_names([layout.tie_names[k] for k in layout.primary])
            names = f"bodies are {_first_names(layout.body_names)}; constraints counted from 0 are {ties}"
            raise SingularError(f"{error} ({names})") from None

    places, said = layout.quaternions, layout.digest
    owners = np.searchsorted(layout.x_starts, places, side="right") - 1
    made = Function(
        f"{what} of a linkage",
        inputs,
        outputs,
        rule,
        size=nv + nc,
        digest=lambda: None if said is None else f"linkage {level} {said}",
        owners={int(at): f"body {layout.body_names[k]!r}: " for at, k in zip(places, owners, strict=True)},
        explain=explain if what == "motion" else None,
        mends=what == "motion",
    )
    if what in ("motion", "terms", "rates"):
        made.look_closer = lambda arrays: _require_directions(layout, arrays)
    return made


def _require_directions(layout: Layout, arrays: State) -> None:
    """Raise, naming the constraint, where one has no direction: what its rows ask for is no number if bodies move."""
    given: State = {key: a for key, a in arrays.items() if key in ("x", "time")}
    given |= {"v": np.ones(layout.system.nv), "rate": np.array(1.0)}
    c = _enter(layout, "terms", given, "acceleration", False)[GIVEN["terms"].index("c")]
    lost = np.argwhere(~np.isfinite(c[..., layout.rows]))
    if lost.size:
        raise FiniteError(
            f"constraint {layout.row_names[int(lost[0, -1])]!r} has no direction in this position; expected points, or "
            "centres of surfaces, that do not coincide"
        )
