"""A tree taken together in rounds, of which there are few: runs of bodies first, then neighbours in pairs.

Each path from a body to its heaviest child, and on to the heaviest child of that, is cut into *runs*. A run whose
branches are done is taken together to one piece; so are, in later rounds, a piece and what hangs on its last body. A
piece that nothing hangs on any more is a *tip*, and is added to the body that carries it. All that can be done at the
same time is one round. A chain of N bodies takes about log₂ N rounds, and so do other trees, up to a factor.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.tree.tree import Tree

__all__ = ["Pairs", "Round", "Runs", "contraction"]

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Runs:
    """Runs of one kind of body and one length that are taken together at the same time.

    Attributes
    ----------
    kind, length
        What they have in common.
    open
        Whether something hangs on the last body of each, so that it becomes a piece and not a tip.
    branches
        Whether tips were added to some of their bodies.
    bodies
        Numbers of the bodies of each run, from the root outward (runs, length).
    made
        The numbers of the pieces, or of the tips, that they become.
    """

    kind: int
    length: int
    open: bool
    branches: bool
    bodies: Ints
    made: Ints


@dataclass(frozen=True)
class Pairs:
    """Pieces that are taken together at the same time with what hangs on them: pieces if `open`, or else tips.

    Attributes
    ----------
    upper, lower, made
        Numbers of the pieces, of what hangs on them, and of what they become.
    base, between, last
        Bodies: the one that carries both, the last one of the upper piece, and the last one of the lower piece.
    """

    open: bool
    upper: Ints
    lower: Ints
    made: Ints
    base: Ints
    between: Ints
    last: Ints


@dataclass(frozen=True)
class Round:
    """What is done at the same time; then tips are added to the bodies that carry them, where these are not done."""

    runs: tuple[Runs, ...]
    pairs: tuple[Pairs, ...]
    tips: Ints
    carriers: Ints


def contraction(tree: Tree, kinds: Sequence[int], may_end: Sequence[bool], lengths: Sequence[int]) -> tuple[Round, ...]:
    """The rounds in which a tree is taken together.

    Parameters
    ----------
    tree
        The tree.
    kinds
        The kind of each body: a run has bodies of one kind.
    may_end
        For each body whether a run that something hangs on may end there. One that may not has to wait until nothing
        does.
    lengths
        The lengths that runs may have, the longest first, and 1 the last.
    """
    return _Contraction(tree, _runs(tree, kinds, may_end, lengths), kinds, may_end).rounds()


def _runs(tree: Tree, kinds: Sequence[int], may_end: Sequence[bool], lengths: Sequence[int]) -> list[list[int]]:
    """All runs, each from the root outward."""
    n, parents = tree.n, tree.parents
    weight = [1] * (n + 1)
    for i in range(n, 0, -1):
        weight[parents[i - 1]] += weight[i]
    heaviest = [0] * (n + 1)
    for i in range(1, n + 1):
        parent = parents[i - 1]
        if parent and (not heaviest[parent] or weight[i] > weight[heaviest[parent]]):
            heaviest[parent] = i
    found = []
    for head in range(1, n + 1):
        if heaviest[parents[head - 1]] == head:
            continue
        path = [head]
        while heaviest[path[-1]]:
            path.append(heaviest[path[-1]])
        found += _cut(path, kinds, may_end, lengths)
    return found


def _cut(path: list[int], kinds: Sequence[int], may_end: Sequence[bool], lengths: Sequence[int]) -> list[list[int]]:
    runs, first = [], 0
    while first < len(path):
        kind, stop = kinds[path[first] - 1], first + 1
        while stop < min(len(path), first + lengths[0]) and kinds[path[stop] - 1] == kind:
            stop += 1
        fitting = [k for k in lengths if k <= stop - first]
        good = [k for k in fitting if first + k == len(path) or may_end[path[first + k - 1] - 1]]
        length = (good or fitting)[0]
        runs.append(path[first : first + length])
        first += length
    return runs


class _Contraction:
    """The state of a tree while it is taken together."""

    def __init__(self, tree: Tree, runs: list[list[int]], kinds: Sequence[int], may_end: Sequence[bool]) -> None:
        self.runs, self.kinds, self.may_end = runs, kinds, may_end
        self.carrier = [tree.parents[run[0] - 1] for run in runs]  # the body that carries each run
        owner = [-1] * (tree.n + 1)
        for r, run in enumerate(runs):
            for body in run:
                owner[body] = r
        self.above = [owner[body] for body in self.carrier]  # the run that carries each run
        self.waiting = [0] * len(runs)  # runs that hang on each run, as long as they are not done
        self.waiting_last = [0] * len(runs)  # of these, the ones on its last body, and the sum of their numbers
        self.sum_last = [0] * len(runs)
        for r in range(len(runs)):
            self._count(r, 1)
        self.branches = [False] * len(runs)
        self.done = [False] * len(runs)
        self.piece_from: dict[int, int] = {}  # by its first run, and by its last run
        self.piece_to: dict[int, int] = {}
        self.ends: dict[int, tuple[int, int]] = {}  # first and last run of each piece
        self.tip_from: dict[int, int] = {}
        self.pieces = self.tips = 0

    def _count(self, r: int, sign: int) -> None:
        """A run begins or ends to hang on the one that carries it."""
        up = self.above[r]
        if up >= 0:
            self.waiting[up] += sign
            if self.carrier[r] == self.runs[up][-1]:
                self.waiting_last[up] += sign
                self.sum_last[up] += sign * r

    def rounds(self) -> tuple[Round, ...]:
        """All rounds."""
        made: list[Round] = []
        ready = list(range(len(self.runs)))
        while True:
            tips, pieces = self._ready(ready)
            rakes, joins = self._neighbours()
            if not (tips or pieces or rakes or joins):
                return tuple(made)
            new_tips = [*tips, *(self.ends[upper][0] for upper, _ in rakes)]
            groups = self._taken(tips, False) + self._taken(pieces, True)
            pairs = [self._paired(some, open) for some, open in ((rakes, False), (joins, True)) if some]
            numbers, carriers, ready = self._add_tips(new_tips)
            made.append(Round(tuple(groups), tuple(pairs), _ints(numbers), _ints(carriers)))

    def _ready(self, candidates: list[int]) -> tuple[list[int], list[int]]:
        """The runs that become tips, and those that become pieces."""
        tips, pieces = [], []
        for r in candidates:
            if self.done[r]:
                continue
            if not self.waiting[r]:
                tips.append(r)
            elif self.waiting[r] == self.waiting_last[r] == 1 and self.may_end[self.runs[r][-1] - 1]:
                pieces.append(r)
        return tips, pieces

    def _neighbours(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Pieces with tips on them, and pairs of pieces of which none is in two pairs."""
        joins, used = [], set()
        for piece, (_, last) in self.ends.items():
            if self.sum_last[last] in self.piece_from:
                continue
            lower: int | None = piece  # the lowest of neighbours: they are paired from here upward
            while lower is not None:
                upper = self.piece_to.get(self.above[self.ends[lower][0]])
                if upper is None:
                    break
                joins.append((upper, lower))
                used |= {upper, lower}
                lower = self.piece_to.get(self.above[self.ends[upper][0]])
        tips = ((piece, self.tip_from.get(self.sum_last[last])) for piece, (_, last) in self.ends.items())
        rakes = [(piece, tip) for piece, tip in tips if tip is not None and piece not in used]
        return rakes, joins

    def _taken(self, runs: list[int], open: bool) -> list[Runs]:
        """Runs that become tips or pieces, in groups alike."""
        alike: dict[tuple[int, int, bool], list[int]] = defaultdict(list)
        for r in runs:
            self.done[r] = True
            alike[self.kinds[self.runs[r][0] - 1], len(self.runs[r]), self.branches[r]].append(r)
        groups = []
        for (kind, length, branches), members in alike.items():
            made = []
            for r in members:
                if open:
                    self._add_piece(r, r)
                    made.append(self.pieces - 1)
                else:
                    made.append(self._new_tip(r))
            groups.append(Runs(kind, length, open, branches, _ints([self.runs[r] for r in members]), _ints(made)))
        return groups

    def _paired(self, pairs: list[tuple[int, int]], open: bool) -> Pairs:
        """Pairs become pieces, or tips."""
        made, base, between, last = [], [], [], []
        for upper, lower in pairs:
            first, end = self.ends.pop(upper)
            base.append(self.carrier[first])
            between.append(self.runs[end][-1])
            del self.piece_from[first], self.piece_to[end]
            if open:
                low, end = self.ends.pop(lower)
                del self.piece_from[low], self.piece_to[end]
                last.append(self.runs[end][-1])
                self._add_piece(first, end)
                made.append(self.pieces - 1)
            else:
                del self.tip_from[self.sum_last[end]]
                last.append(0)
                made.append(self._new_tip(first))
        return Pairs(open, *(_ints(x) for x in zip(*pairs, strict=True)), *map(_ints, (made, base, between, last)))

    def _add_piece(self, first: int, last: int) -> None:
        self.ends[self.pieces] = (first, last)
        self.piece_from[first] = self.piece_to[last] = self.pieces
        self.pieces += 1

    def _new_tip(self, first: int) -> int:
        self.tip_from[first] = self.tips
        self.tips += 1
        return self.tips - 1

    def _add_tips(self, runs: list[int]) -> tuple[list[int], list[int], list[int]]:
        """Add tips, by their first runs, to what carries them; tells the runs for which something changed."""
        numbers, carriers, changed = [], [], []
        for r in runs:
            up = self.above[r]
            if up < 0 or not self.done[up]:
                numbers.append(self.tip_from.pop(r))
                carriers.append(self.carrier[r])
            if up >= 0 and not self.done[up]:
                self.branches[up] = True
                self._count(r, -1)
                changed.append(up)
        kept = [k for k, body in enumerate(carriers) if body]
        return [numbers[k] for k in kept], [carriers[k] for k in kept], list(dict.fromkeys(changed))


def _ints(values: Any) -> Ints:
    return np.asarray(values, dtype=np.int64)
