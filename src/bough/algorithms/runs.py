"""Runs: pieces of a chain, bodies with joints of one kind, each the parent of the next, as bodies with two handles.

Inside a run it is the articulated-body recursion, which also carries along what happens at the last body (`handles`).
The constants of its bodies are inputs, so that one program is run on all runs of a round at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bough.algorithms.aba import times_inverse
from bough.algorithms.blocks import SmallFactor, transposed
from bough.algorithms.handles import HANDLES, NO_TIP, NOTHING, Handles, Moved, Tip, motion
from bough.model import BodyRecord, combine
from bough.model.record import REST_OF_ROW, Kind
from bough.scalar import Array, Index, Part, Scalar, dot, leaves, loop, maximum, rebuild, rows, select
from bough.spatial import (
    NO_FORCE,
    REST,
    STAY,
    ArticulatedInertia,
    Force,
    Matrix,
    Motion,
    Transform,
    Vector,
    unit_directions,
)

__all__ = ["FIXED", "Run", "body_force", "row_size"]

FIXED = 22
"""Constants of a body that every run needs: its placement in its parent, and its inertia. Armature and parameters of
the joint follow."""


class RunBody(BodyRecord):
    """A body of a run, whose constants are inputs."""

    def __init__(self, kind: Kind, index: Index, constants: Array) -> None:
        self.kind, self.index, self.joint, self.nv = 0, index, kind.joint, kind.joint.nv
        self.has_armature, self._count, self._is_given = kind.has_armature, kind.parameters, False
        self._row = Part(constants, index * row_size(kind))

    def of_q(self, q: Array) -> list[Scalar]:
        return [q[self.index * self.joint.nq + k] for k in range(self.joint.nq)]

    @property
    def v_start(self) -> Index:
        return self.index * self.nv

    def _constants(self, first: int, count: int) -> list[Scalar]:
        start = first if first < FIXED else first - REST_OF_ROW + FIXED
        return [self._row[start + k] for k in range(count)]


def row_size(kind: Kind) -> int:
    """How many constants a body of a kind has."""
    return FIXED + kind.joint.nv + kind.parameters


@dataclass(frozen=True, slots=True)
class Link:
    """What the later passes need of a body: placement in its parent, bias acceleration, bias force."""

    X: Transform
    c: Motion
    p: Force


@dataclass(frozen=True, slots=True)
class Solved:
    """What the last pass needs: placement, bias acceleration, U and what g does, both by D⁻¹, and D⁻¹ u."""

    X: Transform
    c: Motion
    U: tuple[Force, ...]
    b: tuple[tuple[Scalar, ...], ...]
    u: tuple[Scalar, ...]


@dataclass(frozen=True)
class Run:
    """The rules of runs of one kind of body and one length; `open` if something hangs on the last body."""

    kind: Kind
    length: int
    open: bool

    @property
    def kept_size(self) -> int:
        """How many numbers are kept of each body for the last pass."""
        nv = self.kind.joint.nv
        return 12 + 6 + 6 * nv + (6 * nv if self.open else 0) + nv

    def moved(self, constants: Array, q: Array, v: Array) -> list[Scalar]:
        """Where the last body is, seen from what carries the run, and how it moves relative to that."""

        def step(k: Index, before: Moved) -> Moved:
            body = RunBody(self.kind, k, constants)
            X = _plain(body.transform(q))
            v_J = combine(body.subspace(q), body.of_v(v))
            return Moved(before.X.then(X), X.to_child(before.v) + v_J)

        return leaves(loop(self.length, step, Moved(STAY, REST)))

    def velocities(self, constants: Array, q: Array, v: Array, velocity: Array, out: Array) -> None:
        """The velocity of each body, from that of the body that carries the run."""

        def step(k: Index, v_parent: Motion) -> Motion:
            body = RunBody(self.kind, k, constants)
            v_i = body.transform(q).to_child(v_parent) + combine(body.subspace(q), body.of_v(v))
            _put(out, k, v_i)
            return v_i

        loop(self.length, step, motion(velocity))

    def articulated(self, x: dict[str, Array], kept: Array, pivots: Array) -> list[Scalar]:
        """The run as an articulated body with two handles, or one.

        Parameters
        ----------
        x
            Constants, q, v and tau of the bodies, and the velocity of what carries the run. If bodies have branches
            that were tips, `branches` has the sum of their A and p for each body; `pushes` are external forces.
        kept, pivots
            Written: for each body what `accelerate` needs, and the diagonal of D, as shares of what resists.
        """
        links = rows(self.length)

        def forward(k: Index, v_parent: Motion) -> Motion:
            body = RunBody(self.kind, k, x["constants"])
            q, v = x["q"], x["v"]
            X = _plain(body.transform(q))
            v_J = combine(body.subspace(q), body.of_v(v))
            v_i = X.to_child(v_parent) + v_J
            c = combine(body.subspace_rate(q, v), body.of_v(v)) + v_i.cross(v_J)
            p = v_i.cross_force(body.inertia.times(v_i))
            if "pushes" in x:
                p = p - Force.of([x["pushes"][k * 6 + i] for i in range(6)])
            links.put(k, Link(X, c, p))
            return v_i

        def backward(k: Index, beyond: Handles | Tip) -> Handles | Tip:
            body, tip = RunBody(self.kind, k, x["constants"]), beyond.tip if isinstance(beyond, Handles) else beyond
            link: Link = links.get(k)
            whole = Tip(body.inertia.articulated + tip.A, link.p + tip.p)
            if "branches" in x:
                branch = rebuild(NO_TIP, iter([x["branches"][k * HANDLES[False] + i] for i in range(HANDLES[False])]))
                whole = Tip(whole.A + branch.A, whole.p + branch.p)
            result, solved = _released(body, link, whole, beyond, body.subspace(x["q"]), body.of_v(x["tau"]), pivots)
            for i, part in enumerate(leaves(solved)):
                kept[k * self.kept_size + i] = part
            return result

        loop(self.length, forward, motion(x["velocity"]))
        start: Handles | Tip = NOTHING if self.open else NO_TIP
        return leaves(loop(self.length, backward, start, reverse=True))

    def accelerate(self, x: dict[str, Array], qdd: Array, accelerations: Array | None) -> None:
        """Joint accelerations, and those of the bodies where they are asked for, from what happens at the handles."""
        nv = self.kind.joint.nv
        b = ((0.0,) * 6,) * nv if self.open else ()
        like = Solved(STAY, REST, (NO_FORCE,) * nv, b, (0.0,) * nv)
        g = [x["force"][k] for k in range(6)] if self.open else []

        def step(k: Index, a_parent: Motion) -> Motion:
            body = RunBody(self.kind, k, x["constants"])
            s = rebuild(like, iter([x["kept"][k * self.kept_size + i] for i in range(self.kept_size)]))
            a = s.X.to_child(a_parent)
            own = [u - a.dot(column) for u, column in zip(s.u, s.U, strict=True)]
            if self.open:
                own = [x - dot(column, g) for x, column in zip(own, s.b, strict=True)]
            body.put_v(qdd, own)
            a = a + s.c + combine(body.subspace(x["q"]), own)
            if accelerations is not None:
                _put(accelerations, k, a)
            return a

        loop(self.length, step, motion(x["acceleration"]))


def _released(
    body: BodyRecord,
    link: Link,
    whole: Tip,
    beyond: Handles | Tip,
    S: tuple[Motion, ...],
    tau: Sequence[Scalar],
    pivots: Array,
) -> tuple[Handles | Tip, Solved]:
    """One step of the articulated-body recursion: the joint of a body lets go, and B, C and c beyond it follow."""
    I_A, p_prime = whole.A, whole.p + whole.A.times(link.c)
    U = tuple(I_A.times(s) for s in S)
    lower = [[s.dot(column) for s in S[: i + 1]] for i, column in enumerate(U)]
    for row, rotor in zip(lower, body.armature, strict=True):
        row[-1] = row[-1] + rotor
    D = SmallFactor(lower)
    body.put_v(pivots, [_share(pivot, s, I_A) for pivot, s in zip(D.pivots, S, strict=True)])
    u = D.solve([t - s.dot(p_prime) for t, s in zip(tau, S, strict=True)])
    W = times_inverse(D, U)
    I_a, p_a = I_A.minus_outer(U, W, [] if body.has_armature else unit_directions(S)), p_prime
    for column, value in zip(U, u, strict=True):
        p_a = p_a + column * value
    up = Tip(link.X.articulated_to_parent(I_a), link.X.force_to_parent(p_a))
    if not isinstance(beyond, Handles):
        return up, Solved(link.X, link.c, tuple(W), (), tuple(u))
    # with b = B S, what g does: q̈ = D⁻¹ (u - Uᵀ a - bᵀ g), and so
    # B ← (B - b D⁻¹ Uᵀ) ⁱXλ,   C ← C + b D⁻¹ bᵀ,   c ← c + B ḣ q̇ + b D⁻¹ u
    b = [[s.dot(row) for s in S] for row in beyond.B]
    b_D = [D.solve(row) for row in b]
    C = tuple(tuple(x + dot(b_D[i], b[j]) for j, x in enumerate(row)) for i, row in enumerate(beyond.C))
    c = [link.c.dot(row) + dot(own, u) for row, own in zip(beyond.B, b, strict=True)]
    B = []
    for form, own in zip(beyond.B, b, strict=True):
        for column, value in zip(W, own, strict=True):
            form = form - column * value
        B.append(link.X.force_to_parent(form))
    by_joint = tuple(tuple(column) for column in transposed(b_D, len(S)))
    return Handles(up, tuple(B), C, beyond.c + motion(c)), Solved(link.X, link.c, tuple(W), by_joint, tuple(u))


def _share(pivot: Scalar, s: Motion, I_A: ArticulatedInertia) -> Scalar:
    """A pivot as a share of the most that an articulated body resists motions like s, whatever their direction.

    Rounding of what resists is a part of this, also where nothing resists s itself.
    """
    turned, moved = I_A.angular, I_A.linear
    most_turned = maximum(turned.xx, maximum(turned.yy, turned.zz))
    most_moved = maximum(moved.xx, maximum(moved.yy, moved.zz))
    most = s.angular.dot(s.angular) * most_turned + s.linear.dot(s.linear) * most_moved
    whole = maximum(most, pivot)
    some = whole > 0.0
    return select(some, pivot / select(some, whole, 1.0), 0.0)


def _plain(X: Transform) -> Transform:
    """A placement whose rotation is multiplied out, so that all have one shape."""
    return Transform(Matrix(*X.rotation.columns), X.translation)


def _put(out: Array, k: Index, m: Motion) -> None:
    for i, part in enumerate(leaves(m)):
        out[k * 6 + i] = part


def body_force(border: Array, f_ext: Array) -> list[Scalar]:
    """An external force, linear first in the author's frame of a body, angular first in the inside one."""
    R = Matrix(*(Vector(border[k], border[k + 1], border[k + 2]) for k in (0, 3, 6)))
    X = Transform(R, Vector(border[9], border[10], border[11]))
    parts = [f_ext[k] for k in range(6)]
    return list(X.force_to_parent(Force.of([*parts[3:], *parts[:3]])).parts)
