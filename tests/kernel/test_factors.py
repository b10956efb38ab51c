"""Factorisations on arrays: against dense linear algebra, and every refusal."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import cho_factor, cho_solve

import bough
from bough.errors import FiniteError, PatternError, ShapeError, SingularError, TreeError
from bough.kernel import treematrix
from bough.kernel.factors import Factor, ltdl, ltl, udut, uut
from bough.kernel.treematrix import TreeMatrix
from bough.tree import Tree, named
from tree_strategies import trees

Shape: TypeAlias = tuple[int, ...]
Factorize: TypeAlias = Callable[..., Factor]

TREE_1 = Tree((0, 1, 1, 2, 2, 3, 3))
FACTORISATIONS = [ltl, ltdl, udut, uut]
OPERATIONS = ["solve", "mul", "mul_L", "mul_Lt", "solve_L", "solve_Lt"]
BATCHES = st.sampled_from([(), (1,), (3,), (2, 3), (0,), (2, 0)])
every = pytest.mark.parametrize("factorize", FACTORISATIONS)


def positive(tree: Tree, batch: Shape = (), seed: int = 0) -> Any:
    """Random well-conditioned matrices AᵀA, where A is lower triangular and has the tree's pattern."""
    A = np.random.default_rng(seed).normal(size=(*batch, tree.n, tree.n)) / (tree.height + 1)
    A = np.tril(A * tree.pattern()) + np.eye(tree.n)
    H = np.swapaxes(A, -2, -1) @ A
    return (H + np.swapaxes(H, -2, -1)) / 2


def transposed(A: Any) -> Any:
    return np.swapaxes(A, -2, -1)


def close(got: Any, expected: Any, tolerance: float = 1e-10) -> None:
    scale = np.max(np.abs(expected), initial=1e-300)
    np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance * scale)


def dense_operation(name: str, factor: Factor, H: Any) -> Any:
    """The matrix that an operation multiplies by, from dense linear algebra alone."""
    verb, _, letter = name.partition("_")
    matrix = {"": H, "L": factor.L, "Lt": transposed(factor.L)}[letter]
    return matrix if verb == "mul" else np.linalg.inv(matrix)


# ---- laws on random trees and forests --------------------------------------------------------------------------------


@every
@given(tree=trees(most=12), batch=BATCHES, seed=st.integers(0, 2**32))
def test_factor_matrices(factorize: Factorize, tree: Tree, batch: Shape, seed: int) -> None:
    H = positive(tree, batch, seed)
    factor = factorize(H, tree.parents)
    L = factor.L
    assert (factor.n, factor.batch, factor.tree) == (tree.n, batch, tree)
    assert L.shape == H.shape
    D = np.ones((*batch, tree.n)) if factor.kind in ("ltl", "uut") else factor.D
    close(transposed(L) @ (D[..., np.newaxis] * L), H)
    assert np.all(D > 0)
    assert np.array_equal(L != 0, np.broadcast_to(np.tril(tree.pattern()), L.shape))
    if factor.kind in ("ltdl", "udut"):
        assert np.all(np.diagonal(L, axis1=-2, axis2=-1) == 1)
    if factor.kind in ("udut", "uut"):
        assert np.array_equal(factor.U, transposed(L))


@every
@given(tree=trees(most=10), batch=BATCHES, k=st.integers(0, 3), seed=st.integers(0, 2**32))
def test_operations(factorize: Factorize, tree: Tree, batch: Shape, k: int, seed: int) -> None:
    H = positive(tree, batch, seed)
    factor = factorize(H, tree)
    X = np.random.default_rng(seed + 1).normal(size=(*batch, tree.n, k))
    for name in OPERATIONS:
        Y = getattr(factor, name)(X)
        assert Y.shape == X.shape
        close(Y, dense_operation(name, factor, H) @ X)
        for c in range(k):  # a vector is treated as the column is
            np.testing.assert_array_equal(getattr(factor, name)(X[..., c]), Y[..., c])
    inverse = factor.inverse()
    close(inverse, np.linalg.inv(H))
    assert np.array_equal(inverse, transposed(inverse))
    assert factor.logdet().shape == batch
    np.testing.assert_allclose(factor.logdet(), np.linalg.slogdet(H).logabsdet, rtol=0, atol=1e-10)


