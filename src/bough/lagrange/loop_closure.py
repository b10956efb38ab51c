"""Linkages with auxiliary equalities, most of which close loops, in one program: anticipation, forces, and the motion.

The forces come from an elimination without exchanges, right where all pivots are clear of zero. Rows that others hold
already, or contradict, leave none, and the state is said to be in doubt.
"""

from __future__ import annotations

from bough.algorithms.blocks import SmallFactor
from bough.lagrange.anticipation import anticipation, moved
from bough.lagrange.factor import factor, solve
from bough.lagrange.joints import Constants
from bough.lagrange.layout import Layout
from bough.scalar import Array, Index, Part, Scalar, Table, array, blank, dot, each, fill, gather_index, inner, select
from bough.scalar.tolerances import INDEPENDENT

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
    free = solve(system, F, b)
    rows = Part(jacobian, system.jacobian_size)
    problem = anticipation(layout.beside, F, free, rows, Part(c, system.nc))
    if soft is not None:

        def give_way(i: Index) -> None:
            problem[i * (k + 1)] = problem[i * (k + 1)] + soft[i + system.nc]

        each(k, give_way)
    pivots, forces = _eliminate(problem, k)
    motion = moved(layout.beside, F, free, rows, forces)
    result = fill(blank(n + k), n, lambda i: motion[i])
    fill(Part(result, n), k, lambda i: forces[i])
    verdicts = blank(system.tree.n + k)
    fill(verdicts, system.tree.n, lambda i: sound[i])
    fill(Part(verdicts, system.tree.n), k, lambda i: select(answers[i] * INDEPENDENT < pivots[i], 1.0, -1.0))
    return result, verdicts


def _eliminate(problem: Array, k: int) -> tuple[Array, Array]:
    """Pivots of A = Lᵀ D L, which becomes L, and forces with A f + b = 0; the problem is A, row by row, then b."""
    pivots, inverses, f, b = array(k), array(k), array(k), Part(problem, k * k)

    def eliminate(i: Index) -> None:
        here, pivot = Part(problem, i * k), problem[i * (k + 1)]
        inverse = 1.0 / select(pivot > 0.0, pivot, 1.0)
        pivots[i], inverses[i] = pivot, inverse

        def with_row(j: Index) -> None:
            there, part = Part(problem, j * k), here[j] * inverse

            def entry(m: Index) -> None:
                there[m] = there[m] - part * here[m]

            each(j + 1, entry)
            b[j] = b[j] - part * b[i]

        def scale(j: Index) -> None:
            here[j] = here[j] * inverse

        each(i, with_row)
        each(i, scale)

    def substitute(i: Index) -> None:
        f[i] = -(b[i] * inverses[i]) - inner(Part(problem, i * k), f, i)

    each(k, eliminate, reverse=True)
    each(k, substitute)
    return pivots, f


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
