"""Base parameters: the combinations of inertial parameters that joint forces determine, for any motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bough.kernel.configuration import random
from bough.kernel.functions import require_model
from bough.kernel.identification.parameters import named_bodies, parameter_names
from bough.kernel.identification.regressors import torque_regressor
from bough.model import Model

__all__ = ["BaseParameters", "base_parameters"]

EQUATIONS = 4
"""For each unknown, from random states."""

REGRESSOR_RANK = np.sqrt(np.finfo(np.float64).eps)
"""A column of a regressor of which this part is left beside those before it depends on them: half of the digits."""


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """A smallest set of linear combinations of inertial parameters that determines all joint forces.

    Attributes
    ----------
    columns
        Indices (rank) of the kept columns of the regressor of the N unknown bodies: those that do not depend linearly
        on earlier columns.
    map
        The matrix (rank, 10 N) that maps inertial parameters to base parameters; its kept columns are the identity.
    names
        Names of the base parameters: the kept parameter, with "…" if others are added to it.
    """

    columns: NDArray[np.intp]
    map: NDArray[np.float64]
    names: tuple[str, ...]

    @property
    def rank(self) -> int:
        """Number of base parameters."""
        return len(self.columns)


def base_parameters(model: Model, bodies: str | Sequence[str] | None = None) -> BaseParameters:
    """Return the base parameters of a model, from regressors in random states.

    With the map B and any regressor Y, Y π = Y[:, columns] (B π). Joint forces cannot distinguish two sets of inertial
    parameters with the same base parameters. Bodies are taken from the base outwards: an outer body keeps only the
    parameters that earlier bodies cannot replace.

    Parameters
    ----------
    model
        The mechanism.
    bodies
        Names of the bodies whose parameters are unknown; None: all bodies. The parameters of other bodies are known.

    Examples
    --------
    >>> import bough
    >>> b = bough.Builder()
    >>> b.add("rod", bough.joints.Revolute("y"), mass=2.0, com=(0, 0, -0.5), inertia=0.1)
    1
    >>> bough.identification.base_parameters(b.build()).names
    ('h_x of rod', 'h_z of rod', 'J_yy of rod')
    """
    require_model(model)
    asked = [model.body_names.index(name) for name in named_bodies(model, bodies)]
    sought = np.add.outer(10 * np.array(asked, dtype=np.intp), np.arange(10)).ravel()
    names, rng = [parameter_names(model)[k] for k in sought], np.random.default_rng(0)
    states = EQUATIONS * len(names) // max(model.nv, 1) + 8
    v, a = rng.normal(size=(2, states, model.nv))
    Y = torque_regressor(model, random(model, rng, size=states), v, a)
    W = Y.reshape(states * model.nv, 10 * model.nbodies)[:, sought]
    W = W / (np.abs(W).max(initial=0.0) or 1.0)  # squares of numbers of any size are finite
    size = np.linalg.norm(W, axis=0)
    W = W / np.where(size > 0.0, size, 1.0)
    kept: list[int] = []
    Q = np.empty((W.shape[0], 0))
    for k in range(len(names)):
        left = W[:, k] - Q @ (Q.T @ W[:, k])
        left = left - Q @ (Q.T @ left)
        if size[k] > REGRESSOR_RANK * size.max(initial=0.0) and np.linalg.norm(left) > REGRESSOR_RANK:
            kept.append(k)
            Q = np.concatenate([Q, left[:, None] / np.linalg.norm(left)], axis=1)
    chosen = np.array(kept, dtype=np.intp)
    B = np.linalg.lstsq(W[:, chosen], W, rcond=None)[0] * (size / size[chosen, None])
    B[np.abs(B) < REGRESSOR_RANK] = 0.0
    B[:, chosen] = np.eye(len(kept))
    words = tuple(f"{names[k]}, …" if np.count_nonzero(row) > 1 else names[k] for k, row in zip(kept, B, strict=True))
    return BaseParameters(chosen, B, words)
