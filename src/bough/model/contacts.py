"""Contacts between bodies: which may touch which, and where and how they do."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.errors import FiniteError, ModelError, ShapeError
from bough.model.model import BASE, Model
from bough.model.stations import require_rigid
from bough.reading import instance, known_name, listed, shown

__all__ = ["NUMBERS", "Contacts", "Friction", "Touch", "require_numbers"]

Friction: TypeAlias = Literal["pyramid", "cone"]

NUMBERS: Mapping[str, tuple[str, float, float]] = {
    "mu": ("finite coefficients of friction that are not negative", 0.0, sys.float_info.max),
    "gaps": ("distances (m), or infinity", -sys.float_info.max, math.inf),
    "restitution": ("numbers from 0 to 1", 0.0, 1.0),
}
"""What is asked of the numbers of contacts: in words, the least, and the most."""


@dataclass(frozen=True)
class Contacts:
    """The pairs of bodies of a mechanism that may touch; immutable.

    `at` adds where and how they touch in a state; its gaps define which of them touch. All states of the same
    `Contacts` share one compiled program.

    Parameters
    ----------
    pairs
        For each of the k contacts, the names of the first and the second body, or of frames on them; None or "world" is
        the base. A foot on the ground is ``("foot", "world")``, with the normal up.
    friction
        "pyramid": the force along each of two tangents is at most μ fₙ; "cone": the tangential force is at most μ fₙ;
        None: no friction.

    Examples
    --------
    >>> import bough
    >>> contacts = bough.contact.Contacts([("foot", None), ("hand", "crate")], "cone")
    >>> contacts.names
    ('contact 0 of foot and world', 'contact 1 of hand and crate')
    >>> contacts.at(points=[[0, 0, 0], [1, 0, 1]], normals=[[0, 0, 1], [1, 0, 0]], mu=0.7)
    Touch(2 contacts, points (2, 3), normals (2, 3), mu 0.7, gaps 0.0, restitution 0.0)
    """

    pairs: tuple[tuple[str, str], ...]
    friction: Friction | None
    _hash: int = field(init=False, repr=False, compare=False)

    def __init__(self, pairs: Iterable[tuple[str | None, str | None]], friction: Friction | None = "pyramid") -> None:
        if friction is not None:
            known_name(friction, "model of friction", get_args(Friction))
        whole = listed(pairs, "pairs", "the names of two bodies for each contact")
        object.__setattr__(self, "pairs", tuple(_read(k, pair) for k, pair in enumerate(whole)))
        object.__setattr__(self, "friction", friction)
        object.__setattr__(self, "_hash", hash((self.pairs, friction)))

    def __hash__(self) -> int:
        return self._hash  # part of every call

    def __reduce__(self) -> tuple[type[Contacts], tuple[object, ...]]:
        return Contacts, (self.pairs, self.friction)  # texts have other hashes in another process

    def at(
        self,
        points: ArrayLike,
        normals: ArrayLike,
        *,
        mu: ArrayLike = 0.0,
        gaps: ArrayLike = 0.0,
        restitution: ArrayLike = 0.0,
        point_velocities: ArrayLike | None = None,
        normal_velocities: ArrayLike | None = None,
    ) -> Touch:
        """Return where and how these contacts touch. `Touch` describes each argument."""
        _require_possible(self, "mu", mu)
        _require_possible(self, "gaps", gaps)
        _require_possible(self, "restitution", restitution)
        return Touch(self, points, normals, mu, gaps, restitution, point_velocities, normal_velocities)

    @property
    def count(self) -> int:
        """The number k of contacts."""
        return len(self.pairs)

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each contact."""
        return tuple(f"contact {k} of {first} and {second}" for k, (first, second) in enumerate(self.pairs))

    def bodies(self, model: Model) -> tuple[tuple[int, int], ...]:
        """The numbers of the two bodies of each contact in a model; 0 is the base."""
        instance(model, "model", Model)
        found = tuple((model.frame(first).body, model.frame(second).body) for first, second in self.pairs)
        for name, (first, second) in zip(self.names, found, strict=True):
            for body in (first, second):
                require_rigid(model.bodies, model.joints, body, name)
            if first == second:
                both = model.frame_names[first]
                raise ModelError(f"{name}: both are on {both!r}, expected two bodies that can move apart")
        return found


