"""Reading what describes a system: dimensions of bodies, constraints, and what is known of blocks beforehand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.errors import ModelError
from bough.reading import listed, shown

__all__ = [
    "Known", "KnownBlocks", "KnownPairs", "Numbers", "read_bodies", "read_constraints", "read_jacobian", "read_mass",
]  # fmt: skip

Numbers: TypeAlias = Sequence[int] | NDArray[np.integer[Any]]

KnownBlocks: TypeAlias = ArrayLike | Sequence[ArrayLike]
KnownPairs: TypeAlias = Sequence[ArrayLike] | Sequence[Sequence[ArrayLike]]

Known: TypeAlias = tuple[float | None, ...]
"""Entries of a block, row by row: a number if it is the same in every state, None if it comes with each state."""


def read_bodies(bodies: Numbers) -> tuple[int, ...]:
    """The dimensions of bodies."""
    found = _whole(bodies)
    if found is None or any(d < 1 for d in found):
        raise ModelError(f"the dimensions of bodies are {_shown(bodies)}, expected whole numbers from 1")
    return tuple(found)


def read_constraints(constraints: Iterable[Numbers], n: int) -> tuple[tuple[int, int, int], ...]:
    """Constraints as two of n bodies and a dimension."""
    result = []
    for k, given in enumerate(listed(constraints, "constraints", "two bodies and a dimension for each")):
        plain = type(given) is tuple and [type(x) for x in given] == [int, int, int]
        found = given if plain else _whole(given)
        if found is None or len(found) != 3:
            raise ModelError(f"constraint {k} is {_shown(given)}, expected three whole numbers: two bodies, dimension")
        a, b, p = found
        if not (0 <= a <= n and 0 <= b <= n) or a == b:
            raise ModelError(f"constraint {k} is between bodies {a} and {b}, expected two different ones of 0 … {n}")
        if p < 0:
            raise ModelError(f"constraint {k} between bodies {a} and {b} has dimension {p}, expected at least 0")
        result.append((a, b, p))
    return tuple(result)


def _whole(values: object) -> list[int] | None:
    """A sequence of integers as a list; None if it is something else."""
    try:
        a = np.asarray(values) if isinstance(values, np.ndarray | Sequence) and not isinstance(values, str) else None
    except ValueError:  # a ragged list
        return None
    if a is None or a.ndim != 1 or (a.size and a.dtype.kind not in "iu"):
        return None
    return [int(x) for x in a]


def _shown(value: object) -> str:
    """A value in an error, on one line, cut where it is long."""
    return " ".join(shown(value).split())


# ---- what is known of blocks -----------------------------------------------------------------------------------------


def read_mass(given: KnownBlocks | None, bodies: Sequence[int]) -> tuple[Known, ...]:
    """What is known of the block of each body: one array for all of them, or one for each."""
    blocks: Any = None if given is None else [given] * len(bodies)
    if given is not None and _ndim(given) != 2:
        blocks = _one_for_each(given, len(bodies), "known blocks of M", "bodies")
    shapes = [(d, d) for d in bodies]
    return _read_blocks(blocks, shapes, lambda k: f"the known block of M of body {k + 1}", symmetric=True)


def read_jacobian(
    given: KnownPairs | None, bodies: Sequence[int], constraints: Sequence[tuple[int, int, int]]
) -> tuple[tuple[Known, Known], ...]:
    """What is known of the two blocks of each constraint: one pair of arrays for all of them, or one for each."""
    sizes, count = (0, *bodies), len(constraints)
    shapes = [(p, sizes[body]) for *ends, p in constraints for body in ends]
    blocks: Any = None
    if given is not None:
        is_pair = isinstance(given, np.ndarray | Sequence) and _ndim(given) and len(given) == 2
        one = is_pair and all(_ndim(block) == 2 for block in given)
        pairs = [given] * count if one else _one_for_each(given, count, "pairs of known blocks of J", "constraints")
        named = ((f"known blocks of constraint {k}", pair) for k, pair in enumerate(pairs))
        blocks = [block for what, pair in named for block in _one_for_each(pair, 2, what, "bodies")]

    def told(k: int) -> str:
        return f"the known block of J of constraint {k // 2} for body {constraints[k // 2][k % 2]}"

    found = _read_blocks(blocks, shapes, told)
    return tuple(zip(found[::2], found[1::2], strict=True))


def _read_blocks(
    blocks: Sequence[Any] | None, shapes: Sequence[tuple[int, int]], what: Callable[[int], str], symmetric: bool = False
) -> tuple[Known, ...]:
    """What is known of blocks of such shapes, each read once; without any, nothing is."""
    if blocks is None:
        unknown: dict[tuple[int, int], Known] = {(r, c): (None,) * (r * c) for r, c in set(shapes)}
        return tuple(map(unknown.__getitem__, shapes))
    found: dict[tuple[int, tuple[int, int]], Known] = {}
    for k, (block, shape) in enumerate(zip(blocks, shapes, strict=True)):
        if (id(block), shape) not in found:
            found[id(block), shape] = _read_block(block, shape, what(k), symmetric)
    return tuple(found[id(block), shape] for block, shape in zip(blocks, shapes, strict=True))


def _read_block(given: Any, shape: tuple[int, int], what: str, symmetric: bool) -> Known:
    if not shape[1]:  # that of the world has no entry
        return ()
    expected = "NaN for what is not known"
    try:
        a = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise ModelError(f"{what} is {_shown(given)}, expected numbers, or {expected}") from None
    if a.shape != shape:
        raise ModelError(f"{what} has shape {a.shape}, expected {shape}")
    if np.isinf(a).any():
        raise ModelError(f"{what} is {_shown(given)}, expected finite numbers, or {expected}")
    if symmetric and not np.array_equal(a, a.T, equal_nan=True):
        raise ModelError(f"{what} is not symmetric, expected equal numbers, or NaN, on both sides")
    return tuple(None if np.isnan(x) else x + 0.0 for x in a.ravel().tolist())  # a zero has no sign


def _ndim(given: object) -> int:
    """Number of axes of an array or nested sequence; -1 if it has none."""
    try:
        return np.asarray(given).ndim
    except ValueError:  # blocks of different shapes
        return -1


def _one_for_each(given: Any, count: int, what: str, of: str) -> list[Any]:
    found = list(given) if isinstance(given, Sequence) or _ndim(given) > 0 else []
    if len(found) != count:
        raise ModelError(f"there are {len(found)} {what}, expected {count}, one for each of the {of}")
    return found