@given(tree=trees(), seed=st.integers(0, 2**32))
def test_ltl_is_a_reordered_cholesky(tree: Tree, seed: int) -> None:
    H = positive(tree, (), seed)
    R = np.eye(tree.n)[::-1]
    close(ltl(H, tree).L, R @ np.linalg.cholesky(R @ H @ R).T @ R, 1e-14)


@given(tree=trees(most=12), seed=st.integers(0, 2**32))
def test_the_three_agree(tree: Tree, seed: int) -> None:
    H = positive(tree, (2,), seed)
    root, unit, upper = ltl(H, tree), ltdl(H, tree), udut(H, tree)
    close(np.sqrt(unit.D)[..., np.newaxis] * unit.L, root.L, 1e-14)
    np.testing.assert_array_equal(upper.packed, unit.packed)


def test_rolled_kernels_on_a_large_tree() -> None:
    tree = named.balanced_tree(7)  # 127 nodes
    H = positive(tree, (2,))
    x = np.random.default_rng(1).normal(size=(2, tree.n))
    for factorize in FACTORISATIONS:
        factor = factorize(H, tree)
        for name in OPERATIONS:
            close(getattr(factor, name)(x), np.einsum("bij,bj->bi", dense_operation(name, factor, H), x))
    close(TreeMatrix.from_dense(H, tree) @ x, np.einsum("bij,bj->bi", H, x))


def test_accuracy_on_sparse_matrices_is_that_of_a_dense_cholesky() -> None:
    """Featherstone 2005, section 2: with a substantial amount of sparsity, slightly more accurate.

    Whole numbers make H, x and b exact, so that the error of a solution is known exactly.
    """
    rng = np.random.default_rng(0)
    for tree in (named.balanced_tree(5), named.side_branch_chain(12), named.humanoid()):
        A = rng.integers(-9, 10, (200, 2 * tree.n, tree.n)) * np.tile(np.tril(tree.pattern()), (2, 1))
        A[:, : tree.n] += 9 * np.eye(tree.n, dtype=np.int64)
        H = (transposed(A) @ A + np.eye(tree.n, dtype=np.int64)).astype(np.float64)
        x = rng.integers(-9, 10, (200, tree.n)).astype(np.float64)
        b = np.einsum("bij,bj->bi", H, x)
        dense = np.stack([cho_solve(cho_factor(one), c) for one, c in zip(H, b, strict=True)])
        ours, theirs = (np.linalg.norm(y - x, axis=-1).mean() for y in (ltdl(H, tree).solve(b), dense))
        assert ours < 2 * theirs, tree


# ---- batches ---------------------------------------------------------------------------------------------------------


@every
def test_same_bits_whatever_the_batch(factorize: Factorize) -> None:
    H = positive(TREE_1, (1100,))  # more than the reference back-end takes at a time
    x = np.random.default_rng(1).normal(size=(1100, 7, 2))
    whole = factorize(H, TREE_1)
    results = {name: getattr(whole, name)(x) for name in OPERATIONS}
    for part in (slice(0, 1), slice(1023, 1030), slice(1099, 1100), slice(3, 900, 7)):
        some = factorize(H[part], TREE_1)
        assert np.array_equal(some.packed, whole.packed[part])
        for name in OPERATIONS:
            assert np.array_equal(getattr(some, name)(x[part]), results[name][part])
        assert np.array_equal(some.logdet(), whole.logdet()[part])
        assert np.array_equal(some.inverse(), whole.inverse()[part])
    alone = factorize(H[17], TREE_1)
    assert np.array_equal(alone.packed, whole.packed[17])
    assert np.array_equal(alone.solve(x[17]), results["solve"][17])
    assert np.array_equal(alone.solve(x[17, :, 0]), results["solve"][17, :, 0])
    assert np.array_equal(alone.logdet(), whole.logdet()[17])


