"""Fits of inertial parameters: the minimum of ½ |A π - b|² + ½ |(π - π₀) / scale|², over all π or over real bodies.

Bodies exist where their pseudo-inertias are positive definite, and those are linear in π: a convex problem with one
minimum. It is found by Newton steps on the same with -μ Σ log det P added, for smaller and smaller μ (an interior-point
method): the minimum for μ is above the one sought by at most 4 μ for each body. Each step is a least-squares problem,
since with P = L Lᵀ the second-order model of -log det (P + dP) is ½ |L⁻¹ dP L⁻ᵀ - 1|² but for a constant.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bough.errors import SingularError
from bough.kernel.identification.parameters import is_consistent, pseudo_inertia

__all__ = ["consistent_least_squares", "estimated_noise", "least_squares", "posterior_covariance"]

Floats = NDArray[np.float64]

STEPS = 300
"""Newton steps, of which some tens are taken."""

GAP = 1e-6
"""How far above the minimum a fit may end where errors are as large as the noise (else as many times more): each
parameter is then within √(2 GAP) of its standard deviation."""

REWEIGHTINGS = 50
"""Rounds of estimates of the noise, of which a few are taken."""

LEAST_NOISE = 1e-6
"""Of the joint forces: the least noise that is estimated, where data have none."""


def least_squares(A: Floats, b: Floats, π0: Floats, scale: Floats) -> Floats:
    """The minimum over all π (k): Bayesian least squares, stacked."""
    whole = np.concatenate([A * scale, np.eye(scale.size)])
    right = np.concatenate([b - A @ π0, np.zeros(scale.size)])
    return np.asarray(π0 + scale * np.linalg.lstsq(whole, right, rcond=None)[0])


def consistent_least_squares(A: Floats, b: Floats, π0: Floats, scale: Floats) -> Floats:
    """The minimum over bodies that can exist (k), from π₀ of which all do."""
    free = least_squares(A, b, π0, scale)
    if is_consistent(free.reshape(-1, 10)).all():
        return free
    k = π0.size
    # orthogonal transformations first: the rest does not depend on the number of samples
    R = np.asarray(np.linalg.qr(np.concatenate([A * scale, (b - A @ π0)[:, None]], axis=1), mode="r"))
    M, right = np.concatenate([R[:, :k], np.eye(k)]), np.concatenate([R[:, k], np.zeros(k)])
    e, x, μ = right, np.zeros(k), (right @ right) / k
    for _ in range(STEPS):
        try:
            W, centre = _barrier(π0 + scale * x, scale)
        except np.linalg.LinAlgError:
            break
        whole = np.concatenate([M, np.sqrt(μ) * W])
        step = np.linalg.lstsq(whole, np.concatenate([e, np.sqrt(μ) * centre]), rcond=None)[0]
        decrement = np.sum((whole @ step) ** 2) / μ
        x = x + _length(M @ step, e, W @ step, μ, decrement) * step
        e = right - M @ x
        if decrement < 0.1:
            π = np.asarray(π0 + scale * x)
            if 0.4 * k * μ <= GAP * max(1.0, (e @ e) / b.size) and is_consistent(π.reshape(-1, 10)).all():
                return π
            μ /= 10.0
    raise SingularError(
        f"identify: the fit of {k // 10} bodies that can exist did not converge: joint forces are off by "
        f"{np.sqrt(e @ e / b.size):.3g} times their noise; expected a noise nearer to that, or a smaller spread"
    )


def _barrier(π: Floats, scale: Floats) -> tuple[Floats, Floats]:
    """W (16 bodies, k), from x to the entries of L⁻¹ dP L⁻ᵀ of all bodies, and those of 1."""
    P, units = pseudo_inertia(π.reshape(-1, 10)), pseudo_inertia(np.eye(10))
    inverse = np.linalg.inv(np.linalg.cholesky(P))[:, None]
    blocks = (inverse @ units @ np.swapaxes(inverse, -1, -2)).reshape(-1, 10, 16)
    W = np.zeros((len(P), 16, π.size))
    for k, block in enumerate(blocks):
        W[k, :, 10 * k : 10 * k + 10] = block.T
    return W.reshape(-1, π.size) * scale, np.tile(np.eye(4).ravel(), len(P))


def _length(along: Floats, e: Floats, bent: Floats, μ: float, decrement: float) -> float:
    """How much of a Newton step: all of it, or what keeps bodies real and lowers the sum as the slope promises."""
    eigenvalues = np.linalg.eigvalsh(bent.reshape(-1, 4, 4)).ravel()
    t = min(1.0, 0.9 / max(-float(eigenvalues.min()), 1e-300))
    safe = 1.0 / (1.0 + np.sqrt(decrement))  # lowers the sum whatever the rounding: the barrier is self-concordant
    while t > safe:
        change = t * (t / 2.0 * (along @ along) - along @ e) - μ * np.log1p(t * eigenvalues).sum()
        if change <= -0.1 * t * μ * decrement:
            return t
        t /= 2.0
    return float(safe)


def posterior_covariance(A: Floats, scale: Floats) -> Floats:
    """The covariance of π: (Aᵀ A + scale⁻²)⁻¹."""
    _, size, Vt = np.linalg.svd(np.concatenate([A * scale, np.eye(scale.size)]), full_matrices=False)
    half = scale[:, None] * Vt.T / size
    return np.asarray(half @ half.T)


def estimated_noise(Y: Floats, right: Floats, π0: Floats, scale: Floats) -> Floats:
    """Standard deviations (nv) of errors of right (n, nv) about Y π, with Y (n, nv, k): those of its own residuals.

    Each fit weighs joint forces by the noise of the fit before; the samples that its parameters use up are taken off.
    """
    least = LEAST_NOISE * (float(np.sqrt(np.mean(right**2))) or 1.0)
    noise: Floats = np.maximum(np.sqrt(np.mean(right**2, axis=0)), least)
    for _ in range(REWEIGHTINGS):
        A, b = (Y / noise[:, None]).reshape(-1, π0.size), (right / noise).reshape(-1)
        residuals = right - Y @ least_squares(A, b, π0, scale)
        used = np.sum((A @ posterior_covariance(A, scale)) * A, axis=1).reshape(right.shape).sum(axis=0)
        before, noise = noise, np.maximum(np.sqrt(np.sum(residuals**2, axis=0) / (len(right) - used)), least)
        if np.allclose(noise, before, rtol=1e-3, atol=0.0):
            break
    return noise
