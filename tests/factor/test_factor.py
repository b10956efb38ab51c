"""Sparse factorisations over scalars: the matrix comes back, nothing fills in, and the work is what the papers say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from bough import factor
from bough.program import count, evaluate, simplify, trace
from bough.scalar import Control, Count, Counted, Tally, activate
from bough.tree import Tree, costs, named
from tree_strategies import trees

Floats = NDArray[np.float64]

FACTORISE: dict[str, Callable[..., Any]] = {
    "ltl": factor.ltl,
    "ltdl": factor.ltdl,
    "udut": factor.udut,
    "uut": factor.uut,
}
PRODUCTS: dict[str, Callable[..., Any]] = {
    name: getattr(factor, name) for name in ("mul_L", "mul_Lt", "solve_L", "solve_Lt", "solve", "mul")
}
NAMED: dict[str, Tree] = {
    "empty": named.chain(0),
    "chain": named.chain(9),
    "star": named.star(5),
    "side branches": named.side_branch_chain(4),
    "longer side branches": named.side_branch_chain(3, 3),
    "balanced": named.balanced_tree(4),
    "ternary": named.balanced_tree(3, 3),
    "grid": named.grid(4),
    "humanoid": named.humanoid().expand(named.HUMANOID_DOFS),
    "humanoid chain": named.humanoid_chain().expand(named.HUMANOID_DOFS),
    "tree 1": Tree((0, 1, 1, 2, 2, 3, 3)),
    "shimanovsky": Tree((0, 1, 2, 3, 2, 4, 5, 7, 5)),
}

close = np.testing.assert_allclose


def size(tree: Tree) -> int:
    return tree.n + tree.D1


def lower(tree: Tree, packed: Any) -> Floats:
    """Packed path rows as a dense lower triangle."""
    L = np.zeros((tree.n, tree.n))
    entries = iter(packed)
    for i in range(1, tree.n + 1):
        for j in tree.path(i):
            L[i - 1, j - 1] = next(entries)
    return L


def packed_of(tree: Tree, H: Floats) -> list[float]:
    return [float(H[i - 1, j - 1]) for i in range(1, tree.n + 1) for j in tree.path(i)]


def random_matrix(tree: Tree, seed: int) -> Floats:
    """A well-conditioned symmetric positive-definite matrix with the tree's sparsity: a sum over the paths."""
    rng = np.random.default_rng(seed)
    H = np.zeros((tree.n, tree.n))
    for i in range(1, tree.n + 1):
        path = np.array(tree.path(i)) - 1
        block = rng.uniform(-1.0, 1.0, (len(path), len(path)))
        H[np.ix_(path, path)] += block @ block.T / len(path)
    return H + np.eye(tree.n)


def factors(kind: str, tree: Tree, packed: Any) -> tuple[Floats, Floats]:
    """L and D as dense matrices."""
    L = lower(tree, packed)
    if kind in ("ltl", "uut"):
        return L, np.eye(tree.n)
    D = np.diag(np.diag(L))
    return L - D + np.eye(tree.n), D


SEEDS = st.integers(0, 2**32 - 1)
KINDS = pytest.mark.parametrize("kind", FACTORISE)
UNIT = pytest.mark.parametrize("unit", [True, False], ids=["unit diagonal", "full diagonal"])  # UDUᵀ is as LTDL here
ON_NAMED = pytest.mark.parametrize("tree", NAMED.values(), ids=NAMED)


# ---- numbers -----------------------------------------------------------------------------------------------------


@KINDS
@given(trees(16), SEEDS)
def test_the_matrix_comes_back(kind: str, tree: Tree, seed: int) -> None:
    H = random_matrix(tree, seed)
    given_values = packed_of(tree, H)
    result = FACTORISE[kind](tree, given_values)
    L, D = factors(kind, tree, result)
    close(L.T @ D @ L, H, rtol=0, atol=1e-13 * tree.n)
    assert given_values == packed_of(tree, H)  # what was given is left alone


