"""Many random steps of many robots on a floor: what fails, how deep shapes sink, whether energy comes from nowhere.

``python benchmarks/steady.py --steps 1e7`` shares so many steps among ten robots, in batches. Each robot is dropped
from random poses again and again; forces of its joints are drawn anew every few steps, as large as its actuators can
be, or a tenth of the effort of its joints. Told for each: states that stopped and why, numbers that are not finite, the
deepest contact, how often one was deeper than 0.1 m, and the most energy that was gained in a few steps beyond the work
of the joints, and as a part of the most kinetic energy. Springs of soft contacts and of joint limits, whose energy is
not counted, give back what they took.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import bough
from bough.joints import Free

ROBOTS = (
    "quadruped", "humanoid", "ant", "half_cheetah", "hopper", "walker2d_v5", "gymnasium/humanoid", "humanoidstandup",
    "a1", "go1",
)  # fmt: skip
HELD, DROPPED, PART = 10, 1000, 0.1
"""Steps for which forces hold, and after which states are dropped anew; part of the effort of joints."""

SUNK = 0.1
"""Metres below the surface of another shape from which one has gone through it."""


@dataclass
class Account:
    """What happened to one robot."""

    steps: int = 0
    seconds: float = 0.0
    ends: Counter[str] = field(default_factory=Counter)
    not_finite: int = 0
    depth: float = 0.0
    sunk: int = 0
    gain: float = -np.inf
    kinetic: float = 0.0

    def row(self, name: str) -> str:
        """A row of the table."""
        ends = ", ".join(f"{n} {how}" for how, n in self.ends.items()) or "none"
        part = self.gain / self.kinetic
        numbers = f"{self.steps:>10} | {1e-3 * self.steps / self.seconds:7.0f} | {ends} | {self.not_finite}"
        return f"| {name} | {numbers} | {1e3 * self.depth:.1f} | {self.sunk} | {self.gain:.3g} ({part:.2g}) |"


def main() -> None:
    """Read the command line, run, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=float, default=1e5, help="of all robots together")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--robots", nargs="+", default=ROBOTS)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print("| robot | steps | thousands a second | stopped | not finite | deepest (mm) | sunk | gain (J) |")
    print("|---|---|---|---|---|---|---|---|")
    for name in given.robots:
        found = soak(name, int(given.steps / len(given.robots)), given.batch, np.random.default_rng(given.seed))
        print(found.row(name), flush=True)


def soak(name: str, steps: int, batch: int, rng: np.random.Generator) -> Account:
    """Make so many steps of a robot, in batches."""
    sim = simulation(name)
    model, found = sim.model, Account()
    strength = forces(model)
    q, v = dropped(sim, batch, rng)
    a = np.zeros_like(v)
    sim.step(q, v, tau=np.zeros_like(v))  # compiled now
    begun = time.perf_counter()
    for k in range(-(-steps // (batch * HELD))):
        if k % (DROPPED // HELD) == 0:
            (q, v), a = dropped(sim, batch, rng), np.zeros_like(v)
        tau = strength * rng.uniform(-1.0, 1.0, v.shape)
        after = sim.step(q, v, a=a, steps=HELD, tau=tau)
        found.steps += int(np.sum(after.taken))
        check(found, sim, (q, v), after, tau)
        q, v, a = after.q.copy(), after.v.copy(), after.a
        lost = after.status != 0
        if lost.any():
            q[lost], v[lost] = (x[lost] for x in dropped(sim, batch, rng))
    found.seconds = time.perf_counter() - begun
    return found


def check(found: Account, sim: bough.Simulation, before: tuple[Any, Any], after: Any, tau: NDArray[Any]) -> None:
    """Look at states after some steps under forces that held."""
    model = sim.model
    for status in after.status[after.status != 0]:
        found.ends[bough.Trajectory.status_names[int(status)]] += 1
    found.not_finite += int((~np.isfinite(after.q)).any(-1).sum() + (~np.isfinite(after.v)).any(-1).sum())
    good = (after.status == 0) & np.isfinite(after.q).all(-1)
    (q0, v0), q1, v1 = (x[good] for x in before), after.q[good], after.v[good]
    depth = sim.contacts(q1, v1).depths.max(axis=-1, initial=0.0)
    found.depth, found.sunk = max(found.depth, float(depth.max(initial=0.0))), found.sunk + int((depth > SUNK).sum())
    work = (tau[good] * bough.difference(model, q0, q1)).sum(-1)
    start, end = (
        bough.Trajectory(model, [0.0], x[np.newaxis], y[np.newaxis]).energy() for x, y in ((q0, v0), (q1, v1))
    )
    found.gain = max(found.gain, float((end.total - start.total - work).max()))
    found.kinetic = max(found.kinetic, float(end.kinetic.max()))


def simulation(name: str) -> bough.Simulation:
    """A robot on a floor: that of its file, or one of ours."""
    floats = name in ("a1", "go1")
    model = bough.robots.load(name, floating_base=True) if floats else bough.robots.load(name)
    scene = bough.Scene(model)
    if not any(shape.shape == "plane" for shape in model.geometries):
        scene = bough.Scene(model, self_collision=False).floor()
    return bough.Simulation(scene)


def forces(model: bough.Model) -> NDArray[np.float64]:
    """The most that joints of one degree of freedom are driven with: what actuators can, or part of their effort."""
    most = np.zeros(model.nv)
    effort = np.array(model.limits("effort"))
    for entry in model.joints:
        if entry.joint.nq == entry.joint.nv == 1:
            place = model.v_slice(entry.name)
            most[place] = np.where(np.isfinite(effort[place]), PART * effort[place], 0.0)
    for actuator in model.actuators:
        most[model.v_slice(actuator.joint)] = abs(actuator.gear[0] * actuator.gain) * min(max(actuator.ctrlrange), 1e3)
    return most


def dropped(sim: bough.Simulation, batch: int, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
    """Random poses a little above the floor, or near the pose of the file, and random velocities."""
    model = sim.model
    if isinstance(model.joints[0].joint, Free):
        q = bough.simulation.on_the_floor(sim.scene, bough.random(model, rng, (batch,)), gap=0.05)
    else:
        reference = model.simulation.reference
        q = np.tile(bough.neutral(model) if reference is None else reference, (batch, 1))
        q = bough.integrate(model, q, 0.05 * rng.normal(size=(batch, model.nv)))
    return q, 0.5 * rng.normal(size=(batch, model.nv))


if __name__ == "__main__":
    main()
