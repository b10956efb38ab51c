"""Contacts between bodies: which touch which. Where and how is not said here: points and normals are arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from bough.errors import ModelError
from bough.model.model import BASE, Model
from bough.reading import instance, known_name, listed

__all__ = ["Contacts", "Friction"]

Friction: TypeAlias = Literal["pyramid", "cone"]


@dataclass(frozen=True)
class Contacts:
    """The contacts of a mechanism, each between two bodies; immutable.

    Where they are is said by arrays beside it, in the frame of the base: points (..., k, 3) and unit normals
    (..., k, 3). **The normal points from the second body to the first**: a positive force along it pushes the first
    body along the normal and the second one back, and J v > 0 means that they separate.

    Parameters
    ----------
    pairs
        For each of the k contacts the names of the first and the second body, or of frames on them; None or "world" is
        the base. A foot on the ground is ``("foot", "world")``, with the normal up.
    friction
        "pyramid": along each of two tangents at most μ fₙ; "cone": along both together at most μ fₙ; None: no
        friction.

    Examples
    --------
    >>> import bough
    >>> bough.Contacts([("left foot", "world"), ("right foot", "world"), ("hand", "crate")]).names
    ('contact 0 of left foot and world', 'contact 1 of right foot and world', 'contact 2 of hand and crate')
    """

    pairs: tuple[tuple[str, str], ...]
    friction: Friction | None

    def __init__(self, pairs: Iterable[tuple[str | None, str | None]], friction: Friction | None = "pyramid") -> None:
        if friction is not None:
            known_name(friction, "model of friction", get_args(Friction))
        whole = listed(pairs, "pairs", "the names of two bodies for each contact")
        object.__setattr__(self, "pairs", tuple(_read(k, pair) for k, pair in enumerate(whole)))
        object.__setattr__(self, "friction", friction)

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
            if first == second:
                body = model.frame_names[first]
                raise ModelError(f"{name}: both are on {body!r}, expected two bodies that can move apart")
        return found


def _read(k: int, pair: tuple[str | None, str | None]) -> tuple[str, str]:
    if isinstance(pair, str) or not isinstance(pair, Iterable) or len(names := tuple(pair)) != 2:
        raise ModelError(f"contact {k} is {pair!r}, expected the names of two bodies")
    for name in names:
        if name is not None and not isinstance(name, str):
            raise ModelError(f"contact {k} is {pair!r}, expected the names of two bodies; None is the base")
    first, second = (BASE if name is None else name for name in names)
    return first, second
