"""Code that is made in haste: the same bits, and never mistaken for code that is made with care."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bough

ROBOT = "quadruped"


def answers(name: str, dtype: str) -> list[bytes]:
    """Bits of the answers to one state, and to many, of code that is made or loaded anew."""
    bough.set_backend("llvm")
    model = bough.robots.load(ROBOT)
    rng = np.random.default_rng(1)
    q = bough.random(model, 1, 20).astype(dtype)
    v, tau = (rng.normal(size=(20, model.nv)).astype(dtype) for _ in range(2))
    f = bough.function(name, model)
    given = (q, v, tau)[: 1 if name == "crba" else 3]
    return [f(*(x[0] for x in given)).tobytes(), f(*given).tobytes()]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["rnea", "aba", "crba"])
def test_bits_are_the_same(name: str, dtype: str, compiled: None, monkeypatch: pytest.MonkeyPatch) -> None:
    with_care = answers(name, dtype)
    monkeypatch.setenv("BOUGH_HASTE", "1")
    assert answers(name, dtype) == with_care


def test_both_are_stored(compiled: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOUGH_CACHE_DIR", str(tmp_path))
    sizes = []
    for haste in ("0", "1", "0", "1"):
        monkeypatch.setenv("BOUGH_HASTE", haste)
        answers("rnea", "float64")
        sizes.append(len([path for path in tmp_path.rglob("*") if path.is_file()]))
    assert sizes[0] < sizes[1] == sizes[2] == sizes[3]
