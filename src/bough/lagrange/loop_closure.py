"""Linkages with auxiliary equalities, most of which close loops, in one program: anticipation, forces, and the motion.

The forces come from an elimination without exchanges, right where all pivots are clear of zero. Rows that others hold
already, or contradict, leave none, and the state is said to be in doubt.
"""

from __future__ import annotations

from bough.algorithms.blocks import SmallFactor
from bough.complementarity.elimination import eliminate
from bough.lagrange.anticipation import SystemResponse
from bough.lagrange.factor import factor
from bough.lagrange.joints import Constants
from bough.lagrange.layout import Layout
from bough.scalar import (
    Array,
    Index,
    Part,
    Scalar,
    Table,
    array,
    blank,
    dot,
    each,
    fill,
    filled,
    gather_index,
    inner,
    select,
)

__all__ = ["answers_alone", "solve_with_auxiliary"]


def solve_with_auxiliary(
    layout: Layout,
    mass: Array,
    jacobian: Array,
    f: Array,
    c: Array,
    answers: Array,
    soft: Constants | None,
    part: float,
) -> tuple[Array, Array]:
    """The solution [y, λ] of a layout whose auxiliary ties are equalities; and verdicts, negative where in doubt.

    How auxiliary rows answer alone, `answers_alone` says.
    """
    system, k = layout.system, layout.nc - layout.system.nc
    F, sound = factor(system, mass, jacobian, soft, part)
    n = system.nv + system.nc
    b = fill(blank(n), system.nv, lambda i: f[i])
    fill(Part(b, system.nv), system.nc, lambda i: c[i])
    response = SystemResponse(layout.beside, F, Part(jacobian, system.jacobian_size))
    A, drive = response.A, response.drive(b)
    if soft is not None:

        def give_way(i: Index) -> None:
            A[i * (k + 1)] = A[i * (k + 1)] + soft[i + system.nc]

        each(k, give_way)
    right = filled(k, lambda i: -(drive[i] + c[i + system.nc]))
    found = eliminate(k, A, right, answers, inner(right, right, k))
    motion = response.motion(found.forces, b)
    result = fill(blank(n + k), n, lambda i: motion[i])
    fill(Part(result, n), k, lambda i: found.forces[i])
    verdicts = blank(system.tree.n + k)
    fill(verdicts, system.tree.n, lambda i: sound[i])
    clear = select(found.doubtful, -1.0, 1.0)
    fill(Part(verdicts, system.tree.n), k, lambda i: select(found.inverse[i] > 0.0, clear, -1.0))
    return result, verdicts


def answers_alone(layout: Layout, mass: Array, jacobian: Array) -> Array:
    """J M⁻¹ Jᵀ of each auxiliary row by itself: how it answers to a unit force on bodies without constraints."""
    answers = array(layout.nc - layout.system.nc)
    for (r, d), places in layout.auxiliary_blocks.items():

        def visit(block: Index, r: int = r, d: int = d, places: tuple[Table, Table, Table] = places) -> None:
            row, start, first = (gather_index(table, block) for table in places)
            M = SmallFactor([[mass[first + (i * d + j)] for j in range(i + 1)] for i in range(d)])
            for i in range(r):
                J: list[Scalar] = [jacobian[start + (i * d + j)] for j in range(d)]
                answers[row + i] = answers[row + i] + dot(J, M.solve(J))

        each(places[0].data.size, visit)
    return answers
