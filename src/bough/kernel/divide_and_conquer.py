"""Forward dynamics of one mechanism in O(log N) rounds, each a few batches over runs or pairs of bodies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.algorithms.handles import HANDLES, MOVED
from bough.algorithms.runs import FIXED, Run, row_size
from bough.errors import ModelError
from bough.kernel.arguments import FloatArray, is_on_device
from bough.kernel.function import Function, Results, Verdicts
from bough.kernel.functions import mechanism, model_function, new_function, require_model
from bough.kernel.handle_programs import Call, InDoubtError
from bough.kernel.verdict import all_in_doubt
from bough.model import Mechanism, Model
from bough.model.record import BORDER, INERTIA, REST_OF_ROW, Kind
from bough.model.stations import require_all_rigid
from bough.reading import truth
from bough.scalar import Count
from bough.scalar.lazy import cached_property
from bough.tree.contraction import Pairs, Round, Runs, contraction

__all__ = ["SHORT", "DivideAndConquer", "Rounds", "Where", "operations", "rounds_of"]

LONG, SHORT = (64, 8, 1), (16, 4, 1)
"""Lengths of runs in large mechanisms and in others: longer ones leave less to join, and less to do at once."""

LARGE = 4096
"""Bodies of a large mechanism."""

FEW_TIPS = 8
"""Tips on one body that are added one after the other."""

LIGHT = 1e-9
"""A body resists a motion if it does so with more than this part of its inertia."""


class _Batch:
    """Runs that are taken together at the same time, with what is the same for all states."""

    def __init__(self, m: Mechanism, kind: Kind, runs: Runs, on: Where) -> None:
        run = Run(kind, runs.length, runs.open)
        self.open, self.branches = runs.open, runs.branches
        index = runs.bodies - 1
        self.constants = on.floats(_constants(m, kind, index.ravel()).reshape(len(index), -1))
        self.q = on.places(_entries(m.q_starts.data[index], kind.joint.nq))
        self.v = on.places(_entries(m.v_starts.data[index], kind.joint.nv))
        self.nv = kind.joint.nv * runs.length
        self.made, self.bodies = on.places(runs.made), on.places(runs.bodies.ravel())
        self.places = on.places(runs.bodies.ravel() - 1)
        self.base, self.last = on.places(np.asarray(m.tree.parents)[index[:, 0]]), on.places(runs.bodies[:, -1])
        alike, count = replace(run, open=True), len(index)
        self.moved = on.call("moved", alike, count) if self.open else None
        self.velocities = on.call("velocities", alike, count) if self.branches else None
        self.articulated = on.call("articulated with branches" if self.branches else "articulated", run, count)
        self.accelerated = on.call("accelerations" if self.branches else "accelerated", run, count)

    @property
    def calls(self) -> list[Call]:
        """All that is done to them."""
        return [x for x in (self.moved, self.velocities, self.articulated, self.accelerated) if x is not None]

    def of(self, array: FloatArray, places: Any) -> FloatArray:
        """What belongs to each run."""
        found: FloatArray = array[places].reshape(len(self.constants), -1)
        return found


class _Neighbours:
    """Pairs that are joined at the same time."""

    def __init__(self, pairs: Pairs, on: Where) -> None:
        self.open = pairs.open
        self.upper, self.lower, self.made = map(on.places, (pairs.upper, pairs.lower, pairs.made))
        self.base, self.between, self.last = map(on.places, (pairs.base, pairs.between, pairs.last))
        count = len(pairs.upper)
        self.together = on.call("moved together", None, count) if self.open else None
        self.on = on.call("moved on", None, count)
        self.joined, self.split = (on.call(name, self.open, count) for name in ("joined", "split"))

    @property
    def calls(self) -> list[Call]:
        """All that is done to them."""
        return [x for x in (self.together, self.on, self.joined, self.split) if x is not None]


@dataclass(frozen=True)
class Where:
    """Where arrays are and calls run; by default, in the memory of the CPU."""

    dtype: np.dtype[Any]
    lengths: tuple[int, ...] | None = None  # of runs, if these do not go by the number of bodies
    arrays: Any = np  # NumPy, or what has its functions
    new_call: Callable[..., Call] = Call

    def floats(self, a: Any) -> Any:
        """Numbers as an array there."""
        return self.arrays.asarray(a, self.dtype)

    def places(self, numbers: NDArray[np.int64]) -> Any:
        """Places as a slice, where they are equally spaced."""
        steps = np.diff(numbers)
        if steps.size and steps[0] > 0 and (steps == steps[0]).all():
            return slice(int(numbers[0]), int(numbers[-1]) + 1, int(steps[0]))
        return self.arrays.asarray(numbers)

    def call(self, name: str, of: Any, count: int) -> Call:
        """A function on all of a batch."""
        return self.new_call(name, of, count, self.dtype)


def _entries(starts: NDArray[Any], count: int) -> NDArray[np.int64]:
    """The places of a number of entries from each start."""
    return np.asarray((starts[..., np.newaxis] + np.arange(count)).ravel(), np.int64)


def _constants(m: Mechanism, kind: Kind, index: NDArray[np.int64]) -> NDArray[np.float64]:
    """The constants that runs need, of bodies of one kind."""
    further = REST_OF_ROW + np.arange(row_size(kind) - FIXED)
    return _of_rows(m, index, np.concatenate([np.arange(FIXED), further]))


def _of_rows(m: Mechanism, index: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.float64]:
    """Some of the constants of bodies (bodies, places)."""
    found: NDArray[np.float64] = m.constants.data[m.constant_starts.data[index][:, np.newaxis] + places]
    return found


def _alike(kind: Kind) -> Kind:
    """A kind without what does not matter inside a run."""
    return replace(kind, is_root=False, is_leaf=False, is_regrouped=False, is_given=False)


def _may_end(m: Mechanism) -> NDArray[np.bool_]:
    """At which bodies a run may end that something hangs on, so that pivots vanish only if those of ABA do.

    A body with regular inertia resists whatever moves it. If there are others, it is enough that each of them resists
    its own joint.
    """
    rows = _of_rows(m, np.arange(m.tree.n), np.arange(INERTIA, INERTIA + 10))
    mass, h, J = rows[:, 0], rows[:, 1:4], rows[:, [4, 5, 7, 5, 6, 8, 7, 8, 9]].reshape(-1, 3, 3)
    with np.errstate(all="ignore"):
        c = np.where(mass[:, np.newaxis] > 0.0, h / mass[:, np.newaxis], 0.0)
    spread = np.sum(h * c, axis=1)[:, np.newaxis, np.newaxis] * np.eye(3) - h[:, :, np.newaxis] * c[:, np.newaxis, :]
    moments = np.linalg.eigvalsh(J - spread)
    regular = (mass > 0.0) & (moments[:, 0] > LIGHT * np.trace(J, axis1=1, axis2=2))
    light = [i for i in np.flatnonzero(~regular).tolist() if not _resists(m, i + 1)]
    return regular if light else np.ones(m.tree.n, np.bool_)


def _resists(m: Mechanism, body: int) -> bool:
    """Whether a body alone resists all motions of its joint, in the neutral configuration."""
    record, joint = m.at(body), m.joints[body - 1]
    S = record.joint.subspace(list(joint.parameters), [float(x) for x in joint.neutral()])
    D = np.array([[s.dot(record.inertia.times(t)) for s in S] for t in S], float).reshape(len(S), len(S))
    return bool((np.linalg.eigvalsh(D + np.diag(np.array(record.armature, float))) > LIGHT * np.trace(D)).all())


@lru_cache(maxsize=32)
def rounds_of(model: Model, lengths: tuple[int, ...] | None = None) -> tuple[Round, ...]:
    """The rounds in which the forward dynamics of a model is computed by divide and conquer, with runs of lengths."""
    m = mechanism(model)
    number = {kind: k for k, kind in enumerate(dict.fromkeys(map(_alike, m.kind_list)))}
    kinds = [number[_alike(m.kind_list[kind])] for kind in m.kinds]
    return contraction(m.tree, kinds, _may_end(m).tolist(), lengths or (LONG if m.tree.n >= LARGE else SHORT))


class Rounds:
    """A mechanism in rounds, for one data type."""

    def __init__(self, model: Model, on: Where) -> None:
        m, rounds, xp = mechanism(model), rounds_of(model, on.lengths), on.arrays
        self.n, self.nv, self.dtype, self.arrays = m.tree.n, model.nv, on.dtype, xp
        self.gravity = on.floats([0.0, 0.0, 0.0, *(-x for x in model.gravity)])
        kinds = list(dict.fromkeys(map(_alike, m.kind_list)))
        self.batches = [[_Batch(m, kinds[runs.kind], runs, on) for runs in turn.runs] for turn in rounds]
        self.pairs = [[_Neighbours(pairs, on) for pairs in turn.pairs] for turn in rounds]
        self.tips = [_by_carrier(turn, on) for turn in rounds]
        self.border = on.floats(_of_rows(m, np.arange(self.n), np.arange(BORDER, BORDER + 12)))
        self.pushes = on.call("external forces", None, self.n)
        counts = {True: 0, False: 0}
        for turn in rounds:
            for runs in turn.runs:
                counts[runs.open] += len(runs.made)
            for pairs in turn.pairs:
                counts[pairs.open] += len(pairs.made)
        self._made = {open: xp.empty((count, HANDLES[open]), on.dtype) for open, count in counts.items()}
        self._moved, self._bodies = xp.empty((counts[True], MOVED), on.dtype), xp.zeros((3, self.n + 1, 6), on.dtype)
        branched = any(b.branches for batches in self.batches for b in batches)
        self._branches = xp.zeros((self.n + 1 if branched else 0, HANDLES[False]), on.dtype)
        self._lock = Lock()  # what is computed in between lies in arrays of its own

    def __call__(self, q: FloatArray, v: FloatArray, tau: FloatArray, f_ext: FloatArray | None) -> FloatArray:
        """The accelerations (nv,) of one state."""
        with self._lock:
            kept = self._articulated(q, v, tau, f_ext, self._velocities(q, v))
            return self._accelerations(q, kept)

    @property
    def calls(self) -> Iterator[Call]:
        """All batches, but for external forces."""
        for batches, pairs in zip(self.batches, self.pairs, strict=True):
            for b in batches:
                yield from b.calls
            for p in pairs:
                yield from p.calls

    def _velocities(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Velocities of all bodies that carry runs (N + 1, 6); that of the base is zero."""
        moved = self._moved
        velocities: FloatArray = self._bodies[0]
        for batches, pairs in zip(self.batches, self.pairs, strict=True):
            for b in batches:
                if b.moved is not None:
                    moved[b.made] = b.moved(b.constants, b.of(q, b.q), b.of(v, b.v))
            for p in pairs:
                if p.together is not None:
                    moved[p.made] = p.together(moved[p.upper], moved[p.lower])
        for batches, pairs in zip(reversed(self.batches), reversed(self.pairs), strict=True):
            for p in pairs:
                velocities[p.between] = p.on(moved[p.upper], velocities[p.base])
            for b in batches:
                if b.velocities is not None:
                    found = b.velocities(b.constants, b.of(q, b.q), b.of(v, b.v), velocities[b.base])
                    velocities[b.bodies] = found.reshape(-1, 6)
        return velocities

    def _articulated(
        self, q: FloatArray, v: FloatArray, tau: FloatArray, f_ext: FloatArray | None, velocities: FloatArray
    ) -> list[FloatArray]:
        """Articulated bodies, from runs to the whole; what is kept of each batch, in order."""
        pushes = None if f_ext is None else self.pushes(self.border, f_ext)
        made, branches, kept = self._made, self._branches, []
        branches[:] = 0.0
        for batches, pairs, groups in zip(self.batches, self.pairs, self.tips, strict=True):
            for b in batches:
                beside = (b.of(branches, b.bodies),) if b.branches else ()
                own = None if pushes is None else b.of(pushes, b.places)
                state = (b.constants, b.of(q, b.q), b.of(v, b.v), b.of(tau, b.v), velocities[b.base])
                kept.append(_parted(b, b.articulated(*state, own, *beside), made))
            for p in pairs:
                kept.append(_parted(p, p.joined(made[True][p.upper], made[p.open][p.lower]), made))
            for tips, count, carriers in groups:
                added = made[False][tips].reshape(-1, count, HANDLES[False])
                if count > FEW_TIPS:
                    branches[carriers] += added.sum(axis=1)
                else:
                    for k in range(count):
                        branches[carriers] += added[:, k]
        return kept

    def _accelerations(self, q: FloatArray, kept: list[FloatArray]) -> FloatArray:
        """From the whole back to the joints."""
        qdd: FloatArray = self.arrays.empty(self.nv, self.dtype)
        accelerations, forces = self._bodies[1], self._bodies[2]
        accelerations[0] = self.gravity
        for batches, pairs in zip(reversed(self.batches), reversed(self.pairs), strict=True):
            for p in reversed(pairs):
                between = p.split(kept.pop(), accelerations[p.base], *((forces[p.last],) if p.open else ()))
                accelerations[p.between], forces[p.between] = between[:, :6], between[:, 6:]
            for b in reversed(batches):
                given = (b.constants, b.of(q, b.q), kept.pop(), accelerations[b.base])
                found = b.accelerated(*given, *((forces[b.last],) if b.open else ()))
                qdd[b.v] = found[:, : b.nv].ravel()
                if b.branches:
                    accelerations[b.bodies] = found[:, b.nv :].reshape(-1, 6)
        return qdd