@every
@pytest.mark.usefixtures("compiled")
def test_calls_straight_from_python(factorize: Factorize) -> None:
    """From the second call on, one state goes straight to machine code: the same bits, and the same refusals."""
    tree = Tree(TREE_1.parents)  # one that no other test has called with
    first, others = (TreeMatrix.from_dense(positive(tree, seed=seed), tree) for seed in (1, 2))
    b = np.random.default_rng(3).normal(size=(2, 7))
    want = {
        name: [getattr(factorize(H), name)(x) for H, x in zip((first, others), b, strict=True)] for name in OPERATIONS
    }
    for name in OPERATIONS:  # the factor of one matrix is not taken for that of another, nor its product for a solution
        made = [factorize(H) for H in (first, others)]
        got = [getattr(F, name)(x) for F, x in zip(made, b, strict=True)]
        np.testing.assert_array_equal(got, want[name])
    np.testing.assert_array_equal(first.mul(b[0]), first.mul(b[0]))
    np.testing.assert_allclose(first.mul(b[0]), factorize(first).mul(b[0]), rtol=1e-12)
    F = factorize(first)
    assert not F.packed.flags.writeable
    np.testing.assert_array_equal(F.solve(b[0].tolist()), want["solve"][0])
    np.testing.assert_array_equal(F.solve(b.T)[:, 0], want["solve"][0])
    with pytest.raises(FiniteError, match=r"b\[3\] is nan"):
        F.solve(np.where(np.arange(7) == 3, np.nan, b[0]))
    with pytest.raises(ShapeError, match=r"b has shape \(6,\)"):
        F.solve(b[0, :6])
    with pytest.raises(SingularError, match="row 7: the pivot is -"):
        factorize(
            TreeMatrix(first.values * np.where(np.arange(tree.packed_size) == tree.packed_size - 1, -1.0, 1.0), tree)
        )


def test_columns_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    factor = ltdl(positive(TREE_1, (2,)), TREE_1)
    x = np.random.default_rng(1).normal(size=(2, 7, 5))
    expected = factor.solve(x)
    for limit in (1, 2 * factor.packed.size):
        monkeypatch.setattr(treematrix, "BROADCAST", limit)
        assert np.array_equal(factor.solve(x), expected)


@every
def test_no_rows(factorize: Factorize) -> None:
    factor = factorize(np.zeros((3, 0, 0)), ())
    assert factor.solve(np.zeros((3, 0))).shape == (3, 0)
    assert factor.mul_L(np.zeros((3, 0, 4))).shape == (3, 0, 4)
    assert factor.inverse().shape == factor.L.shape == (3, 0, 0)
    assert factor.logdet().tolist() == [0, 0, 0]


@every
@pytest.mark.parametrize("batch", [(), (7,), (2, 7)])
@pytest.mark.parametrize("name", OPERATIONS)
def test_refused_operands(factorize: Factorize, batch: Shape, name: str) -> None:
    factor = factorize(positive(TREE_1, batch), TREE_1)
    vector = (*batch, 7)
    columns = ", ".join([*map(str, vector), "k"])
    for shape in [(), (6,), (*batch, 6), (*batch, 8, 2), (3, *vector[:-1], 2), (2, 3, 2, 7)]:
        with pytest.raises(ShapeError) as caught:
            getattr(factor, name)(np.ones(shape))
        message = str(caught.value)
        assert f"has shape {shape}, expected {vector} for a vector or ({columns}) for k columns" in message
        assert f"n is 7 and the batch shape is {batch}" in message
    with pytest.raises(FiniteError, match=r"\[(0, )*3\] is nan"):
        getattr(factor, name)(np.where(np.arange(7) == 3, np.nan, np.ones(vector)))


