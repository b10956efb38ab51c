"""Numbers near the ends of what floats can say: results are finite, or refused, and never late."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import bough
from bough.lcp import Conditions
from wrong_arguments import MODEL, TOUCH, Q, V

HUGE = [1e150, 1e155, 1e160, 1e200, 1e300, 1e307, 1e308]


@pytest.fixture(autouse=True)
def _warnings_are_errors() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def finite_or_refused(call: Any) -> Any:
    """The result, of which every number is finite, or None where it was refused as too large."""
    try:
        result = call()
    except (bough.errors.FiniteError, bough.errors.SingularError):
        return None
    parts = vars(result).values() if hasattr(result, "__dict__") else result if isinstance(result, tuple) else (result,)
    for part in parts:
        if isinstance(part, np.ndarray) and part.dtype.kind == "f":
            assert np.isfinite(part).all()
    return result


# --- linkages ---


def bodies() -> bough.maximal.Linkage:
    kinds = {
        "rigid": bough.maximal.bodies.Rigid(1.0),
        "flat": bough.maximal.bodies.PlanarRigid(1.0),
        "dot": bough.maximal.bodies.Particle(1.0),
    }
    return bough.maximal.Linkage({**kinds, "scaled": bough.maximal.bodies.ScaledRigid(1.0)})


@pytest.mark.parametrize("size", HUGE)
def test_linkages_move_far_or_not_at_all(size: float) -> None:
    free = bodies()
    rod = bough.maximal.Linkage(
        {"bob": bough.maximal.bodies.Particle(2.0)}, {"rod": (bough.maximal.constraints.Distance(1.0), "bob")}
    )
    for _ in range(2):  # the second call may take a shorter way
        for linkage, x in ((free, free.neutral()), (rod, np.array([0.0, 0.0, 1.0]))):
            v = np.full(linkage.nv, size)
            for name in ("integrate", "rates", "accelerations", "impulses", "terms"):
                finite_or_refused(lambda name=name, linkage=linkage, x=x, v=v: getattr(linkage, name)(x, v))
                good = getattr(linkage, name)(x, np.ones(linkage.nv))  # and what is not large is no worse afterwards
                assert finite_or_refused(lambda good=good: good) is not None


def test_integration_to_infinity_is_refused_by_name() -> None:
    free = bodies()
    with pytest.raises(bough.errors.FiniteError, match="integrate of a linkage: the result is not finite"):
        free.integrate(free.neutral(), np.full(free.nv, 1e200))
    particle = bough.maximal.Linkage({"dot": bough.maximal.bodies.Particle(1.0)})
    assert particle.integrate(np.zeros(3), np.full(3, 1e200)).tolist() == [1e200] * 3  # this one is there


# --- constraints and contact ---


@pytest.mark.parametrize("size", HUGE)
def test_motion_with_constraints(size: float) -> None:
    large = np.full(MODEL.nv, size)
    for method in ("multipliers", "null_space", "kkt"):
        finite_or_refused(lambda m=method: bough.forward_dynamics(MODEL, Q, V, large, method=m))
        finite_or_refused(lambda m=method: bough.forward_dynamics(MODEL, Q, large, V, method=m))
    for call in (
        lambda: bough.forward_dynamics(MODEL, Q, V, large, full=True),
        lambda: bough.forward_dynamics(MODEL, Q, large, V, full=True),
        lambda: bough.loops.consistent_velocity(MODEL, Q, large),
        lambda: bough.loops.project(MODEL, Q, large),
    ):
        finite_or_refused(call)


@pytest.mark.parametrize("size", HUGE)
@pytest.mark.parametrize("solver", ["pivoting", "gauss_seidel"])
def test_motion_with_contact(size: float, solver: Any) -> None:
    large = np.full(MODEL.nv, -size)
    at: dict[str, Any] = {"touch": TOUCH, "solver": solver}
    bouncing, sunk = at | {"touch": TOUCH.replace(restitution=0.5)}, at | {"touch": TOUCH.replace(gaps=-size)}
    for call in (
        lambda: bough.contact.dynamics(MODEL, Q, large, V, **at),
        lambda: bough.contact.dynamics(MODEL, Q, V, large, **at),
        lambda: bough.contact.velocities(MODEL, Q, large, **at),
        lambda: bough.contact.impulses(MODEL, Q, large, **at),
        lambda: bough.contact.impulses(MODEL, Q, large, **bouncing),
        lambda: bough.contact.step(MODEL, Q, large, V, dt=0.01, **at),
        lambda: bough.contact.step(MODEL, Q, V, V, dt=0.01, **sunk),
    ):
        finite_or_refused(call)


# --- complementarity ---

ROWS = [
    Conditions.equalities(6),
    Conditions.inequalities(6),
    Conditions.contacts(2),
    Conditions.contacts(2, "cone"),
    Conditions.boxes(6),
    Conditions.contacts(1) + Conditions.equalities(3),
]


def problem(rng: np.random.Generator, rank: int) -> tuple[Any, Any]:
    J = rng.normal(size=(6, rank))
    return J @ J.T, J @ rng.normal(size=rank)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("rows", ROWS, ids=lambda rows: "+".join(dict.fromkeys(rows.kinds)))
@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-300, 1e-200, 1e155, 1e300])
def test_problems_of_any_size(rows: Conditions, size: float, rng: np.random.Generator) -> None:
    bounds = {"bounds": (-1.0, 1.0)} if rows.box.size else {}
    for rank in (3, 6):
        A, b = problem(rng, rank)
        for solve in (bough.lcp.pivoting, bough.lcp.gauss_seidel):
            for given in ((A * size, b), (A, b * size), (A * size, b * size)):
                finite_or_refused(lambda s=solve, g=given: s(*g, rows, 0.5, **bounds))
        finite_or_refused(lambda A=A, b=b: bough.lcp.residual(A * size, b, b * size, rows, 0.5, **bounds))


@pytest.mark.parametrize("rows", [rows for rows in ROWS if not rows.box.size], ids=lambda rows: str(rows.n))
@pytest.mark.parametrize("exponent", [-1000, -900, 300])
def test_the_size_of_a_problem_does_not_matter(rows: Conditions, exponent: int, rng: np.random.Generator) -> None:
    """A and b times a power of two have the same forces."""
    A, b = problem(rng, 6)
    good = bough.lcp.pivoting(A, b, rows, 0.5)
    other = bough.lcp.pivoting(A * 2.0**exponent, b * 2.0**exponent, rows, 0.5)
    assert good.solved
    assert other.solved
    assert np.allclose(other.f, good.f, rtol=1e-9, atol=1e-9)
    assert np.allclose(other.a * 2.0**-exponent, good.a, rtol=0, atol=1e-6)


@pytest.mark.usefixtures("compiled")
def test_rows_of_very_different_sizes(rng: np.random.Generator) -> None:
    """Each row in units of its own, up to the ends: nothing hangs, nothing that is no number comes out."""
    for _ in range(60):
        rows = ROWS[int(rng.integers(len(ROWS)))]
        A, b = problem(rng, int(rng.integers(1, 7)))
        units = 10.0 ** rng.uniform(-161, 150, size=6)
        with np.errstate(all="ignore"):
            A, b = units[:, None] * A * units, units * b
        if np.isfinite(A).all():
            bounds = {"bounds": (-1.0, 1.0)} if rows.box.size else {}
            finite_or_refused(lambda A=A, b=b, r=rows, k=bounds: bough.lcp.pivoting(A, b, r, 0.5, **k))
            finite_or_refused(lambda A=A, b=b, r=rows, k=bounds: bough.lcp.gauss_seidel(A, b, r, 0.5, **k))


def test_tiny_problems_in_a_batch_leave_their_neighbours_alone(rng: np.random.Generator) -> None:
    rows = Conditions.contacts(2)
    A, b = problem(rng, 6)
    alone = bough.lcp.pivoting(A, b, rows, 0.5)
    both = bough.lcp.pivoting(np.stack([A * 2.0**-1000, A]), np.stack([b * 2.0**-1000, b]), rows, 0.5)
    assert np.array_equal(both.f[1], alone.f)
    assert np.allclose(both.f[0], alone.f, rtol=1e-9, atol=1e-9)


# --- models ---


@pytest.mark.parametrize("backend", ["reference", "llvm"])
def test_quaternions_of_any_length_are_refused_without_a_warning(backend: str) -> None:
    bough.set_backend(backend)
    try:
        for size in (*HUGE, 1e-320):
            with pytest.raises(bough.errors.FiniteError, match=r"the quaternion q\[\.\.\., 3:7\] has length"):
                bough.placements(MODEL, np.full(MODEL.nq, size))
            with pytest.raises(bough.errors.FiniteError, match="the quaternion in q has length"):
                bough.papers.global_form(MODEL, np.full(MODEL.nq, size))
    finally:
        bough.set_backend(None)


def test_a_heavy_arm_that_cannot_turn_a_frame_is_told_apart_from_one_without_inertia() -> None:
    b = bough.Builder()
    b.add("arm", bough.joints.Revolute("y"), mass=1e200, inertia=1e200)
    b.add("hand", bough.joints.Revolute("y"), "arm", at=(1.0, 0.0, 0.0), mass=1e200, inertia=1e200)
    with pytest.raises(bough.errors.SingularError, match="the frames cannot be moved independently"):
        bough.operational_space_inertia(b.build(), np.zeros(2), "hand")


@pytest.mark.parametrize("far", [1e155, 1e200, 1e300])
@pytest.mark.parametrize("mass", [1e-300, 1.0, 1e300])
def test_bodies_too_far_away_are_named(far: float, mass: float) -> None:
    b = bough.Builder()
    b.add("arm", bough.joints.Revolute("z"), mass=mass, com=(far, far, far), inertia=1.0)
    b.add("hand", bough.joints.Revolute("x"), "arm", at=(far, 0.0, far), mass=1.0, inertia=1.0)
    model = b.build()
    for _ in range(2):
        with pytest.raises(bough.errors.ModelError, match="body 'arm': its moments about the joint"):
            bough.aba(model, *np.zeros((3, 2)))
