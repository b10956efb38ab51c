"""Auxiliary constraints: what their forces do to a system that keeps its own constraints."""

from __future__ import annotations

import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest

import bough
from bough import lagrange
from bough.algorithms.response import Response
from bough.kernel.compile import build
from bough.program import evaluate
from bough.scalar import Counted, Tally
from closeness import assert_close
from systems import Floats, dense, random_blocks, random_system


def anticipated(
    auxiliary: bough.maximal.Auxiliary, F: Any, free: Any, jacobian: Any, c: Any, directions: Any = None
) -> Any:
    """A, row by row, and then b, over whatever scalars."""
    response = lagrange.SystemResponse(auxiliary, F, jacobian, directions)
    along = response.along(free)
    return [*(response.A[k] for k in range(auxiliary.nc**2)), *(c[k] + along[k] for k in range(auxiliary.nc))]


def test_the_response_of_a_system_is_that_of_the_dense_inverse(rng: np.random.Generator) -> None:
    """By the same calls as that of a tree: see `test_response.py`."""
    system = random_system(rng, 6)
    auxiliary = random_auxiliary(system, rng, 3)
    mass, jacobian = random_blocks(system, rng)
    F = bough.maximal.ldlt(system, mass, jacobian).packed.tolist()
    n, k, J = system.nv + system.nc, auxiliary.nc, rng.normal(size=auxiliary.jacobian_size)
    rows, columns = (table.data for table in auxiliary.entries)
    whole = np.zeros((k, n))
    np.add.at(whole, (rows, columns), J)
    inverse, b, f = np.linalg.inv(dense(system, mass, jacobian)), rng.normal(size=n), rng.normal(size=k)
    response: Response = lagrange.SystemResponse(auxiliary, F, J.tolist())
    half, size = response.half(b.tolist()), float(np.abs(inverse).max() * 10.0)
    assert response.count == k
    assert_close(np.array(response.A).reshape(k, k), whole @ inverse @ whole.T, 1e-9, axes=2, scale=size)
    assert_close(np.array(response.drive(half)), whole @ inverse @ b, 1e-9, scale=size)
    assert_close(np.array(response.free(half)), inverse @ b, 1e-9, scale=size)
    assert_close(np.array(response.motion(f.tolist(), half)), inverse @ (b + whole.T @ f), 1e-9, scale=size)


def random_auxiliary(system: bough.maximal.System, rng: np.random.Generator, count: int) -> bough.maximal.Auxiliary:
    """Constraints on one body, two or three, with up to three rows."""
    n = len(system.bodies)
    most = min(n, 3)
    picked = [rng.permutation(n)[: rng.integers(1, most + 1)] + 1 for _ in range(count)]
    return bough.maximal.Auxiliary(system, [(bodies.tolist(), int(rng.integers(0, 4))) for bodies in picked])


def in_full(auxiliary: bough.maximal.Auxiliary, blocks: Floats) -> Floats:
    """[Jᵃ, 0] of one system."""
    system = auxiliary.system
    J, block, row = np.zeros((auxiliary.nc, system.nv + system.nc)), 0, 0
    for bodies, rows in auxiliary.constraints:
        for body in bodies:
            entries = blocks[slice(*auxiliary.jacobian_starts[block : block + 2])]
            J[row : row + rows, slice(*system.v_starts[body - 1 : body + 1])] = entries.reshape(
                rows, system.bodies[body - 1]
            )
            block += 1
        row += rows
    return J


