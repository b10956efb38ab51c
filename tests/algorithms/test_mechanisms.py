"""Known mechanisms behave: energy, closure, redundant loops, ranks that change, conflicts, assembly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bough
from closeness import assert_close
from mechanisms import closed, energy, four_bar, parallelogram, roll, stewart_platform

NAMES = ("four-bar", "five-bar", "slider-crank", "Stewart platform")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("compiled")
def test_a_passive_mechanism_keeps_its_energy_and_its_loops(name: str) -> None:
    model, q, v = closed(name)
    qs, vs = roll(model, q, v, 2.0 if name != "Stewart platform" else 0.4)
    energies = energy(model, qs, vs)
    assert np.ptp(qs, axis=0).max() > 0.3
    scale = max(np.abs(energies).max(), bough.kinetic_energy(model, qs, vs).max())
    assert np.abs(energies - energies[0]).max() < 1e-6 * scale
    assert np.abs(bough.loops.errors(model, qs)).max() < 1e-6
    rates = np.einsum("...rn,...n->...r", bough.loops.jacobian(model, qs), vs)
    assert np.abs(rates).max() < 1e-6 * np.abs(vs).max()


@pytest.mark.parametrize("name", NAMES)
def test_assembly_meets_the_constraints_and_velocities_are_projected(name: str, rng: np.random.Generator) -> None:
    model, q, v = closed(name)
    assert np.abs(bough.loops.errors(model, q)).max() < 1e-10
    L, M = bough.loops.jacobian(model, q), bough.crba(model, q)
    assert np.abs(L @ v).max() < 1e-12
    assert_close(bough.loops.consistent_velocity(model, q, v), v, 1e-12)
    # what is taken from a velocity is orthogonal, in the metric of M, to all that is allowed
    other = rng.normal(size=model.nv)
    allowed = bough.loops.consistent_velocity(model, q, rng.normal(size=(5, model.nv)))
    assert (
        np.abs(allowed @ M @ (other - bough.loops.consistent_velocity(model, q, other))).max() < 1e-12 * np.abs(M).max()
    )


def test_assembly_holds_what_it_is_told_to_and_takes_batches() -> None:
    model = four_bar()
    guess = np.array([[angle, 0.5, -1.5] for angle in (-2.0, -1.5, -1.0)])
    q = bough.loops.assemble(model, guess, hold=["crank"])
    assert np.array_equal(q[:, 0], guess[:, 0])
    assert np.abs(bough.loops.errors(model, q)).max() < 1e-10


def test_what_cannot_be_assembled_is_said() -> None:
    with pytest.raises(bough.errors.AssemblyError, match=r"constraint 'pin\[\d\]' is not met: it is off by .*"):
        bough.loops.assemble(four_bar(coupler=3.0), np.zeros(3))


def test_the_four_bar_moves_as_by_the_angle_of_its_crank() -> None:
    """Lagrange's equation of the one coordinate that is left, by differences."""
    model, q, v = closed("four-bar")

    def at(angle: float) -> Any:
        return bough.loops.assemble(model, [angle, *q[1:]], hold=["crank"], tolerance=1e-13)

    def inertia(angle: float) -> float:
        there = at(angle)
        rates = bough.loops.jacobian(model, there)[:2]
        ratio = np.array([1.0, *np.linalg.solve(rates[:, 1:], -rates[:, 0])])
        return float(ratio @ bough.crba(model, there) @ ratio)

    h, angle, speed = 1e-4, q[0], v[0]
    slope = (inertia(angle + h) - inertia(angle - h)) / (2 * h)
    weight = (bough.potential_energy(model, at(angle + h)) - bough.potential_energy(model, at(angle - h))) / (2 * h)
    want = (0.7 - weight - slope * speed**2 / 2) / inertia(angle)
    assert np.isclose(bough.forward_dynamics(model, q, v, [0.7, 0, 0])[0], want, rtol=1e-5)


