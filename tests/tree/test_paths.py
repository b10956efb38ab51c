"""Walks along paths, and packed path rows: the same places on floats and in a rolled program."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given

from bough.program import evaluate, trace
from bough.scalar import array, loop
from bough.tree import Tree
from bough.tree.paths import Node, PathMatrix, Paths
from tree_strategies import trees


def numbers(node: Node) -> tuple[Any, Any, Any]:
    return node.index, node.depth, node.start


@given(trees(12))
def test_nodes_and_their_order(tree: Tree) -> None:
    paths = Paths(tree)
    assert (paths.n, paths.size) == (tree.n, tree.n + tree.D1)
    outward: list[Any] = []
    inward: list[Any] = []
    paths.outward(lambda i: outward.append(numbers(i)))
    paths.inward(lambda i: inward.append(numbers(i)))
    starts = np.concatenate(([0], np.cumsum(tree.depths)))
    expected = [(i - 1, tree.depth(i), starts[i - 1]) for i in range(1, tree.n + 1)]
    assert outward == expected
    assert inward == expected[::-1]


@given(trees(12))
def test_paths_and_ancestors(tree: Tree) -> None:
    paths = Paths(tree)
    walked: dict[int, tuple[list[int], list[int]]] = {}

    def visit(i: Node) -> None:
        path: list[int] = []
        above: list[int] = []
        paths.path(i, lambda j: path.append(j.index + 1))  # type: ignore[arg-type]
        paths.ancestors(i, lambda j: above.append(j.index + 1))  # type: ignore[arg-type]
        walked[i.index + 1] = (path, above)  # type: ignore[index]

    paths.outward(visit)
    assert walked == {i: ([i, *tree.ancestors(i)], list(tree.ancestors(i))) for i in range(1, tree.n + 1)}


def path_sums(tree: Tree) -> Any:
    """An algorithm that asks an outer node for everything only after an inner walk has asked it too."""

    def algorithm(x: Any) -> dict[str, Any]:
        paths, y, z = Paths(tree), array(tree.n), array(tree.n + tree.D1)
        matrix = PathMatrix(z)

        def visit(i: Node) -> None:
            def diagonal(_: Any, carry: tuple[()]) -> tuple[()]:
                matrix[i, i] = matrix[i, i] + x[i.index]
                return carry

            def above(j: Node) -> None:
                def between(k: Node) -> None:
                    y[i.index] = y[i.index] + x[j.index] * x[k.index]
                    matrix[i, k] = matrix[i, k] + x[j.index]

                paths.path(j, between)
                y[j.index] = y[j.index] - x[i.index]

            loop(2, diagonal, ())
            paths.path(i, above)
            matrix[i, i] = matrix[i, i] * 2.0 + y[i.index]

        paths.inward(visit)
        return {"y": y, "z": z}

    return algorithm


@given(trees(10))
def test_the_same_walks_when_rolled(tree: Tree) -> None:
    algorithm = path_sums(tree)
    x = np.linspace(0.5, 1.5, tree.n).tolist()
    plain = {name: list(values) for name, values in algorithm(x=x).items()}
    for rolled in (False, True):
        assert evaluate(trace("walks", algorithm, {"x": tree.n}, rolled=rolled), {"x": x}) == plain


@given(trees(12))
def test_every_packed_place_belongs_to_one_entry(tree: Tree) -> None:
    paths, packed = Paths(tree), [0.0] * (tree.n + tree.D1)
    matrix = PathMatrix(packed)

    def visit(i: Node) -> None:
        def entry(j: Node) -> None:
            matrix[i, j] = matrix[i, j] + 100.0 * (i.index + 1) + (j.index + 1)

        paths.path(i, entry)

    paths.outward(visit)
    assert packed == [100.0 * i + j for i in range(1, tree.n + 1) for j in tree.path(i)]
