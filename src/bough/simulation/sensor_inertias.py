"""What sensors know of masses and gravity: numbers of the model, or those that are given with each state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.model import Model, Parameter

__all__ = ["Inertias"]

Floats: TypeAlias = NDArray[Any]
LOWER = ((0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2))


class Inertias:
    """Inertias of bodies and gravity in states of a batch (...), with the values (..., n) of parameters, if any."""

    def __init__(self, model: Model, parameters: Sequence[Parameter], values: Floats | None) -> None:
        self._model = model
        self._given: dict[tuple[str, int], list[tuple[Parameter, Floats]]] = {}
        start = 0
        for p in parameters if values is not None else ():
            part = values[..., start : start + p.size]  # type: ignore[index]
            self._given.setdefault((p.what, p.body), []).append((p, part))
            start += p.size

    @property
    def gravity(self) -> Floats:
        """The acceleration of gravity (..., 3), m/s²."""
        return self._value("gravity", 0, np.array(self._model.gravity))

    def of(self, i: int) -> tuple[Floats, Floats, Floats]:
        """Mass (...), centre of mass (..., 3) and inertia about it (..., 3, 3) of body i, along its axes."""
        inertia = self._model.bodies[i - 1].inertia
        mass = self._value("mass", i, np.array([inertia.mass]))[..., 0]
        com, I = self._value("com", i, np.array(inertia.com)), self._value("inertia", i, inertia.matrix.ravel())
        I = I.reshape(*I.shape[:-1], 3, 3)
        if ("body", i) in self._given:
            mass, com, I = _ten(self._given["body", i][0][1])
        if ("moments", i) in self._given:
            mass, first, second = _ten(self._given["moments", i][0][1])
            com = _divided(first, mass)
            I = second - mass[..., np.newaxis, np.newaxis] * _about(com)
        for p, values in self._given.get(("payload", i), ()):
            place = self._model.frame(p.frame or self._model.bodies[i - 1].name).placement
            R, origin = np.array(place.rotation), np.array(place.origin)
            more, at, turned = _ten(values)
            mass, com, I = _together((mass, com, I), (more, at @ R.T + origin, R @ turned @ R.T))
        return mass, com, I

    def _value(self, what: str, body: int, usual: Floats) -> Floats:
        return self._given[what, body][0][1] if (what, body) in self._given else usual


def _ten(x: Floats) -> tuple[Floats, Floats, Floats]:
    """A number, a vector and a symmetric matrix from ten numbers."""
    matrix = np.zeros((*x.shape[:-1], 3, 3))
    for k, (i, j) in enumerate(LOWER):
        matrix[..., i, j] = matrix[..., j, i] = x[..., 4 + k]
    return x[..., 0], x[..., 1:4], matrix


def _about(c: Floats) -> Floats:
    """The inertia of a unit mass at c about the origin."""
    return np.asarray(
        (c * c).sum(axis=-1)[..., np.newaxis, np.newaxis] * np.eye(3) - c[..., :, np.newaxis] * c[..., np.newaxis, :]
    )


def _divided(x: Floats, mass: Floats) -> Floats:
    """Vectors divided by masses; zero where there is none."""
    m = np.where(mass == 0.0, 1.0, mass)[..., np.newaxis]
    return np.asarray(np.where(mass[..., np.newaxis] == 0.0, 0.0, x / m))


def _together(*bodies: tuple[Floats, Floats, Floats]) -> tuple[Floats, Floats, Floats]:
    """The inertia of bodies that move as one."""
    mass = np.asarray(sum(m for m, _, _ in bodies))
    com = _divided(np.asarray(sum(m[..., np.newaxis] * c for m, c, _ in bodies)), mass)
    I = sum(I + m[..., np.newaxis, np.newaxis] * _about(c - com) for m, c, I in bodies)
    return mass, com, np.asarray(I)
