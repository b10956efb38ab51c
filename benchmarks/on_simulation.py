"""The simulation's part of the report: steps of gymnasium's robots, beside MuJoCo's of the same model, step and law."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import mujoco
import mujoco.rollout
import numpy as np
from measure import interleaved, on_one_core, python, ratio
from report import Page

import bough

__all__ = ["measure_simulation"]

ROBOTS = ("half_cheetah", "ant", "humanoid")
BATCH, STEPS, MANY = 1024, 20, 100
DIFFERENT = 128
"""States of a batch, steps of one call for a batch and for one state, and states that differ."""

WAYS = {"batch": "batch", "one": "one call", "many": f"{MANY} per call"}
"""How steps are made, in words."""

ENVIRONMENTS, FEW = 4096, 16
"""Environments of ours, and of gymnasium's."""

HEIGHTS = {"half_cheetah": 1}
"""Which coordinate is a robot's height, if it is not the third."""

ASSETS = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"


@dataclass(frozen=True)
class Case:
    """A robot with states that MuJoCo came through, on the floor or high above it."""

    name: str
    sim: bough.Simulation
    theirs: Any
    qpos: Any
    qvel: Any
    control: Any
    touching: float

    @property
    def ours(self) -> tuple[Any, Any]:
        """The states as ours."""
        return bough.convert.states_from_mujoco(self.sim.model, self.qpos, self.qvel)


