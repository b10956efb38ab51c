"""Bodies and constraints tried out on symbolic scalars before they become part of a linkage."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from bough.errors import BoughError, ModelError
from bough.model.ties.body import WORLD, Body, Scalars
from bough.model.ties.constraint import Constraint, Side, Sides
from bough.reading import counted, shown
from bough.scalar import Counted, Scalar, Tally
from bough.scalar.tolerances import RESIDUAL, ROUNDING
from bough.spatial import Vector

__all__ = ["is_from_outside", "require_body", "require_constraint", "require_no_time", "unknown_side"]

TRIALS = 3
"""States in which rates are tried."""


def require_body(body: object, what: str) -> None:
    """Raise unless something is a body that keeps the contract."""
    if not isinstance(body, Body) or body is WORLD:
        raise ModelError(f"{what} is {body!r}, expected a body such as bough.maximal.bodies.Rigid(mass=1.0)")
    _require_hash(body, what)
    if min(body.nx, body.nv) < 1:
        raise ModelError(f"{what}: {body!r} has nx = {body.nx} and nv = {body.nv}, expected at least one of each")
    side = unknown_side(body)
    own, x, v = side.parameters, side.x, side.v
    gravity = Vector(0.0, 0.0, 1.0)
    _require(len(body.neutral()), body.nx, what, body, "neutral", "numbers")
    for method, size, call in (
        ("force", body.nv, lambda: body.force(own, x, v, gravity)),
        ("rate", body.nx, lambda: body.rate(own, x, v)),
        ("integrate", body.nx, lambda: body.integrate(own, x, v)),
        ("mass", body.nv, lambda: body.mass(own, x)),
    ):
        _require(len(_call(call, what, body, method)), size, what, body, method, "scalars or rows")
    for row in body.mass(own, x):
        _require(len(row), body.nv, what, body, "mass", "scalars in a row")
    if type(body).rate is not Body.rate and is_from_outside(body):
        _require_linear(lambda sides: sides[0].rate, [body], what, body, "rate")


def require_constraint(constraint: object, bodies: Sequence[Body], what: str) -> None:
    """Raise unless something is a constraint that keeps the contract on these bodies."""
    if not isinstance(constraint, Constraint):
        raise ModelError(
            f"{what} is {constraint!r}, expected a constraint such as bough.maximal.constraints.Distance(1.0)"
        )
    _require_hash(constraint, what)
    if not constraint.fewest <= len(bodies) <= constraint.most:
        wanted = " to ".join(map(str, sorted({constraint.fewest, constraint.most})))
        raise ModelError(f"{what} is on {len(bodies)} bodies, expected {wanted}, of which 'world' may be one")
    wrong = constraint.accepts([*bodies, WORLD])
    if wrong is not None:
        raise ModelError(f"{what} is {wrong}")
    sides = tuple(unknown_side(body) for body in (*bodies, WORLD))
    tally = Tally()
    own: tuple[Scalar, ...] = tuple(Counted(tally) for _ in constraint.parameters)
    errors = _call(lambda: constraint.errors(own, sides), what, constraint, "errors")
    if len(errors) > constraint.rows:
        raise ModelError(
            f"{what}: errors of {constraint!r} gives {len(errors)} scalars, expected at most {constraint.rows}"
        )
    if type(constraint).rates is Constraint.rates and len(errors) < constraint.rows:
        found = f"errors of {constraint!r} gives {counted(len(errors), 'scalar')} and rates is not defined"
        if not errors:
            found = f"{constraint!r} defines neither errors nor rates"
        wanted = (
            f"{counted(constraint.rows, 'error')}, one for each row, or rates: one for each row, those of errors first"
        )
        raise ModelError(f"{what}: {found}, expected {wanted}")
    rates = _call(lambda: constraint.rates(own, sides), what, constraint, "rates")
    _require(len(rates), constraint.rows, what, constraint, "rates", "scalars")
    bias = _call(lambda: constraint.bias(own, sides), what, constraint, "bias")
    _require(len(bias), constraint.rows, what, constraint, "bias", "scalars")
    if type(constraint).rates is not Constraint.rates and is_from_outside(constraint):
        given = constraint.parameters
        _require_linear(lambda sides: constraint.rates(given, sides), [*bodies, WORLD], what, constraint, "rates")


def is_from_outside(kind: object) -> bool:
    """Whether a kind of body or constraint is one of the user's own."""
    return not type(kind).__module__.startswith("bough.")


