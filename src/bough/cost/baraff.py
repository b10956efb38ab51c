"""The experiments of Baraff 1996: multipliers of trees in linear time, beside dense and general sparse solutions.

Unlike the other reports this one measures: times are of the machine at hand, all of one run, and vary.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from bough import lagrange
from bough.cost.report import Curves, Report, Table
from bough.errors import BoughError
from bough.kernel.border import FloatArray
from bough.kernel.multipliers import ldlt, multipliers
from bough.lagrange import System
from bough.scalar import Count, Counted, Tally
from bough.tree import Tree, named

__all__ = ["baraff", "experiment", "joined", "kkt"]

BATCH = 64
SECONDS = 0.3  # at most about this much for each figure
LARGEST = 100_000


def baraff() -> Report:
    """The systems of section 9, and time against the number of bodies."""
    systems = [(name, experiment(bodies, d)) for name, bodies, d in EXPERIMENTS]
    counted = Table(
        "Operations, counted",
        ("system", "multipliers", "factor", "solve", "factor : solve"),
        tuple((name, made[0].nc, *_operations(made[0])) for name, made in systems),
        ("The paper says about 4 : 1. Here the blocks are factorised, not inverted, and symmetric ones are halved.",),
    )
    measured = Table(
        "Time for all multipliers and accelerations of one state, in µs, and how many times slower the others are",
        ("system", "bough", f"in a batch of {BATCH}", *RIVALS, *(f"{name} : bough" for name in RIVALS)),
        tuple(_measured(name, *made) for name, made in systems),
        (
            "dense: A = J M⁻¹ Jᵀ by BLAS, Cholesky by LAPACK. SuperLU and QDLDL: on H, assembled before;",
            "SuperLU in the best of three orders, its own two and that of bough; QDLDL in its own, analysed once.",
            "The paper found the dense method 2 times slower with 99 multipliers and close to 40 times with 381.",
        ),
    )
    return Report("baraff", "Baraff 1996, section 9: multipliers in linear time", (counted, measured, *_scaling()))


EXPERIMENTS = (
    ("2-D, 54 pins", 55, 3),
    ("3-D, 32 ball joints", 33, 6),
    ("3-D, 127 ball joints", 128, 6),
)


def experiment(bodies: int, d: int, tree: Tree | None = None) -> tuple[System, FloatArray, FloatArray, FloatArray]:
    """A tree of rigid bodies in the plane (d = 3) or in space (d = 6), joined at points: system, mass, jacobian, b.

    It is a random tree unless one is given. Without `tree` the first body is free; the roots of a given tree are held
    by the world.
    """
    rng = np.random.default_rng(0)
    parents = np.array([0, *(rng.integers(max(1, i - 4), i) for i in range(2, bodies + 1))])
    if tree is not None:
        parents, bodies = np.array(tree.parents), tree.n
    p = d // 2 + (d == 3)  # a point has 2 coordinates in the plane, 3 in space
    children = np.arange(1, bodies + 1)
    if tree is None:
        parents, children = parents[1:], children[1:]
    system = System([d] * bodies, list(zip(parents.tolist(), children.tolist(), [p] * len(parents), strict=True)))
    inertia = np.concatenate(
        [np.repeat(rng.uniform(0.5, 2.0, (bodies, 1)), p, 1), rng.uniform(0.05, 0.2, (bodies, d - p))], 1
    )
    mass = inertia[:, :, np.newaxis] * np.eye(d)
    own = joined(rng.uniform(-0.5, 0.5, (len(parents), p)), d)
    other = joined(rng.uniform(-0.5, 0.5, (len(parents), p)), d)
    blocks = [-x if parent else x[:0] for x, parent in zip(other, parents, strict=True)]
    jacobian = np.concatenate([np.concatenate([a.ravel(), b.ravel()]) for a, b in zip(blocks, own, strict=True)])
    return system, mass.ravel(), jacobian, rng.normal(size=system.nv + system.nc)


def joined(points: FloatArray, d: int) -> FloatArray:
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


def kkt(system: System, mass: FloatArray, jacobian: FloatArray) -> tuple[FloatArray, FloatArray]:
    """M (nv, nv) and J (nc, nv) in full."""
    M, J = np.zeros((system.nv, system.nv)), np.zeros((system.nc, system.nv))
    for v, d, start in zip(system.v_starts, system.bodies, system.mass_starts, strict=False):
        M[v : v + d, v : v + d] = mass[start : start + d * d].reshape(d, d)
    for k, (a, b, p) in enumerate(system.constraints):
        row = system.c_starts[k]
        for body, start in ((a, system.jacobian_starts[2 * k]), (b, system.jacobian_starts[2 * k + 1])):
            if body:
                v, d = system.v_starts[body - 1], system.bodies[body - 1]
                J[row : row + p, v : v + d] = jacobian[start : start + p * d].reshape(p, d)
    return M, J


# ---- counts ----------------------------------------------------------------------------------------------------------


def _operations(system: System) -> tuple[Count, Count, float]:
    factoring, solving = Tally(), Tally()
    mass, jacobian = ([Counted(factoring) for _ in range(n)] for n in (system.mass_size, system.jacobian_size))
    lagrange.factor(system, mass, jacobian)
    F, b = ([Counted(solving) for _ in range(n)] for n in (system.factor_size, system.nv + system.nc))
    lagrange.solve(system, F, b)
    work = [x.mul + x.add + x.div for x in (factoring.count, solving.count)]
    return factoring.count, solving.count, work[0] / work[1]


# ---- times -----------------------------------------------------------------------------------------------------------


def _measured(name: str, system: System, mass: FloatArray, jacobian: FloatArray, b: FloatArray) -> tuple[object, ...]:
    force, c = b[: system.nv], b[system.nv :]
    many = [np.ascontiguousarray(np.broadcast_to(x, (BATCH, x.size))) for x in (mass, jacobian, force, c)]
    want = np.concatenate(multipliers(system, mass, jacobian, force, c))
    ways: dict[str, Callable[[], object]] = {
        "one": lambda: multipliers(system, mass, jacobian, force, c),
        "batch": lambda: multipliers(system, *many),
    }
    groups: dict[str, list[str]] = {}
    for rival, make in RIVALS.items():
        made = make(system, mass, jacobian, b)
        for k, way in enumerate(made):
            if not np.abs(way() - want).max() <= 1e-8 * np.abs(want).max():
                raise BoughError(f"{name}: {rival} does not find the solution of bough")
            ways[f"{rival} {k}"] = way
        groups[rival] = [f"{rival} {k}" for k in range(len(made))]
    best = _times(ways)
    slower = [min((best[key] for key in keys), default=math.nan) for keys in groups.values()]
    return (name, best["one"], best["batch"] / BATCH, *slower, *(x / best["one"] for x in slower))


def _times(ways: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The least time of each in µs; they take turns."""
    best = dict.fromkeys(ways, math.inf)
    end = time.perf_counter() + SECONDS * len(ways)
    turns = 0
    while turns < 1 or (time.perf_counter() < end and turns < 1000):
        for name, way in ways.items():
            for _ in range(5):
                start = time.perf_counter()
                way()
                best[name] = min(best[name], (time.perf_counter() - start) * 1e6)
        turns += 1
    return best