@pytest.mark.parametrize("bodies", [1, 2, 3, 8, 30])
@pytest.mark.parametrize("workless", [True, False])
def test_response_is_that_of_the_whole_matrix(bodies: int, workless: bool, rng: np.random.Generator) -> None:
    for _ in range(5 if bodies < 10 else 1):
        system = random_system(rng, bodies)
        auxiliary = random_auxiliary(system, rng, 4)
        mass, jacobian = random_blocks(system, rng)
        factor = bough.maximal.ldlt(system, mass, jacobian)
        free = factor.solve(rng.normal(size=system.nv + system.nc))
        J, K = rng.normal(size=(2, auxiliary.jacobian_size))
        c, f = rng.normal(size=(2, auxiliary.nc))
        found = bough.maximal.anticipate(factor, free, auxiliary, J, c, None if workless else K)
        H, J, K = dense(system, mass, jacobian), in_full(auxiliary, J), in_full(auxiliary, J if workless else K)
        size = np.abs(J).max(initial=0.0) * np.abs(K).max(initial=0.0)  # masses are about 1; a body may be held in full
        assert_close(found.A, J @ np.linalg.solve(H, K.T), 1e-9, axes=2, scale=size)
        assert_close(found.b, J @ free + c, 1e-12, scale=np.abs(J).max(initial=0.0) * np.abs(free).max())
        assert_close(np.concatenate(found.motion(f)), free + np.linalg.solve(H, K.T @ f), 1e-9, scale=size)
        assert_close(J @ np.concatenate(found.motion(f)) + c, found.A @ f + found.b, 1e-9, scale=size)