@KINDS
@given(trees(16), SEEDS)
def test_no_fill_in(kind: str, tree: Tree, seed: int) -> None:
    """The dense factor, found by a Cholesky factorisation from the last row to the first, has the same sparsity."""
    H = random_matrix(tree, seed)
    cholesky = np.linalg.cholesky(H[::-1, ::-1])[::-1, ::-1].T  # H = Lᵀ L with this lower-triangular L
    assert not cholesky[~tree.pattern()].any()
    L, D = factors(kind, tree, FACTORISE[kind](tree, packed_of(tree, H)))
    close(np.sqrt(D) @ L, cholesky, rtol=0, atol=1e-13 * tree.n)


@KINDS
@given(trees(16), SEEDS)
def test_products_and_substitutions(kind: str, tree: Tree, seed: int) -> None:
    H = random_matrix(tree, seed)
    x = np.random.default_rng(seed + 1).normal(size=tree.n)
    result = FACTORISE[kind](tree, packed_of(tree, H))
    L, _ = factors(kind, tree, result)
    expected = {
        "mul_L": L @ x,
        "mul_Lt": L.T @ x,
        "solve_L": np.linalg.solve(L, x),
        "solve_Lt": np.linalg.solve(L.T, x),
        "solve": np.linalg.solve(H, x),
        "mul": H @ x,
    }
    assert expected.keys() == PRODUCTS.keys()
    values = x.tolist()
    for name, y in expected.items():
        got = PRODUCTS[name](tree, result, values, kind in ("ltdl", "udut"))
        close(list(got), y, rtol=0, atol=1e-12 * max(1.0, np.abs(y).max(initial=0.0)), err_msg=name)
    assert values == x.tolist()


@given(trees(16), SEEDS)
def test_product_with_the_matrix_itself(tree: Tree, seed: int) -> None:
    H = random_matrix(tree, seed)
    x = np.random.default_rng(seed + 1).normal(size=tree.n)
    close(list(factor.mul_H(tree, packed_of(tree, H), x.tolist())), H @ x, rtol=0, atol=1e-12)


def test_any_matrix_of_the_pattern_will_do() -> None:
    """Entries may vanish by chance, and siblings may be listed in any regular order."""
    for tree in (Tree((0, 1, 1, 2, 3, 2)), Tree((0, 0, 2, 1))):
        H = np.diag(np.arange(1.0, tree.n + 1))
        assert list(factor.ltdl(tree, packed_of(tree, H))) == packed_of(tree, H)
        assert list(factor.ltl(tree, packed_of(tree, H))) == packed_of(tree, np.sqrt(H))


# ---- every way of running gives the same -------------------------------------------------------------------------


def programs(function: Callable[..., Any], **inputs: int) -> list[Any]:
    """The algorithm traced unrolled and rolled, and both simplified."""
    traced = [trace("f", lambda **a: {"y": function(**a)}, inputs, rolled=rolled) for rolled in (False, True)]
    return [*traced, *map(simplify, traced)]


@KINDS
@ON_NAMED
def test_rolled_as_unrolled_as_floats(kind: str, tree: Tree) -> None:
    packed = packed_of(tree, random_matrix(tree, 7))
    result = list(FACTORISE[kind](tree, packed))
    for program in programs(lambda packed: FACTORISE[kind](tree, packed), packed=size(tree)):
        close(evaluate(program, {"packed": packed})["y"], result, rtol=1e-12, atol=1e-12)


@UNIT
@ON_NAMED
def test_products_rolled_as_unrolled_as_floats(unit: bool, tree: Tree) -> None:
    x = np.random.default_rng(8).normal(size=tree.n).tolist()
    result = list(FACTORISE["ltdl" if unit else "ltl"](tree, packed_of(tree, random_matrix(tree, 7))))
    for name, product in PRODUCTS.items():
        y = list(product(tree, result, x, unit))

        def function(packed: Any, x: Any, product: Callable[..., Any] = product) -> Any:
            return product(tree, packed, x, unit)

        for program in programs(function, packed=size(tree), x=tree.n):
            close(evaluate(program, {"packed": result, "x": x})["y"], y, rtol=1e-12, atol=1e-12, err_msg=name)


