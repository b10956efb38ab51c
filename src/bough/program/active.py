"""What of a program a derivative is about: values and buffers that depend on some inputs and matter to some outputs."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from bough.program.ir import Apply, Block, Load, Loop, Program, Store, Switch, boundary, walk

__all__ = ["Active", "active", "free_values"]


@dataclass(frozen=True)
class Active:
    """Numbers of values, and names of buffers."""

    values: frozenset[int]
    buffers: frozenset[str]


Link = tuple[tuple[str, int | str], tuple[str, int | str]]


def active(program: Program, inputs: Collection[str], outputs: Collection[str]) -> Active:
    """What depends on the inputs and matters to the outputs; a buffer is looked at as a whole."""
    forward: dict[tuple[str, int | str], list[tuple[str, int | str]]] = {}
    backward: dict[tuple[str, int | str], list[tuple[str, int | str]]] = {}
    for a, b in _links(program):
        forward.setdefault(a, []).append(b)
        backward.setdefault(b, []).append(a)
    both = _reached(forward, [("buffer", name) for name in inputs])
    both &= _reached(backward, [("buffer", name) for name in outputs])
    return Active(
        frozenset(x for kind, x in both if kind == "value" and isinstance(x, int)),
        frozenset(x for kind, x in both if kind == "buffer" and isinstance(x, str)),
    )


def _links(program: Program) -> Iterator[Link]:
    """From each number that is read to what is computed from it; truth values and indices have no derivatives."""
    for x in walk(program.body):
        pairs: list[tuple[int, int]] = []
        if isinstance(x, Apply):
            pairs = [(a, x.result) for a in x.arguments]
        elif isinstance(x, Load):
            yield ("buffer", x.buffer), ("value", x.result)
        elif isinstance(x, Store):
            yield ("value", x.value), ("buffer", x.buffer)
        elif isinstance(x, Loop):
            for initial, carried, following, result in zip(x.initial, x.carried, x.following, x.results, strict=True):
                pairs += [(initial, carried), (following, carried), (initial, result), (following, result)]
        elif isinstance(x, Switch):
            pairs = [pair for values in x.yields for pair in zip(values, x.results, strict=True)]
        for a, b in pairs:
            if program.kinds[a] == program.kinds[b] == "float":
                yield ("value", a), ("value", b)


def _reached(
    links: dict[tuple[str, int | str], list[tuple[str, int | str]]], start: list[tuple[str, int | str]]
) -> set[tuple[str, int | str]]:
    seen, waiting = set(start), list(start)
    while waiting:
        for x in links.get(waiting.pop(), ()):
            if x not in seen:
                seen.add(x)
                waiting.append(x)
    return seen


def free_values(blocks: Collection[Block], handed: Collection[int] = ()) -> set[int]:
    """The values that blocks use or hand on and do not define."""
    used, made = set(handed), set[int]()
    for block in blocks:
        for x in walk(block):
            used.update(boundary(x))
            if isinstance(x, Loop):
                made.update((x.counter, *x.carried))
            if not isinstance(x, Store):
                made.update(x.results if isinstance(x, Loop | Switch) else (x.result,))
    return used - made
