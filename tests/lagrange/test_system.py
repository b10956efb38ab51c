"""Systems in maximal coordinates: the linear-time solution against dense matrices, its order, its cost, its errors."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bough
from bough import lagrange
from bough.kernel.compile import build
from bough.program import evaluate
from bough.scalar import Count, Counted, Tally
from closeness import assert_close
from systems import dense, random_blocks, random_system

seeds = st.integers(0, 2**32 - 1)


# --- against dense matrices ---


@given(st.integers(0, 8), seeds, st.booleans())
def test_solution_is_that_of_the_dense_matrix(bodies: int, seed: int, compliant: bool) -> None:
    rng = np.random.default_rng(seed)
    system = random_system(rng, bodies)
    mass, jacobian = random_blocks(system, rng)
    force, c = rng.normal(size=system.nv), rng.normal(size=system.nc)
    compliance = rng.uniform(0.0, 2.0, size=system.nc) if compliant else None
    arrays = [x if x is None else x.tolist() for x in (mass, jacobian, force, c, compliance)]
    x, _ = lagrange.multipliers(system, *arrays)
    H, b = dense(system, mass, jacobian, compliance), np.concatenate([force, c])
    assert_close(H @ x, b, 1e-12, scale=np.abs(H).max(initial=0.0) * np.abs(x).max(initial=0.0))
    assert_close(x, np.linalg.solve(H, b), 1e-9)


@pytest.mark.parametrize("bodies", [1, 2, 5])
def test_factor_once_solve_many(bodies: int, rng: np.random.Generator) -> None:
    system = random_system(rng, bodies)
    mass, jacobian = random_blocks(system, rng, (3,))
    b = rng.normal(size=(3, system.nv + system.nc, 4))
    compliance = np.full(system.nc, 0.1)
    factor = bough.maximal.ldlt(system, mass, jacobian, compliance)
    X = factor.solve(b)
    for k in range(3):
        assert_close(dense(system, mass[k], jacobian[k], compliance) @ X[k], b[k], 1e-10, 2, np.abs(X[k]).max() * 10)
    np.testing.assert_array_equal(X[..., 1], factor.solve(b[..., 1]))
    a, lam = bough.maximal.multipliers(system, mass, jacobian, b[:, : system.nv, 0], b[:, system.nv :, 0], compliance)
    assert_close(np.concatenate([a, lam], axis=-1), X[..., 0], 1e-12)
    again = pickle.loads(pickle.dumps(factor))
    np.testing.assert_array_equal(again.solve(b), X)
    assert again.system == system


def test_bodies_alone_obey_their_forces() -> None:
    system = bough.maximal.System([2, 3], [])
    mass = np.concatenate([[2.0, 0.0, 0.0, 4.0], np.eye(3).ravel() * 5.0])
    a, lam = bough.maximal.multipliers(system, mass, [], np.ones(5), [])
    np.testing.assert_array_equal(a, [0.5, 0.25, 0.2, 0.2, 0.2])
    assert lam.shape == (0,)


def test_a_pendulum_in_maximal_coordinates() -> None:
    """A point on a rod of length 2 from the origin: x·ẍ + ẋ·ẋ = 0; the multiplier times x is the force of the rod."""
    x, v, m, g = np.array([2.0 * 0.6, -2.0 * 0.8]), np.array([0.8, 0.6]) * 1.5, 3.0, np.array([0.0, -9.81])
    system = bough.maximal.System([2], [(0, 1, 1)])
    a, lam = bough.maximal.multipliers(system, (m * np.eye(2)).ravel(), x, m * g, [v @ v])
    along, across = x / 2.0, np.array([0.8, 0.6])
    np.testing.assert_allclose([a @ along, a @ across], [-(v @ v) / 2.0, g @ across], rtol=1e-14)
    np.testing.assert_allclose(lam * 2.0, [-m * (v @ v) / 2.0 - m * (g @ along)], rtol=1e-14)


def test_gears_of_a_given_ratio_and_a_skate() -> None:
    """Constraints on velocities are as good as others: two wheels geared 1 : -2, and a blade that only goes ahead."""
    inertias, torque, ratio = np.array([3.0, 5.0]), 7.0, -2.0
    gears = bough.maximal.System([1, 1], [(1, 2, 1)])
    a, lam = bough.maximal.multipliers(gears, inertias, [ratio, -1.0], [torque, 0.0], [0.0])
    np.testing.assert_allclose(a, torque / (3.0 + ratio**2 * 5.0) * np.array([1.0, ratio]), rtol=1e-14)
    np.testing.assert_allclose(lam * -1.0, 5.0 * a[1], rtol=1e-14)
    # a plate (x, y, angle) at 0.4 rad that glides with 2 m/s and turns with 3 rad/s: across · v = 0, so
    # across · v̇ - (along · v) ω = 0, and nothing changes its speed
    across, speed, turn = np.array([-np.sin(0.4), np.cos(0.4)]), 2.0, 3.0
    skate = bough.maximal.System([3], [(0, 1, 1)])
    a, lam = bough.maximal.multipliers(
        skate, np.diag([2.0, 2.0, 0.1]).ravel(), [*across, 0.0], np.zeros(3), [-speed * turn]
    )
    np.testing.assert_allclose(a, [*(across * speed * turn), 0.0], atol=1e-14)
    np.testing.assert_allclose(lam, [2.0 * speed * turn], rtol=1e-14)


def test_single_precision_and_broadcasting(rng: np.random.Generator) -> None:
    system = bough.maximal.System([6, 3], [(0, 1, 5), (2, 1, 3)])
    mass, jacobian = random_blocks(system, rng)
    force, c = rng.normal(size=(4, 1, system.nv)), rng.normal(size=(5, system.nc))
    a, lam = bough.maximal.multipliers(system, mass, jacobian, force, c)
    assert a.shape == (4, 5, system.nv)
    assert lam.shape == (4, 5, system.nc)
    single = bough.maximal.multipliers(system, *(x.astype(np.float32) for x in (mass, jacobian, force, c)))
    assert {x.dtype for x in single} == {np.dtype(np.float32)}
    assert_close(single[0], a, 1e-2)


@pytest.mark.parametrize("rolled", [False, True])
def test_programs_agree_with_the_algorithm(rolled: bool, rng: np.random.Generator) -> None:
    system = bough.maximal.System([6, 3, 6, 2, 6, 1], [(0, 1, 5), (1, 2, 3), (3, 1, 4), (5, 3, 6), (4, 5, 2)])
    sizes = {"mass": system.mass_size, "jacobian": system.jacobian_size, "force": system.nv, "c": system.nc}
    sides = (rng.normal(size=system.nv), rng.normal(size=system.nc))
    arrays = dict(zip(sizes, (*random_blocks(system, rng), *sides), strict=True))
    program = build("x", lambda **x: {"x": lagrange.multipliers(system, **x)[0]}, sizes, 1, rolled=rolled)
    want, _ = lagrange.multipliers(system, *(a.tolist() for a in arrays.values()))
    assert_close(evaluate(program, arrays)["x"], want, 1e-12)


# --- order and cost ---


@given(st.integers(1, 10), seeds)
def test_the_order_has_no_fill_in(bodies: int, seed: int) -> None:
    """Eliminating in this order joins no two bodies or constraints that were not joined before."""
    rng = np.random.default_rng(seed)
    system = random_system(rng, bodies)
    assert sorted(system.order.tolist()) == list(range(system.nv + system.nc))
    owner = np.repeat(
        np.arange(bodies + len(system.constraints)), [*system.bodies, *(p for _, _, p in system.constraints)]
    )
    near: dict[int, set[int]] = {int(k): set() for k in owner}
    for k, (a, b, p) in enumerate(system.constraints):
        for body in (a, b):
            if body and p:
                near[bodies + k].add(body - 1)
                near[body - 1].add(bodies + k)
    for node in dict.fromkeys(owner[system.order].tolist()):
        later = near.pop(node)
        assert len(later) <= 1
        for other in later:
            near[other].discard(node)


def counted(system: bough.maximal.System) -> tuple[Count, Count]:
    """Operations of the factorisation and of one solution, as written."""
    factoring, solving = Tally(), Tally()
    arrays = [[Counted(factoring) for _ in range(n)] for n in (system.mass_size, system.jacobian_size)]
    lagrange.factor(system, *arrays)
    lagrange.solve(
        system,
        *([Counted(solving) for _ in range(n)] for n in (system.factor_size, system.nv + system.nc)),
    )
    return factoring.count, solving.count


SHAPES = {
    "chain": lambda n: [(i - 1, i, 3) for i in range(1, n + 1)],
    "star": lambda n: [(0, 1, 3), *((1, i, 3) for i in range(2, n + 1))],
    "binary tree": lambda n: [(i // 2, i, 3) for i in range(1, n + 1)],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_cost_grows_by_the_same_number_with_every_four_bodies(shape: str) -> None:
    costs = [counted(bough.maximal.System([6] * n, SHAPES[shape](n))) for n in (7, 15, 31, 63)]
    for which in (0, 1):
        n7, n15, n31, n63 = (cost[which] for cost in costs)
        for field in ("mul", "add", "div"):
            a, b, c, d = (getattr(x, field) for x in (n7, n15, n31, n63))
            assert c - b == 2 * (b - a)
            assert d - c == 4 * (b - a)


def test_factor_costs_a_few_times_a_solution() -> None:
    """Ball joints between rigid bodies. The paper says about four times; symmetric blocks are halved here."""
    factoring, solving = counted(bough.maximal.System([6] * 127, SHAPES["binary tree"](127)))
    work = [x.mul + x.add + x.div for x in (factoring, solving)]
    assert 2.0 < work[0] / work[1] < 4.0


# --- what is refused ---


@pytest.mark.parametrize(
    ("bodies", "constraints", "says"),
    [
        ([6, 6, 6], [(1, 2, 3), (2, 3, 3), (3, 1, 3)], "closes a loop"),
        ([6, 6], [(1, 2, 3), (2, 1, 3)], "closes a loop"),
        ([6, 6], [(0, 1, 3), (1, 2, 3), (2, 0, 3)], "closes a loop"),
        ([6], [(1, 1, 3)], "constraint 0 is between bodies 1 and 1"),
        ([6], [(0, 2, 3)], "constraint 0 is between bodies 0 and 2, expected two different ones of 0 … 1"),
        ([6], [(0, 1, -1)], "dimension -1, expected at least 0"),
        ([6], [(0, 1)], "constraint 0 is .0, 1., expected three whole numbers"),
        ([6], [(0, 1, 2.5)], "expected three whole numbers"),
        ([6, 0], [], "dimensions of bodies"),
        ("66", [], "dimensions of bodies"),
        ([2], [(0, 1, 3)], "constraint 0 between bodies 0 and 1 has dimension 3, and body 1 has only 2"),
        ([2, 6, 2], [(1, 2, 3), (2, 3, 3)], "has dimension 3, and body . has only 2"),
    ],
)
def test_what_is_no_forest_is_refused(bodies: object, constraints: object, says: str) -> None:
    with pytest.raises(bough.errors.ModelError, match=says):
        bough.maximal.System(bodies, constraints)  # type: ignore[arg-type]


def test_small_bodies_are_nearer_to_the_root(rng: np.random.Generator) -> None:
    system = bough.maximal.System([6, 2, 6], [(1, 2, 3), (2, 3, 4)])
    mass, jacobian = random_blocks(system, rng)
    b = rng.normal(size=system.nv + system.nc)
    x = bough.maximal.ldlt(system, mass, jacobian).solve(b)
    assert_close(dense(system, mass, jacobian) @ x, b, 1e-10)


def test_singular_blocks_are_named(rng: np.random.Generator) -> None:
    system = bough.maximal.System([3, 3, 3], [(0, 1, 2), (1, 2, 2), (1, 3, 2)])
    mass, jacobian = random_blocks(system, rng, (2, 2))
    massless = mass.copy()
    massless[1, 0, 18:] = 0.0
    with pytest.raises(bough.errors.SingularError, match=r"system \[1, 0\]: body 3: the mass block has the pivot 0.0"):
        bough.maximal.ldlt(system, massless, jacobian)
    twice = jacobian.copy()
    start = system.jacobian_starts[3]  # the block of body 2 in constraint 1
    twice[0, 1, start + 3 : start + 6] = twice[0, 1, start : start + 3]
    for call in (
        lambda: bough.maximal.ldlt(system, mass, twice),
        lambda: bough.maximal.multipliers(system, mass, twice, *zeros(system)),
    ):
        with pytest.raises(bough.errors.SingularError, match=r"system \[0, 1\]: constraint 1 between bodies 1 and 2"):
            call()


def test_light_bodies_are_not_taken_for_singular(rng: np.random.Generator) -> None:
    """Kilograms and grams in one block: pivots far apart, each compared with its own diagonal."""
    system = bough.maximal.System([2, 2], [(0, 1, 1), (1, 2, 2)])
    mass = np.concatenate([np.diag([1e9, 1e-9]).ravel()] * 2)
    jacobian = np.array([1.0, 0.0, 1.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0, -1.0])
    b = rng.normal(size=system.nv + system.nc)
    x = bough.maximal.ldlt(system, mass, jacobian).solve(b)
    H = dense(system, mass, jacobian)
    assert (np.abs(H @ x - b) <= 1e-14 * (np.abs(H) @ np.abs(x) + np.abs(b))).all()


def zeros(system: bough.maximal.System) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros(system.nv), np.zeros(system.nc)


def test_arguments_are_checked(rng: np.random.Generator) -> None:
    system = bough.maximal.System([3], [(0, 1, 2)])
    mass, jacobian = random_blocks(system, rng)
    with pytest.raises(bough.errors.ShapeError, match=r"mass has shape \(3, 3\), expected \(..., 9\)"):
        bough.maximal.ldlt(system, mass.reshape(3, 3), jacobian)
    with pytest.raises(bough.errors.ShapeError, match="jacobian has shape"):
        bough.maximal.ldlt(system, mass, jacobian[:-1])
    with pytest.raises(bough.errors.FiniteError, match="jacobian"):
        bough.maximal.multipliers(system, mass, jacobian * np.nan, *zeros(system))
    with pytest.raises(bough.errors.ShapeError, match="batch axes do not broadcast"):
        bough.maximal.multipliers(system, np.tile(mass, (2, 1)), np.tile(jacobian, (3, 1)), *zeros(system))
    with pytest.raises(bough.errors.ModelError, match="the system is a list"):
        bough.maximal.ldlt([], mass, jacobian)  # type: ignore[arg-type]


# --- large systems ---


@pytest.mark.parametrize("dimensions", [(6,), (6, 2)])
def test_one_state_and_batches_give_the_same_bits(dimensions: tuple[int, ...], rng: np.random.Generator) -> None:
    """Machine code with loops: batches of any length, and those that do not fill the lanes of a vector."""
    bodies = [dimensions[i % len(dimensions)] for i in range(30)]
    system = bough.maximal.System(bodies, [(i // 3, i, 2) for i in range(1, 31)])
    blocks = [random_blocks(system, rng) for _ in range(19)]
    arrays = [np.array(x) for x in zip(*blocks, strict=True)]
    arrays += [rng.normal(size=(19, n)) for n in (system.nv, system.nc)]
    b = np.concatenate(arrays[2:], axis=1)
    before = bough.get_backend()
    try:
        bough.set_backend("llvm")
        together = np.concatenate(bough.maximal.multipliers(system, *arrays), axis=1)
        solved = bough.maximal.ldlt(system, *arrays[:2]).solve(b)
        for k in range(19):
            one = np.concatenate(bough.maximal.multipliers(system, *(x[k] for x in arrays)))
            np.testing.assert_array_equal(together[k], one)
            np.testing.assert_array_equal(
                solved[k], bough.maximal.ldlt(system, *(x[k] for x in arrays[:2])).solve(b[k])
            )
        arrays[1][17, 5] = np.nan
        with pytest.raises(bough.errors.FiniteError, match=r"jacobian\[17, 5\]"):
            bough.maximal.multipliers(system, *arrays)
        with pytest.raises(bough.errors.FiniteError, match=r"jacobian\[5\]"):
            bough.maximal.multipliers(system, *(x[17] for x in arrays))
    finally:
        bough.set_backend(before)
    assert "_entries" not in vars(system)
    assert_close(together, solved, 1e-9)


def test_twenty_thousand_bodies() -> None:
    """Machine code, in time and memory proportional to the number of bodies."""
    n, rng = 20_000, np.random.default_rng(1)
    system = bough.maximal.System([3] * n, [(i // 2, i, 2) for i in range(1, n + 1)])
    assert system.factor_size <= n * (6 + 6 + 3 + 6)
    mass = np.eye(3) * rng.uniform(0.5, 2.0, size=(n, 1, 1))
    jacobian = rng.normal(size=system.jacobian_size)
    force, c = rng.normal(size=system.nv), rng.normal(size=system.nc)
    before = bough.get_backend()
    try:
        bough.set_backend("llvm")
        a, lam = bough.maximal.multipliers(system, mass.ravel(), jacobian, force, c)
    finally:
        bough.set_backend(before)
    blocks = np.concatenate([np.zeros(6), jacobian]).reshape(n, 2, 2, 3)  # the world has none: body 1 comes after zeros
    bodies = np.concatenate([np.zeros((1, 3)), a.reshape(n, 3)])
    number = np.arange(1, n + 1)
    pull = np.zeros((n + 1, 3))
    for side, body in ((0, number // 2), (1, number)):
        np.add.at(pull, body, np.einsum("npd,np->nd", blocks[:, side], lam.reshape(n, 2)))
    residual = mass[:, :1, 0] * bodies[1:] - pull[1:] - force.reshape(n, 3)
    drift = np.einsum("npd,nd->np", blocks[:, 0], bodies[number // 2]) + np.einsum(
        "npd,nd->np", blocks[:, 1], bodies[1:]
    )
    scale = np.abs(lam).max() + np.abs(a).max()
    assert np.abs(residual).max() <= 1e-11 * scale
    assert np.abs(drift + c.reshape(n, 2)).max() <= 1e-11 * scale


def test_a_negative_compliance_is_named() -> None:
    with pytest.raises(bough.errors.ShapeError, match=r"compliance has the entry -1\.0, expected"):
        bough.maximal.ldlt(bough.maximal.System([1], [(0, 1, 1)]), [1.0], [1.0], compliance=[-1.0])


@pytest.mark.parametrize("constraints", [[(0, 1, 1), (1, 2, 2)], [(0, 2, 1), (2, 1, 2)]], ids=["inner", "outer"])
def test_a_negative_mass_is_refused_whatever_hangs_on_it(constraints: list[tuple[int, int, int]]) -> None:
    system = bough.maximal.System([2, 2], constraints)
    mass = np.concatenate([np.diag([-0.5, -0.5]).ravel(), np.diag([2.0, 2.0]).ravel()])
    jacobian = np.concatenate([[1.0, 0.3], np.eye(2).ravel(), -np.eye(2).ravel()])  # the second one fixes both
    told = r"body 1: the mass block has the eigenvalue -0\.5, expected a positive-definite block"
    with pytest.raises(bough.errors.SingularError, match=told):
        bough.maximal.ldlt(system, mass, jacobian)
    with pytest.raises(bough.errors.SingularError, match=told):
        bough.maximal.multipliers(system, mass, jacobian, np.ones(4), np.zeros(3))
