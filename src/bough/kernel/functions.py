"""The functions of models: the rows of `specs` on a model, and what their verdicts mean there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from bough import reading
from bough.backends import Argument, Limbs
from bough.errors import AlwaysSingular, FiniteError, ModelError, ShapeError, SingularError
from bough.kernel.arguments import FloatArray, Shape, as_floats, require_finite, require_unit_quaternions
from bough.kernel.called import public_name
from bough.kernel.factor_functions import pivot_limits
from bough.kernel.factors import vanishing_pivots
from bough.kernel.function import Explain, Function, Results, Verdicts
from bough.kernel.limbs import limbs
from bough.kernel.manifold import Manifold, manifold_of
from bough.kernel.specs import FLEXIBLE, NEED_FRAMES, ONE_FRAME, OPTIONAL, SOME_FRAMES, UNCOUPLED, Options, spec
from bough.kernel.table import entry, function_of
from bough.kernel.verdict import DOUBT, PIVOTS
from bough.lagrange.joints import constraint_system
from bough.model import NO_PARAMETERS, Mechanism, Model, Parameters
from bough.model.constraints import Tie
from bough.model.massless import give_inertia
from bough.model.stations import require_all_rigid
from bough.model.ties.trial import is_from_outside
from bough.program import Program
from bough.reading import kind_of

if TYPE_CHECKING:
    from bough.kernel.export import Layout

__all__ = [
    "REFERENCES", "algorithm", "algorithm_on", "argument_of", "digest_of", "inputs_of", "layout", "manifolds_of",
    "mechanism", "model_function", "naming_the_massless", "new_function", "on_frames", "options", "outputs_of",
    "owners_of", "program", "read", "require_constraints", "require_frames", "require_independent",
    "require_known_bodies", "require_model", "require_regular",
]  # fmt: skip

REFERENCES = ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED")

PLAIN = Options()


@lru_cache(maxsize=128)
def mechanism(model: Model) -> Mechanism:
    """The inside of a model, made once."""
    return Mechanism(model)


def algorithm(model: Model, key: Any) -> Function:
    """The function of an algorithm on a model, by its name, or by its name and options."""
    name, chosen = (key, PLAIN) if isinstance(key, str) else key
    return new_function(model, name, chosen)


def on_frames(model: Model, key: tuple[str, str | Sequence[str] | None, str, bool]) -> Function:
    """The function of an algorithm on frames, by its name, theirs (one, several, or None for all bodies) and options.

    The options are the reference frame, and whether accelerations are classical.
    """
    name, frames, reference, classical = key
    require_model(model)
    if name in NEED_FRAMES:
        _require_one_frame(name, frames)
    return new_function(model, name, options(model, frames, reference, classical))


def model_function(model: Model, name: str, options: Options = PLAIN) -> Function:
    """The function of an algorithm on a model."""
    require_model(model)
    return function_of(model, (name, options) if options != PLAIN else name, algorithm)


def program(model: Model, name: str, options: Options, inputs: Sequence[str], rolled: bool | None = None) -> Program:
    """The program of an algorithm on a model; `rolled` overrides the choice by size."""
    function = model_function(model, name, options)
    optional = {a.name for a in function.inputs if a.optional}
    return function.program(*(x for x in inputs if x in optional), rolled=rolled)


def new_function(model: Model, name: str, options: Options = PLAIN, explain: Explain | None = None) -> Function:
    """Make the function of an algorithm on a model; by default, vanishing pivots raise an error."""
    require_model(model)
    require_known_bodies(model, name)
    row = spec(name)

    def refuse(arrays: dict[str, FloatArray], results: Results, verdicts: Verdicts) -> Results:
        require_regular(model, verdicts, arrays["q"])
        require_independent(options, verdicts)
        return results

    def alike(names: Sequence[str]) -> Limbs:
        return limbs(model, mechanism(model), names)

    function = Function(
        name,
        inputs_of(model, name, options),
        outputs_of(model, name, options),
        lambda **x: row.run(mechanism(model), options, x),
        size=model.nv,
        digest=lambda: digest_of(mechanism(model), name, options),
        explain=explain or refuse,
        limbs=alike,
        tracing=lambda: naming_the_massless(model),
        owners=owners_of(model),
        of=model.name,
        layout=layout(model, NO_PARAMETERS),
        manifolds=manifolds_of(model),
        mends=explain is not None,
        longest=row.longest,
    )
    if model.constraints and "q" in row.inputs:
        function.look_closer = lambda arrays: require_constraints(model, np.asarray(arrays["q"]))
    return function


CONFIGURATIONS = ("q", "q0", "q1", "result", "q_near")
"""Names of inputs and outputs that are configurations."""


@lru_cache(maxsize=128)
def manifolds_of(model: Model) -> Mapping[str, Manifold]:
    """How arrays that are configurations of a model change along motions."""
    found = manifold_of(mechanism(model))
    return {} if found is None else dict.fromkeys(CONFIGURATIONS, found)


def layout(model: Model, parameters: Parameters) -> Callable[[Mapping[str, str]], Layout]:
    """What gives names and symbols of a model's arrays, for who exports a function; symbols may be wished for."""

    def made(symbols: Mapping[str, str]) -> Layout:
        from bough.kernel.export import layout_of

        return layout_of(model, parameters, symbols)

    return made