def _by_carrier(turn: Round, on: Where) -> list[tuple[Any, int, Any]]:
    """The tips of a round, how many there are on each body that carries some, and these bodies; by that number."""
    order = np.argsort(turn.carriers, kind="stable")
    carriers, starts, counts = np.unique(turn.carriers[order], return_index=True, return_counts=True)
    groups = []
    for count in np.unique(counts).tolist():
        some = np.flatnonzero(counts == count)
        places = order[(starts[some][:, np.newaxis] + np.arange(count)).ravel()]
        groups.append((on.places(turn.tips[places]), count, on.places(carriers[some])))
    return groups


def _parted(x: _Batch | _Neighbours, found: FloatArray, made: Mapping[bool, FloatArray]) -> FloatArray:
    """Put articulated bodies where they belong; the rest is kept."""
    size = HANDLES[x.open]
    made[x.open][x.made] = found[:, :size]
    return found[:, size:]


class DivideAndConquer:
    """Forward dynamics of a model by divide and conquer, one state after the other."""

    def __init__(self, model: Model) -> None:
        _require_free_joints(model)
        self._model, self._rounds = model, dict[str, Rounds]()
        self._function = new_function(model, "aba", explain=self._explain)
        self._function.called = "forward_dynamics"
        self._function.twin = lambda: model_function(model, "aba")
        self._function.rule, self._function.digest = all_in_doubt(self._function.outputs), lambda: None

    def entry(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: Any, out: Any, check: Any) -> FloatArray:
        """As that of a function."""
        values = [x for x in (q, v, tau, f_ext) if x is not None]
        if any(map(is_on_device, values)):
            return self._device(self._function.inputs[: len(values)], values, out, truth(check, "check"))
        found: FloatArray = self._function.entry(q, v, tau, f_ext, out, check)
        return found

    def _explain(self, arrays: dict[str, FloatArray], results: Results, verdicts: Verdicts) -> Results:
        """Find the accelerations of all states: the program gives none."""
        shapes = {a.name: a.shape for a in self._function.inputs}
        whole = {name: np.broadcast_to(a, (*verdicts.shape, *shapes[name])) for name, a in arrays.items()}
        for place in np.ndindex(verdicts.shape):
            results[0][place] = self._one(results[0].dtype, **{name: a[place] for name, a in whole.items()})
        return results

    @cached_property
    def _device(self) -> Callable[..., FloatArray]:
        """What runs it on a GPU."""
        from bough.kernel.divide_on_device import OnDevice

        return OnDevice(self._model, self.entry)

    def _one(
        self, dtype: np.dtype[Any], q: FloatArray, v: FloatArray, tau: FloatArray, f_ext: FloatArray | None = None
    ) -> FloatArray:
        if dtype.name not in self._rounds:
            self._rounds[dtype.name] = Rounds(self._model, Where(dtype))
        try:
            return self._rounds[dtype.name](q, v, tau, f_ext)
        except InDoubtError:  # ABA knows whether a pivot really vanishes, and which
            qdd: FloatArray = model_function(self._model, "aba").entry(q, v, tau, f_ext, None, False)
            return qdd


def operations(model: Model, optimized: bool, f_ext: bool) -> Count:
    """What divide and conquer performs on one state, over all rounds."""
    _require_free_joints(model)
    rounds = Rounds(model, Where(np.dtype(np.float64)))
    known: dict[Function, Count] = {}
    total = rounds.pushes.operations(optimized, f_ext) * model.nbodies if f_ext else Count()
    for call in rounds.calls:
        if call.function not in known:
            known[call.function] = call.operations(optimized, f_ext)
        total = total + known[call.function] * call.count
    return total


def _require_free_joints(model: Model) -> None:
    require_model(model)
    require_all_rigid(model, "method 'divide_and_conquer'")
    if not model.coupling.trivial:
        raise ModelError(
            f"method 'divide_and_conquer' works without mimic joints, and {model.name!r} has some; "
            "expected method 'auto' or 'crba'"
        )
