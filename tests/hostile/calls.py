"""Calls with wrong arguments: an error of bough's own or a sound result, and nothing else changes.

Each public callable is called well, then with everything that may be wrong with each of its arguments, then well again:
the bits are those of before. Numbers in other clothes give the same bits; `out` is left alone by a call that is
refused; no warning comes out, and no NaN.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

import bough
from hostile.arguments import BAD, ODD, SAME, Call, good_calls, wrong_arrays
from hostile.tally import Tally

__all__ = ["attack", "bits", "calls"]

FOR_TRUTH = ("check", "overwrite")


def bits(result: Any) -> Any:
    """What tells one result from another to the last bit, for what is made of arrays and plain values."""
    if isinstance(result, np.ndarray):
        return result.dtype.str, result.shape, result.tobytes()
    if isinstance(result, tuple | list):
        return tuple(bits(x) for x in result)
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        return type(result).__name__, tuple(bits(getattr(result, f.name)) for f in dataclasses.fields(result))
    if isinstance(result, dict):
        return tuple((k, bits(x)) for k, x in result.items())
    return result if isinstance(result, str | int | float | bool | bytes | None) else type(result).__name__


def has_nan(result: Any) -> bool:
    """Whether an array anywhere in a result holds NaN."""
    if isinstance(result, np.ndarray):
        return result.dtype.kind in "fc" and bool(np.isnan(result).any())
    if isinstance(result, tuple | list):
        return any(has_nan(x) for x in result)
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        return any(has_nan(getattr(result, f.name)) for f in dataclasses.fields(result))
    return False


@lru_cache(maxsize=1)
def calls(wanted: tuple[str, ...] = ()) -> tuple[list[Call], list[str]]:
    """Good calls of public callables, of all or those that are wanted, and the names where none was found."""
    found = list(good_calls(wanted))
    return [x for x in found if isinstance(x, Call)], [x for x in found if isinstance(x, str)]


def attack(
    call: Call, rng: np.random.Generator, tally: Tally, share: float = 1.0, of_common: float | None = None
) -> None:
    """Everything that may be wrong with each argument of a call, or a share of it that is drawn.

    Of what is wrong most often another share may be tried.
    """
    expected, pattern = _bits_of(call), _out(call)
    for argument, kind, value, is_same in _variants(call, rng):
        tried = of_common if of_common is not None and kind in BAD else share
        if rng.random() >= tried or (argument in FOR_TRUTH and kind != "None"):
            continue
        what = f"{call.name}({argument}={kind})"
        out = None if pattern is None else pattern.copy()
        changed = {argument: value} | ({"out": out} if out is not None and argument != "out" else {})
        before = None if out is None else out.tobytes()
        with tally.trying(what):
            error, result, told = _outcome(call, changed)
            if error is not None and not isinstance(error, bough.BoughError):
                tally.wrong(what, f"{type(error).__name__}: {error}")
            elif error is not None and is_same:
                tally.wrong(what, f"the same numbers are refused: {error}")
            elif error is not None and out is not None and out.tobytes() != before and not _computed(error):
                tally.wrong(what, f"refused ({type(error).__name__}), but out was written")
            elif error is None and has_nan(result) and not _is_class(call):
                tally.wrong(what, "the result is NaN")
            elif is_same and expected is not None and bits(result) != expected and not _is_class(call):
                tally.wrong(what, "the bits depend on how the numbers lie")
            for warning in told:
                if not issubclass(warning.category, bough.errors.LoadWarning):
                    tally.wrong(what, f"{warning.category.__name__}: {warning.message}")
        if expected is not None and tally.tried % 5 == 0:
            _again(call, expected, what, tally)
    if expected is not None:
        _outs(call, expected, tally)
        _again(call, expected, f"{call.name} after all that", tally)


OUTS: dict[str, Callable[[np.ndarray], Any]] = {
    "plain": lambda a: np.empty_like(a),
    "column by column": lambda a: np.empty_like(a, order="F"),
    "with gaps": lambda a: np.empty((*a.shape, 2), a.dtype)[..., 0],
    "backwards": lambda a: np.empty_like(a)[..., ::-1] if a.ndim else np.empty_like(a),
    "unaligned": lambda a: np.zeros(a.nbytes + 1, np.uint8)[1:].view(a.dtype).reshape(a.shape),
    "a part of more": lambda a: np.empty((3, *a.shape), a.dtype)[1:2].reshape(a.shape),
}
NO_OUTS: dict[str, Callable[[np.ndarray], Any]] = {
    "read-only": lambda a: np.broadcast_to(np.zeros_like(a), a.shape),
    "of another shape": lambda a: np.zeros((2, *a.shape), a.dtype),
    "of another type": lambda a: np.zeros(a.shape, np.int64),
    "a list": lambda a: a.tolist(),
    "complex": lambda a: np.zeros(a.shape, np.complex128),
}


def _outs(call: Call, expected: Any, tally: Tally) -> None:
    """Results go to any array of the right shape and type, also to one of the arguments, and to no other."""
    if (pattern := _out(call)) is None:
        return
    aliases = {
        f"the argument {name} itself": name
        for name, value in call.arguments.items()
        if isinstance(value, np.ndarray) and value.shape == pattern.shape and value.dtype == pattern.dtype
    }
    for kind in (*OUTS, *aliases):
        what = f"{call.name}(out={kind})"
        with tally.trying(what):
            out = call.arguments[aliases[kind]].copy() if kind in aliases else OUTS[kind](pattern)
            error, result, told = _outcome(call, {"out": out} | ({aliases[kind]: out} if kind in aliases else {}))
            if error is not None or told:
                tally.wrong(what, f"{error!r} {[str(x.message) for x in told]}")
            elif result is not out or bits(out) != expected:
                tally.wrong(what, "the result there is another one")
    for kind, make in NO_OUTS.items():
        what = f"{call.name}(out={kind})"
        with tally.trying(what):
            error, _, _ = _outcome(call, {"out": make(pattern)})
            if not isinstance(error, bough.BoughError):
                tally.wrong(what, f"expected to be refused: {error!r}")


def _again(call: Call, expected: Any, what: str, tally: Tally) -> None:
    try:
        same = bits(call()) == expected
    except Exception as error:
        tally.wrong(what, f"a good call fails afterwards: {error!r}")
    else:
        if not same:
            tally.wrong(what, "a good call has other bits afterwards")


def _variants(call: Call, rng: np.random.Generator) -> Iterator[tuple[str, str, Any, bool]]:
    """Argument, kind of change, what is given, and whether that means the same numbers."""
    for argument in dict.fromkeys((*call.arguments, *call.parameters)):
        for kind, bad in (*BAD.items(), *ODD.items()):
            yield argument, kind, (bad,) if argument == call.spread else bad, False
        good = call.arguments.get(argument)
        if not isinstance(good, np.ndarray) or good.dtype.kind != "f":
            continue
        for kind, bad in wrong_arrays(good, rng):
            yield argument, kind, bad, False
        for kind, dress in SAME.items():
            yield argument, kind, dress(good), True


def _outcome(call: Call, changed: dict[str, Any]) -> tuple[BaseException | None, Any, list[Any]]:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            return None, call(**changed), told
        except Exception as error:
            return error, None, told


def _bits_of(call: Call) -> Any:
    """The bits of the good result; None where two calls differ, as those that draw numbers or make objects do."""
    first, second = bits(call()), bits(call())
    return first if first == second else None


def _out(call: Call) -> np.ndarray | None:
    """An array for the results of a call, with a pattern."""
    if "out" not in call.parameters:
        return None
    result = call()
    if not isinstance(result, np.ndarray) or result.dtype.kind != "f":
        return None
    return np.full_like(result, 7.25)


def _computed(error: BaseException) -> bool:
    """Whether arguments were good and the computation failed: then out holds no result."""
    return isinstance(error, bough.errors.SingularError | bough.errors.AssemblyError) or "result is not finite" in str(
        error
    )


def _is_class(call: Call) -> bool:
    """Whether what is made may merely hold what it was given."""
    return call.last[0].isupper() or call.name.removesuffix(" with options") == "bough.contact.Contacts.at"
