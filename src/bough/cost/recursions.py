"""What Featherstone & Orin 2000 say of costs: link and absolute coordinates, ABA against CRBA, and O(log N) rounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from bough.cost.report import Report, Table
from bough.kernel.counting import count, count_parts
from bough.kernel.divide_and_conquer import rounds_of
from bough.model import Mechanism, Model, topologies
from bough.scalar import Count
from bough.tree import costs, named

__all__ = ["recursions", "rounds"]

SIZES = tuple(range(6, 13))
"""Bodies of the chains on which methods are compared."""

LONGER = (2, 6, 9, 10, 12, 16, 24)
"""Those on which coordinates are."""

LONGEST = (16, 64, 256, 1_024)
"""Those on which rounds are counted."""


@lru_cache(maxsize=64)
def _chain(n: int, dh: bool = False) -> Model:
    return topologies.on_tree(named.chain(n), f"chain {n}", dh=dh)


def _total(c: Count) -> int:
    """Multiplications, divisions and additions, as the papers add them up."""
    return c.mul_div + c.add


@lru_cache(maxsize=256)
def _as_written(n: int, algorithm: str, dh: bool = False) -> int:
    """The operations of an algorithm on a chain with frames, general or DH, and inertias as given."""
    model = _chain(n, dh)
    inside = Mechanism(model, slid=False, regrouped=False)
    return _total(sum(count_parts(model, algorithm, inside=inside).values(), Count()))


def _crba_as_written(n: int) -> int:
    """Forward dynamics by RNEA, CRBA, LTDL and substitution."""
    factor = sum(_total(count(named.chain(n), step)) for step in ("ltdl", "ltdl_solve"))
    return _as_written(n, "rnea_spatial") + _as_written(n, "crba") + factor


WAYS: dict[str, tuple[Callable[[int], int], Callable[[int], int]]] = {
    "published": (
        lambda n: sum(costs.forward_dynamics_cost(named.chain(n)).values()),
        lambda n: sum(costs.aba_cost(n).values()),
    ),
    "as written": (_crba_as_written, lambda n: _as_written(n, "aba")),
    "ours": (lambda n: _total(count(_chain(n), "crba_ltdl")), lambda n: _total(count(_chain(n), "aba"))),
}
"""Operations of forward dynamics on a chain, by CRBA and by ABA."""


def recursions() -> Report:
    """Costs in the paper, compared with those of running code on chains."""
    heading = "Recursive algorithms and their costs (Featherstone & Orin 2000, sections 2 and 3)"
    counted = {way: [(by_crba(n), by_aba(n)) for n in SIZES] for way, (by_crba, by_aba) in WAYS.items()}
    crossings = {way: _first(SIZES, [aba < crba for crba, aba in pairs]) for way, pairs in counted.items()}
    methods = Table(
        "Forward dynamics of a chain on the ground, CRBA : ABA, operations m + a",
        ("bodies", *(f"{way}: {method}" for way in WAYS for method in ("CRBA", "ABA"))),
        tuple((n, *(x for way in WAYS for x in counted[way][k])) for k, n in enumerate(SIZES)),
        (
            "published: formulas of Featherstone 2005, ABA with a floating base. as written: the recursions of the",
            "paper, frames and inertias as given. ours: point accelerations, simpler frames and inertias.",
        ),
    )
    return Report("recursions", heading, (_coordinates(), methods, _claims(counted, crossings)))


def _first(sizes: Sequence[int], holds: Sequence[bool]) -> str:
    """From which size on something holds, in words."""
    late = [n for n, is_so in zip(sizes, holds, strict=True) if not is_so]
    if not late:
        return f"N ≥ {sizes[0]}"
    return f"N > {late[-1]}" if late[-1] < sizes[-1] else f"not up to N = {sizes[-1]}"


PAIRS = (("RNEA", "rnea_spatial", "rnea_absolute"), ("CRBA", "crba", "crba_absolute"), ("ABA", "aba", "aba_absolute"))


def _coordinates() -> Table:
    rows = [(n, *(_as_written(n, name, dh=True) for _, *names in PAIRS for name in names)) for n in LONGER]
    columns = ("bodies", *(f"{title}, {kind}" for title, *_ in PAIRS for kind in ("link", "absolute")))
    notes = ("As the paper writes them: spatial accelerations, DH frames and inertias as given.",)
    return Table("Link and absolute coordinates on a chain, operations m + a", columns, tuple(rows), notes)


def _claims(counted: dict[str, list[tuple[int, int]]], crossings: dict[str, str]) -> Table:
    """What the paper says, and what was counted."""
    six = {way: f"{pairs[SIZES.index(6)][1] / pairs[SIZES.index(6)][0]:.2f} {way}" for way, pairs in counted.items()}
    early = _as_written(6, "rnea_spatial") / _total(count(_chain(6), "rnea"))
    cheaper = _first(LONGER, [_as_written(n, "crba_absolute", True) < _as_written(n, "crba", True) for n in LONGER])
    dh, general = (
        [_as_written(24, x, dh) / _as_written(24, link, dh) for _, link, x in PAIRS[::2]] for dh in (True, False)
    )
    rows = (
        (
            "ABA takes fewer operations than CRBA for N > 9",
            ", ".join(f"{text} {way}" for way, text in crossings.items()),
        ),
        ("later ABA is roughly comparable to CRBA at N = 6: ABA / CRBA", ", ".join(six.values())),
        ("RNEA up to 1.7 times cheaper than early ones, 6 joints", f"{early:.2f}: as written / ours"),
        ("CRBA is cheaper in link coordinates unless n is large", f"absolute coordinates are cheaper for {cheaper}"),
        (
            "RNEA and ABA are cheaper in link coordinates",
            "{:.2f} and {:.2f} times at N = 24; {:.2f} and {:.2f} with general frames".format(*dh, *general),
        ),
    )
    return Table("What the paper says, and what was counted", ("paper", "counted"), rows)


def rounds() -> Report:
    """O(log N) rounds: their number, and their cost compared with ABA."""
    rows = []
    for n in LONGEST:
        model = _chain(n) if n <= 64 else topologies.chain(n)
        each = count(model, "divide_and_conquer").total / n
        rows.append((n, len(rounds_of(model)), each))
    aba = count(_chain(64), "aba").total / 64
    table = Table(
        "Forward dynamics of a chain by divide and conquer",
        ("bodies", "rounds", "operations per body"),
        tuple(rows),
        (
            f"ABA has N rounds of one body each, {aba:.0f} operations per body.",
            'forward_dynamics(method="divide_and_conquer"); benchmarks/on_long_chains.py measures where it pays.',
        ),
    )
    return Report(
        "rounds", "Forward dynamics in O(log N) rounds (Featherstone & Orin 2000, sections 3.5 and 4)", (table,)
    )
