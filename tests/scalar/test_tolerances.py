"""The table of tolerances: one name, one value, one reason."""

from __future__ import annotations

import ast
import inspect
from itertools import pairwise
from pathlib import Path

import pytest

import bough
from bough.scalar import tolerances

SOURCE = Path(inspect.getfile(bough)).parent


def test_every_tolerance_has_a_reason() -> None:
    body = ast.parse(Path(tolerances.__file__).read_text(encoding="utf-8")).body
    named = [
        node.targets[0].id for node in body if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    ]
    assert named[0] == "__all__"
    assert sorted(named[1:]) == tolerances.__all__
    for assignment, reason in pairwise(body):
        if isinstance(assignment, ast.Assign) and assignment.targets[0].id != "__all__":  # type: ignore[attr-defined]
            assert isinstance(reason, ast.Expr), ast.unparse(assignment)
            assert len(ast.literal_eval(reason.value).split()) > 8


@pytest.mark.parametrize("folder", ["lagrange", "kernel/maximal"])
def test_no_other_small_numbers_in_maximal_coordinates(folder: str) -> None:
    found = []
    for path in sorted((SOURCE / folder).rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        small = [n for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, float)]
        found += [f"{path.name}:{n.lineno}: {n.value}" for n in small if 0.0 < abs(n.value) < 1e-3]
    assert not found
