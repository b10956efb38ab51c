"""Mechanisms with loops: well-known ones, and random trees that a random joint closes in a random state."""

from __future__ import annotations

from typing import Any

import numpy as np

import bough
from joint_contract import Numeric
from model_strategies import random_joint, random_model, random_rotation

__all__ = [
    "closed", "five_bar", "four_bar", "parallelogram", "random_loops", "roll", "slider_crank", "stewart_platform",
]  # fmt: skip

Floats = np.ndarray[Any, np.dtype[Any]]


def _rod(length: float, mass: float = 1.0) -> dict[str, Any]:
    """A rod along x from the joint."""
    across = mass * length**2 / 12
    return {"mass": mass, "com": (length / 2, 0, 0), "inertia": (1e-3, 1e-3 + across, 1e-3 + across)}


def four_bar(crank: float = 0.3, coupler: float = 0.8, rocker: float = 0.5, ground: float = 0.7) -> bough.Model:
    """In the x-z plane, closed by a hinge: three of its five rows are redundant."""
    b = bough.Builder("four-bar")
    b.add("crank", bough.Revolute("y"), **_rod(crank))
    b.add("coupler", bough.Revolute("y"), "crank", at=(crank, 0, 0), **_rod(coupler))
    b.add("rocker", bough.Revolute("y"), at=(ground, 0, 0), **_rod(rocker))
    b.loop("pin", bough.Revolute("y"), "coupler", "rocker", at=(coupler, 0, 0), successor_at=(rocker, 0, 0))
    return b.build()


def parallelogram() -> bough.Model:
    """A four-bar with equal opposite sides: where it is flat its rank falls."""
    return four_bar(0.4, 0.9, 0.4, 0.9)


def five_bar() -> bough.Model:
    """Two arms of two rods in the x-z plane whose tips are one."""
    b = bough.Builder("five-bar")
    for side, at in (("left", 0.0), ("right", 0.5)):
        b.add(f"{side} upper", bough.Revolute("y"), at=(at, 0, 0), **_rod(0.4))
        b.add(f"{side} lower", bough.Revolute("y"), f"{side} upper", at=(0.4, 0, 0), **_rod(0.5))
    b.loop("tip", bough.Revolute("y"), "left lower", "right lower", at=(0.5, 0, 0), successor_at=(0.5, 0, 0))
    return b.build()


def slider_crank() -> bough.Model:
    """A crank, a rod and a piston along x; the loop is closed at the piston's guide."""
    b = bough.Builder("slider-crank")
    b.add("crank", bough.Revolute("y"), **_rod(0.1))
    b.add("rod", bough.Revolute("y"), "crank", at=(0.1, 0, 0), **_rod(0.35, 0.5))
    b.add("piston", bough.Revolute("y"), "rod", at=(0.35, 0, 0), mass=0.4, inertia=1e-3)
    b.loop("guide", bough.Prismatic("x"), "world", "piston")
    return b.build()


def stewart_platform() -> bough.Model:
    """A free plate on six legs, each with a universal joint, a piston, and a ball joint that closes the loop."""
    b = bough.Builder("Stewart platform")
    b.add("plate", bough.Free(), mass=4.0, inertia=(0.1, 0.12, 0.2))
    for k in range(6):
        low = np.radians(60 * (k // 2 * 2) + (-12 if k % 2 else 12))
        high = np.radians(60 * (k // 2 * 2) + (-48 if k % 2 else 48))
        foot, ball = ((r * np.cos(a), r * np.sin(a), 0.0) for r, a in ((0.6, low), (0.35, high)))
        b.add(f"tube {k}", bough.Universal("x", "y"), at=foot, mass=0.5, com=(0, 0, 0.15), inertia=(0.01, 0.01, 1e-3))
        b.add(f"piston {k}", bough.Prismatic("z"), f"tube {k}", mass=0.4, com=(0, 0, -0.1), inertia=(0.01, 0.01, 1e-3))
        b.loop(f"ball {k}", bough.Spherical(), f"piston {k}", "plate", successor_at=ball)
    return b.build()


def closed(name: str) -> tuple[bough.Model, Floats, Floats]:
    """A mechanism by name, assembled, with a velocity that its loops allow."""
    if name == "Stewart platform":
        model = stewart_platform()
        q = bough.neutral(model)
        q[:3] = (0.03, -0.02, 0.7)
        for k in range(6):
            q[model.q_slice(f"piston {k}")] = 0.7
        push = np.tile([0.3, -0.2, 0.1, 0.4, 0.5, -0.3], 4)
    else:
        made = {"four-bar": four_bar, "five-bar": five_bar, "slider-crank": slider_crank}
        guesses = {"four-bar": (-1.0, 0.5, -1.5), "five-bar": (-2.0, 1.2, -1.0, -1.2), "slider-crank": (-0.8, 1.0, 0.0)}
        model, q = made[name](), np.array(guesses[name])
        push = np.full(model.nv, 2.0)
    q = bough.assemble(model, q)
    return model, q, bough.consistent_velocity(model, q, push)


def random_loops(
    rng: np.random.Generator, kinds: list[str], bodies: int = 7, joints: list[str] | None = None, mimic: bool = False
) -> tuple[bough.Model, Floats]:
    """A random tree and a state in which loops of the given types, anywhere on it, are closed."""
    model = random_model(rng, bodies, joints, mimic=mimic)
    q = bough.random(model, rng)
    for k, kind in enumerate(kinds):
        joint = random_joint(kind, rng)
        first, second = rng.choice(model.frame_names, size=2, replace=False)
        X_first, X_second = bough.placements(model, q, [str(first), str(second)])
        fixed_side, numeric = np.eye(4), Numeric(joint)
        fixed_side[:3, :3], fixed_side[:3, 3] = random_rotation(rng), rng.uniform(-0.5, 0.5, 3)
        motion = np.eye(4)
        motion[:3, :3], motion[:3, 3] = numeric.placement(numeric.random(rng))
        moving_side = np.linalg.inv(X_second) @ X_first @ fixed_side @ motion
        model = model.with_loop(
            f"loop {k}", joint, str(first), str(second),
            at=fixed_side[:3, 3], rotation=fixed_side[:3, :3],
            successor_at=moving_side[:3, 3], successor_rotation=moving_side[:3, :3],
        )  # fmt: skip
    return model, q


def roll(model: bough.Model, q: Floats, v: Floats, seconds: float, step: float = 1e-3) -> list[tuple[Floats, Floats]]:
    """The passive motion, by the classical Runge-Kutta method."""
    none, states = np.zeros(model.nv), [(q, v)]

    def rate(q: Floats, v: Floats) -> Floats:
        return bough.constrained_dynamics(model, q, v, none)

    def moved(q: Floats, v: Floats, a: Floats, v_mean: Floats, h: float) -> tuple[Floats, Floats]:
        return bough.integrate(model, q, h * v_mean), v + h * a

    for _ in range(round(seconds / step)):
        a1 = rate(q, v)
        q2, v2 = moved(q, v, a1, v, step / 2)
        a2 = rate(q2, v2)
        q3, v3 = moved(q, v, a2, v2, step / 2)
        a3 = rate(q3, v3)
        q4, v4 = moved(q, v, a3, v3, step)
        a4 = rate(q4, v4)
        q, v = moved(q, v, (a1 + 2 * a2 + 2 * a3 + a4) / 6, (v + 2 * v2 + 2 * v3 + v4) / 6, step)
        states.append((q, v))
    return states
