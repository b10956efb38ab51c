"""Mechanisms that touch: what contacts, joint limits and loops together do to the motion, for all three levels.

Rows J of contacts, of coordinates with limits, and of loops, in this order, give forces f and the motion
x = w + M⁻¹ Jᵀ f, where w is the motion without them: accelerations w = M⁻¹ (τ - C), velocities w = M⁻¹ τ of first
order, or velocities w = v before an impact. With M = LᵀDL and Y = L⁻ᵀ Jᵀ, A = J M⁻¹ Jᵀ is Yᵀ D⁻¹ Y. Which f is right
is said by conditions on J x = A f + J w, and found by others: it takes a choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from bough.algorithms.contacts import AXES, Place, contact_terms
from bough.algorithms.crba import crba
from bough.algorithms.loops import constraint_terms, loop_motions, loop_rates
from bough.algorithms.rnea import ZEROS, rnea
from bough.factor import diagonal, ltdl, solve_L, solve_Lt
from bough.model import JointEntry, Loop, Mechanism, Model
from bough.scalar import Array, Index, Scalar, array, loop

__all__ = ["Touching", "applied_force", "limited_joints", "limited_loops", "row_counts", "touching"]


@dataclass(frozen=True)
class Touching:
    """Which rows there are: contacts between pairs of bodies, with or without friction; limits or none; all loops."""

    pairs: tuple[tuple[int, int], ...] = ()
    friction: bool = True
    limits: bool = False


def limited_joints(model: Model) -> list[int]:
    """The joints with one degree of freedom and a limit, as indices of `model.joints`."""
    return _limited(model.joints)


def limited_loops(model: Model) -> list[int]:
    """Those among the joints that close loops, as indices of `model.loops`."""
    return _limited(model.loops)


def _limited(entries: Iterable[JointEntry | Loop]) -> list[int]:
    none = (-float("inf"), float("inf"))
    return [k for k, e in enumerate(entries) if (e.joint.nq, e.joint.nv) == (1, 1) and (*e.lower, *e.upper) != none]


def row_counts(model: Model, rows: Touching) -> tuple[int, int, int]:
    """How many rows there are of contacts, of limits, and of loops."""
    contacts = len(rows.pairs) * (AXES if rows.friction else 1)
    limits = len(limited_joints(model)) + len(limited_loops(model)) if rows.limits else 0
    return contacts, limits, len(model.constraint_names)


def applied_force(m: Mechanism, q: Array, v: Array, tau: Array, f_ext: Array | None) -> Array:
    """τ - C: what accelerates the mechanism where nothing touches."""
    n, C = m.coupling.dof_tree.n, rnea(m, q, v, ZEROS, f_ext)
    return _fill(n, array(n), lambda k: tau[k] - C[k])


def touching(
    m: Mechanism, rows: Touching, q: Array, v: Array | None, force: Array | None, place: Place
) -> dict[str, Array]:
    """A; M⁻¹ Jᵀ by columns; J v, J̇ v; errors of loops; pivots of M. With a force also w = M⁻¹ force and J w."""
    tree = m.coupling.dof_tree
    n, count = tree.n, sum(row_counts(m.model, rows))
    J, rates, bias, errors = _rows(m, rows, q, v, place)
    factor = ltdl(tree, crba(m, q))
    D = diagonal(tree, factor)
    Y, Z, response = array(count * n), array(count * n), array(count * n)

    def substitute(i: Index) -> None:
        y = solve_Lt(tree, factor, Part(J, i * n), unit=True)
        _fill(n, Part(Y, i * n), lambda k: y[k])
        _fill(n, Part(Z, i * n), lambda k: y[k] / D[k])
        x = solve_L(tree, factor, Part(Z, i * n), unit=True)
        _fill(n, Part(response, i * n), lambda k: x[k])

    _each(count, substitute)
    result = {"A": _product(Z, Y, count, n), "response": response, "rates": rates, "bias": bias, "errors": errors}
    if force is not None:
        y = solve_Lt(tree, factor, force, unit=True)
        w = solve_L(tree, factor, _fill(n, array(n), lambda k: y[k] / D[k]), unit=True)
        result["free"] = w
        result["drive"] = _fill(count, array(count), lambda i: _dot(Part(J, i * n), w, n))
    return {**result, "pivots": D}


def _rows(
    m: Mechanism, rows: Touching, q: Array, v: Array | None, place: Place
) -> tuple[Array, list[Scalar], list[Scalar], list[Scalar]]:
    """J, J v, J̇ v, and the errors of loops."""
    n, (contacts, limits, loops) = m.coupling.dof_tree.n, row_counts(m.model, rows)
    touch = contact_terms(m, rows.pairs, q, v, place, AXES if rows.friction else 1)
    closed = constraint_terms(m, q, v)
    J = array((contacts + limits + loops) * n)
    _fill(contacts * n, J, lambda k: touch.matrix[k])
    speeds, bends = _limit_rows(m, q, v, Part(J, contacts * n)) if limits else ([], [])
    _fill(loops * n, Part(J, (contacts + limits) * n), lambda k: closed.matrix[k])
    return J, [*touch.rates, *speeds, *closed.rates], [*touch.bias, *bends, *closed.bias], closed.errors


def _limit_rows(m: Mechanism, q: Array, v: Array | None, J: Array) -> tuple[list[Scalar], list[Scalar]]:
    """Write the rows of all coordinates with limits, joints of the tree first; returns J v and J̇ v."""
    model, n = m.model, m.model.nv
    columns = [model.v_slice(model.joint_names[k]).start for k in limited_joints(model)]
    for i, column in enumerate(columns):
        J[i * n + column] = 1.0
    rates: list[Scalar] = [0.0 if v is None else v[column] for column in columns]
    bias: list[Scalar] = [0.0] * len(columns)
    chosen = limited_loops(model)
    if chosen:
        B = loop_motions(m, q)[1]
        zero: list[Scalar] = [0.0] * sum(loop.joint.nv for loop in model.loops)
        speeds, bends = (zero, zero) if v is None else loop_rates(m, q, v)
        for i, k in enumerate(chosen, start=len(columns)):
            place = sum(loop.joint.nv for loop in model.loops[:k])
            _fill(n, Part(J, i * n), partial(_entry, Part(B, place * n)))
            rates.append(speeds[place])
            bias.append(bends[place])
    return rates, bias


def _entry(values: Array, k: Index) -> Scalar:
    value: Scalar = values[k]
    return value


def _product(Z: Array, Y: Array, count: int, n: int) -> Array:
    """The symmetric matrix of all products of rows of Z and Y."""
    A = array(count * count)

    def row(i: Index) -> None:
        def entry(j: Index) -> None:
            value = _dot(Part(Z, i * n), Part(Y, j * n), n)
            A[i * count + j] = value
            A[j * count + i] = value

        _each(i + 1, entry)

    _each(count, row)
    return A


class Part:
    """Part of an array that begins further on."""

    def __init__(self, values: Array, start: Index) -> None:
        self._values, self._start = values, start

    def __getitem__(self, index: Any) -> Any:
        return self._values[self._start + index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._values[self._start + index] = value


def _each(count: Index, rule: Callable[[Index], None]) -> None:
    def step(k: Index, carry: tuple[()]) -> tuple[()]:
        rule(k)
        return carry

    loop(count, step, ())


def _fill(n: int, to: Array, entry: Callable[[Index], Scalar]) -> Array:
    def put(k: Index) -> None:
        to[k] = entry(k)

    _each(n, put)
    return to


def _dot(a: Array, b: Array, n: int) -> Scalar:
    return loop(n, lambda k, total: total + a[k] * b[k], 0.0)