def inputs_of(model: Model, name: str, options: Options) -> list[Argument]:
    """What an algorithm takes on a model."""
    return [argument_of(model, key, options) for key in spec(name).inputs]


def outputs_of(model: Model, name: str, options: Options) -> list[Argument]:
    """What an algorithm gives on a model."""
    shapes = spec(name).shapes(model, options)
    return [Argument(key, shape, frozen=name == "factorize") for key, shape in shapes.items()]


def options(model: Model, frames: str | Sequence[str] | None, reference: str, classical: bool = False) -> Options:
    """Options from names of frames (None for all bodies) and of a reference frame."""
    require_model(model)
    reading.known_name(reference, "reference frame", REFERENCES)
    names = None if frames is None else reading.names_in_order(frames, "frames")
    found = None if names is None else tuple(model.frame(name) for name in names)
    return Options(found, reference, reading.truth(classical, "classical"), isinstance(frames, str))


def require_frames(model: Model, name: str, frames: Any) -> None:
    """Raise unless frames are named for an algorithm that is of one frame, or of some."""
    named = () if frames is None else reading.names_in_order(frames, "frames")
    if name in ONE_FRAME and len(named) != 1:
        _require_one_frame(name, frames)
    if name in SOME_FRAMES and not named:
        said = "None" if frames is None else "empty"
        raise ShapeError(f"frames is {said}, expected the name of a frame or several")


def _require_one_frame(name: str, frames: Any) -> None:
    """Raise unless a frame is named for an algorithm that is of one."""
    if isinstance(frames, str):
        return
    called = public_name(name)
    if frames is None:
        raise ShapeError(f"{called} is of one frame, and none is named; expected the name of a frame or body")
    raise ShapeError(
        f"{called} is of one frame, and frame is {reading.shown(frames)}; expected one name. Of several: "
        f"numpy.stack([bough.{called}(…, name) for name in names])"
    )


def require_model(model: object) -> None:
    """Raise unless it is a model (and not, say, the builder of one)."""
    if not isinstance(model, Model):
        raise ModelError(f"the model is {kind_of(model)}, expected a bough.Model")


def read(model: Model, key: str, value: ArrayLike, check: bool = True, options: Options = PLAIN) -> FloatArray:
    """One argument as an array of the right shape, finite, with unit quaternions."""
    require_model(model)
    argument = argument_of(model, key, options)
    a = as_floats(key, value, argument.shape, argument.meaning)
    if check:
        require_finite(key, a)
        require_unit_quaternions(argument, a, owners_of(model))
    return a


def require_known_bodies(model: Model, name: str) -> None:
    """Raise, naming a body, if a model has flexible bodies and the algorithm does not know them."""
    if name not in FLEXIBLE:
        require_all_rigid(model, public_name(name))


