"""Massless moving bodies are legal: inverse dynamics and the mass matrix exist, forward dynamics names the joint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bough
from closeness import assert_close

Row = tuple[str, bough.Joint, str, dict[str, Any]]

SOLID: dict[str, Any] = {"mass": 1.0, "com": (0.1, 0.2, 0.3), "inertia": 0.1}
X, Y, Z = bough.Revolute("x"), bough.Revolute("y"), bough.Revolute("z")
SKEW = np.array([1.0, 2.0, 3.0]) / np.sqrt(14.0)
ABOUT, ALONG = bough.Revolute(SKEW), bough.Prismatic(SKEW)
ELSEWHERE: dict[str, Any] = {"at": (0.3, 0.2, 0.1), "rpy": (1.0, 2.0, 3.0)}
TILT = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]

# what is there, and the joint at fault: where several are, the one that elimination meets first
CASES: dict[str, tuple[list[Row], str]] = {
    "a leaf without mass": ([("a", X, "world", SOLID), ("b", Y, "a", {})], "b"),
    "nothing has mass": ([("a", X, "world", {})], "a"),
    "one branch of two": ([("a", X, "world", SOLID), ("b", Y, "a", {}), ("c", Z, "a", SOLID)], "b"),
    "a chain without mass": (
        [("a", X, "world", SOLID), ("b", Y, "a", {}), ("c", bough.Spherical(), "b", {"at": (1, 2, 3)})],
        "c[2]",
    ),
    "a leaf that slides": ([("a", X, "world", SOLID), ("b", bough.Prismatic("y"), "a", {"inertia": 0.1})], "b"),
    "a point on the axis": ([("a", Z, "world", {"mass": 1.0, "com": (0, 0, 2)})], "a"),
    "a point on a skew axis": ([("a", ABOUT, "world", {"mass": 1.0, "com": 0.7 * SKEW})], "a"),
    "a point on a skew axis, carried": (
        [("a", X, "world", SOLID), ("b", ABOUT, "a", {"mass": 1.0, "com": 0.7 * SKEW, **ELSEWHERE})],
        "b",
    ),
    "a point that slides on the axis": ([("a", ABOUT, "world", {}), ("b", ALONG, "a", {"mass": 1.0})], "a"),
    "a point merged onto the axis": (
        [("a", ABOUT, "world", {}), ("b", bough.Fixed(), "a", {"at": 0.7 * SKEW, "rpy": (1, 2, 3), "mass": 1.0})],
        "a",
    ),
    "two joints about one axis": ([("a", ABOUT, "world", {}), ("b", ABOUT, "a", {"at": 0.7 * SKEW, **SOLID})], "a"),
    "two joints about one axis, carried": (
        [("0", X, "world", SOLID), ("a", ABOUT, "0", ELSEWHERE), ("b", ABOUT, "a", {"at": 0.7 * SKEW, **SOLID})],
        "a",
    ),
    "a point that may turn": ([("a", bough.Spherical(), "world", {"mass": 1.0, "com": (0, 0, 0.3)})], "a[2]"),
    "a free point": ([("a", bough.Free(), "world", {"mass": 1.0})], "a[5]"),
    "a free rod": ([("a", bough.Free(), "world", {"mass": 1.0, "inertia": (1.0, 1.0, 0.0)})], "a[5]"),
    "a follower without mass": (
        [("a", X, "world", SOLID), ("b", Y, "world", {}), ("c", bough.Mimic(Y, "b"), "b", {})],
        "b",
    ),
}

FORWARD: dict[str, Callable[..., Any]] = {
    "aba": lambda m, q, v: bough.aba(m, q, v, v),
    "forward_dynamics": lambda m, q, v: bough.forward_dynamics(m, q, v, v),
    "forward_dynamics by aba": lambda m, q, v: bough.forward_dynamics(m, q, v, v, method="aba"),
    "forward_dynamics by crba": lambda m, q, v: bough.forward_dynamics(m, q, v, v, method="crba"),
    "mass_matrix_inverse": lambda m, q, v: bough.mass_matrix_inverse(m, q),
    "factorize": lambda m, q, v: bough.factorize(m, q),
    "operational_space_inertia": lambda m, q, v: bough.operational_space_inertia(m, q, m.body_names[0], inverse=True),
}


def build(rows: list[Row], **more: Any) -> bough.Model:
    """A model from its bodies, with something added to each joint."""
    b = bough.Builder("light")
    for name, joint, parent, arguments in rows:
        b.add(name, joint, parent, **arguments, **({} if isinstance(joint, bough.Fixed) else more))
    return b.build()


@pytest.fixture
def state(case: str, rng: np.random.Generator) -> tuple[bough.Model, Any, Any]:
    m = build(CASES[case][0])
    return m, bough.random(m, rng), rng.normal(size=m.nv)


@pytest.mark.parametrize("case", CASES)
def test_inverse_dynamics_and_the_mass_matrix_exist(case: str, state: tuple[bough.Model, Any, Any]) -> None:
    m, q, v = state
    M = bough.crba(m, q)
    assert_close(M, bough.mass_matrix_by_rnea(m, q), 1e-14, axes=2, scale=1.0)
    assert abs(np.linalg.eigvalsh(M)[0]) < 1e-15
    zero = np.zeros(m.nv)
    assert_close(bough.rnea(m, q, zero, v) - bough.gravity_forces(m, q), M @ v, 1e-14, scale=1.0)
    assert np.isfinite(bough.coriolis_matrix(m, q, v)).all()
    assert bough.kinetic_energy(m, q, v) == pytest.approx(v @ M @ v / 2, rel=1e-14, abs=1e-15)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", FORWARD)
def test_forward_dynamics_names_the_joint(case: str, name: str, state: tuple[bough.Model, Any, Any]) -> None:
    m, q, v = state
    at_fault = CASES[case][1].replace("[", r"\[").replace("]", r"\]")
    for _ in range(2):  # the second time from what was remembered of the first
        with pytest.raises(bough.SingularError, match=f"joint '{at_fault}'"):
            FORWARD[name](m, q, v)


@pytest.mark.parametrize("case", CASES)
def test_with_armature_all_is_well(case: str, rng: np.random.Generator) -> None:
    m = build(CASES[case][0], armature=0.2)
    q, v, a = bough.random(m, rng), rng.normal(size=m.nv), rng.normal(size=m.nv)
    tau, M = bough.rnea(m, q, v, a), bough.crba(m, q)
    assert np.linalg.eigvalsh(M)[0] > 0.05
    assert_close(bough.aba(m, q, v, tau), a, 1e-12)
    assert_close(bough.forward_dynamics(m, q, v, tau, method="crba"), a, 1e-12)
    assert_close(bough.mass_matrix_inverse(m, q) @ M, np.eye(m.nv), 1e-13, axes=2)
    assert_close(bough.factorize(m, q).solve(M @ a), a, 1e-13)


def test_points_on_axes_of_any_direction(rng: np.random.Generator) -> None:
    """Turning the axis to z leaves rounding errors in the inertia, which must not pass for inertia."""
    for axis in rng.normal(size=(20, 3)):
        m = build([("a", bough.Revolute(axis), "world", {"mass": 3.0, "com": 0.7 * axis})])
        with pytest.raises(bough.SingularError, match="joint 'a'"):
            bough.aba(m, [0.3], [0.0], [1.0])


def test_a_body_inside_without_mass_is_regular(rng: np.random.Generator) -> None:
    """A massless body that carries one with mass, on axes that differ, is an ordinary mechanism."""
    m = build([("a", X, "world", {}), ("b", Y, "a", ELSEWHERE), ("c", Z, "b", {**ELSEWHERE, **SOLID})])
    q, v, a = bough.random(m, rng), rng.normal(size=3), rng.normal(size=3)
    assert_close(bough.aba(m, q, v, bough.rnea(m, q, v, a)), a, 1e-10)
    assert np.linalg.eigvalsh(bough.crba(m, q))[0] > 1e-3


@pytest.mark.parametrize("mass", [1e-12, 1e-6, 1.0, 1e6, 1e12])
def test_small_and_large_are_not_singular(mass: float, rng: np.random.Generator) -> None:
    """Only the proportions of a mechanism decide, not its units."""
    scaled = {"mass": mass, "com": (0.1, 0.2, 0.3), "inertia": 0.1 * mass}
    m = build([("a", X, "world", scaled), ("b", Y, "a", scaled)])
    q, v, a = bough.random(m, rng), rng.normal(size=2), rng.normal(size=2)
    assert_close(bough.aba(m, q, v, bough.rnea(m, q, v, a)), a, 1e-12)
    bough.factorize(m, q)


def test_a_singular_state_in_a_batch_is_named() -> None:
    """A point mass on two axes that meet: singular only where the second turns it onto the first."""
    rows: list[Row] = [("a", X, "world", {}), ("b", Z, "a", {"mass": 1.0, "com": (0.5, 0, 0)})]
    m = build(rows)
    q = np.zeros((2, 3, 2))
    q[..., 1] = np.pi / 2
    zero = np.zeros(2)
    assert bough.aba(m, q, zero, zero).shape == (2, 3, 2)
    q[1, 2, 1] = 0.0
    for method in ("aba", "crba"):
        with pytest.raises(bough.SingularError, match=r"joint 'a' .*in state \[1, 2\].* pivot is"):
            bough.forward_dynamics(m, q, zero, zero, method=method)
    with pytest.raises(bough.SingularError, match=r"matrix \(1, 2\): row 1 \(joint 'a'\)"):
        bough.factorize(m, q)


def test_counts_name_the_joint() -> None:
    m = build(CASES["a leaf without mass"][0])
    assert bough.count(m, "rnea").mul > 0
    assert bough.count(m, "crba").trig > 0
    for optimized in (False, True):
        with pytest.raises(bough.SingularError, match="joint 'b'"):
            bough.count(m, "aba", optimized=optimized)