def test_a_drive_on_the_loop_joint_is_one_on_a_joint_of_the_tree() -> None:
    """The same linkage cut at the rocker's foot instead of the pin."""
    model, q, v = closed("four-bar")
    b = bough.Builder("cut elsewhere")
    for entry, body in zip(model.joints[:2], model.bodies[:2], strict=True):
        parent = "world" if body.name == "crank" else "crank"
        b.add(body.name, entry.joint, parent, at=entry.placement, inertia=body.inertia)
    rocker = model.bodies[2]
    b.add(
        "rocker", bough.joints.Revolute("y"), "coupler", at=(0.8, 0, 0), frame_at=(-0.5, 0, 0), inertia=rocker.inertia
    )
    b.loop("foot", bough.joints.Revolute("y"), "world", "rocker", at=(0.7, 0, 0))
    other, torque = b.build(), 1.7
    there = np.array([*q[:2], *bough.loops.coordinates(model, q)])
    speed = np.array([*v[:2], *(bough.loops.coordinate_jacobian(model, q) @ v)])
    assert np.abs(bough.loops.errors(other, there)).max() < 1e-9
    want = bough.forward_dynamics(other, there, speed, [0, 0, torque])
    got = bough.forward_dynamics(model, q, v, bough.loops.coordinate_jacobian(model, q).T @ [torque])
    assert_close(got[:2], want[:2], 1e-7)
    assert np.abs(got - bough.forward_dynamics(model, q, v, np.zeros(3))).max() > 1.0


def test_redundant_rows_of_a_planar_loop_are_counted_out() -> None:
    model, q, v = closed("four-bar")
    motion = bough.forward_dynamics(model, q, v, np.zeros(3), full=True)
    assert (len(model.constraint_names), bough.loops.rank(model, q)) == (5, 2)
    assert motion.conflicts == ()
    assert_close(motion.motion, bough.forward_dynamics(model, q, v, np.zeros(3)), 1e-10)


def test_the_same_loop_twice_is_the_same_motion() -> None:
    model, q, v = closed("Stewart platform")
    loop = model.constraints[0]
    assert isinstance(loop, bough.loops.Loop)
    ends = (model.body_names[loop.predecessor.body - 1], model.body_names[loop.successor.body - 1])
    twice = model.with_loop("again", loop.joint, *ends, successor_at=loop.successor.placement)
    tau = np.linspace(-1, 1, model.nv)
    want = bough.forward_dynamics(model, q, v, tau)
    for method in ("multipliers", "null_space", "kkt"):
        assert_close(bough.forward_dynamics(twice, q, v, tau, method=method), want, 1e-9)
    assert bough.loops.rank(twice, q) == 18


def test_the_rank_falls_where_a_parallelogram_is_flat() -> None:
    """Approaching it, at it and beyond it the answer is finite and is that of the rank test."""
    model = parallelogram()
    angles = np.array([-0.1, -1e-4, -1e-6, -1e-8, 0.0, 1e-8, 1e-6, 1e-4, 0.1])
    q = np.stack([angles, -angles, angles], axis=-1)
    v = np.tile([1.0, -1.0, 1.0], (len(angles), 1))
    assert np.abs(bough.loops.errors(model, q)).max() < 1e-12
    motion = bough.forward_dynamics(model, q, v, np.zeros(3), full=True)
    ranks = bough.loops.rank(model, q).tolist()
    assert ranks in ([2, 2, 2, 1, 1, 1, 2, 2, 2], [2, 2, 1, 1, 1, 1, 1, 2, 2])
    for method in ("multipliers", "kkt"):
        a = bough.forward_dynamics(model, q, v, np.zeros(3), method=method)
        assert np.isfinite(a).all()
        assert_close(a, motion.motion, 1e-6)
    L = bough.loops.jacobian(model, q)
    left = np.einsum("brn,bn->br", L, motion.motion) + bough.loops.bias(model, q, v)
    assert np.abs(left).max() < 1e-6


