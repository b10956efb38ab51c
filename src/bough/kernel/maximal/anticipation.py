"""Auxiliary constraints of systems in maximal coordinates: the public functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bough import lagrange
from bough.backends import Argument
from bough.errors import ModelError
from bough.kernel.arguments import FloatArray, require_on_cpu
from bough.kernel.function import Function
from bough.kernel.maximal.multipliers import SystemFactor
from bough.kernel.table import entry
from bough.lagrange import Auxiliary
from bough.scalar import Array, filled

__all__ = ["Anticipated", "anticipate"]


@dataclass(frozen=True, repr=False, eq=False)
class Anticipated:
    """The rows a = A f + b of auxiliary constraints under their forces f, with all primary constraints met; immutable.

    Attributes
    ----------
    A
        Shape (*batch, k, k); symmetric and positive semidefinite if the constraints do no work. Rows that the primary
        constraints hold are zero: those below 1e-12 of their size without these constraints.
    b
        Value of a without auxiliary forces, shape (*batch, k).
    """

    A: FloatArray
    b: FloatArray
    _factor: SystemFactor
    _auxiliary: Auxiliary
    _free: FloatArray
    _directions: FloatArray

    def motion(self, f: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return the motion of the whole system under forces f (*batch, k) of the auxiliary constraints.

        Returns
        -------
        acceleration, multiplier
            v̇ (*batch, nv) and λ (*batch, nc) of the system, as `multipliers` returns them.
        """
        auxiliary, system = self._auxiliary, self._auxiliary.system
        known = (self._factor.packed, self._free, self._directions)
        x: FloatArray = entry(auxiliary, "motion", _program)(*known, f, None, True)
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
    """Return the response of a system with its primary constraints to auxiliary forces (Baraff 1996, section 8).

    The rows a = Jᵃ v̇ + cᵃ depend on the forces f: a = A f + b. Choose the forces that give the desired a, then compute
    the motion::

        factor = bough.maximal.ldlt(system, mass, jacobian)
        problem = bough.maximal.anticipate(factor, factor.solve(b), auxiliary, auxiliary_jacobian, auxiliary_c)
        forces = bough.lcp.pivoting(problem.A, problem.b, conditions, mu)
        acceleration, multiplier = problem.motion(forces.f)

    If all rows are equalities, use `pivoting` with ``Conditions.equalities(auxiliary.nc)``: redundant or contradicting
    rows get least-squares forces. Velocities and impulses obey the same equations: see `multipliers`.

    Each row costs half a solution on the bodies between its own bodies and the roots, and the products with other rows
    there.

    Parameters
    ----------
    factor
        The factor of the system, from `ldlt`.
    free
        Motion without auxiliary forces, ``factor.solve([force, c])``, shape (..., nv + nc).
    auxiliary
        The auxiliary constraints and their bodies.
    jacobian
        The blocks of Jᵃ, (..., auxiliary.jacobian_size).
    c
        The part cᵃ of the rows, (..., k).
    directions
        The blocks of Kᵀ, in the layout of Jᵃ, if the constraint forces K f do work: sliding friction, levers, muscles.
        Default: K = Jᵃᵀ, at half the cost.

    Examples
    --------
    Two masses on a line, 2 and 3 kg, joined by a rod and pulled with 10 N; what holds the first one in its place?

    >>> import bough
    >>> system = bough.maximal.System([1, 1], [(1, 2, 1)])
    >>> factor = bough.maximal.ldlt(system, mass=[2.0, 3.0], jacobian=[-1.0, 1.0])
    >>> wall = bough.maximal.Auxiliary(system, [((1,), 1)])
    >>> problem = bough.maximal.anticipate(factor, factor.solve([0.0, 10.0, 0.0]), wall, jacobian=[1.0], c=[0.0])
    >>> print(problem.A.round(12), problem.b.round(12))
    [[0.2]] [2.]
    >>> acceleration, multiplier = problem.motion([-10.0])
    >>> print(acceleration.round(12) + 0.0, multiplier.round(12))
    [0. 0.] [-10.]
    """
    for what, kind in ((factor, SystemFactor), (auxiliary, Auxiliary)):
        if not isinstance(what, kind):
            raise ModelError(f"got {type(what).__name__}, expected a bough.{kind.__name__}")
    if factor.system != auxiliary.system:
        raise ModelError(f"the factor is of {factor.system!r}, expected that of the auxiliary constraints")
    require_on_cpu(free=free, jacobian=jacobian, c=c, directions=directions)
    A, b = entry(auxiliary, "anticipate", _program)(factor.packed, free, jacobian, c, directions, None, True)
    kept = (np.array(x, A.dtype) for x in (free, jacobian if directions is None else directions))
    return Anticipated(A, b, factor, auxiliary, *kept)


def _program(auxiliary: Auxiliary, name: str) -> Function:
    """A and b of auxiliary constraints, or the motion under forces of theirs."""
    system, k = auxiliary.system, auxiliary.nc
    n, blocks = system.nv + system.nc, f"a block for each body of {len(auxiliary.constraints)} auxiliary constraints"

    def anticipated(packed: Array, free: Array, jacobian: Array, c: Array, **given: Array) -> dict[str, Array]:
        response = lagrange.SystemResponse(auxiliary, packed, jacobian, given.get("directions"))
        along = response.along(free)
        return {"A": response.A, "b": filled(k, lambda i: c[i] + along[i])}

    def moved(packed: Array, free: Array, directions: Array, f: Array) -> dict[str, Array]:
        change = lagrange.SystemResponse(auxiliary, packed, directions).motion(f)
        return {"x": filled(n, lambda i: free[i] + change[i])}

    inputs = [
        Argument("packed", (system.factor_size,), finite=False),
        Argument("free", (n,), "accelerations, then multipliers"),
        Argument("directions", (auxiliary.jacobian_size,), blocks, optional=name == "anticipate"),
        Argument("f", (k,), "one force for each row of the auxiliary constraints"),
    ]
    rule: Callable[..., dict[str, Array]] = moved
    outputs = [Argument("x", (n,))]
    if name == "anticipate":
        c = Argument("c", (k,), "one for each row of the auxiliary constraints")
        inputs[2:] = [Argument("jacobian", (auxiliary.jacobian_size,), blocks), c, inputs[2]]
        rule, outputs = anticipated, [Argument("A", (k, k)), Argument("b", (k,))]
    return Function(name, inputs, outputs, rule, size=n, digest=lambda: f"auxiliary {auxiliary.digest}")