@every
@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize(
    ("batch", "shape"),
    [((5,), (7,)), ((2, 5), (5, 7)), ((2, 1), (1, 5, 7)), ((5,), (1, 7, 3)), ((), (5, 7, 3)), ((5,), (2, 1, 7, 3))],
)
def test_batch_axes_are_broadcast(factorize: Factorize, name: str, batch: Shape, shape: Shape) -> None:
    """A vector has at most as many axes as the packed rows; what has more is columns."""
    H = positive(TREE_1, batch)
    factor = factorize(H, TREE_1)
    x = np.random.default_rng(1).normal(size=shape)
    columns = x if len(shape) > len(batch) + 1 else x[..., np.newaxis]
    expected = dense_operation(name, factor, H) @ columns
    expected = expected if columns is x else expected[..., 0]
    got = getattr(factor, name)(x)
    close(got, expected)
    out = np.empty_like(expected)
    assert getattr(factor, name)(x, out=out) is out
    assert np.array_equal(out, got)


def test_the_tree_of_a_model_is_that_of_its_degrees_of_freedom() -> None:
    """One node per body does not fit a matrix where joints have several."""
    b = bough.Builder()
    b.add("trunk", bough.joints.Free(), mass=1.0, inertia=1.0)
    model = b.build()
    M = bough.crba(model, bough.neutral(model))
    with pytest.raises(ShapeError, match=r"H has shape \(6, 6\), expected \(..., 1, 1\): .* model.dof_tree"):
        ltdl(M, model.tree)
    assert ltdl(M, model.dof_tree).n == 6


# ---- data types, out=, overwrite -------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_data_type_is_kept(factorize: Factorize, dtype: type) -> None:
    H = positive(TREE_1, (2,)).astype(dtype)
    factor = factorize(H, TREE_1)
    x = np.ones((2, 7), dtype)
    results = [getattr(factor, name)(x) for name in OPERATIONS]
    results += [factor.packed, factor.L, factor.inverse(), factor.logdet()]
    assert {a.dtype for a in results} == {np.dtype(dtype)}
    assert factor.solve(np.ones((2, 7), np.int8)).dtype == np.float64
    close(factor.solve(x), np.linalg.solve(H, x[..., np.newaxis])[..., 0], 1e-4 if dtype == np.float32 else 1e-12)


@every
def test_whole_numbers_and_lists(factorize: Factorize) -> None:
    factor = factorize([[4, 2], [2, 5]], [0, 1])
    assert factor.packed.dtype == np.float64
    close(factor.solve([8, 9]), [1.375, 1.25])
    assert np.array_equal(factor.packed, factorize(np.array([[4.0, 2], [2, 5]]), np.array([0, 1])).packed)


@every
@pytest.mark.parametrize("name", OPERATIONS)
def test_out(factorize: Factorize, name: str) -> None:
    factor = factorize(positive(TREE_1, (2,)), TREE_1)
    x = np.random.default_rng(1).normal(size=(2, 7, 3))
    expected = getattr(factor, name)(x)
    out = np.full((2, 3, 7), np.nan).swapaxes(1, 2)  # any layout
    assert getattr(factor, name)(x, out=out) is out
    assert np.array_equal(out, expected)
    assert getattr(factor, name)(x, out=x) is x
    assert np.array_equal(x, expected)
    for wrong in (np.empty((2, 7)), np.empty((2, 7, 3), np.float32), [0.0]):
        with pytest.raises(ShapeError, match=r"out is .*, expected an array of float64 \(2, 7, 3\)"):
            getattr(factor, name)(x, out=wrong)


