"""The loops' part of the report: closed-loop forward dynamics beside Pinocchio's constraint dynamics, in batches."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from measure import fastest, interleaved, on_one_core, python, ratio
from native import Native, pinocchio_loops_program
from report import Page

import bough
from bough.cli.rivals import depth_first, in_pinocchio

__all__ = ["measure_loops"]

BATCH = 4096
SINGLE = 200
TARGET = 3.0
PENDULUM = {"mass": 1.0, "com": (0.2, 0.0, 0.0), "inertia": (1e-3, 0.02, 0.02)}


def four_bar() -> tuple[bough.Model, Any]:
    """A planar four-bar closed by a ball joint."""
    b = bough.Builder("four-bar")
    b.add("crank", bough.joints.Revolute("y"), **PENDULUM)
    b.add("coupler", bough.joints.Revolute("y"), "crank", at=(0.3, 0, 0), **PENDULUM)
    b.add("rocker", bough.joints.Revolute("y"), at=(0.7, 0, 0), **PENDULUM)
    b.loop("pin", bough.joints.Spherical(), "coupler", "rocker", at=(0.8, 0, 0), successor_at=(0.5, 0, 0))
    model = b.build()
    return model, bough.loops.assemble(model, [-1.0, 0.5, -1.5])


def stewart_platform() -> tuple[bough.Model, Any]:
    """A free plate on six legs: two hinges, a piston, and a ball joint that closes the loop."""
    b = bough.Builder("Stewart platform")
    b.add("plate", bough.joints.Free(), mass=4.0, inertia=(0.1, 0.12, 0.2))
    for k in range(6):
        low, high = (np.radians(60 * (k // 2 * 2) + (-a if k % 2 else a)) for a in (12, 48))
        foot, ball = ((r * np.cos(a), r * np.sin(a), 0.0) for r, a in ((0.6, low), (0.35, high)))
        b.add(f"fork {k}", bough.joints.Revolute("x"), at=foot, mass=0.1, inertia=1e-3)
        b.add(f"tube {k}", bough.joints.Revolute("y"), f"fork {k}", mass=0.5, com=(0, 0, 0.15), inertia=0.01)
        b.add(f"piston {k}", bough.joints.Prismatic("z"), f"tube {k}", mass=0.4, com=(0, 0, -0.1), inertia=0.01)
        b.loop(f"ball {k}", bough.joints.Spherical(), f"piston {k}", "plate", successor_at=ball)
    model = b.build()
    q = bough.neutral(model)
    q[:3] = (0.03, -0.02, 0.7)
    for k in range(6):
        q[model.q_slice(f"piston {k}")] = 0.7
    return model, bough.loops.assemble(model, q)


def humanoid() -> tuple[bough.Model, Any]:
    """The papers' humanoid with two limbs that hold each other."""
    model = bough.trees.topologies.humanoid()
    q = bough.random(model, np.random.default_rng(1))
    first, second = (model.body_names[i - 1] for i in model.tree.leaves[:2])
    X, Y = bough.placements(model, q, [first, second])
    grip = np.linalg.inv(Y) @ X
    at, turn = grip[:3, 3], grip[:3, :3]
    return model.with_loop("grip", bough.joints.Fixed(), first, second, successor_at=at, successor_rotation=turn), q


