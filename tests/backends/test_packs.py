"""Limbs in the lanes of vectors: the same bits as one operation after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bough
from bough.backends import Column, Limbs, Place
from bough.backends.limbs import packs
from bough.kernel.columns import tree_columns
from bough.kernel.factor_functions import dense_factorizer, factorizer
from bough.kernel.functions import mechanism, program
from bough.kernel.limbs import limbs
from bough.kernel.specs import Options
from bough.kernel.treematrix import places
from bough.program import VERDICT, Apply, Program, fuse, simplify, trace
from bough.scalar import maximum, select, sin, sqrt
from compiled import Compiled

LIMBS, EACH, TRUNK = 5, 3, 4  # limbs, entries of each, entries of the trunk
ROWS, COLUMNS = 5, 6
ALGORITHMS = {"rnea": ("q", "v", "a"), "aba": ("q", "v", "tau"), "crba": ("q",)}


def legged(legs: int, mirrored: bool = True) -> bough.Model:
    """A body with legs at its corners, left and right ones mirrored, and a tail."""
    builder = bough.Builder("legged")
    builder.add("trunk", bough.joints.Free(), mass=20.0, com=(0.01, 0.02, 0.0), inertia=(0.3, 0.9, 1.0))
    builder.add(
        "tail", bough.joints.Revolute("y"), "trunk", at=(-0.4, 0, 0), mass=0.2, com=(-0.1, 0, 0), inertia=[0.01] * 3
    )
    for leg in range(legs):
        side = (-1) ** leg if mirrored else 1
        at, parent = np.array((0.3 - 0.2 * leg, 0.15 * side, 0.0)), "trunk"
        for k, axis in enumerate("xyy"):
            name = f"{leg} {k}"
            J = np.diag((0.02, 0.03, 0.02)) + 1e-3 * side * np.array(((0, 1, 0), (1, 0, 2), (0, 2, 0)))
            com = np.array((0.02, 0.05 * side, -0.1))
            builder.add(name, bough.joints.Revolute(axis), parent, at=at, mass=1.0 + k, com=com, inertia=J)
            at, parent = np.array((0.0, 0.04 * side, -0.3)), name
    return builder.build()


def outputs_of(compiled: Program, hints: Limbs | None, x: dict[str, Any], dtype: type) -> dict[str, Any]:
    """Results state by state."""
    kernel = Compiled(compiled, hints)
    states = len(next(iter(x.values())))
    y = {b.name: np.zeros((states, b.size), dtype) for b in compiled.of_role("output")}
    for k in range(states):
        kernel({name: a[k : k + 1] for name, a in x.items()}, {name: a[k : k + 1] for name, a in y.items()})
    return y


def assert_same_bits(a: dict[str, Any], b: dict[str, Any]) -> None:
    for name in a:
        np.testing.assert_array_equal(a[name], b[name])
        numbers = ~np.isnan(a[name])
        np.testing.assert_array_equal(np.signbit(a[name][numbers]), np.signbit(b[name][numbers]))


@pytest.mark.parametrize(
    ("legs", "mirrored", "algorithm", "dtype"),
    [
        (2, True, "crba", np.float64),
        (2, True, "rnea", np.float32),
        (3, False, "rnea", np.float64),
        (4, True, "aba", np.float64),
        (4, True, "aba", np.float32),
        (5, True, "rnea", np.float64),
        (5, True, "crba", np.float32),
    ],
)
def test_legs_in_lanes(legs: int, mirrored: bool, algorithm: str, dtype: type) -> None:
    model = legged(legs, mirrored=mirrored)
    inputs = ALGORITHMS[algorithm]
    compiled = program(model, algorithm, Options(), inputs)
    hints = limbs(model, mechanism(model), inputs)
    packed = packs.pack(fuse(compiled), hints, 4)
    assert packed.widths, "nothing was packed"
    assert set(packed.widths.values()) == {2 if legs == 2 else 4}
    rng = np.random.default_rng(0)
    x = {name: rng.normal(size=(4, model.nv)).astype(dtype) for name in inputs}
    x["q"] = bough.random(model, rng, size=4).astype(dtype)
    assert_same_bits(outputs_of(compiled, hints, x, dtype), outputs_of(compiled, None, x, dtype))


def test_one_state_and_a_batch_agree(rng: np.random.Generator) -> None:
    model = legged(4)
    q, v = bough.random(model, rng, size=5), rng.normal(size=(5, model.nv))
    bough.set_backend("llvm")
    try:
        whole = bough.aba(model, q, v, v)
        for k in range(5):
            np.testing.assert_array_equal(bough.aba(model, q[k], v[k], v[k]), whole[k])
    finally:
        bough.set_backend(None)


def test_most_of_a_leg_is_packed() -> None:
    """Four legs take little more than one does."""
    counts = {}
    for legs in (1, 4):
        model = legged(legs)
        hints = limbs(model, mechanism(model), ALGORITHMS["rnea"])
        packed = packs.pack(fuse(program(model, "rnea", Options(), ALGORITHMS["rnea"])), hints, 4)
        counts[legs] = sum(isinstance(x, Apply) and x.op not in ("pack", "lane", "flip") for x in packed.program.body)
    assert counts[4] < 1.4 * counts[1]


def test_where_it_does_not_pay_nothing_is_packed() -> None:
    """Placements are hardly more than stores."""
    model = legged(2)
    compiled = fuse(program(model, "placements", Options(), ("q",)))
    packed = packs.pack(compiled, limbs(model, mechanism(model), ("q",)), 4)
    assert packed.program is compiled
    assert not packed.widths


def test_a_program_with_loops_is_left_alone() -> None:
    model = legged(4)
    rolled = program(model, "rnea", Options(), ALGORITHMS["rnea"], rolled=True)
    hints = limbs(model, mechanism(model), ALGORITHMS["rnea"])
    assert packs.pack(rolled, hints, 4).program is rolled


def random_function(seed: int, steps: int) -> Callable[..., dict[str, Any]]:
    """Operations on limbs and a trunk, mostly the same in all limbs but for constants, signs and exceptions."""
    rng = np.random.default_rng(seed)

    def constant() -> float:
        return float(rng.choice([0.0, 1.0, -1.0, rng.uniform(-1, 1), rng.uniform(-1, 1)]))

    def run(x: Any) -> dict[str, Any]:
        trunk = [x[k] for k in range(TRUNK)]
        own = [[x[TRUNK + EACH * limb + k] for k in range(EACH)] for limb in range(LIMBS)]
        for _ in range(steps):
            i, j, t, kind = rng.integers(len(own[0])), rng.integers(len(own[0])), rng.integers(len(trunk)), rng.random()
            c = [constant() for _ in range(LIMBS)]
            odd = rng.integers(LIMBS) if rng.random() < 0.1 else -1  # a limb unlike the others
            for limb, values in enumerate(own):
                a, b = values[i], values[j] if limb != odd else values[i]
                if kind < 0.4:
                    values.append(a * c[limb] + b * trunk[t])
                elif kind < 0.6:
                    values.append(a * b - c[limb] * a)
                elif kind < 0.7:
                    values.append((trunk[t] * c[limb] + trunk[t - 1]) * a - b)
                elif kind < 0.75:
                    values.append(sin(a) * b / (1.5 + a * a))
                elif kind < 0.8:
                    values.append(select(a < b, a, sqrt(1.0 + b * b)))
                elif kind < 0.9:  # back to the trunk, one after the other
                    trunk[t] = trunk[t] * 0.5 + a * 0.1 * c[limb]
                else:  # into the next limb
                    own[limb - 1].append(a * 0.5 - own[limb - 1][j])
            shortest = min(len(values) for values in own)
            own = [values[-min(shortest, 12) :] for values in own]
        return {"y": [value for values in own for value in values[-3:]] + trunk}

    return run


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), steps=st.integers(1, 60), width=st.sampled_from([2, 4]))
def test_any_limbs(seed: int, steps: int, width: int) -> None:
    size = TRUNK + LIMBS * EACH
    compiled = simplify(trace("random", random_function(seed, steps), {"x": size}))
    rng = np.random.default_rng(seed)
    found: list[Place | None] = [None] * TRUNK
    found += [Place(0, limb, k) for limb in range(LIMBS) for k in range(EACH)]
    if rng.random() < 0.3:  # hints that make no sense
        found = [found[k] for k in rng.permutation(size)]
    x = {"x": rng.uniform(-1, 1, (3, size))}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packs, "WORTH", np.inf)
        packed = packs.pack(fuse(compiled), {"x": found}, width)
        assert set(packed.widths.values()) <= {2, width}
        got = outputs_of(compiled, {"x": found}, x, np.float64)
    assert_same_bits(got, outputs_of(compiled, None, x, np.float64))


# ---- columns ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("make", "name"), [(factorizer, "packed"), (dense_factorizer, "H")])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_columns_of_a_factor_in_lanes(make: Any, name: str, dtype: type) -> None:
    model = legged(2)
    tree = model.dof_tree
    compiled = make(tree, ("", "ltdl")).program(judged=True)
    hints = tree_columns(tree, [name])
    packed = packs.pack(fuse(compiled), hints, 4)
    done = [packed.widths.get(x.result, 1) for x in packed.program.body if isinstance(x, Apply) and x.op == "fma"]
    assert sum(done) - done.count(1) > 5 * done.count(1), "most of it is done in vectors"
    H = bough.crba(model, bough.random(model, np.random.default_rng(0), size=4)).astype(dtype)
    x = {name: H.reshape(4, -1) if name == "H" else H[(..., *places(tree))]}
    one_by_one = outputs_of(compiled, None, x, dtype)
    assert not one_by_one[VERDICT].any()
    assert_same_bits(outputs_of(compiled, hints, x, dtype), one_by_one)


@pytest.mark.parametrize("smallest", [5e-324, np.nan])
def test_every_entry_of_a_dense_matrix_is_looked_at(smallest: float) -> None:
    """The least that can be wrong with a single entry off the diagonal is seen, wherever it is."""
    tree = legged(2).dof_tree
    n, compiled = tree.n, dense_factorizer(tree, ("", "ltdl")).program(judged=True)
    H = np.tile(np.eye(n).ravel(), (n * n, 1)) + smallest * np.eye(n * n)
    verdicts = outputs_of(compiled, tree_columns(tree, ["H"]), {"H": H}, np.float64)[VERDICT][:, 0]
    np.testing.assert_array_equal(verdicts != 0, ~np.eye(n, dtype=bool).ravel() | np.isnan(smallest))


def random_rows(seed: int, steps: int) -> Callable[..., dict[str, Any]]:
    """Operations on rows of a matrix, mostly the same in all columns but for some that are left out."""
    rng = np.random.default_rng(seed)

    def run(x: Any) -> dict[str, Any]:
        rows = [[x[i * COLUMNS + j] for j in range(COLUMNS)] for i in range(ROWS)]
        for _ in range(steps):
            i, k, c, kind = rng.integers(ROWS), rng.integers(ROWS), rng.integers(COLUMNS), rng.random()
            factor, until = rows[k][c], rng.integers(COLUMNS) if rng.random() < 0.3 else COLUMNS
            for j in range(until):
                a, b = rows[i][j], rows[k][j]
                if kind < 0.4:
                    rows[i][j] = a - b * factor
                elif kind < 0.5:
                    rows[i][j] = a * factor
                elif kind < 0.6:
                    rows[i][j] = a / (2.0 + factor * factor)
                elif kind < 0.7:
                    rows[i][j] = maximum(b, -a)
                elif kind < 0.8:
                    rows[i][j] = a * b + 0.25
                elif kind < 0.9:
                    rows[i][j] = sqrt(a * a + 1.0) - b
                else:  # from column to column
                    rows[i][j] = a + rows[i][j - 1] * 0.5
        return {"y": [value for row in rows for value in row]}

    return run


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), steps=st.integers(1, 40), width=st.sampled_from([2, 4]))
def test_any_columns(seed: int, steps: int, width: int) -> None:
    size = ROWS * COLUMNS
    compiled = simplify(trace("random", random_rows(seed, steps), {"x": size}))
    rng = np.random.default_rng(seed)
    entries: list[Place | None] = [Column(0, j, i) for i in range(ROWS) for j in range(COLUMNS)]
    if rng.random() < 0.3:  # hints that make no sense
        entries = [entries[k] for k in rng.integers(size, size=size)]
    x = {"x": rng.uniform(-1, 1, (3, size))}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packs, "WORTH", np.inf)
        packed = packs.pack(fuse(compiled), {"x": entries}, width)
        assert set(packed.widths.values()) <= {1, 2, width}
        got = outputs_of(compiled, {"x": entries}, x, np.float64)
    assert_same_bits(got, outputs_of(compiled, None, x, np.float64))