class Touch(NamedTuple):
    """Where and how contacts touch; immutable. `Contacts.at` returns it, and the functions of `bough.contact` take it.

    Arrays may have any layout and any batch axes, which broadcast with those of the state. They are not copied, and
    checked when a function uses them; mu, gaps and restitution as numbers and lists are checked at once. Points and
    normals are in the frame of the base. **The normal points from the second body to the first**: a positive force
    pushes the first body along the normal and the second body against it. J v > 0 means that the bodies separate. In
    PyTorch and JAX, results have no gradients with respect to mu, gaps and restitution.

    Attributes
    ----------
    contacts
        The k pairs of bodies.
    points
        Contact points (..., k, 3), m.
    normals
        Unit normals (..., k, 3), or one (3,) for all contacts.
    mu
        Coefficients of friction: one number, or (..., k).
    gaps
        Distances between the bodies (m): one number, or (..., k). Bodies touch at gaps up to 1e-6 m; `contact.step`
        also includes gaps that could close within the step. Use infinity for contacts that are absent. Negative gaps
        are penetrations, which decay with the time constant.
    restitution
        Coefficient e from 0 to 1: one number, or (..., k). Only `contact.impulses` uses it.
    point_velocities
        Velocities of the contact points in space (..., k, 3), m/s. By default, points are fixed on the first body, like
        a corner on a surface. The contact point of a rolling ball moves with the velocity of the ball, although its
        material is at rest. Only `contact.dynamics` and `contact.bias` use point_velocities and normal_velocities.
    normal_velocities
        Rates of the normals (..., k, 3), 1/s. By default, normals rotate with the second body.

    Examples
    --------
    >>> import bough
    >>> touch = bough.contact.Contacts([("ball", None)]).at([[0, 0, -0.1]], [[0, 0, 1]], mu=0.4)
    >>> touch.replace(restitution=0.8)
    Touch(1 contact, points (1, 3), normals (1, 3), mu 0.4, gaps 0.0, restitution 0.8)
    """

    contacts: Contacts
    points: ArrayLike
    normals: ArrayLike
    mu: ArrayLike = 0.0
    gaps: ArrayLike = 0.0
    restitution: ArrayLike = 0.0
    point_velocities: ArrayLike | None = None
    normal_velocities: ArrayLike | None = None

    def replace(self, **changes: Any) -> Touch:
        """Return a copy with other values of some attributes."""
        for name in changes:
            known_name(name, "attribute of a Touch", self._fields)
        made = self._replace(**changes)
        for name in NUMBERS:
            if name in changes and isinstance(made.contacts, Contacts):
                _require_possible(made.contacts, name, changes[name])
        return made

    def __repr__(self) -> str:
        count = getattr(self.contacts, "count", "no")
        parts = [f"{name} {_shown(value)}" for name, value in self._asdict().items() if value is not None]
        return f"Touch({count} contact{'s' * (count != 1)}, {', '.join(parts[1:])})"

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __hash__(self) -> int:
        return id(self)


def _require_possible(contacts: Contacts, name: str, value: Any) -> None:
    """Raise for one number or a list out of bounds, and for a list or an array that is not of these contacts."""
    if type(value) is float and 0.0 <= value <= 1.0:  # most often
        return
    is_array = type(value) is np.ndarray
    if not is_array and not isinstance(value, float | int | list):
        return  # what is no number, or belongs to another library, is told by whoever uses it
    try:
        a = value if is_array else np.asarray(value)
    except ValueError:  # lists of different lengths
        return
    count = len(contacts.pairs)
    if a.ndim and a.shape[-1] not in (1, count):
        raise ShapeError(f"{name} has shape {a.shape}, expected (..., {count}): one for each contact")
    if not is_array and a.dtype.kind in "fiu":
        require_numbers(name, a.astype(float))


def require_numbers(name: str, a: NDArray[np.floating[Any]]) -> None:
    """Raise for a number of a contact that is out of its bounds."""
    expected, least, most = NUMBERS[name]
    bad = ~((a >= least) & (a <= most))
    if bad.any():
        place = tuple(int(x) for x in np.argwhere(bad)[0])
        error = FiniteError if not np.isfinite(a[place]) else ShapeError
        raise error(f"{name}{list(place) or ''} is {a[place]}, expected {expected}")


def _shown(value: Any) -> str:
    """A number, or the shape of anything else."""
    if isinstance(value, float | int):
        return str(value)
    try:
        return str(np.shape(value))
    except ValueError:  # of lists that differ in length
        return shown(value)


def _read(k: int, pair: tuple[str | None, str | None]) -> tuple[str, str]:
    if isinstance(pair, str) or not isinstance(pair, Iterable) or len(names := tuple(pair)) != 2:
        raise ModelError(f"contact {k} is {pair!r}, expected the names of two bodies")
    for name in names:
        if name is not None and not isinstance(name, str):
            raise ModelError(f"contact {k} is {pair!r}, expected the names of two bodies; None is the base")
    first, second = (BASE if name is None else name for name in names)
    return first, second