@pytest.mark.usefixtures("compiled")
def test_a_parallelogram_is_walked_through_its_flat_configuration() -> None:
    model, angle = parallelogram(), -0.4
    qs, vs = roll(model, np.array([angle, -angle, angle]), np.array([2.0, -2.0, 2.0]), 0.4)
    assert qs[0, 0] < -0.3
    assert qs[-1, 0] > 0.3
    energies = energy(model, qs, vs)
    assert np.abs(energies - energies[0]).max() < 1e-6 * np.abs(energies).max()
    assert np.abs(bough.loops.errors(model, qs)).max() < 1e-6


def test_constraints_that_contradict_each_other_are_named() -> None:
    b = bough.Builder("pulled apart")
    b.add("slide", bough.joints.Prismatic("x"), mass=2.0)
    b.add("other", bough.joints.Prismatic("x"), mass=1.0)
    b.equality("here", "slide", None, 0.0)
    b.equality("there", "slide", None, 1.0)
    b.equality("free", "other", None, 0.0)
    model, T = b.build(), 0.1
    motion = bough.forward_dynamics(model, [0.0, 0.0], [0.0, 0.0], [3.0, 0.0], time_constant=T, full=True)
    assert motion.conflicts == ("here", "there")
    assert bough.loops.rank(model, [0.0, 0.0]) == 2
    assert_close(motion.motion, [0.5 / T**2, 0.0], 1e-12)  # the middle between 0 and 1/T²
    for method in ("multipliers", "null_space", "kkt"):
        a = bough.forward_dynamics(model, [0.0, 0.0], [0.0, 0.0], [3.0, 0.0], method=method, time_constant=T)
        assert_close(a, motion.motion, 1e-12)


@pytest.mark.usefixtures("compiled")
def test_batches_give_what_single_states_give(rng: np.random.Generator) -> None:
    model, q, _ = closed("four-bar")
    qs = bough.loops.assemble(model, q + 0.1 * rng.normal(size=(40, 3)))
    qs[7] = q
    vs, tau = bough.loops.consistent_velocity(model, qs, rng.normal(size=(40, 3))), rng.normal(size=(40, 3))
    together = bough.forward_dynamics(model, qs, vs, tau)
    alone = np.array([bough.forward_dynamics(model, *x) for x in zip(qs, vs, tau, strict=True)])
    assert np.array_equal(together, alone)
    out = np.empty_like(together)
    assert bough.forward_dynamics(model, qs, vs, tau, out=out) is out
    assert np.array_equal(out, together)
    assert bough.forward_dynamics(model, qs, vs[0], tau[:, None]).shape == (40, 40, 3)


def test_single_precision_is_computed_in_double() -> None:
    model, q, v = closed("four-bar")
    single = [x.astype(np.float32) for x in (q, v, np.ones(3))]
    got = bough.forward_dynamics(model, *single)
    want = bough.forward_dynamics(model, *(x.astype(float) for x in single))
    assert got.dtype == np.float32
    assert np.array_equal(got, want.astype(np.float32))
    value = bough.function("forward_dynamics", model)
    value.compile(dtype="float32")
    out = np.empty(3, np.float32)
    assert value(*single, out=out) is out
    assert np.array_equal(out, got)
    assert bough.forward_dynamics(model, *single[:2], [1.0, 1.0, 1.0]).dtype == np.float64
    whole = bough.forward_dynamics(model, *single, full=True)
    assert whole.motion.dtype == whole.loop_forces.dtype == np.float32
    with pytest.raises(bough.errors.ShapeError, match="tau has data type"):
        bough.forward_dynamics(model, *single[:2], "none")  # type: ignore[arg-type]


@pytest.mark.usefixtures("compiled")
def test_states_in_doubt_are_solved_within_a_batch() -> None:
    model = parallelogram()
    angles = np.array([0.5, 0.0, -0.5, 1e-4])
    q, v = np.stack([angles, -angles, angles], axis=-1), np.tile([1.0, -1.0, 1.0], (4, 1))
    for _ in range(3):  # the first call compiles, the next ones are the fast ones
        a = bough.forward_dynamics(model, q, v, np.zeros((4, 3)))
        assert_close(a, bough.forward_dynamics(model, q, v, np.zeros(3), full=True).motion, 1e-7)
        tau = np.zeros((4, 3))
        assert np.array_equal(bough.forward_dynamics(model, q, v, tau, out=tau), a)  # written over an argument


