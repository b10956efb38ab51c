"""Auxiliary constraints of systems in maximal coordinates: the public functions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from bough import lagrange
from bough.backends import Kernel, Plain
from bough.errors import ModelError
from bough.kernel.border import FloatArray, as_floats, call, many, require_finite
from bough.kernel.compile import get_backend, kernel, remember_call
from bough.kernel.maximal.multipliers import SystemFactor
from bough.lagrange import Auxiliary
from bough.scalar import Array

__all__ = ["Anticipated", "anticipate"]


@dataclass(frozen=True, repr=False, eq=False)
class Anticipated:
    """How the rows a of auxiliary constraints follow their forces f, a = A f + b, with all others kept; immutable.

    Attributes
    ----------
    A
        Shape (*batch, k, k); symmetric and positive semidefinite if the constraints are workless. Rows that the other
        constraints hold, but for 1e-12 of what they would be without these, are zero.
    b
        The a without forces, shape (*batch, k).
    """

    A: FloatArray
    b: FloatArray
    _factor: SystemFactor
    _free: FloatArray
    _auxiliary: Auxiliary
    _directions: FloatArray

    def motion(self, f: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """The motion of the whole system under forces f of the auxiliary constraints, shape (*batch, k).

        Returns
        -------
        acceleration, multiplier
            v̇ (*batch, nv) and λ (*batch, nc) of the system, as `multipliers` gives them.
        """
        auxiliary, system = self._auxiliary, self._auxiliary.system
        known, n = (self._factor.packed, self._free, self._directions), system.nv + system.nc
        fast = auxiliary.calls.get("motion")
        x: FloatArray | None = None if fast is None else fast(*known, f)
        if x is not None:
            return x[: system.nv], x[system.nv :]
        ready = _mover(get_backend(), auxiliary)
        x = many(ready, (*known, f), (n,))
        if x is not None:
            if x.ndim == 1:
                remember_call(auxiliary, "motion", ready, (n,))
        else:
            forces = as_floats("f", f, (auxiliary.nc,), "one force for each row of the auxiliary constraints")
            require_finite("f", forces)
            inputs = dict(zip(("packed", "free", "directions", "f"), (*known, forces), strict=True))
            x = call(ready, {name: (a, 1) for name, a in inputs.items()}, {"x": (n,)})["x"]
            require_finite("the motion", x)
        return x[..., : system.nv], x[..., system.nv :]

    def __repr__(self) -> str:
        return f"Anticipated({self.A.dtype}, batch={self.A.shape[:-2]}, {self._auxiliary!r})"


def anticipate(
    factor: SystemFactor,
    free: ArrayLike,
    auxiliary: Auxiliary,
    jacobian: ArrayLike,
    c: ArrayLike,
    directions: ArrayLike | None = None,
) -> Anticipated:
    """What forces of auxiliary constraints would do to a system that keeps its own ones (Baraff 1996, section 8).

    The rows a = Jᵃ v̇ + cᵃ follow the forces f by a = A f + b. Choose the forces that make a what it should be, then ask
    for the motion::

        factor = bough.ldlt(system, mass, jacobian)
        problem = bough.anticipate(factor, factor.solve(b), auxiliary, auxiliary_jacobian, auxiliary_c)
        forces = bough.pivoting(problem.A, problem.b, conditions, mu)
        acceleration, multiplier = problem.motion(forces.f)

    For equalities alone, `pivoting` with ``Conditions.equalities(auxiliary.nc)`` finds least-squares forces of
    redundant or contradicting ones. Velocities and impulses obey the same equations: see `multipliers`.

    The time is that of half a solution for each row, over the bodies between those it is on and the roots alone, and
    of the products of the rows there.

    Parameters
    ----------
    factor
        The factor of the system, from `ldlt`.
    free
        What moves without auxiliary forces, ``factor.solve([force, c])``, shape (..., nv + nc).
    auxiliary
        Which bodies the auxiliary constraints are on.
    jacobian
        The blocks of Jᵃ, (..., auxiliary.jacobian_size).
    c
        What the rows are besides Jᵃ v̇, (..., k).
    directions
        The blocks of Kᵀ, laid out as those of Jᵃ, if the forces K f that the constraints act with are not workless:
        sliding friction, levers, muscles. Left out, K = Jᵃᵀ, at half the cost.

    Raises
    ------
    ShapeError, FiniteError
        For a wrong shape or data type; for NaN or infinity.
    ModelError
        If the factor is of another system than the auxiliary constraints.
    """
    for what, kind in ((factor, SystemFactor), (auxiliary, Auxiliary)):
        if not isinstance(what, kind):
            raise ModelError(f"got {type(what).__name__}, expected a bough.{kind.__name__}")
    if factor.system != auxiliary.system:
        raise ModelError(f"the factor is of {factor.system!r}, expected that of the auxiliary constraints")
    system, k, size = factor.system, auxiliary.nc, auxiliary.jacobian_size
    acting, key = ((), "anticipate") if directions is None else ((directions,), "anticipate directed")
    fast = auxiliary.calls.get(key)
    problem: FloatArray | None = None if fast is None else fast(factor.packed, free, jacobian, c, *acting)
    if problem is None:
        ready = _anticipator(get_backend(), auxiliary, directions is not None)
        problem = many(ready, (factor.packed, free, jacobian, c, *acting), (k * k + k,))
        if problem is not None and problem.ndim == 1:
            remember_call(auxiliary, key, ready, (k * k + k,))
    if problem is not None:
        return _made(problem, factor, free, auxiliary, jacobian if directions is None else directions)
    blocks = f"a block for each body of {len(auxiliary.constraints)} auxiliary constraints"
    arrays = {
        "packed": factor.packed,
        "free": as_floats("free", free, (system.nv + system.nc,), "accelerations, then multipliers"),
        "jacobian": as_floats("jacobian", jacobian, (size,), blocks),
        "c": as_floats("c", c, (k,), "one for each row of the auxiliary constraints"),
    }
    if directions is not None:
        arrays["directions"] = as_floats("directions", directions, (size,), blocks)
    for name, a in arrays.items():
        require_finite(name, a)
    problem = call(ready, {name: (a, 1) for name, a in arrays.items()}, {"problem": (k * k + k,)})["problem"]
    require_finite("the problem", problem)
    return _made(problem, factor, arrays["free"], auxiliary, arrays.get("directions", arrays["jacobian"]))


def _made(
    problem: FloatArray, factor: SystemFactor, free: ArrayLike, auxiliary: Auxiliary, directions: ArrayLike
) -> Anticipated:
    """From A, row by row, with b behind it; what is needed later is copied."""
    k = auxiliary.nc
    A = problem[..., : k * k].reshape(*problem.shape[:-1], k, k)
    return Anticipated(A, problem[..., k * k :], factor, np.array(free), auxiliary, np.array(directions))


@lru_cache(maxsize=64)
def _anticipator(backend: str, auxiliary: Auxiliary, directed: bool) -> Kernel:
    def function(packed: Array, free: Array, jacobian: Array, c: Array, **given: Array) -> dict[str, Array]:
        return {"problem": lagrange.anticipation(auxiliary, packed, free, jacobian, c, given.get("directions"))}

    system = auxiliary.system
    sizes = {"packed": system.factor_size, "free": system.nv + system.nc, "jacobian": auxiliary.jacobian_size}
    sizes |= {"c": auxiliary.nc} | ({"directions": auxiliary.jacobian_size} if directed else {})
    return kernel(
        ("lagrange", "anticipate", auxiliary, directed),
        "anticipate",
        function,
        sizes,
        system.nv + system.nc,
        lambda: f"lagrange anticipate {directed} {auxiliary.digest}",
        Plain((*((n,) for n in sizes.values()), (auxiliary.nc * (auxiliary.nc + 1),)), sound=1),
    )


@lru_cache(maxsize=64)
def _mover(backend: str, auxiliary: Auxiliary) -> Kernel:
    system, n = auxiliary.system, auxiliary.system.nv + auxiliary.system.nc
    return kernel(
        ("lagrange", "motion", auxiliary),
        "motion",
        lambda packed, free, directions, f: {"x": lagrange.moved(auxiliary, packed, free, directions, f)},
        {"packed": system.factor_size, "free": n, "directions": auxiliary.jacobian_size, "f": auxiliary.nc},
        n,
        lambda: f"lagrange motion {auxiliary.digest}",
        Plain(((system.factor_size,), (n,), (auxiliary.jacobian_size,), (auxiliary.nc,), (n,)), sound=3),
    )
