"""The description of an algorithm, for running and counting it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bough.algorithms.contact_problem import ContactPlan
from bough.algorithms.inverse_dynamics import DrivenRows
from bough.kernel.arguments import Shape
from bough.kernel.compile import LONGEST
from bough.model import Frame, Mechanism, Model
from bough.scalar import Array

__all__ = ["OPTIONAL", "Options", "Outputs", "Spec", "frame_of", "of_dofs", "plain", "square"]

OPTIONAL = (
    "f_ext", "loop_tau", "decay_rate", "point_velocities", "normal_velocities", "restitution",
    "start_contacts", "start_limits", "start_loop_limits", "start_loops", "stop",
)  # fmt: skip
"""Inputs that may be left out."""


@dataclass(frozen=True)
class Options:
    """What selects one program of an algorithm; part of the key of its kernel."""

    frames: tuple[Frame, ...] | None = None
    reference: Any = "LOCAL"
    classical: bool = False
    single: bool = False  # whether the one frame was asked for by its name, and results have no axis of frames
    plan: ContactPlan = ContactPlan()  # noqa: RUF009 (immutable)
    drives: DrivenRows | None = None  # None for all of the tree


Outputs = Mapping[str, Any]


@dataclass(frozen=True)
class Spec:
    """One algorithm: its inputs, the shapes of its outputs for one state, and how to call it."""

    name: str
    inputs: tuple[str, ...]
    shapes: Callable[[Model, Options], dict[str, Shape]]
    run: Callable[[Mechanism, Options, dict[str, Array]], Outputs]
    longest: int = LONGEST  # values of a straight-line program


def plain(
    name: str,
    inputs: str,
    output: str,
    shape: Callable[[Model], Shape],
    algorithm: Callable[..., Any],
    *judged: str,
    longest: int = LONGEST,
) -> Spec:
    """An algorithm that takes the mechanism and its inputs in order, and gives one output; behind it what is judged."""
    keys = tuple(inputs.split())

    def run(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
        found = algorithm(m, *map(x.get, keys))
        return dict(zip((output, *judged), found, strict=True)) if judged else {output: found}

    return Spec(name, keys, lambda model, o: {output: shape(model)}, run, longest)


def frame_of(o: Options) -> Frame:
    """The single requested frame."""
    assert o.frames is not None
    return o.frames[0]


def of_dofs(model: Model) -> Shape:
    """A number for each degree of freedom."""
    return (model.nv,)


def square(model: Model) -> Shape:
    """A row and a column for each degree of freedom."""
    return (model.nv, model.nv)