def algorithm_on(model: Model, name: str) -> str:
    """The algorithm that a name means on a model: `aba` with mimic joints is another; raise if it cannot have them."""
    if model.coupling.trivial:
        return name
    if name in UNCOUPLED:
        raise ModelError(f"{public_name(name)} works without mimic joints, and {model.name!r} has some; expected none")
    return "crba_ltdl" if name == "aba" else name


# ---- what is wrong ---------------------------------------------------------------------------------------------------


def require_regular(
    model: Model, verdicts: Verdicts, q: FloatArray, rows: Callable[[Any, FloatArray], FloatArray] | None = None
) -> None:
    """Raise, naming the joint, if a pivot vanishes in some state whose verdict suspects it.

    `rows` gives packed mass matrices, if not those of the model: from which states are suspect, and their q.

    Pivots of different joints cannot be compared, nor kilograms with kilogram square metres. Where one is very much
    smaller than another, each is compared with the diagonal of the mass matrix, of which it is a part.
    """
    suspect = (verdicts.astype(np.int64) & PIVOTS) != 0
    if not suspect.any():
        return
    states = np.broadcast_to(q, (*verdicts.shape, model.nq))[suspect]
    matrices = rows(suspect, states) if rows else entry(model, "crba_packed", algorithm)(states, None, False)
    bad, pivots = vanishing_pivots(matrices, model.dof_tree)
    if bad.any():
        row, k = (int(j) for j in np.argwhere(bad)[0])
        k = max(int(j) for j in np.flatnonzero(bad[row]))  # eliminated first: the cause, not a consequence
        place = np.argwhere(suspect)[row]
        limit = pivot_limits(matrices, model.dof_tree)[row, k]
        _refuse(model, k, pivots[row, k], limit, f" in state {place.tolist()}" if place.size else "")


def require_independent(options: Options, verdicts: Verdicts) -> None:
    """Raise if frames cannot be moved independently in some state whose verdict says so."""
    if ((verdicts.astype(np.int64) & DOUBT) != 0).any():
        frames = [frame.name for frame in options.frames or ()]
        raise SingularError(
            f"frames {frames} cannot be moved independently in all {6 * len(frames)} directions here, "
            "so J M⁻¹ Jᵀ has no inverse; ask for it with inverse=True"
        )


def _refuse(model: Model, k: int, pivot: float, limit: float, where: str = "", always: bool = False) -> NoReturn:
    """Say that a pivot is below its limit, which is what rounding makes of it; or negative by more than rounding."""
    moves = f"joint {model.dof_names[k]!r} moves nothing that has inertia{where}"
    mend = give_inertia(model, k)
    if pivot < -1000.0 * limit:
        moves = f"the inertia that joint {model.dof_names[k]!r} moves is not positive definite{where}"
        mend = "Look at the moments of inertia of the bodies beyond it: none can be negative"
    raise (AlwaysSingular if always else SingularError)(
        f"{moves}: its pivot is {pivot}; expected a positive one. {mend}"
    ) from None


@contextmanager
def naming_the_massless(model: Model) -> Iterator[None]:
    """If a pivot is zero in every state, a division of constants fails: name the joint that causes it."""
    try:
        yield
    except ZeroDivisionError:
        q = np.array([x for item in model.joints for x in item.joint.neutral()])
        rows = entry(model, "mass_matrix_by_rnea", algorithm)(q, None, True)
        whole = rows.diagonal().copy()
        for k in reversed(range(model.nv)):
            limit = 8 * np.finfo(float).eps * whole[k]
            if not rows[k, k] > limit:
                _refuse(model, k, rows[k, k], limit, always=True)
            rows[:k, :k] -= np.outer(rows[:k, k] / rows[k, k], rows[:k, k])
        raise AlwaysSingular(
            "the frames cannot be moved independently in all directions in any configuration, "
            "so J M⁻¹ Jᵀ has no inverse; ask for it with inverse=True"
        ) from None


