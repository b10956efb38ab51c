"""The systems of Baraff's experiments: trees of rigid bodies joined at points, with additional loops and contacts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np

from bough.errors import BoughError
from bough.kernel.arguments import FloatArray
from bough.lagrange import Auxiliary, System
from bough.tree import Tree

__all__ = ["Beside", "Experiment", "experiment", "kkt", "point_rows", "with_contacts", "with_loops"]


@dataclass(frozen=True, eq=False)
class Beside:
    """Auxiliary rows a = Jᵃ v̇ + cᵃ: to be zero, or not negative with forces that push only."""

    rows: Auxiliary
    jacobian: FloatArray
    c: FloatArray
    pushing: bool


@dataclass(frozen=True, eq=False)
class Experiment:
    """A system with numbers for the arguments of `multipliers`, and its auxiliary constraints.

    It is one state, or many along the first axis of all arrays.
    """

    system: System
    mass: FloatArray
    jacobian: FloatArray
    force: FloatArray
    c: FloatArray
    beside: Beside | None = None

    @property
    def arguments(self) -> tuple[System, FloatArray, FloatArray, FloatArray, FloatArray]:
        """The arguments of `multipliers`, in order."""
        return self.system, self.mass, self.jacobian, self.force, self.c

    def many(self, count: int) -> Experiment:
        """The experiment in `count` states, all different, along the first axis of all arrays."""
        rng = np.random.default_rng(1)

        def varied(x: FloatArray) -> FloatArray:
            return x * rng.uniform(0.95, 1.05, (count, x.size))

        beside = self.beside
        if beside is not None:
            beside = replace(beside, jacobian=varied(beside.jacobian), c=varied(beside.c))
        mass, jacobian, force, c = (varied(x) for x in (self.mass, self.jacobian, self.force, self.c))
        return Experiment(self.system, mass, jacobian, force, c, beside)


def experiment(bodies: int, d: int, tree: Tree | None = None) -> Experiment:
    """A tree of rigid bodies in the plane (d = 3) or in space (d = 6), joined at points.

    It is a random tree unless one is given. Without `tree` the first body is free; the roots of a given tree are held
    by the world.
    """
    rng = np.random.default_rng(0)
    parents = np.array([0, *(rng.integers(max(1, i - 4), i) for i in range(2, bodies + 1))])
    if tree is not None:
        parents, bodies = np.array(tree.parents), tree.n
    p = _point(d)
    children = np.arange(1, bodies + 1)
    if tree is None:
        parents, children = parents[1:], children[1:]
    edges = list(zip(parents.tolist(), children.tolist(), [p] * len(parents), strict=True))
    known = point_rows(np.full((1, p), np.nan), d)[0]
    system = System([d] * bodies, edges, mass=np.where(np.eye(d), np.nan, 0.0), jacobian=(-known, known))
    inertia = np.concatenate(
        [np.repeat(rng.uniform(0.5, 2.0, (bodies, 1)), p, 1), rng.uniform(0.05, 0.2, (bodies, d - p))], 1
    )
    own = point_rows(rng.uniform(-0.5, 0.5, (len(parents), p)), d)
    other = point_rows(rng.uniform(-0.5, 0.5, (len(parents), p)), d)
    varying = np.isnan(known)
    blocks = [-x[varying] if parent else x[:0, 0] for x, parent in zip(other, parents, strict=True)]
    jacobian = np.concatenate([np.concatenate([a, b[varying]]) for a, b in zip(blocks, own, strict=True)])
    return Experiment(system, inertia.ravel(), jacobian, rng.normal(size=system.nv), rng.normal(size=system.nc))


def with_loops(made: Experiment, pins: int) -> Experiment:
    """The experiment with `pins` more joints that close loops, each between two bodies far apart in the tree."""
    rng, bodies, d = np.random.default_rng(2), len(made.system.bodies), made.system.bodies[0]
    p = _point(d)
    first = 1 + np.arange(pins) * (bodies // (2 * pins))
    rows = Auxiliary(made.system, [((int(a), int(a) + bodies // 2), p) for a in first])
    ends = np.stack(
        [point_rows(rng.uniform(-0.5, 0.5, (pins, p)), d), -point_rows(rng.uniform(-0.5, 0.5, (pins, p)), d)], 1
    )
    return replace(made, beside=Beside(rows, ends.ravel(), rng.normal(size=rows.nc), pushing=False))


def with_contacts(made: Experiment, contacts: int) -> Experiment:
    """The experiment with points of the last bodies on the ground, whose vertical acceleration is not negative."""
    rng, bodies, d = np.random.default_rng(3), len(made.system.bodies), made.system.bodies[0]
    rows = Auxiliary(made.system, [((bodies - k,), 1) for k in range(contacts)])
    vertical = point_rows(rng.uniform(-0.5, 0.5, (contacts, _point(d))), d)[:, -1]
    return replace(made, beside=Beside(rows, vertical.ravel(), np.full(contacts, -9.81), pushing=True))


def _point(d: int) -> int:
    """A point has 2 coordinates in the plane, 3 in space."""
    return 2 if d == 3 else 3


def point_rows(points: FloatArray, d: int) -> FloatArray:
    """How points (n, p) of bodies move with them, (n, p, d): [1, -r×], bodies turned to the axes of the world."""
    n, p = points.shape
    if d == 3:
        x, y = points.T
        turning = np.stack([-y, x], axis=1)[:, :, np.newaxis]
    else:
        x, y, z = points.T
        o = np.zeros(n)
        turning = np.moveaxis(np.array([[o, z, -y], [-z, o, x], [y, -x, o]]), -1, 0)
    return np.concatenate([np.broadcast_to(np.eye(p), (n, p, p)), turning], axis=2)


def kkt(made: Experiment) -> tuple[Any, Any]:
    """M (nv, nv) and J (nc + auxiliary rows, nv) as sparse matrices. Bodies are of one kind, constraints too."""
    try:
        sparse = import_module("scipy.sparse")
    except ImportError:
        raise BoughError("the comparison needs SciPy: pip install 'bough[paper]'") from None
    system = made.system
    d, nv = system.bodies[0], system.nv
    parts: list[tuple[FloatArray, Any, Any]] = []
    ends = np.array(system.constraints, np.int64).reshape(-1, 3)
    p = int(ends[0, 2]) if len(ends) else 0
    entries = np.arange(p * d)
    for side in (0, 1):
        k = np.flatnonzero(ends[:, side])
        if not k.size:
            continue
        block = np.array(system.jacobian_known[k[0]][side], np.float64)  # NaN for what is not known
        values, varying = np.tile(block, (k.size, 1)), np.flatnonzero(np.isnan(block))
        values[:, varying] = made.jacobian[
            system.jacobian_starts[2 * k + side][:, np.newaxis] + np.arange(varying.size)
        ]
        row = system.c_starts[k][:, np.newaxis] + entries // d
        column = system.v_starts[ends[k, side] - 1][:, np.newaxis] + entries % d
        parts.append((values.ravel(), row.ravel(), column.ravel()))
    height = system.nc
    if made.beside is not None:
        beside = [table.data for table in made.beside.rows.entries]
        parts.append((made.beside.jacobian, height + beside[0], beside[1]))
        height += made.beside.rows.nc
    entry, at_row, at_column = (np.concatenate(x) for x in zip(*parts, strict=True))
    J = sparse.coo_matrix((entry, (at_row, at_column)), shape=(height, nv)).tocsr()
    J.eliminate_zeros()
    return sparse.diags(made.mass, format="csc"), J
