"""The report on Baraff's experiments: its systems are those of the paper, and all ways find one solution."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import pytest

import bough
from bough.cost import baraff
from bough.cost.report import Curves, Table
from bough.tree import named


@pytest.fixture
def machine_code() -> Iterator[None]:
    before = bough.get_backend()
    bough.set_backend("llvm")
    yield
    bough.set_backend(before)


def test_systems_are_those_of_the_paper() -> None:
    systems = [baraff.experiment(bodies, d)[0] for _, bodies, d in baraff.EXPERIMENTS]
    assert [len(s.constraints) for s in systems] == [54, 32, 127]
    assert [s.nc for s in systems] == [108, 96, 381]
    assert {s.bodies[0] for s in systems} == {3, 6}


@pytest.mark.parametrize("d", [3, 6])
def test_joined_points_stay_together(d: int) -> None:
    """Bodies that turn about the joint as one keep it together; moving one alone does not."""
    p = 2 if d == 3 else 3
    r = np.array([[0.3, -0.2, 0.5][:p]])
    (J,) = baraff.joined(r, d)
    turn = np.zeros(d)
    turn[p:] = [0.7] if d == 3 else [0.7, -0.4, 0.2]
    w = np.array([0.0, 0.0, 0.7]) if d == 3 else turn[3:]
    np.testing.assert_allclose(J @ turn, np.cross(w, np.append(r[0], [0.0] * (3 - p)))[:p], atol=1e-15)
    np.testing.assert_array_equal(J[:, :p], np.eye(p))


def test_without_scipy_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baraff, "EXPERIMENTS", (("plane", 3, 3),))
    monkeypatch.setitem(sys.modules, "scipy.linalg", None)
    with pytest.raises(bough.BoughError, match=r"pip install 'bough\[paper\]'"):
        baraff.baraff()


def test_report(machine_code: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """On small systems: it refuses to print if another method finds another solution."""
    monkeypatch.setattr(baraff, "EXPERIMENTS", (("plane", 5, 3), ("space", 4, 6)))
    monkeypatch.setattr(baraff, "SHAPES", {"chain": named.chain})
    monkeypatch.setattr(baraff, "LARGEST", 100)
    monkeypatch.setattr(baraff, "SECONDS", 0.0)
    monkeypatch.setattr(baraff, "BATCH", 3)
    report = bough.paper.report("baraff")
    counted, measured, scaling, curves = report.items
    assert isinstance(counted, Table)
    assert isinstance(measured, Table)
    assert isinstance(scaling, Table)
    assert isinstance(curves, Curves)
    assert [row[1] for row in counted.rows] == [8, 9]
    assert all(np.isfinite(row[1:5]).all() for row in measured.rows)  # type: ignore[arg-type]
    assert [n for n, _ in curves.lines[0][1]] == [10, 100]
    assert "baraff" in bough.paper.measured()
    assert "baraff" not in bough.paper.names()
    assert "SuperLU" in str(report)
