"""Entries of blocks that are known beforehand: left out of arrays and of the work, with the same answers."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import bough
from bough import lagrange
from bough.kernel.compile import build
from bough.program import evaluate
from bough.scalar import Counted, Tally
from closeness import assert_close
from systems import random_blocks, random_system

Array = NDArray[np.float64]
seeds = st.integers(0, 2**32 - 1)

OPEN = np.nan
DIAGONAL = np.where(np.eye(6), OPEN, 0.0)
CROSS = np.array([[0.0, OPEN, OPEN], [OPEN, 0.0, OPEN], [OPEN, OPEN, 0.0]])
BALL = (np.hstack([-np.eye(3), CROSS]), np.hstack([np.eye(3), CROSS]))
EDGES = [(1, 2, 3), (3, 2, 3), (0, 3, 3), (3, 4, 3)]


def partly_known(
    system: bough.maximal.System, mass: Array, jacobian: Array, rng: np.random.Generator
) -> tuple[bough.maximal.System, Array, Array]:
    """The same system and numbers, with a random part of the entries told to the system instead."""
    masses: list[Array] = []
    pairs: list[list[Array]] = []
    left: tuple[list[Array], list[Array]] = ([], [])
    for d, start in zip(system.bodies, system.mass_starts, strict=False):
        block = mass[start : start + d * d].reshape(d, d)
        hidden = np.tril(rng.random((d, d)) < 0.5)
        hidden |= hidden.T
        masses.append(np.where(hidden, OPEN, block))
        left[0].append(block[hidden])
    for k, (a, b, p) in enumerate(system.constraints):
        pairs.append([])
        for side, body in enumerate((a, b)):
            span = slice(*system.jacobian_starts[2 * k + side : 2 * k + side + 2])
            block = jacobian[span].reshape(p, system.bodies[body - 1] if body else 0)
            hidden = rng.random(block.shape) < 0.5
            pairs[-1].append(np.where(hidden, OPEN, block))
            left[1].append(block[hidden])
    known = bough.maximal.System(system.bodies, system.constraints, mass=masses, jacobian=pairs)
    return known, *(np.concatenate([np.zeros(0), *parts]) for parts in left)


@given(st.integers(0, 7), seeds)
def test_answers_are_those_of_whole_blocks(bodies: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    system = random_system(rng, bodies)
    mass, jacobian = random_blocks(system, rng)
    jacobian[rng.random(jacobian.size) < 0.1] = 0.0
    jacobian += np.sign(jacobian)  # constraints keep their rank, mostly
    force, c, compliance = rng.normal(size=system.nv), rng.normal(size=system.nc), np.full(system.nc, 0.1)
    want = bough.maximal.multipliers(system, mass, jacobian, force, c, compliance)
    known, few_masses, few = partly_known(system, mass, jacobian, rng)
    assert (few_masses.size, few.size) == (known.mass_size, known.jacobian_size)
    for got, wanted in zip(bough.maximal.multipliers(known, few_masses, few, force, c, compliance), want, strict=True):
        assert_close(got, wanted, 1e-9)
    b = np.concatenate([force, c])
    assert_close(bough.maximal.ldlt(known, few_masses, few, compliance).solve(b), np.concatenate(want), 1e-9)


def ball_jointed(
    rng: np.random.Generator, batch: tuple[int, ...] = ()
) -> tuple[bough.maximal.System, dict[str, Array]]:
    system = bough.maximal.System([6] * 4, EDGES, mass=DIAGONAL, jacobian=BALL)
    numbers = {"mass": rng.uniform(1.0, 2.0, (*batch, system.mass_size))}
    sizes = {"jacobian": system.jacobian_size, "force": system.nv, "c": system.nc}
    return system, numbers | {name: rng.normal(size=(*batch, size)) for name, size in sizes.items()}


def whole(system: bough.maximal.System, numbers: dict[str, Array]) -> tuple[bough.maximal.System, dict[str, Array]]:
    """The same with whole blocks."""
    blocks, place = [], 0
    for a, b, _ in EDGES:
        for body, known in zip((a, b), BALL, strict=True):
            if body:
                block = known.copy()
                block[np.isnan(known)] = numbers["jacobian"][place : place + 6]
                blocks.append(block.ravel())
                place += 6
    mass = (numbers["mass"].reshape(-1, 6, 1) * np.eye(6)).ravel()
    return bough.maximal.System(system.bodies, EDGES), numbers | {"mass": mass, "jacobian": np.concatenate(blocks)}


def test_one_block_for_all(rng: np.random.Generator) -> None:
    """The world has no block, and constraints may name their bodies in either order."""
    system, numbers = ball_jointed(rng)
    assert (system.mass_size, system.jacobian_size) == (4 * 6, 7 * 6)
    plain, all_of_them = whole(system, numbers)
    for got, want in zip(
        bough.maximal.multipliers(system, *numbers.values()),
        bough.maximal.multipliers(plain, *all_of_them.values()),
        strict=True,
    ):
        assert_close(got, want, 1e-12)


def said_outright(
    rng: np.random.Generator, bodies: int
) -> tuple[bough.maximal.System, bough.maximal.System, Array, Array, Array]:
    """Constraints that have a column of ±1 for each row, in either body or both, and the same with nothing known."""
    system = random_system(rng, bodies)
    mass, _ = random_blocks(system, rng)
    sizes, pairs, left, every = (0, *system.bodies), [], [np.zeros(0)], [np.zeros(0)]
    for a, b, p in system.constraints:
        pair = []
        for d in (sizes[a], sizes[b]):
            known, block = np.full((p, d), OPEN), rng.normal(size=(p, d))
            if d >= p:
                places, rows = rng.choice(d, size=p, replace=False), np.arange(p)
                known[:, places] = 0.0
                known[rows, places] = rng.choice([-1.0, 1.0], size=p)
                known[:, [k for k in range(d) if k not in places and rng.random() < 0.3]] = 0.0
            block = np.where(np.isnan(known), block, known)
            pair.append(known)
            left.append(block[np.isnan(known)])
            every.append(block.ravel())
        pairs.append(pair)
    told = bough.maximal.System(system.bodies, system.constraints, jacobian=pairs)
    return told, system, mass, np.concatenate(left), np.concatenate(every)


@given(st.integers(1, 7), seeds, st.booleans())
def test_coordinates_that_constraints_say_outright(bodies: int, seed: int, compliant: bool) -> None:
    rng = np.random.default_rng(seed)
    told, system, mass, few, every = said_outright(rng, bodies)
    assert all(told.record(k, 0).leading for k, kind in enumerate(told.kind_list) if kind.p)
    b = rng.normal(size=system.nv + system.nc)
    compliance = np.full(system.nc, 0.1) if compliant else None
    want = bough.maximal.multipliers(system, mass, every, b[: system.nv], b[system.nv :], compliance)
    got = bough.maximal.multipliers(told, mass, few, b[: system.nv], b[system.nv :], compliance)
    assert_close(np.concatenate(got), np.concatenate(want), 1e-8)
    assert_close(bough.maximal.ldlt(told, mass, few, compliance).solve(b), np.concatenate(want), 1e-8)


@pytest.mark.parametrize("k", range(6))
def test_a_mass_that_is_not_positive_is_found(k: int, rng: np.random.Generator) -> None:
    """Of coordinates that a constraint says outright as well, though nothing is divided by their pivots."""
    system, numbers = ball_jointed(rng)
    numbers["mass"][6 + k] = -40.0  # more than what hangs on body 2
    with pytest.raises(bough.errors.SingularError, match="body 2: the mass block"):
        bough.maximal.multipliers(system, *numbers.values())


@pytest.mark.parametrize("rolled", [False, True])
def test_programs_agree_with_the_algorithm(rolled: bool, rng: np.random.Generator) -> None:
    system, numbers = ball_jointed(rng)
    sizes = {name: a.size for name, a in numbers.items()}
    program = build("x", lambda **x: {"x": lagrange.multipliers(system, **x)[0]}, sizes, 1, rolled=rolled)
    want, _ = lagrange.multipliers(system, *(a.tolist() for a in numbers.values()))
    assert_close(evaluate(program, numbers)["x"], want, 1e-12)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("n", [1, 3, 19])
def test_machine_code_in_batches(n: int, rng: np.random.Generator) -> None:
    system, numbers = ball_jointed(rng, (n,))
    a, lam = bough.maximal.multipliers(system, *numbers.values())
    for k in range(n):
        plain, one = whole(system, {name: x[k] for name, x in numbers.items()})
        want = bough.maximal.multipliers(plain, *one.values())
        assert_close(a[k], want[0], 1e-11)
        assert_close(lam[k], want[1], 1e-11)


def test_what_is_known_saves_work() -> None:
    def operations(system: bough.maximal.System) -> int:
        tally = Tally()
        arrays = [[Counted(tally) for _ in range(n)] for n in (system.mass_size, system.jacobian_size)]
        lagrange.factor(system, *arrays)
        return tally.count.mul + tally.count.add + tally.count.div

    edges = [(k, k + 1, 3) for k in range(1, 10)]
    all_of_it = operations(bough.maximal.System([6] * 10, edges))
    assert operations(bough.maximal.System([6] * 10, edges, jacobian=BALL)) < 0.85 * all_of_it
    assert operations(bough.maximal.System([6] * 10, edges, mass=DIAGONAL, jacobian=BALL)) < 0.8 * all_of_it


def test_systems_that_know_different_things_are_different() -> None:
    systems = [
        bough.maximal.System([6, 6], [(1, 2, 3)]),
        bough.maximal.System([6, 6], [(1, 2, 3)], mass=DIAGONAL),
        bough.maximal.System([6, 6], [(1, 2, 3)], jacobian=BALL),
        bough.maximal.System([6, 6], [(1, 2, 3)], jacobian=BALL[::-1]),
        bough.maximal.System([6, 6], [(1, 2, 3)], mass=[DIAGONAL, np.eye(6)]),
        bough.maximal.System([6, 6], [(1, 2, 3)], mass=[np.eye(6), DIAGONAL]),
    ]
    assert len(set(systems)) == len(systems)
    for system in systems:
        again = pickle.loads(pickle.dumps(system))
        assert again == system
        assert again.tables["own"].data.tolist() == system.tables["own"].data.tolist()
    assert bough.maximal.System([6, 6], [(1, 2, 3)], mass=np.full((6, 6), OPEN)) == systems[0]
    assert bough.maximal.System([6, 6], [(1, 2, 3)], mass=-DIAGONAL) == systems[1]  # zeros have no sign


def test_what_is_known_in_full() -> None:
    """A system of which all is known takes empty arrays."""
    system = bough.maximal.System([1, 1], [(1, 2, 1)], mass=[[2.0]], jacobian=([[1.0]], [[-1.0]]))
    a, lam = bough.maximal.multipliers(system, [], [], [3.0, 1.0], [0.0])
    np.testing.assert_allclose(a, [1.0, 1.0])
    np.testing.assert_allclose(lam, [-1.0])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"mass": np.eye(5)}, r"known block of M of body 1 has shape \(5, 5\), expected \(6, 6\)"),
        ({"mass": [DIAGONAL] * 3}, "there are 3 known blocks of M, expected 2, one for each of the bodies"),
        ({"mass": DIAGONAL + np.diag(np.ones(5), 1)}, "known block of M of body 1 is not symmetric"),
        ({"mass": [DIAGONAL, np.full((6, 6), np.inf)]}, "body 2 .* expected finite numbers, or NaN"),
        ({"mass": "diagonal"}, "there are 8 known blocks of M, expected 2"),
        ({"jacobian": BALL[:1]}, "there are 1 pairs of known blocks of J, expected 2"),
        ({"jacobian": [BALL, BALL[:1]]}, "there are 1 known blocks of constraint 1, expected 2"),
        ({"jacobian": (BALL[0][:2], BALL[1])}, r"J of constraint 0 for body 1 has shape \(2, 6\), expected \(3, 6\)"),
        ({"jacobian": 3.0}, "there are 0 pairs of known blocks of J, expected 2"),
    ],
)
def test_what_is_said_wrongly(given: dict[str, Any], message: str) -> None:
    with pytest.raises(bough.errors.ModelError, match=message):
        bough.maximal.System([6, 6], [(1, 2, 3), (0, 1, 3)], **given)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("name", ["mass", "jacobian", "force", "c"])
@pytest.mark.parametrize("batch", [(), (9,)])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_every_number_that_is_not_finite_is_found(
    name: str, batch: tuple[int, ...], bad: float, rng: np.random.Generator
) -> None:
    """Machine code does not look at the arguments: its pivots and its solution tell."""
    system = bough.maximal.System([2, 3, 1], [(0, 1, 1), (1, 2, 2), (1, 3, 1)])
    mass, jacobian = random_blocks(system, rng, batch)
    numbers = {"mass": mass, "jacobian": jacobian}
    numbers |= {"force": rng.normal(size=(*batch, system.nv)), "c": rng.normal(size=(*batch, system.nc))}
    assert all(np.isfinite(x).all() for x in bough.maximal.multipliers(system, *numbers.values()))
    for k in range(numbers[name].shape[-1]):
        changed = numbers | {name: numbers[name].copy()}
        changed[name][(7, k) if batch else k] = bad
        if name == "mass" and not system.mass_read[k]:
            for got, want in zip(
                bough.maximal.multipliers(system, *changed.values()),
                bough.maximal.multipliers(system, *numbers.values()),
                strict=True,
            ):
                np.testing.assert_array_equal(got, want)
            continue
        where = rf"{name}\[{'7, ' if batch else ''}{k}\] is {bad}, expected finite numbers"
        with pytest.raises(bough.errors.FiniteError, match=where):
            bough.maximal.multipliers(system, *changed.values())
        if name in ("mass", "jacobian"):
            with pytest.raises(bough.errors.FiniteError, match=where):
                bough.maximal.ldlt(system, changed["mass"], changed["jacobian"])