def _require_linear(
    rates: Callable[[Sides], Scalars], bodies: Sequence[Body], what: str, kind: object, method: str
) -> None:
    """Raise unless rates are linear in the velocities of all bodies, the world's with them, in a few random states.

    States in which they cannot be computed are passed over.
    """
    rng = np.random.default_rng(0)
    for _ in range(TRIALS):
        try:
            start = [rng.normal(size=body.nv).tolist() for body in bodies]
            places = [_reached_from_neutral(body, step) for body, step in zip(bodies, start, strict=True)]
            u, w = ([rng.normal(size=body.nv) for body in bodies] for _ in range(2))
            none = [np.zeros(body.nv) for body in bodies]
            sums = [a + b for a, b in zip(u, w, strict=True)]
            speeds = (none, u, w, sums, [-a for a in sums])
            zero, one, two, both, back = (np.array(rates(_sides(bodies, places, v)), float) for v in speeds)
        except (ArithmeticError, ValueError):
            continue
        size = ROUNDING + RESIDUAL * (np.abs(zero) + np.abs(one) + np.abs(two) + np.abs(both))
        if (np.abs(zero) > RESIDUAL).any():
            raise ModelError(
                f"{what}: {method} of {kind!r} gives {zero.tolist()} for zero velocities, expected zeros: it must be "
                "linear in the velocities (multiply a prescribed speed by sides[-1].v[0], the rate of time)"
            )
        if (np.abs(both - one - two) > size).any() or (np.abs(both + back) > size).any():
            raise ModelError(
                f"{what}: {method} of {kind!r} is not linear in the velocities: it gives {one.tolist()} for some, "
                f"{two.tolist()} for others, {both.tolist()} for their sum and {back.tolist()} for that backwards"
            )


def require_no_time(constraint: Constraint, bodies: Sequence[Body], what: str) -> None:
    """Raise if a constraint looks at the time, in a few random states, or gives NaN in all of them."""
    rng, kinds, own, undefined = np.random.default_rng(0), [*bodies, WORLD], constraint.parameters, 0
    for _ in range(TRIALS):
        steps, speeds = ([rng.normal(size=body.nv) for body in kinds] for _ in range(2))
        places = [_reached_from_neutral(body, step.tolist()) for body, step in zip(kinds, steps, strict=True)]
        found = []
        for time in (0.0, 0.7):
            sides = _sides(kinds, [*places[:-1], (time,)], speeds)
            try:
                values = (*constraint.errors(own, sides), *constraint.rates(own, sides))
            except (ArithmeticError, ValueError):
                break
            found.append(np.array(values, float))
        if np.isnan(found).any():
            undefined += 1
        elif len(found) == 2 and (found[0] != found[1]).any():
            raise ModelError(
                f"{what} is {constraint!r}, which depends on the time; expected one that does not: a model has no "
                "time, but a bough.maximal.Linkage has"
            )
    if undefined == TRIALS:
        raise ModelError(f"{what}: errors or rates of {constraint!r} give NaN at all positions, expected numbers")


def _reached_from_neutral(body: Body, v: Sequence[float]) -> tuple[Scalar, ...]:
    """The position that a body reaches from neutral with a velocity."""
    return tuple(body.integrate(body.parameters, body.neutral(), v))


def _sides(bodies: Sequence[Body], places: Sequence[tuple[Scalar, ...]], speeds: Sequence[Any]) -> Sides:
    parts = zip(bodies, places, speeds, strict=True)
    return tuple(Side(body, body.parameters, x, tuple(v.tolist())) for body, x, v in parts)


def unknown_side(body: Body) -> Side:
    """A body whose numbers are not known."""
    tally = Tally()
    own, x, v = ([Counted(tally) for _ in range(n)] for n in (len(body.parameters), body.nx, body.nv))
    return Side(body, tuple(own), tuple(x), tuple(v))


def _require_hash(kind: object, what: str) -> None:
    try:
        hash(kind)
    except TypeError:
        raise ModelError(f"{what} is {kind!r}, expected one that can be hashed: a frozen dataclass") from None


def _call(call: Callable[[], Any], what: str, kind: object, method: str) -> Any:
    try:
        found = call()
    except ModelError as error:
        raise ModelError(f"{what}: {error}") from error
    except (BoughError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        hint = "use operators and the functions of bough.scalar, not math or numpy"
        if isinstance(error, AttributeError) and isinstance(error.obj, Side):
            hint = f"it has {', '.join(name for name in dir(error.obj) if not name.startswith('_'))}"
        raise ModelError(f"{what}: {method} of {kind!r} fails with {type(error).__name__}: {error} ({hint})") from error
    if isinstance(found, str) or not isinstance(found, Collection):
        raise ModelError(f"{what}: {method} of {kind!r} gives {shown(found)}, expected a list")
    return found


def _require(found: int, expected: int, what: str, kind: object, method: str, things: str) -> None:
    if found != expected:
        raise ModelError(f"{what}: {method} of {kind!r} gives {found} {things}, expected {expected}")