def case_of(name: str, lift: float) -> Case:
    """A robot that was let go, with random controls, and lifted from there."""
    path = ASSETS / f"{name}.xml"
    m, rng = mujoco.MjModel.from_xml_path(str(path)), np.random.default_rng(0)
    m.opt.solver, m.opt.iterations, m.opt.tolerance = mujoco.mjtSolver.mjSOL_NEWTON, 100, 1e-8
    d, rows = mujoco.MjData(m), []
    low, high = m.actuator_ctrlrange.T
    for _ in range(DIFFERENT):
        mujoco.mj_resetData(m, d)
        d.qvel[:] = 0.1 * rng.normal(size=m.nv)
        for _ in range(int(rng.integers(50, 150))):
            d.ctrl[:] = rng.uniform(low, high)
            mujoco.mj_step(m, d)
        d.qpos[HEIGHTS.get(name, 2)] += lift
        mujoco.mj_forward(m, d)
        rows.append((d.qpos.copy(), d.qvel.copy(), rng.uniform(low, high), d.ncon))
    qpos, qvel, control, contacts = (np.array([row[k] for row in rows] * (BATCH // DIFFERENT)) for k in range(4))
    sim = bough.Simulation(bough.load(path), tolerance=1e-8)
    return Case(name, sim, m, qpos, qvel, control, float(contacts.mean()))


def measure_simulation(page: Page, rounds: int) -> None:
    """Robots on the floor and in the air: a batch, one state per call, one state for many steps."""
    page.text("## Simulation")
    page.text(
        "µs per step and state, float64, one thread, one core: gymnasium's files, their own integrators (half-cheetah "
        f"Euler, the others Runge-Kutta), soft contact, Newton's method to 1e-8. A batch of {BATCH} states for {STEPS} "
        f"steps beside `mujoco.rollout`; one state, one step per call from Python beside {STEPS} calls of `mj_step`, "
        f"and {MANY} steps per call beside {MANY} calls from the same states."
    )
    cases = [case_of(name, lift) for name in ROBOTS for lift in (0.0, 50.0)]
    rows = [_measured(case, rounds) for case in cases]
    costs = ("batch µs", "rollout µs", "times faster", "one call µs", f"{MANY} per call µs", "mj_step µs")
    more = (f"{MANY} of them µs", "one call, times faster", f"{MANY} per call, times faster")
    page.table(("robot", "contacts", *costs, *more), rows)
    measure_hard(page, cases, rounds)
    measure_environments(page, rounds)


def measure_environments(page: Page, rounds: int) -> None:
    """Environments of gymnasium: many of `bough.gym` as one beside a few of MuJoCo's, one after the other."""
    page.text("## Environments of gymnasium")
    page.text(
        f"µs per step of an environment, one thread, one core, random actions: {ENVIRONMENTS} of `bough.gym` beside "
        f"gymnasium's `SyncVectorEnv` of {FEW} of its own, whose cost is per environment and does not fall with more."
    )
    rows = []
    for name in bough.gym.TASKS:
        ours = bough.gym.make_vec(name, ENVIRONMENTS)
        known = gymnasium.make_vec(name, FEW, vectorization_mode="sync")
        actions = np.random.default_rng(0).uniform(*ours.robots.bounds, ours.action_space.shape)
        for envs, count in ((ours, ENVIRONMENTS), (known, FEW)):
            envs.reset(seed=0)
            for _ in range(10):
                envs.step(actions[:count])
        candidates = {
            "ours": python(functools.partial(ours.step, actions), ENVIRONMENTS),
            "theirs": python(functools.partial(known.step, actions[:FEW]), FEW),
        }
        with on_one_core():
            samples = interleaved(candidates, rounds)
        cost = {which: float(np.median(values)) for which, values in samples.items()}
        rows.append((name, cost["ours"], cost["theirs"], str(ratio(samples["theirs"], samples["ours"]))))
    page.table(("environment", "bough µs", "gymnasium µs", "times faster"), rows)


def measure_hard(page: Page, cases: Sequence[Case], rounds: int) -> None:
    """Hard contact beside soft contact, both with Euler's method."""
    page.text("## Hard contact")
    page.text(
        'The same states under `law="hard"` (no penetration, round friction cones, impulses), beside soft contact with '
        "Euler's method, µs per step and state as above. MuJoCo has no such law."
    )
    rows = []
    for case in cases:
        laws: dict[str, dict[str, Any]] = {"hard": {"law": "hard"}, "soft": {"integrator": "euler", "tolerance": 1e-8}}
        sims = {law: bough.Simulation(case.sim.model, **given) for law, given in laws.items()}
        candidates = {f"{law} {way}": x for law, sim in sims.items() for way, x in _ways(sim, case).items()}
        with on_one_core():
            samples = interleaved(candidates, rounds)
        cost = {name: float(np.median(values)) for name, values in samples.items()}
        print(case.name, ", ".join(f"{name} {value:.3g} µs" for name, value in cost.items()), flush=True)
        rows.append((case.name, case.touching, *(cost[f"{law} {way}"] for way in WAYS for law in laws)))
    page.table(("robot", "contacts", *(f"{law}: {WAYS[way]} µs" for way in WAYS for law in ("hard", "soft"))), rows)


def _ways(sim: bough.Simulation, case: Case) -> dict[str, Any]:
    """Our steps, to be measured: of a batch, of one state called from Python, and many of one state in a call."""
    q, v = case.ours
    some = [(q[k], v[k], case.control[k]) for k in range(0, DIFFERENT, 8)]
    warm = sim.step(q, v, control=case.control)
    ones = [(warm.q[k], warm.v[k], warm.a[k], case.control[k]) for k in range(0, DIFFERENT, 8)]
    return {
        "batch": python(lambda: sim.step(q, v, control=case.control, steps=STEPS), BATCH * STEPS),
        "one": python(lambda: [sim.step(q, v, a=a, control=u) for q, v, a, u in ones], len(ones)),
        "many": python(lambda: [sim.step(q, v, control=u, steps=MANY) for q, v, u in some], len(some) * MANY),
    }


def _measured(case: Case, rounds: int) -> tuple[object, ...]:
    m = case.theirs
    d = mujoco.MjData(m)
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    states = np.zeros((BATCH, mujoco.mj_stateSize(m, kind)))
    states[:, 1 : 1 + m.nq], states[:, 1 + m.nq : 1 + m.nq + m.nv] = case.qpos, case.qvel
    controls = np.repeat(case.control[:, np.newaxis], STEPS, axis=1)
    single = [(mujoco.MjData(m), case.qpos[k], case.qvel[k], case.control[k]) for k in range(0, DIFFERENT, 8)]

    def theirs(steps: int) -> None:
        for data, qpos, qvel, control in single:
            data.qpos[:], data.qvel[:], data.ctrl[:] = qpos, qvel, control
            for _ in range(steps):
                mujoco.mj_step(m, data)

    candidates = {
        **_ways(case.sim, case),
        "rollout": python(lambda: mujoco.rollout.rollout(m, d, states, controls), BATCH * STEPS),
        "mj_step": python(lambda: theirs(STEPS), len(single) * STEPS),
        "mj_steps": python(lambda: theirs(MANY), len(single) * MANY),
    }
    with on_one_core():
        samples = interleaved(candidates, rounds)
    cost = {name: float(np.median(values)) for name, values in samples.items()}
    print(case.name, ", ".join(f"{name} {value:.3g} µs" for name, value in cost.items()), flush=True)
    faster = [
        str(ratio(samples[slow], samples[fast]))
        for slow, fast in (("rollout", "batch"), ("mj_step", "one"), ("mj_steps", "many"))
    ]
    return (
        case.name, case.touching, cost["batch"], cost["rollout"], faster[0], cost["one"], cost["many"],
        cost["mj_step"], cost["mj_steps"], faster[1], faster[2],
    )  # fmt: skip
