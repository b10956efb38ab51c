"""How the bodies of a mechanism are numbered changes no result but its order: branch by branch, or level by level."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bough
from bough.joints import Free, Prismatic, Revolute, Universal
from closeness import relative_error

pytestmark = pytest.mark.usefixtures("compiled")

PARENTS = {
    "two legs": [0, 1, 1, 2, 3],
    "four legs on a body that floats": [0, 1, 1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    "as drawn": [0, 1, 0, 3, 2, 3, 1, 6, 2, 8, 7],
}
JOINTS = (Revolute("y"), Revolute("x"), Prismatic("z"), Universal("x", "y"))

Results = dict[str, tuple[Any, int]]
"""Results, and how many of their last axes are degrees of freedom."""


def twins(name: str, seed: int) -> tuple[bough.Model, bough.Model, list[int]]:
    """A mechanism as numbered here and branch by branch, and the places in the first of coordinates of the second."""
    rng, parents = np.random.default_rng(seed), PARENTS[name]
    parts: list[dict[str, Any]] = []
    for k in range(len(parents)):
        floats = k == 0 and "floats" in name
        joint = Free() if floats else JOINTS[int(rng.integers(len(JOINTS)))]
        place = {"at": tuple(rng.normal(size=3)), "com": tuple(0.2 * rng.normal(size=3))}
        parts.append({"joint": joint, "mass": 1.0 + rng.random(), "inertia": 0.1 + rng.random(), **place})

    def depth_first(k: int) -> list[int]:
        return [k, *(j for child, parent in enumerate(parents) if parent == k + 1 for j in depth_first(child))]

    def built(order: list[int]) -> bough.Model:
        b = bough.Builder(name)
        for k in order:
            b.add(f"body {k}", **parts[k], parent=f"body {parents[k] - 1}" if parents[k] else "world")
        return b.build()

    given = built(list(range(len(parents))))
    sorted_ = built([k for root, parent in enumerate(parents) if parent == 0 for k in depth_first(root)])
    places = [j for joint in sorted_.joint_names for j in range(given.nv)[given.v_slice(joint)]]
    return given, sorted_, places


def moved_to(model: bough.Model, twin: bough.Model, q: Any) -> Any:
    """The configuration of a twin."""
    return np.concatenate([q[..., model.q_slice(name)] for name in twin.joint_names], axis=-1)


def dynamics(model: bough.Model, q: Any, v: Any, tau: Any) -> Results:
    d = bough.derivatives
    found: Results = {
        "rnea": (bough.rnea(model, q, v, tau), 1),
        "forward dynamics": (bough.forward_dynamics(model, q, v, tau), 1),
        "mass matrix": (bough.crba(model, q), 2),
        "inverse": (bough.mass_matrix_inverse(model, q), 2),
        "coriolis": (bough.coriolis_matrix(model, q, v), 2),
        "derivatives of rnea": (np.stack(d.rnea(model, q, v, tau)), 2),
        "derivatives of forward dynamics": (np.stack(d.forward_dynamics(model, q, v, tau)), 2),
        "derivatives of momentum": (np.stack(d.centroidal_momentum(model, q, v)), 1),
        "derivatives of bias forces": (np.stack(d.bias_forces(model, q, v)), 2),
        "derivatives of accelerations": (np.stack(d.accelerations(model, q, v, tau, "body 4")), 1),
    }
    return found


def second_derivatives(model: bough.Model, q: Any, v: Any, tau: Any) -> Results:
    d = bough.derivatives
    ways = {"rnea": d.rnea_second_order, "forward dynamics": d.forward_dynamics_second_order}
    return {f"{name}, {k}": (x, 3) for name, way in ways.items() for k, x in enumerate(way(model, q, v, tau))}


def permuted(x: Any, axes: int, places: list[int]) -> Any:
    for axis in range(x.ndim - axes, x.ndim):
        x = np.take(x, places, axis)
    return x


@pytest.mark.parametrize("batch", [(), (9,)])
@pytest.mark.parametrize(
    ("name", "results"), [*((name, dynamics) for name in PARENTS), ("two legs", second_derivatives)]
)
def test_numbers_of_bodies_do_not_matter(
    name: str, results: Callable[..., Results], batch: tuple[int, ...], rng: np.random.Generator
) -> None:
    model, twin, places = twins(name, seed=len(name))
    q, (v, tau) = bough.random(model, rng, size=batch), rng.normal(size=(2, *batch, model.nv))
    ours, theirs = results(model, q, v, tau), results(twin, moved_to(model, twin, q), v[..., places], tau[..., places])
    for what, (x, axes) in ours.items():
        assert relative_error(permuted(x, axes, places), theirs[what][0], axes=x.ndim) < 1e-9, what
