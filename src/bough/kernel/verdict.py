"""The verdict on a state, computed by its program: what is wrong with its arguments or its results, zero if nothing is.

A rule returns its outputs and, under the names of `JUDGED`, numbers that are not returned but judged. What is not
finite in an argument mostly shows in the outputs; what does not is looked at by itself. The verdict only says what kind
of thing is wrong. Where, and whether it really is, is found by whoever explains it, who has the time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from bough.backends import Argument
from bough.program import VERDICT
from bough.scalar import Array, Bool, Scalar, Symbolic, array, both, loop, maximum, minimum, negation, select
from bough.scalar.tolerances import NEGATIVE_MOMENT

__all__ = [
    "DOUBT", "FINITE", "JUDGED", "PIVOTS", "SQUARED", "SUMS", "SUSPECT", "TOTALS", "UNIT", "all_in_doubt",
    "is_finite", "judge", "judge_inputs",
]  # fmt: skip

Shown: TypeAlias = Callable[[Mapping[str, Any]], Collection[tuple[str, int]]]

FINITE, UNIT, PIVOTS, DOUBT = 1, 2, 4, 8
"""What a verdict is the sum of: something is not finite; a quaternion or normal has not unit length, or a parameter is
negative that cannot be; a pivot vanishes, perhaps; the result is in doubt for a reason of the algorithm's own."""

SUSPECT = 1e-9
"""A pivot this much smaller than the largest one of its state is looked at more closely."""

SQUARED = 2e-6
"""By how much the square of the length of a quaternion may differ from one."""

TOTALS = "totals of "
"""What the name of a result follows where a rule has sums of it already: numbers that are finite if and, but for
overflow, only if that is."""

SUMS = 8
"""Sums of numbers that are made side by side: one would wait for itself."""


def judge(
    arguments: Sequence[Argument], results: Sequence[Argument], look_at_results: bool = True
) -> Callable[..., Mapping[str, Any]]:
    """What adds a verdict to the outputs of a rule that takes these arguments and gives these results.

    Unless it looks at results, somebody else does who is told which have to be finite.
    """

    def judged(inputs: Mapping[str, Any], outputs: Mapping[str, Any], shown_in: Shown) -> Mapping[str, Any]:
        kept = {a.name: outputs[a.name] for a in results}
        finite = {a.name: kept[a.name] for a in results if a.finite and look_at_results}
        shown = shown_in(finite)
        terms = [_terms(outputs.get(f"{TOTALS}{name}", values), None) for name, values in finite.items()]
        terms += [_terms(inputs[a.name], _hidden(a, shown)) for a in arguments if a.finite]
        verdict = select(_is_finite(_total(terms)), 0.0, float(FINITE)) + _domains(arguments, inputs)
        for name, (bit, is_sound) in JUDGED.items():
            if name in outputs:
                verdict = verdict + select(is_sound(outputs[name]), 0.0, float(bit))
        return {**kept, VERDICT: [verdict]}

    return judged


def all_in_doubt(results: Sequence[Argument]) -> Callable[..., dict[str, Any]]:
    """A rule that gives zeros and leaves every state to who explains it."""
    return lambda **_: {**{a.name: array(a.size) for a in results}, "doubt": True}


def judge_inputs(arguments: Sequence[Argument]) -> Callable[..., Mapping[str, Any]]:
    """A rule that gives only the verdict on its arguments."""

    def rule(**inputs: Array) -> Mapping[str, Any]:
        terms = [_terms(inputs[a.name], range(a.size)) for a in arguments if a.finite]
        return {VERDICT: [select(_is_finite(_total(terms)), 0.0, float(FINITE)) + _domains(arguments, inputs)]}

    return rule


# ---- finite ----------------------------------------------------------------------------------------------------------

Terms: TypeAlias = "tuple[Array, int] | Iterable[Scalar]"
"""Numbers to be looked at: the whole of an array, or some scalars."""


def _hidden(argument: Argument, shown: Collection[tuple[str, int]]) -> Sequence[int] | None:
    """The entries of an argument that do not show in the outputs; None for all of them."""
    return [k for k in range(argument.size) if (argument.name, k) not in shown] if shown else None