def test_a_rolled_program_does_not_grow_with_the_tree() -> None:
    lengths = set()
    for n in (20, 200):
        tree = named.balanced_tree(5) if n == 20 else named.chain(n)
        program = trace("f", lambda packed, t=tree: {"y": factor.ltdl(t, packed)}, {"packed": size(tree)}, rolled=True)  # type: ignore[misc]
        lengths.add(len(str(program).splitlines()))
        assert not program.of_role("scratch")  # the factor is built where it is returned
    assert len(lengths) == 1


# ---- work --------------------------------------------------------------------------------------------------------


def unknown(tally: Tally, number: int) -> list[Counted]:
    return [Counted(tally) for _ in range(number)]


def counted(function: Callable[..., Any], **inputs: int) -> Count:
    tally = Tally()
    function(**{name: unknown(tally, number) for name, number in inputs.items()})
    return tally.count


def closed_form(tree: Tree, operation: str, kind: str) -> Count:
    return Count(**costs.operation_cost(tree, operation, kind))


def assert_costs(kind: str, tree: Tree) -> None:
    assert counted(lambda packed: FACTORISE[kind](tree, packed), packed=size(tree)) == closed_form(
        tree, "factorize", kind
    )
    for name in costs.OPERATIONS[1:]:
        got = counted(
            lambda packed, x, name=name: PRODUCTS[name](tree, packed, x, kind in ("ltdl", "udut")),
            packed=size(tree),
            x=tree.n,
        )
        assert got == closed_form(tree, name, kind), name


@KINDS
@ON_NAMED
def test_the_running_code_costs_the_closed_form(kind: str, tree: Tree) -> None:
    assert_costs(kind, tree)


@KINDS
@given(trees(16))
def test_the_running_code_costs_the_closed_form_on_any_tree(kind: str, tree: Tree) -> None:
    assert_costs(kind, tree)


@given(trees(16))
def test_costs_of_products_with_the_matrix(tree: Tree) -> None:
    n, D1 = tree.n, tree.D1
    assert counted(lambda packed, x: factor.mul_H(tree, packed, x), packed=size(tree), x=n) == Count(
        mul=n + 2 * D1, add=2 * D1
    )
    for unit, diagonal in ((True, n), (False, 2 * n)):
        got = counted(lambda packed, x, u=unit: factor.mul(tree, packed, x, u), packed=size(tree), x=n)
        assert got == Count(mul=diagonal + 2 * D1, add=2 * D1)


@KINDS
@ON_NAMED
def test_programs_cost_the_same(kind: str, tree: Tree) -> None:
    unrolled, rolled, _, rolled_simplified = programs(lambda packed: FACTORISE[kind](tree, packed), packed=size(tree))
    assert count(rolled) == count(unrolled) == count(rolled_simplified) == closed_form(tree, "factorize", kind)


@UNIT
@ON_NAMED
def test_programs_of_products_cost_the_same(unit: bool, tree: Tree) -> None:
    for name in costs.OPERATIONS[1:]:

        def function(packed: Any, x: Any, product: Callable[..., Any] = PRODUCTS[name]) -> Any:
            return product(tree, packed, x, unit)

        unrolled, rolled, _, _ = programs(function, packed=size(tree), x=tree.n)
        assert count(rolled) == count(unrolled) == closed_form(tree, name, "ltdl" if unit else "ltl"), name


def test_sharing_reciprocals_leaves_one_division_per_pivot() -> None:
    """Unrolled, the D1 divisions of LTDL become one per row with ancestors (a single one stays), and products."""
    tree = NAMED["tree 1"]
    *_, simplified, _ = programs(lambda packed: factor.ltdl(tree, packed), packed=size(tree))
    shared = [d - 1 for d in tree.depths if d > 2]  # rows with two or more divisions
    assert count(simplified) == Count(mul=tree.D2 + sum(shared), add=tree.D2, div=tree.D0)


