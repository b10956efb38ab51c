"""Packed symmetric matrices: against the dense matrices they stand for."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bough
from bough.errors import FiniteError, PatternError, ShapeError, TreeError
from bough.kernel.treematrix import TreeMatrix
from bough.tree import Tree
from tree_strategies import trees

TREE_1 = Tree((0, 1, 1, 2, 2, 3, 3))
BATCHES = st.sampled_from([(), (1,), (3,), (2, 3), (0,), (2, 0)])


def symmetric(tree: Tree, batch: tuple[int, ...], seed: int) -> Any:
    A = np.random.default_rng(seed).normal(size=(*batch, tree.n, tree.n)) * tree.pattern()
    return A + np.swapaxes(A, -2, -1)


@given(trees(most=12), BATCHES, st.integers(0, 2**32))
def test_packs_and_unpacks(tree: Tree, batch: tuple[int, ...], seed: int) -> None:
    H = symmetric(tree, batch, seed)
    packed = TreeMatrix.from_dense(H, tree)
    assert packed.tree is tree
    assert (packed.n, packed.batch) == (tree.n, batch)
    assert packed.values.shape == (*batch, tree.n + tree.D1)
    np.testing.assert_array_equal(packed.dense(), H)
    np.testing.assert_array_equal(packed.diagonal, np.diagonal(H, axis1=-2, axis2=-1))
    np.testing.assert_array_equal(TreeMatrix(packed.values, tree.parents).dense(), H)


@given(trees(most=12), BATCHES, st.integers(0, 3), st.integers(0, 2**32))
def test_product(tree: Tree, batch: tuple[int, ...], k: int, seed: int) -> None:
    H = symmetric(tree, batch, seed)
    packed = TreeMatrix.from_dense(H, tree)
    X = np.random.default_rng(seed + 1).normal(size=(*batch, tree.n, k))
    Y = packed.mul(X)
    np.testing.assert_allclose(Y, H @ X, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(packed @ X, Y)
    for c in range(k):
        np.testing.assert_array_equal(packed @ X[..., c], Y[..., c])


def test_rows_are_paths_from_the_root() -> None:
    values = np.arange(1.0, TREE_1.n + TREE_1.D1 + 1)
    H = TreeMatrix(values, TREE_1.parents).dense()
    starts = TREE_1.packed_starts
    for i in range(1, 8):
        row = [H[i - 1, j - 1] for j in TREE_1.path(i)]
        assert row == values[starts[i - 1] : starts[i]].tolist()
    assert np.array_equal(H != 0, TREE_1.pattern())


def test_is_immutable_and_keeps_its_own_values() -> None:
    values = np.ones(3)
    matrix = TreeMatrix(values, (0, 1))
    values[0] = 7
    assert matrix.values[0] == 1
    with pytest.raises(ValueError, match="read-only"):
        matrix.values[0] = 7
    with pytest.raises(dataclasses.FrozenInstanceError):
        matrix.values = values  # type: ignore[misc]
    assert repr(matrix) == "TreeMatrix(float64, batch=(), Tree((0, 1)))"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_data_type_is_kept(dtype: type) -> None:
    matrix = TreeMatrix(np.ones(3, dtype), (0, 1))
    x = np.ones(2, dtype)
    assert {a.dtype for a in (matrix.values, matrix.dense(), matrix.diagonal, matrix @ x)} == {np.dtype(dtype)}
    assert (matrix @ [1, 2]).dtype == np.float64
    assert TreeMatrix([1, 2, 3], (0, 1)).values.dtype == np.float64


def test_out() -> None:
    matrix, x = TreeMatrix([1.0, 2.0, 3.0], (0, 1)), np.array([1.0, 2.0])
    expected = matrix @ x
    assert matrix.mul(x, out=x) is x
    assert np.array_equal(x, expected)
    with pytest.raises(ShapeError, match=r"out is float32 \(2,\), expected an array of float64 \(2,\)"):
        matrix.mul(x, out=np.empty(2, np.float32))


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ([1.0, 2.0], ShapeError, r"values has shape \(2,\), expected \(\.\.\., 3\): 2 rows with 3 entries"),
        (1.0, ShapeError, r"values has shape \(\)"),
        ([1j, 0, 0], ShapeError, "data type complex128"),
        (["a", "b", "c"], ShapeError, "data type <U1"),
        ([[1.0], [1.0, 2.0]], ShapeError, "not a rectangular array"),
        ([[1.0, np.nan, 3.0]], FiniteError, r"values\[0, 1\] is nan"),
    ],
)
def test_refused_values(values: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        TreeMatrix(values, (0, 1))


@pytest.mark.parametrize(
    ("H", "error", "message"),
    [
        (
            np.eye(2),
            ShapeError,
            r"H has shape \(2, 2\), expected \(\.\.\., 3, 3\): a row and a column for each of the 3",
        ),
        (np.eye(3)[None] + np.eye(3)[[0, 2, 1]], PatternError, r"matrix \(0,\): row 2, column 3: got 1\.0, expected 0"),
        (np.eye(3) + np.eye(3, k=1)[[0, 2, 1]], PatternError, r"row 2, column 1: got 0\.0, .* diagonal, 1\.0"),
        (np.diag([1, np.inf, 1]), FiniteError, "row 2, column 2: got inf"),
    ],
)
def test_refused_by_from_dense(H: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        TreeMatrix.from_dense(H, (0, 1, 1))


def test_refused_parents() -> None:
    with pytest.raises(TreeError):
        TreeMatrix([1.0, 2.0], (2, 1))


@pytest.mark.parametrize("shape", [(), (3,), (3, 2), (2, 3, 1), (1, 2)])
def test_refused_operands(shape: tuple[int, ...]) -> None:
    with pytest.raises(ShapeError, match=r"expected \(2,\) for a vector or \(2, k\) for k columns"):
        TreeMatrix([1.0, 2.0, 3.0], (0, 1)) @ np.ones(shape)


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_packed_mass_matrices_of_tensors_have_gradients(library: str) -> None:
    pytest.importorskip(library)
    model = bough.trees.topologies.humanoid()
    q, x = np.stack([bough.random(model, k) for k in range(2)]), np.ones((2, model.nv, 3))

    def costs(q: Any) -> list[Any]:
        packed, full = bough.trees.crba_packed(model, q), bough.crba(model, q)
        assert packed.batch == (2,)
        by_columns, by_vector = (packed @ x)[..., 0], packed @ x[..., 0]
        return [(H**2).sum() for H in (packed.dense() @ x, full @ x, by_columns, by_vector, packed.diagonal)]

    if library == "torch":
        import torch

        q_t, x = torch.tensor(q, requires_grad=True), torch.tensor(x)
        found = [torch.autograd.grad(cost, q_t, retain_graph=True)[0].numpy() for cost in costs(q_t)]
    else:
        import jax

        with jax.enable_x64(True):
            found = list(np.asarray(jax.jacrev(lambda q: jax.numpy.stack(costs(q)))(q)))
    dense, expected, by_columns, by_vector, by_diagonal = found
    np.testing.assert_allclose(dense, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(3.0 * by_columns, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(by_vector, by_columns, rtol=1e-9, atol=1e-9)
    assert by_diagonal.any()
