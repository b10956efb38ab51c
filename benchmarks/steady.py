"""Many random steps of many robots on a floor: what fails, how deep shapes sink, whether energy comes from nowhere.

``python benchmarks/steady.py --steps 1e7`` shares so many steps among twelve robots, in batches. Each robot is dropped
from random poses again and again; forces of its joints are drawn anew every few steps, as large as its actuators can
be, or a tenth of the effort of its joints. Told for each: states that stopped and why, numbers that are not finite, the
deepest contact, how often one was deeper than 0.1 m, and the most energy that was gained in a few steps beyond the work
of the joints, and as a part of the most kinetic energy. Springs of soft contacts and of joint limits, whose energy is
not counted, give back what they took.

``--processes 16`` shares the work among so many processes of one thread each, in parts of ``--part`` steps of a robot
with random numbers of their own; what is told does not depend on how many processes there are.

With ``--mujoco`` the steps that sank deepest and those that gained most are made by MuJoCo too, from the same states
under the same forces, where the robot's file is one of MuJoCo's and has a floor: what the law does, both do.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import bough
from bough.joints import Free

ROBOTS = (
    "quadruped", "humanoid", "ant", "half_cheetah", "hopper", "walker2d_v5", "gymnasium/humanoid", "humanoidstandup",
    "a1", "go1", "b1", "quadruped on hills",
)  # fmt: skip
HILLS = " on hills"
"""Behind the name of a robot: its floor is uneven."""

FLOATING = ("a1", "go1", "b1")
"""Robots whose files leave it open whether they float."""
HELD, DROPPED, PART = 10, 1000, 0.1
"""Steps for which forces hold, and after which states are dropped anew; part of the effort of joints."""

SUNK = 0.1
"""Metres below the surface of another shape from which one has gone through it."""


@dataclass
class Worst:
    """Steps to look at again: the state before them, the forces that held, and what was found after them."""

    q: NDArray[Any]
    v: NDArray[Any]
    tau: NDArray[Any]
    depth: float
    gain: float


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
    deepest: Worst | None = None
    richest: Worst | None = None

    def joined(self, other: Account) -> Account:
        """What happened in both."""
        deeper, richer = (self if self.depth >= other.depth else other), (self if self.gain >= other.gain else other)
        return Account(
            self.steps + other.steps, self.seconds + other.seconds, self.ends + other.ends,
            self.not_finite + other.not_finite, deeper.depth, self.sunk + other.sunk, richer.gain,
            max(self.kinetic, other.kinetic), deeper.deepest, richer.richest,
        )  # fmt: skip

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
    parser.add_argument("--mujoco", action="store_true", help="make the worst steps with MuJoCo too")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--part", type=float, default=1e5, help="steps of a robot that one process makes in one go")
    given = parser.parse_args()
    print("| robot | steps | thousands a second | stopped | not finite | deepest (mm) | sunk | gain (J) |")
    print("|---|---|---|---|---|---|---|---|")
    of_each = int(given.steps / len(given.robots))
    sizes = [min(int(given.part), of_each - k) for k in range(0, of_each, int(given.part))]
    parts = [(name, size, given.batch, (given.seed, k)) for name in given.robots for k, size in enumerate(sizes)]
    if given.processes == 1:
        told_of(map(soak_part, parts), given.robots, len(sizes), given.mujoco)
        return
    with multiprocessing.get_context("spawn").Pool(given.processes) as pool:
        pool.map(soak_part, [(name, 1, given.batch, (0,)) for name in given.robots], chunksize=1)  # compiled once
        told_of(pool.imap(soak_part, parts), given.robots, len(sizes), given.mujoco)


def told_of(parts: Iterable[Account], robots: list[str], of_each: int, with_mujoco: bool) -> None:
    """Print a row for each robot, from so many parts of each in order."""
    accounts = iter(parts)
    for name in robots:
        found = next(accounts)
        for _ in range(of_each - 1):
            found = found.joined(next(accounts))
        print(found.row(name), flush=True)
        for what, worst in (("deepest", found.deepest), ("most gain", found.richest)) if with_mujoco else ():
            if worst is not None:
                print(f"  {what}: {told(name, worst)}", flush=True)


def soak_part(part: tuple[str, int, int, tuple[int, ...]]) -> Account:
    """Make steps of a robot on one thread: its name, how many, of how many states at once, and a seed."""
    name, steps, batch, seed = part
    bough.set_num_threads(1)
    return soak(name, steps, batch, np.random.default_rng(seed))


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
    found.sunk += int((depth > SUNK).sum())
    work = (tau[good] * bough.difference(model, q0, q1)).sum(-1)
    start, end = (
        bough.Trajectory(model, [0.0], x[np.newaxis], y[np.newaxis]).energy() for x, y in ((q0, v0), (q1, v1))
    )
    gain = end.total[0] - start.total[0] - work

    def worst(k: int) -> Worst:
        return Worst(q0[k], v0[k], tau[good][k], float(depth[k]), float(gain[k]))

    if len(depth) and depth.max() > found.depth:
        found.depth, found.deepest = float(depth.max()), worst(int(depth.argmax()))
    if len(gain) and gain.max() > found.gain:
        found.gain, found.richest = float(gain.max()), worst(int(gain.argmax()))
    found.kinetic = max(found.kinetic, float(end.kinetic.max()))


def told(name: str, worst: Worst) -> str:
    """What bough found after some steps, and what MuJoCo finds after the same."""
    import mujoco

    ours = f"{1e3 * worst.depth:.1f} mm and {worst.gain:.3g} J"
    path = str(bough.robots.find(name.removesuffix(HILLS)).path)
    model = bough.robots.load(name.removesuffix(HILLS))
    if not path.endswith(".xml") or not any(shape.shape == "plane" for shape in model.geometries):
        return f"{ours}; no file of MuJoCo's with a floor"
    m = mujoco.MjModel.from_xml_path(path)
    d = mujoco.MjData(m)
    m.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    d.qpos[:], d.qvel[:] = bough.convert.states_to_mujoco(model, worst.q, worst.v)
    d.qfrc_applied[:] = worst.tau
    mujoco.mj_forward(m, d)
    before, start = d.energy.sum(), d.qpos.copy()
    depth = -min(d.contact.dist, default=0.0)
    mujoco.mj_step(m, d, HELD)
    mujoco.mj_forward(m, d)
    way = np.zeros(m.nv)
    mujoco.mj_differentiatePos(m, way, 1.0, start, d.qpos)
    gain = d.energy.sum() - before - worst.tau @ way
    after = -min(d.contact.dist, default=0.0)
    return f"bough {ours}, MuJoCo {1e3 * after:.1f} mm and {gain:.3g} J; {1e3 * depth:.1f} mm deep before"


def simulation(name: str) -> bough.Simulation:
    """A robot on a floor: that of its file, or one of ours."""
    known = name.removesuffix(HILLS)
    model = bough.robots.load(known, floating_base=True) if known in FLOATING else bough.robots.load(known)
    scene = bough.Scene(model)
    if name != known:
        x, y = np.meshgrid(np.linspace(-30, 30, 301), np.linspace(-30, 30, 301))
        heights = 0.05 * np.cos(3 * x) * np.cos(2 * y)
        return bough.Simulation(bough.Scene(model, self_collision=False).height_field(heights, (60, 60)))
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
