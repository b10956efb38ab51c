"""The equations of motion of a linkage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from bough.kernel.arguments import FloatArray
from bough.lagrange import Auxiliary, System
from bough.lagrange.layout import Layout

__all__ = ["LinkageTerms"]


class LinkageTerms(NamedTuple):
    """M v̇ = Jᵀ λ + force and J v̇ + c + C λ = 0 of a linkage: the first six are the arguments of `multipliers`.

    Attributes
    ----------
    system
        The bodies and the primary constraints, in the order of ``linkage.primary``.
    mass, jacobian, force, c
        Their blocks and numbers, as `multipliers` and `ldlt` take them.
    compliance
        1 in the rows of armature and 0 in all others; None if no joint has armature.
    auxiliary, auxiliary_jacobian, auxiliary_c
        The auxiliary constraints, in the order of ``linkage.auxiliary``, as `anticipate` takes them; joints with
        armature among them have a compliance of 1 in the rows of that, too.
    """

    system: System
    mass: FloatArray
    jacobian: FloatArray
    force: FloatArray
    c: FloatArray
    compliance: FloatArray | None
    auxiliary: Auxiliary
    auxiliary_jacobian: FloatArray
    auxiliary_c: FloatArray

    @staticmethod
    def of(layout: Layout, made: Mapping[str, FloatArray]) -> LinkageTerms:
        """From the terms of primary constraints and, behind them, of auxiliary ones."""
        J, c, soft, system = made["jacobian"], made["c"], layout.compliance, layout.system
        first, rows = system.jacobian_size, system.nc
        own = (made["mass"], J[..., :first], made["f"], c[..., :rows], None if soft is None else soft[:rows])
        return LinkageTerms(system, *own, layout.beside, J[..., first:], c[..., rows:])
