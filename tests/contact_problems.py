"""Complementarity problems: random ones, stacks, an incline, a sliding rod; and all solutions of small ones."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bough.complementarity import Conditions
from bough.kernel.contact.complementarity import residual as complementarity_residual

GRAVITY = 9.81


@dataclass
class Problem:
    A: Any
    b: Any
    conditions: Conditions
    mu: Any = 0.0
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def arguments(self) -> tuple[Any, ...]:
        return self.A, self.b, self.conditions, self.mu

    def residuals(self, f: Any) -> Any:
        return complementarity_residual(self.A, self.b, f, self.conditions, self.mu, **self.extra)

    def residual(self, f: Any) -> float:
        return float(self.residuals(f).max(initial=0))


def scale(A: Any, b: Any) -> Any:
    """What counts as 1 in each row of a problem of magnitude 1, in units of a."""
    diagonal = np.diagonal(A)
    root = np.sqrt(np.where(diagonal > 0, diagonal, 1))
    return root * (np.max(np.abs(b / root), initial=0) or 1.0)


def velocities(J: Any, masses: Any, v: Any, conditions: Conditions, mu: Any) -> Problem:
    """The problem of impulses that a velocity v makes: always solvable."""
    return Problem((J / masses) @ J.T, J @ v, conditions, mu)


def random_problem(rng: np.random.Generator) -> Problem:
    """A few bodies with contacts and equalities: independent, redundant, sparse, jammed or stacked."""
    if rng.random() < 0.1:
        boxes = int(rng.integers(1, 4))
        return stack(boxes, rng.choice([0.0, 0.3, 1.0]), rng.normal() * 10, 10 ** rng.uniform(-0.5, 0.5, boxes))
    bodies, contacts, equalities = rng.integers(1, 5), int(rng.integers(1, 7)), int(rng.integers(0, 4))
    conditions = Conditions.equalities(equalities) + Conditions.contacts(contacts)
    J = rng.normal(size=(conditions.n, 6 * bodies))
    rows = J[equalities:].reshape(contacts, 3, -1)
    match rng.integers(0, 5):
        case 1:  # the same contacts twice
            rows[contacts - contacts // 2 :] = rows[: contacts // 2]
        case 2:
            J *= rng.random(J.shape) < 0.3
        case 3:
            rows[-1, 0] = -rows[0, 0]
        case 4:  # the same normal and opposed tangents
            rows[-1] = rows[0] * [[1], [-1], [-1]]
    masses = np.exp(rng.normal(size=6 * bodies))
    return velocities(J, masses, rng.normal(size=6 * bodies), conditions, rng.choice([0.0, 0.1, 0.5, 1.0, 2.0]))


def crowded_problem(rng: np.random.Generator, contacts: int, friction: Any = "pyramid") -> Problem:
    """Velocities of many contacts on few bodies, of masses over up to six decades: lying, piled, caged, in stacks, or
    of a mechanism.
    """
    shape = rng.choice(["lying", "pile", "stack", "mechanism", "cage"])
    bodies = -(-contacts // 4) if shape == "stack" else int(rng.integers(1, {"pile": contacts // 2}.get(shape, 4) + 1))
    decades, J = rng.choice([0, 1, 3]), np.zeros((contacts, 3, bodies, 6))
    inertia = 10.0 ** rng.uniform(-decades, decades, (bodies, 1)) * 10.0 ** -rng.uniform(0, [0, 0, 0, 2, 2, 2])
    for c in range(contacts):
        first = c // 4 if shape == "stack" else int(rng.integers(bodies))
        second = first - 1 if shape == "stack" else int(rng.integers(-1, bodies)) if shape == "pile" else -1
        tilt = {"lying": 0.0, "stack": 0.0, "cage": 100.0}.get(shape, 0.5)
        axes = np.linalg.qr(
            np.column_stack([np.array([0, 0, 1]) + tilt * rng.normal(size=3), *rng.normal(size=(2, 3))])
        )[0].T
        point = rng.normal(size=3) * (1, 1, shape != "lying")
        if shape == "stack":
            axes, point = np.eye(3)[[2, 0, 1]], np.array([c // 2 % 2 - 0.5, c % 2 - 0.5, -0.5])
        J[c, :, first] = np.column_stack([axes, np.cross(point, axes)])
        if second not in (-1, first):
            J[c, :, second] = -np.column_stack([axes, np.cross(point + np.array([0, 0, 1]), axes)])
    J, masses, v = J.reshape(3 * contacts, -1), inertia.ravel(), rng.normal(size=6 * bodies)
    if shape == "mechanism":
        J, masses, v = J @ rng.normal(size=(6 * bodies, 3 * bodies)), masses[: 3 * bodies], v[: 3 * bodies]
    if rng.random() < 0.3:
        v = 10.0 ** rng.uniform(-6, 0) * v - GRAVITY * (np.arange(len(v)) % 6 == 2)
    mu = np.full(contacts, rng.choice([0.0, 0.1, 0.5, 1.0, 2.0])) if rng.random() < 0.6 else rng.uniform(0, 2, contacts)
    return velocities(J, masses, v, Conditions.contacts(contacts, friction), np.repeat(mu, 3))


def by_conditions(problems: Iterable[Problem]) -> list[tuple[Conditions, Any, Any, Any]]:
    """Batches of problems with the same conditions: conditions, A, b and mu."""
    groups: dict[Conditions, list[Problem]] = {}
    for problem in problems:
        groups.setdefault(problem.conditions, []).append(problem)
    return [
        (
            conditions,
            np.array([problem.A for problem in some]),
            np.array([problem.b for problem in some]),
            np.array([np.full(conditions.n, problem.mu) for problem in some]),
        )
        for conditions, some in groups.items()
    ]


def stack(boxes: int, mu: float, push: float = 0.0, masses: Any = 1.0) -> Problem:
    """Cubes of side 1 on each other and on the ground, four contacts under each; one step of 1 s of gravity from rest.

    The lowest is pushed by a horizontal impulse. Six degrees of freedom each, twelve rows: A is singular.
    """
    conditions = Conditions.contacts(4 * boxes)
    J, masses = np.zeros((conditions.n, 6 * boxes)), np.broadcast_to(masses, boxes)
    corners = [(x, y) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
    axes = np.array([[0, 0, 1.0], [1, 0, 0], [0, 1, 0]])
    for k, (corner, axis) in itertools.product(range(boxes), itertools.product(range(4), range(3))):
        row = 3 * (4 * k + corner) + axis
        for box, height, sign in ((k, -0.5, 1), (k - 1, 0.5, -1)):
            if box >= 0:
                arm = np.array([*corners[corner], height])
                J[row, 6 * box : 6 * box + 6] = sign * np.concatenate([axes[axis], np.cross(arm, axes[axis])])
    inertia = np.repeat(masses, 6) * np.tile([1, 1, 1, 1 / 6, 1 / 6, 1 / 6], boxes)
    v = np.tile([0, 0, -GRAVITY, 0, 0, 0], boxes).astype(float)
    v[0] = push / masses[0]
    return velocities(J, inertia, v, conditions, mu)


def incline(angle: float, mu: float, mass: float = 2.0) -> Problem:
    """A block on a slope, one step of 1 s of gravity from rest; rows: normal, downhill, across."""
    v = GRAVITY * np.array([-np.cos(angle), np.sin(angle), 0])
    return velocities(np.eye(3), np.full(3, mass), v, Conditions.contacts(1), mu)


def rod(angle: float, mu: float, slip: float, spin: float = 0.0) -> Problem:
    """Accelerations of a rod of mass 1 and length 2, the lower end of which slides on the ground (Painlevé).

    Rows: normal, tangent. The contact is at (-cos, -sin) of the angle from the centre.
    """
    c, s = np.cos(angle), np.sin(angle)
    J = np.array([[0, 1, -c], [1, 0, s]])
    b = np.array([-GRAVITY + s * spin**2, c * spin**2])
    return Problem(J / [1, 1, 1 / 3] @ J.T, b, Conditions.contacts(1, tangents=1), mu, {"slip": [0, slip]})


def all_solutions(problem: Problem) -> list[Any]:
    """The forces of every choice of active rows that meets all conditions; for a few rows only."""
    conditions, n = problem.conditions, problem.conditions.n
    choices = {"equality": "0", "inequality": "0f", "pyramid": "0+-", "box": "0<>"}  # a = 0, f = 0, ± μ fₙ or a bound
    guesses = list(itertools.product(*(choices[kind] for kind in conditions.kinds)))
    lines, right = np.tile(problem.A, (len(guesses), 1, 1)), np.tile(-np.asarray(problem.b), (len(guesses), 1))
    for k, choice in enumerate(guesses):
        for i, state in enumerate(choice):
            if state != "0":
                lines[k, i], right[k, i] = np.eye(n)[i], 0
            if state in "+-":
                lines[k, i, conditions.normals[i]] = -problem.mu if state == "+" else problem.mu
            if state in "<>":
                right[k, i] = problem.extra["bounds"][i, "<>".index(state)]
    fine = np.isfinite(right).all(axis=1) & (np.linalg.cond(lines) < 1e8)
    found = np.linalg.solve(lines[fine], right[fine][..., None])[..., 0]
    return list(found[problem.residuals(found).max(axis=-1, initial=0) < 1e-9])