Way = Callable[[], Any]


def _dense(system: System, mass: FloatArray, jacobian: FloatArray, b: FloatArray) -> list[Way]:
    """A λ = -(J M⁻¹ F + c) with A = J M⁻¹ Jᵀ. All bodies have one dimension, so M⁻¹ is quick."""
    with _needing_scipy():
        linalg = import_module("scipy.linalg")
    _, J = kkt(system, mass, jacobian)
    d, force, c = system.bodies[0], b[: system.nv], b[system.nv :]
    across = np.ascontiguousarray(J.T).reshape(-1, d, system.nc)

    def solve() -> FloatArray:
        inverse = np.linalg.inv(mass.reshape(-1, d, d))
        Y = (inverse @ across).reshape(system.nv, system.nc)  # M⁻¹ Jᵀ
        factor = linalg.cho_factor(J @ Y, check_finite=False)
        lam = linalg.cho_solve(factor, -(force @ Y + c), check_finite=False)
        a = inverse @ (force + lam @ J).reshape(-1, d, 1)
        return np.concatenate([a.ravel(), lam])

    return [solve]


def _superlu(system: System, mass: FloatArray, jacobian: FloatArray, b: FloatArray) -> list[Way]:
    with _needing_scipy():
        splu = import_module("scipy.sparse.linalg").splu
    H = _sparse(system, mass, jacobian)
    order = system.order
    ordered, back = H[order][:, order].tocsc(), np.argsort(order)
    symmetric = {"options": {"SymmetricMode": True}, "diag_pivot_thresh": 0.0}
    return [
        lambda: splu(H).solve(b),
        lambda: splu(H, permc_spec="MMD_AT_PLUS_A").solve(b),
        lambda: splu(ordered, permc_spec="NATURAL", **symmetric).solve(b[order])[back],
    ]


