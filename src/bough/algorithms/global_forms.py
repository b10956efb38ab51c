"""The dynamics of a mechanism as a few large matrices: the global, or spatial-operator, forms.

Featherstone & Orin 2000, section 3.5, and the innovations factorisation of Rodriguez and Jain. Nothing here is fast:
the matrices are dense NumPy arrays for one configuration, meant to be read, and to check recursive algorithms against.

Six-vectors have their angular part first. A vector of the whole mechanism stacks those of bodies 1 … N, so body i owns
rows 6(i-1) … 6i-1. "link" coordinates are those of each body's own inside frame, which is the author's turned so that
the axis of the joint is a coordinate axis; "base" coordinates are the same, those of the base, for all bodies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from bough.algorithms.constrained_bodies import ConstrainedBodies, Floats
from bough.algorithms.innovations import Innovations
from bough.errors import FiniteError, ModelError, ShapeError, SingularError, UnknownNameError
from bough.model import Mechanism, Mimic, Model
from bough.model.stations import require_all_rigid
from bough.reading import kind_of, known_name
from bough.scalar.lazy import cached_property
from bough.scalar.tolerances import UNIT_LENGTH
from bough.spatial import UNIT_MOTIONS, Force, Motion, Vector

__all__ = ["GlobalForm", "global_form"]

SINGULAR = 1e-14
"""An inertia this much smaller than the largest one of its matrix is taken for zero."""


def global_form(model: Model, q: ArrayLike, coordinates: Literal["link", "base"] = "link") -> GlobalForm:
    """Return the global form of a mechanism in one configuration.

    Parameters
    ----------
    model
        The mechanism, without mimic joints.
    q
        One configuration (nq,).
    coordinates
        "link" for the coordinates of each body's own frame, "base" for those of the base frame.

    Raises
    ------
    ModelError
        If the model has mimic joints: their equations are not those of a tree with independent joints.
    ShapeError, FiniteError
        For a wrong shape; for NaN, infinity or a quaternion that is not of unit length.

    Examples
    --------
    >>> import bough, numpy as np
    >>> model = bough.robots.load("arm")
    >>> q, v = bough.random(model, 0), np.ones(6)  # rad and rad/s
    >>> form = bough.papers.global_form(model, q)
    >>> form.P.shape, np.allclose(form.M, bough.crba(model, q))
    ((36, 36), True)
    """
    if not isinstance(model, Model):
        raise ModelError(f"the model is {kind_of(model)}, expected a bough.Model")
    known_name(coordinates, "choice of coordinates", ("link", "base"))
    require_all_rigid(model, "P and H as matrices")
    mimics = [entry.name for entry in model.joints if isinstance(entry.joint, Mimic)]
    if mimics:
        raise ModelError(f"joint {mimics[0]!r} is a mimic joint, expected a model without: P and H leave joints free")
    inside, q = Mechanism(model), _read("q", q, (model.nq,))
    _require_unit_quaternions(model, q)
    bodies, angles = [inside.at(i) for i in range(1, model.nbodies + 1)], q.tolist()
    transforms = [_matrix(body.transform(angles).to_child) for body in bodies]  # ⁱXλ
    H = _diagonal([_columns(body.subspace(angles)) for body in bodies])
    I = _diagonal([_matrix(body.inertia.times) for body in bodies])
    armature = np.diag([float(x) for body in bodies for x in body.armature])
    P, base = _incidence(model, transforms)
    axes: Floats = np.eye(len(P))
    if coordinates == "base":
        X = _diagonal(list(np.linalg.solve(P, base).reshape(-1, 6, 6)))  # ⁱX₀
        axes = np.linalg.inv(X)
        P, base = _incidence(model, [np.eye(6)] * model.nbodies)
        H, I = axes @ H, X.T @ I @ X
    return GlobalForm(model, q, coordinates, P, H, I, armature, base, axes, inside)


@dataclass(frozen=True, eq=False, repr=False)
class GlobalForm:
    """The matrices of a mechanism with N bodies and n degrees of freedom in one configuration; made by `global_form`.

    Attributes
    ----------
    model, q, coordinates
        What it was made from.
    P
        Block incidence matrix (6N, 6N): 1 on the diagonal and -ⁱXλ at (i, λ(i)), which in base coordinates is -1, as in
        the paper. P takes the velocities of the bodies to those across the joints; Pᵀ takes the forces through the
        joints to the net forces on the bodies.
    H
        Motion subspaces of the joints (6N, n), block-diagonal.
    I
        Inertias of the bodies (6N, 6N), block-diagonal.
    armature
        Inertias of the rotors (n, n), diagonal.
    base
        What a motion of the base adds to the bodies on it (6N, 6): ⁱX₀ or 1, and zero for the others.
    axes
        Takes motions from link coordinates to the chosen ones (6N, 6N), block-diagonal.
    inside
        The mechanism with the frames of the link coordinates.
    """

    model: Model
    q: Floats
    coordinates: str
    P: Floats
    H: Floats
    I: Floats
    armature: Floats
    base: Floats
    axes: Floats
    inside: Mechanism

    def __post_init__(self) -> None:
        for a in (self.q, self.P, self.H, self.I, self.armature, self.base, self.axes):
            a.setflags(write=False)

    def __repr__(self) -> str:
        return f"<GlobalForm of {self.model!r} in {self.coordinates} coordinates>"

    def body(self, i: int) -> slice:
        """The rows of body i (from 1) in P, H, I and in vectors of all bodies."""
        return slice(6 * (i - 1), 6 * i)

    def joint(self, i: int) -> slice:
        """The columns of joint i (from 1) in H, and its rows in M and in vectors of all joints."""
        return self.model.v_slice(self.model.joint_names[i - 1])

    # ---- matrices that follow from P, H and I --------------------------------------------------------------------

    @cached_property
    def phi(self) -> Floats:
        """φ = P⁻ᵀ (6N, 6N), the spatial propagation operator of Rodriguez and Jain: from forces on the bodies to forces
        through the joints. Block (i, j) differs from zero if j is in the subtree of i.
        """
        return np.linalg.inv(self.P.T)

    @cached_property
    def S(self) -> Floats:
        """P⁻¹ H (6N, n): the velocities of the bodies are S q̇."""
        return self.phi.T @ self.H

    @cached_property
    def M(self) -> Floats:
        """The mass matrix Hᵀ P⁻ᵀ I P⁻¹ H + armature (n, n), the Newton-Euler factorisation."""
        return self.H.T @ self.phi @ self.I @ self.phi.T @ self.H + self.armature

    @cached_property
    def W(self) -> Floats:
        """The dual of H (6N, n), Wᵀ H = 1, block-diagonal: W τ are forces through the joints that do the work of τ."""
        return np.linalg.solve(self.H.T @ self.H, self.H.T).T

    # ---- motion and force, equations 23, 25 and 29 ---------------------------------------------------------------

    def velocity(self, v: ArrayLike) -> Floats:
        """The velocities (6N,) of the bodies from those of the joints (nv,): P v = H q̇, v = S q̇."""
        return self.S @ self._of_joints("v", v)

    def H_dot(self, v: ArrayLike) -> Floats:
        """The rate Ḣ as seen from the base (6N, n): ḣᵢ = h̊ᵢ + vᵢ × hᵢ, where h̊ᵢ is the rate as seen from the body."""
        q, qd = self.q.tolist(), self._of_joints("v", v).tolist()
        bodies = (self.inside.at(i) for i in range(1, self.model.nbodies + 1))
        apparent = _diagonal([_columns(body.subspace_rate(q, qd)) for body in bodies])
        return self.axes @ apparent + _cross(self.velocity(v)) @ self.H

    def bias_acceleration(self, v: ArrayLike) -> Floats:
        """The accelerations a₀ (6N,) when q̈ = 0: P a₀ = Ḣ q̇ + base·(-g), for gravity is an acceleration of the base."""
        minus_g = np.array([0.0, 0.0, 0.0, *(-x for x in self.model.gravity)])
        across: Floats = self.H_dot(v) @ self._of_joints("v", v) + self.base @ minus_g
        return self.phi.T @ across

    def acceleration(self, v: ArrayLike, a: ArrayLike) -> Floats:
        """The accelerations (6N,) of the bodies by equation 29: P a = H q̈ + Ḣ q̇ + base·(-g), a = a₀ + S q̈."""
        return self.bias_acceleration(v) + self.S @ self._of_joints("a", a)

    def bias_force(self, v: ArrayLike) -> Floats:
        """The velocity-product forces v × I v (6N,) on the bodies."""
        velocity = self.velocity(v)
        return -_cross(velocity).T @ self.I @ velocity

    def force(self, v: ArrayLike, a: ArrayLike) -> Floats:
        """The net forces (6N,) on the bodies by equation 23, f = I a + v × I v."""
        return self.I @ self.acceleration(v, a) + self.bias_force(v)

    def external_force(self, f_ext: ArrayLike) -> Floats:
        """External forces (6N,) from an array (N, 6) as `bough.rnea` takes it: body frames, linear part first."""
        N = self.model.nbodies
        given = _read("f_ext", f_ext, (N, 6)).ravel().tolist()
        inside = _columns(self.inside.at(i).external_force(given) for i in range(1, N + 1))
        return np.linalg.solve(self.axes.T, inside.T.ravel())

    def joint_force(self, v: ArrayLike, a: ArrayLike, f_ext: ArrayLike | None = None) -> Floats:
        """The whole forces through the joints (6N,), reactions included: Pᵀ f_J = f - f_x."""
        f = self.force(v, a)
        return self.phi @ (f if f_ext is None else f - self.external_force(f_ext))

    # ---- inverse and forward dynamics ----------------------------------------------------------------------------

    def inverse_dynamics(self, v: ArrayLike, a: ArrayLike, f_ext: ArrayLike | None = None) -> Floats:
        """The joint forces τ (nv,), the part of f_J that works: τ = Hᵀ f_J + armature q̈."""
        return self.H.T @ self.joint_force(v, a, f_ext) + self.armature @ self._of_joints("a", a)

    def constrained(self, v: ArrayLike) -> ConstrainedBodies:
        """The bodies, without joints, under the constraints that the joints impose on them (equations 24 to 28).

        A force through joint i that does no work, Tᵢᵀ hᵢ = 0, acts on body i and its reaction on λ(i): T = Pᵀ diag(Tᵢ).
        A degree of freedom with armature has a rotor, one more body, of one dimension, after the 6N coordinates of the
        others. It turns with the joint, and the constraint force that makes it do so is among the columns of joint i,
        after Tᵢ.
        """
        geared = np.flatnonzero(self.armature.diagonal())
        rotors = self.armature[np.ix_(geared, geared)]
        through, turning = [], []  # by joint: forces through it, torques on the rotors
        for i in range(1, self.model.nbodies + 1):
            h, W = self.H[self.body(i), self.joint(i)], self.W[self.body(i), self.joint(i)]
            own = geared[(geared >= self.joint(i).start) & (geared < self.joint(i).stop)]
            complement = np.linalg.qr(h, mode="complete").Q[:, h.shape[1] :]
            through.append(np.hstack([complement, W[:, own - self.joint(i).start]]))
            turning.append(np.hstack([np.zeros((len(own), complement.shape[1])), -np.eye(len(own))]))
        still = np.zeros(len(geared))
        return ConstrainedBodies(
            I=_diagonal([self.I, rotors]),
            S=np.vstack([self.S, np.eye(self.model.nv)[geared]]),
            T=np.vstack([self.P.T @ _diagonal(through), _diagonal(turning)]),
            a0=np.concatenate([self.bias_acceleration(v), still]),
            bias=np.concatenate([self.bias_force(v), still]),
        )

    def forward_dynamics(
        self,
        v: ArrayLike,
        tau: ArrayLike,
        equation: Literal[26, 27, 28] = 26,
        f_ext: ArrayLike | None = None,
    ) -> Floats:
        """The accelerations q̈ (nv,) under joint forces τ (nv,), by one of the paper's equations.

        Parameters
        ----------
        v, tau
            Velocity and joint forces (nv,).
        equation
            26 solves for q̈ alone, 27 for the accelerations of the bodies and the constraint forces together, 28 for the
            constraint forces first. The last needs bodies with regular inertia.
        f_ext
            External forces (N, 6), as `bough.rnea` takes them.

        Raises
        ------
        SingularError
            If a joint moves nothing that has inertia or, with equation 28, a body has no mass or no volume.
        """
        if not isinstance(equation, int) or equation not in (26, 27, 28):
            raise UnknownNameError("equation of forward dynamics", equation, ("26", "27", "28"))
        self.innovations()  # refuses a singular mass matrix
        system = self.constrained(v)
        f_a = self.P.T @ self.W @ self._of_joints("tau", tau)
        if f_ext is not None:
            f_a = f_a + self.external_force(f_ext)
        f_a = np.concatenate([f_a, np.zeros(len(system.a0) - len(f_a))])
        if equation == 26:
            return system.equation_26(f_a)
        if equation == 28:
            self._require_regular_bodies()
        a, _ = system.equation_27(f_a) if equation == 27 else system.equation_28(f_a)
        return self.W.T @ self.P @ (a - system.a0)[: len(self.P)]  # equation 29

    # ---- the innovations factorisation ---------------------------------------------------------------------------

    def innovations(self) -> Innovations:
        """The innovations factorisation of M, by the articulated-body recursion from the tips to the base.

        Raises
        ------
        SingularError
            If a joint moves nothing that has inertia; the message names it.
        """
        whole = self.M.diagonal()
        I_A = self.I.copy()
        for i in reversed(range(1, self.model.nbodies + 1)):
            body, joint, parent = self.body(i), self.joint(i), self.model.tree.parents[i - 1]
            h, A = self.H[body, joint], I_A[body, body]
            # Dᵢ = hᵢᵀ Iᴬᵢ hᵢ + armature   and   Gᵢ = Iᴬᵢ hᵢ Dᵢ⁻¹
            D = h.T @ A @ h + self.armature[joint, joint]
            if not (np.linalg.eigvalsh(D) > SINGULAR * whole[joint].max()).all():
                raise SingularError(
                    f"joint {self.model.joint_names[i - 1]!r} moves nothing that has inertia; expected bodies beyond "
                    "it with mass and inertia, or an armature"
                )
            G = A @ h @ np.linalg.inv(D)
            # Iᴬλ = Iλ + Σ λXᵢ* (Iᴬᵢ - Gᵢ Dᵢ Gᵢᵀ) ⁱXλ
            if parent:
                up = self.body(parent)
                X = -self.P[body, up]
                I_A[up, up] += X.T @ (A - G @ D @ G.T) @ X
        D = self.H.T @ I_A @ self.H + self.armature
        return Innovations(self.P, self.H, self.phi, I_A, D)

    # ---- inner parts ---------------------------------------------------------------------------------------------

    def _of_joints(self, name: str, value: ArrayLike) -> Floats:
        return _read(name, value, (self.model.nv,))

    def _require_regular_bodies(self) -> None:
        for i, name in enumerate(self.model.body_names, start=1):
            inertias = np.linalg.eigvalsh(self.I[self.body(i), self.body(i)])
            if not inertias[0] > SINGULAR * inertias[-1]:
                raise SingularError(
                    f"body {name!r} has a singular inertia, expected a mass and three moments of inertia: equation 28 "
                    "needs I⁻¹; use equation 26 or 27"
                )


# ---- from scalars to matrices ----------------------------------------------------------------------------------------


def _incidence(model: Model, transforms: Sequence[Floats]) -> tuple[Floats, Floats]:
    """P, and what a motion of the base adds, with the given ⁱXλ."""
    N = model.nbodies
    P, base = np.eye(6 * N), np.zeros((6 * N, 6))
    for i, (parent, X) in enumerate(zip(model.tree.parents, transforms, strict=True)):
        rows = slice(6 * i, 6 * i + 6)
        if parent:
            P[rows, 6 * parent - 6 : 6 * parent] = -X
        else:
            base[rows] = X
    return P, base


def _read(name: str, value: ArrayLike, shape: tuple[int, ...]) -> Floats:
    """One argument as a fresh array of finite floats."""
    try:
        a = np.array(value)
    except (ValueError, TypeError) as error:
        raise ShapeError(f"{name} is no rectangular array in the memory of the CPU: {error}") from None
    if a.dtype.kind not in "fiu":
        raise ShapeError(f"{name} has data type {a.dtype}, expected real numbers (float64 or float32)")
    a = a.astype(np.float64)
    if a.shape != shape:
        raise ShapeError(f"{name} has shape {a.shape}, expected {shape}, that of one state")
    if not np.isfinite(a).all():
        raise FiniteError(f"{name} is {a}, expected finite numbers")
    return a


def _require_unit_quaternions(model: Model, q: Floats) -> None:
    for entry in model.joints:
        for k in entry.joint.quaternions:
            length = math.hypot(*q[model.q_slice(entry.name)][k : k + 4].tolist())
            if not abs(length - 1.0) <= UNIT_LENGTH:
                raise FiniteError(f"joint {entry.name!r}: the quaternion in q has length {length:.9g}, expected 1")


def _columns(items: Iterable[Motion | Force]) -> Floats:
    """Motions or forces as the columns of a matrix (6, k)."""
    return np.array([(*x.angular.parts, *x.linear.parts) for x in items], dtype=float).reshape(-1, 6).T


def _matrix(rule: Callable[[Motion], Motion | Force]) -> Floats:
    """The matrix (6, 6) of a linear map, column by column."""
    return _columns(rule(unit) for unit in UNIT_MOTIONS)


def _cross(velocity: Floats) -> Floats:
    """The block-diagonal matrix of vᵢ × on motions; minus its transpose acts on forces."""
    motions = [Motion(Vector(*x[:3]), Vector(*x[3:])) for x in velocity.reshape(-1, 6).tolist()]
    return _diagonal([_matrix(v.cross) for v in motions])


def _diagonal(blocks: Sequence[Floats]) -> Floats:
    """The block-diagonal matrix of blocks of any shape."""
    result = np.zeros((sum(len(block) for block in blocks), sum(block.shape[1] for block in blocks)))
    row = column = 0
    for block in blocks:
        height, width = block.shape
        result[row : row + height, column : column + width] = block
        row, column = row + height, column + width
    return result
