"""The report on Baraff's experiments: its systems are those of the paper, and all ways find one solution."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bough
from bough.cost import baraff, experiments, scaling, solvers, timing
from bough.cost.gradients import Gradients
from bough.cost.report import Panels, Table
from bough.tree import named


@pytest.fixture
def machine_code() -> Iterator[None]:
    before = bough.get_backend()
    bough.set_backend("llvm")
    yield
    bough.set_backend(before)


def test_systems_are_those_of_the_paper() -> None:
    made = [make() for make in baraff.EXPERIMENTS.values()]
    assert [len(one.system.constraints) for one in made] == [54, 48, 32, 32, 127]
    assert [one.system.nc for one in made] == [108, 96, 96, 96, 381]
    assert [one.beside.rows.nc if one.beside else 0 for one in made] == [0, 12, 0, 3, 0]
    assert set(baraff.PAPER) < set(baraff.EXPERIMENTS)


@pytest.mark.parametrize("d", [3, 6])
def test_joined_points_stay_together(d: int) -> None:
    """Bodies that turn about the joint as one keep it together; moving one alone does not."""
    p = 2 if d == 3 else 3
    r = np.array([[0.3, -0.2, 0.5][:p]])
    (J,) = experiments.point_rows(r, d)
    turn = np.zeros(d)
    turn[p:] = [0.7] if d == 3 else [0.7, -0.4, 0.2]
    w = np.array([0.0, 0.0, 0.7]) if d == 3 else turn[3:]
    np.testing.assert_allclose(J @ turn, np.cross(w, np.append(r[0], [0.0] * (3 - p)))[:p], atol=1e-15)
    np.testing.assert_array_equal(J[:, :p], np.eye(p))


def small(name: str) -> experiments.Experiment:
    """Systems of each sort, small."""
    plane, space = experiments.experiment(9, 3), experiments.experiment(6, 6)
    return {
        "tree": space,
        "held": experiments.experiment(0, 6, named.star(5)),
        "loops": experiments.with_loops(plane, 2),
        "contacts": experiments.with_contacts(space, 3),
    }[name]


@pytest.mark.parametrize("name", ["tree", "held", "loops", "contacts"])
def test_all_ways_find_one_solution(name: str) -> None:
    made = small(name)
    pushing = made.beside is not None and made.beside.pushing
    want = np.concatenate(baraff.solution(made))
    ways = [way for make in ([solvers.dense] if pushing else solvers.SOLVERS.values()) for way in make(made)]
    assert len(ways) >= (1 if pushing else 4)  # dense, and SuperLU in three orders; others where they are installed
    for way in ways:
        np.testing.assert_allclose(way(), want, rtol=0, atol=1e-9 * np.abs(want).max())


def test_the_solution_meets_the_equations() -> None:
    made = small("contacts")
    assert made.beside is not None
    a, lam, f = baraff.solution(made)
    M, J = experiments.kkt(made)
    np.testing.assert_allclose(M @ a - J.T @ np.concatenate([lam, f]) - made.force, 0.0, atol=1e-9)
    rows = J @ a + np.concatenate([made.c, made.beside.c])
    np.testing.assert_allclose(rows[: made.system.nc], 0.0, atol=1e-9)
    assert (f >= 0.0).all()
    assert f.any()
    assert (rows[made.system.nc :] >= -1e-9).all()
    assert abs(f @ rows[made.system.nc :]) <= 1e-9


def test_many_states_differ_and_each_is_solved() -> None:
    made = small("loops")
    many = made.many(3)
    assert many.beside is not None
    together = baraff.solution(many)
    for k in range(3):
        beside = replace(many.beside, jacobian=many.beside.jacobian[k], c=many.beside.c[k])
        one = experiments.Experiment(made.system, *(x[k] for x in many.arguments[1:]), beside)  # type: ignore[arg-type]
        for x, y in zip(together, baraff.solution(one), strict=True):
            np.testing.assert_allclose(x[k], y, rtol=1e-9, atol=1e-9)
    assert np.ptp(together[0], axis=0).min() > 0.0


def test_without_scipy_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baraff, "EXPERIMENTS", {"plane": lambda: experiments.experiment(3, 3)})
    monkeypatch.setitem(sys.modules, "scipy.linalg", None)
    with pytest.raises(bough.BoughError, match=r"pip install 'bough\[paper\]'"):
        baraff.baraff()


def test_solvers_that_are_not_installed_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "qdldl", None)
    monkeypatch.setitem(sys.modules, "cvxopt", None)
    assert solvers.qdldl(small("tree")) == solvers.cholmod(small("tree")) == []


def test_report(machine_code: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """On small systems: it refuses to print if another method finds another solution."""
    shapes = {"tree": lambda: small("tree"), "loops": lambda: small("loops"), "contacts": lambda: small("contacts")}
    monkeypatch.setattr(baraff, "EXPERIMENTS", shapes)
    monkeypatch.setattr(scaling, "SHAPES", {"chain": named.chain, "binary tree": named.chain})
    monkeypatch.setattr(scaling, "MOST_BODIES", 100)
    monkeypatch.setattr(baraff, "SECONDS_EACH", 0.0)
    monkeypatch.setattr(baraff, "MANY_STATES", 3)
    report = bough.papers.report("baraff")
    counted, times, ratios, steps, largest, sparse, dense = report.items
    assert isinstance(counted, Table)
    assert isinstance(times, Table)
    assert isinstance(ratios, Table)
    assert isinstance(steps, Table)
    assert [row[0] for row in steps.rows] == ["tree", "loops"]
    assert isinstance(largest, Table)
    assert isinstance(sparse, Panels)
    assert isinstance(dense, Panels)
    assert [row[1] for row in counted.rows] == [15]
    assert all(isinstance(row[k], float) for row in times.rows for k in (1, 3))
    assert [name for name, _ in sparse.panels] == ["chain", "binary tree"]
    assert [n for n, _ in sparse.panels[0][1][0][1]] == [10, 100]
    assert [label for label, _ in dense.panels[0][1]] == ["bough", "dense"]
    assert "baraff" in bough.papers.measured()
    assert "baraff" not in bough.papers.names()
    assert "SuperLU" in str(report)
    assert [file.name for file in report.draw(tmp_path)] == ["baraff_1.png", "baraff_2.png"]


@pytest.mark.parametrize("name", ["tree", "loops"])
def test_conjugate_gradients_find_the_solution(name: str) -> None:
    made = small(name)
    want, solver = np.concatenate(baraff.solution(made)), Gradients(made)
    found, steps = solver.solve(1e-12)
    np.testing.assert_allclose(found, want, rtol=0, atol=1e-9 * np.abs(want).max())
    rough, fewer = solver.solve(1e-2)
    assert 0 < fewer < steps
    assert np.abs(rough - want).max() < 0.5 * np.abs(want).max()


def test_others_work_on_one_thread_while_times_are_taken() -> None:
    before = [get() for _, get in timing._blas()]
    with timing.one_thread():
        assert bough.get_num_threads() == 1
        assert {get() for _, get in timing._blas()} <= {1}
    assert [get() for _, get in timing._blas()] == before


def test_the_power_that_times_grow_with() -> None:
    points = [(10.0, 1e9), (1e3, 2.0), (1e4, 20.0), (1e5, 200.0)]
    assert scaling._power(points) == pytest.approx(1.0)


def test_differences_of_times_below_zero_say_nothing_of_the_power() -> None:
    assert scaling._power([(10.0, -1.0), (1e3, 2.0), (1e4, 20.0)]) == pytest.approx(1.0)
    assert np.isnan(scaling._power([(10.0, 1.0), (1e3, -2.0)]))
    assert np.isnan(scaling._power([]))
