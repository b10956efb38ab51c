"""Rigid bodies under any constraints, as matrices (Featherstone & Orin 2000, section 3.5, equations 23 to 28).

Bodies that know nothing of each other obey f = I a + v × I v (23). Constraints confine their accelerations to
a = a₀ + S α (24), where the columns of S span the motions that are left free, and add constraint forces f_c = T β that
do no work on them, Tᵀ S = 0, to the active forces f_a. The accelerations then follow in three ways.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["ConstrainedBodies", "Floats"]

Floats: TypeAlias = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class ConstrainedBodies:
    """A system of bodies, m coordinates of acceleration in all, whose constraints leave n degrees of freedom.

    Attributes
    ----------
    I
        Inertia of the bodies without constraints (m, m), block-diagonal.
    S
        Basis of the free motions (m, n).
    T
        Basis of the constraint forces (m, m - n), Tᵀ S = 0.
    a0
        Acceleration a₀ (m,) that the constraints impose when α = 0.
    bias
        The velocity-product forces v × I v (m,).
    """

    I: Floats
    S: Floats
    T: Floats
    a0: Floats
    bias: Floats

    @property
    def matrix_26(self) -> Floats:
        """Sᵀ I S (n, n), the mass matrix."""
        return self.S.T @ self.I @ self.S

    @property
    def matrix_27(self) -> Floats:
        """[[I, T], [Tᵀ, 0]] (2m - n, 2m - n): larger than the mass matrix, but sparse for every tree."""
        k = self.T.shape[1]
        return np.block([[self.I, self.T], [self.T.T, np.zeros((k, k))]])

    @property
    def matrix_28(self) -> Floats:
        """Tᵀ I⁻¹ T (m - n, m - n). In blocks it couples two constraints if they share a body; I must be regular."""
        return self.T.T @ np.linalg.solve(self.I, self.T)

    def equation_26(self, f_a: Floats) -> Floats:
        """The coordinates α (n,) from Sᵀ I S α = Sᵀ (f_a - I a₀ - v × I v), since Sᵀ f_c = 0."""
        return np.linalg.solve(self.matrix_26, self.S.T @ (f_a - self.I @ self.a0 - self.bias))

    def equation_27(self, f_a: Floats) -> tuple[Floats, Floats]:
        """The acceleration a (m,) and β (m - n,) from [[I, T], [Tᵀ, 0]] [a, -β] = [f_a - v × I v, Tᵀ a₀]."""
        solution = np.linalg.solve(self.matrix_27, np.concatenate([f_a - self.bias, self.T.T @ self.a0]))
        m = len(self.a0)
        return solution[:m], -solution[m:]

    def equation_28(self, f_a: Floats) -> tuple[Floats, Floats]:
        """The acceleration a (m,) and β (m - n,), β first: Tᵀ I⁻¹ T β = Tᵀ a₀ - Tᵀ I⁻¹ (f_a - v × I v)."""
        alone = np.linalg.solve(self.I, f_a - self.bias)  # how the bodies would accelerate without constraints
        beta = np.linalg.solve(self.matrix_28, self.T.T @ (self.a0 - alone))
        return alone + np.linalg.solve(self.I, self.T @ beta), beta
