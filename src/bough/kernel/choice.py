"""Which method forward dynamics takes: operation counts, weighted by times that were measured once.

The weights are constants of the source, not of the machine at hand, so the choice depends on the mechanism alone and
the same input gives the same bits everywhere and always. ``python benchmarks/weights.py`` measures them and prints the
table below.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from bough.kernel import cache
from bough.kernel.compile import LONGEST, ROLL_ABOVE
from bough.kernel.counting import count
from bough.kernel.functions import mechanism
from bough.model import Model
from bough.scalar import Count

__all__ = [
    "ALGORITHMS",
    "BETWEEN",
    "ROLLED",
    "Method",
    "MethodCost",
    "cheaper_method",
    "method_costs",
    "weighted",
]

Method: TypeAlias = Literal["aba", "aba_at_rest", "crba"]

ALGORITHMS: dict[Method, str] = {"aba": "aba", "aba_at_rest": "aba_at_rest", "crba": "crba_ltdl"}
"""The algorithm behind each method."""


def weighted(c: Count) -> float:
    """Operations of straight-line code in units of a multiplication or addition.

    Most divisions counted share their divisor with others and run as multiplications.
    """
    return c.mul + c.add + c.other + 2.0 * c.div + 6.0 * c.sqrt + 12.0 * c.trig


@dataclass(frozen=True)
class PerNode:
    """What a rolled program does per degree of freedom, per pair with an ancestor (D₁) and per pair of these (D₂)."""

    node: float
    pair: float = 0.0
    triple: float = 0.0

    def of(self, n: int, d1: int, d2: int) -> float:
        """The same for a whole tree."""
        return self.node * n + self.pair * d1 + self.triple * d2


# What benchmarks/weights.py measured on one core of a Xeon with AVX-512: nanoseconds for one state alone, and per state
# of a batch in float64, without the call itself.
UNROLLED: dict[Method, dict[str, float]] = {
    "aba": {"one": 0.161, "batch": 0.038},
    "aba_at_rest": {"one": 0.153, "batch": 0.0345},  # sines are counted twice and computed once
    "crba": {"one": 0.159, "batch": 0.041},
}
ROLLED: dict[Method, dict[str, PerNode]] = {
    "aba": {"operations": PerNode(590), "one": PerNode(141), "batch": PerNode(47)},
    "crba": {"operations": PerNode(311, 48, 2), "one": PerNode(112, 12.4, 0.56), "batch": PerNode(53, 2.0, 0.18)},
}

# The same for each joint between the floating base outside and the one inside: operations counted, times in proportion.
BETWEEN: dict[str, float] = {"operations": 80.0, "one": 29.0, "batch": 14.0}


@dataclass(frozen=True)
class MethodCost:
    """What one method costs on a mechanism, for one state.

    Attributes
    ----------
    operations
        How many there are: counted, or estimated where `count` is None.
    count
        The exact count, for mechanisms small enough.
    rolled
        Whether its program is a loop over bodies.
    one, batch
        Estimated nanoseconds for one state alone, and per state of a batch.
    """

    operations: int
    count: Count | None
    rolled: bool
    one: float
    batch: float


@lru_cache(maxsize=256)
def method_costs(model: Model) -> dict[Method, MethodCost]:
    """What each method of forward dynamics costs on a mechanism; with mimic joints there is but one."""
    if model.inner_root:  # the mass matrix is another inside, all else is that of the plain model
        plain = method_costs(model.with_checked(inner_root=0))
        return {**plain, "crba": _cost("crba", model, _counts(model, ("crba",)))}
    methods: tuple[Method, ...] = ("aba", "aba_at_rest", "crba") if model.coupling.trivial else ("crba",)
    if model.coupling.trivial and mechanism(model).most_modes:  # of flexible bodies
        methods = ("aba", "crba")
    counts = _counts(model, methods)
    known = [m for m in methods if m in ROLLED or (m in counts and counts[m].total <= LONGEST)]
    return {method: _cost(method, model, counts) for method in known}


def _cost(method: Method, model: Model, counts: dict[Method, Count]) -> MethodCost:
    exact = counts.get(method)
    if exact is not None and exact.total <= LONGEST:
        scale = weighted(exact)
        times = (UNROLLED[method]["one"] * scale, UNROLLED[method]["batch"] * scale)
        return MethodCost(exact.total, exact, False, *times)
    tree, between = model.inner.dof_tree, bodies_between(model)
    operations, one, batch = (
        ROLLED[method][what].of(tree.n, tree.D1, tree.D2) + BETWEEN[what] * between
        for what in ("operations", "one", "batch")
    )
    return MethodCost(exact.total if exact else round(operations), exact, True, one, batch)


def bodies_between(model: Model) -> int:
    """The number of joints between the body that floats and the one that does so inside."""
    return model.tree.depth(model.inner_root) - 1 if model.inner_root else 0


def cheaper_method(model: Model) -> Method:
    """The method that is estimated faster: one state and batches count the same, and the choice holds for both."""
    costs = method_costs(model)
    return min(costs, key=lambda method: costs[method].one * costs[method].batch)


def _counts(model: Model, methods: tuple[Method, ...]) -> dict[Method, Count]:
    """Exact counts of mechanisms small enough, from the disk cache if some process made them before."""
    if model.nv > ROLL_ABOVE:
        return {}
    return cache.noted(
        mechanism(model).digest,
        ("counts", *methods),
        lambda: {method: astuple(count(model, ALGORITHMS[method])) for method in methods},
        lambda rows: {method: Count(*(int(x) for x in rows[method])) for method in methods},
    )
