"""Methods 1, 2 and 3 of Featherstone & Orin 2000: each as the paper says, equal in result, counted and chosen."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest

import bough
from bough.algorithms.closed_loops import LoopMethod
from bough.algorithms.clusters import clusters
from bough.algorithms.loop_choice import cheapest_method, method_operations
from bough.algorithms.saddle_tree import saddle_tree
from bough.kernel.functions import mechanism
from bough.kernel.loops.saddle import nearest
from bough.kernel.specs import Options, spec
from bough.program import evaluate
from closeness import assert_close
from mechanisms import MADE, closed, parallelogram, random_loops

METHODS: tuple[LoopMethod, ...] = get_args(LoopMethod)
ROD = {"mass": 1.0, "com": (0.2, 0.0, 0.0), "inertia": (1e-3, 0.02, 0.02)}


def four_bars(count: int, chained: bool = False) -> bough.Model:
    """Four-bars beside each other, or each on the coupler of the one before."""
    b, base = bough.Builder(f"{count} four-bars"), "world"
    for k in range(count):
        at = (0.4, 0.0, 0.0) if chained and k else (0.0, float(k), 0.0)
        b.add(f"crank {k}", bough.joints.Revolute("y"), base, at=at, **ROD)
        b.add(f"coupler {k}", bough.joints.Revolute("y"), f"crank {k}", at=(0.3, 0, 0), **ROD)
        b.add(f"rocker {k}", bough.joints.Revolute("y"), base, at=(at[0] + 0.7, at[1], 0), **ROD)
        ends = (f"coupler {k}", f"rocker {k}")
        b.loop(f"pin {k}", bough.joints.Revolute("y"), *ends, at=(0.8, 0, 0), successor_at=(0.5, 0, 0))
        base = f"coupler {k}" if chained else "world"
    return b.build()


def solved(model: bough.Model, method: LoopMethod, q: Any, v: Any, tau: Any) -> dict[str, Any]:
    """What the rule of a method gives over plain numbers."""
    state = {"q": list(q), "v": list(v), "tau": list(tau)}
    found = spec(f"constrained_motion_by_{method}").run(mechanism(model), Options(), state)
    return {key: np.array(found[key], float) for key in ("qdd", "forces")} | {"doubt": bool(found["doubt"])}


@pytest.mark.parametrize(
    ("kinds", "mimic"), [(("spherical",), False), (("revolute", "revolute"), True), (("prismatic", "fixed"), False)]
)
def test_methods_agree_on_random_mechanisms(kinds: tuple[str, ...], mimic: bool) -> None:
    """And the equations of motion hold, with rows that are redundant and rows that are not."""
    rng, sure = np.random.default_rng(len(kinds) + 7 * mimic), 0
    for _ in range(2):
        model, q = random_loops(rng, kinds, mimic=mimic)
        v = bough.loops.consistent_velocity(model, q, rng.normal(size=model.nv))
        tau = rng.normal(size=model.nv)
        found = {method: solved(model, method, q, v, tau) for method in METHODS}
        if any(result["doubt"] for result in found.values()):
            continue
        sure += 1
        L, M, C = bough.loops.jacobian(model, q), bough.crba(model, q), bough.rnea(model, q, v, np.zeros(model.nv))
        for result in found.values():
            assert_close(result["qdd"], found["multipliers"]["qdd"], 1e-9, scale=1.0)
            assert_close(result["forces"], found["multipliers"]["forces"], 1e-9, scale=1.0)
            assert_close(M @ result["qdd"] + C, tau + L.T @ result["forces"], 1e-9)
    assert sure


@pytest.mark.parametrize("name", ["five-bar", "Stewart platform", "scissor lift", "leg"])
def test_methods_agree_on_known_mechanisms(name: str) -> None:
    """Nothing is in doubt there, so each result is that of its own program; redundant rows share the load alike."""
    model, q, v = closed(name)
    tau = np.random.default_rng(0).normal(size=model.nv)
    found = {method: solved(model, method, q, v, tau) for method in METHODS}
    for result in found.values():
        assert not result["doubt"]
        assert_close(result["qdd"], found["multipliers"]["qdd"], 1e-9)
        assert_close(result["forces"], found["multipliers"]["forces"], 1e-9)


@pytest.mark.usefixtures("compiled")
def test_methods_agree_where_the_rank_changes() -> None:
    """A parallelogram that passes through flat, in steps that come as near as rounding allows."""
    model = parallelogram()
    angles = np.concatenate([np.geomspace(1e-14, 1.0, 29), [0.0, 0.3]])
    states = np.stack([angles, -angles, angles], axis=-1)
    assert np.abs(bough.loops.errors(model, states)).max() < 1e-12
    ranks = bough.loops.rank(model, states)
    assert set(ranks) == {1, 2}
    v = bough.loops.consistent_velocity(model, states, np.ones(3))
    results = [bough.forward_dynamics(model, states, v, np.ones(3), method=method) for method in METHODS]
    for result in results:
        assert_close(result, results[0], 1e-9)


def test_dense_solutions_are_those_of_their_equations() -> None:
    """With rows of which some depend on others, and some are zero: they are met, and forces are along the rows."""
    rng = np.random.default_rng(4)
    L = np.concatenate(
        [rows := rng.normal(size=(20, 4, 9)), rows[:, :2] @ np.eye(9) * 2.0, np.zeros((20, 1, 9))], axis=1
    )
    R = rng.normal(size=(20, 9, 9))
    M, f = R @ np.swapaxes(R, 1, 2) + np.eye(9), rng.normal(size=(20, 9))
    free, c = np.linalg.solve(M, f[..., None])[..., 0], (L @ rng.normal(size=(20, 9, 1)))[..., 0]
    found = nearest(M, L, free, c, range(7))
    assert (found.rank == 4).all()
    assert_close((L @ found.x[..., None])[..., 0], c, 1e-10)
    pushed = f + (np.swapaxes(L, 1, 2) @ found.multipliers[..., None])[..., 0]
    assert_close((M @ found.x[..., None])[..., 0], pushed, 1e-9)


def test_the_fewest_operations_are_taken() -> None:
    """Method 3 pays where loops leave few freedoms, and multipliers are cheapest as soon as they can be eliminated."""
    chain = mechanism(four_bars(5, chained=True))
    counted = {m: bough.count(chain.model, f"constrained_dynamics_by_{m}").total for m in METHODS}
    assert method_operations(chain) == counted
    assert clusters(chain).freedom == 5
    assert counted["null_space"] < min(counted["kkt"], counted["multipliers"])
    assert cheapest_method(chain) == "null_space"
    platform = mechanism(MADE["Stewart platform"]())
    assert clusters(platform).freedom == 6
    assert cheapest_method(platform) != "null_space"
    assert bough.count(chain.model, "constrained_dynamics") == bough.count(
        chain.model, "constrained_dynamics_by_null_space"
    )


def test_explain_says_which_method_and_why() -> None:
    """With the operations of each, and what loops leave free."""
    text = str(bough.explain(four_bars(5, chained=True)))
    assert "null_space is taken: it has the fewest operations" in text
    dynamics = text.partition("Derivatives")[0]  # which have a table of their own
    assert dynamics.count(" taken ") + dynamics.count(" taken\n") == 1
    assert "Without loops and couplings, " in text
    assert "Loops and couplings remove 10 of 15 velocities; 5 are free" in text


def test_independent_loops_cost_what_they_cost_alone() -> None:
    """Programs with loops: operations in proportion to the number of four-bars, instructions the same."""
    sizes, lengths = {}, set()
    for count in (24, 48):
        model = four_bars(count)
        sizes[count] = bough.count(model, "constrained_dynamics", optimized=True).total
        lengths.add(len(str(bough.function("constrained_dynamics", model).program()).splitlines()))
    assert sizes[48] <= 2.01 * sizes[24]
    assert max(lengths) - min(lengths) < 10


@pytest.mark.parametrize("chained", [False, True])
def test_early_elimination_never_has_more_to_do(chained: bool) -> None:
    """The tree with multipliers as soon as they can come has at most the entries of that with these last."""
    m = mechanism(four_bars(6, chained))
    soon, last = saddle_tree(m, "soon"), saddle_tree(m, "last")
    assert soon.size <= last.size
    assert (soon.operations < last.operations) == chained
    assert last.rows_come_last


def test_large_models_agree_with_small_ones() -> None:
    """Of 22 four-bars, in a program with loops, each moves as one alone does."""
    one, many = four_bars(1), four_bars(22)
    q = bough.loops.assemble(one, [-0.9, 0.6, -1.5])
    rng = np.random.default_rng(2)
    v = bough.loops.consistent_velocity(one, np.tile(q, (22, 1)), rng.normal(size=(22, 3)))
    tau = rng.normal(size=(22, 3))
    want = bough.forward_dynamics(one, np.tile(q, (22, 1)), v, tau, full=True)
    for method in ("kkt", "multipliers"):
        found = bough.forward_dynamics(many, np.tile(q, 22), v.ravel(), tau.ravel(), method=method, full=True)
        assert_close(found.motion, want.motion.ravel(), 1e-9)
        assert_close(found.loop_forces, want.loop_forces.ravel(), 1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_programs_with_loops_give_what_straight_ones_give(method: LoopMethod) -> None:
    """Of a mechanism small enough for both; and the numbers that describe them can be stored."""
    model, q, v = closed("five-bar")
    function = bough.function(f"constrained_dynamics_by_{method}", model)
    results = []
    for rolled in (False, True):
        program = function.program(rolled=rolled)
        assert all(type(buffer.size) is int for buffer in program.buffers)
        results.append(evaluate(program, {"q": q, "v": v, "tau": np.ones(model.nv)})["qdd"])
    assert_close(results[1], results[0], 1e-12)