def require_constraints(model: Model, q: FloatArray) -> None:
    """Raise, naming it, where a constraint is no number in a configuration, or its rows have no direction there."""
    still = np.zeros((*q.shape[:-1], model.nv), q.dtype)
    errors, L, bias = (
        entry(model, f"constraint_{name}", algorithm)(*given, None, False)
        for name, *given in (("errors", q), ("jacobian", q), ("bias", q, still))
    )
    lost = np.argwhere(~(np.isfinite(errors) & np.isfinite(L).all(axis=-1) & np.isfinite(bias)))
    if lost.size:
        *state, row = lost[0].tolist()
        where = f"in this configuration{f' of state {state}' if state else ''}"
        owner = [c for c in model.constraints for _ in range(c.rows)][row]
        if isinstance(owner, Tie) and is_from_outside(owner.constraint):
            raise FiniteError(
                f"constraint {owner.name!r}, {owner.constraint!r}, is not finite {where}; expected numbers"
            )
        raise FiniteError(
            f"constraint {model.constraint_names[row]!r} has no direction {where}; expected points, or centres of "
            "surfaces, that do not coincide"
        )


# ---- arguments -------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=128)
def owners_of(model: Model) -> dict[int, str]:
    """Where unit quaternions begin in q, and what an error says they belong to."""
    starts = np.cumsum([0, *(item.joint.nq for item in model.joints)])
    pairs = zip(starts[:-1], model.joints, strict=True)
    return {int(start) + k: f"joint {item.name!r}: " for start, item in pairs for k in item.joint.quaternions}


def digest_of(m: Mechanism, name: str, options: Options) -> str | None:
    """What determines the program of an algorithm, as text; None if joints from elsewhere take part in it."""
    return None if m.digest is None else "\0".join((m.digest, name, repr(options)))


def argument_of(model: Model, key: str, options: Options = PLAIN) -> Argument:
    """One argument by name: its shape, its meaning, and what is asked of it."""
    shape, meaning = _meaning(model, key, options)
    quaternions = tuple(owners_of(model)) if key in ("q", "q0", "q1") else ()
    return Argument(key, shape, meaning, quaternions=quaternions, finite=key != "gaps", optional=key in OPTIONAL)


def _meaning(model: Model, key: str, options: Options) -> tuple[Shape, str]:
    """Shape and meaning of one argument."""
    if key in ("q", "q0", "q1"):
        return (model.nq,), f"nq = {model.nq} configuration variables of {model.name!r}"
    if key in ("v", "a", "tau", "start_limits"):
        return (model.nv,), f"nv = {model.nv} degrees of freedom of {model.name!r}"
    if key in ("f_ext", "reactions"):
        return (model.nbodies, 6), f"a force (linear, angular) for each of the {model.nbodies} bodies"
    if key in ("velocities", "accelerations"):
        return (model.nbodies, 6), f"a motion (linear, angular) for each of the {model.nbodies} bodies"
    if key == "placements":
        return (model.nbodies, 4, 4), f"a placement for each of the {model.nbodies} bodies"
    if key == "multipliers":
        return (constraint_system(model).nc,), f"a multiplier for each row of the constraints of {model.name!r}"
    if key in ("forces", "start_loops"):
        return (len(model.constraint_names),), f"a force for each row of the constraints of {model.name!r}"
    if key in ("loop_tau", "start_loop_limits"):
        size = sum(loop.joint.nv for loop in model.loops)
        return (size,), f"the {size} degrees of freedom of the joints that close loops of {model.name!r}"
    if key in ("points", "normals", "point_velocities", "normal_velocities"):
        contacts = len(options.plan.pairs)
        return (contacts, 3), f"a vector for each of the {contacts} contacts, in the frame of the base"
    if key == "start_contacts":
        return (len(options.plan.pairs), 3), "a force for each contact"
    if key in ("gaps", "mu", "restitution"):
        return (len(options.plan.pairs),), "one for each contact"
    if key in ("settings", "stop"):
        return (2,), ""
    if key in ("t", "rate", "decay_rate"):
        return (), ""
    raise ShapeError(f"no argument is called {key!r}")