def _terms(values: Any, places: Sequence[int] | None) -> Terms:
    if isinstance(values, list):
        entries = values if places is None else [values[k] for k in places]
        return [x for x in entries if isinstance(x, Symbolic)]
    return (values, len(values))


def _total(terms: Iterable[Terms]) -> Scalar:
    """A sum that is finite if and, but for overflow, only if all terms are."""
    sums: list[Scalar] = [0.0] * SUMS
    known: dict[Any, Scalar] = {}  # a matrix is symmetric: each number once
    k = 0
    for part in terms:
        if isinstance(part, tuple):
            sums[k % SUMS] = sums[k % SUMS] + _sum_of_array(*part)
            k += 1
        else:
            known |= {getattr(x, "value", x): x for x in part}
    for _, x in sorted(known.items()):  # in the order in which they become known, so that none waits for another
        sums[k % SUMS] = sums[k % SUMS] + x
        k += 1
    while len(sums) > 1:
        sums = [a + b for a, b in zip(sums[::2], sums[1::2], strict=True)]
    return sums[0]


def _sum_of_array(values: Array, size: int) -> Scalar:
    """The same for a whole array, four sums side by side."""
    whole = size - size % 4
    zero: tuple[Scalar, ...] = (0.0,) * 4

    def add(k: Any, sums: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
        return tuple(total + values[k * 4 + j] for j, total in enumerate(sums))

    a, b, c, d = loop(whole // 4, add, zero)
    total: Scalar = (a + b) + (c + d)
    for k in range(whole, size):
        total = total + values[k]
    return total


def is_finite(values: Any, size: int) -> Bool:
    """Whether all numbers of an array are finite."""
    return _is_finite(_total([_terms(values, None)])) if size else True


def _is_finite(total: Scalar) -> Bool:
    return both(total < math.inf, total > -math.inf)


# ---- domains, pivots, doubt --------------------------------------------------------------------------------------


def _domains(arguments: Sequence[Argument], inputs: Mapping[str, Any]) -> Scalar:
    sound: Bool = True
    for argument in arguments:
        q = inputs[argument.name]
        for start in argument.quaternions:
            square: Scalar = 0.0
            for k in range(4):
                square = square + q[start + k] * q[start + k]
            sound = both(sound, both(square > 1.0 - SQUARED, square < 1.0 + SQUARED))
        for k in argument.not_negative:
            sound = both(sound, q[k] >= 0.0)
        for places in argument.inertias:
            sound = both(sound, _has_no_negative_moment(*(q[k] for k in places)))
    return select(sound, 0.0, float(UNIT))


def _has_no_negative_moment(xx: Scalar, yx: Scalar, yy: Scalar, zx: Scalar, zy: Scalar, zz: Scalar) -> Bool:
    """Whether an inertia is positive definite once its moments are larger by what rounding may take: by its minors."""
    more = (xx + yy + zz) * NEGATIVE_MOMENT
    xx, yy, zz = xx + more, yy + more, zz + more
    minor = xx * yy - yx * yx
    whole = zz * minor - zy * (xx * zy - yx * zx) + zx * (yx * zy - yy * zx)
    return both(xx >= 0.0, both(minor >= 0.0, whole >= 0.0))


def _extremes(values: Any) -> tuple[Scalar, Scalar]:
    """The smallest and the largest of some numbers; NaN among them may get lost, and shows in the results."""
    first = (values[0], values[0])

    def widen(k: Any, least_most: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
        x = values[k + 1]
        return (minimum(least_most[0], x), maximum(least_most[1], x))

    return loop(len(values) - 1, widen, first)


def _are_regular(pivots: Any) -> Bool:
    if not len(pivots):
        return True
    least, most = _extremes(pivots)
    return least > most * SUSPECT


def _are_positive(margins: Any) -> Bool:
    sound: Bool = True
    return loop(len(margins), lambda k, so_far: both(so_far, margins[k] > 0.0), sound)


JUDGED: Mapping[str, tuple[int, Callable[[Any], Bool]]] = {
    "pivots": (PIVOTS, _are_regular),
    "margins": (PIVOTS, _are_positive),
    "unit": (UNIT, lambda sound: sound),
    "doubt": (DOUBT, negation),
}
"""Names of what rules return to be judged: pivots, all of one sign and size; margins, all positive; whether directions
are of unit length; whether the result is in doubt."""