def test_what_is_refused() -> None:
    model, q, v = closed("four-bar")
    none = np.zeros(3)
    with pytest.raises(bough.errors.UnknownNameError, match="no method of forward dynamics is called 'fast'"):
        bough.forward_dynamics(model, q, v, none, method="fast")  # type: ignore[arg-type]
    for wrong in (0.0, -1.0, np.nan, "slow"):
        with pytest.raises(bough.errors.ModelError, match="the time constant of constraints is"):
            bough.forward_dynamics(model, q, v, none, time_constant=wrong)  # type: ignore[arg-type]
    with pytest.raises(bough.errors.FiniteError, match="q"):
        bough.forward_dynamics(model, [np.nan, 0, 0], v, none)
    with pytest.raises(bough.errors.ModelError, match="there is a constraint of this name already"):
        model.with_loop("pin", bough.joints.Fixed(), "crank", "world")
    with pytest.raises(bough.errors.UnknownNameError, match="did you mean 'crank'"):
        model.with_loop("new", bough.joints.Fixed(), "cranc", "world")
    with pytest.raises(bough.errors.ModelError, match="expected one with a motion of its own"):
        model.with_loop("new", bough.joints.Mimic(bough.joints.Revolute("z"), "crank"), "crank", "world")


def test_a_model_without_constraints_moves_freely(rng: np.random.Generator) -> None:
    model = bough.trees.topologies.chain(4)
    q, v, tau = rng.normal(size=(3, 4))
    want = bough.aba(model, q, v, tau)
    whole = bough.forward_dynamics(model, q, v, tau, full=True)
    for found in (bough.forward_dynamics(model, q, v, tau), whole.motion):
        assert_close(found, want, 1e-10)
    assert whole.loop_forces.shape == (0,)
    assert whole.conflicts == ()
    assert bough.loops.rank(model, q) == 0


def test_many_loops_are_left_to_the_rank_test() -> None:
    model, q, v = closed("Stewart platform")
    for k, ball in enumerate(2 * model.loops):
        sides = {"successor_at": ball.successor.placement}
        model = model.with_loop(f"again {k}", ball.joint, f"piston {k % 6}", "plate", **sides)
    assert len(model.constraint_names) > 48
    want = bough.forward_dynamics(stewart_platform(), q, v, np.zeros(model.nv))
    assert_close(bough.forward_dynamics(model, q, v, np.zeros(model.nv)), want, 1e-9)


@pytest.mark.parametrize("speed", [3.0, 6.0, 10.0, 20.0])
@pytest.mark.usefixtures("compiled")
def test_a_parallelogram_survives_a_hundred_passages_through_flat(speed: float) -> None:
    """Where it is flat its rank falls, and another motion branches off; errors displace it more the nearer it is."""
    model, crank = four_bar(0.5, 1.0, 0.5, 1.0), -0.7
    q, v = np.array([crank, -crank, crank]), np.array([speed, -speed, speed])
    qs, vs = [], []
    for _ in range(30):  # pieces, until there are enough of them
        q_part, v_part = roll(model, q, v, 30.0 / speed, step=2e-3)
        qs.append(q_part[1:])
        vs.append(v_part[1:])
        q, v = q_part[-1], v_part[-1]
        cranks = np.concatenate(qs)[:, 0]
        if np.count_nonzero(np.diff(np.sign(np.sin(cranks)))) >= 100:
            break
    else:
        pytest.fail("it does not come through flat a hundred times")
    energies = energy(model, np.concatenate(qs), np.concatenate(vs))
    assert np.ptp(energies) < 1e-4 * bough.kinetic_energy(model, np.concatenate(qs), np.concatenate(vs)).max()
    assert np.abs(bough.loops.errors(model, np.concatenate(qs))).max() < 1e-6
