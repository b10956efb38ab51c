"""The innovations factorisation of the mass matrix (Rodriguez and Jain), whose numbers are those of LᵀDL."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bough.algorithms.constrained_bodies import Floats
from bough.scalar.lazy import cached_property

__all__ = ["Innovations"]


@dataclass(frozen=True, eq=False, repr=False)
class Innovations:
    """M = (1 + Hᵀ φ K) D (1 + Hᵀ φ K)ᵀ and its inverse, as Rodriguez, Jain and others found them.

    H is that of this package, with the motion subspaces as columns. Their H is its transpose, their operator * is the
    transposition, and they call the articulated inertia P; so they write 1 + HφK for what is 1 + Hᵀ φ K here.

    Attributes
    ----------
    P, H, phi
        As in `GlobalForm`.
    I_A
        Articulated-body inertias (6N, 6N), block-diagonal.
    D
        Hᵀ Iᴬ H + armature (n, n), block-diagonal: what each joint feels of the articulated body it moves.
    """

    P: Floats
    H: Floats
    phi: Floats
    I_A: Floats
    D: Floats

    @cached_property
    def G(self) -> Floats:
        """Iᴬ H D⁻¹ (6N, n), block-diagonal: the Kalman gain of the filter that this recursion is."""
        return np.linalg.solve(self.D, self.H.T @ self.I_A).T

    @cached_property
    def step(self) -> Floats:
        """ℰ_φ = 1 - Pᵀ (6N, 6N), so that φ = (1 - ℰ_φ)⁻¹: forces moved from each body to its parent."""
        return np.eye(len(self.P)) - self.P.T

    @cached_property
    def K(self) -> Floats:
        """ℰ_φ G (6N, n): the gain, moved to the parent."""
        return self.step @ self.G

    @cached_property
    def psi(self) -> Floats:
        """ψ = (1 - ℰ_ψ)⁻¹ (6N, 6N) with ℰ_ψ = ℰ_φ (1 - G Hᵀ): propagation across joints that are free to give way."""
        one = np.eye(len(self.P))
        return np.linalg.inv(one - self.step @ (one - self.G @ self.H.T))

    @cached_property
    def factor(self) -> Floats:
        """1 + Hᵀ φ K (n, n), unit upper-triangular: the Lᵀ of LᵀDL if every joint has one degree of freedom."""
        return np.eye(len(self.D)) + self.H.T @ self.phi @ self.K

    @cached_property
    def factor_inverse(self) -> Floats:
        """1 - Hᵀ ψ K (n, n), the inverse of 1 + Hᵀ φ K."""
        return np.eye(len(self.D)) - self.H.T @ self.psi @ self.K

    @cached_property
    def M(self) -> Floats:
        """(1 + Hᵀ φ K) D (1 + Hᵀ φ K)ᵀ (n, n)."""
        return self.factor @ self.D @ self.factor.T

    @cached_property
    def M_inverse(self) -> Floats:
        """(1 - Hᵀ ψ K)ᵀ D⁻¹ (1 - Hᵀ ψ K) (n, n)."""
        return self.factor_inverse.T @ np.linalg.solve(self.D, self.factor_inverse)

    def unit_factor(self) -> tuple[Floats, Floats]:
        """L (n, n), unit lower-triangular, and the diagonal D (n,) of M = Lᵀ D L, equal to those of `bough.factorize`.

        The blocks of D, one for each joint, are factorised in their turn, Dᵢ = L_dᵀ D L_d, so that
        L = L_d (1 + Hᵀ φ K)ᵀ. LᵀDL eliminates the last row first: it is Cholesky's factorisation read backwards.
        """
        U = np.linalg.cholesky(self.D[::-1, ::-1])[::-1, ::-1]  # D = U Uᵀ
        scale = U.diagonal()
        return (U / scale).T @ self.factor.T, scale**2
