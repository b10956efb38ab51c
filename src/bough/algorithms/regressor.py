"""Regressors: joint forces, energies and momentum as linear functions of the inertial parameters.

Each body has ten: m, h = m c (3), and the inertia J about the origin of its frame (xx yx yy zx zy zz), the frame that
of the model's author. With ω, A, a′ of the body as in `rnea`, a motion (α, β) of that frame takes from it the power

    β · (m a′ + A h) + α · (h × a′ + J ω̇ + ω × J ω)
        = m (β · a′) + h · (Aᵀ β + a′ × α) + J : (α ω̇ᵀ + (α × ω) ωᵀ),

and joint j feels it along its own motion in that frame (Atkeson, An & Hollerbach 1986).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bough.algorithms.directions import JointMotion
from bough.algorithms.rnea_derivatives import Moving, advanced
from bough.model import BodyRecord, Mechanism, combine
from bough.scalar import Array, Index, Scalar, Table, array, each, gather, gather_index
from bough.spatial import REST, STAY, UNITS, ZERO, Matrix, Motion, Transform, Vector, rate_matrix
from bough.tree.scans import ancestors, outward

__all__ = [
    "PARAMETERS", "kinetic_energy_regressor", "momentum_regressor", "potential_energy_regressor", "torque_regressor",
]  # fmt: skip

Rule = Callable[[Transform, Motion], list[list[Scalar]]]

PARAMETERS = 10
"""Inertial parameters of a body."""


@dataclass(frozen=True, slots=True)
class Link:
    """What is needed of a body: its placement in its parent, its subspace, its motion seen in the author's frame."""

    X: Transform
    S: tuple[Motion, ...]
    w: Vector
    wd: Vector
    A: Matrix
    a: Vector


def torque_regressor(m: Mechanism, q: Array, v: Array, a: Array) -> Array:
    """Y with τ = Y π for a mechanism without armature, row by row (nv x 10 N)."""
    own_q, own_v, own_a = m.coupling.own_q(q), m.coupling.own_v(v), m.coupling.own_v(a)
    width = PARAMETERS * m.tree.n
    Y = array(m.own_nv * width)

    def forward(body: BodyRecord, parent: Moving) -> tuple[Moving, Link]:
        joint = JointMotion(body, own_q, own_v, own_a)
        _, own = advanced(joint, parent)
        R, p = body.border.rotation, body.border.translation
        w, wd = R.transposed_times(own.w), R.transposed_times(own.wd)
        point = R.transposed_times(own.a + own.A.times(p))
        return own, Link(joint.X, joint.S, w, wd, rate_matrix(w, wd), point)

    def rows(body: BodyRecord, parent: None) -> tuple[None, None]:
        link = links[body]

        def row(j: BodyRecord, X: Transform) -> Transform:
            """Rows of joint j, in whose body the author's frame is placed by X; returns the placement in its parent."""
            at = links[j]
            for r, s in enumerate(at.S):
                start = (j.v_start + r) * width + body.index * PARAMETERS
                for k, value in enumerate(_powers(link, X.to_child(s))):
                    Y[start + k] = value
            return X if j.is_root else at.X.then(X)

        ancestors(m, body, row, row(body, body.border))
        return None, None

    links = outward(m, forward, Moving(ZERO, ZERO, Matrix(ZERO, ZERO, ZERO), -m.gravity, ZERO))
    outward(m, rows, None)
    return _reduced(m, Y, width)


def _powers(link: Link, s: Motion) -> list[Scalar]:
    """What a motion of the author's frame takes from a body, for each of its parameters."""
    α, β, w, wd = s.angular, s.linear, link.w, link.wd
    moment = link.A.transposed_times(β) + link.a.cross(α)
    across = α.cross(w)
    xx, yy, zz = (
        x * xd + y * yd for x, xd, y, yd in zip(α.parts, wd.parts, across.parts, w.parts, strict=True)
    )  # J : of symmetric J counts both of a pair
    yx = α.y * wd.x + α.x * wd.y + across.y * w.x + across.x * w.y
    zx = α.z * wd.x + α.x * wd.z + across.z * w.x + across.x * w.z
    zy = α.z * wd.y + α.y * wd.z + across.z * w.y + across.y * w.z
    return [β.dot(link.a), *moment.parts, xx, yx, yy, zx, zy, zz]