def test_primary_constraints_may_as_well_be_auxiliary(rng: np.random.Generator) -> None:
    """A tree, some of whose constraints are handed over: the motion and all multipliers stay."""
    system = bough.maximal.System([6] * 8, [(0, 1, 5), *((i // 2, i, 3) for i in range(2, 9))])
    mass, jacobian = random_blocks(system, rng)
    force, c = rng.normal(size=system.nv), rng.normal(size=system.nc)
    acceleration, multiplier = bough.maximal.multipliers(system, mass, jacobian, force, c)

    moved = [2, 5, 7]  # constraints of the tree that become auxiliary
    kept = [k for k in range(8) if k not in moved]
    blocks = [jacobian[slice(*system.jacobian_starts[2 * k : 2 * k + 3 : 2])] for k in range(8)]
    rows = [np.arange(*system.c_starts[k : k + 2]) for k in range(8)]
    less = bough.maximal.System(system.bodies, [system.constraints[k] for k in kept])
    auxiliary = bough.maximal.Auxiliary(less, [(system.constraints[k][:2], system.constraints[k][2]) for k in moved])
    of_kept, of_moved = (np.concatenate([rows[k] for k in group]) for group in (kept, moved))
    factor = bough.maximal.ldlt(less, mass, np.concatenate([blocks[k] for k in kept]))
    free = factor.solve(np.concatenate([force, c[of_kept]]))
    problem = bough.maximal.anticipate(factor, free, auxiliary, np.concatenate([blocks[k] for k in moved]), c[of_moved])
    solution = bough.lcp.pivoting(problem.A, problem.b, bough.lcp.Conditions.equalities(auxiliary.nc))
    assert solution.solved
    a, lam = problem.motion(solution.f)
    assert_close(a, acceleration, 1e-9)
    assert_close(lam, multiplier[of_kept], 1e-9)
    assert_close(solution.f, multiplier[of_moved], 1e-9)


def test_a_square_of_rods_with_a_redundant_diagonal(rng: np.random.Generator) -> None:
    """Four points in the plane on six rods, one too many: three are primary, a side and both diagonals auxiliary."""
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    system = bough.maximal.System([2] * 4, [(1, 2, 1), (2, 3, 1), (3, 4, 1)])
    auxiliary = bough.maximal.Auxiliary(system, [((4, 1), 1), ((1, 3), 1), ((2, 4), 1)])

    def rods(pairs: list[tuple[int, int]]) -> Floats:
        return np.concatenate([[*(corners[a] - corners[b]), *(corners[b] - corners[a])] for a, b in pairs])

    force = rng.normal(size=8)
    factor = bough.maximal.ldlt(system, np.tile(np.eye(2).ravel(), 4), rods([(0, 1), (1, 2), (2, 3)]))
    free = factor.solve(np.concatenate([force, np.zeros(3)]))
    problem = bough.maximal.anticipate(factor, free, auxiliary, rods([(3, 0), (0, 2), (1, 3)]), np.zeros(3))
    assert np.linalg.matrix_rank(problem.A, tol=1e-12) == 2  # a square with both diagonals is held once too often
    solution = bough.lcp.pivoting(problem.A, problem.b, bough.lcp.Conditions.equalities(3))
    assert solution.solved
    a, _ = problem.motion(solution.f)
    # it moves as one rigid body: mean force, and torque over the moment of inertia about the centre
    arms = corners - 0.5
    spin = (arms[:, 0] * force[1::2] - arms[:, 1] * force[::2]).sum() / 2.0
    want = force.reshape(4, 2).mean(axis=0) + spin * np.stack([-arms[:, 1], arms[:, 0]], axis=1)
    assert_close(a, want.ravel(), 1e-12)


def test_a_chain_that_falls_on_the_ground(rng: np.random.Generator) -> None:
    """One-sided rows: what is pushed does not sink, and what leaves is not pulled."""
    n = 10
    system = bough.maximal.System([2] * n, [(i, i + 1, 1) for i in range(1, n)])
    along = rng.normal(size=(n - 1, 2))
    jacobian = np.concatenate([along, -along], axis=1).ravel()
    masses = rng.uniform(0.5, 2.0, n)
    force = rng.normal(size=(n, 2)) * 5.0
    ground = bough.maximal.Auxiliary(system, [((i,), 1) for i in range(1, n + 1)])
    factor = bough.maximal.ldlt(system, (masses[:, None, None] * np.eye(2)).ravel(), jacobian)
    free = factor.solve(np.concatenate([force.ravel(), np.zeros(n - 1)]))
    problem = bough.maximal.anticipate(factor, free, ground, np.tile([0.0, 1.0], n), np.zeros(n))
    solution = bough.lcp.pivoting(problem.A, problem.b, bough.lcp.Conditions.inequalities(n))
    assert solution.solved
    a, lam = problem.motion(solution.f)
    a = a.reshape(n, 2)
    assert (a[:, 1] > -1e-12).all()
    assert (solution.f >= 0.0).all()
    assert (np.abs(a[:, 1] * solution.f) < 1e-12).all()
    assert 0 < np.count_nonzero(solution.f) < n
    # Newton for each point: m a = force + rods + ground
    rods = np.zeros((n, 2))
    rods[:-1] += along * lam[:, None]
    rods[1:] -= along * lam[:, None]
    assert_close(masses[:, None] * a, force + rods + np.outer(solution.f, [0.0, 1.0]), 1e-12)


def test_sliding_friction_is_not_workless() -> None:
    """A block with sliding friction: the force acts along the normal and, times μ, against the motion."""
    m, g, mu, push = 2.0, 9.81, 0.3, 30.0
    system = bough.maximal.System([2], [])
    floor = bough.maximal.Auxiliary(system, [((1,), 1)])
    factor = bough.maximal.ldlt(system, (m * np.eye(2)).ravel(), [])
    free = factor.solve([push, -m * g])
    problem = bough.maximal.anticipate(factor, free, floor, [0.0, 1.0], [0.0], directions=[-mu, 1.0])
    solution = bough.lcp.pivoting(problem.A, problem.b, bough.lcp.Conditions.inequalities(1))
    assert_close(solution.f, [m * g], 1e-14)
    assert_close(problem.motion(solution.f)[0], [push / m - mu * g, 0.0], 1e-14)


@pytest.mark.parametrize("rolled", [False, True])
def test_programs_agree_with_the_algorithm(rolled: bool, rng: np.random.Generator) -> None:
    system = bough.maximal.System([6, 3, 6, 2, 6, 1], [(0, 1, 5), (1, 2, 3), (3, 1, 4), (5, 3, 6), (4, 5, 2)])
    auxiliary = bough.maximal.Auxiliary(system, [((6,), 1), ((2, 4), 2), ((1, 5, 6), 3), ((3,), 0)])
    factor = bough.maximal.ldlt(system, *random_blocks(system, rng)).packed
    sizes = {"F": system.factor_size, "free": system.nv + system.nc, "jacobian": auxiliary.jacobian_size}
    sizes |= {"c": auxiliary.nc, "directions": auxiliary.jacobian_size}
    arrays = {name: rng.normal(size=size) for name, size in sizes.items()} | {"F": factor}

    program = build("x", lambda **x: {"x": anticipated(auxiliary, **x)}, sizes, 1, rolled=rolled)
    want = anticipated(auxiliary, **{name: a.tolist() for name, a in arrays.items()})
    assert_close(evaluate(program, arrays)["x"], want, 1e-13)


def test_batches_and_copies(rng: np.random.Generator) -> None:
    system = random_system(rng, 6)
    auxiliary = random_auxiliary(system, rng, 3)
    mass, jacobian = random_blocks(system, rng, (4,))
    factor = bough.maximal.ldlt(system, mass, jacobian)
    free = factor.solve(rng.normal(size=(4, system.nv + system.nc)))
    J, c = rng.normal(size=auxiliary.jacobian_size), rng.normal(size=auxiliary.nc)
    f = rng.normal(size=(4, auxiliary.nc))
    together = bough.maximal.anticipate(factor, free, pickle.loads(pickle.dumps(auxiliary)), J, c)
    for k in range(4):
        one = bough.maximal.anticipate(bough.maximal.ldlt(system, mass[k], jacobian[k]), free[k], auxiliary, J, c)
        np.testing.assert_array_equal(together.A[k], one.A)
        np.testing.assert_array_equal(together.b[k], one.b)
        np.testing.assert_array_equal(together.motion(f)[0][k], one.motion(f[k])[0])


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("workless", [True, False])
def test_calls_straight_from_python(workless: bool, rng: np.random.Generator) -> None:
    """From the second call on, one state goes straight to machine code: what it gives is what a batch gives."""
    system = bough.maximal.System([3, 6, 2], [(0, 1, 2), (1, 2, 3), (2, 3, 1)])
    auxiliary = bough.maximal.Auxiliary(system, [((1, 3), 2), ((2,), 1)])
    mass, jacobian = random_blocks(system, rng, (3,))
    J, K = rng.normal(size=(2, 3, auxiliary.jacobian_size))
    b, c, f = (rng.normal(size=(3, n)) for n in (system.nv + system.nc, auxiliary.nc, auxiliary.nc))

    def answers(*place: int) -> list[Floats]:
        factor = bough.maximal.ldlt(system, mass[place], jacobian[place])
        acting = None if workless else K[place]
        problem = bough.maximal.anticipate(factor, factor.solve(b[place]), auxiliary, J[place], c[place], acting)
        return [problem.A, problem.b, *problem.motion(f[place])]

    together = answers()
    for k in (0, 1, 2, 0):
        for got, want in zip(answers(k), together, strict=True):
            assert_close(got, want[k], 1e-12)
    factor, bad = bough.maximal.ldlt(system, mass[0], jacobian[0]), np.array([0.0, np.nan, 0.0])
    with pytest.raises(bough.errors.FiniteError, match=r"c\[1\] is nan"):
        bough.maximal.anticipate(factor, b[0], auxiliary, J[0], bad)


def test_rows_cost_what_lies_between_them_and_the_root() -> None:
    """In a star of chains a row costs its own chain alone; along a chain the cost of a row is linear in its length."""

    def operations(system: bough.maximal.System, bodies: list[int]) -> int:
        auxiliary = bough.maximal.Auxiliary(system, [((body,), 1) for body in bodies])
        tally = Tally()
        F, free, J, c = (
            [Counted(tally) for _ in range(n)]
            for n in (system.factor_size, system.nv + system.nc, auxiliary.jacobian_size, auxiliary.nc)
        )
        anticipated(auxiliary, F, free, J, c)
        return tally.count.mul + tally.count.add + tally.count.div

    lengths = [operations(bough.maximal.System([6] * n, [(i, i + 1, 3) for i in range(n)]), [n]) for n in (10, 20, 30)]
    assert lengths[2] - lengths[1] == lengths[1] - lengths[0] > 0
    chains = [(0 if i % 10 == 0 else i, i + 1, 3) for i in range(50)]
    star = bough.maximal.System([6] * 50, chains)
    assert operations(star, [10]) == lengths[0]
    assert operations(star, [10, 20, 30, 40, 50]) == 5 * lengths[0]  # they never meet


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ([((3,), 1)], r"auxiliary constraint 0 is on bodies \(3,\), expected different bodies of 1 … 2"),
        ([((1,), 1), ((1, 1), 1)], r"auxiliary constraint 1 is on bodies \(1, 1\), expected different"),
        ([((1,), -1)], "auxiliary constraint 0 has -1 rows, expected 0 or more"),
        ([((1.5,), 1)], "auxiliary constraint 0 is .* expected numbers of bodies and a number of rows"),
        ([3], "auxiliary constraint 0 is 3, expected numbers of bodies and a number of rows"),
    ],
)
def test_bad_constraints_are_named(constraints: list[object], message: str) -> None:
    with pytest.raises(bough.errors.ModelError, match=message):
        bough.maximal.Auxiliary(bough.maximal.System([3, 3], []), constraints)  # type: ignore[arg-type]


def test_bad_arrays_are_named(rng: np.random.Generator) -> None:
    system = bough.maximal.System([3, 3], [(1, 2, 2)])
    auxiliary = bough.maximal.Auxiliary(system, [((1, 2), 2)])
    factor = bough.maximal.ldlt(system, *random_blocks(system, rng))
    free, J, c = np.zeros(8), np.zeros(12), np.zeros(2)
    with pytest.raises(bough.errors.ShapeError, match=r"jacobian has shape \(11,\), expected \(..., 12\)"):
        bough.maximal.anticipate(factor, free, auxiliary, J[1:], c)
    with pytest.raises(bough.errors.FiniteError, match=r"free\[0\] is nan"):
        bough.maximal.anticipate(factor, free * np.nan, auxiliary, J, c)
    with pytest.raises(
        bough.errors.ShapeError, match=r"f has shape \(3,\), expected \(..., 2\): one force for each row"
    ):
        bough.maximal.anticipate(factor, free, auxiliary, J, c).motion(np.zeros(3))
    other = bough.maximal.Auxiliary(bough.maximal.System([3, 3], []), [((1, 2), 2)])
    with pytest.raises(
        bough.errors.ModelError, match=r"the factor is of .* expected that of the auxiliary constraints"
    ):
        bough.maximal.anticipate(factor, free, other, J, c)
    with pytest.raises(bough.errors.ModelError, match=r"got ndarray, expected a bough\.SystemFactor"):
        bough.maximal.anticipate(free, free, auxiliary, J, c)  # type: ignore[arg-type]


def test_many_rows_on_a_chain_take_less_than_as_many_solutions() -> None:
    """As in the paper, in which each row takes one; and the matrix is that of products of half solutions."""
    n, k = 40, 40
    system = bough.maximal.System([3] * n, [(i, i + 1, 2) for i in range(n)])
    rng = np.random.default_rng(0)
    rows = bough.maximal.Auxiliary(system, [((int(body),), 1) for body in rng.integers(1, n + 1, k)])
    sizes = (system.factor_size, system.nv + system.nc, rows.jacobian_size, rows.nc)

    def counted(rule: Any, *sizes: int) -> int:
        tally = Tally()
        rule(*([Counted(tally) for _ in range(size)] for size in sizes))
        return tally.count.total

    assert rows.visits.takes_solutions
    solution = counted(partial(lagrange.solve, system), *sizes[:2])
    assert counted(partial(anticipated, rows), *sizes) < k * solution

    blocks, jacobian = rng.normal(size=(n, 3, 3)), rng.normal(size=system.jacobian_size)
    mass = (blocks @ np.swapaxes(blocks, 1, 2) + np.eye(3)).ravel()
    own, other, b = rng.normal(size=rows.jacobian_size), rng.normal(size=rows.jacobian_size), rng.normal(size=sizes[1])
    factor = bough.maximal.ldlt(system, mass, jacobian)
    for directions in (None, other):
        found = bough.maximal.anticipate(factor, factor.solve(b), rows, own, np.zeros(k), directions)
        answers = factor.solve(in_full(rows, own if directions is None else other).T)
        assert_close(found.A, in_full(rows, own) @ answers, 1e-11, axes=2)