def test_out_of_inverse_and_logdet() -> None:
    factor = ltl(positive(TREE_1, (2,)), TREE_1)
    inverse, logdet = np.empty((2, 7, 7)), np.empty(2)
    assert factor.inverse(out=inverse) is inverse
    assert factor.logdet(out=logdet) is logdet
    assert np.array_equal(inverse, factor.inverse())
    assert np.array_equal(logdet, factor.logdet())


@every
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("batch", [(), (2, 3)])
def test_overwrite(factorize: Factorize, dtype: type, batch: Shape) -> None:
    H = positive(TREE_1, batch).astype(dtype)
    kept = H.copy()
    expected = factorize(H, TREE_1).packed
    assert np.array_equal(H, kept)
    factor = factorize(H, TREE_1, overwrite=True)
    assert np.array_equal(factor.packed, expected)
    upper = factor.kind in ("udut", "uut")
    written, rest = (np.triu(H), np.tril(H, -1)) if upper else (np.tril(H), np.triu(H, 1))
    triangle = transposed(factor.L) if upper else factor.L
    if factor.kind in ("ltdl", "udut"):
        triangle = triangle + np.eye(7, dtype=dtype) * (factor.D[..., np.newaxis] - 1)
        np.testing.assert_array_equal(np.diagonal(H, axis1=-2, axis2=-1), factor.D)
    np.testing.assert_allclose(written, triangle, rtol=1e-6)
    np.testing.assert_array_equal(rest, np.tril(kept, -1) if upper else np.triu(kept, 1))
    solution = factor.solve(np.ones((*batch, 7)))
    H[...] = 0  # the factor has its own memory
    assert np.array_equal(factor.solve(np.ones((*batch, 7))), solution)


@every
def test_overwrite_leaves_refused_matrices_alone(factorize: Factorize) -> None:
    H = positive(TREE_1, (3,))
    H[2, 0, 0] = -1
    kept = H.copy()
    with pytest.raises(SingularError):
        factorize(H, TREE_1, overwrite=True)
    assert np.array_equal(H, kept)


@every
def test_overwrite_needs_a_writable_float_array(factorize: Factorize) -> None:
    locked = np.eye(2)
    locked.setflags(write=False)
    cases = {"a list": [[1.0, 0.0], [0.0, 1.0]], "a read-only array of float64": locked}
    cases |= {"an array of int64": np.eye(2, dtype=np.int64), "a TreeMatrix": TreeMatrix.from_dense(locked, (0, 1))}
    for got, H in cases.items():
        with pytest.raises(ShapeError, match=f"H is {got}, expected a writable array"):
            factorize(H, (0, 1), overwrite=True)


# ---- packed matrices, names, and the object itself -------------------------------------------------------------------


@every
def test_packed_matrices(factorize: Factorize) -> None:
    H = positive(TREE_1, (2, 3))
    packed = TreeMatrix.from_dense(H, TREE_1)
    expected = factorize(H, TREE_1).packed
    for parents in (None, TREE_1, TREE_1.parents):
        assert np.array_equal(factorize(packed, parents).packed, expected)
    with pytest.raises(TreeError, match=r"parents is Tree\(\(0, 1, 2\)\), but H is a matrix on Tree\(\(0, 1, 1"):
        factorize(packed, (0, 1, 2))
    with pytest.raises(TreeError, match="parents is missing"):
        factorize(H)


def test_which_factor_has_what() -> None:
    factors = {f.__name__: f(np.eye(2), (0, 1)) for f in (ltl, ltdl, udut, uut)}
    parts = {name: "".join(part for part in "LDU" if hasattr(f, part)) for name, f in factors.items()}
    assert parts == {"ltl": "L", "ltdl": "LD", "udut": "LDU", "uut": "LU"}
    with pytest.raises(AttributeError, match=r"'ltl' has no D.*use ltdl"):
        _ = factors["ltl"].D
    with pytest.raises(AttributeError, match=r"'ltdl' has no U.*use udut"):
        _ = factors["ltdl"].U


