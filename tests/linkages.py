"""Linkages in motion, for tests: a Runge-Kutta method, energies, and random bodies of every kind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import bough
from bough.maximal import bodies
from model_strategies import random_inertia

__all__ = ["BODIES", "compiled", "dense_jacobian", "dense_mass", "kinetic_energy", "move", "random_position"]

Floats = np.ndarray[Any, np.dtype[Any]]
Rng = np.random.Generator

BODIES: dict[str, Any] = {
    "particle": lambda rng: bodies.Particle(rng.uniform(0.5, 2.0)),
    "planar particle": lambda rng: bodies.Particle(rng.uniform(0.5, 2.0), space=2),
    "rigid": lambda rng: bodies.Rigid(**random_inertia(rng)),
    "planar rigid": lambda rng: bodies.PlanarRigid(
        rng.uniform(0.5, 2.0), rng.uniform(-0.4, 0.4, 2), rng.uniform(0.1, 0.5)
    ),
    "scaled rigid": lambda rng: bodies.ScaledRigid(**random_inertia(rng)),
}
"""Every kind of body, with random numbers."""


@contextmanager
def compiled() -> Iterator[None]:
    """Programs run as machine code: for tests that take many steps."""
    bough.set_backend("llvm")
    try:
        yield
    finally:
        bough.set_backend(None)


def random_position(linkage: bough.maximal.Linkage, rng: Rng, size: tuple[int, ...] = (), reach: float = 1.0) -> Floats:
    """Positions that bodies reach from the origin with random velocities."""
    return linkage.integrate(linkage.neutral(), reach * rng.normal(size=(*size, linkage.nv)))


def dense_mass(terms: bough.maximal.LinkageTerms) -> Floats:
    """M of one state in full."""
    system = terms.system
    M = np.zeros((system.nv, system.nv))
    for v, d, start in zip(system.v_starts, system.bodies, system.mass_starts, strict=False):
        M[v : v + d, v : v + d] = terms.mass[start : start + d * d].reshape(d, d)
    return M


def dense_jacobian(linkage: bough.maximal.Linkage, terms: bough.maximal.LinkageTerms) -> Floats:
    """J of one state in full, rows in the order of the constraints of the linkage."""
    system = terms.system
    edges = [((a, b), p) for a, b, p in system.constraints]
    every = [*edges, *terms.auxiliary.constraints]
    blocks, rows, place = np.concatenate([terms.jacobian, terms.auxiliary_jacobian]), [], 0
    for ends, p in every:
        J = np.zeros((p, system.nv))
        for body in ends:
            if body:
                start, stop = system.v_starts[body - 1 : body + 1]
                size = p * (stop - start)
                J[:, start:stop] = blocks[place : place + size].reshape(p, stop - start)
                place += size
        rows.append(J)
    assert place == blocks.size
    named = dict(zip((*linkage.primary, *linkage.auxiliary), rows, strict=True))
    return np.concatenate([np.zeros((0, system.nv)), *(named[name] for name in linkage.constraint_names)])


def kinetic_energy(linkage: bough.maximal.Linkage, x: Floats, v: Floats) -> float:
    """½ vᵀ M v."""
    return float(v @ dense_mass(linkage.terms(x, v)) @ v / 2)


def move(
    linkage: bough.maximal.Linkage, x: Floats, v: Floats, seconds: float, steps: int, force: Any = None, **options: Any
) -> tuple[Floats, Floats]:
    """The state after some time, by the commutator-free method of the fourth order of Celledoni, Marthinsen and Owren.

    `force` is a function of x, v and time.
    """
    h, t = seconds / steps, 0.0

    def rate(x: Floats, v: Floats, t: float) -> Floats:
        pushed = None if force is None else force(x, v, t)
        return linkage.accelerations(x, v, pushed, t, **options).motion

    for _ in range(steps):
        a1 = rate(x, v, t)
        v2, x2 = v + h / 2 * a1, linkage.integrate(x, h / 2 * v)
        a2 = rate(x2, v2, t + h / 2)
        v3, x3 = v + h / 2 * a2, linkage.integrate(x, h / 2 * v2)
        a3 = rate(x3, v3, t + h / 2)
        v4, x4 = v + h * a3, linkage.integrate(x2, h * v3 - h / 2 * v)
        a4 = rate(x4, v4, t + h)
        first, second = 3 * v + 2 * v2 + 2 * v3 - v4, -v + 2 * v2 + 2 * v3 + 3 * v4
        x = linkage.integrate(linkage.integrate(x, h / 12 * first), h / 12 * second)
        v = v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        t += h
    return x, v