def kinetic_energy_regressor(m: Mechanism, q: Array, v: Array) -> Array:
    """y with: kinetic energy = y π, without that of armatures (10 N)."""
    return _of_motion(m, q, v, 1, _energy)


def potential_energy_regressor(m: Mechanism, q: Array) -> Array:
    """y with: potential energy = y π (10 N)."""

    def energy(X: Transform, v: Motion) -> list[list[Scalar]]:
        down = -m.gravity
        return [[down.dot(X.translation), *X.rotation.transposed_times(down).parts, *(0.0,) * 6]]

    return _of_motion(m, q, None, 1, energy)


def momentum_regressor(m: Mechanism, q: Array, v: Array) -> Array:
    """Y with: momentum about the base origin, in base axes, linear part first = Y π (6 x 10 N)."""
    return _of_motion(m, q, v, 6, _momentum)


def _energy(X: Transform, v: Motion) -> list[list[Scalar]]:
    """½ m v² + h · (v × ω) + ½ ω · J ω, for each parameter."""
    w = v.angular
    turning = (w.x * w.x * 0.5, w.x * w.y, w.y * w.y * 0.5, w.x * w.z, w.y * w.z, w.z * w.z * 0.5)
    return [[v.linear.dot(v.linear) * 0.5, *v.linear.cross(w).parts, *turning]]


def _momentum(X: Transform, v: Motion) -> list[list[Scalar]]:
    """Columns m, h and J of the momentum: linear m v + ω × h, angular h × v + J ω, moved to the base."""
    w = v.angular
    x, y, z = UNITS
    columns = [
        (ZERO, v.linear),
        *((u.cross(v.linear), w.cross(u)) for u in UNITS),
        *((t, ZERO) for t in (x * w.x, x * w.y + y * w.x, y * w.y, x * w.z + z * w.x, y * w.z + z * w.y, z * w.z)),
    ]
    found = []
    for angular, linear in columns:
        force = X.rotation.times(linear)
        found.append([*force.parts, *(X.rotation.times(angular) + X.translation.cross(force)).parts])
    return [[column[row] for column in found] for row in range(6)]


def _of_motion(m: Mechanism, q: Array, v: Array | None, rows: int, rule: Rule) -> Array:
    """What a rule gives for each body from its placement and its velocity in the author's frame (rows x 10 N)."""
    q, v = m.coupling.own_q(q), None if v is None else m.coupling.own_v(v)
    width = PARAMETERS * m.tree.n
    result = array(rows * width)

    def visit(body: BodyRecord, parent: tuple[Transform, Motion]) -> tuple[tuple[Transform, Motion], None]:
        X = body.transform(q)
        X_0, v_i = parent[0].then(X), REST
        if v is not None:
            v_i = X.to_child(parent[1]) + combine(body.subspace(q), body.of_v(v))
        for r, values in enumerate(rule(X_0.then(body.border), body.border.to_child(v_i))):
            for k, value in enumerate(values):
                result[body.index * PARAMETERS + (r * width + k)] = value
        return (X_0, v_i), None

    outward(m, visit, (STAY, REST))
    return result


def _reduced(m: Mechanism, Y: Array, width: int) -> Array:
    """Gᵀ Y: rows of followers are added to those that they follow."""
    coupling = m.coupling
    if coupling.trivial:
        return Y
    source, ratio = Table("own_v", coupling.v_source), Table("v_ratio", coupling.v_ratio)
    result = array(coupling.dof_tree.n * width)

    def row(i: Index) -> None:
        def add(k: Index) -> None:
            to = gather_index(source, i) * width + k
            result[to] = result[to] + Y[i * width + k] * gather(ratio, i)

        each(width, add)

    each(m.own_nv, row)
    return result
