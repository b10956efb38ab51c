"""Problems of contact on mechanisms: forces of contacts, limits and loops, and the motion that follows from them.

A problem has rows of contacts, of coordinates with limits, and of loops, and the value y = A g + base of each for
forces g. One-sided conditions, the normals of contacts and limits, say that sign × y + offset must not be negative.
Those that are not active have no force; in the end they must not be broken. What slides has a known force beside that
of its normal, which is folded into the column of the normal. The motion is free + Σ gᵢ responseᵢ.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bough.complementarity.contact_rows import TANGENTS, ContactRows
from bough.complementarity.gauss_seidel import gauss_seidel
from bough.complementarity.principal import SOLVED, UNSOLVED, principal
from bough.scalar import (
    Array,
    Bool,
    Index,
    Part,
    Scalar,
    Table,
    array,
    blank,
    both,
    each,
    either,
    fill,
    gather,
    gather_index,
    loop,
    maximum,
    select,
)  # fmt: skip

__all__ = ["BROKEN", "UNMET", "WIDER", "concluded", "prepared", "settled_by_pivoting", "settled_by_sweeps"]

BROKEN = 1e-9
"""A condition that was left out and fails by more (in m/s or rad/s, or these per second) is to be taken in."""

UNMET = 100.0
"""Rows that Gauss-Seidel leaves off by more than this many times its tolerance are not met."""

WIDER = -3.0
"""The status of a state in which conditions are broken or active that the problem had no force for."""

ZERO: Scalar = 0.0


def settled_by_pivoting(rows: ContactRows, whole: Array, mu: Array) -> dict[str, Array]:
    """The result of a problem; and a status, negative if it is not solved or not wide enough."""
    matrix, b, friction = _prepared(rows, whole, mu)
    found = principal(rows.conditions, matrix, b, friction)
    n = len(rows.solved)
    return _concluded(rows, whole, mu, found["whole"], Part(found["whole"], 2 * n), found["status"][0])


def settled_by_sweeps(rows: ContactRows, whole: Array, mu: Array, start: Array, stop: Array) -> dict[str, Array]:
    """The same by Gauss-Seidel. Forces that are worse than none lead nowhere, and none are taken for them."""
    matrix, b, friction = _prepared(rows, whole, mu)
    n, table = len(rows.solved), _table("solved", rows.solved)
    begin = fill(blank(n), n, lambda i: start[gather_index(table, i)])
    places = _solved_places(rows)

    def push(c: Index) -> None:  # of a coordinate with two limits the force is that of one of them
        begin[gather_index(places, c)] = maximum(begin[gather_index(places, c)], 0.0)

    each(len(places.data), push)
    found = gauss_seidel(rows.conditions, matrix, b, friction, begin, stop)["whole"]
    none = gauss_seidel(rows.conditions, matrix, b, friction, array(n), _no_sweeps(stop))["whole"]
    f, failing, failing_so = found, Part(found, 2 * n), Part(none, 2 * n)
    worst, least = _largest(failing, n), _largest(failing_so, n)
    unmet = worst > UNMET * stop[0]
    worse = both(unmet, least < worst)
    fill(f, n, lambda i: select(worse, 0.0, f[i]))
    fill(failing, n, lambda i: select(worse, failing_so[i], failing[i]))
    concluded = _concluded(rows, whole, mu, f, failing, SOLVED)
    status = concluded["status"]
    status[0] = select(both(unmet, status[0] > 0.0), UNSOLVED, status[0])
    return concluded


def prepared(rows: ContactRows, whole: Array, mu: Array) -> dict[str, Array]:
    """A, b and coefficients of friction of the rows that get forces, as solvers take them."""
    A, b, friction = _prepared(rows, whole, mu)
    return {"A": A, "b": b, "friction": friction}


def concluded(rows: ContactRows, whole: Array, mu: Array, f: Array, failing: Array) -> dict[str, Array]:
    """The result of a problem whose forces are known."""
    return _concluded(rows, whole, mu, f, failing, SOLVED)


# ---- before ----------------------------------------------------------------------------------------------------------


def _prepared(rows: ContactRows, whole: Array, mu: Array) -> tuple[Array, Array, Array]:
    on, friction = _on(rows, whole), array(len(rows.solved))

    def put(c: Index) -> None:
        friction[c * rows.axes] = mu[c]

    each(rows.contacts, put)
    return _matrix(rows, whole, mu, on), _right(rows, whole, on), friction


def _matrix(rows: ContactRows, whole: Array, mu: Array, on: Array) -> Array:
    """A of the rows that get forces, where what slides follows the normals."""
    n, solved, A, follow = (
        len(rows.solved),
        _table("solved", rows.solved),
        rows.part(whole, "A"),
        _follow(rows, whole, mu),
    )
    matrix = blank(n * n)

    def row(i: Index) -> None:
        source, place = gather_index(solved, i) * rows.count, i * n
        fill(Part(matrix, place), n, lambda j: A[source + gather_index(solved, j)])

        def folded(c: Index) -> None:
            normal = place + c * rows.axes
            for t in range(TANGENTS):
                matrix[normal] = matrix[normal] + matrix[normal + (1 + t)] * follow[c * TANGENTS + t]

        if rows.slides:
            each(rows.contacts, folded)
        fill(Part(matrix, place), n, lambda j: matrix[place + j] * (on[i] * on[j]))

    each(n, row)
    return matrix


def _right(rows: ContactRows, whole: Array, on: Array) -> Array:
    """The values of the rows that get forces without them, with offsets."""
    n, solved = len(rows.solved), _table("solved", rows.solved)
    base, offset, active = (rows.part(whole, name) for name in ("base", "offset", "active"))
    places = _solved_places(rows)
    b = fill(blank(n), n, lambda i: base[gather_index(solved, i)])

    def put_off(c: Index) -> None:
        i = gather_index(places, c)
        b[i] = b[i] + select(active[c] > 0.0, offset[c], 0.0)

    each(len(places.data), put_off)
    return fill(b, n, lambda i: b[i] * on[i])


def _on(rows: ContactRows, whole: Array) -> Array:
    """1 for rows that get forces, 0 for those that are not active, or slide and follow their normals.

    Where limits are active that are only watched, nothing gets forces: they would be in vain.
    """
    active, on = rows.part(whole, "active"), blank(len(rows.solved))

    def touch(c: Index) -> None:
        on[c * rows.axes] = active[c]
        for t, slips in enumerate(_slipping(rows, whole, c) if rows.friction else ()):
            on[c * rows.axes + (1 + t)] = select(slips, 0.0, active[c])

    each(rows.contacts, touch)
    limits = rows.limits if rows.watched is None else 0
    fill(Part(on, rows.touch), limits, lambda i: active[i + rows.contacts])
    fill(Part(on, rows.touch + limits), rows.loops, lambda i: 1.0)
    if rows.watched is not None:
        enough = select(_watched(rows, whole) > 0.0, 0.0, 1.0)
        fill(on, len(rows.solved), lambda i: on[i] * enough)
    return on


def _slipping(rows: ContactRows, whole: Array, c: Index) -> list[Bool]:
    """Whether a contact slides along each tangent; within a cone it does along both or not at all."""
    if not rows.slides:
        return [False] * TANGENTS
    sliding = Part(rows.part(whole, "sliding"), c * TANGENTS)
    slips = [either(sliding[t] < 0.0, sliding[t] > 0.0) for t in range(TANGENTS)]
    return [either(*slips)] * TANGENTS if rows.friction == "cone" else slips


def _watched(rows: ContactRows, whole: Array) -> Scalar:
    """Positive if some limit is active that is only watched."""
    active, sides = Part(rows.part(whole, "active"), rows.contacts), rows.watched or ()
    return _largest(active, len(sides))


def _follow(rows: ContactRows, whole: Array, mu: Array) -> Array:
    """The force along each tangent of what slides, by that of the normal."""
    sliding, follow = rows.part(whole, "sliding"), array(TANGENTS * rows.contacts)

    def contact(c: Index) -> None:
        for t in range(TANGENTS):
            follow[c * TANGENTS + t] = -mu[c] * sliding[c * TANGENTS + t]

    if rows.slides:
        each(rows.contacts, contact)
    return follow


# ---- after -----------------------------------------------------------------------------------------------------------


def _concluded(
    rows: ContactRows, whole: Array, mu: Array, f: Array, failing: Array, status: Scalar
) -> dict[str, Array]:
    """All parts of a result, one behind the other, and the status."""
    n, solved, follow = len(rows.solved), _table("solved", rows.solved), _follow(rows, whole, mu)
    result = array(rows.results["raw"].stop)
    motion, forces, worst, failures, raw = (Part(result, part.start) for part in rows.results.values())
    fill(raw, n, lambda i: f[i])
    fill(failures, n, lambda i: failing[i])
    worst[0] = _largest(failing, n)

    def force(i: Index) -> None:
        forces[gather_index(solved, i)] = f[i]

    def slide(c: Index) -> None:
        for t in range(TANGENTS):
            tangent = c * rows.axes + (1 + t)
            forces[tangent] = forces[tangent] + follow[c * TANGENTS + t] * f[c * rows.axes]

    each(n, force)
    if rows.slides:
        each(rows.contacts, slide)
    free, response = rows.part(whole, "free"), rows.part(whole, "response")

    def moved(c: Index) -> Scalar:
        def add(i: Index, so_far: Scalar) -> Scalar:
            row = gather_index(solved, i)
            more: Scalar = so_far + forces[row] * response[row * rows.nv + c]
            return more

        begin: Scalar = free[c]
        return loop(n, add, begin)

    fill(motion, rows.nv, moved)
    return {"result": result, "status": _whole_status(rows, whole, forces, status)}


def _whole_status(rows: ContactRows, whole: Array, forces: Array, status: Scalar) -> Array:
    """The status, unless some condition without a force is active or broken."""
    said, broken = array(1), _broken(rows, whole, forces) > 0.0
    said[0] = select(status < 0.0, status, select(broken, WIDER, SOLVED))
    if rows.watched is not None:
        said[0] = select(_watched(rows, whole) > 0.0, WIDER, said[0])
    return said


def _broken(rows: ContactRows, whole: Array, forces: Array) -> Scalar:
    """How many conditions that are not active are broken."""
    A, base, offset, active = (rows.part(whole, name) for name in ("A", "base", "offset", "active"))
    places, signs, solved = _table("places", rows.places), Table("signs", rows.signs), _table("solved", rows.solved)

    def condition(c: Index, so_far: Scalar) -> Scalar:
        row = gather_index(places, c)

        def add(i: Index, y: Scalar) -> Scalar:
            column = gather_index(solved, i)
            more: Scalar = y + A[row * rows.count + column] * forces[column]
            return more

        y: Scalar = gather(signs, c) * loop(len(rows.solved), add, base[row]) + offset[c]
        return so_far + select(both(active[c] <= 0.0, y < -BROKEN), 1.0, 0.0)

    return loop(rows.places.size, condition, ZERO)


def _solved_places(rows: ContactRows) -> Table:
    """Where one-sided conditions are among the rows that get forces."""
    return _table("places", [rows.solved.index(row) for row in rows.places if row in rows.solved])


def _largest(values: Array, count: int) -> Scalar:
    return loop(count, lambda i, most: maximum(most, values[i]), ZERO)


def _no_sweeps(stop: Array) -> Array:
    result = array(2)
    result[0] = stop[0]
    return result


def _table(name: str, entries: Any) -> Table:
    return Table(name, np.array(list(entries), np.int64))