def _qdldl(system: System, mass: FloatArray, jacobian: FloatArray, b: FloatArray) -> list[Way]:
    """If it is installed."""
    try:
        solver = import_module("qdldl").Solver
    except ImportError:
        return []
    H, order = _sparse(system, mass, jacobian), system.order
    ordered, back = H[order][:, order].tocsc(), np.argsort(order)
    kept = solver(ordered)

    def again() -> FloatArray:
        kept.update(ordered)
        x: FloatArray = kept.solve(b[order])[back]
        return x

    return [again]


RIVALS: dict[str, Callable[..., list[Way]]] = {"dense": _dense, "SuperLU": _superlu, "QDLDL": _qdldl}


def _sparse(system: System, mass: FloatArray, jacobian: FloatArray) -> Any:
    """H as a SciPy matrix, by columns."""
    with _needing_scipy():
        sparse = import_module("scipy.sparse")
    M, J = kkt(system, mass, jacobian)
    return sparse.bmat([[sparse.csc_matrix(M), -J.T], [-J, None]], format="csc")


@contextmanager
def _needing_scipy() -> Iterator[None]:
    try:
        yield
    except ImportError:
        raise BoughError("the comparison needs SciPy: pip install 'bough[paper]'") from None


# ---- time against the number of bodies -------------------------------------------------------------------------------


SHAPES: dict[str, Callable[[int], Tree]] = {
    "chain": named.chain,
    "star": named.star,
    "binary tree": lambda n: named.balanced_tree(round(math.log2(n + 1))),
    "grid": lambda n: named.grid(round(math.sqrt(n))),
}


def _scaling() -> tuple[Table, Curves]:
    sizes = [10 * 10**k for k in range(round(math.log10(LARGEST)))]
    rows: list[tuple[object, ...]] = []
    lines = []
    for name, make in SHAPES.items():
        points = []
        for n in sizes:
            tree = make(n)
            system, mass, jacobian, b = experiment(tree.n, 6, tree)
            factor = ldlt(system, mass, jacobian)
            t = _times({"factor": partial(ldlt, system, mass, jacobian), "solve": partial(factor.solve, b)})
            points.append((tree.n, t["factor"], t["solve"]))
        x, y = (np.log([p[k] if k == 0 else p[1] + p[2] for p in points[-4:]]) for k in (0, 1))
        slope = float(np.polyfit(x, y, 1)[0])
        last = points[-1]
        rows.append((name, last[0], last[1] / last[0], last[2] / last[0], last[1] / last[2], slope))
        measured = tuple((n, max(1, round(a + b))) for n, a, b in points)
        lines.append((name, measured, ()))
    table = Table(
        "Rigid bodies with ball joints, held by the world: one factorisation and one solution",
        ("tree", "bodies", "factor, µs per body", "solve, µs per body", "factor : solve", "time grows as n to the"),
        tuple(rows),
        ("The power is fitted to the times of the four largest.",),
    )
    return table, Curves("Time of factor and solve", "number of bodies", "µs", tuple(lines))
