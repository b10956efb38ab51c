"""Derivatives of functions that say themselves how they are differentiated, in the form of all others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.kernel.differential import Columns, Linear
from bough.kernel.manifold import Manifold
from bough.scalar import Array, Index, Part, Table, array, blank, each, fill, gather, indexable, keeping_loops

if TYPE_CHECKING:
    from bough.kernel.derived import Derivation

__all__ = ["own_jacobian", "own_jvp", "own_vjp", "put_column"]


def _linear(d: Derivation, x: Mapping[str, Array]) -> tuple[Linear, dict[str, Array]]:
    assert d.f.differential is not None
    given = {name: x[name] for name in d.inputs if name in x}
    return d.f.differential(given), given


def _rate(d: Derivation, inputs: Mapping[str, Array], name: str, motion: Callable[[int], Any]) -> Array:
    """The rates of an input along a motion with such entries."""
    size = d.space(d.inputs[name]).motions
    return d.rates(inputs, name, [indexable(size, [motion(i) for i in range(size)])])[0]


def _motions(d: Derivation, linear: Linear, found: Mapping[str, Array]) -> dict[str, Array]:
    """Rates of outputs as motions."""
    ends = {y: indexable(d.outputs[y].size, values) for y, values in linear.outputs.items()}
    return {y: d.space(d.outputs[y]).motion(end, found[y]) for y, end in ends.items()}


def own_jvp(d: Derivation, x: Mapping[str, Array]) -> dict[str, Any]:
    """How outputs change along directions; those that the function says nothing of do not."""
    linear, inputs = _linear(d, x)
    count = 1 if d.directions is None else d.directions
    sizes = {name: d.space(d.inputs[name]).motions for name in d.wrt}
    rows = {y: d.space(a).motions for y, a in d.outputs.items()}
    with keeping_loops():
        taken = {name: indexable(count * size, x[d.taken[name]]) for name, size in sizes.items()}
        made = {y: array(count * size) for y, size in rows.items()}

    def rates(k: Index) -> dict[str, Array]:
        return {name: _rate(d, inputs, name, lambda i: taken[name][k * size + i]) for name, size in sizes.items()}  # noqa: B023

    def put(k: Index, found: Mapping[str, Array]) -> None:
        for y, values in _motions(d, linear, found).items():
            fill(Part(made[y], k * rows[y]), rows[y], values.__getitem__)

    linear.push([Columns(d.wrt, count, rates, put)])
    return {d.given[y]: values for y, values in made.items()}


def own_vjp(d: Derivation, x: Mapping[str, Array]) -> dict[str, Any]:
    """Derivatives of a weighted sum of outputs."""
    linear, inputs = _linear(d, x)
    bars = {y: x[d.taken[y]] for y in linear.outputs}
    curved = {y: space for y in bars if isinstance(space := d.space(d.outputs[y]), Manifold)}
    for y, space in curved.items():
        bars[y] = space.along_numbers(indexable(space.size, linear.outputs[y]), bars[y])
    results = {}
    for name, values in linear.pull(bars, d.wrt).items():
        argument = d.inputs[name]
        numbers = indexable(argument.size, values)
        results[d.given[name]] = d.space(argument).along_motions(inputs[name], numbers)
    return results


def own_jacobian(d: Derivation, x: Mapping[str, Array]) -> dict[str, Any]:
    """All derivatives of outputs, column by column."""
    linear, inputs = _linear(d, x)
    columns = {name: d.space(d.inputs[name]).motions for name in d.wrt}
    rows = {y: d.space(a).motions for y, a in d.outputs.items()}
    with keeping_loops():
        made = {(y, name): array(rows[y] * columns[name]) for y in rows for name in columns}

    def along(names: tuple[str, ...]) -> Columns:
        count, start, entries = sum(columns[name] for name in names), 0, {}
        with keeping_loops():
            wide = {y: blank(rows[y] * count) for y in linear.outputs}
        for name in names:
            block = np.eye(count)[:, start : start + columns[name]]
            entries[name], start = Table("one", block.ravel()), start + columns[name]

        def rates(k: Index) -> dict[str, Array]:
            def entry(name: str) -> Callable[[int], Any]:
                return lambda i: gather(entries[name], k * columns[name] + i)

            return {name: _rate(d, inputs, name, entry(name)) for name in names}

        def put(k: Index, found: Mapping[str, Array]) -> None:
            for y, values in _motions(d, linear, found).items():
                put_column(wide[y], rows[y], values, k, count)

        parts.append((names, count, wide))
        return Columns(names, count, rates, put)

    parts: list[tuple[tuple[str, ...], int, dict[str, Array]]] = []
    linear.push([along(names) for names in linear.grouped(d.wrt)])
    with keeping_loops():
        for names, count, wide in parts:
            start = 0
            for name in names:
                for y in linear.outputs:
                    _copy_columns(made[y, name], Part(wide[y], start), rows[y], columns[name], count)
                start += columns[name]
    return {f"d{y}_d{name}": values for (y, name), values in made.items()}


def _copy_columns(to: Array, values: Array, rows: int, columns: int, width: int) -> None:
    """Copy the first columns of a matrix."""

    def row(r: Index) -> None:
        fill(Part(to, r * columns), columns, lambda k: values[k + r * width])

    each(rows, row)


def put_column(to: Array, rows: int, values: Array, column: Index, columns: int) -> None:
    """Write a column of a matrix."""

    def put(row: Index) -> None:
        to[row * columns + column] = values[row]

    each(rows, put)