def test_a_factor_is_immutable() -> None:
    factor = ltdl(np.eye(2), (0, 1))
    with pytest.raises(dataclasses.FrozenInstanceError):
        factor.kind = "ltl"  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        factor.packed[0] = 2
    assert repr(factor) == "Factor('ltdl', float64, batch=(), Tree((0, 1)))"


# ---- refusals --------------------------------------------------------------------------------------------------------


def changed(row: int, column: int, value: float) -> Any:
    """A batch of two good matrices, with one entry of the second changed."""
    H = np.stack([np.eye(3) * 4 + np.diag([1, 0], 1) + np.diag([1, 0], -1)] * 2)
    H[1, row - 1, column - 1] = value
    return H


@every
@pytest.mark.parametrize(
    ("H", "parents", "error", "message"),
    [
        (changed(2, 1, np.nan), (0, 1, 1), FiniteError, r"matrix \(1,\): row 2, column 1: got nan"),
        (changed(3, 2, 0.5), (0, 1, 1), PatternError, r"matrix \(1,\): row 3, column 2: got 0\.5, expected 0"),
        (changed(1, 2, 2.0), (0, 1, 1), PatternError, r"matrix \(1,\): row 2, column 1: got 1\.0, .* diagonal, 2\.0"),
        (
            changed(1, 1, 0.25),
            (0, 1, 1),
            SingularError,
            r"matrix \(1,\): row 1: the pivot is 0\.0, expected more than \d",
        ),
        (
            changed(1, 1, 0.0),
            (0, 1, 1),
            SingularError,
            r"matrix \(1,\): row 1: the pivot is -0\.25, expected more than 0",
        ),
        (changed(3, 3, -2.0), (0, 1, 1), SingularError, r"matrix \(1,\): row 3: the pivot is -2\.0"),
        (-np.eye(3), (0, 1, 1), SingularError, r"^row 3: the pivot is -1\.0"),
        (np.zeros((3, 3)), (0, 1, 1), SingularError, r"^row 3: the pivot is 0\.0"),
        (np.eye(3), (0, 1), ShapeError, r"H has shape \(3, 3\), expected \(\.\.\., 2, 2\).* 2 entries of parents"),
        (np.ones((3, 2)), (0, 1, 1), ShapeError, r"H has shape \(3, 2\)"),
        (np.ones(3), (0, 1, 1), ShapeError, r"H has shape \(3,\)"),
        (np.eye(3) * 1j, (0, 1, 1), ShapeError, "H has data type complex128"),
        ([[1.0], [1.0, 2.0]], (0, 1), ShapeError, "H is not a rectangular array"),
        (np.eye(3), (0, 3, 2), TreeError, "body 2"),
        (np.eye(3), (1, 0, 0), TreeError, "body 1"),
        (np.eye(3), (0, 1.5, 1), TreeError, "body 2"),
        (np.eye(3), (0, -1, 1), TreeError, "body 2"),
    ],
)
def test_refused_matrices(factorize: Factorize, H: Any, parents: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        factorize(H, parents)


@every
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_matrices_singular_to_rounding_are_refused(factorize: Factorize, dtype: type) -> None:
    v = np.random.default_rng(0).uniform(1, 2, size=(50, 5, 2)).astype(dtype)
    H = v @ transposed(v)  # of rank 2
    H = (H + transposed(H)) / 2
    for matrix in H:
        with pytest.raises(
            SingularError, match=r"row [1-3]: the pivot is .*, expected more than \d.*not positive definite"
        ):
            factorize(matrix, (0, 1, 2, 3, 4))


@every
def test_sound_matrices_of_any_scale_are_accepted(factorize: Factorize) -> None:
    H = np.diag([1e-200, 1.0, 1e200])
    factor = factorize(H, (0, 1, 2))
    close(factor.solve(np.diagonal(H)), np.ones(3))
    with pytest.raises(FiniteError, match=r"solve .*the result is not finite"):
        factor.solve([1e200, 0.0, 0.0])