# ---- work at one row ---------------------------------------------------------------------------------------------


class Spied(list[Any]):
    """An array that notes which places are written."""

    def __init__(self, watch: Watch, number: int) -> None:
        super().__init__([0.0] * number)
        self.watch = watch

    def __setitem__(self, place: Any, value: Any) -> None:
        self.watch.written.setdefault(self.watch.row, []).append(place)
        super().__setitem__(place, value)


class Watch(Control):
    """Plain Python that notes, for each turn of the elimination, the places written and the operations done."""

    def __init__(self, tally: Tally) -> None:
        self.tally = tally
        self.row, self.depth = 0, 0
        self.written: dict[int, list[int]] = {}
        self.work: dict[int, Count] = {}

    def array(self, size: int) -> Any:
        return Spied(self, size)

    def loop(self, count: Any, body: Callable[..., Any], carry: Any, reverse: bool = False, until: Any = None) -> Any:
        if self.depth or not reverse:  # the copy before the elimination, or a loop inside it
            return super().loop(count, body, carry, reverse, until)

        def watched(k: Any, state: Any) -> Any:
            self.row, self.depth, before = k + 1, 1, self.tally.count
            result = body(k, state)
            self.work[k + 1], self.row, self.depth = self.tally.count - before, 0, 0
            return result

        return super().loop(count, watched, carry, reverse, until)


def watched(kind: str, tree: Tree) -> Watch:
    watch = Watch(Tally())
    with activate(watch):
        FACTORISE[kind](tree, unknown(watch.tally, size(tree)))
    return watch


def entries(tree: Tree, places: list[int]) -> list[tuple[int, int]]:
    """Row and column of packed places, those written twice once."""
    where = [(i, j) for i in range(1, tree.n + 1) for j in tree.path(i)]
    return sorted(where[place] for place in set(places))


@pytest.mark.parametrize("kind", ["ltdl", "udut"])
def test_tree_1_at_row_7(kind: str) -> None:
    """Featherstone 2005: 2 + 3 elements, against 6 + 21 of a dense matrix."""
    watch = watched(kind, NAMED["tree 1"])
    assert entries(NAMED["tree 1"], watch.written[7]) == [(1, 1), (3, 1), (3, 3), (7, 1), (7, 3)]
    assert watch.work[7] == Count(div=2, mul=3, add=3)
    dense = watched(kind, named.chain(7))
    assert len(entries(named.chain(7), dense.written[7])) == 6 + 21
    assert dense.work[7] == Count(div=6, mul=21, add=21)


def test_shimanovsky_at_row_9() -> None:
    """Three divisions and six elements modified, M55 M25 M22 M15 M12 M11, against 8 and 36 of a dense matrix."""
    tree = NAMED["shimanovsky"]
    assert tree == Tree((0, 1, 2, 2, 3, 4, 4)).expand((1, 1, 2, 1, 1, 2, 1))
    watch = watched("udut", tree)
    modified = [(1, 1), (2, 1), (2, 2), (5, 1), (5, 2), (5, 5)]
    assert entries(tree, watch.written[9]) == [*modified, (9, 1), (9, 2), (9, 5)]
    assert watch.work[9] == Count(div=3, mul=6, add=6)
    dense = watched("udut", named.chain(9))
    assert len(entries(named.chain(9), dense.written[9])) == 8 + 36
    assert dense.work[9] == Count(div=8, mul=36, add=36)


@KINDS
@given(trees(12))
def test_work_at_every_row(kind: str, tree: Tree) -> None:
    watch = watched(kind, tree)
    assert list(watch.work) == list(range(tree.n, 0, -1))
    for row, work in watch.work.items():
        d = tree.depth(row)
        assert work == Count(div=d - 1, mul=d * (d - 1) // 2, add=d * (d - 1) // 2, sqrt=int(kind in ("ltl", "uut")))