class Rival:
    """The same mechanism and loops in Pinocchio."""

    def __init__(self, model: bough.Model) -> None:
        order = depth_first(model.tree)
        assert order == sorted(order)  # coordinates need no rearranging
        self.model = in_pinocchio(model)
        self.data = self.model.createData()
        self.loops, self.datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        for loop in model.constraints:
            assert isinstance(loop, bough.loops.Loop)
            kind = pin.ContactType.CONTACT_6D if loop.rows == 6 else pin.ContactType.CONTACT_3D
            ends = []
            for side in (loop.predecessor, loop.successor):
                ends += [side.body, pin.SE3(side.placement.matrix, side.placement.vector)]
            self.loops.append(pin.RigidConstraintModel(kind, self.model, *ends, pin.ReferenceFrame.LOCAL))
        for made in self.loops:
            self.datas.append(made.createData())
        pin.initConstraintDynamics(self.model, self.data, self.loops, self.datas)
        self.lcaba_data = self.model.createData()
        pin.computeJointMinimalOrdering(self.model, self.lcaba_data, self.loops)
        self.exact, self.proximal = pin.ProximalSettings(1e-12, 1e-10, 10), pin.ProximalSettings(1e-12, 1e-6, 10)

    def constraint_dynamics(self, x: Any) -> Any:
        """Their acceleration by the factor of the whole system."""
        return pin.constraintDynamics(self.model, self.data, *x, self.loops, self.datas, self.exact)

    def native(self, folder: Path, states: Any) -> Native | None:
        """The native program on this model, its loops and some states (q, v, tau); None if it cannot be built."""
        program = pinocchio_loops_program()
        if program is None:
            return None
        sides = []
        for loop in self.loops:
            ends = ((loop.joint1_id, loop.joint1_placement), (loop.joint2_id, loop.joint2_placement))
            parts = [x for joint, X in ends for x in (joint, *X.rotation.ravel(), *X.translation)]
            sides.append([6 if loop.type == pin.ContactType.CONTACT_6D else 3, *parts])
        np.array(sides, dtype=float).tofile(folder / "loops.bin")
        self.model.saveToXML(str(folder / "model.xml"), "model")
        return Native(program, folder / "model.xml", states, str(folder / "loops.bin"))

    def lcaba(self, x: Any) -> Any:
        """Their acceleration by articulated bodies with loops."""
        return pin.lcaba(self.model, self.lcaba_data, *x, self.loops, self.datas, self.proximal)


def measure_loops(page: Page, rounds: int) -> None:
    """Every mechanism, one thread."""
    page.text("## Loops")
    page.text(
        f"Closed-loop forward dynamics: µs per state of a batch of {BATCH}, float64, `out=`, all checks on, against "
        "the fastest way of Pinocchio: `constraintDynamics` or `lcaba`, native if it could be built. "
        f"The target is {TARGET:g}."
    )
    rows = [_measured(*make(), rounds) for make in (four_bar, stewart_platform, humanoid)]
    page.table(("mechanism", "nv", "rows", "bough µs", "rival", "rival µs", "times faster"), rows)


def _measured(model: bough.Model, q: Any, rounds: int) -> tuple[object, ...]:
    rng = np.random.default_rng(0)
    qs, tau = np.repeat(q[np.newaxis], BATCH, axis=0), rng.normal(size=(BATCH, model.nv))
    vs = bough.loops.consistent_velocity(model, q, rng.normal(size=(BATCH, model.nv)))
    rival, out = Rival(model), np.empty((BATCH, model.nv))
    states = [(qs[k], vs[k], tau[k]) for k in range(SINGLE)]
    for x in states[:20]:
        ours = bough.forward_dynamics(model, *x, time_constant=np.inf)
        assert np.allclose(ours, rival.constraint_dynamics(x), rtol=0, atol=1e-8 * np.abs(ours).max())
    candidates = {
        "bough": python(lambda: bough.forward_dynamics(model, qs, vs, tau, out=out), BATCH),
        "Python: constraintDynamics": python(lambda: [rival.constraint_dynamics(x) for x in states], SINGLE),
        "Python: lcaba": python(lambda: [rival.lcaba(x) for x in states], SINGLE),
    }
    with tempfile.TemporaryDirectory() as folder, on_one_core():
        native = rival.native(Path(folder), np.concatenate([qs, vs, tau], axis=1)[:SINGLE])
        if native is not None:
            candidates |= {f"native: {job}": native.sampler(job) for job in ("constraintDynamics", "lcaba")}
        samples = interleaved(candidates, rounds)
        if native is not None:
            native.close()
    best = fastest(samples, [name for name in candidates if name != "bough"])
    assert best is not None
    cost = {name: float(np.median(values)) for name, values in samples.items()}
    print(", ".join(f"{name} {value:.3g} µs" for name, value in cost.items()), flush=True)
    times = ratio(samples[best], samples["bough"])
    return model.name, model.nv, len(model.constraint_names), cost["bough"], best, cost[best], str(times)
